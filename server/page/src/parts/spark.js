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

/** The same as bars with an axis, of any width. */
export function chart(periods, recentFrom) {
    const width = 560,
        height = 152,
        left = 48,
        bottom = 28;
    const x = scaleBand(
        periods.map((p) => p.period),
        [left, width],
    ).paddingInner(0.2);
    const y = scaleLinear(
        [0, Math.max(1, ...periods.map((p) => p.documents))],
        [height - bottom, 8],
    ).nice(3);
    const ticks = y.ticks(3).filter(Number.isInteger);
    const every = Math.ceil(periods.length / 5);
    return h(
        'figure',
        { class: 'chart' },
        svg(
            'svg',
            {
                viewBox: `0 0 ${width} ${height}`,
                role: 'img',
                'aria-label': `Documents by period, from ${period(periods[0].period)} to ${period(periods.at(-1).period)}`,
            },
            ticks.map((t) => [
                svg('line', { class: 'grid', x1: left, x2: width, y1: y(t), y2: y(t) }),
                svg('text', { x: left - 8, y: y(t) + 4, 'text-anchor': 'end' }, count(t)),
            ]),
            periods.map((p, i) =>
                svg(
                    'rect',
                    {
                        class: i >= recentFrom ? 'recent' : '',
                        x: x(p.period),
                        width: Math.max(1, x.bandwidth()),
                        y: y(p.documents),
                        height: Math.max(0, height - bottom - y(p.documents)),
                    },
                    svg('title', {}, `${period(p.period)}: ${count(p.documents)}`),
                ),
            ),
            periods.map(
                (p, i) =>
                    i % every === 0 &&
                    i + every / 2 < periods.length &&
                    svg('text', { x: x(p.period), y: height - 6 }, period(p.period)),
            ),
        ),
    );
}
