#include "cli/session.h"

static gf_status prepare(gf_session *s, gf_error *err)
{
    if (!s->file) return GF_OK;
    if (s->out_path)
        return gf_fail(err, GF_EINVAL, "-o is for rows; --matrix FILE.npz names its own file");
    return gf_out_file_open(&s->bytes_file, s->file, s->force, err);
}

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_own_option options[] = {
    {"o", "FILE", "write there: by its name .csv, .json, else JSON Lines"},
    {"matrix", "FILE.npz", "rows, terms, centroids and labels, as numpy and scipy load them"},
    {"force", NULL, "replace that file"}};
static const gf_show_column columns[] = {{"id", "id", GF_COLUMN_TEXT},
                                         {"cluster", "cluster", GF_COLUMN_ID},
                                         {"label", "label", GF_COLUMN_TEXT},
                                         {"score", "score", GF_COLUMN_SCORE},
                                         {"runner_up", "next", GF_COLUMN_ID},
                                         {"runner_up_label", NULL, GF_COLUMN_TEXT},
                                         {"runner_up_score", NULL, GF_COLUMN_SCORE},
                                         {"margin", "margin", GF_COLUMN_SCORE},
                                         {"replaced", NULL, GF_COLUMN_RAW},
                                         {"language", NULL, GF_COLUMN_TEXT},
                                         {"time", "time", GF_COLUMN_RAW},
                                         {"lang", NULL, GF_COLUMN_TEXT},
                                         {"text", "text", GF_COLUMN_TEXT},
                                         {"fields", NULL, GF_COLUMN_RAW}};

static const gf_show_column document_columns[] = {{"id", "id", GF_COLUMN_TEXT},
                                                  {"time", "time", GF_COLUMN_RAW},
                                                  {"lang", "lang", GF_COLUMN_TEXT},
                                                  {"text", "text", GF_COLUMN_TEXT}};

static void show_matrix(gf_session *s, gf_json_value row)
{
    fprintf(s->out, "%s: ", s->file);
    gf_print_count(s->out, gf_member_number(row, "rows"), "row");
    fputs(", ", s->out);
    gf_print_count(s->out, gf_member_number(row, "columns"), "column");
    fprintf(s->out, ", %.0f entries, ", gf_member_number(row, "entries"));
    gf_print_count(s->out, gf_member_number(row, "clusters"), "cluster");
    fputc('\n', s->out);
}

static const gf_show_column matrix_columns[] = {
    {"collection", NULL, GF_COLUMN_TEXT}, {"build", NULL, GF_COLUMN_ID},
    {"rows", NULL, GF_COLUMN_COUNT},      {"columns", NULL, GF_COLUMN_COUNT},
    {"entries", NULL, GF_COLUMN_COUNT},   {"clusters", NULL, GF_COLUMN_COUNT},
    {"bytes", NULL, GF_COLUMN_COUNT}};
static const gf_other_display others[] = {
    {"documents", {GF_COLUMNS(document_columns), .spread = true}},
    {"matrix", {GF_COLUMNS(matrix_columns), .single = true, .show = show_matrix}}};

const gf_command gf_command_export = {
    .name = "export",
    .examples =
        "    grouperfish export feedback -o clusters.csv\n"
        "    grouperfish export feedback --with-text --format jsonl | jq .label\n"
        "    grouperfish export feedback --min-score 0.2 -o sure.csv\n"
        "    grouperfish export feedback --documents -o feedback.jsonl\n"
        "    grouperfish export feedback --matrix feedback.npz\n"
        "    grouperfish export tweets -o tweets.geojson       clusters on a map\n"
        "    grouperfish export 'feedback-*' -o all.jsonl      each row with its collection\n",
    .notes =
        "Rows are streamed, in the order of ids: JSON Lines unless --format or the file's "
        "name says\n"
        "otherwise. The file is whole or not there. put reads what --documents gives (as JSON\n"
        "Lines) back as it was; as CSV it has a column for each field of any document, and what "
        "is\n"
        "no text comes back as text. What is in an .npz file: docs/formats.md.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = options,
    .n_options = GF_COUNT(options),
    .display = {GF_COLUMNS(columns)},
    .others = others,
    .n_others = GF_COUNT(others),
    .streams_jsonl = true,
    .prepare = prepare,
    .answers = true,
};
