/**
 * The keys of cells in LevelDB.
 *
 *     table (u16 BE) | family (u8) | row key | [qualifier] | [version] | [block]
 *
 *     qualifier  of a wide family, as a string part (grouperfish/key.h); a packed one has none
 *     version    where the family keeps several: 2^63 - 1 - timestamp (modulo 2^64), u64 BE, so
 *                that the newest comes first, also of times before 1970
 *     block      u32 BE, 1 and up: further blocks of a cut value; the head entry has none
 *
 * Families lie apart, the row key delimits itself, so every length is known from the schema. A
 * family that keeps one version has no version in its keys: a put then replaces without reading.
 * Table 0 is the catalogue (catalogue.c).
 */
#ifndef GF_STORAGE_LEVELDB_KEYS_H
#define GF_STORAGE_LEVELDB_KEYS_H

#include "grouperfish/table.h"

enum { GF_LEVELDB_FAMILY_PREFIX = 3 };

typedef struct gf_leveldb_key {
    gf_slice row;       /* all borrowed from the key */
    gf_slice qualifier; /* still encoded; empty for a packed family */
    gf_slice cell;      /* the whole key up to and without version and block */
    gf_slice head;      /* the whole key without block */
    uint64_t version;   /* inverted; 0 where the family keeps one */
    uint32_t block;     /* 0 for a head entry */
} gf_leveldb_key;

static inline bool gf_leveldb_keys_have_versions(const gf_family *family)
{
    return family->versions > 1;
}

/** Append table and family. */
void gf_leveldb_keys_family(gf_buffer *out, unsigned table, unsigned family);

/** Append the key of a cell without its version. The qualifier is used where the family is wide. */
void gf_leveldb_keys_cell(gf_buffer *out, const gf_schema *schema, unsigned table, unsigned family,
                          gf_slice row, gf_slice qualifier);

/** Append a timestamp as a version. */
void gf_leveldb_keys_version(gf_buffer *out, int64_t timestamp);

/** Take a key of a table apart; GF_ECORRUPT. */
gf_status gf_leveldb_keys_parse(const gf_schema *schema, gf_slice key, gf_leveldb_key *out,
                                gf_error *err);

#endif
