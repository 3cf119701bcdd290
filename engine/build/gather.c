/*
 * Documents of a snapshot -> rows: those documents that the configuration is about.
 *
 * Texts stream from the store in batches of some megabytes, each analysed while the next is read,
 * by the same threads. Where ranks cluster (engine/ranks/analyse.h), they analyse, too, each a part of
 * the texts, which are handed to them in their order. Where the language has to be found, a sample of the texts is looked at: as
 * long as all of it is in one language, that is the build's; where a later part says otherwise,
 * gathering begins again, with a detection for each text if they are mixed. So a document's
 * language never depends on the batches.
 */
#include "engine/build/gather.h"

#include "base/grow.h"
#include "base/lower_bound.h"
#include "base/memory.h"
#include "engine/text/batch.h"
#include "engine/text/language_watch.h"
#include "engine/text/reader.h"
#include "storage/backend.h"
#include "vectorize/rows/analyser.h"

#include <assert.h>

/* Tokens of a small collection, which are kept for naming: some 5 MiB. */
enum { KEPT_TOKENS = 1 << 18 };

typedef struct gathering {
    const gf_build_plan *plan;
    gf_pool *pool;
    gf_build_gathered *out;
    gf_vectorizer *vectorizer; /* NULL: ranks analyse */
    gf_text_reader *reader;
    bool keeps_words;
    gf_ranks_wants wants; /* of ranks */
    gf_language_watch *watch;
    gf_fallback *fallback;      /* by which texts are analysed */
    const gf_text_group *batch; /* under analysis */
    gf_batch_texts texts;       /* of the batch */
    uint64_t first_batch;       /* documents of the first batch */
} gathering;

/* ---- the result ------------------------------------------------------------------------------ */

void gf_build_gathered_release(gf_build_gathered *g)
{
    if (g->ranks) gf_ranks_session_release(g->ranks);
    gf_free(g->ranks);
    gf_free(g->id_start);
    gf_buffer_release(&g->ids);
    gf_free(g->hours);
    gf_free(g->moments);
    gf_vectors_release(&g->vectors);
    gf_analyser_free(g->analyser);
    gf_words_free(g->words);
    gf_ranks_cells_release(&g->cells);
    gf_free(g->texts);
    gf_arena_release(&g->text_memory);
    *g = (gf_build_gathered){0};
}

gf_slice gf_build_gathered_id(const gf_build_gathered *g, uint32_t document)
{
    assert(document < g->n);
    uint64_t start = g->id_start[document], end = g->id_start[document + 1];
    return gf_slice_of(g->ids.ptr + start, (size_t)(end - start));
}

uint32_t gf_build_gathered_from(const gf_build_gathered *g, gf_slice id)
{
    uint32_t from = 0, to = g->n;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (gf_slice_compare(gf_build_gathered_id(g, middle), id) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

uint32_t gf_build_gathered_find(const gf_build_gathered *g, gf_slice id)
{
    uint32_t at = gf_build_gathered_from(g, id);
    return at < g->n && gf_slice_equal(gf_build_gathered_id(g, at), id) ? at : GF_BUILD_NONE;
}

uint32_t gf_build_find_row(const uint32_t *row_of, uint32_t n, uint32_t document)
{
    uint32_t from = gf_lower_bound(row_of, n, document);
    return from < n && row_of[from] == document ? from : GF_BUILD_NONE;
}

gf_row_file gf_build_gathered_row_file(const gf_build_gathered *g)
{
    const gf_csr *x = &g->vectors.x;
    assert(g->vectors.entries);
    return (gf_row_file){x->n_rows, x->n_cols, x->start, x->start[x->n_rows], g->vectors.entries};
}

/* ---- languages ------------------------------------------------------------------------------- */

static bool fallbacks_differ(const gf_fallback *a, const gf_fallback *b)
{
    return a->kind != b->kind || (a->kind == GF_FALLBACK_FIXED && a->language != b->language);
}

/*
 * Update the fallback by the batch. *restart: documents before it were analysed by another one, some
 * of which have no language of their own.
 */
static gf_status look_at_languages(gathering *g, bool last, bool *restart, gf_error *err)
{
    gf_language_watch *w = g->watch;
    uint64_t fell_back = w->seen;
    gf_status st = GF_OK;
    if (!g->plan->settings.detect) return GF_OK;
    for (size_t i = 0; i < g->batch->n && st == GF_OK; i++)
        st = gf_language_watch_add(w, g->batch->at[i].lang, g->batch->at[i].text, err);
    if (st == GF_OK && last) st = gf_language_watch_end(w, err);
    gf_fallback now = w->decided;
    if (st == GF_OK && now.kind == GF_FALLBACK_UNKNOWN) {
        if (g->fallback->kind != GF_FALLBACK_UNKNOWN) return GF_OK;
        st = gf_language_watch_guess(w, &now, err);
    }
    if (st != GF_OK) return st;
    *restart = fell_back > 0 && fallbacks_differ(&now, g->fallback);
    *g->fallback = now;
    return GF_OK;
}

/* ---- batches --------------------------------------------------------------------------------- */

static gf_status add_ids(gf_build_gathered *out, const gf_text_group *batch, bool with_moments,
                         gf_error *err)
{
    size_t n = (size_t)out->n + batch->n;
    if (with_moments && !gf_grow(&out->moments, &out->moments_capacity, n, sizeof *out->moments))
        return gf_fail_memory(err, "times of documents");
    if (!gf_grow(&out->id_start, &out->id_capacity, n + 1, sizeof *out->id_start) ||
        !gf_grow(&out->hours, &out->hours_capacity, n, sizeof *out->hours))
        return gf_fail_memory(err, "document ids");
    for (size_t i = 0; i < batch->n; i++) {
        out->hours[out->n] = batch->at[i].hour;
        if (with_moments) out->moments[out->n] = batch->at[i].moment;
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
    return gf_vectorizer_add(g->vectorizer, g->texts.at, g->batch->n, g->plan->options->cancel,
                             err);
}

static gf_status hand_out(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)index, (void)worker;
    gathering *g = context;
    return gf_ranks_analyse_add(g->out->ranks, g->batch,
                                g->plan->settings.detect ? g->fallback : NULL, err);
}

/* Count the batch's words here, while the next one is read. */
static gf_status count_batch(gathering *g, const gf_pool_tasks *reading, gf_error *err)
{
    const gf_build_plan *p = g->plan;
    const gf_cancel *cancel = p->options->cancel;
    gf_status st = gf_batch_texts_make(&g->texts, g->batch, p->settings.detect ? g->fallback : NULL,
                                       g->pool, cancel, err);
    if (st != GF_OK) return st;
    if (!p->spills || p->by_ranks)
        return gf_vectorizer_add_beside(g->vectorizer, g->texts.at, g->batch->n, reading, cancel,
                                        err);
    gf_pool_tasks counting = {1, count_alone, g}; /* the vectorizer has one thread's tables alone */
    return gf_pool_run_both(g->pool, reading, &counting, cancel, err);
}

/* Analyse the batch, while the next one is read. */
static gf_status add_batch(gathering *g, const gf_pool_tasks *reading, gf_error *err)
{
    const gf_build_plan *p = g->plan;
    gf_status st = add_ids(g->out, g->batch, p->settings.near_once, err);
    if (st == GF_OK && g->vectorizer) {
        st = count_batch(g, reading, err);
    } else if (st == GF_OK) {
        gf_pool_tasks handing = {1, hand_out, g};
        st = gf_pool_run_both(g->pool, &handing, reading, p->options->cancel, err);
    }
    if (st == GF_OK && g->batch->n) gf_build_plan_progress(p, "reading", g->out->n, p->size);
    return st;
}

static gf_status add_all(gathering *g, bool *restart, gf_error *err)
{
    gf_pool_tasks reading = {.n = 1};
    gf_status st = GF_OK;
    while (st == GF_OK && reading.n && !*restart) {
        st = gf_text_reader_take(g->reader, &g->batch, &reading, err);
        if (st == GF_OK) st = look_at_languages(g, reading.n == 0, restart, err);
        if (g->first_batch == 0 && st == GF_OK) g->first_batch = g->batch->n;
        if (st == GF_OK && !*restart) st = add_batch(g, &reading, err);
    }
    return st;
}

/* ---- gathering ------------------------------------------------------------------------------- */

static gf_status begin_vectorizer(gathering *g, gf_error *err)
{
    const gf_build_plan *p = g->plan;
    const char *folder = gf_store_scratch(p->store);
    gf_status st = gf_vectorizer_create(
        &p->settings.vectorizer, p->spills && !p->by_ranks ? NULL : g->pool, &g->vectorizer, err);
    if (st == GF_OK && !g->pool) gf_vectorizer_keep_tokens(g->vectorizer, KEPT_TOKENS);
    if (st == GF_OK && p->spills) st = gf_vectorizer_spill(g->vectorizer, folder, err);
    if (st == GF_OK && g->keeps_words)
        st = gf_vectorizer_keep_words(g->vectorizer, folder, false, err);
    return st;
}

static gf_status begin_ranks(gathering *g, gf_error *err)
{
    const gf_resolved *s = &g->plan->settings;
    gf_status st = gf_ranks_session_open(g->out->ranks, err);
    g->wants = (gf_ranks_wants){.index_of_words = g->keeps_words,
                                .index_of_rows = gf_build_plan_indexes_rows(g->plan),
                                .compressed = gf_database_capabilities(g->plan->store->db) &
                                              GF_BACKEND_COMPRESSED};
    return st == GF_OK
               ? gf_ranks_analyse_begin(g->out->ranks, &s->vectorizer, &g->wants, s->detect, err)
               : st;
}

static gf_status begin_gathering(gathering *g, gf_error *err)
{
    const gf_build_plan *p = g->plan;
    gf_text_reader_options o = {.store = p->store,
                                .snapshot = p->snapshot,
                                .seq = p->snapshot ? 0 : p->seq,
                                .where = p->where,
                                .settings = &p->settings,
                                .within = p->settings.within.configuration.len ? &p->within : NULL,
                                .every = p->every,
                                .offset = p->offset,
                                .threads = gf_pool_size(g->pool),
                                .small = p->options->memory > 0};
    gf_status st = gf_text_reader_open(&o, &g->reader, err);
    if (st != GF_OK) return st;
    g->keeps_words = p->keeps_words && !gf_text_reader_filters(g->reader);
    g->out->n = 0;
    gf_buffer_reset(&g->out->ids);
    gf_language_watch_again(g->watch);
    bool is_here = !g->out->ranks || !gf_ranks_analyse_is_wanted();
    return is_here ? begin_vectorizer(g, err) : begin_ranks(g, err);
}

/* Keep the texts where all came as one batch: naming then need not read them again. */
static void keep_texts(gathering *g)
{
    if (g->pool || g->first_batch != g->out->n) return;
    g->out->texts = g->texts.at;
    g->out->text_memory = gf_text_reader_keep(g->reader);
    g->texts = (gf_batch_texts){0};
}

static gf_status make_rows(gathering *g, gf_error *err)
{
    gf_build_gathered *out = g->out;
    out->counts = *gf_text_reader_counts(g->reader);
    gf_build_plan_progress(g->plan, "weighing", 0, 0);
    if (!g->vectorizer) {
        gf_status came = gf_ranks_analyse_finish(out->ranks, gf_store_scratch(g->plan->store),
                                                 &g->wants, &out->vectors, &out->cells, err);
        if (came == GF_OK && out->vectors.x.n_rows != out->n)
            came = gf_fail(err, GF_ECORRUPT, "ranks gave rows of other documents");
        return came;
    }
    gf_status st =
        gf_vectorizer_finish(g->vectorizer, &out->vectors, g->plan->options->cancel, err);
    if (st == GF_OK) st = gf_vectorizer_take_words(g->vectorizer, &out->words, err);
    if (st != GF_OK) return st;
    assert(out->vectors.x.n_rows == out->n);
    keep_texts(g);
    if (!g->pool) out->analyser = gf_vectorizer_take_analyser(g->vectorizer);
    return GF_OK;
}

static void report_ranks(void *context, const char *phase, uint64_t done, uint64_t total)
{
    gf_build_plan_progress(context, phase, done, total);
}

/* The ranks of a rebuild: where they analyse, they stay until they have clustered. */
static gf_status make_session(const gf_build_plan *plan, gf_build_gathered *out, gf_error *err)
{
    const gf_rebuild_options *by = plan->options;
    const gf_ranks_start start = {
        .n = by->ranks, .hosts = by->hosts, .threads = by->threads, .cancel = by->cancel};
    if (!plan->by_ranks || plan->every != 1) return GF_OK;
    out->ranks = gf_calloc(1, sizeof *out->ranks);
    if (!out->ranks) return gf_fail_memory(err, "ranks");
    gf_ranks_session_init(out->ranks, &start, report_ranks, (void *)plan /* only read */);
    return GF_OK;
}

gf_status gf_build_gather(const gf_build_plan *plan, gf_pool *pool, gf_build_gathered *out,
                          gf_error *err)
{
    gf_language_watch watch = {.pool = pool, .cancel = plan->options->cancel};
    gf_fallback fallback = {0};
    bool restart = true;
    gf_error why = {GF_OK, ""};
    gf_status st = make_session(plan, out, &why);
    while (st == GF_OK && restart) {
        gathering g = {
            .plan = plan, .pool = pool, .out = out, .watch = &watch, .fallback = &fallback};
        restart = false;
        st = begin_gathering(&g, &why);
        if (st == GF_OK) st = add_all(&g, &restart, &why);
        if (st == GF_OK && !restart) st = make_rows(&g, &why);
        if (st != GF_OK && out->ranks && gf_ranks_session_retries(out->ranks, &why)) {
            st = GF_OK; /* the job was lost: texts are handed out again */
            restart = true;
        }
        gf_vectorizer_free(g.vectorizer);
        gf_text_reader_close(g.reader);
        gf_free(g.texts.at);
    }
    if (fallback.kind == GF_FALLBACK_UNKNOWN) fallback.kind = GF_FALLBACK_FIXED;
    out->fallback = fallback;
    gf_language_watch_release(&watch);
    if (st != GF_OK && err) *err = why;
    return st;
}
