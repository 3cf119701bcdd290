/*
 * Who takes an answer too slowly, by real connections over loopback and seconds that only pass
 * here.
 */
#include "tests/support/test.h"

#include "server/http/callers.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct pair {
    int ours, theirs;
    gf_slow_reader reader;
    double now;
} pair;

static void begin(pair *p)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM, 0), room = 16 << 10;
    *p = (pair){.now = 1000};
    assert_int_equal(bind(listening, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(listen(listening, 1), 0);
    p->theirs = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(setsockopt(p->theirs, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
    assert_int_equal(connect(p->theirs, (struct sockaddr *)&address, size), 0);
    p->ours = accept(listening, NULL, NULL);
    assert_true(p->ours >= 0);
    assert_int_equal(setsockopt(p->ours, SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
    assert_int_equal(fcntl(p->ours, F_SETFL, O_NONBLOCK), 0);
    close(listening);
}

static void end(pair *p)
{
    close(p->ours);
    close(p->theirs);
}

/* As much as goes in; whoever it is for takes some of it meanwhile. */
static void fill(const pair *p)
{
    static const char bytes[4096];
    while (write(p->ours, bytes, sizeof bytes) > 0)
        ;
}

static void take(const pair *p, size_t n)
{
    char bytes[4096];
    while (n) {
        ssize_t got = recv(p->theirs, bytes, n < sizeof bytes ? n : sizeof bytes, MSG_WAITALL);
        assert_true(got > 0);
        n -= (size_t)got;
    }
}

static bool look_after(pair *p, double seconds)
{
    p->now += seconds;
    return gf_slow_reader_is_slow(&p->reader, p->ours, p->now);
}

static void who_takes_nothing_is_slow(void **state)
{
    (void)state;
    pair p;
    begin(&p);
    fill(&p);
    unsigned looks = 0;
    while (looks < 200 && !look_after(&p, 1))
        looks++;
    assert_in_range(looks, 46, 199); /* the first one begins; what is acknowledged late pays */
    end(&p);
}

static void who_takes_little_is_slow(void **state)
{
    (void)state;
    pair p;
    begin(&p);
    unsigned seconds = 0;
    for (; seconds < 300 && !look_after(&p, 1); seconds++) {
        fill(&p);
        take(&p, 100);
    }
    assert_in_range(seconds, 45, 200); /* its own side has room for some of it */
    end(&p);
}

/*
 * 4 KiB a second, whether they come evenly or after each half minute. What was received and is not
 * acknowledged yet is less than the 45 KiB that may be owed.
 */
static void who_takes_enough_is_not(void **state)
{
    (void)state;
    for (int pause = 1; pause <= 30; pause += 29) {
        pair p;
        begin(&p);
        fill(&p);
        for (int i = 0; i < 1000; i++) {
            assert_false(look_after(&p, 1));
            for (int k = 0; i % pause == 0 && k < pause; k++) {
                take(&p, 4096);
                fill(&p);
            }
        }
        end(&p);
    }
}

/* What was taken quickly at first is no excuse. */
static void nothing_is_saved_up(void **state)
{
    (void)state;
    pair p;
    begin(&p);
    fill(&p);
    for (int i = 0; i < 500; i++) {
        take(&p, 4096);
        fill(&p);
        assert_false(look_after(&p, 0.25));
    }
    bool slow = false;
    for (int i = 0; i < 150 && !slow; i++)
        slow = look_after(&p, 1);
    assert_true(slow);
    end(&p);
}

static void wait_until_all_is_acknowledged(pair *p)
{
    for (int i = 0; i < 10000; i++) {
        gf_slow_reader t = {0};
        gf_slow_reader_is_slow(&t, p->ours, 0);
        if (!t.waits) return;
        poll(NULL, 0, 1);
    }
    fail_msg("what was taken is not acknowledged");
}

/* While there is nothing to take it is us who are slow. */
static void who_waits_for_us_is_not(void **state)
{
    (void)state;
    pair p;
    begin(&p);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(write(p.ours, "row\n", 4), 4);
        take(&p, 4);
        wait_until_all_is_acknowledged(&p);
        for (int k = 0; k < 100; k++)
            assert_false(look_after(&p, 1));
    }
    end(&p);
}

/* A look that comes late, as of a machine that slept, counts as one second. */
static void late_looks_count_little(void **state)
{
    (void)state;
    pair p;
    begin(&p);
    fill(&p);
    for (int i = 0; i < 40; i++)
        assert_false(look_after(&p, 3600));
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_takes_nothing_is_slow), cmocka_unit_test(who_takes_little_is_slow),
        cmocka_unit_test(who_takes_enough_is_not),   cmocka_unit_test(nothing_is_saved_up),
        cmocka_unit_test(who_waits_for_us_is_not),   cmocka_unit_test(late_looks_count_little),
    };
    return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
