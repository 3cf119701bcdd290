/* What the programs of the case studies begin with: a store, one table of it, keys of one part. */
#ifndef CASE_H
#define CASE_H

#include <grouperfish.h>
#include <stdio.h>
#include <stdlib.h>

static gf_error err;

/* End with what went wrong: exit code 1. */
static inline void must(gf_status status)
{
    if (status == GF_OK) return;
    fprintf(stderr, "%s\n", err.message);
    exit(1);
}

static inline void *enough(void *memory)
{
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

static inline gf_store *open_store(const char *path)
{
    gf_store *store;
    must(gf_store_open(path, &GF_STORE_OPTIONS(.wait_seconds = 10), &store, &err));
    return store;
}

static inline gf_user_table *open_table(gf_store *store, const char *name)
{
    gf_user_table *table;
    must(gf_user_table_open(store, GF_SLICE("default"), gf_slice_str(name), &table, &err));
    return table;
}

/* The bytes of a row key of one part, until the next call with that buffer. */
static inline gf_slice row_key(gf_user_table *table, gf_slice part, gf_buffer *key)
{
    gf_buffer_reset(key);
    must(gf_user_table_key_write(table, &part, 1, key, &err));
    return gf_buffer_view(key);
}

static inline unsigned family_of(gf_user_table *table, const char *name)
{
    unsigned family;
    must(gf_table_family(gf_user_table_rows(table), name, &family, &err));
    return family;
}

#endif
