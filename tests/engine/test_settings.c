/* Each setting: what it takes, refuses, means for a build, and that it is documented. */
#include "tests/engine/fixture.h"

#include "engine/config/settings.h"

#include <stdlib.h>

/* What each key takes and refuses, separated by '|'. */
typedef struct examples {
    const char *name, *good, *bad;
} examples;

static const examples table[] = {
    {"k", "auto|1|2|1000000", "0|1000001|-1|+1|1.0|1e3| 1|Auto|18446744073709551617"},
    {"max_k", "auto|1|7|1000000", "0|1000001|none"},
    {"seed", "0|1|42|18446744073709551615", "auto|-1|18446744073709551616|0x10"},
    {"start", "served|fresh", "old|on|1"},
    {"lsa", "0|1|100|1000", "-1|1001|auto|on|1.5"},
    {"restarts", "auto|1|3|100", "0|101|on"},
    {"max_passes", "1|100|10000", "0|10001|auto"},
    {"tolerance", "0|0.001|0.5|1e-3", "0.51|-0.1|nan|inf|1|0,1|auto|.|1e400"},
    {"polish", "on|off", "true|1|ON|o"},
    {"refine", "on|off", "auto|1"},
    {"effort", "full|quick|thorough", "on|fast|Quick|1"},
    {"language", "auto|none|english|German|de|eng|fr|russian", "englisch|xx|all|d e"},
    {"stop_words", "on|off", "english|none"},
    {"more_stop_words", "word|several words|\xC3\xBC\xC3\x9F \"|=", "\n|a\tb|\x01|\xFF"},
    {"stem", "on|off", "yes"},
    {"ngrams", "1|2|3|1-1|1-2|1-3|2-3|3-3", "0|4|2-1|1-4|1,2|1-|-2|12|1 2"},
    {"min_df", "auto|0|1|2|1000|0.01|1%|0.5|100%|1.0", "-1|1.5|101%|half|%|1e99"},
    {"max_df", "auto|1|1000|0.5|50%|1.0|100%", "-1|0|0.0|0%|1.01|200%|x"},
    {"max_terms", "0|1|100000|4294967295", "-1|4294967296|auto"},
    {"tf", "log|raw|binary|relative", "ln|Log|0"},
    {"idf", "log|log_plus_one|smooth|none|log^1.5|log_plus_one^1.5|smooth^1.5",
     "off|log+1|none^1.5|log^2"},
    {"min_length", "1|2|64", "0|1025|auto|-1"},
    {"max_length", "2|64|1024", "0|1025|none"},
    {"urls", "skip|split|keep", "word|on"},
    {"mentions", "word|skip|keep", "split"},
    {"hashtags", "word|skip|keep", "split|#"},
    {"numbers", "on|off", "keep"},
    {"cjk", "words|bigrams", "word|trigrams"},
    {"entities", "on|off", "skip"},
    {"topics", "auto|only|all", "some|none|Only|1"},
    {"near_duplicates", "all|once", "off|on|Once|1"},
    {"near_min", "0.1|0.8|1|.95|9e-1", "0|0.09|1.1|nan|-1|auto"},
    {"keep", "1|2|1000", "0|1001|auto|all"},
    {"rebuild", "on|off", "no|auto"},
    {"store_vectors", "on|off", "auto"},
    {"store_index", "auto|on|off", "true"},
    {"vectors", "/data/words.vec|words.txt.gz|a table", "\n|a\tb|\x01|\xFF"},
    {"filter", "type=praise|a!=b,c<5|stars>=4.5|a=|lang=en|a=x\\,y", "type|=x|a!b|a=b,|,|id=1"},
    {"since", "2026-01-01|2026-01-01T10:00:00Z|30d|12h|4w|1277293943",
     "x|d|30m|1.5d|-3d|2026-13-01"},
    {"until", "2026-01-01|0d|52w", "tomorrow|1y|9999999d"},
    {"within", "fine:14|fine:g3|a:b:2", "14|:14|fine:|fine:0|fine:g|fine:x1|fine:-1|default:14"},
};
enum { KEYS = sizeof table / sizeof table[0] };

static bool next_value(gf_slice *rest, gf_slice *value)
{
    if (!rest->ptr) return false;
    const char *end = memchr(rest->ptr, '|', rest->len);
    *value = gf_slice_of(rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len);
    *rest = end ? gf_slice_skip(*rest, value->len + 1) : (gf_slice){0};
    return true;
}

static gf_status set_one(fixture *f, const char *key, gf_slice value, gf_error *err)
{
    gf_pair pair = {gf_slice_str(key), value};
    return gf_configuration_set(f->store, fixture_place("c"), fixture_default(), &pair, 1, err);
}

static void the_table_has_every_key(void **state)
{
    (void)state;
    size_t n;
    const gf_setting *all = gf_settings(&n);
    assert_int_equal(n, KEYS);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(all[i].name, table[i].name);
}

/* Where the values are words, such as "skip, split, keep", each of them is among the examples. */
static void documented_words_are_examples(void **state)
{
    (void)state;
    size_t n;
    const gf_setting *all = gf_settings(&n);
    for (size_t i = 0; i < n; i++) {
        char words[256], *rest = words;
        snprintf(words, sizeof words, "%s", all[i].values);
        for (char *word = strtok_r(words, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
            bool is_choice = !strpbrk(all[i].values, "0123456789'");
            if (!is_choice || strstr(all[i].values, "separated")) continue;
            gf_slice good = gf_slice_str(table[i].good), value;
            bool found = false;
            while (next_value(&good, &value))
                found = found || gf_slice_equal(value, gf_slice_str(word));
            if (!found) fail_msg("%s: \"%s\" is not tried", all[i].name, word);
        }
    }
}

static void good_values_are_kept_and_go_again(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    size_t n;
    const gf_setting *all = gf_settings(&n);
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    for (size_t i = 0; i < n; i++) {
        gf_slice good = gf_slice_str(table[i].good), value;
        while (next_value(&good, &value)) {
            assert_ok(set_one(&f, all[i].name, value, &err));
            fixture_setting l = fixture_look(&f, all[i].name);
            assert_slice(value, l.value);
            assert_int_equal(l.origin, GF_FROM_COLLECTION);
        }
        assert_ok(set_one(&f, all[i].name, GF_SLICE(""), &err));
        fixture_setting l = fixture_look(&f, all[i].name);
        assert_string_equal(l.value, all[i].initial);
        assert_int_equal(l.origin, GF_FROM_PROGRAM);
    }
    gf_build_info b = fixture_rebuild(&f, "c");
    assert_int_equal(b.documents, 12);
    fixture_close(&f);
}

/* The default itself may be set, whatever is documented. */
static void defaults_are_values(void **state)
{
    (void)state;
    size_t n;
    gf_error err;
    const gf_setting *all = gf_settings(&n);
    for (size_t i = 0; i < n; i++)
        if (*all[i].initial) assert_ok(gf_setting_check(i, gf_slice_str(all[i].initial), &err));
}

static void bad_values_are_refused(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer before = {0}, after = {0};
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "7");
    fixture_dump(&f, &before);
    for (size_t i = 0; i < KEYS; i++) {
        gf_slice bad = gf_slice_str(table[i].bad), value;
        while (next_value(&bad, &value)) {
            gf_pair pairs[2] = {{GF_SLICE("seed"), GF_SLICE("5")},
                                {gf_slice_str(table[i].name), value}};
            gf_status st = gf_configuration_set(f.store, fixture_place("c"), fixture_default(),
                                                pairs, 2, &err);
            if (st != GF_EINVAL)
                fail_msg("%s=%.*s: %s", table[i].name, GF_SLICE_ARG(value), gf_status_name(st));
        }
    }
    fixture_dump(&f, &after);
    assert_true(gf_slice_equal(gf_buffer_view(&before), gf_buffer_view(&after)));
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    fixture_close(&f);
}

static void messages_say_what_to_do(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    assert_status(GF_EINVAL, set_one(&f, "ngram", GF_SLICE("2"), &err));
    assert_string_equal(err.message, "there is no setting \"ngram\"; did you mean \"ngrams\"?");
    assert_status(GF_EINVAL, set_one(&f, "stopwords", GF_SLICE("on"), &err));
    assert_non_null(strstr(err.message, "stop_words"));
    assert_status(GF_EINVAL, set_one(&f, "", GF_SLICE("on"), &err));
    assert_status(GF_EINVAL, set_one(&f, "k", GF_SLICE("many"), &err));
    assert_string_equal(err.message, "k: \"many\" is not one of: auto, or 1 to 1000000");
    assert_status(GF_EINVAL, set_one(&f, "language", GF_SLICE("englsh"), &err));
    assert_non_null(strstr(err.message, "did you mean \"english\""));
    /* Each is a value, the two together are none. */
    gf_pair pairs[2] = {{GF_SLICE("min_length"), GF_SLICE("9")},
                        {GF_SLICE("max_length"), GF_SLICE("8")}};
    assert_status(GF_EINVAL, gf_configuration_set(f.store, fixture_place("c"), fixture_default(),
                                                  pairs, 2, &err));
    assert_status(GF_ENOTFOUND, gf_configuration_set(f.store, fixture_place("d"), fixture_default(),
                                                     pairs, 1, &err));
    assert_status(GF_EINVAL,
                  gf_configuration_set(f.store, fixture_place("c"), GF_SLICE(""), pairs, 1, &err));
    fixture_close(&f);
}

/* Whatever is accepted can be built with, and what it says of a build holds. */
static void every_good_value_builds(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    for (size_t i = 0; i < KEYS; i++) {
        gf_slice good = gf_slice_str(table[i].good), value;
        if (strcmp(table[i].name, "vectors") == 0) continue; /* wants a file: test_word_rows.c */
        if (strcmp(table[i].name, "within") == 0) continue; /* wants another build: test_within.c */
        if (strcmp(table[i].name, "topics") == 0) continue; /* wants a topic: test_topics.c */
        while (next_value(&good, &value)) {
            char text[64];
            snprintf(text, sizeof text, "%.*s", GF_SLICE_ARG(value));
            fixture_set(&f, "c", "default", table[i].name, text);
            gf_build_info b = fixture_rebuild(&f, "c");
            bool is_part = strstr("filter since until", table[i].name) != NULL;
            fixture_check_served(&f, "c", is_part ? b.documents : 12);
            bool is_k = strcmp(table[i].name, "k") == 0 || strcmp(table[i].name, "max_k") == 0;
            if (is_k && atoi(text) && b.k > (uint32_t)atoi(text)) fail_msg("%s: %u", text, b.k);
            assert_int_equal(b.without_terms, 0);
        }
        fixture_set(&f, "c", "default", table[i].name, "");
    }
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void the_page_has_the_same_table(void **state)
{
    (void)state;
    size_t n, at = 0;
    const gf_setting *all = gf_settings(&n);
    gf_buffer page = {0}, row = {0};
    gf_test_read_source("docs/configuration.md", &page);
    gf_slice rest = gf_buffer_view(&page), line;
    while (gf_test_next_line(&rest, &line)) {
        if (!gf_slice_starts(line, GF_SLICE("| `"))) continue;
        assert_true(at < n);
        const char *quote = *all[at].initial ? "`" : "";
        gf_buffer_reset(&row);
        gf_buffer_format(&row, "| `%s` | %s | %s | %s%s%s%s|", all[at].name, all[at].meaning,
                         all[at].values, quote, all[at].initial, quote,
                         *all[at].initial ? " " : "");
        assert_slice(line, gf_buffer_cstr(&row));
        at++;
    }
    assert_int_equal(at, n);
    gf_buffer_release(&page);
    gf_buffer_release(&row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_has_every_key),
        cmocka_unit_test(documented_words_are_examples),
        cmocka_unit_test(good_values_are_kept_and_go_again),
        cmocka_unit_test(defaults_are_values),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(messages_say_what_to_do),
        cmocka_unit_test(every_good_value_builds),
        cmocka_unit_test(the_page_has_the_same_table),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
