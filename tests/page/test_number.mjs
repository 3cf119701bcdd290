// How many clusters: the curve, its reason, and another number chosen with the mouse and with keys.
import assert from 'node:assert/strict';
import { inBrowser, leads, open, parseCsv, posts, saved, server, still } from './fixture.mjs';

const points = (page) => page.getByRole('radio');
const picked = (page) => page.locator('[role=radio][aria-checked=true]');
const wanted = (page) => page.getByRole('spinbutton', { name: 'Clusters' });

const setOf = async (collection) => {
    const answer = await server.ask('GET', `collections/${collection}/configurations/default`);
    return answer.find((row) => row.key === 'k').value;
};

inBrowser('the curve is what the server explains', async (page) => {
    const steps = await server.ask('POST', 'collections/posts/builds?config=default&explain-k');
    const chosen = steps.find((s) => s.chosen);
    await open(page, '#/c/posts', '.clusters .row-link');
    await leads(page, () => page.getByRole('link', { name: 'How many?' }).click());
    await page.waitForSelector('[role=radiogroup]');
    await still(page);
    assert.match(page.url(), /#\/c\/posts\/number$/);
    assert.match(
        await page.locator('.why').innerText(),
        new RegExp(`^k=auto chooses ${chosen.k}: `),
    );
    assert.ok((await page.locator('.why').innerText()).includes(chosen.why));
    assert.equal(await points(page).count(), steps.length - 1);
    const label = await picked(page).getAttribute('aria-label');
    assert.match(label, new RegExp(`^${chosen.k} clusters, worth 0\\.\\d+, what k=auto chooses`));
    assert.equal(
        await page.locator('.step.plateau').count(),
        steps.filter((s) => s.plateau).length,
    );
    const [first, last] = [points(page).first(), points(page).last()];
    const [a, b] = [await first.boundingBox(), await last.boundingBox()];
    assert.ok(a.x < b.x);
    /* The highest point is the best. */
    const heights = await page
        .locator('.step circle')
        .evaluateAll((all) => all.map((c) => Number(c.getAttribute('cy'))));
    const worths = steps.slice(1).map((s) => s.worth);
    assert.equal(heights.indexOf(Math.min(...heights)), worths.indexOf(Math.max(...worths)));
    await page.getByText('As a table').click();
    assert.equal(await page.locator('details tbody tr').count(), steps.length);
    const { text } = await saved(page, page.getByRole('button', { name: 'CSV' }));
    const rows = parseCsv(text.replace(/^\ufeff/, ''));
    assert.deepEqual(rows[0], ['k', 'separation', 'worth', 'chosen']);
    assert.deepEqual(
        rows.slice(1).map((r) => Number(r[0])),
        steps.map((s) => s.k),
    );
});

inBrowser('a number is chosen with keys, and the collection clustered so', async (page) => {
    await server.put('numbered', posts.slice(0, 600));
    await server.rebuild('numbered');
    await open(page, '#/c/numbered/number', '[role=radiogroup]');
    await still(page);
    const all = await points(page).evaluateAll((list) =>
        list.map((p) => parseInt(p.getAttribute('aria-label'), 10)),
    );
    await picked(page).focus();
    await page.keyboard.press('Home');
    assert.equal(await wanted(page).inputValue(), String(all[0]));
    await page.keyboard.press('ArrowLeft'); /* there is none before */
    assert.equal(await wanted(page).inputValue(), String(all[0]));
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowUp');
    assert.equal(await wanted(page).inputValue(), String(all[2]));
    assert.equal(
        await page.evaluate(() => document.activeElement.getAttribute('aria-checked')),
        'true',
    );
    assert.equal(await page.locator('.step[tabindex="0"]').count(), 1);
    await page.keyboard.press('End');
    assert.equal(await wanted(page).inputValue(), String(all.at(-1)));
    /* A typed number need be no step. */
    await wanted(page).fill('13');
    assert.equal(await picked(page).count(), all.includes(13) ? 1 : 0);
    await points(page).nth(1).click();
    assert.equal(await wanted(page).inputValue(), String(all[1]));
    await page.getByRole('button', { name: `Cluster into ${all[1]}` }).click();
    await page.waitForSelector('.task.done');
    /* The build before is shown until the new one is there. */
    await page.waitForFunction(
        (n) => document.querySelectorAll('.clusters .row-link').length === n,
        all[1],
    );
    assert.match(page.url(), /#\/c\/numbered$/);
    assert.equal(String(await setOf('numbered')), String(all[1]));
    /* And back to what the program finds. */
    await open(page, '#/c/numbered/number', '[role=radiogroup]');
    await still(page);
    assert.equal(await wanted(page).inputValue(), String(all[1]));
    assert.match(await picked(page).getAttribute('aria-label'), /served now/);
    await page.getByRole('button', { name: 'Leave it open (k=auto)' }).click();
    await page.waitForSelector('.task.done');
    assert.equal(await setOf('numbered'), 'auto');
});

inBrowser('where there is nothing to choose, that is said', async (page) => {
    await server.put('one', [{ id: '1', text: 'A single document' }]);
    await open(page, '#/c/one/number', '.why');
    assert.match(await page.locator('.why').innerText(), /^k=auto chooses 1: there are too few/);
    assert.equal(await points(page).count(), 0);
});
