/*
 * Two settings that make an opening cheap where nothing is written.
 *
 * reuse_logs. An opening writes a new MANIFEST and a new log, and syncs four times, even where
 * nothing was to be done. With reuse_logs it appends to those that are there. LevelDB calls that
 * experimental, and rightly: behind a record that a crash tore, what is appended is lost. So it is
 * set only where our own check of every byte has found an empty log and a MANIFEST that ends with a
 * whole record.
 *
 * Patience. An opening begins with whatever compaction is due, and a close breaks it off; a process
 * that looks up one document would do that each time, and throw the work away. So what an opening
 * wants to have done in the background waits for a moment, and a close comes first.
 *
 * leveldb_options_t is a struct whose only member is the leveldb::Options (db/c.cc of 1.23). Should
 * it be another one day, the sizes are not where they are looked for, and nothing is set.
 */
#include "storage/leveldb_options.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <leveldb/env.h>
#include <leveldb/options.h>
#include <mutex>
#include <new>
#include <thread>

using std::chrono::steady_clock;

struct gf_patience final : public leveldb::EnvWrapper {
    gf_patience() : EnvWrapper(leveldb::Env::Default()) {}
    void Schedule(void (*work)(void *), void *argument) override;

    std::mutex lock;
    std::condition_variable ended;
    std::atomic<bool> over{false};
    bool closing = false;
    steady_clock::time_point begin = steady_clock::now() + std::chrono::milliseconds(200);
};

namespace
{

struct held_work {
    gf_patience *patience;
    void (*work)(void *);
    void *argument;
};

/* On LevelDB's thread. Its work does nothing once the database is being closed; so that goes first.
 */
void run_held(void *context)
{
    held_work held = *static_cast<held_work *>(context);
    gf_patience *p = held.patience;
    delete static_cast<held_work *>(context);
    {
        std::unique_lock<std::mutex> locked(p->lock);
        p->ended.wait_until(locked, p->begin, [p] { return p->over.load(); });
        if (p->closing) {
            locked.unlock();
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    }
    held.work(held.argument); /* *p may be gone when it has told that it is done */
}

} // namespace

void gf_patience::Schedule(void (*work)(void *), void *argument)
{
    if (over.load() || steady_clock::now() >= begin)
        target()->Schedule(work, argument);
    else
        target()->Schedule(run_held, new held_work{this, work, argument});
}

gf_patience *gf_leveldb_set_reading(leveldb_options_t *options, size_t buffer, size_t file,
                                    bool clean)
{
    leveldb::Options *o = reinterpret_cast<leveldb::Options *>(options);
    if (o->write_buffer_size != buffer || o->max_file_size != file || !o->paranoid_checks)
        return nullptr;
    gf_patience *p = new (std::nothrow) gf_patience;
    if (!p) return nullptr;
    o->reuse_logs = clean;
    o->env = p;
    return p;
}

void gf_patience_end(gf_patience *p, bool closing)
{
    if (!p || p->over.load(std::memory_order_relaxed)) return;
    std::lock_guard<std::mutex> locked(p->lock);
    p->closing = closing;
    p->over = true;
    p->ended.notify_all();
}

void gf_patience_free(gf_patience *p)
{
    delete p;
}
