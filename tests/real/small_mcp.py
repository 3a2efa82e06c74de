"""A small MCP server on stdin and stdout, for harnesses that look closely: one tool, ``greet``."""

from __future__ import annotations

import json
import sys

TOOL = {
    "name": "greet",
    "description": "says hello",
    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
}

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    results = {
        "initialize": {
            "protocolVersion": message.get("params", {}).get("protocolVersion"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "small", "version": "1"},
        },
        "tools/list": {"tools": [TOOL]},
        "tools/call": {"content": [{"type": "text", "text": "hello"}]},
    }
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    result = results.get(message["method"])
    answer |= {"error": {"code": -32601, "message": "no"}} if result is None else {"result": result}
    print(json.dumps(answer), flush=True)
