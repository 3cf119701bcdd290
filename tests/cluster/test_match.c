#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "cluster/measure/match.h"

enum { MOST_DOCUMENTS = 60, MOST_CLUSTERS = 6 };

/*
 * Documents 0..9 were in clusters 0 (0-4), 1 (5-7), 2 (8, 9); now 0 (0-3), 1 (4), 2 (5-9), and 10
 * is new. Jaccard: old 0 and new 0 4/5, old 0 and new 1 1/5, old 1 and new 2 3/5, old 2 and new 2
 * 2/5. So 0 goes on as 0; 1 went on as 2, and 2 was merged into it; new 1 is a split of 0.
 */
static const uint32_t before[] = {0, 0, 0, 0, 0, 1, 1, 1, 2, 2, GF_UNMATCHED};
static const uint32_t after[] = {0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 0};

static void a_split_and_a_merge_by_hand(void **state)
{
    (void)state;
    gf_error err;
    gf_overlaps o;
    uint32_t match[3];
    assert_ok(gf_match_overlaps_count(before, after, 11, 3, 3, &o, &err));
    assert_int_equal(o.n, 4);
    const gf_overlap expected[] = {{0, 0, 4}, {0, 1, 1}, {1, 2, 3}, {2, 2, 2}};
    assert_memory_equal(o.at, expected, sizeof expected);
    assert_int_equal(o.size_a[0], 5);
    assert_int_equal(o.size_b[0], 4); /* the new document does not count */
    assert_near(gf_match_jaccard(&o, &o.at[0]), 0.8, 1e-12);
    assert_near(gf_match_jaccard(&o, &o.at[3]), 0.4, 1e-12);
    assert_ok(gf_match_clusters(&o, 0.3, match, &err));
    assert_int_equal(match[0], 0);
    assert_int_equal(match[1], GF_UNMATCHED);
    assert_int_equal(match[2], 1);
    assert_ok(gf_match_clusters(&o, 0.7, match, &err));
    assert_int_equal(match[0], 0);
    assert_int_equal(match[2], GF_UNMATCHED);
    gf_match_overlaps_release(&o);
}

/* Sharing nothing matches nothing; nor does nothing at all. */
static void disjoint_documents_match_nothing(void **state)
{
    (void)state;
    gf_error err;
    gf_overlaps o;
    uint32_t match[2] = {7, 7};
    const uint32_t a[] = {0, 1, GF_UNMATCHED, GF_UNMATCHED},
                   b[] = {GF_UNMATCHED, GF_UNMATCHED, 0, 1};
    assert_ok(gf_match_overlaps_count(a, b, 4, 2, 2, &o, &err));
    assert_int_equal(o.n, 0);
    assert_ok(gf_match_clusters(&o, 0, match, &err));
    assert_int_equal(match[0], GF_UNMATCHED);
    assert_int_equal(match[1], GF_UNMATCHED);
    gf_match_overlaps_release(&o);
    assert_ok(gf_match_overlaps_count(a, b, 0, 0, 0, &o, &err));
    assert_ok(gf_match_clusters(&o, 0.3, match, &err));
    gf_match_overlaps_release(&o);
}

/* ---- against trying everything --------------------------------------------------------------- */

/* The largest sum of Jaccards over all ways to match b.. with those of a that are not taken. */
static double best_of_all(const gf_overlaps *o, double least, uint32_t b, unsigned taken)
{
    if (b == o->k_b) return 0;
    double best = best_of_all(o, least, b + 1, taken);
    for (size_t i = 0; i < o->n; i++) {
        double jaccard = gf_match_jaccard(o, &o->at[i]);
        if (o->at[i].b != b || taken >> o->at[i].a & 1 || jaccard < least) continue;
        double sum = jaccard + best_of_all(o, least, b + 1, taken | 1u << o->at[i].a);
        if (sum > best) best = sum;
    }
    return best;
}

static double sum_of(const gf_overlaps *o, double least, const uint32_t *match)
{
    double sum = 0;
    unsigned taken = 0;
    for (uint32_t b = 0; b < o->k_b; b++) {
        bool found = match[b] == GF_UNMATCHED;
        for (size_t i = 0; i < o->n; i++) {
            if (o->at[i].b != b || o->at[i].a != match[b]) continue;
            found = true;
            assert_true(gf_match_jaccard(o, &o->at[i]) >= least);
            sum += gf_match_jaccard(o, &o->at[i]);
        }
        assert_true(found);
        if (match[b] == GF_UNMATCHED) continue;
        assert_false(taken >> match[b] & 1); /* nobody's twice */
        taken |= 1u << match[b];
    }
    return sum;
}

static void equals_the_best_of_all_matchings(void **state)
{
    (void)state;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 20000; round++) {
        uint32_t a[MOST_DOCUMENTS], b[MOST_DOCUMENTS], match[MOST_CLUSTERS];
        uint32_t n = (uint32_t)gf_random_below(&r, MOST_DOCUMENTS) + 1;
        uint32_t k_a = (uint32_t)gf_random_below(&r, MOST_CLUSTERS) + 1;
        uint32_t k_b = (uint32_t)gf_random_below(&r, MOST_CLUSTERS) + 1;
        double least = (double)gf_random_below(&r, 5) / 10;
        bool alike = gf_random_below(&r, 2) != 0;
        for (uint32_t i = 0; i < n; i++) {
            a[i] = (uint32_t)gf_random_below(&r, k_a);
            b[i] =
                alike && gf_random_below(&r, 3) ? a[i] % k_b : (uint32_t)gf_random_below(&r, k_b);
            if (gf_random_below(&r, 10) == 0) a[i] = GF_UNMATCHED;
        }
        gf_overlaps o;
        assert_ok(gf_match_overlaps_count(a, b, n, k_a, k_b, &o, &err));
        assert_ok(gf_match_clusters(&o, least, match, &err));
        assert_near(sum_of(&o, least, match), best_of_all(&o, least, 0, 0), 1e-8);
        gf_match_overlaps_release(&o);
    }
}

/* A long chain, where each cluster overlaps two: the one matching that is best from end to end. */
static void a_chain_is_matched_from_end_to_end(void **state)
{
    (void)state;
    enum { LINKS = 2000, EACH = 20 };
    gf_error err;
    gf_overlaps o;
    uint32_t *a = gf_array(LINKS * EACH, sizeof *a), *b = gf_array(LINKS * EACH, sizeof *b);
    uint32_t *match = gf_array(LINKS + 1, sizeof *match);
    for (uint32_t i = 0; i < LINKS * EACH; i++) {
        a[i] = i / EACH;
        b[i] = (i + EACH / 2) / EACH; /* half of each goes to the next */
    }
    assert_ok(gf_match_overlaps_count(a, b, LINKS * EACH, LINKS, LINKS + 1, &o, &err));
    assert_ok(gf_match_clusters(&o, 0.3, match, &err));
    uint32_t matched = 0;
    for (uint32_t i = 0; i <= LINKS; i++)
        matched += match[i] != GF_UNMATCHED;
    assert_int_equal(matched, LINKS);
    gf_match_overlaps_release(&o);
    gf_free(a);
    gf_free(b);
    gf_free(match);
}

static gf_status count_and_match(void *context, gf_error *err)
{
    gf_overlaps o;
    uint32_t *match = context;
    gf_status st = gf_match_overlaps_count(before, after, 11, 3, 3, &o, err);
    if (st != GF_OK) return st;
    st = gf_match_clusters(&o, 0.3, match, err);
    gf_match_overlaps_release(&o);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    uint32_t match[3];
    gf_test_sweep(count_and_match, NULL, match);
    assert_int_equal(match[2], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_split_and_a_merge_by_hand),
        cmocka_unit_test(disjoint_documents_match_nothing),
        cmocka_unit_test(equals_the_best_of_all_matchings),
        cmocka_unit_test(a_chain_is_matched_from_end_to_end),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
