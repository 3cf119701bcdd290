/*
 * Puts of several threads share a sync. Each that is to be written joins a line; the first of the
 * line leads: it takes the write lock, which may take as long as the sync of those before it, then
 * writes for itself and for all that have joined meanwhile, and tells them.
 *
 *     line   A  B  C | D        A leads, writes A, B and C as one batch
 *                      D        leads next
 *
 * Together they are written as if one came after the other. Where that fails because of one of
 * them, each is written alone, so that nobody is told of what another did wrong.
 */
#include "engine/put/group.h"

#include "base/memory.h"
#include "engine/put/internal.h"
#include "engine/store/lock.h"

enum { MOST_PUTS = 256, MOST_DOCUMENTS = 2000, MOST_BYTES = 8 << 20 };

typedef struct place {
    struct place *next;
    gf_put_part part;
    gf_put_counts *counts;
    gf_error *err;
    gf_status status;
    bool done;
    pthread_cond_t turn; /* done, or the first of the line */
} place;

struct gf_put_line {
    pthread_mutex_t lock;
    place *first, *last;
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

/* Until it leads, or is done. */
static void wait_in_line(struct gf_put_line *l, place *mine)
{
    pthread_mutex_lock(&l->lock);
    *(l->last ? &l->last->next : &l->first) = mine;
    l->last = mine;
    while (!mine->done && l->first != mine)
        pthread_cond_wait(&mine->turn, &l->lock);
    pthread_mutex_unlock(&l->lock);
}

/* One that may be written with others: nothing is, or will be, held back. */
static bool is_sociable(const gf_put_part *part)
{
    return part->last && part->put->hold.n == 0;
}

/* Those from the first on that can be written with it; they stay in the line meanwhile. */
static size_t look_for_group(struct gf_put_line *l, gf_put_part *parts, place **places)
{
    size_t n = 0, documents = 0, bytes = 0;
    pthread_mutex_lock(&l->lock);
    gf_slice space = l->first->part.put->name_space;
    for (place *p = l->first; p && n < MOST_PUTS; p = p->next) {
        documents += p->part.collected->n;
        bytes += p->part.collected->bytes;
        bool fits = documents <= MOST_DOCUMENTS && bytes <= MOST_BYTES && is_sociable(&p->part) &&
                    is_sociable(&l->first->part) && gf_slice_equal(p->part.put->name_space, space);
        if (n && !fits) break;
        parts[n] = p->part;
        places[n++] = p;
    }
    pthread_mutex_unlock(&l->lock);
    return n;
}

/* The n first are done: all but the leader are told, and the next one leads. */
static void leave_line(struct gf_put_line *l, place **places, size_t n)
{
    pthread_mutex_lock(&l->lock);
    l->first = places[n - 1]->next;
    if (!l->first) l->last = NULL;
    for (size_t i = 0; i < n; i++) {
        places[i]->done = true;
        if (i) pthread_cond_signal(&places[i]->turn);
    }
    if (l->first) pthread_cond_signal(&l->first->turn);
    pthread_mutex_unlock(&l->lock);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_alone(place *p)
{
    p->status = gf_put_write(&p->part, 1, p->counts, p->err);
}

static void write_group(place **places, const gf_put_part *parts, size_t n)
{
    gf_error why = {GF_OK, ""};
    gf_put_counts counts[MOST_PUTS];
    gf_status st = n > 1 ? gf_put_write(parts, n, counts, &why) : GF_OK;
    for (size_t i = 0; i < n; i++) {
        if (n == 1 || (st != GF_OK && st != GF_EIO)) {
            write_alone(places[i]);
        } else {
            places[i]->status = st;
            if (st != GF_OK && places[i]->err) *places[i]->err = why;
            *places[i]->counts = counts[i];
        }
    }
}

static void lead(gf_store *store)
{
    gf_put_part parts[MOST_PUTS];
    place *places[MOST_PUTS];
    gf_error why = {GF_OK, ""};
    gf_status st = gf_lock(store, &why);
    size_t n = look_for_group(store->put_line, parts, places);
    if (st == GF_OK) write_group(places, parts, n);
    gf_unlock(store);
    for (size_t i = 0; st != GF_OK && i < n; i++) {
        places[i]->status = st;
        if (places[i]->err) *places[i]->err = why;
    }
    leave_line(store->put_line, places, n);
}

gf_status gf_put_commit(const gf_put_part *part, gf_put_counts *counts, gf_error *err)
{
    place mine = {.part = *part, .counts = counts, .err = err};
    pthread_cond_init(&mine.turn, NULL);
    wait_in_line(part->put->store->put_line, &mine);
    if (!mine.done) lead(part->put->store);
    pthread_cond_destroy(&mine.turn);
    return mine.status;
}
