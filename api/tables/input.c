/* Lines of the input, and the times in them. */
#include "api/tables/input.h"

enum { MOST_LINE = 256 << 20 };

gf_status gf_table_lines_open(gf_call *call, gf_lines **lines, gf_error *err)
{
    gf_decoding_options decoding = gf_records_decoding(call);
    return gf_lines_open(&call->input, MOST_LINE, &decoding, lines, err);
}

gf_status gf_table_lines_next(gf_lines *lines, gf_text_line *line, gf_error *err)
{
    gf_status st = gf_lines_next(lines, line, err);
    if (st == GF_OK && line->too_long)
        return gf_fail(err, GF_ELIMIT, "%.*s:%llu: a line of more than %d bytes",
                       GF_SLICE_ARG(line->source), (unsigned long long)line->number, MOST_LINE);
    return st;
}

/* 0 would stand for no time, and what is put without one is of now: newer than all that is there. */
gf_status gf_table_check_time(int64_t milliseconds, gf_error *err)
{
    if (milliseconds >= 1) return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "the timestamp %lld is below 1: it is a number of milliseconds since 1970",
                   (long long)milliseconds);
}
