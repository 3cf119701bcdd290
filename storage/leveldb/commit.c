/*
 * Commits: batches of several writers in one write of the log, with one sync.
 *
 * LevelDB groups writers as well, but lets the next group go on behind one that failed: its record
 * would then lie behind a torn one, be acknowledged, and be lost when the log is read again. Here
 * the failure is known before the next group begins, and no group follows it.
 *
 *     queue    [ leader | follower | follower ] [ next leader | ... ]
 *                one group: the leader writes for all, then wakes the next
 */
#include "storage/leveldb/internal.h"

#include <assert.h>

enum { LARGEST_GROUP = 1 << 20, SMALL_BATCH = 128 << 10 };

typedef struct gf_leveldb_queued {
    gf_leveldb_batch *batch;
    size_t bytes;
    gf_sync sync;
    bool done;
    gf_status status;
    gf_error error;
    pthread_cond_t turn; /* it is done, or it leads */
    struct gf_leveldb_queued *next;
} gf_leveldb_queued;

static void join_queue(gf_leveldb *b, gf_leveldb_queued *c)
{
    if (b->last_commit)
        b->last_commit->next = c;
    else
        b->first_commit = c;
    b->last_commit = c;
}

/*
 * The last one of the leader's group: not so much that a small write waits long for it, and nobody
 * who wants a sync where the leader does not.
 */
static gf_leveldb_queued *last_of_group(gf_leveldb_queued *leader)
{
    size_t bytes = leader->bytes;
    size_t most = bytes < SMALL_BATCH ? bytes + SMALL_BATCH : LARGEST_GROUP;
    gf_leveldb_queued *last = leader;
    for (gf_leveldb_queued *c = leader->next; c; last = c, c = c->next) {
        bytes += c->bytes;
        if (bytes > most || (c->sync == GF_SYNC_ON && leader->sync != GF_SYNC_ON)) break;
    }
    return last;
}

/* Without the lock: others may join the queue behind `last` meanwhile, whose `next` is theirs. */
static gf_status write_group(gf_leveldb *b, gf_leveldb_queued *leader,
                             const gf_leveldb_queued *last, gf_error *err)
{
    for (const gf_leveldb_queued *c = leader; c != last;) {
        c = c->next;
        gf_leveldb_batch_append(leader->batch, c->batch);
    }
    return gf_leveldb_database_write(b->db, leader->batch, leader->sync == GF_SYNC_ON, err);
}

/* Take the group off the queue, give each its result, and let the next one lead. */
static void end_group(gf_leveldb *b, gf_leveldb_queued *leader, const gf_leveldb_queued *last,
                      gf_status st, const gf_error *err)
{
    assert(b->first_commit == leader);
    b->first_commit = last->next;
    if (!last->next) b->last_commit = NULL;
    for (gf_leveldb_queued *c = leader, *next; c; c = next) {
        next = c == last ? NULL : c->next; /* c ends once its thread runs */
        c->status = st;
        c->error = *err;
        c->done = true;
        pthread_cond_signal(&c->turn);
    }
    if (b->first_commit) pthread_cond_signal(&b->first_commit->turn);
}

/* Write the group that begins at the queue's head; the lock is held but for the writing. */
static void lead_group(gf_leveldb *b, gf_leveldb_queued *leader)
{
    gf_leveldb_queued *last = last_of_group(leader);
    gf_error err = {GF_OK, ""};
    gf_status st;
    if (b->failed) {
        st = gf_fail(&err, GF_EIO, "open the store again to go on: an earlier write failed: %s",
                     b->failure.message);
    } else {
        bool much = b->written >= GF_LEVELDB_MUCH;
        pthread_mutex_unlock(&b->commit_lock);
        if (much) gf_leveldb_database_begin(b->db);
        st = write_group(b, leader, last, &err);
        pthread_mutex_lock(&b->commit_lock);
        b->failed = st != GF_OK;
        for (const gf_leveldb_queued *c = leader; c; c = c == last ? NULL : c->next)
            b->written += c->bytes;
        b->failure = err;
    }
    end_group(b, leader, last, st, &err);
}

gf_status gf_leveldb_commit(gf_leveldb *b, gf_leveldb_batch *batch, gf_sync sync, gf_error *err)
{
    gf_leveldb_queued c = {.batch = batch, .bytes = gf_leveldb_batch_bytes(batch), .sync = sync};
    pthread_cond_init(&c.turn, NULL);
    pthread_mutex_lock(&b->commit_lock);
    join_queue(b, &c);
    while (!c.done && b->first_commit != &c)
        pthread_cond_wait(&c.turn, &b->commit_lock);
    if (!c.done) lead_group(b, &c);
    pthread_mutex_unlock(&b->commit_lock);
    pthread_cond_destroy(&c.turn);
    if (c.status != GF_OK && err) *err = c.error;
    return c.status;
}

bool gf_leveldb_has_failed(gf_backend *backend)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    pthread_mutex_lock(&b->commit_lock);
    bool failed = b->failed;
    pthread_mutex_unlock(&b->commit_lock);
    return failed;
}
