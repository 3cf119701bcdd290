#include "cli/terminal/spread.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

gf_status gf_spread_init(gf_spread *s, gf_error *err)
{
    *s = (gf_spread){.rows = tmpfile()};
    return s->rows ? GF_OK : gf_fail_errno(err, "cannot keep rows in a temporary file");
}

void gf_spread_release(gf_spread *s)
{
    if (s->rows) fclose(s->rows);
    gf_strings_release(&s->names);
    gf_free(s->values);
    gf_buffer_release(&s->cell);
    free(s->line);
    *s = (gf_spread){0};
}

gf_status gf_spread_column(gf_spread *s, gf_slice name, gf_error *err)
{
    uint32_t number;
    return gf_strings_add(&s->names, name, &number, NULL, err);
}

gf_status gf_spread_add(gf_spread *s, gf_slice text, gf_json_value row, gf_error *err)
{
    gf_json_iterator it = gf_json_items(row);
    gf_slice name;
    gf_json_value value;
    gf_status st = GF_OK;
    while (st == GF_OK && gf_json_next(&it, &name, &value))
        st = gf_spread_column(s, name, err);
    if (st != GF_OK) return st;
    bool kept = fwrite(text.ptr, 1, text.len, s->rows) == text.len && fputc('\n', s->rows) != EOF;
    return kept ? GF_OK : gf_fail_errno(err, "cannot keep rows in a temporary file");
}

/* A missing member and null are empty cells. */
static gf_status write_value(gf_spread *s, const gf_spread_value *v, gf_error *err)
{
    gf_buffer_reset(&s->cell);
    if (v->row != s->n_rows || gf_json_kind_of(v->value) == GF_JSON_NULL) return GF_OK;
    if (gf_json_kind_of(v->value) != GF_JSON_STRING) return gf_json_write(v->value, &s->cell, err);
    gf_buffer_slice(&s->cell, gf_json_get_string(v->value));
    return gf_buffer_check(&s->cell, err);
}

static gf_status write_row(gf_spread *s, gf_json_value row, gf_spread_cell *cell, FILE *out,
                           gf_error *err)
{
    gf_json_iterator it = gf_json_items(row);
    gf_slice name;
    gf_json_value value;
    gf_status st = GF_OK;
    s->n_rows++;
    while (gf_json_next(&it, &name, &value)) {
        gf_spread_value *v = &s->values[gf_strings_find(&s->names, name)];
        if (v->row != s->n_rows) *v = (gf_spread_value){s->n_rows, value};
    }
    for (uint32_t c = 0; c < s->names.n && st == GF_OK; c++) {
        st = write_value(s, &s->values[c], err);
        if (c) fputc(',', out);
        if (st == GF_OK) cell(out, gf_buffer_view(&s->cell));
    }
    fputs("\r\n", out);
    return st;
}

gf_status gf_spread_write(gf_spread *s, gf_json_parser *parser, gf_spread_cell *cell, FILE *out,
                          gf_error *err)
{
    gf_status st = GF_OK;
    ssize_t length;
    gf_json_value row;
    s->values = gf_calloc((size_t)s->names.n + 1, sizeof *s->values);
    if (!s->values) return gf_fail_memory(err, "columns");
    for (uint32_t c = 0; c < s->names.n; c++) {
        if (c) fputc(',', out);
        cell(out, gf_strings_at(&s->names, c));
    }
    fputs("\r\n", out);
    rewind(s->rows);
    while (st == GF_OK && (length = getline(&s->line, &s->capacity, s->rows)) > 0) {
        st = gf_json_parse_copy(parser, gf_slice_of(s->line, (size_t)length - 1), &row, err);
        if (st == GF_OK) st = write_row(s, row, cell, out, err);
    }
    if (st == GF_OK && ferror(s->rows))
        st = gf_fail_errno(err, "cannot read rows back from a temporary file");
    return st;
}
