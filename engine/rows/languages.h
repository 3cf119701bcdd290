/**
 * The language that a document is analysed in if its configuration says language=auto: its own
 * `lang`, if that is supported; else the fallback of the build: the one language that
 * (nearly) all its documents without a `lang` are in, or where they are mixed what is detected in
 * each text.
 */
#ifndef GF_ENGINE_ROWS_LANGUAGES_H
#define GF_ENGINE_ROWS_LANGUAGES_H

#include "grouperfish/buffer.h"
#include "vectorize/text/language.h"

typedef enum gf_fallback_kind {
    GF_FALLBACK_UNKNOWN, /* not decided yet */
    GF_FALLBACK_FIXED,   /* `language`, or none where that is NULL */
    GF_FALLBACK_DETECT   /* each text's own */
} gf_fallback_kind;

typedef struct gf_fallback {
    gf_fallback_kind kind;
    const gf_language *language;
} gf_fallback;

/** The language of one document. The fallback must be decided. */
gf_status gf_languages_of_document(const gf_fallback *fallback, gf_slice lang, gf_slice text,
                                   const gf_language **language, gf_error *err);

/** As text, for the model: "auto", "none" or a name; and back (GF_ECORRUPT). */
void gf_languages_fallback_write(const gf_fallback *fallback, gf_buffer *out);
gf_status gf_languages_fallback_read(gf_slice text, gf_fallback *fallback, gf_error *err);

#endif
