/**
 * A connection to a gateway of HBase: frames are sent and received by a deadline.
 *
 * The socket never blocks: what waits is a poll that ends with the deadline. A peer that goes away
 * is an error, never a signal. For one thread at a time.
 */
#ifndef GF_STORAGE_HBASE_CONNECTION_H
#define GF_STORAGE_HBASE_CONNECTION_H

#include "grouperfish/buffer.h"

/** Bytes of a frame that is received, at most. */
enum { GF_HBASE_LARGEST_FRAME = 256 << 20 };

typedef struct gf_hbase_connection {
    int socket;
    double used;    /* when, by gf_clock_seconds */
    bool breakable; /* a signal whose handler returns ends the waiting (GF_ECANCELLED) */
    struct gf_hbase_connection *next;
} gf_hbase_connection;

/**
 * Connect to the first of the host's addresses that answers; of several each has its share of the
 * time. The name is looked up by the system, which has its own limits of time.
 * @param deadline  by gf_clock_seconds, as all here
 */
gf_status gf_hbase_connection_open(const char *host, const char *port, double deadline,
                                   gf_hbase_connection **connection, gf_error *err);
void gf_hbase_connection_close(gf_hbase_connection *c);

/** Nobody has closed it, and nothing lies in it that was not asked for. */
bool gf_hbase_connection_is_idle(const gf_hbase_connection *c);

/** Send all bytes; *sent tells how many, also on failure. GF_EIO. */
gf_status gf_hbase_connection_send(gf_hbase_connection *c, gf_slice bytes, double deadline,
                                   size_t *sent, gf_error *err);

/**
 * Receive a frame: what is behind its length, into an emptied buffer, which grows with what comes,
 * not with what the length says.
 * @return GF_OK; GF_EIO; GF_ECORRUPT (a length that is none), GF_ELIMIT (one that is too large),
 *         GF_ENOMEM
 */
gf_status gf_hbase_connection_receive(gf_hbase_connection *c, gf_buffer *frame, double deadline,
                                      gf_error *err);

#endif
