/**
 * Tables as batches and scans need them. For storage/ itself.
 */
#ifndef GF_STORAGE_TABLE_INTERNAL_H
#define GF_STORAGE_TABLE_INTERNAL_H

#include "storage/backend.h"

const gf_database *gf_table_database(const gf_table *table);

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

/** The bits that stand for families of the table. */
uint32_t gf_table_families(const gf_table *table, uint32_t bits);

#endif
