/**
 * Parses the text of one JSON object; shared by JSON Lines, JSON arrays and tweets.
 */
#ifndef GF_FORMATS_JSON_RECORD_H
#define GF_FORMATS_JSON_RECORD_H

#include "formats/parsed_record.h"
#include "grouperfish/buffer.h"

/** A parser with its scratch memory. */
typedef struct gf_json_record_parser {
    gf_json_parser *parser;
    gf_buffer utf8;     /* the record with ill-formed UTF-8 replaced */
    gf_buffer escapes;  /* the record with lone surrogates replaced */
    gf_member *members; /* capacity */
    size_t capacity;
} gf_json_record_parser;

gf_status gf_json_record_parser_init(gf_json_record_parser *reading, gf_error *err);
void gf_json_record_parser_release(gf_json_record_parser *reading);

/**
 * Set the record's members, or make it a refusal. Ill-formed UTF-8 and escapes of lone surrogates
 * (real tweets have them) become U+FFFD, counted in parsed->replaced.
 *
 * @param text   as for gf_json_parse: GF_JSON_PADDING readable bytes lie behind it
 * @return GF_OK; GF_ENOMEM
 */
gf_status gf_json_record_parse(gf_json_record_parser *reading, gf_slice text,
                               gf_parsed_record *parsed, gf_error *err);

#endif
