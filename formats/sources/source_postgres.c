/*
 * The rows of a query of PostgreSQL, by libpq, one at a time: neither side holds all of them.
 *
 *     SELECT * FROM (the query) AS q WHERE q."since" IS NULL               the first time alone
 *     SELECT * FROM (the query) AS q WHERE q."since" IS NOT NULL ORDER BY q."since"     likewise
 *     SELECT * FROM (the query) AS q WHERE q."since" >= $1 ORDER BY q."since"           later
 *
 * With a column that rises with what is new, rows come in its order, by an index where there is one, and
 * its last value is the place. The next time those with that value are read once more: others may
 * have got it since.
 *
 * Values are as PostgreSQL writes them: numbers and booleans become those of JSON, json and jsonb are
 * kept, all else is text; NULL is left out. A numeric of more digits than a double has is text, too.
 */
#include "formats/sources/libpq.h"
#include "formats/sources/source_internal.h"

#include "base/clock.h"
#include "base/json/writer.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { PLACE_EVERY = 1000 /* rows */, CHUNK = 64 << 10, EXACT_DIGITS = 15, CONNECT_SECONDS = 30 };

/* Object ids of types (pg_type.dat), which never change. */
enum {
    TYPE_BOOL = 16,
    TYPE_INT8 = 20,
    TYPE_INT2 = 21,
    TYPE_INT4 = 23,
    TYPE_JSON = 114,
    TYPE_FLOAT4 = 700,
    TYPE_FLOAT8 = 701,
    TYPE_NUMERIC = 1700,
    TYPE_JSONB = 3802
};

GF_LIBRARY_DEFINE(gf_libpq, GF_LIBPQ, GF_LIBPQ_FUNCTIONS)

typedef struct postgres {
    gf_source source;
    gf_source_postgres options;
    PGconn *connection;
    gf_buffer last; /* value of the column `since` in the last row; has_last */
    bool has_last;
    bool has_nulls; /* the query of rows without a value has been sent, and the next is to come */
    uint64_t n_rows;
} postgres;

/* ---- failures -------------------------------------------------------------------------------- */

/* Messages of libpq have several lines. */
static gf_status fail_with(const postgres *p, const char *message, gf_error *err)
{
    char line[400];
    size_t n = 0;
    for (; *message && n < sizeof line - 1; message++) {
        bool is_blank = *message == '\n' || *message == '\t';
        if (is_blank && (n == 0 || line[n - 1] == ' ')) continue;
        line[n++] = is_blank ? ' ' : *message;
    }
    while (n && line[n - 1] == ' ')
        n--;
    return gf_fail(err, GF_EIO, "%.*s: %.*s", GF_SLICE_ARG(gf_buffer_view(&p->source.shown)),
                   (int)n, n ? line : "PostgreSQL gave no reason");
}

static gf_status fail_connection(const postgres *p, gf_error *err)
{
    return fail_with(p, PQerrorMessage(p->connection), err);
}

/* ---- connecting ------------------------------------------------------------------------------ */

/* libpq would print them. */
static void ignore_notice(void *context, const char *message)
{
    (void)context, (void)message;
}

static gf_status connect_to(postgres *p, gf_error *err)
{
    /* Parts of the address count more than what is before them, and less than what is behind. */
    static const char *const names[] = {"fallback_application_name", "dbname", "client_encoding",
                                        NULL};
    const char *const values[] = {"grouperfish", p->options.url, "UTF8", NULL};
    p->connection = PQconnectStartParams(names, values, 1);
    if (!p->connection) return gf_fail_memory(err, "a connection");
    PQsetNoticeProcessor(p->connection, ignore_notice, NULL);
    if (PQstatus(p->connection) == CONNECTION_BAD) return fail_connection(p, err);
    PostgresPollingStatusType wants = PGRES_POLLING_WRITING;
    double deadline = gf_clock_seconds() + CONNECT_SECONDS;
    while (wants != PGRES_POLLING_OK) {
        if (wants == PGRES_POLLING_FAILED) return fail_connection(p, err);
        bool is_ready;
        gf_status st = gf_source_wait(&p->source, PQsocket(p->connection),
                                      wants == PGRES_POLLING_WRITING, &is_ready, err);
        if (st != GF_OK) return st;
        if (gf_clock_seconds() > deadline)
            return fail_with(p, "no connection within 30 seconds", err);
        /* On a socket that is not ready libpq would wait itself, without an end. */
        if (is_ready) wants = PQconnectPoll(p->connection);
    }
    return GF_OK;
}

/* The next result; NULL behind the last. A stop ends what the server does for it. */
static gf_status next_result(postgres *p, PGresult **result, gf_error *err)
{
    while (PQisBusy(p->connection)) {
        bool is_ready;
        gf_status st = gf_source_wait(&p->source, PQsocket(p->connection), false, &is_ready, err);
        if (st != GF_OK) {
            char why[256];
            PGcancel *cancel = PQgetCancel(p->connection);
            if (cancel) PQcancel(cancel, why, sizeof why);
            PQfreeCancel(cancel);
            return st;
        }
        if (!PQconsumeInput(p->connection)) return fail_connection(p, err);
    }
    *result = PQgetResult(p->connection);
    return GF_OK;
}

/* How values are written, and that nothing is changed. */
static gf_status set_up(postgres *p, gf_error *err)
{
    static const char settings[] =
        "SET datestyle = 'ISO'; SET timezone = 'UTC'; SET intervalstyle = 'iso_8601'; "
        "SET extra_float_digits = 1; SET bytea_output = 'hex'; "
        "SET default_transaction_read_only = on";
    PGresult *r;
    if (!PQsendQuery(p->connection, settings)) return fail_connection(p, err);
    for (;;) {
        gf_status st = next_result(p, &r, err);
        if (st != GF_OK || !r) return st;
        if (PQresultStatus(r) != PGRES_COMMAND_OK) st = fail_with(p, PQresultErrorMessage(r), err);
        PQclear(r);
        if (st != GF_OK) return st;
    }
}

/* ---- the query ------------------------------------------------------------------------------- */

static gf_status write_query(postgres *p, gf_buffer *query, gf_error *err)
{
    const char *given = p->options.query;
    size_t n = strlen(given);
    while (n && strchr(" \t\r\n;", given[n - 1]))
        n--;
    if (!p->options.since) {
        gf_buffer_append(query, given, n);
        return gf_buffer_check(query, err);
    }
    char *since = PQescapeIdentifier(p->connection, p->options.since, strlen(p->options.since));
    if (!since) return fail_connection(p, err);
    /* A line end closes a comment that the query may end with. */
    gf_buffer_str(query, "SELECT * FROM (");
    gf_buffer_append(query, given, n);
    gf_buffer_str(query, "\n) AS q");
    if (p->source.place.len)
        gf_buffer_format(query, " WHERE q.%s >= $1 ORDER BY q.%s", since, since);
    else if (p->has_nulls)
        gf_buffer_format(query, " WHERE q.%s IS NULL", since);
    else
        gf_buffer_format(query, " WHERE q.%s IS NOT NULL ORDER BY q.%s", since, since);
    PQfreemem(since);
    return gf_buffer_check(query, err);
}

static gf_status send_query(postgres *p, gf_error *err)
{
    gf_buffer query = {0};
    bool goes_on = p->options.since && p->source.place.len;
    gf_status st = write_query(p, &query, err);
    const char *text = gf_buffer_cstr(&query);
    const char *values[] = {goes_on ? gf_buffer_cstr(&p->source.place) : NULL};
    if (st == GF_OK) st = gf_buffer_check(&query, err);
    if (st == GF_OK) st = gf_buffer_check(&p->source.place, err);
    if (st == GF_OK &&
        (!PQsendQueryParams(p->connection, text, goes_on, NULL, values, NULL, NULL, 0) ||
         !PQsetSingleRowMode(p->connection)))
        st = fail_connection(p, err);
    gf_buffer_release(&query);
    return st;
}

static gf_status begin_postgres(gf_source *s, gf_error *err)
{
    postgres *p = (postgres *)s;
    gf_status st = connect_to(p, err);
    if (st == GF_OK) st = set_up(p, err);
    p->has_nulls = p->options.since && p->source.place.len == 0;
    return st == GF_OK ? send_query(p, err) : st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Is the text a number of JSON that a double holds exactly? NaN and Infinity are none. */
static bool is_number(gf_slice text, bool is_exact)
{
    size_t digits = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c >= '0' && c <= '9')
            digits++;
        else if (!strchr("+-.eE", c))
            return false;
    }
    return digits > 0 && (is_exact || digits <= EXACT_DIGITS);
}

static void write_value(gf_json_writer *w, gf_buffer *out, Oid type, gf_slice text)
{
    size_t at = out->len;
    switch (type) {
    case TYPE_BOOL:
        gf_json_bool(w, gf_slice_equal(text, GF_SLICE("t")));
        return;
    case TYPE_INT2:
    case TYPE_INT4:
    case TYPE_INT8:
    case TYPE_FLOAT4:
    case TYPE_FLOAT8:
    case TYPE_NUMERIC:
        if (is_number(text, type != TYPE_NUMERIC))
            gf_json_raw(w, text);
        else
            gf_json_string(w, text);
        return;
    case TYPE_JSON:
    case TYPE_JSONB:
        gf_json_raw(w, text);
        /* Line ends are between values: strings of JSON have none. */
        for (; at < out->len; at++)
            if (out->ptr[at] == '\n' || out->ptr[at] == '\r') out->ptr[at] = ' ';
        return;
    default:
        gf_json_string(w, text);
    }
}

static void write_row(postgres *p, const PGresult *r)
{
    gf_buffer *out = &p->source.lines;
    gf_json_writer w = gf_json_writer_to(out);
    gf_json_begin(&w, '{');
    for (int i = 0; i < PQnfields(r); i++) {
        if (PQgetisnull(r, 0, i)) continue;
        gf_slice text = gf_slice_of(PQgetvalue(r, 0, i), (size_t)PQgetlength(r, 0, i));
        gf_json_key_slice(&w, gf_slice_str(PQfname(r, i)));
        write_value(&w, out, PQftype(r, i), text);
        if (!p->options.since || strcmp(PQfname(r, i), p->options.since) != 0) continue;
        gf_buffer_reset(&p->last);
        gf_buffer_slice(&p->last, text);
        p->has_last = true;
    }
    gf_json_end(&w, '}');
    gf_buffer_byte(out, '\n');
    if (++p->n_rows % PLACE_EVERY == 0 && p->has_last)
        gf_source_put_place(&p->source, gf_buffer_view(&p->last));
}

/* A row of that alone would be taken for a place. */
static gf_status check_columns(const postgres *p, const PGresult *r, gf_error *err)
{
    if (PQnfields(r) != 1 || strcmp(PQfname(r, 0), "$place") != 0) return GF_OK;
    return fail_with(p, "the query's only column must not be called \"$place\"", err);
}

static gf_status take_result(postgres *p, const PGresult *r, gf_error *err)
{
    switch (PQresultStatus(r)) {
    case PGRES_SINGLE_TUPLE:
        if (p->n_rows == 0 && check_columns(p, r, err) != GF_OK) return GF_EIO;
        write_row(p, r);
        gf_status st = gf_buffer_check(&p->last, err);
        return st == GF_OK ? gf_buffer_check(&p->source.lines, err) : st;
    case PGRES_TUPLES_OK:
        return GF_OK; /* behind the last row */
    case PGRES_COMMAND_OK:
    case PGRES_EMPTY_QUERY:
        return fail_with(p, "the query gives no rows", err);
    default:
        return fail_with(p, PQresultErrorMessage(r), err);
    }
}

static gf_status more_rows(gf_source *s, gf_error *err)
{
    postgres *p = (postgres *)s;
    gf_status st = GF_OK;
    while (st == GF_OK && s->lines.len < CHUNK && !s->at_end) {
        PGresult *r = NULL;
        if (s->lines.len && PQisBusy(p->connection)) break; /* what there is need not wait */
        st = next_result(p, &r, err);
        if (st != GF_OK) return st;
        s->at_end = !r && !p->has_nulls;
        if (r) {
            st = take_result(p, r, err);
        } else if (p->has_nulls) {
            p->has_nulls = false;
            st = send_query(p, err);
        }
        PQclear(r);
    }
    if (st == GF_OK && s->at_end && p->has_last) gf_source_put_place(s, gf_buffer_view(&p->last));
    return st;
}

/* ---- opening --------------------------------------------------------------------------------- */

static gf_status take_place(gf_source *s, gf_error *err)
{
    if (!memchr(s->place.ptr ? s->place.ptr : "", 0, s->place.len)) return GF_OK;
    return gf_fail(err, GF_EINVAL, "the place of the source is damaged");
}

static void close_postgres(gf_source *s)
{
    postgres *p = (postgres *)s;
    if (p->connection) PQfinish(p->connection);
    gf_buffer_release(&p->last);
}

/* Other words that say which database it is: no secret, and not how it is reached. */
static void add_other(gf_buffer *other, const char *keyword, const char *value)
{
    static const char *const counted[] = {"hostaddr",   "options",   "service",   "user",
                                          "PGHOSTADDR", "PGOPTIONS", "PGSERVICE", "PGUSER"};
    for (size_t i = 0; value && *value && i < sizeof counted / sizeof *counted; i++) {
        if (strcmp(keyword, counted[i]) != 0) continue;
        gf_buffer_string(other, gf_slice_str(keyword));
        gf_buffer_string(other, gf_slice_str(value));
    }
}

/* "postgres://host:5432/db", of the address alone; passwords are refused. */
static gf_status read_address(postgres *p, gf_slice parts[3], gf_error *err)
{
    static const char *const wanted[] = {"host", "port", "dbname"};
    static const char *const variables[] = {"PGHOST", "PGPORT", "PGDATABASE"};
    /* A service, a user or a search path may be of another database, with other rows. */
    static const char *const others[] = {"PGHOSTADDR", "PGOPTIONS", "PGSERVICE", "PGUSER"};
    char *why = NULL;
    gf_buffer other = {0};
    gf_buffer *shown = &p->source.shown;
    gf_status st = GF_OK;
    PQconninfoOption *options = PQconninfoParse(p->options.url, &why);
    if (!options) {
        /* libpq's own message may repeat the address, with its password. */
        PQfreemem(why);
        return gf_fail(err, GF_EINVAL,
                       "that is no address of PostgreSQL, such as postgres://user@host/database");
    }
    for (PQconninfoOption *o = options; o->keyword && st == GF_OK; o++) {
        if (!o->val || !*o->val) continue;
        if (strcmp(o->keyword, "password") == 0 || strcmp(o->keyword, "sslpassword") == 0)
            st = gf_fail(
                err, GF_EINVAL,
                "an address with a password can be seen by everyone (ps): leave it out, and "
                "put it into ~/.pgpass, or into PGPASSWORD");
        for (size_t i = 0; i < 3; i++)
            if (strcmp(o->keyword, wanted[i]) == 0) parts[i] = gf_slice_str(o->val);
        add_other(&other, o->keyword, o->val);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        add_other(&other, others[i], getenv(others[i]));
    for (size_t i = 0; i < 3; i++) {
        const char *value = getenv(variables[i]);
        if (parts[i].len == 0 && value) parts[i] = gf_slice_str(value);
    }
    gf_buffer_str(shown, "postgres://");
    gf_buffer_slice(shown, parts[0]);
    if (parts[1].len) gf_buffer_byte(shown, ':');
    gf_buffer_slice(shown, parts[1]);
    gf_buffer_byte(shown, '/');
    gf_buffer_slice(shown, parts[2]);
    if (st == GF_OK) st = gf_buffer_check(shown, err);
    if (st == GF_OK) {
        const gf_slice names[] = {parts[0],
                                  parts[1],
                                  parts[2],
                                  gf_slice_str(p->options.query),
                                  gf_slice_str(p->options.since ? p->options.since : ""),
                                  gf_buffer_view(&other)};
        st = gf_buffer_check(&other, err);
        if (st == GF_OK) st = gf_source_set_name(&p->source, "postgres", names, 6, err);
    }
    gf_buffer_release(&other);
    PQconninfoFree(options);
    return st;
}

static const gf_source_kind postgres_kind = {begin_postgres, more_rows, take_place, close_postgres};

gf_status gf_source_open_postgres(const gf_source_postgres *o, gf_source **source, gf_error *err)
{
    gf_slice parts[3] = {{"", 0}, {"", 0}, {"", 0}};
    gf_status st = gf_library_load(&gf_libpq, err);
    if (st != GF_OK) return st;
    postgres *p = gf_calloc(1, sizeof *p);
    if (!p) return gf_fail_memory(err, "a source");
    p->options = *o;
    p->source.kind = &postgres_kind;
    p->source.cancel = o->cancel;
    st = read_address(p, parts, err);
    if (st == GF_OK) st = gf_source_set_place(&p->source, o->place, err);
    if (st != GF_OK) {
        gf_source_close(&p->source);
        return st;
    }
    *source = &p->source;
    return GF_OK;
}
