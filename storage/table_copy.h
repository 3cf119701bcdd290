/**
 * A table's rows, put into a table of another database, over whatever backend either is.
 *
 * What reads give is the same of both: entries of a run go into blocks again where the other table
 * has a run, cells keep their times and versions where the table has such, and what is past its time
 * to live stays behind. How the bytes lie is the other backend's business.
 */
#ifndef GF_STORAGE_TABLE_COPY_H
#define GF_STORAGE_TABLE_COPY_H

#include "grouperfish/cancel.h"
#include "storage/backend.h"

/** Told of each thousand entries, and of the last. */
typedef void gf_table_copy_told(void *context, uint64_t entries);
/** Told of each batch before it is written: what it is written as (gf_batch_stamp), and where alone (gf_batch_guard). */
typedef void gf_table_copy_prepare(void *context, gf_batch *batch);

typedef struct gf_table_copying {
    gf_table *from, *to; /* `to` is empty, and has the same families under the same numbers */
    gf_slice
        from_start; /* how the keys of those rows of `from` begin that are copied; may be empty */
    gf_slice to_start;           /* what they have in its place in `to` */
    const gf_snapshot *snapshot; /* of from's database; NULL: each row as it is when it is read */
    uint32_t families;           /* bits: those that are copied */
    bool timeless;   /* cells get no times: those of `from` are its backend's own (stamps) */
    bool cell_times; /* each cell of a packed row has a time of its own, in `from` or in `to` */
    int64_t untimed; /* the time of cells that have none; 0: they are put without */
    const gf_cancel *cancel;
    gf_table_copy_told *told;       /* may be NULL */
    gf_table_copy_prepare *prepare; /* likewise */
    void *context;
    uint64_t entries, bytes; /* out: added to; rows of packed families, cells of wide ones */
    int64_t newest;          /* out: raised to the latest time of a cell */
} gf_table_copying;

/**
 * Copy. What was written when it fails stays.
 * @return GF_OK, and all is on disk; GF_ECANCELLED; GF_ECORRUPT, GF_EIO, GF_ELIMIT, GF_ENOMEM
 */
gf_status gf_table_copy(gf_table_copying *c, gf_error *err);

#endif
