// Makes built/ from src/: one script, one style sheet, the page, its icon, the land of its map
// (map/make_land.mjs), and the licences of what is bundled. Run by `npm run build`; tests/page/check_built.sh compares.
import { build } from 'esbuild';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeLand } from './map/make_land.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2] ?? path.join(here, 'built'));
const shared = {
    absWorkingDir: here,
    bundle: true,
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
};

const script = await build({
    ...shared,
    entryPoints: ['src/main.js'],
    outfile: path.join(out, 'app.js'),
    format: 'esm',
    target: ['es2022'],
});
await build({
    ...shared,
    entryPoints: ['src/style/main.css'],
    outfile: path.join(out, 'style.css'),
});
await mkdir(out, { recursive: true });
for (const name of ['index.html', 'icon.svg'])
    await copyFile(path.join(here, 'src', name), path.join(out, name));
await makeLand(out);

// Only packages whose code is in the script, and the one whose lines are in the map.
const bundled = new Set(['world-atlas']);
for (const [file, { bytesInOutput }] of Object.entries(
    Object.values(script.metafile.outputs)[0].inputs,
)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file);
    if (found && bytesInOutput > 0) bundled.add(found[1]);
}
const licences = [
    'The page of Grouperfish holds code and data of these packages. The map is made with Natural Earth\n' +
        '(naturalearthdata.com), which is in the public domain.\n',
];
for (const name of [...bundled].sort()) {
    const folder = path.join(here, 'node_modules', name);
    const { version } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
    const text = await readFile(path.join(folder, 'LICENSE'), 'utf8');
    licences.push(`${'-'.repeat(80)}\n${name} ${version}\n\n${text.trim()}\n`);
}
await writeFile(path.join(out, 'licences.txt'), licences.join('\n'));
