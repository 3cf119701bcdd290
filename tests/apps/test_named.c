/* Tables of applications in a database whose tables others know: they are opened for a copy. */
#include "apps/papers/arguments_internal.h"
#include "apps/papers/table/table_internal.h"
#include "apps/tweets/tables_internal.h"
#include "tests/engine/fixture_shared.h"

static gf_store *open_named(gf_backend *first, gf_backend **backend)
{
    return fixture_share_as(first, GF_BACKEND_SHARED | GF_BACKEND_NAMED, backend);
}

static void put_cell(gf_store *s, gf_table *t, gf_slice key, unsigned family, const char *value)
{
    gf_error err;
    gf_batch *batch;
    assert_ok(gf_batch_create(gf_store_database(s), &batch, &err));
    gf_batch_put(batch, t, key, family, GF_SLICE(""), gf_slice_str(value), 0);
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_batch_free(batch);
}

/* Tables as others have them: a paper with families of no role, and a tweet without settings. */
static void fill(gf_store *s)
{
    static const gf_key_part parts[] = {
        {.name = "sha1", .kind = GF_PART_FIXED, .width = GF_SHA1_BYTES}};
    static const gf_family families[] = {
        {.name = "grobid7", .layout = GF_LAYOUT_WIDE, .compression = GF_COMPRESSION_SNAPPY},
        {.name = "theirs", .layout = GF_LAYOUT_WIDE}};
    static const gf_schema theirs = {.name = GF_PAPERS_PREFIX "9-qa",
                                     .parts = parts,
                                     .n_parts = 1,
                                     .families = families,
                                     .n_families = 2};
    gf_error err;
    gf_table *t;
    gf_tweets *tweets;
    char row[GF_TWEET_ROW];
    static const char json[] =
        "{\"created_at\":\"Thu May 05 14:30:07 +0000 2016\",\"text\":\"Rain\"}";
    assert_ok(gf_table_open(gf_store_database(s), &theirs, &t, &err));
    put_cell(s, t, GF_SLICE("01234567890123456789"), 1, "value");
    assert_ok(gf_tweets_open(s, GF_SLICE("default"), &tweets, &err));
    gf_tweets_row(GF_TWEETS_MURMUR2, 1462458607, gf_slice_str(json), row);
    put_cell(s, tweets->raw, gf_slice_of(row, sizeof row), GF_TWEETS_RAW_T, json);
    gf_tweets_close(tweets);
}

static gf_status open_papers(void *context, gf_error *err)
{
    return gf_papers_open_all(context, false, err);
}

static gf_status open_cut_short(void *context, gf_error *err)
{
    return gf_tweets_open_joined(context, true, err);
}

static void papers_have_the_families_that_are_there(void **state)
{
    (void)state;
    gf_error err;
    gf_backend *backend;
    gf_papers *papers;
    bool has_theirs = false;
    gf_store *s = open_named(NULL, &backend);
    fill(s);
    assert_ok(gf_papers_open_all(s, false,
                                 &err)); /* what the model itself keeps comes before the sweep */
    gf_test_sweep(open_papers, NULL, s);
    assert_ok(gf_papers_find(s, GF_SLICE("default"), GF_SLICE("9-qa"), &papers, &err));
    assert_ok(gf_papers_choose_group(papers, GF_PAPERS_GROBID, GF_SLICE("grobid7"), false, &err));
    for (unsigned f = 0; f < gf_table_schema(gf_papers_table(papers))->n_families; f++)
        has_theirs |=
            strcmp(gf_table_schema(gf_papers_table(papers))->families[f].name, "theirs") == 0;
    assert_true(has_theirs); /* a copy takes them along */
    assert_int_equal(
        gf_papers_choose_group(papers, GF_PAPERS_GROBID, GF_SLICE("grobid8"), false, &err),
        GF_ENOTFOUND);
    gf_papers_close(papers);
    gf_store_close(s);
}

/* A server that has worked on papers tells its status. */
static void papers_are_not_counted(void **state)
{
    (void)state;
    gf_error err;
    gf_backend *backend;
    gf_store *s = open_named(NULL, &backend);
    gf_app_check check = {.store = s};
    fill(s);
    assert_ok(gf_papers_open_all(s, false, &err));
    assert_ok(gf_papers_check(&check, GF_PAPERS_PREFIX "9-qa", &err));
    assert_true(check.uncounted);
    gf_store_close(s);
}

/* Nobody counted them: a copy would have no settings. */
static void tweets_of_others_are_told_of(void **state)
{
    (void)state;
    gf_error err;
    gf_backend *backend;
    gf_store *s = open_named(NULL, &backend);
    assert_ok(gf_tweets_open_joined(s, false, &err)); /* there are none */
    fill(s);
    assert_int_equal(gf_tweets_open_joined(s, false, &err), GF_EINVAL);
    assert_non_null(strstr(err.message, "tweets reindex"));
    gf_test_sweep(open_cut_short, NULL, s);
    gf_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(papers_have_the_families_that_are_there),
                                       cmocka_unit_test(papers_are_not_counted),
                                       cmocka_unit_test(tweets_of_others_are_told_of)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
