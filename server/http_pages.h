/**
 * Files that are part of the program: pages, styles, scripts. Each path of the table needs a route
 * in gf_routes_of_pages, too.
 */
#ifndef GF_SERVER_HTTP_PAGES_H
#define GF_SERVER_HTTP_PAGES_H

#include <stddef.h>

typedef struct gf_page {
    const char *path, *content_type;
    const char *bytes; /* len */
    size_t len;
    const char *policy; /* Content-Security-Policy; NULL: nothing but the page itself */
} gf_page;

extern const gf_page gf_pages[];
extern const size_t gf_n_pages;

#endif
