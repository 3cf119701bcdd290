/** Edits: what people change in the clusters of a collection, kept as facts that rebuilds obey. */
#ifndef GF_GROUPERFISH_EDITS_H
#define GF_GROUPERFISH_EDITS_H

#include "grouperfish/builds.h"
#include "grouperfish/configurations.h"
#include "grouperfish/export.h"

GF_PUBLIC_BEGIN

typedef enum gf_edit_kind {
    GF_EDIT_LABEL, /* what a cluster is called; off: its own label again */
    GF_EDIT_HIDE,  /* it is left out of lists; off: it is shown again */
    GF_EDIT_LOCK,  /* its centre stays as it is; off: it moves again */
    GF_EDIT_STATE, /* status, owner, link, note */
    GF_EDIT_MERGE, /* others go into a cluster, and end */
    GF_EDIT_SPLIT, /* a cluster becomes several */
    GF_EDIT_MOVE,  /* a document goes into a cluster */
    GF_EDIT_KEEP,  /* a document stays in the cluster that it is in */
    GF_EDIT_TOPIC  /* a topic is added (topics.h); off: it is deleted */
} gf_edit_kind;

/** The word for a kind: "rename", "hide", "lock", "set", "merge", "split", "move", "keep", "topic". */
const char *gf_edit_kind_name(gf_edit_kind kind);

/** An edit that is to be made; set by GF_EDIT_REQUEST(.kind = ...). */
typedef struct gf_edit_request {
    unsigned version; /* GF_EDIT_REQUEST_VERSION */
    gf_edit_kind kind;
    bool off;               /* of label, hide, lock: take it back */
    uint32_t cluster;       /* id; of merge the one that stays; not of keep */
    const uint32_t *others; /* n_others: of merge those that go into it */
    size_t n_others;
    gf_slice document;  /* id, of move and keep */
    uint32_t parts;     /* of split; 0: 2 */
    gf_slice text;      /* of label */
    const gf_pair *set; /* n_set, of state: status, owner, link or note; empty: none any more */
    size_t n_set;
    gf_slice by, reason; /* who and why; may be empty */
} gf_edit_request;

#define GF_EDIT_REQUEST_VERSION 1
#define GF_EDIT_REQUEST(...)    ((gf_edit_request){.version = GF_EDIT_REQUEST_VERSION, __VA_ARGS__})

/** An edit that was made. */
typedef struct gf_edit {
    uint64_t number; /* in its configuration, rising; never used again */
    gf_edit_kind kind;
    bool off;
    uint32_t cluster;
    const uint32_t *others; /* n_others: of merge those that ended, of split the new ones */
    size_t n_others;
    gf_slice document, text;
    gf_cluster_state state; /* of state: as it was set */
    gf_slice by, reason;
    int64_t when;  /* milliseconds since 1970 */
    int64_t build; /* that it was made on */
    gf_slice lost; /* why it does not hold, by the last rebuild or a later edit; empty: it holds */
    /* of topic, whose name is `text`; its cluster is 0 until a rebuild has given it one */
    gf_slice words, field; /* by which it is described; may be empty */
    uint64_t like;         /* documents that were given as its examples */
} gf_edit;

typedef gf_status gf_visit_edit(void *context, const gf_edit *edit, gf_error *err);

/**
 * Make an edit of the served build: every read has it at once, in one synced write, and rebuilds
 * obey it.
 *
 * @param visit  told of the edit as it was made; may be NULL
 * @return GF_OK; GF_ENOTFOUND (collection, build, cluster, document), GF_EINVAL (an edit that cannot
 *         be made, in words), GF_EEXISTS (another cluster has the label), GF_ECONFLICT (the build keeps
 *         no rows to make it by; a document that is to be kept was put anew since), GF_ELIMIT (cluster ids are
 *         used up)
 * Cost: of label, hide, lock and state a look at the members of the cluster; of the others a walk over the
 *       memberships, and the analysis of the texts of the clusters that are merged or split.
 */
gf_status gf_edit_make(gf_store *store, gf_place where, gf_slice configuration,
                       const gf_edit_request *request, gf_visit_edit *visit, void *context,
                       gf_error *err);

/**
 * Take an edit back. One that was made on the served build is taken out of it, which is then what it
 * was before: later ones on it are taken back first and made again. Of one that was made on an earlier build the
 * fact goes: the next rebuild obeys it no longer.
 *
 * @param number       0: the last one
 * @param[out] waits   whether it takes effect with the next rebuild; may be NULL
 * @return GF_OK; GF_ENOTFOUND (no such edit), GF_ECONFLICT (a later edit is about what it made, or keeps
 *         the document there; another cluster has the label that would come back)
 */
gf_status gf_edit_undo(gf_store *store, gf_place where, gf_slice configuration, uint64_t number,
                       bool *waits, gf_visit_edit *visit, void *context, gf_error *err);

/** The edits of a configuration that were not taken back, oldest first. */
gf_status gf_edits_visit(gf_store *store, gf_place where, gf_slice configuration,
                         gf_visit_edit *visit, void *context, gf_error *err);

GF_PUBLIC_END

#endif
