#include "vectorize/text/stem.h"

#include <libstemmer.h>
#include <limits.h>

void gf_stemmers_release(gf_stemmers *stemmers)
{
    for (size_t i = 0; i < GF_LANGUAGES; i++)
        sb_stemmer_delete(stemmers->of[i]);
    *stemmers = (gf_stemmers){0};
}

/* The stem's bytes, or NULL: memory ran out, or the algorithm failed on this word. */
static const char *stem_with(struct sb_stemmer *stemmer, gf_slice word)
{
    return (const char *)sb_stemmer_stem(stemmer, (const sb_symbol *)word.ptr, (int)word.len);
}

gf_status gf_stem(gf_stemmers *stemmers, const gf_language *language, gf_slice word, gf_slice *stem,
                  gf_error *err)
{
    *stem = word;
    if (!language || !language->stems || word.len == 0 || word.len > INT_MAX) return GF_OK;
    struct sb_stemmer **stemmer = &stemmers->of[gf_language_index(language)];
    const char *bytes = *stemmer ? stem_with(*stemmer, word) : NULL;
    if (!bytes) {
        /* A new one tells the two failures apart: Greek 2.2.0 fails on its own at "ισαισα". */
        sb_stemmer_delete(*stemmer);
        *stemmer = sb_stemmer_new(language->name, NULL);
        if (!*stemmer) return gf_fail_memory(err, "a stemmer");
        bytes = stem_with(*stemmer, word);
    }
    if (bytes) *stem = gf_slice_of(bytes, (size_t)sb_stemmer_length(*stemmer));
    return GF_OK;
}
