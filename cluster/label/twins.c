/*
 * Names that mean the same as another: "light" and "lightweight", "SVN" and "Subversion", and two
 * words each of which is in most documents where the other is ("declared", "dividend").
 */
#include "cluster/label/internal.h"

#include <string.h>

enum {
    LEAST_STEM = 5, /* letters of a word that may begin another of the same meaning */
    LEAST_COMMON = 6,
    MOST_ENDING = 3, /* letters that two words begin with, and that differ */
    LEAST_ABBREVIATION = 3,
    MOST_ABBREVIATION = 5,
    MOST_COMPARED = 1000 /* labels that a candidate is compared with: those of the largest */
};

/* Share of one's documents that the other needs in the same cluster, both ways. */
#define TOGETHER 0.5
#define LEAST    0.15 /* share of the members below which nothing is together */

static bool is_separator(char c)
{
    return c == ' ' || c == '/' || c == '-' || c == ',';
}

/* The next word of a form; empty at the end. */
static gf_slice take_word(gf_slice *text)
{
    size_t from = 0;
    while (from < text->len && is_separator(text->ptr[from]))
        from++;
    size_t to = from;
    while (to < text->len && !is_separator(text->ptr[to]))
        to++;
    gf_slice word = gf_slice_of(text->ptr + from, to - from);
    *text = gf_slice_skip(*text, to);
    return word;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool begins_with(gf_slice word, gf_slice start)
{
    if (start.len > word.len) return false;
    for (size_t i = 0; i < start.len; i++)
        if (lower(word.ptr[i]) != lower(start.ptr[i])) return false;
    return true;
}

/* "svn" of "subversion": no vowel, the same first letter, all letters in their order. */
static bool abbreviates(gf_slice shorter, gf_slice longer)
{
    if (shorter.len < LEAST_ABBREVIATION || shorter.len > MOST_ABBREVIATION ||
        shorter.len >= longer.len)
        return false;
    for (size_t i = 0; i < shorter.len; i++)
        if (strchr("aeiou", lower(shorter.ptr[i])) || (unsigned char)shorter.ptr[i] >= 0x80 ||
            (shorter.ptr[i] >= '0' && shorter.ptr[i] <= '9'))
            return false;
    if (lower(shorter.ptr[0]) != lower(longer.ptr[0])) return false;
    size_t at = 0;
    for (size_t i = 0; i < longer.len && at < shorter.len; i++)
        at += lower(longer.ptr[i]) == lower(shorter.ptr[at]);
    return at == shorter.len;
}

/* "Buddhism" and "Buddhist": long, and the same but for their endings. */
static bool differ_in_ending(gf_slice shorter, gf_slice longer)
{
    size_t n = 0;
    while (n < shorter.len && lower(shorter.ptr[n]) == lower(longer.ptr[n]))
        n++;
    return n >= LEAST_COMMON && longer.len - n <= MOST_ENDING;
}

bool gf_label_words_alike(gf_slice a, gf_slice b)
{
    gf_slice shorter = a.len <= b.len ? a : b, longer = a.len <= b.len ? b : a;
    if (differ_in_ending(shorter, longer)) return true;
    if (begins_with(longer, shorter)) {
        size_t more = longer.len - shorter.len;
        if (more == 0 || shorter.len >= LEAST_STEM) return true;
        return more == 1 && shorter.len > 2 && lower(longer.ptr[longer.len - 1]) == 's';
    }
    return abbreviates(shorter, longer);
}

/* True if each word of a form is like one of the label's. */
static bool says_no_more(gf_slice form, gf_slice label)
{
    for (gf_slice word = take_word(&form); word.len; word = take_word(&form)) {
        bool found = false;
        gf_slice rest = label;
        for (gf_slice w = take_word(&rest); w.len && !found; w = take_word(&rest))
            found = gf_label_words_alike(word, w);
        if (!found) return false;
    }
    return true;
}

static double share(const gf_labelling *l, uint32_t cluster, uint32_t phrase)
{
    double size = (double)l->clusters[cluster].size;
    return size > 0 ? gf_label_documents(l, cluster, phrase) / size : 0;
}

/* True if in either cluster the other's phrase is nearly as frequent as its own. */
static bool stand_together(const gf_labelling *l, uint32_t a, uint32_t phrase_of_a, uint32_t b,
                           uint32_t phrase_of_b)
{
    double own_a = share(l, a, phrase_of_a), other_a = share(l, a, phrase_of_b);
    if (other_a < LEAST || other_a < TOGETHER * own_a) return false;
    double own_b = share(l, b, phrase_of_b), other_b = share(l, b, phrase_of_a);
    return other_b >= LEAST && other_b >= TOGETHER * own_b;
}

bool gf_label_is_twin(const gf_labelling *l, const gf_labels_given *given, uint32_t cluster,
                      const gf_label_candidate *c)
{
    size_t n = given->n < MOST_COMPARED ? given->n : MOST_COMPARED;
    for (size_t i = 0; i < n; i++) {
        const gf_label_given *g = &given->at[i];
        if (says_no_more(c->places.form, g->words)) return true;
        for (int part = 0; part < 2 && g->cluster != GF_STRING_NONE; part++)
            if (g->phrase[part] != GF_STRING_NONE &&
                stand_together(l, cluster, c->phrase, g->cluster, g->phrase[part]))
                return true;
    }
    return false;
}
