// The hierarchy over the clusters: groups that open and close, and the clusters in them.
import { h } from '../dom.js';
import { count, several } from '../format.js';
import { shown } from '../text.js';
import { bar } from './bar.js';

/** nodes: rows of the tree, the root first; rows: the clusters. */
export function tree(nodes, rows, addressOf) {
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
                { open: true },
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
