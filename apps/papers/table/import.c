/*
 * Writing papers. Cells wait in a batch, and their digests in a set, so that a second line for a
 * row of the same batch is recognised.
 *
 *     caller        fill a | fill b  | fill a  | ...
 *     background             write a   write b
 *
 * A full batch is written and synced by a thread while the next is filled; what is being written
 * counts as staged until it is there. Batches are written in their order, one at a time.
 */
#include "apps/papers/extraction/magic.h"
#include "apps/papers/table/captures.h"
#include "apps/papers/table/table_internal.h"

#include "base/json/writer.h"
#include "base/memory.h"
#include "base/strings.h"
#include "formats/bytes/crypto.h"
#include "storage/write_behind.h"

/* LevelDB's batch stays under 8 MiB, up to which storage keeps its memory. */
enum { MOST_CHANGES = 20000, MOST_BYTES = 7 << 20 };

typedef struct side {
    gf_strings staged[GF_PAPERS_FAMILIES]; /* digests of the batch, by what was put */
    gf_papers_staged captures;             /* of the rows whose captures are in the batch */
    gf_strings further;                    /* digest and name of further captures in it */
    bool has_files; /* the batch has columns of file beside those of captures */
} side;

struct gf_papers_import {
    gf_papers *papers;
    bool replace;
    int64_t time; /* of extractions; 0: none */
    side sides[2];
    side *fill, *written; /* one of them each; the second is being written, or empty */
    gf_batch *batch;
    gf_write_behind out; /* out.batch: what is filled */
    gf_row row;
    gf_json_parser *parser;
    uint64_t keep;       /* further captures of a row */
    gf_papers_text text; /* of gf_papers_import_tei */
    gf_buffer key, json, other;
};

gf_status gf_papers_import_open(gf_papers *papers, bool replace, gf_papers_import **import,
                                gf_error *err)
{
    gf_papers_import *m = gf_calloc(1, sizeof *m);
    if (!m) return gf_fail_memory(err, "an import");
    m->papers = papers;
    m->replace = replace;
    m->fill = &m->sides[0];
    m->written = &m->sides[1];
    m->keep = GF_PAPERS_CAPTURES_KEPT;
    gf_status st = gf_batch_create(papers->db, &m->batch, err);
    if (st == GF_OK) st = gf_json_parser_create(&m->parser, err);
    if (st != GF_OK) {
        gf_batch_free(m->batch);
        gf_free(m);
        return st;
    }
    gf_write_behind_begin(&m->out, papers->db, m->batch);
    *import = m;
    return GF_OK;
}

void gf_papers_import_keep(gf_papers_import *m, uint64_t captures)
{
    m->keep = captures;
}

static void forget_staged(side *s)
{
    gf_papers_staged_release(&s->captures);
    gf_strings_release(&s->further);
    for (int f = 0; f < GF_PAPERS_FAMILIES; f++)
        gf_strings_release(&s->staged[f]);
    s->has_files = false;
}

void gf_papers_import_close(gf_papers_import *m)
{
    if (!m) return;
    gf_write_behind_end(&m->out, GF_ECANCELLED, NULL);
    gf_batch_free(m->batch);
    for (int i = 0; i < 2; i++)
        forget_staged(&m->sides[i]);
    gf_row_release(&m->row);
    gf_json_parser_free(m->parser);
    gf_buffer_release(&m->key);
    gf_buffer_release(&m->json);
    gf_buffer_release(&m->other);
    gf_papers_text_release(&m->text);
    gf_free(m);
}

static gf_status hand_over(gf_papers_import *m, gf_error *err)
{
    gf_status st = gf_write_behind_next(&m->out, err);
    if (st != GF_OK) return st;
    forget_staged(m->written);
    side *full = m->fill;
    m->fill = m->written;
    m->written = full;
    return GF_OK;
}

gf_status gf_papers_import_flush(gf_papers_import *m, gf_error *err)
{
    gf_status st = hand_over(m, err);
    if (st == GF_OK) st = gf_write_behind_wait(&m->out, err);
    if (st == GF_OK) forget_staged(m->written);
    return st;
}

static gf_status flush_if_full(gf_papers_import *m, gf_error *err)
{
    const gf_batch *b = m->out.batch;
    if (gf_batch_changes(b) < MOST_CHANGES && gf_batch_bytes(b) < MOST_BYTES) return GF_OK;
    return hand_over(m, err);
}

static bool is_staged(const gf_papers_import *m, const gf_sha1 *sha1, unsigned family)
{
    gf_slice digest = gf_slice_of(sha1->bytes, GF_SHA1_BYTES);
    return gf_strings_find(&m->fill->staged[family], digest) != GF_STRING_NONE ||
           gf_strings_find(&m->written->staged[family], digest) != GF_STRING_NONE;
}

/* Has the row that cell, in the table or in the batch? m->key becomes the row's key. */
static gf_status find_cell(gf_papers_import *m, const gf_sha1 *sha1, unsigned family,
                           const char *column, bool *found, gf_error *err)
{
    gf_buffer_reset(&m->key);
    gf_papers_key(m->papers, sha1, &m->key);
    gf_status st = gf_buffer_check(&m->key, err);
    *found = is_staged(m, sha1, family);
    if (st != GF_OK || *found) return st;
    st = gf_table_get_cell(m->papers->table, NULL, gf_buffer_view(&m->key),
                           m->papers->family[family], gf_slice_str(column), 1, &m->row, err);
    *found = st == GF_OK;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status stage_digest(gf_papers_import *m, const gf_sha1 *sha1, unsigned family,
                              gf_error *err)
{
    uint32_t id;
    return gf_strings_add(&m->fill->staged[family], gf_slice_of(sha1->bytes, GF_SHA1_BYTES), &id,
                          NULL, err);
}

static void put_cell(gf_papers_import *m, unsigned family, const char *column, gf_slice value)
{
    gf_batch_put(m->out.batch, m->papers->table, gf_buffer_view(&m->key), m->papers->family[family],
                 gf_slice_str(column), value, 0);
}

/* Columns of a packed family, all that it has or beside others. */
static void put_all(gf_papers_import *m, unsigned family, bool whole, const gf_column *columns,
                    size_t n)
{
    gf_slice key = gf_buffer_view(&m->key);
    family = m->papers->family[family];
    if (whole) gf_batch_replace(m->out.batch, m->papers->table, key, family, columns, n, 0);
    for (size_t i = 0; i < n && !whole; i++)
        gf_batch_put(m->out.batch, m->papers->table, key, family, columns[i].name, columns[i].value,
                     0);
}

/* ---- crawl ----------------------------------------------------------------------------------- */

/*
 * The captures of the row, of the batch or of the table. Those of the table are borrowed from m->row;
 * *staged tells that the row is in the batch.
 */
static gf_status find_captures(gf_papers_import *m, const gf_sha1 *sha1, gf_papers_captures *c,
                               bool *staged, gf_error *err)
{
    const unsigned *family = m->papers->family;
    gf_slice digest = gf_slice_of(sha1->bytes, GF_SHA1_BYTES);
    const gf_papers_captures *found = gf_papers_staged_find(&m->fill->captures, digest);
    if (!found) found = gf_papers_staged_find(&m->written->captures, digest);
    gf_buffer_reset(&m->key);
    gf_papers_key(m->papers, sha1, &m->key);
    gf_status st = gf_buffer_check(&m->key, err);
    *staged = found != NULL;
    if (found) *c = *found;
    if (st != GF_OK || found) return st;
    st = gf_table_get(m->papers->table, NULL, gf_buffer_view(&m->key),
                      UINT32_C(1) << family[GF_PAPERS_F] | UINT32_C(1) << family[GF_PAPERS_FILE],
                      &m->row, err);
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    const gf_cell *history = gf_row_find(&m->row, family[GF_PAPERS_F], "c");
    const gf_cell *cdx = gf_row_find(&m->row, family[GF_PAPERS_FILE], "cdx");
    *c = (gf_papers_captures){.kept = UINT64_MAX};
    if (history) c->history = history->value;
    if (cdx) c->cdx = cdx->value;
    return GF_OK;
}

/* Is it one of the further captures, in the table or in the batch? */
static gf_status is_further(gf_papers_import *m, const gf_sha1 *sha1, const char *name, bool *known,
                            gf_error *err)
{
    char both[GF_SHA1_BYTES + GF_PAPERS_CAPTURE_NAME];
    size_t n = strlen(name);
    memcpy(both, sha1->bytes, GF_SHA1_BYTES);
    memcpy(both + GF_SHA1_BYTES, name, n);
    gf_slice wanted = gf_slice_of(both, GF_SHA1_BYTES + n);
    *known = gf_strings_find(&m->fill->further, wanted) != GF_STRING_NONE ||
             gf_strings_find(&m->written->further, wanted) != GF_STRING_NONE;
    for (int form = 0; form < 2 && !*known; form++) { /* kept, or counted alone */
        gf_row row = {0};
        gf_status st = gf_table_get_cell(m->papers->table, NULL, gf_buffer_view(&m->key),
                                         m->papers->family[GF_PAPERS_CAPTURES],
                                         gf_slice_str(name - form), 1, &row, err);
        gf_row_release(&row);
        if (st != GF_OK && st != GF_ENOTFOUND) return st;
        *known = st == GF_OK;
    }
    return GF_OK;
}

static gf_status stage_further(gf_papers_import *m, const gf_sha1 *sha1, const char *name,
                               gf_error *err)
{
    char both[GF_SHA1_BYTES + GF_PAPERS_CAPTURE_NAME];
    uint32_t id;
    size_t n = strlen(name);
    memcpy(both, sha1->bytes, GF_SHA1_BYTES);
    memcpy(both + GF_SHA1_BYTES, name, n);
    return gf_strings_add(&m->fill->further, gf_slice_of(both, GF_SHA1_BYTES + n), &id, NULL, err);
}

static void put_capture(gf_papers_import *m, const char *name, gf_slice value)
{
    gf_batch_put(m->out.batch, m->papers->table, gf_buffer_view(&m->key),
                 m->papers->family[GF_PAPERS_CAPTURES], gf_slice_str(name), value, 0);
}

static gf_status stage_captures(gf_papers_import *m, const gf_sha1 *sha1,
                                const gf_papers_captures *c, gf_error *err)
{
    gf_status st =
        gf_papers_staged_set(&m->fill->captures, gf_slice_of(sha1->bytes, GF_SHA1_BYTES), c, err);
    return st == GF_OK ? stage_digest(m, sha1, GF_PAPERS_FILE, err) : st;
}

/* The first capture of a file. An f:c without a file:cdx beside it is a crawler's, and stays. */
static gf_status put_first(gf_papers_import *m, const gf_sha1 *sha1, const gf_cdx *cdx,
                           gf_papers_captures *c, bool staged, gf_error *err)
{
    bool own = !c->history.ptr || (m->replace && c->cdx.ptr);
    bool whole = !staged && !m->fill->has_files && !m->written->has_files;
    for (size_t i = 0; i < m->row.n_cells && whole; i++)
        whole = m->row.cells[i].family != m->papers->family[GF_PAPERS_FILE];
    gf_buffer_reset(&m->json);
    if (own) gf_papers_capture_history(cdx, gf_papers_captures_count(c), &m->other, &m->json);
    size_t history = m->json.len;
    gf_papers_capture_cdx(cdx, &m->json);
    gf_status st = gf_buffer_check(&m->json, err);
    if (st == GF_OK) st = gf_buffer_check(&m->other, err);
    if (st != GF_OK) return st;
    if (own) c->history = gf_slice_of(m->json.ptr, history);
    c->cdx = gf_slice_skip(gf_buffer_view(&m->json), history);
    st = stage_captures(m, sha1, c, err);
    if (st != GF_OK) return st; /* and nothing of it is in the batch */
    gf_column column = {GF_SLICE("c"), c->history};
    gf_column columns[] = {{GF_SLICE("mime"), gf_slice_str(cdx->mime)}, {GF_SLICE("cdx"), c->cdx}};
    if (own) put_all(m, GF_PAPERS_F, true, &column, 1);
    put_all(m, GF_PAPERS_FILE, whole, columns, 2);
    return GF_OK;
}

/* Count the further captures that the table has, of the first `limit` (0: of all), and those kept. */
static gf_status count_further(gf_papers_import *m, uint64_t limit, uint64_t *all, uint64_t *kept,
                               gf_error *err)
{
    gf_scan *scan = NULL;
    gf_row row = {0};
    gf_scan_options o =
        GF_SCAN_OPTIONS(.family = m->papers->family[GF_PAPERS_CAPTURES],
                        .prefix = gf_buffer_view(&m->key), .limit = limit, .keys_only = true);
    *all = *kept = 0;
    gf_status st = gf_scan_open(m->papers->table, &o, &scan, err);
    if (st != GF_OK) return st;
    while ((st = gf_scan_next(scan, &row, err)) == GF_OK) {
        (*all)++;
        *kept += row.cells[0].qualifier.len > 0 &&
                 row.cells[0].qualifier.ptr[0] != GF_PAPERS_CAPTURE_COUNTED;
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status count_kept(gf_papers_import *m, gf_papers_captures *c, gf_error *err)
{
    uint64_t all;
    if (c->kept != UINT64_MAX || m->keep == 0) return GF_OK;
    return count_further(m, m->keep, &all, &c->kept, err);
}

static gf_status put_further(gf_papers_import *m, const gf_sha1 *sha1, const gf_cdx *cdx,
                             const char *name, gf_papers_captures *c, gf_error *err)
{
    gf_status st = count_kept(m, c, err);
    if (st != GF_OK) return st;
    bool kept = m->keep > 0 && c->kept < m->keep;
    gf_buffer_reset(&m->json);
    gf_buffer_reset(&m->other);
    gf_papers_capture_cdx(cdx, &m->json);
    st = gf_papers_capture_recount(m->parser, c, gf_papers_captures_count(c) + 1, &m->other, err);
    if (st == GF_OK) st = gf_buffer_check(&m->json, err);
    if (st != GF_OK) return st;
    c->history = gf_buffer_view(&m->other);
    c->kept += kept;
    st = stage_captures(m, sha1, c, err);
    if (st == GF_OK) st = stage_further(m, sha1, name, err);
    if (st != GF_OK) return st;
    put_cell(m, GF_PAPERS_F, "c", gf_buffer_view(&m->other));
    put_capture(m, kept ? name : name - 1, kept ? gf_buffer_view(&m->json) : (gf_slice){"", 0});
    return GF_OK;
}

/* With `replace` the new capture is the first; the one that was is a further one. */
static gf_status swap_first(gf_papers_import *m, const gf_sha1 *sha1, const gf_cdx *cdx,
                            const char *name, bool known, const char *old_name,
                            gf_papers_captures *c, gf_error *err)
{
    gf_batch *batch = m->out.batch;
    gf_slice key = gf_buffer_view(&m->key);
    unsigned family = m->papers->family[GF_PAPERS_CAPTURES];
    gf_status st = count_kept(m, c, err);
    if (st == GF_OK) st = stage_further(m, sha1, old_name, err);
    if (st != GF_OK) return st;
    bool kept = m->keep > 0 && (known || c->kept < m->keep);
    put_capture(m, kept ? old_name : old_name - 1, kept ? c->cdx : (gf_slice){"", 0});
    c->kept += kept && !known;
    for (int form = 0; known && form < 2; form++)
        gf_batch_delete_cell(batch, m->papers->table, key, family, gf_slice_str(name - form));
    c->count = gf_papers_captures_count(c) + !known;
    return put_first(m, sha1, cdx, c, true, err);
}

gf_status gf_papers_import_cdx(gf_papers_import *m, const gf_cdx *cdx, gf_papers_outcome *outcome,
                               gf_error *err)
{
    gf_sha1 sha1;
    gf_papers_captures c;
    char name[GF_PAPERS_CAPTURE_NAME], old_name[GF_PAPERS_CAPTURE_NAME];
    bool staged, same = false, known = false;
    memcpy(sha1.bytes, cdx->sha1, GF_SHA1_BYTES);
    gf_status st = find_captures(m, &sha1, &c, &staged, err);
    if (st == GF_OK && c.cdx.ptr) st = gf_papers_capture_name(cdx->date, cdx->url, name, err);
    if (st == GF_OK && c.cdx.ptr) st = gf_papers_captures_read(m->parser, &c, old_name, err);
    if (st != GF_OK) return st;
    if (!c.cdx.ptr) {
        *outcome = GF_PAPERS_NEW;
        st = put_first(m, &sha1, cdx, &c, staged, err);
    } else {
        same = strcmp(name, old_name) == 0;
        if (!same) st = is_further(m, &sha1, name + 1, &known, err);
        if (st == GF_OK && !c.history.ptr) { /* lost: what is there is counted */
            uint64_t all, kept;
            st = count_further(m, 0, &all, &kept, err);
            c.count = 1 + all;
        }
        if (st != GF_OK) return st;
        *outcome = m->replace      ? GF_PAPERS_REPLACED
                   : same || known ? GF_PAPERS_EXISTING
                                   : GF_PAPERS_FURTHER;
        if (*outcome == GF_PAPERS_EXISTING) return GF_OK;
        st = same         ? put_first(m, &sha1, cdx, &c, true, err)
             : m->replace ? swap_first(m, &sha1, cdx, name + 1, known, old_name + 1, &c, err)
                          : put_further(m, &sha1, cdx, name + 1, &c, err);
    }
    return st == GF_OK ? flush_if_full(m, err) : st;
}

/* ---- extraction ------------------------------------------------------------------------------ */

void gf_papers_import_time(gf_papers_import *m, int64_t ms)
{
    m->time = ms;
}

gf_status gf_papers_import_has_extraction(gf_papers_import *m, const gf_sha1 *sha1, bool *has,
                                          gf_error *err)
{
    return find_cell(m, sha1, GF_PAPERS_GROBID, "status_code", has, err);
}

static void put_text(gf_papers_import *m, const gf_papers_text *text)
{
    const struct {
        const char *column;
        const gf_compressed *value;
    } all[] = {
        {"tei_xml", &text->tei_xml}, {"tei_json", &text->tei_json}, {"metadata", &text->metadata}};
    put_cell(m, GF_PAPERS_GROBID, "quality", gf_slice_str(text->quality));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gf_batch_put_compressed(m->out.batch, m->papers->table, gf_buffer_view(&m->key),
                                m->papers->family[GF_PAPERS_GROBID], gf_slice_str(all[i].column),
                                all[i].value);
}

gf_status gf_papers_import_extraction(gf_papers_import *m, const gf_sha1 *sha1,
                                      const gf_papers_extraction *e, gf_papers_outcome *outcome,
                                      gf_error *err)
{
    bool found;
    gf_status st = gf_papers_import_has_extraction(m, sha1, &found, err);
    if (st != GF_OK) return st;
    *outcome = !found ? GF_PAPERS_NEW : m->replace ? GF_PAPERS_REPLACED : GF_PAPERS_EXISTING;
    if (*outcome == GF_PAPERS_EXISTING) return GF_OK;
    gf_buffer_reset(&m->other);
    gf_papers_put_number(&m->other, e->status_code);
    st = gf_buffer_check(&m->other, err);
    if (st == GF_OK) st = stage_digest(m, sha1, GF_PAPERS_GROBID, err);
    if (st != GF_OK) return st; /* and nothing of it is in the batch */
    if (found)
        gf_batch_delete_row(m->out.batch, m->papers->table, gf_buffer_view(&m->key),
                            UINT32_C(1) << m->papers->family[GF_PAPERS_GROBID]);
    gf_batch_put(m->out.batch, m->papers->table, gf_buffer_view(&m->key),
                 m->papers->family[GF_PAPERS_GROBID], GF_SLICE("status_code"),
                 gf_buffer_view(&m->other), m->time);
    put_cell(m, GF_PAPERS_GROBID, "status", e->status);
    if (e->text) put_text(m, e->text);
    return flush_if_full(m, err);
}

static void write_status(const gf_papers_text *text, gf_buffer *out)
{
    gf_json_writer w = gf_json_writer_to(out);
    gf_json_begin(&w, '{');
    gf_json_put_str(&w, "status", gf_tei_result_name(text->result));
    if (text->reason[0]) gf_json_put_str(&w, "reason", text->reason);
    gf_json_end(&w, '}');
}

gf_status gf_papers_import_text(gf_papers_import *m, const gf_sha1 *sha1, int64_t status_code,
                                const gf_papers_text *text, gf_papers_outcome *outcome,
                                gf_error *err)
{
    if (text->result == GF_TEI_UNSAFE) {
        bool has = false;
        gf_status found = m->replace ? GF_OK : gf_papers_import_has_extraction(m, sha1, &has, err);
        *outcome = GF_PAPERS_EXISTING;
        if (found != GF_OK || has) return found;
        return gf_fail(err, GF_EINVAL, "%s", text->reason);
    }
    gf_buffer_reset(&m->json);
    write_status(text, &m->json);
    gf_status st = gf_buffer_check(&m->json, err);
    gf_papers_extraction e = {status_code, gf_buffer_view(&m->json),
                              text->result == GF_TEI_SUCCESS ? text : NULL};
    return st == GF_OK ? gf_papers_import_extraction(m, sha1, &e, outcome, err) : st;
}

gf_status gf_papers_import_tei(gf_papers_import *m, const gf_sha1 *sha1, int64_t status_code,
                               gf_slice xml, const gf_tei *tei, gf_papers_outcome *outcome,
                               gf_error *err)
{
    gf_status st = gf_papers_text_make(xml, tei, &m->other, &m->text, err);
    return st == GF_OK ? gf_papers_import_text(m, sha1, status_code, &m->text, outcome, err) : st;
}

/* ---- the file -------------------------------------------------------------------------------- */

static gf_status put_digest(gf_json_writer *w, const char *name, const EVP_MD *kind, gf_slice bytes,
                            gf_error *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    char text[2 * EVP_MAX_MD_SIZE + 1];
    unsigned n = 0;
    if (!EVP_Digest(bytes.ptr, bytes.len, digest, &n, kind, NULL))
        return gf_fail(err, GF_EIO, "libcrypto gives no %s", name);
    for (unsigned i = 0; i < n; i++) {
        text[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    gf_json_put_string(w, name, gf_slice_of(text, 2 * (size_t)n));
    return GF_OK;
}

gf_status gf_papers_import_file(gf_papers_import *m, const gf_sha1 *sha1, const char *mime,
                                gf_slice bytes, gf_error *err)
{
    bool has_mime;
    gf_papers_magic magic;
    gf_status st = gf_papers_magic_read(bytes, &magic, err);
    if (st != GF_OK) return st;
    gf_buffer_reset(&m->json);
    gf_json_writer w = gf_json_writer_to(&m->json);
    gf_json_begin(&w, '{');
    gf_json_put_uint(&w, "size", bytes.len);
    gf_json_put_str(&w, "mime", mime);
    gf_json_put_str(&w, "magic", magic.words);
    gf_json_put_str(&w, "magic_mime", magic.mime);
    st = gf_library_load(&gf_crypto, err);
    if (st == GF_OK) st = put_digest(&w, "sha1", EVP_sha1(), bytes, err);
    if (st == GF_OK) st = put_digest(&w, "md5", EVP_md5(), bytes, err);
    if (st == GF_OK) st = put_digest(&w, "sha256", EVP_sha256(), bytes, err);
    gf_json_end(&w, '}');
    if (st == GF_OK) st = gf_buffer_check(&m->json, err);
    if (st == GF_OK) st = find_cell(m, sha1, GF_PAPERS_FILE, "mime", &has_mime, err);
    if (st != GF_OK) return st;
    m->fill->has_files = true;
    gf_buffer_reset(&m->other);
    gf_papers_put_number(&m->other, (int64_t)bytes.len);
    st = gf_buffer_check(&m->other, err);
    if (st != GF_OK) return st;
    put_cell(m, GF_PAPERS_FILE, "size", gf_buffer_view(&m->other));
    put_cell(m, GF_PAPERS_FILE, "meta", gf_buffer_view(&m->json));
    if (!has_mime) put_cell(m, GF_PAPERS_FILE, "mime", gf_slice_str(mime));
    return flush_if_full(m, err);
}

gf_status gf_papers_import_match(gf_papers_import *m, const gf_sha1 *sha1,
                                 const gf_papers_match *match, gf_error *err)
{
    gf_column columns[3] = {{GF_SLICE("mstatus"), gf_slice_str(match->mstatus)},
                            {GF_SLICE("minfo"), match->minfo},
                            {GF_SLICE("doi"), match->doi}};
    gf_buffer_reset(&m->key);
    gf_papers_key(m->papers, sha1, &m->key);
    gf_status st = gf_buffer_check(&m->key, err);
    if (st != GF_OK) return st;
    gf_batch_replace(m->out.batch, m->papers->table, gf_buffer_view(&m->key),
                     m->papers->family[GF_PAPERS_MATCH], columns, match->doi.len ? 3 : 2, 0);
    return flush_if_full(m, err);
}
