/*
 * Checking a store: every byte of its files, then that the tables agree with each other.
 *
 * A log that is cut at its end counts as a normal end for LevelDB, so what is there must also add
 * up: sizes with documents, clusters with memberships, pointers with builds.
 */
#include "engine/upkeep/verify_internal.h"

#include "base/options.h"
#include "engine/rows/scan.h"
#include "engine/store/lease.h"
#include "engine/user_tables/user_tables_internal.h"

#include <inttypes.h>

static gf_status count_table(gf_verifying *c, gf_table *table, unsigned family, uint64_t said,
                             const char *what, gf_error *err)
{
    gf_scan *scan;
    gf_row row = {0};
    uint64_t n = 0;
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = c->snapshot, .family = family, .keys_only = true);
    gf_status st = gf_scan_open(table, &o, &scan, err);
    if (st != GF_OK) return st;
    while ((st = gf_scan_next(scan, &row, err)) == GF_OK)
        n++;
    gf_scan_close(scan);
    gf_row_release(&row);
    if (st != GF_ENOTFOUND) return gf_audit_read(&c->audit, st, what, err);
    if (n == said) return GF_OK;
    return gf_audit_fault(&c->audit, what, err,
                          "%" PRIu64 " entries are there, %" PRIu64 " are accounted for", n, said);
}

static gf_status check_totals(gf_verifying *c, gf_error *err)
{
    gf_tables *t = &c->audit.store->tables;
    gf_store_status status;
    gf_status st = gf_store_read_status(c->audit.store, &status, err);
    if (st != GF_OK) return gf_audit_read(&c->audit, st, "tables", err);
    if (c->unfinished || status.unfinished || c->audit.faults) return GF_OK;
    st = count_table(c, t->documents, GF_DOCUMENTS_MAIN, c->documents, "table documents", err);
    if (st == GF_OK)
        st = count_table(c, t->clusters, GF_CLUSTERS_MAIN, c->clusters, "table clusters", err);
    if (st == GF_OK)
        st =
            count_table(c, t->clusters, GF_CLUSTERS_DOCUMENTS, c->listed, "lists of clusters", err);
    if (st == GF_OK)
        st = count_table(c, t->clusters, GF_CLUSTERS_RANKED, c->listed, "ranks of clusters", err);
    if (st == GF_OK)
        st = count_table(c, t->memberships, GF_MEMBERSHIPS_MAIN, c->memberships,
                         "table memberships", err);
    if (st == GF_OK)
        st = count_table(c, t->builds, GF_BUILDS_MAIN, c->found.builds, "table builds", err);
    return st;
}

/* Leases are of a collection that is there, and say whose they are; a living one is no fault. */
static gf_status check_lease(void *context, const gf_row *row, gf_error *err)
{
    gf_verifying *c = context;
    gf_buffer name = {0};
    gf_row main = {0};
    gf_table *t = c->audit.store->tables.collections;
    gf_status st = gf_tables_key_last_string(t, row->key, &name, err);
    for (size_t i = 0; i < row->n_cells && st == GF_OK; i++) {
        uint64_t seq, beat;
        gf_slice owner;
        if (!gf_lease_read(row->cells[i].value, &seq, &beat, &owner))
            st = gf_audit_fault(&c->audit, gf_buffer_cstr(&name), err, "a lease is damaged");
    }
    if (st == GF_OK)
        st = gf_table_get(t, c->snapshot, row->key, 1u << GF_COLLECTIONS_MAIN, &main, err);
    if (st == GF_ENOTFOUND)
        st = gf_audit_fault(&c->audit, gf_buffer_cstr(&name), err, "a lease is of no collection");
    gf_row_release(&main);
    gf_buffer_release(&name);
    return st;
}

static gf_status check_leases(gf_verifying *c, gf_error *err)
{
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = c->snapshot, .family = GF_COLLECTIONS_LEASES);
    return gf_scan_each(c->audit.store->tables.collections, &o, check_lease, c, err);
}

static gf_status check_tables(gf_verifying *c, gf_verify_more *more, gf_error *err)
{
    gf_scan *scan = NULL;
    gf_collection_row row = {0};
    gf_status st = gf_snapshot_create(c->audit.store->db, &c->snapshot, err);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = c->snapshot, .family = GF_COLLECTIONS_MAIN);
    if (st == GF_OK) st = gf_scan_open(c->audit.store->tables.collections, &o, &scan, err);
    while (st == GF_OK && (st = gf_scan_next(scan, &row.row, err)) == GF_OK)
        st = gf_verify_collection(c, &row, err);
    gf_scan_close(scan);
    gf_collection_row_release(&row);
    if (st == GF_ENOTFOUND) st = GF_OK;
    if (st == GF_OK) st = check_leases(c, err);
    st = gf_audit_read(&c->audit, st, "table collections", err);
    if (st == GF_OK) st = check_totals(c, err);
    if (st == GF_OK) st = gf_user_tables_verify(&c->audit, &c->found, err);
    st = gf_audit_read(&c->audit, st, "table tables", err);
    if (st == GF_OK && more) {
        gf_audit *a = &c->audit;
        c->found.faults = a->faults;
        st = more(a->store, a->cancel, a->visit, a->context, &c->found, err);
        a->faults = c->found.faults;
        st = gf_audit_read(a, st, "tables of applications", err);
    }
    gf_snapshot_free(c->snapshot);
    return st;
}

static void report_file(void *context, const char *file, const char *what)
{
    gf_verifying *c = context;
    c->audit.faults++;
    if (c->visit_error.status == GF_OK) {
        gf_status st = c->audit.visit(c->audit.context, file, what, &c->visit_error);
        c->visit_error.status = st;
    }
}

static gf_status check_files(gf_verifying *c, const char *path, const gf_store_options *options,
                             gf_error *err)
{
    gf_folder *folder;
    gf_hold_options hold = {.wait_seconds = options->wait_seconds,
                            .purpose = options->purpose,
                            .cancel = options->cancel,
                            .read_only = true};
    gf_status st = gf_folder_hold(path, &hold, &folder, err);
    if (st != GF_OK) return gf_audit_read(&c->audit, st, path, err);
    st = gf_folder_check(folder, report_file, c, options->cancel, err);
    gf_folder_release(folder);
    if (st == GF_OK && c->visit_error.status != GF_OK) {
        *err = c->visit_error;
        st = err->status;
    }
    return st;
}

gf_status gf_verify(const char *path, const gf_store_options *options, gf_visit_fault *visit,
                    void *context, gf_verified *verified, gf_error *err)
{
    gf_status known =
        gf_options_check(options->version, GF_STORE_OPTIONS_VERSION, "gf_store_options", err);
    if (known != GF_OK) return known;
    gf_error own;
    if (!err) err = &own;
    gf_verifying c = {.audit = {.cancel = options->cancel, .visit = visit, .context = context}};
    gf_status st = check_files(&c, path, options, err);
    uint64_t in_files = c.audit.faults;
    if (st == GF_OK) {
        gf_store_options open = *options;
        open.create = false;
        open.read_only = true;
        st = gf_store_open(path, &open, &c.audit.store, err);
        /* Damage that keeps the store from opening was reported with the files, if they have any. */
        if (st == GF_ECORRUPT && in_files) st = GF_OK;
        st = gf_audit_read(&c.audit, st, path, err);
    }
    if (st == GF_OK && c.audit.store) st = check_tables(&c, options->more, err);
    gf_store_close(c.audit.store);
    if (st != GF_OK) return st;
    *verified = c.found;
    verified->faults = c.audit.faults;
    return GF_OK;
}
