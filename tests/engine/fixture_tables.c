/* The fixture's tables of users. */
#include "tests/engine/fixture.h"

#include "engine/user_tables/user_tables_internal.h"

const char fixture_people[] =
    "{\"key\":[{\"name\":\"id\"}],\"families\":[{\"name\":\"info\",\"columns\":{\"name\":\"text\","
    "\"age\":\"int64\",\"visits\":\"uint64\"}},{\"name\":\"list\",\"layout\":\"wide\",\"type\":"
    "\"decimal\"}]}";

gf_user_table *fixture_make_table(fixture *f, const char *name, const char *schema)
{
    gf_error err;
    gf_user_table *t;
    assert_ok(gf_user_table_create(f->store, GF_SLICE("test"), gf_slice_str(name),
                                   gf_slice_str(schema), &err));
    assert_ok(gf_user_table_open(f->store, GF_SLICE("test"), gf_slice_str(name), &t, &err));
    return t;
}

void fixture_put_cell(gf_user_table *t, const char *row, unsigned family, const char *column,
                      const char *text)
{
    gf_error err;
    gf_batch *batch;
    gf_buffer key = {0}, value = {0};
    gf_slice part = gf_slice_str(row);
    assert_ok(gf_user_table_key_write(t, &part, 1, &key, &err));
    assert_ok(gf_user_table_value_write(gf_user_table_cell_type(t, family, gf_slice_str(column)),
                                        gf_slice_str(text), &value, &err));
    assert_ok(gf_batch_create(gf_store_database(t->store), &batch, &err));
    gf_batch_put(batch, gf_user_table_rows(t), gf_buffer_view(&key), family, gf_slice_str(column),
                 gf_buffer_view(&value), 0);
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_batch_free(batch);
    gf_buffer_release(&key);
    gf_buffer_release(&value);
}

void fixture_print_cells(gf_user_table *t, const gf_row *row, gf_buffer *out)
{
    for (size_t i = 0; i < row->n_cells; i++) {
        const gf_cell *c = &row->cells[i];
        gf_buffer_format(out, "%u:%.*s=", c->family, GF_SLICE_ARG(c->qualifier));
        assert_true(gf_user_table_value_print(gf_user_table_cell_type(t, c->family, c->qualifier),
                                              c->value, out));
        gf_buffer_byte(out, ' ');
    }
}

void fixture_print_rows(gf_user_table *t, const gf_rows_options *o, gf_buffer *out)
{
    gf_error err;
    gf_rows *rows;
    const gf_row *row;
    gf_status st;
    assert_ok(gf_rows_open(t, o, &rows, &err));
    while ((st = gf_rows_next(rows, &row, &err)) == GF_OK) {
        gf_slice key = row->key;
        assert_ok(gf_user_table_key_take(t, 0, &key, out, &err));
        gf_buffer_byte(out, ' ');
        fixture_print_cells(t, row, out);
    }
    assert_int_equal(st, GF_ENOTFOUND);
    gf_rows_close(rows);
}
