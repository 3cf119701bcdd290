/**
 * Rows as JSON Schema says what they hold (draft 2020-12), from the members that operations say they have:
 * for /openapi.json and for the tools of language models.
 */
#ifndef GF_API_ROW_SCHEMA_H
#define GF_API_ROW_SCHEMA_H

#include "api/row_member.h"
#include "base/json/writer.h"

typedef enum gf_row_schema_detail {
    GF_ROW_SCHEMA_TOLD, /* with what members mean, and which are always there */
    GF_ROW_SCHEMA_BARE  /* types alone: it holds for rows whose lists were cut, too */
} gf_row_schema_detail;

/** The schema's members, of a row of one form, into an object that is open. */
void gf_row_schema_write(gf_json_writer *w, const gf_row_member *members, gf_row_member_form form,
                         gf_row_schema_detail detail);

/** The member "type"; other may be NULL. */
void gf_row_schema_types(gf_json_writer *w, const char *type, const char *other, bool nullable);

/** The member "enum": words with | between them. */
void gf_row_schema_words(gf_json_writer *w, const char *words);

#endif
