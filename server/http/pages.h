/**
 * Files that are part of the program: the page at / with its script and style. The table is made
 * from server/page/built when the program is built; each of its paths has a route in
 * gf_routes_of_pages.
 */
#ifndef GF_SERVER_HTTP_PAGES_H
#define GF_SERVER_HTTP_PAGES_H

#include <stddef.h>

typedef struct gf_page {
    const char *path, *content_type;
    const char *bytes; /* len */
    size_t len;
    const char *etag; /* strong: of the bytes, with its quotes */
} gf_page;

extern const gf_page gf_pages[]; /* gf_n_pages */
extern const size_t gf_n_pages;

#endif
