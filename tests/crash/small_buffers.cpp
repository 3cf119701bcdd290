/*
 * LevelDB with the smallest write buffer that it takes, so that a small store changes logs, writes
 * tables and merges them all the time. The program's own opening comes here instead of there.
 */
#include <cstdlib>
#include <dlfcn.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/options.h>
#include <string>

leveldb::Status leveldb::DB::Open(const Options &options, const std::string &name, DB **db)
{
    using open = Status (*)(const Options &, const std::string &, DB **);
    static const char symbol[] = "_ZN7leveldb2DB4OpenERKNS_7OptionsERKNSt7__cxx1112basic_string"
                                 "IcSt11char_traitsIcESaIcEEEPPS0_";
    auto real = reinterpret_cast<open>(dlsym(RTLD_NEXT, symbol));
    if (!real) abort();
    Options smaller = options;
    smaller.write_buffer_size = 64 << 10;
    /* With such buffers writers would often wait for compactions that the program's own defers. */
    smaller.env = leveldb::Env::Default();
    return real(smaller, name, db);
}
