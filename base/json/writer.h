/**
 * Writes JSON into a buffer: commas and escapes are its business, order and nesting the caller's.
 *
 *     gf_json_writer w = gf_json_writer_to(&buffer);
 *     gf_json_begin(&w, '{');
 *     gf_json_key(&w, "size");
 *     gf_json_uint(&w, 3);
 *     gf_json_end(&w, '}');
 *
 * Failures stay in the buffer (gf_buffer_check). Nesting at most 63 deep. Text that is not valid
 * UTF-8 is written with U+FFFD in the place of each ill-formed sequence.
 */
#ifndef GF_BASE_JSON_WRITER_H
#define GF_BASE_JSON_WRITER_H

#include "grouperfish/buffer.h"

typedef struct gf_json_writer {
    gf_buffer *out;
    uint64_t has_items; /* bit d: the object or array at depth d has an item already */
    unsigned depth;
    bool after_key;
} gf_json_writer;

gf_json_writer gf_json_writer_to(gf_buffer *out);

void gf_json_begin(gf_json_writer *w, char bracket); /* '{' or '[' */
void gf_json_end(gf_json_writer *w, char bracket);   /* '}' or ']' */
void gf_json_key(gf_json_writer *w, const char *name);
void gf_json_key_slice(gf_json_writer *w, gf_slice name);

void gf_json_string(gf_json_writer *w, gf_slice text);
void gf_json_int(gf_json_writer *w, int64_t v);
void gf_json_uint(gf_json_writer *w, uint64_t v);
void gf_json_bool(gf_json_writer *w, bool v);
void gf_json_null(gf_json_writer *w);

/** The shortest decimal that reads back as the same number; null where v is not finite. */
void gf_json_double(gf_json_writer *w, double v);
void gf_json_float(gf_json_writer *w, float v);

/** Text that is JSON already. */
void gf_json_raw(gf_json_writer *w, gf_slice json);

/* A key and its value in one call. */
void gf_json_put_string(gf_json_writer *w, const char *name, gf_slice text);
void gf_json_put_str(gf_json_writer *w, const char *name, const char *text);
void gf_json_put_uint(gf_json_writer *w, const char *name, uint64_t v);
void gf_json_put_double(gf_json_writer *w, const char *name, double v);
void gf_json_put_float(gf_json_writer *w, const char *name, float v);
void gf_json_put_bool(gf_json_writer *w, const char *name, bool v);

/** Append text to b as a JSON string with its quotes. */
void gf_json_append_string(gf_buffer *b, gf_slice text);

/** Append the shortest decimal that reads back as the same number. */
void gf_json_append_double(gf_buffer *b, double v);
void gf_json_append_float(gf_buffer *b, float v);

#endif
