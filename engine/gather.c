/*
 * Documents of a snapshot -> rows: of those that the configuration is about.
 *
 * Texts stream from the store in groups of some megabytes, each tokenised in parallel while the
 * next is read. Where the language has to be found, a sample of each group is looked at: as long as
 * all groups are in one language, that is the build's; where a later group says otherwise,
 * gathering begins again, with a detection for each text if they are mixed. So a document's
 * language never depends on the groups.
 */
#include "engine/rebuild_internal.h"

#include "base/background.h"
#include "base/memory.h"
#include "engine/filter.h"
#include "vectorize/detect.h"

#include <stdlib.h>
#include <string.h>

/* Share of the texts that must be in one language for all to count as in it. */
#define SHARED 0.95

enum {
    GROUP_BYTES = 8 << 20,
    SMALL_GROUP_BYTES = 1 << 20, /* where memory is short */
    GROUP_DOCUMENTS = 20000,
    LANGUAGE_SAMPLE = 500
};

typedef struct pending_text {
    gf_slice text, lang;
} pending_text;

/* Documents that are analysed together. */
typedef struct group {
    gf_arena arena;        /* of the texts */
    pending_text *pending; /* n of capacity */
    gf_text *texts;        /* capacity */
    size_t n, capacity, bytes;
} group;

typedef struct gathering {
    gf_job *job;
    gf_vectorizer *vectorizer;
    gf_gathered *out;
    group groups[2];      /* one is analysed while the other is read */
    group *at_hand;       /* of those: what is analysed */
    uint64_t read;        /* documents that were analysed */
    uint64_t first_group; /* of these in the first group */
    bool restart;         /* what was decided on the languages does not hold for earlier groups */

    /* The reader's, which also writes the ids in `out`. */
    gf_filter filter; /* of the configuration */
    bool filters;     /* it leaves anything out */
    group *filling;
    gf_scan *scan;
    gf_row row;
    bool more;
} gathering;

/* ---- languages --------------------------------------------------------------------------------
 */

/* Texts of the group without a lang, evenly spread. */
static size_t sample_texts(const group *g, gf_slice *sample)
{
    size_t without = 0, taken = 0, seen = 0;
    for (size_t i = 0; i < g->n; i++)
        without += g->pending[i].lang.len == 0;
    size_t step = without / LANGUAGE_SAMPLE + 1;
    for (size_t i = 0; i < g->n && taken < LANGUAGE_SAMPLE; i++)
        if (g->pending[i].lang.len == 0 && seen++ % step == 0) sample[taken++] = g->pending[i].text;
    return taken;
}

/* What the group says of the fallback. */
static gf_status look_at_languages(gathering *g, gf_error *err)
{
    gf_fallback *f = &g->out->fallback;
    gf_slice sample[LANGUAGE_SAMPLE];
    gf_dominance found;
    if (f->kind == GF_FALLBACK_DETECT || !g->job->settings.detect) return GF_OK;
    size_t n = sample_texts(g->at_hand, sample);
    if (n == 0) return GF_OK;
    gf_status st =
        gf_language_dominant(sample, n, g->job->pool, &found, g->job->options->cancel, err);
    if (st != GF_OK || found.n_reliable == 0) return st;
    gf_fallback before = *f;
    if (found.share < SHARED || (f->kind == GF_FALLBACK_FIXED && f->language != found.language))
        f->kind = GF_FALLBACK_DETECT;
    else
        *f = (gf_fallback){GF_FALLBACK_FIXED, found.language};
    g->restart = g->read > 0 && f->kind != before.kind;
    return GF_OK;
}

static gf_status language_task(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)worker;
    gathering *g = context;
    const pending_text *p = &g->at_hand->pending[i];
    gf_text *text = &g->at_hand->texts[i];
    *text = (gf_text){p->text, NULL};
    if (!g->job->settings.detect) return GF_OK;
    return gf_document_language(&g->out->fallback, p->lang, p->text, &text->language, err);
}

/* ---- groups -----------------------------------------------------------------------------------
 */

static gf_status add_group(gathering *g, gf_error *err)
{
    gf_job *j = g->job;
    group *at = g->at_hand;
    gf_status st = look_at_languages(g, err);
    if (st != GF_OK || g->restart) return st;
    bool undecided = g->out->fallback.kind == GF_FALLBACK_UNKNOWN;
    if (undecided) g->out->fallback.kind = GF_FALLBACK_FIXED; /* nothing to go by: no language */
    /* Detection is slow, so it runs in parallel; looking a code up is not worth a task. */
    bool parallel = g->out->fallback.kind == GF_FALLBACK_DETECT;
    st = gf_pool_run(parallel ? j->pool : NULL, at->n, language_task, g, j->options->cancel, err);
    if (undecided) g->out->fallback.kind = GF_FALLBACK_UNKNOWN;
    if (st == GF_OK)
        st = gf_vectorizer_add(g->vectorizer, at->texts, at->n, j->options->cancel, err);
    g->read += at->n;
    gf_job_tell(j, "reading", g->read, j->size);
    return st;
}

static gf_status grow(group *g, gf_error *err)
{
    size_t capacity = g->capacity ? g->capacity * 2 : 64;
    pending_text *pending = gf_realloc(g->pending, capacity, sizeof *pending);
    if (pending) g->pending = pending;
    gf_text *texts = gf_realloc(g->texts, capacity, sizeof *texts);
    if (texts) g->texts = texts;
    if (!pending || !texts) return gf_fail_memory(err, "documents");
    g->capacity = capacity;
    return GF_OK;
}

static gf_status add_id(gf_gathered *out, gf_slice key, gf_table *table, gf_error *err)
{
    if ((size_t)out->n + 2 > out->id_capacity) {
        size_t capacity = out->id_capacity ? out->id_capacity * 2 : 64;
        uint64_t *start = gf_realloc(out->id_start, capacity, sizeof *start);
        if (!start) return gf_fail_memory(err, "document ids");
        out->id_start = start;
        out->id_capacity = capacity;
    }
    out->id_start[out->n] = out->ids.len;
    gf_status st = gf_key_last_string(table, key, &out->ids, err);
    if (st == GF_OK) out->id_start[++out->n] = out->ids.len;
    return st;
}

static gf_status add_document(gathering *g, const gf_row *row, gf_error *err)
{
    const gf_cell *text = gf_row_find(row, GF_DOCUMENTS_MAIN, "text");
    const gf_cell *lang = gf_row_find(row, GF_DOCUMENTS_MAIN, "lang");
    group *to = g->filling;
    gf_status st = to->n == to->capacity ? grow(to, err) : GF_OK;
    if (st == GF_OK) st = add_id(g->out, row->key, g->job->store->tables.documents, err);
    if (st != GF_OK) return st;
    if (!text) return gf_fail(err, GF_ECORRUPT, "table documents: a row is damaged");
    pending_text *p = &to->pending[to->n];
    p->text = gf_arena_copy(&to->arena, text->value);
    p->lang = lang ? gf_arena_copy(&to->arena, lang->value) : (gf_slice){"", 0};
    if (!p->text.ptr || !p->lang.ptr) return gf_fail_memory(err, "documents");
    to->n++;
    to->bytes += text->value.len;
    return GF_OK;
}

/* ---- the walk ---------------------------------------------------------------------------------
 */

static gf_status open_filter(gathering *g, gf_error *err)
{
    const gf_resolved *r = &g->job->settings;
    gf_filter_init(&g->filter);
    gf_status st = r->filter.len ? gf_filter_add_list(&g->filter, r->filter, err) : GF_OK;
    g->filter.since = r->since;
    g->filter.until = r->until;
    g->filters = !gf_filter_is_empty(&g->filter);
    return st;
}

static void count_text(gf_gathered *out, size_t length)
{
    out->text_bytes += length;
    for (unsigned i = 0; i < GF_TEXT_CUTS; i++) {
        size_t most = (size_t)GF_LEAST_CUT << i;
        out->cut_text[i] += length < most ? length : most;
    }
}

/* Before anything of the row is copied. */
static gf_status add_meant(gathering *g, const gf_row *row, gf_error *err)
{
    bool meant = true;
    gf_status st = g->filters ? gf_filter_test(&g->filter, row, &meant, err) : GF_OK;
    if (st != GF_OK || !meant) return st;
    const gf_cell *text = gf_row_find(row, GF_DOCUMENTS_MAIN, "text");
    uint64_t number = g->out->meant++;
    if (text) count_text(g->out, text->value.len);
    g->out->id_bytes += row->key.len;
    return number % g->job->every == 0 ? add_document(g, row, err) : GF_OK;
}

/* Read until the group is full, or there are no more documents. */
static gf_status fill(void *context, gf_error *err)
{
    gathering *g = context;
    group *to = g->filling;
    gf_status st = GF_OK;
    size_t most = g->job->options->memory ? SMALL_GROUP_BYTES : GROUP_BYTES;
    gf_arena_reset(&to->arena);
    to->n = to->bytes = 0;
    while (st == GF_OK && g->more && to->bytes < most && to->n < GROUP_DOCUMENTS) {
        st = gf_scan_step(g->scan, &g->row, &g->more, err);
        if (st == GF_OK && g->more) st = add_meant(g, &g->row, err);
    }
    return st;
}

/* While a group is analysed the next one is read, where there is one. */
static gf_status analyse_all(gathering *g, gf_background *reader, gf_error *err)
{
    g->at_hand = &g->groups[0];
    g->filling = &g->groups[0];
    gf_status st = fill(g, err);
    g->first_group = g->at_hand->n;
    while (st == GF_OK && g->at_hand->n && !g->restart) {
        group *next = g->filling = &g->groups[g->at_hand == &g->groups[0]];
        next->n = 0;
        if (g->more) gf_background_start(reader, fill, g);
        st = add_group(g, err);
        gf_status read = gf_background_wait(reader, st == GF_OK ? err : NULL);
        if (st == GF_OK) st = read;
        g->at_hand = next;
    }
    return st;
}

static gf_status walk(gathering *g, gf_error *err)
{
    gf_job *j = g->job;
    gf_buffer prefix = {0};
    gf_background reader;
    gf_collection_key(&prefix, j->where.name_space, j->where.collection);
    gf_status st = gf_buffer_check(&prefix, err);
    gf_scan_options o = {
        .snapshot = j->snapshot, .family = GF_DOCUMENTS_MAIN, .prefix = gf_buffer_view(&prefix)};
    g->more = true;
    gf_background_init(&reader);
    if (st == GF_OK) st = gf_scan_open(j->store->tables.documents, &o, &g->scan, err);
    if (st == GF_OK) st = analyse_all(g, &reader, err);
    gf_background_release(&reader);
    gf_scan_close(g->scan);
    gf_row_release(&g->row);
    gf_buffer_release(&prefix);
    return st;
}

/* Naming reads the texts of few documents again, which came as one group. */
static void keep_texts(gathering *g)
{
    gf_job *j = g->job;
    group *first = &g->groups[0];
    if (j->pool || g->read != j->documents.n || g->read != g->first_group) return;
    j->texts = first->texts;
    j->text_memory = first->arena;
    first->texts = NULL;
    first->arena = (gf_arena){0};
}

static void release(gathering *g)
{
    gf_vectorizer_free(g->vectorizer);
    gf_filter_release(&g->filter);
    for (int i = 0; i < 2; i++) {
        gf_arena_release(&g->groups[i].arena);
        gf_free(g->groups[i].pending);
        gf_free(g->groups[i].texts);
    }
}

static gf_status gather_once(gf_job *j, bool *restart, gf_error *err)
{
    gathering g = {.job = j, .out = &j->documents};
    gf_status st = open_filter(&g, err);
    if (st == GF_OK)
        st = gf_vectorizer_create(&j->settings.vectorizer, j->spills ? NULL : j->pool,
                                  &g.vectorizer, err);
    if (st == GF_OK && j->spills)
        st = gf_vectorizer_spill(g.vectorizer, gf_folder_path(j->store->folder), err);
    if (st == GF_OK && j->keeps_words && !g.filters)
        st = gf_vectorizer_keep_words(g.vectorizer, gf_folder_path(j->store->folder), false, err);
    g.out->n = 0;
    g.out->meant = g.out->text_bytes = g.out->id_bytes = 0;
    memset(g.out->cut_text, 0, sizeof g.out->cut_text);
    gf_buffer_reset(&g.out->ids);
    if (st == GF_OK) st = walk(&g, err);
    *restart = st == GF_OK && g.restart;
    if (st == GF_OK && !g.restart) {
        gf_job_tell(j, "weighing", 0, 0);
        st = gf_vectorizer_finish(g.vectorizer, &j->documents.vectors, j->options->cancel, err);
        if (st == GF_OK) st = gf_vectorizer_take_words(g.vectorizer, &j->words, err);
        if (st == GF_OK) keep_texts(&g);
        if (st == GF_OK && !j->pool) j->analyser = gf_vectorizer_take_analyser(g.vectorizer);
    }
    release(&g);
    return st;
}

gf_status gf_job_gather(gf_job *j, gf_error *err)
{
    bool restart = true;
    gf_status st = GF_OK;
    j->documents.fallback = (gf_fallback){0};
    while (st == GF_OK && restart)
        st = gather_once(j, &restart, err);
    if (j->documents.fallback.kind == GF_FALLBACK_UNKNOWN)
        j->documents.fallback.kind = GF_FALLBACK_FIXED;
    return st;
}
