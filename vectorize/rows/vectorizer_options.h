/**
 * The settings of the analysis, as a struct, by name ("min_df" = "2"), and as lines of text that
 * are kept beside a vocabulary, so that a text can later be analysed as the documents were.
 *
 * The names, their values and defaults are in one table (options.c); docs/analysis.md explains
 * them.
 */
#ifndef GF_VECTORIZE_ROWS_VECTORIZER_OPTIONS_H
#define GF_VECTORIZE_ROWS_VECTORIZER_OPTIONS_H

#include "grouperfish/buffer.h"
#include "vectorize/rows/weights.h"
#include "vectorize/text/language.h"

typedef enum gf_link_mode { GF_LINKS_SKIP, GF_LINKS_SPLIT, GF_LINKS_KEEP } gf_link_mode;
typedef enum gf_sign_mode { GF_SIGNS_WORD, GF_SIGNS_SKIP, GF_SIGNS_KEEP } gf_sign_mode;
typedef enum gf_cjk_mode { GF_CJK_WORDS, GF_CJK_BIGRAMS } gf_cjk_mode;

enum { GF_MOST_NGRAM = 3, GF_MOST_LENGTH = 1024 };

typedef struct gf_analysis_options {
    const gf_language *language; /* of every text; NULL: each text says its own */
    bool stop_words;             /* leave out the words of the language's stop list */
    gf_slice more_stop_words;    /* and these, separated by spaces, in every language; borrowed */
    bool stem;
    uint32_t ngrams_min, ngrams_max; /* words in a term: 1..GF_MOST_NGRAM, min <= max */
    bool ngrams_over_stop_words;     /* an n-gram may have stop words inside */
    bool ngrams_over_punctuation;    /* and punctuation */
    uint32_t
        min_length; /* characters of a word's normal form; shorter ones are no terms (but CJK) */
    uint32_t max_length;   /* characters of a word as written; longer ones are no terms */
    gf_link_mode urls;     /* URLs and e-mail addresses: left out, split into words, or terms */
    gf_sign_mode mentions; /* @name: name as a word, left out, or a term with its sign */
    gf_sign_mode hashtags; /* #tag: likewise */
    bool numbers;          /* words of digits only are terms */
    gf_cjk_mode cjk;       /* Han and Kana: ICU's words, or overlapping pairs of characters */
    struct gf_lexicon *lexicon; /* to ask about words, borrowed by analysers; NULL: each its own */
    bool entities; /* HTML's character references (&amp;) separate words; else are text */
} gf_analysis_options;

/** A bound on document frequency. */
typedef struct gf_df_limit {
    enum { GF_DF_AUTO, GF_DF_COUNT, GF_DF_SHARE } kind;
    uint32_t count; /* documents */
    double share;   /* of all documents, 0..1 */
} gf_df_limit;

typedef struct gf_vectorizer_options {
    gf_analysis_options analysis;
    gf_weights weights;
    gf_df_limit
        min_df; /* terms of fewer documents are dropped; auto: 2 from GF_AUTO_DF documents on */
    gf_df_limit max_df; /* terms of more are; auto: half of them from GF_AUTO_DF documents on */
    uint32_t max_terms; /* the most frequent of those left; 0 for all */
} gf_vectorizer_options;

enum { GF_AUTO_DF = 1000 };

/** The documented default of each setting. */
gf_vectorizer_options gf_vectorizer_options_default(void);

/**
 * Set one by name; "smart" sets tf, idf and norm in SMART's letters.
 *
 * @param value  of more_stop_words it is borrowed, the others are read
 * @return GF_OK; GF_EINVAL with the names or values that there are; options are then unchanged
 */
gf_status gf_vectorizer_options_set(gf_vectorizer_options *options, gf_slice name, gf_slice value,
                                    gf_error *err);

/** GF_EINVAL where values are out of range or contradict each other. */
gf_status gf_vectorizer_options_check(const gf_vectorizer_options *options, gf_error *err);

/** The i-th setting's name and its value in options; false past the last. */
bool gf_vectorizer_options_show(const gf_vectorizer_options *options, size_t i, const char **name,
                                gf_buffer *value);

/** Append all settings: a line with the format's version, then name=value lines. */
void gf_vectorizer_options_write(const gf_vectorizer_options *options, gf_buffer *out);

/**
 * Read what gf_vectorizer_options_write wrote. more_stop_words is borrowed from bytes.
 * @return GF_OK; GF_ECORRUPT; GF_ENOMEM. On failure *options is unchanged.
 */
gf_status gf_vectorizer_options_read(gf_slice bytes, gf_vectorizer_options *options, gf_error *err);

/** The bounds in documents among n_docs, auto resolved; no term passes where least > most. */
void gf_vectorizer_options_df_bounds(const gf_vectorizer_options *options, uint32_t n_docs,
                                     uint32_t *least, uint32_t *most);

#endif
