#include "formats/text/text_cells_internal.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <stdio.h>

void gf_text_cells_release(gf_text_cells *c)
{
    gf_buffer_release(&c->bytes);
    gf_buffer_release(&c->repaired);
    gf_free(c->ends);
    gf_free(c->members);
    gf_arena_release(&c->names);
    gf_duplicate_fields_release(&c->duplicates);
    *c = (gf_text_cells){0};
}

void gf_text_cells_reset(gf_text_cells *c)
{
    gf_buffer_reset(&c->bytes);
    c->n = 0;
}

void gf_text_cells_end(gf_text_cells *c)
{
    if (!gf_grow(&c->ends, &c->capacity, c->n + 1, sizeof *c->ends)) {
        c->out_of_memory = true;
        return;
    }
    c->ends[c->n++] = c->bytes.len;
    gf_buffer_byte(&c->bytes, '\n');
}

static gf_slice cell_in(const gf_text_cells *c, const gf_buffer *bytes, size_t i)
{
    size_t from = i ? c->ends[i - 1] + 1 : 0;
    return gf_slice_of(bytes->ptr + from, c->ends[i] - from);
}

gf_slice gf_text_cells_at(const gf_text_cells *c, size_t i)
{
    return cell_in(c, &c->bytes, i);
}

gf_status gf_text_cells_check(const gf_text_cells *c, gf_error *err)
{
    if (c->out_of_memory) return gf_fail_memory(err, "a row");
    return gf_buffer_check(&c->bytes, err);
}

/* Replace ill-formed UTF-8 cell by cell; *bytes is the buffer that the cells then lie in. */
static gf_status repair_cells(gf_text_cells *c, const gf_buffer **bytes, uint64_t *replaced,
                              gf_error *err)
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

static gf_slice column_name(gf_text_cells *c, const gf_buffer *bytes, size_t n)
{
    gf_slice name = cell_in(c, bytes, n);
    char unnamed[32];
    if (name.len == 0) {
        snprintf(unnamed, sizeof unnamed, "column%zu", n + 1);
        name = gf_slice_str(unnamed);
    }
    return gf_arena_copy(&c->names, name);
}

gf_status gf_text_cells_to_header(gf_text_cells *c, gf_slice stream, gf_error *err)
{
    const gf_buffer *bytes;
    uint64_t replaced = 0;
    gf_status st = gf_text_cells_check(c, err);
    if (st == GF_OK) st = repair_cells(c, &bytes, &replaced, err);
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
    return gf_duplicate_fields_rename(&c->duplicates, c->members, c->n_members, &c->renamed, err);
}

gf_status gf_text_cells_to_record(gf_text_cells *c, gf_parsed_record *parsed, gf_error *err)
{
    const gf_buffer *bytes;
    gf_status st = gf_text_cells_check(c, err);
    if (st != GF_OK) return st;
    parsed->renamed = c->renamed;
    parsed->has_header = true;
    if (c->n != c->n_members) {
        gf_parsed_record_refuse(parsed, "wrong_field_count", "%zu field%s, not %zu", c->n,
                                c->n == 1 ? "" : "s", c->n_members);
        return GF_OK;
    }
    st = repair_cells(c, &bytes, &parsed->replaced, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < c->n; i++) {
        c->members[i].text = cell_in(c, bytes, i);
        c->members[i].kind = c->members[i].text.len ? GF_MEMBER_TEXT : GF_MEMBER_EMPTY;
    }
    parsed->members = c->members;
    parsed->n_members = c->n_members;
    return GF_OK;
}

gf_status gf_text_cells_read_header(gf_text_cells *c, gf_slice stream,
                                    gf_text_cells_read_row *read_row, void *parser, gf_error *err)
{
    gf_parsed_record header = {0};
    gf_status st = read_row(parser, &header, err);
    if (st != GF_OK) return st == GF_ENOTFOUND ? GF_OK : st;
    if (header.kind == GF_RECORD_REFUSED)
        return gf_fail(err, GF_EINVAL, "%.*s:%llu: the header cannot be read: %s",
                       GF_SLICE_ARG(stream), (unsigned long long)header.line, header.why.message);
    return gf_text_cells_to_header(c, stream, err);
}

gf_status gf_text_cells_next(gf_text_cells *c, gf_text_cells_read_row *read_row, void *parser,
                             gf_parsed_record *parsed, gf_error *err)
{
    gf_status st = read_row(parser, parsed, err);
    if (st != GF_OK || parsed->kind != GF_RECORD_DOCUMENT) return st;
    return gf_text_cells_to_record(c, parsed, err);
}
