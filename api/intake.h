/**
 * Intake: the one loop of all operations that read records and store them.
 *
 *     next -> record   document: take     it is stored, or gf_intake_refuse says why not
 *                      refused            counted, reported, handed to the keeper of such records
 *                      skipped            counted by its reason
 *     flush            whatever ended the reading
 *     summary          likewise
 *
 * A cancel ends the reading before the next record: records that were taken are flushed, and (of an
 * intake with a summary) the error says that the same command goes on.
 */
#ifndef GF_API_INTAKE_H
#define GF_API_INTAKE_H

#include "api/call.h"

/** Counts of refused and skipped records by reason; begin with {0}. */
typedef struct gf_reasons {
    struct {
        const char *reason; /* lasts as long as this */
        uint64_t n;
    } by[32]; /* n; by reason; further ones are not counted */
    size_t n;
} gf_reasons;

/** Set call, context and the functions; the rest begins as {0}. */
typedef struct gf_intake {
    gf_call *call;
    void *context; /* of the functions; all but next and take may be NULL */

    /** The next record; GF_ENOTFOUND at the end; any other status ends the intake. */
    gf_status (*next)(void *context, gf_record *record, gf_error *err);

    /** In the place of next: call gf_intake_record for each record. */
    gf_status (*visit)(void *context, gf_error *err);

    /** Store a record of kind document; a failure ends the intake. */
    gf_status (*take)(void *context, const gf_record *record, gf_error *err);

    /** A record is about to be refused or (its kind then) skipped. */
    gf_status (*note)(void *context, const gf_record *record, const char *reason,
                      const char *message, gf_error *err);

    /** Write what was taken; `ended` is how reading ended: GF_OK, GF_ECANCELLED, a failure. */
    gf_status (*flush)(void *context, gf_status ended, gf_error *err);

    /** Emit the summary; `ended` is likewise, a failed flush included. */
    gf_status (*summary)(void *context, gf_status ended, gf_error *err);

    /** Refused records with this reason do not count for the call's outcome. */
    bool (*is_harmless)(const char *reason);

    bool cancels_itself; /* take looks for a cancel */
    gf_slice what;       /* of progress; empty: the record's source */
    const char *phase;   /* likewise; NULL: "reading" */

    uint64_t read, skipped, refused;
    bool is_bad; /* a record was refused for a reason that is not harmless */
    gf_reasons reasons;
} gf_intake;

/** Read, flush and sum up. @return the first failure */
gf_status gf_intake_run(gf_intake *intake, gf_error *err);

/** Count a record and take, refuse or skip it. */
gf_status gf_intake_record(gf_intake *intake, const gf_record *record, gf_error *err);

/** Refuse a record: `reason` is a key that lasts as long as the intake. */
gf_status gf_intake_refuse(gf_intake *intake, const gf_record *record, const char *reason,
                           const char *message, gf_error *err);

/** Count a reason beside those of refused and skipped records. */
void gf_intake_count_reason(gf_intake *intake, const char *reason);

/** Write the members read, new, changed, `same`, stored, skipped, refused, reasons. */
void gf_intake_put_counts(const gf_intake *intake, gf_json_writer *w, uint64_t created,
                          uint64_t changed, const char *same, uint64_t n_same);

#endif
