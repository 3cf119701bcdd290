/**
 * A write in the making: changes on their way into one LevelDB batch. For the backend's own files.
 *
 *     changes -> ordered by row, family, cell -> one entry of each -> LevelDB batch
 *                apply.c                 history.c    entries.c
 *
 * Changes of different rows are independent; of those of one cell only the end counts. So each entry
 * is written once, and replaces the one in the database, whose rows are locked meanwhile.
 */
#ifndef GF_STORAGE_LEVELDB_WRITING_H
#define GF_STORAGE_LEVELDB_WRITING_H

#include "storage/leveldb/internal.h"
#include "storage/leveldb/value.h"
#include "storage/packed.h"

/* A change in its place: of a wide family's cells the qualifiers are in order, too. */
typedef struct gf_leveldb_ordered {
    const gf_change *change; /* in the caller's array: the lower address came first */
    bool by_qualifier;
} gf_leveldb_ordered;

/* Changes of a packed row's family, or of one cell of a wide one, in the order of their coming. */
typedef struct gf_leveldb_run {
    unsigned table, family;
    const gf_family *schema;
    gf_slice row, qualifier;
    const gf_leveldb_ordered *first, *end;
    bool emptied; /* this batch deletes all that the database has in the family */
} gf_leveldb_run;

/* A family in which this batch puts its first cut value. */
typedef struct gf_leveldb_cut_mark {
    unsigned table, family;
    struct gf_leveldb_cut_mark *next;
} gf_leveldb_cut_mark;

typedef struct gf_leveldb_writing {
    gf_leveldb *b;
    gf_leveldb_batch *batch;
    int64_t now;
    gf_leveldb_cut_mark *marks; /* in the arena, like the ordered changes */
    gf_arena arena;
    gf_arena run_arena; /* per run */
    gf_packed columns;  /* of the packed row at work; its memory is kept */
    gf_arena columns_arena;
    gf_row row; /* what was read for that */
    gf_buffer key, block_key, entry, value, packed, compressed;
} gf_leveldb_writing;

/* ---- entries.c: entries of the batch; the head key is in w->key ------------------------------ */

/** w->key becomes the key of the run's cell; of a version of it. */
gf_status gf_leveldb_entries_key(gf_leveldb_writing *w, const gf_leveldb_run *run, gf_error *err);
gf_status gf_leveldb_entries_version_key(gf_leveldb_writing *w, const gf_leveldb_run *run,
                                         int64_t timestamp, gf_error *err);
/** Put a value; delete what is there. */
gf_status gf_leveldb_entries_put(gf_leveldb_writing *w, const gf_leveldb_run *run, gf_slice value,
                                 int64_t timestamp, gf_error *err);
gf_status gf_leveldb_entries_put_stored(gf_leveldb_writing *w, const gf_leveldb_run *run,
                                        const gf_stored_value *v, gf_error *err);
gf_status gf_leveldb_entries_delete(gf_leveldb_writing *w, const gf_leveldb_run *run,
                                    gf_error *err);
/** Delete every entry whose key starts with w->key. */
gf_status gf_leveldb_entries_delete_prefix(gf_leveldb_writing *w, gf_error *err);

/** Apply the run to a family that keeps several versions. history.c */
gf_status gf_leveldb_history_apply(gf_leveldb_writing *w, const gf_leveldb_run *run, gf_error *err);

/** Turn all changes into entries of the batch. apply.c */
gf_status gf_leveldb_apply(gf_leveldb_writing *w, const gf_change *changes, size_t n,
                           gf_error *err);

#endif
