/*
 * Texts at the ranks. They come in rounds, in each of which a rank gets one message of texts; what rank 0
 * passes on ends with a byte that says what follows:
 *
 *     MORE    another round
 *     AGAIN   the texts so far are forgotten, and another round
 *     ALL     nothing more
 *
 * Then terms are numbered together, and rows go back as the texts came: round by round, rank by rank. The
 * indexes of the documents are made where they are (serve_index.c). A copy of the rows stays, to be clustered.
 */
#include "engine/ranks/serve_internal.h"

#include "base/grow.h"
#include "base/memory.h"
#include "engine/text/batch.h"

#include <string.h>

typedef gf_ranks_serving_job rank_job;

enum { MORE, AGAIN, ALL };

typedef struct analysing {
    rank_job *j;
    gf_ranks_analysis wants;
    gf_vectorizer_options options;
    gf_vectorizer *vectorizer;
    gf_text_group group; /* of this rank's texts of a round, which lie in what came */
    gf_batch_texts texts;
    uint32_t *round; /* n_rounds of capacity: this rank's documents of each */
    size_t n_rounds, capacity;
    gf_buffer *read[2]; /* at rank 0: messages of a round, one a rank; the other of the next one */
    unsigned reading;   /* which is read next */
    gf_vectors vectors;
    gf_words *words; /* NULL: none are indexed */
} analysing;

static bool is_first(const analysing *a)
{
    return gf_ranks_serve_is_first(a->j);
}

/* ---- rounds ------------------------------------------------------------------------------------------ */

/* At rank 0: the messages of the next round. */
static gf_status read_round(analysing *a, gf_error *err)
{
    unsigned n = gf_ranks_n(a->j->by->ranks);
    gf_buffer *to = a->read[a->reading];
    uint32_t kind = GF_JOB_TEXTS;
    gf_status st = GF_OK;
    for (unsigned i = 0; i < n && st == GF_OK; i++) {
        if (kind == GF_JOB_TEXTS) st = gf_ranks_serve_hear(a->j, &kind, &to[i], err);
        if (st == GF_OK && kind != GF_JOB_TEXTS) gf_buffer_reset(&to[i]);
    }
    if (st != GF_OK) return st;
    if (kind != GF_JOB_TEXTS && kind != GF_JOB_AGAIN && kind != GF_JOB_WEIGH)
        return gf_ranks_serve_fail_message(err);
    for (unsigned i = 0; i < n && st == GF_OK; i++) {
        gf_buffer_byte(&to[i], kind == GF_JOB_TEXTS ? MORE : kind == GF_JOB_AGAIN ? AGAIN : ALL);
        st = gf_buffer_check(&to[i], err);
    }
    return st;
}

static gf_status read_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)index, (void)worker;
    return read_round(context, err);
}

/* A message's texts as a group; nothing is copied. */
static gf_status take_texts(analysing *a, gf_slice s, gf_fallback *fallback, gf_error *err)
{
    gf_ranks_texts head = {0};
    gf_text_group *g = &a->group;
    g->n = 0;
    if (s.len && (!gf_ranks_job_take(&s, &head, sizeof head) || head.n > s.len ||
                  head.fallback > GF_FALLBACK_DETECT || head.language > GF_LANGUAGES))
        return gf_ranks_serve_fail_message(err);
    *fallback = (gf_fallback){(gf_fallback_kind)head.fallback,
                              head.language ? gf_language_at(head.language - 1) : NULL};
    if (!gf_grow(&g->at, &g->capacity, head.n, sizeof *g->at))
        return gf_fail_memory(err, "documents");
    for (; g->n < head.n; g->n++) {
        gf_group_text *t = &g->at[g->n];
        if (!gf_slice_take_string(&s, &t->lang) || !gf_slice_take_string(&s, &t->text))
            return gf_ranks_serve_fail_message(err);
    }
    return s.len ? gf_ranks_serve_fail_message(err) : GF_OK;
}

static gf_status begin_vectorizer(analysing *a, gf_error *err)
{
    gf_vectorizer_free(a->vectorizer);
    a->vectorizer = NULL;
    a->n_rounds = 0;
    gf_status st = gf_vectorizer_create(&a->options, a->j->by->pool, &a->vectorizer, err);
    if (st == GF_OK && a->wants.indexes_words)
        st = gf_vectorizer_keep_words(a->vectorizer, NULL, false, err);
    return st;
}

/* Analyse this rank's texts of a round; rank 0 reads the next one meanwhile. */
static gf_status analyse_round(analysing *a, gf_slice s, bool more, gf_error *err)
{
    gf_fallback fallback;
    const gf_pool_tasks reading = {more && is_first(a), read_task, a};
    gf_status st = take_texts(a, s, &fallback, err);
    if (st == GF_OK && !gf_grow(&a->round, &a->capacity, a->n_rounds + 1, sizeof *a->round))
        st = gf_fail_memory(err, "documents");
    if (st != GF_OK) return st;
    a->round[a->n_rounds++] = (uint32_t)a->group.n;
    st = gf_batch_texts_make(&a->texts, &a->group, a->wants.has_languages ? &fallback : NULL,
                             a->j->by->pool, NULL, err);
    return st == GF_OK ? gf_vectorizer_add_beside(a->vectorizer, a->texts.at, a->group.n, &reading,
                                                  NULL, err)
                       : st;
}

static gf_status take_rounds(analysing *a, gf_buffer *from, gf_slice *to, gf_error *err)
{
    gf_ranks *ranks = a->j->by->ranks;
    unsigned n = gf_ranks_n(ranks);
    char follows = MORE;
    gf_status st = is_first(a) ? read_round(a, err) : GF_OK;
    while (st == GF_OK && follows != ALL) {
        for (unsigned i = 0; i < n && is_first(a); i++)
            to[i] = gf_buffer_view(&a->read[a->reading][i]);
        st = gf_ranks_deal(ranks, to, from, err);
        if (st == GF_OK && from[0].len == 0) st = gf_ranks_serve_fail_message(err);
        if (st != GF_OK) break;
        a->reading = !a->reading;
        follows = from[0].ptr[from[0].len - 1];
        if (follows == AGAIN) {
            st = begin_vectorizer(a, err);
            if (st == GF_OK && is_first(a)) st = read_round(a, err);
        } else {
            st = analyse_round(a, gf_slice_of(from[0].ptr, from[0].len - 1), follows == MORE, err);
        }
    }
    return st;
}

/* ---- back to the holder -------------------------------------------------------------------------------- */

/* Rows of this rank's documents first .. first + n - 1. */
static gf_status put_vectors(const analysing *a, uint32_t first, uint32_t n, gf_buffer *out,
                             gf_error *err)
{
    const gf_vectors *v = &a->vectors;
    uint64_t from = v->x.start[first], entries = v->x.start[first + n] - from;
    const gf_ranks_vectors head = {entries, n};
    gf_buffer_append(out, &head, sizeof head);
    gf_buffer_append(out, v->kind + first, n);
    for (uint32_t row = first; row < first + n; row++) {
        uint32_t length = (uint32_t)(v->x.start[row + 1] - v->x.start[row]);
        gf_buffer_append(out, &length, sizeof length);
    }
    gf_buffer_append(out, v->x.col + from, (size_t)entries * sizeof *v->x.col);
    gf_buffer_append(out, v->x.val + from, (size_t)entries * sizeof *v->x.val);
    return gf_buffer_check(out, err);
}

/* A number of each round, of this rank, becomes that of all ranks: n_rounds * ranks, of each rank in turn. */
static gf_status share_rounds(analysing *a, const uint32_t *mine, gf_buffer *from, uint32_t **all,
                              gf_error *err)
{
    gf_ranks *ranks = a->j->by->ranks;
    size_t size = a->n_rounds * sizeof *mine, n = gf_ranks_n(ranks);
    gf_buffer bytes = {0};
    gf_status st = gf_ranks_gather(ranks, 0, gf_slice_of((const char *)mine, size), from, err);
    for (size_t i = 0; i < n && st == GF_OK && is_first(a); i++)
        gf_buffer_slice(&bytes, gf_buffer_view(&from[i]));
    if (st == GF_OK) st = gf_buffer_check(&bytes, err);
    if (st == GF_OK) st = gf_ranks_send_all(ranks, 0, &bytes, err);
    if (st == GF_OK && bytes.len != size * n) st = gf_ranks_serve_fail_message(err);
    *all = st == GF_OK ? gf_array(a->n_rounds * n, sizeof **all) : NULL;
    if (st == GF_OK && !*all) st = gf_fail_memory(err, "the rows");
    if (st == GF_OK && bytes.len) memcpy(*all, bytes.ptr, bytes.len);
    gf_buffer_release(&bytes);
    return st;
}

/* The rows stay; where those of each round and rank are, all ranks know. */
static gf_status hold_rows(analysing *a, gf_buffer *from, gf_error *err)
{
    gf_ranks_held *h = &a->j->held;
    gf_vectors *v = &a->vectors;
    uint32_t row = 0, *mine = gf_calloc(a->n_rounds, sizeof *mine);
    gf_ranks_serve_release_held(h);
    if (!mine) return gf_fail_memory(err, "the rows");
    for (size_t i = 0; i < a->n_rounds; i++)
        for (uint32_t end = row + a->round[i]; row < end; row++)
            mine[i] += v->kind[row] != GF_ROW_EMPTY;
    gf_status st = share_rounds(a, mine, from, &h->rows, err);
    gf_free(mine);
    if (st != GF_OK) return st;
    h->n_rounds = a->n_rounds;
    h->round = a->round;
    a->round = NULL;
    h->x = v->x;
    v->x = (gf_csr){.n_rows = 0};
    return GF_OK;
}

static gf_status make_indexes(analysing *a, gf_buffer *from, gf_error *err)
{
    uint32_t *rounds = NULL;
    if (!a->wants.indexes_words && !a->wants.indexes_rows) return GF_OK;
    gf_status st = share_rounds(a, a->round, from, &rounds, err);
    const gf_ranks_indexed_documents of = {.n_rounds = a->n_rounds,
                                           .rounds = rounds,
                                           .words = a->words,
                                           .rows = a->wants.indexes_rows ? &a->vectors.x : NULL,
                                           .compresses = a->wants.compresses};
    if (st == GF_OK) st = gf_ranks_serve_index(a->j, &of, err);
    gf_words_free(a->words);
    a->words = NULL;
    gf_free(rounds);
    return st;
}

static gf_status tell_terms(analysing *a, gf_error *err)
{
    const gf_csr *x = &a->vectors.x;
    uint64_t sums[2] = {x->n_rows, x->start[x->n_rows]};
    gf_buffer vocabulary = {0};
    gf_status st = gf_ranks_sum(a->j->by->ranks, sums, 2, err);
    if (st != GF_OK || !is_first(a)) return st;
    const gf_ranks_terms head = {sums[0], sums[1]};
    gf_vocabulary_write(&a->vectors.vocabulary, &vocabulary);
    gf_vocabulary_release(&a->vectors.vocabulary);
    st = gf_buffer_check(&vocabulary, err);
    if (st == GF_OK)
        st = gf_ranks_serve_tell(a->j, GF_JOB_TERMS, gf_slice_of((const char *)&head, sizeof head),
                                 gf_buffer_view(&vocabulary), err);
    gf_buffer_release(&vocabulary);
    return st;
}

static gf_status tell_rows(analysing *a, gf_buffer *from, gf_error *err)
{
    gf_buffer mine = {0};
    gf_status st = GF_OK;
    uint32_t row = 0;
    for (size_t i = 0; i < a->n_rounds && st == GF_OK; i++) {
        gf_buffer_reset(&mine);
        if (a->round[i]) st = put_vectors(a, row, a->round[i], &mine, err);
        row += a->round[i];
        if (st == GF_OK)
            st = gf_ranks_serve_tell_gathered(a->j, GF_JOB_VECTORS, gf_buffer_view(&mine), from,
                                              err);
    }
    gf_buffer_release(&mine);
    return st;
}

/* ---- the whole -------------------------------------------------------------------------------------------- */

static gf_status analyse(analysing *a, gf_buffer *from, gf_slice *to, gf_error *err)
{
    gf_status st = begin_vectorizer(a, err);
    if (st == GF_OK) st = take_rounds(a, from, to, err);
    for (unsigned i = 0; i < gf_ranks_n(a->j->by->ranks); i++) { /* there are no more texts */
        gf_buffer_release(&a->read[0][i]);
        gf_buffer_release(&a->read[1][i]);
        gf_buffer_release(&from[i]);
    }
    if (st == GF_OK)
        st = gf_vectorizer_finish_by_ranks(a->vectorizer, a->j->by->ranks, &a->vectors, err);
    if (st == GF_OK) st = gf_vectorizer_take_words(a->vectorizer, &a->words, err);
    gf_vectorizer_free(a->vectorizer);
    a->vectorizer = NULL;
    if (st == GF_OK) st = tell_terms(a, err);
    if (st == GF_OK) st = tell_rows(a, from, err);
    if (st == GF_OK) st = make_indexes(a, from, err);
    return st == GF_OK ? hold_rows(a, from, err) : st;
}

static void release_buffers(gf_buffer *buffers, unsigned n)
{
    for (unsigned i = 0; buffers && i < n; i++)
        gf_buffer_release(&buffers[i]);
    gf_free(buffers);
}

gf_status gf_ranks_serve_texts(rank_job *j, gf_slice settings, gf_error *err)
{
    unsigned n = gf_ranks_n(j->by->ranks);
    analysing a = {.j = j};
    gf_buffer *from = gf_calloc(n, sizeof *from);
    gf_slice *to = gf_calloc(n, sizeof *to);
    a.read[0] = gf_calloc(n, sizeof *a.read[0]);
    a.read[1] = gf_calloc(n, sizeof *a.read[1]);
    gf_status st =
        from && to && a.read[0] && a.read[1] ? GF_OK : gf_fail_memory(err, "the analysis");
    if (st == GF_OK && !gf_ranks_job_take(&settings, &a.wants, sizeof a.wants))
        st = gf_ranks_serve_fail_message(err);
    if (st == GF_OK) st = gf_vectorizer_options_read(settings, &a.options, err);
    if (st == GF_OK) st = analyse(&a, from, to, err);
    gf_vectorizer_free(a.vectorizer);
    gf_vectors_release(&a.vectors);
    gf_words_free(a.words);
    gf_free(a.group.at);
    gf_free(a.texts.at);
    gf_free(a.round);
    release_buffers(a.read[0], n);
    release_buffers(a.read[1], n);
    release_buffers(from, n);
    gf_free(to);
    return st;
}
