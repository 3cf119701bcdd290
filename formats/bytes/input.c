/* The bounds of an input, which all that read one look at. */
#include "formats/bytes/input.h"

enum { FACTOR = 1000 };
#define SLACK ((uint64_t)64 << 20)

gf_status gf_input_check(const gf_input *input, gf_error *err)
{
    if (input->gone && input->gone(input->context))
        return gf_fail(err, GF_ECANCELLED, "the caller has gone");
    return input->bounds ? gf_cancel_check(input->bounds->cancel, err) : GF_OK;
}

gf_status gf_input_read(const gf_input *input, char *to, size_t n, size_t *got, gf_error *err)
{
    gf_status st = gf_input_check(input, err);
    return st == GF_OK ? input->read(input->context, to, n, got, err) : st;
}

unsigned gf_input_layers(const gf_input *input)
{
    return input->bounds && input->bounds->layers ? input->bounds->layers : 1;
}

gf_status gf_input_check_unpacked(const gf_input *input, gf_slice name, uint64_t packed,
                                  uint64_t unpacked, gf_error *err)
{
    uint64_t given = input->bounds ? input->bounds->max_unpacked : 0;
    if (unpacked <= SLACK && !given) return GF_OK;
    if (given && unpacked > given)
        return gf_fail(err, GF_ELIMIT, "%.*s: more than %llu bytes come out of it (--max-unpacked)",
                       GF_SLICE_ARG(name), (unsigned long long)given);
    if (given || (unpacked - SLACK) / FACTOR <= packed) return GF_OK;
    return gf_fail(err, GF_ELIMIT,
                   "%.*s: more comes out of it than 1,000 times its size and 64 MiB (%llu bytes "
                   "of %llu), so it is read no further; where it is meant to be so, "
                   "--max-unpacked SIZE allows that many bytes",
                   GF_SLICE_ARG(name), (unsigned long long)unpacked, (unsigned long long)packed);
}

gf_status gf_input_damaged(const gf_input *input, gf_status status)
{
    if (input->bounds) input->bounds->damaged = true;
    return status;
}
