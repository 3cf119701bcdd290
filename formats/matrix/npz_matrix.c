/* The arrays of an .npz file become rows with ids. */
#include "formats/matrix/npz.h"
#include "formats/matrix/npz_internal.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_DENSE_COLUMNS = 1 << 20 };

/* ---- elements -------------------------------------------------------------------------------- */

/* The i-th element as a whole number; false where it is below 0 or past 63 bits. */
static bool number_at(const gf_npz_array *a, uint64_t i, uint64_t *v)
{
    const unsigned char *p = (const unsigned char *)a->bytes.ptr + i * a->header.size;
    uint64_t n = 0;
    for (uint32_t b = a->header.size; b-- > 0;)
        n = n << 8 | p[b];
    bool negative = a->header.kind == 'i' && (p[a->header.size - 1] & 0x80);
    *v = n;
    return !negative && n <= INT64_MAX;
}

/* The same of a signed one that may be below 0. */
static int64_t signed_at(const gf_npz_array *a, uint64_t i)
{
    uint64_t n;
    unsigned unused = 64 - 8 * a->header.size;
    number_at(a, i, &n);
    if (a->header.kind != 'i' || unused == 0) return (int64_t)n;
    uint64_t sign = (uint64_t)1 << (63 - unused);
    return (int64_t)((n ^ sign) - sign);
}

static double float_at(const gf_npz_array *a, uint64_t i)
{
    uint64_t n = 0;
    uint32_t half;
    float single;
    double v;
    if (a->header.kind != 'f') {
        number_at(a, i, &n);
        return a->header.kind == 'i' ? (double)signed_at(a, i) : (double)n;
    }
    number_at(a, i, &n);
    if (a->header.size == 4) {
        half = (uint32_t)n;
        memcpy(&single, &half, sizeof single);
        return (double)single;
    }
    memcpy(&v, &n, sizeof v);
    return v;
}

static bool is_whole(const gf_npz_array *a)
{
    return a->header.kind == 'i' || a->header.kind == 'u';
}

static bool is_numeric(const gf_npz_array *a)
{
    return is_whole(a) || a->header.kind == 'f' || a->header.kind == 'b';
}

static gf_status check_list(const gf_npz_array *a, bool whole, gf_error *err)
{
    if (!a->there) return gf_fail(err, GF_EINVAL, "array \"%s\" is missing", a->name);
    if (a->header.n_dimensions != 1)
        return gf_fail(err, GF_EINVAL, "array \"%s\" has %u dimensions, not 1", a->name,
                       a->header.n_dimensions);
    if (whole ? !is_whole(a) : !is_numeric(a))
        return gf_fail(err, GF_EINVAL, "array \"%s\" does not hold %snumbers", a->name,
                       whole ? "whole " : "");
    return GF_OK;
}

/* ---- sparse rows ----------------------------------------------------------------------------- */

static gf_status check_format(const gf_npz_array *format, gf_error *err)
{
    char word[8] = "";
    size_t step = format->header.kind == 'U' ? 4 : 1, n = 0;
    if (!format->there) return GF_OK;
    for (size_t i = 0; i < format->bytes.len && n + 1 < sizeof word; i += step)
        if (format->bytes.ptr[i] > ' ' && format->bytes.ptr[i] < 127)
            word[n++] = format->bytes.ptr[i];
    if (strcmp(word, "csr") == 0) return GF_OK;
    return gf_fail(err, GF_EINVAL, "the matrix is in the format \"%s\": save it with .tocsr()",
                   word);
}

static gf_status read_shape(const gf_npz_array *a, uint32_t *n_rows, uint32_t *n_cols,
                            gf_error *err)
{
    uint64_t rows = 0, cols = 0;
    gf_status st = check_list(a, true, err);
    if (st != GF_OK) return st;
    bool ok = a->header.n == 2 && number_at(a, 0, &rows) && number_at(a, 1, &cols);
    if (!ok) return gf_fail(err, GF_EINVAL, "array \"shape\" is not that of a matrix");
    if (rows >= UINT32_MAX || cols >= UINT32_MAX)
        return gf_fail(err, GF_ELIMIT,
                       "a matrix of %" PRIu64 " rows and %" PRIu64
                       " columns is too large: at most 2^32 - 2 of either",
                       rows, cols);
    *n_rows = (uint32_t)rows;
    *n_cols = (uint32_t)cols;
    return GF_OK;
}

typedef struct entry {
    uint32_t col;
    double val;
} entry;

static int by_column(const void *a, const void *b)
{
    uint32_t x = ((const entry *)a)->col, y = ((const entry *)b)->col;
    return x < y ? -1 : x > y;
}

/* One row's entries into x behind those before it: sorted, equal columns added, zeros left out. */
static gf_status take_row(const gf_npz_array *parts, uint32_t row, uint64_t from, uint64_t to,
                          entry *entries, gf_csr *x, gf_error *err)
{
    uint64_t n = to - from, at = x->start[row];
    for (uint64_t p = 0; p < n; p++) {
        uint64_t col;
        double v = float_at(&parts[GF_NPZ_DATA], from + p);
        if (!number_at(&parts[GF_NPZ_INDICES], from + p, &col) || col >= x->n_cols)
            return gf_fail(err, GF_EINVAL, "row %" PRIu32 ": a column is not below %" PRIu32, row,
                           x->n_cols);
        if (!isfinite((float)v))
            return gf_fail(err, GF_EINVAL, "row %" PRIu32 ": a value is not finite", row);
        entries[p] = (entry){(uint32_t)col, v};
    }
    qsort(entries, n, sizeof *entries, by_column);
    for (uint64_t p = 0; p < n;) {
        double v = 0;
        uint32_t col = entries[p].col;
        for (; p < n && entries[p].col == col; p++)
            v += entries[p].val;
        if ((float)v == 0 || !isfinite((float)v)) continue;
        x->col[at] = col;
        x->val[at++] = (float)v;
    }
    x->start[row + 1] = at;
    return GF_OK;
}

/* Check the starts of rows: from 0 to the number of entries, never falling. *longest is of a row. */
static gf_status check_starts(const gf_npz_array *parts, uint32_t n_rows, uint64_t *longest,
                              gf_error *err)
{
    const gf_npz_array *starts = &parts[GF_NPZ_INDPTR];
    uint64_t before = 0, at = 0;
    if (starts->header.n != (uint64_t)n_rows + 1)
        return gf_fail(err, GF_EINVAL, "array \"indptr\" does not have one entry more than rows");
    for (uint64_t i = 0; i <= n_rows; i++) {
        bool ok = number_at(starts, i, &at) && (i ? at >= before : at == 0);
        if (!ok || at > parts[GF_NPZ_DATA].header.n)
            return gf_fail(err, GF_EINVAL, "array \"indptr\" is no list of where rows begin");
        if (at - before > *longest) *longest = at - before;
        before = at;
    }
    if (at != parts[GF_NPZ_DATA].header.n || at != parts[GF_NPZ_INDICES].header.n)
        return gf_fail(err, GF_EINVAL,
                       "arrays \"data\", \"indices\" and \"indptr\" do not fit together");
    return GF_OK;
}

static gf_status take_sparse(gf_npz_array *parts, gf_npz_matrix *m, gf_error *err)
{
    uint32_t n_rows = 0, n_cols = 0;
    uint64_t longest = 0, from = 0, to = 0;
    entry *entries = NULL;
    gf_csr x = {0};
    gf_status st = check_format(&parts[GF_NPZ_FORMAT], err);
    if (st == GF_OK) st = read_shape(&parts[GF_NPZ_SHAPE], &n_rows, &n_cols, err);
    if (st == GF_OK) st = check_list(&parts[GF_NPZ_DATA], false, err);
    if (st == GF_OK) st = check_list(&parts[GF_NPZ_INDICES], true, err);
    if (st == GF_OK) st = check_list(&parts[GF_NPZ_INDPTR], true, err);
    if (st == GF_OK) st = check_starts(parts, n_rows, &longest, err);
    if (st == GF_OK) st = gf_csr_init(&x, n_rows, n_cols, parts[GF_NPZ_DATA].header.n, err);
    if (st == GF_OK) {
        entries = gf_array(longest, sizeof *entries);
        if (!entries) st = gf_fail_memory(err, "rows");
    }
    for (uint32_t i = 0; i < n_rows && st == GF_OK; i++, from = to) {
        number_at(&parts[GF_NPZ_INDPTR], (uint64_t)i + 1, &to);
        st = take_row(parts, i, from, to, entries, &x, err);
    }
    gf_free(entries);
    if (st == GF_OK)
        m->sparse = x;
    else
        gf_csr_release(&x);
    m->matrix.n_rows = n_rows;
    m->matrix.n_cols = n_cols;
    return st;
}

/* ---- dense rows ------------------------------------------------------------------------------ */

/* Row by row, from either order. */
static gf_status copy_dense(const gf_npz_array *a, float *to, gf_error *err)
{
    const gf_npy_header *h = &a->header;
    uint64_t n = h->shape[0], d = h->shape[1];
    bool ready =
        h->kind == 'f' && h->size == 4 && !h->fortran && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    if (ready && h->n) memcpy(to, a->bytes.ptr, h->n * sizeof *to);
    for (uint64_t r = 0; r < n; r++)
        for (uint64_t c = 0; c < d; c++) {
            float *v = &to[r * d + c];
            if (!ready) *v = (float)float_at(a, h->fortran ? c * n + r : r * d + c);
            if (!isfinite(*v))
                return gf_fail(err, GF_EINVAL,
                               "array \"%s\", row %" PRIu64 ": a value is not finite", a->name, r);
        }
    return GF_OK;
}

static gf_status take_dense(gf_npz_array *a, gf_npz_matrix *m, gf_error *err)
{
    const gf_npy_header *h = &a->header;
    if (h->n_dimensions != 2)
        return gf_fail(err, GF_EINVAL, "array \"%s\" has %u dimensions, not 2", a->name,
                       h->n_dimensions);
    if (!is_numeric(a)) return gf_fail(err, GF_EINVAL, "array \"%s\" holds no numbers", a->name);
    if (h->shape[0] >= UINT32_MAX || h->shape[1] > MOST_DENSE_COLUMNS || h->shape[1] == 0)
        return gf_fail(err, GF_ELIMIT,
                       "array \"%s\" has %" PRIu64 " rows of %" PRIu64
                       " columns: at most 2^32 - 2 and %d, and a column at least",
                       a->name, h->shape[0], h->shape[1], (int)MOST_DENSE_COLUMNS);
    m->dense = gf_array((size_t)h->n, sizeof *m->dense);
    if (!m->dense) return gf_fail_memory(err, "dense rows");
    gf_status st = copy_dense(a, m->dense, err);
    if (st != GF_OK) return st;
    gf_buffer_release(&a->bytes);
    m->matrix.n_rows = (uint32_t)h->shape[0];
    m->matrix.n_cols = (uint32_t)h->shape[1];
    return GF_OK;
}

/* ---- ids ------------------------------------------------------------------------------------- */

/* An element of an array of text, without the NULs that fill it up. */
static bool append_text(const gf_npz_array *a, uint64_t i, gf_buffer *out)
{
    const char *p = a->bytes.ptr + i * a->header.size;
    size_t n = a->header.size, from = out->len;
    if (a->header.kind == 'S') {
        while (n && p[n - 1] == '\0')
            n--;
        gf_buffer_append(out, p, n);
    } else {
        const unsigned char *u = (const unsigned char *)p;
        while (n >= 4 && (u[n - 4] | u[n - 3] | u[n - 2] | u[n - 1]) == 0)
            n -= 4;
        for (size_t at = 0; at < n; at += 4) {
            uint32_t c = (uint32_t)u[at] | (uint32_t)u[at + 1] << 8 | (uint32_t)u[at + 2] << 16 |
                         (uint32_t)u[at + 3] << 24;
            if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return false;
            gf_utf8_append(out, c);
        }
    }
    gf_slice s = gf_slice_of(out->ptr + from, out->len - from);
    return out->state != GF_OK || gf_utf8_valid_length(s) == s.len;
}

static gf_status append_id(const gf_npz_array *a, uint64_t i, gf_buffer *out, gf_error *err)
{
    bool ok = true;
    if (a->header.kind == 'i')
        gf_buffer_format(out, "%" PRId64, signed_at(a, i));
    else if (a->header.kind == 'u') {
        uint64_t n;
        number_at(a, i, &n);
        gf_buffer_format(out, "%" PRIu64, n);
    } else
        ok = append_text(a, i, out);
    if (!ok) return gf_fail(err, GF_EINVAL, "array \"ids\": that of row %" PRIu64 " is no text", i);
    return gf_buffer_check(out, err);
}

/* Slices of bytes, each from where the one before ended. */
static gf_status point_at(gf_npz_matrix *m, const uint64_t *end, gf_error *err)
{
    m->id = gf_array(m->matrix.n_rows, sizeof *m->id);
    if (!m->id) return gf_fail_memory(err, "ids");
    for (uint32_t i = 0; i < m->matrix.n_rows; i++) {
        uint64_t from = i ? end[i - 1] : 0;
        m->id[i] = gf_slice_of(m->id_bytes ? m->id_bytes + from : "", (size_t)(end[i] - from));
    }
    return GF_OK;
}

static gf_status take_ids(const gf_npz_array *a, gf_npz_matrix *m, gf_error *err)
{
    gf_buffer bytes = {0};
    uint32_t n = m->matrix.n_rows;
    if (a->header.n_dimensions != 1 || a->header.n != n)
        return gf_fail(err, GF_EINVAL,
                       "array \"ids\" does not have an id for each of %" PRIu32 " rows", n);
    if (!is_whole(a) && a->header.kind != 'S' && a->header.kind != 'U')
        return gf_fail(err, GF_EINVAL, "array \"ids\" holds neither text nor whole numbers");
    uint64_t *end = gf_array(n, sizeof *end);
    gf_status st = end ? GF_OK : gf_fail_memory(err, "ids");
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        st = append_id(a, i, &bytes, err);
        end[i] = bytes.len;
    }
    m->id_bytes = bytes.ptr;
    if (st == GF_OK) st = point_at(m, end, err);
    gf_free(end);
    return st;
}

static gf_status take_id_bytes(gf_npz_array *bytes, const gf_npz_array *offsets, gf_npz_matrix *m,
                               gf_error *err)
{
    uint64_t before = 0, at = 0;
    uint32_t n = m->matrix.n_rows;
    gf_status st = check_list(offsets, true, err);
    if (st != GF_OK) return st;
    if (bytes->header.kind != 'u' || bytes->header.size != 1 ||
        offsets->header.n != (uint64_t)n + 1 || !number_at(offsets, 0, &at) || at != 0)
        return gf_fail(err, GF_EINVAL,
                       "arrays \"ids_utf8\" and \"ids_offsets\" do not fit the rows");
    uint64_t *end = gf_array(n, sizeof *end);
    if (!end) return gf_fail_memory(err, "ids");
    for (uint32_t i = 0; i < n && st == GF_OK; i++, before = at) {
        bool ok =
            number_at(offsets, (uint64_t)i + 1, &at) && at >= before && at <= bytes->bytes.len;
        gf_slice s =
            ok ? gf_slice_of(bytes->bytes.ptr + before, (size_t)(at - before)) : (gf_slice){0};
        if (!ok || gf_utf8_valid_length(s) != s.len)
            st = gf_fail(err, GF_EINVAL, "array \"ids_utf8\": that of row %" PRIu32 " is no text",
                         i);
        end[i] = at;
    }
    if (st == GF_OK) {
        m->id_bytes = bytes->bytes.ptr;
        bytes->bytes = (gf_buffer){0};
        st = point_at(m, end, err);
    }
    gf_free(end);
    return st;
}

/* ---- the matrix ------------------------------------------------------------------------------ */

static gf_status take_rows(gf_npz_array *parts, gf_npz_matrix *m, gf_error *err)
{
    bool sparse = parts[GF_NPZ_INDICES].there || parts[GF_NPZ_INDPTR].there;
    bool rows = parts[GF_NPZ_ROWS].there, vectors = parts[GF_NPZ_VECTORS].there;
    if (sparse + rows + vectors > 1)
        return gf_fail(err, GF_EINVAL, "there is more than one matrix in it");
    if (sparse) return take_sparse(parts, m, err);
    if (rows || vectors) return take_dense(&parts[rows ? GF_NPZ_ROWS : GF_NPZ_VECTORS], m, err);
    return gf_fail(err, GF_EINVAL,
                   "there is no matrix in it: neither \"data\", \"indices\", \"indptr\" and "
                   "\"shape\" nor \"rows\"");
}

static gf_status make_matrix(gf_npz_array *parts, gf_npz_matrix *m, gf_error *err)
{
    gf_status st = take_rows(parts, m, err);
    if (st != GF_OK) return st;
    if (parts[GF_NPZ_IDS].there) return take_ids(&parts[GF_NPZ_IDS], m, err);
    if (parts[GF_NPZ_IDS_UTF8].there)
        return take_id_bytes(&parts[GF_NPZ_IDS_UTF8], &parts[GF_NPZ_IDS_OFFSETS], m, err);
    return gf_fail(err, GF_EINVAL, "there is no array \"ids\" in it, which says whose each row is");
}

gf_status gf_npz_read_matrix(const gf_input *input, const gf_cancel *cancel, gf_npz_matrix *out,
                             gf_error *err)
{
    gf_npz_array parts[GF_NPZ_PARTS] = {{0}};
    gf_npz_matrix m = {0};
    gf_slice name;
    gf_status st = input->next(input->context, &name, err);
    if (st != GF_OK) return st;
    st = gf_npz_read_arrays(input, cancel, parts, err);
    if (st == GF_OK) st = make_matrix(parts, &m, err);
    for (int i = 0; i < GF_NPZ_PARTS; i++)
        gf_buffer_release(&parts[i].bytes);
    if (st != GF_OK) {
        bool of_the_file = st == GF_EINVAL || st == GF_ECORRUPT || st == GF_ELIMIT;
        if (of_the_file) gf_error_prefix(err, "%.*s", GF_SLICE_ARG(name));
        gf_npz_matrix_release(&m);
        return st;
    }
    *out = m;
    out->matrix.id = out->id;
    out->matrix.sparse = m.dense ? NULL : &out->sparse; /* out must stay where it is */
    out->matrix.dense = out->dense;
    return GF_OK;
}

void gf_npz_matrix_release(gf_npz_matrix *m)
{
    gf_csr_release(&m->sparse);
    gf_free(m->dense);
    gf_free(m->id);
    gf_free(m->id_bytes);
    *m = (gf_npz_matrix){0};
}
