/*
 * Tables of word vectors as safetensors:
 *
 *     8 bytes     length of the header, little-endian
 *     header      JSON: {"name": {"dtype": "F32", "shape": [n, d], "data_offsets": [from, to]}, ...}
 *     data        offsets count from here
 *
 * Nothing that the header says is believed before it was compared with the file's size.
 */
#include "formats/matrix/word_vectors_internal.h"

#include "base/json/json.h"
#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The format's own bound of a header. */
enum { MOST_HEADER = 100000000, HEAD = 8, STEP = 1 << 18 };

typedef enum number_type { F32, F16, BF16, F64, N_TYPES } number_type;

static const struct {
    const char *name;
    uint32_t size;
} types[N_TYPES] = {{"F32", 4}, {"F16", 2}, {"BF16", 2}, {"F64", 8}};

typedef struct tensor {
    char name[64];
    number_type type;
    uint64_t n, d, from; /* from: of the file's beginning */
} tensor;

/* A word's share in a row. */
typedef struct wanted {
    uint32_t row, spelling;
} wanted;

/* ---- numbers --------------------------------------------------------------------------------- */

static uint64_t read_bytes(const unsigned char *p, uint32_t n)
{
    uint64_t v = 0;
    while (n-- > 0)
        v = v << 8 | p[n];
    return v;
}

static float from_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static float from_half(uint32_t h)
{
    uint32_t sign = (h & 0x8000) << 16, exponent = h >> 10 & 0x1F, fraction = h & 0x3FF;
    if (exponent == 0x1F) return from_bits(sign | 0x7F800000 | fraction << 13);
    if (exponent) return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    float v = ldexpf((float)fraction, -24);
    return sign ? -v : v;
}

static float read_number(const unsigned char *p, number_type type)
{
    uint64_t bits = read_bytes(p, types[type].size);
    double wide;
    switch (type) {
    case F16:
        return from_half((uint32_t)bits);
    case BF16:
        return from_bits((uint32_t)bits << 16);
    case F64:
        memcpy(&wide, &bits, sizeof wide);
        return (float)wide;
    default:
        return from_bits((uint32_t)bits);
    }
}

/* ---- the header ------------------------------------------------------------------------------ */

static bool read_type(gf_slice name, number_type *type)
{
    for (int t = 0; t < N_TYPES; t++) {
        if (!gf_slice_equal(name, gf_slice_str(types[t].name))) continue;
        *type = (number_type)t;
        return true;
    }
    return false;
}

/* Two whole numbers, neither below 0. */
static bool read_pair(gf_json_value v, uint64_t pair[2], uint32_t *n)
{
    gf_json_value item;
    if (gf_json_kind_of(v) != GF_JSON_ARRAY) return false;
    gf_json_iterator it = gf_json_items(v);
    for (*n = 0; gf_json_next(&it, NULL, &item); ++*n) {
        if (gf_json_kind_of(item) != GF_JSON_INT || gf_json_get_int(item) < 0) return false;
        if (*n < 2) pair[*n] = (uint64_t)gf_json_get_int(item);
    }
    return true;
}

/* The tensor that holds the words: by its name, else the only one of two dimensions. */
static gf_status find_tensor(gf_json_value root, gf_slice *name, gf_json_value *found,
                             gf_error *err)
{
    static const char *const usual[] = {"embeddings", "embedding.weight", "embeddings.weight",
                                        "vectors"};
    gf_json_value item, shape;
    gf_json_iterator it;
    uint32_t candidates = 0, n;
    uint64_t pair[2];
    if (gf_json_kind_of(root) != GF_JSON_OBJECT)
        return gf_fail(err, GF_EINVAL, "byte 8: the header is no JSON object");
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (gf_json_member(root, usual[i], found)) {
            *name = gf_slice_str(usual[i]);
            return GF_OK;
        }
    gf_slice at;
    for (it = gf_json_items(root); gf_json_next(&it, &at, &item);) {
        bool is_table = gf_json_kind_of(item) == GF_JSON_OBJECT &&
                        gf_json_member(item, "shape", &shape) && read_pair(shape, pair, &n) &&
                        n == 2;
        if (!is_table) continue;
        candidates++;
        *name = at;
        *found = item;
    }
    if (candidates == 1) return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "%" PRIu32 " tensors have two dimensions, and none is called \"embeddings\"",
                   candidates);
}

static gf_status read_tensor(gf_json_value root, uint64_t data, uint64_t size, tensor *t,
                             gf_error *err)
{
    gf_slice name = {0};
    gf_json_value v, dtype, shape, offsets;
    uint64_t sides[2], span[2];
    uint32_t n, m;
    gf_status st = find_tensor(root, &name, &v, err);
    if (st != GF_OK) return st;
    snprintf(t->name, sizeof t->name, "%.*s", GF_SLICE_ARG(name));
    bool good = gf_json_kind_of(v) == GF_JSON_OBJECT && gf_json_member(v, "dtype", &dtype) &&
                gf_json_kind_of(dtype) == GF_JSON_STRING && gf_json_member(v, "shape", &shape) &&
                read_pair(shape, sides, &n) && n == 2 &&
                gf_json_member(v, "data_offsets", &offsets) && read_pair(offsets, span, &m) &&
                m == 2;
    if (!good)
        return gf_fail(err, GF_EINVAL, "tensor \"%s\" lacks a dtype, a shape of two or offsets",
                       t->name);
    if (!read_type(gf_json_get_string(dtype), &t->type))
        return gf_fail(err, GF_EINVAL, "tensor \"%s\" holds %.*s: F32, F16, BF16 or F64 is read",
                       t->name, GF_SLICE_ARG(gf_json_get_string(dtype)));
    t->n = sides[0];
    t->d = sides[1];
    if (t->n == 0 || t->n >= UINT32_MAX || t->d == 0 || t->d > GF_MOST_WORD_COLUMNS)
        return gf_fail(err, GF_ELIMIT,
                       "tensor \"%s\" has %" PRIu64 " rows of %" PRIu64
                       " columns: at most 2^32 - 2 and %d, and one of each at least",
                       t->name, t->n, t->d, (int)GF_MOST_WORD_COLUMNS);
    uint64_t bytes = t->n * t->d * types[t->type].size; /* below 2^49 */
    if (span[1] < span[0] || span[1] - span[0] != bytes || span[1] > size - data)
        return gf_fail(err, GF_EINVAL,
                       "tensor \"%s\": offsets %" PRIu64 " to %" PRIu64 " of %" PRIu64
                       " bytes do not hold its %" PRIu64 " x %" PRIu64 " %s",
                       t->name, span[0], span[1], size - data, t->n, t->d, types[t->type].name);
    t->from = data + span[0];
    return GF_OK;
}

static gf_status cut(uint64_t at, gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "byte %" PRIu64 ": the file is cut", at);
}

static gf_status read_header(FILE *in, XXH3_state_t *hash, tensor *t, gf_error *err)
{
    unsigned char head[HEAD];
    struct stat file;
    gf_json_parser *parser = NULL;
    gf_json_value root;
    if (fstat(fileno(in), &file) != 0 || !S_ISREG(file.st_mode))
        return gf_fail(err, GF_EINVAL, "it is no file");
    uint64_t size = (uint64_t)file.st_size;
    if (fread(head, 1, HEAD, in) != HEAD) return cut(0, err);
    uint64_t length = read_bytes(head, HEAD);
    if (length > MOST_HEADER || length > size - HEAD)
        return gf_fail(err, GF_EINVAL,
                       "byte 0: a header of %" PRIu64 " bytes, in a file of %" PRIu64, length,
                       size);
    char *text = gf_array((size_t)length + 1, 1);
    if (!text) return gf_fail_memory(err, "a header");
    gf_status st = fread(text, 1, (size_t)length, in) == length ? GF_OK : cut(HEAD, err);
    XXH3_64bits_update(hash, head, HEAD);
    if (st == GF_OK) XXH3_64bits_update(hash, text, (size_t)length);
    if (st == GF_OK) st = gf_json_parser_create(&parser, err);
    if (st == GF_OK) {
        st = gf_json_parse_copy(parser, gf_slice_of(text, (size_t)length), &root, err);
        if (st == GF_EINVAL) gf_error_prefix(err, "byte 8: the header");
    }
    if (st == GF_OK) st = read_tensor(root, HEAD + length, size, t, err);
    gf_json_parser_free(parser);
    gf_free(text);
    return st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int by_row(const void *a, const void *b)
{
    const wanted *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return x->spelling < y->spelling ? -1 : x->spelling > y->spelling;
}

/* The rows that are needed, rising; GF_EINVAL for one that the tensor lacks. */
static gf_status list_wanted(gf_word_search *s, const gf_word_vocabulary *v, uint64_t n_rows,
                             wanted **list, size_t *n, gf_error *err)
{
    uint32_t rows[GF_MOST_PIECES];
    size_t capacity = 0;
    for (uint32_t i = 0; i < s->spellings.n; i++)
        capacity += gf_word_vocabulary_find(v, gf_strings_at(&s->spellings, i), rows);
    *n = 0;
    *list = gf_array(capacity, sizeof **list);
    if (!*list) return gf_fail_memory(err, "word vectors");
    for (uint32_t i = 0; i < s->spellings.n; i++) {
        uint32_t m = gf_word_vocabulary_find(v, gf_strings_at(&s->spellings, i), rows);
        for (uint32_t p = 0; p < m; p++) {
            if (rows[p] >= n_rows)
                return gf_fail(err, GF_EINVAL,
                               "the vocabulary has a word of row %" PRIu32 ", the tensor %" PRIu64
                               " rows",
                               rows[p], n_rows);
            (*list)[(*n)++] = (wanted){rows[p], i};
        }
    }
    qsort(*list, *n, sizeof **list, by_row);
    return GF_OK;
}

/* Add a row to the words that want it, from *at on in the list. */
static gf_status add_row(gf_word_search *s, const tensor *t, uint64_t row,
                         const unsigned char *bytes, const wanted *list, size_t n, size_t *at,
                         gf_error *err)
{
    for (; *at < n && list[*at].row == row; ++*at) {
        uint32_t spelling = list[*at].spelling;
        float *to = s->row + (size_t)spelling * s->d;
        s->parts[spelling]++;
        for (uint32_t c = 0; c < s->d; c++) {
            float v = read_number(bytes + (size_t)c * types[t->type].size, t->type);
            if (!isfinite(v))
                return gf_fail(err, GF_EINVAL,
                               "byte %" PRIu64 ": row %" PRIu64 " of \"%s\" is not finite",
                               t->from + (row * t->d + c) * types[t->type].size, row, t->name);
            to[c] += v;
        }
    }
    return GF_OK;
}

static gf_status read_rows(FILE *in, gf_word_search *s, const tensor *t, const wanted *list,
                           size_t n, gf_error *err)
{
    size_t width = (size_t)t->d * types[t->type].size, at = 0;
    uint64_t most = STEP / width ? STEP / width : 1;
    unsigned char *bytes = gf_array((size_t)most, width);
    if (!bytes) return gf_fail_memory(err, "word vectors");
    gf_status st = fseeko(in, (off_t)t->from, SEEK_SET) == 0 ? GF_OK : cut(t->from, err);
    for (uint64_t row = 0; row < t->n && st == GF_OK;) {
        uint64_t m = t->n - row < most ? t->n - row : most;
        size_t got = fread(bytes, width, (size_t)m, in);
        st = gf_cancel_check(s->cancel, err);
        if (st == GF_OK && got != m) st = cut(t->from + (row + got) * width, err);
        if (st != GF_OK) break;
        XXH3_64bits_update(s->hash, bytes, got * width);
        for (uint64_t i = 0; i < m && st == GF_OK; i++, row++)
            st = add_row(s, t, row, bytes + i * width, list, n, &at, err);
    }
    gf_free(bytes);
    return st;
}

gf_status gf_word_safetensors_read(const char *path, gf_word_search *s, gf_error *err)
{
    gf_word_vocabulary vocabulary = {.has_pieces = false};
    tensor t = {.n = 0};
    wanted *list = NULL;
    size_t n = 0;
    FILE *in = fopen(path, "rb");
    if (!in) return gf_fail(err, GF_EIO, "%s", strerror(errno));
    gf_status st = read_header(in, s->hash, &t, err);
    if (st == GF_OK) st = gf_word_vocabulary_read(path, s->hash, &vocabulary, err);
    if (st == GF_OK) st = gf_word_search_begin(s, t.d, err);
    if (st == GF_OK) st = list_wanted(s, &vocabulary, t.n, &list, &n, err);
    if (st == GF_OK) st = read_rows(in, s, &t, list, n, err);
    s->words = vocabulary.words.n;
    gf_free(list);
    gf_word_vocabulary_release(&vocabulary);
    fclose(in);
    return st;
}
