/**
 * The sentences of a text, as people wrote them: by ICU's sentence breaker (Unicode Standard
 * Annex 29), over paragraphs that are put together first.
 *
 *     text -> lines -> paragraphs -> sentences
 *
 * A line that was wrapped (40 characters or more) goes on in the next one; a shorter one ends its
 * paragraph. Quoted lines (">", "|", ":", "#"), lines in columns and lines without a letter are left out;
 * a line "--" begins a signature, with which the text ends. ICU breaks behind "Mr." and "J.": such
 * pieces are joined again. Nothing depends on a language.
 */
#ifndef GF_VECTORIZE_TEXT_SENTENCES_H
#define GF_VECTORIZE_TEXT_SENTENCES_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

typedef struct gf_sentence {
    gf_slice text;  /* valid UTF-8; white space is one space */
    uint32_t words; /* between spaces; of Han, Kana and other scripts without, half a letter each */
    bool ends;      /* in a mark that ends sentences, and not in three full stops */
    bool whole;     /* the only one of its paragraph, as a title is */
    bool begins;    /* its paragraph, or with a letter that is no small one */
    bool plain;     /* fit to be shown by itself: see gf_sentences_split */
} gf_sentence;

typedef struct gf_sentences gf_sentences;

/** A breaker for one thread. GF_ENOMEM; GF_EIO where ICU has none. */
gf_status gf_sentences_create(gf_sentences **sentences, gf_error *err);
void gf_sentences_free(gf_sentences *sentences);

/**
 * Split a text. A sentence is plain if it
 *
 *     begins with a letter, a digit, a quotation mark or a bracket;
 *     has no address of the web or of mail, no markup and no run of punctuation;
 *     does not begin with a word and a colon ("Subject:"), nor end in a colon, a comma or a dash;
 *     opens as many brackets and quotation marks as it closes;
 *     has three letters of four characters at least, and of those at most 40 % capitals.
 *
 * @param text  UTF-8; bad bytes become U+FFFD, which is not plain
 * @param list  out: n, in the order of the text; borrowed until the next call
 * @return GF_OK; GF_ENOMEM, GF_EIO
 */
gf_status gf_sentences_split(gf_sentences *sentences, gf_slice text, const gf_sentence **list,
                             size_t *n, gf_error *err);

#endif
