// Clusters as a treemap: area is size; colour is one measure, from falling to rising.
import { hierarchy, treemap as layout, treemapSquarify } from 'd3-hierarchy';
import { scaleLinear } from 'd3-scale';
import { h } from '../dom.js';
import { count, percent } from '../format.js';
import { plain, shown } from '../text.js';

const MOST = 300;

/* Up to 60 % of the colour is mixed in: text on it keeps a contrast of more than 4.5. */
const strength = scaleLinear([0, 1], [0, 60]).clamp(true);

function tile(node, address, measure) {
    const { cluster, label, size, share, terms, sentence } = node.data;
    const w = node.x1 - node.x0,
        t = node.y1 - node.y0;
    const words = (terms ?? [])
        .map((x) => x.term)
        .filter((x) => x !== label)
        .slice(0, 6)
        .join(', ');
    const level = measure ? measure(node.data) : 0;
    const inside = [];
    if (w > 32 && t > 22) inside.push(h('b', {}, shown(label)));
    if (w > 48 && t > 44)
        inside.push(
            h(
                'span',
                { class: 'tile-size' },
                w > 96 ? `${count(size)} · ${percent(share)}` : count(size),
            ),
        );
    if (w > 100 && t > 72)
        inside.push(
            h(
                'span',
                {
                    class: 'tile-terms',
                    style: { '-webkit-line-clamp': String(Math.floor((t - 52) / 18)) },
                },
                shown(words),
            ),
        );
    return h(
        address ? 'a' : 'div',
        {
            class: 'tile',
            href: address,
            role: address ? null : 'img',
            title: plain(`${label}: ${count(size)} documents, ${percent(share)}\n${words}` + (sentence ? `\n${sentence}` : '')),
            'aria-label':
                inside.length && address
                    ? null
                    : plain(`${label}, ${count(size)} documents, ${percent(share)}`),
            'data-cluster': cluster,
            'data-size': w > 240 && t > 150 ? 'large' : w < 80 ? 'small' : null,
            style: {
                left: node.x0 + 'px',
                top: node.y0 + 'px',
                width: w + 'px',
                height: t + 'px',
                '--level': strength(Math.abs(level)) + '%',
                '--hue': level < 0 ? 'var(--falling)' : 'var(--rising)',
            },
        },
        inside,
    );
}

function others(clusters) {
    const rest = clusters.slice(MOST);
    if (!rest.length) return clusters;
    const sum = (name) => rest.reduce((s, c) => s + c[name], 0);
    return [
        ...clusters.slice(0, MOST),
        {
            label: `${rest.length} smaller clusters`,
            size: sum('size'),
            share: sum('share'),
            rest: true,
        },
    ];
}

/** clusters by falling size; addressOf(cluster); measure(cluster) -> -1..1. */
export function treemap({ clusters, addressOf, measure, tall }) {
    const frame = h('div', {
        class: tall ? 'treemap tall' : 'treemap',
        role: 'group',
        'aria-label': 'Clusters by size',
    });
    const data = others(clusters);
    let current = measure;
    function draw() {
        const width = frame.clientWidth,
            height = frame.clientHeight;
        if (!width || !height) return;
        const focused = document.activeElement?.dataset?.cluster;
        const root = hierarchy({ children: data }).sum((d) => d.size ?? 0);
        layout().size([width, height]).paddingInner(2).round(true).tile(treemapSquarify.ratio(1.4))(
            root,
        );
        frame.replaceChildren(
            ...root
                .leaves()
                .filter((n) => n.x1 > n.x0 && n.y1 > n.y0)
                .map((n) =>
                    tile(n, n.data.rest ? null : addressOf(n.data), n.data.rest ? null : current),
                ),
        );
        if (focused) frame.querySelector(`[data-cluster="${focused}"]`)?.focus();
    }
    new ResizeObserver(draw).observe(frame);
    return {
        element: frame,
        colour: (m) => {
            current = m;
            draw();
        },
    };
}

/** The tile next to one, in the direction of an arrow key. */
export function neighbour(from, key) {
    const a = from.getBoundingClientRect();
    const ax = a.left + a.width / 2,
        ay = a.top + a.height / 2;
    let best = null,
        least = Infinity;
    for (const other of from.parentElement.querySelectorAll('a.tile')) {
        if (other === from) continue;
        const b = other.getBoundingClientRect();
        const ahead = {
            ArrowRight: b.left - a.right,
            ArrowLeft: a.left - b.right,
            ArrowDown: b.top - a.bottom,
            ArrowUp: a.top - b.bottom,
        }[key];
        if (ahead < -1) continue;
        const across =
            key === 'ArrowRight' || key === 'ArrowLeft'
                ? Math.max(0, b.top - ay, ay - b.bottom)
                : Math.max(0, b.left - ax, ax - b.right);
        const distance = ahead + 3 * across;
        if (distance < least) [best, least] = [other, distance];
    }
    return best;
}
