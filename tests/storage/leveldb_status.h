/** A status as LevelDB gives it, for the tests of what becomes of it. */
#ifndef GF_TESTS_STORAGE_LEVELDB_STATUS_H
#define GF_TESTS_STORAGE_LEVELDB_STATUS_H

#include "grouperfish/status.h"

/** gf_leveldb_database_failure of the status whose text is `text` ("IO error: ..."); or of OK. */
gf_status leveldb_status_failure(const char *text, gf_error *err);

#endif
