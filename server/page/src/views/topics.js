// Topics: clusters that people described, by words or by documents, before any rebuild found them.
import { at, json, query } from '../api.js';
import { h } from '../dom.js';
import { count, moment, several } from '../format.js';
import { readPlace } from '../model.js';
import { deleteTopic, topicDialog, topicWords } from '../parts/edits.js';
import { choices, collectionMenu, rebuildForm } from '../parts/place.js';
import { table } from '../parts/table.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';

const OWED = 'gets its documents with the next rebuild';

function columnsOf(where, place) {
    return [
        {
            title: 'Topic',
            key: 'topic',
            class: 'main',
            value: (t) => t.topic,
            csv: ['topic', 'cluster', 'words', 'like', 'field', 'by', 'reason', 'time', 'lost'].map((name) => [name, (t) => t[name]]),
            cell: (t) => [
                t.documents
                    ? h('a', { class: 'row-link', href: route.to(['c', where.collection, 'cluster', t.cluster], { build: '' }) }, shown(t.topic))
                    : h('span', { class: 'name' }, shown(t.topic)),
                t.lost || t.owed ? h('span', { class: 'block state changed-since' }, t.lost ? shown(t.lost) : OWED) : '',
            ],
        },
        { title: 'Documents', key: 'documents', numeric: true, down: true, value: (t) => t.documents, cell: (t) => count(t.documents) },
        {
            title: 'Described by',
            class: 'text',
            cell: (t) => [h('span', {}, topicWords(t)), t.reason ? h('span', { class: 'block quiet' }, shown(t.reason)) : ''],
        },
        { title: 'By', key: 'by', class: 'wide', value: (t) => t.by ?? '', csv: [], cell: (t) => shown(t.by ?? '') },
        { title: 'Added', key: 'time', class: 'when wide', down: true, value: (t) => t.time, csv: [], cell: (t) => moment(t.time) },
        {
            title: '',
            class: 'acts-words',
            cell: (t) =>
                h(
                    'button',
                    { type: 'button', class: 'small', 'aria-label': `Delete the topic ${plain(t.topic)}`, onclick: () => deleteTopic(place, t) },
                    'Delete',
                ),
        },
    ];
}

export async function topics(where, { signal }) {
    const place = await readPlace(where, signal);
    const rows = await json(at`v1/collections/${where.collection}/topics` + query({ config: place.where.config }), { signal });
    const list = table({
        name: `${where.collection}-topics`,
        label: 'Topics',
        columns: columnsOf(where, place),
        rows,
        kept: where.kept,
    });
    const owed = rows.some((t) => t.owed);
    return {
        title: `${where.collection}: topics`,
        collection: where.collection,
        crumb: 'Topics',
        place,
        element: [
            h(
                'div',
                { class: 'head' },
                h('h1', {}, 'Topics'),
                h(
                    'p',
                    { class: 'facts' },
                    rows.length
                        ? `${several(rows.length, 'topic')}: clusters of their own, before all others, in every rebuild`
                        : 'A topic is a cluster that you describe, by words or by documents that are examples of it.',
                ),
                h(
                    'div',
                    { class: 'tools' },
                    choices({ ...place, builds: [] }),
                    h('button', { type: 'button', class: owed ? '' : 'primary', onclick: () => topicDialog(place) }, 'Add a topic…'),
                    rows.length ? list.csv : null,
                    place.info.size ? rebuildForm(place, where.kept) : null,
                    collectionMenu(place),
                ),
            ),
            rows.length ? list.element : null,
            h(
                'p',
                { class: 'quiet' },
                'To add one by documents, draw around them on the ',
                h('a', { href: route.to(['c', where.collection, 'documents'], { build: '' }) }, 'map of documents'),
                ', or choose some of what a ',
                h('a', { href: route.to(['c', where.collection, 'search'], { build: '' }) }, 'search'),
                ' finds.',
            ),
        ],
    };
}
