/* The store: its folder, its tables and its locks. */
#include "engine/store/store_internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "engine/rows/scan.h"
#include "engine/store/collections.h"
#include "engine/store/lease.h"
#include "storage/backend.h"
#include "storage/hbase/backend.h"
#include "storage/hbase/client.h"
#include "storage/leveldb/backend.h"

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { LEASE_SECONDS = 30, GRACE_SECONDS = 600 };

static void init_leases(gf_store *s)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->lease_changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&s->lease_lock, NULL);
    s->lease_seconds = s->patience = LEASE_SECONDS;
    s->grace = GRACE_SECONDS;
    if (getrandom(&s->token, sizeof s->token, 0) != sizeof s->token)
        s->token = (uint64_t)gf_clock_ms() << 22 ^ (uint64_t)getpid();
}

/* A folder, or an HBase, whose database knows its own way back after a failure. */
static gf_status open_database(gf_store *s, const char *path, const gf_hold_options *hold,
                               gf_error *err)
{
    gf_backend *backend;
    gf_status st;
    if (!gf_hbase_is_url(path)) {
        st = gf_folder_hold(path, hold, &s->folder, err);
        return st == GF_OK ? gf_folder_open(s->folder, &s->db, err) : st;
    }
    if (hold->read_only)
        return gf_fail(err, GF_EINVAL, "a store in HBase cannot be opened to be read only");
    st = gf_hbase_open(path, &backend, err);
    if (st != GF_OK) return st;
    st = gf_database_create(backend, &s->db, err);
    if (st != GF_OK) backend->operations->close(backend);
    return st;
}

gf_status gf_store_create(const char *path, const gf_store_options *options, gf_store **store,
                          gf_error *err)
{
    gf_store *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "a store");
    s->left_untidy = 1;
    pthread_mutex_init(&s->tidy_lock, NULL);
    init_leases(s);
    pthread_mutex_init(&s->user_lock, NULL);
    pthread_mutex_init(&s->drop_lock, NULL);
    gf_hold_options hold = {.create = options->create,
                            .wait_seconds = options->wait_seconds,
                            .purpose = options->purpose,
                            .cancel = options->cancel,
                            .small_buffers = options->small_buffers,
                            .read_only = options->read_only,
                            .reads = options->reads,
                            .in_memory = options->in_memory,
                            .archive = options->archive,
                            .archive_context = options->archive_context};
    s->buffers = options->small_buffers ? GF_LEVELDB_SMALL_BYTES : GF_LEVELDB_BYTES;
    gf_status st = open_database(s, path, &hold, err);
    if (st == GF_OK) st = gf_tables_open(s->db, &s->tables, err);
    if (st != GF_OK) {
        gf_store_free(s);
        return st;
    }
    *store = s;
    return GF_OK;
}

void gf_store_free(gf_store *s)
{
    gf_lease_stop_renewing(s);
    gf_database_close(s->db);
    gf_folder_release(s->folder);
    pthread_mutex_destroy(&s->tidy_lock);
    pthread_mutex_destroy(&s->lease_lock);
    pthread_cond_destroy(&s->lease_changed);
    pthread_mutex_destroy(&s->user_lock);
    pthread_mutex_destroy(&s->drop_lock);
    gf_free(s);
}

bool gf_store_has_failed(gf_store *s)
{
    return !s->db || gf_database_has_failed(s->db);
}

gf_status gf_store_check_room(const gf_store *s, gf_error *err)
{
    return s->folder ? gf_folder_check_room(s->folder, err) : GF_OK;
}

const char *gf_store_scratch(const gf_store *s)
{
    const char *temporary = getenv("TMPDIR");
    if (s->folder) return gf_folder_path(s->folder);
    return temporary && *temporary ? temporary : "/tmp";
}

gf_status gf_store_check_folder(const gf_store *s, gf_error *err)
{
    if (s->folder) return GF_OK;
    return gf_fail(err, GF_EINVAL, "this is of a store in a folder, and the store is in HBase");
}

/* Work that the failure cut short is cleared away by the next writer (gf_store_tidy). */
gf_status gf_store_reopen(gf_store *s, gf_error *err)
{
    if (!s->folder) return GF_OK; /* its connections come back by themselves */
    gf_database *db = NULL;
    gf_database_close(s->db);
    s->db = NULL;
    atomic_fetch_add(&s->left_untidy, 1);
    gf_status st = gf_folder_open(s->folder, &db, err);
    if (st == GF_OK) st = gf_tables_open(db, &s->tables, err);
    if (st == GF_OK)
        s->db = db;
    else
        gf_database_close(db);
    return st;
}

bool gf_store_is_read_only(const gf_store *s)
{
    return s->folder && gf_folder_is_read_only(s->folder);
}

bool gf_store_is_new(const gf_store *s)
{
    return s->folder && gf_folder_is_new(s->folder);
}

gf_database *gf_store_database(gf_store *s)
{
    return s->db;
}

/* ---- status ---------------------------------------------------------------------------------- */

typedef struct status_walk {
    gf_store *store;
    const gf_snapshot *snapshot;
    gf_store_status *status;
} status_walk;

static gf_status add_collection(void *context, const gf_row *found, gf_error *err)
{
    status_walk *w = context;
    gf_collection_row row = {.row = *found}; /* borrowed */
    bool deleting;
    gf_status st = gf_collection_row_decode(&row, err);
    if (st == GF_OK)
        st = gf_collection_is_deleting(w->store, w->snapshot, found->key, &deleting, err);
    if (st != GF_OK || deleting) return st;
    w->status->collections++;
    w->status->documents += row.size;
    return GF_OK;
}

/* A build with a mark is not finished, whether or not its own row is there already. */
static gf_status add_unfinished(void *context, const gf_row *found, gf_error *err)
{
    status_walk *w = context;
    gf_row row = {0};
    w->status->unfinished++;
    gf_status st = gf_table_get(w->store->tables.builds, w->snapshot, found->key,
                                1u << GF_BUILDS_MAIN, &row, err);
    gf_row_release(&row);
    if (st == GF_OK) w->status->builds--;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status read_status(status_walk *w, gf_error *err)
{
    const gf_tables *t = &w->store->tables;
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = w->snapshot, .family = GF_COLLECTIONS_MAIN);
    gf_scan_options progress =
        GF_SCAN_OPTIONS(.snapshot = w->snapshot, .family = GF_BUILDS_PROGRESS, .keys_only = true);
    uint64_t deleting = 0;
    gf_slice all = {0};
    gf_status st = gf_scan_each(t->collections, &o, add_collection, w, err);
    if (st == GF_OK)
        st = gf_scan_count(t->builds, w->snapshot, GF_BUILDS_MAIN, all, &w->status->builds, err);
    if (st == GF_OK) st = gf_scan_each(t->builds, &progress, add_unfinished, w, err);
    if (st == GF_OK)
        st = gf_scan_count(t->collections, w->snapshot, GF_COLLECTIONS_PROGRESS, all, &deleting,
                           err);
    w->status->unfinished += deleting;
    return st;
}

gf_status gf_store_read_status(gf_store *s, gf_store_status *status, gf_error *err)
{
    gf_store_status read = {0};
    gf_snapshot *snapshot = NULL;
    gf_status st = gf_snapshot_create(s->db, &snapshot, err);
    status_walk w = {s, snapshot, &read};
    if (st == GF_OK) st = read_status(&w, err);
    if (st == GF_OK && s->folder) st = gf_folder_size(s->folder, &read.bytes, err);
    gf_snapshot_free(snapshot);
    if (st == GF_OK) *status = read;
    return st;
}
