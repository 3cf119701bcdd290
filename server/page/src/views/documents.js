// All documents of a build on a map: those that are alike lie near each other. What a line is drawn around
// becomes a list, from which documents are moved and clusters merged or hidden.
import { at, json, query } from '../api.js';
import { announce, h } from '../dom.js';
import { count, percent, several } from '../format.js';
import { buildOf, readPlace } from '../model.js';
import { actionsFor, clusterMenu } from '../parts/actions.js';
import { marks, moveDialog, topicDialog } from '../parts/edits.js';
import { choices, collectionMenu } from '../parts/place.js';
import { NONE, readPoints } from '../parts/points.js';
import { NOWHERE, scatter } from '../parts/scatter.js';
import { selectionBar } from '../parts/selection.js';
import { table } from '../parts/table.js';
import { tabs } from '../parts/tabs.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';
import { inWords } from '../words.js';

const MOST = 200_000 /* documents that are read without being asked for */,
    COLOURS = 6 /* of values of a field; the others are grey */,
    MOVED = 100 /* documents that one move takes */,
    EXAMPLES = 1000 /* of a topic */,
    ROWS = 50;

const addressOf = (place, kind, id) => route.to(['c', place.collection, kind, id]);

/* ---- clusters on the map ---------------------------------------------------------------------- */

const CELLS = 12 /* of a side, in which the places of a cluster are counted */,
    APART = 0.1; /* of a cluster's documents at each rim that are left out of that */

function spanOf(values) {
    const sorted = Float32Array.from(values).sort(),
        rim = Math.floor(APART * sorted.length);
    return [sorted[rim], sorted[sorted.length - 1 - rim]];
}

/* Where most of the documents of a cluster are near each other: its median may lie between two places. */
function middleOf(xs, ys) {
    const [west, east] = spanOf(xs),
        [north, south] = spanOf(ys);
    const cell = (v, from, to) => Math.floor(((v - from) / (to - from || 1)) * CELLS * 0.9999),
        counts = new Float64Array((CELLS + 2) ** 2),
        cells = xs.map((x, i) => {
            const c = cell(x, west, east),
                r = cell(ys[i], north, south);
            return c < 0 || r < 0 || c >= CELLS || r >= CELLS ? -1 : (r + 1) * (CELLS + 2) + c + 1;
        });
    for (const c of cells)
        if (c >= 0) for (const d of [-CELLS - 3, -CELLS - 2, -CELLS - 1, -1, 0, 1, CELLS + 1, CELLS + 2, CELLS + 3]) counts[c + d]++;
    let best = -1;
    for (const c of cells) if (c >= 0 && (best < 0 || counts[c] > counts[best])) best = c;
    let n = 0,
        x = 0,
        y = 0;
    cells.forEach((c, i) => {
        if (c < 0 || Math.abs((c % (CELLS + 2)) - (best % (CELLS + 2))) > 1 || Math.abs(c - best) > CELLS + 3) return;
        n++;
        x += xs[i];
        y += ys[i];
    });
    return { x: x / n, y: y / n };
}

/*
 * Of each cluster its middle and a colour: hues go around the map, so that neighbours are of one family, and
 * every other one is lighter, so that they are told apart.
 */
function groupsOf(data, clusters) {
    const known = new Map(clusters.map((c, i) => [c.cluster, i])),
        group = new Uint16Array(data.n).fill(NOWHERE),
        xs = clusters.map(() => []),
        ys = clusters.map(() => []);
    for (let i = 0; i < data.n; i++) {
        const g = known.get(data.cluster[i]);
        if (g === undefined) continue;
        group[i] = g;
        xs[g].push(data.x[i]);
        ys[g].push(data.y[i]);
    }
    const named = clusters.map((c, i) => ({
        label: c.label,
        size: xs[i].length,
        ...(xs[i].length ? middleOf(xs[i], ys[i]) : {}),
    }));
    const around = named.filter((c) => c.size).sort((a, b) => Math.atan2(a.y, a.x) - Math.atan2(b.y, b.x));
    around.forEach((c, i) => {
        const hue = ((360 * i) / around.length).toFixed(1),
            lighter = i % 2;
        c.colour = `light-dark(oklch(${lighter ? 0.7 : 0.56} 0.15 ${hue}), oklch(${lighter ? 0.82 : 0.68} 0.13 ${hue}))`;
    });
    return { group, named: named.map((c) => (c.size ? c : null)) };
}

/* ---- colours ---------------------------------------------------------------------------------- */

const byCluster = ({ group, named }) => ({
    codes: group,
    palette: named.map((c) => c?.colour ?? 'var(--quiet)'),
    legend: ['Colour is the cluster; clusters that are neighbours on the map have colours that are alike.'],
});

function byField(data, { group }, name) {
    const { codes, values } = data.fields.get(name),
        rank = new Uint8Array(256).fill(COLOURS);
    values.forEach(([, { code }], i) => (rank[code] = Math.min(i, COLOURS)));
    const of = new Uint16Array(data.n);
    let none = 0;
    for (let i = 0; i < data.n; i++) {
        of[i] = group[i] === NOWHERE ? NOWHERE : rank[codes[i]];
        if (codes[i] === NONE) none++;
    }
    const first = values.slice(0, COLOURS),
        others = values.slice(COLOURS).reduce((n, [, v]) => n + v.n, 0);
    const item = (i, words, n) =>
        h('li', {}, h('i', { class: `swatch series-${i + 1}`, 'aria-hidden': 'true' }), words, ' ', h('span', { class: 'quiet' }, count(n)));
    return {
        codes: of,
        palette: Array.from({ length: COLOURS + 1 }, (_, i) => `var(--series-${i + 1})`),
        legend: h(
            'ul',
            { class: 'legend languages', 'aria-label': `Colours of ${plain(name)}` },
            first.map(([value, { n }], i) => item(i, shown(String(value), 40), n)),
            others ? item(COLOURS, 'other values', others) : null,
            none ? item(COLOURS, 'without one', none) : null,
        ),
    };
}

/* ---- the list --------------------------------------------------------------------------------- */

/* Documents of a part of the map: the clusters that it touches, and each of them. */
function listOf(where, place, data, clusters, actions, points, title, clear) {
    const byId = new Map(clusters.map((c) => [c.cluster, c])),
        here = new Map();
    for (const i of points) here.set(data.cluster[i], (here.get(data.cluster[i]) ?? 0) + 1);
    const touched = [...here].map(([id, n]) => ({ ...byId.get(id), here: n })).sort((a, b) => b.here - a.here);
    const chosen = new Set();
    const nameElement = (c) =>
        [...groups.element.querySelectorAll('tbody tr')].find((tr) => groups.rowOf(tr)?.cluster === c.cluster)?.querySelector('.name');
    const bottom = selectionBar(
        place,
        touched,
        chosen,
        () => {
            chosen.clear();
            groups.update();
            bottom.draw();
        },
        nameElement,
    );
    const groups = table({
        name: `${where.collection}-clusters-there`,
        label: 'Clusters there',
        kind: 'there',
        rows: touched,
        most: 20,
        kept: {},
        picking: { chosen, keyOf: (c) => c.cluster, nameOf: (c) => c.label, changed: bottom.draw },
        columns: [
            {
                title: 'Cluster',
                key: 'label',
                class: 'main',
                value: (c) => c.label,
                cell: (c) => [
                    h('span', { class: 'name' }, h('a', { class: 'row-link', href: addressOf(place, 'cluster', c.cluster) }, shown(c.label))),
                    marks(c),
                ],
            },
            {
                title: 'Here',
                key: 'here',
                numeric: true,
                value: (c) => c.here,
                cell: (c) => h('span', { title: `${percent(c.here / c.size)} of it` }, `${count(c.here)} of ${count(c.size)}`),
            },
            {
                title: '',
                class: 'acts',
                cell: (c) => {
                    const b = clusterMenu(place, c, () => b.closest('tr').querySelector('.name'), actions);
                    return b;
                },
            },
        ],
    });
    const editable = place.editable && place.build.served;
    const move = (some) =>
        moveDialog(
            place,
            some.map((i) => ({ id: data.ids[i] })),
            new Set(some.map((i) => data.cluster[i])).size === 1 ? data.cluster[some[0]] : null,
            clusters,
        );
    const list = table({
        name: `${where.collection}-documents-there`,
        label: 'Documents there',
        kind: 'documents-there',
        rows: points,
        most: ROWS,
        kept: {},
        columns: [
            {
                title: 'Document',
                class: 'text',
                key: 'text',
                csv: [
                    ['id', (i) => data.ids[i]],
                    ['text', (i) => data.texts[i]],
                ],
                cell: (i) => h('a', { class: 'row-link document', href: addressOf(place, 'doc', data.ids[i]) }, shown(data.texts[i], 160)),
            },
            {
                title: 'Cluster',
                key: 'cluster',
                class: 'wide',
                value: (i) => byId.get(data.cluster[i]).label,
                csv: [
                    ['cluster', (i) => data.cluster[i]],
                    ['label', (i) => byId.get(data.cluster[i]).label],
                ],
                cell: (i) => shown(byId.get(data.cluster[i]).label),
            },
            ...(editable
                ? [
                      {
                          title: '',
                          class: 'acts-words',
                          cell: (i) =>
                              h(
                                  'button',
                                  { type: 'button', class: 'small', 'aria-label': `Move ${plain(data.ids[i])}`, onclick: () => move([i]) },
                                  'Move…',
                              ),
                      },
                  ]
                : []),
        ],
    });
    return h(
        'section',
        { class: 'there', 'aria-label': title },
        h(
            'div',
            { class: 'section-head' },
            h('h2', { tabindex: '-1' }, `${title}: ${several(points.length, 'document')} in ${several(touched.length, 'cluster')}`),
            h(
                'span',
                { class: 'tools' },
                editable && points.length > 1 && points.length <= MOVED
                    ? h('button', { type: 'button', class: 'small', onclick: () => move(points) }, `Move all ${count(points.length)}…`)
                    : null,
                editable && place.topics && points.length && points.length <= EXAMPLES
                    ? h(
                          'button',
                          { type: 'button', class: 'small', onclick: () => topicDialog(place, points.map((i) => ({ id: data.ids[i] }))) },
                          `Topic of ${points.length === 1 ? 'it' : `these ${count(points.length)}`}…`,
                      )
                    : null,
                list.csv,
                h('button', { type: 'button', class: 'small', onclick: clear }, 'Close the list'),
            ),
        ),
        points.length
            ? h('div', { class: 'columns' }, h('div', {}, list.element), h('aside', {}, h('div', {}, groups.element)))
            : h('p', { class: 'quiet' }, 'No document is there.'),
        bottom.element,
    );
}

/* ---- the map ---------------------------------------------------------------------------------- */

const numberIn = (text) => (text !== undefined && text !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined);

function viewIn({ x, y, zoom }) {
    const view = { x: numberIn(x), y: numberIn(y), zoom: numberIn(zoom) };
    return Object.values(view).includes(undefined) ? null : view;
}

function mapOf(where, place, data, clusters, actions) {
    const groups = groupsOf(data, clusters),
        byId = new Map(clusters.map((c) => [c.cluster, c])),
        hidden = clusters.filter((c) => c.hidden).length,
        key = h('div', {}),
        there = h('div', {});
    for (let i = 0; i < data.n; i++) if (byId.get(data.cluster[i])?.hidden) groups.group[i] = NOWHERE;
    const list = (points, title, go = true) => {
        where.kept.listed = { data, points, title };
        map.choose(new Set(points));
        const section = listOf(where, place, data, clusters, actions, points, title, () => {
            where.kept.listed = null;
            map.choose(null);
            there.replaceChildren();
            map.element.focus();
        });
        there.replaceChildren(section);
        const heading = section.querySelector('h2');
        announce(heading.textContent);
        if (!go) return;
        heading.focus({ preventScroll: true });
        heading.scrollIntoView({ block: 'nearest' });
    };
    const listView = () => list(map.inView(), 'In view');
    const lasso = h(
        'button',
        {
            type: 'button',
            'aria-pressed': 'false',
            title: 'Or hold Shift',
            onclick: () => map.drawing(lasso.getAttribute('aria-pressed') !== 'true'),
        },
        'Draw around documents',
    );
    const map = scatter({
        label: 'Map of documents. Arrows move, plus and minus zoom, 0 shows all, L lists what is in view.',
        points: { ...data, group: groups.group },
        view: viewIn(where.values),
        moved: ({ x, y, zoom }) => route.note(zoom ? { x: x.toFixed(4), y: y.toFixed(4), zoom: zoom.toFixed(2) } : { x: '', y: '', zoom: '' }),
        tip: (i, touched) => [
            h('b', {}, shown(byId.get(data.cluster[i]).label)),
            h('span', {}, shown(data.texts[i], 200)),
            touched ? h('a', { href: addressOf(place, 'doc', data.ids[i]) }, 'Open the document') : '',
        ],
        open: (i) => (location.hash = addressOf(place, 'doc', data.ids[i])),
        picked: (points) => list(points, 'Drawn around'),
        listed: listView,
        drawingChanged: (on) => lasso.setAttribute('aria-pressed', String(on)),
    });
    map.name(groups.named.map((c, i) => (clusters[i].hidden ? null : c)));
    const colour = (name) => {
        const how = data.fields.has(name) ? byField(data, groups, name) : byCluster(groups);
        map.paint(how.codes, how.palette);
        const notes = [
            data.without ? `${several(data.without, 'document')} without words that count: not on the map.` : '',
            hidden ? `${several(hidden, 'cluster')} hidden.` : '',
        ].filter(Boolean);
        key.replaceChildren(
            ...(Array.isArray(how.legend) ? [h('p', { class: 'legend' }, how.legend)] : [how.legend]),
            notes.length ? h('p', { class: 'legend' }, notes.join(' ')) : '',
        );
    };
    colour(where.values.colour);
    if (where.kept.listed?.data === data) list(where.kept.listed.points, where.kept.listed.title, false);
    const zoom = (name, text, run) => h('button', { type: 'button', 'aria-label': name, title: name, onclick: run }, text);
    return {
        tools: [
            data.fields.size
                ? h(
                      'label',
                      { class: 'choice' },
                      h('span', {}, 'Colour'),
                      h(
                          'select',
                          {
                              onchange: (e) => {
                                  route.note({ colour: e.target.value });
                                  colour(e.target.value);
                              },
                          },
                          h('option', { value: '' }, 'cluster'),
                          [...data.fields.keys()].map((name) => h('option', { value: name, selected: name === where.values.colour }, plain(name))),
                      ),
                  )
                : null,
            lasso,
            h('button', { type: 'button', onclick: listView }, 'List what is in view'),
        ],
        element: [
            h(
                'div',
                { class: 'mapped-documents' },
                map.element,
                h(
                    'div',
                    { class: 'map-zoom' },
                    zoom('Nearer', '+', () => map.zoomBy(1)),
                    zoom('Farther', '−', () => map.zoomBy(-1)),
                    zoom('All of it', '⤢', map.whole),
                ),
            ),
            key,
            there,
        ],
    };
}

/* Until the map is there: how far it is, and the way to stop it. */
function reading(where, place, signal, ready) {
    const words = h('p', { role: 'status' }),
        progress = h('progress', { max: 1, 'aria-label': 'Read' }),
        tools = h('p', {}),
        element = h('div', { class: 'empty reading' }, words, progress, tools);
    const total = place.build.documents || 1;
    const offer = (said, verb) => {
        progress.hidden = true;
        words.replaceChildren(said);
        tools.replaceChildren(h('button', { type: 'button', class: 'primary', onclick: start }, verb));
    };
    async function start() {
        const mine = new AbortController();
        signal.addEventListener('abort', () => mine.abort());
        progress.hidden = false;
        tools.replaceChildren(h('button', { type: 'button', onclick: () => mine.abort() }, 'Cancel'));
        const told = (n) => {
            words.replaceChildren(n ? `Reading documents: ${count(n)} of ${count(total)}` : `Working out the map of ${several(total, 'document')} …`);
            if (n) progress.value = n / total;
            else progress.removeAttribute('value');
        };
        try {
            const [data, clusters, actions] = await Promise.all([
                readPoints(place, { namespace: where.values.namespace, signal: mine.signal, told }),
                json(at`v1/collections/${place.collection}/clusters` + query({ ...place.where, hidden: true }), { signal: mine.signal }),
                actionsFor(place, 1),
            ]);
            if (!signal.aborted)
                ready(
                    data,
                    clusters.filter((c) => !c.candidate), /* their documents are on no map yet */
                    actions,
                );
        } catch (e) {
            if (signal.aborted) return;
            mine.abort();
            if (e.name === 'AbortError') offer('The map was cancelled.', 'Work it out');
            else offer(shown(inWords(e.message)), 'Try again');
        }
    }
    if (total > MOST) offer(`A map of ${several(total, 'document')} takes a while, and memory.`, 'Work it out');
    else start();
    return element;
}

export async function documents(where, { signal }) {
    const place = await readPlace(where, signal);
    buildOf(place);
    const tools = h('div', { class: 'tools above' }, place.build ? tabs('documents', where.collection) : null),
        body = h('div', {});
    if (place.build)
        body.append(
            reading(where, place, signal, (data, clusters, actions) => {
                if (!data.n) return body.replaceChildren(h('p', { class: 'empty' }, 'No document has a place on the map.'));
                const made = mapOf(where, place, data, clusters, actions);
                tools.append(...made.tools.filter(Boolean));
                body.replaceChildren(...made.element);
            }),
        );
    else body.append(h('div', { class: 'empty' }, h('p', {}, 'These documents have not been clustered yet.')));
    return {
        title: `${where.collection}: map of documents`,
        collection: where.collection,
        crumb: 'Documents',
        place,
        element: [
            h(
                'div',
                { class: 'head' },
                h('h1', {}, 'Map of documents'),
                h('p', { class: 'facts' }, place.build ? 'Near each other is alike; far apart says nothing about how different' : ''),
                h('div', { class: 'tools' }, choices(place), collectionMenu(place)),
            ),
            tools,
            body,
        ],
    };
}
