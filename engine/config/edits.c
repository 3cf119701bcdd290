#include "engine/config/edits.h"

#include "base/grow.h"
#include "base/json/json.h"
#include "base/json/writer.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "engine/rows/scan.h"

#include <inttypes.h>

static const char *const kinds[] = {
    [GF_EDIT_LABEL] = "rename", [GF_EDIT_HIDE] = "hide",   [GF_EDIT_LOCK] = "lock",
    [GF_EDIT_STATE] = "set",    [GF_EDIT_MERGE] = "merge", [GF_EDIT_SPLIT] = "split",
    [GF_EDIT_MOVE] = "move",    [GF_EDIT_KEEP] = "keep",   [GF_EDIT_TOPIC] = "topic"};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

const char *gf_edit_kind_name(gf_edit_kind kind)
{
    return kinds[kind];
}

void gf_edits_release(gf_kept_edits *e)
{
    gf_arena_release(&e->memory);
    gf_free(e->at);
    gf_free(e->back);
    *e = (gf_kept_edits){0};
}

uint64_t gf_edits_last_number(const gf_kept_edits *edits, uint64_t pinned)
{
    uint64_t last = edits->n ? edits->at[edits->n - 1].edit.number : 0;
    return last > pinned ? last : pinned;
}

uint32_t gf_edits_called_after(const gf_kept_edits *edits, size_t at, uint32_t id)
{
    for (size_t i = at + 1; i < edits->n; i++) {
        const gf_edit *x = &edits->at[i].edit;
        for (size_t o = 0; o < x->n_others && x->kind == GF_EDIT_MERGE; o++)
            if (x->others[o] == id) {
                id = x->cluster;
                break;
            }
    }
    return id;
}

/* ---- topics ---------------------------------------------------------------------------------- */

bool gf_edits_topic_holds(const gf_kept_edits *edits, size_t at)
{
    const gf_edit *e = &edits->at[at].edit;
    bool holds = e->kind == GF_EDIT_TOPIC && !e->off;
    for (size_t i = at + 1; i < edits->n && holds; i++) {
        const gf_edit *later = &edits->at[i].edit;
        holds = later->kind != GF_EDIT_TOPIC || !gf_utf8_same_letters(later->text, e->text);
    }
    return holds;
}

size_t gf_edits_find_topic(const gf_kept_edits *edits, gf_slice name)
{
    size_t at = 0;
    while (at < edits->n && !(gf_utf8_same_letters(edits->at[at].edit.text, name) &&
                              gf_edits_topic_holds(edits, at)))
        at++;
    return at;
}

size_t gf_edits_topic_of(const gf_kept_edits *edits, uint32_t cluster)
{
    size_t at = 0;
    while (at < edits->n &&
           (!cluster || edits->at[at].edit.cluster != cluster || !gf_edits_topic_holds(edits, at)))
        at++;
    return at;
}

gf_status gf_edits_list_topics(const gf_kept_edits *edits, gf_buffer *out, gf_error *err)
{
    const char *between = "";
    for (size_t i = 0; i < edits->n; i++) {
        if (!gf_edits_topic_holds(edits, i)) continue;
        gf_buffer_format(out, "%s%" PRIu64, between, edits->at[i].edit.number);
        between = ",";
    }
    return gf_buffer_check(out, err);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* The key of the collection's row, and a qualifier. */
typedef struct edit_key {
    gf_buffer row, qualifier;
} edit_key;

static gf_status make_key(edit_key *k, gf_place where, gf_slice configuration, gf_error *err)
{
    gf_tables_collection_key(&k->row, where.name_space, where.collection);
    gf_key_string(&k->qualifier, configuration);
    gf_status st = gf_buffer_check(&k->row, err);
    return st == GF_OK ? gf_buffer_check(&k->qualifier, err) : st;
}

static gf_status make_number_key(edit_key *k, gf_place where, gf_slice configuration,
                                 uint64_t number, gf_error *err)
{
    gf_status st = make_key(k, where, configuration, err);
    gf_buffer_u64be(&k->qualifier, number);
    return st == GF_OK ? gf_buffer_check(&k->qualifier, err) : st;
}

static void release_key(edit_key *k)
{
    gf_buffer_release(&k->row);
    gf_buffer_release(&k->qualifier);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_text(gf_json_writer *w, const char *name, gf_slice text)
{
    if (text.len) gf_json_put_string(w, name, text);
}

static void put_state(gf_json_writer *w, const char *name, const gf_cluster_state *s)
{
    gf_json_key(w, name);
    gf_json_begin(w, '{');
    put_text(w, "status", s->status);
    put_text(w, "owner", s->owner);
    put_text(w, "link", s->link);
    put_text(w, "note", s->note);
    gf_json_end(w, '}');
}

static void put_was(gf_json_writer *w, const gf_edit *e, const gf_edit_was *was)
{
    if (e->kind == GF_EDIT_LABEL) put_text(w, "was", was->label);
    if (e->kind == GF_EDIT_HIDE || e->kind == GF_EDIT_LOCK) gf_json_put_bool(w, "was", was->flag);
    if (e->kind == GF_EDIT_STATE) put_state(w, "was", &was->state);
}

static void write_edit(const gf_kept_edit *kept, gf_buffer *out)
{
    const gf_edit *e = &kept->edit;
    gf_json_writer w = gf_json_writer_to(out);
    gf_json_begin(&w, '{');
    gf_json_put_str(&w, "kind", kinds[e->kind]);
    gf_json_put_uint(&w, "cluster", e->cluster);
    if (e->off) gf_json_put_bool(&w, "off", true);
    if (e->n_others) {
        gf_json_key(&w, "others");
        gf_json_begin(&w, '[');
        for (size_t i = 0; i < e->n_others; i++)
            gf_json_uint(&w, e->others[i]);
        gf_json_end(&w, ']');
    }
    put_text(&w, "document", e->document);
    put_text(&w, "text", e->text);
    put_text(&w, "words", e->words);
    put_text(&w, "field", e->field);
    if (e->like) gf_json_put_uint(&w, "like", e->like);
    if (e->kind == GF_EDIT_STATE) put_state(&w, "state", &e->state);
    put_was(&w, e, &kept->was);
    put_text(&w, "by", e->by);
    put_text(&w, "reason", e->reason);
    gf_json_put_uint(&w, "when", (uint64_t)e->when);
    gf_json_put_uint(&w, "build", (uint64_t)e->build);
    put_text(&w, "lost", e->lost);
    if (kept->taken_back) gf_json_put_bool(&w, "taken_back", true);
    gf_json_end(&w, '}');
}

typedef struct reading {
    gf_kept_edits *out;
    gf_json_parser *parser;
    size_t before; /* bytes of a qualifier before the number */
    bool good;     /* memory was not short */
} reading;

static gf_slice take_text(reading *r, gf_json_value object, const char *name)
{
    gf_json_value v;
    gf_slice text = {"", 0};
    if (!gf_json_member(object, name, &v) || gf_json_kind_of(v) != GF_JSON_STRING) return text;
    text = gf_arena_copy(&r->out->memory, gf_json_get_string(v));
    r->good = r->good && text.ptr;
    return text;
}

static gf_cluster_state take_state(reading *r, gf_json_value object, const char *name)
{
    gf_json_value v;
    gf_cluster_state s = {{"", 0}, {"", 0}, {"", 0}, {"", 0}};
    if (!gf_json_member(object, name, &v) || gf_json_kind_of(v) != GF_JSON_OBJECT) return s;
    s.status = take_text(r, v, "status");
    s.owner = take_text(r, v, "owner");
    s.link = take_text(r, v, "link");
    s.note = take_text(r, v, "note");
    return s;
}

static bool take_number(gf_json_value object, const char *name, uint64_t most, uint64_t *number)
{
    gf_json_value v;
    if (!gf_json_member(object, name, &v) || gf_json_kind_of(v) != GF_JSON_INT) return false;
    *number = (uint64_t)gf_json_get_int(v);
    return gf_json_get_int(v) >= 0 && *number <= most;
}

static bool take_flag(gf_json_value object, const char *name)
{
    gf_json_value v;
    return gf_json_member(object, name, &v) && gf_json_kind_of(v) == GF_JSON_BOOL &&
           gf_json_get_bool(v);
}

static bool take_others(reading *r, gf_json_value object, gf_edit *e)
{
    gf_json_value list, item;
    gf_slice name;
    size_t n = 0;
    if (!gf_json_member(object, "others", &list)) return true;
    if (gf_json_kind_of(list) != GF_JSON_ARRAY) return false;
    for (gf_json_iterator it = gf_json_items(list); gf_json_next(&it, &name, &item);)
        n++;
    uint32_t *others = gf_arena_alloc(&r->out->memory, (n + 1) * sizeof *others);
    r->good = r->good && others;
    for (gf_json_iterator it = gf_json_items(list); others && gf_json_next(&it, &name, &item);) {
        double id = gf_json_is_number(item) ? gf_json_number(item) : 0;
        if (!(id >= 1 && id <= UINT32_MAX)) return false;
        others[e->n_others++] = (uint32_t)id;
    }
    e->others = others;
    return true;
}

static bool take_kind(gf_slice word, gf_edit_kind *kind)
{
    for (int k = 0; k < KINDS; k++)
        if (gf_slice_equal(word, gf_slice_str(kinds[k]))) {
            *kind = (gf_edit_kind)k;
            return true;
        }
    return false;
}

static bool take_edit(reading *r, gf_json_value root, gf_kept_edit *kept)
{
    gf_edit *e = &kept->edit;
    uint64_t cluster = 0, when = 0, build = 0;
    if (gf_json_kind_of(root) != GF_JSON_OBJECT || !take_kind(take_text(r, root, "kind"), &e->kind))
        return false;
    bool is_topic = e->kind == GF_EDIT_TOPIC;
    bool good = take_number(root, "cluster", UINT32_MAX, &cluster) && (cluster || is_topic) &&
                take_number(root, "when", INT64_MAX, &when) &&
                take_number(root, "build", INT64_MAX, &build) && take_others(r, root, e);
    e->cluster = (uint32_t)cluster;
    e->when = (int64_t)when;
    e->build = (int64_t)build;
    e->off = take_flag(root, "off");
    e->document = take_text(r, root, "document");
    e->text = take_text(r, root, "text");
    e->words = take_text(r, root, "words");
    e->field = take_text(r, root, "field");
    (void)take_number(root, "like", INT64_MAX, &e->like);
    e->state = take_state(r, root, "state");
    e->by = take_text(r, root, "by");
    e->reason = take_text(r, root, "reason");
    e->lost = take_text(r, root, "lost");
    kept->was = (gf_edit_was){.flag = take_flag(root, "was"),
                              .label = take_text(r, root, "was"),
                              .state = take_state(r, root, "was")};
    kept->taken_back = take_flag(root, "taken_back");
    return good;
}

static gf_status damaged(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "table collections: an edit is damaged");
}

static gf_status read_cell(void *context, const gf_row *row, gf_error *err)
{
    reading *r = context;
    gf_kept_edits *out = r->out;
    gf_json_value root;
    gf_kept_edit kept = {.edit = {.number = 0}};
    gf_slice number = row->cells[0].qualifier;
    if (number.len != r->before + 8) return damaged(err);
    kept.edit.number = gf_read_u64be(number.ptr + r->before);
    gf_status st = gf_json_parse_copy(r->parser, row->cells[0].value, &root, err);
    if (st == GF_EINVAL || (st == GF_OK && !take_edit(r, root, &kept) && r->good))
        return damaged(err);
    if (st != GF_OK) return st;
    bool room = kept.taken_back
                    ? gf_grow(&out->back, &out->back_capacity, out->n_back + 1, sizeof *out->back)
                    : gf_grow(&out->at, &out->capacity, out->n + 1, sizeof *out->at);
    if (!r->good || !room) return gf_fail_memory(err, "edits");
    if (kept.taken_back)
        out->back[out->n_back++] = kept;
    else
        out->at[out->n++] = kept;
    return GF_OK;
}

gf_status gf_edits_read(gf_store *s, const gf_snapshot *snapshot, gf_place where,
                        gf_slice configuration, gf_kept_edits *out, gf_error *err)
{
    edit_key k = {.row = {0}};
    reading r = {.out = out, .good = true};
    gf_status st = make_key(&k, where, configuration, err);
    if (st == GF_OK) st = gf_json_parser_create(&r.parser, err);
    r.before = k.qualifier.len;
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = snapshot, .family = GF_COLLECTIONS_EDITS,
                                        .prefix = gf_buffer_view(&k.row),
                                        .qualifier_prefix = gf_buffer_view(&k.qualifier));
    if (st == GF_OK) st = gf_scan_each(s->tables.collections, &o, read_cell, &r, err);
    gf_json_parser_free(r.parser);
    release_key(&k);
    if (st != GF_OK) gf_edits_release(out);
    return st;
}

/* ---- cells ----------------------------------------------------------------------------------- */

gf_status gf_edits_put(gf_store *s, gf_place where, gf_slice configuration,
                       const gf_kept_edit *edit, gf_batch *batch, gf_error *err)
{
    edit_key k = {.row = {0}};
    gf_buffer json = {0};
    write_edit(edit, &json);
    gf_status st = make_number_key(&k, where, configuration, edit->edit.number, err);
    if (st == GF_OK) st = gf_buffer_check(&json, err);
    if (st == GF_OK)
        gf_batch_put(batch, s->tables.collections, gf_buffer_view(&k.row), GF_COLLECTIONS_EDITS,
                     gf_buffer_view(&k.qualifier), gf_buffer_view(&json), 0);
    gf_buffer_release(&json);
    release_key(&k);
    return st;
}

gf_status gf_edits_put_side(gf_store *s, gf_place where, gf_slice configuration, uint64_t number,
                            uint32_t side, gf_slice bytes, gf_batch *batch, gf_error *err)
{
    edit_key k = {.row = {0}};
    gf_status st = make_number_key(&k, where, configuration, number, err);
    gf_buffer_u32be(&k.qualifier, side);
    if (st == GF_OK) st = gf_buffer_check(&k.qualifier, err);
    if (st == GF_OK)
        gf_batch_put(batch, s->tables.collections, gf_buffer_view(&k.row), GF_COLLECTIONS_WITNESSES,
                     gf_buffer_view(&k.qualifier), bytes, 0);
    release_key(&k);
    return st;
}

gf_status gf_edits_read_side(gf_store *s, const gf_snapshot *snapshot, gf_place where,
                             gf_slice configuration, uint64_t number, uint32_t side, gf_row *row,
                             gf_error *err)
{
    edit_key k = {.row = {0}};
    gf_status st = make_number_key(&k, where, configuration, number, err);
    gf_buffer_u32be(&k.qualifier, side);
    if (st == GF_OK) st = gf_buffer_check(&k.qualifier, err);
    if (st == GF_OK)
        st = gf_table_get_cell(s->tables.collections, snapshot, gf_buffer_view(&k.row),
                               GF_COLLECTIONS_WITNESSES, gf_buffer_view(&k.qualifier), 1, row, err);
    release_key(&k);
    return st;
}

gf_status gf_edits_put_before(gf_store *s, gf_place where, gf_slice configuration, uint64_t number,
                              gf_slice bytes, gf_batch *batch, gf_error *err)
{
    edit_key k = {.row = {0}};
    gf_status st = make_number_key(&k, where, configuration, number, err);
    if (st == GF_OK)
        gf_batch_put(batch, s->tables.collections, gf_buffer_view(&k.row), GF_COLLECTIONS_BEFORE,
                     gf_buffer_view(&k.qualifier), bytes, 0);
    release_key(&k);
    return st;
}

gf_status gf_edits_read_before(gf_store *s, gf_place where, gf_slice configuration, uint64_t number,
                               gf_row *row, gf_error *err)
{
    edit_key k = {.row = {0}};
    gf_status st = make_number_key(&k, where, configuration, number, err);
    if (st == GF_OK)
        st = gf_table_get_cell(s->tables.collections, NULL, gf_buffer_view(&k.row),
                               GF_COLLECTIONS_BEFORE, gf_buffer_view(&k.qualifier), 1, row, err);
    release_key(&k);
    return st;
}

gf_status gf_edits_delete_before(gf_store *s, gf_place where, gf_slice configuration,
                                 uint64_t number, gf_batch *batch, gf_error *err)
{
    edit_key k = {.row = {0}};
    gf_status st = make_number_key(&k, where, configuration, number, err);
    if (st == GF_OK)
        gf_batch_delete_cell(batch, s->tables.collections, gf_buffer_view(&k.row),
                             GF_COLLECTIONS_BEFORE, gf_buffer_view(&k.qualifier));
    release_key(&k);
    return st;
}

/* ---- forgetting ------------------------------------------------------------------------------ */

/* Whether a document is there; the key is scratch. */
static gf_status find_living(gf_store *s, gf_place where, gf_slice id, gf_buffer *key, bool *there,
                             gf_error *err)
{
    gf_buffer_reset(key);
    gf_tables_document_key(key, where.name_space, where.collection, id);
    gf_status st = gf_buffer_check(key, err);
    return st == GF_OK ? gf_scan_finds(s->tables.documents, NULL, GF_DOCUMENTS_MAIN,
                                       gf_buffer_view(key), there, err)
                       : st;
}

gf_status gf_edits_keep_living(gf_store *s, gf_place where, gf_slice ids, gf_buffer *left,
                               bool *any, gf_error *err)
{
    gf_buffer key = {0};
    gf_slice id;
    gf_status st = GF_OK;
    while (st == GF_OK && gf_slice_take_string(&ids, &id)) {
        bool there = false;
        st = find_living(s, where, id, &key, &there, err);
        if (there) gf_buffer_string(left, id);
        *any = *any || !there;
    }
    gf_buffer_release(&key);
    return st == GF_OK ? gf_buffer_check(left, err) : st;
}

/* In place of an id that goes an empty one stays: the number of all tells whether the group had more documents. */
static gf_status mark_gone(gf_store *s, gf_place where, gf_slice ids, gf_buffer *left, bool *any,
                           gf_error *err)
{
    gf_buffer key = {0};
    gf_slice id;
    gf_status st = GF_OK;
    while (st == GF_OK && gf_slice_take_string(&ids, &id)) {
        bool there = id.len == 0;
        if (!there) st = find_living(s, where, id, &key, &there, err);
        gf_buffer_string(left, there ? id : GF_SLICE(""));
        *any = *any || !there;
    }
    gf_buffer_release(&key);
    return st == GF_OK ? gf_buffer_check(left, err) : st;
}

static gf_status forget_side(gf_store *s, gf_place where, gf_slice configuration, uint64_t number,
                             uint32_t side, gf_batch *batch, gf_error *err)
{
    gf_row row = {0};
    gf_buffer left = {0};
    bool any = false;
    gf_status st = gf_edits_read_side(s, NULL, where, configuration, number, side, &row, err);
    if (st == GF_OK) st = mark_gone(s, where, row.cells[0].value, &left, &any, err);
    if (st == GF_OK && any)
        st = gf_edits_put_side(s, where, configuration, number, side, gf_buffer_view(&left), batch,
                               err);
    gf_row_release(&row);
    gf_buffer_release(&left);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

gf_status gf_edits_forget_witnesses(gf_store *s, gf_place where, gf_slice configuration,
                                    const gf_edit *edit, gf_batch *batch, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t side = 0; side < gf_edit_sides(edit) && st == GF_OK; side++)
        st = forget_side(s, where, configuration, edit->number, (uint32_t)side, batch, err);
    return st;
}

/* ---- deleting -------------------------------------------------------------------------------- */

typedef struct cell_deletion {
    gf_table *table;
    unsigned family;
    gf_batch *batch;
} cell_deletion;

static gf_status delete_cell(void *context, const gf_row *row, gf_error *err)
{
    const cell_deletion *d = context;
    (void)err;
    gf_batch_delete_cell(d->batch, d->table, row->key, d->family, row->cells[0].qualifier);
    return GF_OK;
}

/* Delete the cells of all three families whose qualifier begins so. */
static gf_status delete_cells(gf_store *s, const edit_key *k, gf_batch *batch, gf_error *err)
{
    static const unsigned families[] = {GF_COLLECTIONS_EDITS, GF_COLLECTIONS_WITNESSES,
                                        GF_COLLECTIONS_BEFORE};
    gf_status st = GF_OK;
    for (size_t i = 0; i < 3 && st == GF_OK; i++) {
        cell_deletion d = {s->tables.collections, families[i], batch};
        gf_scan_options o =
            GF_SCAN_OPTIONS(.family = families[i], .prefix = gf_buffer_view(&k->row),
                            .qualifier_prefix = gf_buffer_view(&k->qualifier), .keys_only = true);
        st = gf_scan_each(s->tables.collections, &o, delete_cell, &d, err);
    }
    return st;
}

gf_status gf_edits_delete(gf_store *s, gf_place where, gf_slice configuration, const gf_edit *edit,
                          gf_batch *batch, gf_error *err)
{
    edit_key k = {.row = {0}};
    gf_status st = make_number_key(&k, where, configuration, edit->number, err);
    if (st == GF_OK) st = delete_cells(s, &k, batch, err);
    release_key(&k);
    return st;
}

gf_status gf_edits_delete_all(gf_store *s, gf_place where, gf_slice configuration, gf_batch *batch,
                              gf_error *err)
{
    edit_key k = {.row = {0}};
    gf_status st = make_key(&k, where, configuration, err);
    if (st == GF_OK) st = delete_cells(s, &k, batch, err);
    release_key(&k);
    return st;
}
