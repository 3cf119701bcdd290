/* Configurations: those of a namespace and of a collection, how they are listed and deleted. */
#include "tests/engine/fixture.h"

#include "engine/config/settings.h"

static gf_status note_info(void *context, const gf_configuration_info *info, gf_error *err)
{
    static const char origins[] = {'p', 'n', 'c'};
    gf_buffer *out = context;
    gf_buffer_slice(out, info->name);
    gf_buffer_byte(out, ':');
    gf_buffer_byte(out, origins[info->origin]);
    gf_buffer_str(out, info->rebuilt ? " " : "- ");
    return gf_buffer_check(out, err);
}

/* What a collection has, by name: (p)rogram, (n)amespace or (c)ollection; "-": rebuild=off. */
static void expect_configurations(fixture *f, const char *collection, const char *expected)
{
    gf_error err;
    gf_buffer list = {0};
    assert_ok(
        gf_configuration_list_visit(f->store, fixture_place(collection), note_info, &list, &err));
    assert_string_equal(gf_buffer_cstr(&list), expected);
    gf_buffer_release(&list);
}

static gf_status visit_rebuilt(void *context, gf_place where, gf_slice configuration,
                               gf_status status, const char *message,
                               const gf_rebuild_result *result, gf_error *err)
{
    gf_buffer *out = context;
    assert_int_equal(status, GF_OK);
    (void)message;
    if (result->outcome != GF_REBUILD_MADE) return GF_OK;
    gf_buffer_slice(out, where.collection);
    gf_buffer_byte(out, '/');
    gf_buffer_slice(out, configuration);
    gf_buffer_byte(out, ' ');
    return gf_buffer_check(out, err);
}

static void expect_rebuilt(fixture *f, const char *expected)
{
    gf_error err;
    gf_buffer list = {0};
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
    assert_ok(gf_rebuild_all(f->store, GF_SLICE("test"), GF_SLICE(""), GF_SLICE(""), &o,
                             visit_rebuilt, &list, &err));
    assert_string_equal(list.len ? gf_buffer_cstr(&list) : "", expected);
    gf_buffer_release(&list);
}

static gf_status delete_in(fixture *f, const char *collection, const char *configuration,
                           gf_error *err)
{
    return gf_configuration_delete(f->store, fixture_place(collection), gf_slice_str(configuration),
                                   err);
}

static uint64_t builds_of_store(fixture *f)
{
    gf_error err;
    gf_store_status status;
    assert_ok(gf_store_read_status(f->store, &status, &err));
    return status.builds;
}

/* All collections have it, also those that are made later, and one can override it or not take it.
 */
static void a_namespace_has_configurations(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_view *view;
    fixture_open(&f);
    fixture_put_subjects(&f, "a");
    fixture_put_subjects(&f, "b");
    fixture_set(&f, "", "fine", "k", "2");
    fixture_put_subjects(&f, "c");
    expect_configurations(&f, "a", "default:p fine:n ");
    expect_configurations(&f, "", "default:p fine:n ");
    fixture_set(&f, "b", "fine", "k", "3");
    expect_configurations(&f, "b", "default:p fine:c ");
    fixture_set(&f, "c", "fine", "rebuild", "off");
    expect_configurations(&f, "c", "default:p fine:c- ");
    expect_rebuilt(&f, "a/default a/fine b/default b/fine c/default ");
    expect_rebuilt(&f, "");
    assert_ok(gf_view_open(f.store, fixture_place("a"), GF_SLICE("fine"), 0, &view, &err));
    assert_int_equal(gf_view_build(view)->k, 2);
    gf_view_close(view);
    assert_ok(gf_view_open(f.store, fixture_place("b"), GF_SLICE("fine"), 0, &view, &err));
    assert_int_equal(gf_view_build(view)->k, 3);
    gf_view_close(view);
    assert_status(GF_ENOTFOUND,
                  gf_view_open(f.store, fixture_place("c"), GF_SLICE("fine"), 0, &view, &err));
    fixture_set(&f, "", "fine", "k", "4");
    expect_rebuilt(&f, "a/fine ");
    fixture_set(&f, "", "fine", "rebuild", "off"); /* all leave it out, but who says otherwise */
    expect_configurations(&f, "a", "default:p fine:n- ");
    fixture_set(&f, "c", "fine", "rebuild", "on");
    expect_rebuilt(&f, "c/fine ");
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void inherited_ones_are_deleted(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_subjects(&f, "a");
    fixture_put_subjects(&f, "b");
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "", "fine", "k", "2");
    fixture_set(&f, "b", "fine", "k", "3");
    expect_rebuilt(&f, "a/default a/fine b/default b/fine c/default c/fine ");
    assert_int_equal(builds_of_store(&f), 6);
    /* One that a collection only inherits stays, until it is left out. */
    assert_status(GF_EINVAL, delete_in(&f, "c", "fine", &err));
    assert_non_null(strstr(err.message, "comes from the defaults of its namespace"));
    fixture_set(&f, "c", "fine", "rebuild", "off");
    assert_ok(delete_in(&f, "c", "fine", &err));
    expect_configurations(&f, "c", "default:p fine:c- ");
    assert_int_equal(builds_of_store(&f), 5);
    expect_rebuilt(&f, "");
    /* What overrides it goes, and it is as inherited again. */
    assert_ok(delete_in(&f, "b", "fine", &err));
    expect_configurations(&f, "b", "default:p fine:n ");
    assert_int_equal(builds_of_store(&f), 4);
    expect_rebuilt(&f, "b/fine ");
    /* With the namespace's go the builds of those that have it from there alone. */
    fixture_set(&f, "b", "fine", "seed", "7");
    assert_ok(delete_in(&f, "", "fine", &err));
    expect_configurations(&f, "a", "default:p ");
    expect_configurations(&f, "b", "default:p fine:c ");
    assert_int_equal(builds_of_store(&f), 4);
    assert_status(GF_ENOTFOUND, delete_in(&f, "", "fine", &err));
    assert_status(GF_ENOTFOUND, delete_in(&f, "a", "fine", &err));
    fixture_set(&f, "", "default", "seed", "5");
    assert_ok(delete_in(&f, "a", "default", &err));
    assert_ok(delete_in(&f, "", "default", &err)); /* the builds of "default" are theirs */
    assert_int_equal(builds_of_store(&f), 3);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static gf_status note_name(void *context, const gf_configuration_info *info, gf_error *err)
{
    gf_buffer_string(context, info->name);
    return gf_buffer_check(context, err);
}

static void names_are_listed_in_order(void **state)
{
    (void)state;
    static const gf_slice names[] = {
        {"\0", 1},        {"a", 1},       {"a b", 3}, {"a\"b\\", 4},
        {"a:rebuilt", 9}, {"default", 7}, {"z", 1},   {"\xCE\xA9", 2},
    };
    enum { N = sizeof names / sizeof names[0] };
    fixture f;
    gf_error err;
    gf_buffer list = {0};
    gf_rebuild_result results[N];
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
    gf_pair pair = {GF_SLICE("seed"), GF_SLICE("2")};
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    for (size_t i = N; i-- > 0;) { /* "default" is made last, by nobody */
        if (i != 5)
            assert_ok(gf_configuration_set(f.store, fixture_place("c"), names[i], &pair, 1, &err));
        assert_ok(gf_rebuild(f.store, fixture_place("c"), names[i], &o, &results[i], &err));
    }
    assert_ok(gf_configuration_list_visit(f.store, fixture_place("c"), note_name, &list, &err));
    gf_slice rest = gf_buffer_view(&list), name;
    for (size_t i = 0; i < N; i++) {
        gf_view *view;
        assert_true(gf_slice_take_string(&rest, &name) && gf_slice_equal(name, names[i]));
        assert_ok(gf_view_open(f.store, fixture_place("c"), names[i], 0, &view, &err));
        assert_int_equal(gf_view_build(view)->build, results[i].build.build);
        gf_view_close(view);
    }
    assert_int_equal(rest.len, 0);
    gf_buffer_release(&list);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* A column of settings that is damaged is told, not taken for the defaults. */
static void damaged_settings_are_told(void **state)
{
    (void)state;
    static const char *const damaged[] = {"{",
                                          "[]x",
                                          "{\"default\":{\"k\":1}}",
                                          "{\"default\":{\"no such\":\"1\"}}",
                                          "{\"default\":{\"k\":\"none\"}}",
                                          "{\"default\":[]}",
                                          "[\"default\"]",
                                          "7",
                                          "{\"default\":7}"};
    gf_error err;
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        gf_settings_map map = {0};
        gf_resolved resolved;
        gf_status st =
            gf_settings_map_read(gf_slice_str(damaged[i]), fixture_default(), &map, &err);
        if (st == GF_OK) st = gf_settings_resolve(&map, fixture_default(), &resolved, &err);
        if (st == GF_OK) fail_msg("%s is taken for settings", damaged[i]);
        gf_settings_map_release(&map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_namespace_has_configurations),
        cmocka_unit_test(inherited_ones_are_deleted),
        cmocka_unit_test(names_are_listed_in_order),
        cmocka_unit_test(damaged_settings_are_told),
    };
    return cmocka_run_group_tests_name("configurations", tests, NULL, NULL);
}
