/*
 * put: records of any format become documents of one or several collections. The store is opened
 * for the first document: where there is nothing to put, none is made.
 */
#include "engine/put/put.h"
#include "api/app.h"
#include "api/documents/internal.h"
#include "api/documents/schema.h"
#include "api/intake.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/strings.h"
#include "engine/view/view.h"
#include "formats/pattern.h"
#include "formats/reader.h"
#include "grouperfish/search.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

/* Records that wait for a flush; and where what is near to them is looked for, for all of them at once. */
enum { MOST_RESULTS = 500, MOST_NEAR = 100000 };

/* A slow input is flushed after so many milliseconds of silence, and so many at most. */
enum { QUIET_MS = 500, LATE_MS = 1000 };

/* The nearest document to a stored one; id.ptr NULL: there is none. */
typedef struct nearest {
    gf_slice id;
    double cosine;
} nearest;

typedef struct putting {
    gf_call *call;
    gf_put *put;
    gf_reader *reader;
    const gf_app *source;  /* whose records are put; NULL: those of the input */
    gf_pattern **patterns; /* n_patterns: the collection, then those of also */
    size_t n_patterns;
    gf_buffer name;
    gf_strings names; /* expanded names of the record at hand */
    gf_intake intake;
    uint64_t replaced, hashed, bad_times;
    gf_buffer place; /* how far the source was read, which is not kept yet: has_place */
    bool has_place;
    int64_t kept_at;   /* milliseconds: when a place was kept, or the put began */
    bool each;         /* a row for each record is wanted */
    bool places;       /* with the cluster that it joins, where it was stored */
    double near;       /* with what was there already and is so near to it; 0: that is not wanted */
    uint64_t n_near;   /* documents that are near to another */
    nearest only_near; /* of the only record */
    nearest *at_near;  /* of the kept records: what each is near to; only while they are emitted */
    gf_arena near_memory;
    bool near_failed; /* which was told */
    gf_buffer only;   /* without `each`: id and collection of the first record, if it was stored */
    gf_buffer
        results; /* n_results that wait for the next flush: of each its row, or, where that is to have a
                          place or what is near, nothing, then line, id and collection; lengths and bytes */
    size_t n_results;
    gf_input input;  /* the call's, which is checked for silence */
    gf_call reading; /* the call, with the input that is checked */
    int64_t since;   /* milliseconds: arrival of the first record that is not flushed; 0: none */
} putting;

/* ---- a row for each record ------------------------------------------------------------------- */

static void begin_result(gf_json_writer *w, uint64_t line, gf_slice id, const char *result)
{
    gf_json_begin(w, '{');
    if (line) gf_json_put_uint(w, "line", line);
    if (id.ptr) gf_json_put_string(w, "id", id);
    gf_json_put_str(w, "result", result);
}

/* Keep what the row with a place is made of, until everything before it is on disk. */
static gf_status keep_stored(putting *p, const gf_record *record, gf_error *err)
{
    gf_buffer_string(&p->results, (gf_slice){"", 0});
    gf_buffer_u64be(&p->results, record->line);
    gf_buffer_string(&p->results, record->document.id);
    gf_buffer_string(&p->results, gf_strings_at(&p->names, 0));
    p->n_results++;
    return gf_buffer_check(&p->results, err);
}

/* Keep the record's row until everything before it is on disk. */
static gf_status keep_result(putting *p, const gf_record *record, const char *result,
                             const char *reason, const char *message, gf_error *err)
{
    gf_buffer row = {0};
    if (!p->each && (p->near == 0 || reason)) return GF_OK;
    if ((p->places || p->near > 0) && !reason) return keep_stored(p, record, err);
    gf_json_writer w = gf_json_writer_to(&row);
    begin_result(&w, record->line, reason ? (gf_slice){NULL, 0} : record->document.id, result);
    if (reason) gf_json_put_str(&w, "reason", reason);
    if (message) gf_json_put_str(&w, "message", message);
    gf_json_end(&w, '}');
    gf_buffer_string(&p->results, gf_buffer_view(&row));
    gf_status st = gf_buffer_check(&row, err);
    gf_buffer_release(&row);
    p->n_results++;
    return st == GF_OK ? gf_buffer_check(&p->results, err) : st;
}

/* The served build of default that documents of a collection join; NULL: there is none yet. */
typedef struct joined {
    gf_slice collection;
    gf_view *view;
} joined;

static gf_status open_joined(const putting *p, gf_slice collection, joined *j, gf_error *err)
{
    gf_store *store;
    gf_error why = {GF_OK, ""};
    if (j->collection.ptr && gf_slice_equal(j->collection, collection)) return GF_OK;
    gf_view_close(j->view);
    *j = (joined){.collection = collection};
    gf_status st = gf_call_store(p->call, &store, &why);
    if (st == GF_OK)
        st = gf_view_open_warm(store, (gf_place){p->call->name_space, collection},
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
    putting *p;
    nearest *of; /* of the documents, each once */
} finding_near;

static gf_status note_near(void *context, size_t number, gf_slice id, double cosine, gf_error *err)
{
    const finding_near *f = context;
    f->of[number] = (nearest){gf_arena_copy(&f->p->near_memory, id), cosine};
    return f->of[number].id.ptr ? GF_OK : gf_fail_memory(err, "near-duplicates");
}

/* The documents are stored whatever comes of this: why nothing can be told is a notice, once. */
static gf_status tell_no_near(putting *p, gf_status st, const gf_error *why, gf_error *err)
{
    if (st == GF_ENOMEM || st == GF_ECANCELLED) {
        if (err) *err = *why;
        return st;
    }
    gf_notice n = {.reason = "no_near",
                   .source = gf_call_text(p->call, "collection"),
                   .message = why->message};
    if (!p->near_failed) gf_call_notify(p->call, &n);
    p->near_failed = true;
    return GF_OK;
}

/* Look for what is near to the kept records, all of which are of one collection. */
static gf_status find_near(putting *p, gf_error *err)
{
    gf_slice rest = gf_buffer_view(&p->results), row, collection = {NULL, 0};
    gf_arena_reset(&p->near_memory);
    gf_strings ids = {0};
    gf_store *store;
    gf_error why = {GF_OK, ""};
    size_t n = 0;
    finding_near f = {.p = p, .of = gf_calloc(p->n_results + 1, sizeof *f.of)};
    uint32_t *number = gf_array(p->n_results + 1, sizeof *number);
    gf_slice *list = gf_array(p->n_results + 1, sizeof *list);
    p->at_near = gf_calloc(p->n_results + 1, sizeof *p->at_near);
    bool ok = f.of && number && list && p->at_near;
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
        GF_NEAREST_EARLIER_OPTIONS(.ids = list, .n = ids.n, .least = p->near,
                                   .cancel = p->call->cancel);
    if (st == GF_OK && ids.n) st = gf_call_store(p->call, &store, &why);
    if (st == GF_OK && ids.n)
        st = gf_nearest_earlier(store, (gf_place){p->call->name_space, collection}, &o, note_near,
                                &f, &why);
    for (size_t i = 0; st == GF_OK && i < n; i++)
        if (number[i] != UINT32_MAX) p->at_near[i] = f.of[number[i]];
    for (uint32_t i = 0; st == GF_OK && i < ids.n; i++)
        p->n_near += f.of[i].id.ptr != NULL;
    gf_strings_release(&ids);
    gf_free(f.of);
    gf_free(number);
    gf_free(list);
    return st == GF_OK ? GF_OK : tell_no_near(p, st, &why, err);
}

static void put_near(gf_json_writer *w, const nearest *near)
{
    if (!near || !near->id.ptr) return;
    gf_json_put_string(w, "near", near->id);
    gf_json_put_double(w, "near_score", near->cosine);
}

static gf_status emit_stored(putting *p, gf_slice *rest, joined *j, const nearest *near,
                             gf_error *err)
{
    gf_slice id, collection;
    uint64_t line = 0;
    take_stored(rest, &line, &id, &collection);
    if (!p->each) return GF_OK;
    gf_status st = p->places ? open_joined(p, collection, j, err) : GF_OK;
    if (st != GF_OK) return st;
    gf_buffer bytes = {0};
    gf_json_writer w = gf_json_writer_to(&bytes);
    begin_result(&w, line, id, "stored");
    if (p->places) st = put_joined(&w, j, id, err);
    put_near(&w, near);
    gf_json_end(&w, '}');
    if (st == GF_OK) st = gf_buffer_check(&bytes, err);
    if (st == GF_OK) st = gf_call_emit(p->call, gf_buffer_view(&bytes), err);
    gf_buffer_release(&bytes);
    return st;
}

/* Keep what tells where the first record is, in case that it remains the only one. */
static gf_status keep_only(putting *p, const gf_record *record, gf_error *err)
{
    if (p->each || p->intake.read != 1) return GF_OK;
    gf_buffer_string(&p->only, record->document.id);
    gf_buffer_string(&p->only, gf_strings_at(&p->names, 0));
    return gf_buffer_check(&p->only, err);
}

/*
 * The place of the only record that there was, which is stored whatever comes of this: a build that cannot be
 * read is told of in a notice.
 */
static gf_status put_only(const putting *p, gf_json_writer *w, gf_error *err)
{
    gf_slice rest = gf_buffer_view(&p->only), id, collection;
    joined j = {{NULL, 0}, NULL};
    gf_error why = {GF_OK, ""};
    if (p->intake.read != 1 || !gf_slice_take_string(&rest, &id) ||
        !gf_slice_take_string(&rest, &collection))
        return GF_OK;
    gf_status st = open_joined(p, collection, &j, &why);
    if (st == GF_OK && j.view) {
        gf_json_put_string(w, "id", id);
        st = put_joined(w, &j, id, &why);
    }
    if (st == GF_OK) put_near(w, &p->only_near);
    gf_view_close(j.view);
    if (st == GF_OK) return GF_OK;
    if (st == GF_ENOMEM) {
        if (err) *err = why;
        return st;
    }
    gf_notice n = {.reason = "no_place", .source = collection, .message = why.message};
    gf_call_notify(p->call, &n);
    return GF_OK;
}

/* Emit the kept rows; no document waits in the put. */
static gf_status emit_results(putting *p, gf_error *err)
{
    gf_slice rest = gf_buffer_view(&p->results), row;
    joined j = {{NULL, 0}, NULL};
    gf_status st = p->near > 0 && p->n_results ? find_near(p, err) : GF_OK;
    for (size_t i = 0; st == GF_OK && gf_slice_take_string(&rest, &row); i++)
        st = row.len ? gf_call_emit(p->call, row, err)
                     : emit_stored(p, &rest, &j, p->at_near ? &p->at_near[i] : NULL, err);
    if (p->at_near && p->intake.read == 1) p->only_near = p->at_near[0];
    gf_view_close(j.view);
    gf_buffer_reset(&p->results);
    gf_free(p->at_near);
    p->at_near = NULL;
    p->n_results = 0;
    return st;
}

static gf_status flush_results(putting *p, gf_error *err)
{
    if (p->n_results < (p->near > 0 ? MOST_NEAR : MOST_RESULTS)) return GF_OK;
    gf_status st = p->put ? gf_put_flush(p->put, err) : GF_OK;
    return st == GF_OK ? emit_results(p, err) : st;
}

/* ---- silence --------------------------------------------------------------------------------- */

static gf_status flush_now(putting *p, gf_error *err)
{
    gf_status st = p->put ? gf_put_flush(p->put, err) : GF_OK;
    p->since = 0;
    return st == GF_OK ? emit_results(p, err) : st;
}

/* A put is fast because nothing is flushed while there is more to read. */
static bool is_quiet(const putting *p)
{
    if (p->since == 0 || !p->input.waits) return false;
    int64_t left = p->since + LATE_MS - gf_clock_ms();
    unsigned ms = left <= 0 ? 0 : left < QUIET_MS ? (unsigned)left : QUIET_MS;
    return p->input.waits(p->input.context, ms);
}

static gf_status next_stream(void *context, gf_slice *name, gf_error *err)
{
    putting *p = context;
    return p->input.next(p->input.context, name, err);
}

static gf_status read_stream(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    putting *p = context;
    if (is_quiet(p)) {
        gf_status st = flush_now(p, err);
        if (st != GF_OK) return st;
    }
    return p->input.read(p->input.context, to, n, got, err);
}

static bool is_in_folder(void *context)
{
    putting *p = context;
    return p->input.in_folder && p->input.in_folder(p->input.context);
}

static bool has_gone(void *context)
{
    putting *p = context;
    return p->input.gone && p->input.gone(p->input.context);
}

/* ---- one record ------------------------------------------------------------------------------ */

/* Names are checked first: a record is put into all its collections or into none. */
static gf_status check_name(gf_slice name, gf_error *err)
{
    if (name.len == 0) return gf_fail(err, GF_EINVAL, "its collection would have no name");
    if (name.len <= GF_MAX_NAME) return GF_OK;
    return gf_fail(err, GF_EINVAL, "its collection's name would have %zu bytes, more than %d",
                   name.len, GF_MAX_NAME);
}

/* Nearly always all records go to one collection, which the set has already. */
static bool is_name_before(const putting *p)
{
    return p->n_patterns == 1 && p->names.n == 1 &&
           gf_slice_equal(gf_strings_at(&p->names, 0), gf_buffer_view(&p->name));
}

/* The collections that a record goes to; each counts once, however many patterns give it. */
static gf_status expand_names(putting *p, const gf_document *document, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < p->n_patterns && st == GF_OK; i++) {
        uint32_t id;
        gf_buffer_reset(&p->name);
        st = gf_pattern_expand(p->patterns[i], document, &p->name, err);
        if (st == GF_OK && is_name_before(p)) return GF_OK;
        if (st == GF_OK) st = check_name(gf_buffer_view(&p->name), err);
        if (i == 0) gf_strings_release(&p->names);
        if (st == GF_OK) st = gf_strings_add(&p->names, gf_buffer_view(&p->name), &id, NULL, err);
    }
    return st;
}

static gf_status open_put(putting *p, gf_error *err)
{
    gf_store *store;
    const gf_call *call = p->call;
    gf_put_options o =
        GF_PUT_OPTIONS(.name_space = call->name_space,
                       .max_document = gf_call_number(call, "max-document", 0),
                       .max_collections = (uint32_t)gf_call_number(call, "max-collections", 0));
    gf_status st = gf_call_open_store(call, true, &store, err);
    return st == GF_OK ? gf_put_open(store, &o, &p->put, err) : st;
}

static gf_status put_document(void *context, const gf_record *record, gf_error *err)
{
    putting *p = context;
    gf_error why = {GF_OK, ""};
    if (p->since == 0) p->since = gf_clock_ms();
    gf_status st = p->put ? GF_OK : open_put(p, err);
    if (st != GF_OK) return st;
    st = expand_names(p, &record->document, &why);
    for (uint32_t i = 0; i < p->names.n && st == GF_OK; i++) {
        gf_slice name = gf_strings_at(&p->names, i);
        /* A reader's documents keep its promises; those made of tweets are checked. */
        st = p->reader ? gf_put_checked_document(p->put, name, &record->document, &why)
                       : gf_put_document(p->put, name, &record->document, &why);
    }
    if (st == GF_OK) {
        p->replaced += record->replaced;
        p->hashed += record->hashed_id;
        p->bad_times += record->bad_time;
        st = keep_only(p, record, err);
        return st == GF_OK ? keep_result(p, record, "stored", NULL, NULL, err) : st;
    }
    /* A fault of the record is refused; too many collections or a failing store end the put. */
    bool own = st == GF_ENOTFOUND || st == GF_EINVAL || st == GF_ELIMIT;
    if (!own || !gf_put_is_good(p->put)) {
        if (err) *err = why;
        return st;
    }
    const char *reason = st == GF_ELIMIT      ? "too_long"
                         : st == GF_ENOTFOUND ? "no_field"
                                              : "bad_name";
    return gf_intake_refuse(&p->intake, record, reason, why.message, err);
}

/* ---- the place of a source ------------------------------------------------------------------- */

/* Everything before it is on disk. Where no document made the collection, it is kept nowhere. */
static gf_status keep_place(putting *p, gf_error *err)
{
    gf_store *store;
    gf_error why = {GF_OK, ""};
    if (!p->has_place) return GF_OK;
    gf_status st = gf_call_open_store(p->call, false, &store, &why);
    if (st == GF_OK)
        st = gf_put_place_write(store, gf_call_place(p->call), gf_call_text(p->call, "source"),
                                gf_buffer_view(&p->place), &why);
    p->has_place = false;
    p->kept_at = gf_clock_ms();
    if (st == GF_OK || st == GF_ENOTFOUND) return GF_OK;
    if (err) *err = why;
    return st;
}

/* Each is kept a second after the one before, and the last at the end. */
static gf_status take_place(putting *p, gf_slice place, gf_error *err)
{
    gf_buffer_reset(&p->place);
    gf_buffer_slice(&p->place, place);
    gf_status st = gf_buffer_check(&p->place, err);
    if (st != GF_OK) return st;
    p->has_place = true;
    if (gf_clock_ms() - p->kept_at < LATE_MS) return GF_OK;
    st = flush_now(p, err);
    return st == GF_OK ? keep_place(p, err) : st;
}

/* Report skipped or altered input; report once what concerns all records. */
static void remark(const putting *p, const char *reason, gf_slice source, const char *message)
{
    gf_notice n = {.reason = reason, .source = source, .message = message};
    gf_call_notify(p->call, &n);
}

static gf_status note_record(void *context, const gf_record *record, const char *reason,
                             const char *message, gf_error *err)
{
    putting *p = context;
    bool is_skipped = record->kind == GF_RECORD_SKIPPED;
    if (p->since == 0) p->since = gf_clock_ms();
    if (is_skipped && strcmp(reason, "empty_file") == 0)
        remark(p, reason, record->source, record->message);
    return keep_result(p, record, is_skipped ? "skipped" : "refused", reason, message, err);
}

static gf_status next_record(void *context, gf_record *record, gf_error *err)
{
    putting *p = context;
    gf_status st = flush_results(p, err);
    if (st == GF_OK) st = gf_reader_next(p->reader, record, err);
    while (st == GF_OK && record->kind == GF_RECORD_PLACE) {
        st = take_place(p, record->raw, err);
        if (st == GF_OK) st = gf_reader_next(p->reader, record, err);
    }
    return st;
}

/* ---- records of an application -------------------------------------------------------------- */

static gf_status visit_record(void *context, const gf_record *record, gf_error *err)
{
    putting *p = context;
    gf_status st = flush_results(p, err);
    return st == GF_OK ? gf_intake_record(&p->intake, record, err) : st;
}

static gf_status visit_source(void *context, gf_error *err)
{
    putting *p = context;
    return p->source->records(p->call, visit_record, p, err);
}

/* ---- the end --------------------------------------------------------------------------------- */

static gf_status flush_put(void *context, gf_status ended, gf_error *err)
{
    putting *p = context;
    (void)ended;
    if (p->put && !gf_put_is_good(p->put)) return GF_OK;
    gf_status st = p->put ? gf_put_flush(p->put, err) : GF_OK;
    return st == GF_OK ? keep_place(p, err) : st;
}

static void remark_on_all(const putting *p)
{
    char message[256];
    gf_slice id = gf_call_text_or(p->call, "id", "id");
    if (id.len > 99) id.len = 99;
    if (p->hashed) {
        snprintf(message, sizeof message,
                 "no field \"%.*s\" in %" PRIu64 " of %" PRIu64 " records: their hash is their id",
                 GF_SLICE_ARG(id), p->hashed, p->intake.read);
        remark(p, "hashed_ids", (gf_slice){"", 0}, message);
    }
    if (p->bad_times) {
        gf_slice time = gf_call_text_or(p->call, "time", "time");
        if (time.len > 99) time.len = 99;
        snprintf(message, sizeof message,
                 "field \"%.*s\" of %" PRIu64 " of %" PRIu64
                 " records is not a time: they have none, and it stays an ordinary field",
                 GF_SLICE_ARG(time), p->bad_times, p->intake.read);
        remark(p, "bad_times", (gf_slice){"", 0}, message);
    }
    if (p->replaced) {
        snprintf(message, sizeof message,
                 "bytes that are no UTF-8 became U+FFFD, %" PRIu64 " times", p->replaced);
        remark(p, "invalid_utf8", (gf_slice){"", 0}, message);
    }
}

static gf_status emit_summary(void *context, gf_status ended, gf_error *err)
{
    putting *p = context;
    if (ended == GF_OK) remark_on_all(p);
    if (ended != GF_OK && !p->put) return GF_OK;
    gf_status emitted = (p->each || p->near > 0) && (!p->put || gf_put_is_good(p->put))
                            ? emit_results(p, err)
                            : GF_OK;
    if (p->each || emitted != GF_OK) return emitted;
    gf_put_counts c = p->put ? gf_put_counted(p->put) : (gf_put_counts){0};
    gf_row_writer row = {.call = p->call};
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_str(w, "store", p->call->holder.path);
    gf_json_put_string(w, "collection", gf_call_text(p->call, "collection"));
    gf_intake_put_counts(&p->intake, w, c.created, c.changed, "unchanged", c.unchanged);
    gf_json_put_uint(w, "converted", p->reading.converted);
    gf_json_put_uint(w, "invalid_utf8", p->replaced);
    gf_json_put_uint(w, "hashed_ids", p->hashed);
    gf_json_put_uint(w, "bad_times", p->bad_times);
    gf_json_put_uint(w, "collections_made", c.collections);
    if (p->near > 0) gf_json_put_uint(w, "near_duplicates", p->n_near);
    gf_status st = ended == GF_OK ? put_only(p, w, err) : GF_OK;
    gf_status told = gf_row_writer_emit_only(&row, st == GF_OK ? err : NULL);
    return st == GF_OK ? told : st;
}

/* ---- the call -------------------------------------------------------------------------------- */

static gf_status make_patterns(putting *p, gf_error *err)
{
    size_t also = gf_call_count(p->call, "also");
    p->patterns = gf_calloc(also + 1, sizeof(gf_pattern *));
    if (!p->patterns) return gf_fail_memory(err, "patterns");
    p->n_patterns = also + 1;
    gf_status st = gf_pattern_create(gf_call_text(p->call, "collection"), &p->patterns[0], err);
    for (size_t i = 0; i < also && st == GF_OK; i++)
        st = gf_pattern_create(gf_call_nth(p->call, "also", i), &p->patterns[i + 1], err);
    return st;
}

/* An application's records stand in for an input. */
static gf_status choose_source(putting *p, gf_error *err)
{
    gf_slice from = gf_call_text(p->call, "from");
    gf_format format;
    p->source = gf_app_find(from);
    if (p->source && !p->source->records) p->source = NULL;
    if (gf_slice_equal(from, GF_SLICE("postgres")) || gf_slice_equal(from, GF_SLICE("url")))
        return gf_fail(err, GF_EINVAL,
                       "from: the command grouperfish put reads %.*s and sends its records: no "
                       "server asks other hosts for somebody",
                       GF_SLICE_ARG(from));
    if (!p->source && from.len && !gf_format_named(from, &format))
        return gf_fail(err, GF_EINVAL, "from: this program was built without %.*s",
                       GF_SLICE_ARG(from));
    if (!p->source && !p->call->input.next) return gf_fail(err, GF_EINVAL, "put needs an input");
    if (gf_call_has(p->call, "where") && !(p->source && p->source->filters))
        return gf_fail(err, GF_EINVAL, "where: only with --from tweets");
    return GF_OK;
}

static gf_status check_source(const putting *p, gf_error *err)
{
    gf_slice collection = gf_call_text(p->call, "collection");
    if (!gf_call_has(p->call, "source")) return GF_OK;
    if (p->source) return gf_fail(err, GF_EINVAL, "source: not with what the store has");
    if (!memchr(collection.ptr, '{', collection.len)) return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "source: its place is kept with one collection, and \"%.*s\" is a pattern",
                   GF_SLICE_ARG(collection));
}

/* Near-duplicates are looked for in one collection. */
static gf_status check_near(const putting *p, gf_error *err)
{
    gf_slice collection = gf_call_text(p->call, "collection");
    if (!gf_call_has(p->call, "near")) return GF_OK;
    if (!(p->near > 0))
        return gf_fail(err, GF_EINVAL, "near: a similarity above 0 and at most 1, such as 0.8");
    if (!memchr(collection.ptr, '{', collection.len) && !gf_call_has(p->call, "also")) return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "near: what is near is looked for in one collection, and "
                   "patterns and also name several");
}

static gf_status open_reader(putting *p, gf_error *err)
{
    gf_status st = choose_source(p, err);
    if (st == GF_OK) st = check_source(p, err);
    if (st == GF_OK) st = check_near(p, err);
    if (st == GF_OK) st = make_patterns(p, err);
    if (st != GF_OK || p->source) return st;
    p->input = p->call->input;
    p->reading = *p->call;
    p->reading.input = (gf_input){.context = p,
                                  .next = next_stream,
                                  .read = read_stream,
                                  .in_folder = is_in_folder,
                                  .gone = has_gone,
                                  .bounds = p->input.bounds};
    return gf_records_reader(&p->reading, true, &p->reader, err);
}

static gf_status run_put(gf_call *call, gf_error *err)
{
    putting p = {.call = call, .kept_at = gf_clock_ms(), .each = gf_call_has(call, "results")};
    p.near = gf_call_share(call, "near", 0);
    p.places = gf_slice_equal(gf_call_text(call, "results"), GF_SLICE("places"));
    p.intake = (gf_intake){.call = call,
                           .context = &p,
                           .next = next_record,
                           .take = put_document,
                           .note = note_record,
                           .flush = flush_put,
                           .summary = emit_summary};
    gf_status st = open_reader(&p, err);
    if (p.source) p.intake.visit = visit_source;
    if (st == GF_OK) st = gf_intake_run(&p.intake, err);
    gf_put_counts counts = p.put ? gf_put_counted(p.put) : (gf_put_counts){0};
    call->taken = counts.created + counts.changed + counts.unchanged;
    gf_put_close(p.put);
    gf_reader_close(p.reader);
    for (size_t i = 0; i < p.n_patterns; i++)
        gf_pattern_free(p.patterns[i]);
    gf_free(p.patterns);
    gf_buffer_release(&p.name);
    gf_buffer_release(&p.place);
    gf_buffer_release(&p.results);
    gf_buffer_release(&p.only);
    gf_free(p.at_near);
    gf_arena_release(&p.near_memory);
    gf_strings_release(&p.names);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter put_parameters[] = {
    P_COLLECTION,
    P_TEXT("id", "FIELD", "field that is the id (id)"),
    P_LIST("text", "FIELD[,FIELD...]", "field or fields that are the text (text)"),
    P_TEXT("time", "FIELD", "field that is the time (time)"),
    P_CHOICE("dates", "month-first|day-first|mdy|dmy", "what 3/4/2015 means; else it is refused"),
    P_CHOICE("bad-times", "refuse|drop",
             "a record whose time cannot be read (refuse with --time, else drop the time)"),
    P_TEXT("lang", "FIELD", "field that is the language (lang)"),
    P_LIST("fields", "FIELD,...|all", "other fields to keep (all)"),
    P_CHOICE("from", GF_FORMAT_NAMES "|papers|tweets|postgres|url",
             "format, where the name does not tell it; or what the store has"),
    P_ENCODING,
    P_SHEET,
    P_SEVERAL("where", false, "F=V",
              "from tweets: those of which this holds; also !=, <, <=, >, >="),
    P_TEXT("table", "VERSION-ENV", "from papers: their table (0-prod)"),
    P_TEXT("group", "GROUP", "from papers: the group whose texts (grobid0)"),
    P_SEVERAL("also", false, "PATTERN",
              "a further collection for each record, such as '{type}-{product}'"),
    {"max-document", GF_PARAMETER_BYTES, false, "SIZE", "refuse larger documents (16M)", 1,
     GF_LARGEST_MAX_DOCUMENT},
    P_TEXT("source", "NAME", "keep how far it was read: lines {\"$place\": \"...\"} say so"),
    P_UNPACKED,
    P_NUMBER("max-collections", 1, UINT32_MAX, "make at most so many collections (100000)"),
    P_CHOICE("results", "each|places",
             "instead a row for each record, once it is stored; places: and the cluster it joins"),
    {"near", GF_PARAMETER_SHARE, false, "S",
     "tell which documents are so similar to one that was there (such as 0.8)", 0, 0}};

const gf_operation gf_put_operation = {
    .name = "put",
    .method = "POST",
    .path = "/collections/{collection}/documents",
    .meaning = "Put documents into a collection",
    GF_PARAMETERS(put_parameters),
    .members = gf_schema_put,
    .run = run_put,
    .input = GF_INPUT_OPTIONAL,
    .single = true,
    .makes = true,
    .resumes = true,
    .tells_refused = true,
};
