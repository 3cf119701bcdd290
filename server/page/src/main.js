// The page: an address behind "#" is a view; a view reads what it shows and gives its elements.
import { useNamespace } from './api.js';
import { announce, h } from './dom.js';
import { acceptDrops } from './parts/import.js';
import { listen } from './parts/keys.js';
import { crumbs, dark, restoreTheme, shell } from './parts/shell.js';
import { onPublished, watch } from './parts/tasks.js';
import * as route from './route.js';
import { plain } from './text.js';
import { cluster } from './views/cluster.js';
import { clusters } from './views/clusters.js';
import { collections } from './views/collections.js';
import { diff } from './views/diff.js';
import { documentView } from './views/document.js';
import { search } from './views/search.js';

const views = { collections, clusters, cluster, doc: documentView, diff, search };

let showing = new AbortController();
let last = '';

const failed = (e) => ({
    title: 'Not shown',
    element: h(
        'div',
        { class: 'empty', role: 'alert' },
        h('h1', {}, e.status === 404 ? 'It is not there' : 'This cannot be shown'),
        h('p', {}, plain(e.message)),
        h('p', {}, h('button', { type: 'button', onclick: () => show() }, 'Try again')),
    ),
});

/* What is on the screen stays until the new view is there as a whole. */
async function show({ refreshed } = {}) {
    const where = route.read(),
        main = document.getElementById('main');
    showing.abort();
    const mine = (showing = new AbortController());
    useNamespace(where.values.namespace);
    main.setAttribute('aria-busy', 'true');
    let made;
    try {
        if (!views[where.view])
            throw Object.assign(new Error('There is nothing at this address.'), { status: 404 });
        made = await views[where.view](where, { signal: mine.signal });
    } catch (e) {
        if (mine.signal.aborted) return;
        made = { collection: where.collection, ...failed(e) };
    }
    if (mine.signal.aborted) return;
    const scroll = refreshed || last.split('?')[0] === location.hash.split('?')[0] ? scrollY : 0;
    last = location.hash;
    main.removeAttribute('aria-busy');
    main.replaceChildren(...[made.element].flat(Infinity).filter(Boolean));
    main.dataset.view = where.view;
    main.dataset.build = made.place?.build?.build ?? '';
    crumbs(made);
    document.title = plain(made.title) + ' · Grouperfish';
    scrollTo(0, scroll);
    announce(refreshed ? 'A new build is shown' : plain(made.title));
}

function up() {
    const where = route.read();
    if (where.view === 'collections') return;
    const inside = where.collection && where.view !== 'clusters';
    location.hash = inside ? route.to(['c', where.collection]) : route.to([], {}, []);
}

/* Whoever looks at an older build, on purpose, goes on doing so; the diff shows two that are named. */
function changeTo(collection) {
    const where = route.read();
    if (where.view === 'collections' || where.collection === collection) show({ refreshed: true });
}

restoreTheme();
shell();
listen({ up, dark });
acceptDrops(() => route.read().collection);
onPublished(changeTo);
addEventListener('hashchange', () => show());
addEventListener('page:refresh', () => show());
show().then(watch);
