"""Every field that a session can be asked for, set in turn, and each native tool denied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
from barry_cli.testing.subject import CONVERSATION, Place, Subject

KEY = "sk-conformance-7c1f0a9b5d3e"
"""The key of the endpoint, which must show up nowhere that others can read."""

COMMON_APIS = ("anthropic", "openai")
"""Whose APIs most endpoints imitate."""

EXTRA = ("--conformance-extra", "its value")


@dataclass(frozen=True)
class Case:
    """Something that a session is asked for."""

    name: str
    fields: tuple[Mapping[str, object], ...]
    """Ways to ask for it; at least one of them has to show."""
    beside: tuple[Mapping[str, object], ...] = ({},)
    """What else is asked for, in the plan to compare with as well; one of these is enough."""

    must_show: bool = True
    """False where it matters only beside settings of the user's that are not here."""

    def together(self) -> Iterator[tuple[Mapping[str, object], Mapping[str, object]]]:
        """Each plan to compare with, and what is to be compared with it."""
        for beside in self.beside:
            for fields in self.fields:
                yield beside, {**beside, **fields}


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
    yield _case("telemetry_endpoint", _TELEMETRY)
    yield Case(
        "telemetry_headers",
        ({"telemetry_headers": {"x-conformance": "1"}},),
        ({"telemetry_endpoint": _TELEMETRY},),
    )
    yield from _servers()
    yield from _models(subject)
    yield from _resumes()
    yield from _options(subject)


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
    # There is nothing to choose from where the user has no servers.
    yield Case(
        "strict_mcp_config",
        ({"strict_mcp_config": True}, {"strict_mcp_config": False}),
        ({}, {"mcp_servers": {"conformance": _STDIO}}),
        must_show=False,
    )


def _models(subject: Subject) -> Iterator[Case]:
    vendor = _vendor(subject)
    yield _case("model", f"{vendor}/conformance-model")
    yield _case("small_model", f"{vendor}/conformance-small")
    if endpoints := _endpoints(subject):
        ways = tuple({"endpoint": each["endpoint"]} for each in endpoints)
        yield Case("endpoint", ways, ({"model": endpoints[0]["model"]},))


def _vendor(subject: Subject) -> str:
    offered = subject.adapter.offered_models
    if subject.adapter.vendor is None and offered:
        return split_model(offered[0].id)[0]
    return subject.adapter.vendor or "conformance"


def _endpoints(subject: Subject) -> list[dict[str, object]]:
    """Endpoints, each with a model of it; none for a harness that reaches only its own.

    Which APIs a harness without a vendor speaks is nowhere declared: it is offered common ones.
    """
    if subject.adapter.capabilities.endpoint == "fixed":
        return []
    own = subject.adapter.vendor
    return [
        {
            "endpoint": Endpoint(url="http://127.0.0.1:9/v1", api=api, key=SecretStr(KEY)),
            "model": f"{_vendor(subject)}/conformance-model",
        }
        for api in ((own,) if own is not None else COMMON_APIS)
    ]


def _resumes() -> Iterator[Case]:
    for name, wanted in (
        ("harness_session_id", Resume(harness_session_id=CONVERSATION)),
        ("last", Resume(last=True)),
        ("picker", Resume(picker=True)),
    ):
        yield Case(f"resume ({name})", ({"resume": wanted},))


def _options(subject: Subject) -> Iterator[Case]:
    """An option may matter only to another endpoint, or once a tool is denied."""
    schema = subject.adapter.options
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict):
        return
    for name, wanted in properties.items():
        ways = tuple(
            {"options": {name: value}}
            for value in _values(wanted)
            if not validate_options(schema, {name: value})
        )
        denied = {"denied_tools": subject.adapter.native_tools[:1]}
        beside: tuple[Mapping[str, object], ...] = ({}, denied, *_endpoints(subject))
        if ways:
            yield Case(f"options.{name}", ways, beside)


def _values(schema: object) -> Iterator[Any]:
    """Values to try for an option; those that don't fit are left out by its schema."""
    if isinstance(schema, dict):
        yield from schema.get("enum", ())
        yield from schema.get("examples", ())
        if "const" in schema:
            yield schema["const"]
    yield from (True, False, 1, 7, "conformance", ["conformance"], {"conformance": "1"})
