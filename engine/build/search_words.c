/*
 * The words of all documents of a collection, for its index: those that gathering kept, else they
 * are counted now. Gathering keeps none if the configuration leaves documents out.
 */
#include "engine/build/search_cells.h"

#include "base/grow.h"
#include "base/memory.h"
#include "engine/text/batch.h"
#include "engine/text/reader.h"

static gf_status add_ids(gf_indexed_words *out, const gf_text_group *batch, gf_error *err)
{
    size_t n = out->ids.n + batch->n;
    if (n >= UINT32_MAX) return gf_fail(err, GF_ELIMIT, "too many documents");
    if (!gf_grow(&out->start, &out->capacity, n + 1, sizeof *out->start))
        return gf_fail_memory(err, "an index");
    out->start[0] = 0;
    for (size_t i = 0; i < batch->n; i++) {
        gf_buffer_slice(&out->bytes, batch->at[i].id);
        out->start[++out->ids.n] = out->bytes.len;
    }
    return gf_buffer_check(&out->bytes, err);
}

/* Append the ids of the batch, and count its words while the next one is read. */
static gf_status count_batch(const gf_build_plan *plan, gf_pool *pool, const gf_fallback *fallback,
                             const gf_text_group *batch, const gf_pool_tasks *reading,
                             gf_batch_texts *texts, gf_vectorizer *vectorizer,
                             gf_indexed_words *out, gf_error *err)
{
    const gf_cancel *cancel = plan->options->cancel;
    gf_status st = add_ids(out, batch, err);
    if (st == GF_OK) st = gf_batch_texts_make(texts, batch, fallback, pool, cancel, err);
    if (st == GF_OK)
        st = gf_vectorizer_add_beside(vectorizer, texts->at, batch->n, reading, cancel, err);
    gf_build_plan_progress(plan, "indexing", gf_vectorizer_size(vectorizer), plan->size);
    return st;
}

static gf_status count_texts(const gf_build_plan *plan, gf_pool *pool, const gf_fallback *fallback,
                             gf_indexed_words *out, gf_error *err)
{
    gf_text_reader_options o = {.store = plan->store,
                                .snapshot = plan->snapshot,
                                .seq = plan->snapshot ? 0 : plan->seq,
                                .where = plan->where,
                                .threads = gf_pool_size(pool),
                                .small = plan->options->memory > 0};
    const char *folder = gf_store_scratch(plan->store);
    gf_text_reader *reader = NULL;
    gf_vectorizer *vectorizer = NULL;
    gf_batch_texts texts = {0};
    const gf_text_group *batch;
    gf_pool_tasks reading = {.n = 1};
    gf_status st = gf_text_reader_open(&o, &reader, err);
    if (st == GF_OK) st = gf_vectorizer_create(&plan->settings.vectorizer, pool, &vectorizer, err);
    if (st == GF_OK) st = gf_vectorizer_keep_words(vectorizer, folder, true, err);
    while (st == GF_OK && reading.n) {
        st = gf_text_reader_take(reader, &batch, &reading, err);
        if (st == GF_OK)
            st = count_batch(plan, pool, fallback, batch, &reading, &texts, vectorizer, out, err);
    }
    if (st == GF_OK) st = gf_vectorizer_take_words(vectorizer, &out->words, err);
    out->ids.start = out->start;
    out->ids.bytes = out->bytes.ptr;
    gf_vectorizer_free(vectorizer);
    gf_text_reader_close(reader);
    gf_free(texts.at);
    return st;
}

gf_status gf_build_take_words(const gf_build_plan *plan, gf_pool *pool,
                              gf_build_gathered *documents, gf_indexed_words *out, gf_error *err)
{
    if (!documents->words) {
        const gf_fallback *fallback = plan->settings.detect ? &documents->fallback : NULL;
        return count_texts(plan, pool, fallback, out, err);
    }
    out->ids = (gf_index_ids){documents->n, documents->id_start, documents->ids.ptr};
    out->words = documents->words;
    documents->words = NULL;
    return GF_OK;
}

void gf_indexed_words_release(gf_indexed_words *w)
{
    gf_words_free(w->words);
    gf_buffer_release(&w->bytes);
    gf_free(w->start);
    *w = (gf_indexed_words){0};
}
