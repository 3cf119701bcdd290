// One table of all documents, for a spreadsheet: each with its cluster and all its own columns.
import { at, query, rows } from '../api.js';
import { announce, h, save } from '../dom.js';
import { count } from '../format.js';
import { shown } from '../text.js';
import { inWords } from '../words.js';
import { BYTE_ORDER_MARK, line } from './csv.js';

const OWN = ['id', 'cluster', 'label', 'score', 'text', 'time', 'lang'];
const STEP = 500;

const cellOf = (v) => (v !== null && typeof v === 'object' ? JSON.stringify(v) : v);

/** Save the documents of these clusters, or of all, as one CSV; a note at the foot has Cancel. */
export async function downloadDocuments(place, clusters) {
    const asked = new AbortController(),
        wanted = clusters && new Set(clusters.map((c) => c.cluster));
    const words = h('span', { class: 'task-words' }, 'Reading documents …'),
        progress = h('progress', { max: 1, 'aria-label': 'Read' });
    const end = h(
        'button',
        { type: 'button', class: 'small', onclick: () => asked.abort() },
        'Cancel',
    );
    const note = h('div', { class: 'task' }, words, progress, h('span', { class: 'tools' }, end));
    document.getElementById('dock').append(note);
    const total = place.build.documents || 1;
    try {
        const found = [],
            names = new Set();
        let read = 0;
        for await (const row of rows(
            at`v1/collections/${place.collection}/memberships` +
                query({ ...place.where, 'with-text': true }),
            { signal: asked.signal },
        )) {
            if (++read % STEP === 0) {
                progress.value = read / total;
                words.textContent = `Reading documents: ${count(read)} of ${count(total)}`;
            }
            if (wanted && !wanted.has(row.cluster)) continue;
            for (const name of Object.keys(row.fields ?? {})) names.add(name);
            found.push(row);
        }
        /* A column of theirs may be called as one of ours. */
        const fields = [...names];
        const head = fields.map((n) => (OWN.includes(n) ? `field:${n}` : n));
        const parts = [BYTE_ORDER_MARK, line([...OWN, ...head])];
        for (const row of found)
            parts.push(line([...OWN.map((n) => row[n]), ...fields.map((n) => cellOf(row.fields?.[n]))]));
        const name = [place.collection, clusters?.length === 1 ? clusters[0].label : '', 'documents'];
        save(
            name.filter(Boolean).join('-').replace(/[^\p{L}\p{N}._-]+/gu, '-') + '.csv',
            'text/csv;charset=utf-8',
            parts,
        );
        announce(`${count(found.length)} documents saved`);
        note.remove();
    } catch (e) {
        if (e.name === 'AbortError') return note.remove();
        progress.remove();
        note.classList.add('failed');
        words.replaceChildren(shown(inWords(e.message)));
        end.textContent = '×';
        end.setAttribute('aria-label', 'Dismiss');
        end.onclick = () => note.remove();
    }
}
