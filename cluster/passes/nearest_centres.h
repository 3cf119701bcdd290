/**
 * The nearest centres of rows that were not clustered: finished centres, indexed once, with what
 * looking them up needs.
 *
 * Ceilings leave most centres out where there are many: see gf_centre_index_set_ceilings. A row
 * of the clustering gets the places and similarities that its last assignment gave it. Very many
 * centres (gf_branches_serve) are looked up by their tree, as that assignment does.
 */
#ifndef GF_CLUSTER_PASSES_NEAREST_CENTRES_H
#define GF_CLUSTER_PASSES_NEAREST_CENTRES_H

#include "cluster/large/branches.h"

enum { GF_NEAREST_ROWS = 32 /* most rows that are looked up side by side */ };

typedef struct gf_nearest_centres {
    gf_centre_index
        index;            /* columns in the order of the clusters; not made where there is a tree */
    gf_branches branches; /* n is 0 where there is none; its centres are not there any more */
    gf_branch_packed *branch; /* branches.n */
    uint32_t n_terms;
    const gf_kernels *kernels;
    float *scores; /* stride for each worker, aligned to 64 bytes; of a tree also a row's room */
    void *block;   /* unaligned start of scores */
    size_t stride;
    uint32_t beside; /* rows that gf_nearest_centres_find_full may take at once; 0: none */
} gf_nearest_centres;

/**
 * Index the centres, which are not needed any more afterwards, with room for one worker.
 *
 * @param key  k, or NULL: the order in which centres lie beside each other, falling. Where similar
 *             ones do, more are left out together; what is found does not depend on it
 * @return GF_OK; GF_ENOMEM; GF_ELIMIT (see gf_centre_index_build); *l is then empty
 * Cost: see gf_centre_index_build and gf_centre_index_set_ceilings, or gf_branches_init.
 */
gf_status gf_nearest_centres_init(gf_nearest_centres *l, const gf_centres *centres,
                                  const float *key, gf_error *err);
void gf_nearest_centres_release(gf_nearest_centres *l);

/** Room for workers 0..n-1 in place of what there was; GF_ENOMEM, and all is as before. */
gf_status gf_nearest_centres_make_room(gf_nearest_centres *l, unsigned n, gf_error *err);

/**
 * The two centres that are most similar to a row; each worker does one at a time.
 *
 * Cost: O(entries * k) at worst; from GF_CEILINGS centres on often a tenth of that; by a tree
 * O(entries * 6 sqrt(k)).
 */
gf_nearest_two gf_nearest_centres_find(const gf_nearest_centres *l, unsigned worker,
                                       gf_row_view row);

/**
 * Ask for what looking a row up begins with, some microseconds before: postings, and bounds of blocks.
 */
void gf_nearest_centres_prefetch(const gf_nearest_centres *l, gf_row_view row);

/**
 * The same for rows that have a value of every term: several at once, which is several times as fast
 * where there are many centres. What is told of a row is what gf_nearest_centres_find tells.
 *
 * @param rows  n of n_terms entries each, n 1..locator->beside
 * @param two   n
 */
void gf_nearest_centres_find_full(const gf_nearest_centres *l, unsigned worker,
                                  const gf_row_view *rows, uint32_t n, gf_nearest_two *two);

#endif
