/**
 * From the text of one JSON object to a draft; shared by JSON Lines and JSON arrays.
 */
#ifndef GF_FORMATS_JSON_RECORD_INTERNAL_H
#define GF_FORMATS_JSON_RECORD_INTERNAL_H

#include "formats/format_internal.h"

/** A parser with its scratch memory. */
typedef struct gf_json_reading {
    gf_json_parser *parser;
    gf_buffer utf8;     /* the record with ill-formed UTF-8 replaced */
    gf_buffer escapes;  /* the record with lone surrogates replaced */
    gf_member *members; /* capacity */
    size_t capacity;
} gf_json_reading;

gf_status gf_json_reading_init(gf_json_reading *reading, gf_error *err);
void gf_json_reading_release(gf_json_reading *reading);

/**
 * Set the draft's members, or make it a refusal. Ill-formed UTF-8 and escapes of lone surrogates
 * (real tweets have them) become U+FFFD, counted in draft->replaced.
 *
 * @param text   as for gf_json_parse: GF_JSON_PADDING readable bytes lie behind it
 * @return GF_OK; GF_ENOMEM
 */
gf_status gf_json_reading_draft(gf_json_reading *reading, gf_slice text, gf_draft *draft,
                                gf_error *err);

#endif
