#include "engine/config/pins.h"

#include "base/json/json.h"
#include "base/json/writer.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/store/builds.h"

#include <inttypes.h>
#include <stdio.h>

void gf_pins_release(gf_pins *p)
{
    gf_arena_release(&p->memory);
    *p = (gf_pins){0};
}

bool gf_pins_have_build(const gf_pins *p, int64_t build)
{
    for (size_t i = 0; i < p->n_builds; i++)
        if (p->builds[i] == build) return true;
    return false;
}

const gf_slice *gf_pins_label(const gf_pins *p, uint32_t cluster)
{
    for (size_t i = 0; i < p->n_labels; i++)
        if (p->labels[i].cluster == cluster) return &p->labels[i].label;
    return NULL;
}

/* ---- reading --------------------------------------------------------------------------------- */

static gf_status damaged(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "table collections: pins are damaged");
}

static size_t count(gf_json_value list)
{
    size_t n = 0;
    gf_slice name;
    gf_json_value item;
    for (gf_json_iterator it = gf_json_items(list); gf_json_next(&it, &name, &item);)
        n++;
    return n;
}

static gf_status read_builds(gf_json_value list, gf_pins *p, gf_error *err)
{
    gf_slice name;
    gf_json_value item;
    if (gf_json_kind_of(list) != GF_JSON_ARRAY) return damaged(err);
    p->builds = gf_arena_alloc(&p->memory, count(list) * sizeof *p->builds);
    if (!p->builds) return gf_fail_memory(err, "pins");
    for (gf_json_iterator it = gf_json_items(list); gf_json_next(&it, &name, &item);) {
        if (!gf_json_is_number(item)) return damaged(err);
        p->builds[p->n_builds++] = (int64_t)gf_json_number(item); /* far below 2^53 */
    }
    return GF_OK;
}

static gf_status read_labels(gf_json_value object, gf_pins *p, gf_error *err)
{
    gf_slice name;
    gf_json_value item;
    if (gf_json_kind_of(object) != GF_JSON_OBJECT) return damaged(err);
    p->labels = gf_arena_alloc(&p->memory, count(object) * sizeof *p->labels);
    if (!p->labels) return gf_fail_memory(err, "pins");
    for (gf_json_iterator it = gf_json_items(object); gf_json_next(&it, &name, &item);) {
        uint64_t id;
        if (!gf_number_read(name, &id) || id == 0 || id > UINT32_MAX ||
            gf_json_kind_of(item) != GF_JSON_STRING)
            return damaged(err);
        gf_slice label = gf_arena_copy(&p->memory, gf_json_get_string(item));
        if (!label.ptr) return gf_fail_memory(err, "pins");
        p->labels[p->n_labels++] = (gf_pinned_label){(uint32_t)id, label};
    }
    return GF_OK;
}

static gf_status parse(gf_json_parser *parser, gf_slice column, gf_json_value *root, gf_error *err)
{
    gf_status st = gf_json_parse_copy(parser, column, root, err);
    if (st != GF_OK && st != GF_EINVAL) return st;
    return st == GF_OK && gf_json_kind_of(*root) == GF_JSON_OBJECT ? GF_OK : damaged(err);
}

static gf_status read_one(gf_json_value root, gf_slice configuration, gf_pins *p, gf_error *err)
{
    gf_slice name;
    gf_json_value own, part;
    gf_status st = GF_OK;
    for (gf_json_iterator it = gf_json_items(root);
         st == GF_OK && gf_json_next(&it, &name, &own);) {
        if (!gf_slice_equal(name, configuration)) continue;
        if (gf_json_kind_of(own) != GF_JSON_OBJECT) return damaged(err);
        if (gf_json_member(own, "builds", &part)) st = read_builds(part, p, err);
        if (st == GF_OK && gf_json_member(own, "labels", &part)) st = read_labels(part, p, err);
    }
    return st;
}

gf_status gf_pins_read(gf_slice column, gf_slice configuration, gf_pins *pins, gf_error *err)
{
    gf_json_parser *parser;
    gf_json_value root;
    gf_pins p = {0};
    if (column.len == 0) {
        *pins = p;
        return GF_OK;
    }
    gf_status st = gf_json_parser_create(&parser, err);
    if (st != GF_OK) return st;
    st = parse(parser, column, &root, err);
    if (st == GF_OK) st = read_one(root, configuration, &p, err);
    gf_json_parser_free(parser);
    if (st == GF_OK)
        *pins = p;
    else
        gf_pins_release(&p);
    return st;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_one(gf_json_writer *w, gf_slice configuration, const gf_pins *p)
{
    if (p->n_builds == 0 && p->n_labels == 0) return;
    gf_json_key_slice(w, configuration);
    gf_json_begin(w, '{');
    gf_json_key(w, "builds");
    gf_json_begin(w, '[');
    for (size_t i = 0; i < p->n_builds; i++)
        gf_json_uint(w, (uint64_t)p->builds[i]);
    gf_json_end(w, ']');
    gf_json_key(w, "labels");
    gf_json_begin(w, '{');
    for (size_t i = 0; i < p->n_labels; i++) {
        char id[16];
        snprintf(id, sizeof id, "%" PRIu32, p->labels[i].cluster);
        gf_json_put_string(w, id, p->labels[i].label);
    }
    gf_json_end(w, '}');
    gf_json_end(w, '}');
}

static gf_status copy_others(gf_slice before, gf_slice configuration, gf_json_writer *w,
                             gf_error *err)
{
    gf_json_parser *parser;
    gf_json_value root, own;
    gf_slice name;
    if (before.len == 0) return GF_OK;
    gf_status st = gf_json_parser_create(&parser, err);
    if (st != GF_OK) return st;
    st = parse(parser, before, &root, err);
    gf_json_iterator it = {0};
    if (st == GF_OK) it = gf_json_items(root);
    while (st == GF_OK && gf_json_next(&it, &name, &own)) {
        gf_buffer text = {0};
        if (gf_slice_equal(name, configuration)) continue;
        st = gf_json_write(own, &text, err);
        gf_json_key_slice(w, name);
        gf_json_raw(w, gf_buffer_view(&text));
        gf_buffer_release(&text);
    }
    gf_json_parser_free(parser);
    return st;
}

gf_status gf_pins_write(gf_slice before, gf_slice configuration, const gf_pins *pins,
                        gf_buffer *after, gf_error *err)
{
    gf_json_writer w = gf_json_writer_to(after);
    gf_json_begin(&w, '{');
    gf_status st = copy_others(before, configuration, &w, err);
    write_one(&w, configuration, pins);
    gf_json_end(&w, '}');
    return st == GF_OK ? gf_buffer_check(after, err) : st;
}

/* ---- which builds stay ----------------------------------------------------------------------- */

gf_status gf_pins_mark_builds(gf_store *s, gf_slice configuration_key, size_t keep, int64_t served,
                              const gf_pins *pins, gf_batch *batch, gf_buffer *marked,
                              gf_error *err)
{
    int64_t *builds;
    size_t n;
    gf_buffer key = {0};
    gf_status st = gf_builds_list(s, NULL, configuration_key, &builds, &n, err);
    if (st != GF_OK) return st;
    for (size_t i = keep; i < n && st == GF_OK; i++) {
        if (builds[i] == served || (pins && gf_pins_have_build(pins, builds[i]))) continue;
        gf_buffer_reset(&key);
        gf_buffer_slice(&key, configuration_key);
        gf_key_u64(&key, (uint64_t)builds[i]);
        st = gf_buffer_check(&key, err);
        gf_column columns[] = {{GF_SLICE("state"), GF_SLICE("dropping")}};
        if (st == GF_OK)
            gf_batch_replace(batch, s->tables.builds, gf_buffer_view(&key), GF_BUILDS_PROGRESS,
                             columns, 1, 0);
        gf_buffer_string(marked, gf_buffer_view(&key));
        if (st == GF_OK) st = gf_buffer_check(marked, err);
    }
    gf_free(builds);
    gf_buffer_release(&key);
    return st;
}
