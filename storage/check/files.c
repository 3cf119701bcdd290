/* The files of a LevelDB folder, each checked by its kind. */
#include "storage/check/files.h"

#include "base/file.h"
#include "base/number.h"
#include "grouperfish/buffer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ----------------------------------------------------------------------------------- */

typedef enum file_kind { CURRENT, MANIFEST, LOG, TABLE, OTHER, FOREIGN } file_kind;

/* The kind of a file by its name, and its number where it has one (else 0). */
static file_kind kind_of(const char *name, uint64_t *number)
{
    static const struct {
        const char *end;
        file_kind kind;
    } numbered[] = {{".log", LOG}, {".ldb", TABLE}, {".sst", TABLE}, {".dbtmp", OTHER}};
    gf_slice s = gf_slice_str(name), manifest = GF_SLICE("MANIFEST-");
    *number = 0;
    if (strcmp(name, "CURRENT") == 0) return CURRENT;
    if (strcmp(name, "LOCK") == 0 || strcmp(name, "LOG") == 0 || strcmp(name, "LOG.old") == 0)
        return OTHER;
    if (gf_slice_starts(s, manifest) && gf_number_read(gf_slice_skip(s, manifest.len), number))
        return MANIFEST;
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++) {
        gf_slice end = gf_slice_str(numbered[i].end);
        if (gf_slice_ends(s, end) && gf_number_read(gf_slice_of(s.ptr, s.len - end.len), number))
            return numbered[i].kind;
    }
    return FOREIGN;
}

bool gf_check_is_leveldb_file(const char *name)
{
    uint64_t number;
    return kind_of(name, &number) != FOREIGN;
}

gf_check_kind gf_check_kind_of(const char *name, uint64_t *number)
{
    switch (kind_of(name, number)) {
    case TABLE:
        return GF_CHECK_TABLE;
    case LOG:
        return GF_CHECK_LOG;
    case MANIFEST:
        return GF_CHECK_MANIFEST;
    default:
        return GF_CHECK_OTHER;
    }
}

/* ---- the walk -------------------------------------------------------------------------------- */

enum { LONGEST_REUSED = 64 << 10 }; /* bytes: a MANIFEST is read whole at each opening */

/* A walk over the files. The first damage ends it, or all are reported. */
typedef struct walk {
    const char *folder;
    bool tables;
    gf_damage_report *report; /* NULL: the first damage is the result */
    void *context;
    const gf_cancel *cancel;
    uint64_t oldest_log; /* that is still needed */
    bool clean;          /* so far: see gf_check_logs */
    gf_buffer content;   /* of the file at work */
} walk;

static gf_status report_damage(const walk *w, const char *file, const char *what, gf_error *err)
{
    if (!w->report) return gf_fail(err, GF_ECORRUPT, "%s: %s", file, what);
    w->report(w->context, file, what);
    return GF_OK;
}

/* Report the damage that a check found, if it did, and go on. */
static gf_status handle_result(const walk *w, const char *file, gf_status st, const gf_error *found,
                               gf_error *err)
{
    if (st == GF_ECORRUPT) return report_damage(w, file, found->message, err);
    if (st != GF_OK && err) *err = *found;
    return st;
}

static gf_status read_file(walk *w, const char *name, gf_error *err)
{
    gf_buffer path = {0};
    gf_buffer_reset(&w->content);
    gf_buffer_format(&path, "%s/%s", w->folder, name);
    gf_status st = gf_buffer_check(&path, err);
    if (st == GF_OK) st = gf_file_read(gf_buffer_cstr(&path), &w->content, err);
    gf_buffer_release(&path);
    return st;
}

/* ---- each file ------------------------------------------------------------------------------- */

/* Open a file of the folder; *fd is -1 where it is not there. */
static gf_status open_file(const walk *w, const char *name, int *fd, gf_error *err)
{
    gf_buffer path = {0};
    gf_buffer_format(&path, "%s/%s", w->folder, name);
    gf_status st = gf_buffer_check(&path, err);
    if (st == GF_OK) *fd = open(gf_buffer_cstr(&path), O_RDONLY | O_CLOEXEC);
    if (st == GF_OK && *fd < 0 && errno != ENOENT) st = gf_fail_errno(err, "cannot open %s", name);
    gf_buffer_release(&path);
    return st;
}

static gf_status check_size(const walk *w, int fd, const char *name, uint64_t size, gf_error *err)
{
    struct stat info;
    char footer[GF_CHECK_FOOTER], what[96];
    gf_error found;
    if (fstat(fd, &info) != 0) return gf_fail_errno(err, "cannot read %s", name);
    if ((uint64_t)info.st_size != size) {
        snprintf(what, sizeof what, "the file has %" PRIu64 " bytes, not %" PRIu64,
                 (uint64_t)info.st_size, size);
        return report_damage(w, name, what, err);
    }
    off_t at = info.st_size < GF_CHECK_FOOTER ? 0 : info.st_size - GF_CHECK_FOOTER;
    size_t have = 0;
    for (ssize_t n = 1; have < sizeof footer && n != 0;) {
        n = pread(fd, footer + have, sizeof footer - have, at + (off_t)have);
        if (n < 0 && errno != EINTR) return gf_fail_errno(err, "cannot read %s", name);
        if (n > 0) have += (size_t)n;
    }
    gf_status st = gf_check_footer(gf_slice_of(footer, have), size, &found);
    return handle_result(w, name, st, &found, err);
}

static gf_status check_table(walk *w, const char *name, gf_error *err)
{
    gf_error found;
    gf_status st = gf_cancel_check(w->cancel, &found);
    if (st == GF_OK) st = read_file(w, name, &found);
    if (st == GF_OK) st = gf_check_table(gf_buffer_view(&w->content), &found);
    return handle_result(w, name, st, &found, err);
}

/* A file that the MANIFEST wants: a table of that size, or where size is 0 a log. */
static gf_status check_wanted(void *context, uint64_t number, uint64_t size, gf_error *err)
{
    walk *w = context;
    char name[32], older_name[32];
    int fd = -1;
    snprintf(name, sizeof name, "%06" PRIu64 "%s", number, size ? ".ldb" : ".log");
    snprintf(older_name, sizeof older_name, "%06" PRIu64 ".sst", number);
    if (!size) w->oldest_log = number;
    gf_status st = open_file(w, name, &fd, err);
    if (st == GF_OK && size && fd < 0) {
        st = open_file(w, older_name, &fd, err);
        if (fd >= 0) memcpy(name, older_name, sizeof name);
    }
    if (st == GF_OK && fd < 0) return report_damage(w, name, "the file is missing", err);
    if (st == GF_OK && size) st = check_size(w, fd, name, size, err);
    if (fd >= 0) close(fd);
    return st == GF_OK && size && w->tables ? check_table(w, name, err) : st;
}

/* CURRENT holds the name of a MANIFEST and a line feed. */
static gf_status check_current(walk *w, gf_error *err)
{
    gf_error found;
    gf_status st = read_file(w, "CURRENT", &found);
    if (st == GF_ENOTFOUND) return report_damage(w, "CURRENT", "the file is missing", err);
    if (st != GF_OK) return handle_result(w, "CURRENT", st, &found, err);
    gf_slice content = gf_buffer_view(&w->content);
    bool good = content.len && content.len < 64 && content.ptr[content.len - 1] == '\n';
    char name[64] = "";
    uint64_t number;
    if (good) memcpy(name, content.ptr, content.len - 1);
    if (!good || strlen(name) != content.len - 1 || kind_of(name, &number) != MANIFEST)
        return report_damage(w, "CURRENT", "it names no MANIFEST", err);
    st = read_file(w, name, &found);
    if (st == GF_ENOTFOUND) return report_damage(w, name, "the file is missing", err);
    gf_buffer manifest = w->content;
    gf_slice edits = gf_buffer_view(&manifest);
    bool deletes = false;
    w->content = (gf_buffer){0};
    if (st == GF_OK) st = gf_check_manifest(edits, check_wanted, w, &deletes, &found);
    w->clean =
        st == GF_OK && !deletes && edits.len <= LONGEST_REUSED && gf_check_log_is_whole(edits);
    gf_buffer_release(&manifest);
    return handle_result(w, name, st, &found, err);
}

/*
 * Logs are checked from the oldest that is still needed. What the MANIFEST does not name was left
 * by a process that was ended: a table half written, a log whose content is in a table. LevelDB
 * removes it when it opens the folder.
 */
static gf_status check_file(walk *w, const char *name, gf_error *err)
{
    gf_error found;
    uint64_t number;
    if (kind_of(name, &number) != LOG || number < w->oldest_log) return GF_OK;
    gf_status st = gf_cancel_check(w->cancel, &found);
    if (st == GF_OK) st = read_file(w, name, &found);
    if (st == GF_OK) st = gf_check_log(gf_buffer_view(&w->content), NULL, NULL, &found);
    w->clean = w->clean && w->content.len == 0;
    return handle_result(w, name, st, &found, err);
}

static gf_status check_all(walk *w, DIR *dir, gf_error *err)
{
    gf_status st = check_current(w, err);
    while (st == GF_OK) {
        errno = 0;
        struct dirent *entry = readdir(dir);
        if (!entry && errno) return gf_fail_errno(err, "cannot list %s", w->folder);
        if (!entry) return GF_OK;
        st = check_file(w, entry->d_name, err);
    }
    return st;
}

static gf_status check_folder(walk *w, gf_error *err)
{
    DIR *dir = opendir(w->folder);
    if (!dir) return gf_fail_errno(err, "cannot open folder %s", w->folder);
    gf_status st = check_all(w, dir, err);
    closedir(dir);
    gf_buffer_release(&w->content);
    return st;
}

gf_status gf_check_logs(const char *folder, bool *clean, gf_error *err)
{
    walk w = {.folder = folder};
    gf_status st = check_folder(&w, err);
    if (st == GF_OK && clean) *clean = w.clean;
    return st;
}

gf_status gf_check_files(const char *folder, gf_damage_report *report, void *context,
                         const gf_cancel *cancel, gf_error *err)
{
    walk w = {.folder = folder, .tables = true};
    w.report = report;
    w.context = context;
    w.cancel = cancel;
    return check_folder(&w, err);
}
