// Places in the history: how far each was scrolled, what had the focus, what was chosen on it, and
// from where one came. Going back shows a view as it was left; going up goes back where it can.
import * as route from '../route.js';

const begun = Date.now().toString(36); /* entries of the history outlast a reload, places do not */
const places = new Map(); /* name of an entry of the history -> its place */
const latest = new Map(); /* address without values -> the place that was there last */

const addressOf = (hash) => hash.split('?')[0] || '#/';

/** The place at which one is: {hash, where, from, kept, y, focus}; kept is the view's own. */
export let here = null;

const kindOf = (e) =>
    [
        e.tagName,
        e.getAttribute('href') ??
            e.getAttribute('aria-label') ??
            e.getAttribute('name') ??
            e.textContent.trim().slice(0, 80),
    ].join(' ');

/** What has the focus within an element, so that it is found among other elements that are alike. */
export function focusIn(root) {
    const e = document.activeElement;
    if (!e || e === root || !root.contains(e)) return null;
    const kind = kindOf(e),
        alike = [...root.querySelectorAll(e.tagName)].filter((x) => kindOf(x) === kind);
    /* Where the caret is in a field of a number is not told; that all of it is selected is. */
    const whole = e.tagName === 'INPUT' && e.value !== '' && getSelection().toString() === e.value;
    return { tag: e.tagName, kind, number: alike.indexOf(e), at: e.selectionStart, whole };
}

/** Give the focus back; true where there is such an element. */
export function focusAgain(root, focus) {
    if (!focus) return true;
    const alike = [...root.querySelectorAll(focus.tag)].filter((x) => kindOf(x) === focus.kind);
    const e = alike[focus.number] ?? alike[0];
    if (!e) return false;
    e.focus({ preventScroll: true });
    if (focus.whole) e.select();
    else if (focus.at) e.setSelectionRange?.(focus.at, focus.at);
    return true;
}

/** Change what is in an element, and keep the focus. */
export function keepFocus(root, change) {
    const focus = focusIn(root);
    change();
    if (focus) focusAgain(root, focus);
}

const main = () => document.getElementById('main');

let held = null; /* ends what holds the view at its place */

function letGo() {
    held?.();
    held = null;
}

/* What is on the screen is of `here`, if that was shown. */
function note() {
    if (!here?.shown) return;
    if (!held) here.y = scrollY; /* or what is not there yet would be forgotten */
    here.focus = focusIn(main()) ?? here.focus;
}

/** Leave the place at which one is for that of the address; true where one has been there before. */
export function arrive() {
    note();
    const known = places.get(history.state?.place);
    if (known) {
        const again = known !== here;
        here = known;
        return again;
    }
    const name = `${begun}-${places.size}`,
        address = addressOf(location.hash),
        before = latest.get(address);
    const same = here && addressOf(here.hash) === address;
    here = {
        hash: location.hash,
        where: route.read(),
        from: here,
        kept: same ? here.kept : (goingUp && before?.kept) || {},
        y: same ? scrollY : goingUp && before ? before.y : 0,
        focus: same || (goingUp && before) ? (same ? here : before).focus : null,
        shown: false,
    };
    goingUp = false;
    places.set(name, here);
    latest.set(address, here);
    history.replaceState({ place: name }, '');
    return false;
}

/* What somebody did with keys, mouse, wheel or fingers. */
let acts = 0;
for (const act of ['keydown', 'pointerdown', 'wheel', 'touchstart'])
    addEventListener(act, () => (acts++, letGo()), { capture: true, passive: true });


/**
 * Scroll and focus as the place has it, and again whenever something that comes later has moved it, however
 * late that is: until somebody moves, or goes elsewhere.
 */
export function settle() {
    const place = here,
        since = acts,
        root = document.documentElement;
    letGo();
    place.shown = true;
    let found = false,
        put = 0;
    const again = () => {
        if (here !== place || acts !== since) return letGo();
        if (Math.abs(scrollY - place.y) > 1) scrollTo(0, place.y);
        put = scrollY;
        found ||= focusAgain(main(), place.focus);
    };
    /* A scrollbar tells of itself only by where it has moved the view to; one that has become shorter is at its end. */
    const scrolled = () => {
        const last = root.scrollHeight - innerHeight;
        if (scrollY > put + 1 || scrollY < Math.min(put, last) - 1) letGo();
    };
    const drawn = new MutationObserver(again),
        grown = new ResizeObserver(again);
    again();
    if (!place.y && found) return;
    held = () => {
        drawn.disconnect();
        grown.disconnect();
        removeEventListener('scroll', scrolled);
        root.style.overflowAnchor = '';
    };
    root.style.overflowAnchor = 'none'; /* the browser would move the view along with what comes above it */
    drawn.observe(main(), { childList: true, subtree: true });
    grown.observe(main());
    addEventListener('scroll', scrolled);
}

let goingUp = false;

/** Go to an address that is one level up: back, where one came from there. */
export function goUp(hash) {
    if (here?.from && addressOf(here.from.hash) === addressOf(hash) && here.from.shown)
        return history.back();
    goingUp = location.hash !== hash;
    location.hash = hash;
}
