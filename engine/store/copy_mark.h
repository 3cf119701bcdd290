/**
 * The mark of a copy: a row in the table of tables of a store that is being made as a copy of
 * another. No store is opened that has it (gf_copy_mark_check).
 *
 *     tables:progress   ("", "copy")  ->  copying: the source, copied_by: who makes it,
 *                                         token: of that copy alone, beat: <n>
 *
 * In a shared store, where no lock tells who is at work, the beat changes every few seconds. Of two
 * that copy to one place the second sees the first at work, and takes a mark whose beat stands still
 * for a copy that was cut short: it drops all of that, and begins anew. The first, if it was only
 * slow, then finds another token, and can write nothing more (gf_copy_mark_guard).
 */
#ifndef GF_ENGINE_STORE_COPY_MARK_H
#define GF_ENGINE_STORE_COPY_MARK_H

#include "engine/store/store_internal.h"

/** A mark that this process keeps. */
typedef struct gf_copy_mark {
    gf_slice from; /* the source, in words */
    char owner[96], token[17];
    gf_database *to;
    gf_table *tables; /* of `to` */
    gf_buffer key;
    uint64_t beats;
    double last; /* when it was written: gf_clock_seconds */
} gf_copy_mark;

/** A mark of this process, with a token of its own. To be released. */
gf_status gf_copy_mark_make(gf_slice from, gf_copy_mark *mark, gf_error *err);
void gf_copy_mark_release(gf_copy_mark *mark);

/** Put the mark into a store that has none, on disk. GF_ECONFLICT: there is one. */
gf_status gf_copy_mark_put(gf_copy_mark *mark, gf_database *to, gf_table *tables, gf_error *err);

/** Change the beat where it is time for it and others see the mark. GF_ECONFLICT: it is another's now. */
gf_status gf_copy_mark_renew(gf_copy_mark *mark, gf_error *err);

/** Have the batch written only while the mark is this one, where others see it. */
void gf_copy_mark_guard(const gf_copy_mark *mark, gf_batch *batch);

/** Take the mark off, on disk: the copy is whole. GF_ECONFLICT: it is another's now. */
gf_status gf_copy_mark_remove(gf_copy_mark *mark, gf_error *err);

/** The mark of a store; GF_ENOTFOUND, without a message: it has none. */
gf_status gf_copy_mark_read(gf_store *store, gf_row *row, gf_error *err);

/** Whether it is that mark. */
bool gf_copy_mark_is(const gf_copy_mark *mark, const gf_row *row);

/** Who makes the copy, in words, as its mark has it. Borrowed. */
gf_slice gf_copy_mark_owner(const gf_row *row);

/** Wait for as long as a maker may be silent. *changed: the mark has changed, so one is at work. */
gf_status gf_copy_mark_watch(gf_store *store, const gf_row *row, const gf_cancel *cancel,
                             bool *changed, gf_error *err);

/** GF_EINVAL in words where the store is a copy that is not whole. path: the store's, or NULL. */
gf_status gf_copy_mark_check(gf_store *store, const char *path, gf_error *err);

#endif
