#include "engine/config/pins.h"

#include "base/json/json.h"
#include "base/json/writer.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "engine/store/builds.h"
#include "engine/store/delete.h"

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

static const gf_pinned_label *find_label(const gf_pins *p, uint32_t cluster)
{
    for (size_t i = 0; i < p->n_labels; i++)
        if (p->labels[i].cluster == cluster) return &p->labels[i];
    return NULL;
}

const gf_slice *gf_pins_kept_label(const gf_pins *p, uint32_t cluster)
{
    const gf_pinned_label *found = find_label(p, cluster);
    return found ? &found->label : NULL;
}

const gf_slice *gf_pins_label(const gf_pins *p, uint32_t cluster)
{
    const gf_pinned_label *found = find_label(p, cluster);
    return found && !found->overruled ? &found->label : NULL;
}

uint32_t gf_pins_overruler(const gf_pins *p, uint32_t cluster)
{
    const gf_pinned_label *found = find_label(p, cluster);
    for (size_t i = p->n_labels; found && found->overruled && i-- > 0;)
        if (gf_utf8_same_letters(p->labels[i].label, found->label)) return p->labels[i].cluster;
    return 0;
}

static bool has_id(const uint32_t *ids, size_t n, uint32_t cluster)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == cluster) return true;
    return false;
}

bool gf_pins_hide(const gf_pins *p, uint32_t cluster)
{
    return has_id(p->hidden, p->n_hidden, cluster);
}

bool gf_pins_lock(const gf_pins *p, uint32_t cluster)
{
    return has_id(p->locked, p->n_locked, cluster);
}

const gf_cluster_state *gf_pins_state(const gf_pins *p, uint32_t cluster)
{
    for (size_t i = 0; i < p->n_states; i++)
        if (p->states[i].cluster == cluster) return &p->states[i].state;
    return NULL;
}

/*
 * Labels of clusters that are gone are kept, as these may come back. Where another was given the same label
 * meanwhile, in whatever case, two clusters of a build would be called so.
 */
static gf_status mark_overruled(gf_pins *p, gf_error *err)
{
    gf_strings later = {0};
    gf_buffer letters = {0};
    gf_status st = GF_OK;
    for (size_t i = p->n_labels; i-- > 0 && st == GF_OK;) {
        uint32_t number;
        bool is_new = true;
        gf_buffer_reset(&letters);
        gf_utf8_fold(p->labels[i].label, &letters);
        st = gf_buffer_check(&letters, err);
        if (st == GF_OK)
            st = gf_strings_add(&later, gf_buffer_view(&letters), &number, &is_new, err);
        p->labels[i].overruled = !is_new;
    }
    gf_strings_release(&later);
    gf_buffer_release(&letters);
    return st;
}

/* ---- changing -------------------------------------------------------------------------------- */

static gf_status set_id(gf_pins *p, uint32_t **ids, size_t *n, uint32_t cluster, bool there,
                        gf_error *err)
{
    uint32_t *after = gf_arena_alloc(&p->memory, (*n + 1) * sizeof *after);
    size_t m = 0;
    if (!after) return gf_fail_memory(err, "pins");
    for (size_t i = 0; i < *n; i++)
        if ((*ids)[i] != cluster) after[m++] = (*ids)[i];
    if (there) after[m++] = cluster;
    *ids = after;
    *n = m;
    return GF_OK;
}

gf_status gf_pins_set_hidden(gf_pins *p, uint32_t cluster, bool hidden, gf_error *err)
{
    return set_id(p, &p->hidden, &p->n_hidden, cluster, hidden, err);
}

gf_status gf_pins_set_locked(gf_pins *p, uint32_t cluster, bool locked, gf_error *err)
{
    return set_id(p, &p->locked, &p->n_locked, cluster, locked, err);
}

gf_status gf_pins_set_label(gf_pins *p, uint32_t cluster, gf_slice label, gf_error *err)
{
    gf_pinned_label *after = gf_arena_alloc(&p->memory, (p->n_labels + 1) * sizeof *after);
    size_t n = 0;
    gf_slice copy = gf_arena_copy(&p->memory, label);
    if (!after || !copy.ptr) return gf_fail_memory(err, "pins");
    for (size_t i = 0; i < p->n_labels; i++)
        if (p->labels[i].cluster != cluster) after[n++] = p->labels[i];
    if (label.len) after[n++] = (gf_pinned_label){.cluster = cluster, .label = copy};
    p->labels = after;
    p->n_labels = n;
    return mark_overruled(p, err);
}

static gf_slice *state_member(gf_cluster_state *state, size_t i)
{
    gf_slice *const members[] = {&state->status, &state->owner, &state->link, &state->note};
    return i < sizeof members / sizeof members[0] ? members[i] : NULL;
}

static const char *const state_names[] = {"status", "owner", "link", "note"};

gf_status gf_pins_set_state(gf_pins *p, uint32_t cluster, const gf_cluster_state *state,
                            gf_error *err)
{
    gf_pinned_state *after = gf_arena_alloc(&p->memory, (p->n_states + 1) * sizeof *after);
    gf_cluster_state copy = *state;
    size_t n = 0;
    bool any = false;
    if (!after) return gf_fail_memory(err, "pins");
    for (size_t i = 0; i < p->n_states; i++)
        if (p->states[i].cluster != cluster) after[n++] = p->states[i];
    for (size_t i = 0; state_member(&copy, i); i++) {
        gf_slice *value = state_member(&copy, i);
        any = any || value->len;
        *value = gf_arena_copy(&p->memory, *value);
        if (!value->ptr) return gf_fail_memory(err, "pins");
    }
    if (any) after[n++] = (gf_pinned_state){cluster, copy};
    p->states = after;
    p->n_states = n;
    return GF_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

static gf_status damaged(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "table collections: pins are damaged");
}

/* Above any number that is kept: up to it a double has each. */
#define MOST_EXACT 9007199254740992.0

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
        double build = gf_json_is_number(item) ? gf_json_number(item) : -1;
        if (!(build >= 0 && build < MOST_EXACT)) return damaged(err);
        p->builds[p->n_builds++] = (int64_t)build;
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
        p->labels[p->n_labels++] = (gf_pinned_label){.cluster = (uint32_t)id, .label = label};
    }
    return mark_overruled(p, err);
}

static gf_status read_ids(gf_json_value list, gf_pins *p, uint32_t **ids, size_t *n, gf_error *err)
{
    gf_slice name;
    gf_json_value item;
    if (gf_json_kind_of(list) != GF_JSON_ARRAY) return damaged(err);
    *ids = gf_arena_alloc(&p->memory, count(list) * sizeof **ids);
    if (!*ids) return gf_fail_memory(err, "pins");
    for (gf_json_iterator it = gf_json_items(list); gf_json_next(&it, &name, &item);) {
        double id = gf_json_is_number(item) ? gf_json_number(item) : 0;
        if (!(id >= 1 && id <= UINT32_MAX)) return damaged(err);
        (*ids)[(*n)++] = (uint32_t)id;
    }
    return GF_OK;
}

static gf_status read_states(gf_json_value object, gf_pins *p, gf_error *err)
{
    gf_slice name;
    gf_json_value item, part;
    if (gf_json_kind_of(object) != GF_JSON_OBJECT) return damaged(err);
    p->states = gf_arena_alloc(&p->memory, count(object) * sizeof *p->states);
    if (!p->states) return gf_fail_memory(err, "pins");
    for (gf_json_iterator it = gf_json_items(object); gf_json_next(&it, &name, &item);) {
        uint64_t id;
        gf_pinned_state s = {.cluster = 0};
        if (!gf_number_read(name, &id) || id == 0 || id > UINT32_MAX ||
            gf_json_kind_of(item) != GF_JSON_OBJECT)
            return damaged(err);
        for (size_t i = 0; state_member(&s.state, i); i++) {
            gf_slice *value = state_member(&s.state, i);
            *value = GF_SLICE("");
            if (!gf_json_member(item, state_names[i], &part)) continue;
            if (gf_json_kind_of(part) != GF_JSON_STRING) return damaged(err);
            *value = gf_arena_copy(&p->memory, gf_json_get_string(part));
            if (!value->ptr) return gf_fail_memory(err, "pins");
        }
        s.cluster = (uint32_t)id;
        p->states[p->n_states++] = s;
    }
    return GF_OK;
}

static gf_status read_number(gf_json_value v, uint64_t *out, gf_error *err)
{
    double n = gf_json_is_number(v) ? gf_json_number(v) : -1;
    if (!(n >= 0 && n < MOST_EXACT)) return damaged(err);
    *out = (uint64_t)n;
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
        if (st == GF_OK && gf_json_member(own, "hidden", &part))
            st = read_ids(part, p, &p->hidden, &p->n_hidden, err);
        if (st == GF_OK && gf_json_member(own, "locked", &part))
            st = read_ids(part, p, &p->locked, &p->n_locked, err);
        if (st == GF_OK && gf_json_member(own, "states", &part)) st = read_states(part, p, err);
        if (st == GF_OK && gf_json_member(own, "edited", &part))
            st = read_number(part, &p->edited, err);
        if (st == GF_OK && gf_json_member(own, "owed", &part))
            st = read_number(part, &p->owed, err);
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

static void write_ids(gf_json_writer *w, const char *name, const uint32_t *ids, size_t n)
{
    if (n == 0) return;
    gf_json_key(w, name);
    gf_json_begin(w, '[');
    for (size_t i = 0; i < n; i++)
        gf_json_uint(w, ids[i]);
    gf_json_end(w, ']');
}

static void write_states(gf_json_writer *w, const gf_pins *p)
{
    if (p->n_states == 0) return;
    gf_json_key(w, "states");
    gf_json_begin(w, '{');
    for (size_t s = 0; s < p->n_states; s++) {
        gf_cluster_state state = p->states[s].state;
        char id[16];
        snprintf(id, sizeof id, "%" PRIu32, p->states[s].cluster);
        gf_json_key(w, id);
        gf_json_begin(w, '{');
        for (size_t i = 0; state_member(&state, i); i++)
            if (state_member(&state, i)->len)
                gf_json_put_string(w, state_names[i], *state_member(&state, i));
        gf_json_end(w, '}');
    }
    gf_json_end(w, '}');
}

static void write_one(gf_json_writer *w, gf_slice configuration, const gf_pins *p)
{
    if (p->n_builds == 0 && p->n_labels == 0 && p->edited == 0) return;
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
    write_ids(w, "hidden", p->hidden, p->n_hidden);
    write_ids(w, "locked", p->locked, p->n_locked);
    write_states(w, p);
    if (p->edited) gf_json_put_uint(w, "edited", p->edited);
    if (p->owed) gf_json_put_uint(w, "owed", p->owed);
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
        if (st == GF_OK) gf_delete_mark_build(s, gf_buffer_view(&key), batch);
        gf_buffer_string(marked, gf_buffer_view(&key));
        if (st == GF_OK) st = gf_buffer_check(marked, err);
    }
    gf_free(builds);
    gf_buffer_release(&key);
    return st;
}
