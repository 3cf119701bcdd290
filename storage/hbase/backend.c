#include "storage/hbase/backend.h"

#include "base/memory.h"
#include "storage/hbase/internal.h"

enum { CALL_MILLISECONDS = 60000 };

static gf_status compact(gf_backend *backend, unsigned milliseconds, const gf_cancel *cancel,
                         gf_error *err)
{
    (void)backend, (void)milliseconds, (void)cancel;
    return gf_fail(err, GF_EINVAL,
                   "HBase writes its files anew by itself: ask it for a major compaction, and "
                   "mind its archive and its logs, which keep what was deleted for a while");
}

static void close_backend(gf_backend *backend)
{
    gf_hbase *b = (gf_hbase *)backend;
    for (unsigned n = 1; n <= b->n_tables; n++)
        gf_free(b->tables[n]);
    gf_hbase_client_free(b->client);
    gf_arena_release(&b->memory);
    pthread_mutex_destroy(&b->hold_lock);
    pthread_mutex_destroy(&b->make_lock);
    pthread_mutex_destroy(&b->lock);
    gf_free(b);
}

/*
 * Rows are held within this process alone: collections hold themselves as well (storage/journal.h),
 * users' tables are whole without it, and of two processes that make or drop a table HBase refuses one.
 */
static gf_status hold_all(gf_backend *backend, unsigned table, const gf_slice *keys, size_t n,
                          gf_backend_hold **hold, gf_error *err)
{
    (void)table, (void)keys, (void)n, (void)err;
    pthread_mutex_lock(&((gf_hbase *)backend)->hold_lock);
    *hold = (gf_backend_hold *)backend;
    return GF_OK;
}

static void let_go_all(gf_backend *backend, gf_backend_hold *hold)
{
    (void)hold;
    pthread_mutex_unlock(&((gf_hbase *)backend)->hold_lock);
}

static const gf_backend_operations operations = {
    .capabilities = GF_BACKEND_NAMED | GF_BACKEND_SHARED,
    .open_table = gf_hbase_open_table,
    .schema_of = gf_hbase_schema_of,
    .has_table = gf_hbase_has_table,
    .keeps = gf_hbase_keeps,
    .visit_tables = gf_hbase_visit_tables,
    .visit_families = gf_hbase_visit_families,
    .get = gf_hbase_get,
    .check_row = gf_hbase_check_row,
    .scan_open = gf_hbase_scan_open,
    .scan_next = gf_hbase_scan_next,
    .scan_close = gf_hbase_scan_close,
    .hold = hold_all,
    .let_go = let_go_all,
    .write = gf_hbase_write,
    .increment = gf_hbase_increment,
    .drop_table = gf_hbase_drop_table,
    .alter_family = gf_hbase_alter_family,
    .compact = compact,
    .close = close_backend,
};

/* A gateway that speaks Thrift2 answers, and HBase has the namespace. */
static gf_status check_name_space(gf_hbase *b, gf_error *err)
{
    gf_hbase_call call = {0};
    gf_slice name = gf_slice_str(b->address.name_space);
    gf_hbase_call_begin(&call, "getNamespaceDescriptor");
    gf_thrift_string_field(&call.request, 1, name);
    gf_status st = gf_hbase_call_run(b->client, &call, GF_THRIFT_STRUCT, GF_HBASE_READS, err);
    if (st == GF_EINVAL && err && strstr(err->message, "NamespaceNotFoundException"))
        st = gf_fail(err, st,
                     "HBase has no namespace %s; create_namespace '%s' in HBase's shell makes it",
                     b->address.name_space, b->address.name_space);
    else if (st == GF_EINVAL)
        gf_error_prefix(err, "HBase's namespace %s", b->address.name_space);
    if (st == GF_EIO)
        gf_error_prefix(err, "no gateway answers that was started by `hbase thrift2 start -f`");
    gf_hbase_call_release(&call);
    return st;
}

gf_status gf_hbase_open(const char *url, gf_backend **backend, gf_error *err)
{
    gf_hbase *b = gf_calloc(1, sizeof *b);
    if (!b) return gf_fail_memory(err, "a database");
    b->base.operations = &operations;
    pthread_mutex_init(&b->hold_lock, NULL);
    pthread_mutex_init(&b->make_lock, NULL);
    pthread_mutex_init(&b->lock, NULL);
    gf_status st = gf_hbase_address_read(url, &b->address, err);
    if (st == GF_OK) st = gf_hbase_client_create(&b->address, CALL_MILLISECONDS, &b->client, err);
    if (st == GF_OK) st = check_name_space(b, err);
    if (st != GF_OK) {
        close_backend(&b->base);
        return st;
    }
    *backend = &b->base;
    return GF_OK;
}
