/* assign: the clusters of texts that are not stored, one row for each record, streamed: some
 * hundred at a time are worked out side by side. */
#include "api/call.h"

#include "base/arena.h"
#include "base/memory.h"

enum { BATCH = 256, BATCH_BYTES = 4 << 20 };

typedef struct assigning {
    gf_row_writer row;
    gf_view *view;
    gf_reader *reader;
    bool with_text;
    unsigned threads;
    uint64_t read, refused;
    gf_document waiting[BATCH]; /* n; they lie in the arena */
    gf_membership place[BATCH];
    size_t n, bytes;
    gf_arena arena;
} assigning;

static gf_status emit_place(assigning *a, const gf_document *d, gf_membership *m, gf_error *err)
{
    gf_json_writer *w = gf_row_writer_begin(&a->row);
    gf_json_put_string(w, "id", d->id);
    m->provisional = false; /* goes without saying: it is in no store */
    gf_json_put_membership(w, m);
    if (a->with_text) gf_json_put_string(w, "text", d->text);
    return gf_row_writer_emit(&a->row, err);
}

static gf_status assign_waiting(assigning *a, gf_error *err)
{
    if (a->n == 0) return GF_OK;
    gf_status st = gf_view_assign_all(a->view, a->waiting, a->n, a->threads, a->place, err);
    for (size_t i = 0; i < a->n && st == GF_OK; i++) {
        st = gf_cancel_check(a->row.call->cancel, err);
        if (st == GF_OK) st = emit_place(a, &a->waiting[i], &a->place[i], err);
    }
    gf_arena_reset(&a->arena);
    a->n = a->bytes = 0;
    return st;
}

static gf_status assign(assigning *a, const gf_document *d, gf_error *err)
{
    gf_document *kept = &a->waiting[a->n];
    *kept = (gf_document){.id = gf_arena_copy(&a->arena, d->id),
                          .text = gf_arena_copy(&a->arena, d->text),
                          .language = gf_arena_copy(&a->arena, d->language)};
    if (!kept->id.ptr || !kept->text.ptr || !kept->language.ptr)
        return gf_fail_memory(err, "texts");
    a->n++;
    a->bytes += d->text.len;
    return a->n == BATCH || a->bytes >= BATCH_BYTES ? assign_waiting(a, err) : GF_OK;
}

/* What waits is told of before a record that is refused: all in their order. */
static gf_status refuse(assigning *a, const gf_record *record, gf_error *err)
{
    gf_status st = assign_waiting(a, err);
    a->refused++;
    return st == GF_OK ? gf_call_refuse(a->row.call, record, record->reason, record->message, err)
                       : st;
}

static gf_status handle(assigning *a, const gf_record *record, gf_error *err)
{
    const gf_call *call = a->row.call;
    a->read++;
    if (a->read % 1000 == 0) gf_call_progress(call, record->source, "reading", a->read, 0);
    if (record->kind == GF_RECORD_DOCUMENT) return assign(a, &record->document, err);
    return record->kind == GF_RECORD_SKIPPED ? GF_OK : refuse(a, record, err);
}

static gf_status read_all(assigning *a, gf_error *err)
{
    gf_record record;
    gf_status st;
    while ((st = gf_reader_next(a->reader, &record, err)) == GF_OK) {
        st = gf_cancel_check(a->row.call->cancel, err);
        if (st == GF_OK) st = handle(a, &record, err);
        if (st != GF_OK) return st;
    }
    if (st != GF_ENOTFOUND) return st;
    st = gf_cancel_check(a->row.call->cancel, err);
    return st == GF_OK ? assign_waiting(a, err) : st;
}

gf_status gf_run_assign(gf_call *call, gf_error *err)
{
    if (!call->input.next) return gf_fail(err, GF_EINVAL, "assign needs an input");
    assigning *a = gf_calloc(1, sizeof *a);
    if (!a) return gf_fail_memory(err, "texts");
    a->row.call = call;
    a->with_text = gf_call_flag(call, "with-text");
    a->threads = (unsigned)gf_call_number(call, "threads", 0);
    gf_status st = gf_call_view(call, &a->view, err);
    if (st == GF_OK) st = gf_call_reader(call, false, &a->reader, err);
    if (st == GF_OK) st = read_all(a, err);
    if (st == GF_OK && a->refused) call->outcome = GF_SOME_REFUSED;
    gf_row_writer_release(&a->row);
    gf_arena_release(&a->arena);
    gf_reader_close(a->reader);
    gf_view_close(a->view);
    gf_free(a);
    return st;
}
