/**
 * Reads records of any format from an input and gives them as documents.
 *
 *     input -> (decompress, walk archives) -> UTF-8 -> split into records -> map fields -> gf_record
 *
 * The format of a stream is that of the options, else that of its name (without a suffix of
 * compression), else recognised by its first bytes; in folders and archives every other file is one text document.
 *
 * Memory: a few hundred kilobytes plus a multiple of max_document, whatever the input holds.
 * Threads: a reader is for one thread.
 */
#ifndef GF_FORMATS_READER_H
#define GF_FORMATS_READER_H

#include "base/written_time.h"
#include "formats/bytes/decoding.h"
#include "formats/bytes/input.h"
#include "grouperfish/document.h"

#include <stdint.h>

typedef enum gf_format {
    GF_FORMAT_AUTO,
    GF_FORMAT_JSONL,    /* one JSON object per line */
    GF_FORMAT_JSON,     /* one array of objects, or objects one after another */
    GF_FORMAT_CSV,      /* RFC 4180 with a header; the header decides between , ; and TAB */
    GF_FORMAT_TSV,      /* header, TAB, no quotes */
    GF_FORMAT_DIR,      /* each file is one document */
    GF_FORMAT_INPUT_TSV /* Firefox Input: 11 fields, no header, backslash escapes */
} gf_format;

#define GF_FORMAT_NAMES "jsonl|json|csv|tsv|dir|input-tsv"

/** The format of a name of GF_FORMAT_NAMES, or "auto"; false for another. */
bool gf_format_named(gf_slice name, gf_format *format);

/** The format of a file's name without a suffix of compression: "a.csv.gz" is CSV; else AUTO. */
gf_format gf_format_of_name(gf_slice name);

/** A record whose time cannot be read. */
typedef enum gf_bad_times {
    GF_BAD_TIMES_USUAL,  /* refused where the field was named; else as dropped */
    GF_BAD_TIMES_REFUSE, /* refused */
    GF_BAD_TIMES_DROP    /* has no time; the value stays an ordinary field */
} gf_bad_times;

/** False for another name than "refuse" and "drop". */
bool gf_bad_times_named(gf_slice name, gf_bad_times *bad_times);

/** False for another name than "month-first" (also "mdy") and "day-first" (also "dmy"). */
bool gf_date_order_named(gf_slice name, gf_date_order *order);

/** Whether records take a string, in any format and order of dates, for a time. */
bool gf_reader_takes_time(gf_slice text);

/** Something about a stream that whoever reads it may want to know: a stable key, and words. */
typedef void gf_reader_remark(void *context, const char *reason, gf_slice source,
                              const char *message);

/**
 * {0} gives the defaults. A name that is left empty was not given explicitly, and a value of the
 * wrong type is then no reason to refuse a record: the field stays an ordinary one.
 */
typedef struct gf_reader_options {
    gf_format format;
    gf_slice id;          /* default "id"; "none": no field is it, as of time and lang */
    const gf_slice *text; /* n_text; default "text" alone. Several are joined by an empty line */
    size_t n_text;
    bool text_is_fixed; /* the caller cannot name another, so errors do not suggest it */
    bool places;        /* of JSON Lines {"$place": "..."} is none, but a GF_RECORD_PLACE */
    bool without_text;  /* `text` are fields as all others, of any type, and may be absent */
    bool unwraps;       /* the items of {"items": [...]}, also as {"message": {...}}, are records */
    gf_slice time;      /* default "time" */
    gf_slice lang;      /* default "lang" */
    bool some_fields;   /* keep only `fields` of the others, instead of all */
    const gf_slice *fields; /* n_fields */
    size_t n_fields;
    uint64_t max_document; /* most bytes of text and fields; 0 is GF_MAX_DOCUMENT */
    gf_date_order dates;   /* of dates such as 3/4/2015 */
    gf_bad_times bad_times;
    gf_slice sheet;           /* of a workbook: its name or number; empty: the first that shows */
    gf_reader_remark *remark; /* may be NULL */
    void *remark_context;
    gf_decoding_options decoding;
} gf_reader_options;

/** Largest max_document. */
#define GF_LARGEST_MAX_DOCUMENT ((uint64_t)1 << 30)

typedef enum gf_record_kind {
    GF_RECORD_DOCUMENT,
    GF_RECORD_REFUSED, /* something is wrong with it */
    GF_RECORD_SKIPPED, /* nothing is wrong, but there is nothing to put */
    GF_RECORD_PLACE /* no record: how far a source was read, in `raw`. Only where it was asked for */
} gf_record_kind;

/**
 * One record. Everything is borrowed until the reader's next call.
 *
 * Promises about the document, so that nothing of it has to be parsed or checked again:
 *  - id, text, language, the names of fields and all JSON are valid UTF-8; the id has 1 to GF_MAX_ID
 *    bytes;
 *  - time (if any) and each field are one valid JSON value without white space, as gf_json_write
 *    writes it; time is a number or a string;
 *  - names of fields are distinct, GF_MAX_FIELDS of them at most (each of any length);
 *  - text, time, language, names and values together have max_document bytes at most.
 *
 * Reasons of REFUSED: broken_json, broken_csv, no_text, bad_type, bad_time, bad_id, too_long,
 * too_many_fields, not_text, encoding, wrong_field_count. Of SKIPPED: empty_text, wrong_field_count (both of
 * input-tsv, the first of empty text files, too), empty_file.
 */
typedef struct gf_record {
    gf_record_kind kind;
    gf_document document; /* of GF_RECORD_DOCUMENT */
    bool bad_time;        /* the value of its time's field is none: it became an ordinary field */
    bool hashed_id;       /* the record has no id: it got the hash of its content (record_hash.c) */
    gf_slice source;      /* file, or archive and member: "a.zip/b.csv" */
    gf_slice renamed;     /* the first time in a source: a field that was called as another was */
    uint64_t line;        /* 1-based, of the record's first line; 0 where lines say nothing */
    const char *reason;   /* of the other kinds: a key of the list above */
    const char *message;  /* and in words, without source and line */
    gf_slice raw;         /* the record's bytes; of one too long to hold its first max_document */
    uint32_t replaced;    /* ill-formed sequences and lone surrogates that became U+FFFD */
} gf_record;

typedef struct gf_reader gf_reader;

/**
 * @param input    copied; its context must last until close
 * @param options  copied; NULL for the defaults
 * @return GF_OK; GF_EINVAL (options); GF_ENOMEM. On failure *reader is unchanged.
 */
gf_status gf_reader_open(const gf_input *input, const gf_reader_options *options,
                         gf_reader **reader, gf_error *err);

/**
 * The next record. Up to 100 records are held back until one has a text field, so that a wrong
 * field name ends the import before it began.
 *
 * @return GF_OK; GF_ENOTFOUND at the end; else the import ends here: GF_EINVAL (a format that
 * cannot be recognised, no text field in the first records, an encoding that is not clear, a header that cannot
 *         be read),
 *         GF_ECORRUPT (a damaged archive), the input's failure, GF_ENOMEM. After any of these the
 *         same is returned again.
 */
gf_status gf_reader_next(gf_reader *reader, gf_record *record, gf_error *err);

void gf_reader_close(gf_reader *reader);

#endif
