/* Facts that edits come to: the documents that stand for groups, and those that a person has placed. */
#include "engine/build/obey_internal.h"

#include "base/grow.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>

/* Least share of documents in a group and in a cluster, of those in either, for both to be the same. */
#define LEAST_SHARE 0.3
enum { LEAST_SAMPLE = 100 /* witnesses of a group of more than GF_EDIT_WITNESSES documents */ };

void gf_build_obeying_release(gf_build_obeying *o)
{
    gf_free(o->atoms);
    gf_free(o->places);
    gf_arena_release(&o->memory);
    *o = (gf_build_obeying){0};
}

gf_kept_edit *gf_obey_fact(const gf_build_plan *plan, size_t edit)
{
    return edit < plan->edits.n ? &plan->edits.at[edit] : &plan->edits.back[edit - plan->edits.n];
}

void gf_obey_lose(gf_build_plan *plan, size_t edit, const char *format, uint32_t id)
{
    gf_edit *e = &gf_obey_fact(plan, edit)->edit;
    char text[160];
    if (e->lost.len) return;
    int n = snprintf(text, sizeof text, format, id);
    gf_slice copy = gf_arena_copy(&plan->edits.memory, gf_slice_of(text, (size_t)n));
    e->lost = copy.ptr ? copy : GF_SLICE("memory was short");
}

size_t gf_obey_topic_of(const gf_build_plan *plan, uint32_t id)
{
    size_t at = gf_edits_topic_of(&plan->edits, id);
    return at < plan->edits.n ? at : GF_NOT_A_TOPIC;
}

bool gf_obey_is_group(bool sampled, size_t n, uint32_t both, uint32_t size)
{
    if (sampled) return n >= LEAST_SAMPLE && both >= LEAST_SHARE * (double)n;
    return both >= LEAST_SHARE * ((double)size + (double)n - both);
}

/* ---- witnesses ------------------------------------------------------------------------------- */

/* The clustered row of a document, or GF_BUILD_NONE. */
static uint32_t find_point(const gf_build_gathered *d, const gf_build_clustered *c, gf_slice id)
{
    uint32_t document = gf_build_gathered_find(d, id);
    return document == GF_BUILD_NONE ? document
                                     : gf_build_find_row(c->row_of, c->kmeans.n, document);
}

static gf_status read_points(const gf_build_plan *plan, const gf_build_gathered *d,
                             const gf_build_clustered *c, size_t edit, uint32_t side,
                             gf_build_obeying *o, gf_edit_atom *atom, gf_error *err)
{
    gf_row row = {0};
    gf_slice ids = {"", 0}, id;
    gf_status st = gf_edits_read_side(plan->store, plan->snapshot, plan->where, plan->configuration,
                                      gf_obey_fact(plan, edit)->edit.number, side, &row, err);
    if (st == GF_OK) ids = row.cells[0].value;
    if (st == GF_ENOTFOUND) st = GF_OK;
    atom->points = gf_arena_alloc(&o->memory, (GF_EDIT_WITNESSES + 1) * sizeof *atom->points);
    if (st == GF_OK && !atom->points) st = gf_fail_memory(err, "edits");
    size_t kept = 0;
    while (st == GF_OK && kept < GF_EDIT_WITNESSES && gf_slice_take_string(&ids, &id)) {
        uint32_t point = id.len ? find_point(d, c, id) : GF_BUILD_NONE; /* else it was purged */
        if (point != GF_BUILD_NONE) atom->points[atom->n++] = point;
        kept++;
    }
    atom->sampled = kept == GF_EDIT_WITNESSES;
    gf_row_release(&row);
    return st;
}

static gf_status add_atoms(gf_build_plan *plan, const gf_build_gathered *d,
                           const gf_build_clustered *c, size_t edit, gf_build_obeying *o,
                           gf_error *err)
{
    const gf_edit *e = &gf_obey_fact(plan, edit)->edit;
    /* A merge that was taken back is cut, a split is joined. */
    bool back = gf_obey_fact(plan, edit)->taken_back;
    bool merges = e->kind == (back ? GF_EDIT_SPLIT : GF_EDIT_MERGE);
    bool splits = e->kind == (back ? GF_EDIT_MERGE : GF_EDIT_SPLIT);
    gf_status st = GF_OK;
    if (e->kind == GF_EDIT_TOPIC) return GF_OK;
    for (size_t side = 0; side < gf_edit_sides(e) && st == GF_OK; side++) {
        if (!gf_grow(&o->atoms, &o->atom_capacity, o->n_atoms + 1, sizeof *o->atoms))
            return gf_fail_memory(err, "edits");
        gf_edit_atom a = {.edit = edit,
                          .id = side == 0 || merges ? e->cluster : e->others[side - 1],
                          .joins = merges,
                          .cuts = splits,
                          .topic = gf_obey_topic_of(plan, side ? e->others[side - 1] : e->cluster),
                          .within = merges ? GF_NOT_A_TOPIC : gf_obey_topic_of(plan, e->cluster)};
        st = read_points(plan, d, c, edit, (uint32_t)side, o, &a, err);
        if (st == GF_OK && a.n == 0 && (a.joins || a.cuts))
            gf_obey_lose(plan, edit, "no document of cluster %" PRIu32 " is left",
                         side ? e->others[side - 1] : e->cluster);
        if (st == GF_OK) o->atoms[o->n_atoms++] = a;
    }
    return st;
}

static gf_status add_place(gf_build_plan *plan, const gf_build_gathered *d,
                           const gf_build_clustered *c, size_t edit, gf_build_obeying *o,
                           gf_error *err)
{
    const gf_edit *e = &plan->edits.at[edit].edit;
    uint32_t point = find_point(d, c, e->document);
    size_t at = 0;
    if (point == GF_BUILD_NONE) {
        gf_obey_lose(plan, edit, "the document is gone, or has no terms any more", 0);
        return GF_OK;
    }
    while (at < o->n_places && o->places[at].point != point)
        at++;
    if (!gf_grow(&o->places, &o->place_capacity, o->n_places + 1, sizeof *o->places))
        return gf_fail_memory(err, "edits");
    o->places[at] = (gf_edit_place){edit, e->cluster, point};
    o->n_places += at == o->n_places;
    return GF_OK;
}

/* Groups and places of before change as the edit says. */
static void follow(const gf_edit *e, gf_build_obeying *o)
{
    for (size_t a = 0; a < o->n_atoms; a++) {
        gf_edit_atom *atom = &o->atoms[a];
        if (e->kind == GF_EDIT_SPLIT && atom->id == e->cluster) atom->dead = true;
        for (size_t i = 0; i < e->n_others && e->kind == GF_EDIT_MERGE; i++)
            if (atom->id == e->others[i]) atom->id = e->cluster;
    }
    for (size_t p = 0; p < o->n_places; p++)
        for (size_t i = 0; i < e->n_others && e->kind == GF_EDIT_MERGE; i++)
            if (o->places[p].id == e->others[i]) o->places[p].id = e->cluster;
}

gf_status gf_obey_read_facts(gf_build_plan *plan, const gf_build_gathered *d,
                             const gf_build_clustered *c, gf_build_obeying *o, gf_error *err)
{
    size_t back = 0;
    gf_status st = GF_OK;
    for (size_t i = 0; i <= plan->edits.n && st == GF_OK; i++) {
        gf_edit *e = i < plan->edits.n ? &plan->edits.at[i].edit : NULL;
        for (; back < plan->edits.n_back && st == GF_OK &&
               (!e || plan->edits.back[back].edit.number < e->number);
             back++)
            st = add_atoms(plan, d, c, plan->edits.n + back, o, err);
        if (!e || st != GF_OK) break;
        e->lost = GF_SLICE("");
        follow(e, o);
        st = add_atoms(plan, d, c, i, o, err);
        if (st == GF_OK && (e->kind == GF_EDIT_MOVE || e->kind == GF_EDIT_KEEP))
            st = add_place(plan, d, c, i, o, err);
    }
    return st;
}
