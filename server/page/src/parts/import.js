// Files that are dropped or chosen become documents: each goes to put as it is, with its name, which
// tells what came of it.
import { at, headers, problemOf, query } from '../api.js';
import { h } from '../dom.js';
import { count, several } from '../format.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';
import { preview } from './preview.js';
import { rebuild } from './tasks.js';

/* XMLHttpRequest tells how far it is; fetch does not. */
function send(path, file, progress) {
    return new Promise((resolve, reject) => {
        const request = new XMLHttpRequest();
        request.open('POST', path);
        const named = headers({ 'Grouperfish-File': encodeURIComponent(file.name) });
        for (const [name, value] of Object.entries(named)) request.setRequestHeader(name, value);
        request.upload.onprogress = (e) => e.lengthComputable && progress(e.loaded / e.total);
        request.onload = () =>
            request.status < 300
                ? resolve(JSON.parse(request.responseText))
                : reject(problemOf(request.status, request.responseText));
        request.onerror = () => reject(new Error('The server does not answer.'));
        request.send(file);
    });
}

const COUNTS = ['read', 'new', 'changed', 'unchanged', 'skipped', 'refused'];

/** What came of several files, together. */
function sum(all) {
    const total = { reasons: {} };
    for (const name of COUNTS) total[name] = all.reduce((n, s) => n + (s[name] ?? 0), 0);
    for (const s of all)
        for (const [reason, n] of Object.entries(s.reasons ?? {}))
            total.reasons[reason] = (total.reasons[reason] ?? 0) + n;
    return total;
}

function summary(s) {
    return [
        h(
            'dl',
            { class: 'summary' },
            COUNTS.map((name) => [h('dt', {}, name), h('dd', {}, count(s[name]))]),
        ),
        Object.keys(s.reasons).length
            ? h(
                  'p',
                  { class: 'quiet' },
                  'Skipped or refused for: ',
                  Object.entries(s.reasons)
                      .map(([r, n]) => `${r} (${count(n)})`)
                      .join(', '),
              )
            : null,
    ];
}

/* The server speaks of the command's options; here they are fields of a dialog. */
const WORDS = [
    [/; choose with --text\b/, '; choose the field of the text'],
    [/; say it with --from [^(]*?( \(dir [^)]*\))?$/, '; choose its format under Fields'],
    [/--from [a-z|-]+/g, 'the format'],
    [/--(text|id|time)\b/g, 'the field of the $1'],
    [/--encoding\b/g, 'the encoding'],
    [/--([a-z]+(-[a-z]+)*)\b/g, '“$1”'],
];
const inWords = (message) => WORDS.reduce((m, [from, to]) => m.replace(from, to), plain(message));

const FORMATS = ['csv', 'tsv', 'jsonl', 'json'];

const field = (id, label, hint, value = '') => [
    h('label', { for: id }, label),
    h('input', { id, value, placeholder: hint, autocomplete: 'off', spellcheck: 'false' }),
];

const choice = (id, label, first, names) => [
    h('label', { for: id }, label),
    h(
        'select',
        { id },
        h('option', { value: '' }, first),
        names.map((n) => h('option', { value: n }, plain(n))),
    ),
];

/* The first records, so that one sees which field is which. */
function sample(records, names) {
    const cell = (v) =>
        shown(v === undefined ? '' : typeof v === 'object' ? JSON.stringify(v) : v, 60);
    return h(
        'div',
        { class: 'table-frame preview' },
        h(
            'table',
            { 'aria-label': 'First records' },
            h(
                'thead',
                {},
                h(
                    'tr',
                    {},
                    names.map((n) => h('th', { scope: 'col' }, shown(n))),
                ),
            ),
            h(
                'tbody',
                {},
                records.map((r) =>
                    h(
                        'tr',
                        {},
                        names.map((n) => h('td', {}, cell(r[n]))),
                    ),
                ),
            ),
        ),
    );
}

async function open(files, collection) {
    const records = await preview(files[0]),
        names = [...new Set(records.flatMap((r) => Object.keys(r)))];
    const one = (id, label, usual) =>
        names.length
            ? choice(
                  id,
                  label,
                  names.includes(usual) ? `${usual} (as it is called)` : 'none of these',
                  names.filter((n) => n !== usual),
              )
            : field(id, label, usual);
    const name = field(
        'import-collection',
        'Into the collection',
        'feedback',
        collection || files[0].name.replace(/\..*$/, ''),
    );
    const text = one('import-text', 'Field of the text', 'text'),
        id = one('import-id', 'Field of the id', 'id'),
        time = one('import-time', 'Field of the time', 'time'),
        format = choice('import-format', 'Format', 'found out', FORMATS);
    name[1].required = true;
    const told = h('div', { class: 'told', role: 'status' }),
        progress = h('progress', { max: 1, value: 0, hidden: true, 'aria-label': 'Sent' });
    const actions = h('div', { class: 'actions' }),
        dialog = h('dialog', { class: 'dialog', 'aria-labelledby': 'import-title' });
    const close = h('button', { type: 'button', onclick: () => dialog.close() }, 'Close');
    const fields = h(
        'details',
        { open: names.length > 0 && !names.includes('text') },
        h('summary', {}, 'Fields'),
        names.length ? sample(records, names) : null,
        text,
        id,
        time,
        format,
    );
    const done = new Map(); /* file -> what came of it */

    const clusterThem = (to) =>
        h(
            'button',
            {
                type: 'button',
                class: 'primary',
                onclick: () => {
                    dialog.close();
                    location.hash = route.to(['c', to], {}, []);
                    dispatchEvent(new CustomEvent('page:refresh'));
                    rebuild(to, 'default', false);
                },
            },
            'Cluster them',
        );

    /* Files one by one; those that were refused can be sent again with other fields. */
    async function run(e) {
        e.preventDefault();
        const to = name[1].value,
            problems = [],
            left = files.filter((f) => !done.has(f));
        start.disabled = true;
        progress.hidden = false;
        const path =
            at`v1/collections/${to}/documents` +
            query({
                from: format[1].value,
                text: text[1].value,
                id: id[1].value,
                time: time[1].value,
            });
        for (const [i, file] of left.entries()) {
            told.replaceChildren(h('p', { class: 'quiet' }, 'Reading ', shown(file.name), ' …'));
            try {
                const s = await send(
                    path,
                    file,
                    (share) => (progress.value = (i + share) / left.length),
                );
                done.set(file, s);
            } catch (problem) {
                problems.push([file, inWords(problem.message)]);
            }
        }
        told.replaceChildren(
            ...problems.map(([file, words]) =>
                h(
                    'p',
                    { class: 'problem' },
                    words.includes(file.name) ? '' : [shown(file.name), ': '],
                    shown(words),
                ),
            ),
            ...(done.size ? summary(sum([...done.values()])).filter(Boolean) : []),
        );
        if (problems.length) {
            start.disabled = false;
            fields.open = true;
        }
        actions.replaceChildren(
            ...[close, problems.length ? start : null, done.size ? clusterThem(to) : null].filter(
                Boolean,
            ),
        );
        if (done.size) dispatchEvent(new CustomEvent('page:refresh'));
        progress.hidden = true;
    }

    const start = h('button', { type: 'submit', class: 'primary' }, 'Import'),
        bytes = files.reduce((n, f) => n + f.size, 0);
    actions.append(close, start);
    dialog.append(
        h(
            'form',
            { onsubmit: run },
            h(
                'h2',
                { id: 'import-title' },
                'Import ',
                files.length === 1 ? shown(files[0].name) : several(files.length, 'file'),
            ),
            files.length > 1
                ? h(
                      'ul',
                      { class: 'files' },
                      files.map((f) => h('li', {}, shown(f.name), ` (${several(f.size, 'byte')})`)),
                  )
                : null,
            h(
                'p',
                { class: 'quiet' },
                `${several(bytes, 'byte')}. What is there already stays; the same document put again changes nothing.`,
            ),
            name,
            fields,
            progress,
            told,
            actions,
        ),
    );
    dialog.addEventListener('close', () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    name[1].focus();
}

/** Let the user choose files. */
export function chooseFile(collection) {
    const input = h('input', {
        type: 'file',
        multiple: true,
        onchange: () => input.files.length && open([...input.files], collection),
    });
    input.click();
}

/** Files may be dropped anywhere; collection() says into what. */
export function acceptDrops(collection) {
    const hasFiles = (e) => [...(e.dataTransfer?.types ?? [])].includes('Files');
    addEventListener('dragover', (e) => {
        if (!hasFiles(e)) return;
        e.preventDefault();
        document.body.classList.add('dropping');
    });
    addEventListener(
        'dragleave',
        (e) => e.relatedTarget || document.body.classList.remove('dropping'),
    );
    addEventListener('drop', (e) => {
        document.body.classList.remove('dropping');
        if (!hasFiles(e)) return;
        e.preventDefault();
        if (e.dataTransfer.files.length) open([...e.dataTransfer.files], collection() ?? '');
    });
}
