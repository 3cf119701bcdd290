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

/* Parameters go with the body, where they may be many. */
function order({ namespace, where }, method, path, values) {
    const all = { ...values, config: where.config };
    if (method === 'DELETE') return json(path + query(all), { method, namespace });
    const given = Object.entries(all).filter(([, v]) => v !== undefined && v !== '');
    if (!given.length) return json(path, { method, namespace });
    const headers = { 'Content-Type': 'application/json' },
        body = JSON.stringify(Object.fromEntries(given));
    return json(path, { method, namespace, headers, body });
}

/** Make an edit: words, or what gives them, say what has been done, and the toast takes it back. */
export async function make(place, method, path, values, words) {
    const rows = [await order(place, method, path, values)].flat();
    told(
        place,
        rows.map((row) => row.edit),
        typeof words === 'function' ? await words() : words,
    );
    return rows[0];
}

/* Why somebody does it, where they say. */
function reasonField() {
    const field = h('input', { id: 'edit-reason', autocomplete: 'off', placeholder: 'kept with the change' });
    return {
        elements: [h('label', { for: 'edit-reason' }, 'Why (may be empty)'), field],
        value: () => field.value.trim(),
    };
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
export function mergeInto(place, stays, others, reason = '') {
    const words = [
        others.length === 1 ? h('q', {}, shown(others[0].label)) : several(others.length, 'cluster'),
        ' merged into ',
        h('q', {}, shown(stays.label)),
    ];
    return make(
        place,
        'POST',
        ofCluster(place, stays, 'merge'),
        { others: others.map((c) => c.cluster), reason },
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
    const largest = [...clusters].sort((a, b) => b.size - a.size),
        reason = reasonField();
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
            reason.elements,
            h('p', { class: 'quiet' }, 'The others go into it at once, and rebuilds keep them together. It is named after all its documents, unless somebody has named it.'),
        ],
        'Merge',
        async () => {
            const id = Number(choices.querySelector(':checked').value);
            const stays = clusters.find((c) => c.cluster === id),
                others = clusters.filter((c) => c !== stays);
            await mergeInto(place, stays, others, reason.value());
            after?.();
        },
    );
}

function splitDialog({ place, clusters: [c] }) {
    const k = h('input', { type: 'number', id: 'split-k', min: 2, max: 100, value: 2, required: true }),
        reason = reasonField();
    formDialog(
        ['Split ', shown(c.label)],
        [
            h('label', { for: 'split-k' }, 'Into how many parts?'),
            k,
            reason.elements,
            h('p', { class: 'quiet' }, 'One part keeps the name and the id; rebuilds keep the parts apart.'),
        ],
        'Split',
        () =>
            make(place, 'POST', ofCluster(place, c, 'split'), { k: Number(k.value), reason: reason.value() }, [
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
    c.candidate ? h('span', { class: 'tag', title: 'Documents that came since the build and fit none of its clusters' }, 'new') : '',
    c.hidden ? h('span', { class: 'tag' }, 'hidden') : '',
    c.locked ? h('span', { class: 'tag' }, 'locked') : '',
    c.status ? h('span', { class: 'tag', title: plain([c.owner, c.note].filter(Boolean).join(': ')) }, shown(c.status)) : '',
];

/** What a language model calls it, beside its own label. */
export const titleOf = (c, tag = 'span') =>
    c.title && c.title !== c.label
        ? h(tag, { class: 'title', title: c.title_model ? plain(`in the words of ${c.title_model}`) : 'in the words of a language model' }, shown(c.title))
        : '';

/** What somebody noted of it: status, owner, link, note. */
export function stateOf(c) {
    const noted = NOTES.filter(([name]) => c[name]);
    if (!noted.length) return null;
    const value = (name) =>
        name === 'link' && /^https?:/.test(c.link) ? h('a', { href: c.link, rel: 'noreferrer' }, shown(c.link, 80)) : shown(c[name]);
    return h(
        'dl',
        { class: 'noted', 'aria-label': 'Noted by hand' },
        noted.map(([name, title]) => h('div', {}, h('dt', {}, title), h('dd', {}, value(name)))),
    );
}

/* One edit for each; what was done until one is refused can be taken back, too. */
async function moveAll(place, documents, to, reason) {
    const edits = [];
    try {
        for (const d of documents) {
            const path = at`v1/collections/${place.collection}/documents/${d.id}/cluster`;
            const row = await order(place, 'PUT', path, { cluster: to.value, reason });
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
    const one = documents.length === 1,
        reason = reasonField();
    formDialog(
        one ? 'Move the document' : `Move ${several(documents.length, 'document')}`,
        [
            h('label', { for: 'move-to' }, 'Into the cluster'),
            to,
            reason.elements,
            h('p', { class: 'quiet' }, one ? 'It goes there at once, and stays there in rebuilds.' : 'They go there at once, and stay there in rebuilds.'),
        ],
        'Move',
        () => moveAll(place, documents, to, reason.value()),
    );
}

export const keep = (place, d) =>
    done(
        make(place, 'PUT', at`v1/collections/${place.collection}/documents/${d.id}/kept`, {}, [
            'The document stays in its cluster, whatever rebuilds find',
        ]),
    );

/* ---- topics ----------------------------------------------------------------------------------- */

const topicsPath = (place) => at`v1/collections/${place.collection}/topics`;

/** What describes a topic: words, documents, a field. */
export const topicWords = (t) => [
    t.words ? ['the words ', h('q', {}, shown(t.words))] : '',
    t.like ? [t.words ? ', ' : '', several(t.like, 'document'), t.like === 1 ? ' as an example' : ' as examples'] : '',
    t.field ? [t.words || t.like ? ', ' : '', 'documents that have it as their ', h('q', {}, shown(t.field))] : '',
];

/** Add a topic, by words, or by documents that are examples of it. */
export function topicDialog(place, documents = []) {
    const field = (id, values) => h('input', { id, autocomplete: 'off', ...values });
    const name = field('topic-name', { required: true, maxlength: 200 }),
        words = field('topic-words', { required: !documents.length, placeholder: 'invoice refund charged twice' }),
        reason = reasonField();
    formDialog(
        documents.length ? `A topic of ${several(documents.length, 'document')}` : 'Add a topic',
        [
            h('label', { for: 'topic-name' }, 'What it is called'),
            name,
            h('label', { for: 'topic-words' }, documents.length ? 'Words that describe it, too (may be empty)' : 'Words that describe it'),
            words,
            reason.elements,
            h(
                'p',
                { class: 'quiet' },
                documents.length
                    ? 'The documents are its examples. With the next rebuild it is a cluster of its own, which takes documents like them.'
                    : 'With the next rebuild it is a cluster of its own, which takes the documents that these words are about.',
            ),
        ],
        'Add',
        () =>
            make(
                place,
                'POST',
                topicsPath(place),
                { name: name.value.trim(), words: words.value.trim(), like: documents.length ? documents.map((d) => d.id) : undefined, reason: reason.value() },
                ['Topic ', h('q', {}, shown(name.value.trim())), ' added: it gets its documents with the next rebuild'],
            ),
    );
}

/** Delete a topic; the toast takes it back. */
export const deleteTopic = (place, t) =>
    done(
        make(place, 'DELETE', at`v1/collections/${place.collection}/topics/${t.topic}`, {}, [
            'Topic ',
            h('q', {}, shown(t.topic)),
            ' deleted: it ends with the next rebuild',
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
