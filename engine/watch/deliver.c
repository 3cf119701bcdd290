/*
 * A round: alerts that wait are sent, each by its rule's way, and what came of it is noted.
 *
 *     read -> send -> note (synced)
 *
 * A process that ends between the second and the third sends again, so an alert has an id by which its
 * receiver knows it: the digest of its body, which never changes. Nothing is held while one is sent.
 *
 * A receiver that is silent takes its seconds: where a rule's alerts found one, those behind them wait for the
 * next round, so that other rules have their turn.
 */
#include "engine/store/lock.h"
#include "engine/watch/kept.h"
#include "engine/watch/turn.h"

#include "base/clock.h"
#include "base/http/client.h"
#include "base/memory.h"
#include "formats/bytes/sign.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ANSWER_SECONDS = 10,
    COMMAND_SECONDS = 30,
    MOST_ANSWER = 64 << 10, /* bytes, of which nothing is read */
    LONGEST_WAIT = 3600,    /* seconds */
    GIVEN_UP_MS = 3 * 24 * 3600 * 1000,
    MOST_SILENT = 3, /* tries of a rule that a round by hand makes in vain; a server's makes one */
    ID_DIGITS = 32
};

typedef struct sending {
    gf_watch_place place;
    const gf_cancel *cancel;
    gf_kept_watches rules;
    unsigned *silent; /* rules.n: tries that took all their time, in a row */
    gf_kept_alerts alerts;
    gf_http_client *http; /* once it was needed */
    gf_buffer body, id, problem;
    double wait;    /* seconds that the receiver asks for */
    bool is_silent; /* it took all its time */
} sending;

/* One round at a time, so that no alert is on its way twice. */
static pthread_mutex_t one_round = PTHREAD_MUTEX_INITIALIZER;

/* ---- POST ------------------------------------------------------------------------------------ */

static gf_status sign(sending *s, const gf_watch *rule, gf_buffer *header, gf_error *err)
{
    gf_buffer secret = {0}, signed_bytes = {0};
    int64_t now = gf_clock_ms() / 1000;
    gf_status st = gf_watch_read_secret(rule->secret_file, &secret, err);
    gf_buffer_format(&signed_bytes, "%" PRId64 ".", now);
    gf_buffer_slice(&signed_bytes, gf_buffer_view(&s->body));
    if (st == GF_OK) st = gf_buffer_check(&signed_bytes, err);
    gf_buffer_format(header, "Grouperfish-Signature: t=%" PRId64 ",v1=", now);
    if (st == GF_OK)
        st = gf_sign_bytes(gf_buffer_view(&secret), gf_buffer_view(&signed_bytes), header, err);
    if (secret.ptr) explicit_bzero(secret.ptr, secret.len);
    gf_buffer_release(&secret);
    gf_buffer_release(&signed_bytes);
    return st;
}

static void judge_answer(sending *s, const gf_http_answer *a)
{
    if (a->fault[0] && !a->is_long)
        gf_buffer_str(&s->problem, a->fault);
    else if (a->status < 200 || a->status >= 300)
        gf_buffer_format(&s->problem, "the receiver answered %ld", a->status);
    s->wait = a->wait;
    s->is_silent = a->status == 0 && !a->is_long;
}

static gf_status post(sending *s, const gf_watch *rule, gf_error *err)
{
    const gf_http_client_options o = {
        .most_bytes = MOST_ANSWER, .answer_seconds = ANSWER_SECONDS, .cancel = s->cancel};
    gf_buffer id = {0}, signature = {0};
    gf_http_answer answer = {0};
    gf_slice headers[3] = {GF_SLICE("Content-Type: application/json")};
    char *url = gf_copy_string(rule->target.ptr, rule->target.len);
    gf_status st = url ? GF_OK : gf_fail_memory(err, "an address");
    gf_buffer_format(&id, "Grouperfish-Alert: %.*s", GF_SLICE_ARG(gf_buffer_view(&s->id)));
    if (st == GF_OK) st = gf_buffer_check(&id, err);
    if (st == GF_OK && rule->secret_file.len) st = sign(s, rule, &signature, err);
    if (st == GF_OK && !s->http) st = gf_http_client_open(&o, &s->http, err);
    headers[1] = gf_buffer_view(&id);
    headers[2] = gf_buffer_view(&signature);
    gf_http_request r = {.url = url,
                         .headers = headers,
                         .n_headers = signature.len ? 3 : 2,
                         .body = gf_buffer_view(&s->body)};
    if (st == GF_OK) st = gf_http_client_ask(s->http, &r, &answer, err);
    if (st == GF_OK) judge_answer(s, &answer);
    gf_http_answer_release(&answer);
    gf_buffer_release(&id);
    gf_buffer_release(&signature);
    gf_free(url);
    return st;
}

/* ---- a command ------------------------------------------------------------------------------- */

/* The alert as a file without a name, so that a command that does not read it holds nobody up. */
static gf_status open_body(const sending *s, int *fd, gf_error *err)
{
    gf_slice rest = gf_buffer_view(&s->body);
    *fd = memfd_create("alert", MFD_CLOEXEC);
    if (*fd < 0) return gf_fail_errno(err, "an alert for a command");
    while (rest.len) {
        ssize_t n = write(*fd, rest.ptr, rest.len);
        if (n < 0 && errno != EINTR) return gf_fail_errno(err, "an alert for a command");
        if (n > 0) rest = gf_slice_skip(rest, (size_t)n);
    }
    return lseek(*fd, 0, SEEK_SET) == 0 ? GF_OK : gf_fail_errno(err, "an alert for a command");
}

/* In a group of processes of its own, with nothing open but the alert, and no signal blocked. */
static int spawn(const char *command, int fd, pid_t *process)
{
    extern char **environ;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, all;
    char *const words[] = {(char *)"sh", (char *)"-c", (char *)command, NULL};
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_adddup2(&files, fd, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                       POSIX_SPAWN_SETSIGDEF);
    int code = posix_spawn(process, "/bin/sh", &files, &how, words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return code;
}

static gf_status wait_for(sending *s, pid_t process, gf_error *err)
{
    double until = gf_clock_seconds() + COMMAND_SECONDS;
    int how = 0;
    pid_t ended = 0;
    gf_status st = GF_OK;
    while (st == GF_OK && (ended = waitpid(process, &how, WNOHANG)) == 0 &&
           gf_clock_seconds() < until)
        st = gf_http_sleep(s->cancel, 0.02, err);
    if (ended == 0) {
        kill(-process, SIGKILL);
        waitpid(process, &how, 0);
        s->is_silent = true;
        gf_buffer_format(&s->problem, "the command was ended after %d seconds", COMMAND_SECONDS);
    } else if (ended < 0) {
        gf_buffer_str(&s->problem, "nobody knows how the command ended");
    } else if (WIFSIGNALED(how)) {
        gf_buffer_format(&s->problem, "the command ended by signal %d", WTERMSIG(how));
    } else if (WEXITSTATUS(how) != 0) {
        gf_buffer_format(&s->problem, "the command ended with %d", WEXITSTATUS(how));
    }
    return st;
}

static gf_status run_command(sending *s, const gf_watch *rule, gf_error *err)
{
    int fd = -1;
    pid_t process = 0;
    char *command = gf_copy_string(rule->target.ptr, rule->target.len);
    gf_status st = command ? open_body(s, &fd, err) : gf_fail_memory(err, "a command");
    int code = st == GF_OK ? spawn(command, fd, &process) : 0;
    if (fd >= 0) close(fd);
    if (code)
        gf_buffer_format(&s->problem, "the command cannot be run: error %d", code);
    else if (st == GF_OK)
        st = wait_for(s, process, err);
    gf_free(command);
    return st;
}

/* ---- a file of mail -------------------------------------------------------------------------- */

/* A message of mbox (RFC 4155): a line that begins as one of the envelope has > before it. */
static gf_status write_message(const sending *s, const gf_kept_alert *a, gf_buffer *out,
                               gf_error *err)
{
    char date[64];
    struct tm tm;
    time_t now = (time_t)(a->alert.time / 1000);
    const gf_watch_place *p = &s->place;
    gmtime_r(&now, &tm);
    strftime(date, sizeof date, "%a %b %e %H:%M:%S %Y", &tm);
    gf_buffer_format(out, "From grouperfish@localhost %s\n", date);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S +0000", &tm);
    gf_buffer_format(out,
                     "Date: %s\nFrom: grouperfish@localhost\nTo: undisclosed-recipients:;\n"
                     "Subject: Grouperfish alert %" PRIu64 " of %.*s: %.*s\n"
                     "Message-ID: <%.*s@grouperfish>\nMIME-Version: 1.0\n"
                     "Content-Type: application/json; charset=utf-8\n"
                     "Content-Transfer-Encoding: 8bit\n\n",
                     date, a->alert.number, GF_SLICE_ARG(p->where.collection), GF_SLICE_ARG(a->key),
                     GF_SLICE_ARG(gf_buffer_view(&s->id)));
    gf_buffer_slice(out, gf_buffer_view(&s->body)); /* one line, which begins with { */
    gf_buffer_str(out, "\n\n");
    return gf_buffer_check(out, err);
}

/* All of it, or none: what a full disk left of a message goes, since the whole of it comes again. */
static bool append_all(int fd, gf_slice message)
{
    struct stat before;
    if (fstat(fd, &before) != 0 || write(fd, message.ptr, message.len) < 0) return false;
    struct stat after;
    if (fstat(fd, &after) == 0 && after.st_size == before.st_size + (off_t)message.len)
        return fsync(fd) == 0;
    if (ftruncate(fd, before.st_size) == 0) errno = ENOSPC;
    return false;
}

/* Nothing of the file may hold a round up: neither a pipe that nobody reads, nor another's lock. */
static gf_status append_mail(sending *s, const gf_watch *rule, const gf_kept_alert *a,
                             gf_error *err)
{
    gf_buffer message = {0};
    struct stat is;
    char *path = gf_copy_string(rule->target.ptr, rule->target.len);
    gf_status st = path ? write_message(s, a, &message, err) : gf_fail_memory(err, "a path");
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK;
    int fd = st == GF_OK ? open(path, flags, 0600) : -1;
    if (st == GF_OK && fd >= 0 && (fstat(fd, &is) != 0 || !S_ISREG(is.st_mode)))
        gf_buffer_format(&s->problem, "%s: this is no file of mail", path);
    else if (st == GF_OK && (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 ||
                             !append_all(fd, gf_buffer_view(&message))))
        gf_buffer_format(&s->problem, "%s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    gf_buffer_release(&message);
    gf_free(path);
    return st;
}

/* ---- a round --------------------------------------------------------------------------------- */

static const gf_watch *find_rule(const sending *s, uint64_t number)
{
    for (size_t i = 0; i < s->rules.n; i++)
        if (s->rules.at[i].number == number) return &s->rules.at[i];
    return NULL;
}

static gf_status read_alert(sending *s, const gf_kept_alert *a, gf_error *err)
{
    gf_buffer_reset(&s->body);
    gf_buffer_reset(&s->id);
    gf_status st = gf_watch_read_body(&s->place, a->alert.number, &s->body, err);
    if (st == GF_OK)
        st = gf_sign_bytes(GF_SLICE("grouperfish alert"), gf_buffer_view(&s->body), &s->id, err);
    if (st == GF_OK) s->id.len = ID_DIGITS;
    return st;
}

/* A fault of a receiver, a file or a missing library is the alert's problem, and no failure. */
static gf_status send_alert(sending *s, const gf_watch *rule, const gf_kept_alert *a, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    gf_status st = read_alert(s, a, err);
    if (st != GF_OK) return st;
    if (rule->away) {
        gf_buffer_str(
            &s->problem,
            "its watch came here with a copy of another store: delete it and add it here");
        return gf_buffer_check(&s->problem, err);
    }
    st = rule->way == GF_WATCH_POST   ? post(s, rule, &why)
         : rule->way == GF_WATCH_EXEC ? run_command(s, rule, &why)
                                      : append_mail(s, rule, a, &why);
    if (st == GF_ECANCELLED || st == GF_ENOMEM) return gf_fail(err, st, "%s", why.message);
    if (st != GF_OK) gf_buffer_str(&s->problem, why.message);
    return gf_buffer_check(&s->problem, err);
}

static void set_state(sending *s, gf_alert *a)
{
    int64_t now = gf_clock_ms();
    double wait = a->tries < 12 ? (double)(1 << a->tries) : LONGEST_WAIT;
    if (s->wait > wait) wait = s->wait;
    if (wait > LONGEST_WAIT) wait = LONGEST_WAIT;
    a->tried = now;
    a->problem = gf_buffer_view(&s->problem);
    a->next = s->problem.len ? now + (int64_t)(wait * 1000) : 0;
    a->state = s->problem.len ? GF_SLICE("waiting") : GF_SLICE("delivered");
    if (s->problem.len && now - a->time > GIVEN_UP_MS) {
        a->state = GF_SLICE("failed");
        a->next = 0;
    }
}

static gf_status note_state(sending *s, const gf_kept_alert *a, gf_error *err)
{
    gf_batch *batch = NULL;
    gf_row row = {0};
    gf_status st = gf_store_lock(s->place.store, err);
    if (st == GF_OK) st = gf_batch_create(s->place.store->db, &batch, err);
    /* The configuration may have been deleted meanwhile: then nothing of it is to come back. */
    if (st == GF_OK)
        st = gf_watches_get(s->place.store, NULL, s->place.where, s->place.configuration,
                            GF_WATCH_ALERT, a->alert.number, &row, err);
    if (st == GF_OK) st = gf_watch_put_alert(&s->place, a, batch, err);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, err);
    gf_store_unlock(s->place.store);
    gf_batch_free(batch);
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status try_alert(sending *s, gf_kept_alert *a, gf_watch_outcome *out, gf_error *err)
{
    const gf_watch *rule = find_rule(s, a->alert.watch);
    gf_buffer_reset(&s->problem);
    s->wait = 0;
    s->is_silent = false;
    gf_status st = gf_cancel_check(s->cancel, err);
    if (st == GF_OK && rule) st = send_alert(s, rule, a, err);
    if (rule) {
        unsigned *silent = &s->silent[rule - s->rules.at];
        *silent = s->is_silent ? *silent + 1 : 0;
    }
    if (st == GF_ENOTFOUND) return GF_OK; /* deleted meanwhile */
    if (st != GF_OK) return st;
    if (rule) {
        a->alert.tries++;
        set_state(s, &a->alert);
    } else {
        a->alert.state = GF_SLICE("dropped");
        a->alert.next = 0;
    }
    out->delivered += gf_slice_equal(a->alert.state, GF_SLICE("delivered"));
    out->failed += gf_slice_equal(a->alert.state, GF_SLICE("failed"));
    return note_state(s, a, err);
}

/* Whether its rule has found nobody so often in this round that it is not tried. */
static bool is_held(const sending *s, const gf_kept_alert *a, unsigned most)
{
    const gf_watch *rule = find_rule(s, a->alert.watch);
    return rule && s->silent[rule - s->rules.at] >= most;
}

static bool is_waiting(const gf_kept_alert *a)
{
    return gf_slice_equal(a->alert.state, GF_SLICE("waiting"));
}

gf_status gf_watch_deliver(gf_store *store, gf_place where, gf_slice configuration, bool now,
                           const gf_cancel *cancel, gf_watch_outcome *out, gf_error *err)
{
    sending s = {.place = {store, where, configuration, NULL}, .cancel = cancel};
    gf_watch_outcome done = *out;
    done.delivered = done.waiting = done.failed = 0;
    gf_status st = gf_watch_take_turn(&one_round, cancel, err);
    if (st != GF_OK) return st;
    st = gf_watch_read_rules(&s.place, &s.rules, err);
    if (st == GF_OK) st = gf_watch_read_alerts(&s.place, &s.alerts, err);
    s.silent = gf_calloc(s.rules.n, sizeof *s.silent);
    if (st == GF_OK && !s.silent) st = gf_fail_memory(err, "alerts");
    for (size_t i = 0; i < s.alerts.n && st == GF_OK; i++) {
        gf_kept_alert *a = &s.alerts.at[i];
        bool due = now || a->alert.next <= gf_clock_ms();
        if (is_waiting(a) && due && !is_held(&s, a, now ? MOST_SILENT : 1))
            st = try_alert(&s, a, &done, err);
        done.waiting += is_waiting(a);
    }
    pthread_mutex_unlock(&one_round);
    gf_http_client_close(s.http);
    gf_free(s.silent);
    gf_watch_release_rules(&s.rules);
    gf_watch_release_alerts(&s.alerts);
    gf_buffer_release(&s.body);
    gf_buffer_release(&s.id);
    gf_buffer_release(&s.problem);
    if (st == GF_OK) *out = done;
    return st;
}
