#include "api/row_schema.h"

#include <stdio.h>
#include <string.h>

/* ---- descriptions ---------------------------------------------------------------------------- */

/* "[words](place)" -> "words": the places are relative to docs/. */
static void put_meaning(gf_json_writer *w, const char *meaning)
{
    gf_buffer b = {0};
    for (const char *c = meaning; *c; c++) {
        const char *middle = *c == '[' ? strstr(c, "](") : NULL;
        const char *end = middle ? strchr(middle, ')') : NULL;
        if (!end) {
            gf_buffer_byte(&b, *c);
            continue;
        }
        gf_buffer_append(&b, c + 1, (size_t)(middle - c - 1));
        c = end;
    }
    gf_json_put_string(w, "description", gf_buffer_view(&b));
    gf_buffer_release(&b);
}

/* ---- types ---------------------------------------------------------------------------------- */

void gf_row_schema_types(gf_json_writer *w, const char *type, const char *other, bool nullable)
{
    if (!other && !nullable) {
        gf_json_put_str(w, "type", type);
        return;
    }
    gf_json_key(w, "type");
    gf_json_begin(w, '[');
    gf_json_string(w, gf_slice_str(type));
    if (other) gf_json_string(w, gf_slice_str(other));
    if (nullable) gf_json_string(w, GF_SLICE("null"));
    gf_json_end(w, ']');
}

void gf_row_schema_words(gf_json_writer *w, const char *words)
{
    gf_json_key(w, "enum");
    gf_json_begin(w, '[');
    for (size_t n; *words; words += n + (words[n] == '|')) {
        n = strcspn(words, "|");
        gf_json_string(w, gf_slice_of(words, n));
    }
    gf_json_end(w, ']');
}

static void put_items_of(gf_json_writer *w, const char *type)
{
    gf_json_key(w, "items");
    gf_json_begin(w, '{');
    if (type) gf_json_put_str(w, "type", type);
    gf_json_end(w, '}');
}

static void put_object(gf_json_writer *w, const gf_row_member *members, gf_row_member_form form,
                       gf_row_schema_detail detail, const char *prefix);

static void put_below(gf_json_writer *w, const gf_row_member *members, gf_row_member_form form,
                      gf_row_schema_detail detail, const gf_row_member *m)
{
    char prefix[128];
    bool array = m->kind == GF_ROW_MEMBER_OBJECTS;
    snprintf(prefix, sizeof prefix, "%s%s.", m->path, array ? "[]" : "");
    if (array) {
        gf_json_key(w, "items");
        gf_json_begin(w, '{');
    }
    put_object(w, members, form, detail, prefix);
    if (array) gf_json_end(w, '}');
}

static void put_kind(gf_json_writer *w, const gf_row_member *m)
{
    static const struct {
        const char *type, *other, *format, *items;
    } kinds[] = {[GF_ROW_MEMBER_TEXT] = {"string", NULL, NULL, NULL},
                 [GF_ROW_MEMBER_WORD] = {"string", NULL, NULL, NULL},
                 [GF_ROW_MEMBER_TIME] = {"string", NULL, "date-time", NULL},
                 [GF_ROW_MEMBER_ID] = {"string", "integer", NULL, NULL},
                 [GF_ROW_MEMBER_INTEGER] = {"integer", NULL, "int64", NULL},
                 [GF_ROW_MEMBER_NUMBER] = {"number", NULL, "double", NULL},
                 [GF_ROW_MEMBER_TRUTH] = {"boolean", NULL, NULL, NULL},
                 [GF_ROW_MEMBER_SCALAR] = {"string", "number", NULL, NULL},
                 [GF_ROW_MEMBER_ANY] = {NULL, NULL, NULL, NULL},
                 [GF_ROW_MEMBER_MAP] = {"object", NULL, NULL, NULL},
                 [GF_ROW_MEMBER_OBJECT] = {NULL, NULL, NULL, NULL}, /* put_object says it */
                 [GF_ROW_MEMBER_OBJECTS] = {"array", NULL, NULL, NULL},
                 [GF_ROW_MEMBER_TEXTS] = {"array", NULL, NULL, "string"},
                 [GF_ROW_MEMBER_INTEGERS] = {"array", NULL, NULL, "integer"},
                 [GF_ROW_MEMBER_NUMBERS] = {"array", NULL, NULL, "number"},
                 [GF_ROW_MEMBER_ITEMS] = {"array", NULL, NULL, NULL}};
    if (kinds[m->kind].type)
        gf_row_schema_types(w, kinds[m->kind].type, kinds[m->kind].other, m->nullable);
    if (kinds[m->kind].format) gf_json_put_str(w, "format", kinds[m->kind].format);
    if (kinds[m->kind].items) put_items_of(w, kinds[m->kind].items);
    if (m->kind == GF_ROW_MEMBER_ITEMS) put_items_of(w, NULL);
    if (m->kind == GF_ROW_MEMBER_WORD) gf_row_schema_words(w, m->words);
    if (m->kind == GF_ROW_MEMBER_MAP) gf_json_put_bool(w, "additionalProperties", true);
}

static void put_member(gf_json_writer *w, const gf_row_member *members, gf_row_member_form form,
                       gf_row_schema_detail detail, const gf_row_member *m)
{
    gf_json_key(w, gf_row_member_name(m));
    gf_json_begin(w, '{');
    if (detail == GF_ROW_SCHEMA_TOLD) put_meaning(w, m->meaning);
    put_kind(w, m);
    if (m->kind == GF_ROW_MEMBER_OBJECT || m->kind == GF_ROW_MEMBER_OBJECTS)
        put_below(w, members, form, detail, m);
    gf_json_end(w, '}');
}

static void put_object(gf_json_writer *w, const gf_row_member *members, gf_row_member_form form,
                       gf_row_schema_detail detail, const char *prefix)
{
    bool any_required = false, open = false;
    gf_json_put_str(w, "type", "object");
    gf_json_key(w, "properties");
    gf_json_begin(w, '{');
    for (const gf_row_member *m = members; m->path; m++) {
        if (!gf_row_member_has_form(m, form) || !gf_row_member_is_of(m, prefix)) continue;
        bool others = strcmp(gf_row_member_name(m), "*") == 0;
        open |= others;
        any_required |= !m->optional;
        if (!others) put_member(w, members, form, detail, m);
    }
    gf_json_end(w, '}');
    if (open) gf_json_put_bool(w, "additionalProperties", true);
    if (!any_required || detail == GF_ROW_SCHEMA_BARE) return;
    gf_json_key(w, "required");
    gf_json_begin(w, '[');
    for (const gf_row_member *m = members; m->path; m++)
        if (gf_row_member_has_form(m, form) && gf_row_member_is_of(m, prefix) && !m->optional)
            gf_json_string(w, gf_slice_str(gf_row_member_name(m)));
    gf_json_end(w, ']');
}

void gf_row_schema_write(gf_json_writer *w, const gf_row_member *members, gf_row_member_form form,
                         gf_row_schema_detail detail)
{
    put_object(w, members, form, detail, "");
}
