// Rebuilds that are under way, at the page's foot. What is on the screen stays until the new build is
// published; then listeners are told, and the view changes to it.
import { ask, at, json, order, pieces, Problem, query } from '../api.js';
import { announce, h } from '../dom.js';
import { count, several } from '../format.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';
import { inWords } from '../words.js';

const LOOK_MS = 5000;

const followed = new Map(); /* task -> its place at the foot */
let published = () => {};
let began = false;

/** called(collection) when a build of it has been published. */
export const onPublished = (called) => (published = called);

const dock = () => document.getElementById('dock');

function place(task) {
    const words = h('span', { class: 'task-words' }),
        progress = h('progress', { max: 1, 'aria-label': 'Progress' });
    const tools = h(
        'span',
        { class: 'tools' },
        h(
            'button',
            {
                type: 'button',
                class: 'small',
                onclick: () =>
                    order(at`v1/tasks/${task.task}`, { method: 'DELETE' }).catch((e) =>
                        announce(e.message),
                    ),
            },
            'Cancel',
        ),
    );
    const element = h('div', { class: 'task', 'data-task': task.task }, words, progress, tools);
    dock().append(element);
    return { element, words, progress, tools };
}

const nameOf = (task) => [
    shown(task.collection ?? 'collections'),
    task.configuration && task.configuration !== 'default'
        ? [' (', shown(task.configuration), ')']
        : '',
];

function tell(where, task) {
    const phase = task.phase
        ? [task.phase, task.total ? ` ${count(task.done)} of ${count(task.total)}` : ''].join('')
        : task.state;
    where.words.replaceChildren(
        ...['Rebuilding ', nameOf(task), ' · ', h('span', { class: 'quiet' }, phase)].flat(
            Infinity,
        ),
    );
    if (task.total) where.progress.value = task.done / task.total;
    else where.progress.removeAttribute('value');
    where.element.dataset.phase = task.phase ?? '';
}

function end(where, task) {
    const rows = task.rows ?? [];
    const built = rows.find((r) => r.outcome === 'rebuilt');
    const dismiss = h(
        'button',
        {
            type: 'button',
            class: 'small',
            'aria-label': 'Dismiss',
            onclick: () => where.element.remove(),
        },
        '×',
    );
    const said =
        task.state === 'failed'
            ? [' failed: ', shown(inWords(task.error))]
            : task.state === 'cancelled'
              ? [' was cancelled; the build before is still served']
              : built
                ? [
                      ` has been rebuilt: ${several(built.k, 'cluster')} of ${several(built.documents, 'document')}`,
                  ]
                : [' has not changed; the build is as it was'];
    const lost = (task.notices ?? []).filter((n) => n.reason === 'lost').length;
    if (lost) said.push(`; ${several(lost, 'change')} by hand could not be kept`);
    where.progress.remove();
    /* Of each clustering the last word is enough. */
    const of = JSON.stringify([task.collection, task.configuration]);
    for (const old of dock().querySelectorAll('.task.done')) if (old.dataset.of === of) old.remove();
    where.element.dataset.of = of;
    where.element.classList.add(task.state);
    where.words.replaceChildren(...[nameOf(task), said].flat(Infinity));
    const config = task.configuration === 'default' ? '' : task.configuration;
    const link = (view, words) =>
        h(
            'a',
            { class: 'button small', href: route.to(['c', task.collection, view], { config, build: '' }, []) },
            words,
        );
    where.tools.replaceChildren(
        ...[
            lost && link('edits', 'Changes by hand'),
            built && link('diff', 'What changed'),
            dismiss,
        ].filter(Boolean),
    );
    if (task.state === 'done' && !lost) setTimeout(() => where.element.remove(), 20_000);
    announce(where.words.textContent);
    if (built) published(task.collection, built);
}

function gone(where, message) {
    where.progress.remove();
    where.element.classList.add('failed');
    where.words.textContent = inWords(message);
    where.tools.replaceChildren(
        h(
            'button',
            {
                type: 'button',
                class: 'small',
                'aria-label': 'Dismiss',
                onclick: () => where.element.remove(),
            },
            '×',
        ),
    );
}

/* Server-sent events, read as a stream: EventSource could not send the token. */
async function follow(task) {
    if (followed.has(task.task)) return;
    const here = place(task);
    followed.set(task.task, here);
    tell(here, task);
    announce(`Rebuilding ${plain(task.collection)}`);
    try {
        for (;;) {
            const answer = await ask(at`v1/tasks/${task.task}/events`, {
                headers: { Accept: 'text/event-stream' },
            });
            try {
                for await (const event of pieces(answer, '\n\n')) {
                    const found = /^event: (\w+)\ndata: (.*)$/s.exec(event);
                    if (!found) continue;
                    const told = JSON.parse(found[2]);
                    if (found[1] === 'end') return end(here, told);
                    tell(here, told);
                }
            } catch (e) {
                if (!(e instanceof TypeError)) throw e; /* else the network was lost on the way */
            }
            await new Promise((go) =>
                setTimeout(go, 1000),
            ); /* the answer was cut short: ask again */
        }
    } catch (e) {
        gone(here, e instanceof Problem ? e.message : String(e));
    }
}

/** Ask for a rebuild, with a setting for once such as "k=9", and follow it. */
export async function rebuild(collection, config, force, set = '') {
    try {
        follow(
            await json(at`v1/collections/${collection}/builds` + query({ config, force, set }), {
                method: 'POST',
            }),
        );
    } catch (e) {
        const here = place({ task: '' });
        gone(here, e.message);
    }
}

/* Rebuilds that others asked for; one that began and ended between two looks is published, too. */
async function look() {
    if (document.hidden && began) return;
    for (const task of await json('v1/tasks', { once: true })) {
        const ended = !['queued', 'running'].includes(task.state);
        if (followed.has(task.task)) continue;
        if (!ended) follow(task);
        else {
            followed.set(task.task, null);
            const built = (task.rows ?? []).find((r) => r.outcome === 'rebuilt');
            if (began && built) published(task.collection, built);
        }
    }
    began = true;
}

/**
 * Look at tasks from now on; done once it is known which have ended. What a view reads after that is
 * their builds or newer ones, and a task that ends later is told of.
 */
export async function watch() {
    await look().catch(() => {});
    setTimeout(watch, LOOK_MS);
}
