/**
 * Commands of clusterings that have files of their own.
 */
#ifndef GF_CLI_COMMANDS_CLUSTERINGS_H
#define GF_CLI_COMMANDS_CLUSTERINGS_H

#include "cli/session.h"

/** COLLECTION */
extern const gf_positional gf_collection_word[1];

extern const gf_command gf_diff_command, gf_evaluate_command;

/* Edits (edits.c). */
extern const gf_command gf_merge_command, gf_split_command, gf_hide_command, gf_show_command,
    gf_lock_command, gf_unlock_command, gf_set_command, gf_rename_command, gf_move_command,
    gf_keep_command, gf_edits_command, gf_undo_command;

/* Topics (topics.c). */
extern const gf_command gf_topic_add_command, gf_topic_list_command, gf_topic_delete_command;

#endif
