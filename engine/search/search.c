/*
 * Search: the documents of a collection that have what a query asks for, best first.
 *
 *     source     the served build of "default" with its index, or else settings and texts alone
 *     fresh      documents that are not in the index as they are: matched by their texts
 *     items      of the query: how many documents of the index have each
 *     best       of the index, as many as are wanted, and all fresh ones that were found
 *     visit      these from a heap, best first, that pass the filters, up to the limit; where they
 *                do not last, more of the index
 *
 * Number, frequencies and mean length are those of the documents that are there now, so a score
 * does not depend on which of them are in the index.
 *
 * Source: Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond",
 * Foundations and Trends in Information Retrieval 3 (2009) 333-389.
 */
#include "engine/search/internal.h"

#include "base/clock.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/options.h"
#include "engine/rows/document_row.h"

typedef struct searching {
    const gf_search_options *options;
    gf_search_source source;
    gf_query query;
    gf_matcher *matcher;
    gf_fresh fresh;
    gf_search_items items;
    gf_search_weights weights;
    gf_best_found best;       /* of the index */
    gf_candidate *candidates; /* a heap of n */
    size_t n, capacity;
    uint64_t from_index; /* of these */
    uint64_t total;      /* that there are */
    gf_filter filter;
    gf_view *placement; /* of the configuration; may be the source's, or NULL */
    bool own_placement;
    uint32_t cluster; /* only of this one; 0: any */
    gf_visit_hit *visit;
    void *context;
    gf_row row;
    gf_field *fields; /* field_capacity */
    size_t field_capacity;
} searching;

/* ---- candidates ------------------------------------------------------------------------------ */

static void sink_candidate(gf_candidate *heap, size_t n, size_t i)
{
    for (;;) {
        size_t best = i, left = 2 * i + 1;
        if (left < n && gf_candidate_is_better(&heap[left], &heap[best])) best = left;
        if (left + 1 < n && gf_candidate_is_better(&heap[left + 1], &heap[best])) best = left + 1;
        if (best == i) return;
        gf_candidate swap = heap[i];
        heap[i] = heap[best];
        heap[best] = swap;
        i = best;
    }
}

static void make_heap(searching *s)
{
    for (size_t i = s->n / 2; i-- > 0;)
        sink_candidate(s->candidates, s->n, i);
}

static gf_candidate take_best(searching *s)
{
    gf_candidate best = s->candidates[0];
    s->candidates[0] = s->candidates[--s->n];
    sink_candidate(s->candidates, s->n, 0);
    return best;
}

static gf_status add_candidate(searching *s, double score, uint64_t key, gf_error *err)
{
    if (!gf_grow(&s->candidates, &s->capacity, s->n + 1, sizeof *s->candidates))
        return gf_fail_memory(err, "a search");
    s->candidates[s->n++] = (gf_candidate){score, key};
    return GF_OK;
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* Number, words and frequencies of the documents as they are now. */
static gf_status weigh_items(searching *s, gf_error *err)
{
    gf_search_source *source = &s->source;
    uint64_t n = s->fresh.n, words = s->fresh.words;
    gf_status st = GF_OK;
    if (source->has_index) {
        n += source->index.n - source->n_outdated;
        words += source->index.words;
    }
    for (size_t i = 0; i < source->n_outdated && st == GF_OK; i++) {
        uint32_t length = 0;
        st = gf_search_index_length(&source->index, source->outdated[i], &length, err);
        words -= length;
    }
    s->weights.query = &s->query;
    s->weights.mean = n ? (double)words / (double)n : 0;
    for (size_t i = 0; i < s->query.n; i++) {
        uint64_t df = source->has_index ? s->items.item[i].documents : 0;
        for (size_t h = 0; h < s->fresh.n_hits; h++)
            df += s->fresh.hits[h].count[i] > 0;
        s->weights.idf[i] = gf_bm25_idf(n, df < n ? df : n);
    }
    return st;
}

static gf_status add_fresh(searching *s, gf_error *err)
{
    gf_status st = GF_OK;
    if (s->fresh.n_hits >= GF_FROM_INDEX) return gf_fail(err, GF_ELIMIT, "too many documents");
    for (size_t h = 0; h < s->fresh.n_hits && st == GF_OK; h++) {
        const gf_fresh_hit *hit = &s->fresh.hits[h];
        double score;
        uint32_t rank = 0;
        bool there;
        if (!gf_search_weigh(&s->weights, hit->count, hit->length, &score)) continue;
        if (s->source.has_index)
            st = gf_id_reader_rank(&s->source.index.ids, hit->id, &rank, &there, err);
        if (st == GF_OK) st = add_candidate(s, score, (uint64_t)rank << 32 | h, err);
    }
    return st;
}

/* Candidates: all fresh ones, and the `most` best of the index; 0: all. */
static gf_status find_candidates(searching *s, uint64_t most, gf_error *err)
{
    gf_status st = GF_OK;
    s->n = 0;
    s->best.most = most;
    if (s->source.has_index) st = gf_search_best(&s->items, &s->weights, &s->best, err);
    for (size_t i = 0; i < s->best.n && st == GF_OK; i++)
        st = add_candidate(s, s->best.at[i].score, s->best.at[i].key, err);
    s->from_index = s->best.n;
    if (st == GF_OK) st = add_fresh(s, err);
    if (st == GF_OK) s->total = s->best.total + s->n - s->from_index;
    make_heap(s);
    return st;
}

static gf_status find_items(searching *s, gf_error *err)
{
    gf_status st = gf_fresh_find(&s->fresh, &s->source, &s->query, err);
    if (st == GF_OK && s->source.has_index)
        st = gf_search_items_open(&s->items, &s->source, s->matcher, s->query.n, err);
    return st == GF_OK ? weigh_items(s, err) : st;
}

/* ---- visits ---------------------------------------------------------------------------------- */

/* The document, if it is *there, is read into the row; its id lasts as long as *id does. */
static gf_status read_candidate(searching *s, const gf_candidate *c, gf_slice *id, bool *there,
                                gf_error *err)
{
    uint32_t low = (uint32_t)c->key;
    gf_status st = GF_OK;
    if (low == GF_FROM_INDEX)
        st = gf_id_reader_id(&s->source.index.ids, (uint32_t)(c->key >> 32), id, err);
    else
        *id = s->fresh.hits[low].id;
    if (st == GF_OK) st = gf_state_row(s->source.state, *id, &s->row, err);
    *there = st == GF_OK;
    if (st == GF_ENOTFOUND && !s->source.state->snapshot) return GF_OK; /* deleted just now */
    return st == GF_ENOTFOUND ? gf_fail(err, GF_ECORRUPT, "a document of the index is missing")
                              : st;
}

/* A document that is not in the build is found without a membership. */
static gf_status find_membership(searching *s, gf_slice id, gf_membership *m, bool *placed,
                                 gf_error *err)
{
    gf_error why = {GF_OK, ""};
    *placed = false;
    if (!s->placement) return GF_OK;
    gf_status st = gf_view_current_membership(s->placement, id, m, &why);
    *placed = st == GF_OK;
    if (st == GF_OK || st == GF_ENOTFOUND || st == GF_ECONFLICT) return GF_OK;
    if (err) *err = why;
    return st;
}

static gf_status visit_document(searching *s, gf_slice id, double score, const gf_membership *m,
                                gf_error *err)
{
    gf_document d;
    uint64_t seq;
    gf_matched matched;
    const gf_language *language;
    if (!gf_grow(&s->fields, &s->field_capacity, s->row.n_cells, sizeof *s->fields))
        return gf_fail_memory(err, "a document");
    gf_document_row_read(&s->row, id, s->fields, &d, &seq);
    gf_status st = gf_search_language(&s->source, d.language, d.text, &language, err);
    if (st == GF_OK) st = gf_matcher_match(s->matcher, d.text, language, &matched, err);
    if (st != GF_OK) return st;
    gf_hit hit = {.document = &d,
                  .score = score,
                  .membership = m,
                  .total = s->total,
                  .found = gf_slice_of(d.text.ptr + matched.first_start,
                                       matched.first_end - matched.first_start)};
    return s->visit(s->context, &hit, err);
}

static gf_status visit_candidate(searching *s, const gf_candidate *c, uint64_t *visited,
                                 gf_error *err)
{
    gf_slice id;
    gf_membership m;
    bool wanted = true, placed = false;
    gf_status st = gf_cancel_check(s->source.cancel, err);
    if (st == GF_OK) st = read_candidate(s, c, &id, &wanted, err);
    if (st == GF_OK && wanted && !gf_filter_is_empty(&s->filter))
        st = gf_filter_test(&s->filter, &s->row, &wanted, err);
    if (st == GF_OK && wanted) st = find_membership(s, id, &m, &placed, err);
    if (st != GF_OK || !wanted) return st;
    if (s->cluster && (!placed || m.cluster != s->cluster)) return GF_OK;
    ++*visited;
    return visit_document(s, id, c->score, placed ? &m : NULL, err);
}

static bool is_filtered(const searching *s)
{
    return s->cluster || !gf_filter_is_empty(&s->filter);
}

/*
 * As long as candidates of the index are left, or there are no more, the next candidate is the next
 * of all. Where they do not last, because filters leave many out, eight times as many are found, and
 * those that were looked at are passed over.
 */
static gf_status visit_candidates(searching *s, gf_error *err)
{
    enum { MORE = 8 };
    uint64_t limit = s->options->limit, visited = 0, passed = 0;
    uint64_t most = limit && is_filtered(s) && limit < UINT64_MAX / MORE ? MORE * limit : limit;
    for (;;) {
        gf_status st = find_candidates(s, most, err);
        bool all = s->best.n == s->best.total;
        uint64_t left = s->from_index;
        for (uint64_t i = 0; st == GF_OK && s->n && (all || left); i++) {
            if (limit && visited == limit) return GF_OK;
            gf_candidate best = take_best(s);
            left -= (uint32_t)best.key == GF_FROM_INDEX;
            if (i < passed) continue;
            passed++;
            st = visit_candidate(s, &best, &visited, err);
        }
        if (st != GF_OK || all || (limit && visited == limit)) return st;
        most = most < UINT64_MAX / MORE ? MORE * most : 0;
    }
}

/* ---- beginning ------------------------------------------------------------------------------- */

static gf_status set_bound(gf_slice text, const char *name, int64_t *bound, gf_error *err)
{
    if (!text.len || gf_filter_read_moment(text, gf_clock_ms(), bound)) return GF_OK;
    return gf_fail(err, GF_EINVAL, "%s: \"%.*s\" is not a time", name, GF_SLICE_ARG(text));
}

static gf_status open_filter(searching *s, gf_error *err)
{
    const gf_search_options *o = s->options;
    gf_status st = set_bound(o->since, "since", &s->filter.since, err);
    if (st == GF_OK) st = set_bound(o->until, "until", &s->filter.until, err);
    for (size_t i = 0; i < o->n_where && st == GF_OK; i++)
        st = gf_filter_add(&s->filter, o->where[i], err);
    return st;
}

static gf_status note_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)err;
    *(uint32_t *)context = info->id;
    return GF_OK;
}

/* The build whose clusters the documents are shown in. */
static gf_status open_placement(searching *s, gf_error *err)
{
    const gf_search_options *o = s->options;
    bool of_default =
        !o->configuration.len || gf_slice_equal(o->configuration, GF_SLICE("default"));
    bool demanded = o->cluster || o->cluster_label.len;
    gf_status st = GF_OK;
    s->placement = of_default ? s->source.view : NULL;
    if (!s->placement && (!of_default || demanded)) {
        st = gf_view_open_in(s->source.state, of_default ? GF_SLICE("default") : o->configuration,
                             0, &s->placement, err);
        s->own_placement = st == GF_OK;
    }
    if (st == GF_OK && demanded)
        st = gf_view_cluster(s->placement, o->cluster, o->cluster_label, note_cluster, &s->cluster,
                             err);
    return st;
}

/* Faults of the query are reported before anything is searched. */
static gf_status open_query(searching *s, gf_slice query, gf_error *err)
{
    const gf_query_terms *terms;
    gf_status st = gf_query_parse(query, &s->query, err);
    if (st == GF_OK) st = gf_matcher_create(&s->source.analysis, &s->query, &s->matcher, err);
    if (st == GF_OK) st = gf_matcher_terms(s->matcher, s->source.fallback.language, &terms, err);
    return st;
}

static void release_search(searching *s)
{
    gf_search_items_release(&s->items);
    gf_free(s->best.at);
    gf_fresh_release(&s->fresh);
    gf_matcher_free(s->matcher);
    gf_free(s->candidates);
    gf_filter_release(&s->filter);
    if (s->own_placement) gf_view_close(s->placement);
    gf_row_release(&s->row);
    gf_free(s->fields);
    gf_search_source_close(&s->source);
}

gf_status gf_search(gf_store *store, gf_place where, gf_slice query,
                    const gf_search_options *options, gf_visit_hit *visit, void *context,
                    gf_error *err)
{
    gf_status known =
        gf_options_check(options->version, GF_SEARCH_OPTIONS_VERSION, "gf_search_options", err);
    if (known != GF_OK) return known;
    searching s = {.options = options, .visit = visit, .context = context};
    gf_filter_init(&s.filter);
    gf_status st = gf_search_source_open(&s.source, store, where, options->cancel, err);
    if (st == GF_OK) st = open_query(&s, query, err);
    if (st == GF_OK) st = open_filter(&s, err);
    if (st == GF_OK) st = open_placement(&s, err);
    if (st == GF_OK) st = find_items(&s, err);
    if (st == GF_OK) st = visit_candidates(&s, err);
    release_search(&s);
    return st;
}
