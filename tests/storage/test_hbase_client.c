/*
 * Calls of a gateway: against a server that answers, delays, cuts, refuses and talks nonsense, over
 * real sockets.
 */
#include "tests/support/test.h"

#include "base/clock.h"
#include "storage/hbase/client.h"
#include "storage/hbase/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- a gateway ------------------------------------------------------------------------------- */

/* What the server does with a request. */
typedef enum deed {
    ANSWERS,      /* yes */
    IN_PIECES,    /* the same, byte by byte */
    LEAVES,       /* answers, and closes the connection */
    SAYS_NOTHING, /* until the caller goes */
    CUTS,         /* the connection, after the request */
    GOES,         /* the same, and nobody listens any more */
    CUTS_ANSWER,  /* in the middle of the answer */
    TALKS_HTTP,
    OTHER_NUMBER,   /* answers another call */
    HUGE_LENGTH,    /* promises 2 GB */
    TOO_MUCH,       /* promises 1 GB */
    HOLDS_BACK,     /* promises more than it sends */
    CANNOT_NOW,     /* TIOError, worth another try */
    CANNOT,         /* TIOError, for good */
    DOES_NOT_KNOW,  /* TApplicationException */
    ANSWERS_NOTHING /* a reply without a result */
} deed;

enum { MOST_DEEDS = 8 };

typedef struct gateway {
    int listener;
    char port[8];
    deed deeds[MOST_DEEDS]; /* n, one for each request; the last for all further ones */
    atomic_int requests, connections, closed;
    atomic_bool ends;
    pthread_t thread;
} gateway;

static bool read_exactly(int s, char *to, size_t n)
{
    return recv(s, to, n, MSG_WAITALL) == (ssize_t)n;
}

static void write_all(int s, gf_slice bytes, size_t piece)
{
    while (bytes.len) {
        size_t n = bytes.len < piece ? bytes.len : piece;
        if (send(s, bytes.ptr, n, MSG_NOSIGNAL) != (ssize_t)n) return;
        bytes = gf_slice_skip(bytes, n);
    }
}

static void put_failure(gf_buffer *b, bool retries)
{
    gf_thrift_field(b, GF_THRIFT_STRUCT, 1);
    gf_thrift_string_field(b, 1, GF_SLICE("no region\nat java.lang.Thread"));
    gf_thrift_bool_field(b, 2, retries);
    gf_thrift_stop(b);
}

/* False: the connection is closed. */
static bool answer(int s, deed d, const gf_thrift_message *call)
{
    gf_error err;
    gf_buffer b = {0};
    char name[64];
    snprintf(name, sizeof name, "%.*s", GF_SLICE_ARG(call->name));
    gf_thrift_begin(&b, d == DOES_NOT_KNOW ? GF_THRIFT_EXCEPTION : GF_THRIFT_REPLY, name,
                    call->number + (d == OTHER_NUMBER));
    if (d == CANNOT_NOW || d == CANNOT) {
        put_failure(&b, d == CANNOT_NOW);
    } else if (d == DOES_NOT_KNOW) {
        gf_thrift_string_field(&b, 1, GF_SLICE("Invalid method name"));
        gf_thrift_i32_field(&b, 2, 1);
    } else if (d != ANSWERS_NOTHING) {
        gf_thrift_i32_field(&b, 77, 5); /* a field that nobody knows */
        gf_thrift_bool_field(&b, 0, true);
    }
    assert_ok(gf_thrift_end(&b, &err));
    gf_slice whole = gf_buffer_view(&b);
    bool stays = true;
    switch (d) {
    case SAYS_NOTHING:
        break;
    case CUTS:
    case GOES:
        stays = false;
        break;
    case CUTS_ANSWER:
        write_all(s, gf_slice_of(whole.ptr, whole.len - 3), whole.len);
        stays = false;
        break;
    case TALKS_HTTP:
        write_all(s, GF_SLICE("HTTP/1.1 400 Bad Request\r\n\r\n"), 100);
        stays = false;
        break;
    case HUGE_LENGTH:
        write_all(s, GF_SLICE("\xFF\xFF\xFF\xFF"), 4);
        break;
    case TOO_MUCH:
        write_all(s, GF_SLICE("\x40\x00\x00\x00"), 4);
        break;
    case HOLDS_BACK:
        write_all(s, GF_SLICE("\x0F\xFF\xFF\xFFonly this"), 13);
        stays = false;
        break;
    default:
        write_all(s, whole, d == IN_PIECES ? 1 : whole.len);
        stays = d != LEAVES;
    }
    gf_buffer_release(&b);
    return stays;
}

static void serve_connection(gateway *g, int s)
{
    char head[4];
    static char request[1 << 20];
    while (read_exactly(s, head, sizeof head)) {
        size_t n = gf_read_u32be(head);
        if (n > sizeof request || !read_exactly(s, request, n)) return;
        gf_thrift_message call;
        gf_thrift_reader r = {.rest = gf_slice_of(request, n)};
        if (!gf_thrift_take_message(&r, &call)) return;
        int i = atomic_fetch_add(&g->requests, 1);
        deed d = g->deeds[i < MOST_DEEDS ? i : MOST_DEEDS - 1];
        if (d == GOES) close(g->listener);
        if (!answer(s, d, &call)) return;
    }
}

static void *serve(void *context)
{
    gateway *g = context;
    for (;;) {
        int s = accept(g->listener, NULL, NULL);
        if (s < 0 || atomic_load(&g->ends)) {
            if (s >= 0) close(s);
            return NULL;
        }
        atomic_fetch_add(&g->connections, 1);
        serve_connection(g, s);
        close(s);
        atomic_fetch_add(&g->closed, 1);
    }
}

static void listen_on(gateway *g, int family)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr *address = family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
    socklen_t size = family == AF_INET ? sizeof v4 : sizeof v6;
    g->listener = socket(family, SOCK_STREAM, 0);
    assert_int_equal(bind(g->listener, address, size), 0);
    assert_int_equal(listen(g->listener, 8), 0);
    assert_int_equal(getsockname(g->listener, address, &size), 0);
    snprintf(g->port, sizeof g->port, "%d", ntohs(family == AF_INET ? v4.sin_port : v6.sin6_port));
}

/* The deeds, then ANSWERS for ever. */
static void begin_gateway(gateway *g, const deed *deeds, size_t n)
{
    *g = (gateway){0};
    for (size_t i = 0; i < MOST_DEEDS; i++)
        g->deeds[i] = i < n ? deeds[i] : ANSWERS;
    listen_on(g, AF_INET);
    assert_int_equal(pthread_create(&g->thread, NULL, serve, g), 0);
}

/* Once no client is connected any more. */
static void end_gateway(gateway *g)
{
    atomic_store(&g->ends, true);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)atoi(g->port))};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(s, (struct sockaddr *)&to, sizeof to), 0);
    pthread_join(g->thread, NULL);
    close(s);
    close(g->listener);
}

#define BEGIN(g, ...)                                                                              \
    begin_gateway(g, (const deed[]){__VA_ARGS__},                                                  \
                  sizeof((const deed[]){__VA_ARGS__}) / sizeof(deed))

static gf_hbase_client *client_of(const gateway *g, unsigned milliseconds)
{
    gf_error err;
    gf_hbase_client *client;
    gf_hbase_address a;
    char url[64];
    snprintf(url, sizeof url, "hbase://127.0.0.1:%s", g->port);
    assert_ok(gf_hbase_address_read(url, &a, &err));
    assert_ok(gf_hbase_client_create(&a, milliseconds, &client, &err));
    return client;
}

static gf_status ask(gf_hbase_client *client, gf_hbase_effect effect, bool *yes, gf_error *err)
{
    gf_hbase_call call = {0};
    gf_hbase_call_begin(&call, "exists");
    gf_thrift_string_field(&call.request, 1, GF_SLICE("t"));
    gf_status st = gf_hbase_call_run(client, &call, GF_THRIFT_BOOL, effect, err);
    *yes = st == GF_OK && call.has_result && gf_thrift_take_bool(&call.result);
    gf_hbase_call_release(&call);
    return st;
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void uses_a_connection_again(void **state)
{
    (void)state;
    gateway g;
    gf_error err;
    bool yes;
    BEGIN(&g, ANSWERS, IN_PIECES, ANSWERS_NOTHING);
    gf_hbase_client *c = client_of(&g, 20000);
    assert_ok(ask(c, GF_HBASE_READS, &yes, &err));
    assert_true(yes);
    assert_ok(ask(c, GF_HBASE_WRITES, &yes, &err));
    assert_true(yes);
    assert_ok(ask(c, GF_HBASE_READS, &yes, &err));
    assert_false(yes);
    gf_hbase_client_free(c);
    end_gateway(&g);
    assert_int_equal(g.connections, 1);
}

/* What fails once is read again; a write is not, and it is said what is not known. */
static void reads_again_and_does_not_write_again(void **state)
{
    (void)state;
    static const deed deeds[] = {CUTS,         CUTS_ANSWER, TALKS_HTTP,
                                 OTHER_NUMBER, HUGE_LENGTH, HOLDS_BACK};
    for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++) {
        gateway g;
        gf_error err;
        bool yes;
        BEGIN(&g, deeds[i]);
        gf_hbase_client *c = client_of(&g, 20000);
        assert_ok(ask(c, GF_HBASE_READS, &yes, &err));
        assert_true(yes);
        gf_hbase_client_free(c);
        end_gateway(&g);
        assert_int_equal(g.requests, 2);

        BEGIN(&g, deeds[i]);
        c = client_of(&g, 20000);
        assert_status(GF_EUNKNOWN, ask(c, GF_HBASE_WRITES, &yes, &err));
        assert_non_null(strstr(err.message, "whether it was written is not known"));
        gf_hbase_client_free(c);
        end_gateway(&g);
        assert_int_equal(g.requests, 1);
    }
}

/* What was sent once may have been written, whatever becomes of another try. */
static void tells_of_the_first_try(void **state)
{
    (void)state;
    gateway g;
    gf_error err;
    bool yes;
    BEGIN(&g, GOES);
    gf_hbase_client *c = client_of(&g, 20000);
    assert_status(GF_EUNKNOWN, ask(c, GF_HBASE_WRITES_AGAIN, &yes, &err));
    assert_non_null(strstr(err.message, "whether it was written is not known"));
    assert_non_null(strstr(err.message, "Connection refused"));
    assert_status(GF_EIO, ask(c, GF_HBASE_WRITES_AGAIN, &yes, &err)); /* never sent */
    gf_hbase_client_free(c);
    pthread_join(g.thread, NULL);
}

/* A connection that the gateway has closed since is not written to. */
static void notices_a_closed_connection(void **state)
{
    (void)state;
    gateway g;
    gf_error err;
    bool yes;
    BEGIN(&g, LEAVES);
    gf_hbase_client *c = client_of(&g, 20000);
    assert_ok(ask(c, GF_HBASE_WRITES, &yes, &err));
    while (atomic_load(&g.closed) == 0)
        usleep(1000);
    assert_ok(ask(c, GF_HBASE_WRITES, &yes, &err));
    assert_true(yes);
    gf_hbase_client_free(c);
    end_gateway(&g);
    assert_int_equal(g.connections, 2);
    assert_int_equal(g.requests, 2);
}

static void tells_what_hbase_says(void **state)
{
    (void)state;
    gateway g;
    gf_error err;
    bool yes;
    BEGIN(&g, CANNOT, DOES_NOT_KNOW, CANNOT_NOW, CANNOT_NOW, CANNOT_NOW, TOO_MUCH);
    gf_hbase_client *c = client_of(&g, 20000);
    assert_status(GF_EINVAL, ask(c, GF_HBASE_WRITES, &yes, &err));
    assert_string_equal(err.message, "HBase: no region");
    assert_status(GF_EINVAL, ask(c, GF_HBASE_READS, &yes, &err));
    assert_string_equal(err.message, "HBase: Invalid method name");
    assert_status(GF_EIO, ask(c, GF_HBASE_READS, &yes, &err));
    assert_status(GF_EUNKNOWN, ask(c, GF_HBASE_WRITES, &yes, &err));
    assert_status(GF_ELIMIT, ask(c, GF_HBASE_READS, &yes, &err));
    gf_hbase_client_free(c);
    end_gateway(&g);
}

static void ends_at_the_deadline(void **state)
{
    (void)state;
    gateway g;
    gf_error err;
    bool yes;
    BEGIN(&g, SAYS_NOTHING, SAYS_NOTHING);
    gf_hbase_client *c = client_of(&g, 300);
    double before = gf_clock_seconds();
    assert_status(GF_EUNKNOWN, ask(c, GF_HBASE_WRITES, &yes, &err));
    assert_non_null(strstr(err.message, "no answer in time"));
    assert_status(GF_EIO, ask(c, GF_HBASE_READS, &yes, &err));
    double took = gf_clock_seconds() - before;
    assert_true(took > 0.55 && took < 60);
    gf_hbase_client_free(c);
    end_gateway(&g);

    /* A thread's own. */
    BEGIN(&g, SAYS_NOTHING);
    c = client_of(&g, 600000);
    gf_hbase_client_limit(0.3);
    assert_status(GF_EUNKNOWN, ask(c, GF_HBASE_WRITES, &yes, &err));
    gf_hbase_client_limit(0);
    gf_hbase_client_free(c);
    end_gateway(&g);
}

static void come_back(int number)
{
    (void)number;
}

static void *interrupt(void *thread)
{
    for (int i = 0; i < 20; i++) {
        usleep(50000);
        pthread_kill(*(pthread_t *)thread, SIGUSR1);
    }
    return NULL;
}

/* A signal ends the waiting for what is read, not that for the answer to a write. */
static void ends_by_a_signal(void **state)
{
    (void)state;
    gateway g;
    gf_error err;
    bool yes;
    pthread_t self = pthread_self(), other;
    struct sigaction handler = {.sa_handler = come_back};
    BEGIN(&g, SAYS_NOTHING, SAYS_NOTHING);
    sigaction(SIGUSR1, &handler, NULL);
    gf_hbase_client *c = client_of(&g, 30000);
    assert_int_equal(pthread_create(&other, NULL, interrupt, &self), 0);
    assert_status(GF_ECANCELLED, ask(c, GF_HBASE_READS, &yes, &err));
    gf_hbase_client_free(c);
    c = client_of(&g, 400);
    assert_status(GF_EUNKNOWN, ask(c, GF_HBASE_WRITES, &yes, &err));
    assert_non_null(strstr(err.message, "no answer in time"));
    pthread_join(other, NULL);
    gf_hbase_client_free(c);
    end_gateway(&g);
}

/* The server here takes a megabyte, and goes. */
static void tells_that_a_request_was_large(void **state)
{
    (void)state;
    gateway g;
    gf_error err;
    static char much[3 << 20];
    gf_hbase_call call = {0};
    BEGIN(&g, ANSWERS);
    gf_hbase_client *c = client_of(&g, 20000);
    gf_hbase_call_begin(&call, "put");
    gf_thrift_string_field(&call.request, 1, gf_slice_of(much, sizeof much));
    gf_status st = gf_hbase_call_run(c, &call, GF_THRIFT_STOP, GF_HBASE_WRITES, &err);
    assert_true(st == GF_EIO || st == GF_EUNKNOWN); /* the kernel may have taken all of it */
    assert_non_null(strstr(err.message, "framed.max_frame_size_in_mb says more"));
    gf_hbase_call_release(&call);
    gf_hbase_client_free(c);
    end_gateway(&g);
}

static void tells_that_nobody_listens(void **state)
{
    (void)state;
    gateway g = {0};
    gf_error err;
    bool yes;
    listen_on(&g, AF_INET);
    close(g.listener);
    gf_hbase_client *c = client_of(&g, 20000);
    assert_status(GF_EIO, ask(c, GF_HBASE_WRITES, &yes, &err));
    assert_non_null(strstr(err.message, "127.0.0.1 port "));
    assert_non_null(strstr(err.message, "Connection refused"));
    gf_hbase_client_free(c);
}

/* A peer that goes is an error of the call, and no signal. */
static void outlives_a_peer_that_goes(void **state)
{
    (void)state;
    gateway g = {0};
    gf_error err;
    gf_hbase_connection *c;
    static char much[8 << 20];
    size_t sent;
    listen_on(&g, AF_INET);
    assert_ok(gf_hbase_connection_open("127.0.0.1", g.port, gf_clock_seconds() + 20, &c, &err));
    int s = accept(g.listener, NULL, NULL);
    struct linger at_once = {1, 0};
    setsockopt(s, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(s);
    assert_false(gf_hbase_connection_is_idle(c));
    gf_slice bytes = gf_slice_of(much, sizeof much);
    gf_status st = gf_hbase_connection_send(c, bytes, gf_clock_seconds() + 20, &sent, &err);
    if (st == GF_OK) st = gf_hbase_connection_send(c, bytes, gf_clock_seconds() + 20, &sent, &err);
    assert_int_equal(st, GF_EIO);
    gf_hbase_connection_close(c);
    close(g.listener);
}

/* Nobody reads what is sent: the deadline counts. */
static void does_not_send_for_ever(void **state)
{
    (void)state;
    gateway g = {0};
    gf_error err;
    gf_hbase_connection *c;
    static char much[32 << 20];
    size_t sent;
    listen_on(&g, AF_INET);
    assert_ok(gf_hbase_connection_open("127.0.0.1", g.port, gf_clock_seconds() + 20, &c, &err));
    assert_status(GF_EIO, gf_hbase_connection_send(c, gf_slice_of(much, sizeof much),
                                                   gf_clock_seconds() + 0.3, &sent, &err));
    assert_true(sent < sizeof much);
    gf_hbase_connection_close(c);
    close(g.listener);
}

static void connects_by_ipv6(void **state)
{
    (void)state;
    gateway g = {0};
    gf_error err;
    gf_hbase_connection *c;
    int probe = socket(AF_INET6, SOCK_STREAM, 0);
    struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    bool able = probe >= 0 && bind(probe, (struct sockaddr *)&to, sizeof to) == 0;
    if (probe >= 0) close(probe);
    if (!able) skip();
    listen_on(&g, AF_INET6);
    assert_ok(gf_hbase_connection_open("::1", g.port, gf_clock_seconds() + 20, &c, &err));
    gf_hbase_connection_close(c);
    close(g.listener);
}

static void reads_urls(void **state)
{
    (void)state;
    gf_error err;
    gf_hbase_address a;
    assert_ok(gf_hbase_address_read("hbase://h", &a, &err));
    assert_string_equal(a.host, "h");
    assert_string_equal(a.port, "9090");
    assert_string_equal(a.name_space, "default");
    assert_ok(gf_hbase_address_read("hbase://[::1]:81/team_7", &a, &err));
    assert_string_equal(a.host, "::1");
    assert_string_equal(a.port, "81");
    assert_string_equal(a.name_space, "team_7");
    static const char *const bad[] = {
        "hbase://",   "hbase://:9090", "hbase://h:0",   "hbase://h:65536", "hbase://h:x",
        "hbase://h/", "hbase://h/a/b", "hbase://h/a-b", "hbase://[::1",    "hbase://[::1]x",
        "hbase://h:", "hbase:/h",      "HBASE://h",     "hbase://h:90:9",  "store"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_status(GF_EINVAL, gf_hbase_address_read(bad[i], &a, &err));
        assert_string_equal(a.host, "::1"); /* unchanged */
    }
    assert_true(gf_hbase_is_url("hbase://h"));
    assert_false(gf_hbase_is_url("hbase.store"));
}

static gf_status call_once(void *context, gf_error *err)
{
    bool yes;
    gf_hbase_client *c;
    gf_hbase_address a = {"127.0.0.1", "", "default"};
    snprintf(a.port, sizeof a.port, "%s", (const char *)context);
    gf_status st = gf_hbase_client_create(&a, 20000, &c, err);
    if (st != GF_OK) return st;
    st = ask(c, GF_HBASE_READS, &yes, err);
    gf_hbase_client_free(c);
    return st;
}

/* The gateway runs in this process, and its allocations would count. */
static void tells_of_missing_memory(void **state)
{
    (void)state;
    gateway g = {0};
    listen_on(&g, AF_INET);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < MOST_DEEDS; i++)
            g.deeds[i] = ANSWERS;
        serve(&g);
        _exit(0);
    }
    gf_test_sweep(call_once, NULL, g.port);
    kill(child, SIGKILL);
    close(g.listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(uses_a_connection_again),
                                       cmocka_unit_test(reads_again_and_does_not_write_again),
                                       cmocka_unit_test(tells_of_the_first_try),
                                       cmocka_unit_test(notices_a_closed_connection),
                                       cmocka_unit_test(tells_what_hbase_says),
                                       cmocka_unit_test(ends_at_the_deadline),
                                       cmocka_unit_test(ends_by_a_signal),
                                       cmocka_unit_test(tells_that_a_request_was_large),
                                       cmocka_unit_test(tells_that_nobody_listens),
                                       cmocka_unit_test(outlives_a_peer_that_goes),
                                       cmocka_unit_test(does_not_send_for_ever),
                                       cmocka_unit_test(connects_by_ipv6),
                                       cmocka_unit_test(reads_urls),
                                       cmocka_unit_test(tells_of_missing_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
