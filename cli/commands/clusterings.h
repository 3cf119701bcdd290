/**
 * Commands of clusterings that have files of their own.
 */
#ifndef GF_CLI_COMMANDS_CLUSTERINGS_H
#define GF_CLI_COMMANDS_CLUSTERINGS_H

#include "cli/session.h"

/** COLLECTION */
extern const gf_positional gf_collection_word[1];

extern const gf_command gf_diff_command, gf_evaluate_command;

#endif
