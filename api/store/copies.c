/* backup, restore, copy, archive: copies of a store. */
#include "api/store/internal.h"
#include "api/store/schema.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

gf_status gf_copies_path(const gf_call *call, const char *name, gf_buffer *path, gf_error *err)
{
    gf_slice value = gf_call_text(call, name);
    gf_buffer_slice(path, value);
    if (value.len && memchr(value.ptr, '\0', value.len))
        return gf_fail(err, GF_EINVAL, "%s is not a path", name);
    return gf_buffer_check(path, err);
}

static gf_status emit_copy(gf_call *call, const char *what, const char *from, const char *to,
                           const gf_store_status *s, const uint64_t *removed, gf_error *err)
{
    gf_row_writer row = {.call = call};
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_str(w, what, from);
    gf_json_put_str(w, "to", to);
    gf_json_put_uint(w, "collections", s->collections);
    gf_json_put_uint(w, "documents", s->documents);
    gf_json_put_uint(w, "builds", s->builds);
    gf_json_put_uint(w, "bytes", s->bytes);
    if (removed) gf_json_put_uint(w, "removed", *removed);
    return gf_row_writer_emit_only(&row, err);
}

/* ---- the place of a backup ------------------------------------------------------------------- */

/* "2026-11-20T031500Z": the name of a backup among several, in UTC; names sort by time. */
static bool is_backup_name(const char *name)
{
    static const char form[] = "dddd-dd-ddTddddddZ";
    size_t i = 0;
    for (; form[i] && name[i]; i++)
        if (form[i] == 'd' ? name[i] < '0' || name[i] > '9' : name[i] != form[i]) return false;
    return !form[i] && !name[i];
}

gf_status gf_backup_place_choose(const gf_call *call, gf_backup_place *place, gf_error *err)
{
    char name[32];
    struct tm utc;
    time_t now = time(NULL);
    gf_backup_place p = {.keep = gf_call_number(call, "keep", 0)};
    gf_status st = gf_copies_path(call, "to", p.keep ? &p.all : &p.path, err);
    if (st == GF_OK && !(p.keep ? &p.all : &p.path)->len)
        st = gf_fail(err, GF_EINVAL, "to is missing: a folder");
    if (st == GF_OK && p.keep) {
        st = gf_file_make_folders(gf_buffer_cstr(&p.all), err);
        strftime(name, sizeof name, "%Y-%m-%dT%H%M%SZ", gmtime_r(&now, &utc));
        gf_buffer_format(&p.path, "%s/%s", gf_buffer_cstr(&p.all), name);
        if (st == GF_OK) st = gf_buffer_check(&p.path, err);
    }
    *place = p;
    return st;
}

void gf_backup_place_release(gf_backup_place *p)
{
    gf_buffer_release(&p->path);
    gf_buffer_release(&p->all);
}

static int select_backup(const struct dirent *e)
{
    return is_backup_name(e->d_name);
}

static gf_status remove_oldest(gf_backup_place *p, uint64_t *removed, gf_error *err)
{
    struct dirent **list;
    gf_buffer path = {0};
    gf_status st = GF_OK;
    const char *all = gf_buffer_cstr(&p->all);
    int n = scandir(all, &list, select_backup, alphasort);
    if (n < 0) return gf_fail_errno(err, "cannot list %s", all);
    for (int i = 0; i < n; i++) {
        if (st == GF_OK && (uint64_t)(n - i) > p->keep) {
            gf_buffer_reset(&path);
            gf_buffer_format(&path, "%s/%s", all, list[i]->d_name);
            st = gf_buffer_check(&path, err);
            if (st == GF_OK) st = gf_backup_remove(gf_buffer_cstr(&path), err);
            if (st == GF_OK) ++*removed;
        }
        free(list[i]); /* scandir's */
    }
    free(list);
    gf_buffer_release(&path);
    return st;
}

gf_status gf_backup_place_end(gf_call *call, gf_backup_place *p, const char *store,
                              const gf_store_status *status, gf_error *err)
{
    uint64_t removed = 0;
    gf_status st = p->keep ? remove_oldest(p, &removed, err) : GF_OK;
    if (st != GF_OK) return st;
    return emit_copy(call, "store", store, gf_buffer_cstr(&p->path), status,
                     p->keep ? &removed : NULL, err);
}

/* ---- backup and restore ---------------------------------------------------------------------- */

typedef struct archive_file {
    const char *path;
    int fd;
    const gf_cancel *cancel;
} archive_file;

static gf_status run_backup(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_store_status s;
    gf_backup_place place;
    gf_status st = gf_backup_place_choose(call, &place, err);
    if (st == GF_OK) st = gf_call_store(call, &store, err);
    if (st == GF_OK)
        st = gf_backup_create(store, gf_buffer_cstr(&place.path), call->cancel, &s, err);
    if (st == GF_OK) st = gf_backup_place_end(call, &place, call->holder.path, &s, err);
    gf_backup_place_release(&place);
    return st;
}

/* Hand over the bytes of an archive's file. */
static gf_status give_file(void *context, gf_archive_take *take, void *taker, gf_error *err)
{
    const archive_file *a = context;
    static const size_t most = 1 << 18;
    gf_buffer bytes = {0};
    gf_status st = GF_OK;
    char *to = gf_buffer_reserve(&bytes, most);
    if (!to) st = gf_fail_memory(err, "an archive");
    while (st == GF_OK && (st = gf_cancel_check(a->cancel, err)) == GF_OK) {
        ssize_t n = read(a->fd, to, most);
        if (n == 0) break;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            st = gf_fail_errno(err, "cannot read %s", a->path);
        else
            st = take(taker, gf_slice_of(to, (size_t)n), err);
    }
    gf_buffer_release(&bytes);
    return st;
}

/* A store of an archive, which is a file, not a folder; *is_archive tells. */
static gf_status unpack(gf_call *call, const char *from, const char *to, gf_store_status *s,
                        bool *is_archive, gf_error *err)
{
    struct stat about;
    archive_file a = {.path = from, .cancel = call->cancel};
    *is_archive = stat(from, &about) == 0 && !S_ISDIR(about.st_mode);
    if (!*is_archive) return GF_OK;
    a.fd = open(from, O_RDONLY | O_CLOEXEC);
    if (a.fd < 0) return gf_fail_errno(err, "cannot open %s", from);
    gf_status st = gf_backup_unpack(to, give_file, &a, s, err);
    close(a.fd);
    return st;
}

static gf_status run_restore(gf_call *call, gf_error *err)
{
    gf_store_status s;
    bool is_archive = false;
    gf_buffer from = {0}, to = {0};
    gf_store_checking checking = {.call = call};
    gf_store_options o =
        GF_STORE_OPTIONS(.wait_seconds = call->holder.wait_seconds, .purpose = "restore",
                         .cancel = call->cancel, .more = gf_store_checking_apps);
    gf_status st = gf_copies_path(call, "from", &from, err);
    if (st == GF_OK) st = gf_copies_path(call, "to", &to, err);
    if (st == GF_OK)
        st = unpack(call, gf_buffer_cstr(&from), gf_buffer_cstr(&to), &s, &is_archive, err);
    if (st == GF_OK && !is_archive)
        st = gf_backup_restore(gf_buffer_cstr(&from), gf_buffer_cstr(&to), &o,
                               gf_store_checking_fault, &checking, &s, err);
    if (st == GF_OK)
        st = emit_copy(call, "backup", gf_buffer_cstr(&from), gf_buffer_cstr(&to), &s, NULL, err);
    gf_buffer_release(&from);
    gf_buffer_release(&to);
    return st;
}

/* ---- copy ------------------------------------------------------------------------------------ */

static void tell_copied(void *context, gf_slice table, uint64_t done, uint64_t total)
{
    gf_call_progress(context, table, "rows", done, total);
}

static gf_status emit_copied(gf_call *call, const char *from, const char *to, const gf_copied *c,
                             gf_error *err)
{
    gf_row_writer row = {.call = call};
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_str(w, "from", from);
    gf_json_put_str(w, "to", to);
    gf_json_put_uint(w, "collections", c->collections);
    gf_json_put_uint(w, "documents", c->documents);
    gf_json_put_uint(w, "builds", c->builds);
    gf_json_put_uint(w, "tables", c->tables);
    gf_json_put_uint(w, "rows", c->entries);
    gf_json_put_uint(w, "bytes", c->bytes);
    return gf_row_writer_emit_only(&row, err);
}

static gf_status run_copy(gf_call *call, gf_error *err)
{
    gf_copied copied;
    gf_buffer from = {0}, to = {0};
    gf_copy_options o =
        GF_COPY_OPTIONS(.wait_seconds = call->holder.wait_seconds, .cancel = call->cancel,
                        .progress = tell_copied, .context = call, .open_more = gf_apps_open_tables);
    gf_status st = gf_copies_path(call, "from", &from, err);
    if (st == GF_OK) st = gf_copies_path(call, "to", &to, err);
    if (st == GF_OK)
        st = gf_store_copy(gf_buffer_cstr(&from), gf_buffer_cstr(&to), &o, &copied, err);
    if (st == GF_OK)
        st = emit_copied(call, gf_buffer_cstr(&from), gf_buffer_cstr(&to), &copied, err);
    gf_buffer_release(&from);
    gf_buffer_release(&to);
    return st;
}

/* ---- archive --------------------------------------------------------------------------------- */

typedef struct archiving {
    gf_call *call;
    uint64_t bytes;
} archiving;

static gf_status take_bytes(void *taker, gf_slice bytes, gf_error *err)
{
    archiving *a = taker;
    a->bytes += bytes.len;
    gf_call_progress(a->call, (gf_slice){0}, "bytes", a->bytes, 0);
    return gf_call_write(a->call, bytes, err);
}

static gf_status run_archive(gf_call *call, gf_error *err)
{
    gf_store *store;
    archiving a = {.call = call};
    gf_row_writer row = {.call = call};
    if (!call->sink.write) return gf_fail(err, GF_EINVAL, "archive: there is no file to write to");
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = gf_backup_archive(store, take_bytes, &a, call->cancel, err);
    if (st != GF_OK) return st;
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_uint(w, "bytes", a.bytes);
    return gf_row_writer_emit_only(&row, err);
}

/* ---- the operations -------------------------------------------------------------------------- */

static const gf_parameter backup_parameters[] = {
    P_PATH("to", "DIR", "a folder that is not there yet"),
    P_NUMBER("keep", 1, 100000, "DIR has the latest so many backups, named by their times")};

static const gf_parameter restore_parameters[] = {
    P_PATH("from", "DIR|FILE", "the backup, or an archive"),
    P_PATH("to", "DIR", "a folder that is not there yet")};

const gf_operation gf_backup_operation = {
    .name = "backup",
    .elsewhere = true,
    .method = "POST",
    .path = "/backup",
    .meaning = "Copy the store as it is now",
    GF_PARAMETERS(backup_parameters),
    .members = gf_schema_backup,
    .run = run_backup,
    .of_store = true,
    .single = true,
    .local = true,
};

const gf_operation gf_restore_operation = {
    .name = "restore",
    .method = "POST",
    .path = "/restoration",
    .meaning = "Check a backup and make a store of it",
    GF_PARAMETERS(restore_parameters),
    .members = gf_schema_restore,
    .run = run_restore,
    .of_store = true,
    .use = GF_USE_ALONE,
    .single = true,
    .local = true,
};

static const gf_parameter copy_parameters[] = {
    P_PATH("from", "STORE", "a folder, or hbase://HOST:PORT/NAMESPACE"),
    P_PATH("to", "STORE",
           "a folder that is not there yet, or a namespace of HBase without tables")};

const gf_operation gf_copy_operation = {
    .name = "copy",
    .method = "POST",
    .path = "/copy",
    .meaning = "Copy a store to another place or into another database",
    GF_PARAMETERS(copy_parameters),
    .members = gf_schema_copy,
    .run = run_copy,
    .of_store = true,
    .use = GF_USE_ALONE,
    .single = true,
    .local = true,
};

const gf_operation gf_archive_operation = {
    .name = "archive",
    .method = "GET",
    .path = "/archive",
    .meaning = "Write the store as it is now into one file",
    .members = gf_schema_archive,
    .run = run_archive,
    .of_store = true,
    .single = true,
    .file_type = "application/vnd.grouperfish.archive",
    .file_only = true,
};
