// Points on a canvas, with names over them: it moves and zooms, and a line around points picks them.
import { h } from '../dom.js';
import { plain } from '../text.js';
import { gestures } from './gestures.js';

const MOST_ZOOM = 12 /* doublings from all of it */,
    STEP = 60 /* px that an arrow moves */,
    NEAR = 9 /* px within which a point is under the mouse */,
    NEAR_FINGER = 24 /* and under a finger, which hides what it touches */,
    NAMES = 80 /* on the screen at most */,
    IN_VIEW = 0.03 /* of the points in view, for a name whose middle is out of it */,
    LONGEST = 44 /* letters of a name */,
    LINE = 20 /* and of a line of it */,
    SMALLEST = 12 /* px of its letters */,
    COVERED = 0.4 /* of the ground of the points that their dots cover */,
    TURNED = 1.15; /* times larger, for which the map lies on its side */

/** The colour of a point that is not drawn. */
export const NOWHERE = 65535;

/* Where a name is tried, in its own halves from its middle: on it, over and under it, beside it, farther around. */
const AROUND = [
    [0, 0],
    ...[1, 2, 3].flatMap((far) => [
        [0, -far],
        [0, far],
        ...(far > 1 ? [] : [[0.6, -1], [-0.6, -1], [0.6, 1], [-0.6, 1]]),
        [far * 0.7, 0],
        [-far * 0.7, 0],
        [far * 0.7, -far],
        [-far * 0.7, -far],
        [far * 0.7, far],
        [-far * 0.7, far],
    ]),
];

const clamp = (v, least, most) => Math.max(least, Math.min(most, v));

/** Points inside a closed line: every crossing to the right of a point turns inside out. */
export function inside(line, x, y) {
    let is = false;
    for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
        const a = line[i],
            b = line[j];
        if (a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x) is = !is;
    }
    return is;
}

/* Points by cells of a grid, about four in each. */
function gridOf({ n, x, y }, box) {
    const side = Math.max(1, Math.ceil(Math.sqrt(n / 4))),
        width = (box.east - box.west) / side || 1,
        height = (box.south - box.north) / side || 1;
    let filled = 0; /* cells with points */
    const column = (v) => clamp(Math.floor((v - box.west) / width), 0, side - 1),
        row = (v) => clamp(Math.floor((v - box.north) / height), 0, side - 1);
    const begin = new Uint32Array(side * side + 1),
        members = new Uint32Array(n);
    for (let i = 0; i < n; i++) begin[row(y[i]) * side + column(x[i]) + 1]++;
    for (let c = 0; c < side * side; c++) {
        if (begin[c + 1]) filled++;
        begin[c + 1] += begin[c];
    }
    const next = begin.slice();
    for (let i = 0; i < n; i++) members[next[row(y[i]) * side + column(x[i])]++] = i;
    return {
        /** How much of the map has points. */
        ground: filled * width * height,
        /** Calls back with the points around a place. */
        around(px, py, radius, found) {
            const last = column(px + radius);
            for (let r = row(py - radius); r <= row(py + radius); r++)
                for (let c = column(px - radius); c <= last; c++)
                    for (let m = begin[r * side + c]; m < begin[r * side + c + 1]; m++) found(members[m]);
        },
    };
}

/* What a disc of this radius covers of each pixel around its middle: steps in a picture of that width, and shares. */
function discOf(radius, width) {
    const side = Math.ceil(radius),
        steps = [],
        shares = [];
    for (let dy = -side; dy <= side; dy++)
        for (let dx = -side; dx <= side; dx++) {
            const covered = clamp(radius + 0.5 - Math.hypot(dx, dy), 0, 1);
            if (covered === 0) continue;
            steps.push((dy * width + dx) * 4);
            shares.push(covered);
        }
    return { side, steps: Int32Array.from(steps), shares: Float32Array.from(shares) };
}

/** CSS colours as the element has them now, each as [red, green, blue]. */
export function coloursOf(element, names) {
    const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true }),
        probe = h('i', { hidden: true });
    element.append(probe);
    const found = names.map((name) => {
        probe.style.color = name;
        context.fillStyle = getComputedStyle(probe).color;
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
    });
    probe.remove();
    return found;
}

/**
 * points: {n, x, y}, of finite numbers. view: {x, y, zoom} or null for all of it; moved(view) is told once
 * it rests. tip(i): what is shown of a point; open(i) goes to it; picked(points) has those within a line;
 * listed() asks for those in view.
 */
export function scatter({ label, points, view, moved, tip, open, picked, listed, drawingChanged }) {
    const { n } = points;
    let { x, y } = points /* across and down; the other way about where the map lies on its side */,
        turned = false,
        box,
        grid,
        whole;
    function laid() {
        box = { west: Infinity, east: -Infinity, north: Infinity, south: -Infinity };
        for (let i = 0; i < n; i++) {
            box.west = Math.min(box.west, x[i]);
            box.east = Math.max(box.east, x[i]);
            box.north = Math.min(box.north, y[i]);
            box.south = Math.max(box.south, y[i]);
        }
        grid = gridOf({ n, x, y }, box);
        whole = { x: (box.west + box.east) / 2, y: (box.north + box.south) / 2, zoom: 0 };
    }
    laid();
    const at = { ...whole, ...view };
    const aside = (place) => ({ ...place, x: place.y, y: place.x });
    const canvas = h('canvas', { 'aria-hidden': 'true' }),
        names = h('div', { class: 'names' }),
        told = h('div', { class: 'point-tip', hidden: true });
    const frame = h(
        'div',
        {
            class: 'map points',
            tabindex: '0',
            role: 'application',
            'aria-label': label,
            'aria-roledescription': 'map',
            onkeydown: pressed,
        },
        canvas,
        names,
        told,
    );
    const context = canvas.getContext('2d'),
        state = { codes: new Uint16Array(n), palette: ['var(--accent)'], named: [], chosen: null };
    let size = { width: 0, height: 0 },
        image = null,
        rgb = [],
        drawing = false,
        line = null,
        under = -1 /* the point under the pointer */,
        touched = false /* by a finger, the last time */,
        waiting = 0,
        resting = 0;

    const scale = () =>
        0.9 *
        Math.min(size.width / (box.east - box.west || 1), size.height / (box.south - box.north || 1)) *
        2 ** at.zoom;
    const screenX = (v) => (v - at.x) * scale() + size.width / 2,
        screenY = (v) => (v - at.y) * scale() + size.height / 2,
        dataX = (px) => (px - size.width / 2) / scale() + at.x,
        dataY = (py) => (py - size.height / 2) / scale() + at.y;
    /* Directions say nothing: a long map lies as the frame does. */
    function turn() {
        const [w, t] = [box.east - box.west || 1, box.south - box.north || 1],
            now = Math.min(size.width / w, size.height / t),
            other = Math.min(size.width / t, size.height / w);
        if (other < TURNED * now) return;
        turned = !turned;
        [x, y] = [y, x];
        Object.assign(at, aside(at));
        laid();
        frame.dataset.turned = turned;
    }

    const isShown = (i) => state.codes[i] !== NOWHERE;

    const held = new Uint32Array(n);
    function inView() {
        const [west, east, north, south] = [dataX(0), dataX(size.width), dataY(0), dataY(size.height)];
        let found = 0;
        for (let i = 0; i < n; i++)
            if (state.codes[i] !== NOWHERE && x[i] >= west && x[i] <= east && y[i] >= north && y[i] <= south) held[found++] = i;
        return held.subarray(0, found);
    }

    /* ---- drawing ------------------------------------------------------------------------------ */

    const ratio = () => Math.min(2, devicePixelRatio || 1);

    function readColours() {
        rgb = coloursOf(frame, ['var(--paper)', 'var(--ink)', ...state.palette]);
    }

    function drawPoints(seen) {
        const { width, height } = canvas;
        if (!image || image.width !== width || image.height !== height) image = context.createImageData(width, height);
        const bytes = image.data,
            paper = rgb[0];
        new Uint32Array(bytes.buffer).fill((255 << 24) | (paper[2] << 16) | (paper[1] << 8) | paper[0]);
        /* The fewer there are on their ground, the larger; on a small map less. */
        const room = Math.min(1, Math.sqrt(size.width * size.height) / 800),
            radius = clamp(Math.sqrt((COVERED * grid.ground) / n / Math.PI) * scale(), 1.2, 5 * room);
        const { side, steps, shares } = discOf(ratio() * radius, width),
            perUnit = scale() * ratio(),
            left = width / 2 - at.x * perUnit,
            top = height / 2 - at.y * perUnit;
        /* A point whose dot is not wholly inside is not drawn: it is at the very rim. */
        const stamp = (i, strength) => {
            const px = Math.round(x[i] * perUnit + left),
                py = Math.round(y[i] * perUnit + top);
            if (px < side || py < side || px >= width - side || py >= height - side) return;
            const [r, g, b] = rgb[state.codes[i] + 2],
                middle = (py * width + px) * 4;
            for (let s = 0; s < steps.length; s++) {
                const o = middle + steps[s],
                    a = shares[s] * strength;
                bytes[o] += (r - bytes[o]) * a;
                bytes[o + 1] += (g - bytes[o + 1]) * a;
                bytes[o + 2] += (b - bytes[o + 2]) * a;
            }
        };
        const { chosen } = state,
            strength = seen.length > 2000 ? 0.7 : 0.85;
        if (!chosen) for (const i of seen) stamp(i, strength);
        else {
            for (const i of seen) if (!chosen.has(i)) stamp(i, 0.16);
            for (const i of seen) if (chosen.has(i)) stamp(i, 1);
        }
        context.putImageData(image, 0, 0);
    }

    /* A name in one line or two, and half its size in letters of one px. */
    const linesOf = new Map();
    function nameLines(label) {
        if (linesOf.has(label)) return linesOf.get(label);
        const text = plain(label),
            cut = text.length > LONGEST ? text.slice(0, LONGEST - 1) + '…' : text,
            spaces = cut.length > LINE ? [...cut.matchAll(/ /g)].map((m) => m.index) : [];
        spaces.sort((a, b) => Math.abs(a - cut.length / 2) - Math.abs(b - cut.length / 2));
        const lines = spaces.length ? [cut.slice(0, spaces[0]), cut.slice(spaces[0] + 1)] : [cut];
        context.font = `600 100px ${getComputedStyle(frame).fontFamily}`;
        const made = { lines, w: Math.max(...lines.map((l) => context.measureText(l).width)) / 200, half: 0.6 * lines.length };
        linesOf.set(label, made);
        return made;
    }

    const linked = []; /* names that are beside their middle: {px, py, x, y} */

    /*
     * The largest first. A name is on the middle of its points, or near it where another one is: beside its own
     * points still, with a line to them where it is farther; one that has no room is left out until one is nearer.
     */
    function drawNames(seen) {
        const { named } = state,
            count = new Uint32Array(named.length),
            sumX = new Float64Array(named.length),
            sumY = new Float64Array(named.length);
        for (const i of seen) {
            const g = points.group[i];
            count[g]++;
            sumX[g] += x[i];
            sumY[g] += y[i];
        }
        const some = [...named.keys()].filter((g) => named[g] && count[g]);
        some.sort((a, b) => named[b].size - named[a].size || a - b);
        const largest = named.reduce((most, c) => Math.max(most, c?.size ?? 0), 1),
            most = clamp((13 + 14 * Math.sqrt(largest / n)) * Math.min(1, 0.4 + size.width / 1200), 13, 20);
        /* The buttons are in a corner. */
        const taken = [{ px: size.width - 24, py: 60, w: 24, half: 60 }],
            made = [];
        linked.length = 0;
        for (const g of some) {
            if (made.length === NAMES) break;
            const name = named[g],
                middle = turned ? aside(name) : name,
                { lines, w: letterWidth, half: lineHalf } = nameLines(name.label);
            let mx = screenX(middle.x),
                my = screenY(middle.y);
            if (mx < 0 || my < 0 || mx > size.width || my > size.height) {
                if (count[g] < IN_VIEW * seen.length) continue;
                mx = screenX(sumX[g] / count[g]);
                my = screenY(sumY[g] / count[g]);
            }
            const wanted = SMALLEST + (most - SMALLEST) * Math.sqrt(name.size / largest);
            let found = null;
            for (const letters of new Set([wanted, SMALLEST])) {
                const w = letterWidth * letters + 5,
                    half = lineHalf * letters + 2;
                for (const [dx, dy] of AROUND) {
                    const px = clamp(mx + dx * (w + 8), w, Math.max(w, size.width - w)),
                        py = clamp(my + dy * (half + 6), half, Math.max(half, size.height - half));
                    if (taken.some((t) => Math.abs(t.px - px) < t.w + w && Math.abs(t.py - py) < t.half + half)) continue;
                    found = { px, py, w, half, letters };
                    break;
                }
                if (found) break;
            }
            if (!found) continue;
            taken.push(found);
            if (Math.abs(found.px - mx) > found.w || Math.abs(found.py - my) > found.half) linked.push({ ...found, mx, my });
            made.push(
                h(
                    'span',
                    { style: { left: `${found.px}px`, top: `${found.py}px`, 'font-size': `${found.letters}px`, '--hue': name.colour } },
                    h(
                        'bdi',
                        {},
                        lines.flatMap((l, i) => (i ? [' ', h('br'), l] : [l])),
                    ),
                ),
            );
        }
        names.replaceChildren(...made);
    }

    /* From the rim of a name to the middle that it names. */
    function drawLinks() {
        const [r, g, b] = rgb[1];
        context.strokeStyle = context.fillStyle = `rgb(${r} ${g} ${b} / 0.55)`;
        context.lineWidth = 1;
        for (const { px, py, w, half, mx, my } of linked) {
            const [dx, dy] = [mx - px, my - py],
                rim = 1 / Math.max(Math.abs(dx) / w, Math.abs(dy) / half);
            context.beginPath();
            context.moveTo(px + dx * rim, py + dy * rim);
            context.lineTo(mx, my);
            context.stroke();
            context.beginPath();
            context.arc(mx, my, 2, 0, 2 * Math.PI);
            context.fill();
        }
    }

    function drawMarks() {
        context.setTransform(ratio(), 0, 0, ratio(), 0, 0);
        drawLinks();
        const [r, g, b] = rgb[1];
        context.strokeStyle = `rgb(${r} ${g} ${b})`;
        context.lineWidth = 2;
        if (under >= 0) {
            context.beginPath();
            context.arc(screenX(x[under]), screenY(y[under]), 7, 0, 2 * Math.PI);
            context.stroke();
        }
        if (line) {
            context.beginPath();
            line.forEach((p, i) => context[i ? 'lineTo' : 'moveTo'](p.x, p.y));
            context.closePath();
            context.setLineDash([5, 3]);
            context.stroke();
            context.setLineDash([]);
            context.fillStyle = `rgb(${r} ${g} ${b} / 0.08)`;
            context.fill();
        }
        context.setTransform(1, 0, 0, 1, 0, 0);
    }

    function draw() {
        if (!size.width) return;
        const seen = inView();
        drawPoints(seen);
        drawNames(seen);
        drawMarks();
        frame.dataset.seen = seen.length;
        frame.dataset.zoom = at.zoom.toFixed(2);
    }

    function drawSoon() {
        waiting ||= requestAnimationFrame(() => {
            waiting = 0;
            draw();
        });
    }

    /* ---- moving ------------------------------------------------------------------------------- */

    function changed() {
        at.zoom = clamp(at.zoom, 0, MOST_ZOOM);
        at.x = clamp(at.x, box.west, box.east);
        at.y = clamp(at.y, box.north, box.south);
        point(-1);
        drawSoon();
        clearTimeout(resting);
        resting = setTimeout(() => frame.isConnected && moved(turned ? aside(at) : { ...at }), 160);
    }

    function moveBy(dx, dy) {
        at.x -= dx / scale();
        at.y -= dy / scale();
        changed();
    }

    function zoomAt(px, py, by) {
        const [before, above] = [dataX(px), dataY(py)];
        at.zoom = clamp(at.zoom + by, 0, MOST_ZOOM);
        at.x += before - dataX(px);
        at.y += above - dataY(py);
        changed();
    }

    const zoomBy = (by) => zoomAt(size.width / 2, size.height / 2, by);

    function all() {
        Object.assign(at, whole);
        changed();
    }

    function pressed(e) {
        if (e.ctrlKey || e.metaKey || e.altKey) return;
        const done = {
            ArrowLeft: () => moveBy(STEP, 0),
            ArrowRight: () => moveBy(-STEP, 0),
            ArrowUp: () => moveBy(0, STEP),
            ArrowDown: () => moveBy(0, -STEP),
            '+': () => zoomBy(1),
            '=': () => zoomBy(1),
            '-': () => zoomBy(-1),
            0: all,
            l: listed,
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
        drawingChanged(on);
    }

    /* ---- what is under the pointer ------------------------------------------------------------ */

    function nearest(p, within = NEAR) {
        const radius = within / scale(),
            [px, py] = [dataX(p.x), dataY(p.y)];
        let best = -1,
            least = radius;
        grid.around(px, py, radius, (i) => {
            const d = Math.hypot(x[i] - px, y[i] - py);
            if (d <= least && isShown(i)) [best, least] = [i, d];
        });
        return best;
    }

    /* It says what a point is, and stays where it can be touched. */
    function point(i, stays = false) {
        if (i === under && !stays) return;
        under = i;
        told.hidden = i < 0;
        frame.classList.toggle('on-point', i >= 0);
        drawSoon();
        if (i < 0) return told.replaceChildren();
        told.replaceChildren(...[tip(i, stays)].flat());
        told.classList.toggle('touched', stays);
        const { offsetWidth: w, offsetHeight: t } = told,
            [px, py] = [screenX(x[i]), screenY(y[i])];
        told.style.left = `${clamp(px - w / 2, 4, Math.max(4, size.width - w - 4))}px`;
        told.style.top = `${py + 14 + t < size.height || py < t + 14 ? Math.min(py + 12, Math.max(4, size.height - t - 4)) : py - 12 - t}px`;
    }

    const { inside: place } = gestures(frame, {
        wants: () => drawing,
        moveBy,
        zoomAt,
        drawing: (now) => {
            line = now;
            point(-1);
            drawSoon();
        },
        drawn: (whole) => {
            line = null;
            drawSoon();
            if (!whole) return;
            setDrawing(false);
            const around = whole.map((p) => ({ x: dataX(p.x), y: dataY(p.y) })),
                found = [];
            for (let i = 0; i < n; i++) if (isShown(i) && inside(around, x[i], y[i])) found.push(i);
            picked(found);
        },
        tapped: (p, e) => {
            if (e.target.closest('.point-tip')) return;
            const isMouse = e.pointerType === 'mouse',
                i = nearest(p, isMouse ? NEAR : NEAR_FINGER);
            touched = !isMouse;
            if (isMouse && i >= 0) open(i);
            else point(i, true);
        },
        /* The page scrolls where there is no farther away. */
        wheeled: (e, by) => e.ctrlKey || by > 0 || at.zoom > 0,
    });
    frame.addEventListener('pointermove', (e) => {
        if (e.pointerType !== 'mouse' || e.buttons) return;
        point(nearest(place(e)));
    });
    frame.addEventListener('pointerleave', (e) => e.pointerType === 'mouse' && point(-1));
    frame.addEventListener('dblclick', (e) => {
        const p = place(e);
        if (nearest(p, touched ? NEAR_FINGER : NEAR) < 0) zoomAt(p.x, p.y, 1);
    });

    new ResizeObserver(() => {
        size = { width: frame.clientWidth, height: frame.clientHeight };
        if (!size.width) return;
        turn();
        canvas.width = Math.round(size.width * ratio());
        canvas.height = Math.round(size.height * ratio());
        readColours();
        draw();
    }).observe(frame);
    /* Light or dark has been chosen. */
    const themed = () => {
        if (!frame.isConnected) {
            watching.disconnect();
            return system.removeEventListener('change', themed);
        }
        readColours();
        draw();
    };
    const watching = new MutationObserver(themed),
        system = matchMedia('(prefers-color-scheme: dark)');
    watching.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    system.addEventListener('change', themed);

    return {
        element: frame,
        inView: () => [...inView()],
        whole: all,
        zoomBy,
        drawing: setDrawing,
        /** Colours: of each point the number of one in the palette of CSS colours; NOWHERE: it is not drawn. */
        paint: (codes, palette) => {
            Object.assign(state, { codes, palette });
            if (size.width) readColours();
            drawSoon();
        },
        /** Names by group: {label, x, y, size, colour} or nothing. */
        name: (named) => {
            state.named = named;
            drawSoon();
        },
        /** A set of points that stand out, or null. */
        choose: (chosen) => {
            state.chosen = chosen;
            drawSoon();
        },
    };
}
