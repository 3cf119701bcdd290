#include "engine/build/topics.h"

#include "base/memory.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "cluster/passes/fold.h"
#include "cluster/passes/nearest_centres.h"
#include "engine/rows/document_row.h"
#include "engine/rows/scan.h"
#include "vectorize/rows/transformer.h"

#include <stdlib.h>
#include <string.h>

enum { TASK_ROWS = 1024 };

void gf_build_grown_release(gf_build_grown *g)
{
    gf_free(g->edit);
    gf_known_release(&g->known);
    gf_free(g->example);
    gf_csr_release(&g->rest);
    gf_free(g->rest_of);
    *g = (gf_build_grown){0};
}

bool gf_build_topics_hold(const gf_build_plan *plan)
{
    for (size_t i = 0; i < plan->edits.n; i++)
        if (gf_edits_topic_holds(&plan->edits, i)) return true;
    return false;
}

gf_status gf_build_topics_lose(const gf_build_plan *plan, const char *why, gf_build_clustered *c,
                               gf_error *err)
{
    if (!c->topic_lost) c->topic_lost = gf_calloc(plan->edits.n + 1, sizeof *c->topic_lost);
    if (!c->topic_lost) return gf_fail_memory(err, "topics");
    c->n_edits = plan->edits.n;
    for (size_t i = 0; i < plan->edits.n && why; i++)
        if (gf_edits_topic_holds(&plan->edits, i)) c->topic_lost[i] = why;
    return GF_OK;
}

/* ---- what describes topics ------------------------------------------------------------------- */

typedef struct describing {
    const gf_build_plan *plan;
    const gf_build_gathered *documents;
    const gf_csr *x;
    const uint32_t *row_of;
    size_t *example; /* x->n_rows: the edit, by its place; GF_NOT_A_TOPIC */
    bool *described; /* edits.n */
    gf_csr words;
    uint32_t *words_of; /* edits.n of room, words.n_rows used: topics */
} describing;

/* A later word on a document counts, also that it is in no topic; one that has no row is no example. */
static void take_example(describing *g, gf_slice id, size_t edit)
{
    uint32_t document = gf_build_gathered_find(g->documents, id);
    if (document == GF_BUILD_NONE) return;
    uint32_t row = gf_build_find_row(g->row_of, g->x->n_rows, document);
    if (row != GF_BUILD_NONE) g->example[row] = edit;
}

/* Topics of one field, by their values. */
typedef struct field_walk {
    describing *g;
    gf_slice field;
    gf_strings names; /* of the topics, folded */
    size_t *topic;    /* names.n: edits, by their places */
    gf_buffer letters;
    gf_json_parser *parser;
    gf_field *fields;
    size_t room;
    gf_buffer id;
} field_walk;

static gf_status look_at_document(void *context, const gf_row *row, gf_error *err)
{
    field_walk *w = context;
    const gf_build_plan *p = w->g->plan;
    gf_document d;
    gf_slice value;
    uint64_t seq;
    gf_buffer_reset(&w->id);
    gf_status st = gf_cancel_check(p->options->cancel, err);
    if (st == GF_OK)
        st = gf_tables_key_last_string(p->store->tables.documents, row->key, &w->id, err);
    if (st == GF_OK && row->n_cells > w->room) {
        gf_free(w->fields);
        w->room = row->n_cells + 16;
        w->fields = gf_array(w->room, sizeof *w->fields);
        if (!w->fields) {
            w->room = 0;
            return gf_fail_memory(err, "a document");
        }
    }
    if (st != GF_OK) return st;
    gf_document_row_read(row, gf_buffer_view(&w->id), w->fields, &d, &seq);
    st = gf_document_row_value(&d, w->field, w->parser, &value, err);
    if (st != GF_OK || !value.len) return st;
    gf_buffer_reset(&w->letters);
    gf_utf8_fold(value, &w->letters);
    st = gf_buffer_check(&w->letters, err);
    if (st != GF_OK) return st;
    uint32_t name = gf_strings_find(&w->names, gf_buffer_view(&w->letters));
    if (name != GF_STRING_NONE) take_example(w->g, d.id, w->topic[name]);
    return GF_OK;
}

/* The names of the field's topics, of which one holds of each name. */
static gf_status list_names(field_walk *w, gf_error *err)
{
    const gf_kept_edits *edits = &w->g->plan->edits;
    gf_status st = GF_OK;
    w->topic = gf_array(edits->n, sizeof *w->topic);
    if (!w->topic) return gf_fail_memory(err, "topics");
    for (size_t i = 0; i < edits->n && st == GF_OK; i++) {
        const gf_edit *e = &edits->at[i].edit;
        uint32_t name = 0;
        if (!gf_slice_equal(e->field, w->field) || !gf_edits_topic_holds(edits, i)) continue;
        gf_buffer_reset(&w->letters);
        gf_utf8_fold(e->text, &w->letters);
        st = gf_buffer_check(&w->letters, err);
        if (st == GF_OK)
            st = gf_strings_add(&w->names, gf_buffer_view(&w->letters), &name, NULL, err);
        if (st == GF_OK) w->topic[name] = i;
    }
    return st;
}

static gf_status take_field(describing *g, gf_slice field, gf_error *err)
{
    const gf_build_plan *p = g->plan;
    field_walk w = {.g = g, .field = field};
    gf_buffer prefix = {0};
    gf_tables_collection_key(&prefix, p->where.name_space, p->where.collection);
    gf_status st = gf_buffer_check(&prefix, err);
    if (st == GF_OK) st = list_names(&w, err);
    if (st == GF_OK) st = gf_json_parser_create(&w.parser, err);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = p->snapshot, .family = GF_DOCUMENTS_MAIN,
                                        .prefix = gf_buffer_view(&prefix));
    if (st == GF_OK) st = gf_scan_each(p->store->tables.documents, &o, look_at_document, &w, err);
    gf_json_parser_free(w.parser);
    gf_buffer_release(&prefix);
    gf_buffer_release(&w.id);
    gf_buffer_release(&w.letters);
    gf_strings_release(&w.names);
    gf_free(w.topic);
    gf_free(w.fields);
    return st;
}

/* Each field is walked over once. */
static gf_status take_fields(describing *g, gf_error *err)
{
    const gf_kept_edits *edits = &g->plan->edits;
    gf_status st = GF_OK;
    for (size_t i = 0; i < edits->n && st == GF_OK; i++) {
        bool again = !edits->at[i].edit.field.len || !gf_edits_topic_holds(edits, i);
        for (size_t j = 0; j < i && !again; j++)
            again = gf_edits_topic_holds(edits, j) &&
                    gf_slice_equal(edits->at[j].edit.field, edits->at[i].edit.field);
        if (!again) st = take_field(g, edits->at[i].edit.field, err);
    }
    return st;
}

static gf_status take_like(describing *g, size_t edit, gf_error *err)
{
    const gf_build_plan *p = g->plan;
    gf_row row = {0};
    gf_slice ids = {"", 0}, id;
    gf_status st = gf_edits_read_side(p->store, p->snapshot, p->where, p->configuration,
                                      p->edits.at[edit].edit.number, 0, &row, err);
    if (st == GF_OK) ids = row.cells[0].value;
    if (st == GF_ENOTFOUND) st = GF_OK;
    while (st == GF_OK && gf_slice_take_string(&ids, &id))
        take_example(g, id, edit);
    gf_row_release(&row);
    return st;
}

static gf_status take_examples(describing *g, gf_error *err)
{
    const gf_kept_edits *edits = &g->plan->edits;
    gf_status st = take_fields(g, err);
    for (size_t i = 0; i < edits->n && st == GF_OK; i++) {
        const gf_edit *e = &edits->at[i].edit;
        if (gf_edits_topic_holds(edits, i)) {
            st = take_like(g, i, err);
        } else if (e->kind == GF_EDIT_MOVE || e->kind == GF_EDIT_KEEP) {
            size_t topic = gf_edits_topic_of(edits, gf_edits_called_after(edits, i, e->cluster));
            take_example(g, e->document, topic < edits->n ? topic : GF_NOT_A_TOPIC);
        }
    }
    for (uint32_t r = 0; r < g->x->n_rows && st == GF_OK; r++)
        if (g->example[r] != GF_NOT_A_TOPIC) g->described[g->example[r]] = true;
    return st;
}

static gf_status add_words_row(gf_csr *words, gf_row_view row, gf_error *err)
{
    uint64_t at = gf_csr_nnz(words);
    uint64_t *start = gf_realloc(words->start, (size_t)words->n_rows + 2, sizeof *start);
    if (start) words->start = start;
    uint32_t *col = start ? gf_realloc(words->col, at + row.n, sizeof *col) : NULL;
    if (col) words->col = col;
    float *val = col ? gf_realloc(words->val, at + row.n, sizeof *val) : NULL;
    if (!val) return gf_fail_memory(err, "topics");
    words->val = val;
    memcpy(col + at, row.col, row.n * sizeof *col);
    memcpy(val + at, row.val, row.n * sizeof *val);
    start[0] = 0;
    start[++words->n_rows] = at + row.n;
    return GF_OK;
}

/* The words of a topic as a row, if documents have any of them. */
static gf_status take_words(describing *g, gf_transformer *t, size_t edit, gf_error *err)
{
    const gf_slice words = g->plan->edits.at[edit].edit.words;
    const gf_language *language = NULL;
    gf_row_view row;
    gf_status st = GF_OK;
    if (g->plan->settings.detect)
        st = gf_languages_of_document(&g->documents->fallback, (gf_slice){"", 0}, words, &language,
                                      err);
    if (st == GF_OK) st = gf_transformer_row(t, words, language, &row, NULL, err);
    if (st != GF_OK || row.n == 0) return st;
    g->words_of[g->words.n_rows] = (uint32_t)edit; /* a topic's number later */
    g->described[edit] = true;
    return add_words_row(&g->words, row, err);
}

static gf_status take_all_words(describing *g, gf_error *err)
{
    gf_transformer *t = NULL;
    const gf_kept_edits *edits = &g->plan->edits;
    gf_status st = gf_transformer_create(&g->plan->settings.vectorizer,
                                         &g->documents->vectors.vocabulary, &t, err);
    g->words.n_cols = g->x->n_cols;
    for (size_t i = 0; i < edits->n && st == GF_OK; i++)
        if (edits->at[i].edit.words.len && gf_edits_topic_holds(edits, i))
            st = take_words(g, t, i, err);
    gf_transformer_free(t);
    return st;
}

/* ---- growing --------------------------------------------------------------------------------- */

/* Number the topics that something describes; the others are lost. */
static gf_status number_topics(describing *g, gf_build_clustered *c, gf_build_grown *out,
                               gf_error *err)
{
    const gf_kept_edits *edits = &g->plan->edits;
    uint32_t rows = g->x->n_rows;
    uint32_t *number = gf_array(edits->n, sizeof *number);
    out->edit = gf_array(edits->n, sizeof *out->edit);
    out->example = gf_array(rows, sizeof *out->example);
    if (!number || !out->edit || !out->example) {
        gf_free(number);
        return gf_fail_memory(err, "topics");
    }
    for (size_t i = 0; i < edits->n; i++) {
        number[i] = GF_NO_TOPIC;
        if (!gf_edits_topic_holds(edits, i)) continue;
        if (g->described[i]) {
            number[i] = out->n;
            out->edit[out->n++] = i;
        } else {
            c->topic_lost[i] = "no document has any of its words, or is an example of it";
        }
    }
    for (uint32_t r = 0; r < rows; r++)
        out->example[r] = g->example[r] == GF_NOT_A_TOPIC ? GF_NO_TOPIC : number[g->example[r]];
    for (uint32_t w = 0; w < g->words.n_rows; w++)
        g->words_of[w] = number[g->words_of[w]];
    gf_free(number);
    return GF_OK;
}

/* The rows that no topic took, as a matrix. */
static gf_status copy_rest(gf_pool *pool, const gf_points *points, const uint32_t *row_of,
                           gf_build_grown *out, gf_error *err)
{
    uint32_t m = 0, n = points->x->n_rows;
    float *weight = NULL;
    uint32_t *rows = gf_array(n, sizeof *rows);
    out->rest_of = gf_array(n, sizeof *out->rest_of);
    gf_status st = rows && out->rest_of ? GF_OK : gf_fail_memory(err, "rows");
    for (uint32_t r = 0; st == GF_OK && r < n; r++) {
        if (out->known.label[r] != GF_NO_TOPIC) continue;
        rows[m] = r;
        out->rest_of[m++] = row_of[r];
    }
    if (st == GF_OK) st = gf_points_gather(pool, points, rows, m, &out->rest, &weight, err);
    gf_free(weight);
    gf_free(rows);
    return st;
}

/*
 * Clusters of all rows, as many as k says beside the topics, or as many as are found: one run, which nothing
 * refines, since they only stand beside the topics while these grow.
 */
static gf_status cluster_all(const describing *g, gf_pool *pool, const gf_kmeans_options *options,
                             uint32_t n_topics, gf_kmeans *out, gf_error *err)
{
    gf_kmeans_options o = {.max_k = options->max_k,
                           .seed = options->seed,
                           .restarts = 1,
                           .cancel = options->cancel,
                           .progress = options->progress,
                           .progress_context = options->progress_context};
    if (options->k && options->k <= UINT32_MAX - n_topics) o.k = options->k + n_topics;
    return gf_kmeans_run(pool, g->x, &o, out, err);
}

static gf_status grow(describing *g, gf_pool *pool, const gf_kmeans_options *options,
                      gf_build_grown *out, gf_error *err)
{
    gf_kmeans all = {.k = 0};
    const gf_resolved *s = &g->plan->settings;
    gf_points points = {g->x, NULL};
    gf_known_topics topics = {.n = out->n,
                              .example = out->example,
                              .words = g->words.n_rows ? &g->words : NULL,
                              .words_of = g->words_of,
                              .all = s->all_topics};
    gf_status st = s->all_topics ? GF_OK : cluster_all(g, pool, options, out->n, &all, err);
    if (all.k) {
        topics.n_clusters = all.k;
        topics.cluster_of = all.label;
        topics.cluster_score = all.score;
    }
    gf_build_plan_progress(g->plan, "growing topics", 0, out->n);
    if (st == GF_OK)
        st = gf_known_grow(pool, &points, &topics, g->plan->options->cancel, &out->known, err);
    gf_kmeans_release(&all);
    return st == GF_OK && !s->only_topics ? copy_rest(pool, &points, g->row_of, out, err) : st;
}

gf_status gf_build_topics_grow(const gf_build_plan *plan, gf_pool *pool,
                               const gf_build_gathered *documents, const gf_csr *x,
                               const uint32_t *row_of, const gf_kmeans_options *options,
                               gf_build_clustered *c, gf_build_grown *out, gf_error *err)
{
    if (plan->spills)
        return gf_fail(err, GF_EINVAL,
                       "topics need all rows in memory: give the rebuild more memory, or no bound");
    describing g = {.plan = plan,
                    .documents = documents,
                    .x = x,
                    .row_of = row_of,
                    .example = gf_array(x->n_rows, sizeof *g.example),
                    .described = gf_calloc(plan->edits.n + 1, sizeof *g.described),
                    .words_of = gf_array(plan->edits.n + 1, sizeof *g.words_of)};
    gf_status st = gf_build_topics_lose(plan, NULL, c, err);
    if (st == GF_OK && (!g.example || !g.described || !g.words_of))
        st = gf_fail_memory(err, "topics");
    for (uint32_t r = 0; st == GF_OK && r < x->n_rows; r++)
        g.example[r] = GF_NOT_A_TOPIC;
    if (st == GF_OK) st = take_examples(&g, err);
    if (st == GF_OK) st = take_all_words(&g, err);
    if (st == GF_OK) st = number_topics(&g, c, out, err);
    if (st == GF_OK && out->n) st = grow(&g, pool, options, out, err);
    if (st == GF_OK && out->n == 0 && plan->settings.only_topics)
        st = gf_fail(err, GF_EINVAL,
                     "topics=%s, and no topic has a document: add one, or set topics=auto",
                     plan->settings.all_topics ? "all" : "only");
    gf_free(g.example);
    gf_free(g.described);
    gf_free(g.words_of);
    gf_csr_release(&g.words);
    return st;
}

/* ---- one partition --------------------------------------------------------------------------- */

typedef struct joining {
    const gf_csr *x;
    const gf_build_grown *grown;
    gf_nearest_centres locator;
    const gf_centre *background; /* NULL: there is none */
    const uint32_t *cluster_of;  /* grown->n: the topic's cluster, or GF_NO_CLUSTER */
    uint32_t k;
    uint32_t *label, *runner_up; /* x->n_rows; label GF_NO_CLUSTER: in none */
    float *score, *second;
} joining;

static float within_1(double v)
{
    return v < 1 ? v > 0 ? (float)v : 0 : 1;
}

static void place_row(const joining *j, unsigned worker, uint32_t r, const gf_centres *centres)
{
    gf_row_view row = gf_csr_row(j->x, r);
    gf_nearest_two two = gf_nearest_centres_find(&j->locator, worker, row);
    uint32_t topic = j->grown->example[r], own = two.cluster;
    if (topic != GF_NO_TOPIC && j->cluster_of[topic] != GF_NO_CLUSTER) own = j->cluster_of[topic];
    bool nearest = own == two.cluster;
    j->label[r] = own;
    j->score[r] =
        within_1(nearest ? two.similarity : gf_csr_row_dot(row, gf_centre_row(&centres->at[own])));
    j->runner_up[r] = j->k < 2 ? GF_NO_CLUSTER : nearest ? two.runner_up : two.cluster;
    j->second[r] = j->k < 2 ? 0 : within_1(nearest ? two.of_second : two.similarity);
    if (j->background && topic == GF_NO_TOPIC &&
        gf_csr_row_dot(row, gf_centre_row(j->background)) > (double)two.similarity)
        j->label[r] = GF_NO_CLUSTER;
}

typedef struct placing {
    joining *j;
    const gf_centres *centres;
} placing;

static gf_status place_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    const placing *p = context;
    uint32_t n = p->j->x->n_rows, from = (uint32_t)index * TASK_ROWS;
    uint32_t to = n - from > TASK_ROWS ? from + TASK_ROWS : n;
    (void)err;
    for (uint32_t r = from; r < to; r++)
        place_row(p->j, worker, r, p->centres);
    return GF_OK;
}

static gf_status place_rows(joining *j, gf_pool *pool, const gf_centres *centres,
                            const gf_cancel *cancel, gf_error *err)
{
    gf_centres copy = {0};
    placing p = {j, centres};
    j->k = centres->k;
    gf_status st = gf_centres_copy(centres, &copy, err);
    if (st == GF_OK) st = gf_nearest_centres_init(&j->locator, &copy, NULL, err);
    gf_centres_release(&copy);
    if (st != GF_OK) return st;
    st = gf_nearest_centres_make_room(&j->locator, gf_pool_size(pool), err);
    if (st == GF_OK)
        st = gf_pool_run(pool, ((size_t)j->x->n_rows + TASK_ROWS - 1) / TASK_ROWS, place_task, &p,
                         cancel, err);
    gf_nearest_centres_release(&j->locator);
    return st;
}

static void free_centre(gf_centre *c)
{
    gf_free(c->term);
    gf_free(c->value);
    *c = (gf_centre){0};
}

typedef struct counted {
    uint32_t cluster, size;
} counted;

static int by_size(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

/*
 * Order the clusters by size, and drop those without rows; *dropped: any was. of: k, the edit of each;
 * map: k, where each went.
 */
static gf_status order(joining *j, gf_centres *centres, size_t *of, uint32_t *map, bool *dropped,
                       gf_error *err)
{
    uint32_t k = centres->k, left = 0;
    counted *list = gf_calloc(k, sizeof *list);
    gf_centre *at = gf_array(k, sizeof *at);
    size_t *edit = gf_array(k, sizeof *edit);
    gf_status st = list && at && edit ? GF_OK : gf_fail_memory(err, "clusters");
    if (st != GF_OK) goto done;
    for (uint32_t c = 0; c < k; c++)
        list[c].cluster = c;
    for (uint32_t r = 0; r < j->x->n_rows; r++)
        if (j->label[r] != GF_NO_CLUSTER) list[j->label[r]].size++;
    qsort(list, k, sizeof *list, by_size);
    memcpy(at, centres->at, k * sizeof *at);
    memcpy(edit, of, k * sizeof *edit);
    for (uint32_t i = 0; i < k; i++) {
        uint32_t c = list[i].cluster;
        map[c] = list[i].size ? left++ : GF_NO_CLUSTER;
        centres->at[i] = at[c];
        of[i] = edit[c];
    }
    for (uint32_t i = left; i < k; i++)
        free_centre(&centres->at[i]);
    centres->k = left;
    *dropped = left < k;
    for (uint32_t r = 0; r < j->x->n_rows; r++) {
        if (j->label[r] != GF_NO_CLUSTER) j->label[r] = map[j->label[r]];
        if (j->runner_up[r] != GF_NO_CLUSTER) j->runner_up[r] = map[j->runner_up[r]];
    }
done:
    gf_free(list);
    gf_free(at);
    gf_free(edit);
    return st;
}

/* The topics' centres, then those of the rest, which are taken. */
static gf_status take_centres(gf_build_grown *g, gf_kmeans *rest, gf_centres *out, size_t **of,
                              gf_error *err)
{
    uint32_t k = g->n + rest->k, n_terms = g->known.centres.n_terms;
    gf_status st = gf_centres_init(out, k, n_terms, err);
    *of = gf_array(k, sizeof **of);
    if (st == GF_OK && !*of) st = gf_fail_memory(err, "clusters");
    for (uint32_t c = 0; st == GF_OK && c < k; c++) {
        gf_centre *from = c < g->n ? &g->known.centres.at[c] : &rest->centres.at[c - g->n];
        out->at[c] = *from;
        *from = (gf_centre){0};
        (*of)[c] = c < g->n ? g->edit[c] : GF_NOT_A_TOPIC;
    }
    return st;
}

/* Rows in a cluster move together; the others are listed as unplaced. */
static gf_status keep_placed(joining *j, uint32_t *row_of, gf_build_clustered *c, gf_error *err)
{
    uint32_t n = 0, rows = j->x->n_rows;
    c->unplaced = gf_array(rows, sizeof *c->unplaced);
    if (!c->unplaced) return gf_fail_memory(err, "documents");
    for (uint32_t r = 0; r < rows; r++) {
        if (j->label[r] == GF_NO_CLUSTER) {
            c->unplaced[c->n_unplaced++] = (gf_build_unplaced){.document = row_of[r]};
            continue;
        }
        j->label[n] = j->label[r];
        j->runner_up[n] = j->runner_up[r];
        j->score[n] = j->score[r];
        j->second[n] = j->second[r];
        row_of[n++] = row_of[r];
        c->kmeans.objective += (double)j->score[n - 1];
    }
    c->kmeans.n = n;
    return GF_OK;
}

static gf_status count_distinct(gf_pool *pool, const gf_csr *x, uint32_t *n, gf_error *err)
{
    gf_fold_list list;
    gf_status st = gf_fold_list_rows(pool, x, &list, err);
    if (st != GF_OK) return st;
    *n = list.n;
    gf_fold_list_release(&list);
    return GF_OK;
}

gf_status gf_build_topics_join(const gf_build_plan *plan, gf_pool *pool, const gf_csr *x,
                               uint32_t **row_of, gf_build_grown *g, gf_build_clustered *c,
                               gf_error *err)
{
    gf_kmeans rest = c->kmeans;
    gf_centres centres = {0};
    uint32_t *cluster_of = gf_array(g->n, sizeof *cluster_of), *map = NULL, rows = x->n_rows;
    joining j = {.x = x,
                 .grown = g,
                 .cluster_of = cluster_of,
                 .label = gf_array(rows, sizeof *j.label),
                 .runner_up = gf_array(rows, sizeof *j.runner_up),
                 .score = gf_array(rows, sizeof *j.score),
                 .second = gf_array(rows, sizeof *j.second)};
    bool dropped = true;
    c->kmeans = (gf_kmeans){.passes = rest.passes,
                            .rounds = rest.rounds,
                            .restarts = rest.restarts,
                            .converged = rest.converged,
                            .stages = rest.stages};
    gf_status st = cluster_of && j.label && j.runner_up && j.score && j.second
                       ? GF_OK
                       : gf_fail_memory(err, "clusters");
    if (st == GF_OK) st = take_centres(g, &rest, &centres, &c->topic, err);
    if (st == GF_OK && plan->settings.only_topics && !plan->settings.all_topics)
        j.background = &g->known.centres.at[g->n];
    map = st == GF_OK ? gf_array(centres.k, sizeof *map) : NULL;
    if (st == GF_OK && !map) st = gf_fail_memory(err, "clusters");
    for (uint32_t t = 0; st == GF_OK && t < g->n; t++)
        cluster_of[t] = t;
    while (st == GF_OK && dropped) {
        st = place_rows(&j, pool, &centres, plan->options->cancel, err);
        if (st == GF_OK) st = order(&j, &centres, c->topic, map, &dropped, err);
        for (uint32_t t = 0; st == GF_OK && t < g->n; t++) {
            if (cluster_of[t] == GF_NO_CLUSTER) continue;
            cluster_of[t] = map[cluster_of[t]];
            if (cluster_of[t] == GF_NO_CLUSTER)
                c->topic_lost[g->edit[t]] = "every document is nearer to others";
        }
        if (st == GF_OK && centres.k == 0)
            st =
                gf_fail(err, GF_EINVAL,
                        "no document is nearer to a topic than to all documents together: describe "
                        "topics by more words or examples, or set topics=auto");
    }
    if (st == GF_OK) st = keep_placed(&j, *row_of, c, err);
    if (st == GF_OK) st = count_distinct(pool, x, &c->kmeans.distinct, err);
    if (st == GF_OK) {
        c->kmeans.k = centres.k;
        c->kmeans.centres = centres;
        c->kmeans.label = j.label;
        c->kmeans.runner_up = j.runner_up;
        c->kmeans.score = j.score;
        c->kmeans.second = j.second;
        c->kmeans.choice = rest.choice;
        rest.choice = (gf_choice){0};
        j.label = j.runner_up = NULL;
        j.score = j.second = NULL;
        centres = (gf_centres){0};
        if (j.background) st = gf_centres_init(&c->background, 1, x->n_cols, err);
        if (j.background && st == GF_OK)
            st = gf_centres_set_row(&c->background, 0, gf_centre_row(j.background), err);
        c->row_of = *row_of;
        *row_of = NULL;
    }
    gf_kmeans_release(&rest);
    gf_centres_release(&centres);
    gf_free(cluster_of);
    gf_free(map);
    gf_free(j.label);
    gf_free(j.runner_up);
    gf_free(j.score);
    gf_free(j.second);
    return st;
}

/* ---- documents in no cluster ----------------------------------------------------------------- */

gf_status gf_build_topics_place(const gf_build_plan *plan, const gf_build_gathered *documents,
                                gf_build_clustered *c, gf_error *err)
{
    gf_nearest_centres locator;
    gf_centres copy = {0};
    if (c->n_unplaced == 0) return GF_OK;
    gf_status st = gf_centres_copy(&c->kmeans.centres, &copy, err);
    if (st == GF_OK) st = gf_nearest_centres_init(&locator, &copy, NULL, err);
    gf_centres_release(&copy);
    if (st != GF_OK) return st;
    for (uint32_t i = 0; i < c->n_unplaced && st == GF_OK; i++) {
        gf_build_unplaced *u = &c->unplaced[i];
        gf_row_view row = gf_csr_row(&documents->vectors.x, u->document);
        gf_nearest_two two = gf_nearest_centres_find(&locator, 0, row);
        u->nearest = two.cluster;
        u->similarity = within_1(two.similarity);
        if (i % TASK_ROWS == 0) st = gf_cancel_check(plan->options->cancel, err);
    }
    gf_nearest_centres_release(&locator);
    return st;
}
