/**
 * Schemas: checking, copying, storing, and taking row keys apart by them. For storage/ itself.
 */
#ifndef GF_STORAGE_SCHEMA_H
#define GF_STORAGE_SCHEMA_H

#include "base/arena.h"
#include "storage/table.h"

enum { GF_MAX_PARTS = 8, GF_MAX_FAMILIES = 32, GF_MAX_COLUMNS = 120 };

/** GF_EINVAL in words where the schema is not one: counts, widths, a name used twice. */
gf_status gf_schema_check(const gf_schema *schema, gf_error *err);

/** A deep copy in the arena. */
gf_status gf_schema_copy(const gf_schema *from, gf_arena *arena, gf_schema *to, gf_error *err);

/**
 * Whether `now` is `before` with nothing changed but further families, and further columns, at the
 * ends; GF_EINVAL says what differs.
 */
gf_status gf_schema_extends(const gf_schema *before, const gf_schema *now, gf_error *err);

/** The schema as bytes, and back (into the arena; GF_ECORRUPT). */
void gf_schema_write(const gf_schema *schema, gf_buffer *out);
gf_status gf_schema_read(gf_slice bytes, gf_arena *arena, gf_schema *schema, gf_error *err);

/** Bytes of the row key that s starts with; 0 where s does not start with one. */
size_t gf_schema_row_length(const gf_schema *schema, gf_slice s);

/** Number of a known column of a family, or -1. */
int gf_schema_column(const gf_family *family, gf_slice name);

#endif
