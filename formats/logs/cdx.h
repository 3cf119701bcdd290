/**
 * Lines of a web archive's index: CDX with 11 fields, and CDXJ.
 *
 *     surt date URL mime status digest - - size offset WARC
 *     surt date {"url": ..., "mime": ..., "status": ..., "digest": ..., "length": ..., "offset":
 * ..., "filename": ...}
 *
 * Both forms may be mixed; each line tells its own.
 */
#ifndef GF_FORMATS_LOGS_CDX_H
#define GF_FORMATS_LOGS_CDX_H

#include "base/json/json.h"
#include "formats/reader.h"

/** A capture of a full text; slices are borrowed from the line (of CDXJ from the parser). */
typedef struct gf_cdx {
    gf_slice surt, date; /* date: 14 digits, YYYYMMDDhhmmss in UTC */
    gf_slice url, warc;
    const char *mime;      /* normalised */
    char sha1[20];         /* of the content */
    gf_slice size, offset; /* digits: compressed bytes, and where they begin in the WARC */
} gf_cdx;

/**
 * The full-text type that a type means, by its prefix in any case: application/pdf,
 * application/postscript, text/html or text/xml; NULL where it is none.
 */
const char *gf_cdx_normalise_mime(gf_slice mime);

/** Append YYYY-MM-DDThh:mm:ssZ of 14 digits that gf_cdx_parse took. */
void gf_cdx_write_date(gf_slice date, gf_buffer *out);

typedef struct gf_cdx_parser gf_cdx_parser;

gf_status gf_cdx_parser_create(gf_cdx_parser **parser, gf_error *err);
void gf_cdx_parser_free(gf_cdx_parser *parser);

/**
 * Read a line without its end.
 *
 * Refused are: comment, header, few_fields, many_fields, missing_field (- in a field that is used),
 * bad_status (not 200), bad_number, bad_date, bad_digest, not_utf8, broken_json, bad_type. Skipped
 * is a type that is no full text: not_full_text.
 *
 * @param[out] cdx     borrowed until the next call; of GF_RECORD_DOCUMENT alone
 * @param[out] record  kind, reason, message; the rest stays as it is
 * @return GF_OK; GF_ENOMEM
 */
gf_status gf_cdx_parse(gf_cdx_parser *parser, gf_slice line, gf_cdx *cdx, gf_record *record,
                       gf_error *err);

/** Reads the lines of an input, compressed or not. Empty lines are no records. */
typedef struct gf_cdx_reader gf_cdx_reader;

gf_status gf_cdx_reader_open(const gf_input *input, gf_cdx_reader **reader, gf_error *err);
void gf_cdx_reader_close(gf_cdx_reader *reader);

/** The next record, as gf_reader_next; a line of more than 64 KiB is refused as too_long. */
gf_status gf_cdx_reader_next(gf_cdx_reader *reader, gf_cdx *cdx, gf_record *record, gf_error *err);

#endif
