/* config set, show, list, delete, keys. */
#include "api/collections/internal.h"
#include "api/collections/schema.h"

#include "base/memory.h"

/* The row of defaults has their namespace in the place of a collection. */
static gf_status emit_place(gf_call *call, const char *done, gf_error *err)
{
    gf_row_writer row = {.call = call};
    bool all = gf_call_flag(call, "all");
    gf_json_writer *w =
        gf_row_writer_begin_of(&row, all ? (gf_slice){0} : gf_call_text(call, "collection"));
    if (all) gf_json_put_string(w, "namespace", call->name_space);
    gf_json_put_string(w, "configuration", gf_call_configuration(call));
    gf_json_put_bool(w, done, true);
    return gf_row_writer_emit_only(&row, err);
}

/* Before the pairs that are given come those that take every key back to its default. */
static gf_status reset_others(gf_pair **pairs, size_t *n, gf_error *err)
{
    size_t n_all;
    const gf_setting *settings = gf_settings(&n_all);
    gf_pair *all = gf_array(n_all + *n, sizeof *all);
    if (!all) {
        gf_free(*pairs);
        *pairs = NULL;
        return gf_fail_memory(err, "settings");
    }
    for (size_t i = 0; i < n_all; i++)
        all[i] = (gf_pair){gf_slice_str(settings[i].name), {"", 0}};
    if (*n) memcpy(all + n_all, *pairs, *n * sizeof *all);
    gf_free(*pairs);
    *pairs = all;
    *n += n_all;
    return GF_OK;
}

static gf_status run_config_set(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_pair *pairs = NULL;
    size_t n = 0;
    bool replaces = gf_call_flag(call, "replace");
    gf_status st = gf_call_settings(call, &pairs, &n, err);
    if (st == GF_OK && n == 0 && !replaces)
        return gf_fail(err, GF_EINVAL, "set is missing: key=value, at least one");
    if (st == GF_OK && replaces) st = reset_others(&pairs, &n, err);
    if (st == GF_OK) st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_configuration_set(store, gf_call_place(call), gf_call_configuration(call), pairs, n,
                                  err);
    gf_free(pairs);
    return st == GF_OK ? emit_place(call, "set", err) : st;
}

static gf_status run_config_delete(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_configuration_delete(store, gf_call_place(call), gf_call_configuration(call), err);
    return st == GF_OK ? emit_place(call, "deleted", err) : st;
}

static void write_setting(gf_json_writer *w, const gf_setting *s)
{
    gf_json_put_str(w, "values", s->values);
    gf_json_put_str(w, "initial", s->initial);
    gf_json_put_str(w, "meaning", s->meaning);
}

static const char *const origins[] = {"default", "namespace", "collection"};

static gf_status emit_setting(void *context, const gf_setting *s, gf_slice value, gf_origin origin,
                              gf_error *err)
{
    gf_json_writer *w = gf_row_writer_begin(context);
    gf_json_put_str(w, "key", s->name);
    gf_json_put_string(w, "value", value);
    gf_json_put_str(w, "from", origins[origin]);
    write_setting(w, s);
    return gf_row_writer_emit(context, err);
}

static gf_status run_config_show(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_status st = gf_call_store(call, &store, err);
    if (st != GF_OK) return st;
    st = gf_configuration_read(store, gf_call_place(call), gf_call_configuration(call),
                               emit_setting, &row, err);
    gf_row_writer_release(&row);
    return st;
}

static gf_status emit_configuration(void *context, const gf_configuration_info *info, gf_error *err)
{
    gf_json_writer *w = gf_row_writer_begin(context);
    gf_json_put_string(w, "configuration", info->name);
    gf_json_put_str(w, "from", origins[info->origin]);
    gf_json_put_bool(w, "rebuild", info->rebuilt);
    if (info->within.len) gf_json_put_string(w, "within", info->within);
    return gf_row_writer_emit(context, err);
}

static gf_status run_config_list(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_status st = gf_call_store(call, &store, err);
    if (st != GF_OK) return st;
    st = gf_configuration_list_visit(store, gf_call_place(call), emit_configuration, &row, err);
    gf_row_writer_release(&row);
    return st;
}

static gf_status run_config_keys(gf_call *call, gf_error *err)
{
    size_t n;
    const gf_setting *settings = gf_settings(&n);
    gf_row_writer row = {.call = call};
    gf_status st = GF_OK;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        gf_json_writer *w = gf_row_writer_begin(&row);
        gf_json_put_str(w, "key", settings[i].name);
        write_setting(w, &settings[i]);
        st = gf_row_writer_emit(&row, err);
    }
    gf_row_writer_release(&row);
    return st;
}

/* ---- the operations -------------------------------------------------------------------------- */

static const gf_parameter config_set_parameters[] = {
    P_COLLECTIONS, P_NAMESPACE, P_CONFIG,
    P_SETTINGS(false, "KEY= takes the key back to its default"),
    P_FLAG("replace", "take all keys that are not given back to their defaults")};

static const gf_operation_variant config_replace = {
    "config replace", "PUT", "Set keys of a configuration, and no others", "replace"};

static const gf_parameter config_one_parameters[] = {P_COLLECTIONS, P_NAMESPACE, P_CONFIG};

static const gf_parameter config_list_parameters[] = {P_COLLECTIONS, P_NAMESPACE};

const gf_operation gf_config_set_operation = {
    .name = "config set",
    .method = "PATCH",
    .path = "/collections/{collection}/configurations/{config}",
    .meaning = "Set keys of a configuration",
    GF_PARAMETERS(config_set_parameters),
    .members = gf_schema_config_set,
    .run = run_config_set,
    .reach = GF_REACH_PATTERN,
    .single = true,
    .variant = &config_replace,
};

const gf_operation gf_config_show_operation = {
    .name = "config show",
    .method = "GET",
    .path = "/collections/{collection}/configurations/{config}",
    .meaning = "Show a configuration",
    GF_PARAMETERS(config_one_parameters),
    .members = gf_schema_config_show,
    .run = run_config_show,
    .reach = GF_REACH_PATTERN,
};

const gf_operation gf_config_list_operation = {
    .name = "config list",
    .method = "GET",
    .path = "/collections/{collection}/configurations",
    .meaning = "List a collection's configurations",
    GF_PARAMETERS(config_list_parameters),
    .members = gf_schema_config_list,
    .run = run_config_list,
    .reach = GF_REACH_PATTERN,
};

const gf_operation gf_config_delete_operation = {
    .name = "config delete",
    .method = "DELETE",
    .path = "/collections/{collection}/configurations/{config}",
    .meaning = "Delete a configuration with its builds",
    GF_PARAMETERS(config_one_parameters),
    .members = gf_schema_config_delete,
    .run = run_config_delete,
    .reach = GF_REACH_PATTERN,
    .single = true,
};

const gf_operation gf_config_keys_operation = {
    .name = "config keys",
    .method = "GET",
    .path = "/configuration-keys",
    .meaning = "List all keys that configurations have",
    .members = gf_schema_config_keys,
    .run = run_config_keys,
    .use = GF_USE_NONE,
};
