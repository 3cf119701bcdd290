// The map of documents: names, zoom, colours, what is under the pointer, and what a line is drawn around.
import assert from 'node:assert/strict';
import { check } from './axe.mjs';
import { inBrowser, leads, open, posts, server, still, texts } from './fixture.mjs';

const MAP = '.map.points',
    K = 6,
    REST = 400 /* ms, longer than a map waits until it notes where it is */,
    DOUBLE_TAP_MS = 700; /* longer than two taps are one double tap */

let made;
/* A collection of 600 posts, clustered once. */
const mapped = () =>
    (made ??= (async () => {
        await server.put('mapped', posts.slice(0, 600));
        await server.ask('PATCH', `collections/mapped/configurations/default?set=k=${K}`);
        await server.rebuild('mapped');
    })());
const clustersNow = () => server.ask('GET', 'collections/mapped/clusters?hidden');
const rowsNow = () => server.rows('collections/mapped/memberships?map&with-text');

async function openMap(page, values = '') {
    await mapped();
    await open(page, '#/c/mapped/documents' + values, MAP);
    await still(page);
    return page.locator(MAP);
}

const numberOf = async (map, name) => Number(await map.getAttribute('data-' + name));
const addressOf = (page) => new URLSearchParams(page.url().split('?')[1] ?? '');

/* Shift, and a line around all of the map but for its rim. */
async function drawAround(page, map, part = 0.98) {
    const b = await map.boundingBox();
    const x = (share) => b.x + b.width * (0.5 + part * (share - 0.5)),
        y = (share) => b.y + b.height * (0.5 + part * (share - 0.5));
    await page.mouse.move(x(0), y(0));
    await page.keyboard.down('Shift');
    await page.mouse.down();
    for (const [h, v] of [[1, 0], [1, 1], [0, 1]]) await page.mouse.move(x(h), y(v), { steps: 3 });
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await page.waitForSelector('.there h2');
    await still(page);
}

/* Move along lines over the map until it tells of a point; where that is. */
async function findPoint(page, map, visit) {
    const b = await map.boundingBox();
    for (let y = 0.3; y < 0.8; y += 0.03)
        for (let x = 0.2; x < 0.85; x += 0.015) {
            const at = { x: b.x + b.width * x, y: b.y + b.height * y };
            await visit(at);
            if (await page.locator('.point-tip').isVisible()) return at;
        }
    throw new Error('no point was found');
}

inBrowser('names do not lie over one another, and every point is there', async (page) => {
    const map = await openMap(page);
    const rows = await rowsNow();
    assert.equal(await numberOf(map, 'seen'), rows.filter((r) => r.x !== null).length);
    const labels = new Map((await clustersNow()).map((c) => [c.label, c.size]));
    const names = await page.locator('.names span').evaluateAll((all) =>
        all.map((e) => {
            const b = e.getBoundingClientRect();
            return { text: e.textContent, left: b.left, right: b.right, top: b.top, bottom: b.bottom };
        }),
    );
    /* Six names have room, one beside another where they would lie over one another. */
    assert.equal(names.length, K);
    names.forEach((n, i) => {
        const label = [...labels.keys()].find((l) => l === n.text || l.startsWith(n.text.slice(0, -1)));
        assert.ok(label, n.text);
        for (const m of names.slice(i + 1))
            assert.ok(n.right <= m.left || m.right <= n.left || n.bottom <= m.top || m.bottom <= n.top, `${n.text} and ${m.text}`);
    });
    /* The largest cluster's name is always one of them. */
    const largest = [...labels].sort((a, b) => b[1] - a[1])[0][0];
    assert.ok(names.some((n) => n.text === largest || largest.startsWith(n.text.slice(0, -1))), largest);
});

inBrowser('wheel and keys zoom and move, the address keeps it, and Back shows it again', async (page) => {
    const map = await openMap(page);
    const all = await numberOf(map, 'seen');
    const b = await map.boundingBox();
    await page.mouse.move(b.x + b.width / 2, b.y + b.height / 2);
    await page.mouse.wheel(0, -400);
    await still(page);
    assert.equal(await numberOf(map, 'zoom'), 1);
    assert.equal(addressOf(page).get('zoom'), '1.00');
    await map.focus();
    for (const key of ['+', '+', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
    await still(page);
    const kept = addressOf(page),
        seen = await numberOf(map, 'seen');
    assert.equal(kept.get('zoom'), '3.00');
    assert.ok(seen > 0 && seen < all, `${seen} of ${all}`);
    await page.keyboard.press('l');
    await page.locator('.there h2', { hasText: new RegExp(`^In view: ${seen} documents? in`) }).waitFor();
    await leads(page, () => page.locator('.there a.document').first().click());
    await page.waitForSelector('.document-text');
    await page.goBack();
    await page.waitForSelector(MAP);
    await still(page);
    assert.deepEqual([...addressOf(page)], [...kept]);
    assert.equal(await numberOf(map, 'seen'), seen);
    assert.match(await page.locator('.there h2').textContent(), /^In view/);
    await map.focus();
    await page.keyboard.press('0');
    await still(page);
    assert.equal(await numberOf(map, 'seen'), all);
    assert.equal(addressOf(page).get('zoom'), null);
});

inBrowser('points are coloured by the values of a field, with a legend that counts them', async (page) => {
    await openMap(page);
    const counts = new Map();
    for (const r of await rowsNow())
        if (r.x !== null) counts.set(r.fields.label, (counts.get(r.fields.label) ?? 0) + 1);
    await page.getByLabel('Colour').selectOption('label');
    assert.equal(addressOf(page).get('colour'), 'label');
    const lines = await texts(page, '.legend li');
    const most = [...counts].sort((a, b) => b[1] - a[1])[0];
    assert.equal(lines[0].replace(/\s+/g, ' '), `${most[0]} ${most[1]}`);
    const total = lines.reduce((n, l) => n + Number(/([\d,]+)$/.exec(l)[1].replaceAll(',', '')), 0);
    assert.equal(total, [...counts.values()].reduce((a, b) => a + b));
    const colours = await page.locator('.legend .swatch').evaluateAll((all) => all.map((e) => getComputedStyle(e).backgroundColor));
    assert.equal(new Set(colours).size, colours.length);
    /* The canvas has them, too. */
    const found = await page.locator(MAP + ' canvas').evaluate((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const kinds = new Set();
        for (let i = 0; i < data.length; i += 4) kinds.add((data[i] >> 4) * 256 + (data[i + 1] >> 4) * 16 + (data[i + 2] >> 4));
        return kinds.size;
    });
    assert.ok(found > colours.length, String(found));
});

inBrowser('a point says its text and its cluster, and a click opens it', async (page) => {
    const map = await openMap(page);
    const at = await findPoint(page, map, (p) => page.mouse.move(p.x, p.y));
    const [label, text] = await texts(page, '.point-tip > *');
    const rows = await rowsNow();
    const beginning = (r) => r.text.replace(/\s+/g, ' ').startsWith(text.replace(/ …$/, '').replace(/\s+/g, ' '));
    const row = rows.find((r) => r.label === label && beginning(r));
    assert.ok(row, `${label}: ${text}`);
    await leads(page, () => page.mouse.click(at.x, at.y));
    await page.waitForSelector('.document-text');
    assert.ok(rows.some((r) => r.label === label && beginning(r) && page.url().includes('/doc/' + r.id)));
});

inBrowser('what a line is drawn around is listed, merged, hidden and moved; nothing is worked out again', async (page) => {
    const map = await openMap(page);
    const before = await clustersNow();
    const mapsAsked = [];
    page.on('request', (r) => /[?&]map\b/.test(r.url()) && mapsAsked.push(r.url()));
    await drawAround(page, map);
    const n = await numberOf(map, 'seen');
    assert.equal(await page.locator('.there h2').textContent(), `Drawn around: ${n} documents in ${K} clusters`);
    const of = (c) => page.locator('.there table tbody tr').filter({ has: page.locator(`a[href="#/c/mapped/cluster/${c.cluster}"]`) });
    const [first, second] = [...before].sort((a, b) => b.size - a.size);
    for (const c of [first, second]) await of(c).locator('input.pick').check();
    await page.getByRole('button', { name: 'Merge…' }).click();
    await leads(page, () => page.getByRole('button', { name: 'Merge', exact: true }).click());
    await page.waitForSelector(MAP);
    await still(page);
    assert.equal((await clustersNow()).length, K - 1);
    assert.equal(await page.locator('.there h2').textContent(), `Drawn around: ${n} documents in ${K - 1} clusters`);
    await leads(page, () => page.keyboard.press('Control+z'));
    await page.waitForSelector(MAP);
    await still(page);
    assert.deepEqual((await clustersNow()).map((c) => [c.cluster, c.size]), before.map((c) => [c.cluster, c.size]));

    await of(first).getByRole('button', { name: /^Actions of/ }).click();
    await leads(page, () => page.getByRole('menuitem', { name: 'Hide', exact: true }).click());
    await page.waitForSelector(MAP);
    await still(page);
    assert.equal(await numberOf(map, 'seen'), n - first.size);
    await page.getByText('1 cluster hidden.').waitFor();
    await leads(page, () => page.keyboard.press('Control+z'));
    await page.waitForSelector(MAP);
    await still(page);
    assert.equal(await numberOf(map, 'seen'), n);

    const moved = page.locator('.there a.document').first();
    const id = decodeURIComponent((await moved.getAttribute('href')).split('/').at(-1));
    const clusterOf = async () => (await server.ask('GET', `collections/mapped/documents/${id}`)).memberships[0].cluster;
    const was = await clusterOf(),
        to = before.find((c) => c.cluster !== was);
    await page.getByRole('button', { name: `Move ${id}`, exact: true }).click();
    await page.getByLabel('Into the cluster').selectOption(String(to.cluster));
    await leads(page, () => page.getByRole('button', { name: 'Move', exact: true }).click());
    assert.equal(await clusterOf(), to.cluster);
    await page.waitForSelector(MAP);
    await still(page);
    await leads(page, () => page.keyboard.press('Control+z'));
    assert.equal(await clusterOf(), was);
    assert.deepEqual(mapsAsked, []);
});

inBrowser('a map that is moved while another view is read says nothing in the address of that', async (page) => {
    const map = await openMap(page);
    let go;
    const held = new Promise((done) => (go = done));
    await page.route(/v1\/collections\/mapped\/duplicates/, async (route) => {
        await held;
        await route.fallback();
    });
    await leads(page, async () => {
        await page.evaluate(() => (location.hash = '#/c/mapped/duplicates'));
        await map.focus();
        await page.keyboard.press('+');
        await page.waitForTimeout(REST);
        go();
    });
    assert.deepEqual([...addressOf(page)], []);
    await page.goBack();
    await page.waitForSelector(MAP);
    await still(page);
});

inBrowser('several documents are moved at once, and that is taken back as a whole', async (page) => {
    const map = await openMap(page);
    const before = new Map((await rowsNow()).map((r) => [r.id, r.cluster]));
    for (const part of [0.3, 0.2, 0.12, 0.06]) {
        await drawAround(page, map, part);
        if (await page.getByRole('button', { name: /^Move all/ }).count()) break;
    }
    const move = page.getByRole('button', { name: /^Move all/ }),
        n = Number(/\d+/.exec(await move.textContent())[0]);
    await move.click();
    await page.getByLabel('Into the cluster').selectOption({ index: 1 });
    const to = Number(await page.getByLabel('Into the cluster').inputValue());
    await leads(page, () => page.getByRole('button', { name: 'Move', exact: true }).click());
    await page.waitForSelector(MAP);
    await still(page);
    const now = await rowsNow();
    const went = now.filter((r) => r.cluster !== before.get(r.id));
    assert.ok(went.length > 0 && went.length <= n && went.every((r) => r.cluster === to), `${went.length} of ${n}`);
    await page.keyboard.press('Control+z');
    await page.locator('.toast').waitFor({ state: 'detached' }); /* one after the other: the view may be drawn on the way */
    assert.deepEqual(new Map((await rowsNow()).map((r) => [r.id, r.cluster])), before);
});

inBrowser('what a line is drawn around becomes the examples of a topic, and that is taken back', async (page) => {
    const map = await openMap(page);
    await drawAround(page, map, 0.3);
    const make = page.getByRole('button', { name: /^Topic of/ }),
        n = Number(/\d+/.exec(await make.textContent())?.[0] ?? 1);
    await make.click();
    await page.getByLabel('What it is called').fill('Drawn');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.locator('#dock').getByText('added: it gets its documents').waitFor();
    const topicsNow = () => server.ask('GET', 'collections/mapped/topics');
    assert.deepEqual((await topicsNow()).map((t) => [t.topic, t.like]), [['Drawn', n]]);
    await still(page);
    await page.keyboard.press('Control+z');
    await page.locator('.toast').waitFor({ state: 'detached' });
    assert.deepEqual(await topicsNow(), []);
});

inBrowser('a map that takes long says so, and is cancelled and asked for again', async (page) => {
    await mapped();
    let held = true;
    await page.route(/memberships\?.*map/, async (route) => {
        while (held && !page.isClosed()) await new Promise((go) => setTimeout(go, 20));
        await route.fallback().catch(() => {});
    });
    await open(page, '#/c/mapped/documents', '.reading progress');
    await page.getByText(/^Working out the map of 600 documents/).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('The map was cancelled.').waitFor();
    held = false;
    await page.getByRole('button', { name: 'Work it out' }).click();
    await page.waitForSelector(MAP);
});

inBrowser(
    'a finger that touches a point sees what it is, and opens it',
    async (page) => {
        const map = await openMap(page);
        const b = await map.boundingBox(),
            rows = (await rowsNow()).filter((r) => r.x !== null);
        const [u, v] = (await map.getAttribute('data-turned')) === 'true' ? ['y', 'x'] : ['x', 'y'];
        const [left, right, top, bottom] = [u, v].flatMap((k) => [Math.min(...rows.map((r) => r[k])), Math.max(...rows.map((r) => r[k]))]);
        const scale = 0.9 * Math.min(b.width / (right - left), b.height / (bottom - top));
        const at = (r) => ({
            x: b.x + b.width / 2 + (r[u] - (left + right) / 2) * scale,
            y: b.y + b.height / 2 + (r[v] - (top + bottom) / 2) * scale,
        });
        /* A finger is 16 px beside one, and farther from all others. */
        const beside = rows.flatMap((r) => [[16, 0], [-16, 0], [0, 16], [0, -16]].map(([x, y]) => ({ r, x: at(r).x + x, y: at(r).y + y })));
        const apart = (p) => Math.min(...rows.filter((o) => o !== p.r).map((o) => Math.hypot(at(o).x - p.x, at(o).y - p.y)));
        const inside = (p) => p.x > b.x + 20 && p.x < b.x + b.width - 60 && p.y > b.y + 20 && p.y < b.y + b.height - 20;
        const finger = beside.find((p) => inside(p) && apart(p) > 19);
        assert.ok(finger);
        const row = finger.r;
        await page.touchscreen.tap(finger.x, finger.y);
        await page.locator('.point-tip.touched').waitFor();
        const [label, text] = await texts(page, '.point-tip > *');
        assert.equal(label, row.label);
        assert.ok(row.text.replace(/\s+/g, ' ').startsWith(text.replace(/ …$/, '').replace(/\s+/g, ' ')), `${text} for ${row.text}`);
        await page.waitForTimeout(DOUBLE_TAP_MS);
        assert.equal(await numberOf(map, 'zoom'), 0);
        await leads(page, () => page.getByRole('link', { name: 'Open the document' }).tap());
        await page.waitForSelector('.document-text');
        assert.equal(decodeURIComponent(page.url().split('/doc/')[1]), row.id);
    },
    { viewport: { width: 390, height: 844 }, hasTouch: true },
);

inBrowser(
    'two quick taps beside all points come nearer; two of them at some time do not',
    async (page) => {
        const map = await openMap(page),
            b = await map.boundingBox();
        const tap = () => page.touchscreen.tap(b.x + 12, b.y + 12);
        for (const [pause, zoom] of [[DOUBLE_TAP_MS, 0], [0, 1]]) {
            await tap();
            await page.waitForTimeout(pause);
            await tap();
            await page.waitForTimeout(DOUBLE_TAP_MS);
            assert.equal(await numberOf(map, 'zoom'), zoom);
        }
        assert.equal(await page.locator('.point-tip').isVisible(), false);
    },
    { viewport: { width: 390, height: 844 }, hasTouch: true },
);

for (const colorScheme of ['light', 'dark'])
    for (const width of [1280, 390])
        inBrowser(
            `the map with a list: WCAG 2.2 AA by axe at ${width} px, ${colorScheme}`,
            async (page) => {
                const map = await openMap(page, '?colour=label'),
                    against = [];
                await check(page, 'the map', against);
                await map.focus();
                await page.keyboard.press('l');
                await page.waitForSelector('.there h2');
                await still(page);
                await check(page, 'a list', against);
                assert.deepEqual(against, []);
                const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
                assert.ok(wide <= 0, `${wide} px too wide`);
            },
            { colorScheme, viewport: { width, height: 844 } },
        );
