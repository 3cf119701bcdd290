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
#ifndef GF_SERVER_HTTP_INTERNAL_H
#define GF_SERVER_HTTP_INTERNAL_H

#include "base/arena.h"
#include "base/json_writer.h"
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
    bool quick;      /* answered on MHD's thread */
    unsigned status; /* of an answer that is no problem; 0: 200 */
    gf_body_kind body;
    const char *const *parameters; /* of our own routes: names the query may have, to NULL */
    const char *meaning;
} gf_route;

enum {
    GF_MOST_ARGUMENTS = 64,
    GF_MOST_HEADERS = 8192,
    GF_RING_BYTES = 256 << 10,
    GF_PIECE_BYTES = 16 << 10,
    GF_MOST_COLLECTED = 64 << 20
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
    const gf_operation *called; /* of GF_SCOPE_CALLED */
    double begun;
    gf_arena memory; /* of all that is decoded */
    gf_slice target; /* as it came: "/v1/collections/a%2Fb/clusters?limit=3" */
    gf_argument arguments[GF_MOST_ARGUMENTS]; /* n_arguments: of the path, then of the query */
    size_t n_arguments;
    gf_slice name_space;
    gf_slice if_none_match; /* a header; empty: none */
    const char *body_name;  /* "body.csv": what messages call it, and what tells its format */
    bool head, has_body, input_given, seen, lines_wanted, page_wanted;
    uint64_t body_length; /* UINT64_MAX: not told */

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
    bool has_reservation;             /* a guest's, which is kept until then */

    /* Rows on their way. */
    gf_shape shape;
    uint64_t n_rows, n_refused;
    bool too_long;     /* the first refused record is */
    gf_buffer refusal; /* of that, in words */
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

/* ---- route.c --------------------------------------------------------------------------------- */

/** The table of all routes: the operations', and our own. */
gf_status gf_routes_make(gf_http *http, gf_error *err);

void gf_routes_free(gf_http *http);

/** Set the handler of an operation's route: rebuilds are tasks, local operations are refused. */
void gf_route_adjust(gf_route *route);

/**
 * Find the route of method and target, and take the target's parts as arguments.
 * @return 0, or the HTTP status of what is wrong, with the reason in err
 */
unsigned gf_route_find(gf_request *r, const char *method, gf_error *err);

/** The value of our own route's parameter or path part; empty where it is not given. */
gf_slice gf_request_argument(const gf_request *r, const char *name);

#define GF_REFUSED_OVER_HTTP                                                                       \
    "this names files or a host that the server would reach: only the command does it"

/** Whether a rebuild by these arguments is answered at once; else it is a task. */
bool gf_rebuild_is_wanted_now(const gf_argument *arguments, size_t n);

/** Append s so that it can stand as one part of a path, or as a value of a query. */
void gf_percent_encode(gf_buffer *out, gf_slice s);

/* ---- listen.c -------------------------------------------------------------------------------- */

/**
 * Open a socket at the address that the options name, and note its own in *http.
 * @return GF_EINVAL (no address, or one that needs tokens and there are none), GF_EIO (taken)
 */
gf_status gf_http_listen(gf_http *http, int *listening, gf_error *err);

/* ---- callers.c: connections ------------------------------------------------------------------ */

enum { GF_CALLERS_RESERVED = 64 /* connections beyond the limit, to be told that it is reached */ };

/** So many at a time, and of one address; 0: 32 of one, and any number from loopback. */
gf_status gf_callers_create(unsigned most, unsigned most_of_one, struct gf_callers **callers,
                            gf_error *err);
void gf_callers_free(struct gf_callers *callers);

/** MHD's question whether to accept a connection, and its notice of one's begin and end. */
enum MHD_Result gf_callers_admit(void *callers, const struct sockaddr *from, socklen_t size);
void gf_callers_notice(void *callers, struct MHD_Connection *connection, void **socket_context,
                       enum MHD_ConnectionNotificationCode code);

/** 0, or 429 or 503 for a connection that is one too many. */
unsigned gf_callers_check(gf_request *r, gf_error *err);

/** The request's headers have come; its body is waited for or not. It has ended. */
void gf_callers_asked(gf_request *r, bool wants_body);
void gf_callers_ended(gf_request *r);

/** Forget a connection that speaks no HTTP any more: it is ended elsewhere. */
void gf_callers_left(gf_request *r);

/* ---- slow_reader.c: how quickly an answer is taken ------------------------------------------- */

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

/* ---- guard.c: who may come in ---------------------------------------------------------------- */

/** Checks before the route is known, and after it; 0, or the HTTP status, with the reason in err.
 */
unsigned gf_guard_early(gf_request *r, const char *method, gf_error *err);
unsigned gf_guard_route(gf_request *r, gf_error *err);

/* ---- answer.c -------------------------------------------------------------------------------- */

/** A whole answer; the bytes are copied. */
void gf_answer(gf_request *r, unsigned status, const char *content_type, gf_slice bytes);

/** A problem (RFC 9457). */
void gf_answer_problem(gf_request *r, unsigned status, const char *detail);

/** The same for what an operation failed with. */
void gf_answer_failure(gf_request *r, const gf_error *err);

unsigned gf_http_status_of(const gf_error *err);
const char *gf_http_reason(unsigned status);

/** Append bytes to an answer that may be of any length; waits where nobody takes them. */
gf_status gf_answer_piece(gf_request *r, gf_slice bytes, gf_error *err);

/** Let what was appended go out now. */
gf_status gf_answer_flush(gf_request *r, gf_error *err);

/** Hand the answer to MHD. */
enum MHD_Result gf_answer_queue(gf_request *r);

/** With the lock held: let MHD look again. */
void gf_request_wake(gf_request *r);

/* ---- body.c ---------------------------------------------------------------------------------- */

/** With the lock held: whether the client keeps us waiting for its body for too long. */
bool gf_body_is_slow(const gf_request *r, double now);

/** Take bytes of the body; *n is the number of those that are left. MHD_NO ends the connection. */
enum MHD_Result gf_body_take(gf_request *r, const char *bytes, size_t *n);

/** The body as an operation's input. */
gf_input gf_body_input(gf_request *r);

size_t gf_ring_write(gf_ring *ring, const char *bytes, size_t n);
size_t gf_ring_read(gf_ring *ring, char *to, size_t n);

/* ---- rows.c ---------------------------------------------------------------------------------- */

/** Runs the route's operation and answers with its rows. */
void gf_rows_run(gf_request *r);

/** Run an operation with the request's namespace, input and cancel, with an emit of one's own. */
gf_status gf_rows_call(gf_request *r, const gf_operation *operation, gf_call *call, gf_error *err);

/**
 * The server's limit of a document as an argument, where the operation has one and it is not given.
 * @param[out] argument  its name empty where none is needed; the value is the arena's
 * @return GF_EINVAL where the call's own is larger
 */
gf_status gf_rows_limit(const gf_http *http, const gf_operation *operation, const gf_call *call,
                        gf_arena *memory, gf_argument *argument, gf_error *err);

/* ---- upgrade.c ------------------------------------------------------------------------------- */

/** Take the operation that the path names, where there is such a one. */
void gf_upgrade_find(gf_request *r);

/** The answer that begins a conversation. */
struct MHD_Response *gf_upgrade_response(gf_request *r);

/* ---- etag.c ---------------------------------------------------------------------------------- */

/**
 * Give the answer its ETag, where what it says hangs on one collection; true where the request has
 * it already: the answer is then 304, and done.
 */
bool gf_etag_settles(gf_request *r);

/* ---- the other routes: each file has a table ------------------------------------------------- */

extern const gf_route gf_routes_of_old[], gf_routes_of_tasks[], gf_routes_of_health[],
    gf_routes_of_pages[], gf_routes_of_upgrade[];
extern const size_t gf_n_routes_of_old, gf_n_routes_of_tasks, gf_n_routes_of_health,
    gf_n_routes_of_pages, gf_n_routes_of_upgrade;

#endif
