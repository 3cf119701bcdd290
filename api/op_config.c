/* config set, show, list, delete, keys. */
#include "api/call_internal.h"

#include "base/memory.h"

static gf_slice configuration(const gf_call *call)
{
    return gf_call_text_or(call, "config", "default");
}

static gf_status emit_place(gf_call *call, const char *done, gf_error *err)
{
    gf_row_writer row;
    gf_row_open(&row);
    gf_json_begin(&row.json, '{');
    gf_json_put_string(&row.json, "collection", gf_call_text(call, "collection"));
    gf_json_put_string(&row.json, "configuration", configuration(call));
    gf_json_put_bool(&row.json, done, true);
    gf_json_end(&row.json, '}');
    gf_status st = gf_row_emit(&row, call, err);
    gf_row_release_writer(&row);
    return st;
}

static gf_status take_pairs(const gf_call *call, gf_pair *pairs, size_t n, gf_error *err)
{
    for (size_t i = 0; i < n; i++) {
        gf_slice text = gf_call_nth(call, "set", i);
        const char *equals = text.len ? memchr(text.ptr, '=', text.len) : NULL;
        if (!equals)
            return gf_fail(err, GF_EINVAL, "\"%.*s\" is not key=value", GF_SLICE_ARG(text));
        size_t name = (size_t)(equals - text.ptr);
        pairs[i] = (gf_pair){gf_slice_of(text.ptr, name), gf_slice_skip(text, name + 1)};
    }
    return GF_OK;
}

gf_status gf_run_config_set(gf_call *call, gf_error *err)
{
    gf_store *store;
    size_t n = gf_call_count(call, "set");
    gf_pair *pairs = gf_array(n, sizeof *pairs);
    if (!pairs) return gf_fail_memory(err, "settings");
    gf_status st = take_pairs(call, pairs, n, err);
    if (st == GF_OK) st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_configuration_set(store, gf_call_place(call), configuration(call), pairs, n, err);
    gf_free(pairs);
    return st == GF_OK ? emit_place(call, "set", err) : st;
}

gf_status gf_run_config_delete(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_configuration_delete(store, gf_call_place(call), configuration(call), err);
    return st == GF_OK ? emit_place(call, "deleted", err) : st;
}

typedef struct row_context {
    gf_call *call;
    gf_row_writer row;
} row_context;

static void write_setting(gf_json_writer *w, const gf_setting *s)
{
    gf_json_put_str(w, "values", s->values);
    gf_json_put_str(w, "initial", s->initial);
    gf_json_put_str(w, "meaning", s->meaning);
}

static gf_status emit_setting(void *context, const gf_setting *s, gf_slice value, gf_origin origin,
                              gf_error *err)
{
    static const char *const origins[] = {"default", "namespace", "collection"};
    row_context *c = context;
    gf_json_begin(&c->row.json, '{');
    gf_json_put_str(&c->row.json, "key", s->name);
    gf_json_put_string(&c->row.json, "value", value);
    gf_json_put_str(&c->row.json, "from", origins[origin]);
    write_setting(&c->row.json, s);
    gf_json_end(&c->row.json, '}');
    return gf_row_emit(&c->row, c->call, err);
}

gf_status gf_run_config_show(gf_call *call, gf_error *err)
{
    gf_store *store;
    row_context c = {.call = call};
    gf_status st = gf_call_store(call, &store, err);
    if (st != GF_OK) return st;
    gf_row_open(&c.row);
    st = gf_configuration_read(store, gf_call_place(call), configuration(call), emit_setting, &c,
                               err);
    gf_row_release_writer(&c.row);
    return st;
}

static gf_status emit_name(void *context, gf_slice name, gf_error *err)
{
    row_context *c = context;
    gf_json_begin(&c->row.json, '{');
    gf_json_put_string(&c->row.json, "configuration", name);
    gf_json_end(&c->row.json, '}');
    return gf_row_emit(&c->row, c->call, err);
}

gf_status gf_run_config_list(gf_call *call, gf_error *err)
{
    gf_store *store;
    row_context c = {.call = call};
    gf_status st = gf_call_store(call, &store, err);
    if (st != GF_OK) return st;
    gf_row_open(&c.row);
    st = gf_configurations_visit(store, gf_call_place(call), emit_name, &c, err);
    gf_row_release_writer(&c.row);
    return st;
}

gf_status gf_run_config_keys(gf_call *call, gf_error *err)
{
    size_t n;
    const gf_setting *settings = gf_settings(&n);
    row_context c = {.call = call};
    gf_status st = GF_OK;
    gf_row_open(&c.row);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        gf_json_begin(&c.row.json, '{');
        gf_json_put_str(&c.row.json, "key", settings[i].name);
        write_setting(&c.row.json, &settings[i]);
        gf_json_end(&c.row.json, '}');
        st = gf_row_emit(&c.row, call, err);
    }
    gf_row_release_writer(&c.row);
    return st;
}
