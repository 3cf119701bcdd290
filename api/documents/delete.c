/*
 * delete: documents by id, from the arguments or one on each line of the input, or by their time
 * and fields. An id that no document can have is counted as absent, like any other that is not
 * there.
 */
#include "api/documents/internal.h"
#include "api/documents/schema.h"

#include "base/memory.h"

typedef struct deleting {
    gf_call *call;
    gf_slice collection;
    gf_store *store;
    gf_put *put;
    bool only_counts;
    uint64_t asked, impossible;
    uint64_t there; /* only_counts: of those that were asked for */
} deleting;

static gf_status nothing_of_document(void *context, const gf_document *document, gf_error *err)
{
    (void)context, (void)document, (void)err;
    return GF_OK;
}

static gf_status count_id(deleting *d, gf_slice id, gf_error *err)
{
    gf_status st =
        gf_document_read(d->store, gf_call_place(d->call), id, nothing_of_document, NULL, err);
    d->there += st == GF_OK;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status delete_id(void *context, gf_slice id, gf_error *err)
{
    deleting *d = context;
    gf_status st = gf_cancel_check(d->call->cancel, err);
    if (st != GF_OK) return st;
    d->asked++;
    if (d->only_counts) return count_id(d, id, err);
    st = gf_put_delete(d->put, d->collection, id, err);
    if (st != GF_EINVAL || !gf_put_is_good(d->put)) return st;
    d->impossible++;
    return GF_OK;
}

/* ---- by what they are ------------------------------------------------------------------------ */

static gf_status delete_chosen(void *context, gf_slice id, gf_error *err)
{
    deleting *d = context;
    if (!d->only_counts) return delete_id(d, id, err);
    d->asked++;
    d->there++;
    return gf_cancel_check(d->call->cancel, err);
}

static bool chooses(const gf_call *call)
{
    return gf_call_has(call, "before") || gf_call_has(call, "where");
}

static gf_status delete_choice(deleting *d, gf_error *err)
{
    const gf_call *call = d->call;
    size_t n = gf_call_count(call, "where");
    if (gf_call_has(call, "id") || call->input.next)
        return gf_fail(err, GF_EINVAL, "delete needs either ids, or --before and --where");
    gf_slice *where = gf_array(n, sizeof *where);
    if (!where) return gf_fail_memory(err, "arguments");
    for (size_t i = 0; i < n; i++)
        where[i] = gf_call_nth(call, "where", i);
    gf_document_choice choice = {
        .where = where, .n_where = n, .before = gf_call_text(call, "before")};
    gf_status st =
        gf_documents_choose(d->store, gf_call_place(call), &choice, delete_chosen, d, err);
    gf_free(where);
    return st;
}

/* ---- the call -------------------------------------------------------------------------------- */

static gf_status delete_all(deleting *d, gf_error *err)
{
    const gf_call *call = d->call;
    bool any = gf_call_has(call, "id") || call->input.next;
    if (chooses(call)) return delete_choice(d, err);
    if (!any && gf_call_flag(call, "purge")) return GF_OK;
    return gf_call_each_id(call, delete_id, d, err);
}

static gf_status emit_counts(deleting *d, const gf_purged *purged, gf_error *err)
{
    gf_put_counts c = gf_put_counted(d->put);
    uint64_t absent = d->only_counts ? d->asked - d->there : c.absent + d->impossible;
    gf_row_writer row = {.call = d->call};
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_string(w, "collection", d->collection);
    gf_json_put_uint(w, "asked", d->asked);
    gf_json_put_uint(w, "deleted", c.deleted);
    gf_json_put_uint(w, "absent", absent);
    if (d->only_counts) gf_json_put_uint(w, "would_delete", d->there);
    if (purged) {
        gf_json_put_bool(w, "purged", true);
        gf_json_put_uint(w, "rebuilt", purged->rebuilt);
        gf_json_put_uint(w, "dropped", purged->dropped);
    }
    if (absent) d->call->outcome = GF_OUTCOME_SOME_ABSENT;
    return gf_row_writer_emit_only(&row, err);
}

static void tell_progress(void *context, gf_place where, const char *phase, uint64_t done,
                          uint64_t total)
{
    gf_call *call = context;
    gf_call_progress(call, where.collection, phase, done, total);
}

static gf_status purge(deleting *d, gf_purged *purged, gf_error *err)
{
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.cancel = d->call->cancel, .progress = tell_progress,
                                              .context = d->call);
    return gf_purge_collection(d->store, gf_call_place(d->call), &o, purged, err);
}

/* Deletions that were asked for before a failure or a cancel are done and counted. */
static gf_status delete_and_flush(deleting *d, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    gf_status st = delete_all(d, &why);
    if (gf_put_is_good(d->put)) {
        gf_status flushed = gf_put_flush(d->put, st == GF_OK ? &why : NULL);
        if (st == GF_OK) st = flushed;
    }
    gf_purged purged;
    bool purges = st == GF_OK && gf_call_flag(d->call, "purge") && !d->only_counts;
    if (purges) st = purge(d, &purged, &why);
    purges = purges && st == GF_OK;
    gf_status told = d->asked || st == GF_OK ? emit_counts(d, purges ? &purged : NULL, err) : GF_OK;
    if (st != GF_OK && err) *err = why;
    return st == GF_OK ? told : st;
}

static gf_status nothing(void *context, const gf_collection_info *info, gf_error *err)
{
    (void)context, (void)info, (void)err;
    return GF_OK;
}

static gf_status run_delete(gf_call *call, gf_error *err)
{
    deleting d = {.call = call,
                  .collection = gf_call_text(call, "collection"),
                  .only_counts = gf_call_flag(call, "dry-run")};
    gf_status st = gf_call_store(call, &d.store, err);
    if (st == GF_OK) st = gf_collection_read(d.store, gf_call_place(call), nothing, NULL, err);
    gf_put_options o = GF_PUT_OPTIONS(.name_space = call->name_space);
    if (st == GF_OK) st = gf_put_open(d.store, &o, &d.put, err);
    if (st == GF_OK) st = delete_and_flush(&d, err);
    gf_put_close(d.put);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter delete_documents_parameters[] = {
    P_COLLECTION,
    P_SEVERAL("id", false, "ID", "ids to delete; else one on each line of the input"),
    P_TEXT("before", "TIME", "documents whose time is before this, or of this age (30d)"),
    P_SEVERAL("where", false, "F=V", "documents of which this holds; also !=, <, <=, >, >="),
    P_FLAG("dry-run", "count what would be deleted, and do nothing"),
    P_PURGE};

const gf_operation gf_delete_operation = {
    .name = "delete",
    .method = "DELETE",
    .path = "/collections/{collection}/documents",
    .meaning = "Delete documents",
    GF_PARAMETERS(delete_documents_parameters),
    .members = gf_schema_delete,
    .run = run_delete,
    .input = GF_INPUT_OPTIONAL,
    .single = true,
};
