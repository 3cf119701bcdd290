// Documents that a query finds, in one collection or in all.
import { at, query, rows as readRows, searchParameter } from '../api.js';
import { h } from '../dom.js';
import { documentTime, score, several } from '../format.js';
import { table } from '../parts/table.js';
import * as route from '../route.js';
import { shown } from '../text.js';

/* In one collection; in all, of each, and together. Scores of different collections say nothing of each other. */
const MOST = 100,
    MOST_OF_EACH = 20,
    MOST_OF_ALL = 500;

function columnsOf(where) {
    const of = (r) => r.collection ?? where.collection;
    const columns = [
        {
            title: 'Score',
            key: 'score',
            numeric: true,
            value: (r) => r.score,
            cell: (r) => score(r.score),
        },
        {
            title: 'Document',
            key: 'id',
            class: 'text',
            value: (r) => r.id,
            csv: [
                ['id', (r) => r.id],
                ['snippet', (r) => r.snippet],
            ],
            cell: (r) => [
                h(
                    'a',
                    { class: 'row-link document', href: route.to(['c', of(r), 'doc', r.id]) },
                    shown(r.snippet ?? r.text ?? r.id, 400),
                ),
                h(
                    'span',
                    { class: 'quiet id' },
                    shown(r.id),
                    r.time !== undefined ? [' · ', shown(documentTime(r.time))] : '',
                ),
            ],
        },
        {
            title: 'Cluster',
            key: 'label',
            class: 'wide next',
            value: (r) => r.label ?? '',
            cell: (r) =>
                r.cluster
                    ? h('a', { href: route.to(['c', of(r), 'cluster', r.cluster]) }, shown(r.label))
                    : shown(r.label ?? ''),
        },
    ];
    if (!where.collection)
        columns.splice(1, 0, {
            title: 'Collection',
            key: 'collection',
            value: (r) => r.collection,
            cell: (r) => h('a', { href: route.to(['c', r.collection]) }, shown(r.collection)),
        });
    return columns;
}

function told(where, n) {
    if (!where.collection)
        return `${several(n, 'document')}, at most ${MOST_OF_EACH} of a collection,`;
    return n === MOST ? `the best ${MOST}` : several(n, 'document');
}

export async function search(where, { signal }) {
    const name = await searchParameter(),
        q = where.values.q ?? '';
    const found = [];
    if (q && name)
        for await (const row of readRows(
            at`v1/collections/${where.collection ?? '*'}/search` +
                query({
                    [name]: q,
                    limit: where.collection ? MOST : MOST_OF_EACH,
                    config: where.values.config,
                }),
            { signal },
        )) {
            found.push(row);
            if (found.length === MOST_OF_ALL) break;
        }
    const list = table({
        name: 'search',
        label: 'Documents found',
        columns: columnsOf(where),
        rows: found,
        kept: where.kept,
    });
    const title = ['Search', where.collection ? [' in ', shown(where.collection)] : ''];
    return {
        title: 'Search',
        collection: where.collection,
        crumb: 'Search',
        element: [
            h(
                'div',
                { class: 'head' },
                h('h1', {}, title),
                h(
                    'p',
                    { class: 'facts' },
                    !name
                        ? 'This server has no search.'
                        : q
                          ? [told(where, found.length), ' for ', h('q', {}, shown(q))]
                          : '',
                ),
                h('div', { class: 'tools' }, found.length ? list.csv : null),
            ),
            found.length
                ? list.element
                : q && name
                  ? h(
                        'div',
                        { class: 'empty' },
                        h('p', {}, 'Nothing was found.'),
                        h(
                            'p',
                            { class: 'quiet' },
                            'Words are matched by their stems; "a phrase" and begin* work, too.',
                        ),
                    )
                  : null,
        ],
    };
}
