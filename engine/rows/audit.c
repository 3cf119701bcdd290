#include "engine/rows/audit.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

gf_status gf_audit_fault(gf_audit *a, const char *where, gf_error *err, const char *format, ...)
{
    char what[GF_ERROR_MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    a->faults++;
    return a->visit ? a->visit(a->context, where, what, err) : GF_OK;
}

gf_status gf_audit_read(gf_audit *a, gf_status st, const char *where, gf_error *err)
{
    if (st != GF_ECORRUPT || !a->visit) return st;
    assert(err);
    gf_error damage = *err;
    return gf_audit_fault(a, where, err, "%s", damage.message);
}
