/* Tweets. */
#include "cli/commands/deleted.h"
#include "cli/commands/import_files.h"

/* ---- tweets import --------------------------------------------------------------------------- */

static void show_import(gf_session *s, gf_json_value row)
{
    static const gf_import_count counts[] = {
        {"read", "read"},           {"new", "new"},         {"with_place", "with place"},
        {"unchanged", "unchanged"}, {"skipped", "skipped"}, {"refused", "refused"},
        {"tweets", "in all"}};
    static const gf_import_count gone[] = {{"deleted", "deleted"}, {"dropped", "too old"}};
    gf_import_summary(s, row, counts, GF_COUNT(counts));
    for (size_t i = 0; i < GF_COUNT(gone); i++)
        if (gf_member_number(row, gone[i].key) > 0)
            fprintf(s->out, "%-12s %.0f\n", gone[i].label, gf_member_number(row, gone[i].key));
}

static const gf_display_column import_columns[] = {
    {"hash", NULL, GF_COLUMN_TEXT},       {"read", NULL, GF_COLUMN_COUNT},
    {"new", NULL, GF_COLUMN_COUNT},       {"changed", NULL, GF_COLUMN_COUNT},
    {"unchanged", NULL, GF_COLUMN_COUNT}, {"stored", NULL, GF_COLUMN_COUNT},
    {"skipped", NULL, GF_COLUMN_COUNT},   {"refused", NULL, GF_COLUMN_COUNT},
    {"reasons", NULL, GF_COLUMN_RAW},     {"with_place", NULL, GF_COLUMN_COUNT},
    {"tweets", NULL, GF_COLUMN_COUNT},    {"messages", NULL, GF_COLUMN_RAW},
    {"deleted", NULL, GF_COLUMN_COUNT},   {"dropped", NULL, GF_COLUMN_COUNT}};

static const gf_command import_command = {
    .name = "tweets import",
    .examples = "    grouperfish tweets import tweets.jsonl.gz\n"
                "    grouperfish tweets import 2016-05/ --rejects damaged.jsonl\n"
                "    curl -sN URL | grouperfish tweets import -\n"
                "    curl -sN URL | grouperfish tweets import - --keep 90d\n"
                "    grouperfish tweets import tweets.jsonl --hash murmur3\n",
    .notes =
        "FILE has a tweet on each line, as JSON of Twitter's API 1.1; - is standard input; gzip,\n"
        "zstd, xz, tar and zip are read as they are. What a stream brings is on disk about half a\n"
        "second later. A tweet that is there already, byte for byte, changes nothing: an import\n"
        "that was cut short goes on when it is run again. What a stream says is deleted goes, and "
        "does\n"
        "not come back.\n",
    GF_WORDS(gf_import_files),
    GF_OPTIONS(gf_import_options),
    .display = {GF_COLUMNS(import_columns), .single = true, .show = show_import},
    .prepare = gf_import_prepare,
    .answers = true,
};

/* ---- tweets reindex -------------------------------------------------------------------------- */

static const gf_display_column reindex_columns[] = {
    {"state", "state", GF_COLUMN_TEXT},      {"tweets", "tweets", GF_COLUMN_COUNT},
    {"changed", "changed", GF_COLUMN_COUNT}, {"added", "cells added", GF_COLUMN_COUNT},
    {"removed", "removed", GF_COLUMN_COUNT}, {"rules", NULL, GF_COLUMN_COUNT}};

static const gf_command reindex_command = {
    .name = "tweets reindex",
    .examples = "    grouperfish tweets reindex\n"
                "    grouperfish tweets reindex --namespace archive --format json\n",
    .notes =
        "After an upgrade: words, minutes and places of all stored tweets become what this\n"
        "version reads of a tweet, such as the whole text of a long one. What an index has lost\n"
        "comes back. Searches and imports go on meanwhile; cut short, it goes on when it is run\n"
        "again; where nothing is to be done, nothing is written (\"unchanged\").\n",
    .display = {GF_COLUMNS(reindex_columns), .single = true},
    .answers = true,
};

/* ---- tweets search --------------------------------------------------------------------------- */

static const gf_positional search_words[] = {
    {.name = "TOKEN", .argument = "token", .optional = true, .repeats = true}};
static const gf_display_column search_columns[] = {
    {"time", "time", GF_COLUMN_TIME},   {"id", NULL, GF_COLUMN_TEXT},
    {"lang", "lang", GF_COLUMN_TEXT},   {"screen_name", "user", GF_COLUMN_TEXT},
    {"name", NULL, GF_COLUMN_TEXT},     {"latitude", NULL, GF_COLUMN_RAW},
    {"longitude", NULL, GF_COLUMN_RAW}, {"text", "text", GF_COLUMN_TEXT},
    {"tweet", NULL, GF_COLUMN_RAW},     {"row", NULL, GF_COLUMN_TEXT}};

static const gf_command search_command = {
    .name = "tweets search",
    .examples = "    grouperfish tweets search rain\n"
                "    grouperfish tweets search '#apache*' --limit 100\n"
                "    grouperfish tweets search 'peter tosh' --field user\n"
                "    grouperfish tweets search rain leipzig --from 2016-05-05 --to 2016-05-06\n"
                "    grouperfish tweets search --from 2h --limit 0\n",
    .notes = "A tweet is found that has all tokens, in any case; without one, all that the options "
             "mean.\n"
             "The newest come first. TOKEN is a word of the text (#tag and @name also without the\n"
             "sign), or a user's whole name or screen name; with * behind it the start of one.\n",
    GF_WORDS(search_words),
    .display = {GF_COLUMNS(search_columns), .nothing = "no tweet has that"},
};

/* ---- tweets map ------------------------------------------------------------------------------ */

static const gf_display_column map_columns[] = {{"time", "time", GF_COLUMN_TIME},
                                                {"id", NULL, GF_COLUMN_TEXT},
                                                {"lang", "lang", GF_COLUMN_TEXT},
                                                {"latitude", "latitude", GF_COLUMN_RAW},
                                                {"longitude", "longitude", GF_COLUMN_RAW},
                                                {"screen_name", "user", GF_COLUMN_TEXT},
                                                {"name", NULL, GF_COLUMN_TEXT},
                                                {"text", "text", GF_COLUMN_TEXT},
                                                {"tweet", NULL, GF_COLUMN_RAW},
                                                {"row", NULL, GF_COLUMN_TEXT}};

static const gf_command map_command = {
    .name = "tweets map",
    .examples = "    grouperfish tweets map --box 13.09,52.34,13.76,52.68\n"
                "    grouperfish tweets map --box=-10,35,30,60 --from 2016-05-05 --to 2016-05-06\n"
                "    grouperfish tweets map --box 170,-50,-170,-30 --limit 0 --format csv\n",
    .notes = "BOX is west, south, east and north in degrees, edges included; a west that is more "
             "than the\n"
             "east crosses the antimeridian. The newest tweets come first.\n",
    .display = {GF_COLUMNS(map_columns), .nothing = "no tweet is there"},
};

/* ---- tweets show ----------------------------------------------------------------------------- */

static void show_tweet(gf_session *s, gf_json_value row)
{
    static const gf_display_column members[] = {{"id", "id", GF_COLUMN_TEXT},
                                                {"row", "row", GF_COLUMN_TEXT},
                                                {"time", "time", GF_COLUMN_TIME},
                                                {"lang", "language", GF_COLUMN_TEXT},
                                                {"screen_name", "user", GF_COLUMN_TEXT},
                                                {"name", "name", GF_COLUMN_TEXT},
                                                {"latitude", "latitude", GF_COLUMN_RAW},
                                                {"longitude", "longitude", GF_COLUMN_RAW},
                                                {"text", "text", GF_COLUMN_TEXT}};
    gf_json_value v;
    if (s->output.n_rows) fputc('\n', s->out);
    for (size_t i = 0; i < GF_COUNT(members); i++)
        if (gf_json_member(row, members[i].key, &v))
            gf_member_show(s->out, row, &members[i], s->output.width);
}

static const gf_positional show_words[] = {{.name = "ID", .argument = "id", .repeats = true}};

static const gf_command show_command = {
    .name = "tweets show",
    .examples = "    grouperfish tweets show 725974381906804738\n"
                "    grouperfish tweets show 00000000572b5910694f6c68 --format json\n",
    .notes = "ID is a tweet's id, or the raw row that tweets search gives: 24 hexadecimal digits. "
             "As JSON\n"
             "the whole tweet is there. Exit code 1 where one of them was not there.\n",
    GF_WORDS(show_words),
    .display = {GF_COLUMNS(search_columns), .show = show_tweet},
};

/* ---- tweets export --------------------------------------------------------------------------- */

static const gf_own_option export_options[] = {
    {"o", "FILE", "write there (standard output)", GF_OPTION_OUT},
    {"force", NULL, "replace that file", GF_OPTION_FORCE}};

static const gf_command export_command = {
    .name = "tweets export",
    .examples = "    grouperfish tweets export -o tweets.jsonl\n"
                "    grouperfish tweets export --from 2016-05-05 --to 2016-05-05 | gzip > day.gz\n"
                "    grouperfish tweets export --box 13.09,52.34,13.76,52.68 --lang de\n",
    .notes = "The tweets as they came, byte for byte, one a line, the oldest first. tweets import "
             "makes the\n"
             "same tables of them: under the hash that they are kept under (--hash).\n",
    GF_OPTIONS(export_options),
    .display = {.prints_lines = true, .single = true},
    .answers = true,
};

/* ---- tweets frequency ------------------------------------------------------------------------ */

/* "en                      11 tweets  3 5 0 3" */
static void show_frequency(gf_session *s, gf_json_value row)
{
    gf_json_value data, counts, n;
    gf_slice language;
    if (!gf_json_member(row, "data", &data)) return;
    gf_json_iterator it = gf_json_items(data);
    bool any = false;
    for (; gf_json_next(&it, &language, &counts); any = true) {
        gf_json_iterator minutes = gf_json_items(counts);
        gf_text_print(s->out, language, 0);
        for (bool first = true; gf_json_next(&minutes, NULL, &n); first = false)
            fprintf(s->out, "%s%.0f", first ? "\t" : " ", gf_json_number(n));
        fputc('\n', s->out);
    }
    if (!any) fputs("no tweets at these times\n", s->out);
}

static const gf_display_column frequency_columns[] = {
    {"data", NULL, GF_COLUMN_RAW}, {"by", NULL, GF_COLUMN_TEXT}, {"from", NULL, GF_COLUMN_TEXT}};

static const gf_command frequency_command = {
    .name = "tweets frequency",
    .examples = "    grouperfish tweets frequency --from 201605051430 --to 201605051433\n"
                "    grouperfish tweets frequency --from 2016-05-05 --to 2016-05-05 --lang en,de "
                "--format json\n"
                "    grouperfish tweets frequency --by hour --from 7d\n"
                "    grouperfish tweets frequency --by day\n",
    .notes = "A number for each minute, hour or day (UTC) from the first to the last, both "
             "included and\n"
             "whole, for each language: 0 where there are none.\n",
    .display = {GF_COLUMNS(frequency_columns), .single = true, .show = show_frequency},
};

/* ---- tweets top ------------------------------------------------------------------------------ */

static const gf_display_column top_columns[] = {{"tweets", "tweets", GF_COLUMN_COUNT},
                                                {"tag", "hashtag", GF_COLUMN_TEXT}};

static const gf_command top_command = {
    .name = "tweets top",
    .examples = "    grouperfish tweets top\n"
                "    grouperfish tweets top --box 13.09,52.34,13.76,52.68 --from 2016-05-05\n",
    .notes =
        "A hashtag counts once for each tweet that has it. Without --box tweets without a place\n"
        "count, too.\n",
    .display = {GF_COLUMNS(top_columns), .nothing = "no hashtags"},
};

/* ---- tweets highscore ------------------------------------------------------------------------ */

static const gf_display_column highscore_columns[] = {
    {"screen_name", "user", GF_COLUMN_TEXT},  {"id", NULL, GF_COLUMN_TEXT},
    {"name", "name", GF_COLUMN_TEXT},         {"tweets", "tweets", GF_COLUMN_COUNT},
    {"path_km", "path, km", GF_COLUMN_SCORE}, {"area_km2", "area, km2", GF_COLUMN_SCORE}};

static const gf_command highscore_command = {
    .name = "tweets highscore",
    .examples = "    grouperfish tweets highscore\n"
                "    grouperfish tweets highscore --by area --from 2016-05-05 --to 2016-05-06\n",
    .notes = "The path leads from each place that a user tweeted from to the next, along great "
             "circles.\n"
             "The area is that of the convex hull of these places.\n",
    .display = {GF_COLUMNS(highscore_columns), .nothing = "no tweets with a place and a user"},
};

/* ---- tweets grid ----------------------------------------------------------------------------- */

static const gf_display_column grid_columns[] = {
    {"tweets", "tweets", GF_COLUMN_COUNT},     {"latitude", "latitude", GF_COLUMN_RAW},
    {"longitude", "longitude", GF_COLUMN_RAW}, {"west", "west", GF_COLUMN_RAW},
    {"south", "south", GF_COLUMN_RAW},         {"east", "east", GF_COLUMN_RAW},
    {"north", "north", GF_COLUMN_RAW}};

static const gf_command grid_command = {
    .name = "tweets grid",
    .examples = "    grouperfish tweets grid --level 8\n"
                "    grouperfish tweets grid --box=-10,35,30,60 --token '#rain' --format csv\n",
    .notes = "The map is cut into cells of 360 / 2^N degrees on each side; those that have tweets\n"
             "are told, with their number and the mean of their places.\n",
    .display = {GF_COLUMNS(grid_columns), .nothing = "no tweet is there"},
};

/* ---- tweets stats ---------------------------------------------------------------------------- */

static const gf_display_column stats_columns[] = {{"tweets", "tweets", GF_COLUMN_COUNT},
                                                  {"with_place", "with place", GF_COLUMN_COUNT},
                                                  {"first", "first", GF_COLUMN_TIME},
                                                  {"last", "last", GF_COLUMN_TIME},
                                                  {"hash", "hash", GF_COLUMN_TEXT}};

static const gf_command stats_command = {
    .name = "tweets stats",
    .examples = "    grouperfish tweets stats --namespace events\n",
    .display = {GF_COLUMNS(stats_columns), .single = true},
};

/* ---- tweets delete --------------------------------------------------------------------------- */

static gf_status prepare_delete(gf_session *s, gf_error *err)
{
    static const char *const others[] = {"before", "from",    "to",   "box",
                                         "user",   "user-id", "lang", "purge"};
    bool ids = gf_session_has(s, "id");
    if (s->file && ids) return gf_fail(err, GF_EINVAL, "give either ids or --ids FILE");
    if (s->file) return gf_import_prepare_option(s, err);
    for (size_t i = 0; i < GF_COUNT(others); i++)
        ids |= gf_session_has(s, others[i]);
    if (ids) return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "ID..., --ids FILE, or what the tweets are is missing: --before, --user, ...");
}

static void show_delete(gf_session *s, gf_json_value row)
{
    gf_deleted_show(s, row, "tweet");
}

static const gf_positional delete_words[] = {
    {.name = "ID", .argument = "id", .optional = true, .repeats = true}};
static const gf_own_option delete_options[] = {
    {"ids", "FILE", "ids to delete, one on each line; - reads them", GF_OPTION_FILE}};
static const gf_display_column delete_columns[] = {{"asked", NULL, GF_COLUMN_COUNT},
                                                   {"deleted", NULL, GF_COLUMN_COUNT},
                                                   {"absent", NULL, GF_COLUMN_COUNT},
                                                   {"would_delete", NULL, GF_COLUMN_COUNT},
                                                   {"tweets", NULL, GF_COLUMN_COUNT}};

static const gf_command delete_command = {
    .name = "tweets delete",
    .examples = "    grouperfish tweets delete 725974381906804738\n"
                "    grouperfish tweets delete --ids gone.txt\n"
                "    grouperfish tweets delete --before 90d --dry-run\n"
                "    grouperfish tweets delete --user spammer --from 2016-05-05 --purge\n",
    .notes =
        "Exit code 1 where one of the ids was not there. Of what the tweets are, all must "
        "hold.\n"
        "--purge also writes the store's files anew, so that nothing of them is left; without\n"
        "anything else it does so for what was deleted before. Documents that put --from "
        "tweets\n"
        "made of them are deleted by grouperfish delete.\n",
    GF_WORDS(delete_words),
    GF_OPTIONS(delete_options),
    .display = {GF_COLUMNS(delete_columns), .single = true, .show = show_delete},
    .prepare = prepare_delete,
    .answers = true,
};

/* ---- all of them ----------------------------------------------------------------------------- */

const gf_commands gf_commands_tweets = {
    "Tweets", GF_LIST(&import_command, &search_command, &map_command, &show_command,
                      &export_command, &frequency_command, &top_command, &highscore_command,
                      &grid_command, &stats_command, &delete_command, &reindex_command)};
