/**
 * Calls of an HBase over its Thrift2 gateway: connections, deadlines, what an answer says.
 *
 * A call has until its deadline, whatever it waits for: connecting, sending, the answer. Connections
 * are kept and used again; one that the gateway has closed meanwhile (it does after a minute) is
 * noticed before anything is sent on it. A call that failed
 *
 *     before the whole of it was sent       cannot have been carried out: once more, by a new connection
 *     later, and it only reads              once more, likewise
 *     later, and it writes                  GF_EUNKNOWN: whether it was carried out is not known, also
 *                                           where a second try cannot even be sent
 *
 * Threads: several may call at once, each by a connection of its own.
 */
#ifndef GF_STORAGE_HBASE_CLIENT_H
#define GF_STORAGE_HBASE_CLIENT_H

#include "storage/hbase/thrift.h"

typedef struct gf_hbase_client gf_hbase_client;

typedef struct gf_hbase_address {
    char host[256]; /* a name, or an IPv4 or IPv6 address */
    char port[8];
    char name_space[256]; /* of HBase; "default" where the URL names none */
} gf_hbase_address;

/** True for a URL hbase://...; what is no URL is a folder. */
bool gf_hbase_is_url(const char *url);
/** hbase://HOST[:PORT][/NAMESPACE]; 9090 without a port; an IPv6 address in brackets. GF_EINVAL. */
gf_status gf_hbase_address_read(const char *url, gf_hbase_address *address, gf_error *err);

/** Without connecting. The milliseconds are what each call has. */
gf_status gf_hbase_client_create(const gf_hbase_address *address, unsigned milliseconds,
                                 gf_hbase_client **client, gf_error *err);
void gf_hbase_client_free(gf_hbase_client *client);

/** Calls of this thread have no more than so many seconds from now on, by whatever client. */
void gf_hbase_client_limit(double seconds);

typedef enum gf_hbase_effect {
    GF_HBASE_READS,
    GF_HBASE_READS_ONCE, /* what a lost answer had is not given again: it is not called again */
    GF_HBASE_WRITES,
    GF_HBASE_WRITES_AGAIN /* written twice is as written once: it is called again like one that reads */
} gf_hbase_effect;

/** A call: its request is written by the caller, its answer read by the caller. Start with {0}. */
typedef struct gf_hbase_call {
    const char *method;
    gf_buffer request;
    gf_buffer answer;
    gf_thrift_reader result; /* at the value of the field `success`; borrowed from answer */
    bool has_result;         /* false: there was none, as of calls that return nothing */
} gf_hbase_call;

/** Begin the request: fields of arguments come next. The method's name is borrowed. */
void gf_hbase_call_begin(gf_hbase_call *call, const char *method);
void gf_hbase_call_release(gf_hbase_call *call);

/**
 * Make the call. The answer is read up to its result, which is of that type (GF_THRIFT_STOP: the
 * call returns nothing).
 *
 * @return GF_OK; GF_EINVAL (HBase does not accept it; its words are the message's), GF_ELIMIT (an
 *         answer that is too large), GF_EIO (not carried out), GF_EUNKNOWN (of one that writes:
 *         perhaps carried out), GF_ECANCELLED (of one that reads: a signal came), GF_ENOMEM
 */
gf_status gf_hbase_call_run(gf_hbase_client *client, gf_hbase_call *call, gf_thrift_type result,
                            gf_hbase_effect effect, gf_error *err);

/**
 * Read the message of an answer, which has no length of a frame before it, up to its result.
 * @return GF_OK; GF_EINVAL, GF_EIO (HBase says so: it cannot be, it cannot be now), GF_ECORRUPT (not
 *         an answer to that call)
 */
gf_status gf_hbase_answer_read(gf_slice message, const char *method, uint32_t number,
                               gf_thrift_type result, gf_thrift_reader *at, bool *has_result,
                               gf_error *err);

#endif
