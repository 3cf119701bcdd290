#include "vectorize/rows/vocabulary.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <xxhash.h>

void gf_vocabulary_release(gf_vocabulary *v)
{
    gf_free(v->df);
    gf_free(v->idf);
    gf_free(v->start);
    gf_free(v->bytes);
    gf_free(v->slots);
    *v = (gf_vocabulary){0};
}

static uint64_t hash_of(gf_slice term)
{
    return XXH3_64bits(term.ptr ? term.ptr : "", term.len);
}

/* The slot of a term, or the empty one where it belongs. */
static size_t probe(const gf_vocabulary *v, gf_slice term, uint64_t hash)
{
    size_t mask = v->capacity - 1, i = (size_t)hash & mask;
    for (; v->slots[i]; i = (i + 1) & mask)
        if (v->slots[i] >> 32 == hash >> 32 &&
            gf_slice_equal(gf_vocabulary_term(v, (uint32_t)v->slots[i] - 1), term))
            break;
    return i;
}

uint32_t gf_vocabulary_find(const gf_vocabulary *v, gf_slice term)
{
    if (v->n_terms == 0) return GF_TERM_NONE;
    uint64_t slot = v->slots[probe(v, term, hash_of(term))];
    return slot ? (uint32_t)slot - 1 : GF_TERM_NONE;
}

static gf_status allocate(gf_vocabulary *v, const gf_vocabulary_parts *parts, gf_error *err)
{
    size_t n = parts->n_terms, total = 0;
    for (size_t i = 0; i < n; i++)
        total += parts->term[i].len + parts->surface[i].len;
    v->capacity = 16;
    while (v->capacity < n * 2)
        v->capacity *= 2;
    v->df = gf_array(n, sizeof *v->df);
    v->idf = gf_array(n, sizeof *v->idf);
    v->start = gf_array(2 * n + 1, sizeof *v->start);
    v->bytes = gf_malloc(total);
    v->slots = gf_calloc(v->capacity, sizeof *v->slots);
    if (v->df && v->idf && v->start && v->bytes && v->slots) return GF_OK;
    return gf_fail_memory(err, "a vocabulary");
}

static void copy_string(gf_vocabulary *v, size_t i, gf_slice s)
{
    if (s.len) memcpy(v->bytes + v->start[i], s.ptr, s.len);
    v->start[i + 1] = v->start[i] + s.len;
}

/* Appends term i; terms come in order. False where it is there already. */
static bool add_term(gf_vocabulary *v, const gf_vocabulary_parts *parts, uint32_t i)
{
    uint64_t hash = hash_of(parts->term[i]);
    size_t slot = probe(v, parts->term[i], hash);
    if (v->slots[slot]) return false;
    copy_string(v, 2 * (size_t)i, parts->term[i]);
    copy_string(v, 2 * (size_t)i + 1, parts->surface[i]);
    v->slots[slot] = (hash & 0xFFFFFFFF00000000u) | (i + 1);
    v->df[i] = parts->df[i];
    v->idf[i] =
        i < parts->n_regular ? gf_weight_idf(parts->idf_kind, parts->n_docs, parts->df[i]) : 1;
    return true;
}

gf_status gf_vocabulary_init(gf_vocabulary *v, const gf_vocabulary_parts *parts, gf_error *err)
{
    gf_vocabulary made = {.n_docs = parts->n_docs,
                          .n_terms = parts->n_terms,
                          .n_regular = parts->n_regular,
                          .idf_kind = parts->idf_kind};
    gf_status st = allocate(&made, parts, err);
    if (st == GF_OK) made.start[0] = 0;
    for (uint32_t i = 0; i < parts->n_terms && st == GF_OK; i++)
        if (!add_term(&made, parts, i))
            st = gf_fail(err, GF_EINVAL, "two terms are \"%.*s\"", GF_SLICE_ARG(parts->term[i]));
    if (st != GF_OK) {
        gf_vocabulary_release(&made);
        return st;
    }
    *v = made;
    return GF_OK;
}

static const gf_slice magic = {"GFvocab\x01", 8};
enum { LEAST_BYTES = 5 /* of a term: its df, two bytes of string, two of surface */ };

/* ---- writing --------------------------------------------------------------------------------- */

static size_t shared_prefix(gf_slice a, gf_slice b)
{
    size_t n = 0;
    while (n < a.len && n < b.len && a.ptr[n] == b.ptr[n])
        n++;
    return n;
}

static bool starts_part(uint32_t i, uint32_t n_regular)
{
    return i == 0 || i == n_regular;
}

void gf_vocabulary_write(const gf_vocabulary *v, gf_buffer *out)
{
    size_t from = out->len;
    gf_buffer_slice(out, magic);
    gf_buffer_varint(out, v->n_docs);
    gf_buffer_varint(out, v->n_regular);
    gf_buffer_varint(out, v->n_terms);
    gf_buffer_varint(out, v->idf_kind);
    for (uint32_t i = 0; i < v->n_terms; i++)
        gf_buffer_varint(out, (starts_part(i, v->n_regular) ? v->n_docs : v->df[i - 1]) - v->df[i]);
    for (uint32_t i = 0; i < v->n_terms; i++) {
        gf_slice term = gf_vocabulary_term(v, i), surface = gf_vocabulary_surface(v, i);
        size_t shared = shared_prefix(term, surface);
        gf_buffer_string(out, term);
        gf_buffer_varint(out, shared);
        gf_buffer_string(out, gf_slice_skip(surface, shared));
    }
    if (gf_buffer_check(out, NULL) == GF_OK)
        gf_buffer_u64be(out, XXH3_64bits(out->ptr + from, out->len - from));
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reader {
    gf_slice rest;
    gf_vocabulary_parts parts;
    uint32_t *df;      /* n_terms, as all arrays here */
    gf_slice *term;    /* into the bytes read */
    gf_slice *surface; /* into surfaces */
    char *surfaces;    /* the surfaces, one behind the other */
} reader;

static gf_status damaged(gf_error *err, const char *what)
{
    return gf_fail(err, GF_ECORRUPT, "a stored vocabulary is damaged: %s", what);
}

static gf_status read_head(reader *r, gf_slice bytes, gf_error *err)
{
    uint64_t sum;
    uint32_t kind;
    gf_vocabulary_parts *p = &r->parts;
    if (!gf_slice_starts(bytes, magic))
        return gf_fail(err, GF_ECORRUPT,
                       "a stored vocabulary is damaged, or of an unknown version");
    if (bytes.len < magic.len + sizeof sum) return damaged(err, "it is cut off");
    gf_slice content = gf_slice_of(bytes.ptr, bytes.len - sizeof sum);
    sum = gf_read_u64be(content.ptr + content.len);
    if (XXH3_64bits(content.ptr, content.len) != sum) return damaged(err, "wrong checksum");
    r->rest = gf_slice_skip(content, magic.len);
    if (!gf_slice_take_varint32(&r->rest, &p->n_docs) ||
        !gf_slice_take_varint32(&r->rest, &p->n_regular) ||
        !gf_slice_take_varint32(&r->rest, &p->n_terms) || !gf_slice_take_varint32(&r->rest, &kind))
        return damaged(err, "its head");
    if (p->n_regular > p->n_terms || p->n_terms > r->rest.len / LEAST_BYTES ||
        kind > GF_IDF_SMOOTH_SHARP)
        return damaged(err, "its counts");
    p->idf_kind = (gf_idf)kind;
    return GF_OK;
}

static gf_status read_df(reader *r, gf_error *err)
{
    const gf_vocabulary_parts *p = &r->parts;
    for (uint32_t i = 0; i < p->n_terms; i++) {
        uint32_t less, before = starts_part(i, p->n_regular) ? p->n_docs : r->df[i - 1];
        if (!gf_slice_take_varint32(&r->rest, &less) || less >= before)
            return damaged(err, "a document frequency");
        r->df[i] = before - less;
    }
    return GF_OK;
}

static bool is_text(gf_slice s)
{
    return s.len > 0 && gf_utf8_valid_length(s) == s.len;
}

/* The surface of a term is built behind those before it; `used` counts the bytes. */
static bool read_strings(reader *r, uint32_t i, size_t *used)
{
    gf_slice rest_of_surface;
    uint32_t shared;
    if (!gf_slice_take_string(&r->rest, &r->term[i]) || !is_text(r->term[i]) ||
        !gf_slice_take_varint32(&r->rest, &shared) || shared > r->term[i].len ||
        !gf_slice_take_string(&r->rest, &rest_of_surface))
        return false;
    char *to = r->surfaces + *used;
    memcpy(to, r->term[i].ptr, shared);
    if (rest_of_surface.len) memcpy(to + shared, rest_of_surface.ptr, rest_of_surface.len);
    r->surface[i] = gf_slice_of(to, shared + rest_of_surface.len);
    *used += r->surface[i].len;
    return is_text(r->surface[i]);
}

static gf_status read_terms(reader *r, gf_error *err)
{
    size_t used = 0;
    for (uint32_t i = 0; i < r->parts.n_terms; i++) {
        if (!read_strings(r, i, &used)) return damaged(err, "a term");
        if (!starts_part(i, r->parts.n_regular) && r->df[i] == r->df[i - 1] &&
            gf_slice_compare(r->term[i - 1], r->term[i]) >= 0)
            return damaged(err, "the order of its terms");
    }
    return r->rest.len ? damaged(err, "bytes behind its terms") : GF_OK;
}

/*
 * A surface is made of a start of its term and of bytes of its own, and no byte serves two of them:
 * all surfaces together are no longer than what is left to read.
 */
static gf_status allocate_parts(reader *r, gf_error *err)
{
    size_t n = r->parts.n_terms;
    r->df = gf_array(n, sizeof *r->df);
    r->term = gf_array(n, sizeof *r->term);
    r->surface = gf_array(n, sizeof *r->surface);
    r->surfaces = gf_malloc(r->rest.len);
    if (!r->df || !r->term || !r->surface || !r->surfaces)
        return gf_fail_memory(err, "a vocabulary");
    r->parts.df = r->df;
    r->parts.term = r->term;
    r->parts.surface = r->surface;
    return GF_OK;
}

gf_status gf_vocabulary_read(gf_slice bytes, gf_vocabulary *v, gf_error *err)
{
    reader r = {.df = NULL};
    gf_status st = read_head(&r, bytes, err);
    if (st == GF_OK) st = allocate_parts(&r, err);
    if (st == GF_OK) st = read_df(&r, err);
    if (st == GF_OK) st = read_terms(&r, err);
    if (st == GF_OK) st = gf_vocabulary_init(v, &r.parts, err);
    if (st == GF_EINVAL) st = damaged(err, "two terms are the same");
    gf_free(r.df);
    gf_free(r.term);
    gf_free(r.surface);
    gf_free(r.surfaces);
    return st;
}
