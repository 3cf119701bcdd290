/* config set, show, list, delete, keys. */
#include "support/test.h"
#include "tests/api/library.h"
#include "tests/api/transport.h"

static uint64_t find_key(transport *t, const char *key)
{
    for (uint64_t i = 0; i < t->n_rows; i++)
        if (gf_slice_equal(transport_text(t, i, "key"), gf_slice_str(key))) return i;
    fail_msg("no key %s", key);
    return 0;
}

static void assert_setting(transport *t, const char *key, const char *value, const char *from)
{
    uint64_t i = find_key(t, key);
    assert_slice(transport_text(t, i, "value"), value);
    assert_slice(transport_text(t, i, "from"), from);
}

static void keys(void **state)
{
    (void)state;
    transport t;
    size_t n;
    const gf_setting *settings = gf_settings(&n);
    transport_open(&t);
    assert_run(&t, "config keys");
    assert_int_equal(t.n_rows, n);
    for (uint64_t i = 0; i < n; i++) {
        assert_string_equal(transport_members(&t, i), "key values initial meaning");
        assert_slice(transport_text(&t, i, "key"), settings[i].name);
    }
    assert_null(t.store);
    transport_close(&t);
}

static void set_and_take_back(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, false);
    assert_run(&t, "config set", "collection", "mid", "config", "fine", "set", "k=5", "set",
               "stop_words=off");
    assert_string_equal(transport_members(&t, 0), "collection configuration set");
    assert_run(&t, "config show", "collection", "mid", "config", "fine");
    assert_string_equal(transport_members(&t, 0), "key value from values initial meaning");
    assert_setting(&t, "k", "5", "collection");
    assert_setting(&t, "stop_words", "off", "collection");
    assert_setting(&t, "keep", "2", "default");
    assert_run(&t, "config set", "collection", "mid", "config", "fine", "set", "k=");
    assert_run(&t, "config show", "collection", "mid", "config", "fine");
    assert_setting(&t, "k", "auto", "default");
    assert_setting(&t, "stop_words", "off", "collection");
    assert_run(&t, "config show", "collection", "mid");
    assert_setting(&t, "k", "3", "collection");
    assert_run(&t, "config list", "collection", "mid");
    assert_int_equal(t.n_rows, 2);
    assert_slice(transport_text(&t, 0, "configuration"), "default");
    assert_slice(transport_text(&t, 1, "configuration"), "fine");
    assert_run(&t, "config delete", "collection", "mid", "config", "fine");
    assert_string_equal(transport_members(&t, 0), "collection configuration deleted");
    assert_run(&t, "config list", "collection", "mid");
    assert_int_equal(t.n_rows, 1);
    assert_run(&t, "config delete", "collection", "mid");
    assert_run(&t, "config show", "collection", "mid");
    assert_setting(&t, "k", "auto", "default");
    transport_close(&t);
}

/* All of a call's pairs or none; the nearest key is named. */
static void refused(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    assert_refused(GF_ENOTFOUND, "", &t, "config set", "collection", "mid", "set", "k=3");
    library_mid(&t, false);
    assert_refused(GF_EINVAL, "did you mean \"stop_words\"?", &t, "config set", "collection", "mid",
                   "set", "k=9", "set", "stopwords=none");
    assert_refused(GF_EINVAL, "k: \"many\"", &t, "config set", "collection", "mid", "set",
                   "k=many");
    assert_refused(GF_EINVAL, "\"k\" is not key=value", &t, "config set", "collection", "mid",
                   "set", "k");
    assert_refused(GF_EINVAL, "there is no setting \"\"", &t, "config set", "collection", "mid",
                   "set", "=3");
    assert_refused(GF_EINVAL, "control character", &t, "config set", "collection", "mid", "set",
                   "language=a\nb");
    assert_run(&t, "config show", "collection", "mid");
    assert_setting(&t, "k", "3", "collection");
    assert_refused(GF_ENOTFOUND, "there is no configuration \"fin\"", &t, "config show",
                   "collection", "mid", "config", "fin");
    assert_refused(GF_ENOTFOUND, "fin", &t, "config delete", "collection", "mid", "config", "fin");
    transport_close(&t);
}

/* The settings of a build are told with it. */
static void in_builds(void **state)
{
    (void)state;
    transport t;
    gf_json_value k;
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "builds", "collection", "mid");
    assert_true(gf_json_member(transport_member(&t, 0, "settings"), "k", &k));
    assert_slice(gf_json_get_string(k), "3");
    assert_true(transport_text(&t, 0, "versions").len > 0);
    /* Deleting the configuration takes its builds. */
    assert_run(&t, "config delete", "collection", "mid");
    assert_run(&t, "builds", "collection", "mid");
    assert_int_equal(t.n_rows, 0);
    assert_refused(GF_ENOTFOUND, "", &t, "clusters", "collection", "mid");
    transport_close(&t);
}

static void assert_build_has(transport *t, const char *key, const char *value)
{
    gf_json_value v;
    assert_run(t, "builds", "collection", "mid");
    bool has = gf_json_member(transport_member(t, 0, "settings"), key, &v);
    assert_int_equal(has, value != NULL);
    if (has) assert_slice(gf_json_get_string(v), value);
}

/* Settings of one build: the configuration stays, the build tells, the next one goes back. */
static void for_once(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "rebuild", "collection", "mid", "set", "k=2", "set", "stem=off");
    assert_slice(transport_text(&t, 0, "outcome"), "rebuilt");
    assert_int_equal(transport_number(&t, 0, "k"), 2);
    assert_build_has(&t, "k", "2");
    assert_build_has(&t, "stem", "off");
    assert_run(&t, "config show", "collection", "mid");
    assert_setting(&t, "k", "3", "collection");
    assert_setting(&t, "stem", "on", "default");
    /* The same again is nothing new, in whatever order; more or less of it is. */
    assert_run(&t, "rebuild", "collection", "mid", "set", "stem=off", "set", "k=2");
    assert_slice(transport_text(&t, 0, "outcome"), "unmodified");
    assert_run(&t, "rebuild", "collection", "mid", "set", "k=2", "dry-run", "true");
    assert_slice(transport_text(&t, 0, "outcome"), "would be rebuilt");
    assert_int_equal(transport_number(&t, 0, "expected_k"), 2);
    assert_run(&t, "rebuild", "collection", "mid");
    assert_slice(transport_text(&t, 0, "outcome"), "rebuilt");
    assert_int_equal(transport_number(&t, 0, "k"), 3);
    assert_build_has(&t, "k", "3");
    assert_build_has(&t, "stem", NULL);
    assert_run(&t, "rebuild", "collection", "mid", "set", "k=3");
    assert_slice(transport_text(&t, 0, "outcome"), "unmodified");
    transport_close(&t);
}

/* An empty value leaves what the namespace says, else what is initial. */
static void for_once_back_to_default(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, false);
    assert_run(&t, "config set", "all", "true", "set", "k=2");
    assert_run(&t, "rebuild", "collection", "mid");
    assert_build_has(&t, "k", "3");
    assert_run(&t, "rebuild", "collection", "mid", "set", "k=");
    assert_build_has(&t, "k", "2");
    assert_run(&t, "config set", "all", "true", "set", "k=");
    assert_run(&t, "rebuild", "collection", "mid", "set", "k=");
    assert_build_has(&t, "k", NULL);
    transport_close(&t);
}

/* Of all collections, small ones that are built together among them, and of a pattern. */
static void for_once_of_all(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "rebuild", "all", "true", "set", "k=2");
    assert_int_equal(t.n_rows, 1);
    assert_int_equal(transport_number(&t, 0, "k"), 2);
    assert_run(&t, "rebuild", "all", "true", "set", "k=2");
    assert_slice(transport_text(&t, 0, "outcome"), "unmodified");
    assert_run(&t, "rebuild", "collection", "m*", "set", "k=1");
    assert_int_equal(transport_number(&t, 0, "k"), 1);
    transport_close(&t);
}

static uint64_t served_k(transport *t, const char *collection)
{
    assert_run(t, "builds", "collection", collection);
    return (uint64_t)transport_number(t, 0, "k");
}

/* k=auto chooses anew after a build of another k, and of another max_k. */
static void for_once_of_auto(void **state)
{
    (void)state;
    static const char *const words[] = {"apple", "pear", "plum", "fig"};
    transport t;
    gf_buffer lines = {0};
    transport_open(&t);
    for (int i = 0; i < 80; i++)
        gf_buffer_format(&lines, "{\"id\":\"%d\",\"text\":\"%s %s%c %s%c\"}\n", i, words[i % 4],
                         words[i % 4], 'a' + i % 5, words[i % 4], 'f' + i % 7);
    transport_put(&t, "fruit", gf_buffer_cstr(&lines));
    gf_buffer_release(&lines);
    assert_run(&t, "rebuild", "collection", "fruit", "threads", "1");
    uint64_t chosen = served_k(&t, "fruit");
    assert_true(chosen > 2);
    assert_run(&t, "rebuild", "collection", "fruit", "set", "k=9", "threads", "1");
    assert_int_equal(served_k(&t, "fruit"), 9);
    assert_run(&t, "rebuild", "collection", "fruit", "threads", "1");
    assert_int_equal(served_k(&t, "fruit"), chosen);
    assert_run(&t, "rebuild", "collection", "fruit", "explain-k", "true", "set", "max_k=2");
    for (uint64_t i = 0; i < t.n_rows; i++)
        assert_true(transport_number(&t, i, "k") <= 2);
    assert_run(&t, "rebuild", "collection", "fruit", "set", "max_k=2", "threads", "1");
    assert_true(served_k(&t, "fruit") <= 2);
    assert_run(&t, "rebuild", "collection", "fruit", "threads", "1");
    assert_int_equal(served_k(&t, "fruit"), chosen);
    transport_close(&t);
}

/* Refused before anything is built; what fails for such settings is no failure of the configuration. */
static void for_once_refused(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_refused(GF_EINVAL, "did you mean \"stop_words\"?", &t, "rebuild", "collection", "mid",
                   "set", "stopwords=off");
    assert_refused(GF_EINVAL, "k: \"many\"", &t, "rebuild", "all", "true", "set", "k=many");
    assert_refused(GF_EINVAL, "not key=value", &t, "rebuild", "collection", "mid", "set", "k");
    assert_refused(GF_EINVAL, "no setting of a single build", &t, "rebuild", "collection", "mid",
                   "set", "rebuild=off");
    assert_refused(GF_EINVAL, "no setting of a single build", &t, "rebuild", "all", "true", "set",
                   "rebuild=on");
    assert_refused(GF_EINVAL, "no setting of a single build", &t, "rebuild", "collection", "mid",
                   "set", "keep=1");
    assert_refused(GF_EINVAL, "no setting of a single build", &t, "rebuild", "collection", "mid",
                   "explain-k", "true", "set", "rebuild=on");
    gf_error err;
    assert_int_not_equal(transport_run(&t, &err, "rebuild", "collection", "mid", "set",
                                       "vectors=nowhere/at/all", NULL),
                         GF_OK);
    assert_run(&t, "status");
    assert_int_equal(transport_number(&t, 0, "failed"), 0);
    assert_build_has(&t, "k", "3");
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys),
                                       cmocka_unit_test(set_and_take_back),
                                       cmocka_unit_test(refused),
                                       cmocka_unit_test(in_builds),
                                       cmocka_unit_test(for_once),
                                       cmocka_unit_test(for_once_back_to_default),
                                       cmocka_unit_test(for_once_of_all),
                                       cmocka_unit_test(for_once_of_auto),
                                       cmocka_unit_test(for_once_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
