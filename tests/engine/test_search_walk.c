/* A search finds what a walk over all documents does. */
#include "tests/engine/search_reference.h"

#include "base/random.h"
#include "base/utf8.h"
#include "engine/rows/index_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void compare(fixture *f, const reference *r, const gf_language *language, const char *query)
{
    size_t n;
    reference_hit *expected = reference_search(r, language, query, &n);
    fixture_search(f, query, NULL);
    if (fixture_found.n != n) fail_msg("%s: %zu documents, not %zu", query, fixture_found.n, n);
    for (size_t i = 0; i < n; i++) {
        if (fabs(fixture_found.score[i] - expected[i].score) > 1e-6)
            fail_msg("%s: rank %zu scores %.9f, not %.9f", query, i + 1, fixture_found.score[i],
                     expected[i].score);
        if (!gf_slice_equal(gf_slice_str(fixture_found.id[i]), expected[i].id))
            fail_msg("%s: rank %zu is %s, not %.*s", query, i + 1, fixture_found.id[i],
                     GF_SLICE_ARG(expected[i].id));
    }
    free(expected);
}

/* Words, prefixes and phrases taken from the texts, so that they are there. */
static void random_item(const reference *r, gf_random *random, gf_buffer *q)
{
    const reference_text *t = &r->texts[gf_random_below(random, r->n)];
    while (t->n < 4)
        t = &r->texts[gf_random_below(random, r->n)];
    size_t at = gf_random_below(random, t->n - 3);
    uint64_t kind = gf_random_below(random, 8);
    if (q->len) gf_buffer_byte(q, ' ');
    if (kind == 0 && q->len) gf_buffer_byte(q, '-');
    if (kind < 6) {
        gf_slice word = t->words[at];
        gf_buffer_slice(q, kind == 5 ? gf_utf8_cut(word, 3) : word);
        if (kind == 5) gf_buffer_byte(q, '*');
        return;
    }
    gf_buffer_byte(q, '"');
    for (size_t i = 0; i < kind - 4; i++) {
        if (i) gf_buffer_byte(q, ' ');
        gf_buffer_slice(q, t->words[at + i]);
    }
    gf_buffer_byte(q, '"');
}

static void compare_random(fixture *f, const gf_language *language, gf_random *random, size_t runs)
{
    reference r;
    reference_read(&r, f, "c", language);
    for (size_t run = 0; run < runs; run++) {
        gf_buffer q = {0};
        uint64_t n = 1 + gf_random_below(random, 4);
        for (uint64_t i = 0; i < n; i++)
            random_item(&r, random, &q);
        compare(f, &r, language, gf_buffer_cstr(&q));
        gf_buffer_release(&q);
    }
    reference_release(&r);
}

static void change_some(fixture *f, gf_random *random, size_t n)
{
    static const char *const texts[] = {"a zebra and a giraffe went to the market",
                                        "the market was closed, the zebra said",
                                        "nothing of the sort has ever happened here"};
    for (size_t i = 0; i < n; i++) {
        char id[24];
        snprintf(id, sizeof id, "new%02u", (unsigned)gf_random_below(random, 20));
        fixture_put(f, "c", id, texts[gf_random_below(random, 3)]);
        if (fixture_found.n == 0) continue;
        const char *old = fixture_found.id[gf_random_below(random, fixture_found.n)];
        gf_error err;
        if (i % 2)
            fixture_put(f, "c", old, texts[gf_random_below(random, 3)]);
        else if (strncmp(old, "new", 3) != 0)
            assert_ok(fixture_try_delete(f->store, "c", old, &err));
        fixture_found.n = 0;
        fixture_search(f, "the", NULL);
    }
}

static void as_a_walk_over_posts_finds(void **state)
{
    (void)state;
    fixture f;
    const gf_language *english = gf_language_find(GF_SLICE("english"));
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    fixture_open(&f);
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    fixture_set(&f, "c", "default", "language", "english");
    compare_random(&f, english, &random, 30);
    fixture_rebuild(&f, "c");
    compare_random(&f, english, &random, 150);
    fixture_search(&f, "the", NULL);
    change_some(&f, &random, 30);
    compare_random(&f, english, &random, 100);
    fixture_rebuild(&f, "c");
    compare_random(&f, english, &random, 60);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* Three segments, common words in pieces and bitmaps. */
static void as_a_walk_over_segments_finds(void **state)
{
    gf_index_set_shape((gf_index_shape){100, 64, 12});
    as_a_walk_over_posts_finds(state);
    gf_index_set_shape((gf_index_shape){0});
}

/* The first of all, in their order, whatever filters leave out; the number of all is the same. */
static void the_best_are_the_first_of_all(void **state)
{
    (void)state;
    fixture f;
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    static fixture_hits all;
    reference r;
    const gf_language *english = gf_language_find(GF_SLICE("english"));
    gf_index_set_shape((gf_index_shape){100, 64, 12});
    fixture_open(&f);
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    fixture_set(&f, "c", "default", "language", "english");
    fixture_rebuild(&f, "c");
    reference_read(&r, &f, "c", english);
    for (size_t run = 0; run < 300; run++) {
        gf_buffer q = {0};
        size_t changes = run == 150 ? 12 : 0;
        if (changes) fixture_search(&f, "the", NULL);
        if (changes) change_some(&f, &random, changes);
        for (uint64_t i = gf_random_below(&random, 4) + 1; i; i--)
            random_item(&r, &random, &q);
        const char *query = run % 5 ? gf_buffer_cstr(&q) : "the and a";
        gf_slice label = GF_SLICE("label=lockpicking");
        gf_search_options o = GF_SEARCH_OPTIONS(.where = &label, .n_where = run % 4 == 0);
        fixture_search(&f, query, &o);
        all = fixture_found;
        o.limit = 1 + gf_random_below(&random, 20);
        fixture_search(&f, query, &o);
        assert_int_equal(fixture_found.n, all.n < o.limit ? all.n : o.limit);
        for (size_t i = 0; i < fixture_found.n; i++) {
            assert_string_equal(fixture_found.id[i], all.id[i]);
            assert_true(fixture_found.score[i] == all.score[i]);
            assert_int_equal(fixture_found.total[i], all.total[i]);
        }
        gf_buffer_release(&q);
    }
    reference_release(&r);
    fixture_close(&f);
    gf_index_set_shape((gf_index_shape){0});
}

static void as_a_walk_over_newsgroups_finds(void **state)
{
    (void)state;
    if (!gf_test_has_data()) skip();
    fixture f;
    gf_buffer file = {0};
    const gf_language *english = gf_language_find(GF_SLICE("english"));
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    fixture_open(&f);
    gf_test_read_data("20newsgroups/20newsgroups.jsonl.gz", &file);
    fixture_put_records(&f, "c", gf_buffer_view(&file), 2000);
    gf_buffer_release(&file);
    fixture_set(&f, "c", "default", "language", "english");
    fixture_set(&f, "c", "default", "k", "5");
    fixture_rebuild(&f, "c");
    compare_random(&f, english, &random, 60);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_walk_over_posts_finds),
        cmocka_unit_test(as_a_walk_over_segments_finds),
        cmocka_unit_test(the_best_are_the_first_of_all),
        cmocka_unit_test(as_a_walk_over_newsgroups_finds),
    };
    return cmocka_run_group_tests_name("search_walk", tests, NULL, NULL);
}
