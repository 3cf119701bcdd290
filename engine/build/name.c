/*
 * Naming clusters: documents of each are read again, so that labels are phrases as people wrote
 * them. The documents are spread evenly over the cluster's ranking, from the best to the worst: the
 * share of them that has a phrase is then also the share of all members.
 */
#include "engine/build/name.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "engine/build/label_words.h"
#include "engine/build/tree.h"
#include "vectorize/rows/transformer.h"

/* Bytes that are read of a document, from its start. */
enum { LEAST_TEXT = 1 << 10, MOST_TEXT = 16 << 10 };

static const gf_slice WITHOUT_TERMS = {"without terms", 13}, NO_TOPIC = {"no topic", 8};

void gf_build_named_release(gf_build_named *n)
{
    gf_tree_release(&n->tree);
    gf_arena_release(&n->memory);
    *n = (gf_build_named){0};
}

typedef struct naming {
    const gf_build_plan *plan;
    const gf_build_gathered *documents;
    const gf_build_previous *previous;
    const gf_build_clustered *clustered;
    const gf_build_matched *matched;
    gf_weak_terms own; /* where the plan has none that is kept */
    gf_label_words words;
    uint32_t per_cluster;          /* documents that are read */
    size_t per_document;           /* bytes that are read of each */
    gf_transformer **transformers; /* one per worker, made when it is needed */
    gf_arena *arenas;              /* one per cluster: its documents */
    gf_label_cluster *clusters;    /* k */
    bool **unlisted;               /* k: which of its documents have no stop list */
} naming;

/* ---- reading documents ----------------------------------------------------------------------- */

static gf_status make_transformer(naming *n, unsigned worker, gf_error *err)
{
    const gf_build_gathered *d = n->documents;
    gf_transformer **t = &n->transformers[worker];
    gf_status st =
        gf_transformer_create(&n->plan->settings.vectorizer, &d->vectors.vocabulary, t, err);
    if (st == GF_OK && d->analyser) gf_transformer_borrow(*t, d->analyser);
    return st;
}

/*
 * The words of a text that was cut, in the arena; `copies`: the text is copied there, too.
 * kept: its number among the texts whose words may still be at hand, or SIZE_MAX.
 */
static gf_status analyse_text(naming *n, unsigned worker, gf_slice text, size_t kept,
                              const gf_language *language, bool copies, gf_arena *arena,
                              gf_label_document *out, bool *unlisted, gf_error *err)
{
    const gf_vectorizer_options *options = &n->plan->settings.vectorizer;
    const gf_sequence_token *tokens;
    size_t n_tokens;
    bool is_kept = false;
    gf_status st = n->transformers[worker] ? GF_OK : make_transformer(n, worker, err);
    gf_transformer *t = n->transformers[worker];
    if (st == GF_OK && kept != SIZE_MAX)
        st = gf_transformer_sequence_kept(t, kept, &is_kept, &tokens, &n_tokens, err);
    if (st == GF_OK && !is_kept)
        st = gf_transformer_sequence(t, text, language, &tokens, &n_tokens, err);
    if (st != GF_OK) return st;
    if (options->analysis.language) language = options->analysis.language;
    *unlisted = !gf_label_words_have_list(options, language);
    gf_label_word *words = gf_arena_alloc(arena, n_tokens * sizeof *words);
    gf_slice copy = copies ? gf_arena_copy(arena, text) : text;
    if (!words || !copy.ptr) return gf_fail_memory(err, "labels");
    gf_label_words_of_text(&n->words, text, language, tokens, n_tokens, words);
    *out = (gf_label_document){copy, words, (uint32_t)n_tokens};
    return GF_OK;
}

static gf_status read_document(naming *n, unsigned worker, uint32_t point, gf_buffer *key,
                               gf_row *row, gf_arena *arena, gf_label_document *out, bool *unlisted,
                               gf_error *err)
{
    const gf_build_plan *p = n->plan;
    const gf_build_gathered *d = n->documents;
    uint32_t document = n->clustered->row_of[point];
    if (d->texts) {
        const gf_text *t = &d->texts[document];
        gf_slice start = gf_utf8_cut(t->text, n->per_document);
        bool whole = d->analyser && start.len == t->text.len;
        return analyse_text(n, worker, start, whole ? document : SIZE_MAX, t->language, false,
                            arena, out, unlisted, err);
    }
    gf_buffer_reset(key);
    gf_tables_document_key(key, p->where.name_space, p->where.collection,
                           gf_build_gathered_id(d, document));
    gf_status st = gf_buffer_check(key, err);
    if (st == GF_OK) st = gf_build_plan_document(p, gf_buffer_view(key), row, err);
    if (st == GF_ENOTFOUND && !p->snapshot)
        return analyse_text(n, worker, GF_SLICE(""), SIZE_MAX, NULL, true, arena, out, unlisted,
                            err);
    if (st != GF_OK) return st;
    const gf_cell *text = gf_row_find(row, GF_DOCUMENTS_MAIN, "text");
    const gf_cell *lang = gf_row_find(row, GF_DOCUMENTS_MAIN, "lang");
    const gf_language *language = NULL;
    if (!text) return gf_fail(err, GF_ECORRUPT, "table documents: a row is damaged");
    if (p->settings.detect)
        st = gf_languages_of_document(&d->fallback, lang ? lang->value : (gf_slice){0}, text->value,
                                      &language, err);
    if (st != GF_OK) return st;
    return analyse_text(n, worker, gf_utf8_cut(text->value, n->per_document), SIZE_MAX, language,
                        true, arena, out, unlisted, err);
}

/* The surface of the centroid's heaviest term, which is the label where there is no phrase. */
static gf_slice heaviest_term(const naming *n, uint32_t cluster)
{
    const gf_centre *c = &gf_build_clustered_terms(n->clustered)->at[cluster];
    uint32_t best = 0;
    for (uint32_t p = 1; p < c->n; p++)
        if (c->value[p] > c->value[best]) best = p;
    if (c->n == 0) return (gf_slice){0};
    return gf_vocabulary_surface(&n->documents->vectors.vocabulary, c->term[best]);
}

static gf_status read_cluster(void *context, size_t cluster, unsigned worker, gf_error *err)
{
    naming *n = context;
    const gf_build_clustered *c = n->clustered;
    uint32_t size = gf_build_clustered_size(c, (uint32_t)cluster);
    uint32_t m = size < n->per_cluster ? size : n->per_cluster;
    gf_arena *arena = &n->arenas[cluster];
    gf_label_document *documents = gf_arena_alloc(arena, m * sizeof *documents);
    bool *unlisted = gf_arena_alloc(arena, m * sizeof *unlisted);
    if (!documents || !unlisted) return gf_fail_memory(err, "labels");
    gf_buffer key = {0};
    gf_row row = {0};
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < m && st == GF_OK; i++) {
        uint32_t rank = (uint32_t)((uint64_t)i * size / m);
        st = read_document(n, worker, c->members[c->start[cluster] + rank], &key, &row, arena,
                           &documents[i], &unlisted[i], err);
    }
    n->clusters[cluster] = (gf_label_cluster){.documents = documents,
                                              .n_documents = m,
                                              .size = size,
                                              .otherwise = heaviest_term(n, (uint32_t)cluster)};
    n->unlisted[cluster] = unlisted;
    const gf_slice *pinned = gf_pins_label(&n->plan->pins, n->matched->ids[cluster]);
    if (!pinned)
        n->clusters[cluster].before =
            gf_build_previous_label(n->previous, n->matched->ids[cluster]);
    gf_buffer_release(&key);
    gf_row_release(&row);
    return st;
}

static uint32_t clamp(uint32_t least, uint32_t most, uint32_t v)
{
    return v < least ? least : v > most ? most : v;
}

/* Set how many documents of each cluster are read, and how much of each: less where it spills. */
static void divide_texts(naming *n, uint32_t k)
{
    uint64_t all = GF_NAMING_TEXT, most = GF_NAMING_ALL / k;
    uint32_t least = GF_NAMING_USUAL_LEAST;
    if (n->plan->spills) {
        const gf_text_counts *counts = &n->documents->counts;
        uint64_t mean = counts->text_bytes / counts->meant + 1;
        all = n->plan->memory.text;
        least = GF_NAMING_LEAST;
        if (most > all / mean / k) most = all / mean / k;
    }
    n->per_cluster = clamp(least, GF_NAMING_MOST, (uint32_t)most);
    n->per_document = clamp(LEAST_TEXT, MOST_TEXT, (uint32_t)(all / n->per_cluster / k));
}

/* ---- labels ---------------------------------------------------------------------------------- */

/*
 * Labels that no cluster may be given: those of documents in none, those that clusters are pinned to, and the
 * names of topics.
 */
static const gf_slice *list_reserved(const gf_build_plan *plan, gf_arena *memory, size_t *n)
{
    const gf_pins *pins = &plan->pins;
    size_t most = pins->n_labels + plan->edits.n + 2;
    gf_slice *reserved = gf_arena_alloc(memory, most * sizeof *reserved);
    *n = 0;
    if (!reserved) return NULL;
    reserved[(*n)++] = WITHOUT_TERMS;
    reserved[(*n)++] = NO_TOPIC;
    for (size_t i = 0; i < plan->edits.n; i++)
        if (gf_edits_topic_holds(&plan->edits, i)) reserved[(*n)++] = plan->edits.at[i].edit.text;
    for (size_t i = 0; i < pins->n_labels; i++)
        reserved[(*n)++] = pins->labels[i].label;
    return reserved;
}

/* The labels of clusters whose documents were read. */
static gf_status choose_labels(naming *n, gf_pool *pool, gf_build_named *out, gf_error *err)
{
    const gf_build_clustered *c = n->clustered;
    const gf_vectors *v = &n->documents->vectors;
    gf_label_rows rows = {&v->x, c->row_of, c->members, c->start};
    gf_label_options o = {.rows = v->entries ? NULL : &rows, /* rows in a file are not read again */
                          .tree = out->tree.k ? &out->tree : NULL,
                          .cancel = n->plan->options->cancel};
    o.taken = list_reserved(n->plan, &out->memory, &o.n_taken);
    if (!o.taken) return gf_fail_memory(err, "labels");
    return gf_labels_choose(pool, n->clusters, c->kmeans.k, &o, &out->memory, out->labels, err);
}

static gf_status prepare(naming *n, gf_pool *pool, gf_build_named *out, gf_error *err)
{
    uint32_t k = n->clustered->kmeans.k;
    divide_texts(n, k);
    n->transformers = gf_calloc(gf_pool_size(pool), sizeof(gf_transformer *));
    n->arenas = gf_calloc(k, sizeof *n->arenas);
    n->clusters = gf_calloc(k, sizeof *n->clusters);
    n->unlisted = gf_calloc(k, sizeof *n->unlisted);
    out->labels = gf_arena_alloc(&out->memory, 2 * (size_t)k * sizeof *out->labels);
    bool ok = n->transformers && n->arenas && n->clusters && n->unlisted && out->labels;
    gf_status st = ok ? make_transformer(n, 0, err) : gf_fail_memory(err, "labels");
    if (st != GF_OK) return st;
    gf_weak_terms *weak = n->plan->weak ? n->plan->weak : &n->own;
    st = gf_weak_terms_suit(weak, &n->plan->settings.vectorizer.analysis, err);
    if (st != GF_OK) return st;
    return gf_label_words_init(&n->words, weak, &n->documents->vectors.vocabulary, err);
}

static void release(naming *n, gf_pool *pool)
{
    for (unsigned w = 0; n->transformers && w < gf_pool_size(pool); w++)
        gf_transformer_free(n->transformers[w]);
    for (uint32_t c = 0; n->arenas && c < n->clustered->kmeans.k; c++)
        gf_arena_release(&n->arenas[c]);
    gf_label_words_release(&n->words);
    gf_weak_terms_release(&n->own);
    gf_free(n->transformers);
    gf_free(n->arenas);
    gf_free(n->clusters);
    gf_free(n->unlisted);
}

gf_status gf_build_name(const gf_build_plan *plan, gf_pool *pool,
                        const gf_build_gathered *documents, const gf_build_previous *previous,
                        const gf_build_clustered *clustered, const gf_build_matched *matched,
                        gf_build_named *out, gf_error *err)
{
    uint32_t k = clustered->kmeans.k;
    const gf_cancel *cancel = plan->options->cancel;
    if (k == 0) return GF_OK;
    gf_build_plan_progress(plan, "naming clusters", 0, k);
    naming n = {.plan = plan,
                .documents = documents,
                .previous = previous,
                .clustered = clustered,
                .matched = matched};
    gf_status st = prepare(&n, pool, out, err);
    if (st == GF_OK) st = gf_pool_run(pool, k, read_cluster, &n, cancel, err);
    if (st == GF_OK) st = gf_label_words_mark_frequent(&n.words, n.clusters, k, n.unlisted, err);
    if (st == GF_OK) st = gf_build_tree(pool, clustered, cancel, &out->tree, err);
    if (st == GF_OK) st = choose_labels(&n, pool, out, err);
    for (uint32_t c = 0; c < k && st == GF_OK; c++) {
        const gf_slice *pinned = gf_pins_label(&plan->pins, matched->ids[c]);
        if (gf_build_clustered_is_topic(clustered, c))
            out->labels[c] = plan->edits.at[clustered->topic[c]].edit.text;
        if (pinned) out->labels[c] = *pinned;
    }
    release(&n, pool);
    return st;
}
