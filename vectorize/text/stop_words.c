#include "vectorize/text/stop_words.h"

#include "vectorize/text/normalise.h"
#include "vectorize/text/stop_words_internal.h"

const char *const *gf_stop_words(const gf_language *language, size_t *n)
{
    *n = 0;
    if (!language) return NULL;
    const char *name = strcmp(language->name, "porter") == 0 ? "english" : language->name;
    for (size_t i = 0; i < gf_n_stop_lists; i++) {
        if (strcmp(gf_stop_lists[i].language, name) != 0) continue;
        *n = gf_stop_lists[i].n;
        return gf_stop_lists[i].words;
    }
    return NULL;
}

/* scratch is kept between calls for its memory. */
static gf_status add_word(gf_strings *set, gf_slice word, const gf_language *language,
                          gf_buffer *scratch, gf_error *err)
{
    gf_buffer_reset(scratch);
    gf_status st = gf_normalise(word, language, scratch, err);
    if (st != GF_OK || scratch->len == 0) return st;
    uint32_t id;
    return gf_strings_add(set, gf_buffer_view(scratch), &id, NULL, err);
}

/* Bytes of the separator at the start of s; 0 where a word goes on. */
static size_t separator(gf_slice s)
{
    static const char *const wide[] = {"\xE2\x80\x98", "\xE2\x80\x99", "\xE3\x80\x80",
                                       "\xE3\x80\x81", "\xEF\xBC\x8C"}; /* ‘ ’ U+3000 、 ， */
    unsigned char c = (unsigned char)s.ptr[0];
    if (c < 0x80) {
        bool word =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        return !word;
    }
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (gf_slice_starts(s, gf_slice_str(wide[i]))) return strlen(wide[i]);
    return 0;
}

gf_status gf_stop_words_add_text(gf_strings *set, gf_slice text, const gf_language *language,
                                 gf_error *err)
{
    gf_buffer scratch = {0};
    gf_status st = GF_OK;
    while (text.len && st == GF_OK) {
        size_t n = 0, skip = 0;
        while (n < text.len && (skip = separator(gf_slice_skip(text, n))) == 0)
            n++;
        if (n) st = add_word(set, gf_slice_of(text.ptr, n), language, &scratch, err);
        text = gf_slice_skip(text, n + skip);
    }
    gf_buffer_release(&scratch);
    return st;
}

/* A word may hold what separates words: Hungarian has "ill.". */
gf_status gf_stop_words_add(gf_strings *set, const gf_language *language, gf_error *err)
{
    size_t n;
    const char *const *words = gf_stop_words(language, &n);
    gf_status st = GF_OK;
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = gf_stop_words_add_text(set, gf_slice_str(words[i]), language, err);
    return st;
}
