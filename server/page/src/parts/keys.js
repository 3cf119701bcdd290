// Keys: arrows walk rows and tiles, Enter opens (they are links), "/" searches, "?" helps, Escape goes up.
import { h } from '../dom.js';
import { undoLatest } from './toast.js';
import { neighbour } from './treemap.js';

const KEYS = [
    ['↑ ↓ or k j', 'walk the rows of a table'],
    ['← ↑ ↓ →', 'walk the tiles of a map'],
    ['← →, Home, End', 'choose on the curve of numbers of clusters'],
    ['Enter', 'open'],
    ['x', 'choose the cluster of the row, or no longer'],
    ['r', 'rename the cluster'],
    ['m', 'what can be done with the cluster'],
    ['Ctrl Z', 'take back what was done last'],
    ['← ↑ ↓ →, + −', 'move the map of tweets; 0 shows all of it, b takes what is seen as the box'],
    ['← ↑ ↓ →, + −', 'move the map of documents; 0 shows all of it, l lists what is in view'],
    ['/', 'search, or filter'],
    ['Escape', 'leave a field; go one level up'],
    ['d', 'light or dark'],
    ['?', 'this list'],
];

export function help() {
    const dialog = h(
        'dialog',
        { class: 'dialog', 'aria-labelledby': 'help-title' },
        h('h2', { id: 'help-title' }, 'Keys'),
        h(
            'dl',
            { class: 'keys' },
            KEYS.map(([key, what]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, what)]),
        ),
        h(
            'p',
            { class: 'quiet' },
            h('a', { href: 'openapi.json' }, 'The interface'),
            ' · ',
            h('a', { href: 'page/licences.txt' }, 'Licences'),
        ),
        h(
            'form',
            { method: 'dialog', class: 'actions' },
            h('button', { class: 'primary' }, 'Close'),
        ),
    );
    dialog.addEventListener('close', () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
}

const isField = (e) =>
    e.matches?.('input:not([type=checkbox], [type=radio]), select, textarea');

function walk(step) {
    const links = [...document.querySelectorAll('main .row-link')];
    if (!links.length) return false;
    const row = document.activeElement.closest?.('tr');
    const now = links.findIndex(
        (l) => l === document.activeElement || (row && l.closest('tr') === row),
    );
    const next = links[now < 0 ? (step > 0 ? 0 : links.length - 1) : now + step];
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
    return true;
}

/* The action of a key on the row that has the focus, else on the whole view. */
function act(key) {
    const row = document.activeElement.closest?.('main tr'),
        root = row ?? document.querySelector('main > .head');
    const button = root?.querySelector('button[aria-haspopup=menu].of-cluster');
    if (key === 'x') row?.querySelector('input.pick')?.click();
    else if (key === 'm') button?.click();
    else if (button) return button.byKey(key);
    else return false;
    return !!(key === 'x' ? row : button);
}

/** up() goes one level up; dark() changes light and dark. */
export function listen({ up, dark }) {
    addEventListener('keydown', (e) => {
        if (document.querySelector('dialog[open]')) return;
        const at = document.activeElement;
        if ((e.ctrlKey || e.metaKey) && e.key === 'z' && !isField(at) && undoLatest())
            return e.preventDefault();
        if (e.ctrlKey || e.metaKey || e.altKey) return;
        if (isField(at)) {
            if (e.key === 'Escape') at.blur();
            return;
        }
        const field =
            document.querySelector('main .tweet-search input') ??
            document.querySelector('#search:not([hidden]) input, main input[type=search]');
        if (e.key === '/' && field) field.focus();
        else if (e.key === '?') help();
        else if (e.key === 'd') dark();
        else if (e.key === 'Escape') up();
        else if (['x', 'r', 'm'].includes(e.key) && act(e.key));
        else if (e.key.startsWith('Arrow') && at.matches?.('a.tile')) neighbour(at, e.key)?.focus();
        else if (e.key === 'ArrowRight' && at === document.body)
            document.querySelector('main a.tile')?.focus();
        else if (
            !((e.key === 'ArrowDown' || e.key === 'j') && walk(1)) &&
            !((e.key === 'ArrowUp' || e.key === 'k') && walk(-1))
        )
            return;
        e.preventDefault();
    });
}
