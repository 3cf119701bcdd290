/**
 * Reaching the store: by asking whoever holds it, or by holding it. A command that holds it for
 * longer than an instant answers others meanwhile.
 */
#ifndef GF_CLI_REACH_H
#define GF_CLI_REACH_H

#include "cli/rewind.h"
#include "server/remote/remote.h"
#include "server/socket/socket.h"

typedef struct gf_session gf_session;

/** What a session has of it; {0} to begin with. */
typedef struct gf_reach_state {
    gf_store *store; /* while it is held here */
    gf_service *service;
    gf_socket *socket;
    gf_input files;   /* of the command line */
    gf_rewind input;  /* of the call, where it has one: those, from the start */
    bool held;        /* another process took the store first: ask that one */
    gf_remote remote; /* where it has a URL, a server is asked, and no store is opened */
    gf_buffer token;
} gf_reach_state;

/** Take the options and the environment that say where a server is, and the token for it. */
gf_status gf_session_take_server(gf_session *s, gf_error *err);

/** Run the session's call; the status is the operation's, GF_EBUSY where the store stays held. */
gf_status gf_session_reach(gf_session *s, gf_error *err);

/** End what others asked for, and give the store back. */
void gf_session_leave(gf_session *s);

#endif
