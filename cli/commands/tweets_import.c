#include "cli/commands/import_files.h"

static void show(gf_session *s, gf_json_value row)
{
    static const gf_import_count counts[] = {
        {"read", "read"},           {"new", "new"},         {"with_place", "with place"},
        {"unchanged", "unchanged"}, {"skipped", "skipped"}, {"refused", "refused"},
        {"tweets", "in all"}};
    gf_import_summary(s, row, counts, GF_COUNT(counts));
}

static const gf_show_column columns[] = {
    {"hash", NULL, GF_COLUMN_TEXT},       {"read", NULL, GF_COLUMN_COUNT},
    {"new", NULL, GF_COLUMN_COUNT},       {"changed", NULL, GF_COLUMN_COUNT},
    {"unchanged", NULL, GF_COLUMN_COUNT}, {"stored", NULL, GF_COLUMN_COUNT},
    {"skipped", NULL, GF_COLUMN_COUNT},   {"refused", NULL, GF_COLUMN_COUNT},
    {"reasons", NULL, GF_COLUMN_RAW},     {"with_place", NULL, GF_COLUMN_COUNT},
    {"tweets", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_tweets_import = {
    .name = "tweets import",
    .examples = "    grouperfish tweets import tweets.jsonl.gz\n"
                "    grouperfish tweets import 2016-05/ --rejects damaged.jsonl\n"
                "    curl -sN URL | grouperfish tweets import -\n"
                "    grouperfish tweets import tweets.jsonl --hash murmur3\n",
    .notes =
        "FILE has a tweet on each line, as JSON of Twitter's API 1.1; - is standard input; gzip,\n"
        "zstd, xz, tar and zip are read as they are. What a stream brings is on disk about half a\n"
        "second later. A tweet that is there already, byte for byte, changes nothing: an import\n"
        "that was cut short goes on when it is run again.\n",
    .positionals = gf_import_files,
    .n_positionals = 1,
    .options = gf_import_options,
    .n_options = GF_IMPORT_OPTIONS,
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
    .prepare = gf_import_prepare,
    .answers = true,
};
