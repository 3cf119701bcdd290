/** Stores of several processes over one model (tests/storage/model_backend.h). */
#ifndef GF_TESTS_ENGINE_FIXTURE_SHARED_H
#define GF_TESTS_ENGINE_FIXTURE_SHARED_H

#include "tests/engine/fixture.h"

#include "engine/store/store_internal.h"
#include "tests/storage/model_backend.h"

/** Open the store of one more process; `first`: the model of another; NULL: a new one. */
gf_store *fixture_share(gf_backend *first, gf_backend **backend);

/** The same with these capabilities in place of all. */
gf_store *fixture_share_as(gf_backend *first, unsigned capabilities, gf_backend **backend);

/** Copy a store, called "where", into a database. */
gf_status fixture_copy(gf_store *from, gf_database *to, const gf_copy_options *options,
                       gf_copied *copied, gf_error *err);

/** The other processes have ended: whoever looks at their leases knows it at once. */
void fixture_know_ended(gf_store *store);

/** None of them goes on late, and nobody has a view: what is dropped goes at once. */
void fixture_know_stopped(gf_store *store);

#endif
