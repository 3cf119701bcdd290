/* Extractions that are to be made again: versions of GROBID in their order. */
#include "apps/papers/extraction/retry.h"
#include "tests/support/test.h"

static void check_versions(const char *a, const char *b, int order)
{
    int there = gf_papers_compare_versions(gf_slice_str(a), gf_slice_str(b));
    int back = gf_papers_compare_versions(gf_slice_str(b), gf_slice_str(a));
    if ((there > 0) - (there < 0) != order || (back > 0) - (back < 0) != -order)
        fail_msg("%s and %s: %d, %d", a, b, there, back);
}

static void compares_versions(void **state)
{
    (void)state;
    check_versions("0.5.1", "0.5.1", 0);
    check_versions("0.8", "0.8.0", 0);
    check_versions("0.8", "0.8.1", -1);
    check_versions("0.9", "0.10", -1);
    check_versions("0.9.9", "1", -1);
    check_versions("0.5.1-SNAPSHOT", "0.5.1", -1);
    check_versions("0.5.1-SNAPSHOT", "0.5.0", 1);
    check_versions("0.5.1-a", "0.5.1-b", -1);
    check_versions("0.8.0-SNAPSHOT", "0.8", -1);
    check_versions("08", "8", 0);
    check_versions("", "0", 0);
    check_versions("99999999999999999999999", "1", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(compares_versions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
