/* The transport of the command: the store opened here, rows to the terminal, progress beside them.
 */
#include "cli/session.h"

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_NOTICES = 20 };

#define LINE_EVERY 0.2  /* seconds between updates on a terminal */
#define LOG_EVERY  10.0 /* and of lines elsewhere */

gf_cancel gf_stop;

/* ---- what the operation asks for --------------------------------------------------------------
 */

static gf_status open_store(void *context, bool create, gf_store **store, gf_error *err)
{
    gf_session *s = context;
    if (s->store) {
        *store = s->store;
        return GF_OK;
    }
    gf_store_options o = {.create = create,
                          .wait_seconds = s->wait_seconds,
                          .purpose = s->command->name,
                          .cancel = &gf_stop};
    gf_status st = gf_store_open(s->store_path, &o, &s->store, err);
    if (st == GF_ENOTFOUND)
        return gf_fail(err, st,
                       "there is no store at %s; grouperfish put makes one, --store names another",
                       s->store_path);
    if (st != GF_OK) return st;
    if (gf_store_is_new(s->store) && strcmp(s->command->name, "init") != 0)
        fprintf(stderr, "made a store at %s\n", s->store_path);
    *store = s->store;
    return GF_OK;
}

static const char *store_path(void *context)
{
    return ((gf_session *)context)->store_path;
}

static gf_status emit(void *context, gf_slice row, gf_error *err)
{
    gf_session *s = context;
    gf_session_clear_line(s);
    return gf_output_row(&s->output, row, err);
}

static gf_status reject(void *context, gf_slice record, gf_error *err)
{
    gf_session *s = context;
    fwrite(record.ptr ? record.ptr : "", 1, record.len, s->rejects_file);
    if (!gf_slice_ends(record, GF_SLICE("\n"))) fputc('\n', s->rejects_file);
    return ferror(s->rejects_file) ? gf_fail_errno(err, "cannot write %s", s->rejects) : GF_OK;
}

static void print_notice(const gf_notice *n)
{
    gf_buffer b = {0};
    gf_buffer_slice(&b, n->source);
    if (n->line) gf_buffer_format(&b, ":%" PRIu64, n->line);
    if (b.len) gf_buffer_str(&b, ": ");
    gf_buffer_str(&b, n->message);
    gf_print_text(stderr, gf_buffer_view(&b), 0);
    fputc('\n', stderr);
    gf_buffer_release(&b);
}

static void notice(void *context, const gf_notice *n)
{
    gf_session *s = context;
    gf_session_clear_line(s);
    if (++s->n_notices <= MOST_NOTICES) print_notice(n);
}

/* ---- progress ---------------------------------------------------------------------------------
 */

void gf_session_clear_line(gf_session *s)
{
    if (!s->progress_line) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    s->progress_line = false;
}

static void json_progress(gf_slice what, const char *phase, uint64_t done, uint64_t total)
{
    gf_buffer b = {0};
    gf_json_writer w = gf_json_writer_to(&b);
    gf_json_begin(&w, '{');
    gf_json_put_string(&w, "what", what);
    gf_json_put_str(&w, "phase", phase);
    gf_json_put_uint(&w, "done", done);
    if (total) gf_json_put_uint(&w, "total", total);
    gf_json_end(&w, '}');
    fprintf(stderr, "%s\n", gf_buffer_cstr(&b));
    gf_buffer_release(&b);
}

static void line_progress(gf_session *s, gf_slice what, const char *phase, uint64_t done,
                          uint64_t total, double now, bool terminal)
{
    gf_buffer b = {0};
    gf_buffer_format(&b, "%.*s: %s", GF_SLICE_ARG(what), phase);
    if (done) {
        gf_buffer_byte(&b, ' ');
        gf_buffer_count(&b, done);
    }
    if (total) {
        gf_buffer_str(&b, " of ");
        gf_buffer_count(&b, total);
    }
    gf_buffer_format(&b, "  %.0f s", now - s->started);
    if (terminal) fputs("\r", stderr);
    gf_print_text(stderr, gf_buffer_view(&b), terminal ? 79 : 0);
    fputs(terminal ? "\033[K" : "\n", stderr);
    fflush(stderr);
    s->progress_line = terminal;
    gf_buffer_release(&b);
}

static void progress(void *context, gf_slice what, const char *phase, uint64_t done, uint64_t total)
{
    gf_session *s = context;
    if (s->progress && strcmp(s->progress, "none") == 0) return;
    bool json = s->progress && strcmp(s->progress, "jsonl") == 0;
    bool terminal = isatty(STDERR_FILENO);
    double now = gf_clock_seconds(), every = terminal || json ? LINE_EVERY : LOG_EVERY;
    if (now - s->progress_shown < every || now - s->started < every) return;
    s->progress_shown = now;
    if (json)
        json_progress(what, phase, done, total);
    else
        line_progress(s, what, phase, done, total, now, terminal);
}

/* ---- beginning --------------------------------------------------------------------------------
 */

static gf_status choose_format(gf_session *s, gf_output_format *format, gf_error *err)
{
    bool terminal = isatty(fileno(s->out));
    size_t n = s->out_path ? strlen(s->out_path) : 0;
    if (s->format) {
        if (gf_output_format_named(s->format, format)) return GF_OK;
        return gf_fail(err, GF_EINVAL, "--format: \"%s\" is none of table, json, jsonl, csv, plain",
                       s->format);
    }
    if (terminal)
        *format = GF_TABLE;
    else if (n > 4 && strcmp(s->out_path + n - 4, ".csv") == 0)
        *format = GF_CSV;
    else
        *format = s->command->streams_jsonl ? GF_JSONL : GF_PLAIN_ROWS;
    return GF_OK;
}

/* -o is written beside its place and moved there when it is whole. */
static gf_status open_output(gf_session *s, gf_error *err)
{
    s->out = stdout;
    if (!s->out_path) return GF_OK;
    if (!s->force_output && access(s->out_path, F_OK) == 0)
        return gf_fail(err, GF_EINVAL, "%s is there already; --force replaces it", s->out_path);
    gf_buffer path = {0};
    gf_buffer_format(&path, "%s.part", s->out_path);
    gf_buffer_byte(&path, '\0');
    gf_status st = gf_buffer_check(&path, err);
    if (st != GF_OK) return st;
    s->part_path = path.ptr;
    s->out = fopen(s->part_path, "w");
    if (s->out) return GF_OK;
    s->out = stdout;
    gf_fail_errno(err, "cannot make %s", s->part_path);
    gf_free(s->part_path);
    s->part_path = NULL;
    return GF_EIO;
}

static gf_status close_output(gf_session *s, gf_status status, gf_error *err)
{
    if (!s->part_path) return status;
    bool whole = status == GF_OK && fflush(s->out) == 0 && fsync(fileno(s->out)) == 0;
    if (fclose(s->out) != 0) whole = false;
    if (whole && rename(s->part_path, s->out_path) != 0) whole = false;
    if (!whole && status == GF_OK) status = gf_fail_errno(err, "cannot write %s", s->out_path);
    if (!whole) unlink(s->part_path);
    gf_free(s->part_path);
    return status;
}

static gf_status open_rejects(gf_session *s, gf_error *err)
{
    if (!s->rejects) return GF_OK;
    s->rejects_file = fopen(s->rejects, "w");
    if (!s->rejects_file) return gf_fail_errno(err, "cannot make %s", s->rejects);
    s->call.reject = reject;
    return GF_OK;
}

static gf_status close_rejects(gf_session *s, gf_status status, gf_error *err)
{
    if (s->rejects_file && fclose(s->rejects_file) != 0 && status == GF_OK)
        return gf_fail_errno(err, "cannot write %s", s->rejects);
    return status;
}

static void fill_call(gf_session *s)
{
    s->call.arguments = s->arguments;
    s->call.n_arguments = s->n_arguments;
    s->call.name_space = gf_slice_str(s->name_space);
    s->call.store = open_store;
    s->call.store_path = store_path;
    s->call.emit = emit;
    s->call.notice = notice;
    s->call.progress = progress;
    s->call.context = s;
    s->call.cancel = &gf_stop;
    if (s->files) s->call.input = gf_files_input(s->files);
}

static void take_defaults(gf_session *s)
{
    const char *store = getenv("GROUPERFISH_STORE"), *space = getenv("GROUPERFISH_NAMESPACE");
    if (!s->store_path) s->store_path = store && *store ? store : "./grouperfish.store";
    if (!s->name_space) s->name_space = space && *space ? space : "default";
    s->started = gf_clock_seconds();
}

static gf_status check_progress(const gf_session *s, gf_error *err)
{
    static const char *const known[] = {"auto", "none", "jsonl"};
    for (size_t i = 0; s->progress && i < GF_COUNT(known); i++)
        if (strcmp(s->progress, known[i]) == 0) return GF_OK;
    if (!s->progress) return GF_OK;
    return gf_fail(err, GF_EINVAL, "--progress: \"%s\" is none of auto, none, jsonl", s->progress);
}

/* ---- running ----------------------------------------------------------------------------------
 */

static gf_status run_operation(gf_session *s, gf_error *err)
{
    gf_output_format format;
    gf_error end = {GF_OK, ""};
    gf_status st = check_progress(s, err);
    if (st == GF_OK) st = open_output(s, err);
    if (st == GF_OK) st = choose_format(s, &format, err);
    if (st == GF_OK) st = gf_output_init(&s->output, format, s->command, s, s->out, err);
    if (st != GF_OK) return close_output(s, st, err);
    fill_call(s);
    st = open_rejects(s, err);
    if (st == GF_OK) st = gf_operation_run(s->operation, &s->call, err);
    gf_session_clear_line(s);
    gf_status ended = s->output.n_rows || st == GF_OK ? gf_output_end(&s->output, &end) : GF_OK;
    if (st == GF_OK && ended != GF_OK) {
        st = ended;
        *err = end;
    }
    gf_output_release(&s->output);
    st = close_rejects(s, st, err);
    return close_output(s, st, err);
}

static int exit_code(const gf_session *s, gf_status st)
{
    bool rebuilds = strcmp(s->command->name, "rebuild") == 0;
    switch (st) {
    case GF_OK:
        break;
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
    case GF_ECANCELLED:
        return rebuilds ? GF_EXIT_REBUILD : GF_EXIT_STOPPED;
    case GF_ECONFLICT:
        return GF_EXIT_REBUILD;
    default:
        return GF_EXIT_DISK;
    }
    static const int codes[] = {[GF_DONE] = GF_EXIT_DONE,
                                [GF_SOME_ABSENT] = GF_EXIT_ABSENT,
                                [GF_SOME_REFUSED] = GF_EXIT_REFUSED,
                                [GF_DAMAGE_FOUND] = GF_EXIT_DAMAGE,
                                [GF_REBUILD_FAILED] = GF_EXIT_REBUILD};
    return codes[s->call.outcome];
}

static void print_ending(gf_session *s, gf_status st, const gf_error *err)
{
    if (s->n_notices > MOST_NOTICES)
        fprintf(stderr, "and %" PRIu64 " more of these\n", s->n_notices - MOST_NOTICES);
    /* Whoever closed the pipe knows. */
    if (st == GF_OK || (st == GF_ECANCELLED && ferror(stdout))) return;
    fprintf(stderr, "grouperfish %s: ", s->command->name);
    gf_print_text(stderr, gf_slice_str(err->message), 0);
    fputc('\n', stderr);
    if (st == GF_EINVAL) fprintf(stderr, "See: grouperfish help %s\n", s->command->name);
}

int gf_session_run(gf_session *s)
{
    gf_error err = {GF_OK, ""};
    take_defaults(s);
    gf_status st = s->command->prepare ? s->command->prepare(s, &err) : GF_OK;
    if (st == GF_OK) st = run_operation(s, &err);
    gf_store_close(s->store);
    gf_files_close(s->files);
    print_ending(s, st, &err);
    if (st == GF_ECANCELLED && ferror(stdout)) return GF_EXIT_DONE;
    return exit_code(s, st);
}
