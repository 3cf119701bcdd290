/**
 * A document: the result of reading a record, the input and the output of a store.
 */
#ifndef GF_GROUPERFISH_DOCUMENT_H
#define GF_GROUPERFISH_DOCUMENT_H

#include "grouperfish/export.h"
#include "grouperfish/slice.h"

#include <stdint.h>

GF_PUBLIC_BEGIN

/** A field of a record beside those that have a meaning: its name and its value as JSON. */
typedef struct gf_field {
    gf_slice name; /* UTF-8 */
    gf_slice json; /* one JSON value without white space: "firefox" with its quotes, 12, [1,2] */
} gf_field;

/** Everything is borrowed from whoever made the document. */
typedef struct gf_document {
    gf_slice id;   /* UTF-8, 1 to GF_MAX_ID bytes, unique in its collection */
    gf_slice text; /* UTF-8, may be empty */
    gf_slice time; /* as JSON: Unix seconds or milliseconds, or an ISO 8601 string; empty: none */
    gf_slice language;      /* ISO 639 code or Snowball name; empty: unknown */
    const gf_field *fields; /* n_fields, in the record's order, names distinct */
    size_t n_fields;
} gf_document;

enum {
    GF_MAX_ID = 1024,  /* bytes of a document's id */
    GF_MAX_NAME = 512, /* bytes of a namespace's, a collection's or a configuration's name */
    GF_MAX_FIELDS = 1024,
    GF_MAX_FIELD_NAME = 32768 /* bytes */
};

/** The default limit of a document that is put: 16 MiB of text and fields. */
#define GF_MAX_DOCUMENT ((uint64_t)16 << 20)

GF_PUBLIC_END

#endif
