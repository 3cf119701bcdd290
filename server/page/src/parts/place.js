// The top of a collection's views: its configuration, the build that is shown, the rebuild
// and its number of clusters, and where else one can go.
import { at, json, order, query } from '../api.js';
import { h } from '../dom.js';
import { count, moment, momentAmong, seconds, several } from '../format.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';
import { confirm } from './dialog.js';
import { downloadDocuments } from './download.js';
import { editsAddress } from './edits.js';
import { chooseFile } from './import.js';
import { menu } from './menu.js';
import { rebuild } from './tasks.js';
import { failure } from './toast.js';

const go = (values) => {
    location.hash = route.withValues(values);
};

function configurations(place) {
    if (place.configurations.length < 2) return null;
    return h(
        'label',
        { class: 'choice' },
        h('span', {}, 'Configuration'),
        h(
            'select',
            {
                onchange: (e) =>
                    go({ config: e.target.value === 'default' ? '' : e.target.value, build: '' }),
            },
            place.configurations.map((c) =>
                h('option', { value: c, selected: c === place.config }, plain(c)),
            ),
        ),
    );
}

function builds(place) {
    if (place.builds.length < 2) return null;
    return h(
        'label',
        { class: 'choice of-build' },
        h('span', {}, 'Build'),
        h(
            'select',
            { onchange: (e) => go({ build: e.target.value }) },
            place.builds.map((b) =>
                h(
                    'option',
                    {
                        value: b.served ? '' : b.build,
                        selected: b.build === place.build?.build,
                    },
                    momentAmong(
                        b.build,
                        place.builds.map((x) => x.build),
                    ) +
                        (b.served ? ' (served)' : '') +
                        (b.pinned ? ' (pinned)' : ''),
                ),
            ),
        ),
    );
}

const configurationPath = (place) =>
    at`v1/collections/${place.collection}/configurations/${place.config}`;

/* The number of clusters as the configuration has it. */
async function configuredNumber(place) {
    const rows = await json(configurationPath(place));
    return String(rows.find((r) => r.key === 'k')?.value ?? 'auto');
}

/* `wanted` is "" where nobody has said a number, else a number or "auto"; and whether that lasts. */
async function rebuildWith(place, wanted, lasts) {
    const due = place.changed || !place.build;
    try {
        if (wanted && lasts) {
            await order(configurationPath(place) + query({ set: `k=${wanted}` }), { method: 'PATCH' });
            return rebuild(place.collection, place.config, wanted === 'auto');
        }
        /* A build whose number was said for once is made so again. */
        const before = place.build?.settings?.k ?? 'auto';
        const k = wanted || (place.build && before !== (await configuredNumber(place)) ? before : '');
        rebuild(place.collection, place.config, !due, k ? `k=${k}` : '');
    } catch (e) {
        failure(e);
    }
}

/**
 * The rebuild, and the number of clusters that it is to have. A number that has been typed stays until it is
 * asked for, also where the view is shown anew meanwhile; `kept` is the view's own place for it.
 */
export function rebuildForm(place, kept) {
    const typed = kept.typed?.config === place.config ? kept.typed : null;
    const number = h('input', {
        type: 'number',
        min: 1,
        max: 1_000_000,
        step: 1,
        id: 'rebuild-number',
        placeholder: 'auto',
        value: place.build?.k ?? '',
        title: 'How many clusters; empty: the program chooses',
    });
    const lasting = h(
        'select',
        { 'aria-label': 'For how long', hidden: true },
        h('option', { value: '' }, 'this time'),
        h('option', { value: 'lasting' }, 'from now on'),
    );
    const first = number.value;
    const note = () => {
        const { value } = number;
        lasting.hidden = value === first;
        kept.typed = value === first ? null : { config: place.config, value, lasting: lasting.value };
    };
    if (typed && place.build) {
        number.value = typed.value;
        lasting.value = typed.lasting;
        note();
    }
    number.addEventListener('input', note);
    lasting.addEventListener('input', note);
    return h(
        'form',
        {
            class: 'rebuild',
            onsubmit: (e) => {
                e.preventDefault();
                kept.typed = null;
                const wanted = number.value === first ? '' : number.value || 'auto';
                rebuildWith(place, wanted, lasting.value === 'lasting');
            },
        },
        place.build
            ? [
                  h('label', { for: 'rebuild-number' }, 'Clusters'),
                  number,
                  h(
                      'a',
                      {
                          class: 'quiet how-many',
                          href: route.to(['c', place.collection, 'number'], { build: '' }),
                          title: 'How many clusters, and why',
                      },
                      'How many?',
                  ),
                  lasting,
              ]
            : null,
        h(
            'button',
            {
                class: place.changed || !place.build ? 'primary' : '',
                title: place.changed
                    ? 'Documents have come or changed since this build'
                    : 'Cluster the collection anew',
            },
            place.build ? 'Rebuild' : 'Cluster it',
        ),
    );
}

async function deleteCollection(place) {
    const wanted = await confirm({
        title: ['Delete ', shown(place.collection), '?'],
        words: `${several(place.info.size, 'document')}, all clusters, builds and settings go. This cannot be taken back.`,
        verb: 'Delete the collection',
    });
    if (!wanted) return;
    try {
        await order(at`v1/collections/${place.collection}`, { method: 'DELETE' });
        location.hash = route.to([], {}, []);
    } catch (e) {
        failure(e);
    }
}

/** A menu of the collection's other views, and of actions on the whole of it. */
export const collectionMenu = (place) =>
    menu('More', () => {
        const c = place.collection,
            to = (name) => route.to(['c', c, name], { build: '' });
        return [
            place.info.size && { name: 'How many clusters?', href: to('number') },
            place.older && { name: 'What changed', href: to('diff') },
            place.build && { name: 'Clusters by field', href: route.to(['c', c, 'fields']) },
            place.build && { name: 'Map of documents', href: route.to(['c', c, 'documents']) },
            place.build && { name: 'Near-duplicates', href: to('duplicates') },
            place.build && { name: 'What is new', href: to('news') },
            place.builds.length && { name: 'Builds', href: to('builds') },
            place.topics && { name: 'Topics', href: to('topics') },
            place.editable && { name: 'Changes by hand', href: editsAddress(place) },
            place.editable && {
                name: 'Hidden clusters',
                href: route.to(['c', c], { build: '', view: 'list', only: 'hidden' }),
            },
            { name: 'Settings', href: to('settings') },
            '-',
            { name: 'Import more documents…', run: () => chooseFile(c) },
            place.build && {
                name: 'Download documents and clusters (CSV)',
                run: () => downloadDocuments(place),
            },
            '-',
            { name: 'Delete the collection…', danger: true, run: () => deleteCollection(place) },
        ].filter(Boolean);
    });

/** Selects, for the head's tools. */
export const choices = (place) => [configurations(place), builds(place)];

/** "19,968 documents · 22 clusters · built 20 Nov 2026, 17:39 in 1.8 s" */
export function facts(place) {
    const b = place.build;
    if (!b)
        return h(
            'p',
            { class: 'facts' },
            several(place.info.size, 'document'),
            ' · not clustered yet',
        );
    return h(
        'p',
        { class: 'facts' },
        `${several(b.documents, 'document')} · ${several(b.k, 'cluster')} · built ${moment(b.build)} in ${seconds(b.seconds)}`,
        b.without_terms ? ` · ${count(b.without_terms)} without words that count` : '',
        b.served ? '' : h('strong', {}, ' · an older build'),
        place.changed ? h('span', { class: 'state changed-since' }, 'changed since') : '',
    );
}
