/*
 * What is asked of a gateway: the requests as one gets them that takes 2 MB and no more, as it does unless
 * it is told to, over a real socket. Rows are there as a test says; none is kept.
 */
#include "tests/support/test.h"

#include "base/number.h"
#include "storage/hbase/backend.h"
#include "storage/hbase/thrift.h"
#include "storage/tables.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- a gateway ------------------------------------------------------------------------------- */

enum { MOST_REQUEST = 2 << 20, MOST_NAME = 32 << 10 };

/* How often a call came, the largest, and the rows in all of them. */
typedef struct calls {
    const char *method;
    size_t n, largest, rows;
} calls;

enum { GET_MULTIPLE, PUT_MULTIPLE, DELETE_MULTIPLE, MUTATE_ROW, PUT, CHECK_AND_MUTATE, METHODS };

typedef struct gateway {
    int listener;
    char port[8];
    pthread_t thread;
    atomic_bool ends;
    size_t n_cells, name_bytes; /* of each row that is asked for by getMultiple */
    size_t most_rows;           /* of more the answer is too large; 0: never */
    size_t scanned, scan_end;   /* the next row of the scan, and the first that is not there */
    calls calls[METHODS];
    size_t refused; /* requests of more than MOST_REQUEST */
} gateway;

static bool read_exactly(int s, char *to, size_t n)
{
    return recv(s, to, n, MSG_WAITALL) == (ssize_t)n;
}

static void write_cell(const gateway *g, gf_buffer *to, size_t number)
{
    static char name[MOST_NAME];
    size_t n = (size_t)snprintf(name, sizeof name, "%06zu", number);
    memset(name + n, 'n', sizeof name - n);
    gf_thrift_string_field(to, 1, GF_SLICE("main"));
    gf_thrift_string_field(to, 2, gf_slice_of(name, g->name_bytes));
    gf_thrift_string_field(to, 3, (gf_slice){0});
    gf_thrift_i64_field(to, 4, 1000 + (int64_t)number);
    gf_thrift_stop(to);
}

static void write_row(const gateway *g, gf_buffer *to, gf_slice row, size_t n_cells)
{
    gf_thrift_string_field(to, 1, row);
    gf_thrift_field(to, GF_THRIFT_LIST, 2);
    gf_thrift_list(to, GF_THRIFT_STRUCT, n_cells);
    for (size_t i = 0; i < n_cells; i++)
        write_cell(g, to, i);
    gf_thrift_stop(to);
}

/* At the value of field 2 of the arguments; false where it has another type. */
static bool find_second(gf_thrift_reader *r, gf_thrift_type type)
{
    gf_thrift_type is;
    uint16_t id;
    while (gf_thrift_take_field(r, &is, &id)) {
        if (id == 2) return is == type;
        gf_thrift_skip(r, is);
    }
    return false;
}

/* The rows of a list that is field 2. */
static uint32_t count_rows(gf_thrift_reader r)
{
    return find_second(&r, GF_THRIFT_LIST) ? gf_thrift_take_list(&r, GF_THRIFT_STRUCT) : 0;
}

/* Rows of documents as HBase has them: what the last part ends with is left out. */
static const char row_format[] = "a%c\1c%c\1%06zu";
enum { ROW_BYTES = 12 };

static void begin_scan(gateway *g, gf_thrift_reader *arguments)
{
    gf_thrift_type type;
    uint16_t id;
    assert_true(find_second(arguments, GF_THRIFT_STRUCT));
    assert_true(gf_thrift_take_field(arguments, &type, &id) && id == 1);
    gf_slice start = gf_thrift_take_string(arguments);
    uint64_t at = 0;
    if (start.len == ROW_BYTES) assert_true(gf_number_read(gf_slice_skip(start, 6), &at));
    g->scanned = at;
}

/* Where too many are asked for they are passed over, and no answer is given. */
static bool write_scanned(gateway *g, gf_buffer *to, uint32_t n)
{
    char row[ROW_BYTES + 1];
    size_t left = g->scan_end - g->scanned;
    if (n > left) n = (uint32_t)left;
    gf_thrift_list(to, GF_THRIFT_STRUCT, n);
    for (uint32_t i = 0; i < n; i++) {
        snprintf(row, sizeof row, row_format, 0, 0, g->scanned++);
        write_row(g, to, gf_slice_of(row, ROW_BYTES), 1);
    }
    return !g->most_rows || n <= g->most_rows;
}

/* The result of a call; false: more than an answer may have. */
static bool write_result(gateway *g, gf_slice method, gf_thrift_reader *arguments, gf_buffer *to)
{
    static const char *const families[] = {"main", "progress", "counter"};
    if (gf_slice_equal(method, GF_SLICE("getNamespaceDescriptor")) ||
        gf_slice_equal(method, GF_SLICE("get"))) {
        gf_thrift_field(to, GF_THRIFT_STRUCT, 0);
        gf_thrift_stop(to);
    } else if (gf_slice_equal(method, GF_SLICE("tableExists")) ||
               gf_slice_equal(method, GF_SLICE("checkAndMutate"))) {
        gf_thrift_bool_field(to, 0, true);
    } else if (gf_slice_equal(method, GF_SLICE("getTableDescriptor"))) {
        gf_thrift_field(to, GF_THRIFT_STRUCT, 0);
        gf_thrift_field(to, GF_THRIFT_LIST, 2);
        gf_thrift_list(to, GF_THRIFT_STRUCT, 3); /* what a table of the engine lacks is added */
        for (size_t i = 0; i < 3; i++) {
            gf_thrift_string_field(to, 1, gf_slice_str(families[i]));
            gf_thrift_stop(to);
        }
        gf_thrift_stop(to);
    } else if (gf_slice_equal(method, GF_SLICE("deleteMultiple"))) {
        gf_thrift_field(to, GF_THRIFT_LIST, 0);
        gf_thrift_list(to, GF_THRIFT_STRUCT, 0);
    } else if (gf_slice_equal(method, GF_SLICE("openScanner"))) {
        begin_scan(g, arguments);
        gf_thrift_i32_field(to, 0, 1);
    } else if (gf_slice_equal(method, GF_SLICE("getScannerRows"))) {
        assert_true(find_second(arguments, GF_THRIFT_I32));
        gf_thrift_field(to, GF_THRIFT_LIST, 0);
        return write_scanned(g, to, (uint32_t)gf_thrift_take_i32(arguments));
    } else if (gf_slice_equal(method, GF_SLICE("getMultiple"))) {
        uint32_t n = count_rows(*arguments);
        if (g->most_rows && n > g->most_rows) return false;
        gf_thrift_field(to, GF_THRIFT_LIST, 0);
        gf_thrift_list(to, GF_THRIFT_STRUCT, n);
        for (uint32_t i = 0; i < n; i++)
            write_row(g, to, GF_SLICE("row"), g->n_cells);
    }
    return true;
}

static void count_call(gateway *g, gf_slice method, size_t bytes, gf_thrift_reader arguments)
{
    for (int i = 0; i < METHODS; i++) {
        calls *c = &g->calls[i];
        if (!gf_slice_equal(method, gf_slice_str(c->method))) continue;
        c->n++;
        if (bytes > c->largest) c->largest = bytes;
        c->rows += count_rows(arguments);
    }
}

static void serve_connection(gateway *g, int s)
{
    static const char too_much[] = "\x40\0\0\0";
    char head[4], name[64];
    static char request[MOST_REQUEST];
    gf_buffer b = {0};
    gf_error err;
    while (read_exactly(s, head, sizeof head)) {
        size_t n = gf_read_u32be(head);
        g->refused += n > sizeof request;
        if (n > sizeof request || !read_exactly(s, request, n)) break;
        gf_thrift_message call;
        gf_thrift_reader r = {.rest = gf_slice_of(request, n)};
        if (!gf_thrift_take_message(&r, &call)) break;
        count_call(g, call.name, n, r);
        snprintf(name, sizeof name, "%.*s", GF_SLICE_ARG(call.name));
        gf_thrift_begin(&b, GF_THRIFT_REPLY, name, call.number);
        bool answers = write_result(g, call.name, &r, &b);
        assert_ok(gf_thrift_end(&b, &err));
        gf_slice rest = answers ? gf_buffer_view(&b) : gf_slice_of(too_much, 4);
        for (ssize_t sent; rest.len && (sent = send(s, rest.ptr, rest.len, MSG_NOSIGNAL)) > 0;)
            rest = gf_slice_skip(rest, (size_t)sent);
    }
    gf_buffer_release(&b);
}

static void *serve(void *context)
{
    gateway *g = context;
    for (int s; (s = accept(g->listener, NULL, NULL)) >= 0; close(s)) {
        if (!atomic_load(&g->ends)) serve_connection(g, s);
        if (atomic_load(&g->ends)) return close(s), NULL;
    }
    return NULL;
}

/* ---- a store over it ------------------------------------------------------------------------- */

typedef struct test {
    gateway g;
    gf_database *db;
    gf_tables tables;
    gf_batch *batch;
} test;

static gf_error err; /* of the last call */

static struct sockaddr_in begin_gateway(gateway *g)
{
    static const char *const methods[METHODS] = {"getMultiple", "putMultiple", "deleteMultiple",
                                                 "mutateRow",   "put",         "checkAndMutate"};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    for (int i = 0; i < METHODS; i++)
        g->calls[i].method = methods[i];
    g->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(g->listener, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(g->listener, 8), 0);
    assert_int_equal(getsockname(g->listener, (struct sockaddr *)&at, &size), 0);
    assert_int_equal(pthread_create(&g->thread, NULL, serve, g), 0);
    return at;
}

static void begin(test *t, gateway as)
{
    char url[64];
    gf_backend *backend;
    *t = (test){.g = as};
    struct sockaddr_in at = begin_gateway(&t->g);
    snprintf(url, sizeof url, "hbase://127.0.0.1:%d", ntohs(at.sin_port));
    assert_ok(gf_hbase_open(url, &backend, &err));
    assert_ok(gf_database_create(backend, &t->db, &err));
    assert_ok(gf_tables_open(t->db, &t->tables, &err));
    assert_ok(gf_batch_create(t->db, &t->batch, &err));
    gf_batch_stamp(t->batch, 5000000);
}

/* No request was too large; the gateway ends with the connection of the client. */
static void end(test *t)
{
    atomic_store(&t->g.ends, true);
    gf_batch_free(t->batch);
    gf_database_close(t->db);
    pthread_join(t->g.thread, NULL);
    close(t->g.listener);
    assert_int_equal(t->g.refused, 0);
}

static void delete_documents(test *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char id[16];
        gf_buffer key = {0};
        snprintf(id, sizeof id, "doc%05zu", i);
        gf_tables_document_key(&key, GF_SLICE("a"), GF_SLICE("c"), gf_slice_str(id));
        gf_batch_delete_row(t->batch, t->tables.documents, gf_buffer_view(&key), GF_ALL_FAMILIES);
        gf_buffer_release(&key);
    }
}

/* A document of n fields with names and values of so many bytes. */
static void put_fields(test *t, size_t n, size_t name_bytes, size_t value_bytes)
{
    static char names[1024][MOST_NAME];
    static char value[20000];
    gf_column columns[1024];
    gf_buffer key = {0};
    memset(value, 'v', sizeof value);
    for (size_t i = 0; i < n; i++) {
        memset(names[i], 'f', name_bytes);
        memcpy(names[i],
               &(char[4]){'0' + (char)(i / 100), '0' + (char)(i / 10 % 10), '0' + (char)(i % 10)},
               4);
        columns[i] =
            (gf_column){gf_slice_of(names[i], name_bytes), gf_slice_of(value, value_bytes)};
    }
    gf_tables_document_key(&key, GF_SLICE("a"), GF_SLICE("c"), GF_SLICE("one"));
    gf_batch_replace(t->batch, t->tables.documents, gf_buffer_view(&key), 0, columns, n, 0);
    gf_buffer_release(&key);
}

static gf_status write_batch(test *t)
{
    return gf_batch_write(t->batch, GF_SYNC_ON, &err);
}

/* ---- the tests ------------------------------------------------------------------------------- */

/* Each cell that goes takes more than the row's name: 3.2 MB in all. */
static void deletions_of_many_rows_are_several_requests(void **state)
{
    test t;
    (void)state;
    begin(&t, (gateway){.n_cells = 20, .name_bytes = 8});
    delete_documents(&t, 4000);
    assert_ok(write_batch(&t));
    end(&t);
    assert_true(t.g.calls[DELETE_MULTIPLE].n > 2);
    assert_int_equal(t.g.calls[DELETE_MULTIPLE].rows, 4000);
}

static void many_values_of_some_kilobytes_are_cut(void **state)
{
    static const struct {
        size_t fields, value;
    } of[] = {{200, 12000}, {1024, 2000}, {1000, 16 << 10}, {100, 20000}};
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        test t;
        begin(&t, (gateway){.name_bytes = 8});
        put_fields(&t, of[i].fields, 16, of[i].value);
        assert_ok(write_batch(&t));
        end(&t);
        assert_int_equal(t.g.calls[PUT_MULTIPLE].rows, 1);
        size_t parts = t.g.calls[PUT].n;
        assert_true(parts > 0 && parts < of[i].fields);
        assert_true((of[i].fields - parts) * of[i].value > 1 << 20); /* no more than has to be */
    }
}

/* A row whose names have 20 MB: its family goes as a whole, in a request of a few bytes. */
static void a_row_of_long_names_is_deleted_at_once(void **state)
{
    test t;
    (void)state;
    begin(&t, (gateway){.n_cells = 1000, .name_bytes = 20000});
    delete_documents(&t, 2);
    assert_ok(write_batch(&t));
    end(&t);
    assert_int_equal(t.g.calls[DELETE_MULTIPLE].n, 1);
    assert_true(t.g.calls[DELETE_MULTIPLE].largest < 1000);
}

/* Where others take their place, those that go go ahead. */
static void a_row_of_long_names_gets_others(void **state)
{
    test t;
    (void)state;
    begin(&t, (gateway){.n_cells = 1000, .name_bytes = 3000});
    put_fields(&t, 1000, 100, 500);
    assert_ok(write_batch(&t));
    end(&t);
    assert_true(t.g.calls[DELETE_MULTIPLE].n > 2);
    assert_int_equal(t.g.calls[MUTATE_ROW].n, 1);
}

/* What is there of 4,000 rows may be more than an answer has: fewer are asked for. */
static void fewer_rows_are_asked_for(void **state)
{
    test t;
    (void)state;
    begin(&t, (gateway){.n_cells = 20, .name_bytes = 8, .most_rows = 20});
    delete_documents(&t, 1000);
    assert_ok(write_batch(&t));
    end(&t);
    assert_int_equal(t.g.calls[DELETE_MULTIPLE].rows, 1000);
}

/* A page is more than an answer has: it is asked for in smaller ones, and no row is left out. */
static void a_page_that_is_too_large_is_read_in_parts(void **state)
{
    enum { ROWS = 2000 };
    test t;
    gf_scan *scan;
    gf_row row = {0};
    gf_buffer key = {0};
    (void)state;
    for (size_t most = 1; most < 300; most = most * 4 + 1) {
        begin(&t, (gateway){.name_bytes = 8, .most_rows = most, .scan_end = ROWS});
        gf_scan_options o = GF_SCAN_OPTIONS();
        assert_ok(gf_scan_open(t.tables.documents, &o, &scan, &err));
        size_t n = 0;
        for (; gf_scan_next(scan, &row, &err) == GF_OK; n++) {
            char id[16];
            snprintf(id, sizeof id, "%06zu", n);
            gf_buffer_reset(&key);
            gf_tables_document_key(&key, GF_SLICE("a"), GF_SLICE("c"), gf_slice_str(id));
            assert_true(gf_slice_equal(row.key, gf_buffer_view(&key)));
        }
        assert_int_equal(n, ROWS);
        gf_scan_close(scan);
        end(&t);
    }
    gf_buffer_release(&key);
    gf_row_release(&row);
}

/* No request has room for it, and it is told before the journal: there all others would wait for it. */
static void a_row_of_too_many_names_is_refused(void **state)
{
    test t;
    gf_hold hold;
    gf_buffer key = {0};
    (void)state;
    begin(&t, (gateway){.name_bytes = 8});
    put_fields(&t, 50, 30000, 300);
    assert_ok(write_batch(&t));
    gf_tables_collection_key(&key, GF_SLICE("a"), GF_SLICE("c"));
    gf_slice held = gf_buffer_view(&key);
    assert_ok(gf_database_hold_in_rows(t.db, t.tables.collections, GF_COLLECTIONS_HOLD,
                                       GF_COLLECTIONS_JOURNAL, &err));
    assert_ok(gf_hold_take(t.tables.collections, &held, 1, &hold, &err));
    size_t before = t.g.calls[CHECK_AND_MUTATE].n;
    put_fields(&t, 60, 30000, 300);
    assert_status(GF_ELIMIT, write_batch(&t));
    assert_non_null(strstr(err.message, "bytes of names and small values"));
    assert_int_equal(t.g.calls[CHECK_AND_MUTATE].n, before);
    gf_batch_put(t.batch, t.tables.collections, held, GF_COLLECTIONS_EDITS, GF_SLICE("e"),
                 GF_SLICE("1"), 0);
    assert_ok(write_batch(&t)); /* the hold is there still */
    gf_hold_let_go(&hold);
    gf_buffer_release(&key);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deletions_of_many_rows_are_several_requests),
        cmocka_unit_test(many_values_of_some_kilobytes_are_cut),
        cmocka_unit_test(a_row_of_long_names_is_deleted_at_once),
        cmocka_unit_test(a_row_of_long_names_gets_others),
        cmocka_unit_test(fewer_rows_are_asked_for),
        cmocka_unit_test(a_page_that_is_too_large_is_read_in_parts),
        cmocka_unit_test(a_row_of_too_many_names_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
