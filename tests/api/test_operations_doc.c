/*
 * docs/operations.md against the operations: each has its section with its method, path and
 * parameters; each example is run, and gives what the document says; and each member that comes is
 * explained. Times, sizes and versions differ from run to run: of these only the kind is compared.
 */
#include "support/test.h"
#include "tests/api/reference.h"
#include "tests/api/transport.h"

#include <ctype.h>
#include <math.h>
#include <unistd.h>

static reference document;

/* ---- parameters ------------------------------------------------------------------------------ */

static void write_parameter(gf_buffer *b, const gf_parameter *p)
{
    gf_buffer_format(b, "| `%s` | ", p->name);
    if (p->kind == GF_PARAMETER_FLAG) gf_buffer_str(b, "flag");
    if (p->value) {
        gf_buffer_byte(b, '`');
        for (const char *c = p->value; *c; c++) {
            if (*c == '|') gf_buffer_byte(b, '\\');
            gf_buffer_byte(b, *c);
        }
        gf_buffer_byte(b, '`');
    }
    if (p->kind == GF_PARAMETER_LIST || p->kind == GF_PARAMETER_SEVERAL ||
        p->kind == GF_PARAMETER_SETTINGS)
        gf_buffer_str(b, ", several times");
    if (p->required) gf_buffer_str(b, ", required");
    gf_buffer_format(b, " | %s |", p->meaning);
}

static void check_parameters(const reference_section *s)
{
    gf_slice line, rest, ignored;
    const gf_operation *o = s->operation;
    if (!reference_find_line(s->text, "| Parameter |", &line, &rest)) {
        if (o->n_parameters || !reference_find_line(s->text, "No parameters.", &line, &ignored))
            fail_msg("%s: no table of parameters", o->name);
        return;
    }
    gf_test_next_line(&rest, &line);
    for (size_t i = 0; i < o->n_parameters; i++) {
        gf_buffer expected = {0};
        write_parameter(&expected, &o->parameters[i]);
        if (!gf_test_next_line(&rest, &line) || !gf_slice_equal(line, gf_buffer_view(&expected)))
            fail_msg("%s: \"%.*s\", not \"%s\"", o->name, GF_SLICE_ARG(line),
                     gf_buffer_cstr(&expected));
        gf_buffer_release(&expected);
    }
    if (gf_test_next_line(&rest, &line) && line.len)
        fail_msg("%s has no parameter %.*s", o->name, GF_SLICE_ARG(line));
}

/* Each line of the table of members is what the operation says of one. */
static void check_member_lines(const reference_section *s)
{
    gf_slice line, rest;
    assert_true(reference_find_line(s->text, "| Member |", &line, &rest));
    gf_test_next_line(&rest, &line);
    for (const gf_row_member *m = s->operation->members; m->path; m++) {
        gf_buffer expected = {0};
        gf_buffer_format(&expected, "| `%s` | %s |", m->path, m->meaning);
        if (!gf_test_next_line(&rest, &line) || !gf_slice_equal(line, gf_buffer_view(&expected)))
            fail_msg("%s: \"%.*s\", not \"%s\"", s->operation->name, GF_SLICE_ARG(line),
                     gf_buffer_cstr(&expected));
        gf_buffer_release(&expected);
    }
    if (gf_test_next_line(&rest, &line) && line.len)
        fail_msg("%s has no member %.*s", s->operation->name, GF_SLICE_ARG(line));
}

static void check_heading(const reference_section *s)
{
    gf_buffer path = {0};
    gf_slice line, rest;
    gf_buffer_format(&path, "`%s %s`", s->operation->method, s->operation->path);
    if (!reference_find_line(s->text, gf_buffer_cstr(&path), &line, &rest))
        fail_msg("%s: no line %s", s->operation->name, gf_buffer_cstr(&path));
    gf_buffer_reset(&path);
    gf_buffer_format(&path, "%s.", s->operation->meaning);
    if (!reference_find_line(s->text, gf_buffer_cstr(&path), &line, &rest))
        fail_msg("%s: not said that it is to: %s", s->operation->name, gf_buffer_cstr(&path));
    gf_buffer_release(&path);
}

static bool is_given(const reference_section *s, const char *path)
{
    return gf_strings_find(&s->given, gf_slice_str(path)) != GF_STRING_NONE;
}

/* What is always there is in an example. */
static void check_members(const reference_section *s)
{
    for (const gf_row_member *m = s->operation->members; m->path; m++) {
        char parent[128];
        size_t n = (size_t)(gf_row_member_name(m) - m->path);
        snprintf(parent, sizeof parent, "%.*s", n ? (int)n - 1 : 0, m->path);
        if (gf_slice_ends(gf_slice_str(parent), GF_SLICE("[]"))) parent[strlen(parent) - 2] = '\0';
        if (!m->optional && (!m->form || !*m->form) && (!n || is_given(s, parent)) &&
            !is_given(s, m->path))
            fail_msg("%s: no example has %s", s->operation->name, m->path);
    }
}

/* ---- comparing rows -------------------------------------------------------------------------- */

static bool differs_by_run(gf_slice name)
{
    static const char *const names[] = {"seconds",  "bytes",     "store",  "version",
                                        "versions", "libraries", "values", "initial",
                                        "meaning",  "hex",       "html",   "next"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (gf_slice_equal(name, gf_slice_str(names[i]))) return true;
    /* Reckoned from the sizes of this build's structures. */
    return gf_slice_starts(name, GF_SLICE("memory")) ||
           gf_slice_equal(name, GF_SLICE("least_memory"));
}

/* ISO 8601 of this century, or milliseconds since 1970. */
static bool is_time(gf_slice s)
{
    size_t digits = 0;
    while (digits < s.len && isdigit((unsigned char)s.ptr[digits]))
        digits++;
    return (digits == 13 && s.len == 13) ||
           (digits == 4 && s.len >= 20 && s.ptr[4] == '-' && s.ptr[s.len - 1] == 'Z');
}

static bool same_number(double a, double b)
{
    return (a > 1e12 && b > 1e12) || fabs(a - b) <= 1e-5 * fmax(1, fabs(a));
}

static bool same(gf_json_value a, gf_json_value b, gf_slice name);

static bool same_items(gf_json_value a, gf_json_value b)
{
    gf_slice x = {0}, y = {0};
    gf_json_value of_a, of_b;
    gf_json_iterator in_a = gf_json_items(a), in_b = gf_json_items(b);
    for (;;) {
        bool more = gf_json_next(&in_a, &x, &of_a);
        if (more != gf_json_next(&in_b, &y, &of_b)) return false;
        if (!more) return true;
        if (!gf_slice_equal(x, y) || !same(of_a, of_b, x)) return false;
    }
}

static bool same(gf_json_value a, gf_json_value b, gf_slice name)
{
    if (gf_json_is_number(a) && gf_json_is_number(b))
        return differs_by_run(name) || same_number(gf_json_number(a), gf_json_number(b));
    if (gf_json_kind_of(a) != gf_json_kind_of(b)) return false;
    gf_slice x, y;
    switch (gf_json_kind_of(a)) {
    case GF_JSON_BOOL:
        return gf_json_get_bool(a) == gf_json_get_bool(b);
    case GF_JSON_STRING:
        x = gf_json_get_string(a);
        y = gf_json_get_string(b);
        return differs_by_run(name) || gf_slice_equal(x, y) || (is_time(x) && is_time(y));
    case GF_JSON_NULL:
        return true;
    default:
        return same_items(a, b);
    }
}

/* ---- examples -------------------------------------------------------------------------------- */

enum { MOST_ARGUMENTS = 8 };

/* "collection=feedback set=k=3" */
static size_t read_arguments(gf_slice words, gf_argument *arguments)
{
    size_t n = 0;
    while (words.len) {
        const char *space = memchr(words.ptr, ' ', words.len);
        gf_slice word = gf_slice_of(words.ptr, space ? (size_t)(space - words.ptr) : words.len);
        words = gf_slice_skip(words, space ? word.len + 1 : word.len);
        const char *equals = memchr(word.ptr, '=', word.len);
        assert_non_null(equals);
        assert_true(n < MOST_ARGUMENTS);
        size_t length = (size_t)(equals - word.ptr);
        arguments[n++] =
            (gf_argument){gf_slice_of(word.ptr, length), gf_slice_skip(word, length + 1)};
    }
    return n;
}

static void set_up(transport *t)
{
    transport_input(t, "feedback.jsonl", document.collection);
    assert_run(t, "put", "collection", "feedback");
    assert_int_equal(transport_number(t, 0, "new"), 6);
    assert_run(t, "config set", "collection", "feedback", "set", "k=2", "set", "language=english");
    assert_run(t, "rebuild", "collection", "feedback", "threads", "1");
}

/* "The table of the examples": what the document says was made and put. */
static void set_up_table(transport *t)
{
    gf_slice line, rest = gf_buffer_view(&document.text), command, rows;
    assert_true(reference_find_line(rest, "## The table of the examples", &line, &rest));
    assert_true(reference_take_block(&rest, "```text", &command));
    assert_slice(command,
                 "grouperfish table create users --key id --family info --column info:name=text "
                 "--column info:age=int64 --family friend:wide\n");
    assert_run(t, "table create", "table", "users", "key", "id", "family", "info", "column",
               "info:name=text", "column", "info:age=int64", "family", "friend:wide");
    assert_true(reference_take_block(&rest, "```text", &rows));
    transport_input(t, "users.jsonl", rows);
    assert_run(t, "table import", "table", "users");
    assert_int_equal(transport_number(t, 0, "rows"), 3);
}

/* The two papers that the document gives: an index, and the TEI of its first. */
static void set_up_papers(transport *t)
{
    gf_slice line, rest, cdx, tei;
    assert_true(reference_find_line(gf_buffer_view(&document.text), "## The papers of the examples",
                                    &line, &rest));
    assert_true(reference_take_block(&rest, "```text", &cdx));
    assert_true(reference_take_block(&rest, "```text", &tei));
    transport_input(t, "a.cdx", cdx);
    assert_run(t, "papers import-cdx");
    transport_input(t, "MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3J.xml", tei);
    assert_run(t, "papers import-tei");
}

/* "The log of the examples" */
static void set_up_log(transport *t)
{
    gf_slice line, rest = gf_buffer_view(&document.text), lines;
    assert_true(reference_find_line(rest, "## The log of the examples", &line, &rest));
    assert_true(reference_take_block(&rest, "```text", &lines));
    transport_input(t, "access.log", lines);
    assert_run(t, "log import", "log", "web");
    assert_int_equal(transport_number(t, 0, "lines"), 4);
}

/* "after a rebuild with `k=3`" */
static void rebuild_with_3(transport *t)
{
    assert_run(t, "config set", "collection", "feedback", "set", "k=3");
    assert_run(t, "rebuild", "collection", "feedback", "threads", "1", "start", "fresh");
}

/* "after a put of 30 documents `Chargers get hot`": after a build with 300 of others */
static void put_chargers(transport *t)
{
    gf_buffer lines = {0};
    for (int i = 1; i <= 300; i++)
        gf_buffer_format(&lines, "{\"id\":\"d%d\",\"text\":\"a dark theme for page %d\"}\n", i,
                         i % 7);
    transport_input(t, "themes.jsonl", gf_buffer_view(&lines));
    assert_run(t, "put", "collection", "feedback");
    assert_run(t, "rebuild", "collection", "feedback", "threads", "1", "start", "fresh");
    gf_buffer_reset(&lines);
    for (int i = 1; i <= 30; i++)
        gf_buffer_format(&lines, "{\"id\":\"c%d\",\"text\":\"Chargers get hot\"}\n", i);
    transport_input(t, "chargers.jsonl", gf_buffer_view(&lines));
    assert_run(t, "put", "collection", "feedback");
    gf_buffer_release(&lines);
}

/* "after a watch": one whose alerts go to the file of mail `box` here. */
static void add_watch(transport *t)
{
    assert_run(t, "watch add", "collection", "feedback", "when", "new >= 20", "mail", "/box.mbox");
}

/* "after an alert": the watch has told of these 30. */
static void tell_alert(transport *t)
{
    put_chargers(t);
    add_watch(t);
    assert_run(t, "watch run", "collection", "feedback");
}

static void compare_rows(reference_section *s, transport *t, gf_slice rows)
{
    gf_json_parser *parser;
    gf_error err;
    gf_slice line;
    uint64_t n = 0;
    bool all = true;
    assert_ok(gf_json_parser_create(&parser, &err));
    while (gf_test_next_line(&rows, &line)) {
        gf_json_value expected;
        all = !gf_slice_equal(line, GF_SLICE("..."));
        if (!all) break;
        assert_ok(gf_json_parse_copy(parser, line, &expected, &err));
        if (n >= t->n_rows || !same(expected, transport_row(t, n), (gf_slice){0}))
            fail_msg("%s gives\n%.*s\nnot\n%.*s", s->operation->name,
                     GF_SLICE_ARG(n < t->n_rows ? transport_bytes(t, n) : GF_SLICE("nothing")),
                     GF_SLICE_ARG(line));
        n++;
    }
    if (all ? n != t->n_rows : n >= t->n_rows)
        fail_msg("%s gives %d rows, not %d", s->operation->name, (int)t->n_rows, (int)n);
    for (uint64_t i = 0; i < t->n_rows && i < TRANSPORT_KEPT; i++)
        reference_note_row(s, transport_row(t, i));
    gf_json_parser_free(parser);
}

/* "Example: `collection=feedback`, with the input" */
/* BUILD stands for the served build. */
static void set_build(transport *t, gf_argument *arguments, size_t n)
{
    static char text[24];
    gf_error err;
    gf_argument collection = {GF_SLICE("collection"), GF_SLICE("feedback")};
    for (size_t i = 0; i < n; i++) {
        if (!gf_slice_equal(arguments[i].value, GF_SLICE("BUILD"))) continue;
        assert_ok(transport_run_with(t, "builds", &collection, 1, &err));
        snprintf(text, sizeof text, "%.0f", transport_number(t, 0, "build"));
        arguments[i].value = gf_slice_str(text);
    }
}

static void set_up_source(transport *t)
{
    gf_error err;
    const gf_argument arguments[] = {{GF_SLICE("collection"), GF_SLICE("feedback")},
                                     {GF_SLICE("source"), GF_SLICE("tickets")}};
    transport_input(t, "tickets",
                    GF_SLICE("{\"id\":\"1\",\"text\":\"a\"}\n{\"$place\":\"2015-02-21\"}\n"));
    assert_ok(transport_run_with(t, "put", arguments, 2, &err));
}

/* "after an edit": cluster 2 is hidden, cluster 1 locked. */
static void edit_both(transport *t)
{
    gf_error err;
    gf_argument arguments[] = {{GF_SLICE("collection"), GF_SLICE("feedback")},
                               {GF_SLICE("cluster"), GF_SLICE("2")}};
    assert_ok(transport_run_with(t, "cluster hide", arguments, 2, &err));
    arguments[1].value = GF_SLICE("1");
    assert_ok(transport_run_with(t, "cluster lock", arguments, 2, &err));
}

/* "after a topic was added": one of crashes, which no build has had. */
static void add_topic(transport *t)
{
    gf_error err;
    gf_argument arguments[] = {{GF_SLICE("collection"), GF_SLICE("feedback")},
                               {GF_SLICE("name"), GF_SLICE("stability")},
                               {GF_SLICE("words"), GF_SLICE("crash")}};
    assert_ok(transport_run_with(t, "topic add", arguments, 3, &err));
}

static void run_example(reference_section *s, gf_slice line, gf_slice *rest)
{
    transport t;
    gf_error err = {GF_OK, ""};
    gf_argument arguments[MOST_ARGUMENTS];
    gf_slice rows, input = {0}, words = {0};
    size_t n = 0;
    const char *tick = memchr(line.ptr, '`', line.len);
    if (tick) {
        words = gf_slice_skip(line, (size_t)(tick + 1 - line.ptr));
        words.len = (size_t)((const char *)memchr(words.ptr, '`', words.len) - words.ptr);
        n = read_arguments(words, arguments);
    }
    transport_open(&t);
    if (strncmp(s->operation->name, "table ", 6) == 0)
        set_up_table(&t);
    else if (strcmp(s->operation->name, "log report") == 0 ||
             strcmp(s->operation->name, "log find") == 0 ||
             strcmp(s->operation->name, "log delete") == 0 ||
             strcmp(s->operation->name, "log rollup") == 0)
        set_up_log(&t);
    else if (!memmem(line.ptr, line.len, "before there is a store", 23))
        set_up(&t);
    if (strncmp(s->operation->name, "papers ", 7) == 0) set_up_papers(&t);
    if (strcmp(s->operation->name, "source list") == 0) set_up_source(&t);
    if (memmem(line.ptr, line.len, "after a rebuild", 15)) rebuild_with_3(&t);
    if (memmem(line.ptr, line.len, "after an edit", 13)) edit_both(&t);
    if (memmem(line.ptr, line.len, "after a topic was added", 23)) add_topic(&t);
    if (memmem(line.ptr, line.len, "after a put of 30 documents", 27)) put_chargers(&t);
    if (memmem(line.ptr, line.len, "after a watch", 13)) add_watch(&t);
    if (memmem(line.ptr, line.len, "after an alert", 14)) tell_alert(&t);
    bool of_tweets = strncmp(s->operation->name, "tweets ", 7) == 0;
    if (of_tweets && strcmp(s->operation->name, "tweets import") != 0) {
        transport_input(&t, "tweets.jsonl", document.tweets);
        assert_run(&t, "tweets import");
    }
    bool closed =
        strcmp(s->operation->name, "verify") == 0 || strcmp(s->operation->name, "repair") == 0;
    /* The page of a report is a member of its row where no file is taken. */
    t.takes_file = strcmp(s->operation->name, "report") != 0;
    set_build(&t, arguments, n);
    if (closed) transport_close_store(&t);
    if (gf_slice_ends(line, GF_SLICE("with the input"))) {
        assert_true(reference_take_block(rest, "```text", &input));
        transport_input(&t, "more.jsonl", input);
    }
    assert_true(reference_take_block(rest, "```json", &rows));
    if (transport_run_with(&t, s->operation->name, arguments, n, &err) != GF_OK)
        fail_msg("%s: %s", s->operation->name, err.message);
    compare_rows(s, &t, rows);
    transport_close(&t);
}

static void check_examples(reference_section *s)
{
    gf_slice line, rest = s->text;
    int n = 0;
    for (; reference_find_line(rest, "Example:", &line, &rest); n++)
        run_example(s, line, &rest);
    if (n == 0) fail_msg("%s has no example", s->operation->name);
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void every_operation(void **state)
{
    (void)state;
    const gf_operation *o;
    assert_int_equal(chdir(gf_test_folder()), 0); /* where copies of the examples go */
    for (size_t i = 0; (o = gf_operation_at(i)) != NULL; i++) {
        reference_section s;
        reference_section_open(&document, o, &s);
        check_heading(&s);
        check_parameters(&s);
        check_member_lines(&s);
        check_examples(&s);
        check_members(&s);
        reference_section_release(&s);
    }
}

/* Behind the first operation's section there are operations only. */
static void no_other(void **state)
{
    (void)state;
    gf_slice line, rest = gf_buffer_view(&document.text);
    bool begun = false;
    size_t n = 0, found = 0;
    while (gf_operation_at(n))
        n++;
    while (reference_find_line(rest, "## ", &line, &rest)) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)line.len - 3, line.ptr + 3);
        bool known = gf_operation_find(name) != NULL;
        begun = begun || known;
        if (begun && !known) fail_msg("there is no operation %s", name);
        found += known;
    }
    assert_int_equal(found, n);
}

/* The comparison can fail: at a value, a member's name, a missing member, a kind. */
static void comparison(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } all[] = {{"{\"a\":1,\"b\":[1,2]}", "{\"a\":1,\"b\":[1,2]}", true},
               {"{\"a\":1}", "{\"a\":2}", false},
               {"{\"a\":1}", "{\"b\":1}", false},
               {"{\"a\":1}", "{\"a\":1,\"b\":1}", false},
               {"{\"a\":[1,2]}", "{\"a\":[1]}", false},
               {"{\"a\":\"1\"}", "{\"a\":1}", false},
               {"{\"a\":null}", "{\"a\":1}", false},
               {"{\"a\":0.5}", "{\"a\":0.5000001}", true},
               {"{\"seconds\":1}", "{\"seconds\":2}", true},
               {"{\"seconds\":1}", "{\"seconds\":\"2\"}", false},
               {"{\"t\":\"2026-11-20T08:00:00Z\"}", "{\"t\":\"2027-01-01T00:00:00.123Z\"}", true},
               {"{\"t\":\"2026-11-20T08:00:00Z\"}", "{\"t\":\"yesterday\"}", false},
               {"{\"build\":1763625600000}", "{\"build\":1763625600001}", true}};
    gf_json_parser *p, *q;
    gf_error err;
    assert_ok(gf_json_parser_create(&p, &err));
    assert_ok(gf_json_parser_create(&q, &err));
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        gf_json_value a, b;
        assert_ok(gf_json_parse_copy(p, gf_slice_str(all[i].a), &a, &err));
        assert_ok(gf_json_parse_copy(q, gf_slice_str(all[i].b), &b, &err));
        assert_int_equal(same(a, b, (gf_slice){0}), all[i].same);
    }
    gf_json_parser_free(p);
    gf_json_parser_free(q);
}

static int open_document(void **state)
{
    (void)state;
    reference_open(&document);
    return 0;
}

static int release_document(void **state)
{
    (void)state;
    reference_release(&document);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(comparison), cmocka_unit_test(no_other),
                                       cmocka_unit_test(every_operation)};
    return cmocka_run_group_tests(tests, open_document, release_document);
}
