// The land of the map: coasts, borders and names, from page/land.json (made by map/make_land.mjs).
// Places are in the square of the Mercator projection: x 0..1 from west to east, y 0..1 from north
// to south.
import { json } from '../api.js';

/** Beyond this latitude the square ends; what is there is drawn at its edge. */
export const MOST_LATITUDE = 85.0511;

export const xOf = (longitude) => (longitude + 180) / 360;
export function yOf(latitude) {
    const held = Math.max(-MOST_LATITUDE, Math.min(MOST_LATITUDE, latitude));
    return 0.5 - Math.log(Math.tan(Math.PI / 4 + (held * Math.PI) / 360)) / (2 * Math.PI);
}
export const longitudeOf = (x) => x * 360 - 180;
export const latitudeOf = (y) => (Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) * 180) / Math.PI;

/** Paths are drawn in units of the square's side. */
export const UNITS = 4096;

const HUNDREDTHS = 100;

function pointsOf(line) {
    const points = [],
        at = [0, 0];
    let value = 0,
        shift = 0,
        axis = 0;
    for (let i = 0; i < line.length; i++) {
        const bits = line.charCodeAt(i) - 63;
        value |= (bits & 31) << shift;
        shift += 5;
        if (bits & 32) continue;
        at[axis] += value & 1 ? ~(value >> 1) : value >> 1;
        if (axis === 1) points.push([at[0] / HUNDREDTHS, at[1] / HUNDREDTHS]);
        axis = 1 - axis;
        value = shift = 0;
    }
    return points;
}

const written = ([longitude, latitude]) =>
    `${(xOf(longitude) * UNITS).toFixed(2)} ${(yOf(latitude) * UNITS).toFixed(2)}`;

/* A ring goes on beyond 180 degrees where it crosses the antimeridian; one around a pole is closed there. */
function ringPath(ring, lines) {
    const points = [];
    for (const i of ring)
        for (const [x, y] of i < 0 ? lines[~i].toReversed() : lines[i]) {
            const before = points.at(-1)?.[0] ?? x;
            points.push([x + 360 * Math.round((before - x) / 360), y]);
        }
    const first = points[0],
        last = points.at(-1);
    if (Math.abs(last[0] - first[0]) > 180) {
        const pole = first[1] < 0 ? -90 : 90;
        points.push([last[0], pole], [first[0], pole]);
    }
    return 'M' + points.map(written).join('L') + 'Z';
}

let asked;

/** {land, borders: paths; countries: [name, longitude, latitude, width in degrees]; cities: likewise without width} */
export function readLand() {
    asked ??= json('page/land.json').then(
        ({ lines: encoded, land, borders, countries, cities }) => {
            const lines = encoded.map(pointsOf);
            return {
                land: land.map((ring) => ringPath(ring, lines)).join(''),
                borders: borders.map((i) => 'M' + lines[i].map(written).join('L')).join(''),
                countries,
                cities,
            };
        },
    );
    asked.catch(() => (asked = undefined));
    return asked;
}
