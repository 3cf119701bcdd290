/* Ids of the groups of a build's tree: they last from build to build, and are never given twice. */
#include "tests/engine/fixture.h"

#include "base/memory.h"
#include "base/random.h"
#include "engine/build/group_ids.h"
#include "engine/build/tree.h"

#include <inttypes.h>
#include <string.h>

enum { MOST = 12, DOCUMENTS = 240, GROUPS = 64 };

/* ---- matching -------------------------------------------------------------------------------- */

/* A tree over k leaves, in which pairs are joined as they are listed. */
static gf_tree tree_of(uint32_t k, const uint32_t *child)
{
    gf_error err;
    gf_tree t;
    assert_ok(gf_tree_alloc(k, &t, &err));
    for (uint32_t v = 0; v < t.n_nodes; v++) {
        t.height[v] = 0;
        t.child[2 * v] = v < k ? GF_TREE_NONE : child[2 * (v - k)];
        t.child[2 * v + 1] = v < k ? GF_TREE_NONE : child[2 * (v - k) + 1];
    }
    assert_true(gf_tree_arrange(&t));
    return t;
}

/*
 * Before ((a b) (c d)), 10 documents each; now ((a b) c) d, where 2 documents of b are in c. {a, b} shares 18
 * of 20 with {a, b}, and 20 of 30 with {a, b, c}, the root all. {c, d} shares 10 of 32 with {a, b, c}
 * and is no more.
 */
static void by_hand(void **state)
{
    (void)state;
    gf_error err;
    gf_tree before = tree_of(4, (uint32_t[]){0, 1, 2, 3, 4, 5});
    gf_tree after = tree_of(4, (uint32_t[]){0, 1, 4, 2, 5, 3});
    static const gf_overlap shared[] = {{3, 3, 10}, {0, 0, 10}, {1, 1, 8}, {1, 2, 2}, {2, 2, 10}};
    uint32_t now[3] = {9, 9, 9};
    assert_ok(gf_group_ids_match(&before, (uint32_t[]){7, 5, 2}, &after, shared, 5, now, &err));
    assert_int_equal(now[0], 7);
    assert_int_equal(now[1], 0);
    assert_int_equal(now[2], 2);
    assert_ok(gf_group_ids_match(&before, (uint32_t[]){0, 5, 2}, &after, shared, 5, now, &err));
    assert_int_equal(now[0], 0); /* nothing is handed on of a group without an id */
    assert_ok(gf_group_ids_match(&before, (uint32_t[]){7, 5, 2}, &after, shared, 0, now, &err));
    assert_int_equal(now[2], 0);
    gf_tree_release(&before);
    gf_tree_release(&after);
}

static gf_tree random_tree(uint32_t k, gf_random *random)
{
    uint32_t left[MOST], child[2 * MOST];
    for (uint32_t v = 0; v < k; v++)
        left[v] = v;
    for (uint32_t v = k, n = k; n > 1; v++, n--) {
        uint32_t a = (uint32_t)gf_random_below(random, n);
        child[2 * (v - k)] = left[a];
        left[a] = left[n - 1];
        uint32_t b = (uint32_t)gf_random_below(random, n - 1);
        child[2 * (v - k) + 1] = left[b];
        left[b] = v;
    }
    return tree_of(k, child);
}

static bool has(const gf_tree *t, uint32_t node, uint32_t leaf)
{
    for (uint32_t i = 0; i < t->count[node]; i++)
        if (t->order[t->first[node] + i] == leaf) return true;
    return false;
}

static double jaccard(const gf_tree *a, uint32_t u, const gf_tree *b, uint32_t v,
                      const uint32_t *then, const uint32_t *now)
{
    double both = 0, either = 0;
    for (size_t d = 0; d < DOCUMENTS; d++) {
        bool x = has(a, u, then[d]), y = has(b, v, now[d]);
        both += x && y;
        either += x || y;
    }
    return either > 0 ? both / either : 0;
}

/* Against all documents of all pairs: what is handed on is alike, and no pair of two that got none is. */
static void random_trees(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 5);
    size_t handed = 0;
    for (int round = 0; round < 300; round++) {
        gf_error err;
        uint32_t ka = 2 + (uint32_t)gf_random_below(&random, MOST - 1);
        uint32_t kb = 2 + (uint32_t)gf_random_below(&random, MOST - 1);
        gf_tree a = random_tree(ka, &random), b = random_tree(kb, &random);
        uint32_t then[DOCUMENTS], now[DOCUMENTS], groups[MOST], found[MOST];
        for (size_t d = 0; d < DOCUMENTS; d++) {
            then[d] = (uint32_t)gf_random_below(&random, ka);
            now[d] =
                gf_random_below(&random, 5) ? then[d] % kb : (uint32_t)gf_random_below(&random, kb);
        }
        for (uint32_t i = 0; i < ka; i++)
            groups[i] = 100 + i;
        gf_overlaps o = {0};
        assert_ok(gf_match_overlaps_count(then, now, DOCUMENTS, ka, kb, &o, &err));
        assert_ok(gf_group_ids_match(&a, groups, &b, o.at, o.n, found, &err));
        bool taken[MOST] = {false};
        for (uint32_t v = 0; v + 1 < kb; v++) {
            if (!found[v]) continue;
            assert_false(taken[found[v] - 100]);
            taken[found[v] - 100] = true;
            assert_true(jaccard(&a, ka + found[v] - 100, &b, kb + v, then, now) >= 0.5);
            handed++;
        }
        for (uint32_t v = 0; v + 1 < kb; v++)
            for (uint32_t u = 0; u + 1 < ka && !found[v]; u++)
                if (!taken[u]) assert_true(jaccard(&a, ka + u, &b, kb + v, then, now) < 0.5);
        gf_match_overlaps_release(&o);
        gf_tree_release(&a);
        gf_tree_release(&b);
    }
    assert_true(handed > 300);
}

typedef struct match_call {
    gf_tree before, after;
} match_call;

static gf_status sweep_match(void *context, gf_error *err)
{
    match_call *c = context;
    static const gf_overlap shared[] = {{0, 0, 3}, {1, 1, 4}};
    uint32_t now = 0;
    gf_status st = gf_group_ids_match(&c->before, (uint32_t[]){6}, &c->after, shared, 2, &now, err);
    assert_true(st != GF_OK || now == 6);
    return st;
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    match_call c = {tree_of(2, (uint32_t[]){0, 1}), tree_of(2, (uint32_t[]){0, 1})};
    gf_test_sweep(sweep_match, NULL, &c);
    gf_tree_release(&c.before);
    gf_tree_release(&c.after);
}

/* ---- the cell -------------------------------------------------------------------------------- */

static void damage_is_found(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer b = {0};
    uint32_t read[3];
    gf_group_ids_write((uint32_t[]){300, 0, 0}, 3, &b);
    assert_ok(gf_group_ids_read(gf_buffer_view(&b), read, 3, &err));
    assert_int_equal(read[0], 300);
    for (size_t n = 0; n < b.len; n++)
        assert_status(GF_ECORRUPT, gf_group_ids_read(gf_slice_of(b.ptr, n), read, 3, &err));
    assert_status(GF_ECORRUPT, gf_group_ids_read(gf_buffer_view(&b), read, 2, &err));
    gf_buffer_reset(&b);
    gf_group_ids_write((uint32_t[]){4, 1, 4}, 3, &b); /* one id of two groups */
    assert_status(GF_ECORRUPT, gf_group_ids_read(gf_buffer_view(&b), read, 3, &err));
    gf_buffer_release(&b);
}

/* ---- histories ------------------------------------------------------------------------------- */

/* A group with the documents of it, by their numbers. */
typedef struct seen {
    uint32_t id;
    bool has[DOCUMENTS];
} seen;

typedef struct listing {
    gf_view *view;
    seen at[GROUPS];
    size_t n;
} listing;

static gf_status note_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    seen *s = context;
    (void)m, (void)err;
    size_t number = 0;
    for (size_t i = 0; i < id.len; i++)
        number = number * 10 + (size_t)(id.ptr[i] - '0');
    assert_true(number < DOCUMENTS && !s->has[number]);
    s->has[number] = true;
    return GF_OK;
}

static gf_status note_members(void *context, const gf_group_info *g, gf_error *err)
{
    listing *l = context;
    gf_status st = gf_view_members_of(l->view, g->clusters, g->n_clusters, NULL, 0, note_member,
                                      &l->at[l->n], err);
    size_t n = 0;
    for (size_t d = 0; d < DOCUMENTS; d++)
        n += l->at[l->n].has[d];
    assert_int_equal(n, g->size);
    return st;
}

static gf_status note_node(void *context, const gf_tree_node *node, gf_error *err)
{
    listing *l = context;
    (void)err;
    if (node->cluster) return GF_OK;
    assert_true(node->group > 0 && l->n < GROUPS);
    l->at[l->n++].id = node->group;
    return GF_OK;
}

/* All groups: a cut for each number of them shows every inner node. */
static void list_groups(fixture *f, listing *l)
{
    gf_error err;
    uint32_t all[MOST + 2];
    *l = (listing){.n = 0};
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &l->view, &err));
    for (uint32_t i = 0; i < MOST + 2; i++)
        all[i] = i + 1;
    assert_ok(gf_view_levels(l->view, all, MOST + 2, note_node, l, &err));
    size_t n = l->n;
    for (l->n = 0; l->n < n; l->n++)
        assert_ok(gf_view_group(l->view, l->at[l->n].id, note_members, l, &err));
    gf_view_close(l->view);
}

static const seen *find(const listing *l, uint32_t id)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->at[i].id == id) return &l->at[i];
    return NULL;
}

static void same_groups(const listing *a, const listing *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        const seen *s = find(b, a->at[i].id);
        assert_non_null(s);
        assert_memory_equal(s->has, a->at[i].has, sizeof s->has);
    }
}

/* Groups of the same documents have the same id; how many there are. */
static size_t hold_ids(const listing *a, const listing *b)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < b->n; j++)
            if (memcmp(a->at[i].has, b->at[j].has, sizeof a->at[i].has) == 0) {
                assert_int_equal(a->at[i].id, b->at[j].id);
                n++;
            }
    return n;
}

static void put_some(fixture *f, gf_random *random, bool *there, size_t n)
{
    static const char *const words[] = {"apple", "pear",  "plum",  "ship", "fish",  "wave",
                                        "wheel", "motor", "brake", "king", "queen", "tower"};
    for (size_t i = 0; i < n; i++) {
        char id[8], text[64];
        size_t d = (size_t)gf_random_below(random, DOCUMENTS), kind = d % 12;
        snprintf(id, sizeof id, "%03zu", d);
        snprintf(text, sizeof text, "%s %s sort%zu word%d", words[kind], words[kind], kind / 3,
                 (int)gf_random_below(random, 6));
        fixture_put(f, "c", id, text);
        there[d] = true;
    }
}

/* A group that goes on shares half of what both builds have; one that ended never comes back. */
static void random_histories(void **state)
{
    (void)state;
    static listing before, now, again;
    gf_random random = gf_random_seed(gf_test_seed(), 7);
    size_t kept = 0, fresh = 0, held = 0;
    for (int history = 0; history < 4; history++) {
        fixture f;
        bool there[DOCUMENTS] = {false};
        uint32_t greatest = 0;
        fixture_open(&f);
        put_some(&f, &random, there, 150);
        fixture_set(&f, "c", "default", "min_df", "1");
        before.n = 0;
        for (int step = 0; step < 8; step++) {
            char k[12];
            snprintf(k, sizeof k, "%d", 2 + (int)gf_random_below(&random, MOST - 2));
            if (step % 2 == 0) fixture_set(&f, "c", "default", "k", k);
            fixture_set(&f, "c", "default", "start", step % 3 ? "served" : "fresh");
            fixture_rebuild(&f, "c");
            list_groups(&f, &now);
            uint32_t most = greatest;
            for (size_t i = 0; i < now.n; i++) {
                const seen *s = find(&before, now.at[i].id);
                if (now.at[i].id > most) most = now.at[i].id;
                fresh += !s;
                if (!s) assert_true(now.at[i].id > greatest);
                if (!s) continue;
                kept++;
                size_t both = 0, either = 0;
                for (size_t d = 0; d < DOCUMENTS; d++) {
                    const seen *all = find(&before, before.at[0].id);
                    if (!all->has[d] || !now.at[0].has[d]) continue; /* in both roots */
                    both += s->has[d] && now.at[i].has[d];
                    either += s->has[d] || now.at[i].has[d];
                }
                assert_true(2 * both >= either);
            }
            greatest = most;
            fixture_set(&f, "c", "default", "start", "served");
            fixture_rebuild(&f, "c");
            list_groups(&f, &again);
            held += hold_ids(&now, &again); /* the centres may have moved, and with them the tree */
            for (size_t i = 0; i < again.n; i++)
                if (again.at[i].id > greatest) greatest = again.at[i].id;
            before = again;
            put_some(&f, &random, there, 25);
        }
        fixture_is_sound(&f);
        fixture_close(&f);
    }
    assert_true(kept > 20 && fresh > 20 && held > 20);
}

/* An edit hands on what is alike, without new ids; undoing it brings all back. */
static void edits_keep_ids(void **state)
{
    (void)state;
    static listing before, now;
    gf_error err;
    fixture f;
    bool there[DOCUMENTS] = {false};
    gf_random random = gf_random_seed(3, 9);
    fixture_open(&f);
    put_some(&f, &random, there, 200);
    fixture_set(&f, "c", "default", "min_df", "1");
    fixture_set(&f, "c", "default", "k", "8");
    fixture_rebuild(&f, "c");
    list_groups(&f, &before);
    const uint32_t others[] = {2};
    gf_edit_request merge =
        GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = 1, .others = others, .n_others = 1);
    assert_ok(
        gf_edit_make(f.store, fixture_place("c"), fixture_default(), &merge, NULL, NULL, &err));
    gf_view *view;
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &view, &err));
    now = (listing){.view = view};
    assert_ok(gf_view_group(view, 1, note_members, &now, &err)); /* the root has its id */
    gf_view_close(view);
    assert_ok(
        gf_edit_undo(f.store, fixture_place("c"), fixture_default(), 0, NULL, NULL, NULL, &err));
    list_groups(&f, &now);
    same_groups(&before, &now);
    fixture_is_sound(&f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand),
                                       cmocka_unit_test(random_trees),
                                       cmocka_unit_test(survives_failing_allocations),
                                       cmocka_unit_test(damage_is_found),
                                       cmocka_unit_test(random_histories),
                                       cmocka_unit_test(edits_keep_ids)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
