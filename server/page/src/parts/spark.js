// A cluster's documents over time: small in a table, larger with an axis on its own page.
import { scaleBand, scaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';
import { h, svg } from '../dom.js';
import { count, period } from '../format.js';

const WIDTH = 112,
    HEIGHT = 24;

/** Periods [{period, documents}] as a line of 112 x 24. */
export function spark(periods, trend) {
    const x = scaleLinear([0, Math.max(1, periods.length - 1)], [1, WIDTH - 3]);
    const y = scaleLinear([0, Math.max(1, ...periods.map((p) => p.documents))], [HEIGHT - 2, 3]);
    const at = (_, i) => x(i),
        value = (p) => y(p.documents);
    const last = periods.length - 1;
    return svg(
        'svg',
        {
            class: `spark ${trend}`,
            viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
            role: 'img',
            'aria-label': `${trend}, ${count(periods[last]?.documents ?? 0)} in ${period(periods[last]?.period ?? '')}`,
        },
        svg('path', {
            class: 'under',
            d: area()
                .x(at)
                .y0(HEIGHT - 2)
                .y1(value)(periods),
        }),
        svg('path', { class: 'over', d: line().x(at).y(value)(periods) }),
        last >= 0 && svg('circle', { cx: x(last), cy: y(periods[last].documents), r: 1.8 }),
    );
}

const HEIGHT_OF_BARS = 168,
    LEFT = 40,
    BOTTOM = 24,
    APART = 88; /* of two names of periods */

function bars(periods, recentFrom, width) {
    const x = scaleBand(
        periods.map((p) => p.period),
        [LEFT, width],
    ).paddingInner(0.2);
    const y = scaleLinear(
        [0, Math.max(1, ...periods.map((p) => p.documents))],
        [HEIGHT_OF_BARS - BOTTOM, 8],
    ).nice(3);
    const ticks = y.ticks(3).filter(Number.isInteger);
    const every = Math.max(1, Math.ceil(APART / x.step()));
    return svg(
        'svg',
        {
            viewBox: `0 0 ${width} ${HEIGHT_OF_BARS}`,
            role: 'img',
            'aria-label': `Documents by period, from ${period(periods[0].period)} to ${period(periods.at(-1).period)}`,
        },
        ticks.map((t) => [
            svg('line', { class: 'grid', x1: LEFT, x2: width, y1: y(t), y2: y(t) }),
            svg('text', { x: LEFT - 8, y: y(t) + 4, 'text-anchor': 'end' }, count(t)),
        ]),
        periods.map((p, i) =>
            svg(
                'rect',
                {
                    class: i >= recentFrom ? 'recent' : '',
                    x: x(p.period),
                    width: Math.max(1, x.bandwidth()),
                    y: y(p.documents),
                    height: Math.max(0, HEIGHT_OF_BARS - BOTTOM - y(p.documents)),
                },
                svg('title', {}, `${period(p.period)}: ${count(p.documents)}`),
            ),
        ),
        periods.map(
            (p, i) =>
                i % every === 0 &&
                (i === 0 || x(p.period) + APART - 16 < width) &&
                svg('text', { x: x(p.period), y: HEIGHT_OF_BARS - 6 }, period(p.period)),
        ),
    );
}

/** The same as bars with an axis, as wide as there is room. */
export function chart(periods, recentFrom) {
    const figure = h('figure', { class: 'chart bars' });
    let drawn = 0;
    new ResizeObserver(() => {
        const width = figure.clientWidth;
        if (!width || width === drawn) return;
        drawn = width;
        figure.replaceChildren(bars(periods, recentFrom, width));
    }).observe(figure);
    return figure;
}
