/**
 * Language of a text, by CLD2 (quadgrams, about 80 languages, about 20 MB/s). Any thread.
 *
 * CLD2 is the slowest step of an ingest by far, so a collection is sampled first
 * (gf_dominant_language); only a mixed one is worth a detection per document.
 */
#ifndef GF_VECTORIZE_TEXT_DETECT_H
#define GF_VECTORIZE_TEXT_DETECT_H

#include "base/pool.h"
#include "vectorize/text/language.h"

/*
 * Bytes of a text that are looked at. Of 17,000 texts of five collections (posts, articles in many
 * languages, papers, tweets) none gets another language from 64 KiB where both are reliable.
 */
enum { GF_DETECT_BYTES = 2 << 10, GF_LANGUAGE_CODE = 16 };

typedef struct gf_detection {
    const gf_language *language; /* NULL where it is none of ours, or none was found */
    char code[GF_LANGUAGE_CODE]; /* CLD2's ISO 639 code, such as "pl" or "zh-Hant"; "" for none */
    bool reliable;               /* CLD2 stands by it; short texts often are not */
} gf_detection;

/**
 * Detect the language of plain text; bad UTF-8 is repaired on the way.
 * @return GF_OK, also where nothing was found; GF_ENOMEM
 */
gf_status gf_language_detect(gf_slice text, gf_detection *detection, gf_error *err);

typedef struct gf_dominance {
    const gf_language *language; /* the one that dominates, where it is one of ours; else NULL */
    char code[GF_LANGUAGE_CODE]; /* the commonest code; "" where no text was reliable */
    double share;                /* of the reliable texts that are in it; 0 where there are none */
    size_t n_reliable;           /* texts that were looked at and detected reliably */
} gf_dominance;

/**
 * Language of a sample of texts, if it is in one: the language that at least 95 % of the reliably
 * detected texts are in (forms of one language, such as zh and zh-Hant, count together). Looks at
 * a fifth of the texts and more only where these are not nearly all in one; of each at the first
 * 256 bytes, and further where CLD2 is not sure of those.
 *
 * @param texts   evenly spread over the collection
 * @param pool    may be NULL; the answer is the same for any number of threads
 * @param cancel  may be NULL
 * @return GF_OK; GF_ENOMEM; GF_ECANCELLED
 */
gf_status gf_dominant_language(const gf_slice *texts, size_t n, gf_pool *pool,
                               gf_dominance *dominance, const gf_cancel *cancel, gf_error *err);

#endif
