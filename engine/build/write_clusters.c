/* Writing clusters: a row for each, its members by id, its members by rank. */
#include "engine/build/write_internal.h"

#include "base/json/writer.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/rows/cluster_figures.h"
#include "storage/run_writer.h"

#include <stdlib.h>
#include <string.h>

enum { TERMS_PER_CLUSTER = 20 };

/* ---- order ----------------------------------------------------------------------------------- */

static int by_label(const void *a, const void *b, void *context)
{
    const gf_slice *labels = context;
    return gf_slice_compare(labels[*(const uint32_t *)a], labels[*(const uint32_t *)b]);
}

gf_status gf_build_order_members(gf_build_writing *w, gf_error *err)
{
    const gf_build_clustered *c = w->clustered;
    uint32_t k = c->kmeans.k, n = c->kmeans.n;
    if (k == 0) return GF_OK;
    w->members = gf_array(n, sizeof *w->members);
    w->order = gf_array(k, sizeof *w->order);
    w->offset = gf_array((size_t)k + 1, sizeof *w->offset);
    if (!w->members || !w->order || !w->offset) return gf_fail_memory(err, "clusters");
    for (uint32_t i = 0; i < k; i++)
        w->order[i] = i;
    memcpy(w->offset, c->start, k * sizeof *w->offset);
    for (uint32_t point = 0; point < n; point++)
        w->members[w->offset[c->kmeans.label[point]]++] = point;
    qsort_r(w->order, k, sizeof *w->order, by_label, w->named->labels);
    w->offset[0] = 0;
    for (uint32_t i = 0; i < k; i++)
        w->offset[i + 1] = w->offset[i] + gf_build_clustered_size(c, w->order[i]);
    return GF_OK;
}

void gf_build_writing_release(gf_build_writing *w)
{
    gf_free(w->order);
    gf_free(w->offset);
    gf_free(w->members);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Buffers of a task. */
typedef struct scratch {
    gf_buffer key, text, figures;
} scratch;

static void release_scratch(scratch *s)
{
    gf_buffer_release(&s->key);
    gf_buffer_release(&s->text);
    gf_buffer_release(&s->figures);
}

static gf_status cluster_key(const gf_build_writing *w, uint32_t cluster, gf_buffer *key,
                             gf_error *err)
{
    gf_buffer_reset(key);
    gf_tables_cluster_key(key, w->key, w->named->labels[cluster]);
    return gf_buffer_check(key, err);
}

void gf_build_write_terms(const gf_centre *c, const gf_vocabulary *vocabulary, gf_buffer *out)
{
    uint32_t best[TERMS_PER_CLUSTER], n = gf_build_heaviest_terms(c, TERMS_PER_CLUSTER, best);
    gf_json_writer w = gf_json_writer_to(out);
    gf_json_begin(&w, '[');
    for (uint32_t i = 0; i < n; i++) {
        gf_json_begin(&w, '[');
        gf_json_string(&w, gf_vocabulary_surface(vocabulary, c->term[best[i]]));
        gf_json_float(&w, c->value[best[i]]);
        gf_json_end(&w, ']');
    }
    gf_json_end(&w, ']');
}

static gf_status put_cluster(const gf_build_writing *w, uint32_t cluster, scratch *s,
                             gf_batch *batch, gf_error *err)
{
    gf_number_digits id, size;
    const gf_build_best_of *best = &w->best->of[cluster];
    gf_buffer_reset(&s->text);
    gf_buffer_reset(&s->figures);
    gf_cluster_figures_write(&w->figures->at[cluster], &s->figures);
    gf_build_write_terms(&gf_build_clustered_terms(w->clustered)->at[cluster],
                         &w->documents->vectors.vocabulary, &s->text);
    gf_status st = cluster_key(w, cluster, &s->key, err);
    if (st == GF_OK) st = gf_buffer_check(&s->text, err);
    if (st == GF_OK) st = gf_buffer_check(&s->figures, err);
    if (st != GF_OK) return st;
    gf_column columns[9] = {
        {GF_SLICE("id"), gf_number_write(&id, w->ids[cluster])},
        {GF_SLICE("size"), gf_number_write(&size, gf_build_clustered_size(w->clustered, cluster))},
        {GF_SLICE("terms"), gf_buffer_view(&s->text)},
        {GF_SLICE("figures"), gf_buffer_view(&s->figures)}};
    size_t n = 4;
    const gf_build_title *title = gf_build_previous_title(w->previous, w->ids[cluster]);
    if (best->sentence.len) {
        columns[n++] = (gf_column){GF_SLICE("sentence"), gf_buffer_view(&best->sentence)};
        columns[n++] = (gf_column){GF_SLICE("sentence_of"),
                                   gf_build_gathered_id(w->documents, best->document)};
    }
    if (title) {
        columns[n++] = (gf_column){GF_SLICE("title"), title->title};
        columns[n++] = (gf_column){GF_SLICE("title_model"), title->model};
        columns[n++] = (gf_column){GF_SLICE("title_prompt"), title->prompt};
    }
    gf_batch_replace(batch, w->tables->clusters, gf_buffer_view(&s->key), GF_CLUSTERS_MAIN, columns,
                     n, 0);
    return GF_OK;
}

gf_status gf_build_fill_clusters(const gf_build_writing *w, uint32_t part, gf_batch *batch,
                                 gf_error *err)
{
    uint32_t k = w->clustered->kmeans.k, from = part * GF_PART_CLUSTERS;
    uint32_t to = k - from > GF_PART_CLUSTERS ? from + GF_PART_CLUSTERS : k;
    scratch s = {.key = {0}};
    gf_status st = GF_OK;
    for (uint32_t i = from; i < to && st == GF_OK; i++)
        st = put_cluster(w, w->order[i], &s, batch, err);
    release_scratch(&s);
    return st;
}

/* ---- members --------------------------------------------------------------------------------- */

/* Members that are read together: what is told of one lies at four random places of large arrays. */
enum { WINDOW = 64 };

typedef struct member {
    gf_slice id;
    float score;
    uint32_t row;
} member;

/* points: n, up to WINDOW */
static void read_members(const gf_build_writing *w, const uint32_t *points, uint32_t n,
                         member members[WINDOW])
{
    const gf_build_clustered *c = w->clustered;
    for (uint32_t i = 0; i < n; i++) {
        members[i].row = c->row_of[points[i]];
        members[i].score = c->kmeans.score[points[i]];
    }
    for (uint32_t i = 0; i < n; i++)
        members[i].id = gf_build_gathered_id(w->documents, members[i].row);
    for (uint32_t i = 0; i < n; i++)
        __builtin_prefetch(members[i].id.ptr);
}

/* A member's cell in a family: its qualifier and value; `text` is scratch. */
typedef struct member_cell {
    gf_slice qualifier;
    gf_run_value value;
} member_cell;

typedef member_cell make_member(const member *m, gf_buffer *text);

static member_cell make_listed(const member *m, gf_buffer *text)
{
    (void)text;
    return (member_cell){m->id, gf_tables_listed_value(m->score)};
}

static member_cell make_ranked(const member *m, gf_buffer *text)
{
    gf_buffer_reset(text);
    gf_tables_rank_write(text, m->score, m->id);
    return (member_cell){gf_buffer_view(text), {.there = true}};
}

/* The cluster, by label, that has member number `at` of all. */
static uint32_t cluster_of_member(const gf_build_writing *w, uint32_t at)
{
    uint32_t from = 0, to = w->clustered->kmeans.k - 1;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (w->offset[middle + 1] <= at)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* A family of clusters' members: its column, its cells, and their order: rows by cluster. */
typedef struct member_family {
    unsigned number;
    const gf_run_column *column;
    make_member *make;
    const uint32_t *points;
} member_family;

static gf_status fill_members(const gf_build_writing *w, uint32_t part, const member_family *family,
                              gf_batch *batch, gf_error *err)
{
    uint32_t n = w->clustered->kmeans.n, from = part * GF_PART_MEMBERS, window;
    uint32_t to = n - from > GF_PART_MEMBERS ? from + GF_PART_MEMBERS : n;
    uint32_t i = cluster_of_member(w, from);
    scratch s = {.key = {0}};
    gf_run_writer out = {.batch = NULL};
    gf_run_writer_begin(&out, batch, w->tables->clusters, family->number, family->column, 1);
    gf_status st = cluster_key(w, w->order[i], &s.key, err);
    for (uint32_t m = from; m < to && st == GF_OK; m += window) {
        member members[WINDOW];
        if (m == w->offset[i + 1]) st = cluster_key(w, w->order[++i], &s.key, err);
        uint32_t behind = to < w->offset[i + 1] ? to : w->offset[i + 1];
        window = behind - m < WINDOW ? behind - m : WINDOW;
        uint32_t at = w->clustered->start[w->order[i]] + (m - w->offset[i]);
        read_members(w, family->points + at, window, members);
        for (uint32_t j = 0; j < window && st == GF_OK; j++) {
            member_cell cell = family->make(&members[j], &s.text);
            st = gf_buffer_check(&s.text, err);
            if (st == GF_OK)
                st = gf_run_writer_add(&out, gf_buffer_view(&s.key), cell.qualifier, &cell.value,
                                       err);
        }
    }
    if (st == GF_OK) st = gf_run_writer_end(&out, err);
    gf_run_writer_release(&out);
    release_scratch(&s);
    return st;
}

gf_status gf_build_fill_documents(const gf_build_writing *w, uint32_t part, gf_batch *batch,
                                  gf_error *err)
{
    const member_family documents = {GF_CLUSTERS_DOCUMENTS, &gf_tables_listed_column, make_listed,
                                     w->members};
    return fill_members(w, part, &documents, batch, err);
}

gf_status gf_build_fill_ranked(const gf_build_writing *w, uint32_t part, gf_batch *batch,
                               gf_error *err)
{
    const member_family ranked = {GF_CLUSTERS_RANKED, &gf_tables_ranked_column, make_ranked,
                                  w->clustered->members};
    return fill_members(w, part, &ranked, batch, err);
}
