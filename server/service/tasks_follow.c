/* A task as a call sees it: its progress while it runs, then its rows, its notices and its end. */
#include "server/service/tasks.h"

#include "grouperfish/buffer.h"
#include "server/socket/wire.h"

enum { LOOK_MS = 250 };

/* A copy of the task's state, which may only be read under the tasks' lock. */
typedef struct following {
    char id[32];
    bool is_new; /* nobody else asked for it */
    gf_task_state state;
    uint64_t version, done, total;
    gf_error error;
    gf_status status;
    gf_outcome outcome;
    bool partly;
    gf_buffer given;
    char phase[32], what[64];
} following;

static gf_status look(void *context, const gf_task_info *t, gf_error *err)
{
    following *f = context;
    f->state = t->state;
    f->version = t->version;
    f->done = t->done;
    f->total = t->total;
    memcpy(f->phase, t->phase, sizeof f->phase);
    memcpy(f->what, t->what, sizeof f->what);
    if (t->state < GF_TASK_DONE) return GF_OK;
    f->error = t->error;
    f->status = t->status;
    f->outcome = t->outcome;
    f->partly = t->partly;
    gf_buffer_slice(&f->given, t->given);
    return gf_buffer_check(&f->given, err);
}

/* Messages as tasks.c writes them: the wire's type, and a string. */
static gf_status give_all(const following *f, gf_call *call, gf_error *err)
{
    gf_slice rest = gf_buffer_view(&f->given), bytes;
    gf_buffer memory = {0};
    gf_notice n;
    gf_status st = GF_OK;
    while (rest.len && st == GF_OK) {
        char type = rest.ptr[0];
        rest = gf_slice_skip(rest, 1);
        if (!gf_slice_take_string(&rest, &bytes)) break;
        if (type == GF_WIRE_ROW)
            st = gf_call_emit(call, bytes, err);
        else if (gf_wire_read_notice(bytes, &memory, &n))
            gf_call_notify(call, &n);
    }
    gf_buffer_release(&memory);
    return st;
}

static gf_status end_following(const following *f, gf_call *call, gf_error *err)
{
    gf_status st = give_all(f, call, err);
    if (st != GF_OK) return st;
    call->outcome = f->outcome;
    call->partly = f->partly;
    if (f->status == GF_OK) return GF_OK;
    if (f->status == GF_ECANCELLED)
        return gf_fail(err, GF_ECANCELLED, "stopped on request; what was served is served on");
    return gf_fail(err, f->status, "%s", f->error.message);
}

/* GF_OK: wait on, for the task to end. */
static gf_status look_for_stop(gf_tasks *tasks, following *f, const gf_call *call,
                               const bool *stopped, gf_error *err)
{
    if (gf_cancel_check(call->cancel, NULL) == GF_OK) return GF_OK;
    if (!__atomic_load_n(stopped, __ATOMIC_ACQUIRE))
        return gf_fail(err, GF_ECANCELLED, "the caller has gone; the rebuild goes on");
    if (!f->is_new)
        return gf_fail(err, GF_ECANCELLED,
                       "stopped on request; the rebuild was asked for by others too, and goes on");
    (void)gf_tasks_cancel(tasks, call->name_space, gf_slice_str(f->id), NULL);
    return GF_OK;
}

gf_status gf_tasks_follow(gf_tasks *tasks, gf_call *call, const bool *stopped, gf_error *err)
{
    following f = {.version = UINT64_MAX};
    gf_slice id;
    gf_status st = gf_tasks_ask(tasks, call->name_space, call->arguments, call->n_arguments, f.id,
                                &f.is_new, err);
    id = gf_slice_str(f.id);
    while (st == GF_OK && f.state < GF_TASK_DONE) {
        uint64_t before = f.version;
        st = gf_tasks_read(tasks, call->name_space, id, look, &f, err);
        if (st != GF_OK || f.state >= GF_TASK_DONE) break;
        if (f.version != before && f.phase[0])
            gf_call_progress(call, gf_slice_str(f.what), f.phase, f.done, f.total);
        st = look_for_stop(tasks, &f, call, stopped, err);
        if (st == GF_OK) gf_tasks_wait(tasks, call->name_space, id, f.version, LOOK_MS);
    }
    if (st == GF_OK) st = end_following(&f, call, err);
    gf_buffer_release(&f.given);
    return st;
}
