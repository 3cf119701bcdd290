/* rebuild and builds. */
#include "api/call_internal.h"

typedef struct row_context {
    gf_call *call;
    gf_row_writer row;
} row_context;

static void tell_progress(void *context, gf_place where, const char *phase, uint64_t done,
                          uint64_t total)
{
    gf_call *call = context;
    if (call->progress) call->progress(call->context, where.collection, phase, done, total);
}

static const char *outcome_name(gf_rebuild_outcome outcome)
{
    switch (outcome) {
    case GF_REBUILT:
        return "rebuilt";
    case GF_UNMODIFIED:
        return "unmodified";
    default:
        return "would be rebuilt";
    }
}

static gf_status emit_result(void *context, gf_place where, gf_slice configuration,
                             gf_status status, const char *message, const gf_rebuild_result *result,
                             gf_error *err)
{
    row_context *c = context;
    gf_json_writer *w = &c->row.json;
    gf_json_begin(w, '{');
    gf_json_put_string(w, "collection", where.collection);
    gf_json_put_string(w, "configuration", configuration);
    gf_json_put_str(w, "outcome", status == GF_OK ? outcome_name(result->outcome) : "failed");
    if (status != GF_OK) gf_json_put_str(w, "error", message);
    if (status == GF_OK && result->build.build) gf_json_put_build(w, &result->build);
    gf_json_end(w, '}');
    if (status != GF_OK) c->call->outcome = GF_REBUILD_FAILED;
    return gf_row_emit(&c->row, c->call, err);
}

/* All configurations of one collection, each told of as it is done. */
typedef struct one_collection {
    row_context rows;
    gf_store *store;
    const gf_rebuild_options *options;
} one_collection;

static gf_status rebuild_one(one_collection *o, gf_slice configuration, gf_error *err)
{
    gf_rebuild_result result;
    gf_place where = gf_call_place(o->rows.call);
    gf_status st = gf_rebuild(o->store, where, configuration, o->options, &result, err);
    if (st != GF_OK) return st;
    return emit_result(&o->rows, where, configuration, GF_OK, "", &result, err);
}

static gf_status visit_configuration(void *context, gf_slice name, gf_error *err)
{
    return rebuild_one(context, name, err);
}

static gf_status rebuild_collection(one_collection *o, gf_error *err)
{
    gf_slice configuration = gf_call_text(o->rows.call, "config");
    if (configuration.len) return rebuild_one(o, configuration, err);
    return gf_configurations_visit(o->store, gf_call_place(o->rows.call), visit_configuration, o,
                                   err);
}

gf_status gf_run_rebuild(gf_call *call, gf_error *err)
{
    bool all = gf_call_flag(call, "all");
    if (all == gf_call_has(call, "collection"))
        return gf_fail(err, GF_EINVAL, "rebuild needs either a collection or --all");
    if (!all && gf_call_has(call, "prefix"))
        return gf_fail(err, GF_EINVAL, "--prefix goes with --all");
    gf_rebuild_options o = {.force = gf_call_flag(call, "force"),
                            .dry_run = gf_call_flag(call, "dry-run"),
                            .threads = (unsigned)gf_call_number(call, "threads", 0),
                            .cancel = call->cancel,
                            .progress = tell_progress,
                            .context = call};
    if (o.threads > 1024) return gf_fail(err, GF_EINVAL, "threads: at most 1024");
    one_collection c = {.rows = {.call = call}, .options = &o};
    gf_status st = gf_call_store(call, &c.store, err);
    if (st != GF_OK) return st;
    gf_row_open(&c.rows.row);
    st = all ? gf_rebuild_all(c.store, call->name_space, gf_call_text(call, "prefix"),
                              gf_call_text(call, "config"), &o, emit_result, &c.rows, err)
             : rebuild_collection(&c, err);
    gf_row_release_writer(&c.rows.row);
    return st;
}

static gf_status emit_build(void *context, const gf_build_info *info, gf_error *err)
{
    row_context *c = context;
    gf_json_begin(&c->row.json, '{');
    gf_json_put_build(&c->row.json, info);
    gf_json_end(&c->row.json, '}');
    return gf_row_emit(&c->row, c->call, err);
}

gf_status gf_run_builds(gf_call *call, gf_error *err)
{
    gf_store *store;
    row_context c = {.call = call};
    gf_status st = gf_call_store(call, &store, err);
    if (st != GF_OK) return st;
    gf_row_open(&c.row);
    st = gf_builds_visit(store, gf_call_place(call), gf_call_text_or(call, "config", "default"),
                         emit_build, &c, err);
    gf_row_release_writer(&c.row);
    return st;
}
