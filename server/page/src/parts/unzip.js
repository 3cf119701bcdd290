// The first part of what is in a zip, and of the sheets of a workbook, which is one: enough for a
// preview. A browser inflates; markup is read by patterns, since it must not become a document here.

const MOST_BYTES = 1 << 18,
    MOST_COLUMNS = 1 << 14; /* of a sheet, as spreadsheets have it */
const END = 0x06054b50,
    ENTRY = 0x02014b50;

/** The entries of a zip: [{name, size, packed, method, at}]; null where it is none. */
export async function entriesOf(file) {
    const tail = new DataView(await file.slice(Math.max(0, file.size - 65_600)).arrayBuffer());
    let end = tail.byteLength - 22;
    while (end >= 0 && tail.getUint32(end, true) !== END) end--;
    if (end < 0) return null;
    const size = tail.getUint32(end + 12, true),
        from = tail.getUint32(end + 16, true);
    const list = new DataView(await file.slice(from, from + size).arrayBuffer()),
        names = new TextDecoder(),
        found = [];
    for (let i = 0; i + 46 <= list.byteLength && list.getUint32(i, true) === ENTRY;) {
        const long = list.getUint16(i + 28, true);
        found.push({
            name: names.decode(new Uint8Array(list.buffer, i + 46, long)),
            method: list.getUint16(i + 10, true),
            packed: list.getUint32(i + 20, true),
            size: list.getUint32(i + 24, true),
            at: list.getUint32(i + 42, true),
        });
        i += 46 + long + list.getUint16(i + 30, true) + list.getUint16(i + 32, true);
    }
    return found;
}

/* The beginning of an entry, as text. */
async function textOf(file, entry) {
    if (!entry) return '';
    const head = new DataView(await file.slice(entry.at, entry.at + 30).arrayBuffer());
    const from = entry.at + 30 + head.getUint16(26, true) + head.getUint16(28, true);
    let stream = file.slice(from, from + entry.packed).stream();
    if (entry.method === 8) stream = stream.pipeThrough(new DecompressionStream('deflate-raw'));
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (text.length < MOST_BYTES) {
        const { done, value } = await reader.read();
        if (done) break;
        text += value;
    }
    reader.cancel().catch(() => {});
    return text;
}

const NAMED = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
const decoded = (s) =>
    s.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (all, hex, number, name) =>
        hex || number
            ? String.fromCodePoint(parseInt(hex ?? number, hex ? 16 : 10))
            : (NAMED[name] ?? all),
    );

const attribute = (tag, name) => decoded(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
const wordsIn = (markup) =>
    decoded([...markup.replace(/<rPh\b.*?<\/rPh>/gs, '').matchAll(/<t\b[^>]*>([^<]*)<\/t>/g)].map((m) => m[1]).join(''));

const columnOf = (place) =>
    [.../^[A-Z]*/.exec(place)[0]].reduce((n, c) => n * 26 + c.charCodeAt(0) - 64, 0) - 1;

/* Formats of numbers that show a date: built in, or with a day, month or year in the pattern. */
function dateStyles(styles) {
    const own = new Set(
        [...styles.matchAll(/<numFmt\s[^>]*>/g)]
            .filter(([tag]) => /[dmy]/i.test(attribute(tag, 'formatCode').replace(/"[^"]*"|\[[^\]]*\]/g, '')))
            .map(([tag]) => +attribute(tag, 'numFmtId')),
    );
    const list = /<cellXfs\b.*?<\/cellXfs>/s.exec(styles)?.[0] ?? '';
    return [...list.matchAll(/<xf\s[^>]*>/g)].map(([tag]) => {
        const id = +attribute(tag, 'numFmtId');
        return (id >= 14 && id <= 22) || own.has(id);
    });
}

function dateOf(serial, since1904) {
    const days = serial + (since1904 ? 1462 : 0);
    const t = new Date(Math.round((days - 25_569) * 86_400_000));
    return t.toISOString().slice(0, days % 1 ? 19 : 10);
}

/** The names of a workbook's sheets that are not hidden, with their entries; null where it is no workbook. */
export async function sheetsOf(file, entries) {
    const entry = (name) => entries.find((e) => e.name === name);
    if (!entry('xl/workbook.xml')) return null;
    const [book, relations] = await Promise.all([
        textOf(file, entry('xl/workbook.xml')),
        textOf(file, entry('xl/_rels/workbook.xml.rels')),
    ]);
    const targets = new Map(
        [...relations.matchAll(/<Relationship\s[^>]*>/g)].map(([tag]) => [
            attribute(tag, 'Id'),
            attribute(tag, 'Target'),
        ]),
    );
    return {
        since1904: /date1904="(1|true)"/.test(book),
        sheets: [...book.matchAll(/<sheet\s[^>]*>/g)]
            .map(([tag]) => ({
                name: attribute(tag, 'name'),
                hidden: /hidden/i.test(attribute(tag, 'state')),
                entry: entry(
                    (targets.get(attribute(tag, 'r:id')) ?? '').replace(/^\/?(xl\/)?/, 'xl/'),
                ),
            }))
            .filter((s) => !s.hidden && s.entry),
    };
}

/** The first rows of a sheet, as lists of texts. */
export async function rowsOf(file, entries, book, sheet, most) {
    const entry = (name) => entries.find((e) => e.name === name);
    const [shared, styles, markup] = await Promise.all([
        textOf(file, entry('xl/sharedStrings.xml')),
        textOf(file, entry('xl/styles.xml')),
        textOf(file, sheet.entry),
    ]);
    const strings = [...shared.matchAll(/<si>(.*?)<\/si>|<si\/>/gs)].map((m) => wordsIn(m[1] ?? '')),
        dates = dateStyles(styles);
    const value = (tag, inside) => {
        const kind = attribute(tag, 't'),
            v = decoded(/<v>([^<]*)<\/v>/.exec(inside)?.[1] ?? '');
        if (kind === 's') return strings[+v] ?? '…';
        if (kind === 'inlineStr') return wordsIn(inside);
        if (kind === 'b') return v === '1' ? 'TRUE' : 'FALSE';
        if (kind === 'e' || v === '') return '';
        return !kind && dates[+attribute(tag, 's')] ? dateOf(+v, book.since1904) : v;
    };
    const rows = [];
    for (const [, inside] of markup.matchAll(/<row\b[^>]*>(.*?)<\/row>/gs)) {
        const row = [];
        let next = 0;
        for (const [, tag, cell] of inside.matchAll(/<c\b([^>]*?)(?:\/>|>(.*?)<\/c>)/gs)) {
            const place = attribute(tag, 'r');
            next = place ? columnOf(place) : next;
            if (next < MOST_COLUMNS) row[next++] = value(tag, cell ?? '');
        }
        if (row.some((v) => v)) rows.push(Array.from(row, (v) => v ?? ''));
        if (rows.length === most) break;
    }
    return rows;
}
