/* Edits as they are listed, each with why it does not hold. */
#include "engine/config/edits.h"
#include "engine/config/pins.h"
#include "engine/config/settings.h"
#include "engine/store/collections.h"
#include "grouperfish/edits.h"

#include <inttypes.h>
#include <stdio.h>

/* A label belongs to the cluster that was called so last; the edit of an earlier one is lost while that is so. */
static gf_status tell_overruled(const gf_pins *pins, gf_arena *memory, gf_edit *e, gf_error *err)
{
    char text[64];
    const gf_slice *label = gf_pins_kept_label(pins, e->cluster);
    uint32_t later = gf_pins_overruler(pins, e->cluster);
    bool is_of_label = e->kind == GF_EDIT_LABEL && label && gf_slice_equal(*label, e->text);
    if (!is_of_label || !later || e->lost.len) return GF_OK;
    snprintf(text, sizeof text, "cluster %" PRIu32 " was called so later", later);
    e->lost = gf_arena_copy(memory, gf_slice_str(text));
    return e->lost.ptr ? GF_OK : gf_fail_memory(err, "edits");
}

gf_status gf_edits_visit(gf_store *store, gf_place where, gf_slice configuration,
                         gf_visit_edit *visit, void *context, gf_error *err)
{
    gf_collection_row row = {0};
    gf_settings_map map = {0};
    gf_pins pins = {0};
    gf_kept_edits edits = {0};
    gf_status st = gf_collection_row_read(store, NULL, where, &row, err);
    if (st == GF_OK) st = gf_configuration_load(store, NULL, where, &row, configuration, &map, err);
    if (st == GF_OK) st = gf_pins_read(row.pins, configuration, &pins, err);
    if (st == GF_OK) st = gf_edits_read(store, NULL, where, configuration, &edits, err);
    for (size_t i = 0; i < edits.n && st == GF_OK; i++) {
        st = tell_overruled(&pins, &edits.memory, &edits.at[i].edit, err);
        if (st == GF_OK) st = visit(context, &edits.at[i].edit, err);
    }
    gf_edits_release(&edits);
    gf_pins_release(&pins);
    gf_settings_map_release(&map);
    gf_collection_row_release(&row);
    return st;
}
