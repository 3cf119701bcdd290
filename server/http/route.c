/* From a method and a target to a route and its arguments. */
#include "server/http/route.h"
#include "server/http/rows.h"

#include "api/arguments.h"
#include "base/hex.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <stdio.h>
#include <strings.h>

/* ---- the table ------------------------------------------------------------------------------- */

static gf_status make_route(const gf_operation *o, gf_route *route, gf_error *err)
{
    size_t n = strlen(o->path) + 4;
    char *path = gf_malloc(n);
    if (!path) return gf_fail_memory(err, "routes");
    snprintf(path, n, "/v1%s", o->path);
    *route = (gf_route){.name = o->name,
                        .method = o->method,
                        .path = path,
                        .operation = o,
                        .run = gf_rows_run,
                        .scope = o->of_store ? GF_SCOPE_STORE : GF_SCOPE_NAMESPACE,
                        .writes = gf_operation_writes(o),
                        .quick = o->use == GF_USE_NONE && o->input == GF_INPUT_NONE && !o->local,
                        .status = o->rebuilds  ? 202
                                  : o->creates ? 201
                                               : 200,
                        .meaning = o->meaning};
    gf_tasks_adjust_route(route);
    return GF_OK;
}

gf_status gf_routes_make(gf_http *http, gf_error *err)
{
    const struct {
        const gf_route *routes;
        size_t n;
    } own[] = {{gf_routes_of_old, gf_n_routes_of_old},
               {gf_routes_of_tasks, gf_n_routes_of_tasks},
               {gf_routes_of_health, gf_n_routes_of_health},
               {gf_routes_of_pages, gf_n_routes_of_pages},
               {gf_routes_of_upgrade, gf_n_routes_of_upgrade}};
    size_t n_operations = 0, n = 0;
    for (const gf_operation *o; (o = gf_operation_at(n_operations)) != NULL; n_operations++)
        n += o->variant != NULL;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        n += own[i].n;
    http->routes = gf_calloc(n + n_operations, sizeof *http->routes);
    if (!http->routes) return gf_fail_memory(err, "routes");
    for (size_t i = 0; i < n_operations; i++) {
        const gf_operation *o = gf_operation_at(i);
        gf_status st = make_route(o, &http->routes[http->n_routes], err);
        if (st != GF_OK) return st;
        http->n_routes++;
        if (!o->variant) continue;
        gf_route *route = &http->routes[http->n_routes];
        st = make_route(o, route, err);
        if (st != GF_OK) return st;
        http->n_routes++;
        route->name = o->variant->name;
        route->method = o->variant->method;
        route->meaning = o->variant->meaning;
        route->flag = o->variant->flag;
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        for (size_t k = 0; k < own[i].n; k++)
            http->routes[http->n_routes++] = own[i].routes[k];
    return GF_OK;
}

void gf_routes_free(gf_http *http)
{
    for (size_t i = 0; i < http->n_routes; i++)
        if (http->routes[i].operation) gf_free((char *)http->routes[i].path);
    gf_free(http->routes);
}

/* ---- decoding -------------------------------------------------------------------------------- */

/* %41 -> A, and where `plus` + -> space. The result is UTF-8 or nothing. */
static gf_status decode(gf_arena *memory, gf_slice s, bool plus, gf_slice *out, gf_error *err)
{
    char *to = gf_arena_alloc(memory, s.len + 1);
    size_t n = 0;
    if (!to) return gf_fail_memory(err, "a request");
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '%') {
            if (s.len - i < 3 || gf_hex_digit(s.ptr[i + 1]) < 0 || gf_hex_digit(s.ptr[i + 2]) < 0)
                return gf_fail(err, GF_EINVAL, "a %% in the address stands for itself as %%25");
            to[n++] = (char)(gf_hex_digit(s.ptr[i + 1]) << 4 | gf_hex_digit(s.ptr[i + 2]));
            i += 2;
        } else {
            to[n++] = plus && s.ptr[i] == '+' ? ' ' : s.ptr[i];
        }
    }
    *out = gf_slice_of(to, n);
    if (gf_utf8_valid_length(*out) == n) return GF_OK;
    return gf_fail(err, GF_EINVAL, "the address is not valid UTF-8");
}

void gf_route_percent_encode(gf_buffer *out, gf_slice s)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] && strchr(plain, s.ptr[i]))
            gf_buffer_byte(out, s.ptr[i]);
        else
            gf_buffer_format(out, "%%%02X", (unsigned)(unsigned char)s.ptr[i]);
}

gf_arguments gf_request_arguments(gf_request *r, const gf_operation *operation)
{
    return (gf_arguments){.operation = operation,
                          .at = r->arguments,
                          .n = r->n_arguments,
                          .room = r->room,
                          .most = GF_MOST_ARGUMENTS,
                          .memory = &r->memory};
}

void gf_request_keep_arguments(gf_request *r, const gf_arguments *a)
{
    r->arguments = a->at;
    r->n_arguments = a->n;
    r->room = a->room;
}

static gf_status add_argument(gf_request *r, gf_slice name, gf_slice value, gf_error *err)
{
    gf_arguments a = gf_request_arguments(r, r->route ? r->route->operation : NULL);
    gf_status st = gf_arguments_add(&a, name, value, err);
    gf_request_keep_arguments(r, &a);
    return st;
}

/* ---- the path -------------------------------------------------------------------------------- */

static gf_slice take_segment(gf_slice *rest)
{
    size_t n = 1;
    while (n < rest->len && rest->ptr[n] != '/')
        n++;
    gf_slice segment = gf_slice_of(rest->ptr + 1, n - 1);
    *rest = gf_slice_skip(*rest, n);
    return segment;
}

static bool is_parameter(gf_slice segment)
{
    return segment.len > 2 && segment.ptr[0] == '{';
}

/* "{id}" -> "id" */
static gf_slice name_of(gf_slice parameter)
{
    return gf_slice_of(parameter.ptr + 1, parameter.len - 2);
}

static bool is_in_query(gf_slice query, gf_slice name)
{
    while (query.len) {
        const char *end = memchr(query.ptr, '&', query.len);
        size_t n = end ? (size_t)(end - query.ptr) : query.len;
        if (n > name.len && query.ptr[name.len] == '=' && gf_slice_starts(query, name)) return true;
        query = gf_slice_skip(query, end ? n + 1 : n);
    }
    return false;
}

/*
 * An empty part is one that the query gives: "." and ".." cannot be parts of a path, since browsers
 * and others take them for steps, even where their dots are encoded.
 */
static bool fits(const char *template, gf_slice path, gf_slice query)
{
    gf_slice t = gf_slice_str(template);
    while (t.len && path.len) {
        gf_slice wanted = take_segment(&t), given = take_segment(&path);
        if (!is_parameter(wanted) && !gf_slice_equal(wanted, given)) return false;
        if (is_parameter(wanted) && !given.len && !is_in_query(query, name_of(wanted)))
            return false;
    }
    return t.len == 0 && path.len == 0;
}

/* The better of two paths that fit has a word where they first differ: /papers/counts is not
 * the paper "counts" (which can be asked for as /papers/?sha1=counts). */
static bool is_more_literal(const char *path, const char *other)
{
    gf_slice a = gf_slice_str(path), b = gf_slice_str(other);
    while (a.len && b.len) {
        bool any = is_parameter(take_segment(&a)), any_of_other = is_parameter(take_segment(&b));
        if (any != any_of_other) return any_of_other;
    }
    return false;
}

static gf_status take_path(gf_request *r, gf_slice path, gf_error *err)
{
    gf_slice t = gf_slice_str(r->route->path);
    gf_status st = GF_OK;
    while (t.len && st == GF_OK) {
        gf_slice wanted = take_segment(&t), given = take_segment(&path), value;
        if (!is_parameter(wanted) || !given.len) continue;
        st = decode(&r->memory, given, false, &value, err);
        if (st == GF_OK) st = add_argument(r, name_of(wanted), value, err);
    }
    return st;
}

/* ---- the query ------------------------------------------------------------------------------- */

static gf_status take_namespace(gf_request *r, gf_slice value, gf_error *err)
{
    if (r->name_space.len) return gf_fail(err, GF_EINVAL, "namespace is given twice");
    if (value.len == 0) return gf_fail(err, GF_EINVAL, "namespace is empty");
    r->name_space = value;
    return GF_OK;
}

static gf_status check_own(const gf_request *r, gf_slice name, gf_error *err)
{
    const char *const *known = r->route->parameters;
    for (; known && *known; known++)
        if (gf_slice_equal(name, gf_slice_str(*known))) return GF_OK;
    for (gf_slice t = gf_slice_str(r->route->path); t.len;) {
        gf_slice part = take_segment(&t);
        if (is_parameter(part) && gf_slice_equal(name, name_of(part))) return GF_OK;
    }
    return gf_fail(err, GF_EINVAL, "there is no parameter \"%.*s\" here", GF_SLICE_ARG(name));
}

static gf_status take_pair(gf_request *r, gf_slice pair, size_t n_of_path, gf_error *err)
{
    const char *equals = memchr(pair.ptr, '=', pair.len);
    size_t n = equals ? (size_t)(equals - pair.ptr) : pair.len;
    gf_slice name, value;
    gf_status st = decode(&r->memory, gf_slice_of(pair.ptr, n), true, &name, err);
    if (st == GF_OK)
        st = decode(&r->memory, gf_slice_skip(pair, equals ? n + 1 : n), true, &value, err);
    if (st != GF_OK) return st;
    if (gf_slice_equal(name, GF_SLICE("namespace"))) return take_namespace(r, value, err);
    for (size_t i = 0; i < n_of_path; i++)
        if (gf_slice_equal(r->arguments[i].name, name))
            return gf_fail(err, GF_EINVAL, "%.*s is in the path already", GF_SLICE_ARG(name));
    if (!r->route->operation) {
        st = check_own(r, name, err);
        return st == GF_OK ? add_argument(r, name, value, err) : st;
    }
    gf_arguments a = gf_request_arguments(r, r->route->operation);
    st = gf_arguments_take(&a, name, value, err);
    gf_request_keep_arguments(r, &a);
    return st;
}

static gf_status take_query(gf_request *r, gf_slice query, gf_error *err)
{
    gf_status st = GF_OK;
    size_t n_of_path = r->n_arguments;
    while (query.len && st == GF_OK) {
        const char *end = memchr(query.ptr, '&', query.len);
        size_t n = end ? (size_t)(end - query.ptr) : query.len;
        if (n) st = take_pair(r, gf_slice_of(query.ptr, n), n_of_path, err);
        query = gf_slice_skip(query, end ? n + 1 : n);
    }
    return st;
}

/* The namespace is in the path (v0.2), the query or the header, else it is "default". */
static gf_status settle_namespace(gf_request *r, gf_error *err)
{
    gf_slice of_path = gf_route_argument(r, "ns"), value;
    if (of_path.len) return take_namespace(r, of_path, err);
    const char *header =
        MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Grouperfish-Namespace");
    if (!r->name_space.len && header && *header) {
        gf_status st = decode(&r->memory, gf_slice_str(header), false, &value, err);
        if (st != GF_OK) return st;
        r->name_space = value;
    }
    if (!r->name_space.len) r->name_space = GF_SLICE("default");
    return GF_OK;
}

/* ---- the body -------------------------------------------------------------------------------- */

/* The value of charset= in a Content-Type. */
static gf_slice charset_of(const char *type)
{
    const char *at = type ? strcasestr(type, "charset=") : NULL;
    if (!at) return (gf_slice){"", 0};
    at += strlen("charset=");
    if (*at == '"') at++;
    return gf_slice_of(at, strcspn(at, "\"; \t"));
}

/*
 * The encoding that the Content-Type names, where the query names none. Many clients say UTF-8 of
 * whatever they send, so that this says nothing.
 */
static gf_status settle_encoding(gf_request *r, gf_error *err)
{
    const gf_operation *o = r->route->operation;
    bool is_parameter = false;
    for (size_t i = 0; o && i < o->n_parameters; i++)
        is_parameter |= strcmp(o->parameters[i].name, "encoding") == 0;
    if (!is_parameter || gf_route_argument(r, "encoding").len) return GF_OK;
    gf_slice charset = charset_of(
        MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE));
    static const char *const silent[] = {"utf-8", "utf8", "us-ascii"};
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (charset.len == strlen(silent[i]) &&
            strncasecmp(charset.ptr, silent[i], charset.len) == 0)
            return GF_OK;
    if (charset.len == 0) return GF_OK;
    charset = gf_arena_copy(&r->memory, charset);
    if (!charset.ptr) return gf_fail_memory(err, "a request");
    return add_argument(r, GF_SLICE("encoding"), charset, err);
}

/* The file whose bytes the body is: what messages call it, and what tells its format. */
static gf_status settle_file(gf_request *r, gf_error *err)
{
    enum { LONGEST = 255 };
    gf_slice name;
    const char *header =
        MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Grouperfish-File");
    if (!header || !*header) return GF_OK;
    gf_status st = decode(&r->memory, gf_slice_str(header), false, &name, err);
    if (st != GF_OK) return st;
    bool good = name.len > 0 && name.len <= LONGEST && !memchr(name.ptr, '/', name.len);
    for (size_t i = 0; i < name.len; i++)
        good = good && (unsigned char)name.ptr[i] >= ' ' && name.ptr[i] != '\x7F';
    if (!good) return gf_fail(err, GF_EINVAL, "the header Grouperfish-File is no name of a file");
    r->body_name = gf_arena_copy(&r->memory, name).ptr;
    return r->body_name ? GF_OK : gf_fail_memory(err, "a request");
}

/* ---- all ------------------------------------------------------------------------------------- */

static unsigned no_route(gf_request *r, gf_slice path, gf_slice query, gf_error *err)
{
    gf_buffer allowed = {0};
    for (size_t i = 0; i < r->http->n_routes; i++) {
        const gf_route *route = &r->http->routes[i];
        if (!fits(route->path, path, query)) continue;
        gf_buffer_format(&allowed, "%s%s", allowed.len ? ", " : "", route->method);
    }
    const char *text = gf_arena_copy(&r->memory, gf_slice_str(gf_buffer_cstr(&allowed))).ptr;
    bool any = allowed.len > 0 && allowed.state == GF_OK;
    gf_buffer_release(&allowed);
    if (!any) {
        gf_fail(err, GF_ENOTFOUND, "there is nothing at this address");
        return 404;
    }
    r->allow = text;
    gf_fail(err, GF_EINVAL, "this address takes %s only", text ? text : "other methods");
    return 405;
}

gf_slice gf_route_argument(const gf_request *r, const char *name)
{
    for (size_t i = r->n_arguments; i-- > 0;)
        if (gf_slice_equal(r->arguments[i].name, gf_slice_str(name))) return r->arguments[i].value;
    return (gf_slice){"", 0};
}

unsigned gf_route_find(gf_request *r, const char *method, gf_error *err)
{
    const char *mark = memchr(r->target.ptr, '?', r->target.len);
    size_t n = mark ? (size_t)(mark - r->target.ptr) : r->target.len;
    gf_slice path = gf_slice_of(r->target.ptr, n),
             query = gf_slice_skip(r->target, mark ? n + 1 : n);
    if (path.len == 0 || path.ptr[0] != '/') {
        gf_fail(err, GF_EINVAL, "the address does not begin with /");
        return 400;
    }
    if (r->head) method = "GET";
    for (size_t i = 0; i < r->http->n_routes; i++) {
        const gf_route *route = &r->http->routes[i];
        if (strcmp(route->method, method) == 0 && fits(route->path, path, query) &&
            (!r->route || is_more_literal(route->path, r->route->path)))
            r->route = route;
    }
    if (!r->route) return no_route(r, path, query, err);
    gf_status st = take_path(r, path, err);
    if (st == GF_OK && r->route->flag)
        st = add_argument(r, gf_slice_str(r->route->flag), GF_SLICE("true"), err);
    if (st == GF_OK) st = take_query(r, query, err);
    if (st == GF_OK) st = settle_namespace(r, err);
    if (st == GF_OK) st = settle_encoding(r, err);
    if (st == GF_OK) st = settle_file(r, err);
    if (st == GF_OK && r->route->scope == GF_SCOPE_CALLED) gf_upgrade_find(r);
    return st == GF_OK ? 0 : st == GF_ENOMEM ? 503 : 400;
}
