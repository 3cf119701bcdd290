#include "engine/ranks/process.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "engine/ranks/programs.h"
#include "engine/ranks/world.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOST_RANKS = 4096,
    START_SECONDS = 60,  /* until rank 0 is there: hosts are reached by ssh */
    FINISH_SECONDS = 30, /* from its last word to mpirun's end */
    END_SECONDS = 5,     /* from SIGTERM to SIGKILL */
    PROBE_SECONDS = 20,  /* in which a host answers, or is left out */
    MOST_HOSTS = 1024,   /* that are probed */
    SAID = 16384         /* bytes at the end of what was said that are looked at */
};

/* ---- hosts ---------------------------------------------------------------------------------------- */

/* The next line of a file of hosts that names one; false at its end. */
static bool take_host(gf_slice *rest, gf_slice *line)
{
    while (rest->len) {
        const char *end = memchr(rest->ptr, '\n', rest->len);
        size_t length = end ? (size_t)(end - rest->ptr) : rest->len, at = 0;
        *line = gf_slice_of(rest->ptr, length);
        *rest = gf_slice_skip(*rest, length + (end ? 1 : 0));
        while (at < length && (line->ptr[at] == ' ' || line->ptr[at] == '\t'))
            at++;
        if (at < length && line->ptr[at] != '#') return true;
    }
    return false;
}

gf_status gf_ranks_process_count(const gf_ranks_start *s, unsigned *n, gf_error *err)
{
    gf_buffer text = {0};
    unsigned lines = 0;
    *n = s->n;
    if (!s->hosts || s->n) return GF_OK;
    gf_status st = gf_file_read(s->hosts, &text, err);
    gf_slice rest = gf_buffer_view(&text), line;
    while (st == GF_OK && take_host(&rest, &line))
        lines++;
    gf_buffer_release(&text);
    if (st == GF_OK && lines == 0) st = gf_fail(err, GF_EINVAL, "%s names no host", s->hosts);
    if (st == GF_OK) *n = lines;
    return st;
}

gf_status gf_ranks_process_check(const gf_ranks_start *s, gf_error *err)
{
    gf_buffer mpirun = {0}, rank = {0};
    unsigned n = 0, started = gf_ranks_world_n();
    if (started && (s->hosts || s->n != started))
        return gf_fail(err, GF_EINVAL,
                       "the %u processes that mpirun or srun started are the ranks: leave --ranks "
                       "and --hosts out",
                       started);
    if (started) return GF_OK;
    gf_status st = gf_ranks_process_count(s, &n, err);
    if (st == GF_OK && (n < 1 || n > MOST_RANKS))
        st = gf_fail(err, GF_EINVAL, "%u ranks: there may be 1 to %d", n, MOST_RANKS);
    if (st == GF_OK) st = gf_ranks_programs_mpirun(&mpirun, err);
    if (st == GF_OK) st = gf_ranks_programs_rank(&rank, err);
    gf_buffer_release(&mpirun);
    gf_buffer_release(&rank);
    return st;
}

/* ---- starting -------------------------------------------------------------------------------------- */

/* A folder that only this user may enter, and in it a socket. */
static gf_status listen_for_rank(gf_ranks_process *p, gf_error *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const char *temporary = getenv("TMPDIR");
    if (!temporary || strlen(temporary) > 60) temporary = "/tmp";
    gf_buffer_format(&p->folder, "%s/grouperfish-XXXXXX", temporary);
    gf_status st = gf_buffer_check(&p->folder, err);
    if (st != GF_OK) return st;
    gf_buffer_cstr(&p->folder);
    if (!mkdtemp(p->folder.ptr)) {
        st = gf_fail_errno(err, "%s", p->folder.ptr);
        gf_buffer_reset(&p->folder);
        return st;
    }
    gf_buffer_format(&p->path, "%s/rank", p->folder.ptr);
    st = gf_buffer_check(&p->path, err);
    if (st != GF_OK) return st;
    snprintf(at.sun_path, sizeof at.sun_path, "%s", gf_buffer_cstr(&p->path));
    p->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (p->listener < 0 || bind(p->listener, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(p->listener, 1) != 0)
        return gf_fail_errno(err, "a socket for ranks");
    return GF_OK;
}

/*
 * Several threads of a rank are not bound to one processor; ranks that wait give way; as root mpirun wants
 * to be told twice.
 */
static void write_command(gf_ranks_words *c, const gf_ranks_start *s, const char *mpirun,
                          const char *n)
{
    gf_ranks_programs_add(c, mpirun);
    if (geteuid() == 0) gf_ranks_programs_add(c, "--allow-run-as-root");
    gf_ranks_programs_add(c, "--oversubscribe");
    gf_ranks_programs_add(c, "--bind-to");
    gf_ranks_programs_add(c, "none");
    gf_ranks_programs_add(c, "--mca");
    gf_ranks_programs_add(c, "mpi_yield_when_idle");
    gf_ranks_programs_add(c, "1");
    if (s->hosts) {
        gf_ranks_programs_add(c, "--hostfile");
        gf_ranks_programs_add(c, s->hosts);
        gf_ranks_programs_add(c, "--map-by");
        gf_ranks_programs_add(c, "node");
    }
    gf_ranks_programs_add(c, "-n");
    gf_ranks_programs_add(c, n);
}

/* mpirun has ended: what it said, from the first line that is more than a rule. */
static gf_status fail_start(const gf_ranks_process *p, gf_error *err)
{
    char text[2048];
    gf_buffer said = {0}, line = {0};
    if (gf_ranks_process_said(p, &said)) {
        gf_status st = gf_fail(err, GF_EIO, "%s", gf_buffer_cstr(&said));
        gf_buffer_release(&said);
        return st;
    }
    ssize_t n = pread(p->said, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    for (char *at = text; *at && line.len < 300;) {
        size_t length = strcspn(at, "\n");
        if (length && at[0] != '-') {
            if (line.len) gf_buffer_byte(&line, ' ');
            gf_buffer_append(&line, at, length);
        }
        at += length + (at[length] == '\n');
    }
    gf_status st = gf_fail(err, GF_EIO, "the ranks do not start: %s",
                           line.len ? gf_buffer_cstr(&line) : "mpirun says nothing");
    gf_buffer_release(&line);
    gf_buffer_release(&said);
    return st;
}

static bool has_ended(gf_ranks_process *p)
{
    if (p->mpirun && waitpid(p->mpirun, NULL, WNOHANG) == p->mpirun) p->mpirun = 0;
    return p->mpirun == 0;
}

static gf_status accept_rank(gf_ranks_process *p, const gf_cancel *cancel, gf_error *err)
{
    struct pollfd wait = {.fd = p->listener, .events = POLLIN};
    double until = gf_clock_seconds() + START_SECONDS;
    for (;;) {
        gf_status st = gf_cancel_check(cancel, err);
        if (st != GF_OK) return st;
        if (poll(&wait, 1, 100) > 0) break;
        if (has_ended(p)) return fail_start(p, err);
        if (gf_clock_seconds() > until)
            return gf_fail(err, GF_EIO, "the ranks do not start within %d seconds", START_SECONDS);
    }
    p->fd = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC);
    return p->fd >= 0 ? GF_OK : gf_fail_errno(err, "the socket of a rank");
}

static gf_status start_mpirun(const gf_ranks_start *s, gf_ranks_process *p, gf_error *err)
{
    gf_buffer mpirun = {0}, rank = {0};
    char number[16], threads[16];
    gf_ranks_words c = {.n = 0};
    unsigned n = 0;
    gf_status st = gf_ranks_process_count(s, &n, err);
    if (st == GF_OK) st = gf_ranks_programs_mpirun(&mpirun, err);
    if (st == GF_OK) st = gf_ranks_programs_rank(&rank, err);
    if (st == GF_OK) {
        p->said = memfd_create("ranks", MFD_CLOEXEC);
        if (p->said < 0) st = gf_fail_errno(err, "a file for what ranks say");
    }
    if (st == GF_OK) {
        snprintf(number, sizeof number, "%u", n);
        snprintf(threads, sizeof threads, "%u", s->threads);
        write_command(&c, s, gf_buffer_cstr(&mpirun), number);
        gf_ranks_programs_add(&c, gf_buffer_cstr(&rank));
        gf_ranks_programs_add(&c, gf_buffer_cstr(&p->path));
        gf_ranks_programs_add(&c, threads);
        int code = gf_ranks_programs_spawn(&c, -1, p->said, &p->mpirun);
        if (code) st = gf_fail(err, GF_EIO, "%s: %s", c.words[0], strerror(code));
        if (code) p->mpirun = 0;
    }
    gf_buffer_release(&mpirun);
    gf_buffer_release(&rank);
    return st;
}

gf_status gf_ranks_process_open(const gf_ranks_start *s, gf_ranks_process *process, gf_error *err)
{
    gf_ranks_process p = {.fd = -1, .listener = -1, .said = -1};
    gf_status st = listen_for_rank(&p, err);
    if (st == GF_OK)
        st = gf_ranks_world_n()
                 ? gf_ranks_world_take(gf_buffer_cstr(&p.path), &p.mpirun, &p.said, err)
                 : start_mpirun(s, &p, err);
    if (st == GF_OK) st = accept_rank(&p, s->cancel, err);
    if (st == GF_OK)
        *process = p;
    else
        gf_ranks_process_close(&p, false);
    return st;
}

/* ---- hosts that answer ----------------------------------------------------------------------------- */

typedef struct probe {
    gf_slice line;
    char path[64]; /* a file with that line alone */
    pid_t process;
    bool answers;
} probe;

/* A file of its own with these bytes. */
static gf_status write_temporary(gf_slice bytes, char path[64], gf_error *err)
{
    snprintf(path, 64, "/tmp/grouperfish-hosts-XXXXXX");
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        path[0] = '\0';
        return gf_fail_errno(err, "a file of hosts");
    }
    bool written = write(fd, bytes.ptr, bytes.len) == (ssize_t)bytes.len && write(fd, "\n", 1) == 1;
    gf_status st = written ? GF_OK : gf_fail_errno(err, "%s", path);
    close(fd);
    return st;
}

static gf_status start_probe(const char *mpirun, const char *rank, probe *p, gf_error *err)
{
    gf_status st = write_temporary(p->line, p->path, err);
    const gf_ranks_start one = {.n = 1, .hosts = p->path};
    gf_ranks_words c = {.n = 0};
    int none = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (st == GF_OK && none < 0) st = gf_fail_errno(err, "/dev/null");
    if (st == GF_OK) {
        write_command(&c, &one, mpirun, "1");
        gf_ranks_programs_add(&c, rank);
        gf_ranks_programs_add(&c, "--version");
        int code = gf_ranks_programs_spawn(&c, -1, none, &p->process);
        if (code) p->process = 0;
        if (code) st = gf_fail(err, GF_EIO, "%s: %s", mpirun, strerror(code));
    }
    if (none >= 0) close(none);
    return st;
}

/* Wait for all until the time is over; those that are late are ended. */
static gf_status wait_for_probes(probe *probes, unsigned n, const gf_cancel *cancel, gf_error *err)
{
    double until = gf_clock_seconds() + PROBE_SECONDS;
    unsigned left = 1;
    gf_status st = GF_OK;
    while (left && st == GF_OK && gf_clock_seconds() < until) {
        left = 0;
        for (unsigned i = 0; i < n; i++) {
            int how = 0;
            if (!probes[i].process) continue;
            if (waitpid(probes[i].process, &how, WNOHANG) != probes[i].process) {
                left++;
                continue;
            }
            probes[i].process = 0;
            probes[i].answers = WIFEXITED(how) && WEXITSTATUS(how) == 0;
        }
        st = gf_cancel_check(cancel, err);
        if (left) poll(NULL, 0, 20);
    }
    for (unsigned i = 0; i < n; i++) {
        if (!probes[i].process) continue;
        kill(-probes[i].process, SIGKILL);
        waitpid(probes[i].process, NULL, 0);
    }
    return st;
}

/* The lines of those that answer go to a file, unless all do. */
static gf_status list_answering(const probe *probes, unsigned n, gf_buffer *answering,
                                gf_error *err)
{
    gf_buffer lines = {0};
    unsigned found = 0;
    char path[64] = "";
    for (unsigned i = 0; i < n; i++) {
        if (!probes[i].answers) continue;
        if (found++) gf_buffer_byte(&lines, '\n');
        gf_buffer_slice(&lines, probes[i].line);
    }
    gf_status st = gf_buffer_check(&lines, err);
    if (st == GF_OK && !probes[0].answers)
        st = gf_fail(err, GF_EIO,
                     "the first host of the list, which is to be this machine, starts no rank");
    if (st == GF_OK && found < n) st = write_temporary(gf_buffer_view(&lines), path, err);
    gf_buffer_reset(answering);
    gf_buffer_str(answering, path);
    gf_buffer_release(&lines);
    return st == GF_OK ? gf_buffer_check(answering, err) : st;
}

gf_status gf_ranks_process_probe(const gf_ranks_start *s, gf_buffer *answering, gf_error *err)
{
    gf_buffer mpirun = {0}, rank = {0}, text = {0};
    probe *probes = gf_calloc(MOST_HOSTS, sizeof *probes);
    unsigned n = 0;
    gf_status st = probes ? gf_ranks_programs_mpirun(&mpirun, err) : gf_fail_memory(err, "hosts");
    if (st == GF_OK) st = gf_ranks_programs_rank(&rank, err);
    if (st == GF_OK) st = gf_file_read(s->hosts, &text, err);
    gf_slice rest = gf_buffer_view(&text);
    while (st == GF_OK && n < MOST_HOSTS && take_host(&rest, &probes[n].line)) {
        st = start_probe(gf_buffer_cstr(&mpirun), gf_buffer_cstr(&rank), &probes[n], err);
        n++;
    }
    gf_error late;
    gf_status waited = probes ? wait_for_probes(probes, n, s->cancel, &late) : GF_OK;
    if (st == GF_OK && waited != GF_OK) {
        st = waited;
        if (err) *err = late;
    }
    if (st == GF_OK) st = list_answering(probes, n, answering, err);
    for (unsigned i = 0; i < n; i++)
        if (probes[i].path[0]) unlink(probes[i].path);
    gf_free(probes);
    gf_buffer_release(&mpirun);
    gf_buffer_release(&rank);
    gf_buffer_release(&text);
    return st;
}

/* ---- the end ---------------------------------------------------------------------------------------- */

static bool ends_within(gf_ranks_process *p, double seconds)
{
    double until = gf_clock_seconds() + seconds;
    while (!has_ended(p)) {
        if (gf_clock_seconds() > until) return false;
        poll(NULL, 0, 20);
    }
    return true;
}

void gf_ranks_process_close(gf_ranks_process *p, bool finish)
{
    if (!finish && p->fd >= 0) shutdown(p->fd, SHUT_RDWR);
    if (p->mpirun && !(finish && ends_within(p, FINISH_SECONDS))) {
        kill(p->mpirun, SIGTERM); /* mpirun ends its ranks */
        if (!ends_within(p, END_SECONDS)) {
            kill(-p->mpirun, SIGKILL);
            waitpid(p->mpirun, NULL, 0);
        }
    }
    if (p->fd >= 0) close(p->fd);
    if (p->listener >= 0) close(p->listener);
    if (p->said >= 0) close(p->said);
    if (p->path.len) unlink(gf_buffer_cstr(&p->path));
    if (p->folder.len) rmdir(gf_buffer_cstr(&p->folder));
    gf_buffer_release(&p->path);
    gf_buffer_release(&p->folder);
    *p = (gf_ranks_process){.fd = -1, .listener = -1, .said = -1};
}

bool gf_ranks_process_said(const gf_ranks_process *p, gf_buffer *out)
{
    static const char sign[] = "grouperfish-rank: ";
    char *text = gf_malloc(SAID + 1);
    off_t size = lseek(p->said, 0, SEEK_END);
    off_t from = size > SAID ? size - SAID : 0;
    ssize_t n = text && size > 0 ? pread(p->said, text, SAID, from) : 0;
    if (text) text[n > 0 ? n : 0] = '\0';
    const char *found = text ? strstr(text, sign) : NULL;
    if (found)
        gf_buffer_append(out, found + sizeof sign - 1, strcspn(found + sizeof sign - 1, "\n"));
    gf_free(text);
    return found != NULL;
}
