/**
 * What of LevelDB its C interface does not give: settings for openings that do nothing but read,
 * and a close that waits for no compaction.
 */
#ifndef GF_STORAGE_LEVELDB_ENV_H
#define GF_STORAGE_LEVELDB_ENV_H

#include <leveldb/c.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The environment of one database: its files, and its work in the background. */
typedef struct gf_leveldb_env gf_leveldb_env;

typedef struct gf_leveldb_env_options {
    size_t buffer, file; /* sizes of write buffer and tables, as they were set: they show that the
                            settings lie where they are looked for */
    bool patient; /* compactions begin some time after the opening, or once something is written */
    bool clean;   /* the MANIFEST and the log that are there are written on */
} gf_leveldb_env_options;

/**
 * Give the database that is to be opened an environment of its own.
 * @return NULL where nothing was set: the struct is another one, or there is no memory. To be freed
 * once the database is closed.
 */
gf_leveldb_env *gf_leveldb_env_create(leveldb_options_t *options,
                                      const gf_leveldb_env_options *wanted);
void gf_leveldb_env_free(gf_leveldb_env *env);

/** Let the work begin: once much is written, or when the database is being closed. Cheap. */
void gf_leveldb_env_begin(gf_leveldb_env *env, bool closing);

/**
 * Have a table made of what is in the log, and wait for that, but for no compaction. Nobody else
 * may write meanwhile. Where it fails, the log stays as it is.
 */
void gf_leveldb_env_empty_log(gf_leveldb_env *env, leveldb_t *db);

/**
 * Where so many tables lie over each other, wait until LevelDB has done all that is due: else
 * processes that end soon would leave more and more tables, and what was deleted in them.
 */
void gf_leveldb_env_settle(gf_leveldb_env *env, leveldb_t *db, unsigned tables);

#ifdef __cplusplus
}
#endif

#endif
