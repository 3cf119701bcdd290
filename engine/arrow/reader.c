#include "engine/arrow/reader.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/utf8.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { MOST_COLUMNS = 100000, SHOWN_NAMES = 200 };

/* ---- the stream ------------------------------------------------------------------------------ */

static gf_status fail_stream(gf_arrow_reader *r, int number, gf_error *err)
{
    const char *words = r->stream->get_last_error ? r->stream->get_last_error(r->stream) : NULL;
    if (number == ENOMEM) return gf_fail_memory(err, "the Arrow stream");
    if (number == ECANCELED || number == EINTR)
        return gf_fail(err, GF_ECANCELLED, "%s", words && *words ? words : "stopped on request");
    return gf_fail(err, GF_EIO, "the Arrow stream: %.400s",
                   words && *words ? words : strerror(number));
}

static void release_batch(gf_arrow_reader *r)
{
    if (r->batch.release) r->batch.release(&r->batch);
    r->batch = (struct ArrowArray){0};
}

void gf_arrow_reader_release(gf_arrow_reader *r)
{
    release_batch(r);
    for (size_t i = 0; i < r->n_columns; i++)
        gf_arrow_column_release(&r->columns[i]);
    if (r->schema.release) r->schema.release(&r->schema);
    if (r->stream && r->stream->release) r->stream->release(r->stream);
    gf_free(r->columns);
    gf_free((void *)r->fields);
    gf_free(r->field);
    gf_free(r->field_end);
    gf_buffer_release(&r->json);
    gf_buffer_release(&r->time_json);
    *r = (gf_arrow_reader){0};
}

/* ---- which columns --------------------------------------------------------------------------- */

static gf_status fail_absent(const gf_arrow_reader *r, const char *name, gf_error *err)
{
    gf_buffer names = {0};
    for (size_t i = 0; i < r->n_columns && names.len < SHOWN_NAMES; i++)
        gf_buffer_format(&names, "%s%.60s", i ? ", " : "", gf_arrow_column_name(&r->columns[i]));
    gf_status st = gf_fail(err, GF_EINVAL, "there is no column \"%.100s\"; columns found: %.250s",
                           name, r->n_columns ? gf_buffer_cstr(&names) : "none");
    gf_buffer_release(&names);
    return st;
}

static gf_status find_column(const gf_arrow_reader *r, const char *name,
                             const gf_arrow_column **column, gf_error *err)
{
    const gf_arrow_column *found = NULL;
    for (size_t i = 0; i < r->n_columns; i++) {
        if (strcmp(gf_arrow_column_name(&r->columns[i]), name) != 0) continue;
        if (found) return gf_fail(err, GF_EINVAL, "two columns are called \"%.200s\"", name);
        found = &r->columns[i];
    }
    if (!found) return fail_absent(r, name, err);
    *column = found;
    return GF_OK;
}

static gf_status fail_type(const gf_arrow_column *c, const char *wanted, gf_error *err)
{
    gf_buffer type = {0};
    gf_arrow_column_describe(c, &type);
    gf_status st = gf_fail(err, GF_EINVAL, "column \"%.200s\" has the type %s: %s",
                           gf_arrow_column_name(c), gf_buffer_cstr(&type), wanted);
    gf_buffer_release(&type);
    return st;
}

static gf_status find_text(const gf_arrow_reader *r, const char *name, const char *what,
                           const gf_arrow_column **column, gf_error *err)
{
    gf_status st = find_column(r, name, column, err);
    if (st != GF_OK || gf_arrow_column_is_text(*column)) return st;
    return fail_type(*column, what, err);
}

static bool is_a_time(const gf_arrow_column *c)
{
    return gf_arrow_column_is_text(c) || gf_arrow_column_is_integer(c) ||
           c->kind == GF_ARROW_FLOAT || c->kind == GF_ARROW_DATE || c->kind == GF_ARROW_TIMESTAMP;
}

static bool is_taken(const gf_arrow_reader *r, const gf_arrow_column *c)
{
    return c == r->id || c == r->text || c == r->time || c == r->language;
}

/* Names are distinct: a document has each field once. */
static gf_status add_field(gf_arrow_reader *r, const gf_arrow_column *c, gf_error *err)
{
    for (size_t i = 0; i < r->n_fields; i++)
        if (strcmp(gf_arrow_column_name(r->fields[i]), gf_arrow_column_name(c)) == 0)
            return gf_fail(err, GF_EINVAL, "two columns are called \"%.200s\"",
                           gf_arrow_column_name(c));
    if (gf_arrow_column_name(c)[0] == '\0')
        return gf_fail(err, GF_EINVAL, "a column has no name, which a field needs");
    if (c->kind == GF_ARROW_OTHER)
        return fail_type(c, "it cannot be a field; leave it out, or make it a string", err);
    r->fields[r->n_fields++] = c;
    return GF_OK;
}

static gf_status find_fields(gf_arrow_reader *r, gf_arrow_need need, gf_error *err)
{
    const gf_arrow_options *o = r->options;
    gf_status st = GF_OK;
    bool all = need == GF_ARROW_NEED_ALL;
    if (all && o->no_fields) return GF_OK;
    for (size_t i = 0; all && i < o->n_fields && st == GF_OK; i++) {
        const gf_arrow_column *c;
        st = find_column(r, o->fields[i], &c, err);
        if (st == GF_OK && !is_taken(r, c)) st = add_field(r, c, err);
    }
    for (size_t i = 0; i < r->n_columns && st == GF_OK; i++) {
        const gf_arrow_column *c = &r->columns[i];
        bool wanted = all ? o->n_fields == 0 : strcmp(gf_arrow_column_name(c), "vector") == 0;
        if (wanted && !is_taken(r, c)) st = add_field(r, c, err);
    }
    return st;
}

static gf_status find_columns(gf_arrow_reader *r, gf_arrow_need need, gf_error *err)
{
    const gf_arrow_options *o = r->options;
    bool all = need == GF_ARROW_NEED_ALL;
    gf_status st = find_text(r, o->text ? o->text : "text", "texts are strings", &r->text, err);
    if (st == GF_OK && o->language)
        st = find_text(r, o->language, "languages are strings", &r->language, err);
    if (st == GF_OK && o->id && all) st = find_column(r, o->id, &r->id, err);
    if (st == GF_OK && r->id && !gf_arrow_column_is_text(r->id) &&
        !gf_arrow_column_is_integer(r->id))
        st = fail_type(r->id, "ids are strings or whole numbers", err);
    if (st == GF_OK && o->time && all) st = find_column(r, o->time, &r->time, err);
    if (st == GF_OK && r->time && !is_a_time(r->time))
        st = fail_type(r->time, "times are timestamps, dates, strings or numbers", err);
    return st == GF_OK ? find_fields(r, need, err) : st;
}

/* ---- opening --------------------------------------------------------------------------------- */

static gf_status make_room(gf_arrow_reader *r, size_t n, gf_error *err)
{
    r->columns = gf_calloc(n, sizeof *r->columns);
    r->fields = gf_calloc(n, sizeof *r->fields);
    r->field = gf_calloc(n + 1, sizeof *r->field);
    r->field_end = gf_calloc(n + 1, sizeof *r->field_end);
    return r->columns && r->fields && r->field && r->field_end ? GF_OK
                                                               : gf_fail_memory(err, "columns");
}

/* A stream of strings is a column of its own. */
static gf_status read_plain_schema(gf_arrow_reader *r, gf_arrow_need need, gf_error *err)
{
    const gf_arrow_options *o = r->options;
    const char *named = o->id ? o->id : o->time ? o->time : o->n_fields ? o->fields[0] : NULL;
    if (need == GF_ARROW_NEED_ALL && named)
        return gf_fail(err, GF_EINVAL,
                       "there is no column \"%.100s\": the Arrow stream is of texts alone", named);
    gf_status st = make_room(r, 1, err);
    if (st == GF_OK) st = gf_arrow_column_init(&r->columns[0], &r->schema, 0, err);
    if (st != GF_OK) return st;
    r->n_columns = 1;
    r->text = &r->columns[0];
    return gf_arrow_column_is_text(r->text) ? GF_OK : fail_type(r->text, "texts are strings", err);
}

static gf_status read_schema(gf_arrow_reader *r, gf_arrow_need need, gf_error *err)
{
    const struct ArrowSchema *s = &r->schema;
    if (!s->release || !s->format) return gf_fail(err, GF_EINVAL, "the Arrow stream has no schema");
    if (strcmp(s->format, "+s") != 0) return read_plain_schema(r, need, err);
    if (s->n_children < 0 || s->n_children > MOST_COLUMNS || (s->n_children && !s->children))
        return gf_fail(err, GF_EINVAL, "the Arrow schema is not sound");
    gf_status st = make_room(r, (size_t)s->n_children, err);
    for (int64_t i = 0; i < s->n_children && st == GF_OK; i++) {
        st = gf_arrow_column_init(&r->columns[i], s->children[i], 0, err);
        if (st == GF_OK) r->n_columns++;
    }
    return st == GF_OK ? find_columns(r, need, err) : st;
}

gf_status gf_arrow_reader_open(gf_arrow_reader *reader, struct ArrowArrayStream *stream,
                               const gf_arrow_options *options, gf_arrow_need need, gf_error *err)
{
    gf_arrow_reader r = {.options = options, .stream = stream};
    gf_status st = GF_OK;
    if (!stream->release || !stream->get_schema || !stream->get_next)
        st = gf_fail(err, GF_EINVAL, "the Arrow stream was released, or read already");
    if (st == GF_OK)
        st = gf_options_check(options->version, GF_ARROW_OPTIONS_VERSION, "gf_arrow_options", err);
    int number = st == GF_OK ? stream->get_schema(stream, &r.schema) : 0;
    if (number) {
        r.schema.release = NULL;
        st = fail_stream(&r, number, err);
    }
    if (st == GF_OK) st = read_schema(&r, need, err);
    if (st != GF_OK) {
        gf_arrow_reader_release(&r);
        return st;
    }
    /* Columns that were found point into the array, which stays where it is; but a plain column's
       schema is the reader's own copy. */
    *reader = r;
    if (reader->text->schema == &r.schema) reader->columns[0].schema = &reader->schema;
    return GF_OK;
}

/* ---- batches --------------------------------------------------------------------------------- */

static gf_status bind_batch(gf_arrow_reader *r, gf_error *err)
{
    const struct ArrowArray *b = &r->batch;
    if (strcmp(r->schema.format, "+s") != 0)
        return gf_arrow_column_bind(&r->columns[0], b, b->length, err);
    if (b->length < 0 || b->offset < 0 || b->offset > INT64_MAX - b->length - 1 ||
        b->n_children != r->schema.n_children || (b->n_children && !b->children))
        return gf_fail(err, GF_EINVAL, "an Arrow batch is not as its schema says");
    gf_status st = GF_OK;
    for (size_t i = 0; i < r->n_columns && st == GF_OK; i++) {
        const struct ArrowArray *column = b->children[i];
        if (!column) return gf_fail(err, GF_EINVAL, "an Arrow batch is not as its schema says");
        st = gf_arrow_column_bind(&r->columns[i], column, b->offset + b->length, err);
    }
    return st;
}

gf_status gf_arrow_reader_next(gf_arrow_reader *r, int64_t *rows, gf_error *err)
{
    gf_status st = gf_cancel_check(r->options->cancel, err);
    if (st != GF_OK) return st;
    if (r->batch.release) {
        r->rows += (uint64_t)r->batch.length;
        if (r->options->progress) r->options->progress(r->options->context, r->rows);
    }
    release_batch(r);
    int number = r->stream->get_next(r->stream, &r->batch);
    if (number) {
        r->batch.release = NULL;
        return fail_stream(r, number, err);
    }
    if (!r->batch.release) return GF_ENOTFOUND;
    st = bind_batch(r, err);
    if (st == GF_OK) *rows = r->batch.length;
    return st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static gf_slice number_id(gf_arrow_reader *r, uint64_t row)
{
    int n = snprintf(r->digits, sizeof r->digits, "%010" PRIu64, r->options->first_id + row);
    return gf_slice_of(r->digits, (size_t)n);
}

static gf_status read_id(gf_arrow_reader *r, int64_t i, gf_document *d, gf_error *err)
{
    if (gf_arrow_column_is_text(r->id)) return gf_arrow_column_text(r->id, i, &d->id, err);
    gf_status st = gf_arrow_column_json(r->id, i, &r->json, err);
    if (st == GF_OK) st = gf_buffer_check(&r->json, err);
    if (st != GF_OK) return st;
    assert(r->json.len > 0 && r->json.len < sizeof r->digits); /* a number that is not null */
    memcpy(r->digits, r->json.ptr, r->json.len);
    d->id = gf_slice_of(r->digits, r->json.len);
    return GF_OK;
}

/* A string that is no time stays as a field, as records of files have it. */
static gf_status read_time(gf_arrow_reader *r, int64_t i, gf_document *d, bool *is_bad,
                           gf_error *err)
{
    int64_t ms;
    gf_slice text;
    gf_buffer_reset(&r->time_json);
    gf_status st = gf_arrow_column_json(r->time, i, &r->time_json, err);
    if (st == GF_OK && r->time_json.len && gf_arrow_column_is_text(r->time)) {
        st = gf_arrow_column_text(r->time, i, &text, err);
        *is_bad = st == GF_OK && !gf_clock_parse_iso(text, &ms) && !gf_clock_parse_words(text, &ms);
    }
    if (st == GF_OK) st = gf_buffer_check(&r->time_json, err);
    if (st == GF_OK && !*is_bad) d->time = gf_buffer_view(&r->time_json);
    return st;
}

static gf_status read_fields(gf_arrow_reader *r, int64_t i, gf_document *d, gf_error *err)
{
    size_t n = 0;
    gf_status st = GF_OK;
    gf_buffer_reset(&r->json);
    for (size_t f = 0; f < r->n_fields && st == GF_OK; f++) {
        size_t before = r->json.len;
        st = gf_arrow_column_json(r->fields[f], i, &r->json, err);
        if (st != GF_OK || r->json.len == before) continue;
        r->field[n].name = gf_slice_str(gf_arrow_column_name(r->fields[f]));
        r->field_end[n++] = r->json.len;
    }
    if (st == GF_OK) st = gf_buffer_check(&r->json, err);
    if (st != GF_OK) return st;
    for (size_t f = 0; f < n; f++) {
        size_t from = f ? r->field_end[f - 1] : 0;
        r->field[f].json = gf_slice_of(r->json.ptr + from, r->field_end[f] - from);
    }
    d->fields = r->field;
    d->n_fields = n;
    return GF_OK;
}

static const char *refuse(gf_error *why, const char *reason, const gf_arrow_column *c)
{
    gf_fail(why, GF_EINVAL, "column \"%.200s\" is null", gf_arrow_column_name(c));
    return reason;
}

/* Parts that are not there. A plain array of strings has a name as a rule of no meaning. */
static const char *find_missing(const gf_arrow_reader *r, int64_t i, gf_error *why)
{
    const struct ArrowArray *b = &r->batch;
    bool rows = strcmp(r->schema.format, "+s") == 0;
    if (rows && b->null_count != 0 && b->n_buffers > 0 && b->buffers && b->buffers[0] &&
        !(((const unsigned char *)b->buffers[0])[(b->offset + i) / 8] >> ((b->offset + i) % 8) &
          1)) {
        gf_fail(why, GF_EINVAL, "the whole row is null");
        return "no_text";
    }
    int64_t at = rows ? b->offset + i : i;
    if (r->id && gf_arrow_column_is_null(r->id, at)) return refuse(why, "no_id", r->id);
    if (!gf_arrow_column_is_null(r->text, at)) return NULL;
    if (rows) return refuse(why, "no_text", r->text);
    gf_fail(why, GF_EINVAL, "the text is null");
    return "no_text";
}

gf_status gf_arrow_reader_row(gf_arrow_reader *r, int64_t i, gf_document *document,
                              const char **reason, gf_error *why, gf_error *err)
{
    gf_document d = {0};
    bool is_bad = false;
    *reason = find_missing(r, i, why);
    if (*reason) return GF_OK;
    int64_t at = strcmp(r->schema.format, "+s") == 0 ? r->batch.offset + i : i;
    gf_buffer_reset(&r->json);
    gf_status st = gf_arrow_column_text(r->text, at, &d.text, why);
    if (st == GF_OK && r->id) st = read_id(r, at, &d, why);
    if (!r->id) d.id = number_id(r, r->rows + (uint64_t)i);
    if (st == GF_OK && r->time) st = read_time(r, at, &d, &is_bad, why);
    if (st == GF_OK && r->language && !gf_arrow_column_is_null(r->language, at))
        st = gf_arrow_column_text(r->language, at, &d.language, why);
    if (st == GF_OK) st = read_fields(r, at, &d, why);
    if (st == GF_ENOMEM) return gf_fail_memory(err, "a document");
    if (st != GF_OK) {
        *reason = "bad_value";
        return GF_OK;
    }
    if (is_bad) {
        r->counts.bad_times++;
        r->field[d.n_fields++] =
            (gf_field){gf_slice_str(gf_arrow_column_name(r->time)), gf_buffer_view(&r->time_json)};
        d.fields = r->field;
    }
    *document = d;
    return GF_OK;
}

gf_status gf_arrow_reader_refuse(gf_arrow_reader *r, int64_t i, const char *reason,
                                 const char *message, gf_error *err)
{
    const gf_arrow_options *o = r->options;
    uint64_t row = r->rows + (uint64_t)i;
    r->counts.refused++;
    if (o->refused) return o->refused(o->context, row, reason, message, err);
    return gf_fail(err, GF_EINVAL, "row %" PRIu64 ": %.400s", row, message);
}
