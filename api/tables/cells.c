/*
 * table get with a range: a page of the cells of one wide family of a row.
 *
 *     family=friend from-column=u2 limit=2    {"key":["u1"],"cells":{"friend":{"u2":...,"u3":...}},
 *                                              "next":"q7533"}
 *     cursor=q7533                            what is behind u3
 *
 * A cursor is "q" and the last cell's name in hexadecimal: a page begins by a seek, however many
 * cells are before it.
 */
#include "api/tables/internal.h"
#include "base/hex.h"
#include "storage/backend.h"

typedef struct page {
    gf_table_call *c;
    unsigned family;
    gf_snapshot *snapshot;
    gf_scan *scan;
    gf_buffer after, prefix; /* of qualifiers */
    bool begins;             /* with the cell `after` itself */
    uint64_t left;
    bool any, more;
    gf_buffer last;
} page;

bool gf_table_call_pages(const gf_call *call)
{
    static const char *const names[] = {"from-column", "column-prefix", "limit", "cursor",
                                        "reverse"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (gf_call_has(call, names[i])) return true;
    return false;
}

static gf_status read_family(page *p, gf_error *err)
{
    uint32_t families;
    const gf_schema *s = gf_user_table_schema(p->c->table);
    gf_status st = gf_table_call_families(p->c, &families, err);
    if (st != GF_OK) return st;
    for (p->family = 0; p->family < s->n_families && !(families >> p->family & 1);)
        p->family++;
    if (p->family == s->n_families || families >> p->family != 1 ||
        s->families[p->family].layout != GF_LAYOUT_WIDE)
        return gf_fail(err, GF_EINVAL, "a range of cells is of one wide family: --family names it");
    return GF_OK;
}

static gf_status read_cursor(page *p, gf_slice text, gf_error *err)
{
    if (text.ptr[0] != 'q' || !gf_hex_read(gf_slice_skip(text, 1), &p->after))
        return gf_fail(err, GF_EINVAL, "cursor: this is none that an answer gave");
    return gf_buffer_check(&p->after, err);
}

/* A start of the qualifiers' text form: numbers have none. */
static gf_status read_prefix(page *p, gf_slice text, gf_error *err)
{
    gf_type type = gf_user_table_qualifier_type(p->c->table, p->family);
    if (type != GF_TYPE_TEXT && type != GF_TYPE_BYTES && type != GF_TYPE_ESCAPED)
        return gf_fail(err, GF_EINVAL, "column-prefix: the names are of type %s, and have no start",
                       gf_type_name(type));
    gf_status st = gf_user_table_value_write(type, text, &p->prefix, err);
    if (st != GF_OK) gf_error_prefix(err, "column-prefix");
    return st;
}

static gf_status read_range(page *p, gf_error *err)
{
    gf_call *call = p->c->call;
    gf_status st = read_family(p, err);
    p->left = gf_call_number(call, "limit", UINT64_MAX);
    if (st == GF_OK && gf_call_has(call, "column-prefix"))
        st = read_prefix(p, gf_call_text(call, "column-prefix"), err);
    if (st == GF_OK && gf_call_has(call, "from-column")) {
        st = gf_user_table_value_write(gf_user_table_qualifier_type(p->c->table, p->family),
                                       gf_call_text(call, "from-column"), &p->after, err);
        if (st != GF_OK) gf_error_prefix(err, "from-column");
        p->begins = true;
    }
    if (st == GF_OK && gf_call_has(call, "cursor")) {
        if (p->begins) return gf_fail(err, GF_EINVAL, "give either a cursor or from-column");
        st = read_cursor(p, gf_call_text(call, "cursor"), err);
    }
    return st;
}

static gf_status open_scan(page *p, gf_error *err)
{
    gf_table_call *c = p->c;
    bool bound = gf_call_has(c->call, "from-column") || gf_call_has(c->call, "cursor");
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = p->snapshot, .family = p->family,
                                        .prefix = gf_buffer_view(&c->key),
                                        .qualifier_prefix = gf_buffer_view(&p->prefix),
                                        .reverse = gf_call_flag(c->call, "reverse"));
    if (bound) o.after_qualifier = p->after.len ? gf_buffer_view(&p->after) : (gf_slice){"", 0};
    return gf_scan_open(gf_user_table_rows(c->table), &o, &p->scan, err);
}

/* The cell under its name; `more` where the page is full. */
static gf_status put_cell(page *p, gf_json_writer *w, const gf_cell *cell, gf_error *err)
{
    gf_table_call *c = p->c;
    p->more = p->left == 0;
    if (p->more) return GF_OK;
    p->left--;
    p->any = true;
    gf_buffer_reset(&p->last);
    gf_buffer_slice(&p->last, cell->qualifier);
    gf_table_put_cell(w, c->table, cell, gf_table_call_shown(c), &c->text);
    gf_status st = gf_buffer_check(&p->last, err);
    return st == GF_OK ? gf_buffer_check(&c->text, err) : st;
}

static gf_status put_cells(page *p, gf_json_writer *w, gf_error *err)
{
    gf_table_call *c = p->c;
    gf_slice from = gf_buffer_view(&p->after);
    gf_status st = GF_OK;
    if (p->begins && gf_slice_starts(from, gf_buffer_view(&p->prefix))) {
        st = gf_table_get_cell(gf_user_table_rows(c->table), p->snapshot, gf_buffer_view(&c->key),
                               p->family, from, 1, &c->row, err);
        if (st == GF_OK) st = put_cell(p, w, &c->row.cells[0], err);
    }
    if (st == GF_OK || st == GF_ENOTFOUND) st = open_scan(p, err);
    while (st == GF_OK && !p->more && (st = gf_scan_next(p->scan, &c->row, err)) == GF_OK) {
        st = gf_cancel_check(c->call->cancel, err);
        if (st == GF_OK) st = put_cell(p, w, &c->row.cells[0], err);
    }
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status emit_page(page *p, gf_error *err)
{
    gf_json_writer *w;
    gf_table_call *c = p->c;
    gf_status st = gf_table_call_begin(c, &w, err);
    if (st != GF_OK) return st;
    gf_json_key(w, "cells");
    gf_json_begin(w, '{');
    gf_json_key(w, gf_user_table_schema(c->table)->families[p->family].name);
    gf_json_begin(w, '{');
    st = put_cells(p, w, err);
    gf_json_end(w, '}');
    gf_json_end(w, '}');
    if (st != GF_OK) return st;
    if (p->more) {
        gf_buffer_reset(&c->text);
        gf_buffer_byte(&c->text, 'q');
        gf_hex_append(&c->text, gf_buffer_view(&p->last));
        st = gf_buffer_check(&c->text, err);
        gf_json_put_string(w, "next", gf_buffer_view(&c->text));
    }
    if (st == GF_OK && !p->any) st = gf_table_call_empty(c, UINT32_C(1) << p->family, err);
    return st == GF_OK ? gf_row_writer_emit(&c->writer, err) : st;
}

gf_status gf_table_call_page(gf_table_call *c, gf_error *err)
{
    page p = {.c = c};
    gf_status st = read_range(&p, err);
    if (st == GF_OK) st = gf_snapshot_create_if_any(gf_store_database(c->store), &p.snapshot, err);
    if (st == GF_OK) st = emit_page(&p, err);
    gf_scan_close(p.scan);
    gf_snapshot_free(p.snapshot);
    gf_buffer_release(&p.after);
    gf_buffer_release(&p.prefix);
    gf_buffer_release(&p.last);
    return st;
}
