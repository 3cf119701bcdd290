"""A conversation by the official Python SDK of the Model Context Protocol, printed as JSON lines.

    mcp_sdk.py PROGRAM STORE

Versions 1 and 2 of the SDK are known; of version 2 each way in which it begins a conversation is tried.
"""
import asyncio
import json
import sys

import mcp

SERVER = mcp.StdioServerParameters(command=sys.argv[1], args=["mcp", "--store", sys.argv[2], "--allow-writes"])
RECORDS = [{"id": "1", "text": "tabs are fast"}, {"id": "2", "text": "video crashes"}]


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def converse(session, begun):
    tools, cursor = [], None
    while True:
        page = plain(await (session.list_tools(cursor=cursor) if cursor else session.list_tools()))
        tools += page["tools"]
        cursor = page.get("nextCursor")
        if not cursor:
            break
    told = []

    async def progress(done, total, message):
        told.append([done, message])

    put = plain(await session.call_tool("put", {"collection": "made-by-" + begun, "records": RECORDS},
                                        progress_callback=progress))
    clusters = plain(await session.call_tool("clusters", {"collection": "feedback"}))
    absent = plain(await session.call_tool("clusters", {"collection": "feedbak"}))
    try:
        await session.call_tool("no_such_tool", {})
        unknown = None
    except Exception as error:  # the class has another name in each version
        unknown = str(error)
    print(json.dumps({"begun": begun, "tools": tools, "put": put, "clusters": clusters, "absent": absent,
                      "unknown": unknown, "told": told}))


async def main():
    if hasattr(mcp, "Client"):
        for mode in ("auto", "legacy"):
            async with mcp.Client(SERVER, mode=mode) as client:
                await converse(client, client.protocol_version)
    else:
        from mcp.client.stdio import stdio_client
        async with stdio_client(SERVER) as (read, write):
            async with mcp.ClientSession(read, write) as session:
                begun = await session.initialize()
                await converse(session, begun.protocolVersion)


asyncio.run(main())
