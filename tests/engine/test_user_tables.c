/*
 * Tables of users by the library: the bytes of keys and values, schemas that are refused,
 * additions, increments, walks over rows against a slow answer, dropping, and what a crash may
 * leave of that.
 */
#include "tests/engine/fixture.h"

#include "base/random.h"
#include "engine/user_internal.h"

#include <leveldb/c.h>
#include <pthread.h>
#include <stdlib.h>

static const gf_slice space = {"test", 4};
#define S(text) gf_slice_str(text)

static const char people[] =
    "{\"key\":[{\"name\":\"id\"}],\"families\":[{\"name\":\"info\",\"columns\":{\"name\":\"text\","
    "\"age\":\"int64\",\"visits\":\"uint64\"}},{\"name\":\"list\",\"layout\":\"wide\",\"type\":"
    "\"decimal\"}]}";
enum { INFO, LIST };

static gf_user_table *make(fixture *f, const char *name, const char *schema)
{
    gf_error err;
    gf_user_table *t;
    assert_ok(gf_user_table_create(f->store, space, S(name), S(schema), &err));
    assert_ok(gf_user_table_open(f->store, space, S(name), &t, &err));
    return t;
}

static void put(gf_user_table *t, const char *row, unsigned family, const char *column,
                const char *text)
{
    gf_error err;
    gf_batch *batch;
    gf_buffer key = {0}, value = {0};
    gf_slice part = S(row);
    assert_ok(gf_user_key_write(t, &part, 1, &key, &err));
    assert_ok(gf_value_write(gf_user_cell_type(t, family, S(column)), S(text), &value, &err));
    assert_ok(gf_batch_create(gf_store_database(t->store), &batch, &err));
    gf_batch_put(batch, gf_user_table_rows(t), gf_buffer_view(&key), family, S(column),
                 gf_buffer_view(&value), 0);
    assert_ok(gf_batch_write(batch, GF_NO_SYNC, &err));
    gf_batch_free(batch);
    gf_buffer_release(&key);
    gf_buffer_release(&value);
}

/* ---- types ------------------------------------------------------------------------------------
 */

static void bytes_of_values(void **state)
{
    (void)state;
    static const struct {
        const char *type, *text, *hex; /* hex NULL: refused */
    } all[] = {{"int64", "200", "00000000000000c8"},
               {"int64", "-1", "ffffffffffffffff"},
               {"int64", "-9223372036854775808", "8000000000000000"},
               {"int64", "9223372036854775807", "7fffffffffffffff"},
               {"int64", "9223372036854775808", NULL},
               {"int64", "-9223372036854775809", NULL},
               {"int64", "", NULL},
               {"int64", "-", NULL},
               {"int64", "+1", NULL},
               {"int64", "1.0", NULL},
               {"uint64", "22", "0000000000000016"},
               {"uint64", "18446744073709551615", "ffffffffffffffff"},
               {"uint64", "18446744073709551616", NULL},
               {"uint64", "-1", NULL},
               {"decimal", "-12", "2d3132"},
               {"decimal", "007", "37"},
               {"decimal", "x", NULL},
               {"float", "1", "3ff0000000000000"},
               {"float", "-0.5", "bfe0000000000000"},
               {"float", "nan", NULL},
               {"float", "1e999", NULL},
               {"bytes", "00fFA0", "00ffa0"},
               {"bytes", "", ""},
               {"bytes", "0", NULL},
               {"bytes", "0g", NULL},
               {"text", "\xC3\xA4", "c3a4"},
               {"text", "", ""},
               {"text", "\xC3", NULL},
               {"json", " {\"a\" : [1, 2.50]}\n", "7b2261223a5b312c322e355d7d"},
               {"json", "", NULL},
               {"json", "{", NULL}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        gf_type type;
        gf_error err;
        gf_buffer bytes = {0}, text = {0}, again = {0};
        assert_true(gf_type_named(S(all[i].type), &type));
        assert_string_equal(gf_type_name(type), all[i].type);
        gf_status st = gf_value_write(type, S(all[i].text), &bytes, &err);
        assert_int_equal(st, all[i].hex ? GF_OK : GF_EINVAL);
        if (st == GF_OK) {
            gf_print_hex(gf_buffer_view(&bytes), &text);
            assert_slice(gf_buffer_view(&text), all[i].hex);
            gf_buffer_reset(&text);
            assert_true(gf_value_print(type, gf_buffer_view(&bytes), &text));
            assert_ok(gf_value_write(type, gf_buffer_view(&text), &again, &err));
            assert_true(gf_slice_equal(gf_buffer_view(&bytes), gf_buffer_view(&again)));
        }
        gf_buffer_release(&bytes);
        gf_buffer_release(&text);
        gf_buffer_release(&again);
    }
}

/* Any bytes are of a type, and come back from its text form, or are told not to be. */
static void any_bytes(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (int i = 0; i < 20000; i++) {
        char bytes[9];
        size_t n = gf_random_below(&r, sizeof bytes + 1);
        gf_type type = (gf_type)gf_random_below(&r, GF_TYPE_JSON + 1);
        gf_buffer text = {0}, again = {0};
        gf_error err;
        for (size_t b = 0; b < n; b++)
            bytes[b] = (char)gf_random_below(&r, gf_random_below(&r, 2) ? 256 : 128);
        if (gf_value_print(type, gf_slice_of(bytes, n), &text)) {
            assert_ok(gf_value_write(type, gf_buffer_view(&text), &again, &err));
            bool shorter =
                type == GF_TYPE_DECIMAL || type == GF_TYPE_JSON; /* one form of several */
            if (!shorter)
                assert_true(gf_slice_equal(gf_slice_of(bytes, n), gf_buffer_view(&again)));
        } else {
            assert_int_equal(text.len, 0);
        }
        gf_buffer_release(&text);
        gf_buffer_release(&again);
    }
}

/* ---- keys -------------------------------------------------------------------------------------
 */

static void key_is(gf_user_table *t, const char *const *parts, unsigned n, const char *hex)
{
    gf_error err;
    gf_slice slices[8];
    gf_buffer key = {0}, text = {0};
    for (unsigned i = 0; i < n; i++)
        slices[i] = S(parts[i]);
    assert_ok(gf_user_key_write(t, slices, n, &key, &err));
    gf_print_hex(gf_buffer_view(&key), &text);
    assert_slice(gf_buffer_view(&text), hex);
    gf_slice rest = gf_buffer_view(&key);
    for (unsigned i = 0; i < n; i++) {
        gf_buffer_reset(&text);
        assert_ok(gf_user_key_take(t, i, &rest, &text, &err));
        assert_slice(gf_buffer_view(&text), parts[i]);
    }
    assert_int_equal(rest.len, 0);
    assert_status(GF_ECORRUPT, gf_user_key_take(t, n, &rest, &text, &err));
    gf_buffer_release(&key);
    gf_buffer_release(&text);
}

static void bytes_of_keys(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    gf_user_table *t =
        make(&f, "keys",
             "{\"key\":[{\"name\":\"a\"},{\"name\":\"b\",\"type\":\"int64\"},{\"name\":"
             "\"c\",\"type\":\"uint64\"},{\"name\":\"d\",\"type\":\"bytes\"},{\"name\":"
             "\"e\",\"type\":\"raw\",\"width\":3}],\"families\":[{\"name\":\"m\"}]}");
    key_is(t, (const char *[]){"u1", "-1", "9223370789411575807", "00ff", "abcdef"}, 5,
           "75310001"
           "7fffffffffffffff"
           "7ffffedd8e9757ff"
           "00ffff0001"
           "abcdef");
    key_is(t, (const char *[]){"", "0"}, 2, "00018000000000000000");

    gf_buffer key = {0};
    const gf_slice short_raw[] = {S("x"), S("1"), S("1"), S("00"), S("abcd")};
    assert_status(GF_EINVAL, gf_user_key_write(t, short_raw, 5, &key, &err));
    assert_non_null(strstr(err.message, "key part e"));
    assert_status(GF_EINVAL, gf_user_key_start(t, 1, S("1"), &key, &err));
    gf_buffer_reset(&key);
    assert_ok(gf_user_key_start(t, 4, S("abcd"), &key, &err));
    assert_int_equal(key.len, 2);
    gf_buffer_release(&key);
    gf_user_table_close(t);
    fixture_close(&f);
}

/* ---- schemas ----------------------------------------------------------------------------------
 */

static void schemas_that_are_refused(void **state)
{
    (void)state;
    static const char *const all[] = {
        "",
        "[]",
        "{}",
        "null",
        "{\"key\":[]}",
        "{\"key\":[],\"families\":[{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[]}",
        "{\"key\":[{\"name\":\"a\"}]}",
        "{\"key\":{\"name\":\"a\"},\"families\":[{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"\"}],\"families\":[{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"a\\u0000b\"}],\"families\":[{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"a\"},{\"name\":\"a\"}],\"families\":[{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"a\",\"type\":\"json\"}],\"families\":[{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"a\",\"type\":\"raw\",\"width\":256}],\"families\":[{\"name\":\"a\"}]"
        "}",
        "{\"key\":[{\"name\":\"a\",\"type\":\"raw\",\"width\":0}],\"families\":[{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"a\",\"width\":3}],\"families\":[{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\"},{\"name\":\"a\"}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a:b\"}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"versions\":0}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"versions\":1.5}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"ttl\":-1}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"layout\":\"flat\"}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"compression\":\"zip\"}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"columns\":[\"x\"]}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"columns\":{\"\":\"text\"}}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"columns\":{\"x\":\"int\"}}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"columns\":{\"x\":\"text\","
        "\"x\":\"text\"}}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"columns\":{\"x\":\"text\"}},"
        "{\"name\":\"b\",\"columns\":{\"x\":\"text\"}}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"layout\":\"wide\",\"columns\":"
        "{\"x\":\"text\"}}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"qualifier\":\"int64\"}]}",
        "{\"key\":[{\"name\":\"a\"}],\"families\":[{\"name\":\"a\",\"layout\":\"wide\","
        "\"qualifier\":\"json\"}]}"};
    fixture f;
    gf_error err;
    fixture_open(&f);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        gf_status st = gf_user_table_create(f.store, space, S("t"), S(all[i]), &err);
        if (st != GF_EINVAL) fail_msg("%s: %s", all[i], gf_status_name(st));
        if (strncmp(err.message, "schema", 6) != 0) fail_msg("%s: %s", all[i], err.message);
    }
    gf_user_table *t;
    assert_status(GF_ENOTFOUND, gf_user_table_open(f.store, space, S("t"), &t, &err));
    assert_status(GF_EINVAL, gf_user_table_create(f.store, space, S(""), S(people), &err));
    fixture_close(&f);
}

/* Schemas that are changed at random are read, or refused with a reason; nothing else happens. */
static void random_schemas(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    static const char *const pieces[] = {
        "\"key\"",     "\"families\"",  "\"name\"",  "{",   "}",  "[",   "]",        ",",
        ":",           "\"raw\"",       "\"width\"", "255", "-1", "1e9", "\"wide\"", "null",
        "\"columns\"", "\"qualifier\"", "true"};
    uint64_t read = 0;
    for (int i = 0; i < 20000; i++) {
        gf_arena memory = {0};
        gf_user_schema s;
        gf_error err = {GF_OK, ""};
        gf_buffer text = {0};
        gf_buffer_str(&text, people);
        for (uint64_t n = gf_random_below(&r, 4); n > 0; n--) {
            size_t at = gf_random_below(&r, text.len);
            const char *piece = pieces[gf_random_below(&r, sizeof pieces / sizeof pieces[0])];
            if (gf_random_below(&r, 2))
                text.ptr[at] = (char)gf_random_below(&r, 256);
            else if (at + strlen(piece) <= text.len)
                memcpy(text.ptr + at, piece, strlen(piece));
        }
        gf_status st = gf_user_schema_read(gf_buffer_view(&text), gf_random_below(&r, 4) == 0,
                                           &memory, &s, &err);
        assert_true(st == GF_OK || (st == GF_EINVAL && err.message[0]));
        read += st == GF_OK;
        gf_arena_release(&memory);
        gf_buffer_release(&text);
    }
    assert_true(read > 0);
}

static void growing(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_user_table *t, *now;
    fixture_open(&f);
    t = make(&f, "people", people);
    put(t, "u1", INFO, "city", "Ulm");
    assert_ok(
        gf_user_table_alter(f.store, space, S("people"),
                            S("{\"families\":[{\"name\":\"info\",\"columns\":{\"city\":\"bytes\"}"
                              "},{\"name\":\"more\",\"versions\":2}]}"),
                            &err));
    assert_status(GF_EINVAL,
                  gf_user_table_alter(f.store, space, S("people"),
                                      S("{\"families\":[{\"name\":\"more\",\"versions\":3,"
                                        "\"columns\":{\"x\":\"text\"}}]}"),
                                      &err));
    assert_status(GF_EINVAL,
                  gf_user_table_alter(f.store, space, S("people"), S("{\"key\":[]}"), &err));
    assert_status(GF_ENOTFOUND,
                  gf_user_table_alter(f.store, space, S("nobody"), S("{\"families\":[]}"), &err));
    /* Who had it open goes on with what there was; who opens it now sees what there is. */
    put(t, "u2", INFO, "name", "Bo");
    assert_int_equal(gf_user_table_schema(t)->n_families, 2);
    assert_ok(gf_user_table_open(f.store, space, S("people"), &now, &err));
    assert_int_equal(gf_user_table_schema(now)->n_families, 3);
    assert_int_equal(gf_user_cell_type(now, INFO, S("city")), GF_TYPE_BYTES);
    gf_user_table_close(t);
    gf_user_table_close(now);
    fixture_close(&f);
    fixture_reopen(&f);
    assert_ok(gf_user_table_open(f.store, space, S("people"), &now, &err));
    assert_int_equal(gf_user_table_schema(now)->n_families, 3);
    gf_user_table_close(now);
    fixture_close(&f);
}

/* ---- increments -------------------------------------------------------------------------------
 */

typedef struct adder {
    gf_store *store;
    const char *column;
    int times;
} adder;

static void *add(void *context)
{
    adder *a = context;
    gf_error err = {GF_OK, ""};
    gf_user_table *t;
    gf_buffer key = {0}, sum = {0};
    gf_slice part = S("u1");
    bool good = gf_user_table_open(a->store, space, S("people"), &t, &err) == GF_OK &&
                gf_user_key_write(t, &part, 1, &key, &err) == GF_OK;
    for (int i = 0; i < a->times && good; i++)
        good =
            gf_user_increment(t, gf_buffer_view(&key), INFO, S(a->column), 1, &sum, &err) == GF_OK;
    gf_user_table_close(t);
    gf_buffer_release(&key);
    gf_buffer_release(&sum);
    return good ? a : NULL;
}

static void increments(void **state)
{
    (void)state;
    enum { THREADS = 4, TIMES = 25 };
    fixture f;
    gf_error err;
    pthread_t threads[THREADS];
    fixture_open(&f);
    gf_user_table *t = make(&f, "people", people);
    gf_buffer key = {0}, sum = {0};
    gf_slice part = S("u1");
    assert_ok(gf_user_key_write(t, &part, 1, &key, &err));
    gf_slice row = gf_buffer_view(&key);
    adder a = {f.store, "age", TIMES};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add, &a), 0);
    for (int i = 0; i < THREADS; i++) {
        void *good;
        pthread_join(threads[i], &good);
        assert_non_null(good);
    }
    assert_ok(gf_user_increment(t, row, INFO, S("age"), -200, &sum, &err));
    assert_slice(gf_buffer_view(&sum), "-100");

    static const struct {
        const char *column, *first;
        int64_t delta;
        gf_status status;
        const char *sum;
    } all[] = {{"age", "9223372036854775807", 1, GF_ELIMIT, NULL},
               {"age", "-9223372036854775808", -1, GF_ELIMIT, NULL},
               {"age", "-9223372036854775808", INT64_MAX, GF_OK, "-1"},
               {"visits", "18446744073709551614", 1, GF_OK, "18446744073709551615"},
               {"visits", "18446744073709551615", 1, GF_ELIMIT, NULL},
               {"visits", "5", -5, GF_OK, "0"},
               {"visits", "5", -6, GF_ELIMIT, NULL},
               {"visits", "9223372036854775808", INT64_MIN, GF_OK, "0"},
               {"name", "41", 1, GF_OK, "42"},
               {"name", "x", 1, GF_EINVAL, NULL}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        put(t, "u1", INFO, all[i].column, all[i].first);
        gf_buffer_reset(&sum);
        assert_status(all[i].status,
                      gf_user_increment(t, row, INFO, S(all[i].column), all[i].delta, &sum, &err));
        if (all[i].sum) assert_slice(gf_buffer_view(&sum), all[i].sum);
    }
    gf_buffer_release(&key);
    gf_buffer_release(&sum);
    gf_user_table_close(t);
    fixture_close(&f);
}

/* ---- walks over rows --------------------------------------------------------------------------
 *
 * Random rows of both families; what a walk gives is compared with what a get of each row gives.
 */

enum { ROWS = 40 };

static void name_of_row(char name[8], int i)
{
    snprintf(name, 8, "%c%02d", 'a' + i % 3, i);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void cells_as_text(gf_user_table *t, const gf_row *row, gf_buffer *out)
{
    for (size_t i = 0; i < row->n_cells; i++) {
        const gf_cell *c = &row->cells[i];
        gf_buffer_format(out, "%u:%.*s=", c->family, GF_SLICE_ARG(c->qualifier));
        assert_true(gf_value_print(gf_user_cell_type(t, c->family, c->qualifier), c->value, out));
        gf_buffer_byte(out, ' ');
    }
}

/* Whether the row has an age, and how much. */
static bool age_of(const gf_row *row, int64_t *age)
{
    const gf_cell *c = gf_row_find(row, INFO, "age");
    if (c) *age = (int64_t)gf_read_u64be(c->value.ptr);
    return c != NULL;
}

static void slow_answer(gf_user_table *t, const gf_rows_options *o, char names[ROWS][8],
                        const char *prefix, int64_t above, gf_buffer *out)
{
    gf_error err;
    uint64_t offset = o->offset, left = o->limit ? o->limit : UINT64_MAX;
    for (int n = 0; n < ROWS; n++) {
        const char *name = names[o->reverse ? ROWS - 1 - n : n];
        gf_row row = {0}, all = {0};
        gf_buffer key = {0};
        gf_slice part = S(name);
        int64_t age;
        if (strncmp(name, prefix, strlen(prefix)) != 0) continue;
        assert_ok(gf_user_key_write(t, &part, 1, &key, &err));
        gf_slice bytes = gf_buffer_view(&key);
        bool there =
            gf_table_get(t->rows, NULL, bytes, o->families ? o->families : 3u, &row, &err) == GF_OK;
        gf_table_get(t->rows, NULL, bytes, 3, &all, &err);
        bool met = !o->n_where || (age_of(&all, &age) && age > above);
        if (there && met && offset)
            offset--;
        else if (there && met && left) {
            left--;
            gf_buffer_format(out, "%s ", name);
            cells_as_text(t, &row, out);
        }
        gf_row_release(&row);
        gf_row_release(&all);
        gf_buffer_release(&key);
    }
}

static void walk(gf_user_table *t, const gf_rows_options *o, gf_buffer *out)
{
    gf_error err;
    gf_rows *rows;
    const gf_row *row;
    gf_status st;
    assert_ok(gf_rows_open(t, o, &rows, &err));
    while ((st = gf_rows_next(rows, &row, &err)) == GF_OK) {
        gf_slice key = row->key;
        assert_ok(gf_user_key_take(t, 0, &key, out, &err));
        gf_buffer_byte(out, ' ');
        cells_as_text(t, row, out);
    }
    assert_int_equal(st, GF_ENOTFOUND);
    gf_rows_close(rows);
}

static void walks(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    char names[ROWS][8], number[24], column[8];
    fixture_open(&f);
    gf_user_table *t = make(&f, "people", people);
    for (int i = 0; i < ROWS; i++) {
        name_of_row(names[i], i);
        snprintf(number, sizeof number, "%d", (int)gf_random_below(&r, 21) - 10);
        if (gf_random_below(&r, 3)) put(t, names[i], INFO, "age", number);
        if (gf_random_below(&r, 3)) put(t, names[i], INFO, "free", names[i]);
        for (uint64_t n = gf_random_below(&r, 5); n > 0; n--) {
            snprintf(column, sizeof column, "%d", (int)gf_random_below(&r, 100));
            put(t, names[i], LIST, column, number);
        }
    }
    qsort(names, ROWS, sizeof names[0], by_name);
    for (int i = 0; i < 300; i++) {
        static const char *const prefixes[] = {"", "a", "b", "c", "d", "b1"};
        const char *prefix = prefixes[gf_random_below(&r, 6)];
        int64_t above = (int64_t)gf_random_below(&r, 21) - 10;
        char demand[32];
        snprintf(demand, sizeof demand, "%s>%d", i % 2 ? "age" : "info:age", (int)above);
        gf_slice where = S(demand);
        gf_buffer key = {0}, slow = {0}, got = {0};
        gf_rows_options o = {.families = (uint32_t)gf_random_below(&r, 4),
                             .where = &where,
                             .n_where = gf_random_below(&r, 2),
                             .offset = gf_random_below(&r, 3),
                             .limit = gf_random_below(&r, 6),
                             .reverse = gf_random_below(&r, 2)};
        assert_ok(gf_user_key_start(t, 0, S(prefix), &key, &err));
        o.prefix = gf_buffer_view(&key);
        slow_answer(t, &o, names, prefix, above, &slow);
        walk(t, &o, &got);
        assert_slice(gf_buffer_view(&got), gf_buffer_cstr(&slow));
        gf_buffer_release(&key);
        gf_buffer_release(&slow);
        gf_buffer_release(&got);
    }
    gf_user_table_close(t);
    fixture_close(&f);
}

/* ---- dropping ---------------------------------------------------------------------------------
 */

static gf_status tell(void *context, const char *where, const char *what, gf_error *err)
{
    (void)err;
    gf_buffer_format(context, "%s: %s\n", where, what);
    return GF_OK;
}

static void is_sound(fixture *f, uint64_t tables, uint64_t rows)
{
    gf_error err;
    gf_verified v;
    gf_buffer faults = {0};
    gf_store_options o = {.purpose = "verify"};
    fixture_close(f);
    assert_ok(gf_verify(f->path, &o, tell, &faults, &v, &err));
    assert_slice(gf_buffer_view(&faults), "");
    assert_int_equal(v.tables, tables);
    assert_int_equal(v.rows, rows);
    fixture_reopen(f);
}

static void dropping(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_user_table *t, *other;
    fixture_open(&f);
    t = make(&f, "people", people);
    other = make(&f, "others", people);
    put(t, "u1", INFO, "name", "Ann");
    put(other, "u1", INFO, "name", "Bo");
    assert_status(GF_EEXISTS, gf_user_table_create(f.store, space, S("people"), S(people), &err));
    assert_status(GF_EBUSY, gf_user_table_drop(f.store, space, S("people"), NULL, &err));
    gf_user_table_close(t);
    gf_user_table_close(other);
    is_sound(&f, 2, 2);

    /* It is cut short: the name is gone, and the next writer deletes the rows. */
    gf_cancel cancel = {0};
    gf_cancel_request(&cancel);
    assert_ok(gf_user_table_open(f.store, space, S("people"), &t, &err));
    gf_batch *batch;
    assert_ok(gf_batch_create(gf_store_database(f.store), &batch, &err));
    for (int i = 0; i < 9000; i++) {
        char name[8];
        gf_buffer key = {0};
        snprintf(name, sizeof name, "%06d", i);
        gf_slice part = S(name);
        assert_ok(gf_user_key_write(t, &part, 1, &key, &err));
        gf_batch_put(batch, t->rows, gf_buffer_view(&key), LIST, S("x"), S("1"), 0);
        gf_buffer_release(&key);
    }
    assert_ok(gf_batch_write(batch, GF_NO_SYNC, &err));
    gf_batch_free(batch);
    gf_user_table_close(t);
    assert_status(GF_ECANCELLED, gf_user_table_drop(f.store, space, S("people"), &cancel, &err));
    assert_status(GF_ENOTFOUND, gf_user_table_open(f.store, space, S("people"), &t, &err));
    fixture_close(&f);
    fixture_reopen(&f);
    t = make(&f, "people", people);
    gf_buffer got = {0};
    walk(t, &(gf_rows_options){0}, &got);
    assert_slice(gf_buffer_view(&got), "");
    gf_user_table_close(t);

    /* By then nothing is marked any more. */
    uint64_t marked = 1;
    assert_ok(gf_scan_count(f.store->tables.tables, NULL, GF_TABLES_PROGRESS, (gf_slice){0},
                            &marked, &err));
    assert_int_equal(marked, 0);
    is_sound(&f, 2, 1);
    assert_ok(gf_user_table_open(f.store, space, S("others"), &other, &err));
    walk(other, &(gf_rows_options){0}, &got);
    assert_slice(gf_buffer_view(&got), "u1 0:name=Bo ");
    gf_user_table_close(other);
    gf_buffer_release(&got);
    fixture_close(&f);
}

/* A put of a document is enough for the rest to go. */
static void reclaimed_by_a_put(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_cancel cancel = {0};
    uint64_t marked = 0;
    fixture_open(&f);
    gf_user_table *t = make(&f, "people", people);
    for (int i = 0; i < 4100; i++) {
        char name[8];
        snprintf(name, sizeof name, "%06d", i);
        put(t, name, INFO, "name", "x");
    }
    gf_user_table_close(t);
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED, gf_user_table_drop(f.store, space, S("people"), &cancel, &err));
    gf_table *tables = f.store->tables.tables;
    assert_ok(gf_scan_count(tables, NULL, GF_TABLES_PROGRESS, (gf_slice){0}, &marked, &err));
    assert_int_equal(marked, 1);
    fixture_put(&f, "c", "1", "text");
    assert_ok(gf_scan_count(tables, NULL, GF_TABLES_PROGRESS, (gf_slice){0}, &marked, &err));
    assert_int_equal(marked, 0);
    fixture_close(&f);
}

/* ---- damage -----------------------------------------------------------------------------------
 *
 * The catalogue loses the names of tables, all of them or those of users: each finds its own rows
 * again, whatever the order in which they are opened.
 */

static void forget_names(const char *path, const char *start)
{
    char db_path[512], *message = NULL;
    snprintf(db_path, sizeof db_path, "%s/db", path);
    leveldb_options_t *options = leveldb_options_create();
    leveldb_t *db = leveldb_open(options, db_path, &message);
    assert_null(message);
    leveldb_readoptions_t *read = leveldb_readoptions_create();
    leveldb_writeoptions_t *write = leveldb_writeoptions_create();
    leveldb_iterator_t *it = leveldb_create_iterator(db, read);
    gf_buffer prefix = {0};
    gf_buffer_append(&prefix, "\0\0T", 3);
    gf_buffer_str(&prefix, start);
    int n = 0;
    for (leveldb_iter_seek(it, prefix.ptr, prefix.len); leveldb_iter_valid(it);
         leveldb_iter_next(it), n++) {
        size_t length;
        const char *key = leveldb_iter_key(it, &length);
        if (!gf_slice_starts(gf_slice_of(key, length), gf_buffer_view(&prefix))) break;
        leveldb_delete(db, write, key, length, &message);
        assert_null(message);
    }
    assert_true(n >= 2);
    gf_buffer_release(&prefix);
    leveldb_iter_destroy(it);
    leveldb_readoptions_destroy(read);
    leveldb_writeoptions_destroy(write);
    leveldb_close(db);
    leveldb_options_destroy(options);
}

static void rows_are(gf_store *store, const char *name, const char *want)
{
    gf_error err;
    gf_user_table *t;
    gf_buffer got = {0};
    assert_ok(gf_user_table_open(store, space, S(name), &t, &err));
    walk(t, &(gf_rows_options){0}, &got);
    assert_slice(gf_buffer_view(&got), want);
    gf_user_table_close(t);
    gf_buffer_release(&got);
}

static void lost_names(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_user_table *t;
    gf_repaired repaired;
    gf_buffer faults = {0};
    char to[512];
    fixture_open(&f);
    t = make(&f, "zz", people);
    put(t, "u1", INFO, "name", "Zoe");
    gf_user_table_close(t);
    t = make(&f, "aa", people);
    put(t, "u1", INFO, "name", "Ann");
    gf_user_table_close(t);
    fixture_close(&f);

    forget_names(f.path, "user:");
    fixture_reopen(&f);
    t = make(&f, "new", people); /* which must not get what is there */
    gf_user_table_close(t);
    rows_are(f.store, "new", "");
    rows_are(f.store, "aa", "u1 0:name=Ann ");
    rows_are(f.store, "zz", "u1 0:name=Zoe ");
    fixture_close(&f);

    forget_names(f.path, "");
    snprintf(to, sizeof to, "%s/repaired", gf_test_folder());
    gf_store_options o = {.purpose = "repair"};
    assert_ok(gf_repair(f.path, to, &o, tell, &faults, &repaired, &err));
    f.path = to;
    fixture_reopen(&f);
    rows_are(f.store, "aa", "u1 0:name=Ann ");
    rows_are(f.store, "zz", "u1 0:name=Zoe ");
    assert_ok(gf_user_table_drop(f.store, space, S("zz"), NULL, &err));
    rows_are(f.store, "aa", "u1 0:name=Ann ");
    is_sound(&f, 2, 1);
    gf_buffer_release(&faults);
    fixture_close(&f);
}

/* ---- memory -----------------------------------------------------------------------------------
 */

typedef struct swept {
    fixture f;
} swept;

/* What a run that failed has left. */
static void drop_what_is_there(void *context)
{
    swept *s = context;
    gf_error err;
    gf_status st = gf_user_table_drop(s->f.store, space, S("people"), NULL, &err);
    if (st != GF_OK && st != GF_ENOTFOUND) fail_msg("%s", err.message);
}

static gf_status make_use_drop(void *context, gf_error *err)
{
    swept *s = context;
    gf_user_table *t = NULL;
    gf_rows *rows = NULL;
    const gf_row *row;
    gf_slice where = S("age!=1"), part = S("u1");
    gf_buffer key = {0}, sum = {0};
    gf_rows_options o = {.where = &where, .n_where = 1};
    gf_status st = gf_user_table_create(s->f.store, space, S("people"), S(people), err);
    if (st == GF_OK)
        st = gf_user_table_alter(s->f.store, space, S("people"),
                                 S("{\"families\":[{\"name\":\"z\"}]}"), err);
    if (st == GF_OK) st = gf_user_table_open(s->f.store, space, S("people"), &t, err);
    if (st == GF_OK) st = gf_user_key_write(t, &part, 1, &key, err);
    if (st == GF_OK) st = gf_user_increment(t, gf_buffer_view(&key), INFO, S("age"), 2, &sum, err);
    if (st == GF_OK) st = gf_rows_open(t, &o, &rows, err);
    if (st == GF_OK) st = gf_rows_next(rows, &row, err);
    gf_rows_close(rows);
    gf_user_table_close(t);
    if (st == GF_OK) st = gf_user_table_drop(s->f.store, space, S("people"), NULL, err);
    gf_buffer_release(&key);
    gf_buffer_release(&sum);
    return st;
}

static void memory_fails(void **state)
{
    (void)state;
    swept s = {0};
    fixture_open(&s.f);
    gf_test_sweep(make_use_drop, drop_what_is_there, &s);
    is_sound(&s.f, 0, 0);
    fixture_close(&s.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_values), cmocka_unit_test(any_bytes),
        cmocka_unit_test(bytes_of_keys),   cmocka_unit_test(schemas_that_are_refused),
        cmocka_unit_test(random_schemas),  cmocka_unit_test(growing),
        cmocka_unit_test(increments),      cmocka_unit_test(walks),
        cmocka_unit_test(dropping),        cmocka_unit_test(reclaimed_by_a_put),
        cmocka_unit_test(lost_names),      cmocka_unit_test(memory_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
