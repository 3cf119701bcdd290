/**
 * What the checks of stored tweets and papers share.
 */
#ifndef GF_APPS_STORED_INTERNAL_H
#define GF_APPS_STORED_INTERNAL_H

#include "grouperfish.h"

/** A check under way: who is told of faults, and what was counted. */
typedef struct gf_stored_check {
    gf_store *store;
    const gf_cancel *cancel;
    gf_visit_fault *visit; /* NULL: count, and check nothing */
    void *context;
    gf_verified *found;
} gf_stored_check;

/** Tell of a fault. */
gf_status gf_stored_fault(gf_stored_check *c, const char *where, gf_error *err, const char *format,
                          ...) GF_PRINTF(4, 5);

/** A failed read: damage is told, and no failure; anything else is. */
gf_status gf_stored_handle(gf_stored_check *c, gf_status st, const char *where, gf_error *err);

/** The tables of tweets, which the store has. */
gf_status gf_tweets_check(gf_stored_check *c, gf_error *err);

/** A table of papers by its name, which begins with GF_PAPERS_PREFIX. */
gf_status gf_papers_check(gf_stored_check *c, const char *table, gf_error *err);

#endif
