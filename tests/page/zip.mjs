// A zip of some files, and a workbook, as browsers and programs make them.
import { deflateRawSync } from 'node:zlib';

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
    for (let i = 0; i < 8; i++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
    return n;
});
const checksum = (bytes) =>
    (bytes.reduce((c, b) => TABLE[(c ^ b) & 255] ^ (c >>> 8), 0xffffffff) ^ 0xffffffff) >>> 0;

/** files: name -> text */
export function zip(files) {
    const local = [],
        central = [];
    let at = 0;
    for (const [name, text] of Object.entries(files)) {
        const bytes = Buffer.from(text),
            packed = deflateRawSync(bytes),
            called = Buffer.from(name);
        const common = Buffer.alloc(26);
        common.writeUInt16LE(20, 0);
        common.writeUInt16LE(8, 4);
        common.writeUInt16LE(0x21, 8);
        common.writeUInt32LE(checksum(bytes), 10);
        common.writeUInt32LE(packed.length, 14);
        common.writeUInt32LE(bytes.length, 18);
        common.writeUInt16LE(called.length, 22);
        const head = Buffer.concat([Buffer.from('PK\x03\x04'), common, called]);
        const place = Buffer.alloc(14);
        place.writeUInt32LE(at, 10);
        central.push(Buffer.from('PK\x01\x02\x14\x00'), common, place, called);
        local.push(head, packed);
        at += head.length + packed.length;
    }
    const list = Buffer.concat(central),
        end = Buffer.alloc(22),
        n = Object.keys(files).length;
    end.write('PK\x05\x06', 'latin1');
    end.writeUInt16LE(n, 8);
    end.writeUInt16LE(n, 10);
    end.writeUInt32LE(list.length, 12);
    end.writeUInt32LE(at, 16);
    return Buffer.concat([...local, list, end]);
}

const escaped = (s) => s.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** sheets: name -> rows of texts, numbers and dates ({serial}); texts are shared, as Excel has them. */
export function workbook(sheets) {
    const strings = [],
        names = Object.keys(sheets);
    const cell = (v, c, r) => {
        const place = String.fromCharCode(65 + c) + (r + 1);
        if (typeof v === 'number') return `<c r="${place}"><v>${v}</v></c>`;
        if (v.serial) return `<c r="${place}" s="1"><v>${v.serial}</v></c>`;
        strings.push(`<si><t>${escaped(v)}</t></si>`);
        return `<c r="${place}" t="s"><v>${strings.length - 1}</v></c>`;
    };
    const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main',
        related = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships',
        packaged = 'http://schemas.openxmlformats.org/package/2006';
    const files = {
        '[Content_Types].xml': `<Types xmlns="${packaged}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`,
        'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${related}"><sheets>${names
            .map((n, i) => `<sheet name="${escaped(n)}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`)
            .join('')}</sheets></workbook>`,
        'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packaged}/relationships">${names
            .map(
                (_, i) =>
                    `<Relationship Id="rId${i + 1}" Type="${related}/worksheet" Target="worksheets/sheet${i + 1}.xml"/>`,
            )
            .join('')}<Relationship Id="s" Type="${related}/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="t" Type="${related}/styles" Target="styles.xml"/></Relationships>`,
        'xl/styles.xml': `<styleSheet xmlns="${main}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    };
    names.forEach((n, i) => {
        files[`xl/worksheets/sheet${i + 1}.xml`] =
            `<worksheet xmlns="${main}"><sheetData>${sheets[n]
                .map((row, r) => `<row r="${r + 1}">${row.map((v, c) => cell(v, c, r)).join('')}</row>`)
                .join('')}</sheetData></worksheet>`;
    });
    files['xl/sharedStrings.xml'] = `<sst xmlns="${main}">${strings.join('')}</sst>`;
    return zip(files);
}
