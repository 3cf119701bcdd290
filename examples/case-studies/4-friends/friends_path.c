/*
 * The shortest path between users, by two breadth-first searches that meet in the middle:
 *
 *     friends_path STORE A B [A B]...
 *
 * A get per user who is reached, the smaller of the two outermost levels first. Pohl,
 * "Bi-directional search", Machine Intelligence 6 (1971) 127-140.
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

static void path(const char *a, const char *b)
{
    for (int i = 0; i < n_users; i++)
        users[i].side = NONE;
    search s[2] = {{0}};
    int from = number_of(gf_slice_str(a)), met = number_of(gf_slice_str(b)), side = 0, length = 0;
    found(&s[0], from, 0, START);
    if (met != from) {
        found(&s[1], met, 1, START);
        for (met = NONE; met == NONE && s[0].at < s[0].n && s[1].at < s[1].n; length++) {
            side = s[1].n - s[1].at < s[0].n - s[0].at; /* the smaller level */
            met = expand(&s[side], side, &from);
        }
    }
    if (met == NONE) {
        printf("%s cannot be reached from %s\n", b, a);
    } else {
        printf("%d:", length);
        print_from_start(side ? met : from);
        for (int i = side ? from : met; length && i != START; i = users[i].back)
            printf(" %s", users[i].name);
        printf("\n");
    }
    free(s[0].queue), free(s[1].queue);
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc % 2 != 0) {
        fprintf(stderr, "friends_path STORE A B [A B]...\n");
        return 2;
    }
    gf_store *store = open_users(argv[1]);
    for (int i = 2; i < argc; i += 2)
        path(argv[i], argv[i + 1]);
    return close_users(store);
}
