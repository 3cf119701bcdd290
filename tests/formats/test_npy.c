#include "support/test.h"

#include "base/random.h"
#include "formats/matrix/npy.h"

#include <stdlib.h>
#include <string.h>

/* A header of version 1 around a dictionary. */
static void wrap(const char *dictionary, gf_buffer *out)
{
    size_t n = strlen(dictionary);
    gf_buffer_reset(out);
    gf_buffer_append(out, "\x93NUMPY\x01\x00", 8);
    gf_buffer_byte(out, (char)(n & 255));
    gf_buffer_byte(out, (char)(n >> 8));
    gf_buffer_str(out, dictionary);
}

/* The bytes that numpy 1.24 writes for numpy.zeros((3, 4), "f4"). */
static void as_numpy_writes(void **state)
{
    (void)state;
    static const char bytes[] =
        "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"
        "                                                          \n";
    gf_error err;
    gf_npy_header h;
    size_t length;
    gf_slice s = gf_slice_of(bytes, sizeof bytes - 1);
    assert_int_equal(s.len, 128);
    assert_ok(gf_npy_header_length(gf_slice_of(bytes, GF_NPY_PREFIX), &length, &err));
    assert_int_equal(length, 128);
    assert_ok(gf_npy_header_read(s, &h, &err));
    assert_int_equal(h.kind, 'f');
    assert_int_equal(h.size, 4);
    assert_int_equal(h.n_dimensions, 2);
    assert_int_equal(h.shape[0], 3);
    assert_int_equal(h.shape[1], 4);
    assert_int_equal(h.n, 12);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    static const uint64_t shape[] = {7, 1, 1099511627776, 5};
    gf_error err;
    for (unsigned dimensions = 0; dimensions <= 4; dimensions++) {
        gf_buffer b = {0};
        gf_npy_header h;
        gf_npy_header_write("<U19", shape, dimensions, &b);
        assert_ok(gf_buffer_check(&b, &err));
        assert_int_equal(b.len % 64, 0);
        assert_ok(gf_npy_header_read(gf_buffer_view(&b), &h, &err));
        assert_int_equal(h.kind, 'U');
        assert_int_equal(h.size, 76);
        assert_int_equal(h.n_dimensions, dimensions);
        for (unsigned i = 0; i < dimensions; i++)
            assert_int_equal(h.shape[i], shape[i]);
        gf_buffer_release(&b);
    }
}

/* Other spellings of the same. */
static void accepted(void **state)
{
    (void)state;
    static const char *const dictionaries[] = {
        "{\"shape\":(3L,),\"fortran_order\":True,\"descr\":\"|u1\"}",
        "{ 'fortran_order' : False , 'shape' : ( 3 , ) , 'descr' : '<i8' , }  \n",
        "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '|S0', 'fortran_order': False, 'shape': (3,), }"};
    gf_error err;
    gf_buffer b = {0};
    for (size_t i = 0; i < 4; i++) {
        gf_npy_header h;
        wrap(dictionaries[i], &b);
        assert_ok(gf_npy_header_read(gf_buffer_view(&b), &h, &err));
        assert_int_equal(h.n, 3);
        assert_false(h.fortran);
    }
    gf_npy_header h;
    wrap("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }", &b);
    assert_ok(gf_npy_header_read(gf_buffer_view(&b), &h, &err));
    assert_true(h.fortran);
    gf_buffer_release(&b);
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *dictionary, *words;
    } cases[] = {
        {"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }", "pickle"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (3,), }", "big-endian"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }", "records"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }", "float32"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }", "not read"},
        {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (3,), }", "not known"},
        {"{'descr': '<i3', 'fortran_order': False, 'shape': (3,), }", "not read"},
        {"{'descr': '<U99999999999', 'fortran_order': False, 'shape': (3,), }", "too long"},
        {"{'descr': '<U18446744073709551615', 'fortran_order': False, 'shape': ()}", "too long"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "64 bits"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,)}", "64 bits"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1)}", "dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}", "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}", "shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3", "shape"},
        {"{'descr': '<f8', 'fortran_order': Maybe, 'shape': (3,)}", "damaged"},
        {"{'descr': '<f8', 'fortran_order': False}", "lacks"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,)", "damaged"},
        {"{'other': 3}", "damaged"},
        {"{'descr", "damaged"},
        {"", "damaged"}};
    gf_buffer b = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gf_error err = {GF_OK, ""};
        gf_npy_header h = {.size = 77};
        wrap(cases[i].dictionary, &b);
        gf_status st = gf_npy_header_read(gf_buffer_view(&b), &h, &err);
        if (st != GF_EINVAL || !strstr(err.message, cases[i].words))
            fail_msg("%s: %s", cases[i].dictionary, err.message);
        assert_int_equal(h.size, 77);
    }
    gf_buffer_release(&b);
}

static void lengths(void **state)
{
    (void)state;
    size_t length;
    gf_error err;
    assert_status(GF_EINVAL, gf_npy_header_length(GF_SLICE(""), &length, &err));
    assert_status(GF_EINVAL, gf_npy_header_length(GF_SLICE("NUMPY, not"), &length, &err));
    gf_slice four = gf_slice_of("\x93NUMPY\x04\x00\x10\x00\x00\x00", 12);
    assert_status(GF_EINVAL, gf_npy_header_length(four, &length, &err));
    gf_slice huge = gf_slice_of("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF", 12);
    assert_status(GF_EINVAL, gf_npy_header_length(huge, &length, &err));
    gf_slice two = gf_slice_of("\x93NUMPY\x02\x00\x10\x00\x00\x00", 12);
    assert_ok(gf_npy_header_length(two, &length, &err));
    assert_int_equal(length, 28);
}

/* With any byte changed reading ends, and a header that is read is a sound one. */
static void changed_bytes(void **state)
{
    (void)state;
    static const uint64_t shape[] = {30, 4};
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_buffer b = {0};
    gf_npy_header_write("<f4", shape, 2, &b);
    for (int i = 0; i < 20000; i++) {
        /* On the heap and of just that length, so that a sanitizer sees what is read beyond. */
        size_t n = i % 2 ? b.len : 1 + (size_t)gf_random_below(&random, b.len);
        char *copy = malloc(n);
        assert_non_null(copy);
        memcpy(copy, b.ptr, n);
        for (uint64_t flips = gf_random_below(&random, 4); flips > 0; flips--)
            copy[gf_random_below(&random, n)] = (char)gf_random_u64(&random);
        gf_npy_header h;
        gf_status st = gf_npy_header_read(gf_slice_of(copy, n), &h, NULL);
        assert_true(st == GF_OK || st == GF_EINVAL);
        if (st == GF_OK) assert_true(h.n_dimensions <= 4 && h.size <= GF_NPY_MOST_ITEM);
        free(copy);
    }
    gf_buffer_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_numpy_writes), cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(accepted),        cmocka_unit_test(refused),
        cmocka_unit_test(lengths),         cmocka_unit_test(changed_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
