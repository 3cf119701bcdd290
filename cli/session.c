/* One run of a command: its operation, rows to the terminal, progress beside them. */
#include "cli/session.h"

#include "base/grow.h"
#include "cli/listed_columns.h"
#include "engine/ranks/world.h"
#include "formats/text/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_NOTICES = 20 };

gf_cancel gf_session_stop;
volatile sig_atomic_t gf_session_signal;

gf_slice gf_session_argument(const gf_session *s, const char *name)
{
    for (size_t i = s->n_arguments; i-- > 0;)
        if (gf_slice_equal(s->arguments[i].name, gf_slice_str(name))) return s->arguments[i].value;
    return (gf_slice){"", 0};
}

bool gf_session_has(const gf_session *s, const char *name)
{
    return gf_session_argument(s, name).len > 0;
}

gf_status gf_session_add(gf_session *s, const char *name, const char *value, gf_error *err)
{
    if (!gf_grow(&s->arguments, &s->argument_capacity, s->n_arguments + 1, sizeof *s->arguments))
        return gf_fail_memory(err, "arguments");
    s->arguments[s->n_arguments++] = (gf_argument){gf_slice_str(name), gf_slice_str(value)};
    return GF_OK;
}

const char *gf_session_kept(const gf_session *s, const char *name)
{
    for (size_t i = s->n_kept; i-- > 0;)
        if (strcmp(s->kept_options[i].name, name) == 0) return s->kept_options[i].value;
    return NULL;
}

/* ---- notices --------------------------------------------------------------------------------- */

static void print_notice(gf_session *s, const char *ending)
{
    if (s->notice.len == 0) return;
    gf_text_print(stderr, gf_buffer_view(&s->notice), 0);
    fprintf(stderr, "%s\n", ending);
    gf_buffer_reset(&s->notice);
}

static void take_notice(void *context, const gf_notice *n)
{
    gf_session *s = context;
    s->access.told = true;
    gf_meter_clear(&s->meter);
    s->n_refused += n->refused;
    if (++s->n_notices > MOST_NOTICES) return;
    print_notice(s, "");
    gf_buffer_slice(&s->notice, n->source);
    if (n->line) gf_buffer_format(&s->notice, ":%" PRIu64, n->line);
    if (s->notice.len) gf_buffer_str(&s->notice, ": ");
    gf_buffer_str(&s->notice, n->message);
}

/* "tweets.jsonl:1042: field "text" is not a string; 1 record refused (--rejects keeps them)" */
static void end_notices(gf_session *s)
{
    gf_buffer ending = {0};
    if (s->n_refused) {
        gf_buffer_str(&ending, "; ");
        gf_buffer_count(&ending, s->n_refused);
        gf_buffer_str(&ending, s->n_refused == 1 ? " record refused" : " records refused");
        if (s->n_refused > MOST_NOTICES)
            gf_buffer_format(&ending, ", of which these are the first %d", (int)MOST_NOTICES);
        if (s->rejects)
            gf_buffer_format(&ending, ", kept in %s", s->rejects);
        else if (gf_command_own_option(s->command, "rejects"))
            gf_buffer_str(&ending, " (--rejects keeps them)");
    } else if (s->n_notices > MOST_NOTICES) {
        gf_buffer_format(&ending, "\nand %" PRIu64 " more of these", s->n_notices - MOST_NOTICES);
    }
    print_notice(s, ending.len ? gf_buffer_cstr(&ending) : "");
    s->n_refused = s->n_notices = 0;
    gf_buffer_release(&ending);
}

/* ---- rows, bytes, progress of the operation -------------------------------------------------- */

/* "notes/: no file in it", once each. */
static void tell_empty_folders(gf_session *s)
{
    gf_slice names = s->files ? gf_files_take_empty(s->files) : (gf_slice){"", 0};
    if (names.len == 0) return;
    gf_meter_clear(&s->meter);
    end_notices(s);
    gf_text_print(stderr, names, 0);
    fputs(": no file in it\n", stderr);
}

static void tell_links(gf_session *s)
{
    uint64_t n = s->files ? gf_files_take_passed(s->files) : 0;
    gf_buffer text = {0};
    if (n == 0) return;
    gf_meter_clear(&s->meter);
    end_notices(s);
    gf_buffer_count(&text, n);
    fprintf(stderr, "%s %s passed over; --follow-links reads %s\n", gf_buffer_cstr(&text),
            n == 1 ? "link that leads out of its folder was"
                   : "links that lead out of their folders were",
            n == 1 ? "it" : "them");
    gf_buffer_release(&text);
}

static gf_status take_row(void *context, gf_slice row, gf_error *err)
{
    gf_session *s = context;
    s->access.told = true;
    gf_meter_clear(&s->meter);
    tell_empty_folders(s);
    tell_links(s);
    if (s->n_refused)
        end_notices(s);
    else
        print_notice(s, "");
    return gf_output_row(&s->output, row, err);
}

static gf_status take_bytes(void *context, gf_slice bytes, gf_error *err)
{
    gf_session *s = context;
    if (!s->bytes_file.file) return gf_output_bytes(&s->output, bytes, err);
    size_t n = fwrite(bytes.ptr ? bytes.ptr : "", 1, bytes.len, s->bytes_file.file);
    return n == bytes.len ? GF_OK : gf_fail_errno(err, "cannot write %s", s->bytes_file.path);
}

static gf_status take_reject(void *context, gf_slice record, gf_error *err)
{
    gf_session *s = context;
    fwrite(record.ptr ? record.ptr : "", 1, record.len, s->rejects_file);
    if (!gf_slice_ends(record, GF_SLICE("\n"))) fputc('\n', s->rejects_file);
    return ferror(s->rejects_file) ? gf_fail_errno(err, "cannot write %s", s->rejects) : GF_OK;
}

static void take_progress(void *context, gf_slice what, const char *phase, uint64_t done,
                          uint64_t total)
{
    gf_meter_tell(&((gf_session *)context)->meter, what, phase, done, total);
}

/* ---- beginning and ending -------------------------------------------------------------------- */

/* The format implied by the extension of the -o file. */
static bool format_of_name(const char *path, gf_output_format *format)
{
    static const struct {
        const char *ending;
        gf_output_format format;
    } endings[] = {{".csv", GF_OUTPUT_CSV},
                   {".json", GF_OUTPUT_JSON},
                   {".jsonl", GF_OUTPUT_JSONL},
                   {".ndjson", GF_OUTPUT_JSONL},
                   {".geojson", GF_OUTPUT_GEOJSON}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < GF_COUNT(endings); i++)
        if (strcasecmp(dot, endings[i].ending) == 0) {
            *format = endings[i].format;
            return true;
        }
    return false;
}

/* The operation itself makes rows that are features. */
static gf_status choose_geojson(gf_session *s, gf_error *err)
{
    for (size_t i = 0; i < s->operation->n_parameters; i++)
        if (strcmp(s->operation->parameters[i].name, "geojson") == 0)
            return gf_session_add(s, "geojson", "true", err);
    return gf_fail(err, GF_EINVAL, "geojson is a format of export alone");
}

static const gf_display *choose_display(const gf_session *s)
{
    const gf_command *c = s->command;
    for (size_t i = 0; i < c->n_others; i++)
        if (gf_session_has(s, c->others[i].argument) || (c->others[i].display.of_file && s->file))
            return &c->others[i].display;
    return gf_session_has(s, "columns") ? &gf_command_cells_display : &c->display;
}

/* A file's name that promises another format than is written. */
static gf_status check_name(const gf_session *s, gf_output_format format, gf_error *err)
{
    static const char *const others[] = {"xlsx", "xls",   "xlsm",    "ods", "numbers", "parquet",
                                         "avro", "arrow", "feather", "pdf", "docx",    "xml",
                                         "yaml", "tsv",   "tab",     "npz", "html",    "htm"};
    static const char *const packed[] = {"gz", "zst", "xz", "bz2", "lz4", "zip"};
    const gf_display *display = choose_display(s);
    const char *dot = s->out_path ? strrchr(s->out_path, '.') : NULL;
    bool json = format == GF_OUTPUT_JSON || format == GF_OUTPUT_JSONL;
    bool html = display->prints_file && !json;
    gf_output_format named;
    if (!dot) return GF_OK;
    for (size_t i = 0; i < GF_COUNT(packed); i++)
        if (strcasecmp(dot + 1, packed[i]) == 0)
            return gf_fail(err, GF_EINVAL,
                           "-o %s: nothing is compressed here; -o - and a pipe do it", s->out_path);
    if (html && (strcasecmp(dot, ".html") == 0 || strcasecmp(dot, ".htm") == 0)) return GF_OK;
    if (display->page && (strcasecmp(dot, ".tsv") == 0 || strcasecmp(dot, ".tab") == 0))
        return GF_OK;
    for (size_t i = 0; i < GF_COUNT(others); i++)
        if (strcasecmp(dot + 1, others[i]) == 0)
            return gf_fail(err, GF_EINVAL, "-o %s: no %s is written here; %s", s->out_path, dot,
                           html ? "name it .html"
                           : strcasecmp(dot, ".npz") == 0
                               ? "--matrix FILE.npz writes that"
                               : "there are .csv, which opens in spreadsheets (--bom), .json and "
                                 ".jsonl; Python's package writes .parquet and .xlsx");
    if (!format_of_name(s->out_path, &named)) return GF_OK;
    bool agrees = named == format || (named == GF_OUTPUT_CSV && format == GF_OUTPUT_SPREADSHEET) ||
                  (named == GF_OUTPUT_JSON && (json || format == GF_OUTPUT_GEOJSON));
    if (agrees && !html) return GF_OK;
    return gf_fail(err, GF_EINVAL, "-o %s: what is written there is %s", s->out_path,
                   html ? "HTML" : s->format);
}

static gf_status choose_lines(gf_session *s, gf_output_format *format, gf_error *err)
{
    if (s->format && strcmp(s->format, "jsonl") != 0)
        return gf_fail(err, GF_EINVAL, "--format %s: what is written is JSON Lines", s->format);
    s->format = "jsonl";
    *format = GF_OUTPUT_JSONL;
    return GF_OK;
}

static gf_status choose_format(gf_session *s, gf_output_format *format, gf_error *err)
{
    if (choose_display(s)->prints_lines) return choose_lines(s, format, err);
    if (s->format) {
        bool named = gf_output_format_named(s->format, format);
        if (named && *format == GF_OUTPUT_GEOJSON) return choose_geojson(s, err);
        if (named) return GF_OK;
        return gf_fail(err, GF_EINVAL,
                       "--format: \"%s\" is none of table, json, jsonl, csv, spreadsheet, plain",
                       s->format);
    }
    if (s->out_path && format_of_name(s->out_path, format))
        return *format == GF_OUTPUT_GEOJSON ? choose_geojson(s, err) : GF_OK;
    if (!s->out_path && isatty(STDOUT_FILENO) && !gf_listed_are_all(s, choose_display(s)))
        *format = GF_OUTPUT_TABLE;
    else
        *format = s->command->streams_jsonl && !choose_display(s)->page ? GF_OUTPUT_JSONL
                                                                        : GF_OUTPUT_PLAIN;
    return GF_OK;
}

/* --bom makes CSV that for spreadsheets; --no-defuse is of no other. */
static gf_status choose_cells(gf_session *s, gf_output_format *format, gf_error *err)
{
    gf_output_format named;
    bool chosen = s->format || (s->out_path && format_of_name(s->out_path, &named));
    if (s->bom && chosen && *format != GF_OUTPUT_CSV && *format != GF_OUTPUT_SPREADSHEET)
        return gf_fail(err, GF_EINVAL, "--bom: a byte order mark is of CSV; add --format csv");
    if (s->bom) {
        s->format = "spreadsheet";
        *format = GF_OUTPUT_SPREADSHEET;
    }
    if (s->no_defuse && *format != GF_OUTPUT_SPREADSHEET)
        return gf_fail(err, GF_EINVAL,
                       "--no-defuse: only CSV for spreadsheets has cells that are not as they were "
                       "(--bom, --format spreadsheet)");
    return GF_OK;
}

/* True where the path leads to a file among the words of the command line. */
static bool is_input(const gf_session *s, const char *path)
{
    struct stat file, word;
    if (stat(path, &file) != 0) return false;
    for (size_t i = 0; i < s->n_words; i++)
        if (stat(s->words[i], &word) == 0 && word.st_dev == file.st_dev &&
            word.st_ino == file.st_ino)
            return true;
    return false;
}

static gf_status open_rejects(gf_session *s, gf_error *err)
{
    if (is_input(s, s->rejects))
        return gf_fail(err, GF_EINVAL, "--rejects: %s is what is read", s->rejects);
    s->rejects_file = fopen(s->rejects, s->force ? "w" : "wx");
    if (s->rejects_file) return GF_OK;
    if (errno == EEXIST)
        return gf_fail(err, GF_EINVAL, "--rejects: %s is there already; --force replaces it",
                       s->rejects);
    return gf_fail_errno(err, "cannot make %s", s->rejects);
}

/* A file without any refused record is removed. */
static gf_status close_rejects(gf_session *s, gf_status status, gf_error *err)
{
    if (!s->rejects_file) return status;
    bool empty = ftell(s->rejects_file) == 0;
    bool kept = fclose(s->rejects_file) == 0;
    if (kept && empty) unlink(s->rejects);
    return kept || status != GF_OK ? status : gf_fail_errno(err, "cannot write %s", s->rejects);
}

static gf_status open_files(gf_session *s, gf_error *err)
{
    gf_status st = GF_OK;
    s->out = stdout;
    if (s->out_path) {
        st = gf_out_file_open(&s->out_file, s->out_path, s->force, err);
        if (st == GF_OK) s->out = s->out_file.file;
    }
    return st == GF_OK && s->rejects ? open_rejects(s, err) : st;
}

/*
 * The files stay only where the command succeeded; but where it failed for some of several
 * collections, the files with all other rows stay too.
 */
static gf_status close_files(gf_session *s, gf_status status, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    bool partly = s->call.partly;
    gf_error *to = partly ? &why : err;
    gf_status st = close_rejects(s, partly ? GF_OK : status, to);
    st = gf_out_file_close(&s->bytes_file, st, to);
    st = gf_out_file_close(&s->out_file, st, to);
    if (!partly) return st;
    if (st != GF_OK) *err = why;
    return st == GF_OK ? status : st;
}

static void fill_call(gf_session *s)
{
    bool printed = gf_output_is_file(s->output.display, s->output.format);
    s->call.arguments = s->arguments;
    s->call.n_arguments = s->n_arguments;
    s->call.name_space = gf_slice_str(s->name_space);
    s->call.sink = (gf_sink){.context = s,
                             .emit = take_row,
                             .write = s->bytes_file.file || printed ? take_bytes : NULL,
                             .notice = take_notice,
                             .progress = take_progress,
                             .reject = s->rejects_file ? take_reject : NULL};
    s->call.cancel = &gf_session_stop;
}

static void fill_access(gf_session *s)
{
    gf_store_access *c = &s->access;
    bool purges = gf_session_has(s, "purge");
    c->store_path = s->store_path;
    c->command = s->command->name;
    c->maker = gf_command_maker(s->command)->name;
    c->wait_seconds = s->wait_seconds;
    c->wait_given = s->wait_given;
    c->small_buffers = gf_session_has(s, "memory");
    c->read_only = s->read_only;
    /* A purge is alone with the store: texts that others read meanwhile would stay in the files. */
    c->answers = s->command->answers && !purges;
    c->purges = purges;
    c->announces = !s->command->shows_made;
    c->quiet = s->meter.kind == GF_METER_NONE;
    c->cancel = &gf_session_stop;
    if (s->files) c->from = gf_files_input(s->files);
    if (s->source) c->from = gf_source_input(s->source);
    c->out = s->out;
}

/* The command line counts more than the environment, and that more than the file of options. */
static const char *first_of(const char *option, const char *variable, const char *kept,
                            const char *otherwise)
{
    const char *value = getenv(variable);
    return option ? option : value && *value ? value : kept ? kept : otherwise;
}

/* An option counts more than the environment; --store, more than a server of the environment. */
static gf_status choose_server(gf_session *s, gf_error *err)
{
    gf_remote *r = &s->access.remote;
    if (s->server_option && s->store_option)
        return gf_fail(err, GF_EINVAL, "either --store or --server");
    bool store_kept = s->kept.store || first_of(NULL, "GROUPERFISH_STORE", NULL, NULL);
    if (s->kept.store && s->kept.server)
        return gf_fail(err, GF_EINVAL, "the file of options has both store and server: choose one");
    const char *kept = store_kept ? NULL : s->kept.server;
    if (!s->store_option) r->url = first_of(s->server_option, "GROUPERFISH_SERVER", kept, NULL);
    if (r->url && !*r->url) r->url = NULL;
    if (s->command->run && !s->command->runs_operations) { /* no server does it for others */
        if (s->server_option) return gf_fail(err, GF_EINVAL, "--server is not for this command");
        if (s->read_only) return gf_fail(err, GF_EINVAL, "--read-only is not for this command");
        r->url = NULL;
    }
    if (s->token_option && !r->url)
        return gf_fail(err, GF_EINVAL, "--token-file goes with --server");
    if (!r->url) return GF_OK;
    const char *token = first_of(s->token_option, "GROUPERFISH_TOKEN_FILE", s->kept.token, NULL);
    gf_status st = gf_remote_check(r->url, err);
    if (st != GF_OK || !token || !*token) return st;
    st = gf_remote_read_token(token, &s->token, err);
    r->token = gf_buffer_view(&s->token);
    return st;
}

static gf_status choose_store(gf_session *s, gf_error *err)
{
    s->store_path =
        first_of(s->store_option, "GROUPERFISH_STORE", s->kept.store, "./grouperfish.store");
    s->name_space =
        first_of(s->namespace_option, "GROUPERFISH_NAMESPACE", s->kept.name_space, "default");
    gf_status st = choose_server(s, err);
    if (st != GF_OK) return st;
    return *s->store_path ? GF_OK : gf_fail(err, GF_EINVAL, "--store is empty");
}

/* ---- running --------------------------------------------------------------------------------- */

/* Rows of several collections: a list, with the collection as its first column. */
static void display_several(gf_display *display, gf_display_column columns[GF_DISPLAY_MOST_COLUMNS])
{
    size_t n = 0;
    bool named = strcmp(display->columns[0].key, "collection") == 0;
    if (!named) columns[n++] = (gf_display_column){"collection", "collection", GF_COLUMN_TEXT};
    for (size_t i = 0; i < display->n_columns && n < GF_DISPLAY_MOST_COLUMNS; i++)
        columns[n++] = display->columns[i];
    *display = (gf_display){.columns = columns,
                            .n_columns = n,
                            .spread = display->spread,
                            .inner = display->inner,
                            .nothing = display->nothing};
}

/* After a failure the output is readable too: brackets are closed, kept rows printed. */
static gf_status run_operation(gf_session *s, gf_output_format format, gf_error *err)
{
    gf_display_column columns[GF_DISPLAY_MOST_COLUMNS];
    gf_display display = *choose_display(s);
    gf_arena names = {0};
    gf_status st = GF_OK;
    if (format == GF_OUTPUT_TABLE || format == GF_OUTPUT_PLAIN)
        st = gf_listed_columns(s, &display, columns, &names, err);
    if (st != GF_OK) {
        gf_arena_release(&names);
        return st;
    }
    if (gf_several_is_asked(s->operation, s->arguments, s->n_arguments))
        display_several(&display, columns);
    st = gf_output_init(&s->output, format, &display, s, s->out, err);
    if (st != GF_OK) {
        gf_arena_release(&names);
        return st;
    }
    if (s->no_defuse) s->output.csv_style = GF_CSV_AS_NEEDED;
    fill_call(s);
    fill_access(s);
    st = s->access.remote.url && s->command->run_on_server
             ? s->command->run_on_server(s, err)
             : gf_store_access_run(&s->access, s->operation, &s->call, err);
    gf_meter_clear(&s->meter);
    tell_empty_folders(s);
    tell_links(s);
    end_notices(s);
    if (st == GF_OK || s->output.n_rows) {
        gf_status ended = gf_output_end(&s->output, st == GF_OK ? err : NULL);
        if (st == GF_OK) st = ended;
    }
    gf_output_release(&s->output);
    gf_arena_release(&names);
    return st;
}

static gf_status run_command(gf_session *s, gf_error *err)
{
    gf_output_format format;
    gf_status st = GF_OK;
    if (s->progress_option && !gf_meter_named(s->progress_option, &s->meter.kind))
        return gf_fail(err, GF_EINVAL, "--progress: \"%s\" is none of auto, none, jsonl",
                       s->progress_option);
    if (s->read_only && gf_operation_changes_store(s->operation))
        return gf_fail(err, GF_EINVAL, "--read-only: this command changes the store");
    st = choose_format(s, &format, err);
    if (st == GF_OK) st = choose_cells(s, &format, err);
    if (st == GF_OK) st = check_name(s, format, err);
    if (st == GF_OK && s->command->prepare) st = s->command->prepare(s, err);
    if (s->files && s->follow_links) gf_files_follow_links(s->files);
    if (st == GF_OK) st = open_files(s, err);
    if (st == GF_OK) st = run_operation(s, format, err);
    return close_files(s, st, err);
}

static int exit_code(const gf_session *s, gf_status st)
{
    static const int of_outcome[] = {[GF_OUTCOME_DONE] = GF_EXIT_DONE,
                                     [GF_OUTCOME_SOME_ABSENT] = GF_EXIT_ABSENT,
                                     [GF_OUTCOME_SOME_REFUSED] = GF_EXIT_REFUSED,
                                     [GF_OUTCOME_DAMAGE_FOUND] = GF_EXIT_DAMAGE,
                                     [GF_OUTCOME_REBUILD_FAILED] = GF_EXIT_REBUILD};
    bool rebuilds = s->operation && s->operation->rebuilds;
    switch (st) {
    case GF_OK:
        return of_outcome[s->call.outcome];
    case GF_ENOTFOUND:
        return GF_EXIT_ABSENT;
    case GF_EINVAL:
    case GF_EEXISTS:
    case GF_ELIMIT:
        return GF_EXIT_USAGE;
    case GF_EBUSY:
        return GF_EXIT_HELD;
    case GF_ECORRUPT:
        return GF_EXIT_DAMAGE;
    case GF_ECANCELLED: /* by a signal, or by somebody else: a server's task */
        if (gf_session_signal) return GF_EXIT_SIGNAL + gf_session_signal;
        return rebuilds ? GF_EXIT_REBUILD : GF_EXIT_STOPPED;
    case GF_ECONFLICT:
        return rebuilds ? GF_EXIT_REBUILD : GF_EXIT_USAGE;
    default:
        return GF_EXIT_DISK;
    }
}

/* A message may begin with the name of an argument; here those are options. */
static bool begins_with_option(const gf_session *s, const char *message)
{
    for (size_t i = 0; i < s->operation->n_parameters; i++) {
        const char *name = s->operation->parameters[i].name;
        size_t n = strlen(name);
        if (strncmp(message, name, n) == 0 && (message[n] == ':' || message[n] == ' '))
            return !gf_command_has_word(s->command, name);
    }
    return false;
}

static void print_error(const gf_session *s, gf_status st, const gf_error *err)
{
    bool option = st == GF_EINVAL && begins_with_option(s, err->message);
    fprintf(stderr, "grouperfish %s: %s", s->command->name, option ? "--" : "");
    gf_text_print(stderr, gf_slice_str(err->message), 0);
    fputc('\n', stderr);
    if (st == GF_EINVAL) fprintf(stderr, "See: grouperfish help %s\n", s->command->name);
}

static bool can_have_ranks(const gf_operation *o)
{
    for (size_t i = 0; i < o->n_parameters; i++)
        if (strcmp(o->parameters[i].name, "ranks") == 0) return true;
    return false;
}

/*
 * Started by mpirun or srun, this process and those beside it are the ranks: the first has the store.
 * Does not return in the others.
 */
static gf_status join_ranks(gf_session *s, gf_error *err)
{
    gf_ranks_world world;
    if (!s->operation || !can_have_ranks(s->operation) || s->access.remote.url ||
        !gf_ranks_world_find(&world))
        return GF_OK;
    bool asked = gf_session_has(s, "ranks") || gf_session_has(s, "hosts");
    if (world.n == 1 && !asked) return GF_OK;
    gf_slice given = gf_session_argument(s, "threads");
    const char *threads = given.len ? given.ptr : "0"; /* arguments are whole words */
    if (world.me > 0) return gf_ranks_world_become(&world, threads, err);
    snprintf(s->n_ranks, sizeof s->n_ranks, "%u", world.n);
    gf_status st = asked ? GF_OK : gf_session_add(s, "ranks", s->n_ranks, err);
    return st == GF_OK ? gf_ranks_world_open(&world, threads, err) : st;
}

int gf_session_run(gf_session *s)
{
    gf_error err = {GF_OK, ""};
    gf_meter_init(&s->meter);
    gf_status st = choose_store(s, &err);
    if (st == GF_OK) st = join_ranks(s, &err);
    if (st == GF_OK) st = s->command->run ? s->command->run(s, &err) : run_command(s, &err);
    /* The reader closed the pipe: it has all that it wanted. */
    bool unread = st == GF_ECANCELLED && !gf_session_signal && ferror(stdout);
    if (st != GF_OK && !unread) print_error(s, st, &err);
    gf_store_access_close(&s->access);
    gf_ranks_world_close();
    gf_files_close(s->files);
    gf_source_close(s->source);
    gf_meter_release(&s->meter);
    gf_buffer_release(&s->notice);
    gf_buffer_release(&s->text);
    gf_buffer_release(&s->token);
    return unread ? GF_EXIT_DONE : exit_code(s, st);
}

void gf_session_suggest(gf_session *s, const char *command, gf_slice argument)
{
    const struct {
        const char *name, *value;
    } options[] = {{"store", s->store_option},
                   {"server", s->server_option},
                   {"token-file", s->token_option},
                   {"namespace", s->namespace_option}};
    gf_buffer word = {0};
    fprintf(s->out, "    grouperfish %s", command);
    if (argument.len) {
        gf_buffer_slice(&word, argument);
        fputc(' ', s->out);
        gf_text_print_word(s->out, gf_buffer_cstr(&word));
    }
    for (size_t i = 0; i < GF_COUNT(options); i++) {
        if (!options[i].value) continue;
        fprintf(s->out, " --%s ", options[i].name);
        gf_text_print_word(s->out, options[i].value);
    }
    fputc('\n', s->out);
    gf_buffer_release(&word);
}

void gf_session_table(gf_session *s, const gf_display *display, gf_json_value row, const char *list)
{
    gf_json_value items, item;
    gf_slice name;
    gf_text_table table;
    gf_status st = GF_OK;
    if (!gf_json_member(row, list, &items)) return;
    gf_text_table_init(&table, display, s->out, s->output.width);
    gf_json_iterator it = gf_json_items(items);
    while (st == GF_OK && gf_json_next(&it, &name, &item))
        st = gf_text_table_row(&table, item, NULL);
    gf_text_table_end(&table);
    gf_text_table_release(&table);
}
