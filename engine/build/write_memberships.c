/* Writing memberships: for each document of a build its place in it. */
#include "engine/build/write_internal.h"

#include "base/lower_bound.h"

#include "engine/rows/hours.h"
#include "engine/rows/model.h"
#include "storage/run_writer.h"

#define NO_POINT UINT32_MAX

/* The row of a document, as bytes. */
static gf_status write_vector(const gf_build_gathered *d, uint32_t document, gf_buffer *vector,
                              gf_error *err)
{
    if (!d->vectors.entries) {
        gf_model_vector_write(gf_csr_row(&d->vectors.x, document), vector);
        return gf_buffer_check(vector, err);
    }
    gf_row_file rows = gf_build_gathered_row_file(d);
    gf_csr x;
    gf_status st = gf_row_file_read(&rows, document, 1, &x, err);
    if (st != GF_OK) return st;
    gf_model_vector_write(gf_csr_row(&x, 0), vector);
    gf_csr_release(&x);
    return gf_buffer_check(vector, err);
}

/* The nearest cluster of a document that no topic took is the next best one. */
static void take_unplaced(const gf_build_writing *w, uint32_t document, gf_membership_cells *m)
{
    const gf_build_clustered *c = w->clustered;
    uint32_t from = 0, to = c->n_unplaced;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (c->unplaced[middle].document < document)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == c->n_unplaced || c->unplaced[from].document != document) return;
    m->runner_up = w->ids[c->unplaced[from].nearest];
    m->second = c->unplaced[from].similarity;
}

/* The membership of a document; point is its clustered row, or NO_POINT. */
static gf_status take_membership(const gf_build_writing *w, uint32_t document, uint32_t point,
                                 gf_buffer *vector, gf_membership_cells *m, gf_error *err)
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
    } else {
        take_unplaced(w, document, m);
    }
    if (!w->plan->settings.store_vectors) return GF_OK;
    gf_buffer_reset(vector);
    gf_status st = write_vector(w->documents, document, vector, err);
    m->vector = gf_buffer_view(vector);
    return st;
}

uint32_t gf_build_membership_part(const gf_build_plan *plan)
{
    return plan->settings.store_vectors ? GF_PART_WITH_VECTORS : GF_PART_MEMBERS;
}

gf_status gf_build_fill_memberships(const gf_build_writing *w, uint32_t part, gf_batch *batch,
                                    gf_error *err)
{
    const gf_build_clustered *c = w->clustered;
    uint32_t size = gf_build_membership_part(w->plan), n = w->documents->n, from = part * size;
    uint32_t to = n - from > size ? from + size : n,
             point = gf_lower_bound(c->row_of, c->kmeans.n, from);
    gf_buffer key = {0}, vector = {0};
    gf_run_writer out = {.batch = NULL};
    gf_status st = GF_OK;
    gf_run_writer_begin(&out, batch, w->tables->memberships, GF_MEMBERSHIPS_MAIN,
                        gf_tables_membership_columns, GF_MEMBERSHIP_COLUMNS);
    for (uint32_t i = from; i < to && st == GF_OK; i++) {
        bool is_clustered = point < c->kmeans.n && c->row_of[point] == i;
        gf_membership_cells m;
        gf_run_value values[GF_MEMBERSHIP_COLUMNS];
        st = take_membership(w, i, is_clustered ? point++ : NO_POINT, &vector, &m, err);
        gf_buffer_reset(&key);
        gf_tables_membership_key(&key, w->key, gf_build_gathered_id(w->documents, i));
        if (st == GF_OK) st = gf_buffer_check(&key, err);
        if (st != GF_OK) break;
        gf_tables_membership_values(&m, values);
        st = gf_run_writer_add(&out, gf_buffer_view(&key), (gf_slice){0}, values, err);
    }
    if (st == GF_OK) st = gf_run_writer_end(&out, err);
    gf_run_writer_release(&out);
    gf_buffer_release(&key);
    gf_buffer_release(&vector);
    return st;
}
