/*
 * The best documents of the index for a query.
 *
 *     chunk    by item: has, bounds by ranges of 64 documents
 *     range    sum of bounds <= the worst of the best so far: its documents are only counted
 *              else those are weighed that have each item without which the sum is too low
 *
 * Documents come by rising number, so one that scores no more than the worst is not among the best:
 * equal scores are by id.
 */
#include "engine/search/internal.h"

#include "base/grow.h"
#include "base/memory.h"

bool gf_search_weigh(const gf_search_weights *w, const uint32_t *count, uint64_t length,
                     double *score)
{
    bool any = false;
    *score = 0;
    for (size_t i = 0; i < w->query->n; i++) {
        const gf_query_item *item = &w->query->items[i];
        if (item->excludes ? count[i] > 0 : item->is_phrase && count[i] == 0) return false;
        if (item->excludes || count[i] == 0) continue;
        any = true;
        *score += gf_bm25_part(w->idf[i], count[i], length, w->mean);
    }
    return any;
}

/* ---- the best so far: a heap with the worst on top ------------------------------------------- */

static void sink(gf_candidate *heap, size_t n, size_t i)
{
    for (;;) {
        size_t worst = i, left = 2 * i + 1;
        if (left < n && gf_candidate_is_better(&heap[worst], &heap[left])) worst = left;
        if (left + 1 < n && gf_candidate_is_better(&heap[worst], &heap[left + 1])) worst = left + 1;
        if (worst == i) return;
        gf_candidate swap = heap[i];
        heap[i] = heap[worst];
        heap[worst] = swap;
        i = worst;
    }
}

static bool is_full(const gf_best_found *b)
{
    return b->most && b->n == b->most;
}

static gf_status add(gf_best_found *b, double score, uint32_t document, gf_error *err)
{
    gf_candidate c = {score, (uint64_t)document << 32 | GF_FROM_INDEX};
    if (is_full(b)) {
        if (gf_candidate_is_better(&c, &b->at[0])) {
            b->at[0] = c;
            sink(b->at, b->n, 0);
        }
        return GF_OK;
    }
    if (!gf_grow(&b->at, &b->capacity, b->n + 1, sizeof *b->at))
        return gf_fail_memory(err, "a search");
    b->at[b->n++] = c;
    for (size_t i = b->n / 2; is_full(b) && i-- > 0;)
        sink(b->at, b->n, i);
    return GF_OK;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

typedef struct ranking {
    gf_search_items *items;
    const gf_search_weights *weights;
    gf_best_found *best;
    gf_index_chunk *chunk; /* by item */
    double (*bound)[256];  /* by item */
    bool single;           /* one word: how many have it is known */
} ranking;

static gf_status weigh_range(ranking *k, uint32_t first, uint32_t range, uint64_t mask,
                             gf_error *err)
{
    size_t n = k->items->n;
    uint32_t count[GF_QUERY_ITEMS], length;
    gf_status st = GF_OK;
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = gf_chunk_count(&k->chunk[i], range, mask, err);
    for (; mask && st == GF_OK; mask &= mask - 1) {
        uint32_t d = range * GF_INDEX_RANGE + (uint32_t)__builtin_ctzll(mask);
        double score;
        for (size_t i = 0; i < n; i++)
            count[i] = k->chunk[i].has[range] >> d % GF_INDEX_RANGE & 1 ? k->chunk[i].count[d] : 0;
        st = gf_search_index_length(&k->items->source->index, first + d, &length, err);
        if (st == GF_OK && gf_search_weigh(k->weights, count, length, &score))
            st = add(k->best, score, first + d, err);
    }
    return st;
}

/* Bits of the documents that the query finds; the sums of bounds by range. */
static void find_documents(const ranking *k, uint32_t first, uint64_t *found, double *most)
{
    const gf_query *q = k->weights->query;
    uint32_t ranges = k->chunk[0].ranges;
    memset(found, 0, ranges * sizeof *found);
    memset(most, 0, ranges * sizeof *most);
    for (size_t i = 0; i < q->n; i++) {
        const gf_index_chunk *c = &k->chunk[i];
        if (q->items[i].excludes || !c->any) continue;
        for (uint32_t r = 0; r < ranges; r++) {
            found[r] |= c->has[r];
            most[r] += c->bound[r];
        }
    }
    for (size_t i = 0; i < q->n; i++) {
        const gf_index_chunk *c = &k->chunk[i];
        uint64_t turned = q->items[i].excludes ? UINT64_MAX : 0;
        if (!q->items[i].excludes && !q->items[i].is_phrase) continue;
        for (uint32_t r = 0; r < ranges; r++)
            found[r] &= c->has[r] ^ turned;
    }
    gf_search_drop_outdated(k->items->source, first, k->chunk[0].n, found);
}

/* The documents of a range that may be among the best: where the sum without an item is too low,
   they must have it. Sums are in the order of the items, so that no rounding makes them too low. */
static uint64_t keep_possible(const ranking *k, uint32_t range, uint64_t found)
{
    const gf_query *q = k->weights->query;
    for (size_t i = 0; i < q->n && found; i++) {
        double without = 0;
        if (q->items[i].excludes) continue;
        for (size_t j = 0; j < q->n; j++)
            if (j != i && !q->items[j].excludes) without += k->chunk[j].bound[range];
        if (without <= k->best->at[0].score) found &= k->chunk[i].has[range];
    }
    return found;
}

static gf_status rank_chunk(ranking *k, uint32_t first, gf_error *err)
{
    uint32_t ranges = k->chunk[0].ranges;
    uint64_t found[GF_CHUNK_RANGES], total = 0;
    double most[GF_CHUNK_RANGES];
    gf_status st = GF_OK;
    find_documents(k, first, found, most);
    for (uint32_t r = 0; r < ranges && st == GF_OK; r++) {
        uint64_t possible = found[r];
        if (!possible) continue;
        total += gf_index_bits(possible);
        if (is_full(k->best)) {
            if (most[r] <= k->best->at[0].score) continue;
            possible = keep_possible(k, r, possible);
        }
        if (possible) st = weigh_range(k, first, r, possible, err);
    }
    k->best->total += total;
    return st;
}

static bool is_passed(const ranking *k, uint32_t segment, uint32_t chunk)
{
    if (!k->single || !is_full(k->best)) return false;
    const gf_index_lists *lists = &k->items->item[0].lists[segment];
    return gf_chunk_bound(lists, chunk, k->bound[0]) <= k->best->at[0].score;
}

static gf_status rank_segment(ranking *k, uint32_t segment, gf_error *err)
{
    const gf_search_index *x = &k->items->source->index;
    uint32_t n = gf_search_index_documents(x, segment);
    gf_status st = GF_OK;
    for (size_t i = 0; i < k->items->n && st == GF_OK; i++)
        st = gf_search_items_begin(k->items, i, segment, err);
    for (uint32_t c = 0; c * (uint64_t)x->chunk < n && st == GF_OK; c++) {
        bool any = false;
        st = gf_cancel_check(k->items->source->cancel, err);
        if (st == GF_OK && is_passed(k, segment, c)) {
            gf_chunk_pass(&k->items->item[0].lists[segment], c);
            continue;
        }
        for (size_t i = 0; i < k->items->n && st == GF_OK; i++) {
            st = gf_search_items_load(k->items, i, segment, c, k->bound[i], &k->chunk[i], err);
            any = any || k->chunk[i].any;
        }
        if (st == GF_OK && any) st = rank_chunk(k, segment * x->segment + c * x->chunk, err);
    }
    for (size_t i = 0; i < k->items->n; i++)
        gf_search_items_end(k->items, i, segment);
    return st;
}

gf_status gf_search_best(gf_search_items *items, const gf_search_weights *weights,
                         gf_best_found *best, gf_error *err)
{
    const gf_search_index *x = &items->source->index;
    ranking k = {.items = items, .weights = weights, .best = best};
    gf_status st = GF_OK;
    best->n = best->total = 0;
    k.chunk = gf_calloc(items->n, sizeof *k.chunk);
    k.bound = gf_array(items->n, sizeof *k.bound);
    if (!k.chunk || !k.bound) st = gf_fail_memory(err, "a search");
    for (size_t i = 0; i < items->n && st == GF_OK; i++)
        gf_index_bounds(weights->idf[i], x->mean, weights->mean, k.bound[i]);
    k.single = items->n == 1 && !items->item[0].several && !items->item[0].prefix &&
               !weights->query->items[0].excludes;
    for (uint32_t s = 0; s < x->n_segments && st == GF_OK; s++)
        st = rank_segment(&k, s, err);
    if (k.single) best->total = items->item[0].documents;
    for (size_t i = 0; k.chunk && i < items->n; i++)
        gf_chunk_release(&k.chunk[i]);
    gf_free(k.chunk);
    gf_free(k.bound);
    return st;
}
