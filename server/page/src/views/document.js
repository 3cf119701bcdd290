// A document, and why it is where it is.
import { at, json, Problem, query } from '../api.js';
import { h } from '../dom.js';
import { documentTime, score } from '../format.js';
import { bar } from '../parts/bar.js';
import { table } from '../parts/table.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';

async function readDocument({ collection, id, values }, signal) {
    const path = at`v1/collections/${collection}/documents/${id}`;
    const where = { config: values.config, build: values.build };
    try {
        return await json(path + query({ ...where, why: true, terms: 20 }), { signal });
    } catch (e) {
        if (!(e instanceof Problem) || e.status !== 400) throw e;
        return json(path + query(where), { signal }); /* a build of a matrix cannot say why */
    }
}

const clusterOf = (collection, m, cluster, label) =>
    h(
        'a',
        {
            href: route.to(['c', collection, 'cluster', cluster], {
                config: m.configuration === 'default' ? '' : m.configuration,
            }),
        },
        shown(label),
    );

function places(collection, m) {
    const row = (cluster, label, s, kind) =>
        h(
            'tr',
            {},
            h('th', { scope: 'row' }, clusterOf(collection, m, cluster, label)),
            h(
                'td',
                { class: 'share' },
                h('span', { class: 'measured' }, bar(s, kind), h('span', {}, score(s))),
            ),
        );
    return h(
        'table',
        { class: 'places', 'aria-label': 'Similarity to clusters' },
        h(
            'thead',
            {},
            h(
                'tr',
                {},
                h('th', { scope: 'col' }, 'Cluster'),
                h('th', { scope: 'col' }, 'Similarity'),
            ),
        ),
        h(
            'tbody',
            {},
            row(m.cluster, m.label, m.score, ''),
            m.runner_up ? row(m.runner_up, m.runner_up_label, m.runner_up_score, 'second') : null,
        ),
    );
}

function why(m, id) {
    if (!m.why)
        return h(
            'p',
            { class: 'quiet' },
            'This build was made of rows that are not kept: it cannot say why.',
        );
    const most = m.why.terms[0]?.part ?? 1;
    const t = table({
        name: `${id}-${m.configuration}-why`,
        label: 'Shared terms',
        kind: 'why',
        rows: m.why.terms,
        columns: [
            { title: 'Shared term', key: 'term', value: (x) => x.term, cell: (x) => shown(x.term) },
            {
                title: 'Part of the score',
                key: 'part',
                class: 'share',
                value: (x) => x.part,
                cell: (x) =>
                    h(
                        'span',
                        { class: 'measured' },
                        bar(x.part / most),
                        h('span', {}, score(x.part)),
                    ),
            },
            {
                title: 'In document',
                key: 'in_document',
                numeric: true,
                value: (x) => x.in_document,
                cell: (x) => score(x.in_document),
            },
            {
                title: '× in cluster',
                key: 'in_cluster',
                numeric: true,
                value: (x) => x.in_cluster,
                cell: (x) => score(x.in_cluster),
            },
        ],
    });
    return [
        h(
            'div',
            { class: 'section-head' },
            h('h3', {}, 'Terms that it shares with the cluster'),
            t.csv,
        ),
        t.element,
        h(
            'p',
            { class: 'quiet' },
            m.why.rest ? `Further terms ${score(m.why.rest)}; ` : '',
            `in all ${score(m.why.sum)}`,
        ),
    ];
}

const byConfiguration = (m) =>
    m.configuration === 'default' ? '' : [', by ', shown(m.configuration)];

function membership(collection, id, m) {
    const title = ['Why it is there', byConfiguration(m)];
    const note = m.provisional
        ? h('p', { class: 'note' }, `Provisional: ${m.note}. The next rebuild settles it.`)
        : null;
    if (m.cluster === undefined && m.note)
        return h(
            'section',
            { class: 'left-out' },
            h('h2', {}, 'Why it is in no cluster', byConfiguration(m)),
            h('p', {}, `${m.note[0].toUpperCase()}${m.note.slice(1)}.`),
        );
    if (m.cluster === null || m.cluster === undefined)
        return h(
            'section',
            {},
            h('h2', {}, title),
            note,
            h('p', {}, 'It has no term that the build knows, so it is in no cluster.'),
        );
    return h(
        'section',
        {},
        h('h2', {}, title),
        note,
        places(collection, m),
        m.margin !== undefined
            ? h('p', { class: 'quiet' }, `The next best is ${score(m.margin)} less similar.`)
            : null,
        why(m, id),
    );
}

function record(d) {
    const entries = [
        ['id', d.id],
        ...(d.time === undefined ? [] : [['time', d.time]]),
        ...(d.lang === undefined ? [] : [['lang', d.lang]]),
        ...Object.entries(d.fields ?? {}),
    ];
    const value = (k, v) =>
        k === 'time'
            ? h('span', { title: plain(v) }, shown(documentTime(v)))
            : shown(typeof v === 'object' ? JSON.stringify(v) : v, 2000);
    return h(
        'dl',
        { class: 'record' },
        entries.map(([k, v]) => [h('dt', {}, shown(k)), h('dd', {}, value(k, v))]),
    );
}

/* Where it was opened from, a cluster or a search; else the cluster that it is in. */
function above(where, d) {
    const { from } = where;
    if (
        from &&
        ((from.view === 'cluster' && from.collection === where.collection) ||
            from.view === 'search')
    )
        return { href: from.hash, label: from.crumb };
    const config = where.values.config || 'default';
    const m = d.memberships.find((x) => x.configuration === config && x.cluster);
    return m && { href: route.to(['c', where.collection, 'cluster', m.cluster]), label: m.label };
}

export async function documentView(where, { signal }) {
    const d = await readDocument(where, signal);
    return {
        title: `${plain(d.id)} · ${where.collection}`,
        collection: where.collection,
        above: above(where, d),
        crumb: d.id,
        element: [
            h('div', { class: 'head' }, h('h1', { class: 'id-title' }, shown(d.id))),
            h(
                'div',
                { class: 'columns document-page' },
                h(
                    'section',
                    {},
                    h('blockquote', { class: 'document-text', dir: 'auto' }, shown(d.text)),
                    record(d),
                ),
                h(
                    'aside',
                    {},
                    d.memberships.length
                        ? d.memberships.map((m) => membership(where.collection, d.id, m))
                        : h('p', { class: 'quiet' }, 'The collection has not been clustered yet.'),
                ),
            ),
        ],
    };
}
