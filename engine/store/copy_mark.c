/* The mark of a copy. */
#include "engine/store/copy_mark.h"

#include "base/clock.h"
#include "base/number.h"
#include "storage/backend.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

enum { BEAT_SECONDS = 5, SILENCE_SECONDS = 30 };

#define SOURCE "copying"
#define OWNER  "copied_by"
#define TOKEN  "token"
#define BEAT   "beat"

static gf_status mark_key(gf_buffer *key, gf_error *err)
{
    gf_tables_collection_key(key, (gf_slice){0}, GF_SLICE("copy"));
    return gf_buffer_check(key, err);
}

gf_status gf_copy_mark_make(gf_slice from, gf_copy_mark *m, gf_error *err)
{
    char host[64] = "";
    uint64_t token;
    gethostname(host, sizeof host - 1);
    *m = (gf_copy_mark){.from = from};
    snprintf(m->owner, sizeof m->owner, "process %ld of %s", (long)getpid(), host);
    if (getrandom(&token, sizeof token, 0) != sizeof token)
        return gf_fail_errno(err, "random numbers");
    snprintf(m->token, sizeof m->token, "%016" PRIx64, token);
    return mark_key(&m->key, err);
}

void gf_copy_mark_release(gf_copy_mark *m)
{
    gf_buffer_release(&m->key);
}

static bool is_seen(const gf_copy_mark *m)
{
    return gf_database_capabilities(m->to) & GF_BACKEND_NAMED;
}

/* expected NULL: there is none yet. there: false takes it off. */
static gf_status write_mark(gf_copy_mark *m, const gf_slice *expected, bool there, gf_error *err)
{
    gf_batch *batch;
    gf_number_digits digits;
    gf_slice key = gf_buffer_view(&m->key);
    gf_column columns[] = {{GF_SLICE(SOURCE), m->from},
                           {GF_SLICE(OWNER), gf_slice_str(m->owner)},
                           {GF_SLICE(TOKEN), gf_slice_str(m->token)},
                           {GF_SLICE(BEAT), gf_number_write(&digits, ++m->beats)}};
    gf_status st = gf_batch_create(m->to, &batch, err);
    if (st != GF_OK) return st;
    if (there)
        gf_batch_replace(batch, m->tables, key, GF_TABLES_PROGRESS, columns, 4, 0);
    else
        gf_batch_delete_row(batch, m->tables, key, 1u << GF_TABLES_PROGRESS);
    st = gf_batch_write_if(batch, m->tables, key, GF_TABLES_PROGRESS, GF_SLICE(TOKEN), expected,
                           GF_SYNC_ON, err);
    gf_batch_free(batch);
    m->last = gf_clock_seconds();
    return st;
}

gf_status gf_copy_mark_put(gf_copy_mark *m, gf_database *to, gf_table *tables, gf_error *err)
{
    m->to = to;
    m->tables = tables;
    return write_mark(m, NULL, true, err);
}

gf_status gf_copy_mark_renew(gf_copy_mark *m, gf_error *err)
{
    gf_slice token = gf_slice_str(m->token);
    if (!is_seen(m) || gf_clock_seconds() - m->last <= BEAT_SECONDS) return GF_OK;
    return write_mark(m, &token, true, err);
}

void gf_copy_mark_guard(const gf_copy_mark *m, gf_batch *batch)
{
    if (is_seen(m))
        gf_batch_guard(batch, m->tables, gf_buffer_view(&m->key), GF_TABLES_PROGRESS,
                       GF_SLICE(TOKEN), gf_slice_str(m->token));
}

gf_status gf_copy_mark_remove(gf_copy_mark *m, gf_error *err)
{
    gf_slice token = gf_slice_str(m->token);
    return write_mark(m, &token, false, err);
}

bool gf_copy_mark_is(const gf_copy_mark *m, const gf_row *row)
{
    const gf_cell *token = gf_row_find(row, GF_TABLES_PROGRESS, TOKEN);
    return token && gf_slice_equal(token->value, gf_slice_str(m->token));
}

gf_status gf_copy_mark_read(gf_store *s, gf_row *row, gf_error *err)
{
    gf_buffer key = {0};
    gf_status st = mark_key(&key, err);
    if (st == GF_OK)
        st = gf_table_get(s->tables.tables, NULL, gf_buffer_view(&key), 1u << GF_TABLES_PROGRESS,
                          row, err);
    gf_buffer_release(&key);
    if (st == GF_OK && !gf_row_find(row, GF_TABLES_PROGRESS, SOURCE)) st = GF_ENOTFOUND;
    return st;
}

gf_slice gf_copy_mark_owner(const gf_row *row)
{
    const gf_cell *owner = gf_row_find(row, GF_TABLES_PROGRESS, OWNER);
    return owner ? owner->value : GF_SLICE("another process");
}

gf_status gf_copy_mark_watch(gf_store *s, const gf_row *mark, const gf_cancel *cancel,
                             bool *changed, gf_error *err)
{
    gf_row row = {0};
    double end = gf_clock_seconds() + SILENCE_SECONDS;
    gf_status st = GF_OK;
    const gf_cell *was = gf_row_find(mark, GF_TABLES_PROGRESS, BEAT);
    *changed = false;
    while (st == GF_OK && !*changed && gf_clock_seconds() < end) {
        usleep(200000);
        st = gf_cancel_check(cancel, err);
        if (st == GF_OK) st = gf_copy_mark_read(s, &row, err);
        const gf_cell *is = st == GF_OK ? gf_row_find(&row, GF_TABLES_PROGRESS, BEAT) : NULL;
        *changed = st == GF_ENOTFOUND || (is && !(was && gf_slice_equal(is->value, was->value)));
        if (st == GF_ENOTFOUND) st = GF_OK;
    }
    gf_row_release(&row);
    return st;
}

gf_status gf_copy_mark_check(gf_store *s, const char *path, gf_error *err)
{
    gf_row row = {0};
    gf_status st = gf_copy_mark_read(s, &row, err);
    if (st == GF_OK) {
        gf_slice from = gf_row_find(&row, GF_TABLES_PROGRESS, SOURCE)->value;
        st = gf_fail(err, GF_EINVAL,
                     "%s is a copy of %.*s that is not whole: it is being made, or was cut short; "
                     "then grouperfish copy begins it anew",
                     path ? path : "the store", GF_SLICE_ARG(from));
    } else if (st != GF_ENOMEM) {
        st = GF_OK; /* what is damaged is found by who reads it */
    }
    gf_row_release(&row);
    return st;
}
