/* OpenAPI 3.1 from the table of routes. */
#include "server/http/openapi.h"

#include "server/http/rows.h"
#include "server/http/schemas.h"

#include <ctype.h>

static bool is_in_path(const gf_route *route, gf_slice name)
{
    const char *at = route->path;
    while ((at = strchr(at, '{')) != NULL) {
        size_t n = strcspn(++at, "}");
        if (gf_slice_equal(gf_slice_of(at, n), name)) return true;
    }
    return false;
}

/* A call of several collections has rows of another form, and is not described. */
static bool is_pattern(const gf_route *route, const gf_parameter *p)
{
    const gf_operation *o = route->operation;
    return p && o && o->reach != GF_REACH_ONE && strcmp(p->name, "collection") == 0;
}

static void put_one(gf_json_writer *w, const gf_route *route, gf_slice name, const gf_parameter *p,
                    bool in_path)
{
    static const gf_parameter text = {.kind = GF_PARAMETER_TEXT};
    bool in_body = route->operation && gf_parameters_in_body(route->operation);
    gf_json_begin(w, '{');
    gf_json_put_string(w, "name", name);
    gf_json_put_str(w, "in", in_path ? "path" : "query");
    if (in_path || (p && p->required && !in_body)) gf_json_put_bool(w, "required", true);
    if (p) gf_json_put_str(w, "description", is_pattern(route, p) ? "the collection" : p->meaning);
    gf_json_key(w, "schema");
    if (is_pattern(route, p))
        gf_json_raw(w, GF_SLICE("{\"type\":\"string\",\"minLength\":1,"
                                "\"pattern\":\"^[^*?\\\\[\\\\]\\\\\\\\]*$\"}"));
    else
        gf_schemas_put_parameter(w, p ? p : &text, false);
    gf_json_end(w, '}');
}

/* Parameters that the method itself says; and "all", which goes with no collection. */
static bool is_left_out(const gf_route *route, gf_slice name)
{
    bool implied = route->flag && gf_slice_equal(name, gf_slice_str(route->flag));
    return implied ||
           (is_in_path(route, GF_SLICE("collection")) && gf_slice_equal(name, GF_SLICE("all")));
}

static const gf_parameter *parameter_of(const gf_route *route, gf_slice name)
{
    const gf_operation *o = route->operation;
    for (size_t i = 0; o && i < o->n_parameters; i++)
        if (gf_slice_equal(gf_slice_str(o->parameters[i].name), name)) return &o->parameters[i];
    return NULL;
}

static void put_parameters(gf_json_writer *w, const gf_route *route)
{
    const gf_operation *o = route->operation;
    gf_json_key(w, "parameters");
    gf_json_begin(w, '[');
    for (const char *at = route->path; (at = strchr(at, '{')) != NULL;) {
        size_t n = strcspn(++at, "}");
        gf_slice name = gf_slice_of(at, n);
        put_one(w, route, name, parameter_of(route, name), true);
    }
    for (size_t i = 0; o && i < o->n_parameters; i++) {
        gf_slice name = gf_slice_str(o->parameters[i].name);
        if (!is_in_path(route, name) && !is_left_out(route, name))
            put_one(w, route, name, &o->parameters[i], false);
    }
    for (const char *const *own = route->parameters; own && *own; own++)
        put_one(w, route, gf_slice_str(*own), NULL, false);
    if (route->scope == GF_SCOPE_NAMESPACE && !is_in_path(route, GF_SLICE("ns")))
        put_one(w, route, GF_SLICE("namespace"), NULL, false);
    gf_json_end(w, ']');
}

/* ---- answers --------------------------------------------------------------------------------- */

/* A media type of whatever bytes, or of text. */
static void put_bytes(gf_json_writer *w, const char *type)
{
    bool text = strncmp(type, "text/", 5) == 0 || strcmp(type, "application/x-ndjson") == 0;
    gf_json_key_slice(w, gf_slice_of(type, strcspn(type, ";")));
    gf_json_begin(w, '{');
    gf_json_key(w, "schema");
    gf_json_begin(w, '{');
    gf_json_put_str(w, "type", "string");
    if (!text) gf_json_put_str(w, "format", "binary");
    gf_json_end(w, '}');
    gf_json_end(w, '}');
}

/*
 * Rows as JSON, and the file that the operation writes. Lines, which any operation gives whoever accepts
 * them, are not listed: a client with two types for one answer would have no type for it.
 */
static void put_rows(gf_json_writer *w, const gf_route *route, bool now)
{
    const gf_operation *o = route->operation;
    gf_json_key(w, "content");
    gf_json_begin(w, '{');
    if (!o || !o->file_only) {
        gf_json_key(w, "application/json");
        gf_json_begin(w, '{');
        gf_schemas_put_answer(w, route, now);
        gf_json_end(w, '}');
    }
    if (o && o->file_type) put_bytes(w, o->file_type);
    gf_json_end(w, '}');
}

static void put_response(gf_json_writer *w, const gf_route *route, const char *status, bool now)
{
    const char *type = route->type;
    gf_json_key(w, status);
    gf_json_begin(w, '{');
    gf_json_put_str(w, "description", route->meaning);
    if (route->operation || route->members) {
        put_rows(w, route, now);
    } else if (type) {
        gf_json_key(w, "content");
        gf_json_begin(w, '{');
        put_bytes(w, type);
        gf_json_end(w, '}');
    }
    gf_json_end(w, '}');
}

static void put_responses(gf_json_writer *w, const gf_route *route)
{
    const gf_operation *o = route->operation;
    bool later = route->status == 202, made = route->status == 201;
    gf_json_key(w, "responses");
    gf_json_begin(w, '{');
    put_response(w, route, later ? "202" : made ? "201" : "200", false);
    if (o && o->rebuilds) put_response(w, route, "200", true);
    if (o && o->cacheable) {
        gf_json_key(w, "304");
        gf_json_begin(w, '{');
        gf_json_put_str(w, "description", "It is as If-None-Match has it");
        gf_json_end(w, '}');
    }
    gf_json_key(w, "default");
    gf_json_begin(w, '{');
    gf_json_put_str(w, "description", "A problem (RFC 9457)");
    gf_json_key(w, "content");
    gf_json_begin(w, '{');
    gf_json_key(w, "application/problem+json");
    gf_json_begin(w, '{');
    gf_json_key(w, "schema");
    gf_schemas_put_reference(w, NULL, "problem");
    gf_json_end(w, '}');
    gf_json_end(w, '}');
    gf_json_end(w, '}');
    gf_json_end(w, '}');
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Parameters; or records, whose format is found out where their type does not say it. */
static void put_body(gf_json_writer *w, const gf_route *route)
{
    const gf_operation *o = route->operation;
    bool parameters = o && gf_parameters_in_body(o);
    bool records = o && o->input != GF_INPUT_NONE && strcmp(route->method, "GET") != 0;
    if (!parameters && !records && route->body != GF_BODY_COLLECT) return;
    gf_json_key(w, "requestBody");
    gf_json_begin(w, '{');
    if (o && o->input == GF_INPUT_REQUIRED) gf_json_put_bool(w, "required", true);
    gf_json_key(w, "content");
    gf_json_begin(w, '{');
    if (parameters) {
        gf_json_key(w, "application/json");
        gf_json_begin(w, '{');
        gf_schemas_put_body(w, route);
        gf_json_end(w, '}');
    } else if (!o) {
        gf_json_key(w, "application/json");
        gf_json_begin(w, '{');
        gf_json_end(w, '}');
    }
    if (records) put_bytes(w, "application/octet-stream");
    if (records && !parameters) put_bytes(w, "application/x-ndjson");
    gf_json_end(w, '}');
    gf_json_end(w, '}');
}

/* ---- routes ---------------------------------------------------------------------------------- */

static void put_route(gf_json_writer *w, const gf_route *route)
{
    char name[16], id[80];
    size_t n = 0;
    for (; route->method[n] && n < sizeof name - 1; n++)
        name[n] = (char)tolower((unsigned char)route->method[n]);
    name[n] = '\0';
    for (n = 0; route->name[n] && n < sizeof id - 1; n++)
        id[n] = isalnum((unsigned char)route->name[n]) ? route->name[n] : '_';
    id[n] = '\0';
    gf_json_key(w, name);
    gf_json_begin(w, '{');
    gf_json_put_str(w, "operationId", id);
    gf_json_put_str(w, "summary", route->meaning);
    put_parameters(w, route);
    put_body(w, route);
    put_responses(w, route);
    if (route->scope == GF_SCOPE_OPEN) {
        gf_json_key(w, "security");
        gf_json_begin(w, '[');
        gf_json_end(w, ']');
    }
    gf_json_end(w, '}');
}

/* All methods of a path together, at the first route that has it. */
static void put_path(gf_json_writer *w, const gf_route *routes, size_t n, size_t first)
{
    for (size_t i = 0; i < first; i++)
        if (strcmp(routes[i].path, routes[first].path) == 0) return;
    gf_json_key(w, routes[first].path);
    gf_json_begin(w, '{');
    for (size_t i = first; i < n; i++)
        if (strcmp(routes[i].path, routes[first].path) == 0) put_route(w, &routes[i]);
    gf_json_end(w, '}');
}

static void put_components(gf_json_writer *w, const gf_route *routes, size_t n)
{
    gf_json_key(w, "components");
    gf_json_begin(w, '{');
    gf_schemas_write(w, routes, n);
    gf_json_key(w, "securitySchemes");
    gf_json_begin(w, '{');
    gf_json_key(w, "token");
    gf_json_begin(w, '{');
    gf_json_put_str(w, "type", "http");
    gf_json_put_str(w, "scheme", "bearer");
    gf_json_end(w, '}');
    gf_json_end(w, '}');
    gf_json_end(w, '}');
    gf_json_key(w, "security");
    gf_json_begin(w, '[');
    gf_json_begin(w, '{');
    gf_json_end(w, '}');
    gf_json_begin(w, '{');
    gf_json_key(w, "token");
    gf_json_begin(w, '[');
    gf_json_end(w, ']');
    gf_json_end(w, '}');
    gf_json_end(w, ']');
}

void gf_openapi_write(const struct gf_route *routes, size_t n, gf_buffer *out)
{
    gf_json_writer w = gf_json_writer_to(out);
    gf_json_begin(&w, '{');
    gf_json_put_str(&w, "openapi", "3.1.0");
    gf_json_key(&w, "info");
    gf_json_begin(&w, '{');
    gf_json_put_str(&w, "title", "Grouperfish");
    gf_json_put_str(&w, "version", gf_version());
    gf_json_end(&w, '}');
    gf_json_key(&w, "paths");
    gf_json_begin(&w, '{');
    for (size_t i = 0; i < n; i++)
        put_path(&w, routes, n, i);
    gf_json_end(&w, '}');
    put_components(&w, routes, n);
    gf_json_end(&w, '}');
    gf_buffer_byte(out, '\n');
}
