"""Codex CLI for Barry: what it is, what it needs, and what was shown to hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barry_adapter_codex.arguments import LABEL, VENDOR
from barry_adapter_codex.hosted import open_continuation, start
from barry_adapter_codex.launch import plan
from barry_adapter_codex.tools import (
    GUARANTEES,
    HOSTED_GUARANTEES,
    HOSTED_NATIVE,
    INSTRUMENTED_GUARANTEES,
    INSTRUMENTED_NATIVE,
    NATIVE,
    NATIVE_TOOLS,
)
from barry_adapter_codex.transcript import Rollouts
from barry_cli.adapters import (
    Adapter,
    Binary,
    Evidence,
    HarnessCapabilities,
    Install,
    LaunchMode,
    Login,
    Pin,
    Requirements,
    SessionMode,
    define_adapter,
)

if TYPE_CHECKING:
    from barry_cli.adapters import LaunchPlan
    from barry_cli.sessions import SessionConfig

BUILD = "0.171.0"
"""The build that everything here was seen on."""


async def _plan_instrumented(config: SessionConfig) -> LaunchPlan:
    # It brings asyncio along, which a guest's launch can do without.
    from barry_adapter_codex.instrumented import plan as plan_instrumented

    return await plan_instrumented(config)


adapter = define_adapter(
    Adapter(
        id="codex",
        label=LABEL,
        vendor=VENDOR,
        bag=".",
        native_tools=NATIVE_TOOLS,
        transcript=Rollouts(),
        capabilities=HarnessCapabilities(
            endpoint="configurable",
            mcp_transports=("stdio", "http"),
            skills_mount="none",
            system_prompt_format="preset-append",
            tool_denial="native",
            without_key="subscription-oauth",
        ),
        requirements=Requirements(
            binary=Binary(
                command="codex",
                version_args=("--version",),
                version_pattern=r"codex-cli (\d+\.\d+\.\d+\S*)",
                pin=Pin(
                    version=BUILD,
                    enforced_by="check_for_update_on_startup=false; --no-daemon starts no updater",
                ),
                install=Install(fallback=f"npm install -g @openai/codex@{BUILD}"),
            ),
            platforms=("linux", "darwin"),
            environment=(
                "CODEX_HOME",
                "CODEX_SQLITE_HOME",
                "CODEX_CA_CERTIFICATE",
                "CODEX_ACCESS_TOKEN",
                "CODEX_API_KEY",
                "OPENAI_API_KEY",
                "OPENAI_ORGANIZATION",
                "OPENAI_PROJECT",
            ),
            session_marks=(
                "CODEX_THREAD_ID",
                "CODEX_SESSION_ID",
                "CODEX_TOOL_CALL_ID",
                "CODEX_VERSION",
                "CODEX_CI",
                "CODEX_SANDBOX",
                "CODEX_SANDBOX_NETWORK_DISABLED",
                "CODEX_MANAGED_*",
            ),
            # The TUI logs in from its file alone: with only a key in the environment it asks.
            login=Login(files=("$CODEX_HOME/auth.json", "~/.codex/auth.json")),
        ),
        options={
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "sandbox": {
                    "enum": ["read-only", "workspace-write", "danger-full-access"],
                    "description": "What Codex's own sandbox lets commands write to.",
                },
                "approvalPolicy": {
                    "enum": ["on-request", "never"],
                    "description": "Whether Codex may ask to go beyond its sandbox.",
                },
                "search": {
                    "type": "boolean",
                    "description": "Web search: live when true, off when false.",
                },
                "reasoningEffort": {
                    "enum": ["none", "minimal", "low", "medium", "high", "xhigh"],
                    "description": "How long the model thinks, where the model lets one choose.",
                },
            },
        },
        default_mode="guest",
        modes={
            "guest": LaunchMode(
                guarantees=GUARANTEES,
                verified_on=BUILD,
                evidence=Evidence(
                    check="checks:guest",
                    proves="the TUI answers; with its shell denied a command has no effect, and "
                    "the same command allowed has; the conversation is found and can be read",
                ),
                native=NATIVE,
                platforms=("linux",),
                plan=plan,
            ),
            "instrumented": LaunchMode(
                guarantees=INSTRUMENTED_GUARANTEES,
                verified_on=BUILD,
                evidence=Evidence(
                    check="instrumented_checks:instrumented",
                    proves="commands, changes of files, images read, calls of MCP servers and of "
                    "agents that the agent starts are ruled on, whatever the user's settings say: "
                    "a denied one has no effect and the agent reads why, the same call allowed "
                    "has its effect; a message waits for the first prompt, wakes an idle TUI, "
                    "reaches a busy one with the next call, byte by byte, and its record shows it; "
                    "the session is known by Codex's own id, and its record holds each call",
                ),
                native=INSTRUMENTED_NATIVE,
                platforms=("linux",),
                ruled=("shell", "write", "read", "mcp", "subagent"),
                plan=_plan_instrumented,
            ),
            "hosted": SessionMode(
                guarantees=HOSTED_GUARANTEES,
                verified_on=BUILD,
                evidence=Evidence(
                    check="hosted_checks:hosted",
                    proves="every command, change of files and call of an MCP server is ruled on, "
                    "whatever the user's settings and servers say: a denied one has no effect and "
                    "the agent reads why, the same call allowed has its effect; what nobody is "
                    "asked about is not offered; the folder's settings have no say; a turn takes "
                    "a message in its midst, is cut short together with its command, and its "
                    "conversation goes on; a schema is handed over",
                ),
                native=HOSTED_NATIVE,
                platforms=("linux",),
                approval_continuation="live",
                structured_output="native",
                start=start,
                open_continuation=open_continuation,
            ),
        },
    )
)
