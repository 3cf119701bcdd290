/* The store as a whole. */
#include "cli/session.h"

/* "2 collections, 40 documents, 3 builds" */
static void print_sizes(FILE *out, gf_json_value row)
{
    gf_text_print_count(out, gf_member_number(row, "collections"), "collection");
    fputs(", ", out);
    gf_text_print_count(out, gf_member_number(row, "documents"), "document");
    fputs(", ", out);
    gf_text_print_count(out, gf_member_number(row, "builds"), "build");
}

/* ---- init ------------------------------------------------------------------------------------ */

static void show_init(gf_session *s, gf_json_value row)
{
    fputs(gf_member_flag(row, "made") ? "made a store at " : "there is a store already at ",
          s->out);
    gf_text_print(s->out, gf_member_text(row, "store"), 0);
    fputc('\n', s->out);
}

static const gf_display_column init_columns[] = {{"store", NULL, GF_COLUMN_TEXT},
                                                 {"made", NULL, GF_COLUMN_RAW}};

static const gf_command init_command = {
    .name = "init",
    .examples = "    grouperfish init\n"
                "    grouperfish init --store /srv/feedback\n",
    .notes = "Seldom needed: grouperfish put makes a store where there is none.\n",
    .display = {GF_COLUMNS(init_columns), .single = true, .show = show_init},
    .shows_made = true,
};

/* ---- status ---------------------------------------------------------------------------------- */

static void show_failure(gf_session *s, gf_json_value row)
{
    static const char *const parts[] = {"time", "collection", "configuration", "error"};
    gf_json_value failure;
    if (!gf_json_member(row, "last_failure", &failure)) return;
    fprintf(s->out, "%-11s", "last");
    for (size_t i = 0; i < GF_COUNT(parts); i++) {
        fputs("  ", s->out);
        gf_text_print(s->out, gf_member_text(failure, parts[i]), 0);
    }
    fputc('\n', s->out);
}

/* Counters that are zero are not printed. */
static void show_positive(gf_session *s, gf_json_value row, const gf_display_column *counts,
                          size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (gf_member_number(row, counts[i].key) > 0)
            gf_member_show(s->out, row, &counts[i], s->output.width);
}

static void show_health(gf_session *s, gf_json_value row)
{
    static const gf_display_column counts[] = {{"running", "running", GF_COLUMN_COUNT},
                                               {"changed", "changed", GF_COLUMN_COUNT},
                                               {"failed", "failed", GF_COLUMN_COUNT}};
    static const gf_display_column names[] = {{"namespace", "namespace", GF_COLUMN_TEXT},
                                              {"collection", "changed", GF_COLUMN_TEXT}};
    static const gf_display changed = {GF_COLUMNS(names)};
    show_positive(s, row, counts, GF_COUNT(counts));
    show_failure(s, row);
    gf_session_table(s, &changed, row, "changed_collections");
}

static void show_status(gf_session *s, gf_json_value row)
{
    static const gf_display_column lines[] = {{"store", "store", GF_COLUMN_TEXT},
                                              {"holder", "holder", GF_COLUMN_TEXT},
                                              {"collections", "collections", GF_COLUMN_COUNT},
                                              {"documents", "documents", GF_COLUMN_COUNT},
                                              {"builds", "builds", GF_COLUMN_COUNT},
                                              {"unfinished", "unfinished", GF_COLUMN_COUNT}};
    static const gf_display_column kept[] = {{"tweets", "tweets", GF_COLUMN_COUNT},
                                             {"papers", "papers", GF_COLUMN_COUNT}};
    for (size_t i = 0; i < GF_COUNT(lines); i++)
        if (i != 1 || gf_member_text(row, "holder").len)
            gf_member_show(s->out, row, &lines[i], s->output.width);
    show_positive(s, row, kept, GF_COUNT(kept));
    fprintf(s->out, "%-11s  %.1f MB\n", "size", gf_member_number(row, "bytes") / 1e6);
    show_health(s, row);
}

static const gf_display_column status_columns[] = {
    {"store", NULL, GF_COLUMN_TEXT},       {"collections", NULL, GF_COLUMN_COUNT},
    {"documents", NULL, GF_COLUMN_COUNT},  {"builds", NULL, GF_COLUMN_COUNT},
    {"unfinished", NULL, GF_COLUMN_COUNT}, {"bytes", NULL, GF_COLUMN_COUNT}};

static const gf_command status_command = {
    .name = "status",
    .examples = "    grouperfish status\n"
                "    grouperfish status --changed\n",
    .notes = "Unfinished are rebuilds and deletions that were cut off: the next rebuild clears "
             "them away.\n"
             "Changed are collections with other documents than one of their builds had; failed\n"
             "are configurations until they are rebuilt, and the last of these is named.\n",
    .display = {GF_COLUMNS(status_columns), .single = true, .show = show_status},
};

/* ---- verify ---------------------------------------------------------------------------------- */

static void show_verify(gf_session *s, gf_json_value row)
{
    static const char *const members[] = {"tables", "tweets", "papers"};
    static const char *const nouns[] = {"table", "tweet", "paper"};
    double faults = gf_member_number(row, "faults");
    print_sizes(s->out, row);
    for (size_t i = 0; i < GF_COUNT(members); i++) {
        if (gf_member_number(row, members[i]) == 0) continue;
        fputs(", ", s->out);
        gf_text_print_count(s->out, gf_member_number(row, members[i]), nouns[i]);
    }
    fputs(": ", s->out);
    if (faults > 0)
        gf_text_print_count(s->out, faults, "fault");
    else
        fputs("sound", s->out);
    fputc('\n', s->out);
}

static const gf_display_column verify_columns[] = {{"collections", NULL, GF_COLUMN_COUNT},
                                                   {"documents", NULL, GF_COLUMN_COUNT},
                                                   {"builds", NULL, GF_COLUMN_COUNT},
                                                   {"memberships", NULL, GF_COLUMN_COUNT},
                                                   {"faults", NULL, GF_COLUMN_COUNT}};

static const gf_command verify_command = {
    .name = "verify",
    .examples = "    grouperfish verify\n"
                "    grouperfish verify --store /srv/feedback\n",
    .notes = "Reads every byte of the store's files, then checks that its tables agree with each "
             "other.\n",
    .display = {GF_COLUMNS(verify_columns), .single = true, .show = show_verify},
};

/* ---- upgrade --------------------------------------------------------------------------------- */

static void show_upgrade(gf_session *s, gf_json_value row)
{
    fprintf(s->out, "the store has format %.0f, the newest: there is nothing to upgrade\n",
            gf_member_number(row, "format"));
}

static const gf_display_column upgrade_columns[] = {{"store", NULL, GF_COLUMN_TEXT},
                                                    {"format", NULL, GF_COLUMN_COUNT},
                                                    {"upgraded", NULL, GF_COLUMN_RAW}};

static const gf_command upgrade_command = {
    .name = "upgrade",
    .examples = "    grouperfish upgrade\n",
    .notes = "So far there is one format. A store of a newer one is refused by every command: a\n"
             "newer program reads it.\n",
    .display = {GF_COLUMNS(upgrade_columns), .single = true, .show = show_upgrade},
};

/* ---- backup ---------------------------------------------------------------------------------- */

static void show_copied(gf_session *s, gf_json_value row, const char *verb)
{
    fprintf(s->out, "%s ", verb);
    print_sizes(s->out, row);
    fputs(" to ", s->out);
    gf_text_print(s->out, gf_member_text(row, "to"), 0);
    fputc('\n', s->out);
}

static void show_backup(gf_session *s, gf_json_value row)
{
    show_copied(s, row, "copied");
}

static const gf_positional backup_words[] = {{.name = "DIR", .argument = "to", .path = true}};
static const gf_display_column copy_columns[] = {{"to", NULL, GF_COLUMN_TEXT},
                                                 {"collections", NULL, GF_COLUMN_COUNT},
                                                 {"documents", NULL, GF_COLUMN_COUNT},
                                                 {"builds", NULL, GF_COLUMN_COUNT},
                                                 {"bytes", NULL, GF_COLUMN_COUNT}};

static const gf_command backup_command = {
    .name = "backup",
    .examples = "    grouperfish backup /srv/backups/2026-11-20\n",
    .notes =
        "The copy is a store, which --store reads. It appears whole or not at all, and never in\n"
        "the place of anything.\n",
    GF_WORDS(backup_words),
    .display = {GF_COLUMNS(copy_columns), .single = true, .show = show_backup},
    .answers = true,
};

/* ---- restore --------------------------------------------------------------------------------- */

static void show_restore(gf_session *s, gf_json_value row)
{
    show_copied(s, row, "restored");
}

static const gf_positional restore_words[] = {{.name = "DIR", .argument = "from", .path = true}};

static const gf_command restore_command = {
    .name = "restore",
    .examples = "    grouperfish restore /srv/backups/2026-11-20 --to grouperfish.store\n",
    .notes = "The backup is checked as grouperfish verify does; where it is damaged (exit code 5)\n"
             "nothing is made of it.\n",
    GF_WORDS(restore_words),
    .display = {GF_COLUMNS(copy_columns), .single = true, .show = show_restore},
};

/* ---- repair ---------------------------------------------------------------------------------- */

static void show_count(gf_session *s, gf_json_value row, const char *member, const char *noun,
                       const char *what)
{
    double n = gf_member_number(row, member);
    if (n == 0) return;
    gf_text_print_count(s->out, n, noun);
    fprintf(s->out, " %s\n", what);
}

static void show_repair(gf_session *s, gf_json_value row)
{
    gf_text_print_count(s->out, gf_member_number(row, "documents"), "document");
    fputs(" in ", s->out);
    gf_text_print(s->out, gf_member_text(row, "to"), 0);
    fputc('\n', s->out);
    show_count(s, row, "damages", "damage", "in the files of the old store");
    show_count(s, row, "rows", "row", "could not be read");
    show_count(s, row, "collections", "collection", "set right");
    show_count(s, row, "builds", "build", "dropped: grouperfish rebuild makes new ones");
}

static const gf_display_column repair_columns[] = {
    {"to", NULL, GF_COLUMN_TEXT},           {"documents", NULL, GF_COLUMN_COUNT},
    {"damages", NULL, GF_COLUMN_COUNT},     {"rows", NULL, GF_COLUMN_COUNT},
    {"collections", NULL, GF_COLUMN_COUNT}, {"builds", NULL, GF_COLUMN_COUNT}};

static const gf_command repair_command = {
    .name = "repair",
    .examples = "    grouperfish repair --store damaged.store --to repaired.store\n",
    .notes = "The damaged store stays as it is. Exit code 5 where anything was lost; 0 where the "
             "store\n"
             "was sound.\n",
    .display = {GF_COLUMNS(repair_columns), .single = true, .show = show_repair},
};

/* ---- all of them ----------------------------------------------------------------------------- */

const gf_commands gf_commands_store = {
    "The store", GF_LIST(&init_command, &status_command, &verify_command, &upgrade_command,
                         &backup_command, &restore_command, &repair_command)};
