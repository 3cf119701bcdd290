/**
 * What the commands on papers share.
 */
#ifndef GF_CLI_PAPERS_H
#define GF_CLI_PAPERS_H

#include "cli/session.h"

/** Open the files that the words name. */
gf_status gf_papers_prepare(gf_session *session, gf_error *err);

/** Print the summary of an import. */
void gf_papers_summary(gf_session *session, gf_json_value row);

/** FILE...; and the options of an import. */
extern const gf_positional gf_papers_files[1];
enum { GF_PAPERS_OPTIONS = 3, GF_PAPERS_COLUMNS = 8 };
extern const gf_own_option gf_papers_options[GF_PAPERS_OPTIONS];
extern const gf_show_column gf_papers_columns[GF_PAPERS_COLUMNS];

#endif
