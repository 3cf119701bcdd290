/* Labels of a tree's inner nodes. */
#include "cluster/texts.h"
#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "cluster/label/labels.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LEAVES = 24, LINES = 12 };

/* A tree with these children of its inner nodes. */
static gf_tree tree_of(uint32_t k, const uint32_t *children)
{
    gf_error err;
    gf_tree t;
    assert_ok(gf_tree_alloc(k, &t, &err));
    for (uint32_t v = 0; v < t.n_nodes; v++) {
        t.child[2 * v] = v < k ? GF_TREE_NONE : children[2 * (v - k)];
        t.child[2 * v + 1] = v < k ? GF_TREE_NONE : children[2 * (v - k) + 1];
        t.height[v] = 0;
    }
    assert_true(gf_tree_arrange(&t));
    return t;
}

static void labels_are(const gf_label_cluster *clusters, uint32_t k, const uint32_t *children,
                       const char *expected)
{
    gf_error err;
    gf_arena memory = {0};
    gf_slice labels[2 * MOST_LEAVES];
    gf_buffer all = {0};
    gf_tree t = tree_of(k, children);
    gf_label_options o = {.tree = &t};
    assert_ok(gf_labels_choose(NULL, clusters, k, &o, &memory, labels, &err));
    for (uint32_t v = 0; v < t.n_nodes; v++)
        gf_buffer_format(&all, "%.*s|", GF_SLICE_ARG(labels[v]));
    assert_string_equal(gf_buffer_cstr(&all), expected);
    gf_buffer_release(&all);
    gf_arena_release(&memory);
    gf_tree_release(&t);
}

/*
 * The two kinds of fruit share "fruit", of which the leaves have none since they have
 * better; "the sea" is no phrase, nor is what only one of two children has ("sour").
 */
static void names_what_children_share(void **state)
{
    (void)state;
    texts t = {0};
    const char *apples[] = {"apple. fruit", "apple. fruits", "apple. fruit. sour", "apple. sour"};
    const char *pears[] = {"pear. fruit", "pear. fruit", "pear. fruit", "pear"};
    const char *ships[] = {"ship. the sea", "ship. the sea", "ship. the sea", "ship"};
    const char *fish[] = {"fish. the sea", "fish. a sea", "fish. of sea", "fish"};
    gf_label_cluster c[] = {texts_cluster(&t, apples, 4, 4), texts_cluster(&t, pears, 4, 4),
                            texts_cluster(&t, ships, 4, 4), texts_cluster(&t, fish, 4, 4)};
    const uint32_t children[] = {0, 1, 2, 3, 4, 5};
    labels_are(c, 4, children, "apple|pear|ship|fish|fruit|sea||");
    texts_release(&t);
}

/* If children share nothing that the rest lacks, a node has no label, and its parent still may.
 */
static void leaves_out_what_shares_nothing(void **state)
{
    (void)state;
    texts t = {0};
    const char *a[] = {"apple. news", "apple. news", "apple"};
    const char *b[] = {"pear. news", "pear. news", "pear"};
    const char *c[] = {"ship. news", "ship. news", "ship"};
    const char *d[] = {"fish. news", "fish. news", "fish"};
    gf_label_cluster all[] = {texts_cluster(&t, a, 3, 3), texts_cluster(&t, b, 3, 3),
                              texts_cluster(&t, c, 3, 3), texts_cluster(&t, d, 3, 3)};
    const uint32_t children[] = {0, 1, 2, 3, 4, 5};
    labels_are(all, 4, children, "apple|pear|ship|fish||||");
    texts_release(&t);
}

/* 20 of 22 documents: a step that would be no step. The 20 then hang from what is above. */
static void leaves_out_stairs(void **state)
{
    (void)state;
    texts t = {0};
    const char *a[] = {"apple. fruit. food", "apple. fruit. food"};
    const char *b[] = {"pear. fruit. food", "pear. fruit. food"};
    const char *c[] = {"ham. food", "ham. food"};
    const char *d[] = {"ship", "ship", "ship"};
    gf_label_cluster all[] = {texts_cluster(&t, a, 2, 10), texts_cluster(&t, b, 2, 10),
                              texts_cluster(&t, c, 2, 2), texts_cluster(&t, d, 3, 100)};
    const uint32_t children[] = {0, 1, 4, 2, 5, 3};
    labels_are(all, 4, children, "apple|pear|ham|ship||food||");
    texts_release(&t);
}

/* ---- random trees over random documents ------------------------------------------------------ */

typedef struct random_texts {
    texts t;
    char lines[MOST_LEAVES][LINES][160];
    uint32_t n_lines[MOST_LEAVES];
    gf_label_cluster clusters[MOST_LEAVES];
    uint32_t k;
    gf_tree tree;
} random_texts;

/* Words wNN: some are the leaf's, some a group's of about four, some everybody's; no phrases. */
static void write_line(char line[160], uint32_t leaf, gf_random *random)
{
    size_t at = 0;
    for (int i = 0; i < 6; i++) {
        uint32_t kind = (uint32_t)gf_random_below(random, 3), some;
        some = (uint32_t)gf_random_below(random, 3);
        uint32_t word = kind == 0   ? 100 + leaf * 3 + some
                        : kind == 1 ? 300 + leaf / 4 * 3 + some
                                    : 500 + some;
        at += (size_t)snprintf(line + at, 160 - at, "w%u. ", word);
    }
}

static void make_random(random_texts *r, gf_random *random)
{
    uint32_t children[2 * MOST_LEAVES], left[MOST_LEAVES], n;
    memset(r, 0, sizeof *r);
    r->k = n = 2 + (uint32_t)gf_random_below(random, MOST_LEAVES - 2);
    for (uint32_t j = 0; j < r->k; j++) {
        const char *lines[LINES];
        r->n_lines[j] = 1 + (uint32_t)gf_random_below(random, LINES);
        for (uint32_t i = 0; i < r->n_lines[j]; i++) {
            write_line(r->lines[j][i], j, random);
            lines[i] = r->lines[j][i];
        }
        r->clusters[j] = texts_cluster(&r->t, lines, r->n_lines[j], r->n_lines[j]);
        left[j] = j;
    }
    for (uint32_t v = r->k; n > 1; v++) { /* neighbours, so that groups may stay together */
        uint32_t i = (uint32_t)gf_random_below(random, n - 1);
        children[2 * (v - r->k)] = left[i];
        children[2 * (v - r->k) + 1] = left[i + 1];
        left[i] = v;
        memmove(&left[i + 1], &left[i + 2], (n - i - 2) * sizeof *left);
        n--;
    }
    r->tree = tree_of(r->k, children);
}

static bool has_word(const char *line, gf_slice word)
{
    for (const char *at = line; (at = memmem(at, strlen(at), word.ptr, word.len)) != NULL; at++)
        if (!isdigit((unsigned char)at[word.len])) return true;
    return false;
}

/* Lines below a node that have the word, of all there; counted from nothing. */
static double share_below(const random_texts *r, uint32_t v, gf_slice word, bool outside)
{
    uint32_t n = 0, all = 0;
    for (uint32_t j = 0; j < r->k; j++) {
        bool below = false;
        for (uint32_t up = j; up != GF_TREE_NONE && !below; up = r->tree.parent[up])
            below = up == v;
        if (below == outside) continue;
        for (uint32_t i = 0; i < r->n_lines[j]; i++, all++)
            n += has_word(r->lines[j][i], word);
    }
    return all ? (double)n / all : 0;
}

static uint32_t check_node(const random_texts *r, uint32_t v, const gf_slice *labels)
{
    const uint32_t *child = &r->tree.child[2 * v];
    if (labels[v].len == 0) return 0;
    double share = share_below(r, v, labels[v], false);
    assert_true(share >= 0.1);
    assert_true(share >= 3 * share_below(r, v, labels[v], true) - 1e-12); /* both are rounded */
    assert_true(share_below(r, child[0], labels[v], false) >= 0.05);
    assert_true(share_below(r, child[1], labels[v], false) >= 0.05);
    return 1;
}

static void random_labels_hold(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    static random_texts r;
    uint32_t labelled = 0, inner = 0;
    for (int round = 0; round < 60; round++) {
        gf_error err;
        gf_arena memory = {0};
        gf_slice labels[2 * MOST_LEAVES], alone[MOST_LEAVES];
        make_random(&r, &random);
        gf_label_options with_tree = {.tree = &r.tree}, without = {0};
        assert_ok(gf_labels_choose(NULL, r.clusters, r.k, &with_tree, &memory, labels, &err));
        assert_ok(gf_labels_choose(NULL, r.clusters, r.k, &without, &memory, alone, &err));
        for (uint32_t v = 0; v < r.k; v++) /* a tree changes nothing for the clusters */
            assert_true(gf_slice_equal(labels[v], alone[v]));
        for (uint32_t v = 0; v < r.tree.n_nodes; v++)
            for (uint32_t u = 0; u < v; u++)
                assert_false(labels[v].len && gf_slice_equal(labels[v], labels[u]));
        for (uint32_t v = r.k; v < r.tree.n_nodes; v++)
            labelled += check_node(&r, v, labels);
        inner += r.k - 1;
        assert_int_equal(labels[r.tree.n_nodes - 1].len, 0);
        gf_arena_release(&memory);
        gf_tree_release(&r.tree);
        texts_release(&r.t);
    }
    assert_true(labelled * 10 > inner); /* the conditions were met, not avoided */
}

typedef struct sweep {
    random_texts *r;
    gf_slice labels[2 * MOST_LEAVES];
} sweep;

static gf_status sweep_call(void *context, gf_error *err)
{
    sweep *s = context;
    gf_arena memory = {0};
    gf_label_options o = {.tree = &s->r->tree};
    gf_status st = gf_labels_choose(NULL, s->r->clusters, s->r->k, &o, &memory, s->labels, err);
    gf_arena_release(&memory);
    return st;
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    static random_texts r;
    gf_random random = gf_random_seed(7, 0);
    make_random(&r, &random);
    sweep s = {.r = &r};
    gf_test_sweep(sweep_call, NULL, &s);
    gf_tree_release(&r.tree);
    texts_release(&r.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_what_children_share),
        cmocka_unit_test(leaves_out_what_shares_nothing), cmocka_unit_test(leaves_out_stairs),
        cmocka_unit_test(random_labels_hold), cmocka_unit_test(survives_failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
