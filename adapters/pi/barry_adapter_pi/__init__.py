"""pi, a small coding agent that connects to many vendors itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barry_adapter_pi.declared import (
    GUARANTEES,
    HOSTED_GUARANTEES,
    HOSTED_NATIVE,
    ID,
    INSTRUMENTED_GUARANTEES,
    LABEL,
    NATIVE,
    NATIVE_TOOLS,
    PACKAGE,
    RULED,
    THINKING,
    VERSION,
)
from barry_adapter_pi.launch import plan
from barry_adapter_pi.transcript import PiTranscripts
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

_KEYS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_OAUTH_TOKEN",
    "OPENAI_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_CLOUD_API_KEY",
    "GROQ_API_KEY",
    "CEREBRAS_API_KEY",
    "XAI_API_KEY",
    "OPENROUTER_API_KEY",
    "AI_GATEWAY_API_KEY",
    "ZAI_API_KEY",
    "MISTRAL_API_KEY",
    "MINIMAX_API_KEY",
    "MINIMAX_CN_API_KEY",
    "MOONSHOT_API_KEY",
    "HF_TOKEN",
    "FIREWORKS_API_KEY",
    "OPENCODE_API_KEY",
    "KIMI_API_KEY",
    "CLOUDFLARE_API_KEY",
    "XIAOMI_API_KEY",
    "COPILOT_GITHUB_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
)

_MODELS = (
    ("anthropic/claude-opus-4-7", "Claude Opus 4.7"),
    ("anthropic/claude-sonnet-4-6", "Claude Sonnet 4.6"),
    ("anthropic/claude-haiku-4-5", "Claude Haiku 4.5"),
    ("openai/gpt-5.4", "GPT-5.4"),
    ("openai/gpt-5.3-codex", "GPT-5.3 Codex"),
    ("google/gemini-3.1-pro-preview", "Gemini 3.1 Pro"),
    ("google/gemini-3-flash-preview", "Gemini 3 Flash"),
)


# The driver is dear to import, and a guest's launch needs no extension of Barry's.


async def _instrumented(config: SessionConfig) -> LaunchPlan:
    from barry_adapter_pi.instrumented import plan as instrumented

    return await instrumented(config)


async def _start(config: SessionConfig, start_engine: StartEngine) -> Session:
    from barry_adapter_pi.hosted import start

    return await start(config)


async def _open_continuation(
    config: SessionConfig, start_engine: StartEngine
) -> ContinuationHarness:
    from barry_adapter_pi.hosted import open_continuation

    return await open_continuation(config)


adapter = define_adapter(
    Adapter(
        id=ID,
        label=LABEL,
        capabilities=HarnessCapabilities(
            endpoint="configurable",
            mcp_transports=(),
            skills_mount="plugin",
            system_prompt_format="preset-append",
            tool_denial="native",
            without_key="unauthenticated",
        ),
        requirements=Requirements(
            binary=Binary(
                command="pi",
                version_args=("--version",),
                version_pattern=r"^(\d+\.\d+\.\d+)",
                pin=Pin(
                    version=VERSION,
                    enforced_by="pi never replaces itself; PI_SKIP_VERSION_CHECK=1 ends its "
                    "question whether there is a newer one",
                ),
                install=Install(linux=_INSTALL, darwin=_INSTALL, fallback=_INSTALL),
            ),
            platforms=("linux", "darwin"),
            environment=(
                "PI_*",
                *_KEYS,
                "AZURE_OPENAI_*",
                "CLOUDFLARE_*",
                "AWS_*",
                "GOOGLE_CLOUD_*",
                "GCLOUD_PROJECT",
            ),
            session_marks=("PI_CODING_AGENT",),
            login=Login(
                variables=_KEYS,
                files=(
                    "~/.pi/agent/auth.json",
                    "~/.pi/agent/models.json",
                    "$PI_CODING_AGENT_DIR/auth.json",
                    "$PI_CODING_AGENT_DIR/models.json",
                ),
                conflicts=(("ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN"),),
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
                    proves="pi's own TUI answers; a denied tool is not offered and has no effect, "
                    "and has one when allowed; neither settings nor an extension of the folder "
                    "move the endpoint; the file named at the start holds the conversation",
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
                    proves="in pi's own TUI every call of every tool is ruled on: a denied one has "
                    "no effect and the agent reads why, the same call allowed has its effect; "
                    "settings and code of the folder's own don't lift that; a message wakes an "
                    "idle pi, joins a running turn, and is shown to have arrived",
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
                    proves="every call of every tool is ruled on: a denied one has no effect and "
                    "the agent reads why, the same call allowed has its effect; code of the "
                    "folder's own is not loaded, and a message is no command; a turn takes a "
                    "message in its midst, is cut short, and its conversation goes on, as itself "
                    "or as a copy",
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
                "thinking": {
                    "enum": list(THINKING),
                    "description": "How much the model thinks before it answers.",
                },
                "extensions": {
                    "type": "boolean",
                    "description": "Load pi's extensions even where their code could undo a denial "
                    "or read an endpoint's key.",
                },
            },
            "additionalProperties": False,
        },
        transcript=PiTranscripts(),
    )
)
