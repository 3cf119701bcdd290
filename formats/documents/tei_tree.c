/*
 * libxml2's parser calls, nodes in an arena. libxml2 would make a tree of its own: each node, name
 * and text an allocation that is freed one by one. It allocates by itself, and nests at most 256
 * deep (without XML_PARSE_HUGE), so recursion over the tree is bounded.
 *
 * libxml2 compares each attribute of an element with all others, and each prefix with all namespaces
 * around it. So both are bounded; and since an element is known only once its tag has ended, so is
 * a tag: the document is given in chunks, and what a chunk leaves unread is the start of one. A
 * cancel is looked for between chunks.
 */
#include "formats/documents/tei_tree.h"

#include "base/arena.h"
#include "base/memory.h"
#include "formats/documents/xml.h"

#include <pthread.h>
#include <stdio.h>

enum {
    DEEPEST = 300,             /* more than libxml2 lets nest */
    LARGEST_MEMORY = 64 << 20, /* bytes of nodes that are kept for the next document */
    CHUNK = 32 << 10,
    MOST_ATTRIBUTES = 1000, /* of an element */
    MOST_NAMESPACES = 1000, /* of the elements around one */
};

GF_LIBRARY_DEFINE(gf_xml, GF_LIBXML, GF_XML_FUNCTIONS)

struct gf_tei_tree {
    xmlParserCtxt *parser;
    gf_arena memory;              /* of the document */
    gf_tei_node *open[DEEPEST];   /* n_open: the elements around what comes */
    gf_tei_node **place[DEEPEST]; /* where the next child of each goes */
    int n_namespaces[DEEPEST];    /* that each declares */
    int all_namespaces;
    unsigned n_open;
    gf_tei_node *root;
    gf_tei_parsed *parsed;
    bool no_memory, too_deep;
};

/* ---- nodes ----------------------------------------------------------------------------------- */

static gf_tei_tree *tree_of(void *context)
{
    return ((xmlParserCtxt *)context)->_private;
}

static void end_parsing(gf_tei_tree *t, bool no_memory)
{
    t->no_memory |= no_memory;
    xmlStopParser(t->parser);
}

static gf_tei_node *add_node(gf_tei_tree *t)
{
    gf_tei_node *n = gf_arena_alloc(&t->memory, sizeof *n);
    if (!n) {
        end_parsing(t, true);
        return NULL;
    }
    *n = (gf_tei_node){.name = NULL};
    if (t->n_open) {
        *t->place[t->n_open - 1] = n;
        t->place[t->n_open - 1] = &n->next;
    } else if (!t->root) {
        t->root = n;
    }
    return n;
}

/* A name with a prefix that no namespace is declared for keeps it. */
static const char *name_of(gf_tei_tree *t, const xmlChar *local, const xmlChar *prefix,
                           const xmlChar *uri)
{
    if (!prefix || uri) return (const char *)local;
    size_t before = strlen((const char *)prefix), n = strlen((const char *)local);
    char *name = gf_arena_alloc(&t->memory, before + n + 2);
    if (!name) {
        end_parsing(t, true);
        return "";
    }
    memcpy(name, prefix, before);
    name[before] = ':';
    memcpy(name + before + 1, local, n + 1);
    return name;
}

static void refuse_document(void *context, const char *reason)
{
    gf_tei_tree *t = tree_of(context);
    t->parsed->unsafe = true;
    snprintf(t->parsed->reason, sizeof t->parsed->reason, "%s", reason);
    end_parsing(t, false);
}

static void start_element(void *context, const xmlChar *local, const xmlChar *prefix,
                          const xmlChar *uri, int n_namespaces, const xmlChar **namespaces,
                          int n_attributes, int n_defaulted, const xmlChar **attributes)
{
    gf_tei_tree *t = tree_of(context);
    (void)namespaces, (void)n_defaulted;
    if (t->no_memory || t->parsed->unsafe) return;
    if (t->n_open == DEEPEST) {
        t->too_deep = true;
        end_parsing(t, false);
        return;
    }
    if (n_attributes > MOST_ATTRIBUTES) {
        refuse_document(context, "an element has more than 1,000 attributes");
        return;
    }
    if (n_namespaces > MOST_NAMESPACES - t->all_namespaces) {
        refuse_document(context, "more than 1,000 namespaces are declared for an element");
        return;
    }
    gf_tei_node *n = add_node(t);
    if (!n) return;
    n->name = name_of(t, local, prefix, uri);
    const gf_tei_attribute **place = &n->attributes;
    for (int i = 0; i < n_attributes; i++, attributes += 5) {
        gf_tei_attribute *a = gf_arena_alloc(&t->memory, sizeof *a);
        size_t length = (size_t)(attributes[4] - attributes[3]);
        gf_slice value =
            gf_arena_copy(&t->memory, gf_slice_of((const char *)attributes[3], length));
        if (!a || !value.ptr) {
            end_parsing(t, true);
            return;
        }
        *a = (gf_tei_attribute){name_of(t, attributes[0], attributes[1], attributes[2]), value.ptr,
                                NULL};
        *place = a;
        place = &a->next;
    }
    t->all_namespaces += n_namespaces;
    t->n_namespaces[t->n_open] = n_namespaces;
    t->open[t->n_open] = n;
    t->place[t->n_open++] = &n->children;
}

static void end_element(void *context, const xmlChar *local, const xmlChar *prefix,
                        const xmlChar *uri)
{
    gf_tei_tree *t = tree_of(context);
    (void)local, (void)prefix, (void)uri;
    if (t->n_open) t->all_namespaces -= t->n_namespaces[--t->n_open];
}

static void add_text(void *context, const xmlChar *bytes, int length)
{
    gf_tei_tree *t = tree_of(context);
    if (t->no_memory || t->n_open == 0 || length <= 0) return;
    gf_slice text = gf_arena_copy(&t->memory, gf_slice_of((const char *)bytes, (size_t)length));
    gf_tei_node *n = text.ptr ? add_node(t) : NULL;
    if (n)
        n->text = text;
    else
        end_parsing(t, true);
}

/* ---- what is stopped at ---------------------------------------------------------------------- */

static void meet_doctype(void *context, const xmlChar *name, const xmlChar *external,
                         const xmlChar *system)
{
    if (external || system)
        refuse_document(context, "it refers to a document type outside itself");
    else
        xmlSAX2InternalSubset(context, name, external, system);
}

static void meet_entity(void *context, const xmlChar *name, int type, const xmlChar *public_id,
                        const xmlChar *system_id, xmlChar *content)
{
    (void)name, (void)type, (void)public_id, (void)system_id, (void)content;
    refuse_document(context, "it declares entities, which are not expanded");
}

/* ---- documents ------------------------------------------------------------------------------- */

static void initialise_libxml(void)
{
    xmlInitParser();
}

static gf_status make_parser(gf_tei_tree *t, gf_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialise_libxml);
    gf_xml_silence();
    t->parser = xmlCreatePushParserCtxt(NULL, NULL, NULL, 0, NULL);
    if (!t->parser) return gf_fail_memory(err, "an XML parser");
    /* No entity can be declared, so "expanding" them is what &amp; and the like need. */
    xmlCtxtUseOptions(t->parser,
                      XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOENT);
    xmlSAXHandler *sax = t->parser->sax;
    t->parser->_private = t;
    sax->internalSubset = meet_doctype;
    sax->entityDecl = meet_entity;
    sax->startElementNs = start_element;
    sax->endElementNs = end_element;
    sax->characters = sax->ignorableWhitespace = add_text;
    sax->cdataBlock = add_text;
    sax->reference = NULL;
    sax->comment = NULL;
    sax->processingInstruction = NULL;
    return GF_OK;
}

gf_status gf_tei_tree_create(gf_tei_tree **tree, gf_error *err)
{
    gf_status st = gf_library_load(&gf_xml, err);
    if (st != GF_OK) return st;
    gf_tei_tree *t = gf_calloc(1, sizeof *t);
    if (!t) return gf_fail_memory(err, "an XML parser");
    *tree = t;
    return GF_OK;
}

static void free_parser(gf_tei_tree *t)
{
    if (!t->parser) return;
    if (t->parser->myDoc) xmlFreeDoc(t->parser->myDoc);
    t->parser->myDoc = NULL;
    xmlFreeParserCtxt(t->parser);
    t->parser = NULL;
}

void gf_tei_tree_free(gf_tei_tree *t)
{
    if (!t) return;
    free_parser(t);
    gf_arena_release(&t->memory);
    gf_free(t);
}

/* The parser of the document before has its names. */
static void begin_document(gf_tei_tree *t, gf_tei_parsed *parsed)
{
    free_parser(t);
    if (t->memory.total > LARGEST_MEMORY) gf_arena_release(&t->memory);
    gf_arena_reset(&t->memory);
    t->root = NULL;
    t->n_open = 0;
    t->all_namespaces = 0;
    t->no_memory = t->too_deep = false;
    t->parsed = parsed;
    *parsed = (gf_tei_parsed){.root = NULL};
}

/* The part that the parser has not read yet begins a tag, which is longer than a chunk. */
static bool is_long_tag(const xmlParserCtxt *parser)
{
    const xmlChar *at = parser->input->cur, *end = parser->input->end;
    return end - at > CHUNK && at[0] == '<' && at[1] != '!' && at[1] != '?';
}

static gf_status parse_chunks(gf_tei_tree *t, gf_slice xml, const gf_cancel *cancel, gf_error *err)
{
    gf_status st = GF_OK;
    int failed = 0;
    while (xml.len && !failed) {
        size_t n = xml.len < CHUNK ? xml.len : CHUNK;
        if ((st = gf_cancel_check(cancel, err)) != GF_OK) return st;
        failed = xmlParseChunk(t->parser, xml.ptr, (int)n, 0);
        xml = gf_slice_skip(xml, n);
        if (!failed && is_long_tag(t->parser)) {
            refuse_document(t->parser, "a tag has more than 32 KiB");
            return GF_OK;
        }
    }
    if (!failed) xmlParseChunk(t->parser, "", 0, 1);
    return GF_OK;
}

gf_status gf_tei_tree_parse(gf_tei_tree *t, gf_slice xml, const gf_cancel *cancel,
                            gf_tei_parsed *parsed, gf_error *err)
{
    begin_document(t, parsed);
    gf_status st = make_parser(t, err);
    if (st == GF_OK) st = parse_chunks(t, xml, cancel, err);
    if (st != GF_OK) return st;
    const xmlError *error = &t->parser->lastError;
    if (t->no_memory || error->code == XML_ERR_NO_MEMORY)
        st = gf_fail_memory(err, "an XML document");
    else if (t->parser->wellFormed && t->root && error->level < XML_ERR_FATAL && !parsed->unsafe &&
             !t->too_deep)
        parsed->root = t->root;
    else if (!parsed->unsafe)
        snprintf(parsed->reason, sizeof parsed->reason, "not XML: line %d: %.200s", error->line,
                 t->too_deep      ? "nested too deep"
                 : error->message ? error->message
                                  : "no document");
    return st;
}
