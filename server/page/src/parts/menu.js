// A button that opens a menu of actions. Arrows, Home and End walk it, Escape closes it.
import { h } from '../dom.js';

let close = () => {};

function open(button, items) {
    const before = button.getAttribute('aria-expanded') === 'true';
    close();
    if (before) return;
    const element = h(
        'div',
        { class: 'menu', role: 'menu', 'aria-label': button.getAttribute('aria-label') ?? button.textContent },
        items.map((item) =>
            item === '-'
                ? h('hr', {})
                : h(
                      item.href ? 'a' : 'button',
                      {
                          role: 'menuitem',
                          tabindex: '-1',
                          type: item.href ? null : 'button',
                          href: item.href,
                          class: item.danger ? 'danger-word' : '',
                          'aria-keyshortcuts': item.key,
                          onclick: () => {
                              shut(true);
                              item.run?.();
                          },
                      },
                      h('span', {}, item.name),
                      item.key ? h('kbd', { 'aria-hidden': 'true' }, item.key) : null,
                  ),
        ),
    );
    const all = [...element.querySelectorAll('[role=menuitem]')];
    function shut(back) {
        element.remove();
        button.setAttribute('aria-expanded', 'false');
        removeEventListener('pointerdown', outside, true);
        removeEventListener('scroll', away, true);
        removeEventListener('resize', away);
        close = () => {};
        if (back) button.focus();
    }
    const outside = (e) => element.contains(e.target) || button.contains(e.target) || shut(false);
    const away = () => shut(element.contains(document.activeElement));
    element.addEventListener('keydown', (e) => {
        const now = all.indexOf(document.activeElement);
        const to = {
            ArrowDown: (now + 1) % all.length,
            ArrowUp: (now - 1 + all.length) % all.length,
            Home: 0,
            End: all.length - 1,
        }[e.key];
        e.stopPropagation();
        if (to !== undefined) all[to].focus();
        else if (e.key === 'Escape') shut(true);
        else if (e.key === 'Tab') return shut(true);
        else if (e.key === ' ' && document.activeElement.href) document.activeElement.click();
        else return;
        e.preventDefault();
    });
    (button.closest('main') ?? document.body).append(element);
    const b = button.getBoundingClientRect(),
        m = element.getBoundingClientRect();
    const below = b.bottom + 4 + m.height <= innerHeight || b.top < m.height;
    element.style.left = Math.max(8, Math.min(b.right - m.width, innerWidth - m.width - 8)) + 'px';
    element.style.top = (below ? b.bottom + 4 : b.top - 4 - m.height) + 'px';
    button.setAttribute('aria-expanded', 'true');
    close = () => shut(false);
    addEventListener('pointerdown', outside, true);
    addEventListener('scroll', away, true);
    addEventListener('resize', away);
    all[0]?.focus({ preventScroll: true });
}

/** items() -> [{name, run() or href, key, danger} or '-'], asked when it is opened. */
export const menu = (label, items, text = '⋯', kind = 'plain') =>
    h(
        'button',
        {
            type: 'button',
            class: kind,
            'aria-label': label === text ? null : label,
            title: label === text ? null : label,
            'aria-haspopup': 'menu',
            'aria-expanded': 'false',
            onclick: (e) => open(e.currentTarget, items()),
        },
        text,
    );
