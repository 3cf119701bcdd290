/* The operations: what there are, and how a call is checked and run. */
#include "api/app.h"
#include "api/arguments.h"
#include "api/call.h"
#include "api/groups_internal.h"
#include "storage/hbase/client.h"

/* ---- finding --------------------------------------------------------------------------------- */

static const gf_operation_group *group_at(size_t i)
{
    static const gf_operation_group *const nouns[] = {
        &gf_collections_operations, &gf_documents_operations, &gf_builds_operations,
        &gf_clusters_operations,    &gf_report_operations,    &gf_tables_operations,
        &gf_store_operations};
    size_t n = sizeof nouns / sizeof nouns[0];
    if (i < n) return nouns[i];
    const gf_app *app = gf_app_at(i - n);
    return app ? &app->operations : NULL;
}

const gf_operation *gf_operation_at(size_t i)
{
    const gf_operation_group *group;
    for (size_t g = 0; (group = group_at(g)) != NULL; i -= group->n, g++)
        if (i < group->n) return group->operations[i];
    return NULL;
}

const gf_operation *gf_operation_find(const char *name)
{
    const gf_operation *o;
    for (size_t i = 0; (o = gf_operation_at(i)) != NULL; i++)
        if (strcmp(o->name, name) == 0) return o;
    return NULL;
}

/* ---- what a call of it is -------------------------------------------------------------------- */

bool gf_operations_have_flag(const gf_argument *arguments, size_t n, const char *name)
{
    bool set = false;
    for (size_t i = 0; i < n; i++)
        if (gf_slice_equal(arguments[i].name, gf_slice_str(name)))
            set = !gf_slice_equal(arguments[i].value, GF_SLICE("false"));
    return set;
}

gf_status gf_operation_check_from_afar(const gf_operation *o, const gf_argument *arguments,
                                       size_t n, gf_error *err)
{
    for (const char *const *name = o->at_home; name && *name; name++)
        for (size_t i = 0; i < n; i++)
            if (gf_slice_equal(arguments[i].name, gf_slice_str(*name)))
                return gf_fail(err, GF_EINVAL,
                               "%s is taken from a command on the store's own machine alone: it "
                               "runs something there, or names a file",
                               *name);
    return GF_OK;
}

bool gf_operation_writes(const gf_operation *o)
{
    return strcmp(o->method, "GET") != 0 && !o->reads_only;
}

bool gf_operation_changes_store(const gf_operation *o)
{
    return gf_operation_writes(o) && !o->elsewhere;
}

bool gf_operation_gives_one(const gf_operation *o, const gf_argument *arguments, size_t n)
{
    const gf_call call = {.arguments = arguments, .n_arguments = n};
    return o->single && !gf_operations_have_flag(arguments, n, "columns") &&
           !gf_call_has(&call, "results") && !gf_several_is_asked(o, arguments, n);
}

/* ---- checking -------------------------------------------------------------------------------- */

static const gf_parameter *find_parameter(const gf_operation *o, gf_slice name)
{
    for (size_t i = 0; i < o->n_parameters; i++)
        if (gf_slice_equal(name, gf_slice_str(o->parameters[i].name))) return &o->parameters[i];
    return NULL;
}

static bool has_parameter(const gf_operation *o, const char *name)
{
    return find_parameter(o, gf_slice_str(name)) != NULL;
}

/* "all" stands in for the collection. */
static bool stands_in(const gf_operation *o, const gf_call *call, const gf_parameter *p)
{
    return strcmp(p->name, "collection") == 0 && has_parameter(o, "all") &&
           gf_call_flag(call, "all");
}

gf_status gf_operation_check(const gf_operation *o, const gf_call *call, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < call->n_arguments && st == GF_OK; i++) {
        const gf_parameter *p = find_parameter(o, call->arguments[i].name);
        st = p ? gf_arguments_check_value(p, call->arguments[i].value, err)
               : gf_arguments_refuse_name(o, call->arguments[i].name, err);
    }
    for (size_t i = 0; i < o->n_parameters && st == GF_OK; i++)
        if (o->parameters[i].required && !gf_call_has(call, o->parameters[i].name) &&
            !stands_in(o, call, &o->parameters[i]))
            st = gf_fail(err, GF_EINVAL, "%s is missing: %s", o->parameters[i].name,
                         o->parameters[i].meaning);
    if (st == GF_OK && has_parameter(o, "all") && gf_call_flag(call, "all") &&
        gf_call_has(call, "collection") && has_parameter(o, "collection"))
        st = gf_fail(err, GF_EINVAL, "%s needs either a collection, or --all", o->name);
    if (st == GF_OK && o->input == GF_INPUT_REQUIRED && !call->input.next)
        st = gf_fail(err, GF_EINVAL, "%s needs an input", o->name);
    return st;
}

/* ---- running --------------------------------------------------------------------------------- */

static void set_bounds(gf_call *call)
{
    call->bounds = (gf_input_bounds){.cancel = call->cancel,
                                     .layers = (unsigned)gf_call_number(call, "layers", 0),
                                     .max_unpacked = gf_call_number(call, "max-unpacked", 0)};
    call->input.bounds = &call->bounds;
}

gf_status gf_operation_run(const gf_operation *o, gf_call *call, gf_error *err)
{
    call->outcome = GF_OUTCOME_DONE;
    call->partly = false;
    gf_status st = gf_operation_check(o, call, err);
    if (st != GF_OK) return st;
    if (gf_several_is_asked(o, call->arguments, call->n_arguments))
        return gf_several_run(o, call, err);
    if (o->use == GF_USE_ALONE && gf_hbase_is_url(call->holder.path) &&
        !gf_call_has(call, "from")) /* which names its own places */
        return gf_fail(err, GF_EINVAL,
                       "%s works on a folder's files, and the store is in HBase, which has its own "
                       "checks, snapshots and repairs",
                       o->name);
    if (gf_hbase_is_url(call->holder.path) && gf_call_flag(call, "purge"))
        return gf_fail(err, GF_EINVAL,
                       "purging is of a folder's files; HBase removes what was deleted by a major "
                       "compaction");
    set_bounds(call);
    st = o->run(call, err);
    if (st == GF_ENOTFOUND) gf_suggest_nearest(call, err);
    return st;
}
