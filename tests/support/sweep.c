#include "support/test.h"

#include "base/clock.h"
#include "base/memory.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void gf_test_sweep(gf_sweep_call *call, void (*after)(void *context), void *context)
{
    for (int64_t n = 0;; n++) {
        gf_error err = {GF_OK, ""};
        gf_memory_fail_at(n);
        gf_status st = call(context, &err);
        int failed = gf_memory_failed();
        gf_memory_fail_at(-1);
        if (!failed) {
            if (st != GF_OK) fail_msg("without a failed allocation: %s", err.message);
            return;
        }
        if (st != GF_ENOMEM)
            fail_msg("allocation %lld failed, the call returned %s (%s)", (long long)n,
                     gf_status_name(st), err.message);
        if (after) after(context);
    }
}

uint64_t gf_test_seed(void)
{
    const char *given = getenv("GROUPERFISH_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)gf_clock_ms();
    print_message("seed %llu (GROUPERFISH_TEST_SEED repeats it)\n", (unsigned long long)seed);
    return seed;
}

enum { MOST_FOLDERS = 4096, FOLDER_NAME = 64 };
static char folders[MOST_FOLDERS][FOLDER_NAME];
static int n_folders;
static pid_t owner;

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)s, (void)type, (void)at;
    return remove(path);
}

static void remove_folders(void)
{
    if (getpid() != owner) return;
    for (int i = 0; i < n_folders; i++)
        nftw(folders[i], remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *gf_test_folder(void)
{
    if (n_folders == 0) {
        owner = getpid();
        atexit(remove_folders);
    }
    if (n_folders == MOST_FOLDERS) fail_msg("too many folders in one test");
    char *name = folders[n_folders];
    snprintf(name, FOLDER_NAME, "/tmp/grouperfish-test-XXXXXX");
    if (!mkdtemp(name)) fail_msg("cannot make %s", name);
    n_folders++;
    return name;
}
