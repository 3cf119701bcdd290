// Makes the pictures of docs/: npm run screenshots. Fonts are the machine's.
import { chromium } from 'playwright-core';
import { readFileSync } from 'node:fs';
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

/* Made tweets of two days: around cities, in their languages, more of them by day than by night. */
function madeTweets() {
    const cities = JSON.parse(
        readFileSync(path.join(root, 'server/page/map/cities.json'), 'utf8'),
    ).filter(([, longitude, latitude]) => longitude > -25 && longitude < 45 && latitude > 34);
    const said = [
        [
            'en',
            [
                'Rain again',
                'What a game',
                'Coffee first',
                'Stuck in #traffic',
                'Sunset over the river',
            ],
        ],
        [
            'de',
            ['Schon wieder #regen', 'Was für ein Spiel', 'Erst mal Kaffee', 'Stau auf der Brücke'],
        ],
        ['fr', ['Encore la #pluie', 'Quel match', 'Un café et on y va', 'Coucher de soleil']],
        ['es', ['Otra vez #lluvia', 'Vaya partido', 'Primero un café', 'Qué atardecer']],
        ['it', ['Ancora #pioggia', 'Che partita', 'Prima il caffè']],
        ['tr', ['Yine #yağmur', 'Ne maç ama', 'Önce kahve']],
        ['pl', ['Znowu #deszcz', 'Co za mecz', 'Najpierw kawa']],
    ];
    const tags = ['#weather', '#football', '#monday', '#coffee', '#travel', '#music', '#news'];
    let seed = 7;
    const random = () => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
        return seed / 2 ** 32;
    };
    const some = (list, power = 1) => list[Math.floor(random() ** power * list.length)];
    const about = (spread) => (random() + random() + random() - 1.5) * spread;
    return Array.from({ length: 12_000 }, (_, i) => {
        const hour = (14 + about(14) + 24) % 24;
        const at = Date.UTC(2016, 4, 23 + Math.floor(random() * 2)) + hour * 3_600_000;
        const [name, longitude, latitude] = some(cities, 1.3);
        const [lang, texts] = said[Math.floor(random() ** 1.8 * said.length)];
        const user = Math.floor(random() ** 2 * 3000);
        return JSON.stringify({
            created_at: new Date(at).toISOString(),
            id_str: String(734_000_000_000 + i),
            text: `${some(texts)} ${some(tags, 1.7)} in ${name}`,
            lang,
            user: { id_str: String(user), screen_name: `user_${user}`, name: `User ${user}` },
            coordinates: {
                coordinates: [longitude + about(2.4), latitude + about(1.8)].map(
                    (v) => +v.toFixed(5),
                ),
            },
        });
    });
}

const server = await new Served().start();
const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--font-render-hinting=none'],
});
try {
    await fill(server);
    await server.ask('POST', 'tweets', madeTweets().join('\n'));
    const shots = [
        ['page', '#/c/posts', '.trend-cell', 900],
        ['page-map', '#/c/posts?view=map', 'a.tile', 800, 'light'],
        ['page-tree', '#/c/posts?view=tree&levels=5,12', '.tree', 900, 'dark'],
        ['page-fields', '#/c/posts/fields', '.crosstab', 720, 'light'],
        ['page-documents', '#/c/posts/documents', '.names span', 800, 'light'],
        ['page-settings', '#/c/posts/settings', '.settings', 800, 'light'],
        ['page-cluster', '#/c/posts/cluster/{cluster}', '.chart svg', 900],
        ['page-document', '#/c/posts/doc/12yhmq', '.why', 720],
        ['page-diff', '#/c/posts/diff', '.diff', 720],
        ['page-tweets', '#/tweets?box=-6,42,17,55', 'table[aria-label^="Users that"]', 1560],
    ];
    const clusters = await server.ask('GET', 'collections/posts/clusters');
    for (const [name, hash, ready, height, only] of shots)
        for (const colorScheme of only ? [only] : ['light', 'dark']) {
            const page = await newPage(browser, {
                colorScheme,
                deviceScaleFactor: 1.25,
                viewport: { width: 1280, height },
            });
            await page.goto(server.address + hash.replace('{cluster}', clusters[6].cluster));
            await page.waitForSelector(ready);
            if (name === 'page') await page.waitForSelector('.trend-cell');
            await page.waitForTimeout(500);
            await page.screenshot({ path: path.join(out, `${name}-${colorScheme}.png`) });
            await page.context().close();
        }
    const watched = await newPage(browser, {
        deviceScaleFactor: 1.25,
        viewport: { width: 1280, height: 640 },
    });
    await watched.goto(server.address + '#/c/posts');
    await watched.waitForSelector('.trend-cell');
    await watched.getByRole('button', { name: 'Rebuild' }).click();
    await watched.waitForSelector('.task[data-phase]:not([data-phase=""])');
    await watched.screenshot({ path: path.join(out, 'page-rebuild-light.png') });
    const imported = await newPage(browser, {
        deviceScaleFactor: 1.25,
        viewport: { width: 1280, height: 720 },
    });
    await imported.goto(server.address);
    await imported.waitForSelector('.row-link');
    await imported.evaluate(() => {
        const rows = [
            'Ticket,Opened,Subject,Message,Product',
            '1041,3/4/2026,No sound,"Since the update the left speaker is silent",Radio 2',
            '1042,3/4/2026,Refund,"I was charged twice and nobody answers",Shop',
            '1043,4/4/2026,Great,"The new remote is a joy, thank you",Radio 2',
            '1044,4/4/2026,Battery,"It is empty after an hour",Lamp',
        ];
        const data = new DataTransfer();
        data.items.add(new File([rows.join('\n')], 'tickets.csv'));
        dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
    });
    await imported.waitForSelector('dialog .preview');
    await imported.screenshot({ path: path.join(out, 'page-import-light.png') });
    const narrow = await newPage(browser, {
        viewport: { width: 390, height: 844 },
        deviceScaleFactor: 1.5,
    });
    await narrow.goto(server.address + '#/c/posts');
    await narrow.waitForSelector('.trend-cell');
    await narrow.screenshot({ path: path.join(out, 'page-narrow.png') });
} finally {
    await browser.close();
    await server.stop();
}
