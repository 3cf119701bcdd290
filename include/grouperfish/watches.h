/**
 * Watches: rules that tell of what is new in a collection, and of clusters that rise; candidates that
 * keep their ids; alerts, which are kept before they are sent.
 *
 *     a look (gf_watch_check)     groups of new documents get ids; what rules tell becomes alerts
 *     a round (gf_watch_deliver)  alerts that wait are sent, again and again until it succeeds
 */
#ifndef GF_GROUPERFISH_WATCHES_H
#define GF_GROUPERFISH_WATCHES_H

#include "grouperfish/cancel.h"
#include "grouperfish/collections.h"
#include "grouperfish/export.h"

GF_PUBLIC_BEGIN

/** The way that a rule's alerts go. */
typedef enum gf_watch_way {
    GF_WATCH_POST, /* to an address: POST with a signature */
    GF_WATCH_EXEC, /* to a command's standard input, by the shell */
    GF_WATCH_MAIL  /* to the end of a file in mbox format */
} gf_watch_way;

/** "post", "exec", "mail". */
const char *gf_watch_way_name(gf_watch_way way);

/** A rule. */
typedef struct gf_watch {
    uint64_t number; /* in its configuration, rising; never used again */
    gf_slice when;   /* such as "new >= 20 or rising z >= 4" */
    gf_watch_way way;
    gf_slice target;      /* address, command or path */
    gf_slice secret_file; /* of post: the path of the key that signs; empty: no signature */
    int64_t since;        /* milliseconds since 1970 */
    bool
        away; /* it was added to another folder, of which this store is a copy: its alerts are not sent */
} gf_watch;

typedef gf_status gf_visit_watch(void *context, const gf_watch *watch, gf_error *err);

/**
 * Add a rule; its number and time are set. It is one of this store in this folder: a copy, such as a stranger's
 * store or a backup, runs no commands, and tells nobody, until the rule is added to it as well.
 *
 * @param watch  when, way, target and secret_file
 * @return GF_OK; GF_ENOTFOUND (collection, configuration), GF_EINVAL (what `when` says, with the
 *         column; an address that is none; a file of a secret that cannot be read or is short), GF_ELIMIT
 *         (a hundred rules)
 */
gf_status gf_watch_add(gf_store *store, gf_place where, gf_slice configuration,
                       const gf_watch *watch, gf_visit_watch *visit, void *context, gf_error *err);

/** Delete a rule; its alerts that wait are not sent. GF_ENOTFOUND. */
gf_status gf_watch_delete(gf_store *store, gf_place where, gf_slice configuration, uint64_t number,
                          gf_visit_watch *visit, void *context, gf_error *err);

/** The rules of a configuration, oldest first. */
gf_status gf_watch_visit(gf_store *store, gf_place where, gf_slice configuration,
                         gf_visit_watch *visit, void *context, gf_error *err);

typedef gf_status gf_visit_watch_place(void *context, gf_place where, gf_slice configuration,
                                       gf_error *err);

/** All configurations that have had a rule or a look: what is new there is looked for. */
gf_status gf_watch_visit_places(gf_store *store, gf_visit_watch_place *visit, void *context,
                                gf_error *err);

/** The outcome of a look or a round. */
typedef struct gf_watch_outcome {
    uint64_t candidates; /* groups of new documents that have an id */
    uint64_t told;       /* alerts that the look made */
    uint64_t delivered, waiting,
        failed;    /* of all alerts after the round: sent by it; not yet; given up by it */
    int64_t build; /* that was looked at; 0: none is served */
    uint64_t seq;  /* of the collection, at the look */
} gf_watch_outcome;

/**
 * Look at the served build and at what came since: give ids to groups of new documents, and make
 * alerts of what the rules tell and no alert told before. All of it is one synced write.
 *
 * A bound on false alarms: where documents come in random order, at most 5 of 100 builds have any alert over all
 * looks at them, however many those are. A group is told of where its chance p (changes.h) times n(n+1), at the
 * n-th look at a build that sees something new, is at most 0.025; a rising cluster where one of the ten heaviest
 * terms of its centre is in more recent documents than chance has it, with at most 0.025 for all terms of the
 * build: its z alone does not bound anything, since a rebuild that goes on from served clusters is not blind to
 * time. Where the rows are no texts', there is z alone, and no bound but for builds that begin anew.
 *
 * Rising clusters are put to a rule once for each build: a put does not move them.
 *
 * While the configuration is being rebuilt nothing is done: ids are given by one at a time.
 *
 * @param cancel  may be NULL
 * @return GF_OK; GF_ENOTFOUND (collection, configuration); as gf_view_candidates and gf_view_trends.
 *         Where no build is served, nothing is told.
 * Cost: that of gf_view_candidates; where a rule is of rising clusters also, once for each build, that of
 * gf_view_trends and, where any rises, of analysing the build's documents.
 */
gf_status gf_watch_check(gf_store *store, gf_place where, gf_slice configuration,
                         const gf_cancel *cancel, gf_watch_outcome *out, gf_error *err);

/**
 * Send the alerts that wait and whose time has come, each once. One that fails waits 2, 4, 8, ...
 * seconds, an hour at most, and is given up after three days. Alerts reach their receiver at least once: an end
 * of the process between the answer and our note of it sends one again, under the same id. Where a rule's
 * receiver does not answer, once or with `now` three times in a row, its others wait for the next call.
 *
 * @param now     also those whose time has not come
 * @param cancel  may be NULL
 * @return GF_OK also where receivers fail; else what the store gives
 */
gf_status gf_watch_deliver(gf_store *store, gf_place where, gf_slice configuration, bool now,
                           const gf_cancel *cancel, gf_watch_outcome *out, gf_error *err);

/** An alert. */
typedef struct gf_alert {
    uint64_t number; /* in its configuration, rising */
    uint64_t watch;  /* number of the rule */
    gf_slice body;   /* JSON: what is told */
    gf_slice state;  /* "waiting", "delivered", "failed", "dropped" (its rule was deleted) */
    uint64_t tries;
    int64_t time;     /* when it was told */
    int64_t tried;    /* the last time; 0: not yet */
    int64_t next;     /* when it is tried again; 0: it is not */
    gf_slice problem; /* of the last try; empty: none */
    const char *way;  /* "post", ... */
} gf_alert;

typedef gf_status gf_visit_alert(void *context, const gf_alert *alert, gf_error *err);

/** The alerts of a configuration, oldest first, of numbers above `after`. */
gf_status gf_alert_visit(gf_store *store, gf_place where, gf_slice configuration, uint64_t after,
                         gf_visit_alert *visit, void *context, gf_error *err);

GF_PUBLIC_END

#endif
