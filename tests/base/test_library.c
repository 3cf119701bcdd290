/* The C library's libm, which every system has under this name. */
#include "support/test.h"

#include "base/library.h"
#include "base/pool.h"

#include <math.h>

#define FUNCTIONS(F) F(cbrt) F(hypot)
GF_LIBRARY_DECLARE(maths, FUNCTIONS)
GF_LIBRARY_DEFINE(maths, "libm.so.6", FUNCTIONS)
GF_LIBRARY_DECLARE(nowhere, FUNCTIONS)
GF_LIBRARY_DEFINE(nowhere, "libgrouperfish-is-nowhere.so.1", FUNCTIONS)

double no_such_function(double x);
#define MORE_FUNCTIONS(F) F(cbrt) F(no_such_function)
GF_LIBRARY_DECLARE(lacking, MORE_FUNCTIONS)
GF_LIBRARY_DEFINE(lacking, "libm.so.6", MORE_FUNCTIONS)

#define cbrt maths_functions.cbrt

static gf_status use(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)worker;
    double *roots = context;
    gf_status st = gf_library_load(&maths, err);
    if (st == GF_OK) roots[i] = cbrt((double)(i * i * i));
    return st;
}

static void is_loaded_by_whoever_comes_first(void **state)
{
    (void)state;
    enum { TASKS = 64 };
    double roots[TASKS];
    gf_pool *pool;
    gf_error err = {GF_OK, ""};
    assert_int_equal(gf_pool_create(4, &pool, NULL), GF_OK);
    assert_int_equal(gf_pool_run(pool, TASKS, use, roots, NULL, &err), GF_OK);
    gf_pool_free(pool);
    for (int i = 0; i < TASKS; i++)
        assert_true(fabs(roots[i] - i) < 1e-9);
    assert_true(fabs(maths_functions.hypot(3, 4) - 5) < 1e-12);
    assert_int_equal(gf_library_load(&maths, &err), GF_OK); /* again */
}

static void says_what_cannot_be_loaded(void **state)
{
    (void)state;
    gf_error err = {GF_OK, ""};
    for (int again = 0; again < 2; again++) {
        assert_int_equal(gf_library_load(&nowhere, &err), GF_EIO);
        assert_non_null(strstr(err.message, "cannot load a library"));
        assert_non_null(strstr(err.message, "libgrouperfish-is-nowhere.so.1"));
    }
    assert_int_equal(gf_library_load(&nowhere, NULL), GF_EIO);
    assert_null(nowhere_functions.hypot);
}

static void says_which_function_is_not_there(void **state)
{
    (void)state;
    gf_error err = {GF_OK, ""};
    assert_int_equal(gf_library_load(&lacking, &err), GF_EIO);
    assert_string_equal(err.message, "libm.so.6 has no function no_such_function");
    assert_false(atomic_load(&lacking.loaded));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_loaded_by_whoever_comes_first),
        cmocka_unit_test(says_what_cannot_be_loaded),
        cmocka_unit_test(says_which_function_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
