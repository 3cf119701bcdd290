// A table: columns that sort, rows that arrow keys walk, CSV.
//
// A column has a title, cell(row) -> node or text, and maybe: value(row) -> what it sorts by and what
// CSV has (one value, or with csv: {name: value} several), numeric, class.
import { h } from '../dom.js';
import { button, line } from './csv.js';

const compare = (a, b) =>
    typeof a === 'string' || typeof b === 'string'
        ? String(a ?? '').localeCompare(String(b ?? ''))
        : (a ?? -Infinity) - (b ?? -Infinity);

function csvColumns(columns) {
    return columns.flatMap((c) => c.csv ?? (c.value ? [[c.key ?? c.title, c.value]] : []));
}

/**
 * {element, csv: a button, update(): draws the rows again}. kept, where it is given, keeps the order
 * and how much is shown of the table of that name.
 */
export function table({ name, label, columns, rows, most = 500, kind = '', kept = {} }) {
    const state = (kept[name] ??= { by: null, limit: most });
    const body = h('tbody');
    const more = h('button', {
        type: 'button',
        class: 'more',
        onclick: () => {
            state.limit = Infinity;
            draw();
        },
    });
    const heads = columns.map((c) => {
        const inside = c.value
            ? h('button', { type: 'button', onclick: () => order(c) }, c.title)
            : c.title;
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
                : { column: c.title, down: !!c.numeric };
        draw();
    }

    function draw() {
        const { by, limit } = state,
            column = by && columns.find((c) => c.title === by.column);
        const all = column
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
            ...all.slice(0, limit).map((row) =>
                h(
                    'tr',
                    {},
                    columns.map((c) =>
                        h(
                            'td',
                            { class: [c.numeric && 'number', c.class].filter(Boolean).join(' ') },
                            c.cell(row),
                        ),
                    ),
                ),
            ),
        );
        more.hidden = all.length <= limit;
        more.textContent = `Show all ${all.length}`;
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
        for (const row of rows) yield line(wanted.map(([, value]) => value(row)));
    });
    return {
        element,
        csv,
        update: draw,
        show: (some) => {
            rows = some;
            draw();
        },
    };
}
