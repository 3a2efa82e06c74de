"""Gemini CLI, Google's coding agent for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barry_adapter_gemini.declared import (
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
    VENDOR,
    VERSION,
)
from barry_adapter_gemini.launch import plan
from barry_adapter_gemini.transcript import GeminiTranscripts
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

# The driver is dear to import, and so is what keeps an inbox: a launch does without them.


async def _plan_instrumented(config: SessionConfig) -> LaunchPlan:
    from barry_adapter_gemini.instrumented import plan

    return await plan(config)


async def _start(config: SessionConfig, start_engine: StartEngine) -> Session:
    from barry_adapter_gemini.hosted import start

    return await start(config)


async def _open_continuation(
    config: SessionConfig, start_engine: StartEngine
) -> ContinuationHarness:
    from barry_adapter_gemini.hosted import open_continuation

    return await open_continuation(config)


adapter = define_adapter(
    Adapter(
        id=ID,
        label=LABEL,
        capabilities=HarnessCapabilities(
            endpoint="configurable",
            mcp_transports=("stdio", "http", "sse"),
            skills_mount="none",
            # GEMINI_SYSTEM_MD would take the place of the whole prompt, not add to it.
            system_prompt_format="unsupported",
            tool_denial="native",
            # With no key in the environment it takes the one that the user once stored.
            without_key="subscription-oauth",
        ),
        requirements=Requirements(
            binary=Binary(
                command=COMMAND,
                version_args=("--version",),
                version_pattern=r"(?m)^(\d+\.\d+\.\d+)$",
                pin=Pin(
                    version=VERSION,
                    enforced_by="general.enableAutoUpdate: false in system settings, where the "
                    "build takes them; else a warning unless the user's own settings say so",
                ),
                install=Install(linux=_INSTALL, darwin=_INSTALL, fallback=_INSTALL),
            ),
            platforms=("linux", "darwin"),
            environment=(
                "GEMINI_*",
                "GOOGLE_*",
                "GCLOUD_PROJECT",
                "CLOUD_SHELL",
                "CLOUDSDK_CONFIG",
                "NO_BROWSER",
                "NODE_EXTRA_CA_CERTS",
                "TERM_PROGRAM",
            ),
            session_marks=("GEMINI_CLI", "GEMINI_CLI_NO_RELAUNCH"),
            login=Login(
                variables=(
                    "GEMINI_API_KEY",
                    "GOOGLE_API_KEY",
                    "GOOGLE_APPLICATION_CREDENTIALS",
                    "GOOGLE_GENAI_USE_GCA",
                ),
                files=(
                    "~/.gemini/oauth_creds.json",
                    "~/.gemini/gemini-credentials.json",
                    "~/.gemini/.env",
                    "~/.env",
                    "$GEMINI_CLI_HOME/.gemini/oauth_creds.json",
                    "$GEMINI_CLI_HOME/.gemini/.env",
                ),
                conflicts=(("GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_USE_VERTEXAI"),),
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
                    proves="Gemini CLI's own TUI answers from the endpoint given although the "
                    "folder's .env names another; a denied tool is not offered and has no effect "
                    "although the user's and the folder's settings allow it, and has one when "
                    "allowed; the transcript holds the conversation under the reserved id",
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
                    proves="in Gemini CLI's own TUI a call of each kind is ruled on, a subagent's "
                    "too: a denied one has no effect and the model reads why, the same call "
                    "allowed has its effect; neither the folder's .env nor Gemini CLI's own "
                    "approvals undo that; a message that waits reaches the model whole at the "
                    "turn's end, another with the next prompt, and each is then shown as taken in",
                ),
                native=INSTRUMENTED_NATIVE,
                platforms=("linux",),
                ruled=("shell", "write", "read", "mcp", "subagent"),
                plan=_plan_instrumented,
            ),
            "hosted": SessionMode(
                guarantees=HOSTED_GUARANTEES,
                verified_on=VERSION,
                evidence=Evidence(
                    check="hosted_checks:hosted",
                    proves="every call is ruled on, also those that Gemini CLI allows by itself: "
                    "a denied one has no effect and the agent reads why, the same call allowed "
                    "has its effect; the folder's settings run no command and give no server; a "
                    "message that begins like a command is none; a turn is cut short; its "
                    "conversation goes on in another process, and is still there after that",
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
        options=OPTIONS,
        transcript=GeminiTranscripts(),
        vendor=VENDOR,
    )
)
