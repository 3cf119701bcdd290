/**
 * Applications: operations over tables of their own, which the program registers as it starts.
 *
 * A gf_app has everything that api must know of an application: its operations, the records that
 * `put --from NAME` takes from its tables, and how these tables are checked and counted. api never
 * includes an application's headers.
 *
 * Threads: all are registered before the first call.
 */
#ifndef GF_API_APP_H
#define GF_API_APP_H

#include "api/operation.h"
#include "formats/reader.h"
#include "storage/description.h"

enum { GF_MOST_APPS = 8 };

typedef gf_status gf_visit_record(void *context, const gf_record *record, gf_error *err);

/** A check of the tables of applications under way. */
typedef struct gf_app_check {
    gf_store *store;
    const gf_cancel *cancel;
    gf_visit_fault *visit; /* told of faults; NULL: count, and check nothing */
    void *context;         /* of visit */
    uint64_t faults;
    uint64_t counted; /* the application's things, such as tweets */
    bool uncounted;   /* they are too many to count, as papers in HBase */
} gf_app_check;

/** A repair of the tables of applications under way. */
typedef struct gf_app_repair {
    gf_store *store;
    const gf_cancel *cancel;
    gf_visit_fault *visit; /* told of all that is dropped or made anew */
    void *context;         /* of visit */
    uint64_t rows;         /* that cannot be read or are in parts, and go */
    uint64_t remade;       /* tables, or parts of rows, made anew of what they derive from */
} gf_app_repair;

typedef struct gf_app {
    const char *name; /* "tweets": also of its source of records, and of its count in `status` */
    gf_operation_group operations;

    /* Visit what the namespace has as records of put; NULL: it has none. */
    gf_status (*records)(const gf_call *call, gf_visit_record *visit, void *context, gf_error *err);
    bool filters; /* its records take the argument "where" */

    bool uncounted; /* `status` does not count its things */

    /* Whether a table of the store is the application's, and has to be checked. NULL: none is. */
    bool (*has_table)(const char *table);
    /* Count what is in a table, add to check->counted; and check it where check->visit is there. */
    gf_status (*check)(gf_app_check *check, const char *table, gf_error *err);
    /* After damage: make what the table derives anew, and drop what cannot be right; NULL: no need. */
    gf_status (*repair)(gf_app_repair *repair, const char *table, gf_error *err);

    /* Open its tables in a store that does not list them (HBase), those that are there and can be
     * copied; of what a copy that was cut short has left, all. NULL: it has none there. */
    gf_status (*open_tables)(gf_store *store, bool cut_short, gf_error *err);

    /* Its tables, as `table list --system` and its siblings show them. */
    const gf_table_description *tables; /* n_tables */
    size_t n_tables;
} gf_app;

/** Add an application, which lasts as long as the program. */
void gf_app_register(const gf_app *app);

/** In the order of registration; NULL past the last. */
const gf_app *gf_app_at(size_t i);
const gf_app *gf_app_find(gf_slice name);

/** Count of an application's things in a store, in all namespaces. */
typedef struct gf_app_count {
    bool any; /* the store has its tables */
    uint64_t n;
} gf_app_count;

/**
 * Check the tables of all applications, and count. Tables that the store lacks are not made.
 * @param counts  [GF_MOST_APPS], in the order of registration
 * Cost: with `visit` everything is read once, tweets with faults thrice; else a seek for each paper.
 */
gf_status gf_apps_check(gf_app_check *check, gf_app_count *counts, gf_error *err);

/** Repair the tables of all applications; those that the store lacks are not made. */
gf_status gf_apps_repair(gf_app_repair *repair, gf_error *err);

/** Open those of all applications (gf_copy_options.open_more). */
gf_status gf_apps_open_tables(gf_store *store, bool cut_short, gf_error *err);

/* ---- for an application's check -------------------------------------------------------------- */

/** Tell of a fault. */
gf_status gf_app_fault(gf_app_check *check, const char *where, gf_error *err, const char *format,
                       ...) GF_PRINTF(4, 5);

/** A failed read: damage is a fault that is told, and no failure; anything else is. */
gf_status gf_app_handle(gf_app_check *check, gf_status st, const char *where, gf_error *err);

#endif
