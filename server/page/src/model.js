// What several views need of a collection: its builds, and its clusters' trends.
import { at, json, query } from './api.js';

const single = (answer) => (Array.isArray(answer) ? answer[0] : answer);

/** A collection with one configuration's builds; `build` is the one that is shown, or undefined. */
export async function readPlace({ collection, values }, signal) {
    const config = values.config || 'default';
    const [info, configurations, builds] = await Promise.all([
        json(at`v1/collections/${collection}`, { signal }).then(single),
        json(at`v1/collections/${collection}/configurations`, { signal }),
        json(at`v1/collections/${collection}/builds` + query({ config }), { signal }),
    ]);
    const wanted = values.build;
    const build = wanted
        ? builds.find((b) => String(b.build) === wanted)
        : builds.find((b) => b.served);
    const older = build && builds.find((b) => b.build < build.build);
    return {
        collection,
        config,
        info,
        builds,
        build,
        older,
        wanted,
        configurations: configurations.map((c) => c.configuration),
        changed: !!(build?.served && info.modified && Date.parse(info.modified) > build.build),
        /* Of parameters that name the build: reads of a view are of one build, whatever is published. */
        where: { config: config === 'default' ? '' : config, build: build?.build },
    };
}

const MOST_PERIODS = 36;

/* How many periods lie between the first document and the last. */
function span(rows) {
    const n = rows[0].periods.length;
    for (let i = 0; i < n; i++) if (rows.some((r) => r.periods[i].documents)) return n - i;
    return 0;
}

const known = new Map();

async function askForTrends(place) {
    const path = at`v1/collections/${place.collection}/clusters`;
    const read = (by, periods) => json(path + query({ ...place.where, by, periods }));
    const rows = await read('month', MOST_PERIODS);
    if (!rows.length || !rows[0].to) return null;
    const months = span(rows);
    const unit = months <= 2 ? 'day' : months <= 9 ? 'week' : 'month';
    /* Of fewer months than were asked for, a quarter is to be recent, too. */
    const chosen =
        months === rows[0].periods.length
            ? rows
            : await read(unit, unit === 'month' ? months : unit === 'week' ? 40 : 62);
    const from = chosen[0].periods.length - span(chosen);
    for (const r of chosen) r.shown = r.periods.slice(from);
    return { unit, rows: new Map(chosen.map((r) => [r.cluster, r])) };
}

/** {unit, rows: cluster -> row} of a build's documents over time; null where they have none. */
export function readTrends(place) {
    const key = JSON.stringify([
        place.collection,
        place.config,
        place.build.build,
        place.info.modified,
    ]);
    if (!known.has(key)) {
        if (known.size > 8) known.clear();
        const asked = askForTrends(place);
        asked.catch(() => known.delete(key));
        known.set(key, asked);
    }
    return known.get(key);
}

/** cluster -> row of diff since the build before; null where there is none. */
export async function readChanges(place, signal) {
    if (!place.older) return null;
    const rows = await json(
        at`v1/collections/${place.collection}/diff` +
            query({ config: place.where.config, from: place.older.build, to: place.build.build }),
        { signal },
    );
    return new Map(rows.map((r) => [r.cluster, r]));
}
