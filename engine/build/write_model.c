/* Writing the model: what places new documents, and what is told of a build's clusters. */
#include "engine/build/write_internal.h"

#include "base/memory.h"
#include "engine/build/group_ids.h"
#include "engine/build/tree.h"
#include "engine/rows/copy_list.h"
#include "engine/rows/hours.h"
#include "engine/rows/model.h"
#include "storage/backend.h"

gf_status gf_build_put_model(const gf_build_writing *w, gf_batch *batch, gf_slice qualifier,
                             const gf_buffer *value, gf_buffer *memory, gf_error *err)
{
    gf_compressed compressed;
    gf_status st = gf_buffer_check(value, err);
    if (!(gf_database_capabilities(w->plan->store->db) & GF_BACKEND_COMPRESSED)) {
        gf_batch_put(batch, w->tables->builds, w->key, GF_BUILDS_MODEL, qualifier,
                     gf_buffer_view(value), 0);
        return st;
    }
    if (st == GF_OK) st = gf_value_compress(gf_buffer_view(value), memory, &compressed, err);
    if (st == GF_OK)
        gf_batch_put_compressed(batch, w->tables->builds, w->key, GF_BUILDS_MODEL, qualifier,
                                &compressed);
    return st;
}

/* ---- one cell each --------------------------------------------------------------------------- */

static gf_status put_one(const gf_build_writing *w, gf_batch *batch, gf_slice qualifier,
                         gf_buffer *value, gf_error *err)
{
    gf_buffer memory = {0};
    gf_status st = gf_build_put_model(w, batch, qualifier, value, &memory, err);
    gf_buffer_release(&memory);
    gf_buffer_release(value);
    return st;
}

gf_status gf_build_fill_analysis(const gf_build_writing *w, uint32_t part, gf_batch *batch,
                                 gf_error *err)
{
    (void)part;
    const gf_resolved *settings = &w->plan->settings;
    gf_buffer text = {0};
    gf_model_analysis_write(settings->detect, &w->documents->fallback, &settings->vectorizer,
                            &text);
    return put_one(w, batch, GF_SLICE("analysis"), &text, err);
}

gf_status gf_build_fill_vocabulary(const gf_build_writing *w, uint32_t part, gf_batch *batch,
                                   gf_error *err)
{
    (void)part;
    gf_buffer bytes = {0};
    gf_vocabulary_write(&w->documents->vectors.vocabulary, &bytes);
    return put_one(w, batch, GF_SLICE("vocabulary"), &bytes, err);
}

gf_status gf_build_fill_tree(const gf_build_writing *w, uint32_t part, gf_batch *batch,
                             gf_error *err)
{
    (void)part;
    const gf_build_named *named = w->named;
    gf_buffer bytes = {0};
    if (named->tree.k == 0) return GF_OK;
    gf_tree_write(&named->tree, w->ids, named->labels, &bytes);
    return put_one(w, batch, GF_SLICE("tree"), &bytes, err);
}

gf_status gf_build_fill_group_ids(const gf_build_writing *w, uint32_t part, gf_batch *batch,
                                  gf_error *err)
{
    (void)part;
    gf_buffer bytes = {0};
    if (w->named->tree.k == 0) return GF_OK;
    gf_group_ids_write(w->groups, gf_tree_inner(&w->named->tree), &bytes);
    return put_one(w, batch, GF_SLICE("groups"), &bytes, err);
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* A part is a quarter of the candidate's documents or more; the largest comes first, of two the lower cluster. */
static void add_part(gf_candidate_fate *f, uint32_t cluster, uint64_t documents)
{
    if (documents == 0 || documents * GF_CHANGE_MOST_PARTS < f->size) return;
    size_t at = f->n_parts++;
    for (; at > 0 && f->parts[at - 1].documents < documents; at--)
        f->parts[at] = f->parts[at - 1];
    f->parts[at].cluster = cluster;
    f->parts[at].documents = documents;
}

/* shared: k, scratch */
static void find_fate(const gf_build_writing *w, uint32_t candidate, uint32_t *shared,
                      gf_buffer *out)
{
    const gf_build_clustered *c = w->clustered;
    const gf_build_previous *p = w->previous;
    gf_candidate_fate f = {.id = p->candidates.at[candidate].id,
                           .label = p->candidates.at[candidate].label};
    memset(shared, 0, c->kmeans.k * sizeof *shared);
    for (uint32_t i = 0; i < w->documents->n; i++)
        f.size += p->candidate[i] == candidate;
    for (uint32_t r = 0; r < c->kmeans.n; r++)
        if (p->candidate[c->row_of[r]] == candidate) shared[c->kmeans.label[r]]++;
    for (uint32_t k = 0; k < c->kmeans.k; k++)
        add_part(&f, w->ids[k], shared[k]);
    gf_candidate_fate_write(&f, out);
}

gf_status gf_build_fill_candidates(const gf_build_writing *w, uint32_t part, gf_batch *batch,
                                   gf_error *err)
{
    (void)part;
    gf_buffer bytes = {0};
    if (!w->previous->candidate) return GF_OK;
    uint32_t *shared = gf_array((size_t)w->clustered->kmeans.k + 1, sizeof *shared);
    if (!shared) return gf_fail_memory(err, "candidates");
    gf_buffer_varint(&bytes, (uint64_t)w->plan->served.build);
    for (uint32_t c = 0; c < w->previous->candidates.n; c++)
        find_fate(w, c, shared, &bytes);
    gf_free(shared);
    return put_one(w, batch, GF_SLICE("candidates"), &bytes, err);
}

/* ---- cells of clusters ----------------------------------------------------------------------- */

/* Buffers of a task. */
typedef struct cell {
    gf_buffer qualifier, value, memory;
} cell;

static void release_cell(cell *c)
{
    gf_buffer_release(&c->qualifier);
    gf_buffer_release(&c->value);
    gf_buffer_release(&c->memory);
}

static void reset_cell(cell *c)
{
    gf_buffer_reset(&c->qualifier);
    gf_buffer_reset(&c->value);
}

static gf_status put_cell(const gf_build_writing *w, gf_batch *batch, cell *c,
                          const gf_buffer *value, gf_error *err)
{
    gf_status st = gf_buffer_check(&c->qualifier, err);
    if (st != GF_OK) return st;
    return gf_build_put_model(w, batch, gf_buffer_view(&c->qualifier), value, &c->memory, err);
}

/* Clusters from *first up to *end are those of the part. */
static void part_of_clusters(const gf_build_writing *w, uint32_t part, uint32_t *first,
                             uint32_t *end)
{
    uint32_t k = w->clustered->kmeans.k;
    *first = part * GF_PART_CLUSTERS;
    *end = k - *first > GF_PART_CLUSTERS ? *first + GF_PART_CLUSTERS : k;
}

gf_status gf_build_fill_centres(const gf_build_writing *w, uint32_t part, gf_batch *batch,
                                gf_error *err)
{
    const gf_centres *centres = &w->clustered->kmeans.centres;
    uint32_t c, end;
    cell out = {.value = {0}};
    gf_status st = GF_OK;
    for (part_of_clusters(w, part, &c, &end); c < end && st == GF_OK; c++) {
        reset_cell(&out);
        gf_model_centre_qualifier(&out.qualifier, w->ids[c]);
        gf_model_vector_write(gf_centre_row(&centres->at[c]), &out.value);
        st = put_cell(w, batch, &out, &out.value, err);
    }
    const gf_centres *background = &w->clustered->background;
    if (st == GF_OK && part == 0 && background->k) {
        reset_cell(&out);
        gf_model_centre_qualifier(&out.qualifier, 0);
        gf_model_vector_write(gf_centre_row(&background->at[0]), &out.value);
        st = put_cell(w, batch, &out, &out.value, err);
    }
    release_cell(&out);
    return st;
}

/* A cell for each cluster that has copies. */
gf_status gf_build_fill_copies(const gf_build_writing *w, uint32_t part, gf_batch *batch,
                               gf_error *err)
{
    uint32_t c, end;
    cell out = {.value = {0}};
    gf_status st = GF_OK;
    for (part_of_clusters(w, part, &c, &end); c < end && st == GF_OK; c++) {
        if (w->best->of[c].copies.len == 0) continue;
        reset_cell(&out);
        gf_copy_list_qualifier(&out.qualifier, w->ids[c]);
        st = put_cell(w, batch, &out, &w->best->of[c].copies, err);
    }
    release_cell(&out);
    return st;
}

/* ---- documents by hour ----------------------------------------------------------------------- */

/* hours: n, of the cluster's documents */
static gf_status put_hours(const gf_build_writing *w, uint32_t cluster, int32_t *hours, uint32_t n,
                           cell *out, gf_batch *batch, gf_error *err)
{
    reset_cell(out);
    gf_hours_qualifier(&out->qualifier, cluster);
    gf_hours_write(hours, n, &out->value);
    return put_cell(w, batch, out, &out->value, err);
}

/* Hours of the documents that are in no cluster. */
static uint32_t list_unclustered(const gf_build_writing *w, int32_t *hours)
{
    const gf_build_gathered *d = w->documents;
    const gf_build_clustered *c = w->clustered;
    uint32_t n = 0;
    for (uint32_t i = 0, point = 0; i < d->n; i++) {
        if (point < c->kmeans.n && c->row_of[point] == i)
            point++;
        else
            hours[n++] = d->hours[i];
    }
    return n;
}

static uint32_t list_members(const gf_build_writing *w, uint32_t cluster, int32_t *hours)
{
    const gf_build_clustered *c = w->clustered;
    uint32_t n = gf_build_clustered_size(c, cluster);
    for (uint32_t i = 0; i < n; i++)
        hours[i] = w->documents->hours[c->row_of[c->members[c->start[cluster] + i]]];
    return n;
}

/* A cell for each cluster, and one for the documents that are in none: part 0. */
gf_status gf_build_fill_hours(const gf_build_writing *w, uint32_t part, gf_batch *batch,
                              gf_error *err)
{
    uint32_t most = w->documents->n - w->clustered->kmeans.n, c = 0, end = 0;
    if (part > 0) {
        part_of_clusters(w, part - 1, &c, &end);
        most = 0;
        for (uint32_t i = c; i < end; i++)
            if (gf_build_clustered_size(w->clustered, i) > most)
                most = gf_build_clustered_size(w->clustered, i);
    }
    int32_t *hours = gf_array((size_t)most + 1, sizeof *hours);
    if (!hours) return gf_fail_memory(err, "documents by hour");
    cell out = {.value = {0}};
    gf_status st = GF_OK;
    if (part == 0) st = put_hours(w, 0, hours, list_unclustered(w, hours), &out, batch, err);
    for (; c < end && st == GF_OK; c++)
        st = put_hours(w, w->ids[c], hours, list_members(w, c, hours), &out, batch, err);
    gf_free(hours);
    release_cell(&out);
    return st;
}
