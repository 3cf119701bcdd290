#include "cli/session.h"

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"},
                                      {.name = "QUERY", .argument = "query"}};
static const gf_show_column columns[] = {
    {"id", "id", GF_COLUMN_TEXT},         {"score", "score", GF_COLUMN_SCORE},
    {"cluster", "cluster", GF_COLUMN_ID}, {"label", "label", GF_COLUMN_TEXT},
    {"provisional", NULL, GF_COLUMN_RAW}, {"time", "time", GF_COLUMN_RAW},
    {"snippet", "text", GF_COLUMN_TEXT}};

const gf_command gf_command_search = {
    .name = "search",
    .examples =
        "    grouperfish search feedback 'crash startup'\n"
        "    grouperfish search feedback '\"memory leak\" -linux conn*' --limit 50\n"
        "    grouperfish search feedback crash --cluster 17 --since 30d --where os=windows\n"
        "    grouperfish search 'feedback-*' crash       each row with its collection\n",
    .notes =
        "QUERY is words, of which a document has any; \"phrases\", which it has all; word* for\n"
        "all words that start so; -word or -\"phrase\" for what it must not have. A query that\n"
        "begins with - goes behind --. Words are analysed as the texts are, so crash finds\n"
        "crashes. Documents are found as soon as they were put, by falling BM25 score.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .nothing = "nothing found"},
};
