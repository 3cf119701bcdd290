#include "vectorize/rows/ngrams_internal.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "vectorize/text/char_class_internal.h"

void gf_ngrams_release(gf_ngrams *g)
{
    gf_buffer_release(&g->scratch);
    *g = (gf_ngrams){0};
}

static gf_status make_term(gf_ngrams *g, gf_dictionary *d, const uint32_t *words, uint32_t n,
                           uint32_t *term, gf_error *err)
{
    gf_buffer_reset(&g->scratch);
    for (uint32_t i = 0; i < n; i++) {
        if (i) gf_buffer_byte(&g->scratch, ' ');
        gf_buffer_slice(&g->scratch, gf_dictionary_term(d, words[i]));
    }
    gf_status st = gf_buffer_check(&g->scratch, err);
    return st == GF_OK ? gf_dictionary_intern(d, gf_buffer_view(&g->scratch), term, err) : st;
}

gf_status gf_ngrams_term(gf_ngrams *g, gf_dictionary *d, const uint32_t *words, uint32_t n,
                         uint32_t *term, gf_error *err)
{
    char ids[GF_SURFACE_INLINE] = {0};
    gf_slice s = gf_slice_of(ids, n * sizeof *words);
    gf_surface_key key;
    memcpy(ids, words, n * sizeof *words);
    gf_surface_make_key(&key, s, sizeof ids, 0);
    gf_surface *slot = gf_surfaces_find(&d->ngrams, &key, s);
    gf_status st = GF_OK;
    if (!slot) {
        st = make_term(g, d, words, n, term, err);
        if (st == GF_OK) st = gf_surfaces_add(&d->ngrams, &key, s, *term, 0, &slot, err);
    }
    if (st == GF_OK) *term = slot->term;
    return st;
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

gf_status gf_ngrams_note(gf_ngrams *g, gf_dictionary *d, uint32_t term, gf_slice text,
                         gf_error *err)
{
    if (!fold_spaces(text, &g->scratch)) return GF_OK;
    gf_status st = gf_buffer_check(&g->scratch, err);
    if (st != GF_OK) return st;
    gf_slice form = gf_buffer_view(&g->scratch);
    gf_surface_key key;
    gf_surface_make_key(&key, form, form.len, term);
    gf_surface *slot = gf_surfaces_find(&d->forms, &key, form);
    if (!slot) st = gf_surfaces_add(&d->forms, &key, form, term, 0, &slot, err);
    if (st == GF_OK) gf_surfaces_meet_late(slot);
    return st;
}
