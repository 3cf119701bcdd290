/* Collections: list, show, create, delete. */
#include "cli/session.h"

/* ---- collection list ------------------------------------------------------------------------- */

static const gf_display_column list_columns[] = {{"collection", "collection", GF_COLUMN_TEXT},
                                                 {"size", "documents", GF_COLUMN_COUNT},
                                                 {"modified", "modified (UTC)", GF_COLUMN_TIME}};

static const gf_command list_command = {
    .name = "collection list",
    .examples = "    grouperfish collection list\n"
                "    grouperfish collection list --prefix issue- --sort size --limit 10\n",
    .display = {GF_COLUMNS(list_columns), .nothing = "no collections"},
};

/* ---- collection show ------------------------------------------------------------------------- */

static void show_configuration(gf_session *s, gf_json_value c)
{
    static const gf_display_column rebuilt = {"rebuilt", "", GF_COLUMN_TIME};
    gf_buffer b = {0};
    fputs("rebuilt      ", s->out);
    gf_member_write(&b, c, &rebuilt, true);
    fprintf(s->out, "%s UTC, configuration ", gf_buffer_cstr(&b));
    gf_text_print(s->out, gf_member_text(c, "configuration"), 0);
    fprintf(s->out, " (build %.0f)\n", gf_member_number(c, "build"));
    gf_buffer_release(&b);
}

static void show_collection(gf_session *s, gf_json_value row)
{
    static const gf_display_column lines[] = {{"collection", "collection", GF_COLUMN_TEXT},
                                              {"size", "documents", GF_COLUMN_COUNT},
                                              {"modified", "modified", GF_COLUMN_TIME}};
    for (size_t i = 0; i < GF_COUNT(lines); i++)
        gf_member_show(s->out, row, &lines[i], s->output.width);
    gf_member_each(s, row, "configurations", show_configuration);
}

static const gf_positional collection_word[] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_display_column show_columns[] = {{"collection", "collection", GF_COLUMN_TEXT},
                                                 {"size", "documents", GF_COLUMN_COUNT},
                                                 {"modified", "modified (UTC)", GF_COLUMN_TIME},
                                                 {"configurations", NULL, GF_COLUMN_RAW}};

static const gf_display_column cell_columns[] = {{"family", "family", GF_COLUMN_TEXT},
                                                 {"column", "column", GF_COLUMN_TEXT},
                                                 {"value", "value", GF_COLUMN_PROSE},
                                                 {"hex", "bytes (hexadecimal)", GF_COLUMN_TEXT},
                                                 {"not_shown", "bytes not shown", GF_COLUMN_COUNT}};
static const gf_other_display show_others[] = {{"columns", {GF_COLUMNS(cell_columns)}}};

static const gf_command show_command = {
    .name = "collection show",
    .examples = "    grouperfish collection show feedback\n"
                "    grouperfish collection show feedback --columns\n",
    .notes =
        "Of a dictionary or an index of more than 1,024 bytes --columns gives the size, and the\n"
        "bytes with --full.\n",
    GF_WORDS(collection_word),
    .display = {GF_COLUMNS(show_columns), .single = true, .show = show_collection},
    GF_OTHERS(show_others),
};

/* ---- collection create ----------------------------------------------------------------------- */

static void show_create(gf_session *s, gf_json_value row)
{
    fputs("made collection ", s->out);
    gf_text_print(s->out, gf_member_text(row, "collection"), 0);
    fputc('\n', s->out);
}

static const gf_positional create_words[] = {{.name = "NAME", .argument = "collection"}};
static const gf_display_column name_columns[] = {{"collection", NULL, GF_COLUMN_TEXT}};

static const gf_command create_command = {
    .name = "collection create",
    .examples = "    grouperfish collection create feedback\n",
    .notes =
        "grouperfish put makes collections by itself: this is for settings before the first put.\n",
    GF_WORDS(create_words),
    .display = {GF_COLUMNS(name_columns), .single = true, .show = show_create},
};

/* ---- collection delete ----------------------------------------------------------------------- */

static void show_delete(gf_session *s, gf_json_value row)
{
    fputs("deleted collection ", s->out);
    gf_text_print(s->out, gf_member_text(row, "collection"), 0);
    fputc('\n', s->out);
}

static const gf_command delete_command = {
    .name = "collection delete",
    .examples = "    grouperfish collection delete feedback\n"
                "    grouperfish collection delete feedback --purge\n",
    .notes = "Documents, clusters and settings go, and nothing brings them back.\n",
    GF_WORDS(collection_word),
    .display = {GF_COLUMNS(name_columns), .single = true, .show = show_delete},
    .answers = true,
};

/* ---- source list ------------------------------------------------------------------------------ */

static const gf_display_column source_columns[] = {{"source", "source", GF_COLUMN_TEXT},
                                                   {"place", "place", GF_COLUMN_PROSE}};

static const gf_command source_list_command = {
    .name = "source list",
    .examples = "    grouperfish source list feedback\n",
    .notes =
        "put --from postgres and --from url keep their place here, and go on from it; --again\n"
        "reads all once more.\n",
    GF_WORDS(collection_word),
    .display = {GF_COLUMNS(source_columns), .nothing = "no source was read"},
};

/* ---- all of them ----------------------------------------------------------------------------- */

const gf_commands gf_commands_collections = {
    NULL,
    GF_LIST(&list_command, &show_command, &create_command, &delete_command, &source_list_command)};
