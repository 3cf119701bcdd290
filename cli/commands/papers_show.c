#include "cli/session.h"

static const gf_positional words[] = {{.name = "SHA1", .argument = "sha1"}};
static const gf_show_column columns[] = {
    {"sha1", NULL, GF_COLUMN_TEXT},   {"hex", NULL, GF_COLUMN_TEXT},
    {"f", NULL, GF_COLUMN_RAW},       {"file", NULL, GF_COLUMN_RAW},
    {"grobid0", NULL, GF_COLUMN_RAW}, {"match0", NULL, GF_COLUMN_RAW}};
static const gf_show_column value_columns[] = {{"value", NULL, GF_COLUMN_TEXT}};
static const gf_other_display others[] = {
    {"column", {GF_COLUMNS(value_columns), .single = true, .page = "value"}}};

static void show_family(gf_session *s, gf_json_value row, const char *family)
{
    gf_json_value members, value;
    gf_slice name;
    if (!gf_json_member(row, family, &members)) return;
    gf_json_iterator it = gf_json_items(members);
    while (gf_json_next(&it, &name, &value)) {
        gf_buffer b = {0};
        if (gf_json_kind_of(value) == GF_JSON_STRING)
            gf_buffer_slice(&b, gf_json_get_string(value));
        else
            gf_json_write(value, &b, NULL);
        fprintf(s->out, "%s:%.*s  ", family, GF_SLICE_ARG(name));
        gf_print_text(s->out, gf_buffer_view(&b), 1000);
        fputc('\n', s->out);
        gf_buffer_release(&b);
    }
}

static void show(gf_session *s, gf_json_value row)
{
    fputs("sha1  ", s->out);
    gf_print_text(s->out, gf_member_text(row, "sha1"), 0);
    fputs("  ", s->out);
    gf_print_text(s->out, gf_member_text(row, "hex"), 0);
    fputc('\n', s->out);
    static const char *const families[] = {"f", "file", "grobid0", "match0"};
    for (size_t i = 0; i < GF_COUNT(families); i++)
        show_family(s, row, families[i]);
}

const gf_command gf_command_papers_show = {
    .name = "papers show",
    .examples = "    grouperfish papers show MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3J\n"
                "    grouperfish papers show sha1:MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3J --format json\n"
                "    grouperfish papers show 63c57ad9949c6862bf7e92de750d78f34d4e4b69 "
                "--column tei_xml > paper.xml\n",
    .notes = "--column prints the value as it is.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
    .others = others,
    .n_others = GF_COUNT(others),
};
