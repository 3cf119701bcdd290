/* mcp: operations as tools of the Model Context Protocol, on standard input and output. */
#include "server/mcp/mcp.h"
#include "base/memory.h"
#include "cli/session.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const gf_parameter parameters[] = {
    {"allow-writes", GF_PARAMETER_FLAG, false, NULL, "offer what changes the store, too", 0, 0},
    {"allow-files", GF_PARAMETER_FLAG, false, NULL,
     "offer what names files of this machine (with --allow-writes: backup, restore, repair)", 0, 0},
    {"allow-network", GF_PARAMETER_FLAG, false, NULL,
     "with both: offer what sends texts to an address (names, papers extract)", 0, 0},
    {"tools", GF_PARAMETER_SEVERAL, false, "PATTERN", "only tools of such names, such as 'table_*'",
     0, 0},
    {"max-rows", GF_PARAMETER_NUMBER, false, "N", "rows of an answer (100)", 1, 1000000},
    {"max-bytes", GF_PARAMETER_BYTES, false, "SIZE", "of an answer's rows (64K)", 1024, 1 << 30}};
static const gf_operation mcp_operation = {
    .name = "mcp",
    .meaning = "Offer operations to a language model as tools (MCP)",
    .parameters = parameters,
    .n_parameters = GF_COUNT(parameters)};

/* The command of the same operation, which says how the store is held meanwhile. */
static const gf_command *find_command(const gf_operation *operation)
{
    gf_command_cursor cursor = {0, 0};
    const char *heading;
    const gf_command *c = gf_command_next(&cursor, &heading);
    while (c && gf_command_operation(c) != operation)
        c = gf_command_next(&cursor, &heading);
    return c;
}

/* Each call opens the store for itself, or asks whoever holds it: others have it in between. */
static gf_status run_call(void *context, const gf_operation *operation, gf_call *call,
                          gf_error *err)
{
    const gf_session *s = context;
    const gf_command *as = find_command(operation);
    if (!as) as = s->command;
    bool purges = gf_operations_have_flag(call->arguments, call->n_arguments, "purge");
    gf_store_access access = {.store_path = s->store_path,
                              .command = as->name,
                              .maker = gf_command_maker(as)->name,
                              .wait_seconds = s->wait_seconds,
                              .wait_given = s->wait_given,
                              .read_only = s->read_only,
                              .answers = as->answers && !purges,
                              .purges = purges,
                              .quiet = true,
                              .cancel = call->cancel,
                              .remote = s->access.remote};
    gf_status st = gf_store_access_run(&access, operation, call, err);
    gf_store_access_close(&access);
    return st;
}

enum { MOST_PATTERNS = 64 };

static gf_status read_tools(const gf_session *s, gf_slice patterns[MOST_PATTERNS],
                            gf_mcp_options *o, gf_error *err)
{
    for (size_t i = 0; i < s->n_arguments; i++) {
        if (!gf_slice_equal(s->arguments[i].name, GF_SLICE("tools"))) continue;
        if (o->n_tools == MOST_PATTERNS)
            return gf_fail(err, GF_EINVAL, "tools: more than %d", MOST_PATTERNS);
        patterns[o->n_tools++] = s->arguments[i].value;
    }
    o->tools = patterns;
    if (gf_mcp_tool_count(o)) return GF_OK;
    return gf_fail(err, GF_EINVAL, "tools: no tool that may be offered has such a name");
}

/*
 * Standard output is the protocol's alone: whatever else is printed there, by a library or by the
 * end of a held store, goes to standard error.
 */
static gf_status take_output(int *out, gf_error *err)
{
    *out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (*out >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) return GF_OK;
    return gf_fail_errno(err, "cannot take standard output");
}

static gf_status run_mcp(gf_session *s, gf_error *err)
{
    gf_call call = {.arguments = s->arguments, .n_arguments = s->n_arguments};
    gf_slice patterns[MOST_PATTERNS];
    int out = -1;
    gf_status st = gf_operation_check(&mcp_operation, &call, err);
    gf_mcp_options o = {.in = STDIN_FILENO,
                        .run = run_call,
                        .context = s,
                        .name_space = gf_slice_str(s->name_space),
                        .cancel = &gf_session_stop};
    if (st != GF_OK) return st;
    o.writes = gf_operations_have_flag(s->arguments, s->n_arguments, "allow-writes");
    o.files = gf_operations_have_flag(s->arguments, s->n_arguments, "allow-files");
    o.network = gf_operations_have_flag(s->arguments, s->n_arguments, "allow-network");
    o.max_rows = gf_call_number(&call, "max-rows", 0);
    o.max_bytes = gf_call_number(&call, "max-bytes", 0);
    if (s->read_only && o.writes)
        return gf_fail(err, GF_EINVAL, "either --read-only or --allow-writes");
    st = read_tools(s, patterns, &o, err);
    if (st == GF_OK) st = take_output(&out, err);
    if (st != GF_OK) return st;
    o.out = out;
    gf_memory_keep_little();
    st = gf_mcp_serve(&o, err);
    close(out);
    return st;
}

static const gf_command mcp_command = {
    .name = "mcp",
    .operation = &mcp_operation,
    .examples = "    grouperfish mcp --store feedback.store\n"
                "    grouperfish mcp --server http://127.0.0.1:61732 --namespace support\n"
                "    grouperfish mcp --tools 'collection_*' --tools clusters --tools members "
                "--tools search\n"
                "    grouperfish mcp --allow-writes\n",
    .notes = "A program that lets a language model use tools starts this, and speaks the Model\n"
             "Context Protocol with it, one JSON message a line, until it closes standard input.\n"
             "Only what changes nothing is offered, unless the options say otherwise. Each call\n"
             "opens the store for itself; other commands have it in between.\n",
    .run = run_mcp,
    .runs_operations = true,
};

const gf_commands gf_commands_mcp = {NULL, GF_LIST(&mcp_command)};
