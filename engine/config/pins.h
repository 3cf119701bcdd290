/**
 * Pins of a configuration, set by people: builds that are kept, and what holds of clusters by their
 * ids: labels, which of them are hidden or locked, and their state. They are a column of the
 * collection's row, JSON, of all configurations that have any:
 *
 *     {"default": {"builds": [1795181177213], "labels": {"17": "Crash on start"}, "hidden": [5],
 *                  "locked": [7], "states": {"7": {"status": "planned", "owner": "ann"}}, "edited": 9,
 *                  "owed": 8}}
 *
 * It is what edits (engine/config/edits.h) have come to, so that whoever reads clusters need not read
 * the edits themselves.
 */
#ifndef GF_ENGINE_CONFIG_PINS_H
#define GF_ENGINE_CONFIG_PINS_H

#include "base/arena.h"
#include "engine/store/store_internal.h"
#include "grouperfish/builds.h"

typedef struct gf_pinned_label {
    uint32_t cluster; /* id */
    gf_slice label;
    bool overruled; /* another cluster was given the label later: the last word counts */
} gf_pinned_label;

/** Cells of a cluster's state: pairs of name and value, none of them empty. */
typedef struct gf_pinned_state {
    uint32_t cluster; /* id */
    gf_cluster_state state;
} gf_pinned_state;

typedef struct gf_pins {
    int64_t *builds; /* n_builds, rising */
    size_t n_builds;
    gf_pinned_label *labels; /* n_labels, in the order in which they were pinned */
    size_t n_labels;
    uint32_t *hidden; /* n_hidden: ids */
    size_t n_hidden;
    uint32_t *locked; /* n_locked: ids */
    size_t n_locked;
    gf_pinned_state *states; /* n_states, by cluster */
    size_t n_states;
    uint64_t edited; /* edits and undoings that were ever made: the number of the last */
    uint64_t owed;   /* the last of these that only a rebuild can show; 0: none */
    gf_arena memory; /* of all of it */
} gf_pins;

/** Read the pins of a configuration from the column; GF_ECORRUPT, GF_ENOMEM. */
gf_status gf_pins_read(gf_slice column, gf_slice configuration, gf_pins *pins, gf_error *err);
void gf_pins_release(gf_pins *pins);

/** The column with these pins in place of the configuration's, appended to *after. */
gf_status gf_pins_write(gf_slice before, gf_slice configuration, const gf_pins *pins,
                        gf_buffer *after, gf_error *err);

bool gf_pins_have_build(const gf_pins *pins, int64_t build);

/**
 * Mark builds of a configuration, in the batch, as being deleted: all but the newest `keep`, the
 * served one and the pinned ones. The keys of the marked are appended to the buffer, each as a
 * varint length and its bytes. The marks are not looked for later: LevelDB would step over the
 * remains of all marks that were ever near.
 *
 * @param pins  may be NULL
 */
gf_status gf_pins_mark_builds(gf_store *store, gf_slice configuration_key, size_t keep,
                              int64_t served, const gf_pins *pins, gf_batch *batch,
                              gf_buffer *marked, gf_error *err);

/** Set whether a cluster is hidden, or locked; a state with no value in it is none. GF_ENOMEM. */
gf_status gf_pins_set_hidden(gf_pins *pins, uint32_t cluster, bool hidden, gf_error *err);
gf_status gf_pins_set_locked(gf_pins *pins, uint32_t cluster, bool locked, gf_error *err);
gf_status gf_pins_set_label(gf_pins *pins, uint32_t cluster, gf_slice label, gf_error *err);
gf_status gf_pins_set_state(gf_pins *pins, uint32_t cluster, const gf_cluster_state *state,
                            gf_error *err);

bool gf_pins_hide(const gf_pins *pins, uint32_t cluster);
bool gf_pins_lock(const gf_pins *pins, uint32_t cluster);

/** The state of a cluster; NULL where it has none. */
const gf_cluster_state *gf_pins_state(const gf_pins *pins, uint32_t cluster);

/** The pinned label of a cluster; NULL where it has none, or where another cluster was given it later. */
const gf_slice *gf_pins_label(const gf_pins *pins, uint32_t cluster);

/** Likewise, also where another cluster has it now: it comes back once that one is called otherwise. */
const gf_slice *gf_pins_kept_label(const gf_pins *pins, uint32_t cluster);

/** The cluster that was given the label of this one later; 0: none was. */
uint32_t gf_pins_overruler(const gf_pins *pins, uint32_t cluster);

#endif
