/** Facts that edits come to, and rows of the documents that stand for them: for the steps of obeying. */
#ifndef GF_ENGINE_BUILD_OBEY_INTERNAL_H
#define GF_ENGINE_BUILD_OBEY_INTERNAL_H

#include "engine/build/obey.h"

/* Documents that stand for a group, which is called by a cluster's id. */
typedef struct gf_edit_atom {
    size_t edit; /* place in the plan's list; behind its end in that of those taken back */
    uint32_t id;
    uint32_t *points; /* n: of those that are still there */
    size_t n;
    bool sampled;     /* the group had more documents than witnesses are kept of */
    bool joins, cuts; /* of a merge, of a split */
    size_t topic;     /* edit: the group is that topic; GF_NOT_A_TOPIC */
    size_t within;    /* edit: the group is a part of that topic; likewise */
    bool dead;        /* a later split says more */
} gf_edit_atom;

/* A document that is in a cluster by word of a person. */
typedef struct gf_edit_place {
    size_t edit;
    uint32_t id, point;
} gf_edit_place;

/** The edit that an atom or a place is of. */
gf_kept_edit *gf_obey_fact(const gf_build_plan *plan, size_t edit);

/** Say why an edit is not kept; the first reason counts. The format may have one PRIu32. */
void gf_obey_lose(gf_build_plan *plan, size_t edit, const char *format, uint32_t id);

/** Read the atoms and places of the plan's edits, in their order. GF_ENOMEM, GF_EIO, GF_ECORRUPT. */
gf_status gf_obey_read_facts(gf_build_plan *plan, const gf_build_gathered *documents,
                             const gf_build_clustered *clustered, gf_build_obeying *o,
                             gf_error *err);

/** The topic whose cluster an id is; GF_NOT_A_TOPIC. */
size_t gf_obey_topic_of(const gf_build_plan *plan, uint32_t id);

/**
 * Whether a cluster is the group: few witnesses that are left, or that lie far apart, stand for no cluster of
 * others.
 * @param n, both  points of the group, and those that are in the cluster
 * @param size     of the cluster
 */
bool gf_obey_is_group(bool sampled, size_t n, uint32_t both, uint32_t size);

/**
 * The topic that made a cluster; GF_NOT_A_TOPIC also of those that were cut off since, which come after the
 * others.
 */
static inline size_t gf_obey_maker_of(const gf_build_clustered *c, uint32_t cluster)
{
    return c->topic && cluster < c->kmeans.k ? c->topic[cluster] : GF_NOT_A_TOPIC;
}

/** The place of the cluster that has the id; GF_NO_CLUSTER. */
static inline uint32_t gf_obey_cluster_of(const gf_build_matched *m, uint32_t k, uint32_t id)
{
    for (uint32_t c = 0; c < k; c++)
        if (m->ids[c] == id) return c;
    return GF_NO_CLUSTER;
}

/** A similarity that rounding may have brought out of its range. */
static inline float gf_obey_within_1(double v)
{
    return v < 1 ? v > 0 ? (float)v : 0 : 1;
}

/** Rows of documents as they were clustered. Plan, documents and c are set; the rest is {0}. */
typedef struct gf_obey_rows {
    const gf_build_plan *plan;
    const gf_build_gathered *documents;
    gf_build_clustered *c;
    gf_csr read; /* of a file of rows */
    uint32_t *col;
    float *val; /* of a row that is worked out */
} gf_obey_rows;

void gf_obey_rows_release(gf_obey_rows *r);

/** The clustered row of a point, until the next one is asked for. */
gf_status gf_obey_rows_take(gf_obey_rows *r, uint32_t point, gf_row_view *row, gf_error *err);

#endif
