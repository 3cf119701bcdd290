/*
 * All rows by digest: the lowest key of all families' walks, one step each time.
 *
 *     f        scan of keys           |
 *     file     scan of keys           |-> the lowest; those that have it go on
 *     grobid0  a seek for each row    |
 *     match0   scan of keys           |
 *     ...      by its layout          |
 */
#include "apps/papers/table/table_internal.h"

#include "base/memory.h"
#include "storage/schema.h"

typedef struct head {
    gf_scan *scan; /* of a packed family; NULL: of a wide one */
    bool at_end;
    gf_sha1 at; /* the key that is next, where it is not at the end */
} head;

struct gf_papers_scan {
    gf_papers *papers;
    gf_snapshot *snapshot;
    head heads[GF_MAX_FAMILIES]; /* n_heads */
    unsigned n_heads;
    gf_row row;
    gf_buffer key;
    gf_error ended;
};

static gf_status take_key(gf_papers_scan *w, head *h, gf_status st, gf_error *err)
{
    h->at_end = st == GF_ENOTFOUND;
    if (st != GF_OK) return h->at_end ? GF_OK : st;
    size_t before = w->papers->name_space.len;
    if (w->row.key.len != before + GF_SHA1_BYTES)
        return gf_fail(err, GF_ECORRUPT, "table of papers: a key is damaged");
    memcpy(h->at.bytes, w->row.key.ptr + before, GF_SHA1_BYTES);
    return GF_OK;
}

/* The lowest digest above this one; false where there is none. */
static bool increment_digest(gf_sha1 *sha1)
{
    for (int i = GF_SHA1_BYTES - 1; i >= 0; i--) {
        sha1->bytes[i] = (char)((unsigned char)sha1->bytes[i] + 1);
        if (sha1->bytes[i] != 0) return true;
    }
    return false;
}

/* The first row of the wide family from `from` on: one entry of a scan that begins there. */
static gf_status seek_row(gf_papers_scan *w, unsigned family, const gf_sha1 *from, gf_error *err)
{
    gf_scan *scan;
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = w->snapshot, .family = family,
                                        .prefix = gf_buffer_view(&w->papers->name_space),
                                        .limit = 1, .keys_only = true);
    gf_buffer_reset(&w->key);
    gf_papers_key(w->papers, from, &w->key);
    gf_status st = gf_buffer_check(&w->key, err);
    o.start = gf_buffer_view(&w->key);
    if (st == GF_OK) st = gf_scan_open(w->papers->table, &o, &scan, err);
    if (st != GF_OK) return st;
    st = take_key(w, &w->heads[family], gf_scan_next(scan, &w->row, err), err);
    gf_scan_close(scan);
    return st;
}

static gf_status step_head(gf_papers_scan *w, unsigned family, gf_error *err)
{
    head *h = &w->heads[family];
    if (h->scan) return take_key(w, h, gf_scan_next(h->scan, &w->row, err), err);
    gf_sha1 from = h->at;
    if (increment_digest(&from)) return seek_row(w, family, &from, err);
    h->at_end = true;
    return GF_OK;
}

static gf_status open_heads(gf_papers_scan *w, gf_error *err)
{
    gf_sha1 lowest = {{0}};
    const gf_schema *schema = gf_table_schema(w->papers->table);
    gf_status st = gf_snapshot_create(w->papers->db, &w->snapshot, err);
    w->n_heads = schema->n_families;
    for (unsigned f = 0; f < w->n_heads && st == GF_OK; f++) {
        gf_scan_options o =
            GF_SCAN_OPTIONS(.snapshot = w->snapshot, .family = f,
                            .prefix = gf_buffer_view(&w->papers->name_space), .keys_only = true);
        if (schema->families[f].layout == GF_LAYOUT_WIDE) {
            st = seek_row(w, f, &lowest, err);
            continue;
        }
        st = gf_scan_open(w->papers->table, &o, &w->heads[f].scan, err);
        if (st == GF_OK) st = step_head(w, f, err);
    }
    return st;
}

gf_status gf_papers_scan_open(gf_papers *papers, gf_papers_scan **walk, gf_error *err)
{
    gf_papers_scan *w = gf_calloc(1, sizeof *w);
    if (!w) return gf_fail_memory(err, "a walk");
    w->papers = papers;
    gf_status st = open_heads(w, err);
    if (st != GF_OK) {
        gf_papers_scan_close(w);
        return st;
    }
    *walk = w;
    return GF_OK;
}

void gf_papers_scan_close(gf_papers_scan *w)
{
    if (!w) return;
    for (unsigned f = 0; f < w->n_heads; f++)
        if (w->heads[f].scan) gf_scan_close(w->heads[f].scan);
    gf_row_release(&w->row);
    gf_buffer_release(&w->key);
    gf_snapshot_free(w->snapshot);
    gf_free(w);
}

const gf_snapshot *gf_papers_scan_snapshot(const gf_papers_scan *w)
{
    return w->snapshot;
}

static int compare_digests(const gf_sha1 *a, const gf_sha1 *b)
{
    return memcmp(a->bytes, b->bytes, GF_SHA1_BYTES);
}

gf_status gf_papers_scan_next(gf_papers_scan *w, gf_sha1 *sha1, gf_error *err)
{
    const head *lowest = NULL;
    gf_status st = GF_OK;
    for (unsigned f = 0; f < w->n_heads; f++) {
        const head *h = &w->heads[f];
        if (!h->at_end && (!lowest || compare_digests(&h->at, &lowest->at) < 0)) lowest = h;
    }
    if (!lowest) return GF_ENOTFOUND;
    gf_sha1 next = lowest->at;
    for (unsigned f = 0; f < w->n_heads && st == GF_OK; f++)
        if (!w->heads[f].at_end && compare_digests(&w->heads[f].at, &next) == 0)
            st = step_head(w, f, err);
    if (st == GF_OK) *sha1 = next;
    return st;
}
