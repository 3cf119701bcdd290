// Runs in the page: what of it cannot be read, or has no name for those who hear it.

/**
 * {low: texts whose contrast is under 4.5, nameless: controls without a name, wide: px too many,
 * broken: words of up to 20 letters that are broken inside, cut: parts of where one is that are not
 * shown as a whole}
 */
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
    const broken = [];
    const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
        const node = words.currentNode;
        if (node.parentElement.closest('.heard, .skip, svg, option, .id, .id-title')) continue;
        for (const found of node.data.matchAll(/[\p{L}\p{N}]{2,20}/gu)) {
            const range = document.createRange();
            range.setStart(node, found.index);
            range.setEnd(node, found.index + found[0].length);
            const lines = new Set([...range.getClientRects()].map((r) => Math.round(r.top)));
            if (lines.size > 1) broken.push(found[0]);
        }
    }
    const cut = [...document.querySelectorAll('#crumbs > *')]
        .filter((e) => {
            const box = e.getBoundingClientRect();
            return e.scrollWidth > e.clientWidth + 1 || box.width < 8 || box.right > innerWidth + 1;
        })
        .map((e) => e.textContent);
    return { low, nameless, broken, cut, wide: document.documentElement.scrollWidth - innerWidth };
}
