/* Every allocation of adding topics and of the rebuild that grows them may fail. */
#include "tests/engine/fixture.h"

#include "base/memory.h"

static gf_status add_and_rebuild(void *context, gf_error *err)
{
    fixture *f = context;
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1, .start = GF_START_FRESH);
    gf_slice like = GF_SLICE("004");
    gf_topic_request cars =
        GF_TOPIC_REQUEST(.name = GF_SLICE("cars"), .words = GF_SLICE("engine brakes"));
    gf_topic_request baking =
        GF_TOPIC_REQUEST(.name = GF_SLICE("baking"), .like = &like, .n_like = 1);
    gf_status st = GF_OK;
    while (st == GF_OK)
        st =
            gf_edit_undo(f->store, fixture_place("c"), fixture_default(), 0, NULL, NULL, NULL, err);
    if (st != GF_ENOTFOUND) return st;
    st = gf_topic_add(f->store, fixture_place("c"), fixture_default(), &cars, NULL, NULL, err);
    if (st == GF_OK)
        st =
            gf_topic_add(f->store, fixture_place("c"), fixture_default(), &baking, NULL, NULL, err);
    if (st == GF_OK) st = fixture_try_rebuild(f, "c", &o, &result, err);
    /* Rows of old builds that are left once the new one is published go with the next write. */
    bool published = st == GF_OK && gf_memory_failed() && result.outcome == GF_REBUILD_MADE;
    return published ? gf_fail_memory(err, "old builds") : st;
}

static void failed_allocations_are_told(void **state)
{
    fixture f;
    (void)state;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "topics", "only");
    gf_test_sweep(add_and_rebuild, NULL, &f);
    fixture_is_sound(&f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_allocations_are_told),
    };
    return cmocka_run_group_tests_name("topics_sweep", tests, NULL, NULL);
}
