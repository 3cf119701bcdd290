// A server of the program that was built, in a folder of its own, and a browser that says all it
// meets. GROUPERFISH_PROGRAM names the program.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/* "." and ".." cannot be a part of a path. */
const pathOf = (collection, what) =>
    /^\.\.?$/.test(collection)
        ? `collections//${what}?collection=${collection}`
        : `collections/${encodeURIComponent(collection)}/${what}`;

export const chromiumPath = () =>
    ['/usr/bin/chromium', '/usr/bin/chromium-browser', process.env.CHROMIUM ?? ''].find(
        (p) => p && existsSync(p),
    );

export class Served {
    constructor(...options) {
        this.folder = mkdtempSync(path.join(tmpdir(), 'grouperfish-page-'));
        this.program = process.env.GROUPERFISH_PROGRAM;
        this.store = path.join(this.folder, 'store');
        this.options = options;
    }

    async start() {
        this.process = spawn(
            this.program,
            ['serve', '--store', this.store, '--listen', '127.0.0.1:0', ...this.options],
            { stdio: ['ignore', 'ignore', 'pipe'] },
        );
        this.log = '';
        this.ended = new Promise((resolve) => this.process.on('exit', (code) => resolve(code)));
        await new Promise((resolve, reject) => {
            this.process.stderr.on('data', (piece) => {
                this.log += piece;
                const found = /listening address=(\S+)/.exec(this.log);
                if (found) {
                    this.address = `http://${found[1]}/`;
                    resolve();
                }
            });
            this.process.on('exit', () => reject(new Error(this.log)));
        });
        return this;
    }

    async stop() {
        this.process.kill('SIGTERM');
        const code = await this.ended;
        rmSync(this.folder, { recursive: true, force: true });
        if (code !== 0) throw new Error(`the server ended with ${code}:\n${this.log}`);
    }

    async ask(method, where, body) {
        const answer = await fetch(this.address + 'v1/' + where, {
            method,
            body,
            headers: this.headers,
        });
        if (!answer.ok)
            throw new Error(`${method} ${where}: ${answer.status} ${await answer.text()}`);
        return answer.json();
    }

    /** The rows of an answer. */
    async rows(where) {
        const answer = await fetch(this.address + 'v1/' + where, {
            headers: { ...this.headers, Accept: 'application/x-ndjson' },
        });
        if (!answer.ok) throw new Error(`${where}: ${answer.status} ${await answer.text()}`);
        const lines = (await answer.text()).trim().split('\n');
        return lines.filter(Boolean).map((line) => JSON.parse(line));
    }

    /** The lines that a command prints, which asks this server. */
    run(...words) {
        const told = spawnSync(this.program, [...words, '--store', this.store]);
        if (told.status !== 0) throw new Error(`${words.join(' ')}: ${told.stderr}`);
        return told.stdout.toString().trim().split('\n');
    }

    put(collection, documents) {
        return this.ask(
            'POST',
            pathOf(collection, 'documents'),
            documents.map((d) => JSON.stringify(d)).join('\n'),
        );
    }

    async rebuild(collection, values = '') {
        let task = await this.ask('POST', pathOf(collection, 'builds') + values);
        while (['queued', 'running'].includes(task.state)) {
            await new Promise((go) => setTimeout(go, 50));
            task = await this.ask('GET', 'tasks/' + task.task);
        }
        if (task.state !== 'done') throw new Error(JSON.stringify(task));
        return task;
    }
}

/** The documents of a file of the examples. */
export function example(file) {
    const told = spawnSync('zstd', ['-dcq', file], { maxBuffer: 1 << 28 });
    if (told.status !== 0) throw new Error(`zstd ${file}: ${told.stderr}`);
    return told.stdout
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
}

/* As on a machine with much else to do: answers late by up to so many milliseconds, a quarter of the speed. */
async function slow(page, most) {
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await page.route(/\/v1\//, async (route) => {
        await new Promise((go) => setTimeout(go, Math.random() * most));
        await route.fallback().catch(() => {});
    });
}

/**
 * A page of the browser that keeps what its console said, whom it asked, what has not been answered yet,
 * and how many requests began or ended. Its regular look at tasks counts for neither.
 */
export async function newPage(browser, options = {}) {
    const context = await browser.newContext({
        viewport: { width: 1280, height: 900 },
        reducedMotion: 'reduce',
        acceptDownloads: true,
        ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    if (process.env.GROUPERFISH_PAGE_SLOW) await slow(page, +process.env.GROUPERFISH_PAGE_SLOW);
    page.told = [];
    page.hosts = new Set();
    page.on('console', (m) => page.told.push(`${m.type()}: ${m.text()}`));
    page.on('pageerror', (e) => page.told.push('error: ' + e.message));
    page.traffic = 0;
    page.underWay = new Set();
    page.on('request', (r) => {
        if (r.url().startsWith('blob:')) return;
        page.hosts.add(new URL(r.url()).host);
        if (/\/v1\/tasks$/.test(r.url())) return;
        page.traffic++;
        page.underWay.add(r);
    });
    for (const ended of ['requestfinished', 'requestfailed'])
        page.on(ended, (r) => {
            if (page.underWay.delete(r)) page.traffic++;
        });
    return page;
}
