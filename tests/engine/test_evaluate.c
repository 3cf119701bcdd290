#include "tests/engine/fixture.h"

#include <math.h>
#include <stdlib.h>

/* ---- an evaluation, copied ------------------------------------------------------------------- */

enum { CLASSES = 8 };

typedef struct evaluated {
    gf_evaluation e;
    struct {
        char name[32];
        uint64_t size;
        double recall, precision;
    } classes[CLASSES];
} evaluated;

static gf_status note(void *context, const gf_evaluation *e, gf_error *err)
{
    evaluated *v = context;
    v->e = *e;
    v->e.scores = NULL;
    if (e->classes > CLASSES) return gf_fail(err, GF_ELIMIT, "more classes than there are");
    for (size_t i = 0; i < e->classes; i++) {
        const gf_class_score *s = &e->scores[i];
        snprintf(v->classes[i].name, sizeof v->classes[i].name, "%.*s", GF_SLICE_ARG(s->name));
        v->classes[i].size = s->size;
        v->classes[i].recall = s->recall;
        v->classes[i].precision = s->precision;
        double sum = s->recall + s->precision;
        if (sum > 0) assert_near(s->f1, 2 * s->recall * s->precision / sum, 1e-12);
    }
    return GF_OK;
}

static gf_view *open_view(fixture *f)
{
    gf_error err;
    gf_view *view;
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, &err));
    return view;
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* 000 to 003 are one subject, and so on; 003 and 011 have no class. */
static gf_status subject_of(void *context, gf_slice id, gf_slice *name, gf_error *err)
{
    (void)context, (void)err;
    static const char *const subjects[] = {"cars", "bread", "sky"};
    int number = (id.ptr[0] - '0') * 100 + (id.ptr[1] - '0') * 10 + (id.ptr[2] - '0');
    *name = number == 3 || number == 11 ? (gf_slice){0} : gf_slice_str(subjects[number / 4]);
    return GF_OK;
}

static void perfect_clusters_score_one(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    evaluated v;
    fixture_open_subjects(&f);
    gf_view *view = open_view(&f);
    assert_ok(gf_view_evaluate(view, (gf_slice){0}, subject_of, NULL, NULL, note, &v, &err));
    assert_int_equal(v.e.documents, 10);
    assert_int_equal(v.e.classes, 3);
    assert_int_equal(v.e.clusters, 3);
    const double ones[] = {v.e.nmi,       v.e.ari,    v.e.homogeneity,    v.e.completeness,
                           v.e.v_measure, v.e.purity, v.classes[1].recall};
    for (size_t i = 0; i < 7; i++)
        assert_near(ones[i], 1, 1e-12);
    assert_string_equal(v.classes[0].name, "bread");
    assert_string_equal(v.classes[1].name, "cars");
    assert_string_equal(v.classes[2].name, "sky");
    assert_int_equal(v.classes[0].size, 4);
    assert_int_equal(v.classes[1].size, 3);
    gf_view_close(view);
    fixture_close(&f);
}

/* ---- against a plain computation ------------------------------------------------------------- */

typedef struct pairs {
    uint32_t cluster[FIXTURE_POSTS], class[FIXTURE_POSTS];
    size_t n;
    gf_view *view;
    char names[CLASSES][32];
} pairs;

static gf_status note_label(void *context, const gf_document *d, gf_error *err)
{
    pairs *p = context;
    for (size_t i = 0; i < d->n_fields; i++) {
        if (!gf_slice_equal(d->fields[i].name, GF_SLICE("label"))) continue;
        char name[32];
        snprintf(name, sizeof name, "%.*s", GF_SLICE_ARG(d->fields[i].json));
        uint32_t c = 0;
        while (p->names[c][0] && strcmp(p->names[c], name) != 0)
            c++;
        snprintf(p->names[c], sizeof p->names[c], "%s", name);
        p->class[p->n++] = c;
        return GF_OK;
    }
    return gf_fail(err, GF_EINVAL, "a post without a label");
}

static gf_status note_pair(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    pairs *p = context;
    p->cluster[p->n] = m->cluster;
    return gf_view_document(p->view, id, note_label, p, err);
}

static double share(const pairs *p, const uint32_t *x, uint32_t a, const uint32_t *y, uint32_t b)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n += x[i] == a && (!y || y[i] == b);
    return (double)n / (double)p->n;
}

/* Sums over documents: each contributes 1/n of its cell's logarithm. */
static double plain_nmi(const pairs *p)
{
    double information = 0, classes = 0, clusters = 0, n = (double)p->n;
    for (size_t i = 0; i < p->n; i++) {
        double c = share(p, p->class, p->class[i], NULL, 0);
        double k = share(p, p->cluster, p->cluster[i], NULL, 0);
        double both = share(p, p->class, p->class[i], p -> cluster, p -> cluster[i]);
        information += log(both / (c * k)) / n;
        classes -= log(c) / n;
        clusters -= log(k) / n;
    }
    return information / ((classes + clusters) / 2);
}

/* Rand's index over all pairs, adjusted for chance. */
static double plain_ari(const pairs *p)
{
    double tp = 0, tn = 0, fp = 0, fn = 0;
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = i + 1; j < p->n; j++) {
            bool class = p->class[i] == p->class[j], cluster = p->cluster[i] == p->cluster[j];
            *(class ? cluster ? &tp : &fn : cluster ? &fp : &tn) += 1;
        }
    return 2 * (tp * tn - fn * fp) / ((tp + fn) * (fn + tn) + (tp + fp) * (fp + tn));
}

static double plain_purity(const pairs *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->n; i++) {
        double best = 0, size = share(p, p->cluster, p->cluster[i], NULL, 0);
        for (uint32_t c = 0; c < CLASSES; c++) {
            double both = share(p, p->cluster, p->cluster[i], p->class, c);
            best = both > best ? both : best;
        }
        sum += best / size;
    }
    return sum / (double)p->n;
}

static void measures_equal_a_plain_computation(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    evaluated v;
    fixture_open(&f);
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    fixture_put(&f, "c", "unlabelled", "a document that has no label is left out");
    fixture_set(&f, "c", "default", "k", "7");
    fixture_rebuild(&f, "c");
    fixture_delete(&f, "c", "unlabelled");
    static pairs p;
    gf_view *view = open_view(&f);
    p.view = open_view(&f);
    assert_ok(gf_view_memberships(view, note_pair, &p, &err));
    assert_int_equal(p.n, FIXTURE_POSTS);
    assert_ok(gf_view_evaluate(view, GF_SLICE("label"), NULL, NULL, NULL, note, &v, &err));
    assert_int_equal(v.e.documents, FIXTURE_POSTS);
    assert_int_equal(v.e.classes, 5);
    assert_near(v.e.nmi, plain_nmi(&p), 1e-9);
    assert_near(v.e.ari, plain_ari(&p), 1e-9);
    assert_near(v.e.purity, plain_purity(&p), 1e-9);
    assert_string_equal(v.classes[0].name, "aquaponics"); /* decoded, by name */
    assert_int_equal(v.classes[0].size, 60);
    gf_view_close(view);
    gf_view_close(p.view);
    fixture_close(&f);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void put_with(fixture *f, const char *id, const char *json, const char *lang)
{
    gf_error err;
    gf_field field = {GF_SLICE("class"), gf_slice_str(json)};
    gf_document d = {.id = gf_slice_str(id),
                     .text = GF_SLICE("some words"),
                     .language = gf_slice_str(lang),
                     .fields = &field,
                     .n_fields = 1};
    assert_ok(fixture_try_put(f->store, "c", &d, &err));
}

static void any_field_may_be_the_class(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    evaluated v;
    fixture_open(&f);
    put_with(&f, "1", "\"a\\u0062\"", "en");
    put_with(&f, "2", "\"ab\"", "en");
    put_with(&f, "3", "12", "de");
    put_with(&f, "4", "null", "");
    put_with(&f, "5", "\"\"", "de");
    fixture_rebuild(&f, "c");
    gf_view *view = open_view(&f);
    assert_ok(gf_view_evaluate(view, GF_SLICE("class"), NULL, NULL, NULL, note, &v, &err));
    assert_int_equal(v.e.documents, 3);
    assert_int_equal(v.e.classes, 2);
    assert_string_equal(v.classes[0].name, "12");
    assert_string_equal(v.classes[1].name, "ab");
    assert_ok(gf_view_evaluate(view, GF_SLICE("lang"), NULL, NULL, NULL, note, &v, &err));
    assert_int_equal(v.e.documents, 4);
    assert_string_equal(v.classes[0].name, "de");
    assert_status(GF_ENOTFOUND,
                  gf_view_evaluate(view, GF_SLICE("label"), NULL, NULL, NULL, note, &v, &err));
    assert_string_equal(err.message, "no document has a field \"label\"");
    gf_cancel cancel = {0};
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED,
                  gf_view_evaluate(view, GF_SLICE("class"), NULL, NULL, &cancel, note, &v, &err));
    gf_view_close(view);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perfect_clusters_score_one),
        cmocka_unit_test(measures_equal_a_plain_computation),
        cmocka_unit_test(any_field_may_be_the_class),
    };
    return cmocka_run_group_tests_name("evaluate", tests, NULL, NULL);
}
