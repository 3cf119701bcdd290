#include "cli/session.h"

static gf_status prepare(gf_session *s, gf_error *err)
{
    return gf_files_open(s->words, s->n_words, &s->files, err);
}

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
    static const char *const keys[][2] = {
        {"read", "read"},           {"new", "new"},         {"with place", "with_place"},
        {"unchanged", "unchanged"}, {"skipped", "skipped"}, {"refused", "refused"},
        {"in all", "tweets"}};
    for (size_t i = 0; i < GF_COUNT(keys); i++) {
        gf_buffer n = {0};
        gf_buffer_count(&n, (uint64_t)gf_member_number(row, keys[i][1]));
        fprintf(s->out, "%-10s %10s\n", keys[i][0], gf_buffer_cstr(&n));
        gf_buffer_release(&n);
    }
    show_reasons(s, row);
}

static const gf_positional words[] = {{.name = "FILE", .repeats = true}};
static const gf_own_option options[] = {
    {"rejects", "FILE", "write refused records there, as they were"},
    {"force", NULL, "replace that file"},
    {"progress", "auto|none|jsonl", "what standard error tells meanwhile (auto)"}};
static const gf_show_column columns[] = {
    {"hash", NULL, GF_COLUMN_TEXT},       {"read", NULL, GF_COLUMN_COUNT},
    {"new", NULL, GF_COLUMN_COUNT},       {"changed", NULL, GF_COLUMN_COUNT},
    {"unchanged", NULL, GF_COLUMN_COUNT}, {"stored", NULL, GF_COLUMN_COUNT},
    {"skipped", NULL, GF_COLUMN_COUNT},   {"refused", NULL, GF_COLUMN_COUNT},
    {"reasons", NULL, GF_COLUMN_RAW},     {"with_place", NULL, GF_COLUMN_COUNT},
    {"tweets", NULL, GF_COLUMN_COUNT}};

const gf_command gf_command_tweets_import = {
    .name = "tweets import",
    .examples = "    grouperfish tweets import tweets.jsonl.gz\n"
                "    grouperfish tweets import 2016-05/ --rejects damaged.jsonl\n"
                "    curl -sN URL | grouperfish tweets import -\n"
                "    grouperfish tweets import tweets.jsonl --hash murmur3\n",
    .notes =
        "FILE has a tweet on each line, as JSON of Twitter's API 1.1; - is standard input; gzip,\n"
        "zstd, xz, tar and zip are read as they are. What a stream brings is on disk about half a\n"
        "second later. A tweet that is there already, byte for byte, changes nothing: an import\n"
        "that was cut short goes on when it is run again.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = options,
    .n_options = GF_COUNT(options),
    .display = {GF_COLUMNS(columns), .single = true, .show = show},
    .prepare = prepare,
};
