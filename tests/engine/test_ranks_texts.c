/* Texts that ranks analyse, and the rows and indexes that they make of them. */
#include "tests/engine/fixture_ranks.h"

#include "support/test.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/random.h"
#include "engine/build/search_cells.h"
#include "engine/build/similar_index.h"
#include "engine/ranks/analyse.h"
#include "engine/ranks/cluster.h"
#include "engine/ranks/job.h"
#include "engine/text/batch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXTS = 3000 };

/* Texts of several languages, of which some say which; some have no word that a row could have. */
typedef struct held_texts {
    gf_text_group group;
    gf_buffer bytes;
} held_texts;

static held_texts make_texts(void)
{
    static const char *const languages[] = {"", "", "en", "german", "xx"};
    static const char *const others[] = {"the houses", "eine schöne Sache", "WORDS", "x 7", "手机"};
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    size_t start[TEXTS + 1];
    held_texts t = {.group = {.n = 0}};
    t.group.at = gf_calloc(TEXTS, sizeof *t.group.at);
    assert_non_null(t.group.at);
    for (size_t i = 0; i < TEXTS; i++) {
        start[i] = t.bytes.len;
        uint64_t n = i == 700 ? 20000 : gf_random_below(&random, 25);
        for (uint64_t k = 0; k < n; k++) {
            double u = gf_random_unit(&random);
            if (gf_random_below(&random, 5) == 0)
                gf_buffer_format(&t.bytes, "%s ", others[gf_random_below(&random, 5)]);
            else
                gf_buffer_format(&t.bytes, "w%ung%s ", (unsigned)(4000 * u * u * u),
                                 u < .3 ? "s" : "");
        }
        if (i % 100 == 3) gf_buffer_format(&t.bytes, "lonely%zu", i);
    }
    start[TEXTS] = t.bytes.len;
    for (size_t i = 0; i < TEXTS; i++)
        t.group.at[i] =
            (gf_group_text){.text = gf_slice_of(t.bytes.ptr + start[i], start[i + 1] - start[i]),
                            .lang = gf_slice_str(languages[gf_random_below(&random, 5)])};
    t.group.n = TEXTS;
    return t;
}

static void release_texts(held_texts *t)
{
    gf_free(t->group.at);
    gf_buffer_release(&t->bytes);
}

/* The rows that one process makes. */
static void vectorize_alone(const held_texts *t, const gf_vectorizer_options *o,
                            const gf_fallback *fallback, gf_vectors *vectors, gf_words **words)
{
    gf_error err;
    gf_vectorizer *v;
    gf_batch_texts texts = {0};
    assert_ok(gf_batch_texts_make(&texts, &t->group, fallback, NULL, NULL, &err));
    assert_ok(gf_vectorizer_create(o, NULL, &v, &err));
    assert_ok(gf_vectorizer_keep_words(v, gf_test_folder(), false, &err));
    assert_ok(gf_vectorizer_add(v, texts.at, t->group.n, NULL, &err));
    assert_ok(gf_vectorizer_finish(v, vectors, NULL, &err));
    assert_ok(gf_vectorizer_take_words(v, words, &err));
    assert_ok(gf_words_load_terms(*words, &err));
    gf_vectorizer_free(v);
    gf_free(texts.at);
}

/* Texts in groups of some hundred; where they are given again, the first ones by another fallback. */
static gf_status hand_out(gf_ranks_session *session, const held_texts *t, size_t group, size_t n,
                          const gf_fallback *fallback, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t at = 0; at < n && st == GF_OK; at += group) {
        const gf_text_group part = {.at = t->group.at + at, .n = n - at < group ? n - at : group};
        st = gf_ranks_analyse_add(session, &part, fallback, err);
    }
    return st;
}

static gf_status analyse(gf_ranks_session *session, const held_texts *t, size_t group, bool again,
                         const gf_vectorizer_options *o, const gf_fallback *fallback,
                         const gf_ranks_wants *wants, gf_vectors *vectors, gf_ranks_cells *cells,
                         gf_error *err)
{
    const gf_fallback first = {GF_FALLBACK_FIXED, gf_language_find(GF_SLICE("french"))};
    gf_status st = gf_ranks_analyse_begin(session, o, wants, fallback != NULL, err);
    if (st == GF_OK && again) {
        st = hand_out(session, t, group, t->group.n / 3, fallback ? &first : NULL, err);
        if (st == GF_OK) st = gf_ranks_analyse_begin(session, o, wants, fallback != NULL, err);
    }
    if (st == GF_OK) st = hand_out(session, t, group, t->group.n, fallback, err);
    return st == GF_OK
               ? gf_ranks_analyse_finish(session, gf_test_folder(), wants, vectors, cells, err)
               : st;
}

static void assert_same_rows(const gf_vectors *want, const gf_vectors *got)
{
    gf_error err;
    gf_csr x;
    uint32_t n = want->x.n_rows;
    gf_buffer a = {0}, b = {0};
    assert_int_equal(got->x.n_rows, n);
    assert_int_equal(got->x.n_cols, want->x.n_cols);
    assert_int_equal(got->n_rescued, want->n_rescued);
    assert_int_equal(got->n_empty, want->n_empty);
    assert_memory_equal(got->kind, want->kind, n);
    assert_memory_equal(got->x.start, want->x.start, (n + 1) * sizeof *want->x.start);
    gf_vocabulary_write(&want->vocabulary, &a);
    gf_vocabulary_write(&got->vocabulary, &b);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.ptr, b.ptr, a.len);
    const gf_row_file f = {n, got->x.n_cols, got->x.start, got->x.start[n], got->entries};
    assert_ok(gf_row_file_read(&f, 0, n, &x, &err));
    assert_memory_equal(x.col, want->x.col, gf_csr_nnz(&x) * sizeof *x.col);
    assert_memory_equal(x.val, want->x.val, gf_csr_nnz(&x) * sizeof *x.val);
    gf_csr_release(&x);
    gf_buffer_release(&a);
    gf_buffer_release(&b);
}

/* Cells of indexes, each as its qualifier and its value. */
typedef struct collected {
    gf_buffer *at; /* n */
    size_t n, capacity;
} collected;

static gf_status collect(void *context, gf_slice qualifier, gf_buffer *value, gf_error *err)
{
    collected *c = context;
    assert_true(gf_grow(&c->at, &c->capacity, c->n + 1, sizeof *c->at));
    c->at[c->n] = (gf_buffer){0};
    gf_buffer_string(&c->at[c->n], qualifier);
    gf_buffer_slice(&c->at[c->n], gf_buffer_view(value));
    return gf_buffer_check(&c->at[c->n++], err);
}

static gf_status collect_made(void *context, gf_slice qualifier, const gf_compressed *value,
                              gf_error *err)
{
    gf_buffer memory = {0}, copy = {0};
    gf_slice expanded;
    assert_int_equal(gf_value_expand(value, &memory, &expanded, err), GF_OK);
    gf_buffer_slice(&copy, expanded);
    gf_status st = collect(context, qualifier, &copy, err);
    gf_buffer_release(&memory);
    gf_buffer_release(&copy);
    return st;
}

static gf_status collect_parts(void *context, gf_index_fill_cells *fill, void *of, uint32_t n,
                               gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < n && st == GF_OK; i++)
        st = fill(of, i, collect, context, err);
    return st;
}

static int by_bytes(const void *a, const void *b)
{
    return gf_slice_compare(gf_buffer_view(a), gf_buffer_view(b));
}

/* All cells of both indexes of those documents, of what ranks made where they did. */
static collected index_documents(gf_build_gathered *d)
{
    gf_error err;
    collected c = {.n = 0};
    const gf_index_cells to = {collect_parts, &c};
    const gf_rebuild_options options = {0};
    const gf_build_plan plan = {.options = &options};
    bool has_ids;
    assert_ok(gf_ranks_cells_each(&d->cells, collect_made, &c, &err));
    assert_ok(gf_build_write_search_cells(&plan, NULL, d, &to, &has_ids, &err));
    assert_true(has_ids);
    assert_ok(gf_build_write_similar_index(d, NULL, NULL, true, &to, &err));
    qsort(c.at, c.n, sizeof *c.at, by_bytes);
    return c;
}

static void release_collected(collected *c)
{
    for (size_t i = 0; i < c->n; i++)
        gf_buffer_release(&c->at[i]);
    gf_free(c->at);
}

static void assert_same_cells(const collected *a, const collected *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_int_equal(a->at[i].len, b->at[i].len);
        assert_memory_equal(a->at[i].ptr, b->at[i].ptr, a->at[i].len);
    }
}

/* Documents of those texts, but for their rows; the ids are numbers. */
static gf_build_gathered name_documents(const held_texts *t)
{
    gf_build_gathered d = {.n = (uint32_t)t->group.n};
    d.id_start = gf_calloc((size_t)d.n + 1, sizeof *d.id_start);
    assert_non_null(d.id_start);
    for (uint32_t i = 0; i < d.n; i++) {
        gf_buffer_format(&d.ids, "%06u", i);
        d.id_start[i + 1] = d.ids.len;
    }
    return d;
}

static void check_texts(const held_texts *t, const gf_vectorizer_options *o,
                        const gf_fallback *fallback)
{
    gf_error err;
    gf_build_gathered alone = name_documents(t);
    vectorize_alone(t, o, fallback, &alone.vectors, &alone.words);
    collected want = index_documents(&alone);
    for (unsigned n = 1; n <= 5; n += n == 3 ? 2 : 1) {
        const gf_ranks_start none = {.n = 0};
        const gf_ranks_wants wants = {true, true, n % 2};
        gf_build_gathered d = name_documents(t);
        pthread_t thread;
        ranks_pair p = ranks_pair_open();
        ranks_job j = {.n = n, .threads = 1 + n % 2, .fd = p.there};
        gf_ranks_session session;
        assert_int_equal(pthread_create(&thread, NULL, ranks_job_serve, &j), 0);
        gf_ranks_session_init(&session, &none, NULL, NULL);
        assert_ok(gf_ranks_session_open_over(&session, p.here, 30, &err));
        assert_ok(analyse(&session, t, 100 * n + 57, n % 2, o, fallback, &wants, &d.vectors,
                          &d.cells, &err));
        assert_same_rows(&alone.vectors, &d.vectors);
        collected got = index_documents(&d);
        assert_same_cells(&want, &got);
        release_collected(&got);
        gf_build_gathered_release(&d);
        assert_ok(gf_ranks_session_end(&session, &err));
        pthread_join(thread, NULL);
        assert_int_equal(j.status, GF_OK);
        gf_ranks_session_release(&session);
    }
    release_collected(&want);
    gf_build_gathered_release(&alone);
}

static void rows_and_indexes_are_those_of_one_process(void **state)
{
    (void)state;
    gf_error err;
    held_texts t = make_texts();
    gf_vectorizer_options o = gf_vectorizer_options_default();
    gf_fallback fallback = {GF_FALLBACK_DETECT, NULL};
    check_texts(&t, &o, &fallback);
    gf_index_set_shape(
        (gf_index_shape){1024, 128, 40}); /* several segments, chunks, frequent terms */
    check_texts(&t, &o, &fallback);
    fallback = (gf_fallback){GF_FALLBACK_FIXED, gf_language_find(GF_SLICE("english"))};
    assert_ok(gf_vectorizer_options_set(&o, GF_SLICE("ngrams_max"), GF_SLICE("2"), &err));
    assert_ok(gf_vectorizer_options_set(&o, GF_SLICE("idf"), GF_SLICE("log^1.5"), &err));
    assert_ok(gf_vectorizer_options_set(&o, GF_SLICE("more_stop_words"), GF_SLICE("w1ng"), &err));
    check_texts(&t, &o, &fallback);
    assert_ok(gf_vectorizer_options_set(&o, GF_SLICE("language"), GF_SLICE("german"), &err));
    assert_ok(gf_vectorizer_options_set(&o, GF_SLICE("min_df"), GF_SLICE("50%"), &err));
    check_texts(&t, &o, NULL);
    t.group.n = 3; /* fewer than ranks */
    check_texts(&t, &o, NULL);
    t.group.n = 0;
    check_texts(&t, &o, NULL);
    gf_index_set_shape((gf_index_shape){0, 0, 0});
    release_texts(&t);
}

/* The rows that have terms, as a file: x borrows from the vectors but for its starts. */
static gf_row_file rows_with_terms(const gf_vectors *v)
{
    uint64_t *start = gf_array((size_t)v->x.n_rows + 1, sizeof *start);
    uint32_t n = 0;
    assert_non_null(start);
    start[0] = 0;
    for (uint32_t i = 0; i < v->x.n_rows; i++)
        if (v->kind[i] != GF_ROW_EMPTY) start[++n] = v->x.start[i + 1];
    return (gf_row_file){n, v->x.n_cols, start, start[n], v->entries};
}

static void assert_same_clusters(const gf_kmeans *a, const gf_kmeans *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->k, b->k);
    assert_true(a->objective == b->objective);
    assert_memory_equal(a->label, b->label, a->n * sizeof *a->label);
    assert_memory_equal(a->score, b->score, a->n * sizeof *a->score);
}

/* Texts are analysed by n ranks, which cluster the rows that they hold, or those that are handed out. */
static void cluster_texts(const held_texts *t, unsigned n, bool held, const gf_kmeans_options *o,
                          gf_kmeans *out)
{
    gf_error err;
    const gf_ranks_start none = {.n = 0};
    const gf_vectorizer_options analysis = gf_vectorizer_options_default();
    const gf_fallback english = {GF_FALLBACK_FIXED, gf_language_find(GF_SLICE("english"))};
    const gf_ranks_wants wants = {false, n % 2, false};
    gf_vectors vectors;
    gf_ranks_cells cells;
    pthread_t thread;
    ranks_pair p = ranks_pair_open();
    ranks_job j = {.n = n, .threads = 1, .fd = p.there};
    gf_ranks_session session;
    assert_int_equal(pthread_create(&thread, NULL, ranks_job_serve, &j), 0);
    gf_ranks_session_init(&session, &none, NULL, NULL);
    assert_ok(gf_ranks_session_open_over(&session, p.here, 30, &err));
    assert_ok(
        analyse(&session, t, 333, false, &analysis, &english, &wants, &vectors, &cells, &err));
    gf_row_file rows = rows_with_terms(&vectors);
    assert_int_equal(session.held_rows, rows.n_rows);
    if (!held) session.held_rows = 0;
    assert_ok(gf_ranks_cluster(&session, NULL, &rows, o, out, &err));
    assert_int_equal(session.n, 0); /* it has ended */
    pthread_join(thread, NULL);
    assert_int_equal(j.status, GF_OK);
    gf_ranks_session_release(&session);
    gf_free((void *)rows.start);
    gf_vectors_release(&vectors);
    gf_ranks_cells_release(&cells);
}

static void rows_that_ranks_hold_are_those_that_are_handed_out(void **state)
{
    (void)state;
    held_texts t = make_texts();
    static uint32_t start[TEXTS];
    for (uint32_t i = 0; i < TEXTS; i++)
        start[i] = i % 7 ? i % 9 : GF_NO_CLUSTER;
    gf_kmeans_options o = {.k = 9, .seed = 3};
    for (unsigned starts = 0; starts < 2; starts++) {
        gf_kmeans want, got;
        o.start = starts ? start : NULL;
        o.start_k = starts ? 9 : 0;
        cluster_texts(&t, 2, false, &o, &want);
        for (unsigned n = 1; n <= 5; n += n == 3 ? 2 : 1) {
            cluster_texts(&t, n, true, &o, &got);
            assert_same_clusters(&want, &got);
            gf_kmeans_release(&got);
        }
        gf_kmeans_release(&want);
    }
    t.group.n = 40; /* few: some ranks have none */
    o = (gf_kmeans_options){.k = 3, .seed = 3};
    gf_kmeans want, got;
    cluster_texts(&t, 1, false, &o, &want);
    cluster_texts(&t, 5, true, &o, &got);
    assert_same_clusters(&want, &got);
    gf_kmeans_release(&want);
    gf_kmeans_release(&got);
    release_texts(&t);
}

/* What ranks may say of texts, in place of rows. */
static gf_status hear_of_texts(uint32_t kind, gf_slice says, gf_error *err)
{
    const gf_ranks_start none = {.n = 0};
    gf_vectorizer_options o = gf_vectorizer_options_default();
    held_texts t = make_texts();
    const gf_ranks_wants wants = {true, true, true};
    gf_vectors vectors;
    gf_ranks_cells cells;
    pthread_t thread;
    ranks_pair p = ranks_pair_open();
    ranks_liar l = {p.there, kind, says, true};
    gf_ranks_session session;
    pthread_create(&thread, NULL, ranks_lie, &l);
    gf_ranks_session_init(&session, &none, NULL, NULL);
    gf_status st = gf_ranks_session_open_over(&session, p.here, 30, err);
    if (st == GF_OK)
        st = analyse(&session, &t, 900, false, &o, NULL, &wants, &vectors, &cells, err);
    gf_ranks_session_release(&session);
    pthread_join(thread, NULL);
    close(p.there);
    release_texts(&t);
    return st;
}

static void other_rows_are_seen_through(void **state)
{
    (void)state;
    gf_error err;
    gf_ranks_terms terms = {5, 7};
    static const char failure[] = "\7\0\0\0there is no room";
    gf_slice bytes = gf_slice_of((const char *)&terms, sizeof terms);
    assert_status(GF_ECORRUPT, hear_of_texts(GF_JOB_TERMS, GF_SLICE("x"), &err));
    assert_status(GF_ECORRUPT, hear_of_texts(GF_JOB_TERMS, bytes, &err)); /* and no vocabulary */
    assert_status(GF_ECORRUPT, hear_of_texts(GF_JOB_VECTORS, bytes, &err));
    assert_status(GF_ECORRUPT, hear_of_texts(GF_JOB_PART, bytes, &err));
    assert_status((gf_status)7,
                  hear_of_texts(GF_JOB_FAILED, gf_slice_of(failure, sizeof failure - 1), &err));
    assert_string_equal(err.message, "there is no room");
    assert_status(GF_EIO, hear_of_texts(0, bytes, &err)); /* they are gone */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_indexes_are_those_of_one_process),
        cmocka_unit_test(rows_that_ranks_hold_are_those_that_are_handed_out),
        cmocka_unit_test(other_rows_are_seen_through)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
