/* Tables in use get further families and columns; many tables do not mix. */
#include "tests/storage/given.h"

#include <string.h>

static void a_table_in_use_gets_further_families(void **state)
{
    given g = given_begin(state, &given_documents);
    gf_error err;
    gf_row row = {0};
    gf_slice key = given_document("c", "1");
    gf_batch_put(g.batch, g.t, key, INFO, S("size"), S("12"), 0);
    gf_batch_put(g.batch, g.t, key, INFO, S("name"), S("n"), 0);
    given_write_batch(&g);
    static const char *const more_columns[] = {"name", "age", "sex", "size", NULL};
    static const char *const new_columns[] = {"quality", NULL};
    gf_family more[4];
    memcpy(more, given_families, 3 * sizeof *more);
    more[0].columns = more_columns;
    more[3] =
        (gf_family){"grobid1", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_SNAPPY, new_columns, false};
    gf_schema longer = given_documents;
    longer.families = more;
    longer.n_families = 4;
    gf_table *again;
    assert_status(GF_EINVAL, gf_test_put(g.db, g.t, key, 3, "quality", S("good"), 0, &err));
    assert_ok(gf_table_open(g.db, &longer, &again, &err));
    assert_ptr_equal(again, g.t); /* who has it open sees the new family, too */
    unsigned f;
    assert_ok(gf_table_family(g.t, "grobid1", &f, &err));
    assert_int_equal(f, 3);
    assert_ok(gf_test_put(g.db, g.t, key, 3, "quality", S("good"), 0, &err));
    assert_status(GF_EINVAL, gf_test_put(g.db, g.t, key, OTHER, "quality", S("x"), 0, &err));
    assert_ok(gf_test_put(g.db, g.t, key, INFO, "sex", S("f"), 0, &err));
    assert_ok(gf_table_get(g.t, NULL, key, GF_ALL_FAMILIES, &row, &err));
    assert_int_equal(row.n_cells, 4);
    assert_slice(gf_row_find(&row, INFO, "size")->value, "12");
    assert_slice(gf_row_find(&row, 3, "quality")->value, "good");
    assert_ok(gf_table_open(g.db, &given_documents, &again,
                            &err)); /* the shorter schema still opens it */
    assert_int_equal(gf_table_schema(again)->n_families, 4);
    more[1].compression = GF_COMPRESSION_NONE;
    assert_status(GF_EINVAL, gf_table_open(g.db, &longer, &again, &err));
    more[1].compression = GF_COMPRESSION_SNAPPY;
    more[3].columns = more_columns;
    assert_status(GF_EINVAL, gf_table_open(g.db, &longer, &again, &err));
    assert_int_equal(gf_table_schema(g.t)->n_families, 4);
    gf_row_release(&row);
    given_end(&g);
}

static void many_tables_do_not_mix(void **state)
{
    given g = given_begin(state, &given_students);
    gf_error err;
    gf_table *tables[20];
    for (int i = 0; i < 20; i++) {
        char name[16], value[16];
        gf_schema s = given_students;
        snprintf(name, sizeof name, "table%d", i);
        snprintf(value, sizeof value, "%d", i);
        s.name = name;
        assert_ok(gf_table_open(g.db, &s, &tables[i], &err));
        assert_ok(gf_test_put(g.db, tables[i], KEY("r"), COURSE, "q", S(value), 0, &err));
    }
    for (int i = 0; i < 20; i++) {
        char want[16];
        snprintf(want, sizeof want, "r:q=%d", i);
        g.t = tables[i];
        given_scan_is(&g, &GF_SCAN_OPTIONS(.family = COURSE), want);
        given_scan_is(&g, &GF_SCAN_OPTIONS(.family = COURSE, .reverse = true), want);
    }
    given_end(&g);
}

static int run(const char *name, make_database *make)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(a_table_in_use_gets_further_families),
        ON_BOTH(many_tables_do_not_mix),
    };
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(void)
{
    return run("table_growth over the model", gf_test_model) +
           run("table_growth over LevelDB", gf_test_leveldb);
}
