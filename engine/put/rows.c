/* Rows that are written together. */
#include "engine/put/put_internal.h"

#include "base/grow.h"
#include "base/memory.h"

enum { BATCH_DOCUMENTS = 4000, BATCH_BYTES = 4 << 20 };

/* A block has the columns first, aligned, then the bytes of all slices. */
size_t gf_put_row_block(const gf_put_row *r)
{
    size_t bytes = r->collection.len + r->id.len + r->n * sizeof *r->columns;
    for (uint32_t i = 0; r->columns && i < r->n; i++)
        bytes += r->columns[i].name.len + r->columns[i].value.len;
    return bytes;
}

static char *move_slice(char *to, gf_slice *s)
{
    if (s->len) memcpy(to, s->ptr, s->len);
    s->ptr = to;
    return to + s->len;
}

void gf_put_row_move(gf_put_row *r, char *block)
{
    char *at = block + r->n * sizeof *r->columns;
    at = move_slice(at, &r->collection);
    at = move_slice(at, &r->id);
    if (!r->columns) return;
    gf_column *columns = (gf_column *)block;
    for (uint32_t i = 0; i < r->n; i++) {
        columns[i] = r->columns[i];
        at = move_slice(at, &columns[i].name);
        at = move_slice(at, &columns[i].value);
    }
    r->columns = columns;
}

gf_status gf_put_rows_add(gf_put_rows *rows, const gf_put_row *row, gf_error *err)
{
    char *block = gf_arena_alloc(&rows->arena, gf_put_row_block(row));
    if (!block || !gf_grow(&rows->at, &rows->capacity, rows->n + 1, sizeof *rows->at))
        return gf_fail_memory(err, "documents");
    gf_put_row *copy = &rows->at[rows->n];
    *copy = *row;
    copy->order = (uint32_t)rows->n++;
    gf_put_row_move(copy, block);
    rows->bytes += row->bytes;
    return GF_OK;
}

bool gf_put_rows_are_full(const gf_put_rows *rows)
{
    return rows->n >= BATCH_DOCUMENTS || rows->bytes >= BATCH_BYTES;
}

void gf_put_rows_reset(gf_put_rows *rows)
{
    gf_arena_reset(&rows->arena);
    rows->n = rows->bytes = 0;
}

void gf_put_rows_release(gf_put_rows *rows)
{
    gf_arena_release(&rows->arena);
    gf_free(rows->at);
    *rows = (gf_put_rows){0};
}
