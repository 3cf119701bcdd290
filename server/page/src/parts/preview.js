// The first records of a file, before it is sent: what fields they have. Whatever cannot be read here
// is no error: the server reads the file itself.

import { entriesOf, rowsOf as rowsOfSheet, sheetsOf } from './unzip.js';

const READ = 1 << 16,
    RECORDS = 100;

/* Bytes that a packed file begins with, of those that a browser can unpack. */
const isZip = (bytes) => bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3;
const isGzip = (bytes) => bytes[0] === 0x1f && bytes[1] === 0x8b;

async function startOf(file) {
    const first = new Uint8Array(await file.slice(0, READ).arrayBuffer());
    if (!isGzip(first)) return first;
    const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
    const { value } = await reader.read();
    reader.cancel().catch(() => {});
    return value?.subarray(0, READ) ?? new Uint8Array();
}

function decode(bytes) {
    if (bytes.includes(0)) return null; /* no text, or UTF-16 */
    try {
        return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    } catch {
        return new TextDecoder('windows-1252').decode(bytes);
    }
}

/* The first rows of fields between `separator`s; a row that is cut by the end of the text is left out. */
function rowsOf(text, separator, most) {
    const rows = [];
    let row = [],
        field = '',
        quoted = false;
    for (let i = 0; i < text.length && rows.length < most; i++) {
        const c = text[i];
        if (quoted) {
            if (c !== '"') field += c;
            else if (text[i + 1] === '"') field += text[++i];
            else quoted = false;
        } else if (c === '"' && field === '') quoted = true;
        else if (c === separator || c === '\n') {
            row.push(field.replace(/\r$/, ''));
            field = '';
            if (c === '\n') {
                rows.push(row);
                row = [];
            }
        } else field += c;
    }
    if (rows.length < most && !quoted && (row.length || field)) rows.push([...row, field]);
    return rows;
}

const asRecords = ([names = [], ...rows]) =>
    rows.map((r) => Object.fromEntries(names.map((n, i) => [n, r[i] ?? '']).filter(([n]) => n)));

function ofTable(text, name) {
    const line = text.split('\n', 1)[0],
        count = (c) => line.split(c).length;
    const separator = /\.tsv(\.|$)/i.test(name)
        ? '\t'
        : [',', ';', '\t'].reduce((best, c) => (count(c) > count(best) ? c : best));
    if (count(separator) < 2) return null;
    return asRecords(rowsOf(text, separator, RECORDS + 1));
}

function ofLines(text) {
    const records = [];
    for (const line of text.split('\n').slice(0, RECORDS)) {
        try {
            const record = JSON.parse(line);
            if (record && typeof record === 'object' && !Array.isArray(record))
                records.push(record);
        } catch {
            break;
        }
    }
    return records;
}

async function ofZip(file, wanted) {
    const entries = await entriesOf(file);
    if (!entries) return { records: [] };
    const book = await sheetsOf(file, entries);
    if (!book) {
        const texts = entries.filter((e) => !e.name.endsWith('/'));
        return { records: [], texts: texts.map((e) => e.name) };
    }
    const sheet = book.sheets.find((s) => s.name === wanted) ?? book.sheets[0];
    return {
        sheets: book.sheets.map((s) => s.name),
        records: sheet ? asRecords(await rowsOfSheet(file, entries, book, sheet, RECORDS + 1)) : [],
    };
}

/**
 * {records: up to a hundred of a file's first, as objects; empty where they cannot be told here,
 * sheets: names of a workbook's, texts: names of a zip's files, each of which becomes a document}
 */
export async function preview(file, sheet) {
    try {
        if (isZip(new Uint8Array(await file.slice(0, 4).arrayBuffer()))) return await ofZip(file, sheet);
        const text = decode(await startOf(file))?.replace(/^\ufeff/, '').trimStart();
        if (!text) return { records: [] };
        if (text[0] === '{') return { records: ofLines(text) };
        if (text[0] === '[' || !/\.(csv|tsv|txt)(\.gz)?$/i.test(file.name)) return { records: [] };
        return { records: ofTable(text, file.name) ?? [] };
    } catch {
        return { records: [] };
    }
}
