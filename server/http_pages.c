/* Files that are in the program: a table of path, type and bytes. */
#include "server/http_pages.h"

#include "server/http_internal.h"

static const char first_page[] =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Grouperfish</title>\n"
    "<h1>Grouperfish</h1>\n<p>This server answers at <a href=\"/v1/collections\">/v1</a>; "
    "<a href=\"/openapi.json\">/openapi.json</a> describes it.</p>\n</html>\n";

const gf_page gf_pages[] = {
    {"/", "text/html; charset=utf-8", first_page, sizeof first_page - 1, NULL},
};
const size_t gf_n_pages = sizeof gf_pages / sizeof gf_pages[0];

static void show(gf_request *r)
{
    for (size_t i = 0; i < gf_n_pages; i++)
        if (strcmp(gf_pages[i].path, r->route->path) == 0) {
            gf_answer(r, 200, gf_pages[i].content_type,
                      gf_slice_of(gf_pages[i].bytes, gf_pages[i].len));
            r->policy = gf_pages[i].policy;
        }
}

const gf_route gf_routes_of_pages[] = {{.name = "page",
                                        .method = "GET",
                                        .path = "/",
                                        .run = show,
                                        .scope = GF_SCOPE_OPEN,
                                        .quick = true,
                                        .meaning = "A page for people"}};
const size_t gf_n_routes_of_pages = sizeof gf_routes_of_pages / sizeof gf_routes_of_pages[0];
