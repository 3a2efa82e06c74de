"""Scripted model servers: a loopback stand-in for four model APIs, with a log of every request.

with ModelServer(Script.parse({"rules": [{"when": "hello", "then": ["hi"]}]})) as server:
    run_a_harness(base_url=server.url("openai-chat"))
    assert server.texts() == ["hello"]
"""

from barry_cli.verify.models.log import LoggedRequest, SentKey, ToolResult
from barry_cli.verify.models.script import (
    Call,
    Drop,
    Fail,
    Rule,
    Say,
    Script,
    ScriptError,
    ToolCall,
    Usage,
)
from barry_cli.verify.models.server import ModelServer
from barry_cli.verify.models.shapes import Api

__all__ = [
    "Api",
    "Call",
    "Drop",
    "Fail",
    "LoggedRequest",
    "ModelServer",
    "Rule",
    "Say",
    "Script",
    "ScriptError",
    "SentKey",
    "ToolCall",
    "ToolResult",
    "Usage",
]
