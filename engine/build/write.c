/* A finished clustering becomes rows: clusters, memberships, model, the build itself. */
#include "base/clock.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/build/internal.h"
#include "engine/build/search_cells.h"
#include "engine/build/similar_index.h"
#include "engine/build/tree.h"
#include "engine/rows/model.h"
#include "storage/write_behind.h"

#include <stdlib.h>
#include <string.h>

enum { TERMS_PER_CLUSTER = 20 };

typedef struct writing {
    gf_job *job;
    gf_tables *tables;
    gf_write_behind out;
    gf_buffer key, text, vector;
    double begun; /* seconds */
} writing;

static gf_status write_full(writing *w, gf_error *err)
{
    gf_status st = gf_cancel_check(w->job->options->cancel, err);
    if (st != GF_OK) return st;
    if (gf_batch_bytes(w->out.batch) < GF_WRITE_BYTES &&
        gf_batch_changes(w->out.batch) < GF_WRITE_CHANGES)
        return GF_OK;
    return gf_write_behind_next(&w->out, err);
}

/* ---- clusters -------------------------------------------------------------------------------- */

/* The heaviest entries of a centre, by falling weight. */
static uint32_t heaviest(const gf_centre *c, uint32_t best[TERMS_PER_CLUSTER])
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
static void write_terms(const gf_job *j, uint32_t cluster, gf_buffer *out)
{
    const gf_centre *c = &gf_job_term_centres(j)->at[cluster];
    uint32_t best[TERMS_PER_CLUSTER], n = heaviest(c, best);
    gf_json_writer w = gf_json_writer_to(out);
    gf_json_begin(&w, '[');
    for (uint32_t i = 0; i < n; i++) {
        gf_json_begin(&w, '[');
        gf_json_string(&w,
                       gf_vocabulary_surface(&j->documents.vectors.vocabulary, c->term[best[i]]));
        gf_json_float(&w, c->value[best[i]]);
        gf_json_end(&w, ']');
    }
    gf_json_end(&w, ']');
}

static gf_status write_cluster_row(writing *w, uint32_t cluster, gf_error *err)
{
    const gf_job *j = w->job;
    gf_number_digits id, size;
    gf_buffer_reset(&w->text);
    write_terms(j, cluster, &w->text);
    gf_status st = gf_buffer_check(&w->text, err);
    if (st != GF_OK) return st;
    gf_column columns[] = {
        {GF_SLICE("id"), gf_number_write(&id, j->ids[cluster])},
        {GF_SLICE("size"), gf_number_write(&size, j->start[cluster + 1] - j->start[cluster])},
        {GF_SLICE("terms"), gf_buffer_view(&w->text)}};
    gf_batch_replace(w->out.batch, w->tables->clusters, gf_buffer_view(&w->key), GF_CLUSTERS_MAIN,
                     columns, 3, 0);
    return GF_OK;
}

static gf_slice member_id(const gf_job *j, uint32_t point)
{
    return gf_gathered_id(&j->documents, j->row_of[point]);
}

/* A cell of a member, whose qualifier or value is in w->text. */
static gf_status put_member(writing *w, unsigned family, gf_slice qualifier, gf_slice value,
                            gf_error *err)
{
    gf_status st = gf_buffer_check(&w->text, err);
    if (st != GF_OK) return st;
    gf_batch_put(w->out.batch, w->tables->clusters, gf_buffer_view(&w->key), family, qualifier,
                 value, 0);
    return write_full(w, err);
}

/* The members of a cluster by id; `members` has them in that order, where j->members is by rank. */
static gf_status write_members(writing *w, const uint32_t *members, uint32_t cluster, gf_error *err)
{
    const gf_job *j = w->job;
    gf_status st = GF_OK;
    for (uint32_t r = j->start[cluster]; r < j->start[cluster + 1] && st == GF_OK; r++) {
        gf_buffer_reset(&w->text);
        gf_buffer_float(&w->text, j->clusters.score[members[r]]);
        st = put_member(w, GF_CLUSTERS_DOCUMENTS, member_id(j, members[r]),
                        gf_buffer_view(&w->text), err);
    }
    return st;
}

static gf_status write_ranked(writing *w, uint32_t cluster, gf_error *err)
{
    const gf_job *j = w->job;
    gf_status st = GF_OK;
    for (uint32_t r = j->start[cluster]; r < j->start[cluster + 1] && st == GF_OK; r++) {
        uint32_t point = j->members[r];
        gf_buffer_reset(&w->text);
        gf_rank_write(&w->text, j->clusters.score[point], member_id(j, point));
        st = put_member(w, GF_CLUSTERS_RANKED, gf_buffer_view(&w->text), GF_SLICE(""), err);
    }
    return st;
}

static int by_label(const void *a, const void *b, void *context)
{
    const gf_slice *labels = context;
    return gf_slice_compare(labels[*(const uint32_t *)a], labels[*(const uint32_t *)b]);
}

/* Rows by cluster, each cluster's by id, as j->start divides them; then the clusters by label. */
static void put_in_order(const gf_job *j, uint32_t *members, uint32_t *order, uint32_t *next)
{
    memcpy(next, j->start, j->clusters.k * sizeof *next);
    for (uint32_t point = 0; point < j->clusters.n; point++)
        members[next[j->clusters.label[point]]++] = point;
    for (uint32_t c = 0; c < j->clusters.k; c++)
        order[c] = c;
    qsort_r(order, j->clusters.k, sizeof *order, by_label, j->labels);
}

/*
 * Each family by itself, its rows by label: in the order of the keys, which is cheapest to insert,
 * and makes tables that do not overlap, so that there is little to compact.
 */
static gf_status write_families(writing *w, const uint32_t *members, const uint32_t *order,
                                gf_error *err)
{
    static const unsigned families[] = {GF_CLUSTERS_MAIN, GF_CLUSTERS_DOCUMENTS,
                                        GF_CLUSTERS_RANKED};
    const gf_job *j = w->job;
    uint32_t k = j->clusters.k;
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < 3 * k && st == GF_OK; i++) {
        uint32_t c = order[i % k];
        if (i % 3 == 0) gf_job_tell(j, "writing clusters", i / 3, k);
        gf_buffer_reset(&w->key);
        gf_cluster_key(&w->key, gf_buffer_view(&j->key), j->labels[c]);
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
    const gf_job *j = w->job;
    uint32_t *members = gf_array(j->clusters.n, sizeof *members);
    uint32_t *order = gf_array(j->clusters.k, sizeof *order);
    uint32_t *next = gf_array(j->clusters.k, sizeof *next);
    gf_status st = GF_OK;
    if (!members || !order || !next) {
        st = gf_fail_memory(err, "clusters");
    } else if (j->clusters.k) {
        put_in_order(j, members, order, next);
        st = write_families(w, members, order, err);
    }
    gf_free(members);
    gf_free(order);
    gf_free(next);
    return st;
}

/* ---- memberships ----------------------------------------------------------------------------- */

/* The row of a document, as bytes. */
static gf_status write_vector(const gf_job *j, uint32_t document, gf_buffer *vector, gf_error *err)
{
    const gf_vectors *v = &j->documents.vectors;
    if (!v->entries) {
        gf_vector_write(gf_csr_row(&v->x, document), vector);
        return GF_OK;
    }
    gf_row_file rows = gf_rows_in_file(v);
    gf_csr x;
    gf_status st = gf_row_file_read(&rows, document, 1, &x, err);
    if (st != GF_OK) return st;
    gf_vector_write(gf_csr_row(&x, 0), vector);
    gf_csr_release(&x);
    return GF_OK;
}

/* The place of a document; point is its number among those with terms, or UINT32_MAX. */
static gf_status describe(const gf_job *j, uint32_t document, uint32_t point, gf_buffer *vector,
                          gf_membership_cells *m, gf_error *err)
{
    *m = (gf_membership_cells){0};
    if (point != UINT32_MAX) {
        uint32_t second = j->clusters.runner_up[point];
        m->cluster = j->ids[j->clusters.label[point]];
        m->score = j->clusters.score[point];
        m->runner_up = second == GF_NO_CLUSTER ? 0 : j->ids[second];
        m->second = j->clusters.second[point];
    }
    gf_buffer_reset(vector);
    if (!j->settings.store_vectors) return GF_OK;
    gf_status st = write_vector(j, document, vector, err);
    m->vector = gf_buffer_view(vector);
    return st;
}

static gf_status write_memberships(writing *w, gf_error *err)
{
    const gf_job *j = w->job;
    gf_status st = GF_OK;
    for (uint32_t i = 0, point = 0; i < j->documents.n && st == GF_OK; i++) {
        bool has_terms = point < j->clusters.n && j->row_of[point] == i;
        gf_membership_cells m;
        gf_column columns[GF_MEMBERSHIP_COLUMNS];
        char bytes[GF_MEMBERSHIP_BYTES];
        st = describe(j, i, has_terms ? point++ : UINT32_MAX, &w->vector, &m, err);
        if (st != GF_OK) break;
        gf_buffer_reset(&w->key);
        gf_membership_key(&w->key, gf_buffer_view(&j->key), gf_gathered_id(&j->documents, i));
        st = gf_buffer_check(&w->key, err);
        if (st == GF_OK) st = gf_buffer_check(&w->vector, err);
        if (st != GF_OK) break;
        size_t n = gf_membership_write(&m, bytes, columns);
        gf_batch_replace(w->out.batch, w->tables->memberships, gf_buffer_view(&w->key),
                         GF_MEMBERSHIPS_MAIN, columns, n, 0);
        if (i % 10000 == 0) gf_job_tell(j, "writing memberships", i, j->documents.n);
        st = write_full(w, err);
    }
    return st;
}

/* ---- the model ------------------------------------------------------------------------------- */

static gf_status put_model(writing *w, gf_slice qualifier, gf_buffer *value, gf_error *err)
{
    gf_status st = gf_buffer_check(value, err);
    if (st != GF_OK) return st;
    gf_batch_put(w->out.batch, w->tables->builds, gf_buffer_view(&w->job->key), GF_BUILDS_MODEL,
                 qualifier, gf_buffer_view(value), 0);
    return write_full(w, err);
}

static gf_status write_model(writing *w, gf_error *err)
{
    gf_job *j = w->job;
    gf_buffer_reset(&w->text);
    gf_analysis_write(j->settings.detect, &j->documents.fallback, &j->settings.vectorizer,
                      &w->text);
    gf_status st = put_model(w, GF_SLICE("analysis"), &w->text, err);
    gf_buffer_reset(&w->text);
    gf_vocabulary_write(&j->documents.vectors.vocabulary, &w->text);
    if (st == GF_OK) st = put_model(w, GF_SLICE("vocabulary"), &w->text, err);
    for (uint32_t c = 0; c < j->clusters.k && st == GF_OK; c++) {
        gf_buffer_reset(&w->key);
        gf_centre_qualifier(&w->key, j->ids[c]);
        gf_buffer_reset(&w->text);
        gf_vector_write(gf_centre_row(&j->clusters.centres.at[c]), &w->text);
        st = gf_buffer_check(&w->key, err);
        if (st == GF_OK) st = put_model(w, gf_buffer_view(&w->key), &w->text, err);
    }
    return st;
}

static gf_status write_tree(writing *w, gf_error *err)
{
    const gf_job *j = w->job;
    if (j->tree.k == 0) return GF_OK;
    uint32_t *ids = gf_array(j->tree.k, sizeof *ids);
    if (!ids) return gf_fail_memory(err, "the tree");
    for (uint32_t c = 0; c < j->tree.k; c++)
        ids[c] = j->ids[c];
    gf_buffer_reset(&w->text);
    gf_tree_write(&j->tree, ids, j->labels, &w->text);
    gf_free(ids);
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

/* The row that says that all others are there. */
static gf_status write_build_row(writing *w, gf_error *err)
{
    gf_job *j = w->job;
    gf_build_info *info = &j->info;
    enum { NUMBERS = 8, ALL = 13 };
    gf_column columns[ALL];
    gf_number_digits digits[NUMBERS];
    size_t n = 0;
    info->seconds = j->seconds + gf_clock_seconds() - w->begun;
    gf_buffer_reset(&w->text);
    gf_buffer_reset(&w->vector);
    gf_buffer_double(&w->text, info->objective);
    gf_buffer_double(&w->vector, info->seconds);
    gf_status st = gf_buffer_check(&w->text, err);
    if (st == GF_OK) st = gf_buffer_check(&w->vector, err);
    if (st != GF_OK) return st;
    add_number(columns, &n, "documents", digits, info->documents);
    add_number(columns, &n, "without_terms", digits, info->without_terms);
    add_number(columns, &n, "distinct", digits, info->distinct);
    add_number(columns, &n, "terms", digits, info->terms);
    add_number(columns, &n, "k", digits, info->k);
    add_number(columns, &n, "next_id", digits, j->next_id_after);
    add_number(columns, &n, "seq", digits, info->seq);
    add_number(columns, &n, "chosen_for", digits, j->chosen_for);
    columns[n++] = (gf_column){GF_SLICE("objective"), gf_buffer_view(&w->text)};
    columns[n++] = (gf_column){GF_SLICE("seconds"), gf_buffer_view(&w->vector)};
    columns[n++] = (gf_column){GF_SLICE("settings"), info->settings};
    columns[n++] = (gf_column){GF_SLICE("versions"), info->versions};
    if (info->rows != GF_ROWS_OF_TEXTS)
        columns[n++] =
            (gf_column){GF_SLICE("matrix"),
                        info->rows == GF_ROWS_DENSE ? GF_SLICE("dense") : GF_SLICE("sparse")};
    gf_batch_replace(w->out.batch, w->tables->builds, gf_buffer_view(&j->key), GF_BUILDS_MAIN,
                     columns, n, 0);
    return GF_OK;
}

bool gf_job_indexes_words(const gf_job *j)
{
    /* Search reads that of "default" alone. */
    return j->settings.store_index && (!j->spills || j->plan.search) &&
           gf_slice_equal(j->configuration, GF_SLICE("default"));
}

gf_status gf_job_write(gf_job *j, gf_batch *batch, gf_error *err)
{
    writing w = {.job = j, .tables = &j->store->tables, .begun = gf_clock_seconds()};
    gf_write_behind_begin(&w.out, j->store->db, batch);
    gf_status st = write_clusters(&w, err);
    if (st == GF_OK) st = write_memberships(&w, err);
    if (st == GF_OK) st = write_model(&w, err);
    if (st == GF_OK) st = write_tree(&w, err);
    if (st == GF_OK && j->settings.store_index && (!j->spills || j->plan.index))
        st = gf_write_index(&j->documents, put_index_cell, &w, err);
    if (st == GF_OK && gf_job_indexes_words(j)) st = gf_write_search(j, put_index_cell, &w, err);
    if (st == GF_OK) st = write_build_row(&w, err);
    st = gf_write_behind_end(&w.out, st, err);
    gf_buffer_release(&w.key);
    gf_buffer_release(&w.text);
    gf_buffer_release(&w.vector);
    return st;
}
