/*
 * Tasks: a list, newest first, under one lock; a thread for each that has not ended, which waits
 * for its turn in the service like any other call.
 */
#include "server/service/tasks_internal.h"

#include "api/call.h"
#include "base/clock.h"
#include "base/condition.h"
#include "base/memory.h"
#include "server/socket/wire.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_ENDED = 1000, MOST_OPEN = 1000, MOST_ROWS = 16 << 20, TELL_MS = 50 };

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
    st = gf_tasks_shared_open(t, err);
    if (st != GF_OK) {
        gf_tasks_close(t);
        return st;
    }
    *tasks = t;
    return GF_OK;
}

void gf_task_free(gf_task *t)
{
    if (!t) return;
    gf_buffer_release(&t->rows);
    gf_buffer_release(&t->notices);
    gf_buffer_release(&t->given);
    gf_arena_release(&t->memory);
    gf_free(t);
}

bool gf_task_has_ended(const gf_task *t)
{
    return t->info.state >= GF_TASK_DONE;
}

void gf_tasks_stop(gf_tasks *tasks)
{
    gf_tasks_after_end(tasks->watcher);
    tasks->watcher = NULL;
    pthread_mutex_lock(&tasks->lock);
    tasks->stopping = true;
    for (gf_task *t = tasks->newest; t; t = t->next)
        gf_cancel_request(&t->cancel);
    pthread_cond_broadcast(&tasks->changed);
    while (tasks->open)
        pthread_cond_wait(&tasks->changed, &tasks->lock);
    pthread_mutex_unlock(&tasks->lock);
    gf_tasks_shared_stop(tasks->shared);
}

void gf_tasks_close(gf_tasks *tasks)
{
    if (!tasks) return;
    gf_tasks_stop(tasks);
    gf_workers_free(tasks->workers);
    gf_tasks_shared_free(tasks->shared);
    for (gf_task *t = tasks->newest, *next; t; t = next) {
        next = t->next;
        gf_task_free(t);
    }
    pthread_cond_destroy(&tasks->changed);
    pthread_mutex_destroy(&tasks->lock);
    gf_free(tasks);
}

/* The oldest that has ended, where there are too many. */
static void forget_one(gf_tasks *tasks)
{
    gf_task **oldest = NULL;
    for (gf_task **at = &tasks->newest; *at; at = &(*at)->next)
        if (gf_task_has_ended(*at)) oldest = at;
    if (!oldest) return;
    gf_task *t = *oldest;
    *oldest = t->next;
    tasks->ended--;
    gf_task_free(t);
}

/* ---- running --------------------------------------------------------------------------------- */

static void tell_changed(gf_task *t)
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
    gf_task *t = context;
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
    gf_task *t = context;
    gf_buffer_byte(&t->rows, t->rows.len ? ',' : '[');
    gf_buffer_slice(&t->rows, row);
    gf_buffer_byte(&t->given, GF_WIRE_ROW);
    gf_buffer_string(&t->given, row);
    return gf_buffer_check(&t->rows, err);
}

static void notice(void *context, const gf_notice *n)
{
    gf_task *t = context;
    gf_buffer text = {0};
    gf_json_writer w = gf_json_writer_to(&t->notices);
    gf_buffer_byte(&t->notices, t->notices.len ? ',' : '[');
    gf_row_put_notice(&w, n);
    gf_wire_write_notice(&text, n);
    gf_buffer_byte(&t->given, GF_WIRE_NOTICE);
    gf_buffer_string(&t->given, gf_buffer_view(&text));
    gf_buffer_release(&text);
}

static gf_task_state state_of(gf_status st, const gf_call *call)
{
    if (st == GF_ECANCELLED) return GF_TASK_CANCELLED;
    if (st != GF_OK || call->outcome == GF_OUTCOME_REBUILD_FAILED) return GF_TASK_FAILED;
    return GF_TASK_DONE;
}

/* All that is told of the end but that it has come. */
static void fill_end(gf_task *t, gf_status st, const gf_call *call, const gf_error *err)
{
    gf_buffer_str(&t->rows, t->rows.len ? "]" : "[]");
    if (t->notices.len) gf_buffer_byte(&t->notices, ']');
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
}

static void end_task(gf_task *t, gf_status st, const gf_call *call, const gf_error *err)
{
    gf_tasks *all = t->tasks;
    gf_task_state state = state_of(st, call);
    pthread_mutex_lock(&all->lock);
    fill_end(t, st, call, err);
    bool gives_back = all->stopping && state == GF_TASK_CANCELLED && !t->wanted_to_end;
    pthread_mutex_unlock(&all->lock);
    if (all->shared) gf_tasks_shared_ended(t, state, gives_back);
    pthread_mutex_lock(&all->lock);
    t->info.state = state;
    GF_LOG(all->log, state == GF_TASK_FAILED ? GF_LOG_WARN : GF_LOG_INFO, "task_ended",
           GF_LOG_STR("task", t->info.id), GF_LOG_TEXT("collection", t->info.collection),
           GF_LOG_STR("state", gf_task_state_name(state)),
           GF_LOG_STR("error", st == GF_OK ? "" : err->message),
           GF_LOG_NUMBER("seconds", (double)(t->info.ended - t->info.asked) / 1e3));
    all->open--;
    all->ended++;
    tell_changed(t);
    while (all->ended > MOST_ENDED)
        forget_one(all);
    pthread_mutex_unlock(&all->lock);
}

/* Rows of an attempt that was in vain are none of the task's. */
static void begin_giving(gf_task *t)
{
    gf_buffer *const all[] = {&t->rows, &t->notices, &t->given};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        gf_buffer_release(all[i]);
        gf_buffer_init(all[i], MOST_ROWS);
    }
}

static void run(void *context)
{
    gf_task *t = context;
    gf_error err = {GF_OK, ""};
    gf_call call = {.arguments = t->arguments,
                    .n_arguments = t->n_arguments,
                    .name_space = t->info.name_space,
                    .sink = {t, emit, .notice = notice, .progress = progress},
                    .cancel = &t->cancel};
    gf_status st = gf_cancel_check(&t->cancel, &err);
    begin_giving(t);
    while (st == GF_OK) {
        st = gf_service_run(t->tasks->service, gf_operation_find("rebuild"), &call, &err);
        if (!gf_tasks_shared_tries_again(t, st)) break;
        begin_giving(t);
        st = GF_OK;
    }
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

bool gf_task_is_same(const gf_task *t, gf_slice name_space, const gf_argument *arguments, size_t n)
{
    if (gf_task_has_ended(t) || t->n_arguments != n ||
        !gf_slice_equal(t->info.name_space, name_space))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!gf_slice_equal(t->arguments[i].name, arguments[i].name) ||
            !gf_slice_equal(t->arguments[i].value, arguments[i].value))
            return false;
    return true;
}

static bool copy_all(gf_task *t, gf_slice name_space, const gf_argument *arguments, size_t n)
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

gf_status gf_task_make(gf_tasks *tasks, gf_slice name_space, const gf_argument *arguments, size_t n,
                       gf_task **made, gf_error *err)
{
    gf_task *t = gf_calloc(1, sizeof *t);
    if (!t) return gf_fail_memory(err, "a task");
    t->tasks = tasks;
    if (!copy_all(t, name_space, arguments, n)) {
        gf_task_free(t);
        return gf_fail_memory(err, "a task");
    }
    t->info.asked = gf_clock_ms();
    *made = t;
    return GF_OK;
}

static void name_task(gf_task *t)
{
    gf_tasks *all = t->tasks;
    uint64_t number = ++all->last;
    if (all->shared)
        gf_tasks_shared_name(all->shared, all->started, number, t->info.id);
    else
        snprintf(t->info.id, sizeof t->info.id, "%" PRId64 "-%" PRIu64, all->started, number);
}

gf_status gf_task_start(gf_tasks *tasks, gf_task *t, gf_error *err)
{
    if (tasks->stopping) return gf_fail(err, GF_EBUSY, "the server is closing; try again");
    if (tasks->open >= MOST_OPEN)
        return gf_fail(err, GF_EBUSY, "%d tasks are waiting already", MOST_OPEN);
    gf_status st = gf_workers_run(tasks->workers, run, t, false, err);
    if (st != GF_OK) return st;
    t->next = tasks->newest;
    tasks->newest = t;
    tasks->open++;
    GF_LOG(tasks->log, GF_LOG_INFO, "task_asked", GF_LOG_STR("task", t->info.id),
           GF_LOG_TEXT("namespace", t->info.name_space),
           GF_LOG_TEXT("collection", t->info.collection));
    return GF_OK;
}

static gf_task *find_same(gf_tasks *tasks, gf_slice name_space, const gf_argument *arguments,
                          size_t n)
{
    gf_task *t = tasks->newest;
    while (t && (t->lost || !gf_task_is_same(t, name_space, arguments, n)))
        t = t->next;
    return t;
}

/* The lock is held over the search and the adding, so that nobody looks in between. */
static gf_status ask_here(gf_tasks *tasks, gf_task *t, char id[32], bool *is_new, gf_error *err)
{
    gf_status st = GF_OK;
    pthread_mutex_lock(&tasks->lock);
    gf_task *there = find_same(tasks, t->info.name_space, t->arguments, t->n_arguments);
    *is_new = !there;
    if (!there) {
        if (!t->info.id[0]) name_task(t);
        st = gf_task_start(tasks, t, err);
    }
    if (st == GF_OK) memcpy(id, (there ? there : t)->info.id, 32);
    pthread_mutex_unlock(&tasks->lock);
    if (there || st != GF_OK) gf_task_free(t);
    return st;
}

static bool is_here(gf_tasks *tasks, const gf_task *t, char id[32])
{
    pthread_mutex_lock(&tasks->lock);
    const gf_task *there = find_same(tasks, t->info.name_space, t->arguments, t->n_arguments);
    if (there) memcpy(id, there->info.id, 32);
    pthread_mutex_unlock(&tasks->lock);
    return there != NULL;
}

/* In a shared store another server may have the same task; a new one is kept before it begins. */
static gf_status ask_shared(gf_tasks *tasks, gf_task *t, char id[32], bool *is_new, gf_error *err)
{
    gf_error why;
    gf_status st = GF_ENOTFOUND;
    gf_tasks_shared_lock(tasks->shared);
    *is_new = false;
    if (is_here(tasks, t, id)) st = GF_OK;
    if (st != GF_OK)
        st = gf_tasks_shared_find(tasks->shared, t->info.name_space, t->arguments, t->n_arguments,
                                  id, err);
    if (st == GF_ENOTFOUND) {
        pthread_mutex_lock(&tasks->lock);
        name_task(t);
        pthread_mutex_unlock(&tasks->lock);
        st = gf_tasks_shared_keep(t, err);
        if (st == GF_OK) {
            memcpy(id, t->info.id, 32);
            *is_new = true;
            pthread_mutex_lock(&tasks->lock);
            st = gf_task_start(tasks, t, &why);
            pthread_mutex_unlock(&tasks->lock);
            if (st == GF_OK) {
                t = NULL;
            } else {
                gf_tasks_shared_ended(t, GF_TASK_QUEUED, true); /* another server may have room */
                st = GF_OK;
            }
        }
    }
    gf_tasks_shared_unlock(tasks->shared);
    gf_task_free(t);
    return st;
}

gf_status gf_tasks_ask(gf_tasks *tasks, gf_slice name_space, const gf_argument *arguments, size_t n,
                       char id[32], bool *is_new, gf_error *err)
{
    gf_task *t = NULL;
    gf_status st = gf_task_make(tasks, name_space, arguments, n, &t, err);
    if (st != GF_OK) return st;
    return tasks->shared ? ask_shared(tasks, t, id, is_new, err)
                         : ask_here(tasks, t, id, is_new, err);
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
    for (gf_task *t = tasks->newest; t && st == GF_OK; t = t->next)
        if (!t->lost && gf_slice_equal(t->info.name_space, name_space))
            st = visit(context, &t->info, err);
    pthread_mutex_unlock(&tasks->lock);
    if (st == GF_OK && tasks->shared)
        st = gf_tasks_shared_visit(tasks->shared, name_space, visit, context, err);
    return st;
}

static gf_task *find(gf_tasks *tasks, gf_slice name_space, gf_slice id)
{
    gf_task *t = tasks->newest;
    while (t && (t->lost || !gf_slice_equal(gf_slice_str(t->info.id), id) ||
                 !gf_slice_equal(t->info.name_space, name_space)))
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
    gf_task *t = find(tasks, name_space, id);
    bool elsewhere = !t && tasks->shared;
    gf_status st = t ? visit(context, &t->info, err) : fail_unknown(id, err);
    pthread_mutex_unlock(&tasks->lock);
    if (elsewhere) st = gf_tasks_shared_read(tasks->shared, name_space, id, visit, context, err);
    return elsewhere && st == GF_ENOTFOUND ? fail_unknown(id, err) : st;
}

void gf_tasks_wait(gf_tasks *tasks, gf_slice name_space, gf_slice id, uint64_t version,
                   unsigned milliseconds)
{
    struct timespec until = gf_condition_deadline(milliseconds);
    pthread_mutex_lock(&tasks->lock);
    for (bool waits = true; waits;) {
        const gf_task *t = find(tasks, name_space, id);
        if (!t && !tasks->shared) break;
        if (t && (t->info.version != version || gf_task_has_ended(t))) break;
        waits = gf_condition_wait(&tasks->changed, &tasks->lock, &until);
    }
    pthread_mutex_unlock(&tasks->lock);
}

gf_status gf_tasks_cancel(gf_tasks *tasks, gf_slice name_space, gf_slice id, gf_error *err)
{
    gf_status st = GF_OK;
    pthread_mutex_lock(&tasks->lock);
    gf_task *t = find(tasks, name_space, id);
    if (!t)
        st = fail_unknown(id, err);
    else if (gf_task_has_ended(t))
        st = gf_fail(err, GF_ECONFLICT, "the task has ended: it is %s",
                     gf_task_state_name(t->info.state));
    else {
        t->wanted_to_end = true;
        gf_cancel_request(&t->cancel);
    }
    pthread_mutex_unlock(&tasks->lock);
    if (!t && tasks->shared) {
        st = gf_tasks_shared_cancel(tasks->shared, name_space, id, err);
        if (st == GF_ENOTFOUND) st = fail_unknown(id, err);
    }
    return st;
}

void gf_tasks_count(gf_tasks *tasks, size_t *queued, size_t *running)
{
    *queued = *running = 0;
    pthread_mutex_lock(&tasks->lock);
    for (const gf_task *t = tasks->newest; t; t = t->next) {
        *queued += t->info.state == GF_TASK_QUEUED;
        *running += t->info.state == GF_TASK_RUNNING;
    }
    pthread_mutex_unlock(&tasks->lock);
}
