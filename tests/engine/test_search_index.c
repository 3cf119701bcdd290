/* The indexes of a build: the same for any number of threads, bounded cells, damage that is told. */
#include "tests/engine/fixture.h"

#include "base/random.h"
#include "engine/rows/index_cells.h"
#include "engine/upkeep/verify.h"
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
            assert_non_null(memmem(lines.ptr, lines.len, "search:s", 8));
            if (i == 0) gf_buffer_slice(&first, gf_buffer_view(&lines));
            assert_true(gf_slice_equal(gf_buffer_view(&first), gf_buffer_view(&lines)));
            gf_buffer_release(&dump);
            gf_buffer_release(&lines);
            fixture_close(&f);
        }
        gf_buffer_release(&first);
    }
}

/* ---- segments -------------------------------------------------------------------------------- */

/* Many small ones, in which common words lie in cells of their own, some of them as bitmaps. */
static const gf_index_shape small = {100, 64, 12};

static void segments_are_the_same_for_any_threads(void **state)
{
    gf_index_set_shape(small);
    an_index_is_the_same_for_any_threads(state);
    an_index_is_the_same_however_its_words_are_counted(state);
    gf_index_set_shape((gf_index_shape){0});
}

typedef gf_status each_index_cell(void *context, gf_slice qualifier, gf_slice value);

/* The cells of both indexes of a build of "c". */
static void visit_cells(fixture *f, int64_t build, each_index_cell *each, void *context)
{
    gf_error err;
    gf_tables tables;
    gf_buffer key = {0};
    gf_row row = {0};
    gf_place where = fixture_place("c");
    static const char *const prefixes[] = {GF_INDEX_MATRIX, GF_INDEX_SEARCH};
    assert_ok(gf_tables_open(gf_store_database(f->store), &tables, &err));
    gf_tables_build_key(&key, where.name_space, where.collection, fixture_default(), build);
    for (size_t i = 0; i < 2; i++) {
        gf_scan *scan;
        gf_status st;
        gf_scan_options o =
            GF_SCAN_OPTIONS(.family = GF_BUILDS_MODEL, .prefix = gf_buffer_view(&key),
                            .qualifier_prefix = gf_slice_str(prefixes[i]));
        assert_ok(gf_scan_open(tables.builds, &o, &scan, &err));
        while ((st = gf_scan_next(scan, &row, &err)) == GF_OK)
            each(context, row.cells[0].qualifier, row.cells[0].value);
        assert_status(GF_ENOTFOUND, st);
        gf_scan_close(scan);
    }
    gf_row_release(&row);
    gf_buffer_release(&key);
}

typedef struct sizes {
    size_t n, bytes, largest;
} sizes;

static gf_status add_size(void *context, gf_slice qualifier, gf_slice value)
{
    sizes *s = context;
    size_t bytes = qualifier.len + value.len;
    s->n++;
    s->bytes += bytes;
    if (bytes > s->largest) s->largest = bytes;
    return GF_OK;
}

/* A word that all documents have, one that most have, and rare ones. */
static void put_many(fixture *f, unsigned n)
{
    gf_error err;
    gf_put *put;
    assert_ok(gf_put_open(f->store, &GF_PUT_OPTIONS(.name_space = GF_SLICE("test")), &put, &err));
    for (unsigned i = 0; i < n; i++) {
        char id[24], text[80];
        snprintf(id, sizeof id, "document-%08u", i);
        snprintf(text, sizeof text, "the %s%s number%u word%u", i % 3 ? "apple " : "",
                 i % 7 ? "pear the" : "plum", i % 50, i % 997);
        gf_document d = {.id = gf_slice_str(id), .text = gf_slice_str(text)};
        assert_ok(gf_put_document(put, GF_SLICE("c"), &d, &err));
    }
    assert_ok(gf_put_flush(put, &err));
    gf_put_close(put);
}

/* With segments of 1,000 documents, no cell of three times as many is larger; the head apart, which
   has the first id of each segment. */
static void no_cell_grows_with_the_collection(void **state)
{
    (void)state;
    sizes s[2] = {{0}};
    gf_index_set_shape((gf_index_shape){1000, 256, 100});
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        fixture_open(&f);
        put_many(&f, i ? 9000 : 3000);
        visit_cells(&f, fixture_rebuild(&f, "c").build, add_size, &s[i]);
        if (i == 0) fixture_is_sound(&f);
        fixture_close(&f);
    }
    gf_index_set_shape((gf_index_shape){0});
    assert_true(s[1].bytes > 2 * s[0].bytes);
    assert_true(s[1].n > 2 * s[0].n);
    assert_true(s[0].largest < GF_INDEX_CELL + 4096);
    assert_true(s[1].largest <= s[0].largest + s[0].largest / 50);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static gf_status break_cell(fixture *f, int64_t build, gf_slice qualifier, gf_slice value)
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
    gf_batch_put(batch, tables.builds, gf_buffer_view(&key), GF_BUILDS_MODEL, qualifier, value, 0);
    gf_status st = gf_batch_write(batch, GF_SYNC_ON, &err);
    gf_batch_free(batch);
    gf_buffer_release(&key);
    return st;
}

typedef struct kept_cells {
    gf_buffer qualifier[2000], value[2000]; /* n */
    size_t n;
} kept_cells;

static gf_status keep_cell(void *context, gf_slice qualifier, gf_slice value)
{
    kept_cells *k = context;
    assert_true(k->n < 2000);
    gf_buffer_slice(&k->qualifier[k->n], qualifier);
    gf_buffer_slice(&k->value[k->n++], value);
    return GF_OK;
}

static gf_status pass_hit(void *context, const gf_hit *hit, gf_error *err)
{
    (void)hit, (void)err;
    ++*(size_t *)context;
    return GF_OK;
}

/* One search of each kind: found, or told of as damage; nothing is read outside. */
static void search_damaged(fixture *f)
{
    static const char *const queries[] = {"the", "apple -plum w*", "\"apple pear\" number7",
                                          "word996"};
    gf_error err;
    size_t n = 0;
    for (size_t i = 0; i < 4; i++) {
        gf_search_options o = GF_SEARCH_OPTIONS(.limit = i % 2 ? 0 : 5);
        gf_status st = gf_search(f->store, fixture_place("c"), gf_slice_str(queries[i]), &o,
                                 pass_hit, &n, &err);
        assert_true(st == GF_OK || st == GF_ECORRUPT);
    }
    gf_similar_options o = GF_SIMILAR_OPTIONS(.id = GF_SLICE("document-00000007"), .limit = 3);
    gf_status st = gf_similar(f->store, fixture_place("c"), &o, pass_hit, &n, &err);
    assert_true(st == GF_OK || st == GF_ECORRUPT);
}

/*
 * In each cell some bytes are changed, some are cut off, or all are others: verify tells of what
 * search would read, and search of what it cannot.
 */
static void damage_of(uint64_t seed)
{
    gf_random random = gf_random_seed(seed, 2);
    static kept_cells cells;
    fixture f;
    unsigned told = 0, changed = 0;
    gf_index_set_shape((gf_index_shape){300, 128, 20});
    fixture_open(&f);
    put_many(&f, 620);
    int64_t build = fixture_rebuild(&f, "c").build;
    visit_cells(&f, build, keep_cell, &cells);
    for (size_t c = 0; c < cells.n; c++) {
        gf_slice value = gf_buffer_view(&cells.value[c]);
        gf_buffer other = {0};
        bool whole;
        gf_error err;
        bool is_matrix = gf_slice_starts(gf_buffer_view(&cells.qualifier[c]), GF_SLICE("index:"));
        gf_buffer_slice(&other, value);
        size_t at = (size_t)gf_random_below(&random, value.len);
        if (c % 3 == 0) other.len = at;
        if (c % 3 == 1) other.ptr[at] = (char)(other.ptr[at] ^ (1 << gf_random_below(&random, 8)));
        if (c % 3 == 2)
            for (size_t i = 0; i < other.len; i++)
                other.ptr[i] = (char)gf_random_below(&random, c % 2 ? 256 : 16);
        gf_slice qualifier = gf_buffer_view(&cells.qualifier[c]);
        assert_int_equal(break_cell(&f, build, qualifier, gf_buffer_view(&other)), GF_OK);
        search_damaged(&f);
        assert_ok(gf_verify_build(f.store, fixture_place("c"), fixture_default(), build, NULL,
                                  &whole, &err));
        /* A head of another format is none; weights of the matrix are not known otherwise. */
        bool is_head = qualifier.ptr[qualifier.len - 1] == 'h' && qualifier.len < 9;
        if (!is_head && !is_matrix && whole)
            fail_msg("damage of cell %zu, kind %c, way %zu, is not told", c, qualifier.ptr[12],
                     c % 3);
        told += !whole;
        changed++;
        assert_int_equal(break_cell(&f, build, qualifier, value), GF_OK);
        gf_buffer_release(&other);
    }
    assert_true(told > changed / 2);
    for (size_t c = 0; c < cells.n; c++) {
        gf_buffer_release(&cells.qualifier[c]);
        gf_buffer_release(&cells.value[c]);
    }
    cells.n = 0;
    fixture_is_sound(&f);
    fixture_close(&f);
    gf_index_set_shape((gf_index_shape){0});
}

static void damage_is_told(void **state)
{
    (void)state;
    damage_of(1795904951183); /* a bit of no document, in a bitmap's counts */
    damage_of(gf_test_seed());
}

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct few {
    fixture f;
} few;

static gf_status search_all(void *context, gf_error *err)
{
    few *s = context;
    size_t n = 0;
    gf_search_options best = GF_SEARCH_OPTIONS(.limit = 3);
    gf_similar_options like = GF_SIMILAR_OPTIONS(.id = GF_SLICE("document-00000007"), .limit = 3);
    gf_status st = gf_search(s->f.store, fixture_place("c"),
                             GF_SLICE("the w* -plum \"apple pear\""), &best, pass_hit, &n, err);
    if (st == GF_OK) st = gf_similar(s->f.store, fixture_place("c"), &like, pass_hit, &n, err);
    if (st == GF_OK) assert_int_equal(n, 6);
    return st;
}

static void searches_without_memory(void **state)
{
    (void)state;
    few s;
    gf_index_set_shape((gf_index_shape){100, 64, 8});
    fixture_open(&s.f);
    put_many(&s.f, 210);
    fixture_rebuild(&s.f, "c");
    fixture_put(&s.f, "c", "document-00000150", "the apple is gone");
    gf_test_sweep(search_all, NULL, &s);
    fixture_close(&s.f);
    gf_index_set_shape((gf_index_shape){0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_is_the_same_for_any_threads),
        cmocka_unit_test(an_index_is_the_same_however_its_words_are_counted),
        cmocka_unit_test(segments_are_the_same_for_any_threads),
        cmocka_unit_test(no_cell_grows_with_the_collection),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(searches_without_memory),
    };
    return cmocka_run_group_tests_name("search_index", tests, NULL, NULL);
}
