/* put: records of all formats become documents; what is not put is told of, and why. */
#include "support/test.h"
#include "tests/api/transport.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"

enum { MANY = 30000 }; /* records, more than are held at once */

static const char three[] = "{\"id\":\"a\",\"text\":\"one apple\"}\n"
                            "{\"id\":\"b\",\"text\":\"two pears\",\"n\":2}\n"
                            "{\"id\":\"c\",\"text\":\"three plums\",\"lang\":\"en\"}\n";

static double count(transport *t, const char *name)
{
    return transport_number(t, 0, name);
}

static double reason(transport *t, const char *name)
{
    gf_json_value n;
    return gf_json_member(transport_member(t, 0, "reasons"), name, &n) ? gf_json_number(n) : 0;
}

static void assert_notice(transport *t, size_t i, const char *why, const char *source,
                          uint64_t line, const char *words)
{
    assert_true(i < t->n_notices);
    assert_string_equal(t->notices[i].reason, why);
    assert_string_equal(t->notices[i].source, source);
    assert_int_equal(t->notices[i].line, line);
    if (!strstr(t->notices[i].message, words)) fail_msg("%s", t->notices[i].message);
}

static uint64_t size_of(transport *t, const char *collection)
{
    assert_run(t, "collection show", "collection", collection);
    return (uint64_t)transport_number(t, 0, "size");
}

/* ---- putting --------------------------------------------------------------------------------- */

/* Importing the same again changes nothing, and does not touch the collection. */
static void same_again(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    transport_put(&t, "fruit", three);
    assert_string_equal(transport_members(&t, 0),
                        "store collection read new changed unchanged stored skipped refused "
                        "reasons converted invalid_utf8 hashed_ids bad_times collections_made");
    assert_slice(transport_text(&t, 0, "store"), t.folder);
    assert_slice(transport_text(&t, 0, "collection"), "fruit");
    assert_int_equal(count(&t, "read"), 3);
    assert_int_equal(count(&t, "new"), 3);
    assert_int_equal(count(&t, "stored"), 3);
    assert_int_equal(count(&t, "collections_made"), 1);
    char before[512], after[512];
    assert_run(&t, "collection show", "collection", "fruit");
    snprintf(before, sizeof before, "%.*s", GF_SLICE_ARG(transport_bytes(&t, 0)));
    transport_put(&t, "fruit", three);
    assert_int_equal(count(&t, "new"), 0);
    assert_int_equal(count(&t, "changed"), 0);
    assert_int_equal(count(&t, "unchanged"), 3);
    assert_int_equal(count(&t, "stored"), 0);
    assert_run(&t, "collection show", "collection", "fruit");
    snprintf(after, sizeof after, "%.*s", GF_SLICE_ARG(transport_bytes(&t, 0)));
    assert_string_equal(before, after);
    transport_put(&t, "fruit", "{\"id\":\"b\",\"text\":\"two pears\",\"n\":3}");
    assert_int_equal(count(&t, "changed"), 1);
    assert_int_equal(count(&t, "stored"), 1);
    assert_int_equal(size_of(&t, "fruit"), 3);
    transport_close(&t);
}

/* SYSTEMS.md A, check 3: a numeric id becomes a string. */
static void numeric_id(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    t.namespace = "will";
    transport_put(&t, "lear", "{\"id\":10,\"text\":\"Have more than thou showest\"}");
    assert_run(&t, "doc", "collection", "lear", "id", "10");
    assert_slice(transport_text(&t, 0, "id"), "10");
    assert_slice(transport_text(&t, 0, "text"), "Have more than thou showest");
    assert_int_equal(transport_length(&t, 0, "memberships"), 0);
    t.namespace = "ben";
    assert_refused(GF_ENOTFOUND, "there is no collection \"lear\"", &t, "doc", "collection", "lear",
                   "id", "10");
    transport_close(&t);
}

/* SYSTEMS.md A, check 5: one issue in Firefox Input's format and with its patterns. */
static void input_patterns(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    transport_input(&t, "opinions.tsv",
                    GF_SLICE("17\t1277293943\tissue\tfirefox\t4.0b12\tmac\ten-US\t\t\t"
                             "http://example.com\tIt crashes\\\n  on start\n"));
    assert_run(&t, "put", "collection", "{type}-{product}-{version}", "also", "{type}-{product}",
               "from", "input-tsv");
    assert_int_equal(count(&t, "read"), 1);
    assert_int_equal(count(&t, "new"), 2);
    assert_int_equal(count(&t, "collections_made"), 2);
    assert_run(&t, "collection list");
    assert_int_equal(t.n_rows, 2);
    assert_slice(transport_text(&t, 0, "collection"), "issue-firefox");
    assert_slice(transport_text(&t, 1, "collection"), "issue-firefox-4.0b12");
    assert_int_equal(transport_number(&t, 0, "size"), 1);
    assert_int_equal(transport_number(&t, 1, "size"), 1);
    assert_run(&t, "doc", "collection", "issue-firefox", "id", "17");
    assert_slice(transport_text(&t, 0, "text"), "It crashes\n  on start");
    transport_close(&t);
}

/* Two patterns that give the same name are one collection. */
static void patterns(void **state)
{
    (void)state;
    static const char lines[] = "{\"id\":\"1\",\"text\":\"x\",\"kind\":\"a\"}\n"
                                "{\"id\":\"2\",\"text\":\"y\"}\n"
                                "{\"id\":\"3\",\"text\":\"z\",\"kind\":[1]}\n"
                                "{\"id\":\"4\",\"text\":\"w\",\"kind\":\"\"}\n";
    transport t;
    transport_open(&t);
    transport_input(&t, "k.jsonl", gf_slice_str(lines));
    assert_run(&t, "put", "collection", "all", "also", "{kind}", "also", "a", "also", "{kind}");
    assert_int_equal(t.outcome, GF_OUTCOME_SOME_REFUSED);
    assert_int_equal(count(&t, "read"), 4);
    assert_int_equal(count(&t, "new"), 2);
    assert_int_equal(count(&t, "refused"), 3);
    assert_int_equal(reason(&t, "no_field"), 1);
    assert_int_equal(reason(&t, "bad_name"), 2);
    assert_notice(&t, 0, "no_field", "k.jsonl", 2, "kind");
    assert_notice(&t, 1, "bad_name", "k.jsonl", 3, "kind");
    assert_notice(&t, 2, "bad_name", "k.jsonl", 4, "no name");
    /* A record goes to all its collections or to none. */
    assert_int_equal(size_of(&t, "all"), 1);
    assert_int_equal(size_of(&t, "a"), 1);
    transport_input(&t, "k.jsonl", GF_SLICE("{\"id\":\"1\",\"text\":\"x\"}"));
    assert_refused(GF_EINVAL, "", &t, "put", "collection", "{kind");
    transport_close(&t);
}

/* A name of 512 bytes is one, of 513 none. */
static void long_name(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    for (int more = 0; more < 2; more++) {
        gf_buffer line = {0};
        gf_buffer_str(&line, "{\"id\":\"1\",\"text\":\"x\",\"name\":\"");
        for (int i = 0; i < GF_MAX_NAME + more; i++)
            gf_buffer_byte(&line, 'n');
        gf_buffer_str(&line, "\"}\n");
        transport_input(&t, "n.jsonl", gf_buffer_view(&line));
        assert_run(&t, "put", "collection", "{name}");
        assert_int_equal(count(&t, "new"), 1 - more);
        assert_int_equal(reason(&t, "bad_name"), more);
        gf_buffer_release(&line);
    }
    assert_notice(&t, 0, "bad_name", "n.jsonl", 1, "513 bytes, more than 512");
    transport_close(&t);
}

static void too_many_collections(void **state)
{
    (void)state;
    static const char lines[] = "{\"id\":\"1\",\"text\":\"x\",\"kind\":\"a\"}\n"
                                "{\"id\":\"2\",\"text\":\"x\",\"kind\":\"b\"}\n"
                                "{\"id\":\"3\",\"text\":\"x\",\"kind\":\"c\"}\n";
    transport t;
    transport_open(&t);
    transport_input(&t, "k.jsonl", gf_slice_str(lines));
    assert_refused(GF_ELIMIT, "2", &t, "put", "collection", "{kind}", "max-collections", "2");
    assert_int_equal(t.n_rows, 1);
    assert_int_equal(count(&t, "read"), 3);
    assert_true(count(&t, "collections_made") <= 2);
    /* So many that the limit is met in the middle: the rest is not read. */
    gf_buffer many = {0};
    for (int i = 0; i < MANY; i++)
        gf_buffer_format(&many, "{\"id\":\"1\",\"text\":\"x\",\"kind\":%d}\n", i);
    transport_input(&t, "k.jsonl", gf_buffer_view(&many));
    assert_refused(GF_ELIMIT, "2", &t, "put", "collection", "{kind}", "max-collections", "2");
    assert_true(count(&t, "read") < MANY);
    gf_buffer_release(&many);
    transport_close(&t);
}

/* ---- formats --------------------------------------------------------------------------------- */

static void formats(void **state)
{
    (void)state;
    static const struct {
        const char *name, *from, *bytes;
    } all[] = {
        {"a.json", "json", "[{\"id\":\"1\",\"text\":\"one, two\"},\n {\"id\":2,\"text\":\"x\"}]"},
        {"a.csv", "csv", "id,text\n1,\"one, two\"\n2,x\n"},
        {"a.tsv", "tsv", "id\ttext\n1\tone, two\n2\tx\n"},
        {"a.jsonl", "jsonl", "{\"id\":1,\"text\":\"one, two\"}\n{\"id\":2,\"text\":\"x\"}"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        transport t;
        transport_open(&t);
        transport_input(&t, all[i].name, gf_slice_str(all[i].bytes));
        assert_run(&t, "put", "collection", "c");
        assert_int_equal(count(&t, "new"), 2);
        transport_input(&t, "-", gf_slice_str(all[i].bytes));
        assert_run(&t, "put", "collection", "c", "from", all[i].from);
        assert_int_equal(count(&t, "unchanged"), 2);
        assert_run(&t, "doc", "collection", "c", "id", "1");
        assert_slice(transport_text(&t, 0, "text"), "one, two");
        transport_close(&t);
    }
}

/* Several streams are one import, each by its own format. */
static void several_streams(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    transport_input(&t, "a.jsonl", GF_SLICE("{\"id\":\"1\",\"text\":\"x\"}\n{\"id\":\"2\"}\n"));
    transport_input(&t, "b.csv", GF_SLICE("id,text\n3,y\n"));
    assert_run(&t, "put", "collection", "c");
    assert_int_equal(count(&t, "new"), 2);
    assert_notice(&t, 0, "no_text", "a.jsonl", 2, "text");
    transport_close(&t);
}

static void chosen_fields(void **state)
{
    (void)state;
    static const char line[] = "{\"id_str\":\"7\",\"title\":\"A\",\"body\":\"B\",\"created\":5,"
                               "\"tongue\":\"de\",\"keep\":[1, 2],\"drop\":true}";
    transport t;
    transport_open(&t);
    transport_input(&t, "x.jsonl", gf_slice_str(line));
    assert_run(&t, "put", "collection", "c", "id", "id_str", "text", "title,body", "time",
               "created", "lang", "tongue", "fields", "keep");
    assert_run(&t, "doc", "collection", "c", "id", "7");
    assert_string_equal(transport_members(&t, 0),
                        "collection id text time lang fields memberships");
    assert_slice(transport_text(&t, 0, "text"), "A\n\nB");
    assert_int_equal(transport_number(&t, 0, "time"), 5);
    assert_slice(transport_text(&t, 0, "lang"), "de");
    assert_int_equal(transport_length(&t, 0, "fields"), 1);
    transport_close(&t);
}

static void hashed_ids(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    transport_put(&t, "c", "{\"text\":\"x\"}\n{\"text\":\"y\"}\n{\"text\":\"x\"}\n");
    assert_int_equal(count(&t, "hashed_ids"), 3);
    assert_int_equal(count(&t, "new"), 2);
    assert_int_equal(count(&t, "unchanged"), 1);
    transport_close(&t);
}

/* Times that cannot be read are refused or dropped and counted, as the call says. */
static void bad_times(void **state)
{
    (void)state;
    static const char lines[] = "{\"id\":1,\"text\":\"x\",\"at\":\"3/4/2015\"}\n"
                                "{\"id\":2,\"text\":\"y\",\"at\":\"noon\"}\n";
    transport t;
    transport_open(&t);
    transport_input(&t, "x.jsonl", gf_slice_str(lines));
    assert_run(&t, "put", "collection", "c", "time", "at");
    assert_int_equal(count(&t, "refused"), 2);
    assert_int_equal(reason(&t, "bad_time"), 2);
    transport_input(&t, "x.jsonl", gf_slice_str(lines));
    assert_run(&t, "put", "collection", "c", "time", "at", "dates", "day-first", "bad-times",
               "drop");
    assert_int_equal(count(&t, "stored"), 2);
    assert_int_equal(count(&t, "bad_times"), 1);
    assert_run(&t, "doc", "collection", "c", "id", "1");
    assert_slice(transport_text(&t, 0, "time"), "2015-04-03");
    transport_close(&t);
}

/* ---- what is not put ------------------------------------------------------------------------- */

static void refused_lines(void **state)
{
    (void)state;
    static const char lines[] = "{\"id\":\"1\",\"text\":\"x\"}\n"
                                "{\"id\":\"2\",\"text\":\n"
                                "{\"id\":\"3\",\"text\":7}\n"
                                "{\"id\":\"\",\"text\":\"x\"}\n"
                                "{\"id\":\"5\",\"title\":\"x\"}\n"
                                "{\"id\":\"6\",\"text\":\"y\"}\n";
    transport t;
    transport_open(&t);
    transport_input(&t, "bad.jsonl", gf_slice_str(lines));
    assert_run(&t, "put", "collection", "c");
    assert_int_equal(t.outcome, GF_OUTCOME_SOME_REFUSED);
    assert_int_equal(count(&t, "read"), 6);
    assert_int_equal(count(&t, "new"), 2);
    assert_int_equal(count(&t, "refused"), 4);
    assert_int_equal(t.n_notices, 4);
    assert_notice(&t, 0, "broken_json", "bad.jsonl", 2, "");
    assert_notice(&t, 1, "bad_type", "bad.jsonl", 3, "field \"text\" is not a string");
    assert_notice(&t, 2, "bad_id", "bad.jsonl", 4, "id");
    assert_notice(&t, 3, "no_text", "bad.jsonl", 5, "text");
    assert_int_equal(reason(&t, "broken_json") + reason(&t, "bad_type") + reason(&t, "bad_id") +
                         reason(&t, "no_text"),
                     4);
    assert_slice(gf_buffer_view(&t.rejected), "{\"id\":\"2\",\"text\":\n"
                                              "{\"id\":\"3\",\"text\":7}\n"
                                              "{\"id\":\"\",\"text\":\"x\"}\n"
                                              "{\"id\":\"5\",\"title\":\"x\"}\n");
    /* The same without anybody who keeps them. */
    t.keeps_rejects = false;
    transport_input(&t, "bad.jsonl", gf_slice_str(lines));
    assert_run(&t, "put", "collection", "c");
    assert_int_equal(count(&t, "refused"), 4);
    assert_int_equal(count(&t, "unchanged"), 2);
    transport_close(&t);
}

static void no_text_field(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    transport_input(&t, "t.jsonl", GF_SLICE("{\"id\":1,\"title\":\"x\",\"body\":\"y\"}\n"));
    assert_refused(GF_EINVAL, "no field \"text\" in t.jsonl; fields found: ", &t, "put",
                   "collection", "c");
    assert_int_equal(t.n_rows, 0);
    assert_null(t.store);
    transport_input(&t, "t.jsonl", GF_SLICE("{\"id\":1,\"title\":\"x\",\"body\":\"y\"}\n"));
    assert_refused(GF_EINVAL, "id, title, body", &t, "put", "collection", "c");
    transport_close(&t);
}

static void too_large(void **state)
{
    (void)state;
    enum { LARGE = 1 << 20 };
    transport t;
    gf_buffer line = {0};
    transport_open(&t);
    gf_buffer_str(&line, "{\"id\":\"small\",\"text\":\"x\"}\n{\"id\":\"large\",\"text\":\"");
    for (int i = 0; i < LARGE; i++)
        gf_buffer_byte(&line, 'x');
    gf_buffer_str(&line, "\"}\n{\"id\":\"last\",\"text\":\"y\"}\n");
    transport_input(&t, "l.jsonl", gf_buffer_view(&line));
    assert_run(&t, "put", "collection", "c", "max-document", "1023K");
    assert_int_equal(t.outcome, GF_OUTCOME_SOME_REFUSED);
    assert_int_equal(count(&t, "new"), 2);
    assert_notice(&t, 0, "too_long", "l.jsonl", 2, "");
    transport_input(&t, "l.jsonl", gf_buffer_view(&line));
    assert_run(&t, "put", "collection", "c", "max-document", "2M");
    assert_int_equal(count(&t, "new"), 1);
    assert_int_equal(count(&t, "refused"), 0);
    assert_run(&t, "doc", "collection", "c", "id", "large");
    assert_int_equal(transport_text(&t, 0, "text").len, LARGE);
    gf_buffer_release(&line);
    transport_close(&t);
}

static void invalid_utf8(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    transport_input(&t, "u.jsonl",
                    GF_SLICE("{\"id\":\"1\",\"text\":\"a\xFF\xFE\"}\n"
                             "{\"id\":\"2\",\"text\":\"b\\ud800c\"}\n"));
    assert_run(&t, "put", "collection", "c", "encoding", "utf-8");
    assert_int_equal(t.outcome, GF_OUTCOME_DONE);
    assert_int_equal(count(&t, "invalid_utf8"), 3);
    assert_run(&t, "doc", "collection", "c", "id", "1");
    assert_slice(transport_text(&t, 0, "text"), "a\xEF\xBF\xBD\xEF\xBF\xBD");
    transport_close(&t);
}

/* Any id that is valid comes back as it went in, and so do texts and field names. */
static void hostile_bytes(void **state)
{
    (void)state;
    static const char *const ids[] = {"a/b",       "\\u0000", "\\\"",           "\\n\\t",
                                      "..",        "\\u007f", "\\ud83d\\ude00", "{type}",
                                      "a\\u0000b", "\\u2028"};
    transport t;
    transport_open(&t);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        gf_buffer line = {0};
        gf_buffer_format(&line, "{\"id\":\"%s\",\"text\":\"t%s\",\"f%s\":\"v%s\"}", ids[i], ids[i],
                         ids[i], ids[i]);
        transport_put(&t, "c", gf_buffer_cstr(&line));
        assert_int_equal(count(&t, "new"), 1);
        gf_json_parser *parser;
        gf_json_value root, id;
        gf_error err;
        assert_ok(gf_json_parser_create(&parser, &err));
        assert_ok(gf_json_parse_copy(parser, gf_buffer_view(&line), &root, &err));
        assert_true(gf_json_member(root, "id", &id));
        gf_argument a[] = {{GF_SLICE("collection"), GF_SLICE("c")},
                           {GF_SLICE("id"), gf_json_get_string(id)}};
        assert_ok(transport_run_with(&t, "doc", a, 2, &err));
        assert_true(gf_slice_equal(transport_text(&t, 0, "id"), gf_json_get_string(id)));
        assert_true(gf_slice_equal(gf_slice_skip(transport_text(&t, 0, "text"), 1),
                                   gf_json_get_string(id)));
        gf_json_iterator it = gf_json_items(transport_member(&t, 0, "fields"));
        gf_slice name;
        gf_json_value value;
        assert_true(gf_json_next(&it, &name, &value));
        assert_true(gf_slice_equal(gf_slice_skip(name, 1), gf_json_get_string(id)));
        gf_json_parser_free(parser);
        gf_buffer_release(&line);
    }
    transport_close(&t);
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* Where there is nothing to put, no store is made. */
static void nothing_to_put(void **state)
{
    (void)state;
    static const char *const inputs[] = {"", "\n\n", "{\"id\":\"\",\"text\":\"x\"}\n"};
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        transport t;
        transport_open(&t);
        transport_input(&t, "e.jsonl", gf_slice_str(inputs[i]));
        assert_run(&t, "put", "collection", "c");
        assert_int_equal(t.n_rows, 1);
        assert_int_equal(count(&t, "stored"), 0);
        assert_null(t.store);
        assert_refused(GF_ENOTFOUND, "", &t, "status");
        transport_close(&t);
    }
    transport t;
    transport_open(&t);
    assert_refused(GF_EINVAL, "put needs an input", &t, "put", "collection", "c");
    transport_close(&t);
}

/* What was read before a failure or a cancel is stored and told of; the same again goes on. */
static void cut_short(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    gf_buffer many = {0};
    for (int i = 0; i < MANY; i++)
        gf_buffer_format(&many, "{\"id\":\"%d\",\"text\":\"document number %d\"}\n", i, i);
    transport_input(&t, "f.jsonl", gf_buffer_view(&many));
    t.read_fails = GF_EIO;
    assert_refused(GF_EIO, "reading failed", &t, "put", "collection", "c");
    t.read_fails = GF_OK;
    assert_int_equal(t.n_rows, 1);
    double stored = count(&t, "new");
    assert_true(stored > 0 && stored == count(&t, "read"));
    transport_input(&t, "f.jsonl", gf_buffer_view(&many));
    assert_run(&t, "put", "collection", "c");
    assert_int_equal(count(&t, "unchanged"), stored);
    assert_int_equal(count(&t, "new"), MANY - stored);
    assert_true(t.n_progress > 0);
    gf_buffer_release(&many);

    transport_input(&t, "f.jsonl",
                    GF_SLICE("{\"id\":\"1\",\"text\":\"x\"}\n{\"id\":\"\"}\n"
                             "{\"id\":\"2\",\"text\":\"x\"}\n"));
    t.cancel_at = 1;
    assert_refused(GF_ECANCELLED, "the same command goes on", &t, "put", "collection", "d");
    assert_int_equal(count(&t, "read"), 2);
    assert_int_equal(count(&t, "new"), 1);
    t.cancel_at = 0;
    assert_int_equal(size_of(&t, "d"), 1);

    transport_input(&t, "f.jsonl", gf_slice_str(three));
    t.emit_fails_at = 1;
    assert_refused(GF_EIO, "nobody takes the rows", &t, "put", "collection", "e");
    t.emit_fails_at = 0;
    assert_int_equal(size_of(&t, "e"), 3);
    transport_close(&t);
}

/* ---- against a model ------------------------------------------------------------------------- */

enum { IDS = 60, TEXTS = 3, ROUNDS = 12, RECORDS = 150 };

static void random_puts(void **state)
{
    (void)state;
    transport t;
    int text_of[IDS];
    memset(text_of, -1, sizeof text_of);
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    transport_open(&t);
    for (int round = 0; round < ROUNDS; round++) {
        gf_buffer lines = {0};
        int base[IDS]; /* what the last of an id is compared with */
        int created = 0, changed = 0;
        memcpy(base, text_of, sizeof base);
        for (int i = 0; i < RECORDS; i++) {
            int id = (int)gf_random_below(&r, IDS), text = (int)gf_random_below(&r, TEXTS);
            created += text_of[id] < 0;
            if (text_of[id] < 0) base[id] = text;
            text_of[id] = text;
            gf_buffer_format(&lines, "{\"id\":\"%d\",\"text\":\"text %d\"}\n", id, text);
        }
        transport_put(&t, "c", gf_buffer_cstr(&lines));
        for (int id = 0; id < IDS; id++)
            changed += text_of[id] != base[id];
        assert_int_equal(count(&t, "new"), created);
        assert_int_equal(count(&t, "changed"), changed);
        assert_int_equal(count(&t, "unchanged"), RECORDS - created - changed);
        gf_buffer_release(&lines);
    }
    uint64_t there = 0;
    for (int id = 0; id < IDS; id++) {
        char name[16], text[16];
        there += text_of[id] >= 0;
        if (text_of[id] < 0) continue;
        snprintf(name, sizeof name, "%d", id);
        snprintf(text, sizeof text, "text %d", text_of[id]);
        assert_run(&t, "doc", "collection", "c", "id", name);
        assert_slice(transport_text(&t, 0, "text"), text);
    }
    assert_int_equal(size_of(&t, "c"), there);
    transport_close(&t);
}

/* ---- the place of a source ------------------------------------------------------------------- */

static gf_status put_source(transport *t, const char *input, gf_error *err)
{
    const gf_argument arguments[] = {{GF_SLICE("collection"), GF_SLICE("fruit")},
                                     {GF_SLICE("source"), GF_SLICE("desk")}};
    transport_input(t, "desk", gf_slice_str(input));
    return transport_run_with(t, "put", arguments, 2, err);
}

/* The place that is kept of "desk"; empty where there is none. */
static void assert_place(transport *t, const char *expected)
{
    assert_run(t, "source list", "collection", "fruit", "source", "desk");
    assert_int_equal(t->n_rows, *expected ? 1 : 0);
    if (*expected) assert_slice(transport_text(t, 0, "place"), expected);
}

/* The last of those that came, also without a record; it goes with its collection. */
static void keeps_the_place_of_a_source(void **state)
{
    (void)state;
    transport t;
    gf_error err;
    transport_open(&t);
    assert_ok(put_source(&t, "{\"$place\":\"0\"}\n", &err));
    assert_int_equal(count(&t, "read"), 0); /* no document made the collection */
    assert_ok(put_source(&t, three, &err));
    assert_place(&t, "");
    assert_ok(put_source(&t,
                         "{\"$place\":\"1\"}\n{\"id\":\"d\",\"text\":\"four\"}\n"
                         "{ \"$place\" : \"\\u0032\" }\n",
                         &err));
    assert_int_equal(count(&t, "read"), 1);
    assert_place(&t, "2");
    assert_ok(put_source(&t, "{\"$place\":\"3\"}\n", &err));
    assert_int_equal(count(&t, "read"), 0);
    assert_int_equal(t.n_notices, 0);
    assert_place(&t, "3");
    assert_ok(put_source(&t, "", &err));
    assert_place(&t, "3");
    assert_run(&t, "collection delete", "collection", "fruit");
    assert_ok(put_source(&t, three, &err));
    assert_place(&t, "");
    transport_close(&t);
}

/* Only such a line is a place, and only where a source is named. */
static void other_lines_are_no_place(void **state)
{
    (void)state;
    transport t;
    gf_error err;
    transport_open(&t);
    const gf_argument plain = {GF_SLICE("collection"), GF_SLICE("fruit")};
    transport_input(&t, "a.jsonl", GF_SLICE("{\"id\":\"a\",\"text\":\"b\"}\n{\"$place\":\"1\"}\n"));
    assert_ok(transport_run_with(&t, "put", &plain, 1, &err));
    assert_int_equal(reason(&t, "no_text"), 1);
    assert_ok(put_source(
        &t, "{\"id\":\"a\",\"text\":\"b\"}\n{\"$place\":1}\n{\"$place\":\"1\",\"x\":2}\n", &err));
    assert_int_equal(reason(&t, "no_text"), 2);
    assert_place(&t, "");
    transport_close(&t);
}

static void refuses_places_that_cannot_be_kept(void **state)
{
    (void)state;
    transport t;
    gf_error err;
    gf_buffer line = {0};
    transport_open(&t);
    const gf_argument pattern[] = {{GF_SLICE("collection"), GF_SLICE("{id}")},
                                   {GF_SLICE("source"), GF_SLICE("desk")}};
    transport_input(&t, "desk", gf_slice_str(three));
    assert_status(GF_EINVAL, transport_run_with(&t, "put", pattern, 2, &err));
    assert_string_equal(err.message, "source: its place is kept with one collection, and \"{id}\" "
                                     "is a pattern");
    gf_buffer_str(&line, "{\"id\":\"a\",\"text\":\"b\"}\n{\"$place\":\"");
    for (int i = 0; i < (64 << 10) + 1; i++)
        gf_buffer_byte(&line, 'x');
    gf_buffer_str(&line, "\"}\n");
    assert_status(GF_EINVAL, put_source(&t, gf_buffer_cstr(&line), &err));
    assert_place(&t, "");
    assert_status(GF_EINVAL, put_source(&t, "{\"$place\":\"\"}\n", &err));
    const gf_argument url[] = {{GF_SLICE("collection"), GF_SLICE("fruit")},
                               {GF_SLICE("from"), GF_SLICE("url")}};
    transport_input(&t, "url", GF_SLICE("http://127.0.0.1/"));
    assert_status(GF_EINVAL, transport_run_with(&t, "put", url, 2, &err));
    assert_non_null(strstr(err.message, "no server asks other hosts for somebody"));
    gf_buffer_release(&line);
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bad_times),
                                       cmocka_unit_test(same_again),
                                       cmocka_unit_test(numeric_id),
                                       cmocka_unit_test(input_patterns),
                                       cmocka_unit_test(patterns),
                                       cmocka_unit_test(long_name),
                                       cmocka_unit_test(too_many_collections),
                                       cmocka_unit_test(formats),
                                       cmocka_unit_test(several_streams),
                                       cmocka_unit_test(chosen_fields),
                                       cmocka_unit_test(hashed_ids),
                                       cmocka_unit_test(refused_lines),
                                       cmocka_unit_test(no_text_field),
                                       cmocka_unit_test(too_large),
                                       cmocka_unit_test(invalid_utf8),
                                       cmocka_unit_test(hostile_bytes),
                                       cmocka_unit_test(nothing_to_put),
                                       cmocka_unit_test(cut_short),
                                       cmocka_unit_test(keeps_the_place_of_a_source),
                                       cmocka_unit_test(other_lines_are_no_place),
                                       cmocka_unit_test(refuses_places_that_cannot_be_kept),
                                       cmocka_unit_test(random_puts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
