/**
 * The store's socket: whoever holds a store answers on it, and so everybody can use the store.
 *
 *     STORE/socket    of the holder's user alone (mode 0600); only root may call besides
 *
 * The file may outlive its process: whoever holds the store (storage/folder/folder.h) replaces it. What is
 * said: server/socket/wire.h. A call runs on a thread of its own, through the service; a caller that goes
 * away cancels what it asked for, and what was stored for it stays. A call with an input is not
 * taken in the first second, unless rebuilds are: most holders end before.
 */
#ifndef GF_SERVER_SOCKET_SOCKET_H
#define GF_SERVER_SOCKET_SOCKET_H

#include "server/service/log.h"
#include "server/service/service.h"

typedef struct gf_socket gf_socket;

typedef struct gf_socket_options {
    const char *store_path; /* the folder of the service's store; copied */
    const char *purpose;    /* of the holder, such as "put": those who wait are told; copied */
    bool rebuilds;          /* as the service's: whoever wants one is else told to wait */
    unsigned most;          /* callers at a time, further ones wait; 0: 64 */
    double patience;        /* while draining: seconds for a caller that does nothing; 0: 30 */
    const gf_log *log;      /* of writes (server/service/audit.h); may be NULL */
} gf_socket_options;

/**
 * Answer from now on. The store of the service is held by this process.
 * @return GF_OK; GF_EIO where there can be no socket in that folder; GF_ENOMEM
 */
gf_status gf_socket_open(gf_service *service, const gf_socket_options *options, gf_socket **socket,
                         gf_error *err);

/** A caller that an upgraded HTTP connection brings, and that may run one operation. */
typedef struct gf_remote_caller {
    int fd;                        /* the socket's from now on */
    const gf_operation *operation; /* what it may call, */
    gf_slice name_space;           /* and of which namespace */
    /* In the service's place; *stopped once the caller has asked for an end, and has not gone. */
    gf_status (*run)(void *context, const gf_operation *operation, gf_call *call,
                     const bool *stopped, gf_error *err);
    void (*end)(void *context); /* when all is said, on any thread */
    void *context;
} gf_remote_caller;

/**
 * Keep a place for another remote: there are half as many as for callers. It is given back, or taken
 * by gf_socket_take_remote, however that ends. False where there is none.
 */
bool gf_socket_reserve(gf_socket *socket);
void gf_socket_give_place(gf_socket *socket);

/**
 * Talk with a remote caller, for whom there is a reservation, as with others. It counts for draining and
 * closing as they do, and takes no place of theirs.
 * @return GF_OK; GF_ENOMEM, and then the descriptor is closed and `end` was not called
 */
gf_status gf_socket_take_remote(gf_socket *socket, const gf_remote_caller *remote, gf_error *err);

/** Calls that run at this moment. */
size_t gf_socket_callers(gf_socket *socket);

/**
 * Wait until the calls that were accepted before have ended, and those that came while these ran;
 * then newcomers are told to try again. A request to stop cancels them all after two seconds.
 *
 * @param seconds  how long to wait; 0: no limit. It can be called again to wait on
 * @return whether all have ended
 */
bool gf_socket_drain(gf_socket *socket, const gf_cancel *cancel, double seconds);

/** End the calls that are left, and take the socket away. NULL is allowed. */
void gf_socket_close(gf_socket *socket);

#endif
