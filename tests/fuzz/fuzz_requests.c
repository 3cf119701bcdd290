/*
 * Whatever bytes come over HTTP: a server with a store, and a connection for each input, closed
 * behind it. The input is what a client sends, the door's conversation with it.
 */
#include "base/memory.h"
#include "server/http/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static gf_http *http;
static struct sockaddr_in address = {.sin_family = AF_INET};

static void must(gf_status st, const gf_error *err)
{
    if (st == GF_OK) return;
    fprintf(stderr, "%s\n", err->message);
    abort();
}

static gf_service *service;
static gf_tasks *tasks;
static gf_store *store;
static gf_socket *door;
static char folder[] = "/tmp/grouperfish-fuzz-XXXXXX";

static void end(void)
{
    char command[64];
    gf_tasks_stop(tasks);
    gf_http_stop(http, 1);
    gf_tasks_close(tasks);
    gf_socket_drain(door, NULL, 1);
    gf_socket_close(door);
    gf_service_drain(service);
    gf_service_close(service);
    gf_store_close(store);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) fprintf(stderr, "cannot remove %s\n", folder);
}

static void begin(void)
{
    static char path[64];
    gf_error err = {GF_OK, ""};
    if (!mkdtemp(folder)) abort();
    snprintf(path, sizeof path, "%s/store", folder);
    gf_store_options o = GF_STORE_OPTIONS(.create = true, .purpose = "fuzz");
    gf_service_options s = {.store_path = path, .purpose = "fuzz", .rebuilds = true};
    gf_socket_options c = {.store_path = path, .purpose = "fuzz", .rebuilds = true};
    must(gf_store_open(path, &o, &store, &err), &err);
    must(gf_service_open(store, &s, &service, &err), &err);
    must(gf_tasks_open(service, NULL, &tasks, &err), &err);
    must(gf_socket_open(service, &c, &door, &err), &err);
    gf_http_options h = {.listen = GF_SLICE("127.0.0.1:0"),
                         .service = service,
                         .tasks = tasks,
                         .socket = door,
                         .max_document = 1 << 20};
    must(gf_http_start(&h, &http, &err), &err);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)atoi(strrchr(gf_http_address(http), ':') + 1));
    atexit(end);
}

/* -1 where the machine has no connection to give, for seconds: ports in use, descriptors, memory. */
static int connect_to_server(void)
{
    for (unsigned wait_ms = 1; wait_ms < 4096; wait_ms *= 2) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
        int why = errno;
        if (fd >= 0) close(fd);
        if (why == ECONNREFUSED) abort(); /* nobody listens any more: a finding */
        usleep(wait_ms * 1000);
    }
    return -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char answer[4096];
    if (!http) begin();
    struct timeval patience = {.tv_usec = 20000};
    int fd = connect_to_server();
    if (fd < 0) return -1; /* not the server's fault: the input is left out */
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (n && send(fd, bytes, n, MSG_NOSIGNAL) < 0) n = 0;
    shutdown(fd, SHUT_WR);
    while (recv(fd, answer, sizeof answer, 0) > 0)
        ;
    struct linger at_once = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once); /* ports come back at once */
    close(fd);
    return 0;
}
