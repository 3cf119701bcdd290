// Texts of documents, labels, ids and names are data. They become text nodes and nothing else; what
// would be invisible or would turn the line around is shown by its number.

/* C0 but tab and newline, DEL, C1; marks and overrides of direction; separators of lines; tags. */
const HIDDEN =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

const nameOf = (c) => 'U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');

/** As one string: for titles, attributes, options. */
export const plain = (text) => String(text ?? '').replace(HIDDEN, (c) => `[${nameOf(c)}]`);

/* A word that is longer may be broken: columns are as wide as their longest word. */
const LONGEST_WORD = 24;

function addWords(element, text) {
    for (const part of text.split(new RegExp(`(\\S{${LONGEST_WORD}})(?=\\S)`, 'u'))) {
        if (!part) continue;
        element.append(part);
        if (part.length >= LONGEST_WORD && !/\s/.test(part))
            element.append(document.createElement('wbr'));
    }
}

/** As nodes, apart from the direction of what is around them. */
export function shown(text, longest = Infinity) {
    const element = document.createElement('bdi');
    let s = String(text ?? '');
    const cut = s.length > longest;
    if (cut) s = s.slice(0, longest).replace(/[\ud800-\udbff]$/, '');
    let at = 0;
    for (const found of s.matchAll(HIDDEN)) {
        addWords(element, s.slice(at, found.index));
        const mark = document.createElement('span');
        mark.className = 'hidden-character';
        mark.textContent = nameOf(found[0]);
        element.append(mark);
        at = found.index + found[0].length;
    }
    addWords(element, s.slice(at) + (cut ? ' …' : ''));
    return element;
}
