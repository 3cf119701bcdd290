#include "tests/engine/fixture.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "engine/rebuild_internal.h"

#include <inttypes.h>

static gf_status rebuild(fixture *f, const char *collection, const gf_rebuild_options *o,
                         gf_rebuild_result *result, gf_error *err)
{
    return gf_rebuild(f->store, fixture_place(collection), fixture_default(), o, result, err);
}

static gf_rebuild_outcome outcome(fixture *f, const char *collection, bool force, bool dry_run)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o = {.force = force, .dry_run = dry_run, .threads = 1};
    assert_ok(rebuild(f, collection, &o, &result, &err));
    return result.outcome;
}

/* ---- when a rebuild is made --------------------------------------------------------------------
 */

static void only_what_was_modified_is_rebuilt(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    assert_int_equal(outcome(&f, "c", false, true), GF_WOULD_REBUILD);
    assert_int_equal(fixture_read(&f, "c").served, 0);
    assert_int_equal(outcome(&f, "c", false, false), GF_REBUILT);
    int64_t first = fixture_check_served(&f, "c", 12);
    assert_int_equal(outcome(&f, "c", false, false), GF_UNMODIFIED);
    assert_int_equal(outcome(&f, "c", false, true), GF_UNMODIFIED);
    assert_int_equal(outcome(&f, "c", true, true), GF_WOULD_REBUILD);
    assert_int_equal(fixture_check_served(&f, "c", 12), first);
    assert_int_equal(outcome(&f, "c", true, false), GF_REBUILT);
    assert_true(fixture_check_served(&f, "c", 12) > first);
    fixture_put_subjects(&f, "c");
    assert_int_equal(outcome(&f, "c", false, false), GF_UNMODIFIED);
    fixture_put(&f, "c", "000", "another text");
    assert_int_equal(outcome(&f, "c", false, false), GF_REBUILT);
    fixture_delete(&f, "c", "nothing");
    assert_int_equal(outcome(&f, "c", false, false), GF_UNMODIFIED);
    fixture_delete(&f, "c", "000");
    assert_int_equal(outcome(&f, "c", false, false), GF_REBUILT);
    fixture_check_served(&f, "c", 11);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void changed_settings_are_a_modification(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    assert_int_equal(outcome(&f, "c", false, false), GF_REBUILT);
    fixture_set(&f, "c", "default", "k", "auto"); /* what it is anyway */
    assert_int_equal(outcome(&f, "c", false, false), GF_UNMODIFIED);
    fixture_set(&f, "c", "other", "k", "2"); /* another configuration's */
    assert_int_equal(outcome(&f, "c", false, false), GF_UNMODIFIED);
    fixture_set(&f, "c", "default", "k", "2");
    assert_int_equal(outcome(&f, "c", false, false), GF_REBUILT);
    fixture_set(&f, "c", "default", "k", "2");
    assert_int_equal(outcome(&f, "c", false, false), GF_UNMODIFIED);
    fixture_set(&f, "c", "default", "k", "");
    assert_int_equal(outcome(&f, "c", false, false), GF_REBUILT);
    fixture_close(&f);
}

static void what_is_not_there_cannot_be_rebuilt(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_rebuild_result result = {.outcome = GF_WOULD_REBUILD}, before = result;
    gf_rebuild_options o = {.threads = 1};
    fixture_open(&f);
    assert_status(GF_ENOTFOUND, rebuild(&f, "c", &o, &result, &err));
    fixture_put_subjects(&f, "c");
    assert_status(GF_ENOTFOUND,
                  gf_rebuild(f.store, fixture_place("c"), GF_SLICE("fine"), &o, &result, &err));
    assert_string_equal(err.message, "there is no configuration \"fine\"");
    assert_memory_equal(&result, &before, sizeof before);
    fixture_close(&f);
}

/* ---- a hand example ----------------------------------------------------------------------------
 */

static gf_status note_cluster_of(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)id, (void)err;
    uint32_t **next = context;
    *(*next)++ = m->cluster;
    return GF_OK;
}

static void subjects_come_apart(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_view *view;
    uint32_t cluster[12], *next = cluster;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "3");
    gf_build_info build = fixture_rebuild(&f, "c");
    assert_int_equal(build.k, 3);
    assert_int_equal(build.documents, 12);
    assert_int_equal(build.distinct, 12);
    assert_int_equal(build.without_terms, 0);
    assert_true(build.objective > 0.5 && build.objective <= 1);
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &view, &err));
    assert_ok(gf_view_memberships(view, note_cluster_of, &next, &err));
    gf_view_close(view);
    for (int i = 0; i < 12; i++)
        assert_int_equal(cluster[i], cluster[i / 4 * 4]);
    assert_true(cluster[0] != cluster[4] && cluster[4] != cluster[8] && cluster[0] != cluster[8]);
    fixture_close(&f);
}

/* ---- stopped in the middle ---------------------------------------------------------------------
 */

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

static void same_dump(fixture *f, const gf_buffer *before, const char *when)
{
    gf_buffer after = {0};
    fixture_dump(f, &after);
    if (!gf_slice_equal(gf_buffer_view(before), gf_buffer_view(&after)))
        fail_msg("%s: the store has changed", when);
    gf_buffer_release(&after);
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
        gf_rebuild_options o = {.force = true,
                                .threads = 1 + (unsigned)stops % 2,
                                .cancel = &s.cancel,
                                .progress = stop,
                                .context = &s};
        st = rebuild(&f, "c", &o, &result, &err);
        if (st == GF_OK && s.calls > s.at) fail_msg("not stopped in \"%s\"", s.phase);
        if (st == GF_ECANCELLED) same_dump(&f, &before, s.phase);
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

/* ---- what others do meanwhile ------------------------------------------------------------------
 */

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
    gf_rebuild_options o = {.force = true, .threads = 1, .progress = act_once, .context = &m};
    gf_status st = rebuild(f, "c", &o, &result, err);
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
    assert_int_equal(outcome(&f, "c", false, false), GF_REBUILT);
    fixture_check_served(&f, "c", 12);
    fixture_close(&f);
}

static void try_what_must_wait(fixture *f)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o = {.force = true, .threads = 1};
    assert_status(GF_EBUSY, rebuild(f, "c", &o, &result, &err));
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
    assert_int_equal(outcome(&f, "c", false, false), GF_REBUILT);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* From the beginning of a build on, whatever is put is not in it. */
static void a_build_reads_its_snapshot(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_job job, *jobs = &job;
    gf_snapshot *snapshot;
    gf_rebuild_options o = {.force = true};
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    assert_ok(gf_job_init(&job, f.store, fixture_place("c"), fixture_default(), &o, &err));
    assert_ok(gf_jobs_begin(&jobs, 1, &snapshot, &err));
    put_change_and_delete(&f);
    assert_ok(gf_job_gather(&job, &err));
    assert_int_equal(job.documents.n, 12);
    assert_slice(gf_gathered_id(&job.documents, 2), "002");
    assert_int_equal(job.seq, 12);
    gf_jobs_end(&jobs, 1);
    gf_snapshot_free(snapshot);
    gf_job_release(&job);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static int64_t other_build;

static void move_the_pointer(fixture *f)
{
    gf_error err;
    gf_batch *batch;
    gf_digits digits;
    gf_buffer key = {0};
    gf_collection_key(&key, GF_SLICE("test"), GF_SLICE("c"));
    assert_ok(gf_batch_create(f->store->db, &batch, &err));
    gf_batch_put(batch, f->store->tables.collections, gf_buffer_view(&key), GF_COLLECTIONS_MAIN,
                 GF_SLICE("configuration:default:rebuilt"),
                 gf_write_number(&digits, (uint64_t)other_build), 0);
    assert_ok(gf_batch_write(batch, GF_SYNC, &err));
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

/* ---- times and builds that are kept ------------------------------------------------------------
 */

static void hundred_rebuilds_are_told_apart(void **state)
{
    (void)state;
    fixture f;
    int64_t last = 0;
    fixture_open(&f);
    fixture_put(&f, "c", "first", "the first document");
    for (int i = 0; i < 100; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        fixture_put(&f, "c", id, i % 2 ? "some words" : "other things");
        gf_build_info b = fixture_rebuild(&f, "c");
        assert_true(b.build > last);
        assert_int_equal(b.documents, 2 + i);
        assert_int_equal(b.seq, 2 + i);
        last = b.build;
        assert_int_equal(fixture_read(&f, "c").served, last);
    }
    fixture_check_served(&f, "c", 101);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* As after a clock that went an hour ahead and was set right: a build of then is there. */
static void copy_build_to(fixture *f, int64_t from, int64_t to)
{
    gf_error err;
    gf_batch *batch;
    gf_row row = {0};
    gf_buffer key = {0};
    gf_table *builds = f->store->tables.builds;
    gf_build_key(&key, GF_SLICE("test"), GF_SLICE("c"), fixture_default(), from);
    assert_ok(gf_table_get(builds, NULL, gf_buffer_view(&key), 1U << GF_BUILDS_MAIN, &row, &err));
    gf_buffer_reset(&key);
    gf_build_key(&key, GF_SLICE("test"), GF_SLICE("c"), fixture_default(), to);
    assert_ok(gf_batch_create(f->store->db, &batch, &err));
    for (size_t i = 0; i < row.n_cells; i++)
        gf_batch_put(batch, builds, gf_buffer_view(&key), GF_BUILDS_MAIN, row.cells[i].qualifier,
                     row.cells[i].value, 0);
    assert_ok(gf_batch_write(batch, GF_SYNC, &err));
    gf_batch_free(batch);
    gf_row_release(&row);
    gf_buffer_release(&key);
}

static void times_rise_though_the_clock_goes_back(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    int64_t first = fixture_rebuild(&f, "c").build, ahead = gf_clock_ms() + 3600000;
    copy_build_to(&f, first, ahead);
    for (int i = 1; i <= 3; i++)
        assert_int_equal(fixture_rebuild(&f, "c").build, ahead + i);
    assert_int_equal(fixture_check_served(&f, "c", 12), ahead + 3);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void check_kept(fixture *f, size_t keep, int64_t *made, size_t n)
{
    int64_t builds[64];
    assert_int_equal(fixture_builds(f, "c", "default", builds), keep < n ? keep : n);
    for (size_t i = 0; i < n; i++) {
        bool kept = i + keep >= n;
        if (kept) assert_int_equal(builds[n - 1 - i], made[i]);
        uint64_t entries = fixture_count_build(f, "c", "default", made[i]);
        if (kept != (entries > 0)) fail_msg("%" PRIu64 " entries of build %zu", entries, i);
    }
}

static void so_many_builds_are_kept(void **state)
{
    (void)state;
    static const size_t keeps[] = {2, 1, 5, 3};
    fixture f;
    gf_error err;
    int64_t made[64];
    size_t n = 0;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    for (size_t i = 0; i < 4; i++) {
        char text[8];
        snprintf(text, sizeof text, "%zu", keeps[i]);
        fixture_set(&f, "c", "default", "keep", text);
        size_t there = i ? keeps[i - 1] : 0;
        for (size_t j = 0; j < 7; j++) {
            made[n++] = fixture_rebuild(&f, "c").build;
            there = there + 1 < keeps[i] ? there + 1 : keeps[i];
            check_kept(&f, there, made, n);
        }
    }
    for (size_t i = n - 3; i < n; i++) { /* each can be read */
        gf_view *view;
        uint64_t memberships;
        assert_ok(
            gf_view_open(f.store, fixture_place("c"), fixture_default(), made[i], &view, &err));
        assert_null(fixture_fault_of(view, &memberships));
        assert_int_equal(gf_view_build(view)->served, i + 1 == n);
        gf_view_close(view);
    }
    gf_view *none;
    assert_status(GF_ENOTFOUND, gf_view_open(f.store, fixture_place("c"), fixture_default(),
                                             made[0], &none, &err));
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void a_deleted_configuration_leaves_nothing(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer before = {0};
    gf_rebuild_result result;
    gf_rebuild_options o = {.force = true, .threads = 1};
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "3"); /* so that the settings column stays */
    fixture_rebuild(&f, "c");
    fixture_dump(&f, &before);
    fixture_set(&f, "c", "default!", "k", "2");
    for (int i = 0; i < 2; i++)
        assert_ok(gf_rebuild(f.store, fixture_place("c"), GF_SLICE("default!"), &o, &result, &err));
    assert_ok(gf_configuration_delete(f.store, fixture_place("c"), GF_SLICE("default!"), &err));
    same_dump(&f, &before, "deleted");
    assert_status(GF_ENOTFOUND,
                  gf_configuration_delete(f.store, fixture_place("c"), GF_SLICE("default!"), &err));
    assert_ok(gf_configuration_delete(f.store, fixture_place("c"), fixture_default(), &err));
    assert_int_equal(fixture_read(&f, "c").served, 0);
    assert_int_equal(outcome(&f, "c", false, false), GF_REBUILT);
    fixture_is_sound(&f);
    gf_buffer_release(&before);
    fixture_close(&f);
}

static void a_deleted_collection_leaves_nothing(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer before = {0};
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_put_subjects(&f, "c1");
    fixture_rebuild(&f, "c1");
    fixture_rebuild(&f, "c");
    fixture_delete(&f, "c", "000");
    assert_ok(gf_collection_delete(f.store, fixture_place("c1"), &err));
    assert_status(GF_ENOTFOUND, gf_collection_delete(f.store, fixture_place("c1"), &err));
    fixture_dump(&f, &before);
    fixture_put_subjects(&f, "c1");
    fixture_rebuild(&f, "c1");
    fixture_delete(&f, "c1", "003");
    assert_ok(gf_collection_delete(f.store, fixture_place("c1"), &err));
    same_dump(&f, &before, "deleted");
    fixture_check_served(&f, "c", 11);
    fixture_is_sound(&f);
    gf_buffer_release(&before);
    fixture_close(&f);
}

/* ---- the same bytes ----------------------------------------------------------------------------
 */

static void build_with(fixture *f, const char *collection, const char *k, unsigned threads,
                       gf_buffer *out)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o = {.threads = threads};
    fixture_put_posts(f, collection, FIXTURE_POSTS);
    fixture_set(f, collection, "default", "k", k);
    fixture_set(f, collection, "default", "store_vectors", "on");
    assert_ok(rebuild(f, collection, &o, &result, &err));
    fixture_dump_build(f, collection, "default", result.build.build, out);
}

static void same_bytes_for_any_number_of_threads(void **state)
{
    (void)state;
    static const char *const ks[] = {"auto", "5", "40"};
    fixture f;
    fixture_open(&f);
    for (size_t i = 0; i < 3; i++) {
        gf_buffer expected = {0};
        for (unsigned threads = 1; threads <= 3; threads++) {
            char name[32];
            gf_buffer found = {0};
            snprintf(name, sizeof name, "%s-%u", ks[i], threads);
            build_with(&f, name, ks[i], threads, threads == 1 ? &expected : &found);
            if (threads > 1 && !gf_slice_equal(gf_buffer_view(&expected), gf_buffer_view(&found)))
                fail_msg("k=%s: other bytes with %u threads", ks[i], threads);
            gf_buffer_release(&found);
        }
        gf_buffer_release(&expected);
    }
    fixture_close(&f);
}

/* ---- odd collections ---------------------------------------------------------------------------
 */

static void check_odd(const char *const *texts, size_t n, const char *k, gf_build_info expected)
{
    fixture f;
    gf_error err;
    fixture_open(&f);
    assert_ok(gf_collection_create(f.store, fixture_place("c"), &err));
    fixture_put_texts(&f, "c", texts, n);
    fixture_set(&f, "c", "default", "k", k);
    gf_build_info b = fixture_rebuild(&f, "c");
    fixture_check_served(&f, "c", n);
    assert_int_equal(b.documents, n);
    assert_int_equal(b.without_terms, expected.without_terms);
    assert_int_equal(b.distinct, expected.distinct);
    if (b.k < 1 - (n == expected.without_terms) || b.k > expected.k)
        fail_msg("%" PRIu32 " clusters, at most %" PRIu32 " expected", b.k, expected.k);
    assert_true(b.objective >= 0 && b.objective <= 1.000001);
    assert_int_equal(outcome(&f, "c", false, false), GF_UNMODIFIED);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void odd_collections_are_built(void **state)
{
    (void)state;
    static const char *const ks[] = {"auto", "1", "2", "1000"};
    static const char *const same[9] = {"same words", "same words", "same words",
                                        "same words", "same words", "same words",
                                        "same words", "same words", "same words"};
    static const char *const wordless[3] = {"", "!!! ??", "\xE2\x80\xA6"};
    static const char *const mixed[4] = {"", "some words", "!", "same things"};
    for (size_t i = 0; i < 4; i++) {
        check_odd(NULL, 0, ks[i], (gf_build_info){.k = 0});
        check_odd(same, 1, ks[i], (gf_build_info){.k = 1, .distinct = 1});
        check_odd(mixed + 1, 1, ks[i], (gf_build_info){.k = 1, .distinct = 1});
        check_odd(same, 2, ks[i], (gf_build_info){.k = 1, .distinct = 1});
        check_odd(same, 9, ks[i], (gf_build_info){.k = 1, .distinct = 1});
        check_odd(wordless, 3, ks[i], (gf_build_info){.k = 0, .without_terms = 3});
        check_odd(mixed, 4, ks[i], (gf_build_info){.k = 2, .without_terms = 2, .distinct = 2});
        check_odd((const char *const[]){"alpha beta", "gamma delta"}, 2, ks[i],
                  (gf_build_info){.k = 2, .distinct = 2});
    }
}

enum {
    MANY = 42000,
    ENGLISH = 23000
}; /* more than two groups that are read, or written, at once */

/* The first half in English, the second in German: that is noticed after the first group. */
static void put_many(fixture *f)
{
    static const char *const texts[2][3] = {
        {"the printer is out of paper and the tray is stuck with it again %d",
         "this engine of the car has been making noises whenever I was driving %d",
         "we were looking for a recipe with cheese and they have given us one %d"},
        {"der Drucker hat schon wieder kein Papier und das Fach klemmt auch noch %d",
         "der Motor des Wagens macht beim Fahren immer noch merkwuerdige Geraeusche %d",
         "wir haben ein Rezept mit viel Kaese gesucht und es auch gefunden %d"}};
    gf_error err;
    gf_put *put;
    assert_ok(gf_put_open(f->store, &(gf_put_options){.name_space = GF_SLICE("test")}, &put, &err));
    for (int i = 0; i < MANY; i++) {
        char id[16], text[128];
        gf_document d = {.id = gf_slice_of(id, (size_t)snprintf(id, sizeof id, "%06d", i))};
        int n = snprintf(text, sizeof text, texts[i >= ENGLISH][i % 3], i);
        d.text = gf_slice_of(text, (size_t)n);
        assert_ok(gf_put_document(put, GF_SLICE("many"), &d, &err));
    }
    assert_ok(gf_put_flush(put, &err));
    assert_int_equal(gf_put_counted(put).created, MANY);
    gf_put_close(put);
}

/* What is read and written by a thread beside comes to the same bytes; nothing is lost of it. */
static void many_documents_are_read_and_written_beside(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer dumps[2] = {{0}, {0}};
    fixture_open(&f);
    put_many(&f);
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "three" : "one";
        gf_rebuild_result result;
        gf_rebuild_options o = {.threads = i ? 3 : 1};
        fixture_set(&f, "many", name, "k", "6");
        assert_ok(
            gf_rebuild(f.store, fixture_place("many"), gf_slice_str(name), &o, &result, &err));
        assert_int_equal(result.build.documents, MANY);
        assert_int_equal(result.build.k, 6);
        fixture_dump_build(&f, "many", name, result.build.build, &dumps[i]);
    }
    assert_true(gf_slice_equal(gf_buffer_view(&dumps[0]), gf_buffer_view(&dumps[1])));
    fixture_is_sound(&f); /* also that each document is in both */
    fixture_close(&f);
    gf_buffer_release(&dumps[0]);
    gf_buffer_release(&dumps[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_was_modified_is_rebuilt),
        cmocka_unit_test(changed_settings_are_a_modification),
        cmocka_unit_test(what_is_not_there_cannot_be_rebuilt),
        cmocka_unit_test(subjects_come_apart),
        cmocka_unit_test(stopped_at_any_point_nothing_changes),
        cmocka_unit_test(what_comes_meanwhile_is_for_the_next_build),
        cmocka_unit_test(one_rebuild_of_a_configuration_at_a_time),
        cmocka_unit_test(a_build_reads_its_snapshot),
        cmocka_unit_test(a_moved_pointer_is_a_conflict),
        cmocka_unit_test(hundred_rebuilds_are_told_apart),
        cmocka_unit_test(times_rise_though_the_clock_goes_back),
        cmocka_unit_test(so_many_builds_are_kept),
        cmocka_unit_test(a_deleted_configuration_leaves_nothing),
        cmocka_unit_test(a_deleted_collection_leaves_nothing),
        cmocka_unit_test(same_bytes_for_any_number_of_threads),
        cmocka_unit_test(many_documents_are_read_and_written_beside),
        cmocka_unit_test(odd_collections_are_built),
    };
    return cmocka_run_group_tests_name("rebuild", tests, NULL, NULL);
}
