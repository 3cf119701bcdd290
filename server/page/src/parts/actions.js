// Actions on clusters: on one, from its menu, and on several that are chosen in the list.
// An action whose route the server does not have is not offered.
import { at, has, json, order, query } from '../api.js';
import { h, onSubmit } from '../dom.js';
import { plain, shown } from '../text.js';
import { inWords } from '../words.js';
import { downloadDocuments } from './download.js';
import { EDITS, make, ofCluster } from './edits.js';
import { menu } from './menu.js';
import { toast } from './toast.js';

const refresh = () => dispatchEvent(new CustomEvent('page:refresh'));

const labelPath = (place, id, values) =>
    at`v1/collections/${place.collection}/clusters/${id}/label` +
    query({ config: place.where.config, ...values });

const NAME = '/v1/collections/{collection}/clusters/{cluster}/name';

async function setLabel(place, id, text) {
    await order(labelPath(place, id, { text }), { method: 'PUT' });
}

/* The name that the program gives, unless somebody had given the one before. */
async function labelBefore(place, id, text) {
    await order(labelPath(place, id, { unpin: true }), { method: 'PUT' });
    const c = await json(
        at`v1/collections/${place.collection}/clusters/${id}` +
            query({ ...place.where, docs: 1, terms: 1 }),
    );
    if (c.label !== text) await setLabel(place, id, text);
}

/** Put a field in the place of a cluster's name; what is typed becomes the name. */
export function rename(place, c, element) {
    if (!element || element.querySelector('form')) return;
    const shownBefore = [...element.childNodes],
        said = h('span', { class: 'problem', role: 'alert' });
    const field = h('input', {
        value: c.label,
        'aria-label': `New name of ${plain(c.label)}`,
        maxlength: '200',
        required: true,
        spellcheck: 'true',
    });
    const end = (focus = true) => {
        element.replaceChildren(...shownBefore);
        element.dispatchEvent(new CustomEvent('page:named', { bubbles: true }));
        if (focus) (element.matches('[tabindex]') ? element : element.querySelector('a, button') ?? element).focus?.();
    };
    const form = h(
        'form',
        {
            class: 'rename',
            onkeydown: (e) => {
                if (e.key !== 'Escape') return;
                e.stopPropagation();
                end();
            },
            onsubmit: onSubmit(async () => {
                const text = field.value.trim();
                if (text === c.label) return end();
                const words = [h('q', {}, shown(c.label)), ' is called ', h('q', {}, shown(text)), ' from now on'];
                try {
                    if (await has(NAME)) {
                        await make(place, 'PUT', ofCluster(place, c, 'name'), { text }, words);
                        end();
                        return refresh();
                    }
                    await setLabel(place, c.cluster, text);
                } catch (problem) {
                    said.textContent = inWords(problem.message);
                    field.focus();
                    return false;
                }
                end();
                toast(words, async () => {
                    await labelBefore(place, c.cluster, c.label);
                    refresh();
                });
                refresh();
            }),
        },
        field,
        h('button', { class: 'primary small' }, 'Save'),
        h('button', { type: 'button', class: 'small', onclick: () => end() }, 'Cancel'),
        said,
    );
    element.replaceChildren(form);
    field.focus();
    field.select();
}

/*
 * name; one: of a single cluster only, several: of two or more only; fits(cluster): whether it is for
 * this one; route: what the server must have for it; run({place, clusters, element}), where element has the cluster's name, if it is on the screen.
 */
const ACTIONS = [
    {
        name: 'Rename',
        key: 'r',
        one: true,
        route: '/v1/collections/{collection}/clusters/{cluster}/label',
        run: ({ place, clusters, element }) => rename(place, clusters[0], element),
    },
    ...EDITS,
    {
        name: 'Download documents',
        run: ({ place, clusters }) => downloadDocuments(place, clusters),
    },
];

/** The actions that n clusters of the served build can have. */
export async function actionsFor(place, n) {
    const known = await Promise.all(ACTIONS.map((a) => !a.route || has(a.route)));
    return ACTIONS.filter(
        (a, i) =>
            known[i] &&
            (place.build?.served || !a.route) &&
            !(a.one && n !== 1) &&
            !(a.several && n < 2),
    );
}

/** A button with the actions of one cluster. more: further items; element(): where its name is. */
export function clusterMenu(place, c, element, all, more = []) {
    const fitting = all.filter((a) => !a.fits || a.fits(c));
    const run = (a) => a.run({ place, clusters: [c], element: element() });
    const button = menu(
        `Actions of ${plain(c.label)}`,
        () => [
            ...fitting.map((a) => ({ name: a.name, key: a.key, danger: a.danger, run: () => run(a) })),
            ...more,
        ],
        '⋯',
        'plain of-cluster',
    );
    /* The action of a key, if there is one. */
    button.byKey = (key) => {
        const a = all.find((x) => x.key === key);
        if (a) run(a);
        return !!a;
    };
    return button;
}
