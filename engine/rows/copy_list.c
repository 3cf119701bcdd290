#include "engine/rows/copy_list.h"

void gf_copy_list_qualifier(gf_buffer *out, uint32_t cluster)
{
    gf_buffer_str(out, GF_COPY_LIST_PREFIX);
    gf_buffer_u32be(out, cluster);
}

bool gf_copy_list_cluster(gf_slice qualifier, uint32_t *cluster)
{
    if (!gf_slice_starts(qualifier, GF_SLICE(GF_COPY_LIST_PREFIX))) return false;
    qualifier = gf_slice_skip(qualifier, sizeof GF_COPY_LIST_PREFIX - 1);
    return gf_slice_take_u32be(&qualifier, cluster) && qualifier.len == 0;
}

void gf_copy_list_write(const uint32_t *first, uint32_t n, gf_buffer *out)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (first[i] == i) continue;
        gf_buffer_varint(out, i - before);
        gf_buffer_varint(out, i - first[i]);
        before = i;
    }
}

gf_status gf_copy_list_read(gf_slice bytes, uint32_t *first, uint32_t n, gf_error *err)
{
    uint64_t place = 0;
    for (uint32_t i = 0; i < n; i++)
        first[i] = i;
    while (bytes.len) {
        uint32_t step, back;
        bool good = gf_slice_take_varint32(&bytes, &step) && step > 0 &&
                    gf_slice_take_varint32(&bytes, &back) && back > 0;
        place += good ? step : 0;
        good = good && place < n && back <= place && first[place - back] == place - back;
        if (!good) return gf_fail(err, GF_ECORRUPT, "a cluster's list of copies is damaged");
        first[place] = (uint32_t)place - back;
    }
    return GF_OK;
}
