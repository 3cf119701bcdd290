#include "base/http/address.h"

#include <strings.h>

char *gf_http_address_part(CURLU *u, CURLUPart part)
{
    char *text = NULL;
    return curl_url_get(u, part, &text, part == CURLUPART_PORT ? CURLU_DEFAULT_PORT : 0) ==
                   CURLUE_OK
               ? text
               : NULL;
}

void gf_http_address_show(CURLU *u, gf_buffer *out)
{
    static const CURLUPart parts[] = {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT,
                                      CURLUPART_PATH};
    static const char *const before[] = {"", "://", ":", ""};
    gf_buffer_reset(out);
    for (size_t i = 0; i < 4; i++) {
        char *text = NULL;
        if (curl_url_get(u, parts[i], &text, 0) == CURLUE_OK && text)
            gf_buffer_format(out, "%s%.200s", before[i], text);
        curl_free(text);
    }
}

static bool has_part(CURLU *u, CURLUPart part)
{
    char *text = gf_http_address_part(u, part);
    curl_free(text);
    return text != NULL;
}

gf_status gf_http_address_read(const char *url, const char *what, const char *secret, CURLU **out,
                               gf_error *err)
{
    CURLU *u = curl_url();
    if (!u) return gf_fail_memory(err, "an address");
    CURLUcode code = curl_url_set(u, CURLUPART_URL, url, 0);
    char *scheme = gf_http_address_part(u, CURLUPART_SCHEME);
    bool known = scheme && (strcasecmp(scheme, "http") == 0 || strcasecmp(scheme, "https") == 0);
    gf_status st = GF_OK;
    curl_free(scheme);
    if (code == CURLUE_OUT_OF_MEMORY)
        st = gf_fail_memory(err, "an address");
    else if (code != CURLUE_OK || !known || !has_part(u, CURLUPART_HOST))
        st = gf_fail(err, GF_EINVAL, "%s no address of %s: it begins with https:// or http://",
                     secret ? "that is" : "the server leads to what is", what);
    else if (!has_part(u, CURLUPART_USER) && !has_part(u, CURLUPART_PASSWORD))
        st = GF_OK;
    else if (secret)
        st = gf_fail(err, GF_EINVAL,
                     "an address with a name or password can be seen by everyone (ps): %s", secret);
    else
        st = gf_fail(
            err, GF_EINVAL,
            "the server leads to %s at an address with a name or password in it: such a one "
            "is not asked",
            what);
    if (st == GF_OK)
        *out = u;
    else
        curl_url_cleanup(u);
    return st;
}
