#include "grouperfish.h"

#include <leveldb/c.h>
#include <pthread.h>
#include <stdio.h>
#include <unicode/uversion.h>
#include <xxhash.h>

const char *gf_version(void)
{
    return GF_VERSION;
}

static char versions[160];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void write_versions(void)
{
    UVersionInfo icu;
    char icu_text[U_MAX_VERSION_STRING_LENGTH];
    unsigned xxhash = XXH_versionNumber();
    u_getVersion(icu);
    u_versionToString(icu, icu_text);
    snprintf(versions, sizeof versions, "grouperfish %s, LevelDB %d.%d, ICU %s, xxHash %u.%u.%u",
             GF_VERSION, leveldb_major_version(), leveldb_minor_version(), icu_text, xxhash / 10000,
             xxhash / 100 % 100, xxhash % 100);
}

const char *gf_version_libraries(void)
{
    pthread_once(&once, write_versions);
    return versions;
}
