/**
 * Shared by the files of the socket: its address, and the calls that run.
 */
#ifndef GF_SERVER_SOCKET_INTERNAL_H
#define GF_SERVER_SOCKET_INTERNAL_H

#include "server/socket/client.h"
#include "server/socket/socket.h"
#include "server/socket/wire.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

/* ---- address.c ------------------------------------------------------------------------------- */

/**
 * The address of a store's socket. Addresses end at 107 bytes: for a longer path *folder is a
 * descriptor of the store's folder that the address goes through, to be closed when it was used;
 * else it is -1.
 * @return GF_ENOTFOUND where there is no such folder
 */
gf_status gf_socket_address(const char *store_path, struct sockaddr_un *address, int *folder,
                            gf_error *err);

/* ---- client.c -------------------------------------------------------------------------------- */

/** A connection to a holder that is elsewhere. */
typedef struct gf_client_line {
    int fd;
    const gf_wire_transport *through;
    void *context;
    const char *server; /* its URL: what messages call it, and the store is called by it */
} gf_client_line;

/** As gf_client_run, over a connection that is there; never GF_CLIENT_NOBODY. */
gf_status gf_client_talk(const gf_client_line *line, double wait, const gf_operation *operation,
                         gf_call *call, gf_asked *asked, gf_error *err);

/** "process 7 (grouperfish put)", of whom the kernel says that it is on the other side. */
enum { GF_HOLDER_NAME = 128 };

/* ---- socket.c -------------------------------------------------------------------------------- */

typedef struct gf_connection gf_connection;

struct gf_socket {
    gf_service *service;
    char *file;                  /* the socket's */
    char holder[GF_HOLDER_NAME]; /* this process */
    bool rebuilds;
    unsigned most;
    double patience;
    double begun; /* answering */
    const gf_log *log;
    int listener, wake[2]; /* a pipe: written to end the listening */
    pthread_t thread;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    gf_connection *connections; /* n */
    size_t n, calls, early;     /* calls that run; those accepted before the draining began */
    size_t remote_callers;      /* of the n: those that were let in */
    size_t kept;                /* places for remote_callers to come */
    bool lingering;             /* draining; but early calls run */
    bool closing;               /* no more calls */
    double stopped;             /* when the draining was to stop; 0: not */
};

/** Whether a call may begin; gf_socket_end_call ends it. */
bool gf_socket_begin_call(gf_socket *socket, gf_connection *connection);
void gf_socket_end_call(gf_socket *socket, gf_connection *connection);

/** Whether the socket drains. */
bool gf_socket_drains(gf_socket *socket);

/* ---- call.c ---------------------------------------------------------------------------------- */

struct gf_connection {
    gf_connection *next; /* of the socket's list; under its lock */
    gf_socket *socket;
    gf_remote_caller remote; /* run is NULL: a caller of the store's own socket */
    bool called, early;      /* under the socket's lock */
    bool told_to_stop;       /* by the caller itself: it has not gone */
    int fd;
    unsigned uid; /* of a caller of the store's own socket, */
    long process; /* and its id */
    gf_cancel cancel;
    gf_wire wire;
    double greeted_by; /* when the call must have come */

    pthread_mutex_t sending; /* held while a message is sent */
    double flushed, progressed;
    gf_buffer message; /* under `sending` */

    /* The one answer that is waited for. */
    pthread_mutex_t lock;
    pthread_cond_t answered;
    bool waiting, gone;
    bool running;    /* the call: what comes from now on is answers */
    unsigned answer; /* its type; 0: none yet */
    gf_buffer answer_bytes;
    size_t bytes_taken; /* of them */
    bool bytes_asked;   /* and the answer not taken yet */
    bool bytes_left;    /* of the answer that was */
    gf_buffer stream_name;
    bool stream_in_folder;
    gf_buffer path; /* the store's, as the caller says it */
};

/** Talk with one caller, until that is over. */
void gf_call_connection_run(gf_connection *connection);

/** Let it end: its call is cancelled; `cut` also ends its sending and receiving. Any thread. */
void gf_call_connection_stop(gf_connection *connection, bool cut);

#endif
