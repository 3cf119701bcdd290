/*
 * Every column of the documented tables can be read: of documents, clusters and collections, in
 * main and in processing. Expected names are those of the layout's version 0.2.
 */
#include "tests/engine/fixture.h"

#include "base/memory.h"
#include "base/number.h"
#include "engine/rows/model.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 64 };

typedef struct columns {
    char name[MOST][96]; /* n: "family:qualifier" */
    gf_buffer value[MOST];
    size_t n;
} columns;

static gf_status note_column(void *context, const char *family, gf_slice qualifier, gf_slice value,
                             gf_error *err)
{
    columns *c = context;
    if (c->n == MOST) return gf_fail(err, GF_ELIMIT, "more columns than the test has room for");
    snprintf(c->name[c->n], sizeof c->name[0], "%s:%.*s", family, GF_SLICE_ARG(qualifier));
    gf_buffer_slice(&c->value[c->n++], value);
    return GF_OK;
}

static gf_slice value_of(const columns *c, const char *name)
{
    size_t found = MOST;
    for (size_t i = 0; i < c->n; i++) {
        if (strcmp(c->name[i], name) != 0) continue;
        if (found != MOST) fail_msg("%s is there twice", name);
        found = i;
    }
    if (found == MOST) fail_msg("%s is missing", name);
    return gf_buffer_view(&c->value[found]);
}

static bool has(const columns *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->name[i], name) == 0) return true;
    return false;
}

static void release(columns *c)
{
    for (size_t i = 0; i < c->n; i++)
        gf_buffer_release(&c->value[i]);
    *c = (columns){.n = 0};
}

static void read_document(fixture *f, const char *id, columns *c)
{
    gf_error err;
    assert_ok(
        gf_columns_document(f->store, fixture_place("c"), gf_slice_str(id), note_column, c, &err));
}

/* The worked example of the core's checks: idf = ln(N / df), tf = n / len. */
static void begin(fixture *f)
{
    fixture_open(f);
    fixture_put_texts(
        f, "c",
        (const char *const[]){"apple banana apple", "banana cherry", "cherry cherry durian"}, 3);
    fixture_set(f, "c", "default", "tf", "relative");
    fixture_set(f, "c", "default", "language", "none");
    fixture_set(f, "c", "default", "k", "1");
    fixture_set(f, "c", "default", "refine", "off");
}

/* ---- documents ------------------------------------------------------------------------------- */

static void vector_has(gf_slice bytes, double first, double second)
{
    gf_error err;
    uint32_t *col, n;
    float *val;
    assert_ok(gf_model_vector_read(bytes, UINT32_MAX, &col, &val, &n, &err));
    assert_int_equal(n, 2);
    float low = val[0] < val[1] ? val[0] : val[1], high = val[0] < val[1] ? val[1] : val[0];
    assert_near(low, first, 1e-6);
    assert_near(high, second, 1e-6);
    gf_free(col);
    gf_free(val);
}

static void documents_have_all_columns(void **state)
{
    (void)state;
    fixture f;
    columns c = {.n = 0};
    begin(&f);
    fixture_rebuild(&f, "c");
    read_document(&f, "000", &c);
    assert_slice(value_of(&c, "main:namespace"), "test");
    assert_slice(value_of(&c, "main:collection_key"), "c");
    assert_slice(value_of(&c, "main:id"), "000");
    assert_slice(value_of(&c, "main:text"), "apple banana apple");
    assert_slice(value_of(&c, "processing:id"), "000");
    assert_true(value_of(&c, "main:member_of").len > 0);
    /* apple is in one document of three, banana in two; before scaling 0.732408 and 0.135155 */
    vector_has(value_of(&c, "processing:vector_idf"), log(3.0 / 2), log(3.0));
    double length = sqrt(0.732408 * 0.732408 + 0.135155 * 0.135155);
    vector_has(value_of(&c, "processing:vector_tfidf"), 0.135155 / length, 0.732408 / length);
    release(&c);
    fixture_close(&f);
}

static void documents_without_a_build_have_theirs(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    columns c = {.n = 0};
    begin(&f);
    read_document(&f, "001", &c);
    assert_slice(value_of(&c, "main:text"), "banana cherry");
    assert_false(has(&c, "main:member_of"));
    assert_false(has(&c, "processing:vector_idf"));
    release(&c);
    fixture_rebuild(&f, "c");
    fixture_put(&f, "c", "new", "apple");
    read_document(&f, "new", &c);
    assert_slice(value_of(&c, "main:text"), "apple");
    assert_false(has(&c, "main:member_of"));
    release(&c);
    assert_status(GF_ENOTFOUND, gf_columns_document(f.store, fixture_place("c"), GF_SLICE("none"),
                                                    note_column, &c, &err));
    assert_status(GF_ENOTFOUND, gf_columns_document(f.store, fixture_place("d"), GF_SLICE("000"),
                                                    note_column, &c, &err));
    fixture_close(&f);
}

/* ---- clusters -------------------------------------------------------------------------------- */

static gf_status note_id(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)err;
    *(uint32_t *)context = info->id;
    return GF_OK;
}

static void clusters_have_all_columns(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_view *view;
    columns c = {.n = 0};
    uint32_t id = 0;
    char build[32];
    begin(&f);
    snprintf(build, sizeof build, "%lld", (long long)fixture_rebuild(&f, "c").build);
    fixture_delete(&f, "c", "001");
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &view, &err));
    assert_ok(gf_view_clusters(view, note_id, &id, &err));
    assert_ok(gf_columns_cluster(view, id, note_column, &c, &err));
    assert_slice(value_of(&c, "main:namespace"), "test");
    assert_slice(value_of(&c, "main:collection_key"), "c");
    assert_slice(value_of(&c, "main:timestamp"), build);
    assert_true(value_of(&c, "main:label").len > 0);
    assert_slice(value_of(&c, "main:size"), "2");
    assert_true(has(&c, "documents:000") && has(&c, "documents:002"));
    assert_false(has(&c, "documents:001"));
    gf_membership m;
    double score;
    assert_ok(gf_view_membership(view, GF_SLICE("000"), &m, &err));
    assert_true(gf_number_read_decimal(value_of(&c, "documents:000"), &score)); /* base-10 text */
    assert_near(score, m.score, 1e-6);
    release(&c);
    assert_status(GF_ENOTFOUND, gf_columns_cluster(view, id + 1, note_column, &c, &err));
    gf_view_close(view);
    fixture_close(&f);
}

/* ---- collections ----------------------------------------------------------------------------- */

static void collections_have_all_columns(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    columns c = {.n = 0};
    char build[32];
    begin(&f);
    assert_ok(gf_columns_collection(f.store, fixture_place("c"), note_column, &c, &err));
    assert_slice(value_of(&c, "main:size"), "3");
    assert_false(has(&c, "processing:dictionary"));
    release(&c);
    snprintf(build, sizeof build, "%lld", (long long)fixture_rebuild(&f, "c").build);
    assert_ok(gf_columns_collection(f.store, fixture_place("c"), note_column, &c, &err));
    assert_slice(value_of(&c, "main:namespace"), "test");
    assert_slice(value_of(&c, "main:collection_key"), "c");
    assert_slice(value_of(&c, "main:size"), "3");
    assert_true(value_of(&c, "main:modified").len >= 13);
    assert_slice(value_of(&c, "main:configuration:default:rebuilt"), build);
    assert_true(value_of(&c, "main:configuration:default:processed").len >= 13);
    assert_true(value_of(&c, "processing:dictionary").len > 0);
    assert_true(value_of(&c, "processing:index").len > 0);
    release(&c);
    fixture_set(&f, "c", "default", "store_index", "off");
    fixture_rebuild(&f, "c");
    assert_ok(gf_columns_collection(f.store, fixture_place("c"), note_column, &c, &err));
    assert_false(has(&c, "processing:index"));
    release(&c);
    assert_status(GF_ENOTFOUND,
                  gf_columns_collection(f.store, fixture_place("d"), note_column, &c, &err));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_have_all_columns),
        cmocka_unit_test(documents_without_a_build_have_theirs),
        cmocka_unit_test(clusters_have_all_columns),
        cmocka_unit_test(collections_have_all_columns),
    };
    return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}
