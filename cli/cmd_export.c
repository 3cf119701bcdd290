#include "cli/session.h"

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_own_option options[] = {
    {"o", "FILE", "write there: by its name .csv, .json, else JSON Lines"},
    {"force", NULL, "replace that file"}};
static const gf_show_column columns[] = {{"id", "id", GF_COLUMN_TEXT},
                                         {"cluster", "cluster", GF_COLUMN_ID},
                                         {"label", "label", GF_COLUMN_TEXT},
                                         {"score", "score", GF_COLUMN_SCORE},
                                         {"runner_up", "next", GF_COLUMN_ID},
                                         {"runner_up_label", NULL, GF_COLUMN_TEXT},
                                         {"runner_up_score", NULL, GF_COLUMN_SCORE},
                                         {"margin", "margin", GF_COLUMN_SCORE},
                                         {"replaced", NULL, GF_COLUMN_RAW},
                                         {"time", "time", GF_COLUMN_RAW},
                                         {"lang", NULL, GF_COLUMN_TEXT},
                                         {"text", "text", GF_COLUMN_TEXT},
                                         {"fields", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_export = {
    .name = "export",
    .examples =
        "    grouperfish export feedback -o clusters.csv\n"
        "    grouperfish export feedback --with-text --format jsonl | jq .label\n"
        "    grouperfish export feedback --min-score 0.2 -o sure.csv\n"
        "    grouperfish export 'feedback-*' -o all.jsonl      each row with its collection\n",
    .notes = "Rows are streamed, in the order of ids: JSON Lines unless --format or the file's "
             "name says\n"
             "otherwise. The file is whole or not there.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = options,
    .n_options = GF_COUNT(options),
    .display = {GF_COLUMNS(columns)},
    .streams_jsonl = true,
};
