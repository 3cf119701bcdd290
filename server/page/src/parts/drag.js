// Clusters of the list that are dragged onto another one: they are merged into it. With keys or fingers
// the same is done by choosing them.
import { h } from '../dom.js';
import { several } from '../format.js';
import { shown } from '../text.js';
import { mergeInto } from './edits.js';
import { failure } from './toast.js';

const KIND = 'application/x-grouperfish-clusters';

/**
 * Let rows of a list of clusters be dragged by their handles, or the links of their names: clusterOf(row)
 * is a row's cluster, chosenOf(cluster) what goes with it; done() comes once they are merged.
 */
export function draggable(list, place, { clusterOf, chosenOf, done }) {
    let dragged = [],
        over = null;
    const mark = (row) => {
        over?.classList.remove('drop-here');
        over = row;
        over?.classList.add('drop-here');
    };
    const end = () => {
        mark(null);
        for (const row of list.querySelectorAll('.dragged')) row.classList.remove('dragged');
        dragged = [];
    };
    /* The end of a drag is not told where its row has gone meanwhile: what is dragged now may be something else. */
    const isOurs = (e) => dragged.length > 0 && e.dataTransfer.types.includes(KIND);
    const target = (e) => {
        const row = e.target.closest?.('tbody tr');
        const c = row && clusterOf(row);
        return c && !dragged.includes(c) ? { row, c } : null;
    };
    list.addEventListener('dragstart', (e) => {
        const row = e.target.closest?.('tbody tr');
        if (!row || !clusterOf(row)) return;
        dragged = chosenOf(clusterOf(row));
        for (const r of list.querySelectorAll('tbody tr'))
            r.classList.toggle('dragged', dragged.includes(clusterOf(r)));
        const ghost = h(
            'div',
            { class: 'ghost' },
            dragged.length === 1 ? shown(dragged[0].label, 60) : several(dragged.length, 'cluster'),
        );
        document.body.append(ghost);
        e.dataTransfer.setDragImage(ghost, -12, -4);
        setTimeout(() => ghost.remove());
        e.dataTransfer.effectAllowed = 'move';
        e.dataTransfer.setData(KIND, '');
    });
    list.addEventListener('dragover', (e) => {
        if (!isOurs(e)) return;
        const found = target(e);
        mark(found?.row ?? null);
        if (!found) return;
        e.preventDefault();
        e.dataTransfer.dropEffect = 'move';
    });
    list.addEventListener('dragleave', (e) => list.contains(e.relatedTarget) || mark(null));
    list.addEventListener('dragend', end);
    list.addEventListener('drop', async (e) => {
        const found = isOurs(e) && target(e);
        if (!found) return;
        e.preventDefault();
        const others = dragged;
        end();
        try {
            await mergeInto(place, found.c, others);
            done();
        } catch (problem) {
            failure(problem);
        }
    });
}

/** What one takes hold of: for the pointer alone, as keys have another way. */
export const handle = () =>
    h('span', { class: 'handle', draggable: 'true', 'aria-hidden': 'true', title: 'Drag onto another cluster to merge them' }, '⠿');
