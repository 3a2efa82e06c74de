"""Every field that a session can be asked for, set in turn, and each native tool denied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from barry_cli.contract.models import Endpoint, split_model
from barry_cli.contract.session import (
    Allowed,
    Denied,
    EgressPolicy,
    HttpMcpServer,
    PermissionRequest,
    Resume,
    StdioMcpServer,
)
from barry_cli.registry.options import validate_options
from barry_cli.testing.subject import Place, Subject

KEY = "sk-conformance-7c1f0a9b5d3e"
"""The key of the endpoint, which must show up nowhere that others can read."""

EXTRA = ("--conformance-extra", "its value")

CONVERSATION = "6f1c2a34-9f5e-4d7b-8a41-0c2d3e4f5a6b"


@dataclass(frozen=True)
class Case:
    """Something that a session is asked for."""

    name: str
    fields: tuple[Mapping[str, object], ...]
    """Ways to ask for it; at least one of them has to show."""
    beside: Mapping[str, object] = field(default_factory=dict)
    """What is asked for in the plan to compare with as well."""


def cases(subject: Subject, place: Place) -> Iterator[Case]:
    """The cases for one adapter."""
    adapter = subject.adapter
    for tool in adapter.native_tools:
        yield Case(f"denied_tools={tool}", ({"denied_tools": (tool,)},))
    if len(adapter.native_tools) > 1:
        yield _case("allowed_native_tools", adapter.native_tools[:1])
    yield _case("decide", _decide)
    yield _case("egress_sandbox", EgressPolicy(allow_domains=()))
    yield _case("ephemeral", True)
    yield _case("extra_args", EXTRA)
    yield _case("max_turns", 3)
    yield _case("plugin_dirs", (place.folder("plugin"),))
    yield _case("project_roots", (place.folder("root"),))
    yield _case("system_prompt", "Conformance guidance.")
    yield _case("telemetry_endpoint", "http://127.0.0.1:9/telemetry")
    yield Case(
        "telemetry_headers",
        ({"telemetry_endpoint": _TELEMETRY, "telemetry_headers": {"x-conformance": "1"}},),
        {"telemetry_endpoint": _TELEMETRY},
    )
    yield from _servers()
    yield from _models(subject)
    yield from _resumes()
    yield from _options(adapter.options)


_TELEMETRY = "http://127.0.0.1:9/telemetry"

_STDIO = StdioMcpServer(command="/bin/true", args=("conformance",), env={"CONFORMANCE": "1"})


def _case(name: str, value: object) -> Case:
    return Case(name, ({name: value},))


async def _decide(request: PermissionRequest) -> Allowed | Denied:
    return Denied(reason=f"{request.tool} is not for conformance")


def _servers() -> Iterator[Case]:
    servers: dict[str, StdioMcpServer | HttpMcpServer] = {
        "stdio": _STDIO,
        "http": HttpMcpServer(type="http", url="http://127.0.0.1:9/mcp", headers={"x-a": "1"}),
        "sse": HttpMcpServer(type="sse", url="http://127.0.0.1:9/sse"),
    }
    for transport, server in servers.items():
        yield Case(f"mcp_servers ({transport})", ({"mcp_servers": {"conformance": server}},))
    beside = {"mcp_servers": {"conformance": _STDIO}}
    # Either answer may be what the harness does anyway; the two must not be the same to it.
    yield Case(
        "strict_mcp_config",
        ({**beside, "strict_mcp_config": True}, {**beside, "strict_mcp_config": False}),
        beside,
    )


def _models(subject: Subject) -> Iterator[Case]:
    adapter = subject.adapter
    vendor = adapter.vendor
    if vendor is None:
        offered = adapter.offered_models or ()
        vendor = split_model(offered[0].id)[0] if offered else "conformance"
    yield _case("model", f"{vendor}/conformance-model")
    yield _case("small_model", f"{vendor}/conformance-small")
    if adapter.capabilities.endpoint == "configurable":
        endpoint = Endpoint(url="http://127.0.0.1:9/v1", api=vendor, key=SecretStr(KEY))
        model = f"{vendor}/conformance-model"
        yield Case("endpoint", ({"endpoint": endpoint, "model": model},), {"model": model})


def _resumes() -> Iterator[Case]:
    for name, wanted in (
        ("harness_session_id", Resume(harness_session_id=CONVERSATION)),
        ("last", Resume(last=True)),
        ("picker", Resume(picker=True)),
    ):
        yield Case(f"resume ({name})", ({"resume": wanted},))


def _options(schema: object) -> Iterator[Case]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict):
        return
    for name, wanted in properties.items():
        ways = tuple(
            {"options": {name: value}}
            for value in _values(wanted)
            if not validate_options(schema, {name: value})
        )
        if ways:
            yield Case(f"options.{name}", ways)


def _values(schema: object) -> Iterator[Any]:
    """Values to try for an option; those that don't fit are left out by its schema."""
    if isinstance(schema, dict):
        yield from schema.get("enum", ())
        yield from schema.get("examples", ())
        if "const" in schema:
            yield schema["const"]
    yield from (True, False, 1, 7, "conformance", ["conformance"], {"conformance": "1"})
