/* The words of a snapshot's documents -> the cells of search_cells.h. */
#include "engine/build/search_cells.h"
#include "engine/build/inverted.h"

#include "base/memory.h"

enum { CELL_BYTES = 16 << 10 };

typedef struct writing {
    gf_buffer ids; /* strings of all documents */
    gf_inverted inverted;
    uint32_t n;                             /* documents */
    bool used[GF_LANGUAGES + 1];            /* languages, by index + 1 */
    unsigned char number[GF_LANGUAGES + 1]; /* in the index */
} writing;

/* Languages of the index: those that terms have, in the order of their numbers. */
static void number_languages(writing *w)
{
    unsigned char next = 0;
    for (uint32_t i = 0; i < w->inverted.n_terms; i++)
        w->used[w->inverted.terms[i].language] = true;
    for (size_t l = 0; l <= GF_LANGUAGES; l++)
        if (w->used[l]) w->number[l] = next++;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* The index's number of the term's language, then the term's bytes. */
static void write_key(const writing *w, const gf_indexed_term *term, gf_buffer *out)
{
    gf_buffer_byte(out, (char)w->number[term->language]);
    gf_buffer_slice(out, term->term);
}

static void write_term(const writing *w, uint32_t t, gf_buffer *cell)
{
    const gf_inverted *v = &w->inverted;
    const gf_indexed_term *term = &v->terms[t];
    gf_buffer_varint(cell, term->term.len + 1);
    write_key(w, term, cell);
    gf_buffer_varint(cell, v->documents[t]);
    gf_buffer_string(cell, gf_slice_of((const char *)v->bytes + v->start[t],
                                       (size_t)(v->start[t + 1] - v->start[t])));
}

static gf_status write_terms(const writing *w, gf_build_put_cell *put, void *context, gf_error *err)
{
    gf_buffer cell = {0}, qualifier = {0};
    uint32_t n = w->inverted.n_terms;
    gf_status st = GF_OK;
    for (uint32_t t = 0; t < n && st == GF_OK;) {
        gf_buffer_reset(&cell);
        gf_buffer_reset(&qualifier);
        gf_buffer_str(&qualifier, GF_INDEX_TERM);
        write_key(w, &w->inverted.terms[t], &qualifier);
        while (t < n && cell.len < CELL_BYTES && cell.state == GF_OK)
            write_term(w, t++, &cell);
        st = gf_buffer_check(&qualifier, err);
        if (st == GF_OK) st = put(context, gf_buffer_view(&qualifier), &cell, err);
    }
    gf_buffer_release(&cell);
    gf_buffer_release(&qualifier);
    return st;
}

/* Cells of ids; the first id of each is appended to *firsts. */
static gf_status write_ids(const writing *w, gf_buffer *firsts, gf_build_put_cell *put,
                           void *context, gf_error *err)
{
    gf_buffer cell = {0}, qualifier = {0};
    gf_slice ids = gf_buffer_view(&w->ids), id;
    gf_status st = GF_OK;
    for (uint32_t from = 0; from < w->n && st == GF_OK; from += GF_INDEX_IDS) {
        gf_buffer_reset(&cell);
        gf_buffer_reset(&qualifier);
        gf_buffer_str(&qualifier, GF_INDEX_ID);
        gf_buffer_u32be(&qualifier, from / GF_INDEX_IDS);
        for (uint32_t i = from; i < w->n && i < from + GF_INDEX_IDS; i++) {
            gf_slice_take_string(&ids, &id);
            gf_buffer_string(&cell, id);
            if (i == from) gf_buffer_string(firsts, id);
        }
        st = gf_buffer_check(&qualifier, err);
        if (st == GF_OK) st = put(context, gf_buffer_view(&qualifier), &cell, err);
    }
    gf_buffer_release(&cell);
    gf_buffer_release(&qualifier);
    return st == GF_OK ? gf_buffer_check(firsts, err) : st;
}

static gf_status write_head(const writing *w, gf_slice firsts, gf_build_put_cell *put,
                            void *context, gf_error *err)
{
    gf_buffer head = {0};
    uint32_t languages = 0;
    for (size_t l = 0; l <= GF_LANGUAGES; l++)
        languages += w->used[l];
    gf_buffer_byte(&head, GF_INDEX_FORMAT);
    gf_buffer_varint(&head, w->n);
    gf_buffer_varint(&head, w->inverted.words);
    gf_buffer_varint(&head, languages);
    for (size_t l = 0; l <= GF_LANGUAGES; l++)
        if (w->used[l]) gf_buffer_string(&head, gf_slice_str(l ? gf_language_at(l - 1)->name : ""));
    gf_buffer_varint(&head, (w->n + GF_INDEX_IDS - 1) / GF_INDEX_IDS);
    gf_buffer_slice(&head, firsts);
    gf_status st = put(context, GF_SLICE(GF_INDEX_HEAD), &head, err);
    gf_buffer_release(&head);
    return st;
}

static gf_status write_cells(writing *w, gf_build_put_cell *put, void *context, gf_error *err)
{
    gf_buffer firsts = {0};
    number_languages(w);
    gf_status st = write_terms(w, put, context, err);
    if (st == GF_OK) st = put(context, GF_SLICE(GF_INDEX_LENGTHS), &w->inverted.lengths, err);
    if (st == GF_OK) st = write_ids(w, &firsts, put, context, err);
    if (st == GF_OK) st = write_head(w, gf_buffer_view(&firsts), put, context, err);
    gf_buffer_release(&firsts);
    return st;
}

gf_status gf_build_write_search_cells(const gf_build_plan *plan, gf_pool *pool,
                                      gf_build_gathered *documents, gf_build_put_cell *put,
                                      void *context, gf_error *err)
{
    writing w = {.n = 0};
    gf_words *words = NULL;
    gf_status st = gf_build_take_words(plan, pool, documents, &words, &w.ids, err);
    if (st == GF_OK) {
        w.n = gf_words_documents(words);
        st = gf_inverted_make(words, &w.inverted, err);
    }
    if (st == GF_OK) st = write_cells(&w, put, context, err);
    gf_inverted_release(&w.inverted);
    gf_words_free(words);
    gf_buffer_release(&w.ids);
    return st;
}
