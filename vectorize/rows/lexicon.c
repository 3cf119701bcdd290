#include "vectorize/rows/lexicon.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "vectorize/rows/lexicon_internal.h"
#include "vectorize/text/normalise.h"
#include "vectorize/text/stop_words.h"

/* Surfaces that are remembered, some 80 bytes each; beyond that the lexicon starts anew. */
enum { MOST_REMEMBERED = 1 << 17 };

gf_status gf_lexicon_create(gf_lexicon **lexicon, gf_error *err)
{
    gf_lexicon *l = gf_calloc(1, sizeof *l);
    if (!l) return gf_fail_memory(err, "a lexicon");
    l->remembers = true;
    *lexicon = l;
    return GF_OK;
}

static void forget_words(gf_lexicon *l)
{
    gf_surfaces_release(&l->met);
    gf_strings_release(&l->terms);
}

static void forget_all(gf_lexicon *l)
{
    forget_words(l);
    for (size_t i = 0; i <= GF_LANGUAGES; i++) {
        if (l->stops[i]) gf_strings_release(l->stops[i]);
        gf_free(l->stops[i]);
        l->stops[i] = NULL;
    }
    gf_free(l->more_stop_words);
    l->more_stop_words = NULL;
}

void gf_lexicon_free(gf_lexicon *l)
{
    if (!l) return;
    forget_all(l);
    gf_stemmers_release(&l->stemmers);
    gf_buffer_release(&l->normal);
    gf_free(l);
}

static bool suits(const gf_lexicon *l, const gf_analysis_options *o)
{
    return l->more_stop_words && l->options.stop_words == o->stop_words &&
           l->options.stem == o->stem && l->options.min_length == o->min_length &&
           gf_slice_equal(l->options.more_stop_words, o->more_stop_words);
}

gf_status gf_lexicon_suit(gf_lexicon *l, const gf_analysis_options *options, gf_error *err)
{
    if (suits(l, options)) return GF_OK;
    gf_slice more = options->more_stop_words;
    char *copy = gf_copy_string(more.ptr, more.len);
    if (!copy) return gf_fail_memory(err, "a lexicon");
    forget_all(l);
    l->options = *options;
    l->more_stop_words = copy;
    l->options.more_stop_words = gf_slice_of(copy, more.len);
    return GF_OK;
}

/* ---- what a surface means -------------------------------------------------------------------- */

static gf_status make_stops(gf_lexicon *l, const gf_language *language, gf_strings **stops,
                            gf_error *err)
{
    gf_strings *set = gf_calloc(1, sizeof *set);
    if (!set) return gf_fail_memory(err, "a stop list");
    gf_status st = l->options.stop_words ? gf_stop_words_add(set, language, err) : GF_OK;
    if (st == GF_OK) st = gf_stop_words_add_text(set, l->options.more_stop_words, language, err);
    if (st != GF_OK) {
        gf_strings_release(set);
        gf_free(set);
        return st;
    }
    *stops = set;
    return GF_OK;
}

static gf_status is_stop_word(gf_lexicon *l, gf_slice normal, const gf_language *language,
                              bool *stop, gf_error *err)
{
    gf_strings **stops = &l->stops[language ? gf_language_index(language) + 1 : 0];
    gf_status st = *stops ? GF_OK : make_stops(l, language, stops, err);
    if (st == GF_OK) *stop = gf_strings_find(*stops, normal) != GF_STRING_NONE;
    return st;
}

/*
 * A few characters have normal forms with a space in them (U+FDFA). A term has none, so that
 * n-grams can be told from words.
 */
static void close_gaps(gf_buffer *normal)
{
    for (size_t i = 0; i < normal->len; i++)
        if (normal->ptr[i] == ' ') normal->ptr[i] = '_';
}

gf_status gf_lexicon_normalise(gf_lexicon *l, gf_slice s, const gf_language *language,
                               gf_slice *normal, gf_error *err)
{
    gf_buffer_reset(&l->normal);
    gf_status st = gf_normalise(s, language, &l->normal, err);
    if (st != GF_OK) return st;
    close_gaps(&l->normal);
    *normal = gf_buffer_view(&l->normal);
    return GF_OK;
}

gf_status gf_lexicon_judge(gf_lexicon *l, gf_slice normal, const gf_language *language,
                           uint32_t tag, gf_meaning *meaning, gf_error *err)
{
    gf_meaning m = {normal, normal.len ? GF_WORD_TERM : GF_WORD_NONE};
    bool stop = false;
    gf_status st = GF_OK;
    if (normal.len && !(tag & GF_TAG_VERBATIM)) {
        st = is_stop_word(l, normal, language, &stop, err);
        if (stop)
            m.use = GF_WORD_STOP;
        else if (tag & GF_TAG_LONG ||
                 (!(tag & GF_TAG_PIECE) && gf_utf8_count(normal) < l->options.min_length))
            m.use = GF_WORD_OTHER;
        if (st == GF_OK && !stop && l->options.stem)
            st = gf_stem(&l->stemmers, language, normal, &m.term, err);
        if (st != GF_OK) return st;
        if (m.term.len == 0) m.term = normal;
    }
    *meaning = m;
    return GF_OK;
}

/* ---- what is remembered ---------------------------------------------------------------------- */

bool gf_lexicon_find(const gf_lexicon *l, const gf_surface_key *key, gf_slice s,
                     gf_meaning *meaning)
{
    const gf_surface *met = gf_surfaces_find(&l->met, key, s);
    if (!met) return false;
    *meaning = (gf_meaning){{"", 0}, met->use};
    if (met->use != GF_WORD_NONE) meaning->term = gf_strings_at(&l->terms, met->term);
    return true;
}

gf_status gf_lexicon_remember(gf_lexicon *l, const gf_surface_key *key, gf_slice s,
                              const gf_meaning *meaning, gf_error *err)
{
    gf_surface *slot;
    uint32_t term = GF_STRING_NONE;
    if (!l->remembers) return GF_OK;
    if (gf_surfaces_count(&l->met) >= MOST_REMEMBERED) forget_words(l);
    gf_status st = meaning->use == GF_WORD_NONE
                       ? GF_OK
                       : gf_strings_add(&l->terms, meaning->term, &term, NULL, err);
    return st == GF_OK ? gf_surfaces_add(&l->met, key, s, term, meaning->use, &slot, err) : st;
}
