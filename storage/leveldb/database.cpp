/*
 * LevelDB by its C++ interface, with an environment that gives it what it lacks (environment.hpp).
 *
 * Exceptions. LevelDB allocates by new, and throws where it gets no memory. None passes a function
 * of this file. LevelDB is not written for them: one may leave its lock held for ever, so that other
 * threads wait, or its queue of writers with one that is gone. So the program ends, in words, where
 * that was asked for (gf_leveldb_set_ending). Else such a database is "broken": the call fails, or the
 * next one that returns a status, LevelDB is not called any more, and the close leaves what it has.
 *
 * Reused logs. An opening writes a new MANIFEST and a new log, and syncs four times, even where
 * nothing was to be done. With reuse_logs it appends to those that are there. LevelDB calls that
 * experimental, and rightly: a record behind one that a crash tore is lost. So it is set only where
 * our own check of every byte has found an empty log and a MANIFEST that ends with a whole record.
 *
 * An empty log. A write without a batch makes LevelDB begin a new log, and a table of what the one
 * before has (its own DBImpl::TEST_CompactMemTable does that); a compaction that is under way makes
 * the table first and then goes on. Once the table is in the MANIFEST the old log is removed, which
 * the environment sees. Where it fails, LevelDB does nothing in the background any more.
 */
#include "storage/leveldb/environment.hpp"

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>
#include <new>
#include <system_error>

extern "C" { /* what C's headers declare has C's linkage */
#include "storage/leveldb/database.h"
}

using leveldb::Slice;
using leveldb::Status;

/* Measured on LevelDB 1.23; docs/storage.md gives the figures. */
enum { TABLE_FILE = 16 << 20, BLOOM_BITS = 10, OPEN_FILES = 2000 };

static const double PATIENCE = 5, FOR_EVER = 1e9; /* seconds */

/* ---- what is thrown -------------------------------------------------------------------------- */

static void (*ending)(const char *why);

void gf_leveldb_set_ending(void (*end)(const char *why))
{
    ending = end;
}

void gf_leveldb_end(const char *why)
{
    if (ending) ending(why);
    std::abort();
}

namespace
{

/* The words for what was thrown; called where it is being caught. */
gf_status fail_thrown(gf_error *err)
{
    gf_error own;
    if (!err) err = &own;
    try {
        throw;
    } catch (const std::bad_alloc &) {
        return gf_fail_memory(err, "the store's database");
    } catch (const std::system_error &e) {
        return gf_fail(err, GF_EIO, "the store's database cannot start a thread: %s", e.what());
    } catch (const std::exception &e) {
        return gf_fail(err, GF_EIO, "the store's database: %s", e.what());
    }
}

} // namespace

/* ---- the database ---------------------------------------------------------------------------- */

/* The members are destroyed from the last to the first: LevelDB needs all others until its end. */
struct gf_leveldb_database {
    gf_leveldb_database(std::unique_ptr<leveldb::Env> files, double patience)
        : env(std::move(files), patience)
    {
    }
    ~gf_leveldb_database()
    {
        env.begin_work(true); /* LevelDB's own end waits for the work that is held */
    }

    gf_leveldb_env env;
    std::unique_ptr<leveldb::Cache> cache;
    std::unique_ptr<const leveldb::FilterPolicy> filter;
    std::unique_ptr<leveldb::DB> db;
    std::atomic<bool> broken{false}; /* LevelDB threw */
};

struct database_closer {
    void operator()(gf_leveldb_database *d) const
    {
        gf_leveldb_database_close(d);
    }
};

typedef std::unique_ptr<gf_leveldb_database, database_closer> owned_database;

namespace
{

/* The failure of a call into LevelDB that threw; it may end the program. */
gf_status break_database(gf_leveldb_database *d, gf_error *err)
{
    gf_error own = {GF_OK, ""};
    if (!err) err = &own;
    gf_status st = fail_thrown(err);
    d->broken = true;
    if (ending) gf_leveldb_end(err->message);
    return st;
}

gf_status fail_broken(gf_error *err)
{
    return gf_fail(err, GF_EIO, "the store's database got no memory before; open it again");
}

} // namespace

/* One without `it` could not be made. */
struct gf_leveldb_iterator {
    gf_leveldb_database *db;
    std::unique_ptr<leveldb::Iterator> it;
    gf_status st = GF_OK; /* of what was thrown, with `thrown` */
    gf_error thrown{};
};

struct gf_leveldb_batch {
    leveldb::WriteBatch changes;
    gf_status st = GF_OK; /* likewise */
    gf_error thrown{};
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

static gf_status open_database(gf_leveldb_database *d, leveldb::Options options, const char *folder,
                               gf_error *err)
{
    leveldb::DB *opened = nullptr;
    options.env = &d->env;
    try {
        Status s = leveldb::DB::Open(options, folder, &opened);
        d->db.reset(opened);
        return gf_leveldb_database_failure(s, err);
    } catch (...) {
        d->broken = true;
        throw;
    }
}

/* A snapshot that could not be made: reading by it fails. */
static const char no_snapshot = 0;

static bool is_no_snapshot(const gf_leveldb_snapshot *snapshot)
{
    return reinterpret_cast<const char *>(snapshot) == &no_snapshot;
}

static leveldb::ReadOptions read_options(const gf_leveldb_snapshot *snapshot, bool cached)
{
    leveldb::ReadOptions o;
    o.verify_checksums = true;
    o.fill_cache = cached;
    o.snapshot = reinterpret_cast<const leveldb::Snapshot *>(snapshot);
    return o;
}

static gf_status open_new(const char *folder, const gf_leveldb_settings *settings,
                          gf_leveldb_database **db, gf_error *err)
{
    double patience = settings->read_only ? FOR_EVER : settings->patient ? PATIENCE : 0;
    owned_database d(new gf_leveldb_database(settings->in_memory ? gf_leveldb_no_files()
                                             : settings->read_only
                                                 ? gf_leveldb_memory_files()
                                                 : gf_leveldb_private_files(folder),
                                             patience));
    leveldb::Options o;
    d->cache.reset(leveldb::NewLRUCache(settings->cache));
    d->filter.reset(leveldb::NewBloomFilterPolicy(BLOOM_BITS));
    o.create_if_missing = o.error_if_exists = settings->create;
    o.paranoid_checks = true;
    o.reuse_logs = settings->clean && !settings->read_only;
    o.write_buffer_size = settings->write_buffer;
    o.max_file_size = TABLE_FILE;
    o.max_open_files = OPEN_FILES;
    o.block_cache = d->cache.get();
    o.filter_policy = d->filter.get();
    gf_status st = open_database(d.get(), o, folder, err);
    if (st == GF_OK) *db = d.release();
    return st;
}

gf_status gf_leveldb_database_open(const char *folder, const gf_leveldb_settings *settings,
                                   gf_leveldb_database **db, gf_error *err)
{
    try {
        return open_new(folder, settings, db, err);
    } catch (...) {
        return fail_thrown(err);
    }
}

void gf_leveldb_database_close(gf_leveldb_database *d)
{
    if (d && d->broken)
        d->env.abandon(); /* all else stays, with what is lost of it */
    else
        delete d;
}

void gf_leveldb_database_begin(gf_leveldb_database *d)
{
    d->env.begin_work(false);
}

void gf_leveldb_database_empty_log(gf_leveldb_database *d)
{
    if (d->broken) return;
    d->env.begin_work(false);
    unsigned long log = d->env.newest_log();
    try {
        if (d->db->Write(leveldb::WriteOptions(), nullptr).ok()) d->env.wait_for_removal(log);
    } catch (...) {
        break_database(d, nullptr);
    }
}

unsigned gf_leveldb_database_overlapping(gf_leveldb_database *d)
{
    std::string tables;
    try {
        if (!d->broken && d->db->GetProperty("leveldb.num-files-at-level0", &tables))
            return static_cast<unsigned>(std::strtoul(tables.c_str(), nullptr, 10));
    } catch (...) {
        break_database(d, nullptr);
    }
    return 0;
}

void gf_leveldb_database_settle(gf_leveldb_database *d, unsigned milliseconds)
{
    if (d->broken) return;
    d->env.begin_work(false);
    d->env.wait_for_work(milliseconds);
}

void gf_leveldb_database_break_off(gf_leveldb_database *d)
{
    d->env.break_off();
}

/* It begins with a writing: where there is nothing to be compacted, that is tried all the same. */
void gf_leveldb_database_compact(gf_leveldb_database *d, gf_slice begin, gf_slice end)
{
    if (d->broken) return;
    Slice first = to_slice(begin), last = to_slice(end);
    try {
        d->db->CompactRange(begin.ptr ? &first : nullptr, end.ptr ? &last : nullptr);
    } catch (...) {
        break_database(d, nullptr);
    }
}

uint64_t gf_leveldb_database_bytes(gf_leveldb_database *d, gf_slice begin, gf_slice end)
{
    leveldb::Range range(to_slice(begin), to_slice(end));
    uint64_t bytes = 0;
    if (d->broken) return 0; /* as where nothing is in tables */
    try {
        d->db->GetApproximateSizes(&range, 1, &bytes);
    } catch (...) {
        break_database(d, nullptr);
    }
    return bytes;
}

/* ---- reading --------------------------------------------------------------------------------- */

const gf_leveldb_snapshot *gf_leveldb_snapshot_create(gf_leveldb_database *d)
{
    try {
        if (!d->broken) return reinterpret_cast<const gf_leveldb_snapshot *>(d->db->GetSnapshot());
    } catch (...) {
        break_database(d, nullptr);
    }
    return reinterpret_cast<const gf_leveldb_snapshot *>(&no_snapshot);
}

void gf_leveldb_snapshot_free(gf_leveldb_database *d, const gf_leveldb_snapshot *snapshot)
{
    if (!is_no_snapshot(snapshot) && !d->broken)
        d->db->ReleaseSnapshot(reinterpret_cast<const leveldb::Snapshot *>(snapshot));
}

/* LevelDB says "not found" of a key, without words, and of a table's file, with its name. */
static gf_status get_bytes(gf_leveldb_database *d, const gf_leveldb_snapshot *snapshot,
                           gf_slice key, std::string *bytes, gf_error *err)
{
    static const std::string absent = Status::NotFound(Slice()).ToString();
    Status s = d->db->Get(read_options(snapshot, true), to_slice(key), bytes);
    if (s.IsNotFound() && s.ToString() == absent) return GF_ENOTFOUND;
    return gf_leveldb_database_failure(s, err);
}

gf_status gf_leveldb_database_get(gf_leveldb_database *d, const gf_leveldb_snapshot *snapshot,
                                  gf_slice key, gf_buffer *value, gf_error *err)
{
    if (d->broken || is_no_snapshot(snapshot)) return fail_broken(err);
    try {
        std::string bytes;
        gf_status st = get_bytes(d, snapshot, key, &bytes, err);
        if (st != GF_OK) return st;
        gf_buffer_reset(value);
        gf_buffer_append(value, bytes.data(), bytes.size());
    } catch (...) {
        return break_database(d, err);
    }
    return gf_buffer_check(value, err);
}

static gf_leveldb_iterator *iterator_without_memory(void)
{
    static gf_leveldb_iterator none;
    return &none;
}

gf_leveldb_iterator *gf_leveldb_iterator_create(gf_leveldb_database *d,
                                                const gf_leveldb_snapshot *snapshot, bool cached)
{
    if (d->broken || is_no_snapshot(snapshot)) return iterator_without_memory();
    try {
        std::unique_ptr<gf_leveldb_iterator> made(new gf_leveldb_iterator);
        made->db = d;
        made->it.reset(d->db->NewIterator(read_options(snapshot, cached)));
        return made.release();
    } catch (...) {
        break_database(d, nullptr);
        return iterator_without_memory();
    }
}

void gf_leveldb_iterator_free(gf_leveldb_iterator *it)
{
    if (it == iterator_without_memory()) return;
    if (it->db->broken) (void)it->it.release(); /* its end would call LevelDB */
    delete it;
}

/* A step that throws leaves the iterator nowhere from then on, and its status says why. */
template <typename step> static void take_step(gf_leveldb_iterator *it, step take)
{
    if (!it->it || it->st != GF_OK) return;
    if (it->db->broken) it->st = fail_broken(&it->thrown);
    if (it->st != GF_OK) return;
    try {
        take(it->it.get());
    } catch (...) {
        it->st = break_database(it->db, &it->thrown);
    }
}

void gf_leveldb_iterator_seek(gf_leveldb_iterator *it, gf_slice key)
{
    take_step(it, [key](leveldb::Iterator *i) { i->Seek(to_slice(key)); });
}

void gf_leveldb_iterator_first(gf_leveldb_iterator *it)
{
    take_step(it, [](leveldb::Iterator *i) { i->SeekToFirst(); });
}

void gf_leveldb_iterator_last(gf_leveldb_iterator *it)
{
    take_step(it, [](leveldb::Iterator *i) { i->SeekToLast(); });
}

void gf_leveldb_iterator_next(gf_leveldb_iterator *it)
{
    assert(gf_leveldb_iterator_valid(it));
    take_step(it, [](leveldb::Iterator *i) { i->Next(); });
}

void gf_leveldb_iterator_prev(gf_leveldb_iterator *it)
{
    assert(gf_leveldb_iterator_valid(it));
    take_step(it, [](leveldb::Iterator *i) { i->Prev(); });
}

bool gf_leveldb_iterator_valid(const gf_leveldb_iterator *it)
{
    return it->it && it->st == GF_OK && it->it->Valid();
}

gf_slice gf_leveldb_iterator_key(const gf_leveldb_iterator *it)
{
    return from_slice(it->it->key());
}

gf_slice gf_leveldb_iterator_value(const gf_leveldb_iterator *it)
{
    return from_slice(it->it->value());
}

gf_status gf_leveldb_iterator_status(const gf_leveldb_iterator *it, gf_error *err)
{
    if (!it->it) return gf_fail_memory(err, "the store's database");
    if (it->st != GF_OK) {
        if (err) *err = it->thrown;
        return it->st;
    }
    try {
        return gf_leveldb_database_failure(it->it->status(), err);
    } catch (...) {
        return fail_thrown(err);
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

/* NULL is a batch that could not be made: it holds nothing, and fails where it is written. */
gf_leveldb_batch *gf_leveldb_batch_create(void)
{
    return new (std::nothrow) gf_leveldb_batch;
}

void gf_leveldb_batch_free(gf_leveldb_batch *batch)
{
    delete batch;
}

/* A batch to which something could not be added fails where it is written. */
template <typename change> static void change_batch(gf_leveldb_batch *batch, change make)
{
    if (!batch || batch->st != GF_OK) return;
    try {
        make(&batch->changes);
    } catch (...) {
        batch->st = fail_thrown(&batch->thrown);
    }
}

void gf_leveldb_batch_clear(gf_leveldb_batch *batch)
{
    if (batch) batch->st = GF_OK;
    change_batch(batch, [](leveldb::WriteBatch *b) { b->Clear(); });
}

void gf_leveldb_batch_put(gf_leveldb_batch *batch, gf_slice key, gf_slice value)
{
    change_batch(batch, [=](leveldb::WriteBatch *b) { b->Put(to_slice(key), to_slice(value)); });
}

void gf_leveldb_batch_delete(gf_leveldb_batch *batch, gf_slice key)
{
    change_batch(batch, [=](leveldb::WriteBatch *b) { b->Delete(to_slice(key)); });
}

static void break_batch(gf_leveldb_batch *batch, const gf_leveldb_batch *by)
{
    if (!batch || batch->st != GF_OK) return;
    batch->st = by ? by->st : gf_fail_memory(&batch->thrown, "the store's database");
    if (by) batch->thrown = by->thrown;
}

void gf_leveldb_batch_append(gf_leveldb_batch *batch, const gf_leveldb_batch *more)
{
    if (!more || more->st != GF_OK)
        break_batch(batch, more);
    else
        change_batch(batch, [more](leveldb::WriteBatch *b) { b->Append(more->changes); });
}

/* The bytes of a batch that fails are never 0, so that it is written. */
size_t gf_leveldb_batch_bytes(const gf_leveldb_batch *batch)
{
    enum { HEAD = 12 }; /* sequence number and count */
    if (!batch || batch->st != GF_OK) return 1;
    return batch->changes.ApproximateSize() - HEAD;
}

gf_status gf_leveldb_database_write(gf_leveldb_database *d, gf_leveldb_batch *batch, bool sync,
                                    gf_error *err)
{
    if (!batch) return gf_fail_memory(err, "the store's database");
    if (batch->st != GF_OK) {
        if (err) *err = batch->thrown;
        return batch->st;
    }
    if (d->broken) return fail_broken(err);
    try {
        leveldb::WriteOptions o;
        o.sync = sync;
        gf_status st = gf_leveldb_database_failure(d->db->Write(o, &batch->changes), err);
        if (st == GF_OK && d->env.log_failed)
            st = gf_fail(err, GF_EIO, "a log could not be synced before it was left behind");
        return st;
    } catch (...) {
        return break_database(d, err);
    }
}
