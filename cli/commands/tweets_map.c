#include "cli/session.h"

static const gf_show_column columns[] = {{"time", "time", GF_COLUMN_TIME},
                                         {"id", NULL, GF_COLUMN_TEXT},
                                         {"lang", "lang", GF_COLUMN_TEXT},
                                         {"latitude", "latitude", GF_COLUMN_RAW},
                                         {"longitude", "longitude", GF_COLUMN_RAW},
                                         {"screen_name", "user", GF_COLUMN_TEXT},
                                         {"name", NULL, GF_COLUMN_TEXT},
                                         {"text", "text", GF_COLUMN_TEXT},
                                         {"tweet", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_tweets_map = {
    .name = "tweets map",
    .examples = "    grouperfish tweets map --box 13.09,52.34,13.76,52.68\n"
                "    grouperfish tweets map --box=-10,35,30,60 --from 2016-05-05 --to 2016-05-06\n"
                "    grouperfish tweets map --box 170,-50,-170,-30 --limit 0 --format csv\n",
    .notes = "BOX is west, south, east and north in degrees, edges included; a west that is more "
             "than the\n"
             "east crosses the antimeridian. The newest tweets come first.\n",
    .display = {GF_COLUMNS(columns), .nothing = "no tweet is there"},
};
