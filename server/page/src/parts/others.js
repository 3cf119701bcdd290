// Changes that other people make in the clusters of the view on the screen, by page or command: a look at
// the list of edits now and then, and when somebody comes back to the page.
import { at, json, query } from '../api.js';

const LOOK_MS = 10_000;

let now = null; /* {place, changed}: of the view that is shown */

const pathOf = ({ collection, config }) =>
    at`v1/collections/${collection}/edits` + query({ config: config === 'default' ? '' : config });

/** What tells whether edits came or were taken back: how many there are, and which is the last. */
export async function readEdits(place, options) {
    const rows = await json(pathOf(place), options);
    return `${rows.length} ${rows.at(-1)?.edit ?? 0}`;
}

/* Somebody is at something that would be lost. */
const busy = () =>
    document.querySelector('#main .rename, #main .settings[data-changed], dialog[open], [role=menu], .dragged');

async function look() {
    const mine = now;
    if (!mine || document.hidden || busy()) return;
    const edits = await readEdits(mine.place, { once: true });
    if (mine !== now || busy() || edits === mine.place.edits) return;
    now = null;
    mine.changed();
}

/** Look after the clusters of a view, whose place says which edits it was read with; changed() is called once. */
export function follow(place, changed) {
    now = place?.edits !== undefined && place.build?.served ? { place, changed } : null;
}

const quietly = () => look().catch(() => {});
setInterval(quietly, LOOK_MS);
document.addEventListener('visibilitychange', quietly);
addEventListener('focus', quietly);
