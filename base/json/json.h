/**
 * Reads JSON: a thin C face of simdjson's DOM, which validates the whole text (syntax, UTF-8,
 * number ranges) before a value can be looked at.
 *
 * Numbers keep 64-bit integers; an integer beyond those, or a number beyond a double, is refused.
 * Values and their strings are borrowed from the parser until its next parse. A parser is for one
 * thread.
 */
#ifndef GF_BASE_JSON_JSON_H
#define GF_BASE_JSON_JSON_H

#include "grouperfish/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gf_json_parser gf_json_parser;

typedef enum gf_json_kind {
    GF_JSON_NULL,
    GF_JSON_BOOL,
    GF_JSON_INT,    /* fits int64 */
    GF_JSON_UINT,   /* fits uint64 and not int64 */
    GF_JSON_DOUBLE, /* written with a point or an exponent */
    GF_JSON_STRING,
    GF_JSON_ARRAY,
    GF_JSON_OBJECT
} gf_json_kind;

/** Why a text was refused. */
typedef enum gf_json_problem {
    GF_JSON_NO_PROBLEM,
    GF_JSON_BAD_SYNTAX,
    GF_JSON_BAD_UTF8,
    GF_JSON_BAD_STRING, /* an escape that names no character */
    GF_JSON_BAD_NUMBER,
    GF_JSON_TOO_DEEP
} gf_json_problem;

typedef struct gf_json_value {
    const void *document;
    size_t index;
} gf_json_value;

/** Walks the items of an array or the members of an object. */
typedef struct gf_json_iterator {
    gf_json_value at, end;
    int is_object;
} gf_json_iterator;

enum {
    GF_JSON_PADDING = 64, /* readable bytes that gf_json_parse wants behind the text */
    GF_JSON_DEPTH = 512   /* deepest nesting that is accepted */
};

gf_status gf_json_parser_create(gf_json_parser **parser, gf_error *err);
void gf_json_parser_free(gf_json_parser *parser);

/**
 * @param text  one JSON value, with GF_JSON_PADDING readable bytes behind it (any content)
 * @return GF_OK; GF_EINVAL with the reason in words, and gf_json_parser_problem tells which;
 *         GF_ENOMEM
 */
gf_status gf_json_parse(gf_json_parser *parser, gf_slice text, gf_json_value *root, gf_error *err);

/** The same for text without padding, which is copied. */
gf_status gf_json_parse_copy(gf_json_parser *parser, gf_slice text, gf_json_value *root,
                             gf_error *err);

gf_json_problem gf_json_parser_problem(const gf_json_parser *parser);

gf_json_kind gf_json_kind_of(gf_json_value v);

/* Each wants a value of its kind (a number of any kind for gf_json_number). */
bool gf_json_get_bool(gf_json_value v);
int64_t gf_json_get_int(gf_json_value v);
uint64_t gf_json_get_uint(gf_json_value v);
double gf_json_number(gf_json_value v);
gf_slice gf_json_get_string(gf_json_value v);

bool gf_json_is_number(gf_json_value v);

/** v is an array or an object. */
gf_json_iterator gf_json_items(gf_json_value v);

/** The next item; of an object also its name (name may be NULL). False at the end. */
bool gf_json_next(gf_json_iterator *it, gf_slice *name, gf_json_value *item);

/** The member of that name of an object (the first of several); false where v has none. */
bool gf_json_member(gf_json_value v, const char *name, gf_json_value *member);

/** Append v as JSON without white space. Numbers read back as the same, nearly always in the fewest
 * digits. */
gf_status gf_json_write(gf_json_value v, gf_buffer *out, gf_error *err);

#ifdef __cplusplus
}
#endif

#endif
