#include "cli/session.h"

static const gf_show_column columns[] = {
    {"sha1", "sha1", GF_COLUMN_TEXT},       {"mime", "type", GF_COLUMN_TEXT},
    {"status_code", "code", GF_COLUMN_ID},  {"status", "status", GF_COLUMN_TEXT},
    {"quality", "quality", GF_COLUMN_TEXT}, {"mstatus", "match", GF_COLUMN_TEXT},
    {"doi", "doi", GF_COLUMN_TEXT},         {"title", "title", GF_COLUMN_PROSE},
    {"url", "url", GF_COLUMN_TEXT}};

const gf_command gf_command_papers_list = {
    .name = "papers list",
    .examples = "    grouperfish papers list --limit 20\n"
                "    grouperfish papers list --format jsonl | jq -r .title\n",
    .display = {GF_COLUMNS(columns), .nothing = "no papers"},
};
