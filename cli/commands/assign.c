#include "cli/commands/import_files.h"

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"},
                                      {.name = "FILE", .repeats = true}};
static const gf_own_option options[] = {
    {"rejects", "FILE", "write refused records there, as they were"},
    {"force", NULL, "replace that file"},
    {"progress", "auto|none|jsonl", "what standard error tells meanwhile (auto)"}};
static const gf_show_column columns[] = {
    {"id", "id", GF_COLUMN_TEXT},          {"cluster", "cluster", GF_COLUMN_ID},
    {"label", "label", GF_COLUMN_TEXT},    {"score", "score", GF_COLUMN_SCORE},
    {"runner_up", "next", GF_COLUMN_ID},   {"runner_up_label", NULL, GF_COLUMN_TEXT},
    {"margin", "margin", GF_COLUMN_SCORE}, {"text", "text", GF_COLUMN_TEXT}};

const gf_command gf_command_assign = {
    .name = "assign",
    .examples = "    grouperfish assign feedback new.jsonl\n"
                "    curl -s URL | grouperfish assign feedback - --from jsonl --text body\n"
                "    grouperfish assign feedback today.csv --text title,body --format csv\n",
    .notes =
        "FILE is all that put reads, or - for standard input. Rows are streamed, in the order of\n"
        "the records: JSON Lines unless --format says otherwise. Nothing is stored, and nothing\n"
        "counts in a cluster. The score is the similarity to the cluster's centre, 0 to 1: where\n"
        "it is low, the text fits no cluster; where the margin is, it fits the next one as well.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = options,
    .n_options = GF_COUNT(options),
    .display = {GF_COLUMNS(columns)},
    .streams_jsonl = true,
    .prepare = gf_import_prepare,
    .answers = true,
};
