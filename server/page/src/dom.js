// Elements. Children that are strings become text; nothing is ever parsed as HTML.

const SVG = 'http://www.w3.org/2000/svg';

function set(element, name, value) {
    if (value === null || value === undefined || value === false) return;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style')
        for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else if (name === 'value' || name === 'checked' || name === 'disabled') element[name] = value;
    else element.setAttribute(name, value === true ? '' : value);
}

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) set(element, name, value);
    element.append(
        ...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false),
    );
    return element;
}

export const h = (tag, attributes, ...children) =>
    fill(document.createElement(tag), attributes, children);

export const svg = (tag, attributes, ...children) =>
    fill(document.createElementNS(SVG, tag), attributes, children);

/** Tell those who hear the page what changed on it. */
export function announce(words) {
    const place = document.getElementById('announcer');
    if (place) place.textContent = words;
}

/** Give the browser a file to save. */
export function save(name, type, parts) {
    const address = URL.createObjectURL(new Blob(parts, { type }));
    const link = h('a', { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/**
 * For a form's onsubmit: run() once, though Enter is pressed twice. It may be sent again where run gives
 * false, such as when the server has refused it.
 */
export function onSubmit(run) {
    let busy = false;
    return async (e) => {
        e.preventDefault();
        if (busy) return;
        busy = true;
        busy = (await run()) !== false;
    };
}
