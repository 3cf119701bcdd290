/* Writing a build: rows of its clusters, its memberships, its model, and the build itself. */
#include "base/clock.h"
#include "base/json/writer.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/build/build.h"
#include "engine/build/search_cells.h"
#include "engine/build/similar_index.h"
#include "engine/build/tree.h"
#include "engine/rows/hours.h"
#include "engine/rows/model.h"
#include "storage/write_behind.h"

#include <stdlib.h>
#include <string.h>

enum { TERMS_PER_CLUSTER = 20 };

/* A batch of more is handed over to be written. */
enum { WRITE_BYTES = 4 << 20, WRITE_CHANGES = 100000 };

typedef struct writing {
    const gf_build_plan *plan;
    const gf_build_gathered *documents;
    const gf_build_clustered *clustered;
    const uint32_t *ids; /* one per cluster */
    const gf_build_named *named;
    const gf_tables *tables;
    gf_write_behind out;
    gf_buffer key, text, vector;
} writing;

static gf_status write_full(writing *w, gf_error *err)
{
    gf_status st = gf_cancel_check(w->plan->options->cancel, err);
    if (st != GF_OK) return st;
    if (gf_batch_bytes(w->out.batch) < WRITE_BYTES &&
        gf_batch_changes(w->out.batch) < WRITE_CHANGES)
        return GF_OK;
    return gf_write_behind_next(&w->out, err);
}

/* ---- clusters -------------------------------------------------------------------------------- */

/* The heaviest entries of a centroid, by falling weight. */
static uint32_t find_heaviest(const gf_centre *c, uint32_t best[TERMS_PER_CLUSTER])
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < c->n; p++) {
        if (n == TERMS_PER_CLUSTER && c->value[p] <= c->value[best[n - 1]]) continue;
        if (n < TERMS_PER_CLUSTER) n++;
        uint32_t at = n - 1;
        for (; at > 0 && c->value[p] > c->value[best[at - 1]]; at--)
            best[at] = best[at - 1];
        best[at] = p;
    }
    return n;
}

/* [["surface", weight], ...] */
static void write_terms(const gf_centre *c, const gf_vocabulary *vocabulary, gf_buffer *out)
{
    uint32_t best[TERMS_PER_CLUSTER], n = find_heaviest(c, best);
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

static gf_status write_cluster_row(writing *w, uint32_t cluster, gf_error *err)
{
    gf_number_digits id, size;
    gf_buffer_reset(&w->text);
    write_terms(&gf_build_clustered_terms(w->clustered)->at[cluster],
                &w->documents->vectors.vocabulary, &w->text);
    gf_status st = gf_buffer_check(&w->text, err);
    if (st != GF_OK) return st;
    gf_column columns[] = {
        {GF_SLICE("id"), gf_number_write(&id, w->ids[cluster])},
        {GF_SLICE("size"), gf_number_write(&size, gf_build_clustered_size(w->clustered, cluster))},
        {GF_SLICE("terms"), gf_buffer_view(&w->text)}};
    gf_batch_replace(w->out.batch, w->tables->clusters, gf_buffer_view(&w->key), GF_CLUSTERS_MAIN,
                     columns, 3, 0);
    return GF_OK;
}

static gf_slice member_id(const writing *w, uint32_t point)
{
    return gf_build_gathered_id(w->documents, w->clustered->row_of[point]);
}

/* Put the cell of a member, whose qualifier or value is in w->text. */
static gf_status put_member(writing *w, unsigned family, gf_slice qualifier, gf_slice value,
                            gf_error *err)
{
    gf_status st = gf_buffer_check(&w->text, err);
    if (st != GF_OK) return st;
    gf_batch_put(w->out.batch, w->tables->clusters, gf_buffer_view(&w->key), family, qualifier,
                 value, 0);
    return write_full(w, err);
}

/* Write the members of a cluster by id: `members` is sorted so, clustered->members by rank. */
static gf_status write_members(writing *w, const uint32_t *members, uint32_t cluster, gf_error *err)
{
    const gf_build_clustered *c = w->clustered;
    gf_status st = GF_OK;
    for (uint32_t r = c->start[cluster]; r < c->start[cluster + 1] && st == GF_OK; r++) {
        gf_buffer_reset(&w->text);
        gf_json_append_float(&w->text, c->kmeans.score[members[r]]);
        st = put_member(w, GF_CLUSTERS_DOCUMENTS, member_id(w, members[r]),
                        gf_buffer_view(&w->text), err);
    }
    return st;
}

static gf_status write_ranked(writing *w, uint32_t cluster, gf_error *err)
{
    const gf_build_clustered *c = w->clustered;
    gf_status st = GF_OK;
    for (uint32_t r = c->start[cluster]; r < c->start[cluster + 1] && st == GF_OK; r++) {
        uint32_t point = c->members[r];
        gf_buffer_reset(&w->text);
        gf_tables_rank_write(&w->text, c->kmeans.score[point], member_id(w, point));
        st = put_member(w, GF_CLUSTERS_RANKED, gf_buffer_view(&w->text), GF_SLICE(""), err);
    }
    return st;
}

static int by_label(const void *a, const void *b, void *context)
{
    const gf_slice *labels = context;
    return gf_slice_compare(labels[*(const uint32_t *)a], labels[*(const uint32_t *)b]);
}

/*
 * Each family by itself, its rows by label: in the order of the keys, which is cheapest to insert,
 * and makes tables that do not overlap, so that there is little to compact.
 *
 * members: rows by cluster, each cluster's by id; order: clusters by label.
 */
static gf_status write_families(writing *w, const uint32_t *members, const uint32_t *order,
                                gf_error *err)
{
    static const unsigned families[] = {GF_CLUSTERS_MAIN, GF_CLUSTERS_DOCUMENTS,
                                        GF_CLUSTERS_RANKED};
    uint32_t k = w->clustered->kmeans.k;
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < 3 * k && st == GF_OK; i++) {
        uint32_t c = order[i % k];
        if (i % 3 == 0) gf_build_plan_progress(w->plan, "writing clusters", i / 3, k);
        gf_buffer_reset(&w->key);
        gf_tables_cluster_key(&w->key, gf_buffer_view(&w->plan->key), w->named->labels[c]);
        st = gf_buffer_check(&w->key, err);
        if (st != GF_OK) break;
        switch (families[i / k]) {
        case GF_CLUSTERS_MAIN:
            st = write_cluster_row(w, c, err);
            break;
        case GF_CLUSTERS_DOCUMENTS:
            st = write_members(w, members, c, err);
            break;
        default:
            st = write_ranked(w, c, err);
        }
    }
    return st;
}

static gf_status write_clusters(writing *w, gf_error *err)
{
    const gf_kmeans *c = &w->clustered->kmeans;
    if (c->k == 0) return GF_OK;
    uint32_t *members = gf_array(c->n, sizeof *members);
    uint32_t *order = gf_array(c->k, sizeof *order);
    uint32_t *next = gf_array(c->k, sizeof *next);
    gf_status st = GF_OK;
    if (!members || !order || !next) {
        st = gf_fail_memory(err, "clusters");
    } else {
        memcpy(next, w->clustered->start, c->k * sizeof *next);
        for (uint32_t point = 0; point < c->n; point++)
            members[next[c->label[point]]++] = point;
        for (uint32_t i = 0; i < c->k; i++)
            order[i] = i;
        qsort_r(order, c->k, sizeof *order, by_label, w->named->labels);
        st = write_families(w, members, order, err);
    }
    gf_free(members);
    gf_free(order);
    gf_free(next);
    return st;
}

/* ---- memberships ----------------------------------------------------------------------------- */

/* The row of a document, as bytes. */
static gf_status write_vector(const gf_build_gathered *d, uint32_t document, gf_buffer *vector,
                              gf_error *err)
{
    if (!d->vectors.entries) {
        gf_model_vector_write(gf_csr_row(&d->vectors.x, document), vector);
        return GF_OK;
    }
    gf_row_file rows = gf_build_gathered_row_file(d);
    gf_csr x;
    gf_status st = gf_row_file_read(&rows, document, 1, &x, err);
    if (st != GF_OK) return st;
    gf_model_vector_write(gf_csr_row(&x, 0), vector);
    gf_csr_release(&x);
    return GF_OK;
}

#define NO_POINT UINT32_MAX

/* The membership of a document; point is its clustered row, or NO_POINT. */
static gf_status fill_membership(writing *w, uint32_t document, uint32_t point,
                                 gf_membership_cells *m, gf_error *err)
{
    const gf_kmeans *c = &w->clustered->kmeans;
    int32_t hour = w->documents->hours[document];
    *m = (gf_membership_cells){.dated = hour != GF_NO_HOUR, .hour = hour};
    if (point != NO_POINT) {
        uint32_t second = c->runner_up[point];
        m->cluster = w->ids[c->label[point]];
        m->score = c->score[point];
        m->runner_up = second == GF_NO_CLUSTER ? 0 : w->ids[second];
        m->second = c->second[point];
    }
    gf_buffer_reset(&w->vector);
    if (!w->plan->settings.store_vectors) return GF_OK;
    gf_status st = write_vector(w->documents, document, &w->vector, err);
    m->vector = gf_buffer_view(&w->vector);
    return st;
}

static gf_status write_memberships(writing *w, gf_error *err)
{
    const gf_build_clustered *c = w->clustered;
    uint32_t n_documents = w->documents->n;
    gf_status st = GF_OK;
    for (uint32_t i = 0, point = 0; i < n_documents && st == GF_OK; i++) {
        bool is_clustered = point < c->kmeans.n && c->row_of[point] == i;
        gf_membership_cells m;
        gf_column columns[GF_MEMBERSHIP_COLUMNS];
        char bytes[GF_MEMBERSHIP_BYTES];
        st = fill_membership(w, i, is_clustered ? point++ : NO_POINT, &m, err);
        if (st != GF_OK) break;
        gf_buffer_reset(&w->key);
        gf_tables_membership_key(&w->key, gf_buffer_view(&w->plan->key),
                                 gf_build_gathered_id(w->documents, i));
        st = gf_buffer_check(&w->key, err);
        if (st == GF_OK) st = gf_buffer_check(&w->vector, err);
        if (st != GF_OK) break;
        size_t n = gf_tables_membership_write(&m, bytes, columns);
        gf_batch_replace(w->out.batch, w->tables->memberships, gf_buffer_view(&w->key),
                         GF_MEMBERSHIPS_MAIN, columns, n, 0);
        if (i % 10000 == 0) gf_build_plan_progress(w->plan, "writing memberships", i, n_documents);
        st = write_full(w, err);
    }
    return st;
}

/* ---- the model ------------------------------------------------------------------------------- */

static gf_status put_model(writing *w, gf_slice qualifier, gf_buffer *value, gf_error *err)
{
    gf_status st = gf_buffer_check(value, err);
    if (st != GF_OK) return st;
    gf_batch_put(w->out.batch, w->tables->builds, gf_buffer_view(&w->plan->key), GF_BUILDS_MODEL,
                 qualifier, gf_buffer_view(value), 0);
    return write_full(w, err);
}

static gf_status write_model(writing *w, gf_error *err)
{
    const gf_resolved *settings = &w->plan->settings;
    const gf_centres *centres = &w->clustered->kmeans.centres;
    gf_buffer_reset(&w->text);
    gf_model_analysis_write(settings->detect, &w->documents->fallback, &settings->vectorizer,
                            &w->text);
    gf_status st = put_model(w, GF_SLICE("analysis"), &w->text, err);
    gf_buffer_reset(&w->text);
    gf_vocabulary_write(&w->documents->vectors.vocabulary, &w->text);
    if (st == GF_OK) st = put_model(w, GF_SLICE("vocabulary"), &w->text, err);
    for (uint32_t c = 0; c < w->clustered->kmeans.k && st == GF_OK; c++) {
        gf_buffer_reset(&w->key);
        gf_model_centre_qualifier(&w->key, w->ids[c]);
        gf_buffer_reset(&w->text);
        gf_model_vector_write(gf_centre_row(&centres->at[c]), &w->text);
        st = gf_buffer_check(&w->key, err);
        if (st == GF_OK) st = put_model(w, gf_buffer_view(&w->key), &w->text, err);
    }
    return st;
}

/* ---- documents by hour ----------------------------------------------------------------------- */

/* hours: n, of the cluster's documents */
static gf_status write_hours(writing *w, uint32_t cluster, int32_t *hours, uint32_t n,
                             gf_error *err)
{
    gf_buffer_reset(&w->key);
    gf_hours_qualifier(&w->key, cluster);
    gf_buffer_reset(&w->text);
    gf_hours_write(hours, n, &w->text);
    gf_status st = gf_buffer_check(&w->key, err);
    return st == GF_OK ? put_model(w, gf_buffer_view(&w->key), &w->text, err) : st;
}

/* A cell for each cluster, and one for the documents that are in none. */
static gf_status write_times(writing *w, gf_error *err)
{
    const gf_build_gathered *d = w->documents;
    const gf_build_clustered *c = w->clustered;
    int32_t *hours = gf_array(d->n, sizeof *hours);
    uint32_t n = 0;
    if (!hours) return gf_fail_memory(err, "documents by hour");
    for (uint32_t i = 0, point = 0; i < d->n; i++) {
        if (point < c->kmeans.n && c->row_of[point] == i)
            point++;
        else
            hours[n++] = d->hours[i];
    }
    gf_status st = write_hours(w, 0, hours, n, err);
    for (uint32_t k = 0; k < c->kmeans.k && st == GF_OK; k++) {
        n = c->start[k + 1] - c->start[k];
        for (uint32_t i = 0; i < n; i++)
            hours[i] = d->hours[c->row_of[c->members[c->start[k] + i]]];
        st = write_hours(w, w->ids[k], hours, n, err);
    }
    gf_free(hours);
    return st;
}

/* ---- tree and index -------------------------------------------------------------------------- */

static gf_status write_tree(writing *w, gf_error *err)
{
    const gf_build_named *named = w->named;
    if (named->tree.k == 0) return GF_OK;
    gf_buffer_reset(&w->text);
    gf_tree_write(&named->tree, w->ids, named->labels, &w->text);
    return put_model(w, GF_SLICE("tree"), &w->text, err);
}

static gf_status put_index_cell(void *context, gf_slice qualifier, gf_buffer *value, gf_error *err)
{
    return put_model(context, qualifier, value, err);
}

/* ---- the build ------------------------------------------------------------------------------- */

static void add_number(gf_column *columns, size_t *n, const char *name, gf_number_digits *digits,
                       uint64_t v)
{
    columns[*n] = (gf_column){gf_slice_str(name), gf_number_write(&digits[*n], v)};
    ++*n;
}

/* The row of the build, which comes last: it says that all others are there. */
static gf_status write_build_row(writing *w, const gf_build_info *info, uint64_t next_id,
                                 gf_error *err)
{
    enum { NUMBERS = 8, ALL = 13 };
    gf_column columns[ALL];
    gf_number_digits digits[NUMBERS];
    size_t n = 0;
    gf_buffer_reset(&w->text);
    gf_buffer_reset(&w->vector);
    gf_json_append_double(&w->text, info->objective);
    gf_json_append_double(&w->vector, info->seconds);
    gf_status st = gf_buffer_check(&w->text, err);
    if (st == GF_OK) st = gf_buffer_check(&w->vector, err);
    if (st != GF_OK) return st;
    add_number(columns, &n, "documents", digits, info->documents);
    add_number(columns, &n, "without_terms", digits, info->without_terms);
    add_number(columns, &n, "distinct", digits, info->distinct);
    add_number(columns, &n, "terms", digits, info->terms);
    add_number(columns, &n, "k", digits, info->k);
    add_number(columns, &n, "next_id", digits, next_id);
    add_number(columns, &n, "seq", digits, info->seq);
    add_number(columns, &n, "chosen_for", digits, w->clustered->chosen_for);
    columns[n++] = (gf_column){GF_SLICE("objective"), gf_buffer_view(&w->text)};
    columns[n++] = (gf_column){GF_SLICE("seconds"), gf_buffer_view(&w->vector)};
    columns[n++] = (gf_column){GF_SLICE("settings"), info->settings};
    columns[n++] = (gf_column){GF_SLICE("versions"), info->versions};
    if (info->rows != GF_ROWS_OF_TEXTS)
        columns[n++] =
            (gf_column){GF_SLICE("matrix"),
                        info->rows == GF_ROWS_DENSE ? GF_SLICE("dense") : GF_SLICE("sparse")};
    gf_batch_replace(w->out.batch, w->tables->builds, gf_buffer_view(&w->plan->key), GF_BUILDS_MAIN,
                     columns, n, 0);
    return GF_OK;
}

gf_status gf_build_write(const gf_build_plan *plan, gf_pool *pool, gf_build *b, gf_batch *batch,
                         gf_error *err)
{
    bool has_index = plan->settings.store_index && (!plan->spills || plan->memory.index);
    writing w = {.plan = plan,
                 .documents = &b->documents,
                 .clustered = &b->clustered,
                 .ids = b->matched.ids,
                 .named = &b->named,
                 .tables = &plan->store->tables};
    gf_write_behind_begin(&w.out, plan->store->db, batch);
    gf_status st = write_clusters(&w, err);
    if (st == GF_OK) st = write_memberships(&w, err);
    if (st == GF_OK) st = write_model(&w, err);
    if (st == GF_OK) st = write_times(&w, err);
    if (st == GF_OK) st = write_tree(&w, err);
    if (st == GF_OK && has_index)
        st = gf_build_write_similar_index(&b->documents, put_index_cell, &w, err);
    if (st == GF_OK && gf_build_plan_indexes_words(plan))
        st = gf_build_write_search_cells(plan, pool, &b->documents, put_index_cell, &w, err);
    b->info.seconds = gf_clock_seconds() - b->begun;
    if (st == GF_OK) st = write_build_row(&w, &b->info, b->matched.next_id, err);
    st = gf_write_behind_end(&w.out, st, err);
    gf_buffer_release(&w.key);
    gf_buffer_release(&w.text);
    gf_buffer_release(&w.vector);
    return st;
}
