/* The index of a build: the same for any number of threads, and told of where it is damaged. */
#include "tests/engine/fixture.h"

#include "base/random.h"
#include "storage/tables.h"

#include <string.h>

/* The same rows for any number of threads that built the index. */
static void an_index_is_the_same_for_any_threads(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer dumps[2] = {{0}, {0}};
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        gf_rebuild_result result;
        gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = i ? 3 : 1);
        fixture_open(&f);
        fixture_put_posts(&f, "c", FIXTURE_POSTS);
        assert_ok(gf_rebuild(f.store, fixture_place("c"), fixture_default(), &o, &result, &err));
        fixture_dump_build(&f, "c", "default", result.build.build, &dumps[i]);
        fixture_close(&f);
    }
    assert_int_equal(dumps[0].len, dumps[1].len);
    assert_memory_equal(dumps[0].ptr, dumps[1].ptr, dumps[0].len);
    assert_non_null(memmem(dumps[0].ptr, dumps[0].len, "search:h", 8));
    gf_buffer_release(&dumps[0]);
    gf_buffer_release(&dumps[1]);
}

/* The lines of a dump that are the index's. */
static void index_lines(const gf_buffer *dump, gf_buffer *out)
{
    gf_slice rest = gf_buffer_view(dump);
    while (rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t n = (size_t)(end - rest.ptr) + 1;
        if (memmem(rest.ptr, n, " search:", 8)) gf_buffer_slice(out, gf_slice_of(rest.ptr, n));
        rest = gf_slice_skip(rest, n);
    }
}

/*
 * Words are counted with the rows; where a filter leaves documents out of these, from the texts. So
 * too where pairs of words are terms.
 */
static void an_index_is_the_same_however_its_words_are_counted(void **state)
{
    (void)state;
    static const char *const settings[][2] = {
        {"filter", ""}, {"filter", "label!=no such label"}, {"ngrams", "1-2"}};
    static const char *const languages[] = {"auto", "english"};
    for (size_t l = 0; l < 2; l++) {
        gf_buffer first = {0};
        for (size_t i = 0; i < 3; i++) {
            fixture f;
            gf_buffer dump = {0}, lines = {0};
            fixture_open(&f);
            fixture_put_posts(&f, "c", FIXTURE_POSTS);
            fixture_put(&f, "c", "german",
                        "Die Katze und der Hund sind im Haus, und die Maus auch");
            fixture_set(&f, "c", "default", "language", languages[l]);
            if (settings[i][1][0]) fixture_set(&f, "c", "default", settings[i][0], settings[i][1]);
            fixture_dump_build(&f, "c", "default", fixture_rebuild(&f, "c").build, &dump);
            index_lines(&dump, &lines);
            assert_non_null(memmem(lines.ptr, lines.len, "search:t", 8));
            if (i == 0) gf_buffer_slice(&first, gf_buffer_view(&lines));
            assert_true(gf_slice_equal(gf_buffer_view(&first), gf_buffer_view(&lines)));
            gf_buffer_release(&dump);
            gf_buffer_release(&lines);
            fixture_close(&f);
        }
        gf_buffer_release(&first);
    }
}

static gf_status break_cell(fixture *f, int64_t build, const char *qualifier, gf_slice value)
{
    gf_error err;
    gf_tables tables;
    gf_batch *batch;
    gf_buffer key = {0};
    gf_place where = fixture_place("c");
    gf_database *db = gf_store_database(f->store);
    assert_ok(gf_tables_open(db, &tables, &err));
    gf_tables_build_key(&key, where.name_space, where.collection, fixture_default(), build);
    assert_ok(gf_batch_create(db, &batch, &err));
    gf_batch_put(batch, tables.builds, gf_buffer_view(&key), GF_BUILDS_MODEL,
                 gf_slice_str(qualifier), value, 0);
    gf_status st = gf_batch_write(batch, GF_SYNC_ON, &err);
    gf_batch_free(batch);
    gf_buffer_release(&key);
    return st;
}

/* Random bytes in the index's cells: GF_ECORRUPT or rows, and nothing is read outside. */
static void a_damaged_index_is_told(void **state)
{
    (void)state;
    static const char *const cells[] = {"search:h", "search:l"};
    gf_random random = gf_random_seed(gf_test_seed(), 2);
    for (size_t c = 0; c < 2; c++) {
        fixture f;
        fixture_open(&f);
        fixture_put_subjects(&f, "c");
        int64_t build = fixture_rebuild(&f, "c").build;
        gf_search_options all = GF_SEARCH_OPTIONS(.limit = 0);
        for (int run = 0; run < 200; run++) {
            char bytes[48];
            size_t n = 1 + gf_random_below(&random, sizeof bytes - 1);
            bytes[0] = 1;
            for (size_t i = c ? 0 : 1; i < n; i++)
                bytes[i] = (char)gf_random_below(&random, run % 2 ? 256 : 16);
            assert_int_equal(break_cell(&f, build, cells[c], gf_slice_of(bytes, n)), GF_OK);
            gf_error err;
            gf_status st = fixture_try_search(&f, "comet \"an old\" t*", &all, &err);
            assert_true(st == GF_OK || st == GF_ECORRUPT);
        }
        fixture_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_is_the_same_for_any_threads),
        cmocka_unit_test(an_index_is_the_same_however_its_words_are_counted),
        cmocka_unit_test(a_damaged_index_is_told),
    };
    return cmocka_run_group_tests_name("search_index", tests, NULL, NULL);
}
