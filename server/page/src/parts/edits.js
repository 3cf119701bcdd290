// Changes of clusters by hand, and what takes them back: every edit has a number, by which it is undone.
import { at, below, json, query } from '../api.js';
import { h, onSubmit } from '../dom.js';
import { count, several } from '../format.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';
import { inWords } from '../words.js';
import { openDialog } from './dialog.js';
import { failure, toast } from './toast.js';

const CLUSTER = '/v1/collections/{collection}/clusters/{cluster}';

const refresh = () => dispatchEvent(new CustomEvent('page:refresh'));

/** Take edits back, the latest first; true where that waits for the next rebuild. */
export async function undo(place, ...edits) {
    const { namespace } = place;
    let waits = false;
    try {
        for (const edit of edits.toReversed()) {
            const row = await json(
                at`v1/collections/${place.collection}/undo` + query({ edit, config: place.where.config }),
                { method: 'POST', namespace },
            );
            waits ||= row.waits;
        }
    } finally {
        refresh(); /* some may have been taken back before one could not be */
    }
    return waits;
}

const told = (place, edits, words) =>
    toast(words, async () => {
        if (await undo(place, ...edits)) toast('The next rebuild takes it back');
    });

/** Make an edit: words, or what gives them, say what has been done, and the toast takes it back. */
export async function make(place, method, path, values, words) {
    const { namespace } = place;
    const row = await json(path + query({ ...values, config: place.where.config }), { method, namespace });
    told(place, [row.edit], typeof words === 'function' ? await words() : words);
    return row;
}

export const ofCluster = (place, c, what) =>
    below(at`v1/collections/${place.collection}/clusters/${c.cluster}/`, what);

async function done(asked) {
    try {
        await asked;
        refresh();
    } catch (e) {
        failure(e);
    }
}

/* A dialog whose form does something that may be refused. */
function formDialog(title, children, verb, submit) {
    const said = h('p', { class: 'problem', role: 'alert' });
    const dialog = openDialog(
        title,
        h(
            'form',
            {
                id: 'edit-form',
                onsubmit: onSubmit(async () => {
                    try {
                        await submit();
                    } catch (problem) {
                        said.textContent = inWords(problem.message);
                        return false;
                    }
                    dialog.close();
                    refresh();
                }),
            },
            children,
            said,
        ),
        [
            h('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'),
            h('button', { class: 'primary', form: 'edit-form' }, verb),
        ],
    );
    dialog.querySelector('input, select, textarea')?.focus();
}

/** Merge others into the one that stays, at once; the toast takes it back. */
export function mergeInto(place, stays, others) {
    const words = [
        others.length === 1 ? h('q', {}, shown(others[0].label)) : several(others.length, 'cluster'),
        ' merged into ',
        h('q', {}, shown(stays.label)),
    ];
    return make(
        place,
        'POST',
        ofCluster(place, stays, 'merge') + '?' + others.map((c) => `others=${c.cluster}`).join('&'),
        {},
        async () => {
            const now = await json(
                at`v1/collections/${place.collection}/clusters/${stays.cluster}` +
                    query({ config: place.where.config, docs: 1, terms: 1 }),
                { namespace: place.namespace },
            ).catch(() => stays);
            return now.label === stays.label ? words : [words, ', which is called ', h('q', {}, shown(now.label)), ' now'];
        },
    );
}

function mergeDialog({ place, clusters, done: after }) {
    const largest = [...clusters].sort((a, b) => b.size - a.size);
    const choice = (c, i) =>
        h(
            'p',
            { class: 'check' },
            h('input', {
                type: 'radio',
                name: 'stays',
                id: `stays-${c.cluster}`,
                value: c.cluster,
                checked: i === 0,
            }),
            h('label', { for: `stays-${c.cluster}` }, shown(c.label), ` (${several(c.size, 'document')})`),
        );
    const choices = h(
        'fieldset',
        {},
        h('legend', {}, 'Which one stays?'),
        largest.map(choice),
    );
    formDialog(
        `Merge ${several(clusters.length, 'cluster')}`,
        [
            choices,
            h('p', { class: 'quiet' }, 'The others go into it at once, and rebuilds keep them together. It is named after all its documents, unless somebody has named it.'),
        ],
        'Merge',
        async () => {
            const id = Number(choices.querySelector(':checked').value);
            const stays = clusters.find((c) => c.cluster === id),
                others = clusters.filter((c) => c !== stays);
            await mergeInto(place, stays, others);
            after?.();
        },
    );
}

function splitDialog({ place, clusters: [c] }) {
    const k = h('input', { type: 'number', id: 'split-k', min: 2, max: 100, value: 2, required: true });
    formDialog(
        ['Split ', shown(c.label)],
        [
            h('label', { for: 'split-k' }, 'Into how many parts?'),
            k,
            h('p', { class: 'quiet' }, 'One part keeps the name and the id; rebuilds keep the parts apart.'),
        ],
        'Split',
        () =>
            make(place, 'POST', ofCluster(place, c, 'split'), { k: k.value }, [
                h('q', {}, shown(c.label)),
                ` split into ${count(Number(k.value))}`,
            ]),
    );
}

const NOTES = [
    ['status', 'Status', 'planned, fixed, …'],
    ['owner', 'Owner', 'who looks after it'],
    ['link', 'Link', 'where it is worked on'],
    ['note', 'Note', ''],
];

function noteDialog({ place, clusters: [c] }) {
    const fields = NOTES.map(([name, , hint]) =>
        h('input', { id: `state-${name}`, name, value: c[name] ?? '', placeholder: hint, autocomplete: 'off' }),
    );
    formDialog(
        ['About ', shown(c.label)],
        NOTES.map(([name, title], i) => [h('label', { for: `state-${name}` }, title), fields[i]]),
        'Save',
        () => {
            const changed = fields.filter((f) => f.value.trim() !== (c[f.name] ?? ''));
            if (!changed.length) return;
            const cleared = changed.filter((f) => !f.value.trim()).map((f) => f.name);
            const values = Object.fromEntries(
                changed.filter((f) => f.value.trim()).map((f) => [f.name, f.value.trim()]),
            );
            return make(
                place,
                'PATCH',
                at`v1/collections/${place.collection}/clusters/${c.cluster}`,
                { ...values, clear: cleared.join(',') },
                ['Noted of ', h('q', {}, shown(c.label))],
            );
        },
    );
}

/* A state that holds or does not, such as a lock: one way and the other. */
const turn = (name, what, is, on, words) => ({
    name,
    one: true,
    route: `${CLUSTER}/${what}`,
    fits: (c) => !!is(c) !== on,
    run: ({ place, clusters: [c] }) =>
        done(
            make(place, on ? 'PUT' : 'DELETE', ofCluster(place, c, what), {}, [
                h('q', {}, shown(c.label)),
                ` ${words}`,
            ]),
        ),
});

/** Actions in the form of parts/actions.js. */
export const EDITS = [
    {
        name: 'Merge…',
        several: true,
        route: `${CLUSTER}/merge`,
        run: mergeDialog,
    },
    { name: 'Split…', one: true, route: `${CLUSTER}/split`, run: splitDialog },
    { name: 'Status, owner, note…', one: true, route: '/v1/collections/{collection}/edits', run: noteDialog },
    turn('Lock', 'lock', (c) => c.locked, true, 'keeps its place in rebuilds'),
    turn('Unlock', 'lock', (c) => c.locked, false, 'may move in rebuilds again'),
    turn('Hide', 'hidden', (c) => c.hidden, true, 'is hidden'),
    turn('Show again', 'hidden', (c) => c.hidden, false, 'is shown again'),
];

/** States of a cluster that people gave it, as small words behind its name. */
export const marks = (c) => [
    c.hidden ? h('span', { class: 'tag' }, 'hidden') : '',
    c.locked ? h('span', { class: 'tag' }, 'locked') : '',
    c.status ? h('span', { class: 'tag', title: plain([c.owner, c.note].filter(Boolean).join(': ')) }, shown(c.status)) : '',
];

/* One edit for each; what was done until one is refused can be taken back, too. */
async function moveAll(place, documents, to) {
    const edits = [];
    try {
        for (const d of documents) {
            const path = at`v1/collections/${place.collection}/documents/${d.id}/cluster`;
            const row = await json(path + query({ cluster: to.value, config: place.where.config }), {
                method: 'PUT',
                namespace: place.namespace,
            });
            edits.push(row.edit);
        }
    } finally {
        if (edits.length)
            told(place, edits, [
                documents.length === 1 ? 'The document goes' : `${several(edits.length, 'document')} moved`,
                ' into ',
                h('q', {}, to.selectedOptions[0].textContent),
            ]);
    }
}

/** Put documents into another cluster than `now`, null where they are in several: a choice of all of them. */
export function moveDialog(place, documents, now, clusters) {
    const to = h(
        'select',
        { id: 'move-to', required: true },
        clusters
            .filter((c) => c.cluster !== now)
            .map((c) => h('option', { value: c.cluster }, plain(c.label))),
    );
    const one = documents.length === 1;
    formDialog(
        one ? 'Move the document' : `Move ${several(documents.length, 'document')}`,
        [
            h('label', { for: 'move-to' }, 'Into the cluster'),
            to,
            h('p', { class: 'quiet' }, one ? 'It goes there at once, and stays there in rebuilds.' : 'They go there at once, and stay there in rebuilds.'),
        ],
        'Move',
        () => moveAll(place, documents, to),
    );
}

export const keep = (place, d) =>
    done(
        make(place, 'PUT', at`v1/collections/${place.collection}/documents/${d.id}/kept`, {}, [
            'The document stays in its cluster, whatever rebuilds find',
        ]),
    );

/** To the list of all edits. */
export const editsAddress = (place) => route.to(['c', place.collection, 'edits'], { build: '' });

/** What a build could not keep of what people changed, by the server's messages; null where all holds. */
export const lostEdits = (place, messages) =>
    messages.length
        ? h(
              'section',
              { class: 'lost' },
              h('h2', {}, `${several(messages.length, 'change')} by hand could not be kept`),
              h('ul', {}, messages.map((m) => h('li', {}, shown(m)))),
              h('p', {}, h('a', { href: editsAddress(place) }, 'Changes by hand')),
          )
        : null;
