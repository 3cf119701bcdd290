/* evaluate: a build against classes in a field, and in an input. */
#include "support/test.h"
#include "tests/api/library.h"
#include "tests/api/transport.h"

#include "base/random.h"

static gf_json_value class_member(transport *t, size_t i, const char *name)
{
    return transport_item(t, 0, "per_class", i, name);
}

static void perfect(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "evaluate", "collection", "mid", "label-field", "play");
    assert_string_equal(transport_members(&t, 0), "documents classes clusters nmi ari purity "
                                                  "homogeneity completeness v_measure per_class");
    assert_int_equal(transport_number(&t, 0, "documents"), 7);
    static const char *const all[] = {"nmi",         "ari",          "purity",
                                      "homogeneity", "completeness", "v_measure"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        assert_near(transport_number(&t, 0, all[i]), 1, 1e-12);
    static const char *const classes[] = {"caesar", "general", "macbeth"};
    for (size_t i = 0; i < 3; i++) {
        assert_slice(gf_json_get_string(class_member(&t, i, "class")), classes[i]);
        assert_slice(gf_json_get_string(class_member(&t, i, "label")), classes[i]);
        assert_near(gf_json_number(class_member(&t, i, "f1")), 1, 1e-12);
    }
    transport_close(&t);
}

/*
 * By hand: classes x = {doc1, doc3, doc4}, y = {doc6, doc7}; clusters {doc1}, {doc3, doc4},
 * {doc6, doc7}. Purity 5/5. Homogeneity 1. Pairs together: in classes 3 + 1, in clusters 1 + 1, in
 * both 2; expected 4 * 2 / 10 = 0.8; ARI = (2 - 0.8) / (3 - 0.8) = 0.545454...
 */
static void by_input(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    transport_input(&t, "labels.tsv",
                    GF_SLICE("\xEF\xBB\xBF"
                             "doc1\tx\r\ndoc3,x\n\ndoc4\told\nnobody\tz\ndoc2\t\n"));
    transport_input(&t, "more.csv", GF_SLICE("doc4,x\ndoc6,y\ndoc7,y"));
    assert_run(&t, "evaluate", "collection", "mid");
    assert_int_equal(transport_number(&t, 0, "documents"), 5);
    assert_int_equal(transport_number(&t, 0, "classes"), 2);
    assert_int_equal(transport_number(&t, 0, "clusters"), 3);
    assert_near(transport_number(&t, 0, "purity"), 1, 1e-12);
    assert_near(transport_number(&t, 0, "homogeneity"), 1, 1e-12);
    assert_near(transport_number(&t, 0, "ari"), 1.2 / 2.2, 1e-12);
    assert_near(gf_json_number(class_member(&t, 0, "recall")), 2.0 / 3, 1e-12);
    assert_near(gf_json_number(class_member(&t, 0, "precision")), 1, 1e-12);
    transport_close(&t);
}

static void refused(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_refused(GF_EINVAL, "stability needs no classes", &t, "evaluate", "collection", "mid",
                   "label-field", "play", "stability", "true");
    assert_refused(GF_EINVAL, "threads is for stability", &t, "evaluate", "collection", "mid",
                   "threads", "1");
    assert_refused(GF_EINVAL, "figures cannot be given with tree", &t, "clusters", "collection",
                   "mid", "tree", "true", "figures", "true");
    transport_input(&t, "l", GF_SLICE("doc1\tx\n"));
    assert_refused(GF_EINVAL, "not both", &t, "evaluate", "collection", "mid", "label-field",
                   "play");
    transport_input(&t, "l.csv", GF_SLICE("doc1\tx\nno class\n"));
    assert_refused(GF_EINVAL, "l.csv:2: not an id", &t, "evaluate", "collection", "mid");
    transport_input(&t, "l.csv", GF_SLICE("nobody\tx\n"));
    assert_refused(GF_ENOTFOUND, "no document of the build has a class", &t, "evaluate",
                   "collection", "mid");
    transport_input(&t, "l.csv", GF_SLICE(""));
    assert_refused(GF_ENOTFOUND, "no document", &t, "evaluate", "collection", "mid");
    transport_input(&t, "l.csv", GF_SLICE("doc1\tx\n"));
    t.read_fails = GF_ENOTFOUND;
    assert_refused(GF_ENOTFOUND, "reading failed", &t, "evaluate", "collection", "mid");
    assert_int_equal(t.n_rows, 0);
    transport_close(&t);
}

static double cluster_number(transport *t, size_t i, const char *name)
{
    return gf_json_number(transport_item(t, 0, "per_cluster", i, name));
}

/*
 * Three clusters of one word each, which their labels are: each label finds its members alone, and
 * there is no second term to be beside.
 */
static void without_classes(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "evaluate", "collection", "mid");
    assert_string_equal(transport_members(&t, 0),
                        "documents clusters clear fair mixed mean_score mean_margin weak "
                        "label_recall label_precision label_f1 npmi diversity similarity "
                        "per_cluster");
    assert_int_equal(transport_number(&t, 0, "documents"), 7);
    assert_int_equal(transport_number(&t, 0, "clusters"), 3);
    assert_int_equal(transport_number(&t, 0, "clear"), 3);
    assert_near(transport_number(&t, 0, "mean_score"), 1, 1e-6);
    assert_near(transport_number(&t, 0, "weak"), 0, 0);
    assert_near(transport_number(&t, 0, "label_f1"), 1, 0);
    assert_near(transport_number(&t, 0, "diversity"), 1, 0);
    assert_int_equal(gf_json_kind_of(transport_member(&t, 0, "npmi")), GF_JSON_NULL);
    assert_int_equal(transport_length(&t, 0, "per_cluster"), 3);
    assert_slice(gf_json_get_string(transport_item(&t, 0, "per_cluster", 0, "label")), "macbeth");
    assert_slice(gf_json_get_string(transport_item(&t, 0, "per_cluster", 0, "clarity")), "clear");
    for (size_t i = 0; i < 3; i++) {
        assert_near(cluster_number(&t, i, "label_recall"), 1, 0);
        assert_near(cluster_number(&t, i, "own_terms"), 1, 0);
        assert_near(cluster_number(&t, i, "similarity"), 0, 0);
    }
    transport_close(&t);
}

static void stability(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "evaluate", "collection", "mid", "stability", "true", "threads", "1");
    assert_int_equal(transport_number(&t, 0, "repeated"), 7);
    assert_near(transport_number(&t, 0, "seeds_nmi"), 1, 1e-12);
    assert_near(transport_number(&t, 0, "seeds_ari"), 1, 1e-12);
    assert_near(transport_number(&t, 0, "halves_nmi"), 1, 1e-12);
    assert_true(t.n_progress > 0);
    for (size_t i = 0; i < 3; i++) {
        assert_near(cluster_number(&t, i, "stability_seeds"), 1, 1e-12);
        assert_near(cluster_number(&t, i, "stability_halves"), 1, 1e-12);
    }
    char earlier[32];
    snprintf(earlier, sizeof earlier, "%s", library_served(&t, "mid"));
    assert_run(&t, "rebuild", "collection", "mid", "force", "true", "threads", "1");
    assert_refused(GF_ECONFLICT, "stability is that of the served build", &t, "evaluate",
                   "collection", "mid", "build", earlier, "stability", "true");
    transport_close(&t);
}

/* What the list of clusters says of each is what evaluate says. */
static void figures_of_a_list(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "clusters", "collection", "mid");
    assert_string_equal(transport_members(&t, 0), "cluster label size share terms");
    assert_run(&t, "clusters", "collection", "mid", "figures", "true");
    assert_string_equal(transport_members(&t, 0),
                        "cluster label size share clarity mean_score mean_margin weak "
                        "label_recall label_precision label_f1 npmi own_terms nearest "
                        "nearest_label similarity terms");
    assert_slice(transport_text(&t, 0, "clarity"), "clear");
    assert_run(&t, "cluster", "collection", "mid", "cluster", "label:macbeth", "figures", "true");
    assert_slice(transport_text(&t, 0, "clarity"), "clear");
    assert_near(transport_number(&t, 0, "label_precision"), 1, 0);
    transport_close(&t);
}

/* The same classes give the same figures, by field and by input; purity is counted again here. */
static void random_classes(void **state)
{
    (void)state;
    enum { DOCUMENTS = 80, CLASSES = 5, WORDS = 12 };
    transport t;
    gf_buffer lines = {0}, labels = {0};
    int class_of[DOCUMENTS], counts[TRANSPORT_KEPT][CLASSES] = {{0}};
    char by_field[4096];
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    transport_open(&t);
    for (int i = 0; i < DOCUMENTS; i++) {
        class_of[i] = (int)gf_random_below(&r, CLASSES);
        gf_buffer_format(&lines, "{\"id\":\"%d\",\"text\":\"word%d word%d\",\"class\":%d}\n", i,
                         (int)gf_random_below(&r, WORDS), (int)gf_random_below(&r, WORDS),
                         class_of[i]);
        gf_buffer_format(&labels, "%d\t%d\n", i, class_of[i]);
    }
    transport_put(&t, "c", gf_buffer_cstr(&lines));
    assert_run(&t, "rebuild", "collection", "c");
    assert_run(&t, "export", "collection", "c");
    for (uint64_t i = 0; i < t.n_rows; i++) {
        gf_json_value c;
        assert_true(gf_json_member(transport_member(&t, i, "fields"), "class", &c));
        int64_t number = gf_json_get_int(c);
        counts[(size_t)transport_number(&t, i, "cluster")][number]++;
    }
    int pure = 0;
    for (size_t i = 0; i < TRANSPORT_KEPT; i++) {
        int most = 0;
        for (size_t c = 0; c < CLASSES; c++)
            most = counts[i][c] > most ? counts[i][c] : most;
        pure += most;
    }
    assert_run(&t, "evaluate", "collection", "c", "label-field", "class");
    assert_near(transport_number(&t, 0, "purity"), (double)pure / DOCUMENTS, 1e-12);
    snprintf(by_field, sizeof by_field, "%.*s", GF_SLICE_ARG(transport_bytes(&t, 0)));
    transport_input(&t, "l", gf_buffer_view(&labels));
    assert_run(&t, "evaluate", "collection", "c");
    assert_slice(transport_bytes(&t, 0), by_field);
    gf_buffer_release(&lines);
    gf_buffer_release(&labels);
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perfect),           cmocka_unit_test(by_input),
        cmocka_unit_test(without_classes),   cmocka_unit_test(stability),
        cmocka_unit_test(figures_of_a_list), cmocka_unit_test(refused),
        cmocka_unit_test(random_classes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
