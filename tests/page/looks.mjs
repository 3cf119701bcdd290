// Runs in the page: what of it cannot be read, or has no name for those who hear it.

/** {low: texts whose contrast is under 4.5, nameless: controls without a name, wide: px too many} */
export function lookOver() {
    const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    const colour = (css) => {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = css;
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data];
    };
    const ground = (e) => {
        for (; e; e = e.parentElement) {
            const c = colour(getComputedStyle(e).backgroundColor);
            if (c[3] === 255) return c;
        }
        return [255, 255, 255, 255];
    };
    /* WCAG 2.2, relative luminance */
    const luminance = (c) =>
        c
            .slice(0, 3)
            .map((v) => v / 255)
            .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
            .reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
    const contrast = (a, b) => {
        const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
        return (x + 0.05) / (y + 0.05);
    };
    const low = [],
        nameless = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const e = texts.currentNode.parentElement,
            box = e.getBoundingClientRect();
        if (!texts.currentNode.data.trim() || !box.width || e.closest('.heard, .skip, svg, option'))
            continue;
        const ratio = contrast(colour(getComputedStyle(e).color), ground(e));
        if (ratio < 4.5)
            low.push(
                `${e.tagName}.${e.className} "${texts.currentNode.data.slice(0, 30)}" ${ratio.toFixed(2)}`,
            );
    }
    for (const e of document.querySelectorAll(
        'a, button, input, select, svg:not([aria-hidden]), [role=img], table',
    )) {
        const name = e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent ?? e.textContent;
        if (!name.trim()) nameless.push(e.outerHTML.slice(0, 80));
    }
    return { low, nameless, wide: document.documentElement.scrollWidth - innerWidth };
}
