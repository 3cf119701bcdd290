/**
 * Work on a store that may be ended at any moment, and the check of what it leaves behind.
 *
 * The journal lies in memory shared by the process that works and the one that checks. A step is
 * noted before it begins and settled once the library has acknowledged it, so at every moment the
 * journal tells what must be in the store: every acknowledged step, and of the one step under way
 * either nothing or, document by document, its result.
 */
#ifndef GF_TESTS_CRASH_WORKLOAD_H
#define GF_TESTS_CRASH_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

enum { CRASH_COLLECTIONS = 3, CRASH_DOCUMENTS = 400 };

typedef enum crash_kind {
    CRASH_NOTHING,
    CRASH_PUT,     /* some documents */
    CRASH_DELETE,  /* some documents */
    CRASH_REBUILD, /* one collection; the documents are not changed */
    CRASH_ALL,     /* all collections */
    CRASH_DROP,    /* a collection with all that is in it */
    CRASH_EDIT,    /* an edit of the clusters of one collection, which may be refused */
    CRASH_UNDO,    /* one of its edits is taken back, which may be refused */
    CRASH_KINDS
} crash_kind;

typedef struct crash_step {
    crash_kind kind;
    int collection;
    bool of_step[CRASH_DOCUMENTS]; /* the documents that are put or deleted */
} crash_step;

typedef struct crash_journal {
    uint32_t writes; /* raised before and after each change: odd while one is under way */
    uint32_t step;   /* number of the step under way */
    uint32_t version[CRASH_COLLECTIONS][CRASH_DOCUMENTS]; /* step that put it; 0: not there */
    int64_t served[CRASH_COLLECTIONS];                    /* build known to be served; 0: none */
    uint64_t edits[CRASH_COLLECTIONS];                    /* that stand */
    bool left_out
        [CRASH_COLLECTIONS]; /* an undo was cut short: later edits may be missing in the build */
    bool exists[CRASH_COLLECTIONS];
    crash_step pending;         /* kind CRASH_NOTHING: no step is under way */
    uint64_t done[CRASH_KINDS]; /* acknowledged steps */
} crash_journal;

/** Called after each acknowledgement; false ends the work. */
typedef bool crash_acknowledged(void *context);

/** Work on the store, making it where it is missing, until told to stop. _exit(1) on any failure.
 */
void crash_work(const char *store, crash_journal *journal, uint64_t seed,
                crash_acknowledged *acknowledged, void *context);

/**
 * Check that the store is sound and holds what the journal tells. What was found of the step under
 * way is noted in the journal, which then has none. Says on standard error what is wrong.
 */
bool crash_check(const char *store, crash_journal *journal);

/** crash_check in a process of its own, so that this one stays without threads. */
bool crash_check_apart(const char *store, crash_journal *journal);

/** Kills or losses of power: what GROUPERFISH_FAULTS says, else `few`. */
int crash_rounds(int few);

/** A new, empty journal that child processes share. */
crash_journal *crash_journal_new(void);

/** Copy a journal, between its changes, while another process writes to it. */
void crash_journal_copy(const crash_journal *journal, crash_journal *copy);

#endif
