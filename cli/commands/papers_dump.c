#include "cli/session.h"

static const gf_own_option options[] = {
    {"o", "FILE", "write there: by its name .csv, .json, else JSON Lines"},
    {"force", NULL, "replace that file"}};
static const gf_show_column columns[] = {{"sha1", "sha1", GF_COLUMN_TEXT}};
static const gf_show_column tsv_columns[] = {{"line", NULL, GF_COLUMN_TEXT}};
static const gf_other_display others[] = {{"tsv", {GF_COLUMNS(tsv_columns), .page = "line"}}};

const gf_command gf_command_papers_dump = {
    .name = "papers dump",
    .examples = "    grouperfish papers dump -o papers.jsonl\n"
                "    grouperfish papers dump --tsv --only missing --fields mime,cdx > todo.tsv\n"
                "    grouperfish papers dump --fields tei_json --format jsonl | gzip > texts.gz\n",
    .notes =
        "Rows are streamed, by digest: JSON Lines, or with --tsv lines of the digest and the\n"
        "columns, where TAB, LF, CR and backslash are \\t, \\n, \\r and \\\\, and what is not\n"
        "there is \\N.\n",
    .options = options,
    .n_options = GF_COUNT(options),
    .display = {GF_COLUMNS(columns), .spread = true},
    .others = others,
    .n_others = GF_COUNT(others),
    .streams_jsonl = true,
    .answers = true,
};
