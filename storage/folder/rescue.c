/*
 * Everything readable of a damaged store's database is copied into another.
 *
 * LevelDB changes what it opens, so it is given a copy of the files. Where only blocks of tables or
 * records of logs are damaged it opens that, and steps over them; where CURRENT, the MANIFEST or a
 * whole table is, its own repair makes a MANIFEST of the tables that are there first. A table whose
 * footer is damaged is left out: LevelDB would allocate what that says.
 */
#include "storage/folder/folder.h"

#include "base/file.h"
#include "base/memory.h"
#include "storage/leveldb/backend.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct rescue {
    const char *from; /* the damaged database's folder */
    const char *work; /* the copy of its files */
    gf_damage_report *report;
    void *context;
    bool needs_repair; /* what is damaged is more than blocks and records */
} rescue;

/* ---- what is damaged ------------------------------------------------------------------------- */

static void note_damage(void *context, const char *file, const char *what)
{
    rescue *r = context;
    gf_slice name = gf_slice_str(file);
    if (gf_slice_starts(name, GF_SLICE("CURRENT")) || gf_slice_starts(name, GF_SLICE("MANIFEST")) ||
        strstr(what, "missing"))
        r->needs_repair = true;
    r->report(r->context, file, what);
}

/* ---- the copy of the files ------------------------------------------------------------------- */

static gf_status write_plain(const char *path, gf_slice content, gf_error *err)
{
    FILE *file = fopen(path, "wb");
    if (!file) return gf_fail_errno(err, "cannot make %s", path);
    bool written = fwrite(content.ptr ? content.ptr : "", 1, content.len, file) == content.len;
    written = fclose(file) == 0 && written;
    return written ? GF_OK : gf_fail_errno(err, "cannot write %s", path);
}

/* False for a table that LevelDB must not open: it is cut, or its end is damaged. */
static bool may_open(const char *name, gf_slice content)
{
    gf_slice s = gf_slice_str(name);
    if (!gf_slice_ends(s, GF_SLICE(".ldb")) && !gf_slice_ends(s, GF_SLICE(".sst"))) return true;
    if (content.len < GF_CHECK_FOOTER) return false;
    return gf_check_footer(gf_slice_skip(content, content.len - GF_CHECK_FOOTER), content.len,
                           NULL) == GF_OK;
}

static gf_status copy_file(rescue *r, const char *name, gf_error *err)
{
    gf_buffer path = {0}, content = {0};
    gf_buffer_format(&path, "%s/%s", r->from, name);
    gf_status st = gf_buffer_check(&path, err);
    if (st == GF_OK) st = gf_file_read(gf_buffer_cstr(&path), &content, err);
    gf_buffer_reset(&path);
    gf_buffer_format(&path, "%s/%s", r->work, name);
    if (st == GF_OK) st = gf_buffer_check(&path, err);
    if (st == GF_OK && may_open(name, gf_buffer_view(&content)))
        st = write_plain(gf_buffer_cstr(&path), gf_buffer_view(&content), err);
    else if (st == GF_OK)
        r->needs_repair = true;
    gf_buffer_release(&path);
    gf_buffer_release(&content);
    return st;
}

static gf_status copy_files(rescue *r, gf_error *err)
{
    gf_status st = GF_OK;
    if (mkdir(r->work, 0755) != 0) return gf_fail_errno(err, "cannot make %s", r->work);
    DIR *dir = opendir(r->from);
    if (!dir) return gf_fail_errno(err, "cannot open folder %s", r->from);
    for (struct dirent *e; st == GF_OK && (e = readdir(dir));)
        if (gf_check_is_leveldb_file(e->d_name) && strcmp(e->d_name, "LOCK") != 0)
            st = copy_file(r, e->d_name, err);
    closedir(dir);
    return st;
}

static void remove_work(const char *work)
{
    static const char *const folders[] = {"/lost", ""}; /* LevelDB's repair puts things aside */
    char path[4096];
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s", work, folders[i]);
        DIR *dir = opendir(path);
        for (struct dirent *e; dir && (e = readdir(dir));)
            if (gf_check_is_leveldb_file(e->d_name)) unlinkat(dirfd(dir), e->d_name, 0);
        if (dir) closedir(dir);
        rmdir(path);
    }
}

gf_status gf_folder_rescue(const char *path, gf_database *to, const char *work,
                           gf_damage_report *report, void *context, const gf_cancel *cancel,
                           bool *catalogue, gf_error *err)
{
    gf_buffer from = {0};
    gf_buffer_format(&from, "%s/db", path);
    gf_status st = gf_buffer_check(&from, err);
    rescue r = {gf_buffer_cstr(&from), work, report, context, false};
    if (st == GF_OK && !gf_file_is_folder(r.from))
        st = gf_fail(err, GF_ENOTFOUND, "there is no database at %s", r.from);
    if (st == GF_OK) st = gf_check_files(r.from, note_damage, &r, cancel, err);
    if (st == GF_OK) {
        st = copy_files(&r, err);
        if (st == GF_OK)
            st = gf_leveldb_rescue(work, r.needs_repair, gf_database_backend(to), cancel, catalogue,
                                   err);
        remove_work(work);
    }
    gf_buffer_release(&from);
    return st;
}
