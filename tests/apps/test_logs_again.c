/* Access logs that are imported again: the same, grown, cut off, packed, and others that begin
 * alike. */
#include "base/random.h"
#include "tests/api/transport.h"
#include "tests/formats/archive.h"
#include "tests/support/test.h"

enum { BLOCK = 1024 };

static void append_line(gf_buffer *log, unsigned second, unsigned address)
{
    gf_buffer_format(
        log, "10.0.%u.%u - u%u [13/Jul/2009:%02u:%02u:%02u +0000] \"GET /%u HTTP/1.1\" 200 %u\n",
        address / 256, address % 256, address % 3, second / 3600, second / 60 % 60, second % 60,
        address, 10 + address);
}

/* Lines `from` to `to` of a log of its own. */
static void write_lines(gf_buffer *log, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        append_line(log, i / 3, i);
}

static void import(transport *t, gf_slice bytes)
{
    transport_input(t, "a.log", bytes);
    assert_run(t, "log import", "log", "web");
}

#define check_import(t, log, lines_, known_, refused_)                                             \
    do {                                                                                           \
        import(t, gf_buffer_view(log));                                                            \
        assert_int_equal(transport_number(t, 0, "lines"), lines_);                                 \
        assert_int_equal(transport_number(t, 0, "known"), known_);                                 \
        assert_int_equal(transport_number(t, 0, "refused"), refused_);                             \
    } while (0)

/* The number of rows; each has an entry by ip and by login, and there are no others. */
static uint64_t count_rows(transport *t)
{
    assert_run(t, "table scan", "table", "web", "family", "http");
    uint64_t n = t->n_rows;
    assert_run(t, "table scan", "table", "web-by", "key", "ip");
    assert_int_equal(t->n_rows, n);
    assert_run(t, "table scan", "table", "web-by", "key", "login");
    assert_int_equal(t->n_rows, n);
    return n;
}

static void the_same_counts_once(void **state)
{
    static const unsigned sizes[] = {1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        transport t;
        gf_buffer log = {0}, packed = {0};
        transport_open(&t);
        write_lines(&log, 0, sizes[i]);
        check_import(&t, &log, sizes[i], 0, 0);
        check_import(&t, &log, 0, sizes[i], 0);
        compress_bytes("zstd", gf_buffer_view(&log), &packed);
        check_import(&t, &packed, 0, sizes[i], 0);
        transport_input(&t, "a.log", gf_buffer_view(&log));
        transport_input(&t, "b.log", gf_buffer_view(&log));
        assert_run(&t, "log import", "log", "other");
        assert_int_equal(transport_number(&t, 0, "lines"), sizes[i]);
        assert_int_equal(transport_number(&t, 0, "known"), sizes[i]);
        assert_int_equal(count_rows(&t), sizes[i]);
        transport_input(&t, "a.log", gf_buffer_view(&log));
        assert_run(&t, "log import", "log", "web", "again", "true");
        assert_int_equal(transport_number(&t, 0, "lines"), sizes[i]);
        check_import(&t, &log, 0, sizes[i], 0);
        assert_int_equal(count_rows(&t), 2 * sizes[i]);
        gf_buffer_release(&log);
        gf_buffer_release(&packed);
        transport_close(&t);
    }
}

/* By pieces of any size the log grows to what it is at once, also where they end within a line. */
static void what_has_grown_goes_on(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 6; round++) {
        enum { LINES = 2500 };
        transport t;
        gf_buffer log = {0};
        transport_open(&t);
        write_lines(&log, 0, LINES);
        bool whole = round % 2 == 0;
        for (size_t to = 0; to < log.len;) {
            to += 1 + (size_t)gf_random_below(&r, round < 4 ? 60000 : 20000);
            if (to > log.len) to = log.len;
            while (to < log.len && whole && log.ptr[to - 1] != '\n')
                to++;
            gf_buffer part = {0};
            gf_buffer_append(&part, log.ptr, to);
            import(&t, gf_buffer_view(&part));
            import(&t, gf_buffer_view(&part));
            assert_int_equal(transport_number(&t, 0, "lines"), 0);
            gf_buffer_release(&part);
        }
        check_import(&t, &log, 0, LINES, 0);
        assert_int_equal(count_rows(&t), LINES);
        gf_buffer_release(&log);
        transport_close(&t);
    }
}

/* A last line without a line end is a line, and what it has become later is the same one. */
static void a_tail_is_replaced(void **state)
{
    (void)state;
    transport t;
    gf_buffer log = {0};
    transport_open(&t);
    write_lines(&log, 0, 5);
    size_t whole = log.len;
    log.len = whole - 2; /* "... 200 1" of 14 */
    check_import(&t, &log, 5, 0, 0);
    check_import(&t, &log, 0, 5, 0);
    log.len = whole - 1;
    check_import(&t, &log, 1, 4, 0);
    assert_int_equal(count_rows(&t), 5);
    log.len = whole; /* the line end alone is nothing new */
    check_import(&t, &log, 0, 5, 0);
    log.len = whole - 30; /* an older copy, cut within its last line */
    check_import(&t, &log, 0, 4, 1);
    log.len = whole - 1;
    check_import(&t, &log, 0, 5, 0);
    assert_run(&t, "log find", "log", "web", "ip", "10.0.0.4");
    assert_int_equal(t.n_rows, 1);
    assert_int_equal(transport_number(&t, 0, "bytes"), 14);
    /* A tail that is refused, and becomes a line. */
    log.len = whole;
    write_lines(&log, 5, 6);
    whole = log.len;
    log.len -= 30;
    check_import(&t, &log, 0, 5, 1);
    check_import(&t, &log, 0, 5, 1);
    log.len = whole;
    check_import(&t, &log, 1, 5, 0);
    assert_int_equal(count_rows(&t), 6);
    gf_buffer_release(&log);
    transport_close(&t);
}

/* The first line, too, and of several logs: whether what was there of it was a line or not. */
static void a_first_tail_is_replaced(void **state)
{
    (void)state;
    transport t;
    gf_buffer a = {0}, b = {0};
    transport_open(&t);
    write_lines(&a, 300, 302);
    write_lines(&b, 400, 402);
    size_t end_of_a = a.len / 2, end_of_b = b.len / 2; /* of the first line */
    static const struct {
        size_t cut;
        unsigned lines, known, refused;
    } steps[] = {{40, 0, 0, 1}, {40, 0, 0, 1}, {3, 1, 0, 0}, {3, 0, 1, 0},
                 {1, 1, 0, 0},  {1, 0, 1, 0},  {0, 0, 1, 0}, {1, 0, 1, 0}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        a.len = end_of_a - steps[i].cut;
        check_import(&t, &a, steps[i].lines, steps[i].known, steps[i].refused);
        b.len = end_of_b - steps[i].cut;
        check_import(&t, &b, steps[i].lines, steps[i].known, steps[i].refused);
        if (i > 1) assert_int_equal(count_rows(&t), 2);
    }
    a.len = 2 * end_of_a;
    check_import(&t, &a, 1, 1, 0);
    b.len = 2 * end_of_b;
    check_import(&t, &b, 1, 1, 0);
    assert_int_equal(count_rows(&t), 4);
    assert_run(&t, "table scan", "table", "web-by", "key", "read");
    assert_int_equal(t.n_rows, 2); /* nothing is left of the tails */
    transport_input(&t, "a.log", gf_slice_of(a.ptr, end_of_a - 3));
    assert_run(&t, "log import", "log", "web", "again", "true");
    assert_int_equal(transport_number(&t, 0, "lines"), 1);
    assert_int_equal(count_rows(&t), 5);
    gf_buffer_release(&a);
    gf_buffer_release(&b);
    transport_close(&t);
}

/* Logs that begin alike and then differ are two, and damaged lines are told each time. */
static void others_count(void **state)
{
    (void)state;
    transport t;
    gf_buffer a = {0}, b = {0}, c = {0};
    transport_open(&t);
    write_lines(&a, 0, 10);
    write_lines(&b, 0, 4);
    gf_buffer_str(&b, "damaged\n");
    write_lines(&b, 20, 30);
    write_lines(&c, 1, 10); /* equal lines, without the first */
    check_import(&t, &a, 10, 0, 0);
    check_import(&t, &b, 14, 0, 1);
    check_import(&t, &b, 0, 14, 1);
    check_import(&t, &a, 0, 10, 0);
    check_import(&t, &c, 9, 0, 0);
    assert_int_equal(count_rows(&t), 33);
    write_lines(&a, 50, 52);
    write_lines(&b, 60, 63);
    check_import(&t, &a, 2, 10, 0);
    check_import(&t, &b, 3, 14, 1);
    assert_int_equal(count_rows(&t), 38);
    gf_buffer_release(&a);
    gf_buffer_release(&b);
    gf_buffer_release(&c);
    transport_close(&t);
}

/* Behind the first block only what is behind the difference is new. */
static void a_late_difference(void **state)
{
    (void)state;
    transport t;
    gf_buffer a = {0}, b = {0};
    transport_open(&t);
    write_lines(&a, 0, 2 * BLOCK + 100);
    write_lines(&b, 0, BLOCK + 500);
    write_lines(&b, 9000, 9050);
    check_import(&t, &a, 2 * BLOCK + 100, 0, 0);
    check_import(&t, &b, 50, BLOCK + 500, 0);
    check_import(&t, &b, 0, BLOCK + 550, 0);
    check_import(&t, &a, 0, 2 * BLOCK + 100, 0);
    assert_int_equal(count_rows(&t), 2 * BLOCK + 150);
    gf_buffer_release(&a);
    gf_buffer_release(&b);
    transport_close(&t);
}

/* Rows that are left of a log that was dropped do not count as imported. */
static void dropped(void **state)
{
    (void)state;
    transport t;
    gf_buffer log = {0};
    transport_open(&t);
    write_lines(&log, 0, 10);
    check_import(&t, &log, 10, 0, 0);
    assert_run(&t, "table drop", "table", "web");
    check_import(&t, &log, 10, 0, 0);
    check_import(&t, &log, 0, 10, 0);
    gf_buffer_release(&log);
    transport_close(&t);
}

/* A log with a damaged line behind ten sound ones, and twenty more, as the input of an import. */
static void damaged_log(transport *t, gf_buffer *log)
{
    transport_open(t);
    write_lines(log, 0, 10);
    gf_buffer_str(log, "damaged\n");
    write_lines(log, 10, 30);
    assert_run(t, "init");
    transport_input(t, "a.log", gf_buffer_view(log));
}

/* An import of it that ended at the damaged line told of the ten; the next one takes the rest. */
static void the_rest_is_imported(transport *t, gf_buffer *log)
{
    assert_int_equal(transport_number(t, 0, "lines"), 10);
    t->cancel_at = 0;
    t->rejected.max = 0;
    check_import(t, log, 20, 10, 1);
    assert_int_equal(count_rows(t), 30);
    gf_buffer_release(log);
    transport_close(t);
}

/* Stopped at a damaged line: what was read is stored and told of, the rest goes on. */
static void stopped(void **state)
{
    (void)state;
    transport t;
    gf_error err;
    gf_buffer log = {0};
    damaged_log(&t, &log);
    t.cancel_at = 1;
    assert_status(GF_ECANCELLED, transport_run(&t, &err, "log import", "log", "web", NULL));
    assert_non_null(strstr(err.message, "what was stored stays"));
    the_rest_is_imported(&t, &log);
}

/* If a refused line cannot be kept, the lines before it are stored and counted, and no others. */
static void rejects_cannot_be_kept(void **state)
{
    (void)state;
    transport t;
    gf_error err;
    gf_buffer log = {0};
    damaged_log(&t, &log);
    t.rejected.max = 5;
    assert_status(GF_ELIMIT, transport_run(&t, &err, "log import", "log", "web", NULL));
    the_rest_is_imported(&t, &log);
}

/* Reading fails at every allocation: what is stored then goes on to the whole log. */
static gf_status run(void *context, gf_error *err)
{
    transport *t = context;
    const gf_argument log = {GF_SLICE("log"), GF_SLICE("web")};
    return transport_run_with(t, "log import", &log, 1, err);
}

typedef struct swept {
    transport *t;
    gf_slice bytes;
} swept;

static gf_status run_swept(void *context, gf_error *err)
{
    swept *s = context;
    transport_input(s->t, "a.log", s->bytes);
    return run(s->t, err);
}

static void memory_fails(void **state)
{
    (void)state;
    transport t;
    gf_buffer a = {0}, b = {0};
    transport_open(&t);
    write_lines(&a, 0, 8);
    a.len -= 1;
    write_lines(&b, 0, 7);
    write_lines(&b, 30, 35);
    check_import(&t, &a, 8, 0, 0);
    gf_buffer_byte(&a, '\n');
    write_lines(&a, 8, 12);
    swept all[] = {{&t, gf_buffer_view(&a)}, {&t, gf_buffer_view(&b)}};
    for (int i = 0; i < 2; i++)
        gf_test_sweep(run_swept, NULL, &all[i]);
    assert_int_equal(count_rows(&t), 24);
    gf_buffer_release(&a);
    gf_buffer_release(&b);
    transport_close(&t);
}

/* Making a dropped log again fails at every allocation: none of the lines counts as imported. */
static void making_it_again_fails(void **state)
{
    (void)state;
    transport t;
    gf_buffer log = {0};
    transport_open(&t);
    write_lines(&log, 0, 10);
    check_import(&t, &log, 10, 0, 0);
    assert_run(&t, "table drop", "table", "web");
    gf_test_sweep(run_swept, NULL, &(swept){&t, gf_buffer_view(&log)});
    assert_run(&t, "table scan", "table", "web", "family", "http");
    assert_int_equal(t.n_rows, 10);
    gf_buffer_release(&log);
    transport_close(&t);
}

/* Numbers of lines are used once: without them nothing is imported over lines that are there. */
static void numbers_are_lost(void **state)
{
    (void)state;
    transport t;
    gf_error err;
    gf_buffer log = {0};
    transport_open(&t);
    write_lines(&log, 0, 3);
    check_import(&t, &log, 3, 0, 0);
    static const char *const bad[] = {"99999999999999999999999", "-1", "some", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gf_buffer line = {0};
        gf_buffer_format(&line,
                         "{\"table\":\"web-by\",\"key\":[\"next\",\"\",0,0],"
                         "\"cells\":{\"entry\":{\"line\":\"%s\"}}}\n",
                         bad[i]);
        transport_input(&t, "batch.jsonl", gf_buffer_view(&line));
        assert_run(&t, "table batch");
        gf_buffer_release(&line);
        transport_input(&t, "a.log", gf_buffer_view(&log));
        assert_status(GF_ECORRUPT, transport_run(&t, &err, "log import", "log", "web", NULL));
    }
    assert_run(&t, "table drop", "table", "web-by");
    gf_buffer_reset(&log);
    append_line(&log, 0, 77);
    transport_input(&t, "b.log", gf_buffer_view(&log));
    assert_status(GF_ENOTFOUND, transport_run(&t, &err, "log import", "log", "web", NULL));
    assert_run(&t, "table scan", "table", "web", "family", "http");
    assert_int_equal(t.n_rows, 3);
    gf_buffer_release(&log);
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_counts_once),
                                       cmocka_unit_test(what_has_grown_goes_on),
                                       cmocka_unit_test(a_tail_is_replaced),
                                       cmocka_unit_test(a_first_tail_is_replaced),
                                       cmocka_unit_test(others_count),
                                       cmocka_unit_test(a_late_difference),
                                       cmocka_unit_test(dropped),
                                       cmocka_unit_test(stopped),
                                       cmocka_unit_test(rejects_cannot_be_kept),
                                       cmocka_unit_test(memory_fails),
                                       cmocka_unit_test(making_it_again_fails),
                                       cmocka_unit_test(numbers_are_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
