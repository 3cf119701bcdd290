#include "cli/session.h"

static gf_status prepare(gf_session *s, gf_error *err)
{
    return s->file ? gf_files_open(&s->file, 1, &s->files, err) : GF_OK;
}

static void end(gf_session *s)
{
    gf_slice collection = gf_session_argument(s, "collection");
    if (collection.len == 0 || s->call.outcome != GF_DONE) return;
    if (gf_session_argument(s, "dry-run").len) return;
    fputs("to read them:\n", s->out);
    gf_session_suggest(s, "clusters", collection);
}

static const gf_positional words[] = {
    {.name = "COLLECTION", .argument = "collection", .optional = true}};
static const gf_own_option options[] = {
    {"matrix", "FILE.npz", "cluster these rows (of numpy or scipy) instead of the texts'"},
    {"progress", "auto|none|jsonl", "what standard error tells meanwhile (auto)"}};
static const gf_show_column columns[] = {{"collection", "collection", GF_COLUMN_TEXT},
                                         {"configuration", "configuration", GF_COLUMN_TEXT},
                                         {"outcome", "outcome", GF_COLUMN_WORD},
                                         {"documents", "documents", GF_COLUMN_COUNT},
                                         {"without_terms", "wordless", GF_COLUMN_RARE},
                                         {"k", "clusters", GF_COLUMN_COUNT},
                                         {"seconds", "took", GF_COLUMN_SECONDS},
                                         {"objective", "objective", GF_COLUMN_SCORE},
                                         {"build", "build", GF_COLUMN_ID},
                                         {"error", "error", GF_COLUMN_PROSE}};
static const gf_show_column step_columns[] = {{"configuration", "configuration", GF_COLUMN_TEXT},
                                              {"k", "clusters", GF_COLUMN_COUNT},
                                              {"separation", "separation", GF_COLUMN_SCORE},
                                              {"chosen", "chosen", GF_COLUMN_MARK}};
static const gf_show_column memory_columns[] = {
    {"collection", "collection", GF_COLUMN_TEXT},
    {"configuration", "configuration", GF_COLUMN_TEXT},
    {"outcome", "outcome", GF_COLUMN_WORD},
    {"memory", "memory", GF_COLUMN_BYTES},
    {"least_memory", "least", GF_COLUMN_BYTES},
    {"expected_documents", "documents", GF_COLUMN_COUNT},
    {"expected_k", "clusters", GF_COLUMN_COUNT},
    {"expected_terms", "terms", GF_COLUMN_COUNT},
    {"expected_entries", "entries", GF_COLUMN_COUNT},
    {"memory_rows", "rows", GF_COLUMN_BYTES},
    {"memory_points", "points", GF_COLUMN_BYTES},
    {"memory_centres", "centres", GF_COLUMN_BYTES},
    {"memory_naming", "naming", GF_COLUMN_BYTES},
    {"memory_index", "index", GF_COLUMN_BYTES},
    {"error", "error", GF_COLUMN_PROSE}};
static const gf_other_display others[] = {
    {"dry-run", {GF_COLUMNS(memory_columns), .nothing = "no collections"}},
    {"explain-k", {GF_COLUMNS(step_columns), .nothing = "no document has a term"}}};

const gf_command gf_command_rebuild = {
    .name = "rebuild",
    .examples = "    grouperfish rebuild feedback\n"
                "    grouperfish rebuild feedback --config fine --force\n"
                "    grouperfish rebuild 'feedback-*'\n"
                "    grouperfish rebuild --all\n"
                "    grouperfish rebuild feedback --explain-k\n"
                "    grouperfish rebuild feedback --dry-run --force\n"
                "    grouperfish rebuild feedback --memory 500M\n"
                "    grouperfish rebuild feedback --config vectors --matrix embeddings.npz\n",
    .notes =
        "A configuration is skipped where neither its settings nor the documents have changed "
        "since\n"
        "its last build. Until the new build is whole the old one is served; a rebuild that is\n"
        "stopped or fails changes nothing. --explain-k builds nothing either: for each number of\n"
        "clusters it shows how well they would be separated, and which number k=auto chooses.\n"
        "--dry-run tells how much memory a rebuild would take, and the least that --memory may "
        "be.\n"
        "--memory holds it to less: rows that are more lie in a file then, and are clustered by\n"
        "mini-batches, nearly as well.\n"
        "Labels and terms come from the texts, whatever rows are clustered; what may be in an "
        ".npz\n"
        "file: docs/formats.md.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = options,
    .n_options = GF_COUNT(options),
    .display = {GF_COLUMNS(columns), .nothing = "no collections", .end = end},
    .others = others,
    .n_others = GF_COUNT(others),
    .prepare = prepare,
    .answers = true,
};
