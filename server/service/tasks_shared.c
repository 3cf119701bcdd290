/*
 * Tasks in a store that several servers have open: each is a row (engine/store/asked.h), written
 * before its 202 goes out.
 *
 *     owner   renews its row every three seconds: "<token> <beat>"
 *     keeper  a thread of each server: reads all rows every two seconds. One whose owner is empty
 *             (a server that closes gives back what it has not done), or has not changed for
 *             fifteen seconds in at least five looks, is taken by a conditional write, and done
 *     ended   the row stays for an hour, so that any server tells of it
 *
 * What the first server was building is still under its lease when another takes the task: the
 * rebuild is refused for it (GF_EBUSY), and tried again each second until the lease has ended. So
 * one builds at a time, whoever has the task.
 *
 * A server that was only slow finds its row changed at its next beat: its task ends, and the other's
 * counts.
 */
#include "server/service/tasks_internal.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/murmur.h"
#include "engine/store/asked.h"
#include "engine/store/lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SLICE_MICROSECONDS = 50000, SILENCE_LOOKS = 5 };

/* Parts of the time after which a lease has ended, 30 seconds: so the lease that a dead server's build
   has is first looked at while there is time for it to end within a minute. */
static const double BEAT = 1. / 10, LOOK = 1. / 15, SILENCE = 1. / 2, TRY = 1. / 30;
enum { KEPT_MS = 3600 * 1000, MOST_KEPT_BYTES = 256 << 10 };

#define NOBODY "-" /* in the place of an owner */

/* How a task of another server was seen. */
typedef struct sight {
    char id[32];
    uint32_t hash; /* of its owner */
    double since;
    unsigned looks;
    bool seen; /* in the last look */
} sight;

struct gf_tasks_shared {
    gf_tasks *tasks;
    gf_store *store;
    uint64_t token;
    pthread_mutex_t asking;
    pthread_mutex_t keeping; /* of what tasks have written of themselves, and the sights */
    pthread_t thread;
    gf_cancel end;
    bool stopped;  /* the thread has ended */
    sight *sights; /* n of capacity */
    size_t n, capacity;
};

/* ---- a task as bytes ------------------------------------------------------------------------- */

static void write_small(gf_buffer *b, gf_slice s)
{
    gf_buffer_string(b, s.len <= MOST_KEPT_BYTES ? s : (gf_slice){0});
}

static void write_task(const gf_task *t, gf_task_state state, gf_buffer *b)
{
    const gf_task_info *i = &t->info;
    gf_buffer_varint(b, t->n_arguments);
    for (size_t k = 0; k < t->n_arguments; k++) {
        gf_buffer_string(b, t->arguments[k].name);
        gf_buffer_string(b, t->arguments[k].value);
    }
    gf_buffer_varint(b, state);
    gf_buffer_varint(b, (uint64_t)i->asked);
    gf_buffer_varint(b, (uint64_t)i->begun);
    gf_buffer_varint(b, (uint64_t)i->ended);
    gf_buffer_string(b, gf_slice_str(i->phase));
    gf_buffer_string(b, gf_slice_str(i->what));
    gf_buffer_varint(b, i->done);
    gf_buffer_varint(b, i->total);
    gf_buffer_varint(b, i->error.status);
    gf_buffer_string(b, gf_slice_str(i->error.message));
    gf_buffer_varint(b, i->status);
    gf_buffer_varint(b, i->outcome);
    gf_buffer_varint(b, i->partly);
    write_small(b, i->rows);
    write_small(b, i->notices);
    write_small(b, i->given);
}

static bool take_text(gf_slice *from, char *to, size_t size)
{
    gf_slice s;
    if (!gf_slice_take_string(from, &s) || s.len >= size) return false;
    if (s.len) memcpy(to, s.ptr, s.len);
    to[s.len] = '\0';
    return true;
}

/* The arguments borrow from the bytes, as does all else; they are to be freed. */
static bool read_arguments(gf_slice *from, gf_argument **arguments, size_t *n)
{
    uint64_t count;
    if (!gf_slice_take_varint(from, &count) || count > from->len) return false;
    *arguments = gf_array((size_t)count + 1, sizeof **arguments);
    if (!*arguments) return false;
    for (*n = 0; *n < count; ++*n)
        if (!gf_slice_take_string(from, &(*arguments)[*n].name) ||
            !gf_slice_take_string(from, &(*arguments)[*n].value))
            return false;
    return true;
}

static bool read_info(gf_slice from, gf_task_info *i)
{
    uint64_t numbers[4], rest[2], failed, last[3];
    bool good = true;
    for (int k = 0; k < 4; k++)
        good = good && gf_slice_take_varint(&from, &numbers[k]);
    good = good && numbers[0] <= GF_TASK_CANCELLED && take_text(&from, i->phase, sizeof i->phase) &&
           take_text(&from, i->what, sizeof i->what);
    for (int k = 0; k < 2; k++)
        good = good && gf_slice_take_varint(&from, &rest[k]);
    good = good && gf_slice_take_varint(&from, &failed) &&
           take_text(&from, i->error.message, sizeof i->error.message);
    for (int k = 0; k < 3; k++)
        good = good && gf_slice_take_varint(&from, &last[k]);
    good = good && gf_slice_take_string(&from, &i->rows) &&
           gf_slice_take_string(&from, &i->notices) && gf_slice_take_string(&from, &i->given);
    if (!good) return false;
    i->state = (gf_task_state)numbers[0];
    i->asked = (int64_t)numbers[1];
    i->begun = (int64_t)numbers[2];
    i->ended = (int64_t)numbers[3];
    i->done = rest[0];
    i->total = rest[1];
    i->error.status = (gf_status)failed;
    i->status = (gf_status)last[0];
    i->outcome = (gf_outcome)last[1];
    i->partly = last[2] != 0;
    return true;
}

static gf_slice find_argument(const gf_argument *arguments, size_t n, const char *name)
{
    for (size_t i = n; i-- > 0;)
        if (gf_slice_equal(arguments[i].name, gf_slice_str(name))) return arguments[i].value;
    return (gf_slice){"", 0};
}

/* A row as a task that borrows from it; its arguments are to be freed, also where it is damaged. */
static bool read_row(const gf_asked_task *a, gf_task *t)
{
    gf_slice from = a->task;
    *t = (gf_task){.arguments = NULL};
    if (a->id.len >= sizeof t->info.id) return false;
    memcpy(t->info.id, a->id.ptr, a->id.len);
    t->info.name_space = a->name_space;
    if (!read_arguments(&from, &t->arguments, &t->n_arguments) || !read_info(from, &t->info))
        return false;
    t->info.collection = find_argument(t->arguments, t->n_arguments, "collection");
    t->info.configuration = find_argument(t->arguments, t->n_arguments, "config");
    t->info.version = gf_murmur3(a->task, 1);
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void name_owner(const struct gf_tasks_shared *s, uint64_t beat, char owner[64])
{
    snprintf(owner, 64, "%016" PRIx64 " %" PRIu64, s->token, beat);
}

static bool is_mine(const struct gf_tasks_shared *s, gf_slice owner)
{
    char start[20];
    snprintf(start, sizeof start, "%016" PRIx64 " ", s->token);
    return gf_slice_starts(owner, gf_slice_str(start));
}

/* With `keeping` held. was NULL: the row is new. */
static gf_status write_row(gf_task *t, const gf_slice *was, const char *owner, gf_task_state state,
                           gf_error *err)
{
    struct gf_tasks_shared *s = t->tasks->shared;
    gf_buffer bytes = {0};
    char mine[64];
    pthread_mutex_lock(&t->tasks->lock);
    write_task(t, state, &bytes);
    pthread_mutex_unlock(&t->tasks->lock);
    name_owner(s, ++t->beat, mine);
    gf_status st = gf_buffer_check(&bytes, err);
    if (st == GF_OK)
        st = gf_asked_write(s->store, t->info.name_space, gf_slice_str(t->info.id), was,
                            gf_slice_str(owner ? owner : mine), gf_buffer_view(&bytes), err);
    if (st == GF_OK) snprintf(t->owner, sizeof t->owner, "%s", owner ? owner : mine);
    gf_buffer_release(&bytes);
    return st;
}

/* A write whose answer was lost may have been made: then the row has my last owner. */
typedef struct looking_up {
    char owner[64];
} looking_up;

static gf_status note_owner(void *context, const gf_asked_task *a, gf_error *err)
{
    looking_up *l = context;
    (void)err;
    size_t n = a->owner.len < sizeof l->owner - 1 ? a->owner.len : sizeof l->owner - 1;
    memcpy(l->owner, a->owner.ptr, n);
    l->owner[n] = '\0';
    return GF_OK;
}

/* With `keeping` held: *taken where another server has the task. */
static gf_status renew(gf_task *t, const char *owner, gf_task_state state, bool *taken,
                       gf_error *err)
{
    looking_up now = {""};
    struct gf_tasks_shared *s = t->tasks->shared;
    gf_slice was = gf_slice_str(t->owner);
    gf_status st = write_row(t, &was, owner, state, err);
    *taken = false;
    if (st != GF_ECONFLICT) return st;
    st = gf_asked_read(s->store, t->info.name_space, gf_slice_str(t->info.id), note_owner, &now,
                       err);
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    *taken = st == GF_ENOTFOUND || !is_mine(s, gf_slice_str(now.owner));
    if (*taken) return GF_OK;
    memcpy(t->owner, now.owner, sizeof t->owner);
    was = gf_slice_str(t->owner);
    return write_row(t, &was, owner, state, err);
}

gf_status gf_tasks_shared_keep(gf_task *t, gf_error *err)
{
    struct gf_tasks_shared *s = t->tasks->shared;
    pthread_mutex_lock(&s->keeping);
    gf_status st = write_row(t, NULL, NULL, GF_TASK_QUEUED, err);
    pthread_mutex_unlock(&s->keeping);
    return st;
}

static void lose(gf_task *t)
{
    pthread_mutex_lock(&t->tasks->lock);
    t->lost = true;
    pthread_mutex_unlock(&t->tasks->lock);
    gf_cancel_request(&t->cancel);
}

void gf_tasks_shared_ended(gf_task *t, gf_task_state state, bool give_back)
{
    struct gf_tasks_shared *s = t->tasks->shared;
    bool taken = false;
    gf_error err = {GF_OK, ""};
    pthread_mutex_lock(&s->keeping);
    gf_status st = GF_OK;
    t->told_end = true;
    if (!t->lost)
        st = renew(t, give_back ? NOBODY : NULL, give_back ? GF_TASK_QUEUED : state, &taken, &err);
    if (taken) lose(t);
    pthread_mutex_unlock(&s->keeping);
    if (st != GF_OK)
        GF_LOG(t->tasks->log, GF_LOG_WARN, "task_not_kept", GF_LOG_STR("task", t->info.id),
               GF_LOG_STR("error", err.message));
}

bool gf_tasks_shared_tries_again(gf_task *t, gf_status st)
{
    if (!t->tasks->shared || st != GF_EBUSY) return false;
    double until = gf_clock_seconds() + TRY * t->tasks->shared->store->patience;
    while (gf_clock_seconds() < until && gf_cancel_check(&t->cancel, NULL) == GF_OK)
        usleep(SLICE_MICROSECONDS);
    return gf_cancel_check(&t->cancel, NULL) == GF_OK;
}

void gf_tasks_shared_name(const struct gf_tasks_shared *s, int64_t started, uint64_t number,
                          char id[32])
{
    snprintf(id, 32, "%" PRId64 "-%04x-%" PRIu64, started, (unsigned)(s->token & 0xffff), number);
}

void gf_tasks_shared_lock(struct gf_tasks_shared *s)
{
    pthread_mutex_lock(&s->asking);
}

void gf_tasks_shared_unlock(struct gf_tasks_shared *s)
{
    pthread_mutex_unlock(&s->asking);
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reading {
    struct gf_tasks_shared *shared;
    gf_slice name_space;
    const gf_argument *arguments; /* that are looked for */
    size_t n_arguments;
    char *id;
    bool found;
    gf_visit_task *visit;
    void *context;
} reading;

static gf_status visit_other(void *context, const gf_asked_task *a, gf_error *err)
{
    reading *r = context;
    gf_task t;
    gf_status st = GF_OK;
    if (is_mine(r->shared, a->owner) || !gf_slice_equal(a->name_space, r->name_space)) return GF_OK;
    if (read_row(a, &t)) st = r->visit(r->context, &t.info, err);
    gf_free(t.arguments);
    return st;
}

static gf_status visit_same(void *context, const gf_asked_task *a, gf_error *err)
{
    reading *r = context;
    gf_task t;
    (void)err;
    if (r->found || is_mine(r->shared, a->owner) || a->cancel) return GF_OK;
    if (read_row(a, &t) && gf_task_is_same(&t, r->name_space, r->arguments, r->n_arguments)) {
        memcpy(r->id, t.info.id, sizeof t.info.id);
        r->found = true;
    }
    gf_free(t.arguments);
    return GF_OK;
}

/* The store is the service's, which may be closing. */
static gf_status read_all(reading *r, gf_visit_asked *visit, gf_error *err)
{
    gf_store *store;
    gf_status st = gf_service_take(r->shared->tasks->service, &store, err);
    if (st != GF_OK) return st;
    st = gf_asked_visit(store, visit, r, err);
    gf_service_give(r->shared->tasks->service);
    return st;
}

gf_status gf_tasks_shared_find(struct gf_tasks_shared *s, gf_slice name_space,
                               const gf_argument *arguments, size_t n, char id[32], gf_error *err)
{
    reading r = {
        .shared = s, .name_space = name_space, .arguments = arguments, .n_arguments = n, .id = id};
    gf_status st = read_all(&r, visit_same, err);
    return st == GF_OK && !r.found ? GF_ENOTFOUND : st;
}

gf_status gf_tasks_shared_visit(struct gf_tasks_shared *s, gf_slice name_space,
                                gf_visit_task *visit, void *context, gf_error *err)
{
    reading r = {.shared = s, .name_space = name_space, .visit = visit, .context = context};
    return read_all(&r, visit_other, err);
}

gf_status gf_tasks_shared_read(struct gf_tasks_shared *s, gf_slice name_space, gf_slice id,
                               gf_visit_task *visit, void *context, gf_error *err)
{
    gf_store *store;
    reading r = {.shared = s, .name_space = name_space, .visit = visit, .context = context};
    gf_status st = gf_service_take(s->tasks->service, &store, err);
    if (st != GF_OK) return st;
    st = gf_asked_read(store, name_space, id, visit_other, &r, err);
    gf_service_give(s->tasks->service);
    return st;
}

static gf_status check_open(void *context, const gf_task_info *t, gf_error *err)
{
    (void)context;
    if (t->state < GF_TASK_DONE) return GF_OK;
    return gf_fail(err, GF_ECONFLICT, "the task has ended: it is %s", gf_task_state_name(t->state));
}

gf_status gf_tasks_shared_cancel(struct gf_tasks_shared *s, gf_slice name_space, gf_slice id,
                                 gf_error *err)
{
    gf_store *store;
    gf_status st = gf_tasks_shared_read(s, name_space, id, check_open, NULL, err);
    if (st == GF_OK) st = gf_service_take(s->tasks->service, &store, err);
    if (st != GF_OK) return st;
    st = gf_asked_cancel(store, name_space, id, err);
    gf_service_give(s->tasks->service);
    return st;
}

/* ---- the keeper ------------------------------------------------------------------------------ */

static bool is_over(struct gf_tasks_shared *s)
{
    return gf_cancel_check(&s->end, NULL) != GF_OK;
}

static gf_task *find_mine(gf_tasks *tasks, gf_slice id)
{
    gf_task *t = tasks->newest;
    while (t && !gf_slice_equal(gf_slice_str(t->info.id), id))
        t = t->next;
    return t;
}

/* A task of mine that somebody cancelled at another server. */
static void cancel_mine(struct gf_tasks_shared *s, gf_slice id)
{
    pthread_mutex_lock(&s->tasks->lock);
    gf_task *t = find_mine(s->tasks, id);
    if (t && !gf_task_has_ended(t)) {
        t->wanted_to_end = true;
        gf_cancel_request(&t->cancel);
    }
    pthread_mutex_unlock(&s->tasks->lock);
}

static sight *see(struct gf_tasks_shared *s, const gf_asked_task *a)
{
    for (size_t i = 0; i < s->n; i++)
        if (gf_slice_equal(gf_slice_str(s->sights[i].id), a->id)) return &s->sights[i];
    if (a->id.len >= sizeof s->sights[0].id ||
        !gf_grow(&s->sights, &s->capacity, s->n + 1, sizeof *s->sights))
        return NULL;
    sight *mine = &s->sights[s->n++];
    *mine = (sight){.since = gf_clock_seconds(), .hash = gf_murmur3(a->owner, 1)};
    memcpy(mine->id, a->id.ptr, a->id.len);
    return mine;
}

/*
 * A lease has ended once it was seen unchanged for its time. So that of a task whose server is silent
 * is looked at before the task is taken: else that time would begin only then.
 */
static void watch_lease(struct gf_tasks_shared *s, const gf_task *t)
{
    gf_buffer key = {0};
    gf_lease_owner owner;
    gf_tables_collection_key(&key, t->info.name_space, t->info.collection);
    if (gf_buffer_check(&key, NULL) == GF_OK)
        gf_lease_find(s->store, gf_buffer_view(&key), &owner, NULL);
    gf_buffer_release(&key);
}

/* Whether nobody is at the task, as far as was seen. */
static bool is_free(struct gf_tasks_shared *s, const gf_asked_task *a, const gf_task *t)
{
    sight *mine = see(s, a);
    uint32_t hash = gf_murmur3(a->owner, 1);
    double now = gf_clock_seconds();
    if (gf_slice_equal(a->owner, gf_slice_str(NOBODY))) return true;
    if (!mine) return false;
    mine->seen = true;
    if (mine->hash != hash) {
        mine->hash = hash;
        mine->since = now;
        mine->looks = 0;
    }
    if (++mine->looks > 1) watch_lease(s, t);
    return mine->looks >= SILENCE_LOOKS && now - mine->since >= SILENCE * s->store->patience;
}

static void forget_gone(struct gf_tasks_shared *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!s->sights[i].seen) continue;
        s->sights[kept] = s->sights[i];
        s->sights[kept++].seen = false;
    }
    s->n = kept;
}

/* A task that was taken goes on here as what it was there; of one that came back the old one goes. */
static gf_status take(struct gf_tasks_shared *s, const gf_asked_task *a, const gf_task *from,
                      gf_error *err)
{
    gf_task *t;
    gf_tasks *tasks = s->tasks;
    gf_status st = gf_task_make(tasks, a->name_space, from->arguments, from->n_arguments, &t, err);
    if (st != GF_OK) return st;
    memcpy(t->info.id, from->info.id, sizeof t->info.id);
    t->info.asked = from->info.asked;
    t->wanted_to_end = a->cancel;
    if (a->cancel) gf_cancel_request(&t->cancel);
    pthread_mutex_lock(&s->keeping);
    st = write_row(t, &a->owner, NULL, GF_TASK_QUEUED, err);
    pthread_mutex_unlock(&s->keeping);
    if (st != GF_OK) {
        gf_task_free(t);
        return st == GF_ECONFLICT ? GF_OK : st; /* another was first */
    }
    pthread_mutex_lock(&tasks->lock);
    st = gf_task_start(tasks, t, err);
    pthread_mutex_unlock(&tasks->lock);
    if (st == GF_OK) {
        GF_LOG(tasks->log, GF_LOG_INFO, "task_taken", GF_LOG_STR("task", t->info.id),
               GF_LOG_TEXT("collection", t->info.collection));
        return GF_OK;
    }
    gf_tasks_shared_ended(t, GF_TASK_QUEUED, true);
    gf_task_free(t);
    return st;
}

static gf_status look_at(void *context, const gf_asked_task *a, gf_error *err)
{
    struct gf_tasks_shared *s = context;
    gf_task t;
    gf_status st = is_over(s) ? gf_fail(err, GF_ECANCELLED, "the server is closing") : GF_OK;
    if (st != GF_OK) return st;
    bool mine = is_mine(s, a->owner);
    if (mine && a->cancel) cancel_mine(s, a->id);
    bool good = read_row(a, &t);
    bool ended = good && t.info.state >= GF_TASK_DONE;
    if (ended && gf_clock_ms() - t.info.ended > KEPT_MS)
        st = gf_asked_delete(s->store, a->name_space, a->id, err);
    else if (good && !mine && !ended && is_free(s, a, &t))
        st = take(s, a, &t, err);
    gf_free(t.arguments);
    return st;
}

/* The next task of mine that has not ended, behind one; tasks are freed only once they have. */
static gf_task *next_open(gf_tasks *tasks, gf_task *after)
{
    pthread_mutex_lock(&tasks->lock);
    gf_task *t = after ? after->next : tasks->newest;
    while (t && (gf_task_has_ended(t) || t->lost))
        t = t->next;
    pthread_mutex_unlock(&tasks->lock);
    return t;
}

/*
 * Each task's end is written with `keeping` held as well, before it counts as ended: so none of
 * these goes while it is renewed.
 */
static void renew_all(struct gf_tasks_shared *s)
{
    gf_error err = {GF_OK, ""};
    bool taken = false;
    pthread_mutex_lock(&s->keeping);
    for (gf_task *t = next_open(s->tasks, NULL); t && !is_over(s); t = next_open(s->tasks, t)) {
        if (t->told_end) continue;
        pthread_mutex_lock(&s->tasks->lock);
        gf_task_state state = t->info.state;
        pthread_mutex_unlock(&s->tasks->lock);
        gf_status st = renew(t, NULL, state, &taken, &err);
        if (taken) lose(t);
        if (st != GF_OK)
            GF_LOG(s->tasks->log, GF_LOG_WARN, "task_not_kept", GF_LOG_STR("task", t->info.id),
                   GF_LOG_STR("error", err.message));
    }
    pthread_mutex_unlock(&s->keeping);
}

static void pause_until(struct gf_tasks_shared *s, double until)
{
    while (!is_over(s) && gf_clock_seconds() < until)
        usleep(SLICE_MICROSECONDS);
}

static void *keep(void *context)
{
    struct gf_tasks_shared *s = context;
    double beat = 0;
    while (!is_over(s)) {
        gf_error err = {GF_OK, ""};
        double begun = gf_clock_seconds();
        if (begun - beat >= BEAT * s->store->patience) {
            renew_all(s);
            beat = begun;
        }
        gf_status st = gf_asked_visit(s->store, look_at, s, &err);
        if (st == GF_OK) forget_gone(s);
        if (st != GF_OK && !is_over(s))
            GF_LOG(s->tasks->log, GF_LOG_WARN, "tasks_not_read", GF_LOG_STR("error", err.message));
        pause_until(s, begun + LOOK * s->store->patience);
    }
    return NULL;
}

gf_status gf_tasks_shared_open(gf_tasks *tasks, gf_error *err)
{
    gf_store *store;
    gf_status st = gf_service_take(tasks->service, &store, err);
    if (st != GF_OK) return st;
    gf_service_give(tasks->service);
    if (!gf_store_is_shared(store)) return GF_OK;
    struct gf_tasks_shared *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "tasks");
    s->tasks = tasks;
    s->store = store;
    s->token = store->token;
    pthread_mutex_init(&s->asking, NULL);
    pthread_mutex_init(&s->keeping, NULL);
    tasks->shared = s;
    if (pthread_create(&s->thread, NULL, keep, s) == 0) return GF_OK;
    tasks->shared = NULL;
    pthread_mutex_destroy(&s->asking);
    pthread_mutex_destroy(&s->keeping);
    gf_free(s);
    return gf_fail(err, GF_ENOMEM, "cannot make a further thread");
}

void gf_tasks_shared_stop(struct gf_tasks_shared *s)
{
    if (!s || s->stopped) return;
    gf_cancel_request(&s->end);
    pthread_join(s->thread, NULL);
    s->stopped = true;
}

void gf_tasks_shared_free(struct gf_tasks_shared *s)
{
    if (!s) return;
    gf_tasks_shared_stop(s);
    pthread_mutex_destroy(&s->asking);
    pthread_mutex_destroy(&s->keeping);
    gf_free(s->sights);
    gf_free(s);
}
