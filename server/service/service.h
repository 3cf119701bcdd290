/**
 * The service: one open store, and many callers at once.
 *
 * The process that holds the store runs the operations that others ask for, by any transport (the
 * store's socket, HTTP). A transport fills in a gf_call as the command does (all but the store,
 * which the service gives) and runs it here, on a thread of its own. Reads run side by side; what
 * is slow or must not overlap waits its turn here, not in the transports:
 *
 *     call -> accepted? -> rebuilds something? -> (in the order they came) one of n workers -> run
 *                                            `-> all else at once -------------------------> run
 *
 * After a write has failed (a full disk) the store takes no more until it is opened again. A
 * service that has it for itself does so, once there is room: it waits for a moment without calls,
 * and where none comes within five seconds it refuses new ones for two, every five seconds. Reads
 * go on in between.
 */
#ifndef GF_SERVER_SERVICE_SERVICE_H
#define GF_SERVER_SERVICE_SERVICE_H

#include "api/operation.h"

typedef struct gf_service gf_service;

typedef struct gf_service_options {
    const char *store_path;  /* kept by the caller */
    const char *purpose;     /* of the holder, such as "put": names it to those who are refused */
    bool rebuilds;           /* run others' rebuilds; else they are refused with GF_EBUSY */
    unsigned workers;        /* rebuilds at a time; 0: 1 */
    bool reopens;            /* a store that failed; nobody else but the service uses it */
    const gf_cancel *cancel; /* once requested, no call waits for a worker; may be NULL */
} gf_service_options;

/** Serve an open store, which stays the caller's and must outlive the service. */
gf_status gf_service_open(gf_store *store, const gf_service_options *options, gf_service **service,
                          gf_error *err);

/**
 * Borrow the store for something short that is no operation: until gf_service_give it is not opened
 * again. GF_EBUSY as for a call.
 */
gf_status gf_service_take(gf_service *service, gf_store **store, gf_error *err);
void gf_service_give(gf_service *service);

/** Why writes fail at present, in *err; GF_OK where they do not. */
gf_status gf_service_check(gf_service *service, gf_error *err);

/**
 * Run a call. The service is its holder; of the call's own, the path alone counts, where it is
 * not NULL. Sink and input are the transport's, called on this thread while it waits, or on one
 * that it waits for (progress: on any). The namespace's name is checked. A call that rebuilds waits until a worker is free and
 * tells so by progress ("waiting"); it runs at lower priority (nice 10) than all others.
 *
 * @return as gf_operation_run; GF_EBUSY once the service drains, or where rebuilds are not run
 *         here; GF_ECANCELLED where the call's own cancel, or the service's, ended the waiting
 */
gf_status gf_service_run(gf_service *service, const gf_operation *operation, gf_call *call,
                         gf_error *err);

/** Whether the call would wait for a worker: it rebuilds, purges, or clusters again. */
bool gf_service_rebuilds(const gf_operation *operation, const gf_argument *arguments,
                         size_t n_arguments);

/** The rebuilds that were run here, by how they ended, and how long they took without waiting. */
enum { GF_REBUILD_BUCKETS = 9 };
typedef struct gf_rebuild_counts {
    uint64_t done, failed, cancelled;
    uint64_t bucket[GF_REBUILD_BUCKETS]; /* by gf_rebuild_bounds; the last has no upper bound */
    double seconds;                      /* of all */
    int64_t done_ms;                     /* when the last good one ended; 0: none has */
} gf_rebuild_counts;

/** Seconds: the upper bounds of all buckets but the last. */
extern const double gf_rebuild_bounds[GF_REBUILD_BUCKETS - 1];

gf_rebuild_counts gf_service_count_rebuilds(gf_service *service);

/** Calls that run or wait, at this moment. */
size_t gf_service_running(gf_service *service);

/**
 * Accept no more, and wait until the calls that were accepted have ended. Any thread, any number of
 * times.
 */
void gf_service_drain(gf_service *service);

/** After draining; NULL is allowed. */
void gf_service_close(gf_service *service);

#endif
