/* Items of a query in the index: words, prefixes, several words one behind the other. */
#include "engine/search/internal.h"

#include "base/lower_bound.h"
#include "base/memory.h"

/* ---- outdated documents ---------------------------------------------------------------------- */

/* The first outdated one that is not below a document, by its place. */
static size_t find_outdated(const gf_search_source *s, uint32_t document)
{
    return gf_lower_bound(s->outdated, (uint32_t)s->n_outdated, document);
}

void gf_search_drop_outdated(const gf_search_source *s, uint32_t first, uint32_t n, uint64_t *bits)
{
    for (size_t i = find_outdated(s, first); i < s->n_outdated && s->outdated[i] - first < n; i++) {
        uint32_t d = s->outdated[i] - first;
        bits[d / GF_INDEX_RANGE] &= ~(UINT64_C(1) << d % GF_INDEX_RANGE);
    }
}

static uint64_t count_bits(const gf_index_chunk *c)
{
    uint64_t n = 0;
    for (uint32_t r = 0; r < c->ranges; r++)
        n += gf_index_bits(c->has[r]);
    return n;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* The `at`-th word of an item in a segment, in all languages of the index. */
static gf_status open_word(gf_search_items *q, size_t item, size_t at, uint32_t segment,
                           gf_index_lists *lists, gf_error *err)
{
    gf_search_index *x = &q->source->index;
    gf_status st = GF_OK;
    for (uint32_t l = 0; l < x->n_languages && st == GF_OK; l++) {
        const gf_query_terms *t;
        st = gf_matcher_terms(q->matcher, x->languages[l], &t, err);
        if (st != GF_OK || t->start[item] + at >= t->start[item + 1]) continue;
        size_t word = t->start[item] + at;
        st = t->prefix[word].len
                 ? gf_search_index_prefix(x, segment, l, t->prefix[word], t->term[word], lists, err)
                 : gf_search_index_term(x, segment, l, t->term[word], lists, err);
    }
    return st;
}

gf_status gf_search_items_begin(gf_search_items *q, size_t item, uint32_t segment, gf_error *err)
{
    gf_search_item *i = &q->item[item];
    if (i->several) return GF_OK;
    gf_status st =
        i->open[segment] ? GF_OK : open_word(q, item, 0, segment, &i->lists[segment], err);
    if (st == GF_OK) {
        i->open[segment] = true;
        gf_index_lists_rewind(&i->lists[segment]);
    } else {
        gf_index_lists_release(&i->lists[segment]);
    }
    return st;
}

void gf_search_items_end(gf_search_items *q, size_t item, uint32_t segment)
{
    gf_search_item *i = &q->item[item];
    if (i->several) return;
    gf_index_lists_release(&i->lists[segment]);
    i->open[segment] = false;
}

/* Documents of a word that are outdated: only chunks that have such ones are read. */
static gf_status count_outdated(gf_search_items *q, size_t item, gf_index_chunk *c, uint64_t *n,
                                gf_error *err)
{
    const gf_search_source *s = q->source;
    const gf_search_index *x = &s->index;
    gf_status st = GF_OK;
    for (size_t i = 0; i < s->n_outdated && st == GF_OK;) {
        uint32_t segment = s->outdated[i] / x->segment;
        uint32_t chunk = s->outdated[i] % x->segment / x->chunk;
        uint32_t first = segment * x->segment + chunk * x->chunk;
        st = gf_search_items_load(q, item, segment, chunk, NULL, c, err);
        for (; st == GF_OK && i < s->n_outdated && s->outdated[i] - first < c->n; i++) {
            uint32_t d = s->outdated[i] - first;
            *n += c->has[d / GF_INDEX_RANGE] >> d % GF_INDEX_RANGE & 1;
        }
    }
    return st;
}

/* A word's documents are told by its lists; of a prefix one may be in several. */
static gf_status count_word(gf_search_items *q, size_t item, gf_index_chunk *c, gf_error *err)
{
    gf_search_index *x = &q->source->index;
    gf_search_item *i = &q->item[item];
    uint64_t outdated = 0;
    gf_status st = GF_OK;
    for (uint32_t s = 0; s < x->n_segments && st == GF_OK; s++) {
        st = gf_search_items_begin(q, item, s, err);
        for (size_t l = 0; st == GF_OK && !i->prefix && l < i->lists[s].n; l++)
            i->documents += i->lists[s].list[l].documents;
        uint32_t n = gf_search_index_documents(x, s);
        for (uint32_t k = 0; i->prefix && k * (uint64_t)x->chunk < n && st == GF_OK; k++) {
            st = gf_cancel_check(q->source->cancel, err);
            if (st == GF_OK) st = gf_search_items_load(q, item, s, k, NULL, c, err);
            if (st != GF_OK) break;
            gf_search_drop_outdated(q->source, s * x->segment + k * x->chunk, c->n, c->has);
            i->documents += count_bits(c);
        }
        if (i->prefix && x->n_segments > 1) gf_search_items_end(q, item, s);
    }
    if (st == GF_OK && !i->prefix) st = count_outdated(q, item, c, &outdated, err);
    if (outdated > i->documents) return gf_index_damaged(err);
    i->documents -= outdated;
    return st;
}

/* ---- several words --------------------------------------------------------------------------- */

/*
 * The most words that an item is in a language of the index, and the fewest: in the language with
 * the fewest no more than these can be looked for.
 */
static gf_status count_words(gf_search_items *q, size_t item, size_t *most, size_t *fewest,
                             bool *prefix, gf_error *err)
{
    const gf_search_index *x = &q->source->index;
    gf_status st = GF_OK;
    *most = 0;
    *fewest = SIZE_MAX;
    *prefix = false;
    for (uint32_t l = 0; l < x->n_languages && st == GF_OK; l++) {
        const gf_query_terms *t;
        st = gf_matcher_terms(q->matcher, x->languages[l], &t, err);
        if (st != GF_OK) break;
        size_t n = t->start[item + 1] - t->start[item];
        if (n > *most) *most = n;
        if (n < *fewest) *fewest = n;
        *prefix = *prefix || t->prefix[t->start[item]].len;
    }
    return st;
}

/* Keep a document if its text has the words side by side. */
static gf_status look_at_text(gf_search_items *q, size_t item, uint32_t document, gf_row *row,
                              gf_error *err)
{
    gf_search_source *s = q->source;
    gf_slice id;
    gf_matched matched;
    const gf_language *language;
    gf_status st = gf_cancel_check(s->cancel, err);
    if (st == GF_OK) st = gf_id_reader_id(&s->index.ids, document, &id, err);
    if (st == GF_OK) st = gf_state_row(s->state, id, row, err);
    if (st == GF_ENOTFOUND && !s->state->snapshot) return GF_OK; /* deleted just now */
    if (st == GF_ENOTFOUND) return gf_fail(err, GF_ECORRUPT, "a document of the index is missing");
    if (st != GF_OK) return st;
    const gf_cell *text = gf_row_find(row, GF_DOCUMENTS_MAIN, "text");
    const gf_cell *lang = gf_row_find(row, GF_DOCUMENTS_MAIN, "lang");
    gf_slice bytes = text ? text->value : (gf_slice){"", 0};
    st = gf_search_language(s, lang ? lang->value : (gf_slice){"", 0}, bytes, &language, err);
    if (st == GF_OK) st = gf_matcher_match(q->matcher, bytes, language, &matched, err);
    if (st != GF_OK || matched.count[item] == 0) return st;
    return gf_postings_add(&q->item[item].found, document, matched.count[item], err);
}

/* Documents of a segment that have all of the words, at least `fewest` of them, anywhere. */
static gf_status look_at_segment(gf_search_items *q, size_t item, size_t fewest, uint32_t segment,
                                 gf_index_lists *words, gf_index_chunk *c, gf_row *row,
                                 gf_error *err)
{
    gf_search_index *x = &q->source->index;
    uint32_t n = gf_search_index_documents(x, segment);
    uint64_t all[GF_CHUNK_RANGES];
    gf_status st = GF_OK;
    for (size_t w = 0; w < fewest && st == GF_OK; w++)
        st = open_word(q, item, w, segment, &words[w], err);
    for (uint32_t k = 0; k * (uint64_t)x->chunk < n && st == GF_OK; k++) {
        uint32_t first = segment * x->segment + k * x->chunk;
        memset(all, 0xFF, sizeof all);
        c->any = true;
        for (size_t w = 0; w < fewest && st == GF_OK && c->any; w++) {
            st = gf_chunk_load(c, x, segment, k, &words[w], NULL, false, err);
            for (uint32_t r = 0; r < c->ranges; r++)
                all[r] &= c->has[r];
        }
        if (st != GF_OK || !c->any) continue;
        gf_search_drop_outdated(q->source, first, c->n, all);
        for (uint32_t r = 0; r < c->ranges; r++)
            for (uint64_t here = all[r]; here && st == GF_OK; here &= here - 1)
                st = look_at_text(q, item,
                                  first + r * GF_INDEX_RANGE + (uint32_t)__builtin_ctzll(here), row,
                                  err);
    }
    return st;
}

static gf_status find_several(gf_search_items *q, size_t item, size_t fewest, gf_index_chunk *c,
                              gf_error *err)
{
    gf_index_lists words[GF_QUERY_ITEMS] = {{0}};
    gf_row row = {0};
    gf_status st = GF_OK;
    for (uint32_t s = 0; s < q->source->index.n_segments && st == GF_OK; s++) {
        st = look_at_segment(q, item, fewest, s, words, c, &row, err);
        for (size_t w = 0; w < fewest; w++)
            gf_index_lists_release(&words[w]);
    }
    gf_row_release(&row);
    q->item[item].documents = q->item[item].found.n;
    return st;
}

/* ---- all items ------------------------------------------------------------------------------- */

static gf_status open_item(gf_search_items *q, size_t item, gf_index_chunk *c, gf_error *err)
{
    gf_search_item *i = &q->item[item];
    uint32_t segments = q->source->index.n_segments;
    size_t most, fewest;
    gf_status st = count_words(q, item, &most, &fewest, &i->prefix, err);
    if (st != GF_OK) return st;
    i->several = most > 1;
    if (i->several) return find_several(q, item, fewest, c, err);
    i->lists = gf_calloc(segments, sizeof *i->lists);
    i->open = gf_calloc(segments, sizeof *i->open);
    if (!i->lists || !i->open) return gf_fail_memory(err, "a search");
    return count_word(q, item, c, err);
}

gf_status gf_search_items_open(gf_search_items *q, gf_search_source *source, gf_matcher *matcher,
                               size_t n, gf_error *err)
{
    *q = (gf_search_items){.source = source, .matcher = matcher, .n = n};
    gf_index_chunk *c = gf_calloc(1, sizeof *c);
    gf_status st = c ? GF_OK : gf_fail_memory(err, "a search");
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = open_item(q, i, c, err);
    if (c) gf_chunk_release(c);
    gf_free(c);
    if (st != GF_OK) gf_search_items_release(q);
    return st;
}

void gf_search_items_release(gf_search_items *q)
{
    for (size_t i = 0; i < q->n; i++) {
        for (uint32_t s = 0; q->item[i].lists && s < q->source->index.n_segments; s++)
            gf_index_lists_release(&q->item[i].lists[s]);
        gf_free(q->item[i].lists);
        gf_free(q->item[i].open);
        gf_postings_release(&q->item[i].found);
    }
    *q = (gf_search_items){.n = 0};
}

/* Documents that were found by their texts. */
static void load_found(const gf_postings *found, uint32_t first, const double *bound,
                       gf_index_chunk *c)
{
    size_t low = gf_lower_bound(found->document, (uint32_t)found->n, first);
    for (; low < found->n && found->document[low] - first < c->n; low++) {
        uint32_t d = found->document[low] - first;
        c->has[d / GF_INDEX_RANGE] |= UINT64_C(1) << d % GF_INDEX_RANGE;
        c->any = true;
        if (!bound) continue;
        c->bound[d / GF_INDEX_RANGE] = bound[255];
        c->count[d] = found->count[low];
    }
}

gf_status gf_search_items_load(gf_search_items *q, size_t item, uint32_t segment, uint32_t chunk,
                               const double bound[256], gf_index_chunk *c, gf_error *err)
{
    gf_search_index *x = &q->source->index;
    gf_search_item *i = &q->item[item];
    if (!i->several)
        return gf_chunk_load(c, x, segment, chunk, &i->lists[segment], bound, i->prefix, err);
    uint32_t n = gf_search_index_documents(x, segment), first = chunk * x->chunk;
    gf_status st =
        gf_chunk_begin(c, n - first < x->chunk ? n - first : x->chunk, bound != NULL, err);
    if (st == GF_OK) load_found(&i->found, segment * x->segment + first, bound, c);
    return st;
}
