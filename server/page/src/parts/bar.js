// A length that stands for a number.
import { h } from '../dom.js';

export const bar = (share, kind = '') =>
    h(
        'span',
        { class: 'bar ' + kind, 'aria-hidden': 'true' },
        h('span', { style: { width: Math.max(0, Math.min(1, share)) * 100 + '%' } }),
    );
