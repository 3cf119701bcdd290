/**
 * Pins of a configuration, set by people: builds that are kept, and labels of clusters. They are a
 * column of the collection's row, JSON, of all configurations that have any:
 *
 *     {"default": {"builds": [1795181177213], "labels": {"17": "Crash on start"}}}
 */
#ifndef GF_ENGINE_CONFIG_PINS_H
#define GF_ENGINE_CONFIG_PINS_H

#include "base/arena.h"
#include "engine/store/store_internal.h"

typedef struct gf_pinned_label {
    uint32_t cluster; /* id */
    gf_slice label;
} gf_pinned_label;

typedef struct gf_pins {
    int64_t *builds; /* n_builds, rising */
    size_t n_builds;
    gf_pinned_label *labels; /* n_labels, by cluster */
    size_t n_labels;
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

/** The pinned label of a cluster; NULL where it has none. */
const gf_slice *gf_pins_label(const gf_pins *pins, uint32_t cluster);

#endif
