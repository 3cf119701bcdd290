/**
 * Settings of LevelDB that its C interface lacks: for openings that do nothing but read.
 */
#ifndef GF_STORAGE_LEVELDB_OPTIONS_H
#define GF_STORAGE_LEVELDB_OPTIONS_H

#include <leveldb/c.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Holds back the background work of one database. */
typedef struct gf_patience gf_patience;

/**
 * Set both: compactions begin some time after the opening, or once gf_patience_end tells that
 * something is written; and where `clean`, the MANIFEST and the log that are there are written on.
 *
 * @param buffer, file  sizes of write buffer and tables, as they were set: they show that the
 *                      settings lie where they are looked for; else nothing is set
 * @return NULL where nothing was set, or there is no memory. To be freed once the database is
 * closed.
 */
gf_patience *gf_leveldb_set_reading(leveldb_options_t *options, size_t buffer, size_t file,
                                    bool clean);

/** Let the work begin: at the first write, or when the database is being closed. Cheap. */
void gf_patience_end(gf_patience *patience, bool closing);
void gf_patience_free(gf_patience *patience);

#ifdef __cplusplus
}
#endif

#endif
