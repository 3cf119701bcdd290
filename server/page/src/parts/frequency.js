// Tweets by language over time: stacked bars, a legend, a range that is chosen by pulling over it, and
// the same as a table. Times are UTC, as in the table TweetFrequency.
import { scaleLinear } from 'd3-scale';
import { h, svg } from '../dom.js';
import { count } from '../format.js';
import { plain } from '../text.js';
import { table } from './table.js';

const MINUTE = 60_000,
    HOUR = 60 * MINUTE,
    DAY = 24 * HOUR;

/* What a bar may stand for, and by which period the server is asked for it. */
const BARS = [
    ...[1, 2, 5, 10, 15, 30].map((n) => ({ by: 'minute', unit: MINUTE, n })),
    ...[1, 2, 3, 6, 12].map((n) => ({ by: 'hour', unit: HOUR, n })),
    ...[1, 2, 7, 14, 28, 56, 112].map((n) => ({ by: 'day', unit: DAY, n })),
];
/** One for each day. */
export const DAYS = BARS.find(({ unit }) => unit === DAY);

const MOST_BARS = 96,
    MOST_LANGUAGES = 6;

/** The bars for a range in milliseconds: {by, unit, n} of which each has n periods. */
export const barsFor = (from, to) =>
    BARS.find(({ unit, n }) => (to - from) / (unit * n) <= MOST_BARS) ?? BARS.at(-1);

const form = (options) => new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options });
const day = form({ day: 'numeric', month: 'short', year: 'numeric' }),
    minute = form({
        day: 'numeric',
        month: 'short',
        year: 'numeric',
        hour: '2-digit',
        minute: '2-digit',
    }),
    clock = form({ hour: '2-digit', minute: '2-digit' }),
    short = form({ day: 'numeric', month: 'short' });

/** "24 May 2016, 11:41" */
export const momentInUtc = (t) => minute.format(t);

const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/** "en" -> "English"; what is no such code stays as it is. */
export function languageName(code) {
    if (code === 'und') return 'not known';
    try {
        return names.of(code) ?? plain(code);
    } catch {
        return plain(code);
    }
}

/** Of the server's {from, data: {language: counts}}: {languages: [{code, sum}], bars: [{at, counts, sum}]}. */
export function barsOf(answer, { unit, n }) {
    const sums = Object.entries(answer.data)
        .map(([code, counts]) => ({ code, counts, sum: counts.reduce((a, b) => a + b, 0) }))
        .sort((a, b) => b.sum - a.sum || (a.code < b.code ? -1 : 1));
    const first = Date.parse(answer.from),
        length = sums[0]?.counts.length ?? 0,
        bars = [];
    for (let i = 0; i < length; i += n) {
        const counts = sums.map((s) => s.counts.slice(i, i + n).reduce((a, b) => a + b, 0));
        bars.push({
            at: first + i * unit,
            end: first + Math.min(i + n, length) * unit,
            counts,
            sum: counts.reduce((a, b) => a + b, 0),
        });
    }
    return { languages: sums.map(({ code, sum }) => ({ code, sum })), bars };
}

const nameOfBar = (bar, unit) =>
    unit === DAY
        ? bar.end - bar.at > DAY
            ? `${day.format(bar.at)} to ${day.format(bar.end - DAY)}`
            : day.format(bar.at)
        : `${momentInUtc(bar.at)} to ${clock.format(bar.end)}`;

/* Colours of the first languages; the others share one. */
const kind = (i) => `series-${Math.min(i, MOST_LANGUAGES) + 1}`;

function drawn(frame, { languages, bars }, { unit }, onRange) {
    const width = Math.max(240, frame.clientWidth),
        height = 168,
        left = 44,
        bottom = 24,
        step = (width - left) / Math.max(1, bars.length);
    const most = Math.max(1, ...bars.map((b) => b.sum));
    const y = scaleLinear([0, most], [height - bottom, 10]).nice(3);
    const every = Math.ceil(bars.length / Math.max(1, Math.floor((width - left) / 96)));
    const named = (bar) =>
        unit === DAY
            ? day.format(bar.at)
            : bars.at(-1).end - bars[0].at > DAY
              ? `${short.format(bar.at)} ${clock.format(bar.at)}`
              : clock.format(bar.at);
    const chosen = svg('rect', {
        class: 'chosen',
        y: 0,
        height: height - bottom,
        visibility: 'hidden',
    });
    const picture = svg(
        'svg',
        {
            viewBox: `0 0 ${width} ${height}`,
            height,
            role: 'img',
            'aria-label': `Tweets by language, from ${momentInUtc(bars[0].at)} to ${momentInUtc(bars.at(-1).end)}`,
        },
        y
            .ticks(3)
            .filter(Number.isInteger)
            .map((t) => [
                svg('line', { class: 'grid', x1: left, x2: width, y1: y(t), y2: y(t) }),
                svg('text', { x: left - 8, y: y(t) + 4, 'text-anchor': 'end' }, count(t)),
            ]),
        bars.map((bar, i) => {
            const parts = [];
            let below = 0;
            const shares = [
                ...bar.counts.slice(0, MOST_LANGUAGES),
                bar.counts.slice(MOST_LANGUAGES).reduce((a, b) => a + b, 0),
            ];
            shares.forEach((n, k) => {
                if (!n) return;
                const gap = step > 4 ? 1 : 0;
                parts.push(
                    svg('rect', {
                        class: kind(k),
                        x: left + i * step,
                        width: Math.max(1, step - gap),
                        y: y(below + n),
                        height: y(below) - y(below + n),
                    }),
                );
                below += n;
            });
            const told = languages
                .map((l, k) => [l.code, bar.counts[k]])
                .filter(([, n]) => n)
                .slice(0, 8)
                .map(([code, n]) => `${languageName(code)} ${count(n)}`);
            return svg(
                'g',
                { class: 'bar-of-time' },
                parts,
                svg(
                    'rect',
                    {
                        class: 'catcher',
                        x: left + i * step,
                        width: step,
                        y: 0,
                        height: height - bottom,
                    },
                    svg(
                        'title',
                        {},
                        `${nameOfBar(bar, unit)}: ${count(bar.sum)}\n${told.join('\n')}`,
                    ),
                ),
            );
        }),
        bars.map(
            (bar, i) =>
                i % every === 0 &&
                (i === 0 || left + i * step < width - 80) &&
                svg('text', { x: left + i * step, y: height - 6 }, named(bar)),
        ),
        chosen,
    );
    let begun = null;
    const barAt = (e) => {
        const box = picture.getBoundingClientRect();
        const px = ((e.clientX - box.left) / box.width) * width;
        return Math.max(0, Math.min(bars.length - 1, Math.floor((px - left) / step)));
    };
    picture.addEventListener('pointerdown', (e) => {
        if (e.button !== 0) return;
        begun = barAt(e);
        picture.setPointerCapture(e.pointerId);
        e.preventDefault();
    });
    const between = (e) => [begun, barAt(e)].sort((a, b) => a - b);
    picture.addEventListener('pointermove', (e) => {
        if (begun === null) return;
        const [a, b] = between(e);
        chosen.setAttribute('visibility', 'visible');
        chosen.setAttribute('x', left + a * step);
        chosen.setAttribute('width', (b - a + 1) * step);
    });
    picture.addEventListener('pointerup', (e) => {
        if (begun === null) return;
        const [a, b] = between(e);
        begun = null;
        onRange(bars[a].at, bars[b].end);
    });
    picture.addEventListener('pointercancel', () => {
        begun = null;
        chosen.setAttribute('visibility', 'hidden');
    });
    return picture;
}

function asTable({ languages, bars }, { unit }, kept) {
    const first = languages.slice(0, MOST_LANGUAGES),
        rest = languages.length > MOST_LANGUAGES;
    return table({
        name: 'tweets-by-language',
        label: 'Tweets by language and time',
        kept,
        most: 100,
        rows: bars.filter((b) => b.sum),
        columns: [
            {
                title: 'Time (UTC)',
                key: 'time',
                value: (b) => new Date(b.at).toISOString(),
                cell: (b) => nameOfBar(b, unit),
            },
            {
                title: 'All',
                key: 'all',
                numeric: true,
                value: (b) => b.sum,
                cell: (b) => count(b.sum),
            },
            ...first.map((l, i) => ({
                title: languageName(l.code),
                key: l.code,
                numeric: true,
                value: (b) => b.counts[i],
                cell: (b) => count(b.counts[i]),
            })),
            ...(rest
                ? [
                      {
                          title: 'Others',
                          key: 'others',
                          numeric: true,
                          value: (b) => b.counts.slice(MOST_LANGUAGES).reduce((x, y) => x + y, 0),
                          cell: (b) =>
                              count(b.counts.slice(MOST_LANGUAGES).reduce((x, y) => x + y, 0)),
                      },
                  ]
                : []),
        ],
    });
}

/**
 * The chart of what barsOf() gives, with its legend and table. onRange(from, to) in milliseconds, to
 * not included; hrefOf(language) is the address that its name leads to.
 */
export function frequency({ found, scale, kept, onRange, hrefOf, chosen }) {
    if (!found.bars.some((b) => b.sum))
        return h('p', { class: 'quiet' }, 'There are no tweets in this time.');
    const frame = h('figure', { class: 'chart by-language' });
    let width = 0;
    new ResizeObserver(() => {
        if (frame.clientWidth === width) return;
        width = frame.clientWidth;
        frame.replaceChildren(drawn(frame, found, scale, onRange));
    }).observe(frame);
    const { languages } = found;
    /* A single other one has its name. */
    const named = languages.length === MOST_LANGUAGES + 1 ? languages.length : MOST_LANGUAGES;
    const others = languages.slice(named).reduce((s, l) => s + l.sum, 0);
    const listed = asTable(found, scale, kept);
    return [
        frame,
        h(
            'ul',
            { class: 'legend languages' },
            languages
                .slice(0, named)
                .map((l, i) =>
                    h(
                        'li',
                        {},
                        h('i', { class: `swatch ${kind(i)}`, 'aria-hidden': 'true' }),
                        h(
                            'a',
                            { href: hrefOf(l.code), 'aria-current': chosen === l.code || null },
                            languageName(l.code),
                        ),
                        ` ${count(l.sum)}`,
                    ),
                ),
            others > 0 &&
                h(
                    'li',
                    {},
                    h('i', { class: `swatch ${kind(named)}`, 'aria-hidden': 'true' }),
                    `${languages.length - named} others ${count(others)}`,
                ),
        ),
        h(
            'details',
            {},
            h('summary', {}, 'As a table'),
            h('div', { class: 'tools' }, listed.csv),
            listed.element,
        ),
    ];
}
