/* Configurations: their settings in the row of the collection, and their builds. */
#include "engine/settings.h"

#include "base/json_writer.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "engine/pins.h"
#include "engine/rebuild_internal.h"

/* ---- changing the settings column -------------------------------------------------------------
 */

/* Write a configuration's members into the new column: the map, or nothing where it goes. */
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
static gf_status edit(gf_slice before, gf_slice configuration, const gf_settings_map *map,
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
    gf_status st = gf_check_name("namespace", where.name_space, err);
    return st == GF_OK ? gf_defaults_read(s, NULL, where.name_space, &row->row, &row->settings, err)
                       : st;
}

/* What the map of a collection's configuration gets from its namespace. */
static gf_status inherit(gf_store *s, gf_place where, gf_slice configuration, gf_settings_map *map,
                         gf_error *err)
{
    gf_row row = {0};
    gf_slice defaults;
    if (is_namespace(where)) return GF_OK;
    gf_status st = gf_defaults_read(s, NULL, where.name_space, &row, &defaults, err);
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
    gf_status st = edit(before, configuration, map, &after, err);
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
    gf_collection_key(&key, where.name_space, where.collection);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, err);
    if (st == GF_OK)
        st = put_settings(s, where, gf_buffer_view(&key), before, configuration, map, batch, err);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC, err);
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

static gf_status change_map(gf_settings_map *map, const gf_pair *pairs, size_t n, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        size_t number;
        st = gf_setting_find(pairs[i].name, &number, err);
        if (st == GF_OK) st = check_text(pairs[i].value, err);
        if (st == GF_OK && pairs[i].value.len) st = gf_setting_check(number, pairs[i].value, err);
        if (st != GF_OK) break;
        map->value[number] = (gf_slice){0};
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
    gf_status st = gf_check_name("configuration", configuration, err);
    if (st != GF_OK) return st;
    st = gf_lock(s, err);
    if (st == GF_OK) st = read_row(s, where, &row, err);
    if (st == GF_OK) {
        st = gf_settings_map_read(row.settings, configuration, &map, err);
        if (st == GF_ENOTFOUND) st = GF_OK; /* it is made */
    }
    if (st == GF_OK) st = change_map(&map, pairs, n, err);
    if (st == GF_OK) st = inherit(s, where, configuration, &map, err); /* to check them together */
    if (st == GF_OK) st = gf_settings_resolve(&map, configuration, &resolved, err);
    if (st == GF_OK) st = store_settings(s, where, row.settings, configuration, &map, err);
    gf_unlock(s);
    gf_settings_map_release(&map);
    gf_collection_row_release(&row);
    return st;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

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
    if (st == GF_OK) st = gf_settings_map_read(row.settings, configuration, &map, err);
    if (st == GF_OK) st = inherit(s, where, configuration, &map, err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st =
            visit(context, &all[i], gf_settings_map_value(&map, i), origin_of(&map, i, where), err);
    gf_settings_map_release(&map);
    gf_collection_row_release(&row);
    return st;
}

static gf_status visit_names(gf_slice settings, gf_visit_name *visit, void *context, gf_error *err)
{
    gf_json_parser *parser;
    gf_json_value root, value;
    gf_slice name;
    bool seen_default = false;
    gf_status st = gf_json_parser_create(&parser, err);
    if (st != GF_OK) return st;
    gf_json_iterator it = {0};
    if (settings.len) st = gf_settings_parse(parser, settings, &root, err);
    if (st == GF_OK && settings.len) it = gf_json_items(root);
    while (st == GF_OK && gf_json_next(&it, &name, &value)) {
        int order = gf_slice_compare(name, GF_SLICE("default"));
        if (order > 0 && !seen_default) st = visit(context, GF_SLICE("default"), err);
        if (order >= 0) seen_default = true;
        if (st == GF_OK) st = visit(context, name, err);
    }
    if (st == GF_OK && !seen_default) st = visit(context, GF_SLICE("default"), err);
    gf_json_parser_free(parser);
    return st;
}

gf_status gf_configurations_visit(gf_store *s, gf_place where, gf_visit_name *visit, void *context,
                                  gf_error *err)
{
    gf_collection_row row = {0};
    gf_status st = read_row(s, where, &row, err);
    if (st == GF_OK) st = visit_names(row.settings, visit, context, err);
    gf_collection_row_release(&row);
    return st;
}

/* ---- deleting ---------------------------------------------------------------------------------
 */

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
static gf_status drop_pointers(gf_store *s, gf_place where, gf_slice configuration,
                               gf_slice configuration_key, gf_slice settings, gf_slice pins,
                               gf_buffer *marked, gf_error *err)
{
    gf_buffer key = {0}, column = {0};
    gf_batch *batch = NULL;
    gf_collection_key(&key, where.name_space, where.collection);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, err);
    const char *const what[] = {"rebuilt", "processed"};
    for (size_t i = 0; i < 2 && st == GF_OK; i++) {
        gf_buffer_reset(&column);
        gf_configuration_column(&column, configuration, what[i]);
        st = gf_buffer_check(&column, err);
        if (st == GF_OK)
            gf_batch_delete_cell(batch, s->tables.collections, gf_buffer_view(&key),
                                 GF_COLLECTIONS_MAIN, gf_buffer_view(&column));
    }
    if (st == GF_OK)
        st =
            put_settings(s, where, gf_buffer_view(&key), settings, configuration, NULL, batch, err);
    if (st == GF_OK) st = drop_pins(s, gf_buffer_view(&key), pins, configuration, batch, err);
    if (st == GF_OK) st = gf_mark_builds(s, configuration_key, 0, 0, NULL, batch, marked, err);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC, err);
    gf_batch_free(batch);
    gf_buffer_release(&key);
    gf_buffer_release(&column);
    return st;
}

/* With the write lock held. */
static gf_status begin_deletion(gf_store *s, gf_place where, gf_slice configuration,
                                gf_activity *deletion, gf_buffer *marked, gf_error *err)
{
    gf_collection_row row = {0};
    gf_settings_map map = {0};
    gf_status st = gf_collection_row_read(s, NULL, where, &row, err);
    if (st == GF_OK) st = gf_settings_map_read(row.settings, configuration, &map, err);
    if (st == GF_OK && gf_is_active(s, deletion->key))
        st = gf_fail(err, GF_EBUSY, "configuration \"%.*s\" is being rebuilt",
                     GF_SLICE_ARG(configuration));
    if (st == GF_OK)
        st = drop_pointers(s, where, configuration, deletion->key, row.settings, row.pins, marked,
                           err);
    if (st == GF_OK) gf_begin_activity(s, deletion);
    gf_settings_map_release(&map);
    gf_collection_row_release(&row);
    return st;
}

static gf_status drop_builds(gf_store *s, gf_slice keys, gf_error *err)
{
    gf_batch *batch;
    gf_status st = gf_batch_create(s->db, &batch, err);
    if (st != GF_OK) return st;
    st = gf_drop_builds(s, keys, batch, err);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC, err);
    gf_batch_free(batch);
    return st;
}

/* Of a namespace only settings are there to be deleted. */
static gf_status delete_defaults(gf_store *s, gf_place where, gf_slice configuration, gf_error *err)
{
    gf_collection_row row = {0};
    gf_settings_map map = {0};
    gf_status st = gf_lock(s, err);
    if (st == GF_OK) st = read_row(s, where, &row, err);
    if (st == GF_OK) st = gf_settings_map_read(row.settings, configuration, &map, err);
    if (st == GF_OK) st = store_settings(s, where, row.settings, configuration, NULL, err);
    gf_unlock(s);
    gf_settings_map_release(&map);
    gf_collection_row_release(&row);
    return st;
}

gf_status gf_configuration_delete(gf_store *s, gf_place where, gf_slice configuration,
                                  gf_error *err)
{
    if (is_namespace(where)) return delete_defaults(s, where, configuration, err);
    gf_buffer key = {0}, marked = {0};
    gf_configuration_key(&key, where.name_space, where.collection, configuration);
    gf_status st = gf_buffer_check(&key, err);
    gf_activity deletion = {.key = gf_buffer_view(&key)};
    if (st == GF_OK) {
        st = gf_lock(s, err);
        if (st == GF_OK) st = begin_deletion(s, where, configuration, &deletion, &marked, err);
        gf_unlock(s);
    }
    if (st == GF_OK) {
        st = drop_builds(s, gf_buffer_view(&marked), err);
        if (st != GF_OK) gf_leave_untidy(s);
        pthread_mutex_lock(&s->write_lock);
        gf_end_activity(s, &deletion);
        pthread_mutex_unlock(&s->write_lock);
    }
    gf_buffer_release(&key);
    gf_buffer_release(&marked);
    return st;
}
