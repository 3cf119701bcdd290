/**
 * Holds back the first records until one has a text field. See held_records.c.
 */
#ifndef GF_FORMATS_HELD_RECORDS_INTERNAL_H
#define GF_FORMATS_HELD_RECORDS_INTERNAL_H

#include "formats/field_mapping_internal.h"

typedef struct gf_held_records {
    bool has_header;    /* the first record without a text has */
    bool has_text;      /* the latest record has a text field */
    bool is_decided;    /* a text field was seen: everything passes */
    bool is_releasing;  /* held records are given out; no further one is held */
    uint64_t n_without; /* records that have fields, but no text field */
    gf_record *held;    /* capacity; held[at .. n-1] are still to be delivered */
    size_t at, n, capacity;
    size_t bytes; /* of the held records */
    gf_arena copies;
    gf_strings found; /* names of fields in those records */
    gf_buffer source; /* of the first of them */
} gf_held_records;

/** Set to {0}. */
void gf_held_records_release(gf_held_records *held);

/** Give out the next held record; false where none is to be given out now. */
bool gf_held_records_next(gf_held_records *held, gf_record *record);

/**
 * Pass a record on.
 *
 * @param parsed       the record's fields, NULL where it has none (broken, skipped)
 * @param has_text   whether one of them is a text field
 * @param mapping     whose names the error gives
 * @param[out] later  the record was copied and is delivered later, if at all. Where it is false,
 *                    gf_held_records_next comes first
 * @return GF_OK; GF_EINVAL where these were too many records without, or the first with a text lacks the
 *         id that was asked for; GF_ENOMEM
 */
gf_status gf_held_records_pass(gf_held_records *held, const gf_record *record,
                               const gf_parsed_record *parsed, bool has_text,
                               const gf_field_mapping *mapping, bool *later, gf_error *err);

/** At the end of the input: GF_EINVAL where records came, and none had a text field. */
gf_status gf_held_records_end(gf_held_records *held, const gf_field_mapping *mapping,
                              gf_error *err);

#endif
