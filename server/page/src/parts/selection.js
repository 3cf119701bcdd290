// What can be done with the clusters that are chosen, at the page's foot.
import { h } from '../dom.js';
import { count, percent, several } from '../format.js';
import { actionsFor } from './actions.js';
import { keepFocus } from './places.js';

/** Actions on the clusters of rows that are chosen, a set of ids; nameElement(cluster) has its name. {element, draw()} */
export function selectionBar(place, rows, chosen, clear, nameElement) {
    const element = h('div', { class: 'selection', role: 'region', 'aria-label': 'Chosen clusters' });
    const draw = async () => {
        const clusters = rows.filter((c) => chosen.has(c.cluster));
        element.hidden = !clusters.length;
        if (!clusters.length) return element.replaceChildren();
        const actions = (await actionsFor(place, clusters.length)).filter(
            (a) => !a.fits || clusters.every(a.fits),
        );
        const documents = clusters.reduce((n, c) => n + c.size, 0);
        const share = clusters.reduce((sum, c) => sum + (c.share ?? 0), 0);
        keepFocus(element, () =>
            element.replaceChildren(
                h('strong', {}, `${count(clusters.length)} chosen`),
                h(
                    'span',
                    { class: 'quiet' },
                    `${several(documents, 'document')}, ${percent(share)}`,
                ),
                h(
                    'span',
                    { class: 'tools' },
                    actions.map((a) =>
                        h(
                            'button',
                            {
                                type: 'button',
                                onclick: () =>
                                    a.run({
                                        place,
                                        clusters,
                                        element: nameElement(clusters[0]),
                                        done: () => chosen.clear(),
                                    }),
                            },
                            a.name,
                        ),
                    ),
                    h('button', { type: 'button', onclick: clear }, 'Clear'),
                ),
            ),
        );
    };
    draw();
    return { element, draw };
}
