// A map in Mercator's projection, drawn here: land, borders, names, the net of degrees; on it what the
// caller gives: marks with counts, a box, places. Moved by mouse, finger and keys.
//
// Boxes are {west, south, east, north} in degrees; west of more than east crosses the antimeridian.
import { h, svg } from '../dom.js';
import { count } from '../format.js';
import { plain } from '../text.js';
import { gestures } from './gestures.js';
import { latitudeOf, longitudeOf, MOST_LATITUDE, UNITS, xOf, yOf } from './land.js';

const TILE = 256,
    MOST_ZOOM = 15,
    STEP = 96; /* px of an arrow key */

const STEPS = [45, 30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];

const clamp = (v, least, most) => Math.max(least, Math.min(most, v));
const wrap = (x) => x - Math.floor(x);
const short = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

const degrees = (v, digits) => String(+Math.abs(v).toFixed(digits));
const longitudeName = (v, digits = 3) => {
    const at = ((v + 540) % 360) - 180;
    return `${degrees(at, digits)}°${at && Math.abs(at) < 180 ? (at < 0 ? ' W' : ' E') : ''}`;
};
const latitudeName = (v, digits = 3) => `${degrees(v, digits)}°${v ? (v < 0 ? ' S' : ' N') : ''}`;

/** "51.340° N, 12.370° E" */
export const placeName = (latitude, longitude, digits = 3) =>
    `${latitudeName(latitude, digits)}, ${longitudeName(longitude, digits)}`;

const widthOf = (box) => (box.east - box.west + (box.east < box.west ? 360 : 0)) / 360;
const radius = (n) => (n === 1 ? 5 : Math.min(24, 8 + 2.2 * Math.log2(n)));

/**
 * {element, setMarks, setBox, setPlaces, show, view(): box, zoomBy, whole, drawing(on)}
 *
 * land is that of readLand(). kept keeps what is seen. onMove(box, level) is called when the map has
 * come to rest; onBox(box) when one was drawn; onMark(mark) when a mark {latitude, longitude, tweets,
 * box} was chosen; onDrawing(on) when drawing begins or ends.
 */
export function map({ land, kept, label, onMove, onBox, onMark, onDrawing }) {
    const ids = `map-${Math.random().toString(36).slice(2)}`;
    const world = svg('g', {}),
        net = svg('g', { class: 'net' }),
        names = svg('g', { class: 'names' }),
        places = svg('g', { class: 'places-of' }),
        boxes = svg('g', { class: 'box' }),
        marks = svg('g', { class: 'marks' }),
        shown = svg('g', { class: 'found' }),
        drawn = svg('rect', { class: 'drawn', visibility: 'hidden' });
    const picture = svg(
        'svg',
        { 'aria-hidden': 'true' },
        svg(
            'defs',
            {},
            svg('path', { id: ids + '-land', d: land.land }),
            svg('path', { id: ids + '-borders', d: land.borders }),
        ),
        world,
        net,
        places,
        names,
        boxes,
        marks,
        shown,
        drawn,
    );
    const frame = h(
        'div',
        {
            class: 'map',
            tabindex: '0',
            role: 'application',
            'aria-label': label,
            'aria-roledescription': 'map',
            onkeydown: pressed,
        },
        picture,
    );

    const state = { marks: [], box: null, places: [], found: null };
    let size = { width: 0, height: 0 },
        drawing = false,
        waiting = 0,
        resting = 0;

    const side = () => TILE * 2 ** kept.zoom;
    const leastZoom = () => Math.log2(Math.max(size.width, size.height, 1) / TILE);

    function hold() {
        kept.zoom = clamp(kept.zoom, leastZoom(), MOST_ZOOM);
        const half = size.height / 2 / side();
        kept.x = wrap(kept.x);
        kept.y = clamp(kept.y, half, Math.max(half, 1 - half));
    }

    const screenX = (x) => {
        const left = kept.x - size.width / 2 / side();
        return (x - left) * side();
    };
    const screenY = (y) => (y - kept.y) * side() + size.height / 2;
    /* The one of the worlds beside each other that is nearest to the middle. */
    const nearX = (x) => screenX(x + Math.round(kept.x - x));
    const at = (px, py) => ({
        x: kept.x + (px - size.width / 2) / side(),
        y: kept.y + (py - size.height / 2) / side(),
    });

    /** What is seen. */
    function view() {
        const a = at(0, 0),
            b = at(size.width, size.height);
        const all = b.x - a.x >= 0.999;
        return {
            west: all ? -180 : longitudeOf(wrap(a.x)),
            east: all ? 180 : longitudeOf(wrap(b.x)),
            north: a.y <= 0.001 ? 90 : latitudeOf(a.y),
            south: b.y >= 0.999 ? -90 : latitudeOf(b.y),
        };
    }

    /* ---- drawing ------------------------------------------------------------------------------ */

    function drawWorld() {
        const scale = side() / UNITS;
        const first = Math.floor(at(0, 0).x - 0.1),
            last = Math.floor(at(size.width, 0).x + 0.1);
        const copies = [];
        for (let k = first; k <= last; k++)
            for (const kind of ['land', 'borders'])
                copies.push(
                    svg('use', {
                        class: kind,
                        href: `#${ids}-${kind}`,
                        transform: `translate(${screenX(k)} ${screenY(0)}) scale(${scale})`,
                        'stroke-width': 1 / scale,
                    }),
                );
        world.replaceChildren(...copies);
    }

    function drawNet() {
        const perDegree = side() / 360,
            step = STEPS.findLast((s) => s * perDegree > 90) ?? 45,
            lines = [];
        const a = at(0, 0),
            b = at(size.width, size.height);
        const west = longitudeOf(a.x),
            east = longitudeOf(b.x),
            south = latitudeOf(Math.min(1, b.y)),
            north = latitudeOf(Math.max(0, a.y));
        for (let i = Math.ceil(west / step); i * step <= east; i++) {
            const x = screenX(xOf(i * step));
            lines.push(svg('line', { x1: x, x2: x, y1: 0, y2: size.height }));
            if (x > 40 && x < size.width - 24)
                lines.push(
                    svg(
                        'text',
                        { x, y: size.height - 6, 'text-anchor': 'middle' },
                        longitudeName(i * step),
                    ),
                );
        }
        for (let i = Math.ceil(south / step); i * step <= north; i++) {
            const y = screenY(yOf(i * step));
            if (Math.abs(i * step) >= MOST_LATITUDE) continue;
            lines.push(svg('line', { x1: 0, x2: size.width, y1: y, y2: y }));
            if (y > 16 && y < size.height - 24)
                lines.push(svg('text', { x: 6, y: y - 4 }, latitudeName(i * step)));
        }
        net.replaceChildren(...lines);
    }

    /* Names that have room, the more important first. */
    function drawNames() {
        const taken = [],
            made = [];
        const put = (name, x, y, kind, dot) => {
            const width = name.length * (kind === 'country' ? 7 : 6.2) + 8;
            const left = dot ? x : x - width / 2;
            if (left < 0 || left + width > size.width || y < 12 || y > size.height - 20) return;
            if (taken.some(([l, t, w]) => left < l + w && l < left + width && Math.abs(y - t) < 16))
                return;
            taken.push([left, y, width]);
            if (dot) made.push(svg('circle', { class: 'city', cx: x, cy: y - 4, r: 2 }));
            made.push(
                svg(
                    'text',
                    {
                        class: kind,
                        x: dot ? x + 6 : x,
                        y,
                        'text-anchor': dot ? 'start' : 'middle',
                    },
                    name,
                ),
            );
        };
        const perDegree = side() / 360;
        for (const [name, longitude, latitude, width] of land.countries)
            if (width * perDegree > Math.max(28, name.length * 5))
                put(name, nearX(xOf(longitude)), screenY(yOf(latitude)), 'country', false);
        if (kept.zoom > 3.6)
            for (const [name, longitude, latitude] of land.cities)
                put(name, nearX(xOf(longitude)), screenY(yOf(latitude)) + 4, 'city', true);
        names.replaceChildren(...made);
    }

    function rectangle(box, attributes, ...children) {
        const west = nearX(xOf(box.west) + widthOf(box) / 2) - (widthOf(box) * side()) / 2;
        const top = screenY(yOf(box.north)),
            bottom = screenY(yOf(box.south));
        return svg(
            'rect',
            {
                x: west,
                y: top,
                width: Math.max(1, widthOf(box) * side()),
                height: Math.max(1, bottom - top),
                ...attributes,
            },
            ...children,
        );
    }

    function drawMark(mark) {
        const x = nearX(xOf(mark.longitude)),
            y = screenY(yOf(mark.latitude)),
            r = radius(mark.tweets);
        if (x < -r || x > size.width + r || y < -r || y > size.height + r) return null;
        const many = mark.tweets > 1;
        return svg(
            'g',
            {
                class: many ? 'spot many' : 'spot',
                transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
                onclick: () => onMark(mark),
            },
            svg('circle', { r: r.toFixed(1) }),
            many &&
                svg(
                    'text',
                    { y: 4, 'text-anchor': 'middle' },
                    mark.tweets < 1000 ? mark.tweets : short.format(mark.tweets),
                ),
            svg(
                'title',
                {},
                many
                    ? `${count(mark.tweets)} tweets around ${placeName(mark.latitude, mark.longitude, 2)}`
                    : `A tweet at ${placeName(mark.latitude, mark.longitude)}`,
            ),
        );
    }

    function drawMarks() {
        /* The smaller ones lie on top. */
        marks.replaceChildren(...state.marks.map(drawMark).filter(Boolean));
        boxes.replaceChildren(...(state.box ? [rectangle(state.box, {})] : []));
        places.replaceChildren(
            ...state.places.map((p) => rectangle(p.box, {}, svg('title', {}, plain(p.name)))),
        );
        const f = state.found;
        shown.replaceChildren(
            ...(f
                ? [
                      f.box && rectangle(f.box, {}),
                      svg('circle', {
                          cx: nearX(xOf(f.longitude)),
                          cy: screenY(yOf(f.latitude)),
                          r: 10,
                      }),
                  ].filter(Boolean)
                : []),
        );
    }

    function draw() {
        waiting = 0;
        if (!size.width || !size.height) return;
        hold();
        drawWorld();
        drawNet();
        drawNames();
        drawMarks();
    }

    const drawSoon = () => (waiting ||= requestAnimationFrame(draw));

    /* Cells of some 60 px, those of the geohashes' grid. */
    const level = () => clamp(Math.round(Math.log2(side() / 60)), 1, 20);

    function moved(now = false) {
        drawSoon();
        clearTimeout(resting);
        resting = setTimeout(
            () => frame.isConnected && size.width && onMove(view(), level()),
            now ? 0 : 160,
        );
    }

    /* ---- moving ------------------------------------------------------------------------------- */

    function zoomAt(px, py, by) {
        const held = at(px, py);
        kept.zoom = clamp(kept.zoom + by, leastZoom(), MOST_ZOOM);
        kept.x = held.x - (px - size.width / 2) / side();
        kept.y = held.y - (py - size.height / 2) / side();
        hold();
        moved();
    }

    function moveBy(dx, dy) {
        kept.x -= dx / side();
        kept.y -= dy / side();
        hold();
        moved();
    }

    /** Show a box as a whole, as near as that allows, no nearer than a zoom. */
    function fit(box, nearest = MOST_ZOOM) {
        const top = yOf(box.north),
            bottom = yOf(box.south),
            width = widthOf(box);
        const room = 48;
        kept.x = xOf(box.west) + width / 2;
        kept.y = (top + bottom) / 2;
        kept.zoom = clamp(
            Math.min(
                Math.log2(Math.max(1, size.width - room) / TILE / Math.max(width, 1e-9)),
                Math.log2(Math.max(1, size.height - room) / TILE / Math.max(bottom - top, 1e-9)),
            ),
            leastZoom(),
            nearest,
        );
        hold();
        moved(true);
    }

    const whole = () => fit({ west: -180, south: -60, east: 180, north: 75 });

    function pressed(e) {
        if (e.ctrlKey || e.metaKey || e.altKey) return;
        const { width, height } = size;
        const done = {
            ArrowLeft: () => moveBy(STEP, 0),
            ArrowRight: () => moveBy(-STEP, 0),
            ArrowUp: () => moveBy(0, STEP),
            ArrowDown: () => moveBy(0, -STEP),
            '+': () => zoomAt(width / 2, height / 2, 1),
            '=': () => zoomAt(width / 2, height / 2, 1),
            '-': () => zoomAt(width / 2, height / 2, -1),
            0: whole,
            b: () => onBox(view()),
            Escape: drawing && (() => setDrawing(false)),
        }[e.key];
        if (!done) return;
        done();
        e.preventDefault();
        e.stopPropagation();
    }

    function setDrawing(on) {
        if (drawing === on) return;
        drawing = on;
        frame.classList.toggle('drawing', on);
        drawn.setAttribute('visibility', 'hidden');
        onDrawing(on);
    }

    const { inside } = gestures(frame, {
        wants: () => drawing,
        moveBy,
        zoomAt,
        drawing: (line) => {
            const [p, q] = [line[0], line.at(-1)];
            drawn.setAttribute('visibility', 'visible');
            drawn.setAttribute('x', Math.min(p.x, q.x));
            drawn.setAttribute('y', Math.min(p.y, q.y));
            drawn.setAttribute('width', Math.abs(p.x - q.x));
            drawn.setAttribute('height', Math.abs(p.y - q.y));
        },
        drawn: (line) => {
            drawn.setAttribute('visibility', 'hidden');
            if (!line) return;
            const [p, q] = [line[0], line.at(-1)];
            const a = at(
                    clamp(Math.min(p.x, q.x), 0, size.width),
                    clamp(Math.min(p.y, q.y), 0, size.height),
                ),
                b = at(
                    clamp(Math.max(p.x, q.x), 0, size.width),
                    clamp(Math.max(p.y, q.y), 0, size.height),
                );
            setDrawing(false);
            const all = b.x - a.x >= 1;
            onBox({
                west: all ? -180 : longitudeOf(wrap(a.x)),
                south: latitudeOf(b.y),
                east: all ? 180 : longitudeOf(wrap(b.x)),
                north: latitudeOf(a.y),
            });
        },
        /* The page scrolls by the wheel until somebody is in the map. */
        wheeled: (e) => e.ctrlKey || document.activeElement === frame,
    });
    frame.addEventListener('dblclick', (e) => {
        const p = inside(e);
        if (!e.target.closest('.spot')) zoomAt(p.x, p.y, 1);
    });
    new ResizeObserver(() => {
        const before = size;
        size = { width: frame.clientWidth, height: frame.clientHeight };
        picture.setAttribute('viewBox', `0 0 ${size.width} ${size.height}`);
        if (!size.width) return;
        if (!before.width && kept.fit) fit(kept.fit, 9);
        else if (!before.width && kept.zoom === undefined) whole();
        kept.fit = null;
        hold();
        moved(true);
    }).observe(frame);

    return {
        element: frame,
        view,
        fit,
        whole,
        drawing: setDrawing,
        zoomBy: (by) => zoomAt(size.width / 2, size.height / 2, by),
        setMarks: (list) => {
            state.marks = list;
            drawSoon();
        },
        setBox: (box) => {
            state.box = box;
            drawSoon();
        },
        setPlaces: (list) => {
            state.places = list;
            drawSoon();
        },
        /** Go to a place {latitude, longitude, box} and mark it. */
        show: (place) => {
            state.found = place;
            if (place.box) return fit(place.box, 11);
            kept.x = xOf(place.longitude);
            kept.y = yOf(place.latitude);
            kept.zoom = Math.max(kept.zoom, 8);
            hold();
            moved(true);
        },
    };
}
