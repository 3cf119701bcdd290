/* Lines of access logs: the formats, damaged lines, and every cut and changed byte of a good one. */
#include "base/random.h"
#include "formats/logs/accesslog.h"
#include "support/test.h"

#include <stdlib.h>

static const char combined[] =
    "83.149.9.216 - frank [17/May/2015:10:05:03 +0200] \"GET /a?b=\\\"c\\\" HTTP/1.1\" 200 2032 "
    "\"http://x.org/\" \"Mozilla/5.0 (X)\" \"id=7\"";

static void parse(const char *line, gf_accesslog_line *a)
{
    gf_error err;
    memset(a, 0, sizeof *a);
    if (gf_accesslog_parse(gf_slice_str(line), a, &err) != GF_OK)
        fail_msg("%s: %s", line, err.message);
}

static void assert_text(gf_slice got, const char *wanted)
{
    if (!gf_slice_equal(got, gf_slice_str(wanted)))
        fail_msg("\"%.*s\", not \"%s\"", GF_SLICE_ARG(got), wanted);
}

static void test_formats(void **state)
{
    gf_accesslog_line a;
    (void)state;
    parse("::1 - - [13/Jul/2009:00:00:00 +0000] \"HEAD / HTTP/1.0\" 304 -", &a);
    assert_int_equal(a.time, 1247443200);
    assert_text(a.ip, "::1");
    assert_text(a.login, "");
    assert_text(a.method, "HEAD");
    assert_text(a.url, "/");
    assert_text(a.protocol, "HTTP/1.0");
    assert_int_equal(a.status, 304);
    assert_int_equal(a.bytes, 0);
    assert_text(a.agent, "");
    parse(combined, &a);
    assert_int_equal(a.time, 1431849903); /* 08:05:03 UTC */
    assert_text(a.login, "frank");
    assert_text(a.url, "/a?b=\\\"c\\\"");
    assert_int_equal(a.bytes, 2032);
    assert_text(a.referer, "http://x.org/");
    assert_text(a.agent, "Mozilla/5.0 (X)");
    assert_text(a.cookie, "id=7");
    assert_text(a.domain, "");
    parse("www.x.org:443 1.2.3.4 - a b [29/Feb/2016:23:59:60 -0130] \"-\" 408 0 \"-\" \"-\"", &a);
    assert_text(a.domain, "www.x.org");
    assert_text(a.ip, "1.2.3.4");
    assert_text(a.login, "a b");
    assert_text(a.url, "");
    assert_text(a.referer, "");
    assert_int_equal(a.time, 1456795800); /* 2016-03-01T01:30:00 */
    parse("h - - [17/May/2015:10:05:03 +0000] \"GET http://a.org:80/b\" 200 1", &a);
    assert_text(a.domain, "a.org");
    assert_text(a.url, "http://a.org:80/b");
}

static void test_damaged(void **state)
{
    static const char *const bad[][2] = {
        {"", "begin"},
        {"1.2.3.4 - -", "begin"},
        {"1.2.3.4 - [17/May/2015:10:05:03 +0000] \"GET /\" 200 1", "begin"},
        {"h - - [31/Apr/2015:10:05:03 +0000] \"GET /\" 200 1", "time"},
        {"h - - [29/Feb/2015:10:05:03 +0000] \"GET /\" 200 1", "time"},
        {"h - - [31/Dec/1969:10:05:03 +0000] \"GET /\" 200 1", "time"},
        {"h - - [01/Jan/1970:00:05:03 +0100] \"GET /\" 200 1", "time"},
        {"h - - [17/Mai/2015:10:05:03 +0000] \"GET /\" 200 1", "time"},
        {"h - - [17/May/2015:24:05:03 +0000] \"GET /\" 200 1", "time"},
        {"h - - [17/May/2015:10:05:03] \"GET /\" 200 1", "time"},
        {"h - - [17/May/2015:10:05:03 +0000] GET / 200 1", "quotes"},
        {"h - - [17/May/2015:10:05:03 +0000] \"GET / 200 1", "request does not end"},
        {"h - - [17/May/2015:10:05:03 +0000] \"GET /\\\" 200 1", "request does not end"},
        {"h - - [17/May/2015:10:05:03 +0000] \"GET /\"", "nothing"},
        {"h - - [17/May/2015:10:05:03 +0000] \"GET /\" 20 1", "status"},
        {"h - - [17/May/2015:10:05:03 +0000] \"GET /\" 200", "status"},
        {"h - - [17/May/2015:10:05:03 +0000] \"GET /\" 200 x", "size"},
        {"h - - [17/May/2015:10:05:03 +0000] \"GET /\" 200 99999999999999999999", "size"},
        {"h - - [17/May/2015:10:05:03 +0000] \"GET /\" 200 1 \"a\" \"b", "does not end"},
        {"h - - [17/May/2015:10:05:03 +0000] \"GET /\" 200 1 \"a\"b", "no space"},
        {"h - - [17/May/2015:10:05:03 +0000] \"GET /\" 200 1 \"a\" \"b\" \"c\" \"d\"", "behind"}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gf_error err = {GF_OK, ""};
        gf_accesslog_line a = {.time = 77};
        assert_int_equal(gf_accesslog_parse(gf_slice_str(bad[i][0]), &a, &err), GF_EINVAL);
        if (!strstr(err.message, bad[i][1])) fail_msg("%s: %s", bad[i][0], err.message);
        assert_int_equal(a.time, 77);
    }
}

static void assert_within(gf_slice field, const char *line, size_t n)
{
    if (field.len && (field.ptr < line || field.ptr + field.len > line + n))
        fail_msg("a field outside of its line");
}

/* Changed and cut lines, each in memory of just its length: what is read has to lie in it. */
static void test_hostile(void **state)
{
    gf_random r = gf_random_seed(20, 0);
    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t n = gf_random_below(&r, sizeof combined);
        char *line = malloc(n + 1);
        assert_non_null(line);
        memcpy(line, combined, n);
        for (uint64_t change = gf_random_below(&r, 4); change && n; change--)
            line[gf_random_below(&r, n)] = " \"\\[]:-/x0\0\xff"[gf_random_below(&r, 12)];
        char *exact = n ? memcpy(malloc(n), line, n) : NULL;
        gf_accesslog_line a = {0};
        if (gf_accesslog_parse(gf_slice_of(exact, n), &a, NULL) == GF_OK) {
            const gf_slice fields[] = {a.ip,       a.login,   a.domain, a.method, a.url,
                                       a.protocol, a.referer, a.agent,  a.cookie};
            for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
                assert_within(fields[i], exact, n);
            assert_in_range(a.status, 100, 999);
        }
        free(exact);
        free(line);
    }
}

static void test_buckets(void **state)
{
    static const int64_t before[] = {1247442900, 1247439600, 1247356800, 1246838400, 1246406400};
    static const int64_t at[] = {1247443200, 1247443200, 1247443200, 1247443200, 1246406400};
    (void)state;
    for (int b = GF_ACCESSLOG_5_MINUTES; b <= GF_ACCESSLOG_MONTH; b++) {
        assert_int_equal(gf_accesslog_bucket_start((gf_accesslog_bucket)b, 1247443199), before[b]);
        assert_int_equal(gf_accesslog_bucket_start((gf_accesslog_bucket)b, 1247443200), at[b]);
    }
    assert_int_equal(gf_accesslog_bucket_start(GF_ACCESSLOG_HOUR, -1), -3600);
    assert_int_equal(gf_accesslog_bucket_start(GF_ACCESSLOG_HOUR, -3600), -3600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_hostile), cmocka_unit_test(test_buckets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
