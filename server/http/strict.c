/*
 * The form of a request, as RFC 9110 and 9112 have it and not more kindly.
 *
 * Where a proxy and a server read one request in two ways, its sender can hide a second request in
 * it (request smuggling), or a name that the proxy did not see. So whatever can be read in two ways
 * is refused, and the connection ends:
 *
 *     request line   one space between its parts, no NUL
 *     Host           one, of the form NAME[:PORT], [IPV6][:PORT]; HTTP/1.1 has to have it
 *     length         one Content-Length, or Transfer-Encoding: chunked, not both; any other coding
 *                    is unknown here (501)
 *     headers        names are tokens (so no space before the colon); values have no control
 *                    characters; no line goes on in the next one (obs-fold); each ends in CR LF
 *     Upgrade        only where Connection names it
 *
 * libmicrohttpd before 0.9.76 lets all of that pass. What it has made of the lines is looked at in
 * its buffer, since it gives names and values as C strings: it ends what it has read by NULs in
 * place, so that an untouched block of headers is
 *
 *     METHOD 0 target 0 VERSION 0 0 Name 0 value 0 0 Name 0 value 0 0 0 0
 *
 * and one NUL less, or a name elsewhere, tells of a bare LF, a NUL or a line that was continued
 * (NUL LF alone cannot be told from CR LF).
 * Later versions parse by the rules themselves; of these only what they give is looked at.
 */
#include "server/http/strict.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <strings.h>

/* ---- the library ----------------------------------------------------------------------------- */

static bool is_lenient(void)
{
    return strverscmp(MHD_get_version(), "0.9.76") < 0;
}

/* Level 1 of those asks for a Host and refuses a space in the target: with pages of its own. */
int gf_strict_level(void)
{
    return is_lenient() ? 0 : 1;
}

/* ---- one header ------------------------------------------------------------------------------ */

static bool is_token(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("!#$%&'*+-.^_`|~", *c)) return false;
    return *name != '\0';
}

static bool is_value(const char *value)
{
    for (const unsigned char *c = (const unsigned char *)value; *c; c++)
        if ((*c < ' ' && *c != '\t') || *c == 0x7f) return false;
    return true;
}

/* Whether a list of words with commas between them has this one. */
static bool names_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    while (*list) {
        list += strspn(list, ", \t");
        size_t length = strcspn(list, ", \t");
        if (length == n && strncasecmp(list, word, n) == 0) return true;
        list += length;
    }
    return false;
}

static bool is_port(const char *text)
{
    unsigned v = 0;
    for (; *text >= '0' && *text <= '9' && v <= 65535; text++)
        v = v * 10 + (unsigned)(*text - '0');
    return *text == '\0' && v <= 65535;
}

/* NAME or [IPV6], and maybe :PORT. An empty one is no fault of form: it stands for no name. */
static bool is_host(const char *host)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char address[16];
    size_t n;
    if (*host != '[') {
        n = strcspn(host, ":");
        for (size_t i = 0; i < n; i++)
            if (!isalnum((unsigned char)host[i]) && !strchr("-._~!$&'()*+,;=%", host[i]))
                return false;
        return host[n] == '\0' || is_port(host + n + 1);
    }
    n = strcspn(++host, "]");
    if (n >= sizeof text || host[n] != ']') return false;
    memcpy(text, host, n);
    text[n] = '\0';
    host += n + 1;
    return inet_pton(AF_INET6, text, address) == 1 &&
           (*host == '\0' || (*host == ':' && is_port(host + 1)));
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef struct reading {
    const char *next, *end; /* where the next line is to begin; NULL: the buffer is not looked at */
    unsigned hosts, lengths, codings, upgrades;
    bool connection_upgrades, chunked;
    const char *fault;
} reading;

static void look_at_place(reading *r, const char *name, const char *value)
{
    static const char what[] = "a line of the headers goes on in the next one, holds NUL, or does "
                               "not end in CR LF";
    const char *after = name + strlen(name) + 1;
    bool good = name == r->next && after <= value && value < r->end &&
                strspn(after, " \t") == (size_t)(value - after);
    if (good) {
        value += strlen(value);
        good = r->end - value >= 4 && value[1] == '\0';
        r->next = value + 2;
    }
    if (!good) r->fault = what;
}

static enum MHD_Result look_at_header(void *context, enum MHD_ValueKind kind, const char *name,
                                      const char *value)
{
    reading *r = context;
    (void)kind;
    if (!value) value = "";
    if (!is_token(name))
        r->fault = "the name of a header is not one (is there a space before the colon?)";
    else if (!is_value(value))
        r->fault = "the value of a header has a control character";
    else if (r->next)
        look_at_place(r, name, value);
    if (strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0) {
        r->hosts++;
        if (!is_host(value)) r->fault = "Host is neither NAME nor NAME:PORT";
    } else if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
        r->lengths++;
    } else if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
        r->codings++;
        r->chunked = strcasecmp(value, "chunked") == 0;
    } else if (strcasecmp(name, MHD_HTTP_HEADER_UPGRADE) == 0) {
        r->upgrades++;
    } else if (strcasecmp(name, MHD_HTTP_HEADER_CONNECTION) == 0) {
        r->connection_upgrades |= names_word(value, "upgrade");
    }
    return r->fault ? MHD_NO : MHD_YES;
}

/* Finds the parts of the request line, and where the headers begin and end. */
static void look_at_line(const gf_request *r, const char *method, const char *version, reading *is)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    const char *target = method + strlen(method) + 1, *end = version + strlen(version);
    if (r->target_at != target || version != target + r->target.len + 1 ||
        memchr(r->target.ptr, ' ', r->target.len))
        is->fault = "the request line has more than one space between its parts, or holds NUL";
    else if (info && end[1] == '\0') {
        is->next = end + 2;
        is->end = method + info->header_size;
    } else
        is->fault = "the request line does not end in CR LF";
}

static const char *fault_of(const reading *is, bool is_1_1)
{
    if (is->fault) return is->fault;
    if (is->next && is->next + 2 != is->end) return "the headers do not end in an empty line";
    if (is->hosts > 1) return "there is more than one Host";
    if (is->hosts == 0 && is_1_1) return "there is no Host, which HTTP/1.1 has to have";
    if (is->lengths > 1) return "there is more than one Content-Length";
    if (is->lengths && is->codings) return "there are Content-Length and Transfer-Encoding";
    if (is->codings > 1) return "there is more than one Transfer-Encoding";
    if (is->codings && !is_1_1) return "HTTP/1.0 has no Transfer-Encoding";
    if (is->upgrades && !is->connection_upgrades) return "Upgrade needs Connection: Upgrade";
    return NULL;
}

unsigned gf_strict_check(gf_request *r, const char *method, const char *version, gf_error *err)
{
    reading is = {0};
    if (is_lenient()) look_at_line(r, method, version, &is);
    if (!is.fault) MHD_get_connection_values(r->connection, MHD_HEADER_KIND, look_at_header, &is);
    const char *fault = fault_of(&is, strcmp(version, "HTTP/1.0") != 0);
    if (fault) {
        gf_fail(err, GF_EINVAL, "%s", fault);
        return 400;
    }
    if (is.codings && !is.chunked) {
        gf_fail(err, GF_EINVAL, "of transfer codings this server knows chunked alone");
        return 501;
    }
    return 0;
}
