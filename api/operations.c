/* The table of operations, and the checking of their arguments. */
#include "api/call_internal.h"

#include "base/nearest.h"

#define COLLECTION                                                                                 \
    {                                                                                              \
        "collection", GF_TEXT, true, "the collection"                                              \
    }
#define CONFIG                                                                                     \
    {                                                                                              \
        "config", GF_TEXT, false, "configuration (default)"                                        \
    }
#define BUILD                                                                                      \
    {                                                                                              \
        "build", GF_NUMBER, false, "a build's timestamp (the served one)"                          \
    }

static const gf_parameter one_collection[] = {COLLECTION};
static const gf_parameter collection_list[] = {
    {"prefix", GF_TEXT, false, "only names that start so"},
    {"sort", GF_TEXT, false, "name, size or modified (name)"},
    {"limit", GF_NUMBER, false, "at most so many (all)"}};
static const gf_parameter collection_show[] = {
    COLLECTION, {"columns", GF_FLAG, false, "every column of the table instead"}};
static const gf_parameter put[] = {
    COLLECTION,
    {"id", GF_TEXT, false, "field that is the id (id)"},
    {"text", GF_LIST, false, "field or fields that are the text (text)"},
    {"time", GF_TEXT, false, "field that is the time (time)"},
    {"lang", GF_TEXT, false, "field that is the language (lang)"},
    {"fields", GF_LIST, false, "other fields to keep, or all (all)"},
    {"from", GF_TEXT, false, "format: jsonl, json, csv, tsv, dir, input-tsv"},
    {"also", GF_LIST, false, "a further collection for each record, such as '{type}-{product}'"},
    {"max-document", GF_BYTES, false, "refuse larger documents (16M)"},
    {"max-collections", GF_NUMBER, false, "make at most so many collections (100000)"}};
static const gf_parameter delete_documents[] = {
    COLLECTION, {"id", GF_LIST, false, "ids to delete; else one on each line of the input"}};
static const gf_parameter config_set[] = {
    COLLECTION,
    {"config", GF_TEXT, false, "configuration (default)"},
    {"set", GF_LIST, true, "key=value; key= takes the key back to its default"}};
static const gf_parameter config_one[] = {COLLECTION, CONFIG};
static const gf_parameter rebuild[] = {
    {"collection", GF_TEXT, false, "the collection"},
    {"all", GF_FLAG, false, "all collections"},
    {"prefix", GF_TEXT, false, "with --all: only names that start so"},
    {"config", GF_TEXT, false, "only this configuration (all of them)"},
    {"force", GF_FLAG, false, "also where nothing has changed"},
    {"dry-run", GF_FLAG, false, "say what would be rebuilt, and do nothing"},
    {"threads", GF_NUMBER, false, "threads (one per processor)"}};
static const gf_parameter clusters[] = {
    COLLECTION, CONFIG, BUILD, {"sort", GF_TEXT, false, "size, label or id (size)"}};
static const gf_parameter cluster[] = {
    COLLECTION,
    {"cluster", GF_TEXT, true, "its id, or label:TEXT"},
    CONFIG,
    BUILD,
    {"docs", GF_NUMBER, false, "documents to show, best first (10)"},
    {"terms", GF_NUMBER, false, "terms to show, heaviest first (10)"},
    {"columns", GF_FLAG, false, "every column of the table instead"}};
static const gf_parameter doc[] = {
    COLLECTION,
    {"id", GF_TEXT, true, "the document's id"},
    {"config", GF_TEXT, false, "only this configuration (all of them)"},
    BUILD,
    {"why", GF_FLAG, false, "the terms that put it there"},
    {"terms", GF_NUMBER, false, "with --why: terms to show (10)"},
    {"columns", GF_FLAG, false, "every column of the table instead"}};
static const gf_parameter export_rows[] = {
    COLLECTION, CONFIG, BUILD, {"with-text", GF_FLAG, false, "the documents' texts too"}};
static const gf_parameter evaluate[] = {
    COLLECTION,
    CONFIG,
    BUILD,
    {"label-field", GF_TEXT, false, "field that holds the class; else id and class come as input"}};

#define OPERATION(operation_name, http_method, http_path, parameter_list, handler, words)          \
    {                                                                                              \
        .name = (operation_name), .method = (http_method), .path = (http_path),                    \
        .meaning = (words), .parameters = (parameter_list),                                        \
        .n_parameters = sizeof(parameter_list) / sizeof(gf_parameter), .run = (handler)            \
    }
#define PLAIN(operation_name, http_method, http_path, handler, words)                              \
    {                                                                                              \
        .name = (operation_name), .method = (http_method), .path = (http_path),                    \
        .meaning = (words), .run = (handler)                                                       \
    }

static const gf_operation operations[] = {
    PLAIN("init", "POST", "/store", gf_run_init, "Make a store"),
    OPERATION("collection create", "PUT", "/collections/{collection}", one_collection,
              gf_run_collection_create, "Make an empty collection"),
    OPERATION("collection list", "GET", "/collections", collection_list, gf_run_collection_list,
              "List collections"),
    OPERATION("collection show", "GET", "/collections/{collection}", collection_show,
              gf_run_collection_show, "Show one collection"),
    OPERATION("collection delete", "DELETE", "/collections/{collection}", one_collection,
              gf_run_collection_delete, "Delete a collection with all that is in it"),
    OPERATION("put", "POST", "/collections/{collection}/documents", put, gf_run_put,
              "Put documents into a collection"),
    OPERATION("delete", "DELETE", "/collections/{collection}/documents", delete_documents,
              gf_run_delete, "Delete documents"),
    OPERATION("config set", "PATCH", "/collections/{collection}/configurations/{config}",
              config_set, gf_run_config_set, "Set keys of a configuration"),
    OPERATION("config show", "GET", "/collections/{collection}/configurations/{config}", config_one,
              gf_run_config_show, "Show a configuration"),
    OPERATION("config list", "GET", "/collections/{collection}/configurations", one_collection,
              gf_run_config_list, "List configurations"),
    OPERATION("config delete", "DELETE", "/collections/{collection}/configurations/{config}",
              config_one, gf_run_config_delete, "Delete a configuration with its builds"),
    PLAIN("config keys", "GET", "/configuration-keys", gf_run_config_keys,
          "List all keys that configurations have"),
    OPERATION("rebuild", "POST", "/collections/{collection}/builds", rebuild, gf_run_rebuild,
              "Cluster a collection and publish the result"),
    OPERATION("builds", "GET", "/collections/{collection}/builds", config_one, gf_run_builds,
              "List the builds that are kept"),
    OPERATION("clusters", "GET", "/collections/{collection}/clusters", clusters, gf_run_clusters,
              "List clusters"),
    OPERATION("cluster", "GET", "/collections/{collection}/clusters/{cluster}", cluster,
              gf_run_cluster, "Show one cluster"),
    OPERATION("doc", "GET", "/collections/{collection}/documents/{id}", doc, gf_run_doc,
              "Show a document and its clusters"),
    OPERATION("export", "GET", "/collections/{collection}/memberships", export_rows, gf_run_export,
              "Every document with its cluster"),
    OPERATION("evaluate", "GET", "/collections/{collection}/evaluation", evaluate, gf_run_evaluate,
              "Compare clusters with known classes"),
    PLAIN("status", "GET", "/status", gf_run_status, "Show what the store holds"),
    PLAIN("verify", "GET", "/verification", gf_run_verify, "Check a store for damage"),
    PLAIN("version", "GET", "/version", gf_run_version, "Show versions"),
};
enum { N_OPERATIONS = sizeof operations / sizeof operations[0], MOST_PARAMETERS = 16 };

const gf_operation *gf_operations(size_t *n)
{
    *n = N_OPERATIONS;
    return operations;
}

const gf_operation *gf_operation_find(const char *name)
{
    for (size_t i = 0; i < N_OPERATIONS; i++)
        if (strcmp(operations[i].name, name) == 0) return &operations[i];
    return NULL;
}

static const gf_parameter *find_parameter(const gf_operation *o, gf_slice name)
{
    for (size_t i = 0; i < o->n_parameters; i++)
        if (gf_slice_equal(name, gf_slice_str(o->parameters[i].name))) return &o->parameters[i];
    return NULL;
}

static gf_status unknown(const gf_operation *o, gf_slice name, gf_error *err)
{
    const char *names[MOST_PARAMETERS];
    for (size_t i = 0; i < o->n_parameters; i++)
        names[i] = o->parameters[i].name;
    const char *nearest = gf_nearest(name, names, o->n_parameters);
    return gf_fail(err, GF_EINVAL, "%s has no argument \"%.*s\"%s%s%s", o->name, GF_SLICE_ARG(name),
                   nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                   nearest ? "\"?" : "");
}

static bool is_number(gf_slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9') return false;
    return s.len > 0 && s.len <= 18;
}

static gf_status check_value(const gf_parameter *p, gf_slice value, gf_error *err)
{
    uint64_t bytes;
    if (p->kind == GF_NUMBER && !is_number(value))
        return gf_fail(err, GF_EINVAL, "%s: \"%.*s\" is not a whole number", p->name,
                       GF_SLICE_ARG(value));
    if (p->kind == GF_BYTES && !gf_parse_bytes(value, &bytes))
        return gf_fail(err, GF_EINVAL, "%s: \"%.*s\" is not a size such as 16M", p->name,
                       GF_SLICE_ARG(value));
    if (p->kind == GF_TEXT && value.len == 0)
        return gf_fail(err, GF_EINVAL, "%s is empty", p->name);
    return GF_OK;
}

gf_status gf_operation_run(const gf_operation *o, gf_call *call, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < call->n_arguments && st == GF_OK; i++) {
        const gf_parameter *p = find_parameter(o, call->arguments[i].name);
        st = p ? check_value(p, call->arguments[i].value, err)
               : unknown(o, call->arguments[i].name, err);
    }
    for (size_t i = 0; i < o->n_parameters && st == GF_OK; i++)
        if (o->parameters[i].required && !gf_call_has(call, o->parameters[i].name))
            st = gf_fail(err, GF_EINVAL, "%s needs %s: %s", o->name, o->parameters[i].name,
                         o->parameters[i].meaning);
    call->outcome = GF_DONE;
    return st == GF_OK ? o->run(call, err) : st;
}
