#include "engine/text/group.h"

#include "base/grow.h"
#include "base/memory.h"
#include "engine/rows/document_row.h"
#include "engine/rows/hours.h"
#include "storage/tables.h"

#include <string.h>

enum { GROUP_DOCUMENTS = 16384 };

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

static gf_status make_room(gf_text_group *g, size_t n, gf_error *err)
{
    return gf_grow(&g->at, &g->capacity, n, sizeof *g->at) ? GF_OK
                                                           : gf_fail_memory(err, "documents");
}

gf_status gf_text_group_add(gf_text_group *g, gf_slice id, const gf_row *row, gf_error *err)
{
    const gf_cell *text = gf_row_find(row, GF_DOCUMENTS_MAIN, "text");
    const gf_cell *lang = gf_row_find(row, GF_DOCUMENTS_MAIN, "lang");
    gf_status st = make_room(g, g->n + 1, err);
    if (st != GF_OK) return st;
    if (!text) return gf_fail(err, GF_ECORRUPT, "table documents: a row is damaged");
    gf_group_text *t = &g->at[g->n];
    t->id = gf_arena_copy(&g->arena, id);
    t->text = gf_arena_copy(&g->arena, text->value);
    t->lang = lang ? gf_arena_copy(&g->arena, lang->value) : (gf_slice){"", 0};
    const gf_cell *time = gf_row_find(row, GF_DOCUMENTS_MAIN, "time");
    t->moment = INT64_MAX;
    t->hour = gf_hours_of_row(row);
    if (time && !gf_document_row_moment(time->value, &t->moment)) t->moment = INT64_MAX;
    if (!t->id.ptr || !t->text.ptr || !t->lang.ptr) return gf_fail_memory(err, "documents");
    g->n++;
    g->bytes += text->value.len;
    return GF_OK;
}

gf_status gf_text_group_borrow(gf_text_group *g, const gf_text_group *from, gf_error *err)
{
    gf_status st = make_room(g, g->n + from->n, err);
    if (st != GF_OK) return st;
    if (from->n) memcpy(g->at + g->n, from->at, from->n * sizeof *from->at);
    g->n += from->n;
    g->bytes += from->bytes;
    return GF_OK;
}

bool gf_text_group_is_full(const gf_text_group *g, size_t bytes)
{
    return g->bytes >= bytes || g->n >= GROUP_DOCUMENTS;
}
