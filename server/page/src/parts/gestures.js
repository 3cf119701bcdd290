// Hands on a map: one finger or the mouse moves it, two fingers and the wheel zoom, and a line is drawn
// while that is asked for, or with Shift.

const FINGER = 5; /* px that a finger or mouse may shake */

/**
 * wants() says whether the next pull draws; moveBy(dx, dy), zoomAt(x, y, levels) in px of the element;
 * drawing(points) is called on each step of a line that is drawn, drawn(points) at its end, or with null
 * where there is nothing of it; tapped(point, event) where nothing was moved; wheeled(event, levels) says whether
 * the wheel is the map's.
 */
export function gestures(frame, { wants, moveBy, zoomAt, drawing, drawn, tapped, wheeled }) {
    const fingers = new Map(); /* id of a pointer -> where it is */
    let begun = null; /* {line: points or null, moved} */
    const inside = (e) => {
        const box = frame.getBoundingClientRect();
        return { x: e.clientX - box.left - frame.clientLeft, y: e.clientY - box.top - frame.clientTop };
    };

    frame.addEventListener('pointerdown', (e) => {
        if (e.button !== 0) return;
        const p = inside(e);
        fingers.set(e.pointerId, p);
        if (fingers.size === 1) begun = { ...p, line: wants() || e.shiftKey ? [p] : null, moved: false };
        else {
            begun = { line: null, moved: true };
            drawn(null);
        }
        if (e.shiftKey) e.preventDefault(); /* no text is chosen */
    });
    frame.addEventListener('pointermove', (e) => {
        const before = fingers.get(e.pointerId);
        if (!before || !begun) return;
        const p = inside(e);
        if (!begun.moved && Math.hypot(p.x - begun.x, p.y - begun.y) < FINGER) return;
        begun.moved = true;
        frame.setPointerCapture(e.pointerId);
        if (fingers.size === 2) {
            const [other] = [...fingers].find(([id]) => id !== e.pointerId).slice(1);
            const was = Math.hypot(before.x - other.x, before.y - other.y),
                is = Math.hypot(p.x - other.x, p.y - other.y);
            moveBy((p.x - before.x) / 2, (p.y - before.y) / 2);
            if (was > 1 && is > 1) zoomAt((p.x + other.x) / 2, (p.y + other.y) / 2, Math.log2(is / was));
        } else if (begun.line) {
            begun.line.push(p);
            drawing(begun.line);
        } else moveBy(p.x - before.x, p.y - before.y);
        fingers.set(e.pointerId, p);
    });
    const lifted = (e) => {
        if (!fingers.delete(e.pointerId) || fingers.size) return;
        const was = begun;
        begun = null;
        if (was?.line) drawn(was.moved && e.type === 'pointerup' ? [...was.line, inside(e)] : null);
        else if (was && !was.moved && e.type === 'pointerup') tapped?.(inside(e), e);
    };
    frame.addEventListener('pointerup', lifted);
    frame.addEventListener('pointercancel', lifted);
    frame.addEventListener(
        'wheel',
        (e) => {
            const by = Math.max(-1, Math.min(1, -e.deltaY * (e.deltaMode ? 0.05 : 0.0025)));
            if (!wheeled(e, by)) return;
            e.preventDefault();
            const p = inside(e);
            zoomAt(p.x, p.y, by);
        },
        { passive: false },
    );
    return { inside };
}
