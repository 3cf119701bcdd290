/*
 * Repairing: a new store of what can be read of a damaged one.
 *
 *     rescue       every entry that lies outside the damage (storage/folder/rescue.c)
 *     rows         those that cannot be read are deleted: a value that lost a block, say
 *     tables       of users whose name or schema is lost go, if that was asked for
 *     collections  repair_collections.c
 *     builds       repair_builds.c
 *     more         what others keep in tables of their own (options->more_repair)
 *     verify       the whole of it; what has a fault gets no name
 *
 * A deletion that lay in the damage is undone where the deleted row lay outside: nothing shows it.
 */
#include "engine/upkeep/repair_internal.h"

#include "base/options.h"
#include "base/strings.h"
#include "engine/rows/scan.h"
#include "engine/store/hold.h"
#include "engine/user_tables/user_tables_internal.h"

#include <inttypes.h>
#include <stdio.h>

gf_status gf_repair_tell(gf_repairing *r, const char *where, const char *what, gf_error *err)
{
    return r->visit(r->context, where, what, err);
}

gf_status gf_repair_tell_of(gf_repairing *r, gf_place where, gf_slice configuration, uint64_t build,
                            const char *what, gf_error *err)
{
    gf_buffer name = {0};
    gf_buffer_format(&name, "collection \"%.*s\"", GF_SLICE_ARG(where.collection));
    if (configuration.len)
        gf_buffer_format(&name, ", configuration \"%.*s\"", GF_SLICE_ARG(configuration));
    if (build) gf_buffer_format(&name, ", build %" PRIu64, build);
    gf_status st = gf_buffer_check(&name, err);
    if (st == GF_OK) st = gf_repair_tell(r, gf_buffer_cstr(&name), what, err);
    gf_buffer_release(&name);
    return st;
}

gf_status gf_repair_flush(gf_repairing *r, size_t most, gf_error *err)
{
    if (most && gf_batch_changes(r->batch) <= most) return GF_OK;
    gf_status st = gf_batch_write(r->batch, GF_SYNC_ON, err);
    return st == GF_OK ? gf_cancel_check(r->cancel, err) : st;
}

/* ---- rescue ---------------------------------------------------------------------------------- */

static void note_damage(void *context, const char *file, const char *what)
{
    gf_repairing *r = context;
    r->found.damages++;
    if (r->visit_error.status == GF_OK)
        r->visit_error.status = gf_repair_tell(r, file, what, &r->visit_error);
}

static gf_status fill_store(void *context, gf_database *db, gf_error *err)
{
    gf_repairing *r = context;
    gf_tables tables;
    gf_status st = gf_folder_rescue(r->from, db, note_damage, r, r->cancel, &r->rescued, err);
    if (st == GF_OK && r->visit_error.status != GF_OK) {
        if (err) *err = r->visit_error;
        st = r->visit_error.status;
    }
    /* They get the numbers that they had. */
    return st == GF_OK && !r->rescued.names ? gf_tables_open(db, &tables, err) : st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct row_walk {
    gf_repairing *r;
    gf_table *table;
    unsigned family;
    bool wide;
    gf_row row;
} row_walk;

static gf_status try_row(void *context, const gf_row *found, gf_error *err)
{
    row_walk *w = context;
    gf_error why = {GF_OK, ""};
    uint32_t family = UINT32_C(1) << w->family;
    gf_slice qualifier = w->wide ? found->cells[0].qualifier : (gf_slice){0};
    gf_status st = w->wide ? gf_table_get_cell(w->table, NULL, found->key, w->family, qualifier, 1,
                                               &w->row, &why)
                           : gf_table_get(w->table, NULL, found->key, family, &w->row, &why);
    if (st == GF_OK || st == GF_ENOTFOUND) return gf_cancel_check(w->r->cancel, err);
    if (st != GF_ECORRUPT) {
        if (err) *err = why;
        return st;
    }
    w->r->found.rows++;
    if (w->wide)
        gf_batch_delete_cell(w->r->batch, w->table, found->key, w->family, qualifier);
    else
        gf_batch_delete_row(w->r->batch, w->table, found->key, family);
    st = gf_repair_tell(w->r, gf_table_schema(w->table)->name, why.message, err);
    return st == GF_OK ? gf_repair_flush(w->r, GF_REPAIR_CHANGES, err) : st;
}

/* The first entry of each block of a run: what is wrong behind that, a build's check finds. */
static gf_status try_table(gf_repairing *r, gf_table *table, gf_error *err)
{
    const gf_schema *schema = gf_table_schema(table);
    gf_status st = GF_OK;
    for (unsigned f = 0; f < schema->n_families && st == GF_OK; f++) {
        row_walk w = {.r = r, .table = table, .family = f};
        w.wide = schema->families[f].layout == GF_LAYOUT_WIDE;
        gf_scan_options o = GF_SCAN_OPTIONS(.family = f, .keys_only = true, .as_stored = true);
        st = gf_scan_each(table, &o, try_row, &w, err);
        gf_row_release(&w.row);
    }
    return st == GF_OK ? gf_repair_flush(r, 0, err) : st;
}

/* ---- tables that cannot be read -------------------------------------------------------------- */

/* One that must go: it may, or that is why nothing is made. */
static gf_status give_up_table(gf_repairing *r, const char *name, const char *what, gf_error *err)
{
    if (!r->options->drop_unreadable && r->unreadable++ == 0)
        snprintf(r->what, sizeof r->what, "%.200s: %.300s", name, what);
    r->found.tables += r->options->drop_unreadable;
    return gf_repair_tell(r, name, what, err);
}

static gf_status try_user_table(void *context, const char *name, gf_user_table *table,
                                const gf_error *why, gf_error *err)
{
    gf_repairing *r = context;
    return table ? try_table(r, gf_user_table_rows(table), err)
                 : give_up_table(r, name, why->message, err);
}

/* Rows under a number of which no name is left, or none that leads there. */
static gf_status try_number(gf_repairing *r, unsigned number, const gf_strings *there,
                            const gf_strings *gone, gf_error *err)
{
    static const gf_key_part part = {"id", GF_PART_STRING, 0};
    static const gf_family family = {.name = "lost"};
    const gf_schema *known = gf_database_schema(r->store->db, number);
    gf_schema unknown = {
        .name = "lost", .parts = &part, .n_parts = 1, .families = &family, .n_families = 1};
    gf_table *rows;
    char name[64];
    gf_slice id = gf_slice_str(known ? known->name : "");
    bool of_user = gf_slice_starts(id, GF_SLICE("user:"));
    if (known && (!of_user || gf_strings_find(there, id) != GF_STRING_NONE)) return GF_OK;
    snprintf(name, sizeof name, "table number %u", number);
    gf_status st = GF_OK;
    if (!of_user || gf_strings_find(gone, id) == GF_STRING_NONE) /* not told of yet */
        st = give_up_table(
            r, name, "its name is lost, and so nothing can read the rows that it still has", err);
    if (st != GF_OK || !r->options->drop_unreadable) return st;
    st = gf_table_open_numbered(r->store->db, known ? known : &unknown, number, &rows, err);
    return st == GF_OK ? gf_table_drop(rows, r->cancel, err) : st;
}

static gf_status try_user_tables(gf_repairing *r, gf_error *err)
{
    gf_strings there = {0}, gone = {0};
    gf_status st = gf_user_tables_each(r->store, try_user_table, r, err);
    if (st == GF_OK)
        st = gf_user_tables_mend(r->store, r->options->drop_unreadable, &there, &gone, err);
    for (unsigned n = 1; n < GF_MAX_TABLES && st == GF_OK; n++)
        if (r->rescued.used[n / 8] >> n % 8 & 1) st = try_number(r, n, &there, &gone, err);
    gf_strings_release(&there);
    gf_strings_release(&gone);
    return st;
}

static gf_status try_tables(gf_repairing *r, gf_error *err)
{
    const gf_tables *t = &r->store->tables;
    gf_table *const all[] = {t->documents, t->collections, t->changes, t->builds,
                             t->clusters,  t->memberships, t->tables};
    gf_status st = GF_OK;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && st == GF_OK; i++)
        st = try_table(r, all[i], err);
    return st == GF_OK ? try_user_tables(r, err) : st;
}

/* ---- all ------------------------------------------------------------------------------------- */

static gf_status right_rows(gf_repairing *r, gf_error *err)
{
    gf_status st = try_tables(r, err);
    if (st == GF_OK && r->unreadable)
        st = gf_fail(err, GF_ECORRUPT,
                     "%s; nothing was made: with --drop-unreadable all but such tables (%" PRIu64
                     ") is saved",
                     r->what, r->unreadable);
    if (st == GF_OK) st = gf_repair_collections(r, err);
    if (st == GF_OK) st = gf_store_tidy(r->store, err); /* what was cut short goes first */
    if (st == GF_OK) st = gf_repair_builds(r, err);
    if (st == GF_OK && r->options->more_repair)
        st = r->options->more_repair(r->store, r->cancel, r->visit, r->context, &r->found, err);
    return st;
}

static gf_status note_fault(void *context, const char *where, const char *what, gf_error *err)
{
    gf_repairing *r = context;
    if (!r->what[0]) snprintf(r->what, sizeof r->what, "%s: %s", where, what);
    return gf_repair_tell(r, where, what, err);
}

/* The new store is looked at as any other: it will be trusted. */
static gf_status verify_all(gf_repairing *r, const char *to, gf_error *err)
{
    gf_verified found;
    gf_store_options o =
        GF_STORE_OPTIONS(.purpose = "repair", .cancel = r->cancel, .more = r->options->more);
    gf_status st = gf_verify(to, &o, note_fault, r, &found, err);
    if (st != GF_OK) return st;
    r->found.documents = found.documents;
    if (found.faults)
        st = gf_fail(err, GF_ECORRUPT,
                     "what could be saved does not agree with itself, and nothing was made of it: "
                     "%s",
                     r->what);
    return st;
}

static gf_status set_store_right(void *context, const char *to, gf_error *err)
{
    gf_repairing *r = context;
    gf_store_options o = GF_STORE_OPTIONS(.purpose = "repair", .cancel = r->cancel);
    gf_status st = gf_store_open(to, &o, &r->store, err);
    if (st == GF_OK) st = gf_batch_create(r->store->db, &r->batch, err);
    if (st == GF_OK) st = right_rows(r, err);
    gf_batch_free(r->batch);
    gf_store_close(r->store);
    return st == GF_OK ? verify_all(r, to, err) : st;
}

/* Nobody may use the store meanwhile. A damaged marker is one more damage. */
static gf_status hold(gf_repairing *r, const gf_store_options *options, gf_folder **folder,
                      gf_error *err)
{
    gf_error why = {GF_OK, ""};
    gf_hold_options o = {
        .wait_seconds = options->wait_seconds, .purpose = "repair", .cancel = options->cancel};
    gf_status st = gf_folder_hold(r->from, &o, folder, &why);
    if (st == GF_ENOTFOUND && gf_folder_has_remains(r->from)) /* CURRENT is lost with the marker */
        st = gf_fail(&why, GF_ECORRUPT, "grouperfish.store, the store's marker, is missing");
    if (st == GF_ECORRUPT) {
        note_damage(r, "grouperfish.store", why.message);
        return GF_OK;
    }
    if (st != GF_OK && err) *err = why;
    return st;
}

gf_status gf_repair(const char *path, const char *to, const gf_store_options *options,
                    gf_visit_fault *visit, void *context, gf_repaired *repaired, gf_error *err)
{
    gf_status known =
        gf_options_check(options->version, GF_STORE_OPTIONS_VERSION, "gf_store_options", err);
    if (known != GF_OK) return known;
    gf_folder *folder = NULL;
    gf_repairing r = {.from = path,
                      .options = options,
                      .visit = visit,
                      .context = context,
                      .cancel = options->cancel,
                      .visit_error = {GF_OK, ""}};
    gf_status st = hold(&r, options, &folder, err);
    if (st == GF_OK) st = gf_folder_make(to, fill_store, set_store_right, &r, err);
    gf_folder_release(folder);
    if (st == GF_OK) *repaired = r.found;
    return st;
}
