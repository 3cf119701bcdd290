#include "support/ranks.h"
#include "support/test.h"

#include "base/file.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/random.h"
#include "engine/build/search_cells.h"
#include "engine/build/similar_index.h"
#include "engine/ranks/analyse.h"
#include "engine/ranks/cluster.h"
#include "engine/ranks/frames.h"
#include "engine/ranks/job.h"
#include "engine/ranks/serve.h"
#include "engine/ranks/world.h"
#include "engine/text/batch.h"
#include "storage/backend.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROWS = 1200, COLS = 300 };

/* ---- frames ------------------------------------------------------------------------------------ */

typedef struct pair {
    int here, there;
} pair;

static pair open_pair(void)
{
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    return (pair){fd[0], fd[1]};
}

static void frames_arrive(void **state)
{
    (void)state;
    gf_error err;
    pair p = open_pair();
    gf_buffer bytes = {0};
    uint32_t kind;
    gf_slice none = {NULL, 0};
    assert_ok(gf_frames_write(p.here, 7, GF_SLICE("one "), GF_SLICE("two"), 1, NULL, &err));
    assert_ok(gf_frames_write(p.here, 8, none, none, 1, NULL, &err));
    assert_ok(gf_frames_read(p.there, 1, NULL, &kind, &bytes, &err));
    assert_int_equal(kind, 7);
    assert_slice(gf_buffer_view(&bytes), "one two");
    assert_ok(gf_frames_read(p.there, 1, NULL, &kind, &bytes, &err));
    assert_int_equal(kind, 8);
    assert_int_equal(bytes.len, 0);
    assert_status(GF_ELIMIT, gf_frames_read(p.there, .2, NULL, &kind, &bytes, &err));
    gf_cancel cancel = {1};
    assert_status(GF_ECANCELLED, gf_frames_read(p.there, 5, &cancel, &kind, &bytes, &err));
    close(p.here);
    assert_status(GF_ENOTFOUND, gf_frames_read(p.there, 5, NULL, &kind, &bytes, &err));
    assert_status(GF_ENOTFOUND, gf_frames_write(p.there, 9, GF_SLICE("x"), none, 5, NULL, &err));
    close(p.there);
    gf_buffer_release(&bytes);
}

/* ---- ranks that are threads, over a socket ------------------------------------------------------- */

/* Ranks at one end, the holder of rows at the other. */
typedef struct job {
    unsigned n, threads;
    int fd;
    bool is_silent;   /* the first rank hears nothing of the others */
    gf_status status; /* of the ranks */
    gf_error error;
} job;

static double no_silence(void *context)
{
    return ((const job *)context)->is_silent ? 1000 : 0;
}

static void holder_gone(void *context)
{
    (void)context;
}

static gf_status serve_rank(gf_ranks *ranks, void *context, gf_error *err)
{
    job *j = context;
    gf_ranks_serving s = {.ranks = ranks,
                          .fd = ranks->me == 0 ? j->fd : -1,
                          .silence = no_silence,
                          .gone = holder_gone,
                          .context = j};
    /* Machines differ in their processors. */
    gf_status st = gf_pool_create(j->threads + ranks->me % 2, &s.pool, err);
    if (st == GF_OK) st = gf_ranks_serve(&s, err);
    gf_pool_free(s.pool);
    return st;
}

static void *serve_ranks(void *context)
{
    job *j = context;
    j->status = gf_test_ranks_run(j->n, serve_rank, j, &j->error);
    close(j->fd);
    return NULL;
}

/* Rows of groups, unit and on the grid, in a file. */
typedef struct held_rows {
    gf_csr x;
    gf_row_file file;
} held_rows;

static held_rows make_rows(void)
{
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    held_rows h;
    uint64_t at = 0;
    assert_ok(gf_csr_init(&h.x, ROWS, COLS, ROWS * 12, &err));
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t group = i % 6, col = (uint32_t)gf_random_below(&random, 4);
        double value[12], squares = 0;
        uint32_t n = 0;
        for (; n < 12 && col < COLS; n++) {
            bool own = n < 8;
            h.x.col[at + n] = own ? group * 40 + col : col > 240 ? col : 240 + col;
            value[n] = 1 + gf_random_unit(&random);
            squares += value[n] * value[n];
            col = own && n < 7 ? col + 1 + (uint32_t)gf_random_below(&random, 4)
                               : h.x.col[at + n] + 1 + (uint32_t)gf_random_below(&random, 9);
            if (!own || n == 7) col = col < 241 ? 241 : col;
        }
        for (uint32_t k = 0; k < n; k++)
            h.x.val[at + k] = (float)(round(value[k] / sqrt(squares) * 0x1p24) * 0x1p-24);
        at += n;
        h.x.start[i + 1] = at;
    }
    assert_ok(gf_csr_check(&h.x, &err));
    gf_spill *spill;
    assert_ok(gf_spill_create(gf_test_folder(), &spill, &err));
    assert_ok(gf_row_file_write(spill, at, 0, at, h.x.col, h.x.val, &err));
    h.file = (gf_row_file){ROWS, COLS, h.x.start, at, spill};
    return h;
}

static void release_rows(held_rows *h)
{
    gf_spill_free(h->file.spill);
    gf_csr_release(&h->x);
}

/* Clusters of ranks at the other end of a socket, which is closed. */
static gf_status cluster_over(int fd, double silence, const gf_row_file *rows,
                              const gf_kmeans_options *o, gf_kmeans *out, bool *lost, gf_error *err)
{
    const gf_ranks_start start = {.n = 0};
    gf_ranks_session session;
    gf_ranks_session_init(&session, &start, NULL, NULL);
    gf_status st = gf_ranks_session_open_over(&session, fd, silence, err);
    *lost = session.is_lost;
    if (st == GF_OK) st = gf_ranks_cluster(&session, NULL, rows, o, out, err);
    gf_ranks_session_release(&session);
    return st;
}

static gf_status run(const held_rows *h, unsigned n, unsigned threads, const gf_kmeans_options *o,
                     gf_kmeans *out, bool *lost, job *j, gf_error *err)
{
    pthread_t thread;
    pair p = open_pair();
    *j = (job){.n = n, .threads = threads, .fd = p.there, .is_silent = j->is_silent};
    assert_int_equal(pthread_create(&thread, NULL, serve_ranks, j), 0);
    gf_status st = cluster_over(p.here, 30, &h->file, o, out, lost, err);
    pthread_join(thread, NULL);
    return st;
}

/* Every term once. */
static void count_once(void *context, uint32_t row, gf_row_view view, uint8_t *count)
{
    (void)context, (void)row;
    memset(count, 1, view.n);
}

static void check_same(const held_rows *h, const gf_kmeans_options *o)
{
    gf_error err;
    gf_kmeans first = {0}, r;
    bool lost;
    for (unsigned n = 1; n <= 5; n += n == 3 ? 2 : 1) {
        job j = {.n = n};
        assert_ok(run(h, n, 1 + n % 2, o, &r, &lost, &j, &err));
        assert_int_equal(j.status, GF_OK);
        assert_false(lost);
        assert_int_equal(r.n, ROWS);
        if (n == 1) {
            first = r;
            continue;
        }
        assert_int_equal(r.k, first.k);
        assert_int_equal(r.distinct, first.distinct);
        assert_int_equal(r.choice.k, first.choice.k);
        assert_int_equal(r.choice.n_steps, first.choice.n_steps);
        assert_true(r.objective == first.objective);
        assert_memory_equal(r.label, first.label, ROWS * sizeof *r.label);
        assert_memory_equal(r.score, first.score, ROWS * sizeof *r.score);
        assert_memory_equal(r.runner_up, first.runner_up, ROWS * sizeof *r.runner_up);
        assert_memory_equal(r.second, first.second, ROWS * sizeof *r.second);
        for (uint32_t c = 0; c < r.k; c++) {
            assert_int_equal(r.centres.at[c].n, first.centres.at[c].n);
            assert_memory_equal(r.centres.at[c].value, first.centres.at[c].value,
                                r.centres.at[c].n * sizeof(float));
        }
        gf_kmeans_release(&r);
    }
    gf_kmeans_release(&first);
}

static void same_bytes_for_any_number(void **state)
{
    (void)state;
    held_rows h = make_rows();
    float factor[COLS];
    uint32_t start[ROWS];
    for (uint32_t c = 0; c < COLS; c++)
        factor[c] = 1 + (float)(c % 7) / 7;
    for (uint32_t i = 0; i < ROWS; i++)
        start[i] = i % 11 ? i % 6 : GF_NO_CLUSTER;
    gf_refinement refinement = {.factor = factor, .count = count_once};
    gf_kmeans_options o = {.k = 8, .seed = 5};
    check_same(&h, &o);
    o.refinement = &refinement;
    check_same(&h, &o);
    o.k = 0;
    check_same(&h, &o);
    o.k = 6;
    o.start = start;
    o.start_k = 6;
    check_same(&h, &o);
    o.start_refined = true;
    check_same(&h, &o);
    release_rows(&h);
}

/* ---- texts ----------------------------------------------------------------------------------------- */

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
        pair p = open_pair();
        job j = {.n = n, .threads = 1 + n % 2, .fd = p.there};
        gf_ranks_session session;
        assert_int_equal(pthread_create(&thread, NULL, serve_ranks, &j), 0);
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
    pair p = open_pair();
    job j = {.n = n, .threads = 1, .fd = p.there};
    gf_ranks_session session;
    assert_int_equal(pthread_create(&thread, NULL, serve_ranks, &j), 0);
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

/* ---- what may go wrong ---------------------------------------------------------------------------- */

/* A rank that fails tells the holder why, and is not lost. */
static void failures_are_told(void **state)
{
    (void)state;
    gf_error err;
    held_rows h = make_rows();
    gf_kmeans_options o = {.k = 5};
    gf_kmeans r;
    bool lost;
    job j = {.n = 2};
    h.x.val[3] = 3; /* not of unit length */
    gf_spill_free(h.file.spill);
    assert_ok(gf_spill_create(gf_test_folder(), &h.file.spill, &err));
    assert_ok(
        gf_row_file_write(h.file.spill, h.file.entries, 0, h.file.entries, h.x.col, h.x.val, &err));
    assert_status(GF_EINVAL, run(&h, 2, 1, &o, &r, &lost, &j, &err));
    assert_false(lost);
    assert_int_equal(j.status, GF_EINVAL);
    assert_string_equal(err.message, j.error.message);
    release_rows(&h);
}

/* What the other end of a socket may say in place of ranks. */
typedef struct liar {
    int fd;
    uint32_t kind;
    gf_slice says;
    bool ready; /* says first that it is ready */
} liar;

static void *lie(void *context)
{
    const liar *l = context;
    gf_buffer mine = {0};
    uint32_t n = 2;
    gf_ranks_job_identify(&mine);
    if (l->ready)
        gf_frames_write(l->fd, GF_JOB_READY, gf_slice_of((const char *)&n, sizeof n),
                        gf_buffer_view(&mine), 10, NULL, NULL);
    if (l->kind) gf_frames_write(l->fd, l->kind, l->says, (gf_slice){NULL, 0}, 10, NULL, NULL);
    char room[4096];
    while (l->kind && recv(l->fd, room, sizeof room, 0) > 0) {
    }
    shutdown(l->fd, SHUT_RDWR);
    gf_buffer_release(&mine);
    return NULL;
}

static gf_status hear_liar(const held_rows *h, bool ready, uint32_t kind, gf_slice says, bool *lost,
                           gf_error *err)
{
    gf_kmeans r;
    gf_kmeans_options o = {.k = 3};
    pthread_t thread;
    pair p = open_pair();
    liar l = {p.there, kind, says, ready};
    pthread_create(&thread, NULL, lie, &l);
    gf_status st = cluster_over(p.here, 30, &h->file, &o, &r, lost, err);
    pthread_join(thread, NULL);
    close(p.there);
    return st;
}

static void other_ends_are_seen_through(void **state)
{
    (void)state;
    gf_error err;
    bool lost;
    held_rows h = make_rows();
    char zeros[sizeof(gf_ranks_result)] = {0};
    static const char other[] = "\2\0\0\0another program";
    gf_slice bytes = gf_slice_of(zeros, sizeof zeros);
    assert_status(GF_EINVAL, hear_liar(&h, false, GF_JOB_READY,
                                       gf_slice_of(other, sizeof other - 1), &lost, &err));
    assert_non_null(strstr(err.message, "ranks must be alike"));
    assert_status(GF_ECORRUPT, hear_liar(&h, false, GF_JOB_SWEEP, bytes, &lost, &err));
    assert_status(GF_ECORRUPT, hear_liar(&h, true, GF_JOB_SWEEP, bytes, &lost, &err));
    assert_status(GF_ECORRUPT, hear_liar(&h, true, GF_JOB_PART, bytes, &lost, &err));
    assert_status(GF_ECORRUPT, hear_liar(&h, true, GF_JOB_FAILED, bytes, &lost, &err));
    assert_status(GF_ECORRUPT, hear_liar(&h, true, 99, bytes, &lost, &err));
    assert_false(lost);
    release_rows(&h);
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
    pair p = open_pair();
    liar l = {p.there, kind, says, true};
    gf_ranks_session session;
    pthread_create(&thread, NULL, lie, &l);
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

static void a_silent_job_is_lost(void **state)
{
    (void)state;
    gf_error err;
    bool lost = false;
    gf_kmeans r;
    gf_kmeans_options o = {.k = 3};
    held_rows h = make_rows();
    pair p = open_pair();
    assert_status(GF_EIO, cluster_over(p.here, .3, &h.file, &o, &r, &lost, &err));
    assert_true(lost);
    assert_non_null(strstr(err.message, "nothing was heard of the ranks"));
    close(p.there);
    release_rows(&h);
}

/* ---- starting --------------------------------------------------------------------------------------- */

static void hosts_are_counted(void **state)
{
    (void)state;
    gf_error err;
    char path[512];
    unsigned n;
    snprintf(path, sizeof path, "%s/hosts", gf_test_folder());
    gf_ranks_start start = {.hosts = path};
    assert_status(GF_ENOTFOUND, gf_ranks_process_count(&start, &n, &err));
    assert_ok(gf_file_write(path, GF_SLICE("# three\none\n\n two slots=4\nthree"), &err));
    assert_ok(gf_ranks_process_count(&start, &n, &err));
    assert_int_equal(n, 3);
    start.n = 7;
    assert_ok(gf_ranks_process_count(&start, &n, &err));
    assert_int_equal(n, 7);
}

/* The environments of mpirun, of mpirun within Slurm, of srun, and of another MPI. */
static void processes_started_together_are_known(void **state)
{
    (void)state;
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE",
                                        "OMPI_COMM_WORLD_RANK",
                                        "SLURM_STEP_NUM_TASKS",
                                        "SLURM_PROCID",
                                        "PMI_SIZE",
                                        "PMI_RANK"};
    static const struct {
        const char *values[6];
        bool found;
        unsigned n, me;
    } cases[] = {{{NULL}, false, 0, 0},
                 {{"4", "3"}, true, 4, 3},
                 {{"1", "0"}, true, 1, 0},
                 {{"4", "4"}, false, 0, 0},
                 {{"4", "x"}, false, 0, 0},
                 {{"4", "2", "2", "1"}, true, 4, 2},
                 {{NULL, NULL, "3", "0"}, true, 3, 0},
                 {{NULL, NULL, "1", "0"}, false, 0, 0},
                 {{NULL, NULL, NULL, "0"}, false, 0, 0},
                 {{NULL, NULL, NULL, NULL, "2", "1"}, true, 2, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gf_ranks_world w = {0, 0};
        for (size_t v = 0; v < 6; v++) {
            unsetenv(names[v]);
            if (cases[i].values[v]) setenv(names[v], cases[i].values[v], 1);
        }
        assert_true(gf_ranks_world_find(&w) == cases[i].found);
        if (!cases[i].found) continue;
        assert_int_equal(w.n, cases[i].n);
        assert_int_equal(w.me, cases[i].me);
    }
    for (size_t v = 0; v < 6; v++)
        unsetenv(names[v]);
    assert_int_equal(gf_ranks_world_n(), 0);
    gf_ranks_world_close(); /* none is open */
}

/*
 * 1,000 rows of 10 terms of 500; 20 centres of 100 terms, of 500 entries each: a is 100^2 / (4 x 400).
 */
static void costs_follow_the_formula(void **state)
{
    (void)state;
    const double mb = 1 << 20, a = 6.25;
    gf_ranks_counts c = {.rows = 1000,
                         .entries = 10000,
                         .terms = 500,
                         .centre_entries = 2000,
                         .k = 20,
                         .ranks = 1,
                         .threads = 2};
    gf_ranks_cost alone = gf_ranks_cluster_cost(&c);
    assert_int_equal(alone.handed_out, 8 * 10000 + 32 * 1000);
    assert_int_equal(alone.first_pass, 0); /* there is nobody to tell */
    assert_int_equal(alone.pass, 0);
    assert_near((double)alone.memory,
                15 * mb + 16 * 10000 + 68 * 1000 + (22 + 12) * 2000 + 3 * 5.1 * 2000 + 28 * 500 * 3,
                2);
    /* All rows are in the sample: the first holds that before it makes passes. */
    assert_near((double)alone.first_memory,
                15 * mb + (16 + 24) * 10000 + 120 * 1000 + 34 * 2000 + 28 * 500 * 3, 2);
    c.ranks = 4;
    gf_ranks_cost parted = gf_ranks_cluster_cost(&c);
    double terms = 20 * 2 * a * (sqrt(1 + 125 / a) - 1); /* of a quarter of the entries */
    double moved = 20 * 2 * a * (sqrt(1 + 12.5 / a) - 1) * 2;
    assert_int_equal(parted.handed_out, alone.handed_out);
    assert_near((double)parted.first_pass, .75 * (5.1 * terms + 5.05 * 2000), 2);
    assert_near((double)parted.pass, .75 * (5.1 * fmin(moved, terms) + 5.05 * 2000), 2);
    assert_true(parted.memory < alone.memory);
    c.text = 90000; /* which ranks analyse */
    c.words = 30000;
    c.distinct_words = 4000;
    gf_ranks_cost analysed = gf_ranks_cluster_cost(&c);
    assert_int_equal(analysed.handed_out,
                     90000 + 8 * 10000 + (1.6 * 30000 + 2.7 * 10000) + 44 * 1000);
    assert_near((double)analysed.memory,
                30 * mb + (16 * 10000 + (8 + 2.5) * 30000) / 4 + 34 * 4000 + 4 * 1000 +
                    200 * 4000 * pow(4, -.64),
                2);
    assert_near((double)(analysed.first_memory - analysed.memory), 1.6 * 30000 + 2.7 * 10000, 2);
    assert_int_equal(analysed.first_pass, parted.first_pass);
    c.text = 0;
    c.rows = 100000000; /* the sample is a fiftieth */
    c.entries = 1e9;
    gf_ranks_cost large = gf_ranks_cluster_cost(&c);
    assert_near((double)(large.first_memory - large.memory), 24e8, 2);
}

static void samples_follow_the_rows(void **state)
{
    (void)state;
    assert_int_equal(gf_ranks_cluster_sample(1000), 1000);
    assert_int_equal(gf_ranks_cluster_sample(200000), 100000);
    assert_int_equal(gf_ranks_cluster_sample(4000000), 500000);
    assert_int_equal(gf_ranks_cluster_sample(4000000000), 2000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_arrive),
        cmocka_unit_test(same_bytes_for_any_number),
        cmocka_unit_test(rows_and_indexes_are_those_of_one_process),
        cmocka_unit_test(rows_that_ranks_hold_are_those_that_are_handed_out),
        cmocka_unit_test(failures_are_told),
        cmocka_unit_test(other_rows_are_seen_through),
        cmocka_unit_test(other_ends_are_seen_through),
        cmocka_unit_test(a_silent_job_is_lost),
        cmocka_unit_test(hosts_are_counted),
        cmocka_unit_test(processes_started_together_are_known),
        cmocka_unit_test(costs_follow_the_formula),
        cmocka_unit_test(samples_follow_the_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
