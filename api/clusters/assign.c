/* assign: the clusters of texts that are not stored, one row for each record, streamed: some
 * hundred at a time are worked out side by side. */
#include "api/clusters/internal.h"
#include "api/clusters/schema.h"
#include "api/intake.h"
#include "formats/matrix/npz.h"

#include "base/arena.h"
#include "base/memory.h"

enum { BATCH = 256, BATCH_BYTES = 4 << 20 };

typedef struct assigning {
    gf_row_writer row;
    gf_view *view;
    gf_reader *reader;
    bool with_text;
    unsigned threads;
    gf_document waiting[BATCH]; /* n; they lie in the arena */
    gf_field fields[BATCH][2];  /* "vector", where the build's rows are such, and the text */
    gf_membership place[BATCH];
    size_t n, bytes;
    gf_arena arena;
} assigning;

static gf_status emit_place(assigning *a, const gf_document *d, gf_membership *m, gf_error *err)
{
    gf_json_writer *w = gf_row_writer_begin(&a->row);
    gf_row_put_id(&a->row, d->id);
    m->provisional = false; /* goes without saying: it is in no store */
    gf_row_put_membership(w, m);
    if (m->cluster) gf_json_put_uint(w, "size", gf_view_cluster_size(a->view, m->cluster));
    gf_row_put_state(w, m->state);
    if (a->with_text && d->n_fields == 0) gf_json_put_string(w, "text", d->text);
    for (size_t i = 0; a->with_text && i < d->n_fields; i++) {
        if (gf_slice_equal(d->fields[i].name, GF_SLICE("vector"))) continue;
        gf_json_key(w, "text");
        gf_json_raw(w, d->fields[i].json);
    }
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

static gf_status assign_record(void *context, const gf_record *record, gf_error *err)
{
    assigning *a = context;
    const gf_document *d = &record->document;
    gf_document *kept = &a->waiting[a->n];
    *kept = (gf_document){.id = gf_arena_copy(&a->arena, d->id),
                          .text = gf_arena_copy(&a->arena, d->text),
                          .language = gf_arena_copy(&a->arena, d->language)};
    if (!kept->id.ptr || !kept->text.ptr || !kept->language.ptr)
        return gf_fail_memory(err, "texts");
    kept->fields = a->fields[a->n];
    for (; kept->n_fields < d->n_fields && kept->n_fields < 2; kept->n_fields++) {
        gf_field *to = &a->fields[a->n][kept->n_fields];
        to->name = gf_arena_copy(&a->arena, d->fields[kept->n_fields].name);
        to->json = gf_arena_copy(&a->arena, d->fields[kept->n_fields].json);
        if (!to->name.ptr || !to->json.ptr) return gf_fail_memory(err, "vectors");
        a->bytes += to->json.len;
    }
    a->n++;
    a->bytes += d->text.len;
    return a->n == BATCH || a->bytes >= BATCH_BYTES ? assign_waiting(a, err) : GF_OK;
}

/* Rows keep the order of records: those that wait are emitted before the notice of a refusal. */
static gf_status note_record(void *context, const gf_record *record, const char *reason,
                             const char *message, gf_error *err)
{
    (void)reason, (void)message;
    return record->kind == GF_RECORD_SKIPPED ? GF_OK : assign_waiting(context, err);
}

static gf_status next_record(void *context, gf_record *record, gf_error *err)
{
    return gf_reader_next(((assigning *)context)->reader, record, err);
}

static gf_status assign_rest(void *context, gf_status ended, gf_error *err)
{
    return ended == GF_OK ? assign_waiting(context, err) : GF_OK;
}

/* ---- rows of a matrix ------------------------------------------------------------------------ */

static gf_status assign_matrix(assigning *a, gf_error *err)
{
    gf_call *call = a->row.call;
    gf_npz_matrix m;
    if (!call->input.next) return gf_fail(err, GF_EINVAL, "matrix: there is no input");
    gf_status st = gf_npz_read_matrix(&call->input, call->cancel, &m, err);
    if (st == GF_ENOTFOUND) return gf_fail(err, GF_EINVAL, "matrix: the input is empty");
    if (st != GF_OK) return st;
    gf_membership *places = gf_array(m.matrix.n_rows, sizeof *places);
    st = places ? gf_view_assign_rows(a->view, &m.matrix, a->threads, call->cancel, places, err)
                : gf_fail_memory(err, "rows");
    for (uint32_t i = 0; i < m.matrix.n_rows && st == GF_OK; i++) {
        gf_document d = {.id = m.matrix.id[i]};
        st = gf_cancel_check(call->cancel, err);
        if (st == GF_OK) st = emit_place(a, &d, &places[i], err);
    }
    gf_free(places);
    gf_npz_matrix_release(&m);
    return st;
}

/* ---- records --------------------------------------------------------------------------------- */

static gf_status assign_records(assigning *a, gf_error *err)
{
    gf_call *call = a->row.call;
    bool given = gf_rows_are_given(gf_view_build(a->view)->rows);
    gf_slice text = gf_call_text_or(call, "text", "text");
    const gf_slice kept[] = {GF_SLICE("vector"), text};
    gf_status st =
        given ? gf_records_reader_of_fields(call, kept, a->with_text ? 2 : 1, &a->reader, err)
              : gf_records_reader(call, false, &a->reader, err);
    if (st != GF_OK) return st;
    gf_intake intake = {.call = call,
                        .context = a,
                        .next = next_record,
                        .take = assign_record,
                        .note = note_record,
                        .flush = assign_rest};
    return gf_intake_run(&intake, err);
}

static gf_status run_assign(gf_call *call, gf_error *err)
{
    assigning *a = gf_calloc(1, sizeof *a);
    if (!a) return gf_fail_memory(err, "texts");
    a->row.call = call;
    a->with_text = gf_call_flag(call, "with-text");
    a->threads = (unsigned)gf_call_number(call, "threads", 0);
    bool matrix = gf_call_flag(call, "matrix");
    gf_status st = GF_OK;
    if (matrix && a->with_text) st = gf_fail(err, GF_EINVAL, "with-text: a matrix has no texts");
    if (st == GF_OK) st = gf_call_view_warm(call, &a->view, err);
    if (st == GF_OK) st = matrix ? assign_matrix(a, err) : assign_records(a, err);
    gf_row_writer_release(&a->row);
    gf_arena_release(&a->arena);
    gf_reader_close(a->reader);
    gf_view_close(a->view);
    gf_free(a);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter assign_parameters[] = {
    P_COLLECTION,
    P_CONFIG,
    P_BUILD,
    P_TEXT("id", "FIELD|none", "field that is the id (id)"),
    P_LIST("text", "FIELD[,FIELD...]", "field or fields that are the text (text)"),
    P_TEXT("lang", "FIELD|none", "field that is the language (lang)"),
    P_CHOICE("from", GF_FORMAT_NAMES, "format, where the name does not tell it"),
    P_ENCODING,
    P_SHEET,
    {"max-document", GF_PARAMETER_BYTES, false, "SIZE", "refuse larger records (16M)", 1,
     GF_LARGEST_MAX_DOCUMENT},
    P_UNPACKED,
    P_FLAG("with-text", "the records' texts too"),
    P_FLAG("matrix", "instead of records the rows of an .npz file, which is the input"),
    P_NUMBER("threads", 0, 1024, "threads (one per processor)"),
    P_ID_TYPE};

const gf_operation gf_assign_operation = {
    .name = "assign",
    .method = "POST",
    .path = "/collections/{collection}/assignments",
    .meaning = "Tell the clusters of texts that are not stored",
    GF_PARAMETERS(assign_parameters),
    .members = gf_schema_assign,
    .run = run_assign,
    .input = GF_INPUT_REQUIRED,
    .reads_only = true,
};
