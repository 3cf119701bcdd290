// What several views need of a collection: its builds, and its clusters' trends.
import { at, has, json, Problem, query, told } from './api.js';
import { readEdits } from './parts/others.js';

const single = (answer) => (Array.isArray(answer) ? answer[0] : answer);

/** The build of a place, or undefined where nothing is clustered yet; fails where the address has one that is gone. */
export function buildOf(place) {
    if (place.wanted && !place.build)
        throw new Problem(404, 'Not Found', 'This build is no longer kept.');
    return place.build;
}

/** A collection with one configuration's builds; `build` is the one that is shown, or undefined. */
export async function readPlace({ collection, values }, signal) {
    const config = values.config || 'default';
    const editable = await has('/v1/collections/{collection}/edits');
    /* Before the clusters: an edit that comes between is seen later on. */
    const [info, configurations, builds, edits, topics] = await Promise.all([
        json(at`v1/collections/${collection}`, { signal }).then(single),
        json(at`v1/collections/${collection}/configurations`, { signal }),
        json(at`v1/collections/${collection}/builds` + query({ config }), { signal }),
        editable ? readEdits({ collection, config }, { signal }) : undefined,
        has('/v1/collections/{collection}/topics'),
    ]);
    const wanted = values.build;
    const build = wanted
        ? builds.find((b) => String(b.build) === wanted)
        : builds.find((b) => b.served);
    const older = build && builds.find((b) => b.build < build.build);
    return {
        namespace: values.namespace ?? '',
        collection,
        config,
        info,
        builds,
        editable,
        topics,
        edits,
        build,
        older,
        wanted,
        configurations: configurations.map((c) => c.configuration),
        changed: !!(build?.served && info.modified && Date.parse(info.modified) > build.build),
        /* Of parameters that name the build: reads of a view are of one build, whatever is published. */
        where: { config: config === 'default' ? '' : config, build: build?.build },
    };
}

const known = new Map();
/* An edit changes a build in its place. This listener is there before the one that shows the view anew. */
addEventListener('page:refresh', () => known.clear());

/* The server says by which unit, which periods are recent, and what rises. */
async function askForTrends(place) {
    const rows = await json(
        at`v1/collections/${place.collection}/clusters` +
            query({ ...place.where, by: 'auto', hidden: true }),
    );
    if (!rows.length || !rows[0].to) return null;
    return { unit: rows[0].unit, rows: new Map(rows.map((r) => [r.cluster, r])) };
}

/**
 * {unit, rows: cluster -> row} of a build's documents over time; null where they have none. `clusters` are
 * rows that have just been read: where their sizes are others than those that were read with the trends,
 * somebody has changed the clusters of the build since, and they are read anew.
 */
export async function readTrends(place, clusters = []) {
    const key = JSON.stringify([
        place.collection,
        place.config,
        place.build.build,
        place.build.edits,
        place.info.modified,
    ]);
    const anew = () => {
        if (known.size > 8) known.clear();
        const asked = askForTrends(place);
        asked.catch(() => known.delete(key));
        known.set(key, asked);
        return asked;
    };
    if (!known.has(key)) return anew();
    const trends = await known.get(key);
    const same = !trends || clusters.every((c) => c.candidate || trends.rows.get(c.cluster)?.size === c.size);
    return same ? trends : anew();
}

/** cluster -> row of diff since the build before; null where there is none. */
export async function readChanges(place, signal) {
    if (!place.older) return null;
    const { rows } = await told(
        at`v1/collections/${place.collection}/diff` +
            query({ config: place.where.config, from: place.older.build, to: place.build.build }),
        { signal },
    );
    return new Map(rows.map((r) => [r.cluster, r]));
}
