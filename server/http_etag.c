/*
 * ETags: "<build>-<hash>", where the hash is of all that an answer about a collection hangs on
 * beside the build: the collection's row (size, seq, settings, pins, pointers to builds) and the
 * request itself. It is read before the answer is, so it is never newer than that.
 */
#include "server/http_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

typedef struct hashing {
    uint64_t hash, build;
    char pointer[GF_MAX_NAME + 32]; /* the column that names the configuration's build */
} hashing;

static void add(hashing *h, gf_slice bytes)
{
    h->hash = XXH64(bytes.ptr ? bytes.ptr : "", bytes.len, h->hash + bytes.len);
}

/* The columns of the row come first; what is worked out of the build behind them is not wanted. */
static gf_status add_column(void *context, const char *family, gf_slice qualifier, gf_slice value,
                            gf_error *err)
{
    hashing *h = context;
    if (strcmp(family, "main") != 0) return gf_fail(err, GF_ECANCELLED, "the row has ended");
    add(h, qualifier);
    add(h, value);
    if (!gf_slice_equal(qualifier, gf_slice_str(h->pointer))) return GF_OK;
    for (size_t i = 0; i < value.len; i++)
        h->build = h->build * 10 + (uint64_t)(value.ptr[i] - '0');
    return GF_OK;
}

static bool hangs_on_collection(const gf_request *r)
{
    static const char *const names[] = {"clusters",        "cluster", "doc",
                                        "export",          "builds",  "diff",
                                        "collection show", "members", "report"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(r->route->name, names[i]) == 0) return true;
    return false;
}

/* If-None-Match: *, or a list of tags. */
static bool matches(gf_slice wanted, const char *etag)
{
    size_t n = strlen(etag);
    if (gf_slice_equal(wanted, GF_SLICE("*"))) return true;
    return wanted.len >= n && memmem(wanted.ptr, wanted.len, etag, n);
}

bool gf_etag_settles(gf_request *r)
{
    hashing h = {0};
    gf_slice configuration = gf_request_argument(r, "config");
    const gf_operation *o = r->route->operation;
    if (!hangs_on_collection(r) ||
        (o && gf_operation_is_of_several(o, r->arguments, r->n_arguments)))
        return false;
    if (!configuration.len) configuration = GF_SLICE("default");
    if (configuration.len > GF_MAX_NAME) return false;
    snprintf(h.pointer, sizeof h.pointer, "configuration:%.*s:rebuilt",
             GF_SLICE_ARG(configuration));
    gf_place where = {r->name_space, gf_request_argument(r, "collection")};
    gf_status st = gf_collection_columns(gf_service_store(r->http->options.service), where,
                                         add_column, &h, NULL);
    if (st != GF_OK && st != GF_ECANCELLED) return false; /* the operation says what is wrong */
    add(&h, r->target);
    add(&h, r->lines_wanted  ? GF_SLICE("lines")
            : r->page_wanted ? GF_SLICE("page")
                             : GF_SLICE("json"));
    snprintf(r->etag, sizeof r->etag, "\"%" PRIu64 "-%016" PRIx64 "\"", h.build, h.hash);
    if (!matches(r->if_none_match, r->etag)) return false;
    gf_answer(r, 304, NULL, (gf_slice){0});
    return true;
}
