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

const BARE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** A pattern of these words, or null for none: whole words, whatever their case. */
export function patternOf(words) {
    const all = [...new Set(words.filter(Boolean).map((w) => w.replace(/\s+/g, ' ')))]
        .sort((a, b) => b.length - a.length)
        .map((w) => {
            const escaped = w.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
            return BARE.test(w) ? escaped : `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`;
        });
    return all.length ? new RegExp(all.join('|'), 'giu') : null;
}

/** As shown(), with what the pattern finds marked. */
export function marked(text, pattern) {
    const s = String(text ?? ''),
        element = document.createElement('bdi');
    let at = 0;
    for (const found of pattern ? s.matchAll(pattern) : []) {
        const mark = document.createElement('mark');
        mark.append(shown(found[0]));
        element.append(shown(s.slice(at, found.index)), mark);
        at = found.index + found[0].length;
    }
    element.append(shown(s.slice(at)));
    return element;
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
