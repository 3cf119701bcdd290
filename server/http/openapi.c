/* OpenAPI 3.1 from the table of routes. */
#include "server/http/openapi.h"

#include "server/http/request.h"

#include <ctype.h>

static void put_schema(gf_json_writer *w, const gf_parameter *p)
{
    gf_json_begin(w, '{');
    switch (p->kind) {
    case GF_PARAMETER_NUMBER:
        gf_json_put_str(w, "type", "integer");
        gf_json_put_uint(w, "minimum", p->least);
        if (p->most) gf_json_put_uint(w, "maximum", p->most);
        break;
    case GF_PARAMETER_SHARE:
        gf_json_put_str(w, "type", "number");
        gf_json_put_uint(w, "minimum", 0);
        gf_json_put_uint(w, "maximum", 1);
        break;
    case GF_PARAMETER_FLAG:
        gf_json_put_str(w, "type", "boolean");
        break;
    case GF_PARAMETER_CHOICE:
        gf_json_put_str(w, "type", "string");
        gf_json_key(w, "enum");
        gf_json_begin(w, '[');
        for (const char *word = p->value; word && *word;) {
            size_t n = strcspn(word, "|");
            gf_json_string(w, gf_slice_of(word, n));
            word += word[n] ? n + 1 : n;
        }
        gf_json_end(w, ']');
        break;
    case GF_PARAMETER_LIST:
    case GF_PARAMETER_SEVERAL:
    case GF_PARAMETER_SETTINGS:
        gf_json_put_str(w, "type", "array");
        gf_json_key(w, "items");
        gf_json_begin(w, '{');
        gf_json_put_str(w, "type", "string");
        gf_json_end(w, '}');
        break;
    default:
        gf_json_put_str(w, "type", "string");
        gf_json_put_uint(w, "minLength", 1);
    }
    gf_json_end(w, '}');
}

static bool is_in_path(const gf_route *route, gf_slice name)
{
    const char *at = route->path;
    while ((at = strchr(at, '{')) != NULL) {
        size_t n = strcspn(++at, "}");
        if (gf_slice_equal(gf_slice_of(at, n), name)) return true;
    }
    return false;
}

static void put_parameter(gf_json_writer *w, gf_slice name, const gf_parameter *p, bool in_path)
{
    static const gf_parameter text = {.kind = GF_PARAMETER_TEXT};
    gf_json_begin(w, '{');
    gf_json_put_string(w, "name", name);
    gf_json_put_str(w, "in", in_path ? "path" : "query");
    if (in_path || (p && p->required)) gf_json_put_bool(w, "required", true);
    if (p) gf_json_put_str(w, "description", p->meaning);
    gf_json_key(w, "schema");
    put_schema(w, p ? p : &text);
    gf_json_end(w, '}');
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
        put_parameter(w, name, parameter_of(route, name), true);
    }
    for (size_t i = 0; o && i < o->n_parameters; i++) {
        gf_slice name = gf_slice_str(o->parameters[i].name);
        if (!is_in_path(route, name)) put_parameter(w, name, &o->parameters[i], false);
    }
    for (const char *const *own = route->parameters; own && *own; own++)
        put_parameter(w, gf_slice_str(*own), NULL, false);
    if (route->scope == GF_SCOPE_NAMESPACE && !is_in_path(route, GF_SLICE("ns")))
        put_parameter(w, GF_SLICE("namespace"), NULL, false);
    gf_json_end(w, ']');
}

static void put_content(gf_json_writer *w, const char *type)
{
    gf_json_key(w, "content");
    gf_json_begin(w, '{');
    gf_json_key(w, type);
    gf_json_begin(w, '{');
    gf_json_end(w, '}');
    gf_json_end(w, '}');
}

static void put_responses(gf_json_writer *w, const gf_route *route)
{
    bool later = route->status == 202;
    bool made = route->status == 201;
    gf_json_key(w, "responses");
    gf_json_begin(w, '{');
    gf_json_key(w, later ? "202" : made ? "201" : "200");
    gf_json_begin(w, '{');
    gf_json_put_str(w, "description", route->meaning);
    gf_json_end(w, '}');
    gf_json_key(w, "default");
    gf_json_begin(w, '{');
    gf_json_put_str(w, "description", "A problem (RFC 9457)");
    put_content(w, "application/problem+json");
    gf_json_end(w, '}');
    gf_json_end(w, '}');
}

static void put_body(gf_json_writer *w, const gf_route *route)
{
    bool reads =
        route->body == GF_BODY_COLLECT || (route->operation && strcmp(route->method, "POST") == 0);
    if (!reads) return;
    gf_json_key(w, "requestBody");
    gf_json_begin(w, '{');
    put_content(w, route->body == GF_BODY_COLLECT ? "application/json" : "application/x-ndjson");
    gf_json_end(w, '}');
}

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

static void put_security(gf_json_writer *w)
{
    gf_json_key(w, "components");
    gf_json_begin(w, '{');
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
    put_security(&w);
    gf_json_end(&w, '}');
    gf_buffer_byte(out, '\n');
}
