#include "cli/session.h"

static const gf_show_column columns[] = {
    {"sha1", "sha1", GF_COLUMN_TEXT}, {"mime", "type", GF_COLUMN_TEXT},
    {"url", "url", GF_COLUMN_TEXT},   {"dt", NULL, GF_COLUMN_TEXT},
    {"warc", NULL, GF_COLUMN_TEXT},   {"offset", NULL, GF_COLUMN_TEXT},
    {"c_size", NULL, GF_COLUMN_TEXT}};

const gf_command gf_command_papers_missing = {
    .name = "papers missing",
    .examples = "    grouperfish papers missing --limit 20\n"
                "    grouperfish papers missing --format jsonl > to-extract.jsonl\n",
    .notes = "Each with where its file lies: in which WARC, from which byte on, compressed.\n",
    .display = {GF_COLUMNS(columns), .nothing = "no paper lacks an extraction"},
};
