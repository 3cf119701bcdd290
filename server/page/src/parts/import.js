// Files that are dropped or chosen become documents: each goes to put as it is, with its name, which
// tells what came of it.
import { at, headers, problemOf, query } from '../api.js';
import { h } from '../dom.js';
import { count, several, sizeOf } from '../format.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';
import { inWords } from '../words.js';
import { preview } from './preview.js';
import { rebuild } from './tasks.js';

/* XMLHttpRequest tells how far it is; fetch does not. */
function send(path, file, sent, progress, signal) {
    return new Promise((resolve, reject) => {
        const request = new XMLHttpRequest();
        request.open('POST', path);
        const all = { ...sent, 'Grouperfish-File': encodeURIComponent(file.name) };
        for (const [name, value] of Object.entries(all)) request.setRequestHeader(name, value);
        request.upload.onprogress = (e) => e.lengthComputable && progress(e.loaded / e.total);
        request.onload = () =>
            request.status < 300
                ? resolve(JSON.parse(request.responseText))
                : reject(problemOf(request.status, request.responseText));
        request.onerror = () => reject(new Error('The server does not answer. Nothing is lost: send it again.'));
        request.onabort = () => reject(new DOMException('', 'AbortError'));
        signal.addEventListener('abort', () => request.abort(), { once: true });
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

const FORMATS = ['csv', 'tsv', 'jsonl', 'json'];

const ROWS = 5;

/* The first records, so that one sees which column is which; `roles` says what becomes of each. */
function sample(records, names, roles) {
    const cell = (v) =>
        shown(v === undefined ? '' : typeof v === 'object' ? JSON.stringify(v) : v, 60);
    return h(
        'div',
        { class: 'table-frame preview', tabindex: '0', role: 'region', 'aria-label': 'First rows' },
        h(
            'table',
            { 'aria-label': 'First rows' },
            h(
                'thead',
                {},
                h(
                    'tr',
                    {},
                    names.map((n) =>
                        h(
                            'th',
                            { scope: 'col', 'data-role': roles.get(n) },
                            shown(n),
                            roles.has(n) ? h('span', { class: 'tag' }, roles.get(n)) : '',
                        ),
                    ),
                ),
            ),
            h(
                'tbody',
                {},
                records.slice(0, ROWS).map((r) =>
                    h(
                        'tr',
                        {},
                        names.map((n) => h('td', { 'data-role': roles.get(n) }, cell(r[n]))),
                    ),
                ),
            ),
        ),
    );
}

const valuesOf = (records, name) =>
    records.map((r) => r[name]).filter((v) => v !== undefined && v !== null && v !== '');

/* A date whose day and month change places with the country. */
const BOTH_WAYS = /^\s*(\d{1,2})[/-](\d{1,2})[/-](\d{4}|\d{2})\b/;

/** The order of day and month in a column's dates, '' where they leave it open; null where they need none. */
function orderOfDates(values) {
    const found = values.map((v) => BOTH_WAYS.exec(String(v))).filter(Boolean);
    if (!found.length) return null;
    const dayFirst = found.some((m) => +m[1] > 12),
        monthFirst = found.some((m) => +m[2] > 12);
    return { order: dayFirst === monthFirst ? '' : dayFirst ? 'day-first' : 'month-first' };
}

const looksLikeTime = (values) =>
    values.length > 0 &&
    values.every((v) => {
        const s = String(v);
        return (
            BOTH_WAYS.test(s) ||
            /^\d{9,10}$|^\d{13}$/.test(s) ||
            (/\d{4}|\d\d:\d\d/.test(s) && /[-/.:\s]/.test(s) && (!Number.isNaN(Date.parse(s)) || /^\d{1,2}\.\d{1,2}\.\d{2,4}/.test(s)))
        );
    });

/* The likely role of each column: the server's names count, then what people call such columns. */
function guess(records, names) {
    const named = (own, pattern) =>
        names.find((n) => n === own) ?? names.find((n) => pattern.test(n)) ?? '';
    const length = (n) => {
        const values = valuesOf(records, n);
        return values.reduce((sum, v) => sum + (typeof v === 'string' ? v.length : 0), 0) / (values.length || 1);
    };
    const text =
        names.find((n) => n === 'text') ??
        [...names].sort((a, b) => length(b) - length(a))[0] ??
        '';
    /* The id of something else, such as the customer, comes twice: one document would replace another. */
    const tells = (n) => {
        const values = valuesOf(records, n).map(String);
        return values.length === records.length && new Set(values).size === values.length;
    };
    const id = names.includes('id')
        ? 'id'
        : (names.find(
              (n) =>
                  /(^|[ _-])id$/i.test(n) &&
                  !/user|customer|client|account|author|product|order|parent|thread/i.test(n) &&
                  tells(n),
          ) ?? '');
    const times = names.filter((n) => n !== text && looksLikeTime(valuesOf(records, n)));
    return {
        text,
        id: id === text ? '' : id,
        time: names.includes('time') ? 'time' : (times.find((n) => /date|time|created|datum|zeit/i.test(n)) ?? times[0] ?? ''),
        lang: named('lang', /^(lang|language|locale)$/i),
        title: names.find((n) => n !== text && /^(title|subject|headline|summary)$/i.test(n)) ?? '',
    };
}

const ROLES = [
    ['text', 'Text', 'Column of the text'],
    ['title', 'Title', 'Column of the title, put before the text'],
    ['id', 'Id', 'Column of the id'],
    ['time', 'Time', 'Column of the time'],
    ['lang', 'Language', 'Column of the language'],
];

/* The columns of a file: which is which. Where they cannot be told here, their names are typed. */
function columnsForm(file, number = 0) {
    const element = h('div', { class: 'columns-form' }),
        idOf = (name) => `import-${name}${number || ''}`;
    const values = () =>
        Object.fromEntries(
            [...element.querySelectorAll('[name]')].map((e) => [e.name, e.hidden ? '' : e.value]),
        );
    let columns = [];
    /* As the server is told: a column that is taken by its name is one unless "none" is. */
    const roles = () => {
        const v = values();
        for (const role of ['id', 'time', 'lang'])
            if (!v[role] && columns.includes(role)) v[role] = 'none';
            else if (v[role] === role) v[role] = '';
        /* Columns are guessed: a time that cannot be read refuses nothing. */
        return { ...v, 'bad-times': v.time ? 'drop' : '' };
    };
    async function draw(sheet) {
        const found = await preview(file, sheet),
            { records } = found;
        const names = [...new Set(records.flatMap((r) => Object.keys(r)))];
        columns = names;
        const guessed = guess(records, names);
        const table = h('div', {});
        const dates = h(
            'select',
            { id: idOf('dates'), name: 'dates' },
            h('option', { value: '' }, 'choose …'),
            h('option', { value: 'day-first' }, 'day first (21/2/2015)'),
            h('option', { value: 'month-first' }, 'month first (2/21/2015)'),
        );
        const datesField = h(
            'p',
            { class: 'field', hidden: true },
            h('label', { for: idOf('dates') }, 'Dates are written'),
            dates,
        );
        const update = () => {
            const now = values(),
                order = now.time ? orderOfDates(valuesOf(records, now.time)) : null;
            datesField.hidden = !order;
            dates.required = !!order && !order.order;
            if (!order) dates.value = '';
            else if (!dates.value) dates.value = order.order;
            const roles = new Map(
                ROLES.filter(([role]) => now[role]).map(([role, title]) => [now[role], title.toLowerCase()]),
            );
            table.replaceChildren(...(records.length ? [sample(records, names, roles)] : []));
        };
        const one = ([role, title, label]) =>
            h(
                'p',
                { class: 'field' },
                h('label', { for: idOf(role), title: label }, title),
                names.length
                    ? h(
                          'select',
                          { id: idOf(role), name: role, 'aria-label': label, onchange: update },
                          role === 'text' ? null : h('option', { value: '' }, 'none'),
                          names.map((n) => {
                              /* The server takes a list of these, between commas. */
                              const cannot = (role === 'text' || role === 'title') && n.includes(',');
                              return h(
                                  'option',
                                  { value: n, selected: n === guessed[role] && !cannot, disabled: cannot },
                                  plain(n) + (cannot ? ' (has a comma: rename the column)' : ''),
                              );
                          }),
                      )
                    : h('input', {
                          id: idOf(role),
                          name: role,
                          'aria-label': label,
                          placeholder: role === 'title' ? '' : role,
                          autocomplete: 'off',
                          spellcheck: 'false',
                      }),
            );
        const sheets =
            found.sheets?.length > 1
                ? h(
                      'p',
                      { class: 'field' },
                      h('label', { for: idOf('sheet') }, 'Sheet'),
                      h(
                          'select',
                          { id: idOf('sheet'), name: 'sheet', onchange: (e) => draw(e.target.value) },
                          found.sheets.map((s) => h('option', { value: s, selected: s === sheet }, plain(s))),
                      ),
                  )
                : null;
        const format = h(
            'p',
            { class: 'field' },
            h('label', { for: idOf('format') }, 'Format'),
            h(
                'select',
                { id: idOf('format'), name: 'from' },
                h('option', { value: '' }, 'found out'),
                FORMATS.map((f) => h('option', { value: f }, f)),
            ),
        );
        if (found.texts) {
            element.replaceChildren(
                h(
                    'p',
                    {},
                    `A zip with ${several(found.texts.length, 'file')}: each text in it becomes a document, or each of its tables is read.`,
                ),
                h('ul', { class: 'files' }, found.texts.slice(0, ROWS).map((n) => h('li', {}, shown(n)))),
            );
            return;
        }
        element.replaceChildren(
            ...[
                names.length ? h('h3', {}, 'Which column is which?') : null,
                h('div', { class: 'fields' }, sheets, ROLES.map(one), datesField),
                table,
                h('details', {}, h('summary', {}, 'Format'), format),
            ].filter(Boolean),
        );
        update();
    }
    return { element, draw, roles };
}

/*
 * The forms of several files: one where their columns are the same, else one of each kind, under the names
 * of its files. {element, rolesOf(file)}
 */
async function formsOf(files) {
    const kinds = new Map(); /* names of columns -> files */
    for (const file of files.filter((f) => f.size)) {
        const { records, texts } = files.length > 1 ? await preview(file) : { records: [] };
        const kind = texts ? '' : JSON.stringify([...new Set(records.flatMap((r) => Object.keys(r)))].sort());
        kinds.set(kind, [...(kinds.get(kind) ?? []), file]);
    }
    if (!kinds.size) kinds.set('', [files[0]]);
    const forms = [...kinds.values()].map((of, i) => ({ of, form: columnsForm(of[0], i) }));
    for (const { form } of forms) await form.draw();
    const named = (of) => [of.slice(0, ROWS).map((f, i) => [i ? ', ' : '', shown(f.name)]), of.length > ROWS ? ` and ${count(of.length - ROWS)} more` : ''];
    const element =
        forms.length === 1
            ? forms[0].form.element
            : forms.map(({ of, form }) => h('section', { class: 'of-files', 'aria-label': plain(of[0].name) }, h('h3', {}, named(of)), form.element));
    return { element, rolesOf: (file) => (forms.find(({ of }) => of.includes(file)) ?? forms[0]).form.roles() };
}

async function open(files, collection) {
    const name = h('input', {
        id: 'import-collection',
        value: collection || files[0].name.replace(/\..*$/, ''),
        placeholder: 'feedback',
        autocomplete: 'off',
        spellcheck: 'false',
        required: true,
    });
    const columns = await formsOf(files);
    const told = h('div', { class: 'told', role: 'status' }),
        progress = h('progress', { max: 1, value: 0, hidden: true, 'aria-label': 'Sent' });
    const actions = h('div', { class: 'actions' }),
        dialog = h('dialog', { class: 'dialog wide-dialog', 'aria-labelledby': 'import-title' });
    const close = h('button', { type: 'button', onclick: () => dialog.close() }, 'Close');
    const done = new Map(); /* file -> what came of it */
    let sending = null;

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

    const pathTo = (to, file) => {
        const v = columns.rolesOf(file);
        return (
            at`v1/collections/${to}/documents` +
            query({
                from: v.from,
                sheet: v.sheet,
                text: v.text && v.title ? `${v.title},${v.text}` : v.text === 'text' ? '' : v.text,
                id: v.id,
                time: v.time,
                lang: v.lang,
                dates: v.dates,
                'bad-times': v['bad-times'],
            })
        );
    };

    /* Files one by one; those that were refused can be sent again with other columns. */
    async function run(e) {
        e.preventDefault();
        const to = name.value,
            problems = [],
            left = files.filter((f) => !done.has(f));
        const sent = headers(); /* all files go where the first one went */
        sending = new AbortController();
        dialog.dataset.stays = '';
        start.disabled = true;
        progress.hidden = false;
        actions.replaceChildren(
            h('button', { type: 'button', onclick: () => sending.abort() }, 'Cancel'),
            start,
        );
        let cancelled = false;
        for (const [i, file] of left.entries()) {
            if (!file.size) {
                problems.push([file, 'the file is empty: there is nothing in it to import']);
                continue;
            }
            told.replaceChildren(h('p', { class: 'quiet' }, 'Reading ', shown(file.name), ' …'));
            try {
                const s = await send(
                    pathTo(to, file),
                    file,
                    sent,
                    (share) => (progress.value = (i + share) / left.length),
                    sending.signal,
                );
                done.set(file, s);
            } catch (problem) {
                if (problem.name === 'AbortError') {
                    cancelled = true;
                    break;
                }
                problems.push([file, inWords(problem.message)]);
            }
        }
        sending = null;
        delete dialog.dataset.stays;
        const again = cancelled || problems.length > 0,
            undated = [...done.values()].reduce((n, s) => n + (s.bad_times ?? 0), 0);
        told.replaceChildren(
            ...problems.map(([file, words]) =>
                h(
                    'p',
                    { class: 'problem' },
                    words.includes(file.name) ? '' : [shown(file.name), ': '],
                    shown(words),
                ),
            ),
            ...(cancelled
                ? [h('p', {}, 'Cancelled. What the server had read by then is kept; sent again, the rest follows.')]
                : []),
            ...(done.size ? summary(sum([...done.values()])).filter(Boolean) : []),
            ...(undated
                ? [h('p', { class: 'note' }, `${several(undated, 'time')} could not be read; these documents have none.`)]
                : []),
        );
        if (again) start.disabled = false;
        actions.replaceChildren(
            ...[close, again ? start : null, done.size ? clusterThem(to) : null].filter(Boolean),
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
                      files.map((f) => h('li', {}, shown(f.name), ` (${sizeOf(f.size)})`)),
                  )
                : null,
            h(
                'p',
                { class: 'quiet' },
                `${sizeOf(bytes)}. What is there already stays; the same document put again changes nothing.`,
            ),
            h('p', { class: 'field' }, h('label', { for: 'import-collection' }, 'Into the collection'), name),
            columns.element,
            progress,
            told,
            actions,
        ),
    );
    dialog.addEventListener('close', () => {
        sending?.abort();
        dialog.remove();
    });
    document.body.append(dialog);
    dialog.showModal();
    name.focus();
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
