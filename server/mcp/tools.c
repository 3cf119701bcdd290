/*
 * Tools from the table of operations: a name, a schema of the arguments, what a call may do.
 *
 * No tool: an operation whose answer is a file (report, archive), and of the others the flag that
 * asks for one. What comes with a call is the argument "input", a text, or "records", objects that
 * become its lines.
 */
#include "server/mcp/internal.h"

#include "api/row_schema.h"
#include "base/glob.h"
#include "base/number.h"

#include <stdio.h>
#include <string.h>

enum { PAGE = 50 };

bool gf_mcp_tool_can_be(const gf_operation *o)
{
    return !o->file_only && (!o->file_type || o->file_flag);
}

void gf_mcp_tool_name(const gf_operation *o, char name[GF_MCP_TOOL_NAME])
{
    snprintf(name, GF_MCP_TOOL_NAME, "%s", o->name);
    for (char *c = name; *c; c++)
        if (*c == ' ') *c = '_';
}

bool gf_mcp_tool_is_allowed(const gf_mcp_options *options, const gf_operation *o)
{
    return gf_mcp_tool_can_be(o) && (options->writes || !gf_operation_writes(o)) &&
           (options->files || !o->local) && (options->network || !o->network);
}

bool gf_mcp_tool_is_offered(const gf_mcp_options *options, const gf_operation *o)
{
    char name[GF_MCP_TOOL_NAME];
    bool named = options->n_tools == 0;
    gf_mcp_tool_name(o, name);
    for (size_t i = 0; i < options->n_tools && !named; i++)
        named = gf_glob_matches(options->tools[i], gf_slice_str(name));
    return named && gf_mcp_tool_is_allowed(options, o);
}

size_t gf_mcp_tool_count(const gf_mcp_options *options)
{
    size_t n = 0;
    const gf_operation *o;
    for (size_t i = 0; (o = gf_operation_at(i)) != NULL; i++)
        n += gf_mcp_tool_is_offered(options, o);
    return n;
}

const gf_operation *gf_mcp_tool_find(gf_slice wanted)
{
    const gf_operation *o;
    char name[GF_MCP_TOOL_NAME];
    for (size_t i = 0; (o = gf_operation_at(i)) != NULL; i++) {
        gf_mcp_tool_name(o, name);
        if (gf_mcp_tool_can_be(o) && gf_slice_equal(gf_slice_str(name), wanted)) return o;
    }
    return NULL;
}

/* ---- schemas --------------------------------------------------------------------------------- */

static void put_words(gf_json_writer *w, const char *words)
{
    gf_json_key(w, "enum");
    gf_json_begin(w, '[');
    for (const char *word = words; *word;) {
        size_t n = strcspn(word, "|");
        gf_json_string(w, gf_slice_of(word, n));
        word += word[n] ? n + 1 : n;
    }
    gf_json_end(w, ']');
}

static void put_items(gf_json_writer *w)
{
    gf_json_put_str(w, "type", "array");
    gf_json_key(w, "items");
    gf_json_begin(w, '{');
    gf_json_put_str(w, "type", "string");
    gf_json_end(w, '}');
}

/* "F=V: documents of which this holds": the value as help shows it, where its kind does not say it. */
static void put_meaning(gf_json_writer *w, const gf_parameter *p)
{
    char text[512];
    bool says = p->kind == GF_PARAMETER_NUMBER || p->kind == GF_PARAMETER_SHARE ||
                p->kind == GF_PARAMETER_CHOICE || p->kind == GF_PARAMETER_FLAG ||
                p->kind == GF_PARAMETER_SETTINGS || !p->value;
    snprintf(text, sizeof text, "%s%s%s", says ? "" : p->value, says ? "" : ": ", p->meaning);
    gf_json_put_str(w, "description", text);
}

static void put_parameter(gf_json_writer *w, const gf_parameter *p)
{
    gf_json_key(w, p->name);
    gf_json_begin(w, '{');
    switch (p->kind) {
    case GF_PARAMETER_NUMBER:
        gf_json_put_str(w, "type", "integer");
        gf_json_put_uint(w, "minimum", p->least);
        if (p->most) gf_json_put_uint(w, "maximum", p->most);
        break;
    case GF_PARAMETER_SHARE:
        gf_json_put_str(w, "type", "number");
        gf_json_put_uint(w, "minimum", 0);
        gf_json_put_uint(w, "maximum", 1);
        break;
    case GF_PARAMETER_FLAG:
        gf_json_put_str(w, "type", "boolean");
        break;
    case GF_PARAMETER_LIST:
    case GF_PARAMETER_SEVERAL:
        put_items(w);
        break;
    case GF_PARAMETER_SETTINGS: /* settings by their names */
        gf_json_put_str(w, "type", "object");
        break;
    case GF_PARAMETER_CHOICE:
        gf_json_put_str(w, "type", "string");
        put_words(w, p->value);
        break;
    default:
        gf_json_put_str(w, "type", "string");
        gf_json_put_uint(w, "minLength", 1);
    }
    put_meaning(w, p);
    gf_json_end(w, '}');
}

static void put_inputs(gf_json_writer *w)
{
    gf_json_key(w, "input");
    gf_json_begin(w, '{');
    gf_json_put_str(w, "type", "string");
    gf_json_put_str(w, "description",
                    "what comes with the call, as text: JSON Lines, CSV, or ids one a line");
    gf_json_end(w, '}');
    gf_json_key(w, "records");
    gf_json_begin(w, '{');
    gf_json_put_str(w, "type", "array");
    gf_json_key(w, "items");
    gf_json_begin(w, '{');
    gf_json_put_str(w, "type", "object");
    gf_json_end(w, '}');
    gf_json_put_str(w, "description",
                    "instead of input: records, such as {\"id\": \"1\", \"text\": \"...\"}");
    gf_json_end(w, '}');
}

static bool is_file_flag(const gf_operation *o, const gf_parameter *p)
{
    return o->file_flag && strcmp(o->file_flag, p->name) == 0;
}

/* A pattern need not be there where "all" can name the collections. */
static bool is_needed(const gf_operation *o, const gf_parameter *p)
{
    bool all = false;
    for (size_t i = 0; i < o->n_parameters; i++)
        all |= strcmp(o->parameters[i].name, "all") == 0;
    return p->required && !(all && strcmp(p->name, "collection") == 0);
}

static void put_required(gf_json_writer *w, const gf_operation *o)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n_parameters; i++) {
        if (!is_needed(o, &o->parameters[i])) continue;
        if (n++ == 0) {
            gf_json_key(w, "required");
            gf_json_begin(w, '[');
        }
        gf_json_string(w, gf_slice_str(o->parameters[i].name));
    }
    if (n) gf_json_end(w, ']');
}

static void put_schema(gf_json_writer *w, const gf_operation *o)
{
    gf_json_key(w, "inputSchema");
    gf_json_begin(w, '{');
    gf_json_put_str(w, "type", "object");
    gf_json_key(w, "properties");
    gf_json_begin(w, '{');
    for (size_t i = 0; i < o->n_parameters; i++)
        if (!is_file_flag(o, &o->parameters[i])) put_parameter(w, &o->parameters[i]);
    if (o->input != GF_INPUT_NONE) put_inputs(w);
    gf_json_end(w, '}');
    put_required(w, o);
    gf_json_put_bool(w, "additionalProperties", false);
    gf_json_end(w, '}');
}

/* A member of the results' schema. */
static void put_result(gf_json_writer *w, const char *name, const char *type)
{
    gf_json_key(w, name);
    gf_json_begin(w, '{');
    gf_json_put_str(w, "type", type);
    gf_json_end(w, '}');
}

/* Rows of any form that the operation's parameters ask for. */
static void put_rows(gf_json_writer *w, const gf_row_member *members)
{
    gf_row_member_form form;
    bool several = gf_row_member_form_at(members, 1, &form);
    gf_json_key(w, "rows");
    gf_json_begin(w, '{');
    gf_json_put_str(w, "type", "array");
    gf_json_key(w, "items");
    gf_json_begin(w, '{');
    if (several) {
        gf_json_key(w, "anyOf");
        gf_json_begin(w, '[');
    }
    for (size_t i = 0; gf_row_member_form_at(members, i, &form); i++) {
        if (several) gf_json_begin(w, '{');
        gf_row_schema_write(w, members, form, GF_ROW_SCHEMA_BARE);
        if (several) gf_json_end(w, '}');
    }
    if (several) gf_json_end(w, ']');
    gf_json_end(w, '}');
    gf_json_end(w, '}');
}

/* The schema of the answer's structuredContent (answer.c), where rows say what they hold. */
static void put_output(gf_json_writer *w, const gf_operation *o)
{
    if (!o->members) return;
    gf_json_key(w, "outputSchema");
    gf_json_begin(w, '{');
    gf_json_put_str(w, "type", "object");
    gf_json_key(w, "properties");
    gf_json_begin(w, '{');
    put_rows(w, o->members);
    put_result(w, "more", "string");
    put_result(w, "outcome", "string");
    put_result(w, "notices", "array");
    put_result(w, "further_notices", "integer");
    put_result(w, "error", "object");
    gf_json_end(w, '}');
    gf_json_key(w, "required");
    gf_json_begin(w, '[');
    gf_json_string(w, GF_SLICE("rows"));
    gf_json_end(w, ']');
    gf_json_end(w, '}');
}

/* Hints, as clients show them before they let a call be made. */
static void put_hints(gf_json_writer *w, const gf_operation *o)
{
    bool writes = gf_operation_writes(o);
    bool same = strcmp(o->method, "PUT") == 0 || strcmp(o->method, "DELETE") == 0 || o->resumes;
    gf_json_key(w, "annotations");
    gf_json_begin(w, '{');
    gf_json_put_bool(w, "readOnlyHint", !writes);
    gf_json_put_bool(w, "destructiveHint", writes && !o->creates && !o->elsewhere);
    gf_json_put_bool(w, "idempotentHint", !writes || same);
    gf_json_put_bool(w, "openWorldHint", o->network);
    gf_json_end(w, '}');
}

static void put_tool(gf_json_writer *w, const gf_operation *o)
{
    char name[GF_MCP_TOOL_NAME];
    gf_mcp_tool_name(o, name);
    gf_json_begin(w, '{');
    gf_json_put_str(w, "name", name);
    gf_json_put_str(w, "title", o->name);
    gf_json_put_str(w, "description", o->meaning);
    put_schema(w, o);
    put_output(w, o);
    put_hints(w, o);
    gf_json_end(w, '}');
}

/* ---- the list -------------------------------------------------------------------------------- */

bool gf_mcp_tools_write(gf_json_writer *w, const gf_mcp_options *options, gf_slice cursor)
{
    size_t total = gf_mcp_tool_count(options), at = 0;
    uint64_t first = 0;
    const gf_operation *o;
    char next[24];
    if (cursor.len && (!gf_number_read(cursor, &first) || first == 0 || first >= total))
        return false;
    gf_json_key(w, "tools");
    gf_json_begin(w, '[');
    for (size_t i = 0; (o = gf_operation_at(i)) != NULL; i++) {
        if (!gf_mcp_tool_is_offered(options, o)) continue;
        if (at >= first && at < first + PAGE) put_tool(w, o);
        at++;
    }
    gf_json_end(w, ']');
    if (first + PAGE < total) {
        snprintf(next, sizeof next, "%zu", (size_t)first + PAGE);
        gf_json_put_str(w, "nextCursor", next);
    }
    return true;
}
