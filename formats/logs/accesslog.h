/**
 * Lines of a web server's access log, in Apache's formats:
 *
 *     common     host ident user [17/May/2015:10:05:03 +0000] "GET /path HTTP/1.1" 200 203023
 *     combined   and "referer" "user agent"; a further quoted field is the browser's cookie
 *     vhost      either, with "domain:port" before the host
 *
 * Fields are slices of the line, with the server's own escapes (\" \\ \xhh) as they are. "-" is
 * absent: an empty slice. Of a URL with a host in it ("GET http://a.org/b") the host is the domain.
 *
 * Threads: no state.
 */
#ifndef GF_FORMATS_LOGS_ACCESSLOG_H
#define GF_FORMATS_LOGS_ACCESSLOG_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdint.h>

typedef struct gf_accesslog_line {
    int64_t time; /* seconds since 1970, UTC; not before */
    gf_slice ip, login, domain, method, url, protocol, referer, agent, cookie;
    unsigned status; /* 100 to 999 */
    uint64_t bytes;  /* of the answer; 0 for "-" */
} gf_accesslog_line;

/**
 * Take a line apart, without its end.
 * @return GF_OK; GF_EINVAL, where the message says what is wrong, and *access is unchanged
 */
gf_status gf_accesslog_parse(gf_slice line, gf_accesslog_line *access, gf_error *err);

typedef enum gf_accesslog_bucket {
    GF_ACCESSLOG_5_MINUTES,
    GF_ACCESSLOG_HOUR,
    GF_ACCESSLOG_DAY,
    GF_ACCESSLOG_WEEK, /* ISO 8601, from Monday */
    GF_ACCESSLOG_MONTH,
    GF_ACCESSLOG_YEAR
} gf_accesslog_bucket;

/** The start of the bucket that a time lies in, both in seconds since 1970, UTC. */
int64_t gf_accesslog_bucket_start(gf_accesslog_bucket bucket, int64_t seconds);

#endif
