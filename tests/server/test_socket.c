/*
 * Many callers of one store at once, through its socket: two that put into one collection, one that
 * deletes, one that changes settings and pins labels, one that rebuilds, and those that read. At
 * the end the store is sound and has all that was acknowledged.
 *
 * Under ThreadSanitizer: TSAN_OPTIONS=suppressions=tests/engine/tsan.supp
 */
#include "server/socket/client.h"
#include "server/socket/internal.h"
#include "support/test.h"

#include "base/clock.h"
#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PUTTERS = 2, ROUNDS = 12, EACH = 60 };

typedef struct held {
    double patience;
    char path[512];
    gf_store *store;
    gf_service *service;
    gf_socket *socket;
} held;

static void hold(held *h)
{
    gf_error err;
    gf_store_options o = GF_STORE_OPTIONS(.create = true, .purpose = "test");
    snprintf(h->path, sizeof h->path, "%s/store", gf_test_folder());
    assert_ok(gf_store_open(h->path, &o, &h->store, &err));
    gf_service_options service = {.store_path = h->path, .rebuilds = true};
    gf_socket_options socket = {
        .store_path = h->path, .purpose = "test", .rebuilds = true, .patience = h->patience};
    assert_ok(gf_service_open(h->store, &service, &h->service, &err));
    assert_ok(gf_socket_open(h->service, &socket, &h->socket, &err));
}

static void let_go(held *h)
{
    assert_true(gf_socket_drain(h->socket, NULL, 0));
    gf_socket_close(h->socket);
    gf_service_drain(h->service);
    gf_service_close(h->service);
    gf_store_close(h->store);
}

/* ---- a caller -------------------------------------------------------------------------------- */

typedef struct caller {
    held *h;
    unsigned number;
    gf_slice input;
    size_t read;
    bool opened;
    uint64_t rows, bytes;
    char fault[700]; /* of a thread: only cmocka's own can fail the test */
} caller;

static gf_status next(void *context, gf_slice *name, gf_error *err)
{
    caller *c = context;
    if (c->opened) return gf_fail(err, GF_ENOTFOUND, "no more");
    c->opened = true;
    *name = GF_SLICE("input.jsonl");
    return GF_OK;
}

static gf_status read_some(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    caller *c = context;
    (void)err;
    *got = c->input.len - c->read;
    if (*got > n) *got = n;
    if (*got > 1000) *got = 1000;
    if (*got) memcpy(to, c->input.ptr + c->read, *got);
    c->read += *got;
    return GF_OK;
}

static gf_status emit(void *context, gf_slice row, gf_error *err)
{
    (void)err;
    ((caller *)context)->rows++;
    ((caller *)context)->bytes += row.len;
    return GF_OK;
}

static gf_status ask(caller *c, gf_error *err, const char *operation, const char *const *arguments)
{
    gf_argument list[8];
    size_t n = 0;
    gf_asked asked;
    gf_call call = {.arguments = list, .name_space = GF_SLICE("default"), .sink = {c, emit}};
    for (; arguments[2 * n]; n++)
        list[n] = (gf_argument){gf_slice_str(arguments[2 * n]), gf_slice_str(arguments[2 * n + 1])};
    call.n_arguments = n;
    c->opened = false;
    c->read = 0;
    c->rows = 0;
    if (c->input.ptr) call.input = (gf_input){.context = c, .next = next, .read = read_some};
    gf_status st = gf_client_run(c->h->path, 5, gf_operation_find(operation), &call, &asked, err);
    return asked == GF_CLIENT_ASKED ? st
                                    : gf_fail(err, GF_EBUSY, "nobody answered (%d)", (int)asked);
}

#define ASK(c, err, operation, ...)                                                                \
    ask(c, err, operation, (const char *const[]){__VA_ARGS__, NULL, NULL})

static void note(caller *c, const char *what, gf_status st, const gf_error *err)
{
    if (st != GF_OK && !*c->fault)
        snprintf(c->fault, sizeof c->fault, "%s: %s: %s", what, gf_status_name(st), err->message);
}

/* ---- what each does -------------------------------------------------------------------------- */

static void write_documents(gf_buffer *b, unsigned putter, unsigned round)
{
    static const char *const words[] = {"bees", "hives", "honey", "queens",
                                        "wax",  "swarm", "combs"};
    gf_buffer_reset(b);
    for (unsigned i = 0; i < EACH; i++)
        gf_buffer_format(b, "{\"id\": \"%u-%u-%u\", \"text\": \"%s %s %s number %u\"}\n", putter,
                         round, i, words[i % 7], words[(i * i + round) % 7], words[(i / 7) % 7], i);
}

static void *put(void *context)
{
    caller *c = context;
    gf_error err = {GF_OK, ""};
    gf_buffer b = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        write_documents(&b, c->number, round);
        c->input = gf_buffer_view(&b);
        note(c, "put", ASK(c, &err, "put", "collection", "c", "from", "jsonl"), &err);
    }
    gf_buffer_release(&b);
    return NULL;
}

/* Those of the first putter's, again and again: they are there, or not yet. */
static void *delete (void *context)
{
    caller *c = context;
    gf_error err = {GF_OK, ""};
    char id[32];
    for (unsigned round = 0; round < ROUNDS; round++) {
        snprintf(id, sizeof id, "0-%u-0", round);
        note(c, "delete", ASK(c, &err, "delete", "collection", "c", "id", id), &err);
    }
    return NULL;
}

static void *rebuild(void *context)
{
    caller *c = context;
    gf_error err = {GF_OK, ""};
    for (unsigned round = 0; round < ROUNDS; round++)
        note(c, "rebuild", ASK(c, &err, "rebuild", "collection", "c", "force", "true"), &err);
    return NULL;
}

static void *configure(void *context)
{
    caller *c = context;
    gf_error err = {GF_OK, ""};
    for (unsigned round = 0; round < ROUNDS; round++) {
        char set[16];
        snprintf(set, sizeof set, "k=%u", 2 + round % 5);
        note(c, "config set", ASK(c, &err, "config set", "collection", "c", "set", set), &err);
        gf_status st = ASK(c, &err, "label", "collection", "c", "cluster", "1", "text", "Named");
        if (st != GF_ENOTFOUND) note(c, "label", st, &err); /* its cluster may have gone */
    }
    return NULL;
}

static void *read_all(void *context)
{
    static const char *const reads[] = {"export", "clusters", "builds", "collection show", "doc"};
    caller *c = context;
    gf_error err = {GF_OK, ""};
    for (unsigned round = 0; round < 4 * ROUNDS; round++) {
        const char *operation = reads[(round + c->number) % 5];
        bool doc = strcmp(operation, "doc") == 0;
        note(c, operation, ASK(c, &err, operation, "collection", "c", doc ? "id" : NULL, "kept"),
             &err);
        if (!c->rows && !*c->fault) snprintf(c->fault, sizeof c->fault, "%s: no row", operation);
    }
    return NULL;
}

static gf_status tell_fault(void *context, const char *where, const char *what, gf_error *err)
{
    (void)context;
    return gf_fail(err, GF_ECORRUPT, "%s: %s", where, what);
}

static void test_all_at_once(void **state)
{
    (void)state;
    static void *(*const what[])(void *) = {put,       put,      delete,  rebuild,
                                            configure, read_all, read_all};
    enum { N = sizeof what / sizeof *what };
    held h = {0};
    gf_error err;
    pthread_t threads[N];
    caller callers[N] = {0};
    hold(&h);
    callers[0].h = &h;
    callers[0].input = GF_SLICE("{\"id\": \"kept\", \"text\": \"honey bees\"}\n"
                                "{\"id\": \"more\", \"text\": \"queens swarm\"}\n");
    assert_ok(ASK(&callers[0], &err, "put", "collection", "c", "from", "jsonl"));
    callers[0].input = (gf_slice){0};
    assert_ok(ASK(&callers[0], &err, "rebuild", "collection", "c"));
    for (unsigned i = 0; i < N; i++) {
        callers[i] = (caller){.h = &h, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, what[i], &callers[i]), 0);
    }
    for (unsigned i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < N; i++)
        if (*callers[i].fault) fail_msg("%s", callers[i].fault);
    let_go(&h);
    gf_verified v;
    gf_store_options o = GF_STORE_OPTIONS(.purpose = "test");
    assert_ok(gf_verify(h.path, &o, tell_fault, NULL, &v, &err));
    assert_true(v.documents <= 2 + PUTTERS * ROUNDS * EACH);
    assert_true(v.documents >= 2 + PUTTERS * ROUNDS * EACH - ROUNDS);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void test_nobody_there(void **state)
{
    (void)state;
    held h = {0};
    gf_error err;
    gf_asked asked = GF_CLIENT_ASKED;
    caller c = {.h = &h};
    gf_call call = {.sink = {&c, emit}};
    const gf_operation *status = gf_operation_find("status");
    assert_ok(gf_client_run("/nonexistent", 5, status, &call, &asked, &err));
    assert_int_equal(asked, GF_CLIENT_NOBODY);
    hold(&h);
    struct stat s;
    char file[600];
    snprintf(file, sizeof file, "%s/socket", h.path);
    assert_int_equal(stat(file, &s), 0);
    assert_int_equal(s.st_mode & 07777, 0600);
    assert_ok(ASK(&c, &err, "status", NULL));
    let_go(&h);
    assert_int_not_equal(stat(file, &s), 0);
    assert_ok(gf_client_run(h.path, 5, status, &call, &asked, &err));
    assert_int_equal(asked, GF_CLIENT_NOBODY);
}

/* A row that cannot be taken ends the call with the caller's own failure. */
static gf_status refuse_row(void *context, gf_slice row, gf_error *err)
{
    (void)context, (void)row;
    return gf_fail(err, GF_ELIMIT, "enough");
}

static void test_a_row_that_is_not_taken(void **state)
{
    (void)state;
    held h = {0};
    gf_error err;
    gf_asked asked;
    gf_argument arguments[] = {{GF_SLICE("collection"), GF_SLICE("c")},
                               {GF_SLICE("documents"), GF_SLICE("true")}};
    gf_buffer b = {0};
    hold(&h);
    caller c = {.h = &h};
    write_documents(&b, 0, 0);
    c.input = gf_buffer_view(&b);
    assert_ok(ASK(&c, &err, "put", "collection", "c", "from", "jsonl"));
    gf_call call = {.arguments = arguments,
                    .n_arguments = 2,
                    .name_space = GF_SLICE("default"),
                    .sink = {NULL, refuse_row}};
    assert_status(GF_ELIMIT,
                  gf_client_run(h.path, 5, gf_operation_find("export"), &call, &asked, &err));
    assert_string_equal(err.message, "enough");
    gf_buffer_release(&b);
    let_go(&h);
}

/* ---- those who do nothing -------------------------------------------------------------------- */

/* Ask, and then neither read nor write; the connection. */
static int ask_and_do_nothing(const held *h, const char *operation, bool input,
                              gf_argument *arguments, size_t n)
{
    gf_error err;
    struct sockaddr_un address;
    int folder, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    gf_wire w;
    gf_buffer hello = {0}, message = {0};
    gf_wire_call call = {.operation = gf_slice_str(operation),
                         .name_space = GF_SLICE("default"),
                         .store_path = GF_SLICE("."),
                         .input = input,
                         .arguments = arguments,
                         .n_arguments = n};
    assert_ok(gf_socket_address(h->path, &address, &folder, &err));
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    if (folder >= 0) close(folder);
    gf_wire_init(&w, fd, NULL, NULL);
    gf_wire_write_hello(&hello, "");
    gf_wire_write_call(&message, &call);
    assert_ok(gf_wire_send(&w, GF_WIRE_HELLO, gf_buffer_view(&hello), &err));
    assert_ok(gf_wire_send(&w, GF_WIRE_CALL, gf_buffer_view(&message), &err));
    assert_ok(gf_wire_flush(&w, &err));
    gf_wire_release(&w);
    gf_buffer_release(&hello);
    gf_buffer_release(&message);
    return fd;
}

/* Whoever has much to be given and takes nothing, or gives nothing, is cut off in the end. */
static void test_patience(void **state)
{
    (void)state;
    held h = {.patience = 0.5};
    gf_error err;
    gf_buffer b = {0};
    gf_argument of_all[] = {{GF_SLICE("collection"), GF_SLICE("c")},
                            {GF_SLICE("documents"), GF_SLICE("true")}};
    gf_argument into[] = {{GF_SLICE("collection"), GF_SLICE("d")}};
    hold(&h);
    caller c = {.h = &h};
    for (unsigned round = 0; round < 200; round++) { /* more than a socket takes in */
        write_documents(&b, 0, round);
        c.input = gf_buffer_view(&b);
        assert_ok(ASK(&c, &err, "put", "collection", "c", "from", "jsonl"));
    }
    int reads = ask_and_do_nothing(&h, "export", false, of_all, 2);
    int writes = ask_and_do_nothing(&h, "put", true, into, 1);
    while (gf_socket_callers(h.socket) < 2)
        usleep(1000);
    assert_false(gf_socket_drain(h.socket, NULL, 0.2));
    double begun = gf_clock_seconds();
    assert_true(gf_socket_drain(h.socket, NULL, 20));
    assert_true(gf_clock_seconds() - begun < 15);
    close(reads);
    close(writes);
    gf_buffer_release(&b);
    let_go(&h);
}

/* A request to stop does not wait for them. */
static void test_stopping(void **state)
{
    (void)state;
    held h = {0};
    gf_cancel cancel = {0};
    gf_argument into[] = {{GF_SLICE("collection"), GF_SLICE("d")}};
    hold(&h);
    int writes = ask_and_do_nothing(&h, "put", true, into, 1);
    while (gf_socket_callers(h.socket) < 1)
        usleep(1000);
    gf_cancel_request(&cancel);
    double begun = gf_clock_seconds();
    assert_true(gf_socket_drain(h.socket, &cancel, 0));
    assert_true(gf_clock_seconds() - begun < 15);
    close(writes);
    let_go(&h);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Whoever of the two sides lacks memory: the call ends, is refused or asked again; both go on. */
static void test_without_memory(void **state)
{
    (void)state;
    held h = {0};
    gf_error err;
    hold(&h);
    caller c = {.h = &h};
    c.input = GF_SLICE("{\"id\": \"a\", \"text\": \"honey bees\"}\n");
    int failed = 1;
    for (int64_t n = 0; failed; n++) {
        gf_memory_fail_at(n);
        gf_status st = ASK(&c, &err, "put", "collection", "c", "from", "jsonl");
        failed = gf_memory_failed();
        gf_memory_fail_at(-1);
        if (!failed) assert_int_equal(st, GF_OK);
        assert_true(st == GF_OK || st == GF_ENOMEM || st == GF_EBUSY || st == GF_EIO);
        assert_true(n < 5000);
    }
    assert_ok(ASK(&c, &err, "put", "collection", "c", "from", "jsonl"));
    let_go(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_there),   cmocka_unit_test(test_a_row_that_is_not_taken),
        cmocka_unit_test(test_patience),       cmocka_unit_test(test_stopping),
        cmocka_unit_test(test_without_memory), cmocka_unit_test(test_all_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
