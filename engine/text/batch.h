/**
 * The texts of a group as input of the vectorizer, each with the language that it is analysed in.
 */
#ifndef GF_ENGINE_TEXT_BATCH_H
#define GF_ENGINE_TEXT_BATCH_H

#include "base/pool.h"
#include "engine/rows/languages.h"
#include "engine/text/group.h"
#include "vectorize/rows/vectorizer.h"

/** {0} to begin with; gf_free what is at `at`. */
typedef struct gf_batch_texts {
    gf_text *at; /* of capacity; the texts are the group's */
    size_t capacity;
} gf_batch_texts;

/**
 * @param fallback  NULL: the configuration names the language, and texts have none. Of unknown kind
 *                  it gives none to texts without a lang
 */
gf_status gf_batch_texts_make(gf_batch_texts *texts, const gf_text_group *group,
                              const gf_fallback *fallback, gf_pool *pool, const gf_cancel *cancel,
                              gf_error *err);

#endif
