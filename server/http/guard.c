/*
 * Who may come in: not a page in a browser that means us harm, nor a stranger without a token.
 *
 *     Host       a number (an address cannot be rebound), localhost, or a name of --host-name;
 *                anything else may be a name that was made to point here (DNS rebinding): 421
 *     Origin     where a browser says that another site's page sends this: 403
 *     headers    over 8 KiB: 431
 *     token      none or a wrong one 401; one of another namespace, or that may only read: 403
 */
#include "server/http/guard.h"
#include "server/http/callers.h"

#include <arpa/inet.h>
#include <strings.h>

/* ---- headers --------------------------------------------------------------------------------- */

static const char *header_of(const gf_request *r, const char *name)
{
    return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

/* "[::1]:61732" -> "::1", "localhost:61732" -> "localhost" */
static gf_slice host_part(const char *host)
{
    if (host[0] == '[') {
        const char *end = strchr(host, ']');
        return gf_slice_of(host + 1, end ? (size_t)(end - host - 1) : strlen(host + 1));
    }
    return gf_slice_of(host, strcspn(host, ":"));
}

static bool is_same_name(gf_slice a, gf_slice b)
{
    return a.len == b.len && strncasecmp(a.ptr, b.ptr, a.len) == 0;
}

static bool may_be_called(const gf_http *http, gf_slice host)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char address[16];
    if (is_same_name(host, GF_SLICE("localhost"))) return true;
    for (size_t i = 0; i < http->options.n_host_names; i++)
        if (is_same_name(host, http->options.host_names[i])) return true;
    if (host.len == 0 || host.len >= sizeof text) return false;
    memcpy(text, host.ptr, host.len);
    text[host.len] = '\0';
    return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

static unsigned check_host(gf_request *r, gf_error *err)
{
    const char *host = header_of(r, MHD_HTTP_HEADER_HOST);
    if (!host || may_be_called(r->http, host_part(host))) return 0;
    gf_fail(err, GF_EINVAL, "this server does not go by that name; --host-name adds one");
    return 421;
}

/* Browsers tell where a request comes from; programs do not. */
static unsigned check_origin(gf_request *r, bool changes, gf_error *err)
{
    const char *origin = header_of(r, MHD_HTTP_HEADER_ORIGIN);
    const char *host = header_of(r, MHD_HTTP_HEADER_HOST);
    const char *site = header_of(r, "Sec-Fetch-Site");
    const char *name = origin ? strstr(origin, "://") : NULL;
    bool foreign = origin && (!name || !host || strcasecmp(name + 3, host) != 0);
    if (site && changes)
        foreign |= strcmp(site, "cross-site") == 0 || strcmp(site, "same-site") == 0;
    if (!foreign) return 0;
    gf_fail(err, GF_EINVAL, "pages of other sites may not ask this server");
    return 403;
}

static unsigned check_size(gf_request *r, gf_error *err)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (!info || info->header_size <= GF_MOST_HEADERS) return 0;
    gf_fail(err, GF_ELIMIT, "the headers have more than %d bytes", GF_MOST_HEADERS);
    return 431;
}

unsigned gf_guard_early(gf_request *r, const char *method, gf_error *err)
{
    bool changes = strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0;
    unsigned status = gf_callers_check(r, err);
    if (status == 0) status = check_size(r, err);
    if (status == 0) status = check_host(r, err);
    if (status == 0) status = check_origin(r, changes, err);
    return status;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static gf_slice token_of(const gf_request *r)
{
    const char *header = header_of(r, MHD_HTTP_HEADER_AUTHORIZATION);
    if (!header || strncasecmp(header, "Bearer ", 7) != 0) return (gf_slice){"", 0};
    header += 7;
    while (*header == ' ')
        header++;
    return gf_slice_str(header);
}

unsigned gf_guard_route(gf_request *r, gf_error *err)
{
    gf_tokens *tokens = r->http->options.tokens;
    gf_scope scope = r->route->scope;
    bool writes = r->route->writes;
    if (r->called) {
        scope = r->called->of_store ? GF_SCOPE_STORE : GF_SCOPE_NAMESPACE;
        writes = gf_operation_writes(r->called);
    }
    if (!tokens || scope == GF_SCOPE_OPEN) return 0;
    gf_slice space = scope == GF_SCOPE_NAMESPACE ? r->name_space : (gf_slice){"", 0};
    switch (gf_tokens_check(tokens, token_of(r), space, writes, r->token)) {
    case GF_ALLOWED:
        return 0;
    case GF_NO_TOKEN:
        gf_fail(err, GF_EINVAL, "this needs a token: Authorization: Bearer TOKEN");
        return 401;
    case GF_WRONG_TOKEN:
        gf_fail(err, GF_EINVAL, "no such token");
        return 401;
    case GF_READ_ONLY:
        gf_fail(err, GF_EINVAL, "the token may only read");
        return 403;
    default:
        gf_fail(err, GF_EINVAL,
                space.len ? "the token is not for this namespace"
                          : "this is about the whole store, and needs a token for all namespaces");
        return 403;
    }
}
