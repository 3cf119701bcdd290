/**
 * Tables as batches and scans need them. For storage/ itself.
 */
#ifndef GF_STORAGE_TABLE_INTERNAL_H
#define GF_STORAGE_TABLE_INTERNAL_H

#include "storage/backend.h"

#include <pthread.h>
#include <stdatomic.h>

/** The table whose rows hold themselves (journal.h). */
typedef struct gf_row_holds {
    gf_table *table;         /* NULL: no table's do */
    unsigned owner, journal; /* families */
    uint32_t by_clock;   /* families that get the database's times (gf_database_leave_to_clock) */
    double patience;     /* seconds after which a hold of another, seen unchanged, has ended */
    uint64_t token;      /* tells this database from all others that are open anywhere */
    gf_slice by_time;    /* the row for tables with times (gf_database_hold_by_time); empty: none */
    gf_find_table *find; /* gf_database_find_by; NULL: by their numbers */
    void *find_context;
    unsigned last_fixed; /* tables up to this number have it in every process */
} gf_row_holds;

struct gf_database {
    gf_backend *backend;
    pthread_mutex_t lock; /* of the list of tables */
    gf_table *tables;
    gf_row_holds holds;
};

struct gf_table {
    gf_table *next;
    gf_database *db;
    unsigned number;
    /* As stored, kept by the backend; replaced by a longer one. */
    _Atomic(const gf_schema *) schema;
};

struct gf_snapshot {
    gf_database *db;
    const void *of_backend;
};

/** The backend's snapshot; NULL: the newest state. */
static inline const void *gf_snapshot_of_backend(const gf_snapshot *s)
{
    return s ? s->of_backend : NULL;
}

/** GF_EINVAL where key is no row key of the table; GF_ELIMIT where it is too long. */
gf_status gf_table_check_key(const gf_table *table, gf_slice key, gf_error *err);

/** GF_EINVAL where there is no such family. */
gf_status gf_table_check_family(const gf_table *table, unsigned family, gf_error *err);

/**
 * GF_EINVAL where there is no such family, or where the family is packed and the schema gives the
 * column to another one. *number is -1 or the number of the column that was checked before, which
 * this one is likely to follow; it becomes this one's.
 */
gf_status gf_table_check_column(const gf_table *table, unsigned family, gf_slice name, int *number,
                                gf_error *err);

/** The table that is open and has that number; NULL. */
gf_table *gf_database_table(gf_database *db, unsigned number);

/** The bits that stand for families of the table. */
uint32_t gf_table_families(const gf_table *table, uint32_t bits);

#endif
