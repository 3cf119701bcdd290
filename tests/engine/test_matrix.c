/* Builds as matrices, and matrices that builds are made of. */
#include "tests/engine/fixture.h"

#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

static gf_status rebuild_by(fixture *f, const gf_matrix *m, gf_rebuild_result *result,
                            gf_error *err)
{
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1, .matrix = m);
    return gf_rebuild(f->store, fixture_place("c"), fixture_default(), &o, result, err);
}

static gf_view *open_view(fixture *f)
{
    gf_view *view;
    gf_error err;
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, &err));
    return view;
}

/* ---- a build as a matrix --------------------------------------------------------------------- */

typedef struct explained {
    double score;
    size_t n;
} explained;

static gf_status take_score(void *context, const gf_explanation *e, gf_error *err)
{
    (void)err;
    explained *x = context;
    x->score = e->score;
    x->n = e->n;
    return GF_OK;
}

/* Each row against its cluster's centroid gives the score, as explaining the document does. */
static void check_row(gf_view *view, const gf_build_matrix *m, uint32_t i)
{
    gf_error err;
    explained x;
    gf_row_view row = gf_csr_row(&m->rows, i);
    if (m->label[i] == 0) {
        assert_int_equal(row.n, 0);
        return;
    }
    assert_near(gf_csr_row_dot(row, row), 1, 1e-5);
    uint32_t c = 0;
    while (c < m->n_clusters && m->cluster[c] != m->label[i])
        c++;
    assert_true(c < m->n_clusters);
    double own = gf_csr_row_dot(row, gf_csr_row(&m->centroids, c));
    assert_near(own, m->score[i], 1e-6);
    for (uint32_t other = 0; other < m->n_clusters; other++)
        assert_true(gf_csr_row_dot(row, gf_csr_row(&m->centroids, other)) <= own + 1e-6);
    assert_ok(gf_view_explain(view, m->id[i], 100, take_score, &x, &err));
    assert_near(x.score, own, 1e-6);
}

static void rows_of_a_build(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_build_matrix m;
    fixture_open(&f);
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    fixture_put(&f, "c", "wordless", "...");
    gf_build_info info = fixture_rebuild(&f, "c");
    gf_view *view = open_view(&f);
    assert_ok(gf_view_read_matrix(view, NULL, &m, &err));
    assert_ok(gf_csr_check(&m.rows, &err));
    assert_ok(gf_csr_check(&m.centroids, &err));
    assert_int_equal(m.rows.n_rows, FIXTURE_POSTS + 1);
    assert_int_equal(m.rows.n_cols, info.terms);
    assert_int_equal(m.n_clusters, info.k);
    for (uint32_t i = 0; i < m.rows.n_rows; i++) {
        assert_false(m.replaced[i]);
        if (i) assert_true(gf_slice_compare(m.id[i - 1], m.id[i]) < 0);
        check_row(view, &m, i);
    }
    for (uint32_t t = 0; t < m.rows.n_cols; t++)
        assert_true(gf_build_matrix_term(&m, t).len && gf_build_matrix_surface(&m, t).len);
    gf_build_matrix_release(&m);
    gf_view_close(view);
    fixture_close(&f);
}

/* Documents deleted since are not in it, those put anew are marked. */
static void changes_since(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_build_matrix m;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_rebuild(&f, "c");
    fixture_delete(&f, "c", "000");
    fixture_put(&f, "c", "001", "quite another text");
    fixture_put(&f, "c", "new", "a document since");
    gf_view *view = open_view(&f);
    assert_ok(gf_view_read_matrix(view, NULL, &m, &err));
    assert_int_equal(m.rows.n_rows, 11);
    assert_slice(m.id[0], "001");
    for (uint32_t i = 0; i < 11; i++)
        assert_int_equal(m.replaced[i], i == 0);
    gf_build_matrix_release(&m);
    gf_cancel stop = {0};
    gf_cancel_request(&stop);
    assert_status(GF_ECANCELLED, gf_view_read_matrix(view, &stop, &m, &err));
    gf_view_close(view);
    fixture_close(&f);
}

/* ---- a build as a map ------------------------------------------------------------------------- */

/* Without memory nothing is given, and nothing is lost. */
static gf_status sweep_map(void *context, gf_error *err)
{
    fixture *f = context;
    gf_view *view;
    gf_build_map map = {0};
    gf_status st = gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, err);
    if (st != GF_OK) return st;
    st = gf_view_read_map(view, 1, NULL, &map, err);
    if (st != GF_OK) assert_null(map.x);
    gf_build_map_release(&map);
    gf_view_close(view);
    return st;
}

static void map_without_memory(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_rebuild(&f, "c");
    gf_test_sweep(sweep_map, NULL, &f);
    fixture_close(&f);
}

/* One that was put anew so that the settings leave it out has the place of its text. */
static void map_of_what_is_left_out(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_build_map map = {0};
    char id[8];
    fixture_open(&f);
    for (int i = 0; i < 8; i++) {
        snprintf(id, sizeof id, "%d", i);
        fixture_put_field(&f, "kind", id, i < 4 ? "bees in a hive" : "a guitar string", "5",
                          "\"kept\"");
    }
    fixture_set(&f, "c", "default", "filter", "kind=kept");
    fixture_rebuild(&f, "c");
    fixture_put_field(&f, "kind", "3", "bees in a hive", "6", "\"other\"");
    gf_view *view = open_view(&f);
    assert_ok(gf_view_read_map(view, 2, NULL, &map, &err));
    assert_int_equal(map.n, 8);
    for (uint32_t i = 0; i < map.n; i++)
        assert_false(isnan(map.x[i]) || isnan(map.y[i]));
    gf_build_map_release(&map);
    gf_view_close(view);
    fixture_close(&f);
}

static void map_of_changes(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_build_map one = {0}, map = {0};
    uint32_t without = 0;
    gf_cancel stop = {0};
    fixture_open(&f);
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    fixture_put(&f, "c", "wordless", "...");
    fixture_rebuild(&f, "c");
    gf_view *view = open_view(&f);
    assert_ok(gf_view_read_map(view, 1, NULL, &one, &err));
    assert_int_equal(one.n, FIXTURE_POSTS + 1);
    for (uint32_t i = 0; i < one.n; i++) {
        assert_int_equal(isnan(one.x[i]) != 0, isnan(one.y[i]) != 0);
        without += isnan(one.x[i]) != 0;
    }
    assert_int_equal(without, 1);
    for (unsigned threads = 2; threads <= 5; threads += 3) {
        assert_ok(gf_view_read_map(view, threads, NULL, &map, &err));
        assert_int_equal(map.n, one.n);
        assert_memory_equal(map.x, one.x, one.n * sizeof *one.x);
        assert_memory_equal(map.y, one.y, one.n * sizeof *one.y);
        gf_build_map_release(&map);
    }
    gf_cancel_request(&stop);
    assert_status(GF_ECANCELLED, gf_view_read_map(view, 2, &stop, &map, &err));
    assert_null(map.x);
    gf_view_close(view);
    gf_build_map_release(&one);
    /* As many as there are memberships, whatever was put since. */
    fixture_put(&f, "c", "a document", "put since, of bees and hives");
    fixture_delete(&f, "c", "wordless");
    view = open_view(&f);
    assert_ok(gf_view_read_map(view, 2, NULL, &map, &err));
    assert_int_equal(map.n, FIXTURE_POSTS);
    gf_build_map_release(&map);
    gf_view_close(view);
    fixture_close(&f);
}

/* ---- a build of a matrix --------------------------------------------------------------------- */

/* Rows for the twelve subjects, which group them otherwise: 000 to 005 and 006 to 011. */
enum { DOCUMENTS = 12, COLUMNS = 5 };

typedef struct given {
    char ids[DOCUMENTS + 3][16];
    gf_slice id[DOCUMENTS + 3];
    float dense[(DOCUMENTS + 3) * COLUMNS];
    uint64_t start[DOCUMENTS + 4];
    uint32_t col[(DOCUMENTS + 3) * 2];
    float val[(DOCUMENTS + 3) * 2];
    gf_csr sparse;
    gf_matrix matrix;
} given;

/* In falling order of ids, of all lengths; n rows, of which those from DOCUMENTS on are unknown. */
static void give(given *g, uint32_t n, bool dense)
{
    memset(g, 0, sizeof *g);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t document = n - 1 - i;
        float length = 0.5f + (float)i;
        snprintf(g->ids[i], sizeof g->ids[0], document < DOCUMENTS ? "%03u" : "no%u", document);
        g->id[i] = gf_slice_str(g->ids[i]);
        uint32_t main = document < 6 ? 1 : 3;
        g->dense[i * COLUMNS + main] = length;
        g->dense[i * COLUMNS + 4] = length * (document < 6 ? 0.1f : -0.1f);
        g->start[i + 1] = g->start[i] + 2;
        g->col[2 * i] = main;
        g->val[2 * i] = length;
        g->col[2 * i + 1] = 4;
        g->val[2 * i + 1] = g->dense[i * COLUMNS + 4];
    }
    g->sparse = (gf_csr){n, COLUMNS, g->start, g->col, g->val};
    g->matrix = (gf_matrix){n, COLUMNS, g->id, dense ? NULL : &g->sparse, g->dense};
}

typedef struct grouping {
    uint32_t cluster[DOCUMENTS];
    size_t n;
} grouping;

static gf_status take_place(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)err, (void)id;
    grouping *g = context;
    g->cluster[g->n++] = m->cluster;
    return GF_OK;
}

static gf_status has_terms(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)context, (void)err;
    assert_true(info->n_terms > 0 && info->label.len > 0);
    assert_int_equal(info->size, 6);
    return GF_OK;
}

static void check_given(fixture *f, gf_rows_kind rows)
{
    gf_error err;
    explained x;
    gf_build_matrix m;
    grouping g = {.n = 0};
    gf_view *view = open_view(f);
    assert_int_equal(gf_view_build(view)->rows, rows);
    assert_int_equal(gf_view_build(view)->terms, COLUMNS);
    assert_ok(gf_view_memberships(view, take_place, &g, &err));
    assert_int_equal(g.n, DOCUMENTS);
    for (size_t i = 0; i < DOCUMENTS; i++)
        assert_int_equal(g.cluster[i] == g.cluster[0], i < 6);
    assert_ok(gf_view_clusters(view, has_terms, NULL, &err));
    assert_status(GF_ECONFLICT, gf_view_explain(view, GF_SLICE("000"), 5, take_score, &x, &err));
    assert_non_null(strstr(err.message, "made elsewhere"));
    assert_ok(gf_view_read_matrix(view, NULL, &m, &err));
    assert_null(m.vocabulary);
    assert_int_equal(m.rows.n_rows, DOCUMENTS);
    assert_ok(gf_csr_check(&m.rows, &err));
    for (uint32_t i = 0; i < DOCUMENTS; i++) {
        uint32_t c = 0;
        while (m.cluster[c] != m.label[i])
            c++;
        gf_row_view row = gf_csr_row(&m.rows, i);
        assert_int_equal(row.n, rows == GF_ROWS_DENSE ? COLUMNS : 2);
        assert_near(gf_csr_row_dot(row, gf_csr_row(&m.centroids, c)), m.score[i], 0.005);
    }
    gf_build_matrix_release(&m);
    gf_view_close(view);
}

/* Rows that were given: sparse ones have a map, of dense ones it is refused. */
static void map_of_given_rows(fixture *f, bool dense)
{
    gf_error err;
    gf_build_map map = {0};
    gf_view *view = open_view(f);
    gf_status st = gf_view_read_map(view, 2, NULL, &map, &err);
    assert_int_equal(st, dense ? GF_ECONFLICT : GF_OK);
    assert_int_equal(map.n, dense ? 0 : DOCUMENTS);
    if (dense) assert_non_null(strstr(err.message, "name a configuration of texts"));
    gf_build_map_release(&map);
    gf_view_close(view);
}

static gf_status is_kept(void *context, gf_place where, gf_slice configuration, gf_status status,
                         const char *message, const gf_rebuild_result *result, gf_error *err)
{
    (void)context, (void)where, (void)configuration, (void)message, (void)err;
    assert_int_equal(status, GF_OK);
    assert_int_equal(result->outcome, GF_REBUILD_KEPT);
    return GF_OK;
}

static gf_status is_made(void *context, gf_place where, gf_slice configuration, gf_status status,
                         const char *message, const gf_rebuild_result *result, gf_error *err)
{
    (void)context, (void)where, (void)configuration, (void)message, (void)err;
    assert_int_equal(status, GF_OK);
    assert_int_equal(result->outcome, GF_REBUILD_MADE);
    assert_true(gf_rows_are_given(result->build.rows));
    return GF_OK;
}

static void builds_of_a_matrix(void **state)
{
    (void)state;
    for (int dense = 0; dense < 2; dense++) {
        fixture f;
        gf_error err;
        given g;
        gf_rebuild_result r;
        fixture_open(&f);
        fixture_put_subjects(&f, "c");
        fixture_set(&f, "c", "default", "k", "2");
        give(&g, DOCUMENTS + 3, dense);
        assert_ok(rebuild_by(&f, &g.matrix, &r, &err));
        assert_int_equal(r.outcome, GF_REBUILD_MADE);
        assert_int_equal(r.unknown, 3);
        assert_int_equal(r.build.without_terms, 0);
        assert_int_equal(r.build.k, 2);
        assert_near(r.build.objective, 1, 1e-5);
        check_given(&f, dense ? GF_ROWS_DENSE : GF_ROWS_SPARSE);
        map_of_given_rows(&f, dense);
        fixture_is_sound(&f);
        check_given(&f, dense ? GF_ROWS_DENSE : GF_ROWS_SPARSE);
        /* Neither a change nor a rebuild of all replaces them. */
        gf_build_info given_build = r.build;
        fixture_put(&f, "c", "new", "apples and pears");
        gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
        assert_ok(gf_rebuild(f.store, fixture_place("c"), fixture_default(), &o, &r, &err));
        assert_int_equal(r.outcome, GF_REBUILD_KEPT);
        assert_ok(gf_rebuild_all(f.store, GF_SLICE("test"), GF_SLICE(""), GF_SLICE(""), &o, is_kept,
                                 NULL, &err));
        assert_int_equal(fixture_read(&f, "c").served, given_build.build);
        /* `force` clusters the texts. */
        o.force = true;
        assert_ok(gf_rebuild(f.store, fixture_place("c"), fixture_default(), &o, &r, &err));
        assert_int_equal(r.outcome, GF_REBUILD_MADE);
        assert_int_equal(r.build.rows, GF_ROWS_OF_TEXTS);
        fixture_is_sound(&f);
        fixture_close(&f);
    }
}

/* ---- documents that bring a row along -------------------------------------------------------- */

/* As give() has them: of the first group or the second, nearer to the groups' border by `off`. */
static void put_vector(fixture *f, const char *id, bool first, double off, bool as_object)
{
    char json[100];
    gf_document d = {.id = gf_slice_str(id), .text = GF_SLICE("a late text")};
    gf_error err;
    if (as_object)
        snprintf(json, sizeof json, "{\"%d\":%g,\"%d\":2}", first ? 3 : 1, 2 * off, first ? 1 : 3);
    else
        snprintf(json, sizeof json, "[0,%g,0,%g,0]", first ? 2 : 2 * off, first ? 2 * off : 2);
    gf_field field = {GF_SLICE("vector"), gf_slice_str(json)};
    d.fields = &field;
    d.n_fields = 1;
    assert_ok(fixture_try_put(f->store, "c", &d, &err));
}

static void put_bad(fixture *f, const char *id, const char *json)
{
    gf_error err;
    gf_field field = {GF_SLICE("vector"), gf_slice_str(json)};
    gf_document d = {gf_slice_str(id), GF_SLICE("a late text"), {0}, {0}, &field, 1};
    assert_ok(fixture_try_put(f->store, "c", &d, &err));
}

static gf_membership place_of(gf_view *view, const char *id)
{
    gf_error err;
    gf_membership m;
    assert_ok(gf_view_current_membership(view, gf_slice_str(id), &m, &err));
    return m;
}

static gf_status count_unplaced(void *context, const gf_document *d, const gf_membership *m,
                                gf_error *err)
{
    (void)err, (void)d;
    size_t *n = context;
    assert_true(m->provisional);
    n[m->cluster != 0]++;
    return GF_OK;
}

/* The score of a row that is off by `off`, by hand: centres are (1, .1) and (1, -.1) at 1, 3 and 4. */
static double score_by_hand(double off)
{
    return 1 / sqrt(1.01) / sqrt(1 + off * off);
}

static void brought_along(void **state)
{
    (void)state;
    static const char *const bad[] = {"[1,2,3]",
                                      "[1,2,3,4,5,6]",
                                      "[0,0,0,0,0]",
                                      "\"a\"",
                                      "[1,2,3,4,\"5\"]",
                                      "{\"5\":1}",
                                      "{\"x\":1}",
                                      "12",
                                      "{}",
                                      "[1e300,1e300,0,0,0]",
                                      "{\"1\":1,\"1.0\":2}"};
    for (int dense = 0; dense < 2; dense++) {
        fixture f;
        gf_error err;
        given g;
        gf_rebuild_result r;
        size_t n[2] = {0, 0};
        fixture_open(&f);
        fixture_put_subjects(&f, "c");
        fixture_set(&f, "c", "default", "k", "2");
        give(&g, DOCUMENTS, dense);
        assert_ok(rebuild_by(&f, &g.matrix, &r, &err));
        put_vector(&f, "v1", true, 0.25, false);
        put_vector(&f, "v2", false, 0.5, true);
        put_vector(&f, "000", false, 0, false); /* put anew: of the other group */
        fixture_put(&f, "c", "001", "put anew without one");
        fixture_put(&f, "c", "none", "a text alone");
        put_bad(&f, "null", "null");
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            char id[16];
            snprintf(id, sizeof id, "bad%zu", i);
            put_bad(&f, id, bad[i]);
        }
        gf_view *view = open_view(&f);
        gf_membership v1 = place_of(view, "v1"), v2 = place_of(view, "v2");
        gf_membership moved = place_of(view, "000"), second = place_of(view, "002");
        assert_int_equal(v1.cluster, second.cluster);
        assert_int_equal(v2.cluster, place_of(view, "006").cluster);
        assert_near(v1.score, score_by_hand(0.25), 1e-6);
        assert_near(v2.score, score_by_hand(0.5), 1e-6);
        assert_near(v2.second, 0.5 * score_by_hand(0.5), 1e-6);
        assert_true(v1.provisional && !v1.replaced && moved.replaced && !second.provisional);
        assert_int_equal(moved.cluster, v2.cluster);
        assert_slice(place_of(view, "001").label, "without a vector");
        assert_slice(place_of(view, "none").label, "without a vector");
        assert_slice(place_of(view, "null").label, "without a vector");
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            char id[16];
            snprintf(id, sizeof id, "bad%zu", i);
            assert_slice(place_of(view, id).label, "with a vector that does not fit");
            assert_int_equal(place_of(view, id).cluster, 0);
        }
        assert_ok(gf_view_pending(view, count_unplaced, n, &err));
        assert_int_equal(n[1], 3);
        assert_int_equal(n[0], 3 + sizeof bad / sizeof bad[0]);
        gf_view_close(view);
        fixture_is_sound(&f);
        fixture_close(&f);
    }
}

/* Rows of a matrix: those of the build get the places that they have; other columns have none. */
static void rows_assigned(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        fixture f;
        gf_error err;
        given g;
        gf_rebuild_result r;
        gf_membership places[DOCUMENTS + 3], m;
        fixture_open(&f);
        fixture_put_subjects(&f, "c");
        fixture_set(&f, "c", "default", "k", "2");
        give(&g, DOCUMENTS, kind & 1);
        assert_ok(rebuild_by(&f, &g.matrix, &r, &err));
        give(&g, DOCUMENTS, kind & 2); /* a dense build knows sparse rows, too, and the reverse */
        gf_view *view = open_view(&f);
        assert_ok(gf_view_assign_rows(view, &g.matrix, 1, NULL, places, &err));
        for (uint32_t i = 0; i < DOCUMENTS; i++) {
            assert_ok(gf_view_membership(view, g.id[i], &m, &err));
            assert_int_equal(places[i].cluster, m.cluster);
            assert_near(places[i].score, m.score, 1e-6);
            assert_near(places[i].second, m.second, 1e-6);
        }
        assert_status(GF_ECONFLICT,
                      gf_view_assign(view, GF_SLICE(""), GF_SLICE("a text"), &m, &err));
        g.matrix.n_cols++;
        assert_status(GF_EINVAL, gf_view_assign_rows(view, &g.matrix, 1, NULL, places, &err));
        assert_non_null(strstr(err.message, "have 6 columns, those of the build have 5"));
        gf_view_close(view);
        fixture_rebuild(&f, "c");
        g.matrix.n_cols--;
        view = open_view(&f);
        assert_status(GF_ECONFLICT, gf_view_assign_rows(view, &g.matrix, 1, NULL, places, &err));
        gf_view_close(view);
        fixture_close(&f);
    }
}

enum { MANY = 1111 };

static gf_membership *many_places(fixture *f, const gf_matrix *rows, unsigned threads)
{
    gf_error err;
    gf_view *view = open_view(f);
    gf_membership *places = gf_calloc(MANY, sizeof *places);
    assert_non_null(places);
    assert_ok(gf_view_assign_rows(view, rows, threads, NULL, places, &err));
    gf_view_close(view);
    return places;
}

/* The same rows as a CSR, of which each seventh is one without entries: the others get the same. */
static void check_sparse_rows(fixture *f, const float *values, const gf_membership *places)
{
    uint64_t *start = gf_calloc(MANY + 1, sizeof *start);
    uint32_t *col = gf_array((size_t)MANY * COLUMNS, sizeof *col);
    float *val = gf_array((size_t)MANY * COLUMNS, sizeof *val);
    assert_true(start && col && val);
    for (uint32_t i = 0; i < MANY; i++) {
        start[i + 1] = start[i];
        for (uint32_t c = 0; i % 7 && i != 700 && c < COLUMNS; c++) {
            col[start[i + 1]] = c;
            val[start[i + 1]++] = values[(size_t)i * COLUMNS + c];
        }
    }
    gf_csr x = {MANY, COLUMNS, start, col, val};
    gf_matrix rows = {.sparse = &x, .n_rows = MANY, .n_cols = COLUMNS};
    gf_membership *found = many_places(f, &rows, 2);
    for (uint32_t i = 0; i < MANY; i++) {
        if (i % 7) assert_memory_equal(&found[i].score, &places[i].score, sizeof found[i].score);
        assert_int_equal(found[i].cluster, i % 7 ? places[i].cluster : 0);
    }
    gf_free(found);
    gf_free(start);
    gf_free(col);
    gf_free(val);
}

/* What 1,111 rows get by several threads is what each alone gets; the first bad one is told of. */
static void rows_by_several_threads(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    given g;
    gf_rebuild_result r;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "3");
    give(&g, DOCUMENTS, true);
    for (uint32_t i = 0; i < DOCUMENTS * COLUMNS; i++)
        g.dense[i] += 0.01f; /* so that centres have all columns, and rows are looked up together */
    assert_ok(rebuild_by(&f, &g.matrix, &r, &err));
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    float *values = gf_array((size_t)MANY * COLUMNS, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < (size_t)MANY * COLUMNS; i++)
        values[i] = (float)gf_random_unit(&random) - 0.3f;
    memset(values + 700 * (size_t)COLUMNS, 0, COLUMNS * sizeof *values);
    gf_matrix rows = {.dense = values, .n_rows = MANY, .n_cols = COLUMNS};
    gf_membership *by_1 = many_places(&f, &rows, 1), *by_3 = many_places(&f, &rows, 3);
    gf_view *view = open_view(&f);
    for (uint32_t i = 0; i < MANY; i++) {
        gf_membership alone;
        gf_matrix one = {.dense = values + (size_t)i * COLUMNS, .n_rows = 1, .n_cols = COLUMNS};
        assert_ok(gf_view_assign_rows(view, &one, 2, NULL, &alone, &err));
        const gf_membership *told[] = {&by_1[i], &by_3[i]};
        for (int t = 0; t < 2; t++) {
            assert_int_equal(told[t]->cluster, alone.cluster);
            assert_int_equal(told[t]->runner_up, alone.runner_up);
            assert_memory_equal(&told[t]->score, &alone.score, sizeof alone.score);
            assert_memory_equal(&told[t]->second, &alone.second, sizeof alone.second);
            assert_true(told[t]->provisional);
        }
        assert_int_equal(alone.cluster == 0, i == 700);
    }
    check_sparse_rows(&f, values, by_1);
    gf_cancel cancel = {0};
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED, gf_view_assign_rows(view, &rows, 2, &cancel, by_3, &err));
    values[900 * (size_t)COLUMNS + 1] = INFINITY;
    assert_status(GF_EINVAL, gf_view_assign_rows(view, &rows, 2, NULL, by_3, &err));
    assert_non_null(strstr(err.message, "row 900"));
    gf_view_close(view);
    gf_free(by_1);
    gf_free(by_3);
    gf_free(values);
    fixture_close(&f);
}

/* Threads for rows, with every allocation failing once. */
static gf_status assign_rows_once(void *context, gf_error *err)
{
    fixture *f = context;
    float value[2 * COLUMNS] = {1, 0, 0, 0, 2, 0, 1, 1, 0, 0};
    gf_matrix rows = {.dense = value, .n_rows = 2, .n_cols = COLUMNS};
    gf_membership places[2];
    gf_view *view;
    gf_status st = gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, err);
    if (st != GF_OK) return st;
    st = gf_view_assign_rows(view, &rows, 2, NULL, places, err);
    gf_view_close(view);
    return st;
}

static void rows_without_memory(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    given g;
    gf_rebuild_result r;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "2");
    give(&g, DOCUMENTS, true);
    for (uint32_t i = 0; i < DOCUMENTS * COLUMNS; i++)
        g.dense[i] += 0.01f;
    assert_ok(rebuild_by(&f, &g.matrix, &r, &err));
    gf_test_sweep(assign_rows_once, NULL, &f);
    fixture_close(&f);
}

typedef struct hits {
    char id[DOCUMENTS + 3][16];
    double score[DOCUMENTS + 3];
    size_t n;
} hits;

static gf_status take_hit(void *context, const gf_hit *hit, gf_error *err)
{
    (void)err;
    hits *h = context;
    snprintf(h->id[h->n], sizeof h->id[0], "%.*s", GF_SLICE_ARG(hit->document->id));
    h->score[h->n++] = hit->score;
    return GF_OK;
}

static hits similar_to(fixture *f, const char *id, uint64_t limit)
{
    gf_error err;
    hits h = {.n = 0};
    gf_similar_options o = GF_SIMILAR_OPTIONS(.id = gf_slice_str(id), .limit = limit);
    assert_ok(gf_similar(f->store, fixture_place("c"), &o, take_hit, &h, &err));
    return h;
}

static void similar_by_rows(void **state)
{
    (void)state;
    for (int dense = 0; dense < 2; dense++) {
        fixture f;
        gf_error err;
        given g;
        gf_rebuild_result r;
        fixture_open(&f);
        fixture_put_subjects(&f, "c");
        fixture_set(&f, "c", "default", "k", "2");
        give(&g, DOCUMENTS, dense);
        assert_ok(rebuild_by(&f, &g.matrix, &r, &err));
        /* The group's own rows are equal; those of the other meet it in the last column, below 0. */
        hits h = similar_to(&f, "007", 0);
        assert_int_equal(h.n, 5);
        assert_string_equal(h.id[0], "006");
        for (size_t i = 0; i < h.n; i++)
            assert_near(h.score[i], 1, 0.001);
        put_vector(&f, "near", false, 0, false);
        fixture_delete(&f, "c", "006");
        put_vector(&f, "008", true, 0, true);
        h = similar_to(&f, "007", 0);
        assert_int_equal(h.n, 4); /* 009, 010, 011, near */
        assert_string_equal(h.id[3], "near");
        assert_near(h.score[3], 1 / sqrt(1.01), 0.005);
        h = similar_to(&f, "008", 2);
        assert_int_equal(h.n, 2);
        assert_true(strcmp(h.id[0], "006") < 0 && strcmp(h.id[1], "006") < 0);
        fixture_put(&f, "c", "none", "a text alone");
        gf_similar_options o = GF_SIMILAR_OPTIONS(.id = GF_SLICE("none"));
        assert_status(GF_ECONFLICT,
                      gf_similar(f.store, fixture_place("c"), &o, take_hit, &h, &err));
        assert_non_null(strstr(err.message, "without a vector"));
        o = GF_SIMILAR_OPTIONS(.text = GF_SLICE("a text"));
        assert_status(GF_ECONFLICT,
                      gf_similar(f.store, fixture_place("c"), &o, take_hit, &h, &err));
        fixture_close(&f);
    }
}

/* ---- rebuilt from what is kept --------------------------------------------------------------- */

static void rebuilt_with_what_was_brought(void **state)
{
    (void)state;
    for (int dense = 0; dense < 2; dense++) {
        fixture f;
        gf_error err;
        given g;
        gf_rebuild_result r;
        gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
        fixture_open(&f);
        fixture_put_subjects(&f, "c");
        fixture_set(&f, "c", "default", "k", "2");
        give(&g, DOCUMENTS, dense);
        assert_ok(rebuild_by(&f, &g.matrix, &r, &err));
        gf_view *view = open_view(&f);
        uint32_t first = place_of(view, "002").cluster, last = place_of(view, "006").cluster;
        gf_view_close(view);
        fixture_put(&f, "c", "none", "apples");
        fixture_delete(&f, "c", "003");
        assert_ok(gf_rebuild(f.store, fixture_place("c"), fixture_default(), &o, &r, &err));
        assert_int_equal(r.outcome, GF_REBUILD_KEPT);
        put_vector(&f, "v1", true, 0.25, false);
        put_vector(&f, "000", false, 0, true);
        fixture_put(&f, "c", "001", "put anew without one");
        o.dry_run = true;
        assert_ok(gf_rebuild(f.store, fixture_place("c"), fixture_default(), &o, &r, &err));
        assert_int_equal(r.outcome, GF_REBUILD_DUE);
        o.dry_run = false;
        assert_ok(gf_rebuild(f.store, fixture_place("c"), fixture_default(), &o, &r, &err));
        assert_int_equal(r.outcome, GF_REBUILD_MADE);
        assert_int_equal(r.build.rows, dense ? GF_ROWS_DENSE : GF_ROWS_SPARSE);
        assert_int_equal(r.build.documents, DOCUMENTS + 1);
        assert_int_equal(r.build.without_terms, 2);
        assert_int_equal(r.unknown, 0);
        fixture_is_sound(&f);
        /* Clusters have gone on under their ids. */
        view = open_view(&f);
        assert_int_equal(place_of(view, "002").cluster, first);
        assert_int_equal(place_of(view, "v1").cluster, first);
        assert_int_equal(place_of(view, "000").cluster, last);
        assert_int_equal(place_of(view, "010").cluster, last);
        assert_false(place_of(view, "v1").provisional);
        gf_view_close(view);
        /* Nothing has changed since: kept, also where `same_rows` makes it anew. */
        assert_ok(gf_rebuild(f.store, fixture_place("c"), fixture_default(), &o, &r, &err));
        assert_int_equal(r.outcome, GF_REBUILD_KEPT);
        o.force = o.same_rows = true;
        assert_ok(gf_rebuild(f.store, fixture_place("c"), fixture_default(), &o, &r, &err));
        assert_int_equal(r.build.rows, dense ? GF_ROWS_DENSE : GF_ROWS_SPARSE);
        /* All at once, too. */
        put_vector(&f, "v2", false, 0.5, false);
        o.force = o.same_rows = false;
        gf_rebuild_options all = GF_REBUILD_OPTIONS(.threads = 2);
        assert_ok(gf_rebuild_all(f.store, GF_SLICE("test"), GF_SLICE(""), GF_SLICE(""), &all,
                                 is_made, NULL, &err));
        view = open_view(&f);
        assert_false(place_of(view, "v2").provisional);
        assert_int_equal(place_of(view, "v2").cluster, last);
        gf_view_close(view);
        fixture_is_sound(&f);
        fixture_close(&f);
    }
}

/* What was deleted goes from the rows that are kept, and the rest are clustered as they were. */
static void purged(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    given g;
    gf_rebuild_result r;
    gf_purged p;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "2");
    give(&g, DOCUMENTS, true);
    assert_ok(rebuild_by(&f, &g.matrix, &r, &err));
    put_vector(&f, "v1", true, 0.25, false);
    fixture_delete(&f, "c", "000");
    assert_ok(gf_purge_collection(f.store, fixture_place("c"), &o, &p, &err));
    assert_int_equal(p.rebuilt, 1);
    gf_view *view = open_view(&f);
    assert_int_equal(gf_view_build(view)->rows, GF_ROWS_DENSE);
    assert_int_equal(gf_view_build(view)->documents, DOCUMENTS);
    assert_int_equal(gf_view_build(view)->without_terms, 0);
    assert_int_equal(place_of(view, "v1").cluster, place_of(view, "001").cluster);
    gf_view_close(view);
    fixture_is_sound(&f);
    for (int i = 1; i < DOCUMENTS; i++) {
        char id[8];
        snprintf(id, sizeof id, "%03u", (unsigned)i % 1000);
        fixture_delete(&f, "c", id);
    }
    fixture_delete(&f, "c", "v1");
    fixture_put(&f, "c", "none", "a text alone"); /* no row is left */
    assert_ok(gf_purge_collection(f.store, fixture_place("c"), &o, &p, &err));
    view = open_view(&f);
    assert_int_equal(gf_view_build(view)->rows, GF_ROWS_OF_TEXTS);
    gf_view_close(view);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* Documents without a row, or with one of zeros, are in no cluster. */
static void some_rows(void **state)
{
    (void)state;
    for (int dense = 0; dense < 2; dense++) {
        fixture f;
        gf_error err;
        given g;
        gf_rebuild_result r;
        fixture_open(&f);
        fixture_put_subjects(&f, "c");
        fixture_set(&f, "c", "default", "k", "2");
        give(&g, DOCUMENTS - 2, dense);
        for (int c = 0; c < COLUMNS; c++)
            g.dense[c] = 0;
        g.val[0] = g.val[1] = 0;
        assert_ok(rebuild_by(&f, &g.matrix, &r, &err));
        assert_int_equal(r.unknown, 0);
        assert_int_equal(r.build.documents, DOCUMENTS);
        assert_int_equal(r.build.without_terms, 3);
        fixture_check_served(&f, "c", DOCUMENTS);
        fixture_is_sound(&f);
        fixture_close(&f);
    }
}

static void refused(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    given g;
    gf_rebuild_result r;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    gf_build_info before = fixture_rebuild(&f, "c");
    give(&g, 4, true);
    g.id[2] = g.id[3];
    assert_status(GF_EINVAL, rebuild_by(&f, &g.matrix, &r, &err));
    assert_non_null(strstr(err.message, "two rows of document \"000\""));
    give(&g, 4, true);
    g.dense[7] = INFINITY;
    assert_status(GF_EINVAL, rebuild_by(&f, &g.matrix, &r, &err));
    assert_non_null(strstr(err.message, "not finite"));
    give(&g, 4, false);
    g.col[3] = COLUMNS;
    assert_status(GF_EINVAL, rebuild_by(&f, &g.matrix, &r, &err));
    give(&g, 4, true);
    for (int i = 0; i < 4; i++)
        g.id[i] = GF_SLICE("nobody");
    assert_status(GF_EINVAL, rebuild_by(&f, &g.matrix, &r, &err));
    assert_non_null(strstr(err.message, "no row of the matrix"));
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.matrix = &g.matrix);
    assert_status(GF_EINVAL, gf_rebuild_all(f.store, GF_SLICE("test"), GF_SLICE(""), GF_SLICE(""),
                                            &o, NULL, NULL, &err));
    assert_int_equal(fixture_read(&f, "c").served, before.build);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* Random signed rows, sparse and dense alike: labels are the argmax over the kept centres. */
static void sparse_and_dense_agree(void **state)
{
    (void)state;
    enum { N = FIXTURE_POSTS, D = 12 };
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    fixture f;
    gf_error err;
    static float dense[N * D];
    static uint32_t col[N * D];
    static uint64_t start[N + 1];
    double objective[2];
    fixture_open(&f);
    fixture_put_posts(&f, "c", N);
    fixture_set(&f, "c", "default", "k", "5");
    fixture_set(&f, "c", "default", "restarts", "8");
    gf_build_matrix m;
    fixture_rebuild(&f, "c");
    gf_view *view = open_view(&f);
    assert_ok(gf_view_read_matrix(view, NULL, &m, &err));
    gf_view_close(view);
    for (uint32_t i = 0; i < N; i++) {
        uint64_t group = gf_random_below(&random, 5);
        start[i + 1] = start[i] + D;
        for (uint32_t t = 0; t < D; t++) {
            col[i * D + t] = t;
            dense[i * D + t] = (float)(2 * gf_random_unit(&random) - 1 + (t == group ? 4 : 0));
        }
    }
    gf_csr sparse = {N, D, start, col, dense};
    for (int kind = 0; kind < 2; kind++) {
        gf_matrix matrix = {N, D, m.id, kind ? NULL : &sparse, dense};
        gf_rebuild_result r;
        assert_ok(rebuild_by(&f, &matrix, &r, &err));
        assert_int_equal(r.build.k, 5);
        objective[kind] = r.build.objective;
        fixture_is_sound(&f);
    }
    assert_near(objective[0], objective[1], 1e-3);
    gf_build_matrix_release(&m);
    fixture_close(&f);
}

/* ---- too little memory ----------------------------------------------------------------------- */

typedef struct sweep {
    fixture f;
    given g;
    gf_build_matrix m;
    int64_t served;
} sweep;

static gf_status sweep_read(void *context, gf_error *err)
{
    sweep *s = context;
    gf_view *view;
    gf_status st = gf_view_open(s->f.store, fixture_place("c"), fixture_default(), 0, &view, err);
    if (st != GF_OK) return st;
    st = gf_view_read_matrix(view, NULL, &s->m, err);
    if (st == GF_OK) gf_build_matrix_release(&s->m);
    gf_view_close(view);
    return st;
}

static void still_served(void *context)
{
    sweep *s = context;
    assert_null(s->m.id);
    assert_int_equal(fixture_read(&s->f, "c").served, s->served);
}

/* Every seventh allocation fails: nothing is published, or (behind that point) it is whole. */
static void sweep_rebuilds(sweep *s)
{
    for (int64_t n = 0;; n += 7) {
        gf_error err = {GF_OK, ""};
        gf_rebuild_result r;
        gf_memory_fail_at(n);
        gf_status st = rebuild_by(&s->f, &s->g.matrix, &r, &err);
        int failed = gf_memory_failed();
        gf_memory_fail_at(-1);
        assert_true(st == GF_ENOMEM || st == GF_OK);
        if (!failed) {
            assert_int_equal(st, GF_OK);
            assert_true(n > 500);
            return;
        }
        if (st == GF_ENOMEM) still_served(s);
        s->served = fixture_check_served(&s->f, "c", DOCUMENTS);
    }
}

static void failing_memory(void **state)
{
    (void)state;
    for (int dense = 0; dense < 2; dense++) {
        sweep s = {.served = 0};
        fixture_open(&s.f);
        fixture_put_subjects(&s.f, "c");
        fixture_set(&s.f, "c", "default", "k", "2");
        fixture_set(&s.f, "c", "default", "restarts", "1");
        s.served = fixture_rebuild(&s.f, "c").build;
        give(&s.g, DOCUMENTS, dense);
        if (dense) gf_test_sweep(sweep_read, still_served, &s);
        sweep_rebuilds(&s);
        fixture_is_sound(&s.f);
        fixture_close(&s.f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_build),
        cmocka_unit_test(changes_since),
        cmocka_unit_test(map_of_changes),
        cmocka_unit_test(map_of_what_is_left_out),
        cmocka_unit_test(map_without_memory),
        cmocka_unit_test(builds_of_a_matrix),
        cmocka_unit_test(brought_along),
        cmocka_unit_test(rows_assigned),
        cmocka_unit_test(rows_by_several_threads),
        cmocka_unit_test(rows_without_memory),
        cmocka_unit_test(similar_by_rows),
        cmocka_unit_test(rebuilt_with_what_was_brought),
        cmocka_unit_test(purged),
        cmocka_unit_test(some_rows),
        cmocka_unit_test(refused),
        cmocka_unit_test(sparse_and_dense_agree),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
