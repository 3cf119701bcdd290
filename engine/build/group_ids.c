#include "engine/build/group_ids.h"

#include "base/grow.h"
#include "base/memory.h"
#include "engine/build/tree.h"
#include "storage/tables.h"

#include <stdlib.h>

/* Least share of documents in both groups, of those in either, for them to be the same. */
#define LEAST_JACCARD 0.5

uint32_t gf_tree_inner(const gf_tree *t)
{
    return t->n_nodes - t->k;
}

/* ---- matching -------------------------------------------------------------------------------- */

/* A group before and one now that are alike; inner nodes are counted from 0. */
typedef struct alike {
    double jaccard;
    uint32_t before, now;
} alike;

typedef struct pairing {
    const gf_tree *before, *after;
    gf_overlap *shared; /* n, by leaf of after */
    size_t *begin;      /* after->k + 1: where a leaf's begin */
    uint64_t *size;     /* before->n_nodes */
    uint64_t *both;     /* before->n_nodes: shared with the group at hand */
    alike *pairs;       /* n_pairs */
    size_t n_pairs, capacity;
} pairing;

static int by_leaf_after(const void *a, const void *b)
{
    const gf_overlap *x = a, *y = b;
    if (x->b != y->b) return x->b < y->b ? -1 : 1;
    return x->a < y->a ? -1 : x->a > y->a;
}

static int by_falling_jaccard(const void *a, const void *b)
{
    const alike *x = a, *y = b;
    if (x->jaccard != y->jaccard) return x->jaccard > y->jaccard ? -1 : 1;
    if (x->before != y->before) return x->before < y->before ? -1 : 1;
    return x->now < y->now ? -1 : x->now > y->now;
}

static void sum_children(const gf_tree *t, uint64_t *of)
{
    for (uint32_t v = t->k; v < t->n_nodes; v++)
        of[v] = of[t->child[2 * (size_t)v]] + of[t->child[2 * (size_t)v + 1]];
}

/* Note the groups before that a group is like. */
static gf_status note_alike(pairing *p, const uint32_t *groups, uint32_t v, gf_error *err)
{
    const gf_tree *before = p->before, *after = p->after;
    uint64_t own = 0;
    memset(p->both, 0, before->n_nodes * sizeof *p->both);
    for (uint32_t i = 0; i < after->count[v]; i++) {
        uint32_t leaf = after->order[after->first[v] + i];
        for (size_t s = p->begin[leaf]; s < p->begin[leaf + 1]; s++) {
            p->both[p->shared[s].a] += p->shared[s].shared;
            own += p->shared[s].shared;
        }
    }
    sum_children(before, p->both);
    for (uint32_t u = before->k; u < before->n_nodes; u++) {
        uint64_t either = p->size[u] + own - p->both[u];
        if (!p->both[u] || !groups[u - before->k] ||
            (double)p->both[u] < LEAST_JACCARD * (double)either)
            continue;
        if (!gf_grow(&p->pairs, &p->capacity, p->n_pairs + 1, sizeof *p->pairs))
            return gf_fail_memory(err, "groups");
        p->pairs[p->n_pairs++] =
            (alike){(double)p->both[u] / (double)either, u - before->k, v - after->k};
    }
    return GF_OK;
}

gf_status gf_group_ids_match(const gf_tree *before, const uint32_t *groups, const gf_tree *after,
                             const gf_overlap *shared, size_t n, uint32_t *now, gf_error *err)
{
    pairing p = {.before = before, .after = after};
    uint32_t inner = gf_tree_inner(after);
    p.shared = gf_array(n, sizeof *p.shared);
    p.begin = gf_calloc((size_t)after->k + 1, sizeof *p.begin);
    p.size = gf_calloc((size_t)before->n_nodes + 1, sizeof *p.size);
    p.both = gf_calloc((size_t)before->n_nodes + 1, sizeof *p.both);
    bool *used = gf_calloc((size_t)gf_tree_inner(before) + 1, sizeof *used);
    bool ok = p.shared && p.begin && p.size && p.both && used;
    gf_status st = ok ? GF_OK : gf_fail_memory(err, "groups");
    if (st != GF_OK) goto done;
    if (n) memcpy(p.shared, shared, n * sizeof *shared);
    if (n) qsort(p.shared, n, sizeof *p.shared, by_leaf_after);
    for (size_t i = 0; i < n; i++) {
        p.begin[p.shared[i].b + 1]++;
        p.size[p.shared[i].a] += p.shared[i].shared;
    }
    for (uint32_t c = 0; c < after->k; c++)
        p.begin[c + 1] += p.begin[c];
    sum_children(before, p.size);
    for (uint32_t v = after->k; v < after->n_nodes && st == GF_OK; v++)
        st = note_alike(&p, groups, v, err);
    if (st != GF_OK) goto done;
    if (p.n_pairs) qsort(p.pairs, p.n_pairs, sizeof *p.pairs, by_falling_jaccard);
    for (uint32_t i = 0; i < inner; i++)
        now[i] = 0;
    for (size_t i = 0; i < p.n_pairs; i++) {
        const alike *a = &p.pairs[i];
        if (used[a->before] || now[a->now]) continue;
        used[a->before] = true;
        now[a->now] = groups[a->before];
    }
done:
    gf_free(p.shared);
    gf_free(p.begin);
    gf_free(p.size);
    gf_free(p.both);
    gf_free(p.pairs);
    gf_free(used);
    return st;
}

/* ---- a rebuild ------------------------------------------------------------------------------- */

/* The served build's tree and the ids of its groups; *there: it has both. */
static gf_status read_before(const gf_build_plan *plan, gf_row rows[2], gf_kept_tree *tree,
                             bool *there, gf_error *err)
{
    static const char *const names[] = {"tree", "groups"};
    gf_buffer key = {0};
    gf_tables_build_key(&key, plan->where.name_space, plan->where.collection, plan->configuration,
                        plan->served.build);
    gf_status st = gf_buffer_check(&key, err);
    for (size_t i = 0; i < 2 && st == GF_OK; i++)
        st = gf_table_get_cell(plan->store->tables.builds, plan->snapshot, gf_buffer_view(&key),
                               GF_BUILDS_MODEL, gf_slice_str(names[i]), 1, &rows[i], err);
    gf_buffer_release(&key);
    *there = st == GF_OK;
    if (st == GF_ENOTFOUND) return GF_OK;
    if (st == GF_OK) st = gf_tree_read(rows[0].cells[0].value, tree, err);
    return st == GF_OK ? gf_group_ids_read(rows[1].cells[0].value, tree->groups,
                                           gf_tree_inner(&tree->tree), err)
                       : st;
}

/* of: documents->n, the leaf that each was in before, or GF_UNMATCHED */
static gf_status find_leaves(const gf_build_previous *previous, const gf_kept_tree *before,
                             uint32_t n, uint32_t *of, gf_error *err)
{
    uint32_t *leaf = gf_array(previous->k, sizeof *leaf);
    if (!leaf) return gf_fail_memory(err, "groups");
    for (uint32_t p = 0; p < previous->k; p++) {
        leaf[p] = GF_UNMATCHED;
        for (uint32_t c = 0; c < before->tree.k && leaf[p] == GF_UNMATCHED; c++)
            if (before->ids[c] == previous->ids[p]) leaf[p] = c;
    }
    for (uint32_t d = 0; d < n; d++)
        of[d] = previous->cluster[d] == GF_UNMATCHED ? GF_UNMATCHED : leaf[previous->cluster[d]];
    gf_free(leaf);
    return GF_OK;
}

static gf_status hand_on(const gf_build_gathered *documents, const gf_build_previous *previous,
                         const gf_build_clustered *c, const gf_kept_tree *before,
                         const gf_tree *tree, uint32_t *groups, gf_error *err)
{
    uint32_t n = documents->n;
    gf_overlaps o = {0};
    uint32_t *then = gf_array(n, sizeof *then), *now = gf_array(n, sizeof *now);
    gf_status st = then && now ? GF_OK : gf_fail_memory(err, "groups");
    if (st == GF_OK) st = find_leaves(previous, before, n, then, err);
    for (uint32_t i = 0; i < n && st == GF_OK; i++)
        now[i] = GF_UNMATCHED;
    for (uint32_t p = 0; p < c->kmeans.n && st == GF_OK; p++)
        now[c->row_of[p]] = c->kmeans.label[p];
    if (st == GF_OK)
        st = gf_match_overlaps_count(then, now, n, before->tree.k, c->kmeans.k, &o, err);
    if (st == GF_OK)
        st = gf_group_ids_match(&before->tree, before->groups, tree, o.at, o.n, groups, err);
    gf_match_overlaps_release(&o);
    gf_free(then);
    gf_free(now);
    return st;
}

gf_status gf_build_match_groups(const gf_build_plan *plan, const gf_build_gathered *documents,
                                const gf_build_previous *previous,
                                const gf_build_clustered *clustered, const gf_tree *tree,
                                gf_build_matched *out, gf_error *err)
{
    uint32_t inner = gf_tree_inner(tree);
    uint64_t next = plan->next_group;
    gf_row rows[2] = {{.cells = NULL}, {.cells = NULL}};
    gf_kept_tree before = {0};
    bool there = false;
    gf_status st = GF_OK;
    out->next_group = next;
    if (inner == 0) return GF_OK;
    out->groups = gf_calloc(inner, sizeof *out->groups);
    if (!out->groups) return gf_fail_memory(err, "groups");
    if (plan->served.build && previous->k) st = read_before(plan, rows, &before, &there, err);
    if (st == GF_OK && there && before.tree.k)
        st = hand_on(documents, previous, clustered, &before, tree, out->groups, err);
    for (uint32_t i = inner; i-- > 0 && st == GF_OK;) { /* the root is the first */
        if (out->groups[i]) continue;
        if (next > UINT32_MAX)
            st = gf_fail(err, GF_ELIMIT, "this configuration has used up its group ids");
        out->groups[i] = (uint32_t)next++;
    }
    out->next_group = next;
    gf_tree_kept_release(&before);
    gf_row_release(&rows[0]);
    gf_row_release(&rows[1]);
    return st;
}

/* ---- as bytes -------------------------------------------------------------------------------- */

void gf_group_ids_write(const uint32_t *groups, uint32_t n, gf_buffer *out)
{
    gf_buffer_varint(out, n);
    for (uint32_t i = 0; i < n; i++)
        gf_buffer_varint(out, groups[i]);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

gf_status gf_group_ids_read(gf_slice bytes, uint32_t *groups, uint32_t n, gf_error *err)
{
    uint32_t count;
    bool good = gf_slice_take_varint32(&bytes, &count) && count == n;
    for (uint32_t i = 0; i < n && good; i++)
        good = gf_slice_take_varint32(&bytes, &groups[i]);
    good = good && bytes.len == 0;
    uint32_t *sorted = gf_array(n, sizeof *sorted);
    if (!sorted) return gf_fail_memory(err, "groups");
    if (good && n) {
        memcpy(sorted, groups, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, by_number);
        for (uint32_t i = 1; i < n && good; i++)
            good = sorted[i] == 0 || sorted[i] != sorted[i - 1];
    }
    gf_free(sorted);
    return good ? GF_OK : gf_fail(err, GF_ECORRUPT, "the ids of a build's groups are damaged");
}
