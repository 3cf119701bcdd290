/**
 * The catalogue: the tables of the database, with their numbers and schemas.
 *
 * Threads: the catalogue's lock is held by each change of it; reading a schema needs none.
 */
#ifndef GF_STORAGE_LEVELDB_CATALOGUE_H
#define GF_STORAGE_LEVELDB_CATALOGUE_H

#include "storage/leveldb/internal.h"

/** Mark a new database as one of ours. */
gf_status gf_leveldb_catalogue_create(gf_leveldb *b, gf_error *err);
/** Read the whole catalogue. GF_ECORRUPT where the database is none of ours. */
gf_status gf_leveldb_catalogue_load(gf_leveldb *b, gf_error *err);

/** The operations open_table and schema_of of a backend. */
gf_status gf_leveldb_catalogue_open_table(gf_backend *b, const gf_schema *schema, unsigned *number,
                                          const gf_schema **stored, gf_error *err);
const gf_schema *gf_leveldb_catalogue_schema_of(gf_backend *b, unsigned number);

/** Store that family with other versions and time to live, and let all have it (synced). */
gf_status gf_leveldb_catalogue_set_family(gf_leveldb *b, unsigned table, unsigned family,
                                          const gf_family *fresh, gf_error *err);

/** Take the table, of which no entry is left, out of the catalogue (synced). */
gf_status gf_leveldb_catalogue_remove(gf_leveldb *b, unsigned table, gf_error *err);

/** True where the family has held a cut value. */
bool gf_leveldb_catalogue_is_cut(const gf_leveldb *b, unsigned table, unsigned family);

/** Mark it so: in the batch that puts the first one, and here once that is written. */
gf_status gf_leveldb_catalogue_put_cut(unsigned table, unsigned family, gf_leveldb_batch *batch,
                                       gf_error *err);
void gf_leveldb_catalogue_set_cut(gf_leveldb *b, unsigned table, unsigned family);

#endif
