/**
 * Addresses of HTTP as they are given: checked, and shown without what may be secret.
 */
#ifndef GF_BASE_HTTP_ADDRESS_H
#define GF_BASE_HTTP_ADDRESS_H

#include "base/http/curl.h"
#include "grouperfish/buffer.h"

/**
 * Read an address; libcurl is loaded.
 *
 * @param what    it is an address of: "pages"
 * @param secret  where a name or password belongs instead: "put the header Authorization into ...";
 *                NULL: it is not the user's address, but one that a server gave
 * @param[out] out  curl_url_cleanup frees it
 * @return GF_OK; GF_EINVAL (it is neither http nor https, has no host, or a password); GF_ENOMEM
 */
gf_status gf_http_address_read(const char *url, const char *what, const char *secret, CURLU **out,
                               gf_error *err);

/** A part of it, which curl_free frees; NULL where it has none. A port may be the scheme's own. */
char *gf_http_address_part(CURLU *address, CURLUPart part);

/** "https://host:444/path": the query, which may hold a secret, is left out. */
void gf_http_address_show(CURLU *address, gf_buffer *out);

#endif
