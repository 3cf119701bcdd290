#include "base/ranks.h"

#include "base/memory.h"

unsigned gf_ranks_n(const gf_ranks *r)
{
    return r ? r->n : 1;
}

unsigned gf_ranks_me(const gf_ranks *r)
{
    return r ? r->me : 0;
}

gf_status gf_ranks_sum(gf_ranks *r, uint64_t *v, size_t n, gf_error *err)
{
    if (!r || r->n == 1) return GF_OK;
    r->sent += n * sizeof *v * 2; /* there and back */
    return r->transport->sum(r, v, n, err);
}

gf_status gf_ranks_send_all(gf_ranks *r, unsigned from, gf_buffer *bytes, gf_error *err)
{
    if (!r || r->n == 1) return gf_buffer_check(bytes, err);
    if (r->me == from) r->sent += (uint64_t)bytes->len * (r->n - 1);
    return r->transport->send_all(r, from, bytes, err);
}

gf_status gf_ranks_deal(gf_ranks *r, const gf_slice *to, gf_buffer *from, gf_error *err)
{
    if (!r || r->n == 1) {
        gf_buffer_reset(&from[0]);
        gf_buffer_slice(&from[0], to[0]);
        return gf_buffer_check(&from[0], err);
    }
    for (unsigned i = 0; i < r->n; i++)
        if (i != r->me) r->sent += to[i].len;
    return r->transport->deal(r, to, from, err);
}

gf_status gf_ranks_gather(gf_ranks *r, unsigned to, gf_slice bytes, gf_buffer *from, gf_error *err)
{
    gf_slice *dealt = gf_calloc(gf_ranks_n(r), sizeof *dealt);
    if (!dealt) return gf_fail_memory(err, "what goes to a rank");
    dealt[to] = bytes;
    gf_status st = gf_ranks_deal(r, dealt, from, err);
    gf_free(dealt);
    return st;
}
