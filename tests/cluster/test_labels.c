#include "cluster/texts.h"
#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "cluster/label/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLUSTERS = 8 };

/* Labels of clusters, one behind the other with a | behind each. */
static void check_labels(const gf_label_cluster *clusters, uint32_t k, const char *taken,
                         const char *expected)
{
    gf_error err;
    gf_arena memory = {0};
    gf_slice labels[MOST_CLUSTERS], not = taken ? gf_slice_str(taken) : (gf_slice){0};
    gf_label_options o = {.taken = &not, .n_taken = taken != NULL};
    gf_buffer all = {0};
    assert_ok(gf_labels_choose(NULL, clusters, k, &o, &memory, labels, &err));
    for (uint32_t j = 0; j < k; j++)
        gf_buffer_format(&all, "%.*s|", GF_SLICE_ARG(labels[j]));
    assert_string_equal(gf_buffer_cstr(&all), expected);
    gf_buffer_release(&all);
    gf_arena_release(&memory);
}

/* ---- examples -------------------------------------------------------------------------------- */

/*
 * "search engine" is in 4 of 4 documents and in none of the others: 1.25; its words say no more than
 * it does, and "battery drains" likewise.
 */
static void labels_two_clusters(void **state)
{
    (void)state;
    texts t = {0};
    const char *search[] = {"Search engine crashed", "search engine froze",
                            "the search engines died", "Search engine!"};
    const char *battery[] = {"battery drains fast", "battery drains at night", "Battery drains"};
    gf_label_cluster c[] = {texts_cluster(&t, search, 4, 4), texts_cluster(&t, battery, 3, 3)};
    check_labels(c, 2, NULL, "Search engine|battery drains|");
    check_labels(c, 2, "SEARCH engine", "Search|battery drains|");
    check_labels(c, 1, NULL, "Search engine|");
    texts_release(&t);
}

/* n lines of each text, one text after the other. */
static gf_label_cluster repeated(texts *t, const char *const *lines, const uint32_t *n,
                                 uint32_t n_lines)
{
    const char *all[64];
    uint32_t total = 0;
    for (uint32_t i = 0; i < n_lines; i++)
        for (uint32_t r = 0; r < n[i]; r++)
            all[total++] = lines[i];
    return texts_cluster(t, all, total, total);
}

/* 8 of 11 documents are more than 70 %, 7 of 11 fewer. */
static void a_phrase_gives_way_to_a_complete_one(void **state)
{
    (void)state;
    texts t = {0};
    const char *lines[] = {"New York City", "New York"};
    const uint32_t often[] = {8, 3}, seldom[] = {7, 4};
    gf_label_cluster complete = repeated(&t, lines, often, 2);
    gf_label_cluster incomplete = repeated(&t, lines, seldom, 2);
    check_labels(&complete, 1, NULL, "New York City|");
    check_labels(&incomplete, 1, NULL, "New York|");
    texts_release(&t);
}

/* "state of the art" counts 1.25 * 0.85^2 = 0.903: less than "art" alone where that is in more. */
static void stop_words_inside_count_less(void **state)
{
    (void)state;
    texts t = {0};
    const char *lines[] = {"state of the art", "art"};
    const uint32_t often[] = {10, 0}, seldom[] = {8, 12};
    gf_label_cluster a = repeated(&t, lines, often, 2), b = repeated(&t, lines, seldom, 2);
    check_labels(&a, 1, NULL, "state of the art|");
    check_labels(&b, 1, NULL, "art|");
    texts_release(&t);
}

/* A phrase that begins with a digit counts half: less than a word nearly as frequent. */
static void a_digit_in_front_counts_half(void **state)
{
    (void)state;
    texts t = {0};
    const char *lines[] = {"4k", "screen"};
    const uint32_t alike[] = {10, 8}, apart[] = {16, 2};
    gf_label_cluster a = repeated(&t, lines, alike, 2), b = repeated(&t, lines, apart, 2);
    check_labels(&a, 1, NULL, "screen|");
    check_labels(&b, 1, NULL, "4k|");
    texts_release(&t);
}

static void clusters_without_phrases_are_named_too(void **state)
{
    (void)state;
    texts t = {0};
    const char *none[] = {"the of 12", "is a http_link", ""};
    gf_label_cluster c[4];
    for (int j = 0; j < 4; j++)
        c[j] = texts_cluster(&t, none, j == 3 ? 0 : 3, 3);
    check_labels(c, 4, NULL, "cluster 1|cluster 2|cluster 3|cluster 4|");
    check_labels(c, 2, "Cluster 2", "cluster 1|cluster 4|");
    c[0].otherwise = c[2].otherwise = gf_slice_str("Odds and ends");
    check_labels(c, 3, NULL, "Odds and ends|cluster 2|cluster 3|");
    check_labels(c, 1, "odds and ends", "cluster 1|");
    check_labels(c, 0, NULL, "");
    texts_release(&t);
}

/* Of many clusters each has few of all phrases, in an order of its own, and is named by its word. */
static void many_clusters_have_names_of_their_own(void **state)
{
    (void)state;
    enum { K = 300 };
    gf_error err;
    texts t = {0};
    gf_arena memory = {0};
    gf_pool *pool;
    gf_slice labels[K];
    gf_label_cluster clusters[K];
    char texts_of[K][3][64], words[K][8];
    for (int j = 0; j < K; j++) {
        snprintf(words[j], sizeof words[j], "q%c%cz", 'a' + j / 26, 'a' + j % 26);
        for (int i = 0; i < 3; i++) { /* the others' words, of higher and lower number */
            int up = (j + 41 * (i + 1)) % K, down = (j + K - 29 * (i + 1)) % K;
            snprintf(texts_of[j][i], sizeof texts_of[j][i], "%s. q%c%cz. q%c%cz.", words[j],
                     'a' + up / 26, 'a' + up % 26, 'a' + down / 26, 'a' + down % 26);
        }
        const char *lines[] = {texts_of[j][0], texts_of[j][1], texts_of[j][2]};
        clusters[j] = texts_cluster(&t, lines, 3, 3);
    }
    gf_label_options o = {.taken = NULL};
    assert_ok(gf_pool_create(2, &pool, &err));
    assert_ok(gf_labels_choose(pool, clusters, K, &o, &memory, labels, &err));
    for (int j = 0; j < K; j++)
        assert_slice(labels[j], words[j]);
    gf_pool_free(pool);
    gf_arena_release(&memory);
    texts_release(&t);
}

/* ---- the formula, worked out document by document --------------------------------------------- */

/* p(x, y) ln(p(x, y) / (p(x) p(y))), of counts of n. */
static double information(double both, double x, double y, double n)
{
    return both > 0 ? both / n * log(both * n / (x * y)) : 0;
}

/* The same as gf_label_score, from a table of documents by "has it" and "is a member". */
static double score_of_table(double a, double b, double c, double d)
{
    double n = a + b + c + d, members = a + c, with = a + b;
    double gain = information(a, with, members, n) + information(b, with, n - members, n) +
                  information(c, n - with, members, n) + information(d, n - with, n - members, n);
    double p = members / n, entropy = -p * log(p) - (1 - p) * log(1 - p);
    double precision = a / with, recall = a / members;
    double f1 = 2 * precision * recall / (precision + recall);
    return sqrt(gain / entropy * f1);
}

static void scores_are_those_of_tables(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    uint32_t compared = 0;
    for (int i = 0; i < 2000; i++) {
        double a = 1 + (double)gf_random_below(&random, 50),
               b = (double)gf_random_below(&random, 50);
        double c = (double)gf_random_below(&random, 50),
               d = 1 + (double)gf_random_below(&random, 500);
        double score = gf_label_score(a, a + c, b, b + d);
        if (a / (a + c) <= b / (b + d)) {
            assert_true(score == 0);
            continue;
        }
        assert_true(fabs(score - score_of_table(a, b, c, d)) < 1e-6);
        assert_true(score > 0 && score <= 1 + 1e-9);
        compared++;
    }
    assert_true(compared > 500);
    assert_true(fabs(gf_label_score(10, 10, 0, 90) - 1) < 1e-9); /* exactly the members */
    assert_true(gf_label_score(5, 10, 0, 0) == 0.5);             /* there is nothing else */
    assert_true(gf_label_score(0, 10, 5, 90) == 0);
    assert_true(gf_label_score(12, 10, -1, 90) <= 1 + 1e-9); /* estimates that are out of range */
    assert_true(gf_label_score(3, 0, 1, 9) == 0);
}

/* Words of cluster j, most often, and of all; stop words, numbers and commas among them. */
static const char *random_text(texts *t, uint32_t j, gf_random *random)
{
    static const char *const common[] = {"the", "of", "7", "house", "tree", "road"};
    char text[200] = "";
    uint32_t n = 3 + (uint32_t)gf_random_below(random, 8);
    for (uint32_t i = 0; i < n; i++) {
        char own[8] = {'w', (char)('a' + j), (char)('a' + gf_random_below(random, 4)), 0};
        bool shared = gf_random_below(random, 3) == 0;
        strcat(text, shared ? common[gf_random_below(random, 6)] : own);
        strcat(text, gf_random_below(random, 6) ? " " : ", ");
    }
    gf_slice copy = gf_arena_copy(&t->memory, gf_slice_str(text));
    assert_non_null(copy.ptr);
    return copy.ptr;
}

static uint32_t random_clusters(texts *t, gf_random *random, gf_label_cluster *c)
{
    uint32_t k = 1 + (uint32_t)gf_random_below(random, MOST_CLUSTERS);
    for (uint32_t j = 0; j < k; j++) {
        const char *lines[30];
        uint32_t n = 1 + (uint32_t)gf_random_below(random, 30);
        for (uint32_t i = 0; i < n; i++)
            lines[i] = random_text(t, gf_random_below(random, 4) ? j : 0, random);
        c[j] = texts_cluster(t, lines, n, 500 - 50 * j);
    }
    return k;
}

/* Documents of a cluster that have a phrase, as it is written. */
static double count_phrase(const gf_label_cluster *c, gf_slice phrase)
{
    double n = 0;
    for (uint32_t i = 0; i < c->n_documents; i++) {
        gf_slice text = c->documents[i].text;
        n += memmem(text.ptr, text.len, phrase.ptr, phrase.len) != NULL;
    }
    return n;
}

static double score_phrase(const gf_label_cluster *c, uint32_t k, uint32_t j, gf_slice phrase)
{
    double outside = 0, rest = 0, size = (double)c[j].size;
    for (uint32_t i = 0; i < k; i++) {
        if (i == j) continue;
        rest += (double)c[i].size;
        outside += (double)c[i].size * count_phrase(&c[i], phrase) / c[i].n_documents;
    }
    return gf_label_score(size * count_phrase(&c[j], phrase) / c[j].n_documents, size, outside,
                          rest);
}

/* No word that no label has is better by far than the first part of the cluster's. */
static uint32_t check_choice(const gf_label_cluster *c, uint32_t k, const gf_slice *labels,
                             uint32_t j)
{
    double best = 0;
    if (labels[j].ptr[0] != 'w') return 0;
    const char *cut = memmem(labels[j].ptr, labels[j].len, " / ", 3);
    gf_slice first =
        gf_slice_of(labels[j].ptr, cut ? (size_t)(cut - labels[j].ptr) : labels[j].len);
    for (char x = 'a'; x < 'a' + MOST_CLUSTERS; x++)
        for (char y = 'a'; y < 'e'; y++) {
            const char word[] = {'w', x, y};
            bool is_taken = false;
            for (uint32_t i = 0; i < k; i++)
                is_taken = is_taken || memmem(labels[i].ptr, labels[i].len, word, 3);
            double score = is_taken ? 0 : score_phrase(c, k, j, gf_slice_of(word, 3));
            if (score > best) best = score;
        }
    assert_true(score_phrase(c, k, j, first) >= 0.15 * best);
    return 1;
}

static void labels_are_among_the_best(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    uint32_t checked = 0;
    for (int i = 0; i < 40; i++) {
        texts t = {0};
        gf_arena memory = {0};
        gf_label_cluster c[MOST_CLUSTERS];
        gf_slice labels[MOST_CLUSTERS];
        gf_label_options o = {0};
        uint32_t k = random_clusters(&t, &random, c);
        assert_ok(gf_labels_choose(NULL, c, k, &o, &memory, labels, &err));
        for (uint32_t j = 0; j < k && k > 1; j++)
            checked += check_choice(c, k, labels, j);
        gf_arena_release(&memory);
        texts_release(&t);
    }
    assert_true(checked > 40);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    gf_pool *pool;
    assert_ok(gf_pool_create(3, &pool, &err));
    for (int i = 0; i < 10; i++) {
        texts t = {0};
        gf_arena memory = {0};
        gf_label_cluster c[MOST_CLUSTERS];
        gf_slice alone[MOST_CLUSTERS], together[MOST_CLUSTERS];
        gf_label_options o = {0};
        uint32_t k = random_clusters(&t, &random, c);
        assert_ok(gf_labels_choose(NULL, c, k, &o, &memory, alone, &err));
        assert_ok(gf_labels_choose(pool, c, k, &o, &memory, together, &err));
        for (uint32_t j = 0; j < k; j++) {
            assert_true(alone[j].len > 0 && gf_slice_equal(alone[j], together[j]));
            for (uint32_t other = 0; other < j; other++)
                assert_false(gf_slice_equal(alone[j], alone[other]));
        }
        gf_arena_release(&memory);
        texts_release(&t);
    }
    gf_pool_free(pool);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void stops_on_request(void **state)
{
    (void)state;
    texts t = {0};
    gf_arena memory = {0};
    gf_cancel cancel = {0};
    gf_slice label;
    const char *line = "one document";
    gf_label_cluster c = texts_cluster(&t, &line, 1, 1);
    gf_cancel_request(&cancel);
    gf_label_options o = {.cancel = &cancel};
    assert_status(GF_ECANCELLED, gf_labels_choose(NULL, &c, 1, &o, &memory, &label, NULL));
    gf_arena_release(&memory);
    texts_release(&t);
}

typedef struct sweep {
    gf_label_cluster c[MOST_CLUSTERS];
    uint32_t k;
} sweep;

static gf_status choose_swept(void *context, gf_error *err)
{
    sweep *s = context;
    gf_arena memory = {0};
    gf_slice labels[MOST_CLUSTERS], taken = gf_slice_str("cluster 1");
    gf_label_options o = {.taken = &taken, .n_taken = 1};
    gf_status st = gf_labels_choose(NULL, s->c, s->k, &o, &memory, labels, err);
    gf_arena_release(&memory);
    return st;
}

static void a_failed_allocation_is_reported(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(3, 0);
    texts t = {0};
    sweep s;
    s.k = random_clusters(&t, &random, s.c);
    s.c[0] = texts_cluster(&t, NULL, 0, 600);
    s.c[s.k - 1].before = gf_slice_str("waa / wab");
    gf_test_sweep(choose_swept, NULL, &s);
    texts_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_two_clusters),
        cmocka_unit_test(a_phrase_gives_way_to_a_complete_one),
        cmocka_unit_test(stop_words_inside_count_less),
        cmocka_unit_test(a_digit_in_front_counts_half),
        cmocka_unit_test(clusters_without_phrases_are_named_too),
        cmocka_unit_test(many_clusters_have_names_of_their_own),
        cmocka_unit_test(scores_are_those_of_tables),
        cmocka_unit_test(labels_are_among_the_best),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(stops_on_request),
        cmocka_unit_test(a_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests_name("labels", tests, NULL, NULL);
}
