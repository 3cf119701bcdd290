#include "tests/faults/faults.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_FAULTS = 8, PATH = 4096 };

const char *const faults_calls[FAULTS_CALLS] = {
    "open",    "read",   "pread",  "write",  "sync", "flush",    "close",
    "rename",  "unlink", "mkdir",  "link",   "stat", "truncate", "mmap",
    "readdir", "lock",   "thread", "socket", "send", "receive",  "memory"};

typedef struct fault {
    faults_call call;
    bool by_chance; /* each with one in nth */
    uint64_t nth, times;
    faults_fate fate;
    int error;  /* of FAULTS_FAIL */
    bool kills; /* instead of failing */
    char word[12];
    _Atomic uint64_t done;
} fault;

static struct {
    fault faults[MOST_FAULTS]; /* n */
    size_t n;
    const char *path, *while_there;
    faults_told *told;
    _Atomic uint64_t random;
    bool ready;
} plan;

/* ---- the plan -------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    int error;
} errors[] = {{"EIO", EIO},
              {"ENOSPC", ENOSPC},
              {"EMFILE", EMFILE},
              {"ENFILE", ENFILE},
              {"ENOMEM", ENOMEM},
              {"EINTR", EINTR},
              {"EACCES", EACCES},
              {"EAGAIN", EAGAIN},
              {"EROFS", EROFS},
              {"EDQUOT", EDQUOT},
              {"ENOLCK", ENOLCK},
              {"EPIPE", EPIPE},
              {"ECONNRESET", ECONNRESET}};

__attribute__((noreturn)) static void refuse(const char *text)
{
    char told[256];
    int n = snprintf(told, sizeof told, "FAULTS: cannot understand %s\n", text);
    syscall(SYS_write, 2, told, (size_t)n);
    _exit(99);
}

static void parse_error(fault *f, const char *word)
{
    snprintf(f->word, sizeof f->word, "%s", word);
    f->fate = FAULTS_FAIL;
    if (strcmp(word, "SHORT") == 0) f->fate = FAULTS_SHORT;
    if (strcmp(word, "TORN") == 0) f->fate = FAULTS_TORN;
    if (strcmp(word, "KILLED") == 0) f->fate = FAULTS_KILLED;
    f->kills = strcmp(word, "KILL") == 0;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(word, errors[i].word) == 0) f->error = errors[i].error;
    if (f->fate == FAULTS_FAIL && !f->kills && !f->error) refuse(word);
}

static void parse(const char *text)
{
    char one[64], call[16], nth[24], word[12];
    unsigned long long times;
    for (; *text; text += strcspn(text, ","), text += *text == ',') {
        fault *f = &plan.faults[plan.n];
        snprintf(one, sizeof one, "%.*s", (int)strcspn(text, ","), text);
        if (plan.n == MOST_FAULTS ||
            sscanf(one, "%15[^:]:%23[^:]:%llu:%11s", call, nth, &times, word) != 4)
            refuse(one);
        while (f->call < FAULTS_CALLS && strcmp(call, faults_calls[f->call]) != 0)
            f->call++;
        if (f->call == FAULTS_CALLS) refuse(one);
        f->by_chance = nth[0] == '~';
        f->nth = strtoull(nth + f->by_chance, NULL, 10);
        f->times = times;
        if (f->nth == 0) refuse(one);
        parse_error(f, word);
        plan.n++;
    }
}

static void map_told(const char *path)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (fd < 0) refuse(path);
    void *at = (void *)syscall(SYS_mmap, NULL, sizeof *plan.told, PROT_READ | PROT_WRITE,
                               MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) refuse(path);
    plan.told = at;
    syscall(SYS_close, fd);
}

__attribute__((constructor)) static void begin(void)
{
    const char *faults = getenv("FAULTS"), *told = getenv("FAULTS_TOLD"),
               *seed = getenv("FAULTS_SEED");
    if (!faults) return;
    plan.path = getenv("FAULTS_PATH");
    plan.while_there = getenv("FAULTS_WHILE");
    atomic_store(&plan.random, seed ? strtoull(seed, NULL, 10) : 1);
    if (told) map_told(told);
    parse(faults);
    plan.ready = true;
}

/* ---- one call -------------------------------------------------------------------------------- */

/* splitmix64 */
static uint64_t next_random(void)
{
    uint64_t z = atomic_fetch_add(&plan.random, 0x9E3779B97F4A7C15u) + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Whether this fault is due at the call of that number. */
static bool is_due(fault *f, uint64_t number)
{
    if (f->by_chance) {
        if (f->times && atomic_load(&f->done) >= f->times) return false;
        if (next_random() % f->nth != 0) return false;
    } else if (number < f->nth || (f->times && number >= f->nth + f->times)) {
        return false;
    }
    atomic_fetch_add(&f->done, 1);
    return true;
}

static void tell(const fault *f, uint64_t number, const char *path)
{
    if (!plan.told) return;
    __atomic_add_fetch(&plan.told->done, 1, __ATOMIC_RELAXED);
    snprintf(plan.told->last, sizeof plan.told->last, "%s %llu %s %s", faults_calls[f->call],
             (unsigned long long)number, f->word, path ? path : "");
}

__attribute__((noreturn)) static void end_process(void)
{
    for (;;)
        syscall(SYS_kill, getpid(), SIGKILL);
}

/* Whether calls count now. */
static bool is_time(void)
{
    int before = errno;
    bool there = !plan.while_there || syscall(SYS_faccessat, AT_FDCWD, plan.while_there, F_OK) == 0;
    errno = before;
    return there;
}

faults_fate faults_of(faults_call call, const char *path)
{
    static _Atomic uint64_t counted[FAULTS_CALLS];
    if (!plan.ready) return FAULTS_NONE;
    if (plan.path && path && fnmatch(plan.path, path, 0) != 0) return FAULTS_NONE;
    if (!is_time()) return FAULTS_NONE;
    uint64_t number = atomic_fetch_add(&counted[call], 1) + 1;
    if (plan.told) __atomic_add_fetch(&plan.told->counted[call], 1, __ATOMIC_RELAXED);
    for (size_t i = 0; i < plan.n; i++) {
        fault *f = &plan.faults[i];
        if (f->call != call || !is_due(f, number)) continue;
        tell(f, number, path);
        if (f->kills) end_process();
        errno = f->error;
        return f->fate;
    }
    return FAULTS_NONE;
}

faults_fate faults_of_fd(faults_call call, int fd)
{
    char link[32], path[PATH] = "";
    if (!plan.ready) return FAULTS_NONE;
    if (plan.path || plan.told) {
        int before = errno;
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        long n = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
        path[n > 0 ? n : 0] = '\0';
        errno = before;
    }
    return faults_of(call, path);
}
