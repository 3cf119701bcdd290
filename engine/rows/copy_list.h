/**
 * The members of a cluster that are near-duplicates of one ranked before them, as they are kept: in
 * builds:model a cell "copies" for each cluster that has some.
 *
 *     for each copy, by rising place in the ranking (clusters:ranked, the best is place 0):
 *         varint places since the copy before (of the first: its place)
 *         varint places back to the document that it is a copy of, which is no copy itself
 *
 * So readers pass over copies while they walk over the ranking, whatever was deleted since.
 */
#ifndef GF_ENGINE_ROWS_COPY_LIST_H
#define GF_ENGINE_ROWS_COPY_LIST_H

#include "grouperfish/buffer.h"

#include <stdint.h>

#define GF_COPY_LIST_PREFIX "copies"

/** The prefix and the cluster's id, as a qualifier of builds:model. */
void gf_copy_list_qualifier(gf_buffer *out, uint32_t cluster);

/** The id in such a qualifier; false for others. */
bool gf_copy_list_cluster(gf_slice qualifier, uint32_t *cluster);

/** Append the cell's bytes; none where no member is a copy. first: n, as gf_copies_find gives it. */
void gf_copy_list_write(const uint32_t *first, uint32_t n, gf_buffer *out);

/**
 * Read it back: first[place] for each of n members.
 * @return GF_OK; GF_ECORRUPT where it is none of a cluster of n members
 */
gf_status gf_copy_list_read(gf_slice bytes, uint32_t *first, uint32_t n, gf_error *err);

#endif
