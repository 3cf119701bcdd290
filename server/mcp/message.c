/* Messages of JSON-RPC 2.0: reading one, writing answers. */
#include "server/mcp/internal.h"

#include <stdio.h>

static bool refuse(gf_mcp_message *m, int code, const char *why)
{
    m->fault = code;
    m->why = why;
    return false;
}

bool gf_mcp_message_id(gf_json_value v, gf_buffer *id)
{
    switch (gf_json_kind_of(v)) {
    case GF_JSON_INT:
        gf_buffer_format(id, "%lld", (long long)gf_json_get_int(v));
        return true;
    case GF_JSON_UINT:
        gf_buffer_format(id, "%llu", (unsigned long long)gf_json_get_uint(v));
        return true;
    case GF_JSON_STRING:
        if (gf_json_get_string(v).len > GF_MCP_LONGEST_ID) return false;
        gf_json_append_string(id, gf_json_get_string(v));
        return true;
    default:
        return false;
    }
}

static bool read_parts(gf_json_value value, gf_buffer *id, gf_mcp_message *m)
{
    gf_json_value v;
    if (gf_json_kind_of(value) != GF_JSON_OBJECT)
        return refuse(m, GF_MCP_NO_REQUEST, "a message is an object");
    if (gf_json_member(value, "id", &v) && !gf_mcp_message_id(v, id))
        return refuse(m, GF_MCP_NO_REQUEST,
                      "an id is a string of at most 256 bytes, or a whole number");
    m->id = gf_buffer_view(id);
    if (!gf_json_member(value, "jsonrpc", &v) || gf_json_kind_of(v) != GF_JSON_STRING ||
        !gf_slice_equal(gf_json_get_string(v), GF_SLICE("2.0")))
        return refuse(m, GF_MCP_NO_REQUEST, "\"jsonrpc\" has to be \"2.0\"");
    if (!gf_json_member(value, "method", &v)) {
        m->is_answer = gf_json_member(value, "result", &v) || gf_json_member(value, "error", &v);
        return m->is_answer || refuse(m, GF_MCP_NO_REQUEST, "there is no \"method\"");
    }
    if (gf_json_kind_of(v) != GF_JSON_STRING)
        return refuse(m, GF_MCP_NO_REQUEST, "\"method\" is not a string");
    m->method = gf_json_get_string(v);
    m->has_params = gf_json_member(value, "params", &m->params);
    if (m->has_params && gf_json_kind_of(m->params) != GF_JSON_OBJECT) {
        m->has_params = false;
        return refuse(m, GF_MCP_BAD_PARAMETERS, "\"params\" is not an object");
    }
    return true;
}

gf_status gf_mcp_message_read(gf_json_value value, gf_buffer *id, gf_mcp_message *message,
                              gf_error *err)
{
    *message = (gf_mcp_message){.fault = 0};
    (void)read_parts(value, id, message);
    return gf_buffer_check(id, err);
}

bool gf_mcp_message_get(const gf_mcp_message *m, const char *name, gf_json_value *value)
{
    return m->has_params && gf_json_member(m->params, name, value);
}

bool gf_mcp_message_meta(const gf_mcp_message *m, const char *name, gf_json_value *value)
{
    gf_json_value meta;
    return gf_mcp_message_get(m, "_meta", &meta) && gf_json_kind_of(meta) == GF_JSON_OBJECT &&
           gf_json_member(meta, name, value);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void begin_answer(gf_json_writer *w, gf_slice id)
{
    gf_json_begin(w, '{');
    gf_json_put_str(w, "jsonrpc", "2.0");
    gf_json_key(w, "id");
    gf_json_raw(w, id.len ? id : GF_SLICE("null"));
}

void gf_mcp_begin_result(gf_json_writer *w, gf_slice id)
{
    begin_answer(w, id);
    gf_json_key(w, "result");
    gf_json_begin(w, '{');
}

void gf_mcp_put_server(gf_json_writer *w, const char *key)
{
    gf_json_key(w, key);
    gf_json_begin(w, '{');
    gf_json_put_str(w, "name", "grouperfish");
    gf_json_put_str(w, "title", "Grouperfish");
    gf_json_put_str(w, "version", gf_version());
    gf_json_end(w, '}');
}

void gf_mcp_end_result(gf_json_writer *w, bool stateless)
{
    if (stateless) {
        gf_json_put_str(w, "resultType", "complete");
        gf_json_key(w, "_meta");
        gf_json_begin(w, '{');
        gf_mcp_put_server(w, "io.modelcontextprotocol/serverInfo");
        gf_json_end(w, '}');
    }
    gf_json_end(w, '}');
    gf_json_end(w, '}');
}

void gf_mcp_put_error(gf_buffer *out, gf_slice id, int code, const char *message)
{
    gf_json_writer w = gf_json_writer_to(out);
    begin_answer(&w, id);
    gf_json_key(&w, "error");
    gf_json_begin(&w, '{');
    gf_json_key(&w, "code");
    gf_json_int(&w, code);
    gf_json_put_str(&w, "message", message);
    gf_json_end(&w, '}');
    gf_json_end(&w, '}');
}
