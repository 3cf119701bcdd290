// A server with collections, a browser, and what the tests of the page have in common.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { chromiumPath, example, newPage, Served } from './served.mjs';

export const FEEDBACK = [
    { id: '1', text: 'The new tabs are fast', time: 1277293943, lang: 'en', type: 'praise' },
    { id: '2', text: 'Tabs on top: fast and pretty', type: 'praise' },
    { id: '3', text: 'I love the new tabs', time: 1277389059, type: 'praise' },
    { id: '4', text: 'Video crashes the browser', time: 1277489059, type: 'issue' },
    { id: '5', text: 'The browser crashes with many tabs', type: 'issue' },
    { id: '6', text: 'Crashes on every video', lang: 'en', type: 'issue' },
];

/* Labels of one long word each, over nine days. */
const AIRLINES = Array.from({ length: 90 }, (_, i) => ({
    id: String(i),
    text: [
        'VirginAmerica internationalization',
        'customerservice misunderstanding',
        'Flightled unsatisfactorily',
    ][i % 3],
    time: 1424044800 + i * 8640,
}));

export let server, browser, posts;

before(async () => {
    server = await new Served().start();
    browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
    posts = example(
        path.join(process.env.GROUPERFISH_SOURCE, 'examples/reddit-posts-20.jsonl.zst'),
    ).filter((_, i) => i % 4 === 0);
    await server.put('feedback', FEEDBACK);
    await server.ask(
        'PATCH',
        'collections/feedback/configurations/default?set=k=2&set=language=english',
    );
    await server.rebuild('feedback');
    await server.put('posts', posts.slice(0, -400));
    await server.rebuild('posts');
    await server.put('raw', FEEDBACK);
    await server.put('airlines', AIRLINES);
    await server.ask('PATCH', 'collections/airlines/configurations/default?set=k=3&set=min_df=1');
    await server.rebuild('airlines');
    await server.put('twice', FEEDBACK);
    await server.rebuild('twice');
    await server.put('twice', [{ id: '7', text: 'Fast new tabs please' }]);
    await server.rebuild('twice');
});

after(async () => {
    await browser?.close();
    await server?.stop();
});

export const newPageHere = (options) => newPage(browser, options);

/* A test with a page of its own; at its end nothing was said, and nobody else asked. */
export function inBrowser(name, run, options = {}) {
    test(name, async () => {
        const page = await newPage(browser, options);
        try {
            await run(page);
            assert.deepEqual(page.told, options.said ?? []);
            assert.deepEqual(
                [...page.hosts].filter((host) => host !== new URL(page.url()).host),
                [],
            );
        } finally {
            await page.context().close();
        }
    });
}

export const open = async (page, hash, ready = 'main > *') => {
    await page.goto('about:blank');
    page.underWay.clear();
    await page.goto(server.address + hash);
    await page.waitForSelector(ready);
};

/*
 * Do what leads to another view, and wait for it. What is on the screen stays until the new view is there
 * as a whole: to wait for something that the old one has too is to wait for nothing.
 */
export async function leads(page, act) {
    await page.evaluate(() => {
        for (const e of document.getElementById('main').children) e.dataset.left = '';
    });
    await act();
    await page.waitForFunction(() => {
        const main = document.getElementById('main');
        return (
            main.children.length > 0 &&
            !main.hasAttribute('aria-busy') &&
            [...main.children].every((e) => e.dataset.left === undefined)
        );
    });
}

/* Longer than any timer of the page that asks something once nobody moves: the map's has 160 ms. */
const REST_MS = 200;

/*
 * Wait until nothing is asked, and what was answered is drawn. The page's own clock is waited for, with a
 * timer that is set after all of its own and with frames, so it may be as slow as it likes.
 */
export async function still(page) {
    const end = Date.now() + 60_000;
    for (;;) {
        const before = page.traffic;
        await page.evaluate(
            (ms) =>
                new Promise((go) =>
                    setTimeout(
                        () => requestAnimationFrame(() => requestAnimationFrame(() => go())),
                        ms,
                    ),
                ),
            REST_MS,
        );
        if (page.traffic === before && page.underWay.size === 0) return;
        const open = [...page.underWay].map((r) => r.url());
        assert.ok(Date.now() < end, `the page is not at rest: ${open.join()}`);
    }
}

export const texts = (page, selector) => page.locator(selector).allTextContents();

export async function saved(page, button) {
    const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
    return {
        name: download.suggestedFilename(),
        text: readFileSync(await download.path(), 'utf8'),
    };
}

/* Files that are dropped on the page. */
export async function drop(page, files) {
    await page.evaluate(
        (all) => {
            const data = new DataTransfer();
            for (const [name, bytes] of all)
                data.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name));
            dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
        },
        Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]),
    );
    await page.waitForSelector('dialog[open]');
}

export const send = async (page) => {
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.waitForSelector('.summary');
};

/* Take hold of a cluster's handle in the list, and let it go over another. */
export async function drag(page, from, to) {
    await from.hover();
    const a = await from.locator('.handle').boundingBox(),
        b = await to.boundingBox();
    await page.mouse.move(a.x + a.width / 2, a.y + a.height / 2);
    await page.mouse.down();
    await page.mouse.move(a.x + 30, a.y + 20, { steps: 4 });
    await page.mouse.move(b.x + 120, b.y + b.height / 2, { steps: 6 });
    await page.waitForSelector('.drop-here');
    await page.mouse.up();
}

/* RFC 4180 */
export function parseCsv(text) {
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
