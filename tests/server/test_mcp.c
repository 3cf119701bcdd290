/* The Model Context Protocol: messages good and bad, tools, bounded answers, cancelling. */
#include "apps/apps.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "server/mcp/mcp.h"
#include "support/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BEGIN                                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"     \
    "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"
#define STATELESS                                                                                  \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define CALL(id, tool, arguments)                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool    \
    "\",\"arguments\":" arguments "}}\n"

/* What a call does here, in place of a store's work. */
typedef struct scene {
    const char *row; /* emitted n times, */
    uint64_t n;
    gf_status status; /* then this is the end */
    bool waits;       /* until it is cancelled */
    bool tells;       /* progress, until it is cancelled or the time is up */
    int n_runs, n_emitted;
    char seen[4096]; /* "operation name=value name=value | input" of the last call */
} scene;

static void note_call(scene *s, const gf_operation *o, const gf_call *call)
{
    size_t n = (size_t)snprintf(s->seen, sizeof s->seen, "%s", o->name), got = 1;
    gf_slice name;
    for (size_t i = 0; i < call->n_arguments && n < sizeof s->seen; i++)
        n += (size_t)snprintf(s->seen + n, sizeof s->seen - n, " %.*s=%.*s",
                              GF_SLICE_ARG(call->arguments[i].name),
                              GF_SLICE_ARG(call->arguments[i].value));
    if (!call->input.next || call->input.next(call->input.context, &name, NULL) != GF_OK) return;
    n += (size_t)snprintf(s->seen + n, sizeof s->seen - n, " | ");
    while (got && call->input.read(call->input.context, s->seen + n, sizeof s->seen - 1 - n, &got,
                                   NULL) == GF_OK)
        n += got;
    s->seen[n] = '\0';
}

static gf_status act(void *context, const gf_operation *o, gf_call *call, gf_error *err)
{
    scene *s = context;
    gf_status st = GF_OK;
    s->n_runs++;
    note_call(s, o, call);
    for (uint64_t i = 0; st == GF_OK && i < s->n; i++) {
        st = gf_call_emit(call, gf_slice_str(s->row), err);
        if (st == GF_OK) s->n_emitted++;
    }
    for (int i = 0; s->tells && st == GF_OK && i < 600; i++) {
        gf_call_progress(call, GF_SLICE("feedback"), "clustering", (uint64_t)i, 600);
        usleep(1000);
    }
    while (s->waits && st == GF_OK) {
        st = gf_cancel_check(call->cancel, err);
        usleep(1000);
    }
    if (st == GF_OK && s->status != GF_OK) st = gf_fail(err, s->status, "it is so");
    return st;
}

/* ---- whole conversations --------------------------------------------------------------------- */

static gf_mcp_options options_of(scene *s)
{
    return (gf_mcp_options){.run = act, .context = s, .name_space = GF_SLICE("default")};
}

static void read_back(FILE *file, gf_buffer *out)
{
    char piece[4096];
    size_t n;
    rewind(file);
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        gf_buffer_append(out, piece, n);
}

static bool memory_failed; /* an allocation of the last conversation, as it was asked for */

static gf_status converse_bytes(gf_mcp_options options, gf_slice in, gf_buffer *out, gf_error *err)
{
    FILE *from = tmpfile(), *to = tmpfile();
    assert_non_null(from);
    assert_non_null(to);
    assert_int_equal(fwrite(in.ptr, 1, in.len, from), in.len);
    rewind(from);
    options.in = fileno(from);
    options.out = fileno(to);
    gf_status st = gf_mcp_serve(&options, err);
    memory_failed = gf_memory_failed();
    gf_memory_fail_at(-1);
    read_back(to, out);
    fclose(from);
    fclose(to);
    return st;
}

/* All that is answered; NUL-terminated, of the last call. */
static const char *converse(gf_mcp_options options, const char *in)
{
    static gf_buffer out;
    gf_error err;
    gf_buffer_reset(&out);
    assert_ok(converse_bytes(options, gf_slice_str(in), &out, &err));
    return gf_buffer_cstr(&out);
}

static void assert_has(const char *text, const char *piece)
{
    if (!strstr(text, piece)) fail_msg("\"%s\" is not in: %.2000s", piece, text);
}

static void assert_lacks(const char *text, const char *piece)
{
    if (strstr(text, piece)) fail_msg("\"%s\" is in: %.2000s", piece, text);
}

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void answers_messages(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out; /* out: NULL, nothing more is answered */
    } cases[] = {
        {"nonsense\n", "\"id\":null,\"error\":{\"code\":-32700"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"\n", "\"code\":-32700"},
        {"\"text\"\n", "\"code\":-32600"},
        {"{\"id\":1,\"method\":\"ping\"}\n", "\"id\":1,\"error\":{\"code\":-32600"},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}\n", "\"code\":-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n", "\"code\":-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}\n", "\"code\":-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n", "\"code\":-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1}\n", "\"code\":-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}\n", "\"code\":-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}\n", "\"code\":-32602"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"\",\"method\":\"ping\"}\r\n",
         "\"id\":\"a\\\"\",\"result\""},
        {"{\"jsonrpc\":\"2.0\",\"id\":18446744073709551615,\"method\":\"ping\"}\n",
         "\"id\":18446744073709551615,\"result\""},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
         "\"result\":{}"}, /* no end of a line */
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}\n", "\"code\":-32601"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
         "\"2025-06-18\"}}\n",
         "initialize comes once"},
        {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n", "only revision 2025-03-26"},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n", NULL},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"anything/else\"}\n", NULL},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
         "cancelled\",\"params\":{\"requestId\":99}}\n",
         NULL},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
         "cancelled\",\"params\":{\"requestId\":{}}}\n",
         NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", NULL},
        {"\n  \r\n\n", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"x\"}}\n",
         "\"code\":-32602"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":7}}\n",
         "\"code\":-32602"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
         "list\",\"params\":{\"cursor\":\"100000\"}}\n",
         "\"code\":-32602"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}\n", "\"code\":-32602"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":7}}\n",
         "\"code\":-32602"},
        {CALL("1", "clusters", "[]"), "\"arguments\\\" is not an object"},
        {CALL("1", "no_such", "{}"), "there is no tool \\\"no_such\\\""},
        {CALL("1", "put", "{}"), "--allow-writes"},
        {CALL("1", "backup", "{}"), "--allow-writes --allow-files"},
        {CALL("1", "names", "{}"), "--allow-writes --allow-files --allow-network"},
        {CALL("1", "archive", "{}"), "there is no tool"},
        {CALL("1", "clusters", "{\"collection\":[1]}"),
         "collection: it is an array, and must be text"},
        {CALL("1", "assign", "{\"collection\":\"x\",\"records\":[7]}"),
         "records: is an array of objects"},
        {CALL("1", "assign", "{\"collection\":\"x\",\"records\":[],\"input\":\"\"}"),
         "either input or records"},
        {CALL("1", "assign", "{\"collection\":\"x\",\"input\":7}"), "input: is a string"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scene s = {.n = 0};
        gf_buffer in = {0};
        gf_buffer_str(&in, BEGIN);
        gf_buffer_str(&in, cases[i].in);
        const char *out = converse(options_of(&s), gf_buffer_cstr(&in));
        assert_has(out, "\"protocolVersion\":\"2025-11-25\"");
        if (cases[i].out) assert_has(out, cases[i].out);
        assert_int_equal(count_lines(out), cases[i].out ? 2 : 1);
        assert_int_equal(s.n_runs, 0);
        gf_buffer_release(&in);
    }
}

static void agrees_on_a_revision(void **state)
{
    (void)state;
    static const char *const asked[][2] = {{"2024-11-05", "2024-11-05"},
                                           {"2025-03-26", "2025-03-26"},
                                           {"2025-06-18", "2025-06-18"},
                                           {"2025-11-25", "2025-11-25"},
                                           {"2026-07-28", "2025-11-25"},
                                           {"1999-01-01", "2025-11-25"},
                                           {"", "2025-11-25"}};
    scene s = {.n = 0};
    char in[400], out[100];
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        snprintf(in, sizeof in,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
                 "{\"protocolVersion\":\"%s\"}}\n",
                 asked[i][0]);
        snprintf(out, sizeof out, "\"protocolVersion\":\"%s\"", asked[i][1]);
        assert_has(converse(options_of(&s), in), out);
    }
    assert_has(
        converse(options_of(&s), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n"),
        "\"code\":-32602");
}

static void wants_a_beginning(void **state)
{
    (void)state;
    scene s = {.n = 0};
    assert_has(converse(options_of(&s), CALL("1", "clusters", "{\"collection\":\"x\"}")),
               "initialize comes first");
    assert_has(converse(options_of(&s), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"),
               "\"result\":{}");
    assert_int_equal(s.n_runs, 0);
}

/* Revision 2026-07-28: each request says all that has to be known of it. */
static void answers_stateless_requests(void **state)
{
    (void)state;
    scene s = {.row = "{\"a\":1}", .n = 1};
    const char *out = converse(
        options_of(&s),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{" STATELESS "}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{" STATELESS "}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\",\"params\":{" STATELESS "}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"status\"," STATELESS "}}\n");
    assert_int_equal(count_lines(out), 4);
    assert_has(out, "\"supportedVersions\":[\"2026-07-28\",\"2025-11-25\"");
    assert_has(out, "\"cacheScope\":\"private\",\"resultType\":\"complete\",\"_meta\":{\"io."
                    "modelcontextprotocol/serverInfo\":{\"name\":\"grouperfish\"");
    assert_has(out, "\"id\":3,\"error\":{\"code\":-32601");
    assert_has(out, "\"isError\":false,\"resultType\":\"complete\"");
    out = converse(options_of(&s),
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
                   "\"io.modelcontextprotocol/protocolVersion\":\"2099-01-01\"}}}\n"
                   "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
                   "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}\n");
    assert_has(out, "\"code\":-32022");
    assert_has(out, "\"supported\":[\"2026-07-28\"],\"requested\":\"2099-01-01\"");
    assert_has(out, "\"id\":2,\"error\":{\"code\":-32602");
}

static void answers_batches_of_their_revision(void **state)
{
    (void)state;
    static const char begin[] = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
                                "\"params\":{\"protocolVersion\":\"2025-03-26\"}}\n";
    scene s = {.row = "{\"a\":1}", .n = 1};
    gf_buffer in = {0};
    gf_buffer_str(&in, begin);
    gf_buffer_str(&in, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                       "\"name\":\"status\"}},{\"jsonrpc\":\"2.0\",\"method\":\"x\"},7,"
                       "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}]\n"
                       "[]\n[{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]\n");
    const char *out = converse(options_of(&s), gf_buffer_cstr(&in));
    assert_int_equal(count_lines(out), 3); /* initialize, the empty batch, the batch */
    assert_has(out, "a batch has 1 to 64 messages");
    assert_has(out, "\n[{\"jsonrpc\"");
    assert_has(out, "\"id\":2,\"result\":{}}");
    assert_has(out, "\"rows\":[{\"a\":1}]");
    assert_has(out, "a message is an object");
    gf_buffer_release(&in);
}

static void bounds_messages(void **state)
{
    (void)state;
    scene s = {.n = 0};
    gf_mcp_options o = options_of(&s);
    gf_buffer in = {0};
    o.max_line = 200000;
    gf_buffer_str(&in, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"");
    for (int i = 0; i < 1000000; i++)
        gf_buffer_byte(&in, 'x');
    gf_buffer_str(&in, "\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n");
    gf_buffer_str(&in, "{\"jsonrpc\":\"2.0\",\"id\":\"");
    for (int i = 0; i < 300; i++)
        gf_buffer_byte(&in, 'x');
    gf_buffer_str(&in, "\",\"method\":\"ping\"}\n");
    const char *out = converse(o, gf_buffer_cstr(&in));
    assert_int_equal(count_lines(out), 3);
    assert_has(out, "a message has more than 200000 bytes");
    assert_has(out, "\"id\":2,\"result\":{}");
    assert_has(out, "a string of at most 256 bytes");
    gf_buffer_release(&in);
}

/* ---- tools ----------------------------------------------------------------------------------- */

static bool reaches_others(const char *tool)
{
    static const char *const those[] = {"names", "papers_extract", "watch_add", "watch_run"};
    for (size_t i = 0; i < sizeof those / sizeof *those; i++)
        if (strcmp(tool, those[i]) == 0) return true;
    return false;
}

typedef struct tool_list {
    char names[200][64];
    size_t n, n_pages;
} tool_list;

static void add_page(tool_list *all, gf_slice line, char cursor[32])
{
    gf_json_parser *parser;
    gf_json_value root, result, tools, tool, v;
    gf_error err;
    cursor[0] = '\0';
    assert_ok(gf_json_parser_create(&parser, &err));
    assert_ok(gf_json_parse_copy(parser, line, &root, &err));
    assert_true(gf_json_member(root, "result", &result));
    assert_true(gf_json_member(result, "tools", &tools));
    gf_json_iterator it = gf_json_items(tools);
    while (gf_json_next(&it, NULL, &tool)) {
        assert_true(gf_json_member(tool, "name", &v));
        snprintf(all->names[all->n++], 64, "%.*s", GF_SLICE_ARG(gf_json_get_string(v)));
        assert_true(gf_json_member(tool, "description", &v));
        assert_true(gf_json_get_string(v).len > 0);
        assert_true(gf_json_member(tool, "inputSchema", &v));
        assert_true(gf_json_member(tool, "annotations", &v));
        gf_json_value open;
        assert_true(gf_json_member(v, "openWorldHint", &open));
        assert_true(gf_json_get_bool(open) == reaches_others(all->names[all->n - 1]));
    }
    if (gf_json_member(result, "nextCursor", &v))
        snprintf(cursor, 32, "%.*s", GF_SLICE_ARG(gf_json_get_string(v)));
    all->n_pages++;
    gf_json_parser_free(parser);
}

static tool_list list_tools(bool writes, bool files, bool network)
{
    scene s = {.n = 0};
    gf_mcp_options o = options_of(&s);
    tool_list all = {.n = 0};
    char in[1000], cursor[32] = "";
    o.writes = writes;
    o.files = files;
    o.network = network;
    do {
        snprintf(in, sizeof in,
                 "%s{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{%s%s%s}}\n",
                 BEGIN, cursor[0] ? "\"cursor\":\"" : "", cursor, cursor[0] ? "\"" : "");
        const char *out = strchr(converse(o, in), '\n') + 1;
        add_page(&all, gf_slice_of(out, strlen(out)), cursor);
    } while (cursor[0]);
    return all;
}

static bool lists(const tool_list *all, const char *name)
{
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->names[i], name) == 0) return true;
    return false;
}

static void makes_tools_of_operations(void **state)
{
    (void)state;
    tool_list reading = list_tools(false, false, false), writing = list_tools(true, false, false),
              all = list_tools(true, true, true), files = list_tools(false, true, true),
              near = list_tools(true, true, false);
    const gf_operation *o;
    size_t n_reading = 0, n_all = 0;
    for (size_t i = 0; (o = gf_operation_at(i)) != NULL; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s", o->name);
        for (char *c = name; *c; c++) {
            if (*c == ' ') *c = '_';
            assert_true((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_' ||
                        *c == '-');
        }
        bool file = o->file_only || (o->file_type && !o->file_flag);
        assert_true(lists(&all, name) == !file);
        bool plain = !file && !o->local && !o->network;
        assert_true(lists(&writing, name) == plain);
        assert_true(lists(&reading, name) == (plain && !gf_operation_writes(o)));
        n_reading += plain && !gf_operation_writes(o);
        n_all += !file;
        /* A tool's own arguments. */
        for (size_t k = 0; k < o->n_parameters; k++) {
            assert_string_not_equal(o->parameters[k].name, "input");
            assert_string_not_equal(o->parameters[k].name, "records");
        }
    }
    assert_int_equal(reading.n, n_reading); /* each once */
    assert_int_equal(all.n, n_all);
    assert_true(all.n_pages > 1);
    assert_true(lists(&reading, "collection_list"));
    assert_true(lists(&reading, "assign"));
    assert_false(lists(&reading, "put"));
    assert_false(lists(&files, "backup"));
    assert_true(lists(&all, "backup"));
    assert_true(lists(&near, "backup"));
    assert_true(lists(&all, "names"));
    assert_false(lists(&near, "names"));
    assert_false(lists(&near, "papers_extract"));
}

static void reads_arguments(void **state)
{
    (void)state;
    scene s = {.n = 0};
    gf_mcp_options o = options_of(&s);
    o.writes = true;
    const char *out =
        converse(o, BEGIN CALL("1", "put",
                               "{\"collection\":\"a\\u00e9\",\"layers\":2,\"fields\":[\"x\",\"y\"],"
                               "\"also\":\"z\",\"where\":[\"a=1\",5,1.5],\"id\":null,"
                               "\"records\":[{\"id\":\"1\",\"text\":\"b\\nc\"},{\"n\":1.0}]}"));
    assert_has(out, "\"isError\":false");
    assert_string_equal(s.seen, "put collection=a\xC3\xA9 layers=2 fields=x fields=y also=z "
                                "where=a=1 where=5 where=1.5 | "
                                "{\"id\":\"1\",\"text\":\"b\\nc\"}\n{\"n\":1.0}\n");
    converse(o, BEGIN CALL("1", "delete",
                           "{\"collection\":\"a\",\"purge\":true,\"input\":\"1\\n2\\n\"}"));
    assert_string_equal(s.seen, "delete collection=a purge=true | 1\n2\n");
    assert_int_equal(s.n_runs, 2);
    /* Settings by their names, within "set" and beside it. */
    converse(o, BEGIN CALL("1", "rebuild",
                           "{\"collection\":\"a\",\"set\":{\"k\":20,\"ngrams\":null},\"seed\":7}"));
    assert_non_null(strstr(s.seen, "rebuild collection=a set=k=20 set=ngrams= set=seed=7"));
    assert_has(converse(o, BEGIN CALL("1", "rebuild", "{\"collection\":\"a\",\"kk\":7}")),
               "has no argument");
}

/* ---- answers --------------------------------------------------------------------------------- */

static void bounds_answers(void **state)
{
    (void)state;
    scene s = {.row = "{\"text\":\"abc\",\"raw\": [1,\n2]}", .n = 1000};
    gf_mcp_options o = options_of(&s);
    char next[40];
    const char *out = converse(o, BEGIN CALL("1", "clusters", "{\"collection\":\"x\"}"));
    assert_has(out, "Only the first 100 rows are here");
    assert_has(out, "\"isError\":false");
    assert_has(out, "\"raw\": [1, 2]"); /* one line */
    assert_int_equal(count_lines(out), 2);
    assert_int_equal(s.n_emitted, 100);

    o.max_bytes = 1024;
    s.n_emitted = 0;
    out = converse(o, BEGIN CALL("1", "table_scan", "{\"table\":\"x\",\"offset\":5}"));
    assert_int_equal(s.n_emitted, 1024 / (int)(strlen(s.row) + 1));
    snprintf(next, sizeof next, "with offset=%d.", 5 + s.n_emitted);
    assert_has(out, next);

    /* An operation that changes something goes on to its end. */
    o.writes = true;
    o.max_rows = 1;
    s.n_emitted = 0;
    out = converse(o, BEGIN CALL("1", "put", "{\"collection\":\"x\"}"));
    assert_has(out, "Only the first row is here");
    assert_int_equal(s.n_emitted, 1000);
    s.n = 1;
    assert_lacks(converse(o, BEGIN CALL("1", "put", "{\"collection\":\"x\"}")), "\"more\"");
}

static void cuts_long_rows(void **state)
{
    (void)state;
    gf_buffer row = {0};
    scene s = {.n = 1};
    gf_mcp_options o = options_of(&s);
    o.max_bytes = 10000;
    gf_buffer_str(&row, "{\"id\":\"1\",\"text\":\"");
    for (int i = 0; i < 100000; i++)
        gf_buffer_str(&row, "\xC3\xA9");
    gf_buffer_str(&row, "\"}");
    s.row = gf_buffer_cstr(&row);
    const char *out = converse(o, BEGIN CALL("1", "doc", "{\"collection\":\"x\",\"id\":\"1\"}"));
    assert_has(out, "Texts of more than 4000 bytes are cut");
    assert_has(out, "\xC3\xA9\xE2\x80\xA6\"}");
    assert_true(strlen(out) < 25000);

    gf_buffer_reset(&row);
    gf_buffer_str(&row, "{\"documents\":[");
    for (int i = 0; i < 5000; i++)
        gf_buffer_str(&row, i ? ",{\"id\":\"123456\"}" : "{\"id\":\"1\"}");
    gf_buffer_str(&row, "],\"next\":\"n\"}");
    s.row = gf_buffer_cstr(&row);
    out = converse(o, BEGIN CALL("1", "members", "{\"collection\":\"x\",\"cluster\":\"1\"}"));
    assert_has(out, "Lists have their first 100 items. A smaller limit gives whole ones.");
    assert_has(out, "\"next\":\"n\"");

    gf_buffer_reset(&row);
    gf_buffer_str(&row, "{\"");
    for (int i = 0; i < 20000; i++)
        gf_buffer_byte(&row, 'k');
    gf_buffer_str(&row, "\":1}");
    s.row = gf_buffer_cstr(&row);
    out = converse(o, BEGIN CALL("1", "doc", "{\"collection\":\"x\",\"id\":\"1\"}"));
    assert_has(out, "\"isError\":true");
    assert_has(out, "--max-bytes allows more");
    gf_buffer_release(&row);
}

static void tells_failures(void **state)
{
    (void)state;
    scene s = {.row = "{\"a\":1}", .n = 2, .status = GF_ECORRUPT};
    const char *out = converse(options_of(&s), BEGIN CALL("1", "status", "{}"));
    assert_has(out, "\"isError\":true");
    assert_has(out, "\"error\":{\"status\":\"corrupt\",\"message\":\"it is "
                    "so\"},\"rows\":[{\"a\":1},{\"a\":1}]");
}

/* ---- while a call runs ----------------------------------------------------------------------- */

typedef struct live {
    scene scene;
    gf_mcp_options options;
    gf_cancel stop;
    int to[2], from[2];
    pthread_t thread;
    gf_status ended;
    FILE *answers;
    char line[100000];
} live;

static void *serve(void *context)
{
    live *l = context;
    l->ended = gf_mcp_serve(&l->options, NULL);
    close(l->from[1]);
    return NULL;
}

static void start(live *l, scene s)
{
    *l = (live){.scene = s};
    assert_int_equal(pipe(l->to), 0);
    assert_int_equal(pipe(l->from), 0);
    l->options = options_of(&l->scene);
    l->options.cancel = &l->stop;
    l->options.in = l->to[0];
    l->options.out = l->from[1];
    assert_int_equal(pthread_create(&l->thread, NULL, serve, l), 0);
    l->answers = fdopen(l->from[0], "r");
    assert_non_null(l->answers);
}

static void say(live *l, const char *text)
{
    assert_int_equal(write(l->to[1], text, strlen(text)), (ssize_t)strlen(text));
}

static const char *hear(live *l)
{
    assert_non_null(fgets(l->line, sizeof l->line, l->answers));
    return l->line;
}

static void end(live *l)
{
    close(l->to[1]);
    assert_int_equal(pthread_join(l->thread, NULL), 0);
    assert_int_equal(l->ended, GF_OK);
    assert_null(fgets(l->line, sizeof l->line, l->answers)); /* nothing was left unheard */
    fclose(l->answers);
    close(l->to[0]);
}

static void cancels_calls(void **state)
{
    (void)state;
    live l;
    start(&l, (scene){.waits = true});
    say(&l, BEGIN CALL("1", "status", "{}") CALL("\"\\u00e9/\\u0001\\n\"", "status", "{}")
                CALL("2", "status", "{}"));
    assert_has(hear(&l), "protocolVersion");
    say(&l, CALL("1", "status", "{}"));
    assert_has(hear(&l), "a call with that id is not answered yet");
    /* The second waits, the first runs: neither is answered; a ping is meanwhile. */
    say(&l, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
            "cancelled\",\"params\":{\"requestId\":\"\xC3\xA9\\/\\u0001\\u000a\"}}\n"
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n");
    assert_has(hear(&l), "\"id\":7,\"result\"");
    say(&l, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
            "cancelled\",\"params\":{\"requestId\":1}}\n");
    say(&l, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
            "cancelled\",\"params\":{\"requestId\":2}}\n"
            "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\n");
    assert_has(hear(&l), "\"id\":8,\"result\"");
    end(&l);
    assert_true(l.scene.n_runs <= 2); /* never the one that waited */
}

static void refuses_too_many_calls(void **state)
{
    (void)state;
    live l;
    char text[200];
    start(&l, (scene){.waits = true});
    say(&l, BEGIN);
    hear(&l);
    for (int i = 1; i <= 65; i++) {
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/"
                 "call\",\"params\":{\"name\":\"status\"}}\n",
                 i);
        say(&l, text);
    }
    assert_has(hear(&l), "\"id\":65,\"error\":{\"code\":-32603,\"message\":\"too many calls");
    for (int i = 64; i >= 1; i--) {
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                 "cancelled\",\"params\":{\"requestId\":%d}}\n",
                 i);
        say(&l, text);
    }
    end(&l);
}

static void stops_when_told(void **state)
{
    (void)state;
    live l;
    start(&l, (scene){.waits = true});
    say(&l, BEGIN CALL("1", "status", "{}"));
    hear(&l);
    gf_cancel_request(&l.stop);
    assert_int_equal(pthread_join(l.thread, NULL), 0);
    assert_int_equal(l.ended, GF_OK);
    fclose(l.answers);
    close(l.to[0]);
    close(l.to[1]);
}

static void tells_progress(void **state)
{
    (void)state;
    live l;
    double last = 0;
    int n = 0;
    start(&l, (scene){.tells = true});
    say(&l, BEGIN "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                  "\"status\",\"_meta\":{\"progressToken\":\"p\"}}}\n" CALL("2", "status", "{}"));
    hear(&l);
    for (; strstr(hear(&l), "notifications/progress"); n++) {
        const char *at = strstr(l.line, "\"progress\":");
        assert_has(l.line, "\"progressToken\":\"p\"");
        assert_non_null(at);
        double progress = strtod(at + strlen("\"progress\":"), NULL);
        assert_true(progress > last || n == 0);
        last = progress;
        assert_has(l.line, "\"message\":\"feedback: clustering ");
    }
    assert_true(n >= 1);
    assert_has(l.line, "\"id\":1,\"result\"");
    assert_has(hear(&l), "\"id\":2,\"result\""); /* without a token nothing is told */
    end(&l);
}

/* ---- too little memory ----------------------------------------------------------------------- */

static void assert_lines_are_json(gf_slice out)
{
    gf_json_parser *parser;
    gf_json_value root;
    gf_slice line;
    gf_error err;
    assert_ok(gf_json_parser_create(&parser, &err));
    while (gf_test_next_line(&out, &line))
        assert_ok(gf_json_parse_copy(parser, line, &root, &err));
    gf_json_parser_free(parser);
}

static void survives_little_memory(void **state)
{
    (void)state;
    static const char in[] =
        BEGIN CALL("1", "search", "{\"collection\":\"x\",\"query\":\"y\",\"limit\":5}")
            CALL("2", "assign",
                 "{\"collection\":\"x\",\"records\":[{\"text\":\"z\"}]}") "{\"jsonrpc\":\"2.0\","
                                                                          "\"id\":3,\"method\":"
                                                                          "\"tools/list\"}\n";
    int n = 0;
    for (bool failed = true; failed; n++) {
        scene s = {.row = "{\"text\":\"a text of some length, that is cut\"}", .n = 3};
        gf_mcp_options o = options_of(&s);
        gf_buffer out = {0};
        gf_error err;
        o.max_bytes = 30;
        gf_memory_fail_at(n);
        gf_status st = converse_bytes(o, gf_slice_str(in), &out, &err);
        failed = memory_failed;
        assert_true(st == GF_OK || (failed && st == GF_ENOMEM));
        assert_lines_are_json(gf_buffer_view(&out));
        if (!failed) {
            assert_int_equal(count_lines(gf_buffer_cstr(&out)), 4);
        }
        gf_buffer_release(&out);
    }
    assert_true(n > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_messages),
        cmocka_unit_test(agrees_on_a_revision),
        cmocka_unit_test(wants_a_beginning),
        cmocka_unit_test(answers_stateless_requests),
        cmocka_unit_test(answers_batches_of_their_revision),
        cmocka_unit_test(bounds_messages),
        cmocka_unit_test(makes_tools_of_operations),
        cmocka_unit_test(reads_arguments),
        cmocka_unit_test(bounds_answers),
        cmocka_unit_test(cuts_long_rows),
        cmocka_unit_test(tells_failures),
        cmocka_unit_test(cancels_calls),
        cmocka_unit_test(refuses_too_many_calls),
        cmocka_unit_test(stops_when_told),
        cmocka_unit_test(tells_progress),
        cmocka_unit_test(survives_little_memory),
    };
    gf_apps_register();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
