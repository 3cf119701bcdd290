/* Frames: whatever the pieces they come in, and what is none. */
#include "server/socket/wire.h"
#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"

#include <linux/sockios.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void make_pair(int fds[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
}

/* ---- there and back -------------------------------------------------------------------------- */

static const size_t sizes[] = {0,     1,      5,      1000,   65535,   65536,
                               65537, 131072, 131073, 200000, 3000000, 0};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static void fill_message(char *to, size_t n, size_t i)
{
    for (size_t j = 0; j < n; j++)
        to[j] = (char)(i * 31 + j * 7 + j / 256);
}

typedef struct sender {
    int fd;
    gf_status status;
    gf_error err;
} sender;

static void *send_all(void *context)
{
    sender *s = context;
    gf_wire w;
    gf_wire_init(&w, s->fd, NULL, NULL);
    for (size_t i = 0; i < N_SIZES && s->status == GF_OK; i++) {
        char *bytes = malloc(sizes[i] + 1);
        fill_message(bytes, sizes[i], i);
        s->status = gf_wire_send(&w, (gf_wire_type)(GF_WIRE_ROW + i % 3),
                                 gf_slice_of(bytes, sizes[i]), &s->err);
        free(bytes);
    }
    if (s->status == GF_OK) s->status = gf_wire_flush(&w, &s->err);
    gf_wire_release(&w);
    close(s->fd);
    return NULL;
}

static void test_messages_of_all_sizes(void **state)
{
    (void)state;
    int fds[2];
    gf_error err;
    gf_wire w;
    gf_wire_type type;
    gf_slice bytes;
    pthread_t thread;
    make_pair(fds);
    sender s = {.fd = fds[1]};
    assert_int_equal(pthread_create(&thread, NULL, send_all, &s), 0);
    gf_wire_init(&w, fds[0], NULL, NULL);
    for (size_t i = 0; i < N_SIZES; i++) {
        char *expected = malloc(sizes[i] + 1);
        fill_message(expected, sizes[i], i);
        assert_ok(gf_wire_receive(&w, &type, &bytes, &err));
        assert_int_equal(type, GF_WIRE_ROW + i % 3);
        assert_true(gf_slice_equal(bytes, gf_slice_of(expected, sizes[i])));
        free(expected);
    }
    assert_status(GF_EIO, gf_wire_receive(&w, &type, &bytes, &err));
    pthread_join(thread, NULL);
    assert_int_equal(s.status, GF_OK);
    gf_wire_release(&w);
    close(fds[0]);
}

/* ---- what is no frame ------------------------------------------------------------------------ */

/* What receiving all of these bytes ends with, if each message may have 100,000. */
static gf_status receive_all(const void *bytes, size_t n, size_t *messages)
{
    int fds[2], buffer = 1 << 20;
    gf_wire w;
    gf_wire_type type;
    gf_slice got;
    gf_status st;
    make_pair(fds);
    setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    assert_int_equal(write(fds[1], bytes, n), n);
    close(fds[1]);
    gf_wire_init(&w, fds[0], NULL, NULL);
    w.most = 100000;
    *messages = 0;
    while ((st = gf_wire_receive(&w, &type, &got, NULL)) == GF_OK)
        ++*messages;
    gf_wire_release(&w);
    close(fds[0]);
    return st;
}

static void test_what_is_no_frame(void **state)
{
    (void)state;
    size_t n;
    assert_status(GF_EIO, receive_all("", 0, &n));
    assert_status(GF_EIO, receive_all("\0\0\0", 3, &n));
    assert_status(GF_EIO, receive_all("\0\0\0\2\23a", 6, &n));
    assert_int_equal(n, 0);
    assert_status(GF_EINVAL, receive_all("\0\1\0\1\23", 5, &n));
    assert_status(GF_EINVAL, receive_all("\377\377\377\377\23", 5, &n));
    /* a message that another type breaks into; one that never ends */
    assert_status(GF_EINVAL, receive_all("\0\0\0\1\223a\0\0\0\1\24b", 12, &n));
    assert_status(GF_EIO, receive_all("\0\0\0\1\223a\0\0\0\1\223b", 12, &n));
    assert_status(GF_EIO, receive_all("\0\0\0\1\223a\0\0\0\1\23b", 12, &n));
    assert_int_equal(n, 1);
    /* a frame of nothing that goes on: there could be any number of them */
    assert_status(GF_EINVAL, receive_all("\0\0\0\0\223\0\0\0\1\23b", 11, &n));
    assert_int_equal(n, 0);
}

static void test_a_message_has_an_end(void **state)
{
    (void)state;
    size_t n, length = 5 + 60000;
    char *two = calloc(2, length);
    for (size_t i = 0; i < 2; i++)
        memcpy(two + i * length, "\0\0\352\140\223", 5);
    assert_status(GF_ELIMIT, receive_all(two, 2 * length, &n));
    free(two);
}

/* A frame, byte by byte, each as soon as the one before was taken. */
static void *drip(void *context)
{
    int fd = *(int *)context, left = 1;
    const char head[5] = {0, 0, (char)0xc3, 0x50, 19}; /* 50,000 bytes */
    for (int i = 0; i < 5 + 50000; i++) {
        if (send(fd, i < 5 ? &head[i] : "x", 1, MSG_NOSIGNAL) != 1) break;
        do
            usleep(100);
        while (ioctl(fd, SIOCOUTQ, &left) == 0 && left > 0);
    }
    close(fd);
    return NULL;
}

static gf_status lose_patience(void *context, bool sending, double idle, gf_error *err)
{
    unsigned *asked = context;
    (void)sending, (void)idle;
    return ++*asked < 20 ? GF_OK : gf_fail(err, GF_EBUSY, "that takes too long");
}

/* Who never stops sending, and gets nowhere, is asked about all the same. */
static void test_drips(void **state)
{
    (void)state;
    int fds[2];
    unsigned asked = 0;
    gf_wire w;
    gf_wire_type type;
    gf_slice got;
    pthread_t thread;
    make_pair(fds);
    assert_int_equal(pthread_create(&thread, NULL, drip, &fds[1]), 0);
    gf_wire_init(&w, fds[0], lose_patience, &asked);
    assert_status(GF_EBUSY, gf_wire_receive(&w, &type, &got, NULL));
    gf_wire_release(&w);
    close(fds[0]);
    pthread_join(thread, NULL);
}

/* Bytes at random are refused, or taken for what they say; nothing else. */
static void test_anything(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 300; round++) {
        char bytes[600];
        size_t n = gf_random_below(&random, sizeof bytes), messages;
        for (size_t i = 0; i < n; i++)
            bytes[i] = (char)(gf_random_below(&random, 3) ? gf_random_below(&random, 4)
                                                          : gf_random_below(&random, 256));
        gf_wire_call call;
        gf_notice notice;
        gf_wire_progress progress;
        gf_wire_result result;
        gf_buffer memory = {0};
        gf_slice slice = gf_slice_of(bytes, n);
        assert_true(receive_all(bytes, n, &messages) != GF_OK);
        if (gf_wire_read_call(slice, &call, NULL) == GF_OK) gf_free(call.arguments);
        gf_wire_read_notice(slice, &memory, &notice);
        gf_wire_read_progress(slice, &memory, &progress);
        gf_wire_read_result(slice, &result);
        gf_buffer_release(&memory);
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

static void test_calls(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer b = {0};
    gf_argument arguments[] = {{GF_SLICE("collection"), GF_SLICE("c")},
                               {GF_SLICE("id"), gf_slice_of("a\0b", 3)}};
    gf_wire_call got, call = {.operation = GF_SLICE("put"),
                              .name_space = GF_SLICE("n"),
                              .store_path = GF_SLICE("./s"),
                              .input = true,
                              .reject = true,
                              .arguments = arguments,
                              .n_arguments = 2};
    gf_wire_write_call(&b, &call);
    assert_ok(gf_wire_read_call(gf_buffer_view(&b), &got, &err));
    assert_slice(got.operation, "put");
    assert_slice(got.name_space, "n");
    assert_slice(got.store_path, "./s");
    assert_true(got.input && got.reject && !got.notice && !got.progress && !got.write);
    assert_int_equal(got.n_arguments, 2);
    assert_slice(got.arguments[0].value, "c");
    assert_true(gf_slice_equal(got.arguments[1].value, arguments[1].value));
    gf_free(got.arguments);
    for (size_t n = 0; n < b.len; n++)
        assert_status(GF_EINVAL, gf_wire_read_call(gf_slice_of(b.ptr, n), &got, &err));
    gf_buffer_byte(&b, 'x');
    assert_status(GF_EINVAL, gf_wire_read_call(gf_buffer_view(&b), &got, &err));
    gf_buffer_release(&b);
}

static void test_notices_progress_results(void **state)
{
    (void)state;
    gf_buffer b = {0}, memory = {0};
    gf_notice n = {"no_text", GF_SLICE("a.jsonl"), 7, "it has no text", true}, notice;
    gf_wire_progress p = {GF_SLICE("c"), "reading", 3, 1000000}, progress;
    gf_wire_result r = {GF_ENOTFOUND, GF_OUTCOME_SOME_ABSENT, true, GF_SLICE("gone")}, result;
    gf_wire_write_notice(&b, &n);
    assert_true(gf_wire_read_notice(gf_buffer_view(&b), &memory, &notice));
    assert_string_equal(notice.reason, n.reason);
    assert_string_equal(notice.message, n.message);
    assert_slice(notice.source, "a.jsonl");
    assert_true(notice.line == 7 && notice.refused);
    gf_buffer_reset(&b);
    gf_wire_write_progress(&b, &p);
    assert_true(gf_wire_read_progress(gf_buffer_view(&b), &memory, &progress));
    assert_slice(progress.what, "c");
    assert_string_equal(progress.phase, "reading");
    assert_true(progress.done == 3 && progress.total == 1000000);
    gf_buffer_reset(&b);
    gf_wire_write_result(&b, &r);
    assert_true(gf_wire_read_result(gf_buffer_view(&b), &result));
    assert_true(result.status == r.status && result.outcome == r.outcome && result.partly);
    assert_slice(result.message, "gone");
    assert_false(gf_wire_read_result(GF_SLICE("\177\0\0"), &result));
    assert_false(gf_wire_read_result(GF_SLICE("\0\177\0"), &result));
    gf_buffer_release(&b);
    gf_buffer_release(&memory);
}

static gf_status exchange(void *context, gf_error *err)
{
    (void)context;
    int fds[2];
    gf_wire a, b;
    gf_wire_type type;
    gf_slice got;
    make_pair(fds);
    gf_wire_init(&a, fds[0], NULL, NULL);
    gf_wire_init(&b, fds[1], NULL, NULL);
    char *bytes = calloc(1, 70000);
    gf_status st = gf_wire_send(&a, GF_WIRE_ROW, gf_slice_of(bytes, 70000), err);
    if (st == GF_OK) st = gf_wire_flush(&a, err);
    if (st == GF_OK) st = gf_wire_receive(&b, &type, &got, err);
    if (st == GF_OK) assert_int_equal(got.len, 70000);
    free(bytes);
    gf_wire_release(&a);
    gf_wire_release(&b);
    close(fds[0]);
    close(fds[1]);
    return st;
}

static void test_sweep(void **state)
{
    (void)state;
    gf_test_sweep(exchange, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_messages_of_all_sizes),
                                       cmocka_unit_test(test_what_is_no_frame),
                                       cmocka_unit_test(test_a_message_has_an_end),
                                       cmocka_unit_test(test_drips),
                                       cmocka_unit_test(test_anything),
                                       cmocka_unit_test(test_calls),
                                       cmocka_unit_test(test_notices_progress_results),
                                       cmocka_unit_test(test_sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
