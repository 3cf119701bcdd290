/* The tree over a build's clusters: kept as bytes, and read. */
#include "tests/engine/fixture.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/strings.h"
#include "engine/view/tree.h"

#include <inttypes.h>
#include <string.h>

/* Four kinds of things of two sorts: 10, 9, 7 and 6 documents. */
static const char *const KINDS[] = {"apple. fruit", "pear. fruit", "ship. sea", "fish. sea"};
enum { KEPT = 32 };

static void begin(fixture *f)
{
    const char *texts[KEPT];
    fixture_open(f);
    for (size_t i = 0; i < KEPT; i++)
        texts[i] = KINDS[i < 10 ? 0 : i < 19 ? 1 : i < 26 ? 2 : 3];
    fixture_put_texts(f, "c", texts, KEPT);
    fixture_set(f, "c", "default", "k", "4");
    fixture_set(f, "c", "default", "min_df", "1");
    fixture_set(f, "c", "default", "max_df", "1.0");
    fixture_set(f, "c", "default", "refine", "off");
    fixture_rebuild(f, "c");
}

static gf_view *view_of(fixture *f)
{
    gf_error err;
    gf_view *view;
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, &err));
    return view;
}

/* "1 fruit 16/2 [2 3]" for each node, indented by depth. */
static gf_status write_node(void *context, const gf_tree_node *n, gf_error *err)
{
    gf_buffer *b = context;
    gf_buffer_format(b, "%*s%" PRIu32 "<%" PRIu32 " %.*s %" PRIu64 "/%" PRIu32 " [",
                     2 * (int)n->depth, "", n->node, n->parent, GF_SLICE_ARG(n->label), n->size,
                     n->clusters);
    for (size_t i = 0; i < n->n_children; i++)
        gf_buffer_format(b, i ? " %" PRIu32 : "%" PRIu32, n->children[i]);
    gf_buffer_format(b, "] %.3f\n", n->height);
    return gf_buffer_check(b, err);
}

static void tree_is(gf_view *view, uint32_t depth, const char *expected)
{
    gf_error err;
    gf_buffer text = {0};
    assert_ok(gf_view_tree(view, depth, write_node, &text, &err));
    assert_string_equal(gf_buffer_cstr(&text), expected);
    gf_buffer_release(&text);
}

/*
 * Weights are ln(N / df): apple 1.163, pear 1.269, fruit 0.521; ship 1.520, fish 1.674, sea 0.901.
 * The cosine of the first two is 0.521^2 / (1.275 * 1.372) = 0.155, of the others 0.242.
 */
static void reads_a_tree(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    gf_view *view = view_of(&f);
    tree_is(view, UINT32_MAX,
            "1<0  32/4 [2 5] 1.000\n"
            "  2<1 fruit 19/2 [3 4] 0.845\n"
            "    3<2 apple 10/1 [] 0.000\n"
            "    4<2 pear 9/1 [] 0.000\n"
            "  5<1 sea 13/2 [6 7] 0.758\n"
            "    6<5 ship 7/1 [] 0.000\n"
            "    7<5 fish 6/1 [] 0.000\n");
    tree_is(view, 0, "1<0  32/4 [2 5] 1.000\n");
    gf_view_close(view);
    for (int i = 0; i < 7; i++) { /* apples that are there no more */
        char id[8];
        snprintf(id, sizeof id, "%03d", i);
        fixture_delete(&f, "c", id);
    }
    view = view_of(&f);
    tree_is(view, 1,
            "1<0  25/4 [2 5] 1.000\n"
            "  2<1 sea 13/2 [3 4] 0.758\n"
            "  5<1 fruit 12/2 [6 7] 0.845\n");
    gf_view_close(view);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void one_cluster_and_none(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put(&f, "c", "1", "...");
    fixture_rebuild(&f, "c");
    gf_view *view = view_of(&f);
    tree_is(view, 9, "");
    gf_view_close(view);
    fixture_put(&f, "c", "2", "apple");
    fixture_rebuild(&f, "c");
    view = view_of(&f);
    tree_is(view, 9, "1<0 apple 1/1 [] 0.000\n");
    gf_view_close(view);
    fixture_close(&f);
}

/* ---- the cell ------------------------------------------------------------------------------- */

/* Write the cell of the served build's tree, or delete it (NULL). */
static void set_cell(fixture *f, const gf_slice *value)
{
    gf_error err;
    gf_batch *batch;
    gf_view *view = view_of(f);
    gf_table *builds = f->store->tables.builds;
    assert_ok(gf_batch_create(f->store->db, &batch, &err));
    if (value)
        gf_batch_put(batch, builds, gf_buffer_view(&view->key), GF_BUILDS_MODEL, GF_SLICE("tree"),
                     *value, 0);
    else
        gf_batch_delete_cell(batch, builds, gf_buffer_view(&view->key), GF_BUILDS_MODEL,
                             GF_SLICE("tree"));
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    gf_view_close(view);
}

static gf_buffer get_cell(fixture *f)
{
    gf_error err;
    gf_row row = {0};
    gf_buffer bytes = {0};
    gf_view *view = view_of(f);
    assert_ok(gf_table_get_cell(f->store->tables.builds, NULL, gf_buffer_view(&view->key),
                                GF_BUILDS_MODEL, GF_SLICE("tree"), 1, &row, &err));
    gf_buffer_slice(&bytes, row.cells[0].value);
    gf_row_release(&row);
    gf_view_close(view);
    return bytes;
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* "fruit 19/2 levels 1-1 apple pear" for each node, indented by depth. */
static gf_status write_group(void *context, const gf_tree_node *n, gf_error *err)
{
    gf_buffer *b = context;
    gf_buffer_format(b, "%*s%.*s %" PRIu64 "/%" PRIu32 " levels %" PRIu32 "-%" PRIu32,
                     2 * (int)n->depth, "", GF_SLICE_ARG(n->label), n->size, n->clusters,
                     n->first_level, n->last_level);
    for (size_t i = 0; i < n->n_parts; i++)
        gf_buffer_format(b, " %.*s", GF_SLICE_ARG(n->parts[i]));
    gf_buffer_byte(b, '\n');
    return gf_buffer_check(b, err);
}

static void levels_are(gf_view *view, const uint32_t *groups, size_t n, const char *expected)
{
    gf_error err;
    gf_buffer text = {0};
    assert_ok(gf_view_levels(view, groups, n, write_group, &text, &err));
    assert_string_equal(gf_buffer_cstr(&text), expected);
    gf_buffer_release(&text);
}

/* The last join is that of fruit and sea; before it came that of apple and pear. */
static void cuts_levels(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer text = {0};
    begin(&f);
    gf_view *view = view_of(&f);
    levels_are(view, (uint32_t[]){2, 3}, 2,
               " 32/4 levels 0-0 apple ship\n"
               "  fruit 19/2 levels 1-1 apple pear\n"
               "    apple 10/1 levels 2-2\n"
               "    pear 9/1 levels 2-2\n"
               "  sea 13/2 levels 1-2 ship fish\n");
    levels_are(view, (uint32_t[]){3, 1000}, 2,
               " 32/4 levels 0-0 apple pear ship\n"
               "  sea 13/2 levels 1-1 ship fish\n"
               "    ship 7/1 levels 2-2\n"
               "    fish 6/1 levels 2-2\n"
               "  apple 10/1 levels 1-2\n"
               "  pear 9/1 levels 1-2\n");
    levels_are(view, (uint32_t[]){1}, 1, " 32/4 levels 1-1 apple pear ship\n");
    static const uint32_t wrong[] = {3, 3, 2, 0};
    for (size_t i = 0; i < 3; i++)
        assert_status(GF_EINVAL, gf_view_levels(view, wrong + i, 2, write_group, &text, &err));
    assert_status(GF_EINVAL, gf_view_levels(view, wrong, 0, write_group, &text, &err));
    assert_int_equal(text.len, 0);
    gf_view_close(view);
    fixture_close(&f);
}

/* A person calls a cluster as the group is called, and another as its parts are. */
static void made_labels_are_of_one_group(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_place c = fixture_place("c");
    begin(&f);
    assert_ok(gf_pin_label(f.store, c, fixture_default(), 1, GF_SLICE("Fruit"), &err));
    gf_view *view = view_of(&f);
    levels_are(view, (uint32_t[]){2}, 1,
               " 32/4 levels 0-0 Fruit ship\n"
               "  Fruit, pear 19/2 levels 1-1 Fruit pear\n"
               "  sea 13/2 levels 1-1 ship fish\n");
    gf_view_close(view);
    assert_ok(gf_pin_label(f.store, c, fixture_default(), 3, GF_SLICE("fruit, PEAR"), &err));
    view = view_of(&f);
    levels_are(view, (uint32_t[]){2}, 1,
               " 32/4 levels 0-0 Fruit fruit, PEAR\n"
               "  Fruit, pear (2) 19/2 levels 1-1 Fruit pear\n"
               "  sea 13/2 levels 1-1 fruit, PEAR fish\n");
    gf_view_close(view);
    fixture_close(&f);
}

enum { LEVELS = 3, SOME = 14 };

typedef struct level_check {
    uint32_t groups[LEVELS];
    uint32_t n_groups[LEVELS], clusters[LEVELS];
    uint64_t size[LEVELS], documents;
    struct {
        uint32_t first, last, clusters, below;
        uint64_t size, size_below;
    } node[2 * SOME]; /* by number */
    uint32_t n_nodes;
    gf_strings labels;
} level_check;

static gf_status check_group(void *context, const gf_tree_node *n, gf_error *err)
{
    level_check *c = context;
    uint32_t id;
    bool fresh = true;
    assert_int_equal(n->node, c->n_nodes + 1);
    c->n_nodes++;
    c->node[n->node].first = n->first_level;
    c->node[n->node].last = n->last_level;
    c->node[n->node].clusters = n->clusters;
    c->node[n->node].size = n->size;
    if (n->parent == 0) {
        c->documents = n->size;
        return GF_OK;
    }
    assert_true(n->first_level > c->node[n->parent].last); /* levels nest */
    assert_true(n->label.len > 0);
    assert_int_equal(gf_strings_add(&c->labels, n->label, &id, &fresh, err), GF_OK);
    if (!fresh) fail_msg("two groups are \"%.*s\"", GF_SLICE_ARG(n->label));
    c->node[n->parent].below += n->clusters;
    c->node[n->parent].size_below += n->size;
    for (uint32_t l = n->first_level; l <= n->last_level; l++) {
        c->n_groups[l - 1]++;
        c->clusters[l - 1] += n->clusters;
        c->size[l - 1] += n->size;
    }
    return GF_OK;
}

/* A tree over the build's clusters in which any two groups may be joined, without labels. */
static void set_random_tree(fixture *f, gf_random *random)
{
    gf_error err;
    gf_kept_tree kept;
    gf_tree t;
    gf_buffer bytes = get_cell(f), out = {0};
    gf_slice none[2 * SOME] = {{0}};
    uint32_t left[SOME];
    assert_ok(gf_tree_read(gf_buffer_view(&bytes), &kept, &err));
    assert_ok(gf_tree_alloc(kept.tree.k, &t, &err));
    for (uint32_t v = 0; v < t.k; v++) {
        left[v] = v;
        t.height[v] = 0;
    }
    for (uint32_t v = t.k, n = t.k; v < t.n_nodes; v++, n--) {
        uint32_t a = (uint32_t)gf_random_below(random, n);
        t.child[2 * v] = left[a];
        left[a] = left[n - 1];
        uint32_t b = (uint32_t)gf_random_below(random, n - 1);
        t.child[2 * v + 1] = left[b];
        left[b] = v;
        t.height[v] = 0.5f;
    }
    gf_tree_write(&t, kept.ids, none, &out);
    gf_slice value = gf_buffer_view(&out);
    set_cell(f, &value);
    gf_tree_release(&t);
    gf_tree_kept_release(&kept);
    gf_buffer_release(&bytes);
    gf_buffer_release(&out);
}

static void levels_nest_and_add_up(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 3);
    fixture_open(&f);
    fixture_put_posts(&f, "c", 300);
    char k[8];
    snprintf(k, sizeof k, "%d", SOME);
    fixture_set(&f, "c", "default", "k", k);
    fixture_rebuild(&f, "c");
    for (int round = 0; round < 100; round++) {
        level_check c = {.groups = {0}};
        if (round) set_random_tree(&f, &random);
        for (uint32_t l = 0, at = 0; l < LEVELS; l++)
            c.groups[l] = at += 1 + (uint32_t)gf_random_below(&random, SOME / 2);
        gf_view *view = view_of(&f);
        uint32_t clusters = gf_view_build(view)->k;
        assert_ok(gf_view_levels(view, c.groups, LEVELS, check_group, &c, &err));
        for (uint32_t l = 0; l < LEVELS; l++) {
            uint32_t n = c.groups[l] < clusters ? c.groups[l] : clusters;
            if (n == 1) continue; /* the root, which is not among the groups below it */
            assert_int_equal(c.n_groups[l], n);
            assert_int_equal(c.clusters[l], clusters);
            assert_int_equal(c.size[l], c.documents);
        }
        for (uint32_t v = 1; v <= c.n_nodes; v++) {
            if (!c.node[v].below) continue;
            assert_int_equal(c.node[v].below, c.node[v].clusters);
            assert_int_equal(c.node[v].size_below, c.node[v].size);
        }
        gf_strings_release(&c.labels);
        gf_view_close(view);
    }
    fixture_close(&f);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void is_refused(fixture *f, gf_status expected, const char *words)
{
    gf_error err = {GF_OK, ""};
    gf_buffer text = {0};
    gf_view *view = view_of(f);
    assert_status(expected, gf_view_tree(view, 9, write_node, &text, &err));
    if (!strstr(err.message, words)) fail_msg("%s", err.message);
    assert_int_equal(text.len, 0);
    gf_buffer_release(&text);
    gf_view_close(view);
}

static void damage_is_found(void **state)
{
    (void)state;
    fixture f;
    char first[512];
    gf_verified verified;
    begin(&f);
    gf_buffer bytes = get_cell(&f);
    for (size_t n = 0; n < bytes.len; n++) { /* no shorter cell is a tree */
        gf_kept_tree kept = {.ids = NULL};
        gf_error err;
        assert_status(GF_ECORRUPT, gf_tree_read(gf_slice_of(bytes.ptr, n), &kept, &err));
        assert_null(kept.ids);
    }
    gf_slice shorter = gf_slice_of(bytes.ptr, bytes.len - 1);
    set_cell(&f, &shorter);
    is_refused(&f, GF_ECORRUPT, "tree is damaged");
    assert_int_equal(fixture_verify(&f, first, &verified), 1);
    bytes.ptr[1] = 99; /* a cluster that is not */
    gf_slice other = gf_buffer_view(&bytes);
    set_cell(&f, &other);
    is_refused(&f, GF_ECORRUPT, "not its clusters");
    assert_int_equal(fixture_verify(&f, first, &verified), 1);
    set_cell(&f, NULL); /* a build of an earlier version */
    is_refused(&f, GF_ENOTFOUND, "rebuild --force");
    fixture_is_sound(&f);
    gf_buffer_release(&bytes);
    fixture_close(&f);
}

/* Changed bytes are refused or give some tree; either is for the sanitizers to see. */
static void random_bytes(void **state)
{
    (void)state;
    fixture f;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    begin(&f);
    gf_buffer bytes = get_cell(&f);
    size_t refused = 0;
    for (int i = 0; i < 3000; i++) {
        gf_error err;
        gf_kept_tree kept = {.ids = NULL};
        size_t at = (size_t)gf_random_below(&random, bytes.len);
        char before = bytes.ptr[at];
        bytes.ptr[at] = (char)gf_random_below(&random, 256);
        gf_status st = gf_tree_read(gf_buffer_view(&bytes), &kept, &err);
        assert_true(st == GF_OK || st == GF_ECORRUPT);
        refused += st != GF_OK;
        if (st == GF_OK) assert_int_equal(kept.tree.n_nodes, 2 * kept.tree.k - 1);
        gf_tree_kept_release(&kept);
        bytes.ptr[at] = before;
    }
    assert_true(refused > 100);
    gf_buffer_release(&bytes);
    fixture_close(&f);
}

static gf_status count_node(void *context, const gf_tree_node *n, gf_error *err)
{
    (void)n, (void)err;
    ++*(size_t *)context;
    return GF_OK;
}

static gf_status sweep_call(void *context, gf_error *err)
{
    fixture *f = context;
    gf_view *view;
    size_t n = 0;
    gf_status st = gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, err);
    if (st != GF_OK) return st;
    st = gf_view_tree(view, 9, count_node, &n, err);
    assert_true(st != GF_OK || n == 7);
    if (st == GF_OK) st = gf_view_levels(view, (uint32_t[]){2, 3}, 2, count_node, &n, err);
    assert_true(st != GF_OK || n == 7 + 5);
    gf_view_close(view);
    return st;
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    gf_test_sweep(sweep_call, NULL, &f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_a_tree),
                                       cmocka_unit_test(one_cluster_and_none),
                                       cmocka_unit_test(cuts_levels),
                                       cmocka_unit_test(made_labels_are_of_one_group),
                                       cmocka_unit_test(levels_nest_and_add_up),
                                       cmocka_unit_test(damage_is_found),
                                       cmocka_unit_test(random_bytes),
                                       cmocka_unit_test(survives_failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
