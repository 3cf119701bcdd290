/* Arguments of calls of users' tables: a table, a row, cells. */
#include "api/tables/internal.h"

#include "base/memory.h"
#include "engine/rows/scan.h"
#include "engine/store/hold.h"
#include "engine/user_tables/system.h"

static gf_status open_table(gf_table_call *c, gf_error *err)
{
    gf_call *call = c->call;
    const char *of;
    gf_slice name = gf_call_text(call, "table");
    if (gf_call_flag(call, "system"))
        return gf_table_open_system(c->store, call->name_space, name, &c->table, &of, err);
    gf_status st = gf_user_table_open(c->store, call->name_space, name, &c->table, err);
    return gf_table_absent(c->store, name, st, err);
}

size_t gf_table_call_shown(const gf_table_call *c)
{
    bool all = !gf_user_table_is_system(c->table) || gf_call_flag(c->call, "full");
    return all ? SIZE_MAX : GF_TABLE_SHOWN;
}

gf_status gf_table_call_open(gf_table_call *c, gf_error *err)
{
    gf_call *call = c->call;
    c->writer.call = call;
    gf_status st = gf_call_store(call, &c->store, err);
    if (st == GF_OK) st = gf_store_finish_batches(c->store, err);
    if (st == GF_OK) st = open_table(c, err);
    if (st == GF_OK) st = gf_batch_create(gf_store_database(c->store), &c->batch, err);
    return st;
}

gf_status gf_table_call_key(gf_table_call *c, const char *name, gf_buffer *key, unsigned *n,
                            gf_error *err)
{
    enum { MOST_PARTS = 8 };
    gf_slice parts[MOST_PARTS + 1];
    size_t given = gf_call_count(c->call, name);
    unsigned most = given < MOST_PARTS + 1 ? (unsigned)given : MOST_PARTS + 1;
    for (unsigned i = 0; i < most; i++)
        parts[i] = gf_call_nth(c->call, name, i);
    *n = most;
    return gf_user_table_key_write(c->table, parts, most, key, err);
}

gf_status gf_table_call_open_row(gf_table_call *c, gf_error *err)
{
    unsigned n = 0;
    gf_status st = gf_table_call_open(c, err);
    if (st != GF_OK) return st;
    unsigned wanted = gf_user_table_schema(c->table)->n_parts;
    st = gf_table_call_key(c, "key", &c->key, &n, err);
    if (st == GF_OK && n != wanted)
        st = gf_fail(err, GF_EINVAL, "a row key of table \"%.*s\" has %u part%s, not %u",
                     GF_SLICE_ARG(gf_user_table_name(c->table)), wanted, wanted > 1 ? "s" : "", n);
    return st;
}

void gf_table_call_close(gf_table_call *c)
{
    gf_batch_free(c->batch);
    gf_user_table_close(c->table);
    gf_buffer_release(&c->key);
    gf_buffer_release(&c->qualifier);
    gf_buffer_release(&c->value);
    gf_buffer_release(&c->text);
    gf_row_release(&c->row);
    gf_row_writer_release(&c->writer);
}

gf_status gf_table_call_begin(gf_table_call *c, gf_json_writer **w, gf_error *err)
{
    *w = gf_row_writer_begin(&c->writer);
    gf_json_put_string(*w, "table", gf_user_table_name(c->table));
    return gf_table_put_key(*w, c->table, gf_buffer_view(&c->key), &c->text, err);
}

/* ---- cells ----------------------------------------------------------------------------------- */

gf_status gf_table_call_cell(gf_table_call *c, const char *argument, gf_slice text,
                             unsigned *family, gf_error *err)
{
    const char *equals = memchr(text.ptr, '=', text.len);
    if (!equals)
        return gf_fail(err, GF_EINVAL, "%s: \"%.*s\" is not FAMILY:COLUMN=VALUE", argument,
                       GF_SLICE_ARG(text));
    gf_slice name = gf_slice_of(text.ptr, (size_t)(equals - text.ptr));
    gf_buffer_reset(&c->qualifier);
    gf_buffer_reset(&c->value);
    gf_status st = gf_user_table_find_column(c->table, name, family, &c->qualifier, NULL, err);
    if (st != GF_OK) return st;
    gf_type type = gf_user_table_cell_type(c->table, *family, gf_buffer_view(&c->qualifier));
    st = gf_user_table_value_write(type, gf_slice_skip(text, name.len + 1), &c->value, err);
    if (st != GF_OK) gf_error_prefix(err, "%.*s", GF_SLICE_ARG(name));
    return st;
}

gf_status gf_table_call_sets(gf_table_call *c, uint64_t *n, gf_error *err)
{
    gf_status st = GF_OK;
    const gf_call *call = c->call;
    for (size_t i = 0; i < call->n_arguments && st == GF_OK; i++) {
        unsigned family;
        if (!gf_slice_equal(call->arguments[i].name, GF_SLICE("set"))) continue;
        st = gf_table_call_cell(c, "set", call->arguments[i].value, &family, err);
        if (st != GF_OK) break;
        gf_batch_put(c->batch, gf_user_table_rows(c->table), gf_buffer_view(&c->key), family,
                     gf_buffer_view(&c->qualifier), gf_buffer_view(&c->value),
                     (int64_t)gf_call_number(call, "timestamp", 0));
        ++*n;
    }
    return st;
}

gf_status gf_table_call_families(gf_table_call *c, uint32_t *families, gf_error *err)
{
    gf_slice *names = NULL;
    size_t n = 0;
    *families = 0;
    if (!gf_call_has(c->call, "family")) return GF_OK;
    gf_status st = gf_call_list(c->call, "family", &names, &n, err);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        unsigned family = 0;
        st = gf_user_table_find_family(c->table, names[i], &family, err);
        if (st == GF_OK) *families |= UINT32_C(1) << family;
    }
    gf_free(names);
    return st;
}

gf_status gf_table_call_absent(gf_table_call *c, gf_error *err)
{
    gf_buffer json = {0};
    gf_json_writer w = gf_json_writer_to(&json);
    gf_json_begin(&w, '{');
    gf_status st = gf_table_put_key(&w, c->table, gf_buffer_view(&c->key), &c->text, err);
    if (st == GF_OK) st = gf_buffer_check(&json, err);
    if (st == GF_OK)
        st = gf_fail(err, GF_ENOTFOUND, "table \"%.*s\" has no row %.*s",
                     GF_SLICE_ARG(gf_user_table_name(c->table)),
                     (int)(json.len - 7 < 200 ? json.len - 7 : 200), json.ptr + 7);
    gf_buffer_release(&json);
    return st;
}

static gf_status finds_cell(gf_table_call *c, uint32_t families, bool *found, gf_error *err)
{
    gf_table *rows = gf_user_table_rows(c->table);
    gf_status st = GF_OK;
    *found = false;
    for (unsigned f = 0; f < gf_user_table_schema(c->table)->n_families && st == GF_OK; f++)
        if (families >> f & 1 && !*found)
            st = gf_scan_finds(rows, NULL, f, gf_buffer_view(&c->key), found, err);
    return st;
}

gf_status gf_table_call_empty(gf_table_call *c, uint32_t families, gf_error *err)
{
    bool such, others = false;
    gf_buffer text = {0};
    const gf_schema *s = gf_user_table_schema(c->table);
    const char *before = "";
    gf_status st = finds_cell(c, families, &such, err);
    if (st == GF_OK && !such) st = finds_cell(c, ~families, &others, err);
    if (st != GF_OK) return st;
    if (!such && !others) return gf_table_call_absent(c, err);
    /* A page can be empty for its bounds. */
    gf_buffer_format(&text, "the row is there, and has no %s in ", such ? "such cell" : "cell");
    for (unsigned f = 0; f < s->n_families; f++) {
        if (!(families >> f & 1)) continue;
        gf_buffer_format(&text, "%s%s", before, s->families[f].name);
        before = ", ";
    }
    gf_buffer_cstr(&text);
    st = gf_buffer_check(&text, err);
    if (st == GF_OK) {
        gf_notice notice = {.reason = "no_cells", .message = gf_buffer_cstr(&text)};
        gf_call_notify(c->call, &notice);
        c->call->outcome = GF_OUTCOME_SOME_ABSENT;
    }
    gf_buffer_release(&text);
    return st;
}
