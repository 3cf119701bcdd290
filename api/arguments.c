/* Arguments of a query and of a JSON object: both become names with text. */
#include "api/arguments.h"

#include "base/json/json.h"
#include "base/nearest.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 128, NONE = -1 };

/* ---- names ----------------------------------------------------------------------------------- */

static int find_parameter(const gf_operation *o, gf_slice name)
{
    for (size_t i = 0; i < o->n_parameters; i++)
        if (gf_slice_equal(name, gf_slice_str(o->parameters[i].name))) return (int)i;
    return NONE;
}

/* The parameter that settings go into. */
static const gf_parameter *find_settings(const gf_operation *o)
{
    for (size_t i = 0; i < o->n_parameters; i++)
        if (o->parameters[i].kind == GF_PARAMETER_SETTINGS) return &o->parameters[i];
    return NULL;
}

static int find_setting(gf_slice name)
{
    size_t n;
    const gf_setting *settings = gf_settings(&n);
    for (size_t i = 0; i < n; i++)
        if (gf_slice_equal(name, gf_slice_str(settings[i].name))) return (int)i;
    return NONE;
}

gf_status gf_arguments_refuse_name(const gf_operation *o, gf_slice name, gf_error *err)
{
    const char *names[MOST_NAMES];
    size_t n = 0, n_settings = 0;
    if (gf_utf8_valid_length(name) != name.len)
        return gf_fail(err, GF_EINVAL, "the name of an argument is not valid UTF-8");
    const gf_setting *settings = gf_settings(&n_settings);
    if (!find_settings(o)) n_settings = 0;
    for (size_t i = 0; i < o->n_parameters && n < MOST_NAMES; i++)
        names[n++] = o->parameters[i].name;
    for (size_t i = 0; i < n_settings && n < MOST_NAMES; i++)
        names[n++] = settings[i].name;
    const char *nearest = gf_nearest(name, names, n);
    return gf_fail(err, GF_EINVAL, "%s has no argument \"%.*s\"%s%s%s", o->name, GF_SLICE_ARG(name),
                   nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                   nearest ? "\"?" : "");
}

/* ---- adding ---------------------------------------------------------------------------------- */

static gf_status grow(gf_arguments *a, gf_error *err)
{
    size_t room = a->room ? 2 * a->room : 16;
    gf_argument *at = gf_arena_alloc(a->memory, room * sizeof *at);
    if (!at) return gf_fail_memory(err, "parameters");
    for (size_t i = 0; i < a->n; i++)
        at[i] = a->at[i];
    a->at = at;
    a->room = room;
    return GF_OK;
}

gf_status gf_arguments_add(gf_arguments *a, gf_slice name, gf_slice value, gf_error *err)
{
    if (a->n == a->most) return gf_fail(err, GF_EINVAL, "more than %zu parameters", a->most);
    gf_status st = a->n == a->room ? grow(a, err) : GF_OK;
    if (st == GF_OK) a->at[a->n++] = (gf_argument){name, value};
    return st;
}

static gf_status add_copy(gf_arguments *a, const char *name, gf_slice value, gf_error *err)
{
    gf_slice copy = gf_arena_copy(a->memory, value);
    return copy.ptr ? gf_arguments_add(a, gf_slice_str(name), copy, err)
                    : gf_fail_memory(err, "a parameter");
}

/* "set", "k", "20" -> set=k=20 */
static gf_status add_pair(gf_arguments *a, const char *name, gf_slice key, gf_slice value,
                          gf_error *err)
{
    gf_buffer text = {0};
    gf_buffer_slice(&text, key);
    gf_buffer_byte(&text, '=');
    gf_buffer_slice(&text, value);
    gf_status st = gf_buffer_check(&text, err);
    if (st == GF_OK) st = add_copy(a, name, gf_buffer_view(&text), err);
    gf_buffer_release(&text);
    return st;
}

gf_status gf_arguments_take(gf_arguments *a, gf_slice name, gf_slice value, gf_error *err)
{
    const gf_parameter *settings = find_settings(a->operation);
    if (!settings || find_parameter(a->operation, name) != NONE || find_setting(name) == NONE)
        return gf_arguments_add(a, name, value, err);
    return add_pair(a, settings->name, name, value, err);
}

/* ---- values of JSON -------------------------------------------------------------------------- */

static const char *kind_name(gf_json_value v)
{
    switch (gf_json_kind_of(v)) {
    case GF_JSON_NULL:
        return "null";
    case GF_JSON_BOOL:
        return "true or false";
    case GF_JSON_STRING:
        return "text";
    case GF_JSON_ARRAY:
        return "an array";
    case GF_JSON_OBJECT:
        return "an object";
    case GF_JSON_DOUBLE:
        return "a number with a fraction";
    default:
        return "a number";
    }
}

static gf_status refuse_kind(const char *name, const char *wanted, gf_json_value v, gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "%s: it is %s, and must be %s", name, kind_name(v), wanted);
}

static bool is_whole(gf_json_value v)
{
    gf_json_kind kind = gf_json_kind_of(v);
    return kind == GF_JSON_INT || kind == GF_JSON_UINT;
}

static bool is_scalar(gf_json_value v)
{
    return gf_json_kind_of(v) == GF_JSON_STRING || gf_json_is_number(v);
}

/* Text as it is, all else as its JSON. */
static gf_status write_text(gf_json_value v, gf_buffer *out, gf_error *err)
{
    if (gf_json_kind_of(v) == GF_JSON_STRING) {
        gf_buffer_slice(out, gf_json_get_string(v));
        return gf_buffer_check(out, err);
    }
    return gf_json_write(v, out, err);
}

static gf_status add_text(gf_arguments *a, const char *name, gf_json_value v, gf_error *err)
{
    gf_buffer text = {0};
    gf_status st = write_text(v, &text, err);
    if (st == GF_OK) st = add_copy(a, name, gf_buffer_view(&text), err);
    gf_buffer_release(&text);
    return st;
}

static gf_status add_share(gf_arguments *a, const char *name, gf_json_value v, gf_error *err)
{
    char text[32];
    double share = gf_json_number(v);
    if (!(share >= 0 && share <= 1))
        return gf_fail(err, GF_EINVAL, "%s: it must be from 0 to 1", name);
    snprintf(text, sizeof text, "%.15f", share);
    return add_copy(a, name, gf_slice_str(text), err);
}

static gf_status add_items(gf_arguments *a, const gf_parameter *p, gf_json_value v, gf_error *err)
{
    bool pairs = p->value && strchr(p->value, '=');
    const char *wanted = pairs ? "an object, or an array of text" : "an array of text";
    gf_json_kind kind = gf_json_kind_of(v);
    gf_slice key;
    gf_json_value item;
    gf_status st = GF_OK;
    if (is_scalar(v)) return add_text(a, p->name, v, err);
    if (kind != GF_JSON_ARRAY && !(pairs && kind == GF_JSON_OBJECT))
        return refuse_kind(p->name, wanted, v, err);
    gf_json_iterator it = gf_json_items(v);
    while (st == GF_OK && gf_json_next(&it, &key, &item)) {
        if (kind == GF_JSON_ARRAY) {
            bool is_text = gf_json_kind_of(item) == GF_JSON_STRING;
            gf_slice text = is_text ? gf_json_get_string(item) : (gf_slice){"", 0};
            if (!is_scalar(item))
                st = refuse_kind(p->name, "an array of text", item, err);
            else if (p->kind == GF_PARAMETER_LIST && text.len && memchr(text.ptr, ',', text.len))
                st = gf_fail(err, GF_EINVAL, "%s: \"%.*s\" has a comma, which divides the values",
                             p->name, GF_SLICE_ARG(gf_utf8_cut(text, 64)));
            else
                st = add_text(a, p->name, item, err);
            continue;
        }
        gf_buffer text = {0};
        st = gf_json_kind_of(item) == GF_JSON_NULL
                 ? gf_fail(err, GF_EINVAL, "%s: \"%.*s\" is null", p->name, GF_SLICE_ARG(key))
                 : write_text(item, &text, err);
        if (st == GF_OK) st = add_pair(a, p->name, key, gf_buffer_view(&text), err);
        gf_buffer_release(&text);
    }
    return st;
}

/* ---- settings -------------------------------------------------------------------------------- */

/* Settings that have several values, and what stands between these. */
static char separator_of(gf_slice key)
{
    if (gf_slice_equal(key, GF_SLICE("filter"))) return ',';
    return gf_slice_equal(key, GF_SLICE("more_stop_words")) ? ' ' : '\0';
}

static bool has_byte(gf_slice s, char c)
{
    return s.len && memchr(s.ptr, c, s.len);
}

static gf_status write_values(gf_slice key, gf_json_value array, gf_buffer *out, gf_error *err)
{
    gf_json_value item;
    gf_json_iterator it = gf_json_items(array);
    char separator = separator_of(key), name[64];
    gf_status st = GF_OK;
    snprintf(name, sizeof name, "%.*s", (int)(key.len < 60 ? key.len : 60), key.ptr);
    if (!separator) return refuse_kind(name, "one value", array, err);
    for (bool first = true; st == GF_OK && gf_json_next(&it, NULL, &item); first = false) {
        bool parts = gf_json_kind_of(item) == GF_JSON_STRING &&
                     has_byte(gf_json_get_string(item), separator);
        if (parts)
            return gf_fail(err, GF_EINVAL, "%s: one of its values has a \"%c\", which parts them",
                           name, separator);
        if (!first) gf_buffer_byte(out, separator);
        st = is_scalar(item) ? write_text(item, out, err)
                             : refuse_kind(name, "an array of text", item, err);
    }
    return st;
}

static gf_status write_setting(gf_slice key, gf_json_value v, gf_buffer *out, gf_error *err)
{
    switch (gf_json_kind_of(v)) {
    case GF_JSON_NULL:
        return GF_OK;
    case GF_JSON_BOOL:
        gf_buffer_str(out, gf_json_get_bool(v) ? "on" : "off");
        return gf_buffer_check(out, err);
    case GF_JSON_ARRAY:
        return write_values(key, v, out, err);
    case GF_JSON_OBJECT:
        return gf_fail(err, GF_EINVAL, "%.*s: it is an object, and must be one value",
                       GF_SLICE_ARG(key));
    default:
        return write_text(v, out, err);
    }
}

/* The bits of settings that were given, so that none is given twice. */
static gf_status add_setting(gf_arguments *a, const char *name, gf_slice key, gf_json_value v,
                             uint64_t *seen, gf_error *err)
{
    gf_buffer text = {0};
    int number = find_setting(key);
    if (number != NONE && *seen >> number & 1)
        return gf_fail(err, GF_EINVAL, "%.*s is given twice", GF_SLICE_ARG(key));
    if (number != NONE) *seen |= UINT64_C(1) << number;
    gf_status st = write_setting(key, v, &text, err);
    if (st == GF_OK) st = add_pair(a, name, key, gf_buffer_view(&text), err);
    gf_buffer_release(&text);
    return st;
}

static gf_status add_settings(gf_arguments *a, const gf_parameter *p, gf_json_value v,
                              uint64_t *seen, gf_error *err)
{
    gf_slice key;
    gf_json_value item;
    gf_status st = GF_OK;
    if (gf_json_kind_of(v) != GF_JSON_OBJECT) return add_items(a, p, v, err);
    gf_json_iterator it = gf_json_items(v);
    while (st == GF_OK && gf_json_next(&it, &key, &item))
        st = add_setting(a, p->name, key, item, seen, err);
    return st;
}

/* ---- members --------------------------------------------------------------------------------- */

static gf_status add_value(gf_arguments *a, const gf_parameter *p, gf_json_value v,
                           uint64_t *settings, gf_error *err)
{
    bool is_text = gf_json_kind_of(v) == GF_JSON_STRING;
    switch (p->kind) {
    case GF_PARAMETER_FLAG:
        if (gf_json_kind_of(v) != GF_JSON_BOOL)
            return refuse_kind(p->name, "true or false", v, err);
        break;
    case GF_PARAMETER_NUMBER:
        if (!is_whole(v)) return refuse_kind(p->name, "a whole number", v, err);
        break;
    case GF_PARAMETER_SHARE:
        if (!gf_json_is_number(v)) return refuse_kind(p->name, "a number", v, err);
        return add_share(a, p->name, v, err);
    case GF_PARAMETER_BYTES:
    case GF_PARAMETER_MOMENT:
        if (!is_text && !is_whole(v))
            return refuse_kind(p->name, "a whole number, or text", v, err);
        break;
    case GF_PARAMETER_CHOICE:
        if (!is_text) return refuse_kind(p->name, p->value, v, err);
        break;
    case GF_PARAMETER_LIST:
    case GF_PARAMETER_SEVERAL:
        return add_items(a, p, v, err);
    case GF_PARAMETER_SETTINGS:
        return add_settings(a, p, v, settings, err);
    default:
        if (!is_scalar(v)) return refuse_kind(p->name, "text", v, err);
    }
    return add_text(a, p->name, v, err);
}

static bool was_given(const gf_arguments *a, size_t n_before, const char *name)
{
    for (size_t i = 0; i < n_before; i++)
        if (gf_slice_equal(a->at[i].name, gf_slice_str(name))) return true;
    return false;
}

gf_status gf_arguments_take_object(gf_arguments *a, gf_json_value object,
                                   gf_arguments_take_other *other, void *context, gf_error *err)
{
    _Static_assert(sizeof(uint64_t) * 8 >= 64, "a bit for each parameter and each setting");
    size_t n_before = a->n;
    uint64_t seen = 0, settings = 0;
    gf_slice name;
    gf_json_value v;
    gf_status st = GF_OK;
    gf_json_iterator it = gf_json_items(object);
    while (st == GF_OK && gf_json_next(&it, &name, &v)) {
        bool taken = false;
        if (other) st = other(context, name, v, &taken, err);
        if (st != GF_OK || taken) continue;
        const gf_parameter *p = find_settings(a->operation);
        int number = find_parameter(a->operation, name);
        bool is_setting = number == NONE && p && find_setting(name) != NONE;
        if (number == NONE && gf_slice_equal(name, GF_SLICE("namespace")))
            return gf_fail(err, GF_EINVAL, "namespace is a part of the address, not of the body");
        if (number == NONE && !is_setting) return gf_arguments_refuse_name(a->operation, name, err);
        if (number != NONE) p = &a->operation->parameters[number];
        if (number != NONE && seen >> number & 1)
            return gf_fail(err, GF_EINVAL, "%s is given twice", p->name);
        if (number != NONE) seen |= UINT64_C(1) << number;
        if (was_given(a, n_before, p->name))
            return gf_fail(err, GF_EINVAL, "%s is in the address already",
                           is_setting ? "a setting" : p->name);
        if (is_setting)
            st = add_setting(a, p->name, name, v, &settings, err);
        else if (gf_json_kind_of(v) != GF_JSON_NULL)
            st = add_value(a, p, v, &settings, err);
    }
    return st;
}

gf_status gf_arguments_take_json(gf_arguments *a, gf_slice json, gf_error *err)
{
    gf_json_parser *parser;
    gf_json_value root;
    gf_error why = {GF_OK, ""};
    gf_status st = gf_json_parser_create(&parser, err);
    if (st != GF_OK) return st;
    st = gf_json_parse_copy(parser, json, &root, &why);
    if (st == GF_EINVAL) gf_fail(err, st, "the body is no JSON: %s", why.message);
    if (st == GF_ENOMEM && err) *err = why;
    if (st == GF_OK && gf_json_kind_of(root) != GF_JSON_OBJECT)
        st = gf_fail(err, GF_EINVAL,
                     "the body is %s, and must be an object: {\"parameter\": value, ...}",
                     kind_name(root));
    if (st == GF_OK) st = gf_arguments_take_object(a, root, NULL, NULL, err);
    gf_json_parser_free(parser);
    return st;
}
