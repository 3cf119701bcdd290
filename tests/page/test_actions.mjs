// What people do with the page: import, rebuild, save, search, show a token.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import {
    browser,
    FEEDBACK,
    inBrowser,
    leads,
    open,
    parseCsv,
    posts,
    saved,
    server,
    still,
    texts,
} from './fixture.mjs';
import { newPage, Served } from './served.mjs';

inBrowser('import, rebuild and what is there then', async (page) => {
    await open(page, '', '.row-link');
    await page.evaluate(
        (lines) => {
            const data = new DataTransfer();
            data.items.add(new File([lines], 'news.jsonl'));
            dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
        },
        FEEDBACK.map((d) => JSON.stringify(d)).join('\n') + '\n{"id": "7"}\nbroken\n',
    );
    assert.equal(await page.getByLabel('Into the collection').inputValue(), 'news');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.waitForSelector('.summary');
    const summary = Object.fromEntries(
        await page
            .locator('.summary')
            .evaluate((dl) =>
                [...dl.querySelectorAll('dt')].map((t) => [
                    t.textContent,
                    t.nextElementSibling.textContent,
                ]),
            ),
    );
    assert.deepEqual(summary, {
        read: '8',
        new: '6',
        changed: '0',
        unchanged: '0',
        skipped: '0',
        refused: '2',
    });
    assert.match(await page.locator('.told').innerText(), /broken_json \(1\)/);
    await page.getByRole('button', { name: 'Cluster them' }).click();
    await page.waitForSelector('.clusters .row-link');
    assert.match(page.url(), /#\/c\/news$/);
    await page.waitForSelector('.task.done');
    assert.equal(await page.locator('.task').count(), 1);
});

inBrowser(
    'import: what cannot be read is said, and another column helps',
    async (page) => {
        await open(page, '#/c/feedback', '.row-link');
        /* A list has no preview here: its columns are typed. */
        await page.evaluate(() => {
            const data = new DataTransfer();
            data.items.add(new File(['[{"key": 9, "body": "The menu is slow"}]'], 'more.json'));
            dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
        });
        await page.getByLabel('Into the collection').fill('menus');
        assert.equal(await page.locator('.preview').count(), 0);
        await page.getByRole('button', { name: 'Import', exact: true }).click();
        await page.waitForSelector('.problem');
        const said = await page.locator('.problem').innerText();
        assert.match(said, /no field "text" in more\.json; fields found: key, body; choose the column of the text/);
        assert.doesNotMatch(said, /--/);
        await page.getByLabel('Column of the text').fill('body');
        await page.getByLabel('Column of the id').fill('key');
        await page.getByRole('button', { name: 'Import', exact: true }).click();
        await page.waitForSelector('.summary');
        assert.equal(
            (await server.ask('GET', 'collections/menus/documents/9')).text,
            'The menu is slow',
        );
    },
    {
        said: [
            'error: Failed to load resource: the server responded with a status of 400 (Bad Request)',
        ],
    },
);

inBrowser(
    'import: several files, each by its name, and what is no text',
    async (page) => {
        await open(page, '', '.row-link');
        await page.evaluate(() => {
            const data = new DataTransfer();
            data.items.add(new File(['id;text\n1;red "apple"\n2;pear\n'], 'fruit.csv'));
            data.items.add(new File(['{"id":"3","text":"plum"}\n'], 'more fruit ä.jsonl'));
            data.items.add(new File([Uint8Array.from([0, 1, 2, 250, 0, 7])], 'picture.bin'));
            dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
        });
        assert.equal(await page.getByLabel('Into the collection').inputValue(), 'fruit');
        assert.equal(await page.locator('.files li').count(), 3);
        await page.getByRole('button', { name: 'Import', exact: true }).click();
        await page.waitForSelector('.problem');
        const said = await texts(page, '.problem');
        assert.equal(said.length, 1);
        assert.match(said[0], /picture\.bin/);
        assert.doesNotMatch(said[0], /--[a-z]|body/);
        assert.match(await page.locator('.summary').innerText(), /read\s+3\s+new\s+3\s/);
        await page.getByRole('button', { name: 'Cluster them' }).click();
        await page.waitForSelector('.clusters .row-link');
        assert.equal((await server.ask('GET', 'collections/fruit/documents/3')).text, 'plum');
    },
    {
        said: [
            'error: Failed to load resource: the server responded with a status of 400 (Bad Request)',
        ],
    },
);

inBrowser('import: files of other columns have a choice of their own, and an empty one is told of', async (page) => {
    await open(page, '', '.row-link');
    await page.evaluate(() => {
        const data = new DataTransfer();
        data.items.add(new File(['nr;review\n1;the first wine is sweet\n2;and dry\n'], 'wines.csv'));
        data.items.add(new File(['ticket,body\n11,"a bottle, broken"\n12,no cork in it\n'], 'bottles.csv'));
        data.items.add(new File(['nr;review\n3;like the first\n'], 'wines2.csv'));
        data.items.add(new File([''], 'nothing.csv'));
        dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
    });
    await page.waitForSelector('.of-files');
    assert.deepEqual(await texts(page, '.of-files > h3'), ['wines.csv, wines2.csv', 'bottles.csv']);
    await page.getByLabel('Column of the id').first().selectOption('nr');
    await page.getByLabel('Column of the id').nth(1).selectOption('ticket');
    assert.equal(await page.getByLabel('Column of the text').nth(1).inputValue(), 'body');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.waitForSelector('.problem');
    assert.deepEqual(await texts(page, '.problem'), ['nothing.csv: the file is empty: there is nothing in it to import']);
    assert.match(await page.locator('.summary').innerText(), /new\s+5\s/);
    assert.equal((await server.ask('GET', 'collections/wines/documents/12')).text, 'no cork in it');
    assert.equal((await server.ask('GET', 'collections/wines/documents/3')).text, 'like the first');
});

inBrowser('a rebuild is watched to the switch; what changed is shown', async (page) => {
    await open(page, '#/c/posts', '.clusters .row-link');
    const old = await page.locator('main').getAttribute('data-build');
    await server.put('posts', posts.slice(-400));
    await page.evaluate(() => {
        window.seen = [];
        const look = () => {
            const task = document.querySelector('.task');
            window.seen.push([
                document.getElementById('main').dataset.build,
                task?.className ?? '',
                task?.dataset.phase ?? '',
                document.querySelectorAll('main .clusters .row-link').length > 0,
            ]);
        };
        new MutationObserver(look).observe(document.body, {
            subtree: true,
            childList: true,
            attributes: true,
        });
    });
    await page.getByRole('button', { name: 'Rebuild' }).click();
    await page.waitForSelector('.task progress');
    await page.waitForFunction((b) => document.getElementById('main').dataset.build !== b, old, {
        timeout: 300_000,
    });
    const seen = await page.evaluate(() => window.seen);
    const running = seen.filter(([, kind]) => kind === 'task');
    assert.ok(running.length > 0);
    assert.deepEqual([...new Set(running.map(([build]) => build))], [old]);
    assert.ok(running.some(([, , phase]) => phase.length > 0));
    assert.ok(running.every(([, , , tiles]) => tiles));
    const [served] = await server.ask('GET', 'collections/posts/builds');
    assert.equal(await page.locator('main').getAttribute('data-build'), String(served.build));
    await page.locator('.task').getByRole('link', { name: 'What changed' }).click();
    await page.waitForSelector('.diff .row-link');
    const rows = await server.ask('GET', 'collections/posts/diff');
    assert.equal(await page.locator('.diff tbody tr').count(), rows.length);
    assert.match(await page.locator('.facts').innerText(), /400 documents added/);
});

inBrowser('a rebuild that somebody else asked for', async (page) => {
    await open(page, '#/c/feedback', '.clusters .row-link');
    const old = await page.locator('main').getAttribute('data-build');
    await server.put('feedback', [{ id: '7', text: 'Fast new tabs please' }]);
    await server.rebuild('feedback');
    await page.waitForFunction((b) => document.getElementById('main').dataset.build !== b, old);
    assert.match(await page.locator('.facts').innerText(), /7 documents/);
});

inBrowser('a build that is published while the first view is read', async (page) => {
    await server.put('early', FEEDBACK);
    await server.rebuild('early');
    let held = false;
    await page.route(/\/v1\/collections\/early\/builds/, async (route) => {
        const answer = await route.fetch();
        if (!held) {
            held = true;
            await server.put('early', [{ id: '7', text: 'Fast new tabs please' }]);
            await server.rebuild('early');
        }
        await route.fulfill({ response: answer });
    });
    await open(page, '#/c/early', '.clusters .row-link');
    const [served] = await server.ask('GET', 'collections/early/builds');
    await page.waitForFunction(
        (b) => document.getElementById('main').dataset.build === b,
        String(served.build),
    );
    assert.match(await page.locator('.facts').innerText(), /7 documents/);
});

test('whole numbers are not rounded', async () => {
    const source = path.join(process.env.GROUPERFISH_SOURCE, 'server/page/src/api.js');
    const { parse } = await import(source);
    const long = '-12345678901234567';
    const told = `{"a":${long},"b":[9007199254740993,9007199254740991],"c":0.1234567890123456789,
        "d":"9007199254740993 \\"9007199254740993","e":1e300,"f":1234567890123456789.5,"9007199254740993":7}`;
    assert.deepEqual(parse(told), {
        a: long,
        b: ['9007199254740993', 9007199254740991],
        c: 0.12345678901234568,
        d: '9007199254740993 "9007199254740993',
        e: 1e300,
        f: 1234567890123456789.5,
        '9007199254740993': 7,
    });
});

test('CSV has no cell that a spreadsheet would run', async () => {
    const source = path.join(process.env.GROUPERFISH_SOURCE, 'server/page/src/parts/csv.js');
    const { line } = await import(source);
    const cells = ['=1+1', ' @sum', '+49 171', '-5', '+1e3', '-', 'a-b', '\tx', '"', undefined, 0];
    assert.equal(
        line(cells),
        `"'=1+1","' @sum","'+49 171",-5,+1e3,"'-",a-b,"'\tx","""",,0\r\n`,
    );
});

inBrowser('CSV has what the tables have', async (page) => {
    const clusters = await server.ask('GET', 'collections/posts/clusters');
    await open(page, '#/c/posts', '.spark');
    const { name, text } = await saved(page, page.getByRole('button', { name: 'CSV' }));
    assert.equal(text[0], '\uFEFF'); // spreadsheets take it for UTF-8 then
    const [head, ...rows] = parseCsv(text.slice(1));
    assert.equal(name, 'posts-clusters.csv');
    assert.deepEqual(head.slice(0, 4), ['cluster', 'label', 'size', 'share']);
    assert.deepEqual(
        rows.map((r) => [+r[0], r[1], +r[2], +r[3]]),
        clusters.map((c) => [c.cluster, c.label, c.size, c.share]),
    );
    const small = clusters.at(-1);
    await open(page, `#/c/posts/cluster/${small.cluster}`, 'a.document');
    const all = parseCsv(
        (
            await saved(page, page.locator('.documents').getByRole('button', { name: 'CSV' }))
        ).text.slice(1),
    );
    const known = await server.ask(
        'GET',
        `collections/posts/clusters/${small.cluster}/documents?limit=1000`,
    );
    assert.deepEqual(
        /* A text that a spreadsheet would run has an apostrophe before it. */
        all.slice(1).map((r) => [r[0], +r[1], r[5].replace(/^'(?=[\t\r\n]|[ \t]*[=+\-@])/, '')]),
        known.documents.map((d) => [d.id, d.score, d.text]),
    );
    assert.equal(all.length - 1, small.size);
});

test('a server with tokens: it is asked for once, kept for the tab, and sent', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'grouperfish-tokens-')),
        file = path.join(folder, 'tokens');
    writeFileSync(file, 'write-0123456789a write default\n');
    chmodSync(file, 0o600);
    const guarded = await new Served('--tokens', file).start();
    guarded.headers = { Authorization: 'Bearer write-0123456789a' };
    const page = await newPage(browser);
    try {
        await guarded.put('feedback', FEEDBACK);
        await page.goto(guarded.address + '#/c/feedback');
        await page.locator('#token').fill('wrong-0123456789a');
        await page.keyboard.press('Enter');
        await page.waitForSelector('text=no such token');
        await page.locator('#token').fill('write-0123456789a');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Cluster it' }).first().click();
        await page.waitForSelector('.clusters .row-link');
        assert.equal(await page.evaluate(() => localStorage.length + document.cookie.length), 0);
        await page.reload();
        await page.waitForSelector('.clusters .row-link');
        assert.equal(await page.locator('dialog').count(), 0);
        assert.deepEqual(
            page.told.filter((line) => !line.includes('401')),
            [],
        );
    } finally {
        await page.context().close();
        await guarded.stop();
        rmSync(folder, { recursive: true });
    }
});

inBrowser('another namespace', async (page) => {
    const answer = await fetch(
        server.address + 'v1/collections/elsewhere/documents?namespace=other',
        { method: 'POST', body: JSON.stringify(FEEDBACK[0]) },
    );
    assert.equal(answer.status, 200);
    await open(page, '#/?namespace=other', '.row-link');
    assert.deepEqual(await texts(page, 'main .row-link'), ['elsewhere']);
    await leads(page, () => page.locator('main .row-link').click());
    await page.waitForSelector('.empty');
    assert.match(page.url(), /#\/c\/elsewhere\?namespace=other$/);
    await leads(page, () => page.keyboard.press('Escape'));
    await page.waitForSelector('.row-link');
    assert.match(page.url(), /namespace=other/);
});

inBrowser('search, where the server has it', async (page) => {
    const { paths } = await (await fetch(server.address + 'openapi.json')).json();
    await open(page, '#/c/posts', '.row-link');
    await still(page);
    if (!paths['/v1/collections/{collection}/search']) {
        assert.equal(await page.locator('#search').isVisible(), false);
        return;
    }
    await page.keyboard.press('/');
    await page.keyboard.type('marathon');
    await leads(page, () => page.keyboard.press('Enter'));
    await page.waitForSelector('a.document');
    assert.match(page.url(), /#\/c\/posts\/search\?q=marathon/);
    await leads(page, () => page.locator('a.document').first().click());
    await page.waitForSelector('.document-text');
    assert.match((await page.locator('.document-text').innerText()).toLowerCase(), /marathon/);
});

inBrowser(
    'search marks what it has found, tells the total, and looks into one cluster',
    async (page) => {
        const known = (await server.rows('collections/posts/search?query=run&limit=0')).length;
        assert.ok(known > 100, `${known}`);
        await open(page, '#/c/posts/search?q=run', 'a.document');
        assert.match(
            await page.locator('.facts').innerText(),
            new RegExp(`^the best 100 of ${known} documents for`),
        );
        const words = new Set((await texts(page, 'mark')).map((w) => w.toLowerCase()));
        assert.ok(words.has('run') && words.has('running'), [...words].join());
        for (const word of words) assert.match(word, /^r[ua]n/);
        for (const row of await page.locator('a.document').all())
            assert.ok((await row.locator('mark').count()) > 0);
        const option = page.getByLabel('Cluster').locator('option').nth(1),
            cluster = await option.getAttribute('value'),
            label = await option.textContent();
        await leads(page, () => page.getByLabel('Cluster').selectOption(cluster));
        assert.match(await page.locator('.facts').innerText(), /of this cluster/);
        assert.match(page.url(), new RegExp(`cluster=${cluster}`));
        assert.deepEqual(new Set(await texts(page, 'td.next')), new Set([label]));
        assert.equal(
            await page.locator('a.document').count(),
            Math.min(
                100,
                (await server.rows(`collections/posts/search?query=run&limit=0&cluster=${cluster}`))
                    .length,
            ),
        );
    },
);
