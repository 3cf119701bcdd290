// What views of a collection have at their top: its configuration, the build that is shown, and where
// else one can go.
import { h } from '../dom.js';
import { count, moment, momentAmong, seconds, several } from '../format.js';
import * as route from '../route.js';
import { plain } from '../text.js';
import { rebuild } from './tasks.js';

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
        { class: 'choice' },
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

export const rebuildButton = (place) =>
    h(
        'button',
        {
            type: 'button',
            class: place.changed || !place.build ? 'primary' : '',
            title: place.changed
                ? 'Documents have come or changed since this build'
                : 'Cluster the collection anew',
            onclick: () => rebuild(place.collection, place.config, !place.changed && !!place.build),
        },
        place.build ? 'Rebuild' : 'Cluster it',
    );

/** To the view where the number of clusters is chosen. */
export const numberLink = (place) =>
    place.info.size
        ? h(
              'a',
              {
                  class: 'button',
                  href: route.to(['c', place.collection, 'number'], { build: '' }),
                  title: 'How many clusters, and why',
              },
              'How many?',
          )
        : null;

/** Selects, for the head's tools. */
export const choices = (place) => [configurations(place), builds(place)];

/** "19,968 documents · 22 clusters · built 20 Nov 2026, 17:39 in 1.8 s · similarity 0.203" */
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
        h(
            'span',
            { title: 'Mean similarity of a document to the centre of its cluster, 0 to 1' },
            ` · cohesion ${b.objective.toFixed(3)}`,
        ),
        b.without_terms ? ` · ${count(b.without_terms)} without terms` : '',
        b.served ? '' : h('strong', {}, ' · an older build'),
        place.changed ? h('span', { class: 'state changed-since' }, 'changed since') : '',
    );
}
