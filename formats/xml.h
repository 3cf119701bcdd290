/** The functions of libxml2, which is loaded when it is needed: see base/library.h. */
#ifndef GF_FORMATS_XML_H
#define GF_FORMATS_XML_H

#include "base/library.h"

#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/tree.h>

/* clang-format off */
#define GF_XML_FUNCTIONS(F) \
    F(xmlCtxtReadMemory) \
    F(xmlDictGetUsage) \
    F(xmlFreeDoc) \
    F(xmlFreeParserCtxt) \
    F(xmlInitParser) \
    F(xmlNewParserCtxt) \
    F(xmlSAX2InternalSubset) \
    F(xmlStopParser)
/* clang-format on */
GF_LIBRARY_DECLARE(gf_xml, GF_XML_FUNCTIONS)

#define xmlCtxtReadMemory     gf_xml_functions.xmlCtxtReadMemory
#define xmlDictGetUsage       gf_xml_functions.xmlDictGetUsage
#define xmlFreeDoc            gf_xml_functions.xmlFreeDoc
#define xmlFreeParserCtxt     gf_xml_functions.xmlFreeParserCtxt
#define xmlInitParser         gf_xml_functions.xmlInitParser
#define xmlNewParserCtxt      gf_xml_functions.xmlNewParserCtxt
#define xmlSAX2InternalSubset gf_xml_functions.xmlSAX2InternalSubset
#define xmlStopParser         gf_xml_functions.xmlStopParser

#endif
