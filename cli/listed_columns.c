#include "cli/listed_columns.h"

#include <string.h>

static gf_status add_column(gf_display *d, gf_display_column *columns, gf_slice name,
                            gf_arena *memory, gf_error *err)
{
    if (gf_slice_equal(name, GF_SLICE("all")))
        return gf_fail(err, GF_EINVAL,
                       "a table and plain have columns that --%s names; jsonl and csv give all",
                       d->listed);
    if (d->n_columns == GF_DISPLAY_MOST_COLUMNS)
        return gf_fail(err, GF_EINVAL, "more columns than a table has (%d); jsonl and csv have all",
                       GF_DISPLAY_MOST_COLUMNS);
    const char *copy = gf_arena_copy(memory, name).ptr;
    if (!copy) return gf_fail_memory(err, "columns");
    columns[d->n_columns++] = (gf_display_column){copy, copy, GF_COLUMN_TEXT};
    return GF_OK;
}

/* "mime,doi" */
static gf_status add_list(gf_display *d, gf_display_column *columns, gf_slice list,
                          gf_arena *memory, gf_error *err)
{
    gf_status st = GF_OK;
    while (list.len && st == GF_OK) {
        const char *comma = memchr(list.ptr, ',', list.len);
        size_t n = comma ? (size_t)(comma - list.ptr) : list.len;
        if (n) st = add_column(d, columns, gf_slice_of(list.ptr, n), memory, err);
        list = gf_slice_skip(list, comma ? n + 1 : n);
    }
    return st;
}

bool gf_listed_are_all(const gf_session *s, const gf_display *display)
{
    if (!display->listed) return false;
    for (size_t i = 0; i < s->n_arguments; i++)
        if (gf_slice_equal(s->arguments[i].name, gf_slice_str(display->listed)) &&
            gf_slice_equal(s->arguments[i].value, GF_SLICE("all")))
            return true;
    return false;
}

gf_status gf_listed_columns(const gf_session *s, gf_display *display,
                            gf_display_column columns[GF_DISPLAY_MOST_COLUMNS], gf_arena *memory,
                            gf_error *err)
{
    gf_status st = GF_OK;
    if (!display->listed) return GF_OK;
    for (size_t i = 0; i < display->n_columns; i++)
        columns[i] = display->columns[i];
    display->columns = columns;
    for (size_t i = 0; i < s->n_arguments && st == GF_OK; i++)
        if (gf_slice_equal(s->arguments[i].name, gf_slice_str(display->listed)))
            st = add_list(display, columns, s->arguments[i].value, memory, err);
    if (st == GF_OK && !gf_session_has(s, display->listed))
        st = add_list(display, columns, gf_slice_str(display->usual), memory, err);
    return st;
}
