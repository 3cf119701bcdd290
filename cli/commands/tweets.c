/* Tweets. */
#include "cli/commands/import_files.h"

/* ---- tweets import --------------------------------------------------------------------------- */

static void show_import(gf_session *s, gf_json_value row)
{
    static const gf_import_count counts[] = {
        {"read", "read"},           {"new", "new"},         {"with_place", "with place"},
        {"unchanged", "unchanged"}, {"skipped", "skipped"}, {"refused", "refused"},
        {"tweets", "in all"}};
    gf_import_summary(s, row, counts, GF_COUNT(counts));
}

static const gf_display_column import_columns[] = {
    {"hash", NULL, GF_COLUMN_TEXT},       {"read", NULL, GF_COLUMN_COUNT},
    {"new", NULL, GF_COLUMN_COUNT},       {"changed", NULL, GF_COLUMN_COUNT},
    {"unchanged", NULL, GF_COLUMN_COUNT}, {"stored", NULL, GF_COLUMN_COUNT},
    {"skipped", NULL, GF_COLUMN_COUNT},   {"refused", NULL, GF_COLUMN_COUNT},
    {"reasons", NULL, GF_COLUMN_RAW},     {"with_place", NULL, GF_COLUMN_COUNT},
    {"tweets", NULL, GF_COLUMN_COUNT}};

static const gf_command import_command = {
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
    GF_WORDS(gf_import_files),
    GF_OPTIONS(gf_import_options),
    .display = {GF_COLUMNS(import_columns), .single = true, .show = show_import},
    .prepare = gf_import_prepare,
    .answers = true,
};

/* ---- tweets search --------------------------------------------------------------------------- */

static const gf_positional search_words[] = {
    {.name = "TOKEN", .argument = "token", .repeats = true}};
static const gf_display_column search_columns[] = {
    {"time", "time", GF_COLUMN_TIME},   {"id", NULL, GF_COLUMN_TEXT},
    {"lang", "lang", GF_COLUMN_TEXT},   {"screen_name", "user", GF_COLUMN_TEXT},
    {"name", NULL, GF_COLUMN_TEXT},     {"latitude", NULL, GF_COLUMN_RAW},
    {"longitude", NULL, GF_COLUMN_RAW}, {"text", "text", GF_COLUMN_TEXT},
    {"tweet", NULL, GF_COLUMN_RAW}};

static const gf_command search_command = {
    .name = "tweets search",
    .examples = "    grouperfish tweets search rain\n"
                "    grouperfish tweets search '#apache*' --limit 100\n"
                "    grouperfish tweets search 'peter tosh' --field user\n"
                "    grouperfish tweets search rain leipzig --from 2016-05-05 --to 2016-05-06\n",
    .notes =
        "A tweet is found that has all tokens, in any case; the newest come first. TOKEN is a word "
        "of\n"
        "the text (#tag and @name also without the sign), or a user's whole name or screen name;\n"
        "with * behind it the start of one.\n",
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
                                                {"tweet", NULL, GF_COLUMN_RAW}};

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
    if (!any) fputs("no tweets in these minutes\n", s->out);
}

static const gf_display_column frequency_columns[] = {{"data", NULL, GF_COLUMN_RAW}};

static const gf_command frequency_command = {
    .name = "tweets frequency",
    .examples = "    grouperfish tweets frequency --from 201605051430 --to 201605051433\n"
                "    grouperfish tweets frequency --from 2016-05-05 --to 2016-05-05 --lang en,de "
                "--format json\n",
    .notes = "A number for each minute (UTC) from the first to the last, both included, for each "
             "language.\n",
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

/* ---- all of them ----------------------------------------------------------------------------- */

const gf_commands gf_commands_tweets = {"Tweets", GF_LIST(&import_command, &search_command,
                                                          &map_command, &frequency_command,
                                                          &top_command, &highscore_command)};
