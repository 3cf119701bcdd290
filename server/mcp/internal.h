/* Pieces of the Model Context Protocol: messages, tools, answers. */
#ifndef GF_SERVER_MCP_INTERNAL_H
#define GF_SERVER_MCP_INTERNAL_H

#include "api/arguments.h"
#include "base/json/json.h"
#include "server/mcp/mcp.h"

/** Codes of JSON-RPC 2.0, and of revision 2026-07-28. */
enum {
    GF_MCP_NO_JSON = -32700,
    GF_MCP_NO_REQUEST = -32600,
    GF_MCP_NO_METHOD = -32601,
    GF_MCP_BAD_PARAMETERS = -32602,
    GF_MCP_FAILED = -32603,
    GF_MCP_NO_VERSION = -32022
};

enum { GF_MCP_LONGEST_ID = 256, GF_MCP_TOOL_NAME = 64 };

/* ---- messages (message.c) -------------------------------------------------------------------- */

/** A message as it was read; all is borrowed from the parser, but for the id. */
typedef struct gf_mcp_message {
    gf_slice id; /* as JSON, of a request; empty: none. Borrowed from the buffer of the reading */
    gf_slice method;
    gf_json_value params; /* an object, where there are some */
    bool has_params;
    bool is_answer;  /* a result or an error: nothing is asked */
    int fault;       /* 0, or the code with which it is refused, */
    const char *why; /* and in words */
} gf_mcp_message;

/** Read a message; what is wrong with it is in ->fault. The id is appended to an empty buffer. */
gf_status gf_mcp_message_read(gf_json_value value, gf_buffer *id, gf_mcp_message *message,
                              gf_error *err);

/** Append an id as JSON: the same text for the same id. False where it is none. */
bool gf_mcp_message_id(gf_json_value value, gf_buffer *id);

/** A member of the params, such as "name"; false where there is none. */
bool gf_mcp_message_get(const gf_mcp_message *message, const char *name, gf_json_value *value);

/** A member of the params' member "_meta". */
bool gf_mcp_message_meta(const gf_mcp_message *message, const char *name, gf_json_value *value);

/** The start of an answer up to its object "result", which end_result ends. */
void gf_mcp_begin_result(gf_json_writer *w, gf_slice id);

/** `stateless`: the answer is of revision 2026-07-28, and says so. */
void gf_mcp_end_result(gf_json_writer *w, bool stateless);

/** A whole answer; an empty id is written as null. */
void gf_mcp_put_error(gf_buffer *out, gf_slice id, int code, const char *message);

/** "serverInfo": name and version of this program. */
void gf_mcp_put_server(gf_json_writer *w, const char *key);

/* ---- tools (tools.c) ------------------------------------------------------------------------- */

/** Whether the operation is a tool at all, one that these options allow, and one that they name. */
bool gf_mcp_tool_can_be(const gf_operation *operation);
bool gf_mcp_tool_is_allowed(const gf_mcp_options *options, const gf_operation *operation);
bool gf_mcp_tool_is_offered(const gf_mcp_options *options, const gf_operation *operation);

/** The operation whose tool has that name, offered or not; NULL: there is none. */
const gf_operation *gf_mcp_tool_find(gf_slice name);

/** "collection list" -> "collection_list" */
void gf_mcp_tool_name(const gf_operation *operation, char name[GF_MCP_TOOL_NAME]);

/**
 * Write the members "tools", and "nextCursor" where there are more.
 * @param cursor  empty: from the first one on
 * @return false, and nothing is written, where the cursor is none of ours
 */
bool gf_mcp_tools_write(gf_json_writer *w, const gf_mcp_options *options, gf_slice cursor);

/* ---- arguments (arguments.c) ----------------------------------------------------------------- */

/** A call's arguments, and the bytes that come with it. */
typedef struct gf_mcp_arguments {
    gf_arguments list;
    gf_arena memory; /* of its values */
    gf_buffer lines; /* records */
    gf_slice input;  /* of the call's input: has_input */
    bool has_input, taken;
} gf_mcp_arguments;

/** Read the members of an object as arguments; the input is borrowed from the parser. */
gf_status gf_mcp_arguments_read(const gf_operation *operation, gf_json_value object,
                                gf_mcp_arguments *arguments, gf_error *err);
void gf_mcp_arguments_release(gf_mcp_arguments *arguments);

/** The input as operations read it; it lasts as long as the arguments. */
gf_input gf_mcp_arguments_input(gf_mcp_arguments *arguments);

/* ---- answers (answer.c) ---------------------------------------------------------------------- */

/** The rows and notices of a call, as many as are given. */
typedef struct gf_mcp_answer {
    const gf_operation *operation;
    uint64_t max_rows, max_bytes;
    gf_buffer rows;    /* n, with commas between */
    gf_buffer notices; /* n_notices, likewise; of n_noticed */
    uint64_t n, n_notices, n_noticed;
    bool more;           /* there were further rows */
    bool stopped;        /* the operation was stopped for that */
    size_t texts, lists; /* bytes, items to which those of a row were cut; 0: none was */
} gf_mcp_answer;

/** Sink functions whose context is the answer. */
gf_status gf_mcp_answer_emit(void *answer, gf_slice row, gf_error *err);
void gf_mcp_answer_notice(void *answer, const gf_notice *notice);

/** Write the result's members: content, structuredContent, isError. */
void gf_mcp_answer_write(gf_json_writer *w, const gf_mcp_answer *answer, const gf_call *call,
                         gf_status status, const gf_error *why);
void gf_mcp_answer_release(gf_mcp_answer *answer);

#endif
