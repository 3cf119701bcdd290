/**
 * The wire: what goes over a store's socket, in frames.
 *
 *     length (u32, big-endian) | type (1 byte, + 0x80: the message goes on in the next frame) |
 * bytes
 *
 * A message is one frame, or several where it has more than GF_WIRE_FRAME bytes, none of them
 * empty. Both sides begin with HELLO, whose form stays as it is in all versions; all else is of one
 * version alone.
 *
 *     caller  HELLO CALL                      BYTES                        CANCEL?
 *     holder  HELLO      ACCEPTED WANT_BYTES        ROW NOTICE PROGRESS ...        RESULT
 *
 * The caller's input is fetched: each WANT_STREAM and WANT_BYTES has one answer, so that a call
 * reads its input as it would in the caller's own process, and neither side can be flooded.
 *
 * Threads: one may send and one receive at a time.
 */
#ifndef GF_SERVER_SOCKET_WIRE_H
#define GF_SERVER_SOCKET_WIRE_H

#include "api/operation.h"

#include <sys/types.h>

enum {
    GF_WIRE_VERSION = 1,
    GF_WIRE_FRAME = 64 << 10, /* most bytes in a frame */
    GF_WIRE_MOST_CALL = 8 << 20
};

typedef enum gf_wire_type {
    GF_WIRE_HELLO = 1, /* "GFSH", version (u32 BE); of the holder: who it is, such as "process 7" */

    /* from the caller */
    GF_WIRE_CALL = 2,   /* gf_wire_write_call */
    GF_WIRE_STREAM = 3, /* 1 where it was found in a folder, else 0; its name */
    GF_WIRE_BYTES = 4,  /* the stream's next; none: its end */
    GF_WIRE_END = 5,    /* there is no further stream */
    GF_WIRE_FAILED = 6, /* the input cannot be read: status, message */
    GF_WIRE_CANCEL = 7,

    /* from the holder */
    GF_WIRE_ACCEPTED = 16, /* the call begins */
    GF_WIRE_AGAIN = 17,    /* it does not: the holder is ending, or has just begun */
    GF_WIRE_LATER = 18,    /* it does not: the holder does not do this for others */
    GF_WIRE_ROW = 19,
    GF_WIRE_WRITTEN = 20,  /* bytes of the file beside the rows */
    GF_WIRE_REJECTED = 21, /* a record */
    GF_WIRE_NOTICE = 22,
    GF_WIRE_PROGRESS = 23,
    GF_WIRE_WANT_STREAM = 24,
    GF_WIRE_WANT_BYTES = 25, /* varint: at most so many */
    GF_WIRE_RESULT = 26
} gf_wire_type;

/* ---- frames ---------------------------------------------------------------------------------- */

/**
 * Asked whenever something was waited for, every tenth of a second at least, and after a signal.
 * @param idle  seconds since something moved
 * @return GF_OK to go on; anything else ends the sending or receiving, and is what that returns
 */
typedef gf_status gf_wire_tick(void *context, bool sending, double idle, gf_error *err);

/** Another way for the bytes than the descriptor itself; each as send(2) and recv(2), with errno.
 */
typedef struct gf_wire_transport {
    ssize_t (*send)(void *context, const char *bytes, size_t n);
    ssize_t (*receive)(void *context, char *to, size_t n);
} gf_wire_transport;

typedef struct gf_wire {
    int fd;                           /* the caller's; waited at */
    const gf_wire_transport *through; /* NULL: the descriptor itself */
    void *through_context;
    gf_wire_tick *tick;
    void *context;
    size_t most;   /* bytes of one received message; 0: no limit */
    gf_buffer out; /* not sent yet */
    char *in;      /* a frame; bytes in_at..in_end are received and not taken yet */
    size_t in_at, in_end;
    gf_buffer message; /* put together from several frames */
} gf_wire;

void gf_wire_init(gf_wire *wire, int fd, gf_wire_tick *tick, void *context);
void gf_wire_release(gf_wire *wire);

/**
 * Send a message, sooner or later: gf_wire_flush sends all.
 * @return GF_EIO where the other side has gone; GF_ENOMEM; what tick gives
 */
gf_status gf_wire_send(gf_wire *wire, gf_wire_type type, gf_slice bytes, gf_error *err);
gf_status gf_wire_flush(gf_wire *wire, gf_error *err);

/**
 * Receive a message; *bytes are borrowed until the next one is.
 * @return GF_EIO where the other side has gone; GF_EINVAL for what is no frame; GF_ELIMIT (most);
 *         GF_ENOMEM; what tick gives
 */
gf_status gf_wire_receive(gf_wire *wire, gf_wire_type *type, gf_slice *bytes, gf_error *err);

/** Whether something has come that was not received yet, or the end; does not wait. */
bool gf_wire_has_more(gf_wire *wire);

/* ---- messages (wire_messages.c) -------------------------------------------------------------- */

void gf_wire_write_hello(gf_buffer *b, const char *holder);
/** False for anything else than a hello; *holder may be empty. */
bool gf_wire_read_hello(gf_slice bytes, uint32_t *version, gf_slice *holder);

/** A call as it is sent. Slices are borrowed from the message, the arguments are gf_free'd. */
typedef struct gf_wire_call {
    gf_slice operation, name_space;
    gf_slice store_path;                         /* as the caller says it */
    bool input, notice, progress, write, reject; /* whether they are there */
    gf_argument *arguments;
    size_t n_arguments;
} gf_wire_call;

void gf_wire_write_call(gf_buffer *b, const gf_wire_call *call);
gf_status gf_wire_read_call(gf_slice bytes, gf_wire_call *call, gf_error *err);

void gf_wire_write_notice(gf_buffer *b, const gf_notice *notice);
/** `memory` is for the strings that must end in NUL; all lasts as long as it and the bytes. */
bool gf_wire_read_notice(gf_slice bytes, gf_buffer *memory, gf_notice *notice);

typedef struct gf_wire_progress {
    gf_slice what;
    const char *phase;
    uint64_t done, total;
} gf_wire_progress;

void gf_wire_write_progress(gf_buffer *b, const gf_wire_progress *progress);
bool gf_wire_read_progress(gf_slice bytes, gf_buffer *memory, gf_wire_progress *progress);

/** A status with its message: of a failed input, and how the call ended. */
typedef struct gf_wire_result {
    gf_status status;
    gf_outcome outcome;
    bool partly;
    gf_slice message;
} gf_wire_result;

void gf_wire_write_result(gf_buffer *b, const gf_wire_result *result);
bool gf_wire_read_result(gf_slice bytes, gf_wire_result *result);

#endif
