// The page: an address behind "#" is a view; a view reads what it shows and gives its elements.
import { onAnswers, useNamespace } from './api.js';
import { announce, h } from './dom.js';
import { closeDialogs } from './parts/dialog.js';
import { acceptDrops } from './parts/import.js';
import { listen } from './parts/keys.js';
import { follow } from './parts/others.js';
import * as places from './parts/places.js';
import { crumbs, dark, restoreTheme, shell } from './parts/shell.js';
import { onPublished, watch } from './parts/tasks.js';
import { forgetOthers } from './parts/toast.js';
import * as route from './route.js';
import { plain } from './text.js';
import { inWords } from './words.js';
import { builds } from './views/builds.js';
import { cluster } from './views/cluster.js';
import { clusters } from './views/clusters.js';
import { collections } from './views/collections.js';
import { diff } from './views/diff.js';
import { documentView } from './views/document.js';
import { documents } from './views/documents.js';
import { duplicates } from './views/duplicates.js';
import { edits } from './views/edits.js';
import { fields } from './views/fields.js';
import { news } from './views/news.js';
import { number } from './views/number.js';
import { search } from './views/search.js';
import { settings } from './views/settings.js';
import { topics } from './views/topics.js';
import { tweets } from './views/tweets.js';

const views = {
    builds,
    collections,
    clusters,
    cluster,
    doc: documentView,
    diff,
    documents,
    duplicates,
    edits,
    fields,
    news,
    number,
    search,
    settings,
    topics,
    tweets,
};

let showing = new AbortController();
let parent = null; /* address of what is one level up from the view on the screen */

const failed = (e) => ({
    title: 'Not shown',
    element: h(
        'div',
        { class: 'empty', role: 'alert', 'data-status': e.status },
        h('h1', {}, e.status === 404 ? 'It is not there' : 'This cannot be shown'),
        h('p', {}, inWords(e.message)),
        e.status === 404 && route.read().values.build
            ? h('p', {}, h('a', { href: route.withValues({ build: '' }) }, 'The build that is served'))
            : null,
        h('p', {}, h('button', { type: 'button', onclick: () => show() }, 'Try again')),
    ),
});

/* What is on the screen stays until the new view is there as a whole. */
async function show({ refreshed } = {}) {
    follow(null);
    places.arrive();
    held = false;
    const { kept, from } = places.here;
    const where = { ...route.read(), kept, from: from && { ...from.where, ...from } },
        main = document.getElementById('main');
    showing.abort();
    const mine = (showing = new AbortController());
    useNamespace(where.values.namespace);
    main.setAttribute('aria-busy', 'true');
    let made;
    try {
        if (!views[where.view])
            throw Object.assign(new Error('There is nothing at this address.'), { status: 404 });
        made = await views[where.view](where, { signal: mine.signal });
    } catch (e) {
        if (mine.signal.aborted) return;
        made = { collection: where.collection, ...failed(e) };
    }
    if (mine.signal.aborted) return;
    route.arrive(location.hash);
    main.removeAttribute('aria-busy');
    main.replaceChildren(...[made.element].flat(Infinity).filter(Boolean));
    main.dataset.view = where.view;
    main.dataset.build = made.place?.build?.build ?? '';
    parent = parentOf(where, made);
    places.here.crumb = made.crumb;
    crumbs(made);
    document.title = plain(made.title) + ' · Grouperfish';
    places.settle();
    announce(refreshed ?? plain(made.title));
    follow(made.place, () => show({ refreshed: 'Somebody has changed clusters: they are shown as they are now' }));
}

/* A document is below what it was opened from: a cluster, or what a search has found. */
function parentOf(where, made) {
    if (where.view === 'collections') return null;
    if (made.above) return made.above.href;
    const inside = where.collection && where.view !== 'clusters';
    return inside ? route.to(['c', where.collection]) : route.to([], {}, []);
}

function up() {
    if (parent) places.goUp(parent);
}

/* Whoever looks at an older build, on purpose, goes on doing so; the diff shows two that are named. */
function changeTo(collection) {
    const where = route.read();
    if (where.view !== 'collections' && where.collection !== collection) return;
    if (document.querySelector('#main .rename, #main .settings[data-changed]')) {
        held = true;
        return announce('A new build is there; it is shown once you are done here');
    }
    show({ refreshed: 'A new build is shown' });
}

/* What somebody types is not taken away: the new build is shown once a name has been given, or not. */
let held = false;
addEventListener('page:named', () => held && show({ refreshed: 'A new build is shown' }));

history.scrollRestoration = 'manual';
restoreTheme();
shell();
listen({ up, dark });
acceptDrops(() => route.read().collection);
onPublished(changeTo);
onAnswers((lost) => {
    const note = document.getElementById('lost');
    if (note.hidden === !lost) return;
    note.hidden = !lost;
    /* A view that had no answer is asked for once more. */
    if (!lost && document.querySelector('main > .empty[data-status="0"]')) show();
});
addEventListener('hashchange', () => {
    forgetOthers();
    closeDialogs();
    show();
});
addEventListener('page:refresh', () => show());
/* The tasks first: a build that is published while the first view is read is then told of. */
useNamespace(route.read().values.namespace);
watch().then(() => show());
