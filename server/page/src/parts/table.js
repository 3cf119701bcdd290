// A table: columns that sort, rows that arrow keys walk, rows that are chosen, CSV.
//
// A column has a title, cell(row) -> node or text, and maybe: value(row) -> what it sorts by and what
// CSV has (one value, or with csv: {name: value} several), numeric, down (the largest first), class.
import { h } from '../dom.js';
import { plain } from '../text.js';
import { button, line } from './csv.js';

const compare = (a, b) =>
    typeof a === 'string' || typeof b === 'string'
        ? String(a ?? '').localeCompare(String(b ?? ''))
        : (a ?? -Infinity) - (b ?? -Infinity);

function csvColumns(columns) {
    return columns.flatMap((c) => c.csv ?? (c.value ? [[c.key ?? c.title, c.value]] : []));
}

/* The first column of a table whose rows are chosen: chosen is a set of keyOf(row). */
function pick({ chosen, keyOf, nameOf, changed }) {
    return {
        title: '',
        class: 'pick',
        cell: (row) =>
            h('input', {
                type: 'checkbox',
                class: 'pick',
                'aria-label': `Choose ${plain(nameOf(row))}`,
                checked: chosen.has(keyOf(row)),
                onchange: (e) => {
                    if (e.target.checked) chosen.add(keyOf(row));
                    else chosen.delete(keyOf(row));
                    e.target.closest('tr').toggleAttribute('data-chosen', e.target.checked);
                    changed();
                },
            }),
    };
}

/**
 * {element, csv: a button, update(): draws the rows again, rowOf(tr)}. pinned: rows that stay on top, whatever the order. kept, where it is given, keeps the order
 * and how much is shown of the table of that name; ordered(text) is told the order, which `order` gives
 * back: a column's title, with "-" before it where the largest is first.
 */
export function table({
    name,
    label,
    columns,
    rows,
    pinned = [],
    most = 500,
    kind = '',
    kept = {},
    picking,
    order: begun = '',
    ordered,
}) {
    const state = (kept[name] ??= {
        by: begun ? { column: begun.replace(/^-/, ''), down: begun[0] === '-' } : null,
        limit: most,
    });
    if (picking) columns = [pick(picking), ...columns];
    const body = h('tbody'),
        rowOf = new WeakMap(); /* tr -> its row */
    const more = h('button', {
        type: 'button',
        class: 'more',
        onclick: () => {
            state.limit = Infinity;
            draw();
        },
    });
    const all =
        picking &&
        h('input', {
            type: 'checkbox',
            class: 'pick',
            'aria-label': 'Choose all',
            onchange: () => {
                for (const row of rows) {
                    if (all.checked) picking.chosen.add(picking.keyOf(row));
                    else picking.chosen.delete(picking.keyOf(row));
                }
                draw();
                picking.changed();
            },
        });
    const heads = columns.map((c, i) => {
        const inside = c.value
            ? h('button', { type: 'button', onclick: () => order(c) }, c.title)
            : picking && i === 0
              ? all
              : c.title || h('span', { class: 'heard' }, c.heard ?? 'Actions');
        return h(
            'th',
            { scope: 'col', class: [c.numeric && 'number', c.class].filter(Boolean).join(' ') },
            inside,
        );
    });

    function order(c) {
        const { by } = state;
        state.by =
            by?.column === c.title
                ? { column: c.title, down: !by.down }
                : { column: c.title, down: !!(c.numeric || c.down) };
        ordered?.((state.by.down ? '-' : '') + c.title);
        draw();
    }

    function draw() {
        const { by, limit } = state,
            column = by && columns.find((c) => c.title === by.column && c.value);
        const sorted = column
            ? [...rows].sort(
                  (a, b) => (by.down ? -1 : 1) * compare(column.value(a), column.value(b)),
              )
            : rows;
        columns.forEach((c, i) => {
            if (column === c)
                heads[i].setAttribute('aria-sort', by.down ? 'descending' : 'ascending');
            else heads[i].removeAttribute('aria-sort');
        });
        body.replaceChildren(
            ...[...pinned, ...sorted.slice(0, limit)].map((row) => {
                const tr = h(
                    'tr',
                    {
                        class: pinned.includes(row) ? 'pinned' : null,
                        'data-chosen': picking?.chosen.has(picking.keyOf(row)),
                    },
                    columns.map((c) =>
                        h(
                            'td',
                            { class: [c.numeric && 'number', c.class].filter(Boolean).join(' ') },
                            c.cell(row),
                        ),
                    ),
                );
                rowOf.set(tr, row);
                return tr;
            }),
        );
        if (all)
            all.checked = rows.length > 0 && rows.every((r) => picking.chosen.has(picking.keyOf(r)));
        more.hidden = sorted.length <= limit;
        more.textContent = `Show all ${sorted.length}`;
    }

    draw();
    const element = h(
        'div',
        { class: 'table-frame ' + kind },
        h('table', { 'aria-label': label }, h('thead', {}, h('tr', {}, heads)), body),
        more,
    );
    const wanted = csvColumns(columns);
    const csv = button(name, function* () {
        yield line(wanted.map(([title]) => title));
        for (const row of [...pinned, ...rows]) yield line(wanted.map(([, value]) => value(row)));
    });
    return {
        element,
        csv,
        update: draw,
        rowOf: (tr) => rowOf.get(tr),
        show: (some, all = false) => {
            rows = some;
            if (all) state.limit = Infinity;
            draw();
        },
    };
}
