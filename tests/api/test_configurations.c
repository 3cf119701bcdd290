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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys), cmocka_unit_test(set_and_take_back),
                                       cmocka_unit_test(refused), cmocka_unit_test(in_builds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
