#include "engine/store/lease.h"

#include "base/clock.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "storage/hbase/client.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#define CONFIGURATION "configuration:"
#define COLLECTION    "collection"

struct gf_lease {
    struct gf_lease *next;
    gf_store *store;
    gf_buffer key;
    uint64_t seq;
    uint64_t stamp; /* of the batch that put the mark, where rows hold themselves */
    char owner[GF_OWNER_BYTES];
    gf_buffer column; /* of its cell, in a shared store */
    uint64_t beat;    /* of the cell as it was last written; the renewing thread's */
    double renewed;   /* by gf_clock_seconds; under lease_lock, as are the next */
    double tried;     /* to be renewed, or taken */
    bool lost;        /* the cell is another's, or gone */
    bool renewing;    /* just now: it must not end */
};

/** A cell of somebody's as it was seen, in the store's list. */
typedef struct gf_seen_lease {
    uint64_t of, value; /* hashes */
    double since, last; /* unchanged; looked at */
} gf_seen_lease;

bool gf_store_is_shared(const gf_store *s)
{
    return gf_database_capabilities(s->db) & GF_BACKEND_SHARED || gf_database_holds_in_rows(s->db);
}

void gf_store_name_owner(const gf_store *s, char name[GF_OWNER_BYTES])
{
    char host[65] = "";
    long process = (long)getpid();
    if (!gf_store_is_shared(s)) {
        snprintf(name, GF_OWNER_BYTES, "process %ld", process);
        return;
    }
    gethostname(host, sizeof host - 1);
    snprintf(name, GF_OWNER_BYTES, "process %ld of %s, %016" PRIx64, process, host, s->token);
}

gf_slice gf_lease_collection(gf_slice key)
{
    size_t name_space = gf_key_string_length(key);
    size_t collection = gf_key_string_length(gf_slice_skip(key, name_space));
    return gf_slice_of(key.ptr, name_space + collection);
}

/* ---- the cell -------------------------------------------------------------------------------- */

/* The column of a lease with a key; of a key that is a collection's: its deletion's. */
static gf_status name_column(gf_slice key, gf_buffer *column, gf_error *err)
{
    gf_slice rest = gf_slice_skip(key, gf_lease_collection(key).len);
    gf_buffer_str(column, rest.len ? CONFIGURATION : COLLECTION);
    if (rest.len && !gf_key_take_string(&rest, column))
        return gf_fail(err, GF_ECORRUPT, "a lease's key is damaged");
    return gf_buffer_check(column, err);
}

static gf_status write_value(const gf_lease *l, uint64_t beat, gf_buffer *value, gf_error *err)
{
    gf_buffer_reset(value);
    gf_buffer_format(value, "%" PRIu64 " %" PRIu64 " %s", l->seq, beat, l->owner);
    return gf_buffer_check(value, err);
}

bool gf_lease_read(gf_slice value, uint64_t *seq, uint64_t *beat, gf_slice *owner)
{
    uint64_t *const numbers[] = {seq, beat};
    for (int i = 0; i < 2; i++) {
        if (!gf_number_take(&value, 20, numbers[i]) || !value.len || value.ptr[0] != ' ')
            return false;
        value = gf_slice_skip(value, 1);
    }
    *owner = value;
    return value.len > 0;
}

/* The collection's cells; an empty row where there are none. */
static gf_status read_cells(gf_store *s, gf_slice collection_key, gf_row *row, gf_error *err)
{
    gf_status st = gf_table_get(s->tables.collections, NULL, collection_key,
                                1u << GF_COLLECTIONS_LEASES, row, err);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* ---- does it live? --------------------------------------------------------------------------- */

/* The lease of this process that an owner names, or NULL; under lease_lock. */
static gf_lease *find_own(gf_store *s, gf_slice owner)
{
    gf_lease *l = s->leases;
    while (l && !gf_slice_equal(gf_slice_str(l->owner), owner))
        l = l->next;
    return l;
}

/* Owners of this process begin so; those that are in no list have ended. */
static bool is_of_store(const gf_store *s, gf_slice owner)
{
    char name[GF_OWNER_BYTES];
    gf_store_name_owner(s, name);
    return gf_slice_starts(owner, gf_slice_str(name));
}

/* Forget what nobody has asked for in a long time; under lease_lock. */
static void forget_seen(gf_store *s, double now)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_seen; i++)
        if (now - s->seen[i].last <= 100 * s->patience) s->seen[kept++] = s->seen[i];
    s->n_seen = kept;
}

/* Has it been seen unchanged for the time of a lease? Where memory is short, it has not. */
static bool has_ended(gf_store *s, gf_slice key, gf_slice column, gf_slice value)
{
    uint64_t of = XXH64(column.ptr, column.len, XXH64(key.ptr, key.len, 0));
    uint64_t hash = XXH64(value.ptr, value.len, 0);
    double now = gf_clock_seconds();
    bool ended = false;
    pthread_mutex_lock(&s->lease_lock);
    size_t i = 0;
    while (i < s->n_seen && s->seen[i].of != of)
        i++;
    if (i == s->n_seen) {
        forget_seen(s, now);
        i = s->n_seen;
        if (gf_grow(&s->seen, &s->seen_capacity, i + 1, sizeof *s->seen))
            s->seen[s->n_seen++] = (gf_seen_lease){of, hash, now, now};
    } else if (s->seen[i].value != hash) {
        s->seen[i] = (gf_seen_lease){of, hash, now, now};
    }
    if (i < s->n_seen) {
        s->seen[i].last = now;
        ended = now - s->seen[i].since >= s->patience;
    }
    pthread_mutex_unlock(&s->lease_lock);
    return ended;
}

/* A value that cannot be read is of nobody who could renew it. */
static bool cell_lives(gf_store *s, gf_slice collection_key, const gf_cell *cell, gf_slice *owner)
{
    uint64_t seq, beat;
    if (!gf_lease_read(cell->value, &seq, &beat, owner)) *owner = cell->value;
    pthread_mutex_lock(&s->lease_lock);
    bool own = find_own(s, *owner) != NULL;
    pthread_mutex_unlock(&s->lease_lock);
    if (own) return true;
    if (!gf_store_is_shared(s) || is_of_store(s, *owner)) return false;
    return !has_ended(s, collection_key, cell->qualifier, cell->value);
}

/* Is it in the way of work below a key? A deletion of the collection is in that of all. */
static bool is_in_way(const gf_cell *cell, gf_slice column)
{
    return !column.len || gf_slice_equal(cell->qualifier, column) ||
           gf_slice_equal(cell->qualifier, GF_SLICE(COLLECTION));
}

static gf_status find_shared(gf_store *s, gf_slice key_start, gf_lease_owner *found, gf_error *err)
{
    gf_row row = {0};
    gf_buffer column = {0};
    gf_slice of_collection = gf_lease_collection(key_start), owner;
    gf_status st = read_cells(s, of_collection, &row, err);
    if (st == GF_OK && key_start.len > of_collection.len) st = name_column(key_start, &column, err);
    for (size_t i = 0; i < row.n_cells && st == GF_OK && !found->living; i++) {
        const gf_cell *cell = &row.cells[i];
        if (!is_in_way(cell, gf_buffer_view(&column)) ||
            !cell_lives(s, of_collection, cell, &owner))
            continue;
        found->living = true;
        if (!is_of_store(s, owner))
            snprintf(found->by, sizeof found->by, " by %.*s", GF_SLICE_ARG(owner));
    }
    gf_row_release(&row);
    gf_buffer_release(&column);
    return st;
}

gf_status gf_lease_find(gf_store *s, gf_slice key_start, gf_lease_owner *owner, gf_error *err)
{
    *owner = (gf_lease_owner){false, ""};
    pthread_mutex_lock(&s->lease_lock);
    const gf_lease *l = s->leases;
    while (l && !gf_slice_starts(gf_buffer_view(&l->key), key_start))
        l = l->next;
    pthread_mutex_unlock(&s->lease_lock);
    owner->living = l != NULL;
    return l || !gf_store_is_shared(s) ? GF_OK : find_shared(s, key_start, owner, err);
}

gf_status gf_lease_stands_behind(gf_store *s, gf_slice key, gf_slice owner, bool *living,
                                 bool *by_age, gf_error *err)
{
    gf_row row = {0};
    gf_slice of_collection = gf_lease_collection(key), name;
    pthread_mutex_lock(&s->lease_lock);
    const gf_lease *l = s->leases;
    while (l && !gf_slice_starts(gf_buffer_view(&l->key), key))
        l = l->next;
    *living = l != NULL;
    *by_age = false;
    pthread_mutex_unlock(&s->lease_lock);
    if (*living || !gf_store_is_shared(s)) return GF_OK;
    bool has_cell = false, by_rows = gf_database_holds_in_rows(s->db);
    gf_status st = read_cells(s, of_collection, &row, err);
    for (size_t i = 0; i < row.n_cells && st == GF_OK && !has_cell; i++) {
        bool lives = cell_lives(s, of_collection, &row.cells[i], &name);
        has_cell = gf_slice_equal(name, owner);
        *living = has_cell && lives;
    }
    *by_age = st == GF_OK && !has_cell && by_rows;
    if (st == GF_OK && !has_cell && !by_rows)
        *living = !is_of_store(s, owner) && !has_ended(s, key, GF_SLICE(""), owner);
    gf_row_release(&row);
    return st;
}

gf_status gf_lease_lower_seq(gf_store *s, gf_slice collection_key, uint64_t *seq, gf_error *err)
{
    gf_row row = {0};
    uint64_t lowest = *seq, of_cell, beat;
    gf_slice owner;
    gf_status st = gf_store_is_shared(s) ? read_cells(s, collection_key, &row, err) : GF_OK;
    pthread_mutex_lock(&s->lease_lock);
    for (const gf_lease *l = s->leases; l; l = l->next)
        if (gf_slice_starts(gf_buffer_view(&l->key), collection_key) && l->seq < lowest)
            lowest = l->seq;
    pthread_mutex_unlock(&s->lease_lock);
    for (size_t i = 0; i < row.n_cells && st == GF_OK; i++)
        if (gf_lease_read(row.cells[i].value, &of_cell, &beat, &owner) && of_cell < lowest)
            lowest = of_cell;
    gf_row_release(&row);
    if (st == GF_OK) *seq = lowest;
    return st;
}

uint64_t gf_lease_count(gf_store *s)
{
    uint64_t n = 0;
    pthread_mutex_lock(&s->lease_lock);
    for (const gf_lease *l = s->leases; l; l = l->next)
        n += l->seq != 0;
    pthread_mutex_unlock(&s->lease_lock);
    return n;
}

gf_status gf_lease_clear(gf_store *s, gf_slice collection_key, gf_batch *batch, gf_error *err)
{
    gf_row row = {0};
    gf_slice owner;
    gf_status st = read_cells(s, collection_key, &row, err);
    for (size_t i = 0; i < row.n_cells && st == GF_OK; i++)
        if (!cell_lives(s, collection_key, &row.cells[i], &owner))
            gf_batch_delete_cell(batch, s->tables.collections, collection_key,
                                 GF_COLLECTIONS_LEASES, row.cells[i].qualifier);
    gf_row_release(&row);
    return st == GF_OK && gf_batch_changes(batch) ? gf_batch_write(batch, GF_SYNC_ON, err) : st;
}

/* ---- renewing -------------------------------------------------------------------------------- */

/* The beat that the cell has, where it is this lease's. */
static gf_status read_beat(const gf_lease *l, bool *mine, uint64_t *beat, gf_error *err)
{
    gf_row row = {0};
    uint64_t seq;
    gf_slice owner;
    gf_status st = read_cells(l->store, gf_lease_collection(gf_buffer_view(&l->key)), &row, err);
    *mine = false;
    for (size_t i = 0; i < row.n_cells && st == GF_OK && !*mine; i++)
        *mine = gf_slice_equal(row.cells[i].qualifier, gf_buffer_view(&l->column)) &&
                gf_lease_read(row.cells[i].value, &seq, beat, &owner) &&
                gf_slice_equal(owner, gf_lease_name(l));
    gf_row_release(&row);
    return st;
}

/* Write the cell anew, or delete it, where it is as it was written last. */
static gf_status try_to_change(gf_lease *l, bool deletes, gf_error *err)
{
    gf_store *s = l->store;
    gf_table *t = s->tables.collections;
    gf_slice key = gf_lease_collection(gf_buffer_view(&l->key)),
             column = gf_buffer_view(&l->column);
    gf_buffer before = {0}, after = {0};
    gf_batch *batch = NULL;
    gf_status st = write_value(l, l->beat, &before, err);
    if (st == GF_OK) st = write_value(l, l->beat + 1, &after, err);
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, err);
    if (st == GF_OK) {
        gf_slice expected = gf_buffer_view(&before);
        if (deletes)
            gf_batch_delete_cell(batch, t, key, GF_COLLECTIONS_LEASES, column);
        else
            gf_batch_put(batch, t, key, GF_COLLECTIONS_LEASES, column, gf_buffer_view(&after), 0);
        st = gf_batch_write_if(batch, t, key, GF_COLLECTIONS_LEASES, column, &expected, GF_SYNC_ON,
                               err);
    }
    if (st == GF_OK) l->beat++;
    gf_batch_free(batch);
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    return st;
}

/* A renewal may have been made though its answer was lost: then the cell is a beat further. */
static gf_status change_cell(gf_lease *l, bool deletes, gf_error *err)
{
    gf_status st;
    while ((st = try_to_change(l, deletes, err)) == GF_ECONFLICT) {
        bool mine;
        uint64_t beat;
        st = read_beat(l, &mine, &beat, err);
        if (st != GF_OK) return st;
        if (!mine || beat == l->beat)
            return gf_fail(err, GF_ECONFLICT, "another process has the lease");
        l->beat = beat;
    }
    return st;
}

/* The lease that is due for renewal, and was not tried for longest; under lease_lock. */
static gf_lease *find_due(gf_store *s, double now)
{
    gf_lease *due = NULL;
    for (gf_lease *l = s->leases; l; l = l->next)
        if (!l->lost && now - l->renewed >= s->lease_seconds / 3 &&
            now - l->tried >= s->lease_seconds / 12 && (!due || l->tried < due->tried))
            due = l;
    return due;
}

static void wait_a_while(gf_store *s)
{
    struct timespec until;
    double seconds = s->lease_seconds / 12;
    clock_gettime(CLOCK_MONOTONIC, &until);
    seconds += (double)until.tv_nsec / 1e9;
    until.tv_sec += (time_t)seconds;
    until.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9);
    pthread_cond_timedwait(&s->lease_changed, &s->lease_lock, &until);
}

/*
 * The thread. A renewal that fails otherwise than by another's cell is tried again. None waits for long,
 * so that there are several tries in the time of a lease, and those of other leases between.
 */
static void *renew(void *context)
{
    gf_store *s = context;
    gf_hbase_client_limit(s->lease_seconds / 6);
    pthread_mutex_lock(&s->lease_lock);
    while (!s->stops_renewing) {
        double now = gf_clock_seconds();
        gf_lease *l = find_due(s, now);
        if (!l) {
            wait_a_while(s);
            continue;
        }
        l->renewing = true;
        pthread_mutex_unlock(&s->lease_lock);
        gf_status st = change_cell(l, false, NULL);
        pthread_mutex_lock(&s->lease_lock);
        l->renewing = false;
        l->tried = gf_clock_seconds();
        if (st == GF_OK) l->renewed = now;
        if (st == GF_ECONFLICT) l->lost = true;
        pthread_cond_broadcast(&s->lease_changed);
    }
    pthread_mutex_unlock(&s->lease_lock);
    return NULL;
}

/* Under lease_lock. */
static gf_status start_renewing(gf_store *s, gf_error *err)
{
    if (s->renews) return GF_OK;
    s->stops_renewing = false;
    s->renews = pthread_create(&s->renewer, NULL, renew, s) == 0;
    return s->renews ? GF_OK : gf_fail(err, GF_ENOMEM, "no thread to renew a lease");
}

void gf_lease_stop_renewing(gf_store *s)
{
    if (s->renews) {
        pthread_mutex_lock(&s->lease_lock);
        s->stops_renewing = true;
        pthread_cond_broadcast(&s->lease_changed);
        pthread_mutex_unlock(&s->lease_lock);
        pthread_join(s->renewer, NULL);
        s->renews = false;
    }
    gf_free(s->seen);
    s->seen = NULL;
    s->n_seen = s->seen_capacity = 0;
}

/* ---- taking and ending ----------------------------------------------------------------------- */

static void free_lease(gf_lease *l)
{
    gf_buffer_release(&l->key);
    gf_buffer_release(&l->column);
    gf_free(l);
}

/* Its cell, in a shared store. */
static gf_status put_cell(gf_lease *l, gf_batch *batch, gf_error *err)
{
    gf_buffer value = {0};
    gf_slice key = gf_buffer_view(&l->key);
    gf_status st = name_column(key, &l->column, err);
    if (st == GF_OK) st = write_value(l, l->beat, &value, err);
    if (st == GF_OK)
        gf_batch_put(batch, l->store->tables.collections, gf_lease_collection(key),
                     GF_COLLECTIONS_LEASES, gf_buffer_view(&l->column), gf_buffer_view(&value), 0);
    gf_buffer_release(&value);
    return st;
}

gf_status gf_lease_take(gf_store *s, gf_slice key, uint64_t seq, gf_batch *batch, gf_lease **lease,
                        gf_error *err)
{
    bool shared = gf_store_is_shared(s);
    gf_lease *l = gf_calloc(1, sizeof *l);
    if (!l) return gf_fail_memory(err, "a lease");
    *l = (gf_lease){.store = s, .seq = seq, .renewed = gf_clock_seconds()};
    l->tried = l->renewed;
    if (gf_database_holds_in_rows(s->db)) l->stamp = gf_hold_stamp(s->db) + 1;
    gf_store_name_owner(s, l->owner);
    gf_buffer_slice(&l->key, key);
    gf_status st = gf_buffer_check(&l->key, err);
    pthread_mutex_lock(&s->lease_lock);
    size_t length = strlen(l->owner);
    uint64_t number = ++s->lease_number;
    if (shared) snprintf(l->owner + length, sizeof l->owner - length, ".%" PRIu64, number);
    if (st == GF_OK && shared) st = start_renewing(s, err);
    pthread_mutex_unlock(&s->lease_lock);
    if (st == GF_OK && shared) st = put_cell(l, batch, err);
    if (st != GF_OK) {
        free_lease(l);
        return st;
    }
    pthread_mutex_lock(&s->lease_lock);
    l->next = s->leases;
    s->leases = l;
    pthread_mutex_unlock(&s->lease_lock);
    *lease = l;
    return GF_OK;
}

gf_slice gf_lease_name(const gf_lease *l)
{
    return gf_slice_str(l->owner);
}

bool gf_lease_is_mine(const gf_lease *l)
{
    gf_store *s = l->store;
    if (!gf_store_is_shared(s)) return true;
    pthread_mutex_lock(&s->lease_lock);
    bool mine = !l->lost && gf_clock_seconds() - l->renewed < s->lease_seconds * 5 / 6;
    pthread_mutex_unlock(&s->lease_lock);
    return mine;
}

gf_status gf_lease_give_up(const gf_lease *l, gf_batch *batch, gf_error *err)
{
    gf_store *s = l->store;
    bool mine;
    uint64_t beat;
    if (!gf_store_is_shared(s)) return GF_OK;
    gf_status st = read_beat(l, &mine, &beat, err);
    if (st == GF_OK && !mine)
        st = gf_fail(err, GF_ECONFLICT,
                     "another process has taken over, since this one was silent "
                     "for longer than its lease");
    if (st == GF_OK)
        gf_batch_delete_cell(batch, s->tables.collections,
                             gf_lease_collection(gf_buffer_view(&l->key)), GF_COLLECTIONS_LEASES,
                             gf_buffer_view(&l->column));
    return st;
}

gf_status gf_lease_check_mark(const gf_lease *l, gf_table *table, unsigned progress, gf_error *err)
{
    gf_row row = {0};
    if (!gf_store_is_shared(l->store)) return GF_OK;
    gf_status st = gf_table_get(table, NULL, gf_buffer_view(&l->key), 1u << progress, &row, err);
    const gf_cell *cell = st == GF_OK ? gf_row_find(&row, progress, "owner") : NULL;
    bool names = cell && gf_slice_equal(cell->value, gf_lease_name(l));
    gf_row_release(&row);
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    if (names) return GF_OK;
    return gf_fail(err, GF_ECONFLICT, "another process is dropping what was being made");
}

void gf_lease_guard(const gf_lease *l, gf_table *table, unsigned progress, gf_batch *batch)
{
    if (gf_store_is_shared(l->store))
        gf_batch_guard(batch, table, gf_buffer_view(&l->key), progress, GF_SLICE("owner"),
                       gf_lease_name(l));
    gf_batch_stamp(batch, l->stamp);
}

uint64_t gf_lease_stamp(const gf_lease *l)
{
    return l->stamp;
}

void gf_lease_end(gf_lease *l)
{
    if (!l) return;
    gf_store *s = l->store;
    pthread_mutex_lock(&s->lease_lock);
    while (l->renewing)
        pthread_cond_wait(&s->lease_changed, &s->lease_lock);
    gf_lease **at = &s->leases;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    pthread_mutex_unlock(&s->lease_lock);
    if (gf_store_is_shared(s) && !l->lost) (void)change_cell(l, true, NULL);
    free_lease(l);
}
