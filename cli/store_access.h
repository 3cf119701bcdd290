/**
 * Access of a command to its store. It asks the process that holds the store, or a server, or
 * holds the store itself; a command that holds it for longer than an instant answers others
 * meanwhile. One thread uses it; what it answers to others runs on threads of the service.
 */
#ifndef GF_CLI_STORE_ACCESS_H
#define GF_CLI_STORE_ACCESS_H

#include "cli/rewind.h"
#include "formats/bytes/files.h"
#include "server/remote/remote.h"
#include "server/socket/socket.h"

typedef struct gf_store_access {
    /* Set by the owner before it runs a call. */
    const char *store_path;
    const char *command; /* its name: in messages, and why the store is held */
    const char *maker;   /* the command that makes such a store, for a message */
    double wait_seconds;
    bool wait_given;    /* else rebuilds wait for as long as the holder lives */
    bool small_buffers; /* of the storage */
    bool read_only;     /* the store's folder is not changed */
    bool answers;       /* others are answered while the store is held here */
    bool purges;        /* the store is opened once more at the end */
    bool announces;     /* print that a store was made */
    bool quiet;         /* print nothing else */
    const gf_cancel *cancel;
    gf_input from;    /* the call's input; next NULL: the call has one itself, or none */
    FILE *out;        /* flushed before waiting for input */
    gf_remote remote; /* where it has a URL, a server is asked, and no store is opened */

    /* Set by the owner once a row or a notice came: the call cannot begin again. */
    bool told;

    const gf_operation *operation;
    gf_store *store; /* while it is held here */
    gf_service *service;
    gf_socket *socket;
    gf_rewind input;
    bool held; /* another process took the store first: ask that one */
} gf_store_access;

/**
 * Run the call, which gets the store from here; the status is the operation's, GF_EBUSY where the
 * store stays held.
 */
gf_status gf_store_access_run(gf_store_access *access, const gf_operation *operation, gf_call *call,
                              gf_error *err);

/** Finish the calls of others, and give the store back. */
void gf_store_access_close(gf_store_access *access);

#endif
