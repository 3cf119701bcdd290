/* Leases of several processes that have one store open. */
#include "tests/engine/fixture_shared.h"

#include "engine/store/hold.h"
#include "engine/store/lease.h"
#include "tests/engine/soundness.h"

#include <time.h>

typedef struct two {
    gf_backend *backends[2];
    gf_store *stores[2];
    fixture f[2];
} two;

static void open_two(two *t)
{
    for (int i = 0; i < 2; i++) {
        t->stores[i] = fixture_share(i ? t->backends[0] : NULL, &t->backends[i]);
        t->f[i].store = t->stores[i];
    }
}

static void close_two(two *t)
{
    gf_store_close(t->stores[0]);
    gf_store_close(t->stores[1]);
}

static void is_sound(gf_store *s, bool tidied)
{
    const char *fault = soundness_fault(s, tidied);
    if (fault) fail_msg("%s", fault);
}

/* ---- a lease --------------------------------------------------------------------------------- */

static gf_slice make_key_in(gf_buffer *key, const char *collection, const char *configuration)
{
    gf_buffer_reset(key);
    gf_tables_configuration_key(key, GF_SLICE("test"), gf_slice_str(collection),
                                gf_slice_str(configuration));
    return gf_buffer_view(key);
}

static gf_slice make_key(gf_buffer *key, const char *configuration)
{
    return make_key_in(key, "c", configuration);
}

static gf_lease *take_in(gf_store *s, const char *collection, const char *configuration,
                         uint64_t seq)
{
    gf_error err;
    gf_buffer key = {0};
    gf_batch *batch;
    gf_hold hold;
    gf_lease *lease;
    assert_ok(gf_hold_collection(s, fixture_place(collection), &hold, &err));
    assert_ok(gf_batch_create(s->db, &batch, &err));
    assert_ok(
        gf_lease_take(s, make_key_in(&key, collection, configuration), seq, batch, &lease, &err));
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_hold_let_go(&hold);
    gf_batch_free(batch);
    gf_buffer_release(&key);
    return lease;
}

static gf_lease *take(gf_store *s, const char *configuration, uint64_t seq)
{
    return take_in(s, "c", configuration, seq);
}

static gf_lease_owner look(gf_store *s, const char *configuration)
{
    gf_error err;
    gf_buffer key = {0};
    gf_lease_owner owner;
    assert_ok(gf_lease_find(s, make_key(&key, configuration), &owner, &err));
    gf_buffer_release(&key);
    return owner;
}

static gf_status give_up(gf_store *s, gf_lease *lease)
{
    gf_error err;
    gf_batch *batch;
    assert_ok(gf_batch_create(s->db, &batch, &err));
    gf_status st = gf_lease_give_up(lease, batch, &err);
    gf_batch_free(batch);
    return st;
}

static void one_is_seen_by_all(void **state)
{
    two t;
    gf_error err;
    uint64_t seq = 100;
    gf_buffer key = {0};
    (void)state;
    open_two(&t);
    fixture_put(&t.f[0], "c", "1", "one");
    gf_lease *lease = take(t.stores[0], "fine", 7);
    assert_true(look(t.stores[0], "fine").living);
    assert_string_equal(look(t.stores[0], "fine").by, "");
    assert_true(look(t.stores[1], "fine").living);
    assert_non_null(strstr(look(t.stores[1], "fine").by, " by process "));
    assert_false(look(t.stores[1], "default").living);
    gf_tables_collection_key(&key, GF_SLICE("test"), GF_SLICE("c"));
    assert_ok(gf_lease_lower_seq(t.stores[1], gf_buffer_view(&key), &seq, &err));
    assert_int_equal(seq, 7);
    assert_int_equal(gf_lease_count(t.stores[0]), 1);
    assert_int_equal(gf_lease_count(t.stores[1]), 0);
    assert_true(gf_lease_is_mine(lease));
    gf_lease_end(lease);
    assert_false(look(t.stores[1], "fine").living);
    is_sound(t.stores[1], true);
    gf_buffer_release(&key);
    close_two(&t);
}

/* The cell is as it was for the time of a lease, as the other process saw it: then it has ended. */
static void one_that_is_not_renewed_ends(void **state)
{
    two t;
    const struct timespec moment = {0, 50000000};
    (void)state;
    open_two(&t);
    fixture_put(&t.f[0], "c", "1", "one");
    t.stores[1]->patience = 0.2;
    gf_lease *lease = take(t.stores[0], "default", 1);
    assert_true(look(t.stores[1], "default").living);
    for (int i = 0; i < 200 && look(t.stores[1], "default").living; i++)
        nanosleep(&moment, NULL);
    assert_false(look(t.stores[1], "default").living);
    assert_true(look(t.stores[0], "default").living);
    gf_lease *other = take(t.stores[1], "default", 1);
    assert_status(GF_ECONFLICT, give_up(t.stores[0], lease));
    assert_int_equal(give_up(t.stores[1], other), GF_OK);
    gf_lease_end(lease); /* the other's cell stays */
    assert_int_equal(give_up(t.stores[1], other), GF_OK);
    gf_lease_end(other);
    is_sound(t.stores[1], true);
    close_two(&t);
}

static void one_that_is_renewed_lives(void **state)
{
    two t;
    const struct timespec moment = {0, 100000000};
    (void)state;
    open_two(&t);
    fixture_put(&t.f[0], "c", "1", "one");
    t.stores[0]->lease_seconds = 0.6;
    t.stores[1]->patience = 3;
    gf_lease *lease = take(t.stores[0], "default", 1);
    for (int i = 0; i < 40; i++) {
        assert_true(look(t.stores[1], "default").living);
        nanosleep(&moment, NULL);
    }
    gf_lease_end(lease);
    assert_false(look(t.stores[1], "default").living);
    close_two(&t);
}

/* A renewal is made, and its answer lost: the next one finds the cell a beat further. */
static void a_lost_answer_costs_no_lease(void **state)
{
    two t;
    const struct timespec moment = {0, 50000000};
    (void)state;
    open_two(&t);
    fixture_put(&t.f[0], "c", "1", "one");
    t.stores[0]->lease_seconds = 1.5;
    gf_lease *lease = take(t.stores[0], "default", 1);
    uint64_t before = gf_model_writes(t.backends[0]);
    gf_model_lose_answer(t.backends[0], 1, 1);
    for (int i = 0; i < 1200 && gf_model_writes(t.backends[0]) < before + 3; i++)
        nanosleep(&moment, NULL);
    assert_true(gf_model_writes(t.backends[0]) >= before + 3);
    for (int i = 0; i < 1200 && !gf_lease_is_mine(lease); i++)
        nanosleep(&moment, NULL);
    assert_true(gf_lease_is_mine(lease));
    assert_int_equal(give_up(t.stores[0], lease), GF_OK);

    gf_model_lose_answer(t.backends[0], 1, 0);
    gf_lease_end(lease);
    assert_false(look(t.stores[1], "default").living);
    close_two(&t);
}

/* Writes of a collection fail; others are made as ever. */
static gf_backend_operations failing;
static const gf_backend_operations *working;
static char collection_that_fails;

static gf_status fail_of_one(gf_backend *b, const gf_change *changes, size_t n,
                             const gf_expectation *condition, gf_backend_hold *hold, gf_sync sync,
                             gf_error *err)
{
    const char key[] = {'t', 'e', 's', 't', 0, 1, collection_that_fails, 0, 1};
    for (size_t i = 0; i < n && collection_that_fails; i++)
        if (gf_slice_equal(changes[i].key, gf_slice_of(key, sizeof key)))
            return gf_fail(err, GF_EIO, "the server of a row is gone");
    return working->write(b, changes, n, condition, hold, sync, err);
}

/* One that cannot be renewed keeps no other from it. */
static void one_that_fails_lets_others_live(void **state)
{
    two t;
    const struct timespec moment = {0, 50000000};
    gf_lease *leases[2];
    (void)state;
    open_two(&t);
    for (char c = 'a'; c <= 'b'; c++)
        fixture_put(&t.f[0], (char[]){c, 0}, "1", "one");
    working = t.backends[0]->operations;
    failing = *working;
    failing.write = fail_of_one;
    t.backends[0]->operations = &failing;
    t.stores[0]->lease_seconds = 1.5;
    for (int i = 0; i < 2; i++)
        leases[i] = take_in(t.stores[0], i ? "b" : "a", "default", 1);
    collection_that_fails = 'b';
    for (int i = 0; i < 1200 && gf_lease_is_mine(leases[1]); i++)
        nanosleep(&moment, NULL);
    for (int i = 0; i < 1200 && !gf_lease_is_mine(leases[0]); i++)
        nanosleep(&moment, NULL);
    assert_true(gf_lease_is_mine(leases[0]));
    collection_that_fails = 0;
    for (int i = 0; i < 1200 && !gf_lease_is_mine(leases[1]); i++)
        nanosleep(&moment, NULL);
    assert_true(gf_lease_is_mine(leases[1]));
    for (int i = 0; i < 2; i++)
        gf_lease_end(leases[i]);
    t.backends[0]->operations = working;
    close_two(&t);
}

static void a_cell_is_taken_apart(void **state)
{
    uint64_t seq, beat;
    gf_slice owner;
    (void)state;
    assert_true(gf_lease_read(GF_SLICE("12 3 process 4 of h, 5.6"), &seq, &beat, &owner));
    assert_int_equal(seq, 12);
    assert_int_equal(beat, 3);
    assert_slice(owner, "process 4 of h, 5.6");
    const char *const wrong[] = {"", "12", "12 ", "12 3", "12 3 ", "x 3 o", "12 x o", "-1 3 o"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(gf_lease_read(gf_slice_str(wrong[i]), &seq, &beat, &owner));
}

/* ---- builds ---------------------------------------------------------------------------------- */

typedef struct beside {
    two *t;
    int calls, puts, tries;
    bool takes_over;
    gf_status rebuilt, deleted;
} beside;

/* The other process clears away, and writes, and tries to rebuild and to delete what is rebuilt. */
static void work_beside(void *context)
{
    beside *b = context;
    gf_store *other = b->t->stores[1];
    gf_error err;
    gf_rebuild_result result;
    char id[24];
    if (!look(other, "default").living || b->calls++ % 2) return;
    if (b->takes_over) fixture_know_ended(other);
    gf_store_leave_untidy(other);
    snprintf(id, sizeof id, "beside %d", b->puts++);
    fixture_put(&b->t->f[1], "c", id, "apple banana cherry");
    if (b->takes_over) return;
    b->tries++;
    b->rebuilt = gf_rebuild(other, fixture_place("c"), fixture_default(),
                            &GF_REBUILD_OPTIONS(.force = true, .threads = 1), &result, &err);
    b->deleted = gf_collection_delete(other, fixture_place("c"), &err);
}

static gf_status rebuild_beside(two *t, beside *b, gf_error *err)
{
    gf_rebuild_result result;
    *b = (beside){.t = t, .takes_over = b->takes_over};
    gf_model_watch(t->backends[0], work_beside, b);
    gf_status st = gf_rebuild(t->stores[0], fixture_place("c"), fixture_default(),
                              &GF_REBUILD_OPTIONS(.force = true, .threads = 1), &result, err);
    gf_model_watch(t->backends[0], NULL, NULL);
    return st;
}

/* All documents of the collection with a seq above the build's are among its changes (c). */
static void no_build_of_another_is_dropped(void **state)
{
    two t;
    gf_error err;
    beside b = {.takes_over = false};
    (void)state;
    open_two(&t);
    fixture_put_subjects(&t.f[0], "c");
    for (int i = 0; i < 3; i++) {
        assert_ok(rebuild_beside(&t, &b, &err));
        assert_true(b.tries > 0);
        assert_status(GF_EBUSY, b.rebuilt);
        assert_status(GF_EBUSY, b.deleted);
        is_sound(t.stores[1], true);
    }
    close_two(&t);
}

static gf_status rebuild_as(gf_store *s, const char *configuration, gf_error *err)
{
    gf_rebuild_result result;
    return gf_rebuild(s, fixture_place("c"), gf_slice_str(configuration),
                      &GF_REBUILD_OPTIONS(.force = true, .threads = 1), &result, err);
}

/* Builds of another configuration are made and dropped, until none is left of before. */
static void publish_beside(void *context)
{
    beside *b = context;
    gf_store *other = b->t->stores[1];
    gf_error err;
    if (b->tries || !look(other, "fine").living) return;
    fixture_put(&b->t->f[1], "c", "000", "something else");
    for (b->tries = 0; b->tries < 4; b->tries++)
        assert_ok(rebuild_as(other, "default", &err));
}

/* The first build of a configuration needs changes that those of another one do not. */
static void changes_of_a_build_under_way_stay(void **state)
{
    two t;
    gf_error err;
    beside b = {.t = &t};
    const gf_pair k = {GF_SLICE("k"), GF_SLICE("2")};
    (void)state;
    open_two(&t);
    fixture_put_subjects(&t.f[0], "c");
    assert_ok(gf_configuration_set(t.stores[0], fixture_place("c"), GF_SLICE("fine"), &k, 1, &err));
    gf_model_watch(t.backends[0], publish_beside, &b);
    assert_ok(rebuild_as(t.stores[0], "fine", &err));
    gf_model_watch(t.backends[0], NULL, NULL);
    assert_int_equal(b.tries, 4);
    is_sound(t.stores[1], true);
    close_two(&t);
}

/* A process that was thought to have ended learns it, and leaves nothing. */
static void one_that_was_taken_over_writes_no_more(void **state)
{
    two t;
    gf_error err;
    beside b = {.takes_over = true};
    (void)state;
    open_two(&t);
    fixture_put_subjects(&t.f[0], "c");
    assert_status(GF_ECONFLICT, rebuild_beside(&t, &b, &err));
    assert_true(b.puts > 0);
    fixture_know_ended(t.stores[1]);
    assert_ok(gf_store_tidy(t.stores[1], &err));
    is_sound(t.stores[1], true);
    fixture_rebuild(&t.f[1], "c");
    is_sound(t.stores[1], true);
    close_two(&t);
}

static void a_deletion_is_not_begun_twice(void **state)
{
    two t;
    gf_error err;
    (void)state;
    open_two(&t);
    fixture_put_subjects(&t.f[0], "c");
    fixture_rebuild(&t.f[0], "c");
    assert_ok(gf_collection_delete(t.stores[1], fixture_place("c"), &err));
    assert_status(GF_ENOTFOUND, gf_collection_delete(t.stores[0], fixture_place("c"), &err));
    is_sound(t.stores[0], true);
    close_two(&t);
}

/* What a collection relies on is asked for, in words, before anything is written. */
static void a_backend_that_lacks_something_is_refused(void **state)
{
    const unsigned lacking[] = {GF_BACKEND_BATCH, GF_BACKEND_BATCH | GF_BACKEND_SHARED};
    (void)state;
    for (size_t i = 0; i < sizeof lacking / sizeof lacking[0]; i++) {
        gf_error err;
        gf_backend *backend;
        gf_store *s = fixture_share_as(NULL, lacking[i], &backend);
        gf_document d = {.id = GF_SLICE("1"), .text = GF_SLICE("one")};
        assert_status(GF_EINVAL, fixture_try_put(s, "c", &d, &err));
        assert_non_null(strstr(err.message, "keeps no collections"));
        assert_status(GF_EINVAL, gf_collection_create(s, fixture_place("c"), &err));
        assert_int_equal(gf_model_writes(backend), 0);
        gf_store_close(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_is_seen_by_all),
                                       cmocka_unit_test(one_that_is_not_renewed_ends),
                                       cmocka_unit_test(one_that_is_renewed_lives),
                                       cmocka_unit_test(a_lost_answer_costs_no_lease),
                                       cmocka_unit_test(one_that_fails_lets_others_live),
                                       cmocka_unit_test(a_cell_is_taken_apart),
                                       cmocka_unit_test(no_build_of_another_is_dropped),
                                       cmocka_unit_test(changes_of_a_build_under_way_stay),
                                       cmocka_unit_test(one_that_was_taken_over_writes_no_more),
                                       cmocka_unit_test(a_deletion_is_not_begun_twice),
                                       cmocka_unit_test(a_backend_that_lacks_something_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
