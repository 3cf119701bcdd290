#include "vectorize/text/detect.h"

#include "base/memory.h"
#include "base/strings.h"
#include "base/utf8.h"

/*
 * A fifth of the sample is looked at first, then the next fifth. Where 98.5 % of 80 texts or more
 * are in one language, the rest is spared. Were a tenth of all texts in others, one at most of 80
 * would be in one of 450 samples; were it a twentieth, which is the line anyway, in one of 12.
 */
enum { STEP = 5, ENOUGH = 80 };

/* The start of a text that mostly tells its language; where it does not, more is looked at. */
enum { START_BYTES = 256 };
static const double most_of_them = 0.95, nearly_all = 0.985;

/* How many texts each language was found in; ids are those of names. */
typedef struct tally {
    gf_strings names;
    size_t *counts; /* names.n */
    size_t n;       /* their sum */
} tally;

/* Our name for the language, else the code up to its first hyphen. */
static gf_slice name_of(const gf_detection *d)
{
    if (d->language) return gf_slice_str(d->language->name);
    return gf_slice_of(d->code, strcspn(d->code, "-"));
}

static gf_status count(tally *t, const gf_detection *d, gf_error *err)
{
    uint32_t id;
    bool added;
    gf_status st = gf_strings_add(&t->names, name_of(d), &id, &added, err);
    if (st != GF_OK) return st;
    if (added) {
        size_t *counts = gf_realloc(t->counts, t->names.n, sizeof *counts);
        if (!counts) return gf_fail_memory(err, "language detection");
        t->counts = counts;
        t->counts[id] = 0;
    }
    t->counts[id]++;
    t->n++;
    return GF_OK;
}

/* The commonest of the languages found, the first by name of several. */
static gf_dominance decide(const tally *t)
{
    uint32_t best = 0;
    gf_dominance d = {.n_reliable = t->n};
    for (uint32_t i = 1; i < t->names.n; i++)
        if (t->counts[i] > t->counts[best] ||
            (t->counts[i] == t->counts[best] &&
             gf_slice_compare(gf_strings_at(&t->names, i), gf_strings_at(&t->names, best)) < 0))
            best = i;
    if (t->names.n == 0) return d;
    const gf_language *language = gf_language_find(gf_strings_at(&t->names, best));
    gf_slice code = language ? gf_slice_str(language->iso1) : gf_strings_at(&t->names, best);
    d.share = (double)t->counts[best] / (double)t->n;
    memcpy(d.code, code.ptr, code.len);
    if (d.share >= most_of_them) d.language = language;
    return d;
}

typedef struct looking {
    const gf_slice *texts;
    gf_detection *found; /* of each text that was looked at */
    size_t first, step;  /* the texts to look at: first, first + step, ... */
} looking;

static gf_status look(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)worker;
    looking *l = context;
    size_t at = l->first + i * l->step;
    gf_slice text = l->texts[at], start = gf_utf8_cut(text, START_BYTES);
    gf_status st = gf_language_detect(start, &l->found[at], err);
    if (st != GF_OK || l->found[at].reliable || start.len == text.len) return st;
    return gf_language_detect(text, &l->found[at], err);
}

/* Looks at every text of n from `first` on in steps, and counts those that are reliable. */
static gf_status look_at(looking *l, size_t first, size_t n, tally *t, gf_pool *pool,
                         const gf_cancel *cancel, gf_error *err)
{
    l->first = first;
    gf_status st = gf_pool_run(pool, (n - first + l->step - 1) / l->step, look, l, cancel, err);
    for (size_t i = first; i < n && st == GF_OK; i += l->step)
        if (l->found[i].reliable) st = count(t, &l->found[i], err);
    return st;
}

gf_status gf_dominant_language(const gf_slice *texts, size_t n, gf_pool *pool,
                               gf_dominance *dominance, const gf_cancel *cancel, gf_error *err)
{
    tally t = {.counts = NULL};
    looking l = {.texts = texts, .step = STEP};
    gf_dominance d = {.language = NULL};
    l.found = gf_array(n, sizeof *l.found);
    gf_status st = l.found ? GF_OK : gf_fail_memory(err, "language detection");
    for (size_t first = 0; first < STEP && first < n && st == GF_OK; first++) {
        st = look_at(&l, first, n, &t, pool, cancel, err);
        if (st == GF_OK) d = decide(&t);
        if (d.n_reliable >= ENOUGH && d.share >= nearly_all) break;
    }
    if (st == GF_OK) *dominance = d;
    gf_strings_release(&t.names);
    gf_free(t.counts);
    gf_free(l.found);
    return st;
}
