/**
 * Shared by the tests of tables: two tables, the state that each test starts with, and checks of
 * rows and scans. Every test runs over both backends.
 */
#ifndef GF_TESTS_STORAGE_GIVEN_H
#define GF_TESTS_STORAGE_GIVEN_H

#include "tests/storage/store.h"

/** Each test gets a function that makes a database (gf_test_model, gf_test_leveldb). */
typedef gf_database *make_database(void);

/** A test of an array in a function whose parameter `make` is such a function. */
#define ON_BOTH(test) cmocka_unit_test_prestate(test, *(void **)&make)

/**
 * The table "students" has all these families and one string as its key; "documents" has the first
 * three, and the key is a collection and an id.
 */
enum { INFO, OTHER, COURSE, HISTORY, EVENTS, SHORT_LIVED, BRIEF };
extern const gf_family given_families[7];
extern const gf_schema given_students, given_documents;

/** The state that each test starts with, made anew. */
typedef struct given {
    gf_database *db;
    gf_table *t;
    gf_batch *batch;
    gf_row row;
    gf_error err;
} given;

/** The state is the test's own, from ON_BOTH. */
given given_begin(void **state, const gf_schema *schema);
void given_end(given *g);

#define KEY(text) gf_test_key(text)
#define S(text)   gf_slice_str(text)

/** A row key of "documents". */
gf_slice given_document(const char *collection, const char *id);

void given_put(given *g, const char *row, unsigned family, const char *qualifier, const char *value,
               int64_t timestamp);

/** The value of a cell is `want`; NULL: there is none. */
void given_is(given *g, const char *row, unsigned family, const char *qualifier, const char *want);

void given_write_batch(given *g);

/** All cells of families of a row as "family.qualifier=value@time ..." */
void given_row_is(given *g, const gf_snapshot *snapshot, const char *row, uint32_t wanted,
                  const char *want);

/** The entries of a scan as "key:qualifier=value,... " with the key's parts joined by '/'. */
void given_scan_is(given *g, const gf_scan_options *options, const char *want);

#endif
