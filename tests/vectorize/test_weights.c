#include "support/test.h"

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
        cmocka_unit_test(reads_smart_notation),
    };
    return cmocka_run_group_tests_name("weights", tests, NULL, NULL);
}
