// Files that are dropped or chosen become documents: the file goes to put as it is, which tells what
// came of it.
import { at, headers, problemOf, query } from '../api.js';
import { h } from '../dom.js';
import { count, several } from '../format.js';
import * as route from '../route.js';
import { shown } from '../text.js';
import { rebuild } from './tasks.js';

/* "posts.csv.gz" -> "csv"; otherwise the server finds out */
const formatOf = (name) =>
    /\.(csv|tsv|jsonl|json)(\.(gz|zst|xz|bz2))?$/i.exec(name)?.[1].toLowerCase();

/* XMLHttpRequest tells how far it is; fetch does not. */
function send(path, file, progress) {
    return new Promise((resolve, reject) => {
        const request = new XMLHttpRequest();
        request.open('POST', path);
        for (const [name, value] of Object.entries(headers()))
            request.setRequestHeader(name, value);
        request.upload.onprogress = (e) => e.lengthComputable && progress(e.loaded / e.total);
        request.onload = () =>
            request.status < 300
                ? resolve(JSON.parse(request.responseText))
                : reject(problemOf(request.status, request.responseText));
        request.onerror = () => reject(new Error('The server does not answer.'));
        request.send(file);
    });
}

function summary(s) {
    const counts = [
        ['read', s.read],
        ['new', s.new],
        ['changed', s.changed],
        ['unchanged', s.unchanged],
        ['skipped', s.skipped],
        ['refused', s.refused],
    ];
    return [
        h(
            'dl',
            { class: 'summary' },
            counts.map(([name, n]) => [h('dt', {}, name), h('dd', {}, count(n))]),
        ),
        Object.keys(s.reasons ?? {}).length
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

const field = (id, label, hint, value = '') => [
    h('label', { for: id }, label),
    h('input', { id, value, placeholder: hint, autocomplete: 'off', spellcheck: 'false' }),
];

function open(file, collection) {
    const name = field(
        'import-collection',
        'Into the collection',
        'feedback',
        collection || file.name.replace(/\..*$/, ''),
    );
    const text = field('import-text', 'Field of the text', 'text'),
        id = field('import-id', 'Field of the id', 'id'),
        time = field('import-time', 'Field of the time', 'time');
    name[1].required = true;
    const told = h('div', { class: 'told', role: 'status' }),
        progress = h('progress', { max: 1, value: 0, hidden: true, 'aria-label': 'Sent' });
    const actions = h('div', { class: 'actions' }),
        dialog = h('dialog', { class: 'dialog', 'aria-labelledby': 'import-title' });
    const close = h('button', { type: 'button', onclick: () => dialog.close() }, 'Close');

    async function run(e) {
        e.preventDefault();
        const to = name[1].value;
        start.disabled = true;
        progress.hidden = false;
        told.replaceChildren(h('p', { class: 'quiet' }, 'Reading …'));
        try {
            const path =
                at`v1/collections/${to}/documents` +
                query({
                    from: formatOf(file.name),
                    text: text[1].value,
                    id: id[1].value,
                    time: time[1].value,
                });
            const done = await send(path, file, (share) => (progress.value = share));
            told.replaceChildren(...summary(done).filter(Boolean));
            actions.replaceChildren(
                close,
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
                ),
            );
            dispatchEvent(new CustomEvent('page:refresh'));
        } catch (problem) {
            told.replaceChildren(h('p', { class: 'problem' }, shown(problem.message)));
            start.disabled = false;
        }
        progress.hidden = true;
    }

    const start = h('button', { type: 'submit', class: 'primary' }, 'Import');
    actions.append(close, start);
    dialog.append(
        h(
            'form',
            { onsubmit: run },
            h('h2', { id: 'import-title' }, 'Import ', shown(file.name)),
            h(
                'p',
                { class: 'quiet' },
                `${several(file.size, 'byte')}. What is there already stays; the same document put again changes nothing.`,
            ),
            name,
            h('details', {}, h('summary', {}, 'Fields'), text, id, time),
            progress,
            told,
            actions,
        ),
    );
    dialog.addEventListener('close', () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
}

/** Let the user choose a file. */
export function chooseFile(collection) {
    const input = h('input', {
        type: 'file',
        onchange: () => input.files[0] && open(input.files[0], collection),
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
        if (e.dataTransfer.files[0]) open(e.dataTransfer.files[0], collection() ?? '');
    });
}
