#include "apps/stored.h"

#include "apps/papers/papers.h"
#include "apps/stored_internal.h"
#include "storage/backend.h"

#include <stdarg.h>
#include <stdio.h>

gf_status gf_stored_fault(gf_stored_check *c, const char *where, gf_error *err, const char *format,
                          ...)
{
    char what[GF_ERROR_MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    c->found->faults++;
    return c->visit ? c->visit(c->context, where, what, err) : GF_OK;
}

gf_status gf_stored_handle(gf_stored_check *c, gf_status st, const char *where, gf_error *err)
{
    if (st != GF_ECORRUPT || !c->visit) return st;
    gf_error damage = *err;
    return gf_stored_fault(c, where, err, "%s", damage.message);
}

static gf_status check_all(gf_stored_check *c, gf_stored *stored, gf_error *err)
{
    gf_database *db = gf_store_database(c->store);
    gf_status st = GF_OK;
    for (unsigned n = 1; n < GF_MAX_TABLES && st == GF_OK; n++) {
        const gf_schema *s = gf_database_schema(db, n);
        if (!s) continue;
        if (strcmp(s->name, "RawTwitterData") == 0) {
            stored->any_tweets = true;
            st = gf_tweets_check(c, err);
        } else if (strncmp(s->name, GF_PAPERS_PREFIX, strlen(GF_PAPERS_PREFIX)) == 0) {
            stored->any_papers = true;
            st = gf_papers_check(c, s->name, err);
        }
    }
    return st;
}

gf_status gf_stored_count(gf_store *store, const gf_cancel *cancel, gf_stored *stored,
                          gf_error *err)
{
    gf_verified found = {0};
    gf_stored counted = {0};
    gf_stored_check c = {.store = store, .cancel = cancel, .found = &found};
    gf_status st = check_all(&c, &counted, err);
    if (st != GF_OK) return st;
    counted.tweets = found.tweets;
    counted.papers = found.papers;
    *stored = counted;
    return GF_OK;
}

gf_status gf_stored_verify(gf_store *store, const gf_cancel *cancel, gf_visit_fault *visit,
                           void *context, gf_verified *verified, gf_error *err)
{
    gf_error own;
    gf_stored stored = {0};
    gf_stored_check c = {
        .store = store, .cancel = cancel, .visit = visit, .context = context, .found = verified};
    return check_all(&c, &stored, err ? err : &own);
}
