// What the page's views show, of any text, by any key, in light and dark.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { FEEDBACK, inBrowser, leads, open, posts, server, still, texts } from './fixture.mjs';
import { lookOver } from './looks.mjs';

const HOSTILE = 'a"><script>console.error("run")</script>';
const TEXTS = [
    '<script>console.error("run")</script> apple apple',
    '<img src=x onerror=console.error(1)> apple',
    '</style></title><svg onload=console.error(2)> pear pear',
    '&lt;b&gt; pear <!-- pear',
    '\u202edesrever\u202c pear \u001b[31m river\u0007',
    'javascript:alert(1) river',
    '\u0627\u0644\u0639\u0631\u0628\u064a\u0629 river',
];

test('files: their types, strong tags, a policy without exceptions', async () => {
    const types = {
        '': 'text/html',
        'page/app.js': 'text/javascript',
        'page/style.css': 'text/css',
        'page/icon.svg': 'image/svg+xml',
        'page/land.json': 'application/json',
        'page/licences.txt': 'text/plain',
    };
    for (const [file, type] of Object.entries(types)) {
        const first = await fetch(server.address + file);
        const tag = first.headers.get('etag'),
            policy = first.headers.get('content-security-policy');
        assert.equal(first.status, 200);
        assert.equal(first.headers.get('content-type'), type + '; charset=utf-8');
        assert.match(tag, /^"[0-9a-f]{32}"$/);
        assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
        assert.doesNotMatch(policy, /unsafe|\*|https?:|data:/);
        const bytes = Buffer.from(await first.arrayBuffer());
        const made = readFileSync(
            path.join(
                process.env.GROUPERFISH_SOURCE,
                'server/page/built',
                file ? path.basename(file) : 'index.html',
            ),
        );
        assert.ok(bytes.equals(made), file);
        assert.equal(
            (await fetch(server.address + file, { headers: { 'If-None-Match': tag } })).status,
            304,
        );
        assert.equal(
            (await fetch(server.address + file, { headers: { 'If-None-Match': '"other"' } }))
                .status,
            200,
        );
        assert.equal(
            (await fetch(server.address + file, { method: 'HEAD' })).headers.get('content-length'),
            String(made.length),
        );
        assert.equal((await fetch(server.address + file, { method: 'POST' })).status, 405);
    }
    const html = await (await fetch(server.address)).text();
    assert.doesNotMatch(html, /<script[^>]*>[^<]|<style| style=| on\w+=|https?:/);
});

inBrowser('collections: sizes and states', async (page) => {
    await open(page, '', 'tbody tr');
    const rows = await Promise.all(
        (await page.locator('tbody tr').all()).map((r) => r.innerText()),
    );
    assert.match(
        rows.find((r) => r.startsWith('feedback')),
        /\b6\b.*up to date/s,
    );
    assert.match(
        rows.find((r) => r.startsWith('posts')),
        /4,592.*default/s,
    );
    await page.getByRole('button', { name: 'Documents' }).click();
    assert.match(await page.locator('tbody tr').first().innerText(), /^posts/);
    assert.equal(await page.locator('th[aria-sort=descending]').innerText(), 'Documents');
});

inBrowser('clusters: map and list agree with the server', async (page) => {
    const rows = await server.ask('GET', 'collections/posts/clusters');
    await open(page, '#/c/posts', '.clusters .row-link');
    await page.waitForSelector('.trend-cell');
    await still(page);
    assert.deepEqual(
        await texts(page, 'main .row-link'),
        rows.map((r) => r.label),
    );
    await page.getByPlaceholder('Filter by label or term').fill(rows[3].label);
    assert.ok((await texts(page, 'main .row-link')).includes(rows[3].label));
    assert.ok((await page.locator('main .row-link').count()) < rows.length);
    await leads(page, () => page.getByRole('link', { name: 'Map', exact: true }).click());
    await page.waitForSelector('.treemap.tall a.tile');
    await still(page);
    assert.equal(await page.locator('main table').count(), 0);
    assert.match(page.url(), /view=map/);
    assert.equal(await page.locator('a.tile').count(), rows.length);
    const areas = await page
        .locator('a.tile')
        .evaluateAll((all) => all.map((t) => [+t.dataset.cluster, t.offsetWidth * t.offsetHeight]));
    const whole = areas.reduce((s, [, a]) => s + a, 0),
        documents = rows.reduce((s, r) => s + r.size, 0);
    for (const [id, area] of areas) {
        const share = rows.find((r) => r.cluster === id).size / documents;
        assert.ok(
            Math.abs(area / whole - share) < 0.15 * share + 0.002,
            `cluster ${id}: ${area / whole} for ${share}`,
        );
    }
    /* The choice is remembered; an address says otherwise. */
    await open(page, '#/c/feedback', '.treemap a.tile');
    await open(page, '#/c/feedback?view=list', '.clusters .row-link');
    assert.equal(await page.locator('.treemap').count(), 0);
});

inBrowser('how clear each cluster is, and why', async (page) => {
    const rows = await server.ask('GET', 'collections/posts/clusters?figures');
    await open(page, '#/c/posts', '.row-link');
    await still(page);
    const words = (all) => all.map((e) => e.firstChild.data);
    assert.deepEqual(
        await page.locator('td .clarity').evaluateAll(words),
        rows.map((r) => r.clarity),
    );
    const clear = rows.filter((r) => r.clarity === 'clear').length;
    const mixed = rows.filter((r) => r.clarity === 'mixed').length;
    assert.equal(clear + mixed > 0, true);
    if (mixed)
        assert.match(await page.locator('.kinds').innerText(), new RegExp(`Mixed\\s*${mixed}`));
    const first = page.locator('td .clarity').first();
    assert.equal(await first.locator('.tip').isVisible(), false);
    await first.focus();
    const told = await first.locator('.tip').innerText();
    assert.ok(told.includes(`${(rows[0].label_recall * 100).toFixed(1)} %`), told);
    assert.ok(told.includes(rows[0].nearest_label), told);
    await page.getByRole('button', { name: 'Clarity' }).click();
    const order = ['mixed', 'fair', 'clear'];
    const ranks = (await page.locator('td .clarity').evaluateAll(words)).map((w) =>
        order.indexOf(w),
    );
    assert.deepEqual(
        ranks,
        [...ranks].sort((a, b) => a - b),
    );
    await open(page, `#/c/posts/cluster/${rows[0].cluster}`, 'a.document');
    await still(page);
    await page.locator('.facts .clarity').hover();
    assert.equal(await page.locator('.facts .tip').isVisible(), true);
    assert.deepEqual(await page.locator('.facts .clarity').evaluateAll(words), [rows[0].clarity]);
});

inBrowser('a cluster, its pages, and a document with its reasons', async (page) => {
    const [first] = await server.ask('GET', 'collections/posts/clusters');
    await open(page, '#/c/posts', '.row-link');
    await leads(page, () => page.locator('main .row-link').first().click());
    await page.waitForSelector('a.document');
    assert.equal(await page.locator('h1').innerText(), first.label);
    assert.equal(await page.locator('a.document').count(), 50);
    await page.waitForSelector('.chart svg');
    await page.getByRole('button', { name: 'Show 50 more' }).click();
    await page.waitForFunction(() => document.querySelectorAll('a.document').length === 100);
    const known = await server.ask(
        'GET',
        `collections/posts/clusters/${first.cluster}/documents?limit=100&different`,
    );
    assert.deepEqual(
        await texts(page, '.documents .id'),
        known.documents.map((d) => d.id + (d.copies ? ` · and ${d.copies} like it` : '')),
    );
    await leads(page, () => page.locator('a.document').nth(60).click());
    await page.waitForSelector('.why');
    const d = await server.ask(
        'GET',
        `collections/posts/documents/${known.documents[60].id}?why&terms=20`,
    );
    assert.equal(await page.locator('.document-text').innerText(), d.text.trim());
    const why = d.memberships[0].why.terms;
    assert.deepEqual(
        await texts(page, '.why tbody td:first-child'),
        why.map((t) => t.term),
    );
    const widths = await page
        .locator('.why .bar > span')
        .evaluateAll((all) => all.map((b) => b.getBoundingClientRect().width));
    widths.forEach((w, i) =>
        assert.ok(Math.abs(w - (96 * why[i].part) / why[0].part) < 1.5, `${w} for ${why[i].part}`),
    );
    await leads(page, () => page.goBack());
    await page.waitForSelector('a.document');
    await leads(page, () => page.getByRole('link', { name: 'All', exact: true }).click());
    await page.waitForSelector('[aria-current] >> text=All');
    const all = await server.ask(
        'GET',
        `collections/posts/clusters/${first.cluster}/documents?limit=50`,
    );
    assert.deepEqual(
        (await texts(page, '.documents .id')).slice(0, 50),
        all.documents.map((d) => d.id),
    );
    await leads(page, () => page.getByRole('link', { name: 'Least fitting' }).click());
    await page.waitForSelector('text=that fit least');
    const scores = await page
        .locator('.documents [data-score]')
        .evaluateAll((all) => all.map((e) => Number(e.dataset.score)));
    assert.equal(scores.length, 50);
    assert.deepEqual(
        scores,
        [...scores].sort((a, b) => a - b),
    );
});

inBrowser('documents like one another are one, and a sentence says what they are about', async (page) => {
    const text = 'The ferry leaves from the old harbour at noon.';
    await server.put('alike', [
        { id: '1', text },
        { id: '2', text },
        { id: '3', text: text + ' ' },
        { id: '4', text: 'ferry harbour <b>noon</b>' },
        { id: '5', text: 'harbour of the ferry' },
    ]);
    await server.ask('PATCH', 'collections/alike/configurations/default?set=k=1&set=min_df=1');
    await server.rebuild('alike');
    for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 });
        await open(page, '#/c/alike', '.row-link');
        assert.deepEqual(await texts(page, 'td .sentence'), [text]);
        await page.locator('main .row-link').first().click();
        await page.waitForSelector('a.document');
        assert.equal(await page.locator('.quotes .sentence').innerText(), text);
        const ids = await texts(page, '.documents .id');
        assert.ok(ids.includes('1 · and 2 like it'), ids.join());
        assert.equal(ids.length, 3);
        assert.match(await page.locator('.documents').innerText(), /3 different of 5 documents/);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${wide} of ${width}`);
    }
    await page.locator('.quotes .sentence a').click();
    await page.waitForSelector('.document-text');
    await server.ask('DELETE', 'collections/alike/documents?id=1');
    await open(page, '#/c/alike', '.row-link');
    assert.equal(await page.locator('td .sentence').count(), 0);
});

inBrowser('a document that the settings leave out says by which', async (page) => {
    await server.put('filtered', FEEDBACK);
    await server.ask('PATCH', 'collections/filtered/configurations/default?set=filter=type=issue');
    await server.rebuild('filtered');
    await open(page, '#/c/filtered/doc/1', '.left-out');
    assert.match(
        await page.locator('aside').innerText(),
        /Why it is in no cluster\s+Left out by the settings: filter type=issue\.$/,
    );
    await open(page, '#/c/filtered/doc/4', '.why');
    assert.equal(await page.locator('.left-out').count(), 0);
});

/* n documents of three subjects, evenly over a time that ends with February 24, 2015; of the first one
   there are less and less, of the last one more and more. */
const dated = (n, hours) =>
    Array.from({ length: n }, (_, i) => ({
        id: String(i),
        text: ['delayed flight', 'lost bags', 'rude agent'][
            i % 3 === 1 ? 1 : (i * 7) % n < i ? 2 : 0
        ],
        time: 1424822400 - Math.round(((n - i) * hours * 3600) / n),
    }));

inBrowser(
    "trends: the unit follows the span, and words and bars are the server's",
    async (page) => {
        for (const [name, hours, unit, bars] of [
            ['nine-days', 9 * 24, 'day', 9],
            ['nine-hours', 9, 'hour', 9],
            ['four-months', 123 * 24, 'week', 19],
            ['two-years', 24 * 720, 'month', 24],
            ['nine-years', 24 * 3286, 'quarter', 37],
        ]) {
            await server.put(name, dated(180, hours));
            await server.ask(
                'PATCH',
                `collections/${name}/configurations/default?set=k=3&set=min_df=1`,
            );
            await server.rebuild(name);
            /* As the command has it, which knows nothing of the page. */
            const rows = server
                .run('clusters', name, '--by', unit, '--periods', String(bars), '--format', 'jsonl')
                .map((line) => JSON.parse(line));
            await open(page, `#/c/${name}`, '.trend-cell');
            await still(page);
            const words = Object.fromEntries(
                await page
                    .locator('main tbody tr')
                    .evaluateAll((all) =>
                        all.map((tr) => [
                            tr.querySelector('.row-link').textContent,
                            tr.querySelector('.trend-word .word').textContent,
                        ]),
                    ),
            );
            assert.deepEqual(words, Object.fromEntries(rows.map((r) => [r.label, r.trend])));
            assert.deepEqual(
                new Set(Object.values(words)),
                new Set(['rising', 'falling', 'steady']),
            );
            await open(page, `#/c/${name}?view=map`, 'a.tile');
            await still(page);
            const coloured = await page
                .locator('a.tile')
                .evaluateAll((all) =>
                    all
                        .filter((t) => parseFloat(t.style.getPropertyValue('--level')) > 0)
                        .map((t) => +t.dataset.cluster),
                );
            assert.deepEqual(
                new Set(coloured),
                new Set(rows.filter((r) => r.trend !== 'steady').map((r) => r.cluster)),
            );
            for (const row of rows) {
                await open(page, `#/c/${name}/cluster/${row.cluster}`, '.chart svg');
                await page.waitForSelector(`text=Documents by ${unit}`);
                assert.equal(await page.locator('.chart rect').count(), bars, name);
                const recent = await page
                    .locator('.chart rect.recent title')
                    .evaluateAll((all) => all.map((t) => +t.textContent.split(': ')[1]));
                assert.equal(
                    recent.reduce((a, b) => a + b),
                    row.recent,
                );
            }
        }
    },
);

const inView = (page, selector) =>
    page.locator(selector).evaluateAll((all) =>
        all.some((e) => {
            const box = e.getBoundingClientRect();
            return box.top >= 0 && box.bottom <= innerHeight;
        }),
    );
const focusedHref = (page) => page.evaluate(() => document.activeElement.getAttribute('href'));

inBrowser(
    'Back shows a view as it was left: place, focus, what was chosen on it',
    async (page) => {
        await open(page, '#/c/posts?view=list', '.trend-cell');
        await still(page);
        await page.getByRole('button', { name: 'Documents' }).click();
        await page.getByRole('button', { name: 'Documents' }).click();
        const order = await texts(page, 'main .row-link'),
            last = page.locator('main .row-link').last();
        await last.scrollIntoViewIfNeeded();
        const left = await page.evaluate(() => scrollY),
            href = await last.getAttribute('href');
        assert.ok(left > 100, `${left}`);
        await leads(page, () => last.click());
        await page.waitForSelector('a.document');
        await still(page);
        assert.equal(await page.evaluate(() => scrollY), 0);
        await page.getByRole('button', { name: 'Show 50 more' }).click();
        await page.waitForFunction(() => document.querySelectorAll('a.document').length > 50);
        const document60 = page.locator('a.document').nth(60);
        await document60.scrollIntoViewIfNeeded();
        const deep = await page.evaluate(() => scrollY),
            opened = await document60.getAttribute('href');
        await leads(page, () => document60.click());
        await page.waitForSelector('.document-text');
        await leads(page, () => page.goBack());
        await page.waitForFunction(() => document.querySelectorAll('a.document').length > 60);
        await page.waitForFunction((y) => Math.abs(scrollY - y) < 2, deep);
        assert.equal(await focusedHref(page), opened);
        await leads(page, () => page.goBack());
        await page.waitForSelector('.row-link');
        await page.waitForFunction((y) => Math.abs(scrollY - y) < 2, left);
        await still(page);
        assert.equal(await focusedHref(page), href);
        assert.deepEqual(await texts(page, 'main .row-link'), order);
        await leads(page, () => page.goForward());
        await page.waitForSelector('a.document');
        await page.waitForFunction((y) => Math.abs(scrollY - y) < 2, deep);
        /* From the map, whose tiles are drawn once it has its size. */
        await open(page, '#/c/posts?view=map', 'a.tile');
        await leads(page, () => page.locator('a.tile').nth(3).click());
        await page.waitForSelector('a.document');
        await leads(page, () => page.goBack());
        await page.waitForSelector('a.tile');
        await page.waitForFunction(() => document.activeElement.className === 'tile');
        assert.equal(
            await focusedHref(page),
            await page.locator('a.tile').nth(3).getAttribute('href'),
        );
    },
    { viewport: { width: 1280, height: 420 } },
);

inBrowser(
    'a view that comes late is at its place nevertheless, unless somebody has scrolled meanwhile',
    async (page) => {
        const [first] = await server.ask('GET', 'collections/posts/clusters');
        const address = `#/c/posts/cluster/${first.cluster}`,
            documents = () => page.waitForSelector('a.document');
        let hold = false;
        await page.route(/clusters\?.*\bby=/, async (route) => {
            while (hold && !page.isClosed()) await new Promise((go) => setTimeout(go, 20));
            await route.fallback().catch(() => {});
        });
        const answered = async () => {
            hold = false;
            await page.waitForSelector('.chart svg');
            await still(page);
        };
        const at = () => page.evaluate(() => scrollY);
        /* Back, where the chart over the documents is asked for once more, and does not come. */
        const back = async () => {
            await leads(page, () => page.evaluate(() => dispatchEvent(new CustomEvent('page:refresh'))));
            hold = true;
            await leads(page, () => page.goBack());
            await documents();
            assert.equal(await page.locator('.chart svg').count(), 0);
        };
        for (const moves of [null, () => page.mouse.wheel(0, -90), () => page.evaluate(() => scrollBy(0, -90))]) {
            hold = false;
            await open(page, address, 'a.document');
            await page.waitForSelector('.chart svg');
            await still(page);
            const document20 = page.locator('a.document').nth(20);
            await document20.scrollIntoViewIfNeeded();
            const left = await at();
            await leads(page, () => document20.click());
            await back();
            await page.waitForTimeout(400); /* longer than what is drawn takes */
            if (!moves) assert.equal(await at(), left);
            await moves?.();
            await page.waitForTimeout(200);
            const top = () => document20.evaluate((e) => Math.round(e.getBoundingClientRect().top));
            const seen = await top();
            await answered();
            if (!moves) assert.equal(await at(), left);
            else assert.ok(Math.abs((await top()) - seen) < 2, `${await top()} for ${seen}`);
        }
        /* Left again before all of it is there, when it is too short for its place. */
        await open(page, address, 'a.document');
        await page.waitForSelector('.chart svg');
        await still(page);
        await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
        const left = await at();
        await leads(page, () => page.locator('a.document').last().click());
        await back();
        assert.ok((await at()) < left, `${await at()} of ${left}`);
        await leads(page, () => page.evaluate(() => (location.hash = '#/c/posts/edits')));
        hold = false;
        await leads(page, () => page.goBack());
        await page.waitForSelector('.chart svg');
        await still(page);
        assert.equal(await at(), left);
    },
    { viewport: { width: 1280, height: 420 } },
);

inBrowser('Escape goes up one level, and what is above is as it was left', async (page) => {
    await open(page, '#/c/posts', '.trend-cell');
    await still(page);
    const first = page.locator('main .row-link').nth(1);
    await first.focus();
    const label = await first.textContent();
    await leads(page, () => page.keyboard.press('Enter'));
    await page.waitForSelector('a.document');
    const cluster = page.url();
    for (let i = 0; i < 12; i++) await page.keyboard.press('j');
    const opened = await focusedHref(page);
    await leads(page, () => page.keyboard.press('Enter'));
    await page.waitForSelector('.document-text');
    assert.deepEqual((await texts(page, '#crumbs > *')).slice(1, 3), ['posts', label]);
    await leads(page, () => page.keyboard.press('Escape'));
    await page.waitForSelector('a.document');
    assert.equal(page.url(), cluster);
    assert.equal(await focusedHref(page), opened);
    await leads(page, () => page.keyboard.press('Escape'));
    await page.waitForSelector('.clusters .row-link');
    assert.match(page.url(), /#\/c\/posts$/);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), label);
    await leads(page, () => page.keyboard.press('Escape'));
    await page.waitForSelector('text=Last build');
    await page.keyboard.press('Escape');
    await still(page);
    assert.match(page.url(), /\/#?\/?$/);

    /* One that was sent to somebody: up to its own cluster, and to the list. */
    await open(page, `#/c/posts/doc/${posts[7].id}`, '.document-text');
    const d = await server.ask('GET', `collections/posts/documents/${posts[7].id}`);
    await leads(page, () => page.keyboard.press('Escape'));
    await page.waitForSelector('a.document');
    assert.match(page.url(), new RegExp(`#/c/posts/cluster/${d.memberships[0].cluster}$`));
    await leads(page, () => page.keyboard.press('Escape'));
    await page.waitForSelector('.clusters .row-link');

    /* What a search has found. */
    await open(page, '#/c/feedback/search?q=tabs', 'a.document');
    await leads(page, () => page.locator('a.document').first().click());
    await page.waitForSelector('.document-text');
    await leads(page, () => page.keyboard.press('Escape'));
    await page.waitForSelector('a.document');
    assert.match(page.url(), /search\?q=tabs$/);
    await leads(page, () => page.keyboard.press('Escape'));
    await page.waitForSelector('.clusters .row-link');
    assert.match(page.url(), /#\/c\/feedback$/);
});

inBrowser(
    'a phone has the list, and the map where it is asked for',
    async (page) => {
        await open(page, '#/c/posts', '.trend-cell');
        await still(page);
        assert.ok(await inView(page, 'main .row-link'));
        assert.equal(await page.locator('.treemap').count(), 0);
        await leads(page, () => page.getByRole('link', { name: 'Map', exact: true }).click());
        await page.waitForSelector('a.tile');
        /* Another time it is the list again. */
        await open(page, '#/c/feedback', '.clusters .row-link');
        assert.equal(await page.locator('.treemap').count(), 0);
    },
    { viewport: { width: 390, height: 844 } },
);

inBrowser('names that a path would take for steps', async (page) => {
    await server.put('..', [
        { id: '.', text: 'bees make honey' },
        { id: '..', text: 'queen bees and honey' },
        { id: 'a', text: 'honey of the bees' },
    ]);
    await server.rebuild('..');
    await open(page, '#/c/../doc/..', '.document-text');
    assert.equal(await page.locator('.document-text').textContent(), 'queen bees and honey');
    await open(page, '#/c/..', '.clusters .row-link');
    await leads(page, () => page.locator('.clusters .row-link').first().click());
    assert.equal(await page.locator('a.document').count(), 3);
    await open(page, '#/c/../news', '.watch-form');
    await open(page, '#/c/..', '.clusters .row-link');
    await still(page);
    await page.locator('.clusters .of-cluster').first().click();
    await page.getByRole('menuitem', { name: 'Lock', exact: true }).click();
    await page.waitForSelector('.clusters .tag >> text=locked');
    await open(page, '#/c/../edits', 'tbody tr');
    assert.equal(await page.locator('tbody tr').count(), 1);
});

inBrowser('hostile names, labels and texts are text', async (page) => {
    await server.put(
        HOSTILE,
        TEXTS.map((text, i) => ({ id: `${i}/${HOSTILE}`, text, [HOSTILE]: text })),
    );
    await server.rebuild(HOSTILE);
    const c = encodeURIComponent(HOSTILE);
    for (const cluster of await server.ask('GET', `collections/${c}/clusters`)) {
        await open(page, `#/c/${c}/cluster/${cluster.cluster}`, 'a.document');
        assert.equal(
            await page
                .locator('main script, main img, main iframe, main [onerror], main [onload]')
                .count(),
            0,
        );
    }
    const escaped = (s) =>
        s
            .replaceAll('\u202e', 'U+202E')
            .replaceAll('\u202c', 'U+202C')
            .replaceAll('\u001b', 'U+001B')
            .replaceAll('\u0007', 'U+0007');
    for (const [i, text] of TEXTS.entries()) {
        await open(page, `#/c/${c}/doc/${encodeURIComponent(`${i}/${HOSTILE}`)}`, '.document-text');
        assert.equal(await page.locator('.document-text').textContent(), escaped(text));
        assert.equal(await page.locator('.id-title').innerText(), `${i}/${HOSTILE}`);
        assert.equal(
            await page
                .locator('.document-text bdi')
                .evaluate((e) => getComputedStyle(e).unicodeBidi),
            'isolate',
        );
        assert.doesNotMatch(
            await page.evaluate(() => document.body.innerText + document.title),
            /[\u0000-\u0008\u000e-\u001f\u202a-\u202e]/,
        );
    }
    assert.equal(await page.locator('.document-text').getAttribute('dir'), 'auto');
    await open(page, '', 'tbody tr');
    await leads(page, () => page.getByRole('link', { name: HOSTILE, exact: true }).click());
    await page.waitForSelector('.clusters .row-link');
    assert.equal(await page.locator('h1').innerText(), HOSTILE);
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
    await leads(page, () => page.keyboard.press('Enter'));
    await page.waitForSelector('.clusters .row-link');
    await still(page);
    await page.getByRole('link', { name: 'Map', exact: true }).focus();
    await leads(page, () => page.keyboard.press('Enter'));
    await page.waitForSelector('a.tile');
    await still(page);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('ArrowRight');
    const tile = () =>
        page.evaluate(() => [
            document.activeElement.className,
            document.activeElement.offsetLeft,
            document.activeElement.dataset.cluster,
        ]);
    const [kind, left, id] = await tile();
    assert.equal(kind, 'tile');
    await page.keyboard.press('ArrowRight');
    assert.ok((await tile())[1] > left);
    await page.keyboard.press('ArrowLeft');
    assert.equal((await tile())[1], left);
    assert.ok(id);
    await leads(page, () => page.keyboard.press('Enter'));
    await page.waitForSelector('a.document');
    await page.keyboard.press('ArrowDown');
    await leads(page, () => page.keyboard.press('Enter'));
    await page.waitForSelector('.document-text');
    await leads(page, () => page.keyboard.press('Escape'));
    await page.waitForSelector('a.document');
    await leads(page, () => page.keyboard.press('Escape'));
    await page.waitForSelector('a.tile');
    await still(page);
    await page.keyboard.press('/');
    assert.equal(await page.evaluate(() => document.activeElement.type), 'search');
    await page.keyboard.press('?');
    assert.equal(await page.locator('dialog[open]').count(), 0);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open] .keys');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    assert.match(page.url(), /#\/c\/posts\?view=map$/);
    await page.keyboard.press('Tab');
    assert.notEqual(
        await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle),
        'none',
    );
});

inBrowser(
    'light and dark: as the machine has it, and by choice',
    async (page) => {
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
    },
    { colorScheme: 'dark' },
);

for (const colorScheme of ['light', 'dark'])
    for (const width of [1280, 390, 320])
        inBrowser(
            `every view at ${width} px, ${colorScheme}: contrast, names, whole words, no scrolling aside`,
            async (page) => {
                const views = [
                    ['', '.row-link'],
                    ['#/c/posts', '.trend-cell'],
                    ['#/c/posts/cluster/1', '.chart svg'],
                    [`#/c/posts/doc/${posts[7].id}`, '.why'],
                    ['#/c/twice/diff', '.diff'],
                    ['#/c/feedback/search?q=tabs', 'a.document'],
                    ['#/c/airlines', '.trend-cell'],
                    ['#/c/airlines/cluster/1', '.chart svg'],
                    ['#/c/airlines/doc/3', '.why'],
                    ['#/c/raw', '.empty'],
                    ['#/nothing', '.empty'],
                ];
                for (const [hash, ready] of views) {
                    await open(page, hash, ready);
                    await still(page);
                    const { low, nameless, broken, cut, wide } = await page.evaluate(lookOver);
                    assert.deepEqual(low, [], hash);
                    assert.deepEqual(nameless, [], hash);
                    assert.deepEqual(broken, [], hash);
                    assert.deepEqual(cut, [], hash);
                    assert.ok(wide <= 0, `${hash} is ${wide} px too wide`);
                }
            },
            { colorScheme, viewport: { width, height: 844 } },
        );
