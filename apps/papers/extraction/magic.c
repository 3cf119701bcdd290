/*
 * libmagic reads bytes of anybody: it sees the first MiB alone, is told neither to unpack nor to
 * walk through what is no document, and answers with words whose control bytes it has escaped.
 */
#include "apps/papers/extraction/magic.h"

#include "base/library.h"
#include "base/utf8.h"

#include <limits.h>
#include <magic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
#define GF_MAGIC_FUNCTIONS(F) \
    F(magic_buffer) \
    F(magic_close) \
    F(magic_error) \
    F(magic_load) \
    F(magic_open) \
    F(magic_setflags)
/* clang-format on */
GF_LIBRARY_DECLARE(gf_magic, GF_MAGIC_FUNCTIONS)
GF_LIBRARY_DEFINE(gf_magic, GF_LIBMAGIC, GF_MAGIC_FUNCTIONS)

#define magic_buffer   gf_magic_functions.magic_buffer
#define magic_close    gf_magic_functions.magic_close
#define magic_error    gf_magic_functions.magic_error
#define magic_load     gf_magic_functions.magic_load
#define magic_open     gf_magic_functions.magic_open
#define magic_setflags gf_magic_functions.magic_setflags

enum { MOST_BYTES = 1 << 20, MOST_IDLE = 16 };
enum { FLAGS = MAGIC_NO_CHECK_COMPRESS | MAGIC_NO_CHECK_TAR | MAGIC_NO_CHECK_ELF };

/* ---- handles --------------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    magic_t idle[MOST_IDLE]; /* n */
    size_t n;
} handles = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The table of kinds that lies beside the program, where packages bring one with them:
   PREFIX/bin/grouperfish and PREFIX/share/misc/magic.mgc. NULL: the one that libmagic knows of. */
static const char *find_kinds(char room[PATH_MAX])
{
    static const char kinds[] = "/share/misc/magic.mgc";
    ssize_t n = getenv("MAGIC") ? -1 : readlink("/proc/self/exe", room, PATH_MAX - sizeof kinds);
    if (n < 0) return NULL;
    room[n] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(room, '/');
        if (!slash) return NULL;
        *slash = '\0';
    }
    memcpy(room + strlen(room), kinds, sizeof kinds);
    return access(room, R_OK) == 0 ? room : NULL;
}

static gf_status open_handle(magic_t *handle, gf_error *err)
{
    gf_status st = gf_library_load(&gf_magic, err);
    if (st != GF_OK) return st;
    magic_t h = magic_open(FLAGS);
    if (!h) return gf_fail_memory(err, "libmagic");
    char room[PATH_MAX];
    if (magic_load(h, find_kinds(room)) != 0) {
        const char *why = magic_error(h);
        st =
            gf_fail(err, GF_EIO, "libmagic: %s", why ? why : "its table of kinds cannot be loaded");
        magic_close(h);
        return st;
    }
    *handle = h;
    return GF_OK;
}

static gf_status take_handle(magic_t *handle, gf_error *err)
{
    pthread_mutex_lock(&handles.lock);
    magic_t idle = handles.n > 0 ? handles.idle[--handles.n] : NULL;
    pthread_mutex_unlock(&handles.lock);
    if (!idle) return open_handle(handle, err);
    *handle = idle;
    return GF_OK;
}

static void give_handle(magic_t handle)
{
    pthread_mutex_lock(&handles.lock);
    bool kept = handles.n < MOST_IDLE;
    if (kept) handles.idle[handles.n++] = handle;
    pthread_mutex_unlock(&handles.lock);
    if (!kept) magic_close(handle);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static gf_status read_kind(magic_t handle, int flags, gf_slice bytes, char *to, size_t size,
                           gf_error *err)
{
    magic_setflags(handle, FLAGS | flags);
    const char *said = magic_buffer(handle, bytes.ptr ? bytes.ptr : "", bytes.len);
    if (!said) {
        const char *why = magic_error(handle);
        return gf_fail(err, GF_EIO, "libmagic: %s", why ? why : "it fails");
    }
    gf_slice text = gf_utf8_cut(gf_slice_str(said), size - 1);
    size_t n = gf_utf8_valid_length(text);
    memcpy(to, text.ptr, n);
    to[n] = '\0';
    return GF_OK;
}

gf_status gf_papers_magic_read(gf_slice bytes, gf_papers_magic *magic, gf_error *err)
{
    magic_t handle = NULL;
    gf_papers_magic read;
    if (bytes.len > MOST_BYTES) bytes.len = MOST_BYTES;
    gf_status st = take_handle(&handle, err);
    if (st != GF_OK) return st;
    st = read_kind(handle, 0, bytes, read.words, sizeof read.words, err);
    if (st == GF_OK)
        st = read_kind(handle, MAGIC_MIME_TYPE, bytes, read.mime, sizeof read.mime, err);
    give_handle(handle);
    if (st == GF_OK) *magic = read;
    return st;
}

bool gf_papers_magic_is_pdf(gf_slice bytes, const gf_papers_magic *magic)
{
    return gf_slice_starts(bytes, GF_SLICE("%PDF-")) || strcmp(magic->mime, "application/pdf") == 0;
}
