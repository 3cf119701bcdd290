/**
 * GROBID's TEI XML: what it says of a paper, as JSON.
 *
 * The XML comes from elsewhere. It is parsed without network and without expanding entities, and a
 * document that declares entities, or refers to a file outside itself, is refused; so is one with
 * tags that take too long to read (formats/documents/tei_tree.h).
 */
#ifndef GF_FORMATS_DOCUMENTS_TEI_H
#define GF_FORMATS_DOCUMENTS_TEI_H

#include "grouperfish/buffer.h"
#include "grouperfish/cancel.h"

/** Most bytes of TEI that are kept. */
#define GF_TEI_MOST ((size_t)4000000)

typedef enum gf_tei_result {
    GF_TEI_SUCCESS,
    GF_TEI_OVERSIZE, /* more than GF_TEI_MOST bytes: it is not looked at */
    GF_TEI_FAIL,     /* not XML, or not TEI */
    GF_TEI_UNSAFE    /* it declares entities, refers to another file, or has endless tags */
} gf_tei_result;

/** The name of the first three: "success", "oversize", "fail". */
const char *gf_tei_result_name(gf_tei_result result);

/** Start with {0}; each read replaces the content. */
typedef struct gf_tei {
    gf_tei_result result;
    char reason[256];        /* of FAIL and UNSAFE: why, in UTF-8 */
    gf_buffer json;          /* of SUCCESS: everything */
    gf_buffer metadata;      /* the same without body and annex */
    const char *quality;     /* good: title, an author and a body; bad: neither title nor body; else
                            marginal */
    const gf_cancel *cancel; /* the reader's; may be NULL */
    struct gf_tei_tree *tree; /* the parser, kept for the next */
} gf_tei;

void gf_tei_release(gf_tei *tei);

/**
 * Read a document.
 * @return GF_OK, whatever the result; GF_ENOMEM, GF_ECANCELLED
 * Memory: some ten times the document. Threads: several at once, each with its own gf_tei.
 */
gf_status gf_tei_read(gf_slice xml, gf_tei *tei, gf_error *err);

#endif
