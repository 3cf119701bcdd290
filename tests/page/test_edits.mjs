// Changes of clusters by hand: merged, split, hidden, locked, noted, documents moved; and all of it taken back.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { inBrowser, leads, open, posts, server, still, texts } from './fixture.mjs';

const LIST = '.clusters .row-link';
const clustersOf = (name) => server.ask('GET', `collections/${name}/clusters`);

async function made(name) {
    await server.put(name, posts.slice(0, 600));
    await server.ask('PATCH', `collections/${name}/configurations/default?set=k=6`);
    await server.rebuild(name);
    return clustersOf(name);
}

const act = async (page, label, action) => {
    await page.getByRole('button', { name: `Actions of ${label}`, exact: true }).click();
    await page.getByRole('menuitem', { name: action, exact: true }).click();
};

const named = (page, label, is = true) =>
    page.waitForFunction(
        ([l, wanted]) =>
            [...document.querySelectorAll('.clusters .row-link')].some((a) => a.textContent === l) ===
            wanted,
        [label, is],
    );

inBrowser('clusters that are chosen are merged, by keys alone, and that is taken back', async (page) => {
    const [first, second, ...rest] = await made('merged');
    await open(page, '#/c/merged', LIST);
    await still(page);
    for (let i = 0; i < 2; i++) {
        await page.keyboard.press('j');
        await page.keyboard.press('x');
    }
    await page.getByText('2 chosen').waitFor();
    await page.getByRole('button', { name: 'Merge…' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel(new RegExp(`^${second.label} \\(`)).waitFor();
    await page.keyboard.press('ArrowDown'); /* the second one stays */
    await page.keyboard.press('Enter');
    await named(page, first.label, false);
    const now = await clustersOf('merged');
    assert.equal(now.length, rest.length + 1);
    assert.equal(now.find((c) => c.cluster === second.cluster).size, first.size + second.size);
    await still(page);
    assert.equal(await page.locator('.selection').isVisible(), false);
    await page.keyboard.press('Control+z');
    await named(page, first.label);
    assert.deepEqual(
        (await clustersOf('merged')).map((c) => [c.cluster, c.label, c.size]),
        [first, second, ...rest].map((c) => [c.cluster, c.label, c.size]),
    );
});

inBrowser('a cluster is split, locked, noted and hidden; the list of changes takes each back', async (page) => {
    const before = await made('worked');
    const [first, second] = before;
    await open(page, '#/c/worked', LIST);
    await still(page);
    await act(page, first.label, 'Split…');
    await page.getByRole('button', { name: 'Split', exact: true }).click();
    await page.waitForFunction((n) => document.querySelectorAll('.clusters .row-link').length === n, 7);
    await still(page);
    await act(page, second.label, 'Lock');
    await page.waitForSelector('.clusters .tag >> text=locked');
    await still(page);
    await act(page, second.label, 'Status, owner, note…');
    await page.getByLabel('Status').fill('planned');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.waitForSelector('.clusters .tag >> text=planned');
    await still(page);
    await act(page, second.label, 'Hide');
    await named(page, second.label, false);
    await open(page, '#/c/worked?only=hidden', LIST);
    await still(page);
    assert.deepEqual(await texts(page, LIST), [second.label]);
    await open(page, '#/c/worked/edits', 'tbody tr');
    const edits = await server.ask('GET', 'collections/worked/edits');
    assert.deepEqual(edits.map((e) => e.kind), ['split', 'lock', 'set', 'hide']);
    for (let left = edits.length; left; left--) {
        await page.locator('tbody tr').first().getByRole('button', { name: /^Undo/ }).click();
        await page.waitForFunction((n) => document.querySelectorAll('tbody tr').length === n, left - 1);
        await still(page);
    }
    assert.deepEqual(
        (await clustersOf('worked')).map((c) => [c.cluster, c.label, c.size, c.locked]),
        before.map((c) => [c.cluster, c.label, c.size, c.locked]),
    );
});

inBrowser('a document is moved into another cluster, and a name is an edit', async (page) => {
    const [first, second] = await made('moved');
    const { documents } = await server.ask('GET', `collections/moved/clusters/${first.cluster}?docs=1`);
    const placeOf = async () =>
        (await server.ask('GET', `collections/moved/documents/${documents[0].id}`)).memberships[0].cluster;
    await open(page, `#/c/moved/doc/${documents[0].id}`, '.document-text');
    await page.getByRole('button', { name: 'Move…' }).click();
    await page.getByLabel('Into the cluster').selectOption(String(second.cluster));
    await leads(page, () => page.getByRole('button', { name: 'Move', exact: true }).click());
    assert.equal(await placeOf(), second.cluster);
    await leads(page, () => page.keyboard.press('Control+z'));
    assert.equal(await placeOf(), first.cluster);
    await open(page, '#/c/moved', LIST);
    await still(page);
    await page.keyboard.press('j');
    await page.keyboard.press('r');
    await page.keyboard.type('By hand');
    await page.keyboard.press('Enter');
    await named(page, 'By hand');
    const [edit] = await server.ask('GET', 'collections/moved/edits');
    assert.equal(edit.kind, 'rename');
    await still(page);
    await page.keyboard.press('Control+z');
    await named(page, first.label);
});

inBrowser('what a rebuild could not keep is told when it is done, and by what changed', async (page) => {
    const [first, second] = await made('lost');
    const { documents } = await server.ask('GET', `collections/lost/clusters/${first.cluster}?docs=2`);
    for (const { id } of documents)
        await server.ask('PUT', `collections/lost/documents/${id}/cluster?cluster=${second.cluster}`);
    await server.ask('DELETE', `collections/lost/documents?id=${documents[0].id}`);
    await open(page, '#/c/lost', LIST);
    await still(page);
    await page.getByRole('button', { name: 'Rebuild', exact: true }).click();
    await page.locator('#dock').getByText('; 1 change by hand could not be kept').waitFor();
    await still(page);
    await leads(page, () => page.locator('.task').getByRole('link', { name: 'What changed' }).click());
    await page.getByRole('heading', { name: '1 change by hand could not be kept' }).waitFor();
    assert.match(await page.locator('.lost li').innerText(), /^edit 1 \(move, cluster \d+\).*: the document is gone/);
    assert.deepEqual((await texts(page, '.table.diff .row-link')).filter((t) => !t.trim()), []);
    await leads(page, () => page.locator('.lost').getByRole('link', { name: 'Changes by hand' }).click());
    assert.deepEqual(await texts(page, 'tbody .changed-since'), ['the document is gone, or has no terms any more']);
});

inBrowser('a hundred clusters are merged at once, and why is kept', async (page) => {
    const words = Array.from({ length: 100 }, (_, i) => String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26), 120));
    await server.put('hundred', words.flatMap((w, i) => [0, 1].map((k) => ({ id: `${i}-${k}`, text: `word${w} other${w}` }))));
    await server.ask('PATCH', 'collections/hundred/configurations/default?set=k=100&set=min_df=1&set=language=none');
    await server.rebuild('hundred');
    assert.equal((await clustersOf('hundred')).length, 100);
    await open(page, '#/c/hundred', LIST);
    await still(page);
    await page.getByLabel('Choose all').check();
    await page.getByText('100 chosen').waitFor();
    await page.getByRole('button', { name: 'Merge…' }).click();
    await page.getByLabel('Why (may be empty)').fill('all is one');
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.waitForFunction(() => document.querySelectorAll('.clusters .row-link').length === 1);
    const [edit] = await server.ask('GET', 'collections/hundred/edits');
    assert.deepEqual([edit.others.length, edit.reason], [99, 'all is one']);
    await still(page);
    await page.keyboard.press('Control+z');
    await page.waitForFunction(() => document.querySelectorAll('.clusters .row-link').length === 100);
});

inBrowser('topics: added by words and by chosen documents, listed, deleted, and that is taken back', async (page) => {
    const [first] = await made('topical'),
        word = first.terms[0].term;
    const menu = async (item) => {
        await page.getByRole('button', { name: 'More', exact: true }).click();
        await leads(page, () => page.getByRole('menuitem', { name: item }).click());
    };
    await open(page, '#/c/topical', LIST);
    await still(page);
    await menu('Topics');
    await page.getByRole('button', { name: 'Add a topic…' }).click();
    await page.getByLabel('What it is called').fill('Hives');
    await page.getByLabel('Words that describe it').fill('bees hive honey');
    await page.getByLabel('Why (may be empty)').fill('asked for');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('gets its documents with the next rebuild', { exact: true }).waitFor();
    await still(page);
    await page.getByRole('button', { name: 'Rebuild', exact: true }).click();
    await page.waitForSelector('tbody .row-link >> text=Hives');
    await still(page);
    const [topic] = await server.ask('GET', 'collections/topical/topics');
    assert.deepEqual([topic.words, topic.reason, topic.documents > 0], ['bees hive honey', 'asked for', true]);
    assert.match(await page.locator('tbody tr').innerText(), /the words bees hive honey/);
    /* By documents that a search found. */
    await open(page, `#/c/topical/search?q=${word}`, 'tbody input.pick');
    await still(page);
    for (let i = 0; i < 3; i++) await page.locator('tbody input.pick').nth(i).check();
    await page.getByRole('button', { name: 'Topic of the 3 chosen…' }).click();
    await page.getByLabel('What it is called').fill('Locks');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.locator('#dock').getByText('added: it gets its documents with the next rebuild').waitFor();
    const [, locks] = await server.ask('GET', 'collections/topical/topics');
    assert.deepEqual([locks.topic, locks.like, locks.owed], ['Locks', 3, true]);
    await open(page, '#/c/topical/topics', 'tbody tr');
    await still(page);
    const listed = () => page.locator('tbody .main').allInnerTexts();
    assert.equal((await listed()).length, 2);
    await page.getByRole('button', { name: 'Delete the topic Hives' }).click();
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
    await still(page);
    await page.keyboard.press('Control+z');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 2);
    await still(page);
    await open(page, '#/c/topical/edits', 'tbody tr');
    assert.match(await page.locator('tbody').innerText(), /topic Locks added: 3 documents as examples/);
    assert.doesNotMatch(await page.locator('tbody').innerText(), /undefined/);
});

inBrowser('what is noted of a cluster is read on its page', async (page) => {
    const [first] = await made('noted');
    await server.ask(
        'PATCH',
        `collections/noted/clusters/${first.cluster}?status=planned&owner=Ann&link=https://x.example/1&note=after the summer`,
    );
    await open(page, `#/c/noted/cluster/${first.cluster}`, '.noted');
    assert.deepEqual(await texts(page, '.noted dd'), ['planned', 'Ann', 'https://x.example/1', 'after the summer']);
    assert.equal(await page.locator('.noted a').getAttribute('href'), 'https://x.example/1');
    await open(page, '#/c/noted', LIST);
    await page.waitForSelector('.clusters .tag >> text=planned');
});

/* A server that names a group as a language model would, and the command that asks it. */
async function namedByModel(collection) {
    const numbers = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'];
    const model = createServer((request, answer) => {
        request.resume().on('end', () => {
            answer.setHeader('Content-Type', 'application/json');
            const content = `People talk about the ${numbers.shift()} thing`;
            answer.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }] }));
        });
    });
    await new Promise((go) => model.listen(0, '127.0.0.1', go));
    const words = ['names', collection, '--from', `http://127.0.0.1:${model.address().port}`, '--model', 'talker', '--store', server.store];
    const code = await new Promise((go) => spawn(server.program, words, { stdio: 'ignore' }).on('exit', go));
    model.close();
    assert.equal(code, 0);
}

inBrowser('what a language model calls a cluster stands beside its label', async (page) => {
    await made('titled');
    await namedByModel('titled');
    const [first] = await clustersOf('titled');
    assert.match(first.title, /^People talk about the/);
    await open(page, '#/c/titled', LIST);
    await still(page);
    assert.equal(await page.locator('.clusters td .title').count(), 6);
    assert.deepEqual([await page.locator('.clusters td .title').first().innerText(), (await texts(page, LIST))[0]], [first.title, first.label]);
    await open(page, `#/c/titled/cluster/${first.cluster}`, '.head .title');
    assert.deepEqual([await page.locator('.head .title').innerText(), await page.locator('h1').innerText()], [first.title, first.label]);
});

inBrowser('a question that comes late is not asked on another view', async (page) => {
    await open(page, '#/c/airlines/doc/0', '.document-text');
    await still(page);
    let go;
    const held = new Promise((done) => (go = done));
    await page.route(/clusters\?.*sort=label/, async (route) => {
        await held;
        await route.fallback();
    });
    await page.getByRole('button', { name: 'Move…', exact: true }).click();
    await leads(page, () => page.evaluate(() => (location.hash = '#/c/airlines')));
    go();
    await still(page);
    assert.equal(await page.locator('dialog').count(), 0);
});

/* The same name in another namespace is another collection. */
async function elsewhere(name) {
    server.headers = { 'Grouperfish-Namespace': 'other' };
    try {
        return await made(name);
    } finally {
        server.headers = undefined;
    }
}

inBrowser('a question is gone with the view that asked it', async (page) => {
    await elsewhere('airlines');
    await open(page, '#/c/airlines?namespace=other', LIST);
    await leads(page, () => page.evaluate(() => (location.hash = '#/c/airlines')));
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Delete the collection…' }).click();
    await page.waitForSelector('dialog[open]');
    await leads(page, () => page.goBack());
    assert.equal(await page.locator('dialog').count(), 0);
});

inBrowser('an edit that is on its way stays in the namespace where it was asked for', async (page) => {
    await elsewhere('airlines');
    await open(page, '#/c/airlines', LIST);
    await still(page);
    const [label] = await texts(page, LIST);
    let asked;
    await page.route(/clusters\/\d+\/(lock|hidden)/, async (route) => {
        await new Promise((go) => setTimeout(go, 500));
        await route.fallback();
    });
    await page.route(/undo/, (route) => {
        asked = route.request().headers()['grouperfish-namespace'];
        return route.fallback();
    });
    await act(page, label, 'Hide');
    await leads(page, () => page.evaluate(() => (location.hash = '#/c/airlines?namespace=other')));
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.locator('.toast').waitFor({ state: 'detached' });
    await still(page);
    assert.equal(asked, undefined);
    assert.equal((await clustersOf('airlines')).length, 3);
});

inBrowser('Enter that is pressed twice makes one edit', async (page) => {
    const edits = async () => (await server.ask('GET', 'collections/airlines/edits')).length;
    const before = await edits();
    await open(page, '#/c/airlines', LIST);
    await still(page);
    await page.route(/v1\/.*(label|name)/, async (route) => {
        await new Promise((go) => setTimeout(go, 300));
        await route.fallback();
    });
    await page.locator(LIST).first().focus();
    await page.keyboard.press('r');
    await page.locator('.rename input').fill('Once');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.toast');
    await still(page);
    assert.equal(await edits(), before + 1);
});
