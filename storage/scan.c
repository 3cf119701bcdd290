/* Scans: the bounds are checked, entries counted, and the end is kept. */
#include "base/memory.h"
#include "base/options.h"
#include "storage/schema.h"
#include "storage/table_internal.h"

struct gf_scan {
    gf_database *db;
    const char *table;
    gf_backend_scan *of_backend;
    uint64_t left;
    gf_error ended; /* how, once it has; status GF_OK until then */
};

/* A bound must not reach beyond a row key, into what a backend may have behind it. */
static gf_status check_bound(const gf_schema *s, gf_slice bound, const char *what, gf_error *err)
{
    size_t length = gf_schema_row_length(s, bound);
    if (length == 0 || length == bound.len) return GF_OK;
    return gf_fail(err, GF_EINVAL, "table %s: the scan's %s is no row key nor the start of one",
                   s->name, what);
}

static gf_status check_scan(const gf_table *t, const gf_scan_options *o, gf_error *err)
{
    const gf_schema *s = gf_table_schema(t);
    gf_status st = gf_table_check_family(t, o->family, err);
    if (st == GF_OK) st = check_bound(s, o->prefix, "prefix", err);
    if (st == GF_OK) st = check_bound(s, o->start, "start", err);
    if (st == GF_OK) st = check_bound(s, o->end, "end", err);
    if (st != GF_OK || (!o->qualifier_prefix.len && !o->after_qualifier.ptr)) return st;
    if (s->families[o->family].layout == GF_LAYOUT_WIDE && o->prefix.len &&
        gf_schema_row_length(s, o->prefix) == o->prefix.len)
        return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "table %s: a range of qualifiers needs a wide family and one whole row key",
                   s->name);
}

gf_status gf_scan_open(gf_table *t, const gf_scan_options *options, gf_scan **scan, gf_error *err)
{
    gf_status known =
        gf_options_check(options->version, GF_SCAN_OPTIONS_VERSION, "gf_scan_options", err);
    if (known != GF_OK) return known;
    gf_status st = check_scan(t, options, err);
    if (st != GF_OK) return st;
    gf_scan *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "a scan");
    s->db = t->db;
    s->table = gf_table_schema(t)->name;
    s->left = options->limit ? options->limit : UINT64_MAX;
    gf_backend *b = t->db->backend;
    st = b->operations->scan_open(b, gf_snapshot_of_backend(options->snapshot), t->number, options,
                                  &s->of_backend, err);
    if (st != GF_OK) {
        gf_free(s);
        return st;
    }
    *scan = s;
    return GF_OK;
}

static gf_status next_entry(gf_scan *s, gf_row *row)
{
    gf_status st = gf_row_begin(row, &s->ended);
    if (st != GF_OK) return st;
    if (s->left == 0) return GF_ENOTFOUND;
    s->left--;
    st = s->db->backend->operations->scan_next(s->of_backend, row, &s->ended);
    if (st != GF_OK && st != GF_ENOTFOUND) gf_error_prefix(&s->ended, "table %s", s->table);
    return st;
}

gf_status gf_scan_next(gf_scan *s, gf_row *row, gf_error *err)
{
    if (s->ended.status == GF_OK) s->ended.status = next_entry(s, row);
    if (s->ended.status == GF_OK) return GF_OK;
    gf_row_clear(row);
    if (err) *err = s->ended;
    return s->ended.status;
}

void gf_scan_close(gf_scan *s)
{
    if (!s) return;
    s->db->backend->operations->scan_close(s->of_backend);
    gf_free(s);
}

gf_status gf_scan_cut(gf_table *t, const gf_scan_options *options, uint64_t bytes, gf_buffer *key,
                      gf_error *err)
{
    gf_status known =
        gf_options_check(options->version, GF_SCAN_OPTIONS_VERSION, "gf_scan_options", err);
    if (known != GF_OK) return known;
    const gf_backend *b = t->db->backend;
    gf_status st = check_scan(t, options, err);
    if (st != GF_OK) return st;
    if (!b->operations->scan_cut) return GF_ENOTFOUND;
    st = b->operations->scan_cut(t->db->backend, gf_snapshot_of_backend(options->snapshot),
                                 t->number, options, bytes, key, err);
    if (st != GF_OK && st != GF_ENOTFOUND)
        gf_error_prefix(err, "table %s", gf_table_schema(t)->name);
    return st;
}
