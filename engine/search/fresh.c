/* Documents that the index does not have as they are now, matched by their texts. */
#include "engine/search/internal.h"

#include "base/grow.h"
#include "base/memory.h"
#include "engine/text/language_watch.h"
#include "engine/text/reader.h"

#include <stdlib.h>

enum { TASK_DOCUMENTS = 256 };

/* ---- a group --------------------------------------------------------------------------------- */

/* Without a build, the first texts decide which language those without one fall back on. */
static gf_status decide_language(gf_search_source *s, const gf_text_group *g, gf_error *err)
{
    gf_language_watch w = {.cancel = s->cancel};
    gf_status st = GF_OK;
    if (!s->detect || s->fallback.kind != GF_FALLBACK_UNKNOWN) return GF_OK;
    for (size_t i = 0; i < g->n && st == GF_OK; i++)
        st = gf_language_watch_add(&w, g->at[i].lang, g->at[i].text, err);
    if (st == GF_OK) st = gf_language_watch_end(&w, err);
    s->fallback = w.decided;
    if (s->fallback.kind == GF_FALLBACK_UNKNOWN) s->fallback.kind = GF_FALLBACK_FIXED;
    gf_language_watch_release(&w);
    return st;
}

static gf_status reserve_group(gf_fresh *f, size_t n, gf_error *err)
{
    if (n <= f->group_capacity) return GF_OK;
    uint32_t *counts = gf_realloc(f->counts, n * f->query->n, sizeof *counts);
    if (counts) f->counts = counts;
    uint64_t *lengths = counts ? gf_realloc(f->lengths, n, sizeof *lengths) : NULL;
    if (lengths) f->lengths = lengths;
    if (!lengths) return gf_fail_memory(err, "a search");
    f->group_capacity = n;
    return GF_OK;
}

static gf_status match_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    gf_fresh *f = context;
    gf_matcher **m = &f->matchers[worker];
    size_t from = index * TASK_DOCUMENTS, to = from + TASK_DOCUMENTS;
    gf_status st = *m ? GF_OK : gf_matcher_create(&f->source->analysis, f->query, m, err);
    for (size_t i = from; i < to && i < f->group->n && st == GF_OK; i++) {
        const gf_group_text *t = &f->group->at[i];
        const gf_language *language;
        gf_matched matched;
        st = gf_search_language(f->source, t->lang, t->text, &language, err);
        if (st == GF_OK) st = gf_matcher_match(*m, t->text, language, &matched, err);
        if (st != GF_OK) break;
        memcpy(f->counts + i * f->query->n, matched.count, f->query->n * sizeof *matched.count);
        f->lengths[i] = matched.length;
    }
    return st;
}

static gf_status keep_hit(gf_fresh *f, gf_slice id, uint64_t length, const uint32_t *count,
                          gf_error *err)
{
    size_t bytes = f->query->n * sizeof *count;
    if (!gf_grow(&f->hits, &f->capacity, f->n_hits + 1, sizeof *f->hits))
        return gf_fail_memory(err, "a search");
    uint32_t *kept = gf_arena_alloc(&f->memory, bytes);
    gf_slice copy = gf_arena_copy(&f->memory, id);
    if (!kept || !copy.ptr) return gf_fail_memory(err, "a search");
    memcpy(kept, count, bytes);
    f->hits[f->n_hits++] = (gf_fresh_hit){copy, length, kept};
    return GF_OK;
}

static gf_status keep_hits(gf_fresh *f, const gf_text_group *g, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < g->n && st == GF_OK; i++) {
        const uint32_t *count = f->counts + i * f->query->n;
        bool any = false;
        for (size_t item = 0; item < f->query->n; item++)
            any |= count[item] > 0;
        f->words += f->lengths[i];
        if (any) st = keep_hit(f, g->at[i].id, f->lengths[i], count, err);
    }
    f->n += g->n;
    return st;
}

/* Threads are worth their beginning from some thousand documents on. */
static gf_status need_workers(gf_fresh *f, size_t n, gf_error *err)
{
    enum { WORTH_THREADS = 2048 };
    gf_status st = GF_OK;
    if (f->matchers && (f->pool || n < WORTH_THREADS)) return GF_OK;
    if (!f->pool && n >= WORTH_THREADS) st = gf_pool_create(0, &f->pool, err);
    if (st != GF_OK) return st;
    unsigned n_workers = gf_pool_size(f->pool);
    gf_matcher **grown = gf_realloc(f->matchers, n_workers, sizeof(gf_matcher *));
    if (!grown) return gf_fail_memory(err, "a search");
    for (unsigned i = f->n_workers; i < n_workers; i++)
        grown[i] = NULL;
    f->matchers = grown;
    f->n_workers = n_workers;
    return GF_OK;
}

static gf_status add_group(void *context, const gf_text_group *g, gf_error *err)
{
    gf_fresh *f = context;
    gf_status st = need_workers(f, g->n, err);
    if (st == GF_OK) st = decide_language(f->source, g, err);
    if (st == GF_OK) st = reserve_group(f, g->n, err);
    f->group = g;
    if (st == GF_OK)
        st = gf_pool_run(f->pool, (g->n + TASK_DOCUMENTS - 1) / TASK_DOCUMENTS, match_task, f,
                         f->source->cancel, err);
    return st == GF_OK ? keep_hits(f, g, err) : st;
}

/* ---- documents that have changed ------------------------------------------------------------- */

/* Ids come in their order, so that the numbers rise. */
static gf_status mark_outdated(gf_search_source *s, gf_slice id, gf_error *err)
{
    uint32_t rank;
    bool there;
    gf_status st = gf_id_reader_rank(&s->index.ids, id, &rank, &there, err);
    if (st != GF_OK || !there) return st;
    if (!gf_grow(&s->outdated, &s->outdated_capacity, s->n_outdated + 1, sizeof *s->outdated))
        return gf_fail_memory(err, "a search");
    s->outdated[s->n_outdated++] = rank;
    return GF_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return gf_slice_compare(*(const gf_slice *)a, *(const gf_slice *)b);
}

static gf_status add_changed(gf_fresh *f, gf_slice id, gf_text_group *g, gf_row *row, gf_error *err)
{
    gf_status st = mark_outdated(f->source, id, err);
    if (st != GF_OK) return st;
    st = gf_state_row(f->source->state, id, row, err);
    if (st == GF_ENOTFOUND) return GF_OK;
    if (st == GF_OK) st = gf_text_group_add(g, id, row, err);
    if (st != GF_OK || !gf_text_group_is_full(g, GF_GROUP_BYTES)) return st;
    st = add_group(f, g, err);
    gf_text_group_reset(g);
    return st;
}

static gf_status find_changed(gf_fresh *f, gf_error *err)
{
    gf_strings ids = {0};
    gf_text_group g = {0};
    gf_row row = {0};
    gf_status st = gf_view_changed_ids(f->source->view, &ids, err);
    gf_slice *sorted = gf_array(ids.n, sizeof *sorted);
    if (st == GF_OK && !sorted) st = gf_fail_memory(err, "a search");
    for (uint32_t i = 0; sorted && i < ids.n; i++)
        sorted[i] = gf_strings_at(&ids, i);
    if (sorted && ids.n) qsort(sorted, ids.n, sizeof *sorted, by_bytes);
    for (uint32_t i = 0; i < ids.n && st == GF_OK; i++) {
        st = gf_cancel_check(f->source->cancel, err);
        if (st == GF_OK) st = add_changed(f, sorted[i], &g, &row, err);
    }
    if (st == GF_OK && g.n) st = add_group(f, &g, err);
    gf_free(sorted);
    gf_row_release(&row);
    gf_text_group_release(&g);
    gf_strings_release(&ids);
    return st;
}

gf_status gf_fresh_find(gf_fresh *f, gf_search_source *s, const gf_query *query, gf_error *err)
{
    *f = (gf_fresh){.source = s, .query = query};
    if (s->has_index) return find_changed(f, err);
    gf_text_reader_options o = {.store = s->store, .snapshot = s->snapshot, .where = s->where};
    return gf_text_reader_each(&o, s->cancel, add_group, f, err);
}

void gf_fresh_release(gf_fresh *f)
{
    for (unsigned i = 0; f->matchers && i < f->n_workers; i++)
        gf_matcher_free(f->matchers[i]);
    gf_free(f->matchers);
    gf_pool_free(f->pool);
    gf_free(f->hits);
    gf_free(f->counts);
    gf_free(f->lengths);
    gf_arena_release(&f->memory);
    *f = (gf_fresh){0};
}
