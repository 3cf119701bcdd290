/**
 * Grouperfish: collections of documents, clustered, named, kept and served.
 *
 *     gf_store *store;
 *     gf_store_open("feedback.store", &GF_STORE_OPTIONS(.create = true), &store, &err);
 *     gf_put_open / gf_put_document ... / gf_put_close      documents go in
 *     gf_rebuild(store, where, "default", ...)              a clustering is built and published
 *     gf_view_open / gf_view_clusters ... / gf_view_close   it is read
 *     gf_store_close(store);
 *
 * Parts, in the order in which they are met:
 *
 *     include/grouperfish/store.h            stores: opened, closed, checked, copied, repaired
 *     include/grouperfish/collections.h      collections, and the documents that go into them
 *     include/grouperfish/configurations.h   settings of clusterings
 *     include/grouperfish/rebuild.h          collections clustered, the result published
 *     include/grouperfish/builds.h           builds: served again, pinned; pinned labels
 *     include/grouperfish/state.h            documents, and one state of a collection
 *     include/grouperfish/views.h            builds read: clusters, members, documents, reasons
 *     include/grouperfish/changes.h          trends, and what one build changed
 *     include/grouperfish/by_field.h         clusters by a field: crosstabs, numbers
 *     include/grouperfish/search.h           documents found by words, and those like another
 *     include/grouperfish/quality.h          a build beside known classes
 *     include/grouperfish/matrix.h           a build as rows and centroids
 *     include/grouperfish/user_tables.h      tables of one's own
 *     include/grouperfish/upkeep.h           deleted texts purged; health
 *     include/grouperfish/titles.h           names of clusters, asked of a language model
 *     include/grouperfish/ask.h              every operation of the command, by its name; rows as JSON
 *     include/grouperfish/topics.h           topics: clusters that are described by words or examples
 *     include/grouperfish/arrow.h            documents in and results out by Arrow's C data interface
 *
 * Conventions. Functions that can fail return a gf_status and take a last, nullable gf_error. Text
 * is a gf_slice, UTF-8, and never assumed to end in NUL. What a visitor is given is borrowed until
 * it returns; what a `release`, `free` or `close` exists for belongs to the caller. Times are
 * milliseconds since 1970-01-01T00:00:00Z. On failure outputs are unchanged.
 *
 * Threads. A store may be used by several threads at once: any number of readers, writers that wait
 * for each other, one rebuild of a configuration at a time. A put and a view are for one thread
 * each.
 *
 * Durability. What a function reports as done is on disk: it survives a crash and the loss of
 * power.
 */
#ifndef GF_GROUPERFISH_GROUPERFISH_H
#define GF_GROUPERFISH_GROUPERFISH_H

#include "grouperfish/arrow.h"
#include "grouperfish/ask.h"
#include "grouperfish/builds.h"
#include "grouperfish/by_field.h"
#include "grouperfish/changes.h"
#include "grouperfish/collections.h"
#include "grouperfish/configurations.h"
#include "grouperfish/edits.h"
#include "grouperfish/export.h"
#include "grouperfish/matrix.h"
#include "grouperfish/quality.h"
#include "grouperfish/rebuild.h"
#include "grouperfish/search.h"
#include "grouperfish/state.h"
#include "grouperfish/store.h"
#include "grouperfish/titles.h"
#include "grouperfish/topics.h"
#include "grouperfish/upkeep.h"
#include "grouperfish/user_tables.h"
#include "grouperfish/views.h"
#include "grouperfish/watches.h"

GF_PUBLIC_BEGIN

#define GF_VERSION "0.1.0"

/** The version of the library that is linked, and of those it was built with, in words. */
const char *gf_version(void);
const char *gf_version_libraries(void);

GF_PUBLIC_END

#endif
