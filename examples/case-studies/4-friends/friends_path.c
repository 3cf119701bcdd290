/*
 * The shortest path between users, from list to list:
 *
 *     friends_path STORE A B [A B]...
 *     friends_path --two-sided STORE A B [A B]...    where every friendship is in both rows
 *
 * A get per user who is reached. A list may be one-sided: A has B in its row, and B has not A. A path
 * goes from a user to those of its own row, so the search is breadth-first, from A alone.
 *
 * Where all are two-sided, it may begin at both ends and meet in the middle, the smaller of the two
 * outermost levels first: Pohl, "Bi-directional search", Machine Intelligence 6 (1971) 127-140. What
 * it finds is then looked up edge by edge. Where one is missing, or the ends do not meet, the lists
 * may be one-sided after all, and the search is made again from A alone.
 */
#include "friends.h"

typedef struct {
    int *queue;        /* room for `room` */
    size_t n, at, end; /* users found; of the level that is being expanded: the next, its end */
    size_t room;
} search;

static void found(search *s, int who, int side, int back)
{
    users[who].side = side, users[who].back = back;
    if (s->n == s->room) {
        s->room = s->room ? 2 * s->room : 64;
        s->queue = enough(realloc(s->queue, sizeof *s->queue * s->room));
    }
    s->queue[s->n++] = who;
}

/* Expand a level of one search. Where the searches touch, *from is on this side of the edge, and
   the friend beyond is returned. No path can be shorter: a shorter one had made them touch before.
 */
static int expand(search *s, int side, int *from)
{
    for (s->end = s->n; s->at < s->end; s->at++) {
        size_t n;
        int *f = friends_of(*from = s->queue[s->at], &n), met = NONE;
        for (size_t i = 0; i < n && met == NONE; i++) {
            if (users[f[i]].side == NONE)
                found(s, f[i], side, *from);
            else if (users[f[i]].side != side)
                met = f[i];
        }
        free(f);
        if (met != NONE) return met;
    }
    return NONE;
}

static void print_from_start(int who)
{
    if (users[who].back != START) print_from_start(users[who].back);
    printf(" %s", users[who].name);
}

/* Whether the user has a row; with `other`, whether that is in its list. */
static bool has(int who, const int *other)
{
    static gf_buffer key;
    gf_row row = {0};
    gf_slice k = row_key(table, gf_slice_str(users[who].name), &key);
    gf_table *rows = gf_user_table_rows(table);
    gf_status st = other ? gf_table_get_cell(rows, NULL, k, friends,
                                             gf_slice_str(users[*other].name), 1, &row, &err)
                         : gf_table_get(rows, NULL, k, GF_ALL_FAMILIES, &row, &err);
    if (st != GF_ENOTFOUND) must(st);
    gf_row_release(&row);
    return st == GF_OK;
}

/* Whether each user on the way from `who` to the end B has the next one in its list. */
static bool way_holds(int who)
{
    for (; users[who].back != START; who = users[who].back)
        if (!has(who, &users[who].back)) return false;
    return true;
}

static int steps(int who)
{
    int n = 0;
    for (; users[who].back != START; who = users[who].back)
        n++;
    return n;
}

/* Search and print; false, and nothing is printed, where the ends do not meet. */
static bool search_path(int a, int b, bool two_sided)
{
    int from = a, met = b, side = 0;
    search s[2] = {{0}};
    for (int i = 0; i < n_users; i++)
        users[i].side = NONE;
    found(&s[0], a, 0, START);
    if (b != a) {
        found(&s[1], b, 1, START);
        for (met = NONE; met == NONE && s[0].at < s[0].n;) {
            if (two_sided && s[1].at == s[1].n) break;
            side = two_sided && s[1].n - s[1].at < s[0].n - s[0].at; /* the smaller level */
            met = expand(&s[side], side, &from);
        }
    }
    free(s[0].queue), free(s[1].queue);
    if (met == NONE) return false;
    if (a == b) {
        printf("0: %s\n", users[a].name);
        return true;
    }
    int one = side ? met : from, other = side ? from : met; /* the edge where they touch */
    if (two_sided && !(has(one, &other) && way_holds(other))) return false;
    printf("%d:", steps(one) + 1 + steps(other));
    print_from_start(one);
    for (int i = other; i != START; i = users[i].back)
        printf(" %s", users[i].name);
    printf("\n");
    return true;
}

static void path(const char *from, const char *to, bool two_sided)
{
    int a = number_of(gf_slice_str(from)), b = number_of(gf_slice_str(to));
    if (two_sided && search_path(a, b, true)) return;
    if (search_path(a, b, false)) {
        if (two_sided) fprintf(stderr, "lists between %s and %s are one-sided\n", from, to);
    } else if (!has(a, NULL) || !has(b, NULL)) {
        printf("there is no user %s\n", has(a, NULL) ? to : from);
    } else {
        printf("%s cannot be reached from %s\n", to, from);
    }
}

int main(int argc, char **argv)
{
    bool two_sided = argc > 1 && strcmp(argv[1], "--two-sided") == 0;
    argc -= two_sided, argv += two_sided;
    if (argc < 4 || argc % 2 != 0) {
        fprintf(stderr, "friends_path [--two-sided] STORE A B [A B]...\n");
        return 2;
    }
    gf_store *store = open_users(argv[1]);
    for (int i = 2; i < argc; i += 2)
        path(argv[i], argv[i + 1], two_sided);
    return close_users(store);
}
