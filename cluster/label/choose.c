/*
 * Choosing the candidate that names a cluster, or two of them; docs/names.md has the rule in words.
 *
 * Labels that clusters had before are given first, by falling size of the cluster, as far as they
 * stay; then the others choose, by falling size.
 */
#include "base/grow.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "cluster/label/internal.h"

#include <math.h>
#include <string.h>

#define SHARE       0.25 /* of the members: below it a more frequent phrase goes first */
#define HALF        0.5  /* of the best score, which that one must have */
#define HELD        2.0  /* documents of a vague word, over those of the best name */
#define TWIN        0.4  /* of the score of a name that means the same as another's */
#define ONE_PART    0.4  /* share of the members below which a single word may be half a name */
#define PART_SIZE   0.6  /* of the first part's documents, which the second must have */
#define BEST_SIZE   0.5  /* the same of the best, which is in fewer members than the first part */
#define PART_SCORE  0.5  /* and of its score */
#define PART_COMMON 0.35 /* of the second part's documents: most that the first part has, too */
#define STAYS       0.8  /* of the best score, with which a label stays */
#define STAYS_PART  0.5  /* the same, where the one holds the other */
#define STAYS_APART 0.6  /* as PART_COMMON, for a label that was given before */
#define STAYS_MIXED 1.25 /* of the least score, up to which a cluster stays mixed */

enum { NEXT = 7, MIXED_TERMS = 3, MOST_MIXED_TERMS = 8, LEAST_CARRIERS = 5 };

typedef struct choice {
    const gf_label_candidate *first, *second; /* NULL: none */
    bool mixed;                               /* nothing says what the cluster is about */
} choice;

/* ---- labels that were given ------------------------------------------------------------------ */

void gf_labels_given_release(gf_labels_given *g)
{
    gf_strings_release(&g->keys);
    gf_strings_release(&g->letters);
    gf_free(g->at);
}

gf_status gf_label_give(gf_labels_given *g, gf_slice label, bool *fresh, gf_error *err)
{
    gf_buffer lower = {0};
    uint32_t id;
    gf_utf8_fold(label, &lower);
    gf_status st = gf_buffer_check(&lower, err);
    if (st == GF_OK) st = gf_strings_add(&g->letters, gf_buffer_view(&lower), &id, fresh, err);
    if (st == GF_OK && *fresh) {
        if (!gf_grow(&g->at, &g->capacity, g->n + 1, sizeof *g->at))
            st = gf_fail_memory(err, "labels");
        else
            g->at[g->n++] = (gf_label_given){
                GF_STRING_NONE, {GF_STRING_NONE, GF_STRING_NONE}, gf_strings_at(&g->letters, id)};
    }
    gf_buffer_release(&lower);
    return st;
}

static bool is_given(const gf_labels_given *g, const gf_label_candidate *c)
{
    return gf_strings_find(&g->keys, c->key) != GF_STRING_NONE;
}

/* The label that was given last is the cluster's, of these candidates. */
static gf_status note(gf_labels_given *g, uint32_t cluster, const choice *c, gf_error *err)
{
    const gf_label_candidate *parts[] = {c->first, c->second};
    gf_label_given *last = &g->at[g->n - 1];
    gf_status st = GF_OK;
    uint32_t id;
    if (c->mixed) return GF_OK;
    last->cluster = cluster;
    for (int i = 0; i < 2 && st == GF_OK; i++) {
        if (!parts[i]) continue;
        last->phrase[i] = parts[i]->phrase;
        st = gf_strings_add(&g->keys, parts[i]->key, &id, NULL, err);
    }
    return st;
}

/* ---- the best candidate ---------------------------------------------------------------------- */

/* The same of one that a longer one says, too. */
static bool may_be_name(const gf_label_candidate *c)
{
    return !c->places.dropped && c->places.form.len && c->kind != GF_PHRASE_VAGUE && c->score > 0;
}

/* True if a candidate may name the cluster, or be a part of its name. */
static bool is_name(const gf_label_candidate *c)
{
    return !c->hidden && may_be_name(c);
}

static double share_of(const gf_labelling *l, uint32_t j, const gf_label_candidate *c)
{
    return c->documents / (double)l->clusters[j].size;
}

/* The first name from candidate `from` on that is free, in enough members, and scores enough. */
static const gf_label_candidate *next_name(const gf_labelling *l, uint32_t j,
                                           const gf_labels_given *g, uint32_t from, double share,
                                           double score)
{
    const gf_label_counted *c = &l->counted[j];
    for (uint32_t i = from; i < c->n_top && c->candidates[i].score >= score; i++)
        if (is_name(&c->candidates[i]) && !is_given(g, &c->candidates[i]) &&
            share_of(l, j, &c->candidates[i]) >= share)
            return &c->candidates[i];
    return NULL;
}

/* The best name that is free; where there is none, one that a longer one says, too. */
static const gf_label_candidate *best_name(const gf_labelling *l, uint32_t j,
                                           const gf_labels_given *g)
{
    const gf_label_counted *c = &l->counted[j];
    const gf_label_candidate *best = next_name(l, j, g, 0, 0, 0);
    for (uint32_t i = 0; i < c->n_top && !best; i++)
        if (may_be_name(&c->candidates[i]) && !is_given(g, &c->candidates[i]))
            best = &c->candidates[i];
    return best;
}

/* The next name of about the same score that means something else; NULL where there is none. */
static const gf_label_candidate *other_name(const gf_labelling *l, uint32_t j,
                                            const gf_labels_given *g,
                                            const gf_label_candidate *twin)
{
    const gf_label_counted *c = &l->counted[j];
    const gf_label_candidate *other = twin;
    while (other) {
        other = next_name(l, j, g, (uint32_t)(other - c->candidates) + 1, GF_LABEL_FREQUENT,
                          TWIN * twin->score);
        if (other && !gf_phrase_holds(other->key, twin->key) && !gf_label_is_twin(l, g, j, other))
            return other;
    }
    return NULL;
}

/* A longer name that holds a single word and is in half of its documents; else the word. */
static const gf_label_candidate *complete_word(const gf_labelling *l, uint32_t j,
                                               const gf_labels_given *g,
                                               const gf_label_candidate *word)
{
    const gf_label_counted *c = &l->counted[j];
    if (word->n_words > 1) return word;
    for (uint32_t i = 0; i < c->n_top; i++) {
        const gf_label_candidate *longer = &c->candidates[i];
        if (is_name(longer) && longer->n_words > 1 && !longer->places.boilerplate &&
            !is_given(g, longer) && longer->count >= GF_LABEL_COMPLETE_WORD * word->count &&
            gf_phrase_holds(longer->key, word->key))
            return longer;
    }
    return word;
}

/* The score that a candidate had if its words were not vague; a single ideograph is weak still. */
static double plain_score(const gf_label_candidate *c)
{
    gf_slice form = c->places.form;
    size_t at = 0;
    if (c->kind != GF_PHRASE_VAGUE || form.len == 0) return c->score;
    bool one = gf_utf8_next(form, &at) >= 0x3400 && at == form.len;
    return c->score / gf_label_factor(c->n_words, c->n_inner, GF_PHRASE_VAGUE) *
           gf_label_factor(c->n_words, c->n_inner, one ? GF_PHRASE_WEAK : GF_PHRASE_PLAIN);
}

/* True if a word that says nothing holds the cluster together: in twice the members of the name. */
static bool is_held_by_vague_word(const gf_label_counted *c, const gf_label_candidate *best)
{
    for (uint32_t i = 0; i < c->n_top; i++) {
        const gf_label_candidate *x = &c->candidates[i];
        if (x->kind == GF_PHRASE_VAGUE && !x->places.dropped && plain_score(x) > best->score &&
            x->documents >= HELD * best->documents)
            return true;
    }
    return false;
}

/* ---- the second part ------------------------------------------------------------------------- */

static uint32_t count_bits(uint64_t x)
{
    uint32_t n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
}

/* The share of b's documents that a has, too. */
static double common_share(const gf_label_cluster *cluster, const gf_label_candidate *a,
                           const gf_label_candidate *b)
{
    uint32_t both = 0, all = 0;
    for (uint32_t i = 0; i < (cluster->n_documents + 63) / 64; i++) {
        both += count_bits(a->places.documents[i] & b->places.documents[i]);
        all += count_bits(b->places.documents[i]);
    }
    return all ? (double)both / all : 1;
}

/* True if a word of the one is a word of the other, or like it. */
static bool share_a_word(const gf_label_candidate *a, const gf_label_candidate *b)
{
    for (gf_slice x = a->key; x.len; x = gf_slice_skip(x, gf_phrase_word_length(x)))
        if (gf_phrase_holds(b->key, gf_slice_of(x.ptr, gf_phrase_word_length(x)))) return true;
    return gf_label_words_alike(a->places.form, b->places.form);
}

/* True if b may stand beside the first part: other words, and in other members. */
static bool fits_beside(const gf_labelling *l, uint32_t j, const gf_labels_given *g,
                        const gf_label_candidate *first, const gf_label_candidate *b, double size)
{
    return b->n_words <= 2 && b->kind == GF_PHRASE_PLAIN && !is_given(g, b) &&
           b->documents >= size * first->documents && !share_a_word(first, b) &&
           !gf_label_is_twin(l, g, j, b) && common_share(&l->clusters[j], first, b) <= PART_COMMON;
}

/* best: of the highest score; first: what goes before it, since it is in more members, or the same. */
/*
 * Do so many members have it that a cluster may be called so? Half of them, or five: of some documents
 * any two have a rare word in common.
 */
static bool is_carried(const gf_labelling *l, uint32_t j, const gf_label_candidate *c)
{
    double size = (double)l->clusters[j].size, half = ceil(size / 2);
    double least = half < LEAST_CARRIERS ? half : LEAST_CARRIERS;
    return share_of(l, j, c) * size >= least - 0.5;
}

static const gf_label_candidate *find_second(const gf_labelling *l, uint32_t j,
                                             const gf_labels_given *g,
                                             const gf_label_candidate *best,
                                             const gf_label_candidate *first)
{
    const gf_label_counted *c = &l->counted[j];
    uint32_t from = (uint32_t)(first - c->candidates) + 1, seen = 0;
    if (first->n_words > 2) return NULL;
    if (best != first && fits_beside(l, j, g, first, best, BEST_SIZE)) return best;
    if (share_of(l, j, first) >= ONE_PART) return NULL;
    for (uint32_t i = from; i < c->n_top && seen < NEXT; i++) {
        const gf_label_candidate *b = &c->candidates[i];
        if (!is_name(b) || !is_carried(l, j, b)) continue;
        seen++;
        if (b->score < PART_SCORE * first->score) return NULL;
        if (fits_beside(l, j, g, first, b, PART_SIZE)) return b;
    }
    return NULL;
}

/* ---- one cluster ----------------------------------------------------------------------------- */

static choice choose(const gf_labelling *l, uint32_t j, const gf_labels_given *g)
{
    const gf_label_candidate *best = best_name(l, j, g), *other;
    const gf_label_counted *c = &l->counted[j];
    if (!best || best->score < GF_LABEL_LEAST_SCORE || !is_carried(l, j, best) ||
        is_held_by_vague_word(c, best))
        return (choice){.mixed = true};
    if (gf_label_is_twin(l, g, j, best)) {
        other = other_name(l, j, g, best);
        if (other) best = other;
    }
    const gf_label_candidate *first = best;
    if (share_of(l, j, best) < SHARE) {
        other = next_name(l, j, g, 0, SHARE, HALF * best->score);
        if (other && !gf_label_is_twin(l, g, j, other)) first = other;
    }
    const gf_label_candidate *second = find_second(l, j, g, best, first);
    if (!second) return (choice){.first = complete_word(l, j, g, first)};
    other = complete_word(l, j, g, second);
    if (!gf_phrase_holds(other->key, first->key)) second = other;
    return (choice){.first = first, .second = second};
}

/* True if the label that the cluster had stays; *kept is what it was made of. */
static bool stays(const gf_labelling *l, uint32_t j, const gf_labels_given *g, choice *kept)
{
    const gf_label_kept *k = &l->counted[j].kept;
    if (!k->whole) return false;
    choice now = choose(l, j, g);
    double least = now.mixed ? GF_LABEL_LEAST_SCORE : now.first->score;
    *kept = (choice){.mixed = true};
    if (k->mixed) return now.mixed || least < STAYS_MIXED * GF_LABEL_LEAST_SCORE;
    const gf_label_candidate *a = k->first, *b = k->two ? k->second : NULL;
    if (!a || a->places.dropped || a->kind == GF_PHRASE_VAGUE || is_given(g, a)) return false;
    bool same =
        now.first && (gf_phrase_holds(now.first->key, a->key) ||
                      gf_phrase_holds(a->key, now.first->key) || now.second == a || now.first == b);
    if (a->score < (same ? STAYS_PART : STAYS) * least) return false;
    if (k->two &&
        (!b || b->places.dropped || is_given(g, b) || b->score < STAYS * PART_SCORE * a->score ||
         common_share(&l->clusters[j], a, b) > STAYS_APART))
        return false;
    *kept = (choice){.first = a, .second = b};
    return true;
}

/* The next term of a mixed cluster: the best of those that share no word with those taken. */
static const gf_label_candidate *next_term(const gf_label_counted *c,
                                           const gf_label_candidate *const *taken, uint32_t n)
{
    const gf_label_candidate *best = NULL;
    for (uint32_t i = 0; i < c->n_top; i++) {
        const gf_label_candidate *x = &c->candidates[i];
        bool fits = !x->hidden && !x->places.dropped && x->places.form.len && x->score > 0;
        for (uint32_t t = 0; t < n && fits; t++)
            fits = !share_a_word(taken[t], x);
        if (fits && (!best || plain_score(x) > plain_score(best))) best = x;
    }
    return best;
}

/* The only cluster is as mixed as all documents are, which says nothing: it has the terms alone. */
static void write_mixed(const gf_label_counted *c, bool only, uint32_t terms, gf_buffer *form)
{
    const gf_label_candidate *taken[MOST_MIXED_TERMS];
    gf_buffer_reset(form);
    for (uint32_t n = 0; n < terms; n++) {
        taken[n] = next_term(c, taken, n);
        if (!taken[n]) return;
        gf_buffer_str(form, n ? ", " : only ? "" : "mixed: ");
        gf_buffer_slice(form, taken[n]->places.form);
    }
}

/* A label of the cluster's terms that nothing else has; form is empty where there is none. */
static gf_status give_mixed(const gf_labelling *l, uint32_t j, gf_labels_given *g, gf_buffer *form,
                            gf_error *err)
{
    for (uint32_t terms = MIXED_TERMS; terms <= MOST_MIXED_TERMS; terms++) {
        bool fresh = false;
        write_mixed(&l->counted[j], l->k == 1, terms, form);
        gf_status st = gf_buffer_check(form, err);
        if (st == GF_OK && form->len) st = gf_label_give(g, gf_buffer_view(form), &fresh, err);
        if (st != GF_OK || fresh || form->len == 0) return st;
    }
    gf_buffer_reset(form);
    return GF_OK;
}

/* The chosen parts as a label. Where its letters were given before, its terms are given too. */
static gf_status give_name(const gf_labelling *l, uint32_t j, gf_labels_given *g, gf_buffer *form,
                           choice *chosen, gf_error *err)
{
    for (uint32_t attempt = 0; attempt <= l->counted[j].n_top; attempt++) {
        bool fresh = false;
        uint32_t id;
        *chosen = choose(l, j, g);
        gf_buffer_reset(form);
        if (chosen->mixed) return GF_OK;
        gf_buffer_slice(form, chosen->first->places.form);
        if (chosen->second) {
            gf_buffer_str(form, " / ");
            gf_buffer_slice(form, chosen->second->places.form);
        }
        gf_status st = gf_buffer_check(form, err);
        if (st == GF_OK) st = gf_label_give(g, gf_buffer_view(form), &fresh, err);
        if (st == GF_OK && fresh) return note(g, j, chosen, err);
        if (st == GF_OK) st = gf_strings_add(&g->keys, chosen->first->key, &id, NULL, err);
        if (st != GF_OK) return st;
    }
    gf_buffer_reset(form);
    return GF_OK;
}

/* The label of a cluster without any phrase. */
static gf_status give_otherwise(const gf_labelling *l, uint32_t j, gf_labels_given *g,
                                gf_buffer *form, gf_error *err)
{
    gf_slice otherwise = l->clusters[j].otherwise;
    bool fresh = false;
    gf_status st = GF_OK;
    gf_buffer_reset(form);
    if (otherwise.len) st = gf_label_give(g, otherwise, &fresh, err);
    if (fresh) gf_buffer_slice(form, otherwise);
    for (uint32_t number = j + 1; st == GF_OK && !fresh; number += l->k) {
        gf_buffer_reset(form);
        gf_buffer_format(form, "cluster %u", number);
        st = gf_buffer_check(form, err);
        if (st == GF_OK) st = gf_label_give(g, gf_buffer_view(form), &fresh, err);
    }
    return st == GF_OK ? gf_buffer_check(form, err) : st;
}

static gf_status choose_label(const gf_labelling *l, uint32_t j, gf_labels_given *g,
                              gf_arena *memory, gf_slice *label, gf_error *err)
{
    gf_buffer form = {0};
    choice chosen;
    gf_status st = give_name(l, j, g, &form, &chosen, err);
    if (st == GF_OK && form.len == 0) st = give_mixed(l, j, g, &form, err);
    if (st == GF_OK && form.len == 0) st = give_otherwise(l, j, g, &form, err);
    if (st == GF_OK) {
        *label = gf_arena_copy(memory, gf_buffer_view(&form));
        if (!label->ptr) st = gf_fail_memory(err, "labels");
    }
    gf_buffer_release(&form);
    return st;
}

static gf_status keep_label(const gf_labelling *l, uint32_t j, gf_labels_given *g, gf_arena *memory,
                            gf_slice *label, gf_error *err)
{
    choice kept;
    bool fresh = false;
    *label = (gf_slice){0};
    if (!stays(l, j, g, &kept)) return GF_OK;
    gf_status st = gf_label_give(g, l->clusters[j].before, &fresh, err);
    if (st != GF_OK || !fresh) return st;
    st = note(g, j, &kept, err);
    if (st != GF_OK) return st;
    *label = gf_arena_copy(memory, l->clusters[j].before);
    return label->ptr ? GF_OK : gf_fail_memory(err, "labels");
}

gf_status gf_label_choose_clusters(const gf_labelling *l, gf_labels_given *given, gf_arena *memory,
                                   gf_slice *labels, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t j = 0; j < l->k && st == GF_OK; j++)
        st = keep_label(l, j, given, memory, &labels[j], err);
    for (uint32_t j = 0; j < l->k && st == GF_OK; j++)
        if (!labels[j].len) st = choose_label(l, j, given, memory, &labels[j], err);
    return st;
}
