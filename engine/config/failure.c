/* Failed rebuilds, kept in the row of the collection. */
#include "engine/config/failure.h"

#include "base/clock.h"
#include "engine/store/collections.h"
#include "engine/store/hold.h"

#include <inttypes.h>

/* A rebuild that was stopped, or never began, has not failed. */
static bool is_failure(gf_status st)
{
    return st != GF_OK && st != GF_ECANCELLED && st != GF_EBUSY && st != GF_ENOTFOUND;
}

static gf_status write_failure(gf_store *s, gf_place where, gf_slice configuration,
                               const char *message)
{
    gf_buffer key = {0}, column = {0}, value = {0};
    gf_collection_row row = {0};
    gf_batch *batch = NULL;
    gf_tables_collection_key(&key, where.name_space, where.collection);
    gf_collection_row_column(&column, configuration, "failed");
    gf_buffer_format(&value, "%" PRId64 " %s", gf_clock_ms(), message);
    gf_status st = gf_collection_row_read(s, NULL, where, &row, NULL);
    if (st == GF_OK) st = gf_buffer_check(&key, NULL);
    if (st == GF_OK) st = gf_buffer_check(&column, NULL);
    if (st == GF_OK) st = gf_buffer_check(&value, NULL);
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, NULL);
    if (st == GF_OK) {
        gf_batch_put(batch, s->tables.collections, gf_buffer_view(&key), GF_COLLECTIONS_MAIN,
                     gf_buffer_view(&column), gf_buffer_view(&value), 0);
        st = gf_batch_write(batch, GF_SYNC_ON, NULL);
    }
    gf_batch_free(batch);
    gf_collection_row_release(&row);
    gf_buffer_release(&key);
    gf_buffer_release(&column);
    gf_buffer_release(&value);
    return st;
}

void gf_failure_note(gf_store *s, gf_place where, gf_slice configuration, gf_status status,
                     const char *message)
{
    gf_hold hold;
    if (!is_failure(status)) return;
    if (gf_hold_collection(s, where, &hold, NULL) == GF_OK)
        (void)write_failure(s, where, configuration, message);
    gf_hold_let_go(&hold);
}
