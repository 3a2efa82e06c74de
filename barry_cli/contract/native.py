"""Which of the harness's own tools a session may use (seed 001)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from barry_cli.contract.adapter import NativeControl
from barry_cli.contract.session import SessionConfig


def allowed_native(
    config: SessionConfig, native_tools: Sequence[str], native: NativeControl | None = None
) -> list[str]:
    """The native tools that a session may use, spelt as the harness spells them.

    A tool is in when it was asked for, can be granted in this mode, and is not denied; a group
    that can only be turned on whole is out when any of it is. Case does not matter.
    """
    asked = {tool.casefold() for tool in config.allowed_native_tools or ()}
    denied = {tool.casefold() for tool in config.denied_tools or ()}
    grantable = {tool.casefold() for tool in (native.grantable if native else native_tools)}
    allowed = {
        tool
        for tool in native_tools
        if tool.casefold() in (asked & grantable) and tool.casefold() not in denied
    }
    # Groups may overlap, so one that falls can take another with it: repeat until none falls.
    groups = [set(group) for group in (native.inseparable if native else None) or ()]
    while fallen := [group for group in groups if group & allowed and not group <= allowed]:
        for group in fallen:
            allowed -= group
    return [tool for tool in native_tools if tool in allowed]


def disallowed_tools(
    config: SessionConfig, native_tools: Sequence[str], native: NativeControl | None = None
) -> list[str]:
    """The tools that a session must refuse: every native tool that isn't allowed, then the
    caller's other denials.
    """
    allowed = set(allowed_native(config, native_tools, native))
    refused = [tool for tool in native_tools if tool not in allowed]
    known = {tool.casefold() for tool in native_tools}
    for tool in config.denied_tools or ():
        if tool.casefold() not in known and tool not in refused:
            refused.append(tool)
    return refused


def configure_session(input: SessionConfig) -> SessionConfig:
    """The same configuration with collections of its own, so that nobody changes it later."""

    def own(values: Sequence[str] | None) -> tuple[str, ...] | None:
        return None if values is None else tuple(values)

    return replace(
        input,
        env=dict(input.env),
        mcp_servers=dict(input.mcp_servers),
        allowed_native_tools=own(input.allowed_native_tools),
        denied_tools=own(input.denied_tools),
        extra_args=own(input.extra_args),
        plugin_dirs=own(input.plugin_dirs),
        project_roots=own(input.project_roots),
        telemetry_headers=None
        if input.telemetry_headers is None
        else dict(input.telemetry_headers),
    )


def configure_harness_session(
    input: SessionConfig, native_tools: Sequence[str], native: NativeControl | None = None
) -> SessionConfig:
    """Apply the native ceiling, which nothing lifts, before any adapter starts work."""
    return replace(
        configure_session(input),
        allowed_native_tools=tuple(allowed_native(input, native_tools, native)),
        denied_tools=tuple(disallowed_tools(input, native_tools, native)),
    )
