// A document, and why it is where it is.
import { at, has, json, order, Problem, query } from '../api.js';
import { h } from '../dom.js';
import { documentTime, score } from '../format.js';
import { keep, moveDialog } from '../parts/edits.js';
import { bar } from '../parts/bar.js';
import { confirm } from '../parts/dialog.js';
import { goUp } from '../parts/places.js';
import { table } from '../parts/table.js';
import { failure, toast } from '../parts/toast.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';

const SIMILAR = 8;

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
                h(
                    'span',
                    { class: 'measured', title: `similarity ${score(s)} of 1` },
                    bar(s / (m.score || 1), kind),
                    h('span', { class: 'heard' }, score(s)),
                ),
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
    const most = m.why.terms[0]?.part ?? 1,
        share = (part) => `${Math.round((100 * part) / (m.why.sum || 1))} %`;
    const t = table({
        name: `${id}-${m.configuration}-why`,
        label: 'Shared words',
        kind: 'why',
        rows: m.why.terms,
        columns: [
            { title: 'Word', key: 'term', value: (x) => x.term, cell: (x) => shown(x.term) },
            {
                title: 'Part',
                key: 'part',
                class: 'share',
                down: true,
                value: (x) => x.part,
                csv: ['part', 'in_document', 'in_cluster'].map((name) => [name, (x) => x[name]]),
                cell: (x) =>
                    h(
                        'span',
                        {
                            class: 'measured',
                            title: `${score(x.part)}: ${score(x.in_document)} in the document × ${score(x.in_cluster)} in the cluster`,
                        },
                        bar(x.part / most),
                        h('span', { class: 'quiet' }, share(x.part)),
                    ),
            },
        ],
    });
    return [
        h(
            'div',
            { class: 'section-head' },
            h('h3', {}, 'Words that it shares with the cluster'),
            t.csv,
        ),
        t.element,
        h(
            'p',
            { class: 'quiet' },
            m.why.rest ? `Further words make up ${share(m.why.rest)}.` : '',
        ),
    ];
}

const byConfiguration = (m) =>
    m.configuration === 'default' ? '' : [', by ', shown(m.configuration)];

/* A word on how sure its place is. */
function verdict(m) {
    if (m.margin === undefined || !m.score) return '';
    const next = 1 - m.margin / m.score;
    if (next >= 0.8) return 'It could as well be in the next best one.';
    return next >= 0.5
        ? 'The next best one is clearly less similar.'
        : 'No other cluster comes near.';
}

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
        h('p', { class: 'quiet', title: m.margin === undefined ? null : `${score(m.margin)} less similar` }, verdict(m)),
        why(m, id),
    );
}

/* Documents that are most similar to it, with their clusters. */
function likeIt(where, d, signal) {
    const list = h('ol', { class: 'similar' }),
        element = h(
            'section',
            { class: 'like-it', hidden: true },
            h('div', { class: 'section-head' }, h('h2', {}, 'Similar documents')),
            list,
        );
    const look = async () => {
        if (!(await has('/v1/collections/{collection}/similar'))) return;
        const found = await json(
            at`v1/collections/${where.collection}/similar` +
                query({ id: d.id, config: where.values.config, limit: SIMILAR }),
            { signal },
        );
        if (signal.aborted || !found.length) return;
        list.append(
            ...found.map((r) =>
                h(
                    'li',
                    {},
                    h(
                        'a',
                        { class: 'row-link document', href: route.to(['c', where.collection, 'doc', r.id]) },
                        shown(r.snippet || r.id),
                    ),
                    h(
                        'span',
                        { class: 'measured', title: `similarity ${score(r.score)} of 1` },
                        bar(r.score),
                        h('span', { class: 'heard' }, `similarity ${score(r.score)}`),
                        r.cluster
                            ? h(
                                  'a',
                                  { class: 'quiet', href: route.to(['c', where.collection, 'cluster', r.cluster]) },
                                  shown(r.label),
                              )
                            : null,
                    ),
                ),
            ),
        );
        element.hidden = false;
    };
    look().catch(() => {}); /* a document without a place has none like it */
    return element;
}

async function remove(where, d, up) {
    const wanted = await confirm({
        title: 'Delete this document?',
        words: [
            h('q', {}, shown(d.text, 160)),
            ' It vanishes from its cluster and from searches at once. This cannot be taken back.',
        ],
        verb: 'Delete the document',
    });
    if (!wanted) return;
    try {
        await order(at`v1/collections/${where.collection}/documents` + query({ id: d.id }), {
            method: 'DELETE',
        });
        toast(['The document ', shown(d.id), ' has been deleted']);
        goUp(up);
    } catch (e) {
        failure(e);
    }
}

/* Into another cluster, or to stay in this one: of the configuration that is looked at. */
function placeTools(where, d, signal) {
    const config = where.values.config || 'default',
        m = d.memberships.find((x) => x.configuration === config && x.cluster);
    if (!m || m.provisional || where.values.build) return null;
    const place = {
        namespace: where.values.namespace ?? '',
        collection: where.collection,
        where: { config: config === 'default' ? '' : config },
    };
    const move = async () => {
        try {
            const clusters = await json(
                at`v1/collections/${where.collection}/clusters` +
                    query({ ...place.where, sort: 'label' }),
                { signal },
            );
            if (!signal.aborted) moveDialog(place, [d], m.cluster, clusters);
        } catch (e) {
            if (!signal.aborted) failure(e);
        }
    };
    return [
        h('button', { type: 'button', onclick: move }, 'Move…'),
        h(
            'button',
            {
                type: 'button',
                title: 'It stays in its cluster, whatever rebuilds find',
                onclick: () => keep(place, d),
            },
            'Keep here',
        ),
    ];
}

function record(d) {
    const entries = [
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
    const d = await readDocument(where, signal),
        parent = above(where, d),
        editable = await has('/v1/collections/{collection}/edits');
    return {
        title: `${plain(d.id)} · ${where.collection}`,
        collection: where.collection,
        above: parent,
        crumb: d.id,
        element: [
            h(
                'div',
                { class: 'head' },
                h('h1', { class: 'id-title' }, shown(d.id)),
                h(
                    'div',
                    { class: 'tools' },
                    editable ? placeTools(where, d, signal) : null,
                    h(
                        'button',
                        {
                            type: 'button',
                            class: 'danger-word',
                            onclick: () =>
                                remove(where, d, parent?.href ?? route.to(['c', where.collection])),
                        },
                        'Delete…',
                    ),
                ),
            ),
            h(
                'div',
                { class: 'columns document-page' },
                h(
                    'section',
                    {},
                    h('blockquote', { class: 'document-text', dir: 'auto' }, shown(d.text)),
                    record(d),
                    likeIt(where, d, signal),
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
