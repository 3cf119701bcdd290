#include "cli/session.h"

static gf_status prepare(gf_session *s, gf_error *err)
{
    gf_status st = gf_files_open(s->words, s->n_words, &s->files, err);
    return st;
}

static void show_count(gf_session *s, const char *name, gf_json_value row, const char *key)
{
    gf_buffer n = {0};
    gf_buffer_count(&n, (uint64_t)gf_row_number(row, key));
    fprintf(s->out, "%-10s %9s\n", name, gf_buffer_cstr(&n));
    gf_buffer_release(&n);
}

/* "refused            3   no_text 2, bad_type 1" */
static void show_reasons(gf_session *s, gf_json_value row)
{
    gf_json_value reasons, n;
    gf_slice name;
    if (!gf_json_member(row, "reasons", &reasons)) return;
    gf_json_iterator it = gf_json_items(reasons);
    for (bool first = true; gf_json_next(&it, &name, &n); first = false)
        fprintf(s->out, "%s%.*s %.0f", first ? "reasons:   " : ", ", GF_SLICE_ARG(name),
                gf_json_number(n));
    if (gf_row_number(row, "refused") + gf_row_number(row, "skipped") > 0) fputc('\n', s->out);
}

static void show_remarks(gf_session *s, gf_json_value row)
{
    double hashed = gf_row_number(row, "hashed_ids"), bytes = gf_row_number(row, "replaced_bytes");
    double made = gf_row_number(row, "collections_made");
    if (hashed > 0)
        fprintf(s->out, "%.0f records have no id; the hash of each is its id\n", hashed);
    if (bytes > 0)
        fprintf(s->out, "%.0f pieces of text were not valid UTF-8 and became U+FFFD\n", bytes);
    if (made > 1) fprintf(s->out, "%.0f collections were made\n", made);
}

static void show(gf_session *s, gf_json_value row)
{
    static const char *const keys[] = {"read", "new", "changed", "unchanged", "skipped", "refused"};
    for (size_t i = 0; i < GF_COUNT(keys); i++)
        show_count(s, keys[i], row, keys[i]);
    show_reasons(s, row);
    show_remarks(s, row);
    if (gf_row_number(row, "refused") > 0 && !s->rejects)
        fprintf(s->out, "--rejects FILE keeps what is refused\n");
}

static const gf_positional positionals[] = {{"COLLECTION", "collection", false},
                                            {"FILE...", NULL, false}};
static const gf_own_option options[] = {
    {"rejects", "FILE", "write refused records there, as they were"},
    {"progress", "HOW", "auto, none or jsonl (auto)"}};
static const gf_show_column columns[] = {
    {"collection", NULL, GF_COLUMN_TEXT}, {"read", NULL, GF_COLUMN_COUNT},
    {"new", NULL, GF_COLUMN_COUNT},       {"changed", NULL, GF_COLUMN_COUNT},
    {"unchanged", NULL, GF_COLUMN_COUNT}, {"stored", NULL, GF_COLUMN_COUNT},
    {"skipped", NULL, GF_COLUMN_COUNT},   {"refused", NULL, GF_COLUMN_COUNT},
    {"reasons", NULL, GF_COLUMN_RAW}};

const gf_command gf_command_put = {
    .name = "put",
    .operation = "put",
    .summary = "Put documents into a collection",
    .examples = "    grouperfish put feedback feedback.jsonl.gz\n"
                "    grouperfish put tweets stream.jsonl --id id_str --time created_at\n"
                "    grouperfish put notes ./texts/            every file is a document\n"
                "    curl -s URL | grouperfish put news - --from csv --text title,body\n"
                "    grouperfish put '{type}-{product}' input.tsv --from input-tsv\n",
    .notes =
        "FILE is JSON Lines, a JSON array, CSV or TSV with a header, a folder of texts, or - for\n"
        "standard input; gzip, zstd, xz, tar and zip are read as they are. The store and the\n"
        "collection are made where they are missing. A record without an id gets the hash of its\n"
        "content. The same file put again changes nothing.\n",
    .positionals = positionals,
    .n_positionals = GF_COUNT(positionals),
    .options = options,
    .n_options = GF_COUNT(options),
    .columns = columns,
    .n_columns = GF_COUNT(columns),
    .single = true,
    .prepare = prepare,
    .show = show,
};
