// Asking the server: tokens, problems (RFC 9457), rows as they come.
import { askForToken } from './parts/token.js';

const TOKEN = 'grouperfish.token';

/** What the server answered instead of what was asked for. */
export class Problem extends Error {
    constructor(status, title, detail) {
        super(detail || title);
        this.status = status;
        this.title = title;
    }
}

const PARAMETERS = { collections: 'collection', documents: 'id' };

/**
 * at`v1/collections/${name}` with each part encoded. Browsers take the parts "." and ".." for steps,
 * however they are encoded: such a name is given in the query, and its part left empty.
 */
export function at(strings, ...parts) {
    const steps = [];
    const path = strings.reduce((before, s, i) => {
        const part = parts[i - 1];
        const [, kind] = before.match(/(\w+)\/$/) ?? [];
        if (!PARAMETERS[kind] || (part !== '.' && part !== '..'))
            return before + encodeURIComponent(part) + s;
        steps.push(`${PARAMETERS[kind]}=${part}`);
        return before + s;
    });
    return steps.length ? `${path}?${steps.join('&')}` : path;
}

/** The path of what is below another, before what at`...` has put behind it. */
export const below = (path, what) => path.replace(/(\?.*)?$/, (values) => what + values);

/** "?a=1&b" of what is set. */
export function query(values) {
    const parts = Object.entries(values)
        .filter(([, v]) => v !== undefined && v !== null && v !== '' && v !== false)
        .map(([k, v]) => (v === true ? k : `${k}=${encodeURIComponent(v)}`));
    return parts.length ? '?' + parts.join('&') : '';
}

/* An answer may fail to come: what reads is asked for again, later and later. */
const AGAIN_MS = [500, 1500, 4000];
let answers = () => {};
/** called(true) when the server does not answer, called(false) when it does. */
export const onAnswers = (called) => (answers = called);

const pause = (ms, signal) =>
    new Promise((go, stop) => {
        const timer = setTimeout(go, ms);
        signal?.addEventListener('abort', () => {
            clearTimeout(timer);
            stop(signal.reason);
        });
    });

let nameSpace = '';
export const useNamespace = (name) => (nameSpace = name ?? '');

/** `of` is a namespace: what is asked for later on is asked of that one, wherever one has gone since. */
export function headers(more = {}, of = nameSpace) {
    const all = { ...more };
    const token = sessionStorage.getItem(TOKEN);
    if (token) all.Authorization = 'Bearer ' + token;
    if (of) all['Grouperfish-Namespace'] = encodeURIComponent(of);
    return all;
}

/** The problem that a body of text tells of. */
export function problemOf(status, text) {
    try {
        const told = JSON.parse(text);
        return new Problem(status, told.title ?? '', told.detail ?? '');
    } catch {
        return new Problem(status, text.slice(0, 200) || `The server answered ${status}.`, '');
    }
}

/** Ask, once more with a token where one is needed. The path is at`...` or at`...` + query(...). */
export async function ask(path, options = {}) {
    path = path.replace(/\?/g, (mark, i) => (path.indexOf(mark) === i ? mark : '&'));
    let answer;
    const sent = sessionStorage.getItem(TOKEN),
        waits = (options.method ?? 'GET') === 'GET' && !options.once ? AGAIN_MS : [];
    for (let tries = 0; !answer; tries++)
        try {
            answer = await fetch(path, { ...options, headers: headers(options.headers, options.namespace) });
        } catch (e) {
            if (e.name === 'AbortError') throw e;
            answers(true);
            if (tries === waits.length)
                throw new Problem(0, 'No answer', 'The server does not answer.');
            await pause(waits[tries], options.signal);
        }
    answers(false);
    if (answer.ok) return answer;
    const problem = problemOf(answer.status, await answer.text());
    if (answer.status !== 401) throw problem;
    /* Where another request has been given a token meanwhile, that one is tried first. */
    if (sessionStorage.getItem(TOKEN) === sent)
        sessionStorage.setItem(TOKEN, await askForToken(problem.message));
    return ask(path, options);
}

/* A text, or a number; behind nothing of a number, so many digits that a number here may not hold them. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g,
    LONG = /(?:^|[^.\d])\d{16}/;

/** JSON; a whole number that would be rounded is the text of its digits. */
export function parse(text) {
    if (LONG.test(text))
        text = text.replace(TOKENS, (t) =>
            /^-?\d{16,}$/.test(t) && !Number.isSafeInteger(Number(t)) ? `"${t}"` : t,
        );
    return JSON.parse(text);
}

export const json = async (path, options) => parse(await (await ask(path, options)).text());

/** Rows of an answer, and the messages of what was told in the place of others. */
export async function told(path, options) {
    const rows = [],
        messages = [];
    for (const row of await json(path, options)) {
        if (row.notice) messages.push(row.notice.message);
        else rows.push(row);
    }
    return { rows, messages };
}

/** Ask for something whose answer says no more than that it is done; it is read, so that the connection is free. */
export async function order(path, options) {
    await (await ask(path, options)).text();
}

/** Pieces of text between separators, as they come. */
export async function* pieces(answer, separator) {
    let rest = '';
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    try {
        for (;;) {
            const { done, value } = await reader.read();
            if (done) break;
            const parts = (rest + value).split(separator);
            rest = parts.pop();
            yield* parts;
        }
        if (rest.trim()) yield rest;
    } finally {
        reader.cancel().catch(() => {});
    }
}

/** Rows one by one: a caller that stops looking ends the answer. */
export async function* rows(path, options = {}) {
    const answer = await ask(path, { ...options, headers: { Accept: 'application/x-ndjson' } });
    for await (const line of pieces(answer, '\n')) {
        const row = parse(line);
        if (row.error) throw new Problem(row.error.status, row.error.title, row.error.detail);
        if (!row.notice) yield row;
    }
}

let known;
/** Whether the server's interface has a path. */
export async function has(path) {
    known ??= json('openapi.json').then(({ paths }) => paths);
    known.catch(() => (known = undefined));
    return path in (await known);
}

let searchName;
/** The name of search's parameter for the query, or "" where the server's interface has no search. */
export async function searchParameter() {
    if (searchName === undefined) {
        const path = '/v1/collections/{collection}/search';
        const found = (await has(path)) ? ((await known)[path].get?.parameters ?? []) : [];
        searchName =
            found.find((p) => p.in === 'query' && (p.name === 'q' || p.name === 'query'))?.name ??
            '';
    }
    return searchName;
}
