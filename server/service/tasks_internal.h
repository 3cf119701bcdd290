/** Tasks as the files of tasks see them. */
#ifndef GF_SERVER_SERVICE_TASKS_INTERNAL_H
#define GF_SERVER_SERVICE_TASKS_INTERNAL_H

#include "base/arena.h"
#include "engine/store/store_internal.h"
#include "server/service/tasks.h"
#include "server/service/workers.h"

#include <pthread.h>

typedef struct gf_task {
    struct gf_task *next; /* older */
    gf_tasks *tasks;
    gf_arena memory; /* of all that its slices are */
    gf_task_info info;
    gf_argument *arguments; /* n_arguments */
    size_t n_arguments;
    gf_cancel cancel;
    gf_buffer rows, notices, given;
    double told; /* when a change was last told to those who wait */
    /* In a shared store (tasks_shared.c), under shared->keeping: */
    char owner[64]; /* as it was written last */
    uint64_t beat;
    bool told_end; /* its row says how it ended */
    /* Likewise, under tasks->lock: */
    bool wanted_to_end; /* somebody cancelled it: it is not handed to another server */
    bool lost;          /* another server has taken it, and tells of it */
} gf_task;

struct gf_tasks {
    gf_service *service;
    const gf_log *log;
    gf_workers *workers;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    gf_task *newest;
    size_t open, ended;
    uint64_t last; /* number given */
    int64_t started;
    bool stopping;
    struct gf_rebuild_watcher *watcher; /* NULL: nothing is rebuilt by itself */
    struct gf_tasks_shared *shared;     /* NULL: no other process can open the store */
};

bool gf_task_has_ended(const gf_task *t);
bool gf_task_is_same(const gf_task *t, gf_slice name_space, const gf_argument *arguments, size_t n);
/** A new task with copies of its arguments. */
gf_status gf_task_make(gf_tasks *tasks, gf_slice name_space, const gf_argument *arguments, size_t n,
                       gf_task **made, gf_error *err);
/** With the lock held: have it run. GF_EBUSY where there are too many, or the server closes. */
gf_status gf_task_start(gf_tasks *tasks, gf_task *t, gf_error *err);
void gf_task_free(gf_task *t);

/* ---- tasks_shared.c -------------------------------------------------------------------------- */

/** Keep tasks in the store, where other processes may have it open, and look after theirs. */
gf_status gf_tasks_shared_open(gf_tasks *tasks, gf_error *err);
/** Look after none any more; what is asked of this module is still answered. NULL: nothing. */
void gf_tasks_shared_stop(struct gf_tasks_shared *shared);
void gf_tasks_shared_free(struct gf_tasks_shared *shared);

/** One at a time asks, so that of equal ones one is kept. */
void gf_tasks_shared_lock(struct gf_tasks_shared *shared);
void gf_tasks_shared_unlock(struct gf_tasks_shared *shared);

/** An open task of another server's that is the same; GF_ENOTFOUND, without a message. */
gf_status gf_tasks_shared_find(struct gf_tasks_shared *shared, gf_slice name_space,
                               const gf_argument *arguments, size_t n, char id[32], gf_error *err);

/** Put a task with its id into the store before anybody is told of it. */
gf_status gf_tasks_shared_keep(gf_task *t, gf_error *err);

/** The task ends so, or is given back for another server to do it; before anybody here is told. */
void gf_tasks_shared_ended(gf_task *t, gf_task_state state, bool give_back);

/** Whether a rebuild that was refused for another one under way is to be tried again. */
bool gf_tasks_shared_tries_again(gf_task *t, gf_status st);

/** Ids are of one process among all. */
void gf_tasks_shared_name(const struct gf_tasks_shared *shared, int64_t started, uint64_t number,
                          char id[32]);

/** Tasks of other servers. */
gf_status gf_tasks_shared_visit(struct gf_tasks_shared *shared, gf_slice name_space,
                                gf_visit_task *visit, void *context, gf_error *err);
gf_status gf_tasks_shared_read(struct gf_tasks_shared *shared, gf_slice name_space, gf_slice id,
                               gf_visit_task *visit, void *context, gf_error *err);
gf_status gf_tasks_shared_cancel(struct gf_tasks_shared *shared, gf_slice name_space, gf_slice id,
                                 gf_error *err);

#endif
