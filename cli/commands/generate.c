/* The program itself: its version, its manual pages and completions. */
#include "cli/generate/generate.h"
#include "cli/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* ---- version --------------------------------------------------------------------------------- */

static void show_version(gf_session *s, gf_json_value row)
{
    gf_text_print(s->out, gf_member_text(row, "libraries"), 0);
    fputc('\n', s->out);
}

static const gf_display_column version_columns[] = {{"version", NULL, GF_COLUMN_TEXT},
                                                    {"libraries", NULL, GF_COLUMN_TEXT}};

static const gf_command version_command = {
    .name = "version",
    .examples = "    grouperfish version\n",
    .display = {GF_COLUMNS(version_columns), .single = true, .show = show_version},
};

/* ---- generate -------------------------------------------------------------------------------- */

static const gf_parameter generate_parameters[] = {
    {"kind", GF_PARAMETER_CHOICE, true, "man|markdown|bash|zsh|fish",
     "manual pages, the same as Markdown, or the completion of a shell", 0, 0},
    {"out", GF_PARAMETER_TEXT, false, "DIR", "write files there; of pages, those of all commands",
     0, 0}};
static const gf_operation generate_operation = {.name = "generate",
                                                .meaning =
                                                    "Make manual pages and completions for shells",
                                                .parameters = generate_parameters,
                                                .n_parameters = GF_COUNT(generate_parameters)};

/* Texts to make, and the names under which man or a shell looks for their files. */
static const struct text_kind {
    const char *name, *prefix, *suffix;
    void (*write)(FILE *out); /* NULL: a page */
} kinds[] = {{"man", "", ".1", NULL},
             {"markdown", "", ".md", NULL},
             {"bash", "", "", gf_generate_bash},
             {"zsh", "_", "", gf_generate_zsh},
             {"fish", "", ".fish", gf_generate_fish}};

/* The day of the pages, as YYYY-MM-DD: today, or the one of a reproducible build. */
static void write_date(char date[sizeof "YYYY-MM-DD"])
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t now = epoch && *epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm day;
    if (!gmtime_r(&now, &day) || strftime(date, sizeof "YYYY-MM-DD", "%Y-%m-%d", &day) == 0)
        strcpy(date, "1970-01-01");
}

static void write_text(FILE *out, const struct text_kind *kind, const gf_command *page)
{
    char date[sizeof "YYYY-MM-DD"];
    if (kind->write) {
        kind->write(out);
        return;
    }
    if (strcmp(kind->suffix, ".md") == 0) {
        gf_generate_markdown(out, page);
        return;
    }
    write_date(date);
    gf_generate_man(out, page, date);
}

static gf_status write_file(const char *folder, const struct text_kind *kind,
                            const gf_command *page, gf_error *err)
{
    gf_buffer path = {0};
    gf_buffer_format(&path, "%s/%sgrouperfish%s", folder, kind->prefix, page ? "-" : "");
    for (const char *c = page ? page->name : ""; *c; c++)
        gf_buffer_byte(&path, *c == ' ' ? '-' : *c);
    gf_buffer_str(&path, kind->suffix);
    const char *name = gf_buffer_cstr(&path);
    FILE *out = fopen(name, "w");
    gf_status st = out ? GF_OK : gf_fail_errno(err, "cannot make %s", name);
    if (out) {
        write_text(out, kind, page);
        bool failed = ferror(out) != 0;
        if (fclose(out) != 0 || failed) st = gf_fail_errno(err, "cannot write %s", name);
    }
    gf_buffer_release(&path);
    return st;
}

static gf_status write_files(const char *folder, const struct text_kind *kind, gf_error *err)
{
    gf_command_cursor cursor = {0, 0};
    const gf_command *page;
    const char *heading;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return gf_fail_errno(err, "cannot make %s", folder);
    gf_status st = write_file(folder, kind, NULL, err);
    while (st == GF_OK && !kind->write && (page = gf_command_next(&cursor, &heading)))
        st = write_file(folder, kind, page, err);
    return st;
}

static gf_status run_generate(gf_session *s, gf_error *err)
{
    gf_call call = {.arguments = s->arguments, .n_arguments = s->n_arguments};
    gf_slice name = gf_session_argument(s, "kind"), folder = gf_session_argument(s, "out");
    const struct text_kind *kind = kinds;
    const gf_command *page = NULL;
    int used = 0;
    gf_status st = gf_operation_check(&generate_operation, &call, err);
    if (st != GF_OK) return st;
    while (!gf_slice_equal(name, gf_slice_str(kind->name)))
        kind++;
    if (s->n_words && (folder.len || kind->write))
        return gf_fail(err, GF_EINVAL, "COMMAND is for pages without --out");
    if (folder.len) return write_files(folder.ptr, kind, err);
    if (s->n_words) {
        page = gf_command_find((int)s->n_words, s->words, &used);
        if (!page || (size_t)used != s->n_words)
            return gf_fail(err, GF_EINVAL, "there is no command \"%s%s%s\"", s->words[0],
                           s->n_words > 1 ? " " : "", s->n_words > 1 ? s->words[1] : "");
    }
    write_text(stdout, kind, page);
    if (fflush(stdout) == 0 && !ferror(stdout)) return GF_OK;
    if (errno == EPIPE) return gf_fail(err, GF_ECANCELLED, "nobody reads any more");
    return gf_fail_errno(err, "cannot write the output");
}

static const gf_positional generate_words[] = {
    {.name = "man|markdown|bash|zsh|fish", .argument = "kind"},
    {.name = "COMMAND", .optional = true, .repeats = true}};

static const gf_command generate_command = {
    .name = "generate",
    .operation = &generate_operation,
    .examples = "    grouperfish generate man put | man -l -\n"
                "    grouperfish generate man --out /usr/local/share/man/man1\n"
                "    source <(grouperfish generate bash)\n"
                "    grouperfish generate zsh --out /usr/local/share/zsh/site-functions\n"
                "    grouperfish generate fish --out ~/.config/fish/completions\n",
    .notes =
        "Without --out one text goes to standard output: the completion, the page of COMMAND,\n"
        "or the page of the program. Files in DIR are replaced. An installed Grouperfish has\n"
        "all of these already.\n",
    GF_WORDS(generate_words),
    .run = run_generate,
};

const gf_commands gf_commands_generate = {NULL, GF_LIST(&version_command, &generate_command)};
