"""opencode, a coding agent that connects to many vendors itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barry_adapter_opencode.declared import (
    GUARANTEES,
    HOSTED_GUARANTEES,
    HOSTED_NATIVE,
    ID,
    INSTRUMENTED_GUARANTEES,
    LABEL,
    NATIVE,
    NATIVE_TOOLS,
    RULED,
    VERSION,
)
from barry_adapter_opencode.launch import plan
from barry_adapter_opencode.transcript import OpencodeTranscripts
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

_INSTALL = f"npm install -g opencode-ai@{VERSION}"

_KEYS = (
    "OPENCODE_API_KEY",
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "GEMINI_API_KEY",
    "OPENROUTER_API_KEY",
    "GROQ_API_KEY",
    "XAI_API_KEY",
    "DEEPSEEK_API_KEY",
    "MISTRAL_API_KEY",
    "CEREBRAS_API_KEY",
    "GITHUB_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "AZURE_API_KEY",
)

_MODELS = (
    ("opencode/big-pickle", "Big Pickle (free, needs no login)"),
    ("anthropic/claude-opus-5-5", "Claude Opus 5.5"),
    ("anthropic/claude-sonnet-5", "Claude Sonnet 5"),
    ("anthropic/claude-haiku-4-5", "Claude Haiku 4.5"),
    ("openai/gpt-6-sol", "GPT-6 Sol"),
    ("openai/gpt-5.5", "GPT-5.5"),
    ("google/gemini-3.8-flash", "Gemini 3.8 Flash"),
)


# The driver is dear to import, and a guest's launch needs no plugin of Barry's.


async def _instrumented(config: SessionConfig) -> LaunchPlan:
    from barry_adapter_opencode.instrumented import plan as instrumented

    return await instrumented(config)


async def _start(config: SessionConfig, start_engine: StartEngine) -> Session:
    from barry_adapter_opencode.hosted import start

    return await start(config)


async def _open_continuation(
    config: SessionConfig, start_engine: StartEngine
) -> ContinuationHarness:
    from barry_adapter_opencode.hosted import open_continuation

    return await open_continuation(config)


adapter = define_adapter(
    Adapter(
        id=ID,
        label=LABEL,
        capabilities=HarnessCapabilities(
            endpoint="configurable",
            mcp_transports=("stdio", "http", "sse"),
            skills_mount="plugin",
            system_prompt_format="preset-append",
            tool_denial="native",
            without_key="unauthenticated",
        ),
        requirements=Requirements(
            binary=Binary(
                command="opencode",
                version_args=("--version",),
                version_pattern=r"^(\d+\.\d+\.\d+)",
                pin=Pin(
                    version=VERSION,
                    enforced_by="OPENCODE_DISABLE_AUTOUPDATE=1 and autoupdate: false",
                ),
                install=Install(linux=_INSTALL, darwin=_INSTALL, fallback=_INSTALL),
                paths=("~/.opencode/bin/opencode",),
            ),
            platforms=("linux", "darwin"),
            environment=(
                "OPENCODE_*",
                *_KEYS,
                "ANTHROPIC_BASE_URL",
                "OPENAI_BASE_URL",
                "GOOGLE_GENERATIVE_AI_BASE_URL",
                "AZURE_*",
                "AWS_*",
                "GOOGLE_CLOUD_*",
                "VERTEX_*",
                "CLOUDFLARE_*",
            ),
            session_marks=("OPENCODE", "OPENCODE_PID"),
            login=Login(
                variables=_KEYS,
                files=(
                    "~/.local/share/opencode/auth.json",
                    "$XDG_DATA_HOME/opencode/auth.json",
                ),
                needed=False,
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
                    proves="opencode's own TUI answers; a denied tool is not offered and has no "
                    "effect although the project's and the user's settings allow it, and has one "
                    "when allowed; the conversation found is the one in the database",
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
                    proves="in opencode's own TUI every call is ruled on, those of subagents and "
                    "of MCP servers too: a denied one has no effect and the agent reads why, the "
                    "same call allowed has its effect; the folder's settings are not read; a "
                    "message wakes an idle opencode, joins a running turn, and is shown to have "
                    "arrived",
                ),
                native=NATIVE,
                platforms=("linux",),
                ruled=RULED,
                plan=_instrumented,
            ),
            "hosted": SessionMode(
                guarantees=HOSTED_GUARANTEES,
                verified_on=VERSION,
                evidence=Evidence(
                    check="hosted_checks:hosted",
                    proves="every call is ruled on, also those that opencode does not ask about "
                    "and those of subagents: a denied one has no effect and the agent reads why, "
                    "the same call allowed has its effect; the folder's settings are not read; a "
                    "turn takes a message in its midst, is cut short, and its conversation goes "
                    "on",
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
        options={
            "type": "object",
            "properties": {
                "agent": {
                    "type": "string",
                    "minLength": 1,
                    "description": "The agent to start with, as --agent names it.",
                },
                "contextWindow": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "Tokens that an endpoint's model can take in; opencode compacts "
                    "before that. Unset: it never compacts by itself.",
                },
                "outputLimit": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "Tokens that an endpoint's model may answer with.",
                },
            },
            "additionalProperties": False,
        },
        transcript=OpencodeTranscripts(),
    )
)
