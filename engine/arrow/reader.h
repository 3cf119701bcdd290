/**
 * Rows of an ArrowArrayStream as documents.
 *
 * Owner: the reader owns the stream from its opening on, also where that fails, and the batch at hand;
 * each is released exactly once.
 */
#ifndef GF_ENGINE_ARROW_READER_H
#define GF_ENGINE_ARROW_READER_H

#include "engine/arrow/columns.h"

/** The fields that are read beside the text. */
typedef enum gf_arrow_need {
    GF_ARROW_NEED_ALL, /* documents to be put */
    GF_ARROW_NEED_TEXT /* text and language, and the field "vector" where there is one */
} gf_arrow_need;

typedef struct gf_arrow_reader {
    const gf_arrow_options *options;
    struct ArrowArrayStream *stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    gf_arrow_column *columns; /* n_columns: of the schema */
    size_t n_columns;
    const gf_arrow_column *id, *text, *time, *language; /* among the columns, or NULL */
    const gf_arrow_column **fields;                     /* n_fields: among the columns */
    size_t n_fields;
    gf_field *field;   /* room for n_fields + 1: a time that is none stays as one */
    size_t *field_end; /* n_fields + 1: ends of their JSON in `json` */
    gf_buffer json;    /* of the row at hand */
    gf_buffer time_json;
    char digits[24]; /* of an id that is a number */
    uint64_t rows;   /* before the batch at hand */
    uint64_t bad_times;
    gf_arrow_counts counts; /* rows and refused */
} gf_arrow_reader;

gf_status gf_arrow_reader_open(gf_arrow_reader *reader, struct ArrowArrayStream *stream,
                               const gf_arrow_options *options, gf_arrow_need need, gf_error *err);

/** Get the next batch; *rows is 0 and GF_ENOTFOUND the status at the end. */
gf_status gf_arrow_reader_next(gf_arrow_reader *reader, int64_t *rows, gf_error *err);

/**
 * The document of row i of the batch at hand, borrowed until the next call; *reason is NULL. A row that
 * is none has its reason, a message in *why, and no document.
 */
gf_status gf_arrow_reader_row(gf_arrow_reader *reader, int64_t i, gf_document *document,
                              const char **reason, gf_error *why, gf_error *err);

/** Count a refused row, and tell whoever wants to know; else GF_EINVAL. */
gf_status gf_arrow_reader_refuse(gf_arrow_reader *reader, int64_t i, const char *reason,
                                 const char *message, gf_error *err);

void gf_arrow_reader_release(gf_arrow_reader *reader);

#endif
