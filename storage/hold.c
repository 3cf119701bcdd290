/* Holds of threads (storage/backend.h). */
#include "storage/journal.h"

#include "base/clock.h"

#include <assert.h>
#include <sys/random.h>
#include <unistd.h>

static _Thread_local gf_hold *held; /* by this thread, the last one first */

/* The backend's hold keeps this process' threads apart; the row itself keeps processes apart. */
static gf_status take_row(gf_hold *hold, const gf_slice *keys, size_t n, gf_error *err)
{
    if (n == 1) return gf_held_row_take(hold->db, keys[0], &hold->row, err);
    return gf_fail(err, GF_EINVAL,
                   "this store changes one collection at a time: its database writes one row after "
                   "another");
}

gf_status gf_hold_take(gf_table *t, const gf_slice *keys, size_t n, gf_hold *hold, gf_error *err)
{
    gf_backend *b = t->db->backend;
    gf_backend_hold *of_backend = NULL;
    *hold = (gf_hold){0};
    assert(!gf_hold_of_thread(t->db));
    gf_status st = b->operations->hold(b, t->number, keys, n, &of_backend, err);
    if (st != GF_OK) return st;
    *hold = (gf_hold){held, t->db, of_backend, NULL};
    held = hold;
    if (t == t->db->holds.table) st = take_row(hold, keys, n, err);
    if (st != GF_OK) gf_hold_let_go(hold);
    return st;
}

void gf_hold_let_go(gf_hold *hold)
{
    if (!hold->db) return;
    gf_backend *b = hold->db->backend;
    assert(held == hold);
    gf_held_row_let_go(hold->row);
    held = hold->outer;
    b->operations->let_go(b, hold->of_backend);
    *hold = (gf_hold){0};
}

static const gf_hold *find_hold(const gf_database *db)
{
    const gf_hold *h = held;
    while (h && h->db != db)
        h = h->outer;
    return h;
}

gf_backend_hold *gf_hold_of_thread(const gf_database *db)
{
    const gf_hold *h = find_hold(db);
    return h ? h->of_backend : NULL;
}

/* ---- rows that hold themselves --------------------------------------------------------------- */

gf_held_row *gf_hold_row_of_thread(const gf_database *db)
{
    const gf_hold *h = find_hold(db);
    return h ? h->row : NULL;
}

uint64_t gf_hold_stamp(const gf_database *db)
{
    const gf_held_row *row = gf_hold_row_of_thread(db);
    return row ? gf_held_row_stamp(row) : 0;
}

gf_status gf_database_hold_in_rows(gf_database *db, gf_table *table, unsigned owner,
                                   unsigned journal, gf_error *err)
{
    enum { SECONDS = 30 };
    gf_status st = gf_table_check_family(table, owner, err);
    if (st == GF_OK) st = gf_table_check_family(table, journal, err);
    if (st != GF_OK) return st;
    db->holds =
        (gf_row_holds){.table = table, .owner = owner, .journal = journal, .patience = SECONDS};
    for (const gf_table *t = db->tables; t; t = t->next)
        if (t->number > db->holds.last_fixed) db->holds.last_fixed = t->number;
    if (getrandom(&db->holds.token, sizeof db->holds.token, 0) != sizeof db->holds.token)
        db->holds.token = (uint64_t)gf_clock_ms() << 22 ^ (uint64_t)getpid();
    return GF_OK;
}

void gf_database_hold_by_time(gf_database *db, gf_slice key)
{
    db->holds.by_time = key;
}

void gf_database_find_by(gf_database *db, gf_find_table *find, void *context)
{
    db->holds.find = find;
    db->holds.find_context = context;
}

gf_status gf_hold_finish(gf_database *db, gf_slice key, gf_error *err)
{
    gf_hold hold;
    gf_row row = {0};
    if (!gf_database_holds_in_rows(db)) return GF_OK;
    gf_status st = gf_table_get(db->holds.table, NULL, key, 1u << db->holds.journal, &row, err);
    gf_row_release(&row);
    if (st != GF_OK) return st == GF_ENOTFOUND ? GF_OK : st;
    st = gf_hold_take(db->holds.table, &key, 1, &hold, err);
    gf_hold_let_go(&hold);
    return st;
}

void gf_database_leave_to_clock(gf_database *db, uint32_t families)
{
    db->holds.by_clock = families;
}

bool gf_database_holds_in_rows(const gf_database *db)
{
    return db->holds.table != NULL;
}

void gf_database_set_patience(gf_database *db, double seconds)
{
    db->holds.patience = seconds;
}
