// Makes built/land.json, what the map of tweets is drawn from. Run by build.mjs.
//
// Source: Natural Earth, in the public domain (naturalearthdata.com). Coasts and borders are those of
// its 1:50m countries, version 4.1.0, as npm's world-atlas 2.0.2 has them in TopoJSON; cities.json is
// its 1:110m populated places, version 2.0.0, as Debian's python3-geopandas 0.12.2 has them.
//
//     lines      line of points: longitude and latitude in hundredths of a degree, the difference to
//                the point before, as Google's "encoded polyline" writes numbers
//     land       polygons' rings of lines; -1 - i is line i from its end
//     borders    lines that two countries share
//     countries  name, longitude, latitude, width in degrees: the largest first
//     cities     name, longitude, latitude
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));

/* Points that are less than this beside the line that is left are dropped; islands that are smaller, too. */
const TOLERANCE = 0.05,
    SMALLEST = 0.15,
    UNITS = 100;

function pointsOf(arc, { scale, translate }) {
    let x = 0,
        y = 0;
    return arc.map(([dx, dy]) => {
        x += dx;
        y += dy;
        return [x * scale[0] + translate[0], y * scale[1] + translate[1]];
    });
}

/* Distance of p from the line from a to b, in degrees of latitude. */
function beside(p, a, b) {
    const shrink = Math.max(0.2, Math.cos((p[1] * Math.PI) / 180));
    const [x, y, dx, dy] = [
        (p[0] - a[0]) * shrink,
        p[1] - a[1],
        (b[0] - a[0]) * shrink,
        b[1] - a[1],
    ];
    const length = dx * dx + dy * dy;
    const t = length ? Math.max(0, Math.min(1, (x * dx + y * dy) / length)) : 0;
    return Math.hypot(x - t * dx, y - t * dy);
}

/* Douglas and Peucker, Cartographica 10 (1973) 112-122. The ends stay: arcs go on meeting. */
function simplify(points) {
    const keep = new Set([0, points.length - 1]),
        stack = [[0, points.length - 1]];
    while (stack.length) {
        const [from, to] = stack.pop();
        let most = 0,
            at = 0;
        for (let i = from + 1; i < to; i++) {
            const d = beside(points[i], points[from], points[to]);
            if (d > most) [most, at] = [d, i];
        }
        if (most <= TOLERANCE) continue;
        keep.add(at);
        stack.push([from, at], [at, to]);
    }
    return points.filter((_, i) => keep.has(i));
}

function encodeNumber(v) {
    let n = v < 0 ? ~(v << 1) : v << 1,
        text = '';
    for (; n >= 32; n >>= 5) text += String.fromCharCode((32 | (n & 31)) + 63);
    return text + String.fromCharCode(n + 63);
}

function encodeLine(points) {
    let before = [0, 0],
        text = '';
    for (const p of points) {
        const at = p.map((v) => Math.round(v * UNITS));
        text += encodeNumber(at[0] - before[0]) + encodeNumber(at[1] - before[1]);
        before = at;
    }
    return text;
}

const polygonsOf = (g) =>
    g.type === 'Polygon' ? [g.arcs] : g.type === 'MultiPolygon' ? g.arcs : [];

export async function makeLand(out) {
    const world = JSON.parse(
        await readFile(path.join(here, '../node_modules/world-atlas/countries-50m.json'), 'utf8'),
    );
    const full = world.arcs.map((arc) => pointsOf(arc, world.transform)),
        points = full.map(simplify);
    /* Beyond 180 degrees where it crosses the antimeridian. */
    const ringOf = (ring, arcs) => {
        let before = null;
        return ring
            .flatMap((i) => (i < 0 ? [...arcs[~i]].reverse() : arcs[i]).slice(1))
            .map(([x, y]) => {
                if (before !== null) x += 360 * Math.round((before - x) / 360);
                before = x;
                return [x, y];
            });
    };
    const extent = (ring) => {
        const at = ringOf(ring, full),
            xs = at.map((p) => p[0]),
            ys = at.map((p) => p[1]);
        return {
            width: Math.max(...xs) - Math.min(...xs),
            height: Math.max(...ys) - Math.min(...ys),
        };
    };
    const isLarge = (ring) => {
        const { width, height } = extent(ring);
        return Math.max(width, height) > SMALLEST && ringOf(ring, points).length > 2;
    };

    const numbers = new Map(),
        lines = [];
    const numberOf = (arc) => {
        const i = arc < 0 ? ~arc : arc;
        if (!numbers.has(i)) {
            numbers.set(i, lines.length);
            lines.push(encodeLine(points[i]));
        }
        return arc < 0 ? ~numbers.get(i) : numbers.get(i);
    };
    const land = world.objects.land.geometries
        .flatMap(polygonsOf)
        .flat()
        .filter(isLarge)
        .map((ring) => ring.map(numberOf));
    const users = new Map();
    for (const [number, g] of world.objects.countries.geometries.entries())
        for (const arc of polygonsOf(g).flat(2)) {
            const i = arc < 0 ? ~arc : arc;
            users.set(i, (users.get(i) ?? new Set()).add(number));
        }
    const borders = [...users].filter(([, of]) => of.size > 1).map(([i]) => numberOf(i));

    /* The middle of a country's largest part. */
    const areaOf = (at) =>
        at.reduce((sum, [x, y], i) => {
            const [u, v] = at[(i + 1) % at.length];
            return sum + (x * v - u * y) / 2;
        }, 0);
    const countries = world.objects.countries.geometries
        .map((g) => {
            const parts = polygonsOf(g).map((p) => ({ ring: p[0], at: ringOf(p[0], full) }));
            const { ring, at } = parts.reduce((a, b) =>
                Math.abs(areaOf(b.at)) > Math.abs(areaOf(a.at)) ? b : a,
            );
            const area = areaOf(at);
            const middle = [0, 1].map(
                (k) =>
                    at.reduce((sum, p, i) => {
                        const q = at[(i + 1) % at.length];
                        return sum + (p[k] + q[k]) * (p[0] * q[1] - q[0] * p[1]);
                    }, 0) /
                    (6 * area),
            );
            return {
                row: [
                    g.properties.name,
                    ...middle.map((v) => +v.toFixed(1)),
                    +Math.min(360, extent(ring).width).toFixed(1),
                ],
                area: Math.abs(area),
            };
        })
        .sort((a, b) => b.area - a.area)
        .map((c) => c.row);
    const cities = JSON.parse(await readFile(path.join(here, 'cities.json'), 'utf8'));
    await writeFile(
        path.join(out, 'land.json'),
        JSON.stringify({ lines, land, borders, countries, cities }) + '\n',
    );
}
