/**
 * The two indexes of a build as they lie in its row, in builds:model: of all words, which search
 * reads, and of the matrix, which similar reads. Both number documents by id and are cut into
 * segments, so that no cell grows with the collection and each segment can be made on its own.
 *
 *     search:h                    head: a byte 2 (the format), then varints and strings (a varint
 *                                 length and the bytes): documents n, their words in all, documents
 *                                 of a segment, of a chunk, of a term that is frequent, at least;
 *                                 languages m, m names ("" for none); the first id of each segment
 *     search:s <segment> i <b>    ids of its documents from b * GF_INDEX_IDS on, GF_INDEX_IDS strings
 *     search:s <segment> j <id>   the number b of the cell of ids that begins with this one
 *                                 (varint), and the first id of each from there on, GF_INDEX_FIRSTS
 *                                 strings. None where the segment has one cell of ids
 *     search:s <segment> l <b>    words of its documents from b * GF_INDEX_LENGTHS on: a byte for the
 *                                 width (1, 2, 4), then so many bytes each, little-endian
 *     search:s <segment> p <t> <q>  postings of a frequent term, its q-th cell: pieces, see below
 *     search:s <segment> t <term> terms from this one on, by bytes, some 16 KB: each a string and how
 *                                 many documents have it, df (varint); then
 *                       not frequent  bounds, a byte for GF_INDEX_GROUP postings each (none where
 *                                     df < GF_INDEX_GROUP), and the postings, as one string
 *                       frequent      its number t, pieces p (varints), and for each piece: its chunk
 *                                     less the one before, documents * 2 + 1 where a cell begins with
 *                                     it (varints), a bound (byte), its bytes (varint)
 *
 *     index:h                     head: a byte 2, varints: documents n, documents of a segment, 1
 *                                 where it has ids of its own and 0 where they are those of search:;
 *                                 then the first id of each segment, in the former case
 *     index:s <segment> i, j      as above
 *     index:s <segment> t <term>  terms from this one on, by number, some 16 KB: each its number
 *                                 less that of the one before (of the first: of this cell), how many
 *                                 documents have it (varints), their postings (a string)
 *
 * <segment>, <b>, <t>, <q> and a term's number are 4 bytes, big-endian; those from 0 on.
 *
 * A term of search is a byte for the number of the language in which its documents are analysed, and
 * the analyser's term: so one text's "die" is not another's. Every word counts, stop words and those
 * that no clustering uses too, whatever the configuration's filter.
 *
 * A posting is (the document's number less the one before) * 2 + more, and where more is 1 the value
 * less 2 (varints). The value is how often the document has the word, or its weight in 255ths and 1.
 *
 * A piece has a term's documents in one chunk of a segment, numbered from 0 on, either
 *
 *     a list     bounds, one for GF_INDEX_GROUP postings, and the postings
 *     a bitmap   where every eighth document has the term: bounds, one for GF_INDEX_RANGE documents
 *                (0 where none has it); 64 bits for each of these ranges, little-endian; two bits a
 *                document, low ones first: its count less 1, or 3, and for each 3 the count less 4
 *                (varint)
 *
 * A bound is what a posting of a group scores at most (gf_index_bound): block-max pruning by ranges
 * of documents that are the same for all terms.
 *
 * Sources: Ding & Suel, "Faster Top-k Document Retrieval Using Block-Max Indexes", SIGIR 2011;
 * Mallia, Suel & Tonellotto, "Faster Learned Sparse Retrieval with Block-Max Pruning", SIGIR 2024;
 * bitmaps beside lists: Chambi et al., "Better bitmap performance with Roaring bitmaps", 2016.
 *
 * A build without these cells (of an older version, or store_index=off) is searched by its texts.
 */
#ifndef GF_ENGINE_ROWS_INDEX_CELLS_H
#define GF_ENGINE_ROWS_INDEX_CELLS_H

#include "grouperfish/buffer.h"

#include <math.h>

enum {
    GF_INDEX_FORMAT = 2,
    GF_INDEX_IDS = 256,      /* of a cell */
    GF_INDEX_FIRSTS = 256,   /* first ids of a cell */
    GF_INDEX_LENGTHS = 4096, /* of a cell */
    GF_INDEX_GROUP = 32,     /* postings of a bound */
    GF_INDEX_RANGE = 64,     /* documents of a bound */
    GF_INDEX_CELL = 16 << 10 /* bytes of a cell of terms or pieces, about */
};

#define GF_INDEX_SEARCH "search:"
#define GF_INDEX_MATRIX "index:"

/** How an index is cut. */
typedef struct gf_index_shape {
    uint32_t segment; /* documents of one */
    uint32_t chunk;   /* documents of one; a multiple of GF_INDEX_RANGE, at most GF_INDEX_CHUNK */
    uint32_t is_long; /* documents from which on a term is frequent: its postings lie apart */
} gf_index_shape;

enum { GF_INDEX_SEGMENT = 1 << 22, GF_INDEX_CHUNK = 1 << 15, GF_INDEX_LONG = 4096 };

/** The shape that indexes are written with: the numbers above. */
gf_index_shape gf_index_shape_now(void);

/** For tests: the shape from now on; all 0 for the numbers above. */
void gf_index_set_shape(gf_index_shape shape);

/** Append prefix, "s", the segment and the kind: all cells of a kind of a segment begin so. */
void gf_index_qualifier(gf_buffer *out, const char *prefix, uint32_t segment, char kind);

static inline uint32_t gf_index_count(uint32_t n, uint32_t of)
{
    return n / of + (n % of != 0);
}

/** True where a chunk's piece of so many of its documents is a bitmap. */
static inline bool gf_index_is_bitmap(uint32_t documents, uint32_t of_chunk)
{
    return (uint64_t)documents * 8 >= of_chunk;
}

/* ---- scores and their bounds ----------------------------------------------------------------- */

/** ln(1 + (n - df + 1/2) / (df + 1/2)): never below 0 (Lucene's form of Robertson's weight). */
static inline double gf_bm25_idf(uint64_t n, uint64_t df)
{
    return log(1 + ((double)(n - df) + 0.5) / ((double)df + 0.5));
}

/** The score of an item that occurs `count` times in a document; mean: words of a document. */
static inline double gf_bm25_part(double idf, uint32_t count, uint64_t length, double mean)
{
    const double k1 = 1.2, b = 0.75;
    double c = count;
    return idf * c * (k1 + 1) / (c + k1 * (1 - b + b * (double)length / mean));
}

#define GF_BM25_MOST 2.2 /* no part is above it, by idf */

/** Postings seen since gf_index_bounding {0}, of one group. */
typedef struct gf_index_bounding {
    uint32_t shortest; /* length + 1 of the shortest document that has the term once; 0: none */
    double others;     /* the best part of the others, of those longer than can be told, by idf */
} gf_index_bounding;

enum { GF_INDEX_EXACT = 127 };

static inline void gf_index_bound_add(gf_index_bounding *b, uint32_t count, uint32_t length,
                                      double mean)
{
    if (count == 1 && length <= GF_INDEX_EXACT && length > 0) {
        if (b->shortest == 0 || length + 1 < b->shortest) b->shortest = length + 1;
        return;
    }
    double part = gf_bm25_part(1, count, length, mean);
    if (part > b->others) b->others = part;
}

/**
 * The bound of a group as a byte: of 1 to GF_INDEX_EXACT the best is a document of that length that
 * has the term once, so that the bound is what it scores; above it is one of 128 steps.
 */
unsigned char gf_index_bound(const gf_index_bounding *b, double mean);

/**
 * The bound by each such byte, where the mean length is `now` and was `then` as the index
 * was made: of 0 nothing. Where they are equal, bytes up to GF_INDEX_EXACT are exact.
 */
void gf_index_bounds(double idf, double then, double now, double bound[256]);

/* ---- postings -------------------------------------------------------------------------------- */

static inline const unsigned char *gf_index_varint(const unsigned char *p, const unsigned char *end,
                                                   uint64_t *v)
{
    if (p < end && *p < 0x80) {
        *v = *p;
        return p + 1;
    }
    gf_slice s = gf_slice_of((const char *)p, (size_t)(end - p));
    return gf_slice_take_varint(&s, v) ? (const unsigned char *)s.ptr : NULL;
}

/**
 * Take a posting off the front of p..end, behind one of *document; *first: it is the first. NULL
 * where the bytes are damaged, or the document is not below n.
 */
static inline const unsigned char *gf_index_posting(const unsigned char *p,
                                                    const unsigned char *end, uint32_t n,
                                                    bool first, uint32_t *document, uint32_t *value)
{
    uint64_t step, more = 0;
    p = gf_index_varint(p, end, &step);
    if (!p || (step >> 1 == 0 && !first) || step >> 1 >= n - *document) return NULL;
    *document += (uint32_t)(step >> 1);
    *value = 1;
    if (step & 1) {
        p = gf_index_varint(p, end, &more);
        if (!p || more > UINT32_MAX - 2) return NULL;
        *value = (uint32_t)more + 2;
    }
    return p;
}

static inline void gf_index_put_posting(gf_buffer *out, uint32_t step, uint32_t value)
{
    gf_buffer_varint(out, (uint64_t)step << 1 | (value > 1));
    if (value > 1) gf_buffer_varint(out, value - 2);
}

#endif
