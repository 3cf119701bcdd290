/**
 * The line that tells of a deletion: "deleted 8 tweets; 1 was not there", and of a purge behind it.
 */
#ifndef GF_CLI_COMMANDS_DELETED_H
#define GF_CLI_COMMANDS_DELETED_H

#include "cli/session.h"

/**
 * Print the summary of a delete: deleted or would_delete, absent, purged, rebuilt, dropped.
 * @param noun  one of what was deleted: "document"
 */
void gf_deleted_show(gf_session *session, gf_json_value row, const char *noun);

#endif
