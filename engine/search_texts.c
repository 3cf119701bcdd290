#include "engine/search_texts.h"

#include "base/memory.h"

enum { GROUP_BYTES = 4 << 20, GROUP_DOCUMENTS = 16384 };

void gf_text_group_release(gf_text_group *g)
{
    gf_free(g->at);
    gf_arena_release(&g->arena);
    *g = (gf_text_group){0};
}

void gf_text_group_reset(gf_text_group *g)
{
    g->n = g->bytes = 0;
    gf_arena_reset(&g->arena);
}

static gf_status grow(gf_text_group *g, gf_error *err)
{
    size_t capacity = g->capacity ? g->capacity * 2 : 16;
    gf_group_text *grown = gf_realloc(g->at, capacity, sizeof *grown);
    if (!grown) return gf_fail_memory(err, "documents");
    g->at = grown;
    g->capacity = capacity;
    return GF_OK;
}

gf_status gf_text_group_add(gf_text_group *g, gf_slice id, const gf_row *row, gf_error *err)
{
    const gf_cell *text = gf_row_find(row, GF_DOCUMENTS_MAIN, "text");
    const gf_cell *lang = gf_row_find(row, GF_DOCUMENTS_MAIN, "lang");
    gf_status st = g->n == g->capacity ? grow(g, err) : GF_OK;
    if (st != GF_OK) return st;
    if (!text) return gf_fail(err, GF_ECORRUPT, "table documents: a row is damaged");
    gf_group_text *t = &g->at[g->n];
    t->id = gf_arena_copy(&g->arena, id);
    t->text = gf_arena_copy(&g->arena, text->value);
    t->lang = lang ? gf_arena_copy(&g->arena, lang->value) : (gf_slice){"", 0};
    if (!t->id.ptr || !t->text.ptr || !t->lang.ptr) return gf_fail_memory(err, "documents");
    g->n++;
    g->bytes += text->value.len;
    return GF_OK;
}

bool gf_text_group_is_full(const gf_text_group *g)
{
    return g->bytes >= GROUP_BYTES || g->n >= GROUP_DOCUMENTS;
}

typedef struct texts_walk {
    gf_table *table;
    gf_text_group group;
    gf_buffer id;
    const gf_cancel *cancel;
    gf_each_group *each;
    void *context;
} texts_walk;

static gf_status hand_on(texts_walk *w, gf_error *err)
{
    gf_status st = gf_cancel_check(w->cancel, err);
    if (st == GF_OK && w->group.n) st = w->each(w->context, &w->group, err);
    gf_text_group_reset(&w->group);
    return st;
}

static gf_status add_row(void *context, const gf_row *row, gf_error *err)
{
    texts_walk *w = context;
    gf_buffer_reset(&w->id);
    gf_status st = gf_key_last_string(w->table, row->key, &w->id, err);
    if (st == GF_OK) st = gf_text_group_add(&w->group, gf_buffer_view(&w->id), row, err);
    return st == GF_OK && gf_text_group_is_full(&w->group) ? hand_on(w, err) : st;
}

gf_status gf_texts_each(gf_store *s, const gf_snapshot *snapshot, gf_place where,
                        const gf_cancel *cancel, gf_each_group *each, void *context, gf_error *err)
{
    texts_walk w = {
        .table = s->tables.documents, .cancel = cancel, .each = each, .context = context};
    gf_buffer prefix = {0};
    gf_collection_key(&prefix, where.name_space, where.collection);
    gf_status st = gf_buffer_check(&prefix, err);
    gf_scan_options o = {
        .snapshot = snapshot, .family = GF_DOCUMENTS_MAIN, .prefix = gf_buffer_view(&prefix)};
    if (st == GF_OK) st = gf_scan_each(w.table, &o, add_row, &w, err);
    if (st == GF_OK) st = hand_on(&w, err);
    gf_text_group_release(&w.group);
    gf_buffer_release(&w.id);
    gf_buffer_release(&prefix);
    return st;
}
