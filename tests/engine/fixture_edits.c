#include "tests/engine/fixture_edits.h"

#include "engine/store/store_internal.h"
#include "engine/view/view.h"

#include <inttypes.h>
#include <stdio.h>

static gf_status note_cluster(void *context, const gf_cluster_info *c, gf_error *err)
{
    gf_buffer *out = context;
    (void)err;
    gf_buffer_format(out, "cluster %u %.*s %" PRIu64 " %d%d", c->id, GF_SLICE_ARG(c->label),
                     c->size, c->hidden, c->locked);
    for (size_t i = 0; i < c->n_terms; i++)
        gf_buffer_format(out, " %.*s=%.9g", GF_SLICE_ARG(c->terms[i].surface),
                         (double)c->terms[i].weight);
    if (c->state)
        gf_buffer_format(out, " status=%.*s owner=%.*s", GF_SLICE_ARG(c->state->status),
                         GF_SLICE_ARG(c->state->owner));
    if (c->figures) gf_buffer_format(out, " margin=%.9g", c->figures->margin);
    if (c->title.len)
        gf_buffer_format(out, " title=%.*s of %.*s", GF_SLICE_ARG(c->title),
                         GF_SLICE_ARG(c->title_model));
    gf_buffer_format(out, " \"%.*s\"\n", GF_SLICE_ARG(c->sentence));
    return GF_OK;
}

static gf_status note_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)err;
    gf_buffer_format(context, "%.*s %u %.9g %u %.9g\n", GF_SLICE_ARG(id), m->cluster,
                     (double)m->score, m->runner_up, (double)m->second);
    return GF_OK;
}

static gf_status note_node(void *context, const gf_tree_node *n, gf_error *err)
{
    (void)err;
    gf_buffer_format(context, "node %u %u %u %.*s %.9g\n", n->node, n->parent, n->cluster,
                     GF_SLICE_ARG(n->label), n->height);
    return GF_OK;
}

/* All that the served build says of clusters, documents and the tree. */
void fixture_say(fixture *f, gf_buffer *out)
{
    gf_view *v;
    gf_error err;
    gf_buffer_reset(out);
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &v, &err));
    assert_ok(gf_view_clusters(v, note_cluster, out, &err));
    assert_ok(gf_view_memberships(v, note_member, out, &err));
    assert_ok(gf_view_tree(v, 1000, note_node, out, &err));
    gf_view_close(v);
}

void fixture_same(gf_buffer *a, gf_buffer *b)
{
    assert_string_equal(gf_buffer_cstr(a), gf_buffer_cstr(b));
}

/* The cluster that a document is in; 0: in none, or the build does not have it. */
uint32_t fixture_place_of(fixture *f, const char *id)
{
    gf_view *v;
    gf_error err;
    gf_membership m = {.cluster = 0};
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &v, &err));
    if (gf_view_membership(v, gf_slice_str(id), &m, &err) != GF_OK) m.cluster = 0;
    gf_view_close(v);
    return m.cluster;
}

gf_status fixture_try_edit(fixture *f, const gf_edit_request *r, gf_error *err)
{
    return gf_edit_make(f->store, fixture_place("c"), fixture_default(), r, NULL, NULL, err);
}

gf_status fixture_try_merge(fixture *f, uint32_t a, uint32_t b, gf_error *err)
{
    return fixture_try_edit(
        f, &GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = a, .others = &b, .n_others = 1), err);
}

gf_status fixture_try_split(fixture *f, uint32_t cluster, uint32_t parts, gf_error *err)
{
    return fixture_try_edit(
        f, &GF_EDIT_REQUEST(.kind = GF_EDIT_SPLIT, .cluster = cluster, .parts = parts), err);
}

gf_status fixture_try_move(fixture *f, const char *id, uint32_t cluster, gf_error *err)
{
    return fixture_try_edit(
        f, &GF_EDIT_REQUEST(.kind = GF_EDIT_MOVE, .cluster = cluster, .document = gf_slice_str(id)),
        err);
}

gf_status fixture_try_undo(fixture *f, uint64_t number, bool *waits, gf_error *err)
{
    return gf_edit_undo(f->store, fixture_place("c"), fixture_default(), number, waits, NULL, NULL,
                        err);
}

gf_status fixture_note_edit(void *context, const gf_edit *e, gf_error *err)
{
    fixture_edits *l = context;
    (void)err;
    assert_true(l->n < 64 && e->n_others <= 8);
    l->at[l->n] = *e;
    for (size_t i = 0; i < e->n_others; i++)
        l->others[l->n][i] = e->others[i];
    snprintf(l->document[l->n], sizeof l->document[0], "%.*s", GF_SLICE_ARG(e->document));
    snprintf(l->text[l->n], sizeof l->text[0], "%.*s", GF_SLICE_ARG(e->text));
    snprintf(l->lost[l->n], sizeof l->lost[0], "%.*s", GF_SLICE_ARG(e->lost));
    l->n++;
    return GF_OK;
}

void fixture_list_edits(fixture *f, fixture_edits *l)
{
    gf_error err;
    l->n = 0;
    assert_ok(gf_edits_visit(f->store, fixture_place("c"), fixture_default(), fixture_note_edit, l,
                             &err));
}

void fixture_rebuild_from(fixture *f, gf_start start)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1, .start = start);
    assert_ok(fixture_try_rebuild(f, "c", &o, &result, &err));
}

gf_status fixture_try_label(fixture *f, uint32_t cluster, const char *label, gf_error *err)
{
    return fixture_try_edit(f,
                            &GF_EDIT_REQUEST(.kind = GF_EDIT_LABEL, .cluster = cluster,
                                             .text = gf_slice_str(label), .off = !label[0]),
                            err);
}

void fixture_put_titles(fixture *f)
{
    gf_view *v;
    gf_error err;
    gf_batch *batch;
    gf_buffer key = {0}, title = {0};
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &v, &err));
    assert_ok(gf_view_load_clusters(v, &err));
    assert_ok(gf_batch_create(f->store->db, &batch, &err));
    for (size_t i = 0; i < v->n_clusters; i++) {
        gf_buffer_reset(&key);
        gf_buffer_reset(&title);
        gf_tables_cluster_key(&key, gf_buffer_view(&v->key), v->clusters[i].own_label);
        gf_buffer_format(&title, "title %u", v->clusters[i].id);
        const gf_column columns[] = {{GF_SLICE("title"), gf_buffer_view(&title)},
                                     {GF_SLICE("title_model"), GF_SLICE("model")},
                                     {GF_SLICE("title_prompt"), GF_SLICE("prompt")}};
        for (size_t c = 0; c < 3; c++)
            gf_batch_put(batch, f->store->tables.clusters, gf_buffer_view(&key), GF_CLUSTERS_MAIN,
                         columns[c].name, columns[c].value, 0);
    }
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    gf_buffer_release(&key);
    gf_buffer_release(&title);
    gf_view_close(v);
}

gf_rebuild_outcome fixture_rebuild_if_due(fixture *f)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
    assert_ok(fixture_try_rebuild(f, "c", &o, &result, &err));
    return result.outcome;
}
