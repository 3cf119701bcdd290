/**
 * All that is sound in a folder of LevelDB's files, without LevelDB: it would change the folder,
 * take what could not be read for what is not there, and merge tables whose keys are damaged.
 *
 *     table   the entries of each block whose checksum is right; where the index of the blocks is
 *             lost, the blocks are found by their checksums, one behind the other
 *     log     the entries of each whole record; where a record is damaged it goes on at the next
 *     folder  of each key the entry with the highest sequence number, unless that is a deletion
 *
 * Of which files: those that the MANIFEST wants, all others being left over from before. Where it
 * is damaged, one of its files is missing, or a table that it does not name is newer than all that
 * it does: all tables and logs that are there.
 *
 * A log's records must be newer than all tables, and follow on each other. One that is not newer
 * holds what a table has already, or what was deleted since: it is left out, and told of.
 *
 * Whatever cannot be read for another reason than damage (GF_EIO, GF_ENOMEM) ends it.
 *
 * Formats: LevelDB's doc/table_format.md, doc/log_format.md, db/dbformat.h, db/write_batch.cc.
 */
#ifndef GF_STORAGE_SALVAGE_SALVAGE_H
#define GF_STORAGE_SALVAGE_SALVAGE_H

#include "grouperfish/buffer.h"
#include "storage/check/files.h"

/** A key's newest value, and the number of its writing; borrowed for the call. */
typedef gf_status gf_salvage_entry(void *context, gf_slice key, gf_slice value, uint64_t sequence,
                                   gf_error *err);

typedef struct gf_salvage_calls {
    gf_damage_report *damage; /* the first of a file */
    gf_damage_report *odd;    /* what is sound and yet cannot be right: old, missing, not named */
    gf_salvage_entry *entry;  /* by rising keys, each once */
    void *context;            /* of all three */
} gf_salvage_calls;

/**
 * Give all that is sound. The folder is only read; nobody may write to it meanwhile.
 * @return GF_OK, however little that was; GF_EIO, GF_ENOMEM, GF_ECANCELLED; what `entry` gives
 */
gf_status gf_salvage(const char *folder, const gf_salvage_calls *calls, const gf_cancel *cancel,
                     gf_error *err);

/* ---- one table ------------------------------------------------------------------------------- */

/** An entry as LevelDB has it inside: tag is the sequence number times 256, plus 1 of a value. */
typedef struct gf_salvage_item {
    gf_slice key, value;
    uint64_t tag;
} gf_salvage_item;

static inline uint64_t gf_salvage_sequence(uint64_t tag)
{
    return tag >> 8;
}

/** By key, then newest first. */
static inline int gf_salvage_compare(const gf_salvage_item *a, const gf_salvage_item *b)
{
    int order = gf_slice_compare(a->key, b->key);
    return order ? order : a->tag > b->tag ? -1 : a->tag < b->tag;
}

typedef struct gf_salvage_block {
    uint64_t offset, size;
} gf_salvage_block;

/** A walk over the sound entries of a table file. Start with {.fd = -1}. */
typedef struct gf_salvage_table {
    int fd;
    const char *name;         /* borrowed: the file's path, for messages */
    gf_salvage_block *blocks; /* n_blocks of capacity */
    size_t n_blocks, capacity, next;
    gf_buffer raw, plain; /* the block at hand, as it lies and decompressed */
    gf_slice entries;     /* of it, those behind the item */
    gf_buffer key;        /* of the item, with its tag */
    gf_buffer last;       /* likewise of the one before */
    gf_salvage_item item;
    char damage[96]; /* the first that was met; empty: none */
} gf_salvage_table;

/** Open a table. GF_EIO, GF_ENOMEM; a file that is no table at all has no entries, and a damage. */
gf_status gf_salvage_table_open(gf_salvage_table *table, const char *path, gf_error *err);
/** The next entry, in table->item until the next call; GF_ENOTFOUND at the end. */
gf_status gf_salvage_table_next(gf_salvage_table *table, gf_error *err);
void gf_salvage_table_close(gf_salvage_table *table);

/* ---- logs ------------------------------------------------------------------------------------ */

/** The entries of all logs. Start with {0}. */
typedef struct gf_salvage_logs {
    gf_salvage_item *items; /* n of capacity; sorted by gf_salvage_logs_sort */
    size_t n, capacity;
    gf_buffer *records; /* n_records of record_capacity: what the items borrow from, a log each */
    size_t n_records, record_capacity;
    uint64_t next;   /* sequence number that the next record must have; 0: not known */
    uint64_t oldest; /* records must be newer than this one */
    uint64_t newest; /* of the items */
} gf_salvage_logs;

/**
 * Add a log, by rising numbers of their files. The calls are told under that name of what is
 * damaged, and of what is left out.
 */
gf_status gf_salvage_logs_add(gf_salvage_logs *logs, const char *path, const char *name,
                              const gf_salvage_calls *calls, gf_error *err);
void gf_salvage_logs_sort(gf_salvage_logs *logs);
void gf_salvage_logs_release(gf_salvage_logs *logs);

#endif
