/**
 * Copies of stores through their tables: between any two backends.
 *
 *     mark     engine/store/copy_mark.h: no store is opened that has it
 *     tables   made as the source has them; nothing else was written where one cannot be
 *     rows     table by table, from one state where the source has such
 *     no mark  synced: the copy is whole
 */
#ifndef GF_ENGINE_COPY_COPY_INTERNAL_H
#define GF_ENGINE_COPY_COPY_INTERNAL_H

#include "engine/store/copy_mark.h"
#include "engine/store/store_internal.h"

/** The namespace whose rows a database has whose tables others know. */
#define GF_COPY_NAME_SPACE "default"

/** A table that is copied, and what it is called where progress is told. */
typedef struct gf_copy_table {
    gf_table *from, *to;
    gf_slice name;                 /* as users know it */
    gf_slice from_start, to_start; /* of keys, as gf_table_copying has them */
    uint32_t families;             /* that are copied */
    bool own;                      /* the engine's own: its cells have no times */
    bool of_application;
    uint64_t of; /* its entries, as far as they are known; else 0 */
} gf_copy_table;

typedef struct gf_copy_plan {
    gf_store *from;
    gf_database *to;
    gf_tables tables; /* of `to` */
    const gf_snapshot *snapshot;
    gf_copy_table *list; /* n of capacity */
    size_t n, capacity;
    uint64_t users;     /* tables of users among them */
    gf_copy_mark *mark; /* renewed while tables are made */
    gf_arena memory;
} gf_copy_plan;

/** Told of a table that an application has in a store. */
typedef gf_status gf_visit_copied_table(void *context, gf_table *table, gf_error *err);

/* ---- plan.c ---------------------------------------------------------------------------------- */

/** Visit the tables that applications have in a store, those that are open where it lists no others. */
gf_status gf_copy_plan_visit_applications(gf_store *store, gf_visit_copied_table *visit,
                                          void *context, gf_error *err);

/** Whether that is the name of a schema of the engine's. */
bool gf_copy_plan_is_own(const gf_tables *tables, gf_slice name);

/** Refuse, in words, what `to` cannot keep; nothing is written. GF_EINVAL. */
gf_status gf_copy_plan_check(gf_copy_plan *plan, gf_error *err);

/** Make the tables in `to`, the rows of the table of tables among them, and list them. */
gf_status gf_copy_plan_make(gf_copy_plan *plan, gf_error *err);

void gf_copy_plan_release(gf_copy_plan *plan);

/* ---- rows.c ---------------------------------------------------------------------------------- */

/** Work of one copy. Its mark is made before (gf_copy_mark_make), and released after, by who copies. */
typedef struct gf_copy_work {
    gf_store *from;
    const gf_copy_options *options;
    gf_copied *copied;
    gf_copy_mark mark;
} gf_copy_work;

/**
 * Copy all of a store into a database that has nothing. What was written when it fails stays, marked.
 * GF_EBUSY: another process copies to the same place, or this store has no one state and was changed.
 */
gf_status gf_store_copy_into(gf_copy_work *work, gf_database *to, gf_error *err);

/* ---- folder.c, hbase.c ----------------------------------------------------------------------- */

/** Copy into a folder that is not there. GF_EEXISTS; GF_EBUSY where somebody else is making it. */
gf_status gf_copy_to_folder(gf_copy_work *work, const char *to, gf_error *err);

/** Copy into the namespace of a URL. GF_EEXISTS where it has tables; GF_EBUSY as above. */
gf_status gf_copy_to_hbase(gf_copy_work *work, const char *to, gf_error *err);

#endif
