/*
 * Places within places in the table `locations`: what needs more than one row.
 *
 *     locations STORE add ID LEVEL NAME [PARENT]
 *     locations STORE move ID PARENT       with all that is in it
 *     locations STORE delete ID            likewise
 *     locations STORE subtree ID           it and all that is in it, from above
 *
 * Row ID has parent:P = level of P for each place P that it lies in, the nearest one and those
 * around it, and child:C = level of C for each place C directly in it. A command reads first and
 * writes one batch, so that no crash leaves a place that one side has and the other has not.
 * (Nobody else can write meanwhile: one process holds a store at a time.)
 */
#include "../case.h"

#include <string.h>

static gf_user_table *table;
static unsigned name, parent, child; /* families */

/* A row with all its families, the caller's to release; ends where there is none. */
static gf_row get(gf_slice id)
{
    gf_buffer key = {0};
    gf_row row = {0};
    gf_status st = gf_table_get(gf_user_table_rows(table), NULL, row_key(table, id, &key),
                                GF_ALL_FAMILIES, &row, &err);
    gf_buffer_release(&key);
    if (st == GF_ENOTFOUND) {
        fprintf(stderr, "there is no place %.*s\n", GF_SLICE_ARG(id));
        exit(1);
    }
    must(st);
    return row;
}

static gf_slice level_of(const gf_row *row)
{
    const gf_cell *cell = gf_row_find(row, name, "level");
    return cell ? cell->value : GF_SLICE("");
}

static void put(gf_batch *batch, gf_slice id, unsigned family, gf_slice column, gf_slice value)
{
    gf_buffer key = {0};
    gf_batch_put(batch, gf_user_table_rows(table), row_key(table, id, &key), family, column, value,
                 0);
    gf_buffer_release(&key);
}

static void clear(gf_batch *batch, gf_slice id, unsigned family, gf_slice column)
{
    gf_buffer key = {0};
    gf_batch_delete_cell(batch, gf_user_table_rows(table), row_key(table, id, &key), family,
                         column);
    gf_buffer_release(&key);
}

/* Told of a place and all that is in it, each before what is in it. */
typedef void visit_place(void *context, gf_slice id, const gf_row *row, int depth);
static void visit(gf_slice id, int depth, visit_place *each, void *context)
{
    gf_row row = get(id);
    each(context, id, &row, depth);
    for (size_t i = 0; i < row.n_cells; i++)
        if (row.cells[i].family == child) visit(row.cells[i].qualifier, depth + 1, each, context);
    gf_row_release(&row);
}

/* Enter a place that has the row `within` as its nearest parent: its own side of it. */
static void put_parents(gf_batch *batch, gf_slice id, gf_slice within_id, const gf_row *within)
{
    put(batch, id, parent, within_id, level_of(within));
    for (size_t i = 0; i < within->n_cells; i++)
        if (within->cells[i].family == parent)
            put(batch, id, parent, within->cells[i].qualifier, within->cells[i].value);
}

static void add(gf_batch *batch, gf_slice id, gf_slice level, const char *what, const char *within)
{
    put(batch, id, name, GF_SLICE("name"), gf_slice_str(what));
    put(batch, id, name, GF_SLICE("level"), level);
    if (!within) return;
    gf_row row = get(gf_slice_str(within));
    put_parents(batch, id, gf_slice_str(within), &row);
    put(batch, gf_slice_str(within), child, id, level);
    gf_row_release(&row);
}

/* Write what was added, unless the place is there already: it may lie elsewhere. */
static gf_status write_new(gf_batch *batch, gf_slice id)
{
    gf_buffer key = {0};
    gf_status st = gf_batch_write_if(batch, gf_user_table_rows(table), row_key(table, id, &key),
                                     name, GF_SLICE("name"), NULL, GF_SYNC_ON, &err);
    gf_buffer_release(&key);
    if (st == GF_ECONFLICT) {
        fprintf(stderr, "place %.*s is there already\n", GF_SLICE_ARG(id));
        exit(1);
    }
    return st;
}

/* Take the place out of the list of the one that it lies in directly; of those around that there is
   nothing to clear. */
static void clear_from_parent(gf_batch *batch, gf_slice id, const gf_row *row)
{
    for (size_t i = 0; i < row->n_cells; i++)
        if (row->cells[i].family == parent) clear(batch, row->cells[i].qualifier, child, id);
}

static void delete_place(void *batch, gf_slice id, const gf_row *row, int depth)
{
    gf_buffer key = {0};
    if (depth == 0) clear_from_parent(batch, id, row);
    gf_batch_delete_row(batch, gf_user_table_rows(table), row_key(table, id, &key), 7);
    gf_buffer_release(&key);
}

typedef struct {
    gf_batch *batch;
    gf_slice to_id;
    const gf_row *from, *to; /* the row that moves, as it was; its parent to be */
} move;

/* What is in the place loses the parents that the place had, and has those that it gets. */
static void move_place(void *context, gf_slice id, const gf_row *row, int depth)
{
    move *m = context;
    (void)row, (void)depth;
    for (size_t i = 0; i < m->from->n_cells; i++)
        if (m->from->cells[i].family == parent)
            clear(m->batch, id, parent, m->from->cells[i].qualifier);
    put_parents(m->batch, id, m->to_id, m->to);
}

static void move_to(gf_batch *batch, gf_slice id, gf_slice to_id)
{
    gf_row from = get(id), to = get(to_id);
    bool within = gf_slice_equal(id, to_id);
    for (size_t i = 0; i < to.n_cells && !within; i++)
        within = to.cells[i].family == parent && gf_slice_equal(to.cells[i].qualifier, id);
    if (within) {
        fprintf(stderr, "%.*s lies in %.*s\n", GF_SLICE_ARG(to_id), GF_SLICE_ARG(id));
        exit(1);
    }
    visit(id, 0, move_place, &(move){batch, to_id, &from, &to});
    clear_from_parent(batch, id, &from);
    put(batch, to_id, child, id, level_of(&from));
    gf_row_release(&from);
    gf_row_release(&to);
}

static void print_place(void *context, gf_slice id, const gf_row *row, int depth)
{
    const gf_cell *cell = gf_row_find(row, name, "name");
    gf_slice text = cell ? cell->value : GF_SLICE("");
    (void)context;
    printf("%*s%.*s %.*s\n", 2 * depth, "", GF_SLICE_ARG(id), GF_SLICE_ARG(text));
}

int main(int argc, char **argv)
{
    const char *what = argc > 3 ? argv[2] : "";
    gf_slice id = argc > 3 ? gf_slice_str(argv[3]) : GF_SLICE("");
    gf_batch *batch;
    bool adds = !strcmp(what, "add") && (argc == 6 || argc == 7);
    bool moves = !strcmp(what, "move") && argc == 5, deletes = !strcmp(what, "delete") && argc == 4;
    if (!adds && !moves && !deletes && (strcmp(what, "subtree") != 0 || argc != 4)) {
        fprintf(stderr, "locations STORE add ID LEVEL NAME [PARENT] | move ID PARENT | "
                        "delete ID | subtree ID\n");
        return 2;
    }
    gf_store *store = open_store(argv[1]);
    table = open_table(store, "locations");
    name = family_of(table, "name"), parent = family_of(table, "parent");
    child = family_of(table, "child");
    must(gf_batch_create(gf_store_database(store), &batch, &err));
    if (adds)
        add(batch, id, gf_slice_str(argv[4]), argv[5], argc == 7 ? argv[6] : NULL);
    else if (moves)
        move_to(batch, id, gf_slice_str(argv[4]));
    else if (deletes)
        visit(id, 0, delete_place, batch);
    else
        visit(id, 0, print_place, NULL);
    must(adds ? write_new(batch, id) : gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    gf_user_table_close(table);
    gf_store_close(store);
    return 0;
}
