#include "cluster/texts.h"

#include "support/test.h"

#include <ctype.h>
#include <string.h>

void texts_release(texts *t)
{
    gf_strings_release(&t->terms);
    gf_arena_release(&t->memory);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static uint32_t flags_of(const char *word, uint32_t length)
{
    static const char *const stops[] = {"the", "of", "is", "a", "at"};
    static const char *const vague[] = {"day", "first", "think"};
    uint32_t digits = 0;
    for (uint32_t i = 0; i < length; i++)
        digits += isdigit((unsigned char)word[i]) != 0;
    if (digits == length) return GF_LABEL_NUMBER;
    if (length > 4 && strncmp(word, "http", 4) == 0) return GF_LABEL_NEVER;
    for (size_t s = 0; s < sizeof stops / sizeof stops[0]; s++)
        if (strlen(stops[s]) == length && strncmp(stops[s], word, length) == 0)
            return GF_LABEL_INNER;
    for (size_t s = 0; s < sizeof vague / sizeof vague[0]; s++)
        if (strlen(vague[s]) == length && strncmp(vague[s], word, length) == 0)
            return GF_LABEL_VAGUE;
    return length == 3 && strncmp(word, "pct", 3) == 0 ? GF_LABEL_UNIT : 0;
}

/* What the word's first letter and the sign before it say. */
static uint32_t flags_of_name(const char *text, uint32_t from, bool begins)
{
    uint32_t flags = from > 0 && text[from - 1] == '@' ? GF_LABEL_MENTION : 0;
    return flags | (!begins && isupper((unsigned char)text[from]) ? GF_LABEL_NAME : 0);
}

static uint32_t term_of(texts *t, const char *word, uint32_t length)
{
    gf_error err;
    uint32_t id;
    char lower[64];
    if (word[0] == '_') return GF_LABEL_NO_TERM;
    assert_true(length < sizeof lower);
    for (uint32_t i = 0; i < length; i++)
        lower[i] = (char)tolower((unsigned char)word[i]);
    if (length > 2 && lower[length - 1] == 's') length--;
    assert_ok(gf_strings_add(&t->terms, gf_slice_of(lower, length), &id, NULL, &err));
    return id;
}

gf_label_document texts_document(texts *t, const char *text)
{
    uint32_t n = 0, at = 0, flag = 0, length = (uint32_t)strlen(text);
    gf_label_word *words = gf_arena_alloc(&t->memory, (length / 2 + 1) * sizeof *words);
    assert_non_null(words);
    while (at < length) {
        if (!is_word(text[at])) {
            if (strchr(".,:;!?", text[at])) flag = GF_LABEL_BREAK;
            at++;
            continue;
        }
        uint32_t from = at;
        while (at < length && is_word(text[at]))
            at++;
        words[n] = (gf_label_word){.term = term_of(t, text + from, at - from),
                                   .flags = flag | flags_of(text + from, at - from) |
                                            flags_of_name(text, from, n == 0 || flag),
                                   .start = from,
                                   .length = at - from};
        n++;
        flag = 0;
    }
    return (gf_label_document){gf_slice_of(text, length), words, n};
}

gf_label_cluster texts_cluster(texts *t, const char *const *lines, uint32_t n, uint64_t size)
{
    gf_label_document *d = gf_arena_alloc(&t->memory, (n + 1) * sizeof *d);
    assert_non_null(d);
    for (uint32_t i = 0; i < n; i++)
        d[i] = texts_document(t, lines[i]);
    return (gf_label_cluster){.documents = d, .n_documents = n, .size = size};
}
