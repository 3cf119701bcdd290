/*
 * Naming clusters: documents of each are read again, so that labels are phrases as people wrote
 * them. They are taken evenly over the cluster's ranking, from the best to the worst: then the
 * share of them that has a phrase is also the share of all members.
 */
#include "engine/build/internal.h"
#include "engine/build/tree.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "cluster/label/labels.h"
#include "vectorize/rows/transformer.h"

enum {
    MOST_DOCUMENTS = 200, /* of a cluster */
    LEAST_DOCUMENTS = 20,
    ALL_DOCUMENTS = 200000, /* of all clusters, about */
    MOST_TEXT = 16 << 10,   /* bytes of a document, from its start */
    LEAST_TEXT = 1 << 10,
    ALL_TEXT = 64 << 20 /* of all, about; their words take some three times as much */
};

static const gf_slice WITHOUT_TERMS = {"without terms", 13};

typedef struct naming {
    gf_job *job;
    uint32_t per_cluster;          /* documents that are read */
    size_t per_document;           /* bytes that are read of each */
    gf_transformer **transformers; /* per worker, made when needed */
    gf_arena *arenas;              /* per cluster: its documents */
    gf_label_cluster *clusters;    /* k */
} naming;

static uint32_t word_flags(uint32_t flags)
{
    uint32_t out = 0;
    if (flags & GF_SEQUENCE_BREAK) out |= GF_LABEL_BREAK;
    if (flags & (GF_SEQUENCE_STOP | GF_SEQUENCE_OTHER)) out |= GF_LABEL_INNER;
    if (flags & GF_SEQUENCE_LINK) out |= GF_LABEL_NEVER;
    if (flags & GF_SEQUENCE_NUMBER) out |= GF_LABEL_NUMBER;
    return out;
}

static gf_status make_transformer(naming *n, unsigned worker, gf_error *err)
{
    gf_job *j = n->job;
    gf_transformer **t = &n->transformers[worker];
    gf_status st =
        gf_transformer_create(&j->settings.vectorizer, &j->documents.vectors.vocabulary, t, err);
    if (st == GF_OK && j->analyser) gf_transformer_borrow(*t, j->analyser);
    return st;
}

/* The words of a text, which is cut; they are put into the arena, and where `copies` so is it. */
static gf_status analyse(naming *n, unsigned worker, gf_slice text, const gf_language *language,
                         bool copies, gf_arena *arena, gf_label_document *out, gf_error *err)
{
    const gf_sequence_token *tokens;
    size_t n_tokens;
    gf_status st = n->transformers[worker] ? GF_OK : make_transformer(n, worker, err);
    if (st == GF_OK)
        st = gf_transformer_sequence(n->transformers[worker], text, language, &tokens, &n_tokens,
                                     err);
    if (st != GF_OK) return st;
    gf_label_word *words = gf_arena_alloc(arena, n_tokens * sizeof *words);
    gf_slice copy = copies ? gf_arena_copy(arena, text) : text;
    if (!words || !copy.ptr) return gf_fail_memory(err, "labels");
    for (size_t i = 0; i < n_tokens; i++)
        words[i] = (gf_label_word){tokens[i].term, word_flags(tokens[i].flags), tokens[i].start,
                                   tokens[i].length};
    *out = (gf_label_document){copy, words, (uint32_t)n_tokens};
    return GF_OK;
}

static gf_status read_document(naming *n, unsigned worker, uint32_t point, gf_buffer *key,
                               gf_row *row, gf_arena *arena, gf_label_document *out, gf_error *err)
{
    gf_job *j = n->job;
    if (j->texts) {
        const gf_text *t = &j->texts[j->row_of[point]];
        return analyse(n, worker, gf_utf8_cut(t->text, n->per_document), t->language, false, arena,
                       out, err);
    }
    gf_buffer_reset(key);
    gf_document_key(key, j->where.name_space, j->where.collection,
                    gf_gathered_id(&j->documents, j->row_of[point]));
    gf_status st = gf_buffer_check(key, err);
    if (st == GF_OK)
        st = gf_table_get(j->store->tables.documents, j->snapshot, gf_buffer_view(key),
                          1u << GF_DOCUMENTS_MAIN, row, err);
    if (st != GF_OK) return st;
    const gf_cell *text = gf_row_find(row, GF_DOCUMENTS_MAIN, "text");
    const gf_cell *lang = gf_row_find(row, GF_DOCUMENTS_MAIN, "lang");
    const gf_language *language = NULL;
    if (!text) return gf_fail(err, GF_ECORRUPT, "table documents: a row is damaged");
    if (j->settings.detect)
        st = gf_document_language(&j->documents.fallback, lang ? lang->value : (gf_slice){0},
                                  text->value, &language, err);
    if (st != GF_OK) return st;
    return analyse(n, worker, gf_utf8_cut(text->value, n->per_document), language, true, arena, out,
                   err);
}

/* The surface of the centre's heaviest term: what a cluster is called for want of a phrase. */
static gf_slice heaviest_term(const gf_job *j, uint32_t cluster)
{
    const gf_centre *c = &gf_job_term_centres(j)->at[cluster];
    uint32_t best = 0;
    for (uint32_t p = 1; p < c->n; p++)
        if (c->value[p] > c->value[best]) best = p;
    if (c->n == 0) return (gf_slice){0};
    return gf_vocabulary_surface(&j->documents.vectors.vocabulary, c->term[best]);
}

static gf_status read_task(void *context, size_t cluster, unsigned worker, gf_error *err)
{
    naming *n = context;
    gf_job *j = n->job;
    uint32_t size = j->start[cluster + 1] - j->start[cluster];
    uint32_t m = size < n->per_cluster ? size : n->per_cluster;
    gf_arena *arena = &n->arenas[cluster];
    gf_label_document *documents = gf_arena_alloc(arena, m * sizeof *documents);
    if (!documents) return gf_fail_memory(err, "labels");
    gf_buffer key = {0};
    gf_row row = {0};
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < m && st == GF_OK; i++) {
        uint32_t rank = (uint32_t)((uint64_t)i * size / m);
        st = read_document(n, worker, j->members[j->start[cluster] + rank], &key, &row, arena,
                           &documents[i], err);
    }
    n->clusters[cluster] = (gf_label_cluster){.documents = documents,
                                              .n_documents = m,
                                              .size = size,
                                              .otherwise = heaviest_term(j, (uint32_t)cluster)};
    gf_buffer_release(&key);
    gf_row_release(&row);
    return st;
}

static void release(naming *n, uint32_t k)
{
    for (unsigned w = 0; n->transformers && w < gf_pool_size(n->job->pool); w++)
        gf_transformer_free(n->transformers[w]);
    for (uint32_t c = 0; n->arenas && c < k; c++)
        gf_arena_release(&n->arenas[c]);
    gf_free(n->transformers);
    gf_free(n->arenas);
    gf_free(n->clusters);
}

static uint32_t within(uint32_t least, uint32_t most, uint32_t v)
{
    return v < least ? least : v > most ? most : v;
}

/* How many documents of each cluster are read, and how much of each; fewer where memory is short.
 */
static void divide_texts(naming *n, uint32_t k)
{
    const gf_job *j = n->job;
    uint64_t all = ALL_TEXT, most = ALL_DOCUMENTS / k;
    uint32_t least = LEAST_DOCUMENTS;
    if (j->spills) {
        uint64_t mean = j->documents.counts.text_bytes / j->documents.counts.meant + 1;
        all = j->plan.text;
        least = GF_LEAST_NAMING;
        if (most > all / mean / k) most = all / mean / k;
    }
    n->per_cluster = within(least, MOST_DOCUMENTS, (uint32_t)most);
    n->per_document = within(LEAST_TEXT, MOST_TEXT, (uint32_t)(all / n->per_cluster / k));
}

/* What no cluster may be called of itself: "without terms", and what others are pinned to. */
static const gf_slice *list_taken(gf_job *j, size_t *n)
{
    gf_slice *taken = gf_arena_alloc(&j->memory, (j->pins.n_labels + 1) * sizeof *taken);
    if (!taken) return NULL;
    *n = 0;
    taken[(*n)++] = WITHOUT_TERMS;
    for (size_t i = 0; i < j->pins.n_labels; i++)
        taken[(*n)++] = j->pins.labels[i].label;
    return taken;
}

/* Clusters that go on keep the labels that they are pinned to. */
static void set_pinned(gf_job *j)
{
    for (uint32_t c = 0; c < j->clusters.k; c++) {
        const gf_slice *label = gf_pins_label(&j->pins, j->ids[c]);
        if (label) j->labels[c] = *label;
    }
}

gf_status gf_job_name_clusters(gf_job *j, gf_error *err)
{
    uint32_t k = j->clusters.k;
    if (k == 0) return GF_OK;
    gf_job_tell(j, "naming clusters", 0, k);
    naming n = {.job = j};
    divide_texts(&n, k);
    n.transformers = gf_calloc(gf_pool_size(j->pool), sizeof(gf_transformer *));
    n.arenas = gf_calloc(k, sizeof *n.arenas);
    n.clusters = gf_calloc(k, sizeof *n.clusters);
    j->labels = gf_arena_alloc(&j->memory, 2 * (size_t)k * sizeof *j->labels);
    size_t n_taken = 0;
    const gf_slice *taken = list_taken(j, &n_taken);
    bool ok = n.transformers && n.arenas && n.clusters && j->labels && taken;
    gf_status st = ok ? gf_pool_run(j->pool, k, read_task, &n, j->options->cancel, err)
                      : gf_fail_memory(err, "labels");
    if (st == GF_OK) st = gf_job_build_tree(j, &j->tree, err);
    if (st == GF_OK)
        st = gf_labels_choose_tree(j->pool, n.clusters, k, j->tree.k ? &j->tree : NULL, taken,
                                   n_taken, j->options->cancel, &j->memory, j->labels, err);
    if (st == GF_OK) set_pinned(j);
    release(&n, k);
    return st;
}
