// The page in Chromium, against a server of the program that was built: what people do with it, what
// hostile documents cannot, and that it speaks to nobody else and says nothing on the console.
// Environment: GROUPERFISH_PROGRAM, GROUPERFISH_SOURCE.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { lookOver } from './looks.mjs';
import { chromiumPath, example, newPage, Served } from './served.mjs';

const FEEDBACK = [
    { id: '1', text: 'The new tabs are fast', time: 1277293943, lang: 'en', type: 'praise' },
    { id: '2', text: 'Tabs on top: fast and pretty', type: 'praise' },
    { id: '3', text: 'I love the new tabs', time: 1277389059, type: 'praise' },
    { id: '4', text: 'Video crashes the browser', time: 1277489059, type: 'issue' },
    { id: '5', text: 'The browser crashes with many tabs', type: 'issue' },
    { id: '6', text: 'Crashes on every video', lang: 'en', type: 'issue' },
];
const HOSTILE = 'a"><script>console.error("run")</script>';
const TEXTS = ['<script>console.error("run")</script> apple apple', '<img src=x onerror=console.error(1)> apple',
    '</style></title><svg onload=console.error(2)> pear pear', '&lt;b&gt; pear <!-- pear',
    '\u202edesrever\u202c pear \u001b[31m river\u0007', 'javascript:alert(1) river', '\u0627\u0644\u0639\u0631\u0628\u064a\u0629 river'];

let server, browser, posts;

before(async () => {
    server = await new Served().start();
    browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
    posts = example(path.join(process.env.GROUPERFISH_SOURCE, 'examples/reddit-posts-20.jsonl.zst')).filter((_, i) => i % 4 === 0);
    await server.put('feedback', FEEDBACK);
    await server.ask('PATCH', 'collections/feedback/configurations/default?set=k=2&set=language=english');
    await server.rebuild('feedback');
    await server.put('posts', posts.slice(0, -400));
    await server.rebuild('posts');
    await server.put('raw', FEEDBACK);
    await server.put('twice', FEEDBACK);
    await server.rebuild('twice');
    await server.put('twice', [{ id: '7', text: 'Fast new tabs please' }]);
    await server.rebuild('twice');
});

after(async () => {
    await browser?.close();
    await server?.stop();
});

/* A test with a page of its own; at its end nothing was said, and nobody else asked. */
function inBrowser(name, run, options = {}) {
    test(name, async () => {
        const page = await newPage(browser, options);
        try {
            await run(page);
            assert.deepEqual(page.told, options.said ?? []);
            assert.deepEqual([...page.hosts].filter((host) => host !== new URL(page.url()).host), []);
        } finally {
            await page.context().close();
        }
    });
}

const open = async (page, hash, ready = 'main > *') => {
    await page.goto('about:blank');
    await page.goto(server.address + hash);
    await page.waitForSelector(ready);
};

const texts = (page, selector) => page.locator(selector).allTextContents();

async function saved(page, button) {
    const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
    return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
}

/* RFC 4180 */
function parseCsv(text) {
    const rows = [];
    for (let i = 0; i < text.length;) {
        const row = [];
        for (;;) {
            const found = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/.exec(text.slice(i));
            assert.ok(found, `no CSV at ${i}: ${text.slice(i, i + 40)}`);
            row.push(found[1] !== undefined ? found[1].replaceAll('""', '"') : found[2]);
            i += found[0].length;
            if (found[3] !== ',') break;
        }
        rows.push(row);
    }
    return rows;
}

test('files: their types, strong tags, a policy without exceptions', async () => {
    const types = { '': 'text/html', 'page/app.js': 'text/javascript', 'page/style.css': 'text/css', 'page/icon.svg': 'image/svg+xml', 'page/licences.txt': 'text/plain' };
    for (const [file, type] of Object.entries(types)) {
        const first = await fetch(server.address + file);
        const tag = first.headers.get('etag'), policy = first.headers.get('content-security-policy');
        assert.equal(first.status, 200);
        assert.equal(first.headers.get('content-type'), type + '; charset=utf-8');
        assert.match(tag, /^"[0-9a-f]{32}"$/);
        assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
        assert.doesNotMatch(policy, /unsafe|\*|https?:|data:/);
        const bytes = Buffer.from(await first.arrayBuffer());
        const made = readFileSync(path.join(process.env.GROUPERFISH_SOURCE, 'server/page/built', file ? path.basename(file) : 'index.html'));
        assert.ok(bytes.equals(made), file);
        assert.equal((await fetch(server.address + file, { headers: { 'If-None-Match': tag } })).status, 304);
        assert.equal((await fetch(server.address + file, { headers: { 'If-None-Match': '"other"' } })).status, 200);
        assert.equal((await fetch(server.address + file, { method: 'HEAD' })).headers.get('content-length'), String(made.length));
        assert.equal((await fetch(server.address + file, { method: 'POST' })).status, 405);
    }
    const html = await (await fetch(server.address)).text();
    assert.doesNotMatch(html, /<script[^>]*>[^<]|<style| style=| on\w+=|https?:/);
});

inBrowser('collections: sizes and states', async (page) => {
    await open(page, '', 'tbody tr');
    const rows = await Promise.all((await page.locator('tbody tr').all()).map((r) => r.innerText()));
    assert.match(rows.find((r) => r.startsWith('feedback')), /\b6\b.*up to date/s);
    assert.match(rows.find((r) => r.startsWith('posts')), /4,592.*default/s);
    await page.getByRole('button', { name: 'Documents' }).click();
    assert.match(await page.locator('tbody tr').first().innerText(), /^posts/);
    assert.equal(await page.locator('th[aria-sort=descending]').innerText(), 'Documents');
});

inBrowser('clusters: map and list agree with the server', async (page) => {
    const rows = await server.ask('GET', 'collections/posts/clusters');
    await open(page, '#/c/posts', 'a.tile');
    await page.waitForSelector('.spark');
    assert.deepEqual(await texts(page, 'main .row-link'), rows.map((r) => r.label));
    assert.equal(await page.locator('a.tile').count(), rows.length);
    const areas = await page.locator('a.tile').evaluateAll((all) => all.map((t) => [+t.dataset.cluster, t.offsetWidth * t.offsetHeight]));
    const whole = areas.reduce((s, [, a]) => s + a, 0), documents = rows.reduce((s, r) => s + r.size, 0);
    for (const [id, area] of areas) {
        const share = rows.find((r) => r.cluster === id).size / documents;
        assert.ok(Math.abs(area / whole - share) < 0.15 * share + 0.002, `cluster ${id}: ${area / whole} for ${share}`);
    }
    await page.getByPlaceholder('Filter by label or term').fill(rows[3].label);
    assert.ok((await texts(page, 'main .row-link')).includes(rows[3].label));
    assert.ok((await page.locator('main .row-link').count()) < rows.length);
    await page.getByRole('link', { name: 'Map', exact: true }).click();
    await page.waitForSelector('.treemap.tall a.tile');
    assert.equal(await page.locator('main table').count(), 0);
    assert.match(page.url(), /view=map/);
});

inBrowser('a cluster, its pages, and a document with its reasons', async (page) => {
    const [first] = await server.ask('GET', 'collections/posts/clusters');
    await open(page, '#/c/posts', '.row-link');
    await page.locator('main .row-link').first().click();
    await page.waitForSelector('a.document');
    assert.equal(await page.locator('h1').innerText(), first.label);
    assert.equal(await page.locator('a.document').count(), 50);
    await page.waitForSelector('.chart svg');
    await page.getByRole('button', { name: 'Show 50 more' }).click();
    await page.waitForFunction(() => document.querySelectorAll('a.document').length === 100);
    const known = await server.ask('GET', `collections/posts/clusters/${first.cluster}/documents?limit=100`);
    assert.deepEqual(await texts(page, '.documents .id'), known.documents.map((d) => d.id));
    await page.locator('a.document').nth(60).click();
    await page.waitForSelector('.why');
    const d = await server.ask('GET', `collections/posts/documents/${known.documents[60].id}?why&terms=20`);
    assert.equal(await page.locator('.document-text').innerText(), d.text.trim());
    const why = d.memberships[0].why.terms;
    assert.deepEqual(await texts(page, '.why tbody td:first-child'), why.map((t) => t.term));
    const widths = await page.locator('.why .bar > span').evaluateAll((all) => all.map((b) => b.getBoundingClientRect().width));
    widths.forEach((w, i) => assert.ok(Math.abs(w - (96 * why[i].part) / why[0].part) < 1.5, `${w} for ${why[i].part}`));
    await page.goBack();
    await page.waitForSelector('a.document');
    await page.getByRole('link', { name: 'Least fitting' }).click();
    await page.waitForSelector('text=Documents that fit least');
    const scores = (await texts(page, '.documents td:first-child')).map(Number);
    assert.deepEqual(scores, [...scores].sort((a, b) => a - b));
});

inBrowser('import, rebuild and what is there then', async (page) => {
    await open(page, '', '.row-link');
    await page.evaluate((lines) => {
        const data = new DataTransfer();
        data.items.add(new File([lines], 'news.jsonl'));
        dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
    }, FEEDBACK.map((d) => JSON.stringify(d)).join('\n') + '\n{"id": "7"}\nbroken\n');
    assert.equal(await page.getByLabel('Into the collection').inputValue(), 'news');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.waitForSelector('.summary');
    const summary = Object.fromEntries(await page.locator('.summary').evaluate((dl) =>
        [...dl.querySelectorAll('dt')].map((t) => [t.textContent, t.nextElementSibling.textContent])));
    assert.deepEqual(summary, { read: '8', new: '6', changed: '0', unchanged: '0', skipped: '0', refused: '2' });
    assert.match(await page.locator('.told').innerText(), /broken_json \(1\)/);
    await page.getByRole('button', { name: 'Cluster them' }).click();
    await page.waitForSelector('a.tile');
    assert.match(page.url(), /#\/c\/news$/);
    assert.equal(await page.locator('.task.done').count(), 1);
});

inBrowser('import: what cannot be read is said, and another field helps', async (page) => {
    await open(page, '#/c/feedback', '.row-link');
    await page.evaluate(() => {
        const data = new DataTransfer();
        data.items.add(new File(['key,body\n9,The menu is slow\n'], 'more.csv'));
        dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
    });
    await page.getByLabel('Into the collection').fill('menus');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.waitForSelector('.problem');
    assert.match(await page.locator('.problem').innerText(), /fields found: key, body/);
    await page.locator('summary').click();
    await page.getByLabel('Field of the text').fill('body');
    await page.getByLabel('Field of the id').fill('key');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.waitForSelector('.summary');
    assert.equal((await server.ask('GET', 'collections/menus/documents/9')).text, 'The menu is slow');
}, { said: ['error: Failed to load resource: the server responded with a status of 400 (Bad Request)'] });

inBrowser('a rebuild is watched to the switch; what changed is shown', async (page) => {
    await open(page, '#/c/posts', 'a.tile');
    const old = await page.locator('main').getAttribute('data-build');
    await server.put('posts', posts.slice(-400));
    await page.evaluate(() => {
        window.seen = [];
        const look = () => {
            const task = document.querySelector('.task');
            window.seen.push([document.getElementById('main').dataset.build, task?.className ?? '', task?.dataset.phase ?? '',
                document.querySelectorAll('main a.tile').length > 0]);
        };
        new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
    });
    await page.getByRole('button', { name: 'Rebuild' }).click();
    await page.waitForSelector('.task progress');
    await page.waitForFunction((b) => document.getElementById('main').dataset.build !== b, old, { timeout: 300_000 });
    const seen = await page.evaluate(() => window.seen);
    const running = seen.filter(([, kind]) => kind === 'task');
    assert.ok(running.length > 0);
    assert.deepEqual([...new Set(running.map(([build]) => build))], [old]);
    assert.ok(running.some(([, , phase]) => phase.startsWith('writing') || phase === 'reading' || phase.length > 0));
    const [served] = await server.ask('GET', 'collections/posts/builds');
    assert.equal(await page.locator('main').getAttribute('data-build'), String(served.build));
    await page.locator('.task').getByRole('link', { name: 'What changed' }).click();
    await page.waitForSelector('.diff .row-link');
    const rows = await server.ask('GET', 'collections/posts/diff');
    assert.equal(await page.locator('.diff tbody tr').count(), rows.length);
    assert.match(await page.locator('.facts').innerText(), /400 documents added/);
});

inBrowser('a rebuild that somebody else asked for', async (page) => {
    await open(page, '#/c/feedback', 'a.tile');
    const old = await page.locator('main').getAttribute('data-build');
    await page.waitForTimeout(500);
    await server.put('feedback', [{ id: '7', text: 'Fast new tabs please' }]);
    await server.rebuild('feedback');
    await page.waitForFunction((b) => document.getElementById('main').dataset.build !== b, old);
    assert.match(await page.locator('.facts').innerText(), /7 documents/);
});

inBrowser('hostile names, labels and texts are text', async (page) => {
    await server.put(HOSTILE, TEXTS.map((text, i) => ({ id: `${i}/${HOSTILE}`, text, [HOSTILE]: text })));
    await server.rebuild(HOSTILE);
    const c = encodeURIComponent(HOSTILE);
    for (const cluster of await server.ask('GET', `collections/${c}/clusters`)) {
        await open(page, `#/c/${c}/cluster/${cluster.cluster}`, 'a.document');
        assert.equal(await page.locator('main script, main img, main iframe, main [onerror], main [onload]').count(), 0);
    }
    const escaped = (s) => s.replaceAll('\u202e', 'U+202E').replaceAll('\u202c', 'U+202C').replaceAll('\u001b', 'U+001B').replaceAll('\u0007', 'U+0007');
    for (const [i, text] of TEXTS.entries()) {
        await open(page, `#/c/${c}/doc/${encodeURIComponent(`${i}/${HOSTILE}`)}`, '.document-text');
        assert.equal(await page.locator('.document-text').textContent(), escaped(text));
        assert.equal(await page.locator('.id-title').innerText(), `${i}/${HOSTILE}`);
        assert.equal(await page.locator('.document-text bdi').evaluate((e) => getComputedStyle(e).unicodeBidi), 'isolate');
        assert.doesNotMatch(await page.evaluate(() => document.body.innerText + document.title), /[\u0000-\u0008\u000e-\u001f\u202a-\u202e]/);
    }
    assert.equal(await page.locator('.document-text').getAttribute('dir'), 'auto');
    await open(page, '', 'tbody tr');
    await page.getByRole('link', { name: HOSTILE, exact: true }).click();
    await page.waitForSelector('a.tile');
    assert.equal(await page.locator('h1').innerText(), HOSTILE);
});

inBrowser('CSV has what the tables have', async (page) => {
    const clusters = await server.ask('GET', 'collections/posts/clusters');
    await open(page, '#/c/posts', '.spark');
    const { name, text } = await saved(page, page.getByRole('button', { name: 'CSV' }));
    const [head, ...rows] = parseCsv(text);
    assert.equal(name, 'posts-clusters.csv');
    assert.deepEqual(head.slice(0, 4), ['cluster', 'label', 'size', 'share']);
    assert.deepEqual(rows.map((r) => [+r[0], r[1], +r[2], +r[3]]), clusters.map((c) => [c.cluster, c.label, c.size, c.share]));
    const small = clusters.at(-1);
    await open(page, `#/c/posts/cluster/${small.cluster}`, 'a.document');
    const all = parseCsv((await saved(page, page.locator('.documents').getByRole('button', { name: 'CSV' }))).text);
    const known = await server.ask('GET', `collections/posts/clusters/${small.cluster}/documents?limit=1000`);
    assert.deepEqual(all.slice(1).map((r) => [r[0], +r[1], r[5]]), known.documents.map((d) => [d.id, d.score, d.text]));
    assert.equal(all.length - 1, small.size);
});

inBrowser('everything by keyboard', async (page) => {
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    await open(page, '', '.row-link');
    const names = await texts(page, 'main .row-link');
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), names[0]);
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), names[1]);
    await page.keyboard.press('k');
    assert.equal(await focused(), names[0]);
    for (let i = 0; i < names.indexOf('posts'); i++) await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForSelector('a.tile');
    await page.keyboard.press('ArrowRight');
    const tile = () => page.evaluate(() => [document.activeElement.className, document.activeElement.offsetLeft, document.activeElement.dataset.cluster]);
    const [kind, left, id] = await tile();
    assert.equal(kind, 'tile');
    await page.keyboard.press('ArrowRight');
    assert.ok((await tile())[1] > left);
    await page.keyboard.press('ArrowLeft');
    assert.equal((await tile())[1], left);
    assert.ok(id);
    await page.keyboard.press('Enter');
    await page.waitForSelector('a.document');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.document-text');
    await page.keyboard.press('Escape');
    await page.waitForSelector('a.tile');
    await page.keyboard.press('/');
    assert.equal(await page.evaluate(() => document.activeElement.type), 'search');
    await page.keyboard.press('?');
    assert.equal(await page.locator('dialog[open]').count(), 0);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open] .keys');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    assert.match(page.url(), /#\/c\/posts$/);
    await page.keyboard.press('Tab');
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none');
});

inBrowser('light and dark: as the machine has it, and by choice', async (page) => {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await open(page, '', '.row-link');
    const dark = await ground();
    assert.equal(dark, 'rgb(21, 23, 27)');
    await page.keyboard.press('d');
    assert.equal(await ground(), 'rgb(255, 255, 255)');
    await page.reload();
    await page.waitForSelector('.row-link');
    assert.equal(await ground(), 'rgb(255, 255, 255)');
    await page.getByRole('button', { name: 'Light or dark' }).click();
    assert.equal(await ground(), dark);
}, { colorScheme: 'dark' });

for (const colorScheme of ['light', 'dark'])
    for (const width of [1280, 390])
        inBrowser(`every view at ${width} px, ${colorScheme}: contrast, names, no scrolling aside`, async (page) => {
            const views = [['', '.row-link'], ['#/c/posts', '.spark'], ['#/c/posts/cluster/1', '.chart svg'],
                [`#/c/posts/doc/${posts[7].id}`, '.why'], ['#/c/twice/diff', '.diff'], ['#/c/raw', '.empty'], ['#/nothing', '.empty']];
            for (const [hash, ready] of views) {
                await open(page, hash, ready);
                const { low, nameless, wide } = await page.evaluate(lookOver);
                assert.deepEqual(low, [], hash);
                assert.deepEqual(nameless, [], hash);
                assert.ok(wide <= 0, `${hash} is ${wide} px too wide`);
            }
        }, { colorScheme, viewport: { width, height: 844 } });

test('a server with tokens: it is asked for once, kept for the tab, and sent', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'grouperfish-tokens-')), file = path.join(folder, 'tokens');
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
        await page.waitForSelector('a.tile');
        assert.equal(await page.evaluate(() => localStorage.length + document.cookie.length), 0);
        await page.reload();
        await page.waitForSelector('a.tile');
        assert.equal(await page.locator('dialog').count(), 0);
        assert.deepEqual(page.told.filter((line) => !line.includes('401')), []);
    } finally {
        await page.context().close();
        await guarded.stop();
        rmSync(folder, { recursive: true });
    }
});

inBrowser('search, where the server has it', async (page) => {
    const { paths } = await (await fetch(server.address + 'openapi.json')).json();
    await open(page, '#/c/posts', '.row-link');
    await page.waitForTimeout(500);
    if (!paths['/v1/collections/{collection}/search']) {
        assert.equal(await page.locator('#search').isVisible(), false);
        return;
    }
    await page.keyboard.press('/');
    await page.keyboard.type('marathon');
    await page.keyboard.press('Enter');
    await page.waitForSelector('a.document');
    assert.match(page.url(), /#\/c\/posts\/search\?q=marathon/);
    await page.locator('a.document').first().click();
    await page.waitForSelector('.document-text');
    assert.match((await page.locator('.document-text').innerText()).toLowerCase(), /marathon/);
});
