// Tweets on the page: the map and its boxes, languages over time, search, hashtags, highscore. They are
// of a namespace of their own, so that the others see none.
import assert from 'node:assert/strict';
import { inBrowser, leads, open, parseCsv, saved, server, still, texts } from './fixture.mjs';
import { lookOver } from './looks.mjs';

const HOSTILE = '<img src=x onerror=console.error(1)> \u202eevil <script>console.error(2)</script>';
const START = Date.UTC(2016, 4, 5, 14, 30);

const tweet = (i, { at = START + i * 60_000, text, lang, user, name, place, box, where }) => ({
    created_at: new Date(at).toISOString(),
    id_str: String(1000 + i),
    text,
    lang,
    user: { id_str: user, screen_name: user, name: name ?? user },
    ...(place && { coordinates: { type: 'Point', coordinates: place } }),
    ...(box && {
        place: {
            full_name: where,
            bounding_box: {
                type: 'Polygon',
                coordinates: [
                    [
                        [box[0], box[1]],
                        [box[0], box[3]],
                        [box[2], box[3]],
                        [box[2], box[1]],
                    ],
                ],
            },
        },
    }),
});

/* 180 tweets over 3 hours: around Leipzig in German and English, in Chile, by Fiji, some nowhere. */
const TWEETS = [
    ...Array.from({ length: 150 }, (_, i) =>
        tweet(i, {
            text: i % 3 ? `Regen in #Leipzig, ${i}` : `Rain in #Leipzig again, ${i}`,
            lang: i % 3 ? 'de' : 'en',
            user: i % 2 ? 'ada' : 'bob',
            place: [12 + (i % 10) / 10, 51 + (i % 7) / 10],
        }),
    ),
    ...Array.from({ length: 20 }, (_, i) =>
        tweet(150 + i, {
            text: `Lluvia #valdivia ${i}`,
            lang: 'es',
            user: 'eva',
            name: 'Eva Maria',
            box: [-73.4, -39.9, -73.1, -39.7],
            where: 'Valdivia, Chile',
        }),
    ),
    tweet(170, {
        text: 'Bula &amp;lt; &lt;b&gt; #fiji',
        lang: 'en',
        user: 'sam',
        place: [179.5, -17],
    }),
    tweet(171, { text: 'Bula vinaka #fiji', lang: 'en', user: 'sam', place: [-179.5, -17.5] }),
    tweet(172, { text: HOSTILE, lang: HOSTILE, user: HOSTILE, name: HOSTILE, place: [100, 10] }),
    ...Array.from({ length: 7 }, (_, i) =>
        tweet(173 + i, { text: `Nowhere ${i}`, lang: 'en', user: 'nobody' }),
    ),
];

const NAMESPACE = { 'Grouperfish-Namespace': 'events' };

async function ask(where) {
    const answer = await fetch(server.address + 'v1/' + where, { headers: NAMESPACE });
    assert.ok(answer.ok, `${where}: ${answer.status}`);
    return answer.json();
}

let imported;

async function importAll() {
    const answer = await fetch(server.address + 'v1/tweets', {
        method: 'POST',
        headers: NAMESPACE,
        body: TWEETS.map((t) => JSON.stringify(t)).join('\n'),
    });
    assert.ok(answer.ok);
    const [told] = [await answer.json()].flat();
    assert.equal(told.tweets, TWEETS.length);
}

const withTweets = (name, run, options) =>
    inBrowser(
        name,
        async (page) => {
            await (imported ??= importAll());
            await run(page);
        },
        options,
    );

const show = (page, values = {}, ready = '.spot') =>
    open(page, '#/tweets?' + new URLSearchParams({ namespace: 'events', ...values }), ready);

const values = (page) => new URLSearchParams(new URL(page.url()).hash.split('?')[1] ?? '');

/* The number that the map's marks stand for. */
const counted = (page) =>
    page
        .locator('.spot')
        .evaluateAll((all) =>
            all.reduce((n, g) => n + +(g.querySelector('text')?.textContent ?? 1), 0),
        );

const statusIs = (page, words) =>
    page.waitForFunction(
        (w) => document.querySelector('.section-head [role=status]')?.textContent === w,
        words,
    );

const hasTexts = (page, n) =>
    page.waitForFunction((k) => document.querySelectorAll('.tweet-text').length === k, n);

withTweets('tweets: the start page leads to them, where there are any', async (page) => {
    await open(page, '', '.row-link');
    assert.equal(await page.getByRole('link', { name: /tweet/ }).count(), 0);
    await open(page, '#/?namespace=events', '.empty');
    await page.getByRole('link', { name: '180 tweets' }).click();
    await page.waitForSelector('.spot');
    assert.match(await page.locator('.facts').innerText(), /^180 tweets · 173 with a place/);
    assert.match(page.url(), /#\/tweets\?namespace=events$/);
    await page.keyboard.press('Escape');
    await page.waitForSelector('.empty');
    await open(page, '#/tweets', '.empty');
    assert.match(await page.locator('main').innerText(), /no tweets yet.*tweets import/s);
});

withTweets('tweets: the map has all that have a place, and goes nearer', async (page) => {
    await show(page);
    await still(page);
    await statusIs(page, '173 tweets here');
    assert.equal(await counted(page), 173);
    const land = await page
        .locator('.map .land')
        .first()
        .evaluate((e) => e.getBBox().width);
    assert.ok(land > 4000, `land of ${land} units`);
    assert.ok((await texts(page, '.map .country')).includes('Brazil'));
    const scale = () =>
        page
            .locator('.map .land')
            .first()
            .evaluate((e) => +/scale\(([\d.]+)/.exec(e.getAttribute('transform'))[1]);
    const before = await scale();
    const most = page.locator('.spot', { hasText: /^1[0-9][0-9]/ }).first();
    await most.click();
    await page.waitForFunction(() => document.querySelectorAll('.spot').length > 5);
    await still(page);
    assert.ok((await scale()) > 4 * before);
    await page.getByText('Places as a table').click();
    const rows = await page
        .locator('.table-frame table[aria-label=Places] tbody td:first-child')
        .allTextContents();
    assert.equal(
        rows.reduce((n, t) => n + +t, 0),
        +/\d+/.exec(await page.locator('.section-head [role=status]').innerText())[0],
    );
    await page.getByRole('button', { name: 'Whole map' }).click();
    await statusIs(page, '173 tweets here');
});

withTweets('tweets: of two marks the one that was chosen last is gone to', async (page) => {
    await show(page);
    await still(page);
    let release;
    const held = new Promise((go) => (release = go));
    let asked = 0;
    await page.route(/\/v1\/tweets\/grid\?.*limit=0/, async (route) => {
        if (asked++ === 0) await held;
        await route.continue();
    });
    const before = await page.locator('.map .land').first().getAttribute('transform');
    await page.locator('.spot', { hasText: /^1[0-9][0-9]/ }).first().click();
    await page.locator('.spot', { hasText: /^20/ }).first().click();
    await page.waitForFunction(
        (t) => document.querySelector('.map .land').getAttribute('transform') !== t,
        before,
    );
    const [late] = [page.waitForResponse(/\/v1\/tweets\/grid\?.*limit=0/), release()];
    await late;
    await still(page);
    assert.equal(asked, 2);
    await statusIs(page, '20 tweets here');
});

withTweets('tweets: a box that is drawn chooses tweets and hashtags', async (page) => {
    await show(page, { box: '11,50,14,53' });
    await hasTexts(page, 50);
    const draw = page.getByRole('button', { name: 'Draw a box' });
    await draw.click();
    assert.equal(await draw.getAttribute('aria-pressed'), 'true');
    /* The map is where it stays, and has its marks: the mouse goes to places of the window. */
    await still(page);
    const frame = await page.locator('.map').boundingBox();
    await page.mouse.move(frame.x + frame.width * 0.3, frame.y + 60);
    await page.mouse.down();
    await page.mouse.move(frame.x + frame.width * 0.4, frame.y + 200);
    await page.mouse.move(frame.x + frame.width * 0.5, frame.y + 300);
    await leads(page, () => page.mouse.up());
    const box = values(page).get('box');
    assert.match(box, /^[\d.]+,[\d.]+,[\d.]+,[\d.]+$/);
    assert.notEqual(box, '11,50,14,53');
    const meant = await ask(`tweets/map?limit=0&box=${box}`);
    assert.ok(meant.length > 3 && meant.length < 150, `${meant.length} in ${box}`);
    assert.match((await texts(page, '.chip')).join(), /^Box /);
    assert.deepEqual(
        await texts(page, '.tweet-text'),
        meant.slice(0, 50).map((t) => t.text),
    );
    const top = await ask(`tweets/top?box=${box}`);
    await page.waitForSelector('table[aria-label=Hashtags]');
    assert.deepEqual(
        await texts(page, 'table[aria-label=Hashtags] td:first-child'),
        top.map((t) => t.tag),
    );
    await page.waitForFunction(
        () => document.querySelectorAll('.map .box rect').length === 1,
    );
    await leads(page, () => page.locator('.chip', { hasText: 'Box' }).click());
    assert.equal(values(page).get('box'), null);
    await still(page);
    assert.equal(await page.locator('.map .box rect').count(), 0);
});

withTweets('tweets: a box over the antimeridian, with Shift', async (page) => {
    await show(page, { words: '#fiji' });
    await hasTexts(page, 2);
    /* From 170 degrees east to 170 west: the map goes to where these tweets are by its keys. */
    await page.getByRole('button', { name: 'Whole map' }).click();
    await page.locator('.map').focus();
    for (let i = 0; i < 6; i++) await page.keyboard.press('ArrowRight');
    await still(page);
    const spots = page.locator('.spot');
    assert.equal(await counted(page), 2);
    const at = (
        await spots.evaluateAll((all) => all.map((g) => g.getBoundingClientRect().toJSON()))
    ).map((b) => [b.x + b.width / 2, b.y + b.height / 2]);
    const left = Math.min(...at.map((p) => p[0])) - 30,
        right = Math.max(...at.map((p) => p[0])) + 30,
        y = at[0][1];
    await page.keyboard.down('Shift');
    await page.mouse.move(left, y - 40);
    await page.mouse.down();
    await page.mouse.move((left + right) / 2, y);
    await page.mouse.move(right, y + 40);
    await leads(page, () => page.mouse.up());
    await page.keyboard.up('Shift');
    const [west, south, east, north] = values(page).get('box').split(',').map(Number);
    assert.ok(west > 150 && east < -150 && south < -17 && north > -17, values(page).get('box'));
    assert.match((await texts(page, '.chip')).join(), /Box /);
    assert.deepEqual(await texts(page, '.tweet-text'), [
        'Bula vinaka #fiji',
        'Bula &lt; <b> #fiji',
    ]);
});

withTweets('tweets: by language over time, a range is pulled and followed', async (page) => {
    await show(page, {}, '.bar-of-time');
    const [answer] = await ask('tweets/frequency?by=minute');
    const sum = Object.fromEntries(
        Object.entries(answer.data).map(([l, n]) => [l, n.reduce((a, b) => a + b, 0)]),
    );
    const legend = (await texts(page, '.languages li')).join('\n');
    assert.match(legend, new RegExp(`German ${sum.de}\\b`));
    assert.match(legend, new RegExp(`English ${sum.en}\\b`));
    assert.match(legend, new RegExp(`Spanish ${sum.es}\\b`));
    const bars = await page
        .locator('.catcher title')
        .evaluateAll((all) =>
            all.map((t) => +/: (\d+)\n|: (\d+)$/.exec(t.textContent).slice(1).find(Boolean)),
        );
    assert.equal(
        bars.reduce((a, b) => a + b, 0),
        180,
    );
    await page.getByText('As a table', { exact: true }).click();
    const csv = parseCsv(
        (
            await saved(
                page,
                page
                    .locator('details', { hasText: 'Time (UTC)' })
                    .getByRole('button', { name: 'CSV' }),
            )
        ).text.replace('\uFEFF', ''),
    );
    assert.deepEqual(csv[0].slice(0, 3), ['time', 'all', 'de']);
    assert.equal(
        csv.slice(1).reduce((n, row) => n + +row[1], 0),
        180,
    );
    await still(page);
    const pulled = page.locator('.catcher');
    const [first, last] = [await pulled.nth(10).boundingBox(), await pulled.nth(19).boundingBox()];
    await page.mouse.move(first.x + 2, first.y + 30);
    await page.mouse.down();
    await page.mouse.move(first.x + 40, first.y + 30);
    await page.mouse.move(last.x + 2, last.y + 30);
    await leads(page, () => page.mouse.up());
    const chosen = values(page);
    assert.equal(chosen.get('from'), '2016-05-05T14:50');
    assert.equal(chosen.get('to'), '2016-05-05T15:09');
    const meant = await ask('tweets?limit=0&from=2016-05-05T14:50&to=2016-05-05T15:09');
    assert.equal(meant.length, 20);
    assert.deepEqual(
        await texts(page, '.tweet-text'),
        meant.map((t) => t.text),
    );
    await statusIs(page, '20 tweets here');
    await page.waitForFunction(() => document.querySelectorAll('.catcher').length === 20);
    /* One language of these; and the same range by typing. */
    await leads(page, () =>
        page.locator('.languages').getByRole('link', { name: 'English' }).click(),
    );
    const english = meant.filter((t) => t.lang === 'en');
    assert.deepEqual(
        await texts(page, '.tweet-text'),
        english.map((t) => t.text),
    );
    await statusIs(page, `${english.length} tweets here`);
    await page.getByLabel('From (UTC)').fill('2016-05-05T15:00');
    await leads(page, () => page.getByRole('button', { name: 'Show', exact: true }).click());
    assert.deepEqual(
        await texts(page, '.tweet-text'),
        english.filter((t) => t.time >= '2016-05-05T15:00').map((t) => t.text),
    );
    await leads(page, () => page.getByRole('link', { name: 'All tweets' }).click());
    assert.equal((await texts(page, '.tweet-text')).length, 50);
});

withTweets('tweets: words, starts of words and names are found, page by page', async (page) => {
    await show(page);
    const field = page.getByLabel('Words, hashtags or users of tweets');
    await page.keyboard.press('/');
    await page.keyboard.type('regen #leipzig');
    await leads(page, () => page.keyboard.press('Enter'));
    const meant = await ask('tweets?limit=0&token=regen&token=%23leipzig');
    assert.ok((await page.locator('mark').count()) > 0);
    assert.deepEqual(
        await texts(page, '.tweet-text'),
        meant.slice(0, 50).map((t) => t.text),
    );
    await page.getByRole('button', { name: 'Show 50 more' }).click();
    await hasTexts(page, meant.length);
    assert.deepEqual(
        await texts(page, '.tweet-text'),
        meant.map((t) => t.text),
    );
    assert.equal(await page.getByRole('button', { name: 'Show 50 more' }).count(), 0);
    await statusIs(page, `${meant.length} tweets here`);
    await field.fill('lluv*');
    await leads(page, () => page.keyboard.press('Enter'));
    assert.equal((await texts(page, '.tweet-text')).length, 20);
    /* The map has gone to them, and draws the box of the place that they name. */
    await still(page);
    await statusIs(page, '20 tweets here');
    assert.equal(await page.locator('.places-of rect').count(), 1);
    assert.equal(await page.locator('.places-of title').textContent(), 'Valdivia, Chile');
    await page.getByRole('button', { name: 'Valdivia, Chile' }).first().click();
    await page.waitForSelector('.found circle');
    await field.fill('"eva maria"');
    await page.getByLabel('Where the words are').selectOption('user');
    await leads(page, () => page.getByRole('button', { name: 'Search', exact: true }).click());
    assert.equal(values(page).get('field'), 'user');
    assert.equal((await texts(page, '.tweet-text')).length, 20);
    await field.fill('zzz');
    await leads(page, () => page.keyboard.press('Enter'));
    await page.waitForSelector('text=No tweet is all of this');
    await statusIs(page, 'No tweets here');
});

withTweets('tweets: what the server refuses is told, and the rest stays', async (page) => {
    await show(page, { words: '*' }, '.problem');
    assert.match(await page.locator('.problem').first().innerText(), /letter|token/);
    await page.waitForSelector('.bar-of-time');
    await still(page);
    await show(page, { from: '2016-05-06T10:00', to: '2016-05-05T10:00' }, '.problem');
    await page.waitForFunction(
        () =>
            [...document.querySelectorAll('main .problem')].filter((e) =>
                e.textContent.includes('the range ends before it begins'),
            ).length === 5,
    );
    await still(page);
    assert.ok(page.told.length > 4 && page.told.every((t) => / status of 400 /.test(t)));
    page.told.length = 0;
    /* A range that the server alone knows. */
    await show(page, { from: '20000d' }, '.bar-of-time');
    await hasTexts(page, 50);
});

withTweets('tweets: the highscore, by path and by area', async (page) => {
    await show(page, {}, 'table[aria-label^="Users that"]');
    const path = await ask('tweets/highscore');
    await page.waitForFunction(
        (names) =>
            [...document.querySelectorAll('table[aria-label^="Users that"] td:first-child')]
                .slice(0, 2)
                .map((cell) => cell.textContent)
                .join() === names.join(),
        path.slice(0, 2).map((u) => '@' + u.screen_name),
    );
    await leads(page, () => page.getByRole('link', { name: 'Area' }).click());
    await page.waitForSelector('th:has-text("Area, km²")');
    const area = await ask('tweets/highscore?by=area');
    /* The table by path has the same columns: it is waited for until its first row is another. */
    await page.waitForFunction(
        (row) =>
            [...document.querySelector('table[aria-label^="Users that"] tbody tr').cells]
                .map((cell) => cell.textContent.trim())
                .join('\t') === row,
        `@${area[0].screen_name}\t${area[0].tweets}\t` +
            [area[0].path_km, area[0].area_km2]
                .map((n) => Math.round(n).toLocaleString('en-US'))
                .join('\t'),
    );
    await leads(page, () => page.getByRole('link', { name: '@ada' }).first().click());
    await page.waitForSelector('.chip >> text=@ada');
    await statusIs(page, '75 tweets here');
});

withTweets('tweets: texts and names are text', async (page) => {
    await show(page, { box: '99,9,101,11' });
    await hasTexts(page, 1);
    await page.waitForSelector('table[aria-label^="Users that"]');
    await page.getByText('As a table', { exact: true }).click();
    assert.equal(
        await page.locator('.tweet-text').textContent(),
        HOSTILE.replace('\u202e', 'U+202E'),
    );
    assert.equal(await page.locator('main script, main img, main [onerror]').count(), 0);
    assert.doesNotMatch(
        await page.evaluate(() => document.body.innerText + document.title),
        /[\u202a-\u202e]/,
    );
    await show(page, { words: HOSTILE, user: HOSTILE, lang: HOSTILE }, '.chip');
    assert.equal(await page.locator('main script, main img, main [onerror]').count(), 0);
});

withTweets('tweets: the map by keys and by fingers', async (page) => {
    await show(page, { words: 'regen' });
    const all = (await ask('tweets?limit=0&token=regen')).length;
    await statusIs(page, `${all} tweets here`);
    await still(page);
    const left = () =>
        page
            .locator('.net line')
            .first()
            .evaluate((e) => +e.getAttribute('x1'));
    await page.locator('.map').focus();
    const before = await left();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(
        (x) => +document.querySelector('.net line').getAttribute('x1') !== x,
        before,
    );
    await page.keyboard.press('ArrowLeft');
    await leads(page, () => page.keyboard.press('b'));
    await page.waitForSelector('.chip >> text=Box');
    const [west, south, east, north] = values(page).get('box').split(',').map(Number);
    assert.ok(west < 12 && east > 12.9 && south < 51 && north > 51.6);
    await page.locator('.map').focus();
    for (let i = 0; i < 12; i++) await page.keyboard.press('+');
    await page.waitForFunction(
        () => !/^\d{3} /.test(document.querySelector('.section-head [role=status]').textContent),
    );
    await page.keyboard.press('0');
    await statusIs(page, `${all} tweets here`);
    await page.keyboard.press('Escape');
    await page.waitForSelector('.empty');

    /* Two fingers apart. */
    await show(page);
    await statusIs(page, '173 tweets here');
    await still(page);
    const box = await page.locator('.map').boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const scale = () =>
        page
            .locator('.map .land')
            .first()
            .evaluate((e) => +/scale\(([\d.]+)/.exec(e.getAttribute('transform'))[1]);
    const was = await scale();
    const touch = await page.context().newCDPSession(page);
    const fingers = (type, apart) =>
        touch.send('Input.dispatchTouchEvent', {
            type,
            touchPoints: apart
                ? [
                      { x: x - apart, y, id: 1 },
                      { x: x + apart, y, id: 2 },
                  ]
                : [],
        });
    await fingers('touchStart', 40);
    for (const apart of [60, 90, 120, 160]) await fingers('touchMove', apart);
    await fingers('touchEnd', 0);
    await still(page);
    const grown = (await scale()) / was;
    assert.ok(grown > 3 && grown < 5, `${grown}`);
});

for (const colorScheme of ['light', 'dark'])
    for (const width of [1280, 390, 320])
        withTweets(
            `tweets at ${width} px, ${colorScheme}: contrast, names, whole words, no scrolling aside`,
            async (page) => {
                const views = [
                    [{}, 'table[aria-label^="Users that"]'],
                    [
                        {
                            words: 'lluv*',
                            box: '-180,-90,180,90',
                            from: '2016-05-05T14:00',
                            by: 'area',
                        },
                        'th:has-text("Area, km²")',
                    ],
                    [{ words: 'zzz' }, 'text=No tweet is all of this'],
                ];
                for (const [values, ready] of views) {
                    await show(page, values, ready);
                    await page.waitForSelector('.bar-of-time');
                    await still(page);
                    for (const details of await page.locator('summary').all())
                        await details.click();
                    await still(page);
                    const { low, nameless, broken, cut, wide } = await page.evaluate(lookOver);
                    assert.deepEqual(low, []);
                    assert.deepEqual(nameless, []);
                    assert.deepEqual(broken, []);
                    assert.deepEqual(cut, []);
                    assert.ok(wide <= 0, `${wide} px too wide`);
                }
                await open(page, '#/tweets', '.empty');
                assert.ok((await page.evaluate(lookOver)).wide <= 0);
            },
            { colorScheme, viewport: { width, height: 844 } },
        );
