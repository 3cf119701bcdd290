/*
 * Access logs: failing allocations, and what is no log. What the operations give is in
 * docs/operations.md; their sums are held against the lines in tests/case-studies.
 */
#include "support/test.h"
#include "tests/api/transport.h"

static const char lines[] =
    "1.1.1.1 - frank [13/Jul/2009:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 10 \"-\" \"x\" \"id=7\"\n"
    "damaged\n"
    "2.2.2.2 - - [13/Jul/2009:00:00:00 +0000] \"GET http://b.org/ HTTP/1.1\" 404 -\n";

typedef struct swept {
    transport *t;
    const char *operation;
    gf_argument arguments[3];
    size_t n;
} swept;

static gf_status run(void *context, gf_error *err)
{
    swept *s = context;
    if (strcmp(s->operation, "log import") == 0)
        transport_input(s->t, "a.log", gf_slice_str(lines));
    return transport_run_with(s->t, s->operation, s->arguments, s->n, err);
}

static void memory_fails(void **state)
{
    transport t;
    const gf_argument log = {GF_SLICE("log"), GF_SLICE("web")};
    swept all[] = {{&t, "log import", {log, {GF_SLICE("domain"), GF_SLICE("a.org")}}, 2},
                   {&t, "log report", {log, {GF_SLICE("by"), GF_SLICE("status")}}, 2},
                   {&t, "log report", {log, {GF_SLICE("visitors"), GF_SLICE("true")}}, 2},
                   {&t,
                    "log report",
                    {log, {GF_SLICE("by"), GF_SLICE("agent")}, {GF_SLICE("every"), GF_SLICE("5m")}},
                    3},
                   {&t, "log find", {log, {GF_SLICE("cookie"), GF_SLICE("id=7")}}, 2},
                   {&t, "log rollup", {log}, 1},
                   {&t, "log delete", {log, {GF_SLICE("before"), GF_SLICE("2009-07-14")}}, 2}};
    (void)state;
    transport_open(&t);
    assert_run(&t, "init", NULL);
    transport_input(&t, "a.log", gf_slice_str(lines));
    assert_run(&t, "log import", "log", "web");
    assert_int_equal(transport_number(&t, 0, "lines"), 2);
    assert_int_equal(t.outcome, GF_OUTCOME_SOME_REFUSED);
    assert_string_equal(t.notices[0].reason, "bad_line");
    assert_int_equal(t.notices[0].line, 2);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gf_test_sweep(run, NULL, &all[i]);
    transport_close(&t);
}

/* A table that is no log is left alone; a log that is not there is said to be missing. */
static void no_log(void **state)
{
    transport t;
    gf_error err;
    (void)state;
    transport_open(&t);
    assert_run(&t, "table create", "table", "web", "key", "id", "family", "info");
    assert_status(GF_ENOTFOUND, transport_run(&t, &err, "log report", "log", "none", NULL));
    transport_input(&t, "a.log", gf_slice_str(lines));
    assert_status(GF_EINVAL, transport_run(&t, &err, "log import", "log", "web", NULL));
    assert_run(&t, "table scan", "table", "web");
    assert_int_equal(t.n_rows, 0);
    assert_status(GF_EINVAL, transport_run(&t, &err, "log import", "log", "other", NULL));
    transport_close(&t);
}

/* An input that is no log is reported, and leaves nothing behind. */
static void nothing_is_made_of_no_log(void **state)
{
    transport t;
    gf_error err;
    gf_buffer text = {0};
    (void)state;
    transport_open(&t);
    for (int i = 0; i < 100; i++)
        gf_buffer_format(&text, "line %d of something else\n", i);
    transport_input(&t, "notes.txt", gf_buffer_view(&text));
    assert_run(&t, "log import", "log", "web");
    assert_int_equal(t.outcome, GF_OUTCOME_SOME_REFUSED);
    assert_int_equal(transport_number(&t, 0, "refused"), 100);
    assert_int_equal(t.notices[99].line, 100);
    assert_null(t.store);
    gf_buffer_str(&text, "one more\n");
    gf_buffer_str(&text, lines); /* too late */
    transport_input(&t, "notes.txt", gf_buffer_view(&text));
    assert_status(GF_EINVAL, transport_run(&t, &err, "log import", "log", "web", NULL));
    assert_non_null(strstr(err.message, "notes.txt is no access log"));
    assert_int_equal(t.n_notices, 0);
    assert_null(t.store);
    text.len = 20; /* one damaged line, and then good ones */
    gf_buffer_str(&text, "\n");
    gf_buffer_str(&text, lines);
    transport_input(&t, "a.log", gf_buffer_view(&text));
    assert_run(&t, "log import", "log", "web");
    assert_int_equal(transport_number(&t, 0, "lines"), 2);
    assert_int_equal(t.notices[0].line, 1);
    assert_status(GF_ENOTFOUND, transport_run(&t, &err, "log report", "log", "wab", NULL));
    assert_string_equal(err.message, "there is no log \"wab\"");
    gf_buffer_release(&text);
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_fails), cmocka_unit_test(no_log),
                                       cmocka_unit_test(nothing_is_made_of_no_log)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
