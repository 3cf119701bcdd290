#include "formats/cells_internal.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <stdio.h>

void gf_cells_release(gf_cells *c)
{
    gf_buffer_release(&c->bytes);
    gf_buffer_release(&c->repaired);
    gf_free(c->ends);
    gf_free(c->members);
    gf_arena_release(&c->names);
    *c = (gf_cells){0};
}

void gf_cells_reset(gf_cells *c)
{
    gf_buffer_reset(&c->bytes);
    c->n = 0;
}

void gf_cells_end(gf_cells *c)
{
    if (c->n == c->capacity) {
        size_t capacity = c->capacity ? c->capacity * 2 : 16;
        size_t *ends = gf_realloc(c->ends, capacity, sizeof *ends);
        if (!ends) {
            c->out_of_memory = true;
            return;
        }
        c->ends = ends;
        c->capacity = capacity;
    }
    c->ends[c->n++] = c->bytes.len;
    gf_buffer_byte(&c->bytes, '\n');
}

static gf_slice slice_at(const gf_cells *c, const gf_buffer *bytes, size_t n)
{
    size_t from = n ? c->ends[n - 1] + 1 : 0;
    return gf_slice_of(bytes->ptr + from, c->ends[n] - from);
}

gf_status gf_cells_check(const gf_cells *c, gf_error *err)
{
    if (c->out_of_memory) return gf_fail_memory(err, "a row");
    return gf_buffer_check(&c->bytes, err);
}

/* Replace ill-formed UTF-8 cell by cell; *bytes is then what the cells lie in. */
static gf_status repair(gf_cells *c, const gf_buffer **bytes, uint64_t *replaced, gf_error *err)
{
    *bytes = &c->bytes;
    if (gf_utf8_valid_length(gf_buffer_view(&c->bytes)) == c->bytes.len) return GF_OK;
    *bytes = &c->repaired;
    gf_buffer_reset(&c->repaired);
    size_t from = 0;
    for (size_t i = 0; i < c->n; i++) {
        gf_slice cell = gf_slice_of(c->bytes.ptr + from, c->ends[i] - from);
        from = c->ends[i] + 1;
        *replaced += gf_utf8_repair(cell, &c->repaired);
        c->ends[i] = c->repaired.len;
        gf_buffer_byte(&c->repaired, '\n');
    }
    return gf_buffer_check(&c->repaired, err);
}

static gf_slice column_name(gf_cells *c, const gf_buffer *bytes, size_t n)
{
    gf_slice name = slice_at(c, bytes, n);
    char unnamed[32];
    if (name.len == 0) {
        snprintf(unnamed, sizeof unnamed, "column%zu", n + 1);
        name = gf_slice_str(unnamed);
    }
    return gf_arena_copy(&c->names, name);
}

gf_status gf_cells_to_header(gf_cells *c, gf_slice stream, gf_error *err)
{
    const gf_buffer *bytes;
    uint64_t replaced = 0;
    gf_status st = gf_cells_check(c, err);
    if (st == GF_OK) st = repair(c, &bytes, &replaced, err);
    if (st != GF_OK) return st;
    if (c->n > GF_MOST_MEMBERS)
        return gf_fail(err, GF_EINVAL, "the header of %.*s has %zu columns, more than %d",
                       GF_SLICE_ARG(stream), c->n, (int)GF_MOST_MEMBERS);
    c->members = gf_calloc(c->n, sizeof *c->members);
    if (!c->members) return gf_fail_memory(err, "a header");
    c->n_members = c->n;
    for (size_t i = 0; i < c->n; i++) {
        c->members[i].name = column_name(c, bytes, i);
        if (!c->members[i].name.ptr) return gf_fail_memory(err, "a header");
    }
    return GF_OK;
}

gf_status gf_cells_to_draft(gf_cells *c, gf_draft *draft, gf_error *err)
{
    const gf_buffer *bytes;
    gf_status st = gf_cells_check(c, err);
    if (st != GF_OK) return st;
    if (c->n != c->n_members) {
        gf_draft_refuse(draft, "wrong_field_count", "%zu field%s, not %zu", c->n,
                        c->n == 1 ? "" : "s", c->n_members);
        return GF_OK;
    }
    st = repair(c, &bytes, &draft->replaced, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < c->n; i++) {
        c->members[i].text = slice_at(c, bytes, i);
        c->members[i].kind = c->members[i].text.len ? GF_MEMBER_TEXT : GF_MEMBER_EMPTY;
    }
    draft->members = c->members;
    draft->n_members = c->n_members;
    return GF_OK;
}
