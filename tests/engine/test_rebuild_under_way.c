/* A rebuild that is stopped in the middle, and what others do while one is under way. */
#include "tests/engine/fixture.h"

#include "base/number.h"
#include "engine/build/gather.h"
#include "grouperfish/cancel.h"

/* ---- stopped in the middle ------------------------------------------------------------------- */

typedef struct stopping {
    gf_cancel cancel;
    int at, calls;
    char phase[64]; /* in which it was stopped */
} stopping;

static void stop(void *context, gf_place where, const char *phase, uint64_t done, uint64_t total)
{
    (void)where, (void)done, (void)total;
    stopping *s = context;
    if (s->calls++ != s->at) return;
    snprintf(s->phase, sizeof s->phase, "%s", phase);
    gf_cancel_request(&s->cancel);
}

/* Stopped at the first word of its progress, at the second, ... until it gets through: the store is
 * byte for byte what it was. */
static void stopped_at_any_point_nothing_changes(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer before = {0};
    gf_status st = GF_ECANCELLED;
    fixture_open(&f);
    fixture_put_posts(&f, "c", 60);
    fixture_rebuild(&f, "c");
    fixture_put(&f, "c", "one more", "that the served build does not have");
    fixture_dump(&f, &before);
    int stops = 0;
    for (; st == GF_ECANCELLED; stops++) {
        stopping s = {.at = stops};
        gf_rebuild_result result;
        gf_rebuild_options o =
            GF_REBUILD_OPTIONS(.force = true, .threads = 1 + (unsigned)stops % 2,
                               .cancel = &s.cancel, .progress = stop, .context = &s);
        st = fixture_try_rebuild(&f, "c", &o, &result, &err);
        if (st == GF_OK && s.calls > s.at) fail_msg("not stopped in \"%s\"", s.phase);
        if (st == GF_ECANCELLED) fixture_same_dump(&f, &before, s.phase);
        if (st == GF_ECANCELLED && stops % 5 == 0) fixture_check_served(&f, "c", 60);
    }
    if (st != GF_OK) fail_msg("%s", err.message);
    assert_true(stops > 5);
    print_message("stopped at %d points\n", stops - 1);
    fixture_check_served(&f, "c", 61);
    fixture_is_sound(&f);
    gf_buffer_release(&before);
    fixture_close(&f);
}

/* ---- what others do meanwhile ---------------------------------------------------------------- */

typedef struct meanwhile {
    fixture *f;
    void (*act)(fixture *f);
    bool done;
} meanwhile;

static void act_once(void *context, gf_place where, const char *phase, uint64_t done,
                     uint64_t total)
{
    (void)where, (void)phase, (void)done, (void)total;
    meanwhile *m = context;
    if (m->done) return;
    m->done = true;
    m->act(m->f);
}

static gf_status rebuild_while(fixture *f, void (*act)(fixture *f), gf_error *err)
{
    meanwhile m = {f, act, false};
    gf_rebuild_result result;
    gf_rebuild_options o =
        GF_REBUILD_OPTIONS(.force = true, .threads = 1, .progress = act_once, .context = &m);
    gf_status st = fixture_try_rebuild(f, "c", &o, &result, err);
    assert_true(m.done);
    return st;
}

static void put_change_and_delete(fixture *f)
{
    fixture_put(f, "c", "new", "a document that came after the snapshot");
    fixture_put(f, "c", "001", "bread instead of an engine");
    fixture_delete(f, "c", "002");
    fixture_put(f, "c", "passing", "put and deleted");
    fixture_delete(f, "c", "passing");
}

/* Checks 6 and 8: the build is of its snapshot, reads know what has changed since, and so does the
 * next rebuild. */
static void what_comes_meanwhile_is_for_the_next_build(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_view *view;
    gf_membership m;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    assert_ok(rebuild_while(&f, put_change_and_delete, &err));
    fixture_check_served(&f, "c", 11);
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &view, &err));
    assert_int_equal(gf_view_build(view)->documents, 12);
    assert_int_equal(gf_view_build(view)->seq, 12);
    assert_status(GF_ENOTFOUND, gf_view_membership(view, GF_SLICE("new"), &m, &err));
    assert_status(GF_ENOTFOUND, gf_view_membership(view, GF_SLICE("002"), &m, &err));
    assert_ok(gf_view_membership(view, GF_SLICE("001"), &m, &err));
    assert_true(m.replaced);
    assert_ok(gf_view_membership(view, GF_SLICE("000"), &m, &err));
    assert_false(m.replaced);
    gf_view_close(view);
    fixture_is_sound(&f);
    assert_int_equal(fixture_outcome(&f, "c", false, false), GF_REBUILD_MADE);
    fixture_check_served(&f, "c", 12);
    fixture_close(&f);
}

static void try_what_must_wait(fixture *f)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1);
    assert_status(GF_EBUSY, fixture_try_rebuild(f, "c", &o, &result, &err));
    assert_status(GF_EBUSY, gf_collection_delete(f->store, fixture_place("c"), &err));
    assert_status(GF_EBUSY,
                  gf_configuration_delete(f->store, fixture_place("c"), fixture_default(), &err));
    fixture_set(f, "c", "default", "k", "2"); /* is for the next build */
    fixture_delete(f, "c", "000");            /* what the build under way must hear of ... */
    /* ... though another build is published that need not. */
    assert_ok(gf_rebuild(f->store, fixture_place("c"), GF_SLICE("other"), &o, &result, &err));
    fixture_put_subjects(f, "d");
    fixture_rebuild(f, "d");
    assert_ok(gf_collection_delete(f->store, fixture_place("d"), &err));
}

static void one_rebuild_of_a_configuration_at_a_time(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "4");
    fixture_set(&f, "c", "other", "k", "3");
    assert_ok(rebuild_while(&f, try_what_must_wait, &err));
    fixture_check_served(&f, "c", 11);
    gf_view *view;
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &view, &err));
    assert_int_equal(gf_view_build(view)->k, 4);
    assert_slice(gf_view_build(view)->settings, "{\"k\":\"4\"}");
    gf_view_close(view);
    assert_int_equal(fixture_outcome(&f, "c", false, false), GF_REBUILD_MADE);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* From the beginning of a build on, whatever is put is not in it. */
static void a_build_reads_its_snapshot(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_build_plan plan, *plans = &plan;
    gf_build_gathered documents = {0};
    gf_snapshot *snapshot;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true);
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    assert_ok(gf_build_plan_init(&plan, f.store, fixture_place("c"), fixture_default(), &o, &err));
    assert_ok(gf_build_plans_begin(&plans, 1, &snapshot, &err));
    put_change_and_delete(&f);
    assert_ok(gf_build_gather(&plan, NULL, &documents, &err));
    assert_int_equal(documents.n, 12);
    assert_slice(gf_build_gathered_id(&documents, 2), "002");
    assert_int_equal(plan.seq, 12);
    gf_build_plans_end(&plans, &(bool){false}, 1);
    gf_build_gathered_release(&documents);
    gf_snapshot_free(snapshot);
    gf_build_plan_release(&plan);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static int64_t other_build;

static void move_the_pointer(fixture *f)
{
    gf_error err;
    gf_batch *batch;
    gf_number_digits digits;
    gf_buffer key = {0};
    gf_tables_collection_key(&key, GF_SLICE("test"), GF_SLICE("c"));
    assert_ok(gf_batch_create(f->store->db, &batch, &err));
    gf_batch_put(batch, f->store->tables.collections, gf_buffer_view(&key), GF_COLLECTIONS_MAIN,
                 GF_SLICE("configuration:default:rebuilt"),
                 gf_number_write(&digits, (uint64_t)other_build), 0);
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    gf_buffer_release(&key);
}

/* The pointer moves from what the build began with, or not at all. */
static void a_moved_pointer_is_a_conflict(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer before = {0};
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    other_build = fixture_rebuild(&f, "c").build;
    int64_t second = fixture_rebuild(&f, "c").build;
    assert_status(GF_ECONFLICT, rebuild_while(&f, move_the_pointer, &err));
    assert_int_equal(fixture_check_served(&f, "c", 12), other_build);
    int64_t builds[64];
    assert_int_equal(fixture_builds(&f, "c", "default", builds), 2);
    assert_int_equal(builds[0], second);
    fixture_is_sound(&f);
    assert_true(fixture_rebuild(&f, "c").build > second);
    gf_buffer_release(&before);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped_at_any_point_nothing_changes),
        cmocka_unit_test(what_comes_meanwhile_is_for_the_next_build),
        cmocka_unit_test(one_rebuild_of_a_configuration_at_a_time),
        cmocka_unit_test(a_build_reads_its_snapshot),
        cmocka_unit_test(a_moved_pointer_is_a_conflict),
    };
    return cmocka_run_group_tests_name("rebuild_under_way", tests, NULL, NULL);
}
