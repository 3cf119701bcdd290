/* Rows of users' tables as JSON, and back. */
#include "api/tables/internal.h"

/* ---- to JSON --------------------------------------------------------------------------------- */

static bool is_number(gf_type type)
{
    return type == GF_TYPE_INT64 || type == GF_TYPE_UINT64 || type == GF_TYPE_DECIMAL ||
           type == GF_TYPE_FLOAT || type == GF_TYPE_NUMBER || type == GF_TYPE_VARINT ||
           type == GF_TYPE_SIGNED || type == GF_TYPE_FLOAT32;
}

static void put_hex(gf_json_writer *w, gf_slice value, gf_buffer *text)
{
    gf_buffer_reset(text);
    gf_user_table_value_print(GF_TYPE_BYTES, value, text);
    gf_json_begin(w, '{');
    gf_json_put_string(w, "hex", gf_buffer_view(text));
    gf_json_end(w, '}');
}

static void put_length(gf_json_writer *w, size_t n)
{
    gf_json_begin(w, '{');
    gf_json_put_uint(w, "not_shown", n);
    gf_json_end(w, '}');
}

void gf_table_put_value(gf_json_writer *w, gf_type type, gf_slice value, size_t most,
                        gf_buffer *text)
{
    gf_buffer_reset(text);
    bool is_text = gf_user_table_value_print(type, value, text);
    if (!is_text && value.len > most)
        put_length(w, value.len);
    else if (!is_text)
        put_hex(w, value, text);
    else if (is_number(type) || type == GF_TYPE_JSON || type == GF_TYPE_POINT)
        gf_json_raw(w, gf_buffer_view(text));
    else
        gf_json_string(w, gf_buffer_view(text));
    if (text->state != GF_OK) w->out->state = text->state;
}

gf_status gf_table_put_key(gf_json_writer *w, const gf_user_table *t, gf_slice key, gf_buffer *text,
                           gf_error *err)
{
    gf_status st = GF_OK;
    gf_json_key(w, "key");
    gf_json_begin(w, '[');
    for (unsigned i = 0; key.len && st == GF_OK; i++) {
        gf_buffer_reset(text);
        st = gf_user_table_key_take(t, i, &key, text, err);
        if (st != GF_OK) break;
        if (gf_user_table_part_is_number(t, i))
            gf_json_raw(w, gf_buffer_view(text));
        else
            gf_json_string(w, gf_buffer_view(text));
    }
    gf_json_end(w, ']');
    return st;
}

/* A qualifier that is not of its type has no name in JSON: that is damage, or another program's. */
static gf_status put_qualifier(gf_json_writer *w, const gf_user_table *t, const gf_cell *cell,
                               gf_buffer *text)
{
    gf_buffer_reset(text);
    if (!gf_user_table_value_print(gf_user_table_qualifier_type(t, cell->family), cell->qualifier,
                                   text))
        gf_buffer_slice(text, cell->qualifier);
    gf_json_key_slice(w, gf_buffer_view(text));
    return gf_buffer_check(text, NULL);
}

void gf_table_put_cell(gf_json_writer *w, const gf_user_table *t, const gf_cell *cell, size_t most,
                       gf_buffer *text)
{
    if (put_qualifier(w, t, cell, text) != GF_OK) w->out->state = text->state;
    gf_table_put_value(w, gf_user_table_cell_type(t, cell->family, cell->qualifier), cell->value,
                       most, text);
}

gf_status gf_table_put_cells(gf_json_writer *w, const gf_user_table *t, const gf_row *row,
                             size_t most, gf_buffer *text)
{
    const gf_schema *s = gf_user_table_schema(t);
    gf_json_key(w, "cells");
    gf_json_begin(w, '{');
    for (size_t i = 0; i < row->n_cells;) {
        unsigned family = row->cells[i].family;
        if (family >= s->n_families) break; /* it was added after the table was opened */
        gf_json_key(w, s->families[family].name);
        gf_json_begin(w, '{');
        for (; i < row->n_cells && row->cells[i].family == family; i++)
            gf_table_put_cell(w, t, &row->cells[i], most, text);
        gf_json_end(w, '}');
    }
    gf_json_end(w, '}');
    return GF_OK;
}

/* ---- from JSON ------------------------------------------------------------------------------- */

/* A string as it lies there, or the digits of a number, appended to `numbers`. */
static gf_status text_of(gf_json_value v, const char *what, gf_buffer *numbers, gf_slice *text,
                         gf_error *err)
{
    if (gf_json_kind_of(v) == GF_JSON_STRING) {
        *text = gf_json_get_string(v);
        return GF_OK;
    }
    if (!gf_json_is_number(v))
        return gf_fail(err, GF_EINVAL, "%s is neither a string nor a number", what);
    size_t before = numbers->len;
    gf_status st = gf_json_write(v, numbers, err);
    if (st == GF_OK) *text = gf_slice_skip(gf_buffer_view(numbers), before);
    return st;
}

/* {"hex":"..."} */
static bool is_hex(gf_json_value v, gf_slice *hex)
{
    gf_json_value member, second;
    gf_slice name;
    if (gf_json_kind_of(v) != GF_JSON_OBJECT) return false;
    gf_json_iterator it = gf_json_items(v);
    if (!gf_json_next(&it, &name, &member) || !gf_slice_equal(name, GF_SLICE("hex")) ||
        gf_json_kind_of(member) != GF_JSON_STRING || gf_json_next(&it, NULL, &second))
        return false;
    *hex = gf_json_get_string(member);
    return true;
}

gf_status gf_table_read_value(gf_type type, gf_json_value v, gf_buffer *bytes, gf_buffer *text,
                              gf_error *err)
{
    gf_slice hex;
    if (type == GF_TYPE_JSON) return gf_json_write(v, bytes, err);
    if (is_hex(v, &hex)) return gf_user_table_value_write(GF_TYPE_BYTES, hex, bytes, err);
    /* A number is not the text of its digits: another notation would be another text. */
    if (type == GF_TYPE_TEXT && gf_json_kind_of(v) != GF_JSON_STRING)
        return gf_fail(err, GF_EINVAL, "a value of type text is a string");
    gf_slice value;
    gf_buffer_reset(text);
    gf_status st = text_of(v, "a value", text, &value, err);
    return st == GF_OK ? gf_user_table_value_write(type, value, bytes, err) : st;
}

gf_status gf_table_read_key(const gf_user_table *t, gf_json_value v, gf_buffer *key,
                            gf_buffer *text, gf_error *err)
{
    enum { MOST_PARTS = 8 };
    gf_json_value item;
    gf_slice parts[MOST_PARTS];
    size_t at[MOST_PARTS + 1] = {0}; /* ends in `text`, where digits are */
    unsigned n = 0, wanted = gf_user_table_schema(t)->n_parts;
    gf_status st = GF_OK;
    gf_buffer_reset(text);
    if (gf_json_kind_of(v) == GF_JSON_ARRAY) {
        gf_json_iterator it = gf_json_items(v);
        for (; st == GF_OK && n <= wanted && gf_json_next(&it, NULL, &item); n++) {
            if (n == wanted) continue; /* one too many */
            st = text_of(item, "a key part", text, &parts[n], err);
            at[n + 1] = text->len;
        }
        if (st == GF_OK && n != wanted)
            st = gf_fail(err, GF_EINVAL, "the key is not of %u part%s", wanted,
                         wanted > 1 ? "s" : "");
    } else {
        st = text_of(v, "the key", text, &parts[n++], err);
        if (st == GF_OK && wanted != 1)
            st = gf_fail(err, GF_EINVAL, "the key is not an array of %u parts", wanted);
    }
    for (unsigned i = 0; i < n && st == GF_OK; i++) /* the buffer may have moved */
        if (at[i + 1] > at[i]) parts[i].ptr = gf_buffer_view(text).ptr + at[i];
    return st == GF_OK ? gf_user_table_key_write(t, parts, n, key, err) : st;
}

static gf_status read_family(gf_cell_reader *r, unsigned family, gf_json_value cells,
                             gf_each_cell *each, void *context, gf_error *err)
{
    gf_json_value v;
    gf_slice name;
    gf_status st = GF_OK;
    gf_type qualifier = gf_user_table_qualifier_type(r->table, family);
    if (gf_json_kind_of(cells) != GF_JSON_OBJECT)
        return gf_fail(err, GF_EINVAL, "the cells of a family are no object");
    gf_json_iterator it = gf_json_items(cells);
    while (st == GF_OK && gf_json_next(&it, &name, &v)) {
        gf_buffer_reset(&r->qualifier);
        gf_buffer_reset(&r->value);
        st = gf_user_table_value_write(qualifier, name, &r->qualifier, err);
        gf_slice bytes = gf_buffer_view(&r->qualifier);
        if (st == GF_OK)
            st = gf_table_read_value(gf_user_table_cell_type(r->table, family, bytes), v, &r->value,
                                     &r->text, err);
        if (st == GF_OK) st = gf_buffer_check(&r->value, err);
        if (st == GF_EINVAL)
            gf_error_prefix(err, "%.*s", (int)(name.len < 99 ? name.len : 99), name.ptr);
        if (st == GF_OK) st = each(context, family, bytes, gf_buffer_view(&r->value), err);
    }
    return st;
}

gf_status gf_table_read_cells(gf_cell_reader *r, gf_json_value cells, gf_each_cell *each,
                              void *context, gf_error *err)
{
    gf_json_value v;
    gf_slice name;
    unsigned family;
    gf_status st = GF_OK;
    if (gf_json_kind_of(cells) != GF_JSON_OBJECT)
        return gf_fail(err, GF_EINVAL, "cells is not an object of families");
    gf_json_iterator it = gf_json_items(cells);
    while (st == GF_OK && gf_json_next(&it, &name, &v)) {
        st = gf_user_table_find_family(r->table, name, &family, err);
        if (st == GF_OK) st = read_family(r, family, v, each, context, err);
    }
    return st;
}

void gf_cell_reader_release(gf_cell_reader *r)
{
    gf_buffer_release(&r->qualifier);
    gf_buffer_release(&r->value);
    gf_buffer_release(&r->text);
}
