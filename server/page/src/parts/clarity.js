// How clear a cluster is: the server's word, and on hover or focus what it comes from.
import { h } from '../dom.js';
import { count, percent } from '../format.js';
import { shown } from '../text.js';

const MEANINGS = {
    clear: 'Its words stand together, and the next cluster is far.',
    fair: 'One subject in the main; some of it could be elsewhere.',
    mixed: 'Probably several subjects, or none: more clusters may part them.',
};
const ORDER = ['mixed', 'fair', 'clear'];

/** For sorting: mixed, fair, clear. */
export const clarityRank = (c) => ORDER.indexOf(c.clarity);

const known = (v) => v !== undefined && v !== null;

/* The mean of its heaviest words, of each two: whether they stand in the same documents. */
const together = (v) =>
    v >= 0.3 ? 'often' : v >= 0.1 ? 'more than by chance' : v >= -0.05 ? 'about as by chance' : 'rarely';

function lines(c) {
    return [
        known(c.label_recall) && [
            `Its name finds ${percent(c.label_recall)} of its documents`,
            known(c.label_precision) && `; of what it finds ${percent(c.label_precision)} is here`,
            '.',
        ],
        c.nearest && [
            `${percent(c.weak)} fit the next cluster nearly as well, most often `,
            shown(c.nearest_label),
            '.',
        ],
        known(c.npmi) && `Its heaviest words stand in the same documents ${together(c.npmi)}.`,
    ].filter(Boolean);
}

/** The word with its explanation; nothing for builds that have none. */
export function clarity(c) {
    if (!c.clarity) return '';
    return h(
        'span',
        { class: `clarity ${c.clarity}`, tabindex: '0' },
        c.clarity,
        h(
            'span',
            { class: 'dots', 'aria-hidden': 'true' },
            ORDER.map((_, i) => h('i', { class: i <= clarityRank(c) ? 'on' : '' })),
        ),
        h(
            'span',
            { class: 'tip', role: 'tooltip' },
            h('span', {}, MEANINGS[c.clarity]),
            lines(c).map((line) => h('span', {}, line)),
        ),
    );
}

/** "12 clear, 3 mixed" of all clusters; empty where they have no words. */
export const clarities = (rows) =>
    ['clear', 'fair', 'mixed']
        .map((word) => [rows.filter((c) => c.clarity === word).length, word])
        .filter(([n]) => n)
        .map(([n, word]) => `${count(n)} ${word}`)
        .join(', ');
