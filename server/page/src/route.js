// Addresses of views, behind "#": what is shown is in the address, so it can be sent to somebody.
//
//     #/                          collections
//     #/c/NAME                    its clusters (view=list|map|tree, only, filter, sort)
//     #/c/NAME/cluster/ID         one
//     #/c/NAME/doc/ID             a document
//     #/c/NAME/diff               what changed (from, to)
//     #/c/NAME/fields             clusters by a field (field, time, value, values, sort)
//     #/c/NAME/documents          a map of all documents (x, y, zoom, colour)
//     #/c/NAME/news               what is new, and what was told
//     #/c/NAME/duplicates         documents that are nearly the same (min)
//     #/c/NAME/builds             builds that are kept
//     #/c/NAME/edits              what people changed in clusters
//     #/c/NAME/topics             topics that people described
//     #/c/NAME/settings           its configurations
//     #/c/NAME/number             how many clusters
//     #/c/NAME/search?q=          documents; #/search?q= of all collections
//     #/tweets                    tweets (words, field, user, lang, from, to, box, by)
//
// with config=, build= and namespace= behind "?".

const COLLECTION_VIEWS = [
    'builds',
    'diff',
    'documents',
    'duplicates',
    'edits',
    'fields',
    'news',
    'number',
    'search',
    'settings',
    'topics',
];

const decode = (s) => {
    try {
        return decodeURIComponent(s);
    } catch {
        return s;
    }
};

export function read(hash = location.hash) {
    const [path, search = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
    const parts = path.split('/').filter(Boolean).map(decode);
    const values = Object.fromEntries(new URLSearchParams(search));
    const route = { view: 'nothing', values };
    if (parts.length === 0) route.view = 'collections';
    else if (['search', 'tweets'].includes(parts[0]) && parts.length === 1) route.view = parts[0];
    else if (parts[0] === 'c' && parts.length >= 2) {
        route.collection = parts[1];
        if (parts.length === 2) route.view = 'clusters';
        else if (COLLECTION_VIEWS.includes(parts[2]) && parts.length === 3)
            route.view = parts[2];
        else if (['cluster', 'doc'].includes(parts[2]) && parts.length === 4) {
            route.view = parts[2];
            route.id = parts[3];
        }
    }
    return route;
}

/** The address of parts ("c", name, "cluster", 7) with values; what all views share is kept. */
export function to(parts, values = {}, keep = ['config', 'build', 'namespace']) {
    const now = read().values;
    const all = {};
    for (const name of keep) if (now[name] && parts.length) all[name] = now[name];
    if (now.namespace) all.namespace = now.namespace;
    Object.assign(all, values);
    const search = new URLSearchParams(
        Object.entries(all).filter(([, v]) => v !== undefined && v !== null && v !== ''),
    );
    const text = search.toString();
    return '#/' + parts.map((p) => encodeURIComponent(p)).join('/') + (text ? '?' + text : '');
}

/** The same view with other values. */
export function withValues(values) {
    const [path] = location.hash.split('?');
    const all = { ...read().values, ...values };
    const search = new URLSearchParams(
        Object.entries(all).filter(([, v]) => v !== undefined && v !== null && v !== ''),
    );
    const text = search.toString();
    return (path || '#/') + (text ? '?' + text : '');
}

const pathOf = (hash) => hash.split('?')[0];

let arrived = ''; /* path of the view on the screen */
export const arrive = (hash) => (arrived = pathOf(hash));

/**
 * Put values into the address without going anywhere: what was chosen on the view can be sent. Where the
 * address is another view's already, which is still being read, they are not of that one.
 */
export function note(values) {
    if (pathOf(location.hash) !== arrived) return;
    history.replaceState(history.state, '', withValues(values));
}
