"""Claude Code, Anthropic's coding agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barry_adapter_claude.declared import (
    COMMAND,
    GUARANTEES,
    HOSTED_GUARANTEES,
    HOSTED_NATIVE,
    ID,
    INSTRUMENTED_GUARANTEES,
    INSTRUMENTED_NATIVE,
    LABEL,
    NATIVE,
    NATIVE_TOOLS,
    OPTIONS,
    PACKAGE,
    RULED,
    VENDOR,
    VERSION,
)
from barry_adapter_claude.launch import plan
from barry_adapter_claude.routing import LOGINS
from barry_adapter_claude.transcript import ClaudeTranscripts
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
    from barry_cli.adapters import LaunchPlan, StartEngine
    from barry_cli.sessions import ContinuationHarness, Session, SessionConfig

_INSTALL = f"npm install -g {PACKAGE}@{VERSION}"

_REQUIREMENTS = Requirements(
    binary=Binary(
        command=COMMAND,
        version_args=("--version",),
        version_pattern=r"(?m)^(\d+\.\d+\.\d+) \(Claude Code\)",
        pin=Pin(
            version=VERSION,
            enforced_by="DISABLE_AUTOUPDATER=1, repeated in inline settings where a settings file "
            "sets it too",
        ),
        install=Install(linux=_INSTALL, darwin=_INSTALL, fallback=_INSTALL),
    ),
    platforms=("linux", "darwin"),
    environment=(
        "ANTHROPIC_*",
        "API_TIMEOUT_MS",
        "AWS_BEARER_TOKEN_BEDROCK",
        "AWS_DEFAULT_REGION",
        "AWS_PROFILE",
        "AWS_REGION",
        "BASH_DEFAULT_TIMEOUT_MS",
        "BASH_MAX_OUTPUT_LENGTH",
        "BASH_MAX_TIMEOUT_MS",
        "CLAUDE_*",
        "CLOUD_ML_REGION",
        "DISABLE_*",
        "DO_NOT_TRACK",
        "ENABLE_TOOL_SEARCH",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_CLOUD_PROJECT",
        "IS_SANDBOX",
        "MAX_MCP_OUTPUT_TOKENS",
        "MAX_THINKING_TOKENS",
        "MCP_TIMEOUT",
        "MCP_TOOL_TIMEOUT",
        "NODE_EXTRA_CA_CERTS",
        "OTEL_*",
        "SSL_CERT_*",
        "USE_BUILTIN_RIPGREP",
        "VERTEX_REGION_*",
    ),
    session_marks=(
        "AI_AGENT",
        "CLAUDECODE",
        "CLAUDE_CODE_CHILD_NOTES_DIR",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_EXECPATH",
        "CLAUDE_CODE_MESSAGING_SOCKET",
        "CLAUDE_CODE_MESSAGING_TOKEN",
        "CLAUDE_CODE_SESSION_ATTENDED",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_EFFORT",
        "CLAUDE_ENV_FILE",
        "CLAUDE_PID",
        "CLAUDE_PROJECT_DIR",
    ),
    login=Login(
        variables=(
            *LOGINS,
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_FOUNDRY",
            "CLAUDE_CODE_USE_VERTEX",
        ),
        files=("$CLAUDE_CONFIG_DIR/.credentials.json", "~/.claude/.credentials.json"),
        conflicts=(LOGINS,),
    ),
)


# What drives it, or goes with it, is dear to import: other launches do without.


async def _plan_instrumented(config: SessionConfig) -> LaunchPlan:
    from barry_adapter_claude.instrumented import plan as planned

    return await planned(config)


async def _start(config: SessionConfig, start_engine: StartEngine) -> Session:
    from barry_adapter_claude.hosted import start

    return await start(config)


async def _open_continuation(
    config: SessionConfig, start_engine: StartEngine
) -> ContinuationHarness:
    from barry_adapter_claude.hosted import open_continuation

    return await open_continuation(config)


adapter = define_adapter(
    Adapter(
        id=ID,
        label=LABEL,
        vendor=VENDOR,
        capabilities=HarnessCapabilities(
            endpoint="configurable",
            mcp_transports=("stdio", "http", "sse"),
            skills_mount="plugin",
            system_prompt_format="preset-append",
            tool_denial="native",
            without_key="subscription-oauth",
        ),
        requirements=_REQUIREMENTS,
        native_tools=NATIVE_TOOLS,
        options=OPTIONS,
        bag=".",
        transcript=ClaudeTranscripts(),
        default_mode="guest",
        modes={
            "guest": LaunchMode(
                guarantees=GUARANTEES,
                verified_on=VERSION,
                evidence=Evidence(
                    check="checks:guest",
                    proves="the TUI answers, only at the endpoint given; a denied tool is neither "
                    "offered nor run while the same call allowed has its effect; the conversation "
                    "has the reserved id, is resumed by it, and can be read afterwards",
                ),
                native=NATIVE,
                platforms=("linux",),
                plan=plan,
            ),
            "instrumented": LaunchMode(
                guarantees=INSTRUMENTED_GUARANTEES,
                verified_on=VERSION,
                evidence=Evidence(
                    check="instrumented_checks:instrumented",
                    proves="calls of every kind are ruled on, those of subagents too: a denied one "
                    "has no effect and the agent reads why, the same call allowed has its effect; "
                    "neither the folder's settings nor a skill's text runs a command; a message "
                    "begins a turn or joins the running one, as it was sent, and the transcript "
                    "shows it; the agent's children find the session",
                ),
                native=INSTRUMENTED_NATIVE,
                platforms=("linux",),
                ruled=RULED,
                plan=_plan_instrumented,
            ),
            "hosted": SessionMode(
                guarantees=HOSTED_GUARANTEES,
                verified_on=VERSION,
                evidence=Evidence(
                    check="hosted_checks:hosted",
                    proves="every call is ruled on, also those that Claude Code allows by itself "
                    "and those of subagents: a denied one has no effect and the agent reads why, "
                    "the same call allowed has its effect; neither the folder's settings nor a "
                    "skill's text runs a command; a turn takes a message in its midst, is cut "
                    "short, and its conversation goes on; a schema is enforced",
                ),
                native=HOSTED_NATIVE,
                platforms=("linux",),
                approval_continuation="live",
                structured_output="native",
                start=_start,
                open_continuation=_open_continuation,
            ),
        },
    )
)
