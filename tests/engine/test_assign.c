#include "tests/engine/fixture.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/strings.h"
#include "engine/view/view.h"
#include "grouperfish/matrix.h"

#include <stdlib.h>
#include <string.h>

static gf_view *open_view(fixture *f)
{
    gf_error err;
    gf_view *view;
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, &err));
    return view;
}

static gf_membership assign(gf_view *view, const char *text)
{
    gf_error err;
    gf_membership m;
    assert_ok(gf_view_assign(view, (gf_slice){0}, gf_slice_str(text), &m, &err));
    assert_true(m.provisional);
    assert_false(m.replaced);
    return m;
}

static gf_membership current(gf_view *view, const char *id)
{
    gf_error err;
    gf_membership m;
    assert_ok(gf_view_current_membership(view, gf_slice_str(id), &m, &err));
    return m;
}

/* ---- by hand --------------------------------------------------------------------------------- */

/*
 * One cluster of "red apple" and "red pear" with idf=none: its centre is (2, 1, 1) / sqrt 6 over
 * red, apple, pear. "red" is (1) and scores 2 / sqrt 6; "pear apple" is (1, 1) / sqrt 2 and scores
 * 2 / sqrt 12; "plum" has no term of the build.
 */
static void by_hand(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_texts(&f, "c", (const char *const[]){"red apple", "red pear"}, 2);
    fixture_set(&f, "c", "default", "k", "1");
    fixture_set(&f, "c", "default", "idf", "none");
    fixture_set(&f, "c", "default", "language", "none");
    uint32_t k = fixture_rebuild(&f, "c").k;
    assert_int_equal(k, 1);
    gf_view *view = open_view(&f);
    gf_membership red = assign(view, "red"), both = assign(view, "a pear, an apple");
    assert_near(red.score, 0.81649658, 1e-6);
    assert_int_not_equal(red.cluster, 0);
    assert_int_equal(red.runner_up, 0);
    assert_near(assign(view, "pear apple").score, 0.57735027, 1e-6);
    assert_near(both.score, 0.57735027, 1e-6);
    gf_membership plum = assign(view, "plum");
    assert_int_equal(plum.cluster, 0);
    assert_slice(plum.label, "without terms");
    assert_near(plum.score, 0, 0);
    gf_view_close(view);
    fixture_close(&f);
}

/* Two clusters that share no word: the nearest, the other as runner-up with 0. */
static void the_other_is_the_runner_up(void **state)
{
    (void)state;
    fixture f;
    fixture_open_subjects(&f);
    gf_view *view = open_view(&f);
    gf_membership bread = current(view, "004"), m = assign(view, "yeast for the bread dough");
    assert_false(bread.provisional);
    assert_int_equal(m.cluster, bread.cluster);
    assert_true(gf_slice_equal(m.label, bread.label));
    assert_true(m.runner_up && m.runner_up != m.cluster && m.runner_up_label.len);
    assert_true(m.second >= 0 && m.second < m.score);
    gf_view_close(view);
    fixture_close(&f);
}

static void a_build_without_clusters(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put(&f, "c", "x", "...");
    fixture_rebuild(&f, "c");
    fixture_put(&f, "c", "y", "words");
    gf_view *view = open_view(&f);
    assert_int_equal(assign(view, "anything").cluster, 0);
    assert_int_equal(current(view, "y").cluster, 0);
    assert_true(current(view, "y").provisional);
    gf_view_close(view);
    fixture_close(&f);
}

/* ---- against all centres in double precision ------------------------------------------------- */

typedef struct checking {
    gf_view *view, *other; /* other: reads centres, while the first is walked */
    uint64_t n, in_none;
} checking;

static double dot(gf_row_view row, const uint32_t *col, const float *val, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0, j = 0; i < row.n && j < n;) {
        if (row.col[i] < col[j])
            i++;
        else if (row.col[i] > col[j])
            j++;
        else
            sum += (double)row.val[i++] * (double)val[j++];
    }
    return sum;
}

/* The highest and the second highest similarity, and those of two clusters. */
typedef struct similarities {
    double best, second, of_cluster, of_runner_up;
} similarities;

static gf_status compare_all(gf_view *v, gf_row_view row, const gf_membership *m, similarities *s,
                             gf_error *err)
{
    *s = (similarities){-1, -1, -1, -1};
    for (size_t j = 0; j < v->n_clusters; j++) {
        uint32_t *col, n, id = v->clusters[j].id;
        float *val;
        gf_status st = gf_view_read_centre(v, id, &col, &val, &n, err);
        if (st != GF_OK) return st;
        double d = dot(row, col, val, n);
        if (d > s->best) {
            s->second = s->best;
            s->best = d;
        } else if (d > s->second) {
            s->second = d;
        }
        if (id == m->cluster) s->of_cluster = d;
        if (id == m->runner_up) s->of_runner_up = d;
        gf_free(col);
        gf_free(val);
    }
    return GF_OK;
}

static gf_status check_nearest(void *context, const gf_document *d, const gf_membership *m,
                               gf_error *err)
{
    checking *c = context;
    gf_row_view row;
    similarities s;
    c->n++;
    gf_status st = gf_view_load_clusters(c->other, err);
    if (st == GF_OK) st = gf_view_load_model(c->other, err);
    if (st == GF_OK) st = gf_model_row(&c->other->model, d->language, d->text, &row, err);
    if (st == GF_OK) st = compare_all(c->other, row, m, &s, err);
    if (st != GF_OK) return st;
    if (!m->provisional || m->replaced) return gf_fail(err, GF_EINVAL, "not marked as it should");
    c->in_none += m->cluster == 0;
    if (m->cluster == 0) return row.n ? gf_fail(err, GF_EINVAL, "in no cluster") : GF_OK;
    assert_near(s.of_cluster, s.best, 1e-6);
    assert_near(m->score, s.best, 1e-6);
    assert_int_equal(m->runner_up != 0, c->other->n_clusters > 1);
    if (m->runner_up) assert_near(s.of_runner_up, s.second, 1e-6);
    if (m->runner_up) assert_near(m->second, s.second, 1e-6);
    return GF_OK;
}

static gf_status count_pending(void *context, const gf_document *d, const gf_membership *m,
                               gf_error *err)
{
    (void)d, (void)m, (void)err;
    ++*(uint64_t *)context;
    return GF_OK;
}

/* Up to 32 clusters all terms are dense rows of the index, beyond most are postings. */
static void the_argmax_over_all_centres(void **state)
{
    (void)state;
    static const char *const ks[] = {"1", "2", "9", "40"};
    for (size_t i = 0; i < 4; i++) {
        fixture f;
        gf_error err;
        uint64_t left = 0;
        fixture_open(&f);
        fixture_put_posts(&f, "c", 150);
        fixture_set(&f, "c", "default", "k", ks[i]);
        gf_build_info b = fixture_rebuild(&f, "c");
        assert_int_equal(b.k, atoi(ks[i]));
        fixture_put_posts(&f, "c", FIXTURE_POSTS); /* the first 150 are the same */
        checking c = {open_view(&f), open_view(&f), 0, 0};
        assert_ok(gf_view_pending(c.view, check_nearest, &c, &err));
        assert_int_equal(c.n, FIXTURE_POSTS - 150);
        assert_true(c.in_none < 10);
        gf_view_close(c.view);
        gf_view_close(c.other);
        fixture_rebuild(&f, "c");
        gf_view *view = open_view(&f);
        assert_ok(gf_view_pending(view, count_pending, &left, &err));
        assert_int_equal(left, 0);
        gf_view_close(view);
        fixture_close(&f);
    }
}

/* So many clusters that most are left out: posts of eight words of 120, in thirds of them. */
static void the_argmax_over_many_centres(void **state)
{
    (void)state;
    enum { BUILT = 1150, NEW = 12 };
    fixture f;
    gf_error err;
    gf_buffer lines = {0};
    gf_random r = gf_random_seed(gf_test_seed(), 2);
    for (unsigned i = 0; i < BUILT + NEW; i++) {
        unsigned subject = (unsigned)gf_random_below(&r, 3);
        gf_buffer_format(&lines, "{\"id\":\"%04u\",\"label\":\"none\",\"text\":\"", i);
        for (int w = 0; w < 8; w++)
            gf_buffer_format(&lines, "word%u ", 40 * subject + (unsigned)gf_random_below(&r, 40));
        gf_buffer_str(&lines, "\"}\n");
    }
    fixture_open(&f);
    fixture_put_records(&f, "c", gf_buffer_view(&lines), BUILT);
    fixture_set(&f, "c", "default", "k", "1100");
    uint32_t k = fixture_rebuild(&f, "c").k;
    assert_true(k >= 1000);
    fixture_put_records(&f, "c", gf_buffer_view(&lines), BUILT + NEW);
    checking c = {open_view(&f), open_view(&f), 0, 0};
    assert_ok(gf_view_pending(c.view, check_nearest, &c, &err));
    assert_int_equal(c.n, NEW);
    assert_int_equal(c.in_none, 0);
    gf_view_close(c.view);
    gf_view_close(c.other);
    gf_buffer_release(&lines);
    fixture_close(&f);
}

/* ---- a document of the build is where the build has it --------------------------------------- */

/* Bit for bit: the scores come from the same kernels over the same centres. */
static gf_status assign_again(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    checking *c = context;
    gf_document d;
    gf_field *fields = NULL;
    gf_membership again;
    uint64_t seq;
    c->n++;
    gf_status st =
        gf_state_document_row(c->other->state, id, &c->other->document_row, &d, &fields, &seq, err);
    if (st == GF_OK) st = gf_view_assign(c->other, d.language, d.text, &again, err);
    gf_free(fields);
    if (st != GF_OK) return st;
    bool same = again.cluster == m->cluster && again.score == m->score && again.second == m->second;
    same &= again.runner_up == m->runner_up || m->second == 0; /* equal ones go by another order */
    return same ? GF_OK : gf_fail(err, GF_EINVAL, "document %.*s is elsewhere", GF_SLICE_ARG(id));
}

static void the_builds_own_documents_stay(void **state)
{
    (void)state;
    static const char *const ks[] = {"1", "7", "50"};
    for (size_t i = 0; i < 3; i++) {
        fixture f;
        gf_error err;
        fixture_open(&f);
        fixture_put_posts(&f, "c", FIXTURE_POSTS);
        fixture_set(&f, "c", "default", "k", ks[i]);
        fixture_rebuild(&f, "c");
        checking c = {open_view(&f), open_view(&f), 0, 0};
        assert_ok(gf_view_memberships(c.view, assign_again, &c, &err));
        assert_int_equal(c.n, FIXTURE_POSTS);
        gf_view_close(c.view);
        gf_view_close(c.other);
        fixture_close(&f);
    }
}

/* ---- which documents are pending ------------------------------------------------------------- */

enum { IDS = 24, NOT_PENDING = 0, ADDED = 1, REPLACED = 2 };

typedef struct told {
    int as[IDS]; /* what each was told as */
    uint64_t twice;
} told;

static gf_status note_pending(void *context, const gf_document *d, const gf_membership *m,
                              gf_error *err)
{
    told *t = context;
    (void)err;
    int id = atoi(d->id.ptr);
    t->twice += t->as[id] != NOT_PENDING;
    t->as[id] = m->replaced ? REPLACED : ADDED;
    return GF_OK;
}

static void check_pending(fixture *f, const bool *in_build, const int *text, const int *built)
{
    gf_error err;
    told t = {.twice = 0};
    gf_view *view = open_view(f);
    assert_ok(gf_view_pending(view, note_pending, &t, &err));
    assert_int_equal(t.twice, 0);
    for (int i = 0; i < IDS; i++) {
        char id[8];
        snprintf(id, sizeof id, "%02d", i);
        bool anew = text[i] && text[i] != built[i];
        int expected = !anew ? NOT_PENDING : in_build[i] ? REPLACED : ADDED;
        assert_int_equal(t.as[i], expected);
        gf_membership m;
        gf_status st = gf_view_current_membership(view, gf_slice_str(id), &m, &err);
        assert_int_equal(st, text[i] ? GF_OK : GF_ENOTFOUND);
        if (st == GF_OK) assert_int_equal(m.provisional, expected != NOT_PENDING);
        if (st == GF_OK) assert_int_equal(m.replaced, expected == REPLACED);
    }
    gf_view_close(view);
}

/* Puts, replacements, deletions and rebuilds at random; a put of a deleted document is a new one.
 */
static void pending_at_random(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    fixture f;
    fixture_open(&f);
    bool in_build[IDS] = {false};
    int text[IDS] = {0}, built[IDS] = {0}, next = 1; /* text: 0 where there is no document */
    fixture_put(&f, "c", "00", "text1");
    text[0] = next++;
    fixture_rebuild(&f, "c");
    in_build[0] = true;
    built[0] = text[0];
    for (int step = 0; step < 120; step++) {
        int i = (int)gf_random_below(&r, IDS), what = (int)gf_random_below(&r, 10);
        char id[8], words[32];
        snprintf(id, sizeof id, "%02d", i);
        snprintf(words, sizeof words, "text%d of the test", next);
        if (what < 6) {
            fixture_put(&f, "c", id, words);
            text[i] = next++;
        } else if (what < 9 && text[i]) {
            fixture_delete(&f, "c", id);
            text[i] = 0;
        } else if (what == 9) {
            fixture_rebuild(&f, "c");
            for (int j = 0; j < IDS; j++) {
                in_build[j] = text[j] != 0;
                built[j] = text[j];
            }
        }
        check_pending(&f, in_build, text, built);
    }
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* They count in no cluster, and are no members. */
static void pending_counts_nowhere(void **state)
{
    (void)state;
    fixture f;
    uint64_t n;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_rebuild(&f, "c");
    fixture_put(&f, "c", "new", "bread dough and yeast");
    fixture_put(&f, "c", "000", "bread dough and flour");
    gf_view *view = open_view(&f);
    assert_int_equal(current(view, "new").cluster, current(view, "000").cluster);
    assert_null(fixture_fault_of(view, &n));
    assert_int_equal(n, 12);
    gf_view_close(view);
    fixture_close(&f);
}

/* ---- 20 Newsgroups --------------------------------------------------------------------------- */

enum { EXPLAINED = 10000 };

/* Every 20th record goes to `late`. */
static void divide(gf_slice lines, gf_buffer *early, gf_buffer *late)
{
    gf_slice line;
    for (uint32_t i = 0; gf_test_next_line(&lines, &line); i++) {
        gf_buffer *to = i % 20 == 7 ? late : early;
        gf_buffer_slice(to, line);
        gf_buffer_byte(to, '\n');
    }
}

static gf_status add_id(void *context, const gf_document *d, gf_error *err)
{
    uint32_t number;
    return gf_strings_add(context, d->id, &number, NULL, err);
}

static gf_status check_sum(void *context, const gf_explanation *e, gf_error *err)
{
    double sum = e->rest;
    (void)err;
    for (size_t i = 0; i < e->n; i++)
        sum += e->reasons[i].part;
    assert_near(sum, *(const double *)context, 1e-6);
    return GF_OK;
}

/* The terms of random documents and the rest make the score, also where that is provisional. */
static void explain_at_random(fixture *f, gf_view *view)
{
    gf_error err;
    gf_strings ids = {0};
    gf_random r = gf_random_seed(gf_test_seed(), 1);
    uint32_t provisional = 0;
    assert_ok(gf_documents_visit(f->store, fixture_place("c"), add_id, &ids, &err));
    for (int i = 0; i < EXPLAINED; i++) {
        gf_membership m;
        gf_slice id = gf_strings_at(&ids, (uint32_t)gf_random_below(&r, ids.n));
        assert_ok(gf_view_current_membership(view, id, &m, &err));
        double score = m.score;
        provisional += m.provisional;
        if (m.cluster) assert_ok(gf_view_explain(view, id, 10, check_sum, &score, &err));
    }
    assert_true(provisional > EXPLAINED / 40 && provisional < EXPLAINED / 10);
    gf_strings_release(&ids);
}

static void newsgroups(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer file = {0}, early = {0}, late = {0};
    if (!gf_test_has_data()) skip();
    gf_test_read_data("20newsgroups/20newsgroups.jsonl.gz", &file);
    divide(gf_buffer_view(&file), &early, &late);
    fixture_open(&f);
    fixture_put_records(&f, "c", gf_buffer_view(&early), 17904);
    fixture_set(&f, "c", "default", "k", "20");
    fixture_rebuild(&f, "c");
    fixture_put_records(&f, "c", gf_buffer_view(&late), 942);
    checking c = {open_view(&f), open_view(&f), 0, 0};
    assert_ok(gf_view_pending(c.view, check_nearest, &c, &err));
    assert_int_equal(c.n, 942);
    explain_at_random(&f, c.view);
    gf_view_close(c.view);
    gf_view_close(c.other);
    gf_buffer_release(&file);
    gf_buffer_release(&early);
    gf_buffer_release(&late);
    fixture_close(&f);
}

/* ---- failing allocations --------------------------------------------------------------------- */

static gf_status pass_pending(void *context, const gf_document *d, const gf_membership *m,
                              gf_error *err)
{
    (void)context, (void)d, (void)m, (void)err;
    return GF_OK;
}

static gf_status read_pending(void *context, gf_error *err)
{
    fixture *f = context;
    gf_view *view = NULL;
    gf_membership m;
    gf_status st = gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, err);
    if (st == GF_OK) st = gf_view_assign(view, (gf_slice){0}, GF_SLICE("comet"), &m, err);
    if (st == GF_OK) st = gf_view_current_membership(view, GF_SLICE("new"), &m, err);
    if (st == GF_OK) st = gf_view_pending(view, pass_pending, NULL, err);
    gf_view_close(view);
    return st;
}

static void failing_allocations(void **state)
{
    (void)state;
    fixture f;
    fixture_open_subjects(&f);
    fixture_put(&f, "c", "new", "a comet");
    fixture_put(&f, "c", "003", "an oven");
    gf_test_sweep(read_pending, NULL, &f);
    fixture_close(&f);
}

/*
 * A build whose row says more terms than its vocabulary has, and a centre that has one of them: who
 * believed it would write beyond arrays of the vocabulary's length.
 */
static void terms_beyond_the_vocabulary(void **state)
{
    (void)state;
    enum { BEYOND = 1000000 };
    fixture f;
    gf_error err;
    gf_batch *batch;
    gf_buffer centre = {0}, qualifier = {0};
    gf_build_matrix m;
    gf_membership place;
    const uint32_t col[] = {0, BEYOND};
    const float val[] = {0.6f, 0.8f};
    float similarity[8];
    fixture_open(&f);
    fixture_put(&f, "c", "1", "red apple");
    fixture_put(&f, "c", "2", "red pear");
    fixture_rebuild(&f, "c");
    gf_view *view = open_view(&f);
    assert_ok(gf_view_assign(view, (gf_slice){0}, GF_SLICE("pear"), &place, &err));
    gf_model_vector_write((gf_row_view){col, val, 2}, &centre);
    gf_model_centre_qualifier(&qualifier, place.cluster);
    assert_ok(gf_batch_create(f.store->db, &batch, &err));
    gf_batch_put(batch, f.store->tables.builds, gf_buffer_view(&view->key), GF_BUILDS_MAIN,
                 GF_SLICE("terms"), GF_SLICE("2000000"), 0);
    gf_batch_put(batch, f.store->tables.builds, gf_buffer_view(&view->key), GF_BUILDS_MODEL,
                 gf_buffer_view(&qualifier), gf_buffer_view(&centre), 0);
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    gf_view_close(view);

    view = open_view(&f);
    gf_document d = {.id = GF_SLICE("x"), .text = GF_SLICE("red pear")};
    assert_status(GF_ECORRUPT, gf_view_similarities(view, &d, 1, 1, NULL, similarity, &err));
    assert_non_null(strstr(err.message, "2000000 terms, and its vocabulary"));
    assert_status(GF_ECORRUPT, gf_view_read_centres(view, &m, &err));
    assert_status(GF_ECORRUPT, gf_view_read_matrix(view, NULL, &m, &err));
    gf_build_map map = {0};
    assert_status(GF_ECORRUPT, gf_view_read_map(view, 1, NULL, &map, &err));
    assert_null(map.x);
    assert_status(GF_ECORRUPT, gf_view_assign(view, (gf_slice){0}, GF_SLICE("pear"), &place, &err));
    gf_view_close(view);
    gf_buffer_release(&centre);
    gf_buffer_release(&qualifier);
    fixture_close(&f);
}

/* ---- warm views ------------------------------------------------------------------------------ */

static gf_view *open_warm(fixture *f)
{
    gf_error err;
    gf_view *view;
    assert_ok(gf_view_open_warm(f->store, fixture_place("c"), fixture_default(), 0, &view, &err));
    return view;
}

static void same_place(gf_membership a, gf_membership b)
{
    assert_int_equal(a.cluster, b.cluster);
    assert_true(a.score == b.score && a.second == b.second);
    assert_int_equal(a.runner_up, b.runner_up);
    assert_true(gf_slice_equal(a.label, b.label));
}

/* What a warm view has at hand is of its build as it is: places are those of a view that reads all anew. */
static void warm_views(void **state)
{
    (void)state;
    static const char *const texts[] = {"a comet", "an oven", "zebra", "the telescope of an oven"};
    enum {
        NOTHING,
        PUT,
        MERGE,
        REBUILD
    } after[] = {PUT, NOTHING, MERGE, NOTHING, REBUILD, NOTHING};
    fixture f;
    gf_error err;
    fixture_open_subjects(&f);
    const void *parts = NULL;
    for (size_t round = 0; round < sizeof after / sizeof *after; round++) {
        bool kept = round && after[round - 1] <= PUT;
        gf_view *fresh = open_view(&f), *warm = open_warm(&f), *beside = open_warm(&f);
        assert_int_equal(warm->model_loaded, kept);
        if (kept) assert_ptr_equal(warm->assigner, parts);
        assert_false(beside->model_loaded); /* one view has them */
        for (size_t i = 0; i < 4; i++)
            same_place(assign(warm, texts[i]), assign(fresh, texts[i]));
        same_place(current(warm, "003"), current(fresh, "003"));
        uint32_t comet = assign(warm, texts[0]).cluster, oven = assign(warm, texts[1]).cluster;
        assert_int_equal(gf_view_cluster_size(warm, comet), gf_view_cluster_size(fresh, comet));
        parts = warm->assigner;
        gf_view_close(beside);
        gf_view_close(fresh);
        gf_view_close(warm);
        gf_edit_request merge = GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = comet,
                                                .others = &oven, .n_others = 1);
        if (after[round] == PUT) fixture_put(&f, "c", "new", "a comet and an oven");
        if (after[round] == REBUILD) fixture_rebuild(&f, "c");
        if (after[round] == MERGE)
            assert_ok(gf_edit_make(f.store, fixture_place("c"), fixture_default(), &merge, NULL,
                                   NULL, &err));
    }
    fixture_close(&f);
}

/* The views of more builds than the shelf has room for. */
static void more_builds_than_the_shelf(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_view *view[12];
    char name[12][8];
    fixture_open(&f);
    for (int i = 0; i < 12; i++) {
        snprintf(name[i], sizeof name[i], "c%d", i);
        fixture_put_subjects(&f, name[i]);
        fixture_rebuild(&f, name[i]);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 12; i++) {
            assert_ok(gf_view_open_warm(f.store, fixture_place(name[i]), fixture_default(), 0,
                                        &view[i], &err));
            assert_int_equal(view[i]->model_loaded,
                             round && i >= 4); /* those that were closed last */
            assign(view[i], "a comet");
        }
        for (int i = 0; i < 12; i++)
            gf_view_close(view[i]);
    }
    fixture_close(&f);
}

static gf_status place_warm(void *context, gf_error *err)
{
    fixture *f = context;
    gf_view *view = NULL;
    gf_membership m;
    gf_status st =
        gf_view_open_warm(f->store, fixture_place("c"), fixture_default(), 0, &view, err);
    if (st == GF_OK) st = gf_view_assign(view, (gf_slice){0}, GF_SLICE("comet"), &m, err);
    gf_view_close(view);
    return st;
}

static void failing_allocations_of_warm_views(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_rebuild(&f, "c");
    gf_test_sweep(place_warm, NULL, &f);
    gf_test_sweep(place_warm, NULL, &f); /* its parts are there already */
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warm_views),
        cmocka_unit_test(more_builds_than_the_shelf),
        cmocka_unit_test(failing_allocations_of_warm_views),
        cmocka_unit_test(terms_beyond_the_vocabulary),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(the_other_is_the_runner_up),
        cmocka_unit_test(a_build_without_clusters),
        cmocka_unit_test(the_argmax_over_all_centres),
        cmocka_unit_test(the_argmax_over_many_centres),
        cmocka_unit_test(the_builds_own_documents_stay),
        cmocka_unit_test(pending_at_random),
        cmocka_unit_test(pending_counts_nowhere),
        cmocka_unit_test(newsgroups),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests_name("assign", tests, NULL, NULL);
}
