// How many clusters: the curve by which k=auto chooses, its reason, and the choice of another number.
import { at, json, order, query } from '../api.js';
import { announce, h } from '../dom.js';
import { count } from '../format.js';
import { readPlace } from '../model.js';
import { curve, wordsOf } from '../parts/curve.js';
import { choices, facts } from '../parts/place.js';
import { table } from '../parts/table.js';
import { rebuild } from '../parts/tasks.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';

const MOST = 1_000_000_000; /* the largest k that the program takes */

const columnsOf = (served) => [
    { title: 'Clusters', key: 'k', class: 'main', value: (s) => s.k, cell: (s) => count(s.k) },
    {
        title: 'Separation',
        key: 'separation',
        numeric: true,
        value: (s) => s.separation,
        cell: (s) => s.separation.toFixed(3),
    },
    {
        title: 'Worth',
        key: 'worth',
        numeric: true,
        value: (s) => s.worth,
        cell: (s) => s.worth.toFixed(3),
    },
    { title: '', csv: [['chosen', (s) => s.chosen]], cell: (s) => wordsOf(s, served).join(', ') },
];

/* Set k and rebuild; the view of the clusters changes once the build is there. */
async function cluster(place, k) {
    const { collection, config } = place;
    try {
        await order(
            at`v1/collections/${collection}/configurations/${config}` + query({ set: `k=${k}` }),
            { method: 'PATCH' },
        );
    } catch (e) {
        announce(plain(e.message));
        return plain(e.message);
    }
    rebuild(collection, config, k === 'auto');
    location.hash = route.to(['c', collection], { build: '' });
    return '';
}

function form(place, set) {
    const said = h('p', { class: 'note', role: 'alert' }),
        wanted = h('input', {
            type: 'number',
            min: 1,
            max: MOST,
            step: 1,
            required: true,
            id: 'wanted-number',
        }),
        go = h('button', { class: 'primary' }, 'Cluster');
    const name = () =>
        (go.textContent = wanted.value ? `Cluster into ${count(Number(wanted.value))}` : 'Cluster');
    wanted.addEventListener('input', name);
    const start = async (k) => (said.textContent = await cluster(place, k));
    const element = h(
        'form',
        {
            class: 'number-form',
            onsubmit: (e) => {
                e.preventDefault();
                start(Number(wanted.value));
            },
        },
        h('label', { for: 'wanted-number' }, 'Clusters'),
        wanted,
        go,
        h(
            'button',
            { type: 'button', disabled: set === 'auto', onclick: () => start('auto') },
            set === 'auto' ? 'Left open (k=auto)' : 'Leave it open (k=auto)',
        ),
        said,
    );
    const show = (k) => {
        wanted.value = k;
        name();
    };
    return { element, wanted, show };
}

function explained(place, steps, set) {
    const served = place.build?.k,
        chosen = steps.find((s) => s.chosen),
        entry = form(place, set);
    entry.show(set === 'auto' ? (chosen?.k ?? 1) : Number(set));
    const list = table({
        name: `${place.collection}-number`,
        label: 'Numbers of clusters that were tried',
        columns: columnsOf(served),
        rows: steps,
    });
    let picture = null;
    if (steps.length > 1) {
        picture = curve({ steps: steps.slice(1), served, choose: entry.show });
        picture.show(Number(entry.wanted.value));
        entry.wanted.addEventListener('input', () => picture.show(Number(entry.wanted.value)));
    }
    return [
        chosen
            ? h(
                  'p',
                  { class: 'why' },
                  h('strong', {}, `k=auto chooses ${count(chosen.k)}: `),
                  shown(chosen.why),
                  '.',
              )
            : h('p', { class: 'why' }, 'No document has a term.'),
        picture && [
            picture.element,
            h(
                'p',
                { class: 'quiet' },
                'Worth is how well so many clusters are separated, weighed a little against many. ' +
                    'All in the band are nearly as good as the best. Choose a point, or type any number.',
            ),
        ],
        entry.element,
        steps.length > 1 &&
            h(
                'details',
                {},
                h('summary', {}, 'As a table'),
                h('div', { class: 'tools' }, list.csv),
                list.element,
            ),
    ];
}

async function readSteps(place, signal) {
    const { collection, config } = place;
    const [settings, steps] = await Promise.all([
        json(at`v1/collections/${collection}/configurations/${config}`, { signal }),
        json(at`v1/collections/${collection}/builds` + query({ config, 'explain-k': true }), {
            method: 'POST',
            signal,
        }),
    ]);
    const rows = Array.isArray(settings) ? settings : [settings];
    const k = rows.find((r) => r.key === 'k')?.value;
    return { steps, set: String(k ?? 'auto') };
}

export async function number(where, { signal }) {
    const place = await readPlace(where, signal);
    const below = h(
        'div',
        { class: 'number', 'aria-busy': 'true' },
        h(
            'p',
            { role: 'status' },
            'Numbers of clusters are tried on samples of the documents. Of many documents that takes a while.',
        ),
    );
    readSteps(place, signal)
        .then(({ steps, set }) => explained(place, steps, set))
        .catch((e) => [h('p', { class: 'note', role: 'alert' }, plain(e.message))])
        .then((found) => {
            if (signal.aborted) return;
            below.removeAttribute('aria-busy');
            below.replaceChildren(...found.flat(Infinity).filter(Boolean));
            announce(below.querySelector('.why, .note')?.textContent ?? '');
        });
    return {
        title: `${where.collection}: how many clusters`,
        crumb: 'How many clusters',
        place,
        collection: where.collection,
        element: [
            h(
                'div',
                { class: 'head' },
                h('h1', {}, 'How many clusters?'),
                facts(place),
                h('div', { class: 'tools' }, choices({ ...place, builds: [] })),
            ),
            below,
        ],
    };
}
