#include "engine/search/chunk.h"

#include "base/grow.h"
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void gf_chunk_release(gf_index_chunk *c)
{
    for (size_t i = 0; i < c->n_made; i++)
        gf_free(c->bitmaps[i].further);
    gf_free(c->bitmaps);
    gf_free(c->count);
    *c = (gf_index_chunk){.n = 0};
}

gf_status gf_chunk_begin(gf_index_chunk *c, uint32_t n, bool counts, gf_error *err)
{
    for (uint32_t r = 0; r < c->ranges && c->sums; r++)
        if (c->touched[r])
            memset(c->count + r * GF_INDEX_RANGE, 0, GF_INDEX_RANGE * sizeof *c->count);
    memset(c->touched, 0, c->ranges * sizeof *c->touched);
    c->any = c->sums = false;
    c->n = n;
    c->ranges = gf_index_count(n, GF_INDEX_RANGE);
    c->n_bitmaps = 0;
    memset(c->has, 0, c->ranges * sizeof *c->has);
    memset(c->bound, 0, c->ranges * sizeof *c->bound);
    if (counts && !c->count) {
        c->count = gf_calloc(GF_INDEX_CHUNK, sizeof *c->count);
        if (!c->count) return gf_fail_memory(err, "a search");
    }
    return GF_OK;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* A list's bounds, gathered by ranges: of a range the best group's counts. */
typedef struct bounding {
    gf_index_chunk *c;
    const double *bound;
    bool sums;
    uint32_t range;
    double best;
} bounding;

static void end_range(bounding *b)
{
    double *to = &b->c->bound[b->range];
    if (b->sums)
        *to += b->best;
    else if (b->best > *to)
        *to = b->best;
    b->best = 0;
}

/* Counts that are summed begin with 0, else a document has one. */
static void add_count(gf_index_chunk *c, uint32_t document, uint32_t value)
{
    uint32_t *to = &c->count[document];
    if (!c->sums) {
        *to = value;
        return;
    }
    *to = value > UINT32_MAX - *to ? UINT32_MAX : *to + value;
    c->touched[document / GF_INDEX_RANGE] = true;
}

static void add_posting(bounding *b, uint32_t document, uint32_t value, double bound)
{
    gf_index_chunk *c = b->c;
    uint32_t range = document / GF_INDEX_RANGE;
    c->has[range] |= UINT64_C(1) << document % GF_INDEX_RANGE;
    if (!b->bound) return;
    if (range != b->range) {
        end_range(b);
        b->range = range;
    }
    if (bound > b->best) b->best = bound;
    add_count(c, document, value);
}

/* The postings of a rare term that are in the chunk, of which `first` is the first document. */
static gf_status load_rare(gf_index_chunk *c, gf_index_lists *l, gf_index_list *list, uint32_t n,
                           uint32_t first, const double *bound, bool sums, gf_error *err)
{
    const unsigned char *memory = (const unsigned char *)l->memory.ptr;
    const unsigned char *p = memory + list->at, *end = memory + list->end;
    bounding b = {.c = c, .bound = bound, .sums = sums};
    bool bounded = list->postings > list->bounds;
    while (list->taken < list->documents) {
        uint32_t document = list->last, value;
        p = gf_index_posting(p, end, n, list->taken == 0, &document, &value);
        if (!p) return gf_index_damaged(err);
        if (document >= first && document - first >= c->n) break; /* of a further chunk */
        if (document >= first) {
            size_t group = list->bounds + list->taken / GF_INDEX_GROUP;
            add_posting(&b, document - first, value,
                        bound ? bound[bounded ? memory[group] : 255] : 0);
            c->any = true;
        }
        list->at = (size_t)(p - memory);
        list->last = document;
        list->taken++;
    }
    if (bound) end_range(&b);
    if (list->taken == list->documents && list->at != list->end) return gf_index_damaged(err);
    return GF_OK;
}

static gf_status load_list(gf_index_chunk *c, const unsigned char *p, const unsigned char *end,
                           uint32_t documents, const double *bound, bool sums, gf_error *err)
{
    const unsigned char *bounds = p;
    uint32_t groups = gf_index_count(documents, GF_INDEX_GROUP), document = 0, value;
    bounding b = {.c = c, .bound = bound, .sums = sums};
    if ((size_t)(end - p) < groups + (size_t)documents) return gf_index_damaged(err);
    p += groups;
    for (uint32_t i = 0; i < documents; i++) {
        p = gf_index_posting(p, end, c->n, i == 0, &document, &value);
        if (!p) return gf_index_damaged(err);
        add_posting(&b, document, value, bound ? bound[bounds[i / GF_INDEX_GROUP]] : 0);
    }
    if (bound) end_range(&b);
    return p == end ? GF_OK : gf_index_damaged(err);
}

/* ---- bitmaps --------------------------------------------------------------------------------- */

static uint64_t read_bits(const unsigned char *p)
{
    uint64_t v = 0;
    for (int b = 7; b >= 0; b--)
        v = v << 8 | p[b];
    return v;
}

static gf_status need_bitmap(gf_index_chunk *c, gf_index_bitmap **b, gf_error *err)
{
    if (!gf_grow(&c->bitmaps, &c->bitmap_capacity, c->n_bitmaps + 1, sizeof *c->bitmaps))
        return gf_fail_memory(err, "a search");
    if (c->n_bitmaps == c->n_made) c->bitmaps[c->n_made++].further = NULL;
    *b = &c->bitmaps[c->n_bitmaps];
    uint32_t *further = (*b)->further;
    if (!further) (*b)->capacity = 0;
    (*b)->counted = false;
    return GF_OK;
}

static gf_status load_bitmap(gf_index_chunk *c, const unsigned char *p, const unsigned char *end,
                             uint32_t documents, const double *bound, bool sums, gf_error *err)
{
    gf_index_bitmap *b = NULL;
    uint32_t n = 0;
    size_t codes = gf_index_count(documents, 4);
    if ((size_t)(end - p) < c->ranges * (size_t)9 + codes) return gf_index_damaged(err);
    gf_status st = bound ? need_bitmap(c, &b, err) : GF_OK;
    if (st != GF_OK) return st;
    const unsigned char *bits = p + c->ranges;
    for (uint32_t r = 0; r < c->ranges; r++) {
        uint64_t here = read_bits(bits + 8 * (size_t)r);
        c->has[r] |= here;
        if (bound) {
            double most = bound[p[r]];
            b->before[r] = n;
            if (sums)
                c->bound[r] += most;
            else if (most > c->bound[r])
                c->bound[r] = most;
        }
        n += gf_index_bits(here);
    }
    uint32_t last = c->n % GF_INDEX_RANGE;
    if (n != documents || (last && c->has[c->ranges - 1] >> last)) return gf_index_damaged(err);
    if (!bound) return GF_OK;
    b->bits = bits;
    b->codes = bits + 8 * (size_t)c->ranges;
    b->more = b->codes + codes;
    b->end = end;
    b->documents = documents;
    c->n_bitmaps++;
    return GF_OK;
}

static unsigned code_of(const gf_index_bitmap *b, uint32_t i)
{
    return b->codes[i / 4] >> i % 4 * 2 & 3;
}

/* The further counts, and for each range how many come before. */
static gf_status count_further(const gf_index_chunk *c, gf_index_bitmap *b, gf_error *err)
{
    uint32_t range = 0, threes = 0;
    const unsigned char *p = b->more;
    for (uint32_t i = 0; i < b->documents; i++) {
        for (; range < c->ranges && b->before[range] == i; range++)
            b->threes[range] = threes;
        threes += code_of(b, i) == 3;
    }
    if (!gf_grow(&b->further, &b->capacity, (size_t)threes + 1, sizeof *b->further))
        return gf_fail_memory(err, "a search");
    for (uint32_t i = 0; i < threes; i++) {
        uint64_t v;
        p = gf_index_varint(p, b->end, &v);
        if (!p || v > UINT32_MAX - 4) return gf_index_damaged(err);
        b->further[i] = (uint32_t)v + 4;
    }
    b->counted = true;
    return p == b->end ? GF_OK : gf_index_damaged(err);
}

/* The count of the i-th document of a bitmap, which is the at-th of its range. */
static uint32_t count_at(const gf_index_bitmap *b, uint32_t range, uint32_t at)
{
    uint32_t i = b->before[range] + at, further = b->threes[range];
    unsigned code = code_of(b, i);
    if (code < 3) return code + 1;
    for (uint32_t before = b->before[range]; before < i; before++)
        further += code_of(b, before) == 3;
    return b->further[further];
}

gf_status gf_chunk_count(gf_index_chunk *c, uint32_t range, uint64_t documents, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < c->n_bitmaps && st == GF_OK; i++) {
        gf_index_bitmap *b = &c->bitmaps[i];
        uint64_t has = read_bits(b->bits + 8 * (size_t)range), here = has & documents;
        if (!here) continue;
        if (!b->counted) st = count_further(c, b, err);
        for (; here && st == GF_OK; here &= here - 1) {
            uint64_t bit = here & -here;
            uint32_t at = (uint32_t)__builtin_ctzll(here);
            add_count(c, range * GF_INDEX_RANGE + at,
                      count_at(b, range, gf_index_bits(has & (bit - 1))));
        }
    }
    return st;
}

/* ---- chunks of an index ---------------------------------------------------------------------- */

/* The piece of a frequent term in a chunk; NULL: none. */
static const gf_index_piece *find_piece(const gf_index_lists *l, const gf_index_list *list,
                                        uint32_t chunk)
{
    const gf_index_piece *pieces = l->pieces + list->first_piece;
    for (uint32_t i = list->next_piece; i < list->n_pieces && pieces[i].chunk <= chunk; i++)
        if (pieces[i].chunk == chunk) return &pieces[i];
    return NULL;
}

static void pass_list(const gf_index_lists *l, gf_index_list *list, uint32_t chunk)
{
    const gf_index_piece *pieces = l->pieces + list->first_piece;
    while (list->next_piece < list->n_pieces && pieces[list->next_piece].chunk <= chunk)
        list->next_piece++;
}

static gf_status load_frequent(gf_index_chunk *c, gf_search_index *x, uint32_t segment,
                               const gf_index_piece *piece, gf_index_list *list,
                               const double *bound, bool sums, gf_error *err)
{
    gf_status st = GF_OK;
    if (list->cell != piece->cell) {
        const uint32_t numbers[] = {list->term, piece->cell};
        list->cell = UINT32_MAX;
        st = gf_index_read(&x->place, segment, 'p', numbers, 2, &list->row, err);
        if (st != GF_OK) return st;
        list->cell = piece->cell;
    }
    gf_slice bytes = list->row.cells[0].value;
    if (piece->at > bytes.len || piece->bytes > bytes.len - piece->at) return gf_index_damaged(err);
    const unsigned char *p = (const unsigned char *)bytes.ptr + piece->at;
    if (gf_index_is_bitmap(piece->documents, c->n))
        st = load_bitmap(c, p, p + piece->bytes, piece->documents, bound, sums, err);
    else
        st = load_list(c, p, p + piece->bytes, piece->documents, bound, sums, err);
    c->any = true;
    return st;
}

gf_status gf_chunk_load(gf_index_chunk *c, gf_search_index *x, uint32_t segment, uint32_t chunk,
                        gf_index_lists *lists, const double bound[256], bool sums, gf_error *err)
{
    uint32_t n = gf_search_index_documents(x, segment), first = chunk * x->chunk;
    uint32_t of_chunk = n - first < x->chunk ? n - first : x->chunk;
    gf_status st = gf_chunk_begin(c, of_chunk, bound != NULL, err);
    c->sums = sums;
    for (size_t i = 0; i < lists->n && st == GF_OK; i++) {
        gf_index_list *list = &lists->list[i];
        if (list->n_pieces == 0) {
            st = load_rare(c, lists, list, n, first, bound, sums, err);
            continue;
        }
        const gf_index_piece *piece = find_piece(lists, list, chunk);
        if (piece) st = load_frequent(c, x, segment, piece, list, bound, sums, err);
        pass_list(lists, list, chunk);
    }
    return st;
}

double gf_chunk_bound(const gf_index_lists *lists, uint32_t chunk, const double bound[256])
{
    double best = 0;
    for (size_t i = 0; i < lists->n; i++) {
        const gf_index_list *list = &lists->list[i];
        if (list->n_pieces == 0) return INFINITY;
        const gf_index_piece *piece = find_piece(lists, list, chunk);
        if (piece && bound[piece->bound] > best) best = bound[piece->bound];
    }
    return best;
}

void gf_chunk_pass(gf_index_lists *lists, uint32_t chunk)
{
    for (size_t i = 0; i < lists->n; i++) {
        assert(lists->list[i].n_pieces);
        pass_list(lists, &lists->list[i], chunk);
    }
}
