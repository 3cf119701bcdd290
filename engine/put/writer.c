/*
 * Two sets of rows change places: the caller's thread fills one, the writer writes the other.
 *
 *     caller   check, copy | hand over | check, copy | hand over (waits for the writing) | ...
 *     writer                 compare, encode, sync     ...
 *
 * A small put never starts the thread. The caller gets the status of the writing when it next hands
 * over or flushes; after a failure nothing more is written.
 */
#include "engine/put/put_internal.h"

void gf_put_counts_add(gf_put_counts *to, const gf_put_counts *from)
{
    to->created += from->created;
    to->changed += from->changed;
    to->unchanged += from->unchanged;
    to->deleted += from->deleted;
    to->absent += from->absent;
    to->collections += from->collections;
}

/* Write the rows and empty them; their counts are added to `written`. */
static gf_status write_rows(gf_put *p, gf_put_rows *rows, bool last, gf_error *err)
{
    gf_put_counts counts = {0};
    if (rows->n == 0) return GF_OK;
    gf_status st = gf_put_commit(&(gf_put_part){p, rows, last}, &counts, err);
    gf_put_rows_reset(rows);
    if (st != GF_OK && !gf_database_holds_in_rows(p->store->db)) return st;
    gf_put_counts_add(&p->written, &counts);
    p->collections += counts.collections;
    return st;
}

/* Write the held changes, batch by batch: now each is the last of its id. */
static gf_status write_held(gf_put *p, gf_put_rows *rows, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < p->held.keys.n && st == GF_OK; i++) {
        gf_put_row *row = &p->held.rows[i];
        if (!row->columns) continue;
        st = gf_put_rows_add(rows, row, err);
        gf_held_changes_drop(&p->held, row);
        if (st == GF_OK && gf_put_rows_are_full(rows)) st = write_rows(p, rows, true, err);
    }
    if (st == GF_OK) st = write_rows(p, rows, true, err);
    gf_held_changes_release(&p->held);
    return st;
}

/* Write the rows that are not in front. */
static gf_status write_back(void *context, gf_error *err)
{
    gf_put *p = context;
    gf_put_rows *rows = &p->rows[1 - p->front];
    gf_status st = write_rows(p, rows, false, err);
    return st == GF_OK && gf_held_changes_are_full(&p->held) ? write_held(p, rows, err) : st;
}

static void count_written(gf_put *p)
{
    gf_put_counts_add(&p->counts, &p->written);
    p->written = (gf_put_counts){0};
}

gf_status gf_put_wait(gf_put *p, gf_error *err)
{
    gf_status st = gf_background_wait(&p->writer, err);
    count_written(p);
    return st;
}

gf_status gf_put_hand_over(gf_put *p, gf_error *err)
{
    gf_status st = gf_put_wait(p, err);
    if (st != GF_OK) return st;
    p->front = 1 - p->front;
    gf_background_start(&p->writer, write_back, p);
    return GF_OK;
}

gf_status gf_put_write_here(gf_put *p, gf_error *err)
{
    gf_put_rows *rows = &p->rows[p->front];
    gf_status st = write_rows(p, rows, true, err);
    if (st == GF_OK) st = write_held(p, rows, err);
    count_written(p);
    return st;
}
