/**
 * Schemas: checking, joining, storing, and taking row keys apart by them. For storage/ itself.
 */
#ifndef GF_STORAGE_SCHEMA_H
#define GF_STORAGE_SCHEMA_H

#include "base/arena.h"
#include "grouperfish/table.h"

enum { GF_MAX_PARTS = 8, GF_MAX_FAMILIES = 32, GF_MAX_COLUMNS = 120 };

/** GF_EINVAL in words where the schema is not one: counts, widths, a name used twice. */
gf_status gf_schema_check(const gf_schema *schema, gf_error *err);

/**
 * Are the families of one kind: are their names equal but for digits at the end? grobid0 and grobid1
 * are, and may have the same column names; grobid0 and match0 may not.
 */
bool gf_schema_same_stem(const gf_family *a, const gf_family *b);

/** The union of two schemas; borrows from both. */
typedef struct gf_joined_schema {
    gf_schema schema; /* its families are those below */
    gf_family families[GF_MAX_FAMILIES];
    bool is_more; /* than what was stored */
} gf_joined_schema;

/**
 * Join the schema that is stored with the one that a table is opened with: each may have families
 * and columns at the ends that the other lacks. GF_EINVAL says what else differs.
 */
gf_status gf_schema_join(const gf_schema *stored, const gf_schema *given, gf_joined_schema *joined,
                         gf_error *err);

/** The schema as bytes, and back: a deep copy in the arena. GF_ECORRUPT, GF_ENOMEM. */
void gf_schema_write(const gf_schema *schema, gf_buffer *out);
gf_status gf_schema_read(gf_slice bytes, gf_arena *arena, gf_schema *schema, gf_error *err);

/** Bytes of the row key that s starts with; 0 where s does not start with one. */
size_t gf_schema_row_length(const gf_schema *schema, gf_slice s);

/**
 * Number of a known column of a family, or -1. `hint` is tried first: 0, or one more than the
 * number of a column that the family has.
 */
int gf_schema_column(const gf_family *family, gf_slice name, int hint);

#endif
