/* Parsed records that are no documents: the reason and the message. */
#include "formats/parsed_record.h"

#include <stdarg.h>
#include <stdio.h>

static void set_reason(gf_parsed_record *d, gf_record_kind kind, const char *reason,
                       const char *format, va_list args)
{
    d->kind = kind;
    d->reason = reason;
    vsnprintf(d->why.message, sizeof d->why.message, format, args);
}

void gf_parsed_record_refuse(gf_parsed_record *d, const char *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_reason(d, GF_RECORD_REFUSED, reason, format, args);
    va_end(args);
}

void gf_parsed_record_skip(gf_parsed_record *d, const char *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_reason(d, GF_RECORD_SKIPPED, reason, format, args);
    va_end(args);
}

void gf_parsed_record_refuse_long(gf_parsed_record *d, uint64_t max_document)
{
    gf_parsed_record_refuse(d, "too_long", "longer than the limit of %llu bytes (--max-document)",
                            (unsigned long long)max_document);
}
