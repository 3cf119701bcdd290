#include <cstdlib>
#include <leveldb/status.h>
#include <string>

extern "C" {
#include "storage/leveldb/database.h"
#include "tests/storage/leveldb_status.h"
}

using leveldb::Slice;
using leveldb::Status;

gf_status leveldb_status_failure(const char *text, gf_error *err)
{
    static const struct {
        const char *name;
        Status (*make)(const Slice &, const Slice &);
    } kinds[] = {{"Corruption: ", Status::Corruption},
                 {"IO error: ", Status::IOError},
                 {"NotFound: ", Status::NotFound},
                 {"Invalid argument: ", Status::InvalidArgument},
                 {"Not implemented: ", Status::NotSupported}};
    const std::string whole(text);
    if (whole == "OK") return gf_leveldb_database_failure(Status::OK(), err);
    for (const auto &kind : kinds) {
        const std::string name(kind.name);
        if (whole.compare(0, name.size(), name) != 0) continue;
        Status status = kind.make(whole.substr(name.size()), Slice());
        if (status.ToString() != whole) abort();
        return gf_leveldb_database_failure(status, err);
    }
    abort();
}
