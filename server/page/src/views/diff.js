// What changed from one build to another.
import { at, query, rows as readRows, told } from '../api.js';
import { h } from '../dom.js';
import { count, momentAmong, several, signed } from '../format.js';
import { readPlace } from '../model.js';
import { lostEdits } from '../parts/edits.js';
import { choices } from '../parts/place.js';
import { table } from '../parts/table.js';
import * as route from '../route.js';
import { shown } from '../text.js';

const MOST_MOVED = 200;

const flow = (n, largest, kind, what) =>
    n
        ? h('i', {
              class: kind,
              title: `${count(n)} ${what}`,
              style: { width: (100 * n) / largest + '%' },
          })
        : null;

function bars(d, largest) {
    return h(
        'span',
        {
            class: 'flow',
            role: 'img',
            'aria-label': `${d.stayed} stayed, ${d.came} came, ${d.added} new, ${d.left} left, ${d.removed} deleted`,
        },
        flow(d.stayed, largest, 'stayed', 'stayed'),
        flow(d.came, largest, 'came', 'came from other clusters'),
        flow(d.added, largest, 'added', 'new documents'),
        flow(d.left + d.removed, largest, 'left', 'left or deleted'),
    );
}

function notes(d) {
    const list = (word, some) =>
        some &&
        h(
            'span',
            { class: 'block' },
            word,
            some.flatMap((x, i) => [i ? ', ' : ' ', shown(x.label), ` (${count(x.documents)})`]),
        );
    return [
        d.label_before ? h('span', { class: 'block' }, 'was called ', shown(d.label_before)) : '',
        list('split into', d.split),
        list('merged from', d.merged),
    ];
}

function columnsOf(where, largest) {
    const n = (title, key, what) => ({
        title,
        key,
        numeric: true,
        class: 'wide',
        value: what,
        cell: (d) => (what(d) ? count(what(d)) : ''),
    });
    return [
        {
            title: 'Cluster',
            key: 'label',
            class: 'main',
            value: (d) => d.label,
            csv: [
                ['cluster', (d) => d.cluster],
                ['label', (d) => d.label],
                ['label_before', (d) => d.label_before],
                ['change', (d) => d.change],
            ],
            cell: (d) => [
                d.change === 'gone'
                    ? shown(d.label)
                    : h(
                          'a',
                          {
                              class: 'row-link',
                              href: route.to(['c', where.collection, 'cluster', d.cluster], {
                                  build: where.values.to,
                              }),
                          },
                          shown(d.label),
                      ),
                d.change === 'continued' ? '' : h('span', { class: 'tag ' + d.change }, d.change),
            ],
        },
        {
            title: 'Before',
            key: 'size_before',
            numeric: true,
            value: (d) => d.size_before,
            cell: (d) => count(d.size_before),
        },
        {
            title: 'After',
            key: 'size',
            numeric: true,
            value: (d) => d.size,
            cell: (d) => count(d.size),
        },
        {
            title: 'Change',
            key: 'change_of_size',
            numeric: true,
            value: (d) => d.size - d.size_before,
            cell: (d) => signed(d.size - d.size_before),
        },
        { title: 'Documents', class: 'flows-cell wide', cell: (d) => bars(d, largest) },
        n('Stayed', 'stayed', (d) => d.stayed),
        n('Came', 'came', (d) => d.came),
        n('New', 'added', (d) => d.added),
        n('Left', 'left', (d) => d.left),
        n('Deleted', 'removed', (d) => d.removed),
        { title: 'Notes', class: 'notes wide', cell: notes },
    ];
}

async function moved(where, place, from, to, signal) {
    const all = [];
    for await (const row of readRows(
        at`v1/collections/${where.collection}/diff` +
            query({ config: place.where.config, from, to, docs: true }),
        { signal },
    )) {
        all.push(row);
        if (all.length === MOST_MOVED) break;
    }
    if (!all.length) return null;
    const cluster = (id, label) =>
        id
            ? h('a', { href: route.to(['c', where.collection, 'cluster', id]) }, shown(label))
            : shown(label);
    const t = table({
        name: `${where.collection}-moved`,
        label: 'Documents that moved',
        rows: all,
        columns: [
            {
                title: 'Document',
                key: 'id',
                class: 'main',
                value: (r) => r.id,
                cell: (r) =>
                    h(
                        'a',
                        { class: 'row-link', href: route.to(['c', where.collection, 'doc', r.id]) },
                        shown(r.id),
                    ),
            },
            {
                title: 'From',
                key: 'from_label',
                value: (r) => r.from_label,
                cell: (r) => shown(r.from_label),
            },
            {
                title: 'To',
                key: 'to_label',
                value: (r) => r.to_label,
                cell: (r) => cluster(r.to, r.to_label),
            },
        ],
    });
    return h(
        'section',
        {},
        h(
            'div',
            { class: 'section-head' },
            h('h2', {}, 'Documents that moved'),
            h(
                'span',
                { class: 'quiet' },
                all.length === MOST_MOVED
                    ? `the first ${MOST_MOVED} by id`
                    : several(all.length, 'document'),
            ),
            t.csv,
        ),
        t.element,
    );
}

function chooser(place, name, chosen, allowed) {
    return h(
        'label',
        { class: 'choice' },
        h('span', {}, name === 'from' ? 'From' : 'To'),
        h(
            'select',
            {
                onchange: (e) => {
                    location.hash = route.withValues({ [name]: e.target.value });
                },
            },
            place.builds.filter(allowed).map((b) =>
                h(
                    'option',
                    { value: b.build, selected: b.build === chosen },
                    momentAmong(
                        b.build,
                        place.builds.map((x) => x.build),
                    ) + (b.served ? ' (served)' : ''),
                ),
            ),
        ),
    );
}

export async function diff(where, { signal }) {
    const place = await readPlace(where, signal);
    const head = h('h1', {}, 'What changed');
    const base = {
        title: `What changed · ${where.collection}`,
        collection: where.collection,
        crumb: 'What changed',
    };
    const to = +where.values.to || place.build?.build;
    const from = +where.values.from || place.builds.find((b) => b.build < to)?.build;
    if (!to || !from)
        return {
            ...base,
            element: [
                h('div', { class: 'head' }, head),
                h(
                    'div',
                    { class: 'empty' },
                    h('p', {}, 'There is only one build: nothing to compare yet.'),
                ),
            ],
        };
    const { rows, messages } = await told(
        at`v1/collections/${where.collection}/diff` +
            query({ config: place.where.config, from, to }),
        { signal },
    );
    const largest = Math.max(
        1,
        ...rows.map((d) => d.stayed + d.came + d.added + d.left + d.removed),
    );
    const list = table({
        name: `${where.collection}-changes`,
        label: 'Clusters',
        kind: 'diff',
        rows,
        columns: columnsOf(where, largest),
    });
    const sum = (key) => rows.reduce((s, d) => s + d[key], 0),
        kinds = (k) => rows.filter((d) => d.change === k).length;
    const rest = h('div', {});
    moved(where, place, from, to, signal).then(
        (e) => e && rest.replaceChildren(e),
        () => {},
    );
    return {
        ...base,
        place,
        element: [
            h(
                'div',
                { class: 'head' },
                head,
                h(
                    'p',
                    { class: 'facts' },
                    `${several(kinds('continued'), 'cluster')} went on, ${count(kinds('new'))} new, ${count(kinds('gone'))} gone · `,
                    `${several(sum('added'), 'document')} added, ${count(sum('removed'))} deleted, ${count(sum('came'))} moved`,
                ),
                h(
                    'div',
                    { class: 'tools' },
                    choices(place)[0],
                    chooser(place, 'from', from, (b) => b.build < to),
                    chooser(place, 'to', to, (b) => b.build > place.builds.at(-1).build),
                ),
            ),
            lostEdits(place, messages),
            h(
                'div',
                { class: 'tools above' },
                h(
                    'p',
                    { class: 'legend' },
                    h('i', { class: 'swatch stayed' }),
                    'stayed ',
                    h('i', { class: 'swatch came' }),
                    'came ',
                    h('i', { class: 'swatch added' }),
                    'new ',
                    h('i', { class: 'swatch left' }),
                    'left or deleted',
                ),
                list.csv,
            ),
            list.element,
            rest,
        ],
    };
}
