/* A table of one's own: cc tables.c $(pkg-config --cflags --libs grouperfish) */
#include <grouperfish.h>
#include <stdio.h>
#include <stdlib.h>

static gf_error err;
static void must(gf_status status)
{
    if (status == GF_OK) return;
    fprintf(stderr, "%s\n", err.message);
    exit(1);
}

/* Both sides of a friendship, together or not at all. */
static void befriend(gf_store *store, gf_user_table *t, const char *one, const char *other)
{
    gf_batch *batch;
    unsigned friends;
    const char *names[] = {one, other};
    must(gf_table_family(gf_user_table_rows(t), "friend", &friends, &err));
    must(gf_batch_create(gf_store_database(store), &batch, &err));
    for (int i = 0; i < 2; i++) {
        gf_slice part = gf_slice_str(names[i]);
        gf_buffer key = {0};
        must(gf_user_table_key_write(t, &part, 1, &key, &err));
        gf_batch_put(batch, gf_user_table_rows(t), gf_buffer_view(&key), friends,
                     gf_slice_str(names[1 - i]), GF_SLICE("close"), 0);
        gf_buffer_release(&key);
    }
    must(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
}

static void print_row(gf_user_table *t, const gf_row *row)
{
    gf_buffer text = {0};
    gf_slice key = row->key;
    must(gf_user_table_key_take(t, 0, &key, &text, &err));
    printf("%s:", gf_buffer_cstr(&text));
    for (size_t i = 0; i < row->n_cells; i++) {
        const gf_cell *cell = &row->cells[i];
        gf_buffer_reset(&text);
        gf_user_table_value_print(gf_user_table_cell_type(t, cell->family, cell->qualifier),
                                  cell->value, &text);
        printf(" %.*s=%s", GF_SLICE_ARG(cell->qualifier), gf_buffer_cstr(&text));
    }
    printf("\n");
    gf_buffer_release(&text);
}

int main(int argc, char **argv)
{
    const gf_slice space = GF_SLICE("examples"), name = GF_SLICE("users");
    const gf_slice schema = GF_SLICE("{\"key\": [{\"name\": \"id\"}], \"families\": ["
                                     "{\"name\": \"info\", \"columns\": {\"logins\": \"int64\"}},"
                                     "{\"name\": \"friend\", \"layout\": \"wide\"}]}");
    const gf_slice where[] = {GF_SLICE("info:logins>=2")};
    gf_store *store;
    gf_user_table *t;
    gf_rows *rows;
    const gf_row *row;
    gf_buffer key = {0}, sum = {0};
    gf_slice ann = GF_SLICE("ann");
    must(gf_store_open(argc > 1 ? argv[1] : "tables.store", &GF_STORE_OPTIONS(.create = true),
                       &store, &err));
    gf_status st = gf_user_table_create(store, space, name, schema, &err);
    if (st != GF_EEXISTS) must(st);
    must(gf_user_table_open(store, space, name, &t, &err));
    befriend(store, t, "ann", "bo");
    befriend(store, t, "ann", "cy");
    must(gf_user_table_key_write(t, &ann, 1, &key, &err));
    for (int i = 0; i < 2; i++)
        must(
            gf_user_table_increment(t, gf_buffer_view(&key), 0, GF_SLICE("logins"), 1, &sum, &err));
    must(gf_rows_open(t, &GF_ROWS_OPTIONS(.where = where, .n_where = 1), &rows, &err));
    while ((st = gf_rows_next(rows, &row, &err)) == GF_OK)
        print_row(t, row);
    if (st != GF_ENOTFOUND) must(st);
    gf_rows_close(rows);
    gf_user_table_close(t);
    must(gf_user_table_drop(store, space, name, NULL, &err));
    gf_store_close(store);
    gf_buffer_release(&key);
    gf_buffer_release(&sum);
    return 0;
}
