#include "vectorize/rows/ngrams_internal.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "vectorize/text/char_class_internal.h"

enum { FIRST_CAPACITY = 1024 };

void gf_ngrams_release(gf_ngrams *g)
{
    gf_free(g->slots);
    gf_surfaces_release(&g->forms);
    gf_buffer_release(&g->scratch);
    *g = (gf_ngrams){0};
}

static size_t hash_of(const uint32_t *words)
{
    uint64_t h = gf_surface_mix(((uint64_t)words[0] << 32 | words[1]) ^ 0x8EBC6AF09C88C6E3u,
                                words[2] ^ 0x589965CC75374CC3u);
    return (size_t)(h ^ h >> 32);
}

/* The slot of these words, or the empty one where they belong. */
static gf_ngram_slot *probe(gf_ngram_slot *slots, size_t capacity, const uint32_t *words)
{
    size_t i = hash_of(words) & (capacity - 1);
    while (slots[i].term != GF_STRING_NONE && memcmp(slots[i].words, words, sizeof slots[i].words))
        i = (i + 1) & (capacity - 1);
    return &slots[i];
}

static gf_status grow(gf_ngrams *g, gf_error *err)
{
    size_t capacity = g->capacity ? g->capacity * 2 : FIRST_CAPACITY;
    gf_ngram_slot *slots = gf_array(capacity, sizeof *slots);
    if (!slots) return gf_fail_memory(err, "the table of n-grams");
    for (size_t i = 0; i < capacity; i++)
        slots[i].term = GF_STRING_NONE;
    for (size_t i = 0; i < g->capacity; i++)
        if (g->slots[i].term != GF_STRING_NONE)
            *probe(slots, capacity, g->slots[i].words) = g->slots[i];
    gf_free(g->slots);
    g->slots = slots;
    g->capacity = capacity;
    return GF_OK;
}

static gf_status make_term(gf_ngrams *g, gf_analyser *analyser, const uint32_t *words, uint32_t n,
                           uint32_t *term, gf_error *err)
{
    gf_buffer_reset(&g->scratch);
    for (uint32_t i = 0; i < n; i++) {
        if (i) gf_buffer_byte(&g->scratch, ' ');
        gf_buffer_slice(&g->scratch, gf_strings_at(gf_analyser_terms(analyser), words[i]));
    }
    gf_status st = gf_buffer_check(&g->scratch, err);
    if (st != GF_OK) return st;
    return gf_analyser_intern(analyser, gf_buffer_view(&g->scratch), term, err);
}

gf_status gf_ngrams_term(gf_ngrams *g, gf_analyser *analyser, const uint32_t *words, uint32_t n,
                         uint32_t *term, gf_error *err)
{
    uint32_t key[GF_MOST_NGRAM] = {GF_STRING_NONE, GF_STRING_NONE, GF_STRING_NONE};
    memcpy(key, words, n * sizeof *words);
    gf_status st = GF_OK;
    if (g->n >= g->capacity / 8 * 5) st = grow(g, err);
    if (st != GF_OK) return st;
    gf_ngram_slot *slot = probe(g->slots, g->capacity, key);
    if (slot->term == GF_STRING_NONE) {
        st = make_term(g, analyser, words, n, term, err);
        if (st != GF_OK) return st;
        memcpy(slot->words, key, sizeof key);
        slot->term = *term;
        g->n++;
    }
    *term = slot->term;
    return GF_OK;
}

static bool is_space(gf_slice text, size_t *at)
{
    unsigned char c = (unsigned char)text.ptr[*at];
    if (c < 0x80) {
        ++*at;
        return c <= ' ' || c == 0x7F;
    }
    uint32_t point = gf_utf8_next(text, at);
    if (point < GF_CHAR_TABLE) return gf_char_classes()[point] == GF_CHAR_SPACE;
    return gf_char_class_of(point) == GF_CHAR_SPACE;
}

/* text with each run of white space as one space, in scratch; false where that is too long. */
static bool fold_spaces(gf_slice text, gf_buffer *scratch)
{
    bool space = false;
    gf_buffer_reset(scratch);
    for (size_t at = 0, from; at < text.len && scratch->len <= GF_LONGEST_FORM;) {
        from = at;
        bool was_space = space;
        space = is_space(text, &at);
        if (!space)
            gf_buffer_append(scratch, text.ptr + from, at - from);
        else if (!was_space)
            gf_buffer_byte(scratch, ' ');
    }
    return scratch->len <= GF_LONGEST_FORM;
}

gf_status gf_ngrams_note(gf_ngrams *g, uint32_t term, gf_slice text, gf_error *err)
{
    if (!fold_spaces(text, &g->scratch)) return GF_OK;
    gf_status st = gf_buffer_check(&g->scratch, err);
    if (st != GF_OK) return st;
    gf_slice form = gf_buffer_view(&g->scratch);
    gf_surface_key key;
    gf_surface_make_key(&key, form, form.len, term);
    gf_surface *slot = gf_surfaces_find(&g->forms, &key, form);
    if (!slot) {
        st = gf_surfaces_add(&g->forms, &key, form, &slot, err);
        if (st != GF_OK) return st;
        slot->term = term;
    }
    slot->count += slot->count != UINT32_MAX;
    return GF_OK;
}
