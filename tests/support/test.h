/**
 * What every test includes: cmocka with the headers that it wants first, and our own checks.
 */
#ifndef GF_TESTS_SUPPORT_TEST_H
#define GF_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "grouperfish/buffer.h"
#include "grouperfish/slice.h"
#include "grouperfish/status.h"

/** The call succeeds; its message is shown where it does not. `err` is a gf_error in scope. */
#define assert_ok(call)                                                                            \
    do {                                                                                           \
        err.message[0] = '\0';                                                                     \
        if ((call) != GF_OK) fail_msg("%s: %s", #call, err.message);                               \
    } while (0)

/** The call fails with this status. */
#define assert_status(expected, call)                                                              \
    do {                                                                                           \
        gf_status got_ = (call);                                                                   \
        if (got_ != (expected))                                                                    \
            fail_msg("%s: %s, not %s", #call, gf_status_name(got_), gf_status_name(expected));     \
    } while (0)

#define assert_slice(slice, text)                                                                  \
    do {                                                                                           \
        gf_slice got_ = (slice), want_ = gf_slice_str(text);                                       \
        if (!gf_slice_equal(got_, want_))                                                          \
            fail_msg("%s is \"%.*s\", not \"%s\"", #slice, GF_SLICE_ARG(got_), text);              \
    } while (0)

#define assert_near(a, b, bound)                                                                   \
    do {                                                                                           \
        double a_ = (double)(a), b_ = (double)(b);                                                 \
        if (!(a_ - b_ <= (bound) && b_ - a_ <= (bound)))                                           \
            fail_msg("%s is %.12g, %s is %.12g", #a, a_, #b, b_);                                  \
    } while (0)

/**
 * A seed for random tests, printed so that a failure can be run again: GROUPERFISH_TEST_SEED, or
 * one from the clock.
 */
uint64_t gf_test_seed(void);

/**
 * Make the first, second, third ... allocation of `call` fail until it gets through. Each failing
 * run must return GF_ENOMEM; `after` (may be NULL) then checks that nothing changed. The last run
 * must succeed. Leaks are the sanitizer's to find.
 */
typedef gf_status gf_sweep_call(void *context, gf_error *err);
void gf_test_sweep(gf_sweep_call *call, void (*after)(void *context), void *context);

/** A new empty folder for this test, removed when the program ends. The string is ours. */
const char *gf_test_folder(void);

/** Remove a folder with all that is in it. */
void gf_test_remove(const char *folder);

/** Append a file of the source tree, such as "tests/data/x.json", to out; the test fails without.
 */
void gf_test_read_source(const char *path, gf_buffer *out);

/** Whether GROUPERFISH_DATA is set. */
int gf_test_has_data(void);

/** The path of a file of the real data, in memory that is ours; call gf_test_has_data first. */
const char *gf_test_data_path(const char *name);

/** Append a file of the real data to out, decompressed. */
void gf_test_read_data(const char *name, gf_buffer *out);

/** Take the next line (without its LF) off *rest; false at the end. */
int gf_test_next_line(gf_slice *rest, gf_slice *line);

/** What main returns where the data is missing; says so. */
int gf_test_skipped(const char *what);

#endif
