/**
 * Tweets and papers of a store, in all namespaces: how many there are, and whether their tables
 * agree with each other. Tables that the store lacks are not made.
 */
#ifndef GF_APPS_STORED_H
#define GF_APPS_STORED_H

#include "grouperfish.h"

typedef struct gf_stored {
    bool any_tweets, any_papers; /* the store has their tables */
    uint64_t tweets, papers;
} gf_stored;

/** Cost: a seek for each paper. */
gf_status gf_stored_count(gf_store *store, const gf_cancel *cancel, gf_stored *stored,
                          gf_error *err);

/** For gf_store_options.more. Cost: everything is read once; where tweets have faults, thrice. */
gf_verify_more gf_stored_verify;

#endif
