/* What a put refuses: documents that are wrong or too large, and collections without end. */
#include "tests/engine/fixture.h"

static char filler[1 << 16];

static gf_status try(gf_put *put, gf_slice id, gf_slice text, gf_field field, gf_error *err)
{
    gf_document d = {.id = id, .text = text, .fields = &field, .n_fields = 1};
    return gf_put_document(put, GF_SLICE("c"), &d, err);
}

static void try_fields(gf_put *put)
{
    gf_error err;
    static gf_field many[GF_MAX_FIELDS + 1];
    static char number[GF_MAX_FIELDS + 1][8];
    for (int i = 0; i <= GF_MAX_FIELDS; i++) {
        snprintf(number[i], sizeof number[i], "f%d", i);
        many[i] = (gf_field){gf_slice_str(number[i]), GF_SLICE("0")};
    }
    gf_document d = {.id = GF_SLICE("many"), .fields = many, .n_fields = GF_MAX_FIELDS + 1};
    assert_status(GF_ELIMIT, gf_put_document(put, GF_SLICE("c"), &d, &err));
    d.n_fields = GF_MAX_FIELDS;
    assert_ok(gf_put_document(put, GF_SLICE("c"), &d, &err));
    many[7] = many[900];
    assert_status(GF_EINVAL, gf_put_document(put, GF_SLICE("c"), &d, &err));
    assert_string_equal(err.message, "field \"f900\" is there twice");
}

/* What is refused is refused with a reason, and the put goes on. */
static void one_bad_document_is_left_out(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_put *put;
    gf_put_options o = GF_PUT_OPTIONS(.name_space = GF_SLICE("test"), .max_document = 40000);
    const gf_field plain = {GF_SLICE("n"), GF_SLICE("1")};
    const gf_slice id = GF_SLICE("x"), bad = GF_SLICE("\xC3("), text = GF_SLICE("text");
    memset(filler, 'x', sizeof filler);
    fixture_open(&f);
    assert_ok(gf_put_open(f.store, &o, &put, &err));
    assert_status(GF_EINVAL, try(put, GF_SLICE(""), text, plain, &err));
    assert_status(GF_EINVAL, try(put, gf_slice_of(filler, GF_MAX_ID + 1), text, plain, &err));
    assert_status(GF_EINVAL, try(put, bad, text, plain, &err));
    assert_status(GF_EINVAL, try(put, id, bad, plain, &err));
    assert_status(GF_EINVAL, try(put, id, text, (gf_field){bad, plain.json}, &err));
    assert_status(GF_EINVAL, try(put, id, text, (gf_field){id, bad}, &err));
    assert_status(GF_EINVAL, try(put, id, text, (gf_field){id, GF_SLICE("{")}, &err));
    assert_status(GF_EINVAL, try(put, id, text, (gf_field){id, GF_SLICE("1 2")}, &err));
    assert_status(GF_EINVAL, try(put, id, text, (gf_field){id, GF_SLICE("")}, &err));
    assert_status(GF_EINVAL, try(put, id, text, (gf_field){id, GF_SLICE("\"\\x\"")}, &err));
    gf_slice name = gf_slice_of(filler, GF_MAX_FIELD_NAME + 1);
    assert_status(GF_ELIMIT, try(put, id, text, (gf_field){name, plain.json}, &err));
    assert_status(GF_ELIMIT, try(put, id, gf_slice_of(filler, 39999), plain, &err));
    try_fields(put);
    assert_ok(try(put, id, gf_slice_of(filler, 39998), plain, &err));
    name.len--;
    assert_ok(try(put, gf_slice_of(filler, GF_MAX_ID), text, (gf_field){name, plain.json}, &err));
    assert_true(gf_put_is_good(put));
    assert_ok(gf_put_flush(put, &err));
    assert_int_equal(gf_put_counted(put).created, 3);
    gf_put_close(put);
    assert_status(GF_EINVAL, gf_collection_create(f.store, (gf_place){bad, GF_SLICE("c")}, &err));
    gf_place too_long = {GF_SLICE("test"), gf_slice_of(filler, GF_MAX_NAME + 1)};
    assert_status(GF_EINVAL, gf_collection_create(f.store, too_long, &err));
    assert_status(GF_EINVAL, gf_collection_create(f.store, fixture_place(""), &err));
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void collections_are_not_made_without_end(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_put *put;
    gf_put_options o = GF_PUT_OPTIONS(.name_space = GF_SLICE("test"), .max_collections = 2);
    gf_document d = {.id = GF_SLICE("1"), .text = GF_SLICE("text")};
    fixture_open(&f);
    assert_ok(gf_put_open(f.store, &o, &put, &err));
    assert_ok(gf_put_document(put, GF_SLICE("one"), &d, &err));
    assert_ok(gf_put_document(put, GF_SLICE("two"), &d, &err));
    assert_ok(gf_put_flush(put, &err));
    assert_ok(gf_put_document(put, GF_SLICE("two"), &d, &err));
    assert_ok(gf_put_document(put, GF_SLICE("three"), &d, &err));
    assert_status(GF_ELIMIT, gf_put_flush(put, &err));
    assert_false(gf_put_is_good(put));
    assert_status(GF_ELIMIT, gf_put_document(put, GF_SLICE("one"), &d, &err));
    gf_put_close(put);
    assert_ok(gf_put_open(f.store, &o, &put, &err));
    assert_ok(gf_put_delete(put, GF_SLICE("three"), GF_SLICE("1"), &err));
    assert_status(GF_ENOTFOUND, gf_put_flush(put, &err));
    gf_put_close(put);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_bad_document_is_left_out),
        cmocka_unit_test(collections_are_not_made_without_end),
    };
    return cmocka_run_group_tests_name("put_limits", tests, NULL, NULL);
}
