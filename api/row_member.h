/**
 * Members of an operation's rows: a table of members, from which /openapi.json has its schemas,
 * docs/operations.md its tables, and which tests hold against every row that is given.
 *
 *     const gf_row_member gf_schema_pin[] = {M("collection", TEXT, "its name"),
 *                                            M("pinned", TRUTH, "true"), GF_ROW_MEMBERS_END};
 *
 * Objects and arrays have their members behind them by path: "terms[]" stands for each item of an array of
 * objects, as in "terms[].weight"; "why.sum" is a member of the object "why". "*" is every other name.
 *
 * Some parameters give rows of another form: with "columns" a row is a cell. A member names the form that it
 * is of; a row has the members of one form.
 */
#ifndef GF_API_ROW_MEMBER_H
#define GF_API_ROW_MEMBER_H

#include <stdbool.h>
#include <stddef.h>

typedef enum gf_row_member_kind {
    GF_ROW_MEMBER_TEXT,
    GF_ROW_MEMBER_WORD,    /* text: one of `words` */
    GF_ROW_MEMBER_TIME,    /* text: ISO 8601 in UTC */
    GF_ROW_MEMBER_ID,      /* a document's: text, or with id-type=number a whole number */
    GF_ROW_MEMBER_INTEGER, /* a whole number */
    GF_ROW_MEMBER_NUMBER,
    GF_ROW_MEMBER_TRUTH,    /* true or false */
    GF_ROW_MEMBER_SCALAR,   /* text or a number, as somebody gave it */
    GF_ROW_MEMBER_ANY,      /* any JSON */
    GF_ROW_MEMBER_MAP,      /* an object of any members */
    GF_ROW_MEMBER_OBJECT,   /* an object of the members behind it */
    GF_ROW_MEMBER_OBJECTS,  /* an array of objects of the members behind it */
    GF_ROW_MEMBER_TEXTS,    /* an array of text */
    GF_ROW_MEMBER_INTEGERS, /* an array of whole numbers */
    GF_ROW_MEMBER_NUMBERS,  /* an array of numbers */
    GF_ROW_MEMBER_ITEMS     /* an array of any JSON */
} gf_row_member_kind;

typedef struct gf_row_member {
    const char *path; /* NULL behind the last */
    gf_row_member_kind kind;
    bool optional; /* it may be missing from a row, or from the object that it is in */
    bool nullable;
    const char *meaning; /* as docs/operations.md has it, in Markdown */
    const char *words;   /* of a GF_ROW_MEMBER_WORD, with | between them */
    const char *form;    /* the forms that have it: parameters, with | between them; "" and NULL are
                            the ordinary one: "|geojson" is of both */
} gf_row_member;

#define GF_ROW_MEMBERS_END                                                                         \
    {                                                                                              \
        .path = NULL                                                                               \
    }

/* A member, one that may be missing, one that may be null, one that may be either. */
#define M(path, kind, meaning)                                                                     \
    {                                                                                              \
        path, GF_ROW_MEMBER_##kind, false, false, meaning, NULL, NULL                              \
    }
#define M_MAYBE(path, kind, meaning)                                                               \
    {                                                                                              \
        path, GF_ROW_MEMBER_##kind, true, false, meaning, NULL, NULL                               \
    }
#define M_NULL(path, kind, meaning)                                                                \
    {                                                                                              \
        path, GF_ROW_MEMBER_##kind, false, true, meaning, NULL, NULL                               \
    }
#define M_MAYBE_NULL(path, kind, meaning)                                                          \
    {                                                                                              \
        path, GF_ROW_MEMBER_##kind, true, true, meaning, NULL, NULL                                \
    }

/* One of some words. */
#define M_WORD(path, words, meaning)                                                               \
    {                                                                                              \
        path, GF_ROW_MEMBER_WORD, false, false, meaning, words, NULL                               \
    }
#define M_MAYBE_WORD(path, words, meaning)                                                         \
    {                                                                                              \
        path, GF_ROW_MEMBER_WORD, true, false, meaning, words, NULL                                \
    }

/* In rows of a form. */
#define M_OF(form, path, kind, meaning)                                                            \
    {                                                                                              \
        path, GF_ROW_MEMBER_##kind, false, false, meaning, NULL, form                              \
    }
#define M_MAYBE_OF(form, path, kind, meaning)                                                      \
    {                                                                                              \
        path, GF_ROW_MEMBER_##kind, true, false, meaning, NULL, form                               \
    }

/** A form of rows: a parameter's name, in the table; n is 0 for the ordinary one. */
typedef struct gf_row_member_form {
    const char *name;
    size_t n;
} gf_row_member_form;

/** The i-th form of a table, each once, the ordinary one first; false behind the last. */
bool gf_row_member_form_at(const gf_row_member *members, size_t i, gf_row_member_form *form);

/** Whether rows of the form have the member. */
bool gf_row_member_has_form(const gf_row_member *m, gf_row_member_form form);

/** Whether the member is directly of the object at the prefix ("" for the row, "terms[]."). */
bool gf_row_member_is_of(const gf_row_member *m, const char *prefix);

/** The member's own name: what its path ends with. */
const char *gf_row_member_name(const gf_row_member *m);

#endif
