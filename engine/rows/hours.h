/**
 * A build's documents by the hour that their time lies in, as it is kept: in builds:model a cell
 * "times" for each cluster, and one (of cluster 0) for the documents without terms. Hours make up
 * days, weeks, months, quarters and years, so trends by any unit come of them.
 *
 *     varint documents without a time
 *     for each hour that has documents, rising:
 *         varint hours since the one before (of the first: since 1970, zigzag) | varint documents
 *
 * A document's own hour is in its membership, so that one that is deleted or put again can be taken
 * out of the counts.
 */
#ifndef GF_ENGINE_ROWS_HOURS_H
#define GF_ENGINE_ROWS_HOURS_H

#include "grouperfish/table.h"

#define GF_NO_HOUR INT32_MIN /* of a document without a time */

/** The hour of a document's row, since 1970-01-01T00:00Z: times are within 10,000 years of it. */
int32_t gf_hours_of_row(const gf_row *document);

#define GF_HOURS_PREFIX "times"

/** The prefix and the cluster's id, as a qualifier of builds:model. */
void gf_hours_qualifier(gf_buffer *out, uint32_t cluster);

/** The id in such a qualifier; false for others. */
bool gf_hours_cluster(gf_slice qualifier, uint32_t *cluster);

/** Append the cell's bytes. hours: n, one for each document; they are sorted. */
void gf_hours_write(int32_t *hours, uint32_t n, gf_buffer *out);

/** A cell that is read from its beginning to its end. */
typedef struct gf_hours {
    gf_slice left;
    uint32_t undated; /* documents without a time */
    int32_t hour;     /* of the entry at hand */
    uint32_t documents;
    bool begun;
} gf_hours;

/** Begin; GF_ECORRUPT. The bytes are borrowed. */
gf_status gf_hours_begin(gf_hours *hours, gf_slice bytes, gf_error *err);

/** The next entry; *more is false behind the last. GF_ECORRUPT. */
gf_status gf_hours_next(gf_hours *hours, bool *more, gf_error *err);

#endif
