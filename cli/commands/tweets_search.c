#include "cli/session.h"

static const gf_positional words[] = {{.name = "TOKEN", .argument = "token", .repeats = true}};
static const gf_show_column columns[] = {
    {"time", "time", GF_COLUMN_TIME},   {"id", NULL, GF_COLUMN_TEXT},
    {"lang", "lang", GF_COLUMN_TEXT},   {"screen_name", "user", GF_COLUMN_TEXT},
    {"name", NULL, GF_COLUMN_TEXT},     {"latitude", NULL, GF_COLUMN_RAW},
    {"longitude", NULL, GF_COLUMN_RAW}, {"text", "text", GF_COLUMN_TEXT},
    {"tweet", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_tweets_search = {
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
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .nothing = "no tweet has that"},
};
