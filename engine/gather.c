/*
 * Documents of a snapshot -> rows: of those that the configuration is about.
 *
 * Texts stream from the store in groups of some megabytes, each tokenised in parallel. Where the
 * language has to be found, a sample of each group is looked at: as long as all groups are in one
 * language, that is the build's; where a later group says otherwise, gathering begins again, with a
 * detection for each text if they are mixed. So a document's language never depends on the groups.
 */
#include "engine/rebuild_internal.h"

#include "base/memory.h"
#include "engine/filter.h"
#include "vectorize/detect.h"

#include <stdlib.h>

/* Share of the texts that must be in one language for all to count as in it. */
#define SHARED 0.95

enum { GROUP_BYTES = 8 << 20, GROUP_DOCUMENTS = 20000, LANGUAGE_SAMPLE = 500 };

typedef struct pending_text {
    gf_slice text, lang;
} pending_text;

typedef struct gathering {
    gf_job *job;
    gf_vectorizer *vectorizer;
    gf_filter filter; /* of the configuration */
    bool filters;     /* it leaves anything out */
    gf_gathered *out;
    gf_arena arena;        /* of the group's texts */
    pending_text *pending; /* n of capacity */
    gf_text *texts;        /* capacity */
    size_t n, capacity, bytes;
    uint64_t read; /* documents */
    bool restart;  /* what was decided on the languages does not hold for earlier groups */
} gathering;

/* ---- languages --------------------------------------------------------------------------------
 */

/* Texts of the group without a lang, evenly spread. */
static size_t sample_texts(const gathering *g, gf_slice *sample)
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
    size_t n = sample_texts(g, sample);
    if (n == 0) return GF_OK;
    gf_status st = gf_language_dominant(sample, n, g->job->pool, &found, g->job->options->cancel, err);
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
    const pending_text *p = &g->pending[i];
    g->texts[i] = (gf_text){p->text, NULL};
    if (!g->job->settings.detect) return GF_OK;
    return gf_document_language(&g->out->fallback, p->lang, p->text, &g->texts[i].language, err);
}

/* ---- groups -----------------------------------------------------------------------------------
 */

static gf_status add_group(gathering *g, gf_error *err)
{
    gf_job *j = g->job;
    gf_status st = look_at_languages(g, err);
    if (st != GF_OK || g->restart) return st;
    bool undecided = g->out->fallback.kind == GF_FALLBACK_UNKNOWN;
    if (undecided) g->out->fallback.kind = GF_FALLBACK_FIXED; /* nothing to go by: no language */
    /* Detection is slow, so it runs in parallel; looking a code up is not worth a task. */
    bool parallel = g->out->fallback.kind == GF_FALLBACK_DETECT;
    st = gf_pool_run(parallel ? j->pool : NULL, g->n, language_task, g, j->options->cancel, err);
    if (undecided) g->out->fallback.kind = GF_FALLBACK_UNKNOWN;
    if (st == GF_OK) st = gf_vectorizer_add(g->vectorizer, g->texts, g->n, j->options->cancel, err);
    g->read += g->n;
    gf_job_tell(j, "reading", g->read, j->size);
    g->n = g->bytes = 0;
    gf_arena_reset(&g->arena);
    return st;
}

static gf_status grow(gathering *g, gf_error *err)
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
    gf_status st = g->n == g->capacity ? grow(g, err) : GF_OK;
    if (st == GF_OK) st = add_id(g->out, row->key, g->job->store->tables.documents, err);
    if (st != GF_OK) return st;
    if (!text) return gf_fail(err, GF_ECORRUPT, "table documents: a row is damaged");
    pending_text *p = &g->pending[g->n];
    p->text = gf_arena_copy(&g->arena, text->value);
    p->lang = lang ? gf_arena_copy(&g->arena, lang->value) : (gf_slice){"", 0};
    if (!p->text.ptr || !p->lang.ptr) return gf_fail_memory(err, "documents");
    g->n++;
    g->bytes += text->value.len;
    return g->bytes >= GROUP_BYTES || g->n >= GROUP_DOCUMENTS ? add_group(g, err) : GF_OK;
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

/* Before anything of the row is copied. */
static gf_status add_meant(gathering *g, const gf_row *row, gf_error *err)
{
    bool meant = true;
    gf_status st = g->filters ? gf_filter_test(&g->filter, row, &meant, err) : GF_OK;
    return st == GF_OK && meant ? add_document(g, row, err) : st;
}

static gf_status walk(gathering *g, gf_error *err)
{
    gf_job *j = g->job;
    gf_buffer prefix = {0};
    gf_scan *scan = NULL;
    gf_row row = {0};
    gf_collection_key(&prefix, j->where.name_space, j->where.collection);
    gf_status st = gf_buffer_check(&prefix, err);
    gf_scan_options o = {
        .snapshot = j->snapshot, .family = GF_DOCUMENTS_MAIN, .prefix = gf_buffer_view(&prefix)};
    bool more = true;
    if (st == GF_OK) st = gf_scan_open(j->store->tables.documents, &o, &scan, err);
    while (st == GF_OK && more && !g->restart) {
        st = gf_scan_step(scan, &row, &more, err);
        if (st == GF_OK && more) st = add_meant(g, &row, err);
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    gf_buffer_release(&prefix);
    return st == GF_OK && !g->restart && g->n ? add_group(g, err) : st;
}

static void release(gathering *g)
{
    gf_vectorizer_free(g->vectorizer);
    gf_filter_release(&g->filter);
    gf_arena_release(&g->arena);
    gf_free(g->pending);
    gf_free(g->texts);
}

static gf_status gather_once(gf_job *j, bool *restart, gf_error *err)
{
    gathering g = {.job = j, .out = &j->documents};
    gf_status st = open_filter(&g, err);
    if (st == GF_OK)
        st = gf_vectorizer_create(&j->settings.vectorizer, j->pool, &g.vectorizer, err);
    g.out->n = 0;
    gf_buffer_reset(&g.out->ids);
    if (st == GF_OK) st = walk(&g, err);
    *restart = st == GF_OK && g.restart;
    if (st == GF_OK && !g.restart) {
        gf_job_tell(j, "weighing", 0, 0);
        st = gf_vectorizer_finish(g.vectorizer, &j->documents.vectors, j->options->cancel, err);
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
