// The builds that are kept: which is served, which are pinned, what each was made with.
import { at, order, query } from '../api.js';
import { h } from '../dom.js';
import { count, momentAmong, seconds, several } from '../format.js';
import { readPlace } from '../model.js';
import { choices } from '../parts/place.js';
import { confirm } from '../parts/dialog.js';
import { table } from '../parts/table.js';
import { failure, toast } from '../parts/toast.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';

const refresh = () => dispatchEvent(new CustomEvent('page:refresh'));

async function act(path, method, words, undo) {
    try {
        await order(path, { method });
        toast(words, undo);
        refresh();
    } catch (e) {
        failure(e);
    }
}

function columnsOf(place) {
    const all = place.builds.map((b) => b.build);
    const name = (b) => momentAmong(b.build, all);
    const config = place.where.config;
    const servedPath = (build) =>
        at`v1/collections/${place.collection}/served/${build}` + query({ config });
    const pinPath = (b) =>
        at`v1/collections/${place.collection}/builds/${b.build}/pin` + query({ config });

    async function publish(b) {
        const before = place.builds.find((x) => x.served);
        const wanted = await confirm({
            title: `Serve the build of ${name(b)}?`,
            words: 'Everybody sees its clusters at once. The next rebuild goes on from it; a rebuild that is under way fails.',
            verb: 'Serve it',
        });
        if (wanted)
            act(
                servedPath(b.build),
                'PUT',
                `The build of ${name(b)} is served`,
                before &&
                    (async () => {
                        await order(servedPath(before.build), { method: 'PUT' });
                        refresh();
                    }),
            );
    }

    const pin = (b) =>
        act(
            pinPath(b),
            b.pinned ? 'DELETE' : 'PUT',
            b.pinned
                ? `The build of ${name(b)} goes when newer ones come`
                : `The build of ${name(b)} is kept until it is unpinned`,
            async () => {
                await order(pinPath(b), { method: b.pinned ? 'PUT' : 'DELETE' });
                refresh();
            },
        );
    return [
        {
            title: 'Made',
            key: 'build',
            class: 'main',
            down: true,
            value: (b) => b.build,
            csv: [
                ['build', (b) => b.build],
                ['time', (b) => b.time],
            ],
            cell: (b) => [
                h(
                    'a',
                    {
                        class: 'row-link',
                        href: route.to(['c', place.collection], { build: b.served ? '' : b.build }),
                    },
                    name(b),
                ),
                b.served ? h('span', { class: 'tag' }, 'served') : '',
                b.pinned ? h('span', { class: 'tag' }, 'pinned') : '',
            ],
        },
        { title: 'Clusters', key: 'k', numeric: true, value: (b) => b.k, cell: (b) => count(b.k) },
        {
            title: 'Documents',
            key: 'documents',
            numeric: true,
            value: (b) => b.documents,
            cell: (b) => count(b.documents),
        },
        {
            title: 'Took',
            key: 'seconds',
            numeric: true,
            class: 'wide',
            value: (b) => b.seconds,
            cell: (b) => seconds(b.seconds),
        },
        {
            title: 'Settings',
            key: 'settings',
            class: 'wide',
            value: (b) =>
                Object.entries(b.settings)
                    .map(([k, v]) => `${k}=${v}`)
                    .join(' '),
            cell: (b) =>
                Object.keys(b.settings).length
                    ? h(
                          'span',
                          { class: 'quiet' },
                          shown(
                              Object.entries(b.settings)
                                  .map(([k, v]) => `${k} ${v}`)
                                  .join(', '),
                              120,
                          ),
                      )
                    : h('span', { class: 'quiet' }, 'defaults'),
        },
        {
            title: '',
            class: 'acts-words',
            cell: (b) => {
                const older = place.builds.find((x) => x.build < b.build);
                return h(
                    'span',
                    { class: 'tools' },
                    older &&
                        h(
                            'a',
                            {
                                class: 'button small',
                                href: route.to(['c', place.collection, 'diff'], {
                                    build: '',
                                    from: older.build,
                                    to: b.build,
                                }),
                                'aria-label': `What changed with the build of ${plain(name(b))}`,
                            },
                            'What changed',
                        ),
                    h(
                        'button',
                        {
                            type: 'button',
                            class: 'small',
                            onclick: () => pin(b),
                            'aria-label': `${b.pinned ? 'Unpin' : 'Pin'} the build of ${plain(name(b))}`,
                        },
                        b.pinned ? 'Unpin' : 'Pin',
                    ),
                    b.served
                        ? null
                        : h(
                              'button',
                              {
                                  type: 'button',
                                  class: 'small',
                                  onclick: () => publish(b),
                                  'aria-label': `Serve the build of ${plain(name(b))}`,
                              },
                              'Serve',
                          ),
                );
            },
        },
    ];
}

export async function builds(where, { signal }) {
    const place = await readPlace(where, signal);
    const list = table({
        name: `${where.collection}-builds`,
        label: 'Builds',
        kind: 'builds',
        columns: columnsOf(place),
        rows: place.builds,
        kept: where.kept,
    });
    return {
        title: `${where.collection}: builds`,
        collection: where.collection,
        crumb: 'Builds',
        place,
        element: [
            h(
                'div',
                { class: 'head' },
                h('h1', {}, 'Builds'),
                h(
                    'p',
                    { class: 'facts' },
                    several(place.builds.length, 'build'),
                    ' kept; one that is pinned stays whatever comes after it',
                ),
                h(
                    'div',
                    { class: 'tools' },
                    choices({ ...place, builds: [] }),
                    place.builds.length ? list.csv : null,
                ),
            ),
            place.builds.length
                ? list.element
                : h('div', { class: 'empty' }, h('p', {}, 'The collection has not been clustered yet.')),
        ],
    };
}
