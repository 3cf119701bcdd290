// The page for those who see, hear or move otherwise: WCAG 2.2 AA by axe, keys alone, twice the size,
// reduced motion.
import assert from 'node:assert/strict';
import { check } from './axe.mjs';
import { FEEDBACK, inBrowser, open, posts, server, still } from './fixture.mjs';

const VIEWS = [
    ['', '.row-link'],
    ['#/c/posts', '.trend-cell'],
    ['#/c/posts?view=map', 'a.tile'],
    ['#/c/posts?view=tree', '.tree'],
    ['#/c/posts/cluster/1', '.chart svg'],
    [`#/c/posts/doc/${'ID'}`, '.similar li'],
    ['#/c/posts/search?q=run', 'a.document'],
    ['#/c/posts/number', '[role=radiogroup]'],
    ['#/c/posts?view=tree&levels=3,8', '.tree'],
    ['#/c/posts/cluster/1?within=the', '.within'],
    ['#/c/posts/fields', '.crosstab'],
    ['#/c/posts/duplicates', '.alike'],
    ['#/c/posts/documents', '.map.points'],
    ['#/c/twice/news', '.watch-form'],
    ['#/c/airlines/edits', 'main h1'],
    ['#/c/described/topics', 'tbody tr'],
    ['#/c/twice/builds', '.builds'],
    ['#/c/twice/settings', '.settings'],
    ['#/c/twice/diff', '.diff'],
    ['#/c/raw', '.empty'],
    ['#/nothing', '.empty'],
];
/* Topics, which wait for a rebuild. */
let described;
const describe = () => (described ??= (async () => {
    await server.put('described', FEEDBACK);
    await server.ask('POST', 'collections/described/topics?name=Tabs&words=tabs&reason=asked%20for');
    await server.ask('POST', 'collections/described/topics?name=Crashes&like=4,5');
})());

const addressOf = (hash) => hash.replace('ID', posts[7].id);

for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 390],
])
    inBrowser(
        `WCAG 2.2 AA by axe at ${width} px, ${colorScheme}`,
        async (page) => {
            const against = [];
            await describe();
            for (const [hash, ready] of VIEWS) {
                await open(page, addressOf(hash), ready);
                await still(page);
                await check(page, hash, against);
            }
            /* Menus, forms and dialogs over a view. */
            await open(page, '#/c/posts', '.trend-cell');
            await still(page);
            await page.locator('td input.pick').first().check();
            await page.getByRole('button', { name: /^Actions of/ }).first().click();
            await page.waitForSelector('[role=menu]');
            await check(page, 'a menu, and clusters that are chosen', against);
            await page.keyboard.press('Escape');
            await page.getByRole('button', { name: /^Actions of/ }).first().focus();
            await page.keyboard.press('r');
            await page.waitForSelector('.rename');
            await check(page, 'a new name', against);
            await page.keyboard.press('Escape');
            await page.evaluate(() => {
                const data = new DataTransfer();
                data.items.add(new File(['id,when,text\n1,3/4/2015,late plane\n'], 'week.csv'));
                dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
            });
            await page.waitForSelector('dialog .preview');
            await check(page, 'an import', against);
            assert.deepEqual(against, []);
        },
        { colorScheme, viewport: { width, height: 844 } },
    );

/* Everything that can be clicked, by Tab alone; and what has the focus is seen. */
inBrowser('Tab reaches every control, in the order of the page, and the focus is seen', async (page) => {
    for (const hash of ['#/c/twice', '#/c/twice/cluster/1', '#/c/twice/settings', '#/c/twice/builds', '#/c/twice/fields', '#/c/twice/duplicates?min=0.3', '#/c/twice/news', '#/c/twice/edits', '#/c/twice/search?q=tabs']) {
        await open(page, hash);
        await still(page);
        const wanted = await page.evaluate(() => {
            const all = [...document.querySelectorAll('a[href], button, input, select, textarea, summary')];
            const some = all.filter(
                (e) => !e.disabled && e.checkVisibility({ visibilityProperty: true }) && e.tabIndex >= 0,
            );
            some.forEach((e, i) => (e.dataset.nth = i));
            return some.length;
        });
        const reached = new Set();
        for (let i = 0; i < wanted + 40 && reached.size < wanted; i++) {
            await page.keyboard.press('Tab');
            const [nth, outline] = await page.evaluate(() => {
                const e = document.activeElement,
                    style = getComputedStyle(e);
                return [e.dataset.nth, e === document.body || style.outlineStyle !== 'none'];
            });
            assert.ok(outline, `${hash}: focus is not seen`);
            if (nth !== undefined) reached.add(nth);
        }
        assert.equal(reached.size, wanted, hash);
    }
});

inBrowser(
    'at twice the size (200 %) nothing is lost, nor scrolls aside',
    async (page) => {
        for (const [hash, ready] of VIEWS) {
            await open(page, addressOf(hash), ready);
            await still(page);
            const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
            assert.ok(wide <= 0, `${hash} is ${wide} px too wide`);
        }
        await open(page, '#/c/posts', '.trend-cell');
        for (const name of ['Rebuild', 'More'])
            assert.ok(await page.getByRole('button', { name }).isVisible(), name);
    },
    { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 },
);

inBrowser('with reduced motion nothing moves', async (page) => {
    await open(page, '#/c/posts', '.trend-cell');
    const moving = await page.evaluate(
        () =>
            [...document.querySelectorAll('*')].filter((e) => {
                const s = getComputedStyle(e);
                return s.animationName !== 'none' || !/^(none|all)$/.test(s.transitionProperty);
            }).length,
    );
    assert.equal(moving, 0);
    assert.ok(await server.ask('GET', 'collections/posts'));
});
