/*
 * The configurations of a collection, and their settings.
 *
 *     settings  {"default": {"k": "20"}}               its own
 *     defaults  {"default": {...}, "fine": {...}}      the namespace's, which it inherits
 *     configuration:<name>:rebuilt                     those that it has a build of
 *
 * A configuration exists if any of these names it, and "default" always does. By the last of them a
 * build stays visible after its settings were deleted.
 */
#include "engine/config/settings.h"

#include "base/grow.h"
#include "base/memory.h"
#include "engine/rows/names.h"
#include "engine/store/collections.h"

#include <stdlib.h>

/* A configuration, as one origin names it. */
typedef struct mention {
    gf_slice name;
    gf_origin origin;
    gf_slice rebuild, within; /* its settings of these names; empty: none */
} mention;

typedef struct listing {
    gf_arena memory;
    mention *mentions; /* n of capacity */
    size_t n, capacity;
} listing;

static gf_status add_mention(listing *l, mention m, gf_error *err)
{
    if (!gf_grow(&l->mentions, &l->capacity, l->n + 1, sizeof *l->mentions))
        return gf_fail_memory(err, "configurations");
    m.name = gf_arena_copy(&l->memory, m.name);
    m.rebuild = gf_arena_copy(&l->memory, m.rebuild);
    m.within = gf_arena_copy(&l->memory, m.within);
    if (!m.name.ptr || !m.rebuild.ptr || !m.within.ptr)
        return gf_fail_memory(err, "configurations");
    l->mentions[l->n++] = m;
    return GF_OK;
}

static gf_slice setting_of(gf_json_value settings, const char *name)
{
    gf_json_value value;
    bool said = gf_json_member(settings, name, &value) && gf_json_kind_of(value) == GF_JSON_STRING;
    return said ? gf_json_get_string(value) : (gf_slice){0};
}

/* Add the configurations of a settings column, or of the defaults. */
static gf_status add_settings(listing *l, gf_slice settings, gf_origin origin, gf_error *err)
{
    gf_json_parser *parser;
    gf_json_value root, value;
    mention m = {.origin = origin};
    if (settings.len == 0) return GF_OK;
    gf_status st = gf_json_parser_create(&parser, err);
    if (st != GF_OK) return st;
    gf_json_iterator it = {0};
    st = gf_settings_parse(parser, settings, &root, err);
    if (st == GF_OK) it = gf_json_items(root);
    while (st == GF_OK && gf_json_next(&it, &m.name, &value)) {
        m.rebuild = setting_of(value, "rebuild");
        m.within = setting_of(value, "within");
        st = add_mention(l, m, err);
    }
    gf_json_parser_free(parser);
    return st;
}

static gf_status add_built(listing *l, const gf_collection_row *row, gf_error *err)
{
    gf_configuration_state *states = NULL;
    size_t n = 0;
    gf_status st = gf_collection_row_states(row, &states, &n, err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = add_mention(l, (mention){.name = states[i].name, .origin = GF_FROM_PROGRAM}, err);
    gf_free(states);
    return st;
}

static gf_status add_namespace(listing *l, gf_store *s, const gf_snapshot *snapshot,
                               gf_slice name_space, gf_error *err)
{
    gf_row row = {0};
    gf_slice defaults;
    gf_status st = gf_name_check("namespace", name_space, err);
    if (st == GF_OK)
        st = gf_collection_defaults_read(s, snapshot, name_space, &row, &defaults, err);
    if (st == GF_OK) st = add_settings(l, defaults, GF_FROM_NAMESPACE, err);
    gf_row_release(&row);
    return st;
}

/* By name; the origin that overrides the others comes first. */
static int by_name(const void *a, const void *b)
{
    const mention *x = a, *y = b;
    int order = gf_slice_compare(x->name, y->name);
    return order ? order : (int)y->origin - (int)x->origin;
}

static gf_status visit_all(listing *l, gf_visit_configuration *visit, void *context, gf_error *err)
{
    gf_status st = GF_OK;
    qsort(l->mentions, l->n, sizeof *l->mentions, by_name);
    for (size_t i = 0; i < l->n && st == GF_OK;) {
        gf_configuration_info info = {.name = l->mentions[i].name, .origin = l->mentions[i].origin};
        gf_slice said = {0};
        for (; i < l->n && gf_slice_equal(l->mentions[i].name, info.name); i++) {
            if (!said.len) said = l->mentions[i].rebuild;
            if (!info.within.len) info.within = l->mentions[i].within;
        }
        info.rebuilt = !gf_slice_equal(said, GF_SLICE("off"));
        st = visit(context, &info, err);
    }
    return st;
}

gf_status gf_configuration_list(gf_store *s, const gf_snapshot *snapshot, gf_place where,
                                const gf_collection_row *row, gf_visit_configuration *visit,
                                void *context, gf_error *err)
{
    listing l = {0};
    gf_status st = row ? add_settings(&l, row->settings, GF_FROM_COLLECTION, err) : GF_OK;
    if (st == GF_OK && row) st = add_built(&l, row, err);
    if (st == GF_OK) st = add_namespace(&l, s, snapshot, where.name_space, err);
    if (st == GF_OK)
        st =
            add_mention(&l, (mention){.name = GF_SLICE("default"), .origin = GF_FROM_PROGRAM}, err);
    if (st == GF_OK) st = visit_all(&l, visit, context, err);
    gf_free(l.mentions);
    gf_arena_release(&l.memory);
    return st;
}

gf_status gf_configuration_list_visit(gf_store *s, gf_place where, gf_visit_configuration *visit,
                                      void *context, gf_error *err)
{
    gf_collection_row row = {0};
    if (!where.collection.len)
        return gf_configuration_list(s, NULL, where, NULL, visit, context, err);
    gf_status st = gf_collection_row_read(s, NULL, where, &row, err);
    if (st == GF_OK) st = gf_configuration_list(s, NULL, where, &row, visit, context, err);
    gf_collection_row_release(&row);
    return st;
}
