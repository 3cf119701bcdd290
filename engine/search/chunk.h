/**
 * The documents of one chunk of the index that have a word: which they are, what they score at most
 * by ranges of GF_INDEX_RANGE, and how often they have it, which is looked up where it is wanted.
 */
#ifndef GF_ENGINE_SEARCH_CHUNK_H
#define GF_ENGINE_SEARCH_CHUNK_H

#include "engine/search/index.h"

enum { GF_CHUNK_RANGES = GF_INDEX_CHUNK / GF_INDEX_RANGE };

/** A bitmap of a term, within its list's row. */
typedef struct gf_index_bitmap {
    const unsigned char *bits, *codes, *more, *end;
    uint32_t documents;
    bool counted;                     /* the rest is set */
    uint32_t before[GF_CHUNK_RANGES]; /* documents in the ranges before */
    uint32_t threes[GF_CHUNK_RANGES]; /* of those, how many have a further count */
    uint32_t *further;                /* of capacity: these counts */
    size_t capacity;
} gf_index_bitmap;

/** {0} to begin with. A chunk of its own for each item; it is used again for the next one. */
typedef struct gf_index_chunk {
    uint32_t n, ranges; /* documents of the chunk */
    bool any;
    uint64_t has[GF_CHUNK_RANGES]; /* a bit for each document */
    double bound[GF_CHUNK_RANGES]; /* of each range */
    uint32_t *count;               /* n: how often; NULL until it is wanted */
    bool sums;                     /* counts are sums, and 0 in ranges that are not */
    bool touched[GF_CHUNK_RANGES]; /* touched; else known only of documents that it has */
    gf_index_bitmap *bitmaps;      /* n_bitmaps of n_made */
    size_t n_bitmaps, n_made, bitmap_capacity;
} gf_index_chunk;

/** The bits that are set. */
static inline uint32_t gf_index_bits(uint64_t v)
{
    v -= v >> 1 & UINT64_C(0x5555555555555555);
    v = (v & UINT64_C(0x3333333333333333)) + (v >> 2 & UINT64_C(0x3333333333333333));
    v = (v + (v >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (uint32_t)(v * UINT64_C(0x0101010101010101) >> 56);
}

void gf_chunk_release(gf_index_chunk *c);

/** Empty it, for a chunk of so many documents. */
gf_status gf_chunk_begin(gf_index_chunk *c, uint32_t n, bool counts, gf_error *err);

/**
 * Load chunk `chunk` of a segment from lists, which are at it or before.
 *
 * @param bound  what each byte bounds by; NULL: only `has` is wanted
 * @param sums   a document may be in several of the lists, and its counts are summed
 * @return GF_OK; GF_ECORRUPT, GF_EIO, GF_ENOMEM
 */
gf_status gf_chunk_load(gf_index_chunk *c, gf_search_index *x, uint32_t segment, uint32_t chunk,
                        gf_index_lists *lists, const double bound[256], bool sums, gf_error *err);

/** The best bound of what lists have in a chunk, if it is known without reading; else infinity. */
double gf_chunk_bound(const gf_index_lists *lists, uint32_t chunk, const double bound[256]);

/** Pass a chunk of the lists without loading it: only where gf_chunk_bound told its bound. */
void gf_chunk_pass(gf_index_lists *lists, uint32_t chunk);

/** Have the counts of documents of a range, by their bits; once for each chunk. */
gf_status gf_chunk_count(gf_index_chunk *c, uint32_t range, uint64_t documents, gf_error *err);

#endif
