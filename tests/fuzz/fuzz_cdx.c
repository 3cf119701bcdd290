/*
 * A line of CDX or CDXJ of any bytes is refused with a reason, skipped with one, or read; what is
 * read has its digest, a full-text type, a date and numbers.
 */
#include "apps/papers/papers.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(bool holds)
{
    if (!holds) abort();
}

static void check_number(gf_slice digits)
{
    check(digits.len > 0);
    for (size_t i = 0; i < digits.len; i++)
        check(digits.ptr[i] >= '0' && digits.ptr[i] <= '9');
}

static void check_cdx(const gf_cdx *cdx)
{
    gf_sha1 sha1, again;
    gf_buffer date = {0};
    memcpy(sha1.bytes, cdx->sha1, GF_SHA1_BYTES);
    check(gf_sha1_parse(gf_slice_str(gf_sha1_base32(&sha1).text), &again));
    check(memcmp(sha1.bytes, again.bytes, GF_SHA1_BYTES) == 0);
    check(gf_sha1_parse(gf_slice_str(gf_sha1_hex(&sha1).text), &again));
    check(memcmp(sha1.bytes, again.bytes, GF_SHA1_BYTES) == 0);
    check(gf_cdx_normalise_mime(gf_slice_str(cdx->mime)) == cdx->mime);
    check_number(cdx->size);
    check_number(cdx->offset);
    check(cdx->surt.len && cdx->url.len && cdx->warc.len && cdx->date.len == 14);
    gf_cdx_write_date(cdx->date, &date);
    check(date.len == 20);
    gf_buffer_release(&date);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    gf_error err = {GF_OK, ""};
    gf_cdx_parser *parser;
    gf_cdx cdx;
    gf_record record;
    if (gf_cdx_parser_create(&parser, &err) != GF_OK) return 0;
    check(gf_cdx_parse(parser, gf_slice_of((const char *)bytes, n), &cdx, &record, &err) == GF_OK);
    if (record.kind == GF_RECORD_DOCUMENT)
        check_cdx(&cdx);
    else
        check(record.reason && record.message && record.message[0]);
    gf_cdx_parser_free(parser);
    return 0;
}
