// Tables as CSV (RFC 4180) for spreadsheets, as the command writes it by --format spreadsheet: a byte
// order mark, and an apostrophe before a text that a spreadsheet would run as a formula.
import { h, save } from '../dom.js';
import { failure } from './toast.js';

export const BYTE_ORDER_MARK = '\uFEFF';
const isFormula = (s) => /^[\t\r\n]|^[ \t]*[=+\-@]/.test(s) && !/^\s*[+-]?[\d.]+(e[+-]?\d+)?$/i.test(s);

const cell = (v) => {
    const s = v === undefined || v === null ? '' : String(v);
    const text = isFormula(s) ? "'" + s : s;
    return text !== s || /[",\r\n]/.test(s) ? '"' + text.replaceAll('"', '""') + '"' : s;
};

export const line = (values) => values.map(cell).join(',') + '\r\n';

/** A button that saves a table. pieces() gives lines, maybe as a generator that asks for more. */
export function button(name, pieces) {
    const b = h(
        'button',
        {
            type: 'button',
            class: 'small',
            title: 'Save this table as CSV',
            onclick: async () => {
                b.disabled = true;
                try {
                    const parts = [BYTE_ORDER_MARK];
                    for await (const piece of pieces()) parts.push(piece);
                    save(
                        name.replace(/[^\p{L}\p{N}._-]+/gu, '-') + '.csv',
                        'text/csv;charset=utf-8',
                        parts,
                    );
                } catch (e) {
                    failure(e);
                } finally {
                    b.disabled = false;
                }
            },
        },
        'CSV',
    );
    return b;
}
