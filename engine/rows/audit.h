/** A check of a store's rows under way: where faults are reported, and how many there were. */
#ifndef GF_ENGINE_ROWS_AUDIT_H
#define GF_ENGINE_ROWS_AUDIT_H

#include "grouperfish/store.h"

typedef struct gf_audit {
    gf_store *store;
    const gf_cancel *cancel;
    gf_visit_fault *visit; /* NULL: rows are counted, not checked */
    void *context;         /* of visit */
    uint64_t faults;
} gf_audit;

/** Count and report a fault; GF_OK, or the visitor's status. */
gf_status gf_audit_fault(gf_audit *audit, const char *where, gf_error *err, const char *format, ...)
    GF_PRINTF(4, 5);

/**
 * Judge the status of a read: damage (GF_ECORRUPT, with its message in *err, not NULL) becomes a
 * fault, and the check goes on; any other status is returned.
 */
gf_status gf_audit_read(gf_audit *audit, gf_status st, const char *where, gf_error *err);

#endif
