/*
 * Documents of a snapshot -> rows: of those that the configuration is about.
 *
 * Texts stream from the store in batches of some megabytes, each analysed while the next is read,
 * by the same threads. Where the language has to be found, a sample of the texts is looked at: as
 * long as all of it is in one language, that is the build's; where a later part says otherwise,
 * gathering begins again, with a detection for each text if they are mixed. So a document's
 * language never depends on the batches.
 */
#include "engine/build/internal.h"

#include "base/memory.h"
#include "engine/text/batch.h"
#include "engine/text/language_watch.h"
#include "engine/text/reader.h"

#include <string.h>

typedef struct gathering {
    gf_job *job;
    gf_vectorizer *vectorizer;
    gf_text_reader *reader;
    gf_language_watch *watch;
    gf_fallback *fallback;      /* that texts are analysed by */
    const gf_text_group *batch; /* that is analysed */
    gf_batch_texts texts;       /* of the batch */
    uint64_t first_batch;       /* documents of it */
} gathering;

/* ---- languages ------------------------------------------------------------------------------- */

static bool differ(const gf_fallback *a, const gf_fallback *b)
{
    return a->kind != b->kind || (a->kind == GF_FALLBACK_FIXED && a->language != b->language);
}

/*
 * What the batch says of the fallback. *restart: the documents before it were analysed by another
 * one.
 */
static gf_status look_at_languages(gathering *g, bool last, bool *restart, gf_error *err)
{
    gf_language_watch *w = g->watch;
    gf_status st = GF_OK;
    if (!g->job->settings.detect) return GF_OK;
    for (size_t i = 0; i < g->batch->n && st == GF_OK; i++)
        st = gf_language_watch_add(w, g->batch->at[i].lang, g->batch->at[i].text, err);
    if (st == GF_OK && last) st = gf_language_watch_end(w, err);
    gf_fallback now = w->decided;
    if (st == GF_OK && now.kind == GF_FALLBACK_UNKNOWN) {
        if (g->fallback->kind != GF_FALLBACK_UNKNOWN) return GF_OK;
        st = gf_language_watch_guess(w, &now, err);
    }
    if (st != GF_OK) return st;
    *restart = gf_vectorizer_size(g->vectorizer) > 0 && differ(&now, g->fallback);
    *g->fallback = now;
    return GF_OK;
}

/* ---- batches --------------------------------------------------------------------------------- */

static gf_status reserve_ids(gf_gathered *out, size_t n, gf_error *err)
{
    size_t capacity = out->id_capacity ? out->id_capacity : 64;
    if (n + 1 <= out->id_capacity) return GF_OK;
    while (capacity < n + 1)
        capacity *= 2;
    uint64_t *start = gf_realloc(out->id_start, capacity, sizeof *start);
    if (!start) return gf_fail_memory(err, "document ids");
    out->id_start = start;
    out->id_capacity = capacity;
    return GF_OK;
}

static gf_status add_ids(gf_gathered *out, const gf_text_group *batch, gf_error *err)
{
    gf_status st = reserve_ids(out, (size_t)out->n + batch->n, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < batch->n; i++) {
        out->id_start[out->n++] = out->ids.len;
        gf_buffer_slice(&out->ids, batch->at[i].id);
    }
    out->id_start[out->n] = out->ids.len;
    return gf_buffer_check(&out->ids, err);
}

static gf_status count_alone(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)index, (void)worker;
    gathering *g = context;
    return gf_vectorizer_add(g->vectorizer, g->texts.at, g->batch->n, g->job->options->cancel, err);
}

/* Analyse the batch, while the next one is read. */
static gf_status add_batch(gathering *g, const gf_tasks *reading, gf_error *err)
{
    gf_job *j = g->job;
    const gf_cancel *cancel = j->options->cancel;
    gf_status st = add_ids(&j->documents, g->batch, err);
    if (st == GF_OK)
        st = gf_batch_texts_make(&g->texts, g->batch, j->settings.detect ? g->fallback : NULL,
                                 j->pool, cancel, err);
    if (st != GF_OK) return st;
    if (j->spills) { /* the vectorizer has one thread's tables alone */
        gf_tasks counting = {1, count_alone, g};
        st = gf_pool_run_both(j->pool, reading, &counting, cancel, err);
    } else {
        st =
            gf_vectorizer_add_beside(g->vectorizer, g->texts.at, g->batch->n, reading, cancel, err);
    }
    if (g->batch->n) gf_job_tell(j, "reading", gf_vectorizer_size(g->vectorizer), j->size);
    return st;
}

static gf_status add_all(gathering *g, bool *restart, gf_error *err)
{
    gf_tasks reading = {.n = 1};
    gf_status st = GF_OK;
    while (st == GF_OK && reading.n && !*restart) {
        st = gf_text_reader_take(g->reader, &g->batch, &reading, err);
        if (st == GF_OK) st = look_at_languages(g, reading.n == 0, restart, err);
        if (g->first_batch == 0 && st == GF_OK) g->first_batch = g->batch->n;
        if (st == GF_OK && !*restart) st = add_batch(g, &reading, err);
    }
    return st;
}

/* ---- a walk ---------------------------------------------------------------------------------- */

static gf_status begin(gathering *g, gf_error *err)
{
    gf_job *j = g->job;
    gf_text_reader_options o = {.store = j->store,
                                .snapshot = j->snapshot,
                                .where = j->where,
                                .settings = &j->settings,
                                .every = j->every,
                                .threads = gf_pool_size(j->pool),
                                .small = j->options->memory > 0};
    gf_status st = gf_text_reader_open(&o, &g->reader, err);
    const char *folder = gf_folder_path(j->store->folder);
    if (st == GF_OK)
        st = gf_vectorizer_create(&j->settings.vectorizer, j->spills ? NULL : j->pool,
                                  &g->vectorizer, err);
    if (st == GF_OK && j->spills) st = gf_vectorizer_spill(g->vectorizer, folder, err);
    if (st == GF_OK && j->keeps_words && !gf_text_reader_filters(g->reader))
        st = gf_vectorizer_keep_words(g->vectorizer, folder, false, err);
    j->documents.n = 0;
    gf_buffer_reset(&j->documents.ids);
    gf_language_watch_again(g->watch);
    return st;
}

/* Naming reads the texts of few documents again, which came as one batch. */
static void keep_texts(gathering *g)
{
    gf_job *j = g->job;
    if (j->pool || g->first_batch != j->documents.n) return;
    j->texts = g->texts.at;
    j->text_memory = gf_text_reader_keep(g->reader);
    g->texts = (gf_batch_texts){0};
}

static gf_status finish(gathering *g, gf_error *err)
{
    gf_job *j = g->job;
    j->documents.counts = *gf_text_reader_counts(g->reader);
    gf_job_tell(j, "weighing", 0, 0);
    gf_status st =
        gf_vectorizer_finish(g->vectorizer, &j->documents.vectors, j->options->cancel, err);
    if (st == GF_OK) st = gf_vectorizer_take_words(g->vectorizer, &j->words, err);
    if (st == GF_OK) keep_texts(g);
    if (st == GF_OK && !j->pool) j->analyser = gf_vectorizer_take_analyser(g->vectorizer);
    return st;
}

static gf_status gather_once(gf_job *j, gf_language_watch *watch, gf_fallback *fallback,
                             bool *restart, gf_error *err)
{
    gathering g = {.job = j, .watch = watch, .fallback = fallback};
    *restart = false;
    gf_status st = begin(&g, err);
    if (st == GF_OK) st = add_all(&g, restart, err);
    if (st == GF_OK && !*restart) st = finish(&g, err);
    gf_vectorizer_free(g.vectorizer);
    gf_text_reader_close(g.reader);
    gf_free(g.texts.at);
    return st;
}

gf_status gf_job_gather(gf_job *j, gf_error *err)
{
    gf_language_watch watch = {.pool = j->pool, .cancel = j->options->cancel};
    gf_fallback fallback = {0};
    bool restart = true;
    gf_status st = GF_OK;
    while (st == GF_OK && restart)
        st = gather_once(j, &watch, &fallback, &restart, err);
    if (fallback.kind == GF_FALLBACK_UNKNOWN) fallback.kind = GF_FALLBACK_FIXED;
    j->documents.fallback = fallback;
    gf_language_watch_release(&watch);
    return st;
}
