/**
 * XML as a stream of events, of files that strangers made. Pieces of any size are fed in; what would
 * let few bytes cost much ends the stream: a DTD, which could declare entities, elements more than 256
 * deep (libxml2's bound), a tag of more than GF_XML_STREAM_TAG bytes. Nothing is fetched.
 *
 * Names are local ones, without a prefix, and `space` is the namespace's address or NULL.
 */
#ifndef GF_FORMATS_DOCUMENTS_XML_STREAM_H
#define GF_FORMATS_DOCUMENTS_XML_STREAM_H

#include "formats/documents/xml.h"
#include "grouperfish/slice.h"

enum { GF_XML_STREAM_TAG = 32 << 10 };

/** The attributes of an element, borrowed within the call. */
typedef struct gf_xml_attributes {
    const xmlChar **at; /* 5 pointers each: name, prefix, namespace, value, the value's end */
    size_t n;
} gf_xml_attributes;

/** The value of the attribute of that local name, with its references undone; empty: none. */
gf_slice gf_xml_stream_attribute(const gf_xml_attributes *attributes, const char *name);

typedef struct gf_xml_events {
    void (*start)(void *context, const char *name, const char *space,
                  const gf_xml_attributes *attributes);
    void (*end)(void *context, const char *name, const char *space);
    void (*text)(void *context, gf_slice text); /* in pieces of any size */
} gf_xml_events;

/** Begin with {0}. */
typedef struct gf_xml_stream {
    xmlParserCtxt *parser;
    const gf_xml_events *events;
    void *context;
    bool is_unsafe;     /* it declares a document type */
    bool out_of_memory; /* libxml2 said so */
} gf_xml_stream;

/**
 * Open it; libxml2 is loaded (gf_library_load).
 * @param context  of the events; both are borrowed until release
 * @return GF_OK; GF_ENOMEM
 */
gf_status gf_xml_stream_open(gf_xml_stream *stream, const gf_xml_events *events, void *context,
                             gf_error *err);

/** Parse a piece of GF_XML_STREAM_TAG bytes at most; false: it is no such XML, or was stopped. */
bool gf_xml_stream_feed(gf_xml_stream *stream, gf_slice bytes);

/** No bytes follow; false where elements are open. */
bool gf_xml_stream_end(gf_xml_stream *stream);

/** From within an event: no further events come. */
void gf_xml_stream_stop(gf_xml_stream *stream);

void gf_xml_stream_release(gf_xml_stream *stream);

#endif
