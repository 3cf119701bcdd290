/**
 * Holds back the first records until one has a text field. See hold.c.
 */
#ifndef GF_FORMATS_HOLD_INTERNAL_H
#define GF_FORMATS_HOLD_INTERNAL_H

#include "formats/mapping_internal.h"

typedef struct gf_hold {
    bool is_decided;    /* a text field was seen: everything passes */
    bool is_releasing;  /* what is held goes out; nothing more is held */
    uint64_t n_without; /* records that have fields, but no text field */
    gf_record *held;    /* capacity; held[at .. n-1] are still to be delivered */
    size_t at, n, capacity;
    size_t bytes; /* of what is held */
    gf_arena copies;
    gf_strings found; /* names of fields in those records */
    gf_buffer source; /* of the first of them */
} gf_hold;

/** Set to {0}. */
void gf_hold_release(gf_hold *hold);

/** The next record that was held and now goes out; false where there is none. */
bool gf_hold_take(gf_hold *hold, gf_record *record);

/**
 * Pass a record on.
 *
 * @param draft       the record's fields, NULL where it has none (broken, skipped)
 * @param has_text    whether one of them is a text field
 * @param mapping     whose names the error gives
 * @param[out] later  the record was copied and is delivered later, if at all. Where it is false,
 *                    gf_hold_take comes first
 * @return GF_OK; GF_EINVAL where these were too many records without; GF_ENOMEM
 */
gf_status gf_hold_pass(gf_hold *hold, const gf_record *record, const gf_draft *draft, bool has_text,
                       const gf_mapping *mapping, bool *later, gf_error *err);

/** At the end of the input: GF_EINVAL where records came, and none had a text field. */
gf_status gf_hold_finish(gf_hold *hold, const gf_mapping *mapping, gf_error *err);

#endif
