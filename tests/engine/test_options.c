/* Options of another version, or that nobody initialised, are refused in words by whoever takes them. */
#include "tests/engine/fixture.h"

#include "engine/store/store_internal.h"

static void is_refused(gf_status st, const gf_error *err, const char *name)
{
    assert_int_equal(st, GF_EINVAL);
    assert_non_null(strstr(err->message, name));
    assert_non_null(strstr(err->message, "version 0, not 1"));
}

static void options_need_their_version(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_store *store = NULL;
    gf_put *put = NULL;
    gf_scan *scan = NULL;
    gf_rebuild_result built;
    fixture_open(&f);
    gf_place where = {GF_SLICE("test"), GF_SLICE("c")};
    is_refused(gf_store_open(gf_test_folder(), &(gf_store_options){.create = true}, &store, &err),
               &err, "gf_store_options");
    is_refused(gf_put_open(f.store, &(gf_put_options){.name_space = GF_SLICE("test")}, &put, &err),
               &err, "gf_put_options");
    is_refused(gf_rebuild(f.store, where, GF_SLICE("default"), &(gf_rebuild_options){.force = true},
                          &built, &err),
               &err, "gf_rebuild_options");
    is_refused(gf_rebuild_all(f.store, where.name_space, GF_SLICE(""), GF_SLICE(""),
                              &(gf_rebuild_options){.force = true}, NULL, NULL, &err),
               &err, "gf_rebuild_options");
    is_refused(gf_search(f.store, where, GF_SLICE("word"), &(gf_search_options){.limit = 1}, NULL,
                         NULL, &err),
               &err, "gf_search_options");
    is_refused(
        gf_similar(f.store, where, &(gf_similar_options){.id = GF_SLICE("a")}, NULL, NULL, &err),
        &err, "gf_similar_options");
    is_refused(gf_scan_open(f.store->tables.builds, &(gf_scan_options){.limit = 1}, &scan, &err),
               &err, "gf_scan_options");
    assert_null(store);
    assert_null(put);
    assert_null(scan);
    fixture_close(&f);
}

static void an_initialiser_sets_the_version(void **state)
{
    (void)state;
    gf_put_options o = GF_PUT_OPTIONS(.max_document = 7);
    gf_store_options empty = GF_STORE_OPTIONS();
    assert_int_equal(o.version, GF_PUT_OPTIONS_VERSION);
    assert_int_equal(o.max_document, 7);
    assert_int_equal(o.max_collections, 0);
    assert_int_equal(empty.version, GF_STORE_OPTIONS_VERSION);
    assert_false(empty.create);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_need_their_version),
        cmocka_unit_test(an_initialiser_sets_the_version),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
