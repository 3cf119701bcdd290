#include "support/ranks.h"

#include "base/memory.h"
#include "base/random.h"

#include <pthread.h>
#include <string.h>

/* ---- threads ---------------------------------------------------------------------------------- */

/* What all ranks see: each puts down what it gives, and all look when all have come. */
typedef struct table {
    pthread_mutex_t lock;
    pthread_cond_t all_came;
    unsigned n, waiting;
    uint64_t round;
    bool is_over; /* a rank failed */
    const gf_slice **given;
    uint64_t **numbers;
} table;

typedef struct rank_thread {
    gf_ranks ranks;
    pthread_t thread;
    gf_test_rank *work;
    void *context;
    gf_status status;
    gf_error error;
} rank_thread;

static gf_status meet(table *t, gf_error *err)
{
    pthread_mutex_lock(&t->lock);
    uint64_t round = t->round;
    if (++t->waiting == t->n) {
        t->waiting = 0;
        t->round++;
        pthread_cond_broadcast(&t->all_came);
    }
    while (t->round == round && !t->is_over)
        pthread_cond_wait(&t->all_came, &t->lock);
    bool over = t->round == round;
    pthread_mutex_unlock(&t->lock);
    return over ? gf_fail(err, GF_ECANCELLED, "another rank failed") : GF_OK;
}

static gf_status sum_numbers(gf_ranks *r, uint64_t *v, size_t n, gf_error *err)
{
    table *t = r->context;
    uint64_t *sums = gf_calloc(n, sizeof *sums);
    if (!sums) return gf_fail_memory(err, "sums");
    t->numbers[r->me] = v;
    gf_status st = meet(t, err);
    for (unsigned i = 0; st == GF_OK && i < r->n; i++)
        for (size_t j = 0; j < n; j++)
            sums[j] += t->numbers[i][j];
    if (st == GF_OK) st = meet(t, err);
    if (st == GF_OK && n) memcpy(v, sums, n * sizeof *v);
    gf_free(sums);
    return st;
}

static gf_status deal_bytes(gf_ranks *r, const gf_slice *to, gf_buffer *from, gf_error *err)
{
    table *t = r->context;
    t->given[r->me] = to;
    gf_status st = meet(t, err);
    for (unsigned i = 0; st == GF_OK && i < r->n; i++) {
        gf_buffer_reset(&from[i]);
        gf_buffer_slice(&from[i], t->given[i][r->me]);
        st = gf_buffer_check(&from[i], err);
    }
    return st == GF_OK ? meet(t, err) : st;
}

static gf_status send_bytes(gf_ranks *r, unsigned from, gf_buffer *bytes, gf_error *err)
{
    table *t = r->context;
    gf_slice mine = gf_buffer_view(bytes);
    t->given[r->me] = &mine;
    gf_status st = meet(t, err);
    if (st == GF_OK && r->me != from) {
        gf_buffer_reset(bytes);
        gf_buffer_slice(bytes, *t->given[from]);
        st = gf_buffer_check(bytes, err);
    }
    return st == GF_OK ? meet(t, err) : st;
}

static const gf_ranks_transport by_memory = {sum_numbers, send_bytes, deal_bytes};

static void *run_rank(void *context)
{
    rank_thread *r = context;
    table *t = r->ranks.context;
    r->status = r->work(&r->ranks, r->context, &r->error);
    if (r->status == GF_OK) return NULL;
    pthread_mutex_lock(&t->lock);
    t->is_over = true;
    pthread_cond_broadcast(&t->all_came);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

gf_status gf_test_ranks_run(unsigned n, gf_test_rank *work, void *context, gf_error *err)
{
    const gf_slice *given[16];
    uint64_t *numbers[16];
    rank_thread of[16] = {{.status = GF_OK}};
    table t = {.n = n, .given = given, .numbers = numbers};
    gf_status st = GF_OK;
    pthread_mutex_init(&t.lock, NULL);
    pthread_cond_init(&t.all_came, NULL);
    for (unsigned i = 0; i < n; i++) {
        of[i] = (rank_thread){.ranks = {&by_memory, &t, n, i, 0}, .work = work, .context = context};
        pthread_create(&of[i].thread, NULL, run_rank, &of[i]);
    }
    for (unsigned i = 0; i < n; i++)
        pthread_join(of[i].thread, NULL);
    for (unsigned i = 0; i < n; i++) {
        if (of[i].status == GF_OK || (st != GF_OK && of[i].status == GF_ECANCELLED)) continue;
        st = of[i].status;
        if (err) *err = of[i].error;
        if (st != GF_ECANCELLED) break;
    }
    pthread_cond_destroy(&t.all_came);
    pthread_mutex_destroy(&t.lock);
    return st;
}

/* ---- what is asked of a transport --------------------------------------------------------------- */

enum { ROUNDS = 40 };

/* The size of what rank `a` gives to rank `b`: mostly little, now and then nothing or much. */
static size_t size_of(unsigned round, unsigned a, unsigned b)
{
    gf_random random = gf_random_seed(round, a * 64 + b);
    uint64_t kind = gf_random_below(&random, 10);
    if (kind == 0) return 0;
    return (size_t)gf_random_below(&random, kind == 1 ? 3 << 20 : 300);
}

static char byte_of(unsigned round, unsigned a, unsigned b, size_t at)
{
    return (char)(round * 31 + a * 7 + b * 13 + at * 3 + (at >> 8));
}

static void give(gf_buffer *out, unsigned round, unsigned a, unsigned b)
{
    gf_buffer_reset(out);
    size_t n = size_of(round, a, b);
    char *at = gf_buffer_reserve(out, n);
    for (size_t i = 0; at && i < n; i++)
        at[i] = byte_of(round, a, b, i);
    if (at) out->len += n;
}

static gf_status look_at(const gf_buffer *got, unsigned round, unsigned a, unsigned b,
                         gf_error *err)
{
    bool right = got->len == size_of(round, a, b);
    for (size_t i = 0; right && i < got->len; i++)
        right = got->ptr[i] == byte_of(round, a, b, i);
    if (right) return GF_OK;
    return gf_fail(err, GF_ECORRUPT, "round %u: rank %u got other bytes of rank %u", round, b, a);
}

static gf_status try_round(gf_ranks *r, unsigned round, gf_buffer *give_to, gf_buffer *from,
                           gf_error *err)
{
    unsigned n = gf_ranks_n(r), me = gf_ranks_me(r), teller = round % n;
    gf_slice to[16];
    uint64_t v[3] = {me, 1, UINT64_MAX};
    gf_buffer told = {0};
    for (unsigned i = 0; i < n; i++) {
        give(&give_to[i], round, me, i);
        to[i] = gf_buffer_view(&give_to[i]);
    }
    gf_status st = gf_ranks_deal(r, to, from, err);
    for (unsigned i = 0; st == GF_OK && i < n; i++)
        st = look_at(&from[i], round, i, me, err);
    if (st == GF_OK) st = gf_ranks_sum(r, v, 3, err);
    if (st == GF_OK && (v[0] != (uint64_t)n * (n - 1) / 2 || v[1] != n || v[2] != -(uint64_t)n))
        st = gf_fail(err, GF_ECORRUPT, "round %u: the sums are wrong", round);
    if (me == teller) give(&told, round, teller, 40);
    if (st == GF_OK) st = gf_ranks_send_all(r, teller, &told, err);
    if (st == GF_OK) st = look_at(&told, round, teller, 40, err);
    if (st == GF_OK) st = gf_ranks_gather(r, teller, to[teller], from, err);
    for (unsigned i = 0; st == GF_OK && i < n; i++)
        if (me == teller)
            st = look_at(&from[i], round, i, me, err);
        else if (from[i].len)
            st = gf_fail(err, GF_ECORRUPT, "round %u: rank %u was told something", round, me);
    gf_buffer_release(&told);
    return st;
}

gf_status gf_test_ranks_try(gf_ranks *r, gf_error *err)
{
    gf_buffer to[16] = {{0}}, from[16] = {{0}};
    gf_status st = GF_OK;
    for (unsigned round = 0; round < ROUNDS && st == GF_OK; round++)
        st = try_round(r, round, to, from, err);
    for (unsigned i = 0; i < 16; i++) {
        gf_buffer_release(&to[i]);
        gf_buffer_release(&from[i]);
    }
    return st;
}
