#include "support/test.h"

#include "base/random.h"
#include "vectorize/rows/weights.h"

#include <math.h>

static void weighs_by_hand(void **state)
{
    (void)state;
    assert_near(gf_weight_tf(GF_TF_LOG, 1, 9), 1, 0);
    assert_near(gf_weight_tf(GF_TF_LOG, 4, 9), 2.386294361, 1e-9);
    assert_near(gf_weight_tf(GF_TF_RAW, 4, 9), 4, 0);
    assert_near(gf_weight_tf(GF_TF_BINARY, 4, 9), 1, 0);
    assert_near(gf_weight_tf(GF_TF_RELATIVE, 3, 4), 0.75, 0);
    assert_near(gf_weight_idf(GF_IDF_LOG, 8, 2), 1.386294361, 1e-9);
    assert_near(gf_weight_idf(GF_IDF_LOG, 8, 8), 0, 0);
    assert_near(gf_weight_idf(GF_IDF_LOG_PLUS_ONE, 8, 2), 2.386294361, 1e-9);
    assert_near(gf_weight_idf(GF_IDF_SMOOTH, 8, 2), 2.098612289, 1e-9); /* ln(9/3) + 1 */
    assert_near(gf_weight_idf(GF_IDF_NONE, 8, 2), 1, 0);
    assert_near(gf_weight_idf(GF_IDF_SMOOTH, UINT32_MAX, 1), log(4294967296.0 / 2) + 1, 1e-9);
}

static void weighs_rows(void **state)
{
    (void)state;
    const double idf[] = {1, 2, 3, 4};
    const uint32_t col[] = {1, 3}, count[] = {3, 2};
    float val[2];
    gf_weights w = {GF_TF_RAW, GF_IDF_LOG, GF_NORM_NONE};
    gf_weights_weigh_row(&w, idf, col, count, 2, 5, val);
    assert_near(val[0], 6, 0);
    assert_near(val[1], 8, 0);
    w.norm = GF_NORM_L2;
    gf_weights_weigh_row(&w, idf, col, count, 2, 5, val);
    assert_near(val[0], 0.6, 1e-7);
    assert_near(val[1], 0.8, 1e-7);
    gf_weights_weigh_row(&w, NULL, col, count, 2, 5, val); /* 3 and 2, over sqrt 13 */
    assert_near(val[0], 0.832050294, 1e-7);
    assert_near(val[1], 0.554700196, 1e-7);
    gf_weights_weigh_row(&w, idf, col, count, 0, 0, val);
    const double nothing[] = {0, 0, 0, 0};
    gf_weights_weigh_row(&w, nothing, col, count, 2, 5, val);
    assert_near(val[0], 0, 0);
}

static void sharpens_idf(void **state)
{
    (void)state;
    assert_near(gf_weight_idf(GF_IDF_LOG_SHARP, 8, 2), pow(log(4), 1.5), 1e-12);
    assert_near(gf_weight_idf(GF_IDF_SMOOTH_SHARP, 8, 2), pow(log(3) + 1, 1.5), 1e-12);
    assert_near(gf_weight_idf(GF_IDF_LOG_SHARP, 8, 8), 0, 0);
    assert_int_equal(gf_weight_sharpen_idf(GF_IDF_LOG), GF_IDF_LOG_SHARP);
    assert_int_equal(gf_weight_sharpen_idf(GF_IDF_LOG_PLUS_ONE), GF_IDF_LOG_PLUS_ONE_SHARP);
    assert_int_equal(gf_weight_sharpen_idf(GF_IDF_SMOOTH), GF_IDF_SMOOTH_SHARP);
    assert_int_equal(gf_weight_sharpen_idf(GF_IDF_NONE), GF_IDF_NONE);
    assert_int_equal(gf_weight_sharpen_idf(GF_IDF_LOG_SHARP), GF_IDF_LOG_SHARP);
    assert_true(gf_weight_is_sharp_idf(GF_IDF_SMOOTH_SHARP));
    assert_false(gf_weight_is_sharp_idf(GF_IDF_NONE));
}

/* ---- counts of weights ----------------------------------------------------------------------- */

enum { MOST_COUNTS = 40 };

/* Counts as texts have them: most are 1, few are large; the smallest is `rarest`. */
static uint32_t draw_counts(gf_random *random, uint32_t rarest, uint32_t *col, uint32_t *count)
{
    uint32_t n = 2 + (uint32_t)gf_random_below(random, MOST_COUNTS - 2), at = 0;
    for (uint32_t i = 0; i < n; i++) {
        col[i] = at += 1 + (uint32_t)gf_random_below(random, 5);
        count[i] = rarest;
        if (gf_random_below(random, 3) == 0) count[i] += (uint32_t)gf_random_below(random, 4);
        if (gf_random_below(random, 20) == 0) count[i] += (uint32_t)gf_random_below(random, 300);
    }
    count[0] = rarest;
    count[1] = rarest + 1; /* all alike say nothing, nor do 2 and 4 where only ratios count */
    return n;
}

static void reads_counts_back(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    double idf[MOST_COUNTS * 5 + 1];
    for (size_t t = 0; t < sizeof idf / sizeof *idf; t++)
        idf[t] = 0.05 + 12 * gf_random_unit(&random);
    for (uint32_t round = 0; round < 4000; round++) {
        static const gf_tf tfs[] = {GF_TF_LOG, GF_TF_RAW, GF_TF_RELATIVE};
        gf_weights w = {tfs[round % 3], GF_IDF_LOG_SHARP, GF_NORM_L2};
        uint32_t col[MOST_COUNTS], count[MOST_COUNTS];
        uint32_t n = draw_counts(&random, round % 7 ? 1 : 1 + round % 4, col, count);
        const double *used = round % 5 ? idf : NULL;
        uint64_t length = 0;
        float val[MOST_COUNTS];
        uint8_t got[MOST_COUNTS];
        for (uint32_t i = 0; i < n; i++)
            length += count[i];
        gf_weights_weigh_row(&w, used, col, count, n, length, val);
        gf_weights_read_counts(&w, used, (gf_row_view){col, val, n}, 50, got);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(got[i], count[i] < 50 ? count[i] : 50);
    }
}

static void counts_that_weights_do_not_tell_are_1(void **state)
{
    (void)state;
    const double idf[] = {1, 2, 3, 4};
    const uint32_t col[] = {0, 1, 3}, alike[] = {7, 7, 7}, differ[] = {1, 5, 9};
    uint8_t got[3];
    float val[3];
    gf_weights w = {GF_TF_LOG, GF_IDF_LOG, GF_NORM_L2};
    gf_weights_weigh_row(&w, idf, col, alike, 3, 21, val);
    gf_weights_read_counts(&w, idf, (gf_row_view){col, val, 3}, 50, got);
    assert_memory_equal(got, ((const uint8_t[]){1, 1, 1}), 3);
    w.tf = GF_TF_BINARY;
    gf_weights_weigh_row(&w, idf, col, differ, 3, 15, val);
    gf_weights_read_counts(&w, idf, (gf_row_view){col, val, 3}, 50, got);
    assert_memory_equal(got, ((const uint8_t[]){1, 1, 1}), 3);
    gf_weights_read_counts(&w, idf, (gf_row_view){col, val, 0}, 50, got);
}

static void reads_smart_notation(void **state)
{
    (void)state;
    gf_error err;
    static const char *const all[] = {"ltc", "ltn", "lnc", "lnn", "ntc", "ntn",
                                      "nnc", "nnn", "btc", "btn", "bnc", "bnn"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        gf_weights w;
        char letters[4];
        assert_ok(gf_weights_from_smart(gf_slice_str(all[i]), &w, &err));
        assert_true(gf_weights_to_smart(&w, letters));
        assert_string_equal(letters, all[i]);
    }
    gf_weights w = {0};
    assert_ok(gf_weights_from_smart(GF_SLICE("bnn"), &w, &err));
    assert_int_equal(w.tf, GF_TF_BINARY);
    assert_int_equal(w.idf, GF_IDF_NONE);
    assert_int_equal(w.norm, GF_NORM_NONE);
    static const char *const none[] = {"",    "l",   "lt",  "ltcc", "atc",
                                       "Ltc", "lpc", "ltu", "LTC",  "ddd"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_status(GF_EINVAL, gf_weights_from_smart(gf_slice_str(none[i]), &w, &err));
    assert_status(GF_EINVAL, gf_weights_from_smart(gf_slice_of("\0tc", 3), &w, &err));
    assert_int_equal(w.tf, GF_TF_BINARY); /* unchanged */
    char letters[4];
    assert_false(
        gf_weights_to_smart(&(gf_weights){GF_TF_RELATIVE, GF_IDF_LOG, GF_NORM_L2}, letters));
    assert_false(gf_weights_to_smart(&(gf_weights){GF_TF_LOG, GF_IDF_SMOOTH, GF_NORM_L2}, letters));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weighs_by_hand),
        cmocka_unit_test(weighs_rows),
        cmocka_unit_test(sharpens_idf),
        cmocka_unit_test(reads_counts_back),
        cmocka_unit_test(counts_that_weights_do_not_tell_are_1),
        cmocka_unit_test(reads_smart_notation),
    };
    return cmocka_run_group_tests_name("weights", tests, NULL, NULL);
}
