// One cluster: what it is about in its documents' words, how it goes, and its documents.
import { at, json, query, searchParameter } from '../api.js';
import { h } from '../dom.js';
import { count, percent, score, several } from '../format.js';
import { buildOf, readChanges, readPlace, readTrends } from '../model.js';
import { actionsFor, clusterMenu } from '../parts/actions.js';
import { marks, stateOf, titleOf } from '../parts/edits.js';
import { bar } from '../parts/bar.js';
import { clarity } from '../parts/clarity.js';
import { button, line } from '../parts/csv.js';
import { choices } from '../parts/place.js';
import { chart } from '../parts/spark.js';
import { table } from '../parts/table.js';
import * as route from '../route.js';
import { marked, patternOf, plain, shown } from '../text.js';
import { ARROWS, fit, trendReason } from '../words.js';

/* Documents at once; and those of a page that is gone back to. */
const PAGE = 50,
    MOST_AGAIN = 1000;

const ORDERS = [
    ['', 'Best'],
    ['all', 'All'],
    ['least', 'Least fitting'],
];

const BEST = 3;

const documentAddress = (where, id) => route.to(['c', where.collection, 'doc', id]);

/* The documents' own words: the most central sentence, then documents that differ. */
function quotes(c, where) {
    const all = c.documents
        .filter((d) => d.id !== c.sentence_of)
        .map((d) => ({ id: d.id, text: d.text, copies: d.copies }));
    if (c.sentence) all.unshift({ id: c.sentence_of, text: c.sentence });
    if (!all.length) return null;
    return h(
        'ol',
        { class: 'quotes', 'aria-label': 'In their own words' },
        all.slice(0, BEST).map((q, i) =>
            h(
                'li',
                { class: i === 0 && c.sentence ? 'sentence' : '' },
                h('a', { href: documentAddress(where, q.id) }, shown(q.text, 240)),
                q.copies ? h('span', { class: 'quiet' }, ` and ${count(q.copies)} like it`) : '',
            ),
        ),
    );
}

function terms(c, name) {
    const most = c.terms[0]?.weight ?? 1;
    const t = table({
        name: `${name}-terms`,
        label: 'Words',
        kind: 'terms',
        rows: c.terms,
        columns: [
            { title: 'Word', key: 'term', value: (x) => x.term, cell: (x) => shown(x.term) },
            {
                title: 'How typical',
                key: 'weight',
                class: 'share',
                down: true,
                value: (x) => x.weight,
                cell: (x) =>
                    h(
                        'span',
                        { class: 'measured', title: `weight ${score(x.weight)} of 1` },
                        bar(x.weight / most),
                        h('span', { class: 'heard' }, `${Math.round((100 * x.weight) / most)} %`),
                    ),
            },
        ],
    });
    return h(
        'section',
        {},
        h('div', { class: 'section-head' }, h('h2', {}, 'Words'), t.csv),
        t.element,
    );
}

function documentColumns(where, best) {
    return [
        {
            title: 'Document',
            key: 'text',
            class: 'text',
            csv: [
                ['id', (d) => d.id],
                ['text', (d) => d.text],
                ['copies', (d) => d.copies],
            ],
            cell: (d) => [
                h(
                    'a',
                    { class: 'row-link document', href: documentAddress(where, d.id) },
                    shown(d.text, 280),
                ),
                h(
                    'span',
                    { class: 'quiet id' },
                    shown(d.id),
                    d.replaced ? ' · put anew since' : '',
                    d.copies ? ` · and ${count(d.copies)} like it` : '',
                ),
            ],
        },
        {
            title: 'Fit',
            key: 'score',
            class: 'fit',
            down: true,
            value: (d) => d.score,
            cell: (d) =>
                h(
                    'span',
                    {
                        class: 'measured',
                        title: `similarity to the cluster ${score(d.score)}, of the best one ${score(best)}`,
                        'data-score': d.score,
                    },
                    bar(d.score / best),
                    h('span', { class: 'word' }, fit(d, best)),
                ),
        },
        {
            title: 'Next best',
            key: 'runner_up_label',
            class: 'wide next',
            value: (d) => d.runner_up_label ?? '',
            csv: [
                ['runner_up', (d) => d.runner_up],
                ['runner_up_label', (d) => d.runner_up_label],
                ['margin', (d) => d.margin],
            ],
            cell: (d) =>
                d.runner_up
                    ? h(
                          'a',
                          {
                              href: route.to(['c', where.collection, 'cluster', d.runner_up]),
                              title: `${score(d.margin)} less similar`,
                          },
                          shown(d.runner_up_label),
                      )
                    : '',
        },
    ];
}

const pageOf = (where, place, cursor, limit = PAGE, different = false) =>
    at`v1/collections/${where.collection}/clusters/${where.id}/documents` +
    query({
        config: place.where.config,
        ...(cursor ? { cursor } : { build: place.where.build }),
        ...(different ? { different } : {}),
        limit,
    });

function orders(where) {
    const now = where.values.order ?? '';
    return h(
        'div',
        { class: 'tabs small-tabs', role: 'group', 'aria-label': 'Which documents' },
        ORDERS.map(([value, title]) =>
            h(
                'a',
                {
                    href: route.withValues({ order: value, within: '' }),
                    'aria-current': now === value && !where.values.within ? 'true' : null,
                },
                title,
            ),
        ),
    );
}

/* Words that the cluster's documents are to have. */
const withinField = (where) =>
    h(
        'form',
        {
            class: 'within',
            onsubmit: (e) => {
                e.preventDefault();
                location.hash = route.withValues({ within: e.currentTarget.elements.within.value.trim(), order: '' });
            },
        },
        h('input', {
            type: 'search',
            name: 'within',
            class: 'filter',
            placeholder: 'Search these documents',
            'aria-label': 'Search the documents of this cluster',
            value: where.values.within ?? '',
        }),
    );

const head = (where, place, told, csv) =>
    h(
        'div',
        { class: 'section-head' },
        h('h2', {}, 'Documents'),
        orders(where),
        h('span', { class: 'quiet' }, told),
        h('span', { class: 'tools' }, place.build.served ? withinField(where) : null, csv),
    );

/* Those of the cluster that a query finds, the best match first. */
async function found(where, place, name, signal) {
    const q = where.values.within;
    const rows = await json(
        at`v1/collections/${where.collection}/search` +
            query({
                [await searchParameter()]: q,
                cluster: where.id,
                config: place.where.config,
                limit: MOST_AGAIN,
            }),
        { signal },
    );
    const pattern = patternOf(rows.map((r) => r.found));
    const list = table({
        name: `${name}-found`,
        label: 'Documents found',
        rows,
        most: PAGE,
        kept: where.kept,
        columns: [
            {
                title: 'Document',
                key: 'id',
                class: 'text',
                value: (r) => r.id,
                csv: [
                    ['id', (r) => r.id],
                    ['snippet', (r) => r.snippet],
                    ['score', (r) => r.score],
                ],
                cell: (r) => [
                    h('a', { class: 'row-link document', href: documentAddress(where, r.id) }, marked(r.snippet ?? r.id, pattern)),
                    h('span', { class: 'quiet id' }, shown(r.id)),
                ],
            },
        ],
    });
    return h(
        'section',
        { class: 'documents' },
        head(
            where,
            place,
            [
                rows.length === MOST_AGAIN ? `the best ${count(MOST_AGAIN)}` : several(rows.length, 'document'),
                ' with ',
                h('q', {}, shown(q)),
                ' · ',
                h('a', { href: route.withValues({ within: '' }) }, 'all of them'),
            ],
            rows.length ? list.csv : null,
        ),
        rows.length ? list.element : h('p', { class: 'empty quiet' }, 'No document of this cluster has that.'),
    );
}

/* different: without those that are like one before them. */
async function documents(where, place, name, signal, different, best) {
    const first = await json(pageOf(where, place, '', where.kept.documents, different), { signal });
    const all = [...first.documents];
    let next = first.next;
    const list = table({
        name,
        label: 'Documents',
        columns: documentColumns(where, best),
        rows: all,
        most: Infinity,
        kept: where.kept,
    });
    const csv = button(`${name}-documents`, async function* () {
        yield line(['id', 'score', 'runner_up', 'runner_up_label', 'margin', 'text']);
        for (let page = { next: '' }; page.next !== undefined;) {
            page = await json(pageOf(where, place, page.next, 1000));
            yield page.documents
                .map((d) => line([d.id, d.score, d.runner_up, d.runner_up_label, d.margin, d.text]))
                .join('');
        }
    });
    const more = h(
        'button',
        {
            type: 'button',
            class: 'more',
            hidden: !next,
            onclick: async () => {
                more.disabled = true;
                try {
                    const page = await json(pageOf(where, place, next, PAGE, different), { signal });
                    all.push(...page.documents);
                    where.kept.documents = Math.min(all.length, MOST_AGAIN);
                    next = page.next;
                    list.update();
                    told.textContent = shownOf();
                    more.hidden = !next;
                } catch (e) {
                    if (e.name !== 'AbortError')
                        more.before(h('p', { class: 'problem', role: 'alert' }, shown(e.message)));
                } finally {
                    more.disabled = false;
                }
            },
        },
        `Show ${PAGE} more`,
    );
    const shownOf = () =>
        next
            ? `the best ${count(all.length)} of ${count(first.size)}`
            : all.length < first.size
              ? `${count(all.length)} different of ${several(first.size, 'document')}`
              : several(all.length, 'document');
    const told = h('span', { class: 'quiet' }, shownOf());
    return h(
        'section',
        { class: 'documents' },
        head(where, place, told, csv),
        list.element,
        more,
    );
}

async function weakest(where, place, name, signal, _, best) {
    const c = await json(
        at`v1/collections/${where.collection}/clusters/${where.id}` +
            query({ ...place.where, weakest: PAGE, terms: 1 }),
        { signal },
    );
    const list = table({
        name: `${name}-weakest`,
        label: 'Documents',
        columns: documentColumns(where, best),
        rows: c.documents,
        most: Infinity,
        kept: where.kept,
    });
    return h(
        'section',
        { class: 'documents' },
        head(where, place, 'that fit least', list.csv),
        list.element,
    );
}

function links(d, where) {
    const one = (x) =>
        h(
            'a',
            { href: route.to(['c', where.collection, 'cluster', x.cluster]) },
            shown(x.label),
            ` (${count(x.documents)})`,
        );
    const some = (title, list) =>
        list &&
        h(
            'p',
            {},
            title,
            list.flatMap((x, i) => [i ? ', ' : ' ', one(x)]),
        );
    return [
        some('Its documents before are now in', d.split),
        some('Its documents were before in', d.merged),
    ];
}

function since(d, where) {
    if (!d) return null;
    const flows = [
        ['stayed', d.stayed],
        ['came from other clusters', d.came],
        ['new documents', d.added],
        ['left to other clusters', d.left],
        ['deleted', d.removed],
    ].filter(([, n]) => n);
    return h(
        'section',
        {},
        h('div', { class: 'section-head' }, h('h2', {}, 'Since the build before')),
        d.change === 'new'
            ? h(
                  'p',
                  {},
                  'This cluster is new.',
                  d.candidate
                      ? ` Before the build it was a group of ${several(d.candidate, 'new document')}.`
                      : '',
              )
            : h(
                  'p',
                  {},
                  `${count(d.size_before)} → ${count(d.size)} documents`,
                  d.label_before ? [', called ', shown(d.label_before), ' before'] : '',
              ),
        h(
            'ul',
            { class: 'flows' },
            flows.map(([what, n]) => h('li', {}, h('b', {}, count(n)), ' ' + what)),
        ),
        links(d, where),
    );
}

/* The cluster to which most of those would go that fit another nearly as well. */
function nearest(c, where) {
    if (!c.nearest) return null;
    return h(
        'section',
        {},
        h('div', { class: 'section-head' }, h('h2', {}, 'Nearest cluster')),
        h(
            'p',
            {},
            h(
                'a',
                { href: route.to(['c', where.collection, 'cluster', c.nearest]) },
                shown(c.nearest_label),
            ),
            h(
                'span',
                { class: 'quiet' },
                ` · ${percent(c.weak)} of the documents here would fit there nearly as well`,
            ),
        ),
    );
}

function trendSection(t, row) {
    return [
        h(
            'div',
            { class: 'section-head' },
            h('h2', {}, `Documents by ${t.unit}`),
            h(
                'span',
                { class: 'trend-word ' + row.trend, title: trendReason(row) },
                h('span', { 'aria-hidden': 'true' }, ARROWS[row.trend] + ' '),
                row.trend,
            ),
        ),
        chart(row.periods, row.periods.length - row.recent_periods),
        h('p', { class: 'quiet trend-reason' }, `${trendReason(row)} (The strong bars.)`),
    ];
}

export async function cluster(where, { signal }) {
    const place = await readPlace(where, signal);
    buildOf(place);
    const [c, actions] = await Promise.all([
        json(
            at`v1/collections/${where.collection}/clusters/${where.id}` +
                query({ ...place.where, docs: BEST, terms: 20, figures: true }),
            { signal },
        ),
        actionsFor(place, 1),
    ]);
    const name = `${where.collection}-${plain(c.label)}`,
        best = c.documents[0]?.score || 1;
    const order = where.values.order ?? '';
    const list = await (where.values.within && place.build.served ? found : order === 'least' ? weakest : documents)(
        where,
        place,
        name,
        signal,
        order !== 'all',
        best,
    );
    const trend = h('section', { class: 'over-time' }, h('div', { class: 'chart' })),
        changes = h('div', {});
    readTrends(place, [c]).then(
        (t) => {
            const row = t?.rows.get(c.cluster);
            if (!row || signal.aborted) return trend.remove();
            trend.replaceChildren(...trendSection(t, row));
        },
        () => trend.remove(),
    );
    readChanges(place, signal).then(
        (m) => m && changes.replaceChildren(...[since(m.get(c.cluster), where)].filter(Boolean)),
        () => {},
    );
    const title = h('h1', {}, shown(c.label));
    return {
        title: `${plain(c.label)} · ${where.collection}`,
        collection: where.collection,
        place,
        crumb: c.label,
        element: [
            h(
                'div',
                { class: 'head' },
                title,
                h(
                    'p',
                    { class: 'facts' },
                    several(c.size, 'document'),
                    c.share === undefined ? '' : ` · ${percent(c.share)}`,
                    ` · cluster ${c.cluster}`,
                    c.clarity ? [' · ', clarity(c)] : '',
                    marks({ ...c, status: undefined }),
                ),
                titleOf(c, 'p'),
                stateOf(c),
                h(
                    'div',
                    { class: 'tools' },
                    choices(place),
                    actions
                        .filter((a) => a.key)
                        .map((a) =>
                            h(
                                'button',
                                {
                                    type: 'button',
                                    title: `${a.name} (${a.key})`,
                                    onclick: () => a.run({ place, clusters: [c], element: title }),
                                },
                                a.name,
                            ),
                        ),
                    clusterMenu(place, c, () => title, actions),
                ),
            ),
            h(
                'div',
                { class: 'columns' },
                h('div', { class: 'widest' }, quotes(c, where), trend, list),
                h('aside', {}, terms(c, name), nearest(c, where), changes),
            ),
        ],
    };
}
