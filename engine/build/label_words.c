#include "engine/build/label_words.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "vectorize/text/stop_words.h"

#include <string.h>

/* Function words of English, which are met in texts of all languages, and pieces of addresses. */
static const char FREQUENT[] =
    "and are as at be by for from have in is it not of on or that the this to was we with you "
    "com edu gov htm html http https org www";

enum { MOST_FREQUENT_BYTES = 5 };

/* ---- lists ----------------------------------------------------------------------------------- */

/* The bits of a word in its language's lists: 1 vague, 2 unit. */
static uint32_t bits_of(const gf_label_words *w, uint32_t place, uint32_t term, gf_slice word)
{
    if (place >= GF_WEAK_LISTED) return 0;
    if (term < w->n_terms) return w->weak[term] >> (2 * place) & 3;
    return gf_weak_terms_without(w->lists, place, word, w->vocabulary);
}

gf_status gf_label_words_init(gf_label_words *w, const gf_weak_terms *lists,
                              const gf_vocabulary *vocabulary, gf_error *err)
{
    w->lists = lists;
    w->vocabulary = vocabulary;
    w->n_terms = vocabulary->n_terms;
    w->weak = gf_calloc(w->n_terms, sizeof *w->weak);
    if (!w->weak) return gf_fail_memory(err, "labels");
    gf_weak_terms_mark(lists, vocabulary, w->weak);
    return gf_stop_words_add_text(&w->frequent, gf_slice_str(FREQUENT), NULL, err);
}

void gf_label_words_release(gf_label_words *w)
{
    gf_free(w->weak);
    gf_strings_release(&w->frequent);
    *w = (gf_label_words){0};
}

bool gf_label_words_have_list(const gf_vectorizer_options *options, const gf_language *language)
{
    size_t n = 0;
    if (options->analysis.language) language = options->analysis.language;
    if (options->analysis.stop_words) gf_stop_words(language, &n);
    return n > 0;
}

/* ---- the words of a text --------------------------------------------------------------------- */

static uint32_t flags_of_token(uint32_t flags)
{
    uint32_t out = 0;
    if (flags & GF_SEQUENCE_BREAK) out |= GF_LABEL_BREAK;
    if (flags & (GF_SEQUENCE_STOP | GF_SEQUENCE_OTHER)) out |= GF_LABEL_INNER;
    if (flags & GF_SEQUENCE_LINK) out |= GF_LABEL_NEVER;
    if (flags & GF_SEQUENCE_NUMBER) out |= GF_LABEL_NUMBER;
    if (flags & GF_SEQUENCE_MENTION) out |= GF_LABEL_MENTION;
    return out;
}

/* A capital of Latin, Greek or Cyrillic. */
static bool is_capital(uint32_t c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) ||
           (c >= 0x391 && c <= 0x3A9) || (c >= 0x400 && c <= 0x42F);
}

static bool begins_with_capital(gf_slice text, const gf_sequence_token *t)
{
    size_t at = 0;
    return t->length && is_capital(gf_utf8_next(gf_slice_of(text.ptr + t->start, t->length), &at));
}

/* True where capitals tell names: not where all nouns have them, nor most words of the text. */
static bool capitals_tell(gf_slice text, const gf_language *language,
                          const gf_sequence_token *tokens, size_t n)
{
    enum { LONG = 4 };
    size_t all = 0, capitals = 0;
    if (language && strcmp(language->name, "german") == 0) return false;
    for (size_t i = 0; i < n; i++) {
        if (tokens[i].length < LONG) continue;
        all++;
        capitals += begins_with_capital(text, &tokens[i]);
    }
    return 2 * capitals < all;
}

static bool is_frequent(const gf_label_words *w, gf_slice word)
{
    char lower[MOST_FREQUENT_BYTES];
    if (word.len < 2 || word.len > sizeof lower) return false;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c + 32);
        if (c < 'a' || c > 'z') return false;
        lower[i] = c;
    }
    return gf_strings_find(&w->frequent, gf_slice_of(lower, word.len)) != GF_STRING_NONE;
}

void gf_label_words_of_text(const gf_label_words *w, gf_slice text, const gf_language *language,
                            const gf_sequence_token *tokens, size_t n, gf_label_word *words)
{
    uint32_t place = gf_weak_terms_place(language);
    bool names = capitals_tell(text, language, tokens, n);
    for (size_t i = 0; i < n; i++) {
        const gf_sequence_token *t = &tokens[i];
        uint32_t flags = flags_of_token(t->flags);
        gf_slice word = gf_slice_of(text.ptr + t->start, t->length);
        uint32_t weak = flags & GF_LABEL_INNER ? 0 : bits_of(w, place, t->term, word);
        if (weak & 1) flags |= GF_LABEL_VAGUE;
        if (weak & 2) flags |= GF_LABEL_UNIT;
        if (!(flags & GF_LABEL_INNER) && is_frequent(w, word)) flags |= GF_LABEL_INNER;
        if (names && begins_with_capital(text, t)) flags |= GF_LABEL_NAME;
        words[i] = (gf_label_word){t->term, flags, t->start, t->length};
    }
}

/* ---- languages without a list ---------------------------------------------------------------- */

#define IN_MOST  0.4 /* share of the documents that makes any word a function word */
#define IN_MANY  0.1 /* and a short one */
#define IN_FIFTH 0.2 /* of the documents of one cluster, for a short word */
#define ALIKE    0.5 /* of its share in all documents: what it has in a cluster where it is alike */
#define EVERY    0.7 /* share of the clusters in which it must be */

enum {
    SHORT = 3,        /* letters of a short word */
    TINY = 2,         /* letters of a word that is always one, but in capitals */
    LEAST_CLUSTER = 5 /* documents of a cluster that is looked at */
};

/* Counts of the terms. */
typedef struct frequencies {
    uint32_t *documents; /* n_terms: of all that are looked at */
    uint32_t *here;      /* n_terms: of the cluster at hand */
    uint32_t *last;      /* n_terms: document that had it last, plus 1 */
    uint32_t *met;       /* n_met: terms of the cluster at hand */
    uint32_t *clusters;  /* n_terms: clusters in which it is about as frequent as in all */
    uint32_t n_documents, n_clusters, n_met, document;
} frequencies;

static void count_document(frequencies *f, uint32_t n_terms, const gf_label_document *d)
{
    f->document++;
    for (uint32_t i = 0; i < d->n_words; i++) {
        uint32_t term = d->words[i].term;
        if (term >= n_terms || f->last[term] == f->document) continue;
        f->last[term] = f->document;
        if (f->here[term]++ == 0) f->met[f->n_met++] = term;
    }
}

static uint32_t count_cluster(frequencies *f, uint32_t n_terms, const gf_label_cluster *c,
                              const bool *unlisted)
{
    uint32_t n = 0;
    f->n_met = 0;
    for (uint32_t i = 0; i < c->n_documents; i++) {
        if (!unlisted[i]) continue;
        n++;
        count_document(f, n_terms, &c->documents[i]);
    }
    return n;
}

/* Letters of a word of an alphabet; many of one that is written in syllables or ideographs. */
static size_t count_letters(gf_slice word)
{
    size_t n = 0;
    for (size_t at = 0; at < word.len; n++)
        if (gf_utf8_next(word, &at) >= 0xE00) return SIZE_MAX;
    return n;
}

static void mark_cluster(const frequencies *f, uint32_t n_terms, const gf_label_cluster *c,
                         const bool *unlisted, uint32_t n)
{
    for (uint32_t i = 0; i < c->n_documents; i++) {
        const gf_label_document *d = &c->documents[i];
        gf_label_word *words = (gf_label_word *)d->words; /* the arena's, not yet handed on */
        for (uint32_t k = 0; unlisted[i] && k < d->n_words; k++) {
            uint32_t term = words[k].term;
            if (term >= n_terms) continue;
            gf_slice word = gf_slice_of(d->text.ptr + words[k].start, words[k].length);
            size_t letters = count_letters(word), at = 0;
            bool is_short = letters <= SHORT && !is_capital(gf_utf8_next(word, &at));
            bool alike = f->clusters[term] >= EVERY * f->n_clusters;
            double share = (double)f->documents[term] / f->n_documents;
            if ((is_short && letters <= TINY) ||
                (alike && share >= (is_short ? IN_MANY : IN_MOST)) ||
                (is_short && n >= LEAST_CLUSTER && f->here[term] >= IN_FIFTH * n))
                words[k].flags |= GF_LABEL_INNER;
        }
    }
}

static void forget_cluster(frequencies *f)
{
    for (uint32_t i = 0; i < f->n_met; i++)
        f->here[f->met[i]] = 0;
}

static void find_frequent(frequencies *f, uint32_t n_terms, gf_label_cluster *clusters, uint32_t k,
                          bool *const *unlisted)
{
    for (uint32_t j = 0; j < k; j++) {
        uint32_t n = count_cluster(f, n_terms, &clusters[j], unlisted[j]);
        f->n_documents += n;
        f->n_clusters += n >= LEAST_CLUSTER;
        for (uint32_t i = 0; i < f->n_met; i++)
            f->documents[f->met[i]] += f->here[f->met[i]];
        forget_cluster(f);
    }
    for (uint32_t j = 0; j < k; j++) {
        uint32_t n = count_cluster(f, n_terms, &clusters[j], unlisted[j]);
        for (uint32_t i = 0; i < f->n_met && n >= LEAST_CLUSTER; i++) {
            uint32_t term = f->met[i];
            double share = (double)f->documents[term] / f->n_documents;
            f->clusters[term] += f->here[term] >= ALIKE * share * n;
        }
        forget_cluster(f);
    }
    for (uint32_t j = 0; j < k; j++) {
        uint32_t n = count_cluster(f, n_terms, &clusters[j], unlisted[j]);
        mark_cluster(f, n_terms, &clusters[j], unlisted[j], n);
        forget_cluster(f);
    }
}

gf_status gf_label_words_mark_frequent(const gf_label_words *w, gf_label_cluster *clusters,
                                       uint32_t k, bool *const *unlisted, gf_error *err)
{
    bool any = false;
    for (uint32_t j = 0; j < k; j++)
        for (uint32_t i = 0; i < clusters[j].n_documents && !any; i++)
            any = unlisted[j][i];
    if (!any) return GF_OK;
    uint32_t n = w->n_terms;
    frequencies f = {.documents = gf_calloc(n, sizeof *f.documents),
                     .here = gf_calloc(n, sizeof *f.here),
                     .last = gf_calloc(n, sizeof *f.last),
                     .met = gf_calloc(n, sizeof *f.met),
                     .clusters = gf_calloc(n, sizeof *f.clusters)};
    bool ok = f.documents && f.here && f.last && f.met && f.clusters;
    if (ok) find_frequent(&f, n, clusters, k, unlisted);
    gf_free(f.documents);
    gf_free(f.here);
    gf_free(f.last);
    gf_free(f.met);
    gf_free(f.clusters);
    return ok ? GF_OK : gf_fail_memory(err, "labels");
}
