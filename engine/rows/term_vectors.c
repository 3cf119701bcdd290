#include "engine/rows/term_vectors.h"

#include "base/memory.h"
#include "engine/rows/scan.h"
#include "storage/tables.h"

#include <math.h>
#include <string.h>

#define HEAD  "words"
#define BLOCK "words:"

enum { FORMAT = 1, BLOCK_BYTES = 64 << 10, LARGEST = 127, SCALE_BYTES = 4 };

void gf_term_vectors_release(gf_term_vectors *v)
{
    gf_free(v->scale);
    gf_free(v->value);
    *v = (gf_term_vectors){0};
}

static gf_status make_room(gf_term_vectors *v, uint32_t n, uint32_t d, gf_error *err)
{
    *v = (gf_term_vectors){.n = n, .d = d};
    v->scale = gf_calloc(n, sizeof *v->scale);
    v->value = gf_calloc(n, d);
    if (v->scale && v->value) return GF_OK;
    gf_term_vectors_release(v);
    return gf_fail_memory(err, "word vectors");
}

gf_status gf_term_vectors_take(gf_term_vectors *v, uint32_t n, uint32_t d, const float *row,
                               const bool *known, gf_error *err)
{
    gf_status st = make_room(v, n, d, err);
    for (uint32_t t = 0; t < n && st == GF_OK; t++) {
        const float *from = row + (size_t)t * d;
        float largest = 0;
        for (uint32_t c = 0; c < d && known[t]; c++)
            largest = fmaxf(largest, fabsf(from[c]));
        v->scale[t] = largest / LARGEST;
        for (uint32_t c = 0; c < d && v->scale[t] > 0; c++)
            v->value[(size_t)t * d + c] = (signed char)lrintf(from[c] / v->scale[t]);
    }
    return st;
}

double gf_term_vectors_row(const gf_term_vectors *v, gf_row_view terms, double *sum, float *to)
{
    double squares = 0;
    memset(sum, 0, v->d * sizeof *sum);
    for (uint32_t p = 0; p < terms.n; p++) {
        uint32_t t = terms.col[p];
        if (t >= v->n || !(v->scale[t] > 0)) continue;
        double weight = (double)terms.val[p] * (double)v->scale[t];
        const signed char *value = v->value + (size_t)t * v->d;
        for (uint32_t c = 0; c < v->d; c++)
            sum[c] += weight * value[c];
    }
    for (uint32_t c = 0; c < v->d; c++)
        squares += sum[c] * sum[c];
    double length = sqrt(squares);
    if (!(length > 1e-12)) return 0;
    for (uint32_t c = 0; c < v->d; c++)
        to[c] = (float)(sum[c] / length);
    return length;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_float(float f, gf_buffer *out)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    char bytes[SCALE_BYTES] = {(char)bits, (char)(bits >> 8), (char)(bits >> 16),
                               (char)(bits >> 24)};
    gf_buffer_append(out, bytes, sizeof bytes);
}

gf_status gf_term_vectors_write(const gf_term_vectors *v, gf_put_kept_rows *put, void *context,
                                gf_error *err)
{
    gf_buffer name = {0}, value = {0};
    gf_status st = GF_OK;
    for (uint32_t t = 0; t < v->n && st == GF_OK;) {
        gf_buffer_reset(&name);
        gf_buffer_reset(&value);
        gf_buffer_str(&name, BLOCK);
        gf_buffer_u32be(&name, t);
        for (; t < v->n && value.len < BLOCK_BYTES && value.state == GF_OK; t++) {
            write_float(v->scale[t], &value);
            if (v->scale[t] > 0) gf_buffer_append(&value, v->value + (size_t)t * v->d, v->d);
        }
        st = gf_buffer_check(&name, err);
        if (st == GF_OK) st = gf_buffer_check(&value, err);
        if (st == GF_OK) st = put(context, gf_buffer_view(&name), &value, err);
    }
    gf_buffer_reset(&value);
    gf_buffer_byte(&value, FORMAT);
    gf_buffer_varint(&value, v->d);
    gf_buffer_varint(&value, v->n);
    gf_buffer_u64be(&value, v->hash);
    if (st == GF_OK) st = gf_buffer_check(&value, err);
    if (st == GF_OK) st = put(context, GF_SLICE(HEAD), &value, err);
    gf_buffer_release(&name);
    gf_buffer_release(&value);
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

static gf_status damaged(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "the word vectors of a build are damaged");
}

static gf_status read_head(gf_slice bytes, gf_term_vectors *v, gf_error *err)
{
    enum { MOST_COLUMNS = 1 << 14 };
    gf_slice format;
    uint32_t n, d;
    uint64_t hash;
    bool good = gf_slice_take_bytes(&bytes, 1, &format) && format.ptr[0] == FORMAT &&
                gf_slice_take_varint32(&bytes, &d) && gf_slice_take_varint32(&bytes, &n) &&
                gf_slice_take_u64be(&bytes, &hash) && bytes.len == 0 && d > 0 && d <= MOST_COLUMNS;
    if (!good) return damaged(err);
    gf_status st = make_room(v, n, d, err);
    if (st == GF_OK) v->hash = hash;
    return st;
}

static float read_float(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    uint32_t bits =
        (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static bool take_term(gf_slice *block, gf_term_vectors *v, uint32_t t)
{
    gf_slice scale, bytes;
    if (t >= v->n || !gf_slice_take_bytes(block, SCALE_BYTES, &scale)) return false;
    float s = read_float(scale.ptr);
    if (!isfinite(s) || s < 0) return false;
    v->scale[t] = s;
    if (!(s > 0)) return true;
    if (!gf_slice_take_bytes(block, v->d, &bytes)) return false;
    memcpy(v->value + (size_t)t * v->d, bytes.ptr, v->d);
    return true;
}

static gf_status read_blocks(gf_table *builds, const gf_snapshot *snapshot, gf_slice key,
                             gf_term_vectors *v, gf_error *err)
{
    gf_scan *scan = NULL;
    gf_row row = {0};
    uint32_t t = 0;
    bool more = true;
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = snapshot, .family = GF_BUILDS_MODEL,
                                        .prefix = key, .qualifier_prefix = GF_SLICE(BLOCK));
    gf_status st = gf_scan_open(builds, &o, &scan, err);
    while (st == GF_OK && (st = gf_scan_step(scan, &row, &more, err)) == GF_OK && more) {
        gf_slice block = row.cells[0].value;
        bool good = block.len > 0;
        while (good && block.len)
            good = take_term(&block, v, t++);
        if (!good) st = damaged(err);
    }
    if (st == GF_OK && t != v->n) st = damaged(err);
    gf_scan_close(scan);
    gf_row_release(&row);
    return st;
}

gf_status gf_term_vectors_load(gf_table *builds, const gf_snapshot *snapshot, gf_slice key,
                               gf_term_vectors *v, gf_error *err)
{
    gf_row row = {0};
    *v = (gf_term_vectors){0};
    gf_status st =
        gf_table_get_cell(builds, snapshot, key, GF_BUILDS_MODEL, GF_SLICE(HEAD), 1, &row, err);
    if (st == GF_ENOTFOUND) st = gf_fail(err, GF_ECORRUPT, "a build has lost its word vectors");
    if (st == GF_OK) st = read_head(row.cells[0].value, v, err);
    gf_row_release(&row);
    if (st == GF_OK) st = read_blocks(builds, snapshot, key, v, err);
    if (st != GF_OK) gf_term_vectors_release(v);
    return st;
}
