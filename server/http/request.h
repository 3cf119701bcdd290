/**
 * A request on its way, and what answers it.
 *
 * A request belongs to two threads at most: the one of libmicrohttpd that carries its bytes, and a
 * worker that runs the operation. Between them are two bounded rings, a lock and a condition:
 *
 *     socket -> MHD thread -> body ring  -> worker (reads the operation's input)
 *     socket <- MHD thread <- answer ring <- worker (emits rows)
 *
 * A full or empty ring makes the worker wait, and suspends MHD's connection, which the worker
 * resumes. What answers fits in memory is answered whole, with its length.
 */
#ifndef GF_SERVER_HTTP_REQUEST_H
#define GF_SERVER_HTTP_REQUEST_H

#include "api/arguments.h"
#include "base/arena.h"
#include "base/json/writer.h"
#include "server/http/http.h"
#include "server/http/metrics.h"
#include "server/http/microhttpd.h"
#include "server/service/workers.h"

#include <netinet/in.h>
#include <pthread.h>

typedef struct gf_request gf_request;

/** Who may use a route. */
typedef enum gf_scope {
    GF_SCOPE_OPEN,      /* anybody */
    GF_SCOPE_NAMESPACE, /* whoever has a right in the request's namespace */
    GF_SCOPE_STORE,     /* whoever has a right in all of them */
    GF_SCOPE_CALLED     /* as the operation that the path names, r->called; else as the store */
} gf_scope;

/** A route's use of a request's body. */
typedef enum gf_body_kind {
    GF_BODY_STREAM,  /* read as it comes */
    GF_BODY_COLLECT, /* there as a whole before the route runs, up to GF_MOST_COLLECTED */
    GF_BODY_NONE     /* none is expected; one that comes is passed over */
} gf_body_kind;

typedef struct gf_route {
    const char *name, *method, *path;
    const gf_operation *operation; /* NULL: a route of our own */
    void (*run)(gf_request *request);
    gf_scope scope;
    bool writes;
    bool quick;      /* it reads no store: answered on MHD's thread, whose connections wait */
    unsigned status; /* of an answer that is no problem; 0: 200 */
    gf_body_kind body;
    const char *flag;              /* of the operation: as if it were given; NULL: none */
    const char *const *parameters; /* of our own routes: names the query may have, to NULL */
    const char *meaning;
    const char *row; /* of our own routes: what a row of the answer is called; NULL: no rows */
    const gf_row_member *members;
    const char *type; /* of our own routes without rows: of the answer */
    bool single;      /* the answer is one row, and not an array of them */
} gf_route;

enum {
    GF_MOST_ARGUMENTS = 4096, /* names and values: a list may have thousands */
    GF_MOST_HEADERS = 8192,
    GF_RING_BYTES = 256 << 10,
    GF_PIECE_BYTES = 16 << 10,
    GF_MOST_COLLECTED = 64 << 20,
    GF_MOST_PARAMETERS = 1 << 20 /* bytes of a body that has parameters */
};

typedef struct gf_ring {
    char *bytes; /* size; allocated when first used */
    size_t size, start, used;
} gf_ring;

/* A page of ours stands alone: its style is in it. */
#define GF_PAGE_POLICY                                                                             \
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
#define GF_STRICT_POLICY "default-src 'none'; frame-ancestors 'none'"

/** How rows become an answer. */
typedef enum gf_shape { GF_SHAPE_OBJECT, GF_SHAPE_ARRAY, GF_SHAPE_LINES, GF_SHAPE_FILE } gf_shape;

struct gf_request {
    gf_http *http;
    gf_request *next, *before; /* of those under way */
    struct MHD_Connection *connection;
    const gf_route *route;
    const gf_operation *called;                           /* of GF_SCOPE_CALLED */
    char address[INET6_ADDRSTRLEN], token[GF_TOKEN_NAME]; /* the caller's; the token's name */
    double begun;
    gf_arena memory;        /* of all that is decoded */
    gf_slice target;        /* as it came: "/v1/collections/a%2Fb/clusters?limit=3" */
    const char *target_at;  /* in MHD's buffer, until the headers have been looked at */
    gf_argument *arguments; /* n_arguments of room: of the path, then of the query */
    size_t n_arguments, room;
    gf_slice name_space;
    gf_slice if_none_match; /* a header; empty: none */
    const char *body_name;  /* "body.csv": what messages call it, and what tells its format */
    bool head, has_body, input_given, seen, lines_wanted, page_wanted;
    bool type_given, json_given; /* the body has a type, and that is JSON */
    bool parameters_taken;       /* the body had parameters, and is no input */
    uint64_t body_length;        /* UINT64_MAX: not told */

    /* Guarded by the lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int references;
    gf_ring body, outgoing;
    bool body_ended;  /* all of it came */
    bool started;     /* the route runs, or has run */
    bool ready;       /* the answer can begin */
    bool finished;    /* nothing more is added to it */
    bool broken;      /* and it is not whole */
    bool suspended;   /* MHD's connection is */
    bool passed_over; /* the route has ended: what still comes of the body is nobody's */
    bool gone;        /* MHD's side has ended */
    int upgraded_fd;  /* the socket, once it speaks no HTTP any more; -1 */
    gf_cancel cancel;

    unsigned told; /* status that MHD's thread has answered with; 0: the connection ended before */

    /* The body: what a route that collects it has, and how slowly it comes. */
    gf_buffer collected;
    uint64_t body_bytes;
    double asked, waited; /* when more was asked for; seconds that were waited before that */

    /* The answer: the route's until `ready`, then MHD's thread's. */
    unsigned status;
    const char *content_type, *allow, *policy; /* policy: NULL is the strict one */
    gf_buffer answer;                          /* whole, unless the ring was used */
    gf_slice location, link;                   /* headers; empty: none */
    char etag[64];
    unsigned retry_after;
    FILE *spool;                      /* the answer, where it came before the body's end */
    bool streams, close_after, whole; /* whole: held in memory to its end */
    bool upgrades;                    /* the answer is the beginning of a conversation */
    bool has_reservation;             /* a remote caller's, which is kept until then */

    /* Rows on their way. */
    gf_shape shape;
    uint64_t n_rows, n_refused;
    size_t row_from, row_to; /* the last one in `answer`, while it is there */
    bool too_long;           /* the first refused record is */
    gf_buffer refusal;       /* of that, in words */
};

struct gf_http {
    gf_http_options options;
    struct MHD_Daemon *daemon;
    gf_workers *workers;
    gf_metrics metrics;
    char address[80];
    bool loopback, six; /* its address is; of IPv6 */
    gf_route *routes;   /* n_routes */
    size_t n_routes;
    struct gf_callers *callers;
    gf_cancel stopping;
    pthread_mutex_t lock; /* of the list of requests under way */
    gf_request *active;
    int64_t started_ms;
};

/** The value of our own route's parameter or path part; empty where it is not given. */
gf_slice gf_route_argument(const gf_request *r, const char *name);

/** The request's arguments, to be added to; gf_request_keep_arguments has to follow. */
gf_arguments gf_request_arguments(gf_request *r, const gf_operation *operation);
void gf_request_keep_arguments(gf_request *r, const gf_arguments *arguments);

/** With the lock held: let MHD look again. */
void gf_request_wake(gf_request *r);

#endif
