/*
 * Collections over a database that writes one row after another, and has no snapshots: what the
 * main path does there, how puts are divided, and what is read while others write.
 */
#include "tests/engine/fixture_shared.h"

#include "base/random.h"
#include "engine/store/hold.h"
#include "tests/engine/soundness.h"

#include <stdlib.h>
#include <time.h>

typedef struct two {
    gf_backend *backends[2];
    fixture f[2];
} two;

static void open_two(two *t)
{
    *t = (two){.backends = {NULL, NULL}};
    for (int i = 0; i < 2; i++)
        t->f[i].store =
            fixture_share_as(i ? t->backends[0] : NULL, GF_BACKEND_SHARED, &t->backends[i]);
}

static void close_two(two *t)
{
    gf_store_close(t->f[0].store);
    gf_store_close(t->f[1].store);
}

static void is_sound(gf_store *s, bool tidied)
{
    const char *fault = soundness_fault(s, tidied);
    if (fault) fail_msg("%s", fault);
}

static gf_view *open_view(fixture *f)
{
    gf_error err;
    gf_view *v;
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &v, &err));
    return v;
}

/* ---- the main path --------------------------------------------------------------------------- */

static gf_status count_hit(void *context, const gf_hit *hit, gf_error *err)
{
    (void)hit, (void)err;
    ++*(int *)context;
    return GF_OK;
}

static int search(fixture *f, const char *query)
{
    gf_error err;
    int n = 0;
    gf_search_options o = GF_SEARCH_OPTIONS(.limit = 50);
    assert_ok(
        gf_search(f->store, fixture_place("c"), gf_slice_str(query), &o, count_hit, &n, &err));
    return n;
}

static gf_status count_pending(void *context, const gf_document *d, const gf_membership *m,
                               gf_error *err)
{
    (void)d, (void)m, (void)err;
    ++*(int *)context;
    return GF_OK;
}

static int pending(fixture *f)
{
    gf_error err;
    int n = 0;
    gf_view *v = open_view(f);
    assert_ok(gf_view_pending(v, count_pending, &n, &err));
    gf_view_close(v);
    return n;
}

static void the_main_path(void **state)
{
    two t;
    gf_error err;
    (void)state;
    open_two(&t);
    fixture_put_subjects(&t.f[0], "c");
    fixture_rebuild(&t.f[0], "c");
    fixture_check_served(&t.f[1], "c", 12);
    assert_int_equal(fixture_read(&t.f[1], "c").size, 12);
    int found = search(&t.f[1], "brakes");
    assert_true(found > 0);

    fixture_put(&t.f[1], "c", "new", "one more of the old brakes");
    fixture_delete(&t.f[1], "c", "011");
    assert_int_equal(pending(&t.f[0]), 1);
    assert_int_equal(search(&t.f[0], "brakes"), found + 1);
    fixture_check_served(&t.f[0], "c", 11);
    fixture_rebuild(&t.f[1], "c");
    fixture_check_served(&t.f[0], "c", 12);
    assert_int_equal(pending(&t.f[0]), 0);
    assert_ok(gf_collection_delete(t.f[0].store, fixture_place("c"), &err));
    assert_status(GF_ENOTFOUND, gf_collection_delete(t.f[1].store, fixture_place("c"), &err));

    fixture_know_stopped(t.f[1].store);
    fixture_know_ended(t.f[1].store);
    for (int i = 0; i < 3; i++)
        assert_ok(gf_store_tidy(t.f[1].store, &err));
    is_sound(t.f[1].store, true);
    fixture_put_subjects(&t.f[1], "c");
    assert_int_equal(fixture_read(&t.f[0], "c").size, 12);
    is_sound(t.f[0].store, false);
    close_two(&t);
}

/* A build that is no longer served stays while views may read it, and goes later. */
static void an_old_build_stays_for_a_while(void **state)
{
    two t;
    gf_error err;
    int64_t builds[64];
    (void)state;
    open_two(&t);
    fixture_put_subjects(&t.f[0], "c");
    fixture_set(&t.f[0], "c", "default", "keep", "1");
    fixture_rebuild(&t.f[0], "c");
    gf_view *v = open_view(&t.f[1]);
    fixture_put(&t.f[0], "c", "new", "one more of the old brakes");
    fixture_rebuild(&t.f[0], "c");
    uint64_t memberships;
    assert_null(fixture_fault_of(v, &memberships));
    assert_int_equal(memberships, 12);
    gf_view_close(v);
    assert_int_equal(fixture_builds(&t.f[0], "c", "default", builds), 1);

    fixture_know_stopped(t.f[1].store);
    fixture_know_ended(t.f[1].store);
    for (int i = 0; i < 3; i++)
        assert_ok(gf_store_tidy(t.f[1].store, &err));
    is_sound(t.f[1].store, true);
    fixture_check_served(&t.f[0], "c", 13);
    close_two(&t);
}

/* One more process that opens the store, has a grace in seconds, clears away and ends. */
static uint64_t run_command(two *t, double grace, bool *clear)
{
    gf_error err;
    gf_backend *b;
    gf_store *s = fixture_share_as(t->backends[0], GF_BACKEND_SHARED, &b);
    fixture_know_ended(s);
    s->grace = grace;
    assert_ok(gf_store_tidy(s, &err));
    is_sound(s, false);
    *clear = !soundness_fault(s, true);
    uint64_t writes = gf_model_writes(b);
    gf_store_close(s);
    return writes;
}

/* Each lives for a moment, and none sees the mark for long; the mark itself says how old it is. */
static void commands_clear_away_old_builds(void **state)
{
    two t;
    bool clear;
    const struct timespec moment = {0, 20000000};
    (void)state;
    open_two(&t);
    fixture_put_subjects(&t.f[0], "c");
    fixture_set(&t.f[0], "c", "default", "keep", "1");
    fixture_rebuild(&t.f[0], "c");
    fixture_put(&t.f[0], "c", "new", "one more of the old brakes");
    fixture_rebuild(&t.f[0], "c");
    assert_true(run_command(&t, 3600, &clear) > 1);
    assert_false(clear);
    /* Nothing is held: the time is asked for alone. */
    assert_int_equal(run_command(&t, 3600, &clear), 1);
    assert_false(clear);
    for (int i = 0; i < 3000 && !clear; i++) {
        run_command(&t, 0.2, &clear);
        nanosleep(&moment, NULL);
    }
    assert_true(clear);
    fixture_check_served(&t.f[1], "c", 13);
    close_two(&t);
}

/* ---- puts ------------------------------------------------------------------------------------ */

static void a_put_is_divided(void **state)
{
    enum { LONG = 300000, N = 9 };
    two t;
    gf_error err;
    gf_put *put;
    char *text = malloc(LONG), id[8];
    static const char *const names[] = {"b", "c", "a"};
    (void)state;
    assert_non_null(text);
    memset(text, 'x', LONG);
    open_two(&t);
    assert_ok(
        gf_put_open(t.f[0].store, &GF_PUT_OPTIONS(.name_space = GF_SLICE("test")), &put, &err));
    for (int i = 0; i < N * 3; i++) {
        snprintf(id, sizeof id, "%d", i);
        text[i] = 'y';
        gf_document d = {.id = gf_slice_str(id), .text = gf_slice_of(text, LONG)};
        assert_ok(gf_put_document(put, gf_slice_str(names[i % 3]), &d, &err));
    }
    assert_ok(gf_put_flush(put, &err));
    gf_put_counts counts = gf_put_counted(put);
    assert_int_equal(counts.created, N * 3);
    assert_int_equal(counts.collections, 3);
    gf_put_close(put);
    for (int i = 0; i < 3; i++)
        assert_int_equal(fixture_read(&t.f[1], names[i]).size, N);
    is_sound(t.f[1].store, false);
    free(text);
    close_two(&t);
}

static void a_limit_of_collections_holds(void **state)
{
    two t;
    gf_error err;
    gf_put *put;
    (void)state;
    open_two(&t);
    assert_ok(gf_put_open(t.f[0].store,
                          &GF_PUT_OPTIONS(.name_space = GF_SLICE("test"), .max_collections = 2),
                          &put, &err));
    static const char *const names[] = {"a", "b", "c"};
    gf_document d = {.id = GF_SLICE("1"), .text = GF_SLICE("one")};
    for (int i = 0; i < 3; i++)
        assert_ok(gf_put_document(put, gf_slice_str(names[i]), &d, &err));
    assert_status(GF_ELIMIT, gf_put_flush(put, &err));
    gf_put_close(put);
    assert_int_equal(fixture_read(&t.f[1], "b").size, 1);
    is_sound(t.f[1].store, false);
    close_two(&t);
}

/* ---- beside others --------------------------------------------------------------------------- */

/* Before a step of the first the second reads all that it can. */
typedef struct reader {
    two *t;
    int reads;
} reader;

static gf_status ignore_document(void *context, const gf_document *d, gf_error *err)
{
    (void)context, (void)d, (void)err;
    return GF_OK;
}

static void read_beside(void *context)
{
    reader *r = context;
    gf_error err;
    fixture *f = &r->t->f[1];
    uint64_t memberships;
    gf_view *v = open_view(f);
    const char *fault = fixture_fault_of(v, &memberships);
    gf_view_close(v);
    if (fault) fail_msg("a view: %s", fault);
    assert_true(pending(f) >= 0);
    assert_true(search(f, "brakes engine") >= 0);
    assert_ok(gf_documents_visit(f->store, fixture_place("c"), ignore_document, NULL, &err));
    r->reads++;
}

static void what_is_read_beside_puts_is_whole(void **state)
{
    two t;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    (void)state;
    open_two(&t);
    reader r = {.t = &t};
    fixture_put_subjects(&t.f[0], "c");
    fixture_rebuild(&t.f[0], "c");
    gf_model_watch(t.backends[0], read_beside, &r);
    for (int i = 0; i < 60; i++) {
        char id[8];
        snprintf(id, sizeof id, "%03d", (int)gf_random_below(&random, 14));
        if (gf_random_below(&random, 3))
            fixture_put(&t.f[0], "c", id, i % 2 ? "bread with yeast again" : "the engine of a car");
        else
            (void)fixture_try_delete(t.f[0].store, "c", id, NULL);
        if (i % 20 == 19) fixture_rebuild(&t.f[0], "c");
    }
    gf_model_watch(t.backends[0], NULL, NULL);
    assert_true(r.reads > 200);
    is_sound(t.f[1].store, false);
    close_two(&t);
}

/* Before some step of a rebuild a document is changed, one put, and one deleted. */
typedef struct changer {
    two *t;
    int steps; /* until then; < 0: it was */
} changer;

static void change_once(void *context)
{
    changer *c = context;
    fixture *f = &c->t->f[1];
    if (c->steps-- != 0) return;
    fixture_put(f, "c", "000", "a banana that was changed");
    fixture_put(f, "c", "new", "a banana that came");
    fixture_delete(f, "c", "001");
}

/* The documents of a rebuild that is disturbed before that step; 0: it gave way. */
static uint64_t disturb(int step, bool *was)
{
    two t;
    gf_error err;
    gf_rebuild_result result;
    gf_membership m;
    uint64_t n = 0;
    open_two(&t);
    changer c = {&t, step};
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1);
    fixture_put_subjects(&t.f[0], "c");
    gf_database_set_patience(t.f[1].store->db, 0);
    gf_model_watch(t.backends[0], change_once, &c);
    gf_status st = fixture_try_rebuild(&t.f[0], "c", &o, &result, &err);
    gf_model_watch(t.backends[0], NULL, NULL);
    *was = c.steps < 0;
    if (st == GF_OK) {
        n = result.build.documents;
        bool of_before = result.build.seq == 12;
        assert_true(of_before || result.build.seq == 15);
        gf_view *v = open_view(&t.f[1]);
        st = gf_view_membership(v, GF_SLICE("000"), &m, &err);
        assert_int_equal(st, n == 10 ? GF_ENOTFOUND : GF_OK);
        assert_status(*was ? GF_ENOTFOUND : GF_OK,
                      gf_view_membership(v, GF_SLICE("001"), &m, &err));
        gf_view_close(v);
        assert_int_equal(pending(&t.f[1]), *was && of_before ? 2 : 0);
        fixture_check_served(&t.f[1], "c", *was && n == 12 && of_before ? 11 : n);
    } else {
        assert_status(GF_ECONFLICT, st);
    }
    is_sound(t.f[1].store, false);
    close_two(&t);
    return n;
}

/* Such documents count as put after the build, which has those that stayed as they were. */
static void a_build_has_what_did_not_change(void **state)
{
    bool was = true;
    int ten = 0, twelve = 0;
    (void)state;
    for (int step = 0; was; step++) {
        uint64_t n = disturb(step, &was);
        assert_true(n == 0 || n == 10 || n == 12);
        ten += n == 10;
        twelve += n == 12;
    }
    assert_true(ten > 0 && twelve > 3);
}

/* ---- lost answers ---------------------------------------------------------------------------- */

/* A rebuild of 13 documents one of whose writes is made without an answer. False: it has fewer. */
static bool lose_answer(uint64_t write, unsigned calls, uint64_t *published)
{
    two t;
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
    open_two(&t);
    fixture_put_subjects(&t.f[0], "c");
    fixture_rebuild(&t.f[0], "c");
    fixture_put(&t.f[0], "c", "new", "one more of the old brakes");
    gf_database_set_patience(t.f[0].store->db, 0);
    uint64_t last = gf_model_writes(t.backends[0]) + write;
    gf_model_lose_answer(t.backends[0], write, calls);
    gf_status st = fixture_try_rebuild(&t.f[0], "c", &o, &result, &err);
    bool was = gf_model_writes(t.backends[0]) >= last;

    fixture_know_ended(t.f[1].store);
    assert_ok(gf_store_tidy(t.f[1].store, &err));
    is_sound(t.f[1].store, false);
    gf_view *v = open_view(&t.f[1]);
    uint64_t memberships;
    assert_null(fixture_fault_of(v, &memberships));
    gf_view_close(v);
    assert_true(memberships == 13 || (memberships == 12 && st != GF_OK));
    if (calls < 2) assert_int_equal(memberships == 13, st == GF_OK); /* it was asked */
    *published += memberships == 13 && st != GF_OK;
    fixture_put(&t.f[1], "c", "newer", "another of the brakes");
    fixture_rebuild(&t.f[1], "c");
    fixture_check_served(&t.f[1], "c", 14);
    fixture_know_stopped(t.f[1].store);
    for (int i = 0; i < 3; i++)
        assert_ok(gf_store_tidy(t.f[1].store, &err));
    is_sound(t.f[1].store, true);
    close_two(&t);
    return was;
}

/* A build that was published without an answer is not dropped, whichever calls fail then. */
static void any_lost_answer_leaves_a_sound_store(void **state)
{
    uint64_t published = 0;
    (void)state;
    for (unsigned calls = 0; calls < 4; calls++)
        for (uint64_t write = 1; lose_answer(write, calls, &published); write++)
            ;
    assert_true(published > 0);
}

/* ---- a batch that cannot be finished --------------------------------------------------------- */

static const gf_backend_operations *working;
static bool fails;

/* Rows of one document are larger than the database takes. */
static gf_status refuse_large(gf_backend *b, const gf_change *changes, size_t n,
                              const gf_expectation *condition, gf_backend_hold *hold, gf_sync sync,
                              gf_error *err)
{
    gf_slice end = GF_SLICE("large\0\1");
    for (size_t i = 0; i < n && fails; i++) {
        gf_slice key = changes[i].key;
        if (key.len > end.len && gf_slice_equal(gf_slice_skip(key, key.len - end.len), end))
            return gf_fail(err, GF_EUNKNOWN, "the connection was closed");
    }
    return working->write(b, changes, n, condition, hold, sync, err);
}

/* Its journal is in the way of its collection, and of no other. */
static void one_that_cannot_be_finished_is_in_nobodys_way(void **state)
{
    two t;
    gf_error err;
    gf_backend_operations refusing[2];
    gf_document large = {.id = GF_SLICE("large"), .text = GF_SLICE("a")};
    gf_document small = {.id = GF_SLICE("small"), .text = GF_SLICE("a")};
    (void)state;
    open_two(&t);
    for (int i = 0; i < 2; i++) {
        working = t.backends[i]->operations;
        refusing[i] = *working;
        refusing[i].write = refuse_large;
        t.backends[i]->operations = &refusing[i];
    }
    fixture_put_subjects(&t.f[0], "c");
    fixture_put_subjects(&t.f[0], "other");
    fixture_rebuild(&t.f[0], "other");
    fails = true;
    assert_status(GF_EUNKNOWN, fixture_try_put(t.f[0].store, "c", &large, &err));

    fixture_know_ended(t.f[1].store);
    assert_status(GF_EUNKNOWN, fixture_try_put(t.f[1].store, "c", &small, &err));
    fixture_know_ended(t.f[1].store);
    assert_ok(fixture_try_put(t.f[1].store, "other", &small, &err));
    fixture_know_ended(t.f[1].store);
    fixture_rebuild(&t.f[1], "other");
    fixture_check_served(&t.f[1], "other", 13);
    assert_status(GF_EUNKNOWN, gf_store_finish_all_batches(t.f[1].store, &err));

    fails = false;
    fixture_know_ended(t.f[1].store);
    assert_ok(fixture_try_put(t.f[1].store, "c", &small, &err));
    assert_int_equal(fixture_read(&t.f[1], "c").size, 14);
    is_sound(t.f[1].store, false);
    for (int i = 0; i < 2; i++)
        t.backends[i]->operations = working;
    close_two(&t);
}

/* ---- tables of users ------------------------------------------------------------------------- */

#define ONE_FAMILY                                                                                 \
    "{\"key\": [{\"name\": \"id\", \"type\": \"text\"}], \"families\": [{\"name\": \"%s\"}]}"
#define ADDITION "{\"families\": [{\"name\": \"%s\"}]}"

typedef struct beside {
    gf_store *other;
    bool alters, done;
    gf_status st;
} beside;

static gf_status make(gf_store *s, const char *family, gf_error *err)
{
    char json[160];
    snprintf(json, sizeof json, ONE_FAMILY, family);
    return gf_user_table_create(s, GF_SLICE("default"), GF_SLICE("users"), gf_slice_str(json), err);
}

static gf_status add(gf_store *s, const char *family, gf_error *err)
{
    char json[160];
    snprintf(json, sizeof json, ADDITION, family);
    return gf_user_table_alter(s, GF_SLICE("default"), GF_SLICE("users"), gf_slice_str(json), err);
}

/* Before the first one's write of the row, whose counter of names was a write, too. */
static void work_beside(void *context)
{
    beside *b = context;
    gf_error err;
    if (b->done) return;
    b->done = true;
    b->st = b->alters ? add(b->other, "more", &err) : make(b->other, "theirs", &err);
}

/* Of two processes that make or alter a table at once one is told that it came second. */
static void two_that_make_or_alter_a_table(void **state)
{
    two t;
    gf_error err;
    (void)state;
    open_two(&t);
    beside b = {.other = t.f[1].store};
    gf_model_watch(t.backends[0], work_beside, &b);
    assert_status(GF_EEXISTS, make(t.f[0].store, "mine", &err));
    assert_ok(b.st);
    gf_model_watch(t.backends[0], NULL, NULL);

    b = (beside){.other = t.f[1].store, .alters = true};
    gf_model_watch(t.backends[0], work_beside, &b);
    assert_status(GF_ECONFLICT, add(t.f[0].store, "mine", &err));
    assert_ok(b.st);
    gf_model_watch(t.backends[0], NULL, NULL);
    assert_ok(add(t.f[0].store, "mine", &err));
    close_two(&t);
}

/* A batch of which only the journal is there. */
static void cut_batch_short(two *t)
{
    gf_error err;
    gf_user_table *users;
    gf_batch *batch;
    gf_hold hold;
    gf_store *s = t->f[0].store;
    assert_ok(gf_user_table_open(s, GF_SLICE("default"), GF_SLICE("users"), &users, &err));
    assert_ok(gf_batch_create(s->db, &batch, &err));
    gf_batch_put(batch, gf_user_table_rows(users), GF_SLICE("u1\0\1"), 0, GF_SLICE("n"),
                 GF_SLICE("1"), 0);
    assert_ok(gf_hold_batches(s, &hold, &err));
    gf_model_lose_answer(t->backends[0], 2, 1000); /* the first one asks for the time */
    assert_status(GF_EUNKNOWN, gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_hold_let_go(&hold);
    gf_batch_free(batch);
    gf_user_table_close(users);
}

/* Where others know the tables by their names, one may be made anew that others have dropped. */
static void a_table_made_anew_has_nothing_of_before(void **state)
{
    two t = {.backends = {NULL, NULL}};
    gf_error err;
    gf_batch *batch;
    gf_user_table *users;
    gf_row row = {0};
    gf_buffer key = {0};
    (void)state;
    for (int i = 0; i < 2; i++)
        t.f[i].store = fixture_share_as(i ? t.backends[0] : NULL,
                                        GF_BACKEND_SHARED | GF_BACKEND_NAMED, &t.backends[i]);
    gf_store *s = t.f[1].store;
    assert_ok(make(t.f[0].store, "mine", &err));
    cut_batch_short(&t);
    gf_database_set_patience(s->db, 0);
    gf_tables_collection_key(&key, GF_SLICE("default"), GF_SLICE("users"));
    assert_ok(gf_batch_create(s->db, &batch, &err));
    gf_batch_delete_row(batch, s->tables.tables, gf_buffer_view(&key), GF_ALL_FAMILIES);
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    assert_ok(make(s, "mine", &err));
    assert_ok(gf_store_finish_batches(s, &err));
    assert_ok(gf_user_table_open(s, GF_SLICE("default"), GF_SLICE("users"), &users, &err));
    assert_status(GF_ENOTFOUND, gf_table_get(gf_user_table_rows(users), NULL, GF_SLICE("u1\0\1"),
                                             GF_ALL_FAMILIES, &row, &err));
    gf_row_release(&row);
    gf_user_table_close(users);
    gf_batch_free(batch);
    gf_buffer_release(&key);
    close_two(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_main_path),
        cmocka_unit_test(an_old_build_stays_for_a_while),
        cmocka_unit_test(commands_clear_away_old_builds),
        cmocka_unit_test(a_put_is_divided),
        cmocka_unit_test(a_limit_of_collections_holds),
        cmocka_unit_test(what_is_read_beside_puts_is_whole),
        cmocka_unit_test(a_build_has_what_did_not_change),
        cmocka_unit_test(any_lost_answer_leaves_a_sound_store),
        cmocka_unit_test(one_that_cannot_be_finished_is_in_nobodys_way),
        cmocka_unit_test(two_that_make_or_alter_a_table),
        cmocka_unit_test(a_table_made_anew_has_nothing_of_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
