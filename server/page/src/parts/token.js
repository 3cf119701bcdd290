// A dialog for the token, where the server asks for one. It is kept for this tab alone.
import { h } from '../dom.js';

let waiting = null;

/** A promise of the token; all who ask meanwhile get the same. */
export function askForToken(reason) {
    waiting ??= new Promise((resolve) => {
        const field = h('input', {
            id: 'token',
            type: 'password',
            autocomplete: 'off',
            required: true,
            spellcheck: 'false',
        });
        const dialog = h(
            'dialog',
            { class: 'dialog', 'aria-labelledby': 'token-title', 'data-stays': true },
            h(
                'form',
                {
                    onsubmit: (e) => {
                        e.preventDefault();
                        waiting = null;
                        dialog.close();
                        dialog.remove();
                        resolve(field.value.trim());
                    },
                },
                h('h2', { id: 'token-title' }, 'This server asks for a token'),
                h('p', { class: 'quiet' }, reason),
                h('label', { for: 'token' }, 'Token'),
                field,
                h('p', { class: 'quiet' }, 'It is kept in this tab until that is closed.'),
                h(
                    'div',
                    { class: 'actions' },
                    h('button', { class: 'primary', type: 'submit' }, 'Continue'),
                ),
            ),
        );
        dialog.addEventListener('cancel', (e) => e.preventDefault());
        document.body.append(dialog);
        dialog.showModal();
    });
    return waiting;
}
