// What is new: groups of documents that fit no cluster, what watches told of it, and the watches.
import { at, below, has, json, order, query } from '../api.js';
import { h, onSubmit } from '../dom.js';
import { count, documentTime, moment, several } from '../format.js';
import { readPlace } from '../model.js';
import { confirm } from '../parts/dialog.js';
import { choices, collectionMenu } from '../parts/place.js';
import { table } from '../parts/table.js';
import { failure, toast } from '../parts/toast.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';
import { inWords } from '../words.js';

const WATCHES = '/v1/collections/{collection}/watches';

const refresh = () => dispatchEvent(new CustomEvent('page:refresh'));

const pathOf = (place, what, values) =>
    below(at`v1/collections/${place.collection}/`, what) + query({ config: place.where.config, ...values });

/* ---- groups of new documents ------------------------------------------------------------------ */

const span = (g) => {
    if (g.first === undefined) return '';
    const [first, last] = [documentTime(g.first), documentTime(g.last)];
    return first === last ? first : `${first} to ${last}`;
};

function groupElement(place, g) {
    const to = (kind, id) => route.to(['c', place.collection, kind, id]);
    return h(
        'section',
        { class: 'alike', 'aria-label': plain(g.label) },
        h(
            'div',
            { class: 'section-head' },
            h('h3', {}, shown(g.label)),
            h('span', { class: 'quiet' }, several(g.size, 'document')),
            g.cluster
                ? h('a', { class: 'tag', href: to('cluster', g.cluster), title: 'All its documents; alerts call it by this id' }, `cluster ${g.cluster}`)
                : null,
        ),
        h(
            'p',
            { class: 'quiet' },
            span(g) ? [shown(span(g)), ' · '] : '',
            g.nearest ? ['nearest to ', h('a', { href: to('cluster', g.nearest) }, shown(g.nearest_label))] : 'near no cluster',
        ),
        h('p', { class: 'quiet' }, shown(g.terms.map((t) => t.term).join(', '))),
        h(
            'ol',
            {},
            g.documents.map((d) =>
                h('li', {}, h('a', { class: 'row-link document', href: to('doc', d.id) }, shown(d.text, 160)), h('span', { class: 'quiet id' }, shown(d.id))),
            ),
        ),
        g.size > g.documents.length ? h('p', { class: 'quiet' }, `and ${count(g.size - g.documents.length)} more`) : null,
    );
}

function groupsPart(place, signal) {
    const body = h('div', {}, h('p', { class: 'quiet', role: 'status' }, 'Looking at what came since the build …'));
    const read = async () => {
        try {
            const rows = await json(pathOf(place, 'new'), { signal });
            body.replaceChildren(
                rows.length
                    ? h('div', { class: 'alike-all' }, rows.map((g) => groupElement(place, g)))
                    : h('p', { class: 'quiet' }, 'No group of documents came since the build that fits no cluster.'),
            );
        } catch (e) {
            if (e.name !== 'AbortError') body.replaceChildren(h('p', { class: 'problem', role: 'alert' }, shown(inWords(e.message))));
        }
    };
    read();
    return h('section', {}, h('div', { class: 'section-head' }, h('h2', {}, 'New documents that fit no cluster')), body);
}

/* ---- what was told ---------------------------------------------------------------------------- */

const KINDS = { new: 'new group', rising: 'rising' };
const STATES = { waiting: 'waiting', delivered: 'delivered', failed: 'not delivered', dropped: 'not sent: its rule was deleted' };

const triesOf = (a) =>
    [
        a.problem,
        a.tries > 1 ? `tried ${count(a.tries)} times` : '',
        a.state === 'waiting' && a.next ? `again ${moment(a.next)}` : '',
    ]
        .filter(Boolean)
        .join('; ');

/* The cluster of a group may have ended with a rebuild since: only a cluster that rises is a link. */
const nameOf = (place, a) =>
    a.kind === 'rising'
        ? h('a', { class: 'row-link', href: route.to(['c', place.collection, 'cluster', a.cluster]) }, shown(a.label))
        : shown(a.label);

const alertColumns = (place) => [
    { title: 'Told', key: 'time', class: 'when', down: true, value: (a) => a.time, cell: (a) => moment(a.time) },
    {
        title: 'Of',
        key: 'label',
        class: 'main',
        value: (a) => a.label,
        csv: [
            ['alert', (a) => a.alert],
            ['kind', (a) => a.kind],
            ['cluster', (a) => a.cluster],
            ['label', (a) => a.label],
        ],
        cell: (a) => [nameOf(place, a), h('span', { class: 'tag' }, KINDS[a.kind] ?? a.kind)],
    },
    { title: 'Documents', key: 'size', numeric: true, value: (a) => a.size, cell: (a) => count(a.size) },
    { title: 'Rule', key: 'when', class: 'wide', value: (a) => a.when, cell: (a) => h('code', {}, shown(a.when)) },
    {
        title: 'Arrived',
        key: 'state',
        value: (a) => a.state,
        csv: [
            ['way', (a) => a.way],
            ['state', (a) => a.state],
            ['tries', (a) => a.tries],
            ['problem', (a) => a.problem],
        ],
        cell: (a) => [
            h('span', { class: a.state === 'failed' ? 'problem' : '' }, `${STATES[a.state] ?? a.state} (${a.way})`),
            triesOf(a) ? h('span', { class: 'block' }, shown(triesOf(a))) : '',
        ],
    },
];

function alertsPart(place, alerts, kept) {
    const list = table({
        name: `${place.collection}-alerts`,
        label: 'Alerts',
        kind: 'alerts',
        columns: alertColumns(place),
        rows: [...alerts].reverse(),
        most: 50,
        kept,
    });
    return h(
        'section',
        {},
        h('div', { class: 'section-head' }, h('h2', {}, 'What was told'), alerts.length ? list.csv : null),
        alerts.length ? h('div', { class: 'table-frame' }, list.element) : h('p', { class: 'quiet' }, 'No alert yet.'),
    );
}

/* ---- watches ---------------------------------------------------------------------------------- */

const addWatch = (place, { when, post }) => json(pathOf(place, 'watches', { when, post }), { method: 'POST' });

/* The list has no query of the address, nor a key: it cannot be added again as it was, so this asks first. */
async function deleteWatch(place, w) {
    const wanted = await confirm({
        title: 'Delete this watch?',
        words: 'What it told stays in the list; what waits is not sent.',
        verb: 'Delete it',
    });
    if (!wanted) return;
    try {
        await order(
            at`v1/collections/${place.collection}/watches/${w.watch}` + query({ config: place.where.config }),
            { method: 'DELETE' },
        );
        toast([h('code', {}, shown(w.when)), ' is watched no more']);
        refresh();
    } catch (e) {
        failure(e);
    }
}

function watchForm(place) {
    const when = h('input', { id: 'watch-when', required: true, placeholder: 'new >= 20 or rising z >= 4', autocomplete: 'off', spellcheck: 'false' }),
        post = h('input', { id: 'watch-post', type: 'url', required: true, placeholder: 'https://', autocomplete: 'off' }),
        said = h('p', { class: 'problem', role: 'alert' });
    return h(
        'form',
        {
            class: 'watch-form',
            onsubmit: onSubmit(async () => {
                said.textContent = '';
                try {
                    const w = await addWatch(place, { when: when.value.trim(), post: post.value.trim() });
                    toast(['Watched from now on: ', h('code', {}, shown(w.when))], async () => {
                        await order(
                            at`v1/collections/${place.collection}/watches/${w.watch}` + query({ config: place.where.config }),
                            { method: 'DELETE' },
                        );
                        refresh();
                    });
                    refresh();
                } catch (e) {
                    said.textContent = inWords(e.message);
                }
                return false;
            }),
        },
        h('label', { for: 'watch-when' }, 'Tell when'),
        when,
        h('label', { for: 'watch-post' }, 'Post it to'),
        post,
        h('button', { class: 'primary' }, 'Add'),
        said,
    );
}

function watchesPart(place, watches, kept) {
    const list = table({
        name: `${place.collection}-watches`,
        label: 'Watches',
        kind: 'watches',
        kept,
        rows: watches,
        columns: [
            { title: 'When', key: 'when', class: 'main', value: (w) => w.when, cell: (w) => h('code', {}, shown(w.when)) },
            {
                title: 'Way',
                key: 'way',
                value: (w) => w.way,
                csv: [
                    ['way', (w) => w.way],
                    ['target', (w) => w.target],
                ],
                cell: (w) => [`${w.way} `, shown(w.target), w.signed ? h('span', { class: 'tag' }, 'signed') : '', w.away ? h('span', { class: 'tag', title: 'It came with a copy of another store, and sends nothing: delete it and add it here' }, 'sends nothing here') : ''],
            },
            { title: 'Since', key: 'since', class: 'wide', value: (w) => w.since, cell: (w) => moment(w.since) },
            {
                title: '',
                class: 'acts-words',
                cell: (w) =>
                    h(
                        'button',
                        { type: 'button', class: 'small', 'aria-label': `Delete the watch ${plain(w.when)}`, onclick: () => deleteWatch(place, w) },
                        'Delete',
                    ),
            },
        ],
    });
    return h(
        'section',
        {},
        h('div', { class: 'section-head' }, h('h2', {}, 'What is watched')),
        watches.length ? h('div', { class: 'table-frame' }, list.element) : h('p', { class: 'quiet' }, 'Nothing is watched: nobody is told of what is new.'),
        watchForm(place),
        h(
            'p',
            { class: 'quiet' },
            'Watches that run a command, write mail or sign what they post are added on the machine of the server alone: ',
            h('code', {}, 'grouperfish watch add'),
            '.',
        ),
    );
}

async function look(place) {
    const row = await json(pathOf(place, 'watches/run'), { method: 'POST' });
    toast(row.build === undefined ? 'A rebuild is under way: nothing was looked at' : `Looked: ${several(row.candidates, 'group')}, ${several(row.told, 'alert')} made`);
    refresh();
}

export async function news(where, { signal }) {
    const place = await readPlace(where, signal);
    const watching = await has(WATCHES);
    const [alerts, watches] = watching
        ? await Promise.all(['alerts', 'watches'].map((what) => json(pathOf(place, what), { signal })))
        : [[], []];
    return {
        title: `${where.collection}: what is new`,
        collection: where.collection,
        crumb: 'What is new',
        place,
        element: [
            h(
                'div',
                { class: 'head' },
                h('h1', {}, 'What is new'),
                h('p', { class: 'facts' }, place.build ? `Since the build of ${moment(place.build.build)}` : ''),
                h(
                    'div',
                    { class: 'tools' },
                    choices({ ...place, builds: [] }),
                    watching && place.build
                        ? h(
                              'button',
                              { type: 'button', title: 'A server looks by itself, soon after documents came', onclick: () => look(place).catch(failure) },
                              'Look now',
                          )
                        : null,
                    collectionMenu(place),
                ),
            ),
            place.build
                ? h(
                      'div',
                      { class: 'widest' },
                      groupsPart(place, signal),
                      watching ? [alertsPart(place, alerts, where.kept), watchesPart(place, watches, where.kept)] : null,
                  )
                : h('div', { class: 'empty' }, h('p', {}, 'These documents have not been clustered yet.')),
        ],
    };
}
