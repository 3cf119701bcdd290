#include "cli/terminal/text_table.h"

#include "base/grow.h"
#include "base/memory.h"
#include "cli/terminal/member.h"
#include "cli/terminal/text.h"

#include <assert.h>
#include <string.h>

enum {
    KEPT_ROWS = 1000,
    GAP = 2,
    LEAST_TEXT = 12, /* a text gets no narrower: the last column is left out instead, */
    LEAST_ALONE = 6  /* unless only two are left */
};

void gf_text_table_init(gf_text_table *t, const gf_display *display, FILE *out, unsigned width)
{
    assert(display->n_columns <= GF_DISPLAY_MOST_COLUMNS);
    *t = (gf_text_table){.display = display, .out = out, .width = width};
}

void gf_text_table_release(gf_text_table *t)
{
    gf_arena_release(&t->memory);
    gf_buffer_release(&t->cell);
    gf_buffer_release(&t->folded);
    gf_free(t->cells);
}

static bool goes_right(gf_column_kind kind)
{
    return kind == GF_COLUMN_COUNT || kind == GF_COLUMN_RARE || kind == GF_COLUMN_ID ||
           kind == GF_COLUMN_SCORE || kind == GF_COLUMN_SIGNED || kind == GF_COLUMN_SHARE ||
           kind == GF_COLUMN_SECONDS || kind == GF_COLUMN_BYTES;
}

static bool may_shrink(gf_column_kind kind)
{
    return kind == GF_COLUMN_TEXT || kind == GF_COLUMN_PROSE || kind == GF_COLUMN_TERMS ||
           kind == GF_COLUMN_COUNTS || kind == GF_COLUMN_RAW;
}

/* ---- widths ---------------------------------------------------------------------------------- */

/* Width of the widest cell or header; 0 where all cells are empty. */
static unsigned natural_width(const gf_text_table *t, size_t c)
{
    const gf_display_column *column = &t->display->columns[c];
    unsigned most = 0;
    if (!column->header) return 0;
    for (size_t r = 0; r < t->n_kept; r++) {
        unsigned width = gf_text_width(t->cells[r * t->display->n_columns + c]);
        if (width > most) most = width;
    }
    if (t->width && most > t->width) most = t->width;
    unsigned header = gf_text_width(gf_slice_str(column->header));
    return most && header > most ? header : most;
}

static unsigned total_width(const gf_text_table *t)
{
    unsigned total = 0;
    for (size_t c = 0; c < t->display->n_columns; c++)
        if (t->widths[c]) total += t->widths[c] + (total ? GAP : 0);
    return total;
}

/* Narrow the widest text until all fits, or no text is wider than `least`. */
static bool shrink_texts(gf_text_table *t, unsigned least)
{
    while (total_width(t) > t->width) {
        size_t widest = SIZE_MAX;
        for (size_t c = 0; c < t->display->n_columns; c++)
            if (may_shrink(t->display->columns[c].kind) && t->widths[c] > least &&
                (widest == SIZE_MAX || t->widths[c] > t->widths[widest]))
                widest = c;
        if (widest == SIZE_MAX) return false;
        t->widths[widest]--;
    }
    return true;
}

/* The text of a document, which is what its row is read for. */
static bool is_text(const gf_display_column *column)
{
    return column->header && strcmp(column->header, "text") == 0;
}

/* Leave out the last column that is shown and no text, but for the first two; false where none is left. */
static bool leave_one_out(gf_text_table *t)
{
    size_t shown = 0, last = 0;
    for (size_t c = 0; c < t->display->n_columns; c++) {
        if (!t->widths[c]) continue;
        shown++;
        if (!is_text(&t->display->columns[c])) last = c;
    }
    t->no_room[last] = shown > 2;
    return t->no_room[last];
}

static void choose_widths(gf_text_table *t)
{
    for (;;) {
        for (size_t c = 0; c < t->display->n_columns; c++)
            t->widths[c] = t->no_room[c] ? 0 : natural_width(t, c);
        if (!t->width || shrink_texts(t, LEAST_TEXT)) return;
        if (leave_one_out(t)) continue;
        shrink_texts(t, LEAST_ALONE);
        return;
    }
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_spaces(const gf_text_table *t, unsigned n)
{
    fprintf(t->out, "%*s", (int)n, "");
}

static void print_cell(gf_text_table *t, size_t c, gf_slice text, bool last)
{
    unsigned room = t->widths[c], width;
    bool right = goes_right(t->display->columns[c].kind);
    gf_buffer_reset(&t->cell);
    gf_buffer_slice(&t->cell, text);
    if (t->width) gf_text_cut(&t->cell, room);
    width = gf_text_width(gf_buffer_view(&t->cell));
    unsigned pad = width < room ? room - width : 0;
    if (right) print_spaces(t, pad);
    fwrite(t->cell.ptr ? t->cell.ptr : "", 1, t->cell.len, t->out);
    if (last) return;
    print_spaces(t, (right ? 0 : pad) + GAP);
}

static size_t last_shown(const gf_text_table *t)
{
    size_t last = 0;
    for (size_t c = 0; c < t->display->n_columns; c++)
        if (t->widths[c]) last = c;
    return last;
}

/* One row, in several lines where prose needs them; rest[] is used up. */
static void print_cells(gf_text_table *t, gf_slice *rest)
{
    size_t last = last_shown(t);
    for (bool more = true; more;) {
        more = false;
        for (size_t c = 0; c <= last; c++) {
            bool prose = t->width && t->display->columns[c].kind == GF_COLUMN_PROSE;
            if (!t->widths[c]) continue;
            gf_slice text = prose ? gf_text_take_line(&rest[c], t->widths[c]) : rest[c];
            print_cell(t, c, text, c == last);
            if (!prose) rest[c].len = 0;
            more |= rest[c].len > 0;
        }
        fputc('\n', t->out);
    }
}

static void print_kept(gf_text_table *t)
{
    gf_slice headers[GF_DISPLAY_MOST_COLUMNS];
    size_t n = t->display->n_columns;
    t->begun = true;
    choose_widths(t);
    for (size_t c = 0; c < n; c++)
        headers[c] = gf_slice_str(t->display->columns[c].header);
    if (t->n_kept) print_cells(t, headers);
    for (size_t r = 0; r < t->n_kept; r++)
        print_cells(t, t->cells + r * n);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static gf_status keep_row(gf_text_table *t, const gf_slice *cells, gf_error *err)
{
    size_t n = t->display->n_columns;
    if (!gf_grow(&t->cells, &t->capacity, t->n_kept + 1, n * sizeof *t->cells))
        return gf_fail_memory(err, "a table");
    memcpy(t->cells + t->n_kept++ * n, cells, n * sizeof *cells);
    if (t->n_kept == KEPT_ROWS) print_kept(t);
    return GF_OK;
}

static gf_status make_cell(gf_text_table *t, gf_json_value row, const gf_display_column *column,
                           gf_slice *cell, gf_error *err)
{
    gf_buffer_reset(&t->cell);
    gf_buffer_reset(&t->folded);
    if (column->header) gf_member_write(&t->cell, row, column, true);
    gf_status st = gf_buffer_check(&t->cell, err);
    if (st != GF_OK) return st;
    gf_text_fold(&t->folded, gf_buffer_view(&t->cell));
    if (column->kind != GF_COLUMN_PROSE) gf_text_cut(&t->folded, t->width);
    st = gf_buffer_check(&t->folded, err);
    if (st != GF_OK) return st;
    *cell = gf_arena_copy(&t->memory, gf_buffer_view(&t->folded));
    return cell->ptr ? GF_OK : gf_fail_memory(err, "a table");
}

gf_status gf_text_table_row(gf_text_table *t, gf_json_value row, gf_error *err)
{
    gf_slice cells[GF_DISPLAY_MOST_COLUMNS];
    gf_status st = GF_OK;
    if (t->begun) gf_arena_reset(&t->memory);
    for (size_t c = 0; c < t->display->n_columns && st == GF_OK; c++)
        st = make_cell(t, row, &t->display->columns[c], &cells[c], err);
    if (st != GF_OK) return st;
    if (!t->begun) return keep_row(t, cells, err);
    print_cells(t, cells);
    return GF_OK;
}

/* "(no room for: settings, took)" */
static void name_left_out(const gf_text_table *t)
{
    const char *before = "(no room for: ";
    for (size_t c = 0; c < t->display->n_columns; c++) {
        if (!t->no_room[c]) continue;
        fprintf(t->out, "%s%s", before, t->display->columns[c].header);
        before = ", ";
    }
    if (*before == ',') fputs(")\n", t->out);
}

void gf_text_table_end(gf_text_table *t)
{
    if (!t->begun) print_kept(t);
    name_left_out(t);
    if (!t->n_kept && t->display->nothing) fprintf(t->out, "%s\n", t->display->nothing);
}
