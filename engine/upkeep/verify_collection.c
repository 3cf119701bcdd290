/* Check of one collection: its documents, and its configurations with their builds, edits and watches. */
#include "engine/upkeep/verify_internal.h"

#include "base/memory.h"
#include "engine/config/edits.h"
#include "engine/config/pins.h"
#include "engine/config/settings.h"
#include "engine/rows/scan.h"
#include "engine/store/builds.h"
#include "engine/store/collections.h"
#include "engine/watch/kept.h"

#include <inttypes.h>

const char *gf_verify_name(gf_buffer *text, gf_slice collection, gf_slice configuration,
                           int64_t build)
{
    gf_buffer_reset(text);
    gf_buffer_format(text, "collection \"%.*s\"", GF_SLICE_ARG(collection));
    if (configuration.len)
        gf_buffer_format(text, ", configuration \"%.*s\"", GF_SLICE_ARG(configuration));
    if (build) gf_buffer_format(text, ", build %" PRId64, build);
    return gf_buffer_cstr(text);
}

static gf_status check_documents(gf_verifying *c, gf_place where, const gf_collection_row *row,
                                 const char *name, gf_error *err)
{
    gf_buffer prefix = {0};
    gf_scan *scan = NULL;
    gf_row document = {0};
    uint64_t n = 0, seq;
    gf_tables_collection_key(&prefix, where.name_space, where.collection);
    gf_status st = gf_buffer_check(&prefix, err);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = c->snapshot, .family = GF_DOCUMENTS_MAIN,
                                        .prefix = gf_buffer_view(&prefix));
    if (st == GF_OK) st = gf_scan_open(c->audit.store->tables.documents, &o, &scan, err);
    while (st == GF_OK && (st = gf_scan_next(scan, &document, err)) == GF_OK) {
        n++;
        if (!gf_row_find(&document, GF_DOCUMENTS_MAIN, "text"))
            st = gf_audit_fault(&c->audit, name, err, "a document has lost its text");
        else if (!gf_rows_cell_number(gf_row_find(&document, GF_DOCUMENTS_MAIN, "seq"), &seq) ||
                 seq > row->seq)
            st = gf_audit_fault(&c->audit, name, err,
                                "a document is newer than the collection says");
        if (st == GF_OK) st = gf_cancel_check(c->audit.cancel, err);
    }
    gf_scan_close(scan);
    gf_row_release(&document);
    gf_buffer_release(&prefix);
    c->found.documents += n;
    c->documents += row->size;
    if (st != GF_ENOTFOUND) return gf_audit_read(&c->audit, st, name, err);
    if (n == row->size) return GF_OK;
    return gf_audit_fault(&c->audit, name, err, "%" PRIu64 " documents, not %" PRIu64 " as it says",
                          n, row->size);
}

/* Numbers of edits rise up to the last that the pins know of; each has its witnesses. */
static gf_status check_edits(gf_verifying *c, gf_place where, gf_slice configuration,
                             gf_slice column, gf_error *err)
{
    gf_kept_edits edits = {0};
    gf_pins pins = {0};
    gf_buffer name = {0};
    gf_row row = {0};
    gf_store *s = c->audit.store;
    const char *of = gf_verify_name(&name, where.collection, configuration, 0);
    gf_status st = gf_buffer_check(&name, err);
    if (st == GF_OK) st = gf_pins_read(column, configuration, &pins, err);
    if (st == GF_OK) st = gf_edits_read(s, c->snapshot, where, configuration, &edits, err);
    if (st == GF_OK && edits.n && edits.at[edits.n - 1].edit.number > pins.edited)
        st = gf_audit_fault(&c->audit, of, err, "an edit is newer than the collection says");
    if (st == GF_OK && edits.n_back && edits.back[edits.n_back - 1].edit.number > pins.edited)
        st = gf_audit_fault(&c->audit, of, err, "an edit is newer than the collection says");
    for (size_t i = 0; i < edits.n + edits.n_back && st == GF_OK; i++) {
        const gf_edit *e = i < edits.n ? &edits.at[i].edit : &edits.back[i - edits.n].edit;
        for (size_t side = 0; side < gf_edit_sides(e) && st == GF_OK; side++)
            st = gf_edits_read_side(s, c->snapshot, where, configuration, e->number, (uint32_t)side,
                                    &row, err);
        if (st == GF_ENOTFOUND)
            st = gf_audit_fault(&c->audit, of, err, "edit %" PRIu64 " has lost its witnesses",
                                e->number);
    }
    st = gf_audit_read(&c->audit, st, of, err);
    gf_edits_release(&edits);
    gf_pins_release(&pins);
    gf_row_release(&row);
    gf_buffer_release(&name);
    return st;
}

/* Rules and alerts can be read, are no newer than the last numbers, and each alert has what it sends. */
static gf_status check_watches(gf_verifying *c, gf_place where, gf_slice configuration,
                               gf_error *err)
{
    gf_watch_place p = {c->audit.store, where, configuration, c->snapshot};
    gf_kept_watches rules = {0};
    gf_kept_alerts alerts = {0};
    gf_watch_state state = {0};
    gf_buffer name = {0}, body = {0};
    const char *of = gf_verify_name(&name, where.collection, configuration, 0);
    gf_status st = gf_buffer_check(&name, err);
    if (st == GF_OK) st = gf_watch_read_rules(&p, &rules, err);
    if (st == GF_OK) st = gf_watch_read_alerts(&p, &alerts, err);
    if (st == GF_OK) st = gf_watch_read_state(&p, &state, err);
    if (st == GF_OK && rules.n && rules.at[rules.n - 1].number > state.watches)
        st = gf_audit_fault(&c->audit, of, err, "a watch is newer than the collection says");
    if (st == GF_OK && alerts.n && alerts.at[alerts.n - 1].alert.number > state.alerts)
        st = gf_audit_fault(&c->audit, of, err, "an alert is newer than the collection says");
    for (size_t i = 0; i < alerts.n && st == GF_OK; i++) {
        gf_buffer_reset(&body);
        st = gf_watch_read_body(&p, alerts.at[i].alert.number, &body, err);
        if (st == GF_ENOTFOUND)
            st = gf_audit_fault(&c->audit, of, err, "alert %" PRIu64 " has lost what it tells",
                                alerts.at[i].alert.number);
    }
    st = gf_audit_read(&c->audit, st, of, err);
    gf_watch_release_rules(&rules);
    gf_watch_release_alerts(&alerts);
    gf_buffer_release(&name);
    gf_buffer_release(&body);
    return st;
}

/* The builds of one configuration, and that its pointer leads to one of them. */
static gf_status check_configuration(gf_verifying *c, gf_place where, gf_slice configuration,
                                     int64_t served, gf_error *err)
{
    int64_t *builds = NULL;
    size_t n = 0;
    bool found = served == 0;
    gf_buffer key = {0};
    gf_tables_configuration_key(&key, where.name_space, where.collection, configuration);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_builds_list(c->audit.store, c->snapshot, gf_buffer_view(&key), &builds, &n, err);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        found = found || builds[i] == served;
        st = gf_verify_one_build(c, where, configuration, builds[i], err);
    }
    gf_buffer_reset(&key);
    if (st == GF_OK && !found)
        st =
            gf_audit_fault(&c->audit, gf_verify_name(&key, where.collection, configuration, served),
                           err, "this build is served, but is missing");
    gf_free(builds);
    gf_buffer_release(&key);
    return st;
}

typedef struct configuration_walk {
    gf_verifying *c;
    gf_place where;
    const gf_collection_row *row;
} configuration_walk;

static gf_status visit_configuration(void *context, const gf_configuration_info *info,
                                     gf_error *err)
{
    configuration_walk *w = context;
    gf_status st = check_edits(w->c, w->where, info->name, w->row->pins, err);
    if (st == GF_OK) st = check_watches(w->c, w->where, info->name, err);
    if (st != GF_OK) return st;
    return check_configuration(w->c, w->where, info->name,
                               gf_collection_row_served(w->row, info->name), err);
}

gf_status gf_verify_collection(gf_verifying *c, gf_collection_row *row, gf_error *err)
{
    gf_buffer space = {0}, collection = {0}, name = {0};
    gf_slice key = row->row.key;
    bool going = false;
    gf_status st = GF_OK;
    if (!gf_key_take_string(&key, &space) || !gf_key_take_string(&key, &collection))
        st = gf_fail(err, GF_ECORRUPT, "table collections: a key is damaged");
    gf_place where = {gf_buffer_view(&space), gf_buffer_view(&collection)};
    gf_verify_name(&name, where.collection, (gf_slice){0}, 0);
    if (st == GF_OK) st = gf_buffer_check(&space, err);
    if (st == GF_OK) st = gf_buffer_check(&collection, err);
    if (st == GF_OK) st = gf_buffer_check(&name, err);
    if (st == GF_OK)
        st = gf_collection_is_deleting(c->audit.store, c->snapshot, row->row.key, &going, err);
    c->unfinished = c->unfinished || going;
    if (st == GF_OK && !going) {
        configuration_walk w = {c, where, row};
        c->found.collections++;
        st = gf_collection_row_decode(row, err);
        if (st == GF_OK) st = check_documents(c, where, row, gf_buffer_cstr(&name), err);
        if (st == GF_OK)
            st = gf_configuration_list(c->audit.store, c->snapshot, where, row, visit_configuration,
                                       &w, err);
    }
    st = gf_audit_read(&c->audit, st, gf_buffer_cstr(&name), err);
    gf_buffer_release(&space);
    gf_buffer_release(&collection);
    gf_buffer_release(&name);
    return st;
}
