#include "engine/build/inverted.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/order.h"
#include "vectorize/text/language.h"

typedef struct inverting {
    gf_inverted *out;
    const gf_words *words;
    /* by worker and language: of each of the worker's terms its place in the order, plus 1, or 0 if
       no document of that language has it; NULL: there are no documents of the language */
    uint32_t **place;
    size_t capacity;   /* of out->terms */
    uint32_t *last;    /* n_terms: last document that has the term */
    uint64_t *written; /* n_terms: end of the postings that are written */
} inverting;

void gf_inverted_release(gf_inverted *v)
{
    gf_free(v->terms);
    gf_free(v->documents);
    gf_free(v->start);
    gf_free(v->bytes);
    gf_buffer_release(&v->lengths);
    *v = (gf_inverted){0};
}

/* The places of a worker's terms in a language; NULL if memory is short. */
static uint32_t *term_places(inverting *v, const gf_word_row *row)
{
    uint32_t **at = &v->place[row->worker * (GF_LANGUAGES + 1) + row->language];
    if (!*at) *at = gf_calloc(gf_words_terms(v->words, row->worker), sizeof **at);
    return *at;
}

/* ---- terms ----------------------------------------------------------------------------------- */

static gf_status add_term(inverting *v, const gf_word_row *row, uint32_t id, gf_error *err)
{
    gf_inverted *out = v->out;
    if (out->n_terms == UINT32_MAX ||
        !gf_grow(&out->terms, &v->capacity, (size_t)out->n_terms + 1, sizeof *out->terms))
        return gf_fail_memory(err, "an index");
    out->terms[out->n_terms++] = (gf_indexed_term){gf_words_term(v->words, row->worker, id), id,
                                                   (uint16_t)row->worker, (uint16_t)row->language};
    return GF_OK;
}

static gf_status note_terms(void *context, uint32_t document, const gf_word_row *row, gf_error *err)
{
    (void)document;
    inverting *v = context;
    uint32_t *place = term_places(v, row);
    uint64_t words = 0;
    gf_status st = place ? GF_OK : gf_fail_memory(err, "an index");
    for (uint32_t e = 0; e < row->n && st == GF_OK; e++) {
        words += row->count[e];
        if (place[row->term[e]]) continue;
        st = add_term(v, row, row->term[e], err);
        place[row->term[e]] = 1;
    }
    gf_buffer_varint(&v->out->lengths, words);
    v->out->words += words;
    return st;
}

/* The terms in order: by their languages, of which there mostly is one, and then by their bytes. */
static gf_status order_terms(const gf_inverted *out, uint32_t *order, gf_error *err)
{
    uint32_t n = out->n_terms;
    gf_slice *strings = gf_array(n, sizeof *strings);
    uint32_t *language = gf_array(n, sizeof *language);
    gf_status st = strings && language ? GF_OK : gf_fail_memory(err, "an index");
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        strings[i] = out->terms[i].term;
        language[i] = out->terms[i].language;
    }
    if (st == GF_OK) st = gf_order_ranked(strings, language, GF_LANGUAGES, n, order, err);
    gf_free(strings);
    gf_free(language);
    return st;
}

/* Sort the terms, each once; `place` then has the place of each worker's terms. */
static gf_status sort_terms(inverting *v, gf_error *err)
{
    gf_inverted *out = v->out;
    uint32_t n = out->n_terms, distinct = 0;
    uint32_t *order = gf_array(n, sizeof *order);
    gf_indexed_term *sorted = gf_array(n, sizeof *sorted);
    gf_status st = order && sorted ? GF_OK : gf_fail_memory(err, "an index");
    if (st == GF_OK) st = order_terms(out, order, err);
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        const gf_indexed_term *t = &out->terms[order[i]],
                              *last = distinct ? &sorted[distinct - 1] : NULL;
        if (!last || t->language != last->language || !gf_slice_equal(t->term, last->term))
            sorted[distinct++] = *t;
        v->place[t->worker * (GF_LANGUAGES + 1u) + t->language][t->id] = distinct;
    }
    gf_free(order);
    if (st != GF_OK) {
        gf_free(sorted);
        return st;
    }
    gf_free(out->terms);
    out->terms = sorted;
    out->n_terms = distinct;
    return GF_OK;
}

/* ---- postings -------------------------------------------------------------------------------- */

static inline size_t varint_length(uint64_t v)
{
    return (size_t)(70 - __builtin_clzll(v | 1)) / 7;
}

static inline unsigned char *write_varint(unsigned char *to, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *to++ = (unsigned char)(v | 0x80);
    *to++ = (unsigned char)v;
    return to;
}

static gf_status measure_postings(void *context, uint32_t document, const gf_word_row *row,
                                  gf_error *err)
{
    inverting *v = context;
    const uint32_t *place = term_places(v, row);
    if (!place) return gf_fail_memory(err, "an index");
    for (uint32_t e = 0; e < row->n; e++) {
        uint32_t t = place[row->term[e]] - 1;
        size_t n = varint_length((uint64_t)(document - v->last[t]) << 1);
        if (row->count[e] > 1) n += varint_length(row->count[e] - 2);
        v->last[t] = document;
        v->out->start[t + 1] += n;
        v->out->documents[t]++;
    }
    return GF_OK;
}

static gf_status write_row_postings(void *context, uint32_t document, const gf_word_row *row,
                                    gf_error *err)
{
    inverting *v = context;
    const uint32_t *place = term_places(v, row);
    if (!place) return gf_fail_memory(err, "an index");
    for (uint32_t e = 0; e < row->n; e++) {
        uint32_t t = place[row->term[e]] - 1, count = row->count[e];
        unsigned char *from = v->out->bytes + v->written[t];
        unsigned char *to =
            write_varint(from, (uint64_t)(document - v->last[t]) << 1 | (count > 1));
        if (count > 1) to = write_varint(to, count - 2);
        v->last[t] = document;
        v->written[t] += (uint64_t)(to - from);
    }
    return GF_OK;
}

static gf_status write_postings(inverting *v, gf_error *err)
{
    gf_inverted *out = v->out;
    uint32_t n = out->n_terms;
    v->last = gf_calloc(n, sizeof *v->last);
    v->written = gf_array(n, sizeof *v->written);
    out->documents = gf_calloc(n, sizeof *out->documents);
    out->start = gf_calloc((size_t)n + 1, sizeof *out->start);
    if (!v->last || !v->written || !out->documents || !out->start)
        return gf_fail_memory(err, "an index");
    gf_status st = gf_words_each(v->words, 0, UINT32_MAX, measure_postings, v, err);
    if (st != GF_OK) return st;
    for (uint32_t t = 0; t < n; t++) {
        v->written[t] = out->start[t];
        out->start[t + 1] += out->start[t];
    }
    memset(v->last, 0, n * sizeof *v->last);
    out->bytes = gf_malloc(out->start[n] ? out->start[n] : 1);
    if (!out->bytes) return gf_fail_memory(err, "an index");
    return gf_words_each(v->words, 0, UINT32_MAX, write_row_postings, v, err);
}

gf_status gf_inverted_make(gf_words *words, gf_inverted *out, gf_error *err)
{
    inverting v = {.out = out, .words = words};
    size_t n = (size_t)gf_words_workers(words) * (GF_LANGUAGES + 1);
    v.place = gf_calloc(n, sizeof *v.place);
    gf_status st = v.place ? gf_words_load_terms(words, err) : gf_fail_memory(err, "an index");
    if (st == GF_OK) st = gf_words_each(words, 0, UINT32_MAX, note_terms, &v, err);
    if (st == GF_OK) st = gf_buffer_check(&out->lengths, err);
    if (st == GF_OK) st = sort_terms(&v, err);
    if (st == GF_OK) st = write_postings(&v, err);
    for (size_t i = 0; v.place && i < n; i++)
        gf_free(v.place[i]);
    gf_free(v.place);
    gf_free(v.last);
    gf_free(v.written);
    return st;
}
