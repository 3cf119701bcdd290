// The curve of k=auto: what each number of clusters is worth, as points of which one is chosen. To the
// keyboard and to screen readers they are radio buttons; numbers lie by their logarithm.
import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import { h, svg } from '../dom.js';
import { count } from '../format.js';

const WIDTH = 720,
    HEIGHT = 240,
    LEFT = 56,
    RIGHT = 16,
    TOP = 12,
    BOTTOM = 32,
    LEAST_BETWEEN = 36; /* pixels between the names of two numbers */

const KEYS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };

const clustersOf = (k) => `${count(k)} ${k === 1 ? 'cluster' : 'clusters'}`;

/** What a step is, in words. */
export const wordsOf = (step, served) =>
    [
        step.chosen && 'what k=auto chooses',
        step.plateau && !step.chosen && 'nearly as good as the best',
        step.k === served && 'served now',
    ].filter(Boolean);

/* Numbers whose names have room, those that are chosen or served first. */
function named(steps, x, served) {
    const taken = [];
    const first = (s) => (s.chosen ? 2 : 0) + (s.k === served ? 1 : 0);
    for (const s of [...steps].sort((a, b) => first(b) - first(a)))
        if (taken.every((t) => Math.abs(x(t) - x(s)) >= LEAST_BETWEEN)) taken.push(s);
    return taken;
}

/**
 * {element, show(k)}: show marks the step of k, if k is one; choose(k) is called where another is
 * chosen on the picture.
 *
 * @param steps  [{k, worth, separation, plateau, chosen}], rising, two or more
 */
export function curve({ steps, served, choose }) {
    const worths = steps.map((s) => s.worth),
        ends = [steps[0].k, steps.at(-1).k].map(Math.log),
        x = scaleLinear(ends, [LEFT + 16, WIDTH - RIGHT]),
        y = scaleLinear([Math.min(...worths), Math.max(...worths)], [HEIGHT - BOTTOM, TOP]).nice(4),
        at = (s) => x(Math.log(s.k)),
        good = steps.filter((s) => s.plateau),
        half = (WIDTH - LEFT - RIGHT) / steps.length / 2;
    const points = steps.map((s, i) =>
        svg(
            'g',
            {
                class: [
                    'step',
                    s.plateau && 'plateau',
                    s.chosen && 'chosen',
                    s.k === served && 'served',
                ]
                    .filter(Boolean)
                    .join(' '),
                role: 'radio',
                'aria-checked': 'false',
                'aria-label': [
                    clustersOf(s.k),
                    `worth ${s.worth.toFixed(3)}`,
                    ...wordsOf(s, served),
                ].join(', '),
                tabindex: -1,
                onclick: () => take(i),
            },
            svg(
                'title',
                {},
                [clustersOf(s.k), s.worth.toFixed(3), ...wordsOf(s, served)].join(' · '),
            ),
            svg('rect', {
                class: 'catcher',
                x: at(s) - half,
                y: TOP,
                width: 2 * half,
                height: HEIGHT - TOP,
            }),
            svg('circle', { cx: at(s), cy: y(s.worth), r: s.chosen || s.k === served ? 5.5 : 4 }),
        ),
    );
    const show = (k) => {
        const now = steps.findIndex((s) => s.k === k),
            reachable = now < 0 ? steps.findIndex((s) => s.chosen) : now;
        points.forEach((p, i) => {
            p.setAttribute('aria-checked', String(i === now));
            p.setAttribute('tabindex', i === Math.max(0, reachable) ? 0 : -1);
        });
    };
    const take = (i) => {
        show(steps[i].k);
        points[i].focus();
        choose(steps[i].k);
    };
    const press = (e) => {
        const i = points.indexOf(document.activeElement);
        if (i < 0 || e.ctrlKey || e.metaKey || e.altKey) return;
        const to =
            e.key === 'Home'
                ? 0
                : e.key === 'End'
                  ? steps.length - 1
                  : e.key === ' '
                    ? i
                    : KEYS[e.key]
                      ? i + KEYS[e.key]
                      : -1;
        if (!(e.key in KEYS) && to < 0) return;
        e.preventDefault();
        e.stopPropagation(); /* arrows walk tables elsewhere */
        if (to >= 0 && to < steps.length) take(to);
    };
    const element = h(
        'figure',
        { class: 'chart curve' },
        svg(
            'svg',
            {
                viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
                role: 'radiogroup',
                'aria-label': 'What each number of clusters is worth',
                onkeydown: press,
            },
            y
                .ticks(4)
                .map((t) => [
                    svg('line', { class: 'grid', x1: LEFT, x2: WIDTH - RIGHT, y1: y(t), y2: y(t) }),
                    svg(
                        'text',
                        { x: LEFT - 8, y: y(t) + 5, 'text-anchor': 'end', 'aria-hidden': 'true' },
                        t.toFixed(2),
                    ),
                ]),
            good.length > 0 &&
                svg('rect', {
                    class: 'plateau',
                    x: at(good[0]) - 8,
                    width: at(good.at(-1)) - at(good[0]) + 16,
                    y: TOP,
                    height: HEIGHT - BOTTOM - TOP,
                }),
            svg('path', {
                class: 'over',
                d: line()
                    .x(at)
                    .y((s) => y(s.worth))(steps),
            }),
            named(steps, at, served).map((s) =>
                svg(
                    'text',
                    {
                        class: s.chosen ? 'chosen' : '',
                        x: at(s),
                        y: HEIGHT - 8,
                        'text-anchor': 'middle',
                        'aria-hidden': 'true',
                    },
                    count(s.k),
                ),
            ),
            points,
        ),
    );
    show(undefined);
    return { element, show };
}
