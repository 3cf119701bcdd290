/* table create, list, describe, alter, drop: tables of users as a whole. */
#include "api/tables/internal.h"
#include "api/tables/schema.h"
#include "base/number.h"
#include "engine/user_tables/alter.h"

/* ---- schemas from arguments -------------------------------------------------------------------
 *
 *     key      user:text   seq:uint64   sha1:raw:20   or several: user,time:int64-desc,event
 *     family   info   friend:wide,versions=3,ttl=86400,snappy,type=int64,qualifier=bytes
 *     column   info:age=int64
 */

static bool take_until(gf_slice *rest, char end, gf_slice *piece)
{
    if (!rest->ptr) return false;
    const char *at = rest->len ? memchr(rest->ptr, end, rest->len) : NULL;
    size_t n = at ? (size_t)(at - rest->ptr) : rest->len;
    *piece = gf_slice_of(rest->ptr, n);
    *rest = at ? gf_slice_skip(*rest, n + 1) : (gf_slice){0};
    return true;
}

static void write_part(gf_json_writer *w, gf_slice argument)
{
    gf_slice name = {0}, type = {0};
    take_until(&argument, ':', &name);
    bool typed = take_until(&argument, ':', &type);
    gf_json_begin(w, '{');
    gf_json_put_string(w, "name", name);
    if (typed) gf_json_put_string(w, "type", type);
    if (argument.ptr) {
        gf_json_key(w, "width");
        /* The reader of the schema reports an argument that is no number. */
        uint64_t width = 0;
        for (size_t i = 0; i < argument.len && i < 9; i++)
            width = argument.ptr[i] >= '0' && argument.ptr[i] <= '9'
                        ? width * 10 + (uint64_t)(argument.ptr[i] - '0')
                        : 999999999;
        gf_json_uint(w, width);
    }
    gf_json_end(w, '}');
}

static gf_status write_setting(gf_json_writer *w, gf_slice setting, gf_error *err)
{
    static const char *const numbers[] = {"versions", "ttl"}, *const types[] = {"type",
                                                                                "qualifier"};
    gf_slice name = {0}, value = setting;
    take_until(&value, '=', &name);
    if (gf_slice_equal(setting, GF_SLICE("packed")) || gf_slice_equal(setting, GF_SLICE("wide"))) {
        gf_json_put_string(w, "layout", setting);
        return GF_OK;
    }
    if (gf_slice_equal(setting, GF_SLICE("snappy"))) {
        gf_json_put_string(w, "compression", setting);
        return GF_OK;
    }
    for (int i = 0; i < 2 && value.ptr; i++) {
        if (gf_slice_equal(name, gf_slice_str(types[i]))) {
            gf_json_put_string(w, types[i], value);
            return GF_OK;
        }
        if (!gf_slice_equal(name, gf_slice_str(numbers[i]))) continue;
        bool digits = value.len > 0 && value.len < 11;
        for (size_t c = 0; c < value.len; c++)
            digits &= value.ptr[c] >= '0' && value.ptr[c] <= '9';
        if (!digits || (value.len > 1 && value.ptr[0] == '0')) break;
        gf_json_key(w, numbers[i]);
        gf_json_raw(w, value);
        return GF_OK;
    }
    return gf_fail(err, GF_EINVAL,
                   "family: \"%.*s\" is none of packed, wide, snappy, versions=N, ttl=SECONDS, "
                   "type=TYPE, qualifier=TYPE",
                   GF_SLICE_ARG(setting));
}

/* "info:age=int64": the family, the column, the type. */
static gf_status split_column(gf_slice argument, gf_slice *family, gf_slice *column, gf_slice *type,
                              gf_error *err)
{
    gf_slice all = argument;
    const char *equals = NULL;
    for (size_t i = 0; i < argument.len; i++)
        if (argument.ptr[i] == '=') equals = argument.ptr + i;
    if (equals && memchr(argument.ptr, ':', (size_t)(equals - argument.ptr))) {
        size_t n = (size_t)(equals - argument.ptr);
        *type = gf_slice_skip(argument, n + 1);
        argument.len = n;
        take_until(&argument, ':', family);
        *column = argument;
        return GF_OK;
    }
    return gf_fail(err, GF_EINVAL, "column: \"%.*s\" is not FAMILY:COLUMN=TYPE", GF_SLICE_ARG(all));
}

/* The columns of a family, if any is given. */
static gf_status write_columns(gf_json_writer *w, const gf_call *call, const char *argument,
                               gf_slice family, gf_error *err)
{
    bool any = false;
    gf_status st = GF_OK;
    for (size_t i = 0; i < gf_call_count(call, argument) && st == GF_OK; i++) {
        gf_slice of, column, type;
        st = split_column(gf_call_nth(call, argument, i), &of, &column, &type, err);
        if (st != GF_OK || !gf_slice_equal(of, family)) continue;
        if (!any) {
            gf_json_key(w, "columns");
            gf_json_begin(w, '{');
        }
        any = true;
        gf_json_key_slice(w, column);
        gf_json_string(w, type);
    }
    if (any) gf_json_end(w, '}');
    return st;
}

static gf_status write_family(gf_json_writer *w, const gf_call *call, gf_slice argument,
                              const char *columns, gf_error *err)
{
    gf_slice name = {0}, setting;
    gf_status st = GF_OK;
    take_until(&argument, ':', &name);
    gf_json_begin(w, '{');
    gf_json_put_string(w, "name", name);
    while (st == GF_OK && take_until(&argument, ',', &setting))
        if (setting.len) st = write_setting(w, setting, err);
    if (st == GF_OK) st = write_columns(w, call, columns, name, err);
    gf_json_end(w, '}');
    return st;
}

/* Whether a family of that name is among the arguments; or an earlier column has it. */
static bool is_given(const gf_call *call, const char *families, gf_slice family)
{
    for (size_t i = 0; i < gf_call_count(call, families); i++) {
        gf_slice argument = gf_call_nth(call, families, i), name = {0};
        take_until(&argument, ':', &name);
        if (gf_slice_equal(name, family)) return true;
    }
    return false;
}

/* Columns of families that are not given themselves: each of these families once. */
static gf_status write_other_columns(gf_json_writer *w, const gf_call *call, const char *families,
                                     const char *columns, bool allowed, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < gf_call_count(call, columns) && st == GF_OK; i++) {
        gf_slice family, before, column, type;
        bool known;
        st = split_column(gf_call_nth(call, columns, i), &family, &column, &type, err);
        if (st != GF_OK) break;
        known = is_given(call, families, family);
        if (!known && !allowed)
            return gf_fail(err, GF_EINVAL, "column: there is no family \"%.*s\" among those given",
                           GF_SLICE_ARG(family));
        for (size_t j = 0; j < i && !known; j++)
            known = split_column(gf_call_nth(call, columns, j), &before, &column, &type, NULL) ==
                        GF_OK &&
                    gf_slice_equal(before, family);
        if (!known) st = write_family(w, call, family, columns, err);
    }
    return st;
}

static gf_status schema_of_arguments(const gf_call *call, bool addition, gf_buffer *json,
                                     gf_error *err)
{
    const char *families = addition ? "add-family" : "family";
    const char *columns = addition ? "add-column" : "column";
    gf_json_writer writer = gf_json_writer_to(json), *w = &writer;
    gf_status st = GF_OK;
    gf_json_begin(w, '{');
    if (!addition) {
        gf_json_key(w, "key");
        gf_json_begin(w, '[');
        for (size_t i = 0; i < gf_call_count(call, "key"); i++) {
            gf_slice rest = gf_call_nth(call, "key", i), part;
            while (take_until(&rest, ',', &part))
                write_part(w, part);
        }
        gf_json_end(w, ']');
    }
    gf_json_key(w, "families");
    gf_json_begin(w, '[');
    for (size_t i = 0; i < gf_call_count(call, families) && st == GF_OK; i++)
        st = write_family(w, call, gf_call_nth(call, families, i), columns, err);
    if (st == GF_OK) st = write_other_columns(w, call, families, columns, addition, err);
    gf_json_end(w, ']');
    gf_json_end(w, '}');
    return st == GF_OK ? gf_buffer_check(json, err) : st;
}

/* ---- schemas from the input ------------------------------------------------------------------ */

enum { MOST_SCHEMA = 1 << 20 };

static gf_status schema_of_input(gf_call *call, gf_buffer *json, gf_error *err)
{
    gf_slice name;
    size_t n = 1;
    gf_status st = call->input.next(call->input.context, &name, err);
    while (st == GF_OK && n > 0) {
        char *to = gf_buffer_reserve(json, 4096);
        if (!to) return gf_buffer_check(json, err);
        st = call->input.read(call->input.context, to, 4096, &n, err);
        json->len += st == GF_OK ? n : 0;
        if (json->len > MOST_SCHEMA)
            return gf_fail(err, GF_ELIMIT, "a schema of more than %d bytes", MOST_SCHEMA);
    }
    return st;
}

static gf_status schema_of(gf_call *call, bool addition, gf_buffer *json, gf_error *err)
{
    bool given = addition ? gf_call_has(call, "add-family") || gf_call_has(call, "add-column")
                          : gf_call_has(call, "key") || gf_call_has(call, "family") ||
                                gf_call_has(call, "column");
    if (given && call->input.next)
        return gf_fail(err, GF_EINVAL, "give either a schema, or its parts");
    if (!given && !call->input.next)
        return gf_fail(err, GF_EINVAL,
                       addition
                           ? "nothing to change: give families, columns, a schema, ttl or versions"
                           : "a table needs a schema, or --key and --family");
    return given ? schema_of_arguments(call, addition, json, err)
                 : schema_of_input(call, json, err);
}

/* ---- the operations -------------------------------------------------------------------------- */

/* The members "key" and "families" of a schema behind the table's name. */
static gf_status emit_schema(gf_row_writer *row, gf_slice name, const char *of, gf_slice schema,
                             gf_error *err)
{
    gf_json_writer *w = gf_row_writer_begin(row);
    gf_json_put_string(w, "table", name);
    if (of) gf_json_put_str(w, "of", of);
    gf_status st = gf_buffer_check(&row->buffer, err);
    if (st != GF_OK) return st;
    /* {"key":...}: all but its first brace goes on where the name ends. */
    gf_buffer_byte(&row->buffer, ',');
    gf_buffer_slice(&row->buffer, gf_slice_of(schema.ptr + 1, schema.len - 2));
    return gf_row_writer_emit(row, err);
}

static gf_status describe(gf_call *call, gf_store *store, gf_error *err)
{
    gf_user_table *t;
    const char *of = NULL;
    gf_row_writer row = {.call = call};
    gf_slice name = gf_call_text(call, "table");
    gf_status st;
    if (gf_call_flag(call, "system"))
        st = gf_table_open_system(store, call->name_space, name, &t, &of, err);
    else
        st = gf_table_absent(store, name,
                             gf_user_table_open(store, call->name_space, name, &t, err), err);
    if (st != GF_OK) return st;
    st = emit_schema(&row, gf_user_table_name(t), of, gf_user_table_json(t), err);
    gf_row_writer_release(&row);
    gf_user_table_close(t);
    return st;
}

static gf_status run_table_create(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_buffer json = {0};
    gf_status st = schema_of(call, false, &json, err);
    if (st == GF_OK) st = gf_call_open_store(call, true, &store, err);
    if (st == GF_OK)
        st = gf_user_table_create(store, call->name_space, gf_call_text(call, "table"),
                                  gf_buffer_view(&json), err);
    gf_buffer_release(&json);
    return st == GF_OK ? describe(call, store, err) : st;
}

/* "90", "30d", "off": seconds; of other text false. */
static bool read_seconds(gf_slice text, uint64_t *seconds)
{
    static const struct {
        char letter;
        uint64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};
    uint64_t unit = 1;
    if (gf_slice_equal(text, GF_SLICE("off"))) {
        *seconds = 0;
        return true;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0] && text.len; i++)
        if (text.ptr[text.len - 1] == units[i].letter) {
            unit = units[i].seconds;
            text.len--;
            break;
        }
    return gf_number_read(text, seconds) && *seconds > 0 && *seconds <= UINT32_MAX / unit &&
           (*seconds *= unit, true);
}

/* "seen=30d" of ttl, "log=5" of versions. */
typedef struct kept_change {
    gf_slice family;
    uint64_t number;
    uint32_t versions;
    bool is_ttl;
} kept_change;

static gf_status read_kept(const char *argument, gf_slice text, kept_change *k, gf_error *err)
{
    gf_slice rest = text;
    *k = (kept_change){.is_ttl = strcmp(argument, "ttl") == 0};
    take_until(&rest, '=', &k->family);
    bool good =
        rest.ptr && (k->is_ttl ? read_seconds(rest, &k->number) : gf_number_read(rest, &k->number));
    if (!good || k->number > UINT32_MAX)
        return gf_fail(err, GF_EINVAL, "%s: \"%.*s\" is not %s", argument, GF_SLICE_ARG(text),
                       k->is_ttl ? "FAMILY=30d, with s, m, h, d or w behind the number, or "
                                   "FAMILY=off"
                                 : "FAMILY=N");
    k->versions = (uint32_t)k->number;
    return GF_OK;
}

static const char *const kept_arguments[] = {"versions", "ttl"};

/* Whether the i-th of an argument can be done, and is said once. */
static gf_status check_one(gf_call *call, const gf_user_table *t, const char *argument, size_t i,
                           gf_error *err)
{
    kept_change k, before;
    unsigned family;
    gf_status st = read_kept(argument, gf_call_nth(call, argument, i), &k, err);
    if (st != GF_OK) return st;
    st = gf_user_table_check_kept(t, k.family, k.is_ttl ? NULL : &k.versions,
                                  k.is_ttl ? &k.number : NULL, &family, err);
    if (st == GF_EINVAL) gf_error_prefix(err, "%s", argument);
    for (size_t j = 0; j < i && st == GF_OK; j++) {
        st = read_kept(argument, gf_call_nth(call, argument, j), &before, err);
        if (st == GF_OK && gf_slice_equal(before.family, k.family))
            st = gf_fail(err, GF_EINVAL, "%s: family \"%.*s\" is named twice", argument,
                         GF_SLICE_ARG(k.family));
    }
    return st;
}

/* All that is to be changed, before the first change. */
static gf_status check_kept(gf_call *call, gf_store *store, gf_error *err)
{
    gf_user_table *t = NULL;
    gf_slice name = gf_call_text(call, "table");
    gf_status st = gf_user_table_open(store, call->name_space, name, &t, err);
    if (st != GF_OK) return gf_table_absent(store, name, st, err);
    for (size_t a = 0; a < 2; a++)
        for (size_t i = 0; i < gf_call_count(call, kept_arguments[a]) && st == GF_OK; i++)
            st = check_one(call, t, kept_arguments[a], i, err);
    gf_user_table_close(t);
    return st;
}

static gf_status alter_kept(gf_call *call, gf_store *store, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t a = 0; a < 2; a++)
        for (size_t i = 0; i < gf_call_count(call, kept_arguments[a]) && st == GF_OK; i++) {
            kept_change k;
            st = read_kept(kept_arguments[a], gf_call_nth(call, kept_arguments[a], i), &k, err);
            if (st == GF_OK)
                st = gf_user_table_alter_family(
                    store, call->name_space, gf_call_text(call, "table"), k.family,
                    k.is_ttl ? NULL : &k.versions, k.is_ttl ? &k.number : NULL, call->cancel, err);
        }
    return st;
}

static gf_status run_table_alter(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_slice name = gf_call_text(call, "table");
    gf_buffer json = {0};
    bool keeps = gf_call_has(call, "ttl") || gf_call_has(call, "versions");
    bool adds = gf_call_has(call, "add-family") || gf_call_has(call, "add-column") ||
                call->input.next || !keeps;
    gf_status st = adds ? schema_of(call, true, &json, err) : GF_OK;
    if (st == GF_OK) st = gf_call_store(call, &store, err);
    /* Cells can go by a change of what is kept: nothing is changed before all is good. */
    if (st == GF_OK && keeps) st = check_kept(call, store, err);
    if (st == GF_OK && adds)
        st = gf_table_absent(store, name,
                             gf_user_table_check_additions(store, call->name_space, name,
                                                           gf_buffer_view(&json), err),
                             err);
    if (st == GF_OK && keeps) st = alter_kept(call, store, err);
    if (st == GF_OK && adds)
        st = gf_user_table_alter(store, call->name_space, name, gf_buffer_view(&json), err);
    gf_buffer_release(&json);
    return st == GF_OK ? describe(call, store, err) : st;
}

static gf_status run_table_describe(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_status st = gf_call_store(call, &store, err);
    return st == GF_OK ? describe(call, store, err) : st;
}

static gf_status run_table_drop(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_slice name = gf_call_text(call, "table");
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK) {
        st = gf_user_table_drop(store, call->name_space, name, call->cancel, err);
        st = gf_table_absent(store, name, st, err);
    }
    if (st != GF_OK) return st;
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_string(w, "table", name);
    gf_json_put_bool(w, "dropped", true);
    return gf_row_writer_emit_only(&row, err);
}

static gf_status emit_listed(void *context, gf_slice name, gf_slice schema, gf_error *err)
{
    gf_row_writer *row = context;
    gf_status st = gf_cancel_check(row->call->cancel, err);
    return st == GF_OK ? emit_schema(row, name, NULL, schema, err) : st;
}

static gf_status emit_system(void *context, const gf_user_table *t, const char *of, gf_error *err)
{
    gf_row_writer *row = context;
    gf_status st = gf_cancel_check(row->call->cancel, err);
    if (st != GF_OK) return st;
    return emit_schema(row, gf_user_table_name(t), of, gf_user_table_json(t), err);
}

static gf_status run_table_list(gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_row_writer row = {.call = call};
    gf_slice prefix = gf_call_text(call, "prefix");
    gf_status st = gf_call_store(call, &store, err);
    if (st == GF_OK && gf_call_flag(call, "system"))
        st = gf_table_visit_system(store, call->name_space, prefix, emit_system, &row, err);
    else if (st == GF_OK)
        st = gf_user_tables_visit(store, call->name_space, prefix, emit_listed, &row, err);
    gf_row_writer_release(&row);
    return st;
}

/* ---- the operations -------------------------------------------------------------------------- */

static const gf_parameter table_create_parameters[] = {
    P_TABLE,
    P_SEVERAL("key", false, "NAME:TYPE,...",
              "a part of the row key: text, bytes, int64, uint64, int64-desc, uint64-desc, "
              "raw:WIDTH"),
    P_SEVERAL("family", false, "F[:WORD,...]",
              "a family: wide, snappy, versions=N, ttl=SECONDS, type=TYPE, qualifier=TYPE"),
    P_SEVERAL("column", false, "F:C=TYPE",
              "a column: text, bytes, int64, uint64, decimal, float, json")};

static const gf_parameter table_list_parameters[] = {
    P_TEXT("prefix", "TEXT", "only names that start so"),
    P_FLAG("system", "those of the engine and of the applications instead")};

static const gf_parameter table_one_parameters[] = {P_TABLE};

static const gf_parameter table_describe_parameters[] = {P_TABLE, P_SYSTEM};

static const gf_parameter table_alter_parameters[] = {
    P_TABLE,
    P_SEVERAL("add-family", false, "F[:WORD,...]",
              "a family: wide, snappy, versions=N, ttl=SECONDS, type=TYPE, qualifier=TYPE"),
    P_SEVERAL("add-column", false, "F:C=TYPE", "a column of a packed family, with its type"),
    P_SEVERAL("ttl", false, "F=TIME",
              "a family's time to live: seconds, 90m, 12h, 30d, 4w, or off"),
    P_SEVERAL("versions", false, "F=N", "how many versions a family that keeps several keeps")};

const gf_operation gf_table_create_operation = {
    .name = "table create",
    .method = "PUT",
    .path = "/tables/{table}",
    .meaning = "Make a table",
    GF_PARAMETERS(table_create_parameters),
    .members = gf_schema_table_create,
    .run = run_table_create,
    .input = GF_INPUT_OPTIONAL,
    .makes = true,
};

const gf_operation gf_table_list_operation = {
    .name = "table list",
    .method = "GET",
    .path = "/tables",
    .meaning = "List tables",
    GF_PARAMETERS(table_list_parameters),
    .members = gf_schema_table_list,
    .run = run_table_list,
};

const gf_operation gf_table_describe_operation = {
    .name = "table describe",
    .method = "GET",
    .path = "/tables/{table}",
    .meaning = "Show a table's key and families",
    GF_PARAMETERS(table_describe_parameters),
    .members = gf_schema_table_list,
    .run = run_table_describe,
};

const gf_operation gf_table_alter_operation = {
    .name = "table alter",
    .method = "PATCH",
    .path = "/tables/{table}",
    .meaning = "Add families and columns to a table, change what is kept",
    GF_PARAMETERS(table_alter_parameters),
    .members = gf_schema_table_create,
    .run = run_table_alter,
};

const gf_operation gf_table_drop_operation = {
    .name = "table drop",
    .method = "DELETE",
    .path = "/tables/{table}",
    .meaning = "Drop a table with all that is in it",
    GF_PARAMETERS(table_one_parameters),
    .members = gf_schema_table_drop,
    .run = run_table_drop,
};
