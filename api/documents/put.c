/*
 * put: records of any format become documents of one or several collections. The store is opened
 * for the first document: where there is nothing to put, none is made.
 */
#include "engine/put/put.h"
#include "api/app.h"
#include "api/documents/internal.h"
#include "api/documents/schema.h"
#include "api/documents/stored_rows.h"
#include "api/intake.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/strings.h"
#include "formats/pattern.h"
#include "formats/reader.h"

#include <inttypes.h>
#include <stdio.h>

/* A slow input is flushed after so many milliseconds of silence, and so many at most. */
enum { QUIET_MS = 500, LATE_MS = 1000 };

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
    int64_t kept_at; /* milliseconds: when a place was kept, or the put began */
    gf_stored_rows rows;
    gf_input input;  /* the call's, which is checked for silence */
    gf_call reading; /* the call, with the input that is checked */
    int64_t since;   /* milliseconds: arrival of the first record that is not flushed; 0: none */
} putting;

static gf_status flush_now(putting *p, gf_error *err)
{
    gf_status st = p->put ? gf_put_flush(p->put, err) : GF_OK;
    p->since = 0;
    return st == GF_OK ? gf_stored_rows_emit(&p->rows, err) : st;
}

static gf_status flush_results(putting *p, gf_error *err)
{
    if (!gf_stored_rows_are_many(&p->rows)) return GF_OK;
    gf_status st = p->put ? gf_put_flush(p->put, err) : GF_OK;
    return st == GF_OK ? gf_stored_rows_emit(&p->rows, err) : st;
}

/* ---- silence --------------------------------------------------------------------------------- */

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
        return gf_stored_rows_keep(&p->rows, record, gf_strings_at(&p->names, 0), err);
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
    return gf_stored_rows_keep_other(&p->rows, record, is_skipped ? "skipped" : "refused", reason,
                                     message, err);
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
    if (p->hashed && !gf_slice_equal(id, GF_SLICE("none"))) {
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
    gf_status emitted = (p->rows.each || p->rows.near > 0) && (!p->put || gf_put_is_good(p->put))
                            ? gf_stored_rows_emit(&p->rows, err)
                            : GF_OK;
    if (p->rows.each || emitted != GF_OK) return emitted;
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
    if (p->rows.near > 0) gf_json_put_uint(w, "near_duplicates", p->rows.n_near);
    gf_status st = ended == GF_OK ? gf_stored_rows_put_only(&p->rows, w, err) : GF_OK;
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
    if (!(p->rows.near > 0))
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
    putting p = {.call = call, .kept_at = gf_clock_ms()};
    p.rows = (gf_stored_rows){.call = call,
                              .intake = &p.intake,
                              .each = gf_call_has(call, "results"),
                              .places =
                                  gf_slice_equal(gf_call_text(call, "results"), GF_SLICE("places")),
                              .near = gf_call_share(call, "near", 0)};
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
    gf_stored_rows_release(&p.rows);
    gf_strings_release(&p.names);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter put_parameters[] = {
    P_COLLECTION,
    P_TEXT("id", "FIELD|none", "field that is the id (id)"),
    P_LIST("text", "FIELD[,FIELD...]", "field or fields that are the text (text)"),
    P_TEXT("time", "FIELD|none", "field that is the time (time)"),
    P_CHOICE("dates", "month-first|day-first|mdy|dmy", "what 3/4/2015 means; else it is refused"),
    P_CHOICE("bad-times", "refuse|drop",
             "a record whose time cannot be read (refuse with --time, else drop the time)"),
    P_TEXT("lang", "FIELD|none", "field that is the language (lang)"),
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
