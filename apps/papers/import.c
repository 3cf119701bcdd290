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
#include "apps/papers/table_internal.h"

#include "base/json/writer.h"
#include "base/memory.h"
#include "base/strings.h"
#include "formats/crypto.h"
#include "storage/write_behind.h"

/* LevelDB's batch stays under 8 MiB, up to which storage keeps its memory. */
enum { MOST_CHANGES = 20000, MOST_BYTES = 7 << 20 };

typedef struct side {
    gf_strings staged[GF_PAPERS_FAMILIES]; /* digests of the batch, by what was put */
    bool has_files; /* the batch has columns of file beside those of captures */
} side;

struct gf_papers_import {
    gf_papers *papers;
    bool replace;
    side sides[2];
    side *fill, *written; /* one of them each; the second is being written, or empty */
    gf_batch *batch;
    gf_write_behind out; /* out.batch: what is filled */
    gf_row row;
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
    gf_status st = gf_batch_create(papers->db, &m->batch, err);
    if (st != GF_OK) {
        gf_free(m);
        return st;
    }
    gf_write_behind_begin(&m->out, papers->db, m->batch);
    *import = m;
    return GF_OK;
}

static void forget_staged(side *s)
{
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
    st = gf_table_get_cell(m->papers->table, NULL, gf_buffer_view(&m->key), family,
                           gf_slice_str(column), 1, &m->row, err);
    *found = st == GF_OK;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/*
 * The same of file:cdx by reading the family: where m->row has no cells then, and nothing is
 * staged, the whole of it can be written without its being read again.
 */
static gf_status find_cdx(gf_papers_import *m, const gf_sha1 *sha1, bool *found, gf_error *err)
{
    gf_buffer_reset(&m->key);
    gf_papers_key(m->papers, sha1, &m->key);
    gf_status st = gf_buffer_check(&m->key, err);
    *found = is_staged(m, sha1, GF_PAPERS_FILE);
    if (st != GF_OK || *found) return st;
    st = gf_table_get(m->papers->table, NULL, gf_buffer_view(&m->key),
                      UINT32_C(1) << GF_PAPERS_FILE, &m->row, err);
    *found = st == GF_OK && gf_row_find(&m->row, GF_PAPERS_FILE, "cdx");
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
    gf_batch_put(m->out.batch, m->papers->table, gf_buffer_view(&m->key), family,
                 gf_slice_str(column), value, 0);
}

/* Columns of a packed family, all that it has or beside others. */
static void put_all(gf_papers_import *m, unsigned family, bool whole, const gf_column *columns,
                    size_t n)
{
    gf_slice key = gf_buffer_view(&m->key);
    if (whole) gf_batch_replace(m->out.batch, m->papers->table, key, family, columns, n, 0);
    for (size_t i = 0; i < n && !whole; i++)
        gf_batch_put(m->out.batch, m->papers->table, key, family, columns[i].name, columns[i].value,
                     0);
}

/* ---- crawl ----------------------------------------------------------------------------------- */

/* JSON has no numbers that begin with 0. */
static gf_slice without_zeros(gf_slice digits)
{
    while (digits.len > 1 && digits.ptr[0] == '0')
        digits = gf_slice_skip(digits, 1);
    return digits;
}

/* {"u": ..., "d": ..., "f": ..., "o": ..., "c": 1}: one capture is known. */
static void write_history(const gf_cdx *cdx, gf_buffer *date, gf_buffer *out)
{
    gf_json_writer w = gf_json_writer_to(out);
    gf_buffer_reset(date);
    gf_cdx_write_date(cdx->date, date);
    gf_json_begin(&w, '{');
    gf_json_put_string(&w, "u", cdx->url);
    gf_json_put_string(&w, "d", gf_buffer_view(date));
    gf_json_put_string(&w, "f", cdx->warc);
    gf_json_key(&w, "o");
    gf_json_raw(&w, without_zeros(cdx->offset));
    gf_json_put_uint(&w, "c", 1);
    gf_json_end(&w, '}');
}

static void write_cdx(const gf_cdx *cdx, gf_buffer *out)
{
    gf_json_writer w = gf_json_writer_to(out);
    gf_json_begin(&w, '{');
    gf_json_put_string(&w, "surt", cdx->surt);
    gf_json_put_string(&w, "url", cdx->url);
    gf_json_put_string(&w, "dt", cdx->date);
    gf_json_put_string(&w, "warc", cdx->warc);
    gf_json_put_string(&w, "offset", cdx->offset);
    gf_json_put_string(&w, "c_size", cdx->size);
    gf_json_end(&w, '}');
}

gf_status gf_papers_import_cdx(gf_papers_import *m, const gf_cdx *cdx, gf_papers_outcome *outcome,
                               gf_error *err)
{
    gf_sha1 sha1;
    bool found;
    memcpy(sha1.bytes, cdx->sha1, GF_SHA1_BYTES);
    gf_status st = find_cdx(m, &sha1, &found, err);
    if (st != GF_OK) return st;
    *outcome = !found ? GF_PAPERS_NEW : m->replace ? GF_PAPERS_REPLACED : GF_PAPERS_EXISTING;
    if (*outcome == GF_PAPERS_EXISTING) return GF_OK;
    bool whole = m->row.n_cells == 0 && !m->fill->has_files && !m->written->has_files &&
                 !is_staged(m, &sha1, GF_PAPERS_FILE);
    gf_buffer_reset(&m->json);
    write_history(cdx, &m->other, &m->json);
    size_t history = m->json.len;
    write_cdx(cdx, &m->json);
    st = gf_buffer_check(&m->json, err);
    if (st == GF_OK) st = gf_buffer_check(&m->other, err);
    if (st == GF_OK) st = stage_digest(m, &sha1, GF_PAPERS_FILE, err);
    if (st != GF_OK) return st; /* and nothing of it is in the batch */
    gf_column c = {GF_SLICE("c"), gf_slice_of(m->json.ptr, history)};
    gf_column columns[] = {{GF_SLICE("mime"), gf_slice_str(cdx->mime)},
                           {GF_SLICE("cdx"), gf_slice_skip(gf_buffer_view(&m->json), history)}};
    put_all(m, GF_PAPERS_F, true, &c, 1);
    put_all(m, GF_PAPERS_FILE, whole, columns, 2);
    return flush_if_full(m, err);
}

/* ---- extraction ------------------------------------------------------------------------------ */

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
                                GF_PAPERS_GROBID, gf_slice_str(all[i].column), all[i].value);
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
                            UINT32_C(1) << GF_PAPERS_GROBID);
    put_cell(m, GF_PAPERS_GROBID, "status_code", gf_buffer_view(&m->other));
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
    gf_buffer_reset(&m->json);
    gf_json_writer w = gf_json_writer_to(&m->json);
    gf_json_begin(&w, '{');
    gf_json_put_uint(&w, "size", bytes.len);
    gf_json_put_str(&w, "mime", mime);
    gf_status st = gf_library_load(&gf_crypto, err);
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
    gf_batch_replace(m->out.batch, m->papers->table, gf_buffer_view(&m->key), GF_PAPERS_MATCH,
                     columns, match->doi.len ? 3 : 2, 0);
    return flush_if_full(m, err);
}
