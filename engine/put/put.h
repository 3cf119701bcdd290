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

/** Most bytes of the name of a source, and of its place. */
enum { GF_PUT_MOST_SOURCE = 200, GF_PUT_MOST_PLACE = 64 << 10 };

/**
 * Keep how far a source was read, with the collection that its documents are in. What was put before
 * must be flushed. On disk when it returns; the same place again writes nothing.
 *
 * @return GF_OK; GF_ENOTFOUND (no such collection); GF_EINVAL (an empty or too long name or place);
 *         GF_EIO, GF_ENOMEM
 */
gf_status gf_put_place_write(gf_store *store, gf_place where, gf_slice source, gf_slice place,
                             gf_error *err);

/** Takes a source and its place, borrowed within the call; a failure ends the walk. */
typedef gf_status gf_put_place_visitor(void *context, gf_slice source, gf_slice place,
                                       gf_error *err);

/** The places of a collection, by name. GF_ENOTFOUND: no such collection. */
gf_status gf_put_places(gf_store *store, gf_place where, gf_put_place_visitor *visit, void *context,
                        gf_error *err);

#endif
