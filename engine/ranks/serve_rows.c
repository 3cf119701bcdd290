/*
 * Rows that ranks have analysed, from where their texts came to where they are clustered: a rank is to have
 * neighbouring rows of all, but has some of each round.
 *
 *     round 1          round 2               rows of all, in their order
 *     rank 0  rank 1   rank 0   rank 1
 *     |  run  |  run   |  run   |   run  |
 *     |          part 0       |   part 1     where the holder cuts them
 *
 * They go in steps, in each of which every rank gets some thousand rows of its part, from those who have
 * them. A row is its length, its columns and its values.
 */
#include "engine/ranks/serve_internal.h"

#include "base/memory.h"

#include <string.h>

typedef gf_ranks_serving_job rank_job;

enum { STEP_ENTRIES = 2 << 20, MOST_ROWS = 1 << 20 };

/* A place in the order of all rows: within a run, the rows of one rank of one round. */
typedef struct place {
    size_t round;
    unsigned rank;
    uint32_t in_run;
} place;

/* A place among this rank's own rows. */
typedef struct own_place {
    size_t round;
    uint32_t document; /* of x, the next one */
    uint64_t number;   /* among all rows, of the next one that has terms */
} own_place;

typedef struct parting {
    rank_job *j;
    unsigned n, me;         /* ranks */
    uint64_t *first;        /* n + 1: first row of each part */
    uint64_t *run_number;   /* n_rounds: number of the first row that this rank has of the round */
    uint32_t *run_document; /* n_rounds + 1: its first document of the round */
    own_place *next;        /* n: what goes to each rank next */
    place at;               /* what comes to this one next */
    uint32_t row;           /* that comes next */
    uint64_t step_rows, steps;
    gf_buffer *to, *from; /* n */
    gf_slice *view;       /* n */
} parting;

void gf_ranks_serve_release_held(gf_ranks_held *h)
{
    gf_csr_release(&h->x);
    gf_free(h->round);
    gf_free(h->rows);
    *h = (gf_ranks_held){.n_rounds = 0};
}

static uint32_t rows_of(const gf_ranks_held *h, size_t round, unsigned rank)
{
    return h->rows[(size_t)rank * h->n_rounds + round];
}

static uint32_t length_of(const gf_csr *x, uint32_t row)
{
    return (uint32_t)(x->start[row + 1] - x->start[row]);
}

/* ---- what goes out ------------------------------------------------------------------------------------ */

/* To this rank's next row of number `first` or more; behind the last round: there is none. */
static void go_to(const parting *p, own_place *at, uint64_t first)
{
    const gf_ranks_held *h = &p->j->held;
    while (at->round < h->n_rounds) {
        uint32_t end = p->run_document[at->round + 1];
        bool is_before = p->run_number[at->round] + rows_of(h, at->round, p->me) <= first;
        if (is_before || at->document == end) {
            at->document = end;
            if (++at->round < h->n_rounds) at->number = p->run_number[at->round];
        } else if (length_of(&h->x, at->document) == 0) {
            at->document++;
        } else if (at->number < first) {
            at->document++;
            at->number++;
        } else {
            return;
        }
    }
}

/* Rows of this rank that are among first .. end - 1 of all. */
static void put_rows(const parting *p, own_place *at, uint64_t first, uint64_t end, gf_buffer *out)
{
    const gf_csr *x = &p->j->held.x;
    for (go_to(p, at, first); at->round < p->j->held.n_rounds && at->number < end;
         go_to(p, at, at->number)) {
        uint32_t length = length_of(x, at->document);
        uint64_t from = x->start[at->document++];
        gf_buffer_append(out, &length, sizeof length);
        gf_buffer_append(out, x->col + from, length * sizeof *x->col);
        gf_buffer_append(out, x->val + from, length * sizeof *x->val);
        at->number++;
    }
}

/* ---- what comes --------------------------------------------------------------------------------------- */

/* The rank that has the next row, and on to the one behind it. */
static bool take_place(const parting *p, place *at, unsigned *rank)
{
    const gf_ranks_held *h = &p->j->held;
    while (at->round < h->n_rounds && at->in_run == rows_of(h, at->round, at->rank)) {
        at->in_run = 0;
        if (++at->rank < p->n) continue;
        at->rank = 0;
        at->round++;
    }
    *rank = at->rank;
    at->in_run++;
    return at->round < h->n_rounds;
}

/* The place of a row among all. */
static place find_place(const parting *p, uint64_t number)
{
    const gf_ranks_held *h = &p->j->held;
    place at = {0, 0, 0};
    while (at.round < h->n_rounds && number >= rows_of(h, at.round, at.rank)) {
        number -= rows_of(h, at.round, at.rank);
        if (++at.rank < p->n) continue;
        at.rank = 0;
        at.round++;
    }
    at.in_run = (uint32_t)number;
    return at;
}

/* The next n rows of this rank's part, of what each rank gave. */
static bool take_rows(parting *p, uint64_t n)
{
    gf_csr *x = &p->j->x;
    uint64_t room = p->j->parts[p->me].entries;
    for (; n > 0; n--) {
        unsigned rank;
        uint32_t length;
        uint64_t at = x->start[p->row];
        if (!take_place(p, &p->at, &rank)) return false;
        gf_slice *s = &p->view[rank];
        if (!gf_ranks_job_take(s, &length, sizeof length) || length > room - at ||
            !gf_ranks_job_take(s, x->col + at, length * sizeof *x->col) ||
            !gf_ranks_job_take(s, x->val + at, length * sizeof *x->val))
            return false;
        x->start[++p->row] = at + length;
    }
    for (unsigned i = 0; i < p->n; i++)
        if (p->view[i].len) return false;
    return true;
}

/* ---- the whole ---------------------------------------------------------------------------------------- */

/* The rows of a part that go in a step, from the first one on. */
static uint64_t rows_of_step(const parting *p, unsigned part, uint64_t step, uint64_t *first)
{
    uint64_t end = p->first[part + 1];
    *first = p->first[part] + step * p->step_rows;
    if (*first >= end) return 0;
    return end - *first < p->step_rows ? end - *first : p->step_rows;
}

static gf_status do_step(parting *p, uint64_t step, gf_error *err)
{
    uint64_t first;
    gf_status st = GF_OK;
    for (unsigned i = 0; i < p->n && st == GF_OK; i++) {
        uint64_t rows = rows_of_step(p, i, step, &first);
        gf_buffer_reset(&p->to[i]);
        if (rows) put_rows(p, &p->next[i], first, first + rows, &p->to[i]);
        st = gf_buffer_check(&p->to[i], err);
        p->view[i] = gf_buffer_view(&p->to[i]);
    }
    if (st == GF_OK) st = gf_ranks_deal(p->j->by->ranks, p->view, p->from, err);
    for (unsigned i = 0; i < p->n && st == GF_OK; i++)
        p->view[i] = gf_buffer_view(&p->from[i]);
    if (st == GF_OK && !take_rows(p, rows_of_step(p, p->me, step, &first)))
        st = gf_ranks_serve_fail_message(err);
    return st;
}

/* Beginnings of the parts, and where this rank's runs are; the rows are as many as the holder says. */
static gf_status measure(parting *p, gf_error *err)
{
    const gf_ranks_held *h = &p->j->held;
    uint64_t number = 0, entries = 0, most = 0;
    p->first[0] = 0;
    for (unsigned i = 0; i < p->n; i++) {
        p->first[i + 1] = p->first[i] + p->j->parts[i].rows;
        entries += p->j->parts[i].entries;
        if (p->j->parts[i].rows > most) most = p->j->parts[i].rows;
    }
    p->run_document[0] = 0;
    for (size_t round = 0; round < h->n_rounds; round++) {
        p->run_document[round + 1] = p->run_document[round] + h->round[round];
        for (unsigned rank = 0; rank < p->n; rank++) {
            if (rank == p->me) p->run_number[round] = number;
            number += rows_of(h, round, rank);
        }
    }
    if (number != p->first[p->n] || h->x.n_cols != p->j->begin.n_cols)
        return gf_ranks_serve_fail_message(err);
    p->step_rows = entries ? (uint64_t)(STEP_ENTRIES * ((double)number / (double)entries)) : 0;
    if (p->step_rows < 1) p->step_rows = 1;
    if (p->step_rows > MOST_ROWS) p->step_rows = MOST_ROWS;
    p->steps = (most + p->step_rows - 1) / p->step_rows;
    p->at = find_place(p, p->first[p->me]);
    for (unsigned i = 0; i < p->n && h->n_rounds; i++)
        p->next[i].number = p->run_number[0];
    return GF_OK;
}

static gf_status allocate(parting *p, gf_error *err)
{
    const gf_ranks_part *mine = &p->j->parts[p->me];
    size_t rounds = p->j->held.n_rounds;
    p->first = gf_array((size_t)p->n + 1, sizeof *p->first);
    p->run_number = gf_array(rounds, sizeof *p->run_number);
    p->run_document = gf_array(rounds + 1, sizeof *p->run_document);
    p->next = gf_calloc(p->n, sizeof *p->next);
    p->to = gf_calloc(p->n, sizeof *p->to);
    p->from = gf_calloc(p->n, sizeof *p->from);
    p->view = gf_calloc(p->n, sizeof *p->view);
    bool all =
        p->first && p->run_number && p->run_document && p->next && p->to && p->from && p->view;
    if (!all) return gf_fail_memory(err, "the rows");
    return gf_csr_init(&p->j->x, (uint32_t)mine->rows, p->j->begin.n_cols, mine->entries, err);
}

static void release(parting *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        if (p->to) gf_buffer_release(&p->to[i]);
        if (p->from) gf_buffer_release(&p->from[i]);
    }
    gf_free(p->first);
    gf_free(p->run_number);
    gf_free(p->run_document);
    gf_free(p->next);
    gf_free(p->to);
    gf_free(p->from);
    gf_free(p->view);
}

gf_status gf_ranks_serve_part_rows(rank_job *j, gf_error *err)
{
    parting p = {.j = j, .n = gf_ranks_n(j->by->ranks), .me = gf_ranks_me(j->by->ranks)};
    gf_status st = j->held.rows ? allocate(&p, err) : gf_ranks_serve_fail_message(err);
    if (st == GF_OK) st = measure(&p, err);
    for (uint64_t step = 0; step < p.steps && st == GF_OK; step++) {
        st = do_step(&p, step, err);
        if (gf_ranks_serve_is_first(j))
            gf_ranks_serve_report(j, "handing out rows", step + 1, p.steps);
    }
    bool is_whole = st != GF_OK ||
                    (p.row == j->parts[p.me].rows && j->x.start[p.row] == j->parts[p.me].entries);
    if (!is_whole) st = gf_ranks_serve_fail_message(err);
    gf_ranks_serve_release_held(&j->held);
    release(&p);
    return st;
}
