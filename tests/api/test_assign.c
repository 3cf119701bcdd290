/* assign: the clusters of texts that are not stored. */
#include "base/random.h"
#include "support/test.h"
#include "tests/api/library.h"
#include "tests/api/transport.h"

static void texts_that_are_not_stored(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    transport_input(
        &t, "a.jsonl",
        GF_SLICE("{\"id\":\"z\",\"text\":\"a general\",\"play\":1}\n"
                 "{\"id\":7,\"text\":\"caesar and macbeth and macbeth and macbeth, macbeth\"}\n"));
    transport_input(&t, "b.csv", GF_SLICE("id,text\nq,hamlet\n"));
    assert_run(&t, "assign", "collection", "mid");
    assert_int_equal(t.n_rows, 3);
    assert_int_equal(t.outcome, GF_OUTCOME_DONE);
    assert_string_equal(
        transport_members(&t, 0),
        "id cluster label score runner_up runner_up_label runner_up_score margin size");
    assert_slice(transport_text(&t, 0, "id"), "z");
    assert_slice(transport_text(&t, 0, "label"), "general");
    assert_near(transport_number(&t, 0, "score"), 1, 1e-6);
    assert_slice(transport_text(&t, 1, "label"), "macbeth");
    assert_slice(transport_text(&t, 1, "runner_up_label"), "caesar");
    assert_near(transport_number(&t, 1, "margin"),
                transport_number(&t, 1, "score") - transport_number(&t, 1, "runner_up_score"),
                1e-6);
    assert_string_equal(transport_members(&t, 2), "id cluster label score");
    assert_slice(transport_text(&t, 2, "label"), "without terms");
    assert_run(&t, "collection show", "collection", "mid");
    assert_int_equal(transport_number(&t, 0, "size"), 7);
    assert_run(&t, "clusters", "collection", "mid", "pending", "true");
    assert_int_equal(t.n_rows, 0);
    transport_close(&t);
}

/* What is told of a text is what doc and export tell of it once it is put, and rebuilt alike. */
static void as_the_build_has_it(void **state)
{
    (void)state;
    static const char lines[] =
        "{\"id\":\"doc1\",\"text\":\"the general\"}\n{\"id\":\"doc2\",\"text\":\"a general\"}\n"
        "{\"id\":\"doc3\",\"text\":\"macbeth\"}\n{\"id\":\"doc4\",\"text\":\"macbeth macbeth\"}\n";
    transport t;
    double cluster[4], score[4];
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "export", "collection", "mid");
    for (uint64_t i = 0; i < 4; i++) {
        cluster[i] = transport_number(&t, i, "cluster");
        score[i] = transport_number(&t, i, "score");
    }
    transport_input(&t, "a.jsonl", gf_slice_str(lines));
    assert_run(&t, "assign", "collection", "mid", "with-text", "true");
    assert_int_equal(t.n_rows, 4);
    for (uint64_t i = 0; i < 4; i++) {
        assert_true(transport_number(&t, i, "cluster") == cluster[i]);
        assert_true(transport_number(&t, i, "score") == score[i]);
        assert_true(transport_text(&t, i, "text").len > 0);
    }
    transport_close(&t);
}

/* The rows of several batches, as one buffer. */
static void assign_many(transport *t, gf_slice lines, const char *threads, gf_buffer *rows)
{
    transport_input(t, "a.jsonl", lines);
    assert_run(t, "assign", "collection", "mid", "threads", threads, "with-text", "true");
    assert_int_equal(t->n_rows, 1000);
    for (uint64_t i = 0; i < t->n_rows && i < TRANSPORT_KEPT; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", (int)i);
        assert_slice(transport_text(t, i, "id"), id);
        gf_buffer_format(rows, "%s %.9g %.*s\n", id, transport_number(t, i, "score"),
                         GF_SLICE_ARG(transport_text(t, i, "label")));
    }
}

/* In the order of the records, and the same for any number of threads. */
static void by_several_threads(void **state)
{
    (void)state;
    static const char *const words[] = {"general", "caesar", "macbeth", "the", "hamlet"};
    transport t;
    gf_buffer lines = {0}, one = {0}, four = {0};
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    transport_open(&t);
    library_mid(&t, true);
    for (int i = 0; i < 1000; i++)
        gf_buffer_format(&lines, "{\"id\":%d,\"text\":\"%s %s %s\"}\n", i,
                         words[gf_random_below(&r, 5)], words[gf_random_below(&r, 5)],
                         words[gf_random_below(&r, 5)]);
    assign_many(&t, gf_buffer_view(&lines), "1", &one);
    assign_many(&t, gf_buffer_view(&lines), "4", &four);
    assert_string_equal(gf_buffer_cstr(&one), gf_buffer_cstr(&four));
    gf_buffer_release(&lines);
    gf_buffer_release(&one);
    gf_buffer_release(&four);
    transport_close(&t);
}

static void refused_records(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    t.keeps_rejects = true;
    transport_input(&t, "a.jsonl",
                    GF_SLICE("{\"id\":\"1\",\"body\":\"caesar\",\"language\":\"en\"}\n{broken\n"
                             "{\"id\":\"2\",\"text\":\"caesar\"}\n"));
    assert_run(&t, "assign", "collection", "mid", "text", "body", "lang", "language");
    assert_int_equal(t.outcome, GF_OUTCOME_SOME_REFUSED);
    assert_int_equal(t.n_rows, 1);
    assert_slice(transport_text(&t, 0, "label"), "caesar");
    assert_int_equal(t.n_notices, 2);
    assert_string_equal(t.notices[0].reason, "broken_json");
    assert_int_equal(t.notices[0].line, 2);
    assert_string_equal(t.notices[1].reason, "no_text");
    assert_slice(gf_buffer_view(&t.rejected), "{broken\n{\"id\":\"2\",\"text\":\"caesar\"}\n");
    transport_close(&t);
}

static void what_must_be_there(void **state)
{
    (void)state;
    static const char line[] = "{\"id\":\"1\",\"text\":\"x\"}\n";
    transport t;
    transport_open(&t);
    transport_input(&t, "a.jsonl", gf_slice_str(line));
    assert_refused(GF_ENOTFOUND, "", &t, "assign", "collection", "mid");
    library_mid(&t, false);
    transport_input(&t, "a.jsonl", gf_slice_str(line));
    assert_refused(GF_ENOTFOUND, "has not been rebuilt", &t, "assign", "collection", "mid");
    assert_int_equal(t.n_rows, 0);
    assert_refused(GF_EINVAL, "assign needs an input", &t, "assign", "collection", "mid");
    assert_run(&t, "rebuild", "collection", "mid", "threads", "1");
    transport_input(&t, "a.jsonl", gf_slice_str(line));
    assert_refused(GF_EINVAL, "no field \"body\"", &t, "assign", "collection", "mid", "text",
                   "body");
    transport_input(&t, "a.jsonl",
                    GF_SLICE("{\"id\":1,\"text\":\"a\"}\n{\"id\":2,\"text\":\"b\"}"));
    t.emit_fails_at = 2;
    assert_refused(GF_EIO, "nobody takes the rows", &t, "assign", "collection", "mid");
    assert_int_equal(t.n_rows, 1);
    t.emit_fails_at = 0;
    transport_input(&t, "a.jsonl",
                    GF_SLICE("{\"id\":1,\"text\":\"a\"}\n{\"id\":2,\"text\":\"b\"}"));
    t.cancel_at = 1;
    assert_refused(GF_ECANCELLED, "", &t, "assign", "collection", "mid");
    assert_int_equal(t.n_rows, 1);
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_that_are_not_stored), cmocka_unit_test(as_the_build_has_it),
        cmocka_unit_test(by_several_threads), cmocka_unit_test(refused_records),
        cmocka_unit_test(what_must_be_there)};
    return cmocka_run_group_tests_name("assign", tests, NULL, NULL);
}
