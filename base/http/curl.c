#include "base/http/curl.h"

#include <pthread.h>

GF_LIBRARY_DEFINE(gf_curl, GF_LIBCURL, GF_CURL_FUNCTIONS)

static void initialise_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

gf_status gf_curl_load(gf_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    gf_status st = gf_library_load(&gf_curl, err);
    if (st == GF_OK) pthread_once(&once, initialise_curl);
    return st;
}
