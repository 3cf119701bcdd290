#include "engine/ranks/programs.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- finding --------------------------------------------------------------------------------------- */

static bool is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

/* A program in one of the folders of PATH. */
static bool find_in_path(const char *name, gf_buffer *out)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t n = strcspn(path, ":");
        gf_buffer_reset(out);
        gf_buffer_append(out, path, n);
        gf_buffer_format(out, "/%s", name);
        if (n && is_program(gf_buffer_cstr(out))) return true;
        path += n + (path[n] == ':');
    }
    return false;
}

static bool find_beside(const char *name, gf_buffer *out)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = n > 0 ? memrchr(self, '/', (size_t)n) : NULL;
    if (!slash) return false;
    gf_buffer_reset(out);
    gf_buffer_append(out, self, (size_t)(slash - self));
    gf_buffer_format(out, "/%s", name);
    return is_program(gf_buffer_cstr(out));
}

gf_status gf_ranks_programs_mpirun(gf_buffer *out, gf_error *err)
{
    const char *named = getenv("GROUPERFISH_MPIRUN");
    if (named && is_program(named)) {
        gf_buffer_str(out, named);
        return gf_buffer_check(out, err);
    }
    if (!named && find_in_path("mpirun", out)) return gf_buffer_check(out, err);
    return gf_fail(
        err, GF_EINVAL,
        "ranks need Open MPI, whose mpirun is not found: install it (in Debian the package "
        "openmpi-bin), or leave --ranks and --hosts out");
}

gf_status gf_ranks_programs_rank(gf_buffer *out, gf_error *err)
{
    const char *named = getenv("GROUPERFISH_RANK");
    if (named && is_program(named)) {
        gf_buffer_str(out, named);
        return gf_buffer_check(out, err);
    }
    if (!named && (find_beside("grouperfish-rank", out) || find_in_path("grouperfish-rank", out)))
        return gf_buffer_check(out, err);
    return gf_fail(
        err, GF_EINVAL,
        "the program grouperfish-rank is not found: it lies beside grouperfish where that was "
        "built with Open MPI (in Debian libopenmpi-dev)");
}

/* ---- starting -------------------------------------------------------------------------------------- */

void gf_ranks_programs_add(gf_ranks_words *c, const char *word)
{
    if (c->n < GF_RANKS_WORDS) c->words[c->n++] = (char *)word;
}

/* In a group of processes of its own, so that a terminal's Ctrl-C is ours to pass on. */
int gf_ranks_programs_spawn(gf_ranks_words *c, int in, int said, pid_t *process)
{
    extern char **environ;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    if (in >= 0)
        posix_spawn_file_actions_adddup2(&files, in, 0);
    else
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, said, 1);
    posix_spawn_file_actions_adddup2(&files, said, 2);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                       POSIX_SPAWN_SETSIGDEF);
    int code = posix_spawn(process, c->words[0], &files, &how, c->words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return code;
}
