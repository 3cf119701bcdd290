// The configurations of a collection: how it is clustered. One is chosen, made, changed or deleted.
import { at, json, order, query } from '../api.js';
import { h, onSubmit } from '../dom.js';
import { confirm, openDialog } from '../parts/dialog.js';
import { rebuild } from '../parts/tasks.js';
import { failure, toast } from '../parts/toast.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';
import { inWords } from '../words.js';

const refresh = () => dispatchEvent(new CustomEvent('page:refresh'));

/* Settings that most people want first; the others are folded away. Keys that are not named here are
   among the others, so that a newer server's are not lost. */
const FIRST = [
    ['k', 'Number of clusters'],
    ['filter', 'Only documents with'],
    ['since', 'Only documents since'],
    ['until', 'Only documents until'],
    ['language', 'Language'],
    ['more_stop_words', 'Words to leave out'],
    ['mentions', 'Mentions (@name)'],
    ['hashtags', 'Hashtags (#tag)'],
    ['urls', 'Web addresses'],
    ['numbers', 'Numbers'],
    ['keep', 'Builds to keep'],
];
const TITLES = new Map(FIRST);
const titleOf = (key) => TITLES.get(key) ?? key.replaceAll('_', ' ').replace(/^./, (c) => c.toUpperCase());

/* "on, off" and the like: nothing but single words. */
const choicesOf = (row) => {
    const all = row.values.split(/, (?:or )?/);
    return all.length > 1 && all.every((v) => /^[a-z_]+$/.test(v)) && !row.values.includes('language')
        ? all
        : null;
};

function fieldOf(row) {
    const id = `setting-${row.key}`,
        set = row.from === 'collection',
        choices = choicesOf(row);
    const common = { id, name: row.key, 'aria-describedby': `${id}-help`, 'data-was': row.value };
    const field = choices
        ? h(
              'select',
              common,
              choices.map((v) => h('option', { value: v, selected: v === row.value }, v)),
          )
        : row.key === 'more_stop_words'
          ? h('textarea', { ...common, rows: 2, value: row.value })
          : h('input', { ...common, value: row.value, placeholder: row.initial, autocomplete: 'off', spellcheck: 'false' });
    return h(
        'div',
        { class: 'setting', 'data-set': set },
        h(
            'label',
            { for: id },
            titleOf(row.key),
            set ? h('span', { class: 'tag' }, 'set') : row.from === 'namespace' ? h('span', { class: 'tag' }, 'for all collections') : '',
        ),
        field,
        h(
            'p',
            { class: 'quiet', id: `${id}-help` },
            row.meaning,
            choices ? '' : h('span', {}, ` (${row.values})`),
            h('code', {}, row.key),
        ),
    );
}

const pathOf = (collection, config) => at`v1/collections/${collection}/configurations/${config}`;

const setAll = (collection, config, values) =>
    order(pathOf(collection, config), {
        method: 'PATCH',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(values),
    });

/* Make one: with the settings that another has. */
function makeDialog(collection, known, rows) {
    const said = h('p', { class: 'problem', role: 'alert' });
    const name = h('input', { id: 'new-configuration', required: true, autocomplete: 'off' });
    const copy = h('input', { type: 'checkbox', id: 'new-copy', checked: true });
    const dialog = openDialog(
        'New configuration',
        h(
            'form',
            {
                id: 'make',
                onsubmit: onSubmit(async () => {
                    if (known.includes(name.value)) {
                        said.textContent = 'There is one of that name.';
                        return false;
                    }
                    const values = Object.fromEntries(
                        rows.filter((r) => r.from === 'collection').map((r) => [r.key, r.value]),
                    );
                    try {
                        await order(
                            pathOf(collection, name.value) + query({}),
                            {
                                method: 'PUT',
                                headers: { 'Content-Type': 'application/json' },
                                body: JSON.stringify(copy.checked ? values : {}),
                            },
                        );
                    } catch (problem) {
                        said.textContent = inWords(problem.message);
                        return false;
                    }
                    dialog.close();
                    location.hash = route.to(['c', collection, 'settings'], { config: name.value, build: '' });
                }),
            },
            h('p', { class: 'quiet' }, 'The same documents, clustered another way beside the one there is.'),
            h('label', { for: 'new-configuration' }, 'Name'),
            name,
            h('p', { class: 'check' }, copy, h('label', { for: 'new-copy' }, 'with the settings that are shown now')),
            said,
        ),
        [
            h('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'),
            h('button', { class: 'primary', form: 'make' }, 'Make it'),
        ],
    );
    name.focus();
}

async function remove(collection, config) {
    const wanted = await confirm({
        title: ['Delete ', shown(config), '?'],
        words:
            config === 'default'
                ? 'Its settings go back to their defaults, and its builds go. Documents stay. This cannot be taken back.'
                : 'Its settings and builds go. Documents stay. This cannot be taken back.',
        verb: 'Delete the configuration',
    });
    if (!wanted) return;
    try {
        await order(pathOf(collection, config), { method: 'DELETE' });
        toast([shown(config), ' has been deleted']);
        location.hash = route.to(['c', collection, 'settings'], { config: '', build: '' });
        refresh();
    } catch (e) {
        failure(e);
    }
}

export async function settings(where, { signal }) {
    const { collection } = where,
        config = where.values.config || 'default';
    const [rows, all] = await Promise.all([
        json(pathOf(collection, config), { signal }),
        json(at`v1/collections/${collection}/configurations`, { signal }),
    ]);
    const names = all.map((c) => c.configuration);
    const byKey = new Map(rows.map((r) => [r.key, r]));
    const first = FIRST.map(([key]) => byKey.get(key)).filter(Boolean),
        rest = rows.filter((r) => !TITLES.has(r.key));
    const said = h('p', { class: 'problem', role: 'alert' });
    const form = h('form', { class: 'settings', id: 'settings' });
    const changes = () =>
        Object.fromEntries(
            [...form.elements]
                .filter((e) => e.name && e.value !== e.dataset.was)
                .map((e) => [e.name, e.value.trim() === '' ? null : e.value.trim()]),
        );
    const save = h('button', { class: 'primary', disabled: true }, 'Save'),
        saveAndRebuild = h('button', { type: 'button', disabled: true }, 'Save and rebuild');

    /* Once: when it is stored, another view comes. */
    let busy = false;
    async function store() {
        if (busy) return false;
        busy = true;
        said.textContent = '';
        const wanted = changes();
        const before = Object.fromEntries(
            Object.keys(wanted).map((key) => {
                const row = byKey.get(key);
                return [key, row.from === 'collection' ? row.value : null];
            }),
        );
        try {
            await setAll(collection, config, wanted);
        } catch (e) {
            said.textContent = inWords(e.message);
            busy = false;
            return false;
        }
        /* Nothing is left that a new build, which may come at once, would take away. */
        form.removeAttribute('data-changed');
        toast(
            ['Saved: ', Object.keys(wanted).map(titleOf).join(', ')],
            async () => {
                await setAll(collection, config, before);
                refresh();
            },
        );
        return true;
    }
    const changed = () => {
        const some = Object.keys(changes()).length > 0;
        save.disabled = saveAndRebuild.disabled = !some;
        form.toggleAttribute('data-changed', some);
    };
    form.addEventListener('input', changed);
    form.addEventListener('submit', async (e) => {
        e.preventDefault();
        if (await store()) refresh();
    });
    saveAndRebuild.addEventListener('click', async () => {
        if (!(await store())) return;
        rebuild(collection, config, false);
        location.hash = route.to(['c', collection], { build: '' });
    });
    const others = h(
        'details',
        { open: rest.some((r) => r.from === 'collection') },
        h('summary', {}, 'More settings'),
        h('div', { class: 'setting-grid' }, rest.map(fieldOf)),
    );
    form.append(
        h('div', { class: 'setting-grid' }, first.map(fieldOf)),
        others,
        said,
        h('div', { class: 'tools save' }, save, saveAndRebuild),
    );
    return {
        title: `${collection}: settings`,
        collection,
        crumb: 'Settings',
        element: [
            h(
                'div',
                { class: 'head' },
                h('h1', {}, 'Settings'),
                h(
                    'p',
                    { class: 'facts' },
                    'How ',
                    shown(collection),
                    ' is clustered. A change counts from the next rebuild on.',
                ),
                h(
                    'div',
                    { class: 'tools' },
                    h(
                        'label',
                        { class: 'choice' },
                        h('span', {}, 'Configuration'),
                        h(
                            'select',
                            {
                                onchange: (e) => {
                                    location.hash = route.withValues({
                                        config: e.target.value === 'default' ? '' : e.target.value,
                                        build: '',
                                    });
                                },
                            },
                            names.map((c) => h('option', { value: c, selected: c === config }, plain(c))),
                        ),
                    ),
                    h(
                        'button',
                        { type: 'button', onclick: () => makeDialog(collection, names, rows) },
                        'New…',
                    ),
                    h(
                        'button',
                        { type: 'button', class: 'danger-word', onclick: () => remove(collection, config) },
                        'Delete…',
                    ),
                ),
            ),
            form,
        ],
    };
}
