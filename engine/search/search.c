/*
 * Search: the documents of a collection that have what a query asks for, best first.
 *
 *     source     the served build of "default" with its index, or else settings and texts alone
 *     fresh      documents that are not in the index as they are: matched by their texts
 *     postings   of each item of the query: from the index
 *     merge      postings side by side by document -> candidates with their scores
 *     visit      candidates from a heap, best first, that pass the filters, up to the limit
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

/* A document of the index, or a fresh one; by rising key is by rising id. */
typedef struct candidate {
    double score;
    uint64_t key; /* documents of the index with lower ids << 32 | FROM_INDEX, or the fresh hit */
} candidate;

#define FROM_INDEX UINT32_MAX

typedef struct searching {
    const gf_search_options *options;
    gf_search_source source;
    gf_query query;
    gf_matcher *matcher;
    gf_fresh fresh;
    gf_postings items[GF_QUERY_ITEMS];
    double idf[GF_QUERY_ITEMS];
    double mean;           /* words of a document */
    candidate *candidates; /* a heap of n */
    size_t n, capacity;
    uint64_t total; /* that there were */
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

static bool is_better(const candidate *a, const candidate *b)
{
    return a->score != b->score ? a->score > b->score : a->key < b->key;
}

static void sink_candidate(candidate *heap, size_t n, size_t i)
{
    for (;;) {
        size_t best = i, left = 2 * i + 1;
        if (left < n && is_better(&heap[left], &heap[best])) best = left;
        if (left + 1 < n && is_better(&heap[left + 1], &heap[best])) best = left + 1;
        if (best == i) return;
        candidate swap = heap[i];
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

static candidate take_best(searching *s)
{
    candidate best = s->candidates[0];
    s->candidates[0] = s->candidates[--s->n];
    sink_candidate(s->candidates, s->n, 0);
    return best;
}

static gf_status add_candidate(searching *s, double score, uint64_t key, gf_error *err)
{
    if (!gf_grow(&s->candidates, &s->capacity, s->n + 1, sizeof *s->candidates))
        return gf_fail_memory(err, "a search");
    s->candidates[s->n++] = (candidate){score, key};
    return GF_OK;
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* The score of a document with these counts; false where the query does not find it. */
static bool weigh_document(const searching *s, const uint32_t *count, uint64_t length,
                           double *score)
{
    bool any = false;
    *score = 0;
    for (size_t i = 0; i < s->query.n; i++) {
        const gf_query_item *item = &s->query.items[i];
        if (item->excludes ? count[i] > 0 : item->is_phrase && count[i] == 0) return false;
        if (item->excludes || count[i] == 0) continue;
        any = true;
        *score += gf_bm25_part(s->idf[i], count[i], length, s->mean);
    }
    return any;
}

static gf_status read_items(searching *s, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; s->source.has_index && i < s->query.n && st == GF_OK; i++)
        st = gf_search_item(&s->source, s->matcher, i, &s->items[i], err);
    return st;
}

static void weigh_items(searching *s)
{
    const gf_search_index *x = &s->source.index;
    uint64_t n = s->fresh.n, words = s->fresh.words;
    for (uint32_t d = 0; s->source.has_index && d < x->n; d++) {
        if (s->source.outdated[d]) continue;
        n++;
        words += x->length[d];
    }
    s->mean = n ? (double)words / (double)n : 0;
    for (size_t i = 0; i < s->query.n; i++) {
        uint64_t df = s->items[i].n;
        for (size_t h = 0; h < s->fresh.n_hits; h++)
            df += s->fresh.hits[h].count[i] > 0;
        s->idf[i] = gf_bm25_idf(n, df);
    }
}

/* The postings of all items, side by side. */
static gf_status merge_items(searching *s, gf_error *err)
{
    size_t at[GF_QUERY_ITEMS] = {0};
    gf_status st = GF_OK;
    while (st == GF_OK) {
        uint32_t count[GF_QUERY_ITEMS], document = UINT32_MAX;
        double score;
        for (size_t i = 0; i < s->query.n; i++)
            if (at[i] < s->items[i].n && s->items[i].document[at[i]] < document)
                document = s->items[i].document[at[i]];
        if (document == UINT32_MAX) break;
        for (size_t i = 0; i < s->query.n; i++) {
            const gf_postings *p = &s->items[i];
            bool has = at[i] < p->n && p->document[at[i]] == document;
            count[i] = has ? p->count[at[i]++] : 0;
        }
        if (weigh_document(s, count, s->source.index.length[document], &score))
            st = add_candidate(s, score, (uint64_t)document << 32 | FROM_INDEX, err);
    }
    return st;
}

static gf_status add_fresh(searching *s, gf_error *err)
{
    gf_status st = GF_OK;
    if (s->fresh.n_hits >= FROM_INDEX) return gf_fail(err, GF_ELIMIT, "too many documents");
    for (size_t h = 0; h < s->fresh.n_hits && st == GF_OK; h++) {
        const gf_fresh_hit *hit = &s->fresh.hits[h];
        double score;
        uint32_t rank = 0;
        bool there;
        if (!weigh_document(s, hit->count, hit->length, &score)) continue;
        if (s->source.has_index)
            st = gf_search_index_rank(&s->source.index, hit->id, &rank, &there, err);
        if (st == GF_OK) st = add_candidate(s, score, (uint64_t)rank << 32 | h, err);
    }
    return st;
}

static gf_status find_candidates(searching *s, gf_error *err)
{
    gf_status st = gf_fresh_find(&s->fresh, &s->source, &s->query, err);
    if (st == GF_OK) st = read_items(s, err);
    if (st == GF_OK) weigh_items(s);
    if (st == GF_OK) st = merge_items(s, err);
    if (st == GF_OK) st = add_fresh(s, err);
    make_heap(s);
    return st;
}

/* ---- visits ---------------------------------------------------------------------------------- */

/* The document is read into the row; its id lasts as long as *id does. */
static gf_status read_candidate(searching *s, const candidate *c, gf_slice *id, gf_error *err)
{
    uint32_t low = (uint32_t)c->key;
    gf_status st = GF_OK;
    if (low == FROM_INDEX)
        st = gf_search_index_id(&s->source.index, (uint32_t)(c->key >> 32), id, err);
    else
        *id = s->fresh.hits[low].id;
    if (st == GF_OK) st = gf_state_row(s->source.state, *id, &s->row, err);
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

static gf_status visit_candidate(searching *s, const candidate *c, uint64_t *visited, gf_error *err)
{
    gf_slice id;
    gf_membership m;
    bool wanted = true, placed = false;
    gf_status st = gf_cancel_check(s->source.cancel, err);
    if (st == GF_OK) st = read_candidate(s, c, &id, err);
    if (st == GF_OK && !gf_filter_is_empty(&s->filter))
        st = gf_filter_test(&s->filter, &s->row, &wanted, err);
    if (st == GF_OK && wanted) st = find_membership(s, id, &m, &placed, err);
    if (st != GF_OK || !wanted) return st;
    if (s->cluster && (!placed || m.cluster != s->cluster)) return GF_OK;
    ++*visited;
    return visit_document(s, id, c->score, placed ? &m : NULL, err);
}

static gf_status visit_candidates(searching *s, gf_error *err)
{
    uint64_t visited = 0;
    gf_status st = GF_OK;
    while (st == GF_OK && s->n && (s->options->limit == 0 || visited < s->options->limit)) {
        candidate best = take_best(s);
        st = visit_candidate(s, &best, &visited, err);
    }
    return st;
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
    for (size_t i = 0; i < GF_QUERY_ITEMS; i++)
        gf_postings_release(&s->items[i]);
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
    if (st == GF_OK) st = find_candidates(&s, err);
    s.total = s.n;
    if (st == GF_OK) st = visit_candidates(&s, err);
    release_search(&s);
    return st;
}
