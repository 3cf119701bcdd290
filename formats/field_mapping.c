/*
 * The meanings of fields.
 *
 *     id     string or integer; the record's hash where it is absent or null
 *     text   strings, joined by an empty line; absent, null and empty ones left out
 *     time   a number, or a string in ISO 8601, or as programs and people write it
 *            (base/clock.h, base/written_time.h), which becomes ISO 8601; in cells also Unix time
 *            in 9, 10 or 13 digits, with a fraction or without
 *     lang   a string
 *
 * Everything else becomes a field of the document, in the record's order, as JSON: values of JSON
 * as they are, cells as strings. Of several members of one name the first keeps it
 * (duplicate_fields_internal.h).
 *
 * A time or a lang of another type refuses the record where its field was named explicitly;
 * otherwise the field is taken as an ordinary one that happens to have this name. For times the
 * options may say which of the two.
 */
#include "formats/field_mapping_internal.h"

#include "base/clock.h"
#include "base/json/writer.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_LANGUAGE = 64 /* bytes of a language's code or name */, MOST_SHOWN = 60 };

/* ---- options --------------------------------------------------------------------------------- */

static gf_slice copy_name(gf_field_mapping *m, gf_slice name, const char *otherwise, gf_status *st)
{
    gf_slice copy = gf_arena_copy(&m->names, name.len ? name : gf_slice_str(otherwise));
    if (!copy.ptr) *st = GF_ENOMEM;
    return copy;
}

/* "none": a name without bytes, which no field has. */
static gf_slice copy_role(gf_field_mapping *m, gf_slice name, const char *otherwise, gf_status *st)
{
    if (gf_slice_equal(name, GF_SLICE("none"))) return (gf_slice){0};
    return copy_name(m, name, otherwise, st);
}

static bool has_name(const gf_member *v, gf_slice role)
{
    return role.ptr && gf_slice_equal(v->name, role);
}

static bool is_among(gf_slice name, const gf_slice *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (gf_slice_equal(name, names[i])) return true;
    return false;
}

static gf_status copy_text_names(gf_field_mapping *m, const gf_reader_options *options)
{
    gf_status st = GF_OK;
    size_t n = options->n_text ? options->n_text : 1;
    m->text = gf_arena_alloc(&m->names, n * sizeof *m->text);
    m->texts = gf_arena_alloc(&m->names, n * sizeof *m->texts);
    if (!m->text || !m->texts) return GF_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        gf_slice name = options->n_text ? options->text[i] : GF_SLICE("text");
        if (!is_among(name, m->text, m->n_text))
            m->text[m->n_text++] = copy_name(m, name, "text", &st);
        if (st != GF_OK) return st;
    }
    return GF_OK;
}

static void ask_for(gf_field_mapping *m, gf_slice name)
{
    if (name.len) m->asked[m->n_asked++].name = name;
}

/* Names that the caller gave: one that no record has is most likely mistyped. */
static gf_status note_asked(gf_field_mapping *m, const gf_reader_options *options)
{
    size_t most = 3 + options->n_text + options->n_fields;
    m->asked = gf_arena_alloc(&m->names, most * sizeof *m->asked);
    if (!m->asked) return GF_ENOMEM;
    memset(m->asked, 0, most * sizeof *m->asked);
    ask_for(m, options->id.len ? m->id : (gf_slice){0});
    ask_for(m, options->time.len ? m->time : (gf_slice){0});
    ask_for(m, options->lang.len ? m->lang : (gf_slice){0});
    for (size_t i = 0; i < m->n_text && options->n_text; i++)
        ask_for(m, m->text[i]);
    for (uint32_t i = 0; i < m->wanted.n && m->some_fields; i++)
        ask_for(m, gf_strings_at(&m->wanted, i));
    m->n_unseen = m->n_asked;
    return GF_OK;
}

static gf_status copy_names(gf_field_mapping *m, const gf_reader_options *options)
{
    gf_status st = GF_OK;
    m->id = copy_role(m, options->id, "id", &st);
    m->time = copy_role(m, options->time, "time", &st);
    m->lang = copy_role(m, options->lang, "lang", &st);
    if (st == GF_OK) st = copy_text_names(m, options);
    for (size_t i = 0; st == GF_OK && i < options->n_fields; i++) {
        uint32_t id;
        st = gf_strings_add(&m->wanted, options->fields[i], &id, NULL, NULL);
    }
    return st == GF_OK ? note_asked(m, options) : st;
}

gf_status gf_field_mapping_init(gf_field_mapping *m, const gf_reader_options *options,
                                gf_error *err)
{
    *m = (gf_field_mapping){
        .id_given = options->id.len > 0,
        .lang_given = options->lang.len > 0,
        .refuses_times = options->bad_times == GF_BAD_TIMES_REFUSE ||
                         (options->bad_times == GF_BAD_TIMES_USUAL && options->time.len > 0),
        .dates = options->dates,
        .text_is_fixed = options->text_is_fixed,
        .without_text = options->without_text,
        .some_fields = options->some_fields,
        .max_document = options->max_document,
    };
    if (copy_names(m, options) == GF_OK) return GF_OK;
    gf_field_mapping_release(m);
    return gf_fail_memory(err, "names of fields");
}

void gf_field_mapping_release(gf_field_mapping *m)
{
    gf_strings_release(&m->wanted);
    gf_arena_release(&m->names);
    gf_buffer_release(&m->joined);
    gf_buffer_release(&m->values);
    gf_buffer_release(&m->time_text);
    gf_free(m->fields);
    gf_free(m->starts);
    gf_duplicate_fields_release(&m->duplicates);
    *m = (gf_field_mapping){0};
}

/* ---- values of any kind ---------------------------------------------------------------------- */

static bool is_null(const gf_member *v)
{
    if (v->kind == GF_MEMBER_JSON) return gf_json_kind_of(v->json) == GF_JSON_NULL;
    return v->kind == GF_MEMBER_EMPTY;
}

/* The decoded string that v is; false where it is something else. */
static bool get_string(const gf_member *v, gf_slice *s)
{
    if (v->kind == GF_MEMBER_JSON && gf_json_kind_of(v->json) != GF_JSON_STRING) return false;
    *s = v->kind == GF_MEMBER_JSON ? gf_json_get_string(v->json) : v->text;
    return v->kind != GF_MEMBER_NUMBER;
}

static gf_status write_json(gf_buffer *out, const gf_member *v, gf_error *err)
{
    if (v->kind == GF_MEMBER_JSON) return gf_json_write(v->json, out, err);
    if (v->kind == GF_MEMBER_NUMBER)
        gf_buffer_slice(out, v->text);
    else
        gf_json_append_string(out, v->text);
    return gf_buffer_check(out, err);
}

/* ---- id -------------------------------------------------------------------------------------- */

static bool get_id(gf_field_mapping *m, const gf_member *v, gf_slice *id)
{
    if (v->kind != GF_MEMBER_JSON) {
        *id = v->text;
        return true;
    }
    switch (gf_json_kind_of(v->json)) {
    case GF_JSON_STRING:
        *id = gf_json_get_string(v->json);
        return true;
    case GF_JSON_INT:
        snprintf(m->id_digits, sizeof m->id_digits, "%" PRId64, gf_json_get_int(v->json));
        break;
    case GF_JSON_UINT:
        snprintf(m->id_digits, sizeof m->id_digits, "%" PRIu64, gf_json_get_uint(v->json));
        break;
    default:
        return false;
    }
    *id = gf_slice_str(m->id_digits);
    return true;
}

static void check_id(gf_parsed_record *parsed, gf_slice id)
{
    if (id.len == 0)
        gf_parsed_record_refuse(parsed, "bad_id", "the id is empty");
    else if (id.len > GF_MAX_ID)
        gf_parsed_record_refuse(parsed, "bad_id", "the id has %zu bytes, more than %d", id.len,
                                (int)GF_MAX_ID);
}

static gf_status map_id(gf_field_mapping *m, const gf_member *v, gf_parsed_record *parsed,
                        gf_record *record, gf_error *err)
{
    record->hashed_id = !v || is_null(v);
    if (record->hashed_id) {
        gf_status st = gf_record_hash(parsed, v, &m->values, m->id_digits, err);
        record->document.id = gf_slice_of(m->id_digits, 32);
        return st;
    }
    if (get_id(m, v, &record->document.id))
        check_id(parsed, record->document.id);
    else
        gf_parsed_record_refuse(parsed, "bad_type",
                                "field \"%.*s\" is neither a string nor an integer",
                                GF_SLICE_ARG(m->id));
    return GF_OK;
}

/* ---- text ------------------------------------------------------------------------------------ */

static gf_status add_text(gf_field_mapping *m, gf_slice more, gf_slice *text, gf_error *err)
{
    if (more.len == 0) return GF_OK;
    if (text->len == 0) {
        *text = more; /* the usual case, one field: nothing is copied */
        return GF_OK;
    }
    if (m->joined.len == 0) gf_buffer_slice(&m->joined, *text);
    gf_buffer_str(&m->joined, "\n\n");
    gf_buffer_slice(&m->joined, more);
    *text = gf_buffer_view(&m->joined);
    return gf_buffer_check(&m->joined, err);
}

static void refuse_without_text(const gf_field_mapping *m, gf_parsed_record *parsed)
{
    bool null = m->texts[0] && m->texts[0]->kind == GF_MEMBER_JSON;
    if (m->n_text == 1)
        gf_parsed_record_refuse(parsed, "no_text", "no text in field \"%.*s\"%s",
                                GF_SLICE_ARG(m->text[0]), null ? ", which is null" : "");
    else
        gf_parsed_record_refuse(parsed, "no_text", "no text in any of the %zu text fields",
                                m->n_text);
}

static gf_status map_text(gf_field_mapping *m, gf_parsed_record *parsed, gf_record *record,
                          gf_error *err)
{
    gf_slice text = {"", 0}, part;
    bool found = false;
    gf_buffer_reset(&m->joined);
    for (size_t i = 0; i < m->n_text; i++) {
        const gf_member *v = m->texts[i];
        if (!v || is_null(v)) continue;
        if (!get_string(v, &part)) {
            gf_parsed_record_refuse(parsed, "bad_type", "field \"%.*s\" is not a string",
                                    GF_SLICE_ARG(m->text[i]));
            return GF_OK;
        }
        found = true;
        gf_status st = add_text(m, part, &text, err);
        if (st != GF_OK) return st;
    }
    if (!found) refuse_without_text(m, parsed);
    record->document.text = text;
    return GF_OK;
}

/* ---- time and language ----------------------------------------------------------------------- */

bool gf_bad_times_named(gf_slice name, gf_bad_times *bad_times)
{
    bool drop = gf_slice_equal(name, GF_SLICE("drop"));
    if (!drop && !gf_slice_equal(name, GF_SLICE("refuse"))) return false;
    *bad_times = drop ? GF_BAD_TIMES_DROP : GF_BAD_TIMES_REFUSE;
    return true;
}

bool gf_date_order_named(gf_slice name, gf_date_order *order)
{
    bool day = gf_slice_equal(name, GF_SLICE("day-first")) || gf_slice_equal(name, GF_SLICE("dmy"));
    bool month =
        gf_slice_equal(name, GF_SLICE("month-first")) || gf_slice_equal(name, GF_SLICE("mdy"));
    if (!day && !month) return false;
    *order = day ? GF_DATE_ORDER_DAY_FIRST : GF_DATE_ORDER_MONTH_FIRST;
    return true;
}

/* Digits at the start of s. */
static size_t count_digits(gf_slice s)
{
    size_t n = 0;
    while (n < s.len && s.ptr[n] >= '0' && s.ptr[n] <= '9')
        n++;
    return n;
}

/* Unix time in a cell: 9 or 10 digits for seconds, 13 for milliseconds, no leading zero; a fraction. */
static bool is_unix_time(gf_slice s)
{
    size_t n = count_digits(s);
    if ((n != 9 && n != 10 && n != 13) || s.ptr[0] == '0') return false;
    if (n == s.len) return true;
    s = gf_slice_skip(s, n + 1);
    return s.ptr[-1] == '.' && s.len && count_digits(s) == s.len;
}

/* Is the string a time? *written: it is none of ISO 8601 yet, but ms can be written so. */
static gf_written_time read_time(gf_slice s, gf_date_order order, bool *written, int64_t *ms)
{
    *written = false;
    if (gf_clock_parse_iso(s, ms)) return GF_WRITTEN_TIME_MOMENT;
    *written = true;
    if (gf_clock_parse_words(s, ms)) return GF_WRITTEN_TIME_MOMENT;
    return gf_written_time_read(s, order, ms);
}

bool gf_reader_takes_time(gf_slice text)
{
    int64_t ms;
    bool written;
    return is_unix_time(text) ||
           read_time(text, GF_DATE_ORDER_UNKNOWN, &written, &ms) != GF_WRITTEN_TIME_NONE;
}

/*
 * Make v a time: a cell of digits becomes a number, a date that was written otherwise ISO 8601. NONE
 * and AMBIGUOUS leave it as it is.
 */
static gf_written_time take_time(gf_field_mapping *m, gf_member *v)
{
    int64_t ms;
    gf_slice s;
    bool written;
    if (v->kind == GF_MEMBER_NUMBER) return GF_WRITTEN_TIME_MOMENT;
    if (v->kind == GF_MEMBER_JSON && gf_json_is_number(v->json))
        return gf_clock_from_number(gf_json_number(v->json), &ms) ? GF_WRITTEN_TIME_MOMENT
                                                                  : GF_WRITTEN_TIME_NONE;
    if (!get_string(v, &s)) return GF_WRITTEN_TIME_NONE;
    if (v->kind == GF_MEMBER_TEXT && is_unix_time(s)) {
        v->kind = GF_MEMBER_NUMBER;
        return GF_WRITTEN_TIME_MOMENT;
    }
    gf_written_time is = read_time(s, m->dates, &written, &ms);
    if (!written || is == GF_WRITTEN_TIME_NONE || is == GF_WRITTEN_TIME_AMBIGUOUS) return is;
    gf_buffer_reset(&m->time_text);
    if (is == GF_WRITTEN_TIME_DATE)
        gf_clock_write_date(&m->time_text, ms);
    else
        gf_clock_write_iso(&m->time_text, ms);
    v->kind = GF_MEMBER_TEXT;
    v->text = gf_buffer_view(&m->time_text);
    return is;
}

static void refuse_time(const gf_field_mapping *m, const gf_member *v, bool is_ambiguous,
                        gf_parsed_record *parsed)
{
    gf_slice s = {"", 0};
    bool has_text = get_string(v, &s);
    s = gf_utf8_cut(s, MOST_SHOWN);
    if (is_ambiguous)
        gf_parsed_record_refuse(parsed, "bad_time",
                                "field \"%.*s\" is \"%.*s\": is the day first, or the month? Say "
                                "--dates day-first or --dates month-first",
                                GF_SLICE_ARG(m->time), GF_SLICE_ARG(s));
    else if (has_text)
        gf_parsed_record_refuse(parsed, "bad_time",
                                "field \"%.*s\" is not a time: \"%.*s\" (--bad-times drop puts it "
                                "without one)",
                                GF_SLICE_ARG(m->time), GF_SLICE_ARG(s));
    else
        gf_parsed_record_refuse(parsed, "bad_time",
                                "field \"%.*s\" is neither a string that is a time, nor a number "
                                "of seconds or milliseconds (--bad-times drop puts it without one)",
                                GF_SLICE_ARG(m->time));
}

/* *used: v became the time (or is null), and so is no ordinary field. */
static gf_status map_time(gf_field_mapping *m, gf_member *v, gf_parsed_record *parsed,
                          gf_record *record, bool *used, gf_error *err)
{
    *used = v && is_null(v);
    if (!v || *used) return GF_OK;
    gf_written_time is = take_time(m, v);
    *used = is == GF_WRITTEN_TIME_DATE || is == GF_WRITTEN_TIME_MOMENT;
    if (*used) {
        gf_status st = gf_buffer_check(&m->time_text, err);
        if (st == GF_OK) st = write_json(&m->values, v, err);
        record->document.time.len = m->values.len;
        return st;
    }
    record->bad_time = true;
    if (m->refuses_times) refuse_time(m, v, is == GF_WRITTEN_TIME_AMBIGUOUS, parsed);
    return GF_OK;
}

static void map_language(gf_field_mapping *m, gf_member *v, gf_parsed_record *parsed,
                         gf_record *record, bool *used)
{
    gf_slice s = {"", 0};
    *used = v && is_null(v);
    if (!v || *used) return;
    *used = get_string(v, &s) && s.len <= MOST_LANGUAGE;
    if (*used)
        record->document.language = s;
    else if (m->lang_given)
        gf_parsed_record_refuse(parsed, "bad_type", "field \"%.*s\" is not the name of a language",
                                GF_SLICE_ARG(m->lang));
}

/* ---- the other fields ------------------------------------------------------------------------ */

static gf_status reserve_fields(gf_field_mapping *m, size_t n, gf_error *err)
{
    if (n <= m->capacity) return GF_OK;
    gf_field *fields = gf_realloc(m->fields, n, sizeof *fields);
    if (fields) m->fields = fields;
    size_t *starts = fields ? gf_realloc(m->starts, n, sizeof *starts) : NULL;
    if (starts) m->starts = starts;
    if (!fields || !starts) return gf_fail_memory(err, "a record's fields");
    m->capacity = n;
    return GF_OK;
}

static bool is_text(const gf_field_mapping *m, const gf_member *v)
{
    for (size_t i = 0; i < m->n_text; i++)
        if (m->texts[i] == v) return true;
    return false;
}

static bool is_kept(const gf_field_mapping *m, const gf_member *v)
{
    if (v->kind == GF_MEMBER_EMPTY || (is_text(m, v) && !m->without_text)) return false;
    return !m->some_fields || gf_strings_find(&m->wanted, v->name) != GF_STRING_NONE;
}

/* Append v to the fields; its JSON's address is known only when all are written. */
static gf_status add_field(gf_field_mapping *m, const gf_member *v, size_t *n, gf_error *err)
{
    size_t from = m->values.len;
    gf_status st = write_json(&m->values, v, err);
    if (st != GF_OK) return st;
    m->fields[*n] = (gf_field){v->name, {NULL, m->values.len - from}};
    m->starts[(*n)++] = from;
    return GF_OK;
}

static gf_status map_fields(gf_field_mapping *m, gf_parsed_record *parsed, gf_member *const used[3],
                            gf_document *document, gf_error *err)
{
    uint64_t size = document->text.len + document->time.len + document->language.len;
    size_t n = 0, most = parsed->n_members < GF_MAX_FIELDS ? parsed->n_members : GF_MAX_FIELDS;
    gf_status st = reserve_fields(m, most, err);
    for (size_t i = 0; st == GF_OK && i < parsed->n_members && size <= m->max_document; i++) {
        gf_member *v = &parsed->members[i];
        if (v == used[0] || v == used[1] || v == used[2] || !is_kept(m, v)) continue;
        if (n == GF_MAX_FIELDS) {
            gf_parsed_record_refuse(parsed, "too_many_fields",
                                    "more than %d fields beside the text", (int)GF_MAX_FIELDS);
            return GF_OK;
        }
        st = add_field(m, v, &n, err);
        if (st == GF_OK) size += v->name.len + m->fields[n - 1].json.len;
    }
    if (st == GF_OK && size > m->max_document)
        gf_parsed_record_refuse_long(parsed, m->max_document);
    for (size_t i = 0; i < n; i++)
        m->fields[i].json.ptr = m->values.ptr + m->starts[i];
    document->time.ptr = document->time.len ? m->values.ptr : "";
    document->fields = m->fields;
    document->n_fields = n;
    return st;
}

/* ---- records --------------------------------------------------------------------------------- */

typedef struct roles {
    gf_member *id, *time, *lang;
} roles;

static roles find_roles(gf_field_mapping *m, const gf_parsed_record *parsed, bool *has_text_field)
{
    roles r = {NULL, NULL, NULL};
    *has_text_field = false;
    memset(m->texts, 0, m->n_text * sizeof *m->texts);
    for (size_t i = 0; i < parsed->n_members; i++) {
        gf_member *v = &parsed->members[i];
        if (has_name(v, m->id)) r.id = v;
        if (has_name(v, m->time)) r.time = v;
        if (has_name(v, m->lang)) r.lang = v;
        for (size_t t = 0; t < m->n_text; t++) {
            if (!gf_slice_equal(v->name, m->text[t])) continue;
            m->texts[t] = v;
            *has_text_field = true;
        }
    }
    return r;
}

/* Without a text, any field that is wanted shows that these are the records that were meant. */
static bool has_wanted(const gf_field_mapping *m, const gf_parsed_record *parsed)
{
    for (size_t i = 0; i < parsed->n_members; i++)
        if (gf_strings_find(&m->wanted, parsed->members[i].name) != GF_STRING_NONE) return true;
    return false;
}

static void note_seen(gf_field_mapping *m, const gf_parsed_record *parsed)
{
    m->has_members |= parsed->n_members > 0;
    for (size_t a = 0; a < m->n_asked && m->n_unseen; a++)
        for (size_t i = 0; i < parsed->n_members && !m->asked[a].seen; i++)
            if (gf_slice_equal(parsed->members[i].name, m->asked[a].name)) {
                m->asked[a].seen = true;
                m->n_unseen--;
            }
}

static gf_status map_members(gf_field_mapping *m, gf_parsed_record *parsed, gf_record *record,
                             bool *has_text_field, gf_error *err)
{
    gf_document *document = &record->document;
    gf_status st = GF_OK;
    if (!parsed->has_header)
        st = gf_duplicate_fields_rename(&m->duplicates, parsed->members, parsed->n_members,
                                        &parsed->renamed, err);
    if (st != GF_OK) return st;
    roles r = find_roles(m, parsed, has_text_field);
    note_seen(m, parsed);
    *has_text_field |= m->without_text && has_wanted(m, parsed);
    m->lacks_id = m->id_given && m->id.ptr && !r.id;
    st = map_id(m, r.id, parsed, record, err);
    if (st == GF_OK && parsed->kind == GF_RECORD_DOCUMENT && !m->without_text)
        st = map_text(m, parsed, record, err);
    if (st != GF_OK || parsed->kind != GF_RECORD_DOCUMENT) return st;
    bool time_used, lang_used;
    gf_buffer_reset(&m->values);
    st = map_time(m, r.time, parsed, record, &time_used, err);
    map_language(m, r.lang, parsed, record, &lang_used);
    if (st != GF_OK || parsed->kind != GF_RECORD_DOCUMENT) return st;
    gf_member *used[3] = {r.id, time_used ? r.time : NULL, lang_used ? r.lang : NULL};
    return map_fields(m, parsed, used, document, err);
}

gf_status gf_field_mapping_apply(gf_field_mapping *m, gf_parsed_record *parsed, gf_record *record,
                                 bool *has_text_field, gf_error *err)
{
    record->document = (gf_document){.id = parsed->id, .text = parsed->text};
    record->hashed_id = record->bad_time = false;
    if (!parsed->is_file) return map_members(m, parsed, record, has_text_field, err);
    *has_text_field = true;
    check_id(parsed, parsed->id);
    if (parsed->text.len > m->max_document) gf_parsed_record_refuse_long(parsed, m->max_document);
    return GF_OK;
}
