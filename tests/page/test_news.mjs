// What is new: groups of new documents, what was told of them, and the watches.
import assert from 'node:assert/strict';
import { check } from './axe.mjs';
import { inBrowser, leads, open, posts, server, still, texts } from './fixture.mjs';

const NEWS = '.watch-form';

let made;
/* A collection with a watch that posts where nobody listens, and thirty documents of a subject it has not. */
const feed = () =>
    (made ??= (async () => {
        await server.put('feed', posts.slice(0, 600));
        await server.rebuild('feed');
        await server.ask('POST', 'collections/feed/watches?when=new%20%3E%3D%2020&post=http%3A%2F%2F127.0.0.1%3A9%2Falerts');
        await server.put(
            'feed',
            Array.from({ length: 30 }, (_, i) => ({ id: `n${i}`, text: `Sturgeon and halibut told in ${i} ways`, time: 1277293943 + i * 86400 })),
        );
        await server.ask('POST', 'collections/feed/watches/run');
    })());

const watchesNow = () => server.ask('GET', 'collections/feed/watches');

async function openNews(page) {
    await feed();
    await open(page, '#/c/feed/news', NEWS);
    await page.waitForSelector('.alike');
    await still(page);
}

inBrowser('groups of new documents, with id, size and documents; and what was told', async (page) => {
    await openNews(page);
    const [group] = await server.ask('GET', 'collections/feed/new');
    const [alert] = await server.ask('GET', 'collections/feed/alerts');
    assert.equal(group.size, 30);
    const card = page.locator('.alike').first();
    assert.equal(await card.locator('h3').textContent(), group.label);
    await card.getByText('30 documents', { exact: true }).waitFor();
    await card.getByRole('link', { name: `cluster ${group.cluster}`, exact: true }).waitFor();
    assert.deepEqual(
        await card.locator('a.document').evaluateAll((all) => all.map((a) => a.getAttribute('href').split('/').at(-1))),
        group.documents.map((d) => d.id),
    );
    const told = page.locator('table[aria-label=Alerts] tbody tr');
    assert.equal(await told.count(), 1);
    const words = await told.textContent();
    for (const part of [alert.label, 'new group', '30', 'new >= 20', 'waiting (post)', alert.problem]) assert.ok(words.includes(part), `${part} in ${words}`);
    await leads(page, () => card.locator('a.document').first().click());
    await page.waitForSelector('.document-text');
});

inBrowser('watches are added and deleted; what cannot be added here is said', async (page) => {
    await openNews(page);
    assert.ok((await texts(page, 'main p')).some((p) => /run a command, write mail or sign/.test(p)));
    const before = (await watchesNow()).length;
    await page.getByLabel('Tell when').fill('new => 5');
    await page.getByLabel('Post it to').fill('http://127.0.0.1:9/more?key=7');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.watch-form .problem:not(:empty)');
    assert.equal((await watchesNow()).length, before);
    page.told.length = 0; /* the browser tells of the answer 400 */
    await page.getByLabel('Tell when').fill('rising z >= 4');
    await leads(page, () => page.keyboard.press('Enter'));
    const added = (await watchesNow()).at(-1);
    assert.deepEqual([added.when, added.way, added.target], ['rising z >= 4', 'post', 'http://127.0.0.1:9/more']);
    await page.getByRole('button', { name: 'Delete the watch rising z >= 4' }).click();
    await leads(page, () => page.getByRole('button', { name: 'Delete it' }).click());
    assert.equal((await watchesNow()).length, before);
    assert.equal(await page.getByText('rising z >= 4', { exact: true }).locator('visible=true').count(), 1); /* the toast */
});

inBrowser('a look on demand says what came of it; the menu leads here', async (page) => {
    await feed();
    await open(page, '#/c/feed', '.clusters .row-link');
    await still(page);
    await page.getByRole('button', { name: 'More' }).click();
    await leads(page, () => page.getByRole('menuitem', { name: 'What is new' }).click());
    await page.waitForSelector(NEWS);
    await page.getByRole('button', { name: 'Look now' }).click();
    await page.locator('.toast', { hasText: 'Looked: 1 group, 0 alerts made' }).waitFor();
    await still(page);
});

for (const colorScheme of ['light', 'dark'])
    for (const width of [1280, 390])
        inBrowser(
            `what is new: WCAG 2.2 AA by axe at ${width} px, ${colorScheme}`,
            async (page) => {
                const against = [];
                await openNews(page);
                await check(page, 'what is new', against);
                assert.deepEqual(against, []);
                const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
                assert.ok(wide <= 0, `${wide} px too wide`);
            },
            { colorScheme, viewport: { width, height: 844 } },
        );
