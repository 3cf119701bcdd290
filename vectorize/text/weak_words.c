#include "vectorize/text/weak_words.h"

#include "vectorize/text/stop_words_internal.h"

#include <string.h>

const char *const *gf_weak_words(const gf_language *language, gf_weak_kind kind, size_t *n)
{
    const gf_stop_list *lists = kind == GF_WEAK_VAGUE ? gf_vague_lists : gf_units_lists;
    size_t n_lists = kind == GF_WEAK_VAGUE ? gf_n_vague_lists : gf_n_units_lists;
    *n = 0;
    if (!language) return NULL;
    const char *name = strcmp(language->name, "porter") == 0 ? "english" : language->name;
    for (size_t i = 0; i < n_lists; i++) {
        if (strcmp(lists[i].language, name) != 0) continue;
        *n = lists[i].n;
        return lists[i].words;
    }
    return NULL;
}
