/*
 * Users by number, and their friends: what the programs of this folder share.
 *
 * A friendship is two cells, friend:B of row A and friend:A of row B, written in one batch.
 */
#ifndef FRIENDS_H
#define FRIENDS_H

#define _XOPEN_SOURCE 700
#include "../case.h"

#include <search.h>
#include <string.h>

enum { NONE = -1, START = -2 };
typedef struct {
    char *name;
    int side;  /* path: whose search reached it first, 0 or 1; NONE: nobody's yet */
    int back;  /* path: the user before it, on the way from that end; START: the end itself */
    int set;   /* components: a user nearer to its set's root, itself if it is the root */
    int count; /* near: friends in common; components: users of the set */
} user;
static user *users; /* n_users, by number; numbers are given in the order of the first meeting */
static int n_users;
static gf_user_table *table;
static unsigned friends; /* its family */

typedef struct {
    gf_slice name;
    int number;
} known;
static int compare_known(const void *a, const void *b)
{
    return gf_slice_compare(((const known *)a)->name, ((const known *)b)->name);
}

static inline int number_of(gf_slice name)
{
    static void *tree;
    known probe = {name, 0};
    known **found = tfind(&probe, &tree, compare_known);
    if (found) return (*found)->number;
    if ((n_users & (n_users - 1)) == 0)
        users = enough(realloc(users, sizeof *users * (size_t)(n_users ? 2 * n_users : 1)));
    known *new = enough(malloc(sizeof *new));
    char *copy = enough(strndup(name.ptr, name.len));
    *new = (known){gf_slice_of(copy, name.len), n_users};
    enough(tsearch(new, &tree, compare_known));
    users[n_users] = (user){.name = copy, .side = NONE, .back = NONE, .set = n_users};
    return n_users++;
}

/* All friends in one get: their numbers, the caller's. */
static inline int *friends_of(int of, size_t *n)
{
    static gf_buffer key;
    gf_row row = {0};
    gf_slice k = row_key(table, gf_slice_str(users[of].name), &key);
    gf_status st = gf_table_get(gf_user_table_rows(table), NULL, k, 1u << friends, &row, &err);
    if (st != GF_ENOTFOUND) must(st);
    int *numbers = enough(malloc(sizeof *numbers * (row.n_cells + 1)));
    for (*n = 0; *n < row.n_cells; ++*n)
        numbers[*n] = number_of(row.cells[*n].qualifier);
    gf_row_release(&row);
    return numbers;
}

/* Those with a count, the highest first. */
static inline int by_count(const void *a, const void *b)
{
    const user *x = &users[*(const int *)a], *y = &users[*(const int *)b];
    return x->count != y->count ? y->count - x->count : strcmp(x->name, y->name);
}

static inline void print_counts(void)
{
    int *order = enough(malloc(sizeof *order * (size_t)(n_users + 1))), n = 0;
    for (int i = 0; i < n_users; i++)
        if (users[i].count > 0) order[n++] = i;
    qsort(order, (size_t)n, sizeof *order, by_count);
    for (int i = 0; i < n; i++)
        printf("%d %s\n", users[order[i]].count, users[order[i]].name);
    free(order);
}

/* Open the store and its table `users`, once. */
static inline gf_store *open_users(const char *path)
{
    gf_store *store = open_store(path);
    table = open_table(store, "users");
    friends = family_of(table, "friend");
    return store;
}

static inline int close_users(gf_store *store)
{
    gf_user_table_close(table);
    gf_store_close(store);
    return 0;
}

#endif
