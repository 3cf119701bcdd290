#include "engine/rows/kept_rows.h"

#include "base/memory.h"
#include "engine/rows/model.h"
#include "engine/rows/scan.h"
#include "storage/tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define HEAD  "rows"
#define BLOCK "rows:"

enum { FORMAT = 1, BLOCK_BYTES = 64 << 10, LARGEST = 127, SCALE_BYTES = 4 };

/* ---- writing --------------------------------------------------------------------------------- */

static void write_float(float v, gf_buffer *out)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    char bytes[SCALE_BYTES] = {(char)bits, (char)(bits >> 8), (char)(bits >> 16),
                               (char)(bits >> 24)};
    gf_buffer_append(out, bytes, sizeof bytes);
}

/* The columns that the row lacks are 0. */
static void write_dense(gf_row_view row, uint32_t n_cols, gf_buffer *out)
{
    float largest = 0;
    for (uint32_t p = 0; p < row.n; p++)
        largest = fmaxf(largest, fabsf(row.val[p]));
    float scale = largest / LARGEST;
    write_float(scale, out);
    char *to = gf_buffer_reserve(out, n_cols);
    if (!to) return;
    memset(to, 0, n_cols);
    for (uint32_t p = 0; p < row.n && scale > 0; p++)
        to[row.col[p]] = (char)(signed char)lrintf(row.val[p] / scale);
    out->len += n_cols;
}

static gf_status put_block(gf_kept_rows_writer *w, gf_error *err)
{
    gf_status st = gf_buffer_check(&w->qualifier, err);
    if (st == GF_OK) st = gf_buffer_check(&w->block, err);
    if (st == GF_OK && w->block.len)
        st = w->put(w->context, gf_buffer_view(&w->qualifier), &w->block, err);
    gf_buffer_reset(&w->block);
    return st;
}

gf_status gf_kept_rows_add(gf_kept_rows_writer *w, gf_slice id, gf_row_view row, gf_error *err)
{
    gf_status st = w->block.len >= BLOCK_BYTES ? put_block(w, err) : GF_OK;
    if (st != GF_OK) return st;
    if (w->block.len == 0) {
        gf_buffer_reset(&w->qualifier);
        gf_buffer_str(&w->qualifier, BLOCK);
        gf_buffer_slice(&w->qualifier, id);
    }
    gf_buffer_string(&w->block, id);
    if (w->sparse) {
        gf_buffer bytes = {0};
        gf_model_vector_write(row, &bytes);
        st = gf_buffer_check(&bytes, err);
        gf_buffer_string(&w->block, gf_buffer_view(&bytes));
        gf_buffer_release(&bytes);
    } else {
        write_dense(row, w->n_cols, &w->block);
    }
    w->n++;
    return st == GF_OK ? gf_buffer_check(&w->block, err) : st;
}

gf_status gf_kept_rows_end(gf_kept_rows_writer *w, gf_error *err)
{
    if (w->n == 0) return GF_OK;
    gf_status st = put_block(w, err);
    gf_buffer_byte(&w->block, FORMAT);
    gf_buffer_byte(&w->block, w->sparse ? 's' : 'd');
    gf_buffer_varint(&w->block, w->n_cols);
    gf_buffer_varint(&w->block, w->n);
    if (st == GF_OK) st = gf_buffer_check(&w->block, err);
    return st == GF_OK ? w->put(w->context, GF_SLICE(HEAD), &w->block, err) : st;
}

void gf_kept_rows_writer_release(gf_kept_rows_writer *w)
{
    gf_buffer_release(&w->qualifier);
    gf_buffer_release(&w->block);
}

/* ---- reading --------------------------------------------------------------------------------- */

static gf_status damaged(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "the rows that a build keeps are damaged");
}

static float read_float(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    uint32_t bits =
        (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static bool read_head(gf_slice bytes, gf_kept_rows *r)
{
    gf_slice first;
    if (!gf_slice_take_bytes(&bytes, 2, &first) || first.ptr[0] != FORMAT) return false;
    r->sparse = first.ptr[1] == 's';
    return (r->sparse || first.ptr[1] == 'd') && gf_slice_take_varint32(&bytes, &r->n_cols) &&
           gf_slice_take_varint(&bytes, &r->n) && bytes.len == 0 && r->n_cols > 0 && r->n > 0;
}

/* Room for a dense row; its columns are all there are. */
static gf_status make_dense_room(gf_kept_rows *r, gf_error *err)
{
    if (r->capacity) return GF_OK;
    r->col = gf_array(r->n_cols, sizeof *r->col);
    r->val = gf_array(r->n_cols, sizeof *r->val);
    if (!r->col || !r->val) return gf_fail_memory(err, "a row");
    r->capacity = r->n_cols;
    for (uint32_t c = 0; c < r->n_cols; c++)
        r->col[c] = c;
    return GF_OK;
}

gf_status gf_kept_rows_open(gf_kept_rows *rows, gf_table *builds, const gf_snapshot *snapshot,
                            gf_slice key, gf_error *err)
{
    gf_kept_rows r = {.builds = builds, .snapshot = snapshot, .key = key};
    gf_status st =
        gf_table_get_cell(builds, snapshot, key, GF_BUILDS_MODEL, GF_SLICE(HEAD), 1, &r.row, err);
    if (st == GF_OK && !read_head(r.row.cells[0].value, &r)) st = damaged(err);
    if (st == GF_OK)
        *rows = r;
    else
        gf_kept_rows_release(&r);
    return st;
}

void gf_kept_rows_release(gf_kept_rows *r)
{
    gf_row_release(&r->row);
    gf_buffer_release(&r->before);
    gf_free(r->col);
    gf_free(r->val);
    *r = (gf_kept_rows){0};
}

static gf_status read_dense(gf_kept_rows *r, gf_slice bytes, gf_row_view *row, gf_error *err)
{
    float s = read_float(bytes.ptr);
    if (!isfinite(s)) return damaged(err);
    gf_status st = make_dense_room(r, err);
    for (uint32_t c = 0; st == GF_OK && c < r->n_cols; c++)
        r->val[c] = s * (float)(signed char)bytes.ptr[SCALE_BYTES + c];
    *row = (gf_row_view){r->col, r->val, r->n_cols};
    return st;
}

static gf_status read_sparse(gf_kept_rows *r, gf_slice bytes, gf_row_view *row, gf_error *err)
{
    uint32_t n = 0;
    gf_free(r->col);
    gf_free(r->val);
    r->col = NULL;
    r->val = NULL;
    gf_status st = gf_model_vector_read(bytes, r->n_cols, &r->col, &r->val, &n, err);
    *row = (gf_row_view){r->col, r->val, n};
    return st;
}

static gf_status read_row(gf_kept_rows *r, gf_slice bytes, gf_row_view *row, gf_error *err)
{
    return r->sparse ? read_sparse(r, bytes, row, err) : read_dense(r, bytes, row, err);
}

/* Take the next row's id and bytes off the cell at hand. */
static gf_status take_row(gf_kept_rows *r, gf_slice *id, gf_slice *bytes, gf_error *err)
{
    bool good = gf_slice_take_string(&r->rest, id);
    if (good && r->sparse)
        good = gf_slice_take_string(&r->rest, bytes);
    else if (good)
        good = gf_slice_take_bytes(&r->rest, SCALE_BYTES + (size_t)r->n_cols, bytes);
    if (!good) return damaged(err);
    gf_buffer_reset(&r->before);
    gf_buffer_slice(&r->before, *id);
    return gf_buffer_check(&r->before, err);
}

/* Read the cell that a document's row is in: the last that does not begin behind it. */
static gf_status read_block(gf_kept_rows *r, gf_slice id, gf_error *err)
{
    gf_buffer after = {0};
    gf_scan *scan = NULL;
    gf_buffer_str(&after, BLOCK);
    gf_buffer_slice(&after, id);
    gf_buffer_byte(&after, '\0');
    gf_status st = gf_buffer_check(&after, err);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = r->snapshot, .family = GF_BUILDS_MODEL,
                                        .prefix = r->key, .qualifier_prefix = GF_SLICE(BLOCK),
                                        .after_qualifier = gf_buffer_view(&after), .reverse = true);
    if (st == GF_OK) st = gf_scan_open(r->builds, &o, &scan, err);
    if (st == GF_OK) st = gf_scan_next(scan, &r->row, err);
    gf_scan_close(scan);
    gf_buffer_release(&after);
    return st;
}

gf_status gf_kept_rows_find(gf_kept_rows *r, gf_slice id, gf_row_view *row, gf_error *err)
{
    gf_slice at, bytes;
    bool goes_on = r->rest.len && gf_slice_compare(gf_buffer_view(&r->before), id) < 0;
    for (int reads = goes_on ? 0 : 1; reads < 2; reads++) {
        if (reads) {
            gf_status st = read_block(r, id, err);
            r->rest = st == GF_OK ? r->row.cells[0].value : (gf_slice){0};
            if (st != GF_OK) return st;
        }
        while (r->rest.len) {
            gf_slice here = r->rest;
            gf_status st = take_row(r, &at, &bytes, err);
            if (st != GF_OK) return st;
            int order = gf_slice_compare(at, id);
            if (order == 0) return read_row(r, bytes, row, err);
            if (order < 0) continue;
            r->rest = here; /* the next call may ask for it */
            gf_buffer_reset(&r->before);
            gf_buffer_slice(&r->before, id);
            st = gf_buffer_check(&r->before, err);
            return st == GF_OK ? GF_ENOTFOUND : st;
        }
    }
    return GF_ENOTFOUND;
}

gf_status gf_kept_rows_each(gf_kept_rows *r, gf_each_kept_row *each, void *context, gf_error *err)
{
    gf_scan *scan = NULL;
    gf_buffer last = {0};
    uint64_t n = 0;
    bool more = true;
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = r->snapshot, .family = GF_BUILDS_MODEL,
                                        .prefix = r->key, .qualifier_prefix = GF_SLICE(BLOCK));
    gf_status st = gf_scan_open(r->builds, &o, &scan, err);
    while (st == GF_OK && (st = gf_scan_step(scan, &r->row, &more, err)) == GF_OK && more) {
        gf_slice id, bytes;
        gf_row_view row;
        r->rest = r->row.cells[0].value;
        while (st == GF_OK && r->rest.len) {
            st = take_row(r, &id, &bytes, err);
            if (st == GF_OK && n++ && gf_slice_compare(gf_buffer_view(&last), id) >= 0)
                st = damaged(err);
            if (st == GF_OK) st = read_row(r, bytes, &row, err);
            if (st == GF_OK) st = each(context, id, row, err);
            gf_buffer_reset(&last);
            gf_buffer_slice(&last, st == GF_OK ? id : (gf_slice){0});
            if (st == GF_OK) st = gf_buffer_check(&last, err);
        }
    }
    if (st == GF_OK && n != r->n) st = damaged(err);
    r->rest = (gf_slice){0};
    gf_scan_close(scan);
    gf_buffer_release(&last);
    return st;
}
