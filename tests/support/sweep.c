#include "support/test.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdlib.h>

void gf_test_sweep(gf_sweep_call *call, void (*after)(void *context), void *context)
{
    for (int64_t n = 0;; n++) {
        gf_error err = {GF_OK, ""};
        gf_memory_fail_at(n);
        gf_status st = call(context, &err);
        int failed = gf_memory_failed();
        gf_memory_fail_at(-1);
        if (!failed) {
            if (st != GF_OK) fail_msg("without a failed allocation: %s", err.message);
            return;
        }
        if (st != GF_ENOMEM)
            fail_msg("allocation %lld failed, the call returned %s (%s)", (long long)n,
                     gf_status_name(st), err.message);
        if (after) after(context);
    }
}

uint64_t gf_test_seed(void)
{
    const char *given = getenv("GROUPERFISH_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)gf_clock_ms();
    print_message("seed %llu (GROUPERFISH_TEST_SEED repeats it)\n", (unsigned long long)seed);
    return seed;
}
