/*
 * A line of any bytes is refused with a reason, or read: then its fields lie in it, and its time
 * lies in its buckets, the smaller of 5 minutes, hours and days within the larger.
 */
#include "formats/logs/accesslog.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(bool holds)
{
    if (!holds) abort();
}

static void check_buckets(int64_t time)
{
    static const int64_t longest[] = {300, 3600, 86400, 7 * 86400, 31 * 86400};
    for (int b = GF_ACCESSLOG_5_MINUTES; b <= GF_ACCESSLOG_MONTH; b++) {
        int64_t start = gf_accesslog_bucket_start((gf_accesslog_bucket)b, time);
        check(start <= time && time - start < longest[b]);
        check(gf_accesslog_bucket_start((gf_accesslog_bucket)b, start) == start);
        check(b < GF_ACCESSLOG_HOUR ||
              start <= gf_accesslog_bucket_start(GF_ACCESSLOG_5_MINUTES, time));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    gf_accesslog_line a = {0};
    gf_error err = {GF_OK, ""};
    gf_slice line = gf_slice_of((const char *)bytes, n);
    gf_status st = gf_accesslog_parse(line, &a, &err);
    check(st == GF_OK || (st == GF_EINVAL && err.message[0]));
    if (st != GF_OK) return 0;
    const gf_slice fields[] = {a.ip,       a.login,   a.domain, a.method, a.url,
                               a.protocol, a.referer, a.agent,  a.cookie};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        check(!fields[i].len ||
              (fields[i].ptr >= line.ptr && fields[i].ptr + fields[i].len <= line.ptr + n));
    check(a.status >= 100 && a.status <= 999 && a.time >= 0 && a.ip.len);
    check_buckets(a.time);
    return 0;
}
