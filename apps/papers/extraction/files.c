/* Whole files of an input: each is one window that is filled to its end. */
#include "apps/papers/extraction/files.h"

#include "base/memory.h"
#include "formats/bytes/unpacked.h"

struct gf_papers_files {
    gf_unpacked *stream;
    size_t most;
};

gf_status gf_papers_files_open(const gf_input *input, size_t most, gf_papers_files **files,
                               gf_error *err)
{
    gf_papers_files *f = gf_calloc(1, sizeof *f);
    if (!f) return gf_fail_memory(err, "a reader");
    f->most = most;
    gf_status st = gf_unpacked_open(input, &f->stream, err);
    if (st != GF_OK) {
        gf_free(f);
        return st;
    }
    *files = f;
    return GF_OK;
}

void gf_papers_files_close(gf_papers_files *f)
{
    if (!f) return;
    gf_unpacked_close(f->stream);
    gf_free(f);
}

gf_status gf_papers_files_next(gf_papers_files *f, gf_papers_file *file, gf_error *err)
{
    gf_papers_file read;
    gf_status st = gf_unpacked_next(f->stream, err);
    if (st == GF_OK)
        st = gf_read_buffer_peek(gf_unpacked_buffer(f->stream), f->most + 1, &read.bytes, err);
    if (st != GF_OK) return st;
    read.too_long = read.bytes.len > f->most;
    if (read.too_long) read.bytes.len = f->most + 1;
    read.source = gf_unpacked_name(f->stream);
    read.path = gf_unpacked_path(f->stream);
    *file = read;
    return GF_OK;
}
