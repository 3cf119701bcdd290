// A collection's clusters: a treemap, and a list by size.
import { at, json, query } from '../api.js';
import { h } from '../dom.js';
import { count, percent, signed } from '../format.js';
import { readChanges, readPlace, readTrends } from '../model.js';
import { bar } from '../parts/bar.js';
import { clarities, clarity, clarityRank } from '../parts/clarity.js';
import { choices, facts, numberLink, rebuildButton } from '../parts/place.js';
import { keepFocus } from '../parts/places.js';
import { spark } from '../parts/spark.js';
import { table } from '../parts/table.js';
import { treemap } from '../parts/treemap.js';
import * as route from '../route.js';
import { shown } from '../text.js';

const VIEWS = [
    ['', 'Map and list'],
    ['map', 'Map'],
    ['list', 'List'],
];

function tabs(now) {
    return h(
        'div',
        { class: 'tabs', role: 'group', 'aria-label': 'Show' },
        VIEWS.map(([view, title]) =>
            h(
                'a',
                { href: route.withValues({ view }), 'aria-current': now === view ? 'true' : null },
                title,
            ),
        ),
    );
}

function change(d) {
    if (!d) return '';
    if (d.change === 'new') return h('span', { class: 'tag' }, 'new');
    const by = d.size - d.size_before;
    return h(
        'span',
        { title: `${count(d.came + d.added)} came, ${count(d.left + d.removed)} left` },
        signed(by),
        d.split ? h('span', { class: 'tag' }, 'split') : '',
        d.merged ? h('span', { class: 'tag' }, 'merged') : '',
    );
}

const termsOf = (c) =>
    c.terms
        .map((t) => t.term)
        .filter((t) => t !== c.label)
        .join(', ');

function columnsOf(place, more, addressOf, largest) {
    const trend = (c) => more.trends?.rows.get(c.cluster);
    const columns = [
        {
            title: 'Cluster',
            key: 'label',
            class: 'main',
            value: (c) => c.label,
            cell: (c) => [
                h('a', { class: 'row-link', href: addressOf(c) }, shown(c.label)),
                c.sentence ? h('span', { class: 'sentence' }, shown(c.sentence, 160)) : '',
            ],
            csv: [
                ['cluster', (c) => c.cluster],
                ['label', (c) => c.label],
            ],
        },
        {
            title: 'Documents',
            key: 'size',
            numeric: true,
            value: (c) => c.size,
            cell: (c) => count(c.size),
        },
        {
            title: 'Share',
            key: 'share',
            class: 'share',
            value: (c) => c.share,
            cell: (c) =>
                h(
                    'span',
                    { class: 'measured' },
                    bar(c.size / largest),
                    h('span', {}, percent(c.share)),
                ),
        },
    ];
    if (more.clarity)
        columns.push({
            title: 'Clarity',
            key: 'clarity',
            class: 'wide',
            value: clarityRank,
            cell: clarity,
            csv: ['clarity', 'weak', 'label_recall', 'label_precision', 'npmi'].map((name) => [
                name,
                (c) => c[name],
            ]),
        });
    if (more.changes)
        columns.push({
            title: 'Since last',
            key: 'change',
            numeric: true,
            class: 'wide',
            value: (c) => {
                const d = more.changes.get(c.cluster);
                return d ? d.size - d.size_before : 0;
            },
            cell: (c) => change(more.changes.get(c.cluster)),
        });
    if (more.trends !== null)
        columns.push({
            title: 'Trend',
            key: 'z',
            class: 'trend',
            value: (c) => trend(c)?.z ?? 0,
            csv: [
                ['trend', (c) => trend(c)?.trend],
                ['z', (c) => trend(c)?.z],
            ],
            cell: (c) =>
                trend(c)
                    ? h(
                          'span',
                          { class: 'trend-cell' },
                          spark(trend(c).periods, trend(c).trend),
                          h(
                              'span',
                              {
                                  class: 'trend-word ' + trend(c).trend,
                                  title: `z = ${trend(c).z.toFixed(1)}`,
                              },
                              trend(c).trend,
                          ),
                      )
                    : '',
        });
    columns.push({
        title: 'Terms',
        class: 'terms wide',
        cell: (c) => shown(termsOf(c)),
        csv: [
            ['terms', (c) => c.terms.map((t) => t.term).join(' ')],
            ['sentence', (c) => c.sentence],
        ],
    });
    return columns;
}

/* A z of 10 is as strong as colours go. */
const byTrend = (trends) => (c) => {
    const t = trends.rows.get(c.cluster);
    return !t || t.trend === 'steady' ? 0 : t.z / 10;
};

const byChange = (changes) => (c) => {
    const d = changes.get(c.cluster);
    if (!d) return 0;
    return d.change === 'new'
        ? 1
        : Math.log(Math.max(1, d.size) / Math.max(1, d.size_before)) / Math.log(1.5);
};

function legend(map, more) {
    const kinds = [
        ['trend', more.trends && byTrend(more.trends), 'share falling', 'rising'],
        [
            'change',
            more.changes && byChange(more.changes),
            'smaller than in the last build',
            'larger',
        ],
    ].filter((k) => k[1]);
    if (!kinds.length) return h('p', { class: 'legend quiet' }, 'Area is documents.');
    const words = h('span', { class: 'scale' });
    const choose = (kind) => {
        map.colour(kind[1]);
        words.replaceChildren(kind[2], h('i', { class: 'ramp', 'aria-hidden': 'true' }), kind[3]);
    };
    choose(kinds[0]);
    return h(
        'p',
        { class: 'legend' },
        h('span', {}, 'Area is documents, colour is '),
        kinds.length > 1
            ? h(
                  'select',
                  {
                      'aria-label': 'Colour',
                      onchange: (e) => choose(kinds[e.target.selectedIndex]),
                  },
                  kinds.map((k) => h('option', {}, k[0])),
              )
            : kinds[0][0],
        ': ',
        words,
    );
}

const none = (place) =>
    h(
        'div',
        { class: 'empty' },
        h(
            'p',
            {},
            place.info.size
                ? 'These documents have not been clustered yet.'
                : 'There is no document yet.',
        ),
        h('p', { class: 'quiet' }, place.info.size ? '' : 'Drop a file here.'),
        place.info.size ? rebuildButton(place) : null,
    );

export async function clusters(where, { signal }) {
    const place = await readPlace(where, signal);
    const head = [h('h1', {}, shown(where.collection)), facts(place)];
    const base = { title: where.collection, place, collection: where.collection };
    if (!place.build)
        return {
            ...base,
            element: [
                h('div', { class: 'head' }, head, h('div', { class: 'tools' }, choices(place))),
                none(place),
            ],
        };

    const rows = await json(
        at`v1/collections/${where.collection}/clusters` + query({ ...place.where, figures: true }),
        { signal },
    );
    const narrow = matchMedia('(max-width: 720px)').matches,
        view = where.values.view ?? '',
        words = clarities(rows),
        more = { trends: undefined, changes: undefined, clarity: !!words };
    const addressOf = (c) => route.to(['c', where.collection, 'cluster', c.cluster]);
    const largest = Math.max(1, ...rows.map((c) => c.size));
    const map = treemap({ clusters: rows, addressOf, tall: view === 'map' });
    const key = h('div', {}),
        list = h('div', {}),
        csv = h('span', {});
    const wanted = h('input', {
        type: 'search',
        class: 'filter',
        placeholder: 'Filter by label or term',
        'aria-label': 'Filter by label or term',
        value: where.kept.filter ?? '',
    });
    const passing = () => {
        const w = wanted.value.trim().toLocaleLowerCase();
        return rows.filter(
            (c) => !w || (c.label + ' ' + termsOf(c)).toLocaleLowerCase().includes(w),
        );
    };
    let current;
    const draw = () => {
        current = table({
            name: `${where.collection}-clusters`,
            label: 'Clusters',
            kind: 'clusters',
            columns: columnsOf(place, more, addressOf, largest),
            rows: passing(),
            kept: where.kept,
        });
        keepFocus(list, () => list.replaceChildren(current.element));
        keepFocus(csv, () => csv.replaceChildren(current.csv));
        keepFocus(key, () => key.replaceChildren(legend(map, more)));
    };
    wanted.addEventListener('input', () => {
        where.kept.filter = wanted.value;
        current.show(passing());
    });
    draw();
    const later = async (name, asked) => {
        more[name] = await asked.catch(() => null);
        if (!signal.aborted) draw();
    };
    later('trends', readTrends(place));
    later('changes', readChanges(place, signal));
    const mapped = view === 'list' ? null : h('div', { class: 'mapped' }, map.element, key),
        listed =
            view === 'map'
                ? null
                : [
                      h(
                          'div',
                          { class: 'tools above' },
                          wanted,
                          h('span', { class: 'quiet' }, words),
                          csv,
                      ),
                      list,
                  ];
    return {
        ...base,
        element: [
            h(
                'div',
                { class: 'head' },
                head,
                h(
                    'div',
                    { class: 'tools' },
                    tabs(view),
                    choices(place),
                    place.older
                        ? h(
                              'a',
                              {
                                  class: 'button',
                                  href: route.to(['c', where.collection, 'diff'], { build: '' }),
                              },
                              'What changed',
                          )
                        : null,
                    numberLink(place),
                    rebuildButton(place),
                ),
            ),
            ...(narrow ? [listed, mapped] : [mapped, listed]),
        ],
    };
}
