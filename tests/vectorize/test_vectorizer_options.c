#include "support/test.h"

#include "base/random.h"
#include "vectorize/rows/vectorizer_options.h"

static gf_vectorizer_options with(const char *name, const char *value)
{
    gf_error err;
    gf_vectorizer_options o = gf_vectorizer_options_default();
    assert_ok(gf_vectorizer_options_set(&o, gf_slice_str(name), gf_slice_str(value), &err));
    return o;
}

static void expect_refused(const char *name, const char *value, const char *says)
{
    gf_error err;
    gf_vectorizer_options o = gf_vectorizer_options_default(), before = o;
    assert_status(GF_EINVAL,
                  gf_vectorizer_options_set(&o, gf_slice_str(name), gf_slice_str(value), &err));
    if (!strstr(err.message, says)) fail_msg("\"%s\" does not say \"%s\"", err.message, says);
    assert_memory_equal(&o, &before, sizeof o);
}

static void sets_by_name(void **state)
{
    (void)state;
    assert_string_equal(with("language", "de-CH").analysis.language->name, "german");
    assert_null(with("language", "auto").analysis.language);
    assert_false(with("stop_words", "off").analysis.stop_words);
    assert_slice(with("more_stop_words", "foo bar").analysis.more_stop_words, "foo bar");
    assert_int_equal(with("ngrams_max", "3").analysis.ngrams_max, 3);
    assert_int_equal(with("urls", "keep").analysis.urls, GF_LINKS_KEEP);
    assert_int_equal(with("mentions", "skip").analysis.mentions, GF_SIGNS_SKIP);
    assert_int_equal(with("hashtags", "keep").analysis.hashtags, GF_SIGNS_KEEP);
    assert_int_equal(with("cjk", "bigrams").analysis.cjk, GF_CJK_BIGRAMS);
    assert_int_equal(with("tf", "relative").weights.tf, GF_TF_RELATIVE);
    assert_int_equal(with("idf", "smooth").weights.idf, GF_IDF_SMOOTH);
    assert_int_equal(with("norm", "none").weights.norm, GF_NORM_NONE);
    assert_int_equal(with("smart", "nnn").weights.tf, GF_TF_RAW);
    assert_int_equal(with("max_terms", "4294967295").max_terms, UINT32_MAX);
}

static void tells_counts_from_shares(void **state)
{
    (void)state;
    assert_int_equal(with("min_df", "auto").min_df.kind, GF_DF_AUTO);
    assert_int_equal(with("min_df", "1").min_df.kind, GF_DF_COUNT);
    assert_int_equal(with("min_df", "12").min_df.count, 12);
    assert_int_equal(with("max_df", "1.0").max_df.kind, GF_DF_SHARE);
    assert_near(with("max_df", "0.25").max_df.share, 0.25, 0);
    assert_near(with("max_df", "25%").max_df.share, 0.25, 0);
    assert_near(with("max_df", "1e-3").max_df.share, 0.001, 0);
    const char *bad[] = {"",  "-1", "1.5",        "101%", "two", "0,5",
                         "%", ".5", "4294967296", "nan",  "[1]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_refused("max_df", bad[i], "max_df: ");
}

static void bounds_document_frequencies(void **state)
{
    (void)state;
    const struct {
        const char *min, *max;
        uint32_t n, least, most;
    } cases[] = {
        {"auto", "auto", 999, 1, 999},  {"auto", "auto", 1000, 2, 500},
        {"auto", "auto", 1001, 2, 500}, {"auto", "auto", 0, 1, 0},
        {"3", "10", 999, 3, 10},        {"0", "1.0", 50, 1, 50},
        {"0.1", "0.5", 25, 3, 12},      {"0.1", "0.5", 20, 2, 10},
        {"10%", "100%", 7, 1, 7},       {"5", "auto", 2000, 5, 1000},
        {"auto", "7", 2000, 2, 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gf_error err;
        uint32_t least, most;
        gf_vectorizer_options o = with("min_df", cases[i].min);
        assert_ok(
            gf_vectorizer_options_set(&o, GF_SLICE("max_df"), gf_slice_str(cases[i].max), &err));
        gf_vectorizer_options_df_bounds(&o, cases[i].n, &least, &most);
        assert_int_equal(least, cases[i].least);
        assert_int_equal(most, cases[i].most);
    }
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    expect_refused("min_fd", "2", "did you mean \"min_df\"");
    expect_refused("zzzzzzzz", "2", "no setting is called");
    expect_refused("language", "englsh", "did you mean \"english\"");
    expect_refused("stem", "yes", "off, on");
    expect_refused("urls", "word", "skip, split, keep");
    expect_refused("ngrams_max", "three", "not a number");
    expect_refused("ngrams_max", "", "not a number");
    expect_refused("max_terms", "4294967296", "not a number");
    expect_refused("smart", "atc", "first letter");
}

static void checks_what_contradicts(void **state)
{
    (void)state;
    gf_error err;
    gf_vectorizer_options o = gf_vectorizer_options_default();
    assert_ok(gf_vectorizer_options_check(&o, &err));
    const char *bad[][2] = {{"ngrams_min", "0"},  {"ngrams_min", "2"}, {"ngrams_max", "4"},
                            {"min_length", "65"}, {"max_length", "0"}, {"max_length", "1025"},
                            {"max_df", "0"},      {"max_df", "0.0"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o = with(bad[i][0], bad[i][1]);
        assert_status(GF_EINVAL, gf_vectorizer_options_check(&o, &err));
    }
    o = gf_vectorizer_options_default();
    o.weights.tf = (gf_tf)7;
    assert_status(GF_EINVAL, gf_vectorizer_options_check(&o, &err));
    o = gf_vectorizer_options_default();
    o.min_df = (gf_df_limit){.kind = GF_DF_SHARE, .share = 2};
    assert_status(GF_EINVAL, gf_vectorizer_options_check(&o, &err));
}

static void check_round_trip(const gf_vectorizer_options *o)
{
    gf_error err;
    gf_buffer once = {0}, again = {0};
    gf_vectorizer_options read;
    gf_vectorizer_options_write(o, &once);
    assert_ok(gf_buffer_check(&once, &err));
    assert_ok(gf_vectorizer_options_read(gf_buffer_view(&once), &read, &err));
    assert_ptr_equal(read.analysis.language, o->analysis.language);
    assert_near(read.max_df.share, o->max_df.share, 0);
    gf_vectorizer_options_write(&read, &again);
    assert_slice(gf_buffer_view(&again), gf_buffer_cstr(&once));
    gf_buffer_release(&once);
    gf_buffer_release(&again);
}

static void writes_and_reads(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_vectorizer_options o = gf_vectorizer_options_default();
    check_round_trip(&o);
    o.analysis.more_stop_words = GF_SLICE("foo bär\nmin_df=7\n baz=1");
    check_round_trip(&o);
    for (int i = 0; i < 500; i++) {
        o.analysis.language =
            gf_random_below(&r, 3) ? gf_language_at(gf_random_below(&r, GF_LANGUAGES)) : NULL;
        o.analysis.stop_words = gf_random_below(&r, 2);
        o.analysis.ngrams_max = 1 + (uint32_t)gf_random_below(&r, 3);
        o.analysis.urls = (gf_link_mode)gf_random_below(&r, 3);
        o.weights.tf = (gf_tf)gf_random_below(&r, 4);
        o.weights.idf = (gf_idf)gf_random_below(&r, 4);
        o.min_df = (gf_df_limit){.kind = GF_DF_COUNT, .count = (uint32_t)gf_random_u64(&r)};
        double share = gf_random_unit(&r);
        o.max_df = (gf_df_limit){.kind = GF_DF_SHARE, .share = share > 0 ? share : 1};
        check_round_trip(&o);
    }
}

static void survives_damaged_bytes(void **state)
{
    (void)state;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_buffer good = {0}, bad = {0};
    gf_vectorizer_options o = gf_vectorizer_options_default(), read = o;
    gf_vectorizer_options_write(&o, &good);
    for (size_t n = 0; n < 11; n++)
        assert_status(GF_ECORRUPT,
                      gf_vectorizer_options_read(gf_slice_of(good.ptr, n), &read, &err));
    for (int i = 0; i < 20000; i++) {
        gf_buffer_reset(&bad);
        gf_buffer_slice(&bad, gf_buffer_view(&good));
        for (uint64_t n = 1 + gf_random_below(&r, 3); n > 0; n--)
            bad.ptr[gf_random_below(&r, bad.len)] = (char)gf_random_u64(&r);
        bad.len -= gf_random_below(&r, 2) ? gf_random_below(&r, bad.len) : 0;
        gf_status st = gf_vectorizer_options_read(gf_buffer_view(&bad), &read, &err);
        assert_true(st == GF_OK || (st == GF_ECORRUPT && err.status == GF_ECORRUPT));
        if (st == GF_OK) assert_ok(gf_vectorizer_options_check(&read, &err));
    }
    gf_buffer_release(&good);
    gf_buffer_release(&bad);
}

static gf_status read_written(void *context, gf_error *err)
{
    (void)context;
    gf_buffer bytes = {0};
    gf_vectorizer_options o = gf_vectorizer_options_default(), read;
    o.max_df = (gf_df_limit){.kind = GF_DF_SHARE, .share = 0.5};
    gf_vectorizer_options_write(&o, &bytes);
    gf_status st = gf_buffer_check(&bytes, err);
    if (st == GF_OK) st = gf_vectorizer_options_read(gf_buffer_view(&bytes), &read, err);
    gf_buffer_release(&bytes);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_test_sweep(read_written, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_by_name),
        cmocka_unit_test(tells_counts_from_shares),
        cmocka_unit_test(bounds_document_frequencies),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(checks_what_contradicts),
        cmocka_unit_test(writes_and_reads),
        cmocka_unit_test(survives_damaged_bytes),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
