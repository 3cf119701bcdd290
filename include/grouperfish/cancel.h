/**
 * A request to stop, set by one thread or a signal handler and looked at by the workers.
 */
#ifndef GF_GROUPERFISH_CANCEL_H
#define GF_GROUPERFISH_CANCEL_H

#include "grouperfish/export.h"
#include "grouperfish/status.h"

GF_PUBLIC_BEGIN

typedef struct gf_cancel {
    int requested; /* only through the functions below */
} gf_cancel;

/** May be called from a signal handler. */
static inline void gf_cancel_request(gf_cancel *c)
{
    __atomic_store_n(&c->requested, 1, __ATOMIC_RELAXED);
}

/** GF_ECANCELLED where a stop was requested; c may be NULL. */
static inline gf_status gf_cancel_check(const gf_cancel *c, gf_error *err)
{
    if (!c || !__atomic_load_n(&c->requested, __ATOMIC_RELAXED)) return GF_OK;
    return gf_fail(err, GF_ECANCELLED, "stopped on request");
}

GF_PUBLIC_END

#endif
