"""Qwen Code, a coding agent for the terminal that connects to several vendors' APIs itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barry_adapter_qwen.declared import (
    COMMAND,
    GUARANTEES,
    HOSTED_GUARANTEES,
    HOSTED_NATIVE,
    ID,
    INSTRUMENTED_GUARANTEES,
    LABEL,
    NATIVE,
    NATIVE_TOOLS,
    OPTIONS,
    PACKAGE,
    VERSION,
)
from barry_adapter_qwen.launch import plan
from barry_adapter_qwen.transcript import QwenTranscripts
from barry_cli.adapters import (
    Adapter,
    Binary,
    Evidence,
    HarnessCapabilities,
    Install,
    LaunchMode,
    Login,
    OfferedModel,
    Pin,
    Requirements,
    SessionMode,
    define_adapter,
)

if TYPE_CHECKING:
    from barry_cli.adapters import LaunchPlan, StartEngine
    from barry_cli.sessions import ContinuationHarness, Session, SessionConfig

_INSTALL = f"npm install -g {PACKAGE}@{VERSION}"

_MODELS = (
    ("qwen/qwen3.6-plus", "Qwen 3.6 Plus"),
    ("qwen/qwen3.5-plus", "Qwen 3.5 Plus"),
    ("qwen/qwen3-coder-plus", "Qwen3 Coder Plus"),
    ("qwen/qwen3-coder-next", "Qwen3 Coder Next"),
)

# The driver is dear to import, and so is what keeps an inbox: a launch does without them.


async def _plan_instrumented(config: SessionConfig) -> LaunchPlan:
    from barry_adapter_qwen.instrumented import plan

    return await plan(config)


async def _start(config: SessionConfig, start_engine: StartEngine) -> Session:
    from barry_adapter_qwen.hosted import start

    return await start(config)


async def _open_continuation(
    config: SessionConfig, start_engine: StartEngine
) -> ContinuationHarness:
    from barry_adapter_qwen.hosted import open_continuation

    return await open_continuation(config)


adapter = define_adapter(
    Adapter(
        id=ID,
        label=LABEL,
        capabilities=HarnessCapabilities(
            endpoint="configurable",
            mcp_transports=("stdio", "http", "sse"),
            skills_mount="none",
            system_prompt_format="preset-append",
            tool_denial="native",
            # With no key in the environment it takes the one in the user's settings.
            without_key="subscription-oauth",
        ),
        requirements=Requirements(
            binary=Binary(
                command=COMMAND,
                version_args=("--version",),
                version_pattern=r"(?m)^(\d+\.\d+\.\d+)$",
                pin=Pin(
                    version=VERSION,
                    enforced_by="general.enableAutoUpdate: false in system settings",
                ),
                install=Install(linux=_INSTALL, darwin=_INSTALL, fallback=_INSTALL),
            ),
            platforms=("linux", "darwin"),
            environment=(
                "QWEN_*",
                "OPENAI_*",
                "ANTHROPIC_*",
                "GEMINI_API_KEY",
                "GEMINI_MODEL",
                "GOOGLE_*",
                "DASHSCOPE_*",
                "BAILIAN_*",
                "MODELSCOPE_*",
                "OPENROUTER_API_KEY",
                "DEEPSEEK_API_KEY",
                "NO_BROWSER",
                "NODE_EXTRA_CA_CERTS",
                "TERM_PROGRAM",
            ),
            session_marks=("QWEN_CODE", "QWEN_CODE_NO_RELAUNCH"),
            login=Login(
                variables=(
                    "OPENAI_API_KEY",
                    "ANTHROPIC_API_KEY",
                    "GEMINI_API_KEY",
                    "GOOGLE_API_KEY",
                    "DASHSCOPE_API_KEY",
                    "BAILIAN_CODING_PLAN_API_KEY",
                    "OPENROUTER_API_KEY",
                ),
                files=(
                    "~/.qwen/settings.json",
                    "~/.qwen/.env",
                    "~/.qwen/oauth_creds.json",
                    "~/.env",
                    "$QWEN_HOME/settings.json",
                ),
            ),
        ),
        native_tools=NATIVE_TOOLS,
        default_mode="guest",
        modes={
            "guest": LaunchMode(
                guarantees=GUARANTEES,
                verified_on=VERSION,
                evidence=Evidence(
                    check="checks:guest",
                    proves="Qwen Code's own TUI answers from the endpoint given although the "
                    "folder's settings name another; a denied tool is not offered and has no "
                    "effect although those settings allow it, and has one when allowed; the "
                    "transcript holds the conversation under the reserved id",
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
                    proves="in Qwen Code's own TUI a call of each kind is ruled on, a subagent's "
                    "too: a denied one has no effect and the model reads why, the same call "
                    "allowed has its effect; neither the folder's variables nor Qwen Code's own "
                    "approvals undo that; a message wakes an idle one, or reaches the model whole "
                    "at the turn's end, and is then shown as taken in",
                ),
                native=NATIVE,
                platforms=("linux",),
                ruled=("shell", "write", "read", "fetch", "mcp", "subagent"),
                plan=_plan_instrumented,
            ),
            "hosted": SessionMode(
                guarantees=HOSTED_GUARANTEES,
                verified_on=VERSION,
                evidence=Evidence(
                    check="hosted_checks:hosted",
                    proves="every call is ruled on, also those that Qwen Code or the user's own "
                    "settings allow: a denied one has no effect and the agent reads why, the same "
                    "call allowed has its effect; neither the user's hooks nor the folder's "
                    "settings run or allow anything; a message that begins like a command is "
                    "none; a turn is cut short, and its conversation goes on in another process",
                ),
                native=HOSTED_NATIVE,
                platforms=("linux",),
                approval_continuation="live",
                structured_output="prompted",
                start=_start,
                open_continuation=_open_continuation,
            ),
        },
        bag=".",
        offered_models=tuple(OfferedModel(id=name, label=label) for name, label in _MODELS),
        options=OPTIONS,
        transcript=QwenTranscripts(),
    )
)
