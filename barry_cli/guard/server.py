"""The guarded tools as an MCP server, whatever carries it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.lowlevel.server import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from barry_cli import __version__
from barry_cli.guard.calls import Answer
from barry_cli.guard.inputs import INPUTS
from barry_cli.guard.line import while_connected
from barry_cli.guard.table import NAMESPACE, TOOLS

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from barry_cli.guard.calls import Calls

_INSTRUCTIONS = (
    "These tools take the place of some of your own. Each call is ruled on by this session's "
    "policy: an answer that refuses one says what to do instead."
)


def server(calls: Calls) -> Server[dict[str, Any]]:
    """The server of one session's calls."""

    async def list_tools(
        context: ServerRequestContext[dict[str, Any]], asked: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=[_tool(name) for name in calls.tools()])

    async def call_tool(
        context: ServerRequestContext[dict[str, Any]], asked: CallToolRequestParams
    ) -> CallToolResult:
        async def progress(count: int, text: str) -> None:
            await context.session.report_progress(count, message=text)

        found = await while_connected(calls.call(asked.name, asked.arguments or {}, progress))
        answer = found or Answer(["the client has gone"], failed=True)
        return CallToolResult(
            content=[TextContent(type="text", text=text) for text in answer.texts],
            is_error=answer.failed,
        )

    return Server(
        NAMESPACE,
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _tool(name: str) -> Tool:
    model = INPUTS[name]
    kind = TOOLS[name].kind
    schema = model.model_json_schema()
    description = schema.pop("description", "")
    schema.pop("title", None)
    for field in schema["properties"].values():
        field.pop("title", None)
    return Tool(
        name=name,
        description=" ".join(description.split()),
        input_schema=schema,
        annotations=ToolAnnotations(
            read_only_hint=kind in ("read", "url"),
            destructive_hint=kind in ("shell", "write"),
            open_world_hint=kind in ("shell", "url"),
        ),
    )
