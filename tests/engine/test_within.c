/* A configuration within a cluster or a group of another. */
#include "tests/engine/fixture.h"

#include "base/memory.h"
#include "engine/build/within.h"
#include "engine/rows/id_set.h"
#include "engine/store/collections.h"

#include <inttypes.h>
#include <string.h>

enum { SORTS = 3, KINDS = 4, EACH = 12, ALL = SORTS * KINDS * EACH };

static gf_slice inner(void)
{
    return GF_SLICE("inner");
}

/* Three sorts of things, four kinds of each: document i is of sort i / 48, of kind i / 12. */
static void begin(fixture *f)
{
    static const char *const sorts[] = {"fruit", "sea", "car"};
    static char texts[ALL][48];
    const char *at[ALL];
    for (int i = 0; i < ALL; i++) {
        snprintf(texts[i], sizeof texts[i], "%s. %s. kind%c", sorts[i / (KINDS * EACH)],
                 sorts[i / (KINDS * EACH)], 'a' + i / EACH);
        at[i] = texts[i];
    }
    fixture_open(f);
    fixture_put_texts(f, "c", at, ALL);
    fixture_set(f, "c", "default", "k", "3");
    fixture_set(f, "c", "default", "min_df", "1");
    fixture_set(f, "c", "default", "max_df", "1.0");
    fixture_rebuild(f, "c");
    fixture_set(f, "c", "inner", "k", "4");
    fixture_set(f, "c", "inner", "min_df", "1");
}

static gf_view *view_of(fixture *f, gf_slice configuration)
{
    gf_error err;
    gf_view *view;
    assert_ok(gf_view_open(f->store, fixture_place("c"), configuration, 0, &view, &err));
    return view;
}

/* The sort's cluster. */
static uint32_t cluster_of(fixture *f, const char *id)
{
    gf_error err;
    gf_membership m;
    gf_view *view = view_of(f, fixture_default());
    assert_ok(gf_view_membership(view, gf_slice_str(id), &m, &err));
    gf_view_close(view);
    return m.cluster;
}

static void set_within(fixture *f, uint32_t cluster, uint32_t group)
{
    char value[40];
    snprintf(value, sizeof value, "default:%s%" PRIu32, group ? "g" : "", group ? group : cluster);
    fixture_set(f, "c", "inner", "within", value);
}

static gf_status rebuild(fixture *f, bool force, gf_rebuild_result *result, gf_error *err)
{
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1, .force = force);
    return gf_rebuild(f->store, fixture_place("c"), inner(), &o, result, err);
}

static gf_rebuild_result rebuilt(fixture *f, gf_rebuild_outcome outcome)
{
    gf_error err;
    gf_rebuild_result r;
    assert_ok(rebuild(f, false, &r, &err));
    assert_int_equal(r.outcome, outcome);
    return r;
}

static gf_status check_label(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)context, (void)err;
    assert_int_equal(info->size, EACH);
    if (memmem(info->label.ptr, info->label.len, "fruit", 5))
        fail_msg("what all have is in \"%.*s\"", GF_SLICE_ARG(info->label));
    return GF_OK;
}

/* Of the fruit alone, whose word says nothing there; again only where the members are others. */
static void clusters_one_cluster(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    begin(&f);
    set_within(&f, cluster_of(&f, "000"), 0);
    gf_rebuild_result r = rebuilt(&f, GF_REBUILD_MADE);
    assert_int_equal(r.build.documents, KINDS * EACH);
    assert_int_equal(r.build.k, 4);
    gf_view *view = view_of(&f, inner());
    assert_ok(gf_view_clusters(view, check_label, NULL, &err));
    gf_view_close(view);
    rebuilt(&f, GF_REBUILD_UNMODIFIED);
    fixture_rebuild(&f, "c"); /* the same members in another build */
    rebuilt(&f, GF_REBUILD_UNMODIFIED);
    fixture_put(&f, "c", "new", "fruit fruit kinda");
    r = rebuilt(&f, GF_REBUILD_MADE); /* it is in no cluster of the served build yet */
    assert_int_equal(r.build.documents, KINDS * EACH);
    fixture_rebuild(&f, "c");
    r = rebuilt(&f, GF_REBUILD_MADE);
    assert_int_equal(r.build.documents, KINDS * EACH + 1);
    set_within(&f, cluster_of(&f, "060"), 0);
    r = rebuilt(&f, GF_REBUILD_MADE);
    assert_int_equal(r.build.documents, KINDS * EACH);
    set_within(&f, 0, 1); /* the root has all */
    r = rebuilt(&f, GF_REBUILD_MADE);
    assert_int_equal(r.build.documents, ALL + 1);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static gf_status note_split(void *context, const gf_edit *edit, gf_error *err)
{
    (void)err;
    *(uint32_t *)context = edit->others[0];
    return GF_OK;
}

/* A cluster that is cut or grows by an edit is what it is then; one that ended is told of. */
static void follows_edits(void **state)
{
    (void)state;
    fixture f;
    gf_error err = {GF_OK, ""};
    gf_rebuild_result r;
    begin(&f);
    gf_place c = fixture_place("c");
    uint32_t fruit = cluster_of(&f, "000"), sea = cluster_of(&f, "060"), part = 0;
    set_within(&f, fruit, 0);
    int64_t first = rebuilt(&f, GF_REBUILD_MADE).build.build;
    gf_edit_request split = GF_EDIT_REQUEST(.kind = GF_EDIT_SPLIT, .cluster = fruit);
    assert_ok(gf_edit_make(f.store, c, fixture_default(), &split, note_split, &part, &err));
    uint64_t left = rebuilt(&f, GF_REBUILD_MADE).build.documents;
    assert_true(left > 0 && left < KINDS * EACH);
    gf_edit_request merge =
        GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = fruit, .others = &sea, .n_others = 1);
    assert_ok(gf_edit_make(f.store, c, fixture_default(), &merge, NULL, NULL, &err));
    int64_t served = rebuilt(&f, GF_REBUILD_MADE).build.build;
    assert_true(served > first);
    gf_edit_request end =
        GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = part, .others = &fruit, .n_others = 1);
    assert_ok(gf_edit_make(f.store, c, fixture_default(), &end, NULL, NULL, &err));
    assert_status(GF_ECONFLICT, rebuild(&f, true, &r, &err));
    if (!strstr(err.message, "set within to another")) fail_msg("%s", err.message);
    gf_view *view = view_of(&f, inner());
    assert_int_equal(gf_view_build(view)->build, served);
    gf_view_close(view);
    set_within(&f, part, 0);
    assert_int_equal(rebuilt(&f, GF_REBUILD_MADE).build.documents, 2 * KINDS * EACH);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void wrong_values(void **state)
{
    (void)state;
    static const char *const values[] = {
        "14",        ":14",        "default:",   "default:0",
        "default:g", "default:x1", "default:-1", "default:99999999999"};
    fixture f;
    gf_error err;
    gf_rebuild_result r;
    begin(&f);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        assert_status(GF_EINVAL,
                      gf_setting_check_value(GF_SLICE("within"), gf_slice_str(values[i]), &err));
    gf_pair itself = {GF_SLICE("within"), GF_SLICE("inner:1")};
    assert_status(GF_EINVAL,
                  gf_configuration_set(f.store, fixture_place("c"), inner(), &itself, 1, &err));
    fixture_set(&f, "c", "inner", "within", "absent:1");
    assert_status(GF_ECONFLICT, rebuild(&f, true, &r, &err));
    fixture_close(&f);
}

/* Documents that came are not meant until the other build has them in the cluster. */
static gf_status count_pending(void *context, const gf_document *d, const gf_membership *m,
                               gf_error *err)
{
    (void)d, (void)m, (void)err;
    ++*(size_t *)context;
    return GF_OK;
}

static size_t pending(fixture *f)
{
    gf_error err;
    size_t n = 0;
    gf_view *view = view_of(f, inner());
    assert_ok(gf_view_pending(view, count_pending, &n, &err));
    gf_view_close(view);
    return n;
}

static void pending_documents(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    set_within(&f, cluster_of(&f, "000"), 0);
    rebuilt(&f, GF_REBUILD_MADE);
    fixture_put(&f, "c", "fruit", "fruit fruit kinda");
    fixture_put(&f, "c", "ship", "sea sea kinde");
    assert_int_equal(pending(&f), 0);
    fixture_rebuild(&f, "c");
    assert_int_equal(pending(&f), 1);
    fixture_close(&f);
}

typedef struct reading {
    fixture f;
    gf_collection_row row;
    gf_within within;
} reading;

static gf_status sweep_call(void *context, gf_error *err)
{
    reading *r = context;
    gf_id_set set = {.n = 0};
    gf_status st = gf_build_within_read(r->f.store, NULL, fixture_place("c"), &r->row, inner(),
                                        &r->within, &set, err);
    assert_int_equal(set.n, st == GF_OK ? KINDS * EACH : 0);
    if (st == GF_OK) assert_true(gf_id_set_has(&set, GF_SLICE("000")));
    if (st == GF_OK) assert_false(gf_id_set_has(&set, GF_SLICE("0000")));
    gf_id_set_release(&set);
    return st;
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    reading r = {.within = {.configuration = fixture_default()}};
    gf_error err;
    begin(&r.f);
    assert_ok(gf_collection_row_read(r.f.store, NULL, fixture_place("c"), &r.row, &err));
    r.within.cluster = cluster_of(&r.f, "000");
    gf_test_sweep(sweep_call, NULL, &r);
    gf_collection_row_release(&r.row);
    fixture_close(&r.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_one_cluster), cmocka_unit_test(follows_edits),
        cmocka_unit_test(wrong_values), cmocka_unit_test(pending_documents),
        cmocka_unit_test(survives_failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
