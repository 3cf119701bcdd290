/**
 * The interface of record formats: a parser is opened over a read buffer and gives parsed records.
 */
#ifndef GF_FORMATS_FORMAT_INTERNAL_H
#define GF_FORMATS_FORMAT_INTERNAL_H

#include "formats/parsed_record.h"
#include "formats/read_buffer.h"

/** The surroundings of a parser. Pointers are borrowed until it is closed. */
typedef struct gf_parse_context {
    gf_read_buffer *buffer;
    gf_slice name;           /* of the stream, for messages about the whole of it */
    gf_slice path;           /* of the stream: the id of a text file */
    gf_record_bounds bounds; /* of one record */
    uint64_t max_document;
    const gf_input *input;    /* whose bounds and cancel hold */
    bool unwraps;             /* as the options say */
    bool places;              /* likewise */
    gf_slice sheet;           /* likewise */
    gf_reader_remark *remark; /* likewise; may be NULL */
    void *remark_context;
    struct gf_json_record_parser *json; /* json_record.h */
} gf_parse_context;

/** A format. next gives GF_OK, GF_ENOTFOUND at the end, or what ends the import. */
typedef struct gf_parser_kind {
    gf_status (*open)(const gf_parse_context *context, void **parser, gf_error *err);
    gf_status (*next)(void *parser, gf_parsed_record *parsed, gf_error *err);
    void (*close)(void *parser);
} gf_parser_kind;

extern const gf_parser_kind gf_jsonl_parser, gf_json_array_parser, gf_csv_parser, gf_tsv_parser,
    gf_text_file_parser, gf_html_parser, gf_office_parser, gf_mail_parser, gf_firefox_input_parser,
    gf_workbook_parser;

/** Does a stream begin with an object whose items are records: see json_array.c. */
gf_status gf_format_is_wrapped(gf_read_buffer *buffer, bool *wrapped, gf_error *err);

/** Whether the options or the name say that a stream holds records. */
bool gf_format_is_records(gf_slice name, gf_format given);

/**
 * Choose the parser of a stream, and skip its byte order mark.
 *
 * @param given      format of the options
 * @param is_member  of a folder or an archive
 * @return GF_OK; GF_EINVAL where the format cannot be recognised; the failure of a read
 */
gf_status gf_format_choose_parser(gf_read_buffer *buffer, gf_slice name, gf_format given,
                                  bool is_member, const gf_parser_kind **kind, gf_error *err);

#endif
