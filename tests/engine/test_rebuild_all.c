#include "tests/engine/fixture.h"

#include "engine/rows/scan.h"
#include "engine/store/store_internal.h"
#include "grouperfish/cancel.h"

enum { TINY = 20 };

static void tiny_name(char name[16], int i)
{
    snprintf(name, 16, "tiny-%02d", i);
}

/* Collections of one to some fifty posts; the last has a second configuration. */
static void put_tiny(fixture *f)
{
    char name[16];
    for (int i = 0; i < TINY; i++) {
        tiny_name(name, i);
        fixture_put_posts(f, name, 1 + (size_t)(i * i) / 8);
    }
    fixture_set(f, name, "coarse", "k", "2");
}

typedef struct told {
    uint64_t n, rebuilt, unmodified, would, failed;
    uint64_t progress, total;
    char failure[256];
    gf_cancel cancel;
    uint64_t cancel_at; /* of progress; 0: never */
} told;

static gf_status note(void *context, gf_place where, gf_slice configuration, gf_status status,
                      const char *message, const gf_rebuild_result *result, gf_error *err)
{
    told *t = context;
    t->n++;
    if (status != GF_OK) {
        t->failed++;
        snprintf(t->failure, sizeof t->failure, "%.*s/%.*s: %s", GF_SLICE_ARG(where.collection),
                 GF_SLICE_ARG(configuration), message);
        return result ? gf_fail(err, GF_EINVAL, "a failure has a result") : GF_OK;
    }
    t->rebuilt += result->outcome == GF_REBUILD_MADE;
    t->unmodified += result->outcome == GF_REBUILD_UNMODIFIED;
    t->would += result->outcome == GF_REBUILD_DUE;
    return GF_OK;
}

static void progress(void *context, gf_place where, const char *phase, uint64_t done,
                     uint64_t total)
{
    (void)where;
    told *t = context;
    if (strcmp(phase, "rebuilding") != 0) return;
    if (++t->progress == t->cancel_at) gf_cancel_request(&t->cancel);
    t->total = total;
    if (done != t->progress || done > total) t->total = 0;
}

static gf_status rebuild_all(fixture *f, const char *prefix, const char *configuration,
                             gf_rebuild_options o, told *t, gf_error *err)
{
    *t = (told){.cancel_at = t->cancel_at};
    o.cancel = &t->cancel;
    o.progress = progress;
    o.context = t;
    return gf_rebuild_all(f->store, GF_SLICE("test"), gf_slice_str(prefix),
                          gf_slice_str(configuration), &o, note, t, err);
}

static const gf_rebuild_options two_threads = GF_REBUILD_OPTIONS(.threads = 2);

/* ---- together and one by one ----------------------------------------------------------------- */

static void compare_builds(fixture *a, fixture *b, const char *collection,
                           const char *configuration)
{
    gf_buffer x = {0}, y = {0};
    int64_t builds_a[64], builds_b[64];
    assert_int_equal(fixture_builds(a, collection, configuration, builds_a), 1);
    assert_int_equal(fixture_builds(b, collection, configuration, builds_b), 1);
    fixture_dump_build(a, collection, configuration, builds_a[0], &x);
    fixture_dump_build(b, collection, configuration, builds_b[0], &y);
    if (!gf_slice_equal(gf_buffer_view(&x), gf_buffer_view(&y)))
        fail_msg("%s: another build", collection);
    gf_buffer_release(&x);
    gf_buffer_release(&y);
}

static void together_as_one_by_one(void **state)
{
    (void)state;
    fixture together, single;
    gf_error err;
    told t = {0};
    char name[16];
    fixture_open(&together);
    fixture_open(&single);
    put_tiny(&together);
    put_tiny(&single);
    assert_ok(rebuild_all(&together, "", "", two_threads, &t, &err));
    assert_int_equal(t.rebuilt, TINY + 1);
    assert_int_equal(t.n, TINY + 1);
    assert_int_equal(t.progress, TINY + 1);
    assert_int_equal(t.total, TINY + 1);
    for (int i = 0; i < TINY; i++) {
        tiny_name(name, i);
        fixture_rebuild(&single, name);
        compare_builds(&together, &single, name, "default");
        fixture_check_served(&together, name, 1 + (uint64_t)(i * i) / 8);
    }
    gf_rebuild_result result;
    assert_ok(gf_rebuild(single.store, fixture_place(name), GF_SLICE("coarse"), &two_threads,
                         &result, &err));
    compare_builds(&together, &single, name, "coarse");
    fixture_is_sound(&together);
    fixture_close(&together);
    fixture_close(&single);
}

/* ---- which ones ------------------------------------------------------------------------------ */

static void only_what_is_asked_for(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    told t = {0};
    fixture_open(&f);
    put_tiny(&f);
    assert_ok(rebuild_all(&f, "", "", GF_REBUILD_OPTIONS(.dry_run = true), &t, &err));
    assert_int_equal(t.would, TINY + 1);
    assert_int_equal(fixture_read(&f, "tiny-03").served, 0);
    assert_ok(rebuild_all(&f, "tiny-0", "", two_threads, &t, &err));
    assert_int_equal(t.rebuilt, 10);
    assert_ok(rebuild_all(&f, "", "coarse", two_threads, &t, &err));
    assert_int_equal(t.rebuilt, 1);
    assert_int_equal(t.n, 1);
    assert_ok(rebuild_all(&f, "", "", two_threads, &t, &err));
    assert_int_equal(t.rebuilt, 10);
    assert_int_equal(t.unmodified, 11);
    fixture_put(&f, "tiny-07", "new", "one more document");
    assert_ok(rebuild_all(&f, "", "", two_threads, &t, &err));
    assert_int_equal(t.rebuilt, 1);
    assert_ok(rebuild_all(&f, "tiny-1", "default", GF_REBUILD_OPTIONS(.force = true), &t, &err));
    assert_int_equal(t.rebuilt, 10);
    assert_ok(rebuild_all(&f, "no such", "", two_threads, &t, &err));
    assert_int_equal(t.n, 0);
    assert_status(GF_ENOTFOUND, rebuild_all(&f, "", "fine", two_threads, &t, &err));
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* One too large for a group, between others that are in one. */
static void large_ones_are_built_alone(void **state)
{
    (void)state;
    enum { LARGE = 2100 };
    static char texts[LARGE][32];
    static const char *pointers[LARGE];
    fixture f;
    gf_error err;
    told t = {0};
    fixture_open(&f);
    for (int i = 0; i < LARGE; i++) {
        snprintf(texts[i], sizeof texts[i], "word%d thing%d", i % 40, i % 7);
        pointers[i] = texts[i];
    }
    fixture_put_subjects(&f, "a");
    fixture_put_texts(&f, "b", pointers, LARGE);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "b", "default", "k", "5");
    assert_ok(rebuild_all(&f, "", "", two_threads, &t, &err));
    assert_int_equal(t.rebuilt, 3);
    assert_int_equal(t.total, 3);
    fixture_check_served(&f, "a", 12);
    fixture_check_served(&f, "b", LARGE);
    fixture_check_served(&f, "c", 12);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- failures -------------------------------------------------------------------------------- */

static void write_cell(fixture *f, gf_table *table, gf_slice key, const char *column,
                       const char *value)
{
    gf_error err;
    gf_batch *batch;
    assert_ok(gf_batch_create(f->store->db, &batch, &err));
    if (value)
        gf_batch_put(batch, table, key, 0, gf_slice_str(column), gf_slice_str(value), 0);
    else
        gf_batch_delete_cell(batch, table, key, 0, gf_slice_str(column));
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
}

static void check_one_failure(fixture *f, told *t)
{
    gf_error err;
    char name[16];
    assert_ok(rebuild_all(f, "", "", GF_REBUILD_OPTIONS(.force = true), t, &err));
    assert_int_equal(t->failed, 1);
    assert_int_equal(t->rebuilt, TINY);
    assert_int_equal(t->progress, TINY + 1);
    for (int i = 0; i < TINY; i++) {
        tiny_name(name, i);
        fixture_check_served(f, name, 1 + (uint64_t)(i * i) / 8);
    }
}

/* A document that has lost its text: its collection keeps the build that it had. */
static void one_that_fails_does_not_stop_the_rest(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    told t = {0};
    gf_buffer key = {0};
    fixture_open(&f);
    put_tiny(&f);
    assert_ok(rebuild_all(&f, "", "", two_threads, &t, &err));
    int64_t before = fixture_read(&f, "tiny-07").served;
    gf_tables_document_key(&key, GF_SLICE("test"), GF_SLICE("tiny-07"), GF_SLICE("101djc"));
    write_cell(&f, f.store->tables.documents, gf_buffer_view(&key), "text", NULL);
    check_one_failure(&f, &t);
    assert_string_equal(t.failure, "tiny-07/default: table documents: a row is damaged");
    assert_int_equal(fixture_read(&f, "tiny-07").served, before);
    gf_buffer_release(&key);
    fixture_close(&f);
}

static void damaged_settings_do_not_stop_the_rest(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    told t = {0};
    gf_buffer key = {0};
    fixture_open(&f);
    put_tiny(&f);
    gf_tables_collection_key(&key, GF_SLICE("test"), GF_SLICE("tiny-05"));
    write_cell(&f, f.store->tables.collections, gf_buffer_view(&key), "settings", "[]");
    assert_ok(rebuild_all(&f, "", "", two_threads, &t, &err));
    assert_int_equal(t.failed, 1);
    assert_int_equal(t.rebuilt, TINY);
    assert_string_equal(t.failure, "tiny-05/default: the settings of a collection are damaged");
    gf_buffer_release(&key);
    fixture_close(&f);
}

static gf_status refuse(void *context, gf_place where, gf_slice configuration, gf_status status,
                        const char *message, const gf_rebuild_result *result, gf_error *err)
{
    (void)where, (void)configuration, (void)status, (void)message, (void)result;
    ++*(int *)context;
    return gf_fail(err, GF_EEXISTS, "enough");
}

static void cancels_and_visitors_end_it(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    put_tiny(&f);
    gf_cancel cancel = {0};
    gf_cancel_request(&cancel);
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 2, .cancel = &cancel);
    int calls = 0;
    assert_status(GF_ECANCELLED, gf_rebuild_all(f.store, GF_SLICE("test"), GF_SLICE(""),
                                                GF_SLICE(""), &o, refuse, &calls, &err));
    assert_int_equal(calls, 0);
    assert_int_equal(fixture_read(&f, "tiny-00").served, 0);
    o.cancel = NULL;
    assert_status(GF_EEXISTS, gf_rebuild_all(f.store, GF_SLICE("test"), GF_SLICE(""), GF_SLICE(""),
                                             &o, refuse, &calls, &err));
    assert_string_equal(err.message, "enough");
    assert_int_equal(calls, 1);
    fixture_is_sound(&f);
    told t = {.cancel_at = 2};
    fixture_put_subjects(&f, "tiny-00"); /* the rest is unmodified, and told one by one */
    assert_status(GF_ECANCELLED, rebuild_all(&f, "", "", two_threads, &t, &err));
    assert_int_equal(t.progress, 2);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* More than two groups of builds, of which one is written while the next is made. */
static void several_groups(void **state)
{
    (void)state;
    enum { MANY = 600, GROUP = 256 };
    fixture f;
    gf_error err;
    int calls = 0;
    char name[16];
    fixture_open(&f);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many-%03d", i);
        fixture_put_posts(&f, name, 2);
    }
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 2);
    /* The first group is published when the visitor refuses; the second, made by then, is dropped. */
    assert_status(GF_EEXISTS, gf_rebuild_all(f.store, GF_SLICE("test"), GF_SLICE(""), GF_SLICE(""),
                                             &o, refuse, &calls, &err));
    assert_int_equal(calls, 1);
    fixture_is_sound(&f);
    told t = {.cancel_at = GROUP + 10}; /* the first of two groups is told, the last is made */
    assert_status(GF_ECANCELLED, rebuild_all(&f, "", "", two_threads, &t, &err));
    assert_int_equal(t.unmodified, GROUP);
    assert_int_equal(t.rebuilt, GROUP);
    fixture_is_sound(&f);
    t.cancel_at = 0;
    assert_ok(rebuild_all(&f, "", "", two_threads, &t, &err));
    assert_int_equal(t.n, MANY);
    assert_int_equal(t.progress, MANY);
    assert_int_equal(t.unmodified, 2 * GROUP);
    assert_int_equal(t.rebuilt, MANY - 2 * GROUP);
    assert_int_equal(t.failed, 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many-%03d", i);
        fixture_check_served(&f, name, 2);
    }
    fixture_is_sound(&f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(together_as_one_by_one),
        cmocka_unit_test(only_what_is_asked_for),
        cmocka_unit_test(large_ones_are_built_alone),
        cmocka_unit_test(one_that_fails_does_not_stop_the_rest),
        cmocka_unit_test(damaged_settings_do_not_stop_the_rest),
        cmocka_unit_test(cancels_and_visitors_end_it),
        cmocka_unit_test(several_groups),
    };
    return cmocka_run_group_tests_name("rebuild_all", tests, NULL, NULL);
}
