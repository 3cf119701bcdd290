/** C++'s allocation made to fail. */
#ifndef GF_TESTS_STORAGE_FAILING_NEW_H
#define GF_TESTS_STORAGE_FAILING_NEW_H

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

/** Let the n-th allocation from now on fail, the next one being 0; none where n is below 0. */
void gf_test_fail_new_at(long n);

bool gf_test_new_has_failed(void);

#ifdef __cplusplus
}
#endif

#endif
