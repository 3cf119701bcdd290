/* Schemas and keys of users' tables, for people. */
#include "cli/commands/show_table.h"

static void print_value(FILE *out, gf_json_value v)
{
    gf_buffer text = {0};
    if (gf_json_kind_of(v) == GF_JSON_STRING)
        gf_buffer_slice(&text, gf_json_get_string(v));
    else
        gf_json_write(v, &text, NULL);
    gf_print_text(out, gf_buffer_view(&text), 0);
    gf_buffer_release(&text);
}

void gf_print_key(FILE *out, gf_json_value row)
{
    gf_json_value key, part;
    if (!gf_json_member(row, "key", &key)) return;
    gf_json_iterator it = gf_json_items(key);
    for (bool first = true; gf_json_next(&it, NULL, &part); first = false) {
        if (!first) fputc(' ', out);
        print_value(out, part);
    }
}

static void print_setting(FILE *out, gf_json_value family, const char *name, const char *usual)
{
    gf_json_value v;
    gf_buffer text = {0};
    if (!gf_json_member(family, name, &v)) return;
    if (gf_json_kind_of(v) == GF_JSON_STRING)
        gf_buffer_slice(&text, gf_json_get_string(v));
    else
        gf_json_write(v, &text, NULL);
    if (!gf_slice_equal(gf_buffer_view(&text), gf_slice_str(usual)))
        fprintf(out, ", %s %s", name, gf_buffer_cstr(&text));
    gf_buffer_release(&text);
}

static void print_columns(FILE *out, gf_json_value family)
{
    gf_json_value columns, type;
    gf_slice name;
    if (!gf_json_member(family, "columns", &columns)) return;
    gf_json_iterator it = gf_json_items(columns);
    while (gf_json_next(&it, &name, &type)) {
        fputs("    ", out);
        gf_print_text(out, name, 0);
        fputs("  ", out);
        print_value(out, type);
        fputc('\n', out);
    }
}

void gf_table_show_schema(gf_session *s, gf_json_value row)
{
    gf_json_value list, item;
    fputs("table ", s->out);
    gf_print_text(s->out, gf_member_text(row, "table"), 0);
    fputs("\nkey\n", s->out);
    if (gf_json_member(row, "key", &list)) {
        gf_json_iterator it = gf_json_items(list);
        while (gf_json_next(&it, NULL, &item)) {
            fputs("    ", s->out);
            gf_print_text(s->out, gf_member_text(item, "name"), 0);
            fprintf(s->out, "  %.*s", GF_SLICE_ARG(gf_member_text(item, "type")));
            if (gf_member_number(item, "width") > 0)
                fprintf(s->out, " %.0f", gf_member_number(item, "width"));
            fputc('\n', s->out);
        }
    }
    if (!gf_json_member(row, "families", &list)) return;
    gf_json_iterator it = gf_json_items(list);
    while (gf_json_next(&it, NULL, &item)) {
        fputs("family ", s->out);
        gf_print_text(s->out, gf_member_text(item, "name"), 0);
        fprintf(s->out, ": %.*s", GF_SLICE_ARG(gf_member_text(item, "layout")));
        print_setting(s->out, item, "type", "text");
        print_setting(s->out, item, "qualifier", "text");
        print_setting(s->out, item, "versions", "1");
        print_setting(s->out, item, "ttl", "0");
        print_setting(s->out, item, "compression", "none");
        fputc('\n', s->out);
        print_columns(s->out, item);
    }
}

gf_status gf_table_prepare_schema(gf_session *s, gf_error *err)
{
    return s->file ? gf_files_open(&s->file, 1, &s->files, err) : GF_OK;
}
