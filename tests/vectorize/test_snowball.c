/*
 * Stems against Snowball's own vocabularies, every line. They follow Snowball 3.1; what libstemmer
 * 2.2.0 does otherwise is listed word by word in data/snowball-2.2.tsv. A library either agrees
 * with the vocabulary on every line, or is 2.2.0 on every line of that list and agrees on all
 * others.
 */
#include "support/test.h"

#include "base/strings.h"
#include "vectorize/text/stem.h"

/* The lines "language <TAB> word <TAB> stem" of the list that are of this language, as one set. */
static void read_differences(const char *language, gf_buffer *file, gf_strings *lines)
{
    gf_error err;
    gf_slice line;
    uint32_t id;
    gf_test_read_source("tests/vectorize/data/snowball-2.2.tsv", file);
    gf_slice rest = gf_buffer_view(file);
    while (gf_test_next_line(&rest, &line))
        if (gf_slice_starts(line, gf_slice_str(language)))
            assert_ok(gf_strings_add(lines, line, &id, NULL, &err));
}

static bool is_listed(const gf_strings *lines, const char *language, gf_slice word, gf_slice stem)
{
    gf_buffer line = {0};
    gf_buffer_format(&line, "%s\t%.*s\t%.*s", language, GF_SLICE_ARG(word), GF_SLICE_ARG(stem));
    bool found = gf_strings_find(lines, gf_buffer_view(&line)) != GF_STRING_NONE;
    gf_buffer_release(&line);
    return found;
}

static void check(const char *name)
{
    gf_error err;
    char path[64];
    gf_buffer words = {0}, stems = {0}, list = {0};
    gf_strings differences = {0};
    gf_stemmers stemmers = {0};
    const gf_language *language = gf_language_find(gf_slice_str(name));
    snprintf(path, sizeof path, "snowball/%s.voc.txt.gz", name);
    gf_test_read_data(path, &words);
    snprintf(path, sizeof path, "snowball/%s.output.txt.gz", name);
    gf_test_read_data(path, &stems);
    read_differences(name, &list, &differences);
    gf_slice word_rest = gf_buffer_view(&words), stem_rest = gf_buffer_view(&stems), word, stem,
             got;
    size_t n = 0, listed = 0, wrong = 0;
    while (gf_test_next_line(&word_rest, &word)) {
        assert_true(gf_test_next_line(&stem_rest, &stem));
        assert_ok(gf_stem(&stemmers, language, word, &got, &err));
        n++;
        if (gf_slice_equal(got, stem)) continue;
        if (is_listed(&differences, name, word, got)) {
            listed++;
            continue;
        }
        print_message("%s: %.*s -> %.*s, not %.*s\n", name, GF_SLICE_ARG(word), GF_SLICE_ARG(got),
                      GF_SLICE_ARG(stem));
        wrong++;
    }
    assert_false(gf_test_next_line(&stem_rest, &stem));
    print_message("%s: %zu words, %zu as libstemmer 2.2.0, %zu wrong\n", name, n, listed, wrong);
    assert_true(n > 20000);
    assert_int_equal(wrong, 0);
    assert_true(listed == 0 || listed == differences.n);
    gf_stemmers_release(&stemmers);
    gf_strings_release(&differences);
    gf_buffer_release(&words);
    gf_buffer_release(&stems);
    gf_buffer_release(&list);
}

static void english(void **state)
{
    (void)state;
    check("english");
}

static void porter(void **state)
{
    (void)state;
    check("porter");
}

static void german(void **state)
{
    (void)state;
    check("german");
}

static void french(void **state)
{
    (void)state;
    check("french");
}

static void russian(void **state)
{
    (void)state;
    check("russian");
}

static void spanish(void **state)
{
    (void)state;
    check("spanish");
}

int main(void)
{
    if (!gf_test_has_data()) return gf_test_skipped("stemmer vocabularies");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(english), cmocka_unit_test(porter),  cmocka_unit_test(german),
        cmocka_unit_test(french),  cmocka_unit_test(russian), cmocka_unit_test(spanish),
    };
    return cmocka_run_group_tests_name("snowball", tests, NULL, NULL);
}
