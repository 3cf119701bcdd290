/** Collections, and the documents that go into them. */
#ifndef GF_GROUPERFISH_COLLECTIONS_H
#define GF_GROUPERFISH_COLLECTIONS_H

#include "grouperfish/document.h"
#include "grouperfish/export.h"
#include "grouperfish/store.h"

GF_PUBLIC_BEGIN

/** A collection: its namespace and its name in it; names have 1 to GF_MAX_NAME bytes. */
typedef struct gf_place {
    gf_slice name_space;
    gf_slice collection;
} gf_place;

typedef struct gf_configuration_state {
    gf_slice name;
    int64_t rebuilt;   /* the served build; 0 where there is none */
    int64_t processed; /* when that was last brought up to date; 0 likewise */
} gf_configuration_state;

typedef struct gf_collection_info {
    gf_slice name;
    uint64_t size;    /* documents */
    uint64_t seq;     /* raised by every put that changes something, and by every delete */
    int64_t modified; /* time of the last of those; 0 for none */
    const gf_configuration_state *configurations; /* n: those that have a served build, by name */
    size_t n_configurations;
} gf_collection_info;

typedef gf_status gf_visit_collection(void *context, const gf_collection_info *info, gf_error *err);

/** GF_EEXISTS where it is there. */
gf_status gf_collection_create(gf_store *store, gf_place where, gf_error *err);

/** GF_ENOTFOUND where there is none. */
gf_status gf_collection_read(gf_store *store, gf_place where, gf_visit_collection *visit,
                             void *context, gf_error *err);

/**
 * Tell whether anything about a collection has changed: *hash is of all that its row says
 * (documents by seq, settings, pins, which builds are served), and *served the build of a
 * configuration that is served, or 0. One look-up. GF_ENOTFOUND where there is no such collection.
 */
gf_status gf_collection_mark(gf_store *store, gf_place where, gf_slice configuration,
                             uint64_t *hash, int64_t *served, gf_error *err);

/** All collections of a namespace whose names start with a prefix, by name. */
gf_status gf_collections_visit(gf_store *store, gf_slice name_space, gf_slice prefix,
                               gf_visit_collection *visit, void *context, gf_error *err);

typedef gf_status gf_visit_name(void *context, gf_slice name, gf_error *err);

/** All namespaces that have a collection, in order. Cost: a look-up for each. */
gf_status gf_collections_visit_namespaces(gf_store *store, gf_visit_name *visit, void *context,
                                          gf_error *err);

/** Delete a collection with its documents, builds and settings. What a crash leaves is finished
 * later. */
gf_status gf_collection_delete(gf_store *store, gf_place where, gf_error *err);

typedef struct gf_put gf_put;

typedef struct gf_put_options {
    unsigned version; /* GF_PUT_OPTIONS_VERSION: set by GF_PUT_OPTIONS() */
    gf_slice name_space;
    uint64_t max_document;    /* bytes of text and fields; 0: GF_MAX_DOCUMENT */
    uint32_t max_collections; /* that may be made; 0: 100,000 */
} gf_put_options;

#define GF_PUT_OPTIONS_VERSION 1
/** Options with these members, as in GF_PUT_OPTIONS(.member = value), and all others 0. */
#define GF_PUT_OPTIONS(...) ((gf_put_options){.version = GF_PUT_OPTIONS_VERSION, __VA_ARGS__})

/** Documents written and synced so far. */
typedef struct gf_put_counts {
    uint64_t created, changed, unchanged; /* documents put */
    uint64_t deleted, absent;             /* documents asked to be deleted: there, and not there */
    uint64_t collections;                 /* made */
} gf_put_counts;

/** Begin to put documents into collections of a namespace, which are made where they are missing.
 */
gf_status gf_put_open(gf_store *store, const gf_put_options *options, gf_put **put, gf_error *err);

/**
 * Put a document; one of the same id is replaced. Documents are collected and written some thousand
 * at a time, by a thread of the put's own while the next are collected: only those that
 * gf_put_counted counts are sure to be on disk. A later call returns a failure of the writing.
 *
 * A change of a stored document waits for gf_put_flush, or until 64 MB of changes wait: of several
 * of one id the last counts, and those before it count as unchanged. So the same documents put again
 * change nothing.
 *
 * @return GF_OK; GF_EINVAL or GF_ELIMIT if this document is refused (its id is empty or longer than
 *         GF_MAX_ID, it is too large, ...): the put goes on without it. After any other failure the
 *         put is only good to be closed.
 */
gf_status gf_put_document(gf_put *put, gf_slice collection, const gf_document *document,
                          gf_error *err);

/** Delete a document, likewise. The collection must exist. */
gf_status gf_put_delete(gf_put *put, gf_slice collection, gf_slice id, gf_error *err);

/** Write and sync what was collected. */
gf_status gf_put_flush(gf_put *put, gf_error *err);

/** False after a failure that was not one document's: the put is only good to be closed. */
bool gf_put_is_good(const gf_put *put);

/** The counts of what is written and synced; after a flush that is all. */
gf_put_counts gf_put_counted(const gf_put *put);

/** Forgets what is collected and was not flushed; waits for what is being written. */
void gf_put_close(gf_put *put);

/** A choice of documents: all conditions must hold. */
typedef struct gf_document_choice {
    const gf_slice *where; /* n_where: "field=value", also with !=, <, <=, >, >= */
    size_t n_where;
    gf_slice before; /* ISO 8601, Unix seconds, or an age such as 30d; empty: of any time */
} gf_document_choice;

typedef gf_status gf_visit_id(void *context, gf_slice id, gf_error *err);

/** The ids of these documents, as they were when the walk began; GF_EINVAL for what is no choice.
 */
gf_status gf_documents_choose(gf_store *store, gf_place where, const gf_document_choice *choice,
                              gf_visit_id *visit, void *context, gf_error *err);

GF_PUBLIC_END

#endif
