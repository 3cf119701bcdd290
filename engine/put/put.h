/** Putting documents, for the layers above that make them by formats/. */
#ifndef GF_ENGINE_PUT_PUT_H
#define GF_ENGINE_PUT_PUT_H

#include "grouperfish/collections.h"

/**
 * gf_put_document for a document that keeps the promises of a record (formats/reader.h): its text,
 * names and JSON are not parsed or checked a second time. Limits, which the put may set lower than
 * the reader, are.
 */
gf_status gf_put_checked_document(gf_put *put, gf_slice collection, const gf_document *document,
                                  gf_error *err);

#endif
