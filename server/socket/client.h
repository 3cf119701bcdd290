/**
 * Asking whoever holds a store: the caller's side of the store's socket (server/socket/socket.h).
 */
#ifndef GF_SERVER_SOCKET_CLIENT_H
#define GF_SERVER_SOCKET_CLIENT_H

#include "api/operation.h"

typedef enum gf_asked {
    GF_CLIENT_ASKED,  /* it ran: status, outcome and rows are the operation's */
    GF_CLIENT_NOBODY, /* nobody answers there: the store can be opened */
    GF_CLIENT_AGAIN, /* the holder is ending or has just begun, or went before it did anything: try again
                */
    GF_CLIENT_LATER /* the holder does not do this for others: wait until it has ended */
} gf_asked;

/**
 * Have a call run by the process that holds the store, where one answers. All that the call has is
 * used as gf_operation_run does, on this thread, but for the holder; and arguments that
 * are paths are made absolute. Once a callback has failed, or call->cancel is requested,
 * the holder is told to stop, and its answer awaited.
 *
 * It takes a few microseconds where nobody answers.
 *
 * @param[out] asked  unless GF_CLIENT_ASKED nothing was done, nothing emitted and no input was read, and
 *                    the message says who is in the way (GF_CLIENT_AGAIN, GF_CLIENT_LATER: GF_EBUSY)
 * @param wait  seconds until the holder must have answered at all; at least one
 * @return the operation's status; GF_EBUSY where the holder does not answer, or is of another
 *         version; GF_EIO where it ended in the middle
 */
gf_status gf_client_run(const char *store_path, double wait, const gf_operation *operation,
                        gf_call *call, gf_asked *asked, gf_error *err);

#endif
