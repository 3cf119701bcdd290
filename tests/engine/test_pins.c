/* Pins: the column, builds that are kept and served again, labels that last. */
#include "tests/engine/fixture.h"

#include "engine/config/pins.h"

#include <string.h>

static void reads_and_writes_by_hand(void **state)
{
    (void)state;
    gf_error err;
    gf_pins p, again;
    gf_buffer after = {0};
    gf_slice column =
        GF_SLICE("{\"fine\":{\"builds\":[],\"labels\":{\"3\":\"x\"}},"
                 "\"default\":{\"builds\":[5,7],\"labels\":{\"17\":\"a \\\"b\\\"\"}}}");
    assert_ok(gf_pins_read(column, fixture_default(), &p, &err));
    assert_int_equal(p.n_builds, 2);
    assert_true(gf_pins_have_build(&p, 7));
    assert_false(gf_pins_have_build(&p, 6));
    assert_slice(*gf_pins_label(&p, 17), "a \"b\"");
    assert_null(gf_pins_label(&p, 3));
    p.n_builds = 1;
    assert_ok(gf_pins_write(column, fixture_default(), &p, &after, &err));
    assert_ok(gf_pins_read(gf_buffer_view(&after), GF_SLICE("fine"), &again, &err));
    assert_slice(*gf_pins_label(&again, 3), "x");
    gf_pins_release(&again);
    assert_ok(gf_pins_read(gf_buffer_view(&after), fixture_default(), &again, &err));
    assert_int_equal(again.n_builds, 1);
    assert_slice(*gf_pins_label(&again, 17), "a \"b\"");
    gf_pins_release(&again);
    gf_pins_release(&p);
    gf_buffer_release(&after);
    assert_ok(gf_pins_read(GF_SLICE(""), fixture_default(), &p, &err));
    assert_int_equal(p.n_builds + p.n_labels, 0);
    gf_pins_release(&p);
}

static void damage_is_told(void **state)
{
    (void)state;
    gf_error err;
    static const char *const bad[] = {"{",
                                      "[]",
                                      "7",
                                      "{\"default\":[]}",
                                      "{\"default\":{\"builds\":{}}}",
                                      "{\"default\":{\"builds\":[\"x\"]}}",
                                      "{\"default\":{\"labels\":[]}}",
                                      "{\"default\":{\"labels\":{\"x\":\"y\"}}}",
                                      "{\"default\":{\"labels\":{\"0\":\"y\"}}}",
                                      "{\"default\":{\"labels\":{\"5000000000\":\"y\"}}}",
                                      "{\"default\":{\"labels\":{\"1\":2}}}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        gf_pins p;
        memset(&p, 0x55, sizeof p);
        gf_pins untouched = p;
        assert_status(GF_ECORRUPT, gf_pins_read(gf_slice_str(bad[i]), fixture_default(), &p, &err));
        assert_memory_equal(&p, &untouched, sizeof p);
    }
}

/* ---- in a store ------------------------------------------------------------------------------ */

static void labels_are_checked(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    char longest[202];
    memset(longest, 'x', sizeof longest);
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    gf_place c = fixture_place("c");
    assert_status(GF_ENOTFOUND,
                  gf_pin_label(f.store, c, fixture_default(), 1, GF_SLICE("x"), &err));
    fixture_set(&f, "c", "default", "k", "3");
    fixture_rebuild(&f, "c");
    assert_ok(gf_pin_label(f.store, c, fixture_default(), 1, gf_slice_of(longest, 200), &err));
    assert_status(GF_EINVAL,
                  gf_pin_label(f.store, c, fixture_default(), 1, gf_slice_of(longest, 201), &err));
    assert_status(GF_EINVAL,
                  gf_pin_label(f.store, c, fixture_default(), 1, GF_SLICE("a\nb"), &err));
    assert_status(GF_EINVAL,
                  gf_pin_label(f.store, c, fixture_default(), 1, GF_SLICE("\xFF"), &err));
    assert_status(GF_EINVAL,
                  gf_pin_label(f.store, c, fixture_default(), 1, GF_SLICE("without terms"), &err));
    assert_status(GF_EEXISTS,
                  gf_pin_label(f.store, c, fixture_default(), 2, gf_slice_of(longest, 200), &err));
    /* Labels that differ in case alone would be taken for one another. */
    assert_ok(gf_pin_label(f.store, c, fixture_default(), 1, GF_SLICE("Späte Flüge"), &err));
    assert_status(GF_EEXISTS,
                  gf_pin_label(f.store, c, fixture_default(), 2, GF_SLICE("spÄte flÜge"), &err));
    assert_non_null(strstr(err.message, "cluster 1 is called \"Späte Flüge\" already"));
    assert_ok(gf_pin_label(f.store, c, fixture_default(), 1, GF_SLICE("späte Flüge"), &err));
    assert_status(GF_EINVAL,
                  gf_pin_label(f.store, c, fixture_default(), 1, GF_SLICE("Without Terms"), &err));
    assert_status(GF_ENOTFOUND,
                  gf_pin_label(f.store, c, GF_SLICE("other"), 1, GF_SLICE("x"), &err));
    fixture_is_sound(&f);
    fixture_close(&f);
}

static gf_status pin_all(void *context, gf_error *err)
{
    fixture *f = context;
    gf_place c = fixture_place("c");
    gf_status st = gf_pin_label(f->store, c, fixture_default(), 2, GF_SLICE("second"), err);
    if (st != GF_OK) return st;
    return gf_pin_label(f->store, c, fixture_default(), 2, GF_SLICE(""), err);
}

static void failed_allocations_are_told(void **state)
{
    (void)state;
    fixture f;
    fixture_open_subjects(&f);
    gf_test_sweep(pin_all, NULL, &f);
    fixture_is_sound(&f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes_by_hand),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(labels_are_checked),
        cmocka_unit_test(failed_allocations_are_told),
    };
    return cmocka_run_group_tests_name("pins", tests, NULL, NULL);
}
