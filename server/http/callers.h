/**
 * Connections: how many there may be, and of one address; and who takes an answer too slowly.
 */
#ifndef GF_SERVER_HTTP_CALLERS_H
#define GF_SERVER_HTTP_CALLERS_H

#include "server/http/request.h"

enum { GF_CALLERS_RESERVED = 64 /* connections beyond the limit, to be told that it is reached */ };

/** So many at a time, and of one address; 0: 32 of one, and any number from loopback. */
gf_status gf_callers_create(unsigned most, unsigned most_of_one, struct gf_callers **callers,
                            gf_error *err);
void gf_callers_free(struct gf_callers *callers);

/** MHD's question whether to accept a connection, and its notice of one's begin and end. */
enum MHD_Result gf_callers_admit(void *callers, const struct sockaddr *from, socklen_t size);
void gf_callers_notice(void *callers, struct MHD_Connection *connection, void **socket_context,
                       enum MHD_ConnectionNotificationCode code);

/**
 * Let in nobody from now on. MHD_quiesce_daemon is not for that: it may end the program, where one of
 * MHD's threads looks at the listening socket at the same moment.
 */
void gf_callers_close(struct gf_callers *callers);

/** 0, or 429 or 503 for a connection that is one too many. */
unsigned gf_callers_check(gf_request *r, gf_error *err);

/** The request's headers have come; its body is waited for or not. It has ended. */
void gf_callers_asked(gf_request *r, bool wants_body);
void gf_callers_ended(gf_request *r);

/** Forget a connection that speaks no HTTP any more: it is ended elsewhere. */
void gf_callers_left(gf_request *r);

typedef struct gf_slow_reader {
    bool waits;     /* at the last look there was something to take */
    uint64_t taken; /* bytes, until then */
    double looked;  /* when that was */
    double owed;    /* seconds */
} gf_slow_reader;

/** Have the kernel keep little for a connection that does not take it. */
void gf_slow_reader_limit(int fd);

/** Look at one that is being answered; {0} begins. Whether it takes less than 1 KiB/s for long. */
bool gf_slow_reader_is_slow(gf_slow_reader *reader, int fd, double now);

#endif
