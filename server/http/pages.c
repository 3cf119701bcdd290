/*
 * The page and its files, as they are in the program.
 *
 * The page may load its own script, style and icon, and ask this server; nothing else: no script or
 * style in the text, no other host, no frame around it, no form that goes anywhere, and no text
 * that becomes HTML (trusted types).
 */
#include "server/http/pages.h"

#include "server/http/answer.h"
#include "server/http/route.h"

#include <stdio.h>

static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

static const gf_page *find(const char *path)
{
    for (size_t i = 0; i < gf_n_pages; i++)
        if (strcmp(gf_pages[i].path, path) == 0) return &gf_pages[i];
    return NULL;
}

/* If-None-Match is weak in what it compares (RFC 9110, 13.1.2): W/"x" is "x". */
static bool is_known(gf_slice known, const char *etag)
{
    return gf_slice_equal(known, GF_SLICE("*")) ||
           (known.len && memmem(known.ptr, known.len, etag, strlen(etag)));
}

static void show(gf_request *r)
{
    const gf_page *page = find(r->route->path);
    if (!page) {
        gf_answer_problem(r, 404, "this program was built without the page");
        return;
    }
    snprintf(r->etag, sizeof r->etag, "%s", page->etag);
    r->policy = policy;
    if (is_known(r->if_none_match, page->etag))
        gf_answer(r, 304, NULL, (gf_slice){0});
    else
        gf_answer(r, 200, page->content_type, gf_slice_of(page->bytes, page->len));
}

#define PAGE(called, where, what)                                                                  \
    {                                                                                              \
        .name = called, .method = "GET", .path = where, .run = show, .scope = GF_SCOPE_OPEN,       \
        .quick = true, .meaning = what                                                             \
    }

const gf_route gf_routes_of_pages[] = {
    PAGE("page", "/", "A page for people"),
    PAGE("page script", "/page/app.js", "The page's script"),
    PAGE("page style", "/page/style.css", "The page's style"),
    PAGE("page icon", "/page/icon.svg", "The page's icon"),
    PAGE("page map", "/page/land.json", "Coasts, borders and cities of the page's map"),
    PAGE("page licences", "/page/licences.txt", "Licences of what the page holds")};
const size_t gf_n_routes_of_pages = sizeof gf_routes_of_pages / sizeof gf_routes_of_pages[0];
