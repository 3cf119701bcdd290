// A collection's clusters: a list by size, a treemap, or the hierarchy over them.
import { at, json, query } from '../api.js';
import { h } from '../dom.js';
import { count, percent, signed } from '../format.js';
import { buildOf, readChanges, readPlace, readTrends } from '../model.js';
import { actionsFor, clusterMenu } from '../parts/actions.js';
import { draggable, handle } from '../parts/drag.js';
import { marks, titleOf } from '../parts/edits.js';
import { bar } from '../parts/bar.js';
import { clarity, clarityRank } from '../parts/clarity.js';
import { choices, collectionMenu, facts, rebuildForm } from '../parts/place.js';
import { keepFocus } from '../parts/places.js';
import { selectionBar } from '../parts/selection.js';
import { spark } from '../parts/spark.js';
import { table } from '../parts/table.js';
import { tabs, viewOf } from '../parts/tabs.js';
import { tree } from '../parts/tree.js';
import { treemap } from '../parts/treemap.js';
import * as route from '../route.js';
import { shown } from '../text.js';
import { ARROWS, trendReason } from '../words.js';

function change(d) {
    if (!d) return '';
    if (d.change === 'new') return h('span', { class: 'tag' }, 'new');
    const by = d.size - d.size_before;
    return h(
        'span',
        { title: `${count(d.came + d.added)} came, ${count(d.left + d.removed)} left` },
        by ? signed(by) : h('span', { class: 'quiet' }, '–'),
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
                more.draggable ? handle() : '',
                h(
                    'span',
                    { class: 'name' },
                    h('a', { class: 'row-link', href: addressOf(c) }, shown(c.label)),
                ),
                marks(c),
                titleOf(c),
                c.sentence
                    ? h('span', { class: 'sentence' }, shown(c.sentence, 200))
                    : h('span', { class: 'words' }, shown(termsOf(c))),
            ],
            csv: [
                ['cluster', (c) => c.cluster],
                ['label', (c) => c.label],
            ],
        },
        {
            title: 'Documents',
            key: 'size',
            class: 'share',
            down: true,
            value: (c) => c.size,
            csv: [
                ['size', (c) => c.size],
                ['share', (c) => c.share],
            ],
            cell: (c) =>
                h(
                    'span',
                    {
                        class: 'measured',
                        title: c.candidate
                            ? 'These came since the build'
                            : `${percent(c.share)} of all documents`,
                    },
                    h('span', {}, count(c.size)),
                    bar(c.size / largest),
                ),
        },
    ];
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
            down: true,
            value: (c) => trend(c)?.z ?? 0,
            csv: [
                ['trend', (c) => trend(c)?.trend],
                ['z', (c) => trend(c)?.z],
            ],
            cell: (c) =>
                trend(c)
                    ? h(
                          'span',
                          { class: 'trend-cell', title: trendReason(trend(c)) },
                          spark(trend(c).periods, trend(c).trend),
                          h(
                              'span',
                              { class: 'trend-word ' + trend(c).trend },
                              h('span', { 'aria-hidden': 'true' }, ARROWS[trend(c).trend] + ' '),
                              h('span', { class: 'word' }, trend(c).trend),
                          ),
                      )
                    : '',
        });
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
    columns.push({
        title: 'Words',
        class: 'terms wide',
        cell: (c) => h('span', { title: termsOf(c) }, shown(termsOf(c))),
        csv: [
            ['terms', (c) => c.terms.map((t) => t.term).join(' ')],
            ...['sentence', 'title', 'status', 'owner', 'link', 'note'].map((name) => [name, (c) => c[name]]),
        ],
    });
    columns.push({
        title: '',
        class: 'acts',
        cell: (c) => {
            const b = clusterMenu(
                place,
                c,
                () => b.closest('tr').querySelector('.name'),
                more.actions,
            );
            return b;
        },
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

/* Kinds of clusters of which the list can have only those, each with a count. */
function kindsOf(rows, more) {
    const trend = (word) => (c) => more.trends?.rows.get(c.cluster)?.trend === word;
    return [
        ['rising', 'Rising', trend('rising')],
        ['falling', 'Falling', trend('falling')],
        ['new', 'New', (c) => c.candidate || more.changes?.get(c.cluster)?.change === 'new'],
        ['mixed', 'Mixed', (c) => c.clarity === 'mixed'],
        ['hidden', 'Hidden', (c) => c.hidden],
    ].map(([name, title, test]) => ({ name, title, test, n: rows.filter(test).length }));
}

function chips(rows, kinds, only) {
    const some = kinds.filter((k) => k.n || k.name === only);
    if (!some.length) return '';
    const chip = (name, title, n) =>
        h(
            'a',
            {
                class: 'kind',
                href: route.withValues({ only: name }),
                /* A filter may have been typed since. */
                onclick: (e) => (e.currentTarget.href = route.withValues({ only: name })),
                'aria-current': (only ?? '') === name ? 'true' : null,
            },
            title,
            h('span', {}, count(n)),
        );
    return h(
        'nav',
        { class: 'kinds', 'aria-label': 'Which clusters' },
        chip('', 'All', rows.filter((c) => !c.hidden).length),
        some.map((k) => chip(k.name, k.title, k.n)),
    );
}

/* Of the hierarchy the groups that have a phrase in common, or so many on each level, and the clusters below. */
const treeOf = ({ levels }, place) =>
    !levels
        ? { tree: true }
        : Number(levels.split(',').at(-1)) < place.build.k
          ? { levels: `${levels},${place.build.k}` }
          : { levels };

/* Numbers of groups that suit so many clusters: a few at a glance, and a level between. */
function levelsOf(k) {
    const few = Math.max(2, Math.min(8, Math.round(Math.sqrt(k)))),
        some = Math.round(Math.sqrt(few * k));
    return [String(few), ...(some > few && some < k ? [`${few},${some}`] : [])];
}

function levelTools(where, place) {
    const now = where.values.levels ?? '';
    const offered = levelsOf(place.build.k),
        all = ['', ...offered, ...(now && !offered.includes(now) ? [now] : [])];
    const name = (levels) => {
        if (!levels) return 'with a phrase in common';
        const parts = levels.split(',');
        return parts.length === 1 ? `${parts[0]} groups` : `${parts[0]} groups, in them ${parts.slice(1).join(', ')}`;
    };
    const field = h('input', {
        'aria-label': 'Groups on each level',
        class: 'levels',
        placeholder: 'or 5, 20',
        inputmode: 'numeric',
        pattern: ' *[0-9]+( *, *[0-9]+)* *',
        title: 'So many groups on each level, such as 5, 20',
    });
    const go = (levels) => (location.hash = route.withValues({ levels }));
    return h(
        'form',
        {
            class: 'tools',
            onsubmit: (e) => {
                e.preventDefault();
                if (field.value.trim()) go(field.value.replace(/\s/g, ''));
            },
        },
        h(
            'label',
            { class: 'choice' },
            h('span', {}, 'Groups'),
            h(
                'select',
                { 'aria-label': 'Groups', onchange: (e) => go(e.target.value) },
                all.map((levels) => h('option', { value: levels, selected: levels === now }, name(levels))),
            ),
        ),
        field,
    );
}

const none = (place, kept) =>
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
        place.info.size ? rebuildForm(place, kept) : null,
    );

/* Within which ids of clusters mean one thing: elsewhere the same number is another cluster. */
const idsOf = (where, place) => JSON.stringify([where.values.namespace ?? '', place.config]);

const refresh = () => dispatchEvent(new CustomEvent('page:refresh'));

/* The list, with what chooses among its rows. */
function listed(where, place, rows, more, signal) {
    const addressOf = (c) => route.to(['c', where.collection, 'cluster', c.cluster]);
    const largest = Math.max(1, ...rows.map((c) => c.size)),
        only = where.values.only ?? '',
        chosen = ((where.kept.chosen ??= {})[idsOf(where, place)] ??= new Set());
    const list = h('div', {}),
        csv = h('span', {}),
        which = h('div', {}),
        nothing = h('p', { class: 'empty quiet', hidden: true }, 'No cluster is like that.');
    const wanted = h('input', {
        type: 'search',
        class: 'filter',
        placeholder: 'Filter by label or term',
        'aria-label': 'Filter by label or term',
        value: where.values.filter ?? '',
    });
    const passing = () => {
        const w = wanted.value.trim().toLocaleLowerCase();
        const kind = kindsOf(rows, more).find((k) => k.name === only);
        const some = rows.filter(
            (c) =>
                (!kind || kind.test(c)) &&
                (!w ||
                    [c.label, termsOf(c), c.sentence ?? '']
                        .join(' ')
                        .toLocaleLowerCase()
                        .includes(w)),
        );
        nothing.hidden = some.length > 0;
        return some;
    };
    /* A filter, or the length of the list, may leave out a cluster that is chosen: for its name it comes back. */
    const nameElement = (c) => {
        const find = () =>
            [...list.querySelectorAll('tbody tr')]
                .find((tr) => current.rowOf(tr) === c)
                ?.querySelector('.name');
        if (!find()) {
            wanted.value = '';
            route.note({ filter: '' });
            current.show(passing().includes(c) ? passing() : rows, true);
        }
        const element = find();
        element?.scrollIntoView({ block: 'center' });
        return element;
    };
    const bottom = selectionBar(
        place,
        rows,
        chosen,
        () => {
            chosen.clear();
            current.update();
            bottom.draw();
        },
        nameElement,
    );
    let current,
        late = false;
    /* Not while somebody types a name in it: what comes meanwhile is drawn then. */
    list.addEventListener('page:named', () => late && draw());
    if (more.draggable)
        draggable(list, place, {
            clusterOf: (tr) => current.rowOf(tr),
            chosenOf: (c) => (chosen.has(c.cluster) ? rows.filter((r) => chosen.has(r.cluster)) : [c]),
            done: () => {
                chosen.clear();
                refresh();
            },
        });
    const draw = () => {
        late = !!list.querySelector('.rename');
        if (signal.aborted || late) return;
        current = table({
            name: `${where.collection}-clusters`,
            label: 'Clusters',
            kind: 'clusters',
            columns: columnsOf(place, more, addressOf, largest),
            rows: passing(),
            kept: where.kept,
            order: where.values.sort,
            ordered: (sort) => route.note({ sort }),
            picking: {
                chosen,
                keyOf: (c) => c.cluster,
                nameOf: (c) => c.label,
                changed: bottom.draw,
            },
        });
        keepFocus(list, () => list.replaceChildren(current.element));
        keepFocus(csv, () => csv.replaceChildren(current.csv));
        keepFocus(which, () => which.replaceChildren(chips(rows, kindsOf(rows, more), only)));
    };
    wanted.addEventListener('input', () => {
        route.note({ filter: wanted.value });
        current.show(passing());
    });
    return {
        draw,
        element: [
            list,
            nothing,
            bottom.element,
        ],
        tools: [which, h('span', { class: 'tools aside' }, wanted, csv)],
    };
}

export async function clusters(where, { signal }) {
    const place = await readPlace(where, signal);
    const head = [h('h1', {}, shown(where.collection)), facts(place)];
    const base = { title: where.collection, place, collection: where.collection };
    if (!buildOf(place))
        return {
            ...base,
            element: [
                h(
                    'div',
                    { class: 'head' },
                    head,
                    h('div', { class: 'tools' }, choices(place), collectionMenu(place)),
                ),
                none(place, where.kept),
            ],
        };

    const view = viewOf(where.values);
    const [rows, actions, nodes] = await Promise.all([
        json(
            at`v1/collections/${where.collection}/clusters` +
                query({
                    ...place.where,
                    figures: true,
                    hidden: where.values.only === 'hidden',
                }),
            { signal },
        ),
        actionsFor(place, 1),
        view === 'tree' &&
            json(
                at`v1/collections/${where.collection}/clusters` +
                    query({ ...place.where, ...treeOf(where.values, place) }),
                { signal },
            ).catch((e) => {
                if (e.status !== 404) throw e;
                return null; /* such as a build of before there were trees */
            }),
    ]);
    const addressOf = (c) => route.to(['c', where.collection, 'cluster', c.cluster]),
        more = {
            trends: undefined,
            changes: undefined,
            clarity: rows.some((c) => c.clarity),
            draggable: place.editable && place.build.served,
            actions,
        };
    let shownView;
    if (view === 'list') shownView = listed(where, place, rows, more, signal);
    else if (view === 'tree')
        shownView = {
            draw: () => {},
            element: nodes
                ? tree(nodes, rows, addressOf, where.kept)
                : h('p', { class: 'empty quiet' }, 'This build has no tree.'),
            tools: nodes ? levelTools(where, place) : null,
        };
    else {
        const map = treemap({ clusters: rows, addressOf, tall: true }),
            key = h('div', {});
        shownView = {
            draw: () => keepFocus(key, () => key.replaceChildren(legend(map, more))),
            element: h('div', { class: 'mapped' }, map.element, key),
        };
    }
    shownView.draw();
    const later = async (name, asked) => {
        more[name] = await asked.catch(() => null);
        if (!signal.aborted) shownView.draw();
    };
    if (view !== 'tree') {
        later('trends', readTrends(place, rows));
        later('changes', readChanges(place, signal));
    }
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
                    rebuildForm(place, where.kept),
                    collectionMenu(place),
                ),
            ),
            h('div', { class: 'tools above' }, tabs(view, where.collection), shownView.tools ?? null),
            shownView.element,
        ],
    };
}
