// Tables as CSV (RFC 4180), with the values as the server gave them.
import { h, save } from '../dom.js';

const cell = (v) => {
    const s = v === undefined || v === null ? '' : String(v);
    return /[",\r\n]/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s;
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
                    const parts = [];
                    for await (const piece of pieces()) parts.push(piece);
                    save(
                        name.replace(/[^\p{L}\p{N}._-]+/gu, '-') + '.csv',
                        'text/csv;charset=utf-8',
                        parts,
                    );
                } finally {
                    b.disabled = false;
                }
            },
        },
        'CSV',
    );
    return b;
}
