/**
 * Small collections that several tests use.
 */
#ifndef GF_TESTS_API_LIBRARY_H
#define GF_TESTS_API_LIBRARY_H

#include "tests/api/transport.h"
#include "tests/support/test.h"

/**
 * SYSTEMS.md A, check 2: collection "mid" with three clusters: general (doc1, doc2), macbeth (doc3,
 * doc4, doc5) and caesar (doc6, doc7), which the field "play" names too. Rebuilt where `rebuilt`.
 */
static inline void library_mid(transport *t, bool rebuilt)
{
    transport_put(t, "mid",
                  "{\"id\":\"doc1\",\"text\":\"the general\",\"play\":\"general\",\"time\":1}\n"
                  "{\"id\":\"doc2\",\"text\":\"a general\",\"play\":\"general\",\"lang\":\"en\"}\n"
                  "{\"id\":\"doc3\",\"text\":\"macbeth\",\"play\":\"macbeth\"}\n"
                  "{\"id\":\"doc4\",\"text\":\"macbeth macbeth\",\"play\":\"macbeth\"}\n"
                  "{\"id\":\"doc5\",\"text\":\"and macbeth\",\"play\":\"macbeth\"}\n"
                  "{\"id\":\"doc6\",\"text\":\"caesar\",\"play\":\"caesar\"}\n"
                  "{\"id\":\"doc7\",\"text\":\"of caesar\",\"play\":\"caesar\"}\n");
    assert_run(t, "config set", "collection", "mid", "set", "k=3", "set", "language=english");
    if (rebuilt) assert_run(t, "rebuild", "collection", "mid", "threads", "1");
}

/** The build that is served of a collection's configuration "default". */
static inline const char *library_served(transport *t, const char *collection)
{
    static char build[32];
    assert_run(t, "builds", "collection", collection);
    for (uint64_t i = 0; i < t->n_rows; i++)
        if (gf_json_get_bool(transport_member(t, i, "served")))
            snprintf(build, sizeof build, "%.0f", transport_number(t, i, "build"));
    return build;
}

#endif
