/**
 * The cells of the index of all words (engine/rows/index_cells.h), of a segment whose documents are
 * inverted: in parts, which may be filled by any thread, or by another process that has the pieces of
 * the part's terms.
 *
 * A term is a language and a word: language * n_strings + the word's number.
 */
#ifndef GF_ENGINE_INDEX_SEARCH_H
#define GF_ENGINE_INDEX_SEARCH_H

#include "engine/index/ids.h"
#include "engine/index/inverted.h"
#include "vectorize/text/language.h"

enum { GF_INDEX_PART = 1 << 12 /* terms of a part */ };

/** A segment; strings and heads are borrowed. */
typedef struct gf_index_segment {
    gf_index_shape shape;
    uint32_t segment, m, n_chunks; /* m documents */
    gf_piece *pieces;              /* n_chunks */
    uint32_t *length;              /* m: words of each document */
    double mean;                   /* of all documents */
    gf_slice *strings;             /* n_strings, by number */
    uint32_t n_strings, n_languages;
    gf_buffer *heads; /* by part of terms: of its frequent ones, in order */
} gf_index_segment;

/**
 * Room for the pieces of the segment at hand, and its size.
 *
 * @param documents    of all segments
 * @param has_lengths  room for those, too
 */
gf_status gf_index_segment_begin(gf_index_segment *segment, uint32_t documents, bool has_lengths,
                                 gf_error *err);

/** Free that, also after a failure. */
void gf_index_segment_end(gf_index_segment *segment);

/** Lengths; as many parts as gf_index_length_parts says. */
gf_index_fill_cells gf_index_fill_lengths;

/** Postings of frequent terms, of which there are none where m is below shape.is_long. */
gf_index_fill_cells gf_index_fill_frequent;

/** Terms, once the part's frequent ones are filled. */
gf_index_fill_cells gf_index_fill_words;

uint32_t gf_index_length_parts(uint32_t documents);

/** Numbers that the index' head tells. */
typedef struct gf_index_words_head {
    uint32_t documents;
    uint64_t words; /* in all */
    gf_index_shape shape;
    bool spoken[GF_LANGUAGES + 1]; /* languages that documents have, by index + 1 */
} gf_index_words_head;

/** Append it; the first ids of segments follow (gf_index_first_ids). */
void gf_index_write_head(const gf_index_words_head *head, gf_buffer *out);

#endif
