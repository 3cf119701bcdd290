/* Tables of users. */
#include "cli/commands/import_files.h"
#include "formats/reader.h"

#include <string.h>
#include <strings.h>

/* ---- keys and schemas ------------------------------------------------------------------------ */

static void print_key(FILE *out, gf_json_value row)
{
    gf_json_value key, part;
    if (!gf_json_member(row, "key", &key)) return;
    gf_json_iterator it = gf_json_items(key);
    for (bool first = true; gf_json_next(&it, NULL, &part); first = false) {
        if (!first) fputc(' ', out);
        gf_member_print_value(out, part, 0);
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
        gf_text_print(out, name, 0);
        fputs("  ", out);
        gf_member_print_value(out, type, 0);
        fputc('\n', out);
    }
}

static void show_schema(gf_session *s, gf_json_value row)
{
    gf_json_value list, item;
    fputs("table ", s->out);
    gf_text_print(s->out, gf_member_text(row, "table"), 0);
    fputs("\nkey\n", s->out);
    if (gf_json_member(row, "key", &list)) {
        gf_json_iterator it = gf_json_items(list);
        while (gf_json_next(&it, NULL, &item)) {
            fputs("    ", s->out);
            gf_text_print(s->out, gf_member_text(item, "name"), 0);
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
        gf_text_print(s->out, gf_member_text(item, "name"), 0);
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

/* ---- table create ---------------------------------------------------------------------------- */

static const gf_display_column schema_columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                                   {"key", NULL, GF_COLUMN_RAW},
                                                   {"families", NULL, GF_COLUMN_RAW}};
static const gf_positional table_word[] = {{.name = "TABLE", .argument = "table"}};
static const gf_own_option create_options[] = {
    {"schema", "FILE", "the schema as JSON (docs/tables.md), or - for standard input",
     GF_OPTION_FILE}};

static const gf_command create_command = {
    .name = "table create",
    .examples =
        "    grouperfish table create users --key id --family info --column info:age=int64 \\\n"
        "        --family friend:wide\n"
        "    grouperfish table create papers --key sha1:raw:20 --family file\n"
        "    grouperfish table create events --schema events.json\n",
    .notes = "A family is packed unless it is said to be wide: the columns of a packed one are "
             "read and\n"
             "written together, a wide one holds any number of cells in a row. The store is made\n"
             "where it is missing. Types, and schemas as files: docs/tables.md.\n",
    GF_WORDS(table_word),
    GF_OPTIONS(create_options),
    .display = {GF_COLUMNS(schema_columns), .single = true, .show = show_schema},
    .prepare = gf_import_prepare_option,
};

/* ---- table list ------------------------------------------------------------------------------ */

static const gf_display_column list_columns[] = {{"table", "table", GF_COLUMN_TEXT},
                                                 {"key", NULL, GF_COLUMN_RAW},
                                                 {"families", NULL, GF_COLUMN_RAW}};

/* "namespace text, time int64": the parts of the key with their types. */
static void print_parts(FILE *out, gf_json_value row)
{
    gf_json_value key, part;
    if (!gf_json_member(row, "key", &key)) return;
    gf_json_iterator it = gf_json_items(key);
    for (bool first = true; gf_json_next(&it, NULL, &part); first = false) {
        if (!first) fputs(", ", out);
        gf_text_print(out, gf_member_text(part, "name"), 0);
        fprintf(out, " %.*s", GF_SLICE_ARG(gf_member_text(part, "type")));
        if (gf_member_number(part, "width") > 0)
            fprintf(out, " %.0f", gf_member_number(part, "width"));
    }
}

static void show_system_table(gf_session *s, gf_json_value row)
{
    enum { NAME_WIDTH = 24, OF_WIDTH = 8 };
    gf_slice name = gf_member_text(row, "table"), of = gf_member_text(row, "of");
    unsigned width = gf_text_width(name);
    gf_text_print(s->out, name, 0);
    fprintf(s->out, "%*s%-*.*s", width < NAME_WIDTH ? (int)(NAME_WIDTH + 2 - width) : 2, "",
            OF_WIDTH, GF_SLICE_ARG(of));
    print_parts(s->out, row);
    fputc('\n', s->out);
}

static const gf_display_column system_columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                                   {"of", NULL, GF_COLUMN_TEXT},
                                                   {"key", NULL, GF_COLUMN_RAW},
                                                   {"families", NULL, GF_COLUMN_RAW}};
static const gf_other_display list_others[] = {
    {"system", {GF_COLUMNS(system_columns), .nothing = "no tables", .show = show_system_table}}};

static const gf_command list_command = {
    .name = "table list",
    .examples = "    grouperfish table list\n"
                "    grouperfish table list --format jsonl      with their schemas\n"
                "    grouperfish table list --system            the program's own\n",
    .notes =
        "The program's own tables are those of the engine, of tweets, papers and logs. table\n"
        "describe, get and scan read them with --system; nothing writes to them but the commands\n"
        "that keep them (docs/tables.md).\n",
    .display = {GF_COLUMNS(list_columns), .nothing = "no tables"},
    GF_OTHERS(list_others),
};

/* ---- table describe -------------------------------------------------------------------------- */

static const gf_other_display describe_others[] = {
    {"system", {GF_COLUMNS(system_columns), .single = true, .show = show_schema}}};

static const gf_command describe_command = {
    .name = "table describe",
    .examples = "    grouperfish table describe users\n"
                "    grouperfish table describe clusters --system\n",
    GF_WORDS(table_word),
    .display = {GF_COLUMNS(schema_columns), .single = true, .show = show_schema},
    GF_OTHERS(describe_others),
};

/* ---- table alter ----------------------------------------------------------------------------- */

static const gf_own_option alter_options[] = {
    {"schema", "FILE", "what is to be added as JSON (docs/tables.md), or - for standard input",
     GF_OPTION_FILE}};

static const gf_command alter_command = {
    .name = "table alter",
    .examples = "    grouperfish table alter papers --add-family grobid1:snappy\n"
                "    grouperfish table alter users --add-column info:city=text\n"
                "    grouperfish table alter events --ttl seen=30d --ttl info=off\n",
    .notes =
        "What is added changes nothing that is there. With --ttl nothing that was past its\n"
        "time to live is shown again: where it becomes longer, that is deleted first. Cells\n"
        "that have no time, since nothing expired when they were put, live from the change on.\n",
    GF_WORDS(table_word),
    GF_OPTIONS(alter_options),
    .display = {GF_COLUMNS(schema_columns), .single = true, .show = show_schema},
    .prepare = gf_import_prepare_option,
};

/* ---- table drop ------------------------------------------------------------------------------ */

static void show_drop(gf_session *s, gf_json_value row)
{
    fputs("dropped table ", s->out);
    gf_text_print(s->out, gf_member_text(row, "table"), 0);
    fputc('\n', s->out);
}

static const gf_display_column drop_columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                                 {"dropped", NULL, GF_COLUMN_RAW}};

static const gf_command drop_command = {
    .name = "table drop",
    .examples = "    grouperfish table drop users\n",
    .notes = "Its name is free at once; its rows go in chunks. What is cut short is carried on "
             "when the\n"
             "store is written to next.\n",
    GF_WORDS(table_word),
    .display = {GF_COLUMNS(drop_columns), .single = true, .show = show_drop},
};

/* ---- table put ------------------------------------------------------------------------------- */

static void show_put(gf_session *s, gf_json_value row)
{
    gf_text_print_count(s->out, gf_member_number(row, "put"), "cell");
    fputs(" put into ", s->out);
    print_key(s->out, row);
    fputc('\n', s->out);
}

static const gf_display_column put_columns[] = {
    {"table", NULL, GF_COLUMN_TEXT}, {"key", NULL, GF_COLUMN_RAW}, {"put", NULL, GF_COLUMN_COUNT}};
static const gf_positional row_words[] = {{.name = "TABLE", .argument = "table"},
                                          {.name = "PART", .argument = "key", .repeats = true}};

static const gf_command put_command = {
    .name = "table put",
    .examples = "    grouperfish table put users u1 --set info:name=Ann --set info:age=34\n"
                "    grouperfish table put users u1 --set friend:u2=close\n"
                "    grouperfish table put temperatures --set main:days=3 -- -5\n",
    .notes =
        "Cells that are not named stay as they are. A column that the schema declares needs no\n"
        "family before it. All cells are put, or none. A key part that begins with - comes\n"
        "behind --.\n",
    GF_WORDS(row_words),
    .display = {GF_COLUMNS(put_columns), .single = true, .show = show_put},
};

/* ---- table get ------------------------------------------------------------------------------- */

/* "info:age      34", a line for each cell. */
static void show_cells(gf_session *s, gf_json_value row)
{
    enum { NAME_WIDTH = 24, GAP = 2 };
    gf_json_value families, cells, value;
    gf_slice family, column;
    gf_buffer name = {0};
    if (!gf_json_member(row, "cells", &families)) return;
    gf_json_iterator f = gf_json_items(families);
    while (gf_json_next(&f, &family, &cells)) {
        gf_json_iterator c = gf_json_items(cells);
        while (gf_json_next(&c, &column, &value)) {
            gf_buffer_reset(&name);
            gf_buffer_slice(&name, family);
            gf_buffer_byte(&name, ':');
            gf_buffer_slice(&name, column);
            gf_text_print(s->out, gf_buffer_view(&name), 0);
            unsigned width = gf_text_width(gf_buffer_view(&name));
            fprintf(s->out, "%*s", width < NAME_WIDTH ? (int)(NAME_WIDTH + GAP - width) : GAP, "");
            gf_member_print_value(s->out, value, 0);
            fputc('\n', s->out);
        }
    }
    gf_buffer_release(&name);
    gf_slice next = gf_member_text(row, "next");
    if (!next.len) return;
    fputs("\nmore: --cursor ", s->out);
    gf_text_print(s->out, next, 0);
    fputc('\n', s->out);
}

static const gf_display_column get_columns[] = {
    {"table", NULL, GF_COLUMN_TEXT}, {"key", NULL, GF_COLUMN_RAW}, {"cells", NULL, GF_COLUMN_RAW}};
static const gf_display_column page_columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                                 {"key", NULL, GF_COLUMN_RAW},
                                                 {"cells", NULL, GF_COLUMN_RAW},
                                                 {"next", NULL, GF_COLUMN_TEXT}};
static const gf_display_column version_columns[] = {{"column", "column", GF_COLUMN_TEXT},
                                                    {"value", "value", GF_COLUMN_RAW},
                                                    {"timestamp", "timestamp", GF_COLUMN_ID}};
static const gf_other_display get_others[] = {
    {"column", {GF_COLUMNS(version_columns)}},
    {"limit", {GF_COLUMNS(page_columns), .single = true, .show = show_cells}}};

static const gf_command get_command = {
    .name = "table get",
    .examples = "    grouperfish table get users u1\n"
                "    grouperfish table get users u1 --family info\n"
                "    grouperfish table get users u1 --column info:age --versions 3\n"
                "    grouperfish table get users u1 --family friend --limit 100\n"
                "    grouperfish table get users u1 --family friend --from-column m --limit 100\n"
                "    grouperfish table get documents default feedback 17 --system\n",
    .notes = "An empty cell is shown, an absent one is not. Where the row is there without a cell\n"
             "in --family, that is told, and the exit code is 1. Of a wide family a page of cells\n"
             "is read without those before it: --limit, and --cursor with what the page gives.\n"
             "With --system the table is one of the program's own, and the first part of the key\n"
             "is the namespace; binary values of more than 64 bytes are shown with --full.\n",
    GF_WORDS(row_words),
    .display = {GF_COLUMNS(get_columns), .single = true, .show = show_cells},
    GF_OTHERS(get_others),
};

/* ---- table scan ------------------------------------------------------------------------------ */

static const gf_positional rows_words[] = {
    {.name = "TABLE", .argument = "table"},
    {.name = "PART", .argument = "key", .optional = true, .repeats = true}};
static const gf_display_column row_columns[] = {{"key", "key", GF_COLUMN_RAW},
                                                {"cells", "cells", GF_COLUMN_RAW}};

static const gf_command scan_command = {
    .name = "table scan",
    .examples = "    grouperfish table scan users --limit 10\n"
                "    grouperfish table scan users --prefix u --where 'info:age>=18'\n"
                "    grouperfish table scan actions u1 --from 1247443200000 --reverse\n"
                "    grouperfish table scan RawTwitterData --system --limit 1\n",
    .notes =
        "Rows come from one state of the table, whatever is written meanwhile. With --where a\n"
        "row is given only where all of it holds; numbers are compared by their size, by the\n"
        "type of the column. With --system the table is one of the program's own, of this\n"
        "namespace alone; where no part of the key is given, --prefix, --from and --to are of\n"
        "the part behind the namespace.\n",
    GF_WORDS(rows_words),
    .display = {GF_COLUMNS(row_columns), .nothing = "no rows"},
    .streams_jsonl = true,
};

/* ---- table delete ---------------------------------------------------------------------------- */

static void show_delete(gf_session *s, gf_json_value row)
{
    gf_json_value rows;
    if (gf_json_member(row, "rows", &rows)) {
        fputs(gf_member_flag(row, "dry_run") ? "would delete " : "deleted ", s->out);
        gf_text_print_count(s->out, gf_member_number(row, "rows"), "row");
        fputc('\n', s->out);
        return;
    }
    fputs("deleted ", s->out);
    gf_text_print_count(s->out, gf_member_number(row, "deleted"), "cell");
    fputs(" of ", s->out);
    print_key(s->out, row);
    fputc('\n', s->out);
}

static const gf_display_column delete_columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                                   {"key", NULL, GF_COLUMN_RAW},
                                                   {"deleted", NULL, GF_COLUMN_COUNT}};

static const gf_display_column delete_rows_columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                                        {"rows", NULL, GF_COLUMN_COUNT}};
#define DELETE_ROWS                                                                                \
    {                                                                                              \
        GF_COLUMNS(delete_rows_columns), .single = true, .show = show_delete                       \
    }
static const gf_other_display delete_others[] = {{"rows", DELETE_ROWS},  {"prefix", DELETE_ROWS},
                                                 {"from", DELETE_ROWS},  {"to", DELETE_ROWS},
                                                 {"where", DELETE_ROWS}, {"dry-run", DELETE_ROWS}};

static const gf_command delete_command = {
    .name = "table delete",
    .examples = "    grouperfish table delete users u1\n"
                "    grouperfish table delete users u1 --column info:age --column friend:u2\n"
                "    grouperfish table delete users u1 --family friend\n"
                "    grouperfish table delete actions u1 --rows\n"
                "    grouperfish table delete events --to 1700000000 --dry-run\n",
    .notes =
        "Exit code 1 where none of it was there. A range goes by batches of whole rows, each on\n"
        "disk before the next: what is cut short goes on with the same command.\n",
    GF_WORDS(rows_words),
    .display = {GF_COLUMNS(delete_columns), .single = true, .show = show_delete},
    GF_OTHERS(delete_others),
};

/* ---- table incr ------------------------------------------------------------------------------ */

static void show_incr(gf_session *s, gf_json_value row)
{
    gf_text_print(s->out, gf_member_text(row, "column"), 0);
    fputs(" of ", s->out);
    print_key(s->out, row);
    gf_json_value sum;
    gf_buffer text = {0};
    if (gf_json_member(row, "value", &sum)) gf_json_write(sum, &text, NULL);
    fprintf(s->out, " is %s\n", gf_buffer_cstr(&text));
    gf_buffer_release(&text);
}

static const gf_display_column incr_columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                                 {"key", NULL, GF_COLUMN_RAW},
                                                 {"column", NULL, GF_COLUMN_TEXT},
                                                 {"value", NULL, GF_COLUMN_RAW}};

static const gf_command incr_command = {
    .name = "table incr",
    .examples = "    grouperfish table incr frequency 201605051430 --column count:en\n"
                "    grouperfish table incr users u1 --column info:age --by -1\n",
    .notes =
        "The cell is of type int64, uint64 or decimal, or a text of digits; one that is not there\n"
        "counts as 0.\n",
    GF_WORDS(row_words),
    .display = {GF_COLUMNS(incr_columns), .single = true, .show = show_incr},
};

/* ---- table check and put --------------------------------------------------------------------- */

static void show_check_and_put(gf_session *s, gf_json_value row)
{
    gf_json_value found;
    gf_buffer text = {0};
    if (gf_member_flag(row, "done")) {
        gf_text_print_count(s->out, gf_member_number(row, "put"), "cell");
        fputs(" put into ", s->out);
        print_key(s->out, row);
        fputc('\n', s->out);
        return;
    }
    fputs("nothing put: ", s->out);
    gf_text_print(s->out, gf_member_text(row, "column"), 0);
    if (gf_json_member(row, "found", &found)) {
        gf_json_write(found, &text, NULL);
        fputs(" is ", s->out);
        gf_text_print(s->out, gf_buffer_view(&text), 0);
    } else {
        fputs(" is not there", s->out);
    }
    fputc('\n', s->out);
    gf_buffer_release(&text);
}

static const gf_display_column check_and_put_columns[] = {
    {"table", NULL, GF_COLUMN_TEXT},  {"key", NULL, GF_COLUMN_RAW},
    {"done", NULL, GF_COLUMN_RAW},    {"put", NULL, GF_COLUMN_COUNT},
    {"column", NULL, GF_COLUMN_TEXT}, {"found", NULL, GF_COLUMN_RAW}};

static const gf_command check_and_put_command = {
    .name = "table check-and-put",
    .examples = "    grouperfish table check-and-put users u1 --if info:age=34 --set info:age=35\n"
                "    grouperfish table check-and-put locks job --if-absent main:owner --set "
                "main:owner=me\n",
    .notes = "Exit code 1 where the check fails; the row then says what is there.\n",
    GF_WORDS(row_words),
    .display = {GF_COLUMNS(check_and_put_columns), .single = true, .show = show_check_and_put},
};

/* ---- table batch ----------------------------------------------------------------------------- */

static void show_batch(gf_session *s, gf_json_value row)
{
    gf_text_print_count(s->out, gf_member_number(row, "lines"), "line");
    fputs(": ", s->out);
    gf_text_print_count(s->out, gf_member_number(row, "put"), "cell");
    fputs(" put, ", s->out);
    gf_text_print_count(s->out, gf_member_number(row, "deleted"), "deletion");
    fputs(", in ", s->out);
    gf_text_print_count(s->out, gf_member_number(row, "tables"), "table");
    fputc('\n', s->out);
}

static const gf_display_column batch_columns[] = {{"lines", NULL, GF_COLUMN_COUNT},
                                                  {"tables", NULL, GF_COLUMN_COUNT},
                                                  {"put", NULL, GF_COLUMN_COUNT},
                                                  {"deleted", NULL, GF_COLUMN_COUNT}};

static const gf_command batch_command = {
    .name = "table batch",
    .examples =
        "    grouperfish table batch enrol.jsonl\n"
        "    printf '%s\\n' "
        "'{\"table\":\"students\",\"key\":[\"s1\"],\"cells\":{\"course\":{\"c9\":\"major\"}}}' \\\n"
        "        "
        "'{\"table\":\"courses\",\"key\":[\"c9\"],\"cells\":{\"student\":{\"s1\":\"major\"}}}' | "
        "\\\n"
        "        grouperfish table batch -\n",
    .notes =
        "A line puts \"cells\" into a row, or deletes: \"delete\":true the row,\n"
        "\"delete\":{\"course\":[\"c9\"]} cells, \"delete\":{\"course\":true} a family of it. All\n"
        "lines of all files are done together, or none.\n",
    GF_WORDS(gf_import_files),
    .display = {GF_COLUMNS(batch_columns), .single = true, .show = show_batch},
    .prepare = gf_import_prepare,
};

/* ---- table import ---------------------------------------------------------------------------- */

/* The first file's name tells what all are. */
static gf_status prepare_import(gf_session *s, gf_error *err)
{
    bool csv = s->n_words && gf_format_of_name(gf_slice_str(s->words[0])) == GF_FORMAT_CSV;
    gf_status st = GF_OK;
    if (csv && !gf_session_has(s, "from")) st = gf_session_add(s, "from", "csv", err);
    return st == GF_OK ? gf_import_prepare(s, err) : st;
}

static void show_import(gf_session *s, gf_json_value row)
{
    gf_text_print_count(s->out, gf_member_number(row, "rows"), "row");
    fputs(", ", s->out);
    gf_text_print_count(s->out, gf_member_number(row, "put"), "cell");
    fputs(" put into ", s->out);
    gf_text_print(s->out, gf_member_text(row, "table"), 0);
    if (gf_member_number(row, "deleted") > 0) {
        fputs(", ", s->out);
        gf_text_print_count(s->out, gf_member_number(row, "deleted"), "deletion");
    }
    if (gf_member_number(row, "other_type") > 0) {
        fputs(", ", s->out);
        gf_text_print_count(s->out, gf_member_number(row, "other_type"), "value");
        fputs(" not of the column's type", s->out);
    }
    gf_import_end_line(s, row);
}

static const gf_positional import_words[] = {
    {.name = "TABLE", .argument = "table"},
    {.name = "FILE", .optional = true, .repeats = true, .path = true}};
static const gf_display_column import_columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                                   {"read", NULL, GF_COLUMN_COUNT},
                                                   {"rows", NULL, GF_COLUMN_COUNT},
                                                   {"put", NULL, GF_COLUMN_COUNT},
                                                   {"refused", NULL, GF_COLUMN_COUNT}};

static const gf_command import_command = {
    .name = "table import",
    .examples =
        "    grouperfish table import users users.jsonl\n"
        "    grouperfish table import users more.csv.gz\n"
        "    grouperfish table export users | grouperfish table import copy -\n"
        "    grouperfish table export users | grouperfish table import users - --store other\n"
        "    grouperfish table import users /exports/users      what HBase's Export wrote\n"
        "    grouperfish table import tweets raw.txt --from accumulo-scan --create bytes\n",
    .notes =
        "A line of JSON Lines is a row as table scan gives it; the header of a CSV file has the\n"
        "parts of the key, and cells as FAMILY:COLUMN. Cells that are not named stay as they are.\n"
        "gzip, zstd, xz, tar and zip are read as they are. What cannot be put is refused (exit\n"
        "code 3), all else is put. An export of HBase is recognised; rows of other stores, and "
        "how\n"
        "they meet the table's key and types: docs/moving.md.\n",
    GF_WORDS(import_words),
    GF_OPTIONS(gf_import_options),
    .display = {GF_COLUMNS(import_columns), .single = true, .show = show_import},
    .prepare = prepare_import,
    .answers = true,
};

/* ---- table export ---------------------------------------------------------------------------- */

/* CSV has columns of the table's own: the operation writes it. */
static gf_status prepare_export(gf_session *s, gf_error *err)
{
    const char *dot = s->out_path ? strrchr(s->out_path, '.') : NULL;
    bool sheet = s->format && strcmp(s->format, "spreadsheet") == 0;
    bool csv = s->format ? strcmp(s->format, "csv") == 0 : dot && strcasecmp(dot, ".csv") == 0;
    gf_status st = csv || sheet ? gf_session_add(s, "csv", "true", err) : GF_OK;
    if (st == GF_OK && sheet) st = gf_session_add(s, "spreadsheet", "true", err);
    return st == GF_OK && s->no_defuse ? gf_session_add(s, "no-defuse", "true", err) : st;
}

static const gf_own_option export_options[] = {
    {"o", "FILE", "write there: by its name .csv, .json, else JSON Lines", GF_OPTION_OUT},
    {"force", NULL, "replace that file", GF_OPTION_FORCE}};
static const gf_other_display export_others[] = {{"csv", {.page = "csv"}}};

static const gf_command export_command = {
    .name = "table export",
    .examples = "    grouperfish table export users -o users.jsonl\n"
                "    grouperfish table export users --family info -o users.csv\n",
    .notes =
        "All rows of one state of the table. JSON Lines have everything but older versions and\n"
        "timestamps; CSV has the columns that the schema declares.\n",
    GF_WORDS(rows_words),
    GF_OPTIONS(export_options),
    .display = {GF_COLUMNS(row_columns), .nothing = "no rows"},
    GF_OTHERS(export_others),
    .streams_jsonl = true,
    .prepare = prepare_export,
    .answers = true,
};

/* ---- all of them ----------------------------------------------------------------------------- */

const gf_commands gf_commands_tables = {
    "Tables",
    GF_LIST(&create_command, &list_command, &describe_command, &alter_command, &drop_command,
            &put_command, &get_command, &scan_command, &delete_command, &incr_command,
            &check_and_put_command, &batch_command, &import_command, &export_command)};
