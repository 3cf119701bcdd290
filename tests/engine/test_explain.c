#include "tests/engine/fixture.h"

#include "base/memory.h"
#include "engine/view/view.h"

#include <stdlib.h>
#include <string.h>

/* ---- over all documents ---------------------------------------------------------------------- */

typedef struct explaining {
    gf_view *view, *other; /* other: explains, while the first is walked */
    size_t limit;
    float score; /* as stored */
    uint64_t n;
} explaining;

static gf_status check_explanation(void *context, const gf_explanation *e, gf_error *err)
{
    explaining *x = context;
    double sum = e->rest;
    for (size_t i = 0; i < e->n; i++) {
        const gf_reason *r = &e->reasons[i];
        sum += r->part;
        if (r->surface.len == 0 || r->part <= 0) return gf_fail(err, GF_EINVAL, "an empty reason");
        if (i && r->part > e->reasons[i - 1].part) return gf_fail(err, GF_EINVAL, "not by part");
        if (r->part != (double)r->in_document * (double)r->in_centre)
            return gf_fail(err, GF_EINVAL, "a part is not the product of its weights");
    }
    assert_near(sum, e->score, 1e-12);
    assert_near(e->score, x->score, 1e-6);
    if (e->n > x->limit) return gf_fail(err, GF_EINVAL, "more reasons than asked for");
    return GF_OK;
}

static gf_status explain_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    explaining *x = context;
    x->score = m->score;
    x->n++;
    return gf_view_explain(x->other, id, x->limit, check_explanation, x, err);
}

static gf_view *open_view(fixture *f, const char *collection)
{
    gf_error err;
    gf_view *view;
    assert_ok(gf_view_open(f->store, fixture_place(collection), fixture_default(), 0, &view, &err));
    return view;
}

static void explain_all(fixture *f, const char *collection, size_t limit, uint64_t n)
{
    gf_error err;
    explaining x = {open_view(f, collection), open_view(f, collection), limit, 0, 0};
    assert_ok(gf_view_memberships(x.view, explain_member, &x, &err));
    assert_int_equal(x.n, n);
    gf_view_close(x.view);
    gf_view_close(x.other);
}

static void parts_and_rest_are_the_stored_score(void **state)
{
    (void)state;
    static const size_t limits[] = {0, 1, 5, 1000};
    fixture f;
    fixture_open(&f);
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    fixture_rebuild(&f, "c");
    for (size_t i = 0; i < 4; i++)
        explain_all(&f, "c", limits[i], FIXTURE_POSTS);
    fixture_set(&f, "c", "default", "ngrams", "1-2");
    fixture_set(&f, "c", "default", "k", "12");
    fixture_set(&f, "c", "default", "min_df", "2");
    fixture_rebuild(&f, "c");
    explain_all(&f, "c", 10, FIXTURE_POSTS);
    fixture_close(&f);
}

/* Mixed languages, documents that say their own and ones that do not, ones without words. */
static void languages_are_those_of_the_build(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "Der Motor und die Bremsen des alten Autos sind kaputt",
        "Die Bremsen quietschen, und der Motor ist noch kalt",
        "the engine and the brakes of the old car are broken",
        "brakes are squealing, and the engine of this car is cold",
        "le moteur et les freins de la vieille voiture",
        "les freins de cette voiture sont tr\xC3\xA8s vieux",
        "!!!",
        "\xE6\x89\x8B\xE6\x9C\xBA\xE8\xB4\xA8\xE9\x87\x8F\xE5\xBE\x88\xE5\xA5\xBD",
    };
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_texts(&f, "c", texts, 8);
    gf_document d = {
        .id = GF_SLICE("own"), .text = GF_SLICE("brakes squealing"), .language = GF_SLICE("de")};
    assert_ok(fixture_try_put(f.store, "c", &d, &err));
    fixture_set(&f, "c", "default", "k", "4");
    gf_build_info b = fixture_rebuild(&f, "c");
    assert_int_equal(b.without_terms, 1);
    explain_all(&f, "c", 3, 9);
    fixture_close(&f);
}

/* ---- by hand --------------------------------------------------------------------------------- */

static gf_status note_reasons(void *context, const gf_explanation *e, gf_error *err)
{
    gf_buffer *out = context;
    for (size_t i = 0; i < e->n; i++)
        gf_buffer_format(out, "%.*s %.4f %.4f; ", GF_SLICE_ARG(e->reasons[i].surface),
                         (double)e->reasons[i].in_document, (double)e->reasons[i].in_centre);
    gf_buffer_format(out, "score %.4f", e->score);
    return gf_buffer_check(out, err);
}

/*
 * Two documents in one cluster, "red apple" and "red pear". N = 2; red is in both and weighs
 * (1 + ln 1) ln(2/2) = 0 by idf=log, so take idf=none: each word weighs 1, each row is
 * (1, 1) / sqrt 2. The centre is (2, 1, 1) / sqrt 6 over red, apple, pear; the score is
 * (2 + 1) / sqrt 12 = 0.8660.
 */
static void an_explanation_by_hand(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer out = {0};
    fixture_open(&f);
    fixture_put_texts(&f, "c", (const char *const[]){"red apple", "red pear"}, 2);
    fixture_set(&f, "c", "default", "k", "1");
    fixture_set(&f, "c", "default", "idf", "none");
    fixture_set(&f, "c", "default", "language", "none");
    fixture_rebuild(&f, "c");
    gf_view *view = open_view(&f, "c");
    assert_ok(gf_view_explain(view, GF_SLICE("000"), 10, note_reasons, &out, &err));
    assert_slice(gf_buffer_view(&out), "red 0.7071 0.8165; apple 0.7071 0.4082; score 0.8660");
    gf_view_close(view);
    gf_buffer_release(&out);
    fixture_close(&f);
}

/* Documents put since the build are explained by their provisional cluster. */
static void explain_current(gf_view *view, const char *id)
{
    gf_error err;
    gf_membership m;
    assert_ok(gf_view_current_membership(view, gf_slice_str(id), &m, &err));
    assert_true(m.provisional);
    assert_true(m.cluster && m.score > 0);
    explaining x = {view, view, 10, m.score, 0};
    assert_ok(gf_view_explain(view, gf_slice_str(id), 10, check_explanation, &x, &err));
}

static void what_has_changed_is_explained_as_it_is(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer out = {0};
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_rebuild(&f, "c");
    fixture_put(&f, "c", "000", "another bread and another star");
    fixture_put(&f, "c", "new", "a new comet near the star");
    fixture_put(&f, "c", "none", "nothing of these");
    fixture_delete(&f, "c", "001");
    gf_view *view = open_view(&f, "c");
    explain_current(view, "000");
    explain_current(view, "new");
    assert_status(GF_ENOTFOUND,
                  gf_view_explain(view, GF_SLICE("001"), 10, note_reasons, &out, &err));
    assert_int_equal(out.len, 0);
    assert_ok(gf_view_explain(view, GF_SLICE("none"), 10, note_reasons, &out, &err));
    assert_slice(gf_buffer_view(&out), "score 0.0000");
    gf_view_close(view);
    gf_buffer_release(&out);
    fixture_close(&f);
}

/* ---- stored vectors -------------------------------------------------------------------------- */

typedef struct vectors {
    gf_view *view, *other;
    uint64_t n, with;
} vectors;

/* A stored vector is, bit for bit, what the model makes of the text. */
static gf_status compare_vector(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)m;
    vectors *v = context;
    gf_membership_cells cells;
    gf_document d;
    gf_field *fields = NULL;
    gf_row_view row;
    uint32_t *col, n;
    float *val;
    uint64_t seq;
    v->n++;
    gf_status st = gf_view_read_cells(v->other, id, &cells, err);
    if (st != GF_OK || cells.vector.len == 0) return st;
    v->with++;
    st = gf_view_load_model(v->other, err);
    if (st != GF_OK) return st;
    st =
        gf_state_document_row(v->other->state, id, &v->other->document_row, &d, &fields, &seq, err);
    if (st == GF_OK) st = gf_model_row(&v->other->model, d.language, d.text, &row, err);
    gf_free(fields);
    if (st != GF_OK) return st;
    st =
        gf_model_vector_read(cells.vector, v->other->model.vocabulary.n_terms, &col, &val, &n, err);
    if (st != GF_OK) return st;
    bool same = n == row.n && (n == 0 || (memcmp(col, row.col, n * sizeof *col) == 0 &&
                                          memcmp(val, row.val, n * sizeof *val) == 0));
    gf_free(col);
    gf_free(val);
    return same ? GF_OK : gf_fail(err, GF_EINVAL, "another vector");
}

static void vectors_are_stored_where_asked_for(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_posts(&f, "c", 100);
    fixture_put(&f, "c", "wordless", "???");
    for (int on = 0; on < 2; on++) {
        fixture_set(&f, "c", "default", "store_vectors", on ? "on" : "off");
        fixture_rebuild(&f, "c");
        vectors v = {open_view(&f, "c"), open_view(&f, "c"), 0, 0};
        assert_ok(gf_view_memberships(v.view, compare_vector, &v, &err));
        assert_int_equal(v.n, 101);
        assert_int_equal(v.with, on ? 101 : 0);
        gf_view_close(v.view);
        gf_view_close(v.other);
        explain_all(&f, "c", 5, 101);
    }
    fixture_close(&f);
}

/* ---- vectors as bytes ------------------------------------------------------------------------ */

/* Every start of a vector's bytes is refused, and so is each with a byte more. */
static void damaged_vectors_are_refused(void **state)
{
    (void)state;
    const uint32_t cols[] = {0, 3, 500, 70000};
    const float vals[] = {0.5F, -1, 1e-9F, 3};
    gf_error err;
    gf_buffer bytes = {0};
    uint32_t *col, n;
    float *val;
    gf_model_vector_write((gf_row_view){cols, vals, 4}, &bytes);
    assert_ok(gf_model_vector_read(gf_buffer_view(&bytes), 70001, &col, &val, &n, &err));
    assert_int_equal(n, 4);
    assert_memory_equal(col, cols, sizeof cols);
    assert_memory_equal(val, vals, sizeof vals);
    gf_free(col);
    gf_free(val);
    assert_status(GF_ECORRUPT,
                  gf_model_vector_read(gf_buffer_view(&bytes), 70000, &col, &val, &n, &err));
    for (size_t len = 0; len < bytes.len; len++) {
        char *cut = malloc(len + 1); /* of its own, so that reading past its end is seen */
        memcpy(cut, bytes.ptr, len);
        assert_status(GF_ECORRUPT,
                      gf_model_vector_read(gf_slice_of(cut, len), 70001, &col, &val, &n, &err));
        free(cut);
    }
    gf_buffer_byte(&bytes, 0);
    assert_status(GF_ECORRUPT,
                  gf_model_vector_read(gf_buffer_view(&bytes), 70001, &col, &val, &n, &err));
    gf_buffer_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_and_rest_are_the_stored_score),
        cmocka_unit_test(languages_are_those_of_the_build),
        cmocka_unit_test(an_explanation_by_hand),
        cmocka_unit_test(what_has_changed_is_explained_as_it_is),
        cmocka_unit_test(vectors_are_stored_where_asked_for),
        cmocka_unit_test(damaged_vectors_are_refused),
    };
    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
