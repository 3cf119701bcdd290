// The page as a place of work: names, numbers of clusters, configurations, builds, choices in the
// list, files of other programs, documents that go, and a network that fails.
import assert from 'node:assert/strict';
import { drop, FEEDBACK, inBrowser, leads, open, parseCsv, posts, saved, send, server, still, texts } from './fixture.mjs';
import { workbook, zip } from './zip.mjs';

const clustersOf = (name) => server.ask('GET', `collections/${name}/clusters`);
const setting = async (name, key, config = 'default') =>
    (await server.ask('GET', `collections/${name}/configurations/${config}`)).find(
        (r) => r.key === key,
    );
const LIST = '.clusters .row-link';

async function made(name, k, documents = posts.slice(0, 600)) {
    await server.put(name, documents);
    await server.ask('PATCH', `collections/${name}/configurations/default?set=k=${k}`);
    await server.rebuild(name);
}

inBrowser('a cluster is renamed in its place, by keys alone, and that is taken back', async (page) => {
    await made('naming', 6);
    const [first, second] = await clustersOf('naming');
    await open(page, '#/c/naming', LIST);
    await still(page);
    await page.keyboard.press('j');
    await page.keyboard.press('r');
    const field = page.getByLabel(`New name of ${first.label}`);
    await field.waitFor();
    /* The name of another one is refused, in place. */
    await page.keyboard.type(second.label);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('.rename .problem')?.textContent);
    await field.fill('Things <b>of</b> all kinds');
    await leads(page, () => page.keyboard.press('Enter'));
    await page.waitForSelector('.toast');
    assert.equal((await texts(page, LIST))[0], 'Things <b>of</b> all kinds');
    assert.equal((await clustersOf('naming'))[0].label, 'Things <b>of</b> all kinds');
    /* Escape leaves the name as it is. */
    await page.locator(LIST).first().focus();
    await page.keyboard.press('r');
    await page.keyboard.type('x');
    await page.keyboard.press('Escape');
    assert.equal((await texts(page, LIST))[0], 'Things <b>of</b> all kinds');
    await leads(page, () => page.keyboard.press('Control+z'));
    await page.waitForFunction((l) => document.querySelector('.clusters .row-link').textContent === l, first.label);
    assert.equal((await clustersOf('naming'))[0].label, first.label);
    /* One that somebody had named gets that name again; on its own page. */
    await server.ask('PUT', `collections/naming/clusters/${second.cluster}/label?text=by+hand`);
    await open(page, `#/c/naming/cluster/${second.cluster}`, 'a.document');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.getByLabel('New name of by hand').fill('by head');
    await leads(page, () => page.keyboard.press('Enter'));
    assert.equal(await page.locator('h1').innerText(), 'by head');
    await leads(page, () => page.locator('.toast').getByRole('button', { name: 'Undo' }).click());
    await page.waitForFunction(() => document.querySelector('h1').textContent === 'by hand');
    assert.equal((await clustersOf('naming')).find((c) => c.cluster === second.cluster).label, 'by hand');
}, { said: ['error: Failed to load resource: the server responded with a status of 409 (Conflict)'] });

inBrowser('the number of clusters: this time, and from now on', async (page) => {
    await made('counted', 5);
    await open(page, '#/c/counted', LIST);
    await still(page);
    const number = page.getByRole('spinbutton', { name: 'Clusters' }),
        lasting = page.getByLabel('For how long');
    const rebuilt = (n) =>
        page.waitForFunction((k) => document.querySelectorAll('.clusters .row-link').length === k, n);
    assert.equal(await number.inputValue(), '5');
    assert.equal(await lasting.isVisible(), false);
    await number.fill('9');
    await page.getByRole('button', { name: 'Rebuild' }).click();
    await rebuilt(9);
    assert.equal((await setting('counted', 'k')).value, '5');
    /* Made anew, it is as it was asked for; until somebody asks otherwise. */
    await still(page);
    assert.equal(await number.inputValue(), '9');
    await page.waitForSelector('.task.done');
    const first = await page.locator('.task.done').getAttribute('data-task');
    await page.getByRole('button', { name: 'Rebuild' }).click();
    /* The note of the rebuild before gives way to that of this one. */
    await page.waitForFunction(
        (before) => [...document.querySelectorAll('.task.done')].some((t) => t.dataset.task !== before),
        first,
    );
    await rebuilt(9);
    await still(page);
    /* Whoever has chosen the number to type over it goes on so where a new build is shown meanwhile. */
    const shownBuild = () => page.locator('#main').getAttribute('data-build');
    const newBuild = async () => {
        const before = await shownBuild();
        await server.rebuild('counted', '?force=true');
        await page.waitForFunction((b) => document.getElementById('main').dataset.build !== b, before);
        await still(page);
    };
    await number.selectText();
    await newBuild();
    await page.keyboard.type('7');
    assert.equal(await number.inputValue(), '7');
    await lasting.selectOption('lasting');
    /* What has been typed stays where a build that somebody else asked for is shown meanwhile. */
    await newBuild();
    assert.equal(await number.inputValue(), '7');
    assert.equal(await lasting.inputValue(), 'lasting');
    await page.getByRole('button', { name: 'Rebuild' }).click();
    await rebuilt(7);
    assert.equal((await setting('counted', 'k')).value, '7');
});

inBrowser('configurations: made, changed with their help, taken back, chosen, deleted', async (page) => {
    await server.put('set', FEEDBACK);
    await server.rebuild('set');
    await open(page, '#/c/set', LIST);
    await page.getByRole('button', { name: 'More' }).click();
    await leads(page, () => page.getByRole('menuitem', { name: 'Settings' }).click());
    const keys = await server.ask('GET', 'configuration-keys');
    /* Every key has a field and its meaning. */
    for (const { key, meaning } of keys) {
        const about = await page.locator(`[name=${key}]`).getAttribute('aria-describedby');
        assert.ok((await page.locator(`#${about}`).textContent()).includes(meaning), key);
    }
    assert.equal(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled(), true);
    await page.getByLabel('Words to leave out').fill('browser video');
    await page.getByLabel('Mentions (@name)').selectOption('skip');
    await page.getByLabel('Only documents since').fill('soon');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.waitForFunction(() => document.querySelector('form .problem').textContent);
    assert.equal((await setting('set', 'mentions')).value, 'word');
    await page.getByLabel('Only documents since').fill('');
    await page.getByLabel('Only documents with').fill('type=issue');
    await leads(page, () => page.getByRole('button', { name: 'Save', exact: true }).click());
    assert.equal((await setting('set', 'more_stop_words')).value, 'browser video');
    assert.equal((await setting('set', 'filter')).value, 'type=issue');
    await leads(page, () => page.keyboard.press('Control+z'));
    await page.waitForFunction(() => document.querySelector('[name=filter]').value === '');
    assert.equal((await setting('set', 'filter')).from, 'default');
    assert.equal((await setting('set', 'mentions')).value, 'word');
    await page.getByRole('button', { name: 'New…' }).click();
    await page.getByLabel('Name', { exact: true }).fill('issues');
    await leads(page, () => page.getByRole('button', { name: 'Make it' }).click());
    assert.match(page.url(), /config=issues/);
    await page.getByLabel('Only documents with').fill('type=issue');
    await leads(page, () => page.getByRole('button', { name: 'Save and rebuild' }).click());
    await page.waitForFunction(() => /\b3 documents\b/.test(document.querySelector('.facts')?.textContent));
    assert.match(page.url(), /#\/c\/set\?config=issues$/);
    await page.getByLabel('Configuration').selectOption('default');
    await page.waitForFunction(() => /\b6 documents\b/.test(document.querySelector('.facts')?.textContent));
    await open(page, '#/c/set/settings?config=issues', 'form.settings');
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    assert.equal((await server.ask('GET', 'collections/set/configurations')).length, 2);
    await page.getByRole('button', { name: 'Delete…' }).click();
    await leads(page, () => page.getByRole('button', { name: 'Delete the configuration' }).click());
    assert.equal((await server.ask('GET', 'collections/set/configurations')).length, 1);
}, { said: ['error: Failed to load resource: the server responded with a status of 400 (Bad Request)'] });

inBrowser('builds: an older one is served, and that is taken back; pins', async (page) => {
    await made('kept', 4);
    await server.ask('PATCH', 'collections/kept/configurations/default?set=k=6');
    await server.rebuild('kept');
    const [newer, older] = await server.ask('GET', 'collections/kept/builds');
    const servedNow = async () =>
        (await server.ask('GET', 'collections/kept/builds')).find((b) => b.served).build;
    await open(page, '#/c/kept/builds', '.builds tbody tr');
    assert.equal(await page.locator('.builds tbody tr').count(), 2);
    const row = page.locator('.builds tbody tr').nth(1);
    await row.getByRole('button', { name: /^Serve the build/ }).click();
    await leads(page, () => page.getByRole('button', { name: 'Serve it', exact: true }).click());
    assert.equal(await servedNow(), older.build);
    await leads(page, () => page.keyboard.press('Control+z'));
    assert.equal(await servedNow(), newer.build);
    await leads(page, () => row.getByRole('button', { name: /^Pin the build/ }).click());
    await page.waitForSelector('.tag >> text=pinned');
    assert.equal((await server.ask('GET', 'collections/kept/builds'))[1].pinned, true);
    await leads(page, () => row.getByRole('button', { name: /^Unpin the build/ }).click());
    assert.equal((await server.ask('GET', 'collections/kept/builds'))[1].pinned, false);
    await leads(page, () => row.locator('.row-link').click());
    await page.waitForSelector(LIST);
    assert.equal(await page.locator(LIST).count(), 4);
    /* An older build cannot be renamed in. */
    await page.getByRole('button', { name: /^Actions of/ }).first().click();
    assert.deepEqual(await texts(page, '[role=menuitem] > span'), ['Download documents']);
});

inBrowser('the tree is the hierarchy of the server', async (page) => {
    const nodes = await server.ask('GET', 'collections/posts/clusters?tree');
    await open(page, '#/c/posts?view=tree', '.tree');
    assert.deepEqual(
        await texts(page, '.tree .row-link'),
        nodes.filter((n) => n.cluster).map((n) => n.label),
    );
    const groups = nodes.filter((n) => !n.cluster && n.parent);
    assert.deepEqual(await texts(page, '.tree .group-name'), groups.map((n) => n.label));
    assert.ok(groups.length > 0);
    const group = page.locator('.tree summary').first();
    await group.focus();
    const before = await page.locator('.tree .row-link:visible').count();
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('.tree .row-link:visible').count(), before - groups[0].clusters);
});

inBrowser('clusters are chosen in the list, by keys and by mouse, and saved as one table', async (page) => {
    const rows = await clustersOf('posts');
    await open(page, '#/c/posts', '.spark');
    await still(page);
    assert.equal(await page.locator('.selection').isVisible(), false);
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByLabel(`Choose ${rows[2].label}`, { exact: true }).check();
    const bar = page.getByRole('region', { name: 'Chosen clusters' });
    await bar.getByText('2 chosen').waitFor();
    assert.ok((await bar.innerText()).includes((rows[0].size + rows[2].size).toLocaleString('en-US')));
    const { name, text } = await saved(page, bar.getByRole('button', { name: 'Download documents' }));
    assert.equal(name, 'posts-documents.csv');
    const [head, ...lines] = parseCsv(text.slice(1));
    assert.deepEqual(head, ['id', 'cluster', 'label', 'score', 'text', 'time', 'lang', 'field:label']);
    const members = await server.rows('collections/posts/memberships?with-text');
    const wanted = members.filter((m) => [rows[0].cluster, rows[2].cluster].includes(m.cluster));
    assert.deepEqual(
        lines.map((l) => [l[0], +l[1], l[2], l[7]]),
        wanted.map((m) => [m.id, m.cluster, m.label, m.fields.label]),
    );
    /* The choice is there again on Back. */
    await leads(page, () => page.locator(LIST).first().click());
    await leads(page, () => page.goBack());
    await bar.getByText('2 chosen').waitFor();
    await bar.getByRole('button', { name: 'Clear' }).click();
    await page.waitForFunction(() => document.querySelector('.selection').hidden);
    assert.equal(await page.locator('td input:checked').count(), 0);
    await page.getByLabel('Choose all').check();
    await bar.getByText(`${rows.length} chosen`).waitFor();
});

inBrowser('only some clusters, in an order: the address says so, and can be sent', async (page) => {
    const rows = await server.ask('GET', 'collections/posts/clusters?by=auto');
    const rising = rows.filter((r) => r.trend === 'rising').map((r) => r.label);
    await open(page, '#/c/posts', '.spark');
    await still(page);
    await leads(page, () => page.locator('.kinds').getByRole('link', { name: /^Rising/ }).click());
    await page.waitForSelector('.spark');
    await still(page);
    assert.deepEqual(new Set(await texts(page, LIST)), new Set(rising));
    await page.getByRole('button', { name: 'Cluster', exact: true }).click();
    await page.getByPlaceholder('Filter by label or term').fill(rising[0]);
    const seen = await texts(page, LIST),
        url = page.url();
    assert.match(url, /only=rising/);
    assert.match(url, /sort=Cluster/);
    await open(page, url.slice(url.indexOf('#')), '.spark');
    await still(page);
    assert.deepEqual(await texts(page, LIST), seen);
    assert.equal(await page.locator('th[aria-sort]').innerText(), 'Cluster');
});

inBrowser('a filter that was typed stays when a kind or a tab is chosen', async (page) => {
    await open(page, '#/c/posts', '.kind');
    await still(page);
    await page.getByLabel('Filter by label or term').fill('a');
    await leads(page, () => page.locator('.kind').nth(1).click());
    assert.equal(await page.getByLabel('Filter by label or term').inputValue(), 'a');
    await leads(page, () => page.getByRole('link', { name: 'Map', exact: true }).click());
    assert.match(page.url(), /filter=a/);
});

inBrowser('search goes on beyond a hundred, and looks at a field and a time alone', async (page) => {
    const all = await server.rows('collections/posts/search?query=run&limit=0');
    assert.ok(all.length > 200, `${all.length}`);
    await open(page, '#/c/posts/search?q=run', 'a.document');
    await page.getByRole('button', { name: 'Show 100 more' }).click();
    await page.waitForFunction(() => document.querySelectorAll('a.document').length === 200);
    assert.match(await page.locator('.facts').innerText(), new RegExp(`^the best 200 of ${all.length}`));
    assert.deepEqual(
        (await texts(page, '.id')).map((t) => t.split(' · ')[0]),
        all.slice(0, 200).map((r) => r.id),
    );
    /* Back from a document, they are all there. */
    const deep = page.locator('a.document').nth(150);
    await deep.scrollIntoViewIfNeeded();
    const at = await page.evaluate(() => scrollY);
    await leads(page, () => deep.click());
    await leads(page, () => page.goBack());
    await page.waitForFunction(() => document.querySelectorAll('a.document').length === 200);
    await page.waitForFunction((y) => Math.abs(scrollY - y) < 2, at);
    const label = all[0].fields.label;
    await page.getByLabel('Field', { exact: true }).selectOption('label');
    await page.getByLabel('Value of the field').fill(label);
    await leads(page, () => page.keyboard.press('Enter'));
    const some = all.filter((r) => r.fields.label === label);
    await page.waitForFunction(
        (n) => document.querySelectorAll('a.document').length === n,
        Math.min(100, some.length),
    );
    const middle = new Date(some.map((r) => r.time).sort()[some.length >> 1] * 1000).toISOString().slice(0, 10);
    await leads(page, async () => {
        await page.getByLabel('From').fill(middle);
        await page.getByLabel('From').blur();
    });
    const late = some.filter((r) => r.time >= Date.parse(middle) / 1000);
    assert.ok(late.length > 0 && late.length < some.length);
    assert.equal(await page.locator('a.document').count(), Math.min(100, late.length));
    assert.match(page.url(), new RegExp(`where=label%3D${label}&since=${middle}`));
    /* Of the search without conditions as many are there as before. */
    await leads(page, () => page.getByRole('link', { name: 'All of them' }).click());
    await page.waitForFunction(() => document.querySelectorAll('a.document').length === 200);
});

inBrowser('a document: those like it; and it is deleted once somebody is sure', async (page) => {
    await made('gone', 4, posts.slice(0, 300));
    const [cluster] = await clustersOf('gone');
    await open(page, `#/c/gone/cluster/${cluster.cluster}`, 'a.document');
    const id = (await texts(page, '.documents .id'))[0].split(' · ')[0];
    await leads(page, () => page.locator('a.document').first().click());
    const like = await server.ask('GET', `collections/gone/similar?id=${id}&limit=8`);
    await page.waitForSelector('.similar li');
    assert.deepEqual(
        await page.locator('.similar .row-link').evaluateAll((all) => all.map((a) => a.getAttribute('href'))),
        like.map((r) => `#/c/gone/doc/${r.id}`),
    );
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    assert.equal((await server.ask('GET', `collections/gone/documents/${id}`)).id, id);
    await page.getByRole('button', { name: 'Delete…' }).click();
    await leads(page, () => page.getByRole('button', { name: 'Delete the document' }).click());
    await page.waitForSelector('a.document');
    assert.match(page.url(), /\/cluster\//);
    assert.equal((await server.ask('GET', 'collections/gone')).size, 299);
    await page.waitForFunction((i) => !document.querySelector('.documents').textContent.includes(i), id);
});

inBrowser('a collection is deleted once somebody is sure', async (page) => {
    await server.put('short', FEEDBACK);
    await open(page, '#/c/short', '.empty');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Delete the collection…' }).click();
    await leads(page, () => page.getByRole('button', { name: 'Delete the collection' }).click());
    await page.waitForSelector('.row-link');
    assert.ok(!(await texts(page, 'main .row-link')).includes('short'));
});

inBrowser('import: which column is which is guessed, and can be said; dates have an order', async (page) => {
    await open(page, '', '.row-link');
    const rows = ['Tweet ID,Created,Subject,Feedback text,Airline'];
    for (let i = 1; i <= 12; i++) rows.push(`${i},3/${i}/2015,Bags,"They lost bag ${i}, again, and nobody helped",United`);
    await drop(page, { 'week1.csv': rows.join('\n') });
    assert.equal(await page.getByLabel('Column of the text').inputValue(), 'Feedback text');
    assert.equal(await page.getByLabel('Column of the id').inputValue(), 'Tweet ID');
    assert.equal(await page.getByLabel('Column of the time').inputValue(), 'Created');
    assert.equal(await page.getByLabel(/Column of the title/).inputValue(), 'Subject');
    assert.equal(await page.locator('.preview tbody tr').count(), 5);
    assert.deepEqual(await texts(page, '.preview .tag'), ['id', 'time', 'title', 'text']);
    /* 3/4/2015 may be April or March: nothing is sent before somebody has said. */
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    assert.equal(await page.evaluate(() => document.activeElement.name), 'dates');
    await page.getByLabel('Dates are written').selectOption('day-first');
    await send(page);
    const d = await server.ask('GET', 'collections/week1/documents/4');
    assert.match(d.text, /^Bags\s+They lost bag 4, again/);
    assert.match(String(d.time), /^2015-04-03/);
    assert.equal(d.fields.Airline, 'United');
    /* The id of a customer is none of a document. */
    await page.getByRole('button', { name: 'Close' }).click();
    await drop(page, { 'calls.csv': 'Customer ID,Call id,text\n7,1,late plane\n8,1,late again\n' });
    assert.equal(await page.getByLabel('Column of the id').inputValue(), '');
    await page.getByRole('button', { name: 'Close' }).click();
    /* One date that can be read one way only says it for all. */
    await drop(page, { 'week2.csv': 'id,when,text\n1,2/21/2015,late plane\n2,3/4/2015,late again\n' });
    assert.equal(await page.getByLabel('Dates are written').inputValue(), 'month-first');
    await send(page);
    assert.match(String((await server.ask('GET', 'collections/week2/documents/2')).time), /^2015-03-04/);
});

inBrowser('import: a column that is called id, time or lang can be none; one with a comma is no text', async (page) => {
    await open(page, '', '.row-link');
    await drop(page, { 'named.csv': 'id,time,lang,"text, long",none\n7,x,en,late plane,1\n7,y,en,late again,2\n' });
    for (const role of ['id', 'time', 'language'])
        await page.getByLabel(`Column of the ${role}`).selectOption('');
    assert.deepEqual(await texts(page, '[name=text] option:disabled'), ['text, long (has a comma: rename the column)']);
    await page.getByLabel('Column of the text').selectOption('none');
    await send(page);
    const all = server.run('export', 'named', '--documents').map((line) => JSON.parse(line));
    assert.deepEqual(
        all.map((d) => d['field:id']),
        ['7', '7'],
    );
});

inBrowser('import: a workbook shows its sheets and dates; a zip of texts is no workbook', async (page) => {
    await open(page, '', '.row-link');
    await drop(page, {
        'survey.xlsx': workbook({
            Notes: [['About'], ['nothing here']],
            'Answers & more': [
                ['Nr', 'Date', 'Answer'],
                [1, { serial: 42056 }, 'The seats <are> small'],
                [2, { serial: 42057 }, 'Friendly crew & good coffee'],
            ],
        }),
    });
    await page.getByLabel('Sheet').selectOption('Answers & more');
    await page.waitForSelector('.preview >> text=The seats');
    assert.deepEqual(await texts(page, '.preview td'), [
        '1', '2015-02-21', 'The seats <are> small',
        '2', '2015-02-22', 'Friendly crew & good coffee',
    ]);
    assert.equal(await page.getByLabel('Column of the time').inputValue(), 'Date');
    await page.getByLabel('Column of the id').selectOption('Nr');
    await send(page);
    const d = await server.ask('GET', 'collections/survey/documents/2');
    assert.equal(d.text, 'Friendly crew & good coffee');
    assert.match(String(d.time), /^2015-02-22/);
    await page.getByRole('button', { name: 'Close' }).click();
    await drop(page, { 'letters.zip': zip({ 'a.txt': 'Dear sirs', 'b.txt': 'Dear madam' }) });
    assert.match(await page.locator('dialog').innerText(), /A zip with 2 files/);
    assert.deepEqual(await texts(page, 'dialog .files li'), ['a.txt', 'b.txt']);
    await send(page);
    assert.equal((await server.ask('GET', 'collections/letters')).size, 2);
});

inBrowser('import: a cell that says it is in column 300 million makes no row of that length', async (page) => {
    await open(page, '', '.row-link');
    const sheet = (cells) => `<worksheet><sheetData>${cells.map((row) => `<row>${row}</row>`).join('')}</sheetData></worksheet>`;
    const cell = (place, text) => `<c r="${place}" t="inlineStr"><is><t>${text}</t></is></c>`;
    await drop(page, {
        'far.xlsx': zip({
            'xl/workbook.xml': '<workbook><sheets><sheet name="One" r:id="a"/></sheets></workbook>',
            'xl/_rels/workbook.xml.rels': '<Relationships><Relationship Id="a" Target="worksheets/sheet1.xml"/></Relationships>',
            'xl/worksheets/sheet1.xml': sheet([cell('A1', 'Answer'), cell('A2', 'The seats are small') + cell('ZZZZZZ2', 'far')]),
        }),
    });
    assert.deepEqual(await texts(page, '.preview td'), ['The seats are small']);
});

inBrowser('import: it is cancelled while it is sent, and goes on when it is sent again', async (page) => {
    await open(page, '', '.row-link');
    const held = [];
    await page.route(/collections\/slow\/documents/, (route) => {
        if (held.length) return route.continue();
        held.push(route);
    });
    await drop(page, { 'slow.jsonl': '{"id":"1","text":"one"}\n' });
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.waitForSelector('.told >> text=Cancelled');
    await send(page);
    assert.equal((await server.ask('GET', 'collections/slow')).size, 1);
});

inBrowser(
    'a network that fails is told of, asked again, and what is there then is shown',
    async (page) => {
        let fails = true;
        await open(page, '', '.row-link');
        await page.route(/\/v1\//, (route) => (fails ? route.abort() : route.fallback()));
        await page.evaluate(() => (location.hash = '#/c/posts'));
        await page.waitForSelector('#lost:not([hidden])');
        /* The view before is there still. */
        assert.equal(await page.locator('main .row-link').count() > 0, true);
        fails = false;
        await page.waitForSelector(LIST);
        await page.waitForSelector('#lost', { state: 'hidden' });
        assert.equal(await page.locator('h1').innerText(), 'posts');
        page.told = page.told.filter((line) => !/ERR_FAILED/.test(line));
    },
);
