/*
 * Puts of several threads share a write and its sync. Each joins a line; the first of the line
 * leads: it holds their collections, writes for itself and for all that have joined while those
 * before it were written, and wakes them.
 *
 *     line   A  B  C | D        A leads, writes A, B and C as one batch
 *                      D        leads next
 *
 * They are written as if one came after the other. If that fails because of one of them, each is
 * written alone, so that no put fails for another's fault.
 *
 * The storage groups commits, too, but cannot do this: a put holds its collection from its first
 * read until its rows can be read, and LevelDB lets no write pass a sync that is under way.
 */
#include "engine/put/group.h"

#include "base/memory.h"
#include "engine/put/put_internal.h"
#include "engine/store/hold.h"

enum { MOST_PUTS = 256, MOST_DOCUMENTS = 2000, MOST_BYTES = 8 << 20 };

typedef struct gf_put_waiter {
    struct gf_put_waiter *next;
    gf_put_part part;
    gf_put_counts *counts;
    gf_error *err;
    gf_status status;
    bool done;
    pthread_cond_t turn; /* done, or the first of the line */
} gf_put_waiter;

struct gf_put_line {
    pthread_mutex_t lock;
    gf_put_waiter *first, *last;
};

struct gf_put_line *gf_put_line_create(void)
{
    struct gf_put_line *l = gf_calloc(1, sizeof *l);
    if (l) pthread_mutex_init(&l->lock, NULL);
    return l;
}

void gf_put_line_free(struct gf_put_line *l)
{
    if (!l) return;
    pthread_mutex_destroy(&l->lock);
    gf_free(l);
}

/* ---- the line -------------------------------------------------------------------------------- */

/* Join the line, and wait until the put leads or is done. */
static void wait_in_line(struct gf_put_line *l, gf_put_waiter *mine)
{
    pthread_mutex_lock(&l->lock);
    *(l->last ? &l->last->next : &l->first) = mine;
    l->last = mine;
    while (!mine->done && l->first != mine)
        pthread_cond_wait(&mine->turn, &l->lock);
    pthread_mutex_unlock(&l->lock);
}

/* Rows hold themselves: a batch is of one collection, and its journal has a bound. */
static bool writes_rows(const gf_store *store)
{
    return gf_database_holds_in_rows(store->db);
}

/* A put may be written with others if nothing is, or will be, held back. */
static bool can_share(const gf_put_part *part)
{
    return part->last && part->put->held.n == 0 && !writes_rows(part->put->store);
}

/* The first puts of the line that can be written together; they stay in the line meanwhile. */
static size_t choose_group(struct gf_put_line *l, gf_put_part *parts, gf_put_waiter **waiters)
{
    size_t n = 0, documents = 0, bytes = 0;
    pthread_mutex_lock(&l->lock);
    gf_slice space = l->first->part.put->name_space;
    for (gf_put_waiter *p = l->first; p && n < MOST_PUTS; p = p->next) {
        documents += p->part.rows->n;
        bytes += p->part.rows->bytes;
        bool fits = documents <= MOST_DOCUMENTS && bytes <= MOST_BYTES && can_share(&p->part) &&
                    can_share(&l->first->part) && gf_slice_equal(p->part.put->name_space, space);
        if (n && !fits) break;
        parts[n] = p->part;
        waiters[n++] = p;
    }
    pthread_mutex_unlock(&l->lock);
    return n;
}

/* The first n are done: wake all but the leader, and have the next one lead. */
static void leave_line(struct gf_put_line *l, gf_put_waiter **waiters, size_t n)
{
    pthread_mutex_lock(&l->lock);
    l->first = waiters[n - 1]->next;
    if (!l->first) l->last = NULL;
    for (size_t i = 0; i < n; i++) {
        waiters[i]->done = true;
        if (i) pthread_cond_signal(&waiters[i]->turn);
    }
    if (l->first) pthread_cond_signal(&l->first->turn);
    pthread_mutex_unlock(&l->lock);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_alone(gf_put_waiter *p)
{
    p->status = gf_put_write(&p->part, 1, p->counts, p->err);
}

/* The next rows of one collection and of whole ids that fit a journal, of those that are sorted. */
static size_t piece_of(const gf_put_rows *rows, size_t from)
{
    enum { JOURNAL_BYTES = 1 << 20 };
    const gf_put_row *at = rows->at;
    size_t bytes = 0, end = from;
    for (size_t i = from; i < rows->n; i++) {
        bool same = gf_slice_equal(at[i].collection, at[from].collection);
        bool same_id = i > from && same && gf_slice_equal(at[i].id, at[i - 1].id);
        bytes += at[i].bytes;
        if (!same_id) end = i;
        if (i > from && (!same || (bytes > JOURNAL_BYTES && end > from))) return end;
    }
    return rows->n;
}

/* Pieces that are counted were written, also where a later one fails. */
static void write_pieces(gf_put_waiter *p)
{
    gf_put *put = p->part.put;
    gf_put_rows *rows = p->part.rows;
    uint64_t made = put->collections;
    *p->counts = (gf_put_counts){0};
    p->status = gf_put_sort(rows->at, rows->n, p->err);
    for (size_t i = 0, end; i < rows->n && p->status == GF_OK; i = end) {
        end = piece_of(rows, i);
        gf_put_rows piece = {.at = rows->at + i, .n = end - i};
        gf_put_part part = {put, &piece, p->part.last};
        gf_put_counts counts = {0};
        gf_hold hold;
        p->status = gf_put_hold(&part, 1, &hold, p->err);
        if (p->status == GF_OK) p->status = gf_put_write(&part, 1, &counts, p->err);
        gf_hold_let_go(&hold);
        if (p->status != GF_OK) break;
        gf_put_counts_add(p->counts, &counts);
        put->collections = made + p->counts->collections;
    }
    put->collections = made;
}

static void write_group(gf_put_waiter **waiters, const gf_put_part *parts, size_t n)
{
    gf_error why = {GF_OK, ""};
    gf_put_counts counts[MOST_PUTS];
    gf_status st = n > 1 ? gf_put_write(parts, n, counts, &why) : GF_OK;
    for (size_t i = 0; i < n; i++) {
        if (n == 1 || (st != GF_OK && st != GF_EIO)) {
            write_alone(waiters[i]);
        } else {
            waiters[i]->status = st;
            if (st != GF_OK && waiters[i]->err) *waiters[i]->err = why;
            *waiters[i]->counts = counts[i];
        }
    }
}

static void lead_group(gf_store *store)
{
    gf_put_part parts[MOST_PUTS];
    gf_put_waiter *waiters[MOST_PUTS];
    gf_error why = {GF_OK, ""};
    gf_hold hold;
    size_t n = choose_group(store->put_line, parts, waiters);
    if (writes_rows(store)) {
        write_pieces(waiters[0]);
        leave_line(store->put_line, waiters, n);
        return;
    }
    gf_status st = gf_put_hold(parts, n, &hold, &why);
    if (st == GF_OK) write_group(waiters, parts, n);
    gf_hold_let_go(&hold);
    for (size_t i = 0; st != GF_OK && i < n; i++) {
        waiters[i]->status = st;
        if (waiters[i]->err) *waiters[i]->err = why;
    }
    leave_line(store->put_line, waiters, n);
}

gf_status gf_put_commit(const gf_put_part *part, gf_put_counts *counts, gf_error *err)
{
    gf_put_waiter mine = {.part = *part, .counts = counts, .err = err};
    pthread_cond_init(&mine.turn, NULL);
    wait_in_line(part->put->store->put_line, &mine);
    if (!mine.done) lead_group(part->put->store);
    pthread_cond_destroy(&mine.turn);
    return mine.status;
}
