/**
 * The language of rules:
 *
 *     rule    any {"or" any}
 *     any     test {"and" test}
 *     test    "(" rule ")"
 *             "new" AT N             a group of new documents, of so many
 *             "rising" "z" AT X      a cluster whose share rises, by so many standard errors
 *             "size" AT N            either, of so many documents
 *             "cluster" "=" ID       this cluster, or this group
 *     AT      ">=" or ">"
 *
 * A rule is put to each group and each cluster in turn.
 */
#ifndef GF_ENGINE_WATCH_WHEN_H
#define GF_ENGINE_WATCH_WHEN_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdbool.h>
#include <stdint.h>

/** A group of new documents, or a cluster, to which a rule is put. */
typedef struct gf_watch_subject {
    bool is_new;
    uint64_t cluster, size;
    double z; /* of a cluster; 0: it does not rise */
} gf_watch_subject;

/** Whether the rule holds for the subject. GF_EINVAL tells the column of what is wrong. */
gf_status gf_watch_when_holds(gf_slice when, const gf_watch_subject *subject, bool *holds,
                              gf_error *err);

/**
 * Check a rule: that it is one, and that there is anything that it may hold for.
 * @param[out] rising  whether it may hold for clusters; may be NULL
 */
gf_status gf_watch_when_check(gf_slice when, bool *rising, gf_error *err);

#endif
