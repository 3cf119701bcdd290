/* Ids: clusters that edits name keep theirs. */
#include "engine/build/obey_internal.h"

#include "base/memory.h"

#include <inttypes.h>
#include <string.h>

static bool is_named(const gf_build_obeying *o, uint32_t id)
{
    for (size_t a = 0; a < o->n_atoms; a++)
        if (!o->atoms[a].dead && o->atoms[a].id == id) return true;
    return false;
}

/* The witnesses of all that is said of one cluster: each once. */
typedef struct naming {
    uint32_t *votes; /* k zeros */
    uint32_t *sizes; /* k */
    size_t *seen;    /* n points: 1 + the place of the atom that it was last counted for */
} naming;

/* The cluster that the group of that id is, by the witnesses of this atom and of later ones. */
static uint32_t find_named(const gf_build_clustered *c, const gf_build_obeying *o, size_t atom,
                           naming *n)
{
    uint32_t best = GF_NO_CLUSTER, id = o->atoms[atom].id;
    size_t points = 0;
    bool sampled = false;
    for (size_t a = atom; a < o->n_atoms; a++) {
        const gf_edit_atom *of = &o->atoms[a];
        if (of->dead || of->id != id) continue;
        sampled = sampled || of->sampled;
        for (size_t i = 0; i < of->n; i++) {
            uint32_t p = of->points[i];
            if (n->seen[p] == atom + 1) continue;
            n->seen[p] = atom + 1;
            n->votes[c->kmeans.label[p]]++;
            points++;
        }
    }
    for (uint32_t l = 0; l < c->kmeans.k; l++)
        if (n->votes[l] && gf_obey_maker_of(c, l) == GF_NOT_A_TOPIC &&
            (best == GF_NO_CLUSTER || n->votes[l] > n->votes[best]))
            best = l;
    if (best != GF_NO_CLUSTER && !gf_obey_is_group(sampled, points, n->votes[best], n->sizes[best]))
        best = GF_NO_CLUSTER;
    memset(n->votes, 0, c->kmeans.k * sizeof *n->votes);
    return best;
}

/*
 * Clusters that come back, as a merge was taken back, have the ids of before: matching gives that of the merged
 * cluster to the largest. One that has such an id takes the other's.
 */
static void name_again(const gf_build_plan *plan, const gf_build_clustered *c,
                       const gf_build_obeying *o, gf_build_matched *m, naming *n)
{
    for (size_t a = 0; a < o->n_atoms; a++) {
        const gf_edit_atom *atom = &o->atoms[a];
        if (atom->edit < plan->edits.n || !atom->cuts || atom->dead) continue;
        if (gf_obey_topic_of(plan, atom->id) != GF_NOT_A_TOPIC) continue; /* it has its id */
        uint32_t l = find_named(c, o, a, n), had = gf_obey_cluster_of(m, c->kmeans.k, atom->id);
        if (l == GF_NO_CLUSTER) continue;
        if (had != GF_NO_CLUSTER) m->ids[had] = m->ids[l];
        m->ids[l] = atom->id;
    }
}

/* Say of an edit of a cluster that is gone that it is not kept; a lock makes its cluster anew. */
static void lose_named(gf_build_plan *plan, const gf_build_obeying *o, const gf_edit_atom *atom)
{
    const gf_edit *e = &gf_obey_fact(plan, atom->edit)->edit;
    bool any = false;
    if (e->kind == GF_EDIT_LOCK && !e->off) return;
    for (size_t a = 0; a < o->n_atoms && !any; a++)
        any = o->atoms[a].id == atom->id && o->atoms[a].n > 0;
    gf_obey_lose(plan, atom->edit,
                 any ? "cluster %" PRIu32 " is gone: its documents are in others"
                     : "no document of cluster %" PRIu32 " is left",
                 atom->id);
}

/* A topic whose cluster went into a part of it, as a split was obeyed, has none any more. */
static void lose_emptied_topics(gf_build_plan *plan, const gf_build_clustered *c)
{
    for (size_t i = 0; i < plan->edits.n; i++) {
        bool has = !gf_edits_topic_holds(&plan->edits, i) || plan->edits.at[i].edit.lost.len;
        for (uint32_t l = 0; l < c->kmeans.k && !has; l++)
            has = gf_build_clustered_is_topic(c, l) && c->topic[l] == i;
        if (!has) gf_obey_lose(plan, i, "all its documents are in a part that was split off it", 0);
    }
}

gf_status gf_build_obey_ids(gf_build_plan *plan, const gf_build_clustered *c,
                            const gf_build_obeying *o, gf_build_matched *m, gf_error *err)
{
    uint32_t k = c->kmeans.k;
    for (uint32_t l = 0; l < k; l++)
        if (gf_build_clustered_is_topic(c, l)) plan->edits.at[c->topic[l]].edit.cluster = m->ids[l];
    lose_emptied_topics(plan, c);
    if (o->n_atoms == 0) return GF_OK;
    naming n = {.votes = gf_calloc((size_t)k + 1, sizeof *n.votes),
                .sizes = gf_calloc((size_t)k + 1, sizeof *n.sizes),
                .seen = gf_calloc((size_t)c->kmeans.n + 1, sizeof *n.seen)};
    gf_status st = n.votes && n.sizes && n.seen ? GF_OK : gf_fail_memory(err, "edits");
    for (uint32_t p = 0; st == GF_OK && p < c->kmeans.n; p++)
        n.sizes[c->kmeans.label[p]]++;
    if (st == GF_OK && c->continued) name_again(plan, c, o, m, &n);
    for (size_t a = 0; a < o->n_atoms && st == GF_OK; a++) {
        const gf_edit_atom *atom = &o->atoms[a];
        if (atom->dead || gf_obey_cluster_of(m, k, atom->id) != GF_NO_CLUSTER) continue;
        if (gf_obey_topic_of(plan, atom->id) != GF_NOT_A_TOPIC)
            continue; /* an id that waits for it */
        uint32_t l = find_named(c, o, a, &n);
        /* A label that was pinned before there were edits is of its cluster without a fact. */
        if (l != GF_NO_CLUSTER && !is_named(o, m->ids[l]) &&
            !gf_pins_kept_label(&plan->pins, m->ids[l]))
            m->ids[l] = atom->id;
    }
    for (size_t a = 0; a < o->n_atoms && st == GF_OK; a++)
        if (gf_obey_cluster_of(m, k, o->atoms[a].id) == GF_NO_CLUSTER)
            lose_named(plan, o, &o->atoms[a]);
    gf_free(n.votes);
    gf_free(n.sizes);
    gf_free(n.seen);
    return st;
}
