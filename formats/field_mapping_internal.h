/**
 * Gives meaning to a record's fields: from the members of a parsed record to a document. See field_mapping.c.
 */
#ifndef GF_FORMATS_FIELD_MAPPING_INTERNAL_H
#define GF_FORMATS_FIELD_MAPPING_INTERNAL_H

#include "base/arena.h"
#include "base/strings.h"
#include "formats/duplicate_fields_internal.h"
#include "formats/format_internal.h"

/** A field that was asked for by its name. */
typedef struct gf_asked_field {
    gf_slice name;
    bool seen; /* in some record */
} gf_asked_field;

typedef struct gf_field_mapping {
    gf_slice id, time, lang; /* names of the fields; these and text copied into `names` */
    bool id_given, lang_given;
    gf_asked_field *asked; /* n_asked, in `names`; n_unseen of them in no record yet */
    size_t n_asked, n_unseen;
    bool has_members;   /* a record had fields */
    bool lacks_id;      /* the latest record: it has no id, and one was asked for */
    bool refuses_times; /* records whose time cannot be read */
    gf_date_order dates;
    gf_slice *text; /* n_text */
    size_t n_text;
    bool text_is_fixed;
    bool without_text;
    bool some_fields;
    gf_strings wanted; /* with some_fields: the names of the fields to keep */
    uint64_t max_document;
    gf_arena names;

    /* Scratch of the current record. */
    gf_member **texts;   /* n_text: the members that are the text; NULL where absent */
    gf_buffer joined;    /* the text, where it is made of several fields */
    gf_buffer values;    /* the JSON of time and fields */
    gf_buffer time_text; /* a time that was written otherwise, as ISO 8601 */
    gf_field *fields;    /* capacity */
    size_t *starts;      /* capacity: where each field's JSON starts in values */
    size_t capacity;
    char id_digits[40];
    gf_duplicate_fields duplicates;
} gf_field_mapping;

/** On failure nothing is left to release. */
gf_status gf_field_mapping_init(gf_field_mapping *m, const gf_reader_options *options,
                                gf_error *err);
void gf_field_mapping_release(gf_field_mapping *m);

/**
 * Fill record->document, bad_time and hashed_id from the parsed record, borrowed until the next call, or make
 * the parsed record a refusal.
 *
 * @param[out] has_text_field  whether a field of the text's name is there, whatever its value
 * @return GF_OK, also for a refusal; GF_ENOMEM
 */
gf_status gf_field_mapping_apply(gf_field_mapping *m, gf_parsed_record *parsed, gf_record *record,
                                 bool *has_text_field, gf_error *err);

/** The id of a record that has none (or, in `id`, a null): 32 hexadecimal digits. */
gf_status gf_record_hash(const gf_parsed_record *parsed, const gf_member *id, gf_buffer *scratch,
                         char hex[33], gf_error *err);

#endif
