// Documents that a query finds, in one collection or in all.
import { at, json, query, rows as readRows, searchParameter } from '../api.js';
import { h } from '../dom.js';
import { count, documentTime, score, several } from '../format.js';
import { table } from '../parts/table.js';
import * as route from '../route.js';
import { marked, patternOf, plain, shown } from '../text.js';

/* In one collection; in all, of each, and together. Scores of different collections say nothing of each other. */
const MOST = 100,
    MOST_OF_EACH = 20,
    MOST_OF_ALL = 500;

function columnsOf(where, pattern) {
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
                    r.snippet ? marked(r.snippet, pattern) : shown(r.text ?? r.id, 400),
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

function told(where, found) {
    const n = found.length;
    const of = new Map(found.map((r) => [r.collection, r.total ?? 0]));
    const total = [...of.values()].reduce((a, b) => a + b, 0);
    if (where.values.cluster)
        return n === MOST
            ? `the best ${MOST} of this cluster,`
            : [several(n, 'document'), ' of this cluster,'];
    return n < total
        ? `the best ${count(n)} of ${several(total, 'document')}`
        : several(n, 'document');
}

/* Of one cluster alone: those that have been found in, and the one that was chosen. */
async function clusterChoice(where, found, signal) {
    if (!where.collection) return null;
    const now = where.values.cluster ?? '';
    const all = now
        ? await json(
              at`v1/collections/${where.collection}/clusters` +
                  query({ config: where.values.config }),
              { signal },
          )
        : [...new Map(found.filter((r) => r.cluster).map((r) => [r.cluster, r])).values()].sort(
              (a, b) => a.label.localeCompare(b.label),
          );
    if (all.length < 2) return null;
    return h(
        'label',
        { class: 'choice' },
        h('span', {}, 'Cluster'),
        h(
            'select',
            {
                onchange: (e) => {
                    location.hash = route.withValues({ cluster: e.target.value });
                },
            },
            h('option', { value: '', selected: !now }, 'all'),
            all.map((c) =>
                h(
                    'option',
                    { value: c.cluster, selected: String(c.cluster) === now },
                    plain(c.label),
                ),
            ),
        ),
    );
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
                    cluster: where.collection ? where.values.cluster : '',
                }),
            { signal },
        )) {
            found.push(row);
            if (found.length === MOST_OF_ALL) break;
        }
    const list = table({
        name: 'search',
        label: 'Documents found',
        columns: columnsOf(where, patternOf(found.map((r) => r.found))),
        rows: found,
        kept: where.kept,
    });
    const choice =
        found.length || where.values.cluster ? await clusterChoice(where, found, signal) : null;
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
                          ? [told(where, found), ' for ', h('q', {}, shown(q))]
                          : '',
                ),
                h('div', { class: 'tools' }, choice, found.length ? list.csv : null),
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
