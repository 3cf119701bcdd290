/** The functions of libxml2, which is loaded when it is needed: see base/library.h. */
#ifndef GF_FORMATS_DOCUMENTS_XML_H
#define GF_FORMATS_DOCUMENTS_XML_H

#include "base/library.h"

#include <libxml/HTMLparser.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/tree.h>

/* clang-format off */
#define GF_XML_FUNCTIONS(F) \
    F(htmlEntityLookup) \
    F(xmlCreatePushParserCtxt) \
    F(xmlCtxtUseOptions) \
    F(xmlFreeDoc) \
    F(xmlFreeParserCtxt) \
    F(xmlInitParser) \
    F(xmlParseChunk) \
    F(xmlSAX2InternalSubset) \
    F(xmlSetGenericErrorFunc) \
    F(xmlStopParser)
/* clang-format on */
GF_LIBRARY_DECLARE(gf_xml, GF_XML_FUNCTIONS)

#define htmlEntityLookup        gf_xml_functions.htmlEntityLookup
#define xmlCreatePushParserCtxt gf_xml_functions.xmlCreatePushParserCtxt
#define xmlCtxtUseOptions       gf_xml_functions.xmlCtxtUseOptions
#define xmlFreeDoc              gf_xml_functions.xmlFreeDoc
#define xmlFreeParserCtxt       gf_xml_functions.xmlFreeParserCtxt
#define xmlInitParser           gf_xml_functions.xmlInitParser
#define xmlParseChunk           gf_xml_functions.xmlParseChunk
#define xmlSAX2InternalSubset   gf_xml_functions.xmlSAX2InternalSubset
#define xmlSetGenericErrorFunc  gf_xml_functions.xmlSetGenericErrorFunc
#define xmlStopParser           gf_xml_functions.xmlStopParser

static inline void gf_xml_say_nothing(void *context, const char *format, ...)
{
    (void)context, (void)format;
}

/** Errors of encodings are printed to standard error by this thread's parsers, unless this is called. */
static inline void gf_xml_silence(void)
{
    xmlSetGenericErrorFunc(NULL, gf_xml_say_nothing);
}

#endif
