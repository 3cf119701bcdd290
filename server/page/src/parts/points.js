// The documents of a build on their map, read as they come; kept, since it is worked out anew each time.
import { at, query, rows } from '../api.js';

const LONGEST = 240 /* letters of a text that are kept */,
    VALUES = 20 /* of a field by which documents are coloured */,
    STEP = 1000;

/** The value of a document that has none. */
export const NONE = 255;

let latest = null; /* {key, edits, data} */

const keyOf = (place, namespace) =>
    JSON.stringify([namespace, place.collection, place.config, place.build.build, place.info.modified]);

const membershipsPath = (place, values) =>
    at`v1/collections/${place.collection}/memberships` + query({ ...place.where, ...values });

/* Values of fields: of each document the number of its value, as long as there are few. */
class Fields {
    constructor(capacity) {
        this.capacity = capacity;
        this.all = new Map();
    }

    add(i, name, value) {
        if (value === null || typeof value === 'object') return;
        let f = this.all.get(name);
        if (!f) this.all.set(name, (f = { values: new Map(), codes: new Uint8Array(this.capacity).fill(NONE) }));
        if (!f.values) return;
        const known = f.values.get(value);
        if (known) known.n++;
        else if (f.values.size === VALUES) return Object.assign(f, { values: null, codes: null });
        else f.values.set(value, { code: f.values.size, n: 1 });
        f.codes[i] = f.values.get(value).code;
    }

    /* name -> {values: [[value, {code, n}]], the most frequent first, codes} */
    few() {
        return new Map(
            [...this.all]
                .filter(([, f]) => f.values?.size > 1)
                .map(([name, f]) => [name, { codes: f.codes, values: [...f.values].sort((a, b) => b[1].n - a[1].n) }]),
        );
    }
}

async function readAll(place, signal, told) {
    const capacity = place.build.documents,
        fields = new Fields(capacity);
    const data = {
        n: 0,
        x: new Float32Array(capacity),
        y: new Float32Array(capacity),
        cluster: new Int32Array(capacity),
        ids: [],
        texts: [],
        without: 0,
    };
    let read = 0;
    for await (const row of rows(membershipsPath(place, { map: true, 'with-text': true }), { signal })) {
        if (++read % STEP === 1) told(read);
        if (row.x === null || row.cluster === null) {
            data.without++;
            continue;
        }
        const i = data.n++;
        data.x[i] = row.x;
        data.y[i] = row.y;
        data.cluster[i] = row.cluster;
        data.ids.push(row.id);
        data.texts.push(row.text.slice(0, LONGEST));
        if (row.lang) fields.add(i, 'lang', row.lang);
        for (const [name, value] of Object.entries(row.fields ?? {})) fields.add(i, name, value);
    }
    data.fields = fields.few();
    return data;
}

/* Edits change clusters and move no point: on the map that one has, each stays where it is. */
async function readClusters(place, data, signal) {
    const places = new Map(data.ids.map((id, i) => [id, i])),
        cluster = data.cluster.slice();
    for await (const row of rows(membershipsPath(place, {}), { signal }))
        if (places.has(row.id) && row.cluster !== null) cluster[places.get(row.id)] = row.cluster;
    data.cluster = cluster;
}

/**
 * {n, x, y, cluster, ids, texts, fields, without: documents that have no place}; told(n) says how many have
 * been read, 0 while the map is worked out.
 */
export async function readPoints(place, { namespace = '', signal, told }) {
    const key = keyOf(place, namespace);
    told(0);
    if (latest?.key !== key) latest = { key, edits: place.edits, data: await readAll(place, signal, told) };
    else if (latest.edits !== place.edits) {
        await readClusters(place, latest.data, signal);
        latest.edits = place.edits;
    }
    return latest.data;
}
