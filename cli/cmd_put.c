#include "cli/session.h"

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
    return gf_files_open(s->words, s->n_words, &s->files, err);
}

/* "refused      3  no_text 2, bad_type 1" */
static void show_reasons(gf_session *s, gf_json_value row)
{
    gf_json_value reasons, n;
    gf_slice name;
    if (gf_member_number(row, "refused") + gf_member_number(row, "skipped") == 0) return;
    if (!gf_json_member(row, "reasons", &reasons)) return;
    gf_json_iterator it = gf_json_items(reasons);
    fputs("reasons    ", s->out);
    for (bool first = true; gf_json_next(&it, &name, &n); first = false)
        fprintf(s->out, "%s%.*s %.0f", first ? "  " : ", ", GF_SLICE_ARG(name), gf_json_number(n));
    fputc('\n', s->out);
}

static void show(gf_session *s, gf_json_value row)
{
    static const char *const keys[] = {"read", "new", "changed", "unchanged", "skipped", "refused"};
    gf_slice collection = gf_member_text(row, "collection");
    bool pattern = collection.len && memchr(collection.ptr, '{', collection.len);
    for (size_t i = 0; i < GF_COUNT(keys); i++) {
        gf_buffer n = {0};
        gf_buffer_count(&n, (uint64_t)gf_member_number(row, keys[i]));
        fprintf(s->out, "%-10s %10s\n", keys[i], gf_buffer_cstr(&n));
        gf_buffer_release(&n);
    }
    show_reasons(s, row);
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
static const gf_own_option options[] = {
    {"rejects", "FILE", "write refused records there, as they were"},
    {"force", NULL, "replace that file"},
    {"progress", "auto|none|jsonl", "what standard error tells meanwhile (auto)"}};
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
    .options = options,
    .n_options = GF_COUNT(options),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
    .others = others,
    .n_others = GF_COUNT(others),
    .prepare = prepare,
    .answers = true,
};
