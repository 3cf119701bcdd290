/*
 * The components of the graph, the largest first: users, and the first of them by key.
 *
 *     friends_components STORE
 */
#include "friends.h"

static int root(int who)
{
    while (users[who].set != who) /* halving: Tarjan & van Leeuwen, JACM 31 (1984) 245-281 */
        who = users[who].set = users[users[who].set].set;
    return who;
}

/* One walk over the rows, in key order: the root of a set is the first of its users by key. */
static void components(void)
{
    gf_rows *rows;
    const gf_row *row;
    gf_status st;
    gf_buffer name = {0};
    must(gf_rows_open(table, &GF_ROWS_OPTIONS(), &rows, &err));
    while ((st = gf_rows_next(rows, &row, &err)) == GF_OK) {
        gf_slice key = row->key;
        gf_buffer_reset(&name);
        must(gf_user_table_key_take(table, 0, &key, &name, &err));
        int me = number_of(gf_buffer_view(&name));
        for (size_t i = 0; i < row->n_cells; i++) {
            if (row->cells[i].family != friends) continue;
            int one = root(me), other = root(number_of(row->cells[i].qualifier));
            int first = strcmp(users[one].name, users[other].name) <= 0 ? one : other;
            users[one].set = users[other].set = first;
        }
    }
    if (st != GF_ENOTFOUND) must(st);
    gf_rows_close(rows);
    gf_buffer_release(&name);
    for (int i = 0; i < n_users; i++)
        users[root(i)].count++;
    print_counts();
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "friends_components STORE\n");
        return 2;
    }
    gf_store *store = open_users(argv[1]);
    components();
    return close_users(store);
}
