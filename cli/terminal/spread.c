#include "cli/terminal/spread.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

gf_status gf_spread_init(gf_spread *s, const char *inner, gf_error *err)
{
    *s = (gf_spread){.rows = tmpfile(), .inner = inner};
    return s->rows ? GF_OK : gf_fail_errno(err, "cannot keep rows in a temporary file");
}

void gf_spread_release(gf_spread *s)
{
    if (s->rows) fclose(s->rows);
    gf_strings_release(&s->names);
    gf_free(s->values);
    gf_buffer_release(&s->cell);
    gf_buffer_release(&s->name);
    free(s->line);
    *s = (gf_spread){0};
}

gf_status gf_spread_column(gf_spread *s, gf_slice name, gf_error *err)
{
    uint32_t number;
    gf_status st = gf_strings_add(&s->names, name, &number, NULL, err);
    s->n_fixed = s->names.n;
    return st;
}

/* Is a member among those whose members are columns, with | between them? */
static bool is_inner(const gf_spread *s, gf_slice name)
{
    const char *at = s->inner;
    while (at) {
        size_t n = strcspn(at, "|");
        if (gf_slice_equal(name, gf_slice_of(at, n))) return true;
        at = at[n] ? at + n + 1 : NULL;
    }
    return false;
}

/* Does something with a value of a column of its own. */
typedef gf_status use_value(gf_spread *s, gf_slice column, gf_json_value value, gf_error *err);

static gf_status visit_inner(gf_spread *s, gf_json_value members, use_value *use, gf_error *err)
{
    gf_json_iterator it = gf_json_items(members);
    gf_slice name;
    gf_json_value value;
    gf_status st = GF_OK;
    while (st == GF_OK && gf_json_next(&it, &name, &value)) {
        uint32_t same = gf_strings_find(&s->names, name);
        if ((same != GF_STRING_NONE && same < s->n_fixed) ||
            gf_slice_starts(name, GF_SLICE("field:"))) {
            gf_buffer_reset(&s->name);
            gf_buffer_str(&s->name, "field:");
            gf_buffer_slice(&s->name, name);
            name = gf_buffer_view(&s->name);
            st = gf_buffer_check(&s->name, err);
        }
        if (st == GF_OK) st = use(s, name, value, err);
    }
    return st;
}

static gf_status visit_members(gf_spread *s, gf_json_value row, use_value *use, gf_error *err)
{
    gf_json_iterator it = gf_json_items(row);
    gf_slice name;
    gf_json_value value;
    gf_status st = GF_OK;
    while (st == GF_OK && gf_json_next(&it, &name, &value)) {
        if (is_inner(s, name))
            st = visit_inner(s, value, use, err);
        else if (!s->inner || gf_strings_find(&s->names, name) < s->n_fixed)
            st = use(s, name, value, err);
    }
    return st;
}

static gf_status add_column(gf_spread *s, gf_slice name, gf_json_value value, gf_error *err)
{
    uint32_t number;
    (void)value;
    return gf_strings_add(&s->names, name, &number, NULL, err);
}

gf_status gf_spread_add(gf_spread *s, gf_slice text, gf_json_value row, gf_error *err)
{
    gf_status st = visit_members(s, row, add_column, err);
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

static gf_status note_value(gf_spread *s, gf_slice column, gf_json_value value, gf_error *err)
{
    gf_spread_value *v = &s->values[gf_strings_find(&s->names, column)];
    (void)err;
    if (v->row != s->n_rows) *v = (gf_spread_value){s->n_rows, value};
    return GF_OK;
}

static gf_status write_row(gf_spread *s, gf_json_value row, gf_spread_cell *cell, void *context,
                           FILE *out, gf_error *err)
{
    s->n_rows++;
    gf_status st = visit_members(s, row, note_value, err);
    for (uint32_t c = 0; c < s->names.n && st == GF_OK; c++) {
        st = write_value(s, &s->values[c], err);
        if (c) fputc(',', out);
        if (st == GF_OK) cell(context, gf_buffer_view(&s->cell));
    }
    fputs("\r\n", out);
    return st;
}

gf_status gf_spread_write(gf_spread *s, gf_json_parser *parser, gf_spread_cell *cell, void *context,
                          FILE *out, gf_error *err)
{
    gf_status st = GF_OK;
    ssize_t length;
    gf_json_value row;
    s->values = gf_calloc((size_t)s->names.n + 1, sizeof *s->values);
    if (!s->values) return gf_fail_memory(err, "columns");
    for (uint32_t c = 0; c < s->names.n; c++) {
        if (c) fputc(',', out);
        cell(context, gf_strings_at(&s->names, c));
    }
    fputs("\r\n", out);
    rewind(s->rows);
    while (st == GF_OK && (length = getline(&s->line, &s->capacity, s->rows)) > 0) {
        st = gf_json_parse_copy(parser, gf_slice_of(s->line, (size_t)length - 1), &row, err);
        if (st == GF_OK) st = write_row(s, row, cell, context, out, err);
    }
    if (st == GF_OK && ferror(s->rows))
        st = gf_fail_errno(err, "cannot read rows back from a temporary file");
    return st;
}
