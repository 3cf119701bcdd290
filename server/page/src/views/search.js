// Documents that a query finds, in one collection or in all; of one cluster, field or time alone.
import { at, has, json, query, rows as readRows, searchParameter } from '../api.js';
import { announce, h } from '../dom.js';
import { count, documentTime, several } from '../format.js';
import { bar } from '../parts/bar.js';
import { topicDialog } from '../parts/edits.js';
import { table } from '../parts/table.js';
import * as route from '../route.js';
import { marked, patternOf, plain, shown } from '../text.js';
import { inWords } from '../words.js';

/* At once in one collection; in all, of each, and together. Scores of different collections say nothing of each other. */
const PAGE = 100,
    MOST_OF_EACH = 20,
    MOST_OF_ALL = 500,
    MOST_VALUES = 50;

function columnsOf(where, found) {
    const of = (r) => r.collection ?? where.collection;
    const best = Math.max(...found.map((r) => r.score), 1e-9);
    const pattern = patternOf(found.map((r) => r.found));
    const columns = [
        {
            title: 'Document',
            key: 'id',
            class: 'text',
            value: (r) => r.id,
            csv: [
                ['id', (r) => r.id],
                ['snippet', (r) => r.snippet],
            ],
            cell: (r) => [
                h(
                    'a',
                    { class: 'row-link document', href: route.to(['c', of(r), 'doc', r.id]) },
                    r.snippet ? marked(r.snippet, pattern) : shown(r.text ?? r.id, 400),
                ),
                h(
                    'span',
                    { class: 'quiet id' },
                    shown(r.id),
                    r.time !== undefined ? [' · ', shown(documentTime(r.time))] : '',
                ),
            ],
        },
        {
            title: 'Match',
            key: 'score',
            class: 'wide match',
            down: true,
            value: (r) => r.score,
            cell: (r) =>
                h(
                    'span',
                    { class: 'measured', title: `score ${r.score.toFixed(2)}` },
                    bar(r.score / best),
                    h('span', { class: 'heard' }, `${Math.round((100 * r.score) / best)} %`),
                ),
        },
        {
            title: 'Cluster',
            key: 'label',
            class: 'wide next',
            value: (r) => r.label ?? '',
            cell: (r) =>
                r.cluster
                    ? h('a', { href: route.to(['c', of(r), 'cluster', r.cluster]) }, shown(r.label))
                    : shown(r.label ?? ''),
        },
    ];
    if (!where.collection)
        columns.splice(1, 0, {
            title: 'Collection',
            key: 'collection',
            value: (r) => r.collection,
            cell: (r) => h('a', { href: route.to(['c', r.collection]) }, shown(r.collection)),
        });
    return columns;
}

/* Documents that were chosen of those found, and the topic that can be made of them. */
function choosing(where) {
    const ids = new Set(),
        element = h('span', {});
    const place = {
        namespace: where.values.namespace ?? '',
        collection: where.collection,
        where: { config: where.values.config === 'default' ? '' : where.values.config },
    };
    const draw = () =>
        element.replaceChildren(
            ...(ids.size
                ? [
                      h(
                          'button',
                          { type: 'button', class: 'primary', onclick: () => topicDialog(place, [...ids].map((id) => ({ id }))) },
                          `Topic of the ${ids.size === 1 ? 'one' : count(ids.size)} chosen…`,
                      ),
                  ]
                : []),
        );
    return { element, picking: { chosen: ids, keyOf: (r) => r.id, nameOf: (r) => r.id, changed: draw } };
}

const FILTERS = ['cluster', 'where', 'since', 'until'];
const isFiltered = (values) => FILTERS.some((name) => values[name]);

function told(where, found, whole) {
    const n = found.length;
    const of = new Map(found.map((r) => [r.collection, r.total ?? 0]));
    const total = [...of.values()].reduce((a, b) => a + b, 0);
    if (where.collection && isFiltered(where.values))
        return whole
            ? [several(n, 'document'), where.values.cluster ? ' of this cluster,' : ' of those chosen,']
            : `the best ${count(n)} of ${where.values.cluster ? 'this cluster' : 'those chosen'},`;
    return n < total
        ? `the best ${count(n)} of ${several(total, 'document')}`
        : several(n, 'document');
}

const choose = (values) => {
    location.hash = route.withValues(values);
};

/* Those that have been found in, and the one that was chosen. */
async function clusterChoice(where, found, signal) {
    const now = where.values.cluster ?? '';
    const all = now
        ? await json(
              at`v1/collections/${where.collection}/clusters` +
                  query({ config: where.values.config }),
              { signal },
          )
        : [...new Map(found.filter((r) => r.cluster).map((r) => [r.cluster, r])).values()].sort(
              (a, b) => a.label.localeCompare(b.label),
          );
    if (all.length < 2) return null;
    return h(
        'label',
        { class: 'choice' },
        h('span', {}, 'Cluster'),
        h(
            'select',
            { onchange: (e) => choose({ cluster: e.target.value }) },
            h('option', { value: '', selected: !now }, 'all'),
            all.map((c) =>
                h(
                    'option',
                    { value: c.cluster, selected: String(c.cluster) === now },
                    plain(c.label),
                ),
            ),
        ),
    );
}

/* "type=praise": one condition; the fields are those of what has been found. */
function fieldChoice(where, found) {
    const now = /^([^=<>!]+)(!=|<=|>=|=|<|>)(.*)$/s.exec(where.values.where ?? '') ?? [];
    const fields = new Map();
    for (const r of found)
        for (const [name, value] of Object.entries(r.fields ?? {}))
            if (typeof value !== 'object' && value !== '') {
                if (!fields.has(name)) fields.set(name, new Set());
                if (fields.get(name).size < MOST_VALUES) fields.get(name).add(String(value));
            }
    if (now[1] && !fields.has(now[1])) fields.set(now[1], new Set([now[3]]));
    if (!fields.size) return null;
    const names = [...fields.keys()].sort();
    const list = h('datalist', { id: 'field-values' });
    const value = h('input', {
        'aria-label': 'Value of the field',
        placeholder: 'value',
        list: 'field-values',
        class: 'field-value',
        value: now[3] ?? '',
        onchange: () => apply(),
    });
    const field = h(
        'select',
        {
            'aria-label': 'Field' /* its label's text has its options, too */,
            onchange: () => {
                values();
                value.value = '';
                if (!field.value) apply();
                else value.focus();
            },
        },
        h('option', { value: '' }, 'any'),
        names.map((n) => h('option', { value: n, selected: n === now[1] }, plain(n))),
    );
    const sign = h(
        'select',
        { 'aria-label': 'Comparison', onchange: () => value.value && apply() },
        ['=', '!=', '<', '<=', '>', '>='].map((s) => h('option', { value: s, selected: s === now[2] }, s)),
    );
    const values = () => {
        list.replaceChildren(
            ...[...(fields.get(field.value) ?? [])].sort().map((v) => h('option', { value: v })),
        );
        sign.hidden = value.hidden = !field.value;
    };
    const apply = () =>
        choose({ where: field.value && value.value !== '' ? field.value + sign.value + value.value : '' });
    values();
    return h('span', { class: 'choice' }, h('label', { class: 'choice' }, h('span', {}, 'Field'), field), sign, value, list);
}

function timeChoice(where, found) {
    if (!found.some((r) => r.time !== undefined) && !where.values.since && !where.values.until)
        return null;
    const one = (name, title) =>
        h(
            'label',
            { class: 'choice' },
            h('span', {}, title),
            h('input', {
                type: 'date',
                value: where.values[name] ?? '',
                onchange: (e) => choose({ [name]: e.target.value }),
            }),
        );
    return [one('since', 'From'), one('until', 'before')];
}

export async function search(where, { signal }) {
    const name = await searchParameter(),
        q = where.values.q ?? '';
    const read = async (limit) => {
        const found = [];
        for await (const row of readRows(
            at`v1/collections/${where.collection ?? '*'}/search` +
                query({
                    [name]: q,
                    limit: where.collection ? limit + 1 : MOST_OF_EACH,
                    config: where.values.config,
                    ...(where.collection
                        ? Object.fromEntries(FILTERS.map((f) => [f, where.values[f]]))
                        : {}),
                }),
            { signal },
        )) {
            found.push(row);
            if (found.length === (where.collection ? limit + 1 : MOST_OF_ALL)) break;
        }
        /* One more than is shown tells whether there are any. */
        const whole = !where.collection || found.length <= limit;
        return { found: whole ? found : found.slice(0, limit), whole };
    };
    /* As many as were shown of the same search; another begins anew. */
    const asked = JSON.stringify(where.values);
    let limit = where.kept.asked === asked ? where.kept.limit : PAGE;
    let { found, whole } = q && name ? await read(limit) : { found: [], whole: true };
    const chosen = where.collection && (await has('/v1/collections/{collection}/topics')) ? choosing(where) : null;
    const make = () =>
        table({
            name: 'search',
            label: 'Documents found',
            columns: columnsOf(where, found),
            picking: chosen?.picking,
            rows: found,
            most: Infinity,
            kept: where.kept,
        });
    let list = make();
    const said = h('span', {}, q && name ? told(where, found, whole) : '');
    const csv = h('span', {}, list.csv),
        frame = h('div', {}, list.element);
    const more = h(
        'button',
        {
            type: 'button',
            class: 'more',
            hidden: whole,
            onclick: async () => {
                more.disabled = true;
                try {
                    const before = found.length;
                    ({ found, whole } = await read(limit + PAGE));
                    where.kept.limit = limit += PAGE;
                    where.kept.asked = asked;
                    list = make();
                    frame.replaceChildren(list.element);
                    csv.replaceChildren(list.csv);
                    said.replaceChildren(...[told(where, found, whole)].flat());
                    more.hidden = whole;
                    frame.querySelectorAll('.row-link')[before]?.focus({ preventScroll: true });
                    announce(said.textContent);
                } catch (e) {
                    if (e.name !== 'AbortError')
                        more.before(h('p', { class: 'problem', role: 'alert' }, inWords(e.message)));
                } finally {
                    more.disabled = false;
                }
            },
        },
        `Show ${PAGE} more`,
    );
    const filtered = isFiltered(where.values);
    const filters =
        where.collection && (found.length || filtered)
            ? [
                  await clusterChoice(where, found, signal),
                  fieldChoice(where, found),
                  timeChoice(where, found),
                  filtered
                      ? h(
                            'a',
                            {
                                class: 'button',
                                href: route.withValues(Object.fromEntries(FILTERS.map((f) => [f, '']))),
                            },
                            'All of them',
                        )
                      : null,
              ]
            : null;
    const title = ['Search', where.collection ? [' in ', shown(where.collection)] : ''];
    return {
        title: 'Search',
        collection: where.collection,
        crumb: 'Search',
        element: [
            h(
                'div',
                { class: 'head' },
                h('h1', {}, title),
                h(
                    'p',
                    { class: 'facts' },
                    !name
                        ? 'This server has no search.'
                        : q
                          ? [said, ' for ', h('q', {}, shown(q))]
                          : '',
                ),
                h('div', { class: 'tools' }, chosen?.element, found.length ? csv : null),
            ),
            filters ? h('div', { class: 'tools filters' }, filters) : null,
            found.length
                ? [frame, more]
                : q && name
                  ? h(
                        'div',
                        { class: 'empty' },
                        h('p', {}, filtered ? 'Nothing was found of those chosen.' : 'Nothing was found.'),
                        h(
                            'p',
                            { class: 'quiet' },
                            'Words are matched by their stems; "a phrase" and begin* work, too.',
                        ),
                    )
                  : null,
        ],
    };
}
