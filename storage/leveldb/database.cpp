/*
 * LevelDB by its C++ interface, and an environment that gives it what it lacks:
 *
 * Reused logs. An opening writes a new MANIFEST and a new log, and syncs four times, even where
 * nothing was to be done. With reuse_logs it appends to those that are there. LevelDB calls that
 * experimental, and rightly: a record behind one that a crash tore is lost. So it is set only where
 * our own check of every byte has found an empty log and a MANIFEST that ends with a whole record.
 *
 * Patience. An opening begins with whatever compaction is due, and a close breaks it off. A process
 * that looks up one document would do that each time, and throw the work away; one that reads a
 * collection to cluster it would share its processors with it. So the work that an opening wants to
 * have done in the background waits for some seconds, or until much is written, and a close comes
 * first. It waits on a thread of its own, since all databases share LevelDB's.
 *
 * An empty log. A write without a batch makes LevelDB begin a new log, and a table of what the one
 * before has (its own DBImpl::TEST_CompactMemTable does that); a compaction that is under way makes
 * the table first and then goes on. Once the table is in the MANIFEST the old log is removed, which
 * the environment sees. Where it fails, LevelDB does nothing in the background any more.
 */
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

extern "C" { /* what C's headers declare has C's linkage */
#include "storage/leveldb/database.h"
}

using leveldb::Slice;
using leveldb::Status;
using std::chrono::steady_clock;

/* Measured on LevelDB 1.23; docs/storage.md gives the figures. */
enum { TABLE_FILE = 16 << 20, BLOOM_BITS = 10, OPEN_FILES = 500 };

/* ---- the environment -------------------------------------------------------------------------- */

struct gf_leveldb_env final : public leveldb::EnvWrapper {
    explicit gf_leveldb_env(bool patient)
        : EnvWrapper(leveldb::Env::Default()), begun(!patient),
          begin(steady_clock::now() + std::chrono::seconds(5))
    {
    }
    ~gf_leveldb_env() override;
    void Schedule(void (*work)(void *), void *argument) override;
    Status NewWritableFile(const std::string &path, leveldb::WritableFile **file) override;
    Status NewAppendableFile(const std::string &path, leveldb::WritableFile **file) override;
    Status RemoveFile(const std::string &path) override;
    void begin_work(bool is_closing);
    void wait_for_work();

    std::mutex lock;
    std::condition_variable changed;
    std::atomic<bool> begun;
    bool closing = false;
    const steady_clock::time_point begin;
    std::thread holder;        /* waits with the first work */
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

/* Once the database is being closed its work does nothing; so the close gets a moment to begin. */
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

/* Cheap where the work has begun. */
void gf_leveldb_env::begin_work(bool is_closing)
{
    if (begun.load(std::memory_order_relaxed)) return;
    std::lock_guard<std::mutex> locked(lock);
    closing = is_closing;
    begun = true;
    changed.notify_all();
}

void gf_leveldb_env::wait_for_work()
{
    std::unique_lock<std::mutex> locked(lock);
    changed.wait(locked, [this] { return !working; });
}

/* LevelDB's thread may still be leaving its last work. */
gf_leveldb_env::~gf_leveldb_env()
{
    if (holder.joinable()) holder.join();
    wait_for_work();
}

/* ---- the database ---------------------------------------------------------------------------- */

/* The members are destroyed from the last to the first: LevelDB needs all others until its end. */
struct gf_leveldb_database {
    explicit gf_leveldb_database(bool patient) : env(patient) {}
    ~gf_leveldb_database()
    {
        env.begin_work(true); /* LevelDB's own end waits for the work that is held */
    }

    gf_leveldb_env env;
    std::unique_ptr<leveldb::Cache> cache;
    std::unique_ptr<const leveldb::FilterPolicy> filter;
    std::unique_ptr<leveldb::DB> db;
};

namespace
{

Slice to_slice(gf_slice s)
{
    return Slice(s.ptr ? s.ptr : "", s.len);
}

gf_slice from_slice(const Slice &s)
{
    return gf_slice_of(s.data(), s.size());
}

/* The lock is not free: an input/output error that differs from others by its words alone. */
bool is_locked(gf_slice words)
{
    return gf_slice_starts(words, GF_SLICE("lock ")) &&
           (gf_slice_ends(words, GF_SLICE(": Resource temporarily unavailable")) ||
            gf_slice_ends(words, GF_SLICE(": already held by process")));
}

} // namespace

gf_status gf_leveldb_database_failure(const Status &s, gf_error *err)
{
    if (s.ok()) return GF_OK;
    std::string text = s.ToString();
    size_t colon = text.find(": ");
    const char *words = text.c_str() + (colon == std::string::npos ? 0 : colon + 2);
    if (s.IsCorruption()) return gf_fail(err, GF_ECORRUPT, "damaged data: %s", words);
    if (s.IsNotFound()) return gf_fail(err, GF_ECORRUPT, "a file is missing: %s", words);
    if (s.IsInvalidArgument() || s.IsNotSupportedError())
        return gf_fail(err, GF_EINVAL, "%s", words);
    return gf_fail(err, is_locked(gf_slice_str(words)) ? GF_EBUSY : GF_EIO, "%s", words);
}

static gf_status open_database(gf_leveldb_database *made, const leveldb::Options &options,
                               const char *folder, gf_leveldb_database **db, gf_error *err)
{
    std::unique_ptr<gf_leveldb_database> d(made);
    leveldb::DB *opened = nullptr;
    gf_status st = gf_leveldb_database_failure(leveldb::DB::Open(options, folder, &opened), err);
    d->db.reset(opened);
    if (st == GF_OK) *db = d.release();
    return st;
}

static leveldb::ReadOptions read_options(const gf_leveldb_snapshot *snapshot, bool cached)
{
    leveldb::ReadOptions o;
    o.verify_checksums = true;
    o.fill_cache = cached;
    o.snapshot = reinterpret_cast<const leveldb::Snapshot *>(snapshot);
    return o;
}

gf_status gf_leveldb_database_open(const char *folder, const gf_leveldb_settings *settings,
                                   gf_leveldb_database **db, gf_error *err)
{
    gf_leveldb_database *d = new gf_leveldb_database(settings->patient);
    leveldb::Options o;
    d->cache.reset(leveldb::NewLRUCache(settings->cache));
    d->filter.reset(leveldb::NewBloomFilterPolicy(BLOOM_BITS));
    o.create_if_missing = o.error_if_exists = settings->create;
    o.paranoid_checks = true;
    o.reuse_logs = settings->clean;
    o.env = &d->env;
    o.write_buffer_size = settings->write_buffer;
    o.max_file_size = TABLE_FILE;
    o.max_open_files = OPEN_FILES;
    o.block_cache = d->cache.get();
    o.filter_policy = d->filter.get();
    return open_database(d, o, folder, db, err);
}

void gf_leveldb_database_close(gf_leveldb_database *d)
{
    delete d;
}

void gf_leveldb_database_begin(gf_leveldb_database *d)
{
    d->env.begin_work(false);
}

void gf_leveldb_database_empty_log(gf_leveldb_database *d)
{
    gf_leveldb_env *e = &d->env;
    e->begin_work(false);
    std::unique_lock<std::mutex> locked(e->lock);
    unsigned long log = e->newest;
    locked.unlock();
    if (!d->db->Write(leveldb::WriteOptions(), nullptr).ok()) return;
    locked.lock();
    e->changed.wait(locked, [e, log] { return e->removed >= log || !e->working; });
}

void gf_leveldb_database_settle(gf_leveldb_database *d, unsigned tables)
{
    std::string there;
    if (!d->db->GetProperty("leveldb.num-files-at-level0", &there) ||
        std::strtoul(there.c_str(), nullptr, 10) < tables)
        return;
    d->env.begin_work(false);
    d->env.wait_for_work();
}

void gf_leveldb_database_compact(gf_leveldb_database *d, gf_slice begin, gf_slice end)
{
    Slice first = to_slice(begin), last = to_slice(end);
    d->db->CompactRange(begin.ptr ? &first : nullptr, end.ptr ? &last : nullptr);
}

uint64_t gf_leveldb_database_bytes(gf_leveldb_database *d, gf_slice begin, gf_slice end)
{
    leveldb::Range range(to_slice(begin), to_slice(end));
    uint64_t bytes = 0;
    d->db->GetApproximateSizes(&range, 1, &bytes);
    return bytes;
}

/* ---- reading --------------------------------------------------------------------------------- */

const gf_leveldb_snapshot *gf_leveldb_snapshot_create(gf_leveldb_database *d)
{
    return reinterpret_cast<const gf_leveldb_snapshot *>(d->db->GetSnapshot());
}

void gf_leveldb_snapshot_free(gf_leveldb_database *d, const gf_leveldb_snapshot *snapshot)
{
    d->db->ReleaseSnapshot(reinterpret_cast<const leveldb::Snapshot *>(snapshot));
}

gf_status gf_leveldb_database_get(gf_leveldb_database *d, const gf_leveldb_snapshot *snapshot,
                                  gf_slice key, gf_buffer *value, gf_error *err)
{
    std::string bytes;
    Status s = d->db->Get(read_options(snapshot, true), to_slice(key), &bytes);
    if (s.IsNotFound()) return GF_ENOTFOUND;
    if (!s.ok()) return gf_leveldb_database_failure(s, err);
    gf_buffer_reset(value);
    gf_buffer_append(value, bytes.data(), bytes.size());
    return gf_buffer_check(value, err);
}

static leveldb::Iterator *unwrap(gf_leveldb_iterator *it)
{
    return reinterpret_cast<leveldb::Iterator *>(it);
}

static const leveldb::Iterator *unwrap(const gf_leveldb_iterator *it)
{
    return reinterpret_cast<const leveldb::Iterator *>(it);
}

gf_leveldb_iterator *gf_leveldb_iterator_create(gf_leveldb_database *d,
                                                const gf_leveldb_snapshot *snapshot, bool cached)
{
    return reinterpret_cast<gf_leveldb_iterator *>(
        d->db->NewIterator(read_options(snapshot, cached)));
}

void gf_leveldb_iterator_free(gf_leveldb_iterator *it)
{
    delete unwrap(it);
}

void gf_leveldb_iterator_seek(gf_leveldb_iterator *it, gf_slice key)
{
    unwrap(it)->Seek(to_slice(key));
}

void gf_leveldb_iterator_first(gf_leveldb_iterator *it)
{
    unwrap(it)->SeekToFirst();
}

void gf_leveldb_iterator_last(gf_leveldb_iterator *it)
{
    unwrap(it)->SeekToLast();
}

void gf_leveldb_iterator_next(gf_leveldb_iterator *it)
{
    assert(unwrap(it)->Valid());
    unwrap(it)->Next();
}

void gf_leveldb_iterator_prev(gf_leveldb_iterator *it)
{
    assert(unwrap(it)->Valid());
    unwrap(it)->Prev();
}

bool gf_leveldb_iterator_valid(const gf_leveldb_iterator *it)
{
    return unwrap(it)->Valid();
}

gf_slice gf_leveldb_iterator_key(const gf_leveldb_iterator *it)
{
    return from_slice(unwrap(it)->key());
}

gf_slice gf_leveldb_iterator_value(const gf_leveldb_iterator *it)
{
    return from_slice(unwrap(it)->value());
}

gf_status gf_leveldb_iterator_status(const gf_leveldb_iterator *it, gf_error *err)
{
    return gf_leveldb_database_failure(unwrap(it)->status(), err);
}

/* ---- writing --------------------------------------------------------------------------------- */

static leveldb::WriteBatch *unwrap(gf_leveldb_batch *batch)
{
    return reinterpret_cast<leveldb::WriteBatch *>(batch);
}

static const leveldb::WriteBatch *unwrap(const gf_leveldb_batch *batch)
{
    return reinterpret_cast<const leveldb::WriteBatch *>(batch);
}

gf_leveldb_batch *gf_leveldb_batch_create(void)
{
    return reinterpret_cast<gf_leveldb_batch *>(new leveldb::WriteBatch);
}

void gf_leveldb_batch_free(gf_leveldb_batch *batch)
{
    delete unwrap(batch);
}

void gf_leveldb_batch_clear(gf_leveldb_batch *batch)
{
    unwrap(batch)->Clear();
}

void gf_leveldb_batch_put(gf_leveldb_batch *batch, gf_slice key, gf_slice value)
{
    unwrap(batch)->Put(to_slice(key), to_slice(value));
}

void gf_leveldb_batch_delete(gf_leveldb_batch *batch, gf_slice key)
{
    unwrap(batch)->Delete(to_slice(key));
}

void gf_leveldb_batch_append(gf_leveldb_batch *batch, const gf_leveldb_batch *more)
{
    unwrap(batch)->Append(*unwrap(more));
}

size_t gf_leveldb_batch_bytes(const gf_leveldb_batch *batch)
{
    enum { HEAD = 12 }; /* sequence number and count */
    return unwrap(batch)->ApproximateSize() - HEAD;
}

gf_status gf_leveldb_database_write(gf_leveldb_database *d, gf_leveldb_batch *batch, bool sync,
                                    gf_error *err)
{
    leveldb::WriteOptions o;
    o.sync = sync;
    return gf_leveldb_database_failure(d->db->Write(o, unwrap(batch)), err);
}
