/* Every allocation of adding topics, of listing and deleting them, and of the rebuild that grows them may fail. */
#include "tests/engine/fixture.h"

#include "base/memory.h"

#include <string.h>

static gf_status try_add(fixture *f, const gf_topic_request *r, gf_error *err)
{
    return gf_topic_add(f->store, fixture_place("c"), fixture_default(), r, NULL, NULL, err);
}

static gf_status add_two(fixture *f, gf_error *err)
{
    gf_slice like = GF_SLICE("004");
    gf_status st = try_add(
        f, &GF_TOPIC_REQUEST(.name = GF_SLICE("cars"), .words = GF_SLICE("engine brakes")), err);
    return st == GF_OK
               ? try_add(f,
                         &GF_TOPIC_REQUEST(.name = GF_SLICE("baking"), .like = &like, .n_like = 1),
                         err)
               : st;
}

static gf_status undo_all(fixture *f, gf_error *err)
{
    gf_status st = GF_OK;
    while (st == GF_OK)
        st =
            gf_edit_undo(f->store, fixture_place("c"), fixture_default(), 0, NULL, NULL, NULL, err);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status count_topic(void *context, const gf_topic_info *topic, gf_error *err)
{
    size_t *n = context;
    (void)topic, (void)err;
    ++*n;
    return GF_OK;
}

static gf_status add_list_and_delete(void *context, gf_error *err)
{
    fixture *f = context;
    size_t n = 0;
    bool owed;
    gf_status st = undo_all(f, err);
    if (st == GF_OK) st = add_two(f, err);
    if (st == GF_OK)
        st = gf_topics_visit(f->store, fixture_place("c"), fixture_default(), &owed, count_topic,
                             &n, err);
    if (st == GF_OK) assert_int_equal(n, 2);
    return st == GF_OK
               ? gf_topic_delete(f->store, fixture_place("c"), fixture_default(), GF_SLICE("cars"),
                                 GF_SLICE("ann"), GF_SLICE("old"), NULL, NULL, err)
               : st;
}

static gf_status add_values(void *context, gf_error *err)
{
    fixture *f = context;
    gf_status st = undo_all(f, err);
    return st == GF_OK ? try_add(f, &GF_TOPIC_REQUEST(.field = GF_SLICE("area")), err) : st;
}

/* The failure is armed once documents are read: reading them fails in other sweeps. */
typedef struct growing {
    fixture f;
    int64_t fails;
} growing;

static void arm(void *context, gf_place where, const char *phase, uint64_t done, uint64_t total)
{
    growing *g = context;
    (void)where, (void)done, (void)total;
    if (g->fails >= 0 && strcmp(phase, "weighing") == 0) {
        gf_memory_fail_at(g->fails);
        g->fails = -1;
    }
}

/* Rows of old builds that are left once the new one is published go with the next write. */
static gf_status rebuild(growing *g, int64_t fails, bool *failed, gf_error *err)
{
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1, .start = GF_START_FRESH,
                                              .progress = arm, .context = g);
    g->fails = fails;
    gf_status st = fixture_try_rebuild(&g->f, "c", &o, &result, err);
    *failed = gf_memory_failed();
    gf_memory_fail_at(-1);
    return st;
}

static void failed_allocations_of_topics_are_told(void **state)
{
    fixture f;
    (void)state;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "2");
    fixture_rebuild(&f, "c");
    gf_test_sweep(add_list_and_delete, NULL, &f);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void failed_allocations_of_values_are_told(void **state)
{
    static const char *const values[] = {"\"cars\"", "\"baking\"", "7"};
    static const char *const ids[] = {"a", "b", "c"};
    fixture f;
    (void)state;
    fixture_open(&f);
    for (size_t i = 0; i < 3; i++)
        fixture_put_field(&f, "area", ids[i], "an engine and dough", "1000", values[i]);
    gf_test_sweep(add_values, NULL, &f);
    fixture_close(&f);
}

/*
 * Documents of all kinds: of a topic, of none, without terms; and with "auto" the rest in clusters. Nine
 * thousand allocations, each run with several synced writes: of those from the weighing on, among which
 * the topics are, each third, of the many that name and write each hundred and first.
 */
static void sweep_rebuilds(const char *topics)
{
    enum { NEAR = 200, STEP = 3, FAR_STEP = 101 };
    growing g = {.fails = -1};
    gf_error err;
    fixture_open(&g.f);
    fixture_put_subjects(&g.f, "c");
    fixture_put(&g.f, "c", "012", "...");
    fixture_set(&g.f, "c", "default", "k", "2");
    fixture_set(&g.f, "c", "default", "topics", topics);
    assert_ok(add_two(&g.f, &err));
    bool failed = true;
    for (int64_t n = 0; failed; n += n < NEAR ? STEP : FAR_STEP) {
        gf_status st = rebuild(&g, n, &failed, &err);
        if (st != GF_OK && (st != GF_ENOMEM || !failed))
            fail_msg("allocation %lld: %s (%s)", (long long)n, gf_status_name(st), err.message);
    }
    fixture_is_sound(&g.f);
    fixture_close(&g.f);
}

static void failed_allocations_of_a_rebuild_by_topics_are_told(void **state)
{
    (void)state;
    sweep_rebuilds("only");
}

static void failed_allocations_of_a_rebuild_with_a_rest_are_told(void **state)
{
    (void)state;
    sweep_rebuilds("auto");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_allocations_of_topics_are_told),
        cmocka_unit_test(failed_allocations_of_values_are_told),
        cmocka_unit_test(failed_allocations_of_a_rebuild_by_topics_are_told),
        cmocka_unit_test(failed_allocations_of_a_rebuild_with_a_rest_are_told),
    };
    return cmocka_run_group_tests_name("topics_sweep", tests, NULL, NULL);
}
