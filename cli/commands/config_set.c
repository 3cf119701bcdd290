#include "cli/session.h"

#include <string.h>

/* [NAME] key=value...: the first word without = is the configuration's name. */
static gf_status prepare(gf_session *s, gf_error *err)
{
    gf_status st = GF_OK;
    size_t words = 0, settings = 0;
    for (size_t i = 0; i < s->n_arguments && st == GF_OK; i++) {
        gf_argument *a = &s->arguments[i];
        if (!gf_slice_equal(a->name, GF_SLICE("set"))) continue;
        bool is_setting = memchr(a->value.ptr, '=', a->value.len) != NULL;
        settings += is_setting;
        if (!is_setting && settings == 0 && words++ == 0)
            a->name = GF_SLICE("config");
        else if (!is_setting)
            st = gf_fail(err, GF_EINVAL, "\"%.*s\" is not key=value", GF_SLICE_ARG(a->value));
    }
    if (st == GF_OK && settings == 0) return gf_fail(err, GF_EINVAL, "key=value... is missing");
    return st;
}

static void show(gf_session *s, gf_json_value row)
{
    fputs("set configuration ", s->out);
    gf_print_text(s->out, gf_member_text(row, "configuration"), 0);
    gf_print_owner(s->out, row);
    fputs("; the next rebuild uses it\n", s->out);
}

static const gf_positional words[] = {
    {.name = "COLLECTION", .argument = "collection"},
    {.name = "[NAME] key=value", .argument = "set", .repeats = true}};
static const gf_show_column columns[] = {{"collection", "collection", GF_COLUMN_TEXT},
                                         {"configuration", "configuration", GF_COLUMN_TEXT},
                                         {"namespace", NULL, GF_COLUMN_TEXT}};

const gf_command gf_command_config_set = {
    .name = "config set",
    .examples = "    grouperfish config set feedback k=50 language=english\n"
                "    grouperfish config set feedback fine k=200      a further configuration\n"
                "    grouperfish config set feedback k=              back to the default\n"
                "    grouperfish config set 'feedback-*' k=20        of each of these\n"
                "    grouperfish config set --all language=german    of all that set no other\n",
    .notes = "NAME may be left out: it is then default. --all in the place of COLLECTION sets the\n"
             "namespace's defaults, which configurations of that name have where they set nothing\n"
             "themselves. grouperfish config keys lists all keys.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
    .prepare = prepare,
};
