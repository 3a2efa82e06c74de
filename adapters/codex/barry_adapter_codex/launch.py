"""The plan of a launch: what is asked for, as Codex's command line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from barry_adapter_codex.conversation import discover
from barry_adapter_codex.own import Own, own_settings
from barry_adapter_codex.places import PROVIDER, head, is_id
from barry_adapter_codex.problems import LaunchRefused
from barry_adapter_codex.servers import server_table
from barry_adapter_codex.toml import Value, toml
from barry_adapter_codex.tools import GUARANTEES, NATIVE, NATIVE_TOOLS, TUI_SERVER, switches
from barry_adapter_codex.transcript import Rollouts
from barry_cli.adapters import LaunchPlan, PlanDraft
from barry_cli.sessions import Endpoint, Resume, SessionConfig, split_model

LABEL = "Codex"
VENDOR = "openai"
KEY_VARIABLE = "BARRY_CODEX_KEY"
"""The variable that carries an endpoint's key."""

_LONGEST_ARGUMENT = 128 * 1024 - 1
"""Bytes that the system takes in one argument."""


async def plan(config: SessionConfig) -> LaunchPlan:
    """Plan a launch of the TUI. Raises LaunchRefused where Codex could not do what was asked."""
    with PlanDraft(LABEL, config, GUARANTEES) as draft:
        own = own_settings(draft.config.cwd, draft.config.env)
        options: Mapping[str, object] = draft.config.options or {}
        resume = draft.config.resume
        conversation = _resumed(draft, resume)
        if resume is not None:
            draft.args.append("resume")
        # Without this a TUI leaves a server and an updater behind; with it, it is by itself.
        draft.args.append("--no-daemon")
        _set(draft, "check_for_update_on_startup", False)
        _model(draft)
        _route(draft, own)
        _options(draft, options)
        _tools(draft, own)
        _prompt(draft, own)
        _roots(draft, options)
        _hide(draft, own)
        if resume is not None:
            if resume.last:
                draft.args.append("--last")
            elif resume.harness_session_id is not None:
                draft.args.append(resume.harness_session_id)
        return draft.finish(
            "codex",
            harness_session_id=conversation,
            discover=None if conversation is not None else _discover(draft, resume),
        )


def _discover(draft: PlanDraft, resume: Resume | None) -> Callable[[], Awaitable[str | None]]:
    kind: Literal["new", "last", "picked"] = "new"
    if resume is not None:
        kind = "picked" if resume.picker else "last"
    return discover(draft.config.cwd, draft.config.env, kind)


def _set(draft: PlanDraft, key: str, value: Value) -> None:
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


def _resumed(draft: PlanDraft, resume: Resume | None) -> str | None:
    """The id of the conversation to go on with, where it is known.

    Codex keeps a conversation with the provider that it was begun with, and refuses or waits for
    ever when that is another one: better said here.
    """
    name = resume.harness_session_id if resume is not None and not resume.last else None
    if name is None:
        return None
    if name.startswith("-"):
        raise LaunchRefused(
            f"{name!r} is no id of a conversation", hint="`codex resume` lists them"
        )
    if not is_id(name):
        return None
    path = Rollouts().find(name, draft.config.cwd, _variables(draft))
    known = head(path) if path is not None else None
    routed = draft.config.endpoint is not None
    if known is not None and known.provider is not None:
        if routed and known.provider != PROVIDER:
            raise LaunchRefused(
                f"conversation {name} was begun with Codex's provider {known.provider}, and Codex "
                "can't move it to another endpoint",
                hint="start a new session, or leave out the other vendor's model",
            )
        if not routed and known.provider == PROVIDER:
            raise LaunchRefused(
                f"conversation {name} was begun with another vendor's model, and Codex can't go "
                "on with it without that",
                hint="give --model the model that it was begun with",
            )
    return name


def _variables(draft: PlanDraft) -> dict[str, str]:
    return {name: value for name, value in draft.config.env.items() if value is not None}


def _model(draft: PlanDraft) -> None:
    if draft.config.model is None:
        return
    vendor, name = split_model(draft.config.model)
    if vendor != VENDOR and draft.config.endpoint is None:
        draft.warn(f"{LABEL} has no endpoint for {draft.config.model}: its own model is used")
        return
    draft.args += ["-m", name]


def _route(draft: PlanDraft, own: Own) -> None:
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
    _set(draft, "model_provider", PROVIDER)
    _set(draft, f"model_providers.{PROVIDER}", provider)
    # A refused connection would be tried again for ever.
    draft.args += ["--disable", "unbounded_connection_retries"]


def _options(draft: PlanDraft, options: Mapping[str, object]) -> None:
    if "sandbox" in options:
        draft.args += ["-s", str(options["sandbox"])]
    if "approvalPolicy" in options:
        draft.args += ["-a", str(options["approvalPolicy"])]
    if "reasoningEffort" in options:
        _set(draft, "model_reasoning_effort", str(options["reasoningEffort"]))
    if "search" in options:
        if "web_search" in {tool.casefold() for tool in draft.config.denied_tools or ()}:
            if options["search"]:
                draft.warn("the option search is left out: web_search is denied")
        else:
            # Not --search, which nothing takes back.
            _set(draft, "web_search", "live" if options["search"] else "disabled")


def _tools(draft: PlanDraft, own: Own) -> None:
    """Take denied tools away, and say which of them stay."""
    denied = draft.denied(NATIVE_TOOLS, NATIVE)
    kept = {tool.casefold() for tool in draft.config.denied_tools or ()} & {
        tool.casefold() for tool in NATIVE.uncontrolled or {}
    }
    if kept:
        draft.lower(f"{LABEL} keeps {', '.join(sorted(kept))}", gating="none")
    off = switches(denied)
    for switch in off:
        draft.args += switch.args
    native = {tool for switch in off for tool in switch.tools}
    table = server_table(
        draft,
        own,
        [tool for tool in denied if tool not in native],
        tui_server=TUI_SERVER not in {switch.server for switch in off},
    )
    if table:
        _set(draft, "mcp_servers", table)


def _hide(draft: PlanDraft, own: Own) -> None:
    """Keep keys from the commands that the agent runs, besides what is kept from them already."""
    carried = list(draft.env)
    if carried and own.unread is not None:
        draft.warn(
            f"commands that the agent runs can read {', '.join(carried)}: what else is hidden from "
            f"them is not known ({own.unread})"
        )
    elif carried:
        _set(draft, "shell_environment_policy.exclude", [*own.hidden_variables, *carried])


def _prompt(draft: PlanDraft, own: Own) -> None:
    if draft.config.system_prompt is None:
        return
    if own.developer_instructions:
        draft.warn(
            "the system prompt of this launch takes the place of the developer_instructions in "
            "Codex's settings"
        )
    _set(draft, "developer_instructions", draft.config.system_prompt)


def _roots(draft: PlanDraft, options: Mapping[str, object]) -> None:
    roots = draft.config.project_roots or ()
    for root in roots:
        draft.args += ["--add-dir", root]
    if roots and options.get("sandbox") == "read-only":
        draft.warn("extra roots can't be written to while the sandbox is read-only")
