/**
 * Text to tokens.
 *
 * A word is a run of letters, marks, digits and underscores; soft hyphens and joiners belong to it
 * where they stand inside; underscores at its ends do not (_so_ is "so"), and a run of nothing else
 * is no token. Apostrophes split: "don't" is don, t. Runs of Han and Kana, and of Thai, Lao, Khmer
 * and Myanmar, are cut into words by ICU's dictionaries, or Han and Kana into overlapping pairs.
 *
 *     Mail   ann@example.org,  not   @bob  ! #fail  see http://x.org/a(b).  雪が降る
 *     word   address          break        break        url              break cjk cjk cjk
 *                              word  mention     hashtag word
 *
 * A token's bytes are as the text has them. Bytes that are not UTF-8 separate, like punctuation.
 * Nothing is read outside the text, and time is linear in its length, whatever it holds.
 *
 * One tokeniser per thread.
 */
#ifndef GF_VECTORIZE_TEXT_TOKENISER_H
#define GF_VECTORIZE_TEXT_TOKENISER_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdint.h>

typedef enum gf_token_kind {
    GF_TOKEN_WORD,
    GF_TOKEN_NUMBER,  /* digits only */
    GF_TOKEN_CJK,     /* cut out of a run of letters without spaces */
    GF_TOKEN_URL,     /* http:// https:// www. */
    GF_TOKEN_ADDRESS, /* e-mail */
    GF_TOKEN_MENTION, /* the name of @name */
    GF_TOKEN_HASHTAG  /* the tag of #tag, which is not all digits */
} gf_token_kind;

enum {
    /* Punctuation stands between this token and the one before: . ! ? : ; , brackets, quotes,
       symbols, a line without text, a dash with space beside it; not / ' _ & nor the - of a word.
     */
    GF_TOKEN_BREAK = 1,
    GF_TOKEN_LONG = 2,  /* longer than options.max_length, a link longer than GF_LONGEST_LINK */
    GF_TOKEN_PIECE = 4, /* cut out of a run of letters without spaces, whatever its kind */
    GF_TOKEN_SIGN = 8   /* a mention or hashtag whose bytes include the sign */
};

enum { GF_LONGEST_LINK = 1024 /* bytes */ };

typedef struct gf_token {
    uint32_t start, length; /* bytes in the text */
    uint8_t kind;           /* gf_token_kind */
    uint8_t flags;
} gf_token;

typedef struct gf_token_options {
    uint32_t max_length; /* code points of a word that is not GF_TOKEN_LONG */
    bool links;          /* find URLs and addresses; else they are text like any other */
    bool mention_signs;  /* a mention is one token with its sign */
    bool hashtag_signs;  /* likewise */
    bool references;     /* &amp; and its like separate; else they are text */
    bool bigrams;        /* Han and Kana in overlapping pairs of characters */
    bool portable;       /* walk byte by byte, as where there is no SSE2: the same tokens */
} gf_token_options;

/** 64 characters, links and references found, signs left off, words of ICU. */
#define GF_TOKEN_OPTIONS_DEFAULT                                                                   \
    (gf_token_options)                                                                             \
    {                                                                                              \
        .max_length = 64, .links = true, .references = true                                        \
    }

typedef struct gf_tokeniser {
    gf_token_options options;
    gf_token *tokens; /* n, of the text given last; by rising start */
    size_t n, capacity;
    struct gf_word_breaker *breaker; /* NULL until needed */
} gf_tokeniser;

void gf_tokeniser_init(gf_tokeniser *t, gf_token_options options);
void gf_tokeniser_release(gf_tokeniser *t);

/**
 * Fill t->tokens with the tokens of text.
 *
 * @return GF_OK; GF_ELIMIT (4 GiB of text or more); GF_ENOMEM; GF_EIO (ICU's data are missing).
 *         On failure t->n is 0.
 */
gf_status gf_tokenise(gf_tokeniser *t, gf_slice text, gf_error *err);

#endif
