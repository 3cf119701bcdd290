#include "cli/session.h"

static const gf_show_column columns[] = {{"status_code", "code", GF_COLUMN_ID},
                                         {"status", "status", GF_COLUMN_TEXT},
                                         {"papers", "papers", GF_COLUMN_COUNT}};

const gf_command gf_command_papers_counts = {
    .name = "papers counts",
    .examples = "    grouperfish papers counts\n"
                "    grouperfish papers counts --table 0-qa\n",
    .notes = "What has no status code counts as missing.\n",
    .display = {GF_COLUMNS(columns), .nothing = "no papers"},
};
