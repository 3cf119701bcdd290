/**
 * The lists of words that the build embeds (embed.cmake), as their files have them, line by line:
 * stop words and two kinds of weak words (weak_words.h).
 */
#ifndef GF_VECTORIZE_TEXT_STOP_WORDS_INTERNAL_H
#define GF_VECTORIZE_TEXT_STOP_WORDS_INTERNAL_H

#include <stddef.h>

typedef struct gf_stop_list {
    const char *language;     /* its Snowball name */
    const char *const *words; /* n lines */
    size_t n;
} gf_stop_list;

extern const gf_stop_list gf_stop_lists[];
extern const size_t gf_n_stop_lists;

extern const gf_stop_list gf_vague_lists[];
extern const size_t gf_n_vague_lists;

extern const gf_stop_list gf_units_lists[];
extern const size_t gf_n_units_lists;

#endif
