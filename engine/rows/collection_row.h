/** One row of the table of collections. */
#ifndef GF_ENGINE_ROWS_COLLECTION_ROW_H
#define GF_ENGINE_ROWS_COLLECTION_ROW_H

#include "grouperfish/buffer.h"
#include "grouperfish/collections.h"

/** A collection's row as it was read; slices are borrowed from `row`. */
typedef struct gf_collection_row {
    gf_row row;
    uint64_t size, seq;
    int64_t modified;
    gf_slice settings; /* JSON: {"configuration": {"key": "value"}}; empty where there are none */
    gf_slice pins;     /* likewise (engine/config/pins.h) */
    bool deleting;     /* marked as being deleted: no read finds the collection */
} gf_collection_row;

/** Fill the struct's other fields from row->row, which has been read. GF_ECORRUPT. */
gf_status gf_collection_row_decode(gf_collection_row *row, gf_error *err);
void gf_collection_row_release(gf_collection_row *row);

/** The served build of a configuration, or 0. */
int64_t gf_collection_row_served(const gf_collection_row *row, gf_slice configuration);

/** The configurations that have a served build, by name; free the list with gf_free. */
gf_status gf_collection_row_states(const gf_collection_row *row, gf_configuration_state **states,
                                   size_t *n, gf_error *err);

/** Column of a configuration: "configuration:<name>:rebuilt", ":processed" or ":failed". */
void gf_collection_row_column(gf_buffer *b, gf_slice configuration, const char *what);

/** "configuration:<name>:<what>" -> <name>; false for another column. */
bool gf_collection_row_configuration(gf_slice column, const char *what, gf_slice *name);

#endif
