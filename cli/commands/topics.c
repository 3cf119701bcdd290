/* Commands on topics. */
#include "cli/commands/clusterings.h"

static const gf_display_column edit_columns[] = {
    {"edit", "edit", GF_COLUMN_ID},        {"kind", NULL, GF_COLUMN_WORD},
    {"topic", "topic", GF_COLUMN_TEXT},    {"cluster", "cluster", GF_COLUMN_ID},
    {"words", "words", GF_COLUMN_PROSE},   {"like", "examples", GF_COLUMN_RARE},
    {"field", "field", GF_COLUMN_TEXT},    {"by", "by", GF_COLUMN_TEXT},
    {"reason", "reason", GF_COLUMN_PROSE}, {"time", NULL, GF_COLUMN_TIME},
    {"build", NULL, GF_COLUMN_ID},         {"holds", NULL, GF_COLUMN_RAW}};

static const gf_display_column topic_columns[] = {{"topic", "topic", GF_COLUMN_TEXT},
                                                  {"cluster", "cluster", GF_COLUMN_ID},
                                                  {"documents", "documents", GF_COLUMN_COUNT},
                                                  {"threshold", "threshold", GF_COLUMN_SCORE},
                                                  {"words", "words", GF_COLUMN_PROSE},
                                                  {"like", "examples", GF_COLUMN_RARE},
                                                  {"field", "field", GF_COLUMN_TEXT},
                                                  {"owed", "owed", GF_COLUMN_MARK},
                                                  {"lost", "lost", GF_COLUMN_PROSE},
                                                  {"edit", "edit", GF_COLUMN_ID},
                                                  {"by", "by", GF_COLUMN_TEXT},
                                                  {"reason", "reason", GF_COLUMN_PROSE},
                                                  {"time", NULL, GF_COLUMN_TIME}};

static const gf_positional add_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                          {.name = "NAME", .argument = "name", .optional = true},
                                          {.name = "WORDS", .argument = "words", .optional = true}};
static const gf_positional delete_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                             {.name = "NAME", .argument = "name"}};

const gf_command gf_topic_add_command = {
    .name = "topic add",
    .examples = "    grouperfish topic add feedback billing 'invoice refund charged twice'\n"
                "    grouperfish topic add feedback crashes --like 17,204,311 --by ann\n"
                "    grouperfish topic add feedback --from-field area\n",
    .notes = "The next rebuild makes it a cluster, which is called so and keeps its id. Documents "
             "that no\n"
             "topic takes are clustered as ever, or not: config set C topics=only.\n",
    GF_WORDS(add_words),
    .display = {GF_COLUMNS(edit_columns)},
};

const gf_command gf_topic_list_command = {
    .name = "topic list",
    .examples = "    grouperfish topic list feedback\n",
    .notes = "The threshold is the similarity of the least similar document that it took.\n",
    GF_WORDS(gf_collection_word),
    .display = {GF_COLUMNS(topic_columns), .nothing = "no topics"},
};

const gf_command gf_topic_delete_command = {
    .name = "topic delete",
    .examples = "    grouperfish topic delete feedback billing --reason 'too broad'\n",
    .notes = "The next rebuild makes no such cluster. To have it again: grouperfish undo C N.\n",
    GF_WORDS(delete_words),
    .display = {GF_COLUMNS(edit_columns), .single = true},
};
