// One cluster: what it is about, how it goes, and its documents by score.
import { at, json, query } from '../api.js';
import { h } from '../dom.js';
import { count, percent, score, several } from '../format.js';
import { readChanges, readPlace, readTrends } from '../model.js';
import { bar } from '../parts/bar.js';
import { clarity } from '../parts/clarity.js';
import { button, line } from '../parts/csv.js';
import { choices } from '../parts/place.js';
import { chart } from '../parts/spark.js';
import { table } from '../parts/table.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';

/* Documents at once; and those of a page that is gone back to. */
const PAGE = 50,
    MOST_AGAIN = 1000;

const ORDERS = [
    ['', 'Best'],
    ['all', 'All'],
    ['least', 'Least fitting'],
];

/* What the documents say, in the words of one of them. */
const sentence = (c, where) =>
    c.sentence
        ? h(
              'p',
              { class: 'sentence' },
              h(
                  'a',
                  { href: route.to(['c', where.collection, 'doc', c.sentence_of]) },
                  shown(c.sentence),
              ),
          )
        : null;

function terms(c, name) {
    const most = c.terms[0]?.weight ?? 1;
    const t = table({
        name: `${name}-terms`,
        label: 'Terms',
        kind: 'terms',
        rows: c.terms,
        columns: [
            { title: 'Term', key: 'term', value: (x) => x.term, cell: (x) => shown(x.term) },
            {
                title: 'Weight',
                key: 'weight',
                class: 'share',
                value: (x) => x.weight,
                cell: (x) =>
                    h(
                        'span',
                        { class: 'measured' },
                        bar(x.weight / most),
                        h('span', {}, score(x.weight)),
                    ),
            },
        ],
    });
    return h(
        'section',
        {},
        h('div', { class: 'section-head' }, h('h2', {}, 'Terms'), t.csv),
        t.element,
    );
}

function documentColumns(where) {
    return [
        {
            title: 'Score',
            key: 'score',
            numeric: true,
            value: (d) => d.score,
            cell: (d) => score(d.score),
        },
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
                    {
                        class: 'row-link document',
                        href: route.to(['c', where.collection, 'doc', d.id]),
                    },
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
                    ? [
                          h(
                              'a',
                              { href: route.to(['c', where.collection, 'cluster', d.runner_up]) },
                              shown(d.runner_up_label),
                          ),
                          h(
                              'span',
                              { class: 'quiet margin', title: 'how much less similar that one is' },
                              ' −' + score(d.margin),
                          ),
                      ]
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

/* different: without those that are like one before them. */
async function documents(where, place, name, signal, different) {
    const first = await json(pageOf(where, place, '', where.kept.documents, different), { signal });
    const all = [...first.documents];
    let next = first.next;
    const list = table({
        name,
        label: 'Documents',
        columns: documentColumns(where),
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
        h('div', { class: 'section-head' }, h('h2', {}, 'Documents by score'), told, csv),
        list.element,
        more,
    );
}

async function weakest(where, place, name, signal) {
    const c = await json(
        at`v1/collections/${where.collection}/clusters/${where.id}` +
            query({ ...place.where, weakest: PAGE, terms: 1 }),
        { signal },
    );
    const list = table({
        name: `${name}-weakest`,
        label: 'Documents',
        columns: documentColumns(where),
        rows: c.documents,
        most: Infinity,
        kept: where.kept,
    });
    return h(
        'section',
        { class: 'documents' },
        h('div', { class: 'section-head' }, h('h2', {}, 'Documents that fit least'), list.csv),
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
            ? h('p', {}, 'This cluster is new.')
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

export async function cluster(where, { signal }) {
    const place = await readPlace(where, signal);
    const c = await json(
        at`v1/collections/${where.collection}/clusters/${where.id}` +
            query({ ...place.where, docs: 1, terms: 20, figures: true }),
        { signal },
    );
    const name = `${where.collection}-${plain(c.label)}`;
    const order = where.values.order ?? '';
    const list = await (order === 'least' ? weakest : documents)(
        where,
        place,
        name,
        signal,
        order !== 'all',
    );
    const trend = h('section', {}),
        changes = h('div', {});
    trend.append(h('div', { class: 'chart' }));
    readTrends(place).then(
        (t) => {
            const row = t?.rows.get(c.cluster);
            if (!row || signal.aborted) return trend.remove();
            trend.replaceChildren(
                h(
                    'div',
                    { class: 'section-head' },
                    h('h2', {}, `Documents by ${t.unit}`),
                    h(
                        'span',
                        { class: 'trend-word ' + row.trend },
                        `${row.trend}, z ${row.z.toFixed(1).replace('-', '−')}`,
                    ),
                ),
                chart(row.periods, row.periods.length - row.recent_periods),
            );
        },
        () => trend.remove(),
    );
    readChanges(place, signal).then(
        (m) => m && changes.replaceChildren(...[since(m.get(c.cluster), where)].filter(Boolean)),
        () => {},
    );
    return {
        title: `${plain(c.label)} · ${where.collection}`,
        collection: where.collection,
        place,
        crumb: c.label,
        element: [
            h(
                'div',
                { class: 'head' },
                h('h1', {}, shown(c.label)),
                h(
                    'p',
                    { class: 'facts' },
                    several(c.size, 'document'),
                    place.build.documents ? ` · ${percent(c.size / place.build.documents)}` : '',
                    ` · cluster ${c.cluster}`,
                    c.clarity ? [' · ', clarity(c)] : '',
                ),
                h(
                    'div',
                    { class: 'tools' },
                    h(
                        'div',
                        { class: 'tabs', role: 'group', 'aria-label': 'Documents' },
                        ORDERS.map(([value, title]) =>
                            h(
                                'a',
                                {
                                    href: route.withValues({ order: value }),
                                    'aria-current': order === value ? 'true' : null,
                                },
                                title,
                            ),
                        ),
                    ),
                    choices(place),
                ),
            ),
            sentence(c, where),
            h('div', { class: 'columns' }, list, h('aside', {}, trend, terms(c, name), changes)),
        ],
    };
}
