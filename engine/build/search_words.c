/*
 * The words of all documents of a collection, for its index: those that were counted while the rows
 * were made, or where these were of some documents alone, or not kept, counted now.
 */
#include "engine/build/search_cells.h"

#include "base/memory.h"
#include "engine/text/batch.h"
#include "engine/text/reader.h"

typedef struct counting {
    const gf_job *job;
    gf_vectorizer *vectorizer;
    gf_text_reader *reader;
    gf_buffer *ids;
    const gf_text_group *batch;
    gf_batch_texts texts; /* of the batch */
} counting;

/* Count the batch, while the next one is read. */
static gf_status add_batch(counting *c, const gf_tasks *reading, gf_error *err)
{
    const gf_job *j = c->job;
    const gf_cancel *cancel = j->options->cancel;
    size_t n = c->batch->n;
    for (size_t i = 0; i < n; i++)
        gf_buffer_string(c->ids, c->batch->at[i].id);
    gf_status st = gf_buffer_check(c->ids, err);
    if (st == GF_OK)
        st = gf_batch_texts_make(&c->texts, c->batch,
                                 j->settings.detect ? &j->documents.fallback : NULL, j->pool,
                                 cancel, err);
    if (st == GF_OK)
        st = gf_vectorizer_add_beside(c->vectorizer, c->texts.at, n, reading, cancel, err);
    gf_job_tell(j, "indexing", gf_vectorizer_size(c->vectorizer), j->size);
    return st;
}

static gf_status count_texts(const gf_job *j, gf_words **words, gf_buffer *ids, gf_error *err)
{
    counting c = {.job = j, .ids = ids};
    gf_text_reader_options o = {.store = j->store,
                                .snapshot = j->snapshot,
                                .where = j->where,
                                .threads = gf_pool_size(j->pool),
                                .small = j->options->memory > 0};
    gf_tasks reading = {.n = 1};
    gf_status st = gf_text_reader_open(&o, &c.reader, err);
    if (st == GF_OK)
        st = gf_vectorizer_create(&j->settings.vectorizer, j->pool, &c.vectorizer, err);
    if (st == GF_OK)
        st = gf_vectorizer_keep_words(c.vectorizer, gf_folder_path(j->store->folder), true, err);
    while (st == GF_OK && reading.n) {
        st = gf_text_reader_take(c.reader, &c.batch, &reading, err);
        if (st == GF_OK) st = add_batch(&c, &reading, err);
    }
    if (st == GF_OK) st = gf_vectorizer_take_words(c.vectorizer, words, err);
    gf_vectorizer_free(c.vectorizer);
    gf_text_reader_close(c.reader);
    gf_free(c.texts.at);
    return st;
}

gf_status gf_job_take_words(gf_job *j, gf_words **words, gf_buffer *ids, gf_error *err)
{
    if (!j->words) return count_texts(j, words, ids, err);
    for (uint32_t i = 0; i < j->documents.n; i++)
        gf_buffer_string(ids, gf_gathered_id(&j->documents, i));
    *words = j->words;
    j->words = NULL;
    return gf_buffer_check(ids, err);
}
