// All collections of the namespace.
import { json, query } from '../api.js';
import { h } from '../dom.js';
import { ago, count, moment, several } from '../format.js';
import { chooseFile } from '../parts/import.js';
import { table } from '../parts/table.js';
import * as route from '../route.js';
import { shown } from '../text.js';
import { readStats } from './tweets.js';

const MOST = 500;

const newest = (c) => c.configurations.reduce((t, x) => Math.max(t, x.build), 0);

function state(c) {
    const build = newest(c);
    if (!build) return 'not clustered';
    return c.modified && Date.parse(c.modified) > build ? 'changed since' : 'up to date';
}

const columns = [
    {
        title: 'Collection',
        key: 'collection',
        class: 'main',
        value: (c) => c.collection,
        cell: (c) =>
            h(
                'a',
                { class: 'row-link', href: route.to(['c', c.collection], {}, []) },
                shown(c.collection),
            ),
    },
    {
        title: 'Documents',
        key: 'size',
        numeric: true,
        value: (c) => c.size,
        cell: (c) => count(c.size),
    },
    {
        title: 'Configurations',
        key: 'configurations',
        class: 'wide',
        value: (c) => c.configurations.map((x) => x.configuration).join(' '),
        cell: (c) =>
            c.configurations.flatMap((x, i) => [
                i ? ', ' : '',
                h(
                    'a',
                    { href: route.to(['c', c.collection], { config: x.configuration }, []) },
                    shown(x.configuration),
                ),
            ]),
    },
    {
        title: 'Last build',
        key: 'built',
        value: (c) => (newest(c) ? new Date(newest(c)).toISOString() : ''),
        cell: (c) => (newest(c) ? h('time', { title: moment(newest(c)) }, ago(newest(c))) : ''),
    },
    {
        title: 'Last change',
        key: 'modified',
        class: 'wide',
        value: (c) => c.modified ?? '',
        cell: (c) => (c.modified ? h('time', { title: moment(c.modified) }, ago(c.modified)) : ''),
    },
    {
        title: 'State',
        key: 'state',
        value: state,
        cell: (c) => h('span', { class: 'state ' + state(c).replace(' ', '-') }, state(c)),
    },
];

export async function collections({ values, kept }, { signal }) {
    const prefix = values.prefix ?? '';
    const rows = await json('v1/collections' + query({ prefix, limit: MOST }), { signal });
    const stats = await readStats(signal).catch(() => null);
    const tweets =
        stats?.tweets > 0 &&
        h(
            'a',
            { class: 'button', href: route.to(['tweets'], {}, []) },
            several(stats.tweets, 'tweet'),
        );
    const add = h(
        'button',
        { type: 'button', class: 'primary', onclick: () => chooseFile('') },
        'Import…',
    );
    const title = h('h1', {}, 'Collections');
    if (!rows.length && !prefix)
        return {
            title: 'Collections',
            element: [
                h('div', { class: 'head' }, title, tweets && h('div', { class: 'tools' }, tweets)),
                h(
                    'div',
                    { class: 'empty' },
                    h('p', {}, 'There is no collection yet.'),
                    h(
                        'p',
                        { class: 'quiet' },
                        'Drop files of documents here, or choose some: Excel workbooks, CSV, TSV, JSON, JSON Lines, or a zip of texts.',
                    ),
                    add,
                ),
            ],
        };
    const list = table({ name: 'collections', label: 'Collections', columns, rows, kept });
    const filter = h('input', {
        type: 'search',
        class: 'filter',
        value: prefix,
        placeholder: 'Names that begin with …',
        'aria-label': 'Names that begin with',
        onchange: (e) => {
            location.hash = route.withValues({ prefix: e.target.value });
        },
    });
    const documents = rows.reduce((s, c) => s + c.size, 0);
    return {
        title: 'Collections',
        element: [
            h(
                'div',
                { class: 'head' },
                title,
                h(
                    'p',
                    { class: 'facts' },
                    rows.length === MOST ? `the first ${MOST}` : several(rows.length, 'collection'),
                    ` · ${several(documents, 'document')}`,
                ),
                h('div', { class: 'tools' }, filter, list.csv, tweets, add),
            ),
            list.element,
        ],
    };
}
