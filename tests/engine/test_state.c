/*
 * A state of a collection is one moment: what is put, deleted, set or published after it was
 * opened shows in nothing that is read from it.
 */
#include "tests/engine/fixture.h"

static gf_status note_text(void *context, const gf_document *d, gf_error *err)
{
    char *text = context;
    (void)err;
    snprintf(text, 64, "%.*s", GF_SLICE_ARG(d->text));
    return GF_OK;
}

static gf_status note_configuration(void *context, const gf_configuration_info *info, gf_error *err)
{
    (void)err;
    gf_buffer_slice(context, info->name);
    gf_buffer_byte(context, ' ');
    return GF_OK;
}

typedef struct answer {
    char text[64], configurations[64], label[64];
    gf_status document;
    int64_t build;
    uint64_t documents, members;
    bool replaced, provisional;
} answer;

static gf_status count_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)id, (void)m, (void)err;
    ++*(uint64_t *)context;
    return GF_OK;
}

/* Everything that can be read of the document and of the served build. */
static answer read_answer(const gf_state *r, const char *id)
{
    gf_error err;
    gf_buffer names = {0};
    gf_view *view;
    gf_membership m = {0};
    answer s = {.text = ""};
    s.document = gf_state_document(r, gf_slice_str(id), note_text, s.text, &err);
    assert_ok(gf_state_configurations(r, note_configuration, &names, &err));
    snprintf(s.configurations, sizeof s.configurations, "%s", gf_buffer_cstr(&names));
    assert_ok(gf_view_open_in(r, fixture_default(), 0, &view, &err));
    s.build = gf_view_build(view)->build;
    s.documents = gf_view_build(view)->documents;
    assert_ok(gf_view_memberships(view, count_member, &s.members, &err));
    if (gf_view_current_membership(view, gf_slice_str(id), &m, &err) == GF_OK)
        snprintf(s.label, sizeof s.label, "%.*s", GF_SLICE_ARG(m.label));
    s.replaced = m.replaced;
    s.provisional = m.provisional;
    gf_view_close(view);
    gf_buffer_release(&names);
    return s;
}

static void assert_same_answer(const answer *a, const answer *b)
{
    assert_string_equal(a->text, b->text);
    assert_string_equal(a->configurations, b->configurations);
    assert_string_equal(a->label, b->label);
    assert_int_equal(a->document, b->document);
    assert_int_equal(a->build, b->build);
    assert_int_equal(a->documents, b->documents);
    assert_int_equal(a->members, b->members);
    assert_int_equal(a->replaced, b->replaced);
    assert_int_equal(a->provisional, b->provisional);
}

static gf_state *open_state(fixture *f)
{
    gf_error err;
    gf_state *r;
    assert_ok(gf_state_open(f->store, fixture_place("c"), &r, &err));
    return r;
}

/* Each part is read for the first time after the change that it must not show. */
static void changes_between_two_reads_do_not_mix_states(void **unused)
{
    (void)unused;
    gf_error err;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_rebuild(&f, "c");
    gf_state *before = open_state(&f);
    answer old = read_answer(before, "000");
    gf_state_close(before);

    gf_state *r = open_state(&f);
    fixture_put(&f, "c", "000", "put anew, with other words");
    answer seen = read_answer(r, "000");
    assert_same_answer(&old, &seen);

    fixture_set(&f, "c", "other", "k", "2");
    fixture_set(&f, "c", "default", "k", "2");
    fixture_delete(&f, "c", "011");
    assert_ok(
        gf_pin_label(f.store, fixture_place("c"), fixture_default(), 1, GF_SLICE("pinned"), &err));
    fixture_rebuild(&f, "c");
    seen = read_answer(r, "000");
    assert_same_answer(&old, &seen);

    fixture_delete(&f, "c", "000");
    seen = read_answer(r, "000");
    assert_same_answer(&old, &seen);
    assert_ok(gf_collection_delete(f.store, fixture_place("c"), &err));
    gf_state *none;
    assert_status(GF_ENOTFOUND, gf_state_open(f.store, fixture_place("c"), &none, &err));
    gf_state_close(r);
    fixture_close(&f);
}

static void a_later_one_sees_the_later_state(void **unused)
{
    (void)unused;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    int64_t first = fixture_rebuild(&f, "c").build;
    fixture_put(&f, "c", "000", "put anew, with other words");
    fixture_delete(&f, "c", "011");
    gf_state *r = open_state(&f);
    answer s = read_answer(r, "000");
    assert_string_equal(s.text, "put anew, with other words");
    assert_string_equal(s.configurations, "default ");
    assert_int_equal(s.build, first);
    assert_int_equal(s.members, 11);
    assert_true(s.replaced && s.provisional);
    s = read_answer(r, "011");
    assert_int_equal(s.document, GF_ENOTFOUND);
    assert_string_equal(s.label, "");
    gf_state_close(r);
    fixture_close(&f);
}

/* The build before a view's is there for as long as the view, even when others are kept now. */
static void the_build_before_is_of_the_same_state(void **unused)
{
    (void)unused;
    gf_error err;
    gf_view *first, *later, *earlier;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "keep", "2");
    int64_t build = fixture_rebuild(&f, "c").build;
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &first, &err));
    int64_t second = fixture_rebuild(&f, "c").build;
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &later, &err));
    for (int i = 0; i < 3; i++)
        fixture_rebuild(&f, "c");
    assert_status(GF_ENOTFOUND, gf_view_open(f.store, fixture_place("c"), fixture_default(), build,
                                             &earlier, &err));
    assert_int_equal(gf_view_build(later)->build, second);
    assert_ok(gf_view_open_before(later, &earlier, &err));
    assert_int_equal(gf_view_build(earlier)->build, build);
    assert_ptr_equal(gf_view_state(earlier), gf_view_state(later));
    uint64_t memberships = 0;
    assert_null(fixture_fault_of(earlier, &memberships));
    assert_int_equal(memberships, 12);
    gf_view_close(earlier);
    gf_view_close(later);
    assert_status(GF_ENOTFOUND, gf_view_open_before(first, &earlier, &err));
    gf_view_close(first);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_between_two_reads_do_not_mix_states),
        cmocka_unit_test(a_later_one_sees_the_later_state),
        cmocka_unit_test(the_build_before_is_of_the_same_state),
    };
    return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
