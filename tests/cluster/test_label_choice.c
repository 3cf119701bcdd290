/* The rules by which a label is chosen (docs/names.md), one by one; and labels that stay. */
#include "cluster/texts.h"
#include "support/test.h"

#include "base/random.h"
#include "base/utf8.h"
#include "cluster/label/internal.h"

#include <stdio.h>
#include <string.h>

enum { MOST_CLUSTERS = 4, MOST_LINES = 400 };

/* A cluster that is written down: n times each text, up to a NULL. */
typedef struct some {
    uint32_t n;
    const char *text;
} some;

static gf_label_cluster cluster_of(texts *t, const some *lines)
{
    const char *all[MOST_LINES];
    uint32_t n = 0;
    for (; lines->text; lines++)
        for (uint32_t i = 0; i < lines->n; i++)
            all[n++] = lines->text;
    assert_true(n <= MOST_LINES);
    return texts_cluster(t, all, n, n);
}

/* Labels of clusters, one behind the other with a | behind each. */
static void labels_with(const gf_label_cluster *c, uint32_t k, const gf_label_rows *rows,
                        const char *expected)
{
    gf_error err;
    gf_arena memory = {0};
    gf_slice labels[MOST_CLUSTERS];
    gf_buffer all = {0};
    gf_label_options o = {.rows = rows};
    assert_ok(gf_labels_choose(NULL, c, k, &o, &memory, labels, &err));
    for (uint32_t j = 0; j < k; j++)
        gf_buffer_format(&all, "%.*s|", GF_SLICE_ARG(labels[j]));
    assert_string_equal(gf_buffer_cstr(&all), expected);
    gf_buffer_release(&all);
    gf_arena_release(&memory);
}

static void labels_are(const gf_label_cluster *c, uint32_t k, const char *expected)
{
    labels_with(c, k, NULL, expected);
}

/* The label of a cluster beside one about bread. */
static void label_is(const some *lines, const char *expected)
{
    texts t = {0};
    const some bread[] = {{20, "bread"}, {0, NULL}};
    gf_label_cluster c[] = {cluster_of(&t, lines), cluster_of(&t, bread)};
    char both[200];
    snprintf(both, sizeof both, "%s|bread|", expected);
    labels_are(c, 2, both);
    texts_release(&t);
}

#define LINES(...) ((const some[]){__VA_ARGS__, {0, NULL}})

/* ---- shares and lengths ---------------------------------------------------------------------- */

/* "tackle" is nowhere else, but in 22 % of the members; "game" is in 30 %, and in some others. */
static void a_quarter_of_the_members_must_have_it(void **state)
{
    (void)state;
    texts t = {0};
    gf_label_cluster c[] = {cluster_of(&t, LINES({22, "tackle. game"}, {8, "game"}, {18, "_a"},
                                                 {18, "_b"}, {17, "_c"}, {17, "_d"})),
                            cluster_of(&t, LINES({92, "bread"}, {8, "bread. game"}))};
    labels_are(c, 2, "game|bread|");
    gf_label_cluster d[] = {cluster_of(&t, LINES({30, "tackle. game"}, {8, "game"}, {16, "_a"},
                                                 {16, "_b"}, {15, "_c"}, {15, "_d"})),
                            cluster_of(&t, LINES({88, "bread"}, {12, "bread. game"}))};
    labels_are(d, 2, "tackle|bread|");
    texts_release(&t);
}

/* The two are in other members: both are shown. */
static void what_it_goes_before_is_its_second_part(void **state)
{
    (void)state;
    texts t = {0};
    gf_label_cluster c[] = {cluster_of(&t, LINES({22, "tackle"}, {30, "game"}, {12, "_a"},
                                                 {12, "_b"}, {12, "_c"}, {12, "_d"})),
                            cluster_of(&t, LINES({88, "bread"}, {12, "bread. game"}))};
    labels_are(c, 2, "game / tackle|bread|");
    texts_release(&t);
}

static void a_word_gives_way_to_the_name_it_is_half_of(void **state)
{
    (void)state;
    label_is(LINES({5, "gross product"}, {4, "gross sum"}, {1, "gross"}), "gross product");
    label_is(LINES({4, "gross product"}, {3, "gross sum"}, {3, "gross"}), "gross");
}

/* Two words that are always part of the same three count half; so do they cut from four. */
static void nothing_is_cut_out_of_a_longer_name(void **state)
{
    (void)state;
    label_is(LINES({20, "air defense zone watch tower crew"}, {4, "radar"}),
             "air defense zone watch");
    label_is(LINES({12, "read x my long old farewell note y. ships"}, {9, "ships"}), "ships");
}

/* ---- names of two parts ---------------------------------------------------------------------- */

static void two_things_get_two_parts(void **state)
{
    (void)state;
    label_is(LINES({35, "Qt"}, {33, "osx"}, {32, "_x"}), "Qt / osx");
    label_is(LINES({35, "Qt"}, {20, "osx"}, {45, "_x _y"}), "_x _y");
    label_is(LINES({30, "Qt osx"}, {5, "Qt"}, {65, "_x. _y"}), "_x");
    label_is(LINES({45, "Qt"}, {40, "osx"}, {15, "_x"}), "Qt"); /* in enough members alone */
}

/* ---- words that say nothing ------------------------------------------------------------------ */

static void vague_words_name_nothing(void **state)
{
    (void)state;
    label_is(LINES({20, "first"}), "mixed: first");
    label_is(LINES({18, "first. think"}, {2, "day"}), "mixed: first, think, day");
    label_is(LINES({20, "first aid"}), "first aid");
    label_is(LINES({20, "first day"}), "mixed: first day");
    label_is(LINES({14, "first"}, {6, "first. ships"}), "mixed: first, ships");
    label_is(LINES({8, "first"}, {12, "first. ships"}), "ships");
    assert_true(gf_label_is_mixed(gf_slice_str("mixed: a, b")));
    assert_false(gf_label_is_mixed(gf_slice_str("mixed doubles")));
    assert_false(gf_label_is_mixed((gf_slice){0}));
}

static void units_stand_at_no_end(void **state)
{
    (void)state;
    label_is(LINES({20, "profit pct"}), "profit");
    label_is(LINES({20, "pct profit"}), "profit");
    label_is(LINES({20, "pct"}), "mixed: pct");
}

static void single_letters_and_repeats_name_nothing(void **state)
{
    (void)state;
    label_is(LINES({20, "g"}), "cluster 1");
    label_is(LINES({20, "c++ code"}), "c++ code");
    label_is(LINES({18, "c++"}, {2, "code"}), "c++");
    label_is(LINES({20, "blah blah"}), "blah");
    label_is(LINES({20, "coding codings"}), "coding");
}

/* Nothing is in more than a few of the members. */
static void a_cluster_without_a_subject_is_mixed(void **state)
{
    (void)state;
    texts t = {0};
    some mixed[41] = {{0}};
    char words[40][40];
    for (int i = 0; i < 40; i++) {
        snprintf(words[i], sizeof words[i], "w%d%s", i, i < 3 ? ". sea" : i < 6 ? ". sun" : "");
        mixed[i] = (some){1, words[i]};
    }
    gf_label_cluster c[] = {cluster_of(&t, mixed), cluster_of(&t, LINES({40, "bread"}))};
    labels_are(c, 2, "mixed: sea, sun|bread|");
    texts_release(&t);
}

/* ---- places ---------------------------------------------------------------------------------- */

static void headings_entities_and_stubs_name_nothing(void **state)
{
    (void)state;
    label_is(LINES({20, "ships.\nEdit: sails"}), "ships");
    label_is(LINES({12, "ships.\n**Edit 2**: sails"}, {8, "ships.\nEdit: sails"}), "ships");
    label_is(LINES({20, "Error: disk"}), "Error"); /* a title begins so */
    label_is(LINES({20, "&nbsp; ships"}), "ships");
    label_is(LINES({20, "salt. amp; ships"}), "salt");
    label_is(LINES({7, "32-aged. ship"}, {7, "45-aged. ship"}, {6, "61-aged. ship"}), "ship");
    label_is(LINES({10, "32-aged"}, {2, "45-aged"}), "32-aged");
}

static void names_that_all_have_name_nothing(void **state)
{
    (void)state;
    texts t = {0};
    gf_label_cluster c[] = {
        cluster_of(&t, LINES({60, "thanks. @united. delay"}, {20, "thanks. @united"})),
        cluster_of(&t, LINES({20, "the @united. bags"}, {50, "bags"}))};
    labels_are(c, 2, "thanks|bags|");
    gf_label_cluster d[] = {cluster_of(&t, LINES({60, "the Firefox. tabs"}, {20, "the Firefox"})),
                            cluster_of(&t, LINES({40, "the Firefox. crash"}, {20, "crash"}))};
    labels_are(d, 2, "tabs|crash|");
    gf_label_cluster e[] = {cluster_of(&t, LINES({45, "the Firefox. tabs"}, {5, "tabs"})),
                            cluster_of(&t, LINES({350, "crash"}))};
    labels_are(e, 2, "tabs|crash|");
    gf_label_cluster f[] = {cluster_of(&t, LINES({50, "the Firefox. tabs"})),
                            cluster_of(&t, LINES({350, "crash"}))};
    labels_are(f, 2, "Firefox|crash|"); /* it is this cluster's alone */
    texts_release(&t);
}

/* ---- twins ----------------------------------------------------------------------------------- */

static bool alike(const char *a, const char *b)
{
    bool is = gf_label_words_alike(gf_slice_str(a), gf_slice_str(b));
    assert_true(is == gf_label_words_alike(gf_slice_str(b), gf_slice_str(a)));
    return is;
}

static void knows_words_that_are_alike(void **state)
{
    (void)state;
    assert_true(alike("light", "lightweight"));
    assert_true(alike("photo", "Photos"));
    assert_true(alike("Buddhism", "buddhist"));
    assert_true(alike("svn", "subversion"));
    assert_true(alike("qtly", "qtrly"));
    assert_true(alike("post", "posts"));
    assert_false(alike("form", "format"));
    assert_false(alike("internet", "interest"));
    assert_false(alike("car", "card"));
    assert_false(alike("car", "cars2"));
    assert_false(alike("svn", "vision"));
    assert_false(alike("gg", "g"));
    assert_false(alike("mp3", "maps3"));
    assert_false(alike("", "a"));
    assert_false(alike("photo", "picture"));
}

static void twins_get_another_name(void **state)
{
    (void)state;
    texts t = {0};
    gf_label_cluster c[] = {cluster_of(&t, LINES({30, "subversion"}, {2, "merge"})),
                            cluster_of(&t, LINES({20, "svn. branch"}, {2, "svn"}))};
    labels_are(c, 2, "subversion|branch|");
    gf_label_cluster alone[] = {cluster_of(&t, LINES({30, "subversion"})),
                                cluster_of(&t, LINES({20, "svn"}))};
    labels_are(alone, 2, "subversion|svn|"); /* there is nothing else */
    /* either word is in most documents where the other is */
    gf_label_cluster both[] = {
        cluster_of(&t, LINES({30, "dividend. declared"}, {10, "dividend"})),
        cluster_of(&t, LINES({20, "declared. dividend. payout"}, {5, "declared. payout"})),
        cluster_of(&t, LINES({20, "bread"}))};
    labels_are(both, 3, "dividend|payout|bread|");
    texts_release(&t);
}

/* ---- all documents --------------------------------------------------------------------------- */

/* The sample has "sea" in all and "sun" in half; the rows know that it is the other way round. */
static void rows_go_before_the_sample(void **state)
{
    (void)state;
    gf_error err;
    texts t = {0};
    gf_label_cluster c[] = {cluster_of(&t, LINES({4, "sea. sun"}, {4, "sea"})),
                            cluster_of(&t, LINES({8, "bread"}))};
    c[0].size = c[1].size = 16;
    labels_are(c, 2, "sea|bread|");
    uint32_t document[32], start[] = {0, 16, 32};
    gf_csr x;
    assert_ok(gf_csr_init(&x, 32, t.terms.n, 32, &err));
    for (uint32_t i = 0; i < 32; i++) {
        const char *word = i >= 16 ? "bread" : i < 2 ? "sea" : "sun";
        document[i] = i;
        x.start[i + 1] = i + 1;
        x.col[i] = gf_strings_find(&t.terms, gf_slice_str(word));
        x.val[i] = 1;
    }
    gf_label_rows rows = {&x, document, document, start};
    labels_with(c, 2, &rows, "sun|bread|");
    gf_csr_release(&x);
    texts_release(&t);
}

/* ---- labels that stay ------------------------------------------------------------------------ */

/* The label of a cluster that had one before. */
static void label_after(const some *lines, const char *before, const char *expected)
{
    texts t = {0};
    const some bread[] = {{20, "bread"}, {0, NULL}};
    gf_label_cluster c[] = {cluster_of(&t, lines), cluster_of(&t, bread)};
    char both[400];
    c[0].before = gf_slice_str(before);
    snprintf(both, sizeof both, "%s|bread|", expected);
    labels_are(c, 2, both);
    texts_release(&t);
}

static void a_label_stays_while_it_is_nearly_the_best(void **state)
{
    (void)state;
    const some *close = LINES({9, "ships. sails"}, {1, "ships"}, {5, "_x"});
    label_is(close, "ships");
    label_after(close, "sails", "sails");
    label_after(close, "SAILS", "SAILS"); /* as it was */
    label_after(close, "ships", "ships");
    label_after(close, "_x", "ships");
    label_after(close, "masts", "ships");
    const some *apart = LINES({5, "ships. sails"}, {9, "ships"});
    label_after(apart, "sails", "ships");
}

static void a_part_or_a_whole_of_the_best_stays(void **state)
{
    (void)state;
    const some *whole = LINES({15, "clipper chip"}, {5, "clipper"});
    label_is(whole, "clipper chip");
    label_after(whole, "clipper", "clipper");
    const some *half = LINES({9, "clipper chip"}, {11, "clipper"});
    label_is(half, "clipper");
    label_after(half, "clipper chip", "clipper chip");
}

static void two_parts_stay_together(void **state)
{
    (void)state;
    const some *two = LINES({35, "Qt"}, {33, "osx"}, {32, "_x"});
    label_after(two, "osx / Qt", "osx / Qt");
    label_after(two, "Qt / _x", "Qt / _x");
    const some *unequal = LINES({38, "Qt"}, {26, "osx"}, {18, "_x"}, {18, "_y"});
    label_is(unequal, "Qt / osx");
    label_after(unequal, "osx / Qt", "osx / Qt");
    label_after(two, "Qt", "Qt");
    label_after(two, "Qt / gone", "Qt / osx");
    label_after(two, "Qt / osx / _x", "Qt / osx");
}

static void mixed_stays_mixed(void **state)
{
    (void)state;
    const some *mixed = LINES({18, "first. think"}, {2, "day"});
    label_after(mixed, "mixed: think, first", "mixed: think, first");
    label_after(mixed, "mixed: think, gone", "mixed: think, gone");
    label_after(mixed, "mixed: gone, think", "mixed: first, think, day");
    label_after(LINES({20, "ships"}), "mixed: ships", "ships");
}

/* Labels that were chosen are chosen again, though another cluster might take it first now. */
static void labels_that_were_given_come_first(void **state)
{
    (void)state;
    texts t = {0};
    gf_label_cluster c[] = {cluster_of(&t, LINES({20, "sea. sun"}, {1, "sea"})),
                            cluster_of(&t, LINES({12, "sea. sun"}, {1, "sun"}, {1, "sea"})),
                            cluster_of(&t, LINES({40, "bread"}))};
    c[1].before = gf_slice_str("sea");
    gf_arena memory = {0};
    gf_slice labels[MOST_CLUSTERS];
    gf_error err;
    gf_label_options o = {0};
    assert_ok(gf_labels_choose(NULL, c, 3, &o, &memory, labels, &err));
    assert_false(gf_slice_equal(labels[0], gf_slice_str("sea")));
    for (uint32_t j = 0; j < 3; j++) /* and again, and again */
        c[j].before = labels[j];
    for (int round = 0; round < 3; round++) {
        gf_slice again[MOST_CLUSTERS];
        assert_ok(gf_labels_choose(NULL, c, 3, &o, &memory, again, &err));
        for (uint32_t j = 0; j < 3; j++) {
            assert_true(gf_slice_equal(again[j], labels[j]));
            c[j].before = again[j];
        }
    }
    gf_arena_release(&memory);
    texts_release(&t);
}

static void labels_before_may_be_anything(void **state)
{
    (void)state;
    const some *lines = LINES({20, "ships"});
    const char *const before[] = {" / ",       "/",          "mixed: ",  "mixed: , , ",
                                  "ships / ",  " / ships",   "\xFF\xFE", "ships / ships",
                                  "cluster 1", "\n\t ships", ", ",       "mixed:"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        label_after(lines, before[i], strcmp(before[i], "ships / ") == 0 ? "ships / " : "ships");
    char long_one[301];
    memset(long_one, 's', 300);
    long_one[300] = 0;
    label_after(lines, long_one, "ships");
}

/* ---- anything at all ------------------------------------------------------------------------- */

/* Texts of signs that the rules look at, and bytes that are no text. */
static void texts_may_be_anything(void **state)
{
    (void)state;
    static const char signs[] = "ab c#+-&;:\n.,/@*1 \xC3\xA9\xFF\xE6\x9C\xBA";
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 60; round++) {
        texts t = {0};
        gf_error err;
        gf_arena memory = {0};
        gf_slice labels[MOST_CLUSTERS];
        gf_label_cluster c[MOST_CLUSTERS];
        static char lines[MOST_CLUSTERS][30][24];
        for (uint32_t j = 0; j < MOST_CLUSTERS; j++) {
            const char *all[30];
            for (int i = 0; i < 30; i++) {
                uint32_t n = (uint32_t)gf_random_below(&random, 23);
                for (uint32_t b = 0; b < n; b++)
                    lines[j][i][b] = signs[gf_random_below(&random, sizeof signs - 1)];
                lines[j][i][n] = 0;
                all[i] = lines[j][i];
            }
            c[j] = texts_cluster(&t, all, 30, 30);
            c[j].before = gf_slice_str(all[0]);
        }
        gf_label_options o = {0};
        assert_ok(gf_labels_choose(NULL, c, MOST_CLUSTERS, &o, &memory, labels, &err));
        for (uint32_t j = 0; j < MOST_CLUSTERS; j++) {
            assert_true(labels[j].len > 0);
            for (uint32_t i = 0; i < j; i++)
                assert_false(gf_utf8_same_letters(labels[i], labels[j]));
        }
        gf_arena_release(&memory);
        texts_release(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quarter_of_the_members_must_have_it),
        cmocka_unit_test(what_it_goes_before_is_its_second_part),
        cmocka_unit_test(a_word_gives_way_to_the_name_it_is_half_of),
        cmocka_unit_test(nothing_is_cut_out_of_a_longer_name),
        cmocka_unit_test(two_things_get_two_parts),
        cmocka_unit_test(vague_words_name_nothing),
        cmocka_unit_test(units_stand_at_no_end),
        cmocka_unit_test(single_letters_and_repeats_name_nothing),
        cmocka_unit_test(a_cluster_without_a_subject_is_mixed),
        cmocka_unit_test(headings_entities_and_stubs_name_nothing),
        cmocka_unit_test(names_that_all_have_name_nothing),
        cmocka_unit_test(knows_words_that_are_alike),
        cmocka_unit_test(twins_get_another_name),
        cmocka_unit_test(rows_go_before_the_sample),
        cmocka_unit_test(a_label_stays_while_it_is_nearly_the_best),
        cmocka_unit_test(a_part_or_a_whole_of_the_best_stays),
        cmocka_unit_test(two_parts_stay_together),
        cmocka_unit_test(mixed_stays_mixed),
        cmocka_unit_test(labels_that_were_given_come_first),
        cmocka_unit_test(labels_before_may_be_anything),
        cmocka_unit_test(texts_may_be_anything),
    };
    return cmocka_run_group_tests_name("label choice", tests, NULL, NULL);
}
