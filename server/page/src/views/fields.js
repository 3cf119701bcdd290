// Clusters by the values of a field: a crosstab, and what is more or less than elsewhere by the test that
// clusters --by-field has; with time a table of one value, period by period.
import { at, json, query } from '../api.js';
import { h } from '../dom.js';
import { count, percent, period, several } from '../format.js';
import { buildOf, readPlace } from '../model.js';
import { choices } from '../parts/place.js';
import { table } from '../parts/table.js';
import { tabs } from '../parts/tabs.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';

/* Clusters, and documents of each, in which fields are looked for. */
const LOOKED_AT = 3,
    OF_EACH = 40;

const TIMES = [
    ['', 'all of it together'],
    ['auto', 'as it suits'],
    ['day', 'by day'],
    ['week', 'by week'],
    ['month', 'by month'],
    ['quarter', 'by quarter'],
    ['year', 'by year'],
];
const PERIODS = 12,
    VALUES = [8, 16, 32];

const FIGURES = [
    ['mean', 'Mean'],
    ['lower', 'Lower quartile'],
    ['median', 'Median'],
    ['upper', 'Upper quartile'],
    ['least', 'Least'],
    ['most', 'Greatest'],
];

const go = (values) => {
    location.hash = route.withValues(values);
};

/* Names of fields, those first whose values recur: of these a crosstab says something. */
async function fieldsOf(place, signal) {
    const base = at`v1/collections/${place.collection}/clusters`;
    const clusters = await json(base + query(place.where), { signal });
    const read = await Promise.all(
        clusters
            .slice(0, LOOKED_AT)
            .map((c) =>
                json(`${base.replace(/(\?.*)?$/, `/${c.cluster}$1`)}` + query({ ...place.where, docs: OF_EACH, terms: 1 }), {
                    signal,
                }),
            ),
    );
    const known = new Map();
    for (const d of read.flatMap((c) => c.documents))
        for (const [name, value] of Object.entries(d.fields ?? {})) {
            if (!known.has(name)) known.set(name, []);
            known.get(name).push(JSON.stringify(value));
        }
    const variety = (values) => {
        const distinct = new Set(values).size;
        return distinct === 1 ? 1 : distinct / values.length;
    };
    return [...known].sort((a, b) => variety(a[1]) - variety(b[1])).map(([name]) => name);
}

const choice = (title, options, now, chosen) =>
    h(
        'label',
        { class: 'choice' },
        h('span', {}, title),
        h(
            'select',
            { 'aria-label': title, onchange: (e) => chosen(e.target.value) },
            options.map(([value, text]) =>
                h('option', { value, selected: String(value) === String(now) }, plain(text)),
            ),
        ),
    );

/* z of 10 is as strong as colours go: as on the map. */
function heat(z, clear) {
    if (z === undefined || Math.abs(z) < clear) return null;
    return {
        class: z > 0 ? 'heat more-here' : 'heat less-here',
        strength: Math.min(1, Math.abs(z) / 10),
        word: z > 0 ? 'more than elsewhere' : 'less than elsewhere',
        arrow: z > 0 ? '↑' : '↓',
    };
}

const cellOf = (text, title, z, clear) => {
    const hot = heat(z, clear);
    return h(
        'span',
        {
            class: hot?.class ?? 'heat',
            style: hot ? { '--strength': hot.strength } : {},
            title: title + (z === undefined ? '' : `; ${hot?.word ?? 'as elsewhere'}, z ${z.toFixed(1)}`),
        },
        text,
        h('span', { class: 'heat-arrow', 'aria-hidden': 'true' }, hot?.arrow ?? ''),
        hot ? h('span', { class: 'heard' }, `, ${hot.word}`) : '',
    );
};

/* A value's documents in a row; undefined where the row has none of that value, or is not there. */
function shareCell(row, value, all) {
    const n = row?.counts?.[value];
    if (!row || row.counts === undefined) return '';
    const share = row.shares?.[value] ?? 0;
    return cellOf(
        percent(share),
        `${count(n ?? 0)} of ${count(row.size - (row.missing ?? 0))}; ${percent(all?.shares?.[value] ?? 0)} of all`,
        row.z_of?.[value],
        row.clear,
    );
}

const figure = (x) =>
    x === null || x === undefined ? '' : Number.isInteger(x) ? count(x) : x.toLocaleString('en-US', { maximumFractionDigits: 2 });

const numberCell = (row, name) =>
    cellOf(
        figure(row?.numbers?.[name]),
        `of ${several(row.size - (row.missing ?? 0), 'document')}`,
        name === 'median' ? row.numbers?.z : undefined,
        row.clear,
    );

const labelColumn = (where) => ({
    title: 'Cluster',
    key: 'label',
    class: 'main',
    value: (r) => r.label,
    cell: (r) =>
        r.cluster
            ? h('a', { class: 'row-link', href: route.to(['c', where.collection, 'cluster', r.cluster]) }, shown(r.label))
            : shown(r.label),
    csv: [
        ['cluster', (r) => r.cluster],
        ['label', (r) => r.label],
    ],
});

const sizeColumn = {
    title: 'Documents',
    key: 'size',
    numeric: true,
    value: (r) => r.size,
    cell: (r) => count(r.size),
};

function together(where, all) {
    if (all.numbers)
        return [
            labelColumn(where),
            sizeColumn,
            ...FIGURES.map(([name, title]) => ({
                title,
                key: name,
                numeric: true,
                value: (r) => r.numbers?.[name],
                cell: (r) => numberCell(r, name),
            })),
        ];
    return [
        labelColumn(where),
        sizeColumn,
        ...Object.keys(all.counts).map((value) => ({
            title: value || '(empty)',
            numeric: true,
            down: true,
            value: (r) => r.shares?.[value] ?? 0,
            cell: (r) => shareCell(r, value, all),
            csv: [
                [value, (r) => r.counts?.[value]],
                [`${value} share`, (r) => r.shares?.[value]],
                [`${value} z`, (r) => r.z_of?.[value]],
            ],
        })),
        ...(all.other
            ? [
                  {
                      title: 'others',
                      key: 'other',
                      numeric: true,
                      value: (r) => r.other,
                      cell: (r) => count(r.other),
                  },
              ]
            : []),
    ];
}

/* A row for each cluster, with the rows of its periods by their names. */
function turned(rows) {
    const all = new Map();
    for (const r of rows) {
        const key = r.total ? 'all' : (r.cluster ?? r.label);
        if (!all.has(key))
            all.set(key, { cluster: r.cluster, label: r.label, total: r.total, size: 0, of: new Map() });
        const row = all.get(key);
        row.size += r.size;
        row.of.set(r.period, r);
    }
    return [...all.values()];
}

function overTime(where, rows, value) {
    const total = rows.find((r) => r.total);
    return [
        labelColumn(where),
        sizeColumn,
        ...[...total.of.keys()].map((p) => {
            const one = (r) => r.of.get(p);
            const numbers = total.of.get(p).numbers;
            return {
                title: period(p),
                numeric: true,
                down: true,
                value: (r) => (numbers ? one(r)?.numbers?.median : one(r)?.shares?.[value]) ?? 0,
                cell: (r) =>
                    !one(r) ? '' : numbers ? numberCell(one(r), 'median') : shareCell(one(r), value, one(total)),
                csv: numbers
                    ? [
                          [p, (r) => one(r)?.numbers?.median],
                          [`${p} z`, (r) => one(r)?.numbers?.z],
                      ]
                    : [
                          [p, (r) => one(r)?.counts?.[value]],
                          [`${p} share`, (r) => one(r)?.shares?.[value]],
                          [`${p} z`, (r) => one(r)?.z_of?.[value]],
                      ],
            };
        }),
    ];
}

function said(field, rows, all, time) {
    if (all.numbers)
        return [
            h('q', {}, shown(field)),
            ` has numbers: ${time ? 'their median in each period' : 'their mean and quartiles'}`,
            all.missing ? `, without ${several(all.missing, 'document')} that ${all.missing === 1 ? 'has' : 'have'} none` : '',
        ];
    return [
        h('q', {}, shown(field)),
        ` has ${several(all.distinct ?? 0, 'value')}`,
        all.missing ? `; ${several(all.missing, 'document')} ${all.missing === 1 ? 'has' : 'have'} none` : '',
    ];
}

const legend = h(
    'p',
    { class: 'legend' },
    h('span', { class: 'heat more-here', style: { '--strength': 0.6 } }, 'more ↑'),
    ' or ',
    h('span', { class: 'heat less-here', style: { '--strength': 0.6 } }, 'less ↓'),
    ' than elsewhere: so clear that in 95 of 100 such tables none would be by chance. Stronger is clearer. Shares are of the cluster’s documents that have the field.',
);

export async function fields(where, { signal }) {
    const place = await readPlace(where, signal);
    const base = {
        title: `${where.collection}: by field`,
        collection: where.collection,
        crumb: 'By field',
        place,
    };
    buildOf(place);
    const names = place.build ? await fieldsOf(place, signal) : [];
    const field = where.values.field || names[0],
        time = where.values.time ?? '',
        most = where.values.values; /* said of a field of numbers it counts their values, too */
    const head = (facts, tools) =>
        h(
            'div',
            { class: 'head' },
            h('h1', {}, 'By field'),
            h('p', { class: 'facts' }, facts),
            h('div', { class: 'tools' }, choices(place), tools),
        );
    if (!field)
        return {
            ...base,
            element: [
                head('', null),
                place.build ? h('div', { class: 'tools above' }, tabs('fields', where.collection)) : null,
                h(
                    'div',
                    { class: 'empty' },
                    h('p', {}, place.build ? 'The documents have no field but their text.' : 'These documents have not been clustered yet.'),
                    h('p', { class: 'quiet' }, place.build ? 'Columns of a table that is imported become fields.' : ''),
                ),
            ],
        };
    if (field && !names.includes(field)) names.push(field);
    const answer = await json(
        at`v1/collections/${where.collection}/clusters` +
            query({ ...place.where, 'by-field': field, values: most, by: time, periods: time ? PERIODS : '' }),
        { signal },
    );
    const all = answer.find((r) => r.total) ?? { counts: {}, size: 0 };
    /* Over time it is one value whose share is told. */
    const values = [...new Set(answer.filter((r) => r.total).flatMap((r) => Object.keys(r.counts ?? {})))];
    const value = values.includes(where.values.value) ? where.values.value : values[0];
    const rows = time ? turned(answer) : answer;
    const list = table({
        name: `${where.collection}-by-${plain(field)}${time && value !== undefined ? `-${plain(value)}` : ''}`,
        label: `Clusters by ${plain(field)}`,
        kind: 'crosstab',
        columns: time ? overTime(where, rows, value) : together(where, all),
        rows: rows.filter((r) => !r.total),
        pinned: rows.filter((r) => r.total),
        kept: where.kept,
        order: where.values.sort,
        ordered: (sort) => route.note({ sort }),
    });
    return {
        ...base,
        element: [
            head(said(field, rows, all, time), null),
            h(
                'div',
                { class: 'tools above' },
                tabs('fields', where.collection),
                choice('Field', names.map((n) => [n, n]), field, (v) => go({ field: v, value: '', sort: '' })),
                choice('Time', TIMES, time, (v) => go({ time: v, sort: '' })),
                time && values.length
                    ? choice('Value', values.map((v) => [v, v || '(empty)']), value, (v) => go({ value: v }))
                    : null,
                !time && (all.numbers || all.other || most)
                    ? choice(
                          'Values',
                          [['', all.numbers || most ? 'as it suits' : String(VALUES[0])], ...VALUES.slice(all.numbers || most ? 0 : 1).map((n) => [n, String(n)])],
                          most ?? '',
                          (v) => go({ values: v, sort: '' }),
                      )
                    : null,
                h('span', { class: 'tools aside' }, list.csv),
            ),
            list.element,
            legend.cloneNode(true),
        ],
    };
}
