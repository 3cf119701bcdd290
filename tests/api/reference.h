/**
 * docs/operations.md as tests read it: its sections, one for each operation, and their tables.
 *
 *     reference r;
 *     reference_open(&r);
 *     reference_section s;
 *     reference_section_open(&r, gf_operation_find("put"), &s);
 *     reference_note_row(&s, row);
 *     reference_section_release(&s);
 *     reference_release(&r);
 */
#ifndef GF_TESTS_API_REFERENCE_H
#define GF_TESTS_API_REFERENCE_H

#include "api/operation.h"
#include "base/json/json.h"
#include "base/strings.h"

typedef struct reference {
    gf_buffer text;
    gf_slice collection; /* the documents of its examples */
    gf_slice tweets;     /* and the tweets */
} reference;

typedef struct reference_section {
    const gf_operation *operation;
    gf_slice text;    /* behind its heading */
    gf_strings given; /* paths of the rows that were looked at: "terms[].term" */
} reference_section;

/** Read the document. The test fails where something is not as it must be, here and below. */
void reference_open(reference *r);
void reference_release(reference *r);

void reference_section_open(const reference *r, const gf_operation *operation,
                            reference_section *s);
void reference_section_release(reference_section *s);

/** Take note of the members of a row, at any depth. */
void reference_note_row(reference_section *s, gf_json_value row);

/** Go to the line that starts so: *rest is what is behind it. */
bool reference_find_line(gf_slice text, const char *start, gf_slice *line, gf_slice *rest);

/** The lines of the next block of this kind; text goes behind it. */
bool reference_take_block(gf_slice *text, const char *fence, gf_slice *block);

#endif
