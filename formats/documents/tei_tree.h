/**
 * XML as a small tree: elements with their attributes, and texts. Comments, processing instructions
 * and the document type are left out.
 *
 * The XML comes from elsewhere: it is parsed without network, and a document that declares entities
 * or refers to a document type outside itself is stopped at; so is one with an element of more than
 * 1,000 attributes, or a tag of more than 32 KiB.
 *
 * Names are local ones, without the prefix of a namespace that is declared. A text may come in
 * several nodes, one behind the other.
 */
#ifndef GF_FORMATS_DOCUMENTS_TEI_TREE_H
#define GF_FORMATS_DOCUMENTS_TEI_TREE_H

#include "grouperfish/cancel.h"
#include "grouperfish/slice.h"
#include "grouperfish/status.h"

typedef struct gf_tei_attribute {
    const char *name, *value;
    const struct gf_tei_attribute *next;
} gf_tei_attribute;

typedef struct gf_tei_node {
    const char *name; /* of an element; NULL: a text */
    gf_slice text;    /* ends in NUL */
    const gf_tei_attribute *attributes;
    struct gf_tei_node *children, *next;
} gf_tei_node;

/** Parses one document after the other, and keeps the memory; for one thread. */
typedef struct gf_tei_tree gf_tei_tree;

/** @return GF_OK; GF_ENOMEM; GF_EIO (libxml2 cannot be loaded) */
gf_status gf_tei_tree_create(gf_tei_tree **tree, gf_error *err);
void gf_tei_tree_free(gf_tei_tree *tree);

typedef struct gf_tei_parsed {
    const gf_tei_node *root; /* borrowed until the next; NULL: why not is in reason */
    bool unsafe;             /* it is stopped at: reason says for what */
    char reason[256];
} gf_tei_parsed;

/**
 * Parse a document.
 * @param cancel  looked at for each 32 KiB; may be NULL
 * @return GF_OK, also where it is none; GF_ENOMEM, GF_ECANCELLED
 * Memory: three to six times the document, kept until the next.
 */
gf_status gf_tei_tree_parse(gf_tei_tree *tree, gf_slice xml, const gf_cancel *cancel,
                            gf_tei_parsed *parsed, gf_error *err);

#endif
