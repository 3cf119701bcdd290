/**
 * Rows of put, one for each record, which are kept until everything before them is on disk: where they are
 * wanted with the cluster that a document joins, and with what is near to it. Without rows for each, the
 * summary tells of the only record that there was.
 */
#ifndef GF_API_DOCUMENTS_STORED_ROWS_H
#define GF_API_DOCUMENTS_STORED_ROWS_H

#include "api/call.h"
#include "api/intake.h"
#include "base/arena.h"
#include "formats/reader.h"

/** The nearest document to a stored one; id.ptr NULL: there is none. */
typedef struct gf_nearest_stored {
    gf_slice id;
    double cosine;
} gf_nearest_stored;

/** Begins as {.call, .intake, .each, .places, .near}. */
typedef struct gf_stored_rows {
    gf_call *call;
    const gf_intake *intake;     /* whose records they are */
    bool each;                   /* a row for each record is wanted */
    bool places;                 /* with the cluster that it joins, where it was stored */
    double near;                 /* with what was there already and is so near to it; 0: not that */
    uint64_t n_near;             /* documents that are near to another */
    gf_nearest_stored only_near; /* of the only record */
    gf_nearest_stored
        *at_near; /* of the kept records what each is near to; while they are emitted */
    gf_arena near_memory;
    bool near_failed; /* which was told */
    gf_buffer only;   /* without `each`: id and collection of the first record, if it was stored */
    /* The rows that are kept, n_results, lengths and bytes. Instead of a row that is to have a place or
       what is near: nothing, then line, id and collection. */
    gf_buffer results;
    size_t n_results;
} gf_stored_rows;

/** A record was stored; the collection is the first that it went to. GF_ENOMEM. */
gf_status gf_stored_rows_keep(gf_stored_rows *rows, const gf_record *record, gf_slice collection,
                              gf_error *err);

/** A record was refused or skipped, as `result` says. GF_ENOMEM. */
gf_status gf_stored_rows_keep_other(gf_stored_rows *rows, const gf_record *record,
                                    const char *result, const char *reason, const char *message,
                                    gf_error *err);

/** So many are kept that they should be emitted. */
bool gf_stored_rows_are_many(const gf_stored_rows *rows);

/** Emit the kept rows; everything before them is on disk. */
gf_status gf_stored_rows_emit(gf_stored_rows *rows, gf_error *err);

/**
 * Put the place of the only record that there was into the summary. It is stored whatever comes of this: a
 * build that cannot be read is told of in a notice.
 */
gf_status gf_stored_rows_put_only(const gf_stored_rows *rows, gf_json_writer *w, gf_error *err);

void gf_stored_rows_release(gf_stored_rows *rows);

#endif
