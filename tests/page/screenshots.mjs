// Makes the pictures of docs/: npm run screenshots. Fonts are the machine's.
import { chromium } from 'playwright-core';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromiumPath, example, newPage, Served } from './served.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const out = process.argv[2] ?? path.join(root, 'docs');

/* Posts as they came: most of them, a build, then the rest and another one. */
async function fill(server) {
    const posts = example(path.join(root, 'examples/reddit-posts-20.jsonl.zst')).sort(
        (a, b) => a.time - b.time,
    );
    const first = Math.floor(posts.length * 0.93);
    await server.put('posts', posts.slice(0, first));
    await server.rebuild('posts');
    await server.put('posts', posts.slice(first, -300));
    await server.rebuild('posts');
    await server.put('posts', posts.slice(-300));
}

const server = await new Served().start();
const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--font-render-hinting=none'],
});
try {
    await fill(server);
    const shots = [
        ['page', '#/c/posts', 'a.tile', 900],
        ['page-cluster', '#/c/posts/cluster/{cluster}', '.chart svg', 900],
        ['page-document', '#/c/posts/doc/12yhmq', '.why', 720],
        ['page-diff', '#/c/posts/diff', '.diff', 720],
    ];
    const clusters = await server.ask('GET', 'collections/posts/clusters');
    for (const [name, hash, ready, height] of shots)
        for (const colorScheme of ['light', 'dark']) {
            const page = await newPage(browser, {
                colorScheme,
                deviceScaleFactor: 1.25,
                viewport: { width: 1280, height },
            });
            await page.goto(server.address + hash.replace('{cluster}', clusters[6].cluster));
            await page.waitForSelector(ready);
            if (name === 'page') await page.waitForSelector('.spark');
            await page.waitForTimeout(500);
            await page.screenshot({ path: path.join(out, `${name}-${colorScheme}.png`) });
            await page.context().close();
        }
    const watched = await newPage(browser, {
        deviceScaleFactor: 1.25,
        viewport: { width: 1280, height: 640 },
    });
    await watched.goto(server.address + '#/c/posts');
    await watched.waitForSelector('.spark');
    await watched.getByRole('button', { name: 'Rebuild' }).click();
    await watched.waitForSelector('.task[data-phase]:not([data-phase=""])');
    await watched.screenshot({ path: path.join(out, 'page-rebuild-light.png') });
    const narrow = await newPage(browser, {
        viewport: { width: 390, height: 844 },
        deviceScaleFactor: 1.5,
    });
    await narrow.goto(server.address + '#/c/posts');
    await narrow.waitForSelector('.spark');
    await narrow.screenshot({ path: path.join(out, 'page-narrow.png') });
} finally {
    await browser.close();
    await server.stop();
}
