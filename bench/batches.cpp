/*
 * Every batch that a program gives to LevelDB, in their order, into the file that GF_BATCHES names:
 * a library to be run with as LD_PRELOAD. Format: batches.h.
 */
#include "bench/batches.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <leveldb/db.h>
#include <leveldb/write_batch.h>
#include <mutex>
#include <string>

namespace
{

std::mutex lock;
FILE *file;

__attribute__((constructor)) void begin(void)
{
    const char *path = getenv("GF_BATCHES");
    file = path ? fopen(path, "wb") : NULL;
    if (path && !file) abort();
}

__attribute__((destructor)) void end(void)
{
    if (file && fclose(file) != 0) abort();
}

void write_change(uint32_t kind, const leveldb::Slice &key, const leveldb::Slice &value,
                  size_t n_value)
{
    batches_change c = {kind, (uint32_t)key.size(), (uint32_t)n_value};
    if (fwrite(&c, sizeof c, 1, file) != 1) abort();
    if (fwrite(key.data(), 1, key.size(), file) != key.size()) abort();
    if (fwrite(value.data(), 1, value.size(), file) != value.size()) abort();
}

struct change_writer final : public leveldb::WriteBatch::Handler {
    void Put(const leveldb::Slice &key, const leveldb::Slice &value) override
    {
        write_change(BATCHES_PUT, key, value, value.size());
    }
    void Delete(const leveldb::Slice &key) override
    {
        write_change(BATCHES_DELETE, key, "", 0);
    }
};

/* A database whose batches are kept; all else is the real one's. */
struct watched_database final : public leveldb::DB {
    explicit watched_database(leveldb::DB *opened) : real(opened) {}
    ~watched_database() override
    {
        delete real;
    }
    leveldb::Status Put(const leveldb::WriteOptions &o, const leveldb::Slice &key,
                        const leveldb::Slice &value) override
    {
        return leveldb::DB::Put(o, key, value);
    }
    leveldb::Status Delete(const leveldb::WriteOptions &o, const leveldb::Slice &key) override
    {
        return leveldb::DB::Delete(o, key);
    }
    leveldb::Status Write(const leveldb::WriteOptions &o, leveldb::WriteBatch *batch) override
    {
        if (file && batch) {
            std::lock_guard<std::mutex> locked(lock);
            change_writer writer;
            batch->Iterate(&writer);
            write_change(BATCHES_END, "", "", o.sync);
        }
        return real->Write(o, batch);
    }
    leveldb::Status Get(const leveldb::ReadOptions &o, const leveldb::Slice &key,
                        std::string *value) override
    {
        return real->Get(o, key, value);
    }
    leveldb::Iterator *NewIterator(const leveldb::ReadOptions &o) override
    {
        return real->NewIterator(o);
    }
    const leveldb::Snapshot *GetSnapshot() override
    {
        return real->GetSnapshot();
    }
    void ReleaseSnapshot(const leveldb::Snapshot *snapshot) override
    {
        real->ReleaseSnapshot(snapshot);
    }
    bool GetProperty(const leveldb::Slice &property, std::string *value) override
    {
        return real->GetProperty(property, value);
    }
    void GetApproximateSizes(const leveldb::Range *range, int n, uint64_t *sizes) override
    {
        real->GetApproximateSizes(range, n, sizes);
    }
    void CompactRange(const leveldb::Slice *first, const leveldb::Slice *last) override
    {
        real->CompactRange(first, last);
    }

    leveldb::DB *real;
};

} // namespace

leveldb::Status leveldb::DB::Open(const Options &options, const std::string &name, DB **db)
{
    using open = Status (*)(const Options &, const std::string &, DB **);
    static const char symbol[] = "_ZN7leveldb2DB4OpenERKNS_7OptionsERKNSt7__cxx1112basic_string"
                                 "IcSt11char_traitsIcESaIcEEEPPS0_";
    auto real = reinterpret_cast<open>(dlsym(RTLD_NEXT, symbol));
    if (!real) abort();
    Status s = real(options, name, db);
    if (s.ok()) *db = new watched_database(*db);
    return s;
}
