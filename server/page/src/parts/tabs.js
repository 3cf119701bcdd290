// Ways to look at a collection's clusters, each a link.
import { h } from '../dom.js';
import * as route from '../route.js';

/* Those of the clusters' own address come with view=; the others have an address of theirs. */
const VIEWS = [
    ['list', 'List'],
    ['map', 'Map'],
    ['tree', 'Tree'],
    ['fields', 'By field', 'fields'],
    ['documents', 'Documents', 'documents'],
];
const VIEW = 'grouperfish.view';

/* As the address has it; else as it was chosen last, but on a phone the list. */
export function viewOf(values) {
    const names = VIEWS.filter(([, , own]) => !own).map(([name]) => name);
    if (names.includes(values.view)) return values.view;
    const last = localStorage.getItem(VIEW);
    return names.includes(last) && !matchMedia('(max-width: 720px)').matches ? last : 'list';
}

/** now: the one that is shown. */
export function tabs(now, collection) {
    const outside = VIEWS.some(([name, , own]) => own && name === now);
    const addressOf = (view, own) =>
        own
            ? route.to(['c', collection, own])
            : outside
              ? route.to(['c', collection], { view })
              : route.withValues({ view });
    return h(
        'div',
        { class: 'tabs', role: 'group', 'aria-label': 'Show' },
        VIEWS.map(([view, title, own]) =>
            h(
                'a',
                {
                    href: addressOf(view, own),
                    'aria-current': now === view ? 'true' : null,
                    onclick: (e) => {
                        if (!own) localStorage.setItem(VIEW, view);
                        /* A filter may have been typed since. */
                        e.currentTarget.href = addressOf(view, own);
                    },
                },
                title,
            ),
        ),
    );
}
