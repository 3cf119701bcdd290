// What is around every view: where one is, the search field, light and dark, help.
import { searchParameter } from '../api.js';
import { h, svg } from '../dom.js';
import * as route from '../route.js';
import { shown } from '../text.js';
import { help } from './keys.js';
import { goUp } from './places.js';

const THEME = 'grouperfish.theme';

const isDark = () =>
    (document.documentElement.dataset.theme ??
        (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';

export function dark() {
    const theme = isDark() ? 'light' : 'dark';
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(THEME, theme);
}

export function restoreTheme() {
    const theme = localStorage.getItem(THEME);
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
}

const mark = () =>
    svg(
        'svg',
        { viewBox: '0 0 16 16', class: 'mark', 'aria-hidden': 'true' },
        svg('path', { d: 'M1 1h7v8H1zM10 1h5v3h-5zM10 6h5v3h-5zM1 11h5v4H1zM8 11h7v4H8z' }),
    );

const half = () =>
    svg(
        'svg',
        { viewBox: '0 0 16 16', class: 'mark', 'aria-hidden': 'true' },
        svg('path', { d: 'M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zm0 1.5v11a5.5 5.5 0 0 1 0-11z' }),
    );

function searchForm() {
    const field = h('input', {
        type: 'search',
        'aria-label': 'Search documents',
        placeholder: 'Search documents',
    });
    return h(
        'form',
        {
            id: 'search',
            role: 'search',
            hidden: true,
            onsubmit: (e) => {
                e.preventDefault();
                const { collection } = route.read();
                location.hash = route.to(
                    collection ? ['c', collection, 'search'] : ['search'],
                    { q: field.value },
                    ['config'],
                );
            },
        },
        field,
    );
}

/** The frame, once. */
export function shell() {
    document.body.replaceChildren(
        h(
            'a',
            {
                class: 'skip',
                href: '#main',
                onclick: (e) => {
                    e.preventDefault();
                    document.getElementById('main').focus();
                },
            },
            'To the content',
        ),
        h(
            'header',
            {},
            h('nav', { id: 'crumbs', 'aria-label': 'Where you are' }),
            searchForm(),
            h(
                'button',
                {
                    type: 'button',
                    class: 'plain',
                    title: 'Light or dark (d)',
                    'aria-label': 'Light or dark',
                    onclick: dark,
                },
                half(),
            ),
            h(
                'button',
                {
                    type: 'button',
                    class: 'plain',
                    title: 'Keys (?)',
                    'aria-label': 'Help',
                    onclick: help,
                },
                '?',
            ),
        ),
        h(
            'p',
            { id: 'lost', role: 'status', hidden: true },
            'The server does not answer. It is asked again until it does.',
        ),
        h('main', { id: 'main', tabindex: '-1' }),
        h('div', { id: 'dock' }),
        h('div', { id: 'announcer', class: 'heard', role: 'status', 'aria-live': 'polite' }),
    );
    searchParameter().then(
        (name) => {
            document.getElementById('search').hidden = !name;
        },
        () => {},
    );
}

/* A link to a level above, which is as it was left. */
const upward = (href, words) =>
    h(
        'a',
        {
            href,
            onclick: (e) => {
                if (e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
                e.preventDefault();
                goUp(href);
            },
        },
        words,
    );

/** Where one is; above is what the view was opened from; the last is the view itself. */
export function crumbs({ collection, above, crumb }) {
    const parts = [
        h(
            'a',
            {
                class: 'brand',
                href: route.to([], {}, []),
                'aria-label': 'Grouperfish: collections',
            },
            mark(),
            h('span', {}, 'Grouperfish'),
        ),
    ];
    if (collection)
        parts.push(
            crumb
                ? upward(route.to(['c', collection]), shown(collection))
                : h(
                      'a',
                      { href: route.to(['c', collection]), 'aria-current': 'page' },
                      shown(collection),
                  ),
        );
    if (above) parts.push(upward(above.href, shown(above.label, 60)));
    if (crumb) parts.push(h('span', { 'aria-current': 'page' }, shown(crumb, 60)));
    document.getElementById('crumbs').replaceChildren(...parts);
    const { values } = route.read();
    const field = document.querySelector('#search input');
    if (document.activeElement !== field) field.value = values.q ?? '';
    field.placeholder = collection ? 'Search this collection' : 'Search all collections';
}
