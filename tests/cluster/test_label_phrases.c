#include "cluster/texts.h"
#include "support/test.h"

#include "base/random.h"
#include "cluster/label/phrases.h"

#include <string.h>

/* ---- walking --------------------------------------------------------------------------------- */

/* The phrases of a text as they are written, with a | behind each. */
static void check_phrases(const char *text, const char *expected)
{
    texts t = {0};
    gf_buffer found = {0}, key = {0};
    gf_label_document d = texts_document(&t, text);
    gf_phrase_walk w = gf_phrase_start(&d, key);
    while (gf_phrase_next(&w)) {
        const gf_label_word *a = &d.words[w.first], *b = a + w.n_words - 1;
        gf_buffer_format(&found, "%.*s|", (int)(b->start + b->length - a->start), text + a->start);
    }
    assert_string_equal(gf_buffer_cstr(&found), expected);
    gf_buffer_release(&w.key);
    gf_buffer_release(&found);
    texts_release(&t);
}

static void walks_runs_of_one_to_four_words(void **state)
{
    (void)state;
    check_phrases("", "");
    check_phrases("one", "one|");
    check_phrases("w x y z v", "w|w x|w x y|w x y z|x|x y|x y z|x y z v|y|y z|y z v|z|z v|v|");
    check_phrases("red, green blue", "red|green|green blue|blue|");
    check_phrases("the state of the art", "state|state of the art|art|");
    check_phrases("the of", "");
    check_phrases("windows 10 beta", "windows|windows 10|windows 10 beta|beta|");
    check_phrases("10 at 20", "");
    check_phrases("see http_x now", "see|now|");
}

/* A phrase is cut where it would be longer than 80 bytes, and what comes behind is walked too. */
static void long_phrases_are_left_out(void **state)
{
    (void)state;
    check_phrases("a1234567890123456789012345678901234567890 "
                  "b1234567890123456789012345678901234567890 c d",
                  "a1234567890123456789012345678901234567890|"
                  "b1234567890123456789012345678901234567890|"
                  "b1234567890123456789012345678901234567890 c|"
                  "b1234567890123456789012345678901234567890 c d|c|c d|d|");
}

static void keys_hold_terms_or_letters(void **state)
{
    (void)state;
    texts t = {0};
    gf_buffer key = {0};
    gf_label_document d = texts_document(&t, "first engines _AbC");
    gf_phrase_walk w = gf_phrase_start(&d, key);
    for (int i = 0; i < 3; i++)
        assert_true(gf_phrase_next(&w));
    const char expected[] = "t\0\0\0\0t\0\0\0\1w\4_abc";
    gf_slice whole = gf_buffer_view(&w.key);
    assert_int_equal(whole.len, sizeof expected - 1);
    assert_memory_equal(whole.ptr, expected, sizeof expected - 1);
    assert_int_equal(gf_phrase_word_length(whole), 5);
    assert_int_equal(gf_phrase_word_length(gf_slice_skip(whole, 10)), 6);
    gf_buffer_release(&w.key);
    texts_release(&t);
}

/* ---- tallies --------------------------------------------------------------------------------- */

enum { WORDS = 7, DOCUMENTS = 40, LONGEST = 9 };

/* Random texts over few words, some of which are stop words and the like, with few commas. */
static const char *random_text(texts *t, gf_random *random)
{
    static const char *const words[WORDS] = {"apple", "Apples", "the", "pear", "7", "_q", "of"};
    char text[LONGEST * 10] = "";
    uint32_t n = (uint32_t)gf_random_below(random, LONGEST);
    for (uint32_t i = 0; i < n; i++) {
        strcat(text, words[gf_random_below(random, WORDS)]);
        strcat(text, gf_random_below(random, 5) ? " " : ", ");
    }
    gf_slice copy = gf_arena_copy(&t->memory, gf_slice_str(text));
    assert_non_null(copy.ptr);
    return copy.ptr;
}

static bool same_word(const gf_label_document *a, const gf_label_word *x,
                      const gf_label_document *b, const gf_label_word *y)
{
    if (x->term != GF_LABEL_NO_TERM || y->term != GF_LABEL_NO_TERM) return x->term == y->term;
    return x->length == y->length &&
           strncasecmp(a->text.ptr + x->start, b->text.ptr + y->start, x->length) == 0;
}

/* True if document b has the words from..from+n-1 of a as a phrase. */
static bool has_phrase(const gf_label_document *b, const gf_label_document *a, uint32_t from,
                       uint32_t n)
{
    for (uint32_t at = 0; at + n <= b->n_words; at++) {
        uint32_t same = 0;
        const gf_label_word *x = a->words + from, *y = b->words + at;
        while (same < n && same_word(a, x + same, b, y + same) &&
               !(same && y[same].flags & GF_LABEL_BREAK))
            same++;
        if (same == n) return true;
    }
    return false;
}

/* Counts of frequent phrases are the same where the others may be left out. */
static void has_the_frequent_ones(const gf_phrase_tally *all, const gf_label_cluster *c,
                                  uint32_t least)
{
    gf_error err;
    gf_phrase_tally some = {0};
    assert_ok(gf_phrase_tally_cluster(&some, c, least, &err));
    assert_true(least <= c->n_documents || some.keys.n == 0);
    for (uint32_t id = 0; id < all->keys.n; id++) {
        uint32_t at = gf_strings_find(&some.keys, gf_strings_at(&all->keys, id));
        if (at == GF_STRING_NONE)
            assert_true(all->at[id].count < least);
        else
            assert_int_equal(some.at[at].count, all->at[id].count);
    }
    gf_phrase_tally_release(&some);
}

static void counts_each_document_once(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    texts t = {0};
    const char *lines[DOCUMENTS];
    for (int i = 0; i < DOCUMENTS; i++)
        lines[i] = random_text(&t, &random);
    gf_label_cluster c = texts_cluster(&t, lines, DOCUMENTS, DOCUMENTS);
    gf_phrase_tally tally = {0};
    assert_ok(gf_phrase_tally_cluster(&tally, &c, 1, &err));
    gf_buffer key = {0};
    uint32_t seen = 0;
    for (uint32_t i = 0; i < DOCUMENTS; i++) {
        gf_phrase_walk w = gf_phrase_start(&c.documents[i], key);
        while (gf_phrase_next(&w)) {
            uint32_t id = gf_strings_find(&tally.keys, gf_buffer_view(&w.key)), documents = 0;
            assert_true(id != GF_STRING_NONE);
            for (uint32_t other = 0; other < DOCUMENTS; other++)
                documents += has_phrase(&c.documents[other], w.d, w.first, w.n_words);
            assert_int_equal(tally.at[id].count, documents);
            assert_int_equal(tally.at[id].n_words, w.n_words);
            assert_int_equal(tally.at[id].n_inner, gf_phrase_inner(&w));
            seen = id + 1 > seen ? id + 1 : seen;
        }
        key = w.key;
    }
    assert_int_equal(tally.keys.n, seen);
    for (uint32_t least = 2; least <= DOCUMENTS + 1; least++)
        has_the_frequent_ones(&tally, &c, least);
    gf_buffer_release(&key);
    gf_phrase_tally_release(&tally);
    texts_release(&t);
}

/* ---- forms ----------------------------------------------------------------------------------- */

static void check_form(const char *const *lines, uint32_t n, const char *expected)
{
    gf_error err;
    texts t = {0};
    gf_buffer key = {0}, form = {0};
    gf_label_cluster c = texts_cluster(&t, lines, n, n);
    gf_label_document d = texts_document(&t, "search engine");
    gf_phrase_walk w = gf_phrase_start(&d, key);
    assert_true(gf_phrase_next(&w) && gf_phrase_next(&w));
    assert_ok(gf_phrase_common_form(&c, gf_buffer_view(&w.key), &form, &err));
    assert_string_equal(gf_buffer_cstr(&form), expected);
    gf_buffer_release(&w.key);
    gf_buffer_release(&form);
    texts_release(&t);
}

static void shows_the_form_most_often_written(void **state)
{
    (void)state;
    const char *plural[] = {"Search engine", "search engines", "x search engines y", "engine"};
    const char *tie[] = {"search engine", "Search engine"};
    const char *twice[] = {"search engines, search engines", "Search engine"};
    const char *spaces[] = {"search \t\n engine", "search  engine", "search-engine"};
    const char *none[] = {"search the engine", "search, engine"};
    check_form(plural, 4, "search engines");
    check_form(tie, 2, "Search engine");
    check_form(twice, 2, "search engines");
    check_form(spaces, 3, "search engine");
    check_form(none, 2, "");
    check_form(NULL, 0, "");
}

/* ---- failed allocations ---------------------------------------------------------------------- */

static texts swept_texts;
static gf_label_cluster swept;

static gf_status tally_swept(void *context, gf_error *err)
{
    uint32_t *n = context;
    gf_phrase_tally t = {0};
    gf_status st = gf_phrase_tally_cluster(&t, &swept, 1, err);
    if (st == GF_OK) *n = t.keys.n;
    gf_phrase_tally_release(&t);
    return st;
}

static gf_status form_swept(void *context, gf_error *err)
{
    gf_buffer form = {0};
    gf_status st = gf_phrase_common_form(&swept, *(gf_slice *)context, &form, err);
    if (st == GF_OK) assert_string_equal(gf_buffer_cstr(&form), "apples");
    gf_buffer_release(&form);
    return st;
}

static void a_failed_allocation_is_reported(void **state)
{
    (void)state;
    const char *lines[] = {"apples and pears", "an apple, apples and _so on",
                           "apples _abcdefghijklmnopqrstuvwxyz _abcdefghijklmnopqrstuvwxyz grow"};
    uint32_t n = 0;
    swept = texts_cluster(&swept_texts, lines, 3, 3);
    gf_test_sweep(tally_swept, NULL, &n);
    assert_true(n > 15);
    gf_slice apples = gf_slice_of("t\0\0\0\0", 5);
    gf_test_sweep(form_swept, NULL, &apples);
    texts_release(&swept_texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_runs_of_one_to_four_words),
        cmocka_unit_test(long_phrases_are_left_out),
        cmocka_unit_test(keys_hold_terms_or_letters),
        cmocka_unit_test(counts_each_document_once),
        cmocka_unit_test(shows_the_form_most_often_written),
        cmocka_unit_test(a_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests_name("label_phrases", tests, NULL, NULL);
}
