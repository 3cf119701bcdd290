/**
 * A record as its format gives it: named values that no meaning was given to yet, which is the work
 * of field_mapping_internal.h.
 */
#ifndef GF_FORMATS_PARSED_RECORD_H
#define GF_FORMATS_PARSED_RECORD_H

#include "base/json/json.h"
#include "formats/reader.h"

typedef enum gf_member_kind {
    GF_MEMBER_JSON,
    GF_MEMBER_TEXT,   /* a cell: valid UTF-8 */
    GF_MEMBER_NUMBER, /* a cell that is to be a number: its text is one in JSON's syntax */
    GF_MEMBER_EMPTY   /* an empty cell: the field is known, but has no value */
} gf_member_kind;

typedef struct gf_member {
    gf_slice name;
    gf_member_kind kind;
    gf_slice text;
    gf_json_value json;
} gf_member;

/** Most members of a record, and columns of a header. */
enum { GF_MOST_MEMBERS = 1 << 16 };

/** Everything is borrowed until the parser's next call. */
typedef struct gf_parsed_record {
    gf_record_kind kind;
    uint64_t line;
    gf_slice raw;
    uint64_t replaced;
    const char *reason; /* of a record that is refused or skipped */
    gf_error why;       /* likewise: the message */
    gf_member *members; /* n_members, of GF_RECORD_DOCUMENT */
    size_t n_members;
    bool has_header;  /* its members are named by a header, where no two have one name */
    gf_slice renamed; /* the name that one of them got because another has its own, or empty */
    bool is_file;     /* a text file: no members, but id and text */
    gf_slice id, text;
} gf_parsed_record;

/** Make it a refusal or a skip, with the reason's key and a message. */
void gf_parsed_record_refuse(gf_parsed_record *parsed, const char *reason, const char *format, ...)
    GF_PRINTF(3, 4);
void gf_parsed_record_skip(gf_parsed_record *parsed, const char *reason, const char *format, ...)
    GF_PRINTF(3, 4);
void gf_parsed_record_refuse_long(gf_parsed_record *parsed, uint64_t max_document);

#endif
