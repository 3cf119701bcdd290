/**
 * What the imports of papers share: how they are shown.
 */
#ifndef GF_CLI_COMMANDS_PAPERS_SUMMARY_H
#define GF_CLI_COMMANDS_PAPERS_SUMMARY_H

#include "cli/commands/import_files.h"

/** Print the summary of an import. */
void gf_papers_summary(gf_session *session, gf_json_value row);

enum { GF_PAPERS_COLUMNS = 8 };
extern const gf_show_column gf_papers_columns[GF_PAPERS_COLUMNS];

#endif
