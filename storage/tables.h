/**
 * The tables of the clustering engine: each with its row key and its families.
 *
 *     documents    (namespace, collection, id)
 *                  main
 *     clusters     (namespace, collection, configuration, timestamp, label)
 *                  main, documents, ranked
 *     collections  (namespace, collection)
 *                  main, progress, defaults, edits, witnesses, before, watches, leases
 *     builds       (namespace, collection, configuration, timestamp)
 *                  main, model, progress
 *     memberships  (namespace, collection, configuration, timestamp, document id)
 *                  main
 *     changes      (namespace, collection, seq)
 *                  main
 *     tables       (namespace, name)
 *                  main, progress, counter
 *
 * `progress` is there only while something is unfinished (a build under way, a deletion), so a walk
 * over that family alone finds all that a crash has left. What the key says (namespace, label, ...)
 * is not stored as a column again. Where collections hold themselves
 * (gf_database_hold_in_rows), there are the families hold and journal as well. `defaults` is of rows whose collection is empty: what a
 * namespace sets for all its collections. docs/tables.md describes every column.
 */
#ifndef GF_STORAGE_TABLES_H
#define GF_STORAGE_TABLES_H

#include "storage/run.h"

typedef struct gf_tables {
    gf_table *documents, *clusters, *collections, *builds, *memberships, *changes, *tables;
} gf_tables;

enum { GF_DOCUMENTS_MAIN };
enum { GF_CLUSTERS_MAIN, GF_CLUSTERS_DOCUMENTS, GF_CLUSTERS_RANKED };
enum {
    GF_COLLECTIONS_MAIN,
    GF_COLLECTIONS_PROGRESS,
    GF_COLLECTIONS_DEFAULTS,
    GF_COLLECTIONS_EDITS,
    GF_COLLECTIONS_WITNESSES,
    GF_COLLECTIONS_BEFORE,
    GF_COLLECTIONS_WATCHES,
    GF_COLLECTIONS_LEASES,
    GF_COLLECTIONS_HOLD, /* these two only where rows hold themselves */
    GF_COLLECTIONS_JOURNAL
};
enum { GF_BUILDS_MAIN, GF_BUILDS_MODEL, GF_BUILDS_PROGRESS };
enum { GF_MEMBERSHIPS_MAIN };
enum { GF_CHANGES_MAIN };
enum { GF_TABLES_MAIN, GF_TABLES_PROGRESS, GF_TABLES_COUNTER };

/** The row of collections that is held for batches of users' tables, where rows hold themselves. */
gf_slice gf_tables_batches_key(void);

/** Open all seven; those that the database lacks are made. */
gf_status gf_tables_open(gf_database *db, gf_tables *tables, gf_error *err);

/* Row keys, and starts of them; appended to key, failures stay there. */
void gf_tables_collection_key(gf_buffer *key, gf_slice name_space, gf_slice collection);
void gf_tables_document_key(gf_buffer *key, gf_slice name_space, gf_slice collection, gf_slice id);
void gf_tables_change_key(gf_buffer *key, gf_slice name_space, gf_slice collection, uint64_t seq);
/** The start of the keys of a configuration's builds. */
void gf_tables_configuration_key(gf_buffer *key, gf_slice name_space, gf_slice collection,
                                 gf_slice configuration);
/** A build's key; also the start of its clusters' and memberships' keys. */
void gf_tables_build_key(gf_buffer *key, gf_slice name_space, gf_slice collection,
                         gf_slice configuration, int64_t timestamp);
void gf_tables_cluster_key(gf_buffer *key, gf_slice build_key, gf_slice label);
void gf_tables_membership_key(gf_buffer *key, gf_slice build_key, gf_slice document_id);

/**
 * The last string part of a document's, cluster's or membership's row key, and the last number of a
 * build's or change's: appended to out, or put in *number. GF_ECORRUPT for other bytes.
 */
gf_status gf_tables_key_last_string(const gf_table *table, gf_slice key, gf_buffer *out,
                                    gf_error *err);
gf_status gf_tables_key_last_number(const gf_table *table, gf_slice key, uint64_t *number,
                                    gf_error *err);

/**
 * The same of a key whose parts before the last have `before` bytes, without taking those apart:
 * *out is borrowed from the key, or from memory where it has a zero byte.
 */
gf_status gf_tables_key_rest_string(const gf_table *table, gf_slice key, size_t before,
                                    gf_buffer *memory, gf_slice *out, gf_error *err);

/**
 * Qualifier of the ranked family: by falling score, then by document id; and back.
 *
 *     2^32 - 1 - the bits of the score as a float (u32 BE) | document id
 */
void gf_tables_rank_write(gf_buffer *out, float score, gf_slice document_id);
bool gf_tables_rank_read(gf_slice qualifier, float *score, gf_slice *document_id);

/** A document's place in a build, in the columns of memberships:main. */
typedef struct gf_membership_cells {
    uint32_t cluster;   /* id; 0: without terms, in no cluster */
    float score;        /* similarity to its centre */
    uint32_t runner_up; /* id; 0: none */
    float second;       /* similarity to that */
    gf_slice vector;    /* the document's vector, if kept; else empty */
    bool dated;         /* the document had a time */
    int32_t hour;       /* which was in this hour since 1970 */
} gf_membership_cells;

enum { GF_MEMBERSHIP_COLUMNS = 6 };

/** The columns of a membership as a build's blocks have them, and its values in this order. */
extern const gf_run_column gf_tables_membership_columns[GF_MEMBERSHIP_COLUMNS];
void gf_tables_membership_values(const gf_membership_cells *m,
                                 gf_run_value values[GF_MEMBERSHIP_COLUMNS]);

/** The column of clusters:documents (a score as text), and that of clusters:ranked (empty). */
extern const gf_run_column gf_tables_listed_column, gf_tables_ranked_column;
gf_run_value gf_tables_listed_value(float score);

gf_status gf_tables_membership_read(const gf_row *row, unsigned family, gf_membership_cells *m,
                                    gf_error *err);

#endif
