/* rebuild and builds. */
#include "api/builds/internal.h"
#include "api/builds/schema.h"
#include "api/builds/within.h"

#include "base/memory.h"
#include "formats/matrix/npz.h"

#include <inttypes.h>
#include <stdio.h>

static void tell_progress(void *context, gf_place where, const char *phase, uint64_t done,
                          uint64_t total)
{
    gf_call *call = context;
    gf_call_progress(call, where.collection, phase, done, total);
}

static const char *outcome_name(gf_rebuild_outcome outcome)
{
    switch (outcome) {
    case GF_REBUILD_MADE:
        return "rebuilt";
    case GF_REBUILD_UNMODIFIED:
        return "unmodified";
    case GF_REBUILD_KEPT:
        return "kept";
    default:
        return "would be rebuilt";
    }
}

static void name_failure(gf_call *call, gf_slice collection, const char *message)
{
    gf_notice n = {.reason = "failed", .source = collection, .message = message};
    gf_call_notify(call, &n);
}

/* A build of given rows is kept: told, because its documents may have changed meanwhile. */
static void tell_kept(gf_call *call, gf_slice collection, gf_slice configuration, bool has_settings)
{
    char message[400];
    snprintf(message, sizeof message,
             "the clusters of \"%.*s\" are of given rows, and are kept: no document brought one "
             "since; --matrix clusters other rows, --force the texts%s",
             GF_SLICE_ARG(configuration),
             has_settings ? "; the settings that were given are not used: give them with either"
                          : "");
    gf_notice n = {.reason = "kept", .source = collection, .message = message};
    gf_call_notify(call, &n);
}

/* ---- what is rebuilt ------------------------------------------------------------------------- */

typedef struct rebuilding {
    gf_row_writer row;
    gf_store *store;
    const gf_rebuild_options *options;
    gf_slice configuration; /* whose choice of k is explained */
} rebuilding;

static void put_memory(gf_json_writer *w, const gf_memory_estimate *e)
{
    const struct {
        const char *name;
        uint64_t value;
    } members[] = {{"memory", e->peak},
                   {"least_memory", e->least},
                   {"expected_documents", e->documents},
                   {"expected_text", e->text},
                   {"expected_entries", e->entries},
                   {"expected_terms", e->terms},
                   {"expected_words", e->words},
                   {"expected_k", e->k},
                   {"memory_program", e->program},
                   {"memory_reading", e->reading},
                   {"memory_rows", e->rows},
                   {"memory_ids", e->ids},
                   {"memory_points", e->points},
                   {"memory_labels", e->labels},
                   {"memory_centres", e->centres},
                   {"memory_naming", e->naming},
                   {"memory_writing", e->writing},
                   {"memory_index", e->index}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        gf_json_put_uint(w, members[i].name, members[i].value);
    if (!e->rank) return;
    gf_json_put_uint(w, "memory_rank", e->rank);
    gf_json_put_uint(w, "memory_first_rank", e->first_rank);
    gf_json_put_uint(w, "network_rows", e->handed_out);
    gf_json_put_uint(w, "network_first_pass", e->first_pass);
    gf_json_put_uint(w, "network_pass", e->pass);
}

/* The build is published whatever becomes of this: a failure is told, and is none of the rebuild. */
static void tell_lost_edits(const rebuilding *r, gf_place where, gf_slice configuration)
{
    gf_error why;
    if (gf_edits_tell_lost(r->row.call, r->store, where, configuration, &why) == GF_OK) return;
    gf_notice n = {.reason = "lost",
                   .source = where.collection,
                   .message = "whether all edits were kept could not be read: see `edits`"};
    gf_call_notify(r->row.call, &n);
}

static gf_status emit_result(void *context, gf_place where, gf_slice configuration,
                             gf_status status, const char *message, const gf_rebuild_result *result,
                             gf_error *err)
{
    rebuilding *r = context;
    gf_json_writer *w = gf_row_writer_begin_of(&r->row, where.collection);
    gf_json_put_string(w, "configuration", configuration);
    gf_json_put_str(w, "outcome", status == GF_OK ? outcome_name(result->outcome) : "failed");
    if (status != GF_OK) gf_json_put_str(w, "error", message);
    if (status == GF_OK && result->build.build) gf_row_put_build(w, &result->build);
    if (status == GF_OK && result->memory.peak) put_memory(w, &result->memory);
    if (status == GF_OK && r->options->matrix) gf_json_put_uint(w, "unknown", result->unknown);
    if (status == GF_OK && result->outcome == GF_REBUILD_KEPT)
        tell_kept(r->row.call, where.collection, configuration, r->options->n_set > 0);
    if (status == GF_OK && result->outcome == GF_REBUILD_MADE)
        tell_lost_edits(r, where, configuration);
    if (status != GF_OK) r->row.call->outcome = GF_OUTCOME_REBUILD_FAILED;
    if (status != GF_OK && status != GF_ECANCELLED)
        name_failure(r->row.call, where.collection, message);
    return gf_row_writer_emit(&r->row, err);
}

static gf_status rebuild_one(rebuilding *r, gf_slice configuration, gf_error *err)
{
    gf_rebuild_result result;
    gf_place where = gf_call_place(r->row.call);
    gf_status st = gf_rebuild(r->store, where, configuration, r->options, &result, err);
    if (st != GF_OK) return st;
    return emit_result(r, where, configuration, GF_OK, "", &result, err);
}

static gf_status emit_step(void *context, const gf_k_step *step, gf_error *err)
{
    rebuilding *r = context;
    gf_json_writer *w = gf_row_writer_begin_of(&r->row, gf_call_text(r->row.call, "collection"));
    gf_json_put_string(w, "configuration", r->configuration);
    gf_json_put_uint(w, "k", step->k);
    gf_json_put_double(w, "separation", step->separation);
    gf_json_put_double(w, "worth", step->worth);
    gf_json_put_bool(w, "plateau", step->plateau);
    gf_json_put_bool(w, "chosen", step->chosen);
    if (step->why) gf_json_put_str(w, "why", step->why);
    return gf_row_writer_emit(&r->row, err);
}

static gf_status explain_one(rebuilding *r, gf_slice configuration, gf_error *err)
{
    r->configuration = configuration;
    return gf_explain_k(r->store, gf_call_place(r->row.call), configuration, r->options, emit_step,
                        r, err);
}

static gf_status handle_one(rebuilding *r, gf_slice configuration, gf_error *err)
{
    return gf_call_flag(r->row.call, "explain-k") ? explain_one(r, configuration, err)
                                                  : rebuild_one(r, configuration, err);
}

static gf_status visit_configuration(void *context, const gf_configuration_info *info,
                                     gf_error *err)
{
    return info->rebuilt ? handle_one(context, info->name, err) : GF_OK;
}

static gf_status rebuild_collection(rebuilding *r, gf_error *err)
{
    gf_slice only = gf_call_text(r->row.call, "config");
    if (only.len) return handle_one(r, only, err);
    return gf_configuration_list_visit(r->store, gf_call_place(r->row.call), visit_configuration, r,
                                       err);
}

/* ---- rows that were made elsewhere ----------------------------------------------------------- */

/* Rows of no document, and documents without a row, are told of: either may be a mistake. */
static void tell_unmatched(gf_call *call, const gf_rebuild_result *result)
{
    char message[200];
    const gf_build_info *b = &result->build;
    gf_notice n = {"unmatched", gf_call_text(call, "collection"), 0, message, false};
    if (result->outcome != GF_REBUILD_MADE) return;
    if (result->unknown) {
        snprintf(message, sizeof message,
                 "%" PRIu64 " row%s of the matrix left out: no document has the id",
                 result->unknown, result->unknown == 1 ? "" : "s");
        gf_call_notify(call, &n);
    }
    if (b->without_terms) {
        snprintf(message, sizeof message,
                 "%" PRIu64 " of %" PRIu64
                 " documents in no cluster: the matrix has no row of them, or one of zeros",
                 b->without_terms, b->documents);
        gf_call_notify(call, &n);
    }
}

static gf_status rebuild_by_matrix(rebuilding *r, gf_rebuild_options *options, gf_error *err)
{
    gf_call *call = r->row.call;
    gf_place where = gf_call_place(call);
    gf_slice configuration = gf_call_configuration(call);
    gf_npz_matrix m;
    gf_rebuild_result result;
    if (!call->input.next) return gf_fail(err, GF_EINVAL, "matrix: there is no input");
    gf_status st = gf_npz_read_matrix(&call->input, call->cancel, &m, err);
    if (st == GF_ENOTFOUND) return gf_fail(err, GF_EINVAL, "matrix: the input is empty");
    if (st != GF_OK) return st;
    options->matrix = &m.matrix;
    st = gf_rebuild(r->store, where, configuration, options, &result, err);
    if (st == GF_OK) {
        tell_unmatched(call, &result);
        st = emit_result(r, where, configuration, GF_OK, "", &result, err);
    }
    options->matrix = NULL;
    gf_npz_matrix_release(&m);
    return st;
}

/* A configuration that could not be built, and was made for this, is not left behind. */
static gf_status rebuild_within(rebuilding *r, gf_error *err)
{
    gf_buffer name = {0};
    gf_error later;
    bool is_new;
    gf_call *call = r->row.call;
    gf_status st = gf_within_make(call, r->store, &name, &is_new, err);
    if (st == GF_OK) {
        st = rebuild_one(r, gf_buffer_view(&name), err);
        if (st != GF_OK && is_new)
            gf_configuration_delete(r->store, gf_call_place(call), gf_buffer_view(&name), &later);
    }
    gf_buffer_release(&name);
    return st;
}

static gf_status check_within(const gf_call *call, gf_error *err)
{
    static const char *const others[] = {"all", "dry-run", "explain-k", "matrix"};
    if (!gf_call_has(call, "within")) return GF_OK;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (gf_call_flag(call, others[i]))
            return gf_fail(err, GF_EINVAL, "within makes a configuration: leave %s out", others[i]);
    return GF_OK;
}

/* The settings of `set`, and k; with `within` k is the new configuration's. gf_free what comes. */
static gf_status read_settings(const gf_call *call, gf_pair **set, size_t *n, gf_error *err)
{
    gf_status st = gf_call_settings(call, set, n, err);
    if (st != GF_OK || !gf_call_has(call, "k") || gf_call_has(call, "within")) return st;
    gf_pair *all = gf_array(*n + 1, sizeof *all);
    if (!all) st = gf_fail_memory(err, "settings");
    for (size_t i = 0; i < *n && st == GF_OK; i++) {
        all[i] = (*set)[i];
        if (gf_slice_equal(all[i].name, GF_SLICE("k")))
            st = gf_fail(err, GF_EINVAL, "k is given twice, by itself and by set");
    }
    if (st == GF_OK) all[(*n)++] = (gf_pair){GF_SLICE("k"), gf_call_text(call, "k")};
    gf_free(*set);
    *set = st == GF_OK ? all : NULL;
    if (st != GF_OK) gf_free(all);
    return st;
}

/* The file of hosts as a string of ours, or NULL. */
static gf_status read_hosts(const gf_call *call, char **hosts, gf_error *err)
{
    gf_slice path = gf_call_text(call, "hosts");
    if (gf_call_flag(call, "all") && (path.len || gf_call_has(call, "ranks")))
        return gf_fail(err, GF_EINVAL, "--ranks and --hosts go with one collection");
    if (path.len == 0) return GF_OK;
    *hosts = gf_copy_string(path.ptr, path.len);
    return *hosts ? GF_OK : gf_fail_memory(err, "the file of hosts");
}

static gf_status rebuild_all(rebuilding *r, gf_error *err)
{
    const gf_call *call = r->row.call;
    return gf_rebuild_all(r->store, call->name_space, gf_call_text(call, "prefix"),
                          gf_call_text(call, "config"), r->options, emit_result, r, err);
}

static gf_start start_of(gf_slice word)
{
    if (word.len == 0) return GF_START_CONFIGURED;
    return gf_slice_equal(word, GF_SLICE("fresh")) ? GF_START_FRESH : GF_START_SERVED;
}

static gf_status run_rebuild(gf_call *call, gf_error *err)
{
    bool all = gf_call_flag(call, "all");
    if (all == gf_call_has(call, "collection"))
        return gf_fail(err, GF_EINVAL, "rebuild needs either a collection, or --all");
    if (!all && gf_call_has(call, "prefix"))
        return gf_fail(err, GF_EINVAL, "--prefix goes with --all");
    if (all && gf_call_flag(call, "explain-k"))
        return gf_fail(err, GF_EINVAL, "--explain-k goes with one collection");
    if (gf_call_flag(call, "dry-run") && gf_call_flag(call, "explain-k"))
        return gf_fail(err, GF_EINVAL, "give either --dry-run or --explain-k");
    gf_status st = check_within(call, err);
    if (st != GF_OK) return st;
    bool matrix = gf_call_flag(call, "matrix");
    if (matrix && gf_call_has(call, "memory"))
        return gf_fail(err, GF_EINVAL, "matrix: its rows are held in memory; leave --memory out");
    if (all && matrix) return gf_fail(err, GF_EINVAL, "matrix: it is for one collection");
    gf_pair *set = NULL;
    size_t n_set = 0;
    char *hosts = NULL;
    st = read_settings(call, &set, &n_set, err);
    if (st == GF_OK) st = read_hosts(call, &hosts, err);
    if (st != GF_OK) {
        gf_free(set);
        return st;
    }
    gf_rebuild_options o =
        GF_REBUILD_OPTIONS(.force = gf_call_flag(call, "force"),
                           .dry_run = gf_call_flag(call, "dry-run"),
                           .start = start_of(gf_call_text(call, "start")),
                           .threads = (unsigned)gf_call_number(call, "threads", 0),
                           .memory = gf_call_number(call, "memory", 0), .cancel = call->cancel,
                           .progress = tell_progress, .context = call, .set = set, .n_set = n_set,
                           .ranks = (unsigned)gf_call_number(call, "ranks", 0), .hosts = hosts);
    rebuilding r = {.row = {.call = call}, .options = &o};
    st = gf_call_store(call, &r.store, err);
    if (st == GF_OK)
        st = matrix                        ? rebuild_by_matrix(&r, &o, err)
             : gf_call_has(call, "within") ? rebuild_within(&r, err)
             : all                         ? rebuild_all(&r, err)
                                           : rebuild_collection(&r, err);
    if (st == GF_ECANCELLED) gf_fail(err, st, "stopped on request; what was served is served on");
    gf_row_writer_release(&r.row);
    gf_free(set);
    gf_free(hosts);
    return st;
}

/* ---- builds ---------------------------------------------------------------------------------- */

static gf_status emit_build(void *context, const gf_build_info *info, gf_error *err)
{
    gf_json_writer *w = gf_row_writer_begin(context);
    gf_row_put_build(w, info);
    gf_json_put_bool(w, "pinned", info->pinned);
    return gf_row_writer_emit(context, err);
}

static gf_status run_builds(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_status st = gf_call_store(call, &store, err);
    if (st != GF_OK) return st;
    st = gf_builds_visit(store, gf_call_place(call), gf_call_configuration(call), emit_build, &row,
                         err);
    gf_row_writer_release(&row);
    return st;
}

/* ---- the operations -------------------------------------------------------------------------- */

static const gf_parameter rebuild_parameters[] = {
    P_TEXT("collection", "NAME", "the collection, or a pattern such as 'feedback-*'"),
    P_FLAG("all", "all collections"),
    P_TEXT("prefix", "TEXT", "with all: only names that start so"),
    P_EACH_CONFIG,
    P_SETTINGS(false, "for these builds alone, over what the configuration says"),
    P_TEXT("within", "[CONFIG:]ID|gID",
           "cluster the documents of that cluster or group alone, as a configuration of its own "
           "(named as config says, else such as default-14)"),
    P_SETTING(
        "k", "N|auto",
        "clusters, for these builds alone (as configured); with within, of its configuration"),
    P_FLAG("force", "also where nothing has changed, or the clusters are of a matrix"),
    P_CHOICE("start", "served|fresh", "begin from the served clusters or anew (as configured)"),
    P_FLAG("dry-run", "say what would be rebuilt and how much memory that takes, and do nothing"),
    P_FLAG("explain-k", "instead show how many clusters k=auto chooses, and why; nothing is built"),
    P_NUMBER("threads", 0, 1024, "threads (one per processor)"),
    {"memory", GF_PARAMETER_BYTES, false, "SIZE",
     "hold no more than that: where all rows are more, mini-batches of rows in a file", 1 << 20, 0},
    P_FLAG("matrix", "cluster the rows of an .npz file, which is the input"),
    P_NUMBER("ranks", 1, 4096, "cluster by so many processes, which Open MPI's mpirun starts"),
    {"hosts", GF_PARAMETER_PATH, false, "FILE",
     "the machines that they run on, one a line, this one first", 0, 0}};

/* They start programs on the store's machine and others. */
static const char *const rebuild_at_home[] = {"ranks", "hosts", NULL};

static const gf_parameter builds_parameters[] = {P_COLLECTIONS, P_EVERY, P_CONFIG};

const gf_operation gf_rebuild_operation = {
    .name = "rebuild",
    .method = "POST",
    .path = "/collections/{collection}/builds",
    .meaning = "Cluster a collection and publish the result",
    GF_PARAMETERS(rebuild_parameters),
    .members = gf_schema_rebuild,
    .run = run_rebuild,
    .reach = GF_REACH_PATTERN,
    .input = GF_INPUT_OPTIONAL,
    .rebuilds = true,
    .tells_lost = true,
    .at_home = rebuild_at_home,
};

const gf_operation gf_builds_operation = {
    .name = "builds",
    .method = "GET",
    .path = "/collections/{collection}/builds",
    .meaning = "List the builds that are kept",
    GF_PARAMETERS(builds_parameters),
    .members = gf_schema_builds,
    .run = run_builds,
    .reach = GF_REACH_ALL,
    .cacheable = true,
};
