/*
 * Backup, restore and repair of a store that has everything: documents, tweets, papers, tables of
 * users and an access log. What the copies give is what the store gives, row for row.
 */
#include "tests/apps/papers.h"
#include "tests/apps/tweet_store.h"

static const char tweets[] = TWEET_HASELNUSS
    "\n" TWEET_APACHE "\n"
    "{\"created_at\":\"Thu May 05 14:30:30 +0000 2016\",\"text\":\"Das das\",\"lang\":\"de\"}\n";
static const char rows[] =
    "{\"key\":[\"u1\"],\"cells\":{\"info\":{\"name\":\"Ann\",\"age\":34},\"list\":{\"u2\":7}}}\n"
    "{\"key\":[\"u2\"],\"cells\":{\"info\":{\"name\":\"\"},\"list\":{\"u1\":-1,\"\":0}}}\n";
static const char lines[] =
    "1.1.1.1 - frank [13/Jul/2009:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 10 \"-\" \"x\" \"id=7\"\n"
    "2.2.2.2 - - [13/Jul/2009:00:00:00 +0000] \"GET http://b.org/ HTTP/1.1\" 404 -\n";

static void fill(transport *t)
{
    transport_put(t, "posts",
                  "{\"id\":\"1\",\"text\":\"one bee\"}\n{\"id\":\"2\",\"text\":\"two\"}\n");
    assert_run(t, "rebuild", "collection", "posts", "threads", "1");
    transport_input(t, "tweets", gf_slice_str(tweets));
    assert_run(t, "tweets import", "hash", "murmur3");
    papers_import_cdx(t, PAPERS_LINE(PAPERS_HELLO) PAPERS_LINE(PAPERS_OTHER));
    papers_import_tei(t, PAPERS_HELLO, GF_SLICE(PAPERS_TEI("How bees dance")));
    transport_input(t, "works",
                    GF_SLICE("{\"id\":1,\"title\":\"How bees dance\",\"doi\":\"10/a\"}\n"));
    assert_run(t, "papers match");
    assert_run(t, "table create", "table", "users", "key", "id", "family", "info:versions=2",
               "family", "list:wide,type=decimal", "column", "info:age=int64");
    transport_input(t, "rows", gf_slice_str(rows));
    assert_run(t, "table import", "table", "users");
    assert_run(t, "table put", "table", "users", "key", "u1", "set", "info:age=35");
    transport_input(t, "log", gf_slice_str(lines));
    assert_run(t, "log import", "log", "web");
    t->namespace = "other";
    transport_input(t, "tweets", gf_slice_str(tweets));
    assert_run(t, "tweets import");
    assert_run(t, "table create", "table", "users", "key", "id", "family", "info:versions=2",
               "family", "list:wide,type=decimal", "column", "info:age=int64");
    t->namespace = "default";
}

/* Everything that the store of that folder gives. */
static void dump(transport *t, const char *folder, gf_buffer *out)
{
    static const char *const calls[][8] = {
        {"export", "collection", "posts"},
        {"export", "collection", "posts", "documents", "true"},
        {"tweets search", "token", "d*", "json", "true"},
        {"tweets search", "token", "das", "field", "text"},
        {"tweets map", "box", "12,51,13,52"},
        {"tweets frequency", "from", "201604290900", "to", "201605060000"},
        {"tweets top", "limit", "9"},
        {"papers dump"},
        {"papers counts"},
        {"papers list"},
        {"papers show", "sha1", PAPERS_HELLO},
        {"table list"},
        {"table describe", "table", "users"},
        {"table export", "table", "users"},
        {"table get", "table", "users", "key", "u1", "column", "info:age", "versions"},
        {"table export", "table", "web"},
        {"table export", "table", "web-by"},
        {"log report", "log", "web", "by", "status"},
        {"log find", "log", "web", "cookie", "id=7"}};
    const char *before = t->folder;
    transport_close_store(t);
    t->folder = folder;
    gf_buffer_reset(out);
    for (int n = 0; n < 2; n++) {
        t->namespace = n ? "other" : "default";
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            gf_error err;
            gf_argument arguments[5];
            size_t a = 0;
            for (size_t w = 1; w < 8 && calls[i][w]; w += 2, a++)
                arguments[a] =
                    (gf_argument){gf_slice_str(calls[i][w]),
                                  w == 7 ? GF_SLICE("3") : gf_slice_str(calls[i][w + 1])};
            gf_status st = transport_run_with(t, calls[i][0], arguments, a, &err);
            if (st != GF_OK && n == 0) fail_msg("%s: %s", calls[i][0], err.message);
            gf_buffer_format(out, "\n%s: ", calls[i][0]);
            if (st == GF_OK) gf_buffer_slice(out, gf_buffer_view(&t->rows));
        }
    }
    t->namespace = "default";
    transport_close_store(t);
    t->folder = before;
}

static void the_same(transport *t, const char *folder, gf_buffer *expected)
{
    gf_buffer found = {0};
    dump(t, folder, &found);
    assert_true(gf_slice_equal(gf_buffer_view(&found), gf_buffer_view(expected)));
    const char *before = t->folder;
    t->folder = folder;
    assert_run(t, "verify");
    assert_int_equal(transport_number(t, 0, "faults"), 0);
    assert_int_equal(transport_number(t, 0, "tweets"), 6);
    assert_int_equal(transport_number(t, 0, "papers"), 2);
    assert_run(t, "status");
    assert_int_equal(transport_number(t, 0, "tweets"), 6);
    assert_int_equal(transport_number(t, 0, "papers"), 2);
    transport_close_store(t);
    t->folder = before;
    gf_buffer_release(&found);
}

static void copies_give_the_same(void **state)
{
    (void)state;
    transport t;
    gf_buffer all = {0};
    char backup[256], restored[256], repaired[256];
    transport_open(&t);
    snprintf(backup, sizeof backup, "%s-backup", t.folder);
    snprintf(restored, sizeof restored, "%s-restored", t.folder);
    snprintf(repaired, sizeof repaired, "%s-repaired", t.folder);
    fill(&t);
    dump(&t, t.folder, &all);
    assert_run(&t, "backup", "to", backup);
    /* What comes later is not in the copy. */
    transport_input(&t, "tweets",
                    GF_SLICE("{\"created_at\":\"Thu May 05 14:31:30 +0000 2016\","
                             "\"text\":\"later\",\"lang\":\"de\"}\n"));
    assert_run(&t, "tweets import", "hash", "murmur3");
    assert_run(&t, "table delete", "table", "users", "key", "u1");
    papers_import_tei(&t, PAPERS_OTHER, GF_SLICE(PAPERS_TEI("later")));
    transport_close_store(&t);
    the_same(&t, backup, &all);
    assert_run(&t, "restore", "from", backup, "to", restored);
    the_same(&t, restored, &all);
    const char *folder = t.folder;
    t.folder = backup;
    assert_run(&t, "repair", "to", repaired);
    t.folder = folder;
    the_same(&t, repaired, &all);
    gf_test_remove(backup);
    gf_test_remove(restored);
    gf_test_remove(repaired);
    gf_buffer_release(&all);
    transport_close(&t);
}

/* A backup whose tables do not agree is not restored. */
static void what_does_not_agree_is_not_restored(void **state)
{
    (void)state;
    transport t;
    gf_error err;
    gf_tweets *opened;
    gf_batch *batch;
    gf_buffer key = {0};
    char restored[256];
    transport_open(&t);
    snprintf(restored, sizeof restored, "%s-restored", t.folder);
    fill(&t);
    assert_ok(gf_tweets_open(t.store, GF_SLICE("default"), &opened, &err));
    assert_ok(gf_batch_create(gf_store_database(t.store), &batch, &err));
    gf_tweets_term_key(opened, &key, GF_SLICE("haselnuss"));
    gf_batch_delete_row(batch, opened->terms, gf_buffer_view(&key), GF_ALL_FAMILIES);
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    gf_tweets_close(opened);
    gf_buffer_release(&key);
    transport_close_store(&t);
    assert_status(GF_ECORRUPT,
                  transport_run(&t, &err, "restore", "from", t.folder, "to", restored, NULL));
    assert_int_equal(t.n_notices, 1);
    assert_string_equal(t.notices[0].source, "TermIndex");
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies_give_the_same),
                                       cmocka_unit_test(what_does_not_agree_is_not_restored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
