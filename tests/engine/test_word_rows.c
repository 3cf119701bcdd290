/* Documents clustered as means of the vectors of their words. */
#include "tests/engine/fixture.h"

#include "base/file.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two subjects, in words of which no two documents share one. */
static const char *const texts[] = {"cats purring",   "kitten meow",  "feline whiskers",
                                    "tomcat scratch", "trains rail",  "locomotive steam",
                                    "railway engine", "wagon freight"};
enum { DOCUMENTS = 8 };

/* The first number is for animals, the second for railways, the third is a word's own. */
static const char table[] = "12 3\n"
                            "cats 1 0 .1\npurring 1 .1 0\nkitten 2 0 .2\nmeow 1 0 -.1\n"
                            "feline 1 0 0\nwhiskers 1 0 .3\ntomcat 1 .1 .1\nscratch 1 .2 0\n"
                            "trains 0 1 .1\nrail 0 2 -.1\nlocomotive 0 1 0\nsteam .1 1 0\n"
                            "railway 0 1 .1\nengine .1 1 .1\nwagon 0 1 0\nfreight 0 1 -.1\n";

static const char *write_table(const char *text)
{
    static char path[512];
    static const char *folder;
    gf_error err;
    if (!folder) folder = gf_test_folder();
    snprintf(path, sizeof path, "%s/words.vec", folder);
    assert_ok(gf_file_write(path, gf_slice_str(text), &err));
    return path;
}

static void open_with(fixture *f, const char *text)
{
    fixture_open(f);
    fixture_put_texts(f, "c", texts, DOCUMENTS);
    fixture_set(f, "c", "default", "k", "2");
    fixture_set(f, "c", "default", "language", "none");
    fixture_set(f, "c", "default", "vectors", write_table(text));
}

static gf_view *open_view(fixture *f)
{
    gf_view *view;
    gf_error err;
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, &err));
    return view;
}

static gf_membership place_of(gf_view *view, const char *id)
{
    gf_error err;
    gf_membership m;
    assert_ok(gf_view_current_membership(view, gf_slice_str(id), &m, &err));
    return m;
}

static gf_status has_terms(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)context, (void)err;
    assert_true(info->n_terms == 8 && info->label.len > 0);
    assert_int_equal(info->size, 4);
    return GF_OK;
}

typedef struct explained {
    double score;
    size_t n;
} explained;

static gf_status take_reasons(void *context, const gf_explanation *e, gf_error *err)
{
    (void)err;
    *(explained *)context = (explained){e->score, e->n};
    return GF_OK;
}

/* Without a shared word the vectors bring them together; a text gets the place that it had. */
static void clusters_of_words(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_membership m;
    explained x;
    open_with(&f, table);
    gf_build_info info = fixture_rebuild(&f, "c");
    assert_int_equal(info.rows, GF_ROWS_OF_WORDS);
    assert_int_equal(info.terms, 3);
    assert_int_equal(info.k, 2);
    assert_int_equal(info.without_terms, 0);
    fixture_is_sound(&f);
    gf_view *view = open_view(&f);
    assert_non_null(memmem(gf_view_build(view)->versions.ptr, gf_view_build(view)->versions.len,
                           "word vectors ", 13));
    assert_ok(gf_view_clusters(view, has_terms, NULL, &err));
    uint32_t animals = place_of(view, "000").cluster;
    for (int i = 0; i < DOCUMENTS; i++) {
        char id[8];
        snprintf(id, sizeof id, "%03d", i % 1000);
        gf_membership own = place_of(view, id);
        assert_int_equal(own.cluster == animals, i < 4);
        assert_ok(gf_view_assign(view, GF_SLICE(""), gf_slice_str(texts[i]), &m, &err));
        assert_int_equal(m.cluster, own.cluster);
        assert_near(m.score, own.score, 1e-6);
        assert_near(m.second, own.second, 1e-6);
        assert_ok(gf_view_explain(view, gf_slice_str(id), 10, take_reasons, &x, &err));
        assert_int_equal(x.n, 2);
        assert_near(x.score, own.score, 1e-6);
    }
    gf_view_close(view);
    fixture_close(&f);
}

/* A row by hand: words weigh alike here, so it is the sum of their vectors, of unit length. */
static void a_row_by_hand(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_build_matrix m;
    open_with(&f, table);
    fixture_rebuild(&f, "c");
    gf_view *view = open_view(&f);
    assert_ok(gf_view_read_matrix(view, NULL, &m, &err));
    assert_null(m.vocabulary);
    assert_int_equal(m.rows.n_rows, DOCUMENTS);
    assert_int_equal(m.rows.n_cols, 3);
    const double sum[3] = {3, 0, 0.1}; /* kitten, meow */
    double length = sqrt(9.01);
    gf_row_view row = gf_csr_row(&m.rows, 1);
    for (int c = 0; c < 3; c++)
        assert_near(row.val[c], sum[c] / length, 0.01); /* a byte a column, twice */
    gf_build_matrix_release(&m);
    gf_view_close(view);
    fixture_close(&f);
}

/* The table is needed by rebuilds alone; documents without a known word are told. */
static void without_the_table(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_rebuild_result r;
    open_with(&f, table);
    fixture_rebuild(&f, "c");
    remove(write_table(""));
    fixture_put(&f, "c", "late", "kitten whiskers");
    fixture_put(&f, "c", "odd", "quux");
    fixture_put(&f, "c", "004", "tomcat"); /* put anew: of the other subject */
    gf_view *view = open_view(&f);
    gf_membership late = place_of(view, "late"), odd = place_of(view, "odd");
    assert_int_equal(late.cluster, place_of(view, "000").cluster);
    assert_true(late.provisional && late.score > 0.9f);
    assert_int_equal(odd.cluster, 0);
    assert_slice(odd.label, "without known words");
    assert_int_equal(place_of(view, "004").cluster, late.cluster);
    gf_view_close(view);
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
    assert_status(GF_ENOTFOUND, fixture_try_rebuild(&f, "c", &o, &r, &err));
    assert_non_null(strstr(err.message, "words.vec"));
    fixture_set(&f, "c", "default", "vectors", write_table(table));
    uint32_t before = late.cluster;
    assert_ok(fixture_try_rebuild(&f, "c", &o, &r, &err));
    assert_int_equal(r.build.without_terms, 1);
    assert_int_equal(r.build.documents, DOCUMENTS + 2);
    view = open_view(&f);
    assert_int_equal(place_of(view, "000").cluster, before); /* clusters have gone on */
    assert_slice(place_of(view, "odd").label, "without known words");
    assert_false(place_of(view, "odd").provisional);
    gf_view_close(view);
    fixture_is_sound(&f);
    /* Terms again: another kind of build. */
    fixture_set(&f, "c", "default", "vectors", "");
    assert_int_equal(fixture_rebuild(&f, "c").rows, GF_ROWS_OF_TEXTS);
    fixture_is_sound(&f);
    fixture_close(&f);
}

typedef struct hits {
    char id[16][16];
    double score[16];
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

static void similar_documents(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    hits h = {.n = 0};
    open_with(&f, table);
    fixture_rebuild(&f, "c");
    fixture_put(&f, "c", "late", "feline");
    gf_similar_options o = GF_SIMILAR_OPTIONS(.id = GF_SLICE("001"), .limit = 4);
    assert_ok(gf_similar(f.store, fixture_place("c"), &o, take_hit, &h, &err));
    assert_int_equal(h.n, 4);
    bool has_late = false;
    for (size_t i = 0; i < 4; i++) {
        assert_true(h.score[i] > 0.9);
        assert_true(strcmp(h.id[i], "004") < 0 || strcmp(h.id[i], "late") == 0);
        has_late |= strcmp(h.id[i], "late") == 0;
    }
    assert_true(has_late);
    h.n = 0;
    o = GF_SIMILAR_OPTIONS(.text = GF_SLICE("a railway"), .limit = 1);
    assert_ok(gf_similar(f.store, fixture_place("c"), &o, take_hit, &h, &err));
    assert_int_equal(h.n, 1);
    assert_string_equal(h.id[0], "006");
    h.n = 0;
    o = GF_SIMILAR_OPTIONS(.text = GF_SLICE("quux"), .limit = 1);
    assert_ok(gf_similar(f.store, fixture_place("c"), &o, take_hit, &h, &err));
    assert_int_equal(h.n, 0);
    fixture_close(&f);
}

static void refused(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_rebuild_result r;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1, .force = true);
    open_with(&f, "other 1 2\nwords 3 4\n");
    assert_status(GF_EINVAL, fixture_try_rebuild(&f, "c", &o, &r, &err));
    assert_non_null(strstr(err.message, "none of the 16 terms"));
    fixture_set(&f, "c", "default", "vectors", write_table("cats 1 2\nkitten 1\n"));
    assert_status(GF_EINVAL, fixture_try_rebuild(&f, "c", &o, &r, &err));
    assert_non_null(strstr(err.message, "line 2"));
    assert_int_equal(fixture_read(&f, "c").served, 0);
    fixture_close(&f);
}

/* The same bytes for any number of threads. */
static void any_number_of_threads(void **state)
{
    (void)state;
    gf_buffer first = {0}, other = {0};
    for (unsigned threads = 1; threads <= 3; threads++) {
        fixture f;
        gf_error err;
        gf_rebuild_result r;
        gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = threads, .force = true);
        gf_buffer *to = threads == 1 ? &first : &other;
        open_with(&f, table);
        assert_ok(fixture_try_rebuild(&f, "c", &o, &r, &err));
        gf_buffer_reset(to);
        fixture_dump_build(&f, "c", "default", r.build.build, to);
        assert_true(to->len > 1000);
        if (threads > 1) assert_int_equal(other.len, first.len);
        if (threads > 1) assert_memory_equal(other.ptr, first.ptr, first.len);
        fixture_close(&f);
    }
    gf_buffer_release(&first);
    gf_buffer_release(&other);
}

/* Every seventh allocation fails: nothing is published, or (behind that point) it is whole. */
static void sweep_rebuilds(fixture *f)
{
    for (int64_t n = 0;; n += 7) {
        gf_error err = {GF_OK, ""};
        gf_rebuild_result r;
        gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1, .force = true);
        gf_memory_fail_at(n);
        gf_status st = gf_rebuild(f->store, fixture_place("c"), fixture_default(), &o, &r, &err);
        int failed = gf_memory_failed();
        gf_memory_fail_at(-1);
        assert_true(st == GF_ENOMEM || st == GF_OK);
        fixture_check_served(f, "c", DOCUMENTS);
        if (failed) continue;
        assert_int_equal(st, GF_OK);
        assert_true(n > 300);
        return;
    }
}

static gf_status sweep_assign(void *context, gf_error *err)
{
    fixture *f = context;
    gf_view *view;
    gf_membership m;
    gf_status st = gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, err);
    if (st != GF_OK) return st;
    st = gf_view_assign(view, GF_SLICE(""), GF_SLICE("kitten"), &m, err);
    gf_view_close(view);
    return st;
}

static void failing_memory(void **state)
{
    (void)state;
    fixture f;
    open_with(&f, table);
    fixture_set(&f, "c", "default", "restarts", "1");
    fixture_rebuild(&f, "c");
    sweep_rebuilds(&f);
    gf_test_sweep(sweep_assign, NULL, &f);
    fixture_is_sound(&f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_of_words), cmocka_unit_test(a_row_by_hand),
        cmocka_unit_test(without_the_table), cmocka_unit_test(similar_documents),
        cmocka_unit_test(refused),           cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
