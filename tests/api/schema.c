#include "tests/api/schema.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct checking {
    const gf_row_member *members;
    gf_row_member_form form;
    bool of_several; /* rows may begin with their collection */
    char *fault;
} checking;

static bool complain(const checking *c, const char *path, const char *what)
{
    snprintf(c->fault, 256, "%s %s", path, what);
    return false;
}

static bool is_word(const char *words, gf_slice value)
{
    for (size_t n; *words; words += n + (words[n] == '|')) {
        n = strcspn(words, "|");
        if (gf_slice_equal(value, gf_slice_of(words, n))) return true;
    }
    return false;
}

/* 2026-11-20T13:42:57Z, maybe with a fraction */
static bool is_time(gf_slice s)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd";
    size_t n = sizeof form - 1;
    if (s.len < n + 1 || s.ptr[s.len - 1] != 'Z') return false;
    for (size_t i = 0; i < n; i++)
        if (form[i] == 'd' ? !isdigit((unsigned char)s.ptr[i]) : s.ptr[i] != form[i]) return false;
    return s.len == n + 1 || s.ptr[n] == '.';
}

static bool is_whole(gf_json_value v)
{
    gf_json_kind kind = gf_json_kind_of(v);
    return kind == GF_JSON_INT || kind == GF_JSON_UINT;
}

static bool is_text(gf_json_value v)
{
    return gf_json_kind_of(v) == GF_JSON_STRING;
}

static bool fits_object(checking *c, gf_json_value object, const char *prefix);

static bool fits_items(gf_json_value array, bool (*good)(gf_json_value))
{
    gf_json_value item;
    if (gf_json_kind_of(array) != GF_JSON_ARRAY) return false;
    for (gf_json_iterator it = gf_json_items(array); gf_json_next(&it, NULL, &item);)
        if (good && !good(item)) return false;
    return true;
}

static bool fits_kind(const gf_row_member *m, gf_json_value v)
{
    gf_json_kind kind = gf_json_kind_of(v);
    switch (m->kind) {
    case GF_ROW_MEMBER_TEXT:
        return is_text(v);
    case GF_ROW_MEMBER_WORD:
        return is_text(v) && is_word(m->words, gf_json_get_string(v));
    case GF_ROW_MEMBER_TIME:
        return is_text(v) && is_time(gf_json_get_string(v));
    case GF_ROW_MEMBER_ID:
        return is_text(v) || is_whole(v);
    case GF_ROW_MEMBER_INTEGER:
        return is_whole(v);
    case GF_ROW_MEMBER_NUMBER:
        return gf_json_is_number(v);
    case GF_ROW_MEMBER_TRUTH:
        return kind == GF_JSON_BOOL;
    case GF_ROW_MEMBER_SCALAR:
        return is_text(v) || gf_json_is_number(v);
    case GF_ROW_MEMBER_MAP:
    case GF_ROW_MEMBER_OBJECT:
        return kind == GF_JSON_OBJECT;
    case GF_ROW_MEMBER_OBJECTS:
    case GF_ROW_MEMBER_ITEMS:
        return fits_items(v, NULL);
    case GF_ROW_MEMBER_TEXTS:
        return fits_items(v, is_text);
    case GF_ROW_MEMBER_INTEGERS:
        return fits_items(v, is_whole);
    case GF_ROW_MEMBER_NUMBERS:
        return fits_items(v, gf_json_is_number);
    case GF_ROW_MEMBER_ANY:
        return true;
    }
    return false;
}

static bool fits_below(checking *c, const gf_row_member *m, gf_json_value v)
{
    char prefix[128];
    gf_json_value item;
    bool good = true;
    snprintf(prefix, sizeof prefix, "%s%s.", m->path, m->kind == GF_ROW_MEMBER_OBJECTS ? "[]" : "");
    if (m->kind == GF_ROW_MEMBER_OBJECT) return fits_object(c, v, prefix);
    if (m->kind != GF_ROW_MEMBER_OBJECTS) return true;
    for (gf_json_iterator it = gf_json_items(v); good && gf_json_next(&it, NULL, &item);)
        good = gf_json_kind_of(item) == GF_JSON_OBJECT ? fits_object(c, item, prefix)
                                                       : complain(c, prefix, "is no object");
    return good;
}

static const gf_row_member *find_member(const checking *c, const char *prefix, gf_slice name)
{
    const gf_row_member *any = NULL;
    for (const gf_row_member *m = c->members; m->path; m++) {
        if (!gf_row_member_has_form(m, c->form) || !gf_row_member_is_of(m, prefix)) continue;
        if (gf_slice_equal(name, gf_slice_str(gf_row_member_name(m)))) return m;
        if (strcmp(gf_row_member_name(m), "*") == 0) any = m;
    }
    return any;
}

static bool fits_object(checking *c, gf_json_value object, const char *prefix)
{
    gf_slice name;
    gf_json_value v;
    char path[160];
    for (gf_json_iterator it = gf_json_items(object); gf_json_next(&it, &name, &v);) {
        const gf_row_member *m = find_member(c, prefix, name);
        snprintf(path, sizeof path, "%s%.*s", prefix, GF_SLICE_ARG(name));
        bool collection = !*prefix && c->of_several && gf_slice_equal(name, GF_SLICE("collection"));
        if (!m && collection) continue;
        if (!m) return complain(c, path, "is no member");
        if (gf_json_kind_of(v) == GF_JSON_NULL && m->nullable) continue;
        if (!fits_kind(m, v)) return complain(c, path, "is of another kind");
        if (!fits_below(c, m, v)) return false;
    }
    for (const gf_row_member *m = c->members; m->path; m++)
        if (gf_row_member_has_form(m, c->form) && gf_row_member_is_of(m, prefix) && !m->optional &&
            !gf_json_member(object, gf_row_member_name(m), &v))
            return complain(c, m->path, "is missing");
    return true;
}

static bool is_given(gf_slice name, const gf_argument *arguments, size_t n)
{
    bool given = false;
    for (size_t i = 0; i < n; i++)
        if (gf_slice_equal(arguments[i].name, name))
            given = !gf_slice_equal(arguments[i].value, GF_SLICE("false"));
    return given;
}

bool schema_fits(const gf_operation *o, const gf_argument *arguments, size_t n, gf_json_value row,
                 char fault[256])
{
    checking c = {
        .members = o->members, .fault = fault, .of_several = gf_several_is_asked(o, arguments, n)};
    gf_row_member_form form;
    gf_row_member_form_at(o->members, 0, &c.form);
    for (size_t i = 1; !c.form.n && gf_row_member_form_at(o->members, i, &form); i++)
        if (is_given(gf_slice_of(form.name, form.n), arguments, n)) c.form = form;
    return fits_object(&c, row, "");
}
