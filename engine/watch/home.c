#include "engine/watch/home.h"

#include "formats/bytes/sign.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ID = 64 /* bytes of the machine's */ };

/* A container may have no such id, or may not read it. */
static gf_status add_machine(gf_buffer *key, gf_error *err)
{
    static const char path[] = "/etc/machine-id";
    char id[MOST_ID];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT || errno == EACCES ? GF_OK : gf_fail_errno(err, "%s", path);
    ssize_t n = read(fd, id, sizeof id);
    gf_status st = n < 0 ? gf_fail_errno(err, "%s", path) : GF_OK;
    close(fd);
    if (st == GF_OK) gf_buffer_append(key, id, (size_t)n);
    return st;
}

static gf_status make_key(const gf_store *store, gf_buffer *key, gf_error *err)
{
    struct statx is;
    gf_status able = gf_store_check_folder(store, err);
    if (able != GF_OK) return able;
    const char *path = gf_folder_path(store->folder);
    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &is) != 0)
        return gf_fail_errno(err, "%s", path);
    gf_buffer_format(key, "%llu ", (unsigned long long)is.stx_ino);
    if (is.stx_mask & STATX_BTIME)
        gf_buffer_format(key, "%lld.%u ", (long long)is.stx_btime.tv_sec, is.stx_btime.tv_nsec);
    gf_status st = add_machine(key, err);
    return st == GF_OK ? gf_buffer_check(key, err) : st;
}

gf_status gf_watch_write_home(const gf_store *store, const gf_watch *rule, gf_buffer *out,
                              gf_error *err)
{
    gf_buffer key = {0}, bytes = {0};
    gf_status st = make_key(store, &key, err);
    gf_buffer_str(&bytes, gf_watch_way_name(rule->way));
    gf_buffer_byte(&bytes, 0);
    gf_buffer_string(&bytes, rule->target);
    gf_buffer_string(&bytes, rule->secret_file);
    if (st == GF_OK) st = gf_buffer_check(&bytes, err);
    if (st == GF_OK) st = gf_sign_bytes(gf_buffer_view(&key), gf_buffer_view(&bytes), out, err);
    gf_buffer_release(&key);
    gf_buffer_release(&bytes);
    return st;
}
