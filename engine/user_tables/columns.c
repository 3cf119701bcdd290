/* Cells and row keys of users' tables by their names: families, columns, key parts. */
#include "engine/user_tables/user_tables_internal.h"

#include "storage/schema.h"

gf_type gf_user_table_cell_type(const gf_user_table *t, unsigned family, gf_slice qualifier)
{
    const gf_user_schema *s = &t->schema;
    if (family >= s->schema.n_families) return GF_TYPE_BYTES;
    int column = gf_schema_column(&s->families[family], qualifier, 0);
    return column < 0 ? s->types[family] : s->columns[family][column];
}

gf_type gf_user_table_qualifier_type(const gf_user_table *t, unsigned family)
{
    return family < t->schema.schema.n_families ? t->schema.qualifiers[family] : GF_TYPE_TEXT;
}

/* ---- names of cells -------------------------------------------------------------------------- */

gf_status gf_user_table_find_family(const gf_user_table *t, gf_slice name, unsigned *family,
                                    gf_error *err)
{
    const gf_schema *s = &t->schema.schema;
    for (unsigned f = 0; f < s->n_families; f++)
        if (gf_slice_equal(name, gf_slice_str(s->families[f].name))) {
            *family = f;
            return GF_OK;
        }
    return gf_fail(err, GF_EINVAL, "table \"%.*s\" has no family \"%.*s\"", GF_SLICE_ARG(t->name),
                   (int)(name.len < 255 ? name.len : 255), name.ptr ? name.ptr : "");
}

/* The family that declares the column; GF_ENOTFOUND where none does, GF_EINVAL where several do. */
static gf_status find_declared(const gf_user_table *t, gf_slice name, unsigned *family,
                               gf_error *err)
{
    const gf_schema *s = &t->schema.schema;
    unsigned found = s->n_families;
    for (unsigned f = 0; f < s->n_families; f++) {
        if (gf_schema_column(&s->families[f], name, 0) < 0) continue;
        if (found < s->n_families)
            return gf_fail(err, GF_EINVAL, "families %s and %s have a column %.*s: say %s:%.*s",
                           s->families[found].name, s->families[f].name, GF_SLICE_ARG(name),
                           s->families[found].name, GF_SLICE_ARG(name));
        found = f;
    }
    if (found == s->n_families) return GF_ENOTFOUND;
    *family = found;
    return GF_OK;
}

gf_status gf_user_table_find_column(const gf_user_table *t, gf_slice name, unsigned *family,
                                    gf_buffer *qualifier, bool *whole, gf_error *err)
{
    const char *colon = name.len ? memchr(name.ptr, ':', name.len) : NULL;
    if (whole) *whole = false;
    gf_status st = colon ? GF_ENOTFOUND : find_declared(t, name, family, err);
    if (st == GF_OK) {
        gf_buffer_slice(qualifier, name);
        return gf_buffer_check(qualifier, err);
    }
    if (st != GF_ENOTFOUND) return st;
    size_t n = colon ? (size_t)(colon - name.ptr) : name.len;
    st = gf_user_table_find_family(t, gf_slice_of(name.ptr, n), family, err);
    if (st == GF_OK && !colon && !whole)
        return gf_fail(err, GF_EINVAL, "\"%.*s\" names a family, and no cell of it (%.*s:COLUMN)",
                       GF_SLICE_ARG(name), GF_SLICE_ARG(name));
    if (st != GF_OK) return st;
    if (!colon) {
        *whole = true;
        return GF_OK;
    }
    return gf_user_table_value_write(gf_user_table_qualifier_type(t, *family),
                                     gf_slice_skip(name, n + 1), qualifier, err);
}

/* ---- row keys -------------------------------------------------------------------------------- */

/* A key of a table of the program's own: a part may stand where the namespace was left out. */
static gf_status fail_namespace(const gf_user_table *t, gf_error *err)
{
    gf_buffer names = {0};
    for (unsigned i = 0; i < t->schema.schema.n_parts; i++)
        gf_buffer_format(&names, "%s%s", i ? ", " : "", t->schema.parts[i].name);
    gf_buffer_cstr(&names);
    gf_status st = gf_buffer_check(&names, err);
    if (st == GF_OK)
        st = gf_fail(err, GF_EINVAL,
                     "the first part of a key of table \"%.*s\" is the namespace, and this is "
                     "another one's: key parts are %s",
                     GF_SLICE_ARG(t->name), gf_buffer_cstr(&names));
    gf_buffer_release(&names);
    return st;
}

gf_status gf_user_table_key_write(const gf_user_table *t, const gf_slice *parts, unsigned n,
                                  gf_buffer *key, gf_error *err)
{
    size_t before = key->len;
    gf_status st = GF_OK;
    if (n > t->schema.schema.n_parts)
        return gf_fail(err, GF_EINVAL, "a row key of table \"%.*s\" has %u part%s, not %u",
                       GF_SLICE_ARG(t->name), t->schema.schema.n_parts,
                       t->schema.schema.n_parts > 1 ? "s" : "", n);
    for (unsigned i = 0; i < n && st == GF_OK; i++) {
        st = gf_user_table_part_write(&t->schema.parts[i], parts[i], key, err);
        if (st == GF_OK && i == 0 &&
            !gf_slice_starts(gf_slice_skip(gf_buffer_view(key), before), t->space))
            st = fail_namespace(t, err);
    }
    return st;
}

/* Bytes that a part always has; 0: as many as it has. */
static size_t part_width(const gf_user_part *part)
{
    if (part->width) return part->width;
    return part->type == GF_TYPE_INT64 || part->type == GF_TYPE_UINT64 ? 8 : 0;
}

gf_status gf_user_table_key_divide(const gf_user_table *t, gf_slice bytes, gf_buffer *key,
                                   gf_error *err)
{
    const gf_user_schema *s = &t->schema;
    const gf_user_part *any = NULL; /* the part that takes what the others leave */
    size_t fixed = 0;
    gf_status st = GF_OK;
    for (unsigned i = 0; i < s->schema.n_parts; i++) {
        const gf_user_part *part = &s->parts[i];
        fixed += part_width(part);
        if (part_width(part)) continue;
        if (any)
            return gf_fail(
                err, GF_EINVAL,
                "key parts %s and %s may both have any length, so nothing says where one ends",
                any->name, part->name);
        any = part;
    }
    if (bytes.len < fixed || (!any && bytes.len > fixed))
        return gf_fail(err, GF_EINVAL,
                       "a row key of %zu bytes, where the parts of table \"%.*s\" have %zu%s",
                       bytes.len, GF_SLICE_ARG(t->name), fixed, any ? " or more" : "");
    size_t rest = bytes.len - fixed;
    for (unsigned i = 0; i < s->schema.n_parts && st == GF_OK; i++) {
        const gf_user_part *part = &s->parts[i];
        size_t n = part == any ? rest : part_width(part);
        st = gf_user_table_part_put(part, gf_slice_of(bytes.ptr, n), key, err);
        bytes = gf_slice_skip(bytes, n);
    }
    return st;
}

gf_status gf_user_table_key_start(const gf_user_table *t, unsigned part, gf_slice start,
                                  gf_buffer *key, gf_error *err)
{
    gf_buffer bytes = {0};
    if (part >= t->schema.schema.n_parts)
        return gf_fail(err, GF_EINVAL, "the row key of table \"%.*s\" has no further part",
                       GF_SLICE_ARG(t->name));
    const gf_user_part *p = &t->schema.parts[part];
    if (p->type != GF_TYPE_TEXT && p->type != GF_TYPE_BYTES)
        return gf_fail(err, GF_EINVAL, "key part %s is a number: it has no start", p->name);
    gf_status st = gf_user_table_value_write(p->type, start, &bytes, err);
    if (st != GF_OK)
        gf_error_prefix(err, "key part %s", p->name);
    else if (!p->width)
        gf_key_string_start(key, gf_buffer_view(&bytes));
    else if (bytes.len <= p->width)
        gf_buffer_slice(key, gf_buffer_view(&bytes));
    else
        st = gf_fail(err, GF_EINVAL, "key part %s has %u bytes, not %zu", p->name, p->width,
                     bytes.len);
    gf_buffer_release(&bytes);
    return st == GF_OK ? gf_buffer_check(key, err) : st;
}

gf_status gf_user_table_key_take(const gf_user_table *t, unsigned part, gf_slice *key,
                                 gf_buffer *text, gf_error *err)
{
    if (part < t->schema.schema.n_parts)
        return gf_user_table_part_take(&t->schema.parts[part], key, text, err);
    return gf_fail(err, GF_ECORRUPT, "table \"%.*s\": a key has more parts than its schema",
                   GF_SLICE_ARG(t->name));
}

bool gf_user_table_part_is_number(const gf_user_table *t, unsigned part)
{
    gf_type type = part < t->schema.schema.n_parts ? t->schema.parts[part].type : GF_TYPE_TEXT;
    return type == GF_TYPE_INT64 || type == GF_TYPE_UINT64;
}

/* ---- increments ------------------------------------------------------------------------------ */

/* The cell's number plus delta, as the type has it; absent counts as 0. */
static gf_status sum(gf_type type, const gf_cell *cell, int64_t delta, gf_buffer *bytes,
                     gf_error *err)
{
    uint64_t v = 0, more = (uint64_t)delta, total;
    int64_t signed_total;
    bool fits;
    if (cell && cell->value.len != 8)
        return gf_fail(err, GF_EINVAL, "the cell holds no %s", gf_type_name(type));
    if (cell) v = gf_read_u64be(cell->value.ptr);
    if (type == GF_TYPE_INT64) {
        fits = !__builtin_add_overflow((int64_t)v, delta, &signed_total);
        total = (uint64_t)signed_total;
    } else if (delta < 0) {
        fits = v >= 0 - more;
        total = v + more;
    } else {
        fits = !__builtin_add_overflow(v, more, &total);
    }
    if (!fits) return gf_fail(err, GF_ELIMIT, "the sum is no %s", gf_type_name(type));
    gf_buffer_reset(bytes);
    gf_buffer_u64be(bytes, total);
    return gf_buffer_check(bytes, err);
}

/* Read, add, and write where nobody wrote in between. */
static gf_status increment_number(gf_user_table *t, gf_slice key, unsigned family,
                                  gf_slice qualifier, int64_t delta, gf_buffer *bytes,
                                  gf_error *err)
{
    gf_row row = {0};
    gf_batch *batch;
    gf_type type = gf_user_table_cell_type(t, family, qualifier);
    gf_status st = gf_batch_create(t->store->db, &batch, err);
    if (st != GF_OK) return st;
    do {
        gf_batch_reset(batch);
        st = gf_table_get_cell(t->rows, NULL, key, family, qualifier, 1, &row, err);
        if (st != GF_OK && st != GF_ENOTFOUND) break;
        const gf_cell *cell = st == GF_OK ? &row.cells[0] : NULL;
        st = sum(type, cell, delta, bytes, err);
        if (st != GF_OK) break;
        gf_batch_put(batch, t->rows, key, family, qualifier, gf_buffer_view(bytes), 0);
        st = gf_batch_write_if(batch, t->rows, key, family, qualifier, cell ? &cell->value : NULL,
                               GF_SYNC_ON, err);
    } while (st == GF_ECONFLICT);
    gf_batch_free(batch);
    gf_row_release(&row);
    return st;
}

gf_status gf_user_table_increment(gf_user_table *t, gf_slice key, unsigned family,
                                  gf_slice qualifier, int64_t delta, gf_buffer *result,
                                  gf_error *err)
{
    int64_t number;
    gf_buffer bytes = {0};
    gf_status st;
    gf_type type = gf_user_table_cell_type(t, family, qualifier);
    switch (type) {
    case GF_TYPE_INT64:
    case GF_TYPE_UINT64:
        st = increment_number(t, key, family, qualifier, delta, &bytes, err);
        if (st == GF_OK) gf_user_table_value_print(type, gf_buffer_view(&bytes), result);
        gf_buffer_release(&bytes);
        break;
    case GF_TYPE_DECIMAL:
    case GF_TYPE_TEXT:
        st = gf_table_increment(t->rows, key, family, qualifier, delta, GF_SYNC_ON, &number, err);
        if (st == GF_OK) gf_buffer_format(result, "%lld", (long long)number);
        if (st == GF_EINVAL) gf_fail(err, st, "the cell holds no whole number of 64 bits");
        if (st == GF_ELIMIT) gf_fail(err, st, "the sum is no number of 64 bits");
        break;
    default:
        return gf_fail(err, GF_EINVAL, "a cell of type %s cannot be added to", gf_type_name(type));
    }
    return st == GF_OK ? gf_buffer_check(result, err) : st;
}
