/* Commands on what people change in clusters. */
#include "cli/commands/clusterings.h"
#include "cli/session.h"
#include "cli/terminal/member.h"
#include "cli/terminal/text.h"

#include <stdio.h>
#include <string.h>

/* ---- an edit that was made ------------------------------------------------------------------- */

static void print_ids(gf_session *s, gf_json_value row)
{
    gf_json_value list, item;
    gf_slice name;
    const char *between = " ";
    if (!gf_json_member(row, "others", &list)) return;
    for (gf_json_iterator it = gf_json_items(list); gf_json_next(&it, &name, &item);) {
        fprintf(s->out, "%s%.0f", between, gf_json_number(item));
        between = ", ";
    }
}

static void print_done(gf_session *s, gf_json_value row)
{
    gf_slice kind = gf_member_text(row, "kind");
    double cluster = gf_member_number(row, "cluster");
    if (gf_slice_equal(kind, GF_SLICE("merge"))) {
        fputs("merged", s->out);
        print_ids(s, row);
        fprintf(s->out, " into cluster %.0f", cluster);
    } else if (gf_slice_equal(kind, GF_SLICE("split"))) {
        fprintf(s->out, "split cluster %.0f: new are", cluster);
        print_ids(s, row);
    } else if (gf_slice_equal(kind, GF_SLICE("move")) || gf_slice_equal(kind, GF_SLICE("keep"))) {
        bool moved = gf_slice_equal(kind, GF_SLICE("move"));
        fputs(moved ? "moved " : "keeps ", s->out);
        gf_text_print(s->out, gf_member_text(row, "document"), 0);
        fprintf(s->out, moved ? " into cluster %.0f" : " in cluster %.0f", cluster);
    } else if (gf_slice_equal(kind, GF_SLICE("rename"))) {
        gf_slice label = gf_member_text(row, "label");
        fprintf(s->out, "cluster %.0f %s", cluster,
                label.len ? "is called " : "has its own label again");
        gf_text_print(s->out, label, 0);
    } else if (gf_member_text(row, "topic").len) {
        fputs(gf_slice_equal(kind, GF_SLICE("topic add")) ? "added" : "deleted", s->out);
        fputs(" the topic ", s->out);
        gf_text_print(s->out, gf_member_text(row, "topic"), 0);
    } else {
        static const char *const words[][2] = {{"hide", "is hidden"},
                                               {"show", "is shown again"},
                                               {"lock", "is locked"},
                                               {"unlock", "is locked no more"},
                                               {"set", "is noted"}};
        for (size_t i = 0; i < GF_COUNT(words); i++)
            if (gf_slice_equal(kind, gf_slice_str(words[i][0])))
                fprintf(s->out, "cluster %.0f %s", cluster, words[i][1]);
    }
}

static void show_edit(gf_session *s, gf_json_value row)
{
    print_done(s, row);
    fprintf(s->out, " (edit %.0f)\n", gf_member_number(row, "edit"));
}

static void show_undo(gf_session *s, gf_json_value row)
{
    fprintf(s->out, "took back edit %.0f (\"", gf_member_number(row, "edit"));
    print_done(s, row);
    fputs(gf_member_flag(row, "waits") ? "\"); that takes effect with the next rebuild\n" : "\")\n",
          s->out);
}

static const gf_display_column edit_columns[] = {{"edit", "edit", GF_COLUMN_ID},
                                                 {"kind", "kind", GF_COLUMN_WORD},
                                                 {"cluster", "cluster", GF_COLUMN_ID},
                                                 {"others", "others", GF_COLUMN_RAW},
                                                 {"document", "document", GF_COLUMN_TEXT},
                                                 {"label", "label", GF_COLUMN_TEXT},
                                                 {"status", "status", GF_COLUMN_TEXT},
                                                 {"owner", "owner", GF_COLUMN_TEXT},
                                                 {"link", NULL, GF_COLUMN_TEXT},
                                                 {"note", "note", GF_COLUMN_TEXT},
                                                 {"by", "by", GF_COLUMN_TEXT},
                                                 {"reason", "reason", GF_COLUMN_PROSE},
                                                 {"time", "time (UTC)", GF_COLUMN_TIME},
                                                 {"build", NULL, GF_COLUMN_ID},
                                                 {"holds", NULL, GF_COLUMN_RAW},
                                                 {"lost", "lost", GF_COLUMN_PROSE},
                                                 {"topic", "topic", GF_COLUMN_TEXT},
                                                 {"words", "words", GF_COLUMN_PROSE},
                                                 {"field", "field", GF_COLUMN_TEXT},
                                                 {"like", "examples", GF_COLUMN_RARE}};

#define EDIT_DISPLAY .display = {GF_COLUMNS(edit_columns), .single = true, .show = show_edit}

/* ---- clusters -------------------------------------------------------------------------------- */

static const gf_positional merge_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                            {.name = "ID", .argument = "cluster"},
                                            {.name = "ID", .argument = "others", .repeats = true}};
static const gf_positional cluster_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                              {.name = "ID", .argument = "cluster"}};
static const gf_positional rename_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                             {.name = "ID", .argument = "cluster"},
                                             {.name = "TEXT", .argument = "text"}};

const gf_command gf_merge_command = {
    .name = "cluster merge",
    .examples =
        "    grouperfish cluster merge feedback 3 9\n"
        "    grouperfish cluster merge feedback 3 9 11 --by ann --reason 'one and the same'\n",
    .notes = "All documents go into the first cluster, which keeps its id; the others end. "
             "Rebuilds obey\n"
             "it: grouperfish help edits.\n",
    GF_WORDS(merge_words),
    EDIT_DISPLAY,
};

const gf_command gf_split_command = {
    .name = "cluster split",
    .examples = "    grouperfish cluster split feedback 14\n"
                "    grouperfish cluster split feedback 14 --k 3\n",
    .notes = "The largest part keeps the id; the others get ids that nobody ever had.\n",
    GF_WORDS(cluster_words),
    EDIT_DISPLAY,
};

const gf_command gf_hide_command = {
    .name = "cluster hide",
    .examples = "    grouperfish cluster hide feedback 5 --reason 'greetings only'\n",
    .notes = "It is left out of clusters and of reports: clusters --hidden lists it too. Its "
             "documents stay\n"
             "where they are.\n",
    GF_WORDS(cluster_words),
    EDIT_DISPLAY,
};

const gf_command gf_show_command = {
    .name = "cluster show",
    .examples = "    grouperfish cluster show feedback 5\n",
    GF_WORDS(cluster_words),
    EDIT_DISPLAY,
};

const gf_command gf_lock_command = {
    .name = "cluster lock",
    .examples = "    grouperfish cluster lock feedback 7\n",
    .notes =
        "Its centre stays as it is in rebuilds; documents join and leave it as they are near.\n",
    GF_WORDS(cluster_words),
    EDIT_DISPLAY,
};

const gf_command gf_unlock_command = {
    .name = "cluster unlock",
    .examples = "    grouperfish cluster unlock feedback 7\n",
    GF_WORDS(cluster_words),
    EDIT_DISPLAY,
};

const gf_command gf_set_command = {
    .name = "cluster set",
    .examples =
        "    grouperfish cluster set feedback 7 --status planned --owner ann\n"
        "    grouperfish cluster set feedback 7 --link https://tracker.example/81 --clear note\n",
    .notes = "It is kept with the cluster's id; clusters, doc and assign tell it.\n",
    GF_WORDS(cluster_words),
    EDIT_DISPLAY,
};

const gf_command gf_rename_command = {
    .name = "rename",
    .examples =
        "    grouperfish rename feedback 7 'lost bags' --by ann --reason 'as support says it'\n",
    .notes = "As label, with who and why. The label holds as long as the cluster goes on.\n",
    GF_WORDS(rename_words),
    EDIT_DISPLAY,
};

/* ---- documents ------------------------------------------------------------------------------- */

static const gf_positional move_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                           {.name = "DOCUMENT", .argument = "id"},
                                           {.name = "ID", .argument = "cluster"}};
static const gf_positional keep_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                           {.name = "DOCUMENT", .argument = "id"}};

const gf_command gf_move_command = {
    .name = "doc move",
    .examples = "    grouperfish doc move feedback 7183428 7\n",
    .notes = "It counts there from now on, whatever cluster it is nearest to.\n",
    GF_WORDS(move_words),
    EDIT_DISPLAY,
};

const gf_command gf_keep_command = {
    .name = "doc keep",
    .examples = "    grouperfish doc keep feedback 7183428\n",
    .notes = "Rebuilds leave it in the cluster that it is in.\n",
    GF_WORDS(keep_words),
    EDIT_DISPLAY,
};

/* ---- the list, and undo ---------------------------------------------------------------------- */

static const gf_positional undo_words[] = {{.name = "COLLECTION", .argument = "collection"},
                                           {.name = "N", .argument = "edit", .optional = true}};

const gf_command gf_edits_command = {
    .name = "edits",
    .examples = "    grouperfish edits feedback\n",
    .notes = "Rebuilds obey edits. One that could not be kept, since its documents are gone, says "
             "so here\n"
             "and in diff, and is tried again each time.\n",
    GF_WORDS(gf_collection_word),
    .display = {GF_COLUMNS(edit_columns), .nothing = "no edits"},
};

const gf_command gf_undo_command = {
    .name = "undo",
    .examples = "    grouperfish undo feedback\n"
                "    grouperfish undo feedback 12\n",
    .notes = "The last edit, or the one of that number. Clusters are then as they were before it, "
             "if they are\n"
             "still those that it was made on; else the next rebuild obeys it no longer.\n",
    GF_WORDS(undo_words),
    .display = {GF_COLUMNS(edit_columns), .single = true, .show = show_undo},
};
