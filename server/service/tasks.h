/**
 * Tasks: rebuilds that were asked for and are done while nobody waits.
 *
 * A task is queued, running, and then done, failed or cancelled. The last thousand that have ended
 * are remembered. Asking for a rebuild that is queued or running already gives the task that is
 * there.
 */
#ifndef GF_SERVER_SERVICE_TASKS_H
#define GF_SERVER_SERVICE_TASKS_H

#include "server/service/log.h"
#include "server/service/service.h"

typedef struct gf_tasks gf_tasks;

typedef enum gf_task_state {
    GF_TASK_QUEUED,
    GF_TASK_RUNNING,
    GF_TASK_DONE,
    GF_TASK_FAILED,
    GF_TASK_CANCELLED
} gf_task_state;

const char *gf_task_state_name(gf_task_state state);

/** As it is at one moment. */
typedef struct gf_task_info {
    char id[32];
    gf_slice name_space, collection, configuration; /* configuration empty: all */
    gf_task_state state;
    int64_t asked, begun, ended; /* times; 0: not yet */
    char phase[32], what[64];    /* of the last progress, and the collection that it is of */
    uint64_t done, total;
    uint64_t version; /* raised by every change */
    gf_slice rows;    /* a JSON array: what the operation gave, once it has ended */
    gf_slice notices; /* a JSON array: what it told beside that; empty: nothing */
    gf_error error;   /* of GF_TASK_FAILED */
    /* Once it has ended, for gf_tasks_follow: how, and what it gave: rows and notices in order. */
    gf_status status;
    gf_outcome outcome;
    bool partly;
    gf_slice given;
} gf_task_info;

/** Told of a task; slices are borrowed until it returns, and it must not call this module. */
typedef gf_status gf_visit_task(void *context, const gf_task_info *info, gf_error *err);

gf_status gf_tasks_open(gf_service *service, const gf_log *log, gf_tasks **tasks, gf_error *err);

/**
 * Ask for a rebuild by the operation's arguments, which are copied.
 * @param[out] id     of the task
 * @param[out] is_new false where such a task was queued or running
 * @return GF_OK; GF_EINVAL for arguments that the operation refuses; GF_ELIMIT where a thousand are
 *         queued; GF_ENOMEM
 */
gf_status gf_tasks_ask(gf_tasks *tasks, gf_slice name_space, const gf_argument *arguments, size_t n,
                       char id[32], bool *is_new, gf_error *err);

/** Visit the tasks of a namespace, newest first. */
gf_status gf_tasks_visit(gf_tasks *tasks, gf_slice name_space, gf_visit_task *visit, void *context,
                         gf_error *err);

/** One of a namespace; GF_ENOTFOUND. */
gf_status gf_tasks_read(gf_tasks *tasks, gf_slice name_space, gf_slice id, gf_visit_task *visit,
                        void *context, gf_error *err);

/** Wait until the task's version is another, it has ended, or so many milliseconds are over. */
void gf_tasks_wait(gf_tasks *tasks, gf_slice name_space, gf_slice id, uint64_t version,
                   unsigned milliseconds);

/**
 * Ask for a rebuild as gf_tasks_ask does, and give its call what the task gives, to its end. Once
 * *stopped, a task that was new is cancelled; else a call that is cancelled just ends.
 * @return the task's status; GF_ECANCELLED
 */
gf_status gf_tasks_follow(gf_tasks *tasks, gf_call *call, const bool *stopped, gf_error *err);

/** GF_ENOTFOUND; GF_ECONFLICT where it has ended. */
gf_status gf_tasks_cancel(gf_tasks *tasks, gf_slice name_space, gf_slice id, gf_error *err);

/**
 * When collections are rebuilt by themselves: once any of these holds since the build that is
 * served. 0: not by this.
 */
typedef struct gf_rebuild_after {
    uint64_t documents; /* so many were put or deleted */
    double share;       /* or so large a share of the collection */
    int64_t ms;         /* or the build is so old, and anything was */
} gf_rebuild_after;

/** "1000", "10%", "6h" (m, h, d), or several with commas; GF_EINVAL. */
gf_status gf_tasks_after_parse(gf_slice text, gf_rebuild_after *after, gf_error *err);

/**
 * From now on ask for rebuilds by that rule: of the collections that it holds for, those first that
 * changed most. No more are asked for than there are workers (tasks_after.c). Once.
 */
gf_status gf_tasks_after_watch(gf_tasks *tasks, const gf_rebuild_after *after, unsigned workers,
                               gf_error *err);

/* Between tasks.c and tasks_after.c. */
struct gf_rebuild_watcher;
void gf_tasks_after_end(struct gf_rebuild_watcher *watcher);
void gf_tasks_set_watcher(gf_tasks *tasks, struct gf_rebuild_watcher *watcher);
gf_service *gf_tasks_service(gf_tasks *tasks);
const gf_log *gf_tasks_log(gf_tasks *tasks);

/** Tasks that are queued, and running. */
void gf_tasks_count(gf_tasks *tasks, size_t *queued, size_t *running);

/** Take no more, cancel what has not ended, and wait for it. */
void gf_tasks_stop(gf_tasks *tasks);

void gf_tasks_close(gf_tasks *tasks);

#endif
