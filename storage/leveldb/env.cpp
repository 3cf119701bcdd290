/*
 * Three things that LevelDB's C interface lacks.
 *
 * reuse_logs. An opening writes a new MANIFEST and a new log, and syncs four times, even where
 * nothing was to be done. With reuse_logs it appends to those that are there. LevelDB calls that
 * experimental, and rightly: behind a record that a crash tore, what is appended is lost. So it is
 * set only where our own check of every byte has found an empty log and a MANIFEST that ends with a
 * whole record.
 *
 * Patience. An opening begins with whatever compaction is due, and a close breaks it off; a process
 * that looks up one document would do that each time, and throw the work away, and one that reads a
 * collection to cluster it would share its processors with that. So what an opening wants to have
 * done in the background waits for some seconds, or until much is written, and a close comes first.
 * It waits on a thread of its own, since LevelDB's is that of all databases.
 *
 * An empty log. A write without a batch makes LevelDB begin a new log, and a table of what the one
 * before has (its own DBImpl::TEST_CompactMemTable does that); a compaction that is under way makes
 * the table first and then goes on. Once the table is in the MANIFEST the old log is removed, and
 * that is seen here. Where it fails, LevelDB does nothing in the background any more.
 *
 * leveldb_options_t is a struct whose only member is the leveldb::Options (db/c.cc of 1.23), and
 * that of leveldb_t is a leveldb::DB *. Should the options be others one day, the sizes are not
 * where they are looked for, and nothing is set.
 */
#include "storage/leveldb/env.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/options.h>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>

using leveldb::Status;
using std::chrono::steady_clock;

struct gf_leveldb_env final : public leveldb::EnvWrapper {
    explicit gf_leveldb_env(bool patient)
        : EnvWrapper(leveldb::Env::Default()), begun(!patient),
          begin(steady_clock::now() + std::chrono::seconds(5))
    {
    }
    void Schedule(void (*work)(void *), void *argument) override;
    Status NewWritableFile(const std::string &path, leveldb::WritableFile **file) override;
    Status NewAppendableFile(const std::string &path, leveldb::WritableFile **file) override;
    Status RemoveFile(const std::string &path) override;

    std::mutex lock;
    std::condition_variable changed;
    std::atomic<bool> begun;
    bool closing = false;
    const steady_clock::time_point begin;
    std::thread holder;        /* of the first work, while it waits */
    unsigned working = 0;      /* calls of LevelDB's work that have not returned */
    unsigned long newest = 0;  /* number of the log that is written; 0: none */
    unsigned long removed = 0; /* highest number of a log that was removed */
};

namespace
{

struct held_work {
    gf_leveldb_env *env;
    void (*work)(void *);
    void *argument;
};

/* On LevelDB's thread. */
void run_work(void *context)
{
    held_work held = *static_cast<held_work *>(context);
    delete static_cast<held_work *>(context);
    held.work(held.argument);
    std::lock_guard<std::mutex> locked(held.env->lock);
    held.env->working--;
    held.env->changed.notify_all();
}

/* Work does nothing once the database is being closed; so that goes first. */
void hold_work(held_work *held)
{
    gf_leveldb_env *e = held->env;
    std::unique_lock<std::mutex> locked(e->lock);
    e->changed.wait_until(locked, e->begin, [e] { return e->begun.load(); });
    bool closing = e->closing;
    locked.unlock();
    if (closing) std::this_thread::sleep_for(std::chrono::microseconds(200));
    e->target()->Schedule(run_work, held);
}

/* The number of a log, by its path; 0 of any other file. */
unsigned long log_number(const std::string &path)
{
    static const char ending[] = ".log";
    size_t name = path.find_last_of('/') + 1, n = path.size() - name;
    if (n < sizeof ending || path.compare(path.size() - 4, 4, ending) != 0) return 0;
    return std::strtoul(path.c_str() + name, nullptr, 10);
}

void note_log(gf_leveldb_env *e, const std::string &path)
{
    unsigned long number = log_number(path);
    std::lock_guard<std::mutex> locked(e->lock);
    if (number > e->newest) e->newest = number;
}

} // namespace

/* LevelDB has one call under way or waiting at a time, so there is one that is held, at most. */
void gf_leveldb_env::Schedule(void (*work)(void *), void *argument)
{
    held_work *held = new held_work{this, work, argument};
    {
        std::lock_guard<std::mutex> locked(lock);
        working++;
    }
    if (begun.load() || steady_clock::now() >= begin || holder.joinable()) {
        target()->Schedule(run_work, held);
        return;
    }
    try {
        holder = std::thread(hold_work, held);
    } catch (const std::system_error &) {
        target()->Schedule(run_work, held); /* no thread to wait on */
    }
}

Status gf_leveldb_env::NewWritableFile(const std::string &path, leveldb::WritableFile **file)
{
    note_log(this, path);
    return target()->NewWritableFile(path, file);
}

Status gf_leveldb_env::NewAppendableFile(const std::string &path, leveldb::WritableFile **file)
{
    note_log(this, path);
    return target()->NewAppendableFile(path, file);
}

Status gf_leveldb_env::RemoveFile(const std::string &path)
{
    Status s = target()->RemoveFile(path);
    unsigned long number = log_number(path);
    std::lock_guard<std::mutex> locked(lock);
    if (number > removed) {
        removed = number;
        changed.notify_all();
    }
    return s;
}

gf_leveldb_env *gf_leveldb_env_create(leveldb_options_t *options,
                                      const gf_leveldb_env_options *wanted)
{
    leveldb::Options *o = reinterpret_cast<leveldb::Options *>(options);
    if (o->write_buffer_size != wanted->buffer || o->max_file_size != wanted->file ||
        !o->paranoid_checks)
        return nullptr;
    gf_leveldb_env *e = new (std::nothrow) gf_leveldb_env(wanted->patient);
    if (!e) return nullptr;
    o->reuse_logs = wanted->clean;
    o->env = e;
    return e;
}

void gf_leveldb_env_begin(gf_leveldb_env *e, bool closing)
{
    if (!e || e->begun.load(std::memory_order_relaxed)) return;
    std::lock_guard<std::mutex> locked(e->lock);
    e->closing = closing;
    e->begun = true;
    e->changed.notify_all();
}

void gf_leveldb_env_empty_log(gf_leveldb_env *e, leveldb_t *db)
{
    gf_leveldb_env_begin(e, false);
    std::unique_lock<std::mutex> locked(e->lock);
    unsigned long log = e->newest;
    locked.unlock();
    Status s = (*reinterpret_cast<leveldb::DB **>(db))->Write(leveldb::WriteOptions(), nullptr);
    if (!s.ok()) return;
    locked.lock();
    e->changed.wait(locked, [e, log] { return e->removed >= log || !e->working; });
}

void gf_leveldb_env_settle(gf_leveldb_env *e, leveldb_t *db, unsigned tables)
{
    std::string there;
    leveldb::DB *d = *reinterpret_cast<leveldb::DB **>(db);
    if (!d->GetProperty("leveldb.num-files-at-level0", &there) ||
        std::strtoul(there.c_str(), nullptr, 10) < tables)
        return;
    gf_leveldb_env_begin(e, false);
    std::unique_lock<std::mutex> locked(e->lock);
    e->changed.wait(locked, [e] { return !e->working; });
}

/* LevelDB's thread may not have left yet what it did last. */
void gf_leveldb_env_free(gf_leveldb_env *e)
{
    if (!e) return;
    if (e->holder.joinable()) e->holder.join();
    std::unique_lock<std::mutex> locked(e->lock);
    e->changed.wait(locked, [e] { return !e->working; });
    locked.unlock();
    delete e;
}
