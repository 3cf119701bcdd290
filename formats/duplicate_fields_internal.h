/**
 * Fields of one record, or columns of one header, that have the same name: the first keeps it, the
 * second is called <name>.2, the third <name>.3, so that none is lost.
 *
 *     text  date  text  text.2  text        fields
 *     text  date  text.3  text.2  text.4    their names: one that is there keeps its own
 */
#ifndef GF_FORMATS_DUPLICATE_FIELDS_INTERNAL_H
#define GF_FORMATS_DUPLICATE_FIELDS_INTERNAL_H

#include "base/arena.h"
#include "formats/parsed_record.h"

/** Set to {0}. */
typedef struct gf_duplicate_fields {
    uint32_t *slots;   /* n_slots: a member's index + 1, or 0; open addressing, at most half full */
    uint32_t *number;  /* capacity: of a member that comes again, the last number that was tried */
    bool *comes_again; /* capacity: the member's name was there before */
    size_t n_slots, capacity;
    gf_arena names; /* the new ones */
} gf_duplicate_fields;

void gf_duplicate_fields_release(gf_duplicate_fields *d);

/**
 * Rename members until no two have one name. New names are borrowed from d until its next call.
 *
 * @param[out] renamed  the first new name; unchanged where there is none
 * @return GF_OK; GF_ENOMEM
 * Cost: O(n); quadratic only up to a fixed n.
 */
gf_status gf_duplicate_fields_rename(gf_duplicate_fields *d, gf_member *members, size_t n,
                                     gf_slice *renamed, gf_error *err);

#endif
