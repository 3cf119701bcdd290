#include "vectorize/detect.h"

#include "base/memory.h"
#include "base/strings.h"

static const double most_of_them = 0.95;

/* How many texts each language was found in; ids are those of names. */
typedef struct tally {
    gf_strings names;
    size_t *counts; /* names.n */
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
    return GF_OK;
}

/* The commonest of the languages found, the first by name of several. */
static gf_dominance decide(const tally *t, size_t n_reliable)
{
    uint32_t best = 0;
    gf_dominance d = {.n_reliable = n_reliable};
    for (uint32_t i = 1; i < t->names.n; i++)
        if (t->counts[i] > t->counts[best] ||
            (t->counts[i] == t->counts[best] &&
             gf_slice_compare(gf_strings_at(&t->names, i), gf_strings_at(&t->names, best)) < 0))
            best = i;
    if (t->names.n == 0) return d;
    const gf_language *language = gf_language_find(gf_strings_at(&t->names, best));
    gf_slice code = language ? gf_slice_str(language->iso1) : gf_strings_at(&t->names, best);
    d.share = (double)t->counts[best] / (double)n_reliable;
    memcpy(d.code, code.ptr, code.len);
    if (d.share >= most_of_them) d.language = language;
    return d;
}

gf_status gf_language_dominant(const gf_slice *texts, size_t n, gf_dominance *dominance,
                               const gf_cancel *cancel, gf_error *err)
{
    tally t = {.counts = NULL};
    size_t n_reliable = 0;
    gf_status st = GF_OK;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        gf_detection d;
        st = gf_cancel_check(cancel, err);
        if (st == GF_OK) st = gf_language_detect(texts[i], &d, err);
        if (st != GF_OK || !d.reliable) continue;
        n_reliable++;
        st = count(&t, &d, err);
    }
    if (st == GF_OK) *dominance = decide(&t, n_reliable);
    gf_strings_release(&t.names);
    gf_free(t.counts);
    return st;
}
