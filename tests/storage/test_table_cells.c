/* Cells of a table: put, replaced, deleted, refused, and long ones that come back whole. */
#include "tests/storage/given.h"

/* ---- cells ----------------------------------------------------------------------------------- */

static void a_second_put_replaces(void **state)
{
    given g = given_begin(state, &given_students);
    given_put(&g, "s1", INFO, "name", "Ann", 0);
    given_put(&g, "s1", COURSE, "c9", "major", 0);
    given_put(&g, "s1", INFO, "name", "Anna", 0);
    given_put(&g, "s1", COURSE, "c9", "minor", 0);
    given_row_is(&g, NULL, "s1", GF_ALL_FAMILIES, "0.name=Anna 2.c9=minor");
    given_end(&g);
}

static void an_empty_cell_differs_from_an_absent_one(void **state)
{
    given g = given_begin(state, &given_students);
    given_put(&g, "s1", INFO, "name", "", 0);
    given_put(&g, "s1", COURSE, "", "", 0);
    given_is(&g, "s1", INFO, "name", "");
    given_is(&g, "s1", INFO, "age", NULL);
    given_is(&g, "s1", COURSE, "", "");
    given_is(&g, "s1", COURSE, "c", NULL);
    given_is(&g, "s2", INFO, "name", NULL);
    given_row_is(&g, NULL, "s1", GF_ALL_FAMILIES, "0.name= 2.=");
    given_end(&g);
}

static void packed_columns_stay_or_are_replaced(void **state)
{
    given g = given_begin(state, &given_students);
    given_put(&g, "s1", INFO, "zeta", "z", 0);
    given_put(&g, "s1", INFO, "age", "20", 0);
    given_put(&g, "s1", INFO, "alpha", "a", 0);
    given_put(&g, "s1", INFO, "name", "Ann", 0);
    given_row_is(&g, NULL, "s1", 1u << INFO, "0.name=Ann 0.age=20 0.alpha=a 0.zeta=z");
    const gf_column columns[] = {
        {S("sex"), S("f")}, {S("beta"), S("1")}, {S("name"), S("B")}, {S("beta"), S("2")}};
    gf_batch_replace(g.batch, g.t, KEY("s1"), INFO, columns, 4, 0);
    given_write_batch(&g);
    given_row_is(&g, NULL, "s1", 1u << INFO, "0.name=B 0.sex=f 0.beta=2");
    char name[] = "delta", value[] = "not yet", digits[] = "30";
    const gf_column borrowed[] = {{gf_slice_str(name), gf_slice_str(value)},
                                  {S("age"), gf_batch_keep(g.batch, gf_slice_str(digits))}};
    gf_batch_replace_borrowed(g.batch, g.t, KEY("s2"), INFO, borrowed, 2, 0);
    memcpy(name, "gamma", 5);    /* was copied */
    memcpy(value, "but now", 7); /* is read when the batch is written */
    memcpy(digits, "99", 2);
    given_write_batch(&g);
    given_row_is(&g, NULL, "s2", 1u << INFO, "0.age=30 0.delta=but now");
    gf_batch_delete_row(g.batch, g.t, KEY("s2"), GF_ALL_FAMILIES);
    gf_batch_delete_cell(g.batch, g.t, KEY("s1"), INFO, S("name"));
    gf_batch_delete_cell(g.batch, g.t, KEY("s1"), INFO, S("no-such"));
    given_write_batch(&g);
    given_row_is(&g, NULL, "s1", 1u << INFO, "0.sex=f 0.beta=2");
    gf_batch_replace(g.batch, g.t, KEY("s1"), INFO, NULL, 0, 0);
    given_write_batch(&g);
    given_row_is(&g, NULL, "s1", GF_ALL_FAMILIES, "");
    given_scan_is(&g, &GF_SCAN_OPTIONS(.family = INFO), "");
    given_end(&g);
}

static void the_last_column_takes_the_row_along(void **state)
{
    given g = given_begin(state, &given_students);
    given_put(&g, "s1", INFO, "name", "Ann", 0);
    gf_batch_delete_cell(g.batch, g.t, KEY("s1"), INFO, S("name"));
    given_write_batch(&g);
    given_row_is(&g, NULL, "s1", GF_ALL_FAMILIES, "");
    given_scan_is(&g, &GF_SCAN_OPTIONS(.family = INFO), "");
    given_end(&g);
}

static void rows_are_deleted_by_family(void **state)
{
    given g = given_begin(state, &given_students);
    for (const char *row = "a\0b\0c\0"; *row; row += 2) {
        given_put(&g, row, INFO, "name", "n", 0);
        given_put(&g, row, COURSE, "c1", "x", 0);
        given_put(&g, row, COURSE, "c2", "y", 0);
    }
    gf_batch_delete_row(g.batch, g.t, KEY("b"), 1u << COURSE);
    gf_batch_delete_row(g.batch, g.t, KEY("c"), GF_ALL_FAMILIES);
    given_write_batch(&g);
    given_row_is(&g, NULL, "a", GF_ALL_FAMILIES, "0.name=n 2.c1=x 2.c2=y");
    given_row_is(&g, NULL, "b", GF_ALL_FAMILIES, "0.name=n");
    given_row_is(&g, NULL, "c", GF_ALL_FAMILIES, "");
    given_end(&g);
}

static void one_column_name_is_in_one_family(void **state)
{
    given g = given_begin(state, &given_students);
    gf_error err;
    assert_status(GF_EINVAL, gf_test_put(g.db, g.t, KEY("s1"), OTHER, "name", S("x"), 0, &err));
    assert_string_equal(err.message,
                        "table students: column name belongs to family info, not other");
    const gf_column columns[] = {{S("mime"), S("x")}, {S("age"), S("x")}};
    gf_batch_replace(g.batch, g.t, KEY("s1"), OTHER, columns, 2, 0);
    assert_status(GF_EINVAL, gf_batch_write(g.batch, GF_SYNC_OFF, &err));
    gf_batch_delete_cell(g.batch, g.t, KEY("s1"), OTHER, S("sex"));
    assert_status(GF_EINVAL, gf_batch_write(g.batch, GF_SYNC_OFF, &err));
    int64_t sum;
    assert_status(GF_EINVAL,
                  gf_table_increment(g.t, KEY("s1"), OTHER, S("age"), 1, GF_SYNC_OFF, &sum, &err));
    assert_status(GF_EINVAL,
                  gf_table_get_cell(g.t, NULL, KEY("s1"), OTHER, S("age"), 1, &g.row, &err));
    assert_status(GF_EINVAL, gf_batch_write_if(g.batch, g.t, KEY("s1"), OTHER, S("age"), NULL,
                                               GF_SYNC_OFF, &err));
    given_put(&g, "s1", COURSE, "name", "a wide family's qualifiers are data", 0);
    given_row_is(&g, NULL, "s1", GF_ALL_FAMILIES, "2.name=a wide family's qualifiers are data");
    given_end(&g);
}

static void unknown_families_and_bad_keys_are_refused(void **state)
{
    given g = given_begin(state, &given_students);
    gf_error err;
    unsigned f = 77;
    assert_status(GF_EINVAL, gf_test_put(g.db, g.t, KEY("s1"), 7, "q", S("v"), 0, &err));
    assert_string_equal(err.message, "table students has no family number 7");
    assert_status(GF_EINVAL, gf_table_family(g.t, "nothing", &f, &err));
    assert_string_equal(err.message, "table students has no family nothing");
    assert_int_equal(f, 77);
    assert_ok(gf_table_family(g.t, "events", &f, &err));
    assert_int_equal(f, EVENTS);
    const gf_slice bad[] = {S(""), S("s1"), gf_test_key2(S("a"), S("b"))};
    for (size_t i = 0; i < 3; i++) {
        assert_status(GF_EINVAL, gf_test_put(g.db, g.t, bad[i], INFO, "q", S("v"), 0, &err));
        assert_status(GF_EINVAL, gf_table_get(g.t, NULL, bad[i], 1, &g.row, &err));
        gf_batch_delete_row(g.batch, g.t, bad[i], 1);
        assert_status(GF_EINVAL, gf_batch_write(g.batch, GF_SYNC_OFF, &err));
    }
    gf_batch_replace(g.batch, g.t, KEY("s1"), COURSE, NULL, 0, 0);
    assert_status(GF_EINVAL, gf_batch_write(g.batch, GF_SYNC_OFF, &err));
    assert_string_equal(err.message, "table students: family course is not packed");
    for (unsigned i = 0; i < 7; i++)
        given_scan_is(&g, &GF_SCAN_OPTIONS(.family = i), "");
    given_end(&g);
}

static void what_is_too_long_is_refused(void **state)
{
    given g = given_begin(state, &given_students);
    gf_error err;
    gf_buffer key = {0}, long_key = {0};
    for (int i = 0; i < GF_MAX_KEY - 2; i++)
        gf_buffer_byte(&key, 'k');
    gf_key_string(&long_key, gf_buffer_view(&key));
    gf_slice row = gf_buffer_view(&long_key);
    assert_int_equal(row.len, GF_MAX_KEY);
    assert_ok(gf_test_put(g.db, g.t, row, INFO, "name", S("v"), 0, &err));
    assert_ok(gf_table_get(g.t, NULL, row, 1, &g.row, &err));
    gf_buffer_byte(&key, 'k');
    gf_buffer_reset(&long_key);
    gf_key_string(&long_key, gf_buffer_view(&key));
    row = gf_buffer_view(&long_key);
    assert_status(GF_ELIMIT, gf_test_put(g.db, g.t, row, INFO, "name", S("v"), 0, &err));
    gf_slice qualifier = gf_slice_of(row.ptr, GF_MAX_KEY + 1);
    gf_batch_put(g.batch, g.t, KEY("a"), COURSE, qualifier, S("v"), 0);
    assert_status(GF_ELIMIT, gf_batch_write(g.batch, GF_SYNC_OFF, &err));
    gf_slice value = gf_slice_of("", (size_t)GF_MAX_VALUE + 1); /* refused before it is read */
    assert_status(GF_ELIMIT, gf_test_put(g.db, g.t, KEY("a"), COURSE, "q", value, 0, &err));
    gf_column column = {S("mime"), value};
    gf_batch_replace(g.batch, g.t, KEY("a"), OTHER, &column, 1, 0);
    assert_status(GF_ELIMIT, gf_batch_write(g.batch, GF_SYNC_OFF, &err));
    gf_buffer_release(&key);
    gf_buffer_release(&long_key);
    given_end(&g);
}

/* ---- long values ----------------------------------------------------------------------------- */

static void fill(gf_buffer *b, size_t n, char c)
{
    gf_buffer_reset(b);
    for (size_t i = 0; i < n; i++)
        gf_buffer_byte(b, (char)(c + (char)(i * i % 97 % 23)));
}

static void long_values_come_back_whole(void **state)
{
    given g = given_begin(state, &given_students);
    gf_error err;
    gf_buffer value = {0};
    static const size_t sizes[] = {300000, 65535, 65536, 65537, 0, 131072, 200000, 10};
    static const unsigned kinds[] = {INFO, OTHER, COURSE, HISTORY, EVENTS};
    static const char *const rows[] = {"a", "b", "c"};
    for (size_t i = 0; i < 8; i++) {
        for (size_t f = 0; f < 5; f++) {
            for (int r = 0; r < 3; r++) {
                fill(&value, sizes[(i + (size_t)r) % 8], (char)('a' + r));
                assert_ok(gf_test_put(g.db, g.t, KEY(rows[r]), kinds[f], "q",
                                      gf_buffer_view(&value), 7, &err));
            }
            gf_batch_put(g.batch, g.t, KEY("b"), kinds[f], S("p"), S("small"), 7);
            given_write_batch(&g);
            for (int reverse = 0; reverse < 2; reverse++) {
                gf_scan *scan;
                gf_scan_options o = GF_SCAN_OPTIONS(.family = kinds[f], .reverse = reverse);
                size_t entries = 0;
                assert_ok(gf_scan_open(g.t, &o, &scan, &err));
                while (gf_scan_next(scan, &g.row, &err) == GF_OK) {
                    const gf_cell *cell = gf_row_find(&g.row, kinds[f], "q");
                    entries++;
                    if (!cell) continue;
                    int r = g.row.key.ptr[0] - 'a';
                    fill(&value, sizes[(i + (size_t)r) % 8], (char)('a' + r));
                    assert_true(gf_slice_equal(cell->value, gf_buffer_view(&value)));
                }
                assert_int_equal(entries,
                                 given_families[kinds[f]].layout == GF_LAYOUT_WIDE ? 4 : 3);
                gf_scan_close(scan);
            }
            fill(&value, sizes[i], 'a');
            gf_slice q = S("q");
            assert_ok(gf_table_get_cell(g.t, NULL, KEY("a"), kinds[f], q, 1, &g.row, &err));
            assert_true(gf_slice_equal(g.row.cells[0].value, gf_buffer_view(&value)));
        }
    }
    for (int r = 0; r < 3; r++)
        gf_batch_delete_row(g.batch, g.t, KEY(rows[r]), GF_ALL_FAMILIES);
    given_write_batch(&g);
    for (unsigned f = 0; f < 7; f++)
        given_scan_is(&g, &GF_SCAN_OPTIONS(.family = f), "");
    gf_buffer_release(&value);
    given_end(&g);
}

static int run(const char *name, make_database *make)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(a_second_put_replaces),
        ON_BOTH(an_empty_cell_differs_from_an_absent_one),
        ON_BOTH(packed_columns_stay_or_are_replaced),
        ON_BOTH(the_last_column_takes_the_row_along),
        ON_BOTH(rows_are_deleted_by_family),
        ON_BOTH(one_column_name_is_in_one_family),
        ON_BOTH(unknown_families_and_bad_keys_are_refused),
        ON_BOTH(what_is_too_long_is_refused),
        ON_BOTH(long_values_come_back_whole),
    };
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(void)
{
    return run("table_cells over the model", gf_test_model) +
           run("table_cells over LevelDB", gf_test_leveldb);
}
