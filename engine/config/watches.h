/**
 * A configuration's watches as they are kept: a wide family of the collection's row, whose cells go
 * with it.
 *
 *     configuration, 'r', number   a rule: JSON (engine/watch/kept.h)
 *                    'c', id       a candidate: JSON; its id is of the clusters' sequence
 *                    'm', id       ids of up to GF_WATCH_MEMBERS of its documents: varint length and bytes each
 *                    'd', id       the same with their scores (engine/config/candidates.h)
 *                    'a', number   an alert, how far it is: JSON
 *                    'b', number   likewise, what is told: the bytes that are sent
 *                    's', 0        the last numbers, and the looks at the served build: JSON
 *
 * A qualifier is the configuration as a string of a key, the part's letter, and the number, 8 bytes,
 * big-endian.
 */
#ifndef GF_ENGINE_CONFIG_WATCHES_H
#define GF_ENGINE_CONFIG_WATCHES_H

#include "base/arena.h"
#include "engine/store/store_internal.h"

enum { GF_WATCH_MEMBERS = 10000 };

typedef enum gf_watch_part {
    GF_WATCH_ALERT = 'a',
    GF_WATCH_BODY = 'b',
    GF_WATCH_CANDIDATE = 'c',
    GF_WATCH_MEMBERS_SCORED = 'd',
    GF_WATCH_MEMBER_IDS = 'm',
    GF_WATCH_RULE = 'r',
    GF_WATCH_STATE = 's'
} gf_watch_part;

gf_status gf_watches_put(gf_store *store, gf_place where, gf_slice configuration,
                         gf_watch_part part, uint64_t number, gf_slice value, gf_batch *batch,
                         gf_error *err);
gf_status gf_watches_delete(gf_store *store, gf_place where, gf_slice configuration,
                            gf_watch_part part, uint64_t number, gf_batch *batch, gf_error *err);

/** The cell is row->cells[0]; GF_ENOTFOUND, without a message. */
gf_status gf_watches_get(gf_store *store, const gf_snapshot *snapshot, gf_place where,
                         gf_slice configuration, gf_watch_part part, uint64_t number, gf_row *row,
                         gf_error *err);

typedef gf_status gf_visit_watch_cell(void *context, uint64_t number, gf_slice value,
                                      gf_error *err);

/** By rising number. */
gf_status gf_watches_visit_part(gf_store *store, const gf_snapshot *snapshot, gf_place where,
                                gf_slice configuration, gf_watch_part part,
                                gf_visit_watch_cell *visit, void *context, gf_error *err);

typedef gf_status gf_visit_watched(void *context, gf_place where, gf_slice configuration,
                                   gf_error *err);

/** Visit all configurations that have had a rule or a look, of all collections. Cost: a step for each cell that is kept. */
gf_status gf_watches_visit_all(gf_store *store, gf_visit_watched *visit, void *context,
                               gf_error *err);

/** Put the documents of candidates again without those that are gone. */
gf_status gf_watches_forget(gf_store *store, gf_place where, gf_slice configuration,
                            gf_batch *batch, gf_error *err);

/** Delete all of it: the configuration is deleted. */
gf_status gf_watches_delete_all(gf_store *store, gf_place where, gf_slice configuration,
                                gf_batch *batch, gf_error *err);

#endif
