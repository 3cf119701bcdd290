/**
 * Rows that hold themselves, and batches by a journal: for a backend that writes one row after
 * another (without GF_BACKEND_BATCH). For storage/ itself; backend.h says what is promised.
 *
 * Two families of the table that is held are for this:
 *
 *     hold     owner    <stamp> <name>   held by that one
 *                       <stamp>          free
 *              clock    put to learn the time
 *     journal  batch    <stamp, varint> and the changes that are being made; before the first one of
 *                       a table that was opened later than the held one its number and its schema
 *
 * A row is taken by writing its owner on the condition that it is as it was read: free, or another's
 * and unchanged for the time of a hold as the taker saw it, so that no two clocks are compared. Each
 * owner cell differs from all before it, since the stamp rises. A batch is then written so:
 *
 *     1  owner with the next stamp, and the journal   if the owner is mine   durable from here on
 *     2  the other rows, as of that stamp             by row, tables from the last one on
 *     3  the held row's own changes, no journal       if the owner is mine   there from here on
 *
 * Whoever takes the row next and finds a journal does 2 and 3 again first. So of a batch that was
 * cut short all comes to be there, or nothing (before 1), and who holds a row never sees a part.
 * What is written as of a stamp changes nothing that is newer: so a process that was stopped amid
 * 2, and goes on when others have done it for it and have gone on, changes nothing by it. In 3 it
 * fails, is told that all was done, and waits until it was.
 *
 * A batch of the held row alone is one conditional write, with the next stamp. The cell `owner` stays
 * for ever, also where all else of the row is deleted: no stamp comes twice. So where the answer to such
 * a write is lost, and the owner is the new one, it is there, and the batch goes on.
 *
 * Numbers of tables that were opened later are a process' own. Whoever finishes a journal opens them by
 * the schemas that it has; those of users it looks for by their names (gf_database_find_by).
 *
 * The row of gf_database_hold_by_time is for tables whose cells have times. Its stamps come of no clock of
 * ours: before step 1 the cell `clock` of its family hold is put without a time, and the time that the
 * database gave it is the stamp, unless the last one was later. So a batch lies among the cells that others
 * put, at the moment of its journal: above those that were there, below those that come after it. A
 * change of a later time than the stamp (gf_batch_delete_later) has that in the journal.
 */
#ifndef GF_STORAGE_JOURNAL_H
#define GF_STORAGE_JOURNAL_H

#include "storage/table_internal.h"

typedef struct gf_held_row gf_held_row;

/** Take the row, and finish what its last holder left. It is of the database's table of holds. */
gf_status gf_held_row_take(gf_database *db, gf_slice key, gf_held_row **row, gf_error *err);

/** Free it for others, if it is still this one's. NULL: nothing. */
void gf_held_row_let_go(gf_held_row *row);

/**
 * As the backend's write, by the steps above; of the condition's row nobody writes meanwhile. What
 * fails behind step 1 is GF_EUNKNOWN, since whoever takes the row next makes the changes. The times of the changes become those that they are written with, and 0 where that is the stamp.
 *
 * @param deletes_later  as gf_batch_delete_later
 */
gf_status gf_held_row_write(gf_held_row *row, gf_change *changes, size_t n, bool deletes_later,
                            const gf_expectation *condition, gf_error *err);

/** The row that this thread holds; NULL where it holds none. hold.c */
gf_held_row *gf_hold_row_of_thread(const gf_database *db);

/** The last stamp that was used. */
uint64_t gf_held_row_stamp(const gf_held_row *row);

/**
 * Write while nothing is held: row after row, as of the stamp. A condition on another row than the
 * only one that is written is looked at first, and may have changed when the rows are written.
 */
gf_status gf_journal_write_free(gf_database *db, gf_change *changes, size_t n,
                                const gf_expectation *condition, uint64_t stamp, gf_sync sync,
                                gf_error *err);

#endif
