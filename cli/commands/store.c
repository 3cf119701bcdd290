/* The store as a whole. */
#include "cli/session.h"

#include "api/store/copies.h"

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
    double removed = gf_member_number(row, "removed");
    show_copied(s, row, "copied");
    if (removed > 0) fprintf(s->out, "removed the oldest %.0f\n", removed);
}

static const gf_positional backup_words[] = {{.name = "DIR", .argument = "to", .path = true}};
static const gf_display_column copy_columns[] = {{"to", NULL, GF_COLUMN_TEXT},
                                                 {"collections", NULL, GF_COLUMN_COUNT},
                                                 {"documents", NULL, GF_COLUMN_COUNT},
                                                 {"builds", NULL, GF_COLUMN_COUNT},
                                                 {"bytes", NULL, GF_COLUMN_COUNT}};

/* Bytes of the server's archive, on their way into the copy. */
typedef struct receiving {
    gf_archive_take *take;
    void *taker;
} receiving;

static gf_status receive_bytes(void *context, gf_slice bytes, gf_error *err)
{
    const receiving *r = context;
    return r->take(r->taker, bytes, err);
}

static gf_status receive_row(void *context, gf_slice row, gf_error *err)
{
    (void)context, (void)row, (void)err;
    return GF_OK;
}

static gf_status ask_for_archive(void *context, gf_archive_take *take, void *taker, gf_error *err)
{
    gf_session *s = context;
    receiving r = {take, taker};
    gf_call call = {.name_space = s->call.name_space,
                    .sink = {.context = &r, .emit = receive_row, .write = receive_bytes},
                    .cancel = s->call.cancel};
    return gf_store_access_run(&s->access, &gf_archive_operation, &call, err);
}

/* A server writes no files for others: it sends an archive, and the copy is made of that here. */
static gf_status backup_of_server(gf_session *s, gf_error *err)
{
    gf_store_status status;
    gf_backup_place place;
    gf_status st = gf_operation_check(s->operation, &s->call, err);
    if (st != GF_OK) return st;
    st = gf_backup_place_choose(&s->call, &place, err);
    if (st == GF_OK)
        st = gf_backup_unpack(gf_buffer_cstr(&place.path), ask_for_archive, s, &status, err);
    if (st == GF_OK) st = gf_backup_place_end(&s->call, &place, s->access.remote.url, &status, err);
    gf_backup_place_release(&place);
    return st;
}

static const gf_command backup_command = {
    .name = "backup",
    .examples = "    grouperfish backup /srv/backups/2026-11-20\n"
                "    grouperfish backup /srv/backups --keep 7\n"
                "    grouperfish backup /srv/backups --keep 7 --server https://cluster.example\n",
    .notes =
        "The copy is a store, which --store reads. It appears whole or not at all, and never in\n"
        "the place of anything. With --server the copy is made here, of the server's store.\n",
    GF_WORDS(backup_words),
    .display = {GF_COLUMNS(copy_columns), .single = true, .show = show_backup},
    .answers = true,
    .run_on_server = backup_of_server,
};

/* ---- archive --------------------------------------------------------------------------------- */

static void show_archive(gf_session *s, gf_json_value row)
{
    gf_text_print(s->out, gf_slice_str(s->file ? s->file : ""), 0);
    fprintf(s->out, ": the store in %.1f MB\n", gf_member_number(row, "bytes") / 1e6);
}

static gf_status open_archive(gf_session *s, gf_error *err)
{
    s->file = s->words[0];
    return gf_out_file_open(&s->bytes_file, s->file, s->force, err);
}

static const gf_positional archive_words[] = {{.name = "FILE", .path = true}};
static const gf_own_option archive_options[] = {
    {"force", NULL, "replace FILE where it is there", GF_OPTION_FORCE}};
static const gf_display_column archive_columns[] = {{"bytes", NULL, GF_COLUMN_COUNT}};

static const gf_command archive_command = {
    .name = "archive",
    .examples = "    grouperfish archive feedback.gfa\n"
                "    grouperfish archive --server https://cluster.example feedback.gfa\n"
                "    grouperfish restore feedback.gfa --to grouperfish.store\n",
    .notes = "The file is whole or not there. It carries checksums, which restore checks.\n",
    GF_WORDS(archive_words),
    GF_OPTIONS(archive_options),
    .display = {GF_COLUMNS(archive_columns), .single = true, .show = show_archive},
    .answers = true,
    .prepare = open_archive,
};

/* ---- restore --------------------------------------------------------------------------------- */

static void show_restore(gf_session *s, gf_json_value row)
{
    show_copied(s, row, "restored");
}

static const gf_positional restore_words[] = {
    {.name = "DIR|FILE", .argument = "from", .path = true}};

static const gf_command restore_command = {
    .name = "restore",
    .examples = "    grouperfish restore /srv/backups/2026-11-20 --to grouperfish.store\n",
    .notes = "The backup is checked as grouperfish verify does; where it is damaged (exit code 5)\n"
             "nothing is made of it.\n",
    GF_WORDS(restore_words),
    .display = {GF_COLUMNS(copy_columns), .single = true, .show = show_restore},
};

/* ---- copy ------------------------------------------------------------------------------------ */

static void show_copy(gf_session *s, gf_json_value row)
{
    double tables = gf_member_number(row, "tables");
    fputs("copied ", s->out);
    print_sizes(s->out, row);
    if (tables > 0) {
        fputs(", ", s->out);
        gf_text_print_count(s->out, tables, "table");
    }
    fputs(" to ", s->out);
    gf_text_print(s->out, gf_member_text(row, "to"), 0);
    fputs(": ", s->out);
    gf_text_print_count(s->out, gf_member_number(row, "rows"), "row");
    fprintf(s->out, ", %.1f MB\n", gf_member_number(row, "bytes") / 1e6);
}

static const gf_positional copy_words[] = {{.name = "FROM", .argument = "from", .path = true},
                                           {.name = "TO", .argument = "to", .path = true}};
static const gf_own_option copy_options[] = {{"progress", "auto|none|jsonl",
                                              "what standard error tells meanwhile (auto)",
                                              GF_OPTION_PROGRESS}};
static const gf_display_column copied_columns[] = {
    {"to", NULL, GF_COLUMN_TEXT},         {"collections", NULL, GF_COLUMN_COUNT},
    {"documents", NULL, GF_COLUMN_COUNT}, {"builds", NULL, GF_COLUMN_COUNT},
    {"tables", NULL, GF_COLUMN_COUNT},    {"rows", NULL, GF_COLUMN_COUNT},
    {"bytes", NULL, GF_COLUMN_COUNT}};

static const gf_command copy_command = {
    .name = "copy",
    .examples = "    grouperfish copy hbase://10.0.0.5:9090/team team.store\n"
                "    grouperfish copy team.store hbase://10.0.0.5:9090/team\n",
    .notes =
        "FROM stays as it is, and TO must have nothing. In a folder TO appears whole or not at\n"
        "all; in HBase one that was cut short is opened by nobody until the same command has\n"
        "begun it anew. What TO's database cannot keep is told before anything is written.\n"
        "A copy from folder to folder in use is made by grouperfish backup.\n",
    GF_WORDS(copy_words),
    GF_OPTIONS(copy_options),
    .display = {GF_COLUMNS(copied_columns), .single = true, .show = show_copy},
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
    show_count(s, row, "pointers", "served build", "set right");
    show_count(s, row, "remade", "part", "made anew of what it derives from");
    show_count(s, row, "tables", "table", "left out, which nothing could read");
}

static const gf_display_column repair_columns[] = {
    {"to", NULL, GF_COLUMN_TEXT},           {"documents", NULL, GF_COLUMN_COUNT},
    {"damages", NULL, GF_COLUMN_COUNT},     {"rows", NULL, GF_COLUMN_COUNT},
    {"collections", NULL, GF_COLUMN_COUNT}, {"builds", NULL, GF_COLUMN_COUNT}};

static const gf_command repair_command = {
    .name = "repair",
    .examples = "    grouperfish repair --store damaged.store --to repaired.store\n",
    .notes =
        "The damaged store stays as it is. Exit code 5 where anything was lost; 0 where the store\n"
        "was sound. The new one is verified before it gets its name: where that fails, or a file\n"
        "cannot be read for another reason than damage (exit code 6), there is nothing at DIR.\n"
        "A table whose name or schema is lost cannot be read, though its rows are there: without\n"
        "--drop-unreadable nothing is made then, and what must go is told.\n",
    .display = {GF_COLUMNS(repair_columns), .single = true, .show = show_repair},
};

/* ---- all of them ----------------------------------------------------------------------------- */

const gf_commands gf_commands_store = {"The store",
                                       GF_LIST(&init_command, &status_command, &verify_command,
                                               &upgrade_command, &backup_command, &archive_command,
                                               &restore_command, &copy_command, &repair_command)};
