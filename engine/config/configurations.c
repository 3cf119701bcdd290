/* Configurations: their settings in the row of the collection, and their builds. */
#include "engine/config/settings.h"

#include "base/json/writer.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "engine/config/edits.h"
#include "engine/config/pins.h"
#include "engine/config/watches.h"
#include "engine/rows/names.h"
#include "engine/store/collections.h"
#include "engine/store/delete.h"
#include "engine/store/hold.h"
#include "engine/store/lease.h"

/* ---- changing the settings column ------------------------------------------------------------ */

/* Write a configuration's members into the new column; nothing if map is NULL. */
static void write_one(gf_json_writer *w, gf_slice name, const gf_settings_map *map)
{
    gf_buffer object = {0};
    if (!map) return;
    gf_settings_map_write(map, &object);
    gf_json_key_slice(w, name);
    gf_json_raw(w, gf_buffer_view(&object));
    if (object.state != GF_OK) w->out->state = object.state;
    gf_buffer_release(&object);
}

/* The column `before` with the configuration's settings replaced, added or (map NULL) removed. */
static gf_status edit_settings(gf_slice before, gf_slice configuration, const gf_settings_map *map,
                               gf_buffer *after, gf_error *err)
{
    gf_json_parser *parser;
    gf_json_value root, value;
    gf_slice name;
    gf_buffer raw = {0};
    bool written = false;
    gf_status st = gf_json_parser_create(&parser, err);
    if (st != GF_OK) return st;
    gf_json_writer w = gf_json_writer_to(after);
    gf_json_begin(&w, '{');
    if (before.len) st = gf_settings_parse(parser, before, &root, err);
    gf_json_iterator it = {0};
    if (st == GF_OK && before.len) it = gf_json_items(root);
    while (st == GF_OK && gf_json_next(&it, &name, &value)) {
        bool is_it = gf_slice_equal(name, configuration);
        if (is_it || (!written && gf_slice_compare(name, configuration) > 0)) {
            if (!written) write_one(&w, configuration, map);
            written = true;
        }
        if (is_it) continue;
        gf_buffer_reset(&raw);
        st = gf_json_write(value, &raw, err);
        gf_json_key_slice(&w, name);
        gf_json_raw(&w, gf_buffer_view(&raw));
    }
    if (!written) write_one(&w, configuration, map);
    gf_json_end(&w, '}');
    gf_json_parser_free(parser);
    gf_buffer_release(&raw);
    return st == GF_OK ? gf_buffer_check(after, err) : st;
}

static bool is_namespace(gf_place where)
{
    return where.collection.len == 0;
}

/* The row as it is: of a collection, or of a namespace's defaults, which may not be there yet. */
static gf_status read_row(gf_store *s, gf_place where, gf_collection_row *row, gf_error *err)
{
    if (!is_namespace(where)) return gf_collection_row_read(s, NULL, where, row, err);
    gf_status st = gf_name_check("namespace", where.name_space, err);
    return st == GF_OK ? gf_collection_defaults_read(s, NULL, where.name_space, &row->row,
                                                     &row->settings, err)
                       : st;
}

/* Add to the map what the configuration inherits from the namespace of its collection. */
static gf_status inherit(gf_store *s, gf_place where, gf_slice configuration, gf_settings_map *map,
                         gf_error *err)
{
    gf_row row = {0};
    gf_slice defaults;
    if (is_namespace(where)) return GF_OK;
    gf_status st = gf_collection_defaults_read(s, NULL, where.name_space, &row, &defaults, err);
    if (st == GF_OK) st = gf_settings_map_inherit(map, defaults, configuration, NULL, err);
    gf_row_release(&row);
    return st;
}

/* Put the changed column into the batch. */
static gf_status put_settings(gf_store *s, gf_place where, gf_slice key, gf_slice before,
                              gf_slice configuration, const gf_settings_map *map, gf_batch *batch,
                              gf_error *err)
{
    gf_buffer after = {0};
    gf_status st = edit_settings(before, configuration, map, &after, err);
    if (st == GF_OK)
        gf_batch_put(batch, s->tables.collections, key,
                     is_namespace(where) ? GF_COLLECTIONS_DEFAULTS : GF_COLLECTIONS_MAIN,
                     is_namespace(where) ? GF_SLICE("defaults") : GF_SLICE("settings"),
                     gf_buffer_view(&after), 0);
    gf_buffer_release(&after);
    return st;
}

static gf_status store_settings(gf_store *s, gf_place where, gf_slice before,
                                gf_slice configuration, const gf_settings_map *map, gf_error *err)
{
    gf_buffer key = {0};
    gf_batch *batch = NULL;
    gf_tables_collection_key(&key, where.name_space, where.collection);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, err);
    if (st == GF_OK)
        st = put_settings(s, where, gf_buffer_view(&key), before, configuration, map, batch, err);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, err);
    gf_batch_free(batch);
    gf_buffer_release(&key);
    return st;
}

/* Values are kept as JSON and, in models, as lines. */
static gf_status check_text(gf_slice value, gf_error *err)
{
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.ptr[i] < 0x20)
            return gf_fail(err, GF_EINVAL, "a value cannot have a line break or control character");
    if (gf_utf8_valid_length(value) == value.len) return GF_OK;
    return gf_fail(err, GF_EINVAL, "a value is not valid UTF-8");
}

static gf_status check_pair(const gf_pair *pair, size_t *number, gf_error *err)
{
    gf_status st = gf_setting_find(pair->name, number, err);
    if (st == GF_OK) st = check_text(pair->value, err);
    return st == GF_OK && pair->value.len ? gf_setting_check(*number, pair->value, err) : st;
}

gf_status gf_setting_check_value(gf_slice name, gf_slice value, gf_error *err)
{
    size_t number;
    return check_pair(&(gf_pair){name, value}, &number, err);
}

static gf_status change_map(gf_settings_map *map, const gf_pair *pairs, size_t n, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        size_t number;
        st = check_pair(&pairs[i], &number, err);
        if (st != GF_OK) break;
        map->value[number] = (gf_slice){0};
        map->inherited[number] = false;
        if (pairs[i].value.len == 0) continue;
        map->value[number] = gf_arena_copy(&map->memory, pairs[i].value);
        if (!map->value[number].ptr) st = gf_fail_memory(err, "settings");
    }
    return st;
}

gf_status gf_configuration_set(gf_store *s, gf_place where, gf_slice configuration,
                               const gf_pair *pairs, size_t n, gf_error *err)
{
    gf_collection_row row = {0};
    gf_settings_map map = {0};
    gf_resolved resolved;
    gf_hold hold;
    gf_status st = gf_name_check("configuration", configuration, err);
    if (st != GF_OK) return st;
    st = gf_hold_collection(s, where, &hold, err);
    if (st == GF_OK) st = read_row(s, where, &row, err);
    if (st == GF_OK) {
        st = gf_settings_map_read(row.settings, configuration, &map, err);
        if (st == GF_ENOTFOUND) st = GF_OK; /* it is made */
    }
    if (st == GF_OK) st = change_map(&map, pairs, n, err);
    if (st == GF_OK) st = inherit(s, where, configuration, &map, err); /* to check them together */
    if (st == GF_OK) st = gf_settings_resolve(&map, configuration, &resolved, err);
    if (st == GF_OK) st = store_settings(s, where, row.settings, configuration, &map, err);
    gf_hold_let_go(&hold);
    gf_settings_map_release(&map);
    gf_collection_row_release(&row);
    return st;
}

/* ---- settings of a single build -------------------------------------------------------------- */

gf_status gf_settings_check_pairs(const gf_pair *pairs, size_t n, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        size_t number;
        st = check_pair(&pairs[i], &number, err);
        if (st == GF_OK && gf_slice_equal(pairs[i].name, GF_SLICE("rebuild")))
            st = gf_fail(err, GF_EINVAL,
                         "rebuild: it says which rebuilds a configuration is in, and is no setting "
                         "of a single build");
        if (st == GF_OK && gf_slice_equal(pairs[i].name, GF_SLICE("keep")))
            st =
                gf_fail(err, GF_EINVAL,
                        "keep: it says how many builds a configuration keeps, and is no setting of "
                        "a single build");
    }
    return st;
}

gf_status gf_configuration_override(gf_store *s, gf_place where, gf_slice configuration,
                                    const gf_pair *pairs, size_t n, gf_settings_map *map,
                                    gf_error *err)
{
    gf_status st = n ? change_map(map, pairs, n, err) : GF_OK;
    return st == GF_OK && n ? inherit(s, where, configuration, map, err) : st;
}

/* ---- reading --------------------------------------------------------------------------------- */

gf_status gf_configuration_load(gf_store *s, const gf_snapshot *snapshot, gf_place where,
                                const gf_collection_row *row, gf_slice configuration,
                                gf_settings_map *map, gf_error *err)
{
    gf_row defaults_row = {0};
    gf_slice defaults;
    gf_error missing;
    gf_settings_map m = {0};
    gf_status st = gf_settings_map_read(row->settings, configuration, &m, &missing);
    if (st != GF_OK && st != GF_ENOTFOUND) {
        if (err) *err = missing;
        return st;
    }
    bool there = st == GF_OK || gf_collection_row_served(row, configuration);
    st = gf_collection_defaults_read(s, snapshot, where.name_space, &defaults_row, &defaults, err);
    if (st == GF_OK)
        st = gf_settings_map_inherit(&m, defaults, configuration, &m.in_namespace, err);
    gf_row_release(&defaults_row);
    if (st == GF_OK && !there && !m.in_namespace) {
        if (err) *err = missing;
        st = GF_ENOTFOUND;
    }
    if (st != GF_OK) {
        gf_settings_map_release(&m);
        return st;
    }
    *map = m;
    return GF_OK;
}

static gf_origin origin_of(const gf_settings_map *map, size_t number, gf_place where)
{
    if (!map->value[number].ptr) return GF_FROM_PROGRAM;
    return map->inherited[number] || is_namespace(where) ? GF_FROM_NAMESPACE : GF_FROM_COLLECTION;
}

gf_status gf_configuration_read(gf_store *s, gf_place where, gf_slice configuration,
                                gf_visit_setting *visit, void *context, gf_error *err)
{
    gf_collection_row row = {0};
    gf_settings_map map = {0};
    size_t n;
    const gf_setting *all = gf_settings(&n);
    gf_status st = read_row(s, where, &row, err);
    if (st == GF_OK)
        st = is_namespace(where)
                 ? gf_settings_map_read(row.settings, configuration, &map, err)
                 : gf_configuration_load(s, NULL, where, &row, configuration, &map, err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st =
            visit(context, &all[i], gf_settings_map_value(&map, i), origin_of(&map, i, where), err);
    gf_settings_map_release(&map);
    gf_collection_row_release(&row);
    return st;
}

/* ---- deleting -------------------------------------------------------------------------------- */

typedef struct deletion {
    gf_store *store;
    gf_place where;
    gf_slice configuration;
    bool of_namespace; /* the namespace's is deleted: a collection's own settings keep theirs */
    bool stays;
    gf_slice key; /* of the configuration */
    gf_lease *lease;
    gf_buffer marked; /* builds */
} deletion;

static gf_status drop_pins(gf_store *s, gf_slice key, gf_slice column, gf_slice configuration,
                           gf_batch *batch, gf_error *err)
{
    gf_buffer after = {0};
    if (column.len == 0) return GF_OK;
    gf_status st = gf_pins_write(column, configuration, &(gf_pins){0}, &after, err);
    if (st == GF_OK)
        gf_batch_put(batch, s->tables.collections, key, GF_COLLECTIONS_MAIN, GF_SLICE("pins"),
                     gf_buffer_view(&after), 0);
    gf_buffer_release(&after);
    return st;
}

/*
 * In one synced write the pointers and the settings go, so that no read resolves to a build any
 * more, and the builds are marked, so that a crash leaves none of them.
 */
static gf_status drop_pointers(deletion *d, const gf_collection_row *row,
                               const gf_settings_map *left, gf_error *err)
{
    gf_store *s = d->store;
    gf_slice configuration = d->configuration;
    gf_buffer key = {0}, column = {0};
    gf_batch *batch = NULL;
    gf_tables_collection_key(&key, d->where.name_space, d->where.collection);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, err);
    const char *const what[] = {"rebuilt", "processed", "failed", "named"};
    for (size_t i = 0; i < sizeof what / sizeof *what && st == GF_OK; i++) {
        gf_buffer_reset(&column);
        gf_collection_row_column(&column, configuration, what[i]);
        st = gf_buffer_check(&column, err);
        if (st == GF_OK)
            gf_batch_delete_cell(batch, s->tables.collections, gf_buffer_view(&key),
                                 GF_COLLECTIONS_MAIN, gf_buffer_view(&column));
    }
    if (st == GF_OK)
        st = put_settings(s, d->where, gf_buffer_view(&key), row->settings, configuration, left,
                          batch, err);
    if (st == GF_OK) st = drop_pins(s, gf_buffer_view(&key), row->pins, configuration, batch, err);
    if (st == GF_OK) st = gf_edits_delete_all(s, d->where, configuration, batch, err);
    if (st == GF_OK) st = gf_watches_delete_all(s, d->where, configuration, batch, err);
    if (st == GF_OK) st = gf_pins_mark_builds(s, d->key, 0, 0, NULL, batch, &d->marked, err);
    if (st == GF_OK) st = gf_lease_take(s, d->key, 0, batch, &d->lease, err);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, err);
    gf_batch_free(batch);
    gf_buffer_release(&key);
    gf_buffer_release(&column);
    return st;
}

/* The setting to keep after a delete: an inherited configuration keeps its rebuild=off. */
static const gf_settings_map *kept_settings(const gf_settings_map *map, gf_settings_map *left)
{
    size_t number;
    if (!map->in_namespace || gf_setting_find(GF_SLICE("rebuild"), &number, NULL) != GF_OK)
        return NULL;
    if (map->inherited[number] || !gf_slice_equal(map->value[number], GF_SLICE("off"))) return NULL;
    left->value[number] = map->value[number];
    return left;
}

/* A configuration that is only inherited cannot be deleted in the collection. */
static gf_status check_deletion(const deletion *d, const gf_settings_map *map, gf_error *err)
{
    gf_slice name = d->configuration;
    gf_lease_owner owner;
    gf_status st = gf_lease_find(d->store, d->key, &owner, err);
    if (st != GF_OK) return st;
    if (owner.living)
        return gf_fail(err, GF_EBUSY, "configuration \"%.*s\" of \"%.*s\" is being rebuilt%s",
                       GF_SLICE_ARG(name), GF_SLICE_ARG(d->where.collection), owner.by);
    if (map->own || !map->in_namespace || d->of_namespace ||
        gf_slice_equal(name, GF_SLICE("default")))
        return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "configuration \"%.*s\" of \"%.*s\" comes from the defaults of its namespace; "
                   "rebuild=off leaves it out in the collection",
                   GF_SLICE_ARG(name), GF_SLICE_ARG(d->where.collection));
}

/* While the collection is held. */
static gf_status begin_deletion(deletion *d, gf_error *err)
{
    gf_collection_row row = {0};
    gf_settings_map map = {0}, left = {0};
    gf_status st = gf_collection_row_read(d->store, NULL, d->where, &row, err);
    if (st == GF_OK)
        st = gf_configuration_load(d->store, NULL, d->where, &row, d->configuration, &map, err);
    d->stays = st == GF_OK && d->of_namespace && map.own;
    if (st == GF_OK && !d->stays) {
        st = check_deletion(d, &map, err);
        if (st == GF_OK) st = drop_pointers(d, &row, kept_settings(&map, &left), err);
    }
    gf_settings_map_release(&map);
    gf_collection_row_release(&row);
    return st;
}

static gf_status drop_builds(gf_store *s, gf_slice keys, gf_error *err)
{
    gf_batch *batch;
    gf_status st = gf_batch_create(s->db, &batch, err);
    if (st != GF_OK) return st;
    st = gf_delete_builds(s, keys, batch, err);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, err);
    gf_batch_free(batch);
    return st;
}

static gf_status delete_one(gf_store *s, gf_place where, gf_slice configuration, bool of_namespace,
                            gf_error *err)
{
    gf_buffer key = {0};
    gf_hold hold;
    deletion d = {s, where, configuration, .of_namespace = of_namespace};
    gf_tables_configuration_key(&key, where.name_space, where.collection, configuration);
    gf_status st = gf_buffer_check(&key, err);
    d.key = gf_buffer_view(&key);
    if (st == GF_OK) {
        st = gf_hold_collection(s, where, &hold, err);
        if (st == GF_OK) st = begin_deletion(&d, err);
        gf_hold_let_go(&hold);
    }
    if (st == GF_OK && !d.stays) {
        st = drop_builds(s, gf_buffer_view(&d.marked), err);
        if (st != GF_OK) gf_store_leave_untidy(s);
    }
    gf_lease_end(d.lease);
    gf_buffer_release(&key);
    gf_buffer_release(&d.marked);
    return st;
}

/* ---- deleting a namespace's ------------------------------------------------------------------ */

typedef struct builders {
    gf_slice configuration;
    gf_buffer names; /* of the collections that have a build of it, as strings */
} builders;

static gf_status add_builder(void *context, const gf_collection_info *info, gf_error *err)
{
    builders *b = context;
    for (size_t i = 0; i < info->n_configurations; i++)
        if (gf_slice_equal(info->configurations[i].name, b->configuration))
            gf_buffer_string(&b->names, info->name);
    return gf_buffer_check(&b->names, err);
}

/* The builds of collections that have the configuration from the namespace alone. */
static gf_status delete_inherited(gf_store *s, gf_slice name_space, gf_slice configuration,
                                  gf_error *err)
{
    builders b = {.configuration = configuration};
    gf_slice collection;
    if (gf_slice_equal(configuration, GF_SLICE("default"))) return GF_OK; /* every one has it */
    gf_status st = gf_collections_visit(s, name_space, GF_SLICE(""), add_builder, &b, err);
    gf_slice names = gf_buffer_view(&b.names);
    while (st == GF_OK && gf_slice_take_string(&names, &collection)) {
        st = delete_one(s, (gf_place){name_space, collection}, configuration, true, err);
        if (st == GF_ENOTFOUND) st = GF_OK; /* deleted meanwhile */
    }
    gf_buffer_release(&b.names);
    return st;
}

static gf_status check_defaults(gf_store *s, gf_place where, gf_slice configuration, gf_error *err)
{
    gf_collection_row row = {0};
    gf_settings_map map = {0};
    gf_status st = read_row(s, where, &row, err);
    if (st == GF_OK) st = gf_settings_map_read(row.settings, configuration, &map, err);
    gf_settings_map_release(&map);
    gf_collection_row_release(&row);
    return st;
}

/* The settings go last: what a crash leaves is done by asking again. */
static gf_status delete_defaults(gf_store *s, gf_place where, gf_slice configuration, gf_error *err)
{
    gf_collection_row row = {0};
    gf_hold hold;
    gf_status st = check_defaults(s, where, configuration, err);
    if (st == GF_OK) st = delete_inherited(s, where.name_space, configuration, err);
    if (st != GF_OK) return st;
    st = gf_hold_collection(s, where, &hold, err);
    if (st == GF_OK) st = read_row(s, where, &row, err);
    if (st == GF_OK) st = store_settings(s, where, row.settings, configuration, NULL, err);
    gf_hold_let_go(&hold);
    gf_collection_row_release(&row);
    return st;
}

gf_status gf_configuration_delete(gf_store *s, gf_place where, gf_slice configuration,
                                  gf_error *err)
{
    return is_namespace(where) ? delete_defaults(s, where, configuration, err)
                               : delete_one(s, where, configuration, false, err);
}
