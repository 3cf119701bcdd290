/** The functions of libcurl, which is loaded when it is needed: see base/library.h. */
#ifndef GF_BASE_HTTP_CURL_H
#define GF_BASE_HTTP_CURL_H

#include "base/library.h"

#define CURL_DISABLE_TYPECHECK /* by macros that stand for functions */
#include <curl/curl.h>

#undef curl_easy_getinfo
#undef curl_easy_setopt

/* clang-format off */
#define GF_CURL_FUNCTIONS(F) \
    F(curl_easy_cleanup) \
    F(curl_easy_getinfo) \
    F(curl_easy_init) \
    F(curl_easy_perform) \
    F(curl_easy_recv) \
    F(curl_easy_send) \
    F(curl_easy_setopt) \
    F(curl_easy_strerror) \
    F(curl_free) \
    F(curl_global_init) \
    F(curl_slist_append) \
    F(curl_slist_free_all) \
    F(curl_mime_addpart) \
    F(curl_mime_data) \
    F(curl_mime_filename) \
    F(curl_mime_free) \
    F(curl_mime_init) \
    F(curl_mime_name) \
    F(curl_mime_type) \
    F(curl_url) \
    F(curl_url_cleanup) \
    F(curl_url_get) \
    F(curl_url_set)
/* clang-format on */
GF_LIBRARY_DECLARE(gf_curl, GF_CURL_FUNCTIONS)

/** Load and initialise it, before the first call. @return GF_OK; GF_EIO */
gf_status gf_curl_load(gf_error *err);

#define curl_easy_cleanup   gf_curl_functions.curl_easy_cleanup
#define curl_easy_getinfo   gf_curl_functions.curl_easy_getinfo
#define curl_easy_init      gf_curl_functions.curl_easy_init
#define curl_easy_perform   gf_curl_functions.curl_easy_perform
#define curl_easy_recv      gf_curl_functions.curl_easy_recv
#define curl_easy_send      gf_curl_functions.curl_easy_send
#define curl_easy_setopt    gf_curl_functions.curl_easy_setopt
#define curl_easy_strerror  gf_curl_functions.curl_easy_strerror
#define curl_free           gf_curl_functions.curl_free
#define curl_global_init    gf_curl_functions.curl_global_init
#define curl_slist_append   gf_curl_functions.curl_slist_append
#define curl_slist_free_all gf_curl_functions.curl_slist_free_all
#define curl_mime_addpart   gf_curl_functions.curl_mime_addpart
#define curl_mime_data      gf_curl_functions.curl_mime_data
#define curl_mime_filename  gf_curl_functions.curl_mime_filename
#define curl_mime_free      gf_curl_functions.curl_mime_free
#define curl_mime_init      gf_curl_functions.curl_mime_init
#define curl_mime_name      gf_curl_functions.curl_mime_name
#define curl_mime_type      gf_curl_functions.curl_mime_type
#define curl_url            gf_curl_functions.curl_url
#define curl_url_cleanup    gf_curl_functions.curl_url_cleanup
#define curl_url_get        gf_curl_functions.curl_url_get
#define curl_url_set        gf_curl_functions.curl_url_set

#endif
