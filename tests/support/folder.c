#include "support/test.h"

#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_FOLDERS = 4096, FOLDER_NAME = 64 };
static char folders[MOST_FOLDERS][FOLDER_NAME];
static int n_folders;
static pid_t owner;

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)s, (void)type, (void)at;
    return remove(path);
}

void gf_test_remove(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_folders(void)
{
    if (getpid() != owner) return;
    for (int i = 0; i < n_folders; i++)
        gf_test_remove(folders[i]);
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
