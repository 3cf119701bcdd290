/* Lines of the input, and records that are refused. */
#include "api/table_input.h"

enum { CHUNK = 256 << 10 };

/* ---- lines ------------------------------------------------------------------------------------
 */

static gf_status open_next(gf_lines *l, gf_error *err)
{
    gf_status st = l->in->next(l->in->context, &l->source, err);
    l->open = st == GF_OK;
    l->ended = false;
    l->line = 0;
    l->at = 0;
    gf_buffer_reset(&l->bytes);
    return st;
}

/* Further bytes behind those that are not used up, which move to the front. */
static gf_status fill(gf_lines *l, gf_error *err)
{
    size_t got = 0, left = l->bytes.len - l->at;
    if (l->at) memmove(l->bytes.ptr, l->bytes.ptr + l->at, left);
    l->at = 0;
    l->bytes.len = left;
    if (left > GF_MOST_LINE)
        return gf_fail(err, GF_ELIMIT, "%.*s:%llu: a line of more than %d bytes",
                       GF_SLICE_ARG(l->source), (unsigned long long)l->line + 1, GF_MOST_LINE);
    /* As much again as there is: a long line is looked through a few times, not once a chunk. */
    char *to = gf_buffer_reserve(&l->bytes, (left > CHUNK ? left : CHUNK) + GF_JSON_PADDING);
    if (!to) return gf_buffer_check(&l->bytes, err);
    gf_status st = l->in->read(l->in->context, to, left > CHUNK ? left : CHUNK, &got, err);
    if (st != GF_OK) return st;
    l->bytes.len += got;
    l->ended = got == 0;
    return GF_OK;
}

static gf_slice without_end(gf_lines *l, gf_slice line)
{
    if (l->line++ == 0 && gf_slice_starts(line, GF_SLICE("\xEF\xBB\xBF")))
        line = gf_slice_skip(line, 3);
    if (gf_slice_ends(line, GF_SLICE("\r"))) line.len--;
    return line;
}

gf_status gf_lines_next(gf_lines *l, gf_slice *line, gf_error *err)
{
    if (!l->in->next) return gf_fail(err, GF_EINVAL, "there is no input");
    for (;;) {
        gf_status st = l->open ? GF_OK : open_next(l, err);
        if (st != GF_OK) return st;
        size_t left = l->bytes.len - l->at;
        const char *start = left ? l->bytes.ptr + l->at : NULL;
        const char *end = left ? memchr(start, '\n', left) : NULL;
        if (end || (l->ended && left)) {
            size_t n = end ? (size_t)(end - start) : left;
            l->at += n + (end != NULL);
            *line = without_end(l, gf_slice_of(start, n));
            return GF_OK;
        }
        if (l->ended)
            l->open = false;
        else
            st = fill(l, err);
        if (st != GF_OK) return st;
    }
}

void gf_lines_release(gf_lines *l)
{
    gf_buffer_release(&l->bytes);
}

/* ---- records ----------------------------------------------------------------------------------
 */

gf_status gf_table_import_refuse(gf_table_import *i, gf_slice source, uint64_t line,
                                 gf_slice record, const char *message, gf_error *err)
{
    const gf_call *call = i->c.call;
    gf_notice n = {"bad_row", source, line, message, true};
    i->refused++;
    if (call->notice) call->notice(call->context, &n);
    return call->reject && record.len ? call->reject(call->context, record, err) : GF_OK;
}

gf_status gf_table_import_row(gf_table_import *i, gf_error *err)
{
    enum { BATCH_CHANGES = 8000, BATCH_BYTES = 4 << 20 };
    gf_call *call = i->c.call;
    i->rows++;
    if (gf_batch_changes(i->c.batch) < BATCH_CHANGES && gf_batch_bytes(i->c.batch) < BATCH_BYTES)
        return GF_OK;
    gf_status st = gf_cancel_check(call->cancel, err);
    if (st == GF_OK) st = gf_batch_write(i->c.batch, GF_SYNC, err);
    if (call->progress)
        call->progress(call->context, gf_user_table_name(i->c.table), "import", i->rows, 0);
    return st;
}
