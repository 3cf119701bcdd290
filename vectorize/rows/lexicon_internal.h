/**
 * The inside of a lexicon, as analysers use it: each has one, its own where it was given none,
 * which then remembers nothing, as the analyser's table of surfaces does.
 */
#ifndef GF_VECTORIZE_ROWS_LEXICON_INTERNAL_H
#define GF_VECTORIZE_ROWS_LEXICON_INTERNAL_H

#include "base/strings.h"
#include "grouperfish/buffer.h"
#include "vectorize/rows/analyser.h"
#include "vectorize/rows/lexicon.h"
#include "vectorize/rows/surfaces_internal.h"
#include "vectorize/text/stem.h"

/** Distinguishes equal bytes, beside the language (1 + its index, or 0). */
enum {
    GF_TAG_VERBATIM = 1 << 8, /* a link, or a mention or hashtag with its sign: no stemming */
    GF_TAG_LONG = 1 << 9,     /* the start of a word that is too long */
    GF_TAG_PIECE = 1 << 10    /* of a run without spaces: no least length */
};

/** Meaning of a surface: its term, borrowed until the next call, and a gf_word_use. */
typedef struct gf_meaning {
    gf_slice term; /* none where use is GF_WORD_NONE */
    uint32_t use;
} gf_meaning;

struct gf_lexicon {
    gf_analysis_options options; /* stop_words, more_stop_words, stem and min_length count */
    char *more_stop_words;       /* the options' text, ours; NULL: no options yet */
    gf_stemmers stemmers;
    gf_strings *stops[GF_LANGUAGES + 1]; /* by language as in the tag; NULL until needed */
    gf_buffer normal;                    /* scratch: a word's normal form */
    bool remembers;
    gf_surfaces met;  /* term is an id in terms */
    gf_strings terms; /* of all that was met */
};

/** Use these options from now on; forgets all where they differ. GF_ENOMEM. */
gf_status gf_lexicon_suit(gf_lexicon *l, const gf_analysis_options *options, gf_error *err);

/** A word's normal form, without a space; borrowed until the next. GF_ENOMEM; GF_EIO. */
gf_status gf_lexicon_normalise(gf_lexicon *l, gf_slice s, const gf_language *language,
                               gf_slice *normal, gf_error *err);

/** Meaning of a word in normal form. GF_ENOMEM. */
gf_status gf_lexicon_judge(gf_lexicon *l, gf_slice normal, const gf_language *language,
                           uint32_t tag, gf_meaning *meaning, gf_error *err);

/** Meaning of a surface, if the lexicon holds it. */
bool gf_lexicon_find(const gf_lexicon *l, const gf_surface_key *key, gf_slice s,
                     gf_meaning *meaning);

/** Remember it, where this lexicon does; it was not found before. GF_ENOMEM. */
gf_status gf_lexicon_remember(gf_lexicon *l, const gf_surface_key *key, gf_slice s,
                              const gf_meaning *meaning, gf_error *err);

#endif
