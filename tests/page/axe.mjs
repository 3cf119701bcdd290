// WCAG 2.2 AA, by axe, of what is on the screen.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Violations that axe finds in a view, told to `against`: all views are looked at before a test fails. */
export async function check(page, what, against) {
    await page.evaluate(axe);
    const found = await page.evaluate(
        (values) => globalThis.axe.run(document, { runOnly: { type: 'tag', values } }),
        TAGS,
    );
    assert.ok(found.passes.length > 5, what);
    for (const v of found.violations)
        against.push(`${what}: ${v.id}: ${v.nodes[0].html.slice(0, 160)} (${v.nodes.length})`);
}
