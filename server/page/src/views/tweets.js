// The tweets of a namespace: on a map, over time by language, as a list; their hashtags, and the users
// that went farthest. What is chosen (words, a user, a language, a box, a range of time) is in the
// address, and holds for all of these.
import { has, json, rows as readRows } from '../api.js';
import { h } from '../dom.js';
import { count, several } from '../format.js';
import { bar } from '../parts/bar.js';
import { barsFor, barsOf, DAYS, frequency, languageName, momentInUtc } from '../parts/frequency.js';
import { readLand } from '../parts/land.js';
import { map as makeMap, placeName } from '../parts/map.js';
import { table } from '../parts/table.js';
import * as route from '../route.js';
import { marked, patternOf, shown } from '../text.js';

/* Tweets at once, and of a page that is gone back to; marks on the map; rows of the other tables. */
const PAGE = 50,
    MOST_AGAIN = 1000,
    MOST_MARKS = 2000,
    MOST_PLACES = 200,
    MOST_ROWS = 10,
    NEAREST = 13.5;

const go = (values) => {
    location.hash = route.withValues(values);
};

/* ---- what is chosen --------------------------------------------------------------------------- */

/* Words, and "several of them" where a user's name has spaces. */
const tokensOf = (words) =>
    [...(words ?? '').matchAll(/"([^"]*)"|(\S+)/g)].map((m) => m[1] ?? m[2]).filter(Boolean);

/** v1/tweets... with what is chosen; `more` over that, where null leaves out. */
function pathOf(name, values, more = {}) {
    const all = {
        from: values.from,
        to: values.to,
        box: values.box,
        lang: values.lang,
        user: values.user,
        ...more,
    };
    const parts = Object.entries(all)
        .filter(([, v]) => v !== undefined && v !== null && v !== '')
        .map(([k, v]) => (v === true ? k : `${k}=${encodeURIComponent(v)}`));
    if (more.token !== null) {
        const tokens = tokensOf(values.words);
        parts.push(...tokens.map((t) => `token=${encodeURIComponent(t)}`));
        if (tokens.length && values.field) parts.push(`field=${encodeURIComponent(values.field)}`);
    }
    return `v1/tweets${name}${parts.length ? '?' + parts.join('&') : ''}`;
}

function boxOf(text) {
    const edges = (text ?? '').split(',').map(Number);
    if (edges.length !== 4 || !edges.every(Number.isFinite)) return null;
    const [west, south, east, north] = edges;
    return { west, south, east, north };
}

const boxText = (b) =>
    [b.west, Math.max(-90, b.south), b.east, Math.min(90, b.north)]
        .map((v) => +v.toFixed(4))
        .join(',');

const boxName = (b) => `${placeName(b.south, b.west, 2)} to ${placeName(b.north, b.east, 2)}`;

/* The server takes a time without a zone as UTC, and as the end of a range a minute as a whole. */
const minuteText = (ms) => new Date(ms).toISOString().slice(0, 16);
const timeOf = (text) => Date.parse(/^\d{4}-\d\d-\d\dT[\d:]+$/.test(text) ? text + 'Z' : text);
const timeName = (text) => (Number.isNaN(timeOf(text)) ? text : momentInUtc(timeOf(text)));

/* What holds, each with a way to be without it. */
function chosen(values) {
    const box = boxOf(values.box);
    const all = [
        values.words && ['Words', values.words, { words: '', field: '' }],
        values.user && ['User', '@' + values.user, { user: '' }],
        values.lang && ['Language', languageName(values.lang), { lang: '' }],
        (values.from || values.to) && [
            'Time (UTC)',
            `${values.from ? timeName(values.from) : 'the first'} to ${values.to ? timeName(values.to) : 'the last'}`,
            { from: '', to: '' },
        ],
        values.box && ['Box', box ? boxName(box) : values.box, { box: '' }],
    ].filter(Boolean);
    if (!all.length) return null;
    return h(
        'div',
        { class: 'chosen-all', role: 'group', 'aria-label': 'What is chosen' },
        all.map(([title, text, without]) =>
            h(
                'a',
                {
                    class: 'chip',
                    href: route.withValues(without),
                    title: 'Without it',
                },
                h('span', { class: 'quiet' }, title + ' '),
                shown(text, 80),
                h('span', { class: 'heard' }, ' (remove)'),
                h('span', { 'aria-hidden': 'true' }, ' ×'),
            ),
        ),
        all.length > 1 &&
            h(
                'a',
                { href: route.withValues(Object.assign({}, ...all.map((c) => c[2]))) },
                'All tweets',
            ),
    );
}

function searchForm(values) {
    const words = h('input', {
        type: 'search',
        name: 'words',
        class: 'filter',
        value: values.words ?? '',
        placeholder: 'Words, #tags, users, begin*',
        'aria-label': 'Words, hashtags or users of tweets',
    });
    const field = h(
        'select',
        { 'aria-label': 'Where the words are' },
        [
            ['', 'in texts and names'],
            ['text', 'in texts'],
            ['user', 'in names'],
        ].map(([value, name]) =>
            h('option', { value, selected: (values.field ?? '') === value }, name),
        ),
    );
    return h(
        'form',
        {
            class: 'tools tweet-search',
            role: 'search',
            'aria-label': 'Tweets',
            onsubmit: (e) => {
                e.preventDefault();
                go({ words: words.value.trim(), field: field.value });
            },
        },
        words,
        field,
        h('button', { class: 'primary' }, 'Search'),
    );
}

/* ---- sections --------------------------------------------------------------------------------- */

const problem = (e) => h('p', { class: 'problem', role: 'alert' }, shown(e.message));

/* What is asked, or the problem that came instead: one that is wrong leaves the others as they are. */
const either = (asked) =>
    asked.then(
        (value) => ({ value }),
        (e) => {
            if (e.name === 'AbortError') throw e;
            return { problem: e };
        },
    );

const section = (title, tools, ...children) =>
    h('section', {}, h('div', { class: 'section-head' }, h('h2', {}, title), tools), ...children);

/* One that comes later: these read every tweet that is chosen, and the map goes first. */
function later(title, asked, make) {
    const place = section(title, null, h('p', { class: 'quiet' }, 'Counting …'));
    place.setAttribute('aria-busy', 'true');
    either(asked).then(
        ({ value, problem: told }) => {
            place.removeAttribute('aria-busy');
            const [head] = place.children;
            const made = told ? { element: problem(told) } : make(value);
            if (made.tools) head.append(...[made.tools].flat());
            place.replaceChildren(head, ...[made.element].flat().filter(Boolean));
        },
        () => {},
    );
    return place;
}

/* ---- the map ---------------------------------------------------------------------------------- */

function extentOf(cells) {
    if (!cells.length) return null;
    const least = (f) => cells.reduce((v, c) => Math.min(v, f(c)), Infinity);
    return {
        west: least((c) => c.west),
        south: least((c) => c.south),
        east: -least((c) => -c.east),
        north: -least((c) => -c.north),
    };
}

const within = (box, { latitude, longitude }) =>
    latitude >= box.south &&
    latitude <= box.north &&
    (box.west <= box.east
        ? longitude >= box.west && longitude <= box.east
        : longitude >= box.west || longitude <= box.east);

/* More than is seen, so that a map that is moved a little has its marks. */
function around(box) {
    const width = box.east - box.west + (box.east < box.west ? 360 : 0),
        high = box.north - box.south;
    const turned = (v) => ((((v + 180) % 360) + 360) % 360) - 180;
    const all = width * 1.5 >= 360;
    return {
        west: all ? -180 : turned(box.west - width / 4),
        east: all ? 180 : turned(box.east + width / 4),
        south: Math.max(-90, box.south - high / 4),
        north: Math.min(90, box.north + high / 4),
    };
}

/* The boxes of the places that tweets name, each once. */
function placesOf(found) {
    const places = new Map();
    for (const t of found) {
        const box = placeBox(t);
        if (box) places.set(JSON.stringify(box), { box, name: t.tweet.place.full_name ?? '' });
    }
    return [...places.values()];
}

function placeBox(t) {
    const corners = t.tweet?.place?.bounding_box?.coordinates?.[0];
    if (!Array.isArray(corners) || corners.length < 3) return null;
    const xs = corners.map((c) => Number(c?.[0])),
        ys = corners.map((c) => Number(c?.[1]));
    if (![...xs, ...ys].every(Number.isFinite)) return null;
    const box = {
        west: Math.min(...xs),
        east: Math.max(...xs),
        south: Math.min(...ys),
        north: Math.max(...ys),
    };
    /* A point is none; and what is wider than half the earth crosses the antimeridian. */
    if (box.west === box.east && box.south === box.north) return null;
    return box.east - box.west > 180 ? { ...box, west: box.east, east: box.west } : box;
}

function mapSection(where, land, kept, signal) {
    const { values } = where;
    const told = h('p', { class: 'quiet', role: 'status' }, 'Looking …');
    const listed = table({
        name: 'tweets-by-place',
        label: 'Places',
        kept: where.kept,
        rows: [],
        columns: [
            {
                title: 'Tweets',
                key: 'tweets',
                numeric: true,
                value: (c) => c.tweets,
                cell: (c) => count(c.tweets),
            },
            {
                title: 'Around',
                key: 'place',
                csv: ['latitude', 'longitude', 'west', 'south', 'east', 'north'].map((name) => [
                    name,
                    (c) => c[name],
                ]),
                value: (c) => c.latitude,
                cell: (c) =>
                    h(
                        'button',
                        { type: 'button', class: 'link', onclick: () => choose(c) },
                        placeName(c.latitude, c.longitude, 2),
                    ),
            },
        ],
    });
    let reading = new AbortController(),
        choices = 0,
        arrived;
    const first = new Promise((resolve) => (arrived = resolve));
    signal.addEventListener('abort', () => reading.abort());

    async function read(seen, level) {
        reading.abort();
        const mine = (reading = new AbortController());
        if (signal.aborted) return;
        try {
            const cells = await json(
                pathOf('/grid', values, { box: boxText(around(seen)), level, limit: MOST_MARKS }),
                { signal: mine.signal },
            );
            map.setMarks(cells);
            const here = cells.filter((c) => within(seen, c));
            const sum = here.reduce((n, c) => n + c.tweets, 0);
            told.textContent =
                (sum ? `${several(sum, 'tweet')} here` : 'No tweets here') +
                (cells.length === MOST_MARKS ? `, in the fullest ${count(MOST_MARKS)} places` : '');
            told.classList.remove('problem');
            listed.show(here.slice(0, MOST_PLACES));
        } catch (e) {
            if (e.name === 'AbortError') return;
            told.textContent = e.message;
            told.classList.add('problem');
        }
        arrived();
    }

    /* Many: as near as they are to each other. One, or as near as it gets: the list has them. */
    async function choose(c) {
        if (c.tweets === 1 || kept.zoom > NEAREST) return go({ box: boxText(c) });
        const level = Math.min(20, Math.round(Math.log2(360 / (c.east - c.west))) + 5),
            mine = ++choices; /* the answer for one that was chosen before comes to nothing */
        try {
            const cells = await json(
                pathOf('/grid', values, { box: boxText(c), level, limit: 0 }),
                { signal },
            );
            if (mine === choices) map.fit(extentOf(cells) ?? c);
        } catch (e) {
            if (e.name !== 'AbortError' && mine === choices) map.fit(c);
        }
    }

    const map = makeMap({
        land,
        kept,
        label: 'Map of tweets: arrows move it, plus and minus zoom, 0 shows all of it, b takes what is seen as the box',
        onMove: read,
        onBox: (box) => go({ box: boxText(box) }),
        onMark: choose,
        onDrawing: (on) => draw.setAttribute('aria-pressed', String(on)),
    });
    map.setBox(boxOf(values.box));
    const button = (title, what, onclick, more = {}) =>
        h(
            'button',
            { type: 'button', onclick, ...more },
            what,
            h('span', { class: 'heard' }, title),
        );
    const draw = button(
        '',
        'Draw a box',
        () => map.drawing(draw.getAttribute('aria-pressed') !== 'true'),
        { 'aria-pressed': 'false', title: 'Or pull over the map with Shift' },
    );
    const element = section(
        'Where',
        told,
        h(
            'div',
            { class: 'mapped-tweets' },
            map.element,
            h(
                'div',
                { class: 'map-zoom' },
                button('Zoom in', '+', () => map.zoomBy(1), { title: 'Zoom in (+)' }),
                button('Zoom out', '−', () => map.zoomBy(-1), { title: 'Zoom out (-)' }),
            ),
        ),
        h(
            'div',
            { class: 'tools map-tools' },
            draw,
            button('', 'Box of what is seen', () => go({ box: boxText(map.view()) }), {
                title: 'b, in the map',
            }),
            button('', 'Whole map', map.whole, { title: '0, in the map' }),
        ),
        h(
            'details',
            {},
            h('summary', {}, 'Places as a table'),
            h('div', { class: 'tools' }, listed.csv),
            listed.element,
        ),
    );
    return { element, map, first };
}

/* ---- tweets ----------------------------------------------------------------------------------- */

/* A tweet's JSON has these three characters as HTML has them; as people wrote it they are shown. */
const written = (text) =>
    text.replace(/&(amp|lt|gt);/g, (_, name) => ({ amp: '&', lt: '<', gt: '>' })[name]);

function tweetColumns(values, map) {
    const pattern = patternOf(tokensOf(values.words).filter((t) => !t.endsWith('*')));
    const show = (t) => {
        map.show({ latitude: t.latitude, longitude: t.longitude, box: placeBox(t) });
        map.element.scrollIntoView({ block: 'nearest' });
    };
    const user = (t) =>
        t.screen_name &&
        h('a', { href: route.withValues({ user: t.screen_name }) }, shown('@' + t.screen_name, 40));
    return [
        {
            title: 'Tweet',
            key: 'text',
            class: 'text',
            csv: [
                ['time', (t) => t.time],
                ['id', (t) => t.id],
                ['lang', (t) => t.lang],
                ['screen_name', (t) => t.screen_name],
                ['name', (t) => t.name],
                ['latitude', (t) => t.latitude],
                ['longitude', (t) => t.longitude],
                ['text', (t) => t.text],
            ],
            cell: (t) => [
                h('div', { class: 'tweet-text', dir: 'auto' }, marked(written(t.text), pattern)),
                h(
                    'span',
                    { class: 'quiet id' },
                    t.name ? [shown(t.name, 40), ' '] : '',
                    user(t),
                    ' · ',
                    h('time', { datetime: t.time }, momentInUtc(Date.parse(t.time))),
                    t.lang !== 'und' && ` · ${languageName(t.lang)}`,
                    t.latitude !== undefined && [
                        ' · ',
                        h(
                            'button',
                            {
                                type: 'button',
                                class: 'link row-link',
                                title: 'Show it on the map',
                                onclick: () => show(t),
                            },
                            t.tweet?.place?.full_name
                                ? shown(t.tweet.place.full_name, 60)
                                : placeName(t.latitude, t.longitude),
                        ),
                    ],
                ),
            ],
        },
    ];
}

const readTweets = async (values, limit, signal) => {
    const found = [];
    for await (const row of readRows(pathOf('', values, { limit: limit + 1, json: true }), {
        signal,
    }))
        found.push(row);
    return found;
};

function tweetSection(where, first, map, signal) {
    if (first.problem) return section('Tweets', null, problem(first.problem));
    const { values, kept } = where;
    let most = kept.most,
        found = first.value;
    const told = h('span', { class: 'quiet' });
    const list = table({
        name: 'tweets',
        label: 'Tweets',
        columns: tweetColumns(values, map),
        rows: found.slice(0, most),
        most: Infinity,
        kept,
    });
    const tell = () => {
        const there = found.slice(0, most);
        told.textContent =
            found.length > most ? `the newest ${count(most)}` : several(there.length, 'tweet');
        more.hidden = found.length <= most;
        map.setPlaces(placesOf(there));
        list.show(there);
    };
    const more = h(
        'button',
        {
            type: 'button',
            class: 'more',
            onclick: async () => {
                more.disabled = true;
                try {
                    found = await readTweets(values, most + PAGE, signal);
                    most += PAGE;
                    kept.most = Math.min(most, MOST_AGAIN);
                    tell();
                } catch (e) {
                    if (e.name !== 'AbortError') more.before(problem(e));
                } finally {
                    more.disabled = false;
                }
            },
        },
        `Show ${PAGE} more`,
    );
    tell();
    const made = section(
        'Tweets',
        [told, found.length ? list.csv : null],
        found.length
            ? list.element
            : h(
                  'p',
                  { class: 'quiet' },
                  'No tweet is all of this. Leave out a part of what is chosen.',
              ),
        more,
    );
    made.classList.add('tweets');
    return made;
}

/* ---- counts ----------------------------------------------------------------------------------- */

const topSection = (values, first, signal) =>
    later(
        'Hashtags',
        first.then(() => json(pathOf('/top', values, { limit: MOST_ROWS }), { signal })),
        (tags) => {
            if (!tags.length) return { element: h('p', { class: 'quiet' }, 'There are none.') };
            const list = table({
                name: 'hashtags',
                label: 'Hashtags',
                rows: tags,
                columns: [
                    {
                        title: 'Hashtag',
                        key: 'tag',
                        value: (t) => t.tag,
                        cell: (t) =>
                            h(
                                'a',
                                { href: route.withValues({ words: t.tag, field: 'text' }) },
                                shown(t.tag, 60),
                            ),
                    },
                    {
                        title: 'Tweets',
                        key: 'tweets',
                        class: 'share',
                        value: (t) => t.tweets,
                        cell: (t) =>
                            h(
                                'span',
                                { class: 'measured' },
                                bar(t.tweets / tags[0].tweets),
                                h('span', {}, count(t.tweets)),
                            ),
                    },
                ],
            });
            return { tools: list.csv, element: list.element };
        },
    );

const distance = (n) => (n < 10 ? n.toFixed(2) : count(Math.round(n)));

function highscoreSection(values, first, signal) {
    const area = values.by === 'area';
    const tab = (name, by, now) =>
        h('a', { href: route.withValues({ by }), 'aria-current': now ? 'true' : null }, name);
    return later(
        'Highscore',
        first.then(() =>
            json(
                pathOf('/highscore', values, {
                    by: area ? 'area' : null,
                    user: null,
                    token: null,
                    limit: MOST_ROWS,
                }),
                { signal },
            ),
        ),
        (users) => {
            const tabs = h(
                'div',
                { class: 'tabs', role: 'group', 'aria-label': 'What counts' },
                tab('Path', '', !area),
                tab('Area', 'area', area),
            );
            const list = table({
                name: 'highscore',
                label: 'Users that went farthest',
                rows: users,
                columns: [
                    {
                        title: 'User',
                        key: 'screen_name',
                        value: (u) => u.screen_name,
                        cell: (u) =>
                            u.screen_name
                                ? h(
                                      'a',
                                      { href: route.withValues({ user: u.screen_name }) },
                                      shown('@' + u.screen_name, 40),
                                  )
                                : shown(u.name || u.id || '', 40),
                    },
                    {
                        title: 'Tweets',
                        key: 'tweets',
                        numeric: true,
                        value: (u) => u.tweets,
                        cell: (u) => count(u.tweets),
                    },
                    {
                        title: 'Path, km',
                        key: 'path_km',
                        numeric: true,
                        value: (u) => u.path_km,
                        cell: (u) => distance(u.path_km),
                    },
                    ...(area
                        ? [
                              {
                                  title: 'Area, km²',
                                  key: 'area_km2',
                                  numeric: true,
                                  value: (u) => u.area_km2,
                                  cell: (u) => distance(u.area_km2),
                              },
                          ]
                        : []),
                ],
            });
            return {
                tools: tabs,
                element: [
                    (values.words || values.user) &&
                        h('p', { class: 'quiet' }, 'Whatever the words and the user.'),
                    users.length
                        ? list.element
                        : h('p', { class: 'quiet' }, 'No user has tweets with a place.'),
                ],
            };
        },
    );
}

/* ---- time ------------------------------------------------------------------------------------- */

/*
 * The range that the chart shows, in milliseconds: the one that is chosen, else that of the tweets. Null
 * where the server alone knows it (an age, such as 30d), or says that it is none.
 */
function rangeOf(values, stats) {
    const from = values.from ? timeOf(values.from) : Date.parse(stats.first),
        to = values.to ? timeOf(values.to) + 59_999 : Date.parse(stats.last);
    return Number.isNaN(from) || Number.isNaN(to) || to < from ? null : { from, to };
}

async function readFrequency(values, stats, signal) {
    const range = rangeOf(values, stats);
    const scale = range ? barsFor(range.from, range.to) : DAYS;
    const [answer] = await json(
        pathOf('/frequency', values, {
            ...(range && { from: minuteText(range.from), to: minuteText(range.to) }),
            by: scale.by,
            box: null,
            user: null,
            token: null,
        }),
        { signal },
    );
    return { scale, found: barsOf(answer, scale) };
}

function timeSection(where, stats, first) {
    const { values, kept } = where;
    const field = (name, otherwise) =>
        h('input', {
            type: 'datetime-local',
            name,
            value: (values[name] && !Number.isNaN(timeOf(values[name]))
                ? new Date(timeOf(values[name])).toISOString()
                : otherwise
            ).slice(0, 16),
        });
    const from = field('from', stats.first),
        to = field('to', stats.last);
    const narrowed = values.words || values.user || values.box;
    return section(
        'When, in which language',
        h(
            'span',
            { class: 'quiet' },
            narrowed ? 'all tweets, whatever the words, the user and the box' : '',
        ),
        first.problem
            ? problem(first.problem)
            : frequency({
                  ...first.value,
                  kept,
                  chosen: values.lang,
                  hrefOf: (lang) => route.withValues({ lang: values.lang === lang ? '' : lang }),
                  onRange: (a, b) => go({ from: minuteText(a), to: minuteText(b - 60_000) }),
              }),
        h(
            'form',
            {
                class: 'tools range',
                onsubmit: (e) => {
                    e.preventDefault();
                    go({ from: from.value, to: to.value });
                },
            },
            h('label', { class: 'choice' }, h('span', {}, 'From (UTC)'), from),
            h('label', { class: 'choice' }, h('span', {}, 'To'), to),
            h('button', {}, 'Show'),
        ),
    );
}

/* ---- the view --------------------------------------------------------------------------------- */

/** {tweets, with_place, first, last}; null where the server has no tweets. */
export const readStats = async (signal) =>
    (await has('/v1/tweets/stats')) ? json('v1/tweets/stats', { signal }) : null;

function nothing(stats) {
    return {
        title: 'Tweets',
        crumb: 'Tweets',
        element: [
            h('div', { class: 'head' }, h('h1', {}, 'Tweets')),
            h(
                'div',
                { class: 'empty' },
                h(
                    'p',
                    {},
                    stats ? 'There are no tweets yet.' : 'This server was built without tweets.',
                ),
                stats &&
                    h(
                        'p',
                        { class: 'quiet' },
                        h('code', {}, 'grouperfish tweets import FILE'),
                        ' puts some in.',
                    ),
            ),
        ],
    };
}

export async function tweets(where, { signal }) {
    const { values, kept } = where;
    const stats = await readStats(signal);
    if (!stats?.tweets) return nothing(stats);
    const all = JSON.stringify({ ...values, by: '' });
    if (kept.all !== all) Object.assign(kept, { all, most: PAGE });
    /* Other words, another user or language: the map goes to where these are. */
    const of = JSON.stringify([values.words, values.field, values.user, values.lang]);
    const sought = kept.map?.of !== of;
    const [land, newest, times, extent] = await Promise.all([
        readLand(),
        either(readTweets(values, kept.most, signal)),
        either(readFrequency(values, stats, signal)),
        sought
            ? either(json(pathOf('/grid', values, { level: 7, limit: 0 }), { signal }))
            : { value: [] },
    ]);
    if (sought)
        kept.map = {
            of,
            x: 0.5,
            y: 0.45,
            zoom: undefined,
            fit: boxOf(values.box) ?? extentOf(extent.value ?? []),
        };
    const { element, map, first } = mapSection(where, land, kept.map, signal);
    const list = tweetSection(where, newest, map, signal);
    return {
        title: 'Tweets',
        crumb: 'Tweets',
        element: [
            h(
                'div',
                { class: 'head' },
                h('h1', {}, 'Tweets'),
                h(
                    'p',
                    { class: 'facts' },
                    `${several(stats.tweets, 'tweet')} · ${count(stats.with_place)} with a place` +
                        ` · ${momentInUtc(Date.parse(stats.first))} to ${momentInUtc(Date.parse(stats.last))} UTC`,
                ),
                searchForm(values),
            ),
            chosen(values),
            h('div', { class: 'where-and-when' }, element, timeSection(where, stats, times)),
            h(
                'div',
                { class: 'columns' },
                list,
                h(
                    'aside',
                    {},
                    topSection(values, first, signal),
                    highscoreSection(values, first, signal),
                ),
            ),
        ],
    };
}
