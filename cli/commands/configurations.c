/* Configurations: their settings, of a collection or of a namespace. */
#include "cli/session.h"

#include <string.h>

/* ---- config set ------------------------------------------------------------------------------ */

/* [NAME] key=value...: the first word without = is the configuration's name. */
static gf_status prepare_set(gf_session *s, gf_error *err)
{
    gf_status st = GF_OK;
    size_t set_words = 0, settings = 0;
    for (size_t i = 0; i < s->n_arguments && st == GF_OK; i++) {
        gf_argument *a = &s->arguments[i];
        if (!gf_slice_equal(a->name, GF_SLICE("set"))) continue;
        bool is_setting = memchr(a->value.ptr, '=', a->value.len) != NULL;
        settings += is_setting;
        if (!is_setting && settings == 0 && set_words++ == 0)
            a->name = GF_SLICE("config");
        else if (!is_setting)
            st = gf_fail(err, GF_EINVAL, "\"%.*s\" is not key=value", GF_SLICE_ARG(a->value));
    }
    bool none = settings == 0 && !gf_session_has(s, "replace");
    if (st == GF_OK && none) return gf_fail(err, GF_EINVAL, "key=value... is missing");
    return st;
}

static void show_set(gf_session *s, gf_json_value row)
{
    fputs("set configuration ", s->out);
    gf_text_print(s->out, gf_member_text(row, "configuration"), 0);
    gf_member_print_owner(s->out, row);
    fputs("; the next rebuild uses it\n", s->out);
}

static const gf_positional set_words[] = {
    {.name = "COLLECTION", .argument = "collection"},
    {.name = "[NAME] key=value", .argument = "set", .repeats = true}};
static const gf_display_column configuration_columns[] = {
    {"collection", "collection", GF_COLUMN_TEXT},
    {"configuration", "configuration", GF_COLUMN_TEXT},
    {"namespace", NULL, GF_COLUMN_TEXT}};

static const gf_command set_command = {
    .name = "config set",
    .examples = "    grouperfish config set feedback k=50 language=english\n"
                "    grouperfish config set feedback fine k=200      a further configuration\n"
                "    grouperfish config set feedback k=              back to the default\n"
                "    grouperfish config set feedback --replace k=50  and nothing else\n"
                "    grouperfish config set 'feedback-*' k=20        of each of these\n"
                "    grouperfish config set --all language=german    of all that set no other\n",
    .notes = "NAME may be left out: it is then default. --all in the place of COLLECTION sets the\n"
             "namespace's defaults, which configurations of that name have where they set nothing\n"
             "themselves. grouperfish config keys lists all keys.\n",
    GF_WORDS(set_words),
    .display = {GF_COLUMNS(configuration_columns), .single = true, .show = show_set},
    .prepare = prepare_set,
};

/* ---- config show ----------------------------------------------------------------------------- */

static const gf_positional show_words[] = {
    {.name = "COLLECTION", .argument = "collection"},
    {.name = "NAME", .argument = "config", .optional = true}};
static const gf_display_column show_columns[] = {{"key", "key", GF_COLUMN_TEXT},
                                                 {"value", "value", GF_COLUMN_TEXT},
                                                 {"from", "from", GF_COLUMN_TEXT},
                                                 {"meaning", "meaning", GF_COLUMN_PROSE},
                                                 {"initial", NULL, GF_COLUMN_TEXT}};

static const gf_command show_command = {
    .name = "config show",
    .examples = "    grouperfish config show feedback\n"
                "    grouperfish config show feedback fine\n"
                "    grouperfish config show --all\n",
    .notes =
        "A value is from the collection where config set has set it there, from the namespace\n"
        "where config set --all has, else the default.\n",
    GF_WORDS(show_words),
    .display = {GF_COLUMNS(show_columns)},
};

/* ---- config list ----------------------------------------------------------------------------- */

static const gf_positional list_words[] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_display_column list_columns[] = {{"configuration", "configuration", GF_COLUMN_TEXT},
                                                 {"from", "from", GF_COLUMN_TEXT},
                                                 {"rebuild", NULL, GF_COLUMN_RAW},
                                                 {"within", "within", GF_COLUMN_TEXT}};

static const gf_command list_command = {
    .name = "config list",
    .examples = "    grouperfish config list feedback\n",
    GF_WORDS(list_words),
    .display = {GF_COLUMNS(list_columns)},
};

/* ---- config delete --------------------------------------------------------------------------- */

static void show_delete(gf_session *s, gf_json_value row)
{
    fputs("deleted configuration ", s->out);
    gf_text_print(s->out, gf_member_text(row, "configuration"), 0);
    gf_member_print_owner(s->out, row);
    fputc('\n', s->out);
}

static const gf_positional delete_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                             {.name = "NAME", .argument = "config"}};

static const gf_command delete_command = {
    .name = "config delete",
    .examples = "    grouperfish config delete feedback fine\n",
    .notes = "The configuration default is always there: its settings and builds go.\n",
    GF_WORDS(delete_words),
    .display = {GF_COLUMNS(configuration_columns), .single = true, .show = show_delete},
};

/* ---- config keys ----------------------------------------------------------------------------- */

static const gf_display_column keys_columns[] = {{"key", "key", GF_COLUMN_TEXT},
                                                 {"initial", "default", GF_COLUMN_TEXT},
                                                 {"values", "values", GF_COLUMN_PROSE},
                                                 {"meaning", "meaning", GF_COLUMN_PROSE}};

static const gf_command keys_command = {
    .name = "config keys",
    .examples = "    grouperfish config keys\n",
    .display = {GF_COLUMNS(keys_columns)},
};

/* ---- all of them ----------------------------------------------------------------------------- */

const gf_commands gf_commands_configurations = {
    "Configurations",
    GF_LIST(&set_command, &show_command, &list_command, &delete_command, &keys_command)};
