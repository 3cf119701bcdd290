/**
 * Who changed what: one line of the log for each call that may change something.
 *
 *     ... info write operation=put namespace=default collection=feedback status=200
 *         address=192.0.2.7 token=importer seconds=0.2
 *     ... info write operation=delete namespace=default collection=feedback result=done uid=1000
 *         process=4711 seconds=0.1
 *
 * The line comes when the call has ended, also where it failed or was refused. Tokens are told by
 * their names, never themselves.
 */
#ifndef GF_SERVER_SERVICE_AUDIT_H
#define GF_SERVER_SERVICE_AUDIT_H

#include "api/operation.h"
#include "server/service/log.h"

typedef struct gf_audited_call {
    const char *operation;
    gf_slice name_space;
    const gf_argument *arguments; /* n_arguments: of these the collection, or table, is told */
    size_t n_arguments;
    unsigned status;     /* of HTTP; 0: there is none */
    const char *result;  /* "done", or what it failed with; NULL: the status says it */
    const char *address; /* over a network: of the caller; NULL: over the store's socket */
    const char *token;   /* its name; empty: none was needed */
    unsigned uid;        /* over the store's socket: the caller's, */
    long process;        /* and its id */
    double seconds;
} gf_audited_call;

void gf_audit_write(const gf_log *log, gf_log_level level, const gf_audited_call *call);

#endif
