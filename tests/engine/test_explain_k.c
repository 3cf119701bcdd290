#include "tests/engine/fixture.h"

#include <math.h>

enum { MOST_STEPS = 64 };

/* The curve of cluster/measure/k_curve.h: n steps, with their numbers of clusters and what these are worth.
 */
typedef struct curve {
    uint32_t k[MOST_STEPS], chosen, n_chosen, n;
    uint32_t from, to; /* the plateau; 0: none */
    double worth[MOST_STEPS];
    char why[400];
} curve;

static gf_status note_step(void *context, const gf_k_step *step, gf_error *err)
{
    curve *c = context;
    if (c->n && step->k <= c->k[c->n - 1]) return gf_fail(err, GF_EINVAL, "not rising");
    if (step->separation < -1 || step->separation > 1)
        return gf_fail(err, GF_EINVAL, "no separation");
    assert_true(c->n < MOST_STEPS);
    c->k[c->n] = step->k;
    c->worth[c->n++] = step->separation * pow(step->k, -0.02);
    assert_near(step->worth, c->worth[c->n - 1], 1e-12);
    if (step->plateau && !c->from) c->from = step->k;
    if (step->plateau) c->to = step->k;
    assert_true(step->chosen == (step->why != NULL));
    if (!step->chosen) return GF_OK;
    assert_true(step->plateau && strlen(step->why) < sizeof c->why);
    strcpy(c->why, step->why);
    c->chosen = step->k;
    c->n_chosen++;
    return GF_OK;
}

static double off_aim(const curve *c, uint32_t from, uint32_t to, uint32_t i)
{
    double low = log(c->k[from]), high = log(c->k[to]);
    return fabs(log(c->k[i]) - (low + 2 * (high - low) / 3));
}

/*
 * The promise of the choice for a curve whose highest step is above three and lies behind no
 * valley: the number two thirds of the way up, by its logarithm, of those around the highest that
 * reach 99 % of it, with none below 95 % between; of two as near the worthier.
 */
static uint32_t promised(const curve *c)
{
    uint32_t peak = 0;
    for (uint32_t i = 1; i < c->n; i++)
        if (c->worth[i] > c->worth[peak]) peak = i;
    assert_true(c->k[peak] > 3);
    for (uint32_t i = 1; i < peak; i++)
        assert_true(c->worth[i] > 0.95 * c->worth[i - 1]);
    uint32_t from = peak, to = peak;
    for (uint32_t i = peak; c->worth[i] >= 0.95 * c->worth[peak]; i--)
        if (c->worth[i] >= 0.99 * c->worth[peak]) from = i;
    for (uint32_t i = peak; i < c->n && c->worth[i] >= 0.95 * c->worth[peak]; i++)
        if (c->worth[i] >= 0.99 * c->worth[peak]) to = i;
    assert_int_equal(c->from, c->k[from]);
    assert_int_equal(c->to, c->k[to]);
    uint32_t best = from;
    for (uint32_t i = from + 1; i <= to; i++) {
        double nearer = off_aim(c, from, to, best) - off_aim(c, from, to, i);
        if (fabs(nearer) < 1e-9 ? c->worth[i] > c->worth[best] : nearer > 0) best = i;
    }
    return c->k[best];
}

static gf_status explain(fixture *f, const char *collection, unsigned threads, curve *c,
                         gf_error *err)
{
    memset(c, 0, sizeof *c);
    return gf_explain_k(f->store, fixture_place(collection), fixture_default(),
                        &GF_REBUILD_OPTIONS(.threads = threads), note_step, c, err);
}

/*
 * The explanation is what the curve promises and a rebuild then chooses; whatever k is set to,
 * and by any threads.
 */
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
        assert_int_equal(c.chosen, promised(&c));
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
    assert_status(GF_ECANCELLED, gf_explain_k(f.store, fixture_place("c"), fixture_default(),
                                              &GF_REBUILD_OPTIONS(.threads = 1, .cancel = &cancel),
                                              note_step, &c, &err));
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
