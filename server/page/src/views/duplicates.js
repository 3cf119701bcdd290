// Documents that are nearly the same: groups, each with the document that stands for it, the earliest.
import { at, json, query } from '../api.js';
import { h } from '../dom.js';
import { count, documentTime, percent, several } from '../format.js';
import { buildOf, readPlace } from '../model.js';
import { bar } from '../parts/bar.js';
import { button, line } from '../parts/csv.js';
import { choices } from '../parts/place.js';
import * as route from '../route.js';
import { shown } from '../text.js';

const PAGE = 20,
    MEMBERS = 8,
    ALIKE = [
        ['0.95', 'the same but for a word'],
        ['0.8', 'nearly the same'],
        ['0.6', 'much alike'],
    ];

/* Letters and digits alone: what is else may be another and is the same to a reader. */
const lettersOf = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ').trim();

/* Whether two differ in words that do not count alone: they may mean quite other things. */
const sameWordsOnly = (r, first) => !r.representative && r.score > 0.9995 && lettersOf(r.snippet) !== lettersOf(first.snippet);

function rowOf(where, r, first) {
    return h(
        'li',
        { class: r.representative ? 'representative' : '' },
        h('a', { class: 'row-link document', href: route.to(['c', where.collection, 'doc', r.id]) }, shown(r.snippet)),
        h(
            'span',
            { class: 'quiet id' },
            shown(r.id),
            r.time !== undefined ? [' · ', shown(documentTime(r.time))] : '',
            r.cluster
                ? [' · ', h('a', { href: route.to(['c', where.collection, 'cluster', r.cluster]) }, shown(r.label))]
                : '',
        ),
        r.representative
            ? h('span', { class: 'tag' }, 'the earliest')
            : sameWordsOnly(r, first)
              ? h('span', { class: 'tag', title: 'They differ in words that do not count' }, 'the same words that count')
              : h('span', { class: 'measured', title: `similarity to the earliest ${r.score.toFixed(3)}` }, bar(r.score), h('span', { class: 'quiet' }, percent(r.score))),
    );
}

function groupsOf(rows) {
    const groups = new Map();
    for (const r of rows) {
        if (!groups.has(r.group)) groups.set(r.group, []);
        groups.get(r.group).push(r);
    }
    return [...groups.values()];
}

const groupElement = (where, rows) =>
    h(
        'section',
        { class: 'alike', 'aria-label': `Group ${rows[0].group}` },
        h('h2', {}, several(rows[0].size, 'document')),
        rows.some((r) => sameWordsOnly(r, rows[0]))
            ? h('p', { class: 'quiet' }, 'Some have no other words that count than the earliest: that they are alike says little.')
            : null,
        h('ol', {}, rows.map((r) => rowOf(where, r, rows[0]))),
        rows.length < rows[0].size ? h('p', { class: 'quiet' }, `and ${count(rows[0].size - rows.length)} more`) : null,
    );

export async function duplicates(where, { signal }) {
    const place = await readPlace(where, signal);
    buildOf(place);
    const min = where.values.min || '0.8';
    let limit = where.kept.limit ?? PAGE;
    const path = (some) =>
        at`v1/collections/${where.collection}/duplicates` + query({ config: place.where.config, min, ...some });
    const read = () => json(path({ limit, members: MEMBERS }), { signal });
    let rows = place.build ? await read() : [];
    const total = rows[0]?.groups ?? 0,
        list = h('div', { class: 'alike-all' });
    const csv = button(`${where.collection}-duplicates`, async function* () {
        yield line(['group', 'size', 'representative', 'id', 'score', 'cluster', 'label', 'snippet', 'time']);
        for (const r of await json(path({ limit: 0, members: 0 })))
            yield line([r.group, r.size, r.representative ? 'yes' : '', r.id, r.score, r.cluster, r.label, r.snippet, r.time]);
    });
    const more = h(
        'button',
        {
            type: 'button',
            class: 'more',
            onclick: async () => {
                more.disabled = true;
                limit = where.kept.limit = limit + PAGE;
                try {
                    rows = await read();
                    draw();
                } catch (e) {
                    if (e.name !== 'AbortError') more.before(h('p', { class: 'problem', role: 'alert' }, shown(e.message)));
                } finally {
                    more.disabled = false;
                }
            },
        },
        `Show ${PAGE} more`,
    );
    const draw = () => {
        const groups = groupsOf(rows);
        list.replaceChildren(...groups.map((g) => groupElement(where, g)));
        more.hidden = groups.length >= total;
    };
    draw();
    return {
        title: `${where.collection}: near-duplicates`,
        collection: where.collection,
        crumb: 'Near-duplicates',
        place,
        element: [
            h(
                'div',
                { class: 'head' },
                h('h1', {}, 'Near-duplicates'),
                h(
                    'p',
                    { class: 'facts' },
                    total
                        ? `${several(total, 'group')}; ${several(rows[0].copies, 'document')} could be left out`
                        : 'No two documents are so much alike.',
                ),
                h(
                    'div',
                    { class: 'tools' },
                    choices({ ...place, builds: [] }),
                    h(
                        'label',
                        { class: 'choice' },
                        h('span', {}, 'How alike'),
                        h(
                            'select',
                            {
                                'aria-label': 'How alike',
                                onchange: (e) => (location.hash = route.withValues({ min: e.target.value === '0.8' ? '' : e.target.value })),
                            },
                            [...ALIKE, ...(ALIKE.some(([v]) => v === min) ? [] : [[min, `at least ${min}`]])].map(([value, text]) =>
                                h('option', { value, selected: value === min }, text),
                            ),
                        ),
                    ),
                    total ? csv : null,
                ),
            ),
            list,
            total ? more : null,
        ],
    };
}
