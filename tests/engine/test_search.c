#include "tests/engine/search_reference.h"

#include "base/random.h"
#include "base/utf8.h"
#include "storage/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HITS = 4096 };

typedef struct hits {
    char id[MOST_HITS][40]; /* n */
    double score[MOST_HITS];
    uint32_t cluster[MOST_HITS];
    bool provisional[MOST_HITS];
    char found[MOST_HITS][40];
    size_t n;
} hits;

static hits last;

static void copy_text(char to[40], gf_slice text)
{
    snprintf(to, 40, "%.*s", (int)(text.len < 39 ? text.len : 39), text.ptr ? text.ptr : "");
}

static gf_status note(void *context, const gf_hit *hit, gf_error *err)
{
    hits *h = context;
    if (h->n == MOST_HITS) return gf_fail(err, GF_ELIMIT, "too many");
    copy_text(h->id[h->n], hit->document->id);
    copy_text(h->found[h->n], hit->found);
    h->score[h->n] = hit->score;
    h->cluster[h->n] = hit->membership ? hit->membership->cluster : 0;
    h->provisional[h->n] = hit->membership && hit->membership->provisional;
    h->n++;
    return GF_OK;
}

static gf_status try_search(fixture *f, const char *query, const gf_search_options *o,
                            gf_error *err)
{
    last.n = 0;
    return gf_search(f->store, fixture_place("c"), gf_slice_str(query), o, note, &last, err);
}

static void search(fixture *f, const char *query, const gf_search_options *o)
{
    gf_error err;
    static const gf_search_options all = {.limit = 0};
    assert_ok(try_search(f, query, o ? o : &all, &err));
}

/* The ids that were found, with spaces between. */
static const char *ids(void)
{
    static char text[MOST_HITS * 8];
    text[0] = '\0';
    for (size_t i = 0; i < last.n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", last.id[i]);
    return text;
}

#define assert_finds(f, query, expected)                                                           \
    do {                                                                                           \
        search(f, query, NULL);                                                                    \
        assert_string_equal(ids(), expected);                                                      \
    } while (0)

/* ---- by hand ----------------------------------------------------------------------------------
 */

static void a_score_by_hand(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_texts(&f, "c", (const char *const[]){"red apple", "red red plum tree", "pear"}, 3);
    /* 3 documents, 7 words; red is in 2: idf ln(1 + 1.5 / 2.5) = 0.470004. 000: 2 words, once:
       2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / (7 / 3))) = 1.06207; 001: 4 words, twice: 4.4 / (2 +
       1.2 * (0.25 + 0.75 * 4 / (7 / 3))) = 1.14371 */
    assert_finds(&f, "red", "001 000");
    assert_near(last.score[1], 0.470003629 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 6.0 / 7)), 1e-6);
    assert_near(last.score[0], 0.470003629 * 4.4 / (2 + 1.2 * (0.25 + 0.75 * 12.0 / 7)), 1e-6);
    fixture_close(&f);
}

static void check_subjects(fixture *f)
{
    assert_finds(f, "orbit", "008 010");
    assert_finds(f, "orbiting", "008 010");
    assert_finds(f, "\"comet and star\"", "011");
    assert_finds(f, "\"star and comet\"", "");
    assert_finds(f, "\"Comet, AND star!\"", "011");
    assert_finds(f, "comet -planets", "010");
    assert_finds(f, "comet -\"comet and\"", "010 009");
    assert_finds(f, "telescop*", "011");
    assert_finds(f, "telescopes*", "011");
    assert_finds(f, "zebra", "");
    assert_finds(f, "zebra telescopes", "011");
    assert_finds(f, "\"zebra telescopes\"", "");
    assert_finds(f, "its", "009");
    search(f, "\"orbit of that\"", NULL);
    assert_string_equal(last.found[0], "orbit of that");
    search(f, "xyz comet star", NULL);
    assert_int_equal(last.n, 4);
}

static void the_same_with_and_without_an_index(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    check_subjects(&f);
    assert_int_equal(last.cluster[0], 0);
    fixture_rebuild(&f, "c");
    check_subjects(&f);
    assert_int_not_equal(last.cluster[0], 0);
    assert_false(last.provisional[0]);
    fixture_set(&f, "c", "default", "store_index", "off");
    fixture_rebuild(&f, "c");
    check_subjects(&f);
    fixture_close(&f);
}

/* An index of a later format, or none as in older builds, is passed over. */
static void a_build_without_an_index_is_searched_by_its_texts(void **state)
{
    (void)state;
    gf_error err;
    static const char *const values[] = {NULL, "\x02what"};
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        fixture_open(&f);
        fixture_put_subjects(&f, "c");
        gf_build_info info = fixture_rebuild(&f, "c");
        gf_database *db = gf_store_database(f.store);
        gf_tables tables;
        gf_batch *batch;
        gf_buffer key = {0};
        gf_place where = fixture_place("c");
        assert_ok(gf_tables_open(db, &tables, &err));
        gf_build_key(&key, where.name_space, where.collection, fixture_default(), info.build);
        assert_ok(gf_batch_create(db, &batch, &err));
        if (values[i])
            gf_batch_put(batch, tables.builds, gf_buffer_view(&key), GF_BUILDS_MODEL,
                         GF_SLICE("search:h"), gf_slice_str(values[i]), 0);
        else
            gf_batch_delete_cell(batch, tables.builds, gf_buffer_view(&key), GF_BUILDS_MODEL,
                                 GF_SLICE("search:h"));
        assert_ok(gf_batch_write(batch, GF_SYNC, &err));
        gf_batch_free(batch);
        gf_buffer_release(&key);
        check_subjects(&f);
        fixture_close(&f);
    }
}

static void what_is_put_is_found_at_once(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_rebuild(&f, "c");
    fixture_put(&f, "c", "new", "A zebra looks at the comet");
    fixture_put(&f, "c", "008", "a zebra in the oven");
    fixture_delete(&f, "c", "010");
    assert_finds(&f, "zebra", "008 new");
    assert_true(last.provisional[0]);
    assert_finds(&f, "orbit", "");
    assert_finds(&f, "\"zebra in\" comet", "008");
    fixture_put(&f, "c", "010", "back in orbit");
    assert_finds(&f, "orbit", "010");
    fixture_delete(&f, "c", "new");
    assert_finds(&f, "zebra", "008");
    fixture_rebuild(&f, "c");
    assert_finds(&f, "zebra orbit", "010 008");
    assert_false(last.provisional[0]);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- filters ----------------------------------------------------------------------------------
 */

static void put_dated(fixture *f, const char *id, const char *text, const char *time,
                      const char *kind)
{
    gf_error err;
    gf_field field = {GF_SLICE("kind"), gf_slice_str(kind)};
    gf_document d = {.id = gf_slice_str(id),
                     .text = gf_slice_str(text),
                     .time = gf_slice_str(time),
                     .fields = &field,
                     .n_fields = 1};
    assert_ok(fixture_try_put(f->store, "c", &d, &err));
}

static void filters_leave_out(void **state)
{
    (void)state;
    gf_error err;
    fixture f;
    fixture_open(&f);
    put_dated(&f, "a", "red apple", "\"2026-01-01\"", "\"x\"");
    put_dated(&f, "b", "red plum", "\"2026-02-01\"", "\"y\"");
    put_dated(&f, "c", "red pear", "\"2026-03-01\"", "\"x\"");
    for (int built = 0; built < 2; built++) {
        gf_slice where = GF_SLICE("kind=x");
        search(&f, "red", &(gf_search_options){.where = &where, .n_where = 1});
        assert_string_equal(ids(), "a c");
        search(&f, "red", &(gf_search_options){.since = GF_SLICE("2026-02-01")});
        assert_string_equal(ids(), "b c");
        search(&f, "red", &(gf_search_options){.until = GF_SLICE("2026-02-01")});
        assert_string_equal(ids(), "a");
        search(&f, "red", &(gf_search_options){.limit = 2});
        assert_string_equal(ids(), "a b");
        fixture_rebuild(&f, "c");
    }
    assert_status(GF_EINVAL,
                  try_search(&f, "red", &(gf_search_options){.since = GF_SLICE("?")}, &err));
    assert_string_equal(err.message, "since: \"?\" is not a time");
    gf_slice bad = GF_SLICE("nothing");
    assert_status(GF_EINVAL,
                  try_search(&f, "red", &(gf_search_options){.where = &bad, .n_where = 1}, &err));
    fixture_close(&f);
}

static void clusters_are_told_and_chosen(void **state)
{
    (void)state;
    gf_error err;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    gf_search_options one = {.cluster = 1};
    assert_status(GF_ENOTFOUND, try_search(&f, "the", &one, &err));
    fixture_set(&f, "c", "default", "k", "3");
    fixture_rebuild(&f, "c");
    search(&f, "the with", NULL);
    size_t n = last.n, of_one = 0;
    uint32_t cluster = last.cluster[0];
    for (size_t i = 0; i < n; i++)
        of_one += last.cluster[i] == cluster;
    assert_true(of_one > 0 && of_one < n);
    search(&f, "the with", &(gf_search_options){.cluster = cluster});
    assert_int_equal(last.n, of_one);
    for (size_t i = 0; i < last.n; i++)
        assert_int_equal(last.cluster[i], cluster);
    assert_status(GF_ENOTFOUND, try_search(&f, "the", &(gf_search_options){.cluster = 99}, &err));
    gf_search_options other = {.configuration = GF_SLICE("nope")};
    assert_status(GF_ENOTFOUND, try_search(&f, "the", &other, &err));
    fixture_close(&f);
}

/* A build of a part of the collection: all of it is searched, and what is left out has no place. */
static void what_a_build_leaves_out_is_found(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    put_dated(&f, "a", "red apple", "1", "\"x\"");
    put_dated(&f, "b", "red plum", "2", "\"y\"");
    fixture_set(&f, "c", "default", "filter", "kind=x");
    fixture_rebuild(&f, "c");
    assert_finds(&f, "red", "a b");
    assert_int_not_equal(last.cluster[0], 0);
    assert_int_equal(last.cluster[1], 0);
    fixture_close(&f);
}

/* ---- languages --------------------------------------------------------------------------------
 */

static void put_language(fixture *f, const char *id, const char *text, const char *language)
{
    gf_error err;
    gf_document d = {
        .id = gf_slice_str(id), .text = gf_slice_str(text), .language = gf_slice_str(language)};
    assert_ok(fixture_try_put(f->store, "c", &d, &err));
}

/* Each document is looked for in its own language: "katzen" is katz in German alone. */
static void a_query_is_in_the_language_of_each_document(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    put_language(&f, "de", "Die Katze sitzt", "de");
    put_language(&f, "en", "A katze, they say", "en");
    put_language(&f, "fr", "Deux chats", "fr");
    for (int built = 0; built < 2; built++) {
        assert_finds(&f, "katzen", "de");
        assert_finds(&f, "katze", "de en");
        assert_finds(&f, "chat", "fr");
        assert_finds(&f, "\"die katze\"", "de");
        assert_finds(&f, "kat*", "de en");
        fixture_rebuild(&f, "c");
    }
    fixture_close(&f);
}

static void texts_without_spaces(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    put_language(&f, "1", "\xE6\x88\x91\xE5\x96\x9C\xE6\xAC\xA2\xE5\x8C\x97\xE4\xBA\xAC", "zh");
    put_language(&f, "2", "\xE5\x8C\x97\xE4\xBA\xAC\xE5\xBE\x88\xE5\xA4\xA7", "zh");
    put_language(&f, "3", "\xE4\xB8\x8A\xE6\xB5\xB7\xE5\xBE\x88\xE5\xA4\xA7", "zh");
    for (int built = 0; built < 2; built++) {
        assert_finds(&f, "\xE5\x8C\x97\xE4\xBA\xAC", "2 1");
        fixture_rebuild(&f, "c");
    }
    fixture_close(&f);
}

/* ---- errors -----------------------------------------------------------------------------------
 */

static void bad_queries_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *query, *message;
    } cases[] = {{"the \"engine", "query, character 5: this quote is not closed"},
                 {"the !!!", "query, character 5: there is no word here"},
                 {"the \"?\"", "query, character 5: there is no word here"},
                 {"oil foo-bar*", "query, character 5: a star goes behind one single word"}};
    gf_error err;
    fixture f;
    fixture_open(&f);
    gf_search_options all = {.limit = 0};
    assert_status(GF_ENOTFOUND, try_search(&f, "a", &all, &err));
    assert_string_equal(err.message, "there is no collection \"c\"");
    fixture_put_subjects(&f, "c");
    for (int built = 0; built < 2; built++) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            assert_status(GF_EINVAL, try_search(&f, cases[i].query, &all, &err));
            assert_string_equal(err.message, cases[i].message);
        }
        fixture_rebuild(&f, "c");
    }
    fixture_close(&f);
}

static void an_empty_collection_has_nothing(void **state)
{
    (void)state;
    gf_error err;
    fixture f;
    fixture_open(&f);
    assert_ok(gf_collection_create(f.store, fixture_place("c"), &err));
    assert_finds(&f, "a", "");
    fixture_rebuild(&f, "c");
    assert_finds(&f, "a b* \"c d\"", "");
    fixture_put(&f, "c", "x", "");
    fixture_put(&f, "c", "y", "a");
    assert_finds(&f, "a", "y");
    fixture_rebuild(&f, "c");
    assert_finds(&f, "a", "y");
    fixture_close(&f);
}

/* ---- against a walk over all documents --------------------------------------------------------
 */

static void compare(fixture *f, const reference *r, const gf_language *language, const char *query)
{
    size_t n;
    reference_hit *expected = reference_search(r, language, query, &n);
    search(f, query, NULL);
    if (last.n != n) fail_msg("%s: %zu documents, not %zu", query, last.n, n);
    for (size_t i = 0; i < n; i++) {
        if (fabs(last.score[i] - expected[i].score) > 1e-6)
            fail_msg("%s: rank %zu scores %.9f, not %.9f", query, i + 1, last.score[i],
                     expected[i].score);
        if (!gf_slice_equal(gf_slice_str(last.id[i]), expected[i].id))
            fail_msg("%s: rank %zu is %s, not %.*s", query, i + 1, last.id[i],
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
        if (last.n == 0) continue;
        const char *old = last.id[gf_random_below(random, last.n)];
        gf_error err;
        if (i % 2)
            fixture_put(f, "c", old, texts[gf_random_below(random, 3)]);
        else if (strncmp(old, "new", 3) != 0)
            assert_ok(fixture_try_delete(f->store, "c", old, &err));
        last.n = 0;
        search(f, "the", NULL);
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
    search(&f, "the", NULL);
    change_some(&f, &random, 30);
    compare_random(&f, english, &random, 100);
    fixture_rebuild(&f, "c");
    compare_random(&f, english, &random, 60);
    fixture_is_sound(&f);
    fixture_close(&f);
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

/* ---- the rest ---------------------------------------------------------------------------------
 */

/* The same rows for any number of threads that built the index. */
static void an_index_is_the_same_for_any_threads(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer dumps[2] = {{0}, {0}};
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        gf_rebuild_result result;
        gf_rebuild_options o = {.threads = i ? 3 : 1};
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

static gf_status search_swept(void *context, gf_error *err)
{
    gf_slice where = GF_SLICE("lang!=de");
    gf_search_options o = {.where = &where, .n_where = 1};
    return try_search(context, "comet \"an old\" telescop* -flour", &o, err);
}

static void allocation_failures_are_told(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    gf_test_sweep(search_swept, NULL, &f);
    fixture_rebuild(&f, "c");
    fixture_put(&f, "c", "new", "an old comet");
    gf_test_sweep(search_swept, NULL, &f);
    assert_string_equal(ids(), "new 003");
    fixture_close(&f);
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
    gf_build_key(&key, where.name_space, where.collection, fixture_default(), build);
    assert_ok(gf_batch_create(db, &batch, &err));
    gf_batch_put(batch, tables.builds, gf_buffer_view(&key), GF_BUILDS_MODEL,
                 gf_slice_str(qualifier), value, 0);
    gf_status st = gf_batch_write(batch, GF_SYNC, &err);
    gf_batch_free(batch);
    gf_buffer_release(&key);
    return st;
}

/* Whatever bytes stand in the index's cells: GF_ECORRUPT or rows, and nothing is read outside. */
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
        gf_search_options all = {.limit = 0};
        for (int run = 0; run < 200; run++) {
            char bytes[48];
            size_t n = 1 + gf_random_below(&random, sizeof bytes - 1);
            bytes[0] = 1;
            for (size_t i = c ? 0 : 1; i < n; i++)
                bytes[i] = (char)gf_random_below(&random, run % 2 ? 256 : 16);
            assert_int_equal(break_cell(&f, build, cells[c], gf_slice_of(bytes, n)), GF_OK);
            gf_error err;
            gf_status st = try_search(&f, "comet \"an old\" t*", &all, &err);
            assert_true(st == GF_OK || st == GF_ECORRUPT);
        }
        fixture_close(&f);
    }
}

static void snippets(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t start, length, most;
        const char *snippet;
    } cases[] = {
        {"short", 0, 5, 20, "short"},
        {"two\n\n  lines", 0, 3, 20, "two lines"},
        {"one two three four five six", 8, 5, 12, "\xE2\x80\xA6three four\xE2\x80\xA6"},
        {"one two three four five six", 24, 3, 12,
         "\xE2\x80\xA6"
         "five six"},
        {"one two three four five six", 0, 3, 12, "one two\xE2\x80\xA6"},
        {"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 4, 2, 3,
         "\xE2\x80\xA6\xC3\xA9\xC3\xA9\xC3\xA9\xE2\x80\xA6"},
        {"", 0, 0, 10, ""},
        {"abcdefghij", 0, 10, 4, "abcd\xE2\x80\xA6"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gf_buffer out = {0};
        gf_slice text = gf_slice_str(cases[i].text);
        gf_snippet(text, gf_slice_of(text.ptr + cases[i].start, cases[i].length), cases[i].most,
                   &out);
        assert_slice(gf_buffer_view(&out), cases[i].snippet);
        gf_buffer_release(&out);
    }
}

/* Any text and part of it: valid UTF-8, no longer than asked for, and the part is in it. */
static void random_snippets(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "a",    " ",   "\n", "\xC3\xA9", "\xE5\x8C\x97", "e\xCC\x81", "\xF0\x9F\x98\x80",
        "word", " of "};
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    for (int run = 0; run < 5000; run++) {
        gf_buffer text = {0}, out = {0};
        size_t n = gf_random_below(&random, 40), start = 0, length = 0;
        for (size_t i = 0; i < n; i++) {
            const char *piece = pieces[gf_random_below(&random, 9)];
            if (i == n / 2) start = text.len;
            gf_buffer_str(&text, piece);
            if (i == n / 2) length = text.len - start;
        }
        size_t most = gf_random_below(&random, 30);
        gf_snippet(gf_buffer_view(&text), gf_slice_of(text.ptr ? text.ptr + start : NULL, length),
                   most, &out);
        assert_int_equal(gf_utf8_valid_length(gf_buffer_view(&out)), out.len);
        assert_true(gf_utf8_count(gf_buffer_view(&out)) <= most + 2);
        gf_buffer_release(&text);
        gf_buffer_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_score_by_hand),
        cmocka_unit_test(the_same_with_and_without_an_index),
        cmocka_unit_test(a_build_without_an_index_is_searched_by_its_texts),
        cmocka_unit_test(what_is_put_is_found_at_once),
        cmocka_unit_test(filters_leave_out),
        cmocka_unit_test(clusters_are_told_and_chosen),
        cmocka_unit_test(what_a_build_leaves_out_is_found),
        cmocka_unit_test(a_query_is_in_the_language_of_each_document),
        cmocka_unit_test(texts_without_spaces),
        cmocka_unit_test(bad_queries_are_refused),
        cmocka_unit_test(an_empty_collection_has_nothing),
        cmocka_unit_test(as_a_walk_over_posts_finds),
        cmocka_unit_test(as_a_walk_over_newsgroups_finds),
        cmocka_unit_test(an_index_is_the_same_for_any_threads),
        cmocka_unit_test(allocation_failures_are_told),
        cmocka_unit_test(a_damaged_index_is_told),
        cmocka_unit_test(snippets),
        cmocka_unit_test(random_snippets),
    };
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
