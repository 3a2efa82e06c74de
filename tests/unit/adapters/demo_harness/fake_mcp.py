"""A small MCP server for the tests: noise, notifications, errors, and tools that misbehave."""

import json
import os
import sys
import time

how = sys.argv[1] if len(sys.argv) > 1 else "well"
if how == "dead":
    sys.exit("no")
if how == "mute":
    time.sleep(300)
print("this line is noise", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, params = message["method"], message.get("params", {})
    if "id" not in message:
        continue
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message"}), flush=True)
    result = {}
    if method == "tools/list":
        names = ("add", "fail", "env", "hang", "die", "pid")
        result = {"tools": [{"name": name, "inputSchema": {}} for name in names]}
    elif method == "tools/call":
        name, given = params["name"], params["arguments"]
        if name == "hang":
            time.sleep(300)
        if name == "die":
            os._exit(3)
        text = {
            "add": str(given.get("a", 0) + given.get("b", 0)),
            "fail": "it failed",
            "env": os.environ.get("GIVEN", "") + os.getcwd(),
            "pid": str(os.getpid()),
        }[name]
        result = {"content": [{"type": "text", "text": text}], "isError": name == "fail"}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
