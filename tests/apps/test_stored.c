/* Tweets and papers are counted, and what is wrong with their tables is found. */
#include "api/app.h"
#include "apps/papers/papers.h"
#include "tests/apps/tweet_store.h"

typedef struct found {
    uint64_t n;
    gf_app_check check;
    gf_app_count counts[GF_MOST_APPS]; /* tweets, papers */
    gf_buffer text;                    /* "where: what" lines */
} found;

static gf_status note(void *context, const char *where, const char *what, gf_error *err)
{
    found *f = context;
    f->n++;
    gf_buffer_format(&f->text, "%s: %s\n", where, what);
    return gf_buffer_check(&f->text, err);
}

static gf_status verify(tweet_store *s, found *f, gf_error *err)
{
    f->n = 0;
    f->check = (gf_app_check){.store = s->store, .visit = note, .context = f};
    memset(f->counts, 0, sizeof f->counts);
    gf_buffer_reset(&f->text);
    return gf_apps_check(&f->check, f->counts, err);
}

static void expect_sound(tweet_store *s, uint64_t tweets, uint64_t papers)
{
    gf_error err;
    found f = {0};
    gf_app_count counted[GF_MOST_APPS] = {{.n = 0}};
    gf_app_check counting = {.store = s->store};
    assert_ok(verify(s, &f, &err));
    if (f.n) fail_msg("%s", gf_buffer_cstr(&f.text));
    assert_int_equal(f.counts[0].n, tweets);
    assert_int_equal(f.counts[1].n, papers);
    assert_ok(gf_apps_check(&counting, counted, &err));
    assert_int_equal(counted[0].n, tweets);
    assert_int_equal(counted[1].n, papers);
    gf_buffer_release(&f.text);
}

static void expect_fault(tweet_store *s, const char *what)
{
    gf_error err;
    found f = {0};
    assert_ok(verify(s, &f, &err));
    assert_int_equal(f.check.faults, f.n);
    if (!f.n || !strstr(gf_buffer_cstr(&f.text), what))
        fail_msg("not \"%s\", but: %s", what, f.n ? gf_buffer_cstr(&f.text) : "sound");
    gf_buffer_release(&f.text);
}

/* After a repair nothing is found any more; it told of what it did. */
static void expect_repaired(tweet_store *s, uint64_t tweets, uint64_t papers)
{
    gf_error err;
    found f = {0};
    gf_app_repair repair = {.store = s->store, .visit = note, .context = &f};
    assert_ok(gf_apps_repair(&repair, &err));
    assert_true(f.n > 0 && f.n == repair.rows + repair.remade);
    gf_buffer_release(&f.text);
    expect_sound(s, tweets, papers);
    f = (found){0};
    repair = (gf_app_repair){.store = s->store, .visit = note, .context = &f};
    assert_ok(gf_apps_repair(&repair, &err));
    assert_int_equal(f.n + repair.rows + repair.remade, 0);
    gf_buffer_release(&f.text);
}

/* ---- tweets ---------------------------------------------------------------------------------- */

static const char lines[] = TWEET_HASELNUSS
    "\n" TWEET_APACHE "\n"
    "{\"created_at\":\"Thu May 05 14:30:30 +0000 2016\",\"text\":\"Das das\",\"lang\":\"de\"}\n"
    "{\"created_at\":\"Thu May 05 14:30:40 +0000 2016\",\"text\":\"Das das!\",\"lang\":\"de\"}\n";

static void tweets_are_sound(void **state)
{
    static const gf_tweets_hash hashes[] = {GF_TWEETS_MURMUR2, GF_TWEETS_MURMUR3};
    (void)state;
    for (int i = 0; i < 2; i++) {
        gf_error err;
        tweet_store s;
        tweet_store_open(&s);
        expect_sound(&s, 0, 0);
        tweet_store_import(&s, hashes[i], gf_slice_str(lines));
        expect_sound(&s, 4, 0);
        gf_tweets_close(s.tweets);
        assert_ok(gf_tweets_open(s.store, GF_SLICE("a\0b"), &s.tweets, &err));
        tweet_store_import(&s, hashes[1 - i], gf_slice_str(lines));
        expect_sound(&s, 8, 0);
        tweet_store_close(&s);
    }
}

/* The n-th entry of a table's family is deleted, or its value is another. */
static void change_entry(tweet_store *s, gf_table *table, unsigned family, size_t n,
                         const char *value)
{
    gf_error err;
    gf_scan *scan;
    gf_row row = {0};
    gf_batch *batch;
    gf_scan_options o = GF_SCAN_OPTIONS(.family = family);
    assert_ok(gf_scan_open(table, &o, &scan, &err));
    for (size_t i = 0; i <= n; i++)
        assert_ok(gf_scan_next(scan, &row, &err));
    gf_scan_close(scan);
    assert_ok(gf_batch_create(gf_store_database(s->store), &batch, &err));
    if (value)
        gf_batch_put(batch, table, row.key, family, row.cells[0].qualifier, gf_slice_str(value), 0);
    else
        gf_batch_delete_cell(batch, table, row.key, family, row.cells[0].qualifier);
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_batch_free(batch);
    gf_row_release(&row);
}

static void expect_terms(tweet_store *s, bool whole)
{
    gf_slice dump = tweet_store_dump_of(s, "TermIndex");
    assert_true((memmem(dump.ptr, dump.len, "\tbehind\t", 8) != NULL) == whole);
    assert_true((memmem(dump.ptr, dump.len, "\tcut\t", 5) != NULL) == !whole);
}

/* What an earlier version has begun goes on by its rules; what is new has the whole texts. */
static void tweets_are_sound_by_their_rules(void **state)
{
    gf_error err;
    gf_tweets_info info;
    tweet_store s;
    (void)state;
    for (int old = 0; old < 2; old++) {
        tweet_store_open(&s);
        if (old) tweet_store_make_old(&s, GF_TWEETS_MURMUR3);
        tweet_store_import(&s, GF_TWEETS_MURMUR3, GF_SLICE(TWEET_EXTENDED "\n" TWEET_HASELNUSS));
        tweet_store_import(&s, GF_TWEETS_MURMUR3, GF_SLICE(TWEET_APACHE));
        assert_ok(gf_tweets_read_info(s.tweets, &info, &err));
        assert_int_equal(info.rules, old ? GF_TWEETS_RULES_SHORT : GF_TWEETS_RULES_WHOLE);
        assert_int_equal(info.tweets, 3);
        assert_false(info.reindexing);
        expect_sound(&s, 3, 0);
        expect_terms(&s, !old);
        tweet_store_close(&s);
    }
}

static void put_info(tweet_store *s, const gf_tweets_info *info)
{
    gf_error err;
    gf_batch *batch;
    assert_ok(gf_batch_create(gf_store_database(s->store), &batch, &err));
    gf_tweets_put_settings(s->tweets, batch, info, GF_SLICE("9"));
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_batch_free(batch);
}

/* Up to where a reindex has come a tweet follows the new rules, behind it the old ones. */
static void tweets_follow_the_position(void **state)
{
    gf_error err;
    gf_tweets_info info, read;
    tweet_store s;
    (void)state;
    for (int done = 0; done < 2; done++) {
        tweet_store_open(&s);
        tweet_store_make_old(&s, GF_TWEETS_MURMUR2);
        assert_ok(gf_tweets_read_info(s.tweets, &info, &err));
        info.reindexing = true;
        put_info(&s, &info);
        expect_sound(&s, 0, 0);
        gf_tweets_row(GF_TWEETS_MURMUR2, 1462458620 - !done, GF_SLICE(TWEET_EXTENDED),
                      info.reindexed);
        info.reindexed_length = GF_TWEET_ROW;
        put_info(&s, &info);
        assert_ok(gf_tweets_read_info(s.tweets, &read, &err));
        assert_true(read.reindexing && read.reindexed_length == GF_TWEET_ROW);
        assert_memory_equal(read.reindexed, info.reindexed, GF_TWEET_ROW);
        tweet_store_import(&s, GF_TWEETS_MURMUR2, GF_SLICE(TWEET_EXTENDED "\n" TWEET_HASELNUSS));
        expect_sound(&s, 2, 0);
        expect_terms(&s, done);
        info.tweets = 2;
        info.reindexed[3] ^= 1; /* far behind, far before: it is another text that is due */
        info.reindexed_length = done ? 0 : GF_TWEET_ROW;
        put_info(&s, &info);
        expect_fault(&s, "TermIndex: a row that a tweet makes is missing");
        tweet_store_close(&s);
    }
}

/* Tables by rules that this program does not know are left alone. */
static void later_rules_are_refused(void **state)
{
    gf_error err;
    tweet_store s;
    gf_tweets_info info = {.any = true, .rules = (gf_tweets_rules)9};
    gf_tweets_import *import;
    gf_tweets_import_options o = {.hash_given = false};
    (void)state;
    tweet_store_open(&s);
    put_info(&s, &info);
    assert_status(GF_EINVAL, gf_tweets_import_open(s.tweets, &o, &import, &err));
    assert_non_null(strstr(err.message, "a newer one is needed"));
    tweet_store_close(&s);
}

static void damaged_tweets_are_told(void **state)
{
    static const struct {
        int table; /* raw, terms, frequency, geo */
        unsigned family;
        size_t n;
        const char *value, *what;
    } cases[] = {
        {0, GF_TWEETS_RAW_T, 0, NULL, "tweets of namespace \"default\": 3 are there"},
        {0, GF_TWEETS_RAW_T, 1, NULL, "TermIndex: a row names a tweet that is not there"},
        {0, GF_TWEETS_RAW_T, 1, NULL, "GeoTemporalIndex: a row names a tweet that is not there"},
        {0, GF_TWEETS_RAW_T, 1, NULL, "TweetFrequency: "},
        {0, GF_TWEETS_RAW_T, 2, "{}", "RawTwitterData: "},
        {0, GF_TWEETS_RAW_T, 3,
         "{\"created_at\":\"Thu May 05 14:30:40 +0000 2016\",\"text\":\"x\"}",
         "RawTwitterData: a tweet is not of the time and the hash of its row"},
        {1, GF_TWEETS_TERMS_TEXT, 0, NULL, "TermIndex: a row that a tweet makes is missing"},
        {1, GF_TWEETS_TERMS_TEXT, 3, "2", "TermIndex: a row does not agree with its tweets"},
        {1, GF_TWEETS_TERMS_USER, 1, NULL, "TermIndex: a row that a tweet makes is missing"},
        {2, GF_TWEETS_FREQUENCY_LANGUAGE, 0, NULL,
         "TweetFrequency: a row that a tweet makes is missing"},
        {2, GF_TWEETS_FREQUENCY_LANGUAGE, 1, "7", "TweetFrequency: a row does not agree"},
        {3, GF_TWEETS_GEO_PLACES, 0, NULL, "GeoTemporalIndex: a row that a tweet makes is missing"},
        {3, GF_TWEETS_GEO_PLACES, 0, "12345678", "GeoTemporalIndex: a row does not agree"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tweet_store s;
        tweet_store_open(&s);
        tweet_store_import(&s, GF_TWEETS_MURMUR2, gf_slice_str(lines));
        gf_table *const tables[] = {s.tweets->raw, s.tweets->terms, s.tweets->frequency,
                                    s.tweets->geo};
        change_entry(&s, tables[cases[i].table], cases[i].family, cases[i].n, cases[i].value);
        expect_fault(&s, cases[i].what);
        expect_repaired(&s, cases[i].table == 0 ? 3 : 4, 0);
        tweet_store_close(&s);
    }
}

/* Rows that no tweet makes, and settings that are gone. */
static void rows_too_many_are_told(void **state)
{
    (void)state;
    gf_error err;
    tweet_store s;
    gf_batch *batch;
    gf_buffer key = {0};
    tweet_store_open(&s);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, gf_slice_str(lines));
    assert_ok(gf_batch_create(gf_store_database(s.store), &batch, &err));
    gf_tweets_key(s.tweets, &key, GF_SLICE("201605051431"));
    gf_batch_put(batch, s.tweets->frequency, gf_buffer_view(&key), 0, GF_SLICE("de"), GF_SLICE("1"),
                 0);
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    expect_fault(&s, "TweetFrequency: 4 rows are there, and tweets make 3");
    gf_batch_delete_row(batch, s.tweets->frequency, gf_buffer_view(&key), GF_ALL_FAMILIES);
    gf_tweets_key(s.tweets, &key, GF_SLICE(""));
    gf_batch_delete_row(batch, s.tweets->settings, gf_buffer_view(&key), GF_ALL_FAMILIES);
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    expect_fault(&s, "4 are there, 1 of them with a place; the settings say 0 and 0");
    expect_repaired(&s, 4, 0);
    gf_buffer_release(&key);
    gf_batch_free(batch);
    tweet_store_close(&s);
}

/* ---- papers ---------------------------------------------------------------------------------- */

static const char tei[] = "<TEI xmlns=\"http://www.tei-c.org/ns/1.0\"><teiHeader/>"
                          "<text><body><p>Words.</p></body></text></TEI>";

/* One row with all, one with a failed extraction, one with a capture alone. */
static void put_papers(tweet_store *s, const char *name_space, const char *table)
{
    gf_error err;
    gf_papers *papers;
    gf_papers_import *import;
    gf_papers_outcome outcome;
    gf_sha1 sha1[3];
    gf_tei good = {.result = GF_TEI_SUCCESS}, bad = {.result = GF_TEI_SUCCESS};
    gf_cdx cdx = {.surt = GF_SLICE("a"),
                  .date = GF_SLICE("20170706005950"),
                  .url = GF_SLICE("http://a"),
                  .mime = "application/pdf",
                  .size = GF_SLICE("1"),
                  .offset = GF_SLICE("2"),
                  .warc = GF_SLICE("w")};
    gf_papers_match match = {"match", GF_SLICE("10/a"), GF_SLICE("{}")};
    assert_ok(
        gf_papers_open(s->store, gf_slice_str(name_space), gf_slice_str(table), &papers, &err));
    assert_ok(gf_papers_import_open(papers, false, &import, &err));
    for (int i = 0; i < 3; i++)
        assert_ok(gf_sha1_of(gf_slice_of("abc" + i, 1), &sha1[i], &err));
    assert_ok(gf_tei_read(gf_slice_str(tei), &good, &err));
    assert_ok(gf_tei_read(GF_SLICE("no XML"), &bad, &err));
    for (int i = 0; i < 3; i += 2) {
        memcpy(cdx.sha1, sha1[i].bytes, GF_SHA1_BYTES);
        assert_ok(gf_papers_import_cdx(import, &cdx, &outcome, &err));
    }
    assert_ok(
        gf_papers_import_tei(import, &sha1[0], 200, gf_slice_str(tei), &good, &outcome, &err));
    assert_ok(
        gf_papers_import_tei(import, &sha1[1], 200, GF_SLICE("no XML"), &bad, &outcome, &err));
    assert_ok(gf_papers_import_file(import, &sha1[0], "application/pdf", GF_SLICE("x"), &err));
    assert_ok(gf_papers_import_match(import, &sha1[0], &match, &err));
    assert_ok(gf_papers_import_flush(import, &err));
    gf_papers_import_close(import);
    /* A further run of each step, and one whose paper has nothing else. */
    assert_ok(gf_papers_choose_group(papers, GF_PAPERS_GROBID, GF_SLICE("grobid1"), true, &err));
    assert_ok(gf_papers_choose_group(papers, GF_PAPERS_MATCH, GF_SLICE("match12"), true, &err));
    assert_ok(gf_papers_import_open(papers, false, &import, &err));
    assert_ok(gf_sha1_of(GF_SLICE("d"), &sha1[1], &err));
    for (int i = 0; i < 2; i++)
        assert_ok(
            gf_papers_import_tei(import, &sha1[i], 200, gf_slice_str(tei), &good, &outcome, &err));
    assert_ok(gf_papers_import_match(import, &sha1[0], &match, &err));
    assert_ok(gf_papers_import_flush(import, &err));
    gf_papers_import_close(import);
    gf_papers_close(papers);
    gf_tei_release(&good);
    gf_tei_release(&bad);
}

static void papers_are_sound(void **state)
{
    (void)state;
    tweet_store s;
    tweet_store_open(&s);
    put_papers(&s, "default", GF_PAPERS_TABLE);
    expect_sound(&s, 0, 4);
    put_papers(&s, "other", GF_PAPERS_TABLE);
    put_papers(&s, "default", "1-qa");
    tweet_store_import(&s, GF_TWEETS_MURMUR2, gf_slice_str(lines));
    expect_sound(&s, 4, 12);
    tweet_store_close(&s);
}

static void damaged_papers_are_told(void **state)
{
    static const struct {
        const char *paper;
        unsigned role;
        const char *column, *value, *what;
        const char *group; /* NULL: the first of its stem */
    } cases[] = {
        {"a", GF_PAPERS_F, "c", NULL, ": it has cdx, and no c", NULL},
        {"c", GF_PAPERS_F, "c", "{", ": c is no JSON", NULL},
        {"a", GF_PAPERS_FILE, "size", "7", ": size is not 8 bytes", NULL},
        {"a", GF_PAPERS_FILE, "size", NULL, ": it has meta, and no size", NULL},
        {"a", GF_PAPERS_GROBID, "status_code", NULL, ": it has status, and no status_code", NULL},
        {"a", GF_PAPERS_GROBID, "status_code", "200", ": status_code is not 8 bytes", NULL},
        {"a", GF_PAPERS_GROBID, "tei_xml", NULL, "succeeded, and it has no tei_xml", NULL},
        {"a", GF_PAPERS_GROBID, "metadata", "x", ": metadata is no JSON", NULL},
        {"a", GF_PAPERS_GROBID, "status", "{\"status\":\"fail\"}", "did not succeed, and it has",
         NULL},
        {"b", GF_PAPERS_GROBID, "tei_json", "{}", "did not succeed, and it has tei_json", NULL},
        {"b", GF_PAPERS_GROBID, "status", "", ": status is no JSON", NULL},
        {"a", GF_PAPERS_MATCH, "mstatus", NULL, ": it has minfo, and no mstatus", NULL},
        {"a", GF_PAPERS_GROBID, "tei_json", NULL, ", grobid1: its extraction succeeded", "grobid1"},
        {"d", GF_PAPERS_GROBID, "status", NULL, ", grobid1: it has status_code", "grobid1"},
        {"a", GF_PAPERS_MATCH, "minfo", "[", ", match12: minfo is no JSON", "match12"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gf_error err;
        tweet_store s;
        gf_sha1 sha1;
        gf_papers *papers;
        gf_batch *batch;
        gf_buffer key = {0};
        tweet_store_open(&s);
        put_papers(&s, "default", GF_PAPERS_TABLE);
        assert_ok(
            gf_papers_open(s.store, GF_SLICE("default"), GF_SLICE(GF_PAPERS_TABLE), &papers, &err));
        assert_ok(gf_sha1_of(gf_slice_str(cases[i].paper), &sha1, &err));
        gf_papers_key(papers, &sha1, &key);
        if (cases[i].group)
            assert_ok(gf_papers_choose_group(papers, cases[i].role, gf_slice_str(cases[i].group),
                                             false, &err));
        unsigned family = gf_papers_family(papers, cases[i].role);
        assert_ok(gf_batch_create(gf_store_database(s.store), &batch, &err));
        gf_slice column = gf_slice_str(cases[i].column);
        if (cases[i].value)
            gf_batch_put(batch, gf_papers_table(papers), gf_buffer_view(&key), family, column,
                         gf_slice_str(cases[i].value), 0);
        else
            gf_batch_delete_cell(batch, gf_papers_table(papers), gf_buffer_view(&key), family,
                                 column);
        assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
        expect_fault(&s, cases[i].what);
        expect_fault(&s, gf_sha1_base32(&sha1).text);
        bool failed = strcmp(cases[i].paper, "b") == 0;
        expect_repaired(&s, 0, failed ? 3 : 4);
        gf_batch_free(batch);
        gf_papers_close(papers);
        gf_buffer_release(&key);
        tweet_store_close(&s);
    }
}

/* ---- failures -------------------------------------------------------------------------------- */

static gf_status check(void *context, gf_error *err)
{
    found f = {0};
    gf_status st = verify(context, &f, err);
    gf_buffer_release(&f.text);
    return st;
}

static gf_status count(void *context, gf_error *err)
{
    gf_app_count counted[GF_MOST_APPS] = {{.n = 0}};
    gf_app_check counting = {.store = ((tweet_store *)context)->store};
    return gf_apps_check(&counting, counted, err);
}

static gf_status repair(void *context, gf_error *err)
{
    found f = {0};
    gf_app_repair r = {.store = ((tweet_store *)context)->store, .visit = note, .context = &f};
    gf_status st = gf_apps_repair(&r, err);
    gf_buffer_release(&f.text);
    return st;
}

static void memory_fails(void **state)
{
    (void)state;
    tweet_store s;
    tweet_store_open(&s);
    put_papers(&s, "default", GF_PAPERS_TABLE);
    tweet_store_import(&s, GF_TWEETS_MURMUR2, gf_slice_str(lines));
    gf_test_sweep(check, NULL, &s);
    gf_test_sweep(count, NULL, &s);
    change_entry(&s, s.tweets->terms, GF_TWEETS_TERMS_TEXT, 0, NULL);
    change_entry(&s, s.tweets->geo, GF_TWEETS_GEO_PLACES, 0, "12345678");
    gf_test_sweep(check, NULL, &s);
    gf_test_sweep(repair, NULL, &s);
    expect_sound(&s, 4, 4);
    tweet_store_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tweets_are_sound_by_their_rules),
                                       cmocka_unit_test(tweets_follow_the_position),
                                       cmocka_unit_test(later_rules_are_refused),
                                       cmocka_unit_test(tweets_are_sound),
                                       cmocka_unit_test(damaged_tweets_are_told),
                                       cmocka_unit_test(rows_too_many_are_told),
                                       cmocka_unit_test(papers_are_sound),
                                       cmocka_unit_test(damaged_papers_are_told),
                                       cmocka_unit_test(memory_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
