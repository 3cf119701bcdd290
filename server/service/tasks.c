/*
 * Tasks: a list, newest first, under one lock; a thread for each that has not ended, which waits
 * for its turn in the service like any other call.
 */
#include "server/service/tasks.h"

#include "api/call.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/condition.h"
#include "base/memory.h"
#include "server/service/workers.h"
#include "server/socket/wire.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

enum { MOST_ENDED = 1000, MOST_OPEN = 1000, MOST_ROWS = 16 << 20, TELL_MS = 50 };

typedef struct task {
    struct task *next; /* older */
    gf_tasks *tasks;
    gf_arena memory; /* of all that its slices are */
    gf_task_info info;
    gf_argument *arguments; /* n_arguments */
    size_t n_arguments;
    gf_cancel cancel;
    gf_buffer rows, notices, given;
    double told; /* when a change was last told to those who wait */
} task;

struct gf_tasks {
    gf_service *service;
    const gf_log *log;
    gf_workers *workers;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    task *newest;
    size_t open, ended;
    uint64_t last; /* number given */
    int64_t started;
    bool stopping;
    struct gf_rebuild_watcher *watcher; /* NULL: nothing is rebuilt by itself */
};

const char *gf_task_state_name(gf_task_state state)
{
    static const char *const names[] = {"queued", "running", "done", "failed", "cancelled"};
    return names[state];
}

/* ---- life ------------------------------------------------------------------------------------ */

gf_status gf_tasks_open(gf_service *service, const gf_log *log, gf_tasks **tasks, gf_error *err)
{
    gf_tasks *t = gf_calloc(1, sizeof *t);
    if (!t) return gf_fail_memory(err, "tasks");
    gf_status st = gf_workers_create(MOST_OPEN, &t->workers, err);
    if (st != GF_OK) {
        gf_free(t);
        return st;
    }
    t->service = service;
    t->log = log;
    t->started = gf_clock_ms();
    pthread_mutex_init(&t->lock, NULL);
    gf_condition_init(&t->changed);
    *tasks = t;
    return GF_OK;
}

static void free_task(task *t)
{
    if (!t) return;
    gf_buffer_release(&t->rows);
    gf_buffer_release(&t->notices);
    gf_buffer_release(&t->given);
    gf_arena_release(&t->memory);
    gf_free(t);
}

static bool has_ended(const task *t)
{
    return t->info.state >= GF_TASK_DONE;
}

void gf_tasks_stop(gf_tasks *tasks)
{
    gf_tasks_after_end(tasks->watcher);
    tasks->watcher = NULL;
    pthread_mutex_lock(&tasks->lock);
    tasks->stopping = true;
    for (task *t = tasks->newest; t; t = t->next)
        gf_cancel_request(&t->cancel);
    pthread_cond_broadcast(&tasks->changed);
    while (tasks->open)
        pthread_cond_wait(&tasks->changed, &tasks->lock);
    pthread_mutex_unlock(&tasks->lock);
}

void gf_tasks_close(gf_tasks *tasks)
{
    if (!tasks) return;
    gf_tasks_stop(tasks);
    gf_workers_free(tasks->workers);
    for (task *t = tasks->newest, *next; t; t = next) {
        next = t->next;
        free_task(t);
    }
    pthread_cond_destroy(&tasks->changed);
    pthread_mutex_destroy(&tasks->lock);
    gf_free(tasks);
}

/* The oldest that has ended, where there are too many. */
static void forget_one(gf_tasks *tasks)
{
    task **oldest = NULL;
    for (task **at = &tasks->newest; *at; at = &(*at)->next)
        if (has_ended(*at)) oldest = at;
    if (!oldest) return;
    task *t = *oldest;
    *oldest = t->next;
    tasks->ended--;
    free_task(t);
}

/* ---- running --------------------------------------------------------------------------------- */

static void tell_changed(task *t)
{
    t->info.version++;
    pthread_cond_broadcast(&t->tasks->changed);
}

static void copy_text(char *to, size_t size, gf_slice s)
{
    if (s.len >= size)
        for (s.len = size - 1; s.len && ((unsigned char)s.ptr[s.len] & 0xc0) == 0x80;)
            s.len--; /* not within a character */
    if (s.len) memcpy(to, s.ptr, s.len);
    to[s.len] = '\0';
}

static void progress(void *context, gf_slice what, const char *phase, uint64_t done, uint64_t total)
{
    task *t = context;
    pthread_mutex_lock(&t->tasks->lock);
    bool new_phase = strcmp(t->info.phase, phase) != 0;
    bool waits = strcmp(phase, "waiting") == 0;
    if (!waits && t->info.state == GF_TASK_QUEUED) {
        t->info.state = GF_TASK_RUNNING;
        t->info.begun = gf_clock_ms();
    }
    gf_slice name = gf_slice_str(phase);
    if (new_phase) copy_text(t->info.phase, sizeof t->info.phase, name);
    if (what.len < sizeof t->info.what) copy_text(t->info.what, sizeof t->info.what, what);
    t->info.done = done;
    t->info.total = total;
    double now = gf_clock_seconds();
    if (new_phase || now - t->told > TELL_MS / 1e3) {
        t->told = now;
        tell_changed(t);
    }
    pthread_mutex_unlock(&t->tasks->lock);
}

static gf_status emit(void *context, gf_slice row, gf_error *err)
{
    task *t = context;
    gf_buffer_byte(&t->rows, t->rows.len ? ',' : '[');
    gf_buffer_slice(&t->rows, row);
    gf_buffer_byte(&t->given, GF_WIRE_ROW);
    gf_buffer_string(&t->given, row);
    return gf_buffer_check(&t->rows, err);
}

static void notice(void *context, const gf_notice *n)
{
    task *t = context;
    gf_buffer text = {0};
    gf_json_writer w = gf_json_writer_to(&t->notices);
    gf_buffer_byte(&t->notices, t->notices.len ? ',' : '[');
    gf_row_put_notice(&w, n);
    gf_wire_write_notice(&text, n);
    gf_buffer_byte(&t->given, GF_WIRE_NOTICE);
    gf_buffer_string(&t->given, gf_buffer_view(&text));
    gf_buffer_release(&text);
}

static void end_task(task *t, gf_status st, const gf_call *call, const gf_error *err)
{
    gf_tasks *all = t->tasks;
    gf_buffer_str(&t->rows, t->rows.len ? "]" : "[]");
    if (t->notices.len) gf_buffer_byte(&t->notices, ']');
    pthread_mutex_lock(&all->lock);
    t->info.state = st == GF_ECANCELLED                          ? GF_TASK_CANCELLED
                    : st != GF_OK                                ? GF_TASK_FAILED
                    : call->outcome == GF_OUTCOME_REBUILD_FAILED ? GF_TASK_FAILED
                                                                 : GF_TASK_DONE;
    if (st != GF_OK)
        t->info.error = *err;
    else if (call->outcome == GF_OUTCOME_REBUILD_FAILED)
        gf_fail(&t->info.error, GF_ECONFLICT, "a rebuild failed: the rows say which, and why");
    t->info.ended = gf_clock_ms();
    t->info.status = st;
    t->info.outcome = call->outcome;
    t->info.partly = call->partly;
    if (t->given.state == GF_OK) t->info.given = gf_buffer_view(&t->given);
    if (t->rows.state == GF_OK) t->info.rows = gf_buffer_view(&t->rows);
    if (t->notices.state == GF_OK) t->info.notices = gf_buffer_view(&t->notices);
    GF_LOG(all->log, t->info.state == GF_TASK_FAILED ? GF_LOG_WARN : GF_LOG_INFO, "task_ended",
           GF_LOG_STR("task", t->info.id), GF_LOG_TEXT("collection", t->info.collection),
           GF_LOG_STR("state", gf_task_state_name(t->info.state)),
           GF_LOG_STR("error", st == GF_OK ? "" : err->message),
           GF_LOG_NUMBER("seconds", (double)(t->info.ended - t->info.asked) / 1e3));
    all->open--;
    all->ended++;
    tell_changed(t);
    while (all->ended > MOST_ENDED)
        forget_one(all);
    pthread_mutex_unlock(&all->lock);
}

static void run(void *context)
{
    task *t = context;
    gf_error err = {GF_OK, ""};
    gf_call call = {.arguments = t->arguments,
                    .n_arguments = t->n_arguments,
                    .name_space = t->info.name_space,
                    .sink = {t, emit, .notice = notice, .progress = progress},
                    .cancel = &t->cancel};
    gf_buffer_init(&t->rows, MOST_ROWS);
    gf_buffer_init(&t->notices, MOST_ROWS);
    gf_buffer_init(&t->given, MOST_ROWS);
    gf_status st = gf_cancel_check(&t->cancel, &err);
    if (st == GF_OK)
        st = gf_service_run(t->tasks->service, gf_operation_find("rebuild"), &call, &err);
    gf_memory_trim(); /* what many threads have freed would stay with their arenas for good */
    end_task(t, st, &call, &err);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static gf_slice find_argument(const gf_argument *arguments, size_t n, const char *name)
{
    for (size_t i = n; i-- > 0;)
        if (gf_slice_equal(arguments[i].name, gf_slice_str(name))) return arguments[i].value;
    return (gf_slice){"", 0};
}

static bool is_same(const task *t, gf_slice name_space, const gf_argument *arguments, size_t n)
{
    if (has_ended(t) || t->n_arguments != n || !gf_slice_equal(t->info.name_space, name_space))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!gf_slice_equal(t->arguments[i].name, arguments[i].name) ||
            !gf_slice_equal(t->arguments[i].value, arguments[i].value))
            return false;
    return true;
}

static bool copy_all(task *t, gf_slice name_space, const gf_argument *arguments, size_t n)
{
    bool good = (t->info.name_space = gf_arena_copy(&t->memory, name_space)).ptr != NULL;
    t->arguments = gf_arena_alloc(&t->memory, (n + 1) * sizeof *t->arguments);
    if (!good || !t->arguments) return false;
    for (size_t i = 0; i < n; i++) {
        t->arguments[i].name = gf_arena_copy(&t->memory, arguments[i].name);
        t->arguments[i].value = gf_arena_copy(&t->memory, arguments[i].value);
        if (!t->arguments[i].name.ptr || !t->arguments[i].value.ptr) return false;
    }
    t->n_arguments = n;
    t->info.collection = find_argument(t->arguments, n, "collection");
    t->info.configuration = find_argument(t->arguments, n, "config");
    return true;
}

static gf_status make_task(gf_tasks *tasks, gf_slice name_space, const gf_argument *arguments,
                           size_t n, task **made, gf_error *err)
{
    task *t = gf_calloc(1, sizeof *t);
    if (!t) return gf_fail_memory(err, "a task");
    t->tasks = tasks;
    if (!copy_all(t, name_space, arguments, n)) {
        free_task(t);
        return gf_fail_memory(err, "a task");
    }
    t->info.asked = gf_clock_ms();
    *made = t;
    return GF_OK;
}

/* With the lock held, so that nobody looks between the search and the adding. */
static gf_status add_task(gf_tasks *tasks, task *t, gf_error *err)
{
    if (tasks->stopping) return gf_fail(err, GF_EBUSY, "the server is closing; try again");
    if (tasks->open >= MOST_OPEN)
        return gf_fail(err, GF_EBUSY, "%d tasks are waiting already", MOST_OPEN);
    gf_status st = gf_workers_run(tasks->workers, run, t, false, err);
    if (st != GF_OK) return st;
    snprintf(t->info.id, sizeof t->info.id, "%" PRId64 "-%" PRIu64, tasks->started, ++tasks->last);
    t->next = tasks->newest;
    tasks->newest = t;
    tasks->open++;
    GF_LOG(tasks->log, GF_LOG_INFO, "task_asked", GF_LOG_STR("task", t->info.id),
           GF_LOG_TEXT("namespace", t->info.name_space),
           GF_LOG_TEXT("collection", t->info.collection));
    return GF_OK;
}

gf_status gf_tasks_ask(gf_tasks *tasks, gf_slice name_space, const gf_argument *arguments, size_t n,
                       char id[32], bool *is_new, gf_error *err)
{
    task *t = NULL;
    gf_status st = make_task(tasks, name_space, arguments, n, &t, err);
    if (st != GF_OK) return st;
    pthread_mutex_lock(&tasks->lock);
    task *there = tasks->newest;
    while (there && !is_same(there, name_space, arguments, n))
        there = there->next;
    *is_new = !there;
    if (!there) st = add_task(tasks, t, err);
    if (st == GF_OK) memcpy(id, (there ? there : t)->info.id, 32);
    pthread_mutex_unlock(&tasks->lock);
    if (there || st != GF_OK) free_task(t);
    return st;
}

gf_service *gf_tasks_service(gf_tasks *tasks)
{
    return tasks->service;
}

const gf_log *gf_tasks_log(gf_tasks *tasks)
{
    return tasks->log;
}

void gf_tasks_set_watcher(gf_tasks *tasks, struct gf_rebuild_watcher *watcher)
{
    tasks->watcher = watcher;
}

/* ---- looking --------------------------------------------------------------------------------- */

gf_status gf_tasks_visit(gf_tasks *tasks, gf_slice name_space, gf_visit_task *visit, void *context,
                         gf_error *err)
{
    gf_status st = GF_OK;
    pthread_mutex_lock(&tasks->lock);
    for (task *t = tasks->newest; t && st == GF_OK; t = t->next)
        if (gf_slice_equal(t->info.name_space, name_space)) st = visit(context, &t->info, err);
    pthread_mutex_unlock(&tasks->lock);
    return st;
}

static task *find(gf_tasks *tasks, gf_slice name_space, gf_slice id)
{
    task *t = tasks->newest;
    while (t && !(gf_slice_equal(gf_slice_str(t->info.id), id) &&
                  gf_slice_equal(t->info.name_space, name_space)))
        t = t->next;
    return t;
}

static gf_status fail_unknown(gf_slice id, gf_error *err)
{
    return gf_fail(err, GF_ENOTFOUND, "there is no task \"%.*s\"", GF_SLICE_ARG(id));
}

gf_status gf_tasks_read(gf_tasks *tasks, gf_slice name_space, gf_slice id, gf_visit_task *visit,
                        void *context, gf_error *err)
{
    pthread_mutex_lock(&tasks->lock);
    task *t = find(tasks, name_space, id);
    gf_status st = t ? visit(context, &t->info, err) : fail_unknown(id, err);
    pthread_mutex_unlock(&tasks->lock);
    return st;
}

void gf_tasks_wait(gf_tasks *tasks, gf_slice name_space, gf_slice id, uint64_t version,
                   unsigned milliseconds)
{
    struct timespec until = gf_condition_deadline(milliseconds);
    pthread_mutex_lock(&tasks->lock);
    for (bool waits = true; waits;) {
        const task *t = find(tasks, name_space, id);
        if (!t || t->info.version != version || has_ended(t)) break;
        waits = gf_condition_wait(&tasks->changed, &tasks->lock, &until);
    }
    pthread_mutex_unlock(&tasks->lock);
}

gf_status gf_tasks_cancel(gf_tasks *tasks, gf_slice name_space, gf_slice id, gf_error *err)
{
    gf_status st = GF_OK;
    pthread_mutex_lock(&tasks->lock);
    task *t = find(tasks, name_space, id);
    if (!t)
        st = fail_unknown(id, err);
    else if (has_ended(t))
        st = gf_fail(err, GF_ECONFLICT, "the task has ended: it is %s",
                     gf_task_state_name(t->info.state));
    else
        gf_cancel_request(&t->cancel);
    pthread_mutex_unlock(&tasks->lock);
    return st;
}

void gf_tasks_count(gf_tasks *tasks, size_t *queued, size_t *running)
{
    *queued = *running = 0;
    pthread_mutex_lock(&tasks->lock);
    for (const task *t = tasks->newest; t; t = t->next) {
        *queued += t->info.state == GF_TASK_QUEUED;
        *running += t->info.state == GF_TASK_RUNNING;
    }
    pthread_mutex_unlock(&tasks->lock);
}
