/**
 * The Model Context Protocol: operations as tools, over a pair of byte streams.
 *
 *     client -> one JSON-RPC message a line -> read, checked -> answered at once: initialize, ping, lists
 *                                                           `-> tools/call -> queue -> one thread runs it
 *     client <- one JSON-RPC message a line <- results, progress
 *
 * Revisions 2024-11-05, 2025-03-26, 2025-06-18 and 2025-11-25 begin with `initialize`; a request of
 * revision 2026-07-28 says so in its `_meta` and needs no beginning. Both may come on one stream.
 * Tools are made from the table of operations (api/operation.h), and their answers are bounded.
 *
 * Source: https://modelcontextprotocol.io/specification, JSON-RPC 2.0.
 */
#ifndef GF_SERVER_MCP_MCP_H
#define GF_SERVER_MCP_MCP_H

#include "api/operation.h"

typedef struct gf_mcp_options {
    int in, out; /* descriptors that stay the caller's; nobody else writes to `out` meanwhile */
    /* Run a call, whose holder is not set, on the thread of the calls: one after another. */
    gf_status (*run)(void *context, const gf_operation *operation, gf_call *call, gf_error *err);
    void *context;
    gf_slice name_space;   /* of all calls */
    bool writes;           /* operations that change something are tools, too */
    bool files;            /* those that name files of this machine likewise (operation->local) */
    bool network;          /* those that send texts to an address likewise (operation->network) */
    const gf_slice *tools; /* n_tools patterns (base/glob.h); none: all that may be offered */
    size_t n_tools;
    uint64_t max_rows;       /* of an answer; 0: 100 */
    uint64_t max_bytes;      /* of an answer's rows; 0: 64 KiB */
    uint64_t max_line;       /* of a message, which also bounds those that wait; 0: 16 MiB */
    const gf_cancel *cancel; /* once requested, calls are cancelled, and it ends; may be NULL */
} gf_mcp_options;

/** How many tools these options offer. */
size_t gf_mcp_tool_count(const gf_mcp_options *options);

/**
 * Answer until the client ends its stream or goes, or options->cancel is requested. Calls that wait
 * or run when the stream ends have two seconds more, and are then cancelled.
 *
 * @return GF_OK however the client went; GF_EIO where a stream fails; GF_ENOMEM
 */
gf_status gf_mcp_serve(const gf_mcp_options *options, gf_error *err);

#endif
