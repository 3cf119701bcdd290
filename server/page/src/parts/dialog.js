// Dialogs: something to fill in, and something to be sure of.
import { h } from '../dom.js';

let count = 0;

/** A dialog that is open: its title, what is in it, the buttons at its foot; gone once it is closed. */
export function openDialog(title, children, actions, kind = '') {
    const id = `dialog-${++count}`,
        before = document.activeElement;
    const dialog = h(
        'dialog',
        { class: 'dialog ' + kind, 'aria-labelledby': id },
        h('h2', { id }, title),
        children,
        h('div', { class: 'actions' }, actions),
    );
    dialog.addEventListener('close', () => {
        dialog.remove();
        if (document.activeElement === document.body) before?.focus?.();
    });
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
}

/** Close what was asked on a view that one has left; [data-stays] is of no view, or at work. */
export function closeDialogs() {
    for (const dialog of document.querySelectorAll('dialog[open]:not([data-stays])')) dialog.close();
}

/** A promise of whether somebody wants what the verb says. */
export function confirm({ title, words, verb }) {
    return new Promise((resolve) => {
        let wanted = false;
        const dialog = openDialog(
            title,
            h('p', {}, words),
            [
                h('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'),
                h(
                    'button',
                    {
                        type: 'button',
                        class: 'danger',
                        onclick: () => {
                            wanted = true;
                            dialog.close();
                        },
                    },
                    verb,
                ),
            ],
        );
        dialog.addEventListener('close', () => resolve(wanted));
    });
}
