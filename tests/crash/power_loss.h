/**
 * The content that a folder would have if the power failed now.
 *
 * The program that links this has its syncs, renames and removals watched: fsync, fdatasync,
 * rename, unlink and unlinkat are defined here, before the C library's, and note for every file how
 * much of it was synced. An image of the folder is a copy in which each file is cut back to that.
 * A sync itself is not passed on to the disk: nothing here depends on it.
 *
 * Names count as kept as soon as they are made, which is what file systems with an ordered journal
 * give; contents never are.
 *
 * Threads: all of it is under one lock, so an image is of one moment.
 */
#ifndef GF_TESTS_CRASH_POWER_LOSS_H
#define GF_TESTS_CRASH_POWER_LOSS_H

#include <stdbool.h>

/** The fate of the part of a file that was written and not synced. */
typedef enum power_loss_tail {
    POWER_LOSS_CUT,        /* it is gone */
    POWER_LOSS_TORN,       /* a part of it is kept */
    POWER_LOSS_ZEROS,      /* its length is kept, and its content is not: zeros */
    POWER_LOSS_TORN_ZEROS, /* its length is kept; from one of its disk's blocks on it is zeros */
    POWER_LOSS_TAILS
} power_loss_tail;

/**
 * Called after each of the functions above that changed something, with the lock held; of these
 * functions only power_loss_image may be called from there.
 */
typedef void power_loss_moment(void *context);
void power_loss_watch(const char *folder, power_loss_moment *moment, void *context);

/** Call it now. */
void power_loss_now(void);

/** Copy the watched folder, as the power's failing would leave it, to a new folder; from a moment.
 */
bool power_loss_image(const char *to, power_loss_tail tail);

#endif
