// A week of somebody who looks after a product, on the page alone: from the file that a survey gives to what
// is shown to others, and the week after. Each step says what it took.
import assert from 'node:assert/strict';
import { drag, drop, inBrowser, leads, newPageHere, open, parseCsv, posts, saved, send, server, still, texts } from './fixture.mjs';

const LIST = '.clusters .row-link';
const NAME = 'complaints'; /* no other test has a collection of that name */
const clusters = () => server.ask('GET', `collections/${NAME}/clusters`);

/* As a spreadsheet of Europe saves it: semicolons, its own code page, days first. */
function sheet(some, firstDay) {
    const cell = (s) => `"${String(s).replaceAll('"', '""')}"`;
    const rows = some.map((d, i) =>
        [
            d.id,
            `${firstDay + (i % 7)}.02.2015`,
            cell(`@BestAir für ${d.text}`),
            ['North', 'South', 'West'][i % 3],
            i % 4 ? 'negative' : 'positive',
            cell(d.label),
        ].join(';'),
    );
    return Buffer.from(['Ticket ID;Created;Feedback text;Airline;Sentiment;Topic', ...rows].join('\r\n'), 'latin1');
}

const latin = (d) => /^[\x20-\x7e\r\n]*$/.test(d.text);

inBrowser('a week on the page alone: from a file to what is shown to others, and the next one', async (page) => {
    /* The posts come by their subjects: both weeks have some of each. */
    const all = posts.filter(latin).slice(0, 1500),
        first = all.filter((_, i) => i % 3 !== 2),
        second = all.filter((_, i) => i % 3 === 2),
        /* What nobody complained of in week 1. */
        unheard = Array.from({ length: 24 }, (_, n) => ({ id: `fish-${n}`, text: `sturgeon and halibut served in ${n} ways`, label: 'food' }));
    const took = [];
    const step = async (what, run) => {
        const begun = Date.now();
        await run();
        took.push([what, Date.now() - begun]);
    };
    const row = (label) =>
        page.locator('.clusters tbody tr').filter({ has: page.getByRole('link', { name: label, exact: true }) });
    const act = async (label, action) => {
        await page.getByRole('button', { name: `Actions of ${label}`, exact: true }).click();
        await page.getByRole('menuitem', { name: action, exact: true }).click();
    };
    const more = async (item) => {
        await page.getByRole('button', { name: 'More' }).click();
        await leads(page, () => page.getByRole('menuitem', { name: item }).click());
    };
    const isListed = (label, is = true) =>
        page.waitForFunction(
            ([l, wanted]) =>
                [...document.querySelectorAll('.clusters .row-link')].some((a) => a.textContent === l) === wanted,
            [label, is],
        );
    const rebuilt = async (act, ready) => {
        const before = (await server.ask('GET', `collections/${NAME}/builds`))[0]?.build;
        await act();
        await page.waitForFunction((old) => {
            const main = document.getElementById('main');
            return main.dataset.build && main.dataset.build !== String(old ?? '') && !main.hasAttribute('aria-busy');
        }, before);
        await page.waitForSelector(ready ?? LIST);
        await still(page);
    };

    await open(page, '', '.row-link');
    await step('drop the file of week 1; columns, dates and encoding are right', async () => {
        await drop(page, { [`${NAME}.csv`]: sheet(first, 9) });
        assert.deepEqual(
            await Promise.all(
                ['text', 'id', 'time'].map((role) => page.getByLabel(`Column of the ${role}`).first().inputValue()),
            ),
            ['Feedback text', 'Ticket ID', 'Created'],
        );
        assert.match(await page.locator('.preview').innerText(), /für/);
        await send(page);
        assert.equal((await server.ask('GET', `collections/${NAME}`)).size, first.length);
    });
    await step('cluster it', () =>
        rebuilt(() => page.getByRole('button', { name: 'Cluster them' }).click()));
    await step('complaints alone, without names of airlines and words that say nothing', async () => {
        await more('Settings');
        await page.getByLabel('Only documents with').fill('Sentiment=negative');
        await page.getByLabel('Mentions (@name)').selectOption('skip');
        await page.getByLabel('Words to leave out').fill('für');
        await rebuilt(() => page.getByRole('button', { name: 'Save and rebuild' }).click());
        const words = (await clusters()).flatMap((c) => c.terms.map((t) => t.term.toLowerCase()));
        assert.ok(!words.some((w) => w.includes('bestair') || w === 'für'));
    });
    await step('twelve groups, from now on', async () => {
        await page.getByRole('spinbutton', { name: 'Clusters' }).fill('12');
        await page.getByLabel('For how long').selectOption('lasting');
        await rebuilt(() => page.getByRole('button', { name: 'Rebuild' }).click());
        assert.equal((await clusters()).length, 12);
    });
    let [a, b, c, d, e, f, g, i] = await clusters();
    await step('rename two', async () => {
        for (const [old, name] of [[a, 'Names for the board'], [b, 'Second on the slide']]) {
            await act(old.label, 'Rename');
            await page.getByLabel(`New name of ${old.label}`).fill(name);
            await page.keyboard.press('Enter');
            await isListed(name);
            await still(page);
        }
        a = { ...a, label: 'Names for the board' };
        b = { ...b, label: 'Second on the slide' };
    });
    await step('merge twins: by dragging, and by choosing', async () => {
        await drag(page, row(c.label), row(a.label));
        await isListed(c.label, false);
        await still(page);
        for (const x of [d, b]) await row(x.label).locator('input.pick').check();
        await page.getByRole('button', { name: 'Merge…' }).click();
        await page.getByLabel(new RegExp(`^${b.label} \\(`)).check();
        await page.getByRole('button', { name: 'Merge', exact: true }).click();
        await isListed(d.label, false);
        await still(page);
        const now = await clusters();
        assert.equal(now.find((x) => x.cluster === a.cluster).size, a.size + c.size);
        assert.equal(now.find((x) => x.cluster === b.cluster).size, b.size + d.size);
        /* What somebody has named keeps its name. */
        assert.deepEqual([a, b].map((x) => now.find((y) => y.cluster === x.cluster).label), [a.label, b.label]);
    });
    await step('split one, hide one, lock one, say whose it is', async () => {
        await act(e.label, 'Split…');
        await page.getByRole('button', { name: 'Split', exact: true }).click();
        await page.waitForFunction(() => document.querySelectorAll('.clusters .row-link').length === 11);
        await still(page);
        await act(f.label, 'Hide');
        await isListed(f.label, false);
        await still(page);
        await act(g.label, 'Lock');
        await page.waitForSelector('.clusters .tag >> text=locked');
        await still(page);
        await act(i.label, 'Status, owner, note…');
        await page.getByLabel('Status').fill('planned');
        await page.getByLabel('Owner').fill('Ann');
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.waitForSelector('.clusters .tag >> text=planned');
        await still(page);
    });
    await step('read one: sentences, chart, search within it, a document and those like it; move it', async () => {
        await leads(page, () => row(a.label).getByRole('link').first().click());
        assert.ok((await page.locator('.quotes li').count()) >= 2);
        await page.waitForSelector('.chart svg');
        const { documents } = await server.ask('GET', `collections/${NAME}/clusters/${a.cluster}?docs=1`);
        const word = /[a-z]{5,}/i.exec(documents[0].text.replace('@BestAir', ''))[0];
        await page.getByLabel('Search the documents of this cluster').fill(word);
        await leads(page, () => page.keyboard.press('Enter'));
        assert.ok((await page.locator('.documents mark').count()) > 0);
        await leads(page, () => page.locator('.documents a.document').first().click());
        await page.waitForSelector('.similar li');
        const id = decodeURIComponent(page.url().split('/doc/')[1].split('?')[0]);
        await page.getByRole('button', { name: 'Move…' }).click();
        await page.getByLabel('Into the cluster').selectOption(String(i.cluster));
        await leads(page, () => page.getByRole('button', { name: 'Move', exact: true }).click());
        const { memberships } = await server.ask('GET', `collections/${NAME}/documents/${encodeURIComponent(id)}`);
        assert.equal(memberships[0].cluster, i.cluster);
    });
    await step('find: marks, a total, one airline alone', async () => {
        await open(page, `#/c/${NAME}`, LIST);
        await page.keyboard.press('/');
        await page.keyboard.type('people');
        await leads(page, () => page.keyboard.press('Enter'));
        await page.waitForSelector('a.document mark');
        await page.getByLabel('Field', { exact: true }).selectOption('Airline');
        await page.getByLabel('Value of the field').fill('North');
        await leads(page, () => page.keyboard.press('Enter'));
        assert.match(page.url(), /where=Airline%3DNorth/);
        const rows = await server.rows(`collections/${NAME}/search?query=people&where=Airline%3DNorth&limit=0`);
        assert.equal(await page.locator('a.document').count(), Math.min(100, rows.length));
    });
    await step('by airline and by topic: what is more than elsewhere', async () => {
        await open(page, `#/c/${NAME}/fields?field=Airline`, '.crosstab');
        assert.deepEqual((await texts(page, '.crosstab thead th')).slice(2).sort(), ['North', 'South', 'West']);
        await leads(page, () => page.getByLabel('Field', { exact: true }).selectOption('Topic'));
        assert.ok((await page.locator('.more-here').count()) > 3);
        const { name } = await saved(page, page.getByRole('button', { name: 'CSV' }));
        assert.match(name, /by-Topic/);
    });
    await step('one table for the spreadsheet: text, group and all columns', async () => {
        await open(page, `#/c/${NAME}`, LIST);
        await page.getByRole('button', { name: 'More' }).click();
        const { text } = await saved(page, page.getByRole('menuitem', { name: /^Download documents/ }));
        assert.equal(text[0], '\uFEFF');
        const [head, ...lines] = parseCsv(text.slice(1));
        for (const name of ['cluster', 'label', 'text', 'Airline', 'Sentiment']) assert.ok(head.includes(name), name);
        assert.ok(lines.some((l) => l[head.indexOf('label')] === a.label));
    });
    await step('have it told to the team when something new comes', async () => {
        await still(page);
        await more('What is new');
        await page.getByLabel('Tell when').fill('new >= 10');
        await page.getByLabel('Post it to').fill('http://127.0.0.1:9/team'); /* nobody listens: it waits */
        await page.keyboard.press('Enter');
        await page.getByText('Watched from now on').locator('visible=true').first().waitFor();
        await still(page);
    });
    await step('week 2: dropped on the collection', async () => {
        await open(page, `#/c/${NAME}`, LIST);
        await still(page);
        await drop(page, { 'week2.csv': sheet([...second, ...unheard], 16) });
        assert.equal(await page.getByLabel('Into the collection').inputValue(), NAME);
        await send(page);
        await page.getByRole('button', { name: 'Close' }).click();
        await page.waitForSelector('.changed-since');
    });
    await step('what is new: a group that week 1 had not, and the alert of it', async () => {
        await more('What is new');
        await page.locator('.alike').filter({ hasText: /sturgeon/i }).waitFor();
        await page.getByRole('button', { name: 'Look now' }).click();
        await page.locator('.toast', { hasText: 'Looked:' }).waitFor();
        await page.waitForFunction(() => /sturgeon|halibut|served|ways/i.test(document.querySelector('table[aria-label=Alerts] tbody')?.textContent ?? ''));
        await still(page);
        const alerts = await server.ask('GET', `collections/${NAME}/alerts`);
        assert.ok(alerts.some((x) => x.size >= 10 && /sturgeon|halibut|served|ways/i.test(x.label)), JSON.stringify(alerts));
    });
    await step('rebuilt, with the names of week 1', async () => {
        await open(page, `#/c/${NAME}`, LIST);
        await still(page);
        await rebuilt(() => page.getByRole('button', { name: 'Rebuild' }).click());
        const now = await clusters();
        const told = JSON.stringify([await server.ask('GET', `collections/${NAME}/edits`), now.map((y) => [y.cluster, y.label, y.size])]);
        for (const x of [a, b]) assert.equal(now.find((y) => y.cluster === x.cluster)?.label, x.label, told);
        assert.ok(!(await texts(page, LIST)).includes(f.label));
    });
    await step('what changed, and what rises', async () => {
        await leads(page, () => page.locator('#main').getByRole('link', { name: 'What changed' }).click());
        assert.ok((await page.locator('.diff tbody tr').count()) > 5);
        await open(page, `#/c/${NAME}`, '.trend-cell');
        await still(page);
        const trends = await server.ask('GET', `collections/${NAME}/clusters?by=auto`);
        assert.deepEqual((await texts(page, '.trend-word .word')).sort(), trends.map((r) => r.trend).sort());
        assert.equal(trends[0].unit, 'day');
    });
    await step('an address that is sent shows the same to somebody else', async () => {
        await page.getByLabel('Filter by label or term').fill(a.label);
        await page.waitForFunction(() => document.querySelectorAll('.clusters .row-link').length === 1);
        const other = await newPageHere();
        await other.goto(page.url());
        await other.waitForSelector(LIST);
        assert.deepEqual(await texts(other, LIST), [a.label]);
        await other.context().close();
    });
    await step('a mistake of Monday is taken back from the list of changes', async () => {
        await more('Changes by hand');
        await still(page);
        const hide = page.locator('tbody tr').filter({ hasText: 'hidden:' });
        await hide.getByRole('button', { name: /^Undo/ }).click();
        await page.waitForFunction(() => !document.querySelector('tbody').textContent.includes('hidden:'));
        await still(page);
        assert.ok((await clusters()).some((x) => x.cluster === f.cluster));
    });
    await step("last week's build once more, kept for the record", async () => {
        await open(page, `#/c/${NAME}/builds`, '.builds tbody tr');
        await page.getByRole('button', { name: /^Pin/ }).nth(1).click();
        await page.getByRole('button', { name: /^Unpin/ }).first().waitFor();
    });
    const total = took.reduce((sum, [, ms]) => sum + ms, 0);
    for (const [what, ms] of took) console.log(`# ${(ms / 1000).toFixed(1).padStart(5)} s  ${what}`);
    console.log(`# ${(total / 1000).toFixed(1).padStart(5)} s  in all`);
});
