/**
 * What the files of a caller share: its side of a conversation.
 */
#ifndef GF_SERVER_SOCKET_CLIENT_INTERNAL_H
#define GF_SERVER_SOCKET_CLIENT_INTERNAL_H

#include "server/socket/internal.h"

typedef struct gf_client {
    const gf_operation *operation;
    gf_call *call;
    gf_wire wire;
    const char *server; /* what is called over a network; NULL: the store's own socket */
    char holder[GF_HOLDER_NAME];
    double answer_by; /* the holder's hello; 0: it came */
    bool begun;       /* the holder has accepted the call */
    bool used;        /* something came of it: a row, a notice, a byte that was read */
    bool cancelled;   /* the holder was told to stop */
    gf_error failed;  /* of a callback */
    bool emit_failed;
    bool in_stream;  /* one of the input was given, and no end of it since */
    uint64_t wanted; /* bytes of the input that the holder waits for; 0: none */
    gf_buffer message, text;
} gf_client;

/** Tell the holder to stop, once. */
void gf_client_tell_to_stop(gf_client *client);

/* ---- client_take.c --------------------------------------------------------------------------- */

/** Take a message of the holder's; *ended where it was the last: then the call's own status. */
gf_status gf_client_take(gf_client *client, gf_wire_type type, gf_slice bytes, bool *ended,
                         gf_asked *asked, gf_error *err);

/** Read the bytes of the input that are wanted, and send them. */
gf_status gf_client_answer_bytes(gf_client *client, gf_error *err);

/** The end where the holder was stopped, or killed, or the connection lost. */
gf_status gf_client_end_stopped(gf_client *client, gf_asked *asked, gf_error *err);

#endif
