/* Users by how far they went, and by the area that they covered. */
#include "apps/tweets/ask/earth.h"
#include "apps/tweets/tables_internal.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/strings.h"

#include <stdlib.h>

typedef struct user {
    gf_slice id, screen_name, name; /* in `memory` */
    uint64_t tweets;
    double path, area;
    gf_geo_point last;
    uint64_t newest; /* place in `steps` of the last one; NO_STEP: none */
} user;

#define NO_STEP UINT64_MAX

/* The tweets of all users in order; each knows its user's one before it. */
typedef struct step {
    gf_geo_point at;
    uint64_t before;
} step;

typedef struct scoring {
    gf_strings keys; /* of users */
    user *users;     /* keys.n; user_capacity */
    size_t user_capacity;
    step *steps; /* n_steps; step_capacity; only where areas are wanted */
    uint64_t n_steps;
    size_t step_capacity;
    bool by_area;
    gf_arena memory;
    gf_buffer key;
} scoring;

/* "i" and the id, or "n" and the screen name in lower case. */
static gf_status find_user(scoring *s, const gf_tweet *t, uint32_t *id, gf_error *err)
{
    bool added;
    gf_status st = GF_OK;
    gf_buffer_reset(&s->key);
    gf_buffer_byte(&s->key, t->user_id.len ? 'i' : 'n');
    if (t->user_id.len)
        gf_buffer_slice(&s->key, t->user_id);
    else
        st = gf_tweets_lower_case(t->screen_name, &s->key, err);
    if (st == GF_OK) st = gf_buffer_check(&s->key, err);
    if (st == GF_OK)
        st = gf_grow(&s->users, &s->user_capacity, (size_t)s->keys.n + 1, sizeof *s->users)
                 ? GF_OK
                 : gf_fail_memory(err, "users");
    if (st == GF_OK) st = gf_strings_add(&s->keys, gf_buffer_view(&s->key), id, &added, err);
    if (st == GF_OK && added) s->users[*id] = (user){.newest = NO_STEP};
    return st;
}

static gf_status keep_user(scoring *s, gf_slice *kept, gf_slice name, gf_error *err)
{
    if (gf_slice_equal(*kept, name)) return GF_OK;
    gf_slice copy = gf_arena_copy(&s->memory, name);
    if (!copy.ptr) return gf_fail_memory(err, "users");
    *kept = copy;
    return GF_OK;
}

static gf_status add_step(scoring *s, user *u, gf_geo_point at, gf_error *err)
{
    if (!s->by_area) return GF_OK;
    gf_status st = gf_grow(&s->steps, &s->step_capacity, (size_t)s->n_steps + 1, sizeof *s->steps)
                       ? GF_OK
                       : gf_fail_memory(err, "users");
    if (st != GF_OK) return st;
    s->steps[s->n_steps] = (step){at, u->newest};
    u->newest = s->n_steps++;
    return GF_OK;
}

static gf_status add_tweet(void *context, gf_slice json, const gf_tweet *t,
                           const gf_tweets_parser *parser, gf_error *err)
{
    scoring *s = context;
    uint32_t id;
    (void)json, (void)parser;
    if (!t->has_place || (!t->user_id.len && !t->screen_name.len)) return GF_OK;
    gf_status st = find_user(s, t, &id, err);
    if (st != GF_OK) return st;
    user *u = &s->users[id];
    if (u->tweets++) u->path += gf_earth_distance(u->last, t->place);
    u->last = t->place;
    st = keep_user(s, &u->id, t->user_id, err);
    if (st == GF_OK) st = keep_user(s, &u->screen_name, t->screen_name, err);
    if (st == GF_OK) st = keep_user(s, &u->name, t->name, err);
    return st == GF_OK ? add_step(s, u, t->place, err) : st;
}

static gf_status measure_areas(scoring *s, gf_error *err)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < s->keys.n; i++)
        if (s->users[i].tweets > most) most = s->users[i].tweets;
    gf_geo_point *points = gf_array((size_t)most * 2, sizeof *points);
    if (!points) return gf_fail_memory(err, "places");
    for (uint32_t i = 0; i < s->keys.n; i++) {
        size_t n = 0;
        for (uint64_t at = s->users[i].newest; at != NO_STEP; at = s->steps[at].before)
            points[n++] = s->steps[at].at;
        s->users[i].area = gf_earth_hull_area(points, n, points + most);
    }
    gf_free(points);
    return GF_OK;
}

/* By falling path and then by user; area likewise. */
static int compare_paths(const void *a, const void *b)
{
    const user *x = a, *y = b;
    if (x->path != y->path) return x->path > y->path ? -1 : 1;
    int order = gf_slice_compare(x->screen_name, y->screen_name);
    return order ? order : gf_slice_compare(x->id, y->id);
}

static int compare_areas(const void *a, const void *b)
{
    const user *x = a, *y = b;
    if (x->area != y->area) return x->area > y->area ? -1 : 1;
    return compare_paths(a, b);
}

static gf_status visit_first(scoring *s, size_t most, gf_tweets_visit_user *visit, void *context,
                             gf_error *err)
{
    gf_status st = s->by_area ? measure_areas(s, err) : GF_OK;
    if (st != GF_OK) return st;
    if (s->keys.n)
        qsort(s->users, s->keys.n, sizeof *s->users, s->by_area ? compare_areas : compare_paths);
    for (size_t i = 0; i < s->keys.n && i < most && st == GF_OK; i++) {
        const user *u = &s->users[i];
        gf_tweets_user shown = {u->id, u->screen_name, u->name, u->tweets, u->path, u->area};
        st = visit(context, &shown, err);
    }
    return st;
}

gf_status gf_tweets_highscore(gf_tweets *tweets, const gf_tweets_query *query, bool by_area,
                              size_t most, gf_tweets_visit_user *visit, void *context,
                              gf_error *err)
{
    scoring s = {.by_area = by_area};
    gf_tweets_query q = *query;
    q.oldest_first = true;
    q.limit = 0;
    gf_status st = gf_tweets_query_run(tweets, &q, add_tweet, &s, err);
    if (st == GF_OK) st = visit_first(&s, most, visit, context, err);
    gf_strings_release(&s.keys);
    gf_arena_release(&s.memory);
    gf_buffer_release(&s.key);
    gf_free(s.users);
    gf_free(s.steps);
    return st;
}
