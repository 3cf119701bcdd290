/*
 * LevelDB with the smallest write buffer that it takes, so that a small store changes logs, writes
 * tables and merges them all the time. The program's own opening comes here instead of there.
 */
#include <cstdlib>
#include <dlfcn.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/options.h>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "storage/leveldb/environment.hpp"

leveldb::Status leveldb::DB::Open(const Options &options, const std::string &name, DB **db)
{
    using open = Status (*)(const Options &, const std::string &, DB **);
    static const char symbol[] = "_ZN7leveldb2DB4OpenERKNS_7OptionsERKNSt7__cxx1112basic_string"
                                 "IcSt11char_traitsIcESaIcEEEPPS0_";
    auto real = reinterpret_cast<open>(dlsym(RTLD_NEXT, symbol));
    if (!real) abort();
    Options smaller = options;
    smaller.write_buffer_size = 64 << 10;
    /* With such buffers writers would often wait for compactions that the program's own defers; so
     * of its environment there are the files alone. */
    static std::mutex lock;
    static std::vector<std::unique_ptr<leveldb::Env>> files;
    std::lock_guard<std::mutex> locked(lock);
    files.push_back(gf_leveldb_private_files(name));
    smaller.env = files.back().get();
    return real(smaller, name, db);
}
