/**
 * The folder that a rule was added to. A store may come from a stranger, and a rule in it may name a command:
 * so one is obeyed where it was added alone.
 *
 *     home = HMAC-SHA256(key, way, target and secret's file)     64 hexadecimal digits, kept with the rule
 *     key  = inode and birth of the store's folder, and the machine's id, as far as there are such
 *
 * Whoever makes a store that somebody else will copy knows none of these. They stay where a folder is moved within
 * its file system, where the machine starts again, and for whatever the store is opened.
 */
#ifndef GF_ENGINE_WATCH_HOME_H
#define GF_ENGINE_WATCH_HOME_H

#include "engine/store/store_internal.h"
#include "grouperfish/watches.h"

/** Append a rule's home, if it were added now; GF_EIO (the folder, or libcrypto), GF_ENOMEM. */
gf_status gf_watch_write_home(const gf_store *store, const gf_watch *rule, gf_buffer *out,
                              gf_error *err);

#endif
