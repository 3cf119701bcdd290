/* A namespace's defaults: what collections inherit, and that they are nothing else. */
#include "tests/engine/fixture.h"

static void expect_setting(fixture *f, const char *key, const char *value, gf_origin origin)
{
    fixture_setting l = fixture_look(f, key);
    assert_string_equal(l.value, value);
    assert_int_equal(l.origin, origin);
}

static gf_rebuild_outcome plain_rebuild(fixture *f)
{
    gf_error err;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
    gf_rebuild_result r;
    assert_ok(gf_rebuild(f->store, fixture_place("c"), fixture_default(), &o, &r, &err));
    return r.outcome;
}

/* Program, namespace, collection: the last that says something counts, and builds follow. */
static void defaults_are_inherited(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    expect_setting(&f, "k", "auto", GF_FROM_PROGRAM);
    assert_int_equal(plain_rebuild(&f), GF_REBUILD_MADE);
    fixture_set(&f, "", "default", "k", "2");
    expect_setting(&f, "k", "2", GF_FROM_NAMESPACE);
    assert_int_equal(plain_rebuild(&f), GF_REBUILD_MADE);
    assert_int_equal(plain_rebuild(&f), GF_REBUILD_UNMODIFIED);
    fixture_set(&f, "c", "default", "k", "auto"); /* the program's own, said here */
    expect_setting(&f, "k", "auto", GF_FROM_COLLECTION);
    assert_int_equal(plain_rebuild(&f), GF_REBUILD_MADE);
    fixture_set(&f, "", "default", "k", "5");
    assert_int_equal(plain_rebuild(&f), GF_REBUILD_UNMODIFIED);
    fixture_set(&f, "c", "default", "k", "");
    expect_setting(&f, "k", "5", GF_FROM_NAMESPACE);
    fixture_set(&f, "c", "default", "k", "5"); /* the same, and so nothing new to build by */
    expect_setting(&f, "k", "5", GF_FROM_COLLECTION);
    assert_int_equal(plain_rebuild(&f), GF_REBUILD_MADE);
    fixture_set(&f, "c", "default", "k", "");
    assert_int_equal(plain_rebuild(&f), GF_REBUILD_UNMODIFIED);
    fixture_set(&f, "", "default", "k", "");
    expect_setting(&f, "k", "auto", GF_FROM_PROGRAM);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static gf_status note_collection(void *context, const gf_collection_info *info, gf_error *err)
{
    (void)err;
    if (info->name.len == 0) fail_msg("defaults are listed as a collection");
    ++*(size_t *)context;
    return GF_OK;
}

/* They are no collection, and other namespaces have their own. */
static void defaults_are_nothing_else(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    size_t n = 0;
    gf_store_status status;
    gf_pair pair = {GF_SLICE("min_length"), GF_SLICE("9")};
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "", "fine", "k", "7");
    fixture_set(&f, "", "default", "seed", "3");
    assert_ok(
        gf_collections_visit(f.store, GF_SLICE("test"), GF_SLICE(""), note_collection, &n, &err));
    assert_int_equal(n, 1);
    assert_ok(gf_store_read_status(f.store, &status, &err));
    assert_int_equal(status.collections, 1);
    fixture_set(&f, "c", "fine", "seed", "1");
    fixture_setting l = {.key = "k"};
    assert_ok(gf_configuration_read(f.store, fixture_place("c"), GF_SLICE("fine"),
                                    fixture_note_setting, &l, &err));
    assert_string_equal(l.value, "7");
    assert_ok(gf_configuration_delete(f.store, fixture_place(""), GF_SLICE("fine"), &err));
    assert_status(GF_ENOTFOUND,
                  gf_configuration_delete(f.store, fixture_place(""), GF_SLICE("fine"), &err));
    l = (fixture_setting){.key = "k"};
    assert_ok(gf_configuration_read(f.store, fixture_place("c"), GF_SLICE("fine"),
                                    fixture_note_setting, &l, &err));
    assert_int_equal(l.origin, GF_FROM_PROGRAM);
    /* Each alone is a value, the two together are none. */
    fixture_set(&f, "", "default", "max_length", "8");
    assert_status(GF_EINVAL, gf_configuration_set(f.store, fixture_place("c"), fixture_default(),
                                                  &pair, 1, &err));
    gf_place other = {GF_SLICE("other"), {0}};
    l = (fixture_setting){.key = "seed"};
    assert_ok(
        gf_configuration_read(f.store, other, fixture_default(), fixture_note_setting, &l, &err));
    assert_string_equal(l.value, "1");
    fixture_is_sound(&f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_inherited),
        cmocka_unit_test(defaults_are_nothing_else),
    };
    return cmocka_run_group_tests_name("settings_defaults", tests, NULL, NULL);
}
