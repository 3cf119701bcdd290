#include "support/test.h"
#include "tests/formats/archive.h"
#include "tests/formats/memory_input.h"

#include "base/memory.h"
#include "formats/matrix/npy.h"
#include "formats/matrix/npz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- files made for the test ----------------------------------------------------------------- */

enum { MOST_ARRAYS = 12 };

typedef struct file {
    archive_member members[MOST_ARRAYS];
    gf_buffer arrays[MOST_ARRAYS];
    char names[MOST_ARRAYS][32];
    size_t n;
    gf_buffer bytes;
} file;

static void add(file *f, const char *name, const char *type, const uint64_t *shape, unsigned d,
                const void *elements, size_t n_bytes)
{
    gf_buffer *b = &f->arrays[f->n];
    gf_npy_header_write(type, shape, d, b);
    gf_buffer_append(b, elements, n_bytes);
    snprintf(f->names[f->n], sizeof f->names[0], "%s.npy", name);
    f->members[f->n] = (archive_member){f->names[f->n], gf_buffer_view(b), A_FILE};
    f->n++;
}

#define ADD(f, name, type, ...)                                                                    \
    do {                                                                                           \
        uint64_t n_ = sizeof(__VA_ARGS__) / sizeof((__VA_ARGS__)[0]);                              \
        add((f), name, type, &n_, 1, __VA_ARGS__, sizeof(__VA_ARGS__));                            \
    } while (0)

static gf_status read_file(file *f, gf_npz_matrix *m, gf_error *err)
{
    if (f->bytes.len == 0) make_archive("zip", NULL, f->members, f->n, &f->bytes);
    memory_stream stream = {.name = "m.npz", .bytes = gf_buffer_view(&f->bytes)};
    memory_input input = {.streams = &stream, .n = 1, .chunk = 1000};
    gf_input in = memory_input_start(&input);
    return gf_npz_read_matrix(&in, NULL, m, err);
}

static void release(file *f)
{
    for (size_t i = 0; i < f->n; i++)
        gf_buffer_release(&f->arrays[i]);
    gf_buffer_release(&f->bytes);
}

static void expect(file *f, gf_status status, const char *words)
{
    gf_error err = {GF_OK, ""};
    gf_npz_matrix m = {.dense = NULL};
    gf_status st = read_file(f, &m, &err);
    if (st != status || !strstr(err.message, words))
        fail_msg("%s: %s, not %s: %s", gf_status_name(st), err.message, gf_status_name(status),
                 words);
    assert_null(m.id);
    release(f);
}

/* [[0, 2.5, 0], [0, 0, 0], [-1, 0, 3]], row 2 out of order and with a column twice and a zero. */
static const double DATA[] = {2.5, 1, -1, 2, 0};
static const int32_t INDICES[] = {1, 2, 0, 2, 1};
static const int32_t INDPTR[] = {0, 1, 1, 5};
static const int64_t SHAPE[] = {3, 3};
static const char IDS[3][2] = {"a", "bb", "c"};

static void add_sparse(file *f)
{
    *f = (file){.n = 0};
    add(f, "format", "|S3", NULL, 0, "csr", 3);
    ADD(f, "data", "<f8", DATA);
    ADD(f, "indices", "<i4", INDICES);
    ADD(f, "indptr", "<i4", INDPTR);
    ADD(f, "shape", "<i8", SHAPE);
}

static void add_dense(file *f)
{
    static const float rows[] = {1, 2, 3, 4, 5, 6};
    static const uint64_t shape[] = {3, 2};
    *f = (file){.n = 0};
    add(f, "rows", "<f4", shape, 2, rows, sizeof rows);
}

/* ---- what is read ---------------------------------------------------------------------------- */

static void sparse_rows(void **state)
{
    (void)state;
    gf_error err;
    gf_npz_matrix m;
    file f;
    add_sparse(&f);
    ADD(&f, "ids", "|S2", IDS);
    assert_ok(read_file(&f, &m, &err));
    assert_int_equal(m.matrix.n_rows, 3);
    assert_int_equal(m.matrix.n_cols, 3);
    assert_null(m.matrix.dense);
    const gf_csr *x = m.matrix.sparse;
    assert_ok(gf_csr_check(x, &err));
    static const uint64_t start[] = {0, 1, 1, 3};
    static const uint32_t col[] = {1, 0, 2};
    static const float val[] = {2.5f, -1, 3};
    assert_memory_equal(x->start, start, sizeof start);
    assert_memory_equal(x->col, col, sizeof col);
    assert_memory_equal(x->val, val, sizeof val);
    assert_slice(m.matrix.id[0], "a");
    assert_slice(m.matrix.id[1], "bb");
    assert_slice(m.matrix.id[2], "c");
    gf_npz_matrix_release(&m);
    release(&f);
}

static void dense_rows(void **state)
{
    (void)state;
    static const int8_t bytes[] = {-1, 2, 0, 127, -128, 5};
    static const int64_t ids[] = {-7, 12, INT64_MAX};
    static const uint64_t shape[] = {3, 2};
    gf_error err;
    gf_npz_matrix m;
    file f;
    add_dense(&f);
    ADD(&f, "ids", "<i8", ids);
    assert_ok(read_file(&f, &m, &err));
    assert_null(m.matrix.sparse);
    for (int i = 0; i < 6; i++)
        assert_true(m.matrix.dense[i] == (float)(i + 1));
    assert_slice(m.matrix.id[0], "-7");
    assert_slice(m.matrix.id[2], "9223372036854775807");
    gf_npz_matrix_release(&m);
    release(&f);
    f = (file){.n = 0};
    add(&f, "vectors", "|i1", shape, 2, bytes, sizeof bytes);
    ADD(&f, "ids", "<i8", ids);
    assert_ok(read_file(&f, &m, &err));
    for (int i = 0; i < 6; i++)
        assert_true(m.matrix.dense[i] == (float)bytes[i]);
    gf_npz_matrix_release(&m);
    release(&f);
    /* In Fortran order the first column comes first. */
    static const double columns[] = {1, 3, 5, 2, 4, 6};
    f = (file){.n = 0};
    add(&f, "rows", "<f8", shape, 2, columns, sizeof columns);
    memcpy(memmem(f.arrays[0].ptr, f.arrays[0].len, "False", 5), "True ", 5);
    ADD(&f, "ids", "<i8", ids);
    assert_ok(read_file(&f, &m, &err));
    for (int i = 0; i < 6; i++)
        assert_true(m.matrix.dense[i] == (float)(i + 1));
    gf_npz_matrix_release(&m);
    release(&f);
}

/* "é", a text of four bytes in UTF-8, and an empty one, which is no document's. */
static void ids_in_unicode(void **state)
{
    (void)state;
    static const uint32_t ids[3][2] = {{0xE9, 'x'}, {0x1F600, 0}, {0, 0}};
    gf_error err;
    gf_npz_matrix m;
    file f;
    add_dense(&f);
    ADD(&f, "ids", "<U2", ids);
    assert_ok(read_file(&f, &m, &err));
    assert_slice(m.matrix.id[0], "\xC3\xA9x");
    assert_slice(m.matrix.id[1], "\xF0\x9F\x98\x80");
    assert_slice(m.matrix.id[2], "");
    gf_npz_matrix_release(&m);
    release(&f);
}

static void ids_as_bytes(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {'a', 0, 'b', 'c'};
    static const int64_t offsets[] = {0, 2, 2, 4};
    gf_error err;
    gf_npz_matrix m;
    file f;
    add_dense(&f);
    ADD(&f, "ids_utf8", "|u1", bytes);
    ADD(&f, "ids_offsets", "<i8", offsets);
    assert_ok(read_file(&f, &m, &err));
    assert_true(gf_slice_equal(m.matrix.id[0], gf_slice_of("a\0", 2)));
    assert_slice(m.matrix.id[1], "");
    assert_slice(m.matrix.id[2], "bc");
    gf_npz_matrix_release(&m);
    release(&f);
}

/* ---- what is refused ------------------------------------------------------------------------- */

#define WITH_IDS(f) ADD(f, "ids", "|S2", IDS)

static void refused_sparse(void **state)
{
    (void)state;
    static const int32_t falling[] = {0, 3, 1, 5}, late[] = {1, 1, 1, 5}, past[] = {0, 1, 1, 9};
    static const int32_t early[] = {0, 1, 1, 4}, column[] = {1, 2, 0, 3, 1},
                         below[] = {-1, 2, 0, 2, 1};
    static const double nan_value[] = {2.5, 1, (double)NAN, 2, 0}, large[] = {2.5, 1, 1e300, 2, 0};
    static const int64_t tall[] = {4, 3}, huge[] = {INT64_MAX, 3}, negative[] = {3, -1},
                         three[] = {3, 3, 1};
    static const struct {
        int part;
        const char *name, *type;
        const void *elements;
        uint64_t n;
        size_t bytes;
        const char *words;
    } cases[] = {{3, "indptr", "<i4", falling, 4, sizeof falling, "indptr"},
                 {3, "indptr", "<i4", late, 4, sizeof late, "indptr"},
                 {3, "indptr", "<i4", past, 4, sizeof past, "indptr"},
                 {3, "indptr", "<i4", early, 4, sizeof early, "do not fit"},
                 {3, "indptr", "<i4", early, 3, 12, "one entry more"},
                 {2, "indices", "<i4", column, 5, sizeof column, "row 2: a column"},
                 {2, "indices", "<i4", below, 5, sizeof below, "row 0: a column"},
                 {2, "indices", "<i4", below, 4, 16, "do not fit"},
                 {2, "indices", "<f4", below, 5, sizeof below, "whole numbers"},
                 {1, "data", "<f8", nan_value, 5, sizeof nan_value, "not finite"},
                 {1, "data", "<f8", large, 5, sizeof large, "not finite"},
                 {1, "data", "|S8", large, 5, sizeof large, "does not hold numbers"},
                 {1, "data", "<f8", large, 5, 39, "cut"},
                 {1, "data", "<f8", large, 4, 40, "more bytes"},
                 {1, "data", "<f8", large, UINT64_C(1) << 59, 40, "cut"},
                 {4, "shape", "<i8", tall, 2, sizeof tall, "indptr"},
                 {4, "shape", "<i8", negative, 2, sizeof negative, "shape"},
                 {4, "shape", "<i8", three, 3, sizeof three, "shape"},
                 {0, "format", "|S3", "csc", 1, 3, "tocsr"},
                 {4, "other", "<i8", tall, 2, sizeof tall, "\"shape\" is missing"},
                 {1, "ids", "|S2", IDS, 3, sizeof IDS, "there twice"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        file f;
        add_sparse(&f);
        size_t at = (size_t)cases[i].part, n = f.n;
        gf_buffer_release(&f.arrays[at]);
        f.n = at;
        add(&f, cases[i].name, cases[i].type, &cases[i].n, 1, cases[i].elements, cases[i].bytes);
        f.n = n;
        WITH_IDS(&f);
        expect(&f, GF_EINVAL, cases[i].words);
    }
    file f;
    add_sparse(&f);
    gf_buffer_release(&f.arrays[4]);
    f.n = 4;
    ADD(&f, "shape", "<i8", huge);
    WITH_IDS(&f);
    expect(&f, GF_ELIMIT, "too large");
}

static void refused_dense(void **state)
{
    (void)state;
    static const float values[] = {1, NAN, 3, 4};
    static const uint64_t list[] = {4}, square[] = {2, 2}, wide[] = {1, 1 << 24}, none[] = {3, 0};
    file f = {.n = 0};
    add(&f, "rows", "<f4", list, 1, values, sizeof values);
    expect(&f, GF_EINVAL, "1 dimensions");
    f = (file){.n = 0};
    add(&f, "rows", "<f4", square, 2, values, sizeof values);
    expect(&f, GF_EINVAL, "row 0: a value is not finite");
    f = (file){.n = 0};
    add(&f, "rows", "<f4", wide, 2, values, sizeof values);
    expect(&f, GF_EINVAL, "cut");
    f = (file){.n = 0};
    add(&f, "rows", "<f4", none, 2, values, 0);
    expect(&f, GF_ELIMIT, "column");
    f = (file){.n = 0};
    add(&f, "rows", "|S4", square, 2, values, sizeof values);
    expect(&f, GF_EINVAL, "no numbers");
    add_dense(&f);
    add(&f, "vectors", "<f4", square, 2, values, sizeof values);
    expect(&f, GF_EINVAL, "more than one");
    f = (file){.n = 0};
    ADD(&f, "else", "<f4", values);
    expect(&f, GF_EINVAL, "no matrix");
}

static void refused_ids(void **state)
{
    (void)state;
    static const char bad[3][2] = {"a", "\xC3", "c"};
    static const uint32_t beyond[3] = {'a', 0x110000, 'c'}, surrogate[3] = {'a', 0xD800, 'c'};
    static const float numbers[3] = {1, 2, 3};
    static const uint8_t bytes[] = {'a', 0xFF, 'c'};
    static const int64_t offsets[] = {0, 1, 2, 3}, falling[] = {0, 2, 1, 3}, past[] = {0, 1, 2, 9};
    file f;
    add_dense(&f);
    expect(&f, GF_EINVAL, "no array \"ids\"");
    add_dense(&f);
    ADD(&f, "ids", "|S2", bad);
    expect(&f, GF_EINVAL, "row 1 is no text");
    add_dense(&f);
    ADD(&f, "ids", "<U1", beyond);
    expect(&f, GF_EINVAL, "row 1 is no text");
    add_dense(&f);
    ADD(&f, "ids", "<U1", surrogate);
    expect(&f, GF_EINVAL, "row 1 is no text");
    add_dense(&f);
    ADD(&f, "ids", "<f4", numbers);
    expect(&f, GF_EINVAL, "neither text");
    add_dense(&f);
    ADD(&f, "ids", "<i8", offsets);
    expect(&f, GF_EINVAL, "each of 3");
    static const int64_t *const bad_offsets[] = {offsets, falling, past};
    for (int i = 0; i < 3; i++) {
        uint64_t n = 4;
        add_dense(&f);
        ADD(&f, "ids_utf8", "|u1", bytes);
        add(&f, "ids_offsets", "<i8", &n, 1, bad_offsets[i], 32);
        expect(&f, GF_EINVAL, "ids_utf8");
    }
}

static void refused_files(void **state)
{
    (void)state;
    file f = {.n = 0};
    gf_buffer_str(&f.bytes, "this is no archive at all, but a text of some length");
    expect(&f, GF_EINVAL, "m.npz: it cannot be read as an .npz");
    gf_npy_header_write("<f4", (uint64_t[]){1}, 1, &f.bytes);
    gf_buffer_append(&f.bytes, "\0\0\0\0", 4);
    expect(&f, GF_EINVAL, "single array");
    f = (file){.n = 0};
    add(&f, "ids", "|O", (uint64_t[]){3}, 1, "\x80\x04]q", 4);
    expect(&f, GF_EINVAL, "pickle");
    gf_error err;
    gf_npz_matrix m;
    memory_input none = {.n = 0};
    gf_input in = memory_input_start(&none);
    assert_status(GF_ENOTFOUND, gf_npz_read_matrix(&in, NULL, &m, &err));
}

/* ---- writing, and reading that again --------------------------------------------------------- */

static gf_status keep_bytes(void *context, gf_slice bytes, gf_error *err)
{
    gf_buffer_slice(context, bytes);
    return gf_buffer_check(context, err);
}

static gf_slice text_at(void *context, uint64_t i)
{
    return gf_slice_str(((const char *const *)context)[i]);
}

static gf_slice nul_at(void *context, uint64_t i)
{
    (void)context;
    return gf_slice_of("id\0", i == 1 ? 3 : 2);
}

static gf_slice long_at(void *context, uint64_t i)
{
    (void)context;
    static char text[1024];
    memset(text, 'x', sizeof text);
    return gf_slice_of(text, i == 1 ? sizeof text : 1);
}

static gf_status write_matrix(gf_buffer *out, uint64_t n, gf_npz_text_at *at, void *context,
                              gf_error *err)
{
    const uint64_t shape[] = {n, 1};
    gf_npz_writer *w = NULL;
    float *rows = gf_calloc(n, sizeof *rows);
    gf_status st =
        rows ? gf_npz_writer_create(keep_bytes, out, &w, err) : gf_fail_memory(err, "rows");
    if (st == GF_OK) st = gf_npz_write_word(w, "format", "csr", err);
    if (st == GF_OK) st = gf_npz_write_texts(w, "ids", n, at, context, err);
    if (st == GF_OK) st = gf_npz_write_array(w, "rows", "f4", shape, 2, rows, err);
    if (st == GF_OK) st = gf_npz_writer_end(w, err);
    gf_npz_writer_free(w);
    gf_free(rows);
    return st;
}

static void written_is_read(void **state)
{
    (void)state;
    static const char *const ids[] = {"a", "", "\xC3\xA9\xF0\x9F\x98\x80", "long one"};
    gf_error err;
    gf_npz_matrix m;
    file f = {.n = 0};
    assert_ok(write_matrix(&f.bytes, 4, text_at, (void *)(uintptr_t)ids, &err));
    assert_ok(read_file(&f, &m, &err));
    assert_int_equal(m.matrix.n_rows, 4);
    for (int i = 0; i < 4; i++)
        assert_slice(m.matrix.id[i], ids[i]);
    gf_npz_matrix_release(&m);
    release(&f);
}

/* Texts that numpy's cannot hold, or only at great length, are bytes with offsets. */
static void other_texts(void **state)
{
    (void)state;
    gf_error err;
    gf_npz_matrix m;
    file f = {.n = 0};
    assert_ok(write_matrix(&f.bytes, 3, nul_at, NULL, &err));
    assert_non_null(memmem(f.bytes.ptr, f.bytes.len, "ids_offsets.npy", 15));
    assert_ok(read_file(&f, &m, &err));
    assert_true(gf_slice_equal(m.matrix.id[1], gf_slice_of("id\0", 3)));
    gf_npz_matrix_release(&m);
    release(&f);
    f = (file){.n = 0};
    assert_ok(write_matrix(&f.bytes, 20000, long_at, NULL, &err));
    assert_true(f.bytes.len < 1 << 20);
    assert_ok(read_file(&f, &m, &err));
    assert_int_equal(m.matrix.id[1].len, 1024);
    assert_slice(m.matrix.id[19999], "x");
    gf_npz_matrix_release(&m);
    release(&f);
}

static gf_status no_room(void *context, gf_slice bytes, gf_error *err)
{
    size_t *left = context;
    if (bytes.len > *left) return gf_fail(err, GF_EIO, "no room");
    *left -= bytes.len;
    return GF_OK;
}

static void failing_sink(void **state)
{
    (void)state;
    static const float values[2000];
    for (size_t room = 0; room < 8000; room += 500) {
        gf_error err = {GF_OK, ""};
        size_t left = room;
        gf_npz_writer *w = NULL;
        gf_status st = gf_npz_writer_create(no_room, &left, &w, &err);
        if (st == GF_OK) st = gf_npz_write_list(w, "x", "f4", 2000, values, &err);
        if (st == GF_OK) st = gf_npz_writer_end(w, &err);
        gf_npz_writer_free(w);
        assert_status(GF_EIO, st);
        assert_string_equal(err.message, "no room");
    }
}

/* ---- bytes that changed, input that ends, too little memory ---------------------------------- */

/* Any byte changed, and the file cut anywhere: an error, or a matrix that is sound. */
static void changed_bytes(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int dense = 0; dense < 2; dense++) {
        file f;
        gf_buffer whole = {0};
        if (dense)
            add_dense(&f);
        else
            add_sparse(&f);
        WITH_IDS(&f);
        make_archive("zip", NULL, f.members, f.n, &whole);
        for (int i = 0; i < 3000; i++) {
            gf_error err;
            gf_npz_matrix m;
            gf_buffer_reset(&f.bytes);
            size_t n = i % 3 ? whole.len : 1 + (size_t)gf_random_below(&random, whole.len);
            gf_buffer_append(&f.bytes, whole.ptr, n);
            for (uint64_t flips = gf_random_below(&random, 4); flips > 0; flips--)
                f.bytes.ptr[gf_random_below(&random, n)] = (char)gf_random_u64(&random);
            gf_status st = read_file(&f, &m, &err);
            if (st != GF_OK) {
                assert_true(st == GF_EINVAL || st == GF_ECORRUPT || st == GF_ELIMIT);
                continue;
            }
            if (m.matrix.sparse) assert_ok(gf_csr_check(m.matrix.sparse, &err));
            gf_npz_matrix_release(&m);
        }
        gf_buffer_release(&whole);
        release(&f);
    }
}

static void failing_input(void **state)
{
    (void)state;
    file f;
    gf_error err;
    gf_npz_matrix m;
    add_dense(&f);
    WITH_IDS(&f);
    make_archive("zip", NULL, f.members, f.n, &f.bytes);
    memory_stream stream = {.name = "m.npz", .bytes = gf_buffer_view(&f.bytes)};
    for (uint64_t at = 1; at < f.bytes.len / 2; at += 40) {
        memory_input input = {.streams = &stream, .n = 1, .chunk = 16, .fail_at = at};
        gf_input in = memory_input_start(&input);
        gf_status st = gf_npz_read_matrix(&in, NULL, &m, &err);
        assert_true(st == GF_EIO);
    }
    gf_cancel stop = {0};
    gf_cancel_request(&stop);
    memory_input input = {.streams = &stream, .n = 1};
    gf_input in = memory_input_start(&input);
    assert_status(GF_ECANCELLED, gf_npz_read_matrix(&in, &stop, &m, &err));
    release(&f);
}

typedef struct sweep {
    file f;
    gf_npz_matrix m;
} sweep;

static gf_status sweep_read(void *context, gf_error *err)
{
    sweep *s = context;
    return read_file(&s->f, &s->m, err);
}

static void sweep_after(void *context)
{
    assert_null(((sweep *)context)->m.id);
}

static gf_status sweep_write(void *context, gf_error *err)
{
    static const char *const ids[] = {"a", "b"};
    gf_buffer out = {0};
    (void)context;
    gf_status st = write_matrix(&out, 2, text_at, (void *)(uintptr_t)ids, err);
    gf_buffer_release(&out);
    return st;
}

static void failing_memory(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        static const uint8_t bytes[] = {'a', 'b', 'c'};
        static const int64_t offsets[] = {0, 1, 2, 3};
        sweep s = {.m = {.dense = NULL}};
        if (kind == 0)
            add_sparse(&s.f);
        else
            add_dense(&s.f);
        if (kind == 2) {
            ADD(&s.f, "ids_utf8", "|u1", bytes);
            ADD(&s.f, "ids_offsets", "<i8", offsets);
        } else {
            WITH_IDS(&s.f);
        }
        make_archive("zip", NULL, s.f.members, s.f.n, &s.f.bytes);
        gf_test_sweep(sweep_read, sweep_after, &s);
        gf_npz_matrix_release(&s.m);
        release(&s.f);
    }
    gf_test_sweep(sweep_write, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_rows),     cmocka_unit_test(dense_rows),
        cmocka_unit_test(ids_in_unicode),  cmocka_unit_test(ids_as_bytes),
        cmocka_unit_test(refused_sparse),  cmocka_unit_test(refused_dense),
        cmocka_unit_test(refused_ids),     cmocka_unit_test(refused_files),
        cmocka_unit_test(written_is_read), cmocka_unit_test(other_texts),
        cmocka_unit_test(failing_sink),    cmocka_unit_test(changed_bytes),
        cmocka_unit_test(failing_input),   cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
