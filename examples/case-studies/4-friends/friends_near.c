/*
 * Friends of a user's friends who are not yet friends, with the number of friends in common:
 *
 *     friends_near STORE A
 */
#include "friends.h"

static void near(const char *a)
{
    size_t n, m;
    int me = number_of(gf_slice_str(a)), *mine = friends_of(me, &n);
    for (size_t i = 0; i < n; i++) {
        int *theirs = friends_of(mine[i], &m);
        for (size_t j = 0; j < m; j++)
            users[theirs[j]].count++;
        free(theirs);
    }
    users[me].count = 0;
    for (size_t i = 0; i < n; i++)
        users[mine[i]].count = 0;
    free(mine);
    print_counts();
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "friends_near STORE A\n");
        return 2;
    }
    gf_store *store = open_users(argv[1]);
    near(argv[2]);
    return close_users(store);
}
