/* Clusterings: rebuilding, reading, comparing and naming them, and the builds that are kept. */
#include "cli/commands/clusterings.h"

#include "cli/commands/import_files.h"

#include "cli/terminal/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- rebuild --------------------------------------------------------------------------------- */

static void end_rebuild(gf_session *s)
{
    gf_slice collection = gf_session_argument(s, "collection");
    if (collection.len == 0 || s->call.outcome != GF_OUTCOME_DONE) return;
    if (gf_session_has(s, "dry-run")) return;
    fputs("to read them:\n", s->out);
    gf_slice within = gf_session_argument(s, "within"), name = gf_session_argument(s, "config");
    if (!within.len && (!name.len || gf_slice_equal(name, GF_SLICE("default")))) {
        gf_session_suggest(s, "clusters", collection);
        return;
    }
    /* The name that the row above shows, too. */
    gf_buffer command = {0};
    gf_buffer_str(&command, "clusters --config ");
    if (name.len) {
        gf_buffer_slice(&command, name);
    } else {
        size_t at = within.len;
        while (at > 0 && within.ptr[at - 1] != ':')
            at--;
        gf_buffer_slice(&command, at ? gf_slice_of(within.ptr, at - 1) : GF_SLICE("default"));
        gf_buffer_format(&command, "-%.*s", GF_SLICE_ARG(gf_slice_skip(within, at)));
    }
    gf_session_suggest(s, gf_buffer_cstr(&command), collection);
    gf_buffer_release(&command);
}

static const gf_positional rebuild_words[] = {
    {.name = "COLLECTION", .argument = "collection", .optional = true}};
static const gf_own_option rebuild_options[] = {
    {"matrix", "FILE.npz", "cluster these rows (of numpy or scipy) instead of the texts'",
     GF_OPTION_FILE},
    {"progress", "auto|none|jsonl", "what standard error tells meanwhile (auto)",
     GF_OPTION_PROGRESS}};
static const gf_display_column rebuild_columns[] = {
    {"collection", "collection", GF_COLUMN_TEXT},
    {"configuration", "configuration", GF_COLUMN_TEXT},
    {"outcome", "outcome", GF_COLUMN_WORD},
    {"documents", "documents", GF_COLUMN_COUNT},
    {"without_terms", "wordless", GF_COLUMN_RARE},
    {"k", "clusters", GF_COLUMN_COUNT},
    {"seconds", "took", GF_COLUMN_SECONDS},
    {"objective", "objective", GF_COLUMN_SCORE},
    {"build", "build", GF_COLUMN_ID},
    {"error", "error", GF_COLUMN_PROSE},
    {"unplaced", "unplaced", GF_COLUMN_RARE}};
static const gf_display_column step_columns[] = {{"configuration", "configuration", GF_COLUMN_TEXT},
                                                 {"k", "clusters", GF_COLUMN_COUNT},
                                                 {"separation", "separation", GF_COLUMN_SCORE},
                                                 {"worth", "worth", GF_COLUMN_SCORE},
                                                 {"plateau", "as good", GF_COLUMN_MARK},
                                                 {"chosen", "chosen", GF_COLUMN_MARK},
                                                 {"why", "because", GF_COLUMN_PROSE}};
static const gf_display_column memory_columns[] = {
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
    {"memory_rank", "a rank", GF_COLUMN_BYTES},
    {"memory_first_rank", "first rank", GF_COLUMN_BYTES},
    {"network_rows", "handed out", GF_COLUMN_BYTES},
    {"network_first_pass", "sent first", GF_COLUMN_BYTES},
    {"network_pass", "sent a pass", GF_COLUMN_BYTES},
    {"error", "error", GF_COLUMN_PROSE}};
static const gf_other_display rebuild_others[] = {
    {"dry-run", {GF_COLUMNS(memory_columns), .nothing = "no collections"}},
    {"explain-k", {GF_COLUMNS(step_columns), .nothing = "no document has a term"}}};

static const gf_command rebuild_command = {
    .name = "rebuild",
    .examples =
        "    grouperfish rebuild feedback\n"
        "    grouperfish rebuild feedback --config fine --force\n"
        "    grouperfish rebuild 'feedback-*'\n"
        "    grouperfish rebuild --all\n"
        "    grouperfish rebuild feedback --set k=20 --set ngrams=1-2   for once\n"
        "    grouperfish rebuild feedback --explain-k\n"
        "    grouperfish rebuild feedback --within 14 --k 8             what is in a cluster\n"
        "    grouperfish rebuild feedback --dry-run --force\n"
        "    grouperfish rebuild feedback --memory 500M\n"
        "    grouperfish rebuild feedback --hosts hosts.txt             by several machines\n"
        "    grouperfish rebuild feedback --config vectors --matrix embeddings.npz\n",
    .notes =
        "A configuration is skipped where neither its settings nor the documents have changed "
        "since\n"
        "its last build. Until the new build is whole the old one is served; a rebuild that is\n"
        "stopped or fails changes nothing. What --set says holds for the builds of this call "
        "alone:\n"
        "grouperfish builds shows it, the configuration stays as it is, and the next rebuild goes\n"
        "back to that. --explain-k builds nothing either: for each number of\n"
        "clusters it shows how well they would be separated, and which number k=auto chooses.\n"
        "--dry-run tells how much memory a rebuild would take, and the least that --memory may "
        "be.\n"
        "--memory holds it to less: rows that are more lie in a file then, and are clustered by\n"
        "mini-batches, nearly as well. With --ranks or --hosts several processes cluster them\n"
        "together, also on other machines, whose memory holds the rows then; the clusters do not\n"
        "depend on their number (docs/scale.md).\n"
        "Labels and terms come from the texts, whatever rows are clustered; what may be in an "
        ".npz\n"
        "file: docs/formats.md.\n",
    GF_WORDS(rebuild_words),
    GF_OPTIONS(rebuild_options),
    .display = {GF_COLUMNS(rebuild_columns), .nothing = "no collections", .end = end_rebuild},
    GF_OTHERS(rebuild_others),
    .prepare = gf_import_prepare_option,
    .answers = true,
};

/* ---- clusters -------------------------------------------------------------------------------- */

const gf_positional gf_collection_word[1] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_display_column clusters_columns[] = {
    {"cluster", "id", GF_COLUMN_ID},        {"label", "label", GF_COLUMN_TEXT},
    {"size", "documents", GF_COLUMN_COUNT}, {"share", "share", GF_COLUMN_SHARE},
    {"terms", "terms", GF_COLUMN_TERMS},    {"sentence", NULL, GF_COLUMN_TEXT},
    {"title", "title", GF_COLUMN_TEXT},     {"candidate", "new", GF_COLUMN_MARK}};
static const gf_display_column figures_columns[] = {{"cluster", "id", GF_COLUMN_ID},
                                                    {"label", "label", GF_COLUMN_TEXT},
                                                    {"size", "documents", GF_COLUMN_COUNT},
                                                    {"share", NULL, GF_COLUMN_SHARE},
                                                    {"clarity", "word", GF_COLUMN_WORD},
                                                    {"mean_score", "score", GF_COLUMN_SCORE},
                                                    {"mean_margin", "margin", GF_COLUMN_SCORE},
                                                    {"weak", "weak", GF_COLUMN_SHARE},
                                                    {"label_recall", "finds", GF_COLUMN_SHARE},
                                                    {"label_precision", "of it", GF_COLUMN_SHARE},
                                                    {"label_f1", NULL, GF_COLUMN_SCORE},
                                                    {"npmi", "npmi", GF_COLUMN_SCORE},
                                                    {"own_terms", "own terms", GF_COLUMN_SHARE},
                                                    {"nearest", "near", GF_COLUMN_ID},
                                                    {"nearest_label", NULL, GF_COLUMN_TEXT},
                                                    {"similarity", "similar", GF_COLUMN_SCORE},
                                                    {"terms", NULL, GF_COLUMN_TERMS}};
static const gf_display_column pending_columns[] = {
    {"id", "id", GF_COLUMN_TEXT},          {"cluster", "cluster", GF_COLUMN_ID},
    {"label", "label", GF_COLUMN_TEXT},    {"score", "score", GF_COLUMN_SCORE},
    {"runner_up", "next", GF_COLUMN_ID},   {"runner_up_label", NULL, GF_COLUMN_TEXT},
    {"margin", "margin", GF_COLUMN_SCORE}, {"replaced", NULL, GF_COLUMN_RAW},
    {"text", "text", GF_COLUMN_TEXT}};
static const gf_display_column trend_columns[] = {
    {"cluster", "id", GF_COLUMN_ID},
    {"label", "label", GF_COLUMN_TEXT},
    {"size", "documents", GF_COLUMN_COUNT},
    {"trend", "trend", GF_COLUMN_TEXT},
    {"change", NULL, GF_COLUMN_SCORE},
    {"z", "z", GF_COLUMN_SIGNED},
    {"recent", NULL, GF_COLUMN_COUNT},
    {"earlier", NULL, GF_COLUMN_COUNT},
    {"before", "before", GF_COLUMN_RARE},
    {"undated", "no time", GF_COLUMN_RARE},
    {"from", NULL, GF_COLUMN_TEXT},
    {"to", "up to", GF_COLUMN_TEXT},
    {"periods", "documents in each", GF_COLUMN_COUNTS}};

/* "  (3 clusters)  [g12]", or of a group of a level that is called by a phrase "  (3: goal, puck, NHL)  [g12]". */
static void show_parts(gf_session *s, gf_json_value row, double clusters)
{
    gf_json_value parts, part;
    gf_slice none, group = gf_member_text(row, "group");
    gf_buffer list = {0};
    if (gf_json_member(row, "parts", &parts)) {
        gf_json_iterator it = gf_json_items(parts);
        while (gf_json_next(&it, &none, &part)) {
            if (list.len) gf_buffer_str(&list, ", ");
            gf_text_fold(&list, gf_json_get_string(part));
        }
    }
    bool same = gf_slice_equal(gf_buffer_view(&list), gf_member_text(row, "label"));
    if (list.len && !same && gf_member_text(row, "label").len)
        fprintf(s->out, "  (%.0f: %s)", clusters, gf_buffer_cstr(&list));
    else
        fprintf(s->out, "  (%.0f clusters)", clusters);
    if (group.len) fprintf(s->out, "  [%.*s]", GF_SLICE_ARG(group));
    fputc('\n', s->out);
    gf_buffer_release(&list);
}

/* "   12,345      hockey  [17]": two columns to the right for each step down. */
static void show_node(gf_session *s, gf_json_value row)
{
    enum { SIZE = 10, DEEPEST = 1000 };
    gf_buffer size = {0}, label = {0};
    double cluster = gf_member_number(row, "cluster"), clusters = gf_member_number(row, "clusters");
    double depth = gf_member_number(row, "depth");
    int indent = 2 * (depth > 0 && depth < DEEPEST ? (int)depth : 0);
    gf_slice text = gf_member_text(row, "label");
    gf_buffer_count(&size, (uint64_t)gf_member_number(row, "size"));
    gf_text_fold(&label, text.len ? text : GF_SLICE("all"));
    fprintf(s->out, "%*s  %*s%s", SIZE, gf_buffer_cstr(&size), indent, "", gf_buffer_cstr(&label));
    if (cluster > 0)
        fprintf(s->out, "  [%.0f]\n", cluster);
    else
        show_parts(s, row, clusters);
    gf_buffer_release(&size);
    gf_buffer_release(&label);
}

/* ---- by a field ------------------------------------------------------------------------------ */

enum { FIELD_LABEL = 28, FIELD_LABEL_LEAST = 12, FIELD_SIZE = 9, FIELD_GAP = 2, FIELD_MOST = 16 };

/* A column of a value is as wide as its name, and a count with its mark. */
static int width_of_value(gf_slice name)
{
    int width = (int)gf_text_width(name) + 1;
    return width < FIELD_SIZE ? FIELD_SIZE : width > FIELD_MOST ? FIELD_MOST : width;
}

static int width_of_label(const gf_session *s)
{
    int width = (int)s->output.width;
    return !width || width > 3 * FIELD_LABEL ? FIELD_LABEL
           : width / 3 < FIELD_LABEL_LEAST   ? FIELD_LABEL_LEAST
                                             : width / 3;
}

/* A narrow terminal keeps its room for the values. */
static bool is_narrow(const gf_session *s)
{
    return s->output.width && s->output.width < 80;
}

/* The room behind the label and the counts that stand before a field's columns. */
static int room_for_columns(const gf_session *s, bool other)
{
    int counts = is_narrow(s) ? 1 : other ? 3 : 2;
    return (int)s->output.width - width_of_label(s) - counts * (FIELD_GAP + FIELD_SIZE);
}

/* Text to the left or, where width is less than 0, to the right. */
static void show_padded(gf_session *s, gf_slice text, int width)
{
    gf_buffer b = {0};
    unsigned room = (unsigned)abs(width);
    gf_text_fold(&b, text);
    gf_text_cut(&b, room);
    int pad = (int)(room - gf_text_width(gf_buffer_view(&b)));
    fprintf(s->out, "%*s%s%*s", width < 0 ? pad : 0, "", gf_buffer_cstr(&b), width < 0 ? 0 : pad,
            "");
    gf_buffer_release(&b);
}

static bool has_name(gf_json_value row, const char *key, gf_slice name)
{
    gf_json_value list, item;
    gf_slice none;
    if (!gf_json_member(row, key, &list)) return false;
    gf_json_iterator it = gf_json_items(list);
    while (gf_json_next(&it, &none, &item))
        if (gf_slice_equal(gf_json_get_string(item), name)) return true;
    return false;
}

/* "1,234+": more than elsewhere. */
static void show_count(gf_session *s, double count, const char *mark, int width)
{
    gf_buffer b = {0};
    gf_buffer_count(&b, (uint64_t)count);
    gf_buffer_str(&b, mark);
    fprintf(s->out, "%*s", FIELD_GAP, "");
    show_padded(s, gf_buffer_view(&b), -width);
    gf_buffer_release(&b);
}

/* The columns of a row's values, as many as fit: their names, or their counts. */
static void show_values(gf_session *s, gf_json_value row, bool names)
{
    gf_json_value counts, count;
    gf_slice name;
    int left = room_for_columns(s, true);
    if (!gf_json_member(row, "counts", &counts)) return;
    gf_json_iterator it = gf_json_items(counts);
    while (gf_json_next(&it, &name, &count)) {
        int width = width_of_value(name);
        left -= FIELD_GAP + width;
        if (s->output.width && left < 0) break;
        if (names) {
            fprintf(s->out, "%*s", FIELD_GAP, "");
            show_padded(s, name.len ? name : GF_SLICE("(empty)"), -width + 1);
            fputc(' ', s->out);
        } else {
            show_count(s, gf_json_number(count),
                       has_name(row, "more", name)   ? "+"
                       : has_name(row, "less", name) ? "-"
                                                     : " ",
                       width);
        }
    }
}

static const gf_display_column number_columns[] = {
    {"mean", "mean", GF_COLUMN_SCORE},   {"median", "median", GF_COLUMN_RAW},
    {"lower", "lower", GF_COLUMN_RAW},   {"upper", "upper", GF_COLUMN_RAW},
    {"least", "least", GF_COLUMN_RAW},   {"most", "most", GF_COLUMN_RAW},
    {"above", "above", GF_COLUMN_SHARE}, {"z", "z", GF_COLUMN_SIGNED},
    {"difference", "", GF_COLUMN_WORD}};

static void show_numbers(gf_session *s, gf_json_value row, bool names)
{
    gf_json_value numbers;
    gf_buffer b = {0};
    int left = room_for_columns(s, false);
    if (!gf_json_member(row, "numbers", &numbers)) return;
    for (size_t c = 0; c < GF_COUNT(number_columns); c++) {
        const gf_display_column *column = &number_columns[c];
        gf_buffer_reset(&b);
        if (names)
            gf_buffer_str(&b, column->header);
        else
            gf_member_write(&b, numbers, column, true);
        if (gf_slice_equal(gf_buffer_view(&b), GF_SLICE("same"))) gf_buffer_reset(&b);
        left -= FIELD_GAP + FIELD_SIZE;
        if (s->output.width && left < 0) break;
        if (b.len == 0 && c + 1 == GF_COUNT(number_columns)) break;
        fprintf(s->out, "%*s", FIELD_GAP, "");
        show_padded(s, gf_buffer_view(&b), -FIELD_SIZE);
    }
    gf_buffer_release(&b);
}

/* "(no room for: watch, radio)", where the terminal is too narrow for all columns. */
static void show_what_is_left_out(gf_session *s, gf_json_value row, bool of_numbers)
{
    const char *before = "(no room for: ";
    gf_json_value counts, count;
    gf_slice name;
    int left = room_for_columns(s, !of_numbers);
    if (!s->output.width) return;
    for (size_t c = 0; of_numbers && c < GF_COUNT(number_columns); c++) {
        left -= FIELD_GAP + FIELD_SIZE;
        if (left >= 0 || !*number_columns[c].header) continue;
        fprintf(s->out, "%s%s", before, number_columns[c].header);
        before = ", ";
    }
    if (!of_numbers && gf_json_member(row, "counts", &counts)) {
        gf_json_iterator it = gf_json_items(counts);
        while (gf_json_next(&it, &name, &count)) {
            left = left < 0 ? left : left - FIELD_GAP - width_of_value(name);
            if (left >= 0) continue;
            fputs(before, s->out);
            gf_text_print(s->out, name.len ? name : GF_SLICE("(empty)"), 0);
            before = ", ";
        }
    }
    if (*before == ',') fputs(")\n", s->out);
}

/* The row of all documents comes first; above it stand the names of the columns. */
static void show_field_row(gf_session *s, gf_json_value row)
{
    gf_json_value numbers;
    bool total = gf_member_flag(row, "total"),
         of_numbers = gf_json_member(row, "numbers", &numbers);
    gf_buffer b = {0};
    if (total) {
        if (gf_member_text(row, "period").len) {
            fputc('\n', s->out);
            gf_text_print(s->out, gf_member_text(row, "period"), 0);
            fputc('\n', s->out);
        }
        show_what_is_left_out(s, row, of_numbers);
        show_padded(s, GF_SLICE("label"), width_of_label(s));
        fprintf(s->out, "  %*s", FIELD_SIZE, "documents");
        if (!is_narrow(s)) fprintf(s->out, "  %*s", FIELD_SIZE, "missing");
        of_numbers ? show_numbers(s, row, true) : show_values(s, row, true);
        fputs(of_numbers || is_narrow(s) ? "\n" : "      other\n", s->out);
    }
    if (gf_member_number(row, "cluster") > 0)
        gf_buffer_format(&b, "%.0f ", gf_member_number(row, "cluster"));
    gf_buffer_slice(&b, gf_member_text(row, "label"));
    show_padded(s, gf_buffer_view(&b), width_of_label(s));
    show_count(s, gf_member_number(row, "size"), "", FIELD_SIZE);
    if (!is_narrow(s)) show_count(s, gf_member_number(row, "missing"), "", FIELD_SIZE);
    if (of_numbers) {
        show_numbers(s, row, false);
    } else {
        show_values(s, row, false);
        if (!is_narrow(s)) show_count(s, gf_member_number(row, "other"), "", FIELD_SIZE);
    }
    fputc('\n', s->out);
    gf_buffer_release(&b);
}

static const gf_display_column field_columns[] = {
    {"cluster", NULL, GF_COLUMN_ID},    {"label", NULL, GF_COLUMN_TEXT},
    {"period", NULL, GF_COLUMN_TEXT},   {"size", NULL, GF_COLUMN_COUNT},
    {"missing", NULL, GF_COLUMN_COUNT}, {"other", NULL, GF_COLUMN_COUNT},
    {"more", NULL, GF_COLUMN_RAW},      {"less", NULL, GF_COLUMN_RAW}};

static const gf_display_column tree_columns[] = {
    {"node", NULL, GF_COLUMN_ID},     {"parent", NULL, GF_COLUMN_ID},
    {"depth", NULL, GF_COLUMN_ID},    {"cluster", NULL, GF_COLUMN_ID},
    {"label", NULL, GF_COLUMN_TEXT},  {"size", NULL, GF_COLUMN_COUNT},
    {"clusters", NULL, GF_COLUMN_ID}, {"height", NULL, GF_COLUMN_SCORE},
    {"group", NULL, GF_COLUMN_TEXT}};
static const gf_display_column level_columns[] = {
    {"levels", NULL, GF_COLUMN_RAW},  {"node", NULL, GF_COLUMN_ID},
    {"parent", NULL, GF_COLUMN_ID},   {"depth", NULL, GF_COLUMN_ID},
    {"cluster", NULL, GF_COLUMN_ID},  {"label", NULL, GF_COLUMN_TEXT},
    {"size", NULL, GF_COLUMN_COUNT},  {"share", NULL, GF_COLUMN_SHARE},
    {"clusters", NULL, GF_COLUMN_ID}, {"parts", NULL, GF_COLUMN_RAW},
    {"group", NULL, GF_COLUMN_TEXT}};
static const gf_other_display clusters_others[] = {
    {"pending", {GF_COLUMNS(pending_columns), .nothing = "every document is in the build"}},
    {"by-field",
     {GF_COLUMNS(field_columns), .spread = true, .inner = "counts|numbers",
      .nothing = "no clusters: the build has no documents", .show = show_field_row}},
    {"by", {GF_COLUMNS(trend_columns), .nothing = "no clusters: the build has no documents"}},
    {"tree",
     {GF_COLUMNS(tree_columns), .nothing = "no clusters: the build has no documents",
      .show = show_node}},
    {"levels",
     {GF_COLUMNS(level_columns), .nothing = "no clusters: the build has no documents",
      .show = show_node}},
    {"figures",
     {GF_COLUMNS(figures_columns), .nothing = "no clusters: the build has no documents"}}};

static const gf_command clusters_command = {
    .name = "clusters",
    .examples = "    grouperfish clusters feedback\n"
                "    grouperfish clusters feedback --config fine --sort label\n"
                "    grouperfish clusters feedback --min-score 0.2\n"
                "    grouperfish clusters feedback --pending\n"
                "    grouperfish clusters feedback --by week\n"
                "    grouperfish clusters feedback --by-field product\n"
                "    grouperfish clusters feedback --by-field stars --by month --periods 3\n"
                "    grouperfish clusters feedback --tree --depth 2\n"
                "    grouperfish clusters feedback --levels 5,20\n"
                "    grouperfish clusters feedback --figures\n"
                "    grouperfish clusters feedback --format json\n"
                "    grouperfish clusters 'feedback-*'\n",
    .notes =
        "--min-score leaves out of the sizes what fits its cluster badly. --pending lists the\n"
        "documents that came or were put anew after the build, in the order of the puts, each\n"
        "with the cluster where it would be; they count in none until a rebuild. With --by,\n"
        "z compares each cluster's share of the last quarter of the periods with its share of "
        "those\n"
        "before: rising from 2 up, falling from -2 down. --by-field marks with + and - what is\n"
        "more and less in a cluster than elsewhere, beyond what chance does in so many\n"
        "comparisons. --figures has a word on each cluster (clear, fair or mixed) and what it\n"
        "comes from: docs/figures.md.\n",
    GF_WORDS(gf_collection_word),
    .display = {GF_COLUMNS(clusters_columns), .nothing = "no clusters: the build has no documents"},
    GF_OTHERS(clusters_others),
};

/* ---- cluster --------------------------------------------------------------------------------- */

static const gf_display_column cluster_document_columns[] = {{"score", "score", GF_COLUMN_SCORE},
                                                             {"copies", "alike", GF_COLUMN_RARE},
                                                             {"id", "id", GF_COLUMN_TEXT},
                                                             {"text", "text", GF_COLUMN_TEXT}};
static const gf_display document_display = {GF_COLUMNS(cluster_document_columns)};

/* One line, where they were asked for. */
static void show_figures_of(gf_session *s, gf_json_value row)
{
    static const gf_display_column columns[] = {{"mean_score", "score", GF_COLUMN_SCORE},
                                                {"mean_margin", "margin", GF_COLUMN_SCORE},
                                                {"weak", "weak", GF_COLUMN_SHARE},
                                                {"label_recall", "label finds", GF_COLUMN_SHARE},
                                                {"label_precision", "of it", GF_COLUMN_SHARE},
                                                {"npmi", "npmi", GF_COLUMN_SCORE}};
    gf_buffer b = {0};
    if (!gf_member_text(row, "clarity").len) return;
    gf_text_print(s->out, gf_member_text(row, "clarity"), 0);
    for (size_t i = 0; i < GF_COUNT(columns); i++) {
        gf_buffer_reset(&b);
        gf_member_write(&b, row, &columns[i], true);
        if (b.len) fprintf(s->out, ", %s %s", columns[i].header, gf_buffer_cstr(&b));
    }
    fputc('\n', s->out);
    gf_buffer_release(&b);
}

static const gf_display_column part_columns[] = {{"cluster", "cluster", GF_COLUMN_ID},
                                                 {"label", "label", GF_COLUMN_TEXT},
                                                 {"size", "documents", GF_COLUMN_COUNT}};
static const gf_display part_display = {GF_COLUMNS(part_columns)};

static void show_group(gf_session *s, gf_json_value row)
{
    gf_slice above = gf_member_text(row, "above");
    gf_text_print(s->out, gf_member_text(row, "label"), 0);
    fputs("  (group ", s->out);
    gf_text_print(s->out, gf_member_text(row, "group"), 0);
    if (above.len) fputs(" of ", s->out);
    if (above.len) gf_text_print(s->out, above, 0);
    fputs(", ", s->out);
    gf_text_print_count(s->out, gf_member_number(row, "size"), "document");
    fputs(")\n\n", s->out);
    gf_session_table(s, &part_display, row, "clusters");
    fputs("\n", s->out);
    gf_session_table(s, &document_display, row, "documents");
}

static void show_cluster(gf_session *s, gf_json_value row)
{
    static const gf_display_column terms = {"terms", "terms", GF_COLUMN_TERMS};
    gf_buffer b = {0};
    if (gf_member_text(row, "group").len) {
        show_group(s, row);
        return;
    }
    gf_text_print(s->out, gf_member_text(row, "label"), 0);
    fprintf(s->out, "  (cluster %.0f, ", gf_member_number(row, "cluster"));
    gf_text_print_count(s->out, gf_member_number(row, "size"), "document");
    fputs(gf_member_flag(row, "candidate") ? ", new since the build)\n" : ")\n", s->out);
    if (gf_member_text(row, "title").len) {
        gf_text_print(s->out, gf_member_text(row, "title"), 0);
        fputs("\n", s->out);
    }
    show_figures_of(s, row);
    gf_member_write(&b, row, &terms, true);
    gf_text_print(s->out, gf_buffer_view(&b), s->output.width);
    fputs("\n", s->out);
    if (gf_member_text(row, "sentence").len) {
        gf_text_print(s->out, gf_member_text(row, "sentence"), 0);
        fputs("\n", s->out);
    }
    fputs("\n", s->out);
    gf_buffer_release(&b);
    gf_session_table(s, &document_display, row, "documents");
}

static const gf_positional cluster_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                              {.name = "ID|label:TEXT|gID", .argument = "cluster"}};
static const gf_display_column cluster_columns[] = {
    {"cluster", NULL, GF_COLUMN_ID},   {"label", NULL, GF_COLUMN_TEXT},
    {"id", NULL, GF_COLUMN_TEXT},      {"score", NULL, GF_COLUMN_SCORE},
    {"runner_up", NULL, GF_COLUMN_ID}, {"margin", NULL, GF_COLUMN_SCORE},
    {"text", NULL, GF_COLUMN_TEXT},    {"terms", NULL, GF_COLUMN_TERMS},
    {"copies", NULL, GF_COLUMN_ID}};

static const gf_command cluster_command = {
    .name = "cluster",
    .examples = "    grouperfish cluster feedback 17\n"
                "    grouperfish cluster feedback label:crash --docs 50 --terms 30\n"
                "    grouperfish cluster feedback 17 --weakest 20\n"
                "    grouperfish cluster feedback 17 --figures\n"
                "    grouperfish cluster feedback g12            a group of clusters\n",
    .notes =
        "Groups are those that clusters shows with --levels and --tree; their ids last, too.\n",
    GF_WORDS(cluster_words),
    .display = {GF_COLUMNS(cluster_columns), .single = true, .each = "documents",
                .show = show_cluster},
};

/* ---- members --------------------------------------------------------------------------------- */

static void show_members(gf_session *s, gf_json_value row)
{
    gf_slice next = gf_member_text(row, "next");
    gf_session_table(s, &document_display, row, "documents");
    if (!next.len) return;
    fputs("\nmore: --cursor ", s->out);
    gf_text_print(s->out, next, 0);
    fputc('\n', s->out);
}

static const gf_command members_command = {
    .name = "members",
    .examples = "    grouperfish members feedback 17\n"
                "    grouperfish members feedback label:crash --limit 1000 --format json\n"
                "    grouperfish members feedback g12\n",
    .notes =
        "--different leaves out documents that are like one before them, and counts them.\n"
        "Pages belong together, whatever is published meanwhile. export streams all documents.\n",
    GF_WORDS(cluster_words),
    .display = {GF_COLUMNS(cluster_columns), .single = true, .each = "documents",
                .show = show_members},
};

/* ---- terms ----------------------------------------------------------------------------------- */

static const gf_positional terms_words[] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_display_column terms_columns[] = {{"term", "term", GF_COLUMN_TEXT},
                                                  {"surface", "as written", GF_COLUMN_TEXT},
                                                  {"documents", "documents", GF_COLUMN_COUNT}};

static const gf_command terms_command = {
    .name = "terms",
    .examples = "    grouperfish terms feedback --limit 50\n"
                "    grouperfish terms feedback --prefix crash\n"
                "    grouperfish terms feedback --config fine --format csv\n",
    .notes =
        "A term is a word as it is counted (its stem, or several with spaces between), with the\n"
        "number of documents that have it. min_df, max_df and ngrams decide which there are.\n",
    GF_WORDS(terms_words),
    .display = {GF_COLUMNS(terms_columns), .nothing = "no such term"},
};

/* ---- export ---------------------------------------------------------------------------------- */

static gf_status prepare_export(gf_session *s, gf_error *err)
{
    if (!s->file) return GF_OK;
    if (s->out_path)
        return gf_fail(err, GF_EINVAL, "-o is for rows; --matrix FILE.npz names its own file");
    return gf_out_file_open(&s->bytes_file, s->file, s->force, err);
}

static const gf_own_option export_options[] = {
    {"o", "FILE", "write there: by its name .csv, .json, else JSON Lines", GF_OPTION_OUT},
    {"matrix", "FILE.npz", "rows, terms, centroids and labels, as numpy and scipy load them",
     GF_OPTION_FILE},
    {"force", NULL, "replace that file", GF_OPTION_FORCE}};
static const gf_display_column export_columns[] = {{"id", "id", GF_COLUMN_TEXT},
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

static const gf_display_column export_map_columns[] = {{"id", "id", GF_COLUMN_TEXT},
                                                       {"x", "x", GF_COLUMN_SCORE},
                                                       {"y", "y", GF_COLUMN_SCORE},
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

static const gf_display_column export_document_columns[] = {{"id", "id", GF_COLUMN_TEXT},
                                                            {"time", "time", GF_COLUMN_RAW},
                                                            {"lang", "lang", GF_COLUMN_TEXT},
                                                            {"text", "text", GF_COLUMN_TEXT}};

static void show_matrix(gf_session *s, gf_json_value row)
{
    fprintf(s->out, "%s: ", s->file);
    gf_text_print_count(s->out, gf_member_number(row, "rows"), "row");
    fputs(", ", s->out);
    gf_text_print_count(s->out, gf_member_number(row, "columns"), "column");
    fprintf(s->out, ", %.0f entries, ", gf_member_number(row, "entries"));
    gf_text_print_count(s->out, gf_member_number(row, "clusters"), "cluster");
    fputc('\n', s->out);
}

static const gf_display_column matrix_columns[] = {
    {"collection", NULL, GF_COLUMN_TEXT}, {"build", NULL, GF_COLUMN_ID},
    {"rows", NULL, GF_COLUMN_COUNT},      {"columns", NULL, GF_COLUMN_COUNT},
    {"entries", NULL, GF_COLUMN_COUNT},   {"clusters", NULL, GF_COLUMN_COUNT},
    {"bytes", NULL, GF_COLUMN_COUNT}};
static const gf_other_display export_others[] = {
    {"map", {GF_COLUMNS(export_map_columns), .spread = true, .inner = "fields"}},
    {"documents", {GF_COLUMNS(export_document_columns), .spread = true}},
    {"matrix", {GF_COLUMNS(matrix_columns), .single = true, .show = show_matrix}}};

static const gf_command export_command = {
    .name = "export",
    .examples =
        "    grouperfish export feedback -o clusters.csv\n"
        "    grouperfish export feedback --with-text --format jsonl | jq .label\n"
        "    grouperfish export feedback --min-score 0.2 -o sure.csv\n"
        "    grouperfish export feedback --documents -o feedback.jsonl\n"
        "    grouperfish export feedback --matrix feedback.npz\n"
        "    grouperfish export feedback --map -o places.csv   with x and y, alike ones near\n"
        "    grouperfish export tweets -o tweets.geojson       clusters on a map\n"
        "    grouperfish export 'feedback-*' -o all.jsonl      each row with its collection\n",
    .notes =
        "Rows are streamed, in the order of ids: JSON Lines unless --format or the file's "
        "name says\n"
        "otherwise. The file is whole or not there. put reads what --documents gives (as JSON\n"
        "Lines) back as it was. As CSV there is a column for each field of any document "
        "(field:NAME\n"
        "where it is called as one of export's own), and what is no text comes back as text.\n"
        "--bom is for Excel and its like: CSV with a byte order mark, and a ' before cells that\n"
        "it would take for formulas (not with --no-defuse). --with-text -o all.csv --bom has "
        "all.\n"
        "Parquet and .xlsx are written by Python's package. What is in an .npz file: "
        "docs/formats.md.\n",
    GF_WORDS(gf_collection_word),
    GF_OPTIONS(export_options),
    .display = {GF_COLUMNS(export_columns), .spread = true, .inner = "fields"},
    GF_OTHERS(export_others),
    .streams_jsonl = true,
    .prepare = prepare_export,
    .answers = true,
};

/* ---- assign ---------------------------------------------------------------------------------- */

static const gf_positional assign_words[] = {
    {.name = "COLLECTION", .argument = "collection"},
    {.name = "FILE", .optional = true, .repeats = true, .path = true}};
static const gf_own_option assign_options[] = {
    {"matrix", "FILE.npz", "instead of records the rows of a matrix, for a build of such",
     GF_OPTION_FILE},
    {"rejects", "FILE", "write refused records there, as they were", GF_OPTION_REJECTS},
    {"force", NULL, "replace that file", GF_OPTION_FORCE},
    {"follow-links", NULL, "read also files out of a folder that links in it lead to",
     GF_OPTION_LINKS},
    {"progress", "auto|none|jsonl", "what standard error tells meanwhile (auto)",
     GF_OPTION_PROGRESS}};
static const gf_display_column assign_columns[] = {
    {"id", "id", GF_COLUMN_TEXT},          {"cluster", "cluster", GF_COLUMN_ID},
    {"label", "label", GF_COLUMN_TEXT},    {"score", "score", GF_COLUMN_SCORE},
    {"runner_up", "next", GF_COLUMN_ID},   {"runner_up_label", NULL, GF_COLUMN_TEXT},
    {"margin", "margin", GF_COLUMN_SCORE}, {"text", "text", GF_COLUMN_TEXT},
    {"size", "joins", GF_COLUMN_OTHERS},   {"status", NULL, GF_COLUMN_TEXT}};

static gf_status prepare_assign(gf_session *s, gf_error *err)
{
    if (s->file && s->n_words)
        return gf_fail(err, GF_EINVAL, "give either records or --matrix, not both");
    return s->file ? gf_import_prepare_option(s, err) : gf_import_prepare(s, err);
}

static const gf_command assign_command = {
    .name = "assign",
    .examples = "    grouperfish assign feedback new.jsonl\n"
                "    curl -s URL | grouperfish assign feedback - --from jsonl --text body\n"
                "    grouperfish assign feedback today.csv --text title,body --format csv\n"
                "    grouperfish assign feedback --config vectors --matrix embeddings.npz\n",
    .notes =
        "FILE is all that put reads, or - for standard input. Rows are streamed, in the order of\n"
        "the records: JSON Lines unless --format says otherwise. Nothing is stored, and nothing\n"
        "counts in a cluster. The score is the similarity to the cluster's centre, 0 to 1: where\n"
        "it is low, the text fits no cluster; where the margin is, it fits the next one as well.\n"
        "Where the build is of a matrix, a record's field \"vector\" is its row, and it needs no "
        "text.\n",
    GF_WORDS(assign_words),
    GF_OPTIONS(assign_options),
    .display = {GF_COLUMNS(assign_columns)},
    .streams_jsonl = true,
    .prepare = prepare_assign,
    .answers = true,
};

/* ---- report ---------------------------------------------------------------------------------- */

static const gf_own_option report_options[] = {
    {"o", "FILE", "write there (standard output)", GF_OPTION_OUT},
    {"force", NULL, "replace that file", GF_OPTION_FORCE}};

static const gf_command report_command = {
    .name = "report",
    .examples = "    grouperfish report feedback -o feedback.html\n"
                "    grouperfish report feedback --by week --docs 5 -o feedback.html --force\n",
    .notes =
        "An HTML file that needs no network, no script and no other file: clusters by size with\n"
        "terms, trends and their best documents, the tree, and what changed since the build\n"
        "before. It prints well, and follows the reader's choice of dark or light.\n",
    GF_WORDS(gf_collection_word),
    GF_OPTIONS(report_options),
    .display = {.prints_file = true, .single = true},
};

/* ---- label ----------------------------------------------------------------------------------- */

static void show_label(gf_session *s, gf_json_value row)
{
    fprintf(s->out, "cluster %.0f ", gf_member_number(row, "cluster"));
    fputs(gf_member_flag(row, "pinned") ? "is called " : "has its own label again", s->out);
    gf_text_print(s->out, gf_member_text(row, "label"), 0);
    fputc('\n', s->out);
}

static const gf_positional label_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                            {.name = "ID", .argument = "cluster"},
                                            {.name = "TEXT", .argument = "text", .optional = true}};
static const gf_display_column label_columns[] = {{"collection", NULL, GF_COLUMN_TEXT},
                                                  {"configuration", NULL, GF_COLUMN_TEXT},
                                                  {"cluster", NULL, GF_COLUMN_ID},
                                                  {"label", NULL, GF_COLUMN_TEXT},
                                                  {"pinned", NULL, GF_COLUMN_RAW}};

static const gf_command label_command = {
    .name = "label",
    .examples = "    grouperfish label feedback 17 'Crash on start'\n"
                "    grouperfish label feedback 17 --unpin\n",
    .notes =
        "The label holds as long as the cluster goes on, through rebuilds. No two clusters of a\n"
        "build are called the same.\n",
    GF_WORDS(label_words),
    .display = {GF_COLUMNS(label_columns), .single = true, .show = show_label},
};

/* ---- names ----------------------------------------------------------------------------------- */

static const gf_display_column names_columns[] = {
    {"cluster", "id", GF_COLUMN_ID},  {"label", "label", GF_COLUMN_TEXT},
    {"outcome", "", GF_COLUMN_WORD},  {"title", "title", GF_COLUMN_TEXT},
    {"calls", NULL, GF_COLUMN_COUNT}, {"why", "because", GF_COLUMN_PROSE}};

static void show_prompt(gf_session *s, gf_json_value row)
{
    gf_json_value prompt, messages, message;
    if (!gf_json_member(row, "prompt", &prompt) || !gf_json_member(prompt, "messages", &messages))
        return;
    fprintf(s->out, "cluster %.0f, ", gf_member_number(row, "cluster"));
    gf_text_print(s->out, gf_member_text(row, "label"), 0);
    fputs("\n", s->out);
    gf_json_iterator it = gf_json_items(messages);
    while (gf_json_next(&it, NULL, &message)) {
        fputs("\n", s->out);
        gf_text_print(s->out, gf_member_text(message, "role"), 0);
        fputs(":\n", s->out);
        for (gf_slice rest = gf_member_text(message, "content"); rest.len;) {
            const char *end = memchr(rest.ptr, '\n', rest.len);
            size_t n = end ? (size_t)(end - rest.ptr) : rest.len;
            gf_text_print(s->out, gf_slice_of(rest.ptr, n), 0);
            fputs("\n", s->out);
            rest = gf_slice_skip(rest, n + (end != NULL));
        }
    }
    fputs("\n", s->out);
}

static const gf_display_column prompt_columns[] = {{"cluster", NULL, GF_COLUMN_ID},
                                                   {"label", NULL, GF_COLUMN_TEXT},
                                                   {"prompt", NULL, GF_COLUMN_RAW}};
static const gf_other_display names_others[] = {
    {"show-prompt",
     {GF_COLUMNS(prompt_columns), .nothing = "no clusters: the build has no documents",
      .show = show_prompt}}};

static const gf_command names_command = {
    .name = "names",
    .examples =
        "    grouperfish names feedback --model llama3.2 --show-prompt --clusters 17\n"
        "    grouperfish names feedback --from http://localhost:11434/v1 --model llama3.2\n"
        "    grouperfish names feedback --from https://api.openai.com/v1 --model gpt-4o-mini "
        "--key-file key\n",
    .notes =
        "Nothing is asked of anybody unless this command is given. One call for each cluster has\n"
        "its phrases, up to eleven documents of at most 400 bytes, and names of other clusters:\n"
        "--show-prompt shows it. The name stays beside the label, which does not change, and goes\n"
        "with the cluster through rebuilds; the same command asks again only where the prompt has\n"
        "changed. What a model answers is kept only where it is one line, short, in the "
        "documents'\n"
        "language, without markup and no other cluster's name. Clusters whose label is pinned are\n"
        "not asked about. See docs/how-to/names-from-a-model.md.\n",
    GF_WORDS(gf_collection_word),
    .display = {GF_COLUMNS(names_columns), .nothing = "no clusters: the build has no documents"},
    GF_OTHERS(names_others),
};

/* ---- new ------------------------------------------------------------------------------------- */

static const gf_display_column new_columns[] = {{"cluster", "id", GF_COLUMN_ID},
                                                {"label", "label", GF_COLUMN_TEXT},
                                                {"size", "documents", GF_COLUMN_COUNT},
                                                {"p", NULL, GF_COLUMN_SCORE},
                                                {"first", "first", GF_COLUMN_TEXT},
                                                {"last", "last", GF_COLUMN_TEXT},
                                                {"nearest", "near", GF_COLUMN_ID},
                                                {"nearest_label", NULL, GF_COLUMN_TEXT},
                                                {"similarity", "similar", GF_COLUMN_SCORE},
                                                {"terms", "terms", GF_COLUMN_TERMS}};

static const gf_command new_command = {
    .name = "new",
    .examples = "    grouperfish new feedback\n"
                "    grouperfish new feedback --least 20 --format jsonl\n"
                "    grouperfish new 'feedback-*'\n",
    .notes =
        "Groups among the documents that came since the build: documents that fit no cluster, "
        "with\n"
        "words that are far more frequent in them than before. Nothing is stored: a rebuild makes\n"
        "clusters of all. Where documents come as those before did, at most 5 calls in 100 tell "
        "of\n"
        "anything.\n",
    GF_WORDS(gf_collection_word),
    .display = {GF_COLUMNS(new_columns), .nothing = "nothing is new"},
};

/* ---- builds ---------------------------------------------------------------------------------- */

static const gf_display_column builds_columns[] = {{"served", "*", GF_COLUMN_MARK},
                                                   {"build", "build", GF_COLUMN_ID},
                                                   {"time", "time (UTC)", GF_COLUMN_TIME},
                                                   {"documents", "documents", GF_COLUMN_COUNT},
                                                   {"without_terms", "wordless", GF_COLUMN_RARE},
                                                   {"k", "clusters", GF_COLUMN_COUNT},
                                                   {"objective", "objective", GF_COLUMN_SCORE},
                                                   {"seconds", "took", GF_COLUMN_SECONDS},
                                                   {"settings", "settings", GF_COLUMN_RAW},
                                                   {"terms", NULL, GF_COLUMN_COUNT},
                                                   {"distinct", NULL, GF_COLUMN_COUNT},
                                                   {"pinned", "pinned", GF_COLUMN_MARK},
                                                   {"unplaced", "unplaced", GF_COLUMN_RARE}};

static const gf_command builds_command = {
    .name = "builds",
    .examples = "    grouperfish builds feedback\n"
                "    grouperfish builds feedback --config fine\n"
                "    grouperfish builds --all\n",
    .notes =
        "The build marked * is served; --build TIME of other commands reads one of the others.\n",
    GF_WORDS(gf_collection_word),
    .display = {GF_COLUMNS(builds_columns),
                .nothing = "no builds yet: grouperfish rebuild makes one"},
};

/* ---- publish --------------------------------------------------------------------------------- */

static void show_publish(gf_session *s, gf_json_value row)
{
    fprintf(s->out, "build %.0f is served\n", gf_member_number(row, "build"));
}

static const gf_positional build_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                            {.name = "BUILD", .argument = "build"}};
static const gf_display_column publish_columns[] = {{"collection", NULL, GF_COLUMN_TEXT},
                                                    {"configuration", NULL, GF_COLUMN_TEXT},
                                                    {"build", NULL, GF_COLUMN_ID},
                                                    {"served", NULL, GF_COLUMN_RAW}};

static const gf_command publish_command = {
    .name = "publish",
    .examples = "    grouperfish builds feedback\n"
                "    grouperfish publish feedback 1795181177213\n",
    .notes = "Reads go to that build at once. The next rebuild that is due publishes its own.\n",
    GF_WORDS(build_words),
    .display = {GF_COLUMNS(publish_columns), .single = true, .show = show_publish},
};

/* ---- pin ------------------------------------------------------------------------------------- */

static void show_pin(gf_session *s, gf_json_value row)
{
    fprintf(s->out, "build %.0f is pinned%s\n", gf_member_number(row, "build"),
            gf_member_flag(row, "pinned") ? ": it is kept until it is unpinned" : " no more");
}

static const gf_display_column pinned_columns[] = {{"collection", NULL, GF_COLUMN_TEXT},
                                                   {"configuration", NULL, GF_COLUMN_TEXT},
                                                   {"build", NULL, GF_COLUMN_ID},
                                                   {"pinned", NULL, GF_COLUMN_RAW}};

static const gf_command pin_command = {
    .name = "pin",
    .examples = "    grouperfish pin feedback 1795181177213\n",
    .notes = "A pinned build is never dropped, however many come after it.\n",
    GF_WORDS(build_words),
    .display = {GF_COLUMNS(pinned_columns), .single = true, .show = show_pin},
};

static const gf_command unpin_command = {
    .name = "unpin",
    .examples = "    grouperfish unpin feedback 1795181177213\n",
    .notes = "The next rebuild drops it, if it is not one of those that are kept.\n",
    GF_WORDS(build_words),
    .display = {GF_COLUMNS(pinned_columns), .single = true, .show = show_pin},
};

/* ---- all of them ----------------------------------------------------------------------------- */

const gf_commands gf_commands_clusterings = {
    "Clusterings",
    GF_LIST(&rebuild_command, &clusters_command, &cluster_command, &members_command,
            &export_command, &assign_command, &gf_diff_command, &report_command,
            &gf_evaluate_command, &terms_command, &label_command, &names_command, &new_command,
            &builds_command, &publish_command, &pin_command, &unpin_command)};

const gf_commands gf_commands_edits = {
    "Edits, which rebuilds obey",
    GF_LIST(&gf_rename_command, &gf_merge_command, &gf_split_command, &gf_move_command,
            &gf_keep_command, &gf_hide_command, &gf_show_command, &gf_lock_command,
            &gf_unlock_command, &gf_set_command, &gf_topic_add_command, &gf_topic_list_command,
            &gf_topic_delete_command, &gf_edits_command, &gf_undo_command)};
