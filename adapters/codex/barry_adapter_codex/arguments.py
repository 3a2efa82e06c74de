"""What a launch and a driven session hand to Codex alike, as arguments."""

from __future__ import annotations

from collections.abc import Mapping

from barry_adapter_codex.own import Own
from barry_adapter_codex.places import PROVIDER, head
from barry_adapter_codex.problems import LaunchRefused
from barry_adapter_codex.servers import server_table
from barry_adapter_codex.toml import Value, toml
from barry_adapter_codex.tools import NATIVE_TOOLS, TUI_SERVER, switches
from barry_adapter_codex.transcript import Rollouts
from barry_cli.adapters import NativeControl, PlanDraft
from barry_cli.sessions import Endpoint, split_model

LABEL = "Codex"
COMMAND = "codex"
VENDOR = "openai"
KEY_VARIABLE = "BARRY_CODEX_KEY"
"""The variable that carries an endpoint's key."""

_LONGEST_ARGUMENT = 128 * 1024 - 1
"""Bytes that the system takes in one argument."""


def set_value(draft: PlanDraft, key: str, value: Value) -> None:
    """One setting, which outranks every file's. ``key`` is ours: Codex splits it at each dot."""
    try:
        text = f"{key}={toml(value)}"
        size = len(text.encode())
    except ValueError as error:
        raise LaunchRefused(
            f"Codex can't be given {key}: {error}", hint="write it in plain text"
        ) from error
    if size > _LONGEST_ARGUMENT:
        raise LaunchRefused(
            f"Codex can't be given {key}: it has {size} bytes, and one argument takes "
            f"{_LONGEST_ARGUMENT}",
            hint="shorten it",
        )
    draft.args += ["-c", text]


def same_provider(draft: PlanDraft, conversation: str) -> None:
    """Refuse a conversation that this session's provider can't go on with.

    Codex keeps a conversation with the provider that it was begun with, and refuses or waits for
    ever when that is another one: better said here.
    """
    path = Rollouts().find(conversation, draft.config.cwd, _variables(draft))
    known = head(path) if path is not None else None
    routed = draft.config.endpoint is not None
    if known is None or known.provider is None:
        return
    if routed and known.provider != PROVIDER:
        raise LaunchRefused(
            f"conversation {conversation} was begun with Codex's provider {known.provider}, and "
            "Codex can't move it to another endpoint",
            hint="start a new session, or leave out the other vendor's model",
        )
    if not routed and known.provider == PROVIDER:
        raise LaunchRefused(
            f"conversation {conversation} was begun with another vendor's model, and Codex can't "
            "go on with it without that",
            hint="give --model the model that it was begun with",
        )


def _variables(draft: PlanDraft) -> dict[str, str]:
    return {name: value for name, value in draft.config.env.items() if value is not None}


def route(draft: PlanDraft, own: Own) -> None:
    """Send requests to the endpoint, and nowhere else: a provider of our own, set by arguments,
    which no settings file outranks. The key is named there and travels in the environment.
    """
    endpoint: Endpoint | None = draft.config.endpoint
    if endpoint is None:
        variable = own.key_variable
        if variable is not None and not draft.inherited(variable):
            draft.warn(
                f"Codex's settings take a key from {variable}, which this launch does not pass "
                f"on (--env {variable} does)"
            )
        return
    provider: dict[str, Value] = {
        "name": "Barry",
        "base_url": endpoint.url,
        "wire_api": "responses",
        # The user's own login never goes along, even where settings for this name say so.
        "requires_openai_auth": False,
        "supports_websockets": False,
        "request_max_retries": 2,
        "stream_max_retries": 2,
    }
    key = endpoint.key.get_secret_value() if endpoint.key is not None else ""
    if key:
        provider["env_key"] = KEY_VARIABLE
        draft.env[KEY_VARIABLE] = key
        draft.secrets.append(key)
    set_value(draft, "model_provider", PROVIDER)
    set_value(draft, f"model_providers.{PROVIDER}", provider)
    # A refused connection would be tried again for ever.
    draft.args += ["--disable", "unbounded_connection_retries"]


def model_name(draft: PlanDraft) -> str | None:
    """The model that was asked for, as Codex calls it; None leaves Codex its own."""
    if draft.config.model is None:
        return None
    vendor, name = split_model(draft.config.model)
    if vendor != VENDOR and draft.config.endpoint is None:
        draft.warn(f"{LABEL} has no endpoint for {draft.config.model}: its own model is used")
        return None
    return name


def options(draft: PlanDraft) -> Mapping[str, object]:
    """Every option; those that are settings in any mode are passed on here."""
    given: Mapping[str, object] = draft.config.options or {}
    if "reasoningEffort" in given:
        set_value(draft, "model_reasoning_effort", str(given["reasoningEffort"]))
    if "search" in given:
        if "web_search" in {tool.casefold() for tool in draft.config.denied_tools or ()}:
            if given["search"]:
                draft.warn("the option search is left out: web_search is denied")
        else:
            # Not --search, which nothing takes back.
            set_value(draft, "web_search", "live" if given["search"] else "disabled")
    return given


def tools(draft: PlanDraft, own: Own, native: NativeControl) -> dict[str, Value]:
    """Take denied tools away; the table of MCP servers, which is to be set whole."""
    denied = draft.denied(NATIVE_TOOLS, native)
    off = switches(denied)
    for switch in off:
        draft.args += switch.args
    gone = {tool for switch in off for tool in switch.tools}
    return server_table(
        draft,
        own,
        [tool for tool in denied if tool not in gone and tool.startswith("mcp__")],
        tui_server=TUI_SERVER not in {switch.server for switch in off},
    )


def hide(draft: PlanDraft, own: Own) -> None:
    """Keep keys from the commands that the agent runs, besides what is kept from them already."""
    carried = list(draft.env)
    if carried and own.unread is not None:
        draft.warn(
            f"commands that the agent runs can read {', '.join(carried)}: what else is hidden from "
            f"them is not known ({own.unread})"
        )
    elif carried:
        set_value(draft, "shell_environment_policy.exclude", [*own.hidden_variables, *carried])


def prompt(draft: PlanDraft, own: Own) -> None:
    """Add the system prompt to Codex's own."""
    if draft.config.system_prompt is None:
        return
    if own.developer_instructions:
        draft.warn(
            "the system prompt of this launch takes the place of the developer_instructions in "
            "Codex's settings"
        )
    set_value(draft, "developer_instructions", draft.config.system_prompt)
