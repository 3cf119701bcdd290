/*
 * Labels of new groups, by the rule of a build (engine/build/name.c), over fewer documents: those of the
 * groups, and for comparison some of the clusters that are next best for their members.
 */
#include "engine/edit/internal.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "cluster/label/labels.h"
#include "engine/build/label_words.h"

#include <stdlib.h>

enum { OWN = 120, BESIDE = 40, NEIGHBOURS = 12, MOST_TEXT = 4 << 10 };

typedef struct group_naming {
    gf_editing *e;
    gf_weak_terms weak;
    gf_label_words words;
    gf_label_cluster *clusters; /* n */
    gf_slice *labels;           /* n: out */
    bool **unlisted;            /* n */
    uint32_t *ids;              /* n: of the groups and of their neighbours */
    gf_group **group;           /* n: NULL for a neighbour */
    uint32_t *order;            /* n: by falling size */
    uint32_t n;
} group_naming;

static gf_status analyse(group_naming *s, gf_slice id, gf_label_document *out, bool *unlisted,
                         gf_error *err)
{
    gf_editing *e = s->e;
    gf_view *v = e->view;
    const gf_vectorizer_options *options = &v->model.analysis.options;
    const gf_language *language = NULL;
    const gf_sequence_token *tokens;
    gf_document d;
    gf_field *fields = NULL;
    size_t n = 0;
    uint64_t seq;
    gf_status st = gf_state_document_row(v->state, id, &v->document_row, &d, &fields, &seq, err);
    if (st == GF_OK)
        st = gf_model_analysis_language(&v->model.analysis, d.language, d.text, &language, err);
    gf_slice text = {"", 0};
    if (st == GF_OK) {
        text = gf_arena_copy(&e->memory, gf_utf8_cut(d.text, MOST_TEXT));
        if (!text.ptr) st = gf_fail_memory(err, "labels");
    }
    if (st == GF_OK)
        st = gf_transformer_sequence(v->model.transformer, text, language, &tokens, &n, err);
    gf_free(fields);
    if (st != GF_OK) return st;
    if (options->analysis.language) language = options->analysis.language;
    *unlisted = !gf_label_words_have_list(options, language);
    gf_label_word *words = gf_arena_alloc(&e->memory, (n + 1) * sizeof *words);
    if (!words) return gf_fail_memory(err, "labels");
    gf_label_words_of_text(&s->words, text, language, tokens, n, words);
    *out = (gf_label_document){text, words, (uint32_t)n};
    return GF_OK;
}

/* Documents of a cluster that are read so far. */
typedef struct sample {
    group_naming *s;
    gf_label_document *documents;
    bool *unlisted;
    uint32_t n;
} sample;

static gf_status take_document(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    sample *x = context;
    (void)m;
    gf_status st = analyse(x->s, id, &x->documents[x->n], &x->unlisted[x->n], err);
    if (st == GF_OK) x->n++;
    return st;
}

/* Members of a new group, spread evenly over its ranking. */
static gf_status take_spread(sample *x, const gf_group *g, gf_error *err)
{
    size_t most = g->n < OWN ? g->n : OWN;
    gf_status st = GF_OK;
    for (size_t i = 0; i < most && st == GF_OK; i++) {
        gf_slice id = g->members[i * g->n / most].id;
        if (!gf_deleted_set_has(x->s->e->view->deleted, id)) st = take_document(x, id, NULL, err);
    }
    return st;
}

static gf_slice heaviest(const gf_group *g)
{
    gf_slice terms = g->terms;
    const char *from = terms.len > 3 ? memchr(terms.ptr, '"', terms.len) : NULL;
    if (!from) return (gf_slice){0};
    gf_slice rest = gf_slice_skip(terms, (size_t)(from + 1 - terms.ptr));
    const char *to = memchr(rest.ptr, '"', rest.len);
    return to ? gf_slice_of(rest.ptr, (size_t)(to - rest.ptr)) : (gf_slice){0};
}

static gf_status read_sample(group_naming *s, uint32_t i, gf_error *err)
{
    gf_view *v = s->e->view;
    const gf_group *g = s->group[i];
    size_t most = g ? OWN : BESIDE;
    sample x = {.s = s,
                .documents = gf_arena_alloc(&s->e->memory, most * sizeof *x.documents),
                .unlisted = gf_arena_alloc(&s->e->memory, most * sizeof *x.unlisted)};
    if (!x.documents || !x.unlisted) return gf_fail_memory(err, "labels");
    const gf_listed_cluster *c = gf_view_find_cluster(v, s->ids[i]);
    gf_status st =
        g ? take_spread(&x, g, err) : gf_view_members(v, s->ids[i], BESIDE, take_document, &x, err);
    s->unlisted[i] = x.unlisted;
    s->clusters[i] = (gf_label_cluster){.documents = x.documents,
                                        .n_documents = x.n,
                                        .size = g ? g->n : c->size,
                                        .otherwise = g ? heaviest(g) : c->own_label,
                                        .before = c ? c->own_label : (gf_slice){0}};
    return st;
}

/* ---- neighbours ------------------------------------------------------------------------------ */

static bool is_one_of(uint32_t id, const uint32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id) return true;
    return false;
}

/* The largest of the other clusters: labels are told apart from what is most of the rest. */
static void add_neighbours(group_naming *s, const uint32_t *ids, size_t n_ids)
{
    const gf_view *v = s->e->view;
    uint32_t most = s->n + NEIGHBOURS;
    while (s->n < most) {
        const gf_listed_cluster *best = NULL;
        for (size_t i = 0; i < v->n_clusters; i++) {
            const gf_listed_cluster *c = &v->clusters[i];
            if (is_one_of(c->id, ids, n_ids) || is_one_of(c->id, s->ids, s->n)) continue;
            if (!best || c->size > best->size) best = c;
        }
        if (!best) return;
        s->group[s->n] = NULL;
        s->ids[s->n++] = best->id;
    }
}

/* Labels that a group must not have: those of all other clusters, those that are pinned, and the names of topics. */
static const gf_slice *list_taken(group_naming *s, const uint32_t *ids, size_t n_ids, size_t *n)
{
    const gf_view *v = s->e->view;
    const gf_pins *pins = &s->e->pins;
    const gf_kept_edits *edits = &s->e->edits;
    size_t most = 2 * v->n_clusters + pins->n_labels + edits->n + 1;
    gf_slice *taken = gf_arena_alloc(&s->e->memory, most * sizeof *taken);
    *n = 0;
    if (!taken) return NULL;
    taken[(*n)++] = GF_SLICE("without terms");
    for (size_t i = 0; i < v->n_clusters; i++) {
        if (is_one_of(v->clusters[i].id, ids, n_ids)) continue;
        taken[(*n)++] = v->clusters[i].own_label;
        taken[(*n)++] = v->clusters[i].label;
    }
    for (size_t i = 0; i < pins->n_labels; i++)
        taken[(*n)++] = pins->labels[i].label;
    for (size_t i = 0; i < edits->n; i++)
        if (gf_edits_topic_holds(edits, i)) taken[(*n)++] = edits->at[i].edit.text;
    return taken;
}

/* ---- choosing -------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b, void *context)
{
    const group_naming *s = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint64_t of_x = s->clusters[x].size, of_y = s->clusters[y].size;
    if (of_x != of_y) return of_x > of_y ? -1 : 1;
    return x < y ? -1 : x > y;
}

static gf_status choose(group_naming *s, const uint32_t *ids, size_t n_ids, gf_error *err)
{
    gf_label_options o = {.rows = NULL};
    gf_label_cluster *sorted = gf_arena_alloc(&s->e->memory, s->n * sizeof *sorted);
    gf_slice *labels = gf_arena_alloc(&s->e->memory, s->n * sizeof *labels);
    o.taken = list_taken(s, ids, n_ids, &o.n_taken);
    if (!sorted || !labels || !o.taken) return gf_fail_memory(err, "labels");
    for (uint32_t i = 0; i < s->n; i++)
        s->order[i] = i;
    qsort_r(s->order, s->n, sizeof *s->order, by_size, s);
    for (uint32_t i = 0; i < s->n; i++)
        sorted[i] = s->clusters[s->order[i]];
    gf_status st = gf_labels_choose(NULL, sorted, s->n, &o, &s->e->memory, labels, err);
    for (uint32_t i = 0; i < s->n && st == GF_OK; i++)
        s->labels[s->order[i]] = labels[i];
    return st;
}

static gf_status prepare(group_naming *s, size_t n, gf_error *err)
{
    gf_arena *memory = &s->e->memory;
    gf_view *v = s->e->view;
    size_t most = n + NEIGHBOURS;
    s->clusters = gf_arena_alloc(memory, most * sizeof *s->clusters);
    s->labels = gf_arena_alloc(memory, most * sizeof *s->labels);
    s->unlisted = gf_arena_alloc(memory, most * sizeof(bool *));
    s->ids = gf_arena_alloc(memory, most * sizeof *s->ids);
    s->group = gf_arena_alloc(memory, most * sizeof(gf_group *));
    s->order = gf_arena_alloc(memory, most * sizeof *s->order);
    if (!s->clusters || !s->labels || !s->unlisted || !s->ids || !s->group || !s->order)
        return gf_fail_memory(err, "labels");
    gf_status st = gf_view_load_model(v, err);
    if (st == GF_OK) st = gf_weak_terms_suit(&s->weak, &v->model.analysis.options.analysis, err);
    if (st == GF_OK) st = gf_label_words_init(&s->words, &s->weak, &v->model.vocabulary, err);
    return st;
}

/* The name that somebody has given a cluster: by a pin, or by the topic that it is of. Empty: nobody has. */
static gf_slice given_name(const gf_editing *e, uint32_t cluster)
{
    const gf_slice *pinned = gf_pins_label(&e->pins, cluster);
    size_t topic = gf_edits_topic_of(&e->edits, cluster);
    if (pinned) return *pinned;
    return topic < e->edits.n ? e->edits.at[topic].edit.text : (gf_slice){0};
}

/* A name that is no other row's, whatever that one is called. */
static bool is_free(const gf_view *v, gf_slice label, const uint32_t *ids, size_t n_ids)
{
    for (size_t i = 0; i < v->n_clusters; i++)
        if (gf_slice_equal(v->clusters[i].own_label, label) &&
            !is_one_of(v->clusters[i].id, ids, n_ids))
            return false;
    return true;
}

gf_status gf_edit_name(gf_editing *e, gf_group *groups, size_t n, const uint32_t *ids, size_t n_ids,
                       gf_error *err)
{
    group_naming s = {.e = e};
    gf_status st = prepare(&s, n, err);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        s.group[s.n] = &groups[i];
        s.ids[s.n++] = groups[i].id;
    }
    if (st == GF_OK) add_neighbours(&s, ids, n_ids);
    for (uint32_t i = 0; i < s.n && st == GF_OK; i++)
        st = read_sample(&s, i, err);
    if (st == GF_OK) st = gf_label_words_mark_frequent(&s.words, s.clusters, s.n, s.unlisted, err);
    if (st == GF_OK) st = choose(&s, ids, n_ids, err);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        gf_slice given = given_name(e, groups[i].id);
        bool free = given.len && is_free(e->view, given, ids, n_ids);
        groups[i].label = free ? given : s.labels[i];
    }
    gf_label_words_release(&s.words);
    gf_weak_terms_release(&s.weak);
    return st;
}
