/* Figures of a build against a plain computation over its matrix; stability. */
#include "tests/engine/fixture.h"

#include <math.h>
#include <stdlib.h>

enum { CLUSTERS = 16, TERMS = 10 };

/* ---- figures, copied ------------------------------------------------------------------------- */

typedef struct noted {
    gf_cluster_figures at[CLUSTERS];
    uint32_t id[CLUSTERS];
    char label[CLUSTERS][64], nearest[CLUSTERS][64], term[CLUSTERS][TERMS][64];
    size_t n_terms[CLUSTERS], n;
} noted;

static gf_status note_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    noted *f = context;
    size_t i = f->n++;
    if (f->n > CLUSTERS) return gf_fail(err, GF_ELIMIT, "more clusters than there are");
    assert_non_null(info->figures);
    f->at[i] = *info->figures;
    f->id[i] = info->id;
    snprintf(f->label[i], sizeof f->label[i], "%.*s", GF_SLICE_ARG(info->label));
    snprintf(f->nearest[i], sizeof f->nearest[i], "%.*s",
             GF_SLICE_ARG(info->figures->nearest_label));
    f->n_terms[i] = info->n_terms < TERMS ? info->n_terms : TERMS;
    for (size_t t = 0; t < f->n_terms[i]; t++)
        snprintf(f->term[i][t], sizeof f->term[i][t], "%.*s", GF_SLICE_ARG(info->terms[t].surface));
    return GF_OK;
}

static gf_view *open_view(fixture *f)
{
    gf_error err;
    gf_view *view;
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, &err));
    return view;
}

static void read_figures(fixture *f, noted *figures, gf_figures *all)
{
    gf_error err;
    gf_view *view = open_view(f);
    *figures = (noted){.n = 0};
    assert_ok(gf_view_clusters(view, note_cluster, figures, &err));
    assert_ok(gf_view_figures(view, all, &err));
    gf_view_close(view);
}

/* ---- by hand --------------------------------------------------------------------------------- */

static void subjects_are_clear(void **state)
{
    (void)state;
    fixture f;
    static noted n;
    gf_figures all;
    fixture_open_subjects(&f);
    read_figures(&f, &n, &all);
    assert_int_equal(all.clusters, 3);
    assert_int_equal(all.documents, 12);
    assert_int_equal(all.clear, 3);
    assert_near(all.weak, 0, 0);
    assert_near(all.similarity, 0, 0); /* they share no word */
    assert_near(all.precision, 1, 0);
    assert_near(all.diversity, 1, 0);
    assert_near(all.margin, all.score, 1e-6);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(n.at[i].documents, 4);
        assert_int_equal(n.at[i].found, n.at[i].hits);
        assert_int_equal(n.at[i].own_terms, n.at[i].terms);
        assert_true(n.at[i].hits > 0);
    }
    fixture_close(&f);
}

/* Without clusters there is nothing to take a mean of. */
static void an_empty_build_has_none(void **state)
{
    (void)state;
    fixture f;
    static noted n;
    gf_figures all;
    fixture_open(&f);
    fixture_put(&f, "c", "1", "...");
    fixture_rebuild(&f, "c");
    read_figures(&f, &n, &all);
    assert_int_equal(all.clusters, 0);
    assert_true(isnan(all.score) && isnan(all.weak) && isnan(all.npmi) && isnan(all.f1));
    fixture_close(&f);
}

/* ---- against a plain computation ------------------------------------------------------------- */

static bool row_has(const gf_csr *x, uint32_t row, uint32_t col)
{
    for (uint64_t e = x->start[row]; e < x->start[row + 1]; e++)
        if (x->col[e] == col) return true;
    return false;
}

/* The column of a surface. */
static uint32_t column_of(const gf_build_matrix *m, const char *surface)
{
    uint32_t c = 0;
    while (c < m->rows.n_cols &&
           !gf_slice_equal(gf_build_matrix_surface(m, c), gf_slice_str(surface)))
        c++;
    assert_true(c < m->rows.n_cols);
    return c;
}

static double plain_npmi(const gf_build_matrix *m, uint32_t a, uint32_t b)
{
    double with_a = 0, with_b = 0, both = 0, n = m->rows.n_rows;
    for (uint32_t i = 0; i < m->rows.n_rows; i++) {
        bool x = row_has(&m->rows, i, a), y = row_has(&m->rows, i, b);
        with_a += x;
        with_b += y;
        both += x && y;
    }
    return both > 0 ? log(both * n / (with_a * with_b)) / log(n / both) : -1;
}

static void check_npmi(const gf_build_matrix *m, const noted *f, size_t i)
{
    double sum = 0, pairs = 0;
    uint32_t col[TERMS];
    for (size_t t = 0; t < f->n_terms[i]; t++)
        col[t] = column_of(m, f->term[i][t]);
    for (size_t a = 0; a < f->n_terms[i]; a++)
        for (size_t b = a + 1; b < f->n_terms[i]; b++, pairs++)
            sum += plain_npmi(m, col[a], col[b]);
    assert_near(f->at[i].npmi, sum / pairs, 1e-6);
}

/* Labels of one word that is the surface of a term. */
static bool check_label(const gf_build_matrix *m, const noted *f, size_t i)
{
    uint32_t c = 0;
    uint64_t found = 0, hits = 0;
    while (c < m->rows.n_cols &&
           !gf_slice_equal(gf_build_matrix_surface(m, c), gf_slice_str(f->label[i])))
        c++;
    if (c == m->rows.n_cols) return false;
    for (uint32_t r = 0; r < m->rows.n_rows; r++) {
        bool has = row_has(&m->rows, r, c);
        found += has;
        hits += has && m->label[r] == f->id[i];
    }
    assert_true(f->at[i].has_label);
    assert_int_equal(f->at[i].found, found);
    assert_int_equal(f->at[i].hits, hits);
    return true;
}

typedef struct fits {
    const noted *f;
    double score[CLUSTERS], margin[CLUSTERS];
    uint64_t weak[CLUSTERS], n[CLUSTERS], next[CLUSTERS][CLUSTERS];
} fits;

static size_t place_of(const noted *f, uint32_t id)
{
    size_t i = 0;
    while (f->id[i] != id)
        i++;
    return i;
}

static gf_status note_fit(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)id, (void)err;
    fits *s = context;
    if (!m->cluster) return GF_OK;
    size_t i = place_of(s->f, m->cluster);
    s->n[i]++;
    s->score[i] += m->score;
    s->margin[i] += m->score - m->second;
    s->weak[i] += m->second >= GF_WEAK_FIT * m->score;
    s->next[i][place_of(s->f, m->runner_up)]++;
    return GF_OK;
}

static void check_fits(gf_view *view, const gf_build_matrix *m, const noted *f)
{
    gf_error err;
    static fits s;
    s = (fits){.f = f};
    assert_ok(gf_view_memberships(view, note_fit, &s, &err));
    for (size_t i = 0; i < f->n; i++) {
        const gf_cluster_figures *c = &f->at[i];
        assert_int_equal(c->documents, s.n[i]);
        assert_int_equal(c->weak, s.weak[i]);
        assert_near(c->score, s.score[i] / (double)s.n[i], 1e-5);
        assert_near(c->margin, s.margin[i] / (double)s.n[i], 1e-5);
        size_t nearest = place_of(f, c->nearest);
        for (size_t j = 0; j < f->n; j++)
            assert_true(s.next[i][j] <= s.next[i][nearest]);
        assert_string_equal(f->nearest[i], f->label[nearest]);
        uint32_t a = 0, b = 0;
        while (m->cluster[a] != f->id[i])
            a++;
        while (m->cluster[b] != c->nearest)
            b++;
        double dot = gf_csr_row_dot(gf_csr_row(&m->centroids, a), gf_csr_row(&m->centroids, b));
        assert_near(c->similarity, dot, 1e-6);
    }
}

static void check_terms(const noted *f, const gf_figures *all)
{
    double distinct = 0, terms = 0;
    for (size_t i = 0; i < f->n; i++) {
        uint32_t own = 0;
        for (size_t t = 0; t < f->n_terms[i]; t++, terms++) {
            size_t same = 0, before = 0;
            for (size_t j = 0; j < f->n; j++)
                for (size_t u = 0; u < f->n_terms[j]; u++) {
                    bool equal = strcmp(f->term[i][t], f->term[j][u]) == 0;
                    same += equal;
                    before += equal && (j < i || (j == i && u < t));
                }
            own += same == 1;
            distinct += before == 0;
        }
        assert_int_equal(f->at[i].own_terms, own);
    }
    assert_near(all->diversity, distinct / terms, 1e-12);
}

static void figures_equal_a_plain_computation(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    static noted n;
    gf_figures all;
    gf_build_matrix m;
    size_t labels = 0;
    fixture_open(&f);
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    fixture_set(&f, "c", "default", "k", "7");
    fixture_rebuild(&f, "c");
    read_figures(&f, &n, &all);
    assert_int_equal(n.n, 7);
    gf_view *view = open_view(&f);
    assert_ok(gf_view_read_matrix(view, NULL, &m, &err));
    for (size_t i = 0; i < n.n; i++) {
        check_npmi(&m, &n, i);
        labels += check_label(&m, &n, i);
    }
    assert_true(labels >= 2);
    check_fits(view, &m, &n);
    check_terms(&n, &all);
    uint64_t documents = 0, weak = 0;
    double npmi = 0;
    for (size_t i = 0; i < n.n; i++) {
        documents += n.at[i].documents;
        weak += n.at[i].weak;
        npmi += n.at[i].npmi / (double)n.n;
    }
    assert_int_equal(all.documents, documents);
    assert_int_equal(all.clear + all.fair + all.mixed, n.n);
    assert_near(all.weak, (double)weak / (double)documents, 1e-12);
    assert_near(all.npmi, npmi, 1e-12);
    gf_build_matrix_release(&m);
    gf_view_close(view);
    fixture_close(&f);
}

/* A pinned label of two parts finds what either part finds; one of unknown words is not counted. */
static void labels_have_parts(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    static noted n;
    gf_figures all;
    fixture_open_subjects(&f);
    read_figures(&f, &n, &all);
    char both[200];
    uint64_t found = n.at[0].found + n.at[1].found;
    snprintf(both, sizeof both, "%s / %s", n.label[0], n.label[1]);
    assert_ok(gf_pin_label(f.store, fixture_place("c"), fixture_default(), n.id[0],
                           gf_slice_str(both), &err));
    assert_ok(gf_pin_label(f.store, fixture_place("c"), fixture_default(), n.id[1],
                           GF_SLICE("xylophone"), &err));
    uint32_t first = n.id[0], second = n.id[1];
    uint64_t hits = n.at[0].hits;
    fixture_rebuild(&f, "c");
    read_figures(&f, &n, &all);
    size_t a = place_of(&n, first), b = place_of(&n, second);
    assert_string_equal(n.label[a], both);
    assert_true(n.at[a].has_label);
    assert_int_equal(n.at[a].found, found); /* subjects share no word */
    assert_int_equal(n.at[a].hits, hits);
    assert_false(n.at[b].has_label);
    fixture_close(&f);
}

/* A label's words are terms by the stemmer of its own documents' language. */
static void labels_have_languages(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    static noted n;
    gf_figures all;
    static const char *const texts[][2] = {
        {"en", "He built houses"},        {"en", "Wooden houses of bricks"},
        {"en", "An old house of bricks"}, {"en", "The houses on the hill"},
        {"de", "Bellende Hunde"},         {"de", "Die Hunde bellen"},
        {"de", "Ein Hund mit Hunden"},    {"de", "Viele Hunde im Park"}};
    fixture_open(&f);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char id[8];
        snprintf(id, sizeof id, "%zu", i);
        gf_document d = {.id = gf_slice_str(id),
                         .text = gf_slice_str(texts[i][1]),
                         .language = gf_slice_str(texts[i][0])};
        assert_ok(fixture_try_put(f.store, "c", &d, &err));
    }
    fixture_set(&f, "c", "default", "k", "2");
    fixture_set(&f, "c", "default", "min_df", "1");
    fixture_rebuild(&f, "c");
    static const char *const pinned[] = {"housing", "Hunden"};
    for (uint32_t i = 0; i < 2; i++) { /* forms that are not the stems */
        gf_view *view = open_view(&f);
        gf_membership m;
        assert_ok(gf_view_membership(view, gf_slice_str(i ? "7" : "3"), &m, &err));
        gf_view_close(view);
        assert_ok(gf_pin_label(f.store, fixture_place("c"), fixture_default(), m.cluster,
                               gf_slice_str(pinned[i]), &err));
    }
    fixture_rebuild(&f, "c");
    read_figures(&f, &n, &all);
    assert_int_equal(n.n, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(n.at[i].has_label);
        assert_int_equal(n.at[i].found, 4);
        assert_int_equal(n.at[i].hits, 4);
    }
    fixture_close(&f);
}

/* ---- stability ------------------------------------------------------------------------------- */

typedef struct stable {
    gf_stability s;
    gf_cluster_stability clusters[CLUSTERS];
    unsigned progress;
    gf_cancel *cancel; /* requested after the first run */
} stable;

static gf_status note_stability(void *context, const gf_stability *s, gf_error *err)
{
    stable *t = context;
    t->s = *s;
    if (s->n_clusters > CLUSTERS) return gf_fail(err, GF_ELIMIT, "more clusters than there are");
    memcpy(t->clusters, s->clusters, s->n_clusters * sizeof *s->clusters);
    t->s.clusters = NULL;
    return GF_OK;
}

static void note_progress(void *context, gf_place where, const char *phase, uint64_t done,
                          uint64_t total)
{
    stable *t = context;
    (void)where, (void)phase;
    assert_true(done <= total);
    t->progress++;
    if (t->cancel && done == 1) gf_cancel_request(t->cancel);
}

static void subjects_are_stable(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    stable t = {.progress = 0};
    gf_buffer before = {0};
    gf_rebuild_options o =
        GF_REBUILD_OPTIONS(.threads = 1, .progress = note_progress, .context = &t);
    fixture_open(&f);
    assert_status(GF_ENOTFOUND, gf_stability_measure(f.store, fixture_place("c"), fixture_default(),
                                                     &o, note_stability, &t, &err));
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    assert_status(GF_ENOTFOUND, gf_stability_measure(f.store, fixture_place("c"), fixture_default(),
                                                     &o, note_stability, &t, &err));
    fixture_set(&f, "c", "default", "k", "5");
    gf_build_info info = fixture_rebuild(&f, "c");
    fixture_dump(&f, &before);
    assert_ok(gf_stability_measure(f.store, fixture_place("c"), fixture_default(), &o,
                                   note_stability, &t, &err));
    fixture_same_dump(&f, &before, "after a look at stability");
    assert_int_equal(t.s.build, info.build);
    assert_int_equal(t.s.documents, FIXTURE_POSTS);
    assert_int_equal(t.s.n_clusters, 5);
    assert_int_equal(t.progress, 1 + GF_STABILITY_SEEDS + GF_STABILITY_HALVES);
    assert_true(t.s.seeds_nmi > 0.5 && t.s.seeds_nmi <= 1 && t.s.halves_nmi > 0.2);
    assert_true(t.s.seeds_nmi > t.s.halves_nmi); /* halves know less */
    for (size_t i = 0; i < 5; i++) {
        assert_true(t.clusters[i].seeds > 0 && t.clusters[i].seeds <= 1);
        assert_true(t.clusters[i].halves > 0 && t.clusters[i].halves <= 1);
        assert_true(i == 0 || t.clusters[i - 1].cluster < t.clusters[i].cluster);
    }
    stable again = {.progress = 0};
    o.context = &again;
    o.threads = 3;
    assert_ok(gf_stability_measure(f.store, fixture_place("c"), fixture_default(), &o,
                                   note_stability, &again, &err));
    assert_memory_equal(&again.s, &t.s, sizeof t.s);
    for (size_t i = 0; i < 5; i++) {
        assert_near(again.clusters[i].seeds, t.clusters[i].seeds, 0);
        assert_near(again.clusters[i].halves, t.clusters[i].halves, 0);
    }
    gf_buffer_release(&before);
    fixture_close(&f);
}

static void stability_can_be_stopped(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_cancel cancel = {0};
    stable t = {.cancel = &cancel};
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1, .cancel = &cancel,
                                              .progress = note_progress, .context = &t);
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_rebuild(&f, "c");
    assert_status(GF_ECANCELLED,
                  gf_stability_measure(f.store, fixture_place("c"), fixture_default(), &o,
                                       note_stability, &t, &err));
    assert_int_equal(t.s.build, 0);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subjects_are_clear),
        cmocka_unit_test(an_empty_build_has_none),
        cmocka_unit_test(figures_equal_a_plain_computation),
        cmocka_unit_test(labels_have_parts),
        cmocka_unit_test(labels_have_languages),
        cmocka_unit_test(subjects_are_stable),
        cmocka_unit_test(stability_can_be_stopped),
    };
    return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}
