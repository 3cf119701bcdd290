#include "api/documents/stored_rows.h"

#include "base/memory.h"
#include "base/strings.h"
#include "engine/view/view.h"
#include "grouperfish/search.h"

#include <assert.h>

/* Rows that wait for a flush; and where what is near to them is looked for, for all of them at once. */
enum { MOST_RESULTS = 500, MOST_NEAR = 100000 };

/* ---- a row for each record ------------------------------------------------------------------- */

static void begin_result(gf_json_writer *w, uint64_t line, gf_slice id, const char *result)
{
    gf_json_begin(w, '{');
    if (line) gf_json_put_uint(w, "line", line);
    if (id.ptr) gf_json_put_string(w, "id", id);
    gf_json_put_str(w, "result", result);
}

/* Keep what the row with a place is made of, until everything before it is on disk. */
static gf_status keep_stored(gf_stored_rows *r, const gf_record *record, gf_slice collection,
                             gf_error *err)
{
    gf_buffer_string(&r->results, (gf_slice){"", 0});
    gf_buffer_u64be(&r->results, record->line);
    gf_buffer_string(&r->results, record->document.id);
    gf_buffer_string(&r->results, collection);
    r->n_results++;
    return gf_buffer_check(&r->results, err);
}

static gf_status keep_row(gf_stored_rows *r, const gf_record *record, const char *result,
                          const char *reason, const char *message, gf_error *err)
{
    gf_buffer row = {0};
    gf_json_writer w = gf_json_writer_to(&row);
    begin_result(&w, record->line, reason ? (gf_slice){NULL, 0} : record->document.id, result);
    if (reason) gf_json_put_str(&w, "reason", reason);
    if (message) gf_json_put_str(&w, "message", message);
    gf_json_end(&w, '}');
    gf_buffer_string(&r->results, gf_buffer_view(&row));
    gf_status st = gf_buffer_check(&row, err);
    gf_buffer_release(&row);
    r->n_results++;
    return st == GF_OK ? gf_buffer_check(&r->results, err) : st;
}

/* Keep what tells where the first record is, in case that it remains the only one. */
static gf_status keep_only(gf_stored_rows *r, const gf_record *record, gf_slice collection,
                           gf_error *err)
{
    if (r->each || r->intake->read != 1) return GF_OK;
    gf_buffer_string(&r->only, record->document.id);
    gf_buffer_string(&r->only, collection);
    return gf_buffer_check(&r->only, err);
}

gf_status gf_stored_rows_keep(gf_stored_rows *r, const gf_record *record, gf_slice collection,
                              gf_error *err)
{
    gf_status st = keep_only(r, record, collection, err);
    if (st != GF_OK) return st;
    if (r->places || r->near > 0) return keep_stored(r, record, collection, err);
    return r->each ? keep_row(r, record, "stored", NULL, NULL, err) : GF_OK;
}

gf_status gf_stored_rows_keep_other(gf_stored_rows *r, const gf_record *record, const char *result,
                                    const char *reason, const char *message, gf_error *err)
{
    return r->each ? keep_row(r, record, result, reason, message, err) : GF_OK;
}

bool gf_stored_rows_are_many(const gf_stored_rows *r)
{
    return r->n_results >= (r->near > 0 ? MOST_NEAR : MOST_RESULTS);
}

/* ---- the cluster that it joins --------------------------------------------------------------- */

/* The served build of default that documents of a collection join; NULL: there is none yet. */
typedef struct joined {
    gf_slice collection;
    gf_view *view;
} joined;

static gf_status open_joined(const gf_stored_rows *r, gf_slice collection, joined *j, gf_error *err)
{
    gf_store *store;
    gf_error why = {GF_OK, ""};
    if (j->collection.ptr && gf_slice_equal(j->collection, collection)) return GF_OK;
    gf_view_close(j->view);
    *j = (joined){.collection = collection};
    gf_status st = gf_call_store(r->call, &store, &why);
    if (st == GF_OK)
        st = gf_view_open_warm(store, (gf_place){r->call->name_space, collection},
                               GF_SLICE("default"), 0, &j->view, &why);
    if (st == GF_OK || st == GF_ENOTFOUND) return GF_OK;
    if (err) *err = why;
    return st;
}

/* The place of the document, or where it would be, and how many are there; nothing where the build leaves it out. */
static gf_status put_joined(gf_json_writer *w, const joined *j, gf_slice id, gf_error *err)
{
    gf_membership m;
    gf_error why = {GF_OK, ""};
    gf_status st = j->view ? gf_view_current_membership(j->view, id, &m, &why) : GF_ENOTFOUND;
    if (st == GF_ENOTFOUND || st == GF_ECONFLICT) return GF_OK;
    if (st != GF_OK) {
        if (err) *err = why;
        return st;
    }
    gf_row_put_membership(w, &m);
    if (m.cluster) gf_json_put_uint(w, "size", gf_view_cluster_size(j->view, m.cluster));
    gf_row_put_state(w, m.state);
    return GF_OK;
}

/* ---- what is near to it ---------------------------------------------------------------------- */

/* A stored record, as keep_stored keeps it behind an empty string. */
static void take_stored(gf_slice *rest, uint64_t *line, gf_slice *id, gf_slice *collection)
{
    bool whole = gf_slice_take_u64be(rest, line) && gf_slice_take_string(rest, id) &&
                 gf_slice_take_string(rest, collection);
    assert(whole);
    (void)whole;
}

typedef struct finding_near {
    gf_stored_rows *rows;
    gf_nearest_stored *of; /* of the documents, each once */
} finding_near;

static gf_status note_near(void *context, size_t number, gf_slice id, double cosine, gf_error *err)
{
    const finding_near *f = context;
    f->of[number] = (gf_nearest_stored){gf_arena_copy(&f->rows->near_memory, id), cosine};
    return f->of[number].id.ptr ? GF_OK : gf_fail_memory(err, "near-duplicates");
}

/* The documents are stored whatever comes of this: why nothing can be told is a notice, once. */
static gf_status tell_no_near(gf_stored_rows *r, gf_status st, const gf_error *why, gf_error *err)
{
    if (st == GF_ENOMEM || st == GF_ECANCELLED) {
        if (err) *err = *why;
        return st;
    }
    gf_notice n = {.reason = "no_near",
                   .source = gf_call_text(r->call, "collection"),
                   .message = why->message};
    if (!r->near_failed) gf_call_notify(r->call, &n);
    r->near_failed = true;
    return GF_OK;
}

/* Look for what is near to the kept records, all of which are of one collection. */
static gf_status find_near(gf_stored_rows *r, gf_error *err)
{
    gf_slice rest = gf_buffer_view(&r->results), row, collection = {NULL, 0};
    gf_arena_reset(&r->near_memory);
    gf_strings ids = {0};
    gf_store *store;
    gf_error why = {GF_OK, ""};
    size_t n = 0;
    finding_near f = {.rows = r, .of = gf_calloc(r->n_results + 1, sizeof *f.of)};
    uint32_t *number = gf_array(r->n_results + 1, sizeof *number);
    gf_slice *list = gf_array(r->n_results + 1, sizeof *list);
    r->at_near = gf_calloc(r->n_results + 1, sizeof *r->at_near);
    bool ok = f.of && number && list && r->at_near;
    gf_status st = ok ? GF_OK : gf_fail_memory(&why, "near-duplicates");
    for (; st == GF_OK && gf_slice_take_string(&rest, &row); n++) {
        gf_slice id;
        uint64_t line;
        number[n] = UINT32_MAX;
        if (row.len) continue;
        take_stored(&rest, &line, &id, &collection);
        st = gf_strings_add(&ids, id, &number[n], NULL, &why);
    }
    for (uint32_t i = 0; st == GF_OK && i < ids.n; i++)
        list[i] = gf_strings_at(&ids, i);
    gf_nearest_earlier_options o =
        GF_NEAREST_EARLIER_OPTIONS(.ids = list, .n = ids.n, .least = r->near,
                                   .cancel = r->call->cancel);
    if (st == GF_OK && ids.n) st = gf_call_store(r->call, &store, &why);
    if (st == GF_OK && ids.n)
        st = gf_nearest_earlier(store, (gf_place){r->call->name_space, collection}, &o, note_near,
                                &f, &why);
    for (size_t i = 0; st == GF_OK && i < n; i++)
        if (number[i] != UINT32_MAX) r->at_near[i] = f.of[number[i]];
    for (uint32_t i = 0; st == GF_OK && i < ids.n; i++)
        r->n_near += f.of[i].id.ptr != NULL;
    gf_strings_release(&ids);
    gf_free(f.of);
    gf_free(number);
    gf_free(list);
    return st == GF_OK ? GF_OK : tell_no_near(r, st, &why, err);
}

static void put_near(gf_json_writer *w, const gf_nearest_stored *near)
{
    if (!near || !near->id.ptr) return;
    gf_json_put_string(w, "near", near->id);
    gf_json_put_double(w, "near_score", near->cosine);
}

static gf_status emit_stored(gf_stored_rows *r, gf_slice *rest, joined *j,
                             const gf_nearest_stored *near, gf_error *err)
{
    gf_slice id, collection;
    uint64_t line = 0;
    take_stored(rest, &line, &id, &collection);
    if (!r->each) return GF_OK;
    gf_status st = r->places ? open_joined(r, collection, j, err) : GF_OK;
    if (st != GF_OK) return st;
    gf_buffer bytes = {0};
    gf_json_writer w = gf_json_writer_to(&bytes);
    begin_result(&w, line, id, "stored");
    if (r->places) st = put_joined(&w, j, id, err);
    put_near(&w, near);
    gf_json_end(&w, '}');
    if (st == GF_OK) st = gf_buffer_check(&bytes, err);
    if (st == GF_OK) st = gf_call_emit(r->call, gf_buffer_view(&bytes), err);
    gf_buffer_release(&bytes);
    return st;
}

gf_status gf_stored_rows_put_only(const gf_stored_rows *r, gf_json_writer *w, gf_error *err)
{
    gf_slice rest = gf_buffer_view(&r->only), id, collection;
    joined j = {{NULL, 0}, NULL};
    gf_error why = {GF_OK, ""};
    if (r->intake->read != 1 || !gf_slice_take_string(&rest, &id) ||
        !gf_slice_take_string(&rest, &collection))
        return GF_OK;
    gf_status st = open_joined(r, collection, &j, &why);
    if (st == GF_OK && j.view) {
        gf_json_put_string(w, "id", id);
        st = put_joined(w, &j, id, &why);
    }
    if (st == GF_OK) put_near(w, &r->only_near);
    gf_view_close(j.view);
    if (st == GF_OK) return GF_OK;
    if (st == GF_ENOMEM) {
        if (err) *err = why;
        return st;
    }
    gf_notice n = {.reason = "no_place", .source = collection, .message = why.message};
    gf_call_notify(r->call, &n);
    return GF_OK;
}

gf_status gf_stored_rows_emit(gf_stored_rows *r, gf_error *err)
{
    gf_slice rest = gf_buffer_view(&r->results), row;
    joined j = {{NULL, 0}, NULL};
    gf_status st = r->near > 0 && r->n_results ? find_near(r, err) : GF_OK;
    for (size_t i = 0; st == GF_OK && gf_slice_take_string(&rest, &row); i++)
        st = row.len ? gf_call_emit(r->call, row, err)
                     : emit_stored(r, &rest, &j, r->at_near ? &r->at_near[i] : NULL, err);
    if (r->at_near && r->intake->read == 1) r->only_near = r->at_near[0];
    gf_view_close(j.view);
    gf_buffer_reset(&r->results);
    gf_free(r->at_near);
    r->at_near = NULL;
    r->n_results = 0;
    return st;
}

void gf_stored_rows_release(gf_stored_rows *r)
{
    gf_buffer_release(&r->results);
    gf_buffer_release(&r->only);
    gf_free(r->at_near);
    gf_arena_release(&r->near_memory);
}
