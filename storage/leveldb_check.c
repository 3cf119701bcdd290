/* The files of a LevelDB folder: which there are, and each by its kind. */
#include "storage/leveldb_check.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef gf_status check_content(gf_slice content, gf_error *err);

/* Check a file's content, mapped into memory. Damage carries the file's name. */
static gf_status check_file(const char *folder, const char *name, check_content *check,
                            gf_error *err)
{
    gf_buffer path = {0};
    gf_buffer_format(&path, "%s/%s", folder, name);
    gf_status st = gf_buffer_check(&path, err);
    int fd = st == GF_OK ? open(gf_buffer_cstr(&path), O_RDONLY | O_CLOEXEC) : -1;
    struct stat info = {0};
    if (st == GF_OK && (fd < 0 || fstat(fd, &info) != 0))
        st = gf_fail_errno(err, "cannot open %s", gf_buffer_cstr(&path));
    size_t size = (size_t)info.st_size;
    void *content = NULL;
    if (st == GF_OK && size) {
        content = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (content == MAP_FAILED) st = gf_fail_errno(err, "cannot read %s", gf_buffer_cstr(&path));
    }
    if (st == GF_OK) {
        st = check(gf_slice_of(content, size), err);
        if (st != GF_OK) gf_error_prefix(err, "%s", name);
        if (size) munmap(content, size);
    }
    if (fd >= 0) close(fd);
    gf_buffer_release(&path);
    return st;
}

static check_content *check_for(const char *name)
{
    gf_slice s = gf_slice_str(name);
    if (gf_slice_starts(s, GF_SLICE("MANIFEST-"))) return gf_leveldb_check_log;
    if (gf_slice_ends(s, GF_SLICE(".log"))) return gf_leveldb_check_log;
    if (gf_slice_ends(s, GF_SLICE(".ldb")) || gf_slice_ends(s, GF_SLICE(".sst")))
        return gf_leveldb_check_table;
    return NULL;
}

/* CURRENT holds the name of a MANIFEST and a line feed. */
static gf_status check_current(const char *folder, gf_error *err)
{
    gf_buffer path = {0}, content;
    gf_buffer_init(&content, 256);
    gf_buffer_format(&path, "%s/CURRENT", folder);
    gf_status st = gf_buffer_check(&path, err);
    if (st == GF_OK) st = gf_file_read(gf_buffer_cstr(&path), &content, err);
    if (st == GF_ENOTFOUND || st == GF_ELIMIT) {
        st = gf_fail(err, GF_ECORRUPT, "CURRENT: the file is %s",
                     st == GF_ENOTFOUND ? "missing" : "damaged");
    } else if (st == GF_OK) {
        gf_slice name = gf_buffer_view(&content);
        bool ok = gf_slice_ends(name, GF_SLICE("\n")) &&
                  gf_slice_starts(name, GF_SLICE("MANIFEST-")) && !memchr(name.ptr, '/', name.len);
        path.len -= strlen("CURRENT");
        gf_buffer_append(&path, name.ptr, name.len ? name.len - 1 : 0);
        if (!ok || !gf_file_exists(gf_buffer_cstr(&path)))
            st = gf_fail(err, GF_ECORRUPT, "CURRENT: it names no MANIFEST that is there");
    }
    gf_buffer_release(&path);
    gf_buffer_release(&content);
    return st;
}

/* What to do with each damage: the first ends the walk, or all are reported. */
typedef struct walk {
    const char *folder;
    bool tables;
    gf_damage_report *report; /* NULL: the first damage is the result */
    void *context;
    const gf_cancel *cancel;
} walk;

static gf_status handle_damage(const walk *w, const char *name, gf_status st, gf_error *err)
{
    if (st != GF_ECORRUPT || !w->report) return st;
    const char *what = strstr(err->message, ": ");
    w->report(w->context, name, what ? what + 2 : err->message);
    return GF_OK;
}

static gf_status check_all(const walk *w, DIR *dir, gf_error *err)
{
    gf_status st = handle_damage(w, "CURRENT", check_current(w->folder, err), err);
    for (;;) {
        errno = 0;
        struct dirent *entry = st == GF_OK ? readdir(dir) : NULL;
        if (!entry && st == GF_OK && errno) st = gf_fail_errno(err, "cannot list %s", w->folder);
        if (!entry) return st;
        check_content *check = check_for(entry->d_name);
        if (!check || (check == gf_leveldb_check_table && !w->tables)) continue;
        st = gf_cancel_check(w->cancel, err);
        if (st == GF_OK) st = check_file(w->folder, entry->d_name, check, err);
        st = handle_damage(w, entry->d_name, st, err);
    }
}

static gf_status run(const walk *w, gf_error *err)
{
    gf_error own;
    if (!err) err = &own;
    DIR *dir = opendir(w->folder);
    if (!dir) return gf_fail_errno(err, "cannot open folder %s", w->folder);
    gf_status st = check_all(w, dir, err);
    closedir(dir);
    return st;
}

gf_status gf_leveldb_check_logs(const char *folder, gf_error *err)
{
    walk w = {.folder = folder};
    return run(&w, err);
}

gf_status gf_leveldb_check_files(const char *folder, gf_damage_report *report, void *context,
                                 const gf_cancel *cancel, gf_error *err)
{
    walk w = {folder, true, report, context, cancel};
    return run(&w, err);
}
