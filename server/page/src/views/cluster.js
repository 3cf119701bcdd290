// One cluster: what it is about, how it goes, and its documents by score.
import { at, json, query } from '../api.js';
import { h } from '../dom.js';
import { count, percent, score, several } from '../format.js';
import { readChanges, readPlace, readTrends } from '../model.js';
import { bar } from '../parts/bar.js';
import { button, line } from '../parts/csv.js';
import { choices } from '../parts/place.js';
import { chart } from '../parts/spark.js';
import { table } from '../parts/table.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';

/* Documents at once; and those of a page that is gone back to. */
const PAGE = 50,
    MOST_AGAIN = 1000;

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

const pageOf = (where, place, cursor, limit = PAGE) =>
    at`v1/collections/${where.collection}/clusters/${where.id}/documents` +
    query({
        config: place.where.config,
        ...(cursor ? { cursor } : { build: place.where.build }),
        limit,
    });

async function documents(where, place, name, signal) {
    const first = await json(pageOf(where, place, '', where.kept.documents), { signal });
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
                    const page = await json(pageOf(where, place, next), { signal });
                    all.push(...page.documents);
                    where.kept.documents = Math.min(all.length, MOST_AGAIN);
                    next = page.next;
                    list.update();
                    told.textContent = shownOf();
                    more.hidden = !next;
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
            query({ ...place.where, docs: 1, terms: 20 }),
        { signal },
    );
    const name = `${where.collection}-${plain(c.label)}`;
    const least = where.values.order === 'least';
    const list = await (least ? weakest : documents)(where, place, name, signal);
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
                ),
                h(
                    'div',
                    { class: 'tools' },
                    h(
                        'div',
                        { class: 'tabs', role: 'group', 'aria-label': 'Documents' },
                        h(
                            'a',
                            {
                                href: route.withValues({ order: '' }),
                                'aria-current': least ? null : 'true',
                            },
                            'Best',
                        ),
                        h(
                            'a',
                            {
                                href: route.withValues({ order: 'least' }),
                                'aria-current': least ? 'true' : null,
                            },
                            'Least fitting',
                        ),
                    ),
                    choices(place),
                ),
            ),
            h('div', { class: 'columns' }, list, h('aside', {}, trend, terms(c, name), changes)),
        ],
    };
}
