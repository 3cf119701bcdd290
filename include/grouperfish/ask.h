/**
 * Operations asked for by their names: everything that the command, the socket and HTTP can do, by
 * the same table. docs/operations.md has each operation with its parameters, and the JSON of its
 * rows, which is the stable interface.
 *
 *     gf_argument arguments[] = {{GF_SLICE("collection"), GF_SLICE("feedback")}};
 *     gf_ask ask = GF_ASK(.arguments = arguments, .n_arguments = 1, .sink = {.emit = print_row});
 *     st = gf_ask_run(store, "clusters", &ask, &result, &err);
 */
#ifndef GF_GROUPERFISH_ASK_H
#define GF_GROUPERFISH_ASK_H

#include "grouperfish/cancel.h"
#include "grouperfish/export.h"
#include "grouperfish/slice.h"
#include "grouperfish/store.h"

GF_PUBLIC_BEGIN

/** An argument, both UTF-8. A flag is set by an empty value or "true"; a list may come in several. */
typedef struct gf_argument {
    gf_slice name, value;
} gf_argument;

/** How an operation that did not fail ended: what the exit code says. */
typedef enum gf_outcome {
    GF_OUTCOME_DONE,
    GF_OUTCOME_SOME_ABSENT,   /* something asked for was not there */
    GF_OUTCOME_SOME_REFUSED,  /* records were refused */
    GF_OUTCOME_DAMAGE_FOUND,  /* a check found faults */
    GF_OUTCOME_REBUILD_FAILED /* a collection could not be rebuilt */
} gf_outcome;

/** Something to be told beside the rows. */
typedef struct gf_notice {
    const char *reason; /* a stable key, such as "no_text" */
    gf_slice source;    /* where: a file, a collection; empty where it has no place */
    uint64_t line;      /* 0: none */
    const char *message;
    bool refused; /* a record, for this reason */
} gf_notice;

/**
 * A sink takes what an operation gives. emit is always there; of the rest, a NULL function is not
 * wanted. A sink may be handed on to another call as it is.
 */
typedef struct gf_sink {
    void *context; /* of all its functions */
    /* A row: one whole JSON object, borrowed until it returns. A failure ends the operation. */
    gf_status (*emit)(void *context, gf_slice row, gf_error *err);
    gf_status (*write)(void *context, gf_slice bytes, gf_error *err); /* a file beside the rows */
    void (*notice)(void *context, const gf_notice *notice);
    /* From any thread, also from several at once; total is 0 where it is not known. */
    void (*progress)(void *context, gf_slice what, const char *phase, uint64_t done,
                     uint64_t total);
    gf_status (*reject)(void *context, gf_slice record, gf_error *err); /* keeps refused records */
} gf_sink;

typedef struct gf_ask {
    unsigned version;             /* GF_ASK_VERSION: set by GF_ASK() */
    const gf_argument *arguments; /* n_arguments, in the order given */
    size_t n_arguments;
    gf_slice name_space; /* empty: "default" */
    gf_sink sink;
    /* Bytes that come with the call (records of put, ids of delete): up to n at `to`, n >= 1; *got
       is 0 only at their end. NULL: none come. */
    gf_status (*read)(void *context, char *to, size_t n, size_t *got, gf_error *err);
    void *context;       /* of read */
    gf_slice input_name; /* as messages shall call these bytes; its ending tells the format */
    const char *path;    /* the store's; of an operation on a store that is closed, what it opens */
    double wait_seconds; /* of such a one: how long to wait while another process holds it */
    const gf_cancel *cancel; /* may be NULL */
} gf_ask;

#define GF_ASK_VERSION 1
/** A call with these members, as in GF_ASK(.member = value), and all others 0. */
#define GF_ASK(...) ((gf_ask){.version = GF_ASK_VERSION, __VA_ARGS__})

typedef struct gf_ask_result {
    gf_outcome outcome;
    uint64_t taken; /* records of the input that are stored now, also where they were before */
} gf_ask_result;

/**
 * Run an operation. Arguments are checked before anything is done.
 *
 * @param store      open; NULL for what needs none (`version`), and for what works on a closed store
 *                   (`verify`, `restore`, `repair`), which is at ask->path
 * @param operation  its name as docs/operations.md has it, such as "clusters" or "config set"
 * @param result     may be NULL; unchanged where it fails
 * @return GF_OK; GF_EINVAL (no such operation, an unknown argument, a missing one, a bad value, a
 *         store where a closed one is asked for, or none where one is), GF_ENOTFOUND (a collection, a
 *         document, ...: the message names the nearest that is there); else what the operation gives.
 *         Rows that were emitted before a failure are whole.
 * Threads: as the store; the functions of the sink but `progress` are called by the caller's thread.
 */
gf_status gf_ask_run(gf_store *store, const char *operation, const gf_ask *ask,
                     gf_ask_result *result, gf_error *err);

/**
 * Visit all operations in the order of the table, each as a JSON object: name, meaning, `input`
 * ("none", "optional" or "required"), `store` ("open", "closed" or "none"), `changes` (whether it
 * changes anything), and `parameters`, an array with the name, the kind ("text", "number", "flag",
 * "list", ...), whether it is required, the value's form and the meaning of each.
 */
typedef gf_status gf_visit_operation(void *context, gf_slice json, gf_error *err);

gf_status gf_ask_operations(gf_visit_operation *visit, void *context, gf_error *err);

GF_PUBLIC_END

#endif
