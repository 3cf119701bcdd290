/* Holds of threads (storage/backend.h). */
#include "storage/table_internal.h"

#include <assert.h>

static _Thread_local gf_hold *held; /* by this thread, the last one first */

gf_status gf_hold_take(gf_table *t, const gf_slice *keys, size_t n, gf_hold *hold, gf_error *err)
{
    gf_backend *b = t->db->backend;
    gf_backend_hold *of_backend = NULL;
    *hold = (gf_hold){0};
    assert(!gf_hold_of_thread(t->db));
    gf_status st = b->operations->hold(b, t->number, keys, n, &of_backend, err);
    if (st != GF_OK) return st;
    *hold = (gf_hold){held, t->db, of_backend};
    held = hold;
    return GF_OK;
}

void gf_hold_let_go(gf_hold *hold)
{
    if (!hold->db) return;
    gf_backend *b = hold->db->backend;
    assert(held == hold);
    held = hold->outer;
    b->operations->let_go(b, hold->of_backend);
    *hold = (gf_hold){0};
}

gf_backend_hold *gf_hold_of_thread(const gf_database *db)
{
    const gf_hold *h = held;
    while (h && h->db != db)
        h = h->outer;
    return h ? h->of_backend : NULL;
}
