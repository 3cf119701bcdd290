/**
 * What all record formats share: a parser is opened over a window, and gives drafts, that is
 * records with named values that no meaning was given to yet (mapping_internal.h does that).
 */
#ifndef GF_FORMATS_FORMAT_INTERNAL_H
#define GF_FORMATS_FORMAT_INTERNAL_H

#include "base/json.h"
#include "formats/reader.h"
#include "formats/window_internal.h"

typedef enum gf_member_kind {
    GF_MEMBER_JSON,
    GF_MEMBER_TEXT,   /* a cell: valid UTF-8 */
    GF_MEMBER_NUMBER, /* a cell that is to be a number: its text is one in JSON's syntax */
    GF_MEMBER_EMPTY,  /* an empty cell: the field is known, but has no value */
    GF_MEMBER_DROPPED /* overwritten by a later member of the same name */
} gf_member_kind;

typedef struct gf_member {
    gf_slice name;
    gf_member_kind kind;
    gf_slice text;
    gf_json_value json;
} gf_member;

/** Most members of a record, and columns of a header. */
enum { GF_MOST_MEMBERS = 1 << 16 };

/** A record as its format gives it; borrowed until the parser's next call. */
typedef struct gf_draft {
    gf_record_kind kind;
    uint64_t line;
    gf_slice raw;
    uint64_t replaced;
    const char *reason; /* of a draft that is refused or skipped */
    gf_error why;       /* likewise: the message */
    gf_member *members; /* n_members, of GF_RECORD_DOCUMENT */
    size_t n_members;
    bool is_file; /* a text file: no members, but id and text */
    gf_slice id, text;
} gf_draft;

/** Make it a refusal (or a skip), with the reason's key and words. */
void gf_draft_refuse(gf_draft *draft, const char *reason, const char *format, ...) GF_PRINTF(3, 4);
void gf_draft_skip(gf_draft *draft, const char *reason, const char *format, ...) GF_PRINTF(3, 4);
void gf_draft_refuse_long(gf_draft *draft, uint64_t max_document);

/** What a parser is opened with. Pointers are borrowed until it is closed. */
typedef struct gf_parse_context {
    gf_window *window;
    gf_slice name;    /* of the stream, for messages about the whole of it */
    gf_slice path;    /* of the stream: the id of a text file */
    gf_bounds bounds; /* of one record */
    uint64_t max_document;
    struct gf_json_reading *json; /* json_record_internal.h */
} gf_parse_context;

/** A format. next gives GF_OK, GF_ENOTFOUND at the end, or what ends the import. */
typedef struct gf_parser_kind {
    gf_status (*open)(const gf_parse_context *context, void **parser, gf_error *err);
    gf_status (*next)(void *parser, gf_draft *draft, gf_error *err);
    void (*close)(void *parser);
} gf_parser_kind;

extern const gf_parser_kind gf_jsonl_parser, gf_json_array_parser, gf_csv_parser, gf_tsv_parser,
    gf_text_file_parser, gf_firefox_input_parser;

/**
 * Choose the parser of a stream, and skip its byte order mark.
 *
 * @param given      what the options say
 * @param is_member  of a folder or an archive
 * @return GF_OK; GF_EINVAL where nothing tells the format, or the stream is UTF-16; a read's
 * failure
 */
gf_status gf_choose_parser(gf_window *window, gf_slice name, gf_format given, bool is_member,
                           const gf_parser_kind **kind, gf_error *err);

#endif
