#include "cli/session.h"

static const gf_show_column columns[] = {{"tweets", "tweets", GF_COLUMN_COUNT},
                                         {"tag", "hashtag", GF_COLUMN_TEXT}};

const gf_command gf_command_tweets_top = {
    .name = "tweets top",
    .examples = "    grouperfish tweets top\n"
                "    grouperfish tweets top --box 13.09,52.34,13.76,52.68 --from 2016-05-05\n",
    .notes =
        "A hashtag counts once for each tweet that has it. Without --box tweets without a place\n"
        "count, too.\n",
    .display = {GF_COLUMNS(columns), .nothing = "no hashtags"},
};
