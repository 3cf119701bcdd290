/**
 * Topics: clusters that somebody described by words, by documents that are like them, or by the values of a field.
 * They are edits (edits.h) of kind GF_EDIT_TOPIC, which rebuilds obey: a topic takes the documents that are nearer
 * to it than to anything else, is called what it was named, and keeps its id.
 */
#ifndef GF_GROUPERFISH_TOPICS_H
#define GF_GROUPERFISH_TOPICS_H

#include "grouperfish/edits.h"
#include "grouperfish/export.h"

GF_PUBLIC_BEGIN

/** A topic that is to be added; set by GF_TOPIC_REQUEST(.name = ...). */
typedef struct gf_topic_request {
    unsigned version;     /* GF_TOPIC_REQUEST_VERSION */
    gf_slice name;        /* may be empty where there is a field: a topic for each value of it */
    gf_slice words;       /* may be empty */
    const gf_slice *like; /* n_like ids of documents that are examples, at most 1,000 */
    size_t n_like;
    gf_slice field; /* documents in which it has the topic's name are examples; may be empty */
    gf_slice by, reason;
} gf_topic_request;

#define GF_TOPIC_REQUEST_VERSION 1
#define GF_TOPIC_REQUEST(...)    ((gf_topic_request){.version = GF_TOPIC_REQUEST_VERSION, __VA_ARGS__})

/** A topic as it is now; slices are borrowed for the call. */
typedef struct gf_topic_info {
    uint64_t number; /* of its edit */
    gf_slice name;
    uint32_t cluster; /* id; 0: no build has had it yet */
    gf_slice words, field;
    uint64_t like;      /* examples by id */
    uint64_t documents; /* in the served build */
    float threshold;    /* similarity of the least similar of these; 0 without documents */
    bool owed;          /* the served build was made without it */
    gf_slice lost;      /* why the last rebuild could not keep it; empty: it holds */
    gf_slice by, reason;
    int64_t when; /* milliseconds since 1970 */
} gf_topic_info;

typedef gf_status gf_visit_topic(void *context, const gf_topic_info *info, gf_error *err);

/**
 * Add topics, in one synced write; the next rebuild grows them. With a field and no name one for each value that
 * a document has and that is no topic yet, at most 200.
 *
 * @param visit  told of each edit as it was made; may be NULL
 * @return GF_OK; GF_ENOTFOUND (collection, configuration, a document, a field or value that no document has),
 *         GF_EEXISTS (there is a topic of that name, or a cluster that was given it), GF_EINVAL (nothing describes it,
 *         words that no document has, a name that is none), GF_ELIMIT (too many values or examples)
 * Cost: a look at each example; of a field a walk over the documents.
 */
gf_status gf_topic_add(gf_store *store, gf_place where, gf_slice configuration,
                       const gf_topic_request *request, gf_visit_edit *visit, void *context,
                       gf_error *err);

/** Delete a topic, by its name in whatever case: the next rebuild makes none. GF_ENOTFOUND. */
gf_status gf_topic_delete(gf_store *store, gf_place where, gf_slice configuration, gf_slice name,
                          gf_slice by, gf_slice reason, gf_visit_edit *visit, void *context,
                          gf_error *err);

/**
 * The topics of a configuration, in the order in which they were added.
 *
 * @param[out] owed  whether the served build was made with other topics; may be NULL
 */
gf_status gf_topics_visit(gf_store *store, gf_place where, gf_slice configuration, bool *owed,
                          gf_visit_topic *visit, void *context, gf_error *err);

GF_PUBLIC_END

#endif
