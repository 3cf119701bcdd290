/*
 * A store's copy in a folder of its own.
 *
 * It is made beside its place (DIR.new), looked at there, and moved when it is whole and synced: so
 * a folder DIR is always a whole copy, and one that failed at its very end is not there. Nothing
 * that is there already is ever touched.
 */
#include "storage/folder/folder.h"

#include "base/file.h"
#include "base/memory.h"
#include "storage/leveldb/backend.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_there(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0;
}

/*
 * The copy itself is ours: its files, by LevelDB's names and the store's, and then its folders.
 * This runs after failures, of memory among them, and so takes none.
 */
static void remove_copy(const char *path)
{
    static const char *const databases[] = {"db", "db.new"};
    static const char *const own[] = {"grouperfish.store", "grouperfish.store.new", "lock"};
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return;
    for (size_t i = 0; i < sizeof databases / sizeof databases[0]; i++) {
        int fd = openat(folder, databases[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        if (fd >= 0 && !dir) close(fd);
        for (struct dirent *e; dir && (e = readdir(dir));)
            if (gf_check_is_leveldb_file(e->d_name)) unlinkat(dirfd(dir), e->d_name, 0);
        if (dir) closedir(dir);
        unlinkat(folder, databases[i], AT_REMOVEDIR);
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        unlinkat(folder, own[i], 0);
    close(folder);
    rmdir(path);
}

static gf_status fill_store(const char *building, gf_folder_fill *fill_database, void *context,
                            gf_error *err)
{
    gf_folder *folder = NULL;
    gf_database *db = NULL;
    gf_hold_options hold = {.create = true, .purpose = "copy"};
    gf_status st = gf_folder_hold(building, &hold, &folder, err);
    if (st == GF_OK) st = gf_folder_open(folder, &db, err);
    if (st == GF_OK) st = fill_database(context, db, err);
    gf_database_close(db);
    gf_folder_release(folder);
    return st;
}

/* A name that may not be on disk is taken back: what failed is never under its own name. */
static gf_status move_there(const char *building, const char *path, gf_error *err)
{
    gf_buffer above = {0};
    gf_buffer_format(&above, "%s/..", path);
    gf_status st = gf_buffer_check(&above, err);
    if (st == GF_OK && is_there(path)) st = gf_fail(err, GF_EEXISTS, "%s is there already", path);
    if (st == GF_OK && rename(building, path) != 0)
        st = gf_fail_errno(err, "cannot rename %s", building);
    if (st == GF_OK) {
        st = gf_file_sync_folder(gf_buffer_cstr(&above), err);
        if (st != GF_OK && rename(path, building) != 0)
            gf_error_prefix(err, "%s is whole, but its name may not be on disk", path);
    }
    gf_buffer_release(&above);
    return st;
}

gf_status gf_folder_make(const char *path, gf_folder_fill *fill_database, gf_folder_finish *finish,
                         void *context, gf_error *err)
{
    gf_buffer name = {0};
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    gf_buffer_append(&name, path, n);
    gf_buffer_str(&name, ".new");
    gf_status st = gf_buffer_check(&name, err);
    const char *building = gf_buffer_cstr(&name);
    if (st == GF_OK && is_there(path))
        st = gf_fail(err, GF_EEXISTS, "%s is there already; a copy needs a new folder", path);
    else if (st == GF_OK && is_there(building))
        st = gf_fail(err, GF_EEXISTS, "%s is there, of a copy that was cut short; remove it first",
                     building);
    if (st == GF_OK) {
        st = fill_store(building, fill_database, context, err);
        if (st == GF_OK && finish) st = finish(context, building, err);
        if (st == GF_OK) st = move_there(building, path, err);
        if (st != GF_OK) remove_copy(building);
    }
    gf_buffer_release(&name);
    return st;
}

/* ---- a copy that is wanted no more ----------------------------------------------------------- */

/* Under another name first: what is under a copy's name is always whole. */
gf_status gf_folder_remove(const char *path, gf_error *err)
{
    gf_buffer name = {0};
    gf_buffer_format(&name, "%s/grouperfish.store", path);
    gf_status st = gf_buffer_check(&name, err);
    if (st == GF_OK && !is_there(gf_buffer_cstr(&name)))
        st = gf_fail(err, GF_EINVAL, "%s is no store", path);
    gf_buffer_reset(&name);
    gf_buffer_format(&name, "%s.old", path);
    if (st == GF_OK) st = gf_buffer_check(&name, err);
    const char *old = gf_buffer_cstr(&name);
    if (st == GF_OK) remove_copy(old); /* of a removal that was cut short */
    if (st == GF_OK && rename(path, old) != 0) st = gf_fail_errno(err, "cannot rename %s", path);
    if (st == GF_OK) remove_copy(old);
    if (st == GF_OK && is_there(old)) st = gf_fail(err, GF_EIO, "cannot remove all of %s", old);
    gf_buffer_release(&name);
    return st;
}

/* ---- a copy of a database that is open ------------------------------------------------------- */

typedef struct source {
    gf_database *db;
    const gf_cancel *cancel;
    gf_folder_finish *finish;
    void *context; /* of finish */
} source;

static gf_status copy_from(void *context, gf_database *to, gf_error *err)
{
    const source *s = context;
    return gf_leveldb_copy(gf_database_backend(s->db), gf_database_backend(to), s->cancel, err);
}

static gf_status finish_copy(void *context, const char *building, gf_error *err)
{
    const source *s = context;
    return s->finish ? s->finish(s->context, building, err) : GF_OK;
}

gf_status gf_folder_copy(gf_database *db, const char *path, gf_folder_finish *finish, void *context,
                         const gf_cancel *cancel, gf_error *err)
{
    source s = {db, cancel, finish, context};
    return gf_folder_make(path, copy_from, finish_copy, &s, err);
}
