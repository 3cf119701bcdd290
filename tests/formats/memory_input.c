#include "tests/formats/memory_input.h"

static gf_status next_stream(void *context, gf_slice *name, gf_error *err)
{
    (void)err;
    memory_input *m = context;
    if (m->at == m->n) return GF_ENOTFOUND;
    *name = gf_slice_str(m->streams[m->at++].name);
    m->read_of = 0;
    return GF_OK;
}

static gf_status read_bytes(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    memory_input *m = context;
    gf_slice left = gf_slice_skip(m->streams[m->at - 1].bytes, m->read_of);
    if (m->chunk && n > m->chunk) n = m->chunk;
    if (m->random && n > 1) n = 1 + (size_t)gf_random_below(m->random, n);
    if (n > left.len) n = left.len;
    if (m->fail_at && m->read_in_all + n >= m->fail_at)
        return gf_fail(err, GF_EIO, "the disk is on fire");
    if (n) memcpy(to, left.ptr, n);
    m->read_of += n;
    m->read_in_all += n;
    *got = n;
    return GF_OK;
}

static bool in_folder(void *context)
{
    memory_input *m = context;
    return m->streams[m->at - 1].in_folder;
}

gf_input memory_input_start(memory_input *m)
{
    m->at = m->read_of = 0;
    m->read_in_all = 0;
    return (gf_input){
        .context = m, .next = next_stream, .read = read_bytes, .in_folder = in_folder};
}
