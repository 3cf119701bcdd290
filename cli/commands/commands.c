/* The table of commands, and finding one by its words. */
#include "cli/command.h"

#include <stdio.h>

#include <string.h>

static const struct {
    const char *heading; /* before this command, where a group begins */
    const gf_command *command;
} commands[] = {{"Documents and collections", &gf_command_put},
                {NULL, &gf_command_delete},
                {NULL, &gf_command_doc},
                {NULL, &gf_command_search},
                {NULL, &gf_command_similar},
                {NULL, &gf_command_collection_list},
                {NULL, &gf_command_collection_show},
                {NULL, &gf_command_collection_create},
                {NULL, &gf_command_collection_delete},
                {"Clusterings", &gf_command_rebuild},
                {NULL, &gf_command_clusters},
                {NULL, &gf_command_cluster},
                {NULL, &gf_command_export},
                {NULL, &gf_command_assign},
                {NULL, &gf_command_diff},
                {NULL, &gf_command_report},
                {NULL, &gf_command_evaluate},
                {NULL, &gf_command_label},
                {NULL, &gf_command_builds},
                {NULL, &gf_command_publish},
                {NULL, &gf_command_pin},
                {NULL, &gf_command_unpin},
                {"Configurations", &gf_command_config_set},
                {NULL, &gf_command_config_show},
                {NULL, &gf_command_config_list},
                {NULL, &gf_command_config_delete},
                {NULL, &gf_command_config_keys},
                {"Tables", &gf_command_table_create},
                {NULL, &gf_command_table_list},
                {NULL, &gf_command_table_describe},
                {NULL, &gf_command_table_alter},
                {NULL, &gf_command_table_drop},
                {NULL, &gf_command_table_put},
                {NULL, &gf_command_table_get},
                {NULL, &gf_command_table_scan},
                {NULL, &gf_command_table_delete},
                {NULL, &gf_command_table_incr},
                {NULL, &gf_command_table_check_and_put},
                {NULL, &gf_command_table_batch},
                {NULL, &gf_command_table_import},
                {NULL, &gf_command_table_export},
                {"Tweets", &gf_command_tweets_import},
                {NULL, &gf_command_tweets_search},
                {NULL, &gf_command_tweets_map},
                {NULL, &gf_command_tweets_frequency},
                {NULL, &gf_command_tweets_top},
                {NULL, &gf_command_tweets_highscore},
                {"Papers", &gf_command_papers_import_cdx},
                {NULL, &gf_command_papers_import_tei},
                {NULL, &gf_command_papers_extract},
                {NULL, &gf_command_papers_show},
                {NULL, &gf_command_papers_list},
                {NULL, &gf_command_papers_counts},
                {NULL, &gf_command_papers_missing},
                {NULL, &gf_command_papers_dump},
                {NULL, &gf_command_papers_match},
                {"Access logs", &gf_command_log_import},
                {NULL, &gf_command_log_report},
                {NULL, &gf_command_log_find},
                {"The store", &gf_command_init},
                {NULL, &gf_command_status},
                {NULL, &gf_command_verify},
                {NULL, &gf_command_upgrade},
                {NULL, &gf_command_backup},
                {NULL, &gf_command_restore},
                {NULL, &gf_command_repair},
                {NULL, &gf_command_serve},
                {NULL, &gf_command_version}};
enum { N_COMMANDS = GF_COUNT(commands) };

static const gf_show_column cell_columns[] = {{"family", "family", GF_COLUMN_TEXT},
                                              {"column", "column", GF_COLUMN_TEXT},
                                              {"value", "value", GF_COLUMN_PROSE},
                                              {"hex", "bytes (hexadecimal)", GF_COLUMN_TEXT}};
const gf_display gf_display_of_cells = {GF_COLUMNS(cell_columns)};

const gf_command *gf_command_at(size_t i, const char **heading)
{
    if (i >= N_COMMANDS) return NULL;
    *heading = commands[i].heading;
    return commands[i].command;
}

const gf_command *gf_command_find(int n_words, char **words, int *used)
{
    char two[64] = "";
    if (n_words > 1) snprintf(two, sizeof two, "%s %s", words[0], words[1]);
    for (size_t i = 0; i < N_COMMANDS && n_words > 0; i++) {
        const gf_command *c = commands[i].command;
        bool both = strcmp(c->name, two) == 0;
        if (!both && strcmp(c->name, words[0]) != 0) continue;
        *used = both ? 2 : 1;
        return c;
    }
    return NULL;
}

bool gf_command_is_in(const gf_command *c, const char *group)
{
    size_t n = strlen(group);
    return strncmp(c->name, group, n) == 0 && c->name[n] == ' ';
}

const gf_operation *gf_command_operation(const gf_command *c)
{
    return c->operation ? c->operation : gf_operation_find(c->name);
}

bool gf_command_has_word(const gf_command *c, const char *argument)
{
    for (size_t i = 0; i < c->n_positionals; i++)
        if (c->positionals[i].argument && strcmp(c->positionals[i].argument, argument) == 0)
            return true;
    return false;
}

bool gf_command_has_option(const gf_command *c, const char *name)
{
    for (size_t i = 0; i < c->n_options; i++)
        if (strcmp(c->options[i].name, name) == 0) return true;
    return false;
}
