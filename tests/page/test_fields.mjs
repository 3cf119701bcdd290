// Clusters otherwise: by the values of a field, in groups of several levels, what is nearly the same; searched
// within, merged by dragging, and changed by somebody else meanwhile.
import assert from 'node:assert/strict';
import { drag, inBrowser, leads, open, parseCsv, posts, saved, server, still, texts } from './fixture.mjs';

const LIST = '.clusters .row-link';
const clustersOf = (name) => server.ask('GET', `collections/${name}/clusters`);
const percent = (share) => `${(share * 100).toFixed(1)} %`;

async function made(name, documents = posts.slice(0, 600)) {
    await server.put(name, documents);
    await server.ask('PATCH', `collections/${name}/configurations/default?set=k=6`);
    await server.rebuild(name);
    return clustersOf(name);
}

inBrowser('clusters by a field: shares, what is more than elsewhere, an order, CSV; and over time', async (page) => {
    const rows = await server.ask('GET', 'collections/posts/clusters?by-field=label');
    const [all, first] = rows,
        values = Object.keys(all.counts);
    await open(page, '#/c/posts', LIST);
    await leads(page, () => page.getByRole('link', { name: 'By field' }).click());
    await still(page);
    assert.match(await page.locator('.facts').innerText(), new RegExp(`label.? has ${all.distinct} values`));
    const line = async (i) =>
        (await page.locator('.crosstab tbody tr').nth(i).locator('td').allInnerTexts()).map((t) => t.split(/[↑↓,]/)[0].trim());
    assert.deepEqual((await line(0)).slice(2, 2 + values.length), values.map((v) => percent(all.shares[v])));
    assert.deepEqual((await line(1)).slice(2, 2 + values.length), values.map((v) => percent(first.shares[v])));
    /* What is marked is what the server's test says, no more and no less. */
    assert.equal(
        await page.locator('tbody .more-here').count(),
        rows.reduce((n, r) => n + (r.more?.length ?? 0), 0),
    );
    assert.equal(
        await page.locator('tbody .less-here').count(),
        rows.reduce((n, r) => n + (r.less?.length ?? 0), 0),
    );
    /* All documents stay on top, whatever the order. */
    await page.getByRole('button', { name: values[0], exact: true }).click();
    assert.equal((await line(0))[0], 'all documents');
    const best = rows.slice(1).sort((a, b) => (b.shares[values[0]] ?? 0) - (a.shares[values[0]] ?? 0))[0];
    assert.equal((await line(1))[0], best.label);
    assert.match(page.url(), /sort=-/);
    const { text } = await saved(page, page.getByRole('button', { name: 'CSV' }));
    const [head, total, ...lines] = parseCsv(text.slice(1));
    assert.equal(lines.length, rows.length - 1);
    assert.equal(+total[head.indexOf(values[0])], all.counts[values[0]]);
    /* One value, period by period. */
    await leads(page, () => page.getByLabel('Time', { exact: true }).selectOption('year'));
    await leads(page, () => page.getByLabel('Value', { exact: true }).selectOption(values[1]));
    const yearly = await server.ask('GET', 'collections/posts/clusters?by-field=label&by=year&periods=12');
    const totals = yearly.filter((r) => r.total);
    assert.deepEqual((await line(0)).slice(2), totals.map((r) => percent(r.shares[values[1]] ?? 0)));
    assert.match(page.url(), /time=year/);
});

inBrowser('clusters by a field of numbers, and by none', async (page) => {
    const some = posts.slice(0, 300).map((d, i) => ({ ...d, stars: (i % 5) + 1 }));
    await made('stars', some);
    const [all, first] = await server.ask('GET', 'collections/stars/clusters?by-field=stars');
    assert.ok(all.numbers);
    await open(page, '#/c/stars/fields?field=stars', '.crosstab');
    const cells = await page.locator('.crosstab tbody tr').nth(1).locator('td').allInnerTexts();
    assert.equal(cells[0], first.label);
    assert.ok(cells.some((t) => t.startsWith(String(first.numbers.median))), cells.join('|'));
    /* As values, too, where so many are asked for. */
    await leads(page, () => page.getByLabel('Values', { exact: true }).selectOption('8'));
    assert.deepEqual((await texts(page, '.crosstab thead th')).slice(2).sort(), ['1', '2', '3', '4', '5']);
    await open(page, '#/c/airlines/fields', '.empty');
    assert.match(await page.locator('.empty').innerText(), /no field/);
    await open(page, '#/c/raw/fields', '.empty');
});

inBrowser('near-duplicates: groups, each with the earliest; how alike can be said', async (page) => {
    const copies = posts.slice(0, 200).flatMap((d, i) => (i < 3 ? [d, { ...d, id: `${d.id}-again` }] : [d]));
    await made('copied', copies);
    for (const min of ['0.8', '0.95']) {
        const rows = await server.ask('GET', `collections/copied/duplicates?min=${min}&limit=0&members=0`);
        await open(page, `#/c/copied/duplicates?min=${min}`, '.alike');
        assert.equal(await page.locator('.alike').count(), Math.min(20, rows[0].groups));
        assert.match(await page.locator('.facts').innerText(), new RegExp(`^${rows[0].groups} groups?; ${rows[0].copies} document`));
        assert.deepEqual(
            await page.locator('.alike li.representative a.document').evaluateAll((all) => all.map((a) => a.getAttribute('href'))),
            rows.filter((r) => r.representative).slice(0, 20).map((r) => `#/c/copied/doc/${r.id}`),
        );
    }
    const { text } = await saved(page, page.getByRole('button', { name: 'CSV' }));
    assert.ok(parseCsv(text.slice(1)).length > 6);
});

inBrowser('near-duplicates that have no other words that count are said to be so', async (page) => {
    await made('wordless', [
        { id: 'first', text: 'What are these beauties?', time: 1 },
        { id: 'other', text: "They're here! And they're beautiful!", time: 2 },
        { id: 'again', text: 'What are these BEAUTIES', time: 3 },
        ...posts.slice(0, 200).filter((d) => !/beaut/i.test(d.text)),
    ]);
    await open(page, '#/c/wordless/duplicates', '.alike');
    const group = page.locator('.alike').filter({ hasText: 'What are these beauties?' });
    await group.getByText('that they are alike says little').waitFor();
    const said = await group.locator('li').allInnerTexts();
    assert.equal(said.length, 3);
    assert.deepEqual(said.map((t) => /the same words that count/.test(t)), [false, true, false]);
});

inBrowser('groups on levels: chosen or typed, opened and closed, and the address says so', async (page) => {
    const clusters = await clustersOf('posts');
    await open(page, '#/c/posts?view=tree', '.tree');
    await page.getByLabel('Groups on each level').fill('3, 7');
    await leads(page, () => page.keyboard.press('Enter'));
    assert.match(page.url(), /levels=3%2C7/);
    const rows = await server.ask('GET', `collections/posts/clusters?levels=3,7,${clusters.length}`);
    const groups = rows.filter((r) => r.depth && !r.cluster);
    assert.deepEqual(await texts(page, '.tree .group-name'), groups.map((r) => r.label));
    assert.deepEqual((await texts(page, '.tree .row-link')).sort(), clusters.map((c) => c.label).sort());
    /* What is closed is so on Back. */
    await page.locator('.tree summary').first().click();
    const open3 = await page.locator('.tree details[open]').count();
    await leads(page, () => page.locator('.tree .row-link:visible').first().click());
    await leads(page, () => page.goBack());
    assert.equal(await page.locator('.tree details[open]').count(), open3);
    await leads(page, () => page.getByLabel('Groups', { exact: true }).selectOption(''));
    assert.ok(!page.url().includes('levels'));
});

inBrowser('within the documents of a cluster one searches, and the address says so', async (page) => {
    const [first] = await clustersOf('posts');
    const [term] = first.terms;
    const rows = await server.rows(
        `collections/posts/search?query=${encodeURIComponent(term.term)}&cluster=${first.cluster}&limit=1000`,
    );
    await open(page, `#/c/posts/cluster/${first.cluster}`, 'a.document');
    await page.getByLabel('Search the documents of this cluster').fill(term.term);
    await leads(page, () => page.keyboard.press('Enter'));
    assert.match(await page.locator('.documents .section-head').innerText(), new RegExp(`${rows.length} documents with`));
    assert.equal(await page.locator('.documents a.document').count(), Math.min(50, rows.length));
    assert.ok((await page.locator('.documents mark').count()) > 0);
    assert.match(page.url(), /within=/);
    await leads(page, () => page.getByRole('link', { name: 'all of them' }).click());
    assert.equal(await page.locator('.documents mark').count(), 0);
});

const rowAt = (page, i) => page.locator('.clusters tbody tr').nth(i);

inBrowser('a cluster that is dragged onto another is merged into it, with all that are chosen; and back', async (page) => {
    const before = await made('dragged');
    await open(page, '#/c/dragged', LIST);
    await still(page);
    await drag(page, rowAt(page, 0), rowAt(page, 2));
    await page.waitForSelector('.toast');
    await still(page);
    const now = await clustersOf('dragged');
    assert.equal(now.find((c) => c.cluster === before[2].cluster).size, before[0].size + before[2].size);
    assert.ok(!now.some((c) => c.cluster === before[0].cluster));
    /* It is told what the whole is called. */
    const label = now.find((c) => c.cluster === before[2].cluster).label;
    assert.ok((await page.locator('.toast').innerText()).includes(label));
    await leads(page, () => page.locator('.toast').getByRole('button', { name: 'Undo' }).click());
    await still(page);
    assert.deepEqual(await texts(page, LIST), before.map((c) => c.label));
    await page.locator('td input.pick').nth(3).check();
    await page.locator('td input.pick').nth(4).check();
    await drag(page, rowAt(page, 4), rowAt(page, 1));
    await page.waitForSelector('.toast');
    await still(page);
    const then = await clustersOf('dragged');
    assert.equal(
        then.find((c) => c.cluster === before[1].cluster).size,
        before[1].size + before[3].size + before[4].size,
    );
    assert.equal(await page.locator('.selection').isVisible(), false);
});

inBrowser('what somebody else changes is shown, with its trend, and nobody who types is disturbed', async (page) => {
    const before = await made('shared');
    await open(page, '#/c/shared', '.trend-cell');
    await still(page);
    await page.locator(LIST).first().focus();
    await page.keyboard.press('r');
    await page.keyboard.type('half a na');
    await server.ask('POST', `collections/shared/clusters/${before[1].cluster}/merge?others=${before[2].cluster}`);
    const back = () => page.evaluate(() => dispatchEvent(new Event('focus')));
    await back();
    await still(page);
    assert.equal(await page.locator('.rename input').inputValue(), 'half a na');
    await page.keyboard.press('Escape');
    await leads(page, back);
    await page.waitForSelector('.trend-cell');
    await still(page);
    const now = await clustersOf('shared');
    assert.deepEqual(await texts(page, LIST), now.map((c) => c.label));
    /* No trend of the time before: each row has one, and it is the server's. */
    const trends = await server.ask('GET', 'collections/shared/clusters?by=auto');
    const word = new Map(trends.map((r) => [r.label, r.trend]));
    assert.deepEqual(await texts(page, '.trend-word .word'), now.map((c) => word.get(c.label)));
});

inBrowser('a chosen cluster that the filter leaves out can be renamed', async (page) => {
    const [first, second] = await made('filtered');
    await open(page, '#/c/filtered', LIST);
    await still(page);
    await page.locator('td input.pick').first().check();
    const filter = page.getByLabel('Filter by label or term');
    await filter.fill(second.label);
    await page.waitForFunction((l) => ![...document.querySelectorAll('.clusters .row-link')].some((a) => a.textContent === l), first.label);
    await page.getByRole('region', { name: 'Chosen clusters' }).getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel(`New name of ${first.label}`).fill('Found again');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.toast');
    assert.ok((await clustersOf('filtered')).some((c) => c.label === 'Found again'));
});
