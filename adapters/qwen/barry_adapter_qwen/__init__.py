"""Qwen Code, a coding agent for the terminal that connects to several vendors' APIs itself."""

from __future__ import annotations

from barry_adapter_qwen.declared import (
    COMMAND,
    GUARANTEES,
    ID,
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
    define_adapter,
)

_INSTALL = f"npm install -g {PACKAGE}@{VERSION}"

_MODELS = (
    ("qwen/qwen3.6-plus", "Qwen 3.6 Plus"),
    ("qwen/qwen3.5-plus", "Qwen 3.5 Plus"),
    ("qwen/qwen3-coder-plus", "Qwen3 Coder Plus"),
    ("qwen/qwen3-coder-next", "Qwen3 Coder Next"),
)

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
            "instrumented": None,
            "hosted": None,
        },
        bag=".",
        offered_models=tuple(OfferedModel(id=name, label=label) for name, label in _MODELS),
        options=OPTIONS,
        transcript=QwenTranscripts(),
    )
)
