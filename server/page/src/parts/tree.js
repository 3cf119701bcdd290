// The hierarchy over the clusters: groups that open and close, and the clusters in them.
import { h } from '../dom.js';
import { count, several } from '../format.js';
import { shown } from '../text.js';
import { bar } from './bar.js';

/* A tree of more clusters begins with its groups closed. */
const MOST_OPEN = 60;

/** nodes: rows of the tree, the root first; rows: the clusters; kept keeps which groups are open. */
export function tree(nodes, rows, addressOf, kept = {}) {
    const open = (kept.open ??= new Map()),
        openFirst = rows.length <= MOST_OPEN;
    const known = new Map(nodes.map((n) => [n.node, n])),
        clusters = new Map(rows.map((c) => [c.cluster, c])),
        largest = Math.max(1, ...nodes.slice(1).map((n) => n.size));
    const measure = (n) =>
        h('span', { class: 'measured' }, h('span', {}, count(n.size)), bar(n.size / largest, n.cluster ? '' : 'second'));
    function branch(id) {
        const n = known.get(id);
        if (!n) return null;
        if (n.cluster)
            return h(
                'li',
                { class: 'leaf' },
                h('a', { class: 'row-link', href: addressOf(n) }, shown(n.label)),
                h('span', { class: 'sentence' }, shown(clusters.get(n.cluster)?.sentence ?? '', 160)),
                measure(n),
            );
        return h(
            'li',
            {},
            h(
                'details',
                {
                    open: open.get(n.label) ?? openFirst,
                    ontoggle: (e) => open.set(n.label, e.currentTarget.open),
                },
                h(
                    'summary',
                    {},
                    h('span', { class: 'group-name' }, shown(n.label)),
                    h('span', { class: 'quiet' }, several(n.clusters, 'cluster')),
                    measure(n),
                ),
                h('ul', {}, n.children.map(branch)),
            ),
        );
    }
    const root = nodes[0];
    if (!root) return h('p', { class: 'empty quiet' }, 'There is no cluster.');
    return h(
        'ul',
        { class: 'tree', 'aria-label': 'Clusters in groups' },
        (root.cluster ? [root.node] : root.children).map(branch),
    );
}
