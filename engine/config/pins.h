/**
 * What people have pinned in a configuration: builds that are kept, and labels of clusters. It is a
 * column of the collection's row, JSON, of all configurations that have any:
 *
 *     {"default": {"builds": [1795181177213], "labels": {"17": "Crash on start"}}}
 */
#ifndef GF_ENGINE_CONFIG_PINS_H
#define GF_ENGINE_CONFIG_PINS_H

#include "base/arena.h"
#include "engine/store/internal.h"

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

/** What the column says of a configuration; GF_ECORRUPT, GF_ENOMEM. */
gf_status gf_pins_read(gf_slice column, gf_slice configuration, gf_pins *pins, gf_error *err);
void gf_pins_release(gf_pins *pins);

/** The column with these pins in place of the configuration's, appended to *after. */
gf_status gf_pins_write(gf_slice before, gf_slice configuration, const gf_pins *pins,
                        gf_buffer *after, gf_error *err);

bool gf_pins_have_build(const gf_pins *pins, int64_t build);

/** The pinned label of a cluster; NULL where it has none. */
const gf_slice *gf_pins_label(const gf_pins *pins, uint32_t cluster);

#endif
