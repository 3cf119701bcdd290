/* Documents: put, delete, doc, search, similar, duplicates. */
#include "cli/commands/deleted.h"
#include "cli/commands/import_files.h"
#include "cli/commands/put_source.h"

#include <errno.h>
#include <string.h>

/* ---- put ------------------------------------------------------------------------------------- */

enum { ID_SHOWN = 60 };

static gf_status prepare_put(gf_session *s, gf_error *err)
{
    gf_slice from = gf_session_argument(s, "from");
    bool stored =
        gf_slice_equal(from, GF_SLICE("tweets")) || gf_slice_equal(from, GF_SLICE("papers"));
    if (stored && s->n_words)
        return gf_fail(err, GF_EINVAL, "from: %.*s are those of the store, and no FILE",
                       GF_SLICE_ARG(from));
    if (stored) return GF_OK;
    if (gf_put_source_is_meant(s)) return gf_put_source_prepare(s, err);
    if (s->n_kept)
        return gf_fail(err, GF_EINVAL, "--%s goes with --from url or --from postgres",
                       s->kept_options[0].name);
    return gf_import_prepare(s, err);
}

/* "new joins 400 others; planned: lock (cluster 3)" */
static void show_joined(gf_session *s, gf_json_value row)
{
    static const gf_display_column others = {"size", NULL, GF_COLUMN_OTHERS};
    gf_buffer b = {0};
    if (gf_member_number(row, "cluster") == 0) return;
    gf_member_write(&b, row, &others, true);
    gf_text_print(s->out, gf_member_text(row, "id"), ID_SHOWN);
    fputs(gf_member_flag(row, "provisional") ? " joins " : " is with ", s->out);
    gf_text_print(s->out, gf_buffer_view(&b), 0);
    fputs(": ", s->out);
    gf_text_print(s->out, gf_member_text(row, "label"), 0);
    fprintf(s->out, " (cluster %.0f)\n", gf_member_number(row, "cluster"));
    gf_buffer_release(&b);
}

/* "new is nearly the same as 1042 (0.912)", "12 documents are nearly the same as others" */
static void show_near(gf_session *s, gf_json_value row)
{
    double n = gf_member_number(row, "near_duplicates");
    if (n == 0) return;
    if (gf_member_text(row, "near").len) {
        gf_text_print(s->out, gf_member_text(row, "id"), ID_SHOWN);
        fputs(" is nearly the same as ", s->out);
        gf_text_print(s->out, gf_member_text(row, "near"), ID_SHOWN);
        fprintf(s->out, " (%.3f)\n", gf_member_number(row, "near_score"));
        return;
    }
    gf_text_print_count(s->out, n, "document");
    fputs(n == 1 ? " is nearly the same as another\n" : " are nearly the same as others\n", s->out);
}

static void show_put(gf_session *s, gf_json_value row)
{
    static const gf_import_count counts[] = {{"read", "read"},       {"new", "new"},
                                             {"changed", "changed"}, {"unchanged", "unchanged"},
                                             {"skipped", "skipped"}, {"refused", "refused"}};
    gf_slice collection = gf_member_text(row, "collection");
    bool pattern = collection.len && memchr(collection.ptr, '{', collection.len);
    gf_import_summary(s, row, counts, GF_COUNT(counts));
    if (gf_member_number(row, "collections_made") > 1) {
        gf_text_print_count(s->out, gf_member_number(row, "collections_made"), "collection");
        fputs(" made\n", s->out);
    }
    show_joined(s, row);
    show_near(s, row);
    if (gf_member_number(row, "stored") == 0) return;
    fputs("to cluster them:\n", s->out);
    gf_session_suggest(s, pattern ? "rebuild --all" : "rebuild",
                       pattern ? (gf_slice){0} : collection);
}

static const gf_positional put_words[] = {
    {.name = "COLLECTION", .argument = "collection"},
    {.name = "FILE", .optional = true, .repeats = true, .path = true}};
static const gf_display_column put_columns[] = {
    {"collection", NULL, GF_COLUMN_TEXT}, {"read", NULL, GF_COLUMN_COUNT},
    {"new", NULL, GF_COLUMN_COUNT},       {"changed", NULL, GF_COLUMN_COUNT},
    {"unchanged", NULL, GF_COLUMN_COUNT}, {"stored", NULL, GF_COLUMN_COUNT},
    {"skipped", NULL, GF_COLUMN_COUNT},   {"refused", NULL, GF_COLUMN_COUNT},
    {"reasons", NULL, GF_COLUMN_RAW}};

static const gf_display_column result_columns[] = {
    {"line", "line", GF_COLUMN_ID},          {"id", "id", GF_COLUMN_TEXT},
    {"result", "result", GF_COLUMN_TEXT},    {"reason", "reason", GF_COLUMN_TEXT},
    {"message", "message", GF_COLUMN_PROSE}, {"label", "label", GF_COLUMN_TEXT},
    {"size", "joins", GF_COLUMN_OTHERS},     {"status", NULL, GF_COLUMN_TEXT},
    {"near", "near", GF_COLUMN_TEXT},        {"near_score", "cosine", GF_COLUMN_SCORE}};
static const gf_own_option put_options[] = {GF_IMPORT_OPTION_LIST, GF_PUT_SOURCE_OPTIONS};
static const gf_other_display put_others[] = {{"results", {GF_COLUMNS(result_columns)}}};

static const gf_command put_command = {
    .name = "put",
    .examples =
        "    grouperfish put feedback feedback.jsonl.gz\n"
        "    grouperfish put tweets stream.jsonl --id id_str --time created_at\n"
        "    grouperfish put notes ./texts/            every file is a document\n"
        "    curl -s URL | grouperfish put news - --from csv --text title,body\n"
        "    grouperfish put rain --from tweets --where 'hashtags=#rain' --where lang=en\n"
        "    grouperfish put papers --from papers --text title,abstract\n"
        "    grouperfish put tickets --from postgres postgres://me@db/desk \\\n"
        "        'SELECT id, body AS text, updated_at FROM tickets' --since-field updated_at\n"
        "    grouperfish put tickets --from url https://desk.example/api/tickets.json \\\n"
        "        --items '$.tickets' --next '$.next_page' --header-file token.txt\n"
        "    grouperfish put '{type}-{product}' input.tsv --from input-tsv \\\n"
        "        --also '{type}-{product}-{version}'\n",
    .notes =
        "FILE is JSON Lines, a JSON array, CSV or TSV with a header, an Excel workbook, a folder "
        "of\n"
        "texts, or - for standard input; gzip, zstd, xz, tar and zip are read as they are. The "
        "store and the\n"
        "collection are made where they are missing. A record without an id gets the hash of its\n"
        "content. The same file put again changes nothing. --from postgres ADDRESS QUERY and "
        "--from\n"
        "url ADDRESS keep how far they have read, and the same command goes on there; passwords\n"
        "are in ~/.pgpass or in the --header-file.\n",
    GF_WORDS(put_words),
    GF_OPTIONS(put_options),
    .display = {GF_COLUMNS(put_columns), .single = true, .show = show_put},
    GF_OTHERS(put_others),
    .prepare = prepare_put,
    .answers = true,
};

/* ---- delete ---------------------------------------------------------------------------------- */

static gf_status prepare_delete(gf_session *s, gf_error *err)
{
    bool ids = gf_session_has(s, "id");
    bool chooses = gf_session_has(s, "before") || gf_session_has(s, "where");
    if (s->file && ids) return gf_fail(err, GF_EINVAL, "give either ids or --ids FILE");
    if (s->file) return gf_import_prepare_option(s, err);
    if (ids || chooses || gf_session_has(s, "purge")) return GF_OK;
    return gf_fail(err, GF_EINVAL, "ID..., --ids FILE, --before or --where is missing");
}

static void show_delete(gf_session *s, gf_json_value row)
{
    gf_deleted_show(s, row, "document");
}

static const gf_positional delete_words[] = {
    {.name = "COLLECTION", .argument = "collection"},
    {.name = "ID", .argument = "id", .optional = true, .repeats = true}};
static const gf_own_option delete_options[] = {
    {"ids", "FILE", "ids to delete, one on each line; - reads them", GF_OPTION_FILE}};
static const gf_display_column delete_columns[] = {{"collection", NULL, GF_COLUMN_TEXT},
                                                   {"asked", NULL, GF_COLUMN_COUNT},
                                                   {"deleted", NULL, GF_COLUMN_COUNT},
                                                   {"absent", NULL, GF_COLUMN_COUNT},
                                                   {"would_delete", NULL, GF_COLUMN_COUNT}};

static const gf_command delete_command = {
    .name = "delete",
    .examples = "    grouperfish delete feedback 1042 1043\n"
                "    grouperfish delete feedback --ids gone.txt\n"
                "    grouperfish delete feedback --before 2025-01-01 --where type=spam --dry-run\n"
                "    grouperfish delete feedback --before 90d --purge\n",
    .notes = "Exit code 1 where one of them was not there. All of --before and --where must hold.\n"
             "--purge also rebuilds what had them and writes the store's files anew, so that "
             "nothing of\n"
             "them is left; without any ids it does so for what was deleted before.\n",
    GF_WORDS(delete_words),
    GF_OPTIONS(delete_options),
    .display = {GF_COLUMNS(delete_columns), .single = true, .show = show_delete},
    .prepare = prepare_delete,
    .answers = true,
};

/* ---- doc ------------------------------------------------------------------------------------- */

enum { TEXT_SHOWN = 600, FIELD_SHOWN = 200, TERM_SHOWN = 60 };

static void show_reason(gf_session *s, gf_json_value t)
{
    fprintf(s->out, "    %.3f  = %.3f x %.3f  ", gf_member_number(t, "part"),
            gf_member_number(t, "in_document"), gf_member_number(t, "in_cluster"));
    gf_text_print(s->out, gf_member_text(t, "term"), TERM_SHOWN);
    fputc('\n', s->out);
}

static void show_why(gf_session *s, gf_json_value m)
{
    gf_json_value why;
    if (!gf_json_member(m, "why", &why)) return;
    fputs("    part     document x cluster\n", s->out);
    gf_member_each(s, why, "terms", show_reason);
    fprintf(s->out, "    %.3f  by further terms\n    %.3f  in all\n", gf_member_number(why, "rest"),
            gf_member_number(why, "sum"));
}

/* "default: hockey (cluster 3), score 0.312; next nhl (9), margin 0.120" */
static void show_membership(gf_session *s, gf_json_value m)
{
    gf_text_print(s->out, gf_member_text(m, "configuration"), 0);
    fputs(": ", s->out);
    gf_text_print(s->out, gf_member_text(m, "label"), 0);
    if (gf_member_number(m, "cluster") > 0)
        fprintf(s->out, " (cluster %.0f), score %.3f", gf_member_number(m, "cluster"),
                gf_member_number(m, "score"));
    if (gf_member_number(m, "runner_up") > 0) {
        fputs("; next ", s->out);
        gf_text_print(s->out, gf_member_text(m, "runner_up_label"), 0);
        fprintf(s->out, " (%.0f), margin %.3f", gf_member_number(m, "runner_up"),
                gf_member_number(m, "margin"));
    }
    if (gf_member_text(m, "language").len) {
        fputs("; read as ", s->out);
        gf_text_print(s->out, gf_member_text(m, "language"), 0);
    }
    if (gf_member_flag(m, "provisional")) {
        fputs("; provisional: ", s->out);
        gf_text_print(s->out, gf_member_text(m, "note"), 0);
    } else if (gf_member_text(m, "note").len) {
        fputs(gf_member_number(m, "cluster") > 0 ? "; " : "", s->out);
        gf_text_print(s->out, gf_member_text(m, "note"), 0);
    }
    fputc('\n', s->out);
    show_why(s, m);
}

static void show_field(gf_session *s, gf_slice name, gf_json_value value)
{
    gf_text_print(s->out, name, FIELD_SHOWN);
    fputs(": ", s->out);
    gf_member_print_value(s->out, value, FIELD_SHOWN);
    fputc('\n', s->out);
}

static void show_fields(gf_session *s, gf_json_value row)
{
    gf_json_value v, field;
    gf_slice name;
    if (gf_json_member(row, "time", &v)) show_field(s, GF_SLICE("time"), v);
    if (gf_json_member(row, "lang", &v)) show_field(s, GF_SLICE("lang"), v);
    if (!gf_json_member(row, "fields", &v)) return;
    gf_json_iterator it = gf_json_items(v);
    while (gf_json_next(&it, &name, &field))
        show_field(s, name, field);
}

static void show_doc(gf_session *s, gf_json_value row)
{
    gf_json_value memberships, first;
    gf_slice name;
    gf_text_print_prose(s->out, gf_member_text(row, "text"), TEXT_SHOWN, s->output.width);
    fputc('\n', s->out);
    show_fields(s, row);
    gf_member_each(s, row, "memberships", show_membership);
    if (!gf_json_member(row, "memberships", &memberships)) return;
    gf_json_iterator it = gf_json_items(memberships);
    if (gf_json_next(&it, &name, &first)) return;
    fputs("in no cluster yet; to cluster the collection:\n", s->out);
    gf_session_suggest(s, "rebuild", gf_member_text(row, "collection"));
}

static const gf_positional doc_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                          {.name = "ID", .argument = "id"}};
static const gf_display_column doc_columns[] = {{"id", NULL, GF_COLUMN_TEXT},
                                                {"configuration", NULL, GF_COLUMN_TEXT},
                                                {"cluster", NULL, GF_COLUMN_ID},
                                                {"label", NULL, GF_COLUMN_TEXT},
                                                {"score", NULL, GF_COLUMN_SCORE},
                                                {"runner_up", NULL, GF_COLUMN_ID},
                                                {"runner_up_label", NULL, GF_COLUMN_TEXT},
                                                {"margin", NULL, GF_COLUMN_SCORE},
                                                {"provisional", NULL, GF_COLUMN_RAW},
                                                {"language", NULL, GF_COLUMN_TEXT}};

static const gf_command doc_command = {
    .name = "doc",
    .examples = "    grouperfish doc feedback 1042\n"
                "    grouperfish doc feedback 1042 --why\n",
    .notes =
        "--why lists the weighted terms that the document shares with its cluster, each with "
        "its part of\n"
        "the score; the parts and the rest sum to it. A document that came or was put anew after\n"
        "the build is shown where it would be: its place is provisional until a rebuild. csv and "
        "plain\n"
        "leave the terms out.\n",
    GF_WORDS(doc_words),
    .display = {GF_COLUMNS(doc_columns), .single = true, .each = "memberships", .show = show_doc},
};

/* ---- search ---------------------------------------------------------------------------------- */

static const gf_positional search_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                             {.name = "QUERY", .argument = "query"}};
static const gf_display_column hit_columns[] = {
    {"id", "id", GF_COLUMN_TEXT},         {"score", "score", GF_COLUMN_SCORE},
    {"cluster", "cluster", GF_COLUMN_ID}, {"label", "label", GF_COLUMN_TEXT},
    {"provisional", NULL, GF_COLUMN_RAW}, {"time", "time", GF_COLUMN_RAW},
    {"snippet", "text", GF_COLUMN_TEXT}};

static const gf_command search_command = {
    .name = "search",
    .examples =
        "    grouperfish search feedback 'crash startup'\n"
        "    grouperfish search feedback '\"memory leak\" -linux conn*' --limit 50\n"
        "    grouperfish search feedback crash --cluster 17 --since 30d --where os=windows\n"
        "    grouperfish search 'feedback-*' crash       each row with its collection\n",
    .notes =
        "QUERY is words, of which a document has any; \"phrases\", which it has all; word* for\n"
        "all words that start so; -word or -\"phrase\" for what it must not have. A query that\n"
        "begins with - goes behind --. Words are analysed as the texts are, so crash finds\n"
        "crashes. Documents are found as soon as they were put, by falling BM25 score.\n",
    GF_WORDS(search_words),
    .display = {GF_COLUMNS(hit_columns), .nothing = "nothing found"},
};

/* ---- similar --------------------------------------------------------------------------------- */

enum { MOST_TEXT = 16 << 20 /* bytes */ };

static gf_status read_all(FILE *in, const char *name, gf_buffer *out, gf_error *err)
{
    enum { STEP = 1 << 16 };
    size_t n = 1;
    while (n > 0 && out->len <= MOST_TEXT) {
        char *to = gf_buffer_reserve(out, STEP);
        if (!to) return gf_buffer_check(out, err);
        n = fread(to, 1, STEP, in);
        out->len += n;
    }
    if (ferror(in)) return gf_fail(err, GF_EIO, "%s: %s", name, strerror(errno));
    if (out->len > MOST_TEXT) return gf_fail(err, GF_EINVAL, "%s: more than 16 MB of text", name);
    if (out->len == 0) return gf_fail(err, GF_EINVAL, "%s: there is no text in it", name);
    if (memchr(out->ptr, 0, out->len))
        return gf_fail(err, GF_EINVAL, "%s: a text has no NUL in it", name);
    return GF_OK;
}

/* The text of --text, which the operation takes as it is. */
static gf_status prepare_similar(gf_session *s, gf_error *err)
{
    if (!s->file) return GF_OK;
    bool standard = strcmp(s->file, "-") == 0;
    FILE *in = standard ? stdin : fopen(s->file, "rb");
    if (!in) {
        gf_status why = errno == ENOENT ? GF_ENOTFOUND : GF_EIO;
        return gf_fail(err, why, "%s: %s", s->file, strerror(errno));
    }
    gf_status st = read_all(in, standard ? "standard input" : s->file, &s->text, err);
    if (!standard) fclose(in);
    return st == GF_OK ? gf_session_add(s, "text", gf_buffer_cstr(&s->text), err) : st;
}

static const gf_positional similar_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                              {.name = "ID", .argument = "id", .optional = true}};
static const gf_own_option similar_options[] = {
    {"text", "FILE", "instead the text in a file that is not stored; - reads it", GF_OPTION_FILE}};

static const gf_command similar_command = {
    .name = "similar",
    .examples = "    grouperfish similar feedback 1042\n"
                "    grouperfish similar feedback --text mail.txt --limit 3\n",
    .notes =
        "The score is the cosine of the documents' weighted terms, 0 to 1, in the space of the\n"
        "served build of the configuration default. Documents put since are compared too.\n",
    GF_WORDS(similar_words),
    GF_OPTIONS(similar_options),
    .display = {GF_COLUMNS(hit_columns), .nothing = "nothing similar"},
    .prepare = prepare_similar,
};

/* ---- duplicates ------------------------------------------------------------------------------ */

static const gf_positional duplicates_words[] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_display_column duplicate_columns[] = {
    {"group", "group", GF_COLUMN_ID},     {"size", "documents", GF_COLUMN_COUNT},
    {"id", "id", GF_COLUMN_TEXT},         {"score", "score", GF_COLUMN_SCORE},
    {"cluster", "cluster", GF_COLUMN_ID}, {"label", NULL, GF_COLUMN_TEXT},
    {"time", "time", GF_COLUMN_RAW},      {"snippet", "text", GF_COLUMN_TEXT}};

static const gf_command duplicates_command = {
    .name = "duplicates",
    .examples =
        "    grouperfish duplicates feedback\n"
        "    grouperfish duplicates feedback --min 0.95 --limit 0 --members 0 --format jsonl\n"
        "    grouperfish duplicates feedback --new       what came since the build\n",
    .notes =
        "A group is its earliest document, the representative, and those whose weighted terms\n"
        "have a cosine of at least --min with it, in the space of the served build of the\n"
        "configuration default. Each document is in one group, that of the nearest\n"
        "representative before it. Documents put since are compared too. Words that the build\n"
        "leaves out (min_df: rare ones) count for nothing, so short texts may be as near as\n"
        "copies and say something else: look before you delete.\n",
    GF_WORDS(duplicates_words),
    .display = {GF_COLUMNS(duplicate_columns), .nothing = "no two documents are as near"},
};

/* ---- all of them ----------------------------------------------------------------------------- */

const gf_commands gf_commands_documents = {
    "Documents and collections", GF_LIST(&put_command, &delete_command, &doc_command,
                                         &search_command, &similar_command, &duplicates_command)};
