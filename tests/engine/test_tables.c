/* Keys of the engine's tables, and memberships as columns. */
#include "tests/engine/fixture.h"

#include "engine/store/store_internal.h"

static void the_last_string_of_a_key_is_borrowed_or_decoded(void **state)
{
    (void)state;
    static const struct {
        gf_slice id;
        bool borrowed;
    } cases[] = {{GF_SLICE("17"), true},
                 {GF_SLICE(""), true},
                 {GF_SLICE("a\0b"), false},
                 {GF_SLICE("\0"), false},
                 {GF_SLICE("\xFF\x01"), true}};
    fixture f;
    gf_error err;
    gf_buffer build = {0}, key = {0}, memory = {0};
    fixture_open(&f);
    gf_table *t = f.store->tables.memberships;
    gf_tables_build_key(&build, GF_SLICE("n"), GF_SLICE("c\0d"), GF_SLICE("default"), 7);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gf_slice id, all;
        gf_buffer_reset(&key);
        gf_tables_membership_key(&key, gf_buffer_view(&build), cases[i].id);
        all = gf_buffer_view(&key);
        assert_ok(gf_tables_key_rest_string(t, all, build.len, &memory, &id, &err));
        assert_true(gf_slice_equal(id, cases[i].id));
        assert_int_equal(id.ptr == all.ptr + build.len, cases[i].borrowed);
        /* Cut, and with something behind it, it is no such key. */
        all.len--;
        assert_status(GF_ECORRUPT,
                      gf_tables_key_rest_string(t, all, build.len, &memory, &id, &err));
        gf_buffer_byte(&key, 'x');
        assert_status(GF_ECORRUPT, gf_tables_key_rest_string(t, gf_buffer_view(&key), build.len,
                                                             &memory, &id, &err));
        assert_status(GF_ECORRUPT, gf_tables_key_rest_string(t, gf_buffer_view(&key), key.len + 1,
                                                             &memory, &id, &err));
    }
    gf_buffer_release(&build);
    gf_buffer_release(&key);
    gf_buffer_release(&memory);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_string_of_a_key_is_borrowed_or_decoded),
    };
    return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
