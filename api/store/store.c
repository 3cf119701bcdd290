/* init, status, verify, version: the store as a whole. */
#include "api/groups_internal.h"
#include "api/store/internal.h"
#include "api/store/schema.h"
#include "base/clock.h"

static gf_status run_init(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_status st = gf_call_open_store(call, true, &store, err);
    if (st != GF_OK) return st;
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_str(w, "store", call->holder.path);
    gf_json_put_bool(w, "made", !call->holder.name && gf_store_is_new(store));
    return gf_row_writer_emit_only(&row, err);
}

static gf_status add_changed(void *context, gf_place where, gf_error *err)
{
    gf_buffer list = {0}, *all = context;
    gf_json_writer w = gf_json_writer_to(&list);
    gf_json_begin(&w, '{');
    gf_json_put_string(&w, "namespace", where.name_space);
    gf_json_put_string(&w, "collection", where.collection);
    gf_json_end(&w, '}');
    gf_buffer_str(all, all->len > 1 ? "," : "");
    gf_buffer_slice(all, gf_buffer_view(&list));
    gf_status st = gf_buffer_check(&list, err);
    gf_buffer_release(&list);
    return st == GF_OK ? gf_buffer_check(all, err) : st;
}

void gf_store_put_health(gf_json_writer *w, const gf_store_health *h)
{
    gf_json_put_uint(w, "format", h->format);
    gf_json_put_uint(w, "running", h->running);
    gf_json_put_uint(w, "failed", h->failed);
    gf_json_put_uint(w, "changed", h->changed);
    if (h->failed == 0) return;
    gf_json_key(w, "last_failure");
    gf_json_begin(w, '{');
    gf_row_put_time(w, "time", h->failed_at);
    gf_json_put_str(w, "namespace", h->failed_namespace);
    gf_json_put_str(w, "collection", h->failed_collection);
    gf_json_put_str(w, "configuration", h->failed_configuration);
    gf_json_put_str(w, "error", h->failed_why);
    gf_json_end(w, '}');
}

/* Who holds it now is another process where this one has not taken it only for that. */
static void put_holder(gf_json_writer *w, const gf_call *call)
{
    if (call->holder.name) gf_json_put_str(w, "holder", call->holder.name);
}

static gf_status run_status(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_store_status s;
    gf_store_health health;
    gf_buffer changed = {0};
    bool names = gf_call_flag(call, "changed");
    gf_row_writer row = {.call = call};
    gf_app_count counts[GF_MOST_APPS] = {{.n = 0}};
    gf_buffer_str(&changed, "[");
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = gf_store_read_status(store, &s, err);
    gf_app_check counting = {.store = store, .cancel = call->cancel};
    if (st == GF_OK) st = gf_apps_check(&counting, counts, err);
    if (st == GF_OK) st = gf_health_read(store, names ? add_changed : NULL, &changed, &health, err);
    gf_buffer_str(&changed, "]");
    if (st == GF_OK) st = gf_buffer_check(&changed, err);
    if (st == GF_OK) {
        gf_json_writer *w = gf_row_writer_begin(&row);
        gf_json_put_str(w, "store", call->holder.path);
        put_holder(w, call);
        gf_json_put_uint(w, "collections", s.collections);
        gf_json_put_uint(w, "documents", s.documents);
        gf_json_put_uint(w, "builds", s.builds);
        gf_json_put_uint(w, "unfinished", s.unfinished);
        for (size_t i = 0; gf_app_at(i); i++)
            if (counts[i].any) gf_json_put_uint(w, gf_app_at(i)->name, counts[i].n);
        gf_json_put_uint(w, "bytes", s.bytes);
        gf_store_put_health(w, &health);
        if (names) {
            gf_json_key(w, "changed_collections");
            gf_json_raw(w, gf_buffer_view(&changed));
        }
        st = gf_row_writer_emit_only(&row, err);
    }
    gf_buffer_release(&changed);
    return st;
}

/* Opening a store refuses what is newer; what is older would be brought up to date here. */
static gf_status run_upgrade(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_store_health health;
    gf_row_writer row = {.call = call};
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = gf_health_read(store, NULL, NULL, &health, err);
    if (st != GF_OK) return st;
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_str(w, "store", call->holder.path);
    gf_json_put_uint(w, "format", health.format);
    gf_json_put_bool(w, "upgraded", false);
    return gf_row_writer_emit_only(&row, err);
}

static void notify_damage(const gf_call *call, const char *where, const char *what)
{
    gf_notice n = {.reason = "damage", .source = gf_slice_str(where), .message = what};
    gf_call_notify(call, &n);
}

gf_status gf_store_checking_fault(void *context, const char *where, const char *what, gf_error *err)
{
    (void)err;
    notify_damage(((gf_store_checking *)context)->call, where, what);
    return GF_OK;
}

gf_status gf_store_checking_apps(gf_store *store, const gf_cancel *cancel, gf_visit_fault *visit,
                                 void *context, gf_verified *verified, gf_error *err)
{
    gf_app_check check = {.store = store, .cancel = cancel, .visit = visit, .context = context};
    gf_status st = gf_apps_check(&check, ((gf_store_checking *)context)->counts, err);
    verified->faults += check.faults;
    return st;
}

static gf_status run_verify(gf_call *call, gf_error *err)
{
    gf_verified v;
    gf_store_checking checking = {.call = call};
    gf_row_writer row = {.call = call};
    gf_store_options options =
        GF_STORE_OPTIONS(.wait_seconds = call->holder.wait_seconds, .purpose = "verify",
                         .cancel = call->cancel, .more = gf_store_checking_apps);
    gf_status st =
        gf_verify(call->holder.path, &options, gf_store_checking_fault, &checking, &v, err);
    if (st != GF_OK) return st;
    if (v.faults) call->outcome = GF_OUTCOME_DAMAGE_FOUND;
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_uint(w, "collections", v.collections);
    gf_json_put_uint(w, "documents", v.documents);
    gf_json_put_uint(w, "builds", v.builds);
    gf_json_put_uint(w, "memberships", v.memberships);
    if (v.tables) {
        gf_json_put_uint(w, "tables", v.tables);
        gf_json_put_uint(w, "rows", v.rows);
    }
    for (size_t i = 0; gf_app_at(i); i++)
        if (checking.counts[i].n) gf_json_put_uint(w, gf_app_at(i)->name, checking.counts[i].n);
    gf_json_put_uint(w, "faults", v.faults);
    return gf_row_writer_emit_only(&row, err);
}

/* ---- repair ----------------------------------------------------------------------------------- */

typedef struct repairing {
    gf_call *call;
    bool told;
} repairing;

/* Before the first loss: nothing in the store can say whether something newer was lost with it. */
static gf_status tell_loss(void *context, const char *where, const char *what, gf_error *err)
{
    repairing *r = context;
    (void)err;
    gf_notice n = {.reason = "undone",
                   .message = "documents whose deletion or replacement lay in the damage may be "
                              "there again, as they were before"};
    if (!r->told) gf_call_notify(r->call, &n);
    r->told = true;
    notify_damage(r->call, where, what);
    return GF_OK;
}

static gf_status check_rest(gf_store *store, const gf_cancel *cancel, gf_visit_fault *visit,
                            void *context, gf_verified *verified, gf_error *err)
{
    gf_app_count counts[GF_MOST_APPS] = {{.n = 0}};
    gf_app_check check = {.store = store, .cancel = cancel, .visit = visit, .context = context};
    gf_status st = gf_apps_check(&check, counts, err);
    verified->faults += check.faults;
    return st;
}

static gf_status repair_rest(gf_store *store, const gf_cancel *cancel, gf_visit_fault *visit,
                             void *context, gf_repaired *repaired, gf_error *err)
{
    gf_app_repair r = {.store = store, .cancel = cancel, .visit = visit, .context = context};
    gf_status st = gf_apps_repair(&r, err);
    repaired->rows += r.rows;
    repaired->remade += r.remade;
    return st;
}

static gf_status run_repair(gf_call *call, gf_error *err)
{
    gf_repaired r;
    repairing telling = {.call = call};
    gf_buffer to = {0};
    const char *store = call->holder.path;
    gf_store_options o =
        GF_STORE_OPTIONS(.wait_seconds = call->holder.wait_seconds, .purpose = "repair",
                         .cancel = call->cancel, .more = check_rest, .more_repair = repair_rest,
                         .drop_unreadable = gf_call_flag(call, "drop-unreadable"));
    gf_row_writer row = {.call = call};
    gf_status st = gf_copies_path(call, "to", &to, err);
    if (st == GF_OK) st = gf_repair(store, gf_buffer_cstr(&to), &o, tell_loss, &telling, &r, err);
    if (st == GF_OK) {
        if (r.damages || r.rows || r.collections || r.builds || r.pointers || r.remade || r.tables)
            call->outcome = GF_OUTCOME_DAMAGE_FOUND;
        gf_json_writer *w = gf_row_writer_begin(&row);
        gf_json_put_str(w, "store", store);
        gf_json_put_str(w, "to", gf_buffer_cstr(&to));
        gf_json_put_uint(w, "documents", r.documents);
        gf_json_put_uint(w, "damages", r.damages);
        gf_json_put_uint(w, "rows", r.rows);
        gf_json_put_uint(w, "collections", r.collections);
        gf_json_put_uint(w, "builds", r.builds);
        gf_json_put_uint(w, "pointers", r.pointers);
        gf_json_put_uint(w, "remade", r.remade);
        gf_json_put_uint(w, "tables", r.tables);
        st = gf_row_writer_emit_only(&row, err);
    }
    gf_buffer_release(&to);
    return st;
}

static gf_status run_version(gf_call *call, gf_error *err)
{
    gf_row_writer row = {.call = call};
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_str(w, "version", gf_version());
    gf_json_put_str(w, "libraries", gf_version_libraries());
    return gf_row_writer_emit_only(&row, err);
}

/* ---- the operations -------------------------------------------------------------------------- */

static const gf_parameter status_parameters[] = {
    P_FLAG("changed", "name the collections that have changed since they were built")};

static const gf_parameter repair_parameters[] = {
    P_PATH("to", "DIR", "a folder that is not there yet"),
    P_FLAG("drop-unreadable", "leave out tables of which the name or the schema is lost")};

static const gf_operation init_operation = {
    .name = "init",
    .method = "POST",
    .path = "/store",
    .meaning = "Make a store",
    .members = gf_schema_init,
    .run = run_init,
    .of_store = true,
    .single = true,
};

static const gf_operation status_operation = {
    .name = "status",
    .method = "GET",
    .path = "/status",
    .meaning = "Show what the store holds",
    GF_PARAMETERS(status_parameters),
    .members = gf_schema_status,
    .run = run_status,
    .of_store = true,
    .single = true,
};

static const gf_operation upgrade_operation = {
    .name = "upgrade",
    .method = "POST",
    .path = "/upgrade",
    .meaning = "Bring the store to the newest format",
    .members = gf_schema_upgrade,
    .run = run_upgrade,
    .of_store = true,
    .single = true,
};

static const gf_operation verify_operation = {
    .name = "verify",
    .method = "GET",
    .path = "/verification",
    .meaning = "Check a store for damage",
    .members = gf_schema_verify,
    .run = run_verify,
    .of_store = true,
    .use = GF_USE_ALONE,
    .single = true,
};

static const gf_operation repair_operation = {
    .name = "repair",
    .method = "POST",
    .path = "/repair",
    .meaning = "Make a new store of what is sound in a damaged one",
    GF_PARAMETERS(repair_parameters),
    .members = gf_schema_repair,
    .run = run_repair,
    .of_store = true,
    .use = GF_USE_ALONE,
    .single = true,
    .local = true,
};

static const gf_operation version_operation = {
    .name = "version",
    .method = "GET",
    .path = "/version",
    .meaning = "Show versions",
    .members = gf_schema_version,
    .run = run_version,
    .use = GF_USE_NONE,
    .single = true,
};

static const gf_operation *const operations[] = {
    &init_operation,      &status_operation,     &upgrade_operation, &verify_operation,
    &gf_backup_operation, &gf_restore_operation, &gf_copy_operation, &repair_operation,
    &version_operation,   &gf_archive_operation};
const gf_operation_group gf_store_operations = GF_OPERATION_GROUP(operations);
