/*
 * Schemas: a row of "collection show" is CollectionShow, one with "columns" CollectionShowColumns.
 *
 * What is described is a call of one collection: patterns and "all" give arrays of the same rows, whose
 * form no schema of a client could know before. Members that are not described may come later.
 */
#include "server/http/schemas.h"

#include "api/row_schema.h"
#include "server/http/rows.h"

#include <ctype.h>
#include <stdio.h>

/* ---- names ----------------------------------------------------------------------------------- */

/* "collection show" -> "CollectionShow" */
static void write_name(gf_buffer *b, const char *name, size_t n)
{
    bool begins = true;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)name[i];
        if (isalnum(c)) gf_buffer_byte(b, (char)(begins ? toupper(c) : c));
        begins = !isalnum(c);
    }
}

/* A variant has the rows of its operation. */
static const char *name_of_rows(const gf_route *route)
{
    return route->operation ? route->operation->name : route->row;
}

static const gf_row_member *members_of(const gf_route *route)
{
    return route->operation ? route->operation->members : route->members;
}

static void put_reference(gf_json_writer *w, const char *name, gf_row_member_form form)
{
    gf_buffer b = {0};
    gf_buffer_str(&b, "#/components/schemas/");
    write_name(&b, name, strlen(name));
    write_name(&b, form.name, form.n);
    gf_json_begin(w, '{');
    gf_json_put_string(w, "$ref", gf_buffer_view(&b));
    gf_json_end(w, '}');
    gf_buffer_release(&b);
}

void gf_schemas_put_reference(gf_json_writer *w, const gf_route *route, const char *name)
{
    put_reference(w, route ? name_of_rows(route) : name, (gf_row_member_form){"", 0});
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool is_single(const gf_route *route)
{
    return route->operation ? route->operation->single : route->single;
}

static bool may_notice(const gf_route *route)
{
    const gf_operation *o = route->operation;
    if (o && o->tells_lost) return true;
    return o && o->input != GF_INPUT_NONE && !o->tells_refused && !o->rebuilds;
}

/* The forms of an array's items: all, or of an operation that else gives one row the others. */
static void put_array(gf_json_writer *w, const gf_route *route)
{
    const gf_row_member *members = members_of(route);
    size_t first = is_single(route) ? 1 : 0, n = 0;
    gf_row_member_form form;
    while (gf_row_member_form_at(members, first + n, &form))
        n++;
    bool several = n + may_notice(route) > 1;
    gf_json_begin(w, '{');
    gf_json_put_str(w, "type", "array");
    gf_json_key(w, "items");
    if (several) {
        gf_json_begin(w, '{');
        gf_json_key(w, "anyOf");
        gf_json_begin(w, '[');
    }
    for (size_t i = 0; i < n && gf_row_member_form_at(members, first + i, &form); i++)
        put_reference(w, name_of_rows(route), form);
    if (may_notice(route)) gf_schemas_put_reference(w, NULL, "notice");
    if (several) {
        gf_json_end(w, ']');
        gf_json_end(w, '}');
    }
    gf_json_end(w, '}');
}

void gf_schemas_put_answer(gf_json_writer *w, const gf_route *route, bool now)
{
    gf_row_member_form form;
    const gf_row_member *members = members_of(route);
    gf_json_key(w, "schema");
    if (route->operation && route->operation->rebuilds && !now) {
        gf_schemas_put_reference(w, NULL, "task");
    } else if (!is_single(route)) {
        put_array(w, route);
    } else if (!gf_row_member_form_at(members, 1, &form)) {
        gf_schemas_put_reference(w, route, NULL);
    } else {
        gf_json_begin(w, '{');
        gf_json_key(w, "anyOf");
        gf_json_begin(w, '[');
        gf_schemas_put_reference(w, route, NULL);
        put_array(w, route);
        gf_json_end(w, ']');
        gf_json_end(w, '}');
    }
}

/* ---- parameters ------------------------------------------------------------------------------ */

static void put_list(gf_json_writer *w, bool in_body)
{
    gf_json_put_str(w, "type", "array");
    gf_json_key(w, "items");
    gf_json_begin(w, '{');
    gf_row_schema_types(w, "string", in_body ? "number" : NULL, false);
    gf_json_end(w, '}');
}

/* NAME=VALUE several times is an object, too. */
static void put_pairs(gf_json_writer *w, bool settings)
{
    gf_json_key(w, "anyOf");
    gf_json_begin(w, '[');
    gf_json_begin(w, '{');
    gf_json_put_str(w, "type", "object");
    gf_json_key(w, "additionalProperties");
    if (settings)
        gf_schemas_put_reference(w, NULL, "setting");
    else
        gf_json_raw(w, GF_SLICE("true"));
    gf_json_end(w, '}');
    gf_json_begin(w, '{');
    put_list(w, true);
    gf_json_end(w, '}');
    gf_json_end(w, ']');
}

static void put_range(gf_json_writer *w, uint64_t least, uint64_t most)
{
    gf_json_put_uint(w, "minimum", least);
    if (most) gf_json_put_uint(w, "maximum", most);
}

/* The members of a parameter's schema. */
static void put_parameter(gf_json_writer *w, const gf_parameter *p, bool in_body)
{
    switch (p->kind) {
    case GF_PARAMETER_NUMBER:
        gf_json_put_str(w, "type", "integer");
        put_range(w, p->least, p->most);
        break;
    case GF_PARAMETER_SHARE:
        gf_json_put_str(w, "type", "number");
        put_range(w, 0, 1);
        break;
    case GF_PARAMETER_FLAG:
        gf_json_put_str(w, "type", "boolean");
        break;
    case GF_PARAMETER_CHOICE:
        gf_json_put_str(w, "type", "string");
        gf_row_schema_words(w, p->value);
        break;
    case GF_PARAMETER_SETTINGS:
    case GF_PARAMETER_SEVERAL:
    case GF_PARAMETER_LIST:
        if (in_body && p->value && strchr(p->value, '='))
            put_pairs(w, p->kind == GF_PARAMETER_SETTINGS);
        else
            put_list(w, in_body);
        break;
    case GF_PARAMETER_BYTES:
    case GF_PARAMETER_MOMENT:
        gf_row_schema_types(w, "string", "integer", false);
        break;
    default:
        gf_json_put_str(w, "type", "string");
        gf_json_put_uint(w, "minLength", 1);
    }
}

void gf_schemas_put_parameter(gf_json_writer *w, const gf_parameter *p, bool in_body)
{
    gf_json_begin(w, '{');
    put_parameter(w, p, in_body);
    gf_json_end(w, '}');
}

static bool is_in_path(const gf_route *route, const char *name)
{
    char part[80];
    snprintf(part, sizeof part, "{%s}", name);
    return strstr(route->path, part) != NULL;
}

/* Settings by their own names, but for those that a parameter has. */
static void put_settings(gf_json_writer *w, const gf_operation *o)
{
    size_t n;
    const gf_setting *settings = gf_settings(&n);
    for (size_t i = 0; i < n; i++) {
        bool taken = false;
        for (size_t k = 0; k < o->n_parameters; k++)
            taken |= strcmp(o->parameters[k].name, settings[i].name) == 0;
        if (taken) continue;
        gf_json_key(w, settings[i].name);
        gf_json_begin(w, '{');
        gf_json_put_str(w, "$ref", "#/components/schemas/Setting");
        gf_json_put_str(w, "description", settings[i].meaning);
        gf_json_end(w, '}');
    }
}

void gf_schemas_put_body(gf_json_writer *w, const gf_route *route)
{
    const gf_operation *o = route->operation;
    gf_json_key(w, "schema");
    gf_json_begin(w, '{');
    gf_json_put_str(w, "type", "object");
    gf_json_key(w, "properties");
    gf_json_begin(w, '{');
    for (size_t i = 0; i < o->n_parameters; i++) {
        const gf_parameter *p = &o->parameters[i];
        bool implied = route->flag && strcmp(route->flag, p->name) == 0;
        if (is_in_path(route, p->name) || implied || strcmp(p->name, "all") == 0) continue;
        gf_json_key(w, p->name);
        gf_json_begin(w, '{');
        gf_json_put_str(w, "description", p->meaning);
        put_parameter(w, p, true);
        gf_json_end(w, '}');
        if (p->kind == GF_PARAMETER_SETTINGS) put_settings(w, o);
    }
    gf_json_end(w, '}');
    gf_json_put_bool(w, "additionalProperties", false);
    gf_json_end(w, '}');
}

/* ---- components ------------------------------------------------------------------------------ */

static const gf_row_member problem_members[] = {
    M("type", TEXT, "about:blank"),
    M("title", TEXT, "the status in words"),
    M("status", INTEGER, "of the answer"),
    M("detail", TEXT, "what is wrong, where, and what to do"),
    M_MAYBE("counts", MAP, "of a put that failed on the way: the row that says what is stored"),
    GF_ROW_MEMBERS_END};
static const gf_row_member notice_members[] = {
    M("notice", OBJECT,
      "in the place of a row: a record was refused, a collection failed, an edit is lost"),
    M("notice.reason", TEXT, "a key such as no_text, failed, lost"),
    M("notice.source", TEXT, "which input, or which collection"),
    M_MAYBE("notice.line", INTEGER, "of the input"),
    M("notice.message", TEXT, "the reason in words"),
    GF_ROW_MEMBERS_END};

static void put_schema(gf_json_writer *w, const char *name, const char *meaning,
                       const gf_row_member *members, gf_row_member_form form)
{
    gf_buffer b = {0};
    write_name(&b, name, strlen(name));
    write_name(&b, form.name, form.n);
    gf_json_key_slice(w, gf_buffer_view(&b));
    gf_json_begin(w, '{');
    gf_json_put_str(w, "description", meaning);
    gf_row_schema_write(w, members, form, GF_ROW_SCHEMA_TOLD);
    gf_json_end(w, '}');
    gf_buffer_release(&b);
}

static void put_setting(gf_json_writer *w)
{
    gf_json_key(w, "Setting");
    gf_json_begin(w, '{');
    gf_json_put_str(
        w, "description",
        "The value of a setting: text or a number, true or false for on or off, an array of "
        "values, null for its default");
    gf_json_key(w, "anyOf");
    gf_json_begin(w, '[');
    static const char *const types[] = {"string", "number", "boolean", "null"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        gf_json_begin(w, '{');
        gf_json_put_str(w, "type", types[i]);
        gf_json_end(w, '}');
    }
    gf_json_begin(w, '{');
    put_list(w, true);
    gf_json_end(w, '}');
    gf_json_end(w, ']');
    gf_json_end(w, '}');
}

/* Several routes may have the same rows. */
static bool is_first(const gf_route *routes, const gf_route *route)
{
    for (const gf_route *r = routes; r < route; r++)
        if (members_of(r) && strcmp(name_of_rows(r), name_of_rows(route)) == 0) return false;
    return true;
}

void gf_schemas_write(gf_json_writer *w, const gf_route *routes, size_t n)
{
    gf_row_member_form ordinary = {"", 0}, form;
    gf_json_key(w, "schemas");
    gf_json_begin(w, '{');
    put_schema(w, "problem", "A problem (RFC 9457)", problem_members, ordinary);
    put_schema(w, "notice", "Told in the place of a row", notice_members, ordinary);
    put_setting(w);
    for (const gf_route *r = routes; r < routes + n; r++) {
        const gf_row_member *members = members_of(r);
        if (!members || !is_first(routes, r)) continue;
        for (size_t i = 0; gf_row_member_form_at(members, i, &form); i++) {
            char meaning[160];
            snprintf(meaning, sizeof meaning, form.n ? "A row of %s, with %.*s" : "A row of %s",
                     name_of_rows(r), (int)form.n, form.name);
            put_schema(w, name_of_rows(r), meaning, members, form);
        }
    }
    gf_json_end(w, '}');
}
