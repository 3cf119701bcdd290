#include "cli/commands/import_files.h"

#include <string.h>

static gf_status prepare(gf_session *s, gf_error *err)
{
    gf_slice from = gf_session_argument(s, "from");
    bool stored =
        gf_slice_equal(from, GF_SLICE("tweets")) || gf_slice_equal(from, GF_SLICE("papers"));
    if (stored && s->n_words)
        return gf_fail(err, GF_EINVAL, "from: %.*s are those of the store, and no FILE",
                       GF_SLICE_ARG(from));
    if (stored) return GF_OK;
    if (s->n_words == 0) return gf_fail(err, GF_EINVAL, "FILE is missing");
    return gf_import_prepare(s, err);
}

static void show(gf_session *s, gf_json_value row)
{
    static const gf_import_count counts[] = {{"read", "read"},       {"new", "new"},
                                             {"changed", "changed"}, {"unchanged", "unchanged"},
                                             {"skipped", "skipped"}, {"refused", "refused"}};
    gf_slice collection = gf_member_text(row, "collection");
    bool pattern = collection.len && memchr(collection.ptr, '{', collection.len);
    gf_import_summary(s, row, counts, GF_COUNT(counts));
    if (gf_member_number(row, "collections_made") > 1) {
        gf_print_count(s->out, gf_member_number(row, "collections_made"), "collection");
        fputs(" made\n", s->out);
    }
    if (gf_member_number(row, "stored") == 0) return;
    fputs("to cluster them:\n", s->out);
    gf_session_suggest(s, pattern ? "rebuild --all" : "rebuild",
                       pattern ? (gf_slice){0} : collection);
}

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"},
                                      {.name = "FILE", .optional = true, .repeats = true}};
static const gf_show_column columns[] = {
    {"collection", NULL, GF_COLUMN_TEXT}, {"read", NULL, GF_COLUMN_COUNT},
    {"new", NULL, GF_COLUMN_COUNT},       {"changed", NULL, GF_COLUMN_COUNT},
    {"unchanged", NULL, GF_COLUMN_COUNT}, {"stored", NULL, GF_COLUMN_COUNT},
    {"skipped", NULL, GF_COLUMN_COUNT},   {"refused", NULL, GF_COLUMN_COUNT},
    {"reasons", NULL, GF_COLUMN_RAW}};

static const gf_show_column result_columns[] = {{"line", "line", GF_COLUMN_ID},
                                                {"id", "id", GF_COLUMN_TEXT},
                                                {"result", "result", GF_COLUMN_TEXT},
                                                {"reason", "reason", GF_COLUMN_TEXT},
                                                {"message", "message", GF_COLUMN_PROSE}};
static const gf_other_display others[] = {{"results", {GF_COLUMNS(result_columns)}}};

const gf_command gf_command_put = {
    .name = "put",
    .examples = "    grouperfish put feedback feedback.jsonl.gz\n"
                "    grouperfish put tweets stream.jsonl --id id_str --time created_at\n"
                "    grouperfish put notes ./texts/            every file is a document\n"
                "    curl -s URL | grouperfish put news - --from csv --text title,body\n"
                "    grouperfish put rain --from tweets --where 'hashtags=#rain' --where lang=en\n"
                "    grouperfish put papers --from papers --text title,abstract\n"
                "    grouperfish put '{type}-{product}' input.tsv --from input-tsv \\\n"
                "        --also '{type}-{product}-{version}'\n",
    .notes =
        "FILE is JSON Lines, a JSON array, CSV or TSV with a header, a folder of texts, or - for\n"
        "standard input; gzip, zstd, xz, tar and zip are read as they are. The store and the\n"
        "collection are made where they are missing. A record without an id gets the hash of its\n"
        "content. The same file put again changes nothing.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = gf_import_options,
    .n_options = GF_IMPORT_OPTIONS,
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
    .others = others,
    .n_others = GF_COUNT(others),
    .prepare = prepare,
    .answers = true,
};
