#include "tests/engine/fixture.h"

typedef struct curve {
    uint32_t k, chosen, n_chosen, n; /* k: of the last step */
    double of_chosen, highest;
} curve;

static gf_status note_step(void *context, const gf_k_step *step, gf_error *err)
{
    curve *c = context;
    if (step->k <= c->k) return gf_fail(err, GF_EINVAL, "not rising");
    if (step->separation < -1 || step->separation > 1)
        return gf_fail(err, GF_EINVAL, "no separation");
    c->k = step->k;
    c->n++;
    if (step->separation > c->highest) c->highest = step->separation;
    if (!step->chosen) return GF_OK;
    c->chosen = step->k;
    c->n_chosen++;
    c->of_chosen = step->separation;
    return GF_OK;
}

static gf_status explain(fixture *f, const char *collection, unsigned threads, curve *c,
                         gf_error *err)
{
    *c = (curve){.highest = -1};
    return gf_explain_k(f->store, fixture_place(collection), fixture_default(),
                        &(gf_rebuild_options){.threads = threads}, note_step, c, err);
}

/* What is explained is what a rebuild then chooses; whatever k is set to, and by any threads. */
static void it_is_what_a_rebuild_chooses(void **state)
{
    (void)state;
    static const char *const seeds[] = {"1", "2", "3"};
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    fixture_set(&f, "c", "default", "start", "fresh"); /* else a rebuild keeps the number it has */
    for (size_t i = 0; i < 3; i++) {
        curve c, again;
        fixture_set(&f, "c", "default", "seed", seeds[i]);
        fixture_set(&f, "c", "default", "k", "40");
        assert_ok(explain(&f, "c", 1, &c, &err));
        assert_ok(explain(&f, "c", 3, &again, &err));
        assert_memory_equal(&c, &again, sizeof c);
        assert_int_equal(c.n_chosen, 1);
        assert_true(c.n > 5);
        assert_true(c.of_chosen >= 0.9 * c.highest);
        fixture_set(&f, "c", "default", "k", "auto");
        assert_int_equal(fixture_rebuild(&f, "c").k, c.chosen);
    }
    fixture_close(&f);
}

static void it_changes_nothing(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer before = {0}, after = {0};
    curve c;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_dump(&f, &before);
    assert_ok(explain(&f, "c", 1, &c, &err)); /* there need not be a build */
    assert_int_equal(c.n_chosen, 1);
    fixture_dump(&f, &after);
    assert_true(gf_slice_equal(gf_buffer_view(&before), gf_buffer_view(&after)));
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    fixture_close(&f);
}

static void where_there_is_nothing_to_choose(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    curve c;
    fixture_open(&f);
    assert_status(GF_ENOTFOUND, explain(&f, "c", 1, &c, &err));
    assert_ok(gf_collection_create(f.store, fixture_place("c"), &err));
    assert_ok(explain(&f, "c", 1, &c, &err));
    assert_int_equal(c.n, 0);
    fixture_put(&f, "c", "1", "...");
    assert_ok(explain(&f, "c", 1, &c, &err));
    assert_int_equal(c.n, 0);
    fixture_put(&f, "c", "2", "a word");
    assert_ok(explain(&f, "c", 1, &c, &err));
    assert_int_equal(c.n, 1);
    assert_int_equal(c.chosen, 1);
    gf_cancel cancel = {0};
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED,
                  gf_explain_k(f.store, fixture_place("c"), fixture_default(),
                               &(gf_rebuild_options){.threads = 1, .cancel = &cancel}, note_step,
                               &c, &err));
    fixture_close(&f);
}

static gf_status explain_once(void *context, gf_error *err)
{
    curve c;
    return explain(context, "c", 1, &c, err);
}

static void failing_allocations(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_texts(&f, "c", (const char *const[]){"one two", "two three", "four", "four five"},
                      4);
    gf_test_sweep(explain_once, NULL, &f);
    fixture_is_sound(&f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_what_a_rebuild_chooses),
        cmocka_unit_test(it_changes_nothing),
        cmocka_unit_test(where_there_is_nothing_to_choose),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests_name("explain_k", tests, NULL, NULL);
}
