#include "tests/engine/search_reference.h"

#include "vectorize/rows/analyser.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 16, MOST_WORDS = 16 };

static gf_analyser *make_analyser(bool stems)
{
    gf_error err;
    gf_analyser *a;
    gf_analysis_options o = gf_vectorizer_options_default().analysis;
    o.stem = stems;
    assert_ok(gf_analyser_create(&o, &a, &err));
    return a;
}

static size_t words_of(gf_analyser *a, gf_slice text, const gf_language *language, gf_arena *memory,
                       gf_slice **words)
{
    gf_error err;
    gf_analysis found;
    size_t n = 0;
    assert_ok(gf_analyser_run(a, text, language, &found, &err));
    *words = gf_arena_alloc(memory, (found.n + 1) * sizeof **words);
    for (size_t i = 0; i < found.n; i++)
        if (found.words[i].use != GF_WORD_NONE)
            (*words)[n++] =
                gf_arena_copy(memory, gf_strings_at(gf_analyser_terms(a), found.words[i].term));
    return n;
}

typedef struct reading {
    reference *r;
    gf_analyser *analyser;
    const gf_language *language;
} reading;

static gf_status read_document(void *context, const gf_document *d, gf_error *err)
{
    (void)err;
    reading *w = context;
    reference *r = w->r;
    if (r->n == r->capacity) {
        r->capacity = r->capacity ? r->capacity * 2 : 256;
        r->texts = realloc(r->texts, r->capacity * sizeof *r->texts);
    }
    reference_text *t = &r->texts[r->n++];
    t->id = gf_arena_copy(&r->memory, d->id);
    t->n = words_of(w->analyser, d->text, w->language, &r->memory, &t->words);
    return GF_OK;
}

void reference_read(reference *r, fixture *f, const char *collection, const gf_language *language)
{
    gf_error err;
    *r = (reference){.capacity = 0};
    reading w = {r, make_analyser(true), language};
    assert_ok(gf_documents_visit(f->store, fixture_place(collection), read_document, &w, &err));
    gf_analyser_free(w.analyser);
}

void reference_release(reference *r)
{
    gf_arena_release(&r->memory);
    free(r->texts);
}

/* ---- queries --------------------------------------------------------------------------------- */

typedef struct item {
    gf_slice *words; /* n */
    size_t n;
    gf_slice prefix; /* ptr NULL: none */
    bool excludes, phrase;
} item;

/* One that is written as the tests write them. */
static const char *read_item(const char *q, const gf_language *language, gf_arena *memory,
                             item *out)
{
    *out = (item){.excludes = *q == '-'};
    q += out->excludes;
    out->phrase = *q == '"';
    q += out->phrase;
    size_t length = strcspn(q, out->phrase ? "\"" : " ");
    gf_slice text = gf_slice_of(q, length);
    bool star = !out->phrase && length && q[length - 1] == '*';
    if (star) text.len--;
    gf_analyser *a = make_analyser(true), *plain = make_analyser(false);
    out->n = words_of(a, text, language, memory, &out->words);
    if (star) {
        gf_slice *normal;
        assert_int_equal(words_of(plain, text, language, memory, &normal), 1);
        out->prefix = normal[0];
    }
    gf_analyser_free(a);
    gf_analyser_free(plain);
    q += length + out->phrase;
    return *q == ' ' ? q + 1 : q;
}

static bool is_at(const reference_text *t, size_t at, const item *q)
{
    if (at + q->n > t->n) return false;
    for (size_t i = 0; i < q->n; i++) {
        gf_slice word = t->words[at + i];
        bool starts = q->prefix.ptr && gf_slice_starts(word, q->prefix);
        if (!starts && !gf_slice_equal(word, q->words[i])) return false;
    }
    return true;
}

static size_t count_in(const reference_text *t, const item *q)
{
    size_t n = 0;
    for (size_t at = 0; at < t->n; at++)
        n += is_at(t, at, q);
    return n;
}

static int by_rank(const void *a, const void *b)
{
    const reference_hit *x = a, *y = b;
    if (fabs(x->score - y->score) > 1e-12) return x->score > y->score ? -1 : 1;
    return gf_slice_compare(x->id, y->id);
}

reference_hit *reference_search(const reference *r, const gf_language *language, const char *query,
                                size_t *n)
{
    item items[MOST_ITEMS];
    gf_arena memory = {0};
    size_t n_items = 0, words = 0, df[MOST_ITEMS] = {0};
    reference_hit *hits = malloc((r->n + 1) * sizeof *hits);
    while (*query)
        query = read_item(query, language, &memory, &items[n_items++]);
    for (size_t d = 0; d < r->n; d++) {
        words += r->texts[d].n;
        for (size_t i = 0; i < n_items; i++)
            df[i] += count_in(&r->texts[d], &items[i]) > 0;
    }
    *n = 0;
    for (size_t d = 0; d < r->n; d++) {
        const reference_text *t = &r->texts[d];
        double score = 0, relative = (double)t->n / ((double)words / (double)r->n);
        bool any = false, out = false;
        for (size_t i = 0; i < n_items; i++) {
            double tf = (double)count_in(t, &items[i]);
            out |= items[i].excludes ? tf > 0 : items[i].phrase && tf == 0;
            if (items[i].excludes || tf == 0) continue;
            any = true;
            score += log(1 + ((double)r->n - (double)df[i] + 0.5) / ((double)df[i] + 0.5)) * tf *
                     2.2 / (tf + 1.2 * (0.25 + 0.75 * relative));
        }
        if (any && !out) hits[(*n)++] = (reference_hit){t->id, score};
    }
    qsort(hits, *n, sizeof *hits, by_rank);
    gf_arena_release(&memory);
    return hits;
}
