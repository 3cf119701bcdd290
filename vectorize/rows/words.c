#include "vectorize/rows/words_internal.h"

#include "base/memory.h"
#include "vectorize/rows/counted_rows_internal.h"

/* Bytes of counts that are kept in memory; chunks of fewer are put together. */
enum { MOST_KEPT = 1 << 20, SMALL_CHUNK = 128 << 10 };

void gf_words_free(gf_words *w)
{
    if (!w) return;
    for (size_t i = 0; i < w->n_chunks; i++)
        gf_buffer_release(&w->chunks[i].rows);
    gf_free(w->terms.bytes);
    gf_free(w->terms.start);
    gf_free(w->chunks);
    gf_spill_free(w->spill);
    gf_free(w);
}

uint32_t gf_words_documents(const gf_words *w)
{
    return w->n_docs;
}

gf_status gf_words_create(const char *folder, gf_words **words, gf_error *err)
{
    gf_words *w = gf_calloc(1, sizeof *w);
    if (!w) return gf_fail_memory(err, "words");
    w->folder = folder;
    *words = w;
    return GF_OK;
}

/* ---- the file -------------------------------------------------------------------------------- */

static gf_status append(gf_words *w, const void *bytes, size_t n, uint64_t *offset, gf_error *err)
{
    gf_status st = w->spill ? GF_OK : gf_spill_create(w->folder, &w->spill, err);
    if (st == GF_OK) st = gf_spill_write(w->spill, w->spilled, bytes, n, err);
    if (st != GF_OK) return st;
    *offset = w->spilled;
    w->spilled += n;
    return GF_OK;
}

static gf_status spill_chunks(gf_words *w, gf_error *err)
{
    gf_status st = GF_OK;
    for (; w->first_kept < w->n_chunks && st == GF_OK; w->first_kept++) {
        gf_word_chunk *c = &w->chunks[w->first_kept];
        st = append(w, c->rows.ptr, c->n_bytes, &c->offset, err);
        if (st != GF_OK) break;
        gf_buffer_release(&c->rows);
        c->spilled = true;
        w->kept -= c->n_bytes;
    }
    return st;
}

/* ---- collecting ------------------------------------------------------------------------------ */

static gf_status grow(gf_words *w, gf_error *err)
{
    size_t capacity = w->capacity ? w->capacity * 2 : 8;
    gf_word_chunk *grown = gf_realloc(w->chunks, capacity, sizeof *grown);
    if (!grown) return gf_fail_memory(err, "words");
    w->chunks = grown;
    w->capacity = capacity;
    return GF_OK;
}

/* True if rows go behind those of the last chunk. */
static bool joins_last(const gf_words *w, const gf_buffer *rows)
{
    if (w->n_chunks == 0) return false;
    const gf_word_chunk *last = &w->chunks[w->n_chunks - 1];
    return !last->spilled && last->n_bytes + rows->len <= SMALL_CHUNK;
}

gf_status gf_words_add(gf_words *w, gf_buffer *rows, uint32_t n, gf_error *err)
{
    gf_status st = GF_OK;
    bool joins = joins_last(w, rows);
    if (!joins && w->n_chunks == w->capacity) st = grow(w, err);
    if (st != GF_OK) return st;
    if (!joins) w->chunks[w->n_chunks++] = (gf_word_chunk){.n = 0};
    gf_word_chunk *c = &w->chunks[w->n_chunks - 1];
    w->kept += rows->len;
    w->n_docs += n;
    c->n += n;
    if (joins) {
        gf_buffer_slice(&c->rows, gf_buffer_view(rows));
        gf_buffer_release(rows);
    } else {
        c->rows = *rows;
        *rows = (gf_buffer){0};
    }
    c->n_bytes = c->rows.len;
    st = gf_buffer_check(&c->rows, err);
    return st == GF_OK && w->folder && w->kept > MOST_KEPT ? spill_chunks(w, err) : st;
}

/* ---- terms ----------------------------------------------------------------------------------- */

static gf_status copy_terms(gf_word_terms *t, gf_dictionary *dictionary, gf_error *err)
{
    t->n = dictionary ? gf_dictionary_ids(dictionary) : 0;
    t->start = gf_array((size_t)t->n + 1, sizeof *t->start);
    if (!t->start) return gf_fail_memory(err, "words");
    t->start[0] = 0;
    for (uint32_t i = 0; i < t->n; i++)
        t->start[i + 1] = t->start[i] + gf_dictionary_term(dictionary, i).len;
    t->n_bytes = t->start[t->n];
    t->bytes = gf_malloc(t->n_bytes ? t->n_bytes : 1);
    if (!t->bytes) return gf_fail_memory(err, "words");
    for (uint32_t i = 0; i < t->n; i++) {
        gf_slice term = gf_dictionary_term(dictionary, i);
        if (term.len) memcpy(t->bytes + t->start[i], term.ptr, term.len);
    }
    return GF_OK;
}

static gf_status spill_terms(gf_words *w, gf_word_terms *t, gf_error *err)
{
    uint64_t bytes;
    gf_status st = append(w, t->start, ((size_t)t->n + 1) * sizeof *t->start, &t->offset, err);
    if (st == GF_OK) st = append(w, t->bytes, t->n_bytes, &bytes, err);
    if (st != GF_OK) return st;
    gf_free(t->start);
    gf_free(t->bytes);
    t->start = NULL;
    t->bytes = NULL;
    return GF_OK;
}

gf_status gf_words_keep_terms(gf_words *w, gf_dictionary *dictionary, gf_error *err)
{
    gf_status st = copy_terms(&w->terms, dictionary, err);
    return st == GF_OK && w->spill ? spill_terms(w, &w->terms, err) : st;
}

static gf_status load_terms(const gf_words *w, gf_word_terms *t, gf_error *err)
{
    size_t starts = ((size_t)t->n + 1) * sizeof *t->start;
    t->start = gf_malloc(starts);
    t->bytes = gf_malloc(t->n_bytes ? t->n_bytes : 1);
    gf_status st = t->start && t->bytes ? GF_OK : gf_fail_memory(err, "words");
    if (st == GF_OK) st = gf_spill_read(w->spill, t->offset, t->start, starts, err);
    if (st == GF_OK) st = gf_spill_read(w->spill, t->offset + starts, t->bytes, t->n_bytes, err);
    if (st == GF_OK) return GF_OK;
    gf_free(t->start);
    gf_free(t->bytes);
    t->start = NULL;
    t->bytes = NULL;
    return st;
}

gf_status gf_words_load_terms(gf_words *w, gf_error *err)
{
    return w->terms.n && !w->terms.start ? load_terms(w, &w->terms, err) : GF_OK;
}

uint32_t gf_words_terms(const gf_words *w)
{
    return w->terms.n;
}

gf_slice gf_words_term(const gf_words *w, uint32_t term)
{
    const gf_word_terms *t = &w->terms;
    return gf_slice_of(t->bytes + t->start[term], (size_t)(t->start[term + 1] - t->start[term]));
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reader {
    gf_buffer room;   /* of a chunk that is in the file */
    uint32_t *values; /* 2 * capacity: terms, then counts */
    size_t capacity;
} reader;

static gf_status reserve(reader *r, size_t n, gf_error *err)
{
    if (n <= r->capacity) return GF_OK;
    uint32_t *grown = gf_realloc(r->values, n * 4, sizeof *grown);
    if (!grown) return gf_fail_memory(err, "words");
    r->values = grown;
    r->capacity = n * 2;
    return GF_OK;
}

static gf_status chunk_rows(const gf_words *w, const gf_word_chunk *c, reader *r,
                            const unsigned char **p, gf_error *err)
{
    *p = (const unsigned char *)c->rows.ptr;
    if (!c->spilled) return GF_OK;
    gf_buffer_reset(&r->room);
    char *to = gf_buffer_reserve(&r->room, c->n_bytes);
    *p = (const unsigned char *)to;
    return to ? gf_spill_read(w->spill, c->offset, to, c->n_bytes, err)
              : gf_buffer_check(&r->room, err);
}

/* Documents of a chunk, the first of which is `document`, from `first` up to `end`. */
static gf_status read_chunk(const gf_words *w, const gf_word_chunk *c, uint32_t document,
                            uint32_t first, uint32_t end, reader *r, gf_each_word_row *each,
                            void *context, gf_error *err)
{
    const unsigned char *p;
    gf_status st = chunk_rows(w, c, r, &p, err);
    for (uint32_t i = 0; i < c->n && document + i < end && st == GF_OK; i++) {
        gf_word_row row = {.n = 0};
        row.n = gf_rows_head(&p, &row.language);
        st = reserve(r, row.n, err);
        if (st != GF_OK) break;
        uint32_t *term = r->values, *count = r->values + r->capacity;
        for (uint32_t e = 0; e < row.n; e++)
            term[e] = gf_rows_entry(&p, &count[e]);
        row.term = term;
        row.count = count;
        if (document + i >= first) st = each(context, document + i, &row, err);
    }
    return st;
}

gf_status gf_words_each(const gf_words *w, uint32_t first, uint32_t end, gf_each_word_row *each,
                        void *context, gf_error *err)
{
    reader r = {0};
    uint32_t document = 0;
    gf_status st = GF_OK;
    for (size_t i = 0; i < w->n_chunks && document < end && st == GF_OK; i++) {
        const gf_word_chunk *c = &w->chunks[i];
        if (document + c->n > first)
            st = read_chunk(w, c, document, first, end, &r, each, context, err);
        document += c->n;
    }
    gf_buffer_release(&r.room);
    gf_free(r.values);
    return st;
}
