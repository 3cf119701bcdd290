/*
 * table export with times: a line for each time of a row's cells, the oldest first.
 *
 *     {"key":["u1"],"cells":{"friend":{"u2":"close"}}}                          without a time
 *     {"key":["u1"],"timestamp":1001,"cells":{"log":{"n":1}}}                   an older version
 *     {"key":["u1"],"timestamp":1002,"cells":{"log":{"n":2},"info":{"age":34}}}
 *
 * Put in this order they come to the same cells, with their times and versions.
 */
#include "api/tables/internal.h"

#include "base/grow.h"
#include "base/memory.h"

#include <stdlib.h>

typedef struct timed_cell {
    gf_cell cell;
    size_t place; /* among the row's cells */
} timed_cell;

struct gf_table_versions {
    gf_table_call *c;
    const gf_snapshot *snapshot;
    uint32_t versions;
    gf_arena memory; /* of the row at hand */
    timed_cell *cells;
    size_t n, capacity;
    gf_cell *of_line;
    size_t line_capacity;
};

static gf_status keep_cell(gf_table_versions *v, const gf_cell *cell, size_t place, gf_error *err)
{
    if (!gf_grow(&v->cells, &v->capacity, v->n + 1, sizeof *v->cells))
        return gf_fail_memory(err, "versions");
    timed_cell *t = &v->cells[v->n++];
    *t = (timed_cell){.cell = *cell, .place = place};
    t->cell.qualifier = gf_arena_copy(&v->memory, cell->qualifier);
    t->cell.value = gf_arena_copy(&v->memory, cell->value);
    return t->cell.qualifier.ptr && t->cell.value.ptr ? GF_OK : gf_fail_memory(err, "versions");
}

/* The newest version is at hand; the others are read where the family keeps some. */
static gf_status keep_versions(gf_table_versions *v, const gf_row *row, size_t i, gf_error *err)
{
    gf_table_call *c = v->c;
    gf_table *rows = gf_user_table_rows(c->table);
    const gf_cell *cell = &row->cells[i];
    gf_status st = keep_cell(v, cell, i, err);
    if (st != GF_OK || v->versions == 1 ||
        gf_table_schema(rows)->families[cell->family].versions <= 1)
        return st;
    st = gf_table_get_cell(rows, v->snapshot, row->key, cell->family, cell->qualifier, v->versions,
                           &c->row, err);
    if (st == GF_ENOTFOUND) return GF_OK; /* expired since */
    for (size_t k = 1; k < c->row.n_cells && st == GF_OK; k++)
        st = keep_cell(v, &c->row.cells[k], i, err);
    return st;
}

static int by_time(const void *a, const void *b)
{
    const timed_cell *x = a, *y = b;
    if (x->cell.timestamp != y->cell.timestamp)
        return !x->cell.timestamp                      ? -1
               : !y->cell.timestamp                    ? 1
               : x->cell.timestamp < y->cell.timestamp ? -1
                                                       : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static gf_status emit_line(gf_table_versions *v, gf_slice key, size_t from, size_t to,
                           gf_error *err)
{
    gf_table_call *c = v->c;
    int64_t timestamp = v->cells[from].cell.timestamp;
    if (!gf_grow(&v->of_line, &v->line_capacity, to - from, sizeof *v->of_line))
        return gf_fail_memory(err, "versions");
    for (size_t i = from; i < to; i++)
        v->of_line[i - from] = v->cells[i].cell;
    gf_row line = {.key = key, .cells = v->of_line, .n_cells = to - from};
    gf_json_writer *w = gf_row_writer_begin(&c->writer);
    gf_status st = gf_table_put_key(w, c->table, key, &c->text, err);
    if (timestamp) {
        gf_json_key(w, "timestamp");
        gf_json_int(w, timestamp);
    }
    if (st == GF_OK) st = gf_table_put_cells(w, c->table, &line, SIZE_MAX, &c->text);
    return st == GF_OK ? gf_row_writer_emit(&c->writer, err) : st;
}

gf_status gf_table_versions_emit(gf_table_versions *v, const gf_row *row, gf_error *err)
{
    gf_status st = GF_OK;
    gf_arena_reset(&v->memory);
    v->n = 0;
    for (size_t i = 0; i < row->n_cells && st == GF_OK; i++)
        st = keep_versions(v, row, i, err);
    if (st == GF_OK && v->n > 1) qsort(v->cells, v->n, sizeof *v->cells, by_time);
    for (size_t i = 0, end; i < v->n && st == GF_OK; i = end) {
        for (end = i + 1; end < v->n; end++)
            if (v->cells[end].cell.timestamp != v->cells[i].cell.timestamp) break;
        st = emit_line(v, row->key, i, end, err);
    }
    return st;
}

gf_status gf_table_versions_create(gf_table_call *c, const gf_snapshot *snapshot,
                                   gf_table_versions **versions, gf_error *err)
{
    gf_table_versions *v = gf_calloc(1, sizeof *v);
    if (!v) return gf_fail_memory(err, "versions");
    v->c = c;
    v->snapshot = snapshot;
    v->versions = (uint32_t)gf_call_number(c->call, "versions", 1);
    *versions = v;
    return GF_OK;
}

void gf_table_versions_free(gf_table_versions *v)
{
    if (!v) return;
    gf_arena_release(&v->memory);
    gf_free(v->cells);
    gf_free(v->of_line);
    gf_free(v);
}
