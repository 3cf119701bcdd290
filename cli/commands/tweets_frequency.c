#include "cli/session.h"

/* "en                      11 tweets  3 5 0 3" */
static void show(gf_session *s, gf_json_value row)
{
    gf_json_value data, counts, n;
    gf_slice language;
    if (!gf_json_member(row, "data", &data)) return;
    gf_json_iterator it = gf_json_items(data);
    bool any = false;
    for (; gf_json_next(&it, &language, &counts); any = true) {
        gf_json_iterator minutes = gf_json_items(counts);
        gf_print_text(s->out, language, 0);
        for (bool first = true; gf_json_next(&minutes, NULL, &n); first = false)
            fprintf(s->out, "%s%.0f", first ? "\t" : " ", gf_json_number(n));
        fputc('\n', s->out);
    }
    if (!any) fputs("no tweets in these minutes\n", s->out);
}

static const gf_show_column columns[] = {{"data", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_tweets_frequency = {
    .name = "tweets frequency",
    .examples = "    grouperfish tweets frequency --from 201605051430 --to 201605051433\n"
                "    grouperfish tweets frequency --from 2016-05-05 --to 2016-05-05 --lang en,de "
                "--format json\n",
    .notes = "A number for each minute (UTC) from the first to the last, both included, for each "
             "language.\n",
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
};
