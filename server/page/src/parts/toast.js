// Something that has been done, said at the page's foot, with the way to take it back.
import { announce, h } from '../dom.js';
import * as route from '../route.js';
import { plain, shown } from '../text.js';
import { inWords } from '../words.js';

const SECONDS = 12;

let latest = null; /* the one that Ctrl+Z takes back */

/* What is taken back is asked of the namespace that is shown: nothing of another can be. */
const namespaceNow = () => route.read().values.namespace ?? '';

/** Forget what was said in another namespace than that of the address. */
export function forgetOthers() {
    for (const old of document.querySelectorAll('#dock .toast'))
        if (old.dataset.namespace !== namespaceNow()) {
            old.remove();
            latest = null;
        }
}

/** words: nodes; undo() takes it back, and says how that went by an exception alone. */
export function toast(words, undo) {
    const said = h('span', { class: 'task-words' }, words);
    const tools = h('span', { class: 'tools' });
    const element = h('div', { class: 'task toast', 'data-namespace': namespaceNow() }, said, tools);
    const me = { undo: null };
    const go = () => {
        element.remove();
        if (latest === me) latest = null;
    };
    const dismiss = h(
        'button',
        { type: 'button', class: 'small', 'aria-label': 'Dismiss', onclick: go },
        '×',
    );
    if (undo) {
        me.undo = async () => {
            latest = null;
            tools.replaceChildren();
            try {
                await undo();
                go();
                announce('Taken back');
            } catch (e) {
                element.classList.add('failed');
                said.replaceChildren(shown(inWords(e.message)));
                tools.replaceChildren(dismiss);
            }
        };
        tools.append(
            h('button', { type: 'button', class: 'small undo', onclick: me.undo }, 'Undo'),
        );
        latest = me;
    }
    tools.append(dismiss);
    /* One at a time: what was said before can be undone from the list of changes. */
    for (const old of document.querySelectorAll('#dock .toast:not(.failed)')) old.remove();
    document.getElementById('dock').append(element);
    announce(plain(said.textContent) + (undo ? '. Control Z takes it back.' : ''));
    /* It stays while somebody is at it. */
    const later = () =>
        setTimeout(() => (element.matches(':hover, :focus-within') ? later() : go()), SECONDS * 1000);
    later();
}

/** Something has failed. */
export function failure(e) {
    toast(shown(inWords(e.message)));
    document.querySelector('.toast:last-child')?.classList.add('failed');
}

/** Take back what was done last; false where there is nothing. */
export function undoLatest() {
    if (!latest) return false;
    latest.undo();
    return true;
}
