/*
 * ETags: "<build>-<hash>", where the hash is of all that an answer about a collection hangs on
 * beside the build: the collection's row (size, seq, settings, pins, pointers to builds) and the
 * request itself. It is read before the answer is, so it is never newer than that.
 */
#include "server/http/answer.h"
#include "server/http/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

/* If-None-Match: *, or a list of tags. */
static bool matches(gf_slice wanted, const char *etag)
{
    size_t n = strlen(etag);
    if (gf_slice_equal(wanted, GF_SLICE("*"))) return true;
    return wanted.len >= n && memmem(wanted.ptr, wanted.len, etag, n);
}

bool gf_etag_settles(gf_request *r)
{
    uint64_t hash = 0;
    int64_t served = 0;
    gf_slice configuration = gf_route_argument(r, "config");
    const gf_operation *o = r->route->operation;
    if (!o->cacheable || gf_several_is_asked(o, r->arguments, r->n_arguments)) return false;
    if (!configuration.len) configuration = GF_SLICE("default");
    gf_place where = {r->name_space, gf_route_argument(r, "collection")};
    gf_store *store;
    gf_status st = gf_service_take(r->http->options.service, &store, NULL);
    if (st != GF_OK) return false;
    st = gf_collection_mark(store, where, configuration, &hash, &served, NULL);
    gf_service_give(r->http->options.service);
    if (st != GF_OK) return false; /* the operation says what is wrong */
    unsigned shape = r->lines_wanted + 2u * r->page_wanted;
    hash = XXH64(r->target.ptr, r->target.len, hash + shape);
    snprintf(r->etag, sizeof r->etag, "\"%" PRId64 "-%016" PRIx64 "\"", served, hash);
    if (!matches(r->if_none_match, r->etag)) return false;
    gf_answer(r, 304, NULL, (gf_slice){0});
    return true;
}
