/* Known topics, grown from words and examples. */
#include "cluster/rows.h"
#include "support/test.h"

#include "base/memory.h"
#include "cluster/known/known.h"

#include <string.h>

/*
 * Two topics over six words: rows 0 and 1 have words 0 and 1, rows 2 and 3 words 1 and 2, which lead
 * from there to rows 4 and 5 (words 3 and 4). Topic 0 is word 0, topic 1 has row 4 as its example.
 */
static void words_and_examples_by_hand(void **state)
{
    (void)state;
    gf_error err;
    const float values[] = {2, 1, 0, 0, 0, 0, /**/ 1, 1, 0, 0, 0, 0, /**/ 0, 3, 1, 0, 0, 0,
                            0, 2, 1, 0, 0, 0, /**/ 0, 0, 0, 1, 1, 0, /**/ 0, 0, 1, 0, 2, 0};
    const float word[] = {1, 0, 0, 0, 0, 0};
    const uint32_t example[] = {GF_NO_TOPIC, GF_NO_TOPIC, GF_NO_TOPIC, GF_NO_TOPIC, 1, GF_NO_TOPIC},
                   words_of[] = {0}, expected[] = {0, 0, 0, 0, 1, 1};
    gf_csr x = rows_by_hand(values, 6, 6), words = rows_by_hand(word, 1, 6);
    gf_known_topics topics = {
        .n = 2, .example = example, .words = &words, .words_of = words_of, .all = true};
    gf_known known = {0};
    assert_ok(gf_known_grow(NULL, &(gf_points){&x, NULL}, &topics, NULL, &known, &err));
    assert_memory_equal(known.label, expected, sizeof expected);
    assert_int_equal(known.centres.k, 3);
    assert_int_equal(known.centres.at[2].n, 0); /* all have a topic: no background */
    gf_known_release(&known);
    gf_csr_release(&x);
    gf_csr_release(&words);
}

static void topics_need_a_description(void **state)
{
    (void)state;
    gf_error err;
    const float values[] = {1, 0, 0, 1};
    const uint32_t example[] = {0, GF_NO_TOPIC};
    gf_csr x = rows_by_hand(values, 2, 2);
    gf_known_topics topics = {.n = 2, .example = example};
    gf_known known = {0};
    assert_status(GF_EINVAL,
                  gf_known_grow(NULL, &(gf_points){&x, NULL}, &topics, NULL, &known, &err));
    assert_string_equal(err.message, "nothing describes topic 2: it has neither words nor rows");
    assert_null(known.label);
    gf_csr_release(&x);
}

/*
 * A topic of rows 0 to 2, which have word 1. Rows 3 to 6 have it beside word 2: these are a subject of their own, and
 * more like the topic than like all rows together.
 */
static void rows_of_another_subject_are_not_taken(void **state)
{
    (void)state;
    enum { N = 200, WORDS = 12 };
    gf_error err;
    float values[N * WORDS] = {0}, cluster_score[N];
    uint32_t cluster_of[N], example[N];
    for (uint32_t i = 0; i < N; i++) {
        float *row = values + i * WORDS;
        if (i < 3) row[0] = row[1] = 1;
        if (i >= 3 && i < 7) row[1] = 1, row[2] = 4;
        if (i >= 7) row[4 + i % 8] = 1;
        example[i] = i < 3 ? 0 : GF_NO_TOPIC;
        cluster_of[i] = i < 3 ? 0 : i < 7 ? 1 : 2;
        cluster_score[i] = i < 7 ? .9f : .3f;
    }
    gf_csr x = rows_by_hand(values, N, WORDS);
    for (int with = 0; with < 2; with++) {
        gf_known_topics topics = {.n = 1,
                                  .example = example,
                                  .n_clusters = with ? 3 : 0,
                                  .cluster_of = cluster_of,
                                  .cluster_score = cluster_score};
        gf_known known = {0};
        assert_ok(gf_known_grow(NULL, &(gf_points){&x, NULL}, &topics, NULL, &known, &err));
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(known.label[i], i < (with ? 3u : 7u) ? 0 : GF_NO_TOPIC);
        gf_known_release(&known);
    }
    gf_csr_release(&x);
}

/* ---- planted groups -------------------------------------------------------------------------- */

enum { ROWS = 3000, GROUPS = 8, KNOWN = 4, EXAMPLES = 3 };

typedef struct planted {
    gf_csr x;
    uint32_t group[ROWS], example[ROWS];
} planted;

/* Groups 0..n_known-1 have each some examples, topics of their own number. */
static void plant(planted *p, uint32_t n_known)
{
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    uint32_t given[GROUPS] = {0};
    p->x = rows_planted(ROWS, GROUPS, 4, &random, p->group);
    for (uint32_t i = 0; i < ROWS; i++) {
        bool is_given = p->group[i] < n_known && given[p->group[i]]++ < EXAMPLES;
        p->example[i] = is_given ? p->group[i] : GF_NO_TOPIC;
    }
}

static uint32_t right(const planted *p, const gf_known *known, uint32_t n_known)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < ROWS; i++)
        n += known->label[i] == (p->group[i] < n_known ? p->group[i] : GF_NO_TOPIC);
    return n;
}

static void examples_grow_to_their_groups(void **state)
{
    (void)state;
    gf_error err;
    static planted p;
    gf_known known = {0};
    plant(&p, GROUPS);
    gf_known_topics topics = {.n = GROUPS, .example = p.example, .all = true};
    assert_ok(gf_known_grow(NULL, &(gf_points){&p.x, NULL}, &topics, NULL, &known, &err));
    assert_true(right(&p, &known, GROUPS) > ROWS * 0.98);
    gf_known_release(&known);
    gf_csr_release(&p.x);
}

static void rows_of_no_topic_have_none(void **state)
{
    (void)state;
    gf_error err;
    static planted p;
    gf_known known = {0};
    plant(&p, KNOWN);
    gf_known_topics topics = {.n = KNOWN, .example = p.example};
    assert_ok(gf_known_grow(NULL, &(gf_points){&p.x, NULL}, &topics, NULL, &known, &err));
    assert_true(right(&p, &known, KNOWN) > ROWS * 0.95);
    gf_known_release(&known);
    gf_csr_release(&p.x);
}

/* Labels are the most similar centre's, scores the similarity, by products in double precision. */
static void labels_are_of_the_nearest_centre(void **state)
{
    (void)state;
    gf_error err;
    static planted p;
    gf_known known = {0};
    plant(&p, KNOWN);
    gf_known_topics topics = {.n = KNOWN, .example = p.example};
    assert_ok(gf_known_grow(NULL, &(gf_points){&p.x, NULL}, &topics, NULL, &known, &err));
    for (uint32_t i = 0; i < ROWS; i++) {
        gf_row_view row = gf_csr_row(&p.x, i);
        uint32_t own = known.label[i] == GF_NO_TOPIC ? KNOWN : known.label[i];
        double best = 0, mine = gf_csr_row_dot(row, gf_centre_row(&known.centres.at[own]));
        for (uint32_t j = 0; j <= KNOWN; j++) {
            double dot = gf_csr_row_dot(row, gf_centre_row(&known.centres.at[j]));
            if (dot > best) best = dot;
        }
        assert_near(known.score[i], mine, 1e-6);
        if (p.example[i] == GF_NO_TOPIC)
            assert_true(mine >= best - 1e-6);
        else
            assert_int_equal(known.label[i], p.example[i]);
    }
    gf_known_release(&known);
    gf_csr_release(&p.x);
}

/* An example that is like another topic's rows stays its own topic's. */
static void examples_keep_their_topic(void **state)
{
    (void)state;
    gf_error err;
    static planted p;
    gf_known known = {0};
    plant(&p, GROUPS);
    uint32_t wrong = 0;
    while (p.example[wrong] != 0)
        wrong++;
    p.example[wrong] = 1;
    gf_known_topics topics = {.n = GROUPS, .example = p.example, .all = true};
    assert_ok(gf_known_grow(NULL, &(gf_points){&p.x, NULL}, &topics, NULL, &known, &err));
    assert_int_equal(known.label[wrong], 1);
    assert_true(right(&p, &known, GROUPS) > ROWS * 0.98);
    gf_known_release(&known);
    gf_csr_release(&p.x);
}

static void threads_grow_alike(void **state)
{
    (void)state;
    gf_error err;
    static planted p;
    gf_known alone = {0};
    plant(&p, KNOWN);
    gf_known_topics topics = {.n = KNOWN, .example = p.example};
    assert_ok(gf_known_grow(NULL, &(gf_points){&p.x, NULL}, &topics, NULL, &alone, &err));
    for (unsigned threads = 2; threads <= 5; threads++) {
        gf_known known = {0};
        gf_pool *pool = rows_pool(threads);
        assert_ok(gf_known_grow(pool, &(gf_points){&p.x, NULL}, &topics, NULL, &known, &err));
        assert_memory_equal(known.label, alone.label, sizeof p.group);
        assert_memory_equal(known.score, alone.score, ROWS * sizeof *alone.score);
        rows_assert_same_centres(&known.centres, &alone.centres);
        gf_known_release(&known);
        gf_pool_free(pool);
    }
    gf_known_release(&alone);
    gf_csr_release(&p.x);
}

/* ---- without memory -------------------------------------------------------------------------- */

typedef struct attempt {
    gf_csr x, words;
    gf_known known;
} attempt;

static gf_status grow_once(void *context, gf_error *err)
{
    attempt *a = context;
    static const uint32_t words_of[] = {0, 1, 0};
    gf_known_topics topics = {.n = 2, .words = &a->words, .words_of = words_of};
    return gf_known_grow(NULL, &(gf_points){&a->x, NULL}, &topics, NULL, &a->known, err);
}

static void nothing_came(void *context)
{
    assert_null(((attempt *)context)->known.label);
}

static void survives_allocation_failure(void **state)
{
    (void)state;
    const float words[] = {1, 0, 0, 0, /**/ 0, 0, 0, 1, /**/ 1, 1, 0, 0};
    gf_random random = gf_random_seed(gf_test_seed(), 4);
    attempt a = {rows_random(60, 4, 3, &random), rows_by_hand(words, 3, 4), {0}};
    gf_test_sweep(grow_once, nothing_came, &a);
    gf_known_release(&a.known);
    gf_csr_release(&a.x);
    gf_csr_release(&a.words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_examples_by_hand),
        cmocka_unit_test(topics_need_a_description),
        cmocka_unit_test(rows_of_another_subject_are_not_taken),
        cmocka_unit_test(examples_grow_to_their_groups),
        cmocka_unit_test(rows_of_no_topic_have_none),
        cmocka_unit_test(labels_are_of_the_nearest_centre),
        cmocka_unit_test(examples_keep_their_topic),
        cmocka_unit_test(threads_grow_alike),
        cmocka_unit_test(survives_allocation_failure),
    };
    return cmocka_run_group_tests_name("known", tests, NULL, NULL);
}
