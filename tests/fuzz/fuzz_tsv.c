/* TSV of any bytes as records (tests/fuzz/records.h). */
#include "tests/fuzz/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    fuzz_records(GF_FORMAT_TSV, "a.tsv", bytes, n);
    return 0;
}
