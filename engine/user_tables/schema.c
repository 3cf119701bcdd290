/*
 * Schemas of users' tables: JSON, checked member by member, and written back in one form.
 *
 *     {"key": [{"name": "user", "type": "text"}, {"name": "sha1", "type": "raw", "width": 20}],
 *      "families": [{"name": "info", "layout": "packed", "versions": 1, "ttl": 0,
 *                    "compression": "none", "type": "text", "columns": {"age": "int64"}},
 *                   {"name": "friend", "layout": "wide", "type": "decimal", "qualifier": "text"}]}
 *
 * Unknown members are refused: a misspelt one would else be a setting that does not hold.
 */
#include "engine/user_tables/user_tables_internal.h"

#include "base/json/writer.h"
#include "grouperfish/user_tables.h"
#include "storage/schema.h"

#include <stdio.h>

enum { MOST_NAME = 255, MOST_VERSIONS = 1000000 };

/* The schema being read; messages name the member at hand. */
typedef struct schema_reading {
    gf_arena *memory;
    gf_user_schema *s;
    const char *family; /* whose members are read; "" outside of one */
    gf_error *err;
} schema_reading;

static gf_status bad(schema_reading *r, const char *member, const char *wanted)
{
    return gf_fail(r->err, GF_EINVAL, "schema: %s%s%s%s is not %s", *r->family ? "family " : "",
                   r->family, *r->family ? ": " : "", member, wanted);
}

static gf_status unknown(schema_reading *r, gf_slice name, const char *known)
{
    return gf_fail(r->err, GF_EINVAL, "schema: %s%s%s\"%.*s\" is none of %s",
                   *r->family ? "family " : "", r->family, *r->family ? ": " : "",
                   (int)(name.len < 60 ? name.len : 60), name.ptr, known);
}

static bool is(gf_slice name, const char *word)
{
    return gf_slice_equal(name, gf_slice_str(word));
}

/* ---- members --------------------------------------------------------------------------------- */

static gf_status take_name(schema_reading *r, gf_json_value v, const char *member,
                           const char **name)
{
    if (gf_json_kind_of(v) != GF_JSON_STRING) return bad(r, member, "a name");
    gf_slice s = gf_json_get_string(v);
    if (s.len == 0 || s.len > MOST_NAME || memchr(s.ptr, 0, s.len))
        return bad(r, member, "a name of 1 to 255 bytes");
    gf_slice copy = gf_arena_copy(r->memory, s);
    if (!copy.ptr) return gf_fail_memory(r->err, "a schema");
    *name = copy.ptr;
    return GF_OK;
}

static gf_status take_type(schema_reading *r, gf_json_value v, const char *member, gf_type *type)
{
    if (gf_json_kind_of(v) == GF_JSON_STRING && gf_type_named(gf_json_get_string(v), type))
        return GF_OK;
    return bad(r, member, "one of text, bytes, int64, uint64, decimal, float, json");
}

static gf_status take_number(schema_reading *r, gf_json_value v, const char *member, uint64_t least,
                             uint64_t most, uint64_t *number)
{
    char wanted[64];
    if (gf_json_kind_of(v) == GF_JSON_INT && gf_json_get_int(v) >= 0 &&
        (uint64_t)gf_json_get_int(v) >= least && (uint64_t)gf_json_get_int(v) <= most) {
        *number = (uint64_t)gf_json_get_int(v);
        return GF_OK;
    }
    snprintf(wanted, sizeof wanted, "a number from %llu to %llu", (unsigned long long)least,
             (unsigned long long)most);
    return bad(r, member, wanted);
}

/* One of two words; *second: it is the second. */
static gf_status take_choice(schema_reading *r, gf_json_value v, const char *member,
                             const char *first, const char *other, bool *second)
{
    char wanted[64];
    gf_slice word = gf_json_kind_of(v) == GF_JSON_STRING ? gf_json_get_string(v) : (gf_slice){0};
    *second = is(word, other);
    if (*second || is(word, first)) return GF_OK;
    snprintf(wanted, sizeof wanted, "%s or %s", first, other);
    return bad(r, member, wanted);
}

/* ---- the key --------------------------------------------------------------------------------- */

static gf_status take_part_type(schema_reading *r, gf_json_value v, gf_user_part *part, bool *raw)
{
    gf_slice word = gf_json_kind_of(v) == GF_JSON_STRING ? gf_json_get_string(v) : (gf_slice){0};
    if (gf_user_table_part_named(word, part, raw)) return GF_OK;
    return bad(r, "the type of a key part",
               "one of text, bytes, int64, uint64, int64-desc, uint64-desc, raw");
}

static gf_status take_part(schema_reading *r, gf_json_value v, gf_user_part *part)
{
    gf_json_value member;
    gf_slice name;
    uint64_t width = 0;
    bool raw = false;
    gf_status st = GF_OK;
    *part = (gf_user_part){.type = GF_TYPE_TEXT};
    if (gf_json_kind_of(v) != GF_JSON_OBJECT) return bad(r, "a key part", "an object");
    gf_json_iterator it = gf_json_items(v);
    while (st == GF_OK && gf_json_next(&it, &name, &member)) {
        if (is(name, "name"))
            st = take_name(r, member, "the name of a key part", &part->name);
        else if (is(name, "type"))
            st = take_part_type(r, member, part, &raw);
        else if (is(name, "width"))
            st = take_number(r, member, "width", 1, 255, &width);
        else
            st = unknown(r, name, "name, type, width");
    }
    if (st != GF_OK) return st;
    if (!part->name) return bad(r, "a key part without a name", "allowed");
    if (raw && !width)
        return gf_fail(r->err, GF_EINVAL, "schema: key part %s is raw, and needs a width",
                       part->name);
    if (width && !raw)
        return gf_fail(r->err, GF_EINVAL, "schema: key part %s has a width, and is not raw",
                       part->name);
    part->width = (unsigned)width;
    return GF_OK;
}

static gf_status take_key(schema_reading *r, gf_json_value v)
{
    gf_json_value item;
    gf_user_schema *s = r->s;
    gf_status st = GF_OK;
    if (gf_json_kind_of(v) != GF_JSON_ARRAY) return bad(r, "key", "an array of parts");
    s->schema.n_parts = 0;
    gf_json_iterator it = gf_json_items(v);
    while (st == GF_OK && gf_json_next(&it, NULL, &item)) {
        if (s->schema.n_parts == GF_MAX_PARTS) return bad(r, "key", "of 1 to 8 parts");
        st = take_part(r, item, &s->parts[s->schema.n_parts]);
        for (unsigned i = 0; st == GF_OK && i < s->schema.n_parts; i++)
            if (strcmp(s->parts[i].name, s->parts[s->schema.n_parts].name) == 0)
                return bad(r, s->parts[i].name, "the name of one key part alone");
        s->schema.n_parts += st == GF_OK;
    }
    return st;
}

/* ---- families -------------------------------------------------------------------------------- */

static gf_status take_columns(schema_reading *r, gf_json_value v, unsigned f)
{
    gf_json_value item;
    gf_slice name;
    size_t n = 0;
    gf_status st = GF_OK;
    const char **columns = gf_arena_alloc(r->memory, (GF_MAX_COLUMNS + 1) * sizeof *columns);
    gf_type *types = gf_arena_alloc(r->memory, GF_MAX_COLUMNS * sizeof *types);
    if (!columns || !types) return gf_fail_memory(r->err, "a schema");
    if (gf_json_kind_of(v) != GF_JSON_OBJECT)
        return bad(r, "columns", "an object of names with their types");
    gf_json_iterator it = gf_json_items(v);
    while (st == GF_OK && gf_json_next(&it, &name, &item)) {
        if (n == GF_MAX_COLUMNS) return bad(r, "columns", "of at most 120");
        if (name.len == 0 || name.len > MOST_NAME || memchr(name.ptr, 0, name.len))
            return bad(r, "a column's name", "a name of 1 to 255 bytes");
        columns[n] = gf_arena_copy(r->memory, name).ptr;
        if (!columns[n]) return gf_fail_memory(r->err, "a schema");
        st = take_type(r, item, columns[n], &types[n]);
        n++;
    }
    columns[n] = NULL;
    r->s->families[f].columns = columns;
    r->s->columns[f] = types;
    return st;
}

static gf_status take_setting(schema_reading *r, gf_slice name, gf_json_value v, unsigned f)
{
    gf_family *family = &r->s->families[f];
    uint64_t number = 0;
    bool second = false;
    gf_status st;
    if (is(name, "name")) return GF_OK;
    if (is(name, "type")) return take_type(r, v, "type", &r->s->types[f]);
    if (is(name, "qualifier")) return take_type(r, v, "qualifier", &r->s->qualifiers[f]);
    if (is(name, "columns")) return take_columns(r, v, f);
    if (is(name, "layout")) {
        st = take_choice(r, v, "layout", "packed", "wide", &second);
        family->layout = second ? GF_LAYOUT_WIDE : GF_LAYOUT_PACKED;
    } else if (is(name, "compression")) {
        st = take_choice(r, v, "compression", "none", "snappy", &second);
        family->compression = second ? GF_COMPRESSION_SNAPPY : GF_COMPRESSION_NONE;
    } else if (is(name, "versions")) {
        st = take_number(r, v, "versions", 1, MOST_VERSIONS, &number);
        family->versions = (uint32_t)number;
    } else if (is(name, "ttl")) {
        st = take_number(r, v, "ttl", 0, UINT32_MAX, &number);
        family->ttl_seconds = number;
    } else {
        st = unknown(r, name, "name, layout, versions, ttl, compression, type, qualifier, columns");
    }
    return st;
}

static gf_status take_family(schema_reading *r, gf_json_value v, unsigned f)
{
    gf_json_value member;
    gf_slice name;
    gf_status st = GF_OK;
    gf_family *family = &r->s->families[f];
    if (gf_json_kind_of(v) != GF_JSON_OBJECT) return bad(r, "a family", "an object");
    if (!gf_json_member(v, "name", &member)) return bad(r, "a family without a name", "allowed");
    *family = (gf_family){.versions = 1};
    r->s->types[f] = r->s->qualifiers[f] = GF_TYPE_TEXT;
    r->s->columns[f] = NULL;
    st = take_name(r, member, "the name of a family", &family->name);
    if (st == GF_OK && strchr(family->name, ':'))
        st = bad(r, "the name of a family with a colon", "allowed");
    if (st != GF_OK) return st;
    r->family = family->name;
    gf_json_iterator it = gf_json_items(v);
    while (st == GF_OK && gf_json_next(&it, &name, &member))
        st = take_setting(r, name, member, f);
    if (st == GF_OK && family->layout == GF_LAYOUT_WIDE && family->columns)
        st = bad(r, "a wide family with columns", "allowed: its type is that of all its cells");
    if (st == GF_OK && family->layout == GF_LAYOUT_PACKED && r->s->qualifiers[f] != GF_TYPE_TEXT)
        st = bad(r, "qualifier", "for packed families");
    if (st == GF_OK &&
        (r->s->qualifiers[f] == GF_TYPE_JSON || r->s->qualifiers[f] == GF_TYPE_FLOAT))
        st = bad(r, "qualifier", "one of text, bytes, int64, uint64, decimal");
    r->family = "";
    return st;
}

static gf_status take_families(schema_reading *r, gf_json_value v)
{
    gf_json_value item;
    gf_user_schema *s = r->s;
    gf_status st = GF_OK;
    if (gf_json_kind_of(v) != GF_JSON_ARRAY) return bad(r, "families", "an array");
    s->schema.n_families = 0;
    gf_json_iterator it = gf_json_items(v);
    while (st == GF_OK && gf_json_next(&it, NULL, &item)) {
        if (s->schema.n_families == GF_MAX_FAMILIES) return bad(r, "families", "of 1 to 32");
        st = take_family(r, item, s->schema.n_families);
        s->schema.n_families += st == GF_OK;
    }
    return st;
}

/* ---- schemas --------------------------------------------------------------------------------- */

/* Fill in the schema for the storage; it points into *s, which must not move from here on. */
static void finish(gf_user_schema *s)
{
    for (unsigned i = 0; i < s->schema.n_parts; i++) {
        gf_user_part *p = &s->parts[i];
        bool number = p->type == GF_TYPE_INT64 || p->type == GF_TYPE_UINT64;
        s->key_parts[i] = (gf_key_part){p->name,
                                        p->width ? GF_PART_FIXED
                                        : number ? GF_PART_U64
                                                 : GF_PART_STRING,
                                        p->width};
    }
    s->schema.parts = s->key_parts;
    s->schema.families = s->families;
}

/* Have the storage check it: column names in two families, and such. */
static gf_status check(gf_user_schema *s, gf_error *err)
{
    gf_schema named = s->schema;
    gf_error why = {GF_OK, ""};
    named.name = "schema"; /* messages begin with "table schema: " */
    gf_status st = gf_schema_check(&named, &why);
    return st == GF_OK ? GF_OK : gf_fail(err, st, "%s", why.message + strlen("table "));
}

/* Members that table describe has beside the schema: whose it is. A copy has a name of its own. */
static bool is_beside(gf_slice name)
{
    return is(name, "table") || is(name, "of");
}

static gf_status read_members(schema_reading *r, gf_json_value root, bool addition)
{
    gf_json_value member;
    gf_slice name;
    gf_status st = GF_OK;
    bool key = false;
    if (gf_json_kind_of(root) != GF_JSON_OBJECT)
        return gf_fail(r->err, GF_EINVAL, "schema: not a JSON object");
    gf_json_iterator it = gf_json_items(root);
    while (st == GF_OK && gf_json_next(&it, &name, &member)) {
        if (is(name, "families"))
            st = take_families(r, member);
        else if (is(name, "key") && !addition)
            st = take_key(r, member);
        else if (addition || !is_beside(name))
            st = unknown(r, name,
                         addition ? "families: nothing else can be added" : "key, families");
        key |= is(name, "key");
    }
    if (st == GF_OK && !addition && !key) st = bad(r, "a table without a key", "allowed");
    return st;
}

gf_status gf_user_table_schema_read(gf_slice json, bool addition, gf_arena *memory,
                                    gf_user_schema *s, gf_error *err)
{
    gf_json_parser *parser;
    gf_json_value root;
    schema_reading r = {memory, s, "", err};
    memset(s, 0, sizeof *s);
    gf_status st = gf_json_parser_create(&parser, err);
    if (st != GF_OK) return st;
    st = gf_json_parse_copy(parser, json, &root, err);
    if (st == GF_EINVAL) gf_error_prefix(err, "schema");
    if (st == GF_OK) st = read_members(&r, root, addition);
    gf_json_parser_free(parser);
    if (st != GF_OK) return st;
    finish(s);
    return addition ? GF_OK : check(s, err);
}

/* ---- additions ------------------------------------------------------------------------------- */

static size_t count(const char *const *columns)
{
    size_t n = 0;
    while (columns && columns[n])
        n++;
    return n;
}

/* All columns of both, those that were there first. */
static gf_status add_columns(gf_user_schema *s, unsigned f, const gf_user_schema *more, unsigned g,
                             gf_arena *memory, gf_error *err)
{
    const char *const *old = s->families[f].columns, *const *fresh = more->families[g].columns;
    size_t n = count(old), m = count(fresh);
    const char **columns = gf_arena_alloc(memory, (n + m + 1) * sizeof *columns);
    gf_type *types = gf_arena_alloc(memory, (n + m + 1) * sizeof *types);
    if (!columns || !types) return gf_fail_memory(err, "a schema");
    for (size_t i = 0; i < n + m; i++) {
        columns[i] = i < n ? old[i] : fresh[i - n];
        types[i] = i < n ? s->columns[f][i] : more->columns[g][i - n];
    }
    columns[n + m] = NULL;
    s->families[f].columns = columns;
    s->columns[f] = types;
    return GF_OK;
}

static bool says_more(const gf_user_schema *s, unsigned f)
{
    const gf_family *a = &s->families[f];
    return a->layout != GF_LAYOUT_PACKED || a->versions != 1 || a->ttl_seconds || a->compression ||
           s->types[f] != GF_TYPE_TEXT || !count(a->columns);
}

static gf_status add_family(gf_user_schema *s, const gf_user_schema *more, unsigned g,
                            gf_arena *memory, gf_error *err)
{
    const gf_family *family = &more->families[g];
    for (unsigned f = 0; f < s->schema.n_families; f++) {
        if (strcmp(s->families[f].name, family->name) != 0) continue;
        if (says_more(more, g) || s->families[f].layout != GF_LAYOUT_PACKED)
            return gf_fail(err, GF_EINVAL,
                           "schema: family %s is there: a packed one can get columns, and nothing "
                           "else of it can change",
                           family->name);
        return add_columns(s, f, more, g, memory, err);
    }
    unsigned f = s->schema.n_families;
    if (f == GF_MAX_FAMILIES) return gf_fail(err, GF_EINVAL, "schema: more than 32 families");
    s->families[f] = *family;
    s->types[f] = more->types[g];
    s->qualifiers[f] = more->qualifiers[g];
    s->columns[f] = more->columns[g];
    s->schema.n_families++;
    return GF_OK;
}

gf_status gf_user_table_schema_add(gf_user_schema *s, const gf_user_schema *more, gf_arena *memory,
                                   gf_error *err)
{
    gf_status st = GF_OK;
    for (unsigned g = 0; g < more->schema.n_families && st == GF_OK; g++)
        st = add_family(s, more, g, memory, err);
    finish(s);
    return st == GF_OK ? check(s, err) : st;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_family(const gf_user_schema *s, unsigned f, gf_json_writer *w)
{
    const gf_family *family = &s->families[f];
    gf_json_begin(w, '{');
    gf_json_put_str(w, "name", family->name);
    gf_json_put_str(w, "layout", family->layout == GF_LAYOUT_WIDE ? "wide" : "packed");
    gf_json_put_uint(w, "versions", family->versions);
    gf_json_put_uint(w, "ttl", family->ttl_seconds);
    gf_json_put_str(w, "compression",
                    family->compression == GF_COMPRESSION_SNAPPY ? "snappy" : "none");
    gf_json_put_str(w, "type", gf_type_name(s->types[f]));
    if (family->layout == GF_LAYOUT_WIDE)
        gf_json_put_str(w, "qualifier", gf_type_name(s->qualifiers[f]));
    if (count(family->columns)) {
        gf_json_key(w, "columns");
        gf_json_begin(w, '{');
        for (size_t c = 0; family->columns[c]; c++)
            gf_json_put_str(w, family->columns[c], gf_type_name(s->columns[f][c]));
        gf_json_end(w, '}');
    }
    gf_json_end(w, '}');
}

void gf_user_table_schema_write(const gf_user_schema *s, gf_buffer *json)
{
    gf_json_writer writer = gf_json_writer_to(json), *w = &writer;
    gf_json_begin(w, '{');
    gf_json_key(w, "key");
    gf_json_begin(w, '[');
    for (unsigned i = 0; i < s->schema.n_parts; i++) {
        gf_json_begin(w, '{');
        gf_json_put_str(w, "name", s->parts[i].name);
        gf_json_put_str(w, "type", gf_user_table_part_word(&s->parts[i]));
        if (s->parts[i].width) gf_json_put_uint(w, "width", s->parts[i].width);
        gf_json_end(w, '}');
    }
    gf_json_end(w, ']');
    gf_json_key(w, "families");
    gf_json_begin(w, '[');
    for (unsigned f = 0; f < s->schema.n_families; f++)
        write_family(s, f, w);
    gf_json_end(w, ']');
    gf_json_end(w, '}');
}
