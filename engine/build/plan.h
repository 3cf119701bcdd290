/**
 * The plan of a rebuild: the documents, settings and snapshot that it reads, the build that it
 * makes, the memory that it may hold. It is made in four calls, in this order:
 *
 *     gf_build_plan_init      names and options
 *     gf_build_plan_read      settings, pins, size and served build, as they are now
 *     gf_build_plans_begin    reads again while the collection is held; build time, progress row, snapshot
 *     gf_build_plan_memory    where the rows lie (estimate.h)
 *
 * The steps of a rebuild only read it: to them it is const.
 */
#ifndef GF_ENGINE_BUILD_PLAN_H
#define GF_ENGINE_BUILD_PLAN_H

#include "base/arena.h"
#include "engine/build/estimate.h"
#include "engine/build/given_rows.h"
#include "engine/build/weak_terms.h"
#include "engine/build/within.h"
#include "engine/config/edits.h"
#include "engine/config/pins.h"
#include "engine/config/settings.h"
#include "engine/store/hold.h"
#include "engine/store/lease.h"

typedef struct gf_build_plan {
    gf_store *store;
    gf_place where;         /* in `names` */
    gf_slice configuration; /* in `names` */
    gf_arena names;
    const gf_rebuild_options *options; /* borrowed */
    gf_weak_terms *weak; /* borrowed: kept from build to build, by one thread; NULL: made anew */

    bool as_served; /* settings are the served build's, and not the configuration's */
    gf_settings_map map;
    gf_resolved settings;
    gf_buffer settings_json;  /* settings that differ from their default */
    gf_id_set within;         /* documents of the setting of that name */
    char within_is[48];       /* their number and hash: whether they are others now; empty: all */
    gf_pins pins;             /* of the configuration */
    gf_kept_edits edits;      /* likewise; `lost` is set by obeying them */
    uint64_t seq, size;       /* of the collection */
    gf_build_info served;     /* the served build, without slices; build is 0 where there is none */
    uint64_t served_distinct; /* rows when its k was chosen; 0: k was given, or of another max_k */
    uint64_t served_settled;  /* rows when its clusters settled last; 0: not known */
    bool served_refined;      /* its clusters were refined by word counts */
    bool same_k;              /* the served build was made by the same setting k */

    /* Rows to cluster in place of the texts': those of the options, or `given`; NULL: the texts'. */
    const gf_matrix *matrix;
    bool again;           /* the served build's kept rows are to be clustered again */
    bool again_dense;     /* they are dense */
    gf_given_rows *given; /* they, once they are read */

    const gf_snapshot *snapshot; /* borrowed; documents and memberships are read from it */
    int64_t build;               /* timestamp of the build that is made */
    gf_buffer key;               /* its key */
    uint32_t next_id;            /* first cluster id that was never used */
    uint32_t next_group;         /* first id of a group that was never used */
    gf_lease *lease;             /* of it; NULL: it is not begun, or has ended */

    bool by_ranks; /* the rows are clustered by ranks (engine/ranks/cluster.h); then it spills */
    bool spills;   /* rows lie in a file, and `memory` says what else is bounded */
    gf_memory_plan memory; /* only where it spills */
    bool keeps_words;      /* gathering keeps all words, for the index that search reads */
    uint32_t every;        /* one document in so many is gathered; 1 for a build */
    uint32_t offset;       /* below every: the first one; 0 for a build */
} gf_build_plan;

/** GF_EINVAL for options of another version, and for settings that a build cannot have. */
gf_status gf_build_plan_check_options(const gf_rebuild_options *options, gf_error *err);

/** Copy the names; nothing is read yet. Options are borrowed until release. */
gf_status gf_build_plan_init(gf_build_plan *plan, gf_store *store, gf_place where,
                             gf_slice configuration, const gf_rebuild_options *options,
                             gf_error *err);
void gf_build_plan_release(gf_build_plan *plan);

/**
 * Read the collection's row, its settings and the served build.
 *
 * @param[out] modified  false where the served build was made of the same documents and settings
 * @return GF_OK; GF_ENOTFOUND (collection or configuration), GF_ECORRUPT, GF_EIO, GF_ENOMEM
 */
gf_status gf_build_plan_read(gf_build_plan *plan, bool *modified, gf_error *err);

/** The outcome of a rebuild by the plan, which has been read; nothing is built yet. */
gf_rebuild_outcome gf_build_plan_outcome(const gf_build_plan *plan, bool modified);

/** Hold the collections of plans, which are of one namespace; let go of by gf_hold_let_go. */
gf_status gf_build_plans_hold(const gf_build_plan *const *plans, size_t n, gf_hold *hold,
                              gf_error *err);

/**
 * Begin builds together: choose their timestamps, mark them as under way (one synced write), create
 * the snapshot that all read. The collections are held here. gf_build_plans_end must follow, also
 * after a failure. Plans must stay where they are until then.
 *
 * @param[out] snapshot  the caller's to free, after gf_build_plans_end; NULL after a failure
 * @return as gf_build_plan_read; GF_EBUSY where one of the configurations is being rebuilt already
 */
gf_status gf_build_plans_begin(gf_build_plan *const *plans, size_t n, gf_snapshot **snapshot,
                               gf_error *err);

/** The leases of builds end; rows of those not published are deleted. */
void gf_build_plans_end(gf_build_plan *const *plans, const bool *published, size_t n);

/**
 * A document's row as the build has it. Without a snapshot GF_ENOTFOUND also where it has changed
 * after the build's seq: it counts as put after the build.
 */
gf_status gf_build_plan_document(const gf_build_plan *plan, gf_slice key, gf_row *row,
                                 gf_error *err);

/** Report progress to the caller of the rebuild, where it wants to know. */
void gf_build_plan_progress(const gf_build_plan *plan, const char *phase, uint64_t done,
                            uint64_t total);

/** Whether the build keeps an index of its rows, which similar reads. */
bool gf_build_plan_indexes_rows(const gf_build_plan *plan);

/** Whether the build keeps an index of all words, which search reads. */
bool gf_build_plan_indexes_words(const gf_build_plan *plan);

#endif
