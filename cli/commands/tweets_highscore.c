#include "cli/session.h"

static const gf_show_column columns[] = {
    {"screen_name", "user", GF_COLUMN_TEXT},  {"id", NULL, GF_COLUMN_TEXT},
    {"name", "name", GF_COLUMN_TEXT},         {"tweets", "tweets", GF_COLUMN_COUNT},
    {"path_km", "path, km", GF_COLUMN_SCORE}, {"area_km2", "area, km2", GF_COLUMN_SCORE}};

const gf_command gf_command_tweets_highscore = {
    .name = "tweets highscore",
    .examples = "    grouperfish tweets highscore\n"
                "    grouperfish tweets highscore --by area --from 2016-05-05 --to 2016-05-06\n",
    .notes = "The path leads from each place that a user tweeted from to the next, along great "
             "circles.\n"
             "The area is that of the convex hull of these places.\n",
    .display = {GF_COLUMNS(columns), .nothing = "no tweets with a place and a user"},
};
