#include "storage/folder/folder.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "grouperfish/buffer.h"
#include "storage/check/crc32c.h"
#include "storage/leveldb/backend.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_TEXT = 128, POLL_MS = 20 };

struct gf_folder {
    char *path;
    int lock; /* descriptor of the held lock file */
    bool is_new;
    bool small_buffers;
    bool read_only;
    bool reads;
    bool in_memory;
    bool was_opened; /* in memory: it cannot be again */
    gf_archive_give *archive;
    void *archive_context;
};

static char *path_in(const gf_folder *f, const char *name, gf_error *err)
{
    gf_buffer b = {0};
    gf_buffer_format(&b, "%s/%s", f->path, name);
    gf_buffer_byte(&b, '\0');
    if (gf_buffer_check(&b, err) == GF_OK) return b.ptr;
    gf_buffer_release(&b);
    return NULL;
}

/* ---- the marker ------------------------------------------------------------------------------ */

static void write_marker_text(gf_buffer *out, unsigned format)
{
    gf_buffer_format(out, "grouperfish store\nformat %u\n", format);
    gf_buffer_format(out, "check %08x\n", gf_crc32c(0, out->ptr, out->len));
}

static gf_status parse_marker(gf_slice content, gf_error *err)
{
    gf_buffer text = {0}, again = {0};
    unsigned format = 0;
    gf_buffer_slice(&text, content);
    int fields = sscanf(gf_buffer_cstr(&text), "grouperfish store\nformat %9u\n", &format);
    write_marker_text(&again, format);
    gf_status st = gf_buffer_check(&text, err);
    if (st == GF_OK) st = gf_buffer_check(&again, err);
    bool good = fields == 1 && format > 0 && gf_slice_equal(gf_buffer_view(&again), content);
    if (st == GF_OK && !good)
        st = gf_fail(err, GF_ECORRUPT, "grouperfish.store: the store's marker is damaged");
    if (st == GF_OK && format > GF_STORE_FORMAT)
        st = gf_fail(err, GF_EINVAL,
                     "the store has format %u; this program knows up to %d: use a newer one",
                     format, GF_STORE_FORMAT);
    gf_buffer_release(&text);
    gf_buffer_release(&again);
    return st;
}

/* GF_ENOTFOUND where there is no marker. */
static gf_status check_marker(const gf_folder *f, gf_error *err)
{
    char *path = path_in(f, "grouperfish.store", err);
    if (!path) return GF_ENOMEM;
    gf_buffer content;
    gf_buffer_init(&content, 4096);
    gf_status st = gf_file_read(path, &content, err);
    if (st == GF_ELIMIT)
        st = gf_fail(err, GF_ECORRUPT, "grouperfish.store: the store's marker is damaged");
    else if (st == GF_OK)
        st = parse_marker(gf_buffer_view(&content), err);
    gf_buffer_release(&content);
    gf_free(path);
    return st;
}

static gf_status write_marker(const gf_folder *f, gf_error *err)
{
    char *path = path_in(f, "grouperfish.store", err);
    if (!path) return GF_ENOMEM;
    gf_buffer text = {0};
    write_marker_text(&text, GF_STORE_FORMAT);
    gf_status st = gf_buffer_check(&text, err);
    if (st == GF_OK) st = gf_file_write(path, gf_buffer_view(&text), err);
    gf_buffer_release(&text);
    gf_free(path);
    return st;
}

/* ---- the lock -------------------------------------------------------------------------------- */

/* The text of a lock that readers have names the last writer. */
static gf_status fail_held(const gf_folder *f, gf_error *err)
{
    char holder[LOCK_TEXT] = "";
    if (!f->read_only && flock(f->lock, LOCK_SH | LOCK_NB) == 0)
        return gf_fail(err, GF_EBUSY,
                       "%s is being read by another process; try again when it has "
                       "ended",
                       f->path);
    ssize_t n = pread(f->lock, holder, sizeof holder - 1, 0);
    if (n > 0) holder[strcspn(holder, "\n")] = '\0';
    return gf_fail(err, GF_EBUSY, "%s is held by %s; try again when it has ended", f->path,
                   n > 0 ? holder : "another process");
}

static void sign_lock(const gf_folder *f, const char *purpose)
{
    char text[LOCK_TEXT];
    snprintf(text, sizeof text, "process %ld (grouperfish%s%s)\n", (long)getpid(),
             purpose ? " " : "", purpose ? purpose : "");
    /* For those who wait; not worth failing for. Emptying the file first took milliseconds. */
    if (pwrite(f->lock, text, strlen(text), 0) > 0 && ftruncate(f->lock, (off_t)strlen(text)))
        return;
}

/* The folder, or its disk, takes nothing; of a store that is only read that is no failure. */
static bool takes_nothing(int number)
{
    return number == EACCES || number == EPERM || number == EROFS || number == ENOSPC ||
           number == EDQUOT;
}

/* A store that was copied without its lock has none: then nobody has written to the copy. */
static gf_status open_lock_to_read(gf_folder *f, const char *path, gf_error *err)
{
    f->lock = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (f->lock >= 0 || errno == ENOENT) return GF_OK;
    return errno == ELOOP ? gf_file_fail_own(path, err)
                          : gf_fail_errno(err, "cannot open %s", path);
}

static gf_status open_lock(gf_folder *f, const char *path, gf_error *err)
{
    if (f->read_only) return open_lock_to_read(f, path, err);
    f->lock = gf_file_open_own(path, O_RDWR | O_CREAT);
    if (f->lock >= 0) return GF_OK;
    if (errno == ELOOP) return gf_file_fail_own(path, err);
    f->read_only = f->reads && takes_nothing(errno);
    return f->read_only ? open_lock_to_read(f, path, err)
                        : gf_fail_errno(err, "a store must be writable: cannot open %s", path);
}

/* False with errno. Where others only read, whoever only reads does so beside them. */
static bool try_lock(gf_folder *f)
{
    if (flock(f->lock, (f->read_only ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK || f->read_only || !f->reads) return false;
    f->read_only = flock(f->lock, LOCK_SH | LOCK_NB) == 0;
    return f->read_only;
}

static gf_status take_lock(gf_folder *f, const gf_hold_options *o, gf_error *err)
{
    char *path = path_in(f, "lock", err);
    if (!path) return GF_ENOMEM;
    gf_status st = open_lock(f, path, err);
    gf_free(path);
    if (st != GF_OK || f->lock < 0) return st;
    double deadline = gf_clock_seconds() + o->wait_seconds;
    while (st == GF_OK && !try_lock(f)) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            st = gf_fail_errno(err, "cannot lock %s", f->path);
        else if (gf_clock_seconds() >= deadline)
            st = fail_held(f, err);
        else
            st = gf_cancel_check(o->cancel, err);
        if (st == GF_OK) nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000}, NULL);
    }
    if (st == GF_OK && !f->read_only) sign_lock(f, o->purpose);
    return st;
}

/* ---- making a store -------------------------------------------------------------------------- */

/* Remove what a process that ended left half-made: LevelDB's files only, nothing of others. */
static gf_status remove_half_made(const char *path, gf_error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (fd < 0 && errno == ENOENT) return GF_OK;
    if (fd >= 0 && !dir) close(fd);
    if (!dir) return gf_fail_errno(err, "cannot open %s", path);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir))
        if (gf_check_is_leveldb_file(e->d_name)) unlinkat(dirfd(dir), e->d_name, 0);
    closedir(dir);
    return rmdir(path) == 0 ? GF_OK : gf_fail_errno(err, "cannot remove %s", path);
}

static gf_status build_database(const char *building, const char *place, gf_error *err)
{
    gf_backend *backend;
    gf_status st = remove_half_made(building, err);
    if (st == GF_OK) st = gf_leveldb_open(building, GF_LEVELDB_CREATE, &backend, err);
    if (st != GF_OK) return st;
    backend->operations->close(backend);
    if (rename(building, place) != 0) return gf_fail_errno(err, "cannot rename %s", building);
    return GF_OK;
}

/* A link may lead to another program's database, whose files LevelDB would then remove as its own. */
static gf_status check_own_folder(const char *place, gf_error *err)
{
    struct stat s;
    if (lstat(place, &s) == 0 && S_ISLNK(s.st_mode))
        return gf_fail(err, GF_EINVAL,
                       "%s is a link: a store's database lies in the store's own folder; link to "
                       "the store, not to its database",
                       place);
    return GF_OK;
}

/* GF_ECORRUPT where the database is missing; a disk that does not tell is no damage. */
static gf_status check_there(const gf_folder *f, const char *place, gf_error *err)
{
    struct stat s;
    bool seen = stat(place, &s) == 0;
    if (seen && S_ISDIR(s.st_mode)) return GF_OK;
    if (!seen && errno != ENOENT && errno != ENOTDIR)
        return gf_fail_errno(err, "cannot look at %s", place);
    return gf_fail(err, GF_ECORRUPT, "%s: the store's database is missing", f->path);
}

/* A database without a marker: of a process that ended just before it wrote one, or a stranger's.
 */
static gf_status adopt_database(const char *place, gf_error *err)
{
    gf_backend *backend;
    gf_status st = check_own_folder(place, err);
    if (st == GF_OK) st = gf_check_logs(place, NULL, err);
    if (st == GF_OK) st = gf_leveldb_open(place, GF_LEVELDB_EXISTING, &backend, err);
    if (st == GF_OK) backend->operations->close(backend);
    return st;
}

static gf_status make_store(gf_folder *f, gf_error *err)
{
    char *place = path_in(f, "db", err), *building = path_in(f, "db.new", err);
    gf_status st = place && building ? GF_OK : GF_ENOMEM;
    bool adopts = st == GF_OK && gf_file_exists(place);
    if (st == GF_OK)
        st = adopts ? adopt_database(place, err) : build_database(building, place, err);
    if (st == GF_OK) st = gf_file_sync_folder(place, err);
    if (st == GF_OK) st = gf_file_sync_folder(f->path, err);
    if (st == GF_OK) st = write_marker(f, err);
    if (st == GF_OK) f->is_new = !adopts;
    gf_free(place);
    gf_free(building);
    return st;
}

/* Names that a process makes in a store's folder, or leaves where it ended early. */
static bool is_of_a_store(const char *name)
{
    static const char *const names[] = {
        ".", "..", "grouperfish.store", "grouperfish.store.new", "db", "db.new", "lock", "socket"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* A folder that holds other things, or a db that is no LevelDB database, is somebody else's. */
static gf_status check_place(const gf_folder *f, gf_error *err)
{
    char *place = path_in(f, "db", err), *current = path_in(f, "db/CURRENT", err);
    gf_status st = place && current ? GF_OK : GF_ENOMEM;
    bool others = st == GF_OK && gf_file_exists(place) && !gf_file_exists(current);
    DIR *dir = st == GF_OK ? opendir(f->path) : NULL;
    bool unseen = st == GF_OK && !dir;
    for (struct dirent *e; dir && (errno = 0, e = readdir(dir));)
        others |= !is_of_a_store(e->d_name);
    if (st == GF_OK && (unseen || errno)) st = gf_fail_errno(err, "cannot list %s", f->path);
    if (st == GF_OK && others)
        st = gf_fail(err, GF_EINVAL,
                     "%s is not a store, and holds other things; a store needs a folder of its own",
                     f->path);
    if (dir) closedir(dir);
    gf_free(place);
    gf_free(current);
    return st;
}

/* Make the store's folder, and have its own name on disk. */
static gf_status make_folder(const gf_folder *f, gf_error *err)
{
    if (gf_file_is_folder(f->path)) return GF_OK;
    gf_status st = gf_file_make_folders(f->path, err);
    char *above = st == GF_OK ? path_in(f, "..", err) : NULL;
    if (st == GF_OK) st = above ? gf_file_sync_folder(above, err) : GF_ENOMEM;
    gf_free(above);
    return st;
}

/* There is no marker, or it cannot be looked at. */
static gf_status fail_absent(const gf_folder *f, gf_error *err)
{
    struct stat s;
    char *marker = path_in(f, "grouperfish.store", err), *current = path_in(f, "db/CURRENT", err);
    gf_status st = marker && current ? GF_OK : GF_ENOMEM;
    if (st == GF_OK && stat(marker, &s) != 0 && errno != ENOENT && errno != ENOTDIR)
        st = gf_fail_errno(err, "cannot open %s", f->path);
    else if (st == GF_OK && gf_file_exists(current))
        st = gf_fail(err, GF_ECORRUPT, "%s: grouperfish.store, the store's marker, is missing",
                     f->path);
    else if (st == GF_OK)
        st = gf_fail(err, GF_ENOTFOUND, "there is no store at %s", f->path);
    gf_free(marker);
    gf_free(current);
    return st;
}

static gf_status hold_folder(gf_folder *f, const gf_hold_options *o, gf_error *err)
{
    gf_status st = GF_OK;
    char *marker = path_in(f, "grouperfish.store", err);
    if (!marker) return GF_ENOMEM;
    bool there = gf_file_exists(marker);
    gf_free(marker);
    if (!there && (!o->create || f->read_only)) return fail_absent(f, err);
    if (!there) st = make_folder(f, err);
    if (!there && st == GF_OK) st = check_place(f, err);
    if (st == GF_OK) st = take_lock(f, o, err);
    if (st != GF_OK) return st;
    st = check_marker(f, err);
    return st == GF_ENOTFOUND ? make_store(f, err) : st;
}

/* Files that a build needs for a while lie there, and are gone with the process at the latest. */
static const char *temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

gf_status gf_folder_hold(const char *path, const gf_hold_options *options, gf_folder **folder,
                         gf_error *err)
{
    gf_folder *f = gf_calloc(1, sizeof *f);
    if (!f) return gf_fail_memory(err, "a store");
    f->lock = -1;
    f->small_buffers = options->small_buffers;
    f->read_only = options->read_only;
    f->reads = options->reads;
    f->in_memory = f->is_new = options->in_memory;
    f->archive = options->archive;
    f->archive_context = options->archive_context;
    if (f->in_memory) path = temporary_folder();
    f->path = gf_copy_string(path, strlen(path));
    gf_status st = f->path ? GF_OK : gf_fail_memory(err, "a store");
    if (st == GF_OK && !f->in_memory) st = hold_folder(f, options, err);
    if (st != GF_OK) {
        gf_folder_release(f);
        return st;
    }
    *folder = f;
    return GF_OK;
}

void gf_folder_release(gf_folder *f)
{
    if (!f) return;
    /* A child that was forked meanwhile has the descriptor, too, and the lock with it. */
    if (f->lock >= 0) flock(f->lock, LOCK_UN);
    if (f->lock >= 0) close(f->lock);
    gf_free(f->path);
    gf_free(f);
}

const char *gf_folder_path(const gf_folder *f)
{
    return f->path;
}

bool gf_folder_is_read_only(const gf_folder *f)
{
    return f->read_only;
}

bool gf_folder_is_new(const gf_folder *f)
{
    return f->is_new;
}

/* Opening writes what is in the logs into tables: where a full disk does not take them, memory does. */
static gf_status open_backend(gf_folder *f, const char *place, gf_leveldb_mode mode,
                              gf_backend **backend, gf_error *err)
{
    gf_leveldb_mode small = f->small_buffers ? GF_LEVELDB_SMALL : 0;
    gf_status st = GF_EIO;
    if (!f->read_only) st = gf_leveldb_open(place, mode | small, backend, err);
    if (st != GF_EIO || !(f->read_only || f->reads)) return st;
    gf_error second = {GF_OK, ""};
    gf_status read = gf_leveldb_open(place, GF_LEVELDB_READ_ONLY | small, backend, &second);
    if (read != GF_OK && f->read_only && err) *err = second;
    if (read != GF_OK) return f->read_only ? read : st;
    f->read_only = true;
    return GF_OK;
}

static gf_status open_in_memory(gf_folder *f, gf_database **db, gf_error *err)
{
    gf_backend *backend = NULL;
    gf_leveldb_mode small = f->small_buffers ? GF_LEVELDB_SMALL : 0;
    if (f->was_opened) return gf_fail(err, GF_EIO, "a store in memory is gone once it was closed");
    gf_status st = gf_leveldb_open("/memory", GF_LEVELDB_MEMORY | small, &backend, err);
    if (st != GF_OK) return st;
    f->was_opened = true;
    if (f->archive) st = gf_folder_unpack_into(backend, f->archive, f->archive_context, err);
    if (st == GF_OK && f->archive) st = gf_leveldb_reload(backend, err);
    if (st == GF_OK) st = gf_database_create(backend, db, err);
    if (st != GF_OK) backend->operations->close(backend);
    return st;
}

gf_status gf_folder_open(gf_folder *f, gf_database **db, gf_error *err)
{
    if (f->in_memory) return open_in_memory(f, db, err);
    char *place = path_in(f, "db", err);
    if (!place) return GF_ENOMEM;
    gf_backend *backend = NULL;
    bool clean = false;
    gf_status st = GF_OK;
    st = check_own_folder(place, err);
    if (st == GF_OK) st = check_there(f, place, err);
    if (st == GF_OK) st = gf_check_logs(place, &clean, err);
    gf_leveldb_mode mode = clean ? GF_LEVELDB_CLEAN : GF_LEVELDB_EXISTING;
    if (st == GF_OK) st = open_backend(f, place, mode, &backend, err);
    if (st == GF_OK) {
        st = gf_database_create(backend, db, err);
        if (st != GF_OK) backend->operations->close(backend);
    }
    gf_free(place);
    return st;
}

gf_status gf_folder_check(const gf_folder *f, gf_damage_report *report, void *context,
                          const gf_cancel *cancel, gf_error *err)
{
    gf_error found;
    gf_status st = check_marker(f, &found);
    if (st == GF_ENOMEM) return gf_fail_memory(err, "a check");
    if (st == GF_EIO) return gf_fail(err, st, "%s", found.message); /* it may be sound */
    if (st != GF_OK) report(context, "grouperfish.store", found.message);
    char *place = path_in(f, "db", err);
    if (!place) return GF_ENOMEM;
    st = check_there(f, place, &found);
    if (st == GF_OK)
        st = gf_check_files(place, report, context, cancel, err);
    else if (st == GF_ECORRUPT)
        report(context, "db", "the store's database is missing");
    else
        gf_fail(err, st, "%s", found.message);
    gf_free(place);
    return st == GF_ECORRUPT ? GF_OK : st;
}

/* LevelDB appends to LOG, so a file that was cut under it goes on at its new end. */
gf_status gf_folder_clear_journals(const gf_folder *f, gf_error *err)
{
    static const char *const names[] = {"db/LOG", "db/LOG.old"};
    gf_status st = GF_OK;
    for (size_t i = 0; i < 2 && st == GF_OK && !f->in_memory; i++) {
        char *path = path_in(f, names[i], err);
        if (!path) return GF_ENOMEM;
        int fd = gf_file_open_own(path, O_WRONLY | O_TRUNC);
        if (fd < 0 && errno != ENOENT) st = gf_file_fail_own(path, err);
        if (fd >= 0) close(fd);
        gf_free(path);
    }
    return st;
}

static gf_status add_sizes(const char *path, uint64_t *bytes, gf_error *err)
{
    DIR *dir = opendir(path);
    if (!dir) return gf_fail_errno(err, "cannot open folder %s", path);
    for (struct dirent *e; (errno = 0, e = readdir(dir));) {
        struct stat s;
        if (fstatat(dirfd(dir), e->d_name, &s, 0) == 0 && S_ISREG(s.st_mode))
            *bytes += (uint64_t)s.st_size;
    }
    gf_status st = errno ? gf_fail_errno(err, "cannot list %s", path) : GF_OK;
    closedir(dir);
    return st;
}

gf_status gf_folder_size(const gf_folder *f, uint64_t *bytes, gf_error *err)
{
    if (f->in_memory) {
        *bytes = 0;
        return GF_OK;
    }
    char *place = path_in(f, "db", err);
    if (!place) return GF_ENOMEM;
    uint64_t sum = 0;
    gf_status st = add_sizes(f->path, &sum, err);
    if (st == GF_OK) st = add_sizes(place, &sum, err);
    if (st == GF_OK) *bytes = sum;
    gf_free(place);
    return st;
}

/* ---- room ------------------------------------------------------------------------------------ */

static gf_status size_of_logs(const char *place, uint64_t *bytes, gf_error *err)
{
    struct stat info;
    DIR *dir = opendir(place);
    if (!dir) return gf_fail_errno(err, "cannot read %s", place);
    *bytes = 0;
    for (struct dirent *e; (errno = 0, e = readdir(dir));)
        if (gf_slice_ends(gf_slice_str(e->d_name), GF_SLICE(".log")) &&
            fstatat(dirfd(dir), e->d_name, &info, 0) == 0)
            *bytes += (uint64_t)info.st_size;
    gf_status st = errno ? gf_fail_errno(err, "cannot list %s", place) : GF_OK;
    closedir(dir);
    return st;
}

static gf_status try_room(const char *file, uint64_t bytes, gf_error *err)
{
    gf_status st = GF_OK;
    int fd = gf_file_make_own(file);
    if (fd < 0) return gf_fail_errno(err, "cannot write %s", file);
    errno = posix_fallocate(fd, 0, (off_t)bytes);
    if (errno) st = gf_fail_errno(err, "cannot write %s", file);
    unlink(file);
    close(fd);
    return st;
}

gf_status gf_folder_check_room(const gf_folder *f, gf_error *err)
{
    enum { A_LITTLE = 4 << 20 };
    uint64_t logs = 0;
    if (f->in_memory) return GF_OK;
    char *place = path_in(f, "db", err), *file = place ? path_in(f, "room", err) : NULL;
    gf_status st = file ? size_of_logs(place, &logs, err) : GF_ENOMEM;
    if (st == GF_OK) st = try_room(file, 2 * logs + A_LITTLE, err);
    gf_free(file);
    gf_free(place);
    return st;
}
