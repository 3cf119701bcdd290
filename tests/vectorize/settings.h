/** Options of a vectorizer from settings, as the tests write them. */
#ifndef GF_TESTS_VECTORIZE_SETTINGS_H
#define GF_TESTS_VECTORIZE_SETTINGS_H

#include "tests/support/test.h"

#include "vectorize/rows/vectorizer_options.h"

/** Settings: names and values in turn. */
#define WITH(...) ((const char *const[]){__VA_ARGS__, NULL})

/** Change options by settings, NULL being none. */
static inline void options_set(gf_vectorizer_options *o, const char *const *settings)
{
    gf_error err;
    for (; settings && *settings; settings += 2)
        assert_ok(gf_vectorizer_options_set(o, gf_slice_str(settings[0]), gf_slice_str(settings[1]),
                                            &err));
}

/** The defaults, changed by settings. */
static inline gf_vectorizer_options options_of(const char *const *settings)
{
    gf_vectorizer_options o = gf_vectorizer_options_default();
    options_set(&o, settings);
    return o;
}

#endif
