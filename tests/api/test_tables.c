/*
 * Operations of users' tables: failing allocations, hostile input, and batches as a whole. What
 * they give where all goes well is in docs/operations.md and on the console
 * (tests/cli/tables.console).
 */
#include "support/test.h"
#include "tests/api/transport.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

static const char rows[] =
    "{\"key\":[\"u1\",7],\"cells\":{\"info\":{\"name\":\"Ann\",\"age\":34,\"place\":{\"at\":[1,2]}}"
    ","
    "\"friend\":{\"u2\":\"close\",\"u3\":\"\"}}}\n"
    "{\"key\":[\"u1\",8],\"cells\":{\"info\":{\"name\":\"\",\"raw\":{\"hex\":\"ff00\"}}}}\n"
    "{\"key\":[\"u2\",-1],\"cells\":{\"friend\":{\"u1\":\"close\"}}}\n";

static void make(transport *t, const char *name)
{
    assert_run(t, "table create", "table", name, "key", "id", "key", "n:int64", "family", "info",
               "column", "info:name=text", "column", "info:age=int64", "column", "info:place=json",
               "family", "friend:wide");
    transport_input(t, "rows.jsonl", gf_slice_str(rows));
    assert_run(t, "table import", "table", name);
    assert_int_equal(transport_number(t, 0, "rows"), 3);
    assert_int_equal(t->outcome, GF_OUTCOME_DONE);
}

/* All rows as they are exported. */
static void dump(transport *t, const char *name, gf_buffer *out)
{
    gf_buffer_reset(out);
    assert_run(t, "table export", "table", name);
    gf_buffer_slice(out, gf_buffer_view(&t->rows));
}

/* ---- failing allocations --------------------------------------------------------------------- */

typedef struct swept {
    transport *t;
    const char *operation, *input;
    gf_argument arguments[10];
    size_t n;
} swept;

static gf_status run(void *context, gf_error *err)
{
    swept *s = context;
    if (s->input) transport_input(s->t, "input", gf_slice_str(s->input));
    return transport_run_with(s->t, s->operation, s->arguments, s->n, err);
}

/* "table=users key=u1": arguments, a space between. */
static void sweep(transport *t, const char *operation, const char *words, const char *input)
{
    swept s = {.t = t, .operation = operation, .input = input};
    for (gf_slice rest = gf_slice_str(words); rest.len; s.n++) {
        const char *space = memchr(rest.ptr, ' ', rest.len);
        size_t length = space ? (size_t)(space - rest.ptr) : rest.len;
        const char *equals = memchr(rest.ptr, '=', length);
        size_t name = (size_t)(equals - rest.ptr);
        assert_true(s.n < 10);
        s.arguments[s.n] =
            (gf_argument){gf_slice_of(rest.ptr, name), gf_slice_of(equals + 1, length - name - 1)};
        rest = gf_slice_skip(rest, space ? length + 1 : length);
    }
    gf_test_sweep(run, NULL, &s);
}

static void memory_fails(void **state)
{
    (void)state;
    static const char *const all[][3] = {
        {"table list", "", NULL},
        {"table describe", "table=users", NULL},
        {"table get", "table=users key=u1 key=7", NULL},
        {"table get", "table=users key=u1 key=7 family=info,friend", NULL},
        {"table get", "table=users key=u1 key=7 column=info:age versions=2", NULL},
        {"table get", "table=users key=u1 key=7 family=friend from-column=u2 limit=1", NULL},
        {"table get", "table=users key=u1 key=8 family=friend", NULL},
        {"table scan", "table=users where=info:age>=3 where=place!=x reverse=true", NULL},
        {"table scan", "table=users key=u1 from=7 to=9 family=info limit=1", NULL},
        {"table scan", "table=users prefix=u", NULL},
        {"table export", "table=users csv=true family=friend", NULL},
        {"table export", "table=users times=true versions=9", NULL},
        {"table list", "system=true", NULL},
        {"table describe", "table=clusters system=true", NULL},
        {"table scan", "table=tables system=true where=main:number>=1", NULL},
        {"table get", "table=tables system=true key=default key=users", NULL},
        {"table put", "table=users key=u1 key=7 set=info:age=34 set=friend:u3=", NULL},
        {"table check-and-put", "table=users key=u1 key=7 if=age=34 set=age=34", NULL},
        {"table check-and-put", "table=users key=u1 key=7 if-absent=age set=age=34", NULL},
        {"table import", "table=users", rows},
        {"table import", "table=users from=csv",
         "id,n,info:name,info:age\nu1,7,Ann,34\nu1,8,\"\",\nu1,x,,\n"},
        {"table import", "table=users from=hbase-scan separator=|",
         " u1|7 column=info:name, timestamp=1, value=Ann\n"
         " u1|7 column=friend:u9, timestamp=1, type=DeleteColumn\n"
         " u1 column=info:name, timestamp=1, value=Ann\n"},
        {"table batch", "",
         "{\"table\":\"users\",\"key\":[\"u1\",8],\"cells\":{\"info\":{\"name\":\"\"}}}\n"
         "{\"table\":\"users\",\"key\":[\"z\",8],\"delete\":{\"info\":[\"x\"],\"friend\":true}}"
         "\n"}};
    transport t;
    transport_open(&t);
    make(&t, "users");
    gf_buffer before = {0}, after = {0};
    dump(&t, "users", &before);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        sweep(&t, all[i][0], all[i][1], all[i][2]);
    dump(&t, "users", &after);
    assert_slice(gf_buffer_view(&after), gf_buffer_cstr(&before));
    sweep(&t, "table delete", "table=users prefix=u dry-run=true", NULL);
    sweep(&t, "table delete", "table=users key=u2 key=-1 column=friend:u1", NULL);
    sweep(&t, "table delete", "table=users key=u1 from=8 where=info:name!=x", NULL);
    transport_close_store(&t);
    sweep(&t, "verify", "", NULL);
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    transport_close(&t);
}

/* A table that is made of what is found, whatever fails. */
static void memory_fails_while_a_table_is_made(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    make(&t, "users");
    sweep(&t, "table import", "table=made from=hbase-scan create=text",
          " r1 column=a:x, timestamp=1, value=1\n r2 column=b:y, timestamp=1, value=2\n");
    assert_run(&t, "table export", "table", "made");
    assert_non_null(
        strstr(gf_buffer_cstr(&t.rows), "{\"key\":[\"r2\"],\"cells\":{\"b\":{\"y\":\"2\"}}}"));
    transport_close(&t);
}

/* ---- rows of other stores -------------------------------------------------------------------- */

/* Many marks and many cells of one row: each mark takes the older versions of its cell alone. */
static void many_deletions(void **state)
{
    (void)state;
    enum { N = 60000 };
    transport t;
    gf_buffer listing = {0};
    transport_open(&t);
    for (int i = 0; i < N; i++)
        gf_buffer_format(&listing,
                         " r column=f:c%d, timestamp=%d, type=DeleteColumn\n"
                         " r column=f:c%d, timestamp=%d, value=v\n",
                         i, 1000, i, i % 3 == 0 ? 1001 : 1000);
    gf_buffer_str(
        &listing,
        " r column=g:old, timestamp=5, value=v\n r column=g:, timestamp=5, type=DeleteFamily\n"
        " r column=g:new, timestamp=6, value=v\n r column=g:one, timestamp=7, value=v\n"
        " r column=g:one, timestamp=7, type=Delete\n r column=g:one, timestamp=6, value=w\n");
    transport_input(&t, "a.scan", gf_buffer_view(&listing));
    assert_run(&t, "table import", "table", "made", "from", "hbase-scan", "create", "text");
    assert_int_equal(transport_number(&t, 0, "read"), 2); /* pieces of 100,000 cells */
    assert_int_equal(transport_number(&t, 0, "deleted"), N + 2);
    assert_int_equal(transport_number(&t, 0, "put"), N / 3 + 2);
    assert_run(&t, "table get", "table", "made", "key", "r", "family", "g");
    assert_non_null(strstr(gf_buffer_cstr(&t.rows), "{\"g\":{\"new\":\"v\",\"one\":\"w\"}}"));
    gf_buffer_release(&listing);
    transport_close(&t);
}

/* ---- hostile input --------------------------------------------------------------------------- */

static const char changes[] =
    "{\"table\":\"users\",\"key\":[\"u1\",7],\"cells\":{\"info\":{\"age\":1},\"friend\":{\"x\":"
    "\"y\"}}}\n"
    "{\"table\":\"users\",\"key\":[\"u1\",8],\"delete\":true}\n"
    "{\"table\":\"others\",\"key\":[\"u1\",7],\"delete\":{\"info\":[\"age\"],\"friend\":true}}\n";
static const char csv[] =
    "id,n,info:name,info:age,friend:u1\nu1,7,\"An\"\"n\",34,\nu2,8,,-1,\"\"\n";

/* Some bytes of a text are others. */
static void damage(gf_random *r, const char *text, gf_buffer *out)
{
    static const char *const pieces[] = {"\"",
                                         "{",
                                         "}",
                                         "[",
                                         "]",
                                         ",",
                                         ":",
                                         "\\u0000",
                                         "null",
                                         "true",
                                         "1e99",
                                         "\n",
                                         "\"\"",
                                         "{\"hex\":\"0\"}",
                                         "[[[[",
                                         "\xFF",
                                         "-9223372036854775809",
                                         "18446744073709551616",
                                         "info",
                                         "key"};
    gf_buffer_reset(out);
    gf_buffer_str(out, text);
    for (uint64_t n = 1 + gf_random_below(r, 3); n > 0; n--) {
        size_t at = gf_random_below(r, out->len), cut = gf_random_below(r, 4);
        gf_buffer rest = {0};
        if (gf_random_below(r, 2)) {
            out->ptr[at] = (char)gf_random_below(r, 256);
            continue;
        }
        gf_slice tail =
            gf_slice_skip(gf_buffer_view(out), at + cut < out->len ? at + cut : out->len);
        gf_buffer_slice(&rest, tail);
        out->len = at;
        gf_buffer_str(out, pieces[gf_random_below(r, sizeof pieces / sizeof pieces[0])]);
        gf_buffer_slice(out, gf_buffer_view(&rest));
        gf_buffer_release(&rest);
    }
}

/* A batch that is not understood has changed nothing; the store is sound whatever came in. */
static void hostile_input(void **state)
{
    (void)state;
    enum { TIMES = 1500 };
    transport t;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_buffer text = {0}, before = {0}, after = {0};
    uint64_t refused = 0, done = 0;
    gf_argument from[] = {{GF_SLICE("table"), GF_SLICE("users")},
                          {GF_SLICE("from"), GF_SLICE("csv")}};
    transport_open(&t);
    make(&t, "users");
    make(&t, "others");
    for (int i = 0; i < TIMES; i++) {
        gf_error err = {GF_OK, ""};
        damage(&r, changes, &text);
        dump(&t, "users", &before);
        transport_input(&t, "changes.jsonl", gf_buffer_view(&text));
        gf_status st = transport_run(&t, &err, "table batch", NULL);
        if (st == GF_OK) {
            done++;
        } else {
            refused++;
            assert_true(st == GF_EINVAL || st == GF_ENOTFOUND);
            dump(&t, "users", &after);
            assert_true(gf_slice_equal(gf_buffer_view(&after), gf_buffer_view(&before)));
        }
        damage(&r, i % 2 ? csv : rows, &text);
        transport_input(&t, "rows", gf_buffer_view(&text));
        st = transport_run_with(&t, "table import", from, i % 2 ? 2 : 1, &err);
        assert_true(st == GF_OK || st == GF_EINVAL);
    }
    assert_true(refused > TIMES / 4 && done > 0);
    transport_close_store(&t);
    assert_run(&t, "verify");
    assert_int_equal(transport_number(&t, 0, "faults"), 0);
    assert_int_equal(transport_number(&t, 0, "tables"), 2);
    gf_buffer_release(&text);
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    transport_close(&t);
}

/* Schemas as the input, changed at random: a table, or a reason; never one that cannot be opened.
 */
static void hostile_schemas(void **state)
{
    (void)state;
    static const char schema[] =
        "{\"key\":[{\"name\":\"id\"},{\"name\":\"h\",\"type\":\"raw\",\"width\":4}"
        "],\"families\":[{\"name\":\"info\",\"versions\":2,\"columns\":{\"a\":"
        "\"int64\"}},{\"name\":\"w\",\"layout\":\"wide\",\"ttl\":5}]}";
    transport t;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_buffer text = {0};
    uint64_t made = 0;
    transport_open(&t);
    for (int i = 0; i < 600; i++) {
        gf_error err = {GF_OK, ""};
        damage(&r, schema, &text);
        transport_input(&t, "schema.json", gf_buffer_view(&text));
        gf_status st = transport_run(&t, &err, "table create", "table", "t", NULL);
        assert_true(st == GF_OK || st == GF_EINVAL);
        if (st != GF_OK) continue;
        made++;
        transport_close_store(&t);
        assert_run(&t, "table describe", "table", "t");
        assert_run(&t, "table scan", "table", "t");
        assert_run(&t, "table drop", "table", "t");
    }
    assert_true(made > 0);
    gf_buffer_release(&text);
    transport_close(&t);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void long_values_and_lines(void **state)
{
    (void)state;
    enum { SIZE = 3 << 20 };
    transport t;
    gf_buffer line = {0};
    transport_open(&t);
    make(&t, "users");
    gf_buffer_str(&line, "{\"key\":[\"big\",1],\"cells\":{\"info\":{\"name\":\"");
    for (int i = 0; i < SIZE; i++)
        gf_buffer_byte(&line, (char)('a' + i % 26));
    gf_buffer_str(&line, "\"}}}\n{\"key\":[\"small\",1],\"cells\":{\"info\":{\"name\":\"x\"}}}");
    transport_input(&t, "long.jsonl", gf_buffer_view(&line));
    assert_run(&t, "table import", "table", "users");
    assert_int_equal(transport_number(&t, 0, "rows"), 2);
    assert_run(&t, "table get", "table", "users", "key", "big", "key", "1");
    assert_true(transport_bytes(&t, 0).len > SIZE);
    gf_buffer_release(&line);
    transport_close(&t);
}

/* A request to stop ends a scan and an import, with what was done told by the status. */
static void stopping(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    make(&t, "users");
    t.cancel_at = 1;
    assert_refused(GF_ECANCELLED, "stopped", &t, "table scan", "table", "users");
    assert_int_equal(t.n_rows, 1);
    assert_run(&t, "table create", "table", "second", "key", "id", "family", "info");
    for (int of_csv = 0; of_csv < 2; of_csv++) {
        const char *input = of_csv
                                ? "id,info:x\n1,2,3\nb,2\nc,3\n"
                                : "broken\n{\"key\":[\"a\"],\"cells\":{\"info\":{\"x\":\"1\"}}}\n"
                                  "{\"key\":[\"d\"],\"cells\":{\"info\":{\"x\":\"4\"}}}\n";
        transport_input(&t, "rows", gf_slice_str(input));
        t.cancel_at = 1; /* at the first record, which is refused */
        assert_refused(GF_ECANCELLED, "the same command goes on", &t, "table import", "table",
                       "second", "from", of_csv ? "csv" : "jsonl");
        assert_int_equal(transport_number(&t, 0, "rows"), 1);
        t.cancel_at = 0;
        assert_run(&t, "table scan", "table", "second");
        assert_int_equal(t.n_rows, 1 + of_csv);
    }
    transport_close(&t);
}

/* Names of tables are of a namespace, and none is the engine's. */
static void names(void **state)
{
    (void)state;
    static const char *const all[] = {"documents", "tables", "user:1", "a b", "\xC3\xA4/b"};
    transport t;
    transport_open(&t);
    transport_put(&t, "c", "{\"id\":\"1\",\"text\":\"x\"}");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        make(&t, all[i]);
    t.namespace = "other";
    assert_run(&t, "table list");
    assert_int_equal(t.n_rows, 0);
    make(&t, "documents");
    assert_run(&t, "table drop", "table", "documents");
    t.namespace = "default";
    assert_run(&t, "table list", "prefix", "doc");
    assert_int_equal(t.n_rows, 1);
    assert_run(&t, "table scan", "table", "documents");
    assert_int_equal(t.n_rows, 3);
    assert_run(&t, "doc", "collection", "c", "id", "1");
    transport_close(&t);
}

/* ---- wide rows ------------------------------------------------------------------------------- */

/* Page 2 of a long list is read without the list: a twentieth of the time at most. */
static void pages_of_a_wide_row(void **state)
{
    (void)state;
    enum { CELLS = 200000, PAGES = 20 };
    transport t;
    gf_buffer line = {0};
    transport_open(&t);
    assert_run(&t, "table create", "table", "long", "key", "id", "family", "list:wide");
    gf_buffer_str(&line, "{\"key\":\"a\",\"cells\":{\"list\":{");
    for (int i = 0; i < CELLS; i++)
        gf_buffer_format(&line, "%s\"c%06d\":\"%d\"", i ? "," : "", i, i);
    gf_buffer_str(&line, "}}}\n");
    transport_input(&t, "long.jsonl", gf_buffer_view(&line));
    assert_run(&t, "table import", "table", "long");
    assert_int_equal(transport_number(&t, 0, "put"), CELLS);

    double began = gf_clock_seconds();
    assert_run(&t, "table get", "table", "long", "key", "a");
    double whole = gf_clock_seconds() - began;
    gf_slice row = transport_bytes(&t, 0);
    assert_true(row.len > CELLS * 10);

    /* The quickest page: whatever else the machine has to do lengthens some. */
    char cursor[64] = "";
    double page = HUGE_VAL;
    assert_run(&t, "table get", "table", "long", "key", "a", "family", "list", "from-column",
               "c199000", "limit", "10");
    for (int i = 0; i < PAGES; i++) {
        gf_json_value cells = transport_member(&t, 0, "cells"), list, value;
        gf_slice name;
        assert_true(gf_json_member(cells, "list", &list));
        gf_json_iterator it = gf_json_items(list);
        for (int c = 0; c < 10; c++) {
            char expected[16];
            snprintf(expected, sizeof expected, "c%06d", 199000 + i * 10 + c);
            assert_true(gf_json_next(&it, &name, &value));
            assert_slice(name, expected);
        }
        assert_false(gf_json_next(&it, &name, &value));
        gf_slice next = transport_text(&t, 0, "next");
        snprintf(cursor, sizeof cursor, "%.*s", GF_SLICE_ARG(next));
        began = gf_clock_seconds();
        assert_run(&t, "table get", "table", "long", "key", "a", "family", "list", "cursor", cursor,
                   "limit", "10");
        double took = gf_clock_seconds() - began;
        if (took < page) page = took;
    }
    print_message("whole row %.1f ms, a page %.3f ms\n", whole * 1e3, page * 1e3);
    assert_true(page * 20 < whole);
    gf_buffer_release(&line);
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_fails),       cmocka_unit_test(memory_fails_while_a_table_is_made),
        cmocka_unit_test(many_deletions),     cmocka_unit_test(hostile_input),
        cmocka_unit_test(hostile_schemas),    cmocka_unit_test(long_values_and_lines),
        cmocka_unit_test(stopping),           cmocka_unit_test(names),
        cmocka_unit_test(pages_of_a_wide_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
