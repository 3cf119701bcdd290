/*
 * Every n-th allocation fails, in every call that writes or reads much: the call says so, nothing
 * leaks, and the store is what it was. Where a call has several writes, what is left to be done
 * after the one that counts may fail without harm: it is cleared away by the next.
 */
#include "tests/engine/fixture.h"

#include "base/memory.h"

#include <inttypes.h>

typedef struct sweep {
    fixture f;
    gf_buffer before;
    gf_view *view;
} sweep;

static void begin(sweep *s)
{
    *s = (sweep){.view = NULL};
    fixture_open(&s->f);
    fixture_put_subjects(&s->f, "c");
    fixture_set(&s->f, "c", "default", "k", "3");
    fixture_rebuild(&s->f, "c");
    fixture_rebuild(&s->f, "c");
    fixture_put(&s->f, "c", "new", "a document since");
    fixture_delete(&s->f, "c", "003");
    fixture_dump(&s->f, &s->before);
}

static void end(sweep *s)
{
    gf_view_close(s->view);
    fixture_is_sound(&s->f);
    fixture_close(&s->f);
    gf_buffer_release(&s->before);
}

static void unchanged(void *context)
{
    sweep *s = context;
    gf_buffer after = {0};
    fixture_dump(&s->f, &after);
    if (!gf_slice_equal(gf_buffer_view(&s->before), gf_buffer_view(&after)))
        fail_msg("a call that failed has changed the store");
    gf_buffer_release(&after);
}

/* ---- writes that happen at once -------------------------------------------------------------- */

static gf_status put_some(gf_put *put, gf_error *err)
{
    gf_field fields[] = {{GF_SLICE("text"), GF_SLICE("[1,{\"a\":null}]")},
                         {GF_SLICE("x"), GF_SLICE("\"y\"")}};
    gf_document d = {.id = GF_SLICE("000"),
                     .text = GF_SLICE("changed"),
                     .time = GF_SLICE("12"),
                     .fields = fields,
                     .n_fields = 2};
    gf_status st = gf_put_document(put, GF_SLICE("c"), &d, err);
    d.id = GF_SLICE("a new one");
    if (st == GF_OK) st = gf_put_document(put, GF_SLICE("c"), &d, err);
    if (st == GF_OK) st = gf_put_document(put, GF_SLICE("another"), &d, err);
    if (st == GF_OK) st = gf_put_document(put, GF_SLICE("another"), &d, err);
    if (st == GF_OK) st = gf_put_delete(put, GF_SLICE("c"), GF_SLICE("001"), err);
    return st == GF_OK ? gf_put_flush(put, err) : st;
}

static gf_status put_and_flush(void *context, gf_error *err)
{
    sweep *s = context;
    gf_put *put;
    gf_status st =
        gf_put_open(s->f.store, &GF_PUT_OPTIONS(.name_space = GF_SLICE("test")), &put, err);
    if (st != GF_OK) return st;
    st = put_some(put, err);
    assert_int_equal(gf_put_is_good(put), st == GF_OK);
    assert_int_equal(gf_put_counted(put).created, st == GF_OK ? 2 : 0);
    gf_put_close(put);
    return st;
}

static void failing_puts(void **state)
{
    (void)state;
    sweep s;
    begin(&s);
    gf_test_sweep(put_and_flush, unchanged, &s);
    assert_int_equal(fixture_read(&s.f, "c").size, 12);
    assert_int_equal(fixture_read(&s.f, "another").size, 1);
    end(&s);
}

/* A batch in which only a change is, which is held back and written at the end. */
static gf_status put_held(void *context, gf_error *err)
{
    enum { LARGE = 4 << 20 };
    sweep *s = context;
    gf_put *put;
    static char text[LARGE];
    gf_document d = {.id = GF_SLICE("000"), .text = gf_slice_of(text, LARGE)};
    memset(text, 'x', LARGE);
    gf_status st =
        gf_put_open(s->f.store, &GF_PUT_OPTIONS(.name_space = GF_SLICE("test")), &put, err);
    if (st != GF_OK) return st;
    st = gf_put_document(put, GF_SLICE("c"), &d, err);
    assert_int_equal(gf_put_counted(put).changed, 0);
    if (st == GF_OK) st = gf_put_flush(put, err);
    assert_int_equal(gf_put_counted(put).changed, st == GF_OK);
    gf_put_close(put);
    return st;
}

static void failing_holds(void **state)
{
    (void)state;
    sweep s;
    begin(&s);
    gf_test_sweep(put_held, unchanged, &s);
    end(&s);
}

static gf_status set_keys(void *context, gf_error *err)
{
    sweep *s = context;
    gf_pair pairs[] = {{GF_SLICE("k"), GF_SLICE("5")},
                       {GF_SLICE("min_df"), GF_SLICE("2%")},
                       {GF_SLICE("more_stop_words"), GF_SLICE("some words")}};
    return gf_configuration_set(s->f.store, fixture_place("c"), GF_SLICE("other"), pairs, 3, err);
}

static void failing_settings(void **state)
{
    (void)state;
    sweep s;
    begin(&s);
    gf_test_sweep(set_keys, unchanged, &s);
    end(&s);
}

static gf_status create_collection(void *context, gf_error *err)
{
    sweep *s = context;
    return gf_collection_create(s->f.store, fixture_place("another"), err);
}

static void failing_creations(void **state)
{
    (void)state;
    sweep s;
    begin(&s);
    gf_test_sweep(create_collection, unchanged, &s);
    assert_int_equal(fixture_read(&s.f, "another").size, 0);
    end(&s);
}

/* ---- reads ----------------------------------------------------------------------------------- */

static gf_status pass_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)err;
    *(uint32_t *)context = info->id;
    return GF_OK;
}

static gf_status pass_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)context, (void)id, (void)m, (void)err;
    return GF_OK;
}

static gf_status pass_explanation(void *context, const gf_explanation *e, gf_error *err)
{
    (void)context, (void)e, (void)err;
    return GF_OK;
}

static gf_status pass_document(void *context, const gf_document *d, gf_error *err)
{
    (void)context, (void)d, (void)err;
    return GF_OK;
}

static gf_status pass_column(void *context, const char *family, gf_slice qualifier, gf_slice value,
                             gf_error *err)
{
    (void)context, (void)family, (void)qualifier, (void)value, (void)err;
    return GF_OK;
}

static gf_status pass_evaluation(void *context, const gf_evaluation *e, gf_error *err)
{
    (void)context, (void)e, (void)err;
    return GF_OK;
}

static gf_status name_class(void *context, gf_slice id, gf_slice *name, gf_error *err)
{
    (void)context, (void)err;
    *name = gf_slice_of(id.ptr + 2, 1);
    return GF_OK;
}

static gf_status pass_build(void *context, const gf_build_info *info, gf_error *err)
{
    (void)context, (void)info, (void)err;
    return GF_OK;
}

static gf_status pass_configuration(void *context, const gf_configuration_info *info, gf_error *err)
{
    (void)context, (void)info, (void)err;
    return GF_OK;
}

static gf_status pass_setting(void *context, const gf_setting *setting, gf_slice value,
                              gf_origin origin, gf_error *err)
{
    (void)context, (void)setting, (void)value, (void)origin, (void)err;
    return GF_OK;
}

static gf_status pass_collection(void *context, const gf_collection_info *info, gf_error *err)
{
    (void)context, (void)info, (void)err;
    return GF_OK;
}

static gf_status read_view(gf_view *v, gf_error *err)
{
    uint32_t cluster = 0;
    gf_membership m;
    gf_status st = gf_view_clusters(v, pass_cluster, &cluster, err);
    if (st == GF_OK) st = gf_view_cluster(v, cluster, (gf_slice){0}, pass_cluster, &cluster, err);
    if (st == GF_OK) st = gf_view_members(v, cluster, 2, pass_member, NULL, err);
    if (st == GF_OK) st = gf_view_weakest(v, cluster, 2, pass_member, NULL, err);
    if (st == GF_OK) st = gf_view_clusters_above(v, 0.1F, pass_cluster, &cluster, err);
    if (st == GF_OK) st = gf_view_memberships(v, pass_member, NULL, err);
    if (st == GF_OK) st = gf_view_membership(v, GF_SLICE("001"), &m, err);
    if (st == GF_OK) st = gf_view_document(v, GF_SLICE("001"), pass_document, NULL, err);
    if (st == GF_OK) st = gf_view_explain(v, GF_SLICE("001"), 3, pass_explanation, NULL, err);
    if (st == GF_OK)
        st = gf_view_evaluate(v, (gf_slice){0}, name_class, NULL, NULL, pass_evaluation, NULL, err);
    gf_figures figures;
    if (st == GF_OK) st = gf_view_figures(v, &figures, err);
    if (st == GF_OK) st = gf_columns_cluster(v, cluster, pass_column, NULL, err);
    return st;
}

static gf_status open_and_read(void *context, gf_error *err)
{
    sweep *s = context;
    gf_view *view = NULL;
    gf_status st = gf_view_open(s->f.store, fixture_place("c"), fixture_default(), 0, &view, err);
    if (st == GF_OK) st = read_view(view, err);
    gf_view_close(view);
    return st;
}

/* A view that failed in the middle can be asked again. */
static gf_status read_again(void *context, gf_error *err)
{
    sweep *s = context;
    if (!s->view) {
        gf_status st =
            gf_view_open(s->f.store, fixture_place("c"), fixture_default(), 0, &s->view, err);
        if (st != GF_OK) return st;
    }
    return read_view(s->view, err);
}

static gf_status read_store(void *context, gf_error *err)
{
    sweep *s = context;
    gf_store *store = s->f.store;
    gf_place where = fixture_place("c");
    gf_store_status status;
    gf_status st = gf_builds_visit(store, where, fixture_default(), pass_build, NULL, err);
    if (st == GF_OK) st = gf_configuration_list_visit(store, where, pass_configuration, NULL, err);
    if (st == GF_OK)
        st = gf_configuration_read(store, where, fixture_default(), pass_setting, NULL, err);
    if (st == GF_OK) st = gf_collection_read(store, where, pass_collection, NULL, err);
    if (st == GF_OK)
        st = gf_collections_visit(store, where.name_space, GF_SLICE("c"), pass_collection, NULL,
                                  err);
    if (st == GF_OK) st = gf_documents_visit(store, where, pass_document, NULL, err);
    if (st == GF_OK) st = gf_document_read(store, where, GF_SLICE("new"), pass_document, NULL, err);
    if (st == GF_OK)
        st = gf_columns_document(store, where, GF_SLICE("001"), pass_column, NULL, err);
    if (st == GF_OK) st = gf_columns_collection(store, where, pass_column, NULL, err);
    if (st == GF_OK) st = gf_store_read_status(store, &status, err);
    return st;
}

static void failing_reads(void **state)
{
    (void)state;
    sweep s;
    uint64_t memberships;
    begin(&s);
    gf_test_sweep(open_and_read, NULL, &s);
    gf_test_sweep(read_again, NULL, &s);
    assert_null(fixture_fault_of(s.view, &memberships));
    assert_int_equal(memberships, 11);
    gf_test_sweep(read_store, NULL, &s);
    unchanged(&s);
    end(&s);
}

static gf_status open_store(void *context, gf_error *err)
{
    sweep *s = context;
    return gf_store_open(s->f.path, &GF_STORE_OPTIONS(), &s->f.store, err);
}

static gf_status no_fault(void *context, const char *where, const char *what, gf_error *err)
{
    (void)context;
    return gf_fail(err, GF_EINVAL, "%s: %s", where, what);
}

static gf_status verify_store(void *context, gf_error *err)
{
    sweep *s = context;
    gf_verified verified;
    return gf_verify(s->f.path, &GF_STORE_OPTIONS(), no_fault, NULL, &verified, err);
}

static void opening_and_verifying(void **state)
{
    (void)state;
    sweep s;
    begin(&s);
    fixture_close(&s.f);
    gf_test_sweep(verify_store, NULL, &s);
    gf_test_sweep(open_store, NULL, &s);
    end(&s);
}

/* ---- writes in several steps ----------------------------------------------------------------- */

typedef gf_status step_call(sweep *s, gf_error *err);

/*
 * Fail allocation first, first + step, ... of a call until it gets through. `after` is told how
 * each run ended. Returns the number of the allocation that was not needed any more.
 */
static int64_t fail_each(sweep *s, int64_t first, int64_t step, step_call *call,
                         void (*after)(sweep *, gf_status))
{
    for (int64_t n = first;; n += step) {
        gf_error err = {GF_OK, ""};
        gf_memory_fail_at(n);
        gf_status st = call(s, &err);
        int failed = gf_memory_failed();
        gf_memory_fail_at(-1);
        if (st != GF_OK && (st != GF_ENOMEM || !failed))
            fail_msg("allocation %" PRId64 ": %s (%s)", n, gf_status_name(st), err.message);
        after(s, st);
        if (!failed) return n;
    }
}

/* The next write, which here changes nothing, clears away what the call has left. */
static void dump_again(sweep *s)
{
    fixture_delete(&s->f, "c", "no such");
    gf_buffer_reset(&s->before);
    fixture_dump(&s->f, &s->before);
}

static gf_status rebuild_with(sweep *s, unsigned threads, gf_error *err)
{
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = threads);
    gf_rebuild_result result = {.build = {.build = 7}};
    gf_status st = gf_rebuild(s->f.store, fixture_place("c"), fixture_default(), &o, &result, err);
    if (st != GF_OK) assert_int_equal(result.build.build, 7);
    return st;
}

static gf_status rebuild_alone(sweep *s, gf_error *err)
{
    return rebuild_with(s, 1, err);
}

static gf_status rebuild_by_two(sweep *s, gf_error *err)
{
    return rebuild_with(s, 2, err);
}

/* A rebuild that failed leaves the note that it did, where there is memory for that: no more. */
static void unchanged_but_for_the_note(sweep *s)
{
    gf_buffer after = {0};
    fixture_dump_but(&s->f, GF_SLICE("configuration:default:failed"), &after);
    if (!gf_slice_equal(gf_buffer_view(&s->before), gf_buffer_view(&after)))
        fail_msg("a rebuild that failed has changed the store");
    gf_buffer_release(&after);
}

static void after_rebuild(sweep *s, gf_status st)
{
    if (st == GF_OK) {
        fixture_check_served(&s->f, "c", 12);
        dump_again(s);
    } else {
        unchanged_but_for_the_note(s);
    }
}

static void failing_rebuilds(void **state)
{
    (void)state;
    sweep s;
    begin(&s);
    /* Thousands: each thirty-first, and all of the last, among which the writes are. */
    int64_t all = fail_each(&s, 0, 31, rebuild_alone, after_rebuild);
    assert_true(all > 500);
    fixture_is_sound(&s.f);
    fail_each(&s, all - 250, 1, rebuild_alone, after_rebuild);
    fixture_is_sound(&s.f);
    fail_each(&s, 0, 101, rebuild_by_two, after_rebuild);
    fixture_rebuild(&s.f, "c");
    int64_t builds[64];
    assert_int_equal(fixture_builds(&s.f, "c", "default", builds), 2);
    gf_store_status status;
    gf_error err;
    assert_ok(gf_store_read_status(s.f.store, &status, &err));
    assert_int_equal(status.unfinished, 0);
    end(&s);
}

static gf_status pass_rebuild(void *context, gf_place where, gf_slice configuration,
                              gf_status status, const char *message,
                              const gf_rebuild_result *result, gf_error *err)
{
    (void)context, (void)where, (void)configuration, (void)result;
    return status == GF_OK || status == GF_ENOMEM ? GF_OK : gf_fail(err, status, "%s", message);
}

static gf_status rebuild_all(sweep *s, gf_error *err)
{
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1);
    return gf_rebuild_all(s->f.store, GF_SLICE("test"), (gf_slice){0}, (gf_slice){0}, &o,
                          pass_rebuild, NULL, err);
}

static void after_all(sweep *s, gf_status st)
{
    (void)st;
    fixture_check_served(&s->f, "c", 12);
    fixture_check_served(&s->f, "d", 12);
}

/* One that fails is told, or all are built one by one: in any case each has a whole build. */
static void rebuilds_of_all(void **state)
{
    (void)state;
    sweep s;
    begin(&s);
    fixture_put_subjects(&s.f, "d");
    fixture_rebuild(&s.f, "c");
    fixture_rebuild(&s.f, "d");
    int64_t all = fail_each(&s, 0, 151, rebuild_all, after_all);
    assert_true(all > 500);
    fail_each(&s, all - 300, 3, rebuild_all, after_all);
    end(&s);
}

static gf_status delete_collection(sweep *s, gf_error *err)
{
    return gf_collection_delete(s->f.store, fixture_place("c"), err);
}

static gf_status no_collection(void *context, const gf_collection_info *info, gf_error *err)
{
    (void)context, (void)info, (void)err;
    return GF_OK;
}

/* Deleted, not deleted, or as good as deleted: then the next write clears the rest away. */
static void after_deletion(sweep *s, gf_status st)
{
    gf_error err;
    gf_status found = gf_collection_read(s->f.store, fixture_place("c"), no_collection, NULL, &err);
    if (found == GF_OK) {
        assert_int_equal(st, GF_ENOMEM);
        unchanged(s);
        return;
    }
    assert_int_equal(found, GF_ENOTFOUND);
    fixture_put_subjects(&s->f, "c");
    assert_int_equal(fixture_read(&s->f, "c").size, 12);
    assert_int_equal(fixture_read(&s->f, "c").served, 0);
    fixture_rebuild(&s->f, "c");
    dump_again(s);
}

static void deletions_of_collections(void **state)
{
    (void)state;
    sweep s;
    begin(&s);
    assert_true(fail_each(&s, 0, 1, delete_collection, after_deletion) > 10);
    end(&s);
}

static gf_status delete_configuration(sweep *s, gf_error *err)
{
    return gf_configuration_delete(s->f.store, fixture_place("c"), fixture_default(), err);
}

static void after_configuration(sweep *s, gf_status st)
{
    int64_t builds[64];
    if (fixture_read(&s->f, "c").served) {
        assert_int_equal(st, GF_ENOMEM);
        unchanged(s);
        return;
    }
    assert_int_equal(fixture_builds(&s->f, "c", "default", builds), 0);
    fixture_rebuild(&s->f, "c");
    dump_again(s);
}

static void deletions_of_configurations(void **state)
{
    (void)state;
    sweep s;
    begin(&s);
    assert_true(fail_each(&s, 0, 1, delete_configuration, after_configuration) > 10);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_puts),
        cmocka_unit_test(failing_holds),
        cmocka_unit_test(failing_settings),
        cmocka_unit_test(failing_creations),
        cmocka_unit_test(failing_reads),
        cmocka_unit_test(opening_and_verifying),
        cmocka_unit_test(failing_rebuilds),
        cmocka_unit_test(rebuilds_of_all),
        cmocka_unit_test(deletions_of_collections),
        cmocka_unit_test(deletions_of_configurations),
    };
    return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
