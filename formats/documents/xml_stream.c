#include "formats/documents/xml_stream.h"

#include <string.h>

gf_slice gf_xml_stream_attribute(const gf_xml_attributes *a, const char *name)
{
    for (size_t i = 0; i < a->n; i++) {
        const xmlChar **at = a->at + 5 * i;
        if (strcmp((const char *)at[0], name) == 0)
            return gf_slice_of((const char *)at[3], (size_t)(at[4] - at[3]));
    }
    return (gf_slice){"", 0};
}

static gf_xml_stream *stream_of(void *parser)
{
    return ((xmlParserCtxt *)parser)->_private;
}

static void start_element(void *parser, const xmlChar *local, const xmlChar *prefix,
                          const xmlChar *uri, int n_namespaces, const xmlChar **namespaces,
                          int n_attributes, int n_defaulted, const xmlChar **attributes)
{
    gf_xml_stream *s = stream_of(parser);
    (void)prefix, (void)n_namespaces, (void)namespaces, (void)n_defaulted;
    gf_xml_attributes a = {attributes, (size_t)n_attributes};
    s->events->start(s->context, (const char *)local, (const char *)uri, &a);
}

static void end_element(void *parser, const xmlChar *local, const xmlChar *prefix,
                        const xmlChar *uri)
{
    gf_xml_stream *s = stream_of(parser);
    (void)prefix;
    s->events->end(s->context, (const char *)local, (const char *)uri);
}

static void add_characters(void *parser, const xmlChar *bytes, int length)
{
    gf_xml_stream *s = stream_of(parser);
    if (length > 0) s->events->text(s->context, gf_slice_of((const char *)bytes, (size_t)length));
}

static void meet_doctype(void *parser, const xmlChar *name, const xmlChar *external,
                         const xmlChar *system)
{
    gf_xml_stream *s = stream_of(parser);
    (void)name, (void)external, (void)system;
    s->is_unsafe = true;
    xmlStopParser(s->parser);
}

gf_status gf_xml_stream_open(gf_xml_stream *s, const gf_xml_events *events, void *context,
                             gf_error *err)
{
    gf_xml_silence();
    *s = (gf_xml_stream){.events = events, .context = context};
    s->parser = xmlCreatePushParserCtxt(NULL, NULL, NULL, 0, NULL);
    if (!s->parser) return gf_fail_memory(err, "an XML parser");
    xmlCtxtUseOptions(s->parser,
                      XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOENT);
    xmlSAXHandler *sax = s->parser->sax;
    s->parser->_private = s;
    sax->internalSubset = meet_doctype;
    sax->entityDecl = NULL;
    sax->startElementNs = start_element;
    sax->endElementNs = end_element;
    sax->characters = sax->ignorableWhitespace = sax->cdataBlock = add_characters;
    sax->reference = NULL;
    sax->comment = NULL;
    sax->processingInstruction = NULL;
    return GF_OK;
}

void gf_xml_stream_release(gf_xml_stream *s)
{
    if (!s->parser) return;
    if (s->parser->myDoc) xmlFreeDoc(s->parser->myDoc);
    s->parser->myDoc = NULL;
    xmlFreeParserCtxt(s->parser);
    s->parser = NULL;
}

void gf_xml_stream_stop(gf_xml_stream *s)
{
    xmlStopParser(s->parser);
}

/* Elements are known once their tag has ended: one that does not end within a piece is no text's. */
static bool is_long_tag(const xmlParserCtxt *parser)
{
    const xmlChar *at = parser->input->cur, *end = parser->input->end;
    return end - at > GF_XML_STREAM_TAG && at[0] == '<' && at[1] != '!' && at[1] != '?';
}

static bool parse_chunk(gf_xml_stream *s, gf_slice bytes, bool last)
{
    int failed = xmlParseChunk(s->parser, bytes.ptr, (int)bytes.len, last);
    s->out_of_memory |= s->parser->lastError.code == XML_ERR_NO_MEMORY;
    return failed == 0 && (last || !is_long_tag(s->parser));
}

bool gf_xml_stream_feed(gf_xml_stream *s, gf_slice bytes)
{
    return parse_chunk(s, bytes, false);
}

bool gf_xml_stream_end(gf_xml_stream *s)
{
    return parse_chunk(s, GF_SLICE(""), true);
}
