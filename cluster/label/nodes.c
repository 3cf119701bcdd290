/*
 * Labels of the inner nodes of a tree over clusters, from what was counted of the clusters.
 *
 * The leaves of a node lie together in the tree's order. For each phrase the clusters that have it
 * are listed in that order with running totals of their documents, so that the documents of any
 * node that have it are the difference of two totals.
 *
 * A phrase that is frequent in a node is as frequent in one of its children; so a node's candidates
 * are those of its children that are frequent enough in it.
 */
#include "base/memory.h"
#include "cluster/label/internal.h"

#include <stdlib.h>

/*
 * Share of the documents of the labelled node above it from which a node is passed over: it would
 * say nearly the same of nearly the same documents, and the tree would be a staircase.
 */
#define SAME 0.75

typedef struct posting {
    uint32_t place; /* of a cluster, in the tree's order */
    double total;   /* documents that have the phrase, up to this cluster */
} posting;

typedef struct node_candidates {
    uint32_t *phrases; /* n: the most frequent first */
    uint32_t n;
} node_candidates;

typedef struct naming {
    const gf_labelling *l;
    const gf_tree *tree;
    uint64_t *start;     /* phrases + 2: of each phrase's postings; the last is for counting */
    posting *postings;   /* by phrase, then by place */
    double *size;        /* per node: documents */
    uint8_t *n_words;    /* per phrase */
    uint8_t *n_inner;    /* per phrase */
    uint8_t *kind;       /* per phrase: gf_phrase_kind */
    bool *dropped;       /* per phrase: it names nothing in some cluster */
    uint32_t *hidden;    /* per phrase: the last node, plus 1, where a longer one says the same */
    node_candidates *of; /* per node */
    gf_labels_given *given;
} naming;

/* ---- counts ---------------------------------------------------------------------------------- */

static void count_phrases(naming *n)
{
    const gf_labelling *l = n->l;
    for (uint32_t j = 0; j < l->k; j++) {
        for (uint32_t i = 0; i < l->counted[j].n_found; i++)
            n->start[l->counted[j].phrases[i] + 2]++;
        for (uint32_t i = 0; i < l->counted[j].n; i++) {
            const gf_label_candidate *c = &l->counted[j].candidates[i];
            n->n_words[c->phrase] = (uint8_t)c->n_words;
            n->n_inner[c->phrase] = (uint8_t)c->n_inner;
            n->kind[c->phrase] = (uint8_t)c->kind;
            n->dropped[c->phrase] = n->dropped[c->phrase] || c->places.dropped;
        }
    }
    for (uint32_t p = 0; p < l->phrases.n; p++)
        n->start[p + 2] += n->start[p + 1];
}

static void fill_postings(naming *n)
{
    const gf_labelling *l = n->l;
    for (uint32_t place = 0; place < l->k; place++) {
        uint32_t j = n->tree->order[place];
        const gf_label_counted *found = &l->counted[j];
        for (uint32_t i = 0; i < found->n_found; i++) {
            uint32_t p = found->phrases[i];
            n->postings[n->start[p + 1]++] = (posting){place, found->documents[i]};
        }
    }
    for (uint32_t p = 0; p < l->phrases.n; p++)
        for (uint64_t at = n->start[p] + 1; at < n->start[p + 1]; at++)
            n->postings[at].total += n->postings[at - 1].total;
}

/* The phrase's documents in the clusters before a place. */
static double total_before(const naming *n, uint32_t phrase, uint32_t place)
{
    uint64_t low = n->start[phrase], high = n->start[phrase + 1], first = low;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (n->postings[middle].place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low == first ? 0 : n->postings[low - 1].total;
}

/* Documents of a node that have the phrase. */
static double documents_with(const naming *n, uint32_t phrase, uint32_t node)
{
    uint32_t first = n->tree->first[node];
    return total_before(n, phrase, first + n->tree->count[node]) - total_before(n, phrase, first);
}

static double share_in(const naming *n, uint32_t phrase, uint32_t node)
{
    return n->size[node] > 0 ? documents_with(n, phrase, node) / n->size[node] : 0;
}

static void add_sizes(naming *n)
{
    const gf_tree *t = n->tree;
    for (uint32_t v = 0; v < t->n_nodes; v++) {
        const uint32_t *child = &t->child[2 * (size_t)v];
        n->size[v] =
            v < t->k ? (double)n->l->clusters[v].size : n->size[child[0]] + n->size[child[1]];
    }
}

/* ---- candidates ------------------------------------------------------------------------------ */

typedef struct frequent {
    uint32_t phrase;
    double documents;
} frequent;

static int by_documents(const void *a, const void *b)
{
    const frequent *x = a, *y = b;
    if (x->documents != y->documents) return x->documents > y->documents ? -1 : 1;
    return x->phrase < y->phrase ? -1 : x->phrase > y->phrase;
}

static gf_status take_leaf(naming *n, uint32_t leaf, gf_error *err)
{
    const gf_label_counted *c = &n->l->counted[leaf];
    node_candidates *of = &n->of[leaf];
    of->phrases = gf_array(c->n, sizeof *of->phrases);
    if (!of->phrases) return gf_fail_memory(err, "labels");
    for (of->n = 0; of->n < c->n; of->n++)
        of->phrases[of->n] = c->candidates[of->n].phrase;
    return GF_OK;
}

/* Frequent phrases of a node: equal ones of its children lie together once they are sorted. */
static gf_status take_inner(naming *n, uint32_t v, gf_error *err)
{
    enum { MOST = 2 * GF_LABEL_CANDIDATES };
    frequent all[MOST];
    uint32_t m = 0;
    node_candidates *of = &n->of[v];
    for (int side = 0; side < 2; side++) {
        const node_candidates *from = &n->of[n->tree->child[2 * (size_t)v + (size_t)side]];
        for (uint32_t i = 0; i < from->n; i++) {
            double documents = documents_with(n, from->phrases[i], v);
            if (documents >= GF_LABEL_RARE * n->size[v])
                all[m++] = (frequent){from->phrases[i], documents};
        }
    }
    qsort(all, m, sizeof *all, by_documents);
    of->phrases = gf_array(m, sizeof *of->phrases);
    if (!of->phrases) return gf_fail_memory(err, "labels");
    for (uint32_t i = 0; i < m && of->n < GF_LABEL_CANDIDATES; i++)
        if (i == 0 || all[i].phrase != all[i - 1].phrase) of->phrases[of->n++] = all[i].phrase;
    return GF_OK;
}

static gf_status find_candidates(naming *n, const gf_cancel *cancel, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t v = 0; v < n->tree->n_nodes && st == GF_OK; v++) {
        st = gf_cancel_check(cancel, err);
        if (st == GF_OK) st = v < n->tree->k ? take_leaf(n, v, err) : take_inner(n, v, err);
    }
    return st;
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* Phrases of the node that a longer one holds which is nearly as frequent there. */
static void hide_parts(naming *n, uint32_t v, uint32_t longer)
{
    gf_slice key = gf_strings_at(&n->l->phrases, longer);
    if (n->kind[longer] == GF_PHRASE_VAGUE || n->dropped[longer]) return;
    double documents = documents_with(n, longer, v);
    for (size_t from = 0; from < key.len;) {
        gf_slice tail = gf_slice_skip(key, from);
        for (size_t to = 0; to < tail.len;) {
            to += gf_phrase_word_length(gf_slice_skip(tail, to));
            uint32_t part = to < key.len
                                ? gf_strings_find(&n->l->phrases, gf_slice_of(tail.ptr, to))
                                : GF_STRING_NONE;
            if (part != GF_STRING_NONE &&
                documents >= GF_LABEL_COMPLETE * documents_with(n, part, v))
                n->hidden[part] = v + 1;
        }
        from += gf_phrase_word_length(tail);
    }
}

/* The score of a phrase as a node's label; 0 where it is none. */
static double score(const naming *n, uint32_t v, uint32_t phrase)
{
    const uint32_t *child = &n->tree->child[2 * (size_t)v];
    double documents = documents_with(n, phrase, v), share = documents / n->size[v];
    double rest = n->l->documents - n->size[v], outside = n->l->with[phrase] - documents;
    double left = share_in(n, phrase, child[0]), right = share_in(n, phrase, child[1]);
    double least = left < right ? left : right;
    if (rest <= 0 || share < GF_LABEL_FREQUENT || least < GF_LABEL_RARE) return 0;
    if (share < GF_LABEL_LIFT * outside / rest) return 0;
    if (n->kind[phrase] == GF_PHRASE_VAGUE || n->dropped[phrase]) return 0;
    return least / share * gf_label_score(documents, n->size[v], outside, rest) *
           gf_label_factor(n->n_words[phrase], n->n_inner[phrase], (gf_phrase_kind)n->kind[phrase]);
}

/* The form in which the cluster of the node that has the phrase most often writes it. */
static gf_status common_form(const naming *n, uint32_t v, uint32_t phrase, gf_buffer *form,
                             gf_error *err)
{
    uint32_t first = n->tree->first[v], end = first + n->tree->count[v];
    uint32_t best = GF_TREE_NONE;
    double most = 0, before = total_before(n, phrase, first);
    for (uint64_t at = n->start[phrase]; at < n->start[phrase + 1]; at++) {
        posting p = n->postings[at];
        if (p.place < first || p.place >= end) continue;
        if (p.total - before > most) {
            most = p.total - before;
            best = n->tree->order[p.place];
        }
        before = p.total;
    }
    if (best == GF_TREE_NONE) return GF_OK;
    return gf_phrase_common_form(&n->l->clusters[best], gf_strings_at(&n->l->phrases, phrase), form,
                                 err);
}

typedef struct scored {
    uint32_t phrase;
    double score;
} scored;

static int by_score(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->phrase < y->phrase ? -1 : x->phrase > y->phrase;
}

/* The best phrase that nothing else is called by; form is empty where there is none. */
static gf_status choose_phrase(naming *n, uint32_t v, gf_buffer *form, gf_error *err)
{
    scored all[GF_LABEL_CANDIDATES];
    const node_candidates *of = &n->of[v];
    uint32_t m = 0;
    for (uint32_t i = 0; i < of->n; i++)
        hide_parts(n, v, of->phrases[i]);
    for (uint32_t i = 0; i < of->n; i++) {
        uint32_t p = of->phrases[i];
        double s = n->hidden[p] == v + 1 ? 0 : score(n, v, p);
        if (s >= GF_LABEL_LEAST_SCORE) all[m++] = (scored){p, s};
    }
    qsort(all, m, sizeof *all, by_score);
    for (uint32_t i = 0; i < m; i++) {
        gf_slice key = gf_strings_at(&n->l->phrases, all[i].phrase);
        uint32_t id;
        bool fresh = false;
        if (gf_strings_find(&n->given->keys, key) != GF_STRING_NONE) continue;
        gf_buffer_reset(form);
        gf_status st = common_form(n, v, all[i].phrase, form, err);
        if (st == GF_OK && form->len)
            st = gf_label_give(n->given, gf_buffer_view(form), &fresh, err);
        if (st == GF_OK && fresh) st = gf_strings_add(&n->given->keys, key, &id, NULL, err);
        if (st != GF_OK || fresh) return st;
    }
    gf_buffer_reset(form);
    return GF_OK;
}

/* The nearest node above v that has a label, or the root. */
static uint32_t labelled_above(const naming *n, const gf_slice *labels, uint32_t v)
{
    uint32_t above = n->tree->parent[v];
    while (n->tree->parent[above] != GF_TREE_NONE && labels[above].len == 0)
        above = n->tree->parent[above];
    return above;
}

/* Parents choose before their children; the root is all there is, and has no label. */
static gf_status choose(naming *n, const gf_cancel *cancel, gf_arena *memory, gf_slice *labels,
                        gf_error *err)
{
    gf_buffer form = {0};
    gf_status st = GF_OK;
    for (uint32_t v = n->tree->n_nodes; v-- > n->tree->k && st == GF_OK;) {
        bool root = n->tree->parent[v] == GF_TREE_NONE;
        gf_buffer_reset(&form);
        st = gf_cancel_check(cancel, err);
        if (st == GF_OK && !root && n->size[v] <= SAME * n->size[labelled_above(n, labels, v)])
            st = choose_phrase(n, v, &form, err);
        labels[v] = st == GF_OK ? gf_arena_copy(memory, gf_buffer_view(&form)) : (gf_slice){0};
        if (st == GF_OK && !labels[v].ptr) st = gf_fail_memory(err, "labels");
    }
    gf_buffer_release(&form);
    return st;
}

static gf_status prepare(naming *n, gf_error *err)
{
    size_t phrases = n->l->phrases.n, nodes = n->tree->n_nodes;
    n->start = gf_calloc(phrases + 2, sizeof *n->start);
    n->n_words = gf_calloc(phrases, sizeof *n->n_words);
    n->n_inner = gf_calloc(phrases, sizeof *n->n_inner);
    n->kind = gf_calloc(phrases, sizeof *n->kind);
    n->dropped = gf_calloc(phrases, sizeof *n->dropped);
    n->hidden = gf_calloc(phrases, sizeof *n->hidden);
    n->size = gf_calloc(nodes, sizeof *n->size);
    n->of = gf_calloc(nodes, sizeof *n->of);
    bool ok = n->start && n->n_words && n->n_inner && n->kind && n->dropped && n->hidden &&
              n->size && n->of;
    if (!ok) return gf_fail_memory(err, "labels");
    count_phrases(n);
    n->postings = gf_array((size_t)n->start[phrases + 1], sizeof *n->postings);
    if (!n->postings) return gf_fail_memory(err, "labels");
    fill_postings(n);
    add_sizes(n);
    return GF_OK;
}

gf_status gf_label_nodes(const gf_labelling *l, const gf_tree *tree, gf_labels_given *given,
                         const gf_cancel *cancel, gf_arena *memory, gf_slice *labels, gf_error *err)
{
    naming n = {.l = l, .tree = tree, .given = given};
    gf_status st = prepare(&n, err);
    if (st == GF_OK) st = find_candidates(&n, cancel, err);
    if (st == GF_OK) st = choose(&n, cancel, memory, labels, err);
    for (uint32_t v = 0; n.of && v < tree->n_nodes; v++)
        gf_free(n.of[v].phrases);
    gf_free(n.start);
    gf_free(n.postings);
    gf_free(n.n_words);
    gf_free(n.n_inner);
    gf_free(n.kind);
    gf_free(n.dropped);
    gf_free(n.hidden);
    gf_free(n.size);
    gf_free(n.of);
    return st;
}
