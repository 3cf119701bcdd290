/*
 * Edits made; taken back in undo.c.
 *
 * All that an edit changes goes in one synced write while the collection is held: the pins by which it shows,
 * the fact with its witnesses, and, where it changes groups, the cells of the served build with what they
 * were before.
 */
#include "engine/edit/edit.h"

#include "engine/edit/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/options.h"
#include "base/utf8.h"
#include "engine/config/settings.h"
#include "engine/rows/scan.h"
#include "engine/store/builds.h"
#include "engine/store/hold.h"
#include "engine/store/lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_LABEL = GF_EDIT_MOST_LABEL,
    MOST_TEXT = GF_EDIT_MOST_TEXT,
    MOST_PARTS = 100,
    MOST_OTHERS = 1000
};

/* ---- the beginning and the end --------------------------------------------------------------- */

gf_status gf_edit_begin(gf_editing *e, gf_error *err)
{
    gf_settings_map map = {0};
    gf_tables_collection_key(&e->key, e->where.name_space, e->where.collection);
    gf_status st = gf_buffer_check(&e->key, err);
    if (st == GF_OK) st = gf_batch_create(e->store->db, &e->batch, err);
    if (st == GF_OK) st = gf_collection_row_read(e->store, NULL, e->where, &e->row, err);
    if (st == GF_OK)
        st = gf_configuration_load(e->store, NULL, e->where, &e->row, e->configuration, &map, err);
    if (st == GF_OK) st = gf_pins_read(e->row.pins, e->configuration, &e->pins, err);
    if (st == GF_OK) st = gf_edits_read(e->store, NULL, e->where, e->configuration, &e->edits, err);
    if (st == GF_OK) e->pins.edited = gf_edits_last_number(&e->edits, e->pins.edited);
    gf_settings_map_release(&map);
    return st;
}

gf_status gf_edit_open_view(gf_editing *e, gf_error *err)
{
    gf_status st = gf_view_open(e->store, e->where, e->configuration, 0, &e->view, err);
    return st == GF_OK ? gf_view_load_clusters(e->view, err) : st;
}

void gf_edit_release(gf_editing *e)
{
    gf_view_close(e->view);
    gf_batch_free(e->batch);
    gf_collection_row_release(&e->row);
    gf_pins_release(&e->pins);
    gf_edits_release(&e->edits);
    gf_buffer_release(&e->key);
    gf_arena_release(&e->memory);
}

gf_status gf_edit_put_pins(gf_editing *e, gf_error *err)
{
    gf_buffer column = {0};
    gf_status st = gf_pins_write(e->row.pins, e->configuration, &e->pins, &column, err);
    if (st == GF_OK)
        gf_batch_put(e->batch, e->store->tables.collections, gf_buffer_view(&e->key),
                     GF_COLLECTIONS_MAIN, GF_SLICE("pins"), gf_buffer_view(&column), 0);
    gf_buffer_release(&column);
    return st;
}

/* ---- witnesses ------------------------------------------------------------------------------- */

/* Ids of members, spread evenly over their ranking. */
static void write_witnesses(const gf_group_member *members, size_t n, gf_buffer *out)
{
    size_t most = n < GF_EDIT_WITNESSES ? n : GF_EDIT_WITNESSES;
    for (size_t i = 0; i < most; i++)
        gf_buffer_string(out, members[i * n / most].id);
}

static gf_status put_side(gf_editing *e, const gf_edit *edit, uint32_t side, gf_buffer *bytes,
                          gf_error *err)
{
    gf_status st = gf_buffer_check(bytes, err);
    if (st == GF_OK)
        st = gf_edits_put_side(e->store, e->where, e->configuration, edit->number, side,
                               gf_buffer_view(bytes), e->batch, err);
    gf_buffer_release(bytes);
    return st;
}

/* Documents of a candidate, likewise. */
static gf_status list_new_members(gf_editing *e, uint32_t cluster, gf_group_member **members,
                                  size_t *n, gf_error *err)
{
    const gf_new_candidate *c = gf_view_find_new(e->view, cluster);
    size_t most = c ? c->n : 0;
    gf_group_member *list = gf_arena_alloc(&e->memory, (most + 1) * sizeof *list);
    if (!list) return gf_fail_memory(err, "members");
    for (size_t i = 0; i < most; i++) {
        list[i] =
            (gf_group_member){gf_arena_copy(&e->memory, c->documents[i].id), c->documents[i].score};
        if (!list[i].id.ptr) return gf_fail_memory(err, "members");
    }
    *members = list;
    *n = most;
    return GF_OK;
}

/* Members of a cluster of the served build, best first, without those that were deleted. */
static gf_status list_members(gf_editing *e, uint32_t cluster, gf_group_member **members, size_t *n,
                              gf_error *err)
{
    gf_view *v = e->view;
    const gf_listed_cluster *c = gf_view_find_cluster(v, cluster);
    gf_buffer key = {0};
    gf_scan *scan = NULL;
    gf_row row = {0};
    bool more = true;
    if (!c) return list_new_members(e, cluster, members, n, err);
    if (c->size > v->info.documents)
        return gf_fail(err, GF_ECORRUPT,
                       "table clusters: cluster %" PRIu32 " has more documents than its build",
                       cluster);
    size_t most = c->size + 1, at = 0;
    gf_group_member *list = gf_arena_alloc(&e->memory, most * sizeof *list);
    gf_tables_cluster_key(&key, gf_buffer_view(&v->key), c->own_label);
    gf_status st = list ? gf_buffer_check(&key, err) : gf_fail_memory(err, "members");
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = v->snapshot, .family = GF_CLUSTERS_RANKED,
                                        .prefix = gf_buffer_view(&key), .keys_only = true);
    if (st == GF_OK) st = gf_scan_open(v->store->tables.clusters, &o, &scan, err);
    while (st == GF_OK && at < most && (st = gf_scan_step(scan, &row, &more, err)) == GF_OK &&
           more) {
        gf_slice id;
        float score;
        if (!gf_tables_rank_read(row.cells[0].qualifier, &score, &id))
            st = gf_fail(err, GF_ECORRUPT, "table clusters: a rank is damaged");
        if (st != GF_OK || gf_deleted_set_has(v->deleted, id)) continue;
        list[at] = (gf_group_member){gf_arena_copy(&e->memory, id), score};
        if (!list[at++].id.ptr) st = gf_fail_memory(err, "members");
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    gf_buffer_release(&key);
    *members = list;
    *n = at;
    return st;
}

static gf_status put_cluster_witnesses(gf_editing *e, const gf_edit *edit, uint32_t cluster,
                                       uint32_t side, gf_error *err)
{
    gf_group_member *members = NULL;
    size_t n = 0;
    gf_buffer bytes = {0};
    gf_status st = list_members(e, cluster, &members, &n, err);
    if (st != GF_OK) return st;
    write_witnesses(members, n, &bytes);
    return put_side(e, edit, side, &bytes, err);
}

/* The centre of a cluster that is locked: its terms by name, so that it outlives the vocabulary. */
static gf_status put_centre(gf_editing *e, const gf_edit *edit, gf_error *err)
{
    gf_view *v = e->view;
    uint32_t *term = NULL, n = 0;
    float *value = NULL;
    gf_buffer bytes = {0};
    gf_status st = gf_view_load_model(v, err);
    if (st == GF_OK) st = gf_view_read_centre(v, edit->cluster, &term, &value, &n, err);
    for (uint32_t i = 0; st == GF_OK && i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        gf_buffer_string(&bytes, gf_vocabulary_term(&v->model.vocabulary, term[i]));
        gf_buffer_u32be(&bytes, bits);
    }
    gf_free(term);
    gf_free(value);
    if (st == GF_OK) return put_side(e, edit, GF_EDIT_CENTRE, &bytes, err);
    gf_buffer_release(&bytes);
    return st;
}

/* ---- what an edit is of ---------------------------------------------------------------------- */

/* A candidate can be named, hidden and noted of; the next rebuild makes it a cluster that can be changed. */
static gf_status find_cluster(const gf_editing *e, uint32_t cluster, const gf_edit *edit,
                              gf_error *err)
{
    if (gf_view_find_cluster(e->view, cluster)) return GF_OK;
    gf_status st = gf_view_load_new(e->view, err);
    bool is_new = st == GF_OK && gf_view_find_new(e->view, cluster);
    if (st != GF_OK) return st;
    if (is_new &&
        (edit->kind == GF_EDIT_LABEL || edit->kind == GF_EDIT_HIDE || edit->kind == GF_EDIT_STATE))
        return GF_OK;
    if (is_new)
        return gf_fail(err, GF_ECONFLICT,
                       "cluster %" PRIu32
                       " is of documents that came since the build: it can be renamed, hidden and "
                       "noted of; rebuild first for anything else",
                       cluster);
    return gf_fail(err, GF_ENOTFOUND, "there is no cluster %" PRIu32, cluster);
}

static gf_status refuse_locked(const gf_editing *e, uint32_t cluster, const char *what,
                               gf_error *err)
{
    if (e->again || !gf_pins_lock(&e->pins, cluster)) return GF_OK;
    return gf_fail(err, GF_EINVAL, "cluster %" PRIu32 " is locked: unlock it to %s it", cluster,
                   what);
}

gf_status gf_edit_check_text(gf_slice text, const char *what, size_t most, gf_error *err)
{
    if (text.len > most) return gf_fail(err, GF_EINVAL, "a %s has at most %zu bytes", what, most);
    if (gf_utf8_valid_length(text) != text.len)
        return gf_fail(err, GF_EINVAL, "the %s is not valid UTF-8", what);
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20)
            return gf_fail(err, GF_EINVAL, "a %s has no control characters", what);
    return GF_OK;
}

gf_status gf_edit_check_label(gf_slice label, gf_error *err)
{
    static const char *const reserved[] = {"without terms", "no topic", "in no cluster"};
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (gf_utf8_same_letters(label, gf_slice_str(reserved[i])))
            return gf_fail(err, GF_EINVAL, "\"%s\" is what documents in no cluster are called",
                           reserved[i]);
    return GF_OK;
}

static gf_status check_request(const gf_edit_request *r, gf_error *err)
{
    gf_status st = gf_options_check(r->version, GF_EDIT_REQUEST_VERSION, "gf_edit_request", err);
    if (st == GF_OK && (unsigned)r->kind >= GF_EDIT_TOPIC)
        st = gf_fail(err, GF_EINVAL, "there is no edit of kind %u", (unsigned)r->kind);
    if (st == GF_OK && r->n_others && r->kind != GF_EDIT_MERGE)
        st = gf_fail(err, GF_EINVAL, "a %s is of one cluster: only a merge names others",
                     gf_edit_kind_name(r->kind));
    if (st == GF_OK) st = gf_edit_check_text(r->by, "name", MOST_LABEL, err);
    if (st == GF_OK) st = gf_edit_check_text(r->reason, "reason", MOST_TEXT, err);
    if (st == GF_OK && r->kind == GF_EDIT_LABEL) {
        st = gf_edit_check_text(r->text, "label", MOST_LABEL, err);
        if (st == GF_OK) st = gf_edit_check_label(r->text, err);
        if (st == GF_OK && r->off == (r->text.len > 0))
            st = gf_fail(err, GF_EINVAL, "a label is either given or taken back");
    }
    return st;
}

/* ---- labels, flags, states ------------------------------------------------------------------- */

/* The edit that gave a cluster its label; 0: it was pinned without one. */
static uint64_t labelled_by(const gf_editing *e, uint32_t cluster)
{
    for (size_t i = e->edits.n; i-- > 0;) {
        const gf_edit *x = &e->edits.at[i].edit;
        if (x->kind == GF_EDIT_LABEL && x->cluster == cluster && !x->off) return x->number;
    }
    return 0;
}

gf_status gf_edit_check_pinned(const gf_editing *e, gf_slice name, uint32_t own, gf_status taken,
                               gf_error *err)
{
    for (size_t i = 0; i < e->pins.n_labels; i++) {
        const gf_pinned_label *p = &e->pins.labels[i];
        if (p->overruled || p->cluster == own || !gf_utf8_same_letters(p->label, name)) continue;
        if (e->view && gf_view_find_cluster(e->view, p->cluster))
            return gf_fail(err, taken, "cluster %" PRIu32 " is called \"%.*s\": rename it first",
                           p->cluster, GF_SLICE_ARG(p->label));
        uint64_t number = labelled_by(e, p->cluster);
        if (number)
            return gf_fail(err, taken,
                           "cluster %" PRIu32
                           ", which may come back, was called \"%.*s\": undo %" PRIu64 " first",
                           p->cluster, GF_SLICE_ARG(p->label), number);
    }
    return GF_OK;
}

/* No sibling may have the label, in whatever case. */
static gf_status check_siblings(const gf_editing *e, uint32_t cluster, gf_slice label,
                                gf_status taken, gf_error *err)
{
    const gf_view *v = e->view;
    for (size_t i = 0; v && i < v->n_clusters; i++)
        if (v->clusters[i].id != cluster && gf_utf8_same_letters(v->clusters[i].label, label))
            return gf_fail(err, taken, "cluster %" PRIu32 " is called \"%.*s\" already",
                           v->clusters[i].id, GF_SLICE_ARG(v->clusters[i].label));
    const gf_new_candidate *new = v ? gf_view_find_new_label(v, label) : NULL;
    if (new &&new->id != cluster)
        return gf_fail(err, taken, "cluster %" PRIu32 " is called \"%.*s\" already", new->id,
                       GF_SLICE_ARG(new->label));
    return GF_OK;
}

/* A topic has its name even before a rebuild has made its cluster. */
static gf_status check_topics(const gf_editing *e, uint32_t cluster, gf_slice label,
                              gf_status taken, gf_error *err)
{
    size_t topic = gf_edits_find_topic(&e->edits, label);
    if (topic == e->edits.n || e->edits.at[topic].edit.cluster == cluster) return GF_OK;
    return gf_fail(err, taken, "the topic \"%.*s\" is called so",
                   GF_SLICE_ARG(e->edits.at[topic].edit.text));
}

/* What the build calls a cluster; it may be a label that was pinned when the build was made. */
static gf_slice own_label(const gf_editing *e, uint32_t cluster)
{
    const gf_listed_cluster *c = e->view ? gf_view_find_cluster(e->view, cluster) : NULL;
    return c ? c->own_label : GF_SLICE("");
}

/* Pin a label; an empty one is taken back, so that the cluster has its own again. */
gf_status gf_edit_pin_label(gf_editing *e, uint32_t cluster, gf_slice label, gf_status taken,
                            gf_error *err)
{
    gf_slice shown = label.len ? label : own_label(e, cluster);
    gf_status st = shown.len ? check_siblings(e, cluster, shown, taken, err) : GF_OK;
    /* A cluster's own label may be that of a topic that was deleted and added again: it goes with the rebuild. */
    if (st == GF_OK && label.len) st = check_topics(e, cluster, label, taken, err);
    return st == GF_OK ? gf_pins_set_label(&e->pins, cluster, label, err) : st;
}

gf_status gf_edit_is_of_build(const gf_editing *e, uint32_t cluster, gf_slice label, bool *is,
                              gf_error *err)
{
    gf_lease_owner owner = {false, ""};
    *is = label.len && gf_slice_equal(own_label(e, cluster), label);
    if (*is || !label.len) return GF_OK;
    gf_status st = gf_edit_find_rebuild(e, &owner, err);
    if (st == GF_OK) *is = owner.living;
    return st;
}

static gf_status set_label(gf_editing *e, gf_kept_edit *kept, gf_error *err)
{
    const gf_edit *edit = &kept->edit;
    const gf_slice *pinned = gf_pins_kept_label(&e->pins, edit->cluster);
    if (edit->off && !pinned)
        return gf_fail(err, GF_ENOTFOUND, "the label of cluster %" PRIu32 " is not pinned",
                       edit->cluster);
    kept->was.label = pinned ? *pinned : GF_SLICE("");
    bool is_of_build = false;
    gf_status st = gf_edit_pin_label(e, edit->cluster, edit->text, GF_EEXISTS, err);
    if (st == GF_OK && edit->off)
        st = gf_edit_is_of_build(e, edit->cluster, kept->was.label, &is_of_build, err);
    if (st == GF_OK && is_of_build) e->pins.owed = e->pins.edited;
    return st;
}

static gf_status set_flag(gf_editing *e, gf_kept_edit *kept, gf_error *err)
{
    const gf_edit *edit = &kept->edit;
    bool hides = edit->kind == GF_EDIT_HIDE, on = !edit->off;
    kept->was.flag =
        hides ? gf_pins_hide(&e->pins, edit->cluster) : gf_pins_lock(&e->pins, edit->cluster);
    if (kept->was.flag == on)
        return gf_fail(err, GF_EINVAL, "cluster %" PRIu32 " is %s", edit->cluster,
                       hides ? (on ? "hidden already" : "not hidden")
                             : (on ? "locked already" : "not locked"));
    return hides ? gf_pins_set_hidden(&e->pins, edit->cluster, on, err)
                 : gf_pins_set_locked(&e->pins, edit->cluster, on, err);
}

const gf_cluster_state gf_edit_no_state = {{"", 0}, {"", 0}, {"", 0}, {"", 0}};

gf_slice *gf_edit_part_of_state(gf_cluster_state *s, size_t part)
{
    gf_slice *const parts[GF_EDIT_PARTS_OF_STATE] = {&s->status, &s->owner, &s->link, &s->note};
    return parts[part];
}

/* GF_EDIT_PARTS_OF_STATE: there is no such part. */
static size_t find_part(gf_slice name)
{
    static const char *const names[GF_EDIT_PARTS_OF_STATE] = {"status", "owner", "link", "note"};
    size_t part = 0;
    while (part < GF_EDIT_PARTS_OF_STATE && !gf_slice_equal(name, gf_slice_str(names[part])))
        part++;
    return part;
}

static gf_status set_state(gf_editing *e, const gf_edit_request *r, gf_kept_edit *kept,
                           gf_error *err)
{
    const gf_cluster_state *now = gf_pins_state(&e->pins, r->cluster);
    kept->was.state = now ? *now : gf_edit_no_state;
    kept->edit.state = kept->was.state;
    for (size_t i = 0; i < r->n_set; i++) {
        size_t part = find_part(r->set[i].name);
        if (part == GF_EDIT_PARTS_OF_STATE)
            return gf_fail(err, GF_EINVAL, "a cluster has no \"%.*s\": status, owner, link or note",
                           GF_SLICE_ARG(r->set[i].name));
        gf_status st =
            gf_edit_check_text(r->set[i].value, "status, owner, link or note", MOST_TEXT, err);
        if (st != GF_OK) return st;
        *gf_edit_part_of_state(&kept->edit.state, part) = r->set[i].value;
    }
    if (r->n_set == 0)
        return gf_fail(err, GF_EINVAL, "nothing is set: give a status, an owner, a link or a note");
    return gf_pins_set_state(&e->pins, r->cluster, &kept->edit.state, err);
}

/* ---- groups ---------------------------------------------------------------------------------- */

typedef struct newest_build {
    uint64_t next_id;
    gf_buffer *key;
} newest_build;

/* All builds of the configuration are asked: one that was served again may know of fewer ids. */
static gf_status raise_next_id(void *context, const gf_row *row, gf_error *err)
{
    newest_build *n = context;
    uint64_t next;
    if (!gf_rows_cell_number(gf_row_find(row, GF_BUILDS_MAIN, "next_id"), &next))
        return gf_fail(err, GF_ECORRUPT, "table builds: a row is damaged");
    if (next > n->next_id) n->next_id = next;
    gf_buffer_reset(n->key);
    gf_buffer_slice(n->key, row->key);
    return gf_buffer_check(n->key, err);
}

gf_status gf_edit_next_id(gf_editing *e, uint64_t *next_id, gf_buffer *newest, gf_error *err)
{
    gf_buffer key = {0};
    newest_build n = {.next_id = 1, .key = newest};
    gf_tables_configuration_key(&key, e->where.name_space, e->where.collection, e->configuration);
    gf_status st = gf_buffer_check(&key, err);
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_BUILDS_MAIN, .prefix = gf_buffer_view(&key));
    if (st == GF_OK) st = gf_scan_each(e->store->tables.builds, &o, raise_next_id, &n, err);
    gf_buffer_release(&key);
    *next_id = n.next_id;
    return st;
}

/* Put what a regrouping made, and keep what was before. */
static gf_status put_regrouped(gf_editing *e, const gf_edit *edit, const gf_regrouped *g,
                               gf_error *err)
{
    gf_buffer bytes = {0};
    gf_status st = gf_groups_put(e->view, g->ids, g->n_ids, &g->after, g->next_id, e->batch, err);
    if (st != GF_OK) return st;
    gf_groups_write(&g->before, &bytes);
    st = gf_buffer_check(&bytes, err);
    if (st == GF_OK)
        st = gf_edits_put_before(e->store, e->where, e->configuration, edit->number,
                                 gf_buffer_view(&bytes), e->batch, err);
    gf_buffer_release(&bytes);
    return st;
}

/* Witnesses of a group, none of whose documents was deleted. */
static gf_status write_living(gf_editing *e, const gf_group *g, gf_buffer *out, gf_error *err)
{
    size_t n = 0;
    gf_group_member *living = gf_arena_alloc(&e->memory, (g->n + 1) * sizeof *living);
    if (!living) return gf_fail_memory(err, "members");
    for (size_t i = 0; i < g->n; i++)
        if (!gf_deleted_set_has(e->view->deleted, g->members[i].id)) living[n++] = g->members[i];
    write_witnesses(living, n, out);
    return GF_OK;
}

static gf_status put_group_witnesses(gf_editing *e, const gf_edit *edit, const gf_grouping *groups,
                                     gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t side = 0; side < gf_edit_sides(edit) && st == GF_OK; side++) {
        uint32_t id = side ? edit->others[side - 1] : edit->cluster;
        gf_buffer bytes = {0};
        for (size_t i = 0; i < groups->n && st == GF_OK; i++)
            if (groups->at[i].id == id) st = write_living(e, &groups->at[i], &bytes, err);
        if (st == GF_OK) st = put_side(e, edit, (uint32_t)side, &bytes, err);
    }
    return st;
}

/* A topic ends when it is deleted, and not by a merge: the next rebuild would grow it again. */
static gf_status refuse_topic(const gf_editing *e, uint32_t cluster, gf_error *err)
{
    size_t topic = gf_edits_topic_of(&e->edits, cluster);
    if (e->again || topic == e->edits.n) return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "cluster %" PRIu32
                   " is the topic \"%.*s\": merge others into it, or delete the topic",
                   cluster, GF_SLICE_ARG(e->edits.at[topic].edit.text));
}

static gf_status check_merge(const gf_editing *e, const gf_edit *edit, gf_error *err)
{
    gf_status st = refuse_locked(e, edit->cluster, "merge", err);
    if (st == GF_OK && edit->n_others == 0)
        st = gf_fail(err, GF_EINVAL, "a merge is of two clusters or more");
    if (st == GF_OK && edit->n_others > MOST_OTHERS)
        st = gf_fail(err, GF_EINVAL, "a merge is of at most %d clusters", MOST_OTHERS + 1);
    for (size_t i = 0; i < edit->n_others && st == GF_OK; i++) {
        st = find_cluster(e, edit->others[i], edit, err);
        if (st == GF_OK) st = refuse_locked(e, edit->others[i], "merge", err);
        if (st == GF_OK) st = refuse_topic(e, edit->others[i], err);
        for (size_t j = 0; j <= i && st == GF_OK; j++)
            if (edit->others[i] == (j ? edit->others[j - 1] : edit->cluster))
                st = gf_fail(err, GF_EINVAL, "cluster %" PRIu32 " is named twice", edit->others[i]);
    }
    return st;
}

static gf_status merge(gf_editing *e, gf_edit *edit, gf_error *err)
{
    gf_regrouped g = {.next_id = 0};
    gf_status st = check_merge(e, edit, err);
    if (st == GF_OK) st = gf_regroup_merge(e, edit, &g, err);
    if (st == GF_OK) st = put_regrouped(e, edit, &g, err);
    return st == GF_OK ? put_group_witnesses(e, edit, &g.before, err) : st;
}

/* Whether a rebuild is under way: it obeys edits as they were when it began. */
gf_status gf_edit_find_rebuild(const gf_editing *e, gf_lease_owner *owner, gf_error *err)
{
    gf_buffer key = {0};
    *owner = (gf_lease_owner){false, ""};
    gf_tables_configuration_key(&key, e->where.name_space, e->where.collection, e->configuration);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_lease_find(e->store, gf_buffer_view(&key), owner, err);
    gf_buffer_release(&key);
    return st;
}

static gf_status check_split(const gf_editing *e, const gf_edit *edit, uint32_t parts,
                             gf_error *err)
{
    gf_lease_owner owner = {false, ""};
    gf_status st = refuse_locked(e, edit->cluster, "split", err);
    if (st == GF_OK && (parts < 2 || parts > MOST_PARTS))
        st = gf_fail(err, GF_EINVAL, "a cluster is split into 2 to %d parts", MOST_PARTS);
    /* The rebuild gives ids as well, and those of the split would not be known to it. */
    if (st == GF_OK && !e->again) st = gf_edit_find_rebuild(e, &owner, err);
    if (st == GF_OK && owner.living)
        st = gf_fail(
            err, GF_EBUSY,
            "configuration \"%.*s\" of \"%.*s\" is being rebuilt%s: split when that is done",
            GF_SLICE_ARG(e->configuration), GF_SLICE_ARG(e->where.collection), owner.by);
    return st;
}

static gf_status split(gf_editing *e, gf_edit *edit, uint32_t parts, gf_error *err)
{
    gf_regrouped g = {.next_id = 0};
    gf_buffer newest = {0};
    gf_number_digits digits;
    gf_status st = check_split(e, edit, parts, err);
    if (st == GF_OK) st = gf_edit_next_id(e, &g.next_id, &newest, err);
    if (st == GF_OK) st = gf_regroup_split(e, edit, parts, &g, err);
    if (st == GF_OK) st = put_regrouped(e, edit, &g, err);
    if (st == GF_OK)
        gf_batch_put(e->batch, e->store->tables.builds, gf_buffer_view(&newest), GF_BUILDS_MAIN,
                     GF_SLICE("next_id"), gf_number_write(&digits, g.next_id), 0);
    gf_buffer_release(&newest);
    return st == GF_OK ? put_group_witnesses(e, edit, &g.after, err) : st;
}

/* The cluster that a document is in; it must be in one. */
static gf_status find_document(gf_editing *e, gf_slice id, uint32_t *cluster, gf_error *err)
{
    gf_membership m;
    gf_status st = gf_view_membership(e->view, id, &m, err);
    if (st == GF_OK && !m.cluster)
        st = gf_fail(err, GF_EINVAL, "document \"%.*s\" is in no cluster: it is %.*s",
                     GF_SLICE_ARG(id), GF_SLICE_ARG(m.label));
    if (st == GF_OK) *cluster = m.cluster;
    return st;
}

/* The build's place of a document that was put anew is not the one that it is seen in. */
static gf_status keep(gf_editing *e, gf_edit *edit, gf_error *err)
{
    gf_membership m;
    gf_status st = gf_view_membership(e->view, edit->document, &m, err);
    if (st == GF_OK && m.replaced)
        return gf_fail(err, GF_ECONFLICT,
                       "document \"%.*s\" was put anew since the build: rebuild first, or move it",
                       GF_SLICE_ARG(edit->document));
    return st == GF_OK ? find_document(e, edit->document, &edit->cluster, err) : st;
}

/* Whether a document is in no cluster since no topic took it, and the cluster that it is to go to is a topic. */
static gf_status goes_to_topic(gf_editing *e, const gf_edit *edit, bool *goes, gf_error *err)
{
    gf_membership m;
    gf_status st = gf_view_membership(e->view, edit->document, &m, err);
    *goes = st == GF_OK && !m.cluster && m.runner_up &&
            gf_edits_topic_of(&e->edits, edit->cluster) < e->edits.n;
    return st;
}

/*
 * What no topic took has no place that could be changed: it becomes an example of the topic at once, and the next
 * rebuild, which is owed, puts it there.
 */
static gf_status move(gf_editing *e, gf_edit *edit, gf_error *err)
{
    gf_regrouped g = {.next_id = 0};
    uint32_t from = edit->cluster;
    bool waits = false;
    gf_status st = goes_to_topic(e, edit, &waits, err);
    if (st == GF_OK && !waits) st = find_document(e, edit->document, &from, err);
    if (st == GF_OK && waits) e->pins.owed = edit->number;
    if (st == GF_OK && from != edit->cluster) {
        st = gf_regroup_move(e, edit, &g, err);
        if (st == GF_OK) st = put_regrouped(e, edit, &g, err);
    }
    return st == GF_OK ? put_cluster_witnesses(e, edit, edit->cluster, 0, err) : st;
}

/* ---- making ---------------------------------------------------------------------------------- */

gf_status gf_edit_make_kind(gf_editing *e, const gf_edit_request *r, gf_kept_edit *kept,
                            gf_error *err)
{
    gf_edit *edit = &kept->edit;
    gf_status st = GF_OK;
    if (edit->kind == GF_EDIT_KEEP) st = keep(e, edit, err);
    if (st == GF_OK) st = find_cluster(e, edit->cluster, edit, err);
    if (st != GF_OK) return st;
    switch (edit->kind) {
    case GF_EDIT_LABEL:
        st = set_label(e, kept, err);
        break;
    case GF_EDIT_HIDE:
        st = set_flag(e, kept, err);
        break;
    case GF_EDIT_LOCK:
        if (e->view->info.rows != GF_ROWS_OF_TEXTS)
            return gf_fail(err, GF_ECONFLICT,
                           "a centre is locked by its terms, which clusters of vectors have not");
        st = set_flag(e, kept, err);
        if (st == GF_OK && !edit->off) st = put_centre(e, edit, err);
        break;
    case GF_EDIT_STATE:
        st = set_state(e, r, kept, err);
        break;
    case GF_EDIT_MERGE:
        return merge(e, edit, err);
    case GF_EDIT_SPLIT:
        return split(e, edit, r->parts ? r->parts : 2, err);
    case GF_EDIT_MOVE:
        return move(e, edit, err);
    case GF_EDIT_KEEP:
    case GF_EDIT_TOPIC:
        break;
    }
    return st == GF_OK ? put_cluster_witnesses(e, edit, edit->cluster, 0, err) : st;
}

static gf_status make(gf_editing *e, const gf_edit_request *r, gf_visit_edit *visit, void *context,
                      gf_error *err)
{
    gf_status st = gf_edit_begin(e, err);
    if (st == GF_OK) st = gf_edit_open_view(e, err);
    if (st != GF_OK) return st;
    gf_kept_edit kept = {.edit = {.number = ++e->pins.edited,
                                  .kind = r->kind,
                                  .off = r->off,
                                  .cluster = r->cluster,
                                  .others = r->others,
                                  .n_others = r->n_others,
                                  .document = r->document,
                                  .text = r->text,
                                  .by = r->by,
                                  .reason = r->reason,
                                  .when = gf_clock_ms(),
                                  .build = e->view->info.build}};
    st = gf_edit_make_kind(e, r, &kept, err);
    if (st == GF_OK) st = gf_edits_put(e->store, e->where, e->configuration, &kept, e->batch, err);
    if (st == GF_OK) st = gf_edit_put_pins(e, err);
    if (st == GF_OK) st = gf_batch_write(e->batch, GF_SYNC_ON, err);
    return st == GF_OK && visit ? visit(context, &kept.edit, err) : st;
}

gf_status gf_edit_make(gf_store *store, gf_place where, gf_slice configuration,
                       const gf_edit_request *request, gf_visit_edit *visit, void *context,
                       gf_error *err)
{
    gf_editing e = {.store = store, .where = where, .configuration = configuration};
    gf_hold hold;
    gf_status st = check_request(request, err);
    if (st != GF_OK) return st;
    st = gf_hold_collection(store, where, &hold, err);
    if (st == GF_OK) st = make(&e, request, visit, context, err);
    gf_hold_let_go(&hold);
    gf_edit_release(&e);
    return st;
}

gf_status gf_pin_label(gf_store *store, gf_place where, gf_slice configuration, uint32_t cluster,
                       gf_slice label, gf_error *err)
{
    gf_edit_request r = GF_EDIT_REQUEST(.kind = GF_EDIT_LABEL, .cluster = cluster, .text = label,
                                        .off = label.len == 0);
    return gf_edit_make(store, where, configuration, &r, NULL, NULL, err);
}
