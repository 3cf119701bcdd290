#include "cli/out_file.h"

#include "base/memory.h"
#include "grouperfish/buffer.h"

#include <unistd.h>

gf_status gf_out_file_open(gf_out_file *f, const char *path, bool replace, gf_error *err)
{
    gf_buffer part = {0};
    *f = (gf_out_file){.path = path};
    if (!replace && access(path, F_OK) == 0)
        return gf_fail(err, GF_EINVAL, "%s is there already; --force replaces it", path);
    gf_buffer_format(&part, "%s.part", path);
    gf_buffer_byte(&part, '\0');
    gf_status st = gf_buffer_check(&part, err);
    if (st != GF_OK) return st;
    f->file = fopen(part.ptr, "w");
    if (f->file) {
        f->part_path = part.ptr;
        return GF_OK;
    }
    st = gf_fail_errno(err, "cannot make %s", part.ptr);
    gf_buffer_release(&part);
    return st;
}

gf_status gf_out_file_close(gf_out_file *f, gf_status status, gf_error *err)
{
    if (!f->file) return status;
    bool whole =
        status == GF_OK && fflush(f->file) == 0 && !ferror(f->file) && fsync(fileno(f->file)) == 0;
    if (fclose(f->file) != 0) whole = false;
    if (whole && rename(f->part_path, f->path) != 0) whole = false;
    if (!whole && status == GF_OK) status = gf_fail_errno(err, "cannot write %s", f->path);
    if (!whole) unlink(f->part_path);
    gf_free(f->part_path);
    *f = (gf_out_file){0};
    return status;
}
