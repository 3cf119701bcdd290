// Changes by hand in the clusters of a collection, the latest first: whether it holds, and back.
import { at, below, json, query } from '../api.js';
import { h } from '../dom.js';
import { moment, several } from '../format.js';
import { readPlace } from '../model.js';
import { topicWords, undo } from '../parts/edits.js';
import { choices } from '../parts/place.js';
import { table } from '../parts/table.js';
import { failure, toast } from '../parts/toast.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';

function said(e, named) {
    const c = named(e.cluster);
    const others = (e.others ?? []).map((id, i) => [i ? ', ' : '', named(id)]);
    switch (e.kind) {
        case 'merge':
            return [others, ' merged into ', c];
        case 'split':
            return [c, ' split; new: ', others];
        case 'rename':
            return e.label ? [`cluster ${e.cluster} is called `, h('q', {}, shown(e.label))] : [c, ' has its own name again'];
        case 'move':
            return ['the document ', shown(e.document), ' into ', c];
        case 'keep':
            return ['the document ', shown(e.document), ' stays in ', c];
        case 'topic add':
            return ['topic ', h('q', {}, shown(e.topic)), ' added: ', topicWords(e)];
        case 'topic delete':
            return ['topic ', h('q', {}, shown(e.topic)), ' deleted'];
        case 'set':
            return [c, ': ', shown([e.status, e.owner, e.link, e.note].filter(Boolean).join(', ') || 'nothing noted any more')];
        default:
            return [{ hide: 'hidden: ', show: 'shown again: ', lock: 'locked: ', unlock: 'unlocked: ' }[e.kind] ?? `${e.kind}: `, c];
    }
}

export async function edits(where, { signal }) {
    const place = await readPlace(where, signal);
    const config = place.where.config,
        base = at`v1/collections/${where.collection}/`;
    const [rows, clusters] = await Promise.all([
        json(below(base, 'edits') + query({ config }), { signal }),
        place.build
            ? json(below(base, 'clusters') + query({ ...place.where, hidden: true }), { signal })
            : [],
    ]);
    const known = new Map(clusters.map((c) => [c.cluster, c.label]));
    const named = (id) =>
        known.has(id)
            ? h('a', { href: route.to(['c', where.collection, 'cluster', id]) }, shown(known.get(id)))
            : h('span', { title: 'It has ended since, or waits for a rebuild' }, `the cluster of id ${id}`);
    async function back(e) {
        try {
            toast((await undo(place, e.edit)) ? 'The next rebuild takes it back' : 'Taken back');
        } catch (problem) {
            failure(problem);
        }
    }
    const list = table({
        name: `${where.collection}-edits`,
        label: 'Changes by hand',
        columns: [
            {
                title: 'When',
                key: 'time',
                class: 'when',
                down: true,
                value: (e) => e.time,
                csv: ['edit', 'time', 'kind', 'cluster', 'document', 'label', 'topic', 'by', 'reason', 'holds', 'lost'].map(
                    (name) => [name, (e) => e[name]],
                ),
                cell: (e) => moment(e.time),
            },
            {
                title: 'Change',
                class: 'text',
                cell: (e) => [
                    h('span', {}, said(e, named)),
                    e.reason ? h('span', { class: 'block' }, shown(e.reason)) : '',
                ],
            },
            { title: 'By', class: 'wide', value: (e) => e.by ?? '', csv: [], cell: (e) => shown(e.by ?? '') },
            {
                title: 'Holds',
                value: (e) => (e.holds ? 1 : 0),
                csv: [],
                cell: (e) => (e.holds ? 'yes' : h('span', { class: 'state changed-since' }, shown(e.lost))),
            },
            {
                title: '',
                class: 'acts-words',
                cell: (e) =>
                    h(
                        'button',
                        { type: 'button', class: 'small', onclick: () => back(e), 'aria-label': `Undo edit ${e.edit}: ${plain(e.kind)}` },
                        'Undo',
                    ),
            },
        ],
        rows: [...rows].reverse(),
        kept: where.kept,
    });
    return {
        title: `${where.collection}: changes by hand`,
        collection: where.collection,
        crumb: 'Changes by hand',
        place,
        element: [
            h(
                'div',
                { class: 'head' },
                h('h1', {}, 'Changes by hand'),
                h(
                    'p',
                    { class: 'facts' },
                    rows.length
                        ? `${several(rows.length, 'change')}; every rebuild keeps them, or says here why it could not`
                        : 'Nobody has changed a cluster.',
                ),
                h('div', { class: 'tools' }, choices({ ...place, builds: [] }), rows.length ? list.csv : null),
            ),
            rows.length ? list.element : null,
        ],
    };
}
